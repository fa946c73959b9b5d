package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the README's transcript anew")

// TestMain lets the test binary be the demo itself, so that a test can interrupt it as a process.
func TestMain(m *testing.M) {
	if os.Getenv("DEMO_ITSELF") != "" {
		main()
	}
	os.Exit(m.Run())
}

// room gives the test a folder for temporary files and one for state, and afterwards fails it if the demo left anything there.
func room(t *testing.T) {
	t.Helper()
	for _, name := range []string{"TMPDIR", "XDG_STATE_HOME"} {
		dir := t.TempDir()
		t.Setenv(name, dir)
		t.Cleanup(func() {
			if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
				t.Errorf("left behind in %s: %q", name, left)
			}
		})
	}
}

func TestDemo(t *testing.T) {
	room(t)
	t.Setenv("GTOFFSET_STORE", "/nowhere") // nothing of the user's own may lead the demo elsewhere
	t.Setenv("GTOFFSET_BOOTSTRAP_SERVER", "127.0.0.1:1")
	t.Chdir("../../kafkaops/wire")
	var b bytes.Buffer
	if err := show(t.Context(), &b, false, steps()); err != nil {
		t.Fatalf("%v\n%s", err, &b)
	}
	text := b.String()
	for _, want := range []string{
		"stored low: 380 expired; 400 unprocessed",
		"stored high: 100 ahead",
		"no entry in the store; never committed",
		"stored before the topic was recreated",
		"A restart from the commits   loses 1,450 (committed, never processed)",
		"dry run: nothing was written; --execute would write 3 offsets",
		"gtoffset: hint: add --recreated end, or --recreated earliest",
		"exit 4",
		"5 of 5 verified",
		"7 partitions, 7 ok",
		"Nothing to do.",
		"$ gtoffset import ",
		"as before, low: the range is 500..2000",
		"gtoffset: error: check: ",
		"exit 10",
	} {
		_, after, found := strings.Cut(text, want)
		if !found {
			t.Fatalf("want %q, after what came before it, in\n%s", want, b.String())
		}
		text = after
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Errorf("escape sequences without a terminal:\n%q", b.String())
	}
}

func TestDemoFailsOnAnotherExitCode(t *testing.T) {
	room(t)
	wrong := steps()[:1]
	wrong[0].code = 3
	var b bytes.Buffer
	err := show(t.Context(), &b, false, wrong)
	if err == nil || !strings.Contains(err.Error(), "exit 0, want 3") {
		t.Errorf("got error %v, want one that names both exit codes", err)
	}
}

func TestDemoCleansUpWhenInterrupted(t *testing.T) {
	room(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, self)
	c.Env = append(os.Environ(), "DEMO_ITSELF=1")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var seen []byte
	for chunk := make([]byte, 4096); !bytes.Contains(seen, []byte("$ gtoffset describe")); {
		n, err := out.Read(chunk)
		if seen = append(seen, chunk[:n]...); err != nil {
			t.Fatalf("it ended before the first step: %v\n%s%s", err, seen, &errs)
		}
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if got := c.ProcessState.ExitCode(); got != 130 {
		t.Errorf("got exit %d, want 130\n%s", got, &errs)
	}
}

func TestReadmeShowsTheTranscript(t *testing.T) {
	room(t)
	var b bytes.Buffer
	if err := writeTranscript(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	const path, begin, end = "../../README.md", "<!-- go run ./scripts/demo -transcript -->\n```\n", "```\n<!-- end -->"
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(readme), begin)
	old, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("README.md has no place for the transcript, from %q to %q", begin, end)
	}
	if old == b.String() {
		return
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+b.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the transcript in README.md is stale: go test ./scripts/demo -update\ngot\n%s\nwant\n%s", old, b.String())
}

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                          nil,
		"a -b 1":                    {"a", "-b", "1"},
		"a 'b c'/d":                 {"a", "b c/d"},
		`a 'it'\''s' ''`:            {"a", "it's", ""},
		`gtoffset import 'my \dir'`: {"gtoffset", "import", `my \dir`},
	} {
		if got := words(line); !slices.Equal(got, want) {
			t.Errorf("words(%q): got %q, want %q", line, got, want)
		}
	}
}
