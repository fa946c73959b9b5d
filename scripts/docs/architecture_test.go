package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWalk holds the walks through the program to its code: each function that a row names is in one of the files that it links to.
func TestWalk(t *testing.T) {
	link := regexp.MustCompile(`\]\(\.\./([^)]+\.go)\)`)
	name := regexp.MustCompile("`([A-Za-z]+)`")
	named := 0
	for _, row := range table(t, read(t, "docs/architecture.md"), "## One command, from arguments to the wire and back") {
		declared := map[string]bool{}
		for _, m := range link.FindAllStringSubmatch(row[1], -1) {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, m[1]), nil, 0)
			if err != nil {
				t.Error(err)
				continue
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					declared[f.Name.Name] = true
				}
			}
		}
		for _, m := range name.FindAllStringSubmatch(row[2], -1) {
			named++
			if !declared[m[1]] {
				t.Errorf("step %s names %s, which is in none of its files: %s", row[0], m[1], row[1])
			}
		}
	}
	if named < 20 {
		t.Errorf("the walk names %d functions", named)
	}
}

// TestLayout finds every package of the program in the table of the layout.
func TestLayout(t *testing.T) {
	page := read(t, "docs/architecture.md")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		folder, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch folder = filepath.ToSlash(folder); {
		case folder == ".":
			return nil
		case folder == "scripts" || strings.HasPrefix(folder, "."):
			return fs.SkipDir
		}
		if files, err := filepath.Glob(filepath.Join(path, "*.go")); err != nil || len(files) == 0 {
			return err
		}
		if !strings.Contains(page, "](../"+folder+")") {
			t.Errorf("docs/architecture.md has no word on %s", folder)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
