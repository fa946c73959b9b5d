package cmd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/kafkatest"
)

// Every case of VIS: what cannot be seen is a row with its reason, and the rest is shown.
func TestUnseenCases(t *testing.T) {
	t.Parallel()
	two := [][2]int64{{500, 900}, {0, 900}}
	for name, only := range map[string]bool{"VIS-1 one topic of two is deleted": false, "VIS-7 the only topic is deleted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("t2", two...).commit("billing", "t2", 100, 7)
			code := 3
			if !only {
				w.topic("t1", two...).commit("billing", "t1", 100, 10)
			}
			w.hide("t2", 0)
			w.b.Reset()
			r := w.run("describe", "-g", "billing").exits(code).says("2 of ", `no longer exist, such as group "billing" t2 0`+"\n")
			same(t, "t2", r.line("t2", 0), "t2 0 - 100 - - gone: the topic does not exist")
			same(t, "t2", r.line("t2", 1), "t2 1 - 7 - - gone: the topic does not exist")
			if n := w.b.Count(kmsg.Metadata.Int16()); n > 4 {
				t.Errorf("%d Metadata requests", n)
			}
			if only {
				w.run("clamp", "-g", "billing", "--execute").exits(0).prints("t2 0-1 stay: the topic does not exist; left as it is", "Nothing to do")
				w.run("clamp", "-g", "billing", "-t", "t2", "--execute").exits(0)
				return
			}
			same(t, "t1", r.line("t1", 1), "t1 1 0 10 900 890 ok")
			d := w.run("describe", "-g", "billing", "-o", "json").exits(3).describe()
			row := d.row(t, "t2", 0)
			same(t, "t2", words(row.Earliest, row.End, row.Committed.Offset, row.Committed.Lag, row.Committed.Condition, row.OK), "null null 100 null gone false")
			same(t, "totals", words(d.Groups[0].Totals.Lag, d.Groups[0].Totals.LagUncounted), "1290 2")
			w.run("clamp", "-g", "billing", "--execute").exits(0).prints("t2 0-1 stay", "1 of 1 verified")
			same(t, "committed", w.committed("billing", "t1")+" "+w.committed("billing", "t2"), "0=500 1=10 0=100 1=7")
			// A topic filter leaves the missing one out.
			w.run("describe", "-g", "billing", "-t", "t1").exits(0).never("t2")
		})
	}
	t.Run("VIS-2 no leader", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 100, 600, 100).save("billing", "orders", 100, 600, 100)
		w.b.NoLeader("orders", 2)
		r := w.run("describe", "-g", "billing", "-s", w.store).exits(3).says(`1 of 3 partitions could not be read, such as group "billing" orders 2: unknown: `)
		same(t, "p1", r.line("orders", 1), "orders 1 500 600 600 900 300 300 ok")
		if line := r.line("orders", 2); !strings.HasPrefix(line, "orders 2 - 100 100 - - - unknown: ") || !strings.Contains(line, "leader") {
			t.Errorf("p2 = %q", line)
		}
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(4).says("orders 2", "leader")
		same(t, "stored", w.stored("billing", "orders"), "0=100 1=600 2=100")
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute", "--partial").exits(3).says("orders 2", "leader").prints("2 of 2 verified")
		same(t, "both", w.stored("billing", "orders")+" "+w.committed("billing", "orders"), "0=500 1=600 2=100 0=500 1=600 2=100")
	})
	t.Run("VIS-4 no right to see a topic", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("t1", two...).topic("t2", two...).commit("billing", "t1", 600, 10).commit("billing", "t2", 600, 10)
		allow := w.b.DenyTopic("t2")
		r := w.run("describe", "-g", "billing").exits(3)
		same(t, "t1", r.line("t1", 0), "t1 0 500 600 900 300 ok")
		r.prints("note: t2: not allowed: DESCRIBE on topic t2 is missing") // once, not on every row
		same(t, "t2", r.line("t2", 0), "t2 0 - 600 - - unknown: not allowed")
		w.run("describe", "-g", "billing", "-t", "t1").exits(0).never("t2")
		w.run("clamp", "-g", "billing", "-t", "t1", "--execute").exits(0)
		w.run("clamp", "-g", "billing", "--execute").exits(4).says("not allowed")
		allow()
		w.run("describe", "-g", "billing").exits(0)
	})
	t.Run("VIS-4 no right to see a topic without a commit", func(t *testing.T) { // how many partitions it has is not known
		t.Parallel()
		w := start(t).topic("t1", two...).topic("t2", two...).commit("billing", "t1", 100, 10)
		defer w.b.DenyTopic("t2")()
		const says = `topic "t2" could not be read: not allowed: DESCRIBE on topic t2 is missing`
		w.run("describe", "-g", "billing", "-t", "t1", "-t", "t2").exits(3).prints("low: 400 expired").says(says, "--operation Describe --topic t2").never("does not exist")
		w.run("clamp", "-g", "billing", "-t", "t1", "-t", "t2", "--execute").exits(4).says(says + "; nothing was written")
		w.run("clamp", "-g", "billing", "-t", "t2", "--execute").exits(4).says(says)
		same(t, "writes", w.writes(), 0)
		w.run("clamp", "-g", "billing", "-t", "t1", "-t", "t2", "--execute", "--partial").exits(3).says("left out: " + says).prints("1 of 1 verified")
	})
	t.Run("VIS-4 no right to see a group", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("t1", two...).commit("billing", "t1", 600, 10).commit("shipping", "t1", 600, 10)
		defer w.b.DenyGroup("billing")()
		r := w.run("describe", "-g", "billing", "-g", "shipping").exits(3).says(`group "billing" could not be read: not allowed: DESCRIBE on group billing is missing`, "hint: kafka-acls.sh --bootstrap-server ", "--allow-principal User:NAME --operation Describe --group billing")
		r.prints("shipping", "unknown: the group could not be read")
		w.run("describe", "-g", "billing", "-g", "shipping", "-o", "json").exits(3).failure()
		w.run("describe", "-g", "billing", "-t", "t1").exits(3).says("DESCRIBE on group billing")
		w.run("clamp", "-g", "billing", "-t", "t1", "--execute").exits(4).says("DESCRIBE on group billing")
		same(t, "writes", w.writes(), 0)
	})
	t.Run("VIS-6 the topic goes away after the plan", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("t1", two...).commit("billing", "t1", 100, 10).save("billing", "t1", 100, 10)
		w.person("y\n", func() { must(t, w.b.Fake.DeleteTopic("t1")) })
		r := w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed").exits(4).says("t1 0", "nothing was written").never("Usage", "Flags")
		if n := strings.Count(r.err, "gtoffset: error:"); n != 1 {
			t.Errorf("%d errors\n%v", n, r)
		}
		same(t, "stored", w.stored("billing", "t1"), "0=100 1=10")
		same(t, "writes", w.writes(), 0)
	})
}

// A coordinator that does not answer makes its groups rows; no group readable is 5.
func TestCoordinatorAway(t *testing.T) {
	t.Parallel()
	w := startWith(t, kafkatest.Options{}).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900})
	var here, there string
	for i := range 60 {
		g := fmt.Sprint("g", i)
		w.commit(g, "orders", 100)
		switch w.b.Fake.CoordinatorFor(g) {
		case 0:
			here = g
		case 2:
			there = g
		}
	}
	if here == "" || there == "" {
		t.Fatal("the groups are not spread over the brokers")
	}
	w.b.Kill(2)
	r := w.run("describe", "-g", here, "-g", there, "-t", "orders:0", "-o", "json").exits(3).says("broker 2", there)
	for _, g := range r.describe().Groups {
		same(t, "readable", g.Error == nil, g.Group == here)
		if len(g.Partitions) != 1 {
			t.Errorf("group %s has %d rows, want the one that was asked for", g.Group, len(g.Partitions))
			continue
		}
		c := g.Partitions[0].Committed
		if g.Group == there {
			same(t, "unknown is not none", words(c.Condition, c.Offset, c.Problem != nil), "unknown null true")
		} else {
			same(t, "the other", words(c.Condition, c.Offset, c.Expired), "low 100 400")
		}
	}
	w.run("describe", "-g", there, "-t", "orders:0").exits(5).says("broker 2")
	w.run("clamp", "-g", there, "-t", "orders:0", "--execute").exits(5).says("nothing was written")
	w.run("clamp", "-g", here, "-g", there, "-t", "orders:0", "--execute").exits(5).says(there)
	w.run("clamp", "-g", here, "-g", there, "-t", "orders:0", "--execute", "--partial").exits(3).says(there)
	same(t, "committed", w.committed(here, "orders")+" "+w.committed(there, "orders"), "0=500 0=100")
	must(t, w.b.Revive(2))
	w.run("clamp", "-g", there, "-t", "orders:0", "--execute").exits(0)
}
