package offsets

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// tape writes down records as a log has them.
type tape struct {
	records []LogRecord
	at      int64 // of the next record, in seconds
	offset  int64
	holes   bool // something before is missing
}

// put adds records as one batch.
func (l *tape) put(seconds int64, batch ...LogRecord) *tape {
	l.at = seconds
	base := l.offset
	for _, r := range batch {
		r.Offset, r.Batch, r.Time, r.Whole = l.offset, base, 1000*l.at, !l.holes
		if r.Committed == 0 {
			r.Committed = r.Time
		}
		l.records = append(l.records, r)
		l.offset++
	}
	return l
}

// compacted says that something is missing before what follows.
func (l *tape) compacted() *tape {
	l.holes = true
	l.offset += 100
	return l
}

func committed(partition int32, offset int64) LogRecord {
	return LogRecord{Kind: LogCommit, Producer: None, Key: &Key{"orders", partition}, Value: Value{Offset: offset, Epoch: None}}
}

// with fills in more of a commit.
func with(r LogRecord, f func(*LogRecord)) LogRecord {
	f(&r)
	return r
}

func removed(partition int32) LogRecord {
	return LogRecord{Kind: LogRemoved, Producer: None, Key: &Key{"orders", partition}}
}

func within(producer int64, r LogRecord) LogRecord {
	r.Producer = producer
	return r
}

func ended(producer int64, commit bool) LogRecord {
	return LogRecord{Kind: LogMarker, Producer: producer, Commit: commit}
}

func classicMembers(generation int32, ids ...string) LogRecord {
	r := LogRecord{Kind: LogMembers, Producer: None, Type: Classic, Generation: generation}
	for _, id := range ids {
		r.Members = append(r.Members, Member{ID: id, ClientID: id, Host: "/h", Epoch: None})
	}
	return r
}

func modern(kind LogKind, generation int32, ids ...string) LogRecord {
	r := classicMembers(generation, ids...)
	r.Kind, r.Type = kind, Consumer
	return r
}

func gone(kind GroupType) LogRecord {
	return LogRecord{Kind: LogGone, Producer: None, Type: kind, Generation: None}
}

// told plays a tape.
func told(p HistoryPolicy, l *tape) History {
	h := NewHistorian(p)
	for i := range l.records {
		h.Add(&l.records[i])
	}
	return h.End(Complete{Whole: !l.holes})
}

// brief is the events in a few words each: time, what, partition, from, to, held, author.
func brief(h History) string {
	var all []string
	for i := range h.Events {
		e := &h.Events[i]
		text := fmt.Sprintf("%d %s", e.Time.Unix(), e.What)
		switch {
		case e.What == Membership:
			text += fmt.Sprintf(" %d", e.Count)
		case !e.OfGroup():
			text += fmt.Sprintf(" %d %s>%s %s", e.Key.Partition, number(e.From), number(e.To), strings.ReplaceAll(e.By.String(), " ", "-"))
			if e.Held != None {
				text += " " + e.Held.String()
			}
		}
		if e.Whole {
			text += " whole"
		}
		if e.Commits > 1 {
			text += fmt.Sprintf(" x%d", e.Commits)
		}
		if e.Unlike != "" {
			text += " " + strings.ReplaceAll(e.Unlike, " ", "-")
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func TestHistory(t *testing.T) {
	t.Parallel()
	epoch := func(r *LogRecord) { r.Value.Epoch = 3 }
	note := func(note string) func(*LogRecord) { return func(r *LogRecord) { r.Value.Metadata = note } }
	id := func(id string) func(*LogRecord) { return func(r *LogRecord) { r.Value.TopicID = id } }
	tests := []struct {
		name   string
		policy HistoryPolicy
		log    *tape
		want   string
	}{
		{"members that go forward are no news", HistoryPolicy{Skip: None}, new(tape).
			put(1, classicMembers(1, "a")).put(2, committed(0, 10), committed(1, 5)).put(3, committed(0, 10)).put(4, committed(0, 900)), ""},
		{
			"all of it",
			HistoryPolicy{Skip: None, All: true},
			new(tape).
				put(1, classicMembers(1, "a")).put(2, committed(0, 10)).put(3, committed(0, 10)).put(4, committed(0, 900)),
			"1 members 1; 2 new 0 none>10 member; 3 same 0 10>10 member 1s; 4 forward 0 10>900 member 1s",
		},
		{
			"a step as large as is passed over, and one above",
			HistoryPolicy{Skip: 100},
			new(tape).
				put(1, classicMembers(1, "a")).put(2, committed(0, 0)).put(3, committed(0, 100)).put(4, committed(0, 201)),
			"1 members 1; 4 forward 0 100>201 member 1s",
		},
		{"a member goes back", HistoryPolicy{Skip: None}, new(tape).
			put(1, classicMembers(1, "a")).put(2, committed(0, 10)).put(5, committed(0, 9)), "1 members 1; 5 back 0 10>9 member 3s"},
		{
			"a tool after the member left",
			HistoryPolicy{Skip: None},
			new(tape).
				put(1, classicMembers(1, "a")).put(2, committed(0, 500), committed(1, 300)).put(3, classicMembers(2)).put(4, committed(0, 0), committed(1, 400)),
			"3 members 0; 4 back 0 500>0 not-a-member 2s; 4 forward 1 300>400 not-a-member 2s",
		},
		{
			"a crashed member still counts",
			HistoryPolicy{Skip: None},
			new(tape).
				put(1, classicMembers(1, "a", "b")).put(2, committed(0, 500)).put(3, classicMembers(2, "b")).put(4, committed(0, 0)),
			"3 members 1; 4 back 0 500>0 member 2s",
		},
		{"the same members again are no change", HistoryPolicy{Skip: None, All: true}, new(tape).
			put(1, classicMembers(1, "a", "b")).put(2, classicMembers(2, "b", "a")), "1 members 2"},
		{
			"KIP-848: a member, and a tool when it has left",
			HistoryPolicy{Skip: None},
			new(tape).
				put(1, modern(LogJoined, None, "a"), modern(LogEpoch, 1)).put(2, committed(0, 7)).put(3, modern(LogLeft, None, "a"), modern(LogEpoch, 2)).put(4, committed(0, 3)),
			"3 members 0; 4 back 0 7>3 not-a-member 2s",
		},
		{
			"a group that changes its protocol is not gone",
			HistoryPolicy{Skip: None},
			new(tape).
				put(1, classicMembers(1, "a")).put(2, committed(0, 7)).put(3, gone(Classic), modern(LogEpoch, 2), modern(LogJoined, None, "a")).put(4, committed(0, 6)),
			"3 members 1; 4 back 0 7>6 member 2s",
		},
		{
			"a simple group's work is summed up",
			HistoryPolicy{Skip: None},
			new(tape).
				put(1, committed(0, 10)).put(2, committed(0, 20)).put(3, committed(0, 20)).put(4, committed(0, 35)).put(5, committed(0, 5)).put(6, committed(0, 6)),
			"1 new 0 none>10 not-a-member; 2 forward 0 10>35 not-a-member 1s x2; 5 back 0 35>5 not-a-member 1s; 6 forward 0 5>6 not-a-member 1s",
		},
		{
			"a step that is written otherwise stands alone in it",
			HistoryPolicy{Skip: None},
			new(tape).
				put(1, with(committed(0, 10), epoch)).put(2, with(committed(0, 20), epoch)).put(3, with(committed(0, 30), epoch)).put(4, committed(0, 90)).
				put(5, with(committed(0, 91), epoch)).put(6, with(committed(0, 92), epoch)),
			"1 new 0 none>10 not-a-member; 2 forward 0 10>30 not-a-member 1s x2; 4 forward 0 30>90 not-a-member 1s without-a-leader-epoch; " +
				"5 forward 0 90>92 not-a-member 1s x2 with-a-leader-epoch",
		},
		{
			"one without a note among noted ones, each with another",
			HistoryPolicy{Skip: None},
			new(tape).
				put(1, with(committed(0, 10), note("a"))).put(2, with(committed(0, 20), note("b"))).put(3, with(committed(0, 30), note("c"))).put(4, committed(0, 90)).
				put(5, committed(0, 91)).put(6, with(committed(0, 92), note("d"))),
			"1 new 0 none>10 not-a-member; 2 forward 0 10>30 not-a-member 1s x2; 4 forward 0 30>91 not-a-member 1s x2 without-a-note; 6 forward 0 91>92 not-a-member 1s with-a-note",
		},
		{
			"with all, each that is written otherwise says so, but not beside a member's, nor one that is removed",
			HistoryPolicy{Skip: None, All: true},
			new(tape).
				put(1, classicMembers(1, "a"), with(committed(0, 10), epoch)).put(2, classicMembers(2)).put(3, committed(0, 5)).put(4, with(committed(0, 5), epoch)).
				put(5, removed(0)).put(6, committed(0, 7)).put(7, with(committed(0, 7), note("a"))),
			"1 members 1; 1 new 0 none>10 member; 2 members 0; 3 back 0 10>5 not-a-member 2s; 4 same 0 5>5 not-a-member 1s with-a-leader-epoch; " +
				"5 deleted 0 5>none broker 1s; 6 new 0 none>7 not-a-member; 7 same 0 7>7 not-a-member 1s with-a-note",
		},
		{
			"a step over --skip stands alone in it",
			HistoryPolicy{Skip: 50},
			new(tape).
				put(1, committed(0, 10)).put(2, committed(0, 20)).put(3, committed(0, 71)).put(4, committed(0, 72)),
			"1 new 0 none>10 not-a-member; 2 forward 0 10>20 not-a-member 1s; 3 forward 0 20>71 not-a-member 1s; 4 forward 0 71>72 not-a-member 1s",
		},
		{
			"who was there before compaction is unknown",
			HistoryPolicy{Skip: None},
			new(tape).compacted().
				put(1, committed(0, 10)).put(2, committed(0, 5)).put(3, classicMembers(4)).put(4, committed(0, 4), committed(1, 3)),
			"2 back 0 10>5 unknown 1s; 4 back 0 5>4 not-a-member 2s; 4 first known 1 none>3 not-a-member",
		},
		{
			"a topic made anew",
			HistoryPolicy{Skip: None},
			new(tape).
				put(1, classicMembers(1, "a")).put(2, with(committed(0, 10), id("A"))).put(3, with(committed(0, 11), id("B"))),
			"1 members 1; 3 other topic 0 10>11 member 1s",
		},
		{"a transaction that is committed", HistoryPolicy{Skip: None, All: true}, new(tape).
			put(1, within(7, committed(0, 10))).put(2, ended(7, true)), "2 new 0 none>10 transaction"},
		{"one that is aborted", HistoryPolicy{Skip: None}, new(tape).
			put(1, classicMembers(1, "a"), committed(0, 3)).put(2, within(7, committed(0, 10))).put(3, ended(7, false)), "3 aborted 0 3>10 transaction 2s"},
		{
			"one that is overtaken",
			HistoryPolicy{Skip: None},
			new(tape).
				put(1, classicMembers(1, "a"), committed(0, 3)).put(2, within(7, committed(0, 30))).put(3, committed(0, 12)).put(4, ended(7, true)),
			"4 overtaken 0 12>30 transaction 1s",
		},
		{
			"one that is overtaken by a removal",
			HistoryPolicy{Skip: None},
			new(tape).
				put(1, classicMembers(1, "a"), committed(0, 3)).put(2, within(7, committed(0, 30))).put(3, removed(0)).put(4, ended(7, true)),
			"1 members 1; 3 deleted 0 3>none broker 2s; 4 overtaken 0 none>30 transaction",
		},
		{
			"one that is overtaken by a removal of what is removed already",
			HistoryPolicy{Skip: None},
			new(tape).
				put(1, classicMembers(1, "a"), committed(0, 3)).put(2, removed(0)).put(3, within(7, committed(0, 30))).put(4, removed(0)).put(5, ended(7, true)),
			"1 members 1; 2 deleted 0 3>none broker 1s; 5 overtaken 0 none>30 transaction",
		},
		{"one that is open", HistoryPolicy{Skip: None}, new(tape).
			put(1, classicMembers(1, "a"), committed(0, 3)).put(2, within(7, committed(0, 30))), "2 pending 0 3>30 transaction 1s"},
		{"another producer's marker ends nothing", HistoryPolicy{Skip: None}, new(tape).
			put(2, within(7, committed(0, 30))).put(3, ended(8, true)), "2 pending 0 none>30 transaction"},
		{
			"a commit is removed, and made anew",
			HistoryPolicy{Skip: None},
			new(tape).
				put(1, classicMembers(1, "a"), committed(0, 3)).put(2, classicMembers(2)).put(3, removed(0)).put(4, removed(0)).put(5, classicMembers(3, "a"), committed(0, 4)),
			"2 members 0; 3 deleted 0 3>none broker 2s; 5 members 1; 5 new 0 none>4 member",
		},
		{
			"the whole group goes",
			HistoryPolicy{Skip: None},
			new(tape).
				put(1, classicMembers(1, "a"), committed(0, 3)).put(2, classicMembers(2)).put(9, removed(0), gone(Classic)),
			"2 members 0; 9 deleted 0 3>none broker 8s whole",
		},
		{"a group without commits goes", HistoryPolicy{Skip: None}, new(tape).put(2, classicMembers(2)).put(9, gone(Classic)), "9 group gone whole"},
		{
			"a form that is not known",
			HistoryPolicy{Skip: None},
			new(tape).
				put(1, classicMembers(1, "a"), committed(0, 3)).put(2, LogRecord{Kind: LogUnreadable, Producer: None, Key: &Key{"orders", 0}, Value: NoValue}).put(3, committed(0, 2)),
			"1 members 1; 2 unreadable 0 3>none member 1s",
		},
		{
			"bounds of time, both included",
			HistoryPolicy{Skip: None, Since: time.Unix(3, 0), Until: time.Unix(4, 0)},
			new(tape).
				put(1, classicMembers(1, "a"), committed(0, 10)).put(2, committed(0, 9)).put(3, committed(0, 8)).put(4, committed(0, 7)).put(5, committed(0, 6)),
			"3 back 0 9>8 member 1s; 4 back 0 8>7 member 1s",
		},
		{"one partition", HistoryPolicy{Skip: None, Takes: func(k Key) bool { return k.Partition == 1 }}, new(tape).
			put(1, classicMembers(1, "a"), committed(0, 10), committed(1, 10)).put(2, committed(0, 9), committed(1, 8)), "1 members 1; 2 back 1 10>8 member 1s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := brief(told(tt.policy, tt.log)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestHistoryCounts(t *testing.T) {
	t.Parallel()
	h := told(HistoryPolicy{Skip: None, Since: time.Unix(3, 0)}, new(tape).
		put(1, classicMembers(1, "a"), committed(0, 10)).put(2, committed(0, 9)).put(3, committed(0, 8)).put(4, committed(0, 108)).put(5, committed(0, 108)).put(6, committed(0, 109)))
	got := fmt.Sprint(h.Records, h.Commits, h.Shown, h.Forward, h.Largest, h.Same, h.First, h.Outside)
	if want := "7 6 1 2 100 1 0 3"; got != want { // outside: the first, a move, and who was in the group then
		t.Errorf("records, commits, shown, forward, largest, same, first, outside: got %s, want %s", got, want)
	}
}

func TestHistoryClock(t *testing.T) {
	t.Parallel()
	h := told(HistoryPolicy{Skip: None}, new(tape).put(10, committed(0, 1)).put(4, committed(0, 2)).put(11, committed(0, 3)).put(9, committed(0, 4)))
	if h.ClockBack != 6*time.Second || h.ClockAt.Unix() != 4 {
		t.Errorf("got %v at %v, want 6s at 4", h.ClockBack, h.ClockAt.Unix())
	}
}

func TestWas(t *testing.T) {
	t.Parallel()
	member := classicMembers(1, "a")
	tests := []struct {
		name string
		log  *tape
		at   int64
		want Was
	}{
		{
			"exactly then", new(tape).put(5, committed(0, 10)).put(6, committed(0, 11)), 5,
			Was{State: WasCommitted, Value: Value{Offset: 10, Epoch: None}, Time: time.Unix(5, 0), Next: time.Unix(6, 0), NextTo: 11, Reached: None, Pending: None},
		},
		{"before the first", new(tape).put(5, committed(0, 10)), 4, Was{State: WasNever, Time: time.Unix(5, 0), Next: time.Unix(5, 0), NextTo: 10, Reached: None, Pending: None}},
		{
			"before the oldest that is left", new(tape).compacted().put(5, committed(0, 10)), 4,
			Was{State: WasUnknown, Time: time.Unix(5, 0), Next: time.Unix(5, 0), NextTo: 10, Reached: None, Pending: None},
		},
		{
			"the oldest that is left", new(tape).compacted().put(5, committed(0, 10)), 5,
			Was{State: WasCommitted, Value: Value{Offset: 10, Epoch: None}, Time: time.Unix(5, 0), NextTo: None, Reached: None, Pending: None},
		},
		{"removed then", new(tape).put(5, committed(0, 10)).put(6, removed(0)), 7, Was{State: WasRemoved, Value: NoValue, Time: time.Unix(6, 0), NextTo: None, Reached: None, Pending: None}},
		{
			"removed after", new(tape).put(5, committed(0, 10)).put(6, removed(0)), 5,
			Was{State: WasCommitted, Value: Value{Offset: 10, Epoch: None}, Time: time.Unix(5, 0), Next: time.Unix(6, 0), NextTo: None, Reached: None, Pending: None},
		},
		{
			"what members did since", new(tape).put(1, member).put(5, committed(0, 10)).put(6, committed(0, 30)).put(7, committed(0, 20)).put(8, classicMembers(2)).put(9, committed(0, 99)), 5,
			Was{State: WasCommitted, Value: Value{Offset: 10, Epoch: None}, Time: time.Unix(5, 0), Next: time.Unix(6, 0), NextTo: 30, Members: 2, Reached: 30, Pending: None},
		},
		{
			"a transaction counts from its end", new(tape).put(1, committed(0, 1)).put(5, within(7, committed(0, 10))).put(8, ended(7, true)), 6,
			Was{State: WasCommitted, Value: Value{Offset: 1, Epoch: None}, Time: time.Unix(1, 0), Next: time.Unix(8, 0), NextTo: 10, Members: 1, Reached: 10, Pending: None},
		},
		{
			"an aborted one never", new(tape).put(1, committed(0, 1)).put(5, within(7, committed(0, 10))).put(6, ended(7, false)), 9,
			Was{State: WasCommitted, Value: Value{Offset: 1, Epoch: None}, Time: time.Unix(1, 0), NextTo: None, Reached: None, Pending: None},
		},
		{
			"one that is open", new(tape).put(1, committed(0, 1)).put(5, within(7, committed(0, 10))), 9,
			Was{State: WasCommitted, Value: Value{Offset: 1, Epoch: None}, Time: time.Unix(1, 0), NextTo: None, Reached: None, Pending: 7},
		},
		{
			"the order of the log counts where times run backwards", new(tape).put(5, committed(0, 1)).put(9, committed(0, 2)).put(6, committed(0, 3)), 7,
			Was{State: WasCommitted, Value: Value{Offset: 3, Epoch: None}, Time: time.Unix(6, 0), NextTo: None, Reached: None, Pending: None, Disorder: true},
		},
		{
			"a form that is not known", new(tape).put(5, LogRecord{Kind: LogUnreadable, Producer: None, Key: &Key{"orders", 0}, Value: NoValue}), 5,
			Was{State: WasUnreadable, Value: NoValue, Time: time.Unix(5, 0), NextTo: None, Reached: None, Pending: None},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := told(HistoryPolicy{Skip: None, At: time.Unix(tt.at, 0)}, tt.log).Was[Key{"orders", 0}]
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}
