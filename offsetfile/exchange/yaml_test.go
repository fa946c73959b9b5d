package exchange

import (
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// shape writes a tree out.
func shape(t *tree, i int) string {
	var b strings.Builder
	switch t.nodes[i].kind {
	case kindObject:
		b.WriteString("{")
		for k, v := range t.members(i) {
			b.WriteString(clip(t.string(k)) + ":" + shape(t, v) + ",")
		}
		b.WriteString("}")
	case kindArray:
		b.WriteString("[")
		for v := range t.items(i) {
			b.WriteString(shape(t, v) + ",")
		}
		b.WriteString("]")
	default:
		b.WriteString(t.nodes[i].kind.String() + " " + clip(t.string(i)))
	}
	return b.String()
}

// both holds the two parsers of YAML against each other. What the plain one takes, it takes as the general one does.
func both(t interface{ Fatalf(string, ...any) }, text string) bool {
	plain, ok := parseYAMLBlocks(text)
	if !ok {
		return false
	}
	r := &reading{text: text, tree: true}
	general, err := r.anyYAML()
	if err != nil || general == nil {
		t.Fatalf("plain, but the general parser says %v %v: %q", err, r.problems, text)
	}
	if got, want := shape(plain, 0), shape(general, 0); got != want {
		t.Fatalf("of %q\n got %s\nwant %s", text, got, want)
	}
	for i := range plain.nodes {
		a, b := r.place(int(plain.nodes[i].pos), "", ""), r.place(int(general.nodes[i].pos), "", "")
		if a.Line != b.Line {
			t.Fatalf("node %d of %q: in line %d, want %d", i, text, a.Line, b.Line)
		}
	}
	return true
}

func TestPlainYAML(t *testing.T) {
	for _, c := range []struct {
		name, text string
		plain      bool
	}{
		{"one key", "a: 1\n", true},
		{"comments, blank lines and a beginning", "# x\n---\n\na: 1 # y\n  # z\nb: c#d\n", false},
		{"comments", "# x\n---\n\na: 1 # y\n  # z\nb: \"c#d\" # e\n", true},
		{"lists at the level of their key", "a:\n- b: 1\n  c: 2\n- b: 3\nd: 4\n", true},
		{"lists further in", "a:\n    - b: 1\n      c:\n          d: x\n    - b: 3\n", true},
		{"lists of scalars", "a:\n  - 1\n  - \"x\"\n  - null\n", true},
		{"scalars", "a: -5\nb: 0\nc: 007\nd: 1.5\ne: 5Qx0\nf: 2026-11-29\ng: 2026-11-29T12:00:00.123Z\nh: true\ni: yes\nj: Null\nk: -\n", false},
		{"scalars that are plain", "a: -5\nb: 0\nc: 007\nd: 1.5\ne: 5Qx0\nf: 2026-11-29\nh: true\ni: yes\nj: Null\nk: 0x1F\nl: 1_000\nm: 12345678901234567890\np: .5\no: .inf\n", true},
		{"escapes", `a: "\" \\ \b\f\n\r\t é \U0001f600 ä"` + "\n", true},
		{"other escapes", `a: "\x41"` + "\n", false},
		{"empty ones", "a: []\nb: {}\nc:\n  - {}\n", true},
		{"CRLF", "a: 1\r\nb:\r\n  - c: \"x\"\r\n", true},
		{"no final newline", "a: 1\nb: x", true},
		{"flow", "a: {b: 1}\n", false},
		{"several lines", "a: |\n  b\n", false},
		{"a text that goes on", "a: \"b\n  c\"\n", false},
		{"a plain text that goes on", "a: b\n  c\n", false},
		{"an anchor", "a: &x 1\nb: *x\n", false},
		{"single quotes", "a: 'b'\n", false},
		{"null without saying so", "a:\nb: 1\n", false},
		{"tabs", "a:\t1\n", false},
		{"two documents", "a: 1\n---\nb: 2\n", false},
		{"a wrong level", "a:\n  b: 1\n c: 2\n", false},
		{"a colon too many", "a: b: c\n", false},
		{"another separator of lines", "a: \"x\u2028y\"\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := both(t, c.text); got != c.plain {
				t.Errorf("plain: %v, want %v", got, c.plain)
			}
		})
	}
}

func TestPlainYAMLAgrees(t *testing.T) {
	line := rapid.SampledFrom([]string{
		"a: 1", "b: x", "c:", "- a: 1", "- b:", "- x", "-", "- - x", "a: \"x\"", "a: \"\\n\\u00e9\"", "a: []", "- {}", "# c", "", "---", "a: x # y", "a: 0x1f", "a: 1:2", "a: -", "key_1: null", "y: 1", "a: \"\\\"", "a : 1", "? a", "...",
	})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 8).Draw(t, "lines") {
			b.WriteString(strings.Repeat(" ", rapid.IntRange(0, 4).Draw(t, "indent")))
			b.WriteString(line.Draw(t, "line"))
			b.WriteString(rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", " \n"}).Draw(t, "end"))
		}
		both(t, b.String())
	})
}

func FuzzPlainYAML(f *testing.F) {
	for _, name := range []string{"export.yaml", "plan.yaml"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add("a:\n- b: 1 # x\n  c: \"\\u0041\"\n- d: []\n")
	f.Fuzz(func(t *testing.T, text string) {
		if decoded, err := decode([]byte(text)); err == nil {
			both(t, decoded)
		}
	})
}
