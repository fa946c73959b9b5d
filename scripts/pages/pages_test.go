package pages_test

import (
	"os"
	"path/filepath"
	"testing"

	"gtoffset/scripts/pages"
)

var marks = pages.Marks{Begin: "<!-- a -->\n", End: "<!-- /a -->\n"}

func TestPut(t *testing.T) {
	const text = "# Page\n\nbefore\n"
	first := marks.Put(text, "one\n")
	if got, want := marks.Put(first+"after\n", "two\n"), text+"\n"+marks.Begin+"two\n"+marks.End+"after\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "found.json")
	found := map[string]int{}
	if err := pages.Load(path, &found); err != nil || len(found) != 0 {
		t.Errorf("no file: got %v, %v", found, err)
	}
	if err := pages.Save(path, map[string]int{"a": 1}); err != nil {
		t.Fatal(err)
	}
	if err := pages.Load(path, &found); err != nil || found["a"] != 1 {
		t.Errorf("got %v, %v; want what was saved", found, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := pages.Load(path, &found); err == nil {
		t.Error("half a document was taken")
	}
}
