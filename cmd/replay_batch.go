package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/records"
	"gtoffset/output"
)

// batch is one contiguous range of some partitions, with the records in it.
type batch struct {
	number  int64
	parts   []*part // in the order in which they came
	records int64
}

// part is what a batch has of one lane.
type part struct {
	lane           *lane
	until          int64 // it begins where the lane is
	records, bytes int64
}

// of finds the part of a lane, or begins it.
func (b *batch) of(l *lane) *part {
	if n := len(b.parts); n > 0 && b.parts[n-1].lane == l {
		return b.parts[n-1]
	}
	if i := slices.IndexFunc(b.parts, func(p *part) bool { return p.lane == l }); i >= 0 {
		b.parts[i], b.parts[len(b.parts)-1] = b.parts[len(b.parts)-1], b.parts[i] // the next record is likely to be of it, too
		return b.parts[len(b.parts)-1]
	}
	b.parts = append(b.parts, &part{lane: l, until: l.at})
	return b.parts[len(b.parts)-1]
}

// has reports whether a lane is in the batch.
func (b *batch) has(l *lane) bool {
	return slices.ContainsFunc(b.parts, func(p *part) bool { return p.lane == l })
}

// slices are the batch's ranges, sorted.
func (b *batch) slices() []offsets.Slice {
	all := make([]offsets.Slice, len(b.parts))
	for i, p := range b.parts {
		all[i] = offsets.Slice{Key: p.lane.Key, From: p.lane.at, Until: p.until}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Key.Compare(all[j].Key) < 0 })
	return all
}

// ranges is the batch's ranges as text, one a line.
func (b *batch) ranges() string {
	var s strings.Builder
	for i, r := range b.slices() {
		if i > 0 {
			s.WriteByte('\n')
		}
		s.WriteString(r.String())
	}
	return s.String()
}

// sink is where batches go.
type sink interface {
	// take adds a record to the batch that is being gathered, and reports false where that would make it too large.
	take(ctx context.Context, l *lane, rec *records.Record, from *records.Batch, b *batch) (bool, error)

	// accept hands the batch over. It returns nil only if all of it has arrived. After the first interrupt, which ends soft, nothing
	// is tried again; the second ends hard, and with it what is under way.
	accept(soft, hard context.Context, b *batch) error

	close()
}

// keeper saves how far a batch came.
type keeper func(ctx context.Context, reached []offsets.Slice) error

// pastInterval is how long records for stdout are gathered while --max-rate holds them back.
const pastInterval = 100 * time.Millisecond

// sink makes the sink; nil stands for stdout without any holding back.
func (r *replay) sink() sink {
	o := r.o
	gathered := gathered{format: o.format, limits: offsets.BatchLimits{Records: o.batchRecords, Bytes: int64(o.batchBytes)}}
	switch {
	case len(o.command) > 0:
		return &commandSink{gathered: gathered, r: r}
	case o.toTopic != "":
		return &topicSink{r: r, limits: gathered.limits, producer: r.g.session.cluster.Produce(o.toTopic, records.ProducerOptions{Log: r.g.log()})}
	case o.maxRate > 0:
		return &stdoutSink{gathered: gathered, out: r.g.exact()}
	}
	return nil
}

// gathered is a batch as text.
type gathered struct {
	format output.RecordFormat
	limits offsets.BatchLimits
	record output.Record
	buf    []byte
}

func (s *gathered) take(_ context.Context, l *lane, rec *records.Record, from *records.Batch, b *batch) (bool, error) {
	before := len(s.buf)
	fill(&s.record, rec, from.LogAppend)
	s.buf = l.encoder.Append(s.buf, &s.record)
	if !s.limits.Take(b.records, int64(before), int64(len(s.buf)-before)) {
		s.buf = s.buf[:before]
		return false, nil
	}
	return true, nil
}

func (s *gathered) close() {}

// spare is how large a buffer may stay that one large record has made so.
const spare = 32 << 20

func (s *gathered) reset() {
	if s.buf = s.buf[:0]; cap(s.buf) > spare {
		s.buf = nil
	}
}

// stdoutSink writes to stdout what --max-rate lets through.
type stdoutSink struct {
	gathered
	out io.Writer
}

func (s *stdoutSink) accept(_, _ context.Context, _ *batch) error {
	defer s.reset()
	return toStdout(s.out, s.buf)
}

// pace holds a lane to a rate.
type pace struct {
	rate int64 // records a second; 0: no bound
	next time.Time
}

// paceBurst is how far a lane may fall behind its rate and catch up.
const paceBurst = 100 * time.Millisecond

// wait is how long the next record has to wait, 0 if it may go now.
func (p *pace) wait(now time.Time) time.Duration {
	if p.rate == 0 {
		return 0
	}
	return max(p.next.Sub(now), 0)
}

// went notes that a record has gone.
func (p *pace) went(now time.Time) {
	if p.rate == 0 {
		return
	}
	if late := now.Add(-paceBurst); p.next.Before(late) {
		p.next = late
	}
	p.next = p.next.Add(time.Second / time.Duration(p.rate))
}

// hold is a chunk that is being read.
type hold struct {
	lane   *lane
	chunk  *records.Chunk
	walker *records.Walker
	ready  bool // the walker stands at a record that no batch has taken yet
}

// gatherer makes batches of what the reader brings.
type gatherer struct {
	r        *replay
	reader   *records.Reader
	sink     sink
	interval time.Duration
	holds    []*hold
	walkers  []*records.Walker // that are free
	ended    bool              // the reader has no more
	number   int64
}

// mostParts keeps the list of ranges to what an environment variable can hold: 128 KiB on Linux.
const mostParts = 400

// next gathers a batch. With io.EOF or errEnough it is the last; with another error, too, it is to be handed over: what is in it was
// read as it should be.
func (g *gatherer) next(ctx context.Context) (*batch, error) {
	g.number++
	b := &batch{number: g.number}
	closing := ctx
	for {
		if len(b.parts) > 0 && closing == ctx {
			var cancel context.CancelFunc
			closing, cancel = context.WithTimeout(ctx, g.interval)
			defer cancel()
		}
		h, wait := g.due()
		switch {
		case h != nil:
			full, err := g.drain(ctx, h, b)
			if full || err != nil {
				return b, err
			}
			if closing.Err() != nil {
				return b, ctx.Err()
			}
		case g.ended && len(g.holds) == 0:
			return b, io.EOF
		default:
			if err := g.await(closing, wait); err != nil {
				if closing != ctx && closing.Err() != nil {
					err = ctx.Err() // nil: the batch is closed by its time
				}
				return b, err
			}
		}
	}
}

// due finds a chunk of which a record may go now; if there is none, it says how long until one may, 0 if there is no chunk at all.
func (g *gatherer) due() (*hold, time.Duration) {
	var least time.Duration
	for _, h := range g.holds {
		var w time.Duration
		if h.lane.pace.rate > 0 {
			w = h.lane.pace.wait(g.r.g.env.Now())
		}
		if w == 0 {
			return h, 0
		}
		if least == 0 || w < least {
			least = w
		}
	}
	return nil, least
}

// await waits for a chunk, at most for the given time if that is not 0.
func (g *gatherer) await(ctx context.Context, most time.Duration) error {
	if g.ended {
		return wait(ctx, most)
	}
	short := ctx
	if most > 0 {
		var cancel context.CancelFunc
		short, cancel = context.WithTimeout(ctx, most)
		defer cancel()
	}
	c, err := g.reader.Next(short)
	switch {
	case err == nil:
		g.hold(c)
	case finished(err):
		g.ended = true
	case short.Err() != nil && ctx.Err() == nil: // somebody may go now
	default:
		return err
	}
	return nil
}

func (g *gatherer) hold(c *records.Chunk) {
	h := &hold{lane: g.r.lanes[offsets.Key{Topic: c.Topic, Partition: c.Partition}], chunk: c}
	if n := len(g.walkers); n > 0 {
		h.walker, g.walkers = g.walkers[n-1], g.walkers[:n-1]
	} else {
		h.walker = &records.Walker{}
	}
	h.walker.Reset(c)
	g.holds = append(g.holds, h)
}

// drain takes records of a chunk into the batch, as long as they may go. It reports that the batch is full.
func (g *gatherer) drain(ctx context.Context, h *hold, b *batch) (full bool, err error) {
	if len(b.parts) >= mostParts && !b.has(h.lane) {
		return true, nil
	}
	paced := h.lane.pace.rate > 0
	for h.ready || h.walker.Next() {
		h.ready = true
		if g.r.o.records > 0 && g.r.left.Load() == 0 {
			return true, errEnough
		}
		if paced && h.lane.pace.wait(g.r.g.env.Now()) > 0 {
			return false, nil
		}
		rec := h.walker.Record()
		taken, err := g.sink.take(ctx, h.lane, rec, h.walker.Batch(), b)
		if err != nil || !taken {
			return true, err
		}
		h.ready = false
		p := b.of(h.lane)
		p.until = rec.Offset + 1
		p.records++
		p.bytes += payload(rec)
		b.records++
		if paced {
			h.lane.pace.went(g.r.g.env.Now())
		}
		if g.r.left.Add(-1) == 0 && g.r.o.follow { // else the next one would be waited for
			return true, errEnough
		}
	}
	if err := h.walker.Err(); err != nil {
		return true, err
	}
	if at := h.walker.Position(); at > h.lane.at {
		b.of(h.lane).until = at
	}
	g.let(h)
	return false, nil
}

// let gives a chunk back that was read to its end.
func (g *gatherer) let(h *hold) {
	h.chunk.Release()
	g.walkers = append(g.walkers, h.walker)
	g.holds = slices.DeleteFunc(g.holds, func(o *hold) bool { return o == h })
}

// payload is the size of a record's key, value and headers.
func payload(rec *records.Record) int64 {
	n := len(rec.Key) + len(rec.Value)
	if rec.HeaderCount() > 0 {
		for h := rec.Headers(); h.Next(); {
			n += len(h.Key) + len(h.Value)
		}
	}
	return int64(n)
}

// batched hands batch after batch to the sink, one at a time, and has each saved that was accepted.
func (r *replay) batched(ctx context.Context, reader *records.Reader, s sink, keep keeper) error {
	g := &gatherer{r: r, reader: reader, sink: s, interval: time.Duration(r.o.batchInterval)}
	if _, ok := s.(*stdoutSink); ok {
		g.interval = pastInterval
	}
	for {
		b, err := g.next(ctx)
		if len(b.parts) > 0 {
			if herr := r.hand(ctx, b, s, keep); herr != nil {
				return herr
			}
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// hand gives a batch to the sink, and saves when it was accepted. A batch that has no records, only offsets that have none, needs no
// sink.
func (r *replay) hand(ctx context.Context, b *batch, s sink, keep keeper) error {
	if b.records > 0 {
		r.mu.Lock()
		r.running = b.number
		r.mu.Unlock()
		err := s.accept(ctx, r.g.hard, b)
		r.mu.Lock()
		r.running = 0
		r.mu.Unlock()
		if err != nil {
			return r.notAccepted(b, err)
		}
	}
	reached := b.slices()
	r.mu.Lock()
	if b.records > 0 {
		r.batches++
	}
	for _, p := range b.parts {
		p.lane.at, p.lane.records, p.lane.bytes = p.until, p.lane.records+p.records, p.lane.bytes+p.bytes
	}
	r.mu.Unlock()
	if keep == nil {
		return nil
	}
	if err := keep(r.g.hard, reached); err != nil {
		return r.notSaved(b, reached, err)
	}
	if b.records > 0 {
		r.mu.Lock()
		r.saved++
		r.mu.Unlock()
	}
	return nil
}

// notAccepted is the error of a batch that did not arrive as a whole.
func (r *replay) notAccepted(b *batch, err error) error {
	if errors.Is(err, errReaderGone) || r.g.hard.Err() != nil {
		return err
	}
	text := fmt.Sprintf("batch %d was not accepted: %v (%s of %s)", b.number, err, offsets.Plural(int(b.records), "record"), brief(b.slices()))
	if r.o.saves() {
		text += "; the store is where the batch before left it"
	}
	p := &problem{code: exitFailed, text: text, err: err}
	if r.some() {
		p.code = exitPartly
	}
	for _, s := range b.slices() {
		p.details = append(p.details, output.ErrorDetail{Group: r.o.group, Topic: s.Topic, Partition: s.Partition, Reason: fmt.Sprintf("%d..%d of batch %d were not accepted", s.From, s.Until, b.number)})
	}
	if r.o.saves() {
		p.hint = "the same command goes on with this batch"
	}
	if r.o.retries > 0 { // it may have been what ended the tries
		return errors.Join(r.g.soft.Err(), p)
	}
	return p
}

// notSaved is the error of a batch that arrived, but of which the store does not know.
func (r *replay) notSaved(b *batch, ranges []offsets.Slice, err error) error {
	return &problem{
		code: exitPartly, err: err,
		text: fmt.Sprintf("batch %d was accepted, but could not be saved: %v; a restart from the store repeats it (%s)", b.number, err, brief(ranges)),
	}
}

// brief names the ranges of a batch in a few words.
func brief(ranges []offsets.Slice) string {
	var texts []string
	for _, s := range ranges {
		texts = append(texts, fmt.Sprintf("%s %d..%d", s.Key, s.From, s.Until))
	}
	return list(texts, 3)
}
