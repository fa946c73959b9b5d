package scenes_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gtoffset/scripts/pages"
	"gtoffset/scripts/scenes"
)

const root = "../.."

// TestMain lets the test binary be the program, which scenes run.
func TestMain(m *testing.M) {
	scenes.Program()
	os.Exit(m.Run())
}

// TestPages types what the pages show, and holds them to what is printed.
func TestPages(t *testing.T) {
	t.Setenv("GTOFFSET_STORE", "/nowhere") // nothing of the user's own may lead a page elsewhere
	t.Setenv("GTOFFSET_BOOTSTRAP_SERVER", "127.0.0.1:1")
	played, err := scenes.Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range played {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.ToSlash(path), func(t *testing.T) {
			fresh, err := scenes.Fresh(t.Context(), string(text))
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(fresh, "\n") {
				if old := strings.Split(string(text), "\n"); i >= len(old) || old[i] != line {
					t.Fatalf("line %d is stale: go run ./scripts/demo -write\nnow it is\n%s", i+1, line)
				}
			}
			if fresh != string(text) {
				t.Error("its end is stale: go run ./scripts/demo -write")
			}
		})
	}
}

// TestScenes sets each scene up, and wants each played by a page.
func TestScenes(t *testing.T) {
	played, err := scenes.Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	var used []string
	for _, path := range played {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		used = append(used, pages.Scene(string(text)))
	}
	for _, name := range scenes.Names() {
		if name != "library" && !slices.Contains(used, name) {
			t.Errorf("no page plays in the scene %s", name)
		}
	}
}

func TestOpenAndClose(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	if _, err := scenes.Open("no-such"); err == nil || !strings.Contains(err.Error(), "night") {
		t.Errorf("got %v, want an error with the names that there are", err)
	}
	s, err := scenes.Open("restart")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Happen("no such"); err == nil || !strings.Contains(err.Error(), "the job stops") {
		t.Errorf("got %v, want an error with the events that there are", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, err error) error {
		if path != "." {
			t.Errorf("left behind: %s", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestFreshFailsOnAnotherExitCode(t *testing.T) {
	page := "# Page\n" + pages.SceneMark("night") + "\n```console\n$ gtoffset describe -g billing -q\nexit 3\n```\n"
	if _, err := scenes.Fresh(t.Context(), page); err == nil || !strings.Contains(err.Error(), "exit 0, want 3") {
		t.Errorf("got %v, want one that names both exit codes", err)
	}
}
