//go:build live

package live_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gtoffset/scripts/live"
)

// cluster is the three brokers of the current release that all tests share. A test names its topics and groups by name(t, …),
// and one that harms a broker starts its own cluster.
var cluster *live.Cluster

// work is a folder of this run's own: the binary lies there.
var work string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		var err error
		if work, err = os.MkdirTemp("", "gtoffset-test-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(work)
		c, err := live.Kafka(ctx, live.Current, 3)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer c.Stop()
		defer context.AfterFunc(ctx, func() { // interrupted
			c.Stop()
			os.RemoveAll(work)
			os.Exit(130)
		})()
		cluster = c
		return m.Run()
	}())
}

// built makes the real binary once, as it is shipped.
var built = sync.OnceValues(func() (string, error) {
	path := filepath.Join(work, "gtoffset")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "gtoffset")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build gtoffset: %w\n%s", err, said)
	}
	return path, nil
})

// gtoffset runs the real binary against the shared cluster, without a terminal and with a state folder of the test's own.
func gtoffset(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return program{}.run(t, args...)
}

// program is what a run of the binary differs in from the usual one.
type program struct {
	Env   []string // added to the usual
	Dir   string
	Stdin string
}

func (p program) run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Stdin, cmd.Dir = &out, &errs, strings.NewReader(p.Stdin), p.Dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home(t),
		"GTOFFSET_BOOTSTRAP_SERVER=" + cluster.Bootstrap(),
	}, p.Env...)
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("gtoffset %s: %v", strings.Join(args, " "), err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// homes has each test's home folder, where its runs keep their backups.
var homes sync.Map

func home(t *testing.T) string {
	t.Helper()
	if dir, ok := homes.Load(t.Name()); ok {
		return dir.(string)
	}
	dir := t.TempDir()
	homes.Store(t.Name(), dir)
	return dir
}

// name is a topic or group of the test's own on the shared cluster.
func name(t *testing.T, what string) string {
	t.Helper()
	return strings.ReplaceAll(t.Name(), "/", ".") + "." + what
}

// must ends the test at once: what it wanted to look at could not be set up.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
