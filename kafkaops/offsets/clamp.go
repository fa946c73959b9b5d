package offsets

import (
	"cmp"
	"fmt"
)

// ClampPolicy is what an operator has decided beforehand. The zero value decides nothing: every doubtful case is asked about
// or refused.
type ClampPolicy struct {
	Sides        []Side
	High         Target                  // "": end where nothing readable is skipped or the topic is proven the same, else ask
	Recreated    Target                  // "": refuse; Fixed: keep the number
	MissingOther bool                    // an entry that only the other side has is taken over
	MissingFirst bool                    // an entry that only the other side has is ignored: earliest
	OtherCluster bool                    // entries recorded for another cluster may be corrected
	RemoveGone   bool                    // entries in the store of partitions that do not exist any more are removed, instead of left
	Named        func(topic string) bool // the topic was named, so that a first run may be meant
}

// Clamp plans to bring the offsets of the chosen sides back into what the cluster still has. It is the first three steps of the
// scheme "Similar Exactly Once" (read the stored offsets; low goes to earliest; high goes to end; none starts at earliest), but
// stops to ask wherever the number alone cannot tell a truncated log from another one.
func Clamp(s Snapshot, p ClampPolicy) Plan {
	plan := Plan{Command: "clamp", Origin: s.Origin, Created: s.At}
	for _, g := range s.Groups {
		pg := PlanGroup{Group: g.ID, Type: g.Type, State: g.State, Notes: g.notes(s.At)}
		if g.Store != nil {
			pg.Damaged = g.Store.Damaged
		}
		for _, r := range g.Rows {
			for _, side := range p.Sides {
				pg.Changes = append(pg.Changes, clampRow(s, g, r, side, p))
			}
		}
		pg.Notes = append(pg.Notes, p.undecided(g, pg.Changes)...)
		plan.Groups = append(plan.Groups, pg)
	}
	return plan
}

func clampRow(s Snapshot, g Group, r Row, side Side, p ClampPolicy) Change {
	e := r.Entry(side)
	st := Judge(e, r.Range, s.Origin.Cluster)
	c := begin(r, side, s.Origin.Cluster)
	switch {
	case e.negative() && r.Range.Known():
		return c.to(r, ToEarliest, "below earliest")
	case e.Presence == Damaged && side == Stored, e.Presence == Empty:
		return c.refuse(fmt.Sprintf("%s: %s", e.Presence, e.Reason), "--salvage")
	case e.Problem():
		return c.refuse(fmt.Sprintf("%s: %s", e.Presence, cmp.Or(e.Reason, "no reason given")), "")
	case st.Condition == Gone && (!p.RemoveGone || side == Committed || e.Presence != Present):
		return c.leaveGone(r)
	case st.Foreign && !p.OtherCluster:
		return c.refuse(fmt.Sprintf("recorded for cluster %s, and this is %s", e.Cluster, s.Origin.Cluster), "--other-cluster")
	case st.Condition == Gone:
		c.Verdict, c.New, c.Reason = Write, NoValue, r.Range.gone()+"; removed"
		return c
	case side == Stored && g.Unstored != "":
		c.Reason = g.unstored()
		return c
	case st.Condition == NoEntry:
		return clampMissing(s, g, r, c, p)
	case !r.Range.Known():
		return c.unknown("unknown: ", r.Range)
	case st.Identity == Recreated && p.Recreated == "":
		return c.refuse(fmt.Sprintf("the topic was recreated: its id was %s and is %s; %s readable from earliest %d",
			e.TopicID, r.Range.TopicID, Thousands(r.Range.Readable()), r.Range.Earliest), "--recreated end|earliest|keep")
	case st.Identity == Recreated && p.Recreated != Fixed:
		c = c.to(r, p.Recreated, "the topic was recreated")
		c.Rewrite = c.New.Offset == c.Old.Offset // by chance
		return c
	}
	switch st.Condition {
	case Low:
		return c.to(r, ToEarliest, fmt.Sprintf("low: %s expired (%d to %d)", Thousands(st.Expired), e.Offset, r.Range.Earliest-1))
	case High:
		return clampHigh(r, st, c, p)
	}
	place, _ := g.Store.Topic(r.Topic)
	switch {
	case side == Stored && st.Identity == IdentityUnknown && !st.Foreign && p.onlyRecreated() && p.Named(r.Topic) && e.Offset != r.Range.Earliest:
		return c.refuseUntil("in range, and the store keeps no topic id: --recreated earliest cannot tell whether it is of an earlier topic", "reset --stored --to-earliest")
	case st.Identity == Recreated:
		return c.rewrite("kept by choice, and recorded for the topic as it is now")
	case st.Foreign:
		return c.rewrite("in range, and recorded for this cluster")
	case side == Stored && place.Salvaged:
		return c.rewrite("in range; what was salvaged is written whole again")
	}
	c.Reason = cmp.Or(stale(e, st), inRange)
	return c
}

// onlyRecreated reports that all that was decided is that a recreated topic is begun at earliest: who says that alone means the topics that
// are named. Beside other choices it is one of a policy for whatever comes.
func (p ClampPolicy) onlyRecreated() bool {
	return p.Recreated == ToEarliest && p.High == "" && !p.MissingOther && !p.MissingFirst && !p.OtherCluster && !p.RemoveGone
}

// unstored says why a group is left alone of which the store has nothing.
func (g *Group) unstored() string {
	return "nothing of the group is in the store: taken for one that does not use it; if it was lost, --missing other|earliest (looked at " + g.Unstored + ")"
}

// leaveGone is a partition that does not exist any more, and stays on its side as it is.
func (c Change) leaveGone(r Row) Change {
	c.Reason = r.Range.gone() + "; left as it is"
	switch {
	case c.Old.Offset == None:
	case c.Side == Stored:
		c.Reason += ", unless --gone remove"
	default:
		c.Reason += ": Kafka removes such commits by itself"
	}
	return c
}

// stale is the reason of a partition that stays although its leader epoch would not let a consumer go on from its offset, which is in range:
// clamp is about numbers. It is "" for any other.
func stale(e Entry, st State) string {
	switch why := e.Unchecked(); {
	case st.Stale && st.JumpsTo == None:
		return fmt.Sprintf("in range, but stale: a consumer waits for ever, as leader epoch %d does not exist; reset --to-current drops the epoch", e.Epoch)
	case st.Stale:
		return fmt.Sprintf("in range, but stale: a consumer jumps back to %d, where leader epoch %d ended; reset --to-current drops the epoch", st.JumpsTo, e.Epoch)
	case why != "":
		return "in range, but its leader epoch is unchecked: " + why
	}
	return ""
}

// undecided says, once for the group, what the numbers alone do not tell and the policy does not decide.
func (p ClampPolicy) undecided(g Group, changes []Change) (notes []string) {
	high, kept := false, false
	for i := range changes {
		c := &changes[i]
		unknown := c.Old.TopicID == "" || c.TopicID == ""
		high = high || unknown && c.Condition == High && c.Choice != ""
		kept = kept || unknown && c.Side == Stored && c.InRange()
	}
	if high {
		notes = append(notes, "a high offset without a topic id beside it: the log was cut back, or the topic was made anew; then its other numbers are wrong, too")
	}
	if kept && (p.Recreated == ToEarliest || p.Recreated == ToEnd) {
		mends := map[Target]string{ToEarliest: "--to-earliest", ToEnd: "--to-latest"}[p.Recreated]
		notes = append(notes, fmt.Sprintf("the store keeps no topic id of what is in range: --recreated %s cannot tell whether it is of an earlier topic; if it is, reset --stored %s on the topic mends it", p.Recreated, mends))
	}
	return notes
}

// inRange is the reason of a partition that stays because nothing is wrong with it.
const inRange = "in range"

// InRange reports whether the partition stays because its offset is in range, and that is all there is to say of it. It is told
// by what a plan's document holds, so that it holds for a plan that was read, too.
func (c Change) InRange() bool { return c.Verdict == Keep && c.Condition == OK && c.Reason == inRange }

// rewrite keeps the number, and writes anew what stands beside it.
func (c Change) rewrite(why string) Change {
	c.Verdict, c.Reason, c.Rewrite = Write, why, true
	return c
}

func clampHigh(r Row, st State, c Change, p ClampPolicy) Change {
	why := "high by " + Thousands(st.Ahead)
	if p.High != "" {
		return c.to(r, p.High, why)
	}
	proven := st.Identity == Same || r.Range.Readable() == 0
	if st.Identity == IdentityUnknown {
		why += ", identity unknown"
	}
	if n := r.Range.Readable(); n > 0 {
		why += fmt.Sprintf(": skips up to %s readable", Thousands(n))
	}
	c = c.to(r, ToEnd, why)
	if !proven {
		c.Verdict, c.Choice = Ask, "--high end|earliest"
	}
	return c
}

// clampMissing decides about a partition that has no entry on the change's side. Where the other side has none either, the reason is of
// both, and the same on each: else a run for both would write one of them, and find it without the other the next time.
func clampMissing(s Snapshot, g Group, r Row, c Change, p ClampPolicy) Change {
	other := r.Entry(c.Side.Other())
	if c.Side == Stored || g.Store != nil { // else there is no other side
		c = c.beside(other)
	}
	place, _ := g.Store.Topic(r.Topic)
	nowhereYet := other.Presence == Absent
	lost := nowhereYet && (place.Salvaged || r.Stored.Lost)
	above := nowhereYet && place.Presence == Present && place.Whole && r.Partition > place.Highest
	switch {
	case r.Entry(c.Side).Pending && nowhereYet && !p.Named(r.Topic):
		c.Reason = pending + untilEnd // till then there is nothing to correct
		return c
	case r.Entry(c.Side).Pending:
		return c.refusePending()
	case other.Pending:
		return c.refuseUntil(unseen+pending+untilEnd, LookBack)
	case other.Problem() && !p.MissingFirst:
		return c.refuse(unseen+cmp.Or(other.Reason, other.Presence.String()), "--missing earliest")
	case other.Presence == Present && !p.MissingFirst && !p.MissingOther:
		next := clampRow(s, g, r, c.Side.Other(), p)
		c = c.refuse(fmt.Sprintf("no entry, but %s is %d: a lost entry, not a first run", c.Side.Other(), other.Offset), "--missing other|earliest")
		c.then(&next)
		return c
	case other.Presence == Present && p.MissingOther:
		return c.takeOver(r, clampRow(s, g, r, c.Side.Other(), p))
	case lost && !p.MissingFirst:
		return c.refuse("no commit, and no entry in what could be salvaged, which may have lost it", "--missing earliest")
	case nowhereYet && !above && !lost && !p.Named(r.Topic):
		c.Reason = nowhere(g)
		return c
	case !r.Range.Known():
		return c.unknown("unknown: ", r.Range)
	}
	why := "no entry, no commit; starts at earliest"
	switch {
	case other.Presence == Present:
		why = fmt.Sprintf("no entry, earliest by choice; %s is %d", c.Side.Other(), other.Offset)
	case !nowhereYet:
		why = "no entry, earliest by choice; whether the other side has one is unknown"
	case lost:
		why = "no commit, no entry in what could be salvaged: earliest by choice"
	case above:
		why = "no entry, no commit, " + aboveAll(place.Highest) + ": starts at earliest"
	case g.Store == nil:
		why = "no commit; starts at earliest"
	}
	if c.Side == Stored && !above {
		why += fmt.Sprintf(" (looked at %s)", cmp.Or(place.Path, g.Store.path()))
	}
	return c.to(r, ToEarliest, why).again(r, s.Origin.Cluster, g.Store != nil)
}

const unseen = "no entry, and whether the other side has one is unknown: "

// aboveAll says that a partition is above all that a whole file has, so that it was never in it. Why it was not, nobody knows: it may have
// been added since, or never been read.
func aboveAll(highest int32) string {
	if highest == None {
		return "none of the topic in the store"
	}
	return fmt.Sprintf("above the store's last partition (%d)", highest)
}

// nameIt is how a first run is meant.
const nameIt = "; name its topic with -t to start it at earliest"

// nowhere says that no side that was looked at has an offset, and what would give it one.
func nowhere(g Group) string {
	switch {
	case g.Type == Share:
		return "a share group commits no offset"
	case g.Store == nil:
		return "no commit" + nameIt
	}
	return "no entry in the store, no commit" + nameIt
}

func (s *Store) path() string {
	if s == nil {
		return ""
	}
	return s.Path
}

// takeOver gives the change the other side's entry, as clamp would correct it there: what is refused or asked about there is so here.
func (c Change) takeOver(r Row, other Change) Change {
	if other.Verdict == Refuse {
		return c.refuse(fmt.Sprintf("no entry, and %s: %s", other.Side, other.Reason), other.Choice)
	}
	c.Verdict, c.Reason = Write, fmt.Sprintf("no entry; taken over from %s", other.Side)
	if other.New.Offset != other.Old.Offset {
		c.Reason = fmt.Sprintf("no entry; %s is %d, %s", other.Side, other.Old.Offset, other.Reason)
	}
	if other.Verdict == Ask {
		c.Verdict, c.Choice = Ask, other.Choice
	}
	c.New, c.Target = Value{Offset: other.New.Offset, Epoch: None}, other.Target
	c = c.weigh(r)
	c.Expired, c.Repeats = other.Expired, other.Repeats
	return c
}

// to makes the change a write to one end of the range. The offset is ours, so it has no epoch and no metadata.
func (c Change) to(r Row, t Target, why string) Change {
	c.Verdict, c.Reason, c.Target = Write, why, t
	c.New = Value{Offset: r.Range.Earliest, Epoch: None}
	if t == ToEnd {
		c.New.Offset = r.Range.End
	}
	c.Clamped = c.Old.Offset != None && c.Old.Offset != c.New.Offset
	return c.weigh(r)
}

// weigh counts what going from Old to New passes over or reads again, of what is readable, and what has expired before. Going to the
// end from a number beyond it may pass over everything: the log may be a new one.
func (c Change) weigh(r Row) Change {
	c.Skips, c.Expired = 0, 0
	if c.Condition == Low {
		c.Expired = r.Range.Earliest - c.Old.Offset
	}
	if c.Old.Offset == None {
		at := r.Range.clamp(c.New.Offset) // one that is brought back may be out of range
		c.Skips, c.Repeats = at-r.Range.Earliest, min(c.Repeats, r.Range.End-at)
		return c
	}
	c.Repeats = 0
	from, to := r.Range.clamp(c.Old.Offset), r.Range.clamp(c.New.Offset)
	switch {
	case c.Condition == High && to > r.Range.Earliest:
		c.Skips = to - r.Range.Earliest
	case to > from:
		c.Skips = to - from
	default:
		c.Repeats = from - to
	}
	return c
}
