package offsets

import (
	"fmt"
	"time"
)

// Limits are the conditions of a check. None, for durations 0, leaves a condition out.
type Limits struct {
	Named          bool // each group was named, and has to have something to look at: of a list some never have an offset
	Topics         bool // topics were named: that a group has no partition says of them alone that they are not there, or could not be read
	Healthy        bool // nothing may be out of order
	MaxLag         int64
	MaxUnprocessed int64
	MaxBehind      time.Duration // of the next record's age
	MinExpires     time.Duration // of the time for which it will still be there
}

// Timed reports that a condition needs the timing of the rows.
func (l Limits) Timed() bool { return l.MaxBehind > 0 || l.MinExpires > 0 }

// Unit is what the numbers of a check count.
type Unit string

// The units.
const (
	Offsets      Unit = "offsets"
	Milliseconds Unit = "ms"
	Partitions   Unit = "partitions"
)

// Check is one condition held against a snapshot.
type Check struct {
	Name       string // "ok", "max-lag", "max-unprocessed", "max-behind", "min-expires-in"
	Unit       Unit
	Limit      int64 // None for "ok"
	Failed     bool
	Worst      *Measure  // where it failed most, or came nearest to it; nil if nothing could be measured
	Count      int       // how many partitions fail, and groups that have none
	Fails      []Measure // those
	Unmeasured int       // how many could not be measured, partitions and groups, which fails none by itself
	Groups     int       // of those: groups as a whole
	Reasons    []Reason  // why they could not be, in the order in which they were met
}

// Reason is why some partitions could not be measured.
type Reason struct {
	Why   string
	Count int
}

// Measure is a number at a partition. Words say what is wrong where it is no number. Of a group without partitions Topic is "" and
// Partition None.
type Measure struct {
	Group string
	Key
	Value int64
	Words string
	Lost  bool // the offset is none from which a number would count, which fails any limit; Value is None
}

// Whole reports that it is about a group as a whole, which has no partitions.
func (m *Measure) Whole() bool { return m.Topic == "" }

// measured is what a condition finds at a row: a number, or nothing and why. none says that there is nothing to measure, lost that no
// number would do.
type measured struct {
	value      int64
	words      string
	none, lost bool
	why        string
}

// condition is a check with what it looks at.
type condition struct {
	Check
	least   bool // the limit is a lower one
	measure func(*Judged) measured
}

func (c *condition) fails(m measured) bool {
	if c.least && !m.lost {
		return m.value < c.Limit
	}
	return m.lost || m.value > max(c.Limit, 0)
}

// worse reports that one is worse than the other.
func (c *condition) worse(a, b *Measure) bool {
	if a.Lost || b.Lost {
		return a.Lost && !b.Lost
	}
	return a.Value != b.Value && (a.Value > b.Value) != c.least
}

// conditions lists those that are set, at the given time.
func (l Limits) conditions(now time.Time) []condition {
	var all []condition
	if l.Healthy {
		all = append(all, condition{Check: Check{Name: "ok", Unit: Partitions, Limit: None}, measure: func(j *Judged) measured {
			switch {
			case j.Healthy():
				return measured{}
			case j.Row.Unheard() && j.Row.Owner == "": // it was named, and does not exist, which is told by itself
				return measured{why: j.whyNot()}
			}
			return measured{value: 1, words: j.Words()}
		}})
	}
	if l.MaxLag != None {
		all = append(all, condition{Check: Check{Name: "max-lag", Unit: Offsets, Limit: l.MaxLag}, measure: func(j *Judged) measured {
			switch {
			case j.Committed.Lag == None:
				return measured{why: j.whyNot(Committed)}
			case j.Committed.lost():
				return measured{value: None, lost: true, words: j.wordsOf(Committed)}
			}
			return measured{value: j.Committed.Lag}
		}})
	}
	if l.MaxUnprocessed != None {
		all = append(all, condition{Check: Check{Name: "max-unprocessed", Unit: Offsets, Limit: l.MaxUnprocessed}, measure: func(j *Judged) measured {
			n, ok := j.Unprocessed()
			switch {
			case j.Row.Range.Gone():
			case j.Stored.lost():
				return measured{value: None, lost: true, words: j.wordsOf(Stored)}
			case j.Committed.lost():
				return measured{value: None, lost: true, words: j.wordsOf(Committed)}
			}
			if !ok {
				return measured{why: j.whyNot(Stored, Committed)}
			}
			return measured{value: max(n, 0)}
		}})
	}
	if l.MaxBehind > 0 {
		all = append(all, condition{Check: Check{Name: "max-behind", Unit: Milliseconds, Limit: l.MaxBehind.Milliseconds()}, measure: func(j *Judged) measured {
			age, why := j.Row.Timing.Behind(now)
			return measured{value: age.Milliseconds(), why: why}
		}})
	}
	if l.MinExpires > 0 {
		all = append(all, condition{Check: Check{Name: "min-expires-in", Unit: Milliseconds, Limit: l.MinExpires.Milliseconds()}, least: true, measure: func(j *Judged) measured {
			e := j.Row.Timing.Expires()
			left, _ := e.In(now)
			return measured{value: left.Milliseconds(), none: e.Never || e.None, why: e.Reason}
		}})
	}
	return all
}

// Over reports a row that is beyond one of the limits that are numbers, at the given time.
func (l Limits) Over(j *Judged, now time.Time) bool {
	l.Healthy = false
	for _, c := range l.conditions(now) {
		if m := c.measure(j); !m.none && m.why == "" && c.fails(m) {
			return true
		}
	}
	return false
}

// RunChecks holds the limits against every row. What could not be measured fails none of them by itself.
func RunChecks(s Snapshot, l Limits) []Check {
	var checks []Check
	for _, c := range l.conditions(s.At) {
		checks = append(checks, c.run(s, l))
	}
	return checks
}

// unmeasured counts a partition, or a group, that could not be measured, by its reason.
func (c *condition) unmeasured(why string) {
	c.Unmeasured++
	for i := range c.Reasons {
		if c.Reasons[i].Why == why {
			c.Reasons[i].Count++
			return
		}
	}
	c.Reasons = append(c.Reasons, Reason{why, 1})
}

func (c *condition) run(s Snapshot, l Limits) Check {
	for i := range s.Groups {
		g := &s.Groups[i]
		switch {
		case g.Trouble != nil && len(g.Rows) == 0:
			c.Groups++
			c.unmeasured(fmt.Sprintf("group %q could not be read", g.ID))
		case g.Nowhere():
			c.Groups++
			c.unmeasured(fmt.Sprintf("group %q is not known", g.ID))
		case !g.Nothing() || !l.Named && g.Store == nil:
		case l.Topics:
			c.Groups++
			c.unmeasured(fmt.Sprintf("group %q: what was asked for is not there, or could not be read", g.ID))
		case c.Name == "ok":
			c.take(g.ID, Key{Partition: None}, measured{value: 1, words: g.Bare()})
		default:
			c.Groups++
			c.unmeasured(fmt.Sprintf("group %q: %s", g.ID, g.Bare()))
		}
		if c.Name == "ok" && l.Named && g.unplaced() {
			c.take(g.ID, Key{Partition: None}, measured{value: 1, words: "of what was asked for no offset is committed, and nothing is assigned"})
		}
		for i := range g.Rows {
			j := JudgeRow(&g.Rows[i], s.Origin.Cluster, g.Store != nil)
			switch m := c.measure(&j); {
			case m.none:
			case m.why != "":
				c.unmeasured(m.why)
			default:
				c.take(g.ID, j.Row.Key, m)
			}
		}
	}
	return c.Check
}

// take counts what was measured at a partition, or of a group that has none.
func (c *condition) take(group string, at Key, m measured) {
	found := Measure{Group: group, Key: at, Value: m.value, Words: m.words, Lost: m.lost}
	if c.fails(m) {
		c.Failed = true
		c.Count++
		c.Fails = append(c.Fails, found)
	}
	if c.Worst == nil || c.worse(&found, c.Worst) {
		c.Worst = &found
	}
}
