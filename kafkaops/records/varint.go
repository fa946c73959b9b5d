package records

import "encoding/binary"

// varint reads a zigzag varint; n is 0 or negative if there is none.
func varint(b []byte) (v int64, n int) {
	if v, n = small(b); n > 0 {
		return v, n
	}
	if len(b) > 1 && b[1] < 0x80 { // of two bytes
		u := uint64(b[0]&0x7f) | uint64(b[1])<<7
		return int64(u>>1) ^ -int64(u&1), 2
	}
	return binary.Varint(b)
}

// small reads a varint of one byte, as most are, without a call; n is 0 for any other.
func small(b []byte) (v int64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return int64(b[0]>>1) ^ -int64(b[0]&1), 1
	}
	return 0, 0
}

// lengthed cuts off bytes with their varint length in front; a negative length is null.
func lengthed(b []byte) (v, rest []byte, ok bool) {
	n, k := small(b)
	if k == 0 {
		n, k = varint(b)
	}
	if k <= 0 || n > int64(len(b)-k) {
		return nil, nil, false
	}
	if n < 0 {
		return nil, b[k:], true
	}
	return b[k : k+int(n) : k+int(n)], b[k+int(n):], true
}
