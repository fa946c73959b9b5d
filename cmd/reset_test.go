package cmd_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/kafkatest"
)

// two is a world in which a group has other offsets on each side, all in range.
func two(t *testing.T) *world {
	t.Helper()
	w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 700, 600).save("billing", "orders", 600, 800)
	return w.commit("other", "orders", 555, 800)
}

// Every target on every side: what it leaves there, that the other side is left alone, that an absolute one is done after the
// first time, and that the undo line brings back what was there.
func TestResetTargets(t *testing.T) {
	t.Parallel()
	all := []struct {
		target            []string
		committed, stored string // "" where the target is not for that side
		again             bool   // a second time there is something to do again
	}{
		{target: []string{"--to-earliest"}, committed: "0=500 1=500", stored: "0=500 1=500"},
		{target: []string{"--to-latest"}, committed: "0=900 1=900", stored: "0=900 1=900"},
		{target: []string{"--to-offset", "650"}, committed: "0=650 1=650", stored: "0=650 1=650"},
		{target: []string{"--to-offset", "500"}, committed: "0=500 1=500", stored: "0=500 1=500"},
		{target: []string{"--to-offset", "900"}, committed: "0=900 1=900", stored: "0=900 1=900"},
		{target: []string{"--to-offset", "901", "--clamp"}, committed: "0=900 1=900", stored: "0=900 1=900"},
		{target: []string{"--to-offset", "0", "--clamp"}, committed: "0=500 1=500", stored: "0=500 1=500"},
		{target: []string{"--shift-by", "10"}, committed: "0=710 1=610", stored: "0=610 1=810", again: true},
		{target: []string{"--shift-by", "-10"}, committed: "0=690 1=590", stored: "0=590 1=790", again: true},
		{target: []string{"--shift-by", "250"}, committed: "0=900 1=850", stored: "0=850 1=900", again: true},
		{target: []string{"--shift-by", "-9223372036854775808"}, committed: "0=500 1=500", stored: "0=500 1=500"},
		{target: []string{"--shift-by", "9223372036854775807"}, committed: "0=900 1=900", stored: "0=900 1=900"},
		{target: []string{"--to-current"}, committed: "0=700 1=600", stored: "0=600 1=800"},
		{target: []string{"--to-stored"}, committed: "0=600 1=800"},
		{target: []string{"--to-committed"}, stored: "0=700 1=600"},
		{target: []string{"--to-safe"}, committed: "0=600 1=600", stored: "0=600 1=600"},
		{target: []string{"--from-group", "other"}, committed: "0=555 1=800", stored: "0=555 1=800"},
	}
	tried := map[string]bool{"--to-datetime": true, "--by-duration": true, "--to-commit-at": true, "--from-file": true} // in tests of their own
	for _, c := range all {
		tried[c.target[0]] = true
	}
	_, targets, _ := strings.Cut(two(t).run("reset", "-g", "billing", "-t", "orders", "--execute").exits(2).err, "add one of ")
	for target := range strings.SplitSeq(targets, ",") {
		if flag := strings.Fields(target)[0]; !tried[flag] {
			t.Errorf("%s is not tried", flag)
		}
	}
	for _, c := range all {
		for _, sides := range [][]string{{"--committed"}, {"--stored"}, {"--stored", "--committed"}} {
			onCommits, onStore := slices.Contains(sides, "--committed"), slices.Contains(sides, "--stored")
			if c.committed == "" && onCommits || c.stored == "" && onStore {
				continue
			}
			t.Run(strings.Join(append(c.target, sides...), " "), func(t *testing.T) {
				t.Parallel()
				w := two(t)
				want := map[bool]string{true: c.committed, false: "0=700 1=600"}[onCommits] + " " + map[bool]string{true: c.stored, false: "0=600 1=800"}[onStore]
				now := func() string { return w.committed("billing", "orders") + " " + w.stored("billing", "orders") }
				before := now()
				args := append([]string{"reset", "-g", "billing", "-t", "orders", "-s", w.store, "--execute"}, slices.Concat(c.target, sides)...)
				r := w.run(args...).exits(0)
				same(t, "offsets", now(), want)
				if want != before {
					r.prints("verified", "undo ").never("failed", "refused")
				} else {
					r.prints("Nothing to do")
				}
				if !c.again {
					w.run(args...).exits(0).prints("Nothing to do")
					same(t, "offsets of the second run", now(), want)
				}
				if want != before && !c.again {
					w.run(r.undo()...).exits(0).prints("verified")
					same(t, "offsets after the undo", now(), before)
					same(t, "the file is bare as before", w.file("billing", "orders"), "0 600\n1 800\n")
				}
			})
		}
	}
}

// What is wrong with the command line is told before any connection.
func TestResetUsage(t *testing.T) {
	t.Parallel()
	w := two(t)
	w.b.Reset()
	reset := []string{"reset", "-g", "billing", "-t", "orders", "--execute"}
	for _, c := range []struct {
		args []string
		says []string
	}{
		{reset, []string{"no target is named", "--to-earliest", "--from-group"}},
		{append(reset, "--to-earliest", "--to-latest"), []string{"--to-earliest and --to-latest exclude each other"}},
		{append(reset, "--to-latest=false"), []string{"no target is named"}},
		{append(reset, "--to-earliest=false", "--to-safe=0", "--to-current=false", "--to-stored=F", "--to-committed=false"), []string{"no target is named"}},
		{append(reset, "--to-latest", "--committed=false"), []string{"--committed=false, and no other side is named", "add --stored or --committed"}},
		{append(reset, "-s", w.store, "--to-latest", "--stored=false"), []string{"--stored=false, and no other side is named"}},
		{append(reset, "-s", w.store, "--to-latest", "--stored=false", "--committed=false"), []string{"--committed=false, and no other side is named"}},
		{append(reset, "-s", w.store, "--to-stored", "--committed=false"), []string{"--to-stored writes the other side, which is switched off"}},
		{append(reset, "-s", w.store, "--to-committed", "--stored=false"), []string{"--to-committed writes the other side, which is switched off"}},
		{append(reset, "--to-offset", "0", "--shift-by", "0"), []string{"--shift-by and --to-offset exclude each other"}},
		{append(reset, "--to-datetime", "2026-11-29", "--by-duration", "1h"), []string{"exclude each other"}},
		{append(reset, "--to-offset", "-1"), []string{"--to-offset -1 is negative", "--to-latest"}},
		{append(reset, "--to-offset", "-2"), []string{"--to-offset -2 is negative", "--to-earliest"}},
		{append(reset, "--to-offset", "9223372036854775808"), []string{"9223372036854775808"}},
		{append(reset, "--to-offset", "x"), []string{"--to-offset"}},
		{append(reset, "--shift-by", "1.5"), []string{"--shift-by"}},
		{append(reset, "--to-stored"), []string{"--to-stored needs a store"}},
		{append(reset, "--to-committed"), []string{"--to-committed needs a store"}},
		{append(reset, "--to-safe"), []string{"--to-safe needs a store"}},
		{append(reset, "-s", w.store, "--to-stored", "--stored"), []string{"copy a side onto itself"}},
		{append(reset, "-s", w.store, "--to-committed", "--committed"), []string{"copy a side onto itself"}},
		{append(reset, "--stored", "--to-latest"), []string{"--stored needs a store"}},
		{append(reset, "--all-topics", "--to-latest"), []string{"--topic and --all-topics exclude each other"}},
		{append(reset, "--isolation", "read_committed", "--to-latest"), []string{"--isolation"}},
		{append(reset, "--to-latest", "extra"), []string{"extra"}},
		{append(reset, "--to-latest", "--dry-run"), []string{"exclude each other"}},
		{[]string{"reset", "-g", "billing", "--to-latest", "--execute"}, []string{"no topic is named", "-t TOPIC, or --all-topics"}},
		{[]string{"reset", "-t", "orders", "--to-latest", "--execute"}, []string{"no group is named"}},
		{[]string{"reset", "-g", "billing", "-t", "orders", "--to-latest"}, []string{"--execute", "--dry-run", "nothing was written"}},
	} {
		r := w.run(c.args...).exits(2).says(c.says...).never("Usage:", "panic")
		same(t, "stdout", r.out, "")
		w.run(append(c.args, "-o", "json")...).exits(2).failure()
	}
	same(t, "requests", w.b.Count(), 0)
}

// A target out of range is refused for all, unless --clamp brings it in.
// What is switched off is as if it was not given: another target, another side is taken.
func TestResetSwitchedOff(t *testing.T) {
	t.Parallel()
	w := two(t)
	reset := []string{"reset", "-g", "billing", "-t", "orders", "-s", w.store, "--execute"}
	stored := w.stored("billing", "orders")
	w.run(append(reset, "--to-latest=false", "--to-earliest", "--committed", "--stored=false")...).exits(0).prints("2 of 2 verified")
	same(t, "offsets", w.committed("billing", "orders")+", "+w.stored("billing", "orders"), "0=500 1=500, "+stored)
	w.run(append(reset, "--to-latest", "--to-earliest=false", "--committed=false", "--stored")...).exits(0).prints("2 of 2 verified")
	same(t, "offsets", w.committed("billing", "orders")+", "+w.stored("billing", "orders"), "0=500 1=500, 0=900 1=900")
}

func TestResetOutOfRange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		target []string
		says   []string
		after  string // with --clamp
	}{
		{"WRT-10 above the end", []string{"--to-offset", "5000"}, []string{"orders 0: committed 700: 5000 is high: the range is 500..900", "add --clamp"}, "0=900 1=900"},
		{"below earliest", []string{"--to-offset", "10"}, []string{"10 is low: the range is 500..900", "add --clamp"}, "0=500 1=500"},
		{"to stored", []string{"--to-stored", "-s", "STORE"}, []string{"orders 0: committed 700: 400 is low: the range is 500..900", "orders 1: committed 600: 1000 is high"}, "0=500 1=900"},
		{"from a group", []string{"--from-group", "outside"}, []string{"400 is low", "1000 is high"}, "0=500 1=900"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := two(t).save("billing", "orders", 400, 1000).commit("outside", "orders", 400, 1000)
			args := []string{"reset", "-g", "billing", "-t", "orders"}
			for _, a := range c.target {
				args = append(args, strings.Replace(a, "STORE", w.store, 1))
			}
			for _, way := range []string{"--execute", "--dry-run", "--check"} {
				w.run(append(args, way)...).exits(4).says(append(c.says, "nothing was written")...)
			}
			same(t, "writes", w.writes(), 0)
			same(t, "backups", len(w.backups()), 0)
			w.run(append(args, "--clamp", "--execute")...).exits(0).prints("2 of 2 verified")
			same(t, "committed", w.committed("billing", "orders"), c.after)
		})
	}
	t.Run("--partial writes the others", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 900}, [2]int64{500, 900}).commit("billing", "orders", 700, 700)
		w.run("reset", "-g", "billing", "-t", "orders", "--to-offset", "100", "--partial", "--execute").exits(3).says("orders 1", "left out", "--clamp").prints("1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=100 1=700")
	})
}

// --to-safe needs both sides, and both of this log.
func TestResetToSafe(t *testing.T) {
	t.Parallel()
	in := [2]int64{500, 900}
	safe := func(w *world, args ...string) result {
		return w.run(append([]string{"reset", "-g", "billing", "-t", "orders", "-s", w.store, "--to-safe", "--stored", "--committed", "--execute"}, args...)...)
	}
	t.Run("loses nothing that is there", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", in, in, in, in).commit("billing", "orders", 600, 800, 700, 1000).save("billing", "orders", 800, 600, 100, 2000)
		safe(w).exits(0).prints("the smaller of stored 100 and committed 700", "100 is low: the range is 500..900", "1000 is high")
		same(t, "both", w.committed("billing", "orders")+" "+w.stored("billing", "orders"), "0=600 1=600 2=500 3=900 0=600 1=600 2=500 3=900")
		safe(w).exits(0).prints("Nothing to do")
	})
	t.Run("what the smaller one says is known", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", in, in, in).commit("billing", "orders", 5000, 700, 5000).save("billing", "orders", 850, 5000, 5000)
		plan := safe(w, "-o", "json").exits(0).plan()
		got := ""
		for p := range int32(3) {
			for _, side := range []string{"stored", "committed"} {
				c := plan.change(t, "orders", p, side)
				got += words(c.Old.Offset, c.New.Offset, c.Skips, c.Repeats) + "; "
			}
		}
		same(t, "old, new, skips, repeats", got, "850 850 0 0; 5000 850 0 0; 5000 700 0 0; 700 700 0 0; 5000 900 400 0; 5000 900 400 0; ")
	})
	t.Run("a side without", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", in, in).commit("billing", "orders", 600, none).save("billing", "orders", none, 700)
		safe(w).exits(4).says("orders 0", "stored: no offset for it", "orders 1", "committed: no offset for it", "nothing was written")
		same(t, "both", w.committed("billing", "orders")+" "+w.stored("billing", "orders"), "0=600 1=700")
	})
	t.Run("an entry that is not of this log", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", in).commit("billing", "orders", 600).saveAs("billing", "orders", "AAAAAAAAAAAAAAAAAAAAAA", "", 550)
		safe(w).exits(4).says("recorded before the topic was recreated")
		w.saveAs("billing", "orders", "", "of-another-house", 550)
		safe(w).exits(4).says("recorded for cluster of-another-house")
		w.put("billing", "orders", "")
		safe(w).exits(4).says("empty")
		same(t, "committed", w.committed("billing", "orders"), "0=600")
	})
}

// --to-current keeps number and metadata, and drops the leader epoch that sends consumers back; the undo brings it back where
// the cluster confirms it.
func TestResetToCurrent(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900}, [2]int64{0, 900}, [2]int64{500, 900})
	epoch := w.b.Fake.PartitionInfo("orders", 0).Epoch
	must(t, w.b.Commit("billing", "orders", 0, 700, epoch, "m0"))
	must(t, w.b.Commit("billing", "orders", 1, 700, 77, "m1"))
	must(t, w.b.Commit("billing", "orders", 2, 100, 77, "m2"))
	state := func() string {
		var all []string
		for p := range int32(3) {
			c, _ := w.b.Committed("billing", "orders", p)
			all = append(all, words(c.Offset, c.LeaderEpoch, c.Metadata))
		}
		return strings.Join(all, ", ")
	}
	reset := []string{"reset", "-g", "billing", "-t", "orders", "--to-current", "--execute"}
	r := w.run(reset...).exits(0).prints("3 of 3 verified", "clean leader epoch")
	same(t, "commits", state(), "700 -1 m0, 700 -1 m1, 500 -1 ")
	w.run(reset...).exits(0).prints("Nothing to do")
	w.run(r.undo()...).exits(0).prints("leader epoch 77 left out: the cluster does not confirm it")
	same(t, "commits after the undo", state(), words(700, epoch, "m0,", 700, -1, "m1,", 100, -1, "m2"))
	w.run(r.undo()...).exits(0).prints("Nothing to do")
}

// --from-group and --create: a group from another one.
func TestResetFromGroup(t *testing.T) {
	t.Parallel()
	w := two(t)
	must(t, w.b.Commit("other", "orders", 0, 555, 3, "theirs"))
	reset := []string{"reset", "-g", "copy", "-t", "orders", "--from-group", "other"}
	w.run(append(reset, "--execute")...).exits(4).says(`group "copy" does not exist`, "--create", "nothing was written")
	w.run(append(reset, "--dry-run")...).exits(4).says("--create")
	if w.b.Fake.GroupInfo("copy") != nil {
		t.Error("a refused run made the group")
	}
	r := w.run(append(reset, "--create", "--execute")...).exits(0).prints("2 of 2 verified", `as in group "other"`)
	same(t, "copy", w.committed("copy", "orders"), "0=555 1=800")
	c, _ := w.b.Committed("copy", "orders", 0)
	same(t, "taken along", words(c.LeaderEpoch, c.Metadata), "-1 theirs")
	w.run(r.undo()...).exits(0).prints("removed")
	same(t, "undone", w.committed("copy", "orders"), "")
	w.run("reset", "-g", "billing", "-t", "orders", "--from-group", "nobody", "--execute").exits(1).says(`group "nobody" is not known`)
	allow := w.b.DenyGroup("other")
	w.run("reset", "-g", "billing", "-t", "orders", "--from-group", "other", "--execute").exits(4).says(`group "other" could not be read`, "nothing was written")
	allow()
	w.b.Reset()
	w.run("reset", "-g", "billing", "-t", "orders", "--from-group", "billing", "--dry-run").exits(0).prints("Nothing to do")
}

// Many groups and topics at once.
func TestResetMany(t *testing.T) {
	t.Parallel()
	w := start(t).topic("a", [2]int64{0, 10}, [2]int64{0, 10}).topic("b", [2]int64{0, 10}).topic("c", [2]int64{0, 10})
	for _, g := range []string{"g1", "g2", "g3"} {
		w.commit(g, "a", 5, 6).commit(g, "b", 7)
	}
	w.commit("g3", "c", 8)
	t.Run("named", func(t *testing.T) {
		p := w.run("reset", "-g", "g1", "-g", "g2", "-t", "a:1", "-t", "b", "--shift-by", "1", "--execute", "-o", "json").exits(0).plan()
		same(t, "counts", p.Counts, countsDoc{Write: 4, Written: 4, Verified: 4})
		for g, want := range map[string]string{"g1": "0=5 1=7 0=8", "g2": "0=5 1=7 0=8", "g3": "0=5 1=6 0=7"} {
			same(t, g, w.committed(g, "a")+" "+w.committed(g, "b"), want)
		}
	})
	t.Run("WRT-3 all topics of all groups", func(t *testing.T) {
		r := w.run("reset", "--all-groups", "--all-topics", "--to-latest", "--dry-run").exits(0)
		// a: 5+3, 5+3, 5+4; b: 2, 2, 3; c: 2
		r.prints("3 groups", "In all this skips up to 34 readable and repeats 0").says("nothing was written")
		p := w.run("reset", "--group-regex", "g[23]", "--all-topics", "--to-latest", "--execute", "-o", "json").exits(0).plan()
		same(t, "counts", p.Counts, countsDoc{Write: 7, Written: 7, Verified: 7})
		same(t, "g1", w.committed("g1", "a")+" "+w.committed("g1", "b")+w.committed("g1", "c"), "0=5 1=7 0=8")
		same(t, "g3", w.committed("g3", "a")+" "+w.committed("g3", "b")+" "+w.committed("g3", "c"), "0=10 1=10 0=10 0=10")
		same(t, "no topic is added to a group", w.committed("g2", "c"), "")
	})
	t.Run("a group of a list without the topic is left out", func(t *testing.T) {
		p := w.run("reset", "--all-groups", "-t", "c", "--to-earliest", "--execute", "-o", "json").exits(0).plan()
		same(t, "groups", words(len(p.Groups), p.Groups[0].Group), "1 g3")
	})
	t.Run("unknown topics and partitions", func(t *testing.T) {
		w.run("reset", "-g", "g1", "-t", "nowhere", "--to-latest", "--execute").exits(1).says(`topic "nowhere" does not exist`)
		w.run("reset", "-g", "g1", "-t", "a:0,7", "--to-latest", "--execute").exits(1).says(`partition 7 of topic "a" does not exist`)
		w.run("reset", "-g", "nobody", "--all-topics", "--to-latest", "--execute").exits(1).says(`group "nobody" is not known`)
	})
}

// WRT-11: one partition moves by one, and nothing else does.
func TestResetOnePartition(t *testing.T) {
	t.Parallel()
	var six [][2]int64
	for range 6 {
		six = append(six, [2]int64{0, 78})
	}
	w := start(t).topic("orders", six...)
	w.commit("billing", "orders", 70, 71, 72, 73, 77, 75).saveAs("billing", "orders", w.b.TopicID("orders"), w.cluster(), 70, 71, 72, 73, 77, 75)
	before := w.file("billing", "orders")
	reset := []string{"reset", "-g", "billing", "-t", "orders:4", "-s", w.store, "--shift-by", "1", "--execute"}
	w.run(append(reset, "--committed")...).exits(0).prints("1 of 1 verified", "skips up to 1 readable")
	same(t, "committed", w.committed("billing", "orders"), "0=70 1=71 2=72 3=73 4=78 5=75")
	same(t, "the file is untouched", w.file("billing", "orders"), before)
	w.run(append(reset, "--stored")...).exits(0)
	var changed []string
	for line := range strings.Lines(w.file("billing", "orders")) {
		if !strings.Contains(before, line) && !strings.HasPrefix(line, "# saved") {
			changed = append(changed, line)
		}
	}
	same(t, "changed lines", strings.Join(changed, ""), "4 78\n")
	w.run(append(reset, "--committed")...).exits(0).prints("capped: the range is 0..78", "Nothing to do")
	w.run("reset", "-g", "billing", "-t", "orders:4", "--committed", "--shift-by", "100", "--execute").exits(0).prints("capped")
}

// WRT-8: what is written is what was planned, for one target after the other.
func TestResetWritesWhatItPlanned(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	w := start(t).topic("orders", [2]int64{0, 0})
	var times []time.Time
	for i := range 20 {
		times = append(times, noon.Add(time.Duration(i)*time.Minute))
	}
	must(t, w.b.ProduceAt("orders", 0, times...))
	w.commit("billing", "orders", 20)
	for _, c := range []struct {
		target []string
		want   int64
	}{
		{[]string{"--to-earliest"}, 0},
		{[]string{"--to-datetime", "2026-11-29T12:07:00.000"}, 7},
		{[]string{"--to-offset", "10"}, 10},
		{[]string{"--to-latest"}, 20},
	} {
		args := append([]string{"reset", "-g", "billing", "-t", "orders", "--execute", "-o", "json"}, c.target...)
		ch := w.run(args...).exits(0).plan().change(t, "orders", 0, "committed")
		same(t, strings.Join(c.target, " "), words(w.committed("billing", "orders"), ch.New.Offset, deref(ch.Result)), fmt.Sprintf("0=%d %d written", c.want, c.want))
	}
}

// A reset of times asks each leader once; of 10,000 partitions it costs two looks, a commit for each 500 kB with what it writes over, and
// three OffsetFetch.
func TestResetRequests(t *testing.T) {
	t.Parallel()
	const leaders = 3
	t.Run("times", func(t *testing.T) {
		t.Parallel()
		w := startWith(t, kafkatest.Options{Brokers: leaders})
		w.topic("orders", make([][2]int64, 30)...).commit("billing", "orders", make([]int64, 30)...)
		for p := range int32(30) {
			must(t, w.b.Produce("orders", p, "x"))
		}
		w.b.Reset()
		w.run("describe", "-g", "billing").exits(0)
		look := w.b.Count(kmsg.ListOffsets.Int16())
		w.b.Reset()
		w.run("reset", "-g", "billing", "-t", "orders", "--by-duration", "P3650D", "--dry-run").exits(0)
		same(t, "ListOffsets beyond a look", w.b.Count(kmsg.ListOffsets.Int16())-look, leaders)
	})
	t.Run("10,000 partitions", func(t *testing.T) {
		t.Parallel()
		if testing.Short() {
			t.Skip("10,000 partitions")
		}
		const topics, each = 100, 100
		o := kafkatest.Options{Brokers: leaders, Topics: map[string]int32{}}
		for i := range topics {
			o.Topics[fmt.Sprintf("orders-%03d", i)] = each
		}
		w := startWith(t, o)
		kinds := func() map[int16]int {
			all := map[int16]int{}
			for _, r := range w.b.Requests() {
				all[r.Key]++
			}
			return all
		}
		reset := []string{"reset", "-g", "billing", "--create", "--to-earliest", "--execute", "-q"}
		for i := range topics {
			reset = append(reset, "-t", fmt.Sprintf("orders-%03d", i))
		}
		// As the broker writes it a commit takes some 70 bytes beside its names: 10,000 of them are two requests of 500 kB.
		w.b.Reset()
		w.run(reset...).exits(0).prints("10,000 of 10,000 verified")
		got := kinds()
		w.b.Reset()
		w.run("describe", "-g", "billing", "--problems", "-q").exits(0)
		look := kinds()
		same(t, "OffsetCommit", got[kmsg.OffsetCommit.Int16()], 2)
		same(t, "OffsetFetch", got[kmsg.OffsetFetch.Int16()], 3*look[kmsg.OffsetFetch.Int16()]+1+2+1) // two looks, what is only pending of a first commit, the last behind the backup, one before each OffsetCommit, the read-back
		same(t, "ListOffsets", got[kmsg.ListOffsets.Int16()], 2*look[kmsg.ListOffsets.Int16()])
		same(t, "Metadata of topics", got[kmsg.Metadata.Int16()] <= 2*look[kmsg.Metadata.Int16()], true)
	})
}

// Refusals: active, missing, share, without leader, gone.
func TestResetRefuses(t *testing.T) {
	t.Parallel()
	reset := func(w *world, args ...string) result {
		return w.run(append([]string{"reset", "-g", "billing", "-t", "orders", "--to-latest"}, args...)...)
	}
	for _, modern := range []bool{false, true} {
		t.Run(map[bool]string{false: "GRP-1 active, classic", true: "GRP-4 active, KIP-848"}[modern], func(t *testing.T) {
			t.Parallel()
			w := two(t)
			leave, err := w.b.Join("billing", modern, "orders")
			must(t, err)
			w.b.Reset()
			for _, way := range []string{"--execute", "--dry-run"} {
				reset(w, way).exits(4).says(`group "billing" is active: 1 member (kafkatest-member on `, "nothing was written", "--wait-empty 60s")
				reset(w, "-s", w.store, "--stored", way).exits(4).says(`group "billing" is active`)
			}
			e := reset(w, "--execute", "-o", "json").exits(4).failure()
			same(t, "detail", words(len(e.Details), deref(e.Details[0].Group)), "1 billing")
			same(t, "writes", w.writes(), 0)
			same(t, "stored", w.stored("billing", "orders"), "0=600 1=800")
			// GRP-12: wait for them to leave.
			calls := 0
			w.tick = func() {
				if calls++; calls == 3 {
					leave()
				}
			}
			reset(w, "--wait-empty", "50ms", "--execute").exits(0).prints("2 of 2 verified")
		})
	}
	t.Run("GRP-5 GRP-9 Connect's workers, and a share group", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		w.share()
		w.run("reset", "-g", "s1", "-t", "orders", "--to-latest", "--create", "--execute").exits(4).says(`"s1" is a share group`)
		if w.b.Fake.GroupInfo("s1") != nil {
			t.Error("a consumer group was made")
		}
		w = two(t)
		w.classic(stable("connect", "connect-worker"))
		reset(w, "--execute").exits(4).says("coordinates Connect workers", "connect-NAME")
		same(t, "writes", w.writes(), 0)
	})
	t.Run("GRP-10 a paused connector", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}).commit("connect-sink1", "orders", 1)
		w.classic(stable("consumer", "connector-consumer-sink1-0"))
		w.run("reset", "-g", "connect-sink1", "-t", "orders", "--to-latest", "--execute").exits(4).says("connector-consumer-sink1-0", "paused connector", "stop it")
	})
	t.Run("GRP-6 a misspelled group", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		w.run("reset", "-g", "biling", "-t", "orders", "--to-latest", "--execute").exits(4).says(`group "biling" does not exist`, "--create")
		if w.b.Fake.GroupInfo("biling") != nil {
			t.Error("a group was made of the misspelled name")
		}
		stop := w.b.FailCommit("orders", 0, kerr.UnknownMemberID) // a member that came after the last look
		reset(w, "--execute").says("the group is active").never("verified\nbackup")
		stop()
		reset(w, "--execute").exits(0)
	})
	t.Run("GRP-8 --idle, and a commit moves", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		looks := 0
		w.tick = func() {
			if looks++; looks == 2 {
				w.commit("billing", "orders", 701)
			}
		}
		reset(w, "--idle", "1ms", "--execute").exits(4).says("not idle: orders 0 committed", "from 700 to 701", "nothing was written")
		same(t, "committed", w.committed("billing", "orders"), "0=701 1=600")
	})
	t.Run("VIS-2 no leader", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		w.b.NoLeader("orders", 1)
		reset(w, "--execute").exits(4).says("orders 1", "no leader", "nothing was written")
		reset(w, "--execute", "--partial").exits(3).says("no leader").prints("1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=900 1=600")
	})
	t.Run("VIS-6 the topic goes away", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		w.person("y\n", func() { w.hide("orders", 0) })
		reset(w).exits(4).says("gone since the plan", "nothing was written").never("Usage")
		same(t, "writes", w.writes(), 0)
	})
	t.Run("MIG-6 Kafka's own topics", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		w.b.Reset()
		for _, topic := range []string{"__consumer_offsets", "__transaction_state", "__share_group_state"} {
			w.run("reset", "-g", "billing", "-t", topic, "--to-latest", "--execute").exits(4).says(topic, "nothing was written")
		}
		same(t, "requests", w.b.Count(), 0)
	})
	t.Run("HIGH-7 a commit is lowered", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 690}).commit("billing", "orders", 2700)
		reset(w, "--execute").exits(0).prints("1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=690")
	})
	t.Run("NONE-3 NONE-8 the commits from the store", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 900}).save("billing", "orders", 600)
		args := []string{"reset", "-g", "billing", "-t", "orders", "-s", w.store, "--committed", "--to-stored", "--execute"}
		w.run(args...).exits(4).says("does not exist", "--create")
		w.run(append(args, "--create")...).exits(0).prints("as in the store")
		same(t, "committed", w.committed("billing", "orders"), "0=600")
	})
	t.Run("a side must be named where both have offsets", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		reset(w, "-s", w.store, "--execute").exits(2).says("both the store and the commits", "--stored or --committed")
		same(t, "writes", w.writes(), 0)
	})
	t.Run("what moved since the plan", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		w.person("y\n", func() { w.commit("billing", "orders", 701) })
		reset(w).exits(4).says("moved since the plan: was 700, is 701", "nothing was written")
		w = two(t).person("y\n", nil)
		w.in.(*thinking).before = func() { w.grow("orders", [2]int64{500, 1000}) }
		reset(w).exits(0).prints("2 of 2 verified")
		same(t, "--to-latest keeps the end it was planned with", w.committed("billing", "orders"), "0=900 1=900")
		w = two(t).person("y\n", nil)
		w.in.(*thinking).before = func() { w.grow("orders", [2]int64{650, 900}) }
		w.run("reset", "-g", "billing", "-t", "orders", "--to-earliest").exits(0).prints("2 of 2 verified")
		same(t, "--to-earliest follows", w.committed("billing", "orders"), "0=650 1=500")
	})
}

// What a reset has no flag for, another command has.
func TestResetNamesTheWayOn(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900}, [2]int64{0, 900}).commit("billing", "orders", 100, 200).put("billing", "orders", "0 600\n0 700\n")
	salvage := "hint: gtoffset clamp -g billing -t orders -s " + w.store + " --stored --salvage keeps what is left of it"
	w.run("reset", "-g", "billing", "-t", "orders", "-s", w.store, "--to-earliest", "--stored", "--execute").exits(4).says("partition 0 again", salvage)
	w.run("import", w.document("orders,0,1\n"), "-g", "billing", "-s", w.store, "--stored", "--execute").exits(4).says("partition 0 again", salvage)
	w.person("y\n", func() { w.grow("orders", [2]int64{700, 900}, [2]int64{0, 900}) }).
		run("reset", "-g", "billing", "-t", "orders:0", "--to-offset", "650").exits(4).
		says("the target 650 is now low: the range is 700..900", "hint: gtoffset describe -g billing", "shows what stands now; plan anew from there")
	w.run("replay", "-t", "orders:1", "--from", "901").exits(4).says("start 901 is high by 1", "hint: name a --from within the range, or --from earliest")
}

// A dry run shows where the numbers of an active group would go, and refuses them as a write would.
func TestDryRunOfAnActiveGroup(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 100}, [2]int64{0, 100}).commit("billing", "orders", 50, 100)
	leave, err := w.b.Join("billing", false, "orders")
	must(t, err)
	defer leave()
	for _, command := range []string{"--dry-run", "--check"} {
		r := w.run("reset", "-g", "billing", "-t", "orders", "--to-latest", command).says("is active: 1 member", "nothing was written")
		same(t, "code", r.exits(4).code, 4)
		same(t, "row", r.line("orders", 0), "orders 0 50 100 +50 end: skips up to 50 readable")
		r.prints(`refused: group "billing" is active: 1 member`, "1 partition stays as it is unless --wait-empty 60s; NEW is what would be written if the group were empty, and nothing is").never("In all this")
	}
	w.run("reset", "-g", "billing", "-t", "orders", "--to-latest", "--execute").exits(4).never("skips up to")
	p := w.run("reset", "-g", "billing", "-t", "orders", "--to-latest", "--dry-run", "-o", "json").exits(4).plan().change(t, "orders", 0, "committed")
	same(t, "in the document", p.New.Offset.String()+" "+p.Verdict, "100 refuse")
}
