package cmd_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gtoffset/offsetfile"
)

// ledger is what a command has taken in: a file for each batch, with a line for each record. A batch of which the end did not come,
// because the program was killed, has a last line that is cut off, or lacks some.
type ledger struct {
	t   *testing.T
	dir string
}

// script takes a batch in.
func (l ledger) script() string {
	return `t=$(mktemp "` + l.dir + `/part.XXXXXX") && cat >"$t" && mv "$t" "$t.done"`
}

func (l ledger) batches() []string {
	l.t.Helper()
	all, err := filepath.Glob(filepath.Join(l.dir, "*.done"))
	must(l.t, err)
	return all
}

// count is how often each record was taken in, as "topic partition offset".
func (l ledger) count() map[string]int {
	l.t.Helper()
	counts := map[string]int{}
	for _, path := range l.batches() {
		text, err := os.ReadFile(path)
		must(l.t, err)
		for line := range strings.Lines(string(text)) {
			if strings.HasSuffix(line, "\n") {
				counts[strings.TrimSpace(line)]++
			}
		}
	}
	return counts
}

// begin starts the program as a process of its own.
func (w *world) begin(args ...string) *exec.Cmd {
	w.t.Helper()
	bin, err := os.Executable()
	must(w.t, err)
	c := exec.Command(bin, args...)
	c.Env = append(os.Environ(), "TEST_PROGRAM=1")
	for name, value := range w.vars {
		c.Env = append(c.Env, name+"="+value)
	}
	must(w.t, c.Start())
	return c
}

// isWhole checks that the file of the store is complete.
func (w *world) isWhole(when string) {
	w.t.Helper()
	doc, err := offsetfile.Parse([]byte(w.file("billing", "orders")))
	if err != nil || doc.Len() != 2 {
		w.t.Fatalf("%s: the store is not whole: %v\n%s", when, err, w.file("billing", "orders"))
	}
}

// A replay that saves is killed at any moment: nothing is lost, at most one batch a kill comes again, the store is always whole. With
// GTOFFSET_SOAK set there are 50 kills.
func TestSoakReplayKilled(t *testing.T) {
	t.Parallel()
	kills := 5
	if os.Getenv("GTOFFSET_SOAK") != "" {
		kills = 50
	}
	const size = 20
	each := 8 * kills * size / 2
	w := start(t).filled("orders", each, each).saveAs("billing", "orders", "", "", 0, 0)
	l := ledger{t, t.TempDir()}
	line := w.saving(l.script(), "--batch-records", fmt.Sprint(size), "--format", `%t %p %o\n`, "-q")
	killed := 0
	for runs := 0; killed < kills; runs++ {
		if runs == 3*kills {
			t.Fatalf("only %d of %d runs were killed before their end", killed, runs)
		}
		before := len(l.batches())
		c := w.begin(line...)
		ended := make(chan struct{})
		go func() { _ = c.Wait(); close(ended) }()
		for over := false; !over && len(l.batches()) <= before+rand.N(3); { // a batch was taken in, or two more
			select {
			case <-ended:
				over = true
			case <-time.After(time.Millisecond):
			}
		}
		<-time.After(rand.N(4 * time.Millisecond)) // somewhere in the next one
		_ = c.Process.Kill()
		<-ended
		w.isWhole(fmt.Sprint("run ", runs))
		if c.ProcessState.ExitCode() == -1 {
			killed++
		}
	}
	w.run(line...).exits(0)
	w.isWhole("in the end")
	same(t, "stored", w.stored("billing", "orders"), fmt.Sprintf("0=%d 1=%d", each, each))
	counts, again := l.count(), 0
	for p := range 2 {
		for o := range each {
			n := counts[fmt.Sprintf("orders %d %d", p, o)]
			if n == 0 {
				t.Fatalf("orders %d %d is lost", p, o)
			}
			again += n - 1
		}
	}
	t.Logf("%d kills: %d records of %d came again, in batches of %d", killed, again, 2*each, size)
	if again > killed*size {
		t.Errorf("%d records came again, want %d at most", again, killed*size)
	}
}

// Killed at each step of a save: the file is the one before or the one after, and what was accepted and not saved comes again.
func TestReplayKilledInASave(t *testing.T) {
	t.Parallel()
	for _, step := range offsetfile.Steps() {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			w := start(t).filled("orders", 30, 0).saveAs("billing", "orders", "", "", 0, 0)
			w.vars["PATH"] = os.Getenv("PATH")
			l := ledger{t, t.TempDir()}
			line := w.saving(l.script(), "--batch-records", "10", "--format", `%t %p %o\n`, "-q")
			w.process(0, step, line...).exits(-1)
			w.isWhole(step)
			saved := slices.Contains([]string{offsetfile.StepSyncFolder, offsetfile.StepDone}, step)
			if got, want := w.stored("billing", "orders"), map[bool]string{false: "0=0 1=0", true: "0=10 1=0"}[saved]; got != want {
				t.Errorf("stored = %s, want %s", got, want)
			}
			accepted := len(l.batches())
			w.run(line...).exits(0)
			same(t, "stored in the end", w.stored("billing", "orders"), "0=30 1=0")
			again := 0
			counts := l.count()
			for o := range 30 {
				n := counts[fmt.Sprintf("orders 0 %d", o)]
				if n == 0 {
					t.Fatalf("orders 0 %d is lost", o)
				}
				again += n - 1
			}
			want := 10
			if saved || accepted == 0 {
				want = 0
			}
			same(t, "records that came again", again, want)
		})
	}
}

// A replay that was killed could not write into its backup how far it had come: what stands counts as moved, and the flag takes it back.
func TestReplayKilledAndUndone(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 30).save("billing", "orders", 0)
	w.vars["PATH"] = os.Getenv("PATH")
	w.process(0, offsetfile.StepDone, w.saving("cat >/dev/null", "--batch-records", "10", "-q")...).exits(-1)
	same(t, "stored", w.stored("billing", "orders"), "0=10")
	backup := w.backups()[0]
	w.run("import", backup, "--execute").exits(4).says("it was set to 30 and is 10", "hint: add --moved overwrite")
	w.run("import", backup, "--moved", "overwrite", "--execute").exits(0)
	same(t, "undone", w.stored("billing", "orders"), "0=0")
}
