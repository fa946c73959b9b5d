package cmd_test

import (
	"fmt"
	"testing"
)

// Every case of LOW: a stored offset, or a commit, below the log's start.
func TestLowCases(t *testing.T) {
	t.Parallel()
	for _, side := range []string{"--stored", "--committed"} {
		t.Run("LOW-1 expired below the start, "+side, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{0, 100}, [2]int64{100, 200}, [2]int64{100, 200})
			w.commit("billing", "orders", 300, 40, 100, 200)
			w.save("billing", "orders", 300, 40, 100, 200)
			r := w.run("describe", "-g", "billing", "-s", w.store).exits(0).prints("stored low: 200 expired", "committed low: 200 expired")
			same(t, "line", r.line("orders", 0), "orders 0 500 300 300 900 400 400 stored low: 200 expired; committed low: 200 expired")
			w.run("describe", "-g", "billing", "-s", w.store, "--check").exits(10)

			dry := w.run("clamp", "-g", "billing", "-s", w.store, side, "--dry-run").exits(0).prints("3 more are in range and stay")
			same(t, "planned", dry.line("orders", 0), "orders 0 300 500 +200 low: 200 expired (300 to 499)")
			p := w.run("clamp", "-g", "billing", "-s", w.store, side, "--execute", "-o", "json").exits(0).plan()
			same(t, "counts", p.Counts, countsDoc{Write: 1, Keep: 3, Clamped: 1, Written: 1, Verified: 1})
			c := p.change(t, "orders", 0, side[2:])
			same(t, "change", words(c.Old.Offset, c.New.Offset, c.Skips, c.Repeats, deref(c.Result)), "300 500 0 0 written")
			stored, committed := "0=500 1=40 2=100 3=200", "0=300 1=40 2=100 3=200"
			if side == "--committed" {
				stored, committed = committed, stored
			}
			same(t, "stored", w.stored("billing", "orders"), stored)
			same(t, "committed", w.committed("billing", "orders"), committed)
		})
	}
	t.Run("LOW-2 lag behind a commit in an emptied partition", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{1000, 1000}).commit("billing", "orders", 400)
		c := w.run("describe", "-g", "billing", "-o", "json").exits(0).describe().row(t, "orders", 0).Committed
		same(t, "committed", words(c.Condition, c.Lag, c.Expired, c.Ahead), "low 0 600 0")
		w.run("describe", "-g", "billing").exits(0).prints("1000", "committed low: 600 expired", "lag 0")
		// The corrected value is stored even when the partition is empty.
		w.run("clamp", "-g", "billing", "--execute").exits(0).prints("600 expired (400 to 999)", "1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=1000")
		w.run("describe", "-g", "billing", "--check").exits(0)
	})
	t.Run("LOW-4 low by a few only", func(t *testing.T) {
		t.Parallel()
		gaps := []int64{5, 50, 0, 1, 10, 20, 30, 40}
		w := start(t)
		var ranges [][2]int64
		var offsets []int64
		want := ""
		for p, gap := range gaps {
			ranges = append(ranges, [2]int64{100 + int64(p), 400})
			offsets = append(offsets, 100+int64(p)-gap)
			want += fmt.Sprintf(" %d=%d", p, 100+p)
		}
		w.topic("orders", ranges...).save("billing", "orders", offsets...)
		p := w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute", "-o", "json").exits(0).plan()
		same(t, "counts", p.Counts, countsDoc{Write: 7, Keep: 1, Clamped: 7, Written: 7, Verified: 7})
		same(t, "exactly earliest", p.change(t, "orders", 2, "stored").Verdict, "keep")
		same(t, "stored", " "+w.stored("billing", "orders"), want)
	})
	t.Run("LOW-6 a second run writes nothing", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 900}, [2]int64{0, 900}, [2]int64{700, 900})
		w.commit("billing", "orders", 1, 2, 650).save("billing", "orders", 1, 2, 650)
		clamp := []string{"clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute"}
		w.run(clamp...).exits(0).prints("2 of 2 verified")
		same(t, "stored", w.stored("billing", "orders"), "0=1 1=2 2=700")
		same(t, "committed", w.committed("billing", "orders"), "0=1 1=2 2=700")
		before, kept := w.file("billing", "orders"), len(w.backups())
		w.run(clamp...).exits(0).prints("Nothing to do").never("verified", "undo")
		same(t, "file", w.file("billing", "orders"), before)
		same(t, "backups", len(w.backups()), kept)
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--check").exits(0)
	})
	t.Run("LOW-6 bounds are read again", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{700, 900}).commit("billing", "orders", 650).save("billing", "orders", 650)
		w.person("y\n", func() { w.grow("orders", [2]int64{800, 900}) })
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed").exits(0).prints("2 of 2 verified")
		same(t, "stored", w.stored("billing", "orders"), "0=800")
		same(t, "committed", w.committed("billing", "orders"), "0=800")
	})
	t.Run("LOW-8 far behind, and all records there", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 22_000_000}, [2]int64{7, 30}, [2]int64{7, 30}, [2]int64{7, 30}, [2]int64{7, 30})
		w.save("billing", "orders", 15_000_000, 7, 30, 6, 8).commit("billing", "orders", 1, 7, 30, 6, 8)
		p := w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute", "-o", "json").exits(0).plan()
		same(t, "counts", p.Counts, countsDoc{Write: 2, Keep: 8, Clamped: 2, Written: 2, Verified: 2})
		same(t, "stored", w.stored("billing", "orders"), "0=15000000 1=7 2=30 3=7 4=8")
		same(t, "committed", w.committed("billing", "orders"), "0=1 1=7 2=30 3=7 4=8")
		r := w.run("describe", "-g", "billing", "-s", w.store, "-t", "orders:0").exits(0)
		same(t, "line", r.line("orders", 0), "orders 0 0 15000000 1 22000000 21999999 7000000 committed 14999999 behind stored")
	})
}
