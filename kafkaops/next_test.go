package kafkaops_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/offsets"
)

func TestNextRecords(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	must(t, b.CreateTopic("orders", 6))
	at := func(minute int) time.Time { return time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC) }
	for p := range int32(6) {
		must(t, b.ProduceAt("orders", p, at(1), at(2), at(3)))
	}
	b.NoLeader("orders", 5)
	ask := func(p int32, o int64) offsets.KeyOffset {
		return offsets.KeyOffset{Key: key("orders", p), Offset: o}
	}
	c := connect(t, b, 0)
	b.Reset()
	got, err := c.NextRecords(within(t), []offsets.KeyOffset{ask(0, 0), ask(0, 2), ask(1, 1), ask(2, 3), ask(3, 9), ask(5, 0), {Key: key("none", 0)}})
	must(t, err)
	for k, want := range map[offsets.KeyOffset]string{
		ask(0, 0):             "0 03:01 03:01 ",
		ask(0, 2):             "2 03:03 03:03 ",
		ask(1, 1):             "1 03:02 03:02 ",
		ask(2, 3):             "-1 00:00 00:00 ",
		ask(3, 9):             "-1 00:00 00:00 the offset is not in the partition",
		ask(5, 0):             "-1 00:00 00:00 no leader",
		{Key: key("none", 0)}: "-1 00:00 00:00 the topic no longer exists",
	} {
		n, ok := got[k]
		said := fmt.Sprintf("%d %s %s %s", n.Offset, n.Time.UTC().Format("15:04"), n.Newest.UTC().Format("15:04"), n.Reason)
		if !ok || !strings.HasPrefix(said, want) {
			t.Errorf("%v: got %q, want %q", k, said, want)
		}
	}
	if n := b.Count(kmsg.Fetch.Int16()); n != 4 { // each of three leaders once, and one for a second offset of a partition
		t.Errorf("%d fetches, want 4", n)
	}
}

func TestNextRecordOfALargeBatch(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Brokers: 1})
	must(t, b.CreateTopic("orders", 12))
	producer, err := kgo.NewClient(kgo.SeedBrokers(b.Addrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.DisableClientMetrics())
	must(t, err)
	defer producer.Close()
	var rs []*kgo.Record
	var ask []offsets.KeyOffset
	for p := range int32(12) {
		for range 2 {
			rs = append(rs, &kgo.Record{Topic: "orders", Partition: p, Value: make([]byte, 900_000)})
		}
		ask = append(ask, offsets.KeyOffset{Key: key("orders", p), Offset: 1})
	}
	must(t, producer.ProduceSync(context.Background(), rs...).FirstErr())
	got, err := connect(t, b, 0).NextRecords(within(t), ask)
	must(t, err)
	for _, k := range ask {
		if n := got[k]; n.Offset != 1 || n.Reason != "" {
			t.Errorf("%v: %+v", k, n)
		}
	}
}

func TestNextRecordPassesMarkers(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Brokers: 1, Topics: map[string]int32{"orders": 1}})
	producer, err := kgo.NewClient(kgo.SeedBrokers(b.Addrs()...), kgo.TransactionalID("tx"), kgo.DisableClientMetrics())
	must(t, err)
	defer producer.Close()
	for range 2 {
		must(t, producer.BeginTransaction())
		must(t, producer.ProduceSync(context.Background(), &kgo.Record{Topic: "orders", Value: []byte("x")}).FirstErr())
		must(t, producer.EndTransaction(context.Background(), kgo.TryCommit))
	}
	k := key("orders", 0)
	got, err := connect(t, b, 0).NextRecords(within(t), []offsets.KeyOffset{{Key: k, Offset: 1}, {Key: k, Offset: 3}})
	must(t, err)
	if n := got[offsets.KeyOffset{Key: k, Offset: 1}]; n.Offset != 2 {
		t.Errorf("behind a marker: %+v, want offset 2", n)
	}
	if n := got[offsets.KeyOffset{Key: k, Offset: 3}]; n.Offset != offsets.None || n.Reason != "" {
		t.Errorf("only a marker is left: %+v, want none", n)
	}
}

func TestRetention(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Topics: map[string]int32{"plain": 1, "secret": 1}})
	must(t, b.Fake.CreateTopic("short", 1, map[string]string{"retention.ms": "60000", "retention.bytes": "1000", "cleanup.policy": "compact,delete"}))
	c := connect(t, b, 0)
	b.Rewrite(kmsg.DescribeConfigs.Int16(), func(_ int32, r kmsg.Response) bool {
		for i, t := range r.(*kmsg.DescribeConfigsResponse).Resources {
			if t.ResourceName == "secret" {
				r.(*kmsg.DescribeConfigsResponse).Resources[i].ErrorCode = kerr.TopicAuthorizationFailed.Code
			}
		}
		return true
	})
	got := c.Retention(within(t), []string{"plain", "short", "secret", "none"})
	if r := got["short"]; r != (offsets.Retention{Policy: "compact,delete", Millis: 60000, Bytes: 1000, LocalMillis: offsets.Unbounded}) {
		t.Errorf("short: %+v", r)
	}
	if r := got["plain"]; r.Reason != "" || r.Policy != "delete" || r.Millis != 604800000 || r.Bytes != offsets.Unbounded {
		t.Errorf("plain: %+v", r)
	}
	if got["none"].Reason == "" || !strings.Contains(got["secret"].Reason, "DESCRIBE_CONFIGS on topic secret") {
		t.Errorf("none: %+v, secret: %+v", got["none"], got["secret"])
	}
	kept := c.CommitRetention(within(t), []int32{0, 2, 9})
	if kept[0] != 7*24*time.Hour || kept[2] != kept[0] || kept[9] != 0 || len(kept) != 3 {
		t.Errorf("commits are kept %v", kept)
	}
}
