package cmd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/kafkatest"
)

// moved is a topic whose first partition has changed its leader after 20 records, and has 40 now; its second has not. It returns
// the first partition's epochs before and after.
func (w *world) moved(topic string) (before, after int32) {
	w.t.Helper()
	w.topic(topic, [2]int64{0, 20}, [2]int64{0, 40})
	before = w.b.Fake.PartitionInfo(topic, 0).Epoch
	must(w.t, w.b.Fake.MoveTopicPartition(topic, 0, 1))
	w.grow(topic, [2]int64{0, 40})
	return before, w.b.Fake.PartitionInfo(topic, 0).Epoch
}

func TestStaleEpoch(t *testing.T) {
	w := startWith(t, kafkatest.Options{Brokers: 3})
	before, after := w.moved("orders")
	if after == before {
		t.Fatal("the leader has not changed")
	}
	still := w.b.Fake.PartitionInfo("orders", 1).Epoch
	asked := func() int { return w.b.Count(kmsg.OffsetForLeaderEpoch.Int16()) }

	must(t, w.b.Commit("fine", "orders", 0, 30, after, ""))
	must(t, w.b.Commit("fine", "orders", 1, 30, still, ""))
	w.run("describe", "-g", "fine", "--check").exits(0)
	same(t, "questions about current epochs", asked(), 0)

	must(t, w.b.Commit("billing", "orders", 0, 20, before, ""))
	must(t, w.b.Commit("billing", "orders", 1, 30, still, ""))
	w.run("describe", "-g", "billing", "--check").exits(0)
	same(t, "questions about one old epoch", asked(), 1)

	must(t, w.b.Commit("billing", "orders", 0, 35, before, "a note"))
	must(t, w.b.Commit("waiting", "orders", 0, 35, after+7, ""))
	w.b.Reset()
	r := w.run("describe", "-g", "billing", "--check").exits(10).prints(
		"committed stale: a consumer jumps back to 20, where leader epoch "+fmt.Sprint(before)+" ended",
		"repeats up to 15", "1 partition jumps back first", "hint: to go on where the offsets say")
	r.says("check: 1 partition not ok")
	same(t, "questions about a stale epoch", asked(), 1)
	w.run("describe", "-g", "waiting", "--check").exits(10).prints("committed stale: a consumer waits for ever, as leader epoch "+fmt.Sprint(after+7)+" does not exist", "waits for ever")

	w.b.Reset()
	doc := w.run("describe", "--all-groups", "-o", "json").exits(0).describe()
	same(t, "questions about two stale epochs of a partition", asked(), 2)
	p := doc.Groups[0].Partitions[0]
	same(t, "stale, jumps to, ok", fmt.Sprint(p.Committed.Stale, p.Committed.JumpsTo, p.OK), "true 20 false")
	p = doc.Groups[2].Partitions[0]
	same(t, "stale, jumps to, ok", fmt.Sprint(p.Committed.Stale, p.Committed.JumpsTo, p.OK), "true null false")
	same(t, "group that is fine", doc.Groups[1].Partitions[0].OK, true)

	// it is in range, so that clamp leaves it, but not without a word
	w.run("clamp", "-g", "billing", "--committed", "--execute").exits(0).prints("1 is in range and stays", "orders 0 stays: in range, but stale: a consumer jumps back to 20", "reset --to-current drops the epoch")
	w.run("clamp", "-g", "waiting", "--committed", "--execute").exits(0).prints("orders 0 stays: in range, but stale: a consumer waits for ever")

	// the hint, as it stands, mends it
	_, hint, _ := strings.Cut(r.out, "leader epochs: gtoffset ")
	line, _, _ := strings.Cut(hint, "\n")
	w.run(append(strings.Fields(line), "--execute")...).exits(0).prints("with a clean leader epoch")
	c, _ := w.b.Committed("billing", "orders", 0)
	same(t, "committed", fmt.Sprint(c.Offset, c.LeaderEpoch, c.Metadata), "35 -1a note")
	w.run("describe", "-g", "billing", "--check").exits(0)
}

func TestStaleEpochOfAStore(t *testing.T) {
	w := startWith(t, kafkatest.Options{Brokers: 3})
	before, _ := w.moved("orders")
	w.put("billing", "orders", fmt.Sprintf("# gtoffset 1\n# group billing\n# topic orders\n0 35 epoch=%d\n1 30\n# entries 2\n", before))
	w.commit("billing", "orders", 35, 30)
	r := w.run("describe", "-g", "billing", "-s", w.store, "--check").exits(10).prints("stored stale: a consumer jumps back to 20")
	_, hint, _ := strings.Cut(r.out, "leader epochs: gtoffset ")
	line, _, _ := strings.Cut(hint, "\n")
	w.run(append(strings.Fields(line), "--execute")...).exits(0).prints("with a clean leader epoch")
	same(t, "stored", w.stored("billing", "orders"), "0=35 1=30")
	w.run("describe", "-g", "billing", "-s", w.store, "--check").exits(0)
}
