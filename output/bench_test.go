//go:build unix

package output

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"gtoffset/kafkaops/offsets"
)

// many is a group of n partitions, one in seven of them in trouble.
func many(n int) Describe {
	r := rand.New(rand.NewPCG(3, 4))
	g := billing()
	g.Rows = make([]offsets.Row, n)
	for i := range g.Rows {
		earliest := r.Int64N(1 << 40)
		end := earliest + r.Int64N(1<<30)
		committed := offsets.At(earliest + r.Int64N(end-earliest+1))
		stored := committed
		switch i % 7 {
		case 3:
			stored.Offset -= min(stored.Offset-earliest, 500)
		case 5:
			stored.Offset = earliest / 2
		}
		g.Rows[i] = offsets.Row{Key: offsets.Key{Topic: "orders-" + strconv.Itoa(i/1000), Partition: int32(i % 1000)}, Range: known(earliest, end), Stored: stored, Committed: committed}
	}
	slices.SortFunc(g.Rows, func(a, b offsets.Row) int { return a.Key.Compare(b.Key) })
	d := screens()
	d.Snapshot.Groups[0] = g
	return d
}

// csvRows are the rows of the table, as encoding/csv takes them.
func csvRows(d Describe) [][]string {
	return d.grid(d.Snapshot.Groups[0], d.Snapshot.Groups[0].Rows, Stream{}, false).Rows
}

func writeRows(w io.Writer, rows [][]string) {
	out := csv.NewWriter(w)
	for _, row := range rows {
		_ = out.Write(row)
	}
	out.Flush()
}

// The benchmarks of issue 3: a table of 100,000 partitions prints within 3 times encoding/csv for the same rows, JSON within 6.
// x-csv is what the renderer takes over encoding/csv, the judging of the rows by package offsets apart; x-csv-whole is the
// view's whole time, with the judging and the forecast, against encoding/csv over rows that were ready.
func BenchmarkTable100k(b *testing.B) {
	d := many(100_000)
	ratio(b, d, thinkTable, func() { check(b, d.Write(Plain(io.Discard), Table)) })
}

// BenchmarkTableColor100k is a terminal that is wide enough for the gauge.
func BenchmarkTableColor100k(b *testing.B) {
	d := many(100_000)
	ratio(b, d, thinkTable, func() { check(b, d.Write(Stream{W: io.Discard, Width: 200, Color: true, Gauge: true}, Table)) })
}

// BenchmarkJSON100k is the same for the document.
func BenchmarkJSON100k(b *testing.B) {
	d := many(100_000)
	ratio(b, d, thinkJSON, func() { check(b, d.Write(Plain(io.Discard), JSON)) })
}

// BenchmarkCSV100k is our own CSV, which has three times the columns.
func BenchmarkCSV100k(b *testing.B) {
	d := many(100_000)
	ratio(b, d, thinkJSON, func() { check(b, d.Write(Plain(io.Discard), CSV)) })
}

// BenchmarkGrid100k is the table writer alone, over rows that are ready.
func BenchmarkGrid100k(b *testing.B) {
	d := many(100_000)
	g := d.grid(d.Snapshot.Groups[0], d.Snapshot.Groups[0].Rows, Stream{}, false)
	ratio(b, d, func(Describe) {}, func() { check(b, g.Write(Plain(io.Discard))) })
}

// thinkTable asks package offsets what the table asks it.
func thinkTable(d Describe) {
	cluster := d.Snapshot.Origin.Cluster
	for _, g := range d.Snapshot.Groups {
		for _, r := range g.Rows {
			_, _ = offsets.Judge(r.Stored, r.Range, cluster), offsets.Judge(r.Committed, r.Range, cluster)
			_ = r.Words(cluster, true)
		}
		_ = g.Total(cluster)
		_ = offsets.Forecast(g, cluster)
	}
}

// thinkJSON asks package offsets what the document asks it.
func thinkJSON(d Describe) {
	cluster := d.Snapshot.Origin.Cluster
	for _, g := range d.Snapshot.Groups {
		for _, r := range g.Rows {
			_ = r.Healthy(cluster, true)
			_, _ = r.Unprocessed(cluster)
		}
	}
	thinkTable(d)
}

func check(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
}

// ratio runs encoding/csv, the thinking and the view in turn and compares the processor time of their best rounds, garbage
// collection included: on a busy machine wall time would measure the others.
func ratio(b *testing.B, d Describe, think func(Describe), view func()) {
	rows := csvRows(d)
	best := [3]time.Duration{1 << 62, 1 << 62, 1 << 62}
	for b.Loop() {
		for i, f := range []func(){func() { writeRows(io.Discard, rows) }, func() { think(d) }, view} {
			runtime.GC()
			start := spent()
			f()
			best[i] = min(best[i], spent()-start)
		}
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(float64(best[2]-best[1])/float64(best[0]), "x-csv")
	b.ReportMetric(float64(best[2])/float64(best[0]), "x-csv-whole")
	b.ReportMetric(ms(best[0]), "csv-ms")
	b.ReportMetric(ms(best[1]), "offsets-ms")
	b.ReportMetric(ms(best[2]), "view-ms")
}

func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // of the calling process: cannot fail
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Memory grows with the rows, not faster: twice the rows take at most 2.4 times as much.
func TestMemoryLinear(t *testing.T) {
	for _, f := range []Format{Table, JSON, CSV} {
		spent := func(n int) uint64 {
			d := many(n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := d.Write(Plain(io.Discard), f); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		small, large := spent(10_000), spent(20_000)
		t.Logf("%s: %d bytes a row", f, large/20_000)
		if float64(large) > 2.4*float64(small) {
			t.Errorf("%s: %d bytes for 10,000 rows, %d for 20,000", f, small, large)
		}
	}
}

// The document of 1,000 partitions is what encoding/json makes of its own reading of it: nothing is escaped otherwise, spaced
// otherwise or formatted otherwise.
func TestJSONLikeEncodingJSON(t *testing.T) {
	got := drawn(t, many(1000), Stream{}, JSON)
	var compact, again bytes.Buffer
	if err := json.Compact(&compact, []byte(got)); err != nil {
		t.Fatal(err)
	}
	if compact.String()+"\n" != got {
		t.Error("not compact")
	}
	var doc describeTagged
	if err := json.Unmarshal([]byte(got), &doc); err != nil {
		t.Fatal(err)
	}
	enc := json.NewEncoder(&again)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		t.Fatal(err)
	}
	if again.String() != got {
		t.Errorf("got  %.600s\nwant %.600s", got, again.String())
	}
}
