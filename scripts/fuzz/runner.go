package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// runner runs fuzz tests. Each package is built once.
type runner struct {
	work     string // folder for what is built
	each     time.Duration
	parallel int

	built map[string]string // binary by package
}

// result is what came of a target.
type result struct {
	target
	executions int64
	finding    string // what the test said of it, "" for none
}

// run runs one target for its time, or until it has found something. The error is one of building or starting it.
func (r *runner) run(ctx context.Context, t target) (result, error) {
	done := result{target: t}
	binary, err := r.build(ctx, t)
	if err != nil {
		return done, err
	}
	cmd := exec.CommandContext(ctx, binary, "-test.run=^$", "-test.fuzz=^"+t.name+"$", "-test.fuzztime="+r.each.String(),
		"-test.parallel="+strconv.Itoa(r.parallel), "-test.fuzzcachedir="+filepath.Join(r.work, "corpus", t.short(), t.name))
	cmd.Dir = t.dir // where its seeds lie
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(r.parallel))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it then ends its own processes
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	if ctx.Err() != nil {
		return done, ctx.Err()
	}
	done.executions = executions(said.String())
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		done.finding = said.String()
		return done, nil
	}
	return done, err
}

// build builds the tests of a package, with what fuzzing is guided by.
func (r *runner) build(ctx context.Context, t target) (string, error) {
	if path := r.built[t.pkg]; path != "" {
		return path, nil
	}
	path := filepath.Join(r.work, strconv.Itoa(len(r.built))+".test")
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-fuzz=^"+t.name+"$", "-o", path, t.pkg)
	cmd.Dir = t.dir
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the tests of %s: %w\n%s", t.pkg, err, said)
	}
	if r.built == nil {
		r.built = map[string]string{}
	}
	r.built[t.pkg] = path
	return path, nil
}

var execs = regexp.MustCompile(`(?m)^fuzz: elapsed: .* execs: (\d+) `)

// executions is the last count that a fuzz test has told.
func executions(said string) int64 {
	all := execs.FindAllStringSubmatch(said, -1)
	if len(all) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(all[len(all)-1][1], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
