package offsets_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gtoffset/kafkaops/offsets"
)

func TestDelete(t *testing.T) {
	live := func(r offsets.Row) offsets.Row { r.Owner = "m1"; return r }
	for _, tc := range []struct {
		name    string
		row     offsets.Row
		active  bool
		whole   bool
		verdict offsets.Verdict
		say     string
	}{
		{name: "a commit", row: committed(known(0, 9), withEpoch(offsets.At(5), 1, "m")), verdict: offsets.Write, say: "removed"},
		{name: "no commit", row: committed(known(0, 9), offsets.Entry{}), verdict: offsets.Keep, say: "no commit"},
		{name: "out of range", row: committed(known(0, 9), offsets.At(50)), verdict: offsets.Write},
		{name: "topic gone", row: committed(offsets.Range{State: offsets.TopicGone}, offsets.At(5)), verdict: offsets.Write},
		{name: "not readable", row: committed(known(0, 9), offsets.Entry{Presence: offsets.Denied, Reason: "no right"}), verdict: offsets.Refuse, say: "no right"},
		{name: "live, and reads the topic", row: live(committed(known(0, 9), offsets.At(5))), active: true, verdict: offsets.Refuse, say: "the group is active and reads this topic: 1 member (job on h)"},
		{name: "live, and no longer reads it", row: committed(known(0, 9), offsets.At(5)), active: true, verdict: offsets.Write},
		{name: "whole group", row: committed(known(0, 9), offsets.At(5)), whole: true, verdict: offsets.Write, say: "removed with the group"},
		{name: "whole group, live", row: live(committed(known(0, 9), offsets.At(5))), active: true, whole: true, verdict: offsets.Refuse, say: "is active"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := group(tc.row)
			s.Groups[0].Store = nil
			if tc.active {
				s.Groups[0].State, s.Groups[0].Members = "Stable", []offsets.Member{{ID: "m1", ClientID: "job", Host: "/h"}}
			}
			plan := offsets.Gate(offsets.Delete(s, tc.whole), s, false)
			c := plan.All()[0]
			if c.Verdict != tc.verdict || !strings.Contains(c.Reason, tc.say) {
				t.Fatalf("got %s %q, want %s %q", c.Verdict, c.Reason, tc.verdict, tc.say)
			}
			if c.Verdict == offsets.Write && c.New != offsets.NoValue {
				t.Errorf("new value %+v", c.New)
			}
			if got := plan.Groups[0]; got.Whole != tc.whole || got.Live == tc.whole || tc.whole != (len(got.Notes) > 0) {
				t.Errorf("group %+v", got)
			}
		})
	}
}

// A group without commits is deleted too; one that is gone is done.
func TestDeleteBareGroup(t *testing.T) {
	s := group()
	plan := offsets.Gate(offsets.Delete(s, true), s, false)
	if plan.ToDo() != 1 {
		t.Errorf("a group without commits: %d to do, want 1", plan.ToDo())
	}
	if plan.Groups[0] = plan.Groups[0].Deleted(offsets.Change{Result: offsets.Written}); plan.ToDo() != 0 {
		t.Errorf("deleted: %d to do", plan.ToDo())
	}
	s = group(committed(known(0, 9), offsets.At(5)))
	plan = offsets.Delete(s, true)
	gone := group(committed(known(0, 9), offsets.Entry{}))
	gone.Groups[0].Existence, gone.Groups[0].State = offsets.Missing, ""
	resumed := offsets.Gate(offsets.Resume(plan, gone), gone, false)
	if resumed.ToDo() != 0 || resumed.Groups[0].Refusal != "" {
		t.Errorf("deleted meanwhile: %d to do, refusal %q", resumed.ToDo(), resumed.Groups[0].Refusal)
	}
}

func TestDeleteProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		whole := rapid.Bool().Draw(t, "whole")
		for i := range s.Groups {
			if rapid.IntRange(0, 3).Draw(t, "live") == 0 {
				s.Groups[i].State, s.Groups[i].Members = "Stable", []offsets.Member{{ID: "m1", ClientID: "job"}}
				for j := range s.Groups[i].Rows {
					if s.Groups[i].Rows[j].Topic == "a" {
						s.Groups[i].Rows[j].Owner = "m1"
					}
				}
			}
		}
		plan := offsets.Gate(offsets.Delete(s, whole), s, false)
		sound(t, s, plan)
		for _, c := range plan.All() {
			g, _ := s.Group(c.Group)
			row, _ := g.Row(c.Key)
			free := !g.Active() || !whole && row.Owner == ""
			if whole && slices.ContainsFunc(g.Rows, func(r offsets.Row) bool { return r.Committed.Problem() }) {
				free = false // all of it or nothing
			}
			if want := row.Committed.Presence == offsets.Present && free; (c.Verdict == offsets.Write) != want || c.Side != offsets.Committed {
				t.Fatalf("%+v in a group that is %s", c, g.State)
			}
		}
		if p := offsets.Recheck(plan, s); p.Count() != plan.Count() {
			t.Fatalf("an unchanged look makes %+v of %+v", p.Count(), plan.Count())
		}
		after := write(s, plan, nil)
		onlyWrites(t, s, after, plan)
		for _, c := range plan.All() {
			if e := holds(after)[place{c.Group, c.Key, c.Side}]; c.Verdict == offsets.Write && e.Presence != offsets.Absent {
				t.Fatalf("%+v is still there", e)
			}
		}
		if again := offsets.Gate(offsets.Delete(after, false), after, false); again.ToDo() != 0 && !whole {
			t.Fatalf("not done after the first time: %s", changes(again))
		}
		for i := range after.Groups { // an undo is for a stopped group
			after.Groups[i].State, after.Groups[i].Members = "Empty", nil
		}
		undo := offsets.Restore(after, backupOf(plan), offsets.RestorePolicy{})
		sound(t, after, undo)
		for _, c := range offsets.Recheck(undo, after).All() {
			g, _ := s.Group(c.Group)
			row, _ := g.Row(c.Key)
			if row.Range.Gone() { // Kafka keeps no commit of a topic that is gone
				if c.Verdict != offsets.Refuse {
					t.Fatalf("brought back for a topic that is gone: %+v", c)
				}
			} else if c.Verdict != offsets.Write || c.New != offsets.ValueOf(row.Committed) {
				t.Fatalf("not brought back: %+v", c)
			}
		}
	})
}
