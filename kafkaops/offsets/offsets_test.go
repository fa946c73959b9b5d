package offsets_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gtoffset/kafkaops/offsets"
)

// known is a partition from earliest to end, led by broker 1.
func known(earliest, end int64) offsets.Range {
	return offsets.Range{State: offsets.RangeKnown, Earliest: earliest, End: end, Stable: offsets.None, Leader: 1, TopicID: "id"}
}

func withID(e offsets.Entry, id string) offsets.Entry { e.TopicID = id; return e }

func TestJudge(t *testing.T) {
	damaged := offsets.Entry{Presence: offsets.Damaged, Reason: "NUL bytes"}
	stable := known(0, 100)
	stable.Stable = 60
	for _, tc := range []struct {
		name               string
		entry              offsets.Entry
		in                 offsets.Range
		condition          offsets.Condition
		lag, expired, over int64
	}{
		{"LOW-1 below earliest", offsets.At(300), known(500, 900), offsets.Low, 400, 200, 0},
		{"LOW-2 emptied by retention", offsets.At(400), known(1000, 1000), offsets.Low, 0, 600, 0},
		{"one below earliest", offsets.At(99), known(100, 400), offsets.Low, 300, 1, 0},
		{"LOW-4 exactly earliest", offsets.At(100), known(100, 400), offsets.OK, 300, 0, 0},
		{"one above earliest", offsets.At(101), known(100, 400), offsets.OK, 299, 0, 0},
		{"LOW-8 far behind", offsets.At(15_000_000), known(0, 22_000_000), offsets.OK, 7_000_000, 0, 0},
		{"exactly end", offsets.At(400), known(100, 400), offsets.OK, 0, 0, 0},
		{"LAG-4 one above end", offsets.At(401), known(100, 400), offsets.High, 0, 0, 1},
		{"PART-5 empty", offsets.At(0), known(0, 0), offsets.OK, 0, 0, 0},
		{"NONE-1 no commit", offsets.Entry{}, known(0, 3083), offsets.NoEntry, -1, -1, -1},
		{"damaged", damaged, known(0, 10), offsets.Unknown, -1, -1, -1},
		{"no leader", offsets.At(5), offsets.Range{Reason: "no leader"}, offsets.Unknown, -1, -1, -1},
		{"VIS-1 topic gone", offsets.At(5), offsets.Range{State: offsets.TopicGone}, offsets.Gone, -1, -1, -1},
		{"last stable offset changes the lag only", offsets.At(80), stable, offsets.OK, 0, 0, 0},
		{"last stable offset, behind", offsets.At(50), stable, offsets.OK, 10, 0, 0},
		{"FMT-9 64 bits", offsets.At(9223372036854775807), known(0, 5), offsets.High, 0, 0, 9223372036854775802},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := offsets.Judge(tc.entry, tc.in, "c")
			if got.Condition != tc.condition || got.Lag != tc.lag || got.Expired != tc.expired || got.Ahead != tc.over {
				t.Errorf("got %+v, want %s lag %d expired %d ahead %d", got, tc.condition, tc.lag, tc.expired, tc.over)
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	foreign := withID(offsets.At(5), "other")
	foreign.Cluster = "elsewhere"
	for _, tc := range []struct {
		name    string
		entry   offsets.Entry
		want    offsets.Identity
		foreign bool
	}{
		{"same id", withID(offsets.At(5), "id"), offsets.Same, false},
		{"HIGH-2 other id, number in range", withID(offsets.At(5), "other"), offsets.Recreated, false},
		{"no id recorded", offsets.At(5), offsets.IdentityUnknown, false},
		{"MIG-3 another cluster: ids prove nothing", foreign, offsets.IdentityUnknown, true},
	} {
		got := offsets.Judge(tc.entry, known(0, 10), "c")
		if got.Identity != tc.want || got.Foreign != tc.foreign {
			t.Errorf("%s: got %s foreign %v, want %s %v", tc.name, got.Identity, got.Foreign, tc.want, tc.foreign)
		}
	}
}

// screen is the example group that the documentation shows.
func screen() offsets.Snapshot {
	return offsets.Snapshot{Origin: offsets.Origin{Cluster: "c", Store: "/s"}, Groups: []offsets.Group{{
		ID: "billing", Existence: offsets.Exists, Type: offsets.Consumer, State: "Empty", Store: &offsets.Store{Path: "/s"},
		Rows: []offsets.Row{
			{Key: offsets.Key{Topic: "orders"}, Range: known(500, 2000), Stored: offsets.At(120), Committed: offsets.At(900)},
			{Key: offsets.Key{Topic: "orders", Partition: 1}, Range: known(0, 2000), Stored: offsets.At(950), Committed: offsets.At(1450)},
			{Key: offsets.Key{Topic: "orders", Partition: 2}, Range: known(0, 1600), Stored: offsets.At(1700), Committed: offsets.At(1700)},
			{Key: offsets.Key{Topic: "orders", Partition: 3}, Range: known(0, 1200), Stored: offsets.Entry{Whole: true}},
			{Key: offsets.Key{Topic: "orders", Partition: 4}, Range: known(0, 1000), Stored: offsets.At(800), Committed: offsets.At(800)},
		},
	}}}
}

func TestForecast(t *testing.T) {
	got := offsets.Forecast(screen().Groups[0], "c")
	want := []offsets.Outcome{
		{From: offsets.FromStore, Policy: "", Expired: 380, Reads: 2750},
		{From: offsets.FromStore, Policy: "earliest", Expired: 380, Repeats: 1600, Reads: 5550},
		{From: offsets.FromStore, Policy: "latest", Expired: 380, Readable: 4300, Reads: 1250},
		{From: offsets.FromStore, Policy: "none", Expired: 380, Reads: 1250, Stops: true},
		{From: offsets.FromCommits, Policy: "", Expired: 380, Unprocessed: 900, Reads: 1850},
		{From: offsets.FromCommits, Policy: "earliest", Expired: 380, Unprocessed: 900, Repeats: 1600, Reads: 4650},
		{From: offsets.FromCommits, Policy: "latest", Expired: 380, Unprocessed: 900, Readable: 2800, Reads: 1850},
		{From: offsets.FromCommits, Policy: "none", Expired: 380, Unprocessed: 900, Reads: 1850, Stops: true},
		{From: offsets.FromNewGroup, Policy: "", Expired: 380},
		{From: offsets.FromNewGroup, Policy: "earliest", Expired: 380, Repeats: 3350, Reads: 7300},
		{From: offsets.FromNewGroup, Policy: "latest", Expired: 380, Readable: 5550},
		{From: offsets.FromNewGroup, Policy: "none", Expired: 380, Stops: true},
	}
	if len(got) != len(want) {
		t.Fatalf("%d outcomes, want %d", len(got), len(want))
	}
	for i := range want {
		want[i].OutOfRange, want[i].WithoutOffset = 2, 1
		switch want[i].From {
		case offsets.FromCommits:
			want[i].OutOfRange = 1
		case offsets.FromNewGroup:
			want[i].OutOfRange, want[i].WithoutOffset = 0, 5
		}
		if got[i] != want[i] {
			t.Errorf("outcome %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
	total := screen().Groups[0].Total("c")
	if total.Partitions != 5 || total.Healthy != 2 || total.Lag != 1850 || total.StoredLag != 2750 || total.LagUncounted != 1 ||
		total.StoredLagUncounted != 1 || total.Unprocessed != 900 {
		t.Errorf("totals: %+v", total)
	}
}

// What may have been processed is one thing, wherever a restart takes its offsets from: all three begin at earliest here, and repeat
// the same.
func TestForecastRepeatsAlike(t *testing.T) {
	foreign := offsets.At(60)
	foreign.Cluster = "other"
	for _, tc := range []struct {
		name              string
		stored, committed offsets.Entry
		want              int64
	}{
		{"stored high, identity unknown", offsets.At(999), offsets.Entry{}, 110},
		{"the log was cut back", withID(offsets.At(999), "id"), offsets.Entry{}, 110},
		{"both high", offsets.At(999), offsets.At(500), 110},
		{"recreated and high", withID(offsets.At(999), "old"), offsets.Entry{}, 0},
		{"recreated, in range by its number", withID(offsets.At(60), "old"), offsets.At(999), 110},
		{"another cluster's", foreign, offsets.Entry{}, 0},
		{"nothing anywhere: it may have been removed", offsets.Entry{}, offsets.Entry{}, 110},
		{"nothing anywhere, and the store is whole", offsets.Entry{Whole: true}, offsets.Entry{}, 0},
		{"the store knows", offsets.At(40), offsets.At(999), 40},
	} {
		g := offsets.Group{Store: &offsets.Store{}, Rows: []offsets.Row{{Range: known(0, 110), Stored: tc.stored, Committed: tc.committed}}}
		for _, o := range offsets.Forecast(g, "c") {
			if o.Policy == offsets.PolicyEarliest && o.OutOfRange+o.WithoutOffset > 0 && (o.Repeats != tc.want || o.Reads != 110) {
				t.Errorf("%s, from %s: repeats %d, reads %d, want %d of 110", tc.name, o.From, o.Repeats, o.Reads, tc.want)
			}
		}
	}
}

func TestForecastEachPartition(t *testing.T) {
	row := func(r offsets.Range, stored, committed offsets.Entry) offsets.Row {
		return offsets.Row{Range: r, Stored: stored, Committed: committed}
	}
	for _, tc := range []struct {
		name  string
		store bool
		row   offsets.Row
		from  offsets.Place
		under offsets.Policy
		want  offsets.Outcome
	}{
		{"processed beyond the commit repeats", true, row(known(0, 100), offsets.At(60), offsets.At(40)), offsets.FromCommits, "latest", offsets.Outcome{Repeats: 20, Reads: 60}},
		{"commit low, store further on: what it processed is not lost", true, row(known(50, 100), offsets.At(40), offsets.At(30)), offsets.FromCommits, "earliest", offsets.Outcome{Expired: 10, Reads: 50, OutOfRange: 1}},
		{"commit low, store in range", true, row(known(50, 100), offsets.At(70), offsets.At(30)), offsets.FromCommits, "earliest", offsets.Outcome{Repeats: 20, Reads: 50, OutOfRange: 1}},
		{"the same under latest", true, row(known(50, 100), offsets.At(70), offsets.At(30)), offsets.FromCommits, "latest", offsets.Outcome{Readable: 30, OutOfRange: 1}},
		{"HIGH-2 recreated: what lies below is never read", true, row(known(0, 10), withID(offsets.At(5), "other"), offsets.Entry{}), offsets.FromStore, "earliest", offsets.Outcome{Readable: 5, Reads: 5}},
		{"no store: nothing is known of processing", false, row(known(0, 100), offsets.Entry{}, offsets.At(40)), offsets.FromCommits, "latest", offsets.Outcome{Reads: 60}},
		{"commit without entry in a named store", true, row(known(0, 100), offsets.Entry{}, offsets.At(40)), offsets.FromCommits, "latest", offsets.Outcome{Reads: 60, Unsure: 1}},
		{"unreadable range", true, row(offsets.Range{Reason: "no leader"}, offsets.At(1), offsets.At(1)), offsets.FromStore, "latest", offsets.Outcome{Uncounted: 1}},
		{"gone", true, row(offsets.Range{State: offsets.TopicGone}, offsets.At(1), offsets.At(1)), offsets.FromStore, "latest", offsets.Outcome{}},
		{"no commit, store in range, latest", true, row(known(2000, 2719), offsets.At(2700), offsets.Entry{}), offsets.FromCommits, "latest", offsets.Outcome{Readable: 19, WithoutOffset: 1}},
		{"no commit, store low: what has expired is lost anyway", true, row(known(50, 100), offsets.At(30), offsets.Entry{}), offsets.FromCommits, "earliest", offsets.Outcome{Expired: 20, Reads: 50, WithoutOffset: 1}},
		{"new group, no store: held against the commit", false, row(known(50, 100), offsets.Entry{}, offsets.At(70)), offsets.FromNewGroup, "latest", offsets.Outcome{Readable: 30, WithoutOffset: 1}},
		{"new group, no store, earliest", false, row(known(50, 100), offsets.Entry{}, offsets.At(70)), offsets.FromNewGroup, "earliest", offsets.Outcome{Repeats: 20, Reads: 50, WithoutOffset: 1}},
		{"new group, no store, commit low", false, row(known(50, 100), offsets.Entry{}, offsets.At(40)), offsets.FromNewGroup, "earliest", offsets.Outcome{Expired: 10, Reads: 50, WithoutOffset: 1}},
		{"new group, nothing anywhere", false, row(known(50, 100), offsets.Entry{}, offsets.Entry{}), offsets.FromNewGroup, "latest", offsets.Outcome{Readable: 50, WithoutOffset: 1}},
		{"stale commit jumps back, no store", false, row(known(0, 100), offsets.Entry{}, stale(70, 20)), offsets.FromCommits, "latest", offsets.Outcome{Repeats: 50, Reads: 80, Jumps: 1}},
		{"stale commit jumps back over what the store says", true, row(known(0, 100), offsets.At(60), stale(70, 20)), offsets.FromCommits, "latest", offsets.Outcome{Repeats: 40, Reads: 80, Jumps: 1}},
		{"stale commit jumps back, still beyond the store", true, row(known(0, 100), offsets.At(10), stale(70, 20)), offsets.FromCommits, "latest", offsets.Outcome{Unprocessed: 10, Reads: 80, Jumps: 1}},
		{"stale commit under none stops", false, row(known(0, 100), offsets.Entry{}, stale(70, 20)), offsets.FromCommits, "none", offsets.Outcome{Repeats: 50, Reads: 80, Jumps: 1, Stops: true}},
		{"stale and high: it jumps before it could be out of range", false, row(known(0, 40), offsets.Entry{}, stale(60, 20)), offsets.FromCommits, "latest", offsets.Outcome{Repeats: 20, Reads: 20, Jumps: 1}},
		{"an epoch that does not exist waits", false, row(known(0, 100), offsets.Entry{}, stale(70, offsets.None)), offsets.FromCommits, "latest", offsets.Outcome{Waits: 1}},
		{"stale entry of the store", true, row(known(0, 100), stale(70, 20), offsets.At(70)), offsets.FromStore, "latest", offsets.Outcome{Repeats: 50, Reads: 80, Jumps: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := offsets.Group{Rows: []offsets.Row{tc.row}}
			if tc.store {
				g.Store = &offsets.Store{}
			}
			tc.want.From, tc.want.Policy = tc.from, tc.under
			tc.want.Unwitnessed = tc.from == offsets.FromCommits && !tc.store
			seen := false
			for _, got := range offsets.Forecast(g, "c") {
				if got.From == tc.from && got.Policy == tc.under {
					seen = true
					if got != tc.want {
						t.Errorf("got %+v\nwant %+v", got, tc.want)
					}
				}
			}
			if !seen {
				t.Errorf("no outcome from %s under %s", tc.from, tc.under)
			}
		})
	}
}

func TestWords(t *testing.T) {
	want := []string{
		"stored low: 380 expired; 400 unprocessed",
		"500 unprocessed",
		"stored high: 100 ahead; committed high: 100 ahead",
		"no entry in the store; no commit",
		"ok",
	}
	for i, r := range screen().Groups[0].Rows {
		if got := r.Words("c", true); got != want[i] {
			t.Errorf("row %d: got %q, want %q", i, got, want[i])
		}
	}
	none3 := offsets.Row{Range: known(2000, 2719), Stored: offsets.At(2719)}
	if got := none3.Words("c", true); !strings.Contains(got, "no committed offset (expired, removed or never committed)") {
		t.Errorf("NONE-3, commits that expired: got %q", got)
	}
}

// anyRange and anyEntry draw what a cluster and a side may say.
func anyRange(t *rapid.T) offsets.Range {
	lo := rapid.Int64Range(0, 50).Draw(t, "earliest")
	r := known(lo, lo+rapid.Int64Range(0, 50).Draw(t, "length"))
	r.State = rapid.SampledFrom([]offsets.RangeState{offsets.RangeKnown, offsets.RangeKnown, offsets.RangeKnown, offsets.RangeUnknown, offsets.TopicGone, offsets.PartitionGone}).Draw(t, "state")
	if r.State != offsets.RangeKnown {
		return offsets.Range{State: r.State, Stable: offsets.None, Leader: offsets.None}
	}
	return r
}

func anyEntry(t *rapid.T, name string) offsets.Entry {
	switch rapid.IntRange(0, 5).Draw(t, name+" kind") {
	case 0:
		return offsets.Entry{}
	case 1:
		return offsets.Entry{Presence: offsets.Damaged}
	}
	e := offsets.At(rapid.Int64Range(0, 130).Draw(t, name))
	e.TopicID = rapid.SampledFrom([]string{"", "id", "old"}).Draw(t, name+" id")
	e.Cluster = rapid.SampledFrom([]string{"", "c", "elsewhere"}).Draw(t, name+" cluster")
	return e
}

func anySnapshot(t *rapid.T) offsets.Snapshot {
	g := offsets.Group{ID: "g", Existence: offsets.Exists, State: "Empty", Store: &offsets.Store{Path: "/s"}}
	for p := range rapid.Int32Range(1, 6).Draw(t, "partitions") {
		g.Rows = append(g.Rows, offsets.Row{
			Key: offsets.Key{Topic: "t", Partition: p}, Range: anyRange(t),
			Stored: anyEntry(t, "stored"), Committed: anyEntry(t, "committed"),
		})
	}
	return offsets.Snapshot{Origin: offsets.Origin{Cluster: "c"}, Groups: []offsets.Group{g}}
}

func anyPolicy(t *rapid.T) offsets.ClampPolicy {
	named := rapid.Bool().Draw(t, "named")
	p := offsets.ClampPolicy{
		Sides:        rapid.SampledFrom([][]offsets.Side{{offsets.Stored}, {offsets.Committed}, {offsets.Stored, offsets.Committed}}).Draw(t, "sides"),
		High:         rapid.SampledFrom([]offsets.Target{"", offsets.ToEnd, offsets.ToEarliest}).Draw(t, "high"),
		Recreated:    rapid.SampledFrom([]offsets.Target{"", offsets.ToEnd, offsets.ToEarliest, offsets.Fixed}).Draw(t, "recreated"),
		OtherCluster: rapid.Bool().Draw(t, "other cluster"),
		Named:        func(string) bool { return named },
	}
	switch rapid.IntRange(0, 2).Draw(t, "missing") {
	case 1:
		p.MissingOther = true
	case 2:
		p.MissingFirst = true
	}
	return p
}

func TestClampProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, policy := anySnapshot(t), anyPolicy(t)
		plan := offsets.Gate(offsets.Clamp(s, policy), s, false)
		if want := len(s.Groups[0].Rows) * len(policy.Sides); len(plan.All()) != want {
			t.Fatalf("%d changes for %d entries", len(plan.All()), want)
		}
		plan = offsets.Recheck(plan.Settle(true), s)
		for _, c := range plan.All() {
			row, _ := s.Groups[0].Row(c.Key)
			if c.Reason == "" {
				t.Fatalf("no reason: %+v", c)
			}
			if c.Verdict != offsets.Write {
				continue
			}
			if c.Result == offsets.Already {
				continue
			}
			if !row.Range.Known() || c.New.Offset < row.Range.Earliest || c.New.Offset > row.Range.End {
				t.Fatalf("writes %d into %+v", c.New.Offset, row.Range)
			}
			if e := row.Entry(c.Side); e.Presence == offsets.Present && !e.Problem() && policy.Recreated == "" && !c.Rewrite &&
				offsets.Judge(e, row.Range, "c").Condition == offsets.OK {
				t.Fatalf("changes an offset in range: %+v", c)
			}
			if c.Skips < 0 || c.Repeats < 0 || c.Skips > row.Range.Readable() || c.Repeats > row.Range.Readable() {
				t.Fatalf("skips %d repeats %d of %d", c.Skips, c.Repeats, row.Range.Readable())
			}
		}
		// What was written is in range then: a second clamp has nothing to do there, and a second look verifies it.
		after := apply(s, plan)
		for _, c := range offsets.Verify(plan, after).All() {
			if c.Verdict == offsets.Write && !c.Verified {
				t.Fatalf("not verified: %+v", c)
			}
		}
		policy.Sides = []offsets.Side{offsets.Stored, offsets.Committed}
		second := map[string]offsets.Change{}
		for _, c := range offsets.Clamp(after, policy).All() {
			second[string(c.Side)+string(rune(c.Partition))] = c.Change
		}
		for _, c := range plan.All() {
			if again := second[string(c.Side)+string(rune(c.Partition))]; c.Verdict == offsets.Write && again.Verdict != offsets.Keep {
				t.Fatalf("the second clamp would change it again: %+v then %+v", c, again)
			}
		}
	})
}

// apply does what a plan says, on values.
func apply(s offsets.Snapshot, p offsets.Plan) offsets.Snapshot {
	rows := append([]offsets.Row(nil), s.Groups[0].Rows...)
	for _, c := range p.All() {
		if c.Verdict != offsets.Write {
			continue
		}
		for i := range rows {
			if rows[i].Key != c.Key {
				continue
			}
			e := offsets.Entry{}
			if c.New.Offset != offsets.None {
				e = withID(offsets.At(c.New.Offset), rows[i].Range.TopicID)
			}
			if c.Side == offsets.Stored {
				rows[i].Stored = e
			} else {
				rows[i].Committed = e
			}
		}
	}
	g := s.Groups[0]
	g.Rows = rows
	return offsets.Snapshot{Origin: s.Origin, Groups: []offsets.Group{g}}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", math.MaxInt64: "9,223,372,036,854,775,807"} {
		if got := offsets.Thousands(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestShared(t *testing.T) {
	for _, c := range []struct {
		name   string
		shared offsets.Shared
		rng    offsets.Range
		lag    int64
		words  string
		ok     bool
	}{
		{"as the broker counts", offsets.Shared{Start: 7, Lag: 3}, known(0, 20), 3, "ok", true},
		{"the broker does not tell", offsets.Shared{Start: 7, Lag: offsets.None}, known(0, 20), 13, "ok", true},
		{"from earliest on at most", offsets.Shared{Start: 7, Lag: offsets.None}, known(15, 20), 5, "ok", true},
		{"nothing yet", offsets.Shared{Start: offsets.None, Lag: offsets.None}, known(0, 20), offsets.None, "nothing read yet", true},
		{"not allowed", offsets.Shared{Start: offsets.None, Lag: offsets.None, Reason: "not allowed"}, known(0, 20), offsets.None, "start unknown: not allowed", false},
		{"gone", offsets.Shared{Start: 7}, offsets.Range{State: offsets.TopicGone}, offsets.None, "gone: the topic does not exist", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := offsets.Row{Range: c.rng, Shared: &c.shared}
			j := offsets.JudgeRow(&r, "c", false)
			if j.Committed.Lag != c.lag || j.Words() != c.words || j.Healthy() != c.ok {
				t.Errorf("lag %d, %q, ok %v, want %d, %q, %v", j.Committed.Lag, j.Words(), j.Healthy(), c.lag, c.words, c.ok)
			}
			if got := j.Forecast(nil); got != nil {
				t.Errorf("forecast: %+v", got)
			}
		})
	}
}

// The topics of a store are found in whatever order they came.
func TestStoreTopics(t *testing.T) {
	var store offsets.Store
	for i, name := range []string{"orders", "audit", "payments", "orders"} {
		store.Put(offsets.StoredTopic{Topic: name, Highest: int32(i)})
	}
	for name, want := range map[string]int32{"audit": 1, "orders": 3, "payments": 2} {
		if got, ok := store.Topic(name); !ok || got.Highest != want {
			t.Errorf("%s: got %v, %v, want the one of %d", name, got, ok, want)
		}
	}
	if got, ok := store.Topic("other"); ok || len(store.Topics) != 3 {
		t.Errorf("got %v of %v", got, store.Topics)
	}
	if got, ok := (*offsets.Store)(nil).Topic("orders"); ok {
		t.Errorf("without a store: %v", got)
	}
}
