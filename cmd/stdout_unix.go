//go:build unix

package cmd

import (
	"os"

	"golang.org/x/sys/unix"
)

// closed reports whether a stream was closed when the program began. Go then puts /dev/null in its place, open for reading, too, as a
// shell's > does not open it.
func closed(f *os.File) bool {
	mode, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil || mode&unix.O_ACCMODE != unix.O_RDWR {
		return err != nil
	}
	is, err := f.Stat()
	null, nullErr := os.Stat(os.DevNull)
	return err == nil && nullErr == nil && os.SameFile(is, null)
}
