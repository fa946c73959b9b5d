package storetest

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// What the other process is told.
const (
	envFolder = "STORETEST_FOLDER"
	envGroup  = "STORETEST_GROUP"
)

// Folder is a folder for a store on this machine: a temporary one, and in the other process, which runs the same test, that of the first.
func Folder(t testing.TB) string {
	t.Helper()
	return cmp.Or(os.Getenv(envFolder), t.TempDir())
}

// process lets another process save 1,000 partitions of a topic again and again, and this one saves another partition of it. No look finds
// half of a save, and neither takes away what the other has written.
func (c *contract) process(t *testing.T) {
	switch {
	case c.Addr != "":
		t.Skip("to a service another process is another connection")
	case c.Folder == "":
		t.Fatal("Folder does not say where another process finds the store")
	}
	s, group := c.open(t, Given{}), os.Getenv(envGroup)
	if !s.Can().CompareAndSet {
		t.Skip("it needs a store that compares")
	}
	const saves = 30
	if group != "" {
		for n := range int64(saves) {
			if err := insist(t, s, group, stands(many("t", n)...), many("t", n+1)...); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	group = c.group()
	mine := put{"t", math.MaxInt32, 0}
	save(t, s, group, append(many("t", 0), mine)...)
	other := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+strings.ReplaceAll(regexp.QuoteMeta(t.Name()), "/", "$/^")+"$")
	other.Env = append(os.Environ(), envFolder+"="+c.Folder, envGroup+"="+group)
	var out []byte
	var otherErr error
	done := make(chan struct{})
	go func() {
		defer close(done)
		out, otherErr = other.CombinedOutput()
	}()
	whole := func(h offsetfile.Holding) error {
		first := h.Entries[offsets.Key{Topic: "t"}].Offset
		if err := stands(many("t", first)...)(h); err != nil && s.Can().Atomic > offsetfile.OnePartition {
			return fmt.Errorf("half of a save: %w", err)
		}
		return stands(mine)(h)
	}
	for running := true; running && !t.Failed(); {
		select {
		case <-done:
			running = false
		default:
		}
		next := put{mine.topic, mine.partition, mine.offset + 1}
		err := insist(t, s, group, whole, next)
		mine = next
		for i := 0; i < 5 && err == nil; i++ { // looks, which leave the other the locks if there are any
			err = whole(load(t, s, group, "t"))
		}
		if err != nil {
			t.Error(err)
		}
	}
	if <-done; otherErr != nil {
		t.Fatalf("the other process: %v\n%s", otherErr, out)
	}
	if err := stands(append(many("t", saves), mine)...)(load(t, s, group, "t")); err != nil && !t.Failed() {
		t.Error(err)
	}
	t.Logf("%d saves beside %d of the other process", mine.offset, saves)
}
