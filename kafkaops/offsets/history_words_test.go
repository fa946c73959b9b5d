package offsets

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestHistoryAuthor(t *testing.T) {
	t.Parallel()
	app := Member{ID: "app-id", ClientID: "app", Host: "/10.0.0.5"}
	six := []Member{app, app, app, app, app}
	event := func(f func(*HistoryEvent)) HistoryEvent {
		e := HistoryEvent{What: WentBack, By: NotAMember, Held: None, Idle: None, Epoch: None, Producer: None, Commits: 1}
		f(&e)
		return e
	}
	removal := func(whole bool, idle, held time.Duration) HistoryEvent {
		return event(func(e *HistoryEvent) { e.What, e.By, e.Whole, e.Idle, e.Held = Deleted, TheBroker, whole, idle, held })
	}
	const kept = 7 * 24 * time.Hour
	tests := []struct {
		event HistoryEvent
		kept  time.Duration
		want  string
	}{
		{event(func(*HistoryEvent) {}), 0, "not a member: a tool, or a consumer with assigned partitions"},
		{event(func(e *HistoryEvent) { e.Note = "by \x1b hand" }), 0, `not a member: a tool, or a consumer with assigned partitions; note "by \x1b hand"`},
		{event(func(e *HistoryEvent) { e.By, e.Members, e.Count = AMember, []Member{app}, 1 }), 0, "a member: app on 10.0.0.5"},
		{event(func(e *HistoryEvent) { e.By, e.Members, e.Count = AMember, six, 8 }), 0, "one of 8 members: " + strings.Repeat("app on 10.0.0.5, ", 5) + "and 3 more"},
		{event(func(e *HistoryEvent) { e.By = AuthorUnknown }), 0, "unknown: who was in the group then is no longer recorded"},
		{event(func(e *HistoryEvent) { e.By, e.Producer = ATransaction, 7 }), 0, "transaction of producer 7"},
		{event(func(e *HistoryEvent) { e.What, e.By, e.Producer = TxnPending, ATransaction, 7 }), 0, "transaction of producer 7, still open"},
		{event(func(e *HistoryEvent) { e.What = FirstKnown }), 0, "not a member: a tool, or a consumer with assigned partitions; what was before is no longer recorded"},
		{
			event(func(e *HistoryEvent) {
				e.What, e.Commits, e.Ended, e.Largest, e.LargestAt = WentForward, 1895, time.Unix(9, 0), 1200, time.Unix(7, 0)
			}), 0,
			"not a member: a tool, or a consumer with assigned partitions; 1,895 commits until 1970-01-01 00:00:09.000Z, the largest step 1,200 at 1970-01-01 00:00:07.000Z",
		},
		{event(func(e *HistoryEvent) {
			e.What, e.By, e.Count, e.Members, e.Epoch = Membership, NoAuthor, 1, []Member{app}, 3
		}), 0, "1: app on 10.0.0.5 (generation 3)"},
		{event(func(e *HistoryEvent) { e.What, e.By, e.Were, e.Epoch = Membership, NoAuthor, []Member{app}, 4 }), 0, "none (generation 4); before: app on 10.0.0.5"},
		{event(func(e *HistoryEvent) { e.What, e.By = Membership, NoAuthor }), 0, "none"},
		{removal(true, kept, 0), kept, "group gone: expiry likely (left alone for 7 d, kept for 7 d), or DeleteGroups"},
		{removal(true, kept-time.Millisecond, 0), kept, "group gone: DeleteGroups"},
		{removal(true, None, 0), kept, "group gone: expiry, DeleteGroups"},
		{removal(true, kept, 0), 0, "group gone: expiry, DeleteGroups"},
		{removal(false, kept, 0), kept, "expiry likely (left alone for 7 d, kept for 7 d), or OffsetDelete, or the topic was deleted"},
		{removal(false, time.Minute, 0), kept, "OffsetDelete, or the topic was deleted"},
		{removal(false, None, kept), kept, "expiry likely (left alone for 7 d, kept for 7 d), or OffsetDelete, or the topic was deleted"}, // members are there, but no longer read it
		{removal(false, None, time.Hour), kept, "OffsetDelete, or the topic was deleted"},
	}
	for _, tt := range tests {
		if got := tt.event.Author(tt.kept); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Complete{
		"complete: every commit since the first is still recorded":                                                         {Whole: true, Since: time.Unix(0, 0)},
		"complete since 1970-01-01 00:00:00.000Z; before that only the last commit of each partition is left (compaction)": {Since: time.Unix(0, 0), Gone: 3},
		"not complete: of each partition only the last commit is left (compaction)":                                        {Gone: 3},
	} {
		if got := c.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestUndo(t *testing.T) {
	t.Parallel()
	left := func(l *tape) *tape { return l.put(3, classicMembers(2)) }
	worked := func() *tape {
		return new(tape).put(1, classicMembers(1, "a")).put(2, committed(0, 500), committed(1, 500), committed(2, 500))
	}
	tests := []struct {
		name string
		log  *tape
		want string
	}{
		{"nothing", worked(), "none"},
		{"a member's move back, for want of another", worked().put(3, committed(1, 5)), "3 [orders:1]"},
		{"a tool's, even if a member's is younger", left(worked()).put(4, committed(0, 5)).put(5, classicMembers(3, "a")).put(6, committed(1, 4)), "4 [orders:0]"},
		{"all partitions are the topic", left(worked()).put(4, committed(2, 1), committed(0, 1), committed(1, 1)), "4 [orders]"},
		{"the last of several", left(worked()).put(4, committed(0, 5)).put(6, committed(1, 5), committed(2, 4)), "6 [orders:1-2]"},
		{"whatever its request moved, either way", left(worked()).put(4, committed(0, 5), committed(1, 900)), "4 [orders:0-1]"},
		{"what it committed first stays", left(worked()).put(4, committed(0, 5), committed(3, 900)), "4 [orders:0] fresh [orders:3]"},
		{"what was put right although members had gone on", left(worked()).put(4, committed(0, 5)).put(5, classicMembers(3, "a")).put(6, committed(0, 60)).put(7, classicMembers(4)).put(8, committed(0, 500)), "none"},
		{"not put right if only by chance", new(tape).put(1, committed(0, 5), committed(1, 50)).put(2, committed(1, 90)).put(4, committed(0, 1), committed(1, 50)), "4 [orders]"},
		{"a run of steps is work, not a move that was put right", new(tape).put(1, committed(0, 0)).put(2, committed(0, 5)).put(3, committed(0, 9)).put(4, committed(0, 0)), "4 [orders]"},
		{"a repair is no step of the run behind it", new(tape).put(1, committed(0, 9)).put(4, committed(0, 0)).put(5, committed(0, 9)).put(6, committed(0, 70)).put(7, committed(0, 80)), "none"},
		{"what was read again since", left(worked()).put(4, committed(0, 5)).put(5, classicMembers(3, "a")).put(6, committed(0, 60)).put(7, committed(0, 600)), "none"},
		{"the last one, whichever way it went", left(worked()).put(4, committed(0, 5)).put(6, committed(0, 900)), "6 [orders:0]"},
		{"a deletion after it", left(worked()).put(4, committed(0, 5)).put(6, removed(1)), "6 [orders:1]"},
		{"not what was put right, nor what put it right", left(worked()).put(4, committed(0, 5)).put(6, committed(0, 500)), "none"},
		{"not what stands again by another way", left(worked()).put(4, removed(0)).put(6, committed(0, 500)), "none"},
		{"what came before something that was put right", left(worked()).put(3, committed(1, 7)).put(4, committed(0, 5)).put(6, committed(0, 500)), "3 [orders:1]"},
		{"what was deleted", left(worked()).put(4, removed(1)), "4 [orders:1]"},
		{"a step forward, if it was a tool's", left(worked()).put(4, committed(1, 900)), "4 [orders:1]"},
		{"not a new commit: there was nothing to return to", new(tape).put(4, committed(1, 900)), "none"},
		{"in a group without members, a step forward that was taken back", new(tape).put(1, committed(0, 1)).put(2, committed(0, 2)).put(3, committed(0, 3)).put(4, committed(0, 900)).put(5, committed(0, 3)), "none"},
		{"the same of several partitions, some of which went back", new(tape).put(1, committed(0, 1), committed(1, 50)).put(2, committed(0, 2), committed(1, 60)).put(3, committed(0, 3), committed(1, 70)).put(4, committed(0, 40), committed(1, 40)).put(5, committed(0, 3), committed(1, 70)), "none"},
		{"not if only one of them went to where it came from", new(tape).put(1, committed(0, 1), committed(1, 50)).put(2, committed(0, 2), committed(1, 60)).put(3, committed(0, 3), committed(1, 70)).put(5, committed(0, 2), committed(1, 70)).put(6, committed(0, 1), committed(1, 50)), "6 [orders]"},
		{"what it committed first, and was removed again", left(worked()).put(4, committed(0, 5), committed(3, 900)).put(6, committed(0, 500)).put(7, removed(3)), "none"},
		{"the same in the other order", left(worked()).put(4, committed(0, 5), committed(3, 900)).put(6, removed(3)).put(7, committed(0, 500)), "none"},
		{"what was removed, and nothing else put right", left(worked()).put(4, committed(0, 5), committed(3, 900)).put(7, removed(3)), "7 [orders:3]"},
		{"not a job's that assigns its partitions", new(tape).put(4, committed(1, 1)).put(5, committed(1, 2)).put(6, committed(1, 3)), "none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := "none"
			if way := told(HistoryPolicy{Skip: None}, tt.log).Return(func(Key) Range { return Range{} }); len(way.Back) > 0 {
				got = fmt.Sprint(way.Before.Unix(), " ", way.Back)
				if len(way.Fresh) > 0 {
					got += fmt.Sprint(" fresh ", way.Fresh)
				}
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// What brought an offset back into range is no move that somebody regrets, and neither is one that nothing of then is left of; the one
// before it may be.
func TestUndoOfRepairs(t *testing.T) {
	t.Parallel()
	log := func() *tape {
		return new(tape).put(1, classicMembers(1, "a")).put(2, committed(0, 500)).put(3, classicMembers(2))
	}
	at := func(earliest, end int64) Range { return Range{State: RangeKnown, Earliest: earliest, End: end} }
	tests := []struct {
		name string
		log  *tape
		now  Range
		want string
	}{
		{"a high one", log().put(4, committed(0, 9000)).put(5, committed(0, 1000)), at(0, 1000), "4 [orders]"},
		{"its own return is one", log().put(4, committed(0, 100)), at(0, 1000), "4 [orders]"},
		{"a low one", log().put(4, committed(0, 700)), at(700, 1000), "none"},
		{"of what is gone", log().put(4, committed(0, 100)), Range{State: TopicGone}, "none"},
		{"put right as far as it has not expired", log().put(4, committed(0, 650), committed(1, 800)).put(5, committed(0, 1000), committed(1, 1000)).put(6, committed(0, 700), committed(1, 800)), at(700, 2000), "none"},
		{"the same back", log().put(4, committed(0, 650), committed(1, 800)).put(5, committed(0, 50), committed(1, 30)).put(6, committed(0, 700), committed(1, 800)), at(700, 2000), "none"},
		{"not if it came elsewhere", log().put(4, committed(0, 650), committed(1, 800)).put(5, committed(0, 50), committed(1, 30)).put(6, committed(0, 900), committed(1, 800)), at(700, 2000), "6 [orders] expired"},
		{"one that has become low since", log().put(4, committed(0, 900)), at(700, 1000), "4 [orders] expired"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := "none"
			if way := told(HistoryPolicy{Skip: None}, tt.log).Return(func(Key) Range { return tt.now }); len(way.Back)+len(way.Other) > 0 {
				got = fmt.Sprint(way.Before.Unix(), " ", append(way.Back, way.Other...))
				if way.Expired {
					got += " expired"
				}
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Whatever happens to a partition, what was in force at a time is found at every time: the log is played for each, and compared with
// what a coordinator would have said then.
func TestWasAtEveryTime(t *testing.T) {
	t.Parallel()
	log := new(tape).
		put(1, committed(0, 10)).put(2, within(7, committed(0, 20))).put(3, committed(0, 12)).put(4, ended(7, true)).
		put(5, within(7, committed(0, 30))).put(6, ended(7, true)).put(7, within(8, committed(0, 40))).put(8, removed(0)).put(9, ended(8, true)).
		put(10, committed(0, 5)).put(11, within(7, committed(0, 50))).put(12, ended(7, false))
	want := []string{"never", "10", "10", "12", "12", "12", "30", "30", "removed", "removed", "5", "5", "5", "5"}
	for at, want := range want {
		w := told(HistoryPolicy{Skip: None, At: time.Unix(int64(at), 0)}, log).Was[Key{"orders", 0}]
		got := map[WasState]string{WasNever: "never", WasRemoved: "removed", WasCommitted: number(w.Value.Offset), WasUnknown: "unknown"}[w.State]
		if got != want {
			t.Errorf("at %d: got %s, want %s", at, got, want)
		}
	}
}
