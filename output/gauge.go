package output

import (
	"math/bits"
	"strings"

	"gtoffset/kafkaops/offsets"
)

// gaugeCells is how many marks fit between the two ends of a gauge, gaugeWidth what it takes with them and with a mark outside
// on either hand.
const (
	gaugeCells = 14
	gaugeWidth = gaugeCells + 4
)

// Gauge draws where stored (S) and committed (C, or B for both at one mark) lie in [earliest, end]; a mark outside the ends is
// low or high. It is always 18 columns wide, and blank when the range is not known.
func Gauge(r offsets.Range, stored, committed offsets.Entry, ascii bool) string {
	if !r.Known() {
		return strings.Repeat(" ", gaugeWidth)
	}
	left, line, right := "├", "─", "┤"
	if ascii {
		left, line, right = "[", "-", "]"
	}
	s, c := mark(r, stored), mark(r, committed)
	var room [gaugeWidth * 3]byte
	b := room[:0]
	for i := range gaugeCells + 2 {
		if i == 1 {
			b = append(b, left...)
		}
		if i == gaugeCells+1 {
			b = append(b, right...)
		}
		switch {
		case s == i && c == i:
			b = append(b, 'B')
		case s == i:
			b = append(b, 'S')
		case c == i:
			b = append(b, 'C')
		case i == 0 || i == gaugeCells+1:
			b = append(b, ' ')
		default:
			b = append(b, line...)
		}
	}
	return string(b)
}

// gaugeLegend says how to read a gauge.
func (d *Describe) gaugeLegend(s Stream, g offsets.Group) string {
	marks := "C committed"
	if g.Store != nil {
		marks = "S stored, C committed, B both"
	}
	return newPaints(s.Color).paint(toneDim, fold("gauge: "+marks+", from earliest to end; a mark outside is low or high", s.Width, "")) + "\n"
}

// mark is the cell of an entry: 0 left of the line, 1…gaugeCells on it, gaugeCells+1 right of it, -1 nowhere.
func mark(r offsets.Range, e offsets.Entry) int {
	switch {
	case e.Presence != offsets.Present:
		return offsets.None
	case e.Offset < r.Earliest:
		return 0
	case e.Offset > r.End:
		return gaugeCells + 1
	case r.End <= r.Earliest:
		return gaugeCells // empty: nothing is left to read
	}
	// (offset − earliest) × 13 / (end − earliest), rounded down, in 128 bits: both may be near 2^63
	hi, lo := bits.Mul64(uint64(e.Offset-r.Earliest), gaugeCells-1)
	q, _ := bits.Div64(hi, lo, uint64(r.End-r.Earliest))
	return 1 + int(q)
}
