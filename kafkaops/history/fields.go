package history

import (
	"encoding/binary"
)

// fields reads one field after the other. What is not there reads as zero, and sets bad for good.
type fields struct {
	b        []byte
	flexible bool // lengths are varints, and tagged fields may follow
	bad      bool
}

// take reads n bytes; a negative n is null, and reads nothing.
func (f *fields) take(n int) []byte {
	switch {
	case f.bad || n > len(f.b):
		f.bad, f.b = true, nil
		return nil
	case n <= 0:
		return nil
	}
	v := f.b[:n]
	f.b = f.b[n:]
	return v
}

func (f *fields) int16() int16 {
	if b := f.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (f *fields) int32() int32 {
	if b := f.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (f *fields) int64() int64 {
	if b := f.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (f *fields) varint() uint64 {
	if len(f.b) > 0 && f.b[0] < 0x80 {
		n := f.b[0]
		f.b = f.b[1:]
		return uint64(n)
	}
	n, size := binary.Uvarint(f.b)
	if f.bad || size <= 0 {
		f.bad, f.b = true, nil
		return 0
	}
	f.b = f.b[size:]
	return n
}

// compact is a length in the flexible form: one more than it is, 0 for null. It never says more than there is.
func (f *fields) compact() int {
	n := f.varint()
	if n > uint64(len(f.b))+1 {
		f.bad, f.b = true, nil
		return 0
	}
	return int(n) - 1
}

// string reads a string; null is "".
func (f *fields) string() string { return string(f.text()) }

// text reads a string as the bytes that it is.
func (f *fields) text() []byte {
	if f.flexible {
		return f.take(f.compact())
	}
	return f.take(int(f.int16()))
}

// bytes reads bytes that nobody wants.
func (f *fields) bytes() {
	if f.flexible {
		f.take(f.compact())
		return
	}
	f.take(int(f.int32()))
}

// count is the length of a list.
func (f *fields) count() int {
	n := int(f.int32n())
	if n > len(f.b) { // every element takes a byte at least
		f.bad, f.b = true, nil
		return 0
	}
	return n
}

func (f *fields) int32n() int32 {
	if f.flexible {
		return int32(f.compact())
	}
	return f.int32()
}

// tags reads tagged fields; known gets each.
func (f *fields) tags(known func(tag uint64, b []byte)) {
	for n := f.varint(); n > 0 && !f.bad; n-- {
		tag := f.varint()
		size := f.varint()
		if size > uint64(len(f.b)) {
			f.bad, f.b = true, nil
			return
		}
		if b := f.take(int(size)); known != nil {
			known(tag, b)
		}
	}
}
