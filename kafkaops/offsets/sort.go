package offsets

import (
	"slices"
	"sort"
)

// Order is an order in which rows and groups are shown.
type Order string

// The orders. What is equal in them stands by group, topic and partition.
const (
	ByTopic Order = "topic"
	ByLag   Order = "lag"   // largest first, unknown last
	ByState Order = "state" // worst first
)

// Sorted is the snapshot in an order to be shown in, with rows of its own. Group no longer finds a group in it.
func (s Snapshot) Sorted(by Order) Snapshot {
	if by == ByTopic || by == "" {
		return s
	}
	s.Groups = slices.Clone(s.Groups)
	rank := func(g *Group, r *Row) int64 {
		j := JudgeRow(r, s.Origin.Cluster, g.Store != nil)
		if by == ByState {
			return int64(j.severity())
		}
		if g.Store != nil {
			return max(j.Stored.Lag, j.Committed.Lag)
		}
		return j.Committed.Lag
	}
	ranks := map[string]int64{}
	for i := range s.Groups {
		g := &s.Groups[i]
		g.Rows = slices.Clone(g.Rows)
		sort.SliceStable(g.Rows, func(a, b int) bool { return rank(g, &g.Rows[a]) > rank(g, &g.Rows[b]) })
		ranks[g.ID] = None
		for k := range g.Rows {
			switch n := rank(g, &g.Rows[k]); {
			case by == ByState:
				ranks[g.ID] = max(ranks[g.ID], n)
			case n != None:
				ranks[g.ID] = max(ranks[g.ID], 0) + n
			}
		}
		if by == ByState && g.Trouble != nil {
			ranks[g.ID] = int64(worst)
		}
	}
	sort.SliceStable(s.Groups, func(a, b int) bool { return ranks[s.Groups[a].ID] > ranks[s.Groups[b].ID] })
	return s
}

// worst is the severity of a row of which nothing is known.
const worst = 9

// severity ranks what is wrong with a row: what may lose the most without being seen first.
func (j *Judged) severity() int {
	rank := 0
	see := func(s *State) {
		n := 0
		switch {
		case s.Condition == Unknown || s.Unchecked:
			n = worst
		case s.Condition == Gone || s.Identity == Recreated || s.Foreign:
			n = 8
		case s.Condition == High:
			n = 7
		case s.Condition == Low:
			n = 6
		case s.Stale:
			n = 5
		case s.Condition == NoEntry:
			n = 2
		}
		rank = max(rank, n)
	}
	see(&j.Committed)
	if j.store {
		see(&j.Stored)
		if n, ok := j.Unprocessed(); ok && n != 0 {
			rank = max(rank, 4)
		}
		if j.Stored.Condition == NoEntry {
			rank = max(rank, 3)
		}
	}
	return rank
}
