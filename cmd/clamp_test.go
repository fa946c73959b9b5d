package cmd_test

import "testing"

// A clamp of both sides mends each by its own value.
func TestTwoSides(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900})
	w.commit("billing", "orders", 100, 600, 100, 1000).save("billing", "orders", 700, 100, 200, 2000)
	p := w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--high", "end", "--execute", "-o", "json").exits(0).plan()
	same(t, "counts", p.Counts, countsDoc{Write: 6, Keep: 2, Clamped: 6, Written: 6, Verified: 6})
	same(t, "committed", w.committed("billing", "orders"), "0=500 1=600 2=500 3=900")
	same(t, "stored", w.stored("billing", "orders"), "0=700 1=500 2=500 3=900")
	r := w.run("describe", "-g", "billing", "-s", w.store, "-o", "json").exits(0).describe()
	same(t, "unprocessed", words(r.row(t, "orders", 0).Unprocessed, r.row(t, "orders", 1).Unprocessed, r.Groups[0].Totals.Unprocessed), "0 100 100")
	w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--missing", "other", "--check").exits(0)
}
