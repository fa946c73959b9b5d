package offsets_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gtoffset/kafkaops/offsets"
)

// drawPlan draws a plan of any kind for a snapshot.
func drawPlan(t *rapid.T, s offsets.Snapshot) offsets.Plan {
	switch rapid.IntRange(0, 3).Draw(t, "plan") {
	case 0:
		return offsets.Clamp(s, anyPolicy(t)).Settle(rapid.Bool().Draw(t, "consent"))
	case 1:
		return offsets.Merge(s, drawRows(t, s), offsets.MergePolicy{Side: rapid.SampledFrom(bothSides).Draw(t, "side"), Clamp: true})
	case 2:
		return offsets.Delete(s, false)
	default:
		policy, _ := drawReset(t, s)
		return offsets.Reset(s, policy)
	}
}

// A plan of which some was written is finished by resuming it, and nothing of it is ever done twice: a shift neither.
func TestResumeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		plan := drawPlan(t, s)
		half := write(s, plan, func(offsets.GroupChange) bool { return rapid.Bool().Draw(t, "written") })
		resumed := offsets.Resume(plan, half)
		for _, c := range resumed.All() {
			if c.Reason == "" || c.Error != "" || c.Verified || c.Result != "" && c.Result != offsets.Already {
				t.Fatalf("what is left of an earlier try: %+v", c)
			}
		}
		done := write(half, resumed, nil)
		onlyWrites(t, s, done, plan)
		want, got := holds(write(s, plan, nil)), holds(done)
		for at, e := range want {
			if offsets.ValueOf(got[at]) != offsets.ValueOf(e) {
				t.Fatalf("%v is %+v after the resumption, want %+v\n%s", at, got[at], e, changes(resumed))
			}
		}
		again := offsets.Resume(plan, done)
		for _, c := range again.All() {
			if c.Verdict == offsets.Write && c.Result != offsets.Already && !c.Rewrite {
				t.Fatalf("done twice: %+v", c)
			}
		}
		if twice := holds(write(done, again, nil)); !sameValues(twice, got) {
			t.Fatalf("the second resumption changes something:\n%s", changes(again))
		}
	})
}

func sameValues(a, b map[place]offsets.Entry) bool {
	for at, e := range a {
		if offsets.ValueOf(e) != offsets.ValueOf(b[at]) {
			return false
		}
	}
	return len(a) == len(b)
}

// Of a plan that nobody edited, on what it was made from, the counts come out as they were planned.
func TestResumeCountsAsPlanned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		plan := drawPlan(t, s)
		for i, c := range offsets.Resume(plan, s).All() {
			was := plan.All()[i]
			if c.Result == offsets.Already || c.Verdict == offsets.Keep || c.Verdict == offsets.Refuse {
				continue
			}
			if c.Skips != was.Skips || c.Repeats != was.Repeats || c.Expired != was.Expired || c.Clamped != was.Clamped || c.Reason != was.Reason {
				t.Fatalf("planned %+v\nresumed %+v", was, c)
			}
		}
	})
}

// Of a plan that was edited it is counted what it does now.
func TestResumeOfAnEditedPlan(t *testing.T) {
	now := group(committed(known(0, 900), offsets.At(50)))
	for _, tc := range []struct {
		name           string
		aim            offsets.ResetPolicy
		to             offsets.Value
		skips, repeats int64
	}{
		{"forward", offsets.ResetPolicy{Aim: offsets.AimOffset, N: 20}, offsets.Value{Offset: 77, Epoch: offsets.None}, 27, 0},
		{"back", offsets.ResetPolicy{Aim: offsets.AimOffset, N: 20}, offsets.Value{Offset: 10, Epoch: offsets.None}, 0, 40},
		{"none", offsets.ResetPolicy{Aim: offsets.AimOffset, N: 20}, offsets.NoValue, 0, 0},
		{"what was to be earliest", offsets.ResetPolicy{Aim: offsets.AimEarliest}, offsets.Value{Offset: 77, Epoch: offsets.None}, 27, 0},
		{"what was to be the end", offsets.ResetPolicy{Aim: offsets.AimLatest}, offsets.Value{Offset: 77, Epoch: offsets.None}, 27, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.aim.Sides, tc.aim.Named = []offsets.Side{offsets.Committed}, always
			plan := offsets.Reset(now, tc.aim)
			plan.Groups[0].Changes[0].New = tc.to
			got := offsets.Resume(plan, now).All()[0]
			if got.Verdict != offsets.Write || got.New != tc.to || got.Skips != tc.skips || got.Repeats != tc.repeats || !strings.Contains(got.Reason, "changed since it was planned") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// What has expired is counted as it is now. What was taken over from the other side has it from there.
func TestResumeCountsWhatHasExpired(t *testing.T) {
	was := group(committed(known(50, 900), offsets.At(20)))
	reset := offsets.Reset(was, offsets.ResetPolicy{Sides: bothSides[1:], Aim: offsets.AimEarliest, Named: always})
	taken := offsets.Clamp(was, offsets.ClampPolicy{Sides: bothSides[:1], MissingOther: true, Named: always})
	for _, tc := range []struct {
		plan           offsets.Plan
		earliest, want int64
	}{{reset, 50, 30}, {reset, 70, 50}, {taken, 50, 30}} {
		c := offsets.Resume(tc.plan, group(committed(known(tc.earliest, 900), offsets.At(20)))).All()[0]
		if c.Verdict != offsets.Write || c.Expired != tc.want {
			t.Errorf("%s of a range from %d: got %s with %d expired, want %d", c.Side, tc.earliest, c.Verdict, c.Expired, tc.want)
		}
	}
}

// What moved since the plan is refused, and what another that moved decided, and only that.
func TestResumeRefusesWhatMoved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		plan := drawPlan(t, s)
		moved := map[place]bool{}
		now := s
		for _, c := range plan.All() {
			if c.Verdict != offsets.Write || !rapid.Bool().Draw(t, "moves") {
				continue
			}
			at := place{c.Group, c.Key, c.Side}
			to := rapid.Int64Range(0, 130).Draw(t, "to")
			if to == c.Old.Offset || to == c.New.Offset {
				continue
			}
			moved[at] = true
			now = put(now, at, offsets.At(to))
		}
		resumed := offsets.Resume(plan, now)
		for i, c := range resumed.All() {
			was := plan.All()[i]
			decided := plan.From == "" && was.Verdict == offsets.Write && was.Beside != nil && moved[place{c.Group, c.Key, c.Side.Other()}]
			switch at := (place{c.Group, c.Key, c.Side}); {
			case moved[at] && (c.Verdict != offsets.Refuse || !strings.Contains(c.Reason, "moved since the plan")):
				t.Fatalf("moved, but %+v", c)
			case !moved[at] && decided && c.Result != offsets.Already && (c.Verdict != offsets.Refuse || !strings.Contains(c.Reason, "that decided has moved")):
				t.Fatalf("what decided moved, but %+v", c)
			case !moved[at] && !decided && c.Verdict != was.Verdict:
				t.Fatalf("did not move, but %+v", c)
			}
		}
		after := holds(write(now, resumed, nil))
		for at := range moved {
			if after[at] != holds(now)[at] {
				t.Fatalf("%v was overwritten", at)
			}
		}
	})
}

// The number that decided has moved since the plan: it would be another plan now. What this plan itself has written there counts not.
func TestResumeHoldsWhatDecided(t *testing.T) {
	both := func(stored, committed int64) offsets.Snapshot {
		return group(offsets.Row{Range: known(50, 900), Stored: offsets.At(stored), Committed: offsets.At(committed)})
	}
	from := func(n int64) offsets.Snapshot {
		s := both(100, 800)
		s.From = map[offsets.Key]offsets.Entry{{Topic: "orders"}: offsets.At(n)}
		return s
	}
	unread := from(0)
	unread.From[offsets.Key{Topic: "orders"}] = offsets.Entry{Presence: offsets.Unreadable, Reason: "cut off"}
	for _, tc := range []struct {
		name     string
		was, now offsets.Snapshot
		aim      offsets.Aim
		sides    []offsets.Side
		verdict  offsets.Verdict
		say      string
	}{
		{"the commits", both(100, 800), both(100, 300), offsets.AimCommitted, bothSides[:1], offsets.Refuse, "the committed offset that decided has moved since the plan: was 800, is 300"},
		{"the store", both(100, 800), both(200, 800), offsets.AimStored, bothSides[1:], offsets.Refuse, "the stored offset that decided has moved since the plan: was 100, is 200"},
		{"it did not move", both(100, 800), both(100, 800), offsets.AimCommitted, bothSides[:1], offsets.Write, "as in the commits"},
		{"the plan moved it", both(20, 800), both(20, 50), offsets.AimSafe, bothSides, offsets.Write, "20 is low"},
		{"another moved it", both(20, 800), both(20, 60), offsets.AimSafe, bothSides, offsets.Refuse, "was 800, is 60"},
		{"another group", from(700), from(200), offsets.AimGroup, bothSides, offsets.Refuse, `the offset of group "theirs" that decided has moved since the plan: was 700, is 200`},
		{"another group that did not move", from(700), from(700), offsets.AimGroup, bothSides, offsets.Write, `as in group "theirs"`},
		{"another group that cannot be read", from(700), unread, offsets.AimGroup, bothSides, offsets.Refuse, `the fresh look failed: the offset of group "theirs" that decided: unreadable: cut off`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan := offsets.Reset(tc.was, offsets.ResetPolicy{Sides: tc.sides, Aim: tc.aim, From: "theirs", Named: always})
			if c := offsets.Resume(plan, tc.now).All()[0]; c.Verdict != tc.verdict || !strings.Contains(c.Reason, tc.say) {
				t.Errorf("got %s %q, want %s %q", c.Verdict, c.Reason, tc.verdict, tc.say)
			}
		})
	}
}

// A plan goes by the number. What stands beside it may have changed since, and is what a backup brings back; where nothing but that is
// written, it has moved.
func TestRecheckTakesWhatStandsBeside(t *testing.T) {
	was, is := withEpoch(offsets.At(30), 2, "old"), withEpoch(offsets.At(30), 5, "new")
	for aim, want := range map[offsets.Aim]string{offsets.AimLatest: "write 5 new", offsets.AimCurrent: "refuse its metadata has changed since the plan"} {
		plan := offsets.Reset(group(committed(known(0, 900), was)), offsets.ResetPolicy{Sides: bothSides[1:], Aim: aim, Named: always})
		now := group(committed(known(0, 900), is))
		for _, p := range []offsets.Plan{offsets.Recheck(plan, now), offsets.Resume(plan, now)} {
			c := p.All()[0]
			got := fmt.Sprint(c.Verdict, " ", c.Old.Epoch, " ", c.Old.Metadata)
			if c.Verdict == offsets.Refuse {
				got = fmt.Sprint(c.Verdict, " ", c.Reason)
			}
			if got != want {
				t.Errorf("%s: %s, want %s", aim, got, want)
			}
		}
	}
}

func TestResume(t *testing.T) {
	low := committed(known(500, 900), offsets.At(300))
	high := committed(known(0, 300), offsets.At(500))
	policy := offsets.ClampPolicy{Sides: []offsets.Side{offsets.Committed}, Named: always}
	other := known(500, 900)
	other.TopicID = "new"
	for _, tc := range []struct {
		name    string
		planned offsets.Row
		now     offsets.Row
		cluster string
		verdict offsets.Verdict
		say     string
	}{
		{"nothing moved", low, low, "c", offsets.Write, "expired"},
		{"another cluster", low, low, "x", offsets.Refuse, "the plan is for cluster c, and this is x"},
		{"another condition", low, committed(known(200, 900), offsets.At(300)), "c", offsets.Refuse, "was low when planned and is ok now"},
		{"another topic id", low, committed(other, offsets.At(300)), "c", offsets.Refuse, "recreated since the plan"},
		{"the topic is gone", low, committed(offsets.Range{State: offsets.TopicGone}, offsets.At(300)), "c", offsets.Refuse, "gone since the plan"},
		{"what was to be asked about still is", high, high, "c", offsets.Ask, "identity unknown"},
		{"what was to be asked about is done", high, committed(known(0, 300), offsets.At(300)), "c", offsets.Keep, "at its new value already"},
		{"what was to be asked about moved", high, committed(known(0, 300), offsets.At(400)), "c", offsets.Refuse, "was 500, is 400"},
		{"what stayed is not looked at", committed(known(0, 900), offsets.At(5)), committed(known(0, 900), offsets.At(7)), "c", offsets.Keep, "in range"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan := offsets.Clamp(group(tc.planned), policy)
			plan.ID, plan.Applied, plan.Backup, plan.Undo = "id", true, "b", "u"
			plan.Groups[0].Result, plan.Groups[0].Error = offsets.Failed, "e"
			now := group(tc.now)
			now.Origin.Cluster, now.Groups[0].State = tc.cluster, "Dead"
			got := offsets.Resume(plan, now)
			if c := got.All()[0]; c.Verdict != tc.verdict || !strings.Contains(c.Reason, tc.say) {
				t.Errorf("got %s %q, want %s %q", c.Verdict, c.Reason, tc.verdict, tc.say)
			}
			if g := got.Groups[0]; got.ID+got.Backup+got.Undo+g.Refusal+g.Error+string(g.Result) != "" || got.Applied || got.Command != "import" || g.State != "Dead" {
				t.Errorf("what is left of the earlier try: %+v", got)
			}
		})
	}
}

// A group that was refused as a whole when it was planned is not written because it is open now: nobody decided so.
func TestResumeOfARefusedGroup(t *testing.T) {
	now := group(committed(known(500, 900), offsets.At(300)))
	plan := offsets.Clamp(now, offsets.ClampPolicy{Sides: []offsets.Side{offsets.Committed}, Named: always})
	plan.Groups[0].Refusal = "active"
	got := offsets.Gate(offsets.Resume(plan, now), now, false)
	const want = "refused when it was planned: active"
	if c := got.All()[0]; c.Verdict != offsets.Refuse || c.Reason != want || got.Groups[0].Refusal != want || got.ToDo() != 0 {
		t.Errorf("got %s %q, group %q", c.Verdict, c.Reason, got.Groups[0].Refusal)
	}
	whole := offsets.Delete(group(), true)
	whole.Groups[0].Refusal = "active"
	if got := offsets.Gate(offsets.Resume(whole, group()), group(), false); got.ToDo() != 0 || got.Groups[0].Refusal != want {
		t.Errorf("a group without commits: %+v", got)
	}
}

// A plan for earliest, of which earliest has meanwhile moved to where the partition is, has nothing left to do, and that was read.
func TestRecheckOfEarliestThatCameTo(t *testing.T) {
	row := committed(known(3, 900), offsets.At(10))
	plan := offsets.Reset(group(row), offsets.ResetPolicy{Sides: []offsets.Side{offsets.Committed}, Aim: offsets.AimEarliest, Named: always})
	now := group(committed(known(10, 900), offsets.At(10)))
	got := offsets.Recheck(plan, now).All()[0]
	if got.Result != offsets.Already || !got.Verified || got.Skips != 0 || got.Repeats != 0 {
		t.Errorf("got %+v", got)
	}
	later := group(committed(known(7, 900), offsets.At(10))) // not so far: what it repeats is counted anew
	if got := offsets.Recheck(plan, later).All()[0]; got.Verdict != offsets.Write || got.Repeats != 3 || got.New.Offset != 7 {
		t.Errorf("got %+v", got)
	}
}

// What is refused because a broker did not answer says so, whoever refuses it.
func TestRefusedAsABrokerIsAway(t *testing.T) {
	away := committed(offsets.Range{Reason: "broker 3 hung up", Away: true}, offsets.At(10))
	both := []offsets.Side{offsets.Committed}
	plans := map[string]offsets.Plan{
		"clamp": offsets.Clamp(group(away), offsets.ClampPolicy{Sides: both, Named: always}),
		"reset": offsets.Reset(group(away), offsets.ResetPolicy{Sides: both, Aim: offsets.AimEarliest, Named: always}),
		"merge": offsets.Merge(group(away), []offsets.Given{{Group: "billing", Key: offsets.Key{Topic: "orders"}, Value: offsets.Value{Offset: 5}}}, offsets.MergePolicy{Side: offsets.Committed}),
		"fresh look": offsets.Recheck(offsets.Reset(group(committed(known(0, 900), offsets.At(10))),
			offsets.ResetPolicy{Sides: both, Aim: offsets.AimEarliest, Named: always}), group(away)),
	}
	for name, plan := range plans {
		if c := plan.All()[0]; c.Verdict != offsets.Refuse || !c.Away {
			t.Errorf("%s: got %+v", name, c)
		}
	}
}

// What a plan leaves of a place of the store: nothing of it may be taken out where it cannot be empty.
func TestKeepsOne(t *testing.T) {
	change := func(partition int32, old, next int64) offsets.Change {
		return offsets.Change{
			Key: offsets.Key{Topic: "orders", Partition: partition}, Side: offsets.Stored, Verdict: offsets.Write,
			Old: offsets.Value{Offset: old, Epoch: offsets.None}, New: offsets.Value{Offset: next, Epoch: offsets.None},
		}
	}
	gone, kept := change(0, 5, offsets.None), change(1, 5, offsets.None)
	kept.Verdict = offsets.Keep
	for _, tc := range []struct {
		name    string
		entries int
		bare    bool
		changes []offsets.Change
		refused int
		empties bool
	}{
		{"the last", 1, true, []offsets.Change{gone}, 1, true},
		{"the last two", 2, true, []offsets.Change{gone, change(1, 6, offsets.None)}, 2, true},
		{"one of two", 2, true, []offsets.Change{gone, kept}, 0, false},
		{"one in place of the last", 1, true, []offsets.Change{gone, change(2, offsets.None, 7)}, 0, false},
		{"one is changed", 2, true, []offsets.Change{gone, change(1, 5, 7)}, 0, false},
		{"where it may be empty", 1, false, []offsets.Change{gone}, 0, true},
		{"nothing is taken out", 1, true, []offsets.Change{change(0, 5, 6)}, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := group()
			s.Groups[0].Store = &offsets.Store{Topics: []offsets.StoredTopic{{Topic: "orders", Path: "/s/orders", Presence: offsets.Present, Bare: tc.bare, Entries: tc.entries}}}
			plan := offsets.Plan{Groups: []offsets.PlanGroup{{Group: s.Groups[0].ID, Changes: tc.changes}}}
			if got := plan.Empties(s); got != tc.empties {
				t.Errorf("empties = %v", got)
			}
			got := plan.KeepsOne(s)
			if n := got.Count().Refuse; n != tc.refused {
				t.Errorf("%d refused, want %d", n, tc.refused)
			}
			for _, c := range got.All() {
				if c.Verdict == offsets.Refuse && !strings.Contains(c.Reason, "/s/orders has no headers") {
					t.Errorf("reason = %q", c.Reason)
				}
			}
		})
	}
}

// A plan for the smaller of both, of which the other is beyond the end, is resumed with the counts that it has: what was done is known.
func TestResumeOfTheSmallerOfBoth(t *testing.T) {
	s := group(offsets.Row{Range: known(0, 10), Stored: offsets.At(20), Committed: offsets.At(4)})
	plan := offsets.Reset(s, offsets.ResetPolicy{Sides: bothSides[:1], Aim: offsets.AimSafe, Named: always})
	if was, is := plan.All()[0], offsets.Resume(plan, s).All()[0]; is.Skips != 0 || is.Reason != was.Reason {
		t.Errorf("got %+v", is)
	}
}

// A plan that was made without a store does not go by one.
func TestClampWithoutAStoreComparesNothing(t *testing.T) {
	s := group(offsets.Row{Range: known(0, 10)})
	s.Groups[0].Store = nil
	if plan := offsets.Clamp(s, offsets.ClampPolicy{Sides: bothSides[1:], Named: always}); plan.ToDo() != 1 || plan.Compares() {
		t.Errorf("got %+v", plan.All())
	}
}
