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

// Outcome is what a restart of a whole group would do, from one place and under one policy. The numbers are offset distances,
// summed over the partitions that could be counted; no offset is counted twice, and nothing is netted across partitions.
type Outcome struct {
	From        Side
	Policy      Policy
	Expired     int64 // lost: no longer in the log
	Unprocessed int64 // lost: committed, but not processed as far as the store knows
	Readable    int64 // lost at most: still in the log, and passed over
	Repeats     int64 // read again at most
	Reads       int64 // read until the end as it is now

	OutOfRange    int  // partitions whose offset is low or high
	WithoutOffset int  // partitions that have no offset at that place
	Uncounted     int  // partitions about which nothing can be said
	Unsure        int  // commits in range of which the named store does not tell how much was processed
	Stops         bool // under PolicyNone: there is a partition at which the client would stop
}

// Forecast says what a restart of the group would do: from the store if one is named, then from the commits; for each first
// apart from any policy, then under each policy.
func Forecast(g Group, cluster string) []Outcome {
	places := []Side{Committed}
	if g.Store != nil {
		places = []Side{Stored, Committed}
	}
	var all []Outcome
	for _, from := range places {
		for _, policy := range []Policy{PolicyApart, PolicyEarliest, PolicyLatest, PolicyNone} {
			all = append(all, Outcome{From: from, Policy: policy})
		}
	}
	for i := range g.Rows {
		j := JudgeRow(&g.Rows[i], cluster, g.Store != nil)
		for k := range all {
			all[k].add(&j)
		}
	}
	return all
}

// add counts one partition in.
func (o *Outcome) add(j *Judged) {
	r := j.Row
	e, s := j.on(o.From)
	if s.Condition == Gone {
		return // nothing is left there to read or to lose
	}
	if s.Condition == Unknown || !r.Range.Known() {
		o.Uncounted++
		return
	}
	surely, perhaps, known := j.processed(o.From)
	switch s.Condition {
	case OK:
		o.Reads += s.Lag
		switch {
		case s.Identity == Recreated || s.Foreign:
			o.Readable += e.Offset - r.Range.Earliest // the number is another log's: what lies below it here was never read
		case o.From == Stored || !j.store:
		case !known:
			o.Unsure++
		default:
			o.Unprocessed += max(e.Offset-surely, 0)
			o.Repeats += max(perhaps-e.Offset, 0)
		}
		return
	case NoEntry:
		o.WithoutOffset++
	case Low:
		o.OutOfRange++
		o.Expired += s.Expired
		if o.From == Committed && known { // of what has expired, the part that the store says was processed is not lost
			o.Expired -= max(min(r.Stored.Offset, r.Range.Earliest)-e.Offset, 0)
		}
	case High:
		o.OutOfRange++
	}
	switch {
	case o.Policy == PolicyEarliest, o.Policy == PolicyApart && s.Condition == Low:
		o.Reads += max(r.Range.limit()-r.Range.Earliest, 0)
		o.Repeats += perhaps - r.Range.Earliest
	case o.Policy == PolicyLatest:
		o.Readable += max(r.Range.limit()-surely, 0)
	case o.Policy == PolicyNone:
		o.Stops = true
	}
}

// processed says, for a restart from the given side, up to where the job has surely and has perhaps processed the partition,
// both within the range. known tells that the store says so; it is the only witness of what was processed.
func (j *Judged) processed(from Side) (surely, perhaps int64, known bool) {
	r := j.Row
	if r.Stored.Presence == Present && j.Stored.Identity != Recreated && !j.Stored.Foreign && j.Stored.Condition != High {
		at := r.Range.clamp(r.Stored.Offset)
		return at, at, true
	}
	e, _ := j.on(from)
	surely, perhaps = r.Range.Earliest, r.Range.Earliest
	switch {
	case e.Presence == Present && e.Offset > r.Range.End:
		perhaps = r.Range.End // all of this log, or none of it if it is a new one
	case from == Stored && r.Committed.Presence == Present:
		perhaps = r.Range.clamp(r.Committed.Offset)
	}
	return surely, perhaps, false
}

// Totals sums a group up. What could not be counted is counted apart, never as zero.
type Totals struct {
	Partitions, Healthy                    int
	Lag, StoredLag, Unprocessed            int64
	LagUncounted, StoredLagUncounted       int
	UnprocessedUncounted                   int
	Low, High, Gone, Unreadable, Recreated int // partitions with such an entry on either side
}

// Total sums up the group's rows.
func (g Group) Total(cluster string) Totals {
	var t Totals
	for i := range g.Rows {
		j := JudgeRow(&g.Rows[i], cluster, g.Store != nil)
		r, c, s := j.Row, &j.Committed, &j.Stored
		t.Partitions++
		if j.Healthy() {
			t.Healthy++
		}
		count(&t.Lag, &t.LagUncounted, c.Lag)
		count(&t.StoredLag, &t.StoredLagUncounted, s.Lag)
		if n, ok := j.Unprocessed(); ok {
			t.Unprocessed += max(n, 0)
		} else {
			t.UnprocessedUncounted++
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
