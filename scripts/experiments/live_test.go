//go:build live

package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gtoffset/scripts/live"
)

// TestShort does every experiment in its short form. Each holds what describe foretold against what happened.
func TestShort(t *testing.T) {
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := open(ctx, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	t.Run("example", func(t *testing.T) { testExample(ctx, t, l) })
	for _, e := range experiments() {
		t.Run(e.number, func(t *testing.T) {
			s, err := e.do(ctx, l, true)
			if err != nil {
				t.Fatal(err)
			}
			t.Log("\n" + e.table(s))
			for _, r := range s.Trials {
				checkShort(t, e, r)
			}
		})
	}
}

// checkShort holds a trial to what the paper says. How much commitAsync repeats depends on how busy the machine is.
func checkShort(t *testing.T, e experiment, r row) {
	t.Helper()
	sure := []string{graceful, killed, killedBetween}
	if e.number != "2" && slices.Contains(sure, r.Stop) && !e.paper(r).holds {
		t.Errorf("got %+v, the paper: %s", r, e.paper(r).text)
	}
	if e.number == "2" && r.Happened.Repeated == 0 {
		t.Errorf("got %+v, want the last batch repeated", r)
	}
}

// testExample runs the example job of docs: from the first record on, again for what it has not processed, and with a file that is out of
// range.
func testExample(ctx context.Context, t *testing.T, l *lab) {
	p := place{"example", "example"}
	if err := l.fill(ctx, p.topic, 40); err != nil {
		t.Fatal(err)
	}
	for _, run := range []struct {
		name string
		next map[int32]int64 // what the file says before; nil: there is none yet
		want int             // records
	}{
		{"first", nil, 40},
		{"some were processed", map[int32]int64{0: 10, 1: 7, 2: 10, 3: 10}, 3},
		{"out of range", map[int32]int64{0: 10, 1: 5000, 2: 10, 3: 8}, 2},
	} {
		if run.next == nil {
			if _, err := l.clamp(ctx, p); err != nil {
				t.Fatal(err)
			}
		} else if err := l.write(p, run.next); err != nil {
			t.Fatal(err)
		}
		j, err := l.startExample(p)
		if err != nil {
			t.Fatal(err)
		}
		err = j.until(ctx, "has printed its records", func() bool { return j.said >= run.want })
		if err == nil {
			err = syscall.Kill(j.PID(), syscall.SIGTERM) // it finishes its batch, and saves
		}
		if err == nil {
			err = j.gone(ctx)
		}
		j.Stop()
		if err != nil {
			t.Fatalf("%s: %v\n%s", run.name, err, j.lastWords())
		}
		if j.said != run.want {
			t.Errorf("%s: printed %d records, want %d", run.name, j.said, run.want)
		}
		text, err := os.ReadFile(filepath.Join(l.folder(p), "gtoffset"))
		if err != nil {
			t.Fatal(err)
		}
		if want := "\n0 10\n1 10\n2 10\n3 10\n# entries 4\n"; !strings.HasSuffix(string(text), want) {
			t.Errorf("%s: stored %s\nwant %s", run.name, text, want)
		}
	}
}

// startExample starts the example job of docs, which prints a line for each record.
func (l *lab) startExample(p place) (*job, error) {
	scratch, err := l.scratch()
	if err != nil {
		return nil, err
	}
	cmd := live.SparkJava(l.spark, l.classes, "StreamingJob", l.kafka.Bootstrap(), p.group, p.topic, l.folder(p))
	cmd.Args = slices.Insert(cmd.Args, 1, "-Dspark.ui.enabled=false", "-Dspark.driver.host=127.0.0.1", "-Dspark.driver.bindAddress=127.0.0.1",
		"-Dspark.local.dir="+scratch)
	return launch(l.locked(cmd, p))
}
