package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxYAML bounds YAML that yamlBlocks does not take: the general parser needs thirty times the size of a document.
const maxYAML = 16 << 20

// The lines by which our documents in YAML are known.
var (
	yamlLine   = regexp.MustCompile(`^(?:[A-Za-z_]+|"[a-z_]+"|'[a-z_]+')[ \t]*:(?:[ \t]|$)`)
	schemaLine = regexp.MustCompile(`^(?:schema|"schema"|'schema')[ \t]*:[ \t]+["']?gtoffset\.`)
)

// looksYAML reports whether the first line that says anything is a key, and some line names a schema of ours.
func looksYAML(text string) bool {
	for line := range lines(text) {
		if strings.TrimSpace(line) == "" || line[0] == '#' || strings.HasPrefix(line, "---") || line[0] == '%' {
			continue
		}
		if !yamlLine.MatchString(line) {
			return false
		}
		break
	}
	for line := range lines(text) {
		if schemaLine.MatchString(line) {
			return true
		}
	}
	return false
}

func (r *reading) readYAML() error {
	r.format, r.tree = YAML, true
	t, ok := parseYAMLBlocks(r.text)
	if !ok {
		var err error
		if t, err = r.anyYAML(); err != nil || len(r.problems) > 0 {
			return err
		}
	}
	return r.readNodes(t)
}

// anyYAML makes a tree with the general parser.
func (r *reading) anyYAML() (*tree, error) {
	if len(r.text) > maxYAML {
		return nil, &MalformedError{YAML, []Problem{{What: fmt.Sprintf("it is larger than %d MiB, and not in the plain form that export writes; in JSON it may be %d MiB", maxYAML>>20, MaxSize>>20)}}, 0, nil}
	}
	dec := yaml.NewDecoder(strings.NewReader(r.text))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); err != nil {
		text, line := yamlError(err)
		r.tree = false
		r.bad(line, "", "%s", text)
		return nil, nil
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		r.bad(-1, "", "there is a second document in it")
		return nil, nil
	}
	if len(doc.Content) == 0 {
		return nil, ErrEmpty
	}
	b := yamlTree{r: r, starts: []int{0}}
	for i := range len(r.text) {
		if r.text[i] == '\n' {
			b.starts = append(b.starts, i+1)
		}
	}
	b.add(doc.Content[0], 0)
	return &tree{b.src.String(), b.nodes}, nil
}

// yamlError takes the line out of a parser's message.
func yamlError(err error) (string, int) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	rest, found := strings.CutPrefix(text, "line ")
	if number, what, ok := strings.Cut(rest, ": "); found && ok {
		if line, err := strconv.Atoi(number); err == nil {
			return what, line
		}
	}
	return text, 0
}

// yamlTree builds a tree of nodes from YAML's.
type yamlTree struct {
	r      *reading
	src    strings.Builder
	nodes  []node
	starts []int // where each line begins
}

func (b *yamlTree) add(y *yaml.Node, depth int) {
	pos := min(b.starts[min(max(y.Line-1, 0), len(b.starts)-1)]+max(y.Column-1, 0), len(b.r.text))
	me := len(b.nodes)
	n := node{pos: uint32(pos), start: uint32(b.src.Len())}
	switch {
	case depth == maxDepth:
		b.r.bad(pos, "", "too deep")
		return
	case y.Kind == yaml.AliasNode || y.Anchor != "":
		b.r.bad(pos, "", "anchors and aliases are not taken")
		return
	case y.Kind == yaml.MappingNode:
		n.kind = kindObject
	case y.Kind == yaml.SequenceNode:
		n.kind = kindArray
	default:
		if n.kind = scalarKind(y); n.kind == 0 {
			b.r.bad(pos, "", "values of type %s are not taken", clip(y.Tag))
			return
		}
		b.src.WriteString(y.Value)
	}
	n.end = uint32(b.src.Len())
	b.nodes = append(b.nodes, n)
	for i, child := range y.Content {
		if n.kind == kindObject && i%2 == 0 && (child.Kind != yaml.ScalarNode || child.ShortTag() == "!!merge") {
			b.r.bad(pos, "", "a key that is no text")
			return
		}
		b.add(child, depth+1)
	}
	b.nodes[me].next = uint32(len(b.nodes))
}

// scalarKind is the kind of a scalar, 0 for one that we do not take.
func scalarKind(y *yaml.Node) nodeKind {
	switch y.ShortTag() {
	case "!!str", "!!timestamp":
		return kindText
	case "!!int", "!!float":
		return kindNumber
	case "!!bool":
		return kindBool
	case "!!null":
		return kindNull
	}
	return 0
}

// yamlWriter writes YAML in blocks, two blanks a level.
type yamlWriter struct {
	w     io.Writer
	b     bytes.Buffer
	stack []yamlLevel
	err   error
}

type yamlLevel struct {
	list  bool
	empty bool
	depth int  // of its members
	item  bool // an object that is an item of a list: its first key stands behind the dash
}

// name begins a line.
func (y *yamlWriter) name(name string) {
	top := &y.stack[len(y.stack)-1]
	if top.empty && !top.item && len(y.stack) > 1 {
		y.b.WriteByte('\n')
	}
	if top.empty && top.item {
		y.b.WriteByte(' ')
	} else {
		for range top.depth {
			y.b.WriteString("  ")
		}
	}
	top.empty = false
	if top.list {
		y.b.WriteByte('-')
		return
	}
	y.b.WriteString(name)
	y.b.WriteByte(':')
}

func (y *yamlWriter) open(name string, list bool) {
	if len(y.stack) == 0 {
		y.stack = append(y.stack, yamlLevel{list: list, empty: true})
		return
	}
	y.name(name)
	top := y.stack[len(y.stack)-1]
	y.stack = append(y.stack, yamlLevel{list: list, empty: true, depth: top.depth + 1, item: top.list})
}

func (y *yamlWriter) close() {
	top := y.stack[len(y.stack)-1]
	y.stack = y.stack[:len(y.stack)-1]
	switch {
	case !top.empty:
	case top.list:
		y.b.WriteString(" []\n")
	default:
		y.b.WriteString(" {}\n")
	}
	if y.b.Len() >= 64<<10 {
		y.flush()
	}
}

func (y *yamlWriter) flush() {
	if y.err == nil {
		_, y.err = y.w.Write(y.b.Bytes())
	}
	y.b.Reset()
}

func (y *yamlWriter) null(name string) {
	y.name(name)
	y.b.WriteString(" null\n")
}

func (y *yamlWriter) flag(name string, v bool) {
	y.name(name)
	y.b.WriteByte(' ')
	y.b.WriteString(strconv.FormatBool(v))
	y.b.WriteByte('\n')
}

func (y *yamlWriter) number(name string, n int64) {
	y.name(name)
	y.b.WriteByte(' ')
	y.b.Write(strconv.AppendInt(y.b.AvailableBuffer(), n, 10))
	y.b.WriteByte('\n')
}

func (y *yamlWriter) text(name, s string) {
	y.name(name)
	y.b.WriteByte(' ')
	if plainYAML(s) {
		y.b.WriteString(s)
	} else {
		y.b.Write(quoted(y.b.AvailableBuffer(), s, true))
	}
	y.b.WriteByte('\n')
}

func (y *yamlWriter) end() error {
	y.flush()
	return y.err
}

// plainYAML tells whether a text means itself without quotes to every reader, YAML 1.1 and 1.2. Rather a quote too many.
func plainYAML(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-' && c != '.' && c != '/') {
			return false
		}
	}
	switch strings.ToLower(s) {
	case "", "y", "n", "yes", "no", "true", "false", "on", "off", "null", "_":
		return false
	}
	return true
}
