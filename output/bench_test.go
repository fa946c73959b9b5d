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

// A table of 100,000 partitions prints within 3 times encoding/csv for the same rows, JSON within 6.
// Measured is the whole view, from the snapshot to the last byte: judging the rows, words, totals and the forecast too. The
// reference writes every cell of the table with encoding/csv; its numbers are int64 and formatted by strconv while it is
// measured, as any program that prints them must, its texts are ready.
//
//	go test -run xxx -bench 100k -benchtime 20x ./output
//
// x-csv is the ratio of the best rounds, x-csv-median the median over the rounds; a missed limit fails the benchmark.
func BenchmarkTable100k(b *testing.B) {
	d := many(100_000)
	ratio(b, d, 3, func() error { return d.Write(Plain(io.Discard), Table) })
}

// BenchmarkJSON100k is the same for the document.
func BenchmarkJSON100k(b *testing.B) {
	d := many(100_000)
	ratio(b, d, 6, func() error { return d.Write(Plain(io.Discard), JSON) })
}

// BenchmarkTableColor100k is a terminal that is wide enough for the gauge.
func BenchmarkTableColor100k(b *testing.B) {
	d := many(100_000)
	ratio(b, d, 0, func() error { return d.Write(Stream{W: io.Discard, Width: 200, Color: true, Gauge: true}, Table) })
}

// BenchmarkCSV100k is our own CSV, which has three times the columns.
func BenchmarkCSV100k(b *testing.B) {
	d := many(100_000)
	ratio(b, d, 0, func() error { return d.Write(Plain(io.Discard), CSV) })
}

// ratio runs encoding/csv and the view in turn and compares their processor time, garbage collection included: on a busy machine
// wall time would measure the others. limit is what the ratio must not exceed, 0 for none.
func ratio(b *testing.B, d Describe, limit float64, view func() error) {
	var csvs, views, ratios []float64
	rows := csvRows(d)
	for b.Loop() {
		c := milliseconds(b, func() error { return writeRows(io.Discard, rows) })
		v := milliseconds(b, view)
		csvs, views, ratios = append(csvs, c), append(views, v), append(ratios, v/c)
	}
	slices.Sort(ratios)
	median := ratios[len(ratios)/2] // of pairs: a machine that changes its speed changes both
	b.ReportMetric(median, "x-csv")
	b.ReportMetric(slices.Min(csvs), "csv-ms")
	b.ReportMetric(slices.Min(views), "view-ms")
	if limit > 0 && median > limit {
		b.Errorf("takes %.2f times as long as encoding/csv, more than %g", median, limit)
	}
}

// A csvCell is a text, or a number if the text is "".
type csvCell struct {
	text   string
	number int64
}

// csvRows are the cells of the table, as they were before they were text.
func csvRows(d Describe) [][]csvCell {
	g := d.Snapshot.Groups[0]
	var rows [][]csvCell
	grid, _ := d.grid(g, g.Rows, Stream{}, false, nil)
	for _, row := range grid.Rows {
		cells := make([]csvCell, len(row))
		for i, text := range row {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				cells[i].text = text
			}
			cells[i].number = n
		}
		rows = append(rows, cells)
	}
	return rows
}

func writeRows(w io.Writer, rows [][]csvCell) error {
	out := csv.NewWriter(w)
	row := make([]string, len(rows[0]))
	for _, cells := range rows {
		for i, c := range cells {
			row[i] = c.text
			if c.text == "" {
				row[i] = strconv.FormatInt(c.number, 10)
			}
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// milliseconds is the processor time that f takes.
func milliseconds(b *testing.B, f func() error) float64 {
	runtime.GC()
	start := spent()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	return float64((spent() - start).Microseconds()) / 1000
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
