package output

import (
	"bytes"
	"strings"
	"testing"

	"gtoffset/kafkaops/offsets"
)

func snapshotOf(groups ...offsets.Group) offsets.Snapshot {
	return offsets.Snapshot{Origin: origin(), At: noon, Groups: groups}
}

// clamped is the plan that the pages show.
func clamped(sides ...offsets.Side) offsets.Plan {
	g := billing()
	g.Rows[3].Stored = offsets.Entry{Whole: true}
	g.Store.Topics = []offsets.StoredTopic{{Topic: "orders", Path: "/var/lib/billing/offsets/billing/orders/gtoffset", Presence: offsets.Absent, Highest: offsets.None}}
	p := offsets.Clamp(snapshotOf(g), offsets.ClampPolicy{Sides: sides, Named: func(string) bool { return true }})
	p.ID, p.Created = "20261129T120000Z-clamp-billing", noon
	return p
}

// done is the same plan, applied.
func done(p offsets.Plan) offsets.Plan {
	p = p.Settle(true)
	p.Applied = true
	p.Backup = "/home/ops/.local/state/gtoffset/20261129T120000Z-clamp-billing.json"
	p.Undo = "gtoffset import /home/ops/.local/state/gtoffset/20261129T120000Z-clamp-billing.json -b kafka1:9092 --execute"
	for i, g := range p.Groups {
		for j, c := range g.Changes {
			if c.Verdict == offsets.Write {
				p.Groups[i].Changes[j].Result, p.Groups[i].Changes[j].Verified = offsets.Written, true
			}
		}
	}
	return p
}

// mixed has several groups, both sides, every verdict and every result.
func mixed() offsets.Plan {
	p := clamped(offsets.Stored, offsets.Committed)
	rows := p.Groups[0].Changes
	rows = append(rows,
		offsets.Change{Key: offsets.Key{Topic: "old", Partition: 0}, Side: offsets.Committed, Condition: offsets.Gone, Old: offsets.Value{Offset: 5, Epoch: 3, Metadata: "m\n"}, New: offsets.Value{Offset: 5, Epoch: 3}, Verdict: offsets.Keep, Reason: "the topic does not exist; left as it is"},
		offsets.Change{Key: offsets.Key{Topic: "old", Partition: 1}, Side: offsets.Committed, Condition: offsets.Gone, Old: offsets.NoValue, New: offsets.NoValue, Verdict: offsets.Keep, Reason: "the topic does not exist; left as it is"},
		offsets.Change{Key: offsets.Key{Topic: "old", Partition: 3}, Side: offsets.Committed, Condition: offsets.Gone, Old: offsets.NoValue, New: offsets.NoValue, Verdict: offsets.Keep, Reason: "the topic does not exist; left as it is"},
		offsets.Change{Key: offsets.Key{Topic: "pay", Partition: 0}, Side: offsets.Stored, Condition: offsets.OK, Old: offsets.Value{Offset: 900, Epoch: offsets.None}, New: offsets.NoValue, Verdict: offsets.Write, Reason: "there was none before"},
		offsets.Change{Key: offsets.Key{Topic: "pay", Partition: 1}, Side: offsets.Stored, Condition: offsets.OK, Old: offsets.Value{Offset: 900, Epoch: offsets.None}, New: offsets.Value{Offset: 100, Epoch: offsets.None}, Verdict: offsets.Write, Reason: "as before", Repeats: 800},
		offsets.Change{Key: offsets.Key{Topic: "pay", Partition: 2}, Side: offsets.Stored, Condition: offsets.Unknown, Old: offsets.NoValue, New: offsets.NoValue, Verdict: offsets.Refuse, Reason: "damaged: line 3", Choice: "--salvage"},
	)
	p.Groups[0].Changes = rows
	busy := offsets.PlanGroup{
		Group: "a b", Type: offsets.Classic, State: "Stable", Refusal: `group "a b" is active: 1 member (c on /10.0.0.5)`, Choice: "--wait-empty 60s",
		Notes: []string{"the store is locked by pid 7: the job may be running"},
		Changes: []offsets.Change{{
			Key: offsets.Key{Topic: "orders"}, Side: offsets.Committed, Condition: offsets.Low, Old: offsets.Value{Offset: 1, Epoch: offsets.None}, New: offsets.Value{Offset: 5, Epoch: offsets.None},
			Verdict: offsets.Refuse, Reason: `group "a b" is active: 1 member (c on /10.0.0.5)`, Choice: "--wait-empty 60s",
		}},
	}
	p.Groups = append([]offsets.PlanGroup{busy}, p.Groups...)
	return p
}

func inRange() offsets.Plan {
	g := billing()
	g.Rows = g.Rows[4:]
	return offsets.Clamp(snapshotOf(g), offsets.ClampPolicy{Sides: []offsets.Side{offsets.Committed}, Named: func(string) bool { return true }})
}

func applied() offsets.Plan {
	p := done(mixed())
	results := []offsets.Result{offsets.Failed, offsets.Unverified, offsets.NotTried, offsets.Written, offsets.Already}
	i := 0
	for j, c := range p.Groups[1].Changes {
		if c.Verdict == offsets.Write {
			p.Groups[1].Changes[j].Result = results[i%len(results)]
			p.Groups[1].Changes[j].Verified = results[i%len(results)] == offsets.Already
			if results[i%len(results)] == offsets.Failed {
				p.Groups[1].Changes[j].Error = "broker 2: NOT_COORDINATOR"
			}
			i++
		}
	}
	return p
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name string
		plan PlanView
	}{
		{"plan.txt", PlanView{Plan: clamped(offsets.Stored), Asking: true}},
		{"plan-dry-run.txt", PlanView{Plan: clamped(offsets.Stored), Asking: false}},
		{"plan-commits.txt", PlanView{Plan: clamped(offsets.Committed), Asking: true}},
		{"plan-mixed.txt", PlanView{Plan: mixed(), Asking: false}},
		{"plan-nothing.txt", PlanView{Plan: inRange(), Asking: false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := c.plan.Write(Plain(&b)); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name, b.String())
		})
	}
	for _, c := range []struct {
		name string
		draw func(Stream) error
	}{
		{"results.txt", PlanView{Plan: done(clamped(offsets.Stored))}.Results},
		{"results-mixed.txt", PlanView{Plan: applied()}.Results},
		{"dry-run.txt", PlanView{Plan: clamped(offsets.Stored)}.DryRun},
		{"dry-run-settled.txt", PlanView{Plan: clamped(offsets.Stored).Settle(true)}.DryRun},
		{"dry-run-nothing.txt", PlanView{Plan: inRange()}.DryRun},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := c.draw(Plain(&b)); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name, b.String())
		})
	}
}

func TestPrompt(t *testing.T) {
	for _, c := range []struct {
		plan offsets.Plan
		want string
	}{
		{clamped(offsets.Stored), "Write 3 offsets of group billing to /var/lib/billing/offsets, 1 in doubt? [y/N] "},
		{clamped(offsets.Committed), "Write 2 offsets of group billing to the commits of cluster MkU3OEVBNTcwNTJENDM2Qg, 1 in doubt? [y/N] "},
		{inRange(), "Write nothing? [y/N] "},
	} {
		if got := (PlanView{Plan: c.plan}).Prompt(0); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
	if got := (PlanView{Plan: mixed()}).Prompt(0); strings.Count(got, "group billing") == 0 || !strings.Contains(got, "remove 1 offset ") {
		t.Error(got)
	}
}

// The question is broken between words where the terminal is narrow.
func TestPromptOfANarrowTerminal(t *testing.T) {
	t.Parallel()
	wide, narrow := PlanView{Plan: mixed()}.Prompt(0), PlanView{Plan: mixed()}.Prompt(40)
	if got := strings.Join(strings.Fields(narrow), " ") + " "; got != wide || !strings.Contains(narrow, "\n") {
		t.Errorf("%q became %q", wide, narrow)
	}
}
