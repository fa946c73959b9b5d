package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"unicode/utf16"

	"gtoffset/kafkaops/offsets/infile"
)

// maxFile bounds what is read of any file here: none that people write comes near it.
const maxFile = 4 << 20

// property is one pair of a .properties file, and the line on which it begins.
type property struct {
	key, value string
	line       int
}

// malformed is an escape that no Java program would read either.
type malformed struct {
	line   int
	reason string
}

func (e *malformed) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.reason) }

var errEscape = errors.New(`\u is not followed by four hexadecimal digits; a backslash itself is written \\`)

// parseProperties reads text as java.util.Properties.load(InputStream) does: ISO 8859-1, \uXXXX, lines that go on after a backslash,
// and "=", ":" or blanks between key and value. A key may come twice. Errors never show what was read: it may be a secret.
func parseProperties(text []byte) ([]property, error) {
	var all []property
	for _, l := range logicalLines(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))) {
		key, value := splitPair(l.text)
		p := property{line: l.number}
		var err error
		if p.key, err = unescape(key); err == nil {
			p.value, err = unescape(value)
		}
		if err != nil {
			return nil, &malformed{l.number, err.Error()}
		}
		all = append(all, p)
	}
	return all, nil
}

type logicalLine struct {
	text   []byte
	number int
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\f' }
func isEOL(c byte) bool   { return c == '\n' || c == '\r' }

// logicalLines joins lines that go on, and leaves out comments and empty lines.
func logicalLines(text []byte) []logicalLine {
	r := lineReader{text: text, number: 1}
	var lines []logicalLine
	for r.skipBlank() {
		if c := r.text[r.at]; c == '#' || c == '!' {
			r.skipRest()
			continue
		}
		number := r.number
		if l, ok := r.line(); ok {
			lines = append(lines, logicalLine{l, number})
		}
	}
	return lines
}

type lineReader struct {
	text   []byte
	at     int
	number int // of the line that at is in, from 1
}

// next takes a byte, and counts lines: "\r\n" ends one.
func (r *lineReader) next() byte {
	c := r.text[r.at]
	r.at++
	if c == '\n' || c == '\r' && (r.at == len(r.text) || r.text[r.at] != '\n') {
		r.number++
	}
	return c
}

func (r *lineReader) skipBlank() (more bool) {
	for r.at < len(r.text) && (isBlank(r.text[r.at]) || isEOL(r.text[r.at])) {
		r.next()
	}
	return r.at < len(r.text)
}

func (r *lineReader) skipRest() {
	for r.at < len(r.text) && !isEOL(r.text[r.at]) {
		r.next()
	}
}

// line reads up to an end that no backslash stands before. Escapes stay as they are.
func (r *lineReader) line() (text []byte, ok bool) {
	for r.at < len(r.text) && !isEOL(r.text[r.at]) {
		c := r.next()
		if c != '\\' {
			text, ok = append(text, c), true
			continue
		}
		if r.at == len(r.text) { // Java drops a backslash at the very end
			return text, true
		}
		if !isEOL(r.text[r.at]) {
			text, ok = append(text, c, r.next()), true
			continue
		}
		if r.next() == '\r' && r.at < len(r.text) && r.text[r.at] == '\n' {
			r.next()
		}
		for r.at < len(r.text) && isBlank(r.text[r.at]) {
			r.next()
		}
		if !ok { // nothing stood before the backslash: the next line begins anew, and may be a comment
			return nil, false
		}
	}
	return text, ok
}

// splitPair cuts at the first "=", ":" or blank that is not escaped.
func splitPair(l []byte) (key, value []byte) {
	i := 0
	for i < len(l) && !isBlank(l[i]) && l[i] != '=' && l[i] != ':' {
		if l[i] == '\\' {
			i++
		}
		i++
	}
	i = min(i, len(l))
	key, value = l[:i], bytes.TrimLeft(l[i:], " \t\f")
	if len(value) > 0 && (value[0] == '=' || value[0] == ':') {
		value = bytes.TrimLeft(value[1:], " \t\f")
	}
	return key, value
}

func unescape(b []byte) (string, error) {
	units := make([]uint16, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			units = append(units, uint16(b[i]))
			continue
		}
		i++
		switch b[i] {
		case 't':
			units = append(units, '\t')
		case 'n':
			units = append(units, '\n')
		case 'r':
			units = append(units, '\r')
		case 'f':
			units = append(units, '\f')
		case 'u':
			n, err := strconv.ParseUint(string(b[i+1:min(i+5, len(b))]), 16, 16)
			if i+4 >= len(b) || err != nil || bytes.ContainsAny(b[i+1:i+5], "+-_") {
				return "", errEscape
			}
			units = append(units, uint16(n))
			i += 4
		default:
			units = append(units, uint16(b[i]))
		}
	}
	return string(utf16.Decode(units)), nil
}

// readBounded reads a file that is not larger than anybody writes it.
func readBounded(path string) ([]byte, error) { return infile.Read(path, maxFile) }

// plainReason is an error of the operating system without the name of the call.
func plainReason(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Path + ": " + path.Err.Error()
	}
	return err.Error()
}
