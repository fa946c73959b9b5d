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
		if _, err := exec.LookPath(name); err != nil {
			missing(t, err)
		}
	}
}

// File is as Programs for a file.
func File(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		missing(t, err)
	}
}

func missing(t *testing.T, why error) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}
