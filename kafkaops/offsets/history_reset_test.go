package offsets

import (
	"strings"
	"testing"
	"time"
)

func TestResetToCommitAt(t *testing.T) {
	t.Parallel()
	at := time.Unix(100, 0)
	was := func(state WasState, offset int64, f func(*Was)) Was {
		w := Was{State: state, Value: NoValue, Time: time.Unix(90, 0), NextTo: None, Reached: None, Pending: None}
		if state == WasCommitted {
			w.Value = Value{Offset: offset, Epoch: 3, Metadata: "note", TopicID: "A"}
		}
		if f != nil {
			f(&w)
		}
		return w
	}
	tests := []struct {
		name    string
		was     *Was
		now     Entry
		clamp   bool
		whole   bool
		verdict Verdict
		offset  int64
		reason  string
	}{
		{"back", ptr(was(WasCommitted, 500, nil)), At(0), false, false, Write, 500, "committed 1970-01-01 00:01:30.000Z, 10 s before"},
		{"exactly then", ptr(was(WasCommitted, 500, func(w *Was) { w.Time = at })), At(0), false, false, Write, 500, "0 s before"},
		{"a change a millisecond later", ptr(was(WasCommitted, 500, func(w *Was) { w.Next, w.NextTo = at.Add(time.Millisecond), 7 })), At(0), false, false, Write, 500, "; 1 ms after, it became 7"},
		{"a change a second later", ptr(was(WasCommitted, 500, func(w *Was) { w.Next = at.Add(time.Second) })), At(0), false, false, Write, 500, "; 1 s after, it became none"},
		{"a change much later", ptr(was(WasCommitted, 500, func(w *Was) { w.Next = at.Add(1001 * time.Millisecond) })), At(0), false, false, Write, 500, "10 s before"},
		{"there already", ptr(was(WasCommitted, 500, nil)), Entry{Presence: Present, Offset: 500, Epoch: None}, false, false, Keep, 500, "already there"},
		{"none now", ptr(was(WasCommitted, 500, nil)), Entry{}, false, false, Write, 500, "committed"},
		{"low", ptr(was(WasCommitted, 99, nil)), At(200), false, false, Refuse, 200, "99 is low: the range is 100..1000"},
		{"low, clamped", ptr(was(WasCommitted, 99, nil)), At(200), true, false, Write, 100, "99 is low"},
		{"high", ptr(was(WasCommitted, 1001, nil)), At(200), false, false, Refuse, 200, "1001 is high"},
		{"at the end", ptr(was(WasCommitted, 1000, nil)), At(200), false, false, Write, 1000, "committed"},
		{"another topic", ptr(was(WasCommitted, 500, func(w *Was) { w.Value.TopicID = "B" })), At(200), false, false, Refuse, 200, "its id was B and is A"},
		{"a topic without an id in the record", ptr(was(WasCommitted, 500, func(w *Was) { w.Value.TopicID = "" })), At(200), false, false, Write, 500, "committed"},
		{"removed", ptr(was(WasRemoved, 0, nil)), At(200), false, false, Refuse, 200, "it was removed 1970-01-01 00:01:30.000Z"},
		{"removed, and none now", ptr(was(WasRemoved, 0, nil)), Entry{}, false, false, Keep, None, "there is none now; left as it is"},
		{"never", ptr(was(WasNever, 0, nil)), At(200), false, true, Refuse, 200, "nothing had ever been committed; the first commit is of"},
		{"unknown", ptr(was(WasUnknown, 0, nil)), At(200), false, false, Refuse, 200, "is unknown: the oldest commit that is still recorded is of 1970-01-01 00:01:30.000Z; complete since"},
		{"no record, and a commit now", nil, At(200), false, false, Refuse, 200, "no commit of it is recorded any more"},
		{"no record in a whole log, and a commit now", nil, At(200), false, true, Refuse, 200, "nothing had ever been committed"},
		{"no record, no commit", nil, Entry{}, false, false, Keep, None, "left as it is"},
		{"a form that is not known", ptr(was(WasUnreadable, 0, nil)), At(200), false, false, Refuse, 200, "a form that gtoffset does not know"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := Key{"orders", 0}
			past := Past{At: at, Was: map[Key]Was{}, Complete: Complete{Whole: tt.whole, Since: time.Unix(95, 0)}}
			if tt.was != nil {
				past.Was[k] = *tt.was
			}
			s := Snapshot{Groups: []Group{{ID: "g", Rows: []Row{{Key: k, Range: Range{State: RangeKnown, Earliest: 100, End: 1000, Stable: None, TopicID: "A"}, Committed: tt.now}}}}}
			c := Reset(s, ResetPolicy{Sides: []Side{Committed}, Aim: AimCommitAt, Past: past, Clamp: tt.clamp, Named: func(string) bool { return true }}).Groups[0].Changes[0]
			if c.Verdict != tt.verdict || c.New.Offset != tt.offset || !strings.Contains(c.Reason, tt.reason) {
				t.Errorf("got %s %d, %q; want %s %d, %q", c.Verdict, c.New.Offset, c.Reason, tt.verdict, tt.offset, tt.reason)
			}
			if c.Verdict == Write && c.New.Epoch != None {
				t.Errorf("got leader epoch %d, want none", c.New.Epoch)
			}
			if c.Verdict == Write && !c.Clamped && c.New.Metadata != "note" {
				t.Errorf("got note %q", c.New.Metadata)
			}
		})
	}
}

func TestPastNotes(t *testing.T) {
	t.Parallel()
	was := func(offset int64, members int, reached, pending int64, disorder bool) Was {
		return Was{State: WasCommitted, Value: Value{Offset: offset, Epoch: None}, NextTo: None, Members: members, Reached: reached, Pending: pending, Disorder: disorder}
	}
	g := Group{ID: "g"}
	past := Past{Was: map[Key]Was{{"a", 0}: was(5, 3, 50, None, false), {"a", 1}: was(5, 2, 500, None, true), {"a", 2}: was(5, 0, None, 7, false)}}
	for p := range int32(4) {
		g.Rows = append(g.Rows, Row{Key: Key{"a", p}})
	}
	got := strings.Join(past.notes(g), "\n")
	want := "a 2: the transaction of producer 7 is still open; ending it does not undo this write, but its job may commit again\n" +
		"members, or transactions, committed 5 times since then, in 2 partitions: what they processed is read again, the most in a 1, from 5 to 500\n" +
		"in 1 partition times are not in order around then, as another broker's clock came in: the order of the log counts"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func ptr[T any](v T) *T { return &v }
