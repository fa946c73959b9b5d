package output

import (
	"bytes"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gtoffset/kafkaops/offsets"
)

func backup() Offsets {
	doc := BackupOf(clamped(offsets.Stored).Settle(true))
	doc.Tool, doc.User, doc.Host, doc.Why, doc.Command = "gtoffset 0.1.0", "ops", "ops1", "after the outage", "gtoffset clamp -g billing --execute"
	return doc
}

func TestOffsetsDocument(t *testing.T) {
	export := Offsets{Kind: Export, Side: offsets.Committed, Taken: noon, Tool: "gtoffset 0.1.0", Origin: offsets.Origin{Cluster: "MkU3OEVBNTcwNTJENDM2Qg", Bootstrap: "kafka1:9092", Source: "-b"},
		Groups: []offsets.BackupGroup{{Group: "a,\"b\"\n=1+\u202e\xff", Type: offsets.Consumer, Rows: []offsets.BackupRow{
			{Key: offsets.Key{Topic: "orders"}, Side: offsets.Committed, TopicID: "5Qx0aaaaaaaaaaaaaaaaaA", Old: offsets.Value{Offset: math.MaxInt64, Epoch: 4, Metadata: "m\xfe"}},
			{Key: offsets.Key{Topic: "orders", Partition: 1}, Side: offsets.Committed, Old: offsets.NoValue, Written: offsets.Value{}},
		}}}}
	golden(t, "export.json", drawn(t, export, Stream{}, JSON))
	golden(t, "export.yaml", drawn(t, export, Stream{}, YAML))
	golden(t, "export.csv", drawn(t, export, Stream{}, CSV))
	golden(t, "backup.json", drawn(t, backup(), Stream{}, JSON))
}

// What is written is what is read, to the last byte of a name and the last digit of an offset.
func TestOffsetsRoundTrip(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	value := rapid.Custom(func(t *rapid.T) offsets.Value {
		if rapid.Bool().Draw(t, "none") {
			return offsets.NoValue
		}
		return offsets.Value{Offset: rapid.Int64Min(0).Draw(t, "offset"), Epoch: rapid.Int32Min(-1).Draw(t, "epoch"), Metadata: text.Draw(t, "metadata")}
	})
	rapid.Check(t, func(t *rapid.T) {
		want := Offsets{Kind: rapid.SampledFrom([]Kind{Export, Backup}).Draw(t, "kind"), Taken: noon, Tool: "x", Origin: origin()}
		for _, g := range rapid.SliceOfDistinct(text, func(s string) string { return s }).Draw(t, "groups") {
			bg := offsets.BackupGroup{Group: g, Type: offsets.Consumer}
			for _, topic := range rapid.SliceOfDistinct(text.Filter(func(s string) bool { return s != "" }), func(s string) string { return s }).Draw(t, "topics") {
				r := offsets.BackupRow{Key: offsets.Key{Topic: topic, Partition: rapid.Int32Min(0).Draw(t, "p")}, Side: offsets.Stored, Old: value.Draw(t, "old"), Written: offsets.NoValue}
				if want.Kind == Backup {
					r.Written.Offset = value.Draw(t, "written").Offset
				}
				bg.Rows = append(bg.Rows, r)
			}
			want.Groups = append(want.Groups, bg)
		}
		var first, second bytes.Buffer
		if err := want.Write(Plain(&first), JSON); err != nil {
			t.Fatal(err)
		}
		got, err := ReadOffsets(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("%v in %s", err, first.String())
		}
		rows := map[string]int{}
		for _, g := range want.Groups {
			rows[g.Group] = len(g.Rows)
		}
		for _, g := range got.Groups {
			if n, there := rows[g.Group]; !there || n != len(g.Rows) {
				t.Fatalf("group %q: %d rows, want %d (%v)", g.Group, len(g.Rows), n, there)
			}
		}
		// sorted once, reading and writing are each other's inverse
		if err := got.Write(Plain(&second), JSON); err != nil {
			t.Fatal(err)
		}
		again, err := ReadOffsets(&second)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Fatal(diff)
		}
		for _, g := range want.Groups {
			for _, w := range g.Rows {
				found := false
				for _, h := range got.Groups {
					for _, r := range h.Rows {
						found = found || h.Group == g.Group && r == w
					}
				}
				if !found {
					t.Fatalf("lost %+v of group %q in %s", w, g.Group, first.String())
				}
			}
		}
	})
}

func TestReadOffsetsRefuses(t *testing.T) {
	good := drawn(t, backup(), Stream{}, JSON)
	swap := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%q is not in %s", old, good)
		}
		return strings.Replace(good, old, new, 1)
	}
	for _, c := range []struct{ name, doc, want string }{
		{"empty", "", "it is empty"},
		{"cut short", good[:len(good)/2], "line 1, column"},
		{"something behind", good + "{}", "line 2, column 1: invalid character"},
		{"no object", "[]", "want"},
		{"no schema", `{"groups":[]}`, "no schema"},
		{"another schema", swap("gtoffset.offsets/1", "gtoffset.offsets/2"), `schema is "gtoffset.offsets/2", want "gtoffset.offsets/1"`},
		{"a plan", swap("gtoffset.offsets/1", "gtoffset.plan/1"), `schema is "gtoffset.plan/1"`},
		{"another kind", swap(`"kind":"backup"`, `"kind":"x"`), `kind is "x"`},
		{"another side", swap(`"side":"stored"`, `"side":"x"`), `side is "x"`},
		{"negative", swap(`"offset":120`, `"offset":-1`), `groups[0].partitions[0] (group "billing", topic "orders", partition 0): offset -1 is negative`},
		{"a fraction", swap(`"offset":120`, `"offset":120.5`), "offset 120.5 is not a whole number"},
		{"a string", swap(`"offset":120`, `"offset":"120"`), "is not a whole number"},
		{"too large", swap(`"offset":120`, `"offset":9223372036854775808`), "offset 9223372036854775808 does not fit into 64 bits"},
		{"a field twice", swap(`"offset":120`, `"offset":120,"Offset":5`), `"offset" stands there twice`},
		{"a field twice, late", swap(`"written":0`, `"written":0,"later":[[{"a":[{}],"b":{}}]],"written":5`), `"written" stands there twice`},
		{"no offset", swap(`"offset":120,`, ``), "offset is missing"},
		{"no written", swap(`,"written":500`, ``), "written is missing"},
		{"no partition", swap(`"partition":0,`, ``), "partition is missing"},
		{"no topic", swap(`"topic":"orders",`, ``), "topic is missing"},
		{"no group", swap(`"group":"billing",`, ``), "groups[0]: group is missing"},
		{"no groups", swap(`"groups":`, `"grupps":`), "groups are missing"},
		{"twice", swap(`"partition":2`, `"partition":0`), `topic "orders", partition 0 is named twice (120 and 1700)`},
		{"two sides", swap(`"partition":0,"side":"stored"`, `"partition":0,"side":"committed"`), "side is committed in a document of the stored side"},
		{"type of partition", swap(`"partition":0`, `"partition":"0"`), "line 1, column"},
		{"utf-16", "\xff\xfe{\x00", "UTF-16"},
		{"latin-1", swap("billing", "b\xefl"), "not UTF-8"},
		{"bad base64", swap(`"group":"billing"`, `"group":"b","group_base64":"%"`), "group_base64"},
		{"bad time", swap(`2026-11-29T12:00:00.123Z`, `yesterday`), "not a time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadOffsets(strings.NewReader(c.doc))
			var de DocumentError
			if !errors.As(err, &de) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	for _, c := range []struct{ name, doc string }{
		{"byte-order mark", "\xef\xbb\xbf" + good},
		{"CRLF and no final newline", strings.TrimSuffix(strings.ReplaceAll(good, ",", ",\r\n"), "\n")},
		{"a field of a later version", swap(`"kind"`, `"later":[1],"kind"`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ReadOffsets(strings.NewReader(c.doc))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(backup().Groups, got.Groups); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzReadOffsets(f *testing.F) {
	for _, name := range []string{"backup.json", "export.json"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		doc, err := ReadOffsets(bytes.NewReader(b))
		if err != nil {
			return
		}
		for _, g := range doc.Groups {
			for _, r := range g.Rows {
				if r.Old.Offset < offsets.None || r.Written.Offset < offsets.None || r.Partition < 0 {
					t.Fatalf("%+v", r)
				}
			}
		}
		var out bytes.Buffer
		if err := doc.Write(Plain(&out), JSON); err != nil {
			t.Fatal(err)
		}
		again, err := ReadOffsets(&out)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(doc.Groups, again.Groups); diff != "" {
			t.Fatal(diff)
		}
	})
}
