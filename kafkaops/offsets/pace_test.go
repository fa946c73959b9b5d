package offsets

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	t.Parallel()
	look := func(at int64, committed, end [2]int64) Snapshot {
		s := Snapshot{At: time.Unix(at, 0), Groups: []Group{{ID: "billing"}}}
		for p := range int32(2) {
			s.Groups[0].Rows = append(s.Groups[0].Rows, Row{
				Key: Key{Topic: "orders", Partition: p}, Range: Range{State: RangeKnown, End: end[p], Stable: None}, Committed: Entry{Presence: Present, Offset: committed[p]}, Stored: Entry{Presence: Absent},
			})
		}
		return s
	}
	for name, x := range map[string]struct {
		first, now Snapshot
		row, sum   Pace
	}{
		"shrinks and grows by as much": {
			look(0, [2]int64{10, 10}, [2]int64{100, 100}), look(10, [2]int64{40, 10}, [2]int64{100, 130}),
			Pace{Out: 3, Known: Known{In: true, Out: true, Lag: true}, Lag: 60, Grown: -30},
			Pace{In: 3, Out: 3, Known: Known{In: true, Out: true, Lag: true}, Lag: 180},
		},
		"beyond the end": {
			look(0, [2]int64{10, 10}, [2]int64{100, 100}), look(10, [2]int64{999, 10}, [2]int64{100, 100}),
			Pace{Known: Known{In: true}},
			Pace{Known: Known{In: true, Out: true, Lag: true}, Lag: 90},
		},
		"back from beyond": {
			look(0, [2]int64{999, 10}, [2]int64{100, 100}), look(10, [2]int64{100, 10}, [2]int64{100, 100}),
			Pace{Known: Known{In: true}},
			Pace{Known: Known{In: true, Out: true, Lag: true}, Lag: 90},
		},
	} {
		between := look(5, [2]int64{0, 0}, [2]int64{100, 100})
		x.now.Pace(x.first, between) // only the first counts
		g := x.now.Groups[0]
		if got := *g.Rows[0].Pace; got != x.row {
			t.Errorf("%s: got %+v, want %+v", name, got, x.row)
		}
		if got := *g.Pace(); got != x.sum {
			t.Errorf("%s: the group: got %+v, want %+v", name, got, x.sum)
		}
	}
	now := look(10, [2]int64{0, 0}, [2]int64{1, 1})
	if now.Pace(); now.Groups[0].Pace() != nil {
		t.Error("a pace of one look")
	}
}
