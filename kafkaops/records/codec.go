package records

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// decompressor decompresses batches into memory that it uses again. The libraries that kafka-go's codecs rest on are called
// directly: whole batches, into one buffer, up to a limit.
type decompressor struct {
	buf  []byte
	src  bytes.Reader
	gzip *gzip.Reader
	zstd *zstd.Decoder
	max  int // limit that zstd was made with
}

var (
	errTooLarge = errors.New("larger than the limit")
	errCut      = errors.New("cut short")
)

// keep is how much memory is held from chunk to chunk.
const keep = 16 << 20

func (d *decompressor) shrink() {
	if cap(d.buf) > keep {
		d.buf = nil
	}
}

// decompress returns what b holds, at most limit bytes of it, valid until the next call. The error is errTooLarge, or says what
// is wrong with b.
func (d *decompressor) decompress(c Codec, b []byte, limit int) (out []byte, err error) {
	switch c {
	case Gzip:
		out, err = d.gunzip(b, limit)
	case Snappy:
		out, err = unsnappy(d.buf[:0], b, limit)
	case LZ4:
		out, err = unlz4(d.buf[:0], b, limit)
	case Zstd:
		out, err = d.unzstd(b, limit)
	default:
		return nil, fmt.Errorf("no such codec: %d", c)
	}
	if cap(out) > cap(d.buf) {
		d.buf = out
	}
	return out, err
}

func (d *decompressor) unzstd(b []byte, limit int) ([]byte, error) {
	if d.zstd == nil || d.max != limit {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(limit)), zstd.WithDecoderLowmem(true),
			zstd.IgnoreChecksum(true)) // the batch has one
		if err != nil {
			return nil, err
		}
		d.zstd, d.max = z, limit
	}
	out, err := d.zstd.DecodeAll(b, d.buf[:0])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = errTooLarge
	}
	return out, err
}

func (d *decompressor) gunzip(b []byte, limit int) ([]byte, error) {
	d.src.Reset(b)
	var err error
	if d.gzip == nil {
		d.gzip, err = gzip.NewReader(&d.src)
	} else {
		err = d.gzip.Reset(&d.src)
	}
	if err != nil {
		d.gzip = nil
		return nil, noEOF(err)
	}
	out := d.buf[:0]
	if len(b) >= 4 { // the length stands at the end, if there is one member
		out = slices.Grow(out, min(int(binary.LittleEndian.Uint32(b[len(b)-4:])), 64*len(b), limit)+1)
	}
	for {
		out = slices.Grow(out, 1)
		n, err := d.gzip.Read(out[len(out):min(cap(out), limit+1)])
		out = out[:len(out)+n]
		switch {
		case len(out) > limit:
			return out[:limit], errTooLarge
		case err == io.EOF:
			return out, nil
		case err != nil:
			return out, noEOF(err)
		}
	}
}

func noEOF(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errCut
	}
	return err
}

// xerial is how Java's library begins: blocks with their lengths in front follow. Others send one bare block.
var xerial = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

const xerialHead = 16 // with two version numbers

func unsnappy(out, b []byte, limit int) ([]byte, error) {
	if !bytes.HasPrefix(b, xerial) {
		return unsnappyBlock(out, b, limit)
	}
	if len(b) < xerialHead {
		return out, errCut
	}
	for b = b[xerialHead:]; len(b) > 0; {
		if len(b) < 4 {
			return out, errCut
		}
		n := be.Uint32(b)
		b = b[4:]
		if int64(n) > int64(len(b)) {
			return out, errCut
		}
		var err error
		if out, err = unsnappyBlock(out, b[:n], limit); err != nil {
			return out, err
		}
		b = b[n:]
	}
	return out, nil
}

// unsnappyBlock appends what a block holds.
func unsnappyBlock(out, b []byte, limit int) ([]byte, error) {
	n, err := snappy.DecodedLen(b)
	if err != nil {
		return out, err
	}
	if n > limit-len(out) {
		return out, errTooLarge
	}
	if n > 32*len(b)+64 { // a copy of three bytes gives at most 64
		return out, snappy.ErrCorrupt
	}
	out = slices.Grow(out, n)
	if _, err := snappy.Decode(out[len(out):len(out)+n], b); err != nil {
		return out, err
	}
	return out[:len(out)+n], nil
}

const (
	lz4Magic     = 0x184D2204
	lz4Window    = 64 << 10
	lz4Alone     = 1 << 5 // no block refers to those before it
	lz4BlockSums = 1 << 4
	lz4Size      = 1 << 3
	lz4Sum       = 1 << 2
	lz4Dict      = 1 << 0
)

// unlz4 appends what the frames in b hold. Their checksums are not looked at: the batch has one, and the first Kafkas computed
// that of the frame's head in a way of their own.
func unlz4(out, b []byte, limit int) ([]byte, error) {
	for len(b) > 0 {
		if len(b) < 7 {
			return out, errCut
		}
		if binary.LittleEndian.Uint32(b) != lz4Magic {
			return out, errors.New("no lz4 frame")
		}
		flags, size := b[4], b[5]>>4&7
		head := 7
		if flags&lz4Size != 0 {
			head += 8
		}
		if flags>>6 != 1 || flags&lz4Dict != 0 || size < 4 {
			return out, errors.New("a kind of lz4 frame that Kafka does not have")
		}
		if len(b) < head {
			return out, errCut
		}
		var err error
		if out, b, err = lz4Blocks(out, b[head:], limit, flags, 1<<(8+2*size)); err != nil {
			return out, err
		}
	}
	return out, nil
}

// lz4Blocks appends the blocks of one frame, and returns what stands behind it.
func lz4Blocks(out, b []byte, limit int, flags byte, blockMax int) (_, rest []byte, err error) {
	start := len(out)
	for {
		if len(b) < 4 {
			return out, nil, errCut
		}
		word := binary.LittleEndian.Uint32(b)
		b = b[4:]
		if word == 0 {
			break
		}
		n, tail := int(word&^(1<<31)), 0
		if flags&lz4BlockSums != 0 {
			tail = 4
		}
		if n+tail > len(b) {
			return out, nil, errCut
		}
		block := b[:n]
		b = b[n+tail:]
		if word>>31 != 0 {
			if n > limit-len(out) {
				return out, nil, errTooLarge
			}
			out = append(out, block...)
			continue
		}
		room := min(blockMax, 255*n+16) // a byte gives at most 255
		out = slices.Grow(out, room)
		var dict []byte
		if flags&lz4Alone == 0 {
			dict = out[max(start, len(out)-lz4Window):]
		}
		got, err := lz4.UncompressBlockWithDict(block, out[len(out):len(out)+room], dict)
		if err != nil {
			return out, nil, err
		}
		out = out[:len(out)+got]
		if len(out) > limit {
			return out[:limit], nil, errTooLarge
		}
	}
	if flags&lz4Sum != 0 {
		if len(b) < 4 {
			return out, nil, errCut
		}
		b = b[4:]
	}
	return out, b, nil
}
