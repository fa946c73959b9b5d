package output

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gtoffset/kafkaops/offsets"
)

// At 80 columns no line of a picture is cut by the terminal: with a store and times the rates of single rows make room.
func TestWatchFits(t *testing.T) {
	for _, store := range []bool{false, true} {
		for _, times := range []bool{false, true} {
			v := moving()
			v.Times = times
			g := &v.Snapshot.Groups[0]
			if !store {
				g.Store = nil
			}
			for i := range g.Rows {
				r := &g.Rows[i]
				r.Topic = "new-orders"
				r.Timing = &offsets.Timing{From: 500, Next: offsets.Next{Offset: 500, Time: noon.Add(-time.Hour), Newest: noon.Add(-time.Hour)}, Retention: &offsets.Retention{Policy: "delete", Millis: 7 * 24 * 3600 * 1000, Bytes: offsets.Unbounded}}
			}
			got := watched(t, v, Stream{Width: 80})
			for line := range strings.Lines(got) {
				if n := width(strings.TrimSuffix(line, "\n")); n > 80 {
					t.Errorf("store %v, times %v: %d columns: %s", store, times, n, line)
				}
			}
			want := []string{"STATE", "380 expired"}
			if times {
				want = append(want, "EXPIRES-IN")
			}
			if !store {
				want[1] = "committed hi"
			}
			for _, text := range want {
				if !strings.Contains(got, text) {
					t.Errorf("store %v, times %v: no %q in\n%s", store, times, text, got)
				}
			}
		}
	}
}

// Where there is no room for all, what is not ok comes first; in the order that was asked for it stays.
func TestWatchShowsTheWorst(t *testing.T) {
	v := Watch{Height: 14}
	g := billing()
	g.Rows = nil
	for p := range int32(60) {
		at := offsets.At(500)
		if p > 57 {
			at = offsets.At(2000)
		}
		g.Rows = append(g.Rows, offsets.Row{Key: offsets.Key{Topic: "orders", Partition: p}, Range: known(0, 1000), Committed: at})
	}
	g.Store = nil
	v.Describe = Describe{Snapshot: offsets.Snapshot{Origin: origin(), At: noon, Groups: []offsets.Group{g}}, Now: noon}
	for _, ordered := range []bool{false, true} {
		v.Ordered = ordered
		got := watched(t, v, Stream{Width: 120})
		for _, p := range []int{58, 59} {
			if shown := strings.Contains(got, fmt.Sprintf("\norders         %d", p)); shown == ordered {
				t.Errorf("ordered %v: partition %d shown: %v\n%s", ordered, p, shown, got)
			}
		}
		if strings.Contains(got, "of them not ok") != ordered {
			t.Errorf("ordered %v:\n%s", ordered, got)
		}
	}
}
