// Package records reads the records of partitions again, and writes copies of them: fetches and produce requests over
// kafkaops/wire, and the record batches themselves.
//
// The batches are pure over bytes: a Walker goes through what a broker sent (a Chunk), record by record, without an allocation
// for each. A Reader fetches the chunks of many partitions from their leaders:
//
//	r := records.Read(ctx, client, ranges, records.Options{Committed: true})
//	defer r.Close()
//	for { // any number of goroutines
//		c, err := r.Next(ctx)
//		if err == io.EOF {
//			break // every range was read to its end
//		}
//		…
//		for w.Reset(c); w.Next(); {
//			use(w.Record())
//		}
//		err = w.Err()
//		c.Release()
//	}
//
// A Producer writes records to a topic, idempotently.
package records

import (
	"math"
)

// None stands for "no timestamp", "no epoch", "no producer".
const None = -1

// Forever is the Until of a range without an end.
const Forever int64 = math.MaxInt64

// Record is one record as it lies in its batch. Its bytes are the batch's: they are valid until the walker goes on. A nil Key or
// Value is null, an empty one is empty.
type Record struct {
	Offset    int64
	Timestamp int64 // milliseconds since 1970; None where there is none
	Key       []byte
	Value     []byte

	headers []byte // as in the batch, well formed
	count   int    // of headers
}

// Headers goes through the headers of a record, in their order: for h := r.Headers(); h.Next(); { … }
func (r *Record) Headers() Headers { return Headers{rest: r.headers, left: r.count} }

// HeaderCount is the number of headers.
func (r *Record) HeaderCount() int { return r.count }

// Headers is a place among the headers of a record. Key and Value are valid after Next, as long as the record is. A key may come
// more than once; a nil Value is null.
type Headers struct {
	Key   []byte
	Value []byte
	rest  []byte
	left  int
}

// Next goes on to the next header and reports whether there is one.
func (h *Headers) Next() bool {
	if h.left <= 0 {
		return false
	}
	h.left--
	h.Key, h.rest, _ = lengthed(h.rest)
	h.Value, h.rest, _ = lengthed(h.rest)
	return true
}

// Codec is how a batch is compressed.
type Codec int8

// Kafka's codecs, with Kafka's numbers.
const (
	Uncompressed Codec = iota
	Gzip
	Snappy
	LZ4
	Zstd
)

// String is Kafka's name of the codec.
func (c Codec) String() string {
	switch c {
	case Uncompressed:
		return "none"
	case Gzip:
		return "gzip"
	case Snappy:
		return "snappy"
	case LZ4:
		return "lz4"
	case Zstd:
		return "zstd"
	}
	return "unknown"
}

// Batch is what the head of a batch says. A message of the old formats (v0, v1) that is not a compressed wrapper is a batch of
// its own.
type Batch struct {
	Base  int64 // first offset
	Last  int64 // last offset, whether or not a record is still there
	Count int   // records that are there
	Magic int8  // format: 0, 1 or 2
	Codec Codec
	Size  int // bytes, as stored

	LogAppend     bool  // timestamps are the broker's, one for the whole batch
	MaxTimestamp  int64 // milliseconds; None where there is none
	LeaderEpoch   int32 // None in the old formats
	Transactional bool
	Control       bool  // the one record is a marker
	Aborted       bool  // its transaction was aborted, by the list of the chunk
	ProducerID    int64 // None where there is none
	ProducerEpoch int16
	Sequence      int32
}

// Marker is what a control record says.
type Marker int16

// The markers that end a transaction. There are others, which say nothing about records.
const (
	Abort  Marker = 0
	Commit Marker = 1
)

// Aborted is a transaction that was aborted: the records of a producer from First on, up to its abort marker.
type Aborted struct {
	ProducerID int64
	First      int64
}

// Chunk is part of a partition as a broker sent it: whole batches, the last of which may be cut short.
type Chunk struct {
	Topic     string
	Partition int32
	From      int64     // records below it are not wanted
	Until     int64     // nor are those from here on
	Next      int64     // where the partition goes on once the chunk has been read: past the last whole batch, at most Until
	Batches   []byte    // whole batches, and perhaps a piece of one
	Aborted   []Aborted // sorted by First; empty without read_committed

	End      int64 // the partition's end (high watermark) when the chunk was fetched; None if not known
	Stable   int64 // its last stable offset; None if not known
	Earliest int64 // its first offset; None if not known

	release func()
}

// Release gives the chunk's memory back. A partition's next chunk is handed out only then.
func (c *Chunk) Release() {
	if f := c.release; f != nil {
		c.release = nil
		f()
	}
}
