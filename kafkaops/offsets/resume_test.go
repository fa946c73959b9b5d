package offsets_test

import (
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

// What moved since the plan is refused, and only that.
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
			switch at := (place{c.Group, c.Key, c.Side}); {
			case moved[at] && (c.Verdict != offsets.Refuse || !strings.Contains(c.Reason, "moved since the plan")):
				t.Fatalf("moved, but %+v", c)
			case !moved[at] && c.Verdict != was.Verdict:
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
			plan.Groups[0].Result, plan.Groups[0].Refusal, plan.Groups[0].Error = offsets.Failed, "r", "e"
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
