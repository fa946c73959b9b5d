package records

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// builder builds one v2 batch, as a producer sends it. The zero value is ready.
type builder struct {
	buf   []byte // head and records
	base  int64  // first timestamp
	last  int64  // largest timestamp
	count int32
}

// size is how many bytes add would append, at most.
func size(r *Record) int {
	return len(r.Key) + len(r.Value) + len(r.headers) + 6*binary.MaxVarintLen64
}

// add appends a record, as it is. Its offset is the batch's affair.
func (b *builder) add(r *Record) {
	if b.count == 0 {
		b.buf = slices.Grow(b.buf[:0], atRecords)[:atRecords]
		b.base, b.last = r.Timestamp, r.Timestamp
	}
	b.last = max(b.last, r.Timestamp)
	delta := r.Timestamp - b.base
	body := 1 + varintLen(delta) + varintLen(int64(b.count)) + lengthedLen(r.Key) + lengthedLen(r.Value) +
		varintLen(int64(r.count)) + len(r.headers)
	out := slices.Grow(b.buf, body+binary.MaxVarintLen64)
	out = binary.AppendVarint(out, int64(body))
	out = append(out, 0) // attributes: none are defined
	out = binary.AppendVarint(out, delta)
	out = binary.AppendVarint(out, int64(b.count))
	out = appendLengthed(out, r.Key)
	out = appendLengthed(out, r.Value)
	out = binary.AppendVarint(out, int64(r.count))
	b.buf = append(out, r.headers...)
	b.count++
}

// len is the size of the batch so far, before it is compressed.
func (b *builder) len() int {
	if b.count == 0 {
		return 0
	}
	return len(b.buf)
}

// finish returns the batch in memory of its own, without producer and checksum (stamp), and begins a new one.
func (b *builder) finish(z *compressor, codec Codec) ([]byte, error) {
	if b.count == 0 {
		return nil, errors.New("a batch without records")
	}
	out := make([]byte, atRecords, len(b.buf))
	var err error
	if codec == Uncompressed {
		out = append(out, b.buf[atRecords:]...)
	} else if out, err = z.compress(out, codec, b.buf[atRecords:]); err != nil {
		return nil, fmt.Errorf("compress with %s: %w", codec, err)
	}
	be.PutUint64(out, 0) // base offset: the broker's
	be.PutUint32(out[atLength:], uint32(len(out)-12))
	be.PutUint32(out[atEpoch:], ^uint32(0)) // the broker's
	out[atMagic] = 2
	be.PutUint16(out[atAttrs:], uint16(codec)) // CreateTime, no transaction
	be.PutUint32(out[atLast:], uint32(b.count-1))
	be.PutUint64(out[atTime:], uint64(b.base))
	be.PutUint64(out[atMaxTime:], uint64(b.last))
	be.PutUint32(out[atCount:], uint32(b.count))
	b.count = 0
	return out, nil
}

// stamp writes who sends a batch into it, and its checksum. A batch that is sent again keeps its stamp.
func stamp(batch []byte, id int64, epoch int16, sequence int32) {
	be.PutUint64(batch[atProducer:], uint64(id))
	be.PutUint16(batch[atPEpoch:], uint16(epoch))
	be.PutUint32(batch[atSequence:], uint32(sequence))
	be.PutUint32(batch[atCRC:], crc32.Checksum(batch[atAttrs:], castagnoli))
}

func appendLengthed(b, v []byte) []byte {
	if v == nil {
		return append(b, 1) // varint -1
	}
	return append(binary.AppendVarint(b, int64(len(v))), v...)
}

func lengthedLen(v []byte) int {
	if v == nil {
		return 1
	}
	return varintLen(int64(len(v))) + len(v)
}

func varintLen(v int64) int {
	return (bits.Len64((uint64(v<<1)^uint64(v>>63))|1) + 6) / 7
}

// compressor compresses batches.
type compressor struct {
	zstd *zstd.Encoder
	gzip *gzip.Writer
	lz4  *lz4.Writer
	tmp  []byte
}

// xerialBlock is how much Java's library puts into one block.
const xerialBlock = 32 << 10

// compress appends what is compressed from b.
func (z *compressor) compress(out []byte, codec Codec, b []byte) ([]byte, error) {
	switch codec {
	case Gzip:
		w := bytes.NewBuffer(out)
		if z.gzip == nil {
			z.gzip = gzip.NewWriter(w)
		} else {
			z.gzip.Reset(w)
		}
		if _, err := z.gzip.Write(b); err != nil {
			return nil, err
		}
		err := z.gzip.Close()
		return w.Bytes(), err
	case Snappy:
		out = append(out, xerial...)
		out = append(out, 0, 0, 0, 1, 0, 0, 0, 1) // version, and the oldest one that reads it
		for part := range slices.Chunk(b, xerialBlock) {
			z.tmp = snappy.Encode(z.tmp[:cap(z.tmp)], part)
			out = be.AppendUint32(out, uint32(len(z.tmp)))
			out = append(out, z.tmp...)
		}
		return out, nil
	case LZ4:
		w := bytes.NewBuffer(out)
		if z.lz4 == nil {
			z.lz4 = lz4.NewWriter(w)
		} else {
			z.lz4.Reset(w)
		}
		if _, err := z.lz4.Write(b); err != nil {
			return nil, err
		}
		err := z.lz4.Close()
		return w.Bytes(), err
	case Zstd:
		if z.zstd == nil {
			var err error
			if z.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)); err != nil {
				return nil, err
			}
		}
		return z.zstd.EncodeAll(b, out), nil
	}
	return nil, fmt.Errorf("no such codec: %d", codec)
}
