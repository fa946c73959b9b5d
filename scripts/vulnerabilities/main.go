// Command vulnerabilities holds the module against Go's vulnerability database:
//
//	go run ./scripts/vulnerabilities [-latest]
//
// The database is a Go module, too, and comes the way that modules come; its own server is not needed. It is the one of the day that is
// pinned here, so that the same tree passes tomorrow; -latest takes the newest. What is found in code that is called fails, but for the
// standard library, which comes with the Go that builds: that is told. The exit code is 1 for findings, 77 if the database is not to be
// had here.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// The database, and the day that is pinned.
const (
	database = "golang.org/x/vulndb"
	pinned   = "v0.0.0-20261105234957-e22db6528018"
)

// cannot is the exit code of a check that cannot run here.
const cannot = 77

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	latest := flag.Bool("latest", false, "the newest database, not the one that is pinned")
	flag.Parse()
	version := pinned
	if *latest {
		version = "latest"
	}
	code, err := run(ctx, version)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "vulnerabilities:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, version string) (code int, err error) {
	dir, err := download(ctx, version)
	if err != nil {
		return cannot, err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile=scripts/tools/go.mod", "govulncheck", "-db", "file://"+filepath.ToSlash(dir), "-format", "json", "./...")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return 1, fmt.Errorf("govulncheck: %w\n%s", err, &said)
	}
	found, err := parse(bytes.NewReader(out))
	if err != nil {
		return 1, err
	}
	for _, f := range found {
		if f.library() {
			fmt.Printf("%s in the standard library (%s), mended in %s\n", f.id, f.where, f.fixed)
			continue
		}
		code = 1
		fmt.Printf("%s in %s (%s), mended in %s: %s\n", f.id, f.module, f.where, f.fixed, f.summary)
	}
	fmt.Printf("%d findings in code that is called\n", len(found))
	return code, nil
}

// download brings the database, and returns the folder of its entries.
func download(ctx context.Context, version string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", database+"@"+version)
	cmd.Dir = os.TempDir() // outside of the module: it is no dependency
	out, err := cmd.Output()
	var module struct{ Dir, Error string }
	if jerr := json.Unmarshal(out, &module); jerr != nil {
		return "", fmt.Errorf("download %s: %w", database, errors.Join(err, jerr))
	}
	if module.Error != "" {
		return "", fmt.Errorf("download %s: %s", database, module.Error)
	}
	return filepath.Join(module.Dir, "data", "osv"), nil
}

// finding is one entry of the database that concerns code which is called.
type finding struct {
	id, module, where, fixed, summary string
}

func (f finding) library() bool { return f.module == "stdlib" || f.module == "toolchain" }

// parse reads what govulncheck says: a stream of objects, among them the entries, and for each a trace that begins where the fault is.
func parse(r io.Reader) ([]finding, error) {
	type frame struct{ Module, Package, Function string }
	var message struct {
		OSV     *struct{ ID, Summary string }
		Finding *struct {
			OSV          string
			FixedVersion string `json:"fixed_version"`
			Trace        []frame
		}
	}
	summaries := map[string]string{}
	found := map[string]finding{}
	for d := json.NewDecoder(r); ; {
		message.OSV, message.Finding = nil, nil
		switch err := d.Decode(&message); {
		case errors.Is(err, io.EOF):
			all := slices.SortedFunc(maps.Values(found), func(a, b finding) int { return strings.Compare(a.id+a.module, b.id+b.module) })
			for i := range all {
				all[i].summary = summaries[all[i].id]
			}
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("read what govulncheck says: %w", err)
		}
		if o := message.OSV; o != nil {
			summaries[o.ID] = o.Summary
		}
		if f := message.Finding; f != nil && len(f.Trace) > 0 && f.Trace[0].Function != "" { // else it is only among the dependencies
			at := f.Trace[0]
			found[f.OSV+at.Module] = finding{id: f.OSV, module: at.Module, where: at.Package + "." + at.Function, fixed: f.FixedVersion}
		}
	}
}
