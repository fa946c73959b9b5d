package output

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gtoffset/kafkaops/offsets"
)

// eventful is a history with every happening, read out of records as a log has them.
func eventful() History {
	h := offsets.NewHistorian(offsets.HistoryPolicy{Skip: 1000})
	at, offset := time.Date(2026, 11, 25, 3, 12, 41, 0, time.UTC), int64(0)
	put := func(after time.Duration, batch ...offsets.LogRecord) {
		at = at.Add(after)
		base := offset
		for _, r := range batch {
			r.Offset, r.Batch, r.Time, r.Committed = offset, base, at.UnixMilli(), at.UnixMilli()
			if r.Kind != offsets.LogMarker && r.Producer == 0 {
				r.Producer = offsets.None
			}
			h.Add(&r)
			offset++
		}
	}
	commit := func(p int32, o int64) offsets.LogRecord {
		return offsets.LogRecord{Kind: offsets.LogCommit, Key: &offsets.Key{Topic: "orders", Partition: p}, Value: offsets.Value{Offset: o, Epoch: offsets.None, TopicID: "5Qx0aaaaaaaaaaaaaaaaaA"}}
	}
	within := func(producer int64, r offsets.LogRecord) offsets.LogRecord { r.Producer = producer; return r }
	noted := func(r offsets.LogRecord, note string) offsets.LogRecord { r.Value.Metadata = note; return r }
	ended := func(producer int64, commit bool) offsets.LogRecord {
		return offsets.LogRecord{Kind: offsets.LogMarker, Producer: producer, Commit: commit}
	}
	group := func(generation int32, members ...string) offsets.LogRecord {
		r := offsets.LogRecord{Kind: offsets.LogMembers, Type: offsets.Classic, Generation: generation}
		for _, m := range members {
			r.Members = append(r.Members, offsets.Member{ID: m + "-id", ClientID: m, Host: "/10.0.0.5", Epoch: offsets.None})
		}
		return r
	}
	put(0, commit(3, 7))
	put(time.Hour, commit(3, 5)) // who did it is not known
	put(time.Hour, group(1, "app-7"))
	put(time.Second, commit(0, 0), commit(1, 0), commit(2, 0))
	put(time.Second, commit(0, 500), commit(1, 480), commit(2, 500))
	put(time.Second, commit(0, 500), commit(1, 500), commit(2, 5000))
	put(3*time.Second, group(2, "app-7", "app-8", "app-9", "app-10", "app-11", "app\x1b[31m-12"))
	put(time.Second, commit(2, 4000))
	put(time.Minute, group(3))
	put(1800*time.Millisecond, commit(0, 0), commit(1, 0), commit(2, 0))
	put(38*time.Millisecond, noted(commit(0, 300), "gtoffset"), noted(commit(1, 310), "gtoffset"))
	put(time.Second, within(4000, commit(0, 30)))
	put(time.Second, commit(0, 12))
	put(716*time.Millisecond, ended(4000, true))
	put(time.Second, within(4000, commit(0, 31)))
	put(time.Second, ended(4000, false))
	other := commit(1, 15)
	other.Value.TopicID = "another"
	put(time.Second, other)
	put(time.Second, offsets.LogRecord{Kind: offsets.LogUnreadable, Key: &offsets.Key{Topic: "orders", Partition: 2}, Value: offsets.NoValue})
	put(-5*time.Second, commit(3, 6))
	gone := []offsets.LogRecord{{Kind: offsets.LogGone, Type: offsets.Classic, Generation: offsets.None}}
	for p := range int32(4) {
		gone = append([]offsets.LogRecord{{Kind: offsets.LogRemoved, Key: &offsets.Key{Topic: "orders", Partition: p}}}, gone...)
	}
	put(8*24*time.Hour, gone...)
	put(time.Second, commit(0, 9))
	put(time.Second, within(4001, commit(1, 77)))
	out := h.End(offsets.Complete{Since: time.Date(2026, 11, 25, 3, 12, 41, 0, time.UTC), Gone: 1_294_629})
	out.Name(map[int64]string{4000: "loader-1"})
	return History{
		Origin: offsets.Origin{Cluster: "MkU3OEVBNTcwNTJENDM2Qg", Bootstrap: "kafka1:9092", Source: "--bootstrap-server"}, At: at.Add(time.Minute),
		Group:   offsets.Group{ID: "billing", Existence: offsets.Exists, Type: offsets.Simple, State: "Empty"},
		History: out, Retention: 7 * 24 * time.Hour, Partition: 17, Partitions: 50, Bytes: 97_200_000,
		Hint: "to return to before 2026-11-25 05:13:52.800Z: gtoffset reset -g billing -t orders --to-commit-at 2026-11-25T05:13:52.799Z",
	}
}

func TestHistory(t *testing.T) {
	v := eventful()
	for _, c := range []struct {
		name   string
		stream Stream
		format Format
	}{
		{"history.txt", Stream{}, Table},
		{"history-80.txt", Stream{Width: 80}, Table},
		{"history-200-color.txt", Stream{Width: 200, Color: true, Gauge: true}, Table},
		{"history.json", Stream{}, JSON},
		{"history.csv", Stream{}, CSV},
	} {
		t.Run(c.name, func(t *testing.T) { golden(t, c.name, drawn(t, v, c.stream, c.format)) })
	}
	if err := v.Write(Stream{W: &strings.Builder{}}, YAML); err == nil {
		t.Error("there is no YAML of it")
	}
}

func TestHistoryWithoutAnything(t *testing.T) {
	v := History{Origin: origin(), Group: offsets.Group{ID: "billing", Existence: offsets.Exists, Type: offsets.Classic, State: "Stable"}, History: offsets.History{Complete: offsets.Complete{Whole: true}}, Partitions: 50}
	got := drawn(t, v, Stream{}, Table)
	if !strings.HasSuffix(got, "complete: every commit since the first is still recorded\nNo record of the group is left.\n") {
		t.Errorf("got\n%s", got)
	}
	v.History = offsets.History{Records: 9, Commits: 8, Forward: 5, Same: 2, First: 1, Largest: 1200, Outside: 1}
	v.Since, v.Until = time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC), time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	got = drawn(t, v, Stream{}, Table)
	want := "0 of 8 commits shown; 5 went forward (the largest step 1,200), 2 stayed where they were and 1 is the first of its partition; --all lists them; 1 change is not within --since 2026-11-29 09:00:00.000Z and --until 2026-11-29 10:00:00.000Z\n"
	if !strings.HasSuffix(got, want) || !strings.Contains(got, "of each partition only the last commit is left") {
		t.Errorf("got\n%s", got)
	}
}

func TestHeld(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-1: "-", 0: "0 ms", 38 * time.Millisecond: "38 ms", 999 * time.Millisecond: "999 ms", time.Second: "1.0 s", 1899 * time.Millisecond: "1.8 s",
		10*time.Second + 900*time.Millisecond: "10 s", 150 * time.Second: "2 min 30 s",
	} {
		if got := held(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

// Many partitions that do not follow each other would make all rows as wide; documents name each.
func TestHistoryPartitions(t *testing.T) {
	for n, want := range map[int]string{1: "0", 8: "0,2,4,6,8,10,12,14", 9: "0,2,4,6,8,10,12,14,… (9 in all)", 5000: "0,2,4,6,8,10,12,14,… (5,000 in all)"} {
		row := make([]offsets.HistoryEvent, n)
		for i := range row {
			row[i].Key.Partition = int32(2 * i)
		}
		if got := partitionsOf(row); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

// A table of many rows has a row for each request, however many partitions it was about.
func TestHistoryRowsAreRequests(t *testing.T) {
	h := offsets.NewHistorian(offsets.HistoryPolicy{Skip: offsets.None})
	for i := range int64(2) {
		for p := range int32(500) {
			h.Add(&offsets.LogRecord{Kind: offsets.LogCommit, Offset: 500*i + int64(p), Batch: 500 * i, Time: 1000 * i, Committed: 1000 * i, Producer: offsets.None, Whole: true, Key: &offsets.Key{Topic: "orders", Partition: p}, Value: offsets.Value{Offset: 10 - 5*i, Epoch: offsets.None}})
		}
	}
	v := History{History: h.End(offsets.Complete{Whole: true})}
	var got []string
	for _, row := range v.rows() {
		got = append(got, fmt.Sprint(row[0].What, " ", partitionsOf(row), " ", changeOf(row)))
	}
	if fmt.Sprint(got) != "[new 0-499 - back 0-499 -2500]" {
		t.Errorf("got %q", got)
	}
}
