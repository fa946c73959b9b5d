package records_test

import (
	"bytes"
	"fmt"
	"testing"

	"gtoffset/kafkaops/records"
)

// BenchmarkWalk walks a chunk of 1 MB of records of 100 bytes; ns/record counts.
func BenchmarkWalk(b *testing.B) {
	for _, codec := range codecs {
		b.Run(codec.String(), func(b *testing.B) {
			var batches [][]byte
			n := int64(0)
			for range 20 {
				var rs []rec
				for range 500 {
					rs = append(rs, rec{off: n, time: n, value: fmt.Appendf(nil, "%-100.100s", fmt.Sprint(n, " ", n*n, " some words"))})
					n++
				}
				batches = append(batches, batch{base: n - 500, time: n - 500, codec: codec, rs: rs}.bytes(b))
			}
			c := chunk(bytes.Join(batches, nil))
			var w records.Walker
			size, records := 0, 0
			b.ReportAllocs()
			for b.Loop() {
				for w.Reset(c); w.Next(); {
					size += len(w.Record().Value)
					records++
				}
			}
			if w.Err() != nil {
				b.Fatal(w.Err())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(records), "ns/record")
		})
	}
}
