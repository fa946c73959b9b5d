package cmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/records"
	"gtoffset/output"
)

// replay is one run of the command.
type replay struct {
	g     *global
	o     *replayOptions
	began time.Time
	shot  offsets.Snapshot

	stretches []offsets.Stretch
	lanes     map[offsets.Key]*lane // those that are read
	order     []*lane

	mu      sync.Mutex // guards the counts of the lanes, and these
	batches int64      // accepted
	copied  bool       // a batch that was not accepted has records in the topic all the same, or may have
	saved   int64      // of the batches, how often the store moved on
	running int64      // number of the batch that the sink has, 0 for none

	left   atomic.Int64 // records that are still wanted, with --records
	closed bool         // whoever read stdout went away
	bars   *bars        // nil: nothing is drawn
}

// lane is one partition on its way.
type lane struct {
	offsets.Stretch
	encoder *output.RecordEncoder
	pace    pace

	// guarded by replay.mu
	at      int64 // the next to be written or accepted
	saved   int64 // how far was saved; None where nothing was yet
	records int64
	bytes   int64
}

// prepare looks at the cluster and the store, and decides what is read.
func (r *replay) prepare(ctx context.Context) error {
	g, o := r.g, r.o
	for _, b := range []replayBound{o.start, o.end} {
		if b.Aim == offsets.AimTime {
			g.note("the first record at or after %s; older records may follow it", b.Words)
		}
	}
	shot, err := g.look(ctx, &o.scope, lookOptions{
		stable: o.committed(), firsts: o.start.Aim == offsets.AimCommitted || o.end.Aim == offsets.AimCommitted,
	})
	if err != nil {
		return err
	}
	if len(o.selections) == 0 || o.start.Aim == offsets.AimStored || o.start.Aim == offsets.AimCommitted {
		if err := g.unknownGroups(shot); err != nil {
			return err
		}
	}
	if err := errors.Join(g.unnamedTopics(shot, &o.scope), unseenTopics(shot)); err != nil {
		return err
	}
	if group, _ := shot.Group(o.group); group.Nothing() {
		return &problem{
			code: exitFailed, causes: []cause{causeMissing}, text: fmt.Sprintf("group %q: %s; nothing was read", group.ID, group.Bare()),
			hint: g.hint(shot, group, &o.scope),
		}
	}
	r.shot = shot
	if r.stretches, err = r.decide(ctx, shot, nil); err != nil {
		return err
	}
	if (o.start.Aim == offsets.AimOffset || o.end.Aim == offsets.AimOffset) && len(r.stretches) != 1 {
		return onePartition(o.selections)
	}
	if o.saveAs == "" { // else an earlier run may have come further: see alongTheRoad
		if err := r.refused(); err != nil {
			return err
		}
	}
	return r.checkTarget(ctx)
}

// committed reports whether only committed transactions are read.
func (o *replayOptions) committed() bool { return o.isolation == "read_committed" }

// decide looks up the times, and decides about each partition of the one group.
// resume is how far an earlier run has come, nil for none.
func (r *replay) decide(ctx context.Context, shot offsets.Snapshot, resume map[offsets.Key]offsets.Entry) ([]offsets.Stretch, error) {
	o := r.o
	policy := offsets.ReplayPolicy{From: o.start.Bound, Until: o.end.Bound, SkipExpired: o.expired == "skip", Follow: o.follow, Named: o.named}
	if resume != nil {
		policy.Resume, policy.ResumeName = resume, fmt.Sprintf("group %q", o.saveAs)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(r.g.timeout))
	defer cancel()
	for _, b := range []struct {
		bound replayBound
		times *map[offsets.Key]offsets.Found
	}{{o.start, &policy.From.Times}, {o.end, &policy.Until.Times}} {
		if b.bound.Aim != offsets.AimTime {
			continue
		}
		var err error
		if *b.times, err = r.g.session.cluster.Times(ctx, shot.Keys(), b.bound.instant); err != nil {
			return nil, err
		}
	}
	group, _ := shot.Group(o.group)
	return offsets.Replay(shot, group, policy), nil
}

// refused is the error of partitions that may not be read as they are, unless --partial reads the others.
func (r *replay) refused() error {
	p := r.refusal()
	if p == nil {
		return nil
	}
	if r.o.partial && slices.ContainsFunc(r.stretches, func(s offsets.Stretch) bool { return s.Verdict == offsets.Write }) {
		return nil
	}
	p.text += "; nothing was read"
	return p
}

// refusal names what is refused, nil if nothing is.
func (r *replay) refusal() *problem {
	var texts, choices []string
	p := &problem{code: exitUnreachable}
	high, recreated := &scope{}, &scope{}
	for _, s := range r.stretches {
		if s.Verdict != offsets.Refuse {
			continue
		}
		why := causeRefused
		switch {
		case s.Lacks != nil:
			why, p.lacks = causeAuthorization, cmp.Or(p.lacks, s.Lacks)
		case s.Away:
			why = causeUnreachable
		}
		p.causes = byRank(append(p.causes, why))
		if !s.Away {
			p.code = exitRefused
		}
		texts = append(texts, s.Key.String()+": "+s.Reason)
		if s.Choice != "" && !slices.Contains(choices, s.Choice) {
			choices = append(choices, s.Choice)
		}
		if s.High {
			high.include(s.Key)
		}
		if s.Recreated {
			recreated.include(s.Key)
		}
		p.details = append(p.details, output.ErrorDetail{Group: r.o.group, Topic: s.Topic, Partition: s.Partition, Reason: s.Reason})
	}
	if len(texts) == 0 {
		return nil
	}
	p.text = list(texts, 3)
	clamp := func(of *scope, more ...string) string { // of these alone: others it may begin
		of.settle()
		return r.g.typed(slices.Concat([]string{"clamp", "-g", r.o.group}, of.typed(), more)...)
	}
	isHigh := len(high.selections) > 0
	switch {
	case len(recreated.selections) > 0 && r.o.start.Aim == offsets.AimStored:
		p.hint = "clamp decides it, to begin the new topic: " + clamp(recreated, "-s", r.g.store, "--stored", "--recreated", "earliest")
	case isHigh && r.o.start.Aim == offsets.AimStored:
		p.hint = clamp(high, "-s", r.g.store, "--stored")
	case isHigh && r.o.start.Aim == offsets.AimCommitted:
		p.hint = clamp(high, "--committed")
	case len(choices) > 0:
		p.hint = "add " + list(choices, 3)
	case isHigh:
		p.hint = "name a --from within the range, or --from earliest"
	}
	return p
}

// leftOut is the error of partitions that were not read although there is something in them: those that --partial has passed over, and
// those that nothing says the start of.
func (r *replay) leftOut() error {
	return r.without(func(s offsets.Stretch) bool { return s.Left || s.Verdict == offsets.Refuse })
}

// missing is leftOut where what was refused is told of already.
func (r *replay) missing() error {
	return r.without(func(s offsets.Stretch) bool { return s.Left })
}

func (r *replay) without(lacks func(offsets.Stretch) bool) error {
	p := &problem{code: exitPartly}
	var texts []string
	group, _ := r.shot.Group(r.o.group)
	for _, s := range r.stretches {
		if !lacks(s) {
			continue
		}
		texts = append(texts, s.Key.String()+": "+s.Reason)
		p.details = append(p.details, output.ErrorDetail{Group: r.o.group, Topic: s.Topic, Partition: s.Partition, Reason: s.Reason})
		switch {
		case s.Condition == offsets.Gone:
			p.causes = byRank(append(p.causes, causeMissing))
			continue
		case s.Lacks != nil:
			p.lacks = cmp.Or(p.lacks, s.Lacks)
		default:
			p.causes = byRank(append(p.causes, causeIncomplete))
		}
		one := []offsets.Selection{{Topic: s.Topic, Partitions: []int32{s.Partition}}}
		helps := "instead, " + r.readable() + " -t " + inWords(one) + " reads that one"
		if r.o.saves() { // mostly from what is stored only
			helps = r.g.lineOf(group, "describe", one) + " shows what helps"
		}
		p.hint = cmp.Or(p.hint, helps)
	}
	if len(texts) == 0 {
		return nil
	}
	p.text = "left out: " + list(texts, 3)
	p.hint = cmp.Or(p.hint, r.g.lineOf(group, "describe", nil)+" shows what is gone")
	if r.o.start.Aim == offsets.AimStored && group.Store.Nothing() {
		p.hint = r.g.rightStore() + ". If it is, " + p.hint
	}
	return p
}

// readable are the ends of a replay with what nothing says, from a store or from commits, in the place of those.
func (r *replay) readable() string {
	told := func(b replayBound) bool { return b.Aim == offsets.AimStored || b.Aim == offsets.AimCommitted }
	switch from, until := told(r.o.start), told(r.o.end); {
	case from && until:
		return "--from earliest --until end"
	case until:
		return "--until end"
	}
	return "--from earliest"
}

// enter makes the lanes of what is read.
func (r *replay) enter() {
	r.lanes, r.order = map[offsets.Key]*lane{}, nil
	for _, s := range r.stretches {
		if s.Verdict != offsets.Write {
			continue
		}
		l := &lane{Stretch: s, at: s.From, saved: offsets.None, encoder: r.o.format.For(s.Topic, s.Partition), pace: pace{rate: r.o.maxRate}}
		r.lanes[s.Key], r.order = l, append(r.order, l)
	}
}

// ranges is what the reader is asked for.
func (r *replay) ranges() []records.Range {
	all := make([]records.Range, len(r.order))
	for i, l := range r.order {
		all[i] = records.Range{Topic: l.Topic, TopicID: l.TopicID, Partition: l.Partition, From: l.at, Until: l.Until}
		if r.o.follow {
			all[i].Until = records.Forever
		}
	}
	return all
}

// The ways in which reading ends early without an error.
var (
	errEnough     = errors.New("as many records as were asked for")
	errReaderGone = errors.New("whoever read stdout went away")
)

// run reads and writes, without saving anything.
func (r *replay) run(ctx context.Context) error { return r.read(ctx, nil) }

// read reads all lanes to their end, into the sink. keep saves after each batch; nil saves nothing. The first interrupt ends ctx.
func (r *replay) read(ctx context.Context, keep keeper) error {
	r.enter()
	var err error
	if len(r.order) > 0 {
		tellOfPipes()
		r.left.Store(r.o.records)
		sink := r.sink()
		stop := r.watch()
		err = r.untilDone(ctx, sink, keep)
		stop()
		if sink != nil {
			sink.close()
		}
	}
	if r.g.quiet || r.closed {
		return err
	}
	if keep != nil { // the plan stands above
		fmt.Fprintln(r.g.env.Stderr)
	}
	return errors.Join(err, r.view(err).Write(r.g.talk(), output.Table))
}

// untilDone reads, and begins again behind what has expired meanwhile if that may be left out.
func (r *replay) untilDone(ctx context.Context, sink sink, keep keeper) error {
	for {
		err := r.fetch(ctx, sink, keep)
		var expired *records.ExpiredError
		switch {
		case finished(err):
			return r.settle(keep)
		case errors.Is(err, errReaderGone):
			r.closed = true
			return nil
		case errors.As(err, &expired) && r.o.expired == "skip":
			r.skip(expired)
		case errors.Is(err, context.Canceled):
			return err
		default:
			return r.stopped(err)
		}
	}
}

// finished says that all was read that was asked for. An io.EOF within an error is none: a broker hung up.
func finished(err error) bool { return err == nil || err == io.EOF || errors.Is(err, errEnough) }

// fetch reads from where the lanes are.
func (r *replay) fetch(ctx context.Context, s sink, keep keeper) error {
	fetching, stop := context.WithCancel(r.g.hard)
	defer stop()
	reader := r.g.session.cluster.Read(fetching, r.ranges(), records.Options{Committed: r.o.committed(), Memory: fetchMemory, Log: r.g.log()})
	defer reader.Close()
	if s == nil {
		return r.stream(ctx, reader)
	}
	return r.batched(ctx, reader, s, keep)
}

// fetchMemory is how much is held of what was fetched.
const fetchMemory = 48 << 20

// skip leaves out, by choice, what has expired while it was read.
func (r *replay) skip(e *records.ExpiredError) {
	r.g.note("%v; left out by choice", e)
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lanes[offsets.Key{Topic: e.Topic, Partition: e.Partition}]
	to := e.Earliest
	if !l.Follow {
		to = min(to, l.Until)
	}
	l.Expired += to - l.at
	l.Reason = offsets.Thousands(l.Expired) + " expired, left out by choice"
	l.at = to
}

// settle saves the places behind what has expired, as far as no batch did.
func (r *replay) settle(keep keeper) error {
	var reached []offsets.Slice
	for _, l := range r.order {
		if keep != nil && l.Expired > 0 && l.saved != l.at {
			reached = append(reached, offsets.Slice{Key: l.Key, From: l.at, Until: l.at})
		}
	}
	if len(reached) == 0 {
		return nil
	}
	if err := keep(r.g.hard, reached); err != nil {
		return &problem{code: exitPartly, text: fmt.Sprintf("the place behind what has expired could not be saved: %v", err), err: err}
	}
	return nil
}

// stopped is the error of a reading that ended early. If nothing was done before, it is a plain failure.
func (r *replay) stopped(err error) error {
	p := explain(r.g.soft, err)
	if p.code == exitPartly && !r.some() {
		p.code = exitFailed
	}
	p.err = err
	return &p
}

// some reports whether anything was written, or may have been, or was accepted.
func (r *replay) some() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.batches > 0 || r.copied || slices.ContainsFunc(r.order, func(l *lane) bool { return l.records > 0 })
}

// wholeWrites is how much is gathered before it is written to stdout.
const wholeWrites = 256 << 10

// stream formats and writes on all processors at the same time. What is written at once are whole records, and those of a
// partition stay in their order: its next chunk is handed out only when the one before is written.
func (r *replay) stream(ctx context.Context, reader *records.Reader) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &stream{r: r, ctx: ctx, out: r.g.exact(), limited: r.o.records > 0}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(r.order)) {
		wg.Go(func() {
			if err := s.work(reader); err != io.EOF {
				cancel(err)
			}
		})
	}
	over := make(chan struct{})
	go func() {
		wg.Wait()
		close(over)
	}()
	select {
	case <-over:
		return context.Cause(ctx)
	case <-r.g.hard.Done(): // a write that nobody takes ends with the process
		return r.g.hard.Err()
	}
}

// stream is what the workers of a stream share.
type stream struct {
	r       *replay
	ctx     context.Context
	limited bool

	writing sync.Mutex
	out     io.Writer
}

// work takes chunk after chunk. It ends with io.EOF when there are no more.
func (s *stream) work(reader *records.Reader) error {
	var w records.Walker
	var buf []byte
	var record output.Record
	for {
		c, err := reader.Next(s.ctx)
		if err != nil {
			return err
		}
		buf, err = s.chunk(c, &w, &record, buf)
		c.Release()
		if err != nil {
			return err
		}
	}
}

// chunk writes the records of a chunk.
func (s *stream) chunk(c *records.Chunk, w *records.Walker, record *output.Record, buf []byte) ([]byte, error) {
	l := s.r.lanes[offsets.Key{Topic: c.Topic, Partition: c.Partition}]
	var n, size int64
	flush := func() error {
		if err := s.write(buf); err != nil {
			return err
		}
		s.r.advance(l, w.Position(), n, size)
		buf, n, size = buf[:0], 0, 0
		return nil
	}
	for w.Reset(c); w.Next(); {
		left := int64(0)
		if s.limited {
			left = s.r.left.Add(-1)
		}
		if left < 0 {
			return buf, errors.Join(s.writeOnly(l, buf, n, size, w.Record().Offset), errEnough)
		}
		size += fill(record, w.Record(), w.Batch().LogAppend)
		buf = l.encoder.Append(buf, record)
		if n++; len(buf) >= wholeWrites {
			if err := flush(); err != nil {
				return buf, err
			}
		}
		if s.limited && left == 0 && s.r.o.follow { // else the next one would be waited for
			return buf, errors.Join(flush(), errEnough)
		}
	}
	if err := flush(); err != nil {
		return buf, err
	}
	return buf, w.Err()
}

// writeOnly writes what was gathered before a record that is not wanted any more.
func (s *stream) writeOnly(l *lane, buf []byte, n, size, next int64) error {
	if err := s.write(buf); err != nil {
		return err
	}
	s.r.advance(l, next, n, size)
	return nil
}

func (s *stream) write(buf []byte) error {
	if len(buf) == 0 {
		return nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	return toStdout(s.out, buf)
}

// toStdout writes whole records. A reader that has gone away is no error of ours.
func toStdout(out io.Writer, buf []byte) error {
	_, err := out.Write(buf)
	switch {
	case err == nil:
		return nil
	case readerGone(err), errors.Is(err, io.ErrClosedPipe):
		return errReaderGone
	}
	return fmt.Errorf("write records to stdout: %w", err)
}

// advance notes what was written of a lane.
func (r *replay) advance(l *lane, next, n, size int64) {
	r.mu.Lock()
	l.at, l.records, l.bytes = next, l.records+n, l.bytes+size
	r.mu.Unlock()
}

// fill makes a record for the encoder of one that was read, and returns the size of its key, value and headers.
func fill(to *output.Record, from *records.Record, logAppend bool) int64 {
	to.Offset, to.Timestamp, to.LogAppend, to.Key, to.Value, to.Headers = from.Offset, from.Timestamp, logAppend, from.Key, from.Value, to.Headers[:0]
	size := len(from.Key) + len(from.Value)
	if from.HeaderCount() > 0 {
		for h := from.Headers(); h.Next(); {
			to.Headers = append(to.Headers, output.RecordHeader{Name: h.Key, Value: h.Value})
			size += len(h.Key) + len(h.Value)
		}
	}
	return int64(size)
}

// dryRun says what would be read.
func (r *replay) dryRun() error {
	r.enter()
	to := r.g.out()
	if r.g.format != "" { // whoever asks for records gets none in another form
		to = r.g.talk()
	}
	err := r.view(nil).Write(to, output.Table)
	if !r.g.quiet {
		fmt.Fprintln(r.g.env.Stderr, "dry run: nothing was read")
	}
	return errors.Join(err, r.leftOut())
}

// summarise writes what came of it to the file that was asked for.
func (r *replay) summarise(err error) error {
	if r.o.summary == "" || r.stretches == nil {
		return err
	}
	var b bytes.Buffer
	werr := r.view(err).Write(output.Plain(&b), output.JSON)
	if werr == nil {
		werr = replaceFile(r.o.summary, b.Bytes())
	}
	if _, serr := os.Stat(r.o.summary); serr == nil && (errors.Is(werr, fs.ErrPermission) || errors.Is(werr, syscall.EBUSY)) { // its folder is not ours
		werr = overwrite(r.o.summary, b.Bytes())
	}
	if werr != nil {
		werr = &problem{code: exitPartly, text: fmt.Sprintf("the replay has ended, but its summary could not be written: %v", werr), err: werr}
	}
	return errors.Join(err, werr)
}

// view is what has come of the replay so far.
func (r *replay) view(err error) output.Replay {
	v := output.Replay{
		Origin: r.shot.Origin, Group: r.o.group, SaveAs: r.o.saveAs, Saves: r.o.saves(), Sink: "stdout",
		Started: r.began, Took: r.g.env.Now().Sub(r.began), DryRun: r.o.dryRun,
	}
	switch {
	case len(r.o.command) > 0:
		v.Sink, v.Target = "command", r.o.command[0]
	case r.o.toTopic != "":
		v.Sink, v.Target = "topic", r.o.toTopic
	}
	if j := r.g.judge(r.g.soft, err); err != nil {
		v.Exit, v.Cause, v.Why = j.code(), string(j.causes[0]), list(j.texts, 3)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	v.Batches, v.Saved = r.batches, r.saved
	for _, s := range r.stretches {
		row := output.ReplayRow{Stretch: s, To: s.From, Saved: offsets.None}
		if l := r.lanes[s.Key]; l != nil {
			row.Stretch, row.To, row.Saved, row.Records, row.Bytes = l.Stretch, l.at, l.saved, l.records, l.bytes
		}
		if r.o.follow {
			row.Until = max(row.Until, row.To)
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}
