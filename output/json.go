package output

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"gtoffset/kafkaops/offsets"
)

// Documents hold every string as it is. Two things differ from what encoding/json would write, and both read back the same:
// characters that a terminal would not show (C1 controls, bidirectional overrides, …) are \u escapes; and a string that is not
// UTF-8, which JSON cannot hold, has U+FFFD in place of the bad bytes and its exact bytes beside it under NAME_base64.

// encoder appends JSON. encoding/json takes too long for 100,000 partitions; a test holds the two equal.
type encoder struct {
	w   io.Writer
	b   []byte
	err error
}

// comma separates a value from the one before it.
func (e *encoder) comma() {
	if n := len(e.b); n > 0 {
		switch e.b[n-1] {
		case '{', '[', ':':
		default:
			e.b = append(e.b, ',')
		}
	}
}

// flush hands over what has gathered, all but the last byte: comma looks at that one.
func (e *encoder) flush() {
	if n := len(e.b); n >= 64<<10 && e.err == nil {
		_, e.err = e.w.Write(e.b[:n-1])
		e.b = append(e.b[:0], e.b[n-1])
	}
}

// end closes the document with a newline.
func (e *encoder) end() error {
	e.b = append(e.b, '\n')
	if e.err == nil {
		_, e.err = e.w.Write(e.b)
	}
	return e.err
}

func (e *encoder) open(bracket byte) {
	e.comma()
	e.b = append(e.b, bracket)
}

func (e *encoder) close(bracket byte) { e.b = append(e.b, bracket) }

// key writes a name of our own, which needs no escapes.
func (e *encoder) key(name string) {
	e.comma()
	e.b = append(e.b, '"')
	e.b = append(e.b, name...)
	e.b = append(e.b, '"', ':')
}

func (e *encoder) list(name string) {
	e.key(name)
	e.open('[')
}

func (e *encoder) object(name string) {
	e.key(name)
	e.open('{')
}

func (e *encoder) null(name string) {
	e.key(name)
	e.b = append(e.b, "null"...)
}

func (e *encoder) int(name string, n int64) {
	e.key(name)
	e.b = strconv.AppendInt(e.b, n, 10)
}

// number writes null for None.
func (e *encoder) number(name string, n int64) {
	if n == offsets.None {
		e.null(name)
		return
	}
	e.int(name, n)
}

// raw appends JSON as it is.
func (e *encoder) raw(s string) { e.b = append(e.b, s...) }

// pair appends a key that has its comma, quotes and colon already, and a number or null.
func (e *encoder) pair(key string, n int64) {
	e.b = append(e.b, key...)
	if n == offsets.None {
		e.b = append(e.b, "null"...)
		return
	}
	e.b = strconv.AppendInt(e.b, n, 10)
}

func (e *encoder) bool(name string, v bool) {
	e.key(name)
	e.b = strconv.AppendBool(e.b, v)
}

func (e *encoder) string(name, s string) {
	e.key(name)
	e.b = appendString(e.b, s)
	if !plainASCII(s) && !utf8.ValidString(s) {
		e.comma()
		e.b = append(e.b, '"')
		e.b = append(e.b, name...)
		e.b = append(e.b, `_base64":"`...)
		e.b = base64.StdEncoding.AppendEncode(e.b, []byte(s))
		e.b = append(e.b, '"')
	}
}

// text writes null for "".
func (e *encoder) text(name, s string) {
	if s == "" {
		e.null(name)
		return
	}
	e.string(name, s)
}

// strings writes a list; a string that is not UTF-8 stands in it with U+FFFD.
func (e *encoder) strings(name string, all []string) {
	e.list(name)
	for _, s := range all {
		e.comma()
		e.b = appendString(e.b, s)
	}
	e.close(']')
}

func (e *encoder) time(name string, t time.Time) {
	if t.IsZero() || !offsets.Plain(t) {
		e.null(name)
		return
	}
	e.key(name)
	e.b = append(e.b, '"')
	e.b = t.UTC().AppendFormat(e.b, offsets.TimeLayout)
	e.b = append(e.b, '"')
}

func appendString(b []byte, s string) []byte { return appendQuoted(b, s, appendEscape) }

func appendQuoted(b []byte, s string, escape func([]byte, rune) []byte) []byte {
	b = append(b, '"')
	start := 0 // of what is not appended yet
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r >= 0x80 && (r != utf8.RuneError || n > 1) && (visible(r) || emojiPart(r)) {
			i += n
			continue
		}
		b = append(b, s[start:i]...)
		b = escape(b, r)
		i += n
		start = i
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

func appendEscape(b []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(b, '\\', byte(r))
	case r == '\b':
		return append(b, `\b`...)
	case r == '\f':
		return append(b, `\f`...)
	case r == '\n':
		return append(b, `\n`...)
	case r == '\r':
		return append(b, `\r`...)
	case r == '\t':
		return append(b, `\t`...)
	case r >= 0x10000:
		r -= 0x10000
		b = appendHex(append(b, `\u`...), uint32(0xd800+r>>10), 4)
		return appendHex(append(b, `\u`...), uint32(0xdc00+r&0x3ff), 4)
	}
	return appendHex(append(b, `\u`...), uint32(r), 4)
}

// emojiPart is what stays unescaped in JSON although it shows nothing by itself.
func emojiPart(r rune) bool { return r == 0x200d || r == 0xfe0f }

// writeJSON writes a document that has structs of its own, on one line.
func writeJSON(w io.Writer, document any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(document); err != nil {
		return err
	}
	_, err := w.Write(escapeInvisible(b.Bytes()))
	return err
}

// escapeInvisible puts \u escapes for what a terminal would not show. Outside of strings a document is ASCII.
func escapeInvisible(doc []byte) []byte {
	var out []byte
	start := 0
	for i := 0; i < len(doc); {
		if doc[i] < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(doc[i:])
		if r >= 0x80 && (visible(r) || emojiPart(r)) {
			i += n
			continue
		}
		out = append(out, doc[start:i]...)
		out = appendEscape(out, r)
		i += n
		start = i
	}
	if start == 0 {
		return doc
	}
	return append(out, doc[start:]...)
}

// numberOrNull is a number in a document, null where there is none.
func numberOrNull[T int | int32 | int64](n T) *T {
	if n == offsets.None {
		return nil
	}
	return &n
}

// textOrNull is a string in a document, null where there is none.
func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// exact is the content of a NAME_base64 field: the bytes of a string that is not UTF-8, "" (left out) for all others.
func exact(s string) string {
	if utf8.ValidString(s) {
		return ""
	}
	return base64.StdEncoding.EncodeToString([]byte(s))
}

// timeOrNull writes a time as documents have it.
func timeOrNull(t time.Time) *string {
	if t.IsZero() || !offsets.Plain(t) {
		return nil
	}
	s := t.UTC().Format(offsets.TimeLayout)
	return &s
}

// origin writes the cluster and the store.
func (e *encoder) origin(o offsets.Origin) {
	e.object("cluster")
	e.text("id", o.Cluster)
	e.text("bootstrap", o.Bootstrap)
	e.text("source", o.Source)
	e.close('}')
	if o.Store == "" {
		e.null("store")
		return
	}
	e.object("store")
	e.string("url", o.Store)
	e.close('}')
}
