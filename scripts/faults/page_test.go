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

// Every cell was run and none of another matrix, none was wrong, each ended in a way that is documented and has a name, and each fault
// has befallen something.
func TestMatrixIsRight(t *testing.T) {
	r := found(t)
	codes, err := documented(filepath.Join(root, codesFile))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range faults() {
		met := 0
		for _, name := range f.meets {
			n++
			c, ran := r.Cells.at(f.name, name)
			sub, _, _ := strings.Cut(name, " ")
			switch {
			case !ran:
				t.Errorf("%s, %s: not run", f.name, name)
			case c.Wrong != "" || !codes[sub][c.Code] || c.Ratio > 1:
				t.Errorf("%s, %s: got %+v", f.name, name, c)
			case c.unnamed():
				t.Errorf("%s, %s: the outcome has no name: %+v", f.name, name, c)
			}
			if c.Met {
				met++
			}
		}
		if met == 0 {
			t.Errorf("%s: it befell none of %v", f.name, f.meets)
		}
	}
	if len(r.Cells) != n {
		t.Errorf("got %d cells, want %d", len(r.Cells), n)
	}
}

// Each soak had a thousand runs on Apache Kafka that a fault befell, and all left either the old or the new.
func TestSoaksAreRight(t *testing.T) {
	r := found(t)
	for _, command := range soaked() {
		ran := 0
		for _, s := range r.Soaks {
			stood := s.Stands["old"] + s.Stands["new"]
			if s.Command == command && strings.HasPrefix(s.On, "Apache Kafka ") {
				ran += s.Hit
			}
			if s.Wrong != 0 || stood != s.Runs {
				t.Errorf("got %+v", s)
			}
		}
		if ran < 1000 {
			t.Errorf("%s: a fault befell %d runs on Apache Kafka, want 1000", command, ran)
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
	if got := len(sharpest()); got != 10 {
		t.Errorf("short form: got %d faults, want 10", got)
	}
}

// unnamed reports whether it is left open what came of the run: why it did not end with 0, or what stands.
func (c cell) unnamed() bool {
	of, ok := commandOf(c.Command)
	if !ok || c.Code != 0 && c.Code != 10 && c.Said == "" {
		return true
	}
	allowed := []string{""}
	switch {
	case of.name == "replay":
		allowed = []string{"none", "some", "all"}
	case of.old != of.new:
		allowed = []string{"old", "some", "new"}
	}
	return !slices.Contains(allowed, c.Stands)
}
