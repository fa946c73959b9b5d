package offsets_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gtoffset/kafkaops/offsets"
)

// stale is an offset with leader epoch 2, which ended at the given offset; None: the epoch does not exist.
func stale(at, ended int64) offsets.Entry {
	e := offsets.At(at)
	e.Epoch = 2
	e.EpochEnd = &offsets.EpochEnd{Epoch: 2, End: ended}
	if ended == offsets.None {
		e.EpochEnd.Epoch = offsets.None
	}
	return e
}

func TestStale(t *testing.T) {
	unchecked := stale(70, offsets.None)
	unchecked.EpochEnd.Reason = "no leader"
	unsupported := unchecked
	unsupported.EpochEnd = &offsets.EpochEnd{Epoch: offsets.None, End: offsets.None, Reason: "too old", Unsupported: true}
	for _, c := range []struct {
		name    string
		entry   offsets.Entry
		stale   bool
		jumpsTo int64
		words   string
	}{
		{"one below where the epoch ended", stale(69, 70), false, offsets.None, "ok"},
		{"exactly where it ended", stale(70, 70), false, offsets.None, "ok"},
		{"one above", stale(71, 70), true, 70, "committed stale: a consumer jumps back to 70, where leader epoch 2 ended"},
		{"no such epoch", stale(70, offsets.None), true, offsets.None, "committed stale: a consumer waits for ever, as leader epoch 2 does not exist"},
		{"not asked", offsets.At(70), false, offsets.None, "ok"},
		{"could not be asked", unchecked, false, offsets.None, "committed epoch unchecked: no leader"},
		{"consumers do not ask either", unsupported, false, offsets.None, "ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := offsets.Row{Range: known(0, 100), Committed: c.entry}
			j := offsets.JudgeRow(&r, "c", false)
			if j.Committed.Stale != c.stale || j.Committed.JumpsTo != c.jumpsTo {
				t.Errorf("stale, jumps to = %v, %d, want %v, %d", j.Committed.Stale, j.Committed.JumpsTo, c.stale, c.jumpsTo)
			}
			if got := j.Words(); got != c.words {
				t.Errorf("words = %q, want %q", got, c.words)
			}
			if j.Healthy() != (c.words == "ok") {
				t.Errorf("healthy = %v", j.Healthy())
			}
			r = offsets.Row{Range: known(0, 100), Stored: c.entry, Committed: offsets.At(c.entry.Offset)}
			if got, want := r.Words("c", true), strings.Replace(c.words, "committed", "stored", 1); got != want {
				t.Errorf("words of the store = %q, want %q", got, want)
			}
			if r.Healthy("c", true) != (c.words == "ok") {
				t.Errorf("healthy with the store = %v", r.Healthy("c", true))
			}
		})
	}
}

func TestEpochs(t *testing.T) {
	with := func(at int64, epoch int32) offsets.Entry {
		e := offsets.At(at)
		e.Epoch = epoch
		return e
	}
	recreated := with(5, 1)
	recreated.TopicID = "another"
	foreign := with(5, 1)
	foreign.Cluster = "other"
	r := known(0, 100)
	r.Epoch, r.TopicID = 4, "id"
	key := func(p int32) offsets.Key { return offsets.Key{Topic: "orders", Partition: p} }
	row := func(p int32, stored, committed offsets.Entry) offsets.Row {
		return offsets.Row{Key: key(p), Range: r, Stored: stored, Committed: committed}
	}
	s := offsets.Snapshot{Origin: offsets.Origin{Cluster: "c"}, Groups: []offsets.Group{
		{Rows: []offsets.Row{
			row(0, with(5, 3), with(6, 2)),
			row(1, with(5, 4), offsets.At(6)), // the current epoch, and none
			row(2, recreated, foreign),        // nothing is known of other logs
			row(3, with(5, 1), offsets.Entry{}),
			{Key: key(4), Committed: with(5, 1)}, // no range
		}},
		{Rows: []offsets.Row{row(0, offsets.Entry{}, with(50, 2))}},
	}}
	if diff := cmp.Diff(map[offsets.Key][]int32{key(0): {3, 2}, key(3): {1}}, s.Epochs()); diff != "" {
		t.Errorf("epochs (-want +got):\n%s", diff)
	}
	s.EpochsEnded(map[offsets.KeyEpoch]offsets.EpochEnd{{Key: key(0), Epoch: 2}: {Epoch: 2, End: 20}, {Key: key(2), Epoch: 1}: {Epoch: 1, End: 0}})
	var got []string
	for _, g := range s.Groups {
		for _, r := range g.Rows[:1] {
			got = append(got, r.Words("c", true))
		}
	}
	if diff := cmp.Diff([]string{"1 unprocessed", "no entry in the store; committed stale: a consumer jumps back to 20, where leader epoch 2 ended"}, got); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
	if s.Groups[0].Rows[2].Committed.EpochEnd != nil {
		t.Error("an epoch of another log was taken for one of this")
	}
}
