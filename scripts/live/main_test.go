//go:build live

package live_test

import (
	"context"
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

// previous starts one node of the release before 4.0, which all tests share, too, when the first needs it.
var previous func() (*live.Cluster, error)

// secured starts one node of the current release with all ways to log in, which all tests share when the first needs it.
var secured func() (*live.Secured, error)

// work is a folder of this run's own: the binary lies there.
var work string

func TestMain(m *testing.M) {
	if step := os.Getenv(envKill); step != "" {
		os.Exit(killedAt(step))
	}
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
		all, end := context.WithCancel(ctx) // of whatever starts later
		var old *live.Cluster
		previous = sync.OnceValues(func() (*live.Cluster, error) {
			var err error
			old, err = live.Kafka(all, live.Previous, 1)
			return old, err
		})
		var safe *live.Secured
		secured = sync.OnceValues(func() (*live.Secured, error) {
			var err error
			safe, err = live.Secure(all)
			return safe, err
		})
		defer func() {
			end()
			if old != nil {
				old.Stop()
			}
			if safe != nil {
				safe.Stop()
			}
		}()
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
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w -funcalign=8", "-o", path, "gtoffset")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build gtoffset: %w\n%s", err, said)
	}
	return path, nil
})

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
