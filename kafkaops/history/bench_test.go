package history_test

import (
	"testing"
	"time"

	"gtoffset/kafkaops/history"
	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/records"
)

// commits is a piece of a log: requests of 500 partitions of two topics each, as a busy group of these members makes them.
func commits(requests int, members ...string) *records.Chunk {
	log := &kafkatest.OffsetsLog{}
	log.Batch(at, kafkatest.ClassicGroup("billing-of-orders", 1, members...))
	for i := range requests {
		var batch []kafkatest.Entry
		for p := range int32(500) {
			topic := "orders"
			if p >= 250 {
				topic = "payments"
			}
			batch = append(batch, kafkatest.OffsetCommitOf(4, [16]byte([]byte(topic+"0123456789")), "billing-of-orders", topic, p, int64(i), "app-7"))
		}
		log.Batch(at.Add(time.Duration(i)*time.Second), batch...)
	}
	return &records.Chunk{Until: records.Forever, Next: records.Forever, Batches: log.Bytes(0, 1<<30)}
}

// BenchmarkWalk goes through the records and does nothing with them; what BenchmarkHistory takes more is the decoder and the historian.
func BenchmarkWalk(b *testing.B) {
	c := commits(400, "a")
	b.SetBytes(int64(len(c.Batches)))
	b.ReportAllocs()
	var w records.Walker
	for b.Loop() {
		for w.Reset(c); w.Next(); {
		}
		if w.Err() != nil {
			b.Fatal(w.Err())
		}
	}
}

// read makes a history of what a group has in a chunk.
func read(w *records.Walker, c *records.Chunk, group string) offsets.History {
	d, h := history.NewDecoder(group), offsets.NewHistorian(offsets.HistoryPolicy{Skip: offsets.None})
	r := offsets.LogRecord{Producer: offsets.None, Whole: true}
	for w.Reset(c); w.Next(); {
		x := w.Record()
		r.Time, r.Offset, r.Batch = x.Timestamp, x.Offset, w.Batch().Base
		if d.Decode(x.Key, x.Value, &r) {
			h.Add(&r)
		}
	}
	return h.End(offsets.Complete{})
}

func benchmark(b *testing.B, group string, commitsWanted int64, members ...string) {
	c := commits(400, members...)
	b.SetBytes(int64(len(c.Batches)))
	b.ReportAllocs()
	w := records.Walker{Control: true}
	for b.Loop() {
		if got := read(&w, c, group); got.Commits != commitsWanted {
			b.Fatalf("got %d commits", got.Commits)
		}
	}
}

func BenchmarkHistory(b *testing.B)           { benchmark(b, "billing-of-orders", 200_000, "a") }
func BenchmarkHistoryOfAssigned(b *testing.B) { benchmark(b, "billing-of-orders", 200_000) }
func BenchmarkHistoryOfAnother(b *testing.B)  { benchmark(b, "billing-of-events", 0, "a") }

// No commit takes memory that is not shown, whoever made it: what a history takes is for its partitions.
func TestCommitsTakeNoMemory(t *testing.T) {
	for name, members := range map[string][]string{"a member's": {"a"}, "nobody's": nil} {
		few, many := commits(2, members...), commits(42, members...)
		w := records.Walker{Control: true}
		allocs := func(c *records.Chunk) float64 {
			return testing.AllocsPerRun(5, func() { read(&w, c, "billing-of-orders") })
		}
		if a, b := allocs(few), allocs(many); b > a+100 {
			t.Errorf("%s: %v allocations for 1,000 commits and %v for 21,000; want no more for more", name, a, b)
		}
	}
}
