package records

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/wire"
)

// lane fetches from one leader: one connection, one fetch at a time, for all its partitions together. While an answer is walked
// by whoever has its chunks, the next one is fetched.
type lane struct {
	r    *Reader
	node int32
	link *wire.Link
	part int32         // bytes a partition, in one fetch
	last int           // bytes of the last answer
	took time.Duration // until it was there
	far  int           // full answers in a row that were mostly waited for

	asked map[*part]bool // in the fetch under way
	wake  chan struct{}

	// guarded by Reader.mu
	parts []*part // those that were served last are at the end
	held  int     // bytes of answers whose chunks are still held
}

// Sizes of a fetch. What is best on a fast line is small enough for the caches; a slow line needs more in flight.
const (
	partBytes    = 4 << 20
	partBytesFar = 8 << 20
	fetchParts   = 2 // a fetch is as large as this many full partitions
	leastFetch   = 64 << 10
	maxBatch     = 256 << 20
	farWait      = time.Millisecond // until an answer begins, which then comes in less than that
	farTimes     = 2                // a busy broker may be late once
)

// fetchWait is how long a broker waits for records where there are none; silence is how much longer its answer may take.
const (
	fetchWait = 500 * time.Millisecond
	silence   = 10 * time.Second
)

// longestRest is how long a broker's quota may hold us up: it tells the time itself.
const longestRest = time.Minute

// rest waits.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (r *Reader) newLane(node int32) *lane {
	return &lane{r: r, node: node, part: partBytes, asked: map[*part]bool{}, wake: make(chan struct{}, 1)}
}

func (l *lane) poke() {
	if l == nil {
		return
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// remove takes a part out. The caller holds Reader.mu.
func (l *lane) remove(p *part) {
	if l == nil {
		return
	}
	if i := slices.Index(l.parts, p); i >= 0 {
		l.parts = slices.Delete(l.parts, i, i+1)
	}
	p.lane = nil
	l.poke()
}

// run fetches until no partition is left, or the connection fails.
func (l *lane) run(ctx context.Context) {
	defer func() {
		if l.link != nil {
			l.link.Close()
		}
	}()
	for {
		parts, memory := l.next(ctx)
		if parts == nil {
			return
		}
		if err := l.fetch(ctx, parts, memory); err != nil {
			if ctx.Err() == nil {
				l.lose(err)
			}
			return
		}
	}
}

// next waits until something may be fetched, and returns that and memory for the answer. nil: the lane is over.
func (l *lane) next(ctx context.Context) ([]*part, []byte) {
	for {
		l.r.mu.Lock()
		if len(l.parts) == 0 {
			delete(l.r.lanes, l.node)
			l.r.mu.Unlock()
			return nil, nil
		}
		var parts []*part
		if l.held == 0 || l.held+l.size() <= l.share() {
			for _, p := range l.parts {
				if len(p.queue) < depth {
					parts = append(parts, p)
				}
			}
		}
		var memory []byte
		if len(parts) > 0 {
			memory = l.r.memory(l.last)
		}
		l.r.mu.Unlock()
		if len(parts) > 0 {
			return parts, memory
		}
		select {
		case <-l.wake:
		case <-ctx.Done():
			return nil, nil
		}
	}
}

// share is how much memory the lane may hold. The caller holds Reader.mu.
func (l *lane) share() int { return l.r.o.Memory / max(len(l.r.lanes), 1) }

// size is how large a fetch may be: two fit into the share. The caller holds Reader.mu.
func (l *lane) size() int { return max(min(int(l.part)*fetchParts, l.share()/2), leastFetch) }

// lose gives all partitions back to be routed anew.
func (l *lane) lose(err error) {
	l.r.mu.Lock()
	parts := l.parts
	l.parts = nil
	delete(l.r.lanes, l.node)
	l.r.mu.Unlock()
	for _, p := range parts {
		l.r.lose(p, err)
	}
}

// fetch sends one request and hands on what comes. The error is the connection's.
func (l *lane) fetch(ctx context.Context, parts []*part, memory []byte) error {
	if l.link == nil {
		link, err := l.r.client.Dial(ctx, l.node)
		if err != nil {
			return err
		}
		l.link = link
	}
	q, err := l.request(parts)
	if err != nil {
		return err
	}
	began := time.Now()
	a, memory, err := l.link.Exchange(ctx, fetchWait+silence, q, memory, int(q.MaxBytes)+leastFetch)
	if err != nil {
		return err
	}
	l.last, l.took = len(memory), time.Since(began)
	l.r.bytes.Add(int64(len(memory)))
	l.r.fetches.Add(1)
	return l.take(ctx, parts, a.(*kmsg.FetchResponse), memory)
}

// request builds a fetch for the parts, in their order.
func (l *lane) request(parts []*part) (*kmsg.FetchRequest, error) {
	l.r.mu.Lock()
	size := l.size()
	l.r.mu.Unlock()
	q := kmsg.NewPtrFetchRequest()
	limit := int16(-1)
	if slices.ContainsFunc(parts, func(p *part) bool { return p.id == [16]byte{} }) {
		limit = 12 // the last with names
	}
	if err := l.link.Versions().Set(q, limit); err != nil {
		return nil, err
	}
	q.ReplicaID, q.SessionEpoch = -1, -1 // a consumer, without a session
	q.MaxWaitMillis, q.MinBytes, q.MaxBytes = int32(fetchWait/time.Millisecond), 1, int32(size)
	if l.r.o.Committed {
		q.IsolationLevel = 1
	}
	clear(l.asked)
	for _, p := range parts {
		if n := len(q.Topics); n == 0 || q.Topics[n-1].Topic != p.Topic {
			t := kmsg.NewFetchRequestTopic()
			t.Topic, t.TopicID = p.Topic, p.id
			q.Topics = append(q.Topics, t)
		}
		x := kmsg.NewFetchRequestTopicPartition()
		x.Partition, x.FetchOffset, x.LogStartOffset = p.Partition, p.at, -1
		x.PartitionMaxBytes = max(min(l.part, int32(size)), p.max)
		x.CurrentLeaderEpoch, x.LastFetchedEpoch = p.epoch, None
		if p.asked != None && p.asked != p.epoch { // a new leader says whether it knows what the old one had
			x.LastFetchedEpoch = p.last
		}
		t := &q.Topics[len(q.Topics)-1]
		t.Partitions = append(t.Partitions, x)
		l.asked[p] = true
	}
	return q, nil
}

// take hands the chunks of an answer on.
func (l *lane) take(ctx context.Context, parts []*part, a *kmsg.FetchResponse, memory []byte) error {
	if a.ErrorCode != 0 {
		return &codeError{a.ErrorCode}
	}
	f := &frame{lane: l, memory: memory, chunks: 1} // one is ours, until all are queued
	l.r.mu.Lock()
	l.held += cap(memory)
	l.r.mu.Unlock()
	full := false
	for i := range a.Topics {
		t := &a.Topics[i]
		for j := range t.Partitions {
			x := &t.Partitions[j]
			n := name{topic: t.Topic, partition: x.Partition}
			if a.Version >= 13 {
				n = name{id: t.TopicID, partition: x.Partition}
			}
			p := l.r.find(n)
			if !l.asked[p] {
				continue
			}
			delete(l.asked, p)
			full = full || len(x.RecordBatches) >= int(l.part)/4*3
			l.serve(ctx, p, x, f, p == parts[0] && a.ThrottleMillis == 0)
		}
	}
	for p := range l.asked {
		l.r.lose(p, errNotNamed)
	}
	l.r.mu.Lock()
	f.drop(l.r)
	l.r.mu.Unlock()
	l.grow(full)
	if a.ThrottleMillis > 0 { // over a quota: the broker would not read the next one before
		rest(ctx, min(time.Duration(a.ThrottleMillis)*time.Millisecond, longestRest))
	}
	return nil
}

// grow asks for more where answers are full, and the time goes with waiting for them.
func (l *lane) grow(full bool) {
	if !full {
		return
	}
	l.far++
	if waited := l.link.Waited(); waited < farWait || waited*2 < l.took {
		l.far = 0
	}
	if l.far >= farTimes {
		l.far, l.part = 0, min(l.part*2, partBytesFar)
	}
}

// serve hands on what an answer says of one partition. first says that the broker had no reason to leave it out.
func (l *lane) serve(ctx context.Context, p *part, x *kmsg.FetchResponseTopicPartition, f *frame, first bool) {
	if x.ErrorCode != 0 {
		l.refused(ctx, p, x.ErrorCode)
		return
	}
	s := scan(x.RecordBatches, p.at)
	end := x.HighWatermark
	if l.r.o.Committed && x.LastStableOffset >= 0 {
		end = x.LastStableOffset
	}
	switch {
	case x.DivergingEpoch.EndOffset >= 0 && x.DivergingEpoch.EndOffset < p.at:
		l.r.stop(p, &TruncatedError{p.Topic, p.Partition, p.at, x.DivergingEpoch.EndOffset})
		return
	case x.LogStartOffset > p.at && (s.whole == 0 || s.base > p.at):
		l.r.stop(p, &ExpiredError{p.Topic, p.Partition, p.at, x.LogStartOffset})
		return
	}
	p.trouble = trouble{}
	p.asked = p.epoch
	if s.epoch != None {
		p.last = s.epoch
	}
	switch {
	case s.next > p.at:
		p.empty, p.max = 0, 0
	case s.damage != nil:
	case s.cut > 0 && first && s.cut <= maxBatch && p.max < s.cut: // the first batch is larger than what was asked for
		p.max = s.cut
		return
	case s.cut > 0 && first:
		l.r.stop(p, &DamagedError{Topic: p.Topic, Partition: p.Partition, Offset: s.base, Reason: fmt.Sprintf("its length is %d, and only %d bytes of it come", s.cut, len(x.RecordBatches))})
		return
	case len(x.RecordBatches) > 0 && s.whole > 0:
		l.r.lose(p, errNoProgress)
		return
	case len(x.RecordBatches) == 0 && first && end > p.at && p.empty >= 2:
		s.next = end // compaction has left nothing up to the end
		p.empty = 0
	default:
		if len(x.RecordBatches) == 0 && first && end > p.at {
			p.empty++
		}
		return
	}
	c := &Chunk{
		Topic: p.Topic, Partition: p.Partition, From: p.at, Until: p.Until, Next: min(s.next, p.Until), Batches: x.RecordBatches,
		Aborted: aborted(x.AbortedTransactions), End: x.HighWatermark, Stable: x.LastStableOffset, Earliest: x.LogStartOffset,
	}
	c.release = func() { l.r.released(p, f) }
	p.at = c.Next
	l.r.mu.Lock()
	f.chunks++
	l.r.put(p, c)
	l.r.mu.Unlock()
	switch {
	case p.at >= p.Until:
		l.r.end(p)
	case s.damage != nil:
		l.r.stop(p, &DamagedError{Topic: p.Topic, Partition: p.Partition, Offset: s.base, Reason: s.damage.Error()})
	default:
		l.behind(p)
	}
}

// behind puts a part that was served behind the others, so that none starves.
func (l *lane) behind(p *part) {
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	if i := slices.Index(l.parts, p); i >= 0 {
		l.parts = append(slices.Delete(l.parts, i, i+1), p)
	}
}

// refused acts on the error of one partition.
func (l *lane) refused(ctx context.Context, p *part, code int16) {
	switch {
	case code == wire.CodeOffsetOutOfRange:
		l.outOfRange(ctx, p)
	case mayPass(code):
		l.r.lose(p, &codeError{code})
	default:
		e := &RefusedError{Topic: p.Topic, Partition: p.Partition, Broker: l.node, Code: code, Reason: wire.CodeText(code)}
		if code == wire.CodeTopicAuthorization {
			e.Denied, e.Reason = true, "not allowed: READ on topic "+p.Topic+" is missing"
		}
		l.r.stop(p, e)
	}
}

// outOfRange asks the leader what it has, to say whether the records expired or the log was cut.
func (l *lane) outOfRange(ctx context.Context, p *part) {
	earliest, end, err := bounds(ctx, l.r.client, l.node, p)
	switch {
	case err != nil:
		l.r.lose(p, err)
	case earliest > p.at:
		l.r.stop(p, &ExpiredError{p.Topic, p.Partition, p.at, earliest})
	case end < p.at:
		l.r.stop(p, &TruncatedError{p.Topic, p.Partition, p.at, end})
	default:
		l.r.lose(p, &codeError{wire.CodeOffsetOutOfRange})
	}
}

// bounds measures a partition at its leader.
func bounds(ctx context.Context, client *wire.Client, node int32, p *part) (earliest, end int64, err error) {
	answers, err := client.Do(ctx, node, func(v wire.Versions) ([]kmsg.Request, error) {
		var both []kmsg.Request
		for _, at := range []int64{-2, -1} {
			q := kmsg.NewPtrListOffsetsRequest()
			q.ReplicaID = -1
			t := kmsg.NewListOffsetsRequestTopic()
			t.Topic = p.Topic
			x := kmsg.NewListOffsetsRequestTopicPartition()
			x.Partition, x.Timestamp, x.CurrentLeaderEpoch = p.Partition, at, -1
			t.Partitions = append(t.Partitions, x)
			q.Topics = append(q.Topics, t)
			if err := v.Set(q, -1); err != nil {
				return nil, err
			}
			both = append(both, q)
		}
		return both, nil
	})
	if err != nil {
		return 0, 0, err
	}
	var found [2]int64
	for i, a := range answers {
		l := a.(*kmsg.ListOffsetsResponse)
		if len(l.Topics) != 1 || len(l.Topics[0].Partitions) != 1 {
			return 0, 0, errNotNamed
		}
		x := l.Topics[0].Partitions[0]
		if x.ErrorCode != 0 {
			return 0, 0, &codeError{x.ErrorCode}
		}
		found[i] = x.Offset
	}
	return found[0], found[1], nil
}
