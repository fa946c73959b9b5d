package kafkaops_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/offsets"
)

func TestTimes(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	must(t, b.CreateTopic("orders", 4))
	before := time.Now().Add(-time.Minute)
	must(t, b.Produce("orders", 1, "a", "b", "c"))
	b.NoLeader("orders", 2)
	c := connect(t, b, 0)
	keys := []offsets.Key{key("orders", 0), key("orders", 1), key("orders", 2), key("orders", 9), key("none", 0)}
	for range 2 { // the second time the leaders are known
		got, err := c.Times(within(t), keys, before)
		must(t, err)
		if len(got) != len(keys) || got[keys[0]] != (offsets.Found{Offset: offsets.None}) || got[keys[1]] != (offsets.Found{}) {
			t.Errorf("got %+v", got)
		}
		for i, want := range map[int]string{2: "no leader", 3: "the partition no longer exists", 4: "the topic no longer exists"} {
			if got[keys[i]].Reason != want || got[keys[i]].Offset != offsets.None {
				t.Errorf("%v: %+v", keys[i], got[keys[i]])
			}
		}
	}
	got, err := c.Times(within(t), keys[1:2], time.Now().Add(time.Hour))
	must(t, err)
	if got[keys[1]] != (offsets.Found{Offset: offsets.None}) {
		t.Errorf("in the future: %+v", got)
	}
}

func TestEpochEnds(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	must(t, b.CreateTopic("orders", 1))
	k := key("orders", 0)
	first := b.Fake.PartitionInfo("orders", 0).Epoch
	must(t, b.Produce("orders", 0, "a", "b", "c"))
	must(t, b.Fake.MoveTopicPartition("orders", 0, 2))
	must(t, b.Produce("orders", 0, "d", "e"))
	c := connect(t, b, 0)
	want := map[offsets.KeyEpoch]offsets.EpochEnd{
		{Key: k, Epoch: first}:      {Epoch: first, End: 3},
		{Key: k, Epoch: first + 1}:  {Epoch: first + 1, End: 5},
		{Key: k, Epoch: first + 70}: {Epoch: offsets.None, End: offsets.None},
		{Key: key("orders", 7)}:     {Epoch: offsets.None, End: offsets.None, Reason: "the partition no longer exists"},
	}
	b.Reset()
	got, err := c.EpochEnds(within(t), map[offsets.Key][]int32{k: {first, first + 1, first + 70}, key("orders", 7): {0}})
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
	if n := b.Count(kmsg.OffsetForLeaderEpoch.Int16()); n != 3 {
		t.Errorf("%d requests for three epochs of a partition, want 3", n)
	}
	old := kafkatest.Start(t, kafkatest.Options{Version: kversion.V1_1_0(), Topics: map[string]int32{"orders": 1}})
	got, err = connect(t, old, 0).EpochEnds(within(t), map[offsets.Key][]int32{k: {0}})
	must(t, err)
	if e := got[offsets.KeyEpoch{Key: k}]; e.Reason == "" || e.End != offsets.None || !e.Unsupported {
		t.Errorf("on an old broker: %+v", got)
	}
}
