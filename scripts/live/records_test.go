//go:build live

package live_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"gtoffset/kafkaops"
	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/records"
	"gtoffset/kafkaops/wire"
	"gtoffset/scripts/live"
)

// walked reads a topic from earliest to its end as lines "partition offset key value", sorted. visit, where it is not nil, is called
// with each chunk before it is walked.
func walked(ctx context.Context, c *live.Cluster, topic string, o records.Options, visit func()) ([]string, error) {
	k := kafkaops.New(kafkaops.Config{Bootstrap: strings.Split(c.Bootstrap(), ","), Wire: wire.Config{}})
	defer k.Close()
	found, err := k.Ranges(ctx, []string{topic}, true)
	if err != nil {
		return nil, err
	}
	var ranges []records.Range
	for p, r := range found.Topics[topic].Ranges {
		if !r.Known() {
			return nil, fmt.Errorf("%s:%d: %s", topic, p, r.Reason)
		}
		x := records.Range{Topic: topic, TopicID: r.TopicID, Partition: int32(p), From: r.Earliest, Until: r.End}
		if o.Committed {
			x.Until = r.Stable
		}
		ranges = append(ranges, x)
	}
	r := k.Read(ctx, ranges, o)
	defer r.Close()
	var mu sync.Mutex
	var all []string
	var failed error
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			var w records.Walker
			for {
				chunk, err := r.Next(ctx)
				if err == io.EOF {
					return
				}
				if err == nil {
					if visit != nil {
						visit()
					}
					var some []string
					for w.Reset(chunk); w.Next(); {
						x := w.Record()
						some = append(some, fmt.Sprintf("%d %d %s %s", chunk.Partition, x.Offset, text(x.Key), text(x.Value)))
					}
					chunk.Release()
					mu.Lock()
					all = append(all, some...)
					mu.Unlock()
					err = w.Err()
				}
				if err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					return
				}
			}
		})
	}
	wg.Wait()
	slices.Sort(all)
	return all, failed
}

// text is how Kafka's console consumer prints bytes.
func text(b []byte) string {
	if b == nil {
		return "null"
	}
	return string(b)
}

// javaLines is what Kafka's own consumer reads of a topic, in the same form.
func javaLines(ctx context.Context, topic, isolation string) ([]string, error) {
	said, err := cluster.Tool(ctx, live.ConsoleConsumer, "--bootstrap-server", cluster.Bootstrap(), "--topic", topic, "--from-beginning",
		"--isolation-level", isolation, "--timeout-ms", "10000",
		"--formatter-property", "print.partition=true", "--formatter-property", "print.offset=true",
		"--formatter-property", "print.key=true", "--formatter-property", "key.separator= ")
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.Lines(said) {
		if strings.HasPrefix(line, "Partition:") {
			all = append(all, strings.NewReplacer("Partition:", "", "Offset:", "").Replace(strings.TrimSuffix(line, "\n")))
		}
	}
	slices.Sort(all)
	return all, nil
}

// bothRead reads a log that is being compacted as we do and as others do, until it did not change meanwhile and is as wished.
func bothRead(t *testing.T, what string, ours, theirs func(context.Context) ([]string, error), wished func(got []string) bool) (got, want []string) {
	t.Helper()
	must(t, live.Eventually(t.Context(), what, func(ctx context.Context) (bool, error) {
		var err error
		if got, err = ours(ctx); err != nil || !wished(got) {
			return false, err
		}
		if want, err = theirs(ctx); err != nil {
			return false, err
		}
		again, err := ours(ctx)
		return slices.Equal(got, again), err
	}))
	return got, want
}

// differ fails with the first lines that only one side has.
func differ(t *testing.T, what string, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	only := func(a, b []string) []string {
		var rest []string
		for _, x := range a {
			if _, ok := slices.BinarySearch(b, x); !ok {
				rest = append(rest, x)
			}
		}
		return rest[:min(len(rest), 5)]
	}
	t.Errorf("%s: %d records, want %d; only here %q, only there %q", what, len(got), len(want), only(got, want), only(want, got))
}

// producer is kgo with the codec given.
func producer(t *testing.T, c *live.Cluster, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	p, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(strings.Split(c.Bootstrap(), ",")...), kgo.RecordPartitioner(kgo.ManualPartitioner())}, opts...)...)
	must(t, err)
	t.Cleanup(p.Close)
	return p
}

var allCodecs = []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()}

// Exactly the records that a Java consumer returns: transactions that were committed, aborted, and are open, in all codecs, with
// deleted records at the front.
func TestReplayTransactions(t *testing.T) {
	ctx := t.Context()
	topic := name(t, "orders")
	must(t, cluster.CreateTopic(ctx, topic, 3))
	write := func(c *kgo.Client, what string, n int) {
		var rs []*kgo.Record
		for i := range n {
			r := &kgo.Record{Topic: topic, Partition: int32(i % 3), Key: fmt.Appendf(nil, "k%d", i), Value: fmt.Appendf(nil, "%s-%d", what, i)}
			if i%7 == 0 {
				r.Key = nil
			}
			if i%11 == 0 {
				r.Value = nil
			}
			rs = append(rs, r)
		}
		must(t, c.ProduceSync(ctx, rs...).FirstErr())
	}
	for i, codec := range allCodecs {
		plain := producer(t, cluster, kgo.ProducerBatchCompression(codec))
		write(plain, fmt.Sprint("plain", i), 100)
		txn := producer(t, cluster, kgo.ProducerBatchCompression(codec), kgo.TransactionalID(name(t, fmt.Sprint("txn", i))))
		other := producer(t, cluster, kgo.ProducerBatchCompression(codec), kgo.TransactionalID(name(t, fmt.Sprint("other", i))))
		for round, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort} {
			must(t, txn.BeginTransaction())
			must(t, other.BeginTransaction())
			write(txn, fmt.Sprintf("txn%d-%d", i, round), 20)
			write(other, fmt.Sprintf("other%d-%d", i, round), 30)
			write(plain, fmt.Sprintf("between%d-%d", i, round), 10)
			write(txn, fmt.Sprintf("txn%d-%d-again", i, round), 20)
			must(t, txn.EndTransaction(ctx, end))
			must(t, other.EndTransaction(ctx, !end))
		}
		txn.Close()
		other.Close()
	}
	open := producer(t, cluster, kgo.TransactionalID(name(t, "open")), kgo.TransactionTimeout(5*time.Minute))
	must(t, open.BeginTransaction())
	write(open, "open", 20)
	write(producer(t, cluster), "behind", 50)
	must(t, cluster.DeleteRecords(ctx, topic, 0, 17))
	must(t, cluster.DeleteRecords(ctx, topic, 1, 300))

	for _, isolation := range []string{"read_committed", "read_uncommitted"} {
		want, err := javaLines(ctx, topic, isolation)
		must(t, err)
		got, err := walked(ctx, cluster, topic, records.Options{Committed: isolation == "read_committed"}, nil)
		must(t, err)
		differ(t, isolation, got, want)
		if len(want) < 700 {
			t.Errorf("%s: only %d records to compare", isolation, len(want))
		}
	}
	must(t, open.EndTransaction(ctx, kgo.TryAbort))
	want, err := javaLines(ctx, topic, "read_committed")
	must(t, err)
	got, err := walked(ctx, cluster, topic, records.Options{Committed: true, Memory: 1}, nil) // the smallest of fetches
	must(t, err)
	differ(t, "once nothing is open", got, want)
}

// Compaction leaves holes within batches, between them, and at the end.
func TestReplayCompacted(t *testing.T) {
	ctx := t.Context()
	topic := name(t, "orders")
	must(t, cluster.CreateTopic(ctx, topic, 1, "cleanup.policy=compact", "segment.ms=100", "min.cleanable.dirty.ratio=0.001", "min.compaction.lag.ms=0", "delete.retention.ms=0"))
	const n = 900
	for i, codec := range allCodecs {
		p := producer(t, cluster, kgo.ProducerBatchCompression(codec))
		var rs []*kgo.Record
		for j := range n / len(allCodecs) {
			r := &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "k%d", (j*j+i)%40), Value: fmt.Appendf(nil, "%d-%d", i, j)}
			if j%9 == 0 {
				r.Value = nil
			}
			rs = append(rs, r)
		}
		must(t, p.ProduceSync(ctx, rs...).FirstErr())
	}
	last := producer(t, cluster)
	ours := func(ctx context.Context) ([]string, error) {
		return walked(ctx, cluster, topic, records.Options{Committed: true}, nil)
	}
	must(t, live.Eventually(ctx, "the log is compacted", func(ctx context.Context) (bool, error) {
		if err := last.ProduceSync(ctx, &kgo.Record{Topic: topic, Key: []byte("last"), Value: []byte("x")}).FirstErr(); err != nil { // rolls the segment
			return false, err
		}
		got, err := ours(ctx)
		return len(got) < n/2, err
	}))
	got, want := bothRead(t, "the log stays as it is", ours, func(ctx context.Context) ([]string, error) { return javaLines(ctx, topic, "read_committed") },
		func([]string) bool { return true })
	differ(t, "compacted", got, want)
}

// A broker is killed while it is read from: every record comes, once.
func TestReplayBrokerKilled(t *testing.T) {
	ctx := t.Context()
	own, err := live.Kafka(ctx, live.Current, 3, live.Properties("broker.session.timeout.ms=3000"))
	must(t, err)
	defer own.Stop()
	must(t, own.CreateTopic(ctx, "orders", 6))
	const each = 20_000
	p := producer(t, own, kgo.ProducerBatchMaxBytes(100_000), kgo.MaxBufferedRecords(50_000))
	var want []string
	var mu sync.Mutex
	var failed error
	for i := range each {
		for part := range int32(6) {
			v := fmt.Sprintf("%d-%d-%s", part, i, strings.Repeat("x", 80))
			p.Produce(ctx, &kgo.Record{Topic: "orders", Partition: part, Value: []byte(v)}, func(_ *kgo.Record, err error) {
				if err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			})
			want = append(want, fmt.Sprintf("%d %d null %s", part, i, v))
		}
	}
	must(t, p.Flush(ctx))
	must(t, failed)
	p.Close()
	slices.Sort(want)
	seen := 0
	got, err := walked(ctx, own, "orders", records.Options{Memory: 1}, func() {
		mu.Lock()
		defer mu.Unlock()
		if seen++; seen == 10 {
			must(t, own.Kill(2))
		}
	})
	must(t, err)
	differ(t, "with broker 2 killed on the way", got, want)
	if seen < 20 {
		t.Errorf("only %d chunks: the broker was not killed on the way", seen)
	}
}

// A copy is the same as what it was made from, in Kafka's own eyes, on a cluster that has never seen a producer.
func TestReplayCopy(t *testing.T) {
	ctx := t.Context()
	own, err := live.Kafka(ctx, live.Current, 1)
	must(t, err)
	defer own.Stop()
	must(t, own.CreateTopic(ctx, "orders", 1, "retention.ms=-1")) // its records are of 1970
	must(t, own.CreateTopic(ctx, "copy", 2, "retention.ms=-1", "max.message.bytes=20000"))
	for i, codec := range allCodecs {
		var rs []*kgo.Record
		for j := range 500 {
			r := &kgo.Record{
				Topic: "orders", Key: fmt.Appendf(nil, "k%d", j), Value: []byte(strings.Repeat(fmt.Sprintf("%d-%d ", i, j), j%30)), Timestamp: time.UnixMilli(int64(j * j)),
				Headers: []kgo.RecordHeader{{Key: "h", Value: fmt.Append(nil, j)}, {Key: "h"}},
			}
			switch j % 5 {
			case 1:
				r.Key, r.Headers = nil, nil
			case 2:
				r.Value = nil
			case 3:
				r.Key, r.Value = []byte{}, []byte{}
			}
			rs = append(rs, r)
		}
		must(t, producer(t, own, kgo.ProducerBatchCompression(codec), kgo.DisableIdempotentWrite()).ProduceSync(ctx, rs...).FirstErr())
	}
	k := kafkaops.New(kafkaops.Config{Bootstrap: strings.Split(own.Bootstrap(), ",")})
	defer k.Close()
	r := k.Read(ctx, []records.Range{{Topic: "orders", Until: 500 * int64(len(allCodecs))}}, records.Options{})
	defer r.Close()
	p := k.Produce("copy", records.ProducerOptions{})
	defer p.Close()
	var w records.Walker
	codecs := map[records.Codec]bool{}
	for {
		chunk, err := r.Next(ctx)
		if err == io.EOF {
			break
		}
		must(t, err)
		for w.Reset(chunk); w.Next(); {
			codecs[w.Batch().Codec] = true
			must(t, p.Append(ctx, 1, w.Batch().Codec, w.Record()))
		}
		must(t, w.Err())
		chunk.Release()
	}
	must(t, p.Flush(ctx))
	dump := func(topic, partition string) string {
		said, err := own.Kcat(ctx, "-C", "-e", "-q", "-t", topic, "-p", partition, "-f", `%o %T %K %S %h %k %s\n`)
		must(t, err)
		return said
	}
	if got, want := dump("copy", "1"), dump("orders", "0"); got != want {
		t.Errorf("the copy differs:\n%.2000s\nfrom\n%.2000s", got, want)
	} else if n := strings.Count(got, "\n"); n != 500*len(allCodecs) || len(codecs) != len(allCodecs) {
		t.Errorf("%d records of codecs %v", n, codecs)
	}
	found, err := k.Remeasure(ctx, []offsets.Key{{Topic: "copy", Partition: 1}}, false)
	must(t, err)
	if end := found[offsets.Key{Topic: "copy", Partition: 1}].End; end != 500*int64(len(allCodecs)) {
		t.Errorf("copy ends at %d", end)
	}
}

// Logs in the formats of Kafka before 0.11, as an old broker keeps them: with and without compression, and compacted, so that there are
// gaps inside of the compressed messages.
func TestReplayOldFormats(t *testing.T) {
	ctx := t.Context()
	old, err := live.StartOldKafka(ctx)
	must(t, err)
	defer old.Stop()
	for _, format := range []string{"0.9.0.1", "0.10.2"} {
		for _, policy := range []string{"delete", "compact"} {
			topic := fmt.Sprintf("orders-%s-%s", format, policy)
			must(t, old.CreateTopic(ctx, topic, 1, "message.format.version="+format, "cleanup.policy="+policy, "segment.ms=1000", "min.cleanable.dirty.ratio=0.001"))
			n := 0
			write := func(codec string, records int) {
				var b strings.Builder
				for range records {
					fmt.Fprintf(&b, "k%d:value %d\n", n*n%23, n)
					n++
				}
				file := filepath.Join(t.TempDir(), "records")
				must(t, os.WriteFile(file, []byte(b.String()), 0o600))
				_, err := old.Kcat(ctx, "-P", "-t", topic, "-p", "0", "-K:", "-z", codec, "-l", file)
				must(t, err)
			}
			for _, codec := range []string{"none", "gzip", "snappy", "lz4"} {
				write(codec, 60)
			}
			ours := func(ctx context.Context) ([]string, error) {
				return walked(ctx, old.Cluster, topic, records.Options{}, nil)
			}
			kcat := func(ctx context.Context) ([]string, error) {
				said, err := old.Kcat(ctx, "-C", "-e", "-q", "-t", topic, "-f", `%p %o %k %s\n`)
				all := strings.Split(strings.TrimSuffix(said, "\n"), "\n")
				slices.Sort(all)
				return all, err
			}
			got, want := bothRead(t, topic+" stays as it is", ours, kcat, func(got []string) bool {
				if policy == "delete" || len(got) < n/2 {
					return true
				}
				write("gzip", 1) // rolls the segment
				return false
			})
			differ(t, topic, got, want)
		}
	}
}
