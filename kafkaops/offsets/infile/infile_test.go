//go:build unix

package infile_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gtoffset/kafkaops/offsets/infile"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	must(t, os.WriteFile(path, []byte("12345"), 0o600))
	if got, err := infile.Read(path, 5); err != nil || string(got) != "12345" {
		t.Errorf("as much as it may: got %q, %v", got, err)
	}
	for want, read := range map[string]func() ([]byte, error){
		"5 bytes are more":          func() ([]byte, error) { return infile.Read(path, 4) },
		"more than 4 bytes":         func() ([]byte, error) { return infile.Read("/dev/zero", 4) },
		"is a folder":               func() ([]byte, error) { return infile.Read(dir, 4) },
		"no such file or directory": func() ([]byte, error) { return infile.Read(path+"x", 4) },
	} {
		if got, err := read(); err == nil || got != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %q, %v", want, got, err)
		}
	}
	if _, err := infile.Open(dir); !errors.Is(err, infile.ErrFolder) {
		t.Errorf("open a folder: %v", err)
	}
}

// A pipe is waited for if somebody writes to it, however late it is opened, and else given up.
func TestPipes(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	if _, err := infile.Read(pipe, 9); err == nil || !strings.Contains(err.Error(), pipe+": nobody writes to the pipe") {
		t.Errorf("nobody: %v", err)
	}
	f, err := infile.Open(pipe)
	must(t, err)
	defer f.Close()
	go func() {
		if err := os.WriteFile(pipe, []byte("late"), 0o600); err != nil {
			t.Error(err)
		}
	}()
	if got, err := io.ReadAll(f); err != nil || string(got) != "late" {
		t.Errorf("late: got %q, %v", got, err)
	}

	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	_, err = w.WriteString("open")
	must(t, errors.Join(err, w.Close()))
	if got, err := infile.Read(fmt.Sprintf("/dev/fd/%d", r.Fd()), 9); err != nil || string(got) != "open" {
		t.Errorf("an open one: got %q, %v", got, err)
	}
}
