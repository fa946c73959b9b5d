package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gtoffset/scripts/scenes"
)

// TestMain lets the test binary be the program, and the demo itself, so that a test can interrupt it as a process.
func TestMain(m *testing.M) {
	scenes.Program()
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
	if err := show(t.Context(), &b, false, ""); err != nil {
		t.Fatalf("%v\n%s", err, &b)
	}
	text := b.String()
	for _, want := range []string{
		"stored low: 380 expired; 400 unprocessed",
		"stored high: 100 ahead",
		"no entry in the store; no commit",
		"stored before the topic was recreated",
		"A restart from the commits   loses 1,830 (380 expired; 1,450 committed, never processed)",
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

// TestDemoPlaysAPage plays one that is named, and refuses one that has nothing to play.
func TestDemoPlaysAPage(t *testing.T) {
	room(t)
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("# Page\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := show(t.Context(), &b, false, page); err == nil || !strings.Contains(err.Error(), "has no scene") {
		t.Errorf("a page without a scene: got %v", err)
	}
	if err := show(t.Context(), &b, false, "../../docs/runbooks/before-a-restart.md"); err != nil || !strings.Contains(b.String(), "Meanwhile: the job stops.") {
		t.Errorf("got %v\n%s", err, &b)
	}
}
