package kafkaops_test

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/offsets"
)

func TestRangesKeepEveryPartition(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	for _, topic := range []string{"orders", "secret", "again"} {
		must(t, b.CreateTopic(topic, 4))
	}
	must(t, b.SetRange("orders", 1, 10, 100))
	b.NoLeader("orders", 2)
	b.DenyTopic("secret")
	b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Topic: "orders", Partitions: []int32{3}, Err: kerr.KafkaStorageError, Count: -1})
	c := connect(t, b, 0)
	r, err := c.Ranges(within(t), []string{"orders", "secret", "again", "none"}, true)
	must(t, err)
	if x := r.Range(key("orders", 1)); x.State != offsets.RangeKnown || x.Earliest != 10 || x.End != 100 || x.Stable != 100 || x.Leader != 1 {
		t.Errorf("known: %+v", x)
	}
	if x := r.Range(key("orders", 2)); x.Known() || x.Reason != "no leader" || x.Leader != offsets.None || x.Gone() {
		t.Errorf("without leader: %+v", x)
	}
	again, err := c.Remeasure(within(t), []offsets.Key{key("orders", 2)}, false)
	must(t, err)
	if x := again[key("orders", 2)]; x.Known() || x.Reason != "no leader" {
		t.Errorf("without leader, again: %+v", x)
	}
	if x := r.Range(key("orders", 3)); x.Known() || !strings.Contains(x.Reason, "disk") {
		t.Errorf("failing: %+v", x)
	}
	if x := r.Range(key("orders", 4)); x.State != offsets.PartitionGone {
		t.Errorf("beyond the last partition: %+v", x)
	}
	if x := r.Range(key("none", 0)); x.State != offsets.TopicGone || !r.Topics["none"].Gone {
		t.Errorf("unknown topic: %+v", x)
	}
	if x := r.Range(key("secret", 0)); x.Known() || !x.Denied || !strings.Contains(x.Reason, "DESCRIBE on topic secret") {
		t.Errorf("denied: %+v", x)
	}
	if n := len(r.Topics); n != 4 || len(r.Topics["orders"].Ranges) != 4 {
		t.Errorf("%d topics, orders %+v", n, r.Topics["orders"])
	}
}

func TestLeaderMoves(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	must(t, b.CreateTopic("orders", 6))
	must(t, b.SetRange("orders", 0, 3, 9))
	c := connect(t, b, 0)
	_, err := c.Ranges(within(t), []string{"orders"}, false)
	must(t, err)
	must(t, b.Fake.MoveTopicPartition("orders", 0, 2))
	b.Reset()
	keys := []offsets.Key{key("orders", 0), key("orders", 1), key("orders", 0), key("orders", 77)}
	r, err := c.Remeasure(within(t), keys, false)
	must(t, err)
	if x := r[key("orders", 0)]; !x.Known() || x.Earliest != 3 || x.End != 9 || x.Leader != 2 || x.Epoch < 1 {
		t.Errorf("moved: %+v", x)
	}
	if x := r[key("orders", 1)]; !x.Known() {
		t.Errorf("other: %+v", x)
	}
	if x := r[key("orders", 77)]; x.State != offsets.PartitionGone {
		t.Errorf("no such partition: %+v", x)
	}
	b.Reset()
	r, err = c.Remeasure(within(t), keys[:2], true)
	must(t, err)
	if x := r[key("orders", 0)]; !x.Known() || x.Stable != 9 || b.Count(kmsg.Metadata.Int16()) != 0 || b.Count() != 6 {
		t.Errorf("again: %+v with %d requests", x, b.Count())
	}
	id := b.TopicID("orders")
	must(t, b.Recreate("orders"))
	r, err = c.Remeasure(within(t), keys[:2], true)
	must(t, err)
	if x := r[key("orders", 0)]; x.Known() && x.TopicID == id && x.End == 9 {
		t.Errorf("recreated: %+v", x)
	}
	must(t, b.Fake.DeleteTopic("orders"))
	r, err = c.Remeasure(within(t), keys[:2], false)
	must(t, err)
	if x := r[key("orders", 0)]; x.State != offsets.TopicGone {
		t.Errorf("deleted: %+v", x)
	}
}

func TestRangesOfOldBrokers(t *testing.T) {
	for name, v := range map[string]*kversion.Versions{"2.8": kversion.V2_8_0(), "2.4": kversion.V2_4_0(), "1.1": kversion.V1_1_0(), "0.11": kversion.V0_11_0()} {
		b := kafkatest.Start(t, kafkatest.Options{Version: v})
		must(t, b.CreateTopic("orders", 3))
		must(t, b.SetRange("orders", 0, 3, 9))
		r, err := connect(t, b, 0).Ranges(within(t), []string{"orders"}, true)
		must(t, err)
		x := r.Range(key("orders", 0))
		if !x.Known() || x.Earliest != 3 || x.End != 9 || x.Stable != 9 || (x.TopicID != "") != (name == "2.8") {
			t.Errorf("%s: %+v", name, x)
		}
	}
}

func TestHundredThousandPartitions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes memory and a second")
	}
	b := kafkatest.Start(t, kafkatest.Options{})
	topics := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	for _, name := range topics {
		must(t, b.Fake.CreateTopic(name, 10_000, nil))
	}
	c := connect(t, b, 30*time.Second) // the fake is slow with so many, and slower with -race
	r, err := c.Ranges(within(t), topics, false)
	must(t, err)
	for _, name := range topics {
		for p := range int32(10_000) {
			if x := r.Range(key(name, p)); !x.Known() {
				t.Fatalf("%s/%d: %+v", name, p, x)
			}
		}
	}
	if b.Count(kmsg.ListOffsets.Int16()) != 6 {
		t.Errorf("%d ListOffsets", b.Count(kmsg.ListOffsets.Int16()))
	}
}
