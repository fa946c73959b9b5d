package offsetfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gofrs/flock"

	"gtoffset/kafkaops/offsets"
)

// Locked is the right to write the files of some topics of a group. It is held from the last look before a write until the
// write was read back, or for as long as a job runs.
type Locked struct {
	files  *Files
	group  string
	places map[string]place // by topic
	locks  []*flock.Flock
	notes  []string
	real   bool     // all locks are real: the file system knows locks
	guards []string // the files under the locks, without links
}

// Lock takes the locks of the given topics' files, in the order of their names, and makes the folders that are missing below
// the store's root. It waits a moment for a lock that is taken; then the error is a *LockedError that names the holder.
// Two places that are one file, also one of another Locked, are a *SharedFileError.
// What lies in the place of a lock file and is none is a *LockFileError. A file that could not be replaced, for want of a right on its
// folder or because its owner could not be kept, is the error that Save would end with.
func (s *Files) Lock(ctx context.Context, group string, topics []string) (_ *Locked, err error) {
	if err := s.checkRoot(); err != nil {
		return nil, err
	}
	l := &Locked{files: s, group: group, places: map[string]place{}, real: true}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Unlock())
		}
	}()
	if err := s.o.step(StepLock); err != nil {
		return nil, fmt.Errorf("lock %s: %w", s.name, err)
	}
	for _, topic := range slices.Compact(slices.Sorted(slices.Values(topics))) {
		p, err := s.makeFolders(group, topic)
		if err != nil {
			return nil, err
		}
		target := realPath(p.file())
		if other := s.reached(target); other != "" && other != p.file() {
			return nil, &SharedFileError{[2]string{other, p.file()}}
		}
		l.places[topic] = p
		if err := l.take(ctx, p); err != nil {
			return nil, err
		}
		l.reach(target, p.file())
		if err := s.mayReplace(p.file()); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// reached is the path by which a file is locked by us already, "" if it is not.
func (s *Files) reached(real string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.real[real]
}

// reach notes by which path a file was locked.
func (l *Locked) reach(real, path string) {
	l.files.mu.Lock()
	defer l.files.mu.Unlock()
	l.files.real[real] = path
	l.guards = append(l.guards, real)
}

// makeFolders finds a topic's place, and makes its folders.
func (s *Files) makeFolders(group, topic string) (place, error) {
	for {
		p, err := s.find(group, topic)
		if err != nil {
			return p, err
		}
		switch {
		case p.newGroupFolder:
			err = makeFolder(p.groupFolder)
		case p.newTopicFolder:
			err = makeFolder(p.topicFolder)
		default:
			for _, folder := range []string{p.groupFolder, p.topicFolder} {
				if fi, presence, reason := look(folder); presence != offsets.Present {
					return p, fmt.Errorf("lock %s: %s", p.file(), cmp.Or(reason, "its folder was taken away"))
				} else if !fi.IsDir() {
					return p, fmt.Errorf("lock %s: %s is not a folder", p.file(), folder)
				}
			}
			return p, nil
		}
		if err != nil && !errors.Is(err, fs.ErrExist) { // another process may have been faster
			return p, fmt.Errorf("make a folder for %s: %w", p.file(), err)
		}
	}
}

// realPath follows all links, as far as there are any.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return path
	}
	return filepath.Join(dir, filepath.Base(path))
}

// take takes one lock.
func (l *Locked) take(ctx context.Context, p place) error {
	s, path := l.files, p.lock()
	if err := makeLockFile(p); err != nil {
		return err
	}
	if fi, err := os.Lstat(path); err == nil && !fi.Mode().IsRegular() {
		return &LockFileError{path, describeMode(fi.Mode())}
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDWR|noFollow))
	taken, err := lock.TryLock()
	if errors.Is(err, fs.ErrPermission) { // a lock can be held on a file that we may only read
		lock = flock.New(path, flock.SetFlag(os.O_RDONLY|noFollow))
		taken, err = lock.TryLock()
	}
	if !taken && err == nil {
		ctx, cancel := context.WithTimeout(ctx, s.wait)
		defer cancel()
		taken, err = lock.TryLockContext(ctx, 20*time.Millisecond)
	}
	if taken {
		l.locks = append(l.locks, lock)
		s.mu.Lock()
		s.held[path] = true
		s.mu.Unlock()
		l.describeHolder(path)
		return nil
	}
	if unsupportedLock(err) {
		l.real = false
		l.notes = append(l.notes, fmt.Sprintf("%s cannot be locked (%v): make sure that nothing else writes there", p.file(), withoutPath(err)))
		return nil
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &LockedError{path, readHolder(path)}
	}
	return fmt.Errorf("lock %s: %w", p.file(), err)
}

// makeLockFile makes the lock file if it is missing, with owner and mode of the file that it guards. It is never removed:
// another process may just have opened it.
func makeLockFile(p place) error {
	f, err := os.OpenFile(p.lock(), os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make the lock file %s: %w", p.lock(), withoutPath(err))
	}
	defer f.Close()
	guarded, err := os.Stat(p.file())
	if err != nil {
		return giveOwner(f, p.topicFolder, 0o644)
	}
	if err := inheritOwner(f, guarded); err != nil {
		return fmt.Errorf("give %s the owner of the file: %w", p.lock(), withoutPath(err))
	}
	if err := f.Chmod(guarded.Mode().Perm()); err != nil {
		return fmt.Errorf("give %s the mode of the file: %w", p.lock(), withoutPath(err))
	}
	return nil
}

// describeHolder writes into the lock file who holds it. That helps people; the lock does not depend on it.
func (l *Locked) describeHolder(path string) {
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	writeHolder(path, fmt.Sprintf("%s (process %d on %s)\n", cmp.Or(l.files.o.Holder, "gtoffset"), os.Getpid(), host))
}

func writeHolder(path, text string) {
	if f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|noFollow, 0); err == nil {
		_, _ = f.WriteString(text)
		_ = f.Close()
	}
}

// longestHolder bounds what is read of a lock file that another program wrote.
const longestHolder = 200

// readHolder returns how the holder of a lock describes itself, "" if it does not.
func readHolder(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, longestHolder))
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(string(b), "")))
}

// lockHolder tells whether another holds a lock just now. It makes no file, and is itself a shared lock only for an instant.
func (s *Files) lockHolder(path string) (holder string, taken bool) {
	s.mu.Lock()
	ours := s.held[path]
	s.mu.Unlock()
	if fi, err := os.Lstat(path); ours || err != nil || !fi.Mode().IsRegular() {
		return "", false
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY|noFollow))
	free, err := lock.TryRLock()
	if err != nil {
		return "", false
	}
	if free {
		_ = lock.Unlock() // closing it frees it anyway
		return "", false
	}
	return cmp.Or(readHolder(path), "another process"), true
}

// Notes tells what is not as it should be with the locks: a file system without any.
func (l *Locked) Notes() []string { return l.notes }

// Unlock gives all locks back. The lock files stay.
func (l *Locked) Unlock() error {
	var errs []error
	for _, lock := range l.locks {
		writeHolder(lock.Path(), "")
		if err := lock.Unlock(); err != nil {
			errs = append(errs, fmt.Errorf("unlock %s: %w", lock.Path(), err))
		}
	}
	l.files.mu.Lock()
	for _, lock := range l.locks {
		delete(l.files.held, lock.Path())
	}
	for _, real := range l.guards {
		delete(l.files.real, real)
	}
	l.files.mu.Unlock()
	l.locks, l.places, l.guards = nil, nil, nil
	return errors.Join(errs...)
}
