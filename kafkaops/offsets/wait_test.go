package offsets_test

import (
	"strings"
	"testing"

	"gtoffset/kafkaops/offsets"
)

// Nothing is met by a number that only seems to say so: what check calls out of order in an offset is not waited through.
func TestOpen(t *testing.T) {
	t.Parallel()
	present := offsets.At
	lag := offsets.Conditions{MaxLag: 0}
	caughtUp := offsets.Conditions{MaxLag: offsets.None, CaughtUp: true}
	stale := present(900)
	stale.Epoch, stale.EpochEnd = 3, &offsets.EpochEnd{Epoch: 3, End: 700}
	recreated := present(900)
	recreated.TopicID = "old"
	for _, c := range []struct {
		name              string
		earliest, end     int64
		stored, committed offsets.Entry
		when              offsets.Conditions
		want              string
	}{
		{"at the end", 500, 900, offsets.Entry{}, present(900), lag, ""},
		{"one below the end", 500, 900, offsets.Entry{}, present(899), lag, `group "g" t 0: lag 1`},
		{"one above the end", 500, 900, offsets.Entry{}, present(901), lag, `group "g" t 0: committed high: 1 ahead`},
		{"no commit", 500, 900, offsets.Entry{}, offsets.Entry{}, lag, `group "g" t 0: no commit`},
		{"nothing to commit", 900, 900, offsets.Entry{}, offsets.Entry{}, lag, ""},
		{"stale epoch", 500, 900, offsets.Entry{}, stale, lag, `group "g" t 0: committed stale: a consumer jumps back to 700, where leader epoch 3 ended`},
		{"caught up", 500, 900, present(800), present(800), caughtUp, ""},
		{"stored further", 500, 900, present(801), present(800), caughtUp, ""},
		{"one behind", 500, 900, present(799), present(800), caughtUp, `group "g" t 0: stored 1 behind committed`},
		{"committed above the end", 500, 900, present(900), present(901), caughtUp, `group "g" t 0: committed high: 1 ahead`},
		{"stored above the end", 500, 900, present(901), present(900), caughtUp, `group "g" t 0: stored high: 1 ahead`},
		{"stored before what has expired", 500, 900, present(499), present(500), caughtUp, `group "g" t 0: stored low: 1 expired`},
		{"both there, and all expired", 500, 900, present(400), present(400), caughtUp, ""},
		{"no entry", 500, 900, offsets.Entry{}, present(800), caughtUp, `group "g" t 0: no entry in the store`},
		{"the topic was made anew", 500, 900, recreated, present(800), caughtUp, `group "g" t 0: stored before the topic was recreated (id was old)`},
		{"nothing committed", 500, 900, present(800), offsets.Entry{}, caughtUp, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			row := offsets.Row{Key: offsets.Key{Topic: "t"}, Range: known(c.earliest, c.end), Stored: c.stored, Committed: c.committed}
			g := offsets.Group{ID: "g", Existence: offsets.Exists, State: "Empty", Rows: []offsets.Row{row}}
			if c.when.CaughtUp {
				g.Store = &offsets.Store{Path: "/s"}
			}
			got := strings.Join(offsets.Open(offsets.Snapshot{Groups: []offsets.Group{g}}, c.when), "; ")
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A job that assigns its partitions by hand is in no group: that it runs shows only in the lock of its store.
func TestOpenOfLockedStore(t *testing.T) {
	t.Parallel()
	g := offsets.Group{ID: "g", Existence: offsets.Exists, State: "Empty", Store: &offsets.Store{Path: "/s", Holder: "the nightly job"}, Rows: []offsets.Row{
		{Key: offsets.Key{Topic: "t"}, Range: known(0, 9), Committed: offsets.At(9), Stored: offsets.At(9)},
	}}
	for _, c := range []struct {
		when offsets.Conditions
		want string
	}{
		{offsets.Conditions{Empty: true, MaxLag: offsets.None}, `group "g": its store is locked by the nightly job: its job runs`},
		{offsets.Conditions{MaxLag: 0}, ""},
	} {
		if got := strings.Join(offsets.Open(offsets.Snapshot{Groups: []offsets.Group{g}}, c.when), "; "); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.when, got, c.want)
		}
	}
}

// A share group is waited for by the lag that the brokers count, as describe shows it.
func TestOpenOfShareGroup(t *testing.T) {
	t.Parallel()
	shared := func(start, lag int64) offsets.Row {
		return offsets.Row{Key: offsets.Key{Topic: "t"}, Range: known(0, 40), Shared: &offsets.Shared{Start: start, Lag: lag}}
	}
	for want, row := range map[string]offsets.Row{
		"":                                shared(30, 0),
		`group "s" t 0: lag 3`:            shared(30, 3),
		`group "s" t 0: nothing read yet`: shared(offsets.None, offsets.None),
	} {
		g := offsets.Group{ID: "s", Type: offsets.Share, Existence: offsets.Exists, Rows: []offsets.Row{row}}
		shot := offsets.Snapshot{Groups: []offsets.Group{g}}
		if got := strings.Join(offsets.Open(shot, offsets.Conditions{}), "; "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		caughtUp := offsets.Open(shot, offsets.Conditions{MaxLag: offsets.None, CaughtUp: true})
		if len(caughtUp) != 1 || !strings.Contains(caughtUp[0], "share group") {
			t.Errorf("caught up: %q", caughtUp)
		}
	}
}

// Reasons are counted by kind: none stands for another's.
func TestUnmeasuredReasons(t *testing.T) {
	t.Parallel()
	row := func(p int32, r offsets.Range, committed offsets.Entry) offsets.Row {
		return offsets.Row{Key: offsets.Key{Topic: "t", Partition: p}, Range: r, Committed: committed}
	}
	g := offsets.Group{ID: "g", Existence: offsets.Exists, Rows: []offsets.Row{
		row(0, known(0, 9), offsets.Entry{}), row(1, known(0, 9), offsets.At(3)),
		row(2, offsets.Range{State: offsets.TopicGone}, offsets.At(3)), row(3, known(0, 9), offsets.Entry{}),
	}}
	checks := offsets.RunChecks(offsets.Snapshot{Groups: []offsets.Group{g}}, offsets.Limits{MaxLag: 9, MaxUnprocessed: offsets.None})
	got, want := checks[0].Reasons, []offsets.Reason{{Why: "no commit", Count: 2}, {Why: "gone: the topic does not exist", Count: 1}}
	if len(checks) != 1 || checks[0].Unmeasured != 3 || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v", checks)
	}
}
