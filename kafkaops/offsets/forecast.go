package offsets

// Policy is a consumer's auto.offset.reset: where it goes when its offset is out of range or there is none.
type Policy string

// The policies of Java clients. PolicyApart leaves out what a policy would decide: an offset that is low is taken to go on at
// earliest, and partitions that are high or have no offset are not in the sums at all.
const (
	PolicyApart    Policy = ""
	PolicyEarliest Policy = "earliest"
	PolicyLatest   Policy = "latest" // the default of Java clients
	PolicyNone     Policy = "none"
)

// Place is where a restart takes its offsets from.
type Place string

// The places. A new group is what a job makes of itself with another group id: it has no offsets, and its policy decides alone.
const (
	FromStore    Place = "store"
	FromCommits  Place = "commits"
	FromNewGroup Place = "new-group"
)

// Side is the side on which the place's offsets are, "" for none.
func (p Place) Side() Side {
	switch p {
	case FromStore:
		return Stored
	case FromCommits:
		return Committed
	}
	return ""
}

// Outcome is what a restart of a group, or of one partition, would do from one place and under one policy. The numbers are offset
// distances, summed over the partitions that could be counted; no offset is counted twice, and nothing is netted across partitions.
type Outcome struct {
	From        Place
	Policy      Policy
	Expired     int64 // lost: no longer in the log
	Unprocessed int64 // lost: committed, but not processed as far as the store knows
	Readable    int64 // lost at most: still in the log, and passed over
	Repeats     int64 // read again at most
	Reads       int64 // read until the end as it is now

	OutOfRange    int  // partitions whose offset is low or high
	WithoutOffset int  // partitions that have no offset at that place
	Jumps         int  // partitions at which a consumer jumps back, by a stale leader epoch, before it reads
	Waits         int  // partitions at which it waits for ever, by an epoch that does not exist; they are in no sum
	Uncounted     int  // partitions about which nothing can be said
	Unsure        int  // commits in range of which the named store does not tell how much was processed
	Stops         bool // under PolicyNone: there is a partition at which the client would stop
	Unwitnessed   bool // from the commits, and no store is named: how much was processed is not known of any partition
}

// Decided reports whether the client's policy has a say anywhere.
func (o Outcome) Decided() bool { return o.OutOfRange > 0 || o.WithoutOffset > 0 }

// places are where the group could be restarted from: the store only if one is named.
func (g *Group) places() []Place {
	switch {
	case g.Type == Share:
		return nil // it has no offsets, and reads what is left whatever restarts
	case g.Store == nil:
		return []Place{FromCommits, FromNewGroup}
	}
	return []Place{FromStore, FromCommits, FromNewGroup}
}

// Forecast says what a restart of the group would do: from the store if one is named, from the commits, and as a new group; for
// each first apart from any policy, then under each policy.
func Forecast(g Group, cluster string) []Outcome {
	policies := [...]Policy{PolicyApart, PolicyEarliest, PolicyLatest, PolicyNone}
	places := g.places()
	var all []Outcome
	for _, from := range places {
		for _, policy := range policies {
			all = append(all, Outcome{From: from, Policy: policy, Unwitnessed: unwitnessed(from, g.Store != nil)})
		}
	}
	same := make([]Outcome, len(places)) // what is the same under each policy
	for n, from := range places {
		same[n].From = from
	}
	for i := range g.Rows {
		j := JudgeRow(&g.Rows[i], cluster, g.Store != nil)
		for n := range places {
			left := same[n].count(&j)
			if left.question == noQuestion {
				continue
			}
			for k := range policies {
				all[n*len(policies)+k].decide(&j.Row.Range, left)
			}
		}
	}
	for i := range all {
		all[i].plus(&same[i/len(policies)])
	}
	return all
}

// unwitnessed reports a restart from a place without anything that says how much was processed.
func unwitnessed(from Place, store bool) bool { return from == FromCommits && !store }

// plus adds what another outcome counts.
func (o *Outcome) plus(a *Outcome) {
	o.Expired, o.Unprocessed, o.Readable = o.Expired+a.Expired, o.Unprocessed+a.Unprocessed, o.Readable+a.Readable
	o.Repeats, o.Reads = o.Repeats+a.Repeats, o.Reads+a.Reads
	o.OutOfRange, o.WithoutOffset, o.Jumps = o.OutOfRange+a.OutOfRange, o.WithoutOffset+a.WithoutOffset, o.Jumps+a.Jumps
	o.Waits, o.Uncounted, o.Unsure = o.Waits+a.Waits, o.Uncounted+a.Uncounted, o.Unsure+a.Unsure
}

// Forecast says of one partition what Forecast says of the group: from each place apart from any policy where that is all there is
// to say, and under each policy where one decides. It appends to all and returns it.
func (j *Judged) Forecast(all []Outcome) []Outcome {
	from := [...]Place{FromStore, FromCommits, FromNewGroup}
	places := from[:]
	switch {
	case j.Row.Shared != nil:
		return all
	case !j.store:
		places = from[1:]
	}
	for _, place := range places {
		o := Outcome{From: place, Unwitnessed: unwitnessed(place, j.store)}
		o.add(j)
		if !o.Decided() {
			all = append(all, o)
			continue
		}
		for _, policy := range [...]Policy{PolicyEarliest, PolicyLatest, PolicyNone} {
			o := Outcome{From: place, Policy: policy, Unwitnessed: unwitnessed(place, j.store)}
			o.add(j)
			all = append(all, o)
		}
	}
	return all
}

// add counts one partition in.
func (o *Outcome) add(j *Judged) {
	o.decide(&j.Row.Range, o.count(j))
}

// open is what of a partition is left to the policy.
type open struct {
	question        question
	surely, perhaps int64 // up to where the job has processed it
}

type question int

const (
	noQuestion   question = iota // the consumer goes on at the offset
	whetherAtAll                 // after a jump back
	insteadOfLow                 // where to go on
	where                        // to begin
)

// count counts what one partition comes to under any policy, and returns what is left to one.
func (o *Outcome) count(j *Judged) open {
	r := j.Row
	e, s := j.at(o.From)
	if r.Range.Gone() {
		return open{} // nothing is left there to read or to lose
	}
	if s.Condition == Unknown || !r.Range.Known() || o.From == FromCommits && e.Pending { // which waits for the transaction, and reads from there
		o.Uncounted++
		return open{}
	}
	surely, known := j.processed(o.From)
	perhaps := j.perhaps()
	at := e.Offset // where reading begins, if the offset is good for it
	if s.Stale {
		if s.JumpsTo == None {
			o.Waits++
			return open{}
		}
		o.Jumps++
		at = s.JumpsTo
		if !known {
			perhaps = r.Range.clamp(e.Offset)
		}
	}
	witnessed := o.From == FromCommits && known && s.Condition != NoEntry
	if witnessed { // what the store says was not processed, and is gone, is lost wherever the commit stands
		o.Expired += max(r.Range.Earliest-r.Stored.Offset, 0)
	}
	switch {
	case s.Condition == NoEntry:
		o.WithoutOffset++
		o.Expired += j.expired()
		return open{where, surely, perhaps}
	case s.Condition == Low:
		o.OutOfRange++
		if !witnessed {
			o.Expired += s.Expired
		}
		return open{insteadOfLow, surely, perhaps}
	case s.Condition == High && !s.Stale:
		o.OutOfRange++
		return open{where, surely, perhaps}
	}
	at = r.Range.clamp(at)
	o.Reads += max(r.Range.limit()-at, 0)
	switch {
	case s.Identity == Recreated || s.Foreign:
		o.Readable += at - r.Range.Earliest // the number is another log's: what lies below it here was never read
	case s.Stale:
		o.Unprocessed += max(at-perhaps, 0)
		o.Repeats += max(perhaps-at, 0)
		if !known && j.store {
			o.Unsure++
		}
	case o.From == FromStore || !j.store:
	case !known:
		o.Unsure++
	default:
		o.Unprocessed += max(at-surely, 0)
		o.Repeats += max(perhaps-at, 0)
	}
	if s.Stale {
		return open{question: whetherAtAll}
	}
	return open{}
}

// decide adds what the policy makes of what was left to it.
func (o *Outcome) decide(r *Range, left open) {
	switch {
	case left.question == noQuestion:
	case o.Policy == PolicyNone: // after a jump the client says that the log was cut off, and leaves it to the job
		o.Stops = true
	case left.question == whetherAtAll:
	case o.Policy == PolicyEarliest, o.Policy == PolicyApart && left.question == insteadOfLow:
		o.Reads += max(r.limit()-r.Earliest, 0)
		o.Repeats += left.perhaps - r.Earliest
	case o.Policy == PolicyLatest:
		o.Readable += max(r.limit()-left.surely, 0)
	}
}

// expired is how much is gone of what neither side says was handled, for a restart that has no offset: the store's word, or else
// the commit's.
func (j *Judged) expired() int64 {
	for _, side := range [...]Side{Stored, Committed} {
		if e, s := j.on(side); e.Presence == Present && s.Identity != Recreated && !s.Foreign {
			return max(s.Expired, 0)
		}
	}
	return 0
}

// What a new group has everywhere.
var (
	noEntry  Entry
	noOffset = State{Condition: NoEntry, Identity: IdentityUnknown, Lag: None, Expired: None, Ahead: None, JumpsTo: None}
)

// at is the entry from which a restart goes on, and what it is worth.
func (j *Judged) at(from Place) (*Entry, *State) {
	if from == FromNewGroup {
		return &noEntry, &noOffset
	}
	return j.on(from.Side())
}

// processed says, for a restart from the given place, up to where the job has surely processed the partition, within the range. known
// tells that the store says so; it is the only witness of what was processed. Without a store a new group is held against the commits,
// which are all that there is to go by.
func (j *Judged) processed(from Place) (surely int64, known bool) {
	r := j.Row
	switch {
	case j.ofThisLog(Stored) && j.Stored.Condition != High:
		return r.Range.clamp(r.Stored.Offset), true
	case from == FromNewGroup && !j.store && j.ofThisLog(Committed) && j.Committed.Condition != High:
		return r.Range.clamp(r.Committed.Offset), false
	}
	return r.Range.Earliest, false
}

// perhaps is up to where the job may have processed the partition, within the range, wherever it restarts from: the store knows, else as
// far as either side has come. A number beyond the end may stand for all of this log, and no number at all for a commit that was removed or
// an entry that was lost. Surely nothing was processed of a log of which the numbers are not, and where a whole store has no entry.
func (j *Judged) perhaps() int64 {
	r := j.Row
	if at, known := j.processed(""); known {
		return at
	}
	if r.Stored.Presence != Present && r.Committed.Presence != Present && !r.Stored.Whole {
		return r.Range.limit()
	}
	at := r.Range.Earliest
	for _, side := range [...]Side{Stored, Committed} {
		if e, _ := j.on(side); j.ofThisLog(side) {
			at = max(at, min(r.Range.clamp(e.Offset), r.Range.limit()))
		}
	}
	return at
}

// ofThisLog reports an offset that is not known to be of another log.
func (j *Judged) ofThisLog(side Side) bool {
	e, s := j.on(side)
	return e.Presence == Present && s.Identity != Recreated && !s.Foreign
}

// again is what a change comes to read again of a partition that had no offset on its side.
func (c Change) again(r Row, cluster string, store bool) Change {
	if c.Old.Offset == None && c.ToDo() && r.Range.Known() {
		j := JudgeRow(&r, cluster, store)
		c.Repeats = max(j.perhaps()-r.Range.clamp(c.New.Offset), 0)
	}
	return c
}

// Totals sums a group up. What could not be counted is counted apart, never as zero.
type Totals struct {
	Partitions, Healthy              int
	Lag, StoredLag, Unprocessed      int64
	LagUncounted, StoredLagUncounted int
	UnprocessedUncounted             int

	Low, High, Gone, Unreadable, Recreated, Stale int // partitions with such an entry on either side

	// Of the healthy ones, those of which there is more to say.
	WithUnprocessed, WithoutCommit, CommitBehind int
}

// Total sums up the group's rows.
func (g *Group) Total(cluster string) Totals {
	var t Totals
	for i := range g.Rows {
		j := JudgeRow(&g.Rows[i], cluster, g.Store != nil)
		r, c, s := j.Row, &j.Committed, &j.Stored
		t.Partitions++
		count(&t.Lag, &t.LagUncounted, c.Lag)
		count(&t.StoredLag, &t.StoredLagUncounted, s.Lag)
		unprocessed, ok := j.Unprocessed()
		if ok {
			t.Unprocessed += max(unprocessed, 0)
		} else {
			t.UnprocessedUncounted++
		}
		if j.Healthy() {
			t.Healthy++
			switch {
			case c.Condition == NoEntry:
				t.WithoutCommit++
			case unprocessed > 0 && g.Store != nil:
				t.WithUnprocessed++
			case unprocessed < 0 && g.Store != nil:
				t.CommitBehind++
			}
		}
		either := func(c1, c2 bool) int {
			if c1 || c2 {
				return 1
			}
			return 0
		}
		t.Low += either(c.Condition == Low, s.Condition == Low)
		t.High += either(c.Condition == High, s.Condition == High)
		t.Gone += either(r.Range.Gone(), false)
		t.Unreadable += either(!r.Range.Known() && !r.Range.Gone(), r.Committed.Problem() || r.Stored.Problem())
		t.Recreated += either(c.Identity == Recreated, s.Identity == Recreated)
		t.Stale += either(c.Stale, s.Stale)
	}
	return t
}

func count(sum *int64, uncounted *int, n int64) {
	if n == None {
		*uncounted++
		return
	}
	*sum += n
}
