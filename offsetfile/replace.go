package offsetfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The steps of a save, in their order. A hook is called directly before each; StepDone comes after the last.
const (
	StepLock       = "lock"
	StepCreate     = "create"      // the temporary file
	StepWrite      = "write"       // into it
	StepSync       = "sync"        // it to the disk
	StepRename     = "rename"      // it over the file
	StepSyncFolder = "sync-folder" // so that the rename is on the disk
	StepDone       = "done"
)

// Steps lists the steps in their order.
func Steps() []string {
	return []string{StepLock, StepCreate, StepWrite, StepSync, StepRename, StepSyncFolder, StepDone}
}

// tempPrefix begins the names of our temporary files.
const tempPrefix = "." + fileName + ".tmp-"

// notDurable is a write that is in place, but may be taken back by a power cut.
type notDurable struct{ err error }

func (e *notDurable) Error() string { return "in place, durability unknown: " + e.err.Error() }
func (e *notDurable) Unwrap() error { return e.err }

// replace puts data in the place of the file at path, which may be missing. The file that a symbolic link leads to is replaced,
// so the link stays. Owner, group and mode stay too, or nothing is replaced; a new file gets them from its folder. check is
// called at the last moment; its error, as any other, leaves the old file as it was.
func (s *Files) replace(path string, data []byte, check func() error) (err error) {
	real, old, err := replaceable(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(real)
	if err := s.o.step(StepCreate); err != nil {
		return fmt.Errorf("create a temporary file in %s: %w", dir, err)
	}
	f, err := s.temp(real, old)
	if err != nil {
		return err
	}
	temp := f.Name()
	renamed := false
	defer func() {
		_ = f.Close() // closed before, unless something failed earlier
		if !renamed {
			_ = os.Remove(temp)
		}
	}()
	if err = s.o.step(StepWrite); err == nil {
		_, err = f.Write(data)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", real, withoutPath(err))
	}
	if err = s.o.step(StepSync); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return fmt.Errorf("sync the new %s: %w", real, withoutPath(err))
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("close the new %s: %w", real, withoutPath(err))
	}
	if err := check(); err != nil {
		return err
	}
	if err = s.o.step(StepRename); err == nil {
		err = os.Rename(temp, real)
	}
	if err != nil {
		return fmt.Errorf("replace %s: %w", real, withoutPath(err))
	}
	renamed = true
	if err = s.o.step(StepSyncFolder); err == nil {
		err = SyncFolder(dir)
	}
	if err != nil {
		return &notDurable{fmt.Errorf("sync folder %s: %w", dir, withoutPath(err))}
	}
	_ = s.o.step(StepDone) // nothing is left that could fail
	return nil
}

// replaceable finds the file that a path leads to, and what is there: nil of one that is yet to be made.
func replaceable(path string) (real string, old fs.FileInfo, err error) {
	real, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		real, err = path, nil // a dangling link was refused when it was read
	}
	if err != nil {
		return "", nil, fmt.Errorf("resolve %s: %w", path, err)
	}
	old, err = os.Lstat(real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return real, nil, nil
	case err != nil:
		return "", nil, fmt.Errorf("look at %s: %w", real, err)
	case !old.Mode().IsRegular():
		return "", nil, fmt.Errorf("replace %s: it is %s", real, describeMode(old.Mode()))
	}
	return real, old, nil
}

// temp makes the file that is to take the place of another, with its owner and mode.
func (s *Files) temp(real string, old fs.FileInfo) (f *os.File, err error) {
	dir := filepath.Dir(real)
	f, err = os.CreateTemp(dir, tempPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("create a temporary file in %s: %w", dir, withoutPath(err))
	}
	if old != nil {
		err = s.keepOwner(f, real, old)
	} else {
		err = giveOwner(f, dir, 0o644)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// mayReplace tries whether a save could put a file in the place of another, and leaves everything as it is: what may not be written has
// to be known before anything else is.
func (s *Files) mayReplace(path string) error {
	real, old, err := replaceable(path)
	if err != nil {
		return err
	}
	f, err := s.temp(real, old)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// keepOwner gives the new file what the old one has. Owner first: a change of owner may take bits of the mode away.
func (s *Files) keepOwner(f *os.File, path string, old fs.FileInfo) error {
	if err := copyOwner(f, old); err != nil {
		return fmt.Errorf("keep the owner of %s: %w", path, withoutPath(err))
	}
	if err := copyAttributes(f, path); err != nil {
		return fmt.Errorf("keep the access list of %s: %w", path, withoutPath(err))
	}
	if err := f.Chmod(modeBits(old.Mode())); err != nil {
		return fmt.Errorf("keep the mode of %s: %w", path, withoutPath(err))
	}
	return nil
}

// giveOwner gives a new file or folder the owner of the folder it is in, as far as we may, and of mode what the folder grants:
// who may not enter a folder has no business in its files.
func giveOwner(f *os.File, dir string, mode fs.FileMode) error {
	parent, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("look at the folder of a new file: %w", err)
	}
	if err := inheritOwner(f, parent); err != nil {
		return fmt.Errorf("give a new file in %s the folder's owner: %w", dir, withoutPath(err))
	}
	if err := f.Chmod(mode & parent.Mode().Perm()); err != nil {
		return fmt.Errorf("give a new file in %s its mode: %w", dir, withoutPath(err))
	}
	return nil
}

// modeBits is what chmod can set.
func modeBits(m fs.FileMode) fs.FileMode {
	return m & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}

// makeFolder makes one folder, with owner and mode of the one it is in, and makes its name durable.
func makeFolder(path string) (err error) {
	parent := filepath.Dir(path)
	like, err := os.Stat(parent)
	if err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(path)
		}
	}()
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := inheritOwner(d, like); err != nil {
		return fmt.Errorf("give %s the owner of %s: %w", path, parent, withoutPath(err))
	}
	if err := d.Chmod(modeBits(like.Mode())); err != nil {
		return fmt.Errorf("give %s the mode of %s: %w", path, parent, withoutPath(err))
	}
	if err := SyncFolder(parent); err != nil {
		return fmt.Errorf("sync folder %s: %w", parent, withoutPath(err))
	}
	return nil
}

// withoutPath takes the name of a temporary file out of an error: the reader knows the file that was to be written.
func withoutPath(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// describeMode names what is not a regular file.
func describeMode(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m.IsRegular():
		return "a file"
	}
	return "not a file"
}

// stray reports whether a file's name is that of a temporary or checksum file, which nobody should take for the newest state.
func stray(name string) bool {
	return strings.HasSuffix(name, ".tmp") || strings.HasPrefix(name, tempPrefix) ||
		strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".crc")
}
