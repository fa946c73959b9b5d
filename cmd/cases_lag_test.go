package cmd_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Every case of LAG: the arithmetic.
func TestLagCases(t *testing.T) {
	t.Parallel()
	t.Run("LAG-1 a transaction's marker", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 101}).commit("billing", "orders", 100)
		r := w.run("describe", "-g", "billing").exits(0).prints("lag 1", "marker")
		same(t, "line", r.line("orders", 0), "orders 0 0 100 101 1 ok")
		w.run("clamp", "-g", "billing", "--check").exits(0).prints("Nothing to do")
	})
	t.Run("LAG-1 which end", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 101}).commit("billing", "orders", 100)
		w.b.Rewrite(kmsg.ListOffsets.Int16(), func(_ int32, r kmsg.Response) bool { return true })
		d := w.run("describe", "-g", "billing", "--isolation", "read_committed", "-o", "json").exits(0)
		if !strings.Contains(d.out, `"isolation":"read_committed"`) || !strings.Contains(d.out, `"stable":101`) {
			t.Errorf("the end is not told: %v", d)
		}
		w.run("describe", "-g", "billing", "--isolation", "read_committed").exits(0).prints("last stable offset (read_committed)")
		if r := w.run("describe", "-g", "billing", "-o", "json"); !strings.Contains(r.out, `"isolation":"read_uncommitted"`) {
			t.Errorf("the end is not told: %v", r)
		}
		w.run("clamp", "-g", "billing", "--isolation", "read_committed", "--execute").exits(2)
	})
	t.Run("LAG-1 an open transaction", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 120}, [2]int64{0, 120}).commit("billing", "orders", 100, 115)
		w.b.Fake.ControlKey(kmsg.ListOffsets.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
			w.b.Fake.KeepControl()
			l := q.(*kmsg.ListOffsetsRequest)
			if l.IsolationLevel != 1 {
				return nil, nil, false
			}
			r := l.ResponseKind().(*kmsg.ListOffsetsResponse)
			for _, topic := range l.Topics {
				a := kmsg.NewListOffsetsResponseTopic()
				a.Topic = topic.Topic
				for _, p := range topic.Partitions {
					ap := kmsg.NewListOffsetsResponseTopicPartition()
					ap.Partition, ap.Offset = p.Partition, 110
					a.Partitions = append(a.Partitions, ap)
				}
				r.Topics = append(r.Topics, a)
			}
			return r, nil, true
		})
		d := w.run("describe", "-g", "billing", "--isolation", "read_committed", "-o", "json", "--check").exits(0).describe()
		same(t, "p0", words(d.row(t, "orders", 0).Stable, d.row(t, "orders", 0).Committed.Lag), "110 10")
		// Beyond the last stable offset, but not beyond the end: neither negative nor high.
		same(t, "p1", words(d.row(t, "orders", 1).Committed.Lag, d.row(t, "orders", 1).Committed.Condition), "0 ok")
	})
	t.Run("LAG-3 an end older than the commit", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 1030}).commit("billing", "orders", 1030)
		again := w.stale(1000)
		w.b.Reset()
		r := w.run("describe", "-g", "billing").exits(0)
		same(t, "line", r.line("orders", 0), "orders 0 0 1030 1030 0 ok")
		fetched, listed := -1, -1
		for i, q := range w.b.Requests() {
			if q.Key == kmsg.OffsetFetch.Int16() && fetched < 0 {
				fetched = i
			}
			if q.Key == kmsg.ListOffsets.Int16() && listed < 0 {
				listed = i
			}
		}
		if fetched < 0 || listed < fetched {
			t.Errorf("commits were read at %d, ends at %d", fetched, listed)
		}
		again()
		w.run("clamp", "-g", "billing", "--execute").exits(0).prints("Nothing to do")
	})
	t.Run("LAG-4 ahead of a mirrored topic", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 136}).commit("billing", "orders", 144)
		r := w.run("describe", "-g", "billing").exits(0)
		same(t, "line", r.line("orders", 0), "orders 0 0 144 136 0 committed high: 8 ahead")
		c := w.run("describe", "-g", "billing", "-o", "json").exits(0).describe().row(t, "orders", 0).Committed
		same(t, "committed", words(c.Condition, c.Lag, c.Ahead, c.Expired), "high 0 8 0")
		for _, format := range []string{"json", "csv", "yaml"} {
			if out := w.run("describe", "-g", "billing", "-o", format).out; strings.Contains(out, "-8") {
				t.Errorf("a negative number in %s: %s", format, out)
			}
		}
	})
	t.Run("LAG-5 a compacted topic", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 200}).commit("billing", "orders", 10).save("billing", "orders", 10)
		same(t, "line", w.run("describe", "-g", "billing").exits(0).line("orders", 0), "orders 0 0 10 200 190 ok")
		w.run("describe", "--help").exits(0).prints("distance", "not a count")
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--check").exits(0)
	})
	t.Run("LAG-8 the stored offset is the next to read", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 42}, [2]int64{0, 42}).save("billing", "orders", 42, 41)
		d := w.run("describe", "-g", "billing", "-s", w.store, "-o", "json").exits(0).describe()
		same(t, "42", words(d.row(t, "orders", 0).Stored.Lag, d.row(t, "orders", 0).Stored.Condition), "0 ok")
		same(t, "41", words(d.row(t, "orders", 1).Stored.Lag, d.row(t, "orders", 1).Stored.Condition), "1 ok")
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--check").exits(0)
	})
	t.Run("LAG-9 a sum leaves out what is unknown", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 20}, [2]int64{0, 20}, [2]int64{0, 20}).commit("billing", "orders", 10)
		w.run("describe", "-g", "billing").exits(0).prints("lag 10, without 2 partitions that have no offset")
		d := w.run("describe", "-g", "billing", "-o", "json").exits(0).describe()
		same(t, "totals", words(d.Groups[0].Totals.Partitions, d.Groups[0].Totals.Lag, d.Groups[0].Totals.LagUncounted), "3 10 2")
	})
	t.Run("keyed by group, topic and partition", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("a", [2]int64{0, 20}, [2]int64{0, 30}).topic("b", [2]int64{0, 40}).commit("g1", "a", 1, 2).commit("g1", "b", 3).commit("g2", "a", 4, 5).commit("g2", "b", 6)
		d := w.run("describe", "--all-groups", "-o", "json").exits(0).describe()
		got := ""
		for _, g := range d.Groups {
			for _, r := range g.Partitions {
				got += words(g.Group, r.Topic, r.Partition, r.Committed.Lag) + "; "
			}
		}
		same(t, "rows", got, "g1 a 0 19; g1 a 1 28; g1 b 0 37; g2 a 0 16; g2 a 1 25; g2 b 0 34; ")
	})
	t.Run("checks", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 1000}, [2]int64{0, 1000}).commit("billing", "orders", 900, 600).save("billing", "orders", 900, 500)
		d := w.run("describe", "-g", "billing", "-s", w.store, "--max-lag", "399", "--max-unprocessed", "99", "-o", "json").exits(10).describe()
		for i, want := range []string{"max-lag true orders 1 400", "max-unprocessed true orders 1 100"} {
			c := d.Checks[i]
			same(t, "check", words(c.Check, c.Failed, c.Worst.Topic, c.Worst.Partition, c.Worst.Value), want)
		}
		w.run("describe", "-g", "billing", "-s", w.store, "--max-lag", "400", "--max-unprocessed", "100", "--check").exits(0)
		w.save("billing", "orders", 5000, 600)
		w.run("describe", "-g", "billing", "-s", w.store, "--max-unprocessed", "5000").exits(10).says("orders 0", "stored high: 4000 ahead")
	})
}
