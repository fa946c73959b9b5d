package offsets

import "fmt"

// Conditions are what can be waited for. All that are set must hold.
type Conditions struct {
	Empty    bool  // no member in any group, and nobody who holds the lock of its store
	MaxLag   int64 // None: not asked for
	CaughtUp bool  // the store has reached what is committed
	Named    bool  // each group was named, and has to have something to look at: of a list some never have an offset
}

// Asks reports whether a condition depends on what is known of a partition. Of one that does not exist any more there is nothing to wait for.
func (c Conditions) Asks(r *Row) bool { return (c.MaxLag != None || c.CaughtUp) && !r.Range.Gone() }

// Open says, in words, what does not hold yet. What is not known does not hold, and neither does what an offset that is none of
// this log's only seems to say: above the end there is no lag.
func Open(s Snapshot, c Conditions) []string {
	var open, passed []string
	for i := range s.Groups {
		g := &s.Groups[i]
		if c.Empty && g.Active() {
			open = append(open, fmt.Sprintf("group %q is active: %s", g.ID, g.activity()))
		}
		if c.Empty && g.Locked() {
			open = append(open, fmt.Sprintf("group %q: its store is locked by %s: its job runs", g.ID, g.Store.Holder))
		}
		if c.CaughtUp && g.Type == Share {
			open = append(open, fmt.Sprintf("group %q is a share group, which commits no offset that a store could reach", g.ID))
			continue
		}
		if why := c.nothing(g); why != "" {
			why = fmt.Sprintf("group %q: %s", g.ID, why)
			if c.Named && g.Unstored == "" {
				open = append(open, why)
			} else {
				passed = append(passed, why)
			}
		}
		for i := range g.Rows {
			j := JudgeRow(&g.Rows[i], s.Origin.Cluster, g.Store != nil)
			for _, why := range [...]string{j.lagOpen(c.MaxLag), j.behindOpen(c.CaughtUp && g.Unstored == "")} {
				if why != "" {
					open = append(open, fmt.Sprintf("group %q %s: %s", g.ID, j.Row.Key, why))
				}
			}
		}
	}
	if len(passed) == len(s.Groups) { // what holds of none of them is not met
		open = append(open, passed...)
	}
	return open
}

// nothing says why there is nothing of a group that the conditions could be held against, "" if there is, or if they ask for none.
func (c Conditions) nothing(g *Group) string {
	lag := c.MaxLag != None
	switch {
	case !lag && !c.CaughtUp:
		return ""
	case len(g.Rows) == 0:
		return g.Bare()
	case !lag && g.Unstored != "":
		return g.notThere()
	}
	const gone = "none of its partitions exists any more"
	none := gone
	for i := range g.Rows {
		switch r := &g.Rows[i]; {
		case r.Range.Gone():
		case lag, r.Committed.Presence != Absent, r.Stored.Presence != Absent:
			return ""
		case r.Range.Known() && r.Range.Readable() == 0: // nothing to commit yet
			if none == gone {
				none = ""
			}
		default:
			none = "nothing is committed that the store could reach, and nothing stored"
		}
	}
	return none
}

// notThere says that the store has nothing of a group that is judged without it.
func (g *Group) notThere() string {
	return fmt.Sprintf("nothing of it is in the store (looked at %s)", g.Unstored)
}

// Stuck finds the first group of which something does not hold that waiting does not mend by itself: an offset that is none of this
// log's, or none at all while nobody is there to commit one.
func Stuck(s Snapshot, c Conditions) (Group, bool) {
	for _, g := range s.Groups {
		idle := !g.Active() && !g.Locked() // nobody is there to commit, or to save, what is missing
		if g.Unstored == "" && c.nothing(&g) != "" && idle || c.CaughtUp && g.Type == Share {
			return g, true
		}
		for i := range g.Rows {
			j := JudgeRow(&g.Rows[i], s.Origin.Cluster, g.Store != nil)
			if j.Row.Committed.Pending {
				continue // its transaction ends
			}
			lag, behind := j.lagOpen(c.MaxLag), j.behindOpen(c.CaughtUp && g.Unstored == "")
			if idle && (lag != "" && j.Committed.Condition == NoEntry || behind != "" && j.Stored.Condition == NoEntry) {
				return g, true
			}
			if c.MaxLag != None && j.Committed.lost() && lag != "" || (j.Committed.lost() || j.Stored.lost()) && behind != "" {
				return g, true
			}
		}
	}
	return Group{}, false
}

// lost reports an offset from which no lag would count.
func (s *State) lost() bool {
	return s.Condition == High || s.Condition == Gone || s.Identity == Recreated || s.Foreign || s.Stale
}

// CountedLag is Lag; None where the offset is none of this log's, or none that a consumer would go on from, so that it does not count.
func (s *State) CountedLag() int64 {
	if s.lost() {
		return None
	}
	return s.Lag
}

// Unseen says, in words, what the conditions do not tell although they hold.
func (c Conditions) Unseen(s Snapshot) []string {
	var notes []string
	for _, g := range s.Groups {
		if why := g.unseen(); c.Empty && why != "" {
			notes = append(notes, fmt.Sprintf("group %q: %s", g.ID, why))
		}
		why := c.nothing(&g)
		if c.CaughtUp && g.Unstored != "" {
			why = g.notThere()
		}
		if why != "" {
			notes = append(notes, fmt.Sprintf("group %q: %s: not waited for", g.ID, why))
		}
	}
	return notes
}

// lagOpen says why the partition's lag is not known to be at most the given one, "" if it is. None is no limit.
func (j *Judged) lagOpen(most int64) string {
	r, state := j.Row, &j.Committed
	switch {
	case most == None || r.Range.Gone():
	case r.Committed.Pending:
		return pending
	case state.Condition == NoEntry && r.Range.Known() && r.Range.Readable() == 0: // nothing to commit yet
	case state.Lag == None:
		return j.whyNot(Committed)
	case state.lost():
		return j.wordsOf(Committed)
	case state.Lag > most:
		return "lag " + Thousands(state.Lag)
	}
	return ""
}

// behindOpen says, if that is asked, why the store is not known to have reached what is committed.
func (j *Judged) behindOpen(asked bool) string {
	r := j.Row
	switch {
	case !asked:
		return ""
	case r.Committed.Pending:
		return pending
	case r.Committed.Presence != Present:
		return ""
	}
	behind, ok := j.Unprocessed()
	switch {
	case !ok:
		return j.whyNot(Stored, Committed)
	case j.Stored.Condition == High:
		return j.wordsOf(Stored)
	case j.Committed.Condition == High, j.Committed.Stale:
		return j.wordsOf(Committed)
	case behind > 0:
		return "stored " + Thousands(behind) + " behind committed"
	case j.Stored.Condition == Low && r.Stored.Offset < r.Committed.Offset: // nothing of it is left to be processed
		return j.wordsOf(Stored)
	}
	return ""
}

// wordsOf is what Words says of one side.
func (j *Judged) wordsOf(side Side) string {
	var s sentence
	j.wordsOn(side, &s, nil)
	return string(s)
}
