package offsets

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"
	"time"
)

// Historian makes a history of records. Of what it is given it keeps the events, the last of each partition, and what is within open
// transactions; so a long log takes no more memory than a short one with the same events.
type Historian struct {
	policy HistoryPolicy
	since  int64 // HistoryPolicy.Since in milliseconds, as times of the log are; MinInt64 for no bound
	until  int64 // MaxInt64 for no bound
	at     int64 // HistoryPolicy.At
	out    History
	places map[Key]*place
	was    map[*place]*Was       // nil if it is not asked for
	last   *place                // of the last record of a partition
	open   map[int64][]LogRecord // commits by producer
	who    attendance

	clock  int64 // the largest time of a commit so far, None before the first
	latest int64 // when the last commit took effect, None before the first
	gone   bool  // the group was removed, and nothing came after

	batch   int64         // of the record before
	removed []int         // events of that batch that are removals
	leaving *HistoryEvent // GroupDeleted, unless the batch goes on with a group of another kind
}

// NewHistorian makes one.
func NewHistorian(p HistoryPolicy) *Historian {
	if p.Takes == nil {
		p.Takes = func(Key) bool { return true }
	}
	h := &Historian{policy: p, places: map[Key]*place{}, last: &place{}, open: map[int64][]LogRecord{}, who: newAttendance(), clock: None, latest: None, batch: None}
	h.since, h.until = math.MinInt64, math.MaxInt64
	if !p.Since.IsZero() {
		h.since = p.Since.Add(time.Millisecond - 1).UnixMilli() // the first that is not before it
	}
	if !p.Until.IsZero() {
		h.until = p.Until.UnixMilli()
	}
	if !p.At.IsZero() {
		h.at, h.was = p.At.UnixMilli(), map[*place]*Was{}
	}
	return h
}

// place is the last that is known of a partition. Every commit reads and writes one, and a log goes round all of them: so it is small.
type place struct {
	key    *Key
	next   *place // whose record came behind the one before the last
	value  Value
	at     int64    // when it took effect
	record int64    // its offset in the log
	state  WasState // WasCommitted, WasRemoved, WasUnreadable; WasUnknown before the first record
	asked  bool     // HistoryPolicy.Takes it
	later  bool     // something younger than HistoryPolicy.At was seen
	unlike uint8    // how often a commit broke a run off by how it was written
	by     Author   // whose the last commit was
	run    run
	back   int64 // where it stood before it went back the last time; None once it has returned there
}

// run is the work of a job that assigns its partitions: thousands of steps forward, all written in one way, and nothing else. One event
// sums them up; it gets the sum when the run is over.
type run struct {
	event   int32 // None: there is no run that may go on
	commits int32
	ended   int64 // when the last was
	last    int64 // where that came from
	largest int64
	at      int64 // when the largest was
	mixed   bool  // it has commits that are written otherwise than the one before
}

func (r *run) step(from, by, at int64) {
	r.commits++
	r.ended, r.last = at, from
	if by > r.largest {
		r.largest, r.at = by, at
	}
}

// endRun gives the event of a partition's run what it sums up: it led to where the partition stands.
func (h *Historian) endRun(c *place) {
	if r := c.run; r.event != None && r.commits > 1 {
		e := &h.out.Events[r.event]
		e.To, e.Ended, e.Commits = c.value.Offset, time.UnixMilli(r.ended), int(r.commits)
		e.Largest, e.LargestAt = r.largest, time.UnixMilli(r.at)
		if r.mixed { // what the first one has, the others do not
			e.Unlike, e.Note, e.Epoch = Mixed, "", None
		}
	}
	c.run.event = None
}

// Add takes the next record of the group, or the next marker of any transaction, in the order of the log.
func (h *Historian) Add(r *LogRecord) {
	if r.Batch != h.batch {
		h.endBatch()
		h.batch = r.Batch
	}
	if r.Kind == LogMarker {
		h.marker(r)
		return
	}
	h.out.Records++
	switch r.Kind {
	case LogCommit, LogUnreadable:
		h.commit(r)
	case LogRemoved:
		h.remove(r)
	case LogGone:
		h.leave(r)
	default:
		h.attend(r)
	}
}

// endBatch settles what the rest of a batch could have changed.
func (h *Historian) endBatch() {
	h.removed = h.removed[:0]
	if h.policy.All {
		h.flush()
	}
	if h.leaving != nil {
		h.show(*h.leaving)
		h.leaving = nil
	}
}

// commit takes a commit: at once, or when its transaction ends.
func (h *Historian) commit(r *LogRecord) {
	h.gone, h.leaving = false, nil
	if r.Committed >= h.clock {
		h.clock = r.Committed
	} else if back := Millis(h.clock - r.Committed); back > h.out.ClockBack {
		h.out.ClockBack, h.out.ClockAt = back, time.UnixMilli(r.Committed)
	}
	if r.Kind == LogUnreadable {
		h.out.Strange++
	}
	if r.Producer != None {
		h.open[r.Producer] = append(h.open[r.Producer], *r)
		return
	}
	h.take(r, r.Committed, r.Whole)
}

// marker ends a transaction: now its commits take effect, if at all.
func (h *Historian) marker(r *LogRecord) {
	all := h.open[r.Producer]
	delete(h.open, r.Producer)
	for i := range all {
		p := &all[i]
		c := h.places[*p.Key]
		overtaken := c != nil && c.record > p.Offset
		if r.Commit && !overtaken {
			h.take(p, r.Time, r.Whole)
			continue
		}
		e := p.event(r.Time)
		e.What = TxnAborted
		if r.Commit {
			e.What = TxnOvertaken
		}
		c.stands(&e)
		h.show(e)
	}
}

// stands fills in what the event found.
func (c *place) stands(e *HistoryEvent) {
	if c != nil && c.state == WasCommitted {
		e.From, e.FromID, e.Held = c.value.Offset, c.value.TopicID, between(c.at, e.Time.UnixMilli())
	}
}

// between is a span of the log. Clocks differ, and it is never negative.
func between(from, to int64) time.Duration { return Millis(max(to-from, 0)) }

// event is what a commit says by itself.
func (r *LogRecord) event(at int64) HistoryEvent {
	e := HistoryEvent{
		Time: time.UnixMilli(at), Key: *r.Key, From: None, To: r.Value.Offset, Held: None, Producer: r.Producer, Note: r.Value.Metadata,
		Epoch: r.Value.Epoch, Idle: None, Commits: 1, Request: r.Committed,
	}
	if r.Producer != None {
		e.By = ATransaction
	}
	if r.Kind == LogUnreadable {
		e.To, e.Epoch = None, None
	}
	return e
}

// move is what a commit is beside what stands: enough to tell whether it is shown.
type move struct {
	what  Happening
	by    Author
	step  int64 // how far forward, if that can be said
	again bool  // the commit before had been removed
}

// take lets a commit take effect.
func (h *Historian) take(r *LogRecord, at int64, whole bool) {
	c := h.place(r.Key, at, whole)
	m := move{what: c.happening(r, whole), by: ATransaction, again: c.state == WasRemoved}
	if r.Producer == None {
		m.by = h.who.author(whole)
	}
	if m.what == WentForward {
		m.step = r.Value.Offset - c.value.Offset
	}
	if c.asked {
		h.out.Commits++
		h.weigh(c, r, m, at)
	}
	c.value, c.at, c.record, c.state, c.by = r.Value, at, r.Offset, WasCommitted, m.by
	if r.Kind == LogUnreadable {
		c.state = WasUnreadable
	}
	h.latest = at
	if h.was != nil {
		h.was[c].see(c, h.at, m.by)
	}
}

// place finds the place of a partition, of which a record is there now. A group commits its partitions in the same order again and again:
// the one that followed the last time is tried first.
func (h *Historian) place(k *Key, at int64, whole bool) *place {
	c := h.last.next
	if c == nil || c.key != k {
		if c = h.places[*k]; c == nil {
			c = &place{key: k, asked: h.policy.Takes(*k), run: run{event: None}, back: None, record: None}
			h.places[*k] = c
			if h.was != nil {
				h.was[c] = newWas(at, whole)
			}
		}
		h.last.next = c
	}
	h.last = c
	return c
}

// newWas is what is known before the first record of a partition that is left.
func newWas(first int64, whole bool) *Was {
	w := &Was{Time: time.UnixMilli(first), NextTo: None, Reached: None, Pending: None}
	if whole {
		w.State = WasNever
	}
	return w
}

// happening says what a commit is beside what stands.
func (c *place) happening(r *LogRecord, whole bool) Happening {
	switch {
	case r.Kind == LogUnreadable:
		return UnknownForm
	case c.state == WasRemoved, c.state == WasUnknown && whole:
		return NewCommit
	case c.state != WasCommitted:
		return FirstKnown
	case c.value.TopicID != r.Value.TopicID && c.value.TopicID != "" && r.Value.TopicID != "":
		return OtherTopic
	case r.Value.Offset < c.value.Offset:
		return WentBack
	case r.Value.Offset > c.value.Offset:
		return WentForward
	}
	return StayedSame
}

// see keeps what was in force at a point in time: the last that is not younger.
func (w *Was) see(c *place, at int64, by Author) {
	if c.at <= at {
		*w = Was{State: c.state, Value: c.value, Time: time.UnixMilli(c.at), NextTo: None, Reached: None, Pending: None, Disorder: c.later}
		return
	}
	c.later = true
	if w.Next.IsZero() {
		w.Next = time.UnixMilli(c.at)
		if c.state == WasCommitted {
			w.NextTo = c.value.Offset
		}
	}
	if by == AMember || by == ATransaction {
		w.Members++
		w.Reached = max(w.Reached, c.value.Offset)
	}
}

// matters reports whether a commit is shown where not everything is.
func (h *Historian) matters(m move) bool {
	switch m.what {
	case WentBack, OtherTopic, UnknownForm:
		return true
	case NewCommit:
		return m.again || m.by == NotAMember
	case FirstKnown:
		return m.by == NotAMember
	case WentForward:
		return m.by == NotAMember || h.over(m)
	}
	return false
}

// over reports a step forward that is larger than is passed over.
func (h *Historian) over(m move) bool { return h.policy.Skip != None && m.step > h.policy.Skip }

// weigh shows a commit, or counts it. Most are counted, and nothing is made of them.
func (h *Historian) weigh(c *place, p *LogRecord, m move, at int64) {
	returns := m.what == WentForward && p.Value.Offset == c.back // which is no step of a run: it puts right what went back
	runs := m.what == WentForward && m.by == NotAMember && !h.who.ever && !h.policy.All && !h.over(m) && !returns
	unlike := ""
	if m.by == NotAMember && c.by == NotAMember && c.state == WasCommitted && m.what != UnknownForm {
		unlike = p.Value.unlike(&c.value)
	}
	goesOn := runs && c.run.event != None
	breaks := goesOn && unlike != "" && c.unlike < bothWays
	switch {
	case goesOn && !breaks && h.within(at):
		c.run.mixed = c.run.mixed || unlike != ""
		c.run.step(c.value.Offset, m.step, at)
		h.out.Shown++
		return
	case !h.policy.All && !h.matters(m):
		h.pass(m, at)
		if m.what != StayedSame {
			h.endRun(c)
		}
		return
	}
	if breaks {
		c.unlike++
	}
	undone := m.what == WentBack && c.run.event != None && p.Value.Offset == c.run.last
	h.endRun(c)
	switch {
	case m.what == WentBack:
		c.back = c.value.Offset
	case returns:
		c.back = None
	}
	e := p.event(at)
	e.What, e.By, e.Undone, e.Unlike = m.what, m.by, undone, unlike
	c.stands(&e)
	if i := h.show(e); runs {
		c.run = run{event: int32(i)}
		c.run.step(c.value.Offset, m.step, at)
	}
}

// bothWays is from how many such breaks on a job counts as one that writes now in one way, now in the other. A repair by a tool makes
// two: the tool's step, and the job's next one.
const bothWays = 20

// Mixed is HistoryEvent.Unlike of a run whose commits are not told apart any more.
const Mixed = "now in one way, now in the other"

// unlike says in what a commit was written otherwise than the one before, "" for nothing: a job writes all of its own in one way. What a
// note says does not count, as a job may write another one each time.
func (v *Value) unlike(before *Value) string {
	switch {
	case v.Epoch == None && before.Epoch != None:
		return "without a leader epoch"
	case v.Epoch != None && before.Epoch == None:
		return "with a leader epoch"
	case v.Metadata == "" && before.Metadata != "":
		return "without a note"
	case v.Metadata != "" && before.Metadata == "":
		return "with a note"
	}
	return ""
}

// pass counts a commit that is not shown.
func (h *Historian) pass(m move, at int64) {
	if !h.within(at) {
		h.out.Outside++
		return
	}
	switch m.what {
	case WentForward:
		h.out.Forward++
		h.out.Largest = max(h.out.Largest, m.step)
	case StayedSame:
		h.out.Same++
	default:
		h.out.First++
	}
}

// within reports whether a time is within the bounds.
func (h *Historian) within(at int64) bool { return h.since <= at && at <= h.until }

// show keeps an event, behind the last change of who is in the group if it needs that, and returns its index; None if it is not
// asked for.
func (h *Historian) show(e HistoryEvent) int {
	switch {
	case !e.OfGroup() && !h.policy.Takes(e.Key):
		return None
	case !h.within(e.Time.UnixMilli()):
		h.out.Outside++
		return None
	}
	if e.By == AMember || e.By == NotAMember || e.What == Deleted {
		h.flush()
	}
	if e.By == AMember {
		e.Members, e.Count = h.who.named, h.who.count()
	}
	switch e.What {
	case TxnAborted, TxnOvertaken, TxnPending, Deleted, Membership, GroupDeleted:
	default:
		h.out.Shown++
	}
	h.out.Events = append(h.out.Events, e)
	return len(h.out.Events) - 1
}

// flush shows the last change of who is in the group, unless that was done.
func (h *Historian) flush() {
	if change := h.who.change; change != nil {
		h.who.change = nil
		h.show(*change)
	}
}

// remove takes a commit away.
func (h *Historian) remove(r *LogRecord) {
	c := h.place(r.Key, r.Time, r.Whole)
	if c.state == WasRemoved { // again, for the sake of what is pending
		c.record = r.Offset
		return
	}
	e := HistoryEvent{
		Time: time.UnixMilli(r.Time), What: Deleted, Key: *r.Key, From: None, To: None, Held: None, By: TheBroker, Producer: None, Epoch: None,
		Idle: h.idle(r.Time), Commits: 1, Request: r.Time,
	}
	c.stands(&e)
	h.endRun(c)
	c.value, c.state, c.at, c.record = NoValue, WasRemoved, r.Time, r.Offset
	if h.was != nil {
		h.was[c].see(c, h.at, TheBroker)
	}
	if i := h.show(e); i != None {
		h.removed = append(h.removed, i)
	}
}

// idle is for how long the group was left alone: no members, and if it never has any, no commits.
func (h *Historian) idle(at int64) time.Duration {
	from := h.who.empty
	if from == None && !h.who.ever && h.who.count() == 0 {
		from = h.latest
	}
	if from == None {
		return None
	}
	return between(from, at)
}

// leave removes the group, or what it was before it changed its protocol.
func (h *Historian) leave(r *LogRecord) {
	idle := h.idle(r.Time)
	if !h.who.leave(r.Type) {
		return
	}
	h.gone = true
	for _, i := range h.removed {
		h.out.Events[i].Whole = true
	}
	if len(h.removed) == 0 {
		h.leaving = &HistoryEvent{
			Time: time.UnixMilli(r.Time), What: GroupDeleted, From: None, To: None, Held: None, By: TheBroker, Producer: None, Epoch: None,
			Whole: true, Idle: idle, Commits: 1, Request: r.Time,
		}
	}
}

// attend follows who is in the group.
func (h *Historian) attend(r *LogRecord) {
	h.gone, h.leaving = false, nil
	h.who.follow(r)
}

// End is what came of it. complete is what the reading found of the log. Nothing is added after it.
func (h *Historian) End(complete Complete) History {
	h.endBatch()
	for _, c := range h.places {
		h.endRun(c)
	}
	var left []HistoryEvent
	for producer, all := range h.open {
		for i := range all {
			e := all[i].event(all[i].Committed)
			e.What = TxnPending
			if c := h.places[e.Key]; c != nil {
				c.stands(&e)
				if w := h.was[c]; w != nil {
					w.Pending = producer
				}
			}
			left = append(left, e)
		}
	}
	sort.SliceStable(left, func(i, j int) bool {
		a, b := &left[i], &left[j]
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Producer, b.Producer), a.Key.Compare(b.Key)) < 0
	})
	for _, e := range left {
		h.show(e)
	}
	byRequest(h.out.Events)
	h.out.Topics = map[string][]int32{}
	h.out.Now = make(map[Key]int64, len(h.places))
	for _, k := range SortKeys(slices.Collect(maps.Keys(h.places))) {
		h.out.Topics[k.Topic] = append(h.out.Topics[k.Topic], k.Partition)
		h.out.Now[k] = None
		if c := h.places[k]; c.state == WasCommitted {
			h.out.Now[k] = c.value.Offset
		}
	}
	if h.was != nil {
		h.out.Was = make(map[Key]Was, len(h.was))
		for c, w := range h.was {
			h.out.Was[*c.key] = *w
		}
	}
	h.out.Complete, h.out.Gone, h.out.Joined = complete, h.gone, h.who.ever
	return h.out
}

// byRequest sorts what each request did, by what that is and by partition: brokers append it in any order. A partition that comes again
// is another request's.
func byRequest(events []HistoryEvent) {
	for from := 0; from < len(events); {
		first, to := &events[from], from+1
		var seen map[Key]bool // most requests in a long list are about one partition
		for ; to < len(events) && !first.OfGroup(); to++ {
			e := &events[to]
			if e.OfGroup() || e.Request != first.Request || !e.Time.Equal(first.Time) || e.Key == first.Key || seen[e.Key] {
				break
			}
			if seen == nil {
				seen = map[Key]bool{}
			}
			seen[e.Key] = true
		}
		of := events[from:to]
		sort.SliceStable(of, func(i, j int) bool {
			return cmp.Or(cmp.Compare(of[i].What, of[j].What), of[i].Key.Compare(of[j].Key)) < 0
		})
		from = to
	}
}

// attendance is who is in the group, as the log goes on.
type attendance struct {
	known   bool              // some record told; a log that is whole tells by its silence
	ever    bool              // somebody was
	classic []Member          // of the last LogMembers
	modern  map[string]Member // by id
	empty   int64             // since when nobody is in it; None if somebody is, or never was
	named   []Member          // some of those who are in it; never changed, as events share it
	change  *HistoryEvent     // that is not shown yet

	asClassic, asModern bool // the group is there as the one, as the other
}

func newAttendance() attendance { return attendance{modern: map[string]Member{}, empty: None} }

func (a *attendance) count() int { return len(a.classic) + len(a.modern) }

// author says who commits outside of transactions. whole tells that every record before was there.
func (a *attendance) author(whole bool) Author {
	switch {
	case a.count() > 0:
		return AMember
	case a.known || whole:
		return NotAMember
	}
	return AuthorUnknown
}

// follow takes a record about members.
func (a *attendance) follow(r *LogRecord) {
	before := a.ids()
	switch r.Kind {
	case LogMembers:
		a.classic, a.asClassic = r.Members, true
	case LogJoined:
		a.asModern = true
		for _, m := range r.Members {
			a.modern[m.ID] = m
		}
	case LogLeft:
		for _, m := range r.Members {
			delete(a.modern, m.ID)
		}
	case LogEpoch:
		a.asModern = true
		if a.change != nil && a.change.Request == r.Batch {
			a.change.Epoch = r.Generation
		}
	}
	told := r.Kind != LogLeft
	switch {
	case !slices.Equal(before, a.ids()):
		a.changed(r)
	case told && !a.known && len(before) == 0:
		a.empty = r.Time
	}
	a.known = a.known || told
}

// changed notes that other members are in the group now.
func (a *attendance) changed(r *LogRecord) {
	were := a.named
	if a.change != nil && a.change.Request == r.Batch { // several records say it together
		were = a.change.Were
	}
	all := slices.Collect(maps.Values(a.modern))
	sort.Slice(all, func(i, j int) bool { return all[i].ID < all[j].ID })
	all = append(all, a.classic...)
	a.named, a.empty = all[:min(len(all), maxNamed):min(len(all), maxNamed)], None
	if len(all) == 0 {
		a.empty = r.Time
	}
	a.ever = a.ever || len(all) > 0
	a.change = &HistoryEvent{
		Time: time.UnixMilli(r.Time), What: Membership, From: None, To: None, Held: None, Members: a.named, Count: len(all), Were: were,
		Producer: None, Epoch: r.Generation, Idle: None, Commits: 1, Request: r.Batch,
	}
}

// ids are the ids of those who are in the group, in order.
func (a *attendance) ids() []string {
	ids := slices.Collect(maps.Keys(a.modern))
	for _, m := range a.classic {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return ids
}

// leave ends the group as one of its kinds, and reports whether nothing is left of it. A group that never has members is not there as
// either.
func (a *attendance) leave(kind GroupType) (gone bool) {
	a.known = true
	if kind == Classic {
		a.classic, a.asClassic = nil, false
	} else {
		a.asModern = false
		clear(a.modern)
	}
	if a.count() == 0 {
		a.named = nil
	}
	return !a.asClassic && !a.asModern
}
