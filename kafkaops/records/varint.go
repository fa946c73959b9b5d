package records

import "encoding/binary"

// varint reads a zigzag varint; most are of one or two bytes. n is 0 or negative if there is none.
func varint(b []byte) (v int64, n int) {
	if len(b) > 1 {
		if x := b[0]; x < 0x80 {
			return int64(x>>1) ^ -int64(x&1), 1
		} else if y := b[1]; y < 0x80 {
			u := uint64(x&0x7f) | uint64(y)<<7
			return int64(u>>1) ^ -int64(u&1), 2
		}
	}
	return binary.Varint(b)
}

// lengthed cuts off bytes with their varint length in front; a negative length is null.
func lengthed(b []byte) (v, rest []byte, ok bool) {
	n, k := varint(b)
	if k <= 0 || n > int64(len(b)-k) {
		return nil, nil, false
	}
	if n < 0 {
		return nil, b[k:], true
	}
	return b[k : k+int(n) : k+int(n)], b[k+int(n):], true
}
