package exchange

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// yamlBlocks reads the plain part of YAML in which our documents are written: blocks of keys and of items, each scalar on one
// line. The general parser takes five seconds and 600 MB for 100,000 partitions. Whatever is not plain is left to that one:
// strange is set, and what was read does not count.
type yamlBlocks struct {
	text    string
	at      int // behind the current line
	nodes   []node
	kinds   map[string]nodeKind // of scalars that only the general parser can tell
	strange bool

	here       bool // there is a current line
	indent     int
	start, end int // of what the line says
}

// parseYAMLBlocks reads a document, if it is plain.
func parseYAMLBlocks(text string) (*tree, bool) {
	for i, r := range text {
		if r < ' ' && r != '\n' && (r != '\r' || !strings.HasPrefix(text[i:], "\r\n")) || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r&0xfffe == 0xfffe {
			return nil, false
		}
	}
	p := &yamlBlocks{text: text, kinds: map[string]nodeKind{}, nodes: make([]node, 0, len(text)/12+8)}
	p.next()
	if p.here && p.indent == 0 && p.text[p.start:p.end] == "---" {
		p.next()
	}
	p.block(0, 0)
	if p.strange || p.here {
		return nil, false
	}
	return &tree{text, p.nodes}, true
}

// next goes to the next line that says anything.
func (p *yamlBlocks) next() {
	for p.at < len(p.text) {
		from, to := p.at, strings.IndexByte(p.text[p.at:], '\n')
		if to < 0 {
			to = len(p.text)
			p.at = to
		} else {
			to += p.at
			p.at = to + 1
		}
		if to > from && p.text[to-1] == '\r' {
			to--
		}
		start := from
		for start < to && p.text[start] == ' ' {
			start++
		}
		if start < to && p.text[start] != '#' {
			p.here, p.indent, p.start, p.end = true, start-from, start, to
			return
		}
	}
	p.here = false
}

func (p *yamlBlocks) push(n node) int {
	if len(p.nodes) == maxNodes {
		p.strange = true
	}
	n.pos = uint32(p.start)
	n.next = uint32(len(p.nodes) + 1)
	p.nodes = append(p.nodes, n)
	return len(p.nodes) - 1
}

func (p *yamlBlocks) item() bool {
	return p.text[p.start] == '-' && p.start+1 < p.end && p.text[p.start+1] == ' '
}

// block reads the value that begins in the current line.
func (p *yamlBlocks) block(least, depth int) {
	switch {
	case !p.here || p.indent < least || depth == maxDepth:
		p.strange = true
	case p.item():
		p.list(p.indent, depth)
	default:
		p.mapping(p.indent, depth)
	}
}

func (p *yamlBlocks) list(indent, depth int) {
	me := p.push(node{kind: kindArray})
	for p.here && !p.strange && p.indent == indent && p.item() {
		p.start += 2
		for p.start < p.end && p.text[p.start] == ' ' {
			p.start++
		}
		if p.start == p.end || p.text[p.start] == '#' || p.item() {
			p.strange = true
			return
		}
		p.indent = p.start - p.lineStart()
		if p.key() > 0 {
			p.block(indent+1, depth+1)
			continue
		}
		p.scalar(p.start)
		p.next()
	}
	if p.here && p.indent > indent {
		p.strange = true
	}
	p.nodes[me].next = uint32(len(p.nodes))
}

// lineStart is where the current line begins.
func (p *yamlBlocks) lineStart() int { return strings.LastIndexByte(p.text[:p.start], '\n') + 1 }

// key is the length of the key with which the line begins, 0 if it does not.
func (p *yamlBlocks) key() int {
	i := p.start
	for i < p.end && (p.text[i] >= 'a' && p.text[i] <= 'z' || p.text[i] >= '0' && p.text[i] <= '9' && i > p.start || p.text[i] == '_') {
		i++
	}
	if i == p.start || i == p.end || p.text[i] != ':' || i+1 < p.end && p.text[i+1] != ' ' {
		return 0
	}
	switch p.text[p.start:i] {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "_":
		return 0
	}
	return i - p.start
}

func (p *yamlBlocks) mapping(indent, depth int) {
	me := p.push(node{kind: kindObject})
	for p.here && !p.strange && p.indent == indent && !p.item() {
		n := p.key()
		if n == 0 {
			p.strange = true
			return
		}
		p.push(node{kind: kindText, start: uint32(p.start), end: uint32(p.start + n)})
		value := p.start + n + 1
		for value < p.end && p.text[value] == ' ' {
			value++
		}
		if value < p.end && p.text[value] != '#' {
			p.scalar(value)
			p.next()
			continue
		}
		if p.next(); !p.here || p.indent < indent || p.indent == indent && !p.item() {
			p.strange = true // null, without saying so
			return
		}
		p.block(indent, depth+1)
	}
	if p.here && p.indent > indent {
		p.strange = true
	}
	p.nodes[me].next = uint32(len(p.nodes))
}

// scalar reads the rest of the line from there.
func (p *yamlBlocks) scalar(from int) {
	p.start = from
	s := p.text[from:p.end]
	after := 0
	n := node{kind: kindText, start: uint32(from)}
	switch s[0] {
	case '"':
		i := 1
		for i < len(s) && s[i] != '"' {
			if s[i] != '\\' {
				i++
				continue
			}
			size := yamlEscape(s[i:])
			if size == 0 {
				p.strange = true
				return
			}
			i += size
			n.escaped = yamlEscapes
		}
		n.start, n.end = n.start+1, uint32(from+i)
		after = i + 1
	case '[', '{':
		if !strings.HasPrefix(s, "[]") && !strings.HasPrefix(s, "{}") {
			p.strange = true
			return
		}
		if n.kind = kindArray; s[0] == '{' {
			n.kind = kindObject
		}
		after = 2
	default:
		for after < len(s) && plainByte(s[after]) {
			after++
		}
		n.end = uint32(from + after)
		n.kind = p.kind(s[:after])
	}
	if after > len(s) {
		p.strange = true
		return
	}
	if rest := strings.TrimLeft(s[after:], " "); rest != "" && (rest[0] != '#' || len(rest) == len(s)-after) || n.kind == 0 {
		p.strange = true
		return
	}
	p.push(n)
}

func plainByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_./+", c) >= 0
}

// kind tells what a scalar without quotes is, 0 if it is strange.
func (p *yamlBlocks) kind(s string) nodeKind {
	digits := strings.TrimPrefix(s, "-")
	switch {
	case s == "" || s[0] == '-' && len(digits) == 0:
		return 0
	case s == "null":
		return kindNull
	case len(digits) < 19 && strings.Trim(digits, "0123456789") == "" && digits != "" && (digits[0] != '0' || len(s) == 1):
		return kindNumber
	}
	kind, known := p.kinds[s]
	if !known {
		var y yaml.Node
		if yaml.Unmarshal([]byte(s), &y) == nil && len(y.Content) == 1 && y.Content[0].Value == s {
			kind = scalarKind(y.Content[0])
		}
		if len(p.kinds) < 1<<16 {
			p.kinds[strings.Clone(s)] = kind
		}
	}
	return kind
}

// yamlEscape measures an escape inside of double quotes, 0 for one that is left to the general parser.
func yamlEscape(s string) int {
	if len(s) < 2 {
		return 0
	}
	digits := 0
	switch s[1] {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	}
	if digits == 0 || len(s) < 2+digits {
		return 0
	}
	if n, err := strconv.ParseUint(s[2:2+digits], 16, 32); err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return 0
	}
	return 2 + digits
}
