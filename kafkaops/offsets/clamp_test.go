package offsets_test

import (
	"strings"
	"testing"

	"gtoffset/kafkaops/offsets"
)

// group is a stopped group with one topic whose place in the store was read whole up to partition 2.
func group(rows ...offsets.Row) offsets.Snapshot {
	for i := range rows {
		if rows[i].Topic == "" {
			rows[i].Key = offsets.Key{Topic: "orders", Partition: int32(i)}
		}
	}
	return offsets.Snapshot{Origin: offsets.Origin{Cluster: "c", Store: "/s"}, Groups: []offsets.Group{{
		ID: "billing", Existence: offsets.Exists, State: "Empty", Rows: rows,
		Store: &offsets.Store{Path: "/s/billing", Topics: []offsets.StoredTopic{{Topic: "orders", Path: "/s/billing/orders/gtoffset", Presence: offsets.Present, Whole: true, Highest: 2}}},
	}}}
}

func stored(r offsets.Range, e offsets.Entry) offsets.Row { return offsets.Row{Range: r, Stored: e} }

func committed(r offsets.Range, e offsets.Entry) offsets.Row {
	return offsets.Row{Range: r, Committed: e}
}

func at(partition int32, r offsets.Row) offsets.Row {
	r.Key = offsets.Key{Topic: "orders", Partition: partition}
	return r
}

func TestClamp(t *testing.T) {
	foreign := withID(offsets.At(50), "id")
	foreign.Cluster = "elsewhere"
	foreignHigh := offsets.At(700)
	foreignHigh.Cluster = "elsewhere"
	both := offsets.Row{Range: known(0, 1000), Committed: offsets.At(500)}
	for _, tc := range []struct {
		name    string
		row     offsets.Row
		policy  offsets.ClampPolicy
		unnamed bool
		verdict offsets.Verdict
		offset  int64
		say     string // in the reason
		choice  string
	}{
		{name: "in range", row: stored(known(0, 22_000_000), offsets.At(15_000_000)), verdict: offsets.Keep, offset: 15_000_000},
		{name: "exactly earliest", row: stored(known(100, 400), offsets.At(100)), verdict: offsets.Keep, offset: 100},
		{name: "exactly end", row: stored(known(100, 400), offsets.At(400)), verdict: offsets.Keep, offset: 400},
		{name: "low", row: stored(known(500, 900), offsets.At(300)), verdict: offsets.Write, offset: 500, say: "200 expired (300 to 499)"},
		{name: "low by one", row: stored(known(100, 400), offsets.At(99)), verdict: offsets.Write, offset: 100, say: "1 expired (99 to 99)"},
		{name: "low, partition empty", row: stored(known(1000, 1000), offsets.At(400)), verdict: offsets.Write, offset: 1000},
		{name: "high, identity unknown", row: stored(known(0, 300), offsets.At(500)), verdict: offsets.Ask, offset: 300, say: "skips up to 300 readable", choice: "--high end|earliest"},
		{name: "high, same id", row: stored(known(0, 300), withID(offsets.At(500), "id")), verdict: offsets.Write, offset: 300},
		{name: "high, nothing readable", row: stored(known(300, 300), offsets.At(500)), verdict: offsets.Write, offset: 300},
		{name: "high, end by choice", row: stored(known(0, 300), offsets.At(500)), policy: offsets.ClampPolicy{High: offsets.ToEnd}, verdict: offsets.Write, offset: 300},
		{name: "high, earliest by choice", row: stored(known(0, 300), offsets.At(500)), policy: offsets.ClampPolicy{High: offsets.ToEarliest}, verdict: offsets.Write, offset: 0},
		{name: "another cluster, in range", row: stored(known(0, 300), foreign), verdict: offsets.Refuse, offset: 50, choice: "--other-cluster"},
		{name: "another cluster, high", row: stored(known(0, 300), foreignHigh), verdict: offsets.Refuse, offset: 700, choice: "--other-cluster"},
		{name: "another cluster accepted, in range", row: stored(known(0, 300), foreign), policy: offsets.ClampPolicy{OtherCluster: true}, verdict: offsets.Write, offset: 50, say: "recorded for this cluster"},
		{name: "another cluster accepted, high is asked", row: stored(known(0, 300), foreignHigh), policy: offsets.ClampPolicy{OtherCluster: true}, verdict: offsets.Ask, offset: 300, choice: "--high end|earliest"},
		{name: "recreated, in range", row: stored(known(0, 300), withID(offsets.At(50), "old")), verdict: offsets.Refuse, offset: 50, say: "300 readable", choice: "--recreated end|earliest|keep"},
		{name: "recreated, low", row: stored(known(100, 300), withID(offsets.At(50), "old")), verdict: offsets.Refuse, offset: 50, choice: "--recreated end|earliest|keep"},
		{name: "recreated, high", row: stored(known(0, 300), withID(offsets.At(500), "old")), policy: offsets.ClampPolicy{High: offsets.ToEnd}, verdict: offsets.Refuse, offset: 500, choice: "--recreated end|earliest|keep"},
		{name: "recreated, earliest", row: stored(known(0, 300), withID(offsets.At(50), "old")), policy: offsets.ClampPolicy{Recreated: offsets.ToEarliest}, verdict: offsets.Write, offset: 0},
		{name: "recreated, end", row: stored(known(0, 300), withID(offsets.At(50), "old")), policy: offsets.ClampPolicy{Recreated: offsets.ToEnd}, verdict: offsets.Write, offset: 300},
		{name: "recreated, kept", row: stored(known(0, 300), withID(offsets.At(50), "old")), policy: offsets.ClampPolicy{Recreated: offsets.Fixed}, verdict: offsets.Write, offset: 50, say: "kept by choice"},
		{name: "recreated, kept but high", row: stored(known(0, 300), withID(offsets.At(500), "old")), policy: offsets.ClampPolicy{Recreated: offsets.Fixed}, verdict: offsets.Ask, offset: 300, choice: "--high end|earliest"},
		{name: "first run", row: stored(known(7, 300), offsets.Entry{}), verdict: offsets.Write, offset: 7, say: "looked at /s/billing/orders/gtoffset"},
		{name: "first run, topic not named", row: stored(known(7, 300), offsets.Entry{}), unnamed: true, verdict: offsets.Keep, offset: -1},
		{name: "entry lost, commit there", row: both, verdict: offsets.Refuse, offset: -1, say: "committed is 500", choice: "--missing other|earliest"},
		{name: "entry lost, commit taken", row: both, policy: offsets.ClampPolicy{MissingOther: true}, verdict: offsets.Write, offset: 500},
		{name: "entry lost, earliest", row: both, policy: offsets.ClampPolicy{MissingFirst: true}, verdict: offsets.Write, offset: 0},
		{name: "entry lost, commit out of range", row: offsets.Row{Range: known(600, 1000), Committed: offsets.At(500)}, policy: offsets.ClampPolicy{MissingOther: true}, verdict: offsets.Write, offset: 600},
		{name: "partition added", row: at(3, stored(known(0, 10), offsets.Entry{})), unnamed: true, verdict: offsets.Write, offset: 0, say: "no entry, no commit, above the store's last partition (2): starts at earliest"},
		{name: "partition added, but committed", row: at(3, both), unnamed: true, verdict: offsets.Refuse, offset: -1, choice: "--missing other|earliest"},
		{name: "gone topic", row: stored(offsets.Range{State: offsets.TopicGone}, offsets.At(5)), verdict: offsets.Keep, offset: 5, say: "left as it is"},
		{name: "gone partition", row: stored(offsets.Range{State: offsets.PartitionGone}, offsets.At(5)), verdict: offsets.Keep, offset: 5},
		{name: "no leader", row: stored(offsets.Range{Reason: "no leader"}, offsets.At(5)), verdict: offsets.Refuse, offset: 5, say: "no leader"},
		{name: "empty file", row: stored(known(0, 10), offsets.Entry{Presence: offsets.Empty, Reason: "0 bytes"}), verdict: offsets.Refuse, offset: -1, choice: "--salvage"},
		{name: "damaged file", row: stored(known(0, 10), offsets.Entry{Presence: offsets.Damaged, Reason: "NUL"}), verdict: offsets.Refuse, offset: -1, choice: "--salvage"},
		{name: "of no number, damaged file", row: stored(known(0, 10), offsets.Entry{Presence: offsets.Damaged, Offset: offsets.None, Reason: "NUL"}), verdict: offsets.Refuse, offset: -1, choice: "--salvage"},
		{name: "unreadable file", row: stored(known(0, 10), offsets.Entry{Presence: offsets.Denied, Reason: "mode 000"}), verdict: offsets.Refuse, offset: -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.policy.Sides = []offsets.Side{offsets.Stored}
			tc.policy.Named = func(string) bool { return !tc.unnamed }
			s := group(tc.row)
			got := offsets.Clamp(s, tc.policy).All()[0].Change
			if got.Verdict != tc.verdict || got.New.Offset != tc.offset || !strings.Contains(got.Reason, tc.say) || got.Choice != tc.choice {
				t.Errorf("got %s %d %q %q, want %s %d %q %q", got.Verdict, got.New.Offset, got.Reason, got.Choice, tc.verdict, tc.offset, tc.say, tc.choice)
			}
		})
	}
}

func TestClampCommitsWithoutStore(t *testing.T) {
	s := group(committed(known(500, 900), offsets.At(300)), committed(known(5, 900), offsets.Entry{}))
	s.Groups[0].Store = nil
	plan := offsets.Clamp(s, offsets.ClampPolicy{Sides: []offsets.Side{offsets.Committed}, Named: func(string) bool { return true }})
	if c := plan.All()[0]; c.Verdict != offsets.Write || c.New.Offset != 500 || c.New.Epoch != offsets.None || c.New.Metadata != "" || !c.Clamped {
		t.Errorf("low commit: %+v", c)
	}
	if c := plan.All()[1]; c.Verdict != offsets.Write || c.New.Offset != 5 || c.Clamped || c.Reason != "no commit; starts at earliest" || c.Repeats != 895 {
		t.Errorf("first run: %+v", c)
	}
}

func TestGate(t *testing.T) {
	low := committed(known(500, 900), offsets.At(300))
	for _, tc := range []struct {
		name   string
		change func(*offsets.Group)
		create bool
		say    string
		choice string
	}{
		{"empty", func(*offsets.Group) {}, false, "", ""},
		{"GRP-1 active", func(g *offsets.Group) {
			g.State, g.Members = "Stable", []offsets.Member{{ClientID: "billing-1", Host: "/10.0.0.5"}}
		}, false, `active: 1 member (billing-1 on 10.0.0.5)`, "--wait-empty 60s"},
		{"rebalancing without members", func(g *offsets.Group) { g.State = "PreparingRebalance" }, false, "state PreparingRebalance", "--wait-empty 60s"},
		{"GRP-10 connector", func(g *offsets.Group) {
			g.ID, g.State, g.Members = "connect-sink1", "Stable", []offsets.Member{{ClientID: "c", Host: "h"}}
		}, false, "paused connector", "--wait-empty 60s"},
		{"GRP-9 share", func(g *offsets.Group) { g.Type = offsets.Share }, false, "share group", ""},
		{"GRP-5 connect workers", func(g *offsets.Group) { g.Protocol = "connect" }, false, "Connect workers", ""},
		{"GRP-6 missing", func(g *offsets.Group) { g.Existence = offsets.Missing }, false, "does not exist", "--create"},
		{"missing, create", func(g *offsets.Group) { g.Existence = offsets.Missing }, true, "", ""},
		{"unknown", func(g *offsets.Group) { g.Existence = offsets.ExistenceUnknown }, true, "whether", ""},
		{"coordinator away", func(g *offsets.Group) { g.Trouble = &offsets.Trouble{Reason: "no answer"} }, false, "no answer", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := group(low)
			tc.change(&s.Groups[0])
			plan := offsets.Gate(offsets.Clamp(s, offsets.ClampPolicy{Sides: []offsets.Side{offsets.Committed}, Named: func(string) bool { return true }}), s, tc.create)
			g := plan.Groups[0]
			if !strings.Contains(g.Refusal, tc.say) || (tc.say == "") != (g.Refusal == "") || g.Choice != tc.choice {
				t.Errorf("refusal %q choice %q, want %q %q", g.Refusal, g.Choice, tc.say, tc.choice)
			}
			if (g.Changes[0].Verdict == offsets.Refuse) != (tc.say != "") {
				t.Errorf("verdict %s", g.Changes[0].Verdict)
			}
		})
	}
}

func TestRecheck(t *testing.T) {
	planned := group(stored(known(500, 900), offsets.At(300)))
	policy := offsets.ClampPolicy{Sides: []offsets.Side{offsets.Stored}, Named: func(string) bool { return true }}
	other := known(500, 900)
	other.TopicID = "new"
	for _, tc := range []struct {
		name    string
		now     offsets.Row
		verdict offsets.Verdict
		result  offsets.Result
		offset  int64
		say     string
	}{
		{"nothing moved", stored(known(500, 900), offsets.At(300)), offsets.Write, "", 500, "expired"},
		{"LOW-6 earliest moved on", stored(known(600, 900), offsets.At(300)), offsets.Write, "", 600, "earliest has moved on from 500"},
		{"already there", stored(known(500, 900), offsets.At(500)), offsets.Write, offsets.Already, 500, ""},
		{"FWR-8 a job wrote", stored(known(500, 900), offsets.At(800)), offsets.Refuse, "", 500, "was 300, is 800"},
		{"entry vanished", stored(known(500, 900), offsets.Entry{}), offsets.Refuse, "", 500, "was 300, is none"},
		{"recreated", stored(other, offsets.At(300)), offsets.Refuse, "", 500, "recreated"},
		{"condition changed", stored(known(200, 900), offsets.At(300)), offsets.Refuse, "", 200, "was low when planned and is ok now"},
		{"file damaged meanwhile", stored(known(500, 900), offsets.Entry{Presence: offsets.Damaged, Reason: "cut"}), offsets.Refuse, "", 500, "cut"},
		{"leader lost", stored(offsets.Range{Reason: "no leader"}, offsets.At(300)), offsets.Refuse, "", 500, "no leader"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := offsets.Recheck(offsets.Clamp(planned, policy), group(tc.now)).All()[0].Change
			if got.Verdict != tc.verdict || got.Result != tc.result || got.New.Offset != tc.offset || !strings.Contains(got.Reason, tc.say) {
				t.Errorf("got %s %q %d %q", got.Verdict, got.Result, got.New.Offset, got.Reason)
			}
		})
	}
}

func TestVerify(t *testing.T) {
	plan := offsets.Clamp(group(stored(known(500, 900), offsets.At(300))), offsets.ClampPolicy{Sides: []offsets.Side{offsets.Stored}})
	for _, tc := range []struct {
		name     string
		result   offsets.Result
		found    offsets.Entry
		want     offsets.Result
		verified bool
	}{
		{"as planned", offsets.Written, offsets.At(500), offsets.Written, true},
		{"somebody else wrote", offsets.Written, offsets.At(700), offsets.Failed, false},
		{"no answer, but written", offsets.Unverified, offsets.At(500), offsets.Written, true},
		{"no answer, not written", offsets.Unverified, offsets.At(300), offsets.Failed, false},
		{"no answer, cannot be read", offsets.Unverified, offsets.Entry{Presence: offsets.Unreadable}, offsets.Unverified, false},
		{"failed", offsets.Failed, offsets.At(300), offsets.Failed, false},
	} {
		plan.Groups[0].Changes[0].Result = tc.result
		got := offsets.Verify(plan, group(stored(known(500, 900), tc.found))).All()[0]
		if got.Result != tc.want || got.Verified != tc.verified {
			t.Errorf("%s: got %s verified %v", tc.name, got.Result, got.Verified)
		}
	}
}

// A commit that was not answered in time may be stored later: that it does not show yet proves nothing.
func TestVerifyPending(t *testing.T) {
	plan := offsets.Clamp(group(stored(known(500, 900), offsets.At(300))), offsets.ClampPolicy{Sides: []offsets.Side{offsets.Stored}})
	plan.Groups[0].Changes[0].Result, plan.Groups[0].Changes[0].Pending = offsets.Unverified, true
	if got := offsets.Verify(plan, group(stored(known(500, 900), offsets.At(300)))).All()[0]; got.Result != offsets.Unverified || got.Verified {
		t.Errorf("not there yet: got %s verified %v", got.Result, got.Verified)
	}
	if got := offsets.Verify(plan, group(stored(known(500, 900), offsets.At(500)))).All()[0]; got.Result != offsets.Written || !got.Verified {
		t.Errorf("there: got %s verified %v", got.Result, got.Verified)
	}
	if got := offsets.Verify(plan, group(stored(known(500, 900), offsets.At(700)))).All()[0]; got.Result != offsets.Unverified || !got.Outrun() {
		t.Errorf("another's: got %s outrun %v", got.Result, got.Outrun())
	}
}

// The number of a commit may be another's, too: what was committed beside it tells.
func TestVerifyCommits(t *testing.T) {
	plan := offsets.Clamp(group(committed(known(500, 900), offsets.At(300))), offsets.ClampPolicy{Sides: []offsets.Side{offsets.Committed}})
	theirs := offsets.At(500)
	theirs.Metadata = "theirs"
	for _, tc := range []struct {
		name            string
		result          offsets.Result
		doubt, refused  bool
		found           offsets.Entry
		want            offsets.Result
		outrun, touched bool
	}{
		{"as planned", offsets.Written, false, false, offsets.At(500), offsets.Written, false, true},
		{"another wrote the same number", offsets.Written, false, false, theirs, offsets.Failed, true, true},
		{"failed for sure, and another wrote the same number", offsets.Failed, false, false, offsets.At(500), offsets.Failed, false, false},
		{"refused, and the job wrote the same number", offsets.Failed, false, true, offsets.At(500), offsets.Failed, false, false},
		{"in doubt, and it stands", offsets.Failed, true, false, offsets.At(500), offsets.Unverified, false, true},
		{"in doubt, refused later, and it stands", offsets.Failed, true, true, offsets.At(500), offsets.Unverified, false, true},
		{"in doubt, and another's stands", offsets.Failed, true, false, offsets.At(700), offsets.Unverified, true, true},
		{"in doubt, refused later, and another's stands", offsets.Failed, true, true, offsets.At(700), offsets.Unverified, true, true},
		{"in doubt, and it cannot be read", offsets.Failed, true, false, offsets.Entry{Presence: offsets.Unreadable}, offsets.Unverified, false, true},
		{"in doubt, and the old one stands", offsets.Failed, true, false, offsets.At(300), offsets.Failed, false, false},
		{"failed", offsets.Failed, false, false, offsets.At(300), offsets.Failed, false, false},
		{"not tried, and another wrote the same number", offsets.NotTried, false, false, offsets.At(500), offsets.NotTried, false, false},
		{"not tried", offsets.NotTried, false, false, offsets.At(300), offsets.NotTried, false, false},
	} {
		plan.Groups[0].Changes[0].Result, plan.Groups[0].Changes[0].Doubt, plan.Groups[0].Changes[0].Refused = tc.result, tc.doubt, tc.refused
		got := offsets.Verify(plan, group(committed(known(500, 900), tc.found))).All()[0]
		if got.Result != tc.want || got.Outrun() != tc.outrun || got.Untouched() == tc.touched {
			t.Errorf("%s: got %s outrun %v untouched %v", tc.name, got.Result, got.Outrun(), got.Untouched())
		}
	}
}

func TestRestore(t *testing.T) {
	none := offsets.NoValue
	value := func(o int64, meta string) offsets.Value {
		return offsets.Value{Offset: o, Epoch: offsets.None, Metadata: meta}
	}
	commit := func(o int64, meta string) offsets.Row {
		e := offsets.At(o)
		e.Metadata = meta
		return committed(known(500, 900), e)
	}
	for _, tc := range []struct {
		name         string
		old, written offsets.Value
		topic        string
		now          offsets.Row
		policy       offsets.RestorePolicy
		verdict      offsets.Verdict
		offset       int64
	}{
		{"back to low, with metadata", value(300, "m"), value(500, ""), "id", commit(500, ""), offsets.RestorePolicy{}, offsets.Write, 300},
		{"already back", value(300, "m"), value(500, ""), "id", commit(300, "m"), offsets.RestorePolicy{}, offsets.Keep, 300},
		{"moved since", value(300, ""), value(500, ""), "id", commit(650, ""), offsets.RestorePolicy{}, offsets.Refuse, 300},
		{"moved since, overwritten", value(300, ""), value(500, ""), "id", commit(650, ""), offsets.RestorePolicy{OverwriteMoved: true}, offsets.Write, 300},
		{"there was none", none, value(500, ""), "id", commit(500, ""), offsets.RestorePolicy{}, offsets.Write, offsets.None},
		{"there was none, and is none", none, value(500, ""), "id", committed(known(500, 900), offsets.Entry{}), offsets.RestorePolicy{}, offsets.Keep, offsets.None},
		{"there was none, and is none, and the topic is gone", none, value(500, ""), "id", committed(offsets.Range{State: offsets.TopicGone}, offsets.Entry{}), offsets.RestorePolicy{}, offsets.Keep, offsets.None},
		{"there was none, and is none, of another topic", none, value(500, ""), "old", committed(known(500, 900), offsets.Entry{}), offsets.RestorePolicy{}, offsets.Keep, offsets.None},
		{"recreated since, and the same number", value(300, ""), value(500, ""), "old", commit(300, ""), offsets.RestorePolicy{}, offsets.Refuse, 300},
		{"recreated since", value(300, ""), value(500, ""), "old", commit(500, ""), offsets.RestorePolicy{}, offsets.Refuse, 300},
		{"recreated since, kept", value(300, ""), value(500, ""), "old", commit(500, ""), offsets.RestorePolicy{KeepRecreated: true}, offsets.Write, 300},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := group(tc.now)
			b := offsets.Backup{Origin: s.Origin, Groups: []offsets.BackupGroup{{Group: "billing", Rows: []offsets.BackupRow{
				{Key: offsets.Key{Topic: "orders"}, Side: offsets.Committed, TopicID: tc.topic, Old: tc.old, Written: tc.written},
			}}}}
			plan := offsets.Restore(s, b, tc.policy)
			got := plan.All()[0]
			if got.Verdict != tc.verdict || got.New.Offset != tc.offset {
				t.Fatalf("got %s %d %q", got.Verdict, got.New.Offset, got.Reason)
			}
			if got.Verdict == offsets.Write {
				if again := offsets.Recheck(plan, s).All()[0]; again.Verdict != offsets.Write || got.New.Metadata != tc.old.Metadata {
					t.Errorf("fresh look: %+v", again)
				}
			}
			b.Origin.Cluster = "elsewhere"
			choice := "--other-cluster"
			if tc.old.Offset == offsets.None && tc.now.Committed.Presence == offsets.Present {
				choice = "" // it would remove what the other cluster never had
			}
			if got := offsets.Restore(s, b, tc.policy).All()[0]; got.Verdict != offsets.Refuse || got.Choice != choice {
				t.Errorf("another cluster: %s, choice %q", got.Verdict, got.Choice)
			}
		})
	}
}
