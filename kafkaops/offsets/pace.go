package offsets

// Pace is how a partition, or a group, moved between two looks: offset distances a second.
type Pace struct {
	In     float64 // written at the end
	Out    float64 // committed
	Saved  float64 // stored
	Known  Known   // which of them are known
	Trend  int     // of the lag: -1 shrinks, 1 grows, 0 neither
	Moved  bool    // a number has changed since the last look
	Stated bool    // what is said of it in words has
}

// Known are the parts of a pace that could be measured.
type Known struct{ In, Out, Saved bool }

// Pace fills in how each partition has moved since earlier looks, oldest first: its rates since the first of them, what has changed
// since the last. Rows that were in none of them are left as they are.
func (s Snapshot) Pace(before ...Snapshot) {
	if len(before) == 0 {
		return
	}
	first, last := before[0], before[len(before)-1]
	seconds := s.At.Sub(first.At).Seconds()
	if seconds <= 0 {
		return
	}
	for _, g := range s.Groups {
		was, _ := first.Group(g.ID)
		just, _ := last.Group(g.ID)
		for i := range g.Rows {
			old, known := was.Row(g.Rows[i].Key)
			if !known {
				continue
			}
			g.Rows[i].Pace = pace(&old, &g.Rows[i], seconds)
			if prev, known := just.Row(g.Rows[i].Key); known {
				g.Rows[i].Pace.compare(&prev, &g.Rows[i], s.Origin.Cluster, g.Store != nil)
			}
		}
	}
}

func pace(old, now *Row, seconds float64) *Pace {
	p := &Pace{}
	rate := func(known bool, from, to int64) float64 {
		if !known {
			return 0
		}
		return float64(to-from) / seconds
	}
	present := func(a, b *Entry) bool { return a.Presence == Present && b.Presence == Present }
	p.Known.In = old.Range.Known() && now.Range.Known()
	p.Known.Out, p.Known.Saved = present(&old.Committed, &now.Committed), present(&old.Stored, &now.Stored)
	p.In = rate(p.Known.In, old.Range.End, now.Range.End)
	p.Out = rate(p.Known.Out, old.Committed.Offset, now.Committed.Offset)
	p.Saved = rate(p.Known.Saved, old.Stored.Offset, now.Stored.Offset)
	return p
}

// compare says what has changed between two looks.
func (p *Pace) compare(old, now *Row, cluster string, store bool) {
	before, after := JudgeRow(old, cluster, store), JudgeRow(now, cluster, store)
	if a, b := before.Committed.Lag, after.Committed.Lag; a != None && b != None {
		switch {
		case b > a:
			p.Trend = 1
		case b < a:
			p.Trend = -1
		}
	}
	p.Moved = p.Trend != 0 || old.Range.End != now.Range.End || old.Committed.Offset != now.Committed.Offset || old.Stored.Offset != now.Stored.Offset
	p.Stated = before.Healthy() != after.Healthy() || before.Committed.Condition != after.Committed.Condition || before.Stored.Condition != after.Stored.Condition
}

// Pace is the group's: the sums of its partitions' paces. It is nil while none is known.
func (g Group) Pace() *Pace {
	var sum Pace
	var before, after float64
	known := false
	for i := range g.Rows {
		p := g.Rows[i].Pace
		if p == nil {
			continue
		}
		known = true
		sum.In, sum.Out, sum.Saved = sum.In+p.In, sum.Out+p.Out, sum.Saved+p.Saved
		sum.Known.In, sum.Known.Out, sum.Known.Saved = sum.Known.In || p.Known.In, sum.Known.Out || p.Known.Out, sum.Known.Saved || p.Known.Saved
		sum.Moved, sum.Stated = sum.Moved || p.Moved, sum.Stated || p.Stated
		if p.Known.In && p.Known.Out {
			before, after = before+p.Out, after+p.In
		}
	}
	if !known {
		return nil
	}
	switch {
	case after > before:
		sum.Trend = 1
	case after < before:
		sum.Trend = -1
	}
	return &sum
}
