package kafkaops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/history"
	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/records"
	"gtoffset/kafkaops/wire"
)

// PastLog is the partition of Kafka's offsets topic in which a group is kept, if the cluster places groups as Apache Kafka does.
type PastLog struct {
	Group      string
	Partition  int32
	Partitions int32 // of the topic
	Earliest   int64 // first offset
	End        int64 // next offset, also within open transactions
}

// NoPastError says why a group's past cannot be read.
type NoPastError struct {
	Denied bool   // a right is missing
	Absent bool   // there is no such topic
	Away   bool   // nobody answers for it
	Reason string // in words
}

func (e *NoPastError) Error() string { return e.Reason }

// Past finds the log of a group's past. It asks for metadata and for where the log begins and ends; it never asks for a coordinator,
// which would make the topic where it is missing. The error is a *NoPastError, or one of wire.
func (c *Cluster) Past(ctx context.Context, group string) (PastLog, error) {
	log := PastLog{Group: group}
	if err := c.Connect(ctx); err != nil {
		return log, err
	}
	m := measuring{c: c, topics: map[string]offsets.Topic{}, ranges: map[string][]offsets.Range{}}
	if err := m.locate(ctx, []string{wire.OffsetsTopic}); err != nil {
		return log, err
	}
	t := m.topics[wire.OffsetsTopic]
	switch {
	case t.Gone:
		return log, absent()
	case t.Trouble != nil && t.Trouble.Denied:
		return log, denied("DESCRIBE")
	case t.Trouble != nil:
		return log, &NoPastError{Away: true, Reason: "topic " + wire.OffsetsTopic + ": " + t.Trouble.Reason}
	}
	log.Partitions = int32(len(m.ranges[wire.OffsetsTopic]))
	log.Partition = history.Partition(group, log.Partitions)
	m.measure(ctx, []offsets.Key{{Topic: wire.OffsetsTopic, Partition: log.Partition}})
	r := m.of(offsets.Key{Topic: wire.OffsetsTopic, Partition: log.Partition})
	switch {
	case r.Gone():
		return log, absent()
	case r.Denied:
		return log, denied("DESCRIBE")
	case !r.Known():
		return log, &NoPastError{Away: true, Reason: fmt.Sprintf("partition %d of topic %s: %s", log.Partition, wire.OffsetsTopic, r.Reason)}
	}
	log.Earliest, log.End = r.Earliest, r.End
	return log, nil
}

func absent() *NoPastError {
	return &NoPastError{Absent: true, Reason: "the cluster has no topic " + wire.OffsetsTopic + ": it keeps commits elsewhere, as some managed services do, or nothing was ever committed"}
}

func denied(right string) *NoPastError {
	reason := "not allowed: " + right + " on topic " + wire.OffsetsTopic + " is missing"
	if right != "READ" {
		reason += " (READ is needed, and enough)"
	}
	return &NoPastError{Denied: true, Reason: reason + "; many managed services never give it"}
}

// Transactions finds the transactional ids of producers, as far as the cluster still knows them and tells: where it does not, it is
// shown by number.
func (c *Cluster) Transactions(ctx context.Context, producers []int64) map[int64]string {
	found := map[int64]string{}
	var mu sync.Mutex
	work := map[int32]struct{}{}
	for _, id := range c.wire.Brokers() {
		work[id] = struct{}{}
	}
	byNode(work, func(node int32, _ struct{}) {
		q := kmsg.NewPtrListTransactionsRequest()
		q.ProducerIDFilters = producers
		answers, err := c.wire.Do(ctx, node, func(v wire.Versions) ([]kmsg.Request, error) { return []kmsg.Request{q}, v.Set(q, -1) })
		if err != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for _, t := range answers[0].(*kmsg.ListTransactionsResponse).TransactionStates {
			found[t.ProducerID] = t.TransactionalID
		}
	})
	return found
}

// PastReading is how a log is read.
type PastReading struct {
	Progress func(at, bytes int64)           // the offset that the reading is at, and how much it has fetched; may be nil
	Begin    func() func(*offsets.LogRecord) // begins anew, and returns what takes the records; called once a try
	Options  records.Options
}

// PastRead is what came of a reading.
type PastRead struct {
	Complete offsets.Complete
	Torn     bool  // compaction went on in every try: something may be missing, and not be told by Complete
	Tries    int   // how often it was read
	Bytes    int64 // that were fetched, in all tries
	Strange  int64 // records of the group that could not be read, and are left out
}

// pastTries is how often a log is read that compaction changes meanwhile.
const pastTries = 3

// ReadPast reads a log to its end. A compaction while it is read may take what was not read yet and leave what was, so what is before
// the last hole is read once more, and counted; if it has changed everything begins again. The error is a *NoPastError, or one of records
// or wire.
func (c *Cluster) ReadPast(ctx context.Context, log PastLog, how PastReading) (PastRead, error) {
	var out PastRead
	for {
		out.Tries++
		pass := pastPass{c: c, log: log, how: how, decoder: history.NewDecoder(log.Group), take: how.Begin()}
		holes, err := pass.read(ctx, log.Earliest, log.End)
		same := false
		if err == nil {
			same, err = pass.unchanged(ctx, holes)
		}
		out.Bytes += pass.bytes
		var expired *records.ExpiredError
		var refused *records.RefusedError
		switch {
		case errors.As(err, &refused) && refused.Denied:
			return out, denied("READ")
		case err != nil && !errors.As(err, &expired):
			return out, err
		}
		if err != nil { // what was there when reading began has gone
			fresh, ferr := c.Past(ctx, log.Group)
			if ferr != nil {
				return out, ferr
			}
			log = fresh
		}
		out.Complete, out.Strange, out.Torn = holes.complete(), pass.decoder.Unreadable(), !same
		if same || out.Tries == pastTries {
			return out, nil
		}
	}
}

// pastPass goes through a log once.
type pastPass struct {
	c       *Cluster
	log     PastLog
	how     PastReading
	decoder *history.Decoder
	take    func(*offsets.LogRecord)
	bytes   int64
}

// read goes through the records from one offset to below another.
func (p *pastPass) read(ctx context.Context, from, until int64) (holes, error) {
	h := newHoles(from)
	r := offsets.LogRecord{}
	err := p.walk(ctx, from, until, func(w *records.Walker) error {
		b := w.Batch()
		h.enter(b)
		r.Batch, r.Producer, r.Whole = b.Base, offsets.None, h.whole()
		if b.Transactional {
			r.Producer = b.ProducerID
		}
		for w.NextRecord() {
			x := w.Record()
			h.record(x.Timestamp)
			r.Time, r.Offset = x.Timestamp, x.Offset
			if b.Control {
				if m := w.Marker(); m == records.Commit || m == records.Abort {
					r.Kind, r.Commit = offsets.LogMarker, m == records.Commit
					p.take(&r)
				}
				continue
			}
			if p.decoder.Decode(x.Key, x.Value, &r) {
				p.take(&r)
			}
		}
		h.leave(b)
		return w.Err()
	})
	h.end(until)
	return h, err
}

// unchanged reads what is before the last hole once more, and reports whether as much is missing as before.
func (p *pastPass) unchanged(ctx context.Context, was holes) (bool, error) {
	if was.gone == 0 {
		return true, nil
	}
	again := newHoles(was.from)
	err := p.walk(ctx, was.from, was.since, func(w *records.Walker) error {
		again.enter(w.Batch())
		again.leave(w.Batch())
		return w.Err()
	})
	again.end(was.since)
	return again.gone == was.gone, err
}

// walk hands each batch of a range to f. Batches are whatever a broker keeps: those that are empty, and markers, too.
func (p *pastPass) walk(ctx context.Context, from, until int64, f func(*records.Walker) error) error {
	reader := p.c.Read(ctx, []records.Range{{Topic: wire.OffsetsTopic, Partition: p.log.Partition, From: from, Until: until}}, p.how.Options)
	defer func() {
		reader.Close()
		bytes, _ := reader.Fetched()
		p.bytes += bytes
	}()
	w := records.Walker{Control: true}
	for {
		chunk, err := reader.Next(ctx)
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for w.Reset(chunk); err == nil && w.NextBatch(); {
			err = f(&w)
		}
		if err == nil {
			err = w.Err()
		}
		chunk.Release()
		if err != nil {
			return err
		}
		if p.how.Progress != nil {
			bytes, _ := reader.Fetched()
			p.how.Progress(w.Position(), p.bytes+bytes)
		}
	}
}

// holes are the offsets that are missing in a log. In the offsets topic only compaction takes records away.
type holes struct {
	from  int64 // where reading began
	next  int64 // the offset that comes next if nothing is missing
	gone  int64 // offsets that are missing
	since int64 // behind the last that is missing
	time  int64 // of the first record there; None as long as there is none
}

func newHoles(from int64) holes {
	return holes{from: from, next: from, since: from, time: offsets.None}
}

// whole reports whether every record since the first was there.
func (h *holes) whole() bool { return h.from == 0 && h.gone == 0 }

// enter notes what is missing before a batch.
func (h *holes) enter(b *records.Batch) {
	if b.Base > h.next {
		h.miss(b.Base-h.next, b.Base)
	}
	if gone := b.Last - b.Base + 1 - int64(b.Count); gone > 0 && b.Base >= h.from { // and within it: which ones, its records tell
		h.miss(gone, b.Last+1)
	}
}

func (h *holes) miss(n, since int64) { h.gone, h.since, h.time = h.gone+n, since, offsets.None }

// record notes a record behind the last hole.
func (h *holes) record(time int64) {
	if h.time == offsets.None {
		h.time = time
	}
}

// leave ends a batch.
func (h *holes) leave(b *records.Batch) {
	h.next = b.Last + 1
	if h.since == h.next { // its own records are before the hole, or beside it
		h.time = offsets.None
	}
}

// end notes what is missing up to the end.
func (h *holes) end(until int64) {
	if h.next < until {
		h.miss(until-h.next, until)
	}
}

// complete says it in the words of offsets.
func (h *holes) complete() offsets.Complete {
	c := offsets.Complete{Whole: h.whole(), Gone: h.gone}
	if h.time != offsets.None {
		c.Since = time.UnixMilli(h.time)
	}
	return c
}
