package records

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gtoffset/kafkaops/wire"
)

// Range is what to read of one partition: the records from From to below Until, or without an end with Forever.
type Range struct {
	Topic     string
	TopicID   string // as Kafka prints it; "" takes whatever the topic's id is when reading begins
	Partition int32
	From      int64 // in [earliest, end]
	Until     int64
}

// Options says how to read. The zero value is ready.
type Options struct {
	Committed bool          // read_committed: nothing of transactions that are open or were aborted
	Memory    int           // bytes of fetched records that are held at one time; 0: 96 MiB
	Patience  time.Duration // how long a partition without an answer is tried for; 0: one minute
	Log       *slog.Logger  // moves and retries; nil: none

	// Known tells the leader of a partition if it was asked for already, which saves a look; nil: it was not. It need not be true
	// any more.
	Known func(topic string, partition int32) (Leader, bool)
}

// Leader is the broker that leads a partition.
type Leader struct {
	Broker  int32
	Epoch   int32    // None if not known
	TopicID [16]byte // zero if the broker has none
}

const (
	defaultMemory   = 96 << 20
	defaultPatience = time.Minute
)

// Reader fetches the chunks of many partitions, from each leader over a connection of its own.
type Reader struct {
	client *wire.Client
	o      Options
	ctx    context.Context // ends with Close, with the failure, or as the one given to Read
	cancel context.CancelFunc
	wg     sync.WaitGroup

	ready chan *part    // has chunks, none of which is held; every part is in it at most once
	done  chan struct{} // closed when everything was handed out
	wake  chan struct{} // tells route that parts were lost

	parts  []*part
	byName map[name]*part

	mu    sync.Mutex
	err   error
	left  int // parts that are not over
	lanes map[int32]*lane
	lost  []*part // without a lane: not yet begun, or their leader has moved or does not answer
	free  [][]byte

	bytes, fetches atomic.Int64
}

// name finds a partition in an answer: by the topic's name or by its id.
type name struct {
	topic     string
	id        [16]byte
	partition int32
}

// part is one partition that is being read.
type part struct {
	Range
	id [16]byte // of the topic; zero if not known

	// Fetching; whoever has the part (its lane, or route) may touch these.
	at      int64 // next offset to fetch
	leader  int32
	epoch   int32 // of the leader
	asked   int32 // epoch of the leader that answered last, None before
	last    int32 // epoch of the last batch that was fetched
	max     int32 // bytes to ask for at least: a batch that did not fit
	empty   int   // times that nothing came although there is more
	trouble trouble

	// Handing out; guarded by Reader.mu.
	lane   *lane
	queue  []*Chunk
	held   bool
	ended  bool  // everything was fetched
	broken error // why it cannot be read behind the last chunk
}

// depth is how many chunks of a partition wait to be handed out: one can be fetched while another is walked.
const depth = 2

// Read begins to fetch. The ranges name each partition at most once. An empty range (Until at or below From) is at its end
// already. The context ends the fetching; Close must be called.
func Read(ctx context.Context, client *wire.Client, ranges []Range, o Options) *Reader {
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &Reader{
		client: client, o: o, ready: make(chan *part, len(ranges)), done: make(chan struct{}),
		wake: make(chan struct{}, 1), byName: map[name]*part{}, lanes: map[int32]*lane{},
	}
	for _, x := range ranges {
		p := &part{Range: x, at: x.From, leader: None, epoch: None, asked: None, last: None}
		r.parts = append(r.parts, p)
		if p.at < p.Until {
			r.lost = append(r.lost, p)
			r.byName[name{topic: p.Topic, partition: p.Partition}] = p
			r.left++
		}
	}
	if r.left == 0 {
		close(r.done)
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.begin()
	r.wg.Go(func() { r.route(r.ctx) })
	return r
}

// begin gives the parts whose leader is known to their lanes. The others are lost, for route to find.
func (r *Reader) begin() {
	if r.o.Known == nil {
		return
	}
	parts := r.lost
	r.lost = nil
	for _, p := range parts {
		l, ok := r.o.Known(p.Topic, p.Partition)
		switch {
		case !ok || l.Broker < 0:
			r.mu.Lock()
			r.lost = append(r.lost, p)
			r.mu.Unlock()
		case r.identify(p, l.TopicID):
			r.give(p, l.Broker, l.Epoch)
		}
	}
}

// Next hands out a chunk; it waits until there is one. Several goroutines may call it at the same time: a partition's chunks come
// in the order of their offsets, and the next one only when the one before was released. So hold few chunks, and not for the sake
// of another partition's. A chunk may be without records, and still goes from From to Next.
//
// The error is io.EOF when all chunks of all ranges were handed out, the context's, or what ended the reading: *ExpiredError,
// *TruncatedError, *GoneError, *DamagedError, *RefusedError, *UnreachableError, or an error of wire with refused credentials. What is
// wrong with a partition comes after the chunks of that partition that were fetched before. Compare with ==: a broker that hung up
// leaves an io.EOF within the error, too.
func (r *Reader) Next(ctx context.Context) (*Chunk, error) {
	select {
	case <-r.ctx.Done():
		return nil, r.ended()
	default:
	}
	select {
	case p := <-r.ready:
		return r.handOut(p), nil
	case <-r.done:
		return nil, io.EOF
	case <-r.ctx.Done():
		return nil, r.ended()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ended is why the fetching has ended.
func (r *Reader) ended() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err != nil:
		return r.err
	case r.left == 0:
		return io.EOF
	}
	return r.ctx.Err()
}

// Close ends the fetching and waits for it. Chunks that are held may be used until they are released.
func (r *Reader) Close() {
	r.cancel()
	r.wg.Wait()
}

// Fetched tells how much was fetched so far: bytes as they came over the wire, and fetches.
func (r *Reader) Fetched() (bytes, fetches int64) { return r.bytes.Load(), r.fetches.Load() }

func (r *Reader) handOut(p *part) *Chunk {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := p.queue[0]
	p.queue = append(p.queue[:0], p.queue[1:]...)
	p.held = true
	p.lane.poke()
	r.over(p)
	return c
}

// over notes that nothing is left of a part, once it is so. The caller holds mu.
func (r *Reader) over(p *part) {
	if p.ended && len(p.queue) == 0 {
		r.left--
		if r.left == 0 {
			close(r.done)
		}
	}
}

// put queues a chunk. The caller holds mu.
func (r *Reader) put(p *part, c *Chunk) {
	p.queue = append(p.queue, c)
	if len(p.queue) == 1 && !p.held {
		r.ready <- p
	}
}

// released makes a part ready again.
func (r *Reader) released(p *part, f *frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.held = false
	switch {
	case len(p.queue) > 0:
		r.ready <- p
	case p.broken != nil:
		r.failLocked(p.broken)
	}
	f.drop(r)
}

// end notes that all of a part was fetched: it leaves its lane.
func (r *Reader) end(p *part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.ended = true
	p.lane.remove(p)
	r.over(p)
}

// stop notes that a part cannot be read any further. The reading fails with it when what was fetched before has been released.
func (r *Reader) stop(p *part, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopLocked(p, err)
}

func (r *Reader) stopLocked(p *part, err error) {
	p.broken = err
	p.lane.remove(p)
	if len(p.queue) == 0 && !p.held {
		r.failLocked(err)
	}
}

// failLocked ends the reading. The caller holds mu.
func (r *Reader) failLocked(err error) {
	if r.err == nil {
		r.err = err
		r.cancel()
	}
}

// frame is an answer, as long as somebody holds a chunk of it.
type frame struct {
	lane   *lane
	memory []byte
	chunks int
}

// drop gives up one chunk of the frame. The caller holds Reader.mu.
func (f *frame) drop(r *Reader) {
	f.chunks--
	if f.chunks > 0 {
		return
	}
	f.lane.held -= cap(f.memory)
	f.lane.poke()
	r.keep(f.memory)
}

// keep holds memory for the next answers. The caller holds mu.
func (r *Reader) keep(memory []byte) {
	if cap(memory) > 0 {
		r.free = append(r.free, memory[:0])
	}
}

// memory takes memory for an answer, the piece that fits best: the smallest that is as large as wanted, else the largest. The caller
// holds mu.
func (r *Reader) memory(want int) []byte {
	if len(r.free) == 0 {
		return nil
	}
	better := func(a, b []byte) bool {
		if cap(a) >= want && cap(b) >= want {
			return cap(a) < cap(b)
		}
		return cap(a) > cap(b)
	}
	best := 0
	for i := range r.free {
		if better(r.free[i], r.free[best]) {
			best = i
		}
	}
	m := r.free[best]
	r.free = slices.Delete(r.free, best, best+1)
	return m
}
