package output

import (
	"cmp"
	"slices"

	"gtoffset/kafkaops/offsets"
)

// gaugeState is how much of STATE must be left for the gauge to stay.
const gaugeState = 40

// grid lays out the rows of a group for the stream's width: the gauge goes first, then STATE is shortened. told has the reasons
// that are written out above. gauge tells whether one is drawn.
func (d *Describe) grid(g offsets.Group, rows []offsets.Row, s Stream, wide bool, told map[string]bool) (grid Grid, gauge bool) {
	store, cluster := g.Store != nil, d.Snapshot.Origin.Cluster
	shape := layout{store: store, wide: wide, times: d.Times, rates: d.Rates, sums: d.sums, share: g.Type == offsets.Share}
	grid = Grid{Columns: shape.columns(), Rows: make([][]string, len(rows)), bare: true}
	state := slices.IndexFunc(grid.Columns, func(c Column) bool { return c.Name == "STATE" })
	grid.toned, grid.tones = state, nil
	if s.Color {
		grid.tones = make([]tone, len(rows))
	}
	n := len(grid.Columns)
	all := make([]string, len(rows)*(n+1)) // room for the gauge
	var text arena
	for i := range rows {
		row := all[i*(n+1) : i*(n+1)+n : (i+1)*(n+1)]
		j := offsets.JudgeRow(&rows[i], cluster, store)
		d.cells(row, &text, &j, shape, s, told)
		grid.Rows[i] = row
		if s.Color {
			grid.tones[i] = toneOf(&j, store)
		}
	}
	if wide {
		return grid, false
	}
	whole, room := len("STATE"), s.Width
	if s.Gauge && s.Width > 0 {
		for i, w := range grid.widths() {
			if i == state {
				whole = w
				continue
			}
			room -= w + gutter
		}
		room -= gaugeWidth + 1
	}
	if !s.Gauge || s.Width > 0 && room < min(whole, gaugeState) {
		if d.Rates {
			grid.least = len("committed")
		}
		if grid.fit(s, 1, true); d.Rates && !d.sums && s.Width > 0 && grid.numbers() > s.Width {
			d.sums = true
			return d.grid(g, rows, s, wide, told)
		}
		return grid, false
	}
	grid.Columns[state].gap = 1 // the gauge begins with a blank of its own
	grid.Columns = append(grid.Columns, Column{})
	for i, r := range rows {
		gauge = gauge || r.Range.Known()
		stored := r.Stored
		if !store {
			stored = offsets.Entry{}
		}
		if s.Width > 0 {
			grid.Rows[i][state] = cut(grid.Rows[i][state], room, s.ASCII)
		}
		grid.Rows[i] = append(grid.Rows[i], Gauge(r.Range, stored, r.Committed, s.ASCII))
	}
	return grid, gauge
}

// layout says which columns a table of partitions has.
type layout struct {
	store, wide, times, rates, share bool

	sums bool // of the rates only the mark: there is no room for more
}

func (l layout) columns() []Column {
	var c []Column
	left := func(names ...string) {
		for _, n := range names {
			c = append(c, Column{Name: n})
		}
	}
	right := func(names ...string) {
		for _, n := range names {
			c = append(c, Column{Name: n, Right: true})
		}
	}
	left("TOPIC")
	right("PARTITION")
	if !l.rates { // what moves needs the room
		right("EARLIEST")
	}
	if l.store {
		right("STORED")
	}
	if l.share {
		right("START")
	} else {
		right("COMMITTED")
	}
	right("END", "LAG")
	if l.rates {
		left("") // the mark of how LAG moves
	}
	if l.store {
		right("STORED-LAG")
	}
	if l.rates {
		if !l.sums {
			right("IN/S", "OUT/S")
		}
		if l.store && !l.sums {
			right("SAVED/S")
		}
	}
	if l.times {
		right("BEHIND", "EXPIRES-IN")
	}
	if l.wide {
		if l.store {
			right("STORED-EXPIRED", "STORED-AHEAD", "UNPROCESSED")
		}
		right("EXPIRED", "AHEAD", "STABLE", "LEADER", "LEADER-EPOCH", "EPOCH")
		if l.store {
			right("STORED-EPOCH")
		}
		left("TOPIC-ID", "OWNER", "METADATA")
		if l.times {
			left("NEXT-TIME", "EXPIRES-AT", "TIME-NOTE")
		}
	}
	left("STATE")
	return c
}

// cells fills in a row for the layout's columns.
func (d *Describe) cells(row []string, text *arena, j *offsets.Judged, l layout, s Stream, told map[string]bool) {
	r, stored, committed := j.Row, &j.Stored, &j.Committed
	i := 0
	put := func(s string) { row[i] = s; i++ }
	num := func(n int64, known bool) {
		if !known || n == offsets.None {
			put("-")
			return
		}
		put(text.number(n))
	}
	entry := func(e *offsets.Entry) { num(e.Offset, e.Presence == offsets.Present) }
	put(Clean(r.Topic))
	num(int64(r.Partition), true)
	if !l.rates {
		num(r.Range.Earliest, r.Range.Known())
	}
	if l.store {
		entry(&r.Stored)
	}
	if r.Shared != nil {
		num(r.Shared.Start, true)
	} else {
		entry(&r.Committed)
	}
	num(r.Range.End, r.Range.Known())
	num(committed.Lag, true)
	if l.rates {
		put(trend(r.Pace, s.ASCII))
	}
	if l.store {
		num(stored.Lag, true)
	}
	if l.rates {
		if !l.sums {
			in, out, saved := rates(r.Pace)
			put(in)
			put(out)
			if l.store {
				put(saved)
			}
		}
	}
	if l.times {
		put(behind(r.Timing, d.Now))
		put(expires(r.Timing, d.Now))
	}
	if l.wide {
		if l.store {
			num(stored.Expired, true)
			num(stored.Ahead, true)
			n, ok := j.Unprocessed()
			num(max(n, 0), ok)
		}
		num(committed.Expired, true)
		num(committed.Ahead, true)
		num(r.Range.Stable, r.Range.Known())
		num(int64(r.Range.Leader), r.Range.Known())
		num(int64(r.Range.Epoch), r.Range.Known())
		num(int64(r.Committed.Epoch), r.Committed.Presence == offsets.Present)
		if l.store {
			num(int64(r.Stored.Epoch), r.Stored.Presence == offsets.Present)
		}
		put(cmp.Or(cleanText(r.Range.TopicID), "-"))
		put(cmp.Or(Clean(r.Owner), "-"))
		put(cmp.Or(Clean(r.Committed.Metadata), "-"))
		if l.times {
			for _, cell := range timeCells(r.Timing, d.Now) {
				put(cell)
			}
		}
	}
	put(cleanText(j.Brief(told)))
}

// toneOf colours STATE: red where something is lost or not known, yellow for low and unprocessed, dim where all is well.
func toneOf(j *offsets.Judged, store bool) tone {
	t := toneNone
	see := func(s *offsets.State) {
		switch {
		case s.Condition == offsets.High, s.Condition == offsets.Gone, s.Condition == offsets.Unknown,
			s.Identity == offsets.Recreated, s.Foreign, s.Stale, s.Unchecked:
			t = toneRed
		case s.Condition == offsets.Low && t != toneRed:
			t = toneYellow
		}
	}
	see(&j.Committed)
	if store {
		see(&j.Stored)
		n, ok := j.Unprocessed()
		if t == toneNone && (ok && n > 0 || j.Stored.Condition == offsets.NoEntry) {
			t = toneYellow
		}
	}
	switch {
	case t == toneNone && !j.Row.Range.Known():
		return toneRed
	case t == toneNone && j.Committed.Condition == offsets.OK:
		return toneDim
	}
	return t
}
