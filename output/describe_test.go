package output

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
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

// billing is the group that the pages show.
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
			row(3, 0, 1200, offsets.Entry{Whole: true}, offsets.Entry{}),
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
		Checks: []offsets.Check{{Name: "max-lag", Unit: offsets.Offsets, Limit: 1000, Failed: true, Count: 1, Unmeasured: 2, Worst: &offsets.Measure{Group: "billing", Key: offsets.Key{Topic: "orders"}, Value: 1100}}},
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
	simple := offsets.Group{
		ID: "", Existence: offsets.Exists, Type: offsets.Simple, State: "Empty", Coordinator: offsets.None, Epoch: offsets.None,
		Rows: []offsets.Row{row("a-long-topic-name.with.dots_and-more-of-it", 12, known(1234567890123, 1234567899999), offsets.Entry{}, offsets.At(1234567890124))},
	}
	away := offsets.Group{ID: "zz", Coordinator: 3, Epoch: offsets.None, Trouble: &offsets.Trouble{Reason: "coordinator 3 did not answer", Unreachable: true}}
	share := offsets.Group{ID: "zzz", Existence: offsets.Exists, Type: offsets.Share, State: "Empty", Coordinator: 3, Epoch: offsets.None}
	return Describe{Snapshot: offsets.Snapshot{Origin: origin(), At: noon, Groups: []offsets.Group{simple, g, away, share}}, Now: noon}
}

// timed is the group of the pages with --time.
func timed() Describe {
	d := screens()
	d.Times = true
	const day = 24 * time.Hour
	weekly := &offsets.Retention{Policy: "delete", Millis: (7 * day).Milliseconds(), Bytes: offsets.Unbounded}
	capped := &offsets.Retention{Policy: "delete", Millis: (7 * day).Milliseconds(), Bytes: 1 << 30}
	remote := &offsets.Retention{Policy: "delete", Millis: offsets.Unbounded, Bytes: offsets.Unbounded, Tiered: true, LocalMillis: day.Milliseconds()}
	next := func(from int64, ago time.Duration) offsets.Next {
		return offsets.Next{Offset: from, Time: noon.Add(-ago), Newest: noon.Add(-ago)}
	}
	g := &d.Snapshot.Groups[0]
	g.CommitsKept = 7 * day
	for i, t := range []*offsets.Timing{
		{From: 500, Next: next(500, 6*day+23*time.Hour+48*time.Minute), Retention: weekly},
		{From: 950, Next: next(950, 65*time.Minute), Retention: capped},
		{From: offsets.None, Reason: "the offset is above the end", Next: offsets.Next{Offset: offsets.None}, Retention: weekly},
		{From: offsets.None, Reason: "there is no offset", Next: offsets.Next{Offset: offsets.None}, Retention: weekly},
		{From: 800, Next: next(800, 12*time.Second), Retention: remote},
	} {
		g.Rows[i].Timing = t
	}
	return d
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
		{"timed.txt", timed(), Stream{}, Table},
		{"timed-80.txt", timed(), Stream{Width: 80}, Table},
		{"timed-wide.txt", timed(), Stream{}, Wide},
		{"timed.json", timed(), Stream{}, JSON},
		{"timed.csv", timed(), Stream{}, CSV},
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

// The document as scripts may read it: these structs are docs/formats.md in Go, in the order in which it is written.
type describeTagged struct {
	Schema    string           `json:"schema"`
	At        *string          `json:"at"`
	Isolation string           `json:"isolation"`
	Cluster   clusterDocument  `json:"cluster"`
	Store     *storeDocument   `json:"store"`
	Groups    []describeGroup  `json:"groups"`
	Checks    []describeChecks `json:"checks"`
}

type describeChecks struct {
	Check      string         `json:"check"`
	Unit       string         `json:"unit"`
	Limit      *int64         `json:"limit"`
	Failed     bool           `json:"failed"`
	Count      int            `json:"count"`
	Unmeasured int            `json:"unmeasured"`
	Worst      *describeWorst `json:"worst"`
}

type describeWorst struct {
	Group     string `json:"group"`
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Value     int64  `json:"value"`
}

type describeGroup struct {
	Group         string            `json:"group"`
	Type          string            `json:"type"`
	State         *string           `json:"state"`
	Exists        *bool             `json:"exists"`
	Protocol      *string           `json:"protocol"`
	Assignor      *string           `json:"assignor"`
	Epoch         *int32            `json:"epoch"`
	Coordinator   *int32            `json:"coordinator"`
	Members       []describeMember  `json:"members"`
	Saved         *string           `json:"saved"`
	StorePath     *string           `json:"store_path"`
	StoreLockedBy *string           `json:"store_locked_by"`
	StoreNotes    []string          `json:"store_notes"`
	StoreError    *string           `json:"store_error"`
	CommitsKept   *int64            `json:"commits_kept_ms,omitempty"`
	Notes         []string          `json:"notes"`
	Partitions    []describeRow     `json:"partitions"`
	Totals        describeTotals    `json:"totals"`
	Restart       []describeOutcome `json:"restart"`
	Error         *string           `json:"error"`
}

type describeMember struct {
	ID         string  `json:"id"`
	InstanceID *string `json:"instance_id"`
	ClientID   *string `json:"client_id"`
	Host       *string `json:"host"`
	Epoch      *int32  `json:"epoch"`
	Assigned   []struct {
		Topic     string `json:"topic"`
		Partition int32  `json:"partition"`
	} `json:"assigned"`
}

type describeRow struct {
	Topic       string         `json:"topic"`
	TopicID     *string        `json:"topic_id"`
	Partition   int32          `json:"partition"`
	Leader      *int32         `json:"leader"`
	LeaderEpoch *int32         `json:"leader_epoch"`
	Earliest    *int64         `json:"earliest"`
	End         *int64         `json:"end"`
	Stable      *int64         `json:"stable"`
	Stored      *describeEntry `json:"stored"`
	Committed   *describeEntry `json:"committed"`
	Unprocessed *int64         `json:"unprocessed"`
	Behind      *int64         `json:"behind"`
	Restart     []partRestart  `json:"restart"`
	Owner       *string        `json:"owner,omitempty"`
	Timing      *describeTime  `json:"timing,omitempty"`
	OK          bool           `json:"ok"`
	State       string         `json:"state"`
	Error       *string        `json:"error"`
}

// A store keeps no metadata, and only a commit always has some, if empty.
type describeEntry struct {
	Offset       *int64  `json:"offset"`
	Condition    string  `json:"condition"`
	Identity     string  `json:"identity"`
	Lag          *int64  `json:"lag"`
	Expired      *int64  `json:"expired"`
	Ahead        *int64  `json:"ahead"`
	Epoch        *int32  `json:"epoch"`
	Metadata     *string `json:"metadata,omitempty"`
	TopicID      *string `json:"topic_id,omitempty"`
	OtherCluster *string `json:"other_cluster,omitempty"`
	Stale        bool    `json:"stale,omitempty"`
	JumpsTo      *int64  `json:"jumps_to,omitempty"`
	Unchecked    *string `json:"epoch_unchecked,omitempty"`
	Problem      *string `json:"problem,omitempty"`
	Reason       *string `json:"reason,omitempty"`
}

type describeTotals struct {
	Partitions           int    `json:"partitions"`
	OK                   int    `json:"ok"`
	Lag                  int64  `json:"lag"`
	LagUncounted         int    `json:"lag_uncounted"`
	StoredLag            *int64 `json:"stored_lag"`
	StoredLagUncounted   *int   `json:"stored_lag_uncounted"`
	Unprocessed          *int64 `json:"unprocessed"`
	UnprocessedUncounted *int   `json:"unprocessed_uncounted"`
	Low                  int    `json:"low"`
	High                 int    `json:"high"`
	Gone                 int    `json:"gone"`
	Unreadable           int    `json:"unreadable"`
	Recreated            int    `json:"recreated"`
	Stale                int    `json:"stale"`
}

type describeOutcome struct {
	From             string  `json:"from"`
	Policy           *string `json:"policy"`
	LosesExpired     int64   `json:"loses_expired"`
	LosesUnprocessed int64   `json:"loses_unprocessed"`
	LosesReadable    int64   `json:"loses_readable"`
	Repeats          int64   `json:"repeats"`
	Reads            int64   `json:"reads"`
	OutOfRange       int     `json:"out_of_range"`
	WithoutOffset    int     `json:"without_offset"`
	Jumps            int     `json:"jumps"`
	Waits            int     `json:"waits"`
	Uncounted        int     `json:"uncounted"`
	Unsure           int     `json:"unsure"`
	Stops            bool    `json:"stops"`
}

type describeTime struct {
	Offset         *int64  `json:"offset"`
	Next           *int64  `json:"next"`
	Timestamp      *string `json:"timestamp"`
	TimestampType  *string `json:"timestamp_type"`
	BehindMs       *int64  `json:"behind_ms"`
	BehindUnknown  *string `json:"behind_unknown"`
	ExpiresAt      *string `json:"expires_at"`
	ExpiresInMs    *int64  `json:"expires_in_ms"`
	ExpiresNever   bool    `json:"expires_never"`
	ExpiresUnknown *string `json:"expires_unknown"`
	ByTimeAt       *string `json:"expires_by_time_at"`
	CleanupPolicy  string  `json:"cleanup_policy,omitempty"`
	RetentionMs    *int64  `json:"retention_ms,omitempty"`
	RetentionBytes *int64  `json:"retention_bytes,omitempty"`
	Tiered         bool    `json:"tiered,omitempty"`
	LocalMs        *int64  `json:"local_retention_ms,omitempty"`
}

type partRestart struct {
	From             string  `json:"from"`
	Policy           *string `json:"policy"`
	LosesExpired     int64   `json:"loses_expired"`
	LosesUnprocessed int64   `json:"loses_unprocessed"`
	LosesReadable    int64   `json:"loses_readable"`
	Repeats          int64   `json:"repeats"`
	Reads            int64   `json:"reads"`
	Stops            bool    `json:"stops,omitempty"`
	Waits            bool    `json:"waits,omitempty"`
}

func TestDescribeDocument(t *testing.T) {
	for _, d := range []Describe{screens(), timed(), troubled()} {
		got := drawn(t, d, Stream{}, JSON)
		dec := json.NewDecoder(strings.NewReader(got))
		dec.DisallowUnknownFields()
		var doc describeTagged
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
	// the numbers that the pages show
	var doc describeTagged
	if err := json.Unmarshal([]byte(drawn(t, screens(), Stream{}, JSON)), &doc); err != nil {
		t.Fatal(err)
	}
	n := func(v int64) *int64 { return &v }
	i := func(v int) *int { return &v }
	totals := describeTotals{Partitions: 5, OK: 2, Lag: 1850, LagUncounted: 1, StoredLag: n(2750), StoredLagUncounted: i(1), Unprocessed: n(900), UnprocessedUncounted: i(1), Low: 1, High: 1}
	if diff := cmp.Diff(totals, doc.Groups[0].Totals); diff != "" {
		t.Errorf("totals: %s", diff)
	}
	earliest := "earliest"
	restart := describeOutcome{From: "store", Policy: &earliest, LosesExpired: 380, Repeats: 1600, Reads: 5550, OutOfRange: 2, WithoutOffset: 1}
	if diff := cmp.Diff(restart, doc.Groups[0].Restart[1]); diff != "" {
		t.Errorf("restart: %s", diff)
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
	for _, f := range (Describe{}).Formats() {
		var unknown FormatError
		if err := troubled().Write(Plain(broken{}), f); err == nil || errors.As(err, &unknown) {
			t.Errorf("%s: no error from a broken pipe: %v", f, err)
		}
	}
	if err := screens().Write(Plain(broken{}), "xml"); err == nil || !strings.Contains(err.Error(), "json") {
		t.Errorf("unknown format: %v", err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, fmt.Errorf("broken pipe") }

// clusterDocument and storeDocument are where a document is from.
type clusterDocument struct {
	ID        *string `json:"id"`
	Bootstrap *string `json:"bootstrap"`
	Source    *string `json:"source"`
}

type storeDocument struct {
	URL string `json:"url"`
}
