package cmd_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/cmd"
)

// An answer that does not arrive is exit 1 of every command, and said once; one that writes says that it has not.
func TestStdoutFull(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ line, say string }{
		{"", ""},
		{"--help", ""},
		{"help", ""},
		{"help stores", ""},
		{"describe --help", ""},
		{"version", ""},
		{"version -o json", ""},
		{"completion bash", ""},
		{"config", ""},
		{"describe -g billing", ""},
		{"describe -g billing -o json", ""},
		{"export -g billing", ""},
		{"wait -g billing --empty", ""},
		{"backups", ""},
		{"reset -g billing -t orders --to-earliest --dry-run", "; nothing was written"},
		{"reset -g billing -t orders --to-earliest --execute", "; nothing was written"},
		{"delete -g billing -t orders --execute", "; nothing was written"},
		{"clamp -g billing -t orders --execute", "; nothing was written"},
	} {
		t.Run(tc.line, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{10, 20}).commit("billing", "orders", 5)
			var talk bytes.Buffer
			full := writer(func([]byte) (int, error) {
				return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
			})
			code := cmd.Main(t.Context(), w.env(full, &talk), append([]string{}, strings.Fields(tc.line)...))
			if want := "write stdout: no space left on device" + tc.say; code != 1 || !strings.Contains(talk.String(), want) || strings.Count(talk.String(), "no space left") != 1 || !strings.Contains(talk.String(), "hint") {
				t.Errorf("exit code = %d, want 1; stderr is\n%s\nwant once %q, and a hint", code, &talk, want)
			}
			if n := w.writes(); n != 0 {
				t.Errorf("%d writes", n)
			}
		})
	}
}

// Whoever reads stdout, as head does, may go away once the plan is shown: what was written then is told on stderr, with the way back.
func TestStdoutUnread(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"table", "json"} {
		w := start(t).topic("orders", [2]int64{10, 20}).commit("billing", "orders", 5)
		asked, gone := make(chan struct{}), make(chan struct{})
		var once sync.Once
		w.b.Rewrite(kmsg.OffsetCommit.Int16(), func(int32, kmsg.Response) bool {
			once.Do(func() { close(asked) })
			<-gone
			return true
		})
		reset := []string{"reset", "-g", "billing", "-t", "orders", "--to-earliest", "--execute", "-o", format}
		if format == "table" { // a reader that is away before the write is another matter
			w.piped(func(out io.Reader) { must(t, out.(*os.File).Close()) }, reset...).exits(1).says("write stdout: broken pipe; nothing was written", "hint: let it be read to its end")
			same(t, "committed", w.committed("billing", "orders"), "0=5")
		}
		r := w.piped(func(out io.Reader) {
			<-asked
			must(t, out.(*os.File).Close())
			close(gone)
		}, reset...)
		r.exits(141).says("1 of 1 offsets are written and verified, but telling of it failed: ")
		same(t, "committed", w.committed("billing", "orders"), "0=10")
		line := "gtoffset import "
		if format == "json" {
			same(t, "cause and codes", words(r.failure().Cause, r.failure().Codes), "incomplete [141]")
		} else {
			line = "hint: all is done; what would undo it: gtoffset import "
		}
		r.says(line)
	}
	w := start(t).topic("orders", [2]int64{10, 20}).commit("billing", "orders", 5)
	w.b.FailCommit("orders", 0, kerr.InvalidCommitOffsetSize) // a write that failed says so with its own code
	var talk bytes.Buffer
	first := true
	code := cmd.Main(t.Context(), w.env(writer(func(b []byte) (int, error) {
		if !first {
			return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
		}
		first = !strings.Contains(string(b), "orders")
		return len(b), nil
	}), &talk), []string{"reset", "-g", "billing", "-t", "orders", "--to-earliest", "--execute"})
	if code != 1 || !strings.Contains(talk.String(), "nothing was written") {
		t.Errorf("exit code = %d, want 1\n%s", code, &talk)
	}
}

// More locks than files may be open are not begun with: what is left of a lock is its file.
func TestTooManyFiles(t *testing.T) {
	t.Parallel()
	w := start(t)
	for i := range 100 {
		name := fmt.Sprintf("orders-%d", i)
		w.topic(name, [2]int64{10, 20}).save("billing", name, 5)
	}
	line := []string{"clamp", "-g", "billing", "-s", w.store, "--stored", "--execute"}
	w.wrap = []string{"sh", "-c", `ulimit -n 100; exec "$0" "$@"`}
	w.process(0, "", line...).exits(1).says("100 files are to be locked at a time: too many open files; nothing was written", "hint: ulimit -n 356 before it")
	locks, err := filepath.Glob(w.path("billing", "*") + ".lock")
	must(t, err)
	same(t, "locks, backups", words(len(locks), len(w.backups())), "0 0")
	w.wrap[2] = `ulimit -n 356; exec "$0" "$@"`
	w.process(0, "", line...).exits(0)
}

// A document, or records, for a stdout that is closed would be nowhere.
func TestStdoutClosed(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{10, 20}).commit("billing", "orders", 5).topic("empty", [2]int64{7, 7})
	for _, tc := range []struct {
		to   string
		code int
		file []string
	}{{">&-", 1, nil}, {">/dev/null", 0, nil}, {">&-", 0, []string{filepath.Join(t.TempDir(), "billing.json")}}} {
		w.wrap = []string{"sh", "-c", `exec "$0" "$@" ` + tc.to}
		r := w.process(0, "", append([]string{"export", "-g", "billing"}, tc.file...)...).exits(tc.code)
		if tc.code != 0 {
			r.says("error: stdout is closed", "hint: ")
		}
	}
	w.wrap = []string{"sh", "-c", `exec "$0" "$@" >&-`}
	w.process(0, "", "replay", "-t", "empty", "--from", "earliest").exits(1).says("error: stdout is closed", "hint: ")
	w.process(0, "", "replay", "-t", "empty", "--from", "earliest", "--", "/bin/sh", "-c", "while read line; do :; done").exits(0).says("stdout is closed: what /bin/sh writes there is nowhere, and counts as accepted")
}

// What a closed stdout would have shown is said to be nowhere, once; and no file that is written takes the place of a closed stream.
func TestStdoutClosedOfAWrite(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		to     string
		stderr int // how often the way back is told there
	}{{"", 0}, {">/dev/null", 0}, {">&-", 1}, {"<&- >&-", 1}, {"<&- >&- 2>&-", 0}} {
		w := start(t).topic("orders", [2]int64{10, 20}).commit("billing", "orders", 5).save("billing", "orders", 5)
		w.wrap = []string{"sh", "-c", `exec "$0" "$@" ` + tc.to}
		line := []string{"clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute"}
		r := w.process(0, "", line...).exits(0)
		same(t, tc.to+" undo on stderr", strings.Count(r.err, "\nundo    gtoffset import "), tc.stderr)
		same(t, tc.to+" stored, committed", w.stored("billing", "orders")+", "+w.committed("billing", "orders"), "0=10, 0=10")
		w.run("import", w.backups()[0], "--dry-run").exits(0)
		w.process(0, "", append(line, "-q")...).exits(0).never("stdout")
		if tc.stderr > 0 {
			w.process(0, "", "describe", "-g", "billing").exits(0).says("gtoffset: stdout is closed: what was to be shown there is nowhere\n")
		}
	}
}

// Whoever interrupts at the question is told as much as one who says no.
func TestInterruptedAtTheQuestion(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"reset -g billing -t orders --to-earliest", "delete -g billing -t orders", "clamp -g billing -t orders"} {
		w := start(t).topic("orders", [2]int64{10, 20}).commit("billing", "orders", 5)
		ctx, interrupt := context.WithCancel(t.Context())
		w.soft = ctx
		silent := make(chan struct{})
		w.person("", func() { interrupt(); <-silent })
		w.run(strings.Fields(line)...).exits(130).says("error: interrupted; nothing was written").never("written; nothing")
		close(silent)
		if n := w.writes(); n != 0 {
			t.Errorf("%s: %d writes", line, n)
		}
	}
}
