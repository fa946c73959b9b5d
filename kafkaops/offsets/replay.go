package offsets

import (
	"cmp"
	"fmt"
	"strings"
)

// Bound is one end of a replay, as an operator names it.
type Bound struct {
	Aim   Aim           // AimStored, AimCommitted, AimEarliest, AimLatest, AimTime or AimOffset
	N     int64         // AimOffset: the offset
	Times map[Key]Found // AimTime
	Words string        // AimTime: the instant, in words
}

// side is the side that the bound is taken from; ok is false for one that is not.
func (b Bound) side() (side Side, ok bool) {
	switch b.Aim {
	case AimStored:
		return Stored, true
	case AimCommitted:
		return Committed, true
	}
	return "", false
}

// ReplayPolicy says which records are read again.
type ReplayPolicy struct {
	From, Until Bound
	SkipExpired bool                    // what has expired of a range is left out by choice
	Follow      bool                    // there is no end: Until is where the partition ends now
	Named       func(topic string) bool // the topic was named, so that one which is gone is a mistake
	Resume      map[Key]Entry           // how far an earlier run has come, where it kept that; nil: nothing is kept
	ResumeName  string                  // where
}

// Stretch is what a replay does with one partition: it reads the records of [From, Until) again.
type Stretch struct {
	Key
	TopicID   string
	Condition Condition // of the start, held against the range
	From      int64     // None where no start is known
	Until     int64     // None where no end is known; never below From
	Verdict   Verdict   // Write: it is read; Keep: there is nothing to read; Refuse
	Reason    string    // what is special about it, or why nothing is read; "" if nothing is
	Choice    string    // for Refuse: flags that would decide it, as an operator types them
	Lacks     *Right    // Refuse, for want of it
	Expired   int64     // records before From that are lost for good, and left out by choice
	Left      bool      // Keep, although there is something to read, of which nothing says where to start or to end, or there was, and it is gone
	High      bool      // Refuse, because the start is beyond the end: clamp mends it
	Recreated bool      // Refuse, because the number is of the topic as it was before it was recreated: clamp decides
	Away      bool      // Refuse, because the cluster or the store did not tell what is needed
	Follow    bool      // what is written later is read, too
}

// Distance is how many offsets the stretch spans: at most so many records.
func (s Stretch) Distance() int64 {
	if s.From == None || s.Until == None {
		return 0
	}
	return s.Until - s.From
}

// Replay decides for each partition of a group which records are read again. A topic of which only the other side says something is the
// group's, too: it is left out, and not passed over, as is one that is gone.
func Replay(s Snapshot, g Group, p ReplayPolicy) []Stretch {
	var all []Stretch
	for _, r := range g.Rows {
		st := stretch(s, r, p)
		if side, _ := p.From.side(); st.Verdict == Refuse {
			st.Lacks = g.Lacks(r, side)
		}
		if r.Committed.Pending && (p.From.Aim == AimCommitted || p.Until.Aim == AimCommitted) {
			st.Reason = strings.TrimPrefix(st.Reason+"; committed pending: "+pending, "; ")
		}
		all = append(all, st)
	}
	return all
}

func stretch(s Snapshot, r Row, p ReplayPolicy) Stretch {
	st := Stretch{Key: r.Key, TopicID: r.Range.TopicID, Condition: Unknown, From: None, Until: None, Verdict: Keep}
	switch {
	case r.Range.Gone() && p.Named(r.Topic):
		return st.refuse(r.Range.gone(), "")
	case r.Range.Gone():
		st.Condition, st.Reason, st.Left = Gone, r.Range.gone(), !r.Unheard()
		return st
	case !r.Range.Known():
		st.Away = !r.Range.Denied
		return st.refuse("unknown: "+cmp.Or(r.Range.Reason, "no reason given"), "")
	}
	from, known := st.resolve(s, r, p.From, &st.From)
	if !known {
		return from
	}
	until, known := st.resolve(s, r, p.Until, &st.Until)
	if !known {
		return until
	}
	st.Condition = Judge(At(st.From), r.Range, "").Condition
	if p.Resume != nil {
		return st.resume(r, p)
	}
	return st.bounded(r, p)
}

// resolve sets one end of the stretch to the number that a bound stands for. Where there is none it returns what becomes of the
// partition, and false.
func (st *Stretch) resolve(s Snapshot, r Row, b Bound, end *int64) (Stretch, bool) {
	if side, ok := b.side(); ok {
		e := r.Entry(side)
		if e.Presence == Absent {
			return st.leave(r, string(side)), false
		}
		if reason, _ := notComparable(s, r, e, side, string(side)); reason != "" {
			st.Away = e.Presence == Unreadable
			st.Recreated = Judge(e, r.Range, s.Origin.Cluster).Identity == Recreated
			return st.refuse(reason, ""), false
		}
		*end = e.Offset
		return *st, true
	}
	switch b.Aim {
	case AimEarliest:
		*end = r.Range.Earliest
	case AimLatest:
		*end = r.Range.limit()
	case AimOffset:
		*end = b.N
	case AimTime:
		found := b.Times[r.Key]
		if found.Reason != "" {
			st.Away = true
			return st.refuse("unknown: "+found.Reason, ""), false
		}
		*end = found.Offset
		if found.Offset == None { // no record is that young
			*end = r.Range.limit()
			st.Reason = "no record at or after " + b.Words + ": end"
		}
	}
	return *st, true
}

// leave leaves out a partition of which a side says nothing. If it holds no record, nothing is missed by that.
func (st *Stretch) leave(r Row, side string) Stretch {
	st.Condition, st.From, st.Until = NoEntry, None, None
	st.Reason = "nothing is " + side + " for it"
	st.Left = r.Range.Readable() > 0
	return *st
}

func (st *Stretch) refuse(reason, choice string) Stretch {
	st.Verdict, st.Reason, st.Choice = Refuse, reason, choice
	return *st
}

// nothing keeps a partition of which there is nothing to read.
func (st *Stretch) nothing(why string) Stretch {
	st.Until = st.From
	if st.Reason != "" {
		why = st.Reason + "; " + why
	}
	st.Reason = why
	return *st
}

// bounded holds both ends against the range.
func (st *Stretch) bounded(r Row, p ReplayPolicy) Stretch {
	limit := r.Range.limit()
	has := fmt.Sprintf("the range is %d..%d", r.Range.Earliest, r.Range.End)
	if p.Follow && st.From <= r.Range.End {
		st.Follow, st.Until = true, max(st.From, limit)
	}
	switch {
	case st.From > r.Range.End:
		st.High = true
		return st.refuse(fmt.Sprintf("start %d is high by %s: %s", st.From, Thousands(st.From-r.Range.End), has), "")
	case st.Until > r.Range.End:
		return st.refuse(fmt.Sprintf("%d..%d reaches beyond the end: %s", st.From, st.Until, has), "--until end")
	case st.Until > limit && st.Until > st.From:
		return st.refuse(fmt.Sprintf("%d..%d reaches beyond the last stable offset %d: a transaction is open", st.From, st.Until, limit), "--until end, or --isolation read_uncommitted")
	case st.From > st.Until && p.Until.Aim == AimLatest:
		return st.nothing(fmt.Sprintf("starts at %d, beyond the last stable offset %d: nothing to read yet", st.From, limit))
	case st.From > st.Until:
		return st.nothing(fmt.Sprintf("starts at %d, and ends at %d already: nothing to read", st.From, st.Until))
	case st.From == st.Until && !st.Follow:
		return st.nothing("nothing to read")
	}
	if gone := min(r.Range.Earliest, st.Until) - st.From; gone > 0 {
		why := fmt.Sprintf("%s expired (%d to %d)", Thousands(gone), st.From, st.From+gone-1)
		if !p.SkipExpired {
			return st.refuse("low: "+why+": "+has, "--expired skip")
		}
		st.From += gone
		st.Expired, st.Reason = gone, why+", left out by choice"
	}
	st.Verdict = Write
	return *st
}

// resume starts where an earlier run of the same replay has come to.
func (st *Stretch) resume(r Row, p ReplayPolicy) Stretch {
	e := p.Resume[r.Key]
	switch {
	case e.Presence == Absent:
		return st.bounded(r, p)
	case e.Problem():
		return st.refuse(fmt.Sprintf("%s: %s: %s", p.ResumeName, e.Presence, cmp.Or(e.Reason, "no reason given")), "")
	case e.TopicID != "" && r.Range.TopicID != "" && e.TopicID != r.Range.TopicID:
		return st.refuse(p.ResumeName+" was saved before the topic was recreated", "")
	case e.Offset < st.From && p.From.Aim != AimEarliest, e.Offset > max(st.From, st.Until): // earliest moves on by itself
		return st.refuse(fmt.Sprintf("%s is at %d, which is not in %d..%d: it belongs to another replay", p.ResumeName, e.Offset, st.From, st.Until), "--save-as with another name")
	case e.Offset != st.From:
		st.Reason = fmt.Sprintf("goes on at %d, where %s is", e.Offset, p.ResumeName)
		st.From = e.Offset
		st.Condition = Judge(At(st.From), r.Range, "").Condition
	}
	return st.bounded(r, p)
}

// ReplayPlan is the write that comes of a replay which saves how far it has come: from what the snapshot's group has stored to the
// end of each stretch.
func ReplayPlan(s Snapshot, g Group, stretches []Stretch) Plan {
	pg := PlanGroup{Group: g.ID, Type: g.Type, State: g.State, Notes: g.notes(s.At)}
	for _, st := range stretches {
		r, _ := g.Row(st.Key)
		c := begin(r, Stored, s.Origin.Cluster)
		c.TopicID = cmp.Or(c.TopicID, st.TopicID)
		c.Verdict, c.Reason, c.Choice, c.Lacks, c.Expired = st.Verdict, st.Reason, st.Choice, st.Lacks, st.Expired
		if st.Verdict == Write {
			c.New, c.Rewrite = Value{Offset: st.Until, Epoch: None}, st.Follow
			c.Reason = "up to " + Plural(int(st.Distance()), "record") + " to be read"
			if st.Follow {
				c.Reason += ", and what is written later"
			}
			if st.Reason != "" {
				c.Reason += "; " + st.Reason
			}
		}
		pg.Changes = append(pg.Changes, c)
	}
	return Plan{Command: "replay", Origin: s.Origin, Created: s.At, Groups: []PlanGroup{pg}}
}

// Reached is the plan of a replay after it has ended: each partition's new offset is that of its last save that stands, or may stand. One
// of which none does stays as it was.
func Reached(p Plan, saves map[Key]Change) Plan {
	p.Applied = true
	return p.eachOf(func(_ string, c Change) Change {
		if c.Verdict != Write || c.Result == Already {
			return c
		}
		last, ok := saves[c.Key]
		if !ok {
			c.Verdict, c.New, c.Reason = Keep, c.Old, "no batch of it was saved"
			return c
		}
		c.New.Offset, c.Result, c.Error, c.Pending = last.New.Offset, last.Result, last.Error, last.Pending
		return c
	})
}

// Short reports whether a replay ended before the end that it was planned with.
func Short(planned, reached Plan) bool {
	at := map[Key]int64{}
	for _, c := range reached.Each() {
		at[c.Key] = c.New.Offset
	}
	return planned.Has(func(c *Change) bool { return c.Verdict == Write && at[c.Key] != c.New.Offset })
}

// Slice is a contiguous range of one partition in a batch: the records of [From, Until), however many of these offsets have one.
type Slice struct {
	Key
	From, Until int64
}

// String is the slice as the ranges of Spark's batches are printed: topic partition from until.
func (s Slice) String() string {
	return fmt.Sprintf("%s %d %d %d", s.Topic, s.Partition, s.From, s.Until)
}

// BatchLimits bound a batch. A record that is larger than all the bytes is a batch by itself.
type BatchLimits struct {
	Records int64
	Bytes   int64
	Slices  int // partitions
}

// Take reports whether a batch that holds records of so many bytes takes one more of the given size.
func (l BatchLimits) Take(records, bytes, size int64) bool {
	return records == 0 || records < l.Records && bytes+size <= l.Bytes
}

// CopyTarget is what is known of the topic that records are copied to.
type CopyTarget struct {
	Name      string
	Topic     Topic
	Retention Retention
	Young     map[Key]Found // by partition of the source, the first record that the target would keep; nil: it keeps them all
	NoKey     []Key         // partitions of the source in which a record without a key was seen
	Same      bool          // it may be the topic that is read
}

// recordsAre counts the records of which something is said.
func recordsAre(n int64) string {
	if n == 1 {
		return "1 record is"
	}
	return Plural(int(n), "record") + " are"
}

// CheckCopy says why copies could not stand in the target: each reason with the flag that decides otherwise, "" if none does. Copies go
// to the partition of the same number.
func CheckCopy(stretches []Stretch, t CopyTarget) []Doubt {
	var doubts []Doubt
	say := func(choice, format string, args ...any) {
		doubts = append(doubts, Doubt{fmt.Sprintf(format, args...), choice})
	}
	missing := int32(None)
	same := false
	for _, s := range stretches {
		if s.Verdict != Write {
			continue
		}
		if same = same || s.Topic == t.Name; int(s.Partition) >= len(t.Topic.Ranges) {
			missing = max(missing, s.Partition)
		}
		young, asked := t.Young[s.Key]
		switch {
		case !asked:
		case young.Reason != "":
			say("", "%s: how old its records are is unknown: %s", s.Key, young.Reason)
		case young.Offset == None:
			say("", "%s: all records to be read are older than %q keeps them (retention.ms %d)", s.Key, t.Name, t.Retention.Millis)
		case young.Offset > s.From:
			say("", "%s: up to %s older than %q keeps them (retention.ms %d)", s.Key, recordsAre(min(young.Offset, s.Until)-s.From), t.Name, t.Retention.Millis)
		}
	}
	if same && !t.Same {
		say("--same-topic", "%q is the topic that is read", t.Name)
	}
	if missing != None {
		say("", "%q has %s, and partition %d is to be copied", t.Name, Plural(len(t.Topic.Ranges), "partition"), missing)
	}
	if len(t.NoKey) > 0 {
		say("", "%q is compacted and takes no record without a key, and %s has such", t.Name, t.NoKey[0])
	}
	return doubts
}

// Doubt is a reason to refuse something, with the flag that decides otherwise.
type Doubt struct {
	Reason, Choice string
}

// Bound reports whether the retention drops records by their age, and after how many milliseconds. Some write the largest number for never.
func (r Retention) Bound() (millis int64, ok bool) {
	return r.Millis, r.Reason == "" && r.deletes() && r.Millis != Unbounded && Millis(r.Millis) < longest
}

// Compacts reports whether only the last record of each key stays.
func (r Retention) Compacts() bool { return r.Reason == "" && r.compacts() }
