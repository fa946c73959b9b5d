package kafkaops_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops"
	"gtoffset/kafkaops/history"
	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// noon is when the logs of these tests begin.
var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// pastOf is a cluster with a log of a group, and where it is.
func pastOf(t *testing.T, group string) (*kafkaops.Cluster, *kafkatest.Broker, *kafkatest.OffsetsLog) {
	t.Helper()
	b := kafkatest.Start(t, kafkatest.Options{Brokers: 1})
	c := kafkaops.New(kafkaops.Config{Bootstrap: b.Addrs(), Wire: wire.Config{}})
	t.Cleanup(c.Close)
	return c, b, b.OffsetsLog(history.Partition(group, 3))
}

// readPast reads a group's past.
func readPast(ctx context.Context, c *kafkaops.Cluster, group string, policy offsets.HistoryPolicy) (offsets.History, kafkaops.PastRead, error) {
	log, err := c.Past(ctx, group)
	if err != nil {
		return offsets.History{}, kafkaops.PastRead{}, err
	}
	var h *offsets.Historian
	read, err := c.ReadPast(ctx, log, kafkaops.PastReading{Begin: func() func(*offsets.LogRecord) {
		h = offsets.NewHistorian(policy)
		return h.Add
	}})
	if err != nil {
		return offsets.History{}, read, err
	}
	return h.End(read.Complete), read, nil
}

func TestReadPast(t *testing.T) {
	t.Parallel()
	c, _, log := pastOf(t, "billing")
	second := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }
	commit := func(offset int64) kafkatest.Entry { return kafkatest.OffsetCommit("billing", "orders", 0, offset, "") }
	log.Batch(second(0), kafkatest.ClassicGroup("billing", 1, "a")).
		Batch(second(1), commit(10), kafkatest.OffsetCommit("other", "orders", 0, 99, "")).
		Batch(second(2), commit(20)).
		Transaction(second(3), 7, commit(30)).
		Batch(second(4), kafkatest.ClassicGroup("billing", 2)).
		Marker(second(5), 7, true).
		Batch(second(6), commit(0)).
		Transaction(second(7), 7, commit(50)).Marker(second(8), 7, false)
	h, read, err := readPast(t.Context(), c, "billing", offsets.HistoryPolicy{Skip: offsets.None})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, e := range h.Events {
		got += fmt.Sprintf("%d %s %d>%d %s; ", e.Time.Unix()-noon.Unix(), e.What, e.From, e.To, e.By)
	}
	if want := "4 members -1>-1 ; 6 back 30>0 not a member; 8 aborted 0>50 transaction; "; got != want {
		t.Errorf("events: got %s, want %s", got, want)
	}
	if !h.Complete.Whole || read.Tries != 1 || read.Torn || read.Bytes == 0 || h.Records != 7 {
		t.Errorf("complete %+v, read %+v, %d records; want the whole log in one reading, and 7", h.Complete, read, h.Records)
	}

	// Compaction up to the tool's commit: only that is left of the partition.
	log.Compact(8)
	h, read, err = readPast(t.Context(), c, "billing", offsets.HistoryPolicy{Skip: offsets.None, At: second(2)})
	if err != nil {
		t.Fatal(err)
	}
	if h.Complete.Whole || !h.Complete.Since.Equal(second(4)) || read.Tries != 1 { // the last record that is gone is the transaction's commit
		t.Errorf("complete %+v after %d readings, want since %v after 1", h.Complete, read.Tries, second(4))
	}
	if w := h.Was[offsets.Key{Topic: "orders"}]; w.State != offsets.WasUnknown {
		t.Errorf("what was in force: got %+v, want unknown", w)
	}
}

func TestPastIsNotThere(t *testing.T) {
	t.Parallel()
	b := kafkatest.Start(t, kafkatest.Options{Brokers: 1, NoOffsetsTopic: true})
	c := kafkaops.New(kafkaops.Config{Bootstrap: b.Addrs(), Wire: wire.Config{}})
	t.Cleanup(c.Close)
	_, err := c.Past(t.Context(), "billing")
	var no *kafkaops.NoPastError
	if !errors.As(err, &no) || !no.Absent {
		t.Errorf("no topic: got %v", err)
	}
	if n := b.Count(kmsg.FindCoordinator.Int16()); n != 0 {
		t.Errorf("FindCoordinator was sent %d times: it creates the topic", n)
	}
	c, b, _ = pastOf(t, "billing")
	b.DenyTopic(wire.OffsetsTopic)
	if _, err := c.Past(t.Context(), "billing"); !errors.As(err, &no) || !no.Denied {
		t.Errorf("no right: got %v", err)
	}
}

// While somebody compacts, what is read is either what was there, or said to be torn: in no case does it tell of something that was
// not, or leave out what it says is complete.
func TestCompactionWhileReading(t *testing.T) {
	t.Parallel()
	torn, again := 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		c, _, log := pastOf(t, "billing")
		truth := map[int32][]int64{} // offsets of each partition, one a second
		const n = 300
		for i := range n {
			p := r.Int32N(4)
			truth[p] = append(truth[p], int64(i))
			log.Batch(noon.Add(time.Duration(i)*time.Second), kafkatest.OffsetCommit("billing", "orders", p, int64(i), ""))
		}
		if r.IntN(2) == 0 {
			log.Compact(r.Int64N(n))
		}
		log.Portions(500 + r.IntN(4000))
		every := 2 + r.IntN(8)
		log.OnFetch(func(k int, _ int64) {
			if k%every == 0 && k < 200 {
				log.Compact(r.Int64N(log.End()))
			}
		})
		at := noon.Add(time.Duration(r.IntN(n)) * time.Second)
		h, read, err := readPast(t.Context(), c, "billing", offsets.HistoryPolicy{All: true, Skip: offsets.None, At: at})
		if err != nil {
			t.Fatal(err)
		}
		if read.Torn {
			torn++
			continue
		}
		if read.Tries > 1 {
			again++
		}
		holds(t, seed, h, truth, at)
	}
	if again == 0 {
		t.Errorf("no reading began again; %d were torn: the test proves nothing", torn)
	}
}

// holds checks a history against all that was ever committed.
func holds(t *testing.T, seed uint64, h offsets.History, truth map[int32][]int64, at time.Time) {
	t.Helper()
	got := map[int32][]int64{}
	for _, e := range h.Events {
		if e.Key.Topic == "orders" {
			got[e.Key.Partition] = append(got[e.Key.Partition], e.To)
		}
	}
	for p, all := range truth {
		known := got[p]
		tail := all[len(all)-min(len(known), len(all)):]
		if fmt.Sprint(tail) != fmt.Sprint(known) {
			t.Fatalf("seed %d, partition %d: got %v, which is not the end of %v", seed, p, known, all)
		}
		for _, o := range all {
			when := noon.Add(time.Duration(o) * time.Second)
			if missing := len(known) == 0 || o < known[0]; missing && (h.Complete.Whole || !h.Complete.Since.IsZero() && !when.Before(h.Complete.Since)) {
				t.Fatalf("seed %d, partition %d: %d of %v is missing, and complete is %+v", seed, p, o, when, h.Complete)
			}
		}
		in := int64(offsets.None)
		for _, o := range all {
			if !noon.Add(time.Duration(o) * time.Second).After(at) {
				in = o
			}
		}
		if w := h.Was[offsets.Key{Topic: "orders", Partition: p}]; w.State == offsets.WasCommitted && w.Value.Offset != in || w.State == offsets.WasNever && in != offsets.None {
			t.Fatalf("seed %d, partition %d at %v: got %+v, want %d", seed, p, at, w, in)
		}
	}
}

// What was in force at a time is what a coordinator would have said then, or unknown, whatever is compacted before and while the log is
// read: transactions that end in any way and are overtaken, and removals among the commits.
func TestCompactionOfTransactions(t *testing.T) {
	t.Parallel()
	known, unknown := 0, 0
	for seed := range uint64(160) {
		r := rand.New(rand.NewPCG(seed, 2))
		c, _, log := pastOf(t, "billing")
		l := &coordinated{log: log, open: map[int64][]write{}, last: map[int32]int64{}, told: map[int32][]write{}}
		for range 200 {
			l.step(r)
		}
		stable := l.stable()
		if r.IntN(3) > 0 {
			log.Compact(r.Int64N(stable + 1))
		}
		log.Portions(500 + r.IntN(4000))
		if every := 1 + r.IntN(8); r.IntN(2) == 0 {
			log.OnFetch(func(k int, _ int64) {
				if k%every == 0 && k < 100 {
					log.Compact(r.Int64N(stable + 1))
				}
			})
		}
		at := int64(r.IntN(200))
		h, read, err := readPast(t.Context(), c, "billing", offsets.HistoryPolicy{All: true, Skip: offsets.None, At: noon.Add(time.Duration(at) * time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		if read.Torn {
			continue
		}
		for p := range int32(3) {
			want := l.at(p, at)
			w, found := h.Was[offsets.Key{Topic: "orders", Partition: p}]
			switch {
			case found && w.State == offsets.WasUnknown, !found && !h.Complete.Whole:
				unknown++
				if h.Complete.Whole {
					t.Fatalf("seed %d, partition %d at %d: unknown, and the log is whole", seed, p, at)
				}
				continue
			case !found || w.State == offsets.WasNever:
				w.Value.Offset = never
			case w.State == offsets.WasRemoved:
				w.Value.Offset = offsets.None
			}
			known++
			if w.Value.Offset != want {
				t.Fatalf("seed %d, partition %d at %d: got %+v, want %d", seed, p, at, w, want)
			}
		}
	}
	if known == 0 || unknown == 0 {
		t.Errorf("%d known and %d unknown: the test proves nothing", known, unknown)
	}
}

// never stands for a partition for which nothing was committed yet.
const never = -2

// coordinated is a log, and what its coordinator made of it.
type coordinated struct {
	log  *kafkatest.OffsetsLog
	now  int64 // seconds
	open map[int64][]write
	last map[int32]int64   // where the record lies that is in force
	told map[int32][]write // what was in force from when on
}

// write is a commit of a partition: the number, where it lies in the log, and when.
type write struct {
	partition    int32
	value, place int64
	since        int64
}

// step lets something happen, one second after what came before.
func (l *coordinated) step(r *rand.Rand) {
	at, p, producer := noon.Add(time.Duration(l.now)*time.Second), r.Int32N(3), 7+r.Int64N(2)
	w := write{p, l.now, l.log.End(), l.now}
	commit := kafkatest.OffsetCommit("billing", "orders", p, w.value, "")
	switch kind := r.IntN(10); {
	case kind < 4:
		l.log.Batch(at, commit)
		l.take(w)
	case kind < 7:
		l.log.Transaction(at, producer, commit)
		l.open[producer] = append(l.open[producer], w)
	case kind < 8:
		l.log.Batch(at, kafkatest.OffsetTombstone("billing", "orders", p))
		w.value = offsets.None
		l.take(w)
	default:
		committed := r.IntN(3) > 0
		l.log.Marker(at, producer, committed)
		for _, w := range l.open[producer] {
			if place, known := l.last[w.partition]; committed && (!known || place < w.place) {
				w.since = l.now
				l.take(w)
			}
		}
		delete(l.open, producer)
	}
	l.now++
}

func (l *coordinated) take(w write) {
	l.last[w.partition], l.told[w.partition] = w.place, append(l.told[w.partition], w)
}

// stable is where the first open transaction begins: the cleaner goes no further.
func (l *coordinated) stable() int64 {
	first := l.log.End()
	for _, all := range l.open {
		for _, w := range all {
			first = min(first, w.place)
		}
	}
	return first
}

// at is the number that was in force at a second.
func (l *coordinated) at(partition int32, second int64) int64 {
	value := int64(never)
	for _, w := range l.told[partition] {
		if w.since <= second {
			value = w.value
		}
	}
	return value
}
