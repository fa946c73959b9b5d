package cmd_test

import (
	"fmt"
	"strings"
	"testing"
)

// Every case of PART: partitions that were added, that are missing, that are always empty.
func TestPartitionCases(t *testing.T) {
	t.Parallel()
	t.Run("PART-1 partitions added since the file was written", func(t *testing.T) {
		t.Parallel()
		six := [][2]int64{{0, 10}, {0, 10}, {0, 10}, {0, 10}, {2, 10}, {0, 10}}
		w := start(t).topic("orders", six...).saveAs("billing", "orders", "", "", 4, 5, 6)
		w.run("describe", "-g", "billing", "-s", w.store).exits(0).prints("no entry in the store", "6 partitions, 3 ok")
		r := w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(0).prints("3 more are in range and stay", "no entry, no commit, above the store's last partition (2): starts at earliest")
		for p := 3; p < 6; p++ {
			if line := r.line("orders", p); !strings.Contains(line, "new no entry, no commit, above the store's last") {
				t.Errorf("line of partition %d = %q", p, line)
			}
		}
		same(t, "stored", w.stored("billing", "orders"), "0=4 1=5 2=6 3=0 4=2 5=0")
	})
	t.Run("PART-1 on both sides", func(t *testing.T) {
		t.Parallel()
		// What is known of the partition is the same on each side, and so is what is done.
		w := start(t).topic("orders", [2]int64{0, 10}, [2]int64{2, 10}).saveAs("billing", "orders", "", "", 4).commit("billing", "orders", 4)
		clamp := []string{"clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute", "-o", "json"}
		d := w.run(clamp...).exits(0).plan()
		stored, committed := d.change(t, "orders", 1, "stored"), d.change(t, "orders", 1, "committed")
		same(t, "reasons", committed.Reason, stored.Reason)
		same(t, "new", words(stored.New.Offset, committed.New.Offset), "2 2")
		same(t, "counts of the second run", fmt.Sprint(w.run(clamp...).exits(0).plan().Counts.Write), "0")
	})
	t.Run("PART-1 not proven", func(t *testing.T) {
		t.Parallel()
		// A bare file does not prove that it is whole: without -t the rest is left, with -t it is a first run of that partition.
		w := start(t).topic("orders", [2]int64{0, 10}, [2]int64{1, 10}).save("billing", "orders", 4)
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(0).prints("orders 1 stays", "-t")
		same(t, "stored", w.stored("billing", "orders"), "0=4")
		w.run("clamp", "-g", "billing", "-s", w.store, "-t", "orders", "--stored", "--execute").exits(0).prints("starts at earliest")
		same(t, "stored", w.stored("billing", "orders"), "0=4 1=1")
	})
	t.Run("an entry that only the commits have is a conflict", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 10}, [2]int64{1, 10}, [2]int64{0, 10}).saveAs("billing", "orders", "", "", 4, none, 5).commit("billing", "orders", 4, 7, 6)
		clamp := []string{"clamp", "-g", "billing", "-s", w.store, "--stored", "--execute"}
		w.run(clamp...).exits(4).says("orders 1: no entry, but committed is 7: a lost entry, not a first run", "--missing other, or --missing earliest")
		same(t, "stored", w.stored("billing", "orders"), "0=4 2=5")
		w.run(append(clamp, "--partial")...).exits(4)
		w.run(append(clamp, "--missing", "other")...).exits(0)
		same(t, "stored", w.stored("billing", "orders"), "0=4 1=7 2=5")
	})
	t.Run("an added partition with a commit is a conflict", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 10}, [2]int64{1, 10}).saveAs("billing", "orders", "", "", 4).commit("billing", "orders", 4, 7)
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(4).says("committed is 7")
	})
	t.Run("PART-3 metadata that lists fewer partitions", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{50, 90}, [2]int64{50, 90}, [2]int64{50, 90}, [2]int64{50, 90})
		w.saveAs("billing", "orders", w.b.TopicID("orders"), "", 10, 60, 70, 80)
		w.hide("orders", 2)
		r := w.run("describe", "-g", "billing", "-s", w.store).exits(3)
		same(t, "line", r.line("orders", 2), "orders 2 - 70 - - - - gone: not in the topic, which has 2 partitions")
		same(t, "line", r.line("orders", 3), "orders 3 - 80 - - - - gone: not in the topic, which has 2 partitions")
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(0).prints("orders 2-3 stay", "1 of 1 verified")
		same(t, "stored", w.stored("billing", "orders"), "0=50 1=60 2=70 3=80")
		if f := w.file("billing", "orders"); !strings.HasSuffix(f, "# entries 4\n") {
			t.Errorf("file = %q", f)
		}
	})
	t.Run("PART-4 recreated with fewer partitions", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		var many [][2]int64
		for range 73 {
			many = append(many, [2]int64{0, 10})
		}
		w.topic("orders", many...)
		for p := range int64(73) {
			must(t, w.b.Commit("billing", "orders", int32(p), p%10, -1, ""))
		}
		w.grow("orders", [2]int64{3, 10})
		w.hide("orders", 10)
		r := w.run("describe", "-g", "billing").exits(3).says("63 of 73 partitions no longer exist").prints("gone")
		same(t, "p0", r.line("orders", 0), "orders 0 3 0 10 7 committed low: 3 expired")
		same(t, "p9", r.line("orders", 9), "orders 9 0 9 10 1 ok")
		if line := r.line("orders", 72); !strings.HasPrefix(line, "orders 72 - 2 - - gone: not in the topic") {
			t.Errorf("line = %q", line)
		}
		w.run("clamp", "-g", "billing", "--execute").exits(0).prints("orders 10-72 stay", "1 of 1 verified")
		same(t, "the stale ones stay", strings.HasPrefix(w.committed("billing", "orders"), "0=3 1=1 2=2") && strings.HasSuffix(w.committed("billing", "orders"), "72=2"), true)
		file := w.backupFile(`{"topic":"orders","partition":5,"side":"committed","offset":1,"epoch":null,"metadata":null,"written":5},
			{"topic":"orders","partition":40,"side":"committed","offset":1,"epoch":null,"metadata":null,"written":0}`)
		w.run("import", file, "--execute").exits(4).says("orders 40", "nothing was written")
	})
	t.Run("PART-5 a partition that never had a record", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 2}, [2]int64{0, 0}, [2]int64{0, 1}, [2]int64{0, 0}, [2]int64{0, 1}, [2]int64{0, 0}, [2]int64{0, 1}, [2]int64{5, 5})
		w.commit("billing", "orders", 2, 0, 1, 0, 1, 0, 0, 0).save("billing", "orders", 2, 0, 1, 0, 1, 0, 0, 0)
		p := w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute", "-o", "json").exits(0).plan()
		same(t, "counts", p.Counts, countsDoc{Write: 2, Keep: 14, Clamped: 2, Written: 2, Verified: 2})
		d := w.run("describe", "-g", "billing", "-s", w.store, "-o", "json", "--check").exits(0).describe()
		row := d.row(t, "orders", 1)
		same(t, "empty", words(row.Earliest, row.End, row.Committed.Offset, row.Committed.Lag, row.Stored.Condition, row.OK), "0 0 0 0 ok true")
		undo := w.run("import", deref(p.Backup), "--execute").exits(0)
		undo.prints("2 of 2 verified")
	})
	t.Run("only named partitions change", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{5, 9}, [2]int64{5, 9}, [2]int64{5, 9}, [2]int64{5, 9}, [2]int64{5, 9}).topic("other", [2]int64{5, 9})
		w.commit("billing", "orders", 1, 1, 1, 1, 1).commit("billing", "other", 1).save("billing", "orders", 1, 1, 1, 1, 1)
		r := w.run("describe", "-g", "billing", "-t", "orders:1,3-4").exits(0).prints("3 partitions")
		for _, p := range []int{1, 3, 4} {
			r.line("orders", p)
		}
		w.run("clamp", "-g", "billing", "-s", w.store, "-t", "orders:1,3-4", "--stored", "--committed", "--execute").exits(0).prints("6 of 6 verified")
		same(t, "committed", w.committed("billing", "orders")+" "+w.committed("billing", "other"), "0=1 1=5 2=1 3=5 4=5 0=1")
		same(t, "stored", w.stored("billing", "orders"), "0=1 1=5 2=1 3=5 4=5")
	})
	for _, bad := range []struct{ topic, says string }{{"nowhere", `topic "nowhere" does not exist`}, {"orders:7", `partition 7 of topic "orders" does not exist`}} {
		t.Run("unknown "+bad.topic, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 3)
			w.run("describe", "-g", "billing", "-t", bad.topic).exits(1).says(bad.says)
			w.run("clamp", "-g", "billing", "-t", bad.topic, "--committed", "--execute").exits(1).says(bad.says)
			w.run("describe", "-g", "billing", "-t", "orders", "-t", bad.topic).says(bad.says).prints("orders")
		})
	}
}

// backupFile writes a backup of group billing with the given rows, and returns its path.
func (w *world) backupFile(rows string) string {
	w.t.Helper()
	return w.document(backup(rows))
}
