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

// runner runs fuzz tests. Each package is built once in either way.
type runner struct {
	work     string // folder for what is built, and for what the tests find out
	each     time.Duration
	parallel int

	built map[string]string // binary by package, and by whether coverage guides it
}

// result is what came of a target.
type result struct {
	target
	executions int64
	finding    string // what the test said of it, "" for none
}

// run runs one target for its time, or until it has found something: half of the time guided by coverage, and half many times as fast
// without, on what the first half has found to reach new code. The error is one of building or starting it.
func (r *runner) run(ctx context.Context, t target) (result, error) {
	done := result{target: t}
	for _, guided := range []bool{true, false} {
		binary, err := r.build(ctx, t, guided)
		if err != nil {
			return done, err
		}
		n, finding, err := r.fuzz(ctx, t, binary)
		done.executions, done.finding = done.executions+n, finding
		if err != nil || finding != "" {
			return done, err
		}
	}
	return done, nil
}

// fuzz runs a binary, and returns how often it has called the target and what it said of a finding.
func (r *runner) fuzz(ctx context.Context, t target, binary string) (executed int64, finding string, err error) {
	cmd := exec.CommandContext(ctx, binary, "-test.run=^$", "-test.fuzz=^"+t.name+"$", "-test.fuzztime="+(r.each/2).String(),
		"-test.fuzzminimizetime=1s", // Go's minute is for each input that reaches something new, which would be most of the time
		"-test.parallel="+strconv.Itoa(r.parallel), "-test.fuzzcachedir="+filepath.Join(r.work, "corpus", t.short(), t.name))
	cmd.Dir = t.dir // where its seeds lie
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(r.parallel))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it then ends its own processes
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	if ctx.Err() != nil {
		return 0, "", ctx.Err()
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return executions(said.String()), said.String(), nil
	}
	return executions(said.String()), "", err
}

// build builds the tests of a package, with what fuzzing is guided by or without.
func (r *runner) build(ctx context.Context, t target, guided bool) (string, error) {
	key := fmt.Sprint(t.pkg, guided)
	if path := r.built[key]; path != "" {
		return path, nil
	}
	path := filepath.Join(r.work, strconv.Itoa(len(r.built))+".test")
	args := []string{"test", "-c", "-o", path}
	if guided {
		args = append(args, "-fuzz=^"+t.name+"$")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, t.pkg)...)
	cmd.Dir = t.dir
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the tests of %s: %w\n%s", t.pkg, err, said)
	}
	if r.built == nil {
		r.built = map[string]string{}
	}
	r.built[key] = path
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
