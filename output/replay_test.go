package output

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gtoffset/kafkaops/offsets"
)

func sampleReplay() Replay {
	row := func(p int32, from, until, to, saved, records, bytes int64) ReplayRow {
		return ReplayRow{
			Stretch: offsets.Stretch{Key: offsets.Key{Topic: "orders", Partition: p}, TopicID: "5Qx0", From: from, Until: until, Verdict: offsets.Write},
			To:      to, Saved: saved, Records: records, Bytes: bytes,
		}
	}
	v := Replay{
		Origin: origin(), Group: "billing", Saves: true, Sink: "command", Target: "./load-batch", Started: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC),
		Took: 3200 * time.Millisecond, Batches: 3, Saved: 3, Exit: 3, Cause: "incomplete", Why: "batch 4 was not accepted",
		Rows: []ReplayRow{row(0, 500, 2000, 2000, 2000, 1380, 1_200_000), row(1, 950, 2000, 1360, 1360, 410, 41_000)},
	}
	v.Rows[0].Expired, v.Rows[0].Reason = 380, "380 expired (120 to 499), left out by choice"
	none := ReplayRow{Stretch: offsets.Stretch{Key: offsets.Key{Topic: "orders", Partition: 2}, From: offsets.None, Until: offsets.None, Verdict: offsets.Keep, Left: true, Reason: "nothing is stored for it"}, To: offsets.None, Saved: offsets.None}
	refused := none
	refused.Partition, refused.Left, refused.Verdict, refused.Reason = 3, false, offsets.Refuse, "start 1700 is high by 100: the range is 0..1600"
	refused.From, refused.Until = 1700, 1600
	v.Rows = append(v.Rows, none, refused, row(4, 800, 1000, 1000, 1000, 200, 20_000))
	return v
}

func TestReplaySummary(t *testing.T) {
	v := sampleReplay()
	golden(t, "replay.txt", drawn(t, v, Stream{}, Table))
	golden(t, "replay-80.txt", drawn(t, v, Stream{Width: 80, Color: true}, Table))
	golden(t, "replay.json", drawn(t, v, Stream{}, JSON))
	v.DryRun, v.Rows = true, v.Rows[:2]
	golden(t, "replay-dry.txt", drawn(t, v, Stream{}, Table))
}

// Of many partitions only those are listed of which there is something to say.
func TestReplaySummaryOfMany(t *testing.T) {
	v := sampleReplay()
	last := v.Rows[4]
	for p := range int32(60) {
		last.Partition = 10 + p
		v.Rows = append(v.Rows, last)
	}
	got := drawn(t, v, Stream{}, Table)
	if strings.Count(got, "\n") != 7 || !strings.Contains(got, "61 more partitions were read to the end.\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 9949: "9.9 kB", 9960: "10 kB", 999_499: "999 kB", 999_500: "1.0 MB", 1_234_567: "1.2 MB", 16 << 20: "17 MB", 5e9: "5.0 GB", 3e15: "3.0 PB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func sampleProgress() ReplayProgress {
	row := func(p int32, from, until, at int64, rate float64) ProgressRow {
		return ProgressRow{Key: offsets.Key{Topic: "orders", Partition: p}, From: from, Until: until, At: at, Rate: rate}
	}
	return ReplayProgress{
		Rows:    []ProgressRow{row(0, 500, 2000, 1520, 120), row(1, 950, 2000, 1360, 0), row(2, 0, 100, 100, 50), row(10, 0, offsets.None, 12_345, 12_400)},
		Records: 13_875, Bytes: 1_200_000, Rate: 12_570, Flow: 1_100_000, Status: "saved 3 batches · batch 4 running",
	}
}

func TestProgress(t *testing.T) {
	v := sampleProgress()
	bars := func(s Stream) string { return strings.Join(v.Bars(s), "\n") + "\n" }
	golden(t, "progress.txt", bars(Stream{Width: 120}))
	golden(t, "progress-80.txt", bars(Stream{Width: 80}))
	golden(t, "progress-ascii.txt", bars(Stream{Width: 80, ASCII: true}))
	golden(t, "progress-40.txt", bars(Stream{Width: 40}))
	if got, want := v.Line(), "13,875 records (1.2 MB) · 12,570/s, 1.1 MB/s · saved 3 batches · batch 4 running"; got != want {
		t.Errorf("without an end: got %q, want %q", got, want)
	}
	v.Rows = v.Rows[:3]
	if got, want := v.Line(), "13,875 records (1.2 MB) · 12,570/s, 1.1 MB/s · 57%, 0:07 left · saved 3 batches · batch 4 running"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for p := range int32(100) {
		v.Rows = append(v.Rows, ProgressRow{Key: offsets.Key{Topic: "payments", Partition: p}, Until: 10})
	}
	lines := v.Bars(Stream{Width: 80})
	if len(lines) != barsMost+2 || !strings.HasPrefix(lines[0], "orders 0") || !strings.HasPrefix(lines[2], "payments 0") || lines[barsMost] != "and 93 more partitions" {
		t.Errorf("of many:\n%s", strings.Join(lines, "\n"))
	}
	for _, line := range lines {
		if width(line) >= 80 {
			t.Errorf("it would wrap: %q", line)
		}
	}
}

// A bar is as wide as it is meant to be, however far it is.
func TestBar(t *testing.T) {
	for at := range int64(102) {
		for _, ascii := range []bool{false, true} {
			if got := width(bar(ProgressRow{Until: 101, At: at}, 13, ascii)); got != 13 {
				t.Errorf("%d of 101: %d wide", at, got)
			}
		}
	}
	if got := bar(ProgressRow{}, 4, false); got != "████" {
		t.Errorf("nothing to read: got %q", got)
	}
}

// A line is shorter than the terminal is wide, and no character is cut in two, whatever the width.
func TestProgressFits(t *testing.T) {
	const line = "größe 日本 0: 1,234,567 of 9,876,543 · 🦉 e\u0301té · 12% left"
	for _, ascii := range []bool{false, true} {
		for wide := 5; wide <= 80; wide++ {
			var b strings.Builder
			if err := Progress(Stream{W: &b, Width: wide, ASCII: ascii}, line); err != nil {
				t.Fatal(err)
			}
			got := strings.TrimPrefix(b.String(), "\r\x1b[K")
			if !utf8.ValidString(got) || width(got) >= wide || wide > width(line) && got != line {
				t.Errorf("%d columns: got %q, which is %d wide", wide, got, width(got))
			}
		}
	}
}

func TestPainter(t *testing.T) {
	var b strings.Builder
	p := NewPainter(Stream{W: &b, Width: 80})
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return p.Clear() }, ""},
		{func() error { return p.Paint([]string{"a", "b"}) }, "a\x1b[K\nb\x1b[K\n\x1b[J"},
		{func() error { return p.Paint([]string{"c"}) }, "\x1b[2A\rc\x1b[K\n\x1b[J"},
		{func() error { return p.Clear() }, "\x1b[1A\r\x1b[J"},
		{func() error { return p.Clear() }, ""},
	} {
		b.Reset()
		if err := step.do(); err != nil || b.String() != step.want {
			t.Errorf("got %q (%v), want %q", b.String(), err, step.want)
		}
	}
}

func TestMeter(t *testing.T) {
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	var m Meter
	if m.Rate() != 0 {
		t.Error("a rate of nothing")
	}
	for i := range int64(100) {
		m.Add(at.Add(time.Duration(i)*100*time.Millisecond), i*10)
	}
	if got := m.Rate(); got != 100 {
		t.Errorf("steady: got %v, want 100", got)
	}
	for i := int64(100); i < 300; i++ { // it stands still
		m.Add(at.Add(time.Duration(i)*100*time.Millisecond), 990)
	}
	if got := m.Rate(); got != 0 {
		t.Errorf("standing: got %v, want 0", got)
	}
}
