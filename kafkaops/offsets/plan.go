package offsets

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Plan is a write that was thought through but not done, and afterwards the account of what came of it.
type Plan struct {
	ID      string // time, command and group: also the name of the backup
	Command string
	Created time.Time
	Applied bool
	Origin  Origin
	From    string      // the group whose commits decided, instead of the other side; "" if it was none
	Groups  []PlanGroup // sorted by id
	Backup  string      // path of the backup, "" if there is none
	Undo    string      // command line that takes the write back, "" if there is none
}

// PlanGroup is the part of a plan that concerns one group.
type PlanGroup struct {
	Group   string
	Type    GroupType
	State   string
	Notes   []string  // what an operator should know, but nothing is refused for
	Refusal string    // why nothing of this group may be written; "" if it may
	Choice  string    // flags that would decide otherwise, as an operator types them
	Live    bool      // may be written while members are in the group
	Whole   bool      // the group itself is deleted
	Result  Result    // of deleting it
	Error   string    // why, for Failed
	Lacks   *Right    // Failed for want of it
	Doubt   bool      // an answer did not rule out that it was deleted, and none since has told
	Refused bool      // Failed because members are in it, or it has what was not to go
	Moved   bool      // Refused for the latter
	Damaged []Remains // what the store's changes put something else in the place of, and the old offsets do not tell
	Changes []Change  // sorted by topic, partition, side
}

// Value is what a side holds, or is to hold, for a partition.
type Value struct {
	Offset   int64 // None: no commit or no entry
	Epoch    int32 // None: no leader epoch
	Metadata string
	TopicID  string // what a store recorded with it; a new value has what the cluster says now, unless it is Restored
	Cluster  string
}

// NoValue is a side that holds nothing.
var NoValue = Value{Offset: None, Epoch: None}

// ValueOf is what an entry holds. It is NoValue for one that is absent or could not be read.
func ValueOf(e Entry) Value {
	if e.Presence != Present {
		return NoValue
	}
	return Value{Offset: e.Offset, Epoch: e.Epoch, Metadata: e.Metadata, TopicID: e.TopicID, Cluster: e.Cluster}
}

// Verdict is what a plan does with a partition.
type Verdict string

// The verdicts. Ask becomes Write or Refuse when consent is settled.
const (
	Keep   Verdict = "keep"
	Write  Verdict = "write"
	Ask    Verdict = "ask"
	Refuse Verdict = "refuse"
)

// Target says how a new offset was chosen, and so whether it may follow the cluster between plan and write.
type Target string

// The targets. Earliest follows a log that expires meanwhile; the others stay as they were planned.
const (
	Fixed      Target = "offset"
	ToEarliest Target = "earliest"
	ToEnd      Target = "end"
	Restored   Target = "backup" // as it was, even if that is out of range
)

// Result is what became of a Write.
type Result string

// The results. Unverified is a write that was not answered; the read-back settles it.
const (
	NotTried   Result = "not-tried"
	Written    Result = "written"
	Already    Result = "already" // found at its new value: nothing to do
	Failed     Result = "failed"
	Unverified Result = "unknown"
)

// Change is what a plan does with one partition on one side, and why. A partition that stays has one too.
type Change struct {
	Key
	Side      Side
	TopicID   string // of the topic when the plan was made; "" unknown
	Condition Condition
	Old, New  Value
	Beside    *int64 // the number on the other side, or of the plan's From, None for none, where it decided what the new one is; else nil
	Target    Target
	Verdict   Verdict
	Reason    string // why it is changed, kept, asked about or refused
	Choice    string // for Ask and Refuse: flags that would decide it, as an operator types them; several where one leads to the next
	Would     string // for Refuse with the whole group: why it would else be changed to New
	Aside     string // for Refuse: another command that decides it, or decides it otherwise, with its flags but without group, topic and store
	Lacks     *Right // for Refuse and Failed: the right that is missing, nil if it is not for want of one
	Moved     bool   // for Refuse: what is there now is not what the plan or the backup was made from
	Clamped   bool   // the new offset was forced into the range
	Rewrite   bool   // the number stays, but what stands beside it is written anew: topic id, leader epoch, a salvaged file
	Expired   int64  // records from Old on that are no longer in the log: lost, whatever is written
	Skips     int64  // readable records that the change passes over, at most
	Repeats   int64  // records that the change makes the job read again, at most
	Result    Result // "" until applied
	Error     string // why, for Failed and NotTried; for Written what is uncertain about it (in place, but perhaps not durable)
	Away      bool   // refused only because a broker did not answer
	Refused   bool   // Failed, or NotTried after what did, because the other end would not have it: members in the group, a file changed meanwhile
	Denied    bool   // Failed because the store does not let this user write
	Pending   bool   // Unverified because no answer came: what was sent may still be stored
	Doubt     bool   // an answer to it did not rule out that it was written, and none since has told
	Verified  bool   // read back and found as planned
}

// Counts sums a plan up.
type Counts struct {
	Write, Keep, Ask, Refuse, Clamped           int
	Written, Already, Verified, Failed, Unknown int
	NotTried                                    int
	Expired, Skips, Repeats                     int64 // of a run that is over only where it wrote, or may have
}

// Count sums up all changes of the plan.
func (p Plan) Count() Counts {
	var n Counts
	var last *Change
	lastGroup := ""
	for group, c := range p.Each() {
		switch c.Verdict {
		case Write:
			n.Write++
			if c.Untouched() {
				break
			}
			n.Expired += c.Expired
			n.Skips += c.Skips
			n.Repeats += c.Repeats
			if last != nil && lastGroup == group && last.Key == c.Key { // both sides of a partition: the same records, once
				n.Expired -= min(c.Expired, last.Expired)
				n.Skips -= min(c.Skips, last.Skips)
				n.Repeats -= min(c.Repeats, last.Repeats)
			}
			last, lastGroup = c, group
			if c.Clamped {
				n.Clamped++
			}
		case Keep:
			n.Keep++
		case Ask:
			n.Ask++
		case Refuse:
			n.Refuse++
		}
		switch c.Result {
		case Written:
			n.Written++
		case Already:
			n.Already++
		case Failed:
			n.Failed++
		case Unverified:
			n.Unknown++
		case NotTried:
			if c.Verdict == Write { // else it counts as refused
				n.NotTried++
			}
		}
		if c.Verified {
			n.Verified++
		}
	}
	return n
}

// ToDo counts what the plan would do: writes, those that are to be asked about, and groups to delete that have no commits.
func (p Plan) ToDo() int {
	todo := 0
	for _, g := range p.Groups {
		for _, c := range g.Changes {
			if c.ToDo() && c.Result != Already {
				todo++
			}
		}
		if g.bare() && g.Result == "" {
			todo++
		}
	}
	return todo
}

// bare reports a group that is to be deleted and has no commit (left) of which a change would tell.
func (g PlanGroup) bare() bool {
	return g.Whole && g.Refusal == "" && !g.writes(Committed)
}

// Unlisted reports a group of which no change tells what came of deleting it.
func (g PlanGroup) Unlisted() bool {
	return g.Result != "" && !slices.ContainsFunc(g.Changes, func(c Change) bool { return c.Verdict == Write })
}

// Each goes over the changes of all groups with their group, in order, as they stand in the plan: of 100,000 a copy takes 50 MB.
func (p Plan) Each() iter.Seq2[string, *Change] {
	return func(yield func(string, *Change) bool) {
		for _, g := range p.Groups {
			for i := range g.Changes {
				if !yield(g.Group, &g.Changes[i]) {
					return
				}
			}
		}
	}
}

// Has reports whether f holds for a change of the plan.
func (p Plan) Has(f func(*Change) bool) bool {
	for _, c := range p.Each() {
		if f(c) {
			return true
		}
	}
	return false
}

// All lists copies of the changes of all groups with their group, in order.
func (p Plan) All() []GroupChange {
	var all []GroupChange
	for _, g := range p.Groups {
		for _, c := range g.Changes {
			all = append(all, GroupChange{g.Group, c})
		}
	}
	return all
}

// GroupChange is a change with the group that it belongs to.
type GroupChange struct {
	Group string
	Change
}

// Noted is the plan with a note on each group of which a side is to be written.
func (p Plan) Noted(side Side, note string) Plan {
	p.Groups = slices.Clone(p.Groups)
	for i, pg := range p.Groups {
		if slices.ContainsFunc(pg.Changes, func(c Change) bool { return c.Side == side && c.Verdict != Keep }) {
			p.Groups[i].Notes = append(slices.Clone(pg.Notes), note)
		}
	}
	return p
}

// Settle turns each Ask into a Write, if consent was given for it, or into a refusal.
func (p Plan) Settle(consent bool) Plan {
	return p.eachOf(func(_ string, c Change) Change {
		switch {
		case c.Verdict != Ask:
		case consent:
			c.Verdict = Write
		default:
			c.Verdict = Refuse
		}
		return c
	})
}

// eachOf returns a copy of the plan with every change replaced. Groups in which nothing is replaced are not copied.
func (p Plan) eachOf(f func(group string, c Change) Change) Plan {
	p.Groups = slices.Clone(p.Groups)
	for i := range p.Groups {
		g, own := &p.Groups[i], false
		for j := range g.Changes {
			c := f(g.Group, g.Changes[j])
			if c == g.Changes[j] {
				continue
			}
			if !own {
				g.Changes, own = slices.Clone(g.Changes), true
			}
			g.Changes[j] = c
		}
	}
	return p
}

// Recheck holds a plan against a fresh look, taken directly before the write. A partition whose value, condition or topic id
// has changed, or whose target is now out of range, is refused with what moved; one that is at its new value is done; a target
// that names earliest follows it. What stands beside the number may have changed, and is then what a backup is to bring back.
// A group that is to be deleted is refused if it has a commit of which the plan does not know.
func Recheck(p Plan, fresh Snapshot) Plan {
	p = p.eachOf(func(group string, c Change) Change {
		if c.Verdict != Write || c.Result == Already {
			return c
		}
		g, seen := fresh.Group(group)
		row, found := g.Row(c.Key)
		if !found && !(seen && p.deletes(group)) { // of a whole group the rows are those that have a commit
			return c.moved("it is no longer there", "")
		}
		now := row.Entry(c.Side)
		switch {
		case g.Trouble != nil && c.Side == Committed:
			c.Away = g.Trouble.Unreachable
			return c.refuse("the fresh look failed: "+g.Trouble.Reason, "")
		case now.Pending:
			return c.refusePending()
		case now.unread():
			return c.refuse("the fresh look failed: "+now.Reason, "")
		case c.TopicID != "" && row.Range.TopicID != "" && row.Range.TopicID != c.TopicID:
			return c.moved("the topic was recreated since the plan", "")
		case c.stands(ValueOf(now)) && !now.negative() && !(c.Rewrite && c.Side == Stored):
			return c.already()
		case ValueOf(now).Offset != c.Old.Offset:
			return c.moved(fmt.Sprintf("moved since the plan: was %s, is %s", number(c.Old.Offset), number(ValueOf(now).Offset)), "")
		case c.Rewrite && c.Side == Committed && now.Metadata != c.Old.Metadata:
			return c.moved("its metadata has changed since the plan", "")
		}
		c.Old = ValueOf(now)
		switch e, whose := p.decided(c, row, fresh); {
		case c.Beside == nil || *c.Beside == ValueOf(e).Offset && !e.Pending:
		case e.Pending || e.Problem():
			return c.refuse("the fresh look failed: the "+whose+" that decided: "+cmp.Or(e.barred(), e.Reason), "")
		default:
			return c.moved(fmt.Sprintf("the %s that decided has moved since the plan: was %s, is %s", whose, number(*c.Beside), number(ValueOf(e).Offset)), "")
		}
		switch {
		case c.Condition == Gone && c.Side == Stored && c.Target == Fixed && c.New.Offset == None && !row.Range.Gone():
			return c.moved("it was gone when planned and is not now", "")
		case c.New.Offset == None:
			return c
		case row.Range.Gone() && c.Target != Restored:
			return c.moved("gone since the plan: "+row.Range.gone(), "")
		case !row.Range.Known() && c.Target != Restored:
			return c.unknown("the fresh look failed: ", row.Range)
		}
		if c.Target == ToEarliest && c.New.Offset != row.Range.Earliest {
			c.Reason += fmt.Sprintf("; earliest has moved on from %d", c.New.Offset)
			c.New.Offset = row.Range.Earliest
			if c = c.weigh(row); c.stands(ValueOf(now)) && !c.Rewrite {
				return c.already()
			}
		}
		if c.Target == Restored {
			return c
		}
		if cond := Judge(At(c.New.Offset), row.Range, "").Condition; cond != OK {
			return c.moved(fmt.Sprintf("the target %d is now %s: the range is %d..%d", c.New.Offset, cond, row.Range.Earliest, row.Range.End), "")
		}
		if cond := Judge(now, row.Range, fresh.Origin.Cluster).Condition; cond != c.Condition {
			return c.moved(fmt.Sprintf("it was %s when planned and is %s now", c.Condition, cond), "")
		}
		return c
	})
	for i, pg := range p.Groups {
		switch g, _ := fresh.Group(pg.Group); {
		case !pg.Whole || pg.Refusal != "":
		case g.Existence == Missing:
			p.Groups[i].Result = Already
		default:
			p.Groups[i] = pg.unplanned(g, fresh.Origin.Cluster).allOrNothing()
		}
	}
	return p
}

// Compares reports whether the plan is held against the other side as well.
func (p Plan) Compares() bool {
	return p.From == "" && p.Has(func(c *Change) bool { return c.Beside != nil })
}

// decided is the entry whose number may have decided a change, as it is now, and what it is called.
func (p Plan) decided(c Change, r Row, fresh Snapshot) (Entry, string) {
	if p.From != "" {
		return fresh.From[c.Key], fmt.Sprintf("offset of group %q", p.From)
	}
	return r.Entry(c.Side.Other()), string(c.Side.Other()) + " offset"
}

// pending says what is going to happen to a commit.
const pending = "an open transaction is going to commit it"

// untilEnd says how long it is going to be so.
const untilEnd = ": it ends within its producer's transaction.timeout.ms, and gtoffset history names the producer"

func (c Change) refusePending() Change { return c.refuseUntil(pending+untilEnd, LookBack) }

// bar refuses what stands against an entry that is barred.
func (c Change) bar(e Entry) Change {
	if e.Pending {
		return c.refusePending()
	}
	return c.refuse(e.barred(), "")
}

// Awaits reports a change that is refused, or was not made, as an open transaction is going to commit.
func (c *Change) Awaits() bool { return strings.Contains(cmp.Or(c.Error, c.Reason), pending) }

// Overtaken is why a commit must not be written any more over what stands now, "" if it may. In Doubt, the new value that stands may be of an
// earlier try; else it is another's, which no backup has.
func (c Change) Overtaken(now Entry) string {
	switch v := ValueOf(now); {
	case now.Pending:
		return pending
	case now.unread():
		return "what stands could not be read before the write: " + now.Reason
	case c.Doubt && v.Offset == c.New.Offset && v.Metadata == c.New.Metadata:
		return ""
	case v.Offset != c.Old.Offset:
		return fmt.Sprintf("moved since the plan: was %s, is %s", number(c.Old.Offset), number(v.Offset))
	case v.Metadata != c.Old.Metadata:
		return "its metadata has changed since the plan"
	}
	return ""
}

// Standing holds what is to be written against commits that are no plain numbers. One that an open transaction is going to commit anew is
// refused: its job is in the middle of something, and which of the two stands depends on which comes later in the log. Of a negative one it
// is said that no undo brings it back.
func (p Plan) Standing(s Snapshot) Plan {
	p = p.eachOf(func(group string, c Change) Change {
		if c.Side != Committed || !c.ToDo() {
			return c
		}
		switch now := s.row(group, c.Key).Committed; {
		case now.Pending:
			return c.refusePending()
		case now.negative():
			c.Reason += "; " + now.Reason + ", which an undo does not bring back"
		}
		return c
	})
	for i, pg := range p.Groups {
		p.Groups[i] = pg.allOrNothing()
	}
	return p
}

// Unknown lists what a fresh look has of the group and the plan does not: partitions, or topics, that are new since. Nothing is unknown
// to a plan that deletes the group, as that is held to what it knows.
func (g PlanGroup) Unknown(fresh Snapshot) []Key {
	now, _ := fresh.Group(g.Group)
	var added []Key
	for _, r := range now.Rows {
		_, planned := slices.BinarySearchFunc(g.Changes, r.Key, func(c Change, k Key) int { return c.Key.Compare(k) })
		if !planned && !g.Whole && r.Range.Known() {
			added = append(added, r.Key)
		}
	}
	return added
}

// already is a change that was found done: what it was to write was just read.
func (c Change) already() Change {
	c.Result, c.Verified = Already, true
	return c
}

// stands reports whether a side holds what the change is to write. Where the number was to stay, its epoch and metadata count.
func (c Change) stands(now Value) bool {
	return now.Offset == c.New.Offset && (!c.Rewrite || c.Side == Stored || now.Epoch == c.New.Epoch && now.Metadata == c.New.Metadata)
}

// is reports whether an entry is what the change wrote: what another commits may have the same number, but hardly the same metadata.
func (c Change) is(now Entry) bool {
	return c.stands(ValueOf(now)) && (c.Side == Stored || c.Result == Already || now.Metadata == c.New.Metadata)
}

// refuse keeps the partition as it is, with the flags that would decide otherwise ("" if none would).
func (c Change) refuse(reason, choice string) Change {
	c.Verdict, c.Reason, c.Choice = Refuse, reason, choice
	return c
}

// refuseUntil refuses what another command has to decide first, in the form of Aside; "" if none is known.
func (c Change) refuseUntil(reason, aside string) Change {
	c.Aside = aside
	return c.refuse(reason, "")
}

// then adds to a refusal what would be asked for next if its flags were given, so that all is decided at once.
func (c *Change) then(next *Change) {
	if next.Choice != "" {
		c.Reason, c.Choice, c.Aside = fmt.Sprintf("%s; %s", c.Reason, next.Reason), fmt.Sprintf("%s %s", c.Choice, next.Choice), next.Aside
	}
}

// moved refuses a partition that is not as it was when the plan or the backup was made.
func (c Change) moved(reason, choice string) Change {
	c.Moved = true
	return c.refuse(reason, choice)
}

// unknown refuses the partition because its range could not be read.
func (c Change) unknown(before string, r Range) Change {
	c.Away = r.Away
	return c.refuse(before+cmp.Or(r.Reason, "no reason given"), "")
}

// Untouched reports a change that its run did not write, or not it: what then comes to stand there is another's.
func (c *Change) Untouched() bool {
	return c.Verdict != Write || c.Result == Already || c.Result == NotTried || c.Result == Failed && !c.Outrun()
}

// Outrun reports a change that was written, or may have been, and another's stood there when it was read back.
func (c *Change) Outrun() bool {
	return (c.Result == Failed || c.Result == Unverified) && c.Moved && !c.Refused
}

// Verify holds what was written against a look taken afterwards, and settles each result that was not answered.
func Verify(p Plan, after Snapshot) Plan {
	p = p.eachOf(func(group string, c Change) Change {
		if c.Verdict != Write || c.Result == NotTried {
			return c
		}
		g, _ := after.Group(group)
		row, _ := g.Row(c.Key)
		now := row.Entry(c.Side)
		if c.Result == Failed && c.Side == Committed {
			why, moved := "", false
			switch {
			case !c.Doubt || c.stands(c.Old): // what stands is not ours, whatever it is
			case now.Problem() || g.Trouble != nil:
				why = unread(now, g.Trouble)
			case c.is(now) && c.New.Offset == None:
				why = "and yet the commit is gone"
			case c.is(now):
				why = "and yet the new offset stands"
			case ValueOf(now).Offset != c.Old.Offset, now.Metadata != c.Old.Metadata: // which of the two came first nobody can tell
				why, moved = overwritten(now), true
			}
			if why != "" {
				c.Result, c.Refused, c.Moved = Unverified, false, moved
				c.Error += "; " + why
			}
			return c
		}
		c.Verified = false
		switch {
		case now.Problem() || c.Side == Committed && g.Trouble != nil:
			if c.Error == "" {
				c.Error = unread(now, g.Trouble)
			}
		case c.is(now):
			c.Verified = c.Result != Failed
			if c.Result == Unverified {
				c.Result, c.Verified = Written, true
			}
		case c.Result == Unverified && c.Pending && ValueOf(now).Offset != c.Old.Offset:
			c.Moved = true
			c.Error += "; " + overwritten(now)
		case c.Result == Unverified && c.Pending:
			c.Error += "; it does not show yet, but may still come"
		case c.Result == Unverified:
			c.Result = Failed
		case c.Result == Written || c.Result == Already:
			c.Result, c.Moved = Failed, true
			c.Error = overwritten(now)
		}
		return c
	})
	for i, pg := range p.Groups {
		switch g, _ := after.Group(pg.Group); {
		case !pg.Unsettled():
		case g.Existence == Missing && pg.Doubt:
			p.Groups[i].Result, p.Groups[i].Refused = Unverified, false
			p.Groups[i].Error += "; and yet the group is gone"
		case g.Existence == ExistenceUnknown && pg.Doubt:
			p.Groups[i].Result, p.Groups[i].Refused = Unverified, false
			p.Groups[i].Error += "; whether it is gone could not be seen"
		case pg.Doubt && pg.Refused && pg.Unlisted():
			p.Groups[i].Result, p.Groups[i].Refused = Unverified, false
			p.Groups[i].Error += "; it may have been deleted, and made anew by those who have joined"
		case g.Existence == Missing:
			p.Groups[i].Result, p.Groups[i].Error = Written, ""
		case !pg.Doubt:
			p.Groups[i].Error += "; it is not seen to be gone, but may still go"
		}
	}
	return p
}

// overwritten says that another's value stands where ours was written.
func overwritten(now Entry) string {
	return "read back " + number(ValueOf(now).Offset) + ": something else wrote at the same time"
}

// unread says why what was written could not be read back.
func unread(now Entry, t *Trouble) string {
	why := now.Reason
	if why == "" && t != nil {
		why = t.Reason
	}
	if why == "" {
		return "could not be read back"
	}
	return "could not be read back: " + why
}

// number writes an offset for people.
func number(o int64) string {
	if o == None {
		return "none"
	}
	return strconv.FormatInt(o, 10)
}

// Join adds another plan's changes to the groups of this one.
func (p Plan) Join(o Plan) Plan {
	for _, og := range o.Groups {
		i := slices.IndexFunc(p.Groups, func(g PlanGroup) bool { return g.Group == og.Group })
		if i < 0 {
			p.Groups = append(p.Groups, og)
			continue
		}
		g := &p.Groups[i]
		g.Changes = slices.Concat(g.Changes, og.Changes)
		sort.SliceStable(g.Changes, func(a, b int) bool { return g.Changes[a].Key.Compare(g.Changes[b].Key) < 0 })
	}
	return p
}

// Resume plans what is left of an earlier plan, held against the cluster and the store as they are now: what moved since is
// refused, and what is at its new value already is done. The results of an earlier try are forgotten. What a change skips and repeats is
// counted anew, of what stands now and is written now: whoever edits a plan changes its values, not its counts.
func Resume(p Plan, s Snapshot) Plan {
	foreign := p.Origin.Cluster != "" && s.Origin.Cluster != "" && p.Origin.Cluster != s.Origin.Cluster
	planned := p.Origin.Cluster
	type place struct {
		group string
		Key
		side Side
	}
	asked, done := map[place]bool{}, map[place]bool{}
	for group, c := range p.Each() {
		if c.ToDo() && c.stands(ValueOf(s.row(group, c.Key).Entry(c.Side))) {
			done[place{group, c.Key, c.Side}] = true
		}
	}
	refused := map[string]string{} // by group
	for _, g := range p.Groups {
		if g.Refusal != "" {
			refused[g.Group] = "refused when it was planned: " + g.Refusal
		}
	}
	p.ID, p.Applied, p.Backup, p.Undo, p.Origin, p.Created, p.Command = "", false, "", "", s.Origin, s.At, "import"
	p = p.eachOf(func(group string, c Change) Change {
		c.Result, c.Error, c.Verified = "", "", false
		from := place{group, c.Key, c.Side.Other()}
		if p.From != "" {
			from = place{p.From, c.Key, Committed}
		}
		if c.Beside != nil && done[from] { // what decided was written by this plan already
			e, _ := p.decided(c, s.row(group, c.Key), s)
			now := ValueOf(e).Offset
			c.Beside = &now
		}
		if why := refused[group]; why != "" && c.Verdict != Keep {
			return c.refuse(why, "")
		}
		if foreign && c.ToDo() {
			return c.refuseUntil(fmt.Sprintf("the plan is for cluster %s, and this is %s", planned, s.Origin.Cluster), atHome)
		}
		if c.Verdict == Ask {
			c.Verdict, asked[place{group, c.Key, c.Side}] = Write, true
		}
		if r := s.row(group, c.Key); c.Target == ToEarliest && r.Range.Known() && c.New.Offset > r.Range.Earliest { // earliest never goes back
			c.Target = Fixed
		}
		return c
	})
	for i := range p.Groups {
		p.Groups[i].Refusal, p.Groups[i].Choice, p.Groups[i].Result, p.Groups[i].Error = refused[p.Groups[i].Group], "", "", ""
		if g, ok := s.Group(p.Groups[i].Group); ok {
			p.Groups[i].State, p.Groups[i].Type = g.State, g.Type
		}
	}
	return Recheck(p, s).eachOf(func(group string, c Change) Change {
		switch {
		case c.Moved: // what is there now is what is shown
			g, _ := s.Group(group)
			if r, there := g.Row(c.Key); there {
				c.Old, c.New = ValueOf(r.Entry(c.Side)), ValueOf(r.Entry(c.Side))
				c.Skips, c.Repeats, c.Expired, c.Clamped = 0, 0, 0, false
			}
		case c.Verdict == Write && c.Result == Already:
			c.Verdict, c.Reason, c.Old, c.Verified = Keep, "at its new value already", c.New, false
			c.Condition, c.Skips, c.Repeats, c.Expired = s.condition(group, c.Key, c.Side), 0, 0, 0
		case c.Verdict == Write:
			c.Condition = s.condition(group, c.Key, c.Side)
			if c = c.weighAgain(s.row(group, c.Key)); asked[place{group, c.Key, c.Side}] {
				c.Verdict = Ask
			}
		}
		return c
	})
}

// What Aside has of partitions that lack a commit, or an entry in the store: where to see what became of it, or what helps.
const (
	LookBack  = "history"
	LookThere = "describe"
)

// lookFor is where to look for what a side lacks.
func lookFor(side Side) string {
	if side == Stored {
		return LookThere
	}
	return LookBack
}

// atHome is the Aside of what a document has for another cluster: to import it there.
const atHome = "import"

// weighAgain counts what a planned change does now, and says so where that is not what the plan says.
func (c Change) weighAgain(r Row) Change {
	now := c
	switch {
	case c.New.Offset == None:
		now.Skips, now.Repeats, now.Expired = 0, 0, 0
	case !r.Range.Known():
		return c
	default:
		if now = c.weigh(r); c.Old.Offset == None {
			now.Expired = c.Expired // what was taken over from the other side has it from there
		}
		if c.Condition == High && c.Beside != nil && *c.Beside == c.New.Offset {
			now.Skips = c.Skips // the smaller of both is what was done: going there passes over nothing
		}
	}
	if now.Skips != c.Skips || now.Repeats != c.Repeats {
		now.Reason += " (changed since it was planned)"
	}
	return now
}

// row is what the snapshot has of a partition; a zero one, of which nothing is known, if it has none.
func (s Snapshot) row(group string, k Key) Row {
	g, _ := s.Group(group)
	r, _ := g.Row(k)
	return r
}

// condition is what an entry is worth now.
func (s Snapshot) condition(group string, k Key, side Side) Condition {
	r := s.row(group, k)
	return Judge(r.Entry(side), r.Range, s.Origin.Cluster).Condition
}

// Below reports a new offset for which a store, whose smallest one is least, has no number.
func (c Change) Below(least int64) bool {
	return c.Side == Stored && c.New.Offset != None && c.New.Offset < least
}

// AtLeast refuses what a store has no number for, as its smallest next offset is least.
func (p Plan) AtLeast(least int64) Plan {
	return p.eachOf(func(_ string, c Change) Change {
		if c.ToDo() && c.Below(least) {
			return c.refuse(fmt.Sprintf("%d cannot be stored: the store counts the last record that was processed, and there is none before it", c.New.Offset), "")
		}
		return c
	})
}

// KeepsOne refuses to take the last entries out of a file without headers, which cannot be empty.
func (p Plan) KeepsOne(s Snapshot) Plan {
	left := p.left(s)
	if len(left) == 0 {
		return p
	}
	return p.eachOf(func(group string, c Change) Change {
		n, loses := left[storedPlace{group, c.Topic}]
		g, _ := s.Group(group)
		if t, _ := g.Store.Topic(c.Topic); !loses || n > 0 || !t.Bare || !c.removes() {
			return c
		}
		return c.refuse("it cannot be removed: "+g.Store.placeOf(c.Topic)+" has no headers, and with no entry left it would be empty, which means damaged", "")
	})
}

// Empties reports whether the plan takes the last entry out of a place of the store.
func (p Plan) Empties(s Snapshot) bool {
	for _, n := range p.left(s) {
		if n <= 0 {
			return true
		}
	}
	return false
}

// storedPlace is where a store keeps the entries of a topic of a group.
type storedPlace struct{ group, topic string }

// left is how many entries a place of the store has in the end, of those that the plan takes some out of.
func (p Plan) left(s Snapshot) map[storedPlace]int {
	left := map[storedPlace]int{}
	for group, c := range p.Each() {
		if !c.removes() {
			continue
		}
		at := storedPlace{group, c.Topic}
		if _, known := left[at]; !known {
			g, _ := s.Group(group)
			t, _ := g.Store.Topic(c.Topic)
			left[at] = t.Entries
		}
		left[at]--
	}
	if len(left) == 0 {
		return nil
	}
	for group, c := range p.Each() {
		at := storedPlace{group, c.Topic}
		if _, loses := left[at]; loses && c.Side == Stored && c.ToDo() && c.Old.Offset == None && c.New.Offset != None {
			left[at]++
		}
	}
	return left
}

// ToDo reports whether the change is written, or will be if that is consented to.
func (c *Change) ToDo() bool { return c.Verdict == Write || c.Verdict == Ask }

// removes reports whether the change takes an entry out of the store.
func (c *Change) removes() bool {
	return c.Side == Stored && c.ToDo() && c.Old.Offset != None && c.New.Offset == None
}

// placeOf is where a topic of the group lies.
func (s *Store) placeOf(topic string) string {
	t, _ := s.Topic(topic)
	return cmp.Or(t.Path, s.path())
}

// Epochs is the leader epoch of each commit that is to be written with one.
func (g PlanGroup) Epochs() map[Key]int32 {
	epochs := map[Key]int32{}
	for _, c := range g.Changes {
		if c.Verdict == Write && c.Side == Committed && c.New.Offset != None && c.New.Epoch != None {
			epochs[c.Key] = c.New.Epoch
		}
	}
	return epochs
}

// Confirm drops the leader epochs that the cluster does not confirm, and says so.
func (g PlanGroup) Confirm(confirmed func(Key, Value) bool) PlanGroup {
	g.Changes = slices.Clone(g.Changes)
	for i, c := range g.Changes {
		if c.Verdict != Write || c.Side != Committed || c.New.Offset == None || c.New.Epoch == None || confirmed(c.Key, c.New) {
			continue
		}
		c.Reason += fmt.Sprintf("; leader epoch %d left out: the cluster does not confirm it", c.New.Epoch)
		c.New.Epoch = None
		if c.Old == c.New { // the epoch was all that would have changed
			c.Verdict, c.Rewrite = Keep, false
		}
		g.Changes[i] = c
	}
	return g
}
