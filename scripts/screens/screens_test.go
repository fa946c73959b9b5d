package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gtoffset/scripts/needs"
)

// The screens in docs are what the program shows.
func TestScreensAreFresh(t *testing.T) {
	needs.Programs(t, "tmux")
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
