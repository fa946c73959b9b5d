package output

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
)

// behind is the cell BEHIND: how old the next record is.
func behind(t *offsets.Timing, now time.Time) string {
	age, unknown := t.Behind(now)
	if unknown != "" {
		return "-"
	}
	return span(age)
}

// expires is the cell EXPIRES-IN: how long the next record will be there at least.
func expires(t *offsets.Timing, now time.Time) string {
	e := t.Expires()
	left, ok := e.In(now)
	switch {
	case ok:
		return span(left)
	case e.Never:
		return "never"
	}
	return "-"
}

// span is a length of time in a cell, which has no blanks: 3h12m.
func span(d time.Duration) string {
	return strings.NewReplacer(" min", "m", " ", "").Replace(offsets.Span(d.Truncate(time.Millisecond)))
}

// timeCells are the cells of the wide table that explain the two.
func timeCells(t *offsets.Timing, now time.Time) [3]string {
	cells := [3]string{"-", "-", "-"}
	if t == nil {
		return cells
	}
	if !t.Next.Time.IsZero() {
		cells[0] = t.Next.Time.UTC().Format(offsets.TimeLayout)
	}
	e := t.Expires()
	if !e.At.IsZero() {
		cells[1] = e.At.UTC().Format(offsets.TimeLayout)
	}
	if note := timeNote(t, e, now); note != "" {
		cells[2] = cleanText(note)
	}
	return cells
}

// timeNote says what the numbers leave open, "" if nothing.
func timeNote(t *offsets.Timing, e offsets.Expiry, now time.Time) string {
	var notes []string
	if e.Reason != "" {
		note := e.Reason
		if !e.ByTime.IsZero() {
			note += ", by retention.ms alone in " + offsets.Span(max(e.ByTime.Sub(now), 0).Truncate(time.Second))
		}
		notes = append(notes, note)
	}
	if e.None {
		notes = append(notes, "nothing left to read")
	}
	if t.Retention != nil && t.Retention.Tiered {
		notes = append(notes, "tiered storage: "+tiered(t.Retention))
	}
	return strings.Join(notes, "; ")
}

// timeNotes says of each topic what keeps EXPIRES-IN from being told, and that it lies in tiered storage.
func timeNotes(g offsets.Group) []string {
	var notes []string
	last := ""
	for i := range g.Rows {
		t := g.Rows[i].Timing
		if t == nil || t.Retention == nil || g.Rows[i].Topic == last {
			continue
		}
		topic := Clean(g.Rows[i].Topic)
		if t.Retention.Tiered {
			notes = append(notes, topic+" is in tiered storage: "+tiered(t.Retention)+"; EXPIRES-IN counts both")
			last = g.Rows[i].Topic
		}
		if e := t.Expires(); t.Next.Offset != offsets.None && e.Reason != "" {
			notes = append(notes, "EXPIRES-IN of "+topic+" cannot be told: "+cleanText(e.Reason))
			last = g.Rows[i].Topic
		}
	}
	return notes
}

func tiered(r *offsets.Retention) string {
	if r.LocalMillis == offsets.Unbounded {
		return "on the brokers' disks all along"
	}
	return "on the brokers' disks for " + offsets.Span(offsets.Millis(r.LocalMillis)) + ", then remote"
}

// commitsKept says how long the commits of a group without members stay, "" if that was not asked.
func commitsKept(g offsets.Group) string {
	if g.CommitsKept == 0 {
		return ""
	}
	since := "after the group lost its last member"
	if g.Type == offsets.Simple {
		since = "after it was made"
	}
	return "each is dropped " + offsets.Span(g.CommitsKept) + " " + since + " (offsets.retention.minutes), unless members come"
}

// rates are the cells IN/S, OUT/S and SAVED/S.
func rates(p *offsets.Pace) (in, out, saved string) {
	if p == nil {
		return "-", "-", "-"
	}
	return rate(p.In, p.Known.In), rate(p.Out, p.Known.Out), rate(p.Saved, p.Known.Saved)
}

func rate(n float64, known bool) string {
	switch {
	case !known:
		return "-"
	case n != 0 && math.Abs(n) < 10:
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.0f", n)
}

// trendMarks are the marks of a lag that shrinks, of one that stands, and of one that grows.
func trendMarks(ascii bool) [3]string {
	if ascii {
		return [...]string{"-", "*", "+"}
	}
	return [...]string{"▼", "●", "▲"}
}

func trendLegend(ascii bool) string {
	m := trendMarks(ascii)
	return m[2] + " grows, " + m[0] + " shrinks, " + m[1] + " stands"
}

// trend is the mark of a lag that is known to have moved, or not to: one of nothing has none.
func trend(p *offsets.Pace, ascii bool) string {
	if p == nil || !p.Known.Lag || p.Lag == 0 && p.Grown == 0 {
		return " "
	}
	return trendMarks(ascii)[cmp.Compare(p.Grown, 0)+1]
}

func jsonTiming(e *encoder, t *offsets.Timing, now time.Time) {
	e.object("timing")
	e.number("offset", t.From)
	e.number("next", t.Next.Offset)
	e.time("timestamp", t.Next.Time)
	switch {
	case t.Next.Time.IsZero():
		e.null("timestamp_type")
	case t.Next.LogAppend:
		e.string("timestamp_type", "append")
	default:
		e.string("timestamp_type", "create")
	}
	age, unknown := t.Behind(now)
	if unknown == "" {
		e.int("behind_ms", age.Milliseconds())
	} else {
		e.null("behind_ms")
	}
	e.text("behind_unknown", unknown)
	x := t.Expires()
	e.time("expires_at", x.At)
	if left, ok := x.In(now); ok {
		e.int("expires_in_ms", left.Milliseconds())
	} else {
		e.null("expires_in_ms")
	}
	e.bool("expires_never", x.Never)
	e.text("expires_unknown", x.Reason)
	e.time("expires_by_time_at", x.ByTime)
	if r := t.Retention; r != nil && r.Reason == "" {
		e.string("cleanup_policy", r.Policy)
		e.number("retention_ms", r.Millis)
		e.number("retention_bytes", r.Bytes)
		e.bool("tiered", r.Tiered)
		if r.Tiered {
			e.number("local_retention_ms", r.LocalMillis)
		}
	}
	e.close('}')
}
