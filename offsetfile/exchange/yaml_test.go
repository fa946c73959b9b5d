package exchange

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// shape writes a tree out.
func shape(t *tree, i int) string {
	var b strings.Builder
	switch t.nodes[i].kind {
	case kindObject:
		b.WriteString("{")
		for k, v := range t.members(i) {
			b.WriteString(strconv.Quote(t.string(k)) + ":" + shape(t, v) + ",")
		}
		b.WriteString("}")
	case kindArray:
		b.WriteString("[")
		for v := range t.items(i) {
			b.WriteString(shape(t, v) + ",")
		}
		b.WriteString("]")
	case kindNull:
		b.WriteString("null")
	default:
		b.WriteString(t.nodes[i].kind.String() + " " + strconv.Quote(t.string(i)))
	}
	return b.String()
}

// parsed reads YAML as readYAML does; ok reports that it was taken.
func parsed(text string) (*tree, *yamlParser) {
	p := &yamlParser{text: strings.ReplaceAll(text, "\r\n", "\n")}
	return p.parse(), p
}

// oracle reads YAML with a library. Kinds and anchors are as ours: nil is a document that it refuses, or that we mean to refuse.
func oracle(text string) *tree {
	dec := yaml.NewDecoder(strings.NewReader(text))
	var doc, second yaml.Node
	if dec.Decode(&doc) != nil || dec.Decode(&second) == nil || len(doc.Content) == 0 {
		return nil
	}
	var src strings.Builder
	t := &tree{}
	good := true
	var add func(y *yaml.Node)
	add = func(y *yaml.Node) {
		kinds := map[string]nodeKind{
			"!!map": kindObject, "!!seq": kindArray, "!!str": kindText, "!!timestamp": kindText, "!!int": kindNumber, "!!float": kindNumber, "!!bool": kindBool, "!!null": kindNull,
		}
		n := node{kind: kinds[y.ShortTag()], pos: uint32(y.Line), start: uint32(src.Len())}
		good = good && n.kind != 0 && y.Kind != yaml.AliasNode && y.Anchor == ""
		src.WriteString(y.Value)
		n.end = uint32(src.Len())
		t.nodes = append(t.nodes, n)
		me := len(t.nodes) - 1
		for _, child := range y.Content {
			add(child)
		}
		t.nodes[me].next = uint32(len(t.nodes))
	}
	add(doc.Content[0])
	if t.src = src.String(); !good {
		return nil
	}
	return t
}

// both holds our parser against the library: what it takes, it takes as that one does. It reports whether it took it.
func both(t interface{ Fatalf(string, ...any) }, text string) bool {
	ours, p := parsed(text)
	if p.why != "" {
		if p.bad < 0 || p.bad > len(p.text) {
			t.Fatalf("%q at %d of %q", p.why, p.bad, p.text)
		}
		return false
	}
	if len(ours.nodes) == 0 {
		return false
	}
	theirs := oracle(strings.Replace(text, "%YAML 1.2\n", "%YAML 1.1\n", 1)) // it knows no other
	if theirs == nil {
		t.Fatalf("taken as %s, but the library refuses %q", shape(ours, 0), text)
	}
	if got, want := shape(ours, 0), shape(theirs, 0); got != want {
		t.Fatalf("of %q\n got %s\nwant %s", text, got, want)
	}
	for i, n := range ours.nodes {
		if line := strings.Count(p.text[:n.pos], "\n") + 1; line != int(theirs.nodes[i].pos) && n.kind != kindNull {
			t.Fatalf("node %d of %q: in line %d, want %d", i, text, line, theirs.nodes[i].pos)
		}
	}
	return true
}

func TestYAMLTaken(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"one key", "a: 1\n"},
		{"comments, blank lines and a beginning", "# x\n---\n\na: 1 # y\n  # z\nb: c#d\n"},
		{"a version", "%YAML 1.2\n---\na: 1\n"},
		{"an end", "a: 1\n...\n# x\n"},
		{"lists at the level of their key", "a:\n- b: 1\n  c: 2\n- b: 3\nd: 4\n"},
		{"lists further in", "a:\n    - b: 1\n      c:\n          d: x\n    - b: 3\n"},
		{"lists of scalars", "a:\n  - 1\n  - \"x\"\n  - null\n  -\n  - - x\n    - y\n  -\n    z: 1\n"},
		{"scalars", "a: -5\nb: 0\nc: 007\nd: 1.5\ne: 5Qx0\nf: 2026-11-29\ng: 2026-11-29T12:00:00.123Z\nh: true\ni: yes\nj: Null\nk: ~\nl: 1_000\nm: 12345678901234567890\np: .5\no: .inf\nq: -.INF\nr: 0x1F\ns: 0o7\nt: +1e3\nu: 1:30\nv: -\\\n"},
		{"texts without quotes", "a: gtoffset clamp -b kafka1:9092 --execute\nb: it's\nc: a, b [c] {d}\nd: -x\ne: ?x\nf: :x\ng: 100%\n"},
		{"escapes", `a: "\" \\ \b\f\n\r\t \u00e9 \U0001f600 ä \x41 \e\0\a\v\ \N\_\L\P"` + "\n"},
		{"single quotes", "a: 'b'\n'c': ''\n'd''e': 'f''g \\n'\n"},
		{"keys of every kind", "\"a\": 1\nb c: 2\n1: 3\nnull: 4\nd:e: 5\n\"f\" : 6\ng : 7\n"},
		{"empty ones", "a: []\nb: {}\nc:\n  - {}\nd: ''\ne: \"\"\n"},
		{"CRLF", "a: 1\r\nb:\r\n  - c: \"x\"\r\n  - \"y\r\n    z\"\r\n"},
		{"no final newline", "a: 1\nb: x"},
		{"flow", "a: {b: 1, \"c\":2, 'd': [x, \"y\" , z z,], e: , f: -1} # g\nh: [\n  1, # one\n  {i: j},\n]\n"},
		{"flow at the top", "{a: 1,\n b: [2]}\n"},
		{"lines as they are", "a: |\n  b\n\n    c\n  d\ne: |-\n  f\ng: |+\n  h\n\ni: |2\n    j\nk: |\nl: 1\n"},
		{"folded lines", "a: >\n  b\n  c\n\n  d\n    e\n  f\n\n\ng: >-\n  h\n  i\nj:\n  - >+ # x\n    k\n\n"},
		{"a text in quotes that goes on", "a: \"b  \n\n  c \\\n  \\  d\\n\n\n\n  e\"\nf: 'g\n  h'\n"},
		{"a text without quotes that goes on", "a: b\n  c\n\n  'd' # e\nf:\n  g\n  h\n"},
		{"null without saying so", "a:\nb: 1\nc:\n  d:\ne:"},
		{"tabs", "a:\t1\t# x\nb: c\td\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !both(t, c.text) {
				_, p := parsed(c.text)
				t.Errorf("refused at %q: %s", p.text[p.bad:], p.why)
			}
		})
	}
}

func TestYAMLRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"an anchor", "a: &x 1\n", `line 1, column 4: anchors and aliases are not taken`},
		{"an alias", "a: 1\nb: [*x]\n", `line 2, column 5: anchors and aliases are not taken`},
		{"merging", "a:\n  <<: {b: 1}\n", `line 2, column 3: merging (<<) is not taken`},
		{"a tag", "a: !!str 1\n", `line 1, column 4: tags are not taken`},
		{"two documents", "a: 1\n---\nb: 2\n", `line 2, column 1: there is a second document in it`},
		{"two documents, the first one ended", "a: 1\n...\n---\nb: 2\n", `line 3, column 1: there is a second document in it`},
		{"a document in a text", "a: \"b\n---\nc\"\n", `line 2, column 1: the document ends inside of a text in quotes`},
		{"a document in brackets", "a: [\n---\n]\n", `line 2, column 1: a bracket is not closed`},
		{"directives", "%TAG ! x\n---\na: 1\n", `line 1, column 1: "%TAG ! x" where a value is expected`},
		{"only a version", "%YAML 1.2\na: 1\n", `line 2, column 1: --- is missing`},
		{"a key that is a list", "? [a]\n: 1\n", `line 1, column 1: "? [a]" where a value is expected`},
		{"a key of many lines", "\"a\n b\": 1\n", `line 2, column 4: a colon where none is expected`},
		{"a long key", strings.Repeat("a", 1025) + ": 1\n", "where a key and a colon are expected"},
		{"a key without a colon", "a: 1\nb\n", `line 2, column 1: "b" where a key and a colon are expected`},
		{"too little indentation", "a:\n  b: 1\n c: 2\n", `line 3, column 2: this fits to nothing above it`},
		{"too much indentation", "a: 1\n  b: 2\n", `line 2, column 4: a colon where none is expected`},
		{"a key among items", "a:\n  - 1\n  b: 2\n", `line 3, column 3: this fits to nothing above it`},
		{"an item among keys", "a:\n  b: 1\n  - 2\n", `line 3, column 3: "- 2" where a value is expected`},
		{"a colon too many", "a: b: c\n", `line 1, column 5: a colon where none is expected: is the text without quotes`},
		{"an item in a line", "a: - b\n", `line 1, column 4: "- b" where a value is expected`},
		{"a tab that indents", "a:\n\tb: 1\n", `line 2, column 1: a tab where only blanks may stand`},
		{"a tab behind a dash", "a:\n-\tb\n", `line 2, column 2: a tab where only blanks may stand`},
		{"a tab that indents a text", "a: b\n\tc\n", `line 2, column 1: a tab where only blanks may stand`},
		{"a tab that indents lines", "a: |\n \tb\n", ""},
		{"a text without its end", "a: \"b\n", `line 1, column 4: this text has no closing quote`},
		{"something behind a text", "a: \"b\" c\n", `line 1, column 8: "c" where the end of the line is expected`},
		{"a comment without a blank", "a: \"b\"#c\n", `line 1, column 7: "#c" where the end of the line is expected`},
		{"an escape", `a: "\q"`, `line 1, column 5: an escape that does not exist`},
		{"half a pair", `a: "\ud83d\ude00"`, `line 1, column 5: an escape that does not exist`},
		{"an escape that is cut off", `a: "\u12`, `line 1, column 5: an escape that does not exist`},
		{"a backslash at the end", `a: "\`, `line 1, column 4: this text has no closing quote`},
		{"a list without its end", "a: [1, 2\n", `line 2, column 1: a bracket is not closed`},
		{"a list without commas", "a: [1, \"2\" 3]\n", `line 1, column 12: "3]" where a comma or ']' is expected`},
		{"a list with holes", "a: [1, , 2]\n", `line 1, column 8: ", 2]" where a value is expected`},
		{"a key in a list", "a: [b: 1]\n", `line 1, column 6: ": 1]" where a comma or ']' is expected`},
		{"an object without values", "a: {b}\n", `line 1, column 5: "b}" where a key and a colon are expected`},
		{"letters that begin no text", "a: @b\n", `line 1, column 4: "@b" where a value is expected: a text that begins so needs quotes`},
		{"lines with more behind", "a: | b\n", `line 1, column 4: "| b": behind | and > the line ends`},
		{"a control character", "a: \x1b\n", `line 1, column 4: a character that may stand here only as an escape in double quotes (U+001B)`},
		{"another separator of lines", "a: \"x\u2028y\"\n", `line 1, column 6: a character that may stand here only as an escape in double quotes (U+2028)`},
		{"CR among LF", "a: b\rc\nd: 1\n", `line 1, column 5: a character that may stand here only as an escape in double quotes (U+000D)`},
		{"deep blocks", strings.Repeat("- ", 65) + "a\n", `line 1, column 129: too deep`},
		{"deep brackets", "a: " + strings.Repeat("[", 65), `line 1, column 67: too deep`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if both(t, c.text) {
				t.Fatal("it was taken")
			}
			_, err := read(c.text, Options{As: YAML})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

// What YAML says to nobody is an empty document.
func TestYAMLEmpty(t *testing.T) {
	for _, text := range []string{"# a\n", "---\n", "---\n...\n", "# a"} {
		if _, err := read(text, Options{As: YAML}); err != ErrEmpty {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestYAMLAgrees(t *testing.T) {
	line := rapid.SampledFrom([]string{
		"a: 1", "b: x", "c:", "- a: 1", "- b:", "- x", "-", "- - x", "a: \"x\"", "a: \"\\n\\u00e9\"", "a: []", "- {}", "# c", "", "---", "a: x # y", "a: 0x1f", "a: 1:2", "a: -", "key_1: null", "y: 1", "a: \"\\\"", "a : 1", "? a", "...",
		"a: 'x", "x'", "- \"x", "x \\", "\"", "''", "a: |", "- >", "- |-", "> ", "a: >+", "- |2", "[", "]", "a: [x,", "{", "}", "b: {c: d,", ", e: f", "- [x, {y: z}]", "x y", "~", "a:\t~", "- x: |", "x: >", "<<: 1", "a: <<", "'b': c", "\"b\" : \"c\"", ":", "a: b:", "#", "- #", "a: #", "%YAML 1.1", "-\t", "\t",
	})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 8).Draw(t, "lines") {
			b.WriteString(strings.Repeat(" ", rapid.IntRange(0, 4).Draw(t, "indent")))
			b.WriteString(line.Draw(t, "line"))
			b.WriteString(rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", " \n", ""}).Draw(t, "end"))
		}
		both(t, b.String())
	})
}

// What a library writes, in its own ways of quoting and folding, is taken and means the same.
func TestYAMLOfALibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := hostileText()
		style := rapid.SampledFrom([]yaml.Style{0, yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle, yaml.LiteralStyle, yaml.FoldedStyle})
		flow := rapid.SampledFrom([]yaml.Style{0, 0, yaml.FlowStyle})
		var value func(depth int) *yaml.Node
		scalar := func() *yaml.Node {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text.Draw(t, "text"), Style: style.Draw(t, "style")}
		}
		value = func(depth int) *yaml.Node {
			kind := rapid.IntRange(0, 3).Draw(t, "kind")
			if depth == 3 || kind < 2 {
				return scalar()
			}
			n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: flow.Draw(t, "flow")}
			if kind == 3 {
				n.Kind, n.Tag = yaml.MappingNode, "!!map"
			}
			for i := range rapid.IntRange(0, 3).Draw(t, "members") {
				if kind == 3 {
					n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "k" + strconv.Itoa(i)})
				}
				n.Content = append(n.Content, value(depth+1))
			}
			return n
		}
		var b strings.Builder
		enc := yaml.NewEncoder(&b)
		enc.SetIndent(rapid.IntRange(2, 4).Draw(t, "indent"))
		if err := enc.Encode(&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: "a"}, value(0)}}); err != nil {
			t.Fatal(err)
		}
		if oracle(b.String()) != nil && !strings.ContainsAny(b.String(), "\u0085\u2028\u2029\ufeff") && !both(t, b.String()) {
			_, p := parsed(b.String())
			t.Fatalf("%s at %q of %q", p.why, p.text[p.bad:], b.String())
		}
	})
}

func hostileText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringMatching(`[a-z :#'",\[\]{}&*!|>%@~\n-]{0,20}`), rapid.String(), rapid.SampledFrom([]string{
		"yes", "null", "12", "1e3", "2026-11-29", "a\nb\n", "a\n\n b\n\n", " a", "a ", "a long text of several words that somebody may want to fold in the middle of it, if not more than once",
	}))
}

// FuzzYAML reads YAML as we do and as a library does: what we take means the same.
func FuzzYAML(f *testing.F) {
	for _, name := range []string{"export.yaml", "plan.yaml"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add("a:\n- b: 1 # x\n  c: \"\\u0041\"\n- d: []\n")
	f.Add("a: {b: 'c', \"d\":[e, f]}\ng: |-\n  h\n   i\nj: >+\n k\n\nl: 'm\n  n'\no: p\n  q\n")
	f.Fuzz(func(t *testing.T, text string) {
		if decoded, err := decode(text); err == nil {
			both(t, decoded)
		}
	})
}
