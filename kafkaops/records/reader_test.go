package records_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/records"
	"gtoffset/kafkaops/wire"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func client(t *testing.T, b *kafkatest.Broker) *wire.Client {
	t.Helper()
	c := wire.New(b.Addrs(), wire.Config{})
	t.Cleanup(c.Close)
	return c
}

// within bounds a test's reading. It is far more than it takes.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// reading is what was read, by partition.
type reading struct {
	mu       sync.Mutex
	offsets  map[int32][]int64
	values   map[int32][]string
	position map[int32]int64
}

// take walks one chunk and releases it.
func (g *reading) take(w *records.Walker, c *records.Chunk) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at, ok := g.position[c.Partition]; ok && at != c.From {
		return fmt.Errorf("partition %d goes on at %d, and the chunk before ended at %d", c.Partition, c.From, at)
	}
	for w.Reset(c); w.Next(); {
		g.offsets[c.Partition] = append(g.offsets[c.Partition], w.Record().Offset)
		g.values[c.Partition] = append(g.values[c.Partition], string(w.Record().Value))
	}
	if w.Err() == nil && w.Position() != c.Next {
		return fmt.Errorf("position %d at the end of a chunk that goes to %d", w.Position(), c.Next)
	}
	g.position[c.Partition] = w.Position()
	c.Release()
	return w.Err()
}

// drain reads to the end, with several goroutines.
func drain(ctx context.Context, r *records.Reader, goroutines int) (*reading, error) {
	g := &reading{offsets: map[int32][]int64{}, values: map[int32][]string{}, position: map[int32]int64{}}
	errs := make([]error, goroutines)
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			var w records.Walker
			for errs[i] == nil {
				var c *records.Chunk
				if c, errs[i] = r.Next(ctx); errs[i] == nil {
					errs[i] = g.take(&w, c)
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != io.EOF {
			return g, err
		}
	}
	return g, nil
}

// whole fails unless exactly the offsets from 0 to below n were read from each partition, each once and in order.
func (g *reading) whole(t *testing.T, partitions, n int) {
	t.Helper()
	for p := range int32(partitions) {
		if len(g.offsets[p]) != n {
			t.Errorf("partition %d: %d records, want %d", p, len(g.offsets[p]), n)
			continue
		}
		for i, off := range g.offsets[p] {
			if off != int64(i) || g.values[p][i] != value(p, i) {
				t.Errorf("partition %d: record %d is %d %q", p, i, off, g.values[p][i])
				break
			}
		}
		if g.position[p] != int64(n) {
			t.Errorf("partition %d: position %d, want %d", p, g.position[p], n)
		}
	}
}

func value(p int32, i int) string { return fmt.Sprintf("p%d-%d", p, i) }

// fill puts n records into each partition of "orders", in batches of a few.
func fill(t testing.TB, b *kafkatest.Broker, partitions, from, to int) {
	t.Helper()
	for p := range int32(partitions) {
		for i := from; i < to; {
			var vs []string
			for ; i < to && len(vs) < 40; i++ {
				vs = append(vs, value(p, i))
			}
			must(t, b.Produce("orders", p, vs...))
		}
	}
}

// ranges are whole partitions of "orders".
func ranges(partitions int, until int64) []records.Range {
	var rs []records.Range
	for p := range int32(partitions) {
		rs = append(rs, records.Range{Topic: "orders", Partition: p, Until: until})
	}
	return rs
}

func orders(t *testing.T, o kafkatest.Options, partitions int32) *kafkatest.Broker {
	t.Helper()
	o.Topics = map[string]int32{"orders": partitions}
	b := kafkatest.Start(t, o)
	must(t, b.Spread("orders"))
	return b
}

func TestRead(t *testing.T) {
	t.Parallel()
	b := orders(t, kafkatest.Options{}, 6)
	fill(t, b, 6, 0, 200)
	for _, goroutines := range []int{1, 4} {
		c := client(t, b)
		b.Reset()
		r := records.Read(within(t), c, ranges(6, 200), records.Options{})
		g, err := drain(within(t), r, goroutines)
		r.Close()
		must(t, err)
		g.whole(t, 6, 200)
		if _, err := r.Next(t.Context()); err != io.EOF {
			t.Errorf("after the end: %v", err)
		}
		fetches := 0
		for _, q := range b.Requests() {
			if q.Key == wire.Fetch {
				fetches++
				if q.Version != 13 {
					t.Errorf("fetch v%d", q.Version)
				}
			}
		}
		if bytes, n := r.Fetched(); fetches != 3 || n != 3 || bytes < 6*200*5 {
			t.Errorf("%d fetches at three leaders; %d fetches and %d bytes counted", fetches, n, bytes)
		}
	}
}

func TestReadFromOldBrokers(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name    string
		version *kversion.Versions
		fetch   int16
	}{{"0.11", kversion.V0_11_0(), 5}, {"1.1", kversion.V1_1_0(), 7}, {"2.1", kversion.V2_1_0(), 10}, {"2.8", kversion.V2_8_0(), 12}, {"3.1", kversion.V3_1_0(), 13}} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			b := orders(t, kafkatest.Options{Version: x.version}, 3)
			fill(t, b, 3, 0, 50)
			b.Reset()
			r := records.Read(within(t), client(t, b), ranges(3, 50), records.Options{Committed: true})
			defer r.Close()
			g, err := drain(within(t), r, 1)
			must(t, err)
			g.whole(t, 3, 50)
			for _, q := range b.Requests() {
				if q.Key == wire.Fetch && q.Version != x.fetch {
					t.Errorf("fetch v%d, want v%d", q.Version, x.fetch)
				}
			}
		})
	}
}

// What a broker has told of its versions is taken over, and asked for anew when it turns out to be wrong: the broker was replaced by
// an older one.
func TestReadFromABrokerThatBecameOlder(t *testing.T) {
	t.Parallel()
	b := orders(t, kafkatest.Options{Version: kversion.V2_0_0()}, 3)
	fill(t, b, 3, 0, 50)
	lied := map[int32]bool{}
	var mu sync.Mutex
	b.Rewrite(wire.ApiVersions, func(node int32, r kmsg.Response) bool {
		mu.Lock()
		defer mu.Unlock()
		if !lied[node] {
			lied[node] = true
			for i, k := range r.(*kmsg.ApiVersionsResponse).ApiKeys {
				if k.ApiKey == wire.Fetch {
					r.(*kmsg.ApiVersionsResponse).ApiKeys[i].MaxVersion = 13
				}
			}
		}
		return true
	})
	c := client(t, b)
	for node := range int32(3) {
		_, err := c.Do(within(t), node, func(v wire.Versions) ([]kmsg.Request, error) {
			q := kmsg.NewPtrMetadataRequest()
			return []kmsg.Request{q}, v.Set(q, -1)
		})
		must(t, err)
	}
	for node := range int32(3) {
		b.Kill(node)
		must(t, b.Revive(node))
	}
	r := records.Read(within(t), c, ranges(3, 50), records.Options{})
	defer r.Close()
	g, err := drain(within(t), r, 1)
	must(t, err)
	g.whole(t, 3, 50)
	versions := map[int16]bool{}
	for _, q := range b.Requests() {
		if q.Key == wire.Fetch {
			versions[q.Version] = true
		}
	}
	if !versions[12] || !versions[8] || len(versions) != 2 {
		t.Errorf("fetches in versions %v", versions)
	}
}

func TestReadNothing(t *testing.T) {
	t.Parallel()
	b := orders(t, kafkatest.Options{}, 2)
	b.Reset()
	for _, rs := range [][]records.Range{nil, {{Topic: "orders", From: 5, Until: 5}, {Topic: "orders", Partition: 1, From: 7, Until: 3}}} {
		r := records.Read(within(t), client(t, b), rs, records.Options{})
		if c, err := r.Next(within(t)); err != io.EOF {
			t.Errorf("%v: %v %v", rs, c, err)
		}
		r.Close()
	}
	if n := b.Count(); n != 0 {
		t.Errorf("%d requests for nothing", n)
	}
}

// What is between from and until, and nothing else.
func TestReadPartOfIt(t *testing.T) {
	t.Parallel()
	b := orders(t, kafkatest.Options{}, 2)
	fill(t, b, 2, 0, 100)
	r := records.Read(within(t), client(t, b), []records.Range{{Topic: "orders", From: 33, Until: 71}, {Topic: "orders", Partition: 1, From: 99, Until: 100}}, records.Options{})
	defer r.Close()
	g, err := drain(within(t), r, 2)
	must(t, err)
	if o := g.offsets[0]; len(o) != 38 || o[0] != 33 || o[37] != 70 || g.position[0] != 71 {
		t.Errorf("%v, position %d", o, g.position[0])
	}
	if o := g.offsets[1]; !slices.Equal(o, []int64{99}) {
		t.Errorf("%v", o)
	}
}

// A partition's next chunk comes when the one before was released, whoever asks.
func TestOneChunkAtATime(t *testing.T) {
	t.Parallel()
	b := orders(t, kafkatest.Options{}, 1)
	fill(t, b, 1, 0, 200)
	single(b)
	r := records.Read(within(t), client(t, b), ranges(1, 200), records.Options{})
	defer r.Close()
	first, err := r.Next(within(t))
	must(t, err)
	second := make(chan *records.Chunk)
	go func() {
		c, _ := r.Next(within(t))
		second <- c
	}()
	for _, fetches := r.Fetched(); fetches < 3; _, fetches = r.Fetched() { // what is behind has come, and waits
		if t.Context().Err() != nil {
			t.Fatal("fetching does not go on")
		}
		time.Sleep(time.Millisecond)
	}
	select {
	case c := <-second:
		t.Fatalf("chunk from %d while the one from %d is held", c.From, first.From)
	default:
	}
	first.Release()
	first.Release() // twice is once
	if c := <-second; c.From != first.Next {
		t.Errorf("goes on at %d, want %d", c.From, first.Next)
	}
}

// single lets every fetch give one batch.
func single(b *kafkatest.Broker) {
	b.Rewrite(wire.Fetch, func(_ int32, r kmsg.Response) bool {
		for _, t := range r.(*kmsg.FetchResponse).Topics {
			for i := range t.Partitions {
				if raw := t.Partitions[i].RecordBatches; len(raw) > 12 {
					n := 12 + int(int32(uint32(raw[8])<<24|uint32(raw[9])<<16|uint32(raw[10])<<8|uint32(raw[11])))
					t.Partitions[i].RecordBatches = raw[:min(n, len(raw))]
				}
			}
		}
		return true
	})
}

// Who does not take chunks stops the fetching: memory is bounded.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	b := orders(t, kafkatest.Options{Brokers: 2}, 8)
	big := strings.Repeat("x", 50_000)
	for p := range int32(8) {
		for range 40 { // 16 MB in all
			must(t, b.Produce("orders", p, big))
		}
	}
	const memory = 1 << 20
	r := records.Read(within(t), client(t, b), ranges(8, 40), records.Options{Memory: memory})
	defer r.Close()
	c, err := r.Next(within(t))
	must(t, err)
	var w records.Walker
	n, most := 0, int64(0)
	var taken int64
	for ; err == nil; c, err = r.Next(within(t)) {
		for w.Reset(c); w.Next(); {
			n++
		}
		bytes, _ := r.Fetched()
		most = max(most, bytes-taken)
		taken += int64(len(c.Batches))
		c.Release()
	}
	if err != io.EOF || n != 8*40 {
		t.Errorf("%d records, %v", n, err)
	}
	if most > memory+memory/4 {
		t.Errorf("%d bytes held, %d allowed", most, memory)
	}
}

// Records of open and aborted transactions are not there with read_committed, and all are without.
func TestTransactions(t *testing.T) {
	t.Parallel()
	b := orders(t, kafkatest.Options{}, 1)
	ctx := within(t)
	say := func(id string, end kgo.TransactionEndTry, values ...string) *kgo.Client {
		c, err := kgo.NewClient(kgo.SeedBrokers(b.Addrs()...), kgo.TransactionalID(id), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ClientID("kafkatest-txn"))
		must(t, err)
		t.Cleanup(c.Close)
		must(t, c.BeginTransaction())
		for _, v := range values {
			must(t, c.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: []byte(v)}).FirstErr())
		}
		if v := values[0]; v != "open" {
			must(t, c.EndTransaction(ctx, end))
		}
		return c
	}
	say("a", kgo.TryCommit, "committed", "committed") // 0 1, marker 2
	say("b", kgo.TryAbort, "aborted", "aborted")      // 3 4, marker 5
	must(t, b.Produce("orders", 0, "plain"))          // 6
	say("c", kgo.TryCommit, "committed")              // 7, marker 8
	say("d", kgo.TryAbort, "aborted")                 // 9, marker 10
	must(t, b.Produce("orders", 0, "plain"))          // 11
	stable := b.Fake.PartitionInfo("orders", 0).HighWatermark
	open := say("e", kgo.TryCommit, "open") // 12
	must(t, b.Produce("orders", 0, "after"))
	end := b.Fake.PartitionInfo("orders", 0).HighWatermark

	read := func(until int64, committed bool) *reading {
		r := records.Read(ctx, client(t, b), ranges(1, until), records.Options{Committed: committed})
		defer r.Close()
		g, err := drain(ctx, r, 1)
		must(t, err)
		if g.position[0] != until {
			t.Errorf("position %d, want %d", g.position[0], until)
		}
		return g
	}
	if g := read(stable, true); !slices.Equal(g.offsets[0], []int64{0, 1, 6, 7, 11}) {
		t.Errorf("read_committed: %v %v", g.offsets, g.values)
	}
	if g := read(end, false); !slices.Equal(g.offsets[0], []int64{0, 1, 3, 4, 6, 7, 9, 11, 12, 13}) {
		t.Errorf("read_uncommitted: %v %v", g.offsets, g.values)
	}
	must(t, open.EndTransaction(ctx, kgo.TryCommit))
	if g := read(end, true); !slices.Equal(g.offsets[0], []int64{0, 1, 6, 7, 11, 12, 13}) {
		t.Errorf("once the transaction has ended: %v %v", g.offsets, g.values)
	}
}

// A range without an end gives what comes.
func TestFollow(t *testing.T) {
	t.Parallel()
	b := orders(t, kafkatest.Options{}, 2)
	fill(t, b, 2, 0, 10)
	ctx, cancel := context.WithCancel(within(t))
	r := records.Read(ctx, client(t, b), ranges(2, records.Forever), records.Options{})
	g := &reading{offsets: map[int32][]int64{}, values: map[int32][]string{}, position: map[int32]int64{}}
	var w records.Walker
	upTo := func(n int64) {
		for g.position[0] < n || g.position[1] < n {
			c, err := r.Next(ctx)
			must(t, err)
			must(t, g.take(&w, c))
		}
	}
	upTo(10)
	fill(t, b, 2, 10, 15)
	upTo(15)
	g.whole(t, 2, 15)
	cancel()
	if _, err := r.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	r.Close()
}

// Whatever happens to brokers and connections, every record comes, once and in order.
func TestReadSurvives(t *testing.T) {
	t.Parallel()
	const partitions, n = 6, 400
	for _, x := range []struct {
		name    string
		trouble func(t *testing.T, b *kafkatest.Broker)
		after   func(t *testing.T, b *kafkatest.Broker) // when the first chunk was taken
	}{
		{"leaders that move", nil, func(t *testing.T, b *kafkatest.Broker) {
			for p := range int32(partitions) {
				must(t, b.Fake.MoveTopicPartition("orders", p, (p+1)%3))
			}
		}},
		{"all leaders become one", nil, func(t *testing.T, b *kafkatest.Broker) {
			for p := range int32(partitions) {
				must(t, b.Fake.MoveTopicPartition("orders", p, 2))
			}
		}},
		{"a broker that dies and comes back", nil, func(t *testing.T, b *kafkatest.Broker) {
			b.Kill(1)
			time.AfterFunc(300*time.Millisecond, func() { must(t, b.Revive(1)) })
		}},
		{"a broker that dies, its partitions led by another", nil, func(t *testing.T, b *kafkatest.Broker) {
			b.Kill(1)
			for p := range int32(partitions) {
				if p%3 == 1 {
					must(t, b.Fake.MoveTopicPartition("orders", p, 2))
				}
			}
		}},
		{"connections that are cut within answers", func(_ *testing.T, b *kafkatest.Broker) {
			for _, p := range b.Proxies {
				p.CutDown(6000)
			}
		}, nil},
		{"connections that are cut again and again", nil, func(_ *testing.T, b *kafkatest.Broker) {
			for i := range 5 {
				time.AfterFunc(time.Duration(i*20)*time.Millisecond, func() {
					for _, p := range b.Proxies {
						p.Cut()
					}
				})
			}
		}},
		{"errors that pass", func(_ *testing.T, b *kafkatest.Broker) {
			for _, e := range []*kerr.Error{kerr.NotLeaderForPartition, kerr.FencedLeaderEpoch, kerr.UnknownLeaderEpoch, kerr.KafkaStorageError, kerr.UnknownTopicOrPartition, kerr.UnknownServerError, kerr.OffsetNotAvailable} {
				b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: "orders", Partitions: []int32{1, 2}, Err: e})
			}
			b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, TopLevel: true, Err: kerr.UnknownServerError})
			b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Topic: "orders", Err: kerr.LeaderNotAvailable})
		}, nil},
		{"hang-ups", func(_ *testing.T, b *kafkatest.Broker) {
			var mu sync.Mutex
			left := 5
			b.Rewrite(wire.Fetch, func(int32, kmsg.Response) bool {
				mu.Lock()
				defer mu.Unlock()
				left--
				return left < 0 || left%2 == 0
			})
		}, nil},
		{"answers that leave partitions out", func(_ *testing.T, b *kafkatest.Broker) {
			var mu sync.Mutex
			left := 4
			b.Rewrite(wire.Fetch, func(_ int32, r kmsg.Response) bool {
				mu.Lock()
				defer mu.Unlock()
				if left--; left >= 0 {
					r.(*kmsg.FetchResponse).Topics = nil
				}
				return true
			})
		}, nil},
		{"answers of one batch", func(_ *testing.T, b *kafkatest.Broker) { single(b) }, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			b := orders(t, kafkatest.Options{Proxy: true}, partitions)
			fill(t, b, partitions, 0, n)
			if x.after != nil {
				single(b)
			}
			if x.trouble != nil {
				x.trouble(t, b)
			}
			ctx := within(t)
			r := records.Read(ctx, client(t, b), ranges(partitions, n), records.Options{})
			defer r.Close()
			g := &reading{offsets: map[int32][]int64{}, values: map[int32][]string{}, position: map[int32]int64{}}
			var w records.Walker
			for i := 0; ; i++ {
				c, err := r.Next(ctx)
				if err == io.EOF {
					break
				}
				must(t, err)
				must(t, g.take(&w, c))
				if i == 0 && x.after != nil {
					x.after(t, b)
				}
			}
			g.whole(t, partitions, n)
		})
	}
}

// What cannot be read any more ends the reading, by name.
func TestReadFails(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name  string
		reads records.Range
		after func(t *testing.T, b *kafkatest.Broker) // when the first chunk was taken
		check func(t *testing.T, b *kafkatest.Broker, err error)
	}{
		{"expired while it is read", records.Range{}, func(t *testing.T, b *kafkatest.Broker) { must(t, b.Fake.DeleteRecords("orders", 0, 350)) }, func(t *testing.T, _ *kafkatest.Broker, err error) {
			var e *records.ExpiredError
			if !errors.As(err, &e) || e.Earliest != 350 || e.Position >= 350 || e.Position < 40 || e.Position%40 != 0 || e.Topic != "orders" || e.Partition != 0 {
				t.Errorf("%v", err)
			}
		}},
		{"begins behind the end", records.Range{From: 500, Until: 600}, nil, func(t *testing.T, _ *kafkatest.Broker, err error) {
			var e *records.TruncatedError
			if !errors.As(err, &e) || e.Position != 500 || e.End != 400 {
				t.Errorf("%v", err)
			}
		}},
		{"recreated", records.Range{}, func(t *testing.T, b *kafkatest.Broker) { must(t, b.Recreate("orders")) }, func(t *testing.T, b *kafkatest.Broker, err error) {
			var e *records.GoneError
			if !errors.As(err, &e) || e.Topic != "orders" || e.Now != b.TopicID("orders") || e.ID == e.Now || e.ID == "" {
				t.Errorf("%v", err)
			}
		}},
		{"another topic than was looked at", records.Range{TopicID: "AAAAAAAAAAAAAAAAAAAAAQ"}, nil, func(t *testing.T, b *kafkatest.Broker, err error) {
			var e *records.GoneError
			if !errors.As(err, &e) || e.ID != "AAAAAAAAAAAAAAAAAAAAAQ" || e.Now != b.TopicID("orders") {
				t.Errorf("%v", err)
			}
		}},
		{"deleted", records.Range{}, func(t *testing.T, b *kafkatest.Broker) { must(t, b.Fake.DeleteTopic("orders")) }, func(t *testing.T, _ *kafkatest.Broker, err error) {
			var e *records.GoneError
			if !errors.As(err, &e) || e.Topic != "orders" || e.Now != "" {
				t.Errorf("%v", err)
			}
		}},
		{"no such partition", records.Range{Partition: 7}, nil, func(t *testing.T, _ *kafkatest.Broker, err error) {
			var e *records.GoneError
			if !errors.As(err, &e) || e.Partition != 7 {
				t.Errorf("%v", err)
			}
		}},
		{"not allowed", records.Range{}, func(_ *testing.T, b *kafkatest.Broker) { b.DenyTopic("orders") }, func(t *testing.T, _ *kafkatest.Broker, err error) {
			var e *records.RefusedError
			if !errors.As(err, &e) || !e.Denied || !strings.Contains(err.Error(), `partition 0 of topic "orders"`) {
				t.Errorf("%v", err)
			}
		}},
		{"no leader", records.Range{}, func(t *testing.T, b *kafkatest.Broker) {
			b.NoLeader("orders", 0)
			must(t, b.Fake.MoveTopicPartition("orders", 0, 1))
		}, func(t *testing.T, _ *kafkatest.Broker, err error) {
			var e *records.UnreachableError
			if !errors.As(err, &e) || e.Broker != records.None || !strings.Contains(err.Error(), "no leader") {
				t.Errorf("%v", err)
			}
		}},
		{"broker gone for good", records.Range{}, func(_ *testing.T, b *kafkatest.Broker) { b.Kill(0) }, func(t *testing.T, _ *kafkatest.Broker, err error) {
			var e *records.UnreachableError
			var w *wire.Error
			if !errors.As(err, &e) || e.Broker != 0 || !errors.As(err, &w) || !strings.Contains(err.Error(), "broker 0") {
				t.Errorf("%v", err)
			}
		}},
		{"a refusal of another kind", records.Range{}, func(_ *testing.T, b *kafkatest.Broker) {
			b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: "orders", Err: kerr.UnsupportedCompressionType, Count: -1})
		}, func(t *testing.T, _ *kafkatest.Broker, err error) {
			var e *records.RefusedError
			if !errors.As(err, &e) || e.Denied || e.Code != 76 || e.Broker != 0 {
				t.Errorf("%v", err)
			}
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			b := orders(t, kafkatest.Options{}, 1)
			fill(t, b, 1, 0, 400)
			single(b)
			x.reads.Topic = "orders"
			if x.reads.Until == 0 {
				x.reads.Until = 400
			}
			ctx := within(t)
			o := records.Options{Patience: 500 * time.Millisecond}
			if x.name == "deleted" || x.name == "no such partition" {
				o.Patience = 0 // brokers learn of it one by one: it takes some tries
			}
			r := records.Read(ctx, client(t, b), []records.Range{x.reads}, o)
			defer r.Close()
			var w records.Walker
			g := &reading{offsets: map[int32][]int64{}, values: map[int32][]string{}, position: map[int32]int64{}}
			var err error
			for i := 0; err == nil; i++ {
				var c *records.Chunk
				if c, err = r.Next(ctx); err == nil {
					must(t, g.take(&w, c))
					if i == 0 && x.after != nil {
						x.after(t, b)
					}
				}
			}
			x.check(t, b, err)
			if _, again := r.Next(ctx); again != err {
				t.Errorf("then %v", again)
			}
		})
	}
}

// canned answers fetches of partition 0 of "orders" from raw batches, as a log that has them would.
func canned(t *testing.T, b *kafkatest.Broker, start, end int64, batches ...[]byte) {
	t.Helper()
	b.Fake.ControlKey(wire.Fetch, func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.Fake.KeepControl()
		q := r.(*kmsg.FetchRequest)
		a := q.ResponseKind().(*kmsg.FetchResponse)
		x := kmsg.NewFetchResponseTopicPartition()
		asked := q.Topics[0].Partitions[0]
		x.HighWatermark, x.LastStableOffset, x.LogStartOffset = end, end, start
		for _, raw := range batches {
			last := batchEnd(raw)
			if last >= asked.FetchOffset && len(x.RecordBatches)+len(raw) <= int(asked.PartitionMaxBytes) {
				x.RecordBatches = append(x.RecordBatches, raw...)
			} else if last >= asked.FetchOffset {
				x.RecordBatches = append(x.RecordBatches, raw[:int(asked.PartitionMaxBytes)-len(x.RecordBatches)]...)
				break
			}
		}
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic, topic.TopicID = q.Topics[0].Topic, q.Topics[0].TopicID
		topic.Partitions = append(topic.Partitions, x)
		a.Topics = append(a.Topics, topic)
		return a, nil, true
	})
}

// batchEnd is the last offset of a batch.
func batchEnd(raw []byte) int64 {
	base := int64(raw[4])<<24 | int64(raw[5])<<16 | int64(raw[6])<<8 | int64(raw[7])
	if raw[16] < 2 {
		return base
	}
	return base + int64(raw[25])<<8 + int64(raw[26])
}

func TestLogsOfAllKinds(t *testing.T) {
	t.Parallel()
	bad := batch{base: 5, rs: plain(5, 3)}.bytes(t)
	bad[70] ^= 1
	huge := batch{base: 5, rs: []rec{{off: 5, value: make([]byte, 3<<20)}}}.bytes(t)
	nonsense := batch{base: 5, rs: plain(5, 1)}.bytes(t)
	nonsense[16] = 9
	head := batch{base: 0, rs: plain(0, 5)}.bytes(t)
	for _, x := range []struct {
		name       string
		start, end int64
		batches    [][]byte
		from       int64
		want       []int64
		err        func(error) bool
	}{
		{"compacted, with a hole in front of, between and behind", 0, 50, [][]byte{batch{base: 3, rs: plain(3, 2)}.bytes(t), batch{base: 20, last: 49, rs: []rec{{off: 22}}}.bytes(t)}, 0, []int64{3, 4, 22}, nil},
		{"empty batches only", 0, 50, [][]byte{batch{base: 0, last: 30}.bytes(t), batch{base: 31, last: 49}.bytes(t)}, 0, nil, nil},
		{"nothing is left up to the end", 0, 50, [][]byte{head}, 0, []int64{0, 1, 2, 3, 4}, nil},
		{"nothing is left at all", 0, 50, nil, 10, nil, nil},
		{"old formats", 0, 8, [][]byte{message(0, 0, 0, 0, nil, nil), message(1, 4, 1, byte(records.Gzip), nil, squeeze(t, records.Gzip, slices.Concat(message(1, 0, 1, 0, nil, nil), message(1, 2, 1, 0, nil, nil)))), batch{base: 5, last: 7, rs: plain(5, 1)}.bytes(t)}, 0, []int64{0, 2, 4, 5}, nil},
		{"a batch larger than a fetch", 0, 6, [][]byte{head, huge}, 0, []int64{0, 1, 2, 3, 4, 5}, nil},
		{"begins at the end", 0, 50, nil, 50, nil, nil},
		{"a checksum that is wrong", 0, 8, [][]byte{head, bad}, 0, []int64{0, 1, 2, 3, 4}, func(err error) bool {
			var e *records.DamagedError
			return errors.As(err, &e) && e.CRC && e.Offset == 5 && e.Topic == "orders"
		}},
		{"a head that is nonsense", 0, 8, [][]byte{head, nonsense}, 0, []int64{0, 1, 2, 3, 4}, func(err error) bool {
			var e *records.DamagedError
			return errors.As(err, &e) && !e.CRC && e.Offset == 5
		}},
		{"a batch that never comes whole", 0, 8, [][]byte{head, huge[:1000]}, 0, []int64{0, 1, 2, 3, 4}, func(err error) bool {
			var e *records.DamagedError
			return errors.As(err, &e) && !e.CRC && e.Offset == 5 && strings.Contains(err.Error(), "only 1000 bytes")
		}},
		{"the log begins behind the position", 20, 50, [][]byte{batch{base: 20, last: 49, rs: plain(20, 1)}.bytes(t)}, 10, nil, func(err error) bool {
			var e *records.ExpiredError
			return errors.As(err, &e) && e.Position == 10 && e.Earliest == 20
		}},
		{"the log begins behind the position, and the records are still there", 20, 50, [][]byte{batch{base: 5, last: 49, rs: plain(5, 20)}.bytes(t)}, 10, []int64{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24}, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			b := orders(t, kafkatest.Options{Brokers: 1}, 1)
			canned(t, b, x.start, x.end, x.batches...)
			ctx := within(t)
			r := records.Read(ctx, client(t, b), []records.Range{{Topic: "orders", From: x.from, Until: x.end}}, records.Options{Committed: true})
			defer r.Close()
			g, err := drain(ctx, r, 1)
			if x.err == nil {
				must(t, err)
			} else if !x.err(err) {
				t.Errorf("error %v", err)
			}
			if !slices.Equal(g.offsets[0], x.want) {
				t.Errorf("%v, want %v", g.offsets[0], x.want)
			}
			if x.err == nil && x.from < x.end && g.position[0] != x.end {
				t.Errorf("position %d, want %d", g.position[0], x.end)
			}
		})
	}
}

// Who goes on after damage learns of it again, and waits for nothing.
func TestDamageIsNotPassed(t *testing.T) {
	t.Parallel()
	b := orders(t, kafkatest.Options{Brokers: 1}, 1)
	nonsense := batch{base: 5, rs: plain(5, 1)}.bytes(t)
	nonsense[16] = 9
	canned(t, b, 0, 6, batch{base: 0, rs: plain(0, 5)}.bytes(t), nonsense)
	ctx := within(t)
	r := records.Read(ctx, client(t, b), ranges(1, 6), records.Options{})
	defer r.Close()
	c, err := r.Next(ctx)
	must(t, err)
	if c.Next != 5 {
		t.Errorf("chunk goes to %d", c.Next)
	}
	c.Release()
	var d *records.DamagedError
	if _, err := r.Next(ctx); !errors.As(err, &d) || d.Offset != 5 {
		t.Errorf("%v", err)
	}
}

// A leader that does not have what the old one had says so: records that were read are no longer in the log.
func TestDivergingLeader(t *testing.T) {
	t.Parallel()
	b := orders(t, kafkatest.Options{}, 1)
	fill(t, b, 1, 0, 200)
	single(b)
	var asked []int32
	var mu sync.Mutex
	b.Fake.ControlKey(wire.Fetch, func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.Fake.KeepControl()
		q := r.(*kmsg.FetchRequest)
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, q.Topics[0].Partitions[0].LastFetchedEpoch)
		if q.Topics[0].Partitions[0].LastFetchedEpoch < 0 {
			return nil, nil, false
		}
		a := q.ResponseKind().(*kmsg.FetchResponse)
		topic := kmsg.NewFetchResponseTopic()
		topic.TopicID = q.Topics[0].TopicID
		x := kmsg.NewFetchResponseTopicPartition()
		x.HighWatermark, x.DivergingEpoch.Epoch, x.DivergingEpoch.EndOffset = 30, 0, 30
		topic.Partitions = append(topic.Partitions, x)
		a.Topics = append(a.Topics, topic)
		return a, nil, true
	})
	ctx := within(t)
	r := records.Read(ctx, client(t, b), ranges(1, 200), records.Options{})
	defer r.Close()
	var w records.Walker
	g := &reading{offsets: map[int32][]int64{}, values: map[int32][]string{}, position: map[int32]int64{}}
	c, err := r.Next(ctx)
	must(t, err)
	must(t, b.Fake.MoveTopicPartition("orders", 0, 1))
	for err == nil {
		must(t, g.take(&w, c))
		c, err = r.Next(ctx)
	}
	var e *records.TruncatedError
	if !errors.As(err, &e) || e.End != 30 || e.Position < 40 {
		t.Errorf("%v; asked with epochs %v", err, asked)
	}
}

func TestCloseDoesNotWait(t *testing.T) {
	t.Parallel()
	b := orders(t, kafkatest.Options{}, 3)
	b.Freeze(0)
	r := records.Read(t.Context(), client(t, b), ranges(3, math.MaxInt64), records.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	r.Close()
	if _, err := r.Next(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("after Close: %v", err)
	}
}

// A broker that says that a quota is used up is left alone for as long as it says.
func TestThrottled(t *testing.T) {
	t.Parallel()
	b := orders(t, kafkatest.Options{Brokers: 1}, 1)
	fill(t, b, 1, 0, 120)
	single(b)
	b.Rewrite(wire.Fetch, func(_ int32, r kmsg.Response) bool {
		r.(*kmsg.FetchResponse).ThrottleMillis = 100
		return true
	})
	began := time.Now()
	r := records.Read(within(t), client(t, b), ranges(1, 120), records.Options{})
	defer r.Close()
	g, err := drain(within(t), r, 1)
	must(t, err)
	g.whole(t, 1, 120)
	if took := time.Since(began); took < 200*time.Millisecond { // three fetches, with two rests between them
		t.Errorf("took %v", took)
	}
}
