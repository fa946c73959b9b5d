package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// step is one run of the program.
type step struct {
	why    string   // one line, printed before it
	args   []string // nil: the undo line of the repair
	code   int      // the exit code that it must give
	readme string   // what the README's transcript says before it; "": it is not in there
}

// where stands in a step's arguments for -b ADDRESS -g GROUP.
const where = "WHERE"

func steps() []step {
	mend := []string{"clamp", where, "-t", "orders", "-t", "payments", "-s", store, "--stored", "--recreated", "earliest", "--execute"}
	return []step{
		{
			why:    "What did the job store, what did its group commit, what does the cluster still have, and what would a restart do?",
			args:   []string{"describe", where, "-s", store},
			readme: "What would a restart do now?",
		}, {
			why:  "What would bring the stored offsets of orders back into range? A dry run writes nothing.",
			args: []string{"clamp", where, "-t", "orders", "-s", store, "--stored", "--dry-run"},
		}, {
			why:  "Both topics, in earnest. But payments was deleted and made anew: its numbers mean nothing, not even the one that fits.",
			args: []string{"clamp", where, "-t", "orders", "-t", "payments", "-s", store, "--stored", "--execute"},
			code: 4,
		}, {
			why:    "So say what is meant: the new payments is read from its start. Plan, backup, write, read back, and the way back.",
			args:   mend,
			readme: "Bring the stored offsets back into range. payments was made anew: without a word on it, nothing would be written (exit 4).",
		}, {
			why:  "May the job start again? A script asks with --check: exit 0 is yes.",
			args: []string{"describe", where, "-s", store, "--check"},
		}, {
			why:  "The same repair once more: nothing to do.",
			args: mend,
		}, {
			why: "Second thoughts? This is the undo line, as the repair printed it.",
		}, {
			why:  "And the check again: exit 10, something is not ok, and --problems shows only that.",
			args: []string{"describe", where, "-s", store, "--check", "--problems"},
			code: 10,
		},
	}
}

// stage is what the steps run on. Everything that is made lies in dir.
type stage struct {
	dir     string
	program string
	address string
}

// open builds the program, starts the cluster and breaks the group. close takes all of it away again.
func open(ctx context.Context) (s stage, close func() error, err error) {
	if s.dir, err = os.MkdirTemp("", "gtoffset-demo-"); err != nil {
		return s, nil, err
	}
	remove := func() error { return os.RemoveAll(s.dir) }
	defer func() {
		if err != nil {
			err = errors.Join(err, remove())
		}
	}()
	if s.program, err = build(ctx, s.dir); err != nil {
		return s, nil, err
	}
	b, err := setUp(s.dir)
	if err != nil {
		return s, nil, err
	}
	s.address = b.Addrs()[0]
	return s, func() error { b.Close(); return remove() }, nil
}

// build makes the real program.
func build(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "gtoffset")
	if suffix := os.Getenv("GOEXE"); suffix != "" {
		path += suffix
	}
	c := command(ctx, "go", "build", "-buildvcs=false", "-o", path, "gtoffset")
	said, err := c.CombinedOutput()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("build gtoffset: %w\n%s", err, said)
	}
	return path, nil
}

// command is a process that gets an interrupt when the context ends, so that it can clean up, and soon after that is killed.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.WaitDelay = 5 * time.Second
	c.Cancel = func() error {
		if err := c.Process.Signal(os.Interrupt); err == nil || errors.Is(err, os.ErrProcessDone) {
			return err
		}
		return c.Process.Kill() // a system without interrupts
	}
	return c
}

// environment is ours without what would lead the program elsewhere, and with a place for backups in the demo's folder.
func (s stage) environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GTOFFSET_") && !strings.HasPrefix(v, "KAFKA_") && !strings.HasPrefix(v, "XDG_STATE_HOME=") {
			env = append(env, v)
		}
	}
	return append(env, "XDG_STATE_HOME="+filepath.Join(s.dir, "state"))
}

// args fills in what is known only now. The undo line is taken from the plan, where it stands as it was printed.
func (s stage) args(st step) ([]string, error) {
	if st.args != nil {
		var all []string
		for _, a := range st.args {
			if a == where {
				all = append(all, "-b", s.address, "-g", group)
				continue
			}
			all = append(all, a)
		}
		return all, nil
	}
	plans, err := filepath.Glob(filepath.Join(s.dir, "state", "gtoffset", "*.plan.json"))
	if err != nil || len(plans) != 1 {
		return nil, fmt.Errorf("find the plan of the repair: %d plans, %w", len(plans), err)
	}
	text, err := os.ReadFile(plans[0])
	if err != nil {
		return nil, err
	}
	var plan struct{ Undo string }
	if err := json.Unmarshal(text, &plan); err != nil {
		return nil, fmt.Errorf("read the plan of the repair: %w", err)
	}
	line := words(plan.Undo)
	if len(line) < 2 {
		return nil, fmt.Errorf("the plan of the repair has no undo line: %s", text)
	}
	return line[1:], nil
}

// words splits a command line as a shell does, as far as blanks, backslashes and single quotes go.
func words(line string) []string {
	var all []string
	var word strings.Builder
	begun, quoted, escaped := false, false, false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\'':
			quoted, begun = !quoted, true
		case r == '\\' && !quoted:
			escaped, begun = true, true
		case r == ' ' && !quoted:
			if begun {
				all = append(all, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		all = append(all, word.String())
	}
	return all
}

// run runs one step, in the demo's folder and without anybody to ask.
func (s stage) run(ctx context.Context, out io.Writer, st step, args []string) error {
	c := command(ctx, s.program, args...)
	c.Dir, c.Env, c.Stdout, c.Stderr = s.dir, s.environment(), out, out
	err := c.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("run gtoffset %s: %w", args[0], err)
	}
	if got := c.ProcessState.ExitCode(); got != st.code {
		return fmt.Errorf("gtoffset %s: exit %d, want %d", strings.Join(args, " "), got, st.code)
	}
	return nil
}

// show plays the steps.
func show(ctx context.Context, out io.Writer, color bool, steps []step) (err error) {
	why, typed, dim, plain := "", "", "", ""
	if color {
		why, typed, dim, plain = "\x1b[1;36m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
	}
	fmt.Fprintf(out, "%sBuilding gtoffset and starting a Kafka cluster inside this process.%s\n", dim, plain)
	s, close, err := open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, close()) }()
	for i, st := range steps {
		args, err := s.args(st)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s%d. %s%s\n\n%s$ gtoffset %s%s\n", why, i+1, st.why, plain, typed, strings.Join(args, " "), plain)
		if err := s.run(ctx, out, st, args); err != nil {
			return err
		}
		fmt.Fprintf(out, "%sexit %d%s\n", dim, st.code, plain)
	}
	fmt.Fprintf(out, "\n%sThat was all of it: the cluster ends with this process, and the files are removed.%s\n", dim, plain)
	return nil
}

// writeTranscript plays the README's steps and replaces what differs from run to run.
func writeTranscript(ctx context.Context, out io.Writer) (err error) {
	s, close, err := open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, close()) }()
	var b bytes.Buffer
	for i, st := range steps() {
		if st.readme == "" {
			continue
		}
		args, err := s.args(st)
		if err != nil {
			return err
		}
		if b.Len() > 0 {
			fmt.Fprintln(&b)
		}
		fmt.Fprintf(&b, "# %s\n$ gtoffset %s\n", st.readme, strings.Join(args, " "))
		if err := s.run(ctx, &b, st, args); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	_, err = io.WriteString(out, s.steady(b.String()))
	return err
}

// steady replaces what differs from run to run: address, folders, instants, topic ids.
func (s stage) steady(text string) string {
	text = strings.ReplaceAll(text, s.address, "kafka1:9092")
	text = strings.ReplaceAll(text, filepath.Join(s.dir, "state"), "/home/ops/.local/state")
	text = strings.ReplaceAll(text, s.dir, "/var/lib/billing")
	text = regexp.MustCompile(`\b\d{8}T\d{6}Z`).ReplaceAllString(text, "20261129T120000Z")
	return regexp.MustCompile(`\b(was|is) [A-Za-z0-9_-]{22}\b`).ReplaceAllString(text, "$1 5Qx0…")
}
