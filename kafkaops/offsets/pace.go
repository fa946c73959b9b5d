package offsets

// Pace is how a partition, or a group, moved between two looks: offset distances a second.
type Pace struct {
	In    float64 // written at the end
	Out   float64 // committed
	Saved float64 // stored
	Known Known   // which of them are known
	Lag   int64   // of the commits, at the end
	Grown int64   // by how much; below 0 it shrank
}

// Known are the parts of a pace that could be measured.
type Known struct{ In, Out, Saved, Lag bool }

// Pace fills in how each partition has moved since the first of earlier looks, which come oldest first. Rows that were not in it are left
// as they are.
func (s Snapshot) Pace(before ...Snapshot) {
	if len(before) == 0 {
		return
	}
	first := before[0]
	seconds := s.At.Sub(first.At).Seconds()
	if seconds <= 0 {
		return
	}
	for _, g := range s.Groups {
		was, _ := first.Group(g.ID)
		for i := range g.Rows {
			if old, known := was.Row(g.Rows[i].Key); known {
				a, b := JudgeRow(&old, s.Origin.Cluster, g.Store != nil), JudgeRow(&g.Rows[i], s.Origin.Cluster, g.Store != nil)
				g.Rows[i].Pace = pace(&a, &b, seconds)
			}
		}
	}
}

// pace is of two looks at a partition. What is beyond the end was never read: to get there, or away, is no pace.
func pace(old, now *Judged, seconds float64) *Pace {
	p := &Pace{}
	rate := func(known bool, from, to int64) float64 {
		if !known {
			return 0
		}
		return float64(to-from) / seconds
	}
	moved := func(a, b *Entry, before, after *State) bool {
		return a.Presence == Present && b.Presence == Present && before.Condition != High && after.Condition != High
	}
	a, b := old.Row, now.Row
	p.Known.In = a.Range.Known() && b.Range.Known()
	p.Known.Out = moved(&a.Committed, &b.Committed, &old.Committed, &now.Committed)
	p.Known.Saved = moved(&a.Stored, &b.Stored, &old.Stored, &now.Stored)
	p.In = rate(p.Known.In, a.Range.End, b.Range.End)
	p.Out = rate(p.Known.Out, a.Committed.Offset, b.Committed.Offset)
	p.Saved = rate(p.Known.Saved, a.Stored.Offset, b.Stored.Offset)
	if p.Known.Lag = p.Known.Out && old.Committed.Lag != None && now.Committed.Lag != None; p.Known.Lag {
		p.Lag, p.Grown = now.Committed.Lag, now.Committed.Lag-old.Committed.Lag
	}
	return p
}

// Pace is the group's: the sums of its partitions' paces. It is nil while none is known.
func (g *Group) Pace() *Pace {
	var sum *Pace
	for i := range g.Rows {
		p := g.Rows[i].Pace
		if p == nil {
			continue
		}
		if sum == nil {
			sum = &Pace{}
		}
		sum.In, sum.Out, sum.Saved = sum.In+p.In, sum.Out+p.Out, sum.Saved+p.Saved
		sum.Lag, sum.Grown = sum.Lag+p.Lag, sum.Grown+p.Grown
		k, known := &sum.Known, p.Known
		k.In, k.Out, k.Saved, k.Lag = k.In || known.In, k.Out || known.Out, k.Saved || known.Saved, k.Lag || known.Lag
	}
	return sum
}
