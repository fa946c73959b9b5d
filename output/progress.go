package output

import (
	"fmt"
	"math"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
)

// ReplayProgress is how far a replay has come just now.
type ReplayProgress struct {
	Rows    []ProgressRow
	Records int64 // so far, over all
	Bytes   int64
	Rate    float64 // records a second, over the last seconds
	Flow    float64 // bytes a second
	Status  string  // what the sink does: "saved 3 batches, 1,430 records (1.2 MB) · batch 4 running"
}

// ProgressRow is one partition of it.
type ProgressRow struct {
	offsets.Key
	From, Until, At int64   // of offsets; Until is None where there is no end
	Rate            float64 // offsets a second, over the last seconds
}

func (r ProgressRow) done() bool { return r.Until != offsets.None && r.At >= r.Until }

// left is how long the rest of a distance takes; ok is false where that cannot be told.
func left(distance int64, rate float64) (d time.Duration, ok bool) {
	if rate <= 0 || distance < 0 {
		return 0, false
	}
	seconds := float64(distance) / rate
	if seconds > 99*3600 {
		return 0, false
	}
	return time.Duration(math.Ceil(seconds)) * time.Second, true
}

// clock writes a time as 0:04, 12:30 or 2:00:00.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// all adds up the distances of the partitions, and how long they take.
func (v ReplayProgress) all() (done, distance int64, endless bool) {
	for _, r := range v.Rows {
		done += r.At - r.From
		if r.Until == offsets.None {
			endless = true
			continue
		}
		distance += r.Until - r.From
	}
	return done, distance, endless
}

// Line is the progress in one line, as a log takes it.
func (v ReplayProgress) Line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s) · %s/s, %s/s", offsets.Plural(int(v.Records), "record"), Bytes(v.Bytes), offsets.Thousands(int64(math.Round(v.Rate))), Bytes(int64(math.Round(v.Flow))))
	done, distance, endless := v.all()
	if !endless && distance > 0 {
		rate := 0.0
		for _, r := range v.Rows {
			rate += r.Rate
		}
		fmt.Fprintf(&b, " · %d%%", done*100/distance)
		if d, ok := left(distance-done, rate); ok {
			fmt.Fprintf(&b, ", %s left", clock(d))
		}
	}
	if v.Status != "" {
		b.WriteString(" · " + v.Status)
	}
	return b.String()
}

// The widths of a bar, and how many are drawn.
const (
	barMost  = 32
	barLeast = 8
	barsMost = 10
)

// Bars draws a line for each partition, at most ten, those that are not done first of all, and below them the sum.
func (v ReplayProgress) Bars(s Stream) []string {
	rows := v.Rows
	if len(rows) > barsMost {
		rows = nil
		for _, r := range v.Rows {
			if !r.done() && len(rows) < barsMost {
				rows = append(rows, r)
			}
		}
	}
	names, counts, ends := make([]string, len(rows)), make([]string, len(rows)), make([]string, len(rows))
	wide := [2]int{}
	tail := 0
	for i, r := range rows {
		names[i] = Clean(r.Topic) + fmt.Sprintf(" %d", r.Partition)
		counts[i] = offsets.Thousands(r.At - r.From)
		if r.Until != offsets.None {
			counts[i] += " of " + offsets.Thousands(r.Until-r.From)
		}
		switch d, ok := left(r.Until-r.At, r.Rate); {
		case r.done():
			ends[i] = "  done"
		case r.Rate > 0:
			ends[i] = "  " + offsets.Thousands(int64(r.Rate)) + "/s"
			if ok && r.Until != offsets.None {
				ends[i] += "  " + clock(d) + " left"
			}
		}
		wide[0], wide[1] = max(wide[0], width(names[i])), max(wide[1], width(counts[i]))
		tail = max(tail, width(ends[i]))
	}
	room := barMost
	if s.Width > 0 {
		room = min(room, s.Width-1-wide[0]-2-2-wide[1]-tail)
	}
	var lines []string
	for i, r := range rows {
		line := names[i] + strings.Repeat(" ", wide[0]-width(names[i])+2)
		if room >= barLeast && r.Until != offsets.None {
			line += bar(r, room, s.ASCII) + "  "
		}
		line += strings.Repeat(" ", wide[1]-width(counts[i])) + counts[i] + ends[i]
		lines = append(lines, line)
	}
	if more := len(v.Rows) - len(rows); more > 0 {
		lines = append(lines, "and "+offsets.Plural(more, "more partition"))
	}
	lines = append(lines, v.Line())
	for i := range lines {
		if s.Width > 0 {
			lines[i] = cut(lines[i], s.Width-1, s.ASCII) // a line that wraps could not be taken back
		}
	}
	return lines
}

// bar fills cells by eighths.
func bar(r ProgressRow, cells int, ascii bool) string {
	part := 1.0
	if r.Until > r.From {
		part = min(max(float64(r.At-r.From)/float64(r.Until-r.From), 0), 1)
	}
	if ascii {
		n := int(part * float64(cells-2))
		return "[" + strings.Repeat("#", n) + strings.Repeat(".", cells-2-n) + "]"
	}
	eighths := int(part * float64(cells) * 8)
	b := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		b += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return b + strings.Repeat(" ", cells-(eighths+7)/8)
}

// Progress shows a line on a terminal in place of the one before it; an empty one takes it away.
func Progress(s Stream, line string) error {
	p := &printer{w: s.W}
	line = cleanText(line)
	if s.Width > 0 {
		line = cut(line, s.Width-1, s.ASCII) // one that wraps could not be taken back
	}
	p.printf("\r\x1b[K%s", line)
	return p.err
}

// Painter keeps some lines at the bottom of a terminal, and draws them anew in place. It is used by one goroutine at a time.
type Painter struct {
	s     Stream
	drawn int
}

// NewPainter draws on a terminal.
func NewPainter(s Stream) *Painter { return &Painter{s: s} }

// Paint replaces the lines that were drawn last.
func (p *Painter) Paint(lines []string) error {
	var b strings.Builder
	p.back(&b)
	for _, line := range lines {
		b.WriteString(cleanText(line) + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	p.drawn = len(lines)
	_, err := p.s.W.Write([]byte(b.String()))
	return err
}

// Clear takes the lines away.
func (p *Painter) Clear() error {
	if p.drawn == 0 {
		return nil
	}
	var b strings.Builder
	p.back(&b)
	b.WriteString("\x1b[J")
	p.drawn = 0
	_, err := p.s.W.Write([]byte(b.String()))
	return err
}

// back goes to the first of the lines.
func (p *Painter) back(b *strings.Builder) {
	if p.drawn > 0 {
		fmt.Fprintf(b, "\x1b[%dA\r", p.drawn)
	}
}

// Meter measures how fast something grows, over the last seconds.
type Meter struct {
	at     []time.Time
	values []int64
}

// meterSpan is how far back a meter looks, meterStep how close its samples lie.
const (
	meterSpan = 5 * time.Second
	meterStep = 200 * time.Millisecond
)

// Add takes a sample.
func (m *Meter) Add(now time.Time, value int64) {
	n := len(m.at)
	if n > 1 && now.Sub(m.at[n-2]) < meterStep {
		m.at[n-1], m.values[n-1] = now, value
		return
	}
	m.at, m.values = append(m.at, now), append(m.values, value)
	for len(m.at) > 2 && now.Sub(m.at[1]) > meterSpan {
		m.at, m.values = m.at[1:], m.values[1:]
	}
}

// Rate is the growth a second; 0 as long as there is nothing to go by.
func (m *Meter) Rate() float64 {
	n := len(m.at)
	if n < 2 || !m.at[n-1].After(m.at[0]) {
		return 0
	}
	return float64(m.values[n-1]-m.values[0]) / m.at[n-1].Sub(m.at[0]).Seconds()
}
