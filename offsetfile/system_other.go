//go:build !unix

package offsetfile

import (
	"errors"
	"io/fs"
	"os"
)

const (
	noFollow = 0
	noHang   = 0
)

// Owners are not kept here: a new file belongs to who makes it.
func copyOwner(*os.File, fs.FileInfo) error    { return nil }
func inheritOwner(*os.File, fs.FileInfo) error { return nil }

// SyncFolder does nothing: a folder cannot be synced here, and the rename itself is all there is.
func SyncFolder(string) error { return nil }

var errNotFolder = errors.New("not a folder") // not told apart here

func unsupportedLock(err error) bool { return errors.Is(err, errors.ErrUnsupported) }
