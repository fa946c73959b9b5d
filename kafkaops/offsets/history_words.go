package offsets

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Author says who made a change, as far as that can be told. retention is how long the coordinator keeps the commits of a group without
// members, 0 if not known: what goes after that time has probably expired.
func (e *HistoryEvent) Author(retention time.Duration) string {
	text := ""
	switch e.What {
	case Membership:
		return e.members()
	case Deleted, GroupDeleted:
		return e.removal(retention)
	}
	switch e.By {
	case AMember:
		text = "a member: " + names(e.Members)
		if e.Count > 1 {
			text = fmt.Sprintf("one of %s: %s", Plural(e.Count, "member"), most(e.Members, e.Count))
		}
	case NotAMember:
		text = "not a member: a tool, or a consumer with assigned partitions"
	case ATransaction:
		text = fmt.Sprintf("transaction of producer %d", e.Producer)
		if e.Txn != "" {
			text += fmt.Sprintf(" (%q)", e.Txn)
		}
		if e.What == TxnPending {
			text += ", still open"
		}
	case AuthorUnknown:
		text = "unknown: who was in the group then is no longer recorded"
	}
	switch e.Unlike {
	case "":
	case Mixed:
		text += "; written " + Mixed + ": no longer told apart, --all lists each"
	default:
		text += "; " + e.Unlike + ", unlike the commit before"
	}
	if e.Commits > 1 {
		text += fmt.Sprintf("; %s until %s, the largest step %s at %s", Plural(e.Commits, "commit"), Clock(e.Ended), Thousands(e.Largest), Clock(e.LargestAt))
	}
	if e.What == FirstKnown && e.By != AuthorUnknown {
		text += "; what was before is no longer recorded"
	}
	if e.Note != "" {
		text += fmt.Sprintf("; note %q", e.Note)
	}
	return text
}

// members says who is in the group, or who was in it last.
func (e *HistoryEvent) members() string {
	generation := ""
	if e.Epoch != None {
		generation = fmt.Sprintf(" (generation %d)", e.Epoch)
	}
	switch {
	case e.Count > 0:
		return Thousands(int64(e.Count)) + ": " + most(e.Members, e.Count) + generation
	case len(e.Were) > 0:
		return "none" + generation + "; before: " + names(e.Were)
	}
	return "none" + generation
}

// removal says how commits may have gone. Expiry, DeleteGroups, OffsetDelete and the deletion of a topic look alike in the log.
func (e *HistoryEvent) removal(retention time.Duration) string {
	text, asked := "", "OffsetDelete, or the topic was deleted"
	switch {
	case e.What == GroupDeleted:
		return "group gone: nothing was committed in it any more; the broker removes such a group by itself, or DeleteGroups"
	case e.Whole:
		text, asked = "group gone: ", "DeleteGroups"
	}
	idle := e.Idle
	if !e.Whole && e.Held != None && e.Idle == None { // commits of topics that the members no longer read expire one by one
		idle = e.Held
	}
	switch {
	case retention > 0 && idle != None && idle < retention:
		return text + asked
	case retention > 0 && idle != None:
		return text + fmt.Sprintf("expiry likely (left alone for %s, kept for %s), or %s", Span(idle.Truncate(time.Second)), Span(retention), asked)
	}
	return text + "expiry, " + asked
}

// names lists members.
func names(all []Member) string {
	var list []string
	for _, m := range all {
		list = append(list, m.String())
	}
	return strings.Join(list, ", ")
}

// most lists members of which there may be more.
func most(all []Member, count int) string {
	if more := count - len(all); more > 0 {
		return names(all) + ", and " + Thousands(int64(more)) + " more"
	}
	return names(all)
}

// Clock writes an instant of the log, in UTC.
func Clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000Z") }

// String says from where on nothing is missing.
func (c Complete) String() string {
	switch {
	case c.Whole:
		return "complete: every commit since the first is still recorded"
	case c.Since.IsZero():
		return "not complete: of each partition only the last commit is left (compaction)"
	}
	return "complete since " + Clock(c.Since) + "; before that only the last commit of each partition is left (compaction)"
}

// Producers lists the producers whose transactions are shown, each once.
func (h History) Producers() []int64 {
	var all []int64
	for i := range h.Events {
		if id := h.Events[i].Producer; id != None {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Name fills in the transactional ids of producers.
func (h History) Name(ids map[int64]string) {
	for i := range h.Events {
		if e := &h.Events[i]; e.Producer != None {
			e.Txn = ids[e.Producer]
		}
	}
}

// Undo is the last move that somebody may regret, an event for each partition that its request moved back, forward or away: by anybody
// but a member, or else the last one back by a member. In a group that never had members forward is its job's own way. What was put right
// since then is none, and neither is what put it right. now tells what the cluster has: what brought an offset back into range is none
// either. There are no events if nothing of that kind happened.
func (h History) Undo(now func(Key) Range) []*HistoryEvent {
	right := h.putRight(now)
	moved := func(e *HistoryEvent) bool {
		return (e.What == WentBack || e.What == WentForward || e.What == Deleted) && e.From != None && h.Now[e.Key] != e.From && !right[e]
	}
	wishes := []func(*HistoryEvent) bool{
		func(e *HistoryEvent) bool {
			return e.What == WentBack && e.By != AMember || e.What == Deleted || e.What == WentForward && e.By == NotAMember && h.Joined
		},
		func(e *HistoryEvent) bool { return e.What == WentBack },
	}
	for _, wish := range wishes {
		for i := len(h.Events) - 1; i >= 0; i-- {
			if e := &h.Events[i]; moved(e) && wish(e) && !h.repaired(e, now(e.Key)) {
				return h.with(e, moved)
			}
		}
	}
	return nil
}

// repaired reports whether a move brought an offset back into range, or is no different from that by now, or what it went back over was
// read again: nothing is left to return to.
func (h History) repaired(e *HistoryEvent, now Range) bool {
	switch {
	case now.Gone():
		return true
	case e.What == WentBack && h.Now[e.Key] >= e.From:
		return !e.otherTopic(now)
	case !now.Known(), e.otherTopic(now):
		return false
	case e.From > now.End:
		return e.What == WentBack
	case e.From < now.Earliest:
		return h.Now[e.Key] != None && h.Now[e.Key] <= now.Earliest
	}
	return false
}

// otherTopic reports whether what stood before the event was committed for another topic of the name.
func (e *HistoryEvent) otherTopic(now Range) bool {
	return e.FromID != "" && now.TopicID != "" && e.FromID != now.TopicID
}

// Return is what there is of a way back to before a move. A partition that is no longer there is in none of the lists.
type Return struct {
	Before  time.Time
	Back    []Selection // can go back
	Expired bool        // some of these only to earliest: what stood there has expired since
	Other   []Selection // stay: their topic was made anew since, or cut back, and the number of then means nothing in it
	Fresh   []Selection // stay: the same request committed for them, too, and before that nothing was committed
}

// Return holds what stood before the last move that somebody may regret against what the cluster has now.
func (h History) Return(now func(Key) Range) Return {
	var r Return
	var back, other, fresh []Key
	moved := h.Undo(now)
	for _, e := range moved {
		r.Before = e.Time
		switch at := now(e.Key); {
		case at.Gone():
		case e.otherTopic(at), at.Known() && e.From > at.End:
			other = append(other, e.Key)
		default:
			back = append(back, e.Key)
			r.Expired = r.Expired || at.Known() && e.From < at.Earliest
		}
	}
	if len(moved) > 0 {
		for _, e := range h.with(moved[0], func(e *HistoryEvent) bool { return e.What == NewCommit && h.Now[e.Key] == e.To }) {
			fresh = append(fresh, e.Key)
		}
	}
	r.Back, r.Other, r.Fresh = h.selections(back), h.selections(other), h.selections(fresh)
	return r
}

// putRight finds the moves that a later one turned round, and those later ones: each partition that its request moved went back to
// where it stood before one of the earlier ones, or before the last step of a run, or, if that had expired, to where the log began. A
// request that does so for some only, by chance, puts nothing right, and a run of steps is a job's work.
func (h History) putRight(now func(Key) Range) map[*HistoryEvent]bool {
	right := map[*HistoryEvent]bool{}
	open := map[Key][]*HistoryEvent{}
	turned := func(e *HistoryEvent) int {
		return slices.IndexFunc(open[e.Key], func(o *HistoryEvent) bool {
			at := now(e.Key)
			expired := o.From != None && o.From < e.To && at.Known() && e.To <= at.Earliest
			return o.What != e.What && (o.From == e.To || expired)
		})
	}
	for from := 0; from < len(h.Events); {
		moves, next := h.request(from)
		all := !slices.ContainsFunc(moves, func(e *HistoryEvent) bool { return turned(e) < 0 && !e.Undone })
		for _, e := range moves {
			of := open[e.Key]
			switch i := turned(e); {
			case all && i < 0:
				right[e] = true
			case all:
				right[e] = true
				for _, o := range of[i:] {
					right[o] = true
				}
				open[e.Key] = of[:i]
			case e.Commits == 1:
				open[e.Key] = append(of, e)
			}
		}
		from = next
	}
	h.removedAgain(right)
	return right
}

// removedAgain adds to what is put right the removal of what a request had committed first, where what else it did was put right.
func (h History) removedAgain(right map[*HistoryEvent]bool) {
	made := map[Key]*HistoryEvent{} // the last change of a partition, if that was a first commit from outside
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.OfGroup():
		case e.What == NewCommit && e.By == NotAMember:
			made[e.Key] = e
		case e.What == Deleted && made[e.Key] != nil && !e.Whole && len(h.with(made[e.Key], func(o *HistoryEvent) bool { return right[o] })) > 0:
			right[e] = true
			delete(made, e.Key)
		default:
			delete(made, e.Key)
		}
	}
}

// request finds what the request of an event moved back and forward, and the event behind it.
func (h History) request(from int) (moves []*HistoryEvent, next int) {
	for next = from; next < len(h.Events) && h.Events[next].Request == h.Events[from].Request; next++ {
		if e := &h.Events[next]; e.What == WentBack || e.What == WentForward {
			moves = append(moves, e)
		}
	}
	return moves, next
}

// with finds what one request did, as far as it is wished.
func (h History) with(e *HistoryEvent, wish func(*HistoryEvent) bool) []*HistoryEvent {
	var all []*HistoryEvent
	for i := range h.Events {
		if o := &h.Events[i]; o.Request == e.Request && wish(o) {
			all = append(all, o)
		}
	}
	return all
}

// selections are partitions as -t takes them.
func (h History) selections(keys []Key) []Selection {
	all := Selections(keys)
	for i, s := range all {
		if len(s.Partitions) == len(h.Topics[s.Topic]) {
			all[i].Partitions = nil // all that it ever committed for
		}
	}
	return all
}
