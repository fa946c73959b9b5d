package docs_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWalk holds the walks through the program to its code: each function, and each type, that a row names is in one of the files that it
// links to.
func TestWalk(t *testing.T) {
	link := regexp.MustCompile(`\]\(\.\./([^)]+\.go)\)`)
	name := regexp.MustCompile("`([A-Za-z]+)`")
	const head = "| step | where | what happens |"
	named := 0
	var rows [][]string
	for _, walk := range strings.Split(read(t, "docs/architecture.md"), head)[1:] {
		rows = append(rows, table(t, "## Walk\n"+head+walk, "## Walk")...)
	}
	for _, row := range rows {
		declared := map[string]bool{}
		for _, m := range link.FindAllStringSubmatch(row[1], -1) {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, m[1]), nil, 0)
			if err != nil {
				t.Error(err)
				continue
			}
			for _, d := range file.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					declared[d.Name.Name] = true
				case *ast.GenDecl:
					for _, s := range d.Specs {
						if s, ok := s.(*ast.TypeSpec); ok {
							declared[s.Name.Name] = true
						}
					}
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
	if named < 25 {
		t.Errorf("the walks name %d functions", named)
	}
}

// TestLayout finds every package of the program in the table of the layout, and in its last column what the row's packages import.
func TestLayout(t *testing.T) {
	link := regexp.MustCompile(`\]\(\.\./([^)]+)\)`)
	imports, rows := imported(t), map[string]bool{}
	for _, row := range table(t, read(t, "docs/architecture.md"), "## Layout") {
		ours, theirs := map[string]bool{}, map[string]bool{}
		for _, m := range link.FindAllStringSubmatch(row[0], -1) {
			rows[m[1]] = true
			for _, name := range imports[m[1]].ours {
				ours[name] = true
			}
			for _, name := range imports[m[1]].theirs {
				theirs[name] = true
			}
		}
		want := strings.Join(slices.Sorted(maps.Keys(theirs)), ", ")
		switch names := strings.Join(slices.Sorted(maps.Keys(ours)), ", "); {
		case row[2] == "anything":
			continue
		case strings.HasPrefix(row[2], "all of ours below; "): // cmd/imports_test.go has which
			want = "all of ours below; " + want
		case names == "" && want == "":
			want = "the standard library"
		case names != "" && want != "":
			want = names + "; " + want
		case names != "":
			want = names
		}
		if row[2] != want {
			t.Errorf("docs/architecture.md says of %s that it imports %q, and it is %q", row[0], row[2], want)
		}
	}
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
		if !rows[folder] && !strings.HasPrefix(folder, "docs/") {
			t.Errorf("the table Layout of docs/architecture.md has no row for %s", folder)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// used are the packages of ours and the modules of others that a package imports, by the last words of their names.
type used struct{ ours, theirs []string }

// imported is what each package of the program imports, by its folder, and main.go by its file.
func imported(t *testing.T) map[string]used {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Module,Standard", "./...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath string
		Imports    []string
		Standard   bool
		Module     *struct {
			Path string
			Main bool
		}
	}
	var all []listed
	modules := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if p.Module != nil && !p.Module.Main {
			modules[p.ImportPath] = path.Base(regexp.MustCompile(`/v\d+$`).ReplaceAllString(p.Module.Path, ""))
		}
		all = append(all, p)
	}
	found := map[string]used{}
	for _, p := range all {
		if p.Module == nil || !p.Module.Main {
			continue
		}
		var u used
		for _, name := range p.Imports {
			switch {
			case strings.HasPrefix(name, "gtoffset/"):
				u.ours = append(u.ours, path.Base(name))
			case modules[name] != "":
				u.theirs = append(u.theirs, modules[name])
			}
		}
		folder := strings.TrimPrefix(p.ImportPath, "gtoffset/")
		if p.ImportPath == "gtoffset" {
			folder = "main.go"
		}
		found[folder] = u
	}
	return found
}

// TestWaysToAStore finds each kind of store in the row of what it implements.
func TestWaysToAStore(t *testing.T) {
	_, stores, _ := strings.Cut(read(t, "docs/architecture.md"), "\n## Stores\n")
	rows := table(t, "## Stores\n"+stores, "## Stores")
	if len(rows) != 3 {
		t.Fatalf("got %d ways to a store", len(rows))
	}
	files, err := filepath.Glob(filepath.Join(root, "offsetfile", "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	ways := map[string]int{}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		switch code := string(text); {
		case strings.HasSuffix(file, "_test.go"):
		case strings.Contains(code, "offsetfile.Over("):
			ways[name] = 0
		case strings.Contains(code, "offsetfile.OverFiles("):
			ways[name] = 1
		case strings.Contains(code, "\nfunc Kind() offsetfile.Kind {"):
			if _, known := ways[name]; !known {
				ways[name] = 2
			}
		}
	}
	for name, way := range ways {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(rows[way][2]) {
			t.Errorf("the table of the ways to a store in docs/architecture.md lacks %s beside %s", name, rows[way][1])
		}
	}
}
