package redis

import (
	"errors"
	"net"
)

// What a server may answer in one exchange. The lengths in an answer are only its word: the library makes room for what it is told before
// anything of it came, and goes as deep as lists lie in lists.
const (
	mostBytes = 256 << 20 // in all
	mostItems = 8 << 20   // of all lists together, 16 bytes each: a hash has two for a partition
	mostValue = 16 << 20  // of one value
	mostLine  = 64 << 10  // of a line: a length, a number, an error
	mostDepth = 8
)

// errBeyond is an answer that is larger than any with offsets.
var errBeyond = errors.New("its answer is larger than any with offsets can be")

// bounded is a connection that hands on what comes only up to the first length that is too large.
type bounded struct {
	net.Conn
	bounds
	err error
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.Conn.Read(p)
	if good := b.pass(p[:n]); good < n {
		n, err, b.err = good, errBeyond, errBeyond
	}
	return n, err
}

// bounds follows the answers of a server through their lines, values and lists (RESP2).
type bounds struct {
	bytes, items int // of this exchange

	line   int  // bytes of the line so far
	kind   byte // its first
	n      int  // the number in it
	minus  bool
	value  int   // bytes of a value that are still to come, with its line end
	inside []int // of each list that is open, how many are still to come
}

// begin starts counting anew.
func (s *bounds) begin() { s.bytes, s.items = 0, 0 }

// pass returns how much of what came may be handed on.
func (s *bounds) pass(p []byte) int {
	if s.bytes += len(p); s.bytes > mostBytes {
		return 0
	}
	for i := 0; i < len(p); {
		if s.value > 0 {
			n := min(s.value, len(p)-i)
			s.value -= n
			i += n
			if s.value == 0 {
				s.done()
			}
			continue
		}
		if !s.take(p[i]) {
			return i
		}
		i++
	}
	return len(p)
}

// take takes one byte of a line, and reports whether it may be handed on.
func (s *bounds) take(c byte) bool {
	if c == '\n' {
		return s.endLine()
	}
	switch {
	case s.line == 0:
		s.kind, s.n, s.minus = c, 0, false
	case c == '-':
		s.minus = true
	case c >= '0' && c <= '9' && (s.kind == '$' || s.kind == '*'):
		s.n = s.n*10 + int(c-'0')
	}
	s.line++
	return s.line <= mostLine && (s.kind != '$' || s.n <= mostValue) && (s.kind != '*' || s.n <= mostItems-s.items)
}

func (s *bounds) endLine() bool {
	empty := s.minus || s.line == 0
	s.line = 0
	switch {
	case s.kind == '$' && !empty:
		s.value = s.n + len("\r\n")
	case s.kind == '*' && !empty && s.n > 0:
		s.items += s.n
		s.inside = append(s.inside, s.n)
		return len(s.inside) <= mostDepth
	default:
		s.done()
	}
	return true
}

// done counts a value that is whole, and the lists that are whole with it.
func (s *bounds) done() {
	for last := len(s.inside) - 1; last >= 0; last-- {
		if s.inside[last]--; s.inside[last] > 0 {
			return
		}
		s.inside = s.inside[:last]
	}
}
