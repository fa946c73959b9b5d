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

// formatted is what a plain program does for the same rows: make the cells, write them with encoding/csv.
func formatted(w io.Writer, d Describe) { writeRows(w, csvRows(d)) }

// BenchmarkTable100k reports the view's time as a multiple of encoding/csv over ready rows (issue 3: at most 3) and over rows
// that are made from the same snapshot.
func BenchmarkTable100k(b *testing.B) {
	d := many(100_000)
	rows := csvRows(d)
	ratio(b, func() { writeRows(io.Discard, rows) }, func() { formatted(io.Discard, d) }, func() { check(b, d.Write(Plain(io.Discard), Table)) })
}

// BenchmarkTableColor100k is a terminal that is wide enough for the gauge.
func BenchmarkTableColor100k(b *testing.B) {
	d := many(100_000)
	rows := csvRows(d)
	ratio(b, func() { writeRows(io.Discard, rows) }, func() { formatted(io.Discard, d) }, func() {
		check(b, d.Write(Stream{W: io.Discard, Width: 200, Color: true, Gauge: true}, Table))
	})
}

// BenchmarkJSON100k is the same for the document (issue 3: at most 6).
func BenchmarkJSON100k(b *testing.B) {
	d := many(100_000)
	rows := csvRows(d)
	ratio(b, func() { writeRows(io.Discard, rows) }, func() { formatted(io.Discard, d) }, func() { check(b, d.Write(Plain(io.Discard), JSON)) })
}

// BenchmarkGrid100k is the table writer alone, over ready rows.
func BenchmarkGrid100k(b *testing.B) {
	d := many(100_000)
	g := d.grid(d.Snapshot.Groups[0], d.Snapshot.Groups[0].Rows, Stream{}, false)
	ratio(b, func() { writeRows(io.Discard, g.Rows) }, func() { formatted(io.Discard, d) }, func() { check(b, g.Write(Plain(io.Discard))) })
}

func check(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
}

// ratio runs the three in turn and compares the processor time of their best rounds, garbage collection included: on a busy
// machine wall time would measure the others.
func ratio(b *testing.B, base, made, ours func()) {
	best := [3]time.Duration{1 << 62, 1 << 62, 1 << 62}
	for b.Loop() {
		for i, f := range []func(){base, made, ours} {
			runtime.GC()
			start := spent()
			f()
			best[i] = min(best[i], spent()-start)
		}
	}
	b.ReportMetric(float64(best[2])/float64(best[0]), "x-csv")
	b.ReportMetric(float64(best[2])/float64(best[1]), "x-made-csv")
	b.ReportMetric(float64(best[0].Microseconds())/1000, "csv-ms")
	b.ReportMetric(float64(best[2].Microseconds())/1000, "ours-ms")
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
