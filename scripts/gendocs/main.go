// Gendocs makes the manual pages (docs/man) and the reference (docs/reference) of what the program's help says, and keeps its first page
// (cmd/help.txt) for the program itself. With -check it writes nothing, and fails if any of them is not as it would be made.
package main

import (
	"bytes"
	"context"
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
	if err := run(*check, "."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// folders are those that have generated files and nothing else.
var folders = []string{man, pages}

const (
	man   = "docs/man"
	pages = "docs/reference"
)

// run writes the files below the project's folder, or compares them with what is there.
func run(check bool, root string) error {
	made := generate()
	var stale []string
	for _, folder := range folders {
		there, err := os.ReadDir(filepath.Join(root, folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range there {
			if name := filepath.Join(folder, e.Name()); made[name] == nil {
				stale = append(stale, name)
				if !check {
					if err := os.Remove(filepath.Join(root, name)); err != nil {
						return err
					}
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(made)) {
		path := filepath.Join(root, name)
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

// generate makes all files, by their paths in the project.
func generate() map[string][]byte {
	commands, topics := cmd.Manual()
	files := map[string][]byte{
		"cmd/help.txt":                    help(),
		filepath.Join(man, "gtoffset.1"):  programMan(commands, topics),
		filepath.Join(pages, "README.md"): index(commands, topics),
	}
	for _, p := range commands[1:] {
		name := strings.ReplaceAll(p.Command, " ", "-")
		files[filepath.Join(man, name+".1")] = commandMan(p)
		files[filepath.Join(pages, strings.TrimPrefix(name, "gtoffset-")+".md")] = reference(p)
	}
	for _, t := range topics {
		files[filepath.Join(pages, t.Name+".md")] = topic(t)
	}
	return files
}

// help is what the program prints when it is asked for help with nothing, where there is room for it.
func help() []byte {
	var b bytes.Buffer
	cmd.Main(context.Background(), cmd.Env{Stdout: &b, Stderr: &b, Getenv: func(string) string { return "" }}, []string{"help"})
	return b.Bytes()
}
