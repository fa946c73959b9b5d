package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

func found(t *testing.T) results {
	t.Helper()
	r, err := load(filepath.Join(root, dataFile))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The tables are made of what runs have found, and nobody has touched them since.
func TestPageIsMadeOfResults(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, pageFile))
	if err != nil {
		t.Fatal(err)
	}
	if marks.Put(string(page), tables(found(t))) != string(page) {
		t.Errorf("%s is not what %s gives: go run ./scripts/faults -write", pageFile, dataFile)
	}
}

// No cell is of another matrix, none was wrong, each ended in a way that is documented, and each fault has befallen something.
func TestMatrixIsRight(t *testing.T) {
	r := found(t)
	codes, err := documented(filepath.Join(root, codesFile))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range faults() {
		met, ran := 0, 0
		for _, name := range f.meets {
			c, found := r.Cells.at(f.name, name)
			if !found {
				continue // and the page says so
			}
			ran++
			sub, _, _ := strings.Cut(name, " ")
			if c.Wrong != "" || !codes[sub][c.Code] || c.Ratio > 1 {
				t.Errorf("%s, %s: got %+v", f.name, name, c)
			}
			if c.Met {
				met++
			}
		}
		if ran > 0 && met == 0 {
			t.Errorf("%s: it befell none of %v", f.name, f.meets)
		}
		n += ran
	}
	if len(r.Cells) != n {
		t.Errorf("got %d cells, of which %d are of the matrix", len(r.Cells), n)
	}
	for _, s := range r.Soaks {
		if s.Wrong != 0 || s.Runs == 0 {
			t.Errorf("soak: got %+v", s)
		}
	}
}

func TestFaultsHaveNames(t *testing.T) {
	var names []string
	for _, f := range faults() {
		names = append(names, f.name)
		for _, c := range f.meets {
			if _, ok := commandOf(c); !ok {
				t.Errorf("%s: no command %q", f.name, c)
			}
		}
	}
	slices.Sort(names)
	if n := len(names); len(slices.Compact(names)) != n {
		t.Error("two faults have one name")
	}
	if got := len(sharpest()); got != 9 {
		t.Errorf("short form: got %d faults, want 9", got)
	}
}
