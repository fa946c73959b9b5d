package cmd_test

import (
	"testing"
)

// Every case of NONE: no commit, expired, numbers that stand for something else.
func TestNoCommitCases(t *testing.T) {
	t.Parallel()
	t.Run("NONE-1 no commit is no number", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 3083}, [2]int64{0, 7}, [2]int64{0, 4388}).commit("billing", "orders", none, 0, 4388)
		r := w.run("describe", "-g", "billing").exits(0).prints("without 1 partition that has no offset")
		same(t, "p0", r.line("orders", 0), "orders 0 0 - 3083 - no commit")
		same(t, "committed 0 is a normal offset", r.line("orders", 1), "orders 1 0 0 7 7 ok")
		same(t, "p2", r.line("orders", 2), "orders 2 0 4388 4388 0 ok")
		d := w.run("describe", "-g", "billing", "-o", "json").exits(0).describe()
		c := d.row(t, "orders", 0).Committed
		same(t, "p0", words(c.Offset, c.Lag, c.Expired, c.Ahead, c.Epoch, deref(c.Metadata), c.Condition), "null null null null null null none")
		same(t, "totals", words(d.Groups[0].Totals.Lag, d.Groups[0].Totals.LagUncounted), "7 1")
		w.run("describe", "-g", "billing", "-o", "csv").exits(0).prints("orders,0,0,-,-,3083,-,-")
		// A partition that was never committed is no fault by itself.
		w.run("describe", "-g", "billing", "--check", "--max-lag", "7").exits(0)
		w.run("describe", "-g", "billing", "--check", "--max-lag", "6").exits(10)
	})
	t.Run("NONE-3 expired commits are in the store", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{2000, 2719}).topic("other", [2]int64{0, 1}).commit("billing", "other", 1).save("billing", "orders", 2719)
		r := w.run("describe", "-g", "billing", "-s", w.store, "-t", "orders").exits(0).prints("no committed offset (expired, removed or never committed)")
		same(t, "line", r.line("orders", 0), "orders 0 2000 2719 - 2719 - 0 no committed offset (expired, removed or never committed)")
		clamp := []string{"clamp", "-g", "billing", "-s", w.store, "-t", "orders", "--committed", "--execute"}
		w.run(clamp...).exits(4).says("stored is 2719", "a lost entry, not a first run", "--missing other")
		same(t, "writes", w.writes(), 0)
		w.run(append(clamp, "--missing", "other")...).exits(0).prints("taken over from stored", "1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=2719")
	})
	t.Run("NONE-3 out of range", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{2000, 2719}, [2]int64{5, 9}).topic("other", [2]int64{0, 1}).commit("billing", "other", 1).save("billing", "orders", 1000, 10)
		clamp := []string{"clamp", "-g", "billing", "-s", w.store, "-t", "orders", "--committed", "--missing"}
		w.run(append(clamp, "other", "--execute")...).exits(4).says("stored is 10, high by 1", "--high end")
		w.run(append(clamp, "other", "--high", "end", "--execute")...).exits(0).prints("stored is 1000, low: 1,000 expired")
		same(t, "committed", w.committed("billing", "orders"), "0=2000 1=9")
	})
	t.Run("NONE-3 earliest by choice", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{2000, 2719}).topic("other", [2]int64{0, 1}).commit("billing", "other", 1).save("billing", "orders", 2719)
		w.run("clamp", "-g", "billing", "-s", w.store, "-t", "orders", "--committed", "--missing", "earliest", "--execute").exits(0).prints("stored is 2719")
		same(t, "committed", w.committed("billing", "orders"), "0=2000")
	})
	t.Run("NONE-5 a negative offset is refused", func(t *testing.T) {
		t.Parallel()
		for _, n := range []string{"-2", "-1", "-915623761775"} {
			w := start(t).topic("orders", [2]int64{0, 10}).commit("billing", "orders", 5)
			file := w.backupFile(`{"topic":"orders","partition":0,"side":"committed","offset":` + n + `,"epoch":null,"metadata":null,"written":5}`)
			w.run("import", file, "--execute").exits(1).says("orders", n, "negative", "nothing was written")
			same(t, "committed", w.committed("billing", "orders"), "0=5")
			same(t, "writes", w.writes(), 0)
			w.put("billing", "orders", "0 "+n+"\n")
			w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(4).says("line 1", n)
			same(t, "file", w.file("billing", "orders"), "0 "+n+"\n")
		}
	})
	t.Run("NONE-6 a running group without a commit", func(t *testing.T) {
		t.Parallel()
		for _, modern := range []bool{false, true} {
			w := start(t).topic("orders", [2]int64{3, 8}, [2]int64{0, 5})
			_, err := w.b.Join("billing", modern, "orders")
			must(t, err)
			r := w.run("describe", "-g", "billing").exits(0).prints("1 member", "lag unknown")
			same(t, "p0", r.line("orders", 0), "orders 0 3 - 8 - no commit")
			same(t, "p1", r.line("orders", 1), "orders 1 0 - 5 - no commit")
		}
	})
	t.Run("NONE-8 a group that only its files know", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("a", [2]int64{0, 10}).topic("b", [2]int64{0, 10}, [2]int64{4, 10}).topic("c", [2]int64{0, 10})
		w.save("billing", "a", 5).save("billing", "b", 6, 2).save("billing", "c", 7)
		w.run("describe", "-g", "billing", "-s", w.store).exits(0).prints("no such group in Kafka, only in the store", "4 partitions")
		w.run("describe", "--all-groups", "-s", w.store).exits(0).prints("no such group in Kafka, only in the store")
		w.run("describe", "-s", w.store).exits(0).prints("billing")
		w.run("describe", "-g", "billing").exits(1).says(`group "billing" is not known`)
		clamp := []string{"clamp", "-g", "billing", "-s", w.store, "--committed", "--missing", "other", "--execute"}
		w.run(clamp...).exits(4).says("does not exist", "--create")
		same(t, "writes", w.writes(), 0)
		w.run(append(clamp, "--create")...).exits(0).prints("4 of 4 verified")
		same(t, "committed", w.committed("billing", "a")+" "+w.committed("billing", "b")+" "+w.committed("billing", "c"), "0=5 0=6 1=4 0=7")
	})
	t.Run("first run", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{7, 10}, [2]int64{0, 0})
		// The topic must be named; for commits the group must exist, or be wanted.
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(1).says("looked at " + w.store + "/billing")
		w.run("clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--execute").exits(0).prints("no entry, no commit; starts at earliest (looked at "+w.path("billing", "orders")+")", "repeats up to 3")
		same(t, "stored", w.stored("billing", "orders"), "0=7 1=0")
		w.run("clamp", "-g", "shipping", "-t", "orders", "--committed", "--execute").exits(4).says(`group "shipping" does not exist`, "--create")
		w.run("clamp", "-g", "shipping", "-t", "orders", "--committed", "--execute", "--create").exits(0).prints("no commit; starts at earliest: repeats up to 3").never("first run")
		same(t, "committed", w.committed("shipping", "orders"), "0=7 1=0")
	})
	t.Run("first run needs the root", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{7, 10})
		w.run("clamp", "-g", "billing", "-t", "orders", "-s", w.store+"/nowhere", "--stored", "--execute").exits(1).says(w.store+"/nowhere", "mkdir")
		w.run("describe", "-g", "billing", "-s", w.store+"/nowhere").exits(1).says(w.store + "/nowhere")
		w.save("billing", "orders", 1)
		w.run("clamp", "-g", "billing", "-t", "orders", "-s", w.path("billing", "orders"), "--stored", "--execute").exits(2)
	})
}
