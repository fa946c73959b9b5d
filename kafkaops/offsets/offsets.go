// Package offsets is the thinking of gtoffset: what an offset means beside what the cluster still has, what a restart would
// do, and what a repair would change. Plain values in, plain values out; it knows no network, no file and no clock.
//
// Every offset here is the next record to read. None (-1) stands for "there is no number", and is never added to anything.
package offsets

import (
	"cmp"
	"fmt"
	"math"
	"sort"
	"time"
)

// None is the absence of an offset, of an epoch or of a count. It is never stored, committed or summed.
const None = -1

// Key names one partition of a topic.
type Key struct {
	Topic     string
	Partition int32
}

// LongestName is how many bytes a name can have in Kafka's requests. A longer one makes a broker hang up on all that is asked with it.
const LongestName = math.MaxInt16

// Internal reports a topic of Kafka's own, whose offsets are nobody's business.
func Internal(topic string) bool {
	switch topic {
	case "__consumer_offsets", "__transaction_state", "__share_group_state":
		return true
	}
	return false
}

// Compare sorts by topic, then by partition number.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Topic, o.Topic), cmp.Compare(k.Partition, o.Partition))
}

// Side is one of the two places in which a group's offsets live.
type Side string

// The two sides: what the job wrote into its own store, and what the group committed in Kafka.
const (
	Stored    Side = "stored"
	Committed Side = "committed"
)

// Other returns the opposite side.
func (s Side) Other() Side {
	if s == Stored {
		return Committed
	}
	return Stored
}

// Presence says whether an Entry holds an offset, and if not, why not. Only Absent can mean a first run.
type Presence uint8

// The zero value is Absent, so an Entry that nobody filled in never reads as offset 0.
const (
	Absent     Presence = iota // no commit, or nothing at that place in the store
	Present                    // Entry.Offset is valid
	Empty                      // the place exists but holds nothing at all (a file of zero bytes)
	Damaged                    // the place holds something that cannot be trusted
	WrongType                  // something else is there (a folder, a device, a list in the place of a hash)
	Denied                     // it may be there, but we may not read it
	Unreadable                 // it could not be read: service away, input/output error
)

// Entry is what one side says about one partition.
type Entry struct {
	Presence Presence
	Pending  bool   // an open transaction is going to commit something else; Presence and Offset are of what is committed now
	Lost     bool   // Absent: what is there is damaged, and was salvaged as none
	Whole    bool   // its place was proven complete, so an entry that is not in it was never written
	Epoch    int32  // leader epoch recorded with it, None if there is none
	Reason   string // why, when neither Present nor Absent

	Offset   int64     // next record to read; meaningful only when Present, and of a commit that is Damaged as it is negative
	Metadata string    // the commit's metadata
	TopicID  string    // topic id recorded with it, as Kafka prints it; "" if none
	Cluster  string    // cluster id recorded with it; "" if none
	Saved    time.Time // when it was recorded; zero if not known
	EpochEnd *EpochEnd // where Epoch ended; nil if nobody asked, as nothing depends on it
}

// At returns a Present entry without epoch.
func At(offset int64) Entry { return Entry{Presence: Present, Offset: offset, Epoch: None} }

// Problem reports whether the entry could not be read, which is not the same as not being there.
func (e Entry) Problem() bool { return e.Presence != Present && e.Presence != Absent }

// negative reports a commit of a number below 0, which Kafka stores and no consumer can use. It is known what stands there: it counts as no
// commit to whoever writes over it, and no backup can bring it back. Of what is damaged in a store no number is known, which is None.
func (e *Entry) negative() bool { return e.Presence == Damaged && e.Offset < None }

// unread reports whether it is not known what stands.
func (e *Entry) unread() bool { return e.Presence > Present && !e.negative() }

// barred is why no number may take the place of what stands, or be held against it, just now; "" if one may.
func (e *Entry) barred() string {
	switch {
	case e.Pending:
		return pending + untilEnd
	case e.unread():
		return e.Presence.String() + ": " + cmp.Or(e.Reason, "no reason given")
	}
	return ""
}

// RangeState says what is known of a partition's log.
type RangeState uint8

// The zero value is RangeUnknown.
const (
	RangeUnknown  RangeState = iota // could not be read; Range.Reason says why
	RangeKnown                      // Earliest and End are valid
	TopicGone                       // the cluster has no such topic
	PartitionGone                   // the topic has fewer partitions
)

// Range is what the cluster has of one partition.
type Range struct {
	State  RangeState
	Denied bool   // RangeUnknown because a right is missing
	Away   bool   // RangeUnknown because no broker answered
	Reason string // why, when RangeUnknown

	Earliest int64  // first offset that can still be read
	End      int64  // next offset to be written (high watermark)
	Stable   int64  // last stable offset; None unless it was asked for
	Leader   int32  // broker id of the leader, None if there is none
	Epoch    int32  // current leader epoch, None if not known
	TopicID  string // as Kafka prints it; "" on brokers that have none
}

// Known reports whether Earliest and End are valid.
func (r Range) Known() bool { return r.State == RangeKnown }

// Gone reports whether the topic or the partition no longer exists.
func (r Range) Gone() bool { return r.State == TopicGone || r.State == PartitionGone }

// Readable is the distance from earliest to end.
func (r Range) Readable() int64 { return r.End - r.Earliest }

// limit is where reading ends: the end, or the last stable offset if that was asked for.
func (r Range) limit() int64 {
	if r.Stable != None {
		return min(r.Stable, r.End)
	}
	return r.End
}

// clamp returns the offset in [Earliest, End] that is nearest to o.
func (r Range) clamp(o int64) int64 { return min(max(o, r.Earliest), r.End) }

// Condition is the verdict on a number.
type Condition string

// The conditions. Exactly earliest and exactly end are in range.
const (
	OK      Condition = "ok"
	Low     Condition = "low"     // smaller than earliest
	High    Condition = "high"    // larger than end
	NoEntry Condition = "none"    // no commit, or no entry in the store
	Gone    Condition = "gone"    // the topic or the partition no longer exists
	Unknown Condition = "unknown" // the entry or the range could not be read
)

// Identity says whether the topic is the one that the offset was recorded for.
type Identity string

// The identities. Without a topic id on both sides it is unknown.
const (
	Same            Identity = "same"
	Recreated       Identity = "recreated"
	IdentityUnknown Identity = "unknown"
)

// State is an entry held against the cluster.
type State struct {
	Condition Condition
	Identity  Identity
	Foreign   bool  // recorded for another cluster: neither number nor topic id proves anything
	Lag       int64 // limit − max(offset, earliest), never negative; None where it cannot be told
	Expired   int64 // earliest − offset when low, else 0: lost for good; None where it cannot be told
	Ahead     int64 // offset − end when high, else 0; None where it cannot be told

	Stale     bool  // its leader epoch would not let a consumer go on from the offset
	JumpsTo   int64 // where a consumer jumps back to when Stale; None: it waits for ever, since the epoch does not exist
	Unchecked bool  // it could not be found out whether it is stale
}

// Judge holds an entry against the partition's range in the cluster with the given id.
func Judge(e Entry, r Range, cluster string) State { return judge(&e, &r, cluster) }

// judge is Judge without copies: of 100,000 partitions they would take longer than the rest.
func judge(e *Entry, r *Range, cluster string) State {
	s := State{Condition: Unknown, Identity: IdentityUnknown, Lag: None, Expired: None, Ahead: None, JumpsTo: None}
	if e.Problem() {
		return s
	}
	if e.Presence == Present {
		s.Foreign = e.Cluster != "" && cluster != "" && e.Cluster != cluster
		if !s.Foreign && e.TopicID != "" && r.TopicID != "" {
			s.Identity = Same
			if e.TopicID != r.TopicID {
				s.Identity = Recreated
			}
		}
	}
	switch {
	case r.Gone():
		s.Condition = Gone
		return s
	case e.Presence == Absent:
		s.Condition = NoEntry
		return s
	case !r.Known():
		return s
	}
	s.Lag = max(r.limit()-max(e.Offset, r.Earliest), 0)
	s.Expired = max(r.Earliest-e.Offset, 0)
	s.Ahead = max(e.Offset-r.End, 0)
	if e.EpochEnd != nil && s.Identity != Recreated && !s.Foreign {
		s.JumpsTo, s.Stale = e.EpochEnd.stale(e.Offset)
		s.Unchecked = e.Unchecked() != ""
	}
	switch {
	case s.Expired > 0:
		s.Condition = Low
	case s.Ahead > 0:
		s.Condition = High
	default:
		s.Condition = OK
	}
	return s
}

// SortKeys sorts by topic and partition, and returns what it was given.
func SortKeys(keys []Key) []Key {
	sort.Sort(byKey(keys))
	return keys
}

// byKey sorts through an interface: a generic sort takes 9 kB more.
type byKey []Key

func (b byKey) Len() int           { return len(b) }
func (b byKey) Less(i, j int) bool { return b[i].Compare(b[j]) < 0 }
func (b byKey) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

// String is the partition as operators write it: topic and number.
func (k Key) String() string { return fmt.Sprintf("%s %d", k.Topic, k.Partition) }
