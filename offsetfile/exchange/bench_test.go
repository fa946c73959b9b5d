package exchange_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile/exchange"
)

// many is an export of n partitions.
func many(n int) exchange.Document {
	d := exchange.Document{
		Kind: exchange.Export, Side: offsets.Committed, Taken: noon, Tool: "gtoffset 0.1.0",
		Origin: offsets.Origin{Cluster: "MkU3OEVBNTcwNTJENDM2Qg", Bootstrap: "kafka1:9092", Source: "-b"},
		Groups: []exchange.Group{{Name: "billing", Type: offsets.Consumer}},
		Rows:   make([]exchange.Row, n),
	}
	for i := range d.Rows {
		d.Rows[i] = exchange.Row{
			Given: offsets.Given{
				Group: "billing", Key: offsets.Key{Topic: fmt.Sprintf("orders-%03d", i/1000), Partition: int32(i % 1000)}, TopicID: "5Qx0aaaaaaaaaaaaaaaaaA",
				Value: offsets.Value{Offset: 1<<40 + int64(i), Epoch: 4},
			},
			Side: offsets.Committed, Written: offsets.None,
		}
	}
	return d
}

func BenchmarkWrite100k(b *testing.B) {
	d := many(100_000)
	for _, f := range []exchange.Format{exchange.JSON, exchange.YAML, exchange.CSV, exchange.KafkaCSV} {
		b.Run(string(f), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := d.Write(io.Discard, f, exchange.WriteOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead100k(b *testing.B) {
	d := many(100_000)
	for _, f := range []exchange.Format{exchange.JSON, exchange.YAML, exchange.CSV, exchange.KafkaCSV} {
		var text bytes.Buffer
		if err := d.Write(&text, f, exchange.WriteOptions{}); err != nil {
			b.Fatal(err)
		}
		b.Run(string(f), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				got, err := parse(text.String(), exchange.Options{Group: "billing"})
				if err != nil || len(got.Rows) != len(d.Rows) {
					b.Fatal(err)
				}
			}
		})
	}
}

// 100,000 offsets go out and come in again, and the process stays under 200 MB. It is measured in a
// process of its own for each format, over pipes' worth of buffers: the document is written, held as bytes, and read.
func TestMemoryOf100k(t *testing.T) {
	if f := exchange.Format(os.Getenv("GTOFFSET_TEST_MEMORY")); f != "" {
		d := many(100_000)
		var text bytes.Buffer
		began := time.Now()
		if err := d.Write(&text, f, exchange.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		written := time.Since(began)
		size := text.Len()
		got, err := exchange.ReadFrom(&text, exchange.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Rows) != len(d.Rows) {
			t.Fatalf("%d rows, want %d", len(got.Rows), len(d.Rows))
		}
		for i, r := range got.Rows {
			if want := d.Rows[i]; r.Key != want.Key || r.Value != want.Value || r.Group != want.Group {
				t.Fatalf("row %d: got %+v, want %+v", i, r, want)
			}
		}
		fmt.Printf("written in %v, read in %v, %d bytes, peak %d\n", written.Round(time.Millisecond), (time.Since(began) - written).Round(time.Millisecond), size, peak(t))
		return
	}
	if underRace {
		t.Skip("scripts/test measures memory without the race detector")
	}
	for _, f := range []exchange.Format{exchange.JSON, exchange.YAML, exchange.CSV} {
		t.Run(string(f), func(t *testing.T) {
			t.Setenv("GTOFFSET_TEST_MEMORY", string(f))
			out := again(t, "TestMemoryOf100k")
			t.Log(strings.TrimSpace(out))
			_, after, found := strings.Cut(out, "peak ")
			digits, _, _ := strings.Cut(after, "\n")
			n, err := strconv.Atoi(digits)
			if !found || err != nil {
				t.Fatalf("no peak in %q", out)
			}
			if most := 200 << 20; n > most {
				t.Errorf("peak of %d MiB, want at most %d", n>>20, most>>20)
			}
		})
	}
}
