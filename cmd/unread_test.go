package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A side that could not be read is not one on which there is nothing to do.
func TestUnreadIsNotNothing(t *testing.T) {
	t.Parallel()
	two := [2]int64{500, 900}
	t.Run("the store of a group without commits", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", two).commit("other", "orders", 100)
		must(t, os.MkdirAll(w.store, 0o700))
		must(t, os.WriteFile(filepath.Join(w.store, "billing"), nil, 0o600)) // a file where the group's folder would be
		for _, args := range []string{
			"clamp -g billing --stored --check", "clamp -g billing --stored --committed --execute", "reset -g billing --stored --all-topics --to-latest --execute",
			"clamp -g billing -g other --stored --committed --missing other --execute",
		} {
			w.run(append(strings.Fields(args), "-s", w.store)...).exits(4).says(`the store of group "billing" could not be read`, "nothing was written")
		}
		w.run("clamp", "-g", "billing", "-g", "other", "-s", w.store, "--stored", "--committed", "--missing", "other", "--partial", "--execute").exits(3).
			prints("2 of 2 verified").says(`left out: the store of group "billing" could not be read`)
	})
	t.Run("the group of entries that are in range", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", two).topic("more", two).commit("billing", "more", 600).save("billing", "orders", 600)
		w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool {
			r.(*kmsg.OffsetFetchResponse).Groups[0].ErrorCode = kerr.CoordinatorNotAvailable.Code
			return true
		})
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--check").exits(5).says(`group "billing" could not be read`)
	})
	t.Run("what cannot be watched", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", two).commit("billing", "orders", 600).save("billing", "orders", 600)
		run := w.unprivileged(w.store, w.state)
		must(t, os.Chmod(filepath.Join(w.store, "billing", "orders"), 0))
		t.Cleanup(func() { os.Chmod(filepath.Join(w.store, "billing", "orders"), 0o700) })
		run("reset", "-g", "billing", "-t", "orders", "-s", w.store, "--committed", "--to-offset", "550", "--idle", "10ms", "--execute").exits(4).
			says("not watched: ", "nothing was written", "hint: --idle needs to read both sides")
	})
}
