package spark

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"gtoffset/offsetfile"
)

// local reads a checkpoint on this machine.
type local struct{}

func (local) List(ctx context.Context, path string) ([]offsetfile.RemoteFile, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if fi, err := os.Stat(path); err == nil && !fi.IsDir() {
		return nil, offsetfile.ErrNotFolder
	}
	all, err := os.ReadDir(path)
	files := make([]offsetfile.RemoteFile, len(all))
	for i, e := range all {
		files[i] = offsetfile.RemoteFile{Name: e.Name(), Folder: e.IsDir()}
	}
	return files, err
}

func (local) Read(ctx context.Context, path string, most int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a named pipe would block
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch fi, err := f.Stat(); {
	case err == nil && !fi.Mode().IsRegular():
		return nil, errors.New("it is not a file")
	case err == nil && fi.Size() > most:
		return nil, offsetfile.ErrTooLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = offsetfile.ErrTooLarge
	}
	return data, err
}

func (local) Close() error { return nil }
