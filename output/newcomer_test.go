package output

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gtoffset/kafkaops/offsets"
)

// several is a group that is fine, one with members and a damaged file, and one that never had an offset.
func several() Describe {
	row := func(topic string, p int32, stored, committed offsets.Entry) offsets.Row {
		return offsets.Row{Key: offsets.Key{Topic: topic, Partition: p}, Range: known(0, 1000), Stored: stored, Committed: committed}
	}
	damaged := offsets.Entry{Presence: offsets.Damaged, Reason: `/var/lib/billing/offsets/live/orders/gtoffset: line 3: "12x" is no offset`}
	dead := offsets.Range{Reason: "broker 2 (kafka2:9092) did not answer within 2s", Stable: offsets.None, Leader: 2, Epoch: offsets.None}
	group := func(id string, rows ...offsets.Row) offsets.Group {
		store := &offsets.Store{Path: "/var/lib/billing/offsets/" + id}
		for _, r := range rows {
			if r.Stored.Presence != offsets.Absent {
				store.Topics = append(store.Topics, offsets.StoredTopic{Topic: r.Topic, Presence: r.Stored.Presence, Reason: r.Stored.Reason})
			}
		}
		return offsets.Group{ID: id, Existence: offsets.Exists, Type: offsets.Classic, State: "Empty", Store: store, Rows: rows}
	}
	fine := group("fine", row("orders", 0, offsets.At(5), offsets.At(5)), row("orders", 1, offsets.At(5), offsets.At(6)), row("orders", 2, offsets.At(5), offsets.Entry{}))
	live := group("live", row("orders", 0, damaged, offsets.At(5)), row("orders", 1, damaged, offsets.At(6)), row("pay", 0, offsets.At(5), offsets.At(5)), row("pay", 1, offsets.At(5), offsets.At(5)))
	live.Rows[2].Range, live.Rows[3].Range = dead, dead
	live.State = "Stable"
	for i := range 7 {
		live.Members = append(live.Members, offsets.Member{ID: fmt.Sprintf("id-%d", i), ClientID: "billing", Host: fmt.Sprintf("/10.0.0.%d", i)})
	}
	never := group("never", row("orders", 0, offsets.Entry{}, offsets.Entry{}), row("orders", 1, offsets.Entry{}, offsets.Entry{}))
	fine2 := fine
	fine2.ID = "fine too"
	d := Describe{Snapshot: offsets.Snapshot{Origin: origin(), At: noon, Groups: []offsets.Group{fine, fine2, live, never}}, Now: noon}
	d.Show = func(g offsets.Group, r offsets.Row) bool { return !r.Healthy("", true) }
	return d
}

func TestSeveralGroups(t *testing.T) {
	golden(t, "several-problems.txt", drawn(t, several(), Stream{}, Table))
	golden(t, "several-problems-80.txt", drawn(t, several(), Stream{Width: 80}, Table))
	one := several()
	one.Snapshot.Groups = one.Snapshot.Groups[:1]
	golden(t, "several-one.txt", drawn(t, one, Stream{}, Table))
	none := several()
	none.Snapshot.Groups = nil
	if got := drawn(t, none, Stream{}, Table); !strings.HasSuffix(got, "\n\nno groups\n") {
		t.Errorf("got %q", got)
	}
}

// A legend stands where there is a gauge to read, once.
func TestGaugeLegend(t *testing.T) {
	d := several()
	if got := strings.Count(drawn(t, d, Stream{Width: 200, Gauge: true}, Table), "gauge: "); got != 1 {
		t.Errorf("%d legends for several groups, want 1", got)
	}
	for i := range d.Snapshot.Groups {
		for j := range d.Snapshot.Groups[i].Rows {
			d.Snapshot.Groups[i].Rows[j].Range = offsets.Range{Reason: "no leader"}
		}
	}
	for name, s := range map[string]Stream{"no range is known": {Width: 200, Gauge: true}, "narrow": {Width: 80, Gauge: true}, "piped": {}} {
		if got := drawn(t, d, s, Table); strings.Contains(got, "gauge: ") {
			t.Errorf("%s: a legend\n%s", name, got)
		}
	}
}

// No row is wider than the terminal, and nothing of it is cut but STATE, where 20 columns are left of it.
func TestRowsFit(t *testing.T) {
	d := screens()
	d.Hint = nil
	const long = "eu-west-1.payments.settlement.ledger-entries.v2"
	for i := range d.Snapshot.Groups[0].Rows {
		r := &d.Snapshot.Groups[0].Rows[i]
		r.Topic, r.Range.Earliest, r.Range.End = long, r.Range.Earliest+1e11, r.Range.End+1e11
		r.Stored.Offset, r.Committed.Offset = r.Stored.Offset+1e11, r.Committed.Offset+1e11
	}
	for _, view := range []Describe{d, screens(), several()} {
		view.Hint = nil
		for w := 78; w < 250; w++ {
			got := drawn(t, view, Stream{Width: w, Gauge: true}, Table)
			for line := range strings.Lines(got) {
				if n := width(strings.TrimSuffix(line, "\n")); n > w && !strings.HasPrefix(strings.TrimSpace(line), "/") {
					t.Fatalf("%d columns at %d: %s", n, w, line)
				}
			}
		}
	}
}

func TestPlanOfReset(t *testing.T) {
	var rows []offsets.Change
	keep := func(topic string, p int32, at int64, reason string) {
		v := offsets.Value{Offset: at, Epoch: offsets.None}
		rows = append(rows, offsets.Change{Key: offsets.Key{Topic: topic, Partition: p}, Side: offsets.Committed, Condition: offsets.OK, Old: v, New: v, Verdict: offsets.Keep, Reason: reason})
	}
	for p := range int32(6) {
		keep("orders", p, int64(p), fmt.Sprintf("the smaller of stored %d and committed %d: already there", p, p))
	}
	keep("payments", 2, 7, "the smaller of stored 7 and committed 8: already there")
	keep("payments", 3, 7, "the topic does not exist; left as it is")
	for p := range int32(2) {
		rows = append(rows, offsets.Change{
			Key: offsets.Key{Topic: "returns", Partition: p}, Side: offsets.Committed, Old: offsets.NoValue, New: offsets.NoValue, Verdict: offsets.Refuse,
			Reason: `stored: damaged: /var/lib/billing/offsets/billing/returns/gtoffset: line 3: "12x" is no offset`,
		})
	}
	plan := PlanView{Plan: offsets.Plan{Command: "reset", Origin: origin(), Groups: []offsets.PlanGroup{{Group: "billing", Changes: rows}}}}
	for _, w := range []int{0, 80} {
		var b bytes.Buffer
		if err := plan.Write(Stream{W: &b, Width: w}); err != nil {
			t.Fatal(err)
		}
		golden(t, fmt.Sprintf("plan-reset-%d.txt", w), b.String())
	}
	var b bytes.Buffer
	if err := (PlanView{Plan: clamped(offsets.Stored)}).Write(Stream{W: &b, Width: 80}); err != nil {
		t.Fatal(err)
	}
	golden(t, "plan-80.txt", b.String())
}
