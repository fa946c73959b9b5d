package kafkaops

import (
	"encoding/binary"

	"gtoffset/kafkaops/offsets"
)

// decodeAssignment reads the partitions out of a classic consumer's assignment (ConsumerProtocolAssignment: version, topics
// with partitions, user data). Other protocols put other bytes there, and nothing checks them: what does not read as an
// assignment yields none. What follows the partitions is left alone, newer versions may add to it.
func decodeAssignment(b []byte) []offsets.Key {
	next := func(n int) []byte {
		if n < 0 || n > len(b) {
			b = nil
			return nil
		}
		v := b[:n]
		b = b[n:]
		return v
	}
	number := func(size int) int {
		v := next(size)
		switch {
		case v == nil:
			return -1
		case size == 2:
			return int(int16(binary.BigEndian.Uint16(v)))
		}
		return int(int32(binary.BigEndian.Uint32(v)))
	}
	if version := number(2); version < 0 {
		return nil
	}
	var keys []offsets.Key
	topics := number(4)
	if topics < 0 || topics > len(b)/6 {
		return nil
	}
	for range topics {
		name := next(number(2))
		partitions := number(4)
		if len(name) == 0 || partitions < 0 || partitions > len(b)/4 {
			return nil
		}
		for range partitions {
			p := number(4)
			if p < 0 {
				return nil
			}
			keys = append(keys, offsets.Key{Topic: string(name), Partition: int32(p)})
		}
	}
	return offsets.SortKeys(keys)
}
