package offsetfile

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
)

// FileService is a service that keeps whole files by path, with / between the folders. [OverFiles] makes a Store of it, which keeps
// gtoffset files there as [Files] does on this machine. It tries nothing twice, and each call ends when its context does. Errors wrap
// fs.ErrNotExist, fs.ErrExist, fs.ErrPermission and ErrNotFolder; see [Table] for the others.
type FileService interface {
	Can() Abilities

	// Stat looks at one path, and List at what is directly in a folder.
	Stat(ctx context.Context, path string) (RemoteFile, error)
	List(ctx context.Context, path string) ([]RemoteFile, error)

	// Read returns a file's content, an error if that is more than most bytes.
	Read(ctx context.Context, path string, most int64) ([]byte, error)

	// Create makes a new file, and the folders that it needs. With owner, group and mode of the file like, if that is there, or it fails.
	Create(ctx context.Context, path string, data []byte, like string) error

	// Rename puts a file in the place of another in one step; the other is gone.
	Rename(ctx context.Context, from, to string) error

	Remove(ctx context.Context, path string) error
	Close() error
}

// RemoteFile is a file or a folder of a FileService.
type RemoteFile struct {
	Name     string
	Folder   bool
	Size     int64
	Modified time.Time
}

// ErrNotFolder is the error of a List of what is a file.
var ErrNotFolder = errors.New("it is not a folder")

// OverFiles makes a Store of gtoffset files below a folder of a FileService. a is the store's address, of which the parameter counts is
// taken.
func OverFiles(a *Address, root string, service FileService, o Options) (Store, error) {
	counts, err := a.Counts()
	if err != nil {
		return nil, err
	}
	o.Counts = counts
	return &remote{name: a.String(), root: path.Clean("/" + root), service: service, o: o}, nil
}

type remote struct {
	name    string
	root    string
	service FileService
	o       Options
}

func (s *remote) Name() string { return s.name }
func (s *remote) Close() error { return s.service.Close() }

func (s *remote) Can() Abilities {
	can := s.service.Can()
	can.Least = s.o.Counts.leastInFile()
	return can
}

func (s *remote) list(ctx context.Context, folder string) (all []RemoteFile, err error) {
	err = Retry(ctx, s.name, s.o, "list "+folder, func(ctx context.Context) error {
		all, err = s.service.List(ctx, folder)
		return err
	})
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all, err
}

// lookedIntoRemote is how many folders are looked into to find out that a root is none; each is a request.
const lookedIntoRemote = 20

// checkRoot tells a root that is not there, or is none, before anybody takes it for a first run.
func (s *remote) checkRoot(ctx context.Context) error {
	all, err := s.list(ctx, s.root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.noRoot()
	case errors.Is(err, ErrNotFolder):
		return fmt.Errorf("open store %q: %w", s.name, ErrRootIsFile)
	case err != nil:
		return fmt.Errorf("list %s: %w", s.root, err)
	}
	all = slices.DeleteFunc(all, func(f RemoteFile) bool { return !f.Folder })
	for _, f := range all[:min(len(all), lookedIntoRemote)] {
		in, err := s.list(ctx, path.Join(s.root, f.Name))
		if err == nil && isGroup(in) {
			return s.rootIsGroup(f.Name)
		}
	}
	return nil
}

func (s *remote) noRoot() error {
	return &NothingError{Store: s.name, Looked: "folder " + s.root, Hint: "make the folder first, if this is the right place"}
}

// isGroup reports whether a folder that should be a group's holds an offset file itself, and so is a topic's.
func isGroup(in []RemoteFile) bool {
	return slices.ContainsFunc(in, func(f RemoteFile) bool { return f.Name == fileName && !f.Folder })
}

func (s *remote) rootIsGroup(topic string) error {
	return fmt.Errorf("open store %q: %w: it has %s/%s", s.name, ErrRootIsGroup, topic, fileName)
}

// folder finds the folder for a name: the encoded one, or the one that another program made of the plain name.
func (s *remote) folder(ctx context.Context, parent, name string) (dir string, in []RemoteFile, err error) {
	dir = path.Join(parent, encode(name))
	in, err = s.list(ctx, dir)
	other, ok := plain(name)
	if !ok || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return dir, in, err
	}
	plainDir := path.Join(parent, other)
	found, plainErr := s.list(ctx, plainDir)
	switch {
	case errors.Is(plainErr, fs.ErrNotExist):
		return dir, in, err
	case err == nil:
		return dir, in, &ClashError{name, []string{dir, plainDir}, "two folders are for one name"}
	}
	return plainDir, found, plainErr
}

// peek reads what the headers of a file say of a name, "" if that is not possible.
func (s *remote) peek(ctx context.Context, file string, of func(*Document) string) string {
	data, err := s.readFile(ctx, file)
	if err != nil {
		return ""
	}
	return said(data, of)
}

func (s *remote) readFile(ctx context.Context, file string) (data []byte, err error) {
	err = Retry(ctx, s.name, s.o, "read "+file, func(ctx context.Context) error {
		data, err = s.service.Read(ctx, file, MaxSize)
		return err
	})
	return data, err
}

func (s *remote) Groups(ctx context.Context) (groups, notes []string, err error) {
	all, err := s.list(ctx, s.root)
	if err != nil {
		return nil, nil, cmp.Or(s.checkRoot(ctx), err)
	}
	var found foundGroups
	var ignored []string
	for _, f := range all {
		dir := path.Join(s.root, f.Name)
		if !f.Folder {
			if stray(f.Name) {
				ignored = append(ignored, f.Name)
			}
			continue
		}
		topics, err := s.list(ctx, dir)
		switch {
		case errors.Is(err, fs.ErrPermission):
			found.add(dir, nameOf(f.Name, func() string { return "" })) // something may be in it
			continue
		case err != nil:
			return nil, nil, fmt.Errorf("list %s: %w", dir, err)
		case isGroup(topics):
			return nil, nil, s.rootIsGroup(f.Name)
		}
		group, files := "", 0
		for i := 0; group == "" && i < len(topics); i++ {
			at := path.Join(dir, topics[i].Name)
			if there, err := s.occupied(ctx, topics[i].Folder, at); err != nil {
				return nil, nil, err
			} else if there {
				files++
				group = nameOf(f.Name, func() string { return s.peek(ctx, path.Join(at, fileName), (*Document).Group) })
			}
		}
		if files > 0 {
			found.add(dir, group)
		}
	}
	groups, notes = found.sorted()
	return groups, append(notes, noteIgnored(s.root, ignored)...), nil
}

// occupied reports whether a folder is one, and has, or may have, an offset file.
func (s *remote) occupied(ctx context.Context, folder bool, dir string) (bool, error) {
	if !folder {
		return false, nil
	}
	err := Retry(ctx, s.name, s.o, "look at "+dir, func(ctx context.Context) error {
		_, err := s.service.Stat(ctx, path.Join(dir, fileName))
		return err
	})
	switch {
	case err == nil || errors.Is(err, fs.ErrPermission):
		return true, nil
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotFolder):
		return false, nil
	}
	return false, fmt.Errorf("look at %s: %w", dir, err)
}

func (s *remote) Load(ctx context.Context, group string, topics []string, salvage bool) (Holding, error) {
	h := Holding{Entries: map[offsets.Key]offsets.Entry{}}
	if err := checkName("group", group); err != nil {
		return h, err
	}
	dir, in, err := s.folder(ctx, s.root, group)
	h.Store.Path = dir
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := s.checkRoot(ctx); err != nil {
			return h, err
		}
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, ErrNotFolder):
		h.Store.Trouble = &offsets.Trouble{Reason: fmt.Sprintf("list %s: %v", dir, err), Denied: errors.Is(err, fs.ErrPermission)}
	case err != nil:
		return h, err
	}
	if topics == nil {
		if topics, err = s.topicsIn(ctx, &h, dir, in); err != nil {
			return h, err
		}
	}
	for _, topic := range slices.Compact(slices.Sorted(slices.Values(topics))) {
		p, r, err := s.find(ctx, dir, group, topic, salvage)
		if err != nil {
			return h, err
		}
		h.add(topic, p, r, s.o.Counts)
	}
	return h, nil
}

// topicsIn finds the topics of a group that have a file.
func (s *remote) topicsIn(ctx context.Context, h *Holding, dir string, in []RemoteFile) ([]string, error) {
	topics := []string{}
	for _, f := range in {
		at := path.Join(dir, f.Name)
		if there, err := s.occupied(ctx, f.Folder, at); err != nil {
			return nil, err
		} else if !there {
			continue
		}
		if topic := nameOf(f.Name, func() string { return s.peek(ctx, path.Join(at, fileName), (*Document).Topic) }); topic != "" {
			topics = append(topics, topic)
		} else {
			h.Store.Notes = append(h.Store.Notes, nameless(at))
		}
	}
	return topics, nil
}

// find reads the file of a topic, and tells where it is or would be.
func (s *remote) find(ctx context.Context, groupDir, group, topic string, salvage bool) (file string, r reading, err error) {
	if err := checkName("topic", topic); err != nil {
		return "", r, err
	}
	dir, in, err := s.folder(ctx, groupDir, topic)
	file = path.Join(dir, fileName)
	if absent, err := r.failed(dir, err); absent || err != nil {
		return file, r, err
	}
	var ignored []string
	i := -1
	for j, f := range in {
		if f.Name == fileName {
			i = j
		}
		if stray(f.Name) {
			ignored = append(ignored, f.Name)
		}
	}
	r.notes = noteIgnored(dir, ignored)
	r.token = tokenAbsent
	switch {
	case i < 0:
		return file, r, nil
	case in[i].Folder:
		r.presence, r.reason, r.inTheWay = offsets.WrongType, file+" is a folder, not a file", file
		return file, r, nil
	case in[i].Size > MaxSize:
		r.presence, r.reason = offsets.Unreadable, fmt.Sprintf("%s: %v", file, ErrTooLarge)
		return file, r, nil
	}
	r.saved = in[i].Modified
	data, err := s.readFile(ctx, file)
	if absent, err := r.failed(file, err); absent || err != nil {
		return file, r, err
	}
	r.presence = offsets.Present
	r.take(data, group, topic, file, s.o.Counts, salvage)
	return file, r, nil
}

// failed tells what the error of a look means. It reports whether that is all there is to say, and returns the errors of the store as a
// whole.
func (r *reading) failed(at string, err error) (done bool, _ error) {
	r.token = tokenAbsent
	switch {
	case err == nil:
		return false, nil
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, fs.ErrPermission):
		r.presence, r.reason = offsets.Denied, fmt.Sprintf("%s: %v", at, err)
	case errors.Is(err, ErrNotFolder):
		r.presence, r.reason = offsets.WrongType, fmt.Sprintf("%s: %v", at, err)
	default:
		return true, err
	}
	return true, nil
}

// Writer takes no locks: the service has none. It makes no root, and clears away what saves left that were killed.
func (s *remote) Writer(ctx context.Context, group string, topics []string) (Writer, error) {
	if !s.Can().Write {
		return nil, fmt.Errorf("%s: %w", s.name, ErrReadOnly)
	}
	err := Retry(ctx, s.name, s.o, "look at "+s.root, func(ctx context.Context) error {
		_, err := s.service.Stat(ctx, s.root)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, s.noRoot()
	case err != nil && !errors.Is(err, fs.ErrPermission): // the write tells what may not be
		return nil, err
	}
	for _, topic := range topics {
		s.sweep(ctx, path.Join(s.root, encode(group), encode(topic)))
	}
	return &remoteWriter{s, group}, nil
}

// abandoned is how much older than the offset file a temporary one is that no save is writing any more.
const abandoned = time.Hour

// sweep removes temporary files that were left behind. It is no failure if that cannot be done: they are ignored anyway.
func (s *remote) sweep(ctx context.Context, dir string) {
	ctx, cancel := context.WithTimeout(ctx, leastTry)
	defer cancel()
	in, err := s.service.List(ctx, dir)
	i := slices.IndexFunc(in, func(f RemoteFile) bool { return f.Name == fileName })
	if err != nil || i < 0 {
		return
	}
	for _, f := range in {
		if strings.HasPrefix(f.Name, tempPrefix) && !f.Folder && in[i].Modified.Sub(f.Modified) > abandoned {
			_ = s.service.Remove(ctx, path.Join(dir, f.Name))
		}
	}
}

type remoteWriter struct {
	store *remote
	group string
}

func (w *remoteWriter) Notes() []string {
	return []string{w.store.name + " has no locks, and no compare-and-set: make sure that nothing else writes there"}
}

func (w *remoteWriter) Unlock() error { return nil }

func (w *remoteWriter) Save(ctx context.Context, seen offsets.Store, changes []offsets.Change, facts Facts) ([]offsets.Change, offsets.Store) {
	return saveTopics(ctx, w, seen, changes, facts)
}

func (w *remoteWriter) prepare(ctx context.Context, topic string, seen *offsets.Store) (*edit, error) {
	e := &edit{group: w.group, topic: topic, counts: w.store.o.Counts}
	if t, ok := seen.Topic(topic); ok {
		e.path = t.Path
	} else if err := w.store.place(ctx, e); err != nil {
		return nil, fmt.Errorf("save topic %q: %w", topic, err)
	}
	if err := e.expect(seen); err != nil {
		return nil, err
	}
	r := reading{token: tokenAbsent}
	data, err := w.store.readFile(ctx, e.path)
	absent, err := r.failed(e.path, err)
	if err != nil {
		return nil, fmt.Errorf("save topic %q: %w", topic, err)
	}
	if !absent {
		r.presence = offsets.Present
		r.take(data, e.group, e.topic, e.path, e.counts, e.salvage)
	}
	return e, e.start(r, true)
}

// place finds where a topic's file is to be that was not looked at.
func (s *remote) place(ctx context.Context, e *edit) error {
	dir, _, err := s.folder(ctx, s.root, e.group)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		dir, _, err = s.folder(ctx, dir, e.topic)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	e.path = path.Join(dir, fileName)
	return nil
}

// write makes a temporary file beside the old one and renames it into its place. While the service is away it is tried again, after a
// look at what was made.
func (w *remoteWriter) write(ctx context.Context, e *edit, facts Facts) error {
	if !e.changed && !e.salvage {
		return nil
	}
	s := w.store
	e.doc.SetSaved(facts.Now)
	data := e.doc.Bytes()
	temp := path.Join(path.Dir(e.path), tempPrefix+rand.Text())
	made, doubt := false, false
	err := Retry(ctx, s.name, s.o, "replace "+e.path, func(ctx context.Context) error {
		if doubt || made { // a long time may have gone by
			switch now, err := s.token(ctx, e); {
			case err != nil:
				return err
			case doubt && now == tokenOf(data):
				return nil
			case now != e.token:
				return fmt.Errorf("save %s: %w", e.path, ErrChanged)
			}
		}
		if !made {
			if err := s.o.step(StepCreate); err != nil {
				return fmt.Errorf("create %s: %w", temp, err)
			}
			if err := s.service.Create(ctx, temp, data, e.path); err != nil {
				tried := temp
				if IsAway(err) { // it may be there, whole or not
					temp = path.Join(path.Dir(e.path), tempPrefix+rand.Text())
				}
				return fmt.Errorf("create %s: %w", tried, err)
			}
			made = true
			if now, err := s.token(ctx, e); err != nil || now != e.token {
				return cmp.Or(err, fmt.Errorf("save %s: %w", e.path, ErrChanged))
			}
		}
		if err := s.o.step(StepRename); err != nil {
			return fmt.Errorf("replace %s: %w", e.path, err)
		}
		err := s.service.Rename(ctx, temp, e.path)
		doubt = doubt || IsAway(err) && !neverSent(err)
		if err != nil {
			return fmt.Errorf("replace %s: %w", e.path, err)
		}
		return nil
	})
	if err != nil {
		if made && !IsAway(err) {
			_ = s.service.Remove(ctx, temp) // told as ignored by the next look, if it cannot be
		}
		if doubt { // also where another's is there by now: it came behind ours, or before
			return &unanswered{err}
		}
		return err
	}
	e.token = tokenOf(data)
	_ = s.o.step(StepDone) // nothing is left that could fail
	return nil
}

// token is that of what the file holds now.
func (s *remote) token(ctx context.Context, e *edit) (string, error) {
	data, err := s.service.Read(ctx, e.path, MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tokenAbsent, nil
	case err != nil:
		return "", err
	}
	var r reading
	r.take(data, e.group, e.topic, e.path, s.o.Counts, e.salvage)
	return r.token, nil
}
