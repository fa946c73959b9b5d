package main

import (
	"os"
	"path/filepath"
	"testing"

	"gtoffset/scripts/pages"
)

const root = "../../.."

// The table is made of what a run has found, and nobody has touched it since.
func TestPageIsMadeOfResults(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, pageFile))
	if err != nil {
		t.Fatal(err)
	}
	var r results
	if err := pages.Load(filepath.Join(root, dataFile), &r); err != nil {
		t.Fatal(err)
	}
	if marks().Put(string(page), table(r)) != string(page) {
		t.Errorf("%s is not what %s gives: go run ./scripts/bench/describe -write", pageFile, dataFile)
	}
	if len(r.Measured) == 0 || r.At.IsZero() || r.Kafka == "" {
		t.Errorf("got %+v, want a whole run", r)
	}
	for _, m := range r.Measured {
		if m.Near.Kadm <= 0 || m.Near.Tool <= 0 || m.Memory.Describe <= 0 || m.Memory.Kadm <= 0 || m.Memory.Tool <= 0 {
			t.Errorf("got %+v, want every figure", m)
		}
	}
}
