package records

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Walker goes through the records of chunks, in the order of their offsets. Between Reset and the end it can be left and taken up
// again at any record. The zero value is ready; one walker serves one goroutine, and keeps its memory from chunk to chunk.
//
//	for w.Reset(c); w.Next(); {
//		use(w.Record())
//	}
//	if err := w.Err(); err != nil { … }
//
// Records outside of the chunk's range, records of aborted transactions and (unless Control is set) markers are passed over.
// Checksums are verified, whole batches at a time: what is damaged is not given out.
type Walker struct {
	Control bool // markers are records, too: Batch().Control and Marker() tell
	Limit   int  // bytes that one batch may decompress to; 0: 128 MiB

	chunk    *Chunk
	rest     []byte // of the chunk, behind this batch
	position int64
	err      error

	batch Batch
	recs  []byte // of this batch, behind the record
	left  int    // records of this batch that are still to come
	old   bool   // the batch is in one of the old formats
	base  int64  // what offsets of this batch are relative to
	time  int64  // what timestamps are relative to; the timestamp itself with LogAppend
	delta int64  // offset delta of the last record that was read, -1 before the first
	rec   Record

	aborted []Aborted // that begin behind this batch
	open    map[int64]struct{}
	z       decompressor
}

// defaultLimit is far above what a producer can send in one request (1 MB by default, before it is compressed).
const defaultLimit = 128 << 20

// Reset begins a chunk. What the walker gave out before is no longer valid.
func (w *Walker) Reset(c *Chunk) {
	w.chunk, w.rest, w.position, w.err = c, c.Batches, c.From, nil
	w.recs, w.left, w.rec = nil, 0, Record{}
	w.aborted = c.Aborted
	clear(w.open)
	w.z.shrink()
}

// Next goes on to the next record of the chunk and reports whether there is one.
func (w *Walker) Next() bool {
	for !w.NextRecord() {
		if !w.NextBatch() {
			return false
		}
	}
	return true
}

// NextBatch leaves what is left of this batch and goes on to the next one, of whatever kind, empty ones too. It reports whether
// there is one that reaches into the chunk's range.
func (w *Walker) NextBatch() bool {
	w.left = 0
	for w.err == nil {
		n, why := batchLen(w.rest)
		if why != "" {
			w.batch = Batch{Base: int64(binary.BigEndian.Uint64(w.rest))}
			return w.damaged("%s", why)
		}
		if n == 0 {
			break
		}
		b := w.rest[:n]
		w.rest = w.rest[n:]
		in := w.enter(b)
		if w.err != nil {
			return false
		}
		if in {
			return true
		}
		if w.batch.Base >= w.chunk.Until {
			break
		}
	}
	if w.err == nil && w.chunk != nil {
		w.rest, w.position = nil, max(w.position, w.chunk.Next)
	}
	return false
}

// NextRecord goes on to the next record of this batch and reports whether there is one.
func (w *Walker) NextRecord() bool {
	if w.old {
		return w.nextOld()
	}
	for w.left > 0 {
		w.left--
		if !w.readRecord() {
			return w.damaged("a record in it has lengths that do not fit")
		}
		if w.left == 0 && len(w.recs) != 0 {
			return w.damaged("there is more in it than its records")
		}
		if w.rec.Offset < w.chunk.From {
			continue
		}
		if w.rec.Offset >= w.chunk.Until {
			w.left = 0
			return false
		}
		w.took()
		return true
	}
	return false
}

// took moves on behind a record that is given out.
func (w *Walker) took() {
	w.position = w.rec.Offset + 1
}

// Record is the record that Next found. It is overwritten by the next one.
func (w *Walker) Record() *Record { return &w.rec }

// Batch is what the record's batch says. It is overwritten by the next one.
func (w *Walker) Batch() *Batch { return &w.batch }

// Marker is what the record says if its batch is a control batch; None if it says nothing.
func (w *Walker) Marker() Marker {
	if !w.batch.Control || len(w.rec.Key) < 4 {
		return None
	}
	return Marker(binary.BigEndian.Uint16(w.rec.Key[2:]))
}

// Position is the next offset to read: behind the last record that Next found, and once Next found no more, where the partition
// goes on (Chunk.Next). It is what to save when the records so far were processed.
func (w *Walker) Position() int64 { return w.position }

// Err is what ended the walk, nil at the end of the chunk: a *DamagedError or a *TooLargeError.
func (w *Walker) Err() error { return w.err }

func (w *Walker) damaged(format string, args ...any) bool {
	w.left = 0
	w.err = &DamagedError{Topic: w.chunk.Topic, Partition: w.chunk.Partition, Offset: w.batch.Base, Reason: fmt.Sprintf(format, args...)}
	return false
}

// Layout of a v2 batch. The first 17 bytes mean the same in all formats, but for the checksum's.
const (
	atLength   = 8  // of what follows
	atEpoch    = 12 // of the leader
	atMagic    = 16
	atCRC      = 17
	atAttrs    = 21
	atLast     = 23 // offset delta
	atTime     = 27
	atMaxTime  = 35
	atProducer = 43
	atPEpoch   = 51
	atSequence = 53
	atCount    = 57
	atRecords  = 61

	// and of a message of the old formats
	atOldCRC   = 12
	atOldAttrs = 17
	atOldTime  = 18 // v1
	minOld     = 26 // of a v0 message, with nothing in it
)

var (
	be         = binary.BigEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// batchLen is the length of the batch at the beginning of b, 0 if it is cut short, or why it cannot be one.
func batchLen(b []byte) (n int, why string) {
	if len(b) < atMagic+1 {
		return 0, ""
	}
	size, least := int64(int32(be.Uint32(b[atLength:])))+12, int64(atRecords)
	switch b[atMagic] {
	case 0:
		least = minOld
	case 1:
		least = minOld + 8
	case 2:
	default:
		return 0, fmt.Sprintf("its format is v%d, and gtoffset knows v0 to v2", b[atMagic])
	}
	base := int64(be.Uint64(b))
	switch {
	case size < least:
		return 0, fmt.Sprintf("its length is %d", size)
	case base < 0 || base > Forever-1<<32:
		return 0, fmt.Sprintf("its first offset is %d", base)
	case size > int64(len(b)):
		return 0, ""
	}
	if b[atMagic] == 2 && int32(be.Uint32(b[atLast:])) < 0 {
		return 0, "its last offset is below its first"
	}
	return int(size), ""
}

// lastOffset is the last offset of a whole batch.
func lastOffset(b []byte) int64 {
	if b[atMagic] < 2 {
		return int64(be.Uint64(b))
	}
	return int64(be.Uint64(b)) + int64(be.Uint32(b[atLast:]))
}

// enter reads a batch's head and gets its records ready. It reports whether the batch reaches into the range.
func (w *Walker) enter(b []byte) bool {
	if b[atMagic] < 2 {
		return w.enterOld(b)
	}
	w.old = false
	h := &w.batch
	attrs := be.Uint16(b[atAttrs:])
	h.Base, h.Last = int64(be.Uint64(b)), lastOffset(b)
	h.Magic, h.Codec, h.Size = 2, Codec(attrs&7), len(b)
	h.LogAppend, h.Transactional, h.Control, h.Aborted = attrs&8 != 0, attrs&16 != 0, attrs&32 != 0, false
	h.Count, h.LeaderEpoch = int(int32(be.Uint32(b[atCount:]))), int32(be.Uint32(b[atEpoch:]))
	h.MaxTimestamp, h.ProducerID = int64(be.Uint64(b[atMaxTime:])), int64(be.Uint64(b[atProducer:]))
	h.ProducerEpoch, h.Sequence = int16(be.Uint16(b[atPEpoch:])), int32(be.Uint32(b[atSequence:]))
	in := h.Last >= w.chunk.From && h.Base < w.chunk.Until
	if !in && !h.Control {
		return false
	}
	if crc32.Checksum(b[atAttrs:], castagnoli) != be.Uint32(b[atCRC:]) {
		return w.badCRC()
	}
	if h.Count < 0 || h.Count > h.maxCount() {
		return w.damaged("it says that it has %d records in %d offsets", h.Count, h.Last-h.Base+1)
	}
	w.recs, w.left, w.delta = b[atRecords:], h.Count, -1
	w.base, w.time = h.Base, int64(be.Uint64(b[atTime:]))
	if h.LogAppend {
		w.time = h.MaxTimestamp
	}
	if w.passOver() {
		w.left = 0
		return in && w.err == nil
	}
	if h.Codec != Uncompressed && h.Count > 0 {
		w.recs = w.decompress(w.recs)
	}
	return w.err == nil
}

func (h *Batch) maxCount() int { return int(min(h.Last-h.Base+1, 1<<31)) }

// passOver keeps account of aborted transactions, and reports whether this batch has no records to give out.
func (w *Walker) passOver() bool {
	h := &w.batch
	for len(w.aborted) > 0 && w.aborted[0].First <= h.Last {
		if w.open == nil {
			w.open = map[int64]struct{}{}
		}
		w.open[w.aborted[0].ProducerID] = struct{}{}
		w.aborted = w.aborted[1:]
	}
	if h.Control {
		return w.passMarker()
	}
	if len(w.open) == 0 || !h.Transactional {
		return false
	}
	_, h.Aborted = w.open[h.ProducerID]
	return h.Aborted
}

// passMarker ends an aborted transaction where its marker is.
func (w *Walker) passMarker() bool {
	h := &w.batch
	if h.Codec != Uncompressed {
		w.damaged("it is a control batch, and compressed")
		return true
	}
	if h.Count > 0 {
		recs, left := w.recs, w.left
		if !w.readRecord() {
			w.damaged("the marker in it has lengths that do not fit")
			return true
		}
		if w.Marker() == Abort {
			delete(w.open, h.ProducerID)
		}
		w.recs, w.left, w.delta = recs, left, -1
	}
	return !w.Control || h.Last < w.chunk.From || h.Base >= w.chunk.Until
}

// readRecord reads the record at the beginning of recs, and reports whether its lengths fit.
func (w *Walker) readRecord() bool {
	size, n := varint(w.recs)
	if n <= 0 || size < 6 || size > int64(len(w.recs)-n) {
		return false
	}
	b := w.recs[n+1 : n+int(size)] // without the attributes, which mean nothing yet
	w.recs = w.recs[n+int(size):]
	r := &w.rec

	time, n := small(b)
	if n == 0 {
		time, n = varint(b)
	}
	if n <= 0 {
		return false
	}
	b = b[n:]
	delta, n := varint(b)
	if n <= 0 || delta <= w.delta || delta > w.batch.Last-w.base {
		return false
	}
	b = b[n:]
	w.delta = delta
	r.Offset, r.Timestamp = w.base+delta, w.time
	if !w.batch.LogAppend {
		r.Timestamp += time
	}
	var ok bool
	if r.Key, b, ok = lengthed(b); !ok {
		return false
	}
	if r.Value, b, ok = lengthed(b); !ok {
		return false
	}
	if len(b) == 1 && b[0] == 0 { // most have no headers
		r.headers, r.count = nil, 0
		return true
	}
	count, n := varint(b)
	if n <= 0 || count < 0 || count > int64(len(b)) {
		return false
	}
	r.headers, r.count = b[n:], int(count)
	return wellFormed(r.headers, r.count)
}

// wellFormed says that b holds count headers and nothing else.
func wellFormed(b []byte, count int) bool {
	for range count {
		key, rest, ok := lengthed(b)
		if !ok || key == nil {
			return false
		}
		if _, b, ok = lengthed(rest); !ok {
			return false
		}
	}
	return len(b) == 0
}

func (w *Walker) badCRC() bool {
	w.damaged("its checksum (CRC) does not match")
	w.err.(*DamagedError).CRC = true
	return false
}

// decompress returns what a batch holds. It is valid until the next batch is decompressed.
func (w *Walker) decompress(b []byte) []byte {
	limit := w.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	out, err := w.z.decompress(w.batch.Codec, b, limit)
	switch {
	case err == errTooLarge:
		w.left = 0
		w.err = &TooLargeError{w.chunk.Topic, w.chunk.Partition, w.batch.Base, w.batch.Codec, limit}
	case err != nil:
		w.damaged("%s: %v", w.batch.Codec, err)
	}
	return out
}
