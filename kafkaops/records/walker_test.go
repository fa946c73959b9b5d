package records_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/records"
)

var codecs = []records.Codec{records.Uncompressed, records.Gzip, records.Snappy, records.LZ4, records.Zstd}

func TestRecordsAsTheyAre(t *testing.T) {
	t.Parallel()
	rs := []rec{
		{off: 5, time: 1700000000000, key: []byte("k"), value: []byte("v")},
		{off: 6, time: 0, key: nil, value: nil},
		{off: 7, time: -1, key: []byte{}, value: []byte{}},
		{off: 8, time: 5, key: []byte{0xff, 0}, value: bytes.Repeat([]byte("long "), 2000)},
		{off: 9, time: 1, value: []byte("h"), headers: []kmsg.Header{{Key: "a", Value: []byte("1")}, {Key: "a", Value: nil}, {Key: "", Value: []byte{}}, {Key: "é", Value: []byte{255}}}},
	}
	for _, codec := range codecs {
		t.Run(codec.String(), func(t *testing.T) {
			var w records.Walker
			w.Reset(chunk(batch{base: 5, epoch: 7, codec: codec, time: 1700000000000, maxTime: 1700000000000, producer: -1, rs: rs}.bytes(t)))
			for _, want := range rs {
				if !w.Next() {
					t.Fatalf("no record at %d: %v", want.off, w.Err())
				}
				r := w.Record()
				if r.Offset != want.off || r.Timestamp != want.time || !same(r.Key, want.key) || !same(r.Value, want.value) {
					t.Errorf("got offset %d, time %d, key %q, value of %d bytes; want %d, %d, %q, %d", r.Offset, r.Timestamp, r.Key, len(r.Value),
						want.off, want.time, want.key, len(want.value))
				}
				if w.Position() != want.off+1 {
					t.Errorf("position %d after offset %d", w.Position(), want.off)
				}
				var headers []kmsg.Header
				for h := r.Headers(); h.Next(); {
					if (h.Value == nil) != (len(headers) == 1) {
						t.Errorf("header %d: null and empty are mixed up", len(headers))
					}
					headers = append(headers, kmsg.Header{Key: string(h.Key), Value: h.Value})
				}
				if d := cmp.Diff(headers, want.headers); d != "" || r.HeaderCount() != len(want.headers) {
					t.Errorf("headers of %d: %s", want.off, d)
				}
			}
			if w.Next() || w.Err() != nil {
				t.Errorf("more than was written, or %v", w.Err())
			}
			if b := w.Batch(); b.Base != 5 || b.Last != 9 || b.Count != 5 || b.Magic != 2 || b.Codec != codec || b.LeaderEpoch != 7 || b.ProducerID != -1 || b.Transactional || b.Control {
				t.Errorf("batch %+v", *b)
			}
		})
	}
}

// same tells null from empty.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

func TestWalk(t *testing.T) {
	t.Parallel()
	long := batch{base: 20, rs: plain(20, 10), producer: -1}
	for _, x := range []struct {
		name        string
		batches     []batch
		from, until int64
		aborted     []records.Aborted
		next        int64
		want        []int64
		position    int64
	}{
		{"empty chunk", nil, 5, 9, nil, 5, nil, 5},
		{"holes in a batch, between batches, and at its end", []batch{{base: 0, last: 9, rs: []rec{{off: 2}, {off: 5}}}, {base: 15, rs: plain(15, 2)}}, 0, 100, nil, 17, []int64{2, 5, 15, 16}, 17},
		{"empty batch", []batch{{base: 0, last: 9}, {base: 10, rs: plain(10, 1)}}, 0, 100, nil, 11, []int64{10}, 11},
		{"only an empty batch", []batch{{base: 0, last: 9}}, 0, 10, nil, 10, nil, 10},
		{"from the middle", []batch{long}, 25, 100, nil, 30, []int64{25, 26, 27, 28, 29}, 30},
		{"up to the middle", []batch{long}, 20, 23, nil, 23, []int64{20, 21, 22}, 23},
		{"from in a hole", []batch{{base: 0, last: 9, rs: []rec{{off: 2}, {off: 5}}}}, 3, 100, nil, 10, []int64{5}, 10},
		{"until in a hole", []batch{{base: 0, last: 9, rs: []rec{{off: 2}, {off: 8}}}}, 0, 6, nil, 6, []int64{2}, 6},
		{"a batch before from", []batch{{base: 0, rs: plain(0, 3)}, {base: 3, rs: plain(3, 2)}}, 3, 100, nil, 5, []int64{3, 4}, 5},
		{"a batch behind until", []batch{{base: 0, rs: plain(0, 3)}, {base: 10, rs: plain(10, 2)}}, 0, 5, nil, 5, []int64{0, 1, 2}, 5},
		{"markers", []batch{{base: 0, attrs: transactional, producer: 1, rs: plain(0, 2)}, marker(2, 1, 1), marker(3, 9, 7)}, 0, 100, nil, 4, []int64{0, 1}, 4},
		{"aborted", []batch{
			{base: 0, attrs: transactional, producer: 1, rs: plain(0, 2)},
			{base: 2, attrs: transactional, producer: 2, rs: plain(2, 2)},
			{base: 4, producer: -1, rs: plain(4, 1)},
			marker(5, 1, 0), marker(6, 2, 1),
			{base: 7, attrs: transactional, producer: 1, rs: plain(7, 1)},
			marker(8, 1, 1),
		}, 0, 100, []records.Aborted{{ProducerID: 1, First: 0}}, 9, []int64{2, 3, 4, 7}, 9},
		{"aborted twice", []batch{
			{base: 0, attrs: transactional, producer: 1, rs: plain(0, 2)},
			marker(2, 1, 0),
			{base: 3, attrs: transactional, producer: 1, rs: plain(3, 1)},
			marker(4, 1, 1),
			{base: 5, attrs: transactional, producer: 1, rs: plain(5, 1)},
			marker(6, 1, 0),
			{base: 7, rs: plain(7, 1), producer: -1},
		}, 0, 100, []records.Aborted{{1, 0}, {1, 5}}, 8, []int64{3, 7}, 8},
		{
			"aborted before from",
			[]batch{{base: 5, attrs: transactional, producer: 1, rs: plain(5, 2)}, marker(7, 1, 0), {base: 8, attrs: transactional, producer: 1, rs: plain(8, 1)}},
			5, 100,
			[]records.Aborted{{1, 0}},
			9,
			[]int64{8},
			9,
		},
		{
			"aborted, its marker before from",
			[]batch{{base: 5, attrs: transactional, producer: 1, rs: plain(5, 2)}, marker(7, 1, 0), {base: 8, attrs: transactional, producer: 1, rs: plain(8, 1)}},
			8, 100,
			[]records.Aborted{{1, 5}},
			9,
			[]int64{8},
			9,
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			var all [][]byte
			for _, b := range x.batches {
				all = append(all, b.bytes(t))
			}
			c := chunk(all...)
			c.From, c.Until, c.Next, c.Aborted = x.from, x.until, x.next, x.aborted
			var w records.Walker
			g, err := walk(&w, c)
			if err != nil || !slices.Equal(g.offsets, x.want) || w.Position() != x.position {
				t.Errorf("got %v, position %d, %v; want %v, %d", g.offsets, w.Position(), err, x.want, x.position)
			}
		})
	}
}

// Wherever a walk is left and taken up again, it gives what an uninterrupted one does.
func TestWalkerPauses(t *testing.T) {
	t.Parallel()
	c := chunk(batch{base: 0, codec: records.LZ4, rs: plain(0, 5)}.bytes(t), batch{base: 7, last: 12, rs: plain(7, 3)}.bytes(t))
	c.Next = 13
	var whole records.Walker
	want, _ := walk(&whole, c)
	for stop := range len(want.offsets) + 1 {
		var w records.Walker
		w.Reset(c)
		var offsets []int64
		for range stop {
			w.Next()
			offsets = append(offsets, w.Record().Offset)
		}
		rest := *c
		rest.From = w.Position() // another walker, from what was saved
		var other records.Walker
		g, err := walk(&other, &rest)
		for w.Next() {
			offsets = append(offsets, w.Record().Offset)
		}
		if !slices.Equal(offsets, want.offsets) || w.Position() != 13 {
			t.Errorf("left after %d: %v, position %d", stop, offsets, w.Position())
		}
		if err != nil || !slices.Equal(g.offsets, want.offsets[stop:]) {
			t.Errorf("begun at the position after %d: %v %v", stop, g.offsets, err)
		}
	}
}

func TestMarkersAndBatches(t *testing.T) {
	t.Parallel()
	c := chunk(batch{base: 0, last: 4}.bytes(t), batch{base: 5, attrs: transactional, producer: 9, rs: plain(5, 2)}.bytes(t), marker(7, 9, 0).bytes(t), marker(8, 9, 1).bytes(t))
	w := records.Walker{Control: true}
	var said []string
	for w.Reset(c); w.NextBatch(); {
		b := w.Batch()
		said = append(said, fmt.Sprintf("%d-%d count=%d control=%v producer=%d", b.Base, b.Last, b.Count, b.Control, b.ProducerID))
		for w.NextRecord() {
			if b.Control {
				said = append(said, fmt.Sprintf("marker %d at %d", w.Marker(), w.Record().Offset))
			} else {
				said = append(said, fmt.Sprint("record ", w.Record().Offset))
			}
		}
	}
	want := []string{
		"0-4 count=0 control=false producer=0", "5-6 count=2 control=false producer=9", "record 5", "record 6",
		"7-7 count=1 control=true producer=9", "marker 0 at 7", "8-8 count=1 control=true producer=9", "marker 1 at 8",
	}
	if d := cmp.Diff(said, want); d != "" || w.Err() != nil {
		t.Errorf("%v\n%s", w.Err(), d)
	}
}

func TestTimestamps(t *testing.T) {
	t.Parallel()
	var w records.Walker
	g, err := walk(&w, chunk(
		batch{base: 0, attrs: logAppend, time: 10, maxTime: 77, rs: []rec{{off: 0, time: 5}, {off: 1, time: 6}}}.bytes(t),
		batch{base: 2, time: -1, rs: []rec{{off: 2, time: -1}, {off: 3, time: 1 << 50}}}.bytes(t)))
	if want := []int64{77, 77, -1, 1 << 50}; err != nil || !slices.Equal(g.times, want) {
		t.Errorf("%v %v, want %v", g.times, err, want)
	}
}

func TestOldFormats(t *testing.T) {
	t.Parallel()
	set := func(messages ...[]byte) []byte { return slices.Concat(messages...) }
	v := func(s string) []byte { return []byte(s) }
	for _, codec := range []records.Codec{records.Gzip, records.Snappy, records.LZ4} {
		for _, x := range []struct {
			name    string
			batches []byte
			want    []int64
			values  []string
			times   []int64
		}{
			{"v0", set(message(0, 4, 0, 0, nil, v("a")), message(0, 6, 0, 0, v("k"), nil), message(0, 7, 0, 0, nil, v(""))), []int64{4, 6, 7}, []string{"a", "", ""}, []int64{-1, -1, -1}},
			{"v1", set(message(1, 4, 100, 0, nil, v("a")), message(1, 6, 200, 8, nil, v("b"))), []int64{4, 6}, []string{"a", "b"}, []int64{100, 200}},
			{
				"v0 wrapper", message(0, 13, 0, byte(codec), nil, squeeze(t, codec, set(message(0, 10, 0, 0, nil, v("a")), message(0, 12, 0, 0, nil, v("b")), message(0, 13, 0, 0, nil, v("c"))))),
				[]int64{10, 12, 13},
				[]string{"a", "b", "c"},
				[]int64{-1, -1, -1},
			},
			{
				"v1 wrapper with gaps", message(1, 13, 500, byte(codec), nil, squeeze(t, codec, set(message(1, 0, 100, 0, nil, v("a")), message(1, 2, 200, 0, nil, v("b")), message(1, 3, 300, 0, nil, v("c"))))),
				[]int64{10, 12, 13},
				[]string{"a", "b", "c"},
				[]int64{100, 200, 300},
			},
			{
				"v1 wrapper whose first is gone", message(1, 13, 500, byte(codec)|8, nil, squeeze(t, codec, set(message(1, 2, 200, 0, nil, v("b")), message(1, 3, 300, 0, nil, v("c"))))),
				[]int64{12, 13},
				[]string{"b", "c"},
				[]int64{500, 500},
			},
			{
				"all of them, and v2", set(message(0, 1, 0, 0, nil, v("a")), message(1, 5, 9, byte(codec), nil, squeeze(t, codec, message(1, 0, 8, 0, nil, v("b")))), batch{base: 6, rs: []rec{{off: 6, value: v("c")}}}.bytes(t)),
				[]int64{1, 5, 6},
				[]string{"a", "b", "c"},
				[]int64{-1, 8, 0},
			},
		} {
			t.Run(codec.String()+" "+x.name, func(t *testing.T) {
				var w records.Walker
				g, err := walk(&w, chunk(x.batches))
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(g, got{x.want, x.values, x.times}, cmp.AllowUnexported(got{})); d != "" {
					t.Error(d)
				}
				c := chunk(x.batches)
				c.From, c.Until = x.want[1], x.want[len(x.want)-1]
				g, err = walk(&w, c)
				if want := x.want[1 : len(x.want)-1]; err != nil || !slices.Equal(g.offsets, want) {
					t.Errorf("from %d until %d: %v %v", c.From, c.Until, g.offsets, err)
				}
			})
		}
	}
}

// A batch that is cut short is left for the next fetch; the ones before it are whole.
func TestCutShort(t *testing.T) {
	t.Parallel()
	first, second := batch{base: 0, rs: plain(0, 2)}.bytes(t), batch{base: 2, rs: plain(2, 2)}.bytes(t)
	var w records.Walker
	for n := range len(second) {
		c := chunk(first, second[:n])
		c.Next = 2
		g, err := walk(&w, c)
		if err != nil || !slices.Equal(g.offsets, []int64{0, 1}) || w.Position() != 2 {
			t.Fatalf("cut at %d: %v, position %d, %v", n, g.offsets, w.Position(), err)
		}
	}
}

// Whatever byte of what the checksum covers is changed, nothing of the batch is given out.
func TestEveryFlippedByteIsFound(t *testing.T) {
	t.Parallel()
	for name, b := range map[string][]byte{
		"v2":         batch{base: 7, rs: plain(7, 3)}.bytes(t),
		"v2 lz4":     batch{base: 7, codec: records.LZ4, rs: plain(7, 3)}.bytes(t),
		"v1":         message(1, 7, 5, 0, []byte("k"), []byte("v")),
		"v1 wrapper": message(1, 7, 5, byte(records.Gzip), nil, squeeze(t, records.Gzip, message(1, 0, 1, 0, nil, []byte("v")))),
	} {
		start := 17
		if name[1] == '1' {
			start = 12
		}
		for i := start; i < len(b); i++ {
			if name[1] == '1' && i == 16 {
				continue // the format: then the checksum is another's
			}
			spoilt := slices.Clone(b)
			spoilt[i] ^= 0x10
			var w records.Walker
			g, err := walk(&w, chunk(spoilt))
			var d *records.DamagedError
			if !errors.As(err, &d) || len(g.offsets) != 0 {
				t.Errorf("%s: byte %d: %v, %v", name, i, g.offsets, err)
				continue
			}
			if d.Topic != "orders" || d.Partition != 3 || d.Offset != 7 {
				t.Errorf("%s: byte %d: %+v", name, i, d)
			}
		}
	}
}

func TestDamage(t *testing.T) {
	t.Parallel()
	resum := func(b []byte) []byte {
		binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], castagnoli))
		return b
	}
	with := func(at int, value ...byte) []byte {
		b := batch{base: 7, rs: plain(7, 3)}.bytes(t)
		copy(b[at:], value)
		return resum(b)
	}
	record := batch{base: 7, rs: []rec{{off: 7, value: []byte("v"), headers: []kmsg.Header{{Key: "h", Value: []byte("x")}}}}}.bytes(t)
	lying := func(at int, value byte) []byte {
		b := slices.Clone(record)
		b[61+at] = value
		return resum(b)
	}
	for _, x := range []struct {
		name string
		b    []byte
		want string
	}{
		{"checksum", with(17, 1)[:0:0], ""},
		{"format", with(16, 3), "its format is v3"},
		{"length below the head", with(8, 0, 0, 0, 5), "its length is 17"},
		{"negative length", with(8, 255, 255, 255, 0), "its length is -244"},
		{"negative offset", with(0, 255), "its first offset is -"},
		{"last offset below the first", with(23, 255), "its last offset is below its first"},
		{"more records than offsets", with(57, 0, 0, 0, 9), "9 records in 3 offsets"},
		{"negative count", with(57, 255), "records in 3 offsets"},
		{"fewer records than there are", with(57, 0, 0, 0, 2), "there is more in it than its records"},
		{"unknown codec", with(22, 7), "no such codec: 7"},
		{"a record's length", lying(0, 0xfe), "lengths that do not fit"},
		{"offset delta", lying(3, 8), "lengths that do not fit"},
		{"key length", lying(4, 40), "lengths that do not fit"},
		{"value length", lying(5, 40), "lengths that do not fit"},
		{"header count", lying(7, 6), "lengths that do not fit"},
		{"negative header count", lying(7, 1), "lengths that do not fit"},
		{"header key is null", lying(8, 1), "lengths that do not fit"},
		{"compressed marker", func() []byte {
			m := marker(7, 1, 0)
			m.codec = records.Gzip
			return m.bytes(t)
		}(), "control batch, and compressed"},
		{"gzip in name only", with(22, 1), "gzip: "},
		{"snappy in name only", with(22, 2), "snappy: "},
		{"lz4 in name only", with(22, 3), "lz4: "},
		{"zstd in name only", with(22, 4), "zstd: "},
		{"wrapper in wrapper's offsets", message(1, 1, 0, 1, nil, squeeze(t, records.Gzip, slices.Concat(message(1, 5, 0, 0, nil, nil), message(1, 2, 0, 0, nil, nil)))), "do not grow"},
		{"wrapper with nothing in it", message(1, 1, 0, 1, nil, squeeze(t, records.Gzip, nil)), "no message"},
		{"wrapper that is cut", message(1, 1, 0, 1, nil, squeeze(t, records.Gzip, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 99, 0, 0, 0, 0, 1, 0, 0})), "cut short"},
		{"v0 wrapper whose offsets are another's", message(0, 9, 0, 1, nil, squeeze(t, records.Gzip, message(0, 5, 0, 0, nil, nil))), "do not fit"},
	} {
		t.Run(x.name, func(t *testing.T) {
			var w records.Walker
			_, err := walk(&w, chunk(x.b))
			var d *records.DamagedError
			if x.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.As(err, &d) || d.CRC || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), `partition 3 of topic "orders"`) {
				t.Errorf("got %v, want %q", err, x.want)
			}
			if w.Next() || w.NextBatch() || w.NextRecord() {
				t.Error("goes on after the damage")
			}
		})
	}
}

// A small batch must not become a large amount of memory.
func TestBomb(t *testing.T) {
	t.Parallel()
	for _, codec := range codecs[1:] {
		t.Run(codec.String(), func(t *testing.T) {
			b := batch{base: 7, codec: codec, rs: []rec{{off: 7, value: make([]byte, 8<<20)}}}.bytes(t)
			w := records.Walker{Limit: 1 << 20}
			_, err := walk(&w, chunk(b))
			var e *records.TooLargeError
			if !errors.As(err, &e) || e.Topic != "orders" || e.Partition != 3 || e.Offset != 7 || e.Codec != codec || e.Limit != 1<<20 {
				t.Errorf("got %v", err)
			}
			w = records.Walker{Limit: 9 << 20}
			if g, err := walk(&w, chunk(b)); err != nil || len(g.offsets) != 1 {
				t.Errorf("below the limit: %v", err)
			}
		})
	}
}

// No record costs an allocation, of whatever codec.
func TestNoAllocations(t *testing.T) {
	for _, codec := range codecs {
		var rs []rec
		for i := range 1000 {
			rs = append(rs, rec{off: int64(i), time: int64(i), key: []byte("key"), value: []byte(strings.Repeat("value ", 10)), headers: []kmsg.Header{{Key: "h", Value: []byte("v")}}})
		}
		c := chunk(batch{codec: codec, rs: rs}.bytes(t))
		var w records.Walker
		n, seen := 0, 0
		one := func() {
			for w.Reset(c); w.Next(); seen++ {
				for h := w.Record().Headers(); h.Next(); {
					n += len(h.Value)
				}
			}
		}
		one()
		if allocs := testing.AllocsPerRun(20, one); allocs > 8 { // a decompressor may take some for the batch
			t.Errorf("%s: %v allocations for 1000 records", codec, allocs)
		}
		if w.Err() != nil || seen != 22*1000 || n != seen {
			t.Errorf("%s: %d records, %d header bytes, %v", codec, seen, n, w.Err())
		}
	}
}

// FuzzWalker walks the record batches of a fetch, of both formats and every codec: in order, within the range, and to its end.
func FuzzWalker(f *testing.F) {
	for _, codec := range codecs {
		f.Add(slices.Concat(batch{base: 3, codec: codec, rs: plain(3, 3)}.bytes(f), batch{base: 9, last: 12}.bytes(f)), int64(4), int64(11), int64(0), true)
	}
	f.Add(slices.Concat(batch{base: 0, attrs: transactional, producer: 1, rs: plain(0, 2)}.bytes(f), marker(2, 1, 0).bytes(f)), int64(0), int64(9), int64(1), false)
	for _, codec := range codecs[:4] {
		f.Add(message(1, 13, 500, byte(codec), nil, squeeze(f, max(codec, 1), slices.Concat(message(1, 0, 1, 0, nil, nil), message(1, 3, 1, 0, []byte("k"), []byte("v"))))), int64(0), int64(20), int64(0), true)
	}
	f.Add(message(0, 13, 0, 0, []byte("k"), nil), int64(0), int64(20), int64(0), false)
	f.Fuzz(func(t *testing.T, b []byte, from, until, producer int64, mend bool) {
		b = slices.Clone(b)
		if mend {
			mendSums(b)
		}
		c := chunk(b)
		c.From, c.Until, c.Next = max(from, 0), until, max(from, until, 0)
		if producer > 0 {
			c.Aborted = []records.Aborted{{ProducerID: producer, First: from}}
		}
		w := records.Walker{Limit: 1 << 20, Control: producer%2 == 0}
		last := c.From - 1
		for w.Reset(c); w.Next(); {
			r := w.Record()
			if r.Offset < c.From || r.Offset >= c.Until || w.Position() != r.Offset+1 {
				t.Fatalf("offset %d outside of [%d, %d), position %d", r.Offset, c.From, c.Until, w.Position())
			}
			if w.Batch().Base > r.Offset || w.Batch().Last < r.Offset {
				t.Fatalf("offset %d outside of its batch %d to %d", r.Offset, w.Batch().Base, w.Batch().Last)
			}
			n := 0
			for h := r.Headers(); h.Next(); n++ {
				if h.Key == nil {
					t.Fatal("header without key")
				}
			}
			if n != r.HeaderCount() {
				t.Fatalf("%d headers of %d", n, r.HeaderCount())
			}
			last = r.Offset
		}
		if w.Err() == nil && w.Position() < last+1 {
			t.Fatalf("position %d after offset %d", w.Position(), last)
		}
		if w.Next() {
			t.Fatal("goes on after its end")
		}
	})
}

// mendSums makes the checksums right, so that fuzzing gets behind them.
func mendSums(b []byte) {
	for len(b) >= 17 {
		n := int64(int32(binary.BigEndian.Uint32(b[8:]))) + 12
		if n < 26 || n > int64(len(b)) {
			return
		}
		if b[16] == 2 && n >= 61 {
			binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:n], castagnoli))
		} else {
			binary.BigEndian.PutUint32(b[12:], crc32.ChecksumIEEE(b[16:n]))
		}
		b = b[n:]
	}
}
