package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"gtoffset/kafkaops/kafkatest"
)

// world has a topic of two partitions with ten records each, and a store.
func world(t *testing.T) (*kafkatest.Broker, job) {
	t.Helper()
	b := kafkatest.Start(t, kafkatest.Options{Brokers: 1, Topics: map[string]int32{"orders": 2}})
	for p := range int32(2) {
		var values []string
		for i := range 10 {
			values = append(values, fmt.Sprint(i))
		}
		if err := b.Produce("orders", p, values...); err != nil {
			t.Fatal(err)
		}
	}
	return b, job{brokers: b.Addrs(), store: t.TempDir(), group: "billing", topic: "orders"}
}

// stored lists the entries of the job's file.
func (j job) stored(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(j.store, j.group, j.topic, "gtoffset"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); f[0] != "#" {
			all = append(all, f[0]+"="+f[1])
		}
	}
	return strings.Join(all, " ")
}

// save writes the job's file.
func (j job) save(t *testing.T, lines string) {
	t.Helper()
	path := filepath.Join(j.store, j.group, j.topic, "gtoffset")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
}

// reads runs the job until it has processed so many records, and says how many of each partition that were.
func (j job) reads(t *testing.T, records int) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen, counts := 0, map[int32]int{}
	j.process = func(batch []*kgo.Record) error {
		for _, r := range batch {
			counts[r.Partition]++
			if seen++; seen == records {
				cancel()
			}
		}
		return nil
	}
	if err := j.run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want it to go on until it is interrupted", err)
	}
	var all []string
	for _, p := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%d: %d", p, counts[p]))
	}
	return strings.Join(all, ", ")
}

func TestJob(t *testing.T) {
	b, j := world(t)
	if got := j.reads(t, 20); got != "0: 10, 1: 10" {
		t.Errorf("the first run: got %s", got)
	}
	if got := j.stored(t); got != "0=10 1=10" {
		t.Errorf("stored after the first run: got %s", got)
	}
	if err := b.Produce("orders", 1, "10", "11"); err != nil {
		t.Fatal(err)
	}
	if got := j.reads(t, 2); got != "1: 2" {
		t.Errorf("the second run: got %s, want what came since then, once", got)
	}
	if got := j.stored(t); got != "0=10 1=12" {
		t.Errorf("stored after the second run: got %s", got)
	}
}

// Out of range, below and above.
func TestJobCorrects(t *testing.T) {
	b, j := world(t)
	if err := b.SetRange("orders", 0, 4, 10); err != nil {
		t.Fatal(err)
	}
	j.save(t, "0 1\n1 5000\n")
	if got := j.reads(t, 6); got != "0: 6" {
		t.Errorf("got %s, want what is left of partition 0, and nothing of partition 1", got)
	}
}

// A batch that failed is not saved, and comes again.
func TestJobFails(t *testing.T) {
	_, j := world(t)
	j.save(t, "0 3\n1 3\n")
	wrong := errors.New("the database is away")
	j.process = func([]*kgo.Record) error { return wrong }
	if err := j.run(t.Context()); !errors.Is(err, wrong) {
		t.Fatalf("got %v", err)
	}
	if got := j.stored(t); got != "0=3 1=3" {
		t.Errorf("stored: got %s, want what was there", got)
	}
}

// What needs a decision ends the job before it has read anything.
func TestJobRefuses(t *testing.T) {
	b, j := world(t)
	j.process = func([]*kgo.Record) error { return errors.New("something was read") }
	j.save(t, "# gtoffset 1\n# group billing\n# topic orders\n0 3\n# entries 2\n")
	if err := j.run(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be used") {
		t.Errorf("a damaged file: got %v", err)
	}
	j.save(t, "# gtoffset 1\n# group billing\n# topic orders\n# topic-id "+b.TopicID("orders")+"\n0 3\n# entries 1\n")
	if err := b.Recreate("orders"); err != nil {
		t.Fatal(err)
	}
	if err := j.run(t.Context()); err == nil || !strings.Contains(err.Error(), "another topic") {
		t.Errorf("a topic that was made anew: got %v", err)
	}
}
