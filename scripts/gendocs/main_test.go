package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The files in docs are what would be made.
func TestFresh(t *testing.T) {
	if err := run(true, filepath.Join("..", "..")); err != nil {
		t.Error(err)
	}
}

// What is stale is told of, and mended: a file that is missing, one that is another, and one that nothing makes.
func TestStale(t *testing.T) {
	dir := t.TempDir()
	if err := run(false, dir); err != nil {
		t.Fatal(err)
	}
	if err := run(true, dir); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(path string) error{
		filepath.Join(man, "gtoffset-clamp.1"): os.Remove,
		filepath.Join(pages, "clamp.md"):       func(path string) error { return os.WriteFile(path, []byte("x"), 0o644) },
		filepath.Join(pages, "old.md"):         func(path string) error { return os.WriteFile(path, nil, 0o644) },
	} {
		if err := spoil(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if err := run(true, dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is stale, and the check says %v", name, err)
		}
		if err := run(false, dir); err != nil {
			t.Fatal(err)
		}
		if err := run(true, dir); err != nil {
			t.Error(err)
		}
	}
}

// Links lead somewhere, and a line of a manual page that begins with a point is a request.
func TestPages(t *testing.T) {
	made := generate()
	for name, text := range made {
		for _, m := range regexp.MustCompile(`\]\(([\w-]+\.md)(#[\w-]+)?\)`).FindAllStringSubmatch(string(text), -1) {
			to := made[filepath.Join(pages, m[1])]
			if to == nil || m[2] != "" && !strings.Contains(strings.ToLower(string(to)), "## "+strings.ReplaceAll(m[2][1:], "-", " ")) {
				t.Errorf("%s links to %s%s, which is not there", name, m[1], m[2])
			}
		}
		if !strings.HasSuffix(name, ".1") {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, ".") && !regexp.MustCompile(`^\.(\\"|TH|SH|TP|PP|RS|RE|B|BR|nf|fi)\b|^\.\\"`).MatchString(line) {
				t.Errorf("%s: %q is no request of ours", name, line)
			}
		}
	}
}
