package exchange

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"gtoffset/kafkaops/offsets"
)

// YAML is the same documents as JSON.
const YAML Format = "yaml"

func ourYAML() format {
	return format{
		name: YAML, words: "a document of gtoffset in YAML", holds: holds{all: true},
		begins: looksYAML,
		text:   (*reading).readYAML,
		tree:   (*reading).readOurs,
		write:  func(d Document, w io.Writer, _ WriteOptions) error { return d.writeTree(&yamlWriter{w: w}) },
	}
}

// looksYAML reports whether the first line that says anything is a key, and some line names a schema of ours.
func looksYAML(text string) bool {
	for line := range lines(text) {
		if strings.TrimSpace(line) == "" || line[0] == '#' || strings.HasPrefix(line, "---") || line[0] == '%' {
			continue
		}
		if _, _, is := yamlLine(line); !is {
			return false
		}
		break
	}
	for line := range lines(text) {
		if key, value, _ := yamlLine(line); key == "schema" && strings.HasPrefix(strings.TrimLeft(value, " \t\"'"), "gtoffset.") {
			return true
		}
	}
	return false
}

// yamlLine takes a line apart that begins with a key, as those of our documents are.
func yamlLine(line string) (key, value string, is bool) {
	key, value, is = strings.Cut(line, ":")
	key = strings.TrimRight(key, " \t")
	if n := len(key); n > 2 && (key[0] == '"' || key[0] == '\'') && key[n-1] == key[0] {
		key = key[1 : n-1]
	}
	for i := range len(key) {
		c := key[i] | ' '
		is = is && (c >= 'a' && c <= 'z' || key[i] == '_')
	}
	return key, value, is && key != "" && (value == "" || value[0] == ' ' || value[0] == '\t')
}

func (r *reading) readYAML() error {
	r.format, r.tree = YAML, true
	r.text = strings.ReplaceAll(r.text, "\r\n", "\n")
	if !strings.Contains(r.text, "\n") {
		r.text = strings.ReplaceAll(r.text, "\r", "\n")
	}
	p := yamlParser{text: r.text, nodes: make([]node, 0, len(r.text)/12+8)}
	t := p.parse()
	switch {
	case p.why != "":
		r.bad(p.bad, "", "%s", p.why)
		return nil
	case len(t.nodes) == 0:
		return ErrEmpty
	}
	return r.readNodes(t)
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
	if offsets.PlainYAML(s) {
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
