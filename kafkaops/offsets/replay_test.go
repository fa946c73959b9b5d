package offsets_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gtoffset/kafkaops/offsets"
)

// told is a stretch in a line.
func told(s offsets.Stretch) string {
	line := fmt.Sprintf("%s %d..%d", s.Verdict, s.From, s.Until)
	for what, is := range map[string]bool{" left": s.Left, " high": s.High, " follow": s.Follow} {
		if is {
			line += what
		}
	}
	if s.Expired > 0 {
		line += fmt.Sprintf(" expired %d", s.Expired)
	}
	if s.Reason != "" {
		line += ": " + s.Reason
	}
	if s.Choice != "" {
		line += " (" + s.Choice + ")"
	}
	return line
}

func upTo(earliest, stable, end int64) offsets.Range {
	return offsets.Range{State: offsets.RangeKnown, Earliest: earliest, Stable: stable, End: end, TopicID: "id"}
}

func TestReplay(t *testing.T) {
	stored := offsets.Bound{Aim: offsets.AimStored}
	committed := offsets.Bound{Aim: offsets.AimCommitted}
	earliest := offsets.Bound{Aim: offsets.AimEarliest}
	end := offsets.Bound{Aim: offsets.AimLatest}
	n := func(n int64) offsets.Bound { return offsets.Bound{Aim: offsets.AimOffset, N: n} }
	k := offsets.Key{Topic: "orders", Partition: 0}
	at := func(found offsets.Found) offsets.Bound {
		return offsets.Bound{Aim: offsets.AimTime, Times: map[offsets.Key]offsets.Found{k: found}, Words: "noon"}
	}
	of := func(e offsets.Entry, id, cluster string) offsets.Entry {
		e.TopicID, e.Cluster = id, cluster
		return e
	}
	none := offsets.Entry{}
	plain := upTo(500, offsets.None, 2000)
	for _, c := range []struct {
		name      string
		r         offsets.Range
		stored    offsets.Entry
		committed offsets.Entry
		policy    offsets.ReplayPolicy
		want      string
	}{
		{"in range", plain, offsets.At(900), none, offsets.ReplayPolicy{From: stored, Until: end}, "write 900..2000"},
		{"at earliest", plain, offsets.At(500), none, offsets.ReplayPolicy{From: stored, Until: end}, "write 500..2000"},
		{"one below", plain, offsets.At(499), none, offsets.ReplayPolicy{From: stored, Until: end}, "refuse 499..2000: low: 1 expired (499 to 499): the range is 500..2000 (--expired skip)"},
		{"skipped", plain, offsets.At(120), none, offsets.ReplayPolicy{From: stored, Until: end, SkipExpired: true}, "write 500..2000 expired 380: 380 expired (120 to 499), left out by choice"},
		{"all expired", upTo(500, -1, 500), offsets.At(120), none, offsets.ReplayPolicy{From: stored, Until: end, SkipExpired: true}, "write 500..500 expired 380: 380 expired (120 to 499), left out by choice"},
		{"expired up to its end", plain, none, none, offsets.ReplayPolicy{From: n(100), Until: n(200), SkipExpired: true}, "write 200..200 expired 100: 100 expired (100 to 199), left out by choice"},
		{"at the end", plain, offsets.At(2000), none, offsets.ReplayPolicy{From: stored, Until: end}, "keep 2000..2000: nothing to read"},
		{"one above", plain, offsets.At(2001), none, offsets.ReplayPolicy{From: stored, Until: end}, "refuse 2001..2000 high: start 2001 is high by 1: the range is 500..2000"},
		{"followed from the end", plain, offsets.At(2000), none, offsets.ReplayPolicy{From: stored, Until: end, Follow: true}, "write 2000..2000 follow"},
		{"followed above", plain, offsets.At(2001), none, offsets.ReplayPolicy{From: stored, Until: end, Follow: true}, "refuse 2001..2000 high: start 2001 is high by 1: the range is 500..2000"},
		{"no entry", plain, none, offsets.At(700), offsets.ReplayPolicy{From: stored, Until: end}, "keep -1..-1 left: nothing is stored for it"},
		{"no entry, nothing there", upTo(7, -1, 7), none, none, offsets.ReplayPolicy{From: stored, Until: end}, "keep -1..-1: nothing is stored for it"},
		{"no commit", plain, offsets.At(700), none, offsets.ReplayPolicy{From: committed, Until: end}, "keep -1..-1 left: nothing is committed for it"},
		{"until no commit", plain, offsets.At(700), none, offsets.ReplayPolicy{From: stored, Until: committed}, "keep -1..-1 left: nothing is committed for it"},
		{"unprocessed", plain, offsets.At(700), offsets.At(900), offsets.ReplayPolicy{From: stored, Until: committed}, "write 700..900"},
		{"stored ahead", plain, offsets.At(900), offsets.At(700), offsets.ReplayPolicy{From: stored, Until: committed}, "keep 900..900: starts at 900, and ends at 700 already: nothing to read"},
		{"damaged", plain, offsets.Entry{Presence: offsets.Damaged, Reason: "line 3"}, none, offsets.ReplayPolicy{From: stored, Until: end}, "refuse -1..-1: stored: damaged: line 3"},
		{"recreated", plain, of(offsets.At(900), "other", ""), none, offsets.ReplayPolicy{From: stored, Until: end}, "refuse -1..-1: stored: recorded before the topic was recreated"},
		{"another cluster", plain, of(offsets.At(900), "", "A"), none, offsets.ReplayPolicy{From: stored, Until: end}, "refuse -1..-1: stored: recorded for cluster A, and this is B"},
		{"an entry that is not asked", plain, offsets.Entry{Presence: offsets.Damaged, Reason: "line 3"}, none, offsets.ReplayPolicy{From: earliest, Until: end}, "write 500..2000"},
		{"numbers", plain, none, none, offsets.ReplayPolicy{From: n(600), Until: n(700)}, "write 600..700"},
		{"no numbers between", plain, none, none, offsets.ReplayPolicy{From: n(600), Until: n(600)}, "keep 600..600: nothing to read"},
		{"beyond the end", upTo(0, -1, 770), none, none, offsets.ReplayPolicy{From: n(778), Until: n(781)}, "refuse 778..781 high: start 778 is high by 8: the range is 0..770"},
		{"reaches beyond", upTo(0, -1, 770), none, none, offsets.ReplayPolicy{From: n(700), Until: n(781)}, "refuse 700..781: 700..781 reaches beyond the end: the range is 0..770 (--until end)"},
		{"open transaction", upTo(0, 700, 770), offsets.At(600), none, offsets.ReplayPolicy{From: stored, Until: end}, "write 600..700"},
		{"in an open transaction", upTo(0, 700, 770), offsets.At(720), none, offsets.ReplayPolicy{From: stored, Until: end}, "keep 720..720: starts at 720, beyond the last stable offset 700: nothing to read yet"},
		{"up to an open transaction", upTo(0, 700, 770), none, none, offsets.ReplayPolicy{From: n(600), Until: n(750)}, "refuse 600..750: 600..750 reaches beyond the last stable offset 700: a transaction is open (--until end, or --isolation read_uncommitted)"},
		{"followed in an open transaction", upTo(0, 700, 770), offsets.At(720), none, offsets.ReplayPolicy{From: stored, Until: end, Follow: true}, "write 720..720 follow"},
		{"time", plain, none, none, offsets.ReplayPolicy{From: at(offsets.Found{Offset: 800}), Until: end}, "write 800..2000"},
		{"time after the last record", plain, none, none, offsets.ReplayPolicy{From: at(offsets.Found{Offset: offsets.None}), Until: end}, "keep 2000..2000: no record at or after noon: end; nothing to read"},
		{"time that cannot be looked up", plain, none, none, offsets.ReplayPolicy{From: at(offsets.Found{Offset: offsets.None, Reason: "broker away"}), Until: end}, "refuse -1..-1: unknown: broker away"},
		{"until a time", plain, offsets.At(600), none, offsets.ReplayPolicy{From: stored, Until: at(offsets.Found{Offset: 800})}, "write 600..800"},
		{"until a time after the last record", plain, offsets.At(600), none, offsets.ReplayPolicy{From: stored, Until: at(offsets.Found{Offset: offsets.None})}, "write 600..2000: no record at or after noon: end"},
		{"gone", offsets.Range{State: offsets.TopicGone}, offsets.At(600), none, offsets.ReplayPolicy{From: stored, Until: end}, "refuse -1..-1: the topic does not exist"},
		{"not known", offsets.Range{Reason: "no leader"}, offsets.At(600), none, offsets.ReplayPolicy{From: stored, Until: end}, "refuse -1..-1: unknown: no leader"},
		{"resumed", plain, none, none, offsets.ReplayPolicy{From: earliest, Until: end, Resume: map[offsets.Key]offsets.Entry{k: offsets.At(700)}, ResumeName: "g2"}, "write 700..2000: goes on at 700, where g2 is"},
		{"nothing to resume", plain, none, none, offsets.ReplayPolicy{From: earliest, Until: end, Resume: map[offsets.Key]offsets.Entry{}, ResumeName: "g2"}, "write 500..2000"},
		{"resumed at its start", plain, none, none, offsets.ReplayPolicy{From: earliest, Until: end, Resume: map[offsets.Key]offsets.Entry{k: offsets.At(500)}, ResumeName: "g2"}, "write 500..2000"},
		{"resumed at its end", plain, none, none, offsets.ReplayPolicy{From: n(600), Until: n(700), Resume: map[offsets.Key]offsets.Entry{k: offsets.At(700)}, ResumeName: "g2"}, "keep 700..700: goes on at 700, where g2 is; nothing to read"},
		{"resumed behind its end", plain, none, none, offsets.ReplayPolicy{From: n(600), Until: n(700), Resume: map[offsets.Key]offsets.Entry{k: offsets.At(701)}, ResumeName: "g2"}, "refuse 600..700: g2 is at 701, which is not in 600..700: it belongs to another replay (--save-as with another name)"},
		{"resumed before its start", plain, none, none, offsets.ReplayPolicy{From: n(600), Until: n(700), Resume: map[offsets.Key]offsets.Entry{k: offsets.At(599)}, ResumeName: "g2"}, "refuse 600..700: g2 is at 599, which is not in 600..700: it belongs to another replay (--save-as with another name)"},
		{"resumed where it has expired", plain, none, none, offsets.ReplayPolicy{From: earliest, Until: end, Resume: map[offsets.Key]offsets.Entry{k: offsets.At(400)}, ResumeName: "g2"}, "refuse 400..2000: low: 100 expired (400 to 499): the range is 500..2000 (--expired skip)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.policy.Named = func(string) bool { return true }
			g := offsets.Group{ID: "billing", Rows: []offsets.Row{{Key: k, Range: c.r, Stored: c.stored, Committed: c.committed}}}
			got := offsets.Replay(offsets.Snapshot{Origin: offsets.Origin{Cluster: "B"}}, g, c.policy)
			if len(got) != 1 || told(got[0]) != c.want {
				t.Errorf("got  %s\nwant %s", told(got[0]), c.want)
			}
		})
	}
}

// A topic of which a side says nothing at all is left out of a replay from that side, and named, also where nobody named it.
func TestReplayOfUnnamedTopics(t *testing.T) {
	row := func(topic string, partition int32, stored offsets.Entry, r offsets.Range) offsets.Row {
		return offsets.Row{Key: offsets.Key{Topic: topic, Partition: partition}, Range: r, Stored: stored, Committed: offsets.At(5)}
	}
	g := offsets.Group{ID: "billing", Rows: []offsets.Row{
		row("gone", 0, offsets.At(1), offsets.Range{State: offsets.TopicGone}),
		row("orders", 0, offsets.At(1), upTo(0, -1, 9)), row("orders", 1, offsets.Entry{}, upTo(0, -1, 9)),
		row("payments", 0, offsets.Entry{}, upTo(0, -1, 9)),
	}}
	for named, want := range map[bool]string{
		false: "gone keep -1..-1 left: the topic does not exist; orders write 1..9; orders keep -1..-1 left: nothing is stored for it; payments keep -1..-1 left: nothing is stored for it",
		true:  "gone refuse -1..-1: the topic does not exist; orders write 1..9; orders keep -1..-1 left: nothing is stored for it; payments keep -1..-1 left: nothing is stored for it",
	} {
		var got []string
		for _, s := range offsets.Replay(offsets.Snapshot{}, g, offsets.ReplayPolicy{
			From: offsets.Bound{Aim: offsets.AimStored}, Until: offsets.Bound{Aim: offsets.AimLatest}, Named: func(string) bool { return named },
		}) {
			got = append(got, s.Topic+" "+told(s))
		}
		if got := strings.Join(got, "; "); got != want {
			t.Errorf("named %v:\ngot  %s\nwant %s", named, got, want)
		}
	}
}

// Whatever the numbers are: what is read lies in the range, ends before the last stable offset, and nothing of it is lost silently.
func TestReplayStaysInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		earliest := rapid.Int64Range(0, 20).Draw(t, "earliest")
		end := earliest + rapid.Int64Range(0, 20).Draw(t, "readable")
		r := upTo(earliest, earliest+rapid.Int64Range(0, end-earliest).Draw(t, "stable"), end)
		from := rapid.Int64Range(0, 45).Draw(t, "from")
		p := offsets.ReplayPolicy{
			From: offsets.Bound{Aim: offsets.AimOffset, N: from}, Until: offsets.Bound{Aim: offsets.AimLatest},
			SkipExpired: rapid.Bool().Draw(t, "skip"), Named: func(string) bool { return true },
		}
		if rapid.Bool().Draw(t, "to a number") {
			p.Until = offsets.Bound{Aim: offsets.AimOffset, N: rapid.Int64Range(0, 45).Draw(t, "until")}
		}
		s := offsets.Replay(offsets.Snapshot{}, offsets.Group{Rows: []offsets.Row{{Key: offsets.Key{Topic: "orders"}, Range: r}}}, p)[0]
		if s.Verdict != offsets.Write {
			return
		}
		if s.From < min(earliest, s.Until) || s.Until > r.Stable || s.Until < s.From || s.From != from+s.Expired || !p.SkipExpired && s.Expired > 0 {
			t.Fatalf("%s of %d..%d, stable %d", told(s), earliest, end, r.Stable)
		}
	})
}

func TestReplayPlanAndWhatItReached(t *testing.T) {
	key := func(p int32) offsets.Key { return offsets.Key{Topic: "orders", Partition: p} }
	g := offsets.Group{ID: "billing"}
	for p, at := range []int64{100, 200, 300, 400} {
		g.Rows = append(g.Rows, offsets.Row{Key: key(int32(p)), Range: upTo(0, -1, 400), Stored: offsets.At(at)})
	}
	s := offsets.Snapshot{Groups: []offsets.Group{g}}
	stretches := offsets.Replay(s, g, offsets.ReplayPolicy{From: offsets.Bound{Aim: offsets.AimStored}, Until: offsets.Bound{Aim: offsets.AimLatest}, Named: func(string) bool { return true }})
	plan := offsets.ReplayPlan(s, g, stretches)
	show := func(p offsets.Plan) string {
		var all []string
		for _, c := range p.Each() {
			all = append(all, fmt.Sprintf("%s %d→%d %s", c.Verdict, c.Old.Offset, c.New.Offset, c.Result))
		}
		return strings.Join(all, ", ")
	}
	if got, want := show(plan), "write 100→400 , write 200→400 , write 300→400 , keep 400→400 "; got != want {
		t.Errorf("plan: got %s, want %s", got, want)
	}
	save := func(at int64, result offsets.Result) offsets.Change {
		return offsets.Change{New: offsets.Value{Offset: at}, Result: result}
	}
	done := save(400, offsets.Written)
	all := map[offsets.Key]offsets.Change{key(0): done, key(1): done, key(2): done}
	if reached := offsets.Reached(plan, all); offsets.Short(plan, reached) || !reached.Applied {
		t.Errorf("to its end: got %s", show(reached))
	}
	reached := offsets.Reached(plan, map[offsets.Key]offsets.Change{key(0): save(400, offsets.Unverified), key(1): save(250, offsets.Written)})
	if got, want := show(reached), "write 100→400 unknown, write 200→250 written, keep 300→300 , keep 400→400 "; got != want {
		t.Errorf("reached: got %s, want %s", got, want)
	}
	if !offsets.Short(plan, reached) {
		t.Error("a replay that stopped on the way is short")
	}
}

func TestBatchLimits(t *testing.T) {
	l := offsets.BatchLimits{Records: 3, Bytes: 100}
	for _, c := range []struct {
		records, bytes, size int64
		want                 bool
	}{
		{0, 0, 10, true}, {0, 0, 1000, true}, {1, 50, 50, true}, {1, 50, 51, false}, {2, 0, 0, true}, {3, 0, 0, false}, {1, 1000, 0, false},
	} {
		if got := l.Take(c.records, c.bytes, c.size); got != c.want {
			t.Errorf("%d records of %d bytes take one of %d: got %v, want %v", c.records, c.bytes, c.size, got, c.want)
		}
	}
}

func TestCheckCopy(t *testing.T) {
	k := offsets.Key{Topic: "orders", Partition: 2}
	read := []offsets.Stretch{{Key: k, From: 100, Until: 200, Verdict: offsets.Write}, {Key: offsets.Key{Topic: "orders", Partition: 9}, Verdict: offsets.Keep}}
	whole := offsets.Topic{Ranges: make([]offsets.Range, 3)}
	week := offsets.Retention{Policy: "delete", Millis: 604800000, Bytes: offsets.Unbounded}
	for _, c := range []struct {
		name   string
		target offsets.CopyTarget
		want   string
	}{
		{"stands", offsets.CopyTarget{Name: "again", Topic: whole, Retention: week, Young: map[offsets.Key]offsets.Found{k: {Offset: 100}}}, ""},
		{"fewer partitions", offsets.CopyTarget{Name: "again", Topic: offsets.Topic{Ranges: make([]offsets.Range, 2)}}, `"again" has 2 partitions, and partition 2 is to be copied`},
		{"the same", offsets.CopyTarget{Name: "orders", Topic: whole}, `"orders" is the topic that is read (--same-topic)`},
		{"the same by choice", offsets.CopyTarget{Name: "orders", Topic: whole, Same: true}, ""},
		{"one is too old", offsets.CopyTarget{Name: "again", Topic: whole, Retention: week, Young: map[offsets.Key]offsets.Found{k: {Offset: 101}}}, `orders 2: up to 1 record is older than "again" keeps them (retention.ms 604800000)`},
		{"all are too old", offsets.CopyTarget{Name: "again", Topic: whole, Retention: week, Young: map[offsets.Key]offsets.Found{k: {Offset: offsets.None}}}, `orders 2: all records to be read are older than "again" keeps them (retention.ms 604800000)`},
		{"age not known", offsets.CopyTarget{Name: "again", Topic: whole, Retention: week, Young: map[offsets.Key]offsets.Found{k: {Offset: offsets.None, Reason: "broker away"}}}, `orders 2: how old its records are is unknown: broker away`},
		{"no key", offsets.CopyTarget{Name: "again", Topic: whole, NoKey: []offsets.Key{k}}, `"again" is compacted and takes no record without a key, and orders 2 has such`},
	} {
		var got []string
		for _, d := range offsets.CheckCopy(read, c.target) {
			if d.Choice != "" {
				d.Reason += " (" + d.Choice + ")"
			}
			got = append(got, d.Reason)
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
