package records

import "hash/crc32"

// The old formats, of Kafka before 0.11: each message stands for itself (v0; v1 has a timestamp), and a compressed one wraps
// others in its value. The wrapper has the offset of its last message; in v1 the offsets inside are relative, in v0 they are not.

// enterOld is enter for a message of the old formats.
func (w *Walker) enterOld(b []byte) bool {
	w.old, w.left = true, 0
	h := &w.batch
	offset, attrs := lastOffset(b), b[atOldAttrs]
	*h = Batch{
		Base: offset, Last: offset, Count: 1, Magic: int8(b[atMagic]), Codec: Codec(attrs & 7), Size: len(b),
		LogAppend: attrs&8 != 0, MaxTimestamp: None, LeaderEpoch: None, ProducerID: None, ProducerEpoch: None, Sequence: None,
	}
	if offset < w.chunk.From {
		return false
	}
	if crc32.ChecksumIEEE(b[atMagic:]) != be.Uint32(b[atOldCRC:]) {
		return w.badCRC()
	}
	w.recs, w.base = b, 0
	if !w.readOld() {
		return w.damaged("its lengths do not fit")
	}
	h.MaxTimestamp, w.time = w.rec.Timestamp, w.rec.Timestamp
	w.recs = b
	if h.Codec != Uncompressed && !w.unwrap() {
		return false
	}
	w.left = h.Count
	return h.Base < w.chunk.Until
}

// unwrap gets the messages inside a wrapper ready.
func (w *Walker) unwrap() bool {
	h := &w.batch
	w.recs = w.decompress(w.rec.Value)
	if w.err != nil {
		return false
	}
	count, first, last := 0, int64(0), int64(0)
	for b := w.recs; len(b) > 0; count++ {
		n, why := batchLen(b)
		if n == 0 || b[atMagic] > 1 {
			if why == "" {
				why = "a message in it is cut short, or of another format"
			}
			return w.damaged("%s", why)
		}
		offset := int64(be.Uint64(b))
		if count == 0 {
			first = offset
		} else if offset <= last {
			return w.damaged("the offsets in it do not grow")
		}
		last, b = offset, b[n:]
	}
	if count == 0 {
		return w.damaged("there is no message in it")
	}
	if h.Magic == 1 {
		w.base = h.Last - last
	}
	if w.base+first < 0 || w.base+last != h.Last {
		return w.damaged("the offsets in it do not fit")
	}
	h.Base, h.Count = w.base+first, count
	return true
}

// nextOld is NextRecord for the old formats.
func (w *Walker) nextOld() bool {
	for w.left > 0 {
		w.left--
		if !w.readOld() {
			return w.damaged("the lengths of a message in it do not fit")
		}
		if w.batch.LogAppend {
			w.rec.Timestamp = w.time
		}
		switch {
		case w.rec.Offset < w.chunk.From:
			continue
		case w.rec.Offset >= w.chunk.Until:
			w.left = 0
			return false
		}
		w.took()
		return true
	}
	return false
}

// readOld reads the message at the beginning of recs, and reports whether its lengths fit. batchLen has measured it before.
func (w *Walker) readOld() bool {
	n, _ := batchLen(w.recs)
	b := w.recs[:n]
	w.recs = w.recs[n:]
	w.rec = Record{Offset: w.base + int64(be.Uint64(b)), Timestamp: None}
	at := atOldTime
	if b[atMagic] == 1 {
		w.rec.Timestamp = int64(be.Uint64(b[at:]))
		at += 8
	}
	var ok bool
	if w.rec.Key, b, ok = oldBytes(b[at:]); !ok {
		return false
	}
	w.rec.Value, b, ok = oldBytes(b)
	return ok && len(b) == 0
}

// oldBytes cuts off bytes with their length of four bytes in front; a negative length is null.
func oldBytes(b []byte) (v, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := int64(int32(be.Uint32(b)))
	b = b[4:]
	if n < 0 {
		return nil, b, true
	}
	if n > int64(len(b)) {
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}
