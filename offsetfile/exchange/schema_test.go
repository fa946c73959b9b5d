package exchange_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"gtoffset/offsetfile/exchange"
	"gtoffset/scripts/schemas"
)

const docs = "../../docs"

// load compiles the JSON Schemas of docs/schema: once as they are, for readers, and once so that no field may be in a document which is
// not in its schema.
func load(t *testing.T) (open, strict schemas.Set) {
	t.Helper()
	var sets [2]schemas.Set
	for i := range sets {
		var err error
		if sets[i], err = schemas.Load(filepath.Join(docs, "schema"), i == 1); err != nil {
			t.Fatal(err)
		}
	}
	return sets[0], sets[1]
}

// Every document that the tests of this package and of package output know is as its schema says, and has no other fields.
func TestDocumentsFitTheirSchemas(t *testing.T) {
	_, strict := load(t)
	seen := map[string]bool{}
	for _, glob := range []string{"testdata/*.json", "testdata/*.yaml", "../../output/testdata/*.json", "../../output/testdata/*.yaml"} {
		paths, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Ext(path) == ".yaml" {
				var doc any
				if err := yaml.Unmarshal(b, &doc); err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				if b, err = json.Marshal(doc); err != nil {
					t.Fatalf("%s: %v", path, err)
				}
			}
			if !bytes.Contains(b, []byte(`"schema":"gtoffset.`)) {
				continue
			}
			if err := strict.Check(b); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			for name := range strict {
				if bytes.Contains(b, []byte(`"schema":"`+name+`"`)) {
					seen[name] = true
				}
			}
		}
	}
	for _, name := range []string{"gtoffset.describe/1", "gtoffset.groups/1", "gtoffset.plan/1", "gtoffset.offsets/1", "gtoffset.error/1"} {
		if !seen[name] {
			t.Errorf("no document of %s was looked at", name)
		}
	}
}

// What Read refuses in a document of ours, its schema refuses too, as far as a schema can say it; and what a later version adds is
// taken by both.
func TestSchemasRefuse(t *testing.T) {
	open, strict := load(t)
	whole := write(t, backup(), exchange.JSON)
	plan := write(t, exchange.PlanOf(aPlan()), exchange.JSON)
	for _, c := range []struct{ name, in, old, new string }{
		{"negative", whole, `"offset":120`, `"offset":-1`},
		{"too large", whole, `"offset":120`, `"offset":9223372036854775808`},
		{"a fraction", whole, `"offset":120`, `"offset":1.5`},
		{"a text", whole, `"offset":120`, `"offset":"120"`},
		{"no offset", whole, `"offset":120,`, ``},
		{"no written", whole, `,"written":500`, ``},
		{"no groups", whole, `"groups"`, `"grups"`},
		{"another kind", whole, `"kind":"backup"`, `"kind":"x"`},
		{"another side", whole, `"side":"stored"`, `"side":"x"`},
		{"a partition of 33 bits", whole, `"partition":0`, `"partition":4294967296`},
		{"a verdict", plan, `"verdict":"write"`, `"verdict":"x"`},
		{"a plan without its new value", plan, `"new":`, `"now":`},
	} {
		text := strings.Replace(c.in, c.old, c.new, 1)
		if text == c.in {
			t.Fatalf("%q is not in %s", c.old, c.in)
		}
		if open.Check([]byte(text)) == nil {
			t.Errorf("%s: the schema takes it", c.name)
		}
		if _, err := parse(text, exchange.Options{}); err == nil {
			t.Errorf("%s: Read takes it", c.name)
		}
	}
	later := strings.Replace(whole, `"kind"`, `"later":1,"kind"`, 1)
	if err := open.Check([]byte(later)); err != nil {
		t.Errorf("a field of a later version: %v", err)
	}
	if strict.Check([]byte(later)) == nil {
		t.Error("the strict schema takes any field")
	}
}

// docs/formats.md has a row for each field of each schema, and for no other.
func TestFieldTables(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(docs, "formats.md"))
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(docs, "schema", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| ((?:`[a-z_0-9.]+`(?:, )?)+) \\|")
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var schema map[string]any
		if err := json.Unmarshal(b, &schema); err != nil {
			t.Fatal(err)
		}
		title, _ := schema["title"].(string)
		if title == "" {
			t.Errorf("%s has no title", path)
			continue
		}
		want := map[string]bool{}
		names(schema, want)
		_, section, found := strings.Cut(string(page), "### "+title+"\n")
		if !found {
			t.Errorf("the page has no section %s", title)
			continue
		}
		if next := strings.Index(section, "\n##"); next >= 0 {
			section = section[:next]
		}
		got := map[string]bool{}
		for _, m := range row.FindAllStringSubmatch(section, -1) {
			for name := range strings.SplitSeq(m[1], ", ") {
				name = strings.Trim(name, "`")
				got[name[strings.LastIndexByte(name, '.')+1:]] = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if !got[name] {
				t.Errorf("%s: the page lacks the field %s", title, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(got)) {
			if !want[name] {
				t.Errorf("%s: the page has the field %s, the schema does not", title, name)
			}
		}
	}
}

// names gathers the names of all fields but NAME_base64, which the page explains once.
func names(schema any, into map[string]bool) {
	switch s := schema.(type) {
	case map[string]any:
		if fields, ok := s["properties"].(map[string]any); ok {
			for name := range fields {
				if !strings.HasSuffix(name, "_base64") {
					into[name] = true
				}
			}
		}
		for name, below := range s {
			if name == "if" || name == "then" {
				continue
			}
			names(below, into)
		}
	case []any:
		for _, below := range s {
			names(below, into)
		}
	}
}

// The table at the top of docs/formats.md says of each format what is true of it.
func TestTableOfThePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(docs, "formats.md"))
	if err != nil {
		t.Fatal(err)
	}
	var told []exchange.Format
	table, _, _ := strings.Cut(string(page), "\nThe format is recognised")
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|.*$").FindAllStringSubmatch(table, -1) {
		f, cells := exchange.Format(m[1]), strings.Split(m[0], " | ")
		told = append(told, f)
		written := slices.Contains(exchange.Writable(), f)
		if got := cells[2] == "yes"; got != written {
			t.Errorf("%s: written is %q, want %v", f, cells[2], written)
		}
		if !written { // what is only read has none of it
			continue
		}
		for column, names := range map[int][]string{4: {"a partition without an offset"}, 5: {"a leader epoch", "metadata"}, 6: {"a cluster", "a topic id"}} {
			holds := false
			for _, name := range names {
				holds = holds || len(exports()[name].Losses(f)) == 0
			}
			if got := !strings.HasPrefix(cells[column], "no"); got != holds {
				t.Errorf("%s: %q, want %v, for %q", f, cells[column], holds, names)
			}
		}
	}
	if diff := cmp.Diff(exchange.Formats(), told); diff != "" {
		t.Errorf("formats of the table (-want +got):\n%s", diff)
	}
}

// Each example of docs/formats.md is read as the format under whose heading it stands.
func TestExamplesOfThePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(docs, "formats.md"))
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile("(?m)^### `([a-z-]+)`.*\n")
	found := map[exchange.Format]bool{}
	spots := heading.FindAllStringSubmatchIndex(string(page), -1)
	for i, m := range spots {
		f := exchange.Format(page[m[2]:m[3]])
		end := len(page)
		if i+1 < len(spots) {
			end = spots[i+1][0]
		}
		section := string(page[m[1]:end])
		if next := strings.Index(section, "\n## "); next >= 0 {
			section = section[:next]
		}
		var example strings.Builder
		for line := range strings.Lines(section) {
			if text, ok := strings.CutPrefix(line, "    "); ok {
				example.WriteString(text)
			} else if example.Len() > 0 {
				break
			}
		}
		o := exchange.Options{Group: "billing", Topic: "orders", Take: exchange.Until}
		d, err := parse(example.String(), o)
		if err != nil || d.Format != f || len(d.Rows) == 0 && d.Plan == nil {
			t.Errorf("example of %s: read as %q with %d rows, %v:\n%s", f, d.Format, len(d.Rows), err, example.String())
		}
		found[f] = true
	}
	for _, f := range exchange.Formats() {
		if !found[f] {
			t.Errorf("the page has no example of %s", f)
		}
	}
}
