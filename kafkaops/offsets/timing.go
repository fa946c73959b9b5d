package offsets

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// KeyOffset is an offset of a partition.
type KeyOffset struct {
	Key
	Offset int64
}

// Next is the first record at or after an offset.
type Next struct {
	Offset int64 // None: no record is there, or it could not be read
	Reason string

	Time      time.Time // its timestamp; zero if it has none
	Newest    time.Time // the largest timestamp of its batch, which the log keeps or drops as a whole; zero if it has none
	LogAppend bool      // timestamps are the broker's, not the producer's
}

// noMillis is said of a timestamp that is far too large for one.
const noMillis = "the record's timestamp is no time in milliseconds"

// Unbounded is a bound that a topic does not have.
const Unbounded = -1

// Retention is what a topic's configuration says about when records go.
type Retention struct {
	Reason string // why it could not be read; nothing else counts then

	Policy string // cleanup.policy: delete, compact, or both with a comma
	Millis int64  // retention.ms; Unbounded: no bound
	Bytes  int64  // retention.bytes of a partition; Unbounded: no bound

	Tiered      bool  // remote.storage.enable: older segments lie in remote storage, and stay readable
	LocalMillis int64 // how long segments stay on the brokers' disks when Tiered; Unbounded: no bound
}

// deletes and compacts are the two ways in which a record goes by itself.
func (r *Retention) deletes() bool  { return strings.Contains(r.Policy, "delete") }
func (r *Retention) compacts() bool { return strings.Contains(r.Policy, "compact") }

// Timing is how old the next record of a partition is, and how long it will be there. It is about the smaller of stored and
// committed: what goes first.
type Timing struct {
	From      int64 // that offset; None if there is none in range
	Reason    string
	Next      Next
	Retention *Retention
}

// Behind is the age of the next record, never negative; zero where nothing is left to read. reason says why it cannot be told.
func (t *Timing) Behind(now time.Time) (age time.Duration, reason string) {
	switch {
	case t == nil:
		return 0, "not measured"
	case t.Reason != "":
		return 0, t.Reason
	case t.Next.Reason != "":
		return 0, t.Next.Reason
	case t.Next.Offset == None:
		return 0, ""
	case t.Next.Time.IsZero():
		return 0, "the record has no timestamp"
	case !Plain(t.Next.Time):
		return 0, noMillis
	}
	return max(now.Sub(t.Next.Time), 0), ""
}

// Expiry is when retention may take a record.
type Expiry struct {
	At     time.Time // not before; zero where it cannot be told, or never
	Never  bool      // nothing takes it
	None   bool      // there is no record to be taken
	Reason string    // why it cannot be told, "" if it can
	ByTime time.Time // what retention.ms alone would say, where something else may be sooner; zero if that is not known
}

// Expires says when retention may take the next record: not before, as the log goes by whole segments, each as old as its newest
// record. Brokers go by their own clocks.
func (t *Timing) Expires() Expiry {
	switch {
	case t == nil:
		return Expiry{Reason: "not measured"}
	case t.Reason != "":
		return Expiry{Reason: t.Reason}
	case t.Next.Reason != "":
		return Expiry{Reason: t.Next.Reason}
	case t.Next.Offset == None:
		return Expiry{None: true}
	case t.Retention == nil:
		return Expiry{Reason: "the topic's retention is not known"}
	case t.Retention.Reason != "":
		return Expiry{Reason: t.Retention.Reason}
	}
	r := t.Retention
	var at time.Time
	millis, timed := r.Bound()
	if timed && !t.Next.Newest.IsZero() && Plain(t.Next.Newest) {
		at = t.Next.Newest.Add(Millis(millis))
	}
	switch {
	case r.compacts():
		return Expiry{Reason: "compaction takes it once there is a newer record of its key", ByTime: at}
	case r.deletes() && r.Bytes != Unbounded:
		return Expiry{Reason: fmt.Sprintf("retention.bytes=%d takes it once so much has been written after it", r.Bytes), ByTime: at}
	case !timed:
		return Expiry{Never: true}
	case t.Next.Newest.IsZero():
		return Expiry{Reason: "the record has no timestamp"}
	case !Plain(t.Next.Newest):
		return Expiry{Reason: noMillis}
	}
	return Expiry{At: at}
}

// In is how long is left at the given time, never negative; ok is false where there is no such time.
func (e Expiry) In(now time.Time) (left time.Duration, ok bool) {
	if e.At.IsZero() {
		return 0, false
	}
	return max(e.At.Sub(now), 0), true
}

// nextOf is the smaller of stored and committed, as far as they are numbers of this log: where the job would go on at the worst.
func (j *Judged) nextOf() (int64, string) {
	r := j.Row
	switch {
	case r.Range.Gone():
		return None, r.Range.gone()
	case !r.Range.Known():
		return None, r.Range.Reason
	}
	at, reason := int64(None), "there is no offset"
	for _, side := range [...]Side{Stored, Committed} {
		e, s := j.on(side)
		switch {
		case side == Stored && !j.store:
		case e.Problem():
			return None, e.Reason
		case e.Presence != Present:
		case s.Identity == Recreated || s.Foreign:
			return None, "the offset is one of another log"
		case at == None || e.Offset < at:
			at, reason = e.Offset, ""
		}
	}
	if at > r.Range.End {
		return None, "the offset is above the end"
	}
	return at, reason
}

// StartTiming prepares the rows for a measurement and lists the offsets whose next records are to be looked for.
func (s Snapshot) StartTiming() []KeyOffset {
	var ask []KeyOffset
	seen := map[KeyOffset]bool{}
	for _, g := range s.Groups {
		for i := range g.Rows {
			j := JudgeRow(&g.Rows[i], s.Origin.Cluster, g.Store != nil)
			r := j.Row
			at, reason := j.nextOf()
			r.Timing = &Timing{From: at, Reason: reason, Next: Next{Offset: None}}
			if at == None {
				continue
			}
			at = max(at, r.Range.Earliest)
			r.Timing.From = at
			if k := (KeyOffset{r.Key, at}); at < r.Range.End && !seen[k] {
				seen[k] = true
				ask = append(ask, k)
			}
		}
	}
	return ask
}

// Timed fills in what was found: next records by offset, retention by topic.
func (s Snapshot) Timed(next map[KeyOffset]Next, retention map[string]Retention) {
	shared := map[string]*Retention{}
	for name, r := range retention {
		shared[name] = &r
	}
	for _, g := range s.Groups {
		for i := range g.Rows {
			t := g.Rows[i].Timing
			if t == nil {
				continue
			}
			t.Retention = shared[g.Rows[i].Topic]
			if n, ok := next[KeyOffset{g.Rows[i].Key, t.From}]; ok {
				t.Next = n
			}
		}
	}
}

// Expiring reports that the commits of the group are counted down: it has some, and no members.
func (g *Group) Expiring() bool {
	return g.State == "Empty" && g.Coordinator != None && slices.ContainsFunc(g.Rows, func(r Row) bool { return r.Committed.Presence == Present })
}
