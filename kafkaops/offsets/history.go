package offsets

import "time"

// LogKind is what a record of Kafka's offsets topic says of a group.
type LogKind int8

// The kinds. What else Kafka keeps there (assignments, subscriptions) says nothing about offsets.
const (
	LogCommit     LogKind = iota // the group committed an offset, at once or within a transaction
	LogUnreadable                // a commit in a form that is not known; its key is
	LogRemoved                   // a commit was removed
	LogMembers                   // all members of a classic group, perhaps none
	LogJoined                    // one member of a newer kind of group joined, or said something new
	LogLeft                      // one left
	LogEpoch                     // a group of a newer kind changed
	LogGone                      // the group was removed, or what it was before it changed its protocol
	LogMarker                    // a transaction ended, of whichever group
)

// LogRecord is one record of Kafka's offsets topic, in the order of the log. Times are milliseconds since 1970.
type LogRecord struct {
	Kind     LogKind
	Offset   int64 // in the offsets topic
	Batch    int64 // first offset of its batch
	Time     int64 // when it was appended
	Producer int64 // whose transaction it belongs to; None outside of one
	Whole    bool  // every record that was ever before it was there, too

	Key       *Key  // of a commit; the same pointer for the same partition, where the same reader gives it out again
	Value     Value // that was committed
	Committed int64 // when the coordinator took the commit

	Commit     bool      // LogMarker: the transaction was committed; else it was aborted
	Type       GroupType // from LogMembers to LogGone: kind of the group
	Generation int32     // or epoch of the group; None if not told
	Members    []Member  // of LogMembers; one of LogJoined and LogLeft
}

// Happening is what a change in a group's history is.
type Happening int8

// The happenings.
const (
	WentBack Happening = iota
	WentForward
	StayedSame
	FirstKnown // what was before is no longer recorded
	NewCommit  // there was none before
	Deleted
	OtherTopic   // the topic's id is another one than that of the commit before
	TxnAborted   // never took effect
	TxnOvertaken // never took effect: a later commit was there before the transaction ended
	TxnPending   // its transaction is still open
	UnknownForm  // a commit in a form that is not known
	Membership   // who is in the group changed
	GroupDeleted // and there was no commit left in it
)

var happenings = [...]string{
	WentBack: "back", WentForward: "forward", StayedSame: "same", FirstKnown: "first known", NewCommit: "new", Deleted: "deleted",
	OtherTopic: "other topic", TxnAborted: "aborted", TxnOvertaken: "overtaken", TxnPending: "pending", UnknownForm: "unreadable",
	Membership: "members", GroupDeleted: "group gone",
}

func (h Happening) String() string { return happenings[h] }

// Author is who made a change, as far as the log tells. It records no names, but Kafka refuses commits from outside while members are
// in a group: so who was in it tells.
type Author int8

// The authors.
const (
	NoAuthor      Author = iota // of a change of members
	AuthorUnknown               // who was in the group then is no longer recorded
	AMember                     // one of those who were in the group
	NotAMember                  // a tool, or a consumer that assigns its partitions by hand: they look the same
	ATransaction
	TheBroker // by expiry, or because somebody asked for it
)

var authors = [...]string{"", "unknown", "member", "not a member", "transaction", "broker"}

func (a Author) String() string { return authors[a] }

// HistoryEvent is one change of one partition, or of the group as a whole.
type HistoryEvent struct {
	Time time.Time // when it took effect, by the coordinator's clock: of a transaction when it ended, or if it is open, when it was written
	What Happening
	Key  Key // zero if it is about the group as a whole: Membership, GroupDeleted

	From, To int64         // None: there was none, or it is not known
	FromID   string        // topic id that From was committed for; "" if it is not known
	Held     time.Duration // how long From stood; None if not known

	By       Author
	Members  []Member // AMember: who was in the group; Membership: who is in it now; at most maxNamed of Count
	Count    int
	Were     []Member // Membership: who was in it before
	Producer int64    // of a transaction; None outside of one
	Txn      string   // the transactional id that the producer has now; "" if that is not known
	Note     string   // the commit's metadata
	Epoch    int32    // the commit's leader epoch, None if it has none; of Membership the generation or epoch of the group

	Whole bool          // Deleted: all of the group went with it
	Idle  time.Duration // Deleted: for how long there had been no members, and in a group without any, no commits; None if not known

	Commits   int       // that the event sums up: 1, or more for a run forward in a group that never has members
	Ended     time.Time // of a run, the last commit
	Largest   int64     // of a run, the largest step; 0 outside of one
	LargestAt time.Time // when that was
	Unlike    string    // in what it is unlike the commit before, if neither is a member's; Mixed of such a run; "" for nothing
	Undone    bool      // WentBack: to where the last step of such a run had come from

	Request int64 // the same for commits of one request: its time in milliseconds
}

// maxNamed is how many members an event names.
const maxNamed = 5

// OfGroup reports whether the event is about the group as a whole.
func (e *HistoryEvent) OfGroup() bool { return e.What == Membership || e.What == GroupDeleted }

// Change is how far the number moved, None where that cannot be said. Moved tells it from a step back by one.
func (e *HistoryEvent) Change() (n int64, moved bool) {
	switch e.What {
	case WentBack, WentForward, StayedSame:
		return e.To - e.From, true
	}
	return None, false
}

// History is what was read of a group's past.
type History struct {
	Events   []HistoryEvent // in the order of the log
	Complete Complete
	Gone     bool               // the group itself was removed, and nothing came after
	Joined   bool               // it had members at some time
	Topics   map[string][]int32 // the partitions of each topic of which there is a record, sorted
	Was      map[Key]Was        // what was in force at HistoryPolicy.At; a partition that is not in it left no record
	Now      map[Key]int64      // what is in force, of the same partitions; None: removed, or not readable

	Records int64 // of the group
	Commits int64 // of the partitions asked about, that took effect
	Shown   int64 // of these
	Forward int64 // of these, not shown: steps forward,
	Largest int64 // the largest of them,
	Same    int64 // the same number again,
	First   int64 // the first of a partition;
	Outside int64 // and changes before Since or after Until

	Strange   int64         // records in a form that is not known
	ClockBack time.Duration // how far times run backwards in the order of the log, at most
	ClockAt   time.Time     // where they do
}

// Complete says from where on nothing is missing in what was read.
type Complete struct {
	Whole bool      // from the first record that was ever written
	Since time.Time // else from here on; zero: no record is behind the last that compaction took
	Gone  int64     // records that compaction took
}

// WasState says what is known of a partition at a point in time.
type WasState int8

// The states.
const (
	WasUnknown    WasState = iota // the oldest record that is left is younger
	WasCommitted                  // Was.Value was in force
	WasRemoved                    // the commit had been removed
	WasNever                      // nothing had been committed
	WasUnreadable                 // a commit in a form that is not known was in force
)

// Was is what was in force for a partition at a point in time: the last record that took effect, in the order of the log, of those
// that are not younger.
type Was struct {
	State WasState
	Value Value
	Time  time.Time // of that record; of WasUnknown and WasNever, when the oldest record is from that is left

	Next   time.Time // when it changed afterwards; zero: it did not
	NextTo int64     // to what; None if it was removed

	Members  int   // commits by members, and within transactions, after it
	Reached  int64 // the largest of these; None if there are none
	Pending  int64 // producer of an open transaction that may change it; None if there is none
	Disorder bool  // times are not in order around it
}

// HistoryPolicy says what of a history is shown, and at which point in time it is asked what was in force.
type HistoryPolicy struct {
	All          bool           // every commit; else what HistoryEvent.matters says
	Skip         int64          // members' steps forward that are larger than this, too; None: none
	Since, Until time.Time      // zero: no bound
	Takes        func(Key) bool // the partitions asked about; nil: all
	At           time.Time      // for History.Was; zero: not asked
}
