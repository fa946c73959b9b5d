package output

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gtoffset/kafkaops/offsets"
)

func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the goldens under testdata")
	os.Exit(m.Run())
}

// golden compares what a view has drawn with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if updating() {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s\n%s", path, diff, got)
	}
	for i, line := range strings.Split(got, "\n") {
		if strings.TrimRight(line, " ") != line {
			t.Errorf("%s: line %d ends in blanks: %q", path, i+1, line)
		}
	}
}

type view interface{ Write(Stream, Format) error }

func drawn(t *testing.T, v view, s Stream, f Format) string {
	t.Helper()
	var b bytes.Buffer
	s.W = &b
	if err := v.Write(s, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func known(earliest, end int64) offsets.Range {
	return offsets.Range{State: offsets.RangeKnown, Earliest: earliest, End: end, Stable: offsets.None, Leader: 1, Epoch: 4, TopicID: "5Qx0aaaaaaaaaaaaaaaaaA"}
}

var noon = time.Date(2026, 11, 29, 12, 0, 0, 123e6, time.UTC)

func origin() offsets.Origin {
	return offsets.Origin{Cluster: "MkU3OEVBNTcwNTJENDM2Qg", Bootstrap: "kafka1:9092", Source: "GTOFFSET_BOOTSTRAP_SERVER", Store: "/var/lib/billing/offsets"}
}

// billing is the group of shared/screens.md.
func billing() offsets.Group {
	row := func(p int32, earliest, end int64, stored, committed offsets.Entry) offsets.Row {
		return offsets.Row{Key: offsets.Key{Topic: "orders", Partition: p}, Range: known(earliest, end), Stored: stored, Committed: committed}
	}
	return offsets.Group{
		ID: "billing", Existence: offsets.Exists, Type: offsets.Consumer, State: "Empty", Protocol: "consumer", Coordinator: 1, Epoch: 7,
		Store: &offsets.Store{Path: "/var/lib/billing/offsets", Saved: noon.Add(-3*time.Hour - 12*time.Minute)},
		Rows: []offsets.Row{
			row(0, 500, 2000, offsets.At(120), offsets.At(900)),
			row(1, 0, 2000, offsets.At(950), offsets.At(1450)),
			row(2, 0, 1600, offsets.At(1700), offsets.At(1700)),
			row(3, 0, 1200, offsets.Entry{}, offsets.Entry{}),
			row(4, 0, 1000, offsets.At(800), offsets.At(800)),
		},
	}
}

func screens() Describe {
	return Describe{
		Snapshot: offsets.Snapshot{Origin: origin(), At: noon, Groups: []offsets.Group{billing()}},
		Now:      noon,
		Hint: func(offsets.Group) string {
			return "to lose nothing that is still there: gtoffset reset -g billing -t orders -s /var/lib/billing/offsets --to-safe --stored --committed"
		},
		Checks: []Check{{Name: "max-lag", Limit: 1000, Failed: true, Worst: &Worst{"billing", offsets.Key{Topic: "orders"}, 1100}}},
	}
}

// troubled has one of everything that can be wrong.
func troubled() Describe {
	id := func(e offsets.Entry, id string) offsets.Entry { e.TopicID = id; return e }
	row := func(topic string, p int32, r offsets.Range, stored, committed offsets.Entry) offsets.Row {
		return offsets.Row{Key: offsets.Key{Topic: topic, Partition: p}, Range: r, Stored: stored, Committed: committed}
	}
	dead := offsets.Range{Reason: "broker 2 (kafka2:9092) did not answer within 2s", Stable: offsets.None, Leader: 2, Epoch: offsets.None}
	gone := offsets.Range{State: offsets.TopicGone}
	stable := known(0, 2000)
	stable.Stable = 1900
	g := billing()
	g.ID, g.Type, g.State = "team/job:forward\n\u202e", offsets.Classic, "Stable"
	g.Members = []offsets.Member{{ID: "c-1", ClientID: "c", Host: "/10.0.0.5", Epoch: offsets.None, Assigned: []offsets.Key{{Topic: "orders", Partition: 1}}}}
	g.Notes = []string{"the broker is too old to tell topic ids"}
	g.Store.Notes = []string{`ignored ".gtoffset.tmp"`}
	g.Store.Holder = "pid 77 on host ops1"
	commit := offsets.At(1950)
	commit.Metadata, commit.Epoch = "a\x1b[31mb", 4
	g.Rows = []offsets.Row{
		row("gone", 0, gone, offsets.At(4), offsets.At(5)),
		row("orders", 0, dead, offsets.Entry{}, offsets.At(1450)),
		row("orders", 1, stable, id(offsets.At(10), "5Qx0aaaaaaaaaaaaaaaaaA"), commit),
		row("orders", 2, known(0, 2000), id(offsets.At(10), "other"), offsets.At(10)),
		row("orders", 3, known(0, 2000), offsets.Entry{Presence: offsets.Damaged, Reason: `line 3: "12x" is no offset`}, offsets.At(5)),
	}
	g.Rows[2].Owner = "c-1"
	simple := offsets.Group{ID: "", Existence: offsets.Exists, Type: offsets.Simple, State: "Empty", Coordinator: offsets.None, Epoch: offsets.None,
		Rows: []offsets.Row{row("a-long-topic-name.with.dots_and-more-of-it", 12, known(1234567890123, 1234567899999), offsets.Entry{}, offsets.At(1234567890124))}}
	away := offsets.Group{ID: "zz", Coordinator: 3, Epoch: offsets.None, Trouble: &offsets.Trouble{Reason: "coordinator 3 did not answer", Unreachable: true}}
	share := offsets.Group{ID: "zzz", Existence: offsets.Exists, Type: offsets.Share, State: "Empty", Coordinator: 3, Epoch: offsets.None}
	return Describe{Snapshot: offsets.Snapshot{Origin: origin(), At: noon, Groups: []offsets.Group{simple, g, away, share}}, Now: noon}
}

func TestDescribe(t *testing.T) {
	problems := screens()
	problems.Show = func(g offsets.Group, r offsets.Row) bool {
		return !r.Healthy(problems.Snapshot.Origin.Cluster, g.Store != nil)
	}
	noStore := screens()
	noStore.Snapshot.Groups[0].Store = nil
	noStore.Snapshot.Origin.Store = ""
	for i := range noStore.Snapshot.Groups[0].Rows {
		noStore.Snapshot.Groups[0].Rows[i].Stored = offsets.Entry{}
	}
	for _, c := range []struct {
		name   string
		view   Describe
		stream Stream
		format Format
	}{
		{"screens.txt", screens(), Stream{Width: 135, Gauge: true}, Table},
		{"screens-piped.txt", screens(), Stream{}, Table},
		{"screens-color.txt", screens(), Stream{Width: 200, Gauge: true, Color: true}, Table},
		{"screens-80.txt", screens(), Stream{Width: 80, Gauge: true}, Table},
		{"screens-100-ascii.txt", screens(), Stream{Width: 140, Gauge: true, ASCII: true}, Table},
		{"screens-wide.txt", screens(), Stream{Width: 80, Gauge: true}, Wide},
		{"screens-problems.txt", problems, Stream{}, Table},
		{"screens-no-store.txt", noStore, Stream{}, Table},
		{"screens.json", screens(), Stream{}, JSON},
		{"screens.yaml", screens(), Stream{}, YAML},
		{"screens.csv", screens(), Stream{}, CSV},
		{"troubled.txt", troubled(), Stream{}, Table},
		{"troubled-80.txt", troubled(), Stream{Width: 80}, Table},
		{"troubled-wide.txt", troubled(), Stream{}, Wide},
		{"troubled.json", troubled(), Stream{}, JSON},
		{"troubled.yaml", troubled(), Stream{}, YAML},
		{"troubled.csv", troubled(), Stream{}, CSV},
	} {
		t.Run(c.name, func(t *testing.T) { golden(t, c.name, drawn(t, c.view, c.stream, c.format)) })
	}
}

// The document as scripts may read it: these structs are docs/formats.md in Go.
type describeDocument struct {
	Schema    string
	At        string
	Isolation string
	Cluster   clusterDocument
	Store     *storeDocument
	Groups    []describeGroup
	Checks    []struct {
		Check  string
		Limit  *int64
		Failed bool
		Worst  *struct {
			Group, Topic string
			Partition    int32
			Value        int64
		}
	}
}

type describeGroup struct {
	Group                       string
	Type                        string
	State                       *string
	Exists                      *bool
	Protocol, Assignor          *string
	Epoch                       *int32
	Coordinator                 *int32
	Members                     []json.RawMessage
	Saved                       *string
	Store_path, Store_locked_by *string
	Store_notes                 []string
	Store_error                 *string
	Notes                       []string
	Partitions                  []struct {
		Topic                 string
		Topic_id              *string
		Partition             int32
		Leader, Leader_epoch  *int32
		Earliest, End, Stable *int64
		Stored, Committed     *describeEntry
		Unprocessed, Behind   *int64
		Owner                 *string
		OK                    bool
		State                 string
		Error                 *string
	}
	Totals  map[string]*int64
	Restart []map[string]any
	Error   *string
}

type describeEntry struct {
	Offset                            *int64
	Condition, Identity               string
	Lag, Expired, Ahead               *int64
	Epoch                             *int32
	Metadata, Topic_id, Other_cluster *string
	Problem, Reason                   *string
}

func TestDescribeDocument(t *testing.T) {
	for _, d := range []Describe{screens(), troubled()} {
		got := drawn(t, d, Stream{}, JSON)
		dec := json.NewDecoder(strings.NewReader(got))
		dec.DisallowUnknownFields()
		var doc describeDocument
		if err := dec.Decode(&doc); err != nil {
			t.Fatal(err)
		}
		if strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, "}\n") {
			t.Error("want one line")
		}
		for i, g := range d.Snapshot.Groups {
			if doc.Groups[i].Group != g.ID {
				t.Errorf("group %q, want %q", doc.Groups[i].Group, g.ID)
			}
			for j, r := range g.Rows {
				p := doc.Groups[i].Partitions[j]
				if r.Committed.Presence == offsets.Present && (*p.Committed.Offset != r.Committed.Offset || *p.Committed.Metadata != r.Committed.Metadata) {
					t.Errorf("%v: %+v", r.Key, p.Committed)
				}
				if (p.Stored == nil) != (g.Store == nil) {
					t.Errorf("%v: stored %v", r.Key, p.Stored)
				}
			}
		}
	}
	// the numbers of screens.md
	var doc describeDocument
	if err := json.Unmarshal([]byte(drawn(t, screens(), Stream{}, JSON)), &doc); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int64{"partitions": 5, "ok": 2, "lag": 1850, "lag_uncounted": 1, "stored_lag": 2750, "stored_lag_uncounted": 1, "unprocessed": 900} {
		if got := doc.Groups[0].Totals[name]; got == nil || *got != want {
			t.Errorf("totals.%s: %v, want %d", name, got, want)
		}
	}
	for name, want := range map[string]any{"from": "store", "policy": "earliest", "loses_expired": 380.0, "loses_unprocessed": 0.0, "loses_readable": 0.0,
		"repeats": 1600.0, "reads": 5550.0, "out_of_range": 2.0, "without_offset": 1.0, "uncounted": 0.0, "stops": false} {
		if got := doc.Groups[0].Restart[1][name]; got != want {
			t.Errorf("restart.%s: %v, want %v", name, got, want)
		}
	}
}

func TestDescribeCSVColumns(t *testing.T) {
	for _, d := range []Describe{screens(), troubled()} {
		rows, err := csv.NewReader(strings.NewReader(drawn(t, d, Stream{}, CSV))).ReadAll()
		if err != nil {
			t.Fatal(err) // among others: a row with another number of fields
		}
		for _, row := range rows {
			for i, cell := range row {
				if cell == "" && rows[0][i] != "metadata" && rows[0][i] != "group" {
					t.Errorf("blank %s in %q", rows[0][i], row)
				}
			}
		}
	}
}

func TestDescribeStopsAtFirstError(t *testing.T) {
	for _, f := range []Format{Table, Wide, JSON, YAML, CSV} {
		if err := troubled().Write(Plain(broken{}), f); err == nil {
			t.Errorf("%s: no error from a broken pipe", f)
		}
	}
	if err := screens().Write(Plain(broken{}), "xml"); err == nil || !strings.Contains(err.Error(), "json") {
		t.Errorf("unknown format: %v", err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, fmt.Errorf("broken pipe") }
