package cmd_test

import (
	"strings"
	"testing"
)

// hintedError is the command that the hint of an error names, up to a semicolon.
func (r result) hintedError() []string {
	r.t.Helper()
	_, line, found := strings.Cut(r.err, "hint: ")
	_, command, ok := strings.Cut(line, "gtoffset ")
	if !found || !ok {
		r.t.Fatalf("no hint that can be typed\n%v", r)
	}
	command, _, _ = strings.Cut(command, "\n")
	command, _, _ = strings.Cut(command, ";")
	return typed(command)
}

// A store without topic ids cannot tell that the topic was recreated: --recreated then decides nothing, and does not pass for done.
func TestRecreatedWithoutTopicIDs(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) *world {
		return start(t).topic("orders", [2]int64{0, 100}, [2]int64{0, 100}, [2]int64{10, 100}).save("billing", "orders", 50, 0, 5)
	}
	t.Run("earliest", func(t *testing.T) {
		t.Parallel()
		w := begin(t)
		line := []string{"clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--recreated", "earliest", "--execute"}
		refused := w.run(line...).exits(4).says("orders 0: stored 50: in range, and the store keeps no topic id: --recreated earliest cannot tell whether it is of an earlier topic", "if the topic was recreated: gtoffset reset", "if not, leave out --recreated")
		same(t, "stored", w.stored("billing", "orders"), "0=50 1=0 2=5")
		w.run(append(refused.hintedError(), "--execute")...).exits(0)
		w.run(line...).exits(0) // where the flag would have it: nothing is left to be in doubt about
		same(t, "stored", w.stored("billing", "orders"), "0=0 1=0 2=10")
	})
	for _, policy := range []string{"--recreated end", "--recreated earliest --high end", "--recreated earliest --missing other"} { // clamp twice is clamp once
		t.Run("beside other choices: "+policy, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			line := append([]string{"clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--execute"}, strings.Fields(policy)...)
			for range 2 {
				w.run(line...).exits(0).prints("note: the store keeps no topic id of what is in range: --recreated")
			}
			same(t, "stored", w.stored("billing", "orders"), "0=50 1=0 2=10")
		})
	}
	t.Run("keep is no doubt", func(t *testing.T) {
		t.Parallel()
		w := begin(t)
		w.run("clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--recreated", "keep", "--execute").exits(0)
		same(t, "stored", w.stored("billing", "orders"), "0=50 1=0 2=10")
	})
	t.Run("no topic is named", func(t *testing.T) {
		t.Parallel()
		w := begin(t)
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--recreated", "earliest", "--execute").exits(0).
			prints("note: the store keeps no topic id of what is in range: --recreated earliest cannot tell whether it is of an earlier topic; if it is, reset --stored --to-earliest on the topic mends it")
		same(t, "stored", w.stored("billing", "orders"), "0=50 1=0 2=10")
	})
	t.Run("a topic id tells", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 100})
		w.saveAs("billing", "orders", w.b.TopicID("orders"), "kfake", 50)
		w.run("clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--recreated", "earliest", "--execute").exits(0).never("note: the store keeps no topic id")
	})
}

// A high offset without a topic id beside it may be of another topic: that is said once, not with each partition.
func TestHighOfATopicThatMayBeAnother(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 100}, [2]int64{0, 100}).commit("billing", "orders", 500, 600)
	r := w.run("clamp", "-g", "billing", "--committed", "--dry-run").exits(4)
	same(t, "notes", strings.Count(r.out, "the log was cut back, or the topic was made anew"), 1)
	hint := w.run("describe", "-g", "billing").exits(0)
	same(t, "hints", strings.Count(hint.out, "or the topic was made anew"), 1)
	w.saveAs("billing", "orders", w.b.TopicID("orders"), "kfake", 500, 600)
	w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--dry-run").exits(0).never("made anew")
}

// What reset cannot reckon with, another command decides first: the hint of the refusal is that command, and after it the same reset works.
func TestResetRefusedUntilAnother(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		id      string
		cluster string
		aim     []string
		after   string
	}{
		{"recreated, to the store", "AAAAAAAAAAAAAAAAAAAAAA", "kfake", []string{"--to-stored"}, "0=0 1=0"},
		{"recreated, to the smaller", "AAAAAAAAAAAAAAAAAAAAAA", "kfake", []string{"--to-safe", "--stored", "--committed"}, "0=0 1=0"},
		{"recreated, shifted", "AAAAAAAAAAAAAAAAAAAAAA", "kfake", []string{"--shift-by", "1", "--stored"}, "0=70 1=80"},
		{"another cluster's", "AAAAAAAAAAAAAAAAAAAAAA", "elsewhere", []string{"--to-stored"}, "0=50 1=60"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{0, 100}, [2]int64{0, 100}).commit("billing", "orders", 70, 80)
			w.saveAs("billing", "orders", c.id, c.cluster, 50, 60)
			line := append([]string{"reset", "-g", "billing", "-t", "orders", "-s", w.store, "--execute"}, c.aim...)
			w.run(append(w.run(line...).exits(4).hintedError(), "--execute")...).exits(0)
			w.run(line...).exits(0)
			same(t, "committed", w.committed("billing", "orders"), c.after)
		})
	}
}
