package records

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// ProducerOptions says how to write. The zero value is ready.
type ProducerOptions struct {
	BatchBytes int           // of a batch before it is compressed; 0: 512 KiB. A record that is larger gets a batch of its own
	Memory     int           // bytes of batches that wait for their acknowledgement; 0: 32 MiB
	Patience   time.Duration // how long a batch without an answer is tried for; 0: one minute
	TopicID    string        // of the topic, as Kafka prints it; "" takes whatever it is when writing begins
	Log        *slog.Logger  // retries; nil: none
}

const (
	defaultBatch  = 512 << 10        // BatchBytes, and
	defaultQueue  = 32 << 20         // Memory, where nothing is said
	manyParts     = 32               // partitions, above which none keeps its buffer
	maxProduce    = 16 << 20         // bytes of one request
	produceWithin = 15 * time.Second // what a leader is given for an answer
)

// Producer writes records to one topic: acks=all, idempotent, one request in flight for each partition. It is used by one
// goroutine.
type Producer struct {
	client *wire.Client
	topic  string
	o      ProducerOptions
	cancel context.CancelFunc
	wg     sync.WaitGroup
	z      compressor

	work  chan struct{} // there is something to send
	acked chan struct{} // less is waiting, or all is over

	// of the sender alone
	id      [16]byte
	links   map[int32]*wire.Link
	leaders map[int32]int32
	who     identity // that new partitions take
	since   time.Time
	tries   int

	mu      sync.Mutex
	err     error
	parts   map[int32]*target
	waiting int  // bytes
	batch   int  // BatchBytes, or what the broker turned out to take
	wrote   bool // a batch was acknowledged, or sent and not answered
}

// identity is a producer id with its epoch.
type identity struct {
	id    int64
	epoch int16
	given bool
}

// target is one partition that is written to.
type target struct {
	partition int32

	// of the appending goroutine
	building builder
	codec    Codec
	sources  []int64

	// of the sender
	who      identity
	sequence int32 // of the next record

	queue []*sending // guarded by Producer.mu; the sender takes the first
}

// sending is a batch on its way.
type sending struct {
	batch   []byte
	sources []int64 // source offset of each record
	stamped bool
	unknown bool // it was sent, and not answered
	err     error
}

// Produce makes a producer for a topic. It sends nothing before Append.
func Produce(client *wire.Client, topic string, o ProducerOptions) *Producer {
	if o.BatchBytes <= 0 {
		o.BatchBytes = defaultBatch
	}
	if o.Memory <= 0 {
		o.Memory = defaultQueue
	}
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Producer{
		client: client, topic: topic, o: o, batch: o.BatchBytes, work: make(chan struct{}, 1), acked: make(chan struct{}, 1),
		links: map[int32]*wire.Link{}, leaders: map[int32]int32{}, parts: map[int32]*target{},
	}
}

// Append copies a record into the current batch of a partition, with key, value, headers and timestamp as they are (a timestamp
// becomes a CreateTime), compressed by codec. It waits while too many bytes are unacknowledged. The error may concern any record
// appended before; nothing may be appended after it.
func (p *Producer) Append(ctx context.Context, partition int32, codec Codec, r *Record) error {
	p.mu.Lock()
	err, limit, t := p.err, p.batch, p.parts[partition]
	if t == nil {
		t = &target{partition: partition}
		p.parts[partition] = t
	}
	p.mu.Unlock()
	if err != nil {
		return err
	}
	if t.building.count > 0 && (t.codec != codec || t.building.len()+size(r) > limit) {
		if err := p.close(t); err != nil {
			return err
		}
		if err := p.wait(ctx, p.o.Memory); err != nil {
			return err
		}
	}
	t.codec = codec
	t.building.add(r)
	t.sources = append(t.sources, r.Offset)
	return nil
}

// Flush sends what is left and waits until every record appended so far is acknowledged by all replicas in sync. The error is a
// *WriteError that names the record, a *GoneError, or the context's.
func (p *Producer) Flush(ctx context.Context) error {
	for _, partition := range slices.Sorted(maps.Keys(p.parts)) {
		if t := p.parts[partition]; t.building.count > 0 {
			if err := p.close(t); err != nil {
				return err
			}
		}
	}
	return p.wait(ctx, 0)
}

// Close drops what was not sent and closes the connections.
func (p *Producer) Close() {
	if p.cancel != nil {
		p.cancel()
	}
	p.wg.Wait()
	for _, l := range p.links {
		l.Close()
	}
}

// close queues the batch that is being built.
func (p *Producer) close(t *target) error {
	batch, err := t.building.finish(&p.z, t.codec)
	if err != nil {
		return err
	}
	if len(p.parts) > manyParts { // each would hold a batch's memory
		t.building.buf = nil
	}
	s := &sending{batch: batch, sources: t.sources}
	t.sources = nil
	p.mu.Lock()
	t.queue = append(t.queue, s)
	p.waiting += len(batch)
	p.mu.Unlock()
	if p.cancel == nil {
		ctx, cancel := context.WithCancel(context.Background())
		p.cancel = cancel
		p.wg.Go(func() { p.send(ctx) })
	}
	poke(p.work)
	return nil
}

// wait returns when at most limit bytes are waiting.
func (p *Producer) wait(ctx context.Context, limit int) error {
	for {
		p.mu.Lock()
		err, waiting := p.err, p.waiting
		p.mu.Unlock()
		if err != nil || waiting <= limit {
			return err
		}
		select {
		case <-p.acked:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// send sends what is queued, in rounds: the first batch of each partition, to all leaders at the same time.
func (p *Producer) send(ctx context.Context) {
	for {
		round := p.first()
		if len(round) == 0 {
			select {
			case <-p.work:
				continue
			case <-ctx.Done():
				return
			}
		}
		err := p.prepare(ctx, round)
		if err == nil {
			err = p.round(ctx, round)
		}
		if ctx.Err() != nil || p.over() || err != nil && !p.again(ctx, round, err) {
			return
		}
	}
}

// first is the first batch of each partition.
func (p *Producer) first() map[*target]*sending {
	p.mu.Lock()
	defer p.mu.Unlock()
	round := map[*target]*sending{}
	for _, t := range p.parts {
		if len(t.queue) > 0 {
			round[t] = t.queue[0]
		}
	}
	return round
}

// over reports whether the writing has failed.
func (p *Producer) over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err != nil
}

// fail ends the writing.
func (p *Producer) fail(err error) {
	p.mu.Lock()
	if p.err == nil {
		p.err = err
	}
	p.mu.Unlock()
	poke(p.acked)
}

// again waits before the next round, and reports whether there is to be one.
func (p *Producer) again(ctx context.Context, round map[*target]*sending, err error) bool {
	now := time.Now()
	if p.since.IsZero() {
		p.since, p.tries = now, 0
	}
	p.tries++
	if waited := now.Sub(p.since); final(err) || waited > p.o.Patience {
		p.giveUp(round, err, waited)
		return false
	}
	p.o.Log.Info("write is tried again", "topic", p.topic, "try", p.tries, "error", err)
	p.leaders = map[int32]int32{}
	rest(ctx, pauseFor(p.tries+1))
	return ctx.Err() == nil
}

// giveUp fails with the batch that could not be written.
func (p *Producer) giveUp(round map[*target]*sending, err error, waited time.Duration) {
	var gone *GoneError
	if final(err) || errors.As(err, &gone) {
		p.fail(err)
		return
	}
	var worst *target
	for t, s := range round {
		if s.err != nil && (worst == nil || t.partition < worst.partition) {
			worst = t
		}
	}
	if worst == nil {
		p.fail(err)
		return
	}
	e := p.refusal(worst, round[worst], 0, "no acknowledgement for "+waited.Round(100*time.Millisecond).String()+": "+round[worst].err.Error())
	e.Err, e.Unknown = round[worst].err, round[worst].unknown
	p.fail(e)
}

// refusal names the records of a batch.
func (p *Producer) refusal(t *target, s *sending, code int16, reason string) *WriteError {
	return &WriteError{Topic: p.topic, Partition: t.partition, Source: s.sources[0], Last: s.sources[len(s.sources)-1], Code: code, Reason: reason}
}

// prepare makes sure that there is a producer id and a leader for every partition of the round.
func (p *Producer) prepare(ctx context.Context, round map[*target]*sending) error {
	note := func(err error) error {
		for _, s := range round {
			s.err = err
		}
		return err
	}
	for t := range round {
		if t.who.given {
			continue
		}
		if !p.who.given {
			who, err := initProducer(ctx, p.client)
			if err != nil {
				return note(err)
			}
			p.who = who
		}
		t.who, t.sequence = p.who, 0
	}
	for t := range round {
		if _, ok := p.leaders[t.partition]; !ok {
			return note(p.locate(ctx))
		}
	}
	return nil
}

// initProducer gets a producer id. A fresh cluster has none at first.
func initProducer(ctx context.Context, client *wire.Client) (identity, error) {
	answers, err := client.Do(ctx, wire.Any, func(v wire.Versions) ([]kmsg.Request, error) {
		q := kmsg.NewPtrInitProducerIDRequest()
		q.TransactionTimeoutMillis, q.ProducerID, q.ProducerEpoch = math.MaxInt32, -1, -1
		return []kmsg.Request{q}, v.Set(q, -1)
	})
	if err != nil {
		return identity{}, err
	}
	r := answers[0].(*kmsg.InitProducerIDResponse)
	if r.ErrorCode != 0 {
		return identity{}, &codeError{r.ErrorCode}
	}
	return identity{r.ProducerID, r.ProducerEpoch, true}, nil
}

// locate finds the leaders.
func (p *Producer) locate(ctx context.Context) error {
	p.client.NewLook()
	m, err := p.client.Metadata(ctx, []string{p.topic})
	if err != nil {
		return err
	}
	if len(m.Topics) != 1 {
		return errNotNamed
	}
	t := m.Topics[0]
	if t.ErrorCode != 0 {
		return &codeError{t.ErrorCode}
	}
	if t.TopicID != [16]byte{} {
		now := offsets.TopicID(t.TopicID)
		if p.o.TopicID == "" {
			p.o.TopicID = now
		}
		if p.o.TopicID != now {
			err := &GoneError{Topic: p.topic, Partition: None, ID: p.o.TopicID, Now: now}
			p.fail(err)
			return err
		}
		p.id = t.TopicID
	}
	p.leaders = map[int32]int32{}
	for _, x := range t.Partitions {
		p.leaders[x.Partition] = max(x.Leader, None)
	}
	return nil
}

// round sends the batches to their leaders. The error is a reason to send some of them again.
func (p *Producer) round(ctx context.Context, round map[*target]*sending) error {
	work := map[int32][]*target{}
	var first error
	sizes := map[int32]int{}
	for t, s := range round {
		leader, ok := p.leaders[t.partition]
		switch {
		case !ok:
			s.err = &codeError{wire.CodeUnknownTopic}
		case leader == None:
			s.err = errNoLeader
		default:
			if sizes[leader] > 0 && sizes[leader]+len(s.batch) > maxProduce {
				continue // in a later round
			}
			sizes[leader] += len(s.batch)
			work[leader] = append(work[leader], t)
			continue
		}
		first = s.err
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	for leader, targets := range work {
		link := p.links[leader]
		delete(p.links, leader)
		wg.Go(func() {
			link, err := p.exchange(ctx, leader, link, targets, round)
			mu.Lock()
			defer mu.Unlock()
			if link != nil {
				p.links[leader] = link
			}
			if err != nil {
				first = err
			}
		})
	}
	wg.Wait()
	if first == nil {
		p.since = time.Time{}
	}
	return first
}

// exchange sends one request, and returns the link if it can be used again.
func (p *Producer) exchange(ctx context.Context, leader int32, link *wire.Link, targets []*target, round map[*target]*sending) (*wire.Link, error) {
	note := func(err error, unknown bool) error {
		for _, t := range targets {
			round[t].err = err
			round[t].unknown = round[t].unknown || unknown
		}
		if unknown {
			p.doubted()
		}
		return err
	}
	if link == nil {
		var err error
		if link, err = p.client.Dial(ctx, leader); err != nil {
			return nil, note(err, false)
		}
	}
	q, err := p.request(link.Versions(), targets, round)
	if err != nil {
		link.Close()
		return nil, note(err, false)
	}
	a, _, err := link.Exchange(ctx, produceWithin+silence, q, nil, 0)
	if err != nil {
		link.Close()
		return nil, note(err, true)
	}
	answer := a.(*kmsg.ProduceResponse)
	if answer.ThrottleMillis > 0 {
		rest(ctx, min(time.Duration(answer.ThrottleMillis)*time.Millisecond, longestRest))
	}
	note(errNotNamed, false)
	for _, t := range answer.Topics {
		for i := range t.Partitions {
			x := &t.Partitions[i]
			if at := slices.IndexFunc(targets, func(t *target) bool { return t.partition == x.Partition }); at >= 0 {
				p.answered(targets[at], round[targets[at]], x)
			}
		}
	}
	for _, t := range targets {
		if round[t].err != nil {
			err = round[t].err
		}
	}
	return link, err
}

func (p *Producer) request(v wire.Versions, targets []*target, round map[*target]*sending) (*kmsg.ProduceRequest, error) {
	q := kmsg.NewPtrProduceRequest()
	q.Acks, q.TimeoutMillis = -1, int32(produceWithin/time.Millisecond)
	limit := int16(-1)
	if p.id == [16]byte{} {
		limit = 12 // the last with names
	}
	if err := v.Set(q, limit); err != nil {
		return nil, err
	}
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic, topic.TopicID = p.topic, p.id
	for _, t := range targets {
		s := round[t]
		if !s.stamped {
			stamp(s.batch, t.who.id, t.who.epoch, t.sequence)
			s.stamped = true
		}
		x := kmsg.NewProduceRequestTopicPartition()
		x.Partition, x.Records = t.partition, s.batch
		topic.Partitions = append(topic.Partitions, x)
	}
	q.Topics = append(q.Topics, topic)
	return q, nil
}

// answered acts on what a leader says of one batch. It leaves sending.err nil where nothing is to be sent again.
func (p *Producer) answered(t *target, s *sending, x *kmsg.ProduceResponseTopicPartition) {
	s.err = nil
	switch code := x.ErrorCode; code {
	case 0, wire.CodeDuplicateSequence: // the second: an earlier try was stored, and is older than what the broker remembers
		t.sequence = int32((int64(t.sequence) + int64(len(s.sources))) & math.MaxInt32) // wraps to 0
		p.acknowledge(t, s)
	case wire.CodeMessageTooLarge, wire.CodeRecordListTooLarge:
		if len(s.sources) == 1 {
			p.fail(p.refusal(t, s, code, wire.CodeText(code)+"; it has "+offsets.Plural(len(s.batch), "byte")))
			return
		}
		if err := p.split(t, s); err != nil {
			p.fail(p.refusal(t, s, code, err.Error()))
		}
	case wire.CodeOutOfOrderSequence, wire.CodeUnknownProducerID, wire.CodeInvalidProducerEpoch:
		p.forgotten(t, s, code)
	case wire.CodeRequestTimedOut, wire.CodeNotEnoughReplicasAppend, wire.CodeUnknownServerError, wire.CodeNetworkException:
		s.err, s.unknown = &codeError{code}, true
		p.doubted()
	case wire.CodeNotEnoughReplicas:
		s.err = &codeError{code}
	default:
		if mayPass(code) {
			s.err = &codeError{code}
			return
		}
		p.refuse(t, s, x)
	}
}

func (p *Producer) doubted() {
	p.mu.Lock()
	p.wrote = true
	p.mu.Unlock()
}

// Wrote reports whether any record is in the topic now, or may be.
func (p *Producer) Wrote() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wrote
}

func (p *Producer) acknowledge(t *target, s *sending) {
	p.mu.Lock()
	t.queue = slices.Delete(t.queue, 0, 1)
	p.waiting -= len(s.batch)
	p.wrote = true
	p.mu.Unlock()
	poke(p.acked)
}

// forgotten acts on a broker that does not know what was written before. Retention may have taken it, and a new producer id mends
// that; not if this very batch may have been stored, or if what was acknowledged is missing.
func (p *Producer) forgotten(t *target, s *sending, code int16) {
	if code == wire.CodeOutOfOrderSequence || s.unknown {
		e := p.refusal(t, s, code, wire.CodeText(code))
		e.Unknown = s.unknown
		if !s.unknown {
			e.Reason += "; records that were acknowledged are lost"
		}
		p.fail(e)
		return
	}
	t.who, p.who = identity{}, identity{}
	s.stamped, s.err = false, &codeError{code}
}

// refuse fails with the record that the broker names, or the whole batch.
func (p *Producer) refuse(t *target, s *sending, x *kmsg.ProduceResponseTopicPartition) {
	code := x.ErrorCode
	e := p.refusal(t, s, code, wire.CodeText(code))
	if code == wire.CodeTopicAuthorization {
		e.Denied, e.Reason = true, "not allowed: WRITE on topic "+p.topic+" is missing"
	}
	if x.ErrorMessage != nil && *x.ErrorMessage != "" {
		e.Reason += ": " + *x.ErrorMessage
	}
	for _, r := range x.ErrorRecords {
		if r.RelativeOffset < 0 || int(r.RelativeOffset) >= len(s.sources) {
			continue
		}
		e.Source = s.sources[r.RelativeOffset]
		e.Last = e.Source
		if r.ErrorMessage != nil && *r.ErrorMessage != "" {
			e.Reason += ": " + *r.ErrorMessage
		}
		break
	}
	p.fail(e)
}

// split makes two batches of one that was too large, and of those to come smaller ones.
func (p *Producer) split(t *target, s *sending) error {
	var w Walker
	w.Reset(&Chunk{Topic: p.topic, Partition: t.partition, Until: Forever, Next: Forever, Batches: s.batch})
	var z compressor
	var b builder
	var parts []*sending
	half := len(s.sources) / 2
	flat := 0
	for i := 0; w.Next(); i++ {
		b.add(w.Record())
		if i != half-1 && i != len(s.sources)-1 {
			continue
		}
		flat += b.len()
		batch, err := b.finish(&z, w.Batch().Codec)
		if err != nil {
			return err
		}
		sources := s.sources[:half]
		if len(parts) > 0 {
			sources = s.sources[half:]
		}
		parts = append(parts, &sending{batch: batch, sources: sources})
	}
	if w.Err() != nil {
		return w.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t.queue = append(slices.Clip(parts), t.queue[1:]...)
	p.waiting -= len(s.batch)
	for _, s := range parts {
		p.waiting += len(s.batch)
	}
	p.batch = max(min(p.batch, flat/2), 1<<10)
	return nil
}
