package exchange_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile/exchange"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

type tester interface {
	Helper()
	Fatalf(string, ...any)
}

func write(t tester, d exchange.Document, f exchange.Format) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.Write(&b, f, exchange.WriteOptions{}); err != nil {
		t.Fatalf("write as %s: %v", f, err)
	}
	return b.String()
}

// example has what is hard in names, and a null.
func example() exchange.Document {
	return exchange.Document{
		Kind: exchange.Export, Side: offsets.Committed, Taken: noon, Tool: "gtoffset 0.1.0",
		Origin: offsets.Origin{Cluster: "MkU3OEVBNTcwNTJENDM2Qg", Bootstrap: "kafka1:9092", Source: "-b"},
		Groups: []exchange.Group{{Name: "a,\"b\"\n=1+\u202e😀", Type: offsets.Consumer}, {Name: "idle", Type: offsets.Classic}},
		Rows: []exchange.Row{
			{Given: offsets.Given{Group: "a,\"b\"\n=1+\u202e😀", Key: offsets.Key{Topic: "orders"}, TopicID: "5Qx0aaaaaaaaaaaaaaaaaA", Value: offsets.Value{Offset: math.MaxInt64, Epoch: 4, Metadata: "-"}}, Side: offsets.Committed, Written: offsets.None},
			{Given: offsets.Given{Group: "a,\"b\"\n=1+\u202e😀", Key: offsets.Key{Topic: "orders", Partition: 1}, Value: offsets.NoValue}, Side: offsets.Committed, Written: offsets.None},
		},
	}
}

// plain is what every format can hold most of.
func plain() exchange.Document {
	d := exchange.Document{Kind: exchange.Export, Side: offsets.Committed, Groups: []exchange.Group{{Name: "billing", Type: offsets.Consumer}}}
	for i, topic := range []string{"a-topic-with-a-very-long-name", "orders", "orders"} {
		d.Rows = append(d.Rows, exchange.Row{
			Given: offsets.Given{Group: "billing", Key: offsets.Key{Topic: topic, Partition: int32(i)}, Value: offsets.Value{Offset: int64(i) * 5_000_000_001, Epoch: offsets.None}},
			Side:  offsets.Committed, Written: offsets.None,
		})
	}
	return d
}

func backup() exchange.Document {
	d := exchange.BackupOf(aPlan())
	d.Tool, d.User, d.Host, d.Why, d.Command = "gtoffset 0.1.0", "ops", "ops1", "after the outage", "gtoffset clamp -g billing --execute"
	return d
}

func TestGoldens(t *testing.T) {
	golden(t, "export.json", write(t, example(), exchange.JSON))
	golden(t, "export.yaml", write(t, example(), exchange.YAML))
	golden(t, "export.csv", write(t, example(), exchange.CSV))
	golden(t, "backup.json", write(t, backup(), exchange.JSON))
	golden(t, "plan.json", write(t, exchange.PlanOf(aPlan()), exchange.JSON))
	golden(t, "plan.yaml", write(t, exchange.PlanOf(aPlan()), exchange.YAML))
	golden(t, "kafka.csv", write(t, plain(), exchange.KafkaCSV))
	golden(t, "spark.json", write(t, plain(), exchange.Spark))
	one := plain()
	one.Rows, one.Taken, one.Origin.Cluster = one.Rows[1:], noon, "MkU3OEVBNTcwNTJENDM2Qg"
	golden(t, "gtoffset", write(t, one, exchange.File))
	var four bytes.Buffer
	if err := plain().Write(&four, exchange.KafkaCSV, exchange.WriteOptions{GroupColumn: true}); err != nil {
		t.Fatal(err)
	}
	golden(t, "kafka-groups.csv", four.String())
}

// hostile is names of every kind: what the broker accepts, and what looks like a format, a number, a marker or an escape.
func hostile(text *rapid.Generator[string]) *rapid.Generator[string] {
	return rapid.OneOf(text, rapid.SampledFrom([]string{
		"a b", "a+b", "a&b", "a#b", `a"b`, "a,b", "a\nb", "a\r\nb", "a\rb", "😀", "a:b", "a@b", "a%3Ab", "team/job:forward", "a.b", "a_b", "DATA", "data",
		"-", "--", "0", "007", "null", "true", "yes", "~", "1e3", "0x10", "2026-11-29", " a", "a ", "\ta", "\ufeffa", "{a", "[a", "# gtoffset 1", "#", "schema: gtoffset.offsets/1",
		"group", "topic", `\u0041`, `"`, `""`, "'", ",", "=1+1", "\u2028", "\u0085", "\u00a0", "\x00", "\x7f", "\u202e", "…", strings.Repeat("x", 25), strings.Repeat("ä", 24),
		"__consumer_offset", "v1", "<<", "&a", "*a", "!!str", "%YAML", "---", "...", "- a", "? a", "a: b", "a #b", "\\",
	}))
}

var anyBytes = rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })

// documents draws an export that is sorted.
func documents(names *rapid.Generator[string], topics *rapid.Generator[string], metadata bool) *rapid.Generator[exchange.Document] {
	names = hostile(names)
	topics = hostile(topics).Filter(func(s string) bool { return s != "" })
	return rapid.Custom(func(t *rapid.T) exchange.Document {
		d := exchange.Document{Kind: exchange.Export, Side: rapid.SampledFrom([]offsets.Side{offsets.Stored, offsets.Committed}).Draw(t, "side")}
		for _, g := range rapid.SliceOfNDistinct(names, 0, 4, rapid.ID[string]).Draw(t, "groups") {
			d.Groups = append(d.Groups, exchange.Group{Name: g, Type: rapid.SampledFrom([]offsets.GroupType{offsets.Consumer, offsets.TypeUnknown}).Draw(t, "type")})
			for _, topic := range rapid.SliceOfNDistinct(topics, 0, 4, rapid.ID[string]).Draw(t, "topics") {
				for _, p := range rapid.SliceOfNDistinct(rapid.Int32Min(0), 1, 3, rapid.ID[int32]).Draw(t, "partitions") {
					r := exchange.Row{Given: offsets.Given{Group: g, Key: offsets.Key{Topic: topic, Partition: p}, Value: offsets.NoValue}, Side: d.Side, Written: offsets.None}
					if rapid.IntRange(0, 9).Draw(t, "none") > 0 {
						r.Offset = rapid.OneOf(rapid.Int64Min(0), rapid.SampledFrom([]int64{0, 1<<31 - 1, 1 << 31, math.MaxInt64})).Draw(t, "offset")
						r.Epoch = rapid.Int32Min(-1).Draw(t, "epoch")
						if metadata {
							r.Metadata = names.Draw(t, "metadata")
						}
					}
					d.Rows = append(d.Rows, r)
				}
			}
		}
		return d.Sorted()
	})
}

// same compares documents but for what reading adds.
func same(t *rapid.T, text string, want, got exchange.Document) {
	t.Helper()
	opts := []cmp.Option{cmpopts.IgnoreFields(exchange.Document{}, "Format"), cmpopts.IgnoreFields(offsets.Given{}, "Line"), cmpopts.EquateEmpty()}
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Fatalf("-want +got:\n%s\n%q", diff, text)
	}
}

// JSON and YAML hold everything, to the last byte of a name.
func TestTreesHoldAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := documents(rapid.OneOf(rapid.String(), anyBytes), rapid.OneOf(rapid.String(), anyBytes), true).Draw(t, "document")
		want.Taken, want.Tool = noon, "x"
		want.Origin = offsets.Origin{Cluster: "c", Bootstrap: "b:1", Source: "-b", Store: "/s"}
		if rapid.Bool().Draw(t, "backup") {
			want.Kind, want.ID, want.Command, want.Why, want.User, want.Host = exchange.Backup, "id", "gtoffset x", "why\n", "u", "h"
			for i := range want.Rows {
				if want.Rows[i].Offset != offsets.None {
					want.Rows[i].Value.TopicID, want.Rows[i].Cluster = rapid.SampledFrom([]string{"", "old"}).Draw(t, "recorded"), "c"
				}
				want.Rows[i].Written = rapid.Int64Min(-1).Draw(t, "written")
			}
		}
		if rapid.Bool().Draw(t, "both sides") {
			want.Side = ""
		}
		for _, f := range []exchange.Format{exchange.JSON, exchange.YAML} {
			text := write(t, want, f)
			got, err := parse(text, exchange.Options{})
			if err != nil {
				t.Fatalf("%v in %s", err, text)
			}
			if got.Format != f {
				t.Fatalf("format %s, want %s", got.Format, f)
			}
			same(t, text, want, got)
			if again := write(t, got, f); again != text {
				t.Fatalf("written again:\n%s\nwas\n%s", again, text)
			}
		}
	})
}

// at is a row of the commits.
func at(group, topic string, partition int32, offset int64) exchange.Row {
	return exchange.Row{
		Given: offsets.Given{Group: group, Key: offsets.Key{Topic: topic, Partition: partition}, Value: offsets.Value{Offset: offset, Epoch: offsets.None}},
		Side:  offsets.Committed, Written: offsets.None,
	}
}

// of is the export of these rows, changed.
func of(change func(*exchange.Document), rows ...exchange.Row) exchange.Document {
	d := exchange.Document{Kind: exchange.Export, Rows: rows}
	sides := map[offsets.Side]bool{}
	for _, r := range rows {
		sides[r.Side] = true
		if !slices.ContainsFunc(d.Groups, func(g exchange.Group) bool { return g.Name == r.Group }) {
			d.Groups = append(d.Groups, exchange.Group{Name: r.Group, Type: offsets.TypeUnknown})
		}
	}
	if len(sides) == 1 {
		d.Side = rows[0].Side
	}
	if change != nil {
		change(&d)
	}
	return d.Sorted()
}

// exports are what is hard to write, each for one reason.
func exports() map[string]exchange.Document {
	one := at("billing", "orders", 0, 700)
	all := map[string]exchange.Document{
		"nothing":                               of(nil),
		"the first offset":                      of(nil, at("billing", "orders", 0, 0)),
		"the last offset of the last partition": of(nil, at("billing", "orders", math.MaxInt32, math.MaxInt64)),
		"a partition without an offset":         of(nil, one, at("billing", "orders", 1, offsets.None)),
		"a topic without an offset":             of(nil, one, at("billing", "shipments", 0, offsets.None)),
		"no offset":                             of(nil, at("billing", "orders", 0, offsets.None), at("billing", "orders", 1, offsets.None)),
		"two topics":                            of(nil, one, at("billing", "shipments", 0, 600)),
		"two groups of a partition":             of(nil, one, at("shipping", "orders", 0, 600)),
		"two groups at the same offset":         of(nil, one, at("shipping", "orders", 0, 700)),
		"two groups of other partitions":        of(nil, one, at("shipping", "orders", 1, 600)),
		"two groups of other topics":            of(nil, one, at("shipping", "shipments", 0, 600)),
		"two groups, one without an offset":     of(nil, one, at("shipping", "orders", 0, offsets.None)),
		"both sides of a partition":             of(func(d *exchange.Document) { d.Rows[1].Side, d.Side = offsets.Stored, "" }, one, at("billing", "orders", 0, 600)),
		"one side each":                         of(func(d *exchange.Document) { d.Rows[1].Side, d.Side = offsets.Stored, "" }, one, at("billing", "orders", 1, 600)),
		"a leader epoch":                        of(func(d *exchange.Document) { d.Rows[0].Epoch = 4 }, one),
		"metadata":                              of(func(d *exchange.Document) { d.Rows[0].Metadata = "a note" }, one),
		"a topic id":                            of(func(d *exchange.Document) { d.Rows[0].TopicID = "5Qx0aaaaaaaaaaaaaaaaaA" }, one),
		"a cluster":                             of(func(d *exchange.Document) { d.Origin.Cluster = "MkU3OEVBNTcwNTJENDM2Qg" }, one),
		"a time":                                of(func(d *exchange.Document) { d.Taken = noon }, one),
		"a type of group":                       of(func(d *exchange.Document) { d.Groups[0].Type = offsets.Consumer }, one),
		"a group without a partition": of(func(d *exchange.Document) {
			d.Groups = append(d.Groups, exchange.Group{Name: "idle", Type: offsets.TypeUnknown})
		}, one),
	}
	all[`group "{a"`] = of(nil, at("{a", "orders", 0, 700)) // no topic is named so
	for _, name := range []string{
		"a b", " a", "a,b", "a:b", "a;b", "a=b", "a\tb", "a\nb", "a\rb", `a"b`, "a'b", `a\b`, "#a", "-", "0", "007", "null", "true", "=1+1", "ä",
		"\u2028", strings.Repeat("x", 25), "a\xffb",
	} {
		all[fmt.Sprintf("group %q", name)] = of(nil, at(name, "orders", 0, 700))
		all[fmt.Sprintf("topic %q", name)] = of(nil, at("billing", name, 0, 700), at("billing", name, 1, 600))
		all[fmt.Sprintf("metadata %q", name)] = of(func(d *exchange.Document) { d.Rows[0].Metadata = name }, one)
	}
	return all
}

// Every format that is written passes this, one that is added to formats, too: what it has no place for is left out, and said.
func TestWhatAFormatOwes(t *testing.T) {
	for _, f := range exchange.Writable() {
		t.Run(string(f), func(t *testing.T) {
			for name, d := range exports() {
				t.Run(name, func(t *testing.T) {
					for _, o := range []exchange.WriteOptions{{}, {GroupColumn: true}} {
						owes(t, d, f, o)
					}
				})
			}
		})
	}
}

// The same, of documents that are drawn.
func TestFormatsHoldWhatTheySay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(exchange.Writable()).Draw(t, "format")
		d := documents(rapid.String(), rapid.String(), true).Draw(t, "document")
		if rapid.Bool().Draw(t, "origin") {
			d.Taken, d.Origin.Cluster = noon, "c d"
		}
		if few := rapid.IntRange(0, 2).Draw(t, "few"); few > 0 && len(d.Rows) > 0 { // formats that hold one group, and one topic
			first := d.Rows[0]
			d.Groups = slices.DeleteFunc(d.Groups, func(g exchange.Group) bool { return g.Name != first.Group })
			d.Rows = slices.DeleteFunc(d.Rows, func(r exchange.Row) bool { return r.Group != first.Group || few == 2 && r.Topic != first.Topic })
		}
		if f == exchange.KafkaCSV { // no topic begins like JSON: brokers take letters, digits, dots, underscores and dashes only
			d.Rows = slices.DeleteFunc(d.Rows, func(r exchange.Row) bool { return strings.ContainsAny(r.Topic, `{}[]":,`) })
		}
		owes(t, d, f, exchange.WriteOptions{GroupColumn: rapid.Bool().Draw(t, "group column")})
	})
}

// owes holds a format to its word: it refuses a document and writes nothing of it, or what it wrote is read as what was given to it,
// but for what Losses tells.
func owes(t tester, d exchange.Document, f exchange.Format, o exchange.WriteOptions) {
	t.Helper()
	var b bytes.Buffer
	err := d.Write(&b, f, o)
	if cannot := new(exchange.CannotHoldError); errors.As(err, &cannot) {
		if b.Len() > 0 {
			t.Fatalf("half of it was written: %q", b.String())
		}
		return
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	got, err := parse(b.String(), exchange.Options{})
	if missing := new(exchange.MissingError); errors.As(err, &missing) && missing.What == exchange.MissingGroup {
		if len(d.Groups) > 1 {
			t.Fatalf("%d groups in a format that names none: %q", len(d.Groups), b.String())
		}
		d = inGroup(d, "g")
		got, err = parse(b.String(), exchange.Options{Group: "g"})
	}
	if err != nil {
		t.Fatalf("%v in %q", err, b.String())
	}
	if got.Format != f {
		t.Fatalf("it is read as %s: %q", got.Format, b.String())
	}
	lost := d.Losses(f)
	told := func(of string) bool {
		return slices.ContainsFunc(lost, func(s string) bool { return strings.Contains(s, of) })
	}
	same := func(what string, want, got, none any, of string) {
		if got != want && (got != none || !told(of)) {
			t.Fatalf("%s is %v, want %v; told is %q, of %q", what, got, want, lost, b.String())
		}
	}
	same("the cluster", d.Origin.Cluster, got.Origin.Cluster, "", "the cluster id")
	same("the time", d.Taken, got.Taken, time.Time{}, "the time")
	rows := map[exchange.Row]exchange.Row{} // by where they are
	for _, r := range got.Rows {
		if r.Side == "" { // one that was written holds no other
			r.Side = d.Side
		}
		rows[place(r)] = r
	}
	for _, r := range d.Rows {
		is, found := rows[place(r)]
		delete(rows, place(r))
		if !found {
			same(fmt.Sprintf("the offset of %+v", place(r)), r.Offset, int64(offsets.None), int64(offsets.None), "without an offset")
			continue
		}
		same("the offset", r.Offset, is.Offset, r.Offset, "")
		same("the leader epoch", r.Epoch, is.Epoch, int32(offsets.None), "the leader epoch")
		same("the metadata", r.Metadata, is.Metadata, "", "the metadata")
		same("the topic id", r.TopicID, is.TopicID, "", "the topic id")
	}
	if len(rows) > 0 {
		t.Fatalf("nobody gave %+v: %q", rows, b.String())
	}
	for _, g := range d.Groups {
		is := slices.IndexFunc(got.Groups, func(o exchange.Group) bool { return o.Name == g.Name })
		if is < 0 {
			same(fmt.Sprintf("group %q", g.Name), "there", "not there", "not there", "without an offset")
			continue
		}
		same("the kind of group", g.Type, got.Groups[is].Type, offsets.TypeUnknown, "the type of")
	}
}

// place is a row's group, topic, partition and side alone.
func place(r exchange.Row) exchange.Row {
	return exchange.Row{Given: offsets.Given{Group: r.Group, Key: r.Key}, Side: r.Side}
}

// inGroup is the document under another name of its only group.
func inGroup(d exchange.Document, name string) exchange.Document {
	d.Groups, d.Rows = slices.Clone(d.Groups), slices.Clone(d.Rows)
	for i := range d.Groups {
		d.Groups[i].Name = name
	}
	for i := range d.Rows {
		d.Rows[i].Group = name
	}
	return d
}

func TestCannotHold(t *testing.T) {
	two := plain()
	two.Groups = append(two.Groups, exchange.Group{Name: "other"})
	both := plain()
	both.Side = ""
	both.Rows = append(both.Rows, both.Rows[2])
	both.Rows[3].Side = offsets.Stored
	feed := plain()
	feed.Groups[0].Name = "a\nb"
	for i := range feed.Rows {
		feed.Rows[i].Group = "a\nb"
	}
	bytesOnly := plain()
	bytesOnly.Rows[0].Topic = "a\xff"
	sideless := plain()
	sideless.Side = ""
	for i := range sideless.Rows {
		sideless.Rows[i].Side = ""
	}
	for _, c := range []struct {
		name string
		d    exchange.Document
		f    exchange.Format
		o    exchange.WriteOptions
		want string
	}{
		{"groups in spark", two, exchange.Spark, exchange.WriteOptions{}, "more than one group, and there are 2"},
		{"groups in a file", two, exchange.File, exchange.WriteOptions{}, "more than one group"},
		{"topics in a file", plain(), exchange.File, exchange.WriteOptions{}, "more than one topic"},
		{"both sides in csv", both, exchange.CSV, exchange.WriteOptions{}, "both sides"},
		{"both sides in kafka-csv", both, exchange.KafkaCSV, exchange.WriteOptions{}, "both sides"},
		{"both sides in spark", both, exchange.Spark, exchange.WriteOptions{}, "both sides"},
		{"a backup in csv", backup(), exchange.CSV, exchange.WriteOptions{}, "a backup"},
		{"a plan in csv", exchange.PlanOf(aPlan()), exchange.CSV, exchange.WriteOptions{}, "a plan"},
		{"a line feed in kafka-csv", feed, exchange.KafkaCSV, exchange.WriteOptions{GroupColumn: true}, "Kafka's tool reads line by line"},
		{"nothing in kafka-csv", exchange.Document{Kind: exchange.Export}, exchange.KafkaCSV, exchange.WriteOptions{}, "nothing"},
		{"nothing in spark", exchange.Document{Kind: exchange.Export}, exchange.Spark, exchange.WriteOptions{}, "nothing"},
		{"nothing in a file", exchange.Document{Kind: exchange.Export}, exchange.File, exchange.WriteOptions{}, "nothing"},
		{"bytes in csv", bytesOnly, exchange.CSV, exchange.WriteOptions{}, "not UTF-8"},
		{"bytes in spark", bytesOnly, exchange.Spark, exchange.WriteOptions{}, "not UTF-8"},
		{"no side in json", sideless, exchange.JSON, exchange.WriteOptions{}, "the side is not known"},
		{"rpk", plain(), exchange.RPK, exchange.WriteOptions{}, "it can be read only"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			err := c.d.Write(&b, c.f, c.o)
			var cannot *exchange.CannotHoldError
			if !errors.As(err, &cannot) || !strings.Contains(err.Error(), c.want) || b.Len() > 0 {
				t.Errorf("got %v and %q, want %q", err, b.String(), c.want)
			}
		})
	}
	if got := example().Losses(exchange.KafkaCSV); !cmp.Equal(got, []string{
		"1 partition without an offset", "the metadata of 1 commit",
		"the leader epoch of 1 commit", "the topic id of 1 partition", "the cluster id", "the time", "the type of 2 groups", "1 group without an offset",
	}) {
		t.Errorf("%q", got)
	}
	if got := example().Losses(exchange.JSON); got != nil {
		t.Errorf("%q", got)
	}
}

// What can be written can be read under the same name.
func TestWritable(t *testing.T) {
	one := plain()
	one.Rows = one.Rows[1:]
	for _, f := range exchange.Writable() {
		d, err := parse(write(t, one, f), exchange.Options{Group: "billing"})
		if err != nil || d.Format != f || len(d.Rows) != len(one.Rows) || !slices.Contains(exchange.Formats(), f) {
			t.Errorf("%s: read as %q, %v", f, d.Format, err)
		}
		if f.Words() == string(f) {
			t.Errorf("%s has no words", f)
		}
	}
}

func TestReadFrom(t *testing.T) {
	d, err := exchange.ReadFrom(strings.NewReader(write(t, plain(), exchange.JSON)), exchange.Options{})
	if err != nil || len(d.Given(offsets.Committed)) != 3 || len(d.Given(offsets.Stored)) != 0 {
		t.Errorf("got %+v, %v", d, err)
	}
	broken := errors.New("broken pipe")
	if _, err := exchange.ReadFrom(io.MultiReader(strings.NewReader("{"), errReader{broken}), exchange.Options{}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type errReader struct{ err error }

func (e errReader) Read([]byte) (int, error) { return 0, e.err }

// FuzzRead reads documents of every format, and what was read is written and read again as JSON and YAML.
func FuzzRead(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range append(paths, "testdata/gtoffset") {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "")
	}
	for _, s := range []string{"orders 0 1\n", "orders 0 1 2\n", `{"groupid":"a","offsets":{"o":{"0":1}}}`, `[{"topic":"t","partition":1,"offset":5}]`, "0 1 2\n", "v1\n{}\n{}", "a,\"b\r\n\",0,1\r"} {
		f.Add([]byte(s), "")
	}
	for _, format := range exchange.Formats() {
		f.Add([]byte("- a: [1, {b: c}]\n  \"d\": 'e'\n"), string(format))
	}
	f.Fuzz(func(t *testing.T, b []byte, as string) {
		began := time.Now()
		d, err := parse(string(b), exchange.Options{As: exchange.Format(as), Group: "g", Topic: "t", Take: exchange.From})
		if took := time.Since(began); took > 10*time.Second {
			t.Fatalf("%d bytes took %v", len(b), took)
		}
		if err != nil {
			if len(err.Error()) > 64<<10+100*len(b) {
				t.Fatalf("a message of %d bytes", len(err.Error()))
			}
			return
		}
		for i, r := range d.Rows {
			if r.Offset < offsets.None || r.Written < offsets.None || r.Partition < 0 || r.Topic == "" || r.Epoch < offsets.None {
				t.Fatalf("%+v", r)
			}
			if i > 0 && d.Rows[i-1].Group == r.Group && d.Rows[i-1].Key == r.Key && d.Rows[i-1].Side == r.Side {
				t.Fatalf("%+v twice", r)
			}
			if r.Side == "" {
				d.Rows[i].Side = offsets.Committed
			}
		}
		for _, f := range []exchange.Format{exchange.JSON, exchange.YAML} {
			var out bytes.Buffer
			if err := d.Write(&out, f, exchange.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			again, err := parse(out.String(), exchange.Options{})
			if err != nil {
				t.Fatalf("%v in %s", err, out.String())
			}
			for i := range d.Rows {
				d.Rows[i].Line = again.Rows[i].Line
			}
			if diff := cmp.Diff(d.Rows, again.Rows, cmpopts.EquateEmpty()); diff != "" {
				t.Fatal(diff)
			}
			if diff := cmp.Diff(d.Plan, again.Plan, cmpopts.EquateEmpty()); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}
