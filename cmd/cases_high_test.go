package cmd_test

import (
	"strings"
	"testing"
)

// Every case of HIGH: an offset above the end, a topic that was recreated or truncated, another cluster.
func TestHighCases(t *testing.T) {
	t.Parallel()
	t.Run("HIGH-1 recreated, the end below the old offset", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 500})
		w.saveAs("billing", "orders", w.b.TopicID("orders"), "", 500).commit("billing", "orders", 500)
		must(t, w.b.Recreate("orders"))
		w.grow("orders", [2]int64{0, 300})
		w.commit("billing", "orders", 500)
		w.run("describe", "-g", "billing", "-s", w.store).exits(0).prints("stored before the topic was recreated", "stored high: 200 ahead", "committed high: 200 ahead")
		w.run("describe", "-g", "billing", "-s", w.store, "--check").exits(10)
		w.run("describe", "-g", "billing", "-s", w.store, "--max-unprocessed", "5000").exits(10).says("stored before the topic was recreated")
		clamp := []string{"clamp", "-g", "billing", "-s", w.store, "--stored"}
		for _, way := range []string{"--execute", "--dry-run"} {
			w.run(append(clamp, way)...).exits(4).says("recreated", "300 readable", "earliest", "--recreated earliest", "--recreated end", "nothing was written")
		}
		// The high number does not decide what the topic id proves.
		w.run(append(clamp, "--high", "end", "--execute")...).exits(4).says("recreated")
		same(t, "stored", w.stored("billing", "orders"), "0=500")
		w.run(append(clamp, "--recreated", "earliest", "--execute")...).exits(0).prints("1 of 1 verified")
		same(t, "stored", w.stored("billing", "orders"), "0=0")
		w.run("describe", "-g", "billing", "-s", w.store, "-t", "orders").exits(0).never("stored before the topic was recreated")
	})
	t.Run("HIGH-1 recreated by choice", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			flag, want string
			stored     int64
		}{{"end", "0=300", 500}, {"earliest", "0=0", 500}, {"keep", "0=200", 200}} {
			w := start(t).topic("orders", [2]int64{0, 500})
			w.saveAs("billing", "orders", w.b.TopicID("orders"), "", c.stored).commit("billing", "orders", 1)
			must(t, w.b.Recreate("orders"))
			w.grow("orders", [2]int64{0, 300})
			w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--recreated", c.flag, "--execute").exits(0)
			same(t, c.flag, w.stored("billing", "orders"), c.want)
		}
	})
	t.Run("HIGH-1 without ids", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 300}).commit("billing", "orders", 500)
		for _, way := range []string{"--execute", "--dry-run"} {
			r := w.run("clamp", "-g", "billing", way).exits(4)
			r.prints("high by 200", "skips up to 300 readable").says("--high end, or --high earliest", "nothing was written")
		}
		same(t, "writes", w.writes(), 0)
		// At a terminal it is asked.
		w.person("n\n", nil).run("clamp", "-g", "billing").exits(1).
			says("orders 0 is in doubt: y moves it to end and skips up to 300 readable; n, and then --high earliest, reads them again.", ", 1 in doubt? [y/N]", "not confirmed").
			prints("asked below", "In all this skips up to 300 readable")
		same(t, "committed", w.committed("billing", "orders"), "0=500")
		w.person("y\n", nil).run("clamp", "-g", "billing").exits(0).prints("skips up to 300 readable", "1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=300")
	})
	t.Run("HIGH-1 same id", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 300}, [2]int64{50, 50}).commit("billing", "orders", 1, 70)
		w.saveAs("billing", "orders", w.b.TopicID("orders"), "", 500, 1)
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(0).prints("high by 200", "skips up to 300 readable", "2 of 2 verified")
		same(t, "proven the same topic", w.stored("billing", "orders"), "0=300 1=50")
		// Without ids, but nothing readable is skipped.
		w.run("clamp", "-g", "billing", "--committed", "-t", "orders:1", "--execute").exits(0).prints("high by 20", "1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=1 1=50")
	})
	t.Run("HIGH-2 recreated and grown past the old offset", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 5})
		id := w.b.TopicID("orders")
		w.saveAs("billing", "orders", id, "", 5).commit("billing", "orders", 5)
		must(t, w.b.Recreate("orders"))
		w.grow("orders", [2]int64{0, 10})
		w.commit("billing", "orders", 5)
		d := w.run("describe", "-g", "billing", "-s", w.store, "-o", "json").exits(0).describe()
		row := d.row(t, "orders", 0)
		same(t, "stored", words(row.Stored.Offset, row.Stored.Condition, row.Stored.Identity, row.OK), "5 ok recreated false")
		same(t, "committed", words(row.Committed.Offset, row.Committed.Condition, row.Committed.Identity), "5 ok unknown")
		if row.TopicID == id || !strings.Contains(row.State, "recreated") {
			t.Errorf("row = %+v", row)
		}
		w.run("describe", "-g", "billing", "-s", w.store, "--check").exits(10).says("recreated")
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(4).says("recreated", "10 readable")
		same(t, "stored", w.stored("billing", "orders"), "0=5")
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--recreated", "keep", "--execute").exits(0)
		same(t, "kept", w.stored("billing", "orders"), "0=5")
	})
	t.Run("HIGH-2 recreated after the plan", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{200, 500}).commit("billing", "orders", 100)
		w.saveAs("billing", "orders", w.b.TopicID("orders"), "", 100)
		again := func() {
			must(t, w.b.Recreate("orders"))
			w.grow("orders", [2]int64{200, 500})
			w.commit("billing", "orders", 100)
		}
		for _, side := range []string{"--committed", "--stored"} {
			w.person("y\n", again)
			w.run("clamp", "-g", "billing", "-s", w.store, "-t", "orders", side, "--recreated", "earliest").exits(4).says("recreated since the plan", "nothing was written")
			same(t, "stored", w.stored("billing", "orders"), "0=100")
			same(t, "committed", w.committed("billing", "orders"), "0=100")
		}
	})
	t.Run("HIGH-4 high by different amounts", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 367}, [2]int64{0, 367}, [2]int64{0, 360}).save("billing", "orders", 540, 600, 200)
		clamp := []string{"clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--execute"}
		p := w.run(append(clamp, "-o", "json")...).exits(4).plan()
		same(t, "applied", p.Applied, false)
		same(t, "counts", p.Counts, countsDoc{Keep: 1, Refuse: 2})
		w.run(append(clamp, "-o", "json")...).says("orders 0: stored 540: high by 173, identity unknown: skips up to 367 readable; orders 1: stored 600: high by 233, ")
		p = w.run(append(clamp, "--high", "end", "-o", "json")...).exits(0).plan()
		same(t, "counts", p.Counts, countsDoc{Write: 2, Keep: 1, Clamped: 2, Written: 2, Verified: 2})
		same(t, "p0", words(p.change(t, "orders", 0, "stored").New.Offset, p.change(t, "orders", 0, "stored").Skips), "367 367")
		same(t, "p2", words(p.change(t, "orders", 2, "stored").Verdict, p.change(t, "orders", 2, "stored").Reason), "keep in range")
		same(t, "stored", w.stored("billing", "orders"), "0=367 1=367 2=200")
	})
	t.Run("HIGH-5 a commit ahead of a log that was cut back", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 90}, [2]int64{0, 90}, [2]int64{0, 90}).commit("billing", "orders", 100, 90, 91)
		r := w.run("describe", "-g", "billing").exits(0).prints("committed high: 10 ahead", "committed high: 1 ahead")
		same(t, "exactly end", r.line("orders", 1), "orders 1 0 90 90 0 ok")
		w.run("clamp", "-g", "billing", "--execute").exits(4).says("--high end").never("--to-earliest")
		w.run("clamp", "-g", "billing", "--high", "end", "--execute").exits(0).prints("high by 10", "skips up to 90 readable")
		same(t, "committed", w.committed("billing", "orders"), "0=90 1=90 2=90")
	})
	t.Run("HIGH-7 a commit is lowered to the end", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 690}).commit("billing", "orders", 2700)
		p := w.run("clamp", "-g", "billing", "--high", "end", "--execute", "-o", "json").exits(0).plan()
		same(t, "counts", p.Counts, countsDoc{Write: 1, Clamped: 1, Written: 1, Verified: 1})
		same(t, "committed", w.committed("billing", "orders"), "0=690")
		w.run("clamp", "-g", "billing", "--high", "earliest", "--check").exits(0)
	})
	t.Run("HIGH-7 to earliest", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{300, 690}).commit("billing", "orders", 2700)
		w.run("clamp", "-g", "billing", "--high", "earliest", "--execute").exits(0).prints("repeats up to 390", "-2400")
		same(t, "committed", w.committed("billing", "orders"), "0=300")
	})
	t.Run("a small excess is measured again", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 305}).commit("billing", "orders", 300)
		again := w.stale(298)
		row := w.run("describe", "-g", "billing", "-o", "json").exits(0).describe().row(t, "orders", 0)
		same(t, "row", words(row.End, row.Committed.Condition, row.Committed.Lag, row.OK), "305 ok 5 true")
		again()
		w.run("clamp", "-g", "billing", "--execute").exits(0).prints("in range", "Nothing to do")
	})
	t.Run("a high verdict is measured again before the write", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 300}).commit("billing", "orders", 310)
		w.person("y\n", func() { w.grow("orders", [2]int64{0, 320}) })
		w.run("clamp", "-g", "billing", "--high", "end").exits(4).says("it was high when planned and is ok now", "nothing was written")
		same(t, "committed", w.committed("billing", "orders"), "0=310")
	})
	t.Run("MIG-3 a file of another cluster", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{10, 50}, [2]int64{0, 900}, [2]int64{800, 900})
		w.saveAs("billing", "orders", w.b.TopicID("orders"), "of-another-house", 700, 700, 700).commit("billing", "orders", 20, 20, 820)
		d := w.run("describe", "-g", "billing", "-s", w.store, "-o", "json").exits(0).describe()
		for p := range int32(3) {
			row := d.row(t, "orders", p)
			same(t, "row", words(deref(row.Stored.OtherCluster), row.Stored.Identity, row.OK), "of-another-house unknown false")
		}
		w.run("describe", "-g", "billing", "-s", w.store).exits(0).prints("another cluster (of-another-house)")
		clamp := []string{"clamp", "-g", "billing", "-s", w.store, "--stored", "--execute", "--high", "end", "--recreated", "end", "--missing", "earliest"}
		w.run(clamp...).exits(4).says("of-another-house", w.cluster(), "--other-cluster", "nothing was written")
		same(t, "stored", w.stored("billing", "orders"), "0=700 1=700 2=700")
		w.run(append(clamp, "--other-cluster")...).exits(0)
		same(t, "stored", w.stored("billing", "orders"), "0=50 1=700 2=800")
	})
}
