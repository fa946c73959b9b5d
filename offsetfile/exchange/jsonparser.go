package exchange

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonParser goes through a text in one pass.
type jsonParser struct {
	text  string
	at    int
	nodes []node
	why   string // what is wrong at at
}

func (p *jsonParser) fail(why string) {
	if p.why == "" {
		p.why = why
	}
}

func (p *jsonParser) blank() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

func (p *jsonParser) push(n node) int {
	if len(p.nodes) == maxNodes {
		p.fail("the document has too many values")
	}
	p.nodes = append(p.nodes, n)
	return len(p.nodes) - 1
}

func (p *jsonParser) value(depth int) {
	p.blank()
	if p.at == len(p.text) {
		p.fail("the document ends here, too early")
		return
	}
	switch c := p.text[p.at]; {
	case depth == maxDepth:
		p.fail("too deep")
	case c == '{':
		p.container(depth, kindObject, '}')
	case c == '[':
		p.container(depth, kindArray, ']')
	case c == '"':
		p.string()
	case c == '-' || c >= '0' && c <= '9':
		p.number()
	default:
		p.word()
	}
}

func (p *jsonParser) container(depth int, kind nodeKind, end byte) {
	me := p.push(node{kind: kind, pos: uint32(p.at)})
	p.at++
	for first := true; p.why == ""; first = false {
		p.blank()
		switch {
		case p.at == len(p.text):
			p.fail("the document ends here, too early")
		case p.text[p.at] == end && first:
		case p.text[p.at] == end:
			p.fail("a comma in front of the end")
		default:
			if kind == kindObject {
				if p.key(); p.why != "" {
					return
				}
			}
			p.value(depth + 1)
			if p.blank(); p.why == "" && p.at < len(p.text) && p.text[p.at] == ',' {
				p.at++
				continue
			}
			if p.why == "" && p.at < len(p.text) && p.text[p.at] != end {
				p.fail(fmt.Sprintf("%s where a comma or %q is expected", clip(p.glance()), end))
			}
		}
		if p.why == "" && p.at < len(p.text) && p.text[p.at] == end {
			p.at++
			p.nodes[me].next = uint32(len(p.nodes))
			return
		}
		p.fail("the document ends here, too early")
	}
}

func (p *jsonParser) key() {
	if p.text[p.at] != '"' {
		p.fail(clip(p.glance()) + " where a key in double quotes is expected")
		return
	}
	if p.string(); p.why != "" {
		return
	}
	if p.blank(); p.at == len(p.text) || p.text[p.at] != ':' {
		p.fail("a colon is missing")
		return
	}
	p.at++
}

// glance is what stands here, for a message.
func (p *jsonParser) glance() string {
	_, n := utf8.DecodeRuneInString(p.text[p.at:])
	return p.text[p.at : p.at+n]
}

func (p *jsonParser) string() {
	n := node{kind: kindText, pos: uint32(p.at), start: uint32(p.at + 1)}
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			n.end = uint32(p.at)
			p.at++
			i := p.push(n)
			p.nodes[i].next = uint32(i + 1)
			return
		case c == '\\':
			n.escaped = true
			size, why := escape(p.text[p.at:])
			if why != "" {
				p.fail(why)
				return
			}
			p.at += size - 1
		case c < ' ':
			p.fail("a control character inside of a text")
			return
		}
	}
	p.at = int(n.pos)
	p.fail("this text has no closing quote")
}

// escape measures an escape.
func escape(s string) (size int, why string) {
	if len(s) < 2 {
		return 0, "an escape that is cut off"
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, ""
	case 'u':
		r, ok := hex4(s[2:])
		if !ok {
			return 0, "an escape that is not \\u and four hexadecimal digits"
		}
		if !utf16.IsSurrogate(r) {
			return 6, ""
		}
		if len(s) > 6 && strings.HasPrefix(s[6:], `\u`) {
			if low, ok := hex4(s[8:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
				return 12, ""
			}
		}
		return 0, "half of a surrogate pair: it stands for no character"
	}
	return 0, "an escape that does not exist"
}

func hex4(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(s[:4], 16, 16)
	return rune(n), err == nil
}

// unescape undoes escapes that were found good.
func unescape(s string) string {
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		s = s[i:]
		size, _ := escape(s)
		switch c := s[1]; c {
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'u':
			r, _ := hex4(s[2:])
			if size == 12 {
				low, _ := hex4(s[8:])
				r = utf16.DecodeRune(r, low)
			}
			b.WriteRune(r)
		default:
			b.WriteByte(c)
		}
		s = s[size:]
	}
	return b.String()
}

func (p *jsonParser) number() {
	n := node{kind: kindNumber, pos: uint32(p.at), start: uint32(p.at)}
	digits := func() bool {
		from := p.at
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		return p.at > from
	}
	is := func(set string) bool {
		if p.at < len(p.text) && strings.IndexByte(set, p.text[p.at]) >= 0 {
			p.at++
			return true
		}
		return false
	}
	is("-")
	good := is("0") || digits()
	if good && is(".") {
		good = digits()
	}
	if good && is("eE") {
		is("+-")
		good = digits()
	}
	if !good {
		p.at = int(n.pos)
		p.fail("a number that is not one")
		return
	}
	n.end = uint32(p.at)
	i := p.push(n)
	p.nodes[i].next = uint32(i + 1)
}

func (p *jsonParser) word() {
	for _, w := range [...]struct {
		word string
		kind nodeKind
	}{{"null", kindNull}, {"true", kindBool}, {"false", kindBool}} {
		if strings.HasPrefix(p.text[p.at:], w.word) {
			i := p.push(node{kind: w.kind, pos: uint32(p.at), start: uint32(p.at), end: uint32(p.at + len(w.word))})
			p.nodes[i].next = uint32(i + 1)
			p.at += len(w.word)
			return
		}
	}
	p.fail(clip(p.glance()) + " where a value is expected")
}
