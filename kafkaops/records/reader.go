package records

import (
	"context"
	"log/slog"
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
}

// Reader fetches the chunks of many partitions, from each leader over a connection of its own.
type Reader struct{}

// Read begins to fetch. The ranges name each partition at most once. An empty range (Until at or below From) is at its end
// already. The context ends the fetching; Close must be called.
func Read(ctx context.Context, client *wire.Client, ranges []Range, o Options) *Reader {
	return &Reader{}
}

// Next hands out a chunk; it waits until there is one. Several goroutines may call it at the same time: a partition's chunks come
// in the order of their offsets, and the next one only when the one before was released. So hold few chunks, and not for the sake
// of another partition's. A chunk may be without records, and still goes from From to Next.
//
// The error is io.EOF when all chunks of all ranges were handed out, the context's, or what ended the reading: *ExpiredError,
// *TruncatedError, *GoneError, *RefusedError, *UnreachableError, or a *wire.Error with refused credentials.
func (r *Reader) Next(ctx context.Context) (*Chunk, error) { return nil, nil }

// Close ends the fetching and waits for it. Chunks that are held may be used until they are released.
func (r *Reader) Close() {}

// Fetched tells how much was fetched so far: bytes as they came over the wire, and fetches.
func (r *Reader) Fetched() (bytes, fetches int64) { return 0, 0 }
