// Release builds what is published: an archive for each platform, Debian packages, and their checksums.
//
//	go run ./scripts/release [-out dist] [-only linux/amd64,…]
//	go run ./scripts/release -completions FOLDER      only the scripts for shells, which goreleaser asks for
//
// From one commit, with one Go, it makes the same bytes each time, wherever it runs: what has a time has that of the commit, and the
// archives are written here, not by whatever tar, zip or dpkg a machine has.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// platforms are those that gtoffset is built for. .goreleaser.yaml has the same; a test compares them.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

func main() {
	out := flag.String("out", "dist", "the folder that gets the files")
	only := flag.String("only", strings.Join(platforms, ","), "the platforms to build for, as linux/amd64,darwin/arm64")
	completions := flag.String("completions", "", "write the scripts for shells to this folder, and nothing else")
	flag.Parse()
	if *completions != "" {
		if err := writeCompletions(context.Background(), ".", *completions); err != nil {
			fmt.Fprintln(os.Stderr, "release:", err)
			os.Exit(1)
		}
		return
	}
	names, err := release(context.Background(), ".", *out, strings.Split(*only, ","))
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	for _, name := range names {
		fmt.Println(filepath.Join(*out, name))
	}
}

// release builds everything from the repository at root and returns the names of the files in out.
func release(ctx context.Context, root, out string, only []string) ([]string, error) {
	for _, p := range only {
		if !slices.Contains(platforms, p) {
			return nil, fmt.Errorf("platform %q is none of %s", p, strings.Join(platforms, ", "))
		}
	}
	r, err := begin(ctx, root)
	if err != nil {
		return nil, err
	}
	defer r.end()
	if err := r.describe(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	var names []string
	sums := &bytes.Buffer{}
	put := func(name string, content []byte, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		names = append(names, name)
		fmt.Fprintf(sums, "%x  %s\n", sha256.Sum256(content), name)
		return os.WriteFile(filepath.Join(out, name), content, 0o644)
	}
	for _, p := range only {
		goos, arch, _ := strings.Cut(p, "/")
		program, err := r.program(goos, arch)
		if err != nil {
			return nil, err
		}
		base := "gtoffset_" + r.version + "_" + goos + "_" + arch
		if goos == "windows" {
			content, err := zipped(base, r.archived("gtoffset.exe", program), r.when)
			if err := put(base+".zip", content, err); err != nil {
				return nil, err
			}
			continue
		}
		content, err := tarred(base, r.archived("gtoffset", program), r.when)
		if err := put(base+".tar.gz", content, err); err != nil {
			return nil, err
		}
		if goos == "linux" {
			content, err := r.debian(arch, program)
			if err := put("gtoffset_"+r.version+"_"+arch+".deb", content, err); err != nil {
				return nil, err
			}
		}
	}
	list := bytes.Clone(sums.Bytes())
	return names, put("checksums.txt", list, nil)
}

// releasing is one run.
type releasing struct {
	ctx     context.Context
	root    string
	dir     string // has the programs that are built so far
	version string
	when    time.Time // of the commit
	shared  []file    // what goes into every archive beside the program
}

func begin(ctx context.Context, root string) (*releasing, error) {
	dir, err := os.MkdirTemp("", "gtoffset-release-")
	return &releasing{ctx: ctx, root: root, dir: dir}, err
}

func (r *releasing) end() { _ = os.RemoveAll(r.dir) }

// file is one file of an archive, with slashes in its path.
type file struct {
	path    string
	content []byte
	mode    int64
}

// describe gathers what does not depend on the platform.
func (r *releasing) describe() error {
	seconds, err := r.run(nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	at, err := strconv.ParseInt(strings.TrimSpace(string(seconds)), 10, 64)
	if err != nil {
		return fmt.Errorf("the time of the commit: %w", err)
	}
	r.when = time.Unix(at, 0).UTC()
	said, err := r.ask("version")
	if err != nil {
		return err
	}
	r.version, _, _ = strings.Cut(strings.TrimPrefix(string(said), "gtoffset "), "\n")
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		if err := r.take(name, name); err != nil {
			return err
		}
	}
	pages, err := filepath.Glob(filepath.Join(r.root, "docs", "man", "*.1"))
	if err != nil || len(pages) == 0 {
		return fmt.Errorf("no manual pages in docs/man: %w", errors.Join(err, os.ErrNotExist))
	}
	for _, path := range pages {
		name := filepath.Base(path)
		if err := r.take(filepath.Join("docs", "man", name), "man/"+name); err != nil {
			return err
		}
	}
	completions, err := r.scripts()
	for _, f := range completions {
		r.shared = append(r.shared, file{"completions/" + f.path, f.content, f.mode})
	}
	return err
}

// scripts are those that complete commands, under the names that shells look for.
func (r *releasing) scripts() ([]file, error) {
	var all []file
	for _, s := range []struct{ shell, name string }{{"bash", "gtoffset.bash"}, {"zsh", "_gtoffset"}, {"fish", "gtoffset.fish"}, {"powershell", "gtoffset.ps1"}} {
		script, err := r.ask("completion", s.shell)
		if err != nil {
			return nil, err
		}
		all = append(all, file{s.name, script, 0o644})
	}
	return all, nil
}

func writeCompletions(ctx context.Context, root, folder string) error {
	r, err := begin(ctx, root)
	if err != nil {
		return err
	}
	defer r.end()
	all, err := r.scripts()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, f := range all {
		if err := os.WriteFile(filepath.Join(folder, f.path), f.content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// take adds a file of the repository to every archive.
func (r *releasing) take(from, to string) error {
	content, err := os.ReadFile(filepath.Join(r.root, from))
	r.shared = append(r.shared, file{to, content, 0o644})
	return err
}

// archived is the content of an archive.
func (r *releasing) archived(name string, program []byte) []file {
	return append([]file{{name, program, 0o755}}, r.shared...)
}

// program is the program for a platform.
func (r *releasing) program(goos, arch string) ([]byte, error) {
	path, err := r.build(goos, arch)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// ask runs the program on this machine, and returns what it prints.
func (r *releasing) ask(args ...string) ([]byte, error) {
	path, err := r.build(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	return r.run(nil, path, args...)
}

// build builds the program for a platform, unless that is done, and returns its path.
func (r *releasing) build(goos, arch string) (string, error) {
	path := filepath.Join(r.dir, goos+"_"+arch+".exe") // without such an ending Windows runs nothing
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if _, err := r.run([]string{"CGO_ENABLED=0", "GOOS=" + goos, "GOARCH=" + arch}, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w -funcalign=8 -buildid=", "-o", path, "."); err != nil {
		return "", fmt.Errorf("%s/%s: %w", goos, arch, err)
	}
	return path, nil
}

// run runs a command in the repository and returns what it prints.
func (r *releasing) run(env []string, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(r.ctx, name, args...)
	c.Dir, c.Env = r.root, append(os.Environ(), env...)
	var out, talk bytes.Buffer
	c.Stdout, c.Stderr = &out, &talk
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, &talk)
	}
	return out.Bytes(), nil
}
