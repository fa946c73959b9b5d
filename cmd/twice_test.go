package cmd_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// troubles is a world with a group for each form of its store's file; each has a partition for each pair of what the sides may hold.
func troubles(t *testing.T) (w *world, groups []string) {
	t.Helper()
	holds := []int64{none, 50, 500, 99000} // no entry, low, in range, high
	var ranges [][2]int64
	var stored, committed []int64
	for _, s := range holds {
		for _, c := range holds {
			ranges, stored, committed = append(ranges, [2]int64{100, 1000}), append(stored, s), append(committed, c)
		}
	}
	for range 2 { // above all that the store has
		ranges, stored, committed = append(ranges, [2]int64{100, 1000}), append(stored, none), append(committed, none)
	}
	w = start(t).topic("orders", ranges...)
	for _, group := range []string{"bare", "whole", "same", "recreated", "foreign", "damaged"} {
		groups = append(groups, group)
		w.commit(group, "orders", committed...)
	}
	w.save("bare", "orders", stored...)
	w.saveAs("whole", "orders", "", "", stored...)
	w.saveAs("same", "orders", w.b.TopicID("orders"), "kfake", stored...)
	w.saveAs("recreated", "orders", "AAAAAAAAAAAAAAAAAAAAAA", "kfake", stored...)
	w.saveAs("foreign", "orders", "AAAAAAAAAAAAAAAAAAAAAA", "of-another-house", stored...)
	w.saveAs("damaged", "orders", "", "", stored...)
	w.put("damaged", "orders", strings.Replace(w.file("damaged", "orders"), "5 50\n", "5 x\n", 1))
	return w, groups
}

// claimed fails the test if a file says of an offset out of range, of which it did not say so before, for which topic it was recorded.
func (w *world) claimed(group string) {
	w.t.Helper()
	header := strings.Contains(w.file(group, "orders"), "# topic-id")
	for line := range strings.Lines(w.file(group, "orders")) {
		var p, o int64
		if n, _ := fmt.Sscan(line, &p, &o); n == 2 && (header || strings.Contains(line, "topic-id=")) && (o < 100 || o > 1000) {
			w.t.Errorf("group %s: %q claims an identity", group, line)
		}
	}
}

// everything is all that the groups have on both sides.
func (w *world) everything(groups []string) string {
	w.t.Helper()
	var all []string
	for _, g := range groups {
		all = append(all, g, w.file(g, "orders"), w.commits(g))
	}
	return strings.Join(all, "\n")
}

// Twice is once: what a clamp or a reset has written, the same command finds in order.
func TestTwiceIsOnce(t *testing.T) {
	t.Parallel()
	sides := [][]string{{"--stored"}, {"--committed"}, {"--stored", "--committed"}}
	var lines [][]string
	for _, choice := range []string{"--high earliest --missing other --recreated keep", "--high end --missing earliest --recreated earliest"} {
		for _, named := range []string{"", " -t orders"} {
			for _, side := range sides {
				lines = append(lines, append(strings.Fields("clamp --other-cluster --salvage "+choice+named), side...))
			}
		}
	}
	for _, target := range []string{"earliest", "latest", "offset 500", "offset 50 --clamp", "current", "stored --clamp", "committed --clamp", "safe"} {
		for _, side := range sides {
			if len(side) == 1 || !strings.HasPrefix(target, "stored") && !strings.HasPrefix(target, "committed") {
				lines = append(lines, append(strings.Fields("reset -t orders --partial --to-"+target), side...))
			}
		}
	}
	for _, line := range lines {
		if i := slices.Index(line, "--to-"+strings.TrimPrefix(line[len(line)-1], "--")); i >= 0 {
			continue // a side onto itself
		}
		t.Run(strings.Join(line, " "), func(t *testing.T) {
			t.Parallel()
			w, groups := troubles(t)
			pattern := ".*"
			if slices.Contains(line, "other") {
				pattern = "[^d].*" // what the damaged one lost is nowhere, and other is no answer
			}
			line := append(slices.Clone(line), "--group-regex", pattern, "-s", w.store, "--no-backup", "--execute", "-o", "json")
			first := w.run(line...)
			d := first.plan()
			if line[0] == "clamp" {
				first.exits(0)
			}
			if d.Counts.Written == 0 || d.Counts.Verified != d.Counts.Written {
				t.Errorf("the first run: %+v", d.Counts)
			}
			between := w.everything(groups)
			w.claimed("whole")
			second := w.run(line...)
			if want := map[int]int{0: 0, 3: 4}[first.code]; second.code != want { // what is refused, is refused again
				t.Errorf("the first run exits %d, the second %d\n%s", first.code, second.code, second.err)
			}
			again := second.plan()
			same(t, "to be written again", fmt.Sprint(again.Counts.Write, again.Counts.Ask, again.Counts.Refuse), fmt.Sprint(0, 0, d.Counts.Refuse))
			same(t, "both sides are as they were", w.everything(groups) == between, true)
		})
	}
}
