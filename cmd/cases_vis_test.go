package cmd_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"gtoffset/kafkaops/kafkatest"
)

// Every box of VIS: what cannot be seen is a row with its reason, and the rest is shown.
func TestCasesVis(t *testing.T) {
	t.Parallel()
	two := [][2]int64{{500, 900}, {0, 900}}
	for _, name := range []string{"VIS-1", "VIS-7"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("t2", two...).commit("billing", "t2", 100, 7)
			code := 3
			if name == "VIS-1" {
				w.topic("t1", two...).commit("billing", "t1", 100, 10)
			}
			w.hide("t2", 0)
			w.b.Reset()
			r := w.run("describe", "-g", "billing").exits(code).says("2 of ", "no longer exist")
			same(t, "t2", r.line("t2", 0), "t2 0 - 100 - - gone: the topic does not exist")
			same(t, "t2", r.line("t2", 1), "t2 1 - 7 - - gone: the topic does not exist")
			if n := w.b.Count(kmsg.Metadata.Int16()); n > 4 {
				t.Errorf("%d Metadata requests", n)
			}
			if name == "VIS-7" {
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
	t.Run("VIS-2", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 100, 600, 100).save("billing", "orders", 100, 600, 100)
		w.b.NoLeader("orders", 2)
		r := w.run("describe", "-g", "billing", "-s", w.store).exits(3).says("1 of 3 partitions could not be read")
		same(t, "p1", r.line("orders", 1), "orders 1 500 600 600 900 300 300 ok")
		if line := r.line("orders", 2); !strings.HasPrefix(line, "orders 2 - 100 100 - - - unknown: ") || !strings.Contains(line, "leader") {
			t.Errorf("p2 = %q", line)
		}
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(4).says("orders 2", "leader")
		same(t, "stored", w.stored("billing", "orders"), "0=100 1=600 2=100")
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute", "--partial").exits(3).says("orders 2", "leader").prints("2 of 2 verified")
		same(t, "both", w.stored("billing", "orders")+" "+w.committed("billing", "orders"), "0=500 1=600 2=100 0=500 1=600 2=100")
	})
	t.Run("VIS-4", func(t *testing.T) {
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
	t.Run("VIS-4 group", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("t1", two...).commit("billing", "t1", 600, 10).commit("shipping", "t1", 600, 10)
		defer w.b.DenyGroup("billing")()
		r := w.run("describe", "-g", "billing", "-g", "shipping").exits(3).says(`group "billing" could not be read: not allowed: DESCRIBE on group billing is missing`)
		r.prints("shipping", "unknown: the group could not be read")
		w.run("describe", "-g", "billing", "-g", "shipping", "-o", "json").exits(3).failure()
		w.run("describe", "-g", "billing", "-t", "t1").exits(3).says("DESCRIBE on group billing")
		w.run("clamp", "-g", "billing", "-t", "t1", "--execute").exits(4).says("DESCRIBE on group billing")
		same(t, "writes", w.writes(), 0)
	})
	t.Run("VIS-6", func(t *testing.T) {
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
	t.Run("CON-7", func(t *testing.T) {
		t.Parallel()
		old := startWith(t, kafkatest.Options{Brokers: 1, Version: kversion.V0_10_1()})
		for _, args := range [][]string{{"describe", "-g", "billing"}, {"describe"}, {"clamp", "-g", "billing", "--execute"}} {
			old.run(args...).exits(5).says("Metadata", "0.11").never("panic")
		}
		for _, v := range []*kversion.Versions{kversion.V0_11_0(), kversion.V2_1_0(), kversion.V2_8_0(), kversion.V3_9_0()} {
			w := startWith(t, kafkatest.Options{Brokers: 1, Version: v, Topics: map[string]int32{"orders": 2}})
			w.commit("billing", "orders", 0, 3)
			for _, scope := range []string{"orders", "orders:0,1"} {
				r := w.run("describe", "-g", "billing", "-t", scope).exits(0)
				same(t, "p1", r.line("orders", 1), "orders 1 0 3 0 0 committed high: 3 ahead")
			}
			w.run("clamp", "-g", "billing", "--execute").exits(0).prints("1 of 1 verified")
			same(t, "committed", w.committed("billing", "orders"), "0=0 1=0")
		}
	})
	t.Run("CON-11", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", two...).commit("billing", "orders", 100, 10).save("billing", "orders", 100, none)
		var asked atomic.Int32
		w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool {
			g := &r.(*kmsg.OffsetFetchResponse).Groups[0]
			switch asked.Add(1) {
			case 1:
				g.ErrorCode, g.Topics = kerr.NotCoordinator.Code, nil
			case 2:
				g.ErrorCode, g.Topics = kerr.CoordinatorLoadInProgress.Code, nil
			}
			return true
		})
		r := w.run("describe", "-g", "billing").exits(0).never("never committed")
		same(t, "p1", r.line("orders", 1), "orders 1 0 10 900 890 ok")
		asked.Store(0)
		w.run("clamp", "-g", "billing", "--execute").exits(0).prints("1 of 1 verified")
		// For ever: never "no commit", and never a first run.
		w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool {
			g := &r.(*kmsg.OffsetFetchResponse).Groups[0]
			g.ErrorCode, g.Topics = kerr.CoordinatorLoadInProgress.Code, nil
			return true
		})
		w.run("describe", "-g", "billing", "-t", "orders").exits(5).says(`group "billing" could not be read`, "COORDINATOR_LOAD_IN_PROGRESS").never("never committed")
		w.run("clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--execute").exits(5).says("nothing was written")
		same(t, "stored", w.stored("billing", "orders"), "0=100")
	})
	t.Run("CON-11 while committing", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", two...).commit("billing", "orders", 100, 10)
		var asked atomic.Int32
		w.b.Fake.ControlKey(kmsg.OffsetCommit.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
			w.b.Fake.KeepControl()
			if asked.Add(1) > 2 {
				return nil, nil, false
			}
			r := q.ResponseKind().(*kmsg.OffsetCommitResponse)
			for _, topic := range q.(*kmsg.OffsetCommitRequest).Topics {
				a := kmsg.NewOffsetCommitResponseTopic()
				a.Topic, a.TopicID = topic.Topic, topic.TopicID
				for _, p := range topic.Partitions {
					ap := kmsg.NewOffsetCommitResponseTopicPartition()
					ap.Partition, ap.ErrorCode = p.Partition, kerr.NotCoordinator.Code
					a.Partitions = append(a.Partitions, ap)
				}
				r.Topics = append(r.Topics, a)
			}
			return r, nil, true
		})
		w.run("clamp", "-g", "billing", "--execute").exits(0).prints("1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=500 1=10")
	})
	for _, how := range []string{"frozen", "dead"} {
		t.Run("CON-13 "+how, func(t *testing.T) {
			t.Parallel()
			w := startWith(t, kafkatest.Options{}).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900})
			// A group is coordinated by any of the brokers: take one whose coordinator stays.
			group, away := "", int32(-1)
			for i := range 50 {
				g := fmt.Sprint("g", i)
				w.commit(g, "orders", 100, 100, 100)
				if node := w.b.Fake.CoordinatorFor(g); node == 0 {
					group, away = g, 2
					break
				}
			}
			if group == "" {
				t.Fatal("no group is coordinated by broker 0")
			}
			if how == "frozen" {
				w.b.Freeze(away)
			} else {
				w.b.Kill(away)
			}
			r := w.run("describe", "-g", group, "-o", "json").exits(3)
			d := r.describe()
			same(t, "p0", words(d.row(t, "orders", 0).End, d.row(t, "orders", 0).Committed.Expired), "900 400")
			same(t, "p1", words(d.row(t, "orders", 1).End, d.row(t, "orders", 1).Committed.Expired), "900 400")
			row := d.row(t, "orders", 2)
			same(t, "p2", words(row.End, row.Committed.Offset, row.Committed.Lag, row.OK), "null 100 null false")
			if !strings.Contains(row.State, "broker 2") {
				t.Errorf("state = %q", row.State)
			}
			w.run("clamp", "-g", group, "--execute").exits(4).says("orders 2", "nothing was written")
			w.run("clamp", "-g", group, "--execute", "--partial").exits(3).says("orders 2").prints("2 of 2 verified")
			same(t, "committed", w.committed(group, "orders"), "0=500 1=500 2=100")
		})
	}
	t.Run("CON-13 no broker", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", two...).commit("billing", "orders", 100, 10).save("billing", "orders", 100, 10)
		w.b.Freeze(0)
		w.run("describe", "-g", "billing", "--timeout", "1s").exits(5).says("did not answer")
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute", "--timeout", "1s").exits(5)
		same(t, "stored", w.stored("billing", "orders"), "0=100 1=10")
	})
	t.Run("CON-15", func(t *testing.T) {
		t.Parallel()
		w := startWith(t, kafkatest.Options{}).topic("orders", [2]int64{500, 900}, [2]int64{500, 900})
		for i := range 200 {
			w.commit(fmt.Sprintf("g%03d", i), "orders", 100, 600)
		}
		w.b.Reset()
		d := w.run("describe", "--all-groups", "-o", "json").exits(0).describe()
		same(t, "groups", words(len(d.Groups), d.Groups[0].Group, d.Groups[199].Group), "200 g000 g199")
		same(t, "a row", words(d.Groups[100].Partitions[0].Committed.Expired, d.Groups[100].Partitions[1].Committed.Lag), "400 300")
		if n := w.b.Count(); n > 29 {
			t.Errorf("%d requests for 200 groups, want at most 29", n)
		}
		same(t, "list", len(w.run("describe", "-o", "json").exits(0).groups().Groups), 200)
		w.b.Reset()
		p := w.run("clamp", "--all-groups", "--execute", "-o", "json").exits(0).plan()
		same(t, "counts", p.Counts, countsDoc{Write: 200, Keep: 200, Clamped: 200, Written: 200, Verified: 200})
		same(t, "id", p.ID, "20311129T120000Z-clamp-200-groups")
		same(t, "undo", w.run("import", deref(p.Backup), "--execute", "-o", "json").exits(0).plan().Counts, countsDoc{Write: 200, Written: 200, Verified: 200})
		same(t, "committed", w.committed("g123", "orders"), "0=100 1=600")
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
	w.run("clamp", "-g", here, "-g", there, "-t", "orders:0", "--execute").exits(4).says(there)
	w.run("clamp", "-g", here, "-g", there, "-t", "orders:0", "--execute", "--partial").exits(3).says(there)
	same(t, "committed", w.committed(here, "orders")+" "+w.committed(there, "orders"), "0=500 0=100")
	must(t, w.b.Revive(2))
	w.run("clamp", "-g", there, "-t", "orders:0", "--execute").exits(0)
}
