package cmd_test

import (
	"fmt"
	"os"
	"testing"
)

// An entry of a partition that does not exist any more is no dead end: describe says what removes it, and nothing waits for it.
func TestGoneEntryIsRemoved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, topic, selected string
		partitions            int32 // that are left of it
		was, after            string
	}{
		{"a partition", "orders", "orders:1", 1, "0=50 1=60", "0=50"},
		{"a topic", "orders", "orders", 0, "0=50 1=60", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{0, 100}, [2]int64{0, 100}).topic("pay", [2]int64{0, 100}).commit("billing", "pay", 50).save("billing", "pay", 50)
			w.saveAs("billing", "orders", w.b.TopicID("orders"), "kfake", 50, 60)
			w.hide("orders", c.partitions)
			clamp := []string{"clamp", "-g", "billing", "-s", w.store, "--stored", "--execute"}
			w.run(clamp...).exits(0).prints("left as it is, unless --gone remove")
			w.run("wait", "-g", "billing", "-s", w.store, "--empty").exits(0)
			w.run("wait", "-g", "billing", "-s", w.store, "--stored-caught-up").exits(0)
			hint := w.run("describe", "-g", "billing", "-s", w.store, "--check").exits(3).hinted()
			same(t, "hint", hint, fmt.Sprintf("clamp -g billing -t %s -s %s --stored --gone remove", c.selected, w.store))
			done := w.run(append(typed(hint), "--execute")...).exits(0).prints("removed", "verified")
			same(t, "stored", w.stored("billing", "orders"), c.after)
			w.run("describe", "-g", "billing", "-s", w.store, "--check").exits(0)
			w.run(done.undo()...).exits(0)
			same(t, "stored", w.stored("billing", "orders"), c.was)
		})
	}
}

// A bare file cannot be empty: one of which nothing exists any more is moved away.
func TestGoneEntriesOfABareFile(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 100}).save("billing", "orders", 50, 60).save("billing", "dropped", 5, 6)
	describe := []string{"describe", "-g", "billing", "-s", w.store, "--check"}
	file := w.path("billing", "dropped")
	w.run(describe...).exits(3).prints("hint: nothing in " + file + " exists any more: mv " + file + " " + file + ".aside moves it out of the way")
	w.run("clamp", "-g", "billing", "-t", "dropped", "-s", w.store, "--stored", "--gone", "remove", "--execute").exits(4).says("moves it out of the way", "nothing was written")
	must(t, os.Rename(file, file+".aside"))
	w.run(append(typed(w.run(describe...).exits(3).hinted()), "--execute")...).exits(0)
	w.run(describe...).exits(0)
	same(t, "stored", w.file("billing", "orders"), "0 50\n")
}

// Only what is gone, and ours, and still gone when it is written is removed, and only from the store.
func TestGoneRemove(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T, cluster string) *world {
		w := start(t).topic("orders", [2]int64{0, 100}, [2]int64{0, 100}).commit("billing", "orders", 50, 60)
		w.saveAs("billing", "orders", w.b.TopicID("orders"), cluster, 50, 60)
		return w
	}
	t.Run("nothing is gone", func(t *testing.T) {
		t.Parallel()
		w := begin(t, "kfake")
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--gone", "remove", "--execute").exits(0).prints("Nothing to do")
	})
	t.Run("a commit goes by itself", func(t *testing.T) {
		t.Parallel()
		w := begin(t, "kfake")
		w.hide("orders", 1)
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--gone", "remove", "--execute").exits(0).prints("Kafka removes such commits by itself")
		same(t, "stored", w.stored("billing", "orders"), "0=50")
		same(t, "committed", w.committed("billing", "orders"), "0=50 1=60")
	})
	t.Run("another cluster's", func(t *testing.T) {
		t.Parallel()
		w := begin(t, "elsewhere")
		w.hide("orders", 1)
		w.run("clamp", "-g", "billing", "-t", "orders:1", "-s", w.store, "--stored", "--gone", "remove", "--execute").exits(4).says("recorded for cluster elsewhere")
	})
	t.Run("it comes back", func(t *testing.T) {
		t.Parallel()
		w := begin(t, "kfake")
		w.person("y\n", w.hide("orders", 1))
		w.run("clamp", "-g", "billing", "-t", "orders:1", "-s", w.store, "--stored", "--gone", "remove").exits(4).says("it was gone when planned and is not now")
		same(t, "stored", w.stored("billing", "orders"), "0=50 1=60")
	})
	t.Run("reset sends there", func(t *testing.T) {
		t.Parallel()
		w := begin(t, "kfake")
		w.hide("orders", 1)
		line := []string{"reset", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--to-earliest", "--execute"}
		w.run(append(w.run(line...).exits(4).hintedError(), "--execute")...).exits(0)
		same(t, "stored", w.stored("billing", "orders"), "0=50")
	})
	t.Run("without a store", func(t *testing.T) {
		t.Parallel()
		begin(t, "kfake").run("clamp", "-g", "billing", "--gone", "remove", "--dry-run").exits(2).says("--gone remove")
	})
}
