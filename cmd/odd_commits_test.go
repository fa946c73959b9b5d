package cmd_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A first commit that is only pending is seen where its topic is named.
func TestFirstCommitIsPending(t *testing.T) {
	t.Parallel()
	const why = "an open transaction is going to commit it"
	bare := func(t *testing.T) *world {
		w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 600)
		w.pending("billing", 1, 1)
		return w
	}
	for _, args := range [][]string{
		{"reset", "-g", "billing", "-t", "orders", "--to-earliest", "--dry-run"},
		{"clamp", "-g", "billing", "-t", "orders", "--committed", "--dry-run"},
		{"delete", "-g", "billing", "-t", "orders", "--dry-run"},
		{"delete", "-g", "billing", "-t", "orders:1", "--execute"},
		{"delete", "-g", "billing", "--whole-group", "--dry-run"},
		{"reset", "-g", "new", "-t", "orders", "--from-group", "billing", "--create", "--dry-run"},
	} {
		t.Run(args[0]+" "+args[4], func(t *testing.T) {
			t.Parallel()
			w := bare(t)
			w.run(args...).exits(4).says("orders 1: ", why, "nothing was written")
			same(t, "writes", w.writes(), 0)
		})
	}
	t.Run("describe", func(t *testing.T) {
		t.Parallel()
		w := bare(t)
		w.run("describe", "-g", "billing", "-t", "orders").exits(0).prints("committed pending: " + why).never("clamp")
		w.run("describe", "-g", "billing", "-t", "orders", "-o", "json").exits(0).prints(`"offset":null,"condition":"none"`, `"pending":true`).describe()
		w.run("describe", "-g", "billing", "-t", "orders:1", "--check").exits(10).says("no offset is committed")
		w.run("wait", "-g", "billing", "-t", "orders", "--lag", "1000", "--for", "0").exits(10).says("orders 1: "+why, "hint: --for 30m waits longer")
		looks := w.b.Count(kmsg.OffsetFetch.Int16())
		w.run("describe", "-g", "billing", "-t", "orders:0").exits(0)
		same(t, "fetches where all have a commit", w.b.Count(kmsg.OffsetFetch.Int16())-looks, 1)
	})
	t.Run("replay", func(t *testing.T) {
		t.Parallel()
		w := start(t).filled("orders", 3, 3).commit("billing", "orders", 1).save("billing", "orders", 0, 0)
		w.pending("billing", 1, 1)
		left := "left out: orders 1: nothing is committed for it; committed pending: " + why
		w.run("replay", "-g", "billing", "-t", "orders", "--from", "committed").exits(3).says(left)
		w.run("replay", "-g", "billing", "-t", "orders", "-s", w.store, "--until", "committed").exits(3).says(left)
		w.run("replay", "-g", "billing", "-t", "orders", "-s", w.store).exits(0).never(why)
		w = start(t).filled("orders", 3).commit("billing", "orders", 1)
		w.pending("billing", 1, 0)
		w.run("replay", "-g", "billing", "-t", "orders", "--from", "committed", "--dry-run").exits(0).prints("up to 2 records; committed pending: " + why)
		w.run("replay", "-g", "billing", "-t", "orders", "--from", "committed").exits(0).says("  committed pending: " + why)
		w.run("replay", "-g", "billing", "--from", "committed").exits(0).says("committed pending: " + why)
	})
	t.Run("a document", func(t *testing.T) {
		t.Parallel()
		w := bare(t)
		w.stdin("group,topic,partition,offset\nbilling,orders,1,700\n").run("import", "-", "--committed", "--dry-run").exits(4).says("orders 1: ", why)
	})
	t.Run("no topic is named", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900})
		w.memberless("billing", "orders")
		w.pending("billing", 1, 0)
		w.run("describe", "-g", "billing").exits(0).prints("committed pending: " + why).never("nothing committed")
		w.run("describe", "--group-regex", "bill.*").exits(0).prints("nothing committed", "or in a transaction that is open: gtoffset history -g billing")
		w.run("wait", "-g", "billing", "--lag", "1000", "--for", "0").exits(10).says("orders 0: "+why, "hint: --for 30m waits longer").never("does not mend")
		w.run("reset", "-g", "billing", "--all-topics", "--to-earliest", "--dry-run").exits(4).says("orders 0: " + why)
		w.run("clamp", "-g", "billing", "--dry-run").exits(0).prints("orders 0 stays: "+why, "Nothing to do").never("no commit")
		w.run("export", "-g", "billing").exits(0).prints(`"offset":null`).says(`of: group "billing" orders 0`)
	})
	t.Run("no topic is named, and the group has other commits", func(t *testing.T) {
		t.Parallel()
		w := bare(t)
		w.run("describe", "-g", "billing").exits(0).prints("committed pending: " + why).never("clamp")
		w.run("clamp", "-g", "billing", "--dry-run").exits(0).prints("orders 1 stays: " + why).never("no commit")
		w.run("export", "-g", "billing").exits(0).says(`of: group "billing" orders 1`)
		w.run("wait", "-g", "billing", "--lag", "1000", "--for", "0").exits(10).says("orders 1: " + why).never("waiting longer")
		w.run("reset", "-g", "billing", "--all-topics", "--to-earliest", "--dry-run").exits(4).says("orders 1: " + why)
	})
	t.Run("a plan of a whole group", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 600)
		plan := w.document(w.run("delete", "-g", "billing", "--whole-group", "--dry-run", "-o", "json").exits(0).out)
		w.pending("billing", 1, 1)
		w.run("import", plan, "--execute").exits(4).says("orders 1: "+why, "which it is: gtoffset history -g billing").never("was none, is none")
	})
	t.Run("a whole group, of another topic", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).topic("payments", [2]int64{0, 9}, [2]int64{0, 9}).commit("billing", "orders", 600)
		w.pending("billing", 1, 1)
		r := w.run("delete", "-g", "billing", "--whole-group", "--dry-run").exits(4).says("payments 1: "+why, "which it is: gtoffset history -g billing")
		r.never("orders 0:")
	})
	t.Run("it is there already", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
		undo := w.run("reset", "-g", "billing", "-t", "orders", "--to-earliest", "--execute").exits(0).undo()
		w.run(undo...).exits(0)
		w.pending("billing", 1, 0)
		w.run(undo...).exits(4).says("orders 0: ", why)
		w.stdin("group,topic,partition,offset\nbilling,orders,0,600\n").run("import", "-", "--committed", "--execute").exits(4).says("orders 0: committed 600: line 2: " + why)
	})
	t.Run("others are written", func(t *testing.T) {
		t.Parallel()
		w := bare(t)
		w.run("reset", "-g", "billing", "-t", "orders", "--to-earliest", "--partial", "--execute").exits(3).says("left out: orders 1: " + why)
		same(t, "committed", w.committed("billing", "orders"), "0=500")
	})
}

// What a pending commit would decide is not decided by it.
func TestPendingCommitDecides(t *testing.T) {
	t.Parallel()
	const why = "an open transaction is going to commit it"
	for name, c := range map[string]struct {
		says string
		args []string
	}{
		"another group":       {`group "billing": `, []string{"reset", "-g", "copy", "-t", "orders", "--from-group", "billing"}},
		"the commits":         {"committed: ", []string{"reset", "-g", "billing", "-t", "orders", "--stored", "--to-committed"}},
		"the smaller of both": {"committed: ", []string{"reset", "-g", "billing", "-t", "orders", "--stored", "--to-safe"}},
		"a lost entry":        {"no entry, and whether the other side has one is unknown: ", []string{"clamp", "-g", "billing", "-t", "orders", "--stored", "--missing", "other"}},
		"its own":             {"", []string{"reset", "-g", "billing", "-t", "orders", "--committed", "--to-offset", "600"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for from := range int32(2) {
				w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600).commit("copy", "orders", 700)
				if name != "a lost entry" {
					w.save("billing", "orders", 650)
				}
				w.pending("billing", 1+from, 0)
				r := w.run(append(c.args, "-s", w.store, "--execute")...).exits(4).says("orders 0: ", why, "nothing was written")
				if from == 0 {
					r.says(c.says + why)
				}
				if name == "its own" {
					break // it is there already: there is no second look
				}
			}
		})
	}
}

// A negative number, which Kafka stores, can be written over.
func TestNegativeCommit(t *testing.T) {
	t.Parallel()
	const told = "the commit is the negative number -2, which an undo does not bring back"
	negative := func(t *testing.T) *world {
		w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 600)
		must(t, w.b.Commit("billing", "orders", 1, -2, -1, ""))
		return w
	}
	for _, c := range []struct {
		after, undone string
		args          []string
	}{
		{"0=600 1=500", "0=600", []string{"clamp", "-g", "billing", "--committed"}},
		{"0=600 1=500", "0=600", []string{"clamp", "-g", "billing", "-t", "orders", "--committed"}},
		{"0=600 1=700", "0=600", []string{"reset", "-g", "billing", "-t", "orders:1", "--to-offset", "700"}},
		{"0=600 1=700", "0=600", []string{"import", "-", "--committed"}},
		{"0=600", "0=600", []string{"delete", "-g", "billing", "-t", "orders:1"}},
		{"", "0=600", []string{"delete", "-g", "billing", "--whole-group"}},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			t.Parallel()
			w := negative(t)
			r := w.stdin("group,topic,partition,offset\nbilling,orders,1,700\n").run(append(c.args, "--execute")...).exits(0).prints(told)
			if c.args[0] == "delete" {
				r.prints("1          -    -  removed  ")
			}
			same(t, "committed", w.committed("billing", "orders"), c.after)
			w.run(r.undo()...).exits(0)
			same(t, "undone", w.committed("billing", "orders"), c.undone)
		})
	}
	t.Run("the hint", func(t *testing.T) {
		t.Parallel()
		w := negative(t)
		w.run(append(typed(w.run("describe", "-g", "billing").exits(3).prints("committed unknown: the commit is the negative number -2").hinted()), "--execute")...).exits(0)
	})
	t.Run("a plan", func(t *testing.T) {
		t.Parallel()
		w := negative(t)
		plan := w.document(w.run("clamp", "-g", "billing", "--committed", "--dry-run", "-o", "json").exits(0).out)
		w.run("import", plan, "--execute").exits(0)
		same(t, "committed", w.committed("billing", "orders"), "0=600 1=500")
	})
	t.Run("--partial", func(t *testing.T) {
		t.Parallel()
		negative(t).run("clamp", "-g", "billing", "--committed", "--partial", "--execute").exits(0)
	})
}

// What was done although its answer says otherwise is in the backup, and the undo brings it back.
func TestDoneAndAnsweredOtherwise(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 100, 600)
	first := true
	w.b.Rewrite(kmsg.OffsetCommit.Int16(), func(_ int32, r kmsg.Response) bool {
		if first {
			first, r.(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode = false, kerr.UnknownServerError.Code
		}
		return true
	})
	r := w.run("clamp", "-g", "billing", "--execute").exits(3).prints("orders 0 unknown: ", "and yet the new offset stands").never("nothing was written")
	w.run(r.undo()...).exits(0)
	same(t, "committed", w.committed("billing", "orders"), "0=100 1=600")

	for _, group := range []string{"billing", "shipping"} {
		w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600).commit("shipping", "orders", 700)
		once := false
		w.b.Rewrite(kmsg.DeleteGroups.Int16(), func(_ int32, r kmsg.Response) bool {
			if g := &r.(*kmsg.DeleteGroupsResponse).Groups[0]; g.Group == group && !once {
				once, g.ErrorCode = true, kerr.CoordinatorNotAvailable.Code
			}
			return true
		})
		r := w.run("delete", "-g", "billing", "-g", "shipping", "--whole-group", "--execute").exits(0).prints("2 of 2 verified")
		w.run(r.undo()...).exits(0)
		same(t, "undone", w.committed("billing", "orders")+" "+w.committed("shipping", "orders"), "0=600 0=700")
	}
}

// A group of which everything is refused is left out for that, and not for want of a look at it.
func TestLeftOutWhole(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("a", "orders", 100).commit("b", "orders", 200)
	undo := w.run("clamp", "-g", "a", "-g", "b", "--execute").exits(0).undo()
	w.commit("b", "orders", 555)
	w.run(append(undo, "--partial")...).exits(3).says(`left out: group "b" orders 0: `, "it was set to 500 and is 555").never("is unknown")
	same(t, "committed", w.committed("a", "orders")+" "+w.committed("b", "orders"), "0=100 0=555")
}
