package offsets_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gtoffset/kafkaops/offsets"
)

// given is a row of a document for partition 0 of topic orders.
func given(offset int64, topicID string) offsets.Given {
	return offsets.Given{Group: "billing", Key: offsets.Key{Topic: "orders"}, Value: offsets.Value{Offset: offset, Epoch: offsets.None}, TopicID: topicID}
}

func TestMerge(t *testing.T) {
	row := committed(known(500, 900), withEpoch(offsets.At(700), 3, "m"))
	full := given(600, "id")
	full.Epoch, full.Metadata = 7, "theirs"
	old := full
	old.TopicID = "old"
	bare := full
	bare.TopicID = ""
	same := given(700, "id")
	same.Epoch, same.Metadata = 3, "m"
	sameOther := same
	sameOther.Metadata = "n"
	on := func(line int, g offsets.Given) offsets.Given { g.Line = line; return g }
	for _, tc := range []struct {
		name    string
		given   offsets.Given
		row     offsets.Row // row if zero
		policy  offsets.MergePolicy
		verdict offsets.Verdict
		want    offsets.Value
		say     string
		choice  string
	}{
		{name: "plain", given: given(600, ""), verdict: offsets.Write, want: offsets.Value{Offset: 600, Epoch: offsets.None}, say: "as in the document"},
		{name: "MIG-5 the same topic id", given: full, verdict: offsets.Write, want: offsets.Value{Offset: 600, Epoch: 7, Metadata: "theirs"}},
		{name: "MIG-5 no topic id", given: bare, verdict: offsets.Write, want: offsets.Value{Offset: 600, Epoch: offsets.None, Metadata: "theirs"}},
		{name: "HIGH-2 another topic id", given: old, verdict: offsets.Refuse, say: "recreated", choice: "--recreated keep"},
		{name: "another topic id, kept", given: old, policy: offsets.MergePolicy{KeepRecreated: true}, verdict: offsets.Write, want: offsets.Value{Offset: 600, Epoch: offsets.None}},
		{name: "MIG-3 another cluster", given: full, policy: offsets.MergePolicy{Cluster: "x"}, verdict: offsets.Refuse, say: "is of cluster x, and this is c; offsets are not translated", choice: "--other-cluster"},
		{name: "another cluster, accepted: topic ids prove nothing", given: old, policy: offsets.MergePolicy{Cluster: "x", OtherCluster: true}, verdict: offsets.Write, want: offsets.Value{Offset: 600, Epoch: offsets.None, Metadata: "theirs"}},
		{name: "the same cluster", given: full, policy: offsets.MergePolicy{Cluster: "c"}, verdict: offsets.Write, want: offsets.Value{Offset: 600, Epoch: 7, Metadata: "theirs"}},
		{name: "FMT already there", given: same, verdict: offsets.Keep, want: offsets.Value{Offset: 700, Epoch: 3, Metadata: "m"}, say: "already there"},
		{name: "already there, other metadata", given: sameOther, verdict: offsets.Write, want: offsets.Value{Offset: 700, Epoch: 3, Metadata: "n"}, say: "metadata"},
		{name: "already there, a format without metadata", given: func() offsets.Given { g := same; g.Metadata = ""; return g }(), verdict: offsets.Keep, want: offsets.Value{Offset: 700, Epoch: 3, Metadata: "m"}},
		{name: "MIG-1 high", given: on(7, given(901, "")), verdict: offsets.Refuse, say: "line 7: 901 is high: the range is 500..900", choice: "--clamp"},
		{name: "MIG-1 high, clamped", given: given(901, ""), policy: offsets.MergePolicy{Clamp: true}, verdict: offsets.Write, want: offsets.Value{Offset: 900, Epoch: offsets.None}},
		{name: "low", given: given(499, ""), verdict: offsets.Refuse, say: "499 is low", choice: "--clamp"},
		{name: "exactly earliest", given: given(500, ""), verdict: offsets.Write, want: offsets.Value{Offset: 500, Epoch: offsets.None}},
		{name: "exactly end", given: given(900, ""), verdict: offsets.Write, want: offsets.Value{Offset: 900, Epoch: offsets.None}},
		{name: "PART-5 empty", given: given(0, ""), row: committed(known(0, 0), offsets.Entry{}), verdict: offsets.Write, want: offsets.Value{Epoch: offsets.None}},
		{name: "null", given: given(offsets.None, ""), verdict: offsets.Keep, want: offsets.Value{Offset: 700, Epoch: 3, Metadata: "m"}, say: "the document has no offset for it"},
		{name: "PART-4 gone", given: on(9, given(600, "")), row: committed(offsets.Range{State: offsets.PartitionGone, Reason: "not in the topic"}, offsets.At(1)), verdict: offsets.Refuse, say: "line 9: not in the topic"},
		{name: "no leader", given: given(600, ""), row: committed(offsets.Range{Reason: "no leader"}, offsets.At(1)), verdict: offsets.Refuse, say: "no leader"},
		{name: "damaged", given: given(600, ""), row: stored(known(500, 900), offsets.Entry{Presence: offsets.Damaged, Reason: "cut"}), policy: offsets.MergePolicy{Side: offsets.Stored}, verdict: offsets.Refuse, say: "cut"},
		{name: "of no number, damaged", given: given(600, ""), row: stored(known(500, 900), offsets.Entry{Presence: offsets.Damaged, Offset: offsets.None, Reason: "cut"}), policy: offsets.MergePolicy{Side: offsets.Stored}, verdict: offsets.Refuse, say: "cut"},
		{name: "into a store", given: full, row: stored(known(500, 900), offsets.At(700)), policy: offsets.MergePolicy{Side: offsets.Stored}, verdict: offsets.Write, want: offsets.Value{Offset: 600, Epoch: 7}},
		{name: "into a store, the number of a recreated topic", given: given(700, "id"), row: stored(known(500, 900), withID(offsets.At(700), "old")), policy: offsets.MergePolicy{Side: offsets.Stored}, verdict: offsets.Write, want: offsets.Value{Offset: 700, Epoch: offsets.None}, say: "as it is now"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.row == (offsets.Row{}) {
				tc.row = row
			}
			if tc.policy.Side == "" {
				tc.policy.Side = offsets.Committed
			}
			s := group(tc.row)
			got := offsets.Merge(s, []offsets.Given{tc.given}, tc.policy).All()[0].Change
			if got.Verdict != tc.verdict || !strings.Contains(got.Reason, tc.say) || got.Choice != tc.choice {
				t.Fatalf("got %s %q %q, want %s %q %q", got.Verdict, got.Reason, got.Choice, tc.verdict, tc.say, tc.choice)
			}
			if got.Verdict != offsets.Refuse && got.New != tc.want {
				t.Errorf("got %+v, want %+v", got.New, tc.want)
			}
		})
	}
}

// MIG-5: the leader epochs that the cluster does not confirm are left out; if that was all, there is nothing to do.
func TestConfirm(t *testing.T) {
	s := group(
		committed(known(0, 900), withEpoch(offsets.At(700), offsets.None, "m")), committed(known(0, 900), withEpoch(offsets.At(700), offsets.None, "")),
		committed(known(0, 900), withEpoch(offsets.At(700), offsets.None, "")), committed(known(0, 900), offsets.At(5)),
	)
	var rows []offsets.Given
	for p, o := range []int64{700, 700, 701, 6} {
		g := given(o, "id")
		g.Partition, g.Epoch = int32(p), 7
		if p == 0 {
			g.Metadata = "n"
		}
		rows = append(rows, g)
	}
	pg := offsets.Merge(s, rows, offsets.MergePolicy{Side: offsets.Committed}).Groups[0]
	if got := len(pg.Epochs()); got != 4 {
		t.Fatalf("%d epochs to be confirmed, want 4", got)
	}
	pg = pg.Confirm(func(k offsets.Key, v offsets.Value) bool { return k.Partition == 3 && v.Epoch == 7 })
	for i, want := range []string{"write 700 -1 n", "keep 700 -1 ", "write 701 -1 ", "write 6 7 "} {
		c := pg.Changes[i]
		if got := fmt.Sprint(c.Verdict, c.New.Offset, c.New.Epoch, " ", c.New.Metadata); strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("partition %d: got %q, want %q", i, got, want)
		}
		if said := strings.Contains(c.Reason, "leader epoch 7 left out"); said != (i != 3) {
			t.Errorf("partition %d: %q", i, c.Reason)
		}
	}
}

// drawRows draws rows of a document for some places of the snapshot, and for some that are not in it.
func drawRows(t *rapid.T, s offsets.Snapshot) []offsets.Given {
	var rows []offsets.Given
	for _, g := range s.Groups {
		keys := []offsets.Key{{Topic: "nowhere", Partition: 1}}
		for _, r := range g.Rows {
			keys = append(keys, r.Key)
		}
		for _, k := range keys {
			if !rapid.Bool().Draw(t, "named") {
				continue
			}
			row := offsets.Given{Group: g.ID, Key: k, TopicID: rapid.SampledFrom([]string{"", "id", "old"}).Draw(t, "document id")}
			row.Value = offsets.Value{Offset: rapid.Int64Range(-1, 130).Draw(t, "offset"), Epoch: rapid.Int32Range(-1, 3).Draw(t, "document epoch")}
			row.Metadata = rapid.SampledFrom([]string{"", "m"}).Draw(t, "document metadata")
			rows = append(rows, row)
		}
	}
	return rows
}

func TestMergeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		rows := drawRows(t, s)
		policy := offsets.MergePolicy{
			Side:          rapid.SampledFrom(bothSides).Draw(t, "side"),
			Cluster:       rapid.SampledFrom([]string{"", "c", "elsewhere"}).Draw(t, "cluster"),
			OtherCluster:  rapid.Bool().Draw(t, "other cluster"),
			KeepRecreated: rapid.Bool().Draw(t, "keep"),
			Clamp:         rapid.Bool().Draw(t, "clamp"),
		}
		plan := offsets.Merge(s, rows, policy)
		if len(plan.All()) != len(rows) {
			t.Fatalf("%d changes for %d rows", len(plan.All()), len(rows))
		}
		sound(t, s, plan)
		if p := offsets.Recheck(plan, s); p.Count() != plan.Count() {
			t.Fatalf("an unchanged look makes %+v of %+v", p.Count(), plan.Count())
		}
		after := write(s, plan, nil)
		onlyWrites(t, s, after, plan)
		if again := offsets.Merge(after, rows, policy); again.ToDo() != 0 {
			t.Fatalf("not done after the first time: %s\n%s", changes(plan), changes(again))
		}
		restores(t, s, after, plan)
	})
}
