package offsets

// Pace is how a partition, or a group, moved between two looks: offset distances a second.
type Pace struct {
	In     float64 // written at the end
	Out    float64 // committed
	Saved  float64 // stored
	Known  Known   // which of them are known
	Trend  int     // of the lag: -1 shrinks, 1 grows, 0 neither
	Stated bool    // what is said of it in words has changed
}

// Known are the parts of a pace that could be measured.
type Known struct{ In, Out, Saved bool }

// Moved reports whether anything at all has changed.
func (p *Pace) Moved() bool {
	return p != nil && (p.Stated || p.Trend != 0 || p.In != 0 || p.Out != 0 || p.Saved != 0)
}

// Pace fills in how each partition has moved since an earlier look; rows that were not in it are left as they are.
func (s Snapshot) Pace(before Snapshot) {
	seconds := s.At.Sub(before.At).Seconds()
	if seconds <= 0 {
		return
	}
	for _, g := range s.Groups {
		was, ok := before.Group(g.ID)
		if !ok {
			continue
		}
		for i := range g.Rows {
			if old, ok := was.Row(g.Rows[i].Key); ok {
				g.Rows[i].Pace = pace(&old, &g.Rows[i], s.Origin.Cluster, g.Store != nil, seconds)
			}
		}
	}
}

func pace(old, now *Row, cluster string, store bool, seconds float64) *Pace {
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
	before, after := JudgeRow(old, cluster, store), JudgeRow(now, cluster, store)
	if a, b := before.Committed.Lag, after.Committed.Lag; a != None && b != None {
		switch {
		case b > a:
			p.Trend = 1
		case b < a:
			p.Trend = -1
		}
	}
	p.Stated = before.Healthy() != after.Healthy() || before.Committed.Condition != after.Committed.Condition || before.Stored.Condition != after.Stored.Condition
	return p
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
		sum.Stated = sum.Stated || p.Stated
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
