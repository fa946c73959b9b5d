//go:build live

package live_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"gtoffset/cmd"
	"gtoffset/scripts/live"
)

// gtoffset runs the real binary against the shared cluster, without a terminal and with a state folder of the test's own.
func gtoffset(t *testing.T, args ...string) result {
	t.Helper()
	return program{On: cluster}.run(t, args...)
}

// program is how the binary is run.
type program struct {
	On   *live.Cluster // its bootstrap address is in the environment
	Env  []string      // added to the usual
	Wrap []string      // a command that runs it, as strace does
	Kill string        // the step of the store's write at which it kills itself; then it is the test binary, which has the same Main
}

// start starts the program; the result is to be had from wait.
func (p program) start(t *testing.T, args ...string) *running {
	t.Helper()
	path, err := built()
	if p.Kill != "" {
		path, err = os.Executable()
	}
	must(t, err)
	line := append(append(append([]string(nil), p.Wrap...), path), args...)
	r := &running{t: t, cmd: exec.CommandContext(t.Context(), line[0], line[1:]...), args: args, began: time.Now()}
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.err
	r.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home(t), "TEST_RUN_ID=" + os.Getenv("TEST_RUN_ID")}
	if p.On != nil {
		r.cmd.Env = append(r.cmd.Env, "GTOFFSET_BOOTSTRAP_SERVER="+p.On.Bootstrap())
	}
	if p.Kill != "" {
		r.cmd.Env = append(r.cmd.Env, envKill+"="+p.Kill)
	}
	r.cmd.Env = append(r.cmd.Env, p.Env...)
	must(t, r.cmd.Start())
	return r
}

// run runs the program to its end.
func (p program) run(t *testing.T, args ...string) result {
	t.Helper()
	return p.start(t, args...).wait()
}

// envKill makes the test binary the program that kills itself.
const envKill = "LIVE_KILL"

// killedAt is the program, killed at a step of the store's write as kill -9 would.
func killedAt(step string) int {
	env := cmd.System(nil)
	env.Step = func(at string) error {
		if at != step {
			return nil
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // never fails on oneself
		select {}
	}
	return cmd.Main(context.Background(), env, os.Args[1:])
}

// running is a run under way.
type running struct {
	t        *testing.T
	cmd      *exec.Cmd
	args     []string
	out, err bytes.Buffer
	began    time.Time
}

func (r *running) wait() result {
	r.t.Helper()
	err := r.cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		r.t.Fatalf("gtoffset %s: %v", strings.Join(r.args, " "), err)
	}
	return result{r.t, r.args, r.out.String(), r.err.String(), r.cmd.ProcessState.ExitCode(), time.Since(r.began)}
}

// result is what a run left. A code of -1 says that it was killed.
type result struct {
	t        *testing.T
	args     []string
	out, err string
	code     int
	took     time.Duration
}

func (r result) String() string {
	return fmt.Sprintf("gtoffset %s\n-- exit %d, stdout:\n%s-- stderr:\n%s--", strings.Join(r.args, " "), r.code, r.out, r.err)
}

// exits checks the exit code.
func (r result) exits(code int) result {
	r.t.Helper()
	if r.code != code {
		r.t.Errorf("exit code: got %d, want %d\n%v", r.code, code, r)
	}
	return r
}

// prints checks that stdout has each of the texts.
func (r result) prints(texts ...string) result {
	r.t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.out, text) {
			r.t.Errorf("stdout lacks %q\n%v", text, r)
		}
	}
	return r
}

// says checks that stderr has each of the texts.
func (r result) says(texts ...string) result {
	r.t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.err, text) {
			r.t.Errorf("stderr lacks %q\n%v", text, r)
		}
	}
	return r
}

// undo is the line that the run printed as the way back.
func (r result) undo() string {
	r.t.Helper()
	for line := range strings.Lines(r.out) {
		if after, ok := strings.CutPrefix(line, "undo "); ok {
			return strings.TrimSpace(after)
		}
	}
	r.t.Fatalf("no undo line\n%v", r)
	return ""
}

// describe reads stdout, which must be one document of describe and nothing else.
func (r result) describe() described {
	r.t.Helper()
	var doc described
	d := json.NewDecoder(strings.NewReader(r.out))
	if err := d.Decode(&doc); err != nil || doc.Schema != "gtoffset.describe/1" {
		r.t.Fatalf("stdout is no document of describe: %v\n%v", err, r)
	}
	if _, err := d.Token(); err != io.EOF {
		r.t.Fatalf("something follows the document\n%v", r)
	}
	return doc
}

// described is what these tests read of a document of describe.
type described struct {
	Schema  string
	Cluster struct{ ID string }
	Groups  []struct {
		Group, Type string
		State       *string
		Exists      *bool
		Members     []struct {
			ID, Host string
			ClientID string `json:"client_id"`
			Epoch    *int32
			Assigned []struct {
				Topic     string
				Partition int32
			}
		}
		Partitions []describedRow
		Error      *string
	}
}

type describedRow struct {
	Topic         string
	TopicID       string `json:"topic_id"`
	Partition     int32
	Leader        *int32
	Earliest, End *int64
	Stored        *describedEntry
	Committed     describedEntry
	Timing        *describedTiming
	Share         *struct{ Start, Lag *int64 }
	OK            bool
	State         string
	Error         *string
}

type describedTiming struct {
	TimestampType string     `json:"timestamp_type"`
	ExpiresAt     *time.Time `json:"expires_at"`
}

type describedEntry struct {
	Offset, Lag, Expired, Ahead *int64
	Condition, Identity         string
	Epoch                       *int32
	Metadata                    *string
	Stale                       bool
	JumpsTo                     *int64 `json:"jumps_to"`
}

// row finds a partition of the first group.
func (d described) row(t *testing.T, partition int32) describedRow {
	t.Helper()
	for _, r := range d.Groups[0].Partitions {
		if r.Partition == partition {
			return r
		}
	}
	t.Fatalf("no partition %d in %+v", partition, d)
	return describedRow{}
}

// number is a value that a document holds, "null" if it holds none.
func number[T int32 | int64](n *T) string {
	if n == nil {
		return "null"
	}
	return fmt.Sprint(*n)
}

// same fails the test if two values differ.
func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\ngot  %v\nwant %v", what, got, want)
	}
}
