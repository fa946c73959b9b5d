package offsets_test

import (
	"math"
	"testing"
	"time"

	"gtoffset/kafkaops/offsets"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func TestTiming(t *testing.T) {
	const hour = int64(time.Hour / time.Millisecond)
	hourly := offsets.Retention{Policy: "delete", Millis: hour, Bytes: offsets.Unbounded}
	with := func(change func(*offsets.Retention)) *offsets.Retention {
		r := hourly
		change(&r)
		return &r
	}
	at := func(ago time.Duration) offsets.Next { // its batch has a record that is 10 minutes younger
		return offsets.Next{Offset: 7, Time: noon.Add(-ago), Newest: noon.Add(-ago + 10*time.Minute)}
	}
	for _, c := range []struct {
		name    string
		timing  *offsets.Timing
		behind  time.Duration
		unknown string // why behind is not known
		left    time.Duration
		never   bool
		none    bool
		reason  string // why what is left is not known
	}{
		{name: "as old as its record; kept as long as the newest of its batch", timing: &offsets.Timing{Next: at(20 * time.Minute), Retention: &hourly}, behind: 20 * time.Minute, left: 50 * time.Minute},
		{name: "due already", timing: &offsets.Timing{Next: at(2 * time.Hour), Retention: &hourly}, behind: 2 * time.Hour, left: 0},
		{name: "a timestamp in the future", timing: &offsets.Timing{Next: at(-time.Hour), Retention: &hourly}, behind: 0, left: 130 * time.Minute},
		{name: "nothing left to read", timing: &offsets.Timing{Next: offsets.Next{Offset: offsets.None}, Retention: &hourly}, none: true},
		{name: "no timestamp", timing: &offsets.Timing{Next: offsets.Next{Offset: 7}, Retention: &hourly}, unknown: "the record has no timestamp", reason: "the record has no timestamp"},
		{name: "kept for ever", timing: &offsets.Timing{Next: at(time.Hour), Retention: with(func(r *offsets.Retention) { r.Millis = offsets.Unbounded })}, behind: time.Hour, never: true},
		{name: "the largest number for ever", timing: &offsets.Timing{Next: at(time.Hour), Retention: with(func(r *offsets.Retention) { r.Millis = math.MaxInt64 })}, behind: time.Hour, never: true},
		{name: "microseconds", timing: &offsets.Timing{Next: offsets.Next{Offset: 7, Time: time.UnixMilli(noon.UnixMicro()), Newest: time.UnixMilli(noon.UnixMicro())}, Retention: &hourly}, unknown: "the record's timestamp is no time in milliseconds", reason: "the record's timestamp is no time in milliseconds"},
		{name: "compacted", timing: &offsets.Timing{Next: at(time.Hour), Retention: with(func(r *offsets.Retention) { r.Policy = "compact" })}, behind: time.Hour, reason: "compaction takes it once there is a newer record of its key"},
		{name: "compacted and deleted", timing: &offsets.Timing{Next: at(time.Hour), Retention: with(func(r *offsets.Retention) { r.Policy = "compact,delete" })}, behind: time.Hour, reason: "compaction takes it once there is a newer record of its key"},
		{name: "bounded in bytes", timing: &offsets.Timing{Next: at(time.Hour), Retention: with(func(r *offsets.Retention) { r.Bytes = 1000 })}, behind: time.Hour, reason: "retention.bytes=1000 takes it once so much has been written after it"},
		{name: "bytes do not matter where nothing is deleted", timing: &offsets.Timing{Next: at(time.Hour), Retention: with(func(r *offsets.Retention) { r.Bytes, r.Policy = 1000, "compact" })}, behind: time.Hour, reason: "compaction takes it once there is a newer record of its key"},
		{name: "configuration not readable", timing: &offsets.Timing{Next: at(time.Hour), Retention: &offsets.Retention{Reason: "not allowed"}}, behind: time.Hour, reason: "not allowed"},
		{name: "record not readable", timing: &offsets.Timing{Next: offsets.Next{Offset: offsets.None, Reason: "no leader"}, Retention: &hourly}, unknown: "no leader", reason: "no leader"},
		{name: "no offset", timing: &offsets.Timing{Reason: "there is no offset"}, unknown: "there is no offset", reason: "there is no offset"},
		{name: "not measured", unknown: "not measured", reason: "not measured"},
	} {
		t.Run(c.name, func(t *testing.T) {
			behind, unknown := c.timing.Behind(noon)
			if behind != c.behind || unknown != c.unknown {
				t.Errorf("behind = %v, %q, want %v, %q", behind, unknown, c.behind, c.unknown)
			}
			e := c.timing.Expires()
			left, ok := e.In(noon)
			if left != c.left || e.Never != c.never || e.None != c.none || e.Reason != c.reason {
				t.Errorf("expires in %v, %+v", left, e)
			}
			if told := ok || e.Never || e.None; told == (e.Reason != "") {
				t.Errorf("known and unknown at once, or neither: %+v", e)
			}
		})
	}
	e := (&offsets.Timing{Next: at(20 * time.Minute), Retention: with(func(r *offsets.Retention) { r.Bytes = 1000 })}).Expires()
	if got := e.ByTime.Sub(noon); got != 50*time.Minute {
		t.Errorf("by time alone in %v, want 50m", got)
	}
}

func TestTimingIsOfTheSmallerOffset(t *testing.T) {
	id := func(e offsets.Entry, id string) offsets.Entry { e.TopicID = id; return e }
	named := known(50, 100)
	named.TopicID = "now"
	for _, c := range []struct {
		name   string
		store  bool
		row    offsets.Row
		from   int64
		reason string
	}{
		{"stored", true, offsets.Row{Range: known(0, 100), Stored: offsets.At(10), Committed: offsets.At(20)}, 10, ""},
		{"committed", true, offsets.Row{Range: known(0, 100), Stored: offsets.At(30), Committed: offsets.At(20)}, 20, ""},
		{"committed, no store", false, offsets.Row{Range: known(0, 100), Committed: offsets.At(20)}, 20, ""},
		{"low: the first that is left", false, offsets.Row{Range: known(50, 100), Committed: offsets.At(20)}, 50, ""},
		{"at the end", false, offsets.Row{Range: known(50, 100), Committed: offsets.At(100)}, 100, ""},
		{"high", false, offsets.Row{Range: known(50, 100), Committed: offsets.At(101)}, -1, "the offset is above the end"},
		{"none", true, offsets.Row{Range: known(50, 100)}, -1, "there is no offset"},
		{"another log's", true, offsets.Row{Range: named, Stored: id(offsets.At(60), "before"), Committed: offsets.At(70)}, -1, "the offset is one of another log"},
		{"unreadable", true, offsets.Row{Range: known(0, 100), Stored: offsets.Entry{Presence: offsets.Damaged, Reason: "line 3"}, Committed: offsets.At(1)}, -1, "line 3"},
		{"no range", true, offsets.Row{Range: offsets.Range{Reason: "no leader"}, Committed: offsets.At(1)}, -1, "no leader"},
		{"gone", true, offsets.Row{Range: offsets.Range{State: offsets.TopicGone}, Committed: offsets.At(1)}, -1, "the topic does not exist"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := offsets.Group{Rows: []offsets.Row{c.row}}
			if c.store {
				g.Store = &offsets.Store{}
			}
			s := offsets.Snapshot{Groups: []offsets.Group{g}}
			ask := s.StartTiming()
			if got := s.Groups[0].Rows[0].Timing; got.From != c.from || got.Reason != c.reason {
				t.Errorf("from %d, %q, want %d, %q", got.From, got.Reason, c.from, c.reason)
			}
			if wanted := c.from != -1 && c.from < c.row.Range.End; wanted != (len(ask) == 1) {
				t.Errorf("asked for %v", ask)
			}
		})
	}
}
