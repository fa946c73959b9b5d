package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// target is one fuzz test.
type target struct {
	pkg, dir string // import path, folder
	name     string // FuzzParse
	about    string // the first sentence of its comment
	seeds    int    // inputs under testdata/fuzz: each was a finding
}

// short is the import path within the module.
func (t target) short() string {
	_, rest, _ := strings.Cut(t.pkg, "/")
	return rest
}

// discover finds the fuzz tests of the module that dir is in, in the order of their packages and files.
func discover(ctx context.Context, dir string) ([]target, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr = &said
	listed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &said)
	}
	var all []target
	for in := json.NewDecoder(bytes.NewReader(listed)); ; {
		var p struct {
			ImportPath, Dir           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		for _, file := range append(p.TestGoFiles, p.XTestGoFiles...) {
			found, err := inFile(filepath.Join(p.Dir, file))
			if err != nil {
				return nil, err
			}
			for _, t := range found {
				t.pkg, t.dir = p.ImportPath, p.Dir
				kept, err := os.ReadDir(filepath.Join(p.Dir, "testdata", "fuzz", t.name))
				if err == nil {
					t.seeds = len(kept)
				}
				all = append(all, t)
			}
		}
	}
}

// inFile finds the fuzz tests of a file: functions of that name with one argument of *testing.F.
func inFile(path string) ([]target, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var all []target
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Fuzz") || f.Type.Params.NumFields() != 1 {
			continue
		}
		pointer, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
		if !ok {
			continue
		}
		if of, ok := pointer.X.(*ast.SelectorExpr); !ok || of.Sel.Name != "F" {
			continue
		}
		all = append(all, target{name: f.Name.Name, about: new(doc.Package).Synopsis(f.Doc.Text())})
	}
	return all, nil
}
