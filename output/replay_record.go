package output

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Record is one record of a topic as a replay writes it. It only borrows its bytes.
type Record struct {
	Offset    int64
	Timestamp int64 // milliseconds since 1970; -1: the record has none
	LogAppend bool  // the broker set the timestamp, not the producer
	Key       []byte
	Value     []byte // nil is null, as for Key
	Headers   []RecordHeader
}

// RecordHeader is one header of a record. A nil Value is null.
type RecordHeader struct {
	Name, Value []byte
}

// RecordFormat is how records are written, one after the other. It is made by JSONLines, RawValues or ParseRecordFormat.
type RecordFormat struct {
	kind   recordKind
	tokens []token
}

type recordKind uint8

const (
	jsonLines recordKind = iota
	rawValues
	template
)

// JSONLines writes each record as one JSON object on a line of its own.
func JSONLines() RecordFormat { return RecordFormat{kind: jsonLines} }

// RawValues writes each value as it is, and a line end after it; of a null value only the line end is left.
func RawValues() RecordFormat { return RecordFormat{kind: rawValues} }

// token is a piece of a template: a text, or something of the record.
type token struct {
	verb byte // 0: the text
	text []byte
}

// ParseRecordFormat reads a template in the language of kcat's -f: %t topic, %p partition, %o offset, %k key, %s value, %K and %S
// their lengths (-1: null), %R the value's length as four bytes, %T timestamp, %h headers as name=value with commas between, %%; and
// in the text \n \r \t, \xNN, and \NNN in decimal or, with a 0 in front, in octal.
func ParseRecordFormat(s string) (RecordFormat, error) {
	f := RecordFormat{kind: template}
	for s != "" {
		i := strings.IndexByte(s, '%')
		if i != 0 {
			if i < 0 {
				i = len(s)
			}
			f.text(unescape(s[:i]))
			s = s[i:]
			continue
		}
		if len(s) == 1 {
			return f, fmt.Errorf("it ends with a single %%: %%%% writes one")
		}
		switch verb := s[1]; verb {
		case 't', 'p', 'o', 'k', 's', 'K', 'S', 'R', 'T', 'h':
			f.tokens = append(f.tokens, token{verb: verb})
		case '%':
			f.text([]byte("%"))
		default:
			_, n := utf8.DecodeRuneInString(s[1:])
			return f, fmt.Errorf("%q is not known: %%t %%p %%o %%k %%s %%K %%S %%R %%T %%h %%%%", s[:1+n])
		}
		s = s[2:]
	}
	return f, nil
}

func (f *RecordFormat) text(b []byte) {
	if n := len(f.tokens); n > 0 && f.tokens[n-1].verb == 0 {
		f.tokens[n-1].text = append(f.tokens[n-1].text, b...)
		return
	}
	f.tokens = append(f.tokens, token{text: b})
}

// unescape resolves the backslashes of a template, as kcat does: \x is followed by a number in hexadecimal, a digit begins one in
// decimal, or with a 0 in octal; of larger numbers the last byte counts. What is no escape stands for itself.
func unescape(s string) []byte {
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		digits, base := "", uint64(0)
		switch c := s[i]; {
		case c == 'n':
			b = append(b, '\n')
		case c == 'r':
			b = append(b, '\r')
		case c == 't':
			b = append(b, '\t')
		case c == 'x':
			digits, base = leading(s[i+1:], "0123456789abcdefABCDEF"), 16
		case c == '0':
			digits, base = leading(s[i+1:], "01234567"), 8
			digits = "0" + digits
			i--
		case c >= '1' && c <= '9':
			digits, base = leading(s[i:], "0123456789"), 10
			i--
		default:
			b = append(b, c)
		}
		if digits != "" {
			n := uint64(0)
			for _, d := range strings.ToLower(digits) {
				n = n*base + uint64(strings.IndexRune("0123456789abcdef", d))
			}
			b = append(b, byte(n))
			i += len(digits)
		}
	}
	return b
}

// leading is the longest start of s that has only characters of the set.
func leading(s, set string) string {
	return s[:len(s)-len(strings.TrimLeft(s, set))]
}

// RecordEncoder writes the records of one partition. It allocates nothing for a record.
type RecordEncoder struct {
	format    RecordFormat
	topic     string
	partition int32
	head      []byte // of a JSON line, up to the offset
}

// For is the encoder of one partition's records.
func (f RecordFormat) For(topic string, partition int32) *RecordEncoder {
	e := &RecordEncoder{format: f, topic: topic, partition: partition}
	e.head = append(e.head, `{"topic":`...)
	e.head = appendString(e.head, topic)
	e.head = append(e.head, `,"partition":`...)
	e.head = strconv.AppendInt(e.head, int64(partition), 10)
	e.head = append(e.head, `,"offset":`...)
	return e
}

// Append writes a record at the end of b.
func (e *RecordEncoder) Append(b []byte, r *Record) []byte {
	switch e.format.kind {
	case rawValues:
		return append(append(b, r.Value...), '\n')
	case template:
		return e.fill(b, r)
	default:
		return e.line(b, r)
	}
}

func (e *RecordEncoder) fill(b []byte, r *Record) []byte {
	for i := range e.format.tokens {
		switch t := &e.format.tokens[i]; t.verb {
		case 0:
			b = append(b, t.text...)
		case 't':
			b = append(b, e.topic...)
		case 'p':
			b = strconv.AppendInt(b, int64(e.partition), 10)
		case 'o':
			b = strconv.AppendInt(b, r.Offset, 10)
		case 'k':
			b = append(b, r.Key...)
		case 's':
			b = append(b, r.Value...)
		case 'K':
			b = strconv.AppendInt(b, size(r.Key), 10)
		case 'S':
			b = strconv.AppendInt(b, size(r.Value), 10)
		case 'R':
			b = binary.BigEndian.AppendUint32(b, uint32(int32(size(r.Value))))
		case 'T':
			b = strconv.AppendInt(b, r.Timestamp, 10)
		case 'h':
			for j, h := range r.Headers {
				if j > 0 {
					b = append(b, ',')
				}
				b = append(append(b, h.Name...), '=')
				if h.Value == nil {
					b = append(b, "NULL"...)
				}
				b = append(b, h.Value...)
			}
		}
	}
	return b
}

// size is the length of a key or a value, -1 for null.
func size(b []byte) int64 {
	if b == nil {
		return -1
	}
	return int64(len(b))
}

func (e *RecordEncoder) line(b []byte, r *Record) []byte {
	b = append(b, e.head...)
	b = strconv.AppendInt(b, r.Offset, 10)
	b = append(b, `,"timestamp":`...)
	switch {
	case r.Timestamp == -1:
		b = append(b, `null,"timestamp_type":null`...)
	case r.LogAppend:
		b = append(strconv.AppendInt(b, r.Timestamp, 10), `,"timestamp_type":"logappend"`...)
	default:
		b = append(strconv.AppendInt(b, r.Timestamp, 10), `,"timestamp_type":"create"`...)
	}
	b = appendField(b, `,"key":`, `,"key_base64":`, r.Key)
	b = appendField(b, `,"value":`, `,"value_base64":`, r.Value)
	b = append(b, `,"headers":[`...)
	for i, h := range r.Headers {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendAny(append(b, '['), h.Name)
		b = appendAny(append(b, ','), h.Value)
		b = append(b, ']')
	}
	return append(b, "]}\n"...)
}

// appendField writes a key or a value under one of two names: text, if it is text or null, or base64.
func appendField(b []byte, text, encoded string, v []byte) []byte {
	switch {
	case v == nil:
		return append(append(b, text...), "null"...)
	case plain(v) == len(v):
		b = append(append(b, text...), '"')
		return append(append(b, v...), '"')
	case utf8.Valid(v):
		return appendText(append(b, text...), v)
	}
	b = append(append(b, encoded...), '"')
	return append(base64.StdEncoding.AppendEncode(b, v), '"')
}

// appendAny writes a part of a header. One that is no text is an object that says so.
func appendAny(b, v []byte) []byte {
	switch {
	case v == nil:
		return append(b, "null"...)
	case utf8.Valid(v):
		return appendText(b, v)
	}
	b = append(b, `{"base64":"`...)
	return append(base64.StdEncoding.AppendEncode(b, v), `"}`...)
}

// escaped marks the bytes of valid UTF-8 that a JSON string does not hold as they are: control characters, which a terminal would
// obey, the quote and the backslash. 0xc2 begins the second row of control characters, and some that are none.
var escaped = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	t['"'], t['\\'], t[0x7f], t[0xc2] = true, true, true, true
	return t
}()

// plain is how many bytes at the start of v stand in a JSON string as they are, rounded down: it looks at eight at a time.
func plain(v []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	// has marks a zero byte of x by its top bit, and perhaps bytes above it: enough to know that there is one.
	has := func(x uint64) uint64 { return (x - ones) &^ x & tops }
	n := 0
	for ; len(v)-n >= 8; n += 8 {
		x := binary.LittleEndian.Uint64(v[n:])
		if (x|(x-0x20*ones)|(x+ones))&tops|has(x^'"'*ones)|has(x^'\\'*ones) != 0 { // not ASCII, below a blank, DEL, a quote, a backslash
			return n
		}
	}
	for ; n < len(v) && v[n] < 0x7f && !escaped[v[n]]; n++ {
	}
	return n
}

// appendText writes valid UTF-8 as a JSON string.
func appendText(b, v []byte) []byte {
	b = append(b, '"')
	start := 0
	for i := plain(v); i < len(v); i++ {
		c := v[i]
		if !escaped[c] {
			continue
		}
		if c == 0xc2 {
			if next := v[i+1]; next < 0xa0 {
				b = append(b, v[start:i]...)
				b = appendHex(append(b, `\u`...), uint32(next), 4)
				start = i + 2
			}
			i++
			continue
		}
		b = append(b, v[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = appendHex(append(b, `\u`...), uint32(c), 4)
		}
	}
	return append(append(b, v[start:]...), '"')
}
