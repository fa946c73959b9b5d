package history_test

import (
	"testing"
	"time"

	"gtoffset/kafkaops/history"
	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/records"
)

// commits is a piece of a log: requests of 100 partitions each, as a busy group makes them.
func commits(requests int) *records.Chunk {
	log := &kafkatest.OffsetsLog{}
	log.Batch(at, kafkatest.ClassicGroup("billing-of-orders", 1, "a"))
	for i := range requests {
		var batch []kafkatest.Entry
		for p := range int32(100) {
			batch = append(batch, kafkatest.OffsetCommit("billing-of-orders", "orders", p, int64(i), ""))
		}
		log.Batch(at.Add(time.Duration(i)*time.Second), batch...)
	}
	return &records.Chunk{Until: records.Forever, Next: records.Forever, Batches: log.Bytes(0, 1<<30)}
}

// BenchmarkWalk goes through the records and does nothing with them; what BenchmarkHistory takes more is the decoder and the historian.
func BenchmarkWalk(b *testing.B) {
	c := commits(2000)
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

func BenchmarkHistory(b *testing.B) {
	c := commits(2000)
	b.SetBytes(int64(len(c.Batches)))
	b.ReportAllocs()
	w := records.Walker{Control: true}
	for b.Loop() {
		d, h := history.NewDecoder("billing-of-orders"), offsets.NewHistorian(offsets.HistoryPolicy{Skip: offsets.None})
		r := offsets.LogRecord{Producer: offsets.None, Whole: true}
		for w.Reset(c); w.Next(); {
			x := w.Record()
			r.Time, r.Offset, r.Batch = x.Timestamp, x.Offset, w.Batch().Base
			if d.Decode(x.Key, x.Value, &r) {
				h.Add(&r)
			}
		}
		if got := h.End(offsets.Complete{}); got.Commits != 200_000 || len(got.Events) != 0 {
			b.Fatalf("got %d commits and %d events", got.Commits, len(got.Events))
		}
	}
}
