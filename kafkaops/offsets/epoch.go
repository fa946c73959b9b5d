package offsets

import "slices"

// KeyEpoch is a leader epoch of a partition.
type KeyEpoch struct {
	Key
	Epoch int32
}

// EpochEnd is where a leader epoch ended, as the partition's leader says.
type EpochEnd struct {
	Epoch       int32  // the largest epoch in the log that is not above the one asked for; None if there is none such
	End         int64  // one past its last record; None if it is not known
	Reason      string // why it could not be looked up, "" if it was
	Unsupported bool   // the leader does not know the question, so that its consumers do not ask it either
}

// stale says what a consumer makes of an offset that was recorded with this leader epoch. It asks, before it fetches, where the
// epoch ended: beyond that the log was another one, so it goes back there. An epoch that the log does not have yet leaves it
// waiting for one that never comes; to is None then.
func (end *EpochEnd) stale(offset int64) (to int64, stale bool) {
	switch {
	case end == nil || end.Unsupported || end.Reason != "":
		return None, false
	case end.Epoch == None || end.End == None:
		return None, true
	case end.End < offset:
		return end.End, true
	}
	return None, false
}

// Unchecked says why nobody could tell what a consumer would make of the entry's leader epoch, "" if that is known or of no matter.
func (e *Entry) Unchecked() string {
	if e.EpochEnd == nil || e.EpochEnd.Unsupported {
		return ""
	}
	return e.EpochEnd.Reason
}

// Epochs lists, partition by partition, the leader epochs of entries that a consumer might stumble over: those that are not the
// current leader's. Of the current epoch nothing has been cut off.
func (s Snapshot) Epochs() map[Key][]int32 {
	var ask map[Key][]int32
	s.stumbling(func(r *Row, e *Entry) {
		if ask == nil {
			ask = map[Key][]int32{}
		}
		epochs := ask[r.Key]
		for _, have := range epochs {
			if have == e.Epoch {
				return
			}
		}
		ask[r.Key] = append(epochs, e.Epoch)
	})
	return ask
}

// EpochsEnded records where the epochs that Epochs has listed ended.
func (s Snapshot) EpochsEnded(ends map[KeyEpoch]EpochEnd) {
	s.stumbling(func(r *Row, e *Entry) {
		if end, ok := ends[KeyEpoch{r.Key, e.Epoch}]; ok {
			e.EpochEnd = &end
		}
	})
}

// stumbling visits the entries whose leader epoch has to be asked about.
func (s Snapshot) stumbling(visit func(*Row, *Entry)) {
	for _, g := range s.Groups {
		for i := range g.Rows {
			r := &g.Rows[i]
			for _, e := range []*Entry{&r.Stored, &r.Committed} {
				if e.Presence != Present || e.Epoch == None || e.Epoch == r.Range.Epoch || !r.Range.Known() {
					continue
				}
				if st := judge(e, &r.Range, s.Origin.Cluster); st.Identity != Recreated && !st.Foreign {
					visit(r, e)
				}
			}
		}
	}
}

// Stale selects the partitions whose leader epoch, on either side, would send consumers back or let them wait, and names the sides.
// asked is what the look was held to.
func (g *Group) Stale(cluster string, asked []Selection) (stale []Selection, sides []Side) {
	stale = g.Select(asked, func(r *Row) bool {
		j := JudgeRow(r, cluster, g.Store != nil)
		for _, side := range []Side{Stored, Committed} {
			if _, s := j.on(side); s.Stale && !slices.Contains(sides, side) {
				sides = append(sides, side)
			}
		}
		return j.Stored.Stale || j.Committed.Stale
	})
	return stale, sides
}
