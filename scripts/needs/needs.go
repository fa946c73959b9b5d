// Package needs is for tests of what only the machine has: a program, or a file. scripts/test installs all of it.
package needs

import (
	"os"
	"os/exec"
	"testing"
)

// Programs skips the test if one of these is not installed. With CI set, where nothing may be skipped, the test fails instead.
func Programs(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		Program(t, name)
	}
}

// Program is as Programs for one, and returns its path.
func Program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	Met(t, err)
	return path
}

// File is as Programs for a file.
func File(t *testing.T, path string) {
	t.Helper()
	_, err := os.Stat(path)
	Met(t, err)
}

// Met is as Programs for what was tried, such as a program that may not run here: why it did not work, or nil.
func Met(t *testing.T, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") != "":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
}
