package offsetfile

import (
	"errors"
	"os"
	"syscall"
)

// accessList is the extended attribute in which Linux keeps a file's POSIX access list.
const accessList = "system.posix_acl_access"

// copyAttributes gives a file the access list of another, so that who could read it still can.
func copyAttributes(f *os.File, of string) error {
	buf := make([]byte, 4096)
	n, err := syscall.Getxattr(of, accessList, buf)
	switch {
	case errors.Is(err, syscall.ENODATA), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS):
		return nil
	case err != nil:
		return err
	}
	return syscall.Setxattr(f.Name(), accessList, buf[:n], 0)
}
