package offsets_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"gtoffset/kafkaops/offsets"
)

func withEpoch(e offsets.Entry, epoch int32, metadata string) offsets.Entry {
	e.Epoch, e.Metadata = epoch, metadata
	return e
}

func TestReset(t *testing.T) {
	in := known(500, 900)
	both := func(stored, committed int64) offsets.Row {
		return offsets.Row{Range: in, Stored: offsets.At(stored), Committed: offsets.At(committed)}
	}
	foreign := offsets.At(600)
	foreign.Cluster = "elsewhere"
	aim := func(a offsets.Aim) offsets.ResetPolicy { return offsets.ResetPolicy{Aim: a} }
	to := func(n int64) offsets.ResetPolicy { return offsets.ResetPolicy{Aim: offsets.AimOffset, N: n} }
	shift := func(n int64) offsets.ResetPolicy { return offsets.ResetPolicy{Aim: offsets.AimShift, N: n} }
	clamped := func(p offsets.ResetPolicy) offsets.ResetPolicy { p.Clamp = true; return p }
	key := offsets.Key{Topic: "orders"}
	theirs := func(e offsets.Entry) map[offsets.Key]offsets.Entry { return map[offsets.Key]offsets.Entry{key: e} }
	time := func(f offsets.Found) offsets.ResetPolicy {
		return offsets.ResetPolicy{Aim: offsets.AimTime, From: "noon", Times: map[offsets.Key]offsets.Found{key: f}}
	}
	other := offsets.ResetPolicy{Aim: offsets.AimGroup, From: "old"}
	for _, tc := range []struct {
		name    string
		row     offsets.Row
		side    offsets.Side // committed if empty
		policy  offsets.ResetPolicy
		from    map[offsets.Key]offsets.Entry // what the other group has
		unnamed bool
		verdict offsets.Verdict
		offset  int64
		say     string
		choice  string
	}{
		{name: "earliest", row: committed(in, offsets.At(700)), policy: aim(offsets.AimEarliest), verdict: offsets.Write, offset: 500, say: "earliest"},
		{name: "earliest, from none", row: committed(in, offsets.Entry{}), policy: aim(offsets.AimEarliest), verdict: offsets.Write, offset: 500},
		{name: "earliest, already", row: committed(in, offsets.At(500)), policy: aim(offsets.AimEarliest), verdict: offsets.Keep, offset: 500, say: "already there"},
		{name: "latest", row: committed(in, offsets.At(700)), policy: aim(offsets.AimLatest), verdict: offsets.Write, offset: 900, say: "end"},
		{name: "latest, of an empty partition", row: committed(known(0, 0), offsets.At(0)), policy: aim(offsets.AimLatest), verdict: offsets.Keep, offset: 0},
		{name: "offset", row: committed(in, offsets.At(700)), policy: to(600), verdict: offsets.Write, offset: 600, say: "as asked"},
		{name: "offset, exactly earliest", row: committed(in, offsets.At(700)), policy: to(500), verdict: offsets.Write, offset: 500},
		{name: "offset, exactly end", row: committed(in, offsets.At(700)), policy: to(900), verdict: offsets.Write, offset: 900},
		{name: "WRT-10 offset, one above the end", row: committed(in, offsets.At(700)), policy: to(901), verdict: offsets.Refuse, say: "901 is high: the range is 500..900", choice: "--clamp"},
		{name: "offset, one below earliest", row: committed(in, offsets.At(700)), policy: to(499), verdict: offsets.Refuse, say: "499 is low: the range is 500..900", choice: "--clamp"},
		{name: "offset, above, clamped", row: committed(in, offsets.At(700)), policy: clamped(to(901)), verdict: offsets.Write, offset: 900, say: "901 is high"},
		{name: "offset, below, clamped", row: committed(in, offsets.At(700)), policy: clamped(to(1)), verdict: offsets.Write, offset: 500, say: "1 is low"},
		{name: "offset, clamped to where it is", row: committed(in, offsets.At(900)), policy: clamped(to(5000)), verdict: offsets.Keep, offset: 900},
		{name: "offset, largest", row: committed(in, offsets.At(700)), policy: to(math.MaxInt64), verdict: offsets.Refuse, say: "9223372036854775807 is high", choice: "--clamp"},
		{name: "time", row: committed(in, offsets.At(700)), policy: time(offsets.Found{Offset: 650}), verdict: offsets.Write, offset: 650, say: "first record at or after noon"},
		{name: "TIM-1 time, no record", row: committed(in, offsets.At(700)), policy: time(offsets.Found{Offset: offsets.None}), verdict: offsets.Write, offset: 900, say: "no record at or after noon: end"},
		{name: "TIM-3 time, no record, at the end", row: committed(known(0, 10), offsets.At(10)), policy: time(offsets.Found{Offset: offsets.None}), verdict: offsets.Keep, offset: 10, say: "no record at or after noon: end: already there"},
		{name: "time, not found out", row: committed(in, offsets.At(700)), policy: time(offsets.Found{Offset: offsets.None, Reason: "no leader"}), verdict: offsets.Refuse, say: "no leader"},
		{name: "time, expired meanwhile", row: committed(in, offsets.At(700)), policy: time(offsets.Found{Offset: 450}), verdict: offsets.Write, offset: 500},
		{name: "WRT-11 shift", row: committed(in, offsets.At(700)), policy: shift(1), verdict: offsets.Write, offset: 701, say: "shifted by +1"},
		{name: "shift back", row: committed(in, offsets.At(700)), policy: shift(-200), verdict: offsets.Write, offset: 500, say: "shifted by -200"},
		{name: "shift past the end is capped", row: committed(in, offsets.At(700)), policy: shift(201), verdict: offsets.Write, offset: 900, say: "capped: the range is 500..900"},
		{name: "shift below earliest is capped", row: committed(in, offsets.At(700)), policy: shift(-201), verdict: offsets.Write, offset: 500, say: "capped"},
		{name: "shift at the end", row: committed(in, offsets.At(900)), policy: shift(1), verdict: offsets.Keep, offset: 900, say: "capped"},
		{name: "shift comes round", row: committed(in, offsets.At(700)), policy: shift(math.MaxInt64), verdict: offsets.Write, offset: 900},
		{name: "shift comes round below", row: committed(in, offsets.At(700)), policy: shift(math.MinInt64), verdict: offsets.Write, offset: 500},
		{name: "shift of a low one counts from where it is", row: committed(in, offsets.At(300)), policy: shift(250), verdict: offsets.Write, offset: 550},
		{name: "shift without an offset", row: committed(in, offsets.Entry{}), policy: shift(1), verdict: offsets.Refuse, say: "no offset to shift"},
		{name: "shift of a recreated topic's offset", row: stored(in, withID(offsets.At(700), "old")), side: offsets.Stored, policy: shift(1), verdict: offsets.Refuse, say: "recreated"},
		{name: "shift of another cluster's offset", row: stored(in, foreign), side: offsets.Stored, policy: shift(1), verdict: offsets.Refuse, say: "elsewhere"},
		{name: "current", row: committed(in, offsets.At(700)), policy: aim(offsets.AimCurrent), verdict: offsets.Keep, offset: 700},
		{name: "current, with an epoch", row: committed(in, withEpoch(offsets.At(700), 4, "m")), policy: aim(offsets.AimCurrent), verdict: offsets.Write, offset: 700, say: "clean leader epoch"},
		{name: "current, low", row: committed(in, offsets.At(100)), policy: aim(offsets.AimCurrent), verdict: offsets.Write, offset: 500, say: "100 is low"},
		{name: "current, high", row: committed(in, offsets.At(1000)), policy: aim(offsets.AimCurrent), verdict: offsets.Write, offset: 900, say: "1000 is high"},
		{name: "current, none", row: committed(in, offsets.Entry{}), policy: aim(offsets.AimCurrent), verdict: offsets.Refuse, say: "no offset"},
		{name: "current, of a recreated topic", row: stored(in, withID(offsets.At(700), "old")), side: offsets.Stored, policy: aim(offsets.AimCurrent), verdict: offsets.Refuse, say: "recreated"},
		{name: "to stored", row: both(600, 700), policy: aim(offsets.AimStored), verdict: offsets.Write, offset: 600, say: "as in the store"},
		{name: "to stored, without entry", row: committed(in, offsets.At(700)), policy: aim(offsets.AimStored), verdict: offsets.Refuse, say: "the store: no offset for it"},
		{name: "to stored, low", row: both(400, 700), policy: aim(offsets.AimStored), verdict: offsets.Refuse, say: "400 is low", choice: "--clamp"},
		{name: "to stored, low, clamped", row: both(400, 700), policy: clamped(aim(offsets.AimStored)), verdict: offsets.Write, offset: 500},
		{name: "to stored, recreated", row: offsets.Row{Range: in, Stored: withID(offsets.At(600), "old"), Committed: offsets.At(700)}, policy: clamped(aim(offsets.AimStored)), verdict: offsets.Refuse, say: "recreated"},
		{name: "to stored, another cluster", row: offsets.Row{Range: in, Stored: foreign, Committed: offsets.At(700)}, policy: aim(offsets.AimStored), verdict: offsets.Refuse, say: "elsewhere"},
		{name: "to stored, damaged", row: offsets.Row{Range: in, Stored: offsets.Entry{Presence: offsets.Damaged, Reason: "cut"}, Committed: offsets.At(700)}, policy: aim(offsets.AimStored), verdict: offsets.Refuse, say: "cut"},
		{name: "to committed", row: both(600, 700), side: offsets.Stored, policy: aim(offsets.AimCommitted), verdict: offsets.Write, offset: 700, say: "as in the commits"},
		{name: "to committed, high", row: both(600, 901), side: offsets.Stored, policy: aim(offsets.AimCommitted), verdict: offsets.Refuse, say: "901 is high", choice: "--clamp"},
		{name: "to safe, stored is smaller", row: both(600, 700), policy: aim(offsets.AimSafe), verdict: offsets.Write, offset: 600, say: "the smaller of stored 600 and committed 700"},
		{name: "to safe, committed is smaller", row: both(700, 600), side: offsets.Stored, policy: aim(offsets.AimSafe), verdict: offsets.Write, offset: 600},
		{name: "to safe, expired", row: both(300, 600), policy: aim(offsets.AimSafe), verdict: offsets.Write, offset: 500, say: "300 is low"},
		{name: "to safe, both high", row: both(1000, 2000), policy: aim(offsets.AimSafe), verdict: offsets.Write, offset: 900, say: "1000 is high"},
		{name: "to safe, nothing stored", row: committed(in, offsets.At(700)), policy: aim(offsets.AimSafe), verdict: offsets.Refuse, say: "stored: no offset"},
		{name: "to safe, nothing committed", row: stored(in, offsets.At(700)), policy: aim(offsets.AimSafe), verdict: offsets.Refuse, say: "committed: no offset"},
		{name: "to safe, recreated", row: offsets.Row{Range: in, Stored: withID(offsets.At(600), "old"), Committed: offsets.At(700)}, policy: aim(offsets.AimSafe), verdict: offsets.Refuse, say: "recreated"},
		{name: "from group", row: committed(in, offsets.At(700)), policy: other, from: theirs(withEpoch(offsets.At(650), 3, "m")), verdict: offsets.Write, offset: 650, say: `as in group "old"`},
		{name: "from group, none", row: committed(in, offsets.At(700)), policy: other, verdict: offsets.Keep, offset: 700, say: `group "old" has no offset for it`},
		{name: "from group, high", row: committed(in, offsets.At(700)), policy: other, from: theirs(offsets.At(901)), verdict: offsets.Refuse, say: "901 is high", choice: "--clamp"},
		{name: "no leader", row: committed(offsets.Range{Reason: "no leader"}, offsets.At(700)), policy: aim(offsets.AimLatest), verdict: offsets.Refuse, say: "no leader"},
		{name: "gone and named", row: committed(offsets.Range{State: offsets.TopicGone}, offsets.At(700)), policy: aim(offsets.AimLatest), verdict: offsets.Refuse, say: "does not exist"},
		{name: "gone and not named", row: committed(offsets.Range{State: offsets.TopicGone}, offsets.At(700)), policy: aim(offsets.AimLatest), unnamed: true, verdict: offsets.Keep, offset: 700, say: "left as it is"},
		{name: "damaged", row: stored(in, offsets.Entry{Presence: offsets.Damaged, Reason: "cut"}), side: offsets.Stored, policy: to(600), verdict: offsets.Refuse, say: "cut"},
		{name: "of no number, damaged", row: stored(in, offsets.Entry{Presence: offsets.Damaged, Offset: offsets.None, Reason: "cut"}), side: offsets.Stored, policy: to(600), verdict: offsets.Refuse, say: "cut"},
		{name: "the number of a recreated topic is recorded anew", row: stored(in, withID(offsets.At(600), "old")), side: offsets.Stored, policy: to(600), verdict: offsets.Write, offset: 600, say: "recorded for the topic as it is now"},
		{name: "the number of another cluster is recorded anew", row: stored(in, foreign), side: offsets.Stored, policy: to(600), verdict: offsets.Write, offset: 600, say: "recorded for this cluster"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := tc.policy
			p.Sides, p.Named = []offsets.Side{offsets.Committed}, always
			if tc.side != "" {
				p.Sides = []offsets.Side{tc.side}
			}
			if tc.unnamed {
				p.Named = never
			}
			s := group(tc.row)
			s.From = tc.from
			plan := offsets.Reset(s, p)
			got := plan.All()[0].Change
			if got.Verdict != tc.verdict || got.Verdict != offsets.Refuse && got.New.Offset != tc.offset || !strings.Contains(got.Reason, tc.say) || got.Choice != tc.choice {
				t.Fatalf("got %s %d %q %q, want %s %d %q %q", got.Verdict, got.New.Offset, got.Reason, got.Choice, tc.verdict, tc.offset, tc.say, tc.choice)
			}
			if again := offsets.Recheck(plan, s).All()[0]; again.Verdict != got.Verdict {
				t.Errorf("an unchanged look makes it %s: %s", again.Verdict, again.Reason)
			}
		})
	}
}

// MIG-5: what a reset takes along.
func TestResetEpochAndMetadata(t *testing.T) {
	row := offsets.Row{Range: known(0, 900), Stored: withEpoch(offsets.At(600), 4, ""), Committed: withEpoch(offsets.At(700), 7, "m")}
	s := group(row)
	s.From = map[offsets.Key]offsets.Entry{{Topic: "orders"}: withEpoch(offsets.At(5), 3, "theirs")}
	for _, tc := range []struct {
		name     string
		policy   offsets.ResetPolicy
		metadata string
	}{
		{"computed", offsets.ResetPolicy{Aim: offsets.AimOffset, N: 5}, ""},
		{"shifted", offsets.ResetPolicy{Aim: offsets.AimShift, N: 5}, ""},
		{"taken over from the store", offsets.ResetPolicy{Aim: offsets.AimStored}, ""},
		{"as it is", offsets.ResetPolicy{Aim: offsets.AimCurrent}, "m"},
		{"of another group", offsets.ResetPolicy{Aim: offsets.AimGroup}, "theirs"},
	} {
		tc.policy.Sides, tc.policy.Named = []offsets.Side{offsets.Committed}, always
		c := offsets.Reset(s, tc.policy).All()[0]
		if c.Verdict != offsets.Write || c.New.Epoch != offsets.None || c.New.Metadata != tc.metadata {
			t.Errorf("%s: got %s epoch %d metadata %q, want no epoch and %q", tc.name, c.Verdict, c.New.Epoch, c.New.Metadata, tc.metadata)
		}
	}
}

// aims are all of reset.go, as they stand there, but for that of a file, which Merge plans: a new one is tried as soon as it is there.
var aims = sync.OnceValue(func() []offsets.Aim {
	file, err := parser.ParseFile(token.NewFileSet(), "reset.go", nil, 0)
	if err != nil {
		panic(err) // it would not have been compiled
	}
	var all []offsets.Aim
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && fmt.Sprint(spec.Type) == "Aim" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if aim := offsets.Aim(text); err == nil && aim != offsets.AimFile {
				all = append(all, aim)
			}
		}
		return true
	})
	return all
})

// Every aim that there is has its case in Reset, and is drawn below.
func TestEveryAimIsPlanned(t *testing.T) {
	if len(aims()) < 11 || !slices.Contains(aims(), offsets.AimCommitAt) {
		t.Fatalf("reset.go seems to have only the aims %v", aims())
	}
	for _, aim := range aims() {
		plan := offsets.Reset(group(offsets.Row{Range: known(0, 900)}), offsets.ResetPolicy{Sides: bothSides, Aim: aim, Named: always})
		if reason := plan.All()[0].Reason; strings.Contains(reason, "no target that is known") {
			t.Errorf("resetRow of reset.go has no case for the aim %q", aim)
		}
	}
}

func drawReset(t *rapid.T, s offsets.Snapshot) (offsets.ResetPolicy, bool) {
	p := offsets.ResetPolicy{
		Sides: rapid.SampledFrom([][]offsets.Side{{offsets.Stored}, {offsets.Committed}, bothSides}).Draw(t, "sides"),
		Aim:   rapid.SampledFrom(aims()).Draw(t, "aim"),
		N:     rapid.Int64Range(0, 130).Draw(t, "n"), From: "there", Clamp: rapid.Bool().Draw(t, "clamp"), Named: always,
		Times: map[offsets.Key]offsets.Found{}, Past: offsets.Past{Was: map[offsets.Key]offsets.Was{}},
	}
	switch p.Aim {
	case offsets.AimStored:
		p.Sides = []offsets.Side{offsets.Committed}
	case offsets.AimCommitted:
		p.Sides = []offsets.Side{offsets.Stored}
	case offsets.AimShift:
		p.N = rapid.OneOf(rapid.Int64Range(-60, 60), rapid.Int64()).Draw(t, "by")
	}
	if rapid.Bool().Draw(t, "unnamed") {
		p.Named = never
	}
	for _, k := range s.Keys() {
		p.Times[k] = offsets.Found{Offset: rapid.Int64Range(-1, 130).Draw(t, "found")}
		p.Past.Was[k] = offsets.Was{
			State: offsets.WasState(rapid.IntRange(int(offsets.WasUnknown), int(offsets.WasUnreadable)).Draw(t, "was")), Pending: offsets.None,
			Value: offsets.Value{Offset: rapid.Int64Range(0, 130).Draw(t, "committed then"), Epoch: offsets.None},
		}
	}
	return p, p.Aim != offsets.AimShift
}

func TestResetProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		policy, absolute := drawReset(t, s)
		plan := offsets.Reset(s, policy)
		rows := 0
		for _, g := range s.Groups {
			rows += len(g.Rows)
		}
		if got, want := len(plan.All()), rows*len(policy.Sides); got != want {
			t.Fatalf("%d changes, want %d: one for every partition and side", got, want)
		}
		sound(t, s, plan)
		if p := offsets.Recheck(plan, s); p.Count() != plan.Count() {
			t.Fatalf("an unchanged look makes %+v of %+v", p.Count(), plan.Count())
		}
		counted(t, s, policy, plan)
		after := write(s, plan, nil)
		onlyWrites(t, s, after, plan)
		for _, c := range offsets.Verify(plan, after).All() {
			if c.Verdict == offsets.Write && !c.Verified {
				t.Fatalf("not verified: %+v", c)
			}
		}
		if again := offsets.Reset(after, policy); absolute && again.ToDo() != 0 {
			t.Fatalf("not done after the first time: %s\n%s", changes(plan), changes(again))
		}
		restores(t, s, after, plan)
	})
}

// counted checks that a change is counted by where it leads, not by the aim that led there.
func counted(t *rapid.T, s offsets.Snapshot, p offsets.ResetPolicy, plan offsets.Plan) {
	says := p.Aim == offsets.AimGroup || p.Aim == offsets.AimCommitAt // how far the job has come, where the side has no offset
	smaller := p.Aim == offsets.AimSafe                               // of both, behind which everything is done
	p.Aim = offsets.AimOffset
	for i, c := range plan.All() {
		p.N = c.New.Offset
		same := offsets.Reset(s, p).All()[i]
		if c.Verdict != offsets.Write || says && c.Old.Offset == offsets.None {
			continue
		}
		if c.Repeats != same.Repeats || c.Skips != same.Skips && !smaller {
			t.Fatalf("%s, %s: skips %d, repeats %d, and as a number %d and %d", c.Key, c.Reason, c.Skips, c.Repeats, same.Skips, same.Repeats)
		}
	}
}

// changes lists what a plan does, for failures.
func changes(p offsets.Plan) string {
	var b strings.Builder
	for _, c := range p.All() {
		fmt.Fprintf(&b, "%s %s %s: %+v -> %+v %s %q\n", c.Group, c.Key, c.Side, c.Old, c.New, c.Verdict, c.Reason)
	}
	return b.String()
}

// A group that must not be written loses all its writes, whatever they are, and no other group loses one.
func TestGateProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		policy, _ := drawReset(t, s)
		closed := rapid.IntRange(0, len(s.Groups)-1).Draw(t, "closed")
		g := &s.Groups[closed]
		create := false
		switch rapid.IntRange(0, 7).Draw(t, "why") {
		case 0:
			g.State, g.Members = "Stable", []offsets.Member{{ClientID: "job", Host: "/10.0.0.5"}}
		case 1:
			g.State = rapid.SampledFrom([]string{"PreparingRebalance", "CompletingRebalance", "Stable", "Assigning", "SomethingNew"}).Draw(t, "state")
		case 2:
			g.Type = offsets.Share
		case 3:
			g.Protocol = "connect"
		case 4:
			g.Existence = offsets.ExistenceUnknown
		case 5:
			g.Trouble, create = &offsets.Trouble{Reason: "away"}, true
		case 6: // as long as there is nothing to do: what is not known may be
			g.Store, g.Rows = &offsets.Store{Trouble: &offsets.Trouble{Reason: "not allowed"}}, nil
		case 7:
			g.Existence, policy.Sides = offsets.Missing, []offsets.Side{offsets.Committed}
			if policy.Aim == offsets.AimCommitted {
				policy.Aim = offsets.AimEarliest
			}
		}
		plan := offsets.Reset(s, policy)
		gated := offsets.Gate(plan, s, create)
		sound(t, s, gated)
		for i, pg := range gated.Groups {
			unseen := s.Groups[i].Trouble != nil || s.Groups[i].Store != nil && s.Groups[i].Store.Trouble != nil // what would be written is not known
			n, was := (offsets.Plan{Groups: gated.Groups[i : i+1]}).Count(), (offsets.Plan{Groups: plan.Groups[i : i+1]}).Count()
			open := slices.ContainsFunc(plan.Groups[i].Changes, func(c offsets.Change) bool { return c.Verdict == offsets.Refuse && c.Choice != "" })
			switch {
			case i != closed && (n != was || pg.Refusal != ""):
				t.Fatalf("group %q is refused too", pg.Group)
			case i == closed && (n.Write != 0 || n.Ask != 0 || n.Refuse != was.Refuse+was.Write+was.Ask || (pg.Refusal == "") != (was.Write == 0 && !open && !unseen)):
				t.Fatalf("group %q: %+v of %+v, %q", pg.Group, n, was, pg.Refusal)
			}
		}
	})
}
