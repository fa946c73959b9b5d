package output

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// FuzzClean makes names safe for a terminal. What is shown has nothing that moves, hides or reorders, and tells the name exactly.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"billing", "\x1b[2J", "a\nb\tc\r", "\u202egnp.exe", "\u200b", "\xff\xfe", `a\x1b`, "👩‍👩‍👧", "❤️", "\U000e0041", "\u2028", "\u0085", "a\x00", "\u034f", "e\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		shown := Clean(s)
		if !utf8.ValidString(shown) || strings.ContainsAny(shown, "\x00\x07\b\t\n\v\f\r\x1b\x7f\u0085\u2028\u2029\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\u200b") {
			t.Fatalf("%q is shown as %q", s, shown)
		}
		if got := uncleaned(shown); got != s {
			t.Fatalf("%q is shown as %q, which is %q", s, shown, got)
		}
		if again := cleanText(shown); again != shown {
			t.Fatalf("%q is shown as %q, and cleaned again as %q", s, shown, again)
		}
	})
}

// FuzzText writes a text in each document, where it reads back exactly.
func FuzzText(f *testing.F) {
	for _, s := range []string{"billing", "=cmd|' /C calc'!A0", "a,b\"c\nd\re", "\x1b]0;x\a", "\u202e", "yes", "12", "\xff", "- a: b", "{}", "# x", "'", "\U0001f600", "\u2028", "-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var out bytes.Buffer
		e := &encoder{w: &out}
		e.open('{')
		e.string("name", s)
		e.close('}')
		if err := e.end(); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(strings.TrimSuffix(out.String(), "\n"), "\x00\a\b\t\n\r\x1b\x7f\u0085\u2028\u202e") {
			t.Fatalf("%q in JSON: %q", s, out.String())
		}
		var doc map[string]string
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			t.Fatalf("%q in JSON: %v", s, err)
		}
		if utf8.ValidString(s) && doc["name"] != s {
			t.Fatalf("%q in JSON is %q", s, doc["name"])
		}
		var text bytes.Buffer
		if err := writeYAML(&text, out.Bytes()); err != nil {
			t.Fatal(err)
		}
		var of map[string]string
		if err := yaml.Unmarshal(text.Bytes(), &of); err != nil || of["name"] != doc["name"] {
			t.Fatalf("%q in YAML is %q: %v\n%s", s, of["name"], err, text.String())
		}
		out.Reset()
		if err := writeCSV(&out, []string{"a", "b"}, func(write func([]string)) { write([]string{s, "x"}) }); err != nil {
			t.Fatal(err)
		}
		all, err := csv.NewReader(&out).ReadAll()
		if err != nil || len(all) != 2 || len(all[1]) != 2 || all[1][0] != strings.ReplaceAll(s, "\r\n", "\n") { // as that reader reads line ends
			t.Fatalf("%q in CSV is %q: %v", s, all, err)
		}
	})
}
