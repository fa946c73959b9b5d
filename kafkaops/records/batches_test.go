package records_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/segmentio/kafka-go/compress"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/records"
)

// batch is a v2 batch as a test wishes it; made by kmsg and kafka-go's codecs, not by what is tested.
type batch struct {
	base, last int64 // last 0: that of the last record
	epoch      int32
	codec      records.Codec
	attrs      int16 // besides the codec's
	producer   int64
	time       int64
	maxTime    int64
	rs         []rec
}

const (
	logAppend     = 1 << 3
	transactional = 1 << 4
	control       = 1 << 5
)

// rec is a record; off is absolute.
type rec struct {
	off, time  int64
	key, value []byte
	headers    []kmsg.Header
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (b batch) bytes(t testing.TB) []byte {
	t.Helper()
	var body []byte
	last := b.last
	for _, r := range b.rs {
		last = max(last, r.off)
		x := kmsg.Record{OffsetDelta: int32(r.off - b.base), TimestampDelta64: r.time - b.time, Key: r.key, Value: r.value, Headers: r.headers}
		n := len(x.AppendTo(nil)) - 1 // the length itself is 0, one byte
		x.Length = int32(n)
		body = x.AppendTo(body)
	}
	if b.codec != records.Uncompressed {
		body = squeeze(t, b.codec, body)
	}
	raw := kmsg.RecordBatch{
		FirstOffset: b.base, PartitionLeaderEpoch: b.epoch, Magic: 2, Attributes: int16(b.codec) | b.attrs, LastOffsetDelta: int32(last - b.base),
		FirstTimestamp: b.time, MaxTimestamp: b.maxTime, ProducerID: b.producer, ProducerEpoch: 0, FirstSequence: 0,
		NumRecords: int32(len(b.rs)), Records: body,
	}
	out := raw.AppendTo(nil)
	binary.BigEndian.PutUint32(out[8:], uint32(len(out)-12))
	binary.BigEndian.PutUint32(out[17:], crc32.Checksum(out[21:], castagnoli))
	return out
}

// squeeze compresses with kafka-go's codec.
func squeeze(t testing.TB, codec records.Codec, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := compress.Codecs[codec].NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// plain are n records with small values, one for each offset from base on.
func plain(base int64, n int) []rec {
	var rs []rec
	for i := range n {
		rs = append(rs, rec{off: base + int64(i), time: 1000 + int64(i), value: []byte{'v', byte('0' + i%10)}})
	}
	return rs
}

// marker is a control batch that ends a transaction.
func marker(at, producer int64, kind byte) batch {
	return batch{base: at, attrs: transactional | control, producer: producer, rs: []rec{{off: at, key: []byte{0, 0, 0, kind}, value: []byte{0, 0, 0, 0, 0, 0}}}}
}

// message is a message of the old formats. off is what stands in it.
func message(magic byte, off, time int64, attrs byte, key, value []byte) []byte {
	body := []byte{magic, attrs}
	if magic == 1 {
		body = binary.BigEndian.AppendUint64(body, uint64(time))
	}
	for _, x := range [][]byte{key, value} {
		if x == nil {
			body = binary.BigEndian.AppendUint32(body, ^uint32(0))
			continue
		}
		body = append(binary.BigEndian.AppendUint32(body, uint32(len(x))), x...)
	}
	out := binary.BigEndian.AppendUint64(nil, uint64(off))
	out = binary.BigEndian.AppendUint32(out, uint32(4+len(body)))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(body))
	return append(out, body...)
}

// chunk is everything in some batches.
func chunk(batches ...[]byte) *records.Chunk {
	return &records.Chunk{Topic: "orders", Partition: 3, Until: records.Forever, Next: records.Forever, Batches: slices.Concat(batches...)}
}

// got is what a walk gave.
type got struct {
	offsets []int64
	values  []string
	times   []int64
}

func walk(w *records.Walker, c *records.Chunk) (g got, err error) {
	for w.Reset(c); w.Next(); {
		r := w.Record()
		g.offsets = append(g.offsets, r.Offset)
		g.values = append(g.values, string(r.Value))
		g.times = append(g.times, r.Timestamp)
	}
	return g, w.Err()
}
