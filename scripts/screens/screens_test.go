package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The screens in docs are what the program shows.
func TestScreensAreFresh(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("tmux is not installed")
		}
		t.Skip("tmux is not installed")
	}
	all, err := screens(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range all {
		old, err := os.ReadFile(filepath.Join("../..", folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(old) != text {
			t.Errorf("%s is stale: go run ./scripts/screens\ngot\n%s\nwant\n%s", name, old, text)
		}
		if !strings.Contains(name, "color") && strings.Contains(text, "\x1b") {
			t.Errorf("%s has colours", name)
		}
	}
}
