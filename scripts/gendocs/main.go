// Gendocs makes the manual pages (docs/man) and the reference (docs/reference) of what the program's help says. With -check it writes
// nothing, and fails if any of them is not as it would be made.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gtoffset/cmd"
)

func main() {
	check := flag.Bool("check", false, "only look whether the files are fresh")
	flag.Parse()
	if err := run(*check, "docs"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// folders are those that have generated files and nothing else.
var folders = []string{"man", "reference"}

// run writes the files below a folder, or compares them with what is there.
func run(check bool, docs string) error {
	made := generate()
	var stale []string
	for _, folder := range folders {
		there, err := os.ReadDir(filepath.Join(docs, folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range there {
			if name := filepath.Join(folder, e.Name()); made[name] == nil {
				stale = append(stale, name)
				if !check {
					if err := os.Remove(filepath.Join(docs, name)); err != nil {
						return err
					}
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(made)) {
		path := filepath.Join(docs, name)
		have, err := os.ReadFile(path)
		switch {
		case err == nil && bytes.Equal(have, made[name]):
			continue
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
		stale = append(stale, name)
		if check {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, made[name], 0o644); err != nil {
			return err
		}
	}
	if check && len(stale) > 0 {
		return fmt.Errorf("not as go run ./scripts/gendocs makes them: %s", strings.Join(stale, ", "))
	}
	return nil
}

// generate makes all files, by their paths below docs.
func generate() map[string][]byte {
	pages, topics := cmd.Manual()
	files := map[string][]byte{
		filepath.Join("man", "gtoffset.1"):      programMan(pages, topics),
		filepath.Join("reference", "README.md"): index(pages, topics),
	}
	for _, p := range pages[1:] {
		name := strings.ReplaceAll(p.Command, " ", "-")
		files[filepath.Join("man", name+".1")] = commandMan(p)
		files[filepath.Join("reference", strings.TrimPrefix(name, "gtoffset-")+".md")] = reference(p)
	}
	for _, t := range topics {
		files[filepath.Join("reference", t.Name+".md")] = topic(t)
	}
	return files
}
