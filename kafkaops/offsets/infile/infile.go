// Package infile reads the files that an operator names: configuration, passwords, certificates, documents. None of them makes the
// program hang: a pipe that nobody writes to is an error, and not waited for without end.
package infile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// How long the other end of a pipe may take: to open it, and to write, such as a command that asks a vault.
const (
	openWait  = time.Second
	writeWait = 15 * time.Second
	openPoll  = 10 * time.Millisecond
)

// ErrFolder is returned for a folder.
var ErrFolder = errors.New("is a folder")

// Read returns what a file holds, which may be a pipe. More than most bytes are an error, and so is a pipe that is silent for 15 seconds.
// The errors are a *fs.PathError.
func Read(path string, most int64) ([]byte, error) {
	f, err := open(path, writeWait)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > most {
		return nil, wrong(path, fmt.Errorf("%d bytes are more than any such file has", info.Size()))
	}
	var b bytes.Buffer
	switch n, err := b.ReadFrom(io.LimitReader(f, most+1)); { // a pipe tells no size
	case err != nil:
		return nil, wrong(path, err)
	case n > most:
		return nil, wrong(path, fmt.Errorf("more than %d bytes", most))
	}
	return b.Bytes(), nil
}

// Open opens a file, which may be a pipe. The first byte of a pipe may be long in coming, if only somebody has it open for writing.
func Open(path string) (io.ReadCloser, error) {
	f, err := open(path, 0)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// file is an open file. The zero silence stands for any.
type file struct {
	*os.File
	pipe    bool
	silence time.Duration
	begun   bool
}

func open(path string, silence time.Duration) (*file, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // else a pipe that nobody writes to blocks here
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = wrong(path, ErrFolder)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &file{File: f, pipe: info.Mode()&fs.ModeNamedPipe != 0, silence: silence}, nil
}

// Read waits for who writes to a pipe. As long as nobody has opened it, it seems to be at its end.
func (f *file) Read(b []byte) (int, error) {
	if !f.pipe || f.begun {
		return f.read(b)
	}
	for until := time.Now().Add(openWait); ; time.Sleep(openPoll) {
		n, err := f.read(b)
		f.begun = n > 0
		switch {
		case f.begun || err != io.EOF:
			return n, err
		case time.Now().After(until):
			return 0, errors.New("nobody writes to the pipe")
		}
	}
}

func (f *file) read(b []byte) (int, error) {
	if f.pipe && f.silence > 0 {
		if err := f.SetReadDeadline(time.Now().Add(f.silence)); err != nil {
			return 0, err
		}
	}
	n, err := f.File.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("nothing came through the pipe for %v", f.silence)
	}
	return n, err
}

func wrong(path string, err error) error { return &fs.PathError{Op: "read", Path: path, Err: err} }
