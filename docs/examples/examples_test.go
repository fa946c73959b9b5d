package examples_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gtoffset/docs/examples"
	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/scripts/live"
)

// client is the library with which the Python job reads from Kafka.
const client = "kafka-python==3.0.12"

// python returns a python that has the client, and the folder of the example.
func python(t *testing.T) (program, folder string) {
	t.Helper()
	program, err := live.Python(t.Context(), client)
	if err != nil && os.Getenv("CI") == "" {
		t.Skipf("no Python with %s here: %v", client, err)
	}
	must(t, err)
	dir := t.TempDir()
	must(t, os.CopyFS(dir, examples.Python))
	return program, filepath.Join(dir, "python")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A pythonJob is what the Python job is run with.
type pythonJob struct {
	program, folder string
	brokers, store  string
}

// reads runs the job until it has printed so many records, lets it finish as a service manager would, and returns them, sorted.
// meanwhile is called before it is told to end.
func (j pythonJob) reads(t *testing.T, records int, meanwhile func()) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, j.program, "-B", filepath.Join(j.folder, "job.py"), j.brokers, "billing", "orders", j.store)
	c.WaitDelay = time.Second
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	var printed []string
	lines := bufio.NewScanner(out)
	for len(printed) < records && lines.Scan() {
		printed = append(printed, lines.Text())
	}
	if len(printed) == records && meanwhile != nil {
		meanwhile()
	}
	must(t, c.Process.Signal(syscall.SIGTERM))
	for lines.Scan() {
		printed = append(printed, lines.Text())
	}
	if err := c.Wait(); err != nil || len(printed) != records {
		t.Fatalf("printed %q, want %d records: %v\n%s", printed, records, err, &errs)
	}
	slices.Sort(printed)
	return printed
}

func TestPythonJob(t *testing.T) {
	program, folder := python(t)
	b := kafkatest.Start(t, kafkatest.Options{Brokers: 1, Topics: map[string]int32{"orders": 2}})
	for p := range int32(2) {
		must(t, b.Produce("orders", p, "a", "b", "c"))
	}
	j := pythonJob{program, folder, b.Bootstrap(), t.TempDir()}
	files, err := offsetfile.Open(j.store)
	must(t, err)
	stored := func() string {
		t.Helper()
		h, err := files.Load(t.Context(), "billing", []string{"orders"}, false)
		must(t, err)
		if topic, _ := h.Store.Topic("orders"); !topic.Whole {
			t.Errorf("the file is not whole: %+v", topic)
		}
		return fmt.Sprint(h.Entries[offsets.Key{Topic: "orders", Partition: 0}].Offset, h.Entries[offsets.Key{Topic: "orders", Partition: 1}].Offset)
	}

	got := j.reads(t, 6, func() {
		_, err := files.Lock(t.Context(), "billing", []string{"orders"})
		if locked := (*offsetfile.LockedError)(nil); !errors.As(err, &locked) || !strings.HasPrefix(locked.Holder, "a Python job, pid ") {
			t.Errorf("while it runs: got %v, want its lock", err)
		}
	})
	if want := "orders 0 0 a, orders 0 1 b, orders 0 2 c, orders 1 0 a, orders 1 1 b, orders 1 2 c"; strings.Join(got, ", ") != want {
		t.Errorf("the first run: got %q, want %s", got, want)
	}
	if got := stored(); got != "3 3" {
		t.Errorf("stored: got %s", got)
	}

	must(t, b.Produce("orders", 1, "d"))
	if got := j.reads(t, 1, nil); got[0] != "orders 1 3 d" {
		t.Errorf("the second run: got %q, want what came since then", got)
	}

	// Low, and high.
	must(t, b.SetRange("orders", 0, 2, 3))
	path := filepath.Join(j.store, "billing", "orders", "gtoffset")
	must(t, os.WriteFile(path, []byte("# gtoffset 1\n# group billing\n# topic orders\n# note kept\n0 0 epoch=3 by=hand\n1 5000\n# entries 2\n"), 0o640))
	must(t, os.Chmod(path, 0o640))
	if got := j.reads(t, 1, nil); got[0] != "orders 0 2 c" {
		t.Errorf("out of range: got %q, want what is left of partition 0, and nothing of partition 1", got)
	}
	text, err := os.ReadFile(path)
	must(t, err)
	if got := string(text); !strings.Contains(got, "# note kept\n") || !strings.Contains(got, "\n0 3 by=hand\n1 5000\n# entries 2\n") {
		t.Errorf("what is not the job's did not stay, or an epoch did:\n%s", got)
	}
	info, err := os.Stat(path)
	must(t, err)
	if got := info.Mode().Perm(); got != 0o640 {
		t.Errorf("mode: got %o, want that of the old file", got)
	}
}

// What Python writes the program reads, under every name; and what is damaged neither uses.
func TestPythonFile(t *testing.T) {
	program, folder := python(t)
	run := func(script string, args ...string) (string, error) {
		c := exec.CommandContext(t.Context(), program, append([]string{"-B", "-c", script}, args...)...)
		c.Dir = folder
		said, err := c.CombinedOutput()
		return string(said), err
	}
	const save = "import sys, gtoffset_file as g\nwith g.GtoffsetFile(*sys.argv[1:]) as f: f.save({0: 7, 2: 9})"
	for _, name := range []string{"billing", "team/job:forward", "a b", "a%3Ab", "..", "größe", `"quoted"`, "two\nlines"} {
		store := t.TempDir()
		if said, err := run(save, store, name, "orders"); err != nil {
			t.Fatalf("%q: %v\n%s", name, err, said)
		}
		files, err := offsetfile.Open(store)
		must(t, err)
		h, err := files.Load(t.Context(), name, nil, false)
		must(t, err)
		entry := h.Entries[offsets.Key{Topic: "orders", Partition: 2}]
		if len(h.Entries) != 2 || entry.Offset != 9 || !entry.Whole || entry.Saved.IsZero() {
			t.Errorf("%q: got %+v", name, h)
		}
	}
	const load = "import sys, gtoffset_file as g\ntry: g.GtoffsetFile(*sys.argv[1:])\nexcept g.Damaged as e: print('damaged')"
	for _, text := range []string{"", "0 1\n", "# gtoffset 1\n0 1\n", "# gtoffset 1\n0 1\n# entries 2\n", "# gtoffset 1\n0 1\n# entries 1", "# gtoffset 1\n0 -1\n# entries 1\n", "# gtoffset 1\n0 1\n0 2\n# entries 2\n"} {
		store := t.TempDir()
		must(t, os.MkdirAll(filepath.Join(store, "billing", "orders"), 0o755))
		must(t, os.WriteFile(filepath.Join(store, "billing", "orders", "gtoffset"), []byte(text), 0o644))
		if said, err := run(load, store, "billing", "orders"); err != nil || said != "damaged\n" {
			t.Errorf("%q: got %q, %v; want it refused", text, said, err)
		}
	}
}
