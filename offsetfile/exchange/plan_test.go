package exchange_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile/exchange"
)

func aPlan() offsets.Plan {
	return offsets.Plan{
		ID: "20261129T120000Z-clamp-billing", Command: "clamp", Created: noon,
		Origin: offsets.Origin{Cluster: "MkU3OEVBNTcwNTJENDM2Qg", Bootstrap: "kafka1:9092", Source: "-b", Store: "/var/lib/billing/offsets"},
		Groups: []offsets.PlanGroup{{
			Group: "billing", Type: offsets.Consumer, State: "Empty", Notes: []string{"saved 3 h ago"},
			Changes: []offsets.Change{
				{Key: offsets.Key{Topic: "orders"}, Side: offsets.Stored, TopicID: "5Qx0", Condition: offsets.Low, Old: offsets.Value{Offset: 120, Epoch: offsets.None}, New: offsets.Value{Offset: 500, Epoch: offsets.None}, Target: offsets.ToEarliest, Verdict: offsets.Write, Reason: "low: 380 expired (120 to 499)", Clamped: true, Expired: 380},
				{Key: offsets.Key{Topic: "orders", Partition: 1}, Side: offsets.Stored, Condition: offsets.OK, Old: offsets.Value{Offset: 950, Epoch: offsets.None}, New: offsets.Value{Offset: 950, Epoch: offsets.None}, Target: offsets.Fixed, Verdict: offsets.Keep, Reason: "in range"},
				{Key: offsets.Key{Topic: "orders", Partition: 3}, Side: offsets.Stored, Condition: offsets.NoEntry, Old: offsets.NoValue, New: offsets.Value{Offset: 0, Epoch: offsets.None}, Target: offsets.ToEarliest, Verdict: offsets.Write, Reason: "first run"},
			},
		}},
	}
}

// A plan that is read is the plan that was written, whatever is in it.
func TestPlanIsLossless(t *testing.T) {
	name := hostile(rapid.OneOf(rapid.String(), anyBytes))
	text := hostile(rapid.String())
	side := rapid.SampledFrom([]offsets.Side{offsets.Stored, offsets.Committed})
	count := rapid.Int64Min(0)
	rapid.Check(t, func(t *rapid.T) {
		value := func(label string, side offsets.Side) offsets.Value {
			v := offsets.NoValue
			if rapid.Bool().Draw(t, label+" there") {
				v.Offset, v.Epoch = count.Draw(t, label), rapid.Int32Min(-1).Draw(t, label+" epoch")
				v.Metadata, v.TopicID, v.Cluster = name.Draw(t, label+" metadata"), text.Draw(t, label+" id"), text.Draw(t, label+" cluster")
			}
			return v
		}
		want := offsets.Plan{
			ID: text.Draw(t, "id"), Command: "import", From: name.Draw(t, "from"), Created: noon, Applied: rapid.Bool().Draw(t, "applied"),
			Origin: offsets.Origin{Cluster: "c", Bootstrap: "b", Source: "s", Store: text.Draw(t, "store")},
			Backup: text.Draw(t, "backup"), Undo: text.Draw(t, "undo"),
		}
		for _, group := range rapid.SliceOfNDistinct(name, 0, 3, rapid.ID[string]).Draw(t, "groups") {
			g := offsets.PlanGroup{
				Group: group, Type: rapid.SampledFrom([]offsets.GroupType{offsets.Classic, offsets.TypeUnknown}).Draw(t, "type"), State: text.Draw(t, "state"),
				Notes: rapid.SliceOfN(text, 0, 2).Draw(t, "notes"), Refusal: text.Draw(t, "refusal"), Choice: text.Draw(t, "choice"), Whole: rapid.Bool().Draw(t, "whole"),
				Live: rapid.Bool().Draw(t, "live"), Result: rapid.SampledFrom([]offsets.Result{"", offsets.Written, offsets.Failed}).Draw(t, "result"), Error: text.Draw(t, "error"),
			}
			for _, topic := range rapid.SliceOfNDistinct(name.Filter(func(s string) bool { return s != "" }), 0, 3, rapid.ID[string]).Draw(t, "topics") {
				c := offsets.Change{
					Key: offsets.Key{Topic: topic, Partition: rapid.Int32Min(0).Draw(t, "partition")}, Side: side.Draw(t, "side"), TopicID: text.Draw(t, "topic id"),
					Condition: rapid.SampledFrom([]offsets.Condition{"", offsets.OK, offsets.Low, offsets.High, offsets.NoEntry, offsets.Gone, offsets.Unknown}).Draw(t, "condition"),
					Target:    rapid.SampledFrom([]offsets.Target{"", offsets.Fixed, offsets.ToEarliest, offsets.ToEnd, offsets.Restored}).Draw(t, "target"),
					Verdict:   rapid.SampledFrom([]offsets.Verdict{offsets.Keep, offsets.Write, offsets.Ask, offsets.Refuse}).Draw(t, "verdict"),
					Result:    rapid.SampledFrom([]offsets.Result{"", offsets.NotTried, offsets.Written, offsets.Already, offsets.Failed, offsets.Unverified}).Draw(t, "result"),
					Reason:    text.Draw(t, "reason"), Choice: text.Draw(t, "choice"), Error: text.Draw(t, "error"),
					Clamped: rapid.Bool().Draw(t, "clamped"), Rewrite: rapid.Bool().Draw(t, "rewrite"), Verified: rapid.Bool().Draw(t, "verified"),
					Skips: rapid.Int64Range(0, 1<<50).Draw(t, "skips"), Repeats: rapid.Int64Range(0, 1<<50).Draw(t, "repeats"),
				}
				c.Old, c.New = value("old", c.Side), value("new", c.Side)
				if rapid.Bool().Draw(t, "compares") {
					beside := rapid.Int64Min(-1).Draw(t, "beside")
					c.Beside = &beside
				}
				if writes := c.Verdict == offsets.Write || c.Verdict == offsets.Ask; writes && (g.Whole || g.Live) {
					c.Side, c.New = offsets.Committed, offsets.NoValue
				}
				g.Changes = append(g.Changes, c)
			}
			want.Groups = append(want.Groups, g)
		}
		for _, f := range []exchange.Format{exchange.JSON, exchange.YAML} {
			text := write(t, exchange.PlanOf(want), f)
			got, err := parse(text, exchange.Options{})
			if err != nil {
				t.Fatalf("%v in %s", err, text)
			}
			order := cmpopts.SortSlices(func(a, b offsets.PlanGroup) bool { return a.Group < b.Group })
			if got.Kind != exchange.Plan || got.Format != f || len(got.Rows) > 0 {
				t.Fatalf("got %+v", got)
			}
			if diff := cmp.Diff(&want, got.Plan, cmpopts.EquateEmpty(), order); diff != "" {
				t.Fatalf("-want +got:\n%s\n%s", diff, text)
			}
		}
	})
}

func TestPlanRefuses(t *testing.T) {
	whole := write(t, exchange.PlanOf(aPlan()), exchange.JSON)
	for _, c := range []struct{ name, old, new, want string }{
		{"another verdict", `"verdict":"keep"`, `"verdict":"do"`, `groups[0].changes[1] (group "billing", topic "orders", partition 1): verdict is "do", which is not known here`},
		{"another target", `"target":"offset"`, `"target":"x"`, `target is "x"`},
		{"another side", `"side":"stored"`, `"side":"x"`, `side is "x"`},
		{"negative", `"offset":500`, `"offset":-1`, `new offset -1 is negative`},
		{"no new", `"new":{"offset":500,"epoch":null,"metadata":null},`, ``, `new is missing`},
		{"no offset", `"old":{"offset":120,`, `"old":{`, `old offset is missing`},
		{"twice", `"partition":1`, `"partition":0`, `topic "orders", partition 0, stored twice, first in line 1, column`},
		{"a key twice", `"offset":500`, `"offset":500,"offset":501`, `key "offset" twice, and not the same; first in line 1`},
		{"internal", `"topic":"orders"`, `"topic":"__consumer_offsets"`, "internal to Kafka"},
		{"no time", noon.Format("2006-01-02T15:04:05.000Z07:00"), "", "created is missing"},
		{"no partition", `"partition":1,`, ``, "partition is missing"},
		{"no topic", `"topic":"orders",`, ``, "topic is missing"},
		{"a flag", `"clamped":true`, `"clamped":1`, "clamped is a number, not true or false"},
		{"no changes", `"changes"`, `"canges"`, "changes are missing"},
		{"no groups", `"groups"`, `"grups"`, "groups are missing"},
		{"what decided", `"target":"earliest"`, `"beside":"x","target":"earliest"`, `beside "x" is not a whole number`},
		{"out of range", `"target":"earliest"`, `"target":"backup"`, `changes[0] (group "billing", topic "orders", partition 0): target is "backup", which only import plans, and this is of "clamp"`},
		{"the whole group", `"changes":`, `"whole":true,"changes":`, `side is stored in a group that is whole or live, of which only commits are removed`},
		{"the whole group, and a number", `"changes":[{"topic":"orders","topic_id":"5Qx0","partition":0,"side":"stored"`, `"whole":true,"changes":[{"topic":"orders","topic_id":"5Qx0","partition":0,"side":"committed"`, `new offset is 500 in a group that is whole or live, of which commits are only removed`},
		{"members may be in it", `"changes":`, `"live":true,"changes":`, `side is stored in a group that is whole or live`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(whole, c.old, c.new, 1)
			if text == whole {
				t.Fatalf("%q is not in %s", c.old, whole)
			}
			_, err := parse(text, exchange.Options{})
			var m *exchange.MalformedError
			if !errors.As(err, &m) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// The plans that package output draws in its tests are read, and written as they were.
func TestPlansOfOutput(t *testing.T) {
	for name, f := range map[string]exchange.Format{"clamp.json": exchange.JSON, "mixed.json": exchange.JSON, "clamp.yaml": exchange.YAML} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := parse(string(b), exchange.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(string(b), write(t, d, f)); diff != "" {
			t.Errorf("%s (-was +is):\n%s", name, diff)
		}
	}
}

// A document of ours that ends within a row is damaged: a cut number is never taken.
func TestCutDocuments(t *testing.T) {
	doc := exchange.Document{
		Kind: exchange.Export, Side: offsets.Committed, Groups: []exchange.Group{{Name: "billing", Type: offsets.Consumer}},
		Rows: []exchange.Row{{Given: offsets.Given{Group: "billing", Key: offsets.Key{Topic: "orders"}, Value: offsets.Value{Offset: 190, Epoch: 4, Metadata: "m"}}, Side: offsets.Committed, Written: offsets.None}},
	}
	for _, d := range []exchange.Document{doc, exchange.PlanOf(aPlan())} {
		for _, f := range []exchange.Format{exchange.JSON, exchange.YAML, exchange.CSV} {
			if f == exchange.CSV && d.Kind == exchange.Plan {
				continue
			}
			text := write(t, d, f)
			end := len(strings.TrimRight(text, "\n")) // JSON ends with its bracket
			if f != exchange.JSON {
				end = len(text)
			}
			for n := 1; n < end; n++ {
				got, err := parse(text[:n], exchange.Options{As: f})
				if err == nil && (len(got.Rows) > 0 && got.Rows[0].Value.Offset != 190 || got.Plan != nil && !strings.Contains(text[:n], "counts:")) {
					t.Errorf("%s cut after %d of %d is taken: %q", f, n, len(text), text[max(0, n-40):n])
					break
				}
			}
		}
	}
}
