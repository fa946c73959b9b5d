package records_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
	"pgregory.net/rapid"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/records"
	"gtoffset/kafkaops/wire"
)

// copied is a record without its offset.
type copied struct {
	Time       int64
	Key, Value []byte
	Headers    []kmsg.Header
}

func copyOf(r *records.Record) copied {
	c := copied{Time: r.Timestamp, Key: slices.Clone(r.Key), Value: slices.Clone(r.Value)}
	for h := r.Headers(); h.Next(); {
		c.Headers = append(c.Headers, kmsg.Header{Key: string(h.Key), Value: slices.Clone(h.Value)})
	}
	return c
}

// replay copies a chunk to partition 1 of "copy".
func replay(ctx context.Context, p *records.Producer, chunks ...*records.Chunk) (sent []copied, err error) {
	var w records.Walker
	for _, c := range chunks {
		for w.Reset(c); w.Next(); {
			if err := p.Append(ctx, 1, w.Batch().Codec, w.Record()); err != nil {
				return sent, err
			}
			sent = append(sent, copyOf(w.Record()))
		}
		if w.Err() != nil {
			return sent, w.Err()
		}
	}
	return sent, p.Flush(ctx)
}

// all reads partition 1 of "copy", and the codecs of its batches.
func all(t *testing.T, b *kafkatest.Broker) (rs []copied, codecs []records.Codec) {
	t.Helper()
	ctx := within(t)
	end := b.Fake.PartitionInfo("copy", 1).HighWatermark
	r := records.Read(ctx, client(t, b), []records.Range{{Topic: "copy", Partition: 1, Until: end}}, records.Options{})
	defer r.Close()
	var w records.Walker
	for {
		c, err := r.Next(ctx)
		if err == io.EOF {
			return rs, codecs
		}
		must(t, err)
		for w.Reset(c); w.NextBatch(); {
			codecs = append(codecs, w.Batch().Codec)
			for w.NextRecord() {
				rs = append(rs, copyOf(w.Record()))
			}
		}
		must(t, w.Err())
		c.Release()
	}
}

func copies(t *testing.T, o kafkatest.Options) *kafkatest.Broker {
	t.Helper()
	o.Topics = map[string]int32{"copy": 3}
	b := kafkatest.Start(t, o)
	must(t, b.Spread("copy"))
	return b
}

func odd() []rec {
	return []rec{
		{off: 5, time: 1700000000000, key: []byte("k"), value: []byte("v")},
		{off: 8, time: 0, key: nil, value: nil},
		{off: 9, time: -1, key: []byte{}, value: []byte{}},
		{off: 10, time: 5, key: []byte{0xff, 0}, value: []byte(strings.Repeat("long ", 2000))},
		{off: 12, time: 1, value: []byte("h"), headers: []kmsg.Header{{Key: "a", Value: []byte("1")}, {Key: "a", Value: nil}, {Key: "", Value: []byte{}}}},
	}
}

func TestCopyIsFaithful(t *testing.T) {
	t.Parallel()
	b := copies(t, kafkatest.Options{})
	ctx := within(t)
	p := records.Produce(client(t, b), "copy", records.ProducerOptions{})
	defer p.Close()
	var want []copied
	for _, codec := range codecs {
		sent, err := replay(ctx, p, chunk(batch{base: 5, codec: codec, time: 7, rs: odd()}.bytes(t)))
		must(t, err)
		want = append(want, sent...)
	}
	got, found := all(t, b)
	if d := cmp.Diff(got, want); d != "" {
		t.Error(d)
	}
	if !slices.Equal(found, codecs) {
		t.Errorf("codecs %v", found)
	}
}

func TestCopyToOldBrokers(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name    string
		version *kversion.Versions
		produce int16
	}{{"0.11", kversion.V0_11_0(), 3}, {"2.1", kversion.V2_1_0(), 7}, {"2.8", kversion.V2_8_0(), 9}, {"3.9", kversion.V3_9_0(), 11}, {"4.1", kversion.V4_1_0(), 13}} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			b := copies(t, kafkatest.Options{Version: x.version})
			p := records.Produce(client(t, b), "copy", records.ProducerOptions{})
			defer p.Close()
			want, err := replay(within(t), p, chunk(batch{base: 5, codec: records.Gzip, rs: odd()}.bytes(t)))
			must(t, err)
			if got, _ := all(t, b); cmp.Diff(got, want) != "" {
				t.Error(cmp.Diff(got, want))
			}
			for _, q := range b.Requests() {
				if q.Key == wire.Produce && q.Version != x.produce {
					t.Errorf("produce v%d, want v%d", q.Version, x.produce)
				}
			}
		})
	}
}

// many is a chunk of n records.
func many(t *testing.T, n int) *records.Chunk {
	var rs []rec
	for i := range n {
		rs = append(rs, rec{off: int64(100 + i), time: int64(i), value: []byte(fmt.Sprintf("record %d", i))})
	}
	return chunk(batch{base: 100, rs: rs}.bytes(t))
}

// Whatever happens on the way, every record is written once, and in order.
func TestCopySurvives(t *testing.T) {
	t.Parallel()
	hangUp := func(_ *testing.T, b *kafkatest.Broker) {
		var mu sync.Mutex
		n := 0
		b.Rewrite(wire.Produce, func(int32, kmsg.Response) bool { // the batch was stored, and nobody is told
			mu.Lock()
			defer mu.Unlock()
			n++
			return n%3 != 0
		})
	}
	fault := func(e *kerr.Error, times int) func(*testing.T, *kafkatest.Broker) {
		return func(_ *testing.T, b *kafkatest.Broker) {
			b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "copy", Err: e, Count: times})
		}
	}
	for _, x := range []struct {
		name    string
		trouble func(t *testing.T, b *kafkatest.Broker)
	}{
		{"nothing", func(*testing.T, *kafkatest.Broker) {}},
		{"answers that are lost", hangUp},
		{"the leader has moved", func(t *testing.T, b *kafkatest.Broker) {
			time.AfterFunc(5*time.Millisecond, func() { must(t, b.Fake.MoveTopicPartition("copy", 1, 2)) })
		}},
		{"NOT_LEADER", fault(kerr.NotLeaderForPartition, 2)},
		{"NOT_ENOUGH_REPLICAS", fault(kerr.NotEnoughReplicas, 2)},
		{"REQUEST_TIMED_OUT", fault(kerr.RequestTimedOut, 1)},
		{"DUPLICATE_SEQUENCE_NUMBER is a yes", func(_ *testing.T, b *kafkatest.Broker) {
			var once sync.Once
			b.Rewrite(wire.Produce, func(_ int32, r kmsg.Response) bool {
				once.Do(func() {
					r.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode = kerr.DuplicateSequenceNumber.Code
				})
				return true
			})
		}},
		{"UNKNOWN_PRODUCER_ID, retention has taken all", fault(kerr.UnknownProducerID, 1)},
		{"no producer id at first", func(_ *testing.T, b *kafkatest.Broker) {
			b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.InitProducerID}, TopLevel: true, Err: kerr.CoordinatorLoadInProgress, Count: 2})
		}},
		{"batches that are too large for the broker", fault(kerr.MessageTooLarge, 3)},
		{"a broker that dies and comes back", func(t *testing.T, b *kafkatest.Broker) {
			b.Kill(1)
			time.AfterFunc(200*time.Millisecond, func() { must(t, b.Revive(1)) })
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			b := copies(t, kafkatest.Options{})
			x.trouble(t, b)
			p := records.Produce(client(t, b), "copy", records.ProducerOptions{BatchBytes: 2000, Memory: 10_000})
			defer p.Close()
			want, err := replay(within(t), p, many(t, 2000))
			must(t, err)
			got, _ := all(t, b)
			if len(got) != len(want) || cmp.Diff(got, want) != "" {
				t.Errorf("%d records written, %d copied: %s", len(got), len(want), cmp.Diff(got, want))
			}
		})
	}
}

func TestCopyFails(t *testing.T) {
	t.Parallel()
	fault := func(e *kerr.Error) func(*testing.T, *kafkatest.Broker) {
		return func(_ *testing.T, b *kafkatest.Broker) {
			b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "copy", Err: e, Count: -1})
		}
	}
	for _, x := range []struct {
		name    string
		trouble func(*testing.T, *kafkatest.Broker)
		check   func(*records.WriteError) bool
		want    string
	}{
		{"a record too large by itself", fault(kerr.MessageTooLarge), func(e *records.WriteError) bool { return e.Code == 10 && e.Source == e.Last && e.Source == 100 }, "the record from source offset 100 to partition 1"},
		{"not allowed", fault(kerr.TopicAuthorizationFailed), func(e *records.WriteError) bool { return e.Denied && !e.Unknown }, "not allowed: WRITE on topic copy is missing"},
		{"timestamp", fault(kerr.InvalidTimestamp), func(e *records.WriteError) bool { return e.Code == 32 && e.Source == 100 && e.Last > 100 }, "the records from source offsets 100 to"},
		{"a record that is named", func(_ *testing.T, b *kafkatest.Broker) {
			b.Rewrite(wire.Produce, func(_ int32, r kmsg.Response) bool {
				x := &r.(*kmsg.ProduceResponse).Topics[0].Partitions[0]
				bad := kmsg.NewProduceResponseTopicPartitionErrorRecord()
				bad.RelativeOffset, bad.ErrorMessage = 3, kmsg.StringPtr("it has no key")
				x.ErrorCode, x.ErrorRecords = kerr.InvalidRecord.Code, append(x.ErrorRecords, bad)
				return true
			})
		}, func(e *records.WriteError) bool { return e.Source == 103 && e.Last == 103 }, "the record from source offset 103 to partition 1 of topic \"copy\": the broker does not accept a record (INVALID_RECORD): it has no key"},
		{"what was acknowledged is gone", fault(kerr.OutOfOrderSequenceNumber), func(e *records.WriteError) bool { return e.Code == 45 && !e.Unknown }, "records that were acknowledged are lost"},
		{"too few replicas for too long", fault(kerr.NotEnoughReplicas), func(e *records.WriteError) bool { return !e.Unknown && e.Err != nil }, "NOT_ENOUGH_REPLICAS"},
		{"no answer for too long", func(_ *testing.T, b *kafkatest.Broker) {
			b.Rewrite(wire.Produce, func(int32, kmsg.Response) bool { return false })
		}, func(e *records.WriteError) bool { return e.Unknown && e.Err != nil }, "whether they were written is unknown"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			b := copies(t, kafkatest.Options{})
			x.trouble(t, b)
			p := records.Produce(client(t, b), "copy", records.ProducerOptions{BatchBytes: 2000, Patience: 300 * time.Millisecond})
			defer p.Close()
			_, err := replay(within(t), p, many(t, 50))
			var e *records.WriteError
			if !errors.As(err, &e) || !x.check(e) || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%v", err)
			}
			if again := p.Flush(within(t)); again != err {
				t.Errorf("then %v", again)
			}
		})
	}
}

func TestCopyToARecreatedTopic(t *testing.T) {
	t.Parallel()
	b := copies(t, kafkatest.Options{})
	p := records.Produce(client(t, b), "copy", records.ProducerOptions{})
	defer p.Close()
	_, err := replay(within(t), p, many(t, 10))
	must(t, err)
	must(t, b.Recreate("copy"))
	_, err = replay(within(t), p, many(t, 10))
	var e *records.GoneError
	if !errors.As(err, &e) || e.Topic != "copy" || e.Now != b.TopicID("copy") || e.ID == e.Now {
		t.Errorf("%v", err)
	}
}

// What a producer writes is what kgo reads, also if somebody gives up waiting in between.
func TestCopyIsReadByOthers(t *testing.T) {
	t.Parallel()
	b := copies(t, kafkatest.Options{})
	p := records.Produce(client(t, b), "copy", records.ProducerOptions{})
	defer p.Close()
	b.Freeze(1)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := replay(ctx, p, chunk(batch{base: 5, codec: records.Snappy, rs: odd()}.bytes(t))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	b.Thaw(1)
	must(t, p.Flush(within(t)))
	c, err := kgo.NewClient(kgo.SeedBrokers(b.Addrs()...), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"copy": {1: kgo.NewOffset().AtStart()}}))
	must(t, err)
	defer c.Close()
	var got []copied
	for len(got) < len(odd()) {
		fs := c.PollFetches(within(t))
		must(t, fs.Err0())
		fs.EachRecord(func(r *kgo.Record) {
			x := copied{Time: r.Timestamp.UnixMilli(), Key: r.Key, Value: r.Value}
			for _, h := range r.Headers {
				x.Headers = append(x.Headers, kmsg.Header{Key: h.Key, Value: h.Value})
			}
			got = append(got, x)
		})
	}
	for i, r := range odd() {
		if d := cmp.Diff(got[i], copied{r.time, r.key, r.value, r.headers}); d != "" {
			t.Error(d)
		}
	}
}

// Any records survive being built into a batch and walked again, and so do copies of copies.
func TestBuildAndWalk(t *testing.T) {
	t.Parallel()
	b := copies(t, kafkatest.Options{Brokers: 1})
	c := client(t, b)
	var want []copied
	blob := rapid.OneOf(rapid.Just([]byte(nil)), rapid.SliceOfN(rapid.Byte(), 0, 20))
	rapid.Check(t, func(rt *rapid.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		p := records.Produce(c, "copy", records.ProducerOptions{BatchBytes: rapid.IntRange(1, 300).Draw(rt, "batch")})
		defer p.Close()
		n := rapid.IntRange(1, 12).Draw(rt, "records")
		var rs []rec
		for i := range n {
			r := rec{off: int64(i), time: rapid.Int64Range(-1, 1<<42).Draw(rt, "time"), key: blob.Draw(rt, "key"), value: blob.Draw(rt, "value")}
			for range rapid.IntRange(0, 3).Draw(rt, "headers") {
				r.headers = append(r.headers, kmsg.Header{Key: rapid.StringN(0, 5, 10).Draw(rt, "name"), Value: blob.Draw(rt, "header")})
			}
			rs = append(rs, r)
		}
		codec := rapid.SampledFrom(codecs).Draw(rt, "codec")
		sent, err := replay(ctx, p, chunk(batch{codec: codec, time: rs[0].time, rs: rs}.bytes(t)))
		if err != nil {
			rt.Fatal(err)
		}
		for i, r := range rs {
			if d := cmp.Diff(sent[i], copied{r.time, r.key, r.value, r.headers}); d != "" {
				rt.Fatal(d)
			}
		}
		want = append(want, sent...)
	})
	if got, _ := all(t, b); cmp.Diff(got, want) != "" {
		t.Error(cmp.Diff(got, want))
	}
}
