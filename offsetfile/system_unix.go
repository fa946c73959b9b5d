//go:build unix

package offsetfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// noFollow makes opening a lock file fail on a symbolic link, and not hang on a named pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// noHang makes opening a named pipe return.
const noHang = syscall.O_NONBLOCK

// copyOwner gives a file the owner and group of another.
func copyOwner(f *os.File, of fs.FileInfo) error {
	want, have, err := owners(f, of)
	if err != nil || want == have {
		return err
	}
	return f.Chown(want[0], want[1])
}

// inheritOwner does the same where it may: only root can give files away. The group at least is tried.
func inheritOwner(f *os.File, of fs.FileInfo) error {
	want, have, err := owners(f, of)
	if err != nil || want == have {
		return err
	}
	err = f.Chown(want[0], want[1])
	if errors.Is(err, fs.ErrPermission) && want[1] != have[1] {
		err = f.Chown(-1, want[1])
	}
	if errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0 {
		return nil
	}
	return err
}

// owners returns user and group of a file to be changed and of its model.
func owners(f *os.File, of fs.FileInfo) (want, have [2]int, err error) {
	is, err := f.Stat()
	if err != nil {
		return want, have, err
	}
	w, ok1 := of.Sys().(*syscall.Stat_t)
	h, ok2 := is.Sys().(*syscall.Stat_t)
	if !ok1 || !ok2 {
		return want, have, errors.ErrUnsupported
	}
	return [2]int{int(w.Uid), int(w.Gid)}, [2]int{int(h.Uid), int(h.Gid)}, nil
}

// SyncFolder makes the names in a folder durable: it returns when they are on the disk. A file system may not know how.
func SyncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// errNotFolder is a path that leads through a file.
const errNotFolder = syscall.ENOTDIR

// unsupportedLock reports whether a lock failed because the file system has none.
func unsupportedLock(err error) bool {
	return errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOLCK) ||
		errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL)
}
