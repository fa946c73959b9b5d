package exchange

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// yamlParser reads one document of YAML in one pass: blocks and flow collections, all kinds of scalars, comments. Tabs that indent,
// tags, anchors, keys that are no text, and what only few readers agree on are refused. What it takes, it takes as YAML 1.2 means it.
type yamlParser struct {
	text  string // lines end in LF
	at    int
	line  int // where the line of at begins
	nodes []node
	more  []byte // texts that are not written as they are meant; in the tree's source they stand behind the document

	why string // what is wrong at bad
	bad int
}

// parse reads all. There are no nodes if nothing but comments was found.
func (p *yamlParser) parse() *tree {
	p.characters()
	p.gap(false)
	if rest := p.text[p.line:]; strings.HasPrefix(rest, "%YAML 1.1\n") || strings.HasPrefix(rest, "%YAML 1.2\n") {
		p.at += len("%YAML 1.1")
		if p.gap(false); !p.marker() {
			p.fail(p.at, "--- is missing")
		}
	}
	if p.marker() && p.text[p.at] == '-' {
		p.at += len("---")
		p.endLine()
	}
	if p.why == "" && p.at < len(p.text) && !p.marker() {
		p.block(-1, 0)
	}
	if p.why == "" && p.at < len(p.text) {
		p.rest()
	}
	if len(p.more) == 0 {
		return &tree{p.text, p.nodes}
	}
	return &tree{p.text + string(p.more), p.nodes}
}

// rest wants nothing behind the value but the end of the document.
func (p *yamlParser) rest() {
	if !p.marker() {
		p.fail(p.at, unfitting)
		return
	}
	if p.text[p.at] == '.' {
		p.at += len("...")
		p.endLine()
	}
	if p.at < len(p.text) {
		p.fail(p.at, "there is a second document in it")
	}
}

const unfitting = "this fits to nothing above it: its indentation may be wrong, or a dash is missing"

// characters refuses what may not stand in YAML, and what some readers take for the end of a line.
func (p *yamlParser) characters() {
	for i := 0; i < len(p.text); {
		if c := p.text[i]; c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(p.text[i:])
		if r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r&0xfffe == 0xfffe {
			p.fail(i, fmt.Sprintf("a character that may stand here only as an escape in double quotes (%U)", r))
			return
		}
		i += n
	}
}

func (p *yamlParser) fail(at int, why string) {
	if p.why == "" {
		p.why, p.bad = why, at
	}
	p.at = len(p.text)
}

func (p *yamlParser) push(n node) int {
	if len(p.nodes) == maxNodes {
		p.fail(int(n.pos), "the document has too many values")
	}
	n.next = uint32(len(p.nodes) + 1)
	p.nodes = append(p.nodes, n)
	return len(p.nodes) - 1
}

func (p *yamlParser) column() int { return p.at - p.line }

// is reports whether a byte stands there.
func (p *yamlParser) is(i int, c byte) bool { return i < len(p.text) && p.text[i] == c }

// blank reports whether there is a blank, a tab, or the end of a line or of all.
func (p *yamlParser) blank(i int) bool {
	return i >= len(p.text) || p.text[i] == ' ' || p.text[i] == '\n' || p.text[i] == '\t'
}

// marker reports whether a line of --- or ... begins here.
func (p *yamlParser) marker() bool { return p.column() == 0 && p.markerAt(p.at) }

func (p *yamlParser) markerAt(i int) bool {
	return p.blank(i+3) && (strings.HasPrefix(p.text[i:], "---") || strings.HasPrefix(p.text[i:], "..."))
}

// gap goes to the next thing that is said, and reports whether it stands in a later line. With tabs they may stand before it.
func (p *yamlParser) gap(tabs bool) (crossed bool) {
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '\n':
			p.line = p.at + 1
			crossed = true
		case c == ' ', c == '\t' && tabs && !crossed:
		case c == '\t':
			p.fail(p.at, "a tab where only blanks may stand")
			return crossed
		case c == '#' && (p.at == p.line || p.blank(p.at-1)):
			p.at += len(untilBreak(p.text[p.at:])) - 1
		default:
			return crossed
		}
	}
	return crossed
}

// blanks passes over blanks and tabs.
func (p *yamlParser) blanks() {
	for p.is(p.at, ' ') || p.is(p.at, '\t') {
		p.at++
	}
}

// endLine wants nothing more but a comment in this line, and goes to what follows.
func (p *yamlParser) endLine() {
	if p.why != "" {
		return
	}
	from := p.at
	p.blanks()
	switch {
	case p.at == len(p.text), p.is(p.at, '\n'), p.is(p.at, '#') && p.at > from:
		p.gap(false)
	case p.is(p.at, ':'):
		p.fail(p.at, "a colon where none is expected: is the text without quotes, or the line not indented?")
	default:
		p.fail(p.at, clip(untilBreak(p.text[p.at:]))+" where the end of the line is expected")
	}
}

// untilBreak is the first line.
func untilBreak(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// block reads the value that begins here, in a block at column outer.
func (p *yamlParser) block(outer, depth int) {
	switch {
	case depth == maxDepth:
		p.fail(p.at, "too deep")
	case p.dash():
		p.list(p.column(), depth)
	case p.keyAhead():
		p.mapping(p.column(), depth)
	default:
		p.inline(outer, depth)
	}
}

func (p *yamlParser) dash() bool { return p.is(p.at, '-') && p.blank(p.at+1) && !p.marker() }

func (p *yamlParser) list(column, depth int) {
	me := p.push(node{kind: kindArray, pos: uint32(p.at)})
	for p.at < len(p.text) && p.column() == column && p.dash() {
		p.at++
		p.value(column, depth+1, false)
	}
	p.nodes[me].next = uint32(len(p.nodes))
}

func (p *yamlParser) mapping(column, depth int) {
	me := p.push(node{kind: kindObject, pos: uint32(p.at)})
	for p.at < len(p.text) && p.column() == column && !p.marker() {
		if p.key(false); p.why == "" {
			p.value(column, depth+1, true)
		}
	}
	p.nodes[me].next = uint32(len(p.nodes))
}

// value reads what belongs to a key or a dash in a block at that column.
func (p *yamlParser) value(column, depth int, key bool) {
	from := p.at
	crossed := p.gap(key)
	switch {
	case p.why != "":
	case p.at == len(p.text), crossed && (p.marker() || p.column() < column || p.column() == column && !(key && p.dash())):
		p.push(node{kind: kindNull, pos: uint32(from)}) // without saying so
	case key && !crossed:
		p.inline(column, depth)
	default:
		p.block(column, depth)
	}
	if p.at < len(p.text) && p.column() > column {
		p.fail(p.at, unfitting)
	}
}

// inline reads a scalar or a flow collection in a block at column outer, up to what follows in another line.
func (p *yamlParser) inline(outer, depth int) {
	switch p.text[p.at] {
	case '|', '>':
		p.literal(outer)
		p.gap(false)
		return
	case '"', '\'', '[', '{':
		p.flow(depth)
	default:
		p.plain(outer)
	}
	p.endLine()
}

// maxKey is the longest key, with its colon; all readers have this bound.
const maxKey = 1024

// keyAhead reports whether this line goes on with a key and its colon.
func (p *yamlParser) keyAhead() bool {
	var end int
	switch p.text[p.at] {
	case '"', '\'':
		end = p.quotedEnd()
	case '[', '{':
		return false
	default:
		end = p.plainEnd(p.at, false)
	}
	for p.is(end, ' ') || p.is(end, '\t') {
		end++
	}
	return p.is(end, ':') && p.blank(end+1)
}

// quotedEnd is behind the quotes that begin here, or at the end of the line.
func (p *yamlParser) quotedEnd() int {
	quote, i := p.text[p.at], p.at+1
	for ; i < len(p.text) && p.text[i] != '\n'; i++ {
		switch c := p.text[i]; {
		case c == '\\' && quote == '"', c == '\'' && quote == c && p.is(i+1, c):
			i++
		case c == quote:
			return i + 1
		}
	}
	return i
}

// key reads a key and its colon.
func (p *yamlParser) key(flow bool) {
	from, line := p.at, p.line
	quoted := p.text[from] == '"' || p.text[from] == '\''
	if quoted {
		p.quoted()
	} else {
		p.plainKey(flow)
	}
	p.blanks()
	switch {
	case p.why != "":
	case p.line == line && p.at-from <= maxKey && p.is(p.at, ':') && (p.blank(p.at+1) || flow && quoted):
		p.at++
	default:
		p.fail(from, clip(untilBreak(p.text[from:]))+" where a key and a colon are expected")
	}
}

func (p *yamlParser) plainKey(flow bool) {
	from := p.at
	if p.scalarStart(flow); p.why != "" {
		return
	}
	p.at = p.plainEnd(from, flow)
	p.word(from, p.at)
}

// flow reads a value in quotes or brackets, or inside of those.
func (p *yamlParser) flow(depth int) {
	switch {
	case depth == maxDepth:
		p.fail(p.at, "too deep")
	case p.text[p.at] == '[':
		p.collection(depth, kindArray, ']')
	case p.text[p.at] == '{':
		p.collection(depth, kindObject, '}')
	case p.text[p.at] == '"' || p.text[p.at] == '\'':
		p.quoted()
	default:
		from := p.at
		if p.scalarStart(true); p.why == "" {
			p.at = p.plainEnd(from, true)
			p.word(from, p.at)
		}
	}
}

// collection reads a list or an object in brackets.
func (p *yamlParser) collection(depth int, kind nodeKind, end byte) {
	me := p.push(node{kind: kind, pos: uint32(p.at)})
	p.at++
	for p.flowGap() && p.text[p.at] != end {
		from := p.at
		if kind == kindObject {
			if p.key(true); !p.flowGap() {
				return
			}
		}
		if kind == kindObject && (p.text[p.at] == ',' || p.text[p.at] == end) {
			p.push(node{kind: kindNull, pos: uint32(from)}) // without saying so
		} else {
			p.flow(depth + 1)
		}
		if !p.flowGap() || p.text[p.at] == end {
			break
		}
		if p.text[p.at] != ',' {
			p.fail(p.at, fmt.Sprintf("%s where a comma or %q is expected", clip(untilBreak(p.text[p.at:])), end))
			return
		}
		p.at++
	}
	if p.why == "" {
		p.at++
		p.nodes[me].next = uint32(len(p.nodes))
	}
}

// flowGap goes to what is said next between brackets, where lines do not matter; there must be something.
func (p *yamlParser) flowGap() bool {
	p.gap(true)
	if p.why == "" && (p.at == len(p.text) || p.marker()) {
		p.fail(p.at, "a bracket is not closed")
	}
	return p.why == ""
}
