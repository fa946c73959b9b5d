package offsets

import (
	"cmp"
	"fmt"
	"math"
)

// Aim is what a reset moves offsets to.
type Aim string

// The aims. Each has one place in which its argument comes: see ResetPolicy.
const (
	AimEarliest  Aim = "earliest"
	AimLatest    Aim = "latest"
	AimOffset    Aim = "offset"
	AimTime      Aim = "time"
	AimShift     Aim = "shift"
	AimCurrent   Aim = "current" // the same number, brought into the range, with a clean epoch
	AimStored    Aim = "stored"
	AimCommitted Aim = "committed"
	AimSafe      Aim = "safe" // the smaller of stored and committed: loses nothing that is still there
	AimGroup     Aim = "group"
	AimFile      Aim = "file"      // planned by Merge
	AimCommitAt  Aim = "commit-at" // what was committed at a point in time
)

// Reads reports that moving one side to the aim starts from what the other, or the same one, has.
func (a Aim) Reads(from, side Side) bool {
	switch a {
	case AimSafe:
		return true
	case AimShift, AimCurrent:
		return from == side
	}
	return a == Aim(from)
}

// Found is what the cluster answered for a time: the first offset whose record is not older.
type Found struct {
	Offset int64  // None: no record is that young
	Reason string // why it could not be looked up, "" if it was
	Away   bool   // because no broker answered
}

// ResetPolicy says where to move which side.
type ResetPolicy struct {
	Sides []Side
	Aim   Aim
	N     int64         // the number that an aim takes. AimOffset: the offset; AimShift: the distance
	Times map[Key]Found // AimTime
	From  string        // AimGroup: the other group, whose commits the snapshot has; AimTime: the instant, in words
	Past  Past          // AimCommitAt
	Clamp bool          // a target out of range is brought into it instead of refused
	Named func(topic string) bool
}

// Reset plans to move every partition of the snapshot to the aim.
func Reset(s Snapshot, p ResetPolicy) Plan {
	plan := Plan{Command: "reset", Origin: s.Origin, Created: s.At}
	if p.Aim == AimGroup {
		plan.From = p.From
	}
	for _, g := range s.Groups {
		pg := PlanGroup{Group: g.ID, Type: g.Type, State: g.State, Notes: g.notes(s.At), Changes: make([]Change, 0, len(g.Rows)*len(p.Sides))}
		if p.Aim == AimCommitAt {
			pg.Notes = append(pg.Notes, p.Past.notes(g)...)
		}
		for _, r := range g.Rows {
			for _, side := range p.Sides {
				c := resetRow(s, g, r, side, p)
				if p.Aim != AimGroup && p.Aim != AimCommitAt { // which say themselves how far the job has come
					c = c.again(r, s.Origin.Cluster, g.Store != nil)
				}
				pg.Changes = append(pg.Changes, c)
			}
		}
		plan.Groups = append(plan.Groups, pg)
	}
	return plan
}

// begin is the change of a row that nothing is decided about yet.
func begin(r Row, side Side, cluster string) Change {
	e := r.Entry(side)
	st := Judge(e, r.Range, cluster)
	return Change{
		Key: r.Key, Side: side, TopicID: r.Range.TopicID, Condition: st.Condition,
		Old: ValueOf(e), New: ValueOf(e), Target: Fixed, Verdict: Keep,
	}
}

// beside remembers what decides: what stands on the other side, or in another group.
func (c Change) beside(e Entry) Change {
	at := ValueOf(e).Offset
	c.Beside = &at
	return c
}

// strange says what a number that stays would have to be recorded for anew, "" if it is where it belongs.
func (c Change) strange(s Snapshot) string {
	switch {
	case c.Side == Committed:
		return ""
	case c.Old.Cluster != "" && s.Origin.Cluster != "" && c.Old.Cluster != s.Origin.Cluster:
		return "recorded for this cluster"
	case c.Old.TopicID != "" && c.TopicID != "" && c.Old.TopicID != c.TopicID:
		return "recorded for the topic as it is now"
	}
	return ""
}

func resetRow(s Snapshot, g Group, r Row, side Side, p ResetPolicy) Change {
	c := begin(r, side, s.Origin.Cluster)
	e := r.Entry(side)
	switch {
	case e.barred() != "":
		return c.bar(e)
	case r.Range.Gone() && !p.Named(r.Topic):
		c.Reason = r.Range.gone() + "; left as it is"
		return c
	case r.Range.Gone():
		if r.Stored.Presence == Present {
			return c.refuseUntil(r.Range.gone(), "clamp --stored --gone remove")
		}
		return c.refuse(r.Range.gone(), "")
	case g.Unstored != "" && p.Aim.Reads(Stored, side):
		c.Reason = g.unstored()
		return c
	case !r.Range.Known():
		return c.unknown("unknown: ", r.Range)
	}
	other, from, whose := r.Entry(side.Other()), s.From[r.Key], string(Committed)
	if p.Aim == AimGroup {
		whose = fmt.Sprintf("group %q", p.From)
	}
	switch {
	case p.Aim == AimGroup && from.Pending:
		return c.refuse(whose+": "+pending+untilEnd, "")
	case (p.Aim == AimCommitted || p.Aim == AimSafe) && other.Pending:
		return c.refuseUntil(whose+": "+pending+untilEnd, LookBack)
	}
	switch p.Aim {
	case AimEarliest:
		return c.asked(s, r, ToEarliest, "earliest")
	case AimLatest:
		return c.asked(s, r, ToEnd, "end")
	case AimOffset:
		return c.aim(s, r, Value{Offset: p.N, Epoch: None}, "as asked", p.Clamp)
	case AimTime:
		found := p.Times[r.Key]
		switch {
		case found.Reason != "":
			c.Away = found.Away
			return c.refuse("unknown: "+found.Reason, "")
		case found.Offset == None:
			return c.asked(s, r, ToEnd, "no record at or after "+p.From+": end")
		}
		return c.aim(s, r, Value{Offset: found.Offset, Epoch: None}, "first record at or after "+p.From, true)
	case AimShift:
		return c.shift(s, r, p.N)
	case AimCurrent:
		return c.current(s, r, e)
	case AimSafe:
		return c.beside(other).safe(s, r)
	case AimCommitAt:
		return c.back(s, r, p.Past, p.Clamp)
	case AimStored:
		return c.beside(other).from(s, r, r.Stored, Stored, "the store", p.Clamp)
	case AimCommitted:
		return c.beside(other).from(s, r, r.Committed, Committed, "the commits", p.Clamp)
	case AimGroup:
		if from.Presence == Absent {
			c.Reason = whose + " has no offset for it; left as it is"
			return c
		}
		if p.From != "" { // a group may have no name, and then a plan cannot name it either
			c = c.beside(from)
		}
		return c.from(s, r, from, Committed, whose, p.Clamp)
	}
	return c.refuse(fmt.Sprintf("%q is no target that is known", p.Aim), "")
}

// asked makes the change a write to one end of the range, which was asked for.
func (c Change) asked(s Snapshot, r Row, t Target, why string) Change {
	c = c.to(r, t, why)
	c.Clamped = false
	return c.same(s)
}

// aim makes the change a write of a value that was chosen, not measured.
func (c Change) aim(s Snapshot, r Row, v Value, why string, clamp bool) Change {
	at := r.Range.clamp(v.Offset)
	if at != v.Offset {
		cond := Judge(At(v.Offset), r.Range, "").Condition
		out := fmt.Sprintf("%d is %s: the range is %d..%d", v.Offset, cond, r.Range.Earliest, r.Range.End)
		target := ToEarliest
		if cond == High {
			target = ToEnd
		}
		if !clamp {
			if n := c.to(r, target, "").Skips; target == ToEnd && n > 0 { // there are two ways, and one of them loses
				c.Aside = "reset --" + string(c.Side) + " --to-earliest"
				out += fmt.Sprintf("; --clamp would skip up to %s readable", Thousands(n))
			}
			return c.refuse(out, "--clamp")
		}
		c = c.to(r, target, why+"; "+out)
		c.Clamped = true
		return c.same(s)
	}
	c.Verdict, c.Reason, c.New = Write, why, v
	return c.weigh(r).same(s)
}

// same turns a write that would change nothing into a partition that stays.
func (c Change) same(s Snapshot) Change {
	if c.Verdict != Write || c.Old.Offset != c.New.Offset {
		return c
	}
	if c.Old.Epoch != c.New.Epoch {
		c.Reason += "; the same number, with a clean leader epoch"
		c.Rewrite = true
		return c
	}
	if strange := c.strange(s); strange != "" {
		c.Reason += "; the same number, " + strange
		c.Rewrite = true
		return c
	}
	c.Verdict, c.Reason, c.New = Keep, c.Reason+": already there", c.Old
	return c
}

// shift moves a number by a distance, within the range. It has to be a number of this log.
func (c Change) shift(s Snapshot, r Row, by int64) Change {
	if c.Old.Offset == None {
		return c.refuseUntil("there is no offset to shift", lookFor(c.Side))
	}
	if reason, aside := notComparable(s, r, r.Entry(c.Side), c.Side, string(c.Side)); reason != "" {
		return c.refuseUntil(reason, aside)
	}
	to := c.Old.Offset + by
	switch { // the sum of two large numbers must not come round
	case by > 0 && to < c.Old.Offset:
		to = math.MaxInt64
	case by < 0 && to > c.Old.Offset:
		to = math.MinInt64
	}
	why := fmt.Sprintf("shifted by %+d", by)
	if capped := r.Range.clamp(to); capped != to {
		why += fmt.Sprintf(", capped: the range is %d..%d", r.Range.Earliest, r.Range.End)
		c.Clamped, to = true, capped
	}
	clamped := c.Clamped
	c = c.aim(s, r, Value{Offset: to, Epoch: None}, why, true)
	c.Clamped = clamped
	return c
}

// current keeps the number as far as it is in range, and drops its leader epoch, which may be one that sends consumers back.
func (c Change) current(s Snapshot, r Row, e Entry) Change {
	if e.Presence != Present {
		return c.refuseUntil("there is no offset", lookFor(c.Side))
	}
	if reason, aside := notComparable(s, r, e, c.Side, string(c.Side)); reason != "" {
		return c.refuseUntil(reason, aside)
	}
	return c.aim(s, r, Value{Offset: e.Offset, Epoch: None, Metadata: e.Metadata}, "as it is", true)
}

// safe goes to the smaller of stored and committed, within the range.
func (c Change) safe(s Snapshot, r Row) Change {
	for _, side := range []Side{Stored, Committed} {
		e := r.Entry(side)
		if reason, aside := notComparable(s, r, e, side, string(side)); reason != "" {
			return c.refuseUntil(reason, aside)
		}
	}
	at := min(r.Stored.Offset, r.Committed.Offset)
	known := at <= r.Range.End
	c = c.aim(s, r, Value{Offset: at, Epoch: None}, fmt.Sprintf("the smaller of stored %d and committed %d", r.Stored.Offset, r.Committed.Offset), true)
	if known { // the smaller one says what was done: a side beyond the end passes over nothing by going there
		c.Skips = 0
	}
	return c
}

// from takes over what another place says.
func (c Change) from(s Snapshot, r Row, e Entry, side Side, what string, clamp bool) Change {
	if reason, aside := notComparable(s, r, e, side, what); reason != "" {
		return c.refuseUntil(reason, aside)
	}
	v := Value{Offset: e.Offset, Epoch: None}
	if c.Side == Committed {
		v.Metadata = e.Metadata
	}
	return c.aim(s, r, v, "as in "+what, clamp)
}

// notComparable says why an entry of a side is no number to go by in this log, "" if it is one, and which command decides that first, if one does.
func notComparable(s Snapshot, r Row, e Entry, side Side, what string) (reason, aside string) {
	st := Judge(e, r.Range, s.Origin.Cluster)
	switch {
	case e.Problem():
		return fmt.Sprintf("%s: %s: %s", what, e.Presence, cmp.Or(e.Reason, "no reason given")), ""
	case e.Presence == Absent:
		return what + ": no offset for it", lookFor(side)
	case st.Foreign:
		return fmt.Sprintf("%s: recorded for cluster %s, and this is %s", what, e.Cluster, s.Origin.Cluster), "clamp --stored --other-cluster"
	case st.Identity == Recreated:
		return what + ": recorded before the topic was recreated", "clamp --stored --recreated earliest"
	}
	return "", ""
}
