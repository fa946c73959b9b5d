package exchange

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	return f.as().tree(r, t)
}

// format recognises a document by its outermost keys.
func (t *tree) format() (Format, error) {
	for _, f := range formats() {
		if f.shape != nil && f.shape(t) {
			return f.name, nil
		}
	}
	return "", &UnknownError{t.unlike()}
}

// noTopic says what is wrong with {}.
const noTopic = "an object with nothing in it: it names no topic"

// unlike says what a document is that is none of the formats.
func (t *tree) unlike() string {
	switch t.nodes[0].kind {
	case kindArray:
		return "a list in JSON, but not of objects with topic, partition and offset"
	case kindObject:
	default:
		return "JSON, but neither an object nor a list"
	}
	if len(t.nodes) == 1 {
		return noTopic
	}
	for _, v := range t.members(0) {
		if t.nodes[v].kind != kindNumber {
			return `JSON without "schema" or "groupid", and not topics with their partitions either`
		}
	}
	return "JSON with partitions but no topic"
}

// hasText reports whether this is an object with a member of that name, which is a text.
func (t *tree) hasText(name string) bool {
	if t.nodes[0].kind != kindObject {
		return false
	}
	for k, v := range t.members(0) {
		if t.nodes[v].kind == kindText && t.string(k) == name {
			return true
		}
	}
	return false
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
		s := t.string(i)
		if _, why = whole(s); why != "" {
			return 0, clip(s) + " is not a whole number"
		}
		return 0, clip(s) + " is not a whole number (take the quotes off)"
	case nd.kind != kindNumber:
		return 0, fmt.Sprintf("is %s, not a whole number", nd.kind)
	}
	s := t.raw(i)
	if digits := strings.TrimPrefix(s, "-"); len(digits) > 1 && digits[0] == '0' && strings.Trim(digits, "0123456789") == "" {
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
