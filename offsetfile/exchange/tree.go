package exchange

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON and YAML are read into one flat tree, in which a node knows where it stands: encoding/json keeps the last of two equal
// keys without a word, and forgets positions.

type nodeKind uint8

const (
	kindObject nodeKind = iota + 1
	kindArray
	kindText
	kindNumber
	kindBool
	kindNull
)

func (k nodeKind) String() string {
	return [...]string{"nothing", "an object", "a list", "a text", "a number", "true or false", "null"}[k]
}

// node is a value, or a key in front of its value. All below it follows it; next is the index behind that.
type node struct {
	kind       nodeKind
	escaped    bool   // as in JSON
	start, end uint32 // of a scalar in src
	next       uint32
	pos        uint32 // where it stands in the document
}

type tree struct {
	src   string // the document; behind YAML also the texts that are not written as they are meant
	nodes []node
}

// The bounds of a tree. A row takes 17 nodes.
const (
	maxDepth = 64
	maxNodes = 32 << 20
)

// readTree reads JSON: ours or another program's.
func (r *reading) readTree() error {
	r.tree = true
	p := jsonParser{text: r.text}
	if r.format == "" {
		r.format = JSON // for the message, until it is known
	}
	p.nodes = make([]node, 0, len(r.text)/8+8)
	p.value(0)
	if p.blank(); p.why == "" && p.at < len(p.text) {
		p.fail("something follows the end of the document")
	}
	if p.why != "" {
		r.bad(p.at, "", "%s", p.why)
		return nil
	}
	return r.readNodes(&tree{r.text, p.nodes})
}

// readNodes finds out which document it is, unless that was said, and reads it.
func (r *reading) readNodes(t *tree) error {
	f := r.As
	if f == "" {
		var err error
		if f, err = t.format(); err != nil {
			return err
		}
		if f != JSON || r.format != YAML {
			r.format = f
		}
	}
	switch f {
	case Yelp:
		r.readYelp(t)
	case KCL:
		return r.readKCL(t)
	case Spark:
		return r.readSpark(t)
	default:
		return r.readOurs(t)
	}
	return nil
}

// format recognises a document by its outermost keys.
func (t *tree) format() (Format, error) {
	top := t.nodes[0]
	if top.kind == kindArray {
		for i := range t.items(0) {
			if t.nodes[i].kind != kindObject {
				return "", &UnknownError{"a list in JSON, but not of objects with topic, partition and offset"}
			}
		}
		return KCL, nil
	}
	if top.kind != kindObject {
		return "", &UnknownError{"JSON, but neither an object nor a list"}
	}
	groupid, nested, flat := -1, true, true
	for k, v := range t.members(0) {
		switch key := t.string(k); {
		case key == "schema" && t.nodes[v].kind == kindText:
			return JSON, nil
		case key == "groupid" && t.nodes[v].kind == kindText:
			groupid = v
		}
		nested = nested && t.nodes[v].kind == kindObject
		flat = flat && t.nodes[v].kind == kindNumber
	}
	switch {
	case groupid >= 0:
		return Yelp, nil
	case nested:
		return Spark, nil
	case flat:
		return "", &UnknownError{"JSON with partitions but no topic"}
	}
	return "", &UnknownError{"JSON without \"schema\" or \"groupid\", and not topics with their partitions either"}
}

// members yields the keys and values of an object.
func (t *tree) members(i int) func(func(int, int) bool) {
	return func(yield func(k, v int) bool) {
		for k := i + 1; k < int(t.nodes[i].next); k = int(t.nodes[k+1].next) {
			if !yield(k, k+1) {
				return
			}
		}
	}
}

// items yields the values of a list.
func (t *tree) items(i int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for v := i + 1; v < int(t.nodes[i].next); v = int(t.nodes[v].next) {
			if !yield(v) {
				return
			}
		}
	}
}

func (t *tree) raw(i int) string { return t.src[t.nodes[i].start:t.nodes[i].end] }

// string is the text of a text, and the literal of any other scalar.
func (t *tree) string(i int) string {
	if !t.nodes[i].escaped {
		return t.raw(i)
	}
	return unescape(t.raw(i))
}

// same reports whether two values are equal to the letter.
func (t *tree) same(a, b int) bool {
	x, y := t.nodes[a:t.nodes[a].next], t.nodes[b:t.nodes[b].next]
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i].kind != y[i].kind || t.string(a+i) != t.string(b+i) {
			return false
		}
	}
	return true
}

func (r *reading) pos(t *tree, i int) int { return int(t.nodes[i].pos) }

// fields finds the values of named keys: -1 for one that is not there. A key that stands twice is a warning if it says the same,
// else a problem. With strict, so is a key of another name.
func (r *reading) fields(t *tree, i int, where func() string, strict bool, found []int, names ...string) bool {
	for n := range found {
		found[n] = -1
	}
	if t.nodes[i].kind != kindObject {
		r.bad(r.pos(t, i), where(), "this is %s, not an object", t.nodes[i].kind)
		return false
	}
	for k, v := range t.members(i) {
		key := t.string(k)
		n := slices.Index(names, key)
		switch {
		case n < 0 && strict:
			r.bad(r.pos(t, k), where(), "key %s is not known here", clip(key))
		case n < 0:
		case found[n] < 0:
			found[n] = v
		default:
			r.keyAgain(t, found[n]-1, k, where)
		}
	}
	return true
}

// each yields the members of an object of which the keys are data, each key once.
func (r *reading) each(t *tree, i int, where func() string, yield func(key string, k, v int)) {
	if t.nodes[i].kind != kindObject {
		r.bad(r.pos(t, i), where(), "this is %s, not an object", t.nodes[i].kind)
		return
	}
	seen := map[string]int{}
	for k, v := range t.members(i) {
		key := t.string(k)
		if first, again := seen[key]; again {
			r.keyAgain(t, first, k, where)
			continue
		}
		seen[key] = k
		yield(key, k, v)
	}
}

func (r *reading) keyAgain(t *tree, first, second int, where func() string) {
	same := t.same(first+1, second+1)
	if r.untold(same) {
		return
	}
	at := r.place(r.pos(t, first), "", "")
	spot := fmt.Sprintf("line %d, column %d", at.Line, at.Column)
	key := clip(t.string(second))
	if same {
		r.warn("%s", r.place(r.pos(t, second), where(), fmt.Sprintf("key %s twice, the same as in %s", key, spot)))
		return
	}
	r.bad(r.pos(t, second), where(), "key %s twice, and not the same; first in %s", key, spot)
}

// textIn reads a text; null and a missing key are "".
func (r *reading) textIn(t *tree, i int, where func() string, name string) string {
	if i < 0 || t.nodes[i].kind == kindNull {
		return ""
	}
	if t.nodes[i].kind != kindText {
		r.bad(r.pos(t, i), where(), "%s is %s, not a text (put it in quotes)", name, t.nodes[i].kind)
		return ""
	}
	return r.name(t.string(i))
}

// numberIn reads a whole number as its literal stands; anything else is a reason.
func (t *tree) numberIn(i int) (n int64, why string) {
	switch nd := t.nodes[i]; {
	case nd.kind == kindText:
		return 0, fmt.Sprintf("%s is not a whole number (take the quotes off)", clip(t.string(i)))
	case nd.kind != kindNumber:
		return 0, fmt.Sprintf("is %s, not a whole number", nd.kind)
	}
	s := t.raw(i)
	if digits := strings.TrimPrefix(s, "-"); len(digits) > 1 && digits[0] == '0' {
		return 0, clip(s) + " has a leading zero, which some read as octal"
	}
	if n, why = whole(s); why != "" {
		why = strings.ReplaceAll(why, strconv.Quote(s), s)
	}
	return n, why
}

// offsetAt reads an offset that is not null.
func (t *tree) offsetAt(i int) (n int64, why string) {
	if n, why = t.numberIn(i); why == "" && n < 0 {
		why = negative(n)
	}
	return n, why
}

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
