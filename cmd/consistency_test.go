package cmd

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gtoffset/offsetfile/exchange"
	"gtoffset/scripts/schemas"
)

// Commands are the names of all, for the tests through the front door.
func Commands() []string { return commandNames(newRoot(&global{})) }

// FormatsOf are the formats of a command, and SchemasOf the names of its documents, without the version.
func FormatsOf(command string) (all []string) {
	each(newRoot(&global{}), func(c *cobra.Command) {
		if c.Name() == command && c.Annotations["formats"] != "" {
			all = strings.Split(c.Annotations["formats"], "|")
		}
	})
	return all
}
func SchemasOf(command string) []string { return schemasOf[command] }

// FarSchemes are the schemes of each kind of store that is not on this machine.
func FarSchemes() (all [][]string) {
	for _, kind := range storeKinds() {
		if !kind.Local {
			all = append(all, kind.Schemes)
		}
	}
	return all
}

// differs are the flags that are not the same everywhere, each with the reason. A command that is not named has the flag as most have it.
var differs = map[string]map[string]string{
	"group":      {"import": "names what to write, or what may be in the document", "history": "is about one group", "replay": "is about one group"},
	"topic":      {"import": "is a topic of a gtoffset file that names none"},
	"until":      {"replay": "may be an offset, or the end", "history": "is a time"},
	"isolation":  {"describe": "is about lag, and shows by default what may be read with either", "replay": "is about records, and leaves aborted ones out by default"},
	"recreated":  {"import": "has a number to keep, and nothing to compute"},
	"clamp":      {"import": "is about offsets of a document, not a target"},
	"check":      {"describe": "is about what is wrong, not about what is to do"},
	"backup-dir": {"backups": "is all that the command is about"},
	"output":     {},
	"other-cluster": {
		"import": "is about a document",
	},
}

// Whatever looks like a number is read as one of ten digits: 0077, as a segment's name has it, is 77 and not 63.
func TestNumbersAreDecimal(t *testing.T) {
	numbers := 0
	each(newRoot(&global{}), func(c *cobra.Command) {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			switch f.Value.Type() {
			case "int64":
			case "int", "int32", "uint", "uint32", "uint64", "count":
				t.Errorf("%s --%s is a %s: see number", c.Name(), f.Name, f.Value.Type())
				return
			default:
				return
			}
			numbers++
			if err := f.Value.Set("0077"); err != nil || f.Value.String() != "77" {
				t.Errorf("%s --%s 0077: got %v, %v; want 77", c.Name(), f.Name, f.Value, err)
			}
			for _, no := range []string{"0x10", "1_0", "0b1", "1e3", "9223372036854775808", "", "-"} {
				if f.Value.Set(no) == nil {
					t.Errorf("%s --%s %s: got %v, want an error", c.Name(), f.Name, no, f.Value)
				}
			}
		})
	})
	if numbers < 9 {
		t.Errorf("got %d flags that take numbers", numbers)
	}
}

// A flag means the same wherever it is: the same type, default and words.
func TestFlagsMeanTheSame(t *testing.T) {
	type use struct{ kind, fallback, alone, text string }
	uses := map[string]map[string]use{}
	root := newRoot(&global{})
	each(root, func(c *cobra.Command) {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if uses[f.Name] == nil {
				uses[f.Name] = map[string]use{}
			}
			uses[f.Name][c.Name()] = use{f.Value.Type(), f.DefValue, f.Shorthand + f.NoOptDefVal, f.Usage}
			if root.PersistentFlags().Lookup(f.Name) != nil {
				t.Errorf("%s has --%s of its own, which every command has", c.Name(), f.Name)
			}
		})
	})
	for name, by := range uses {
		same := map[use][]string{}
		for command, u := range by {
			if differs[name][command] == "" {
				same[u] = append(same[u], command)
			}
		}
		if len(same) > 1 {
			t.Errorf("--%s is not the same in all commands: %v", name, same)
		}
	}
	for name, by := range differs {
		for command := range by {
			if _, ok := uses[name][command]; !ok {
				t.Errorf("%s has no --%s that could differ", command, name)
			}
		}
	}
	letters := map[string]string{}
	for name, by := range uses {
		for _, u := range by {
			if len(u.alone) == 1 && letters[u.alone] != "" && letters[u.alone] != name {
				t.Errorf("-%s is --%s and --%s", u.alone, name, letters[u.alone])
			}
		}
	}
}

// schemasOf are the documents that each command has for -o json, as they are called in docs/schema; completion prints a script, and help a text.
var schemasOf = map[string][]string{
	"describe": {"describe", "groups"}, "clamp": {"plan"}, "reset": {"plan"}, "import": {"plan"}, "delete": {"plan"}, "export": {"offsets"},
	"replay": {"replay"}, "history": {"history"}, "wait": {"wait"}, "backups": {"backups"}, "config": {"config"}, "version": {"version"},
}

// Every command has -o json with a schema, and its exit codes have their rows in docs.
func TestEveryCommandHasItsDocuments(t *testing.T) {
	page, err := os.ReadFile("../docs/exit-codes.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for section := range strings.SplitSeq(string(page), "\n## ") {
		title, body, _ := strings.Cut(section, "\n")
		for _, m := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(body, -1) {
			for name := range strings.SplitSeq(title, ", ") {
				rows[name] = append(rows[name], m[1])
			}
		}
	}
	known, err := schemas.Load("../docs/schema", false)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	each(newRoot(&global{}), func(c *cobra.Command) {
		seen[c.Name()] = true
		for _, s := range statusItems(c) {
			if !slices.Contains(rows[c.Name()], s.Name) {
				t.Errorf("%s may end with %s, which docs/exit-codes.md does not say: %v", c.Name(), s.Name, rows[c.Name()])
			}
		}
		formats := strings.Split(c.Annotations["formats"], "|")
		for _, f := range formats {
			if f != "" && formatOf(f) == "" && exchange.Format(f).Words() == f {
				t.Errorf("%s: gtoffset help formats has no words for -o %s", c.Name(), f)
			}
		}
		switch names := schemasOf[c.Name()]; {
		case c.Name() == "completion":
		case c.Name() == "replay" && !slices.Contains(formats, "jsonl"), c.Name() != "replay" && !slices.Contains(formats, "json"):
			t.Errorf("%s has no document: formats(…) in cmd/%s.go names output.JSON, among %v", c.Name(), c.Name(), formats)
		case len(names) == 0:
			t.Errorf("name the document of %s -o json in schemasOf of cmd/consistency_test.go, and write docs/schema/NAME-1.json", c.Name())
		default:
			for _, s := range names {
				if known["gtoffset."+s+"/1"] == nil {
					t.Errorf("%s -o json: there is no docs/schema/%s-1.json", c.Name(), s)
				}
			}
		}
	})
	for name := range maps.Keys(schemasOf) {
		if !seen[name] {
			t.Errorf("there is no command %s", name)
		}
	}
}

// Whatever is typed wrong is a usage error with a hint, in words and as a document, and opens nothing.
func TestEveryMistakeHasAHint(t *testing.T) {
	each(newRoot(&global{}), func(c *cobra.Command) {
		mistakes := [][]string{{"--nonsense"}, {"--timeout", "soon"}, {"--timeout"}, {"--color", "blue"}, {"one", "two", "three"}, {"--expect-cluster="}, {"-o", "nonsense"}}
		if c.Name() == "completion" {
			mistakes = slices.Delete(mistakes, 6, 7) // it prints a script
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if ch, ok := f.Value.(*choice); ok {
				mistakes = append(mistakes, []string{"--" + f.Name, ch.words[0] + "x"})
			}
			switch f.Value.Type() {
			case "int64", "int", "DURATION", "SIZE":
				mistakes = append(mistakes, []string{"--" + f.Name + "=much"})
			}
		})
		for _, m := range mistakes {
			var talk bytes.Buffer
			env := Env{
				Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &talk, Now: time.Now,
				Getenv: func(name string) string { return map[string]string{"GTOFFSET_BOOTSTRAP_SERVER": "127.0.0.1:1"}[name] },
			}
			args := append([]string{c.Name()}, m...)
			code := Main(t.Context(), env, args)
			if said := talk.String(); code != exitUsage || !strings.HasPrefix(said, "gtoffset: error: ") || !strings.Contains(said, "\ngtoffset: hint: ") {
				t.Errorf("gtoffset %s: exit code %d\n%s", strings.Join(args, " "), code, said)
			}
			for _, wrong := range WrongHints(args, talk.String()) {
				t.Errorf("gtoffset %s: %s", strings.Join(args, " "), wrong)
			}
			if slices.Contains(m, "-o") {
				continue
			}
			talk.Reset()
			args = append([]string{c.Name(), "-o", "json"}, m...)
			code = Main(t.Context(), env, args)
			if said := talk.String(); code != exitUsage || !strings.HasPrefix(said, `{"schema":"gtoffset.error/1","code":2,`) || strings.Contains(said, `"hint":null`) {
				t.Errorf("gtoffset %s -o json: exit code %d\n%s", strings.Join(args, " "), code, said)
			}
		}
	})
}

// A kind of store that takes paths says so in one place: its relative address is one, and means the same in another folder.
func TestLocalKindsOfStores(t *testing.T) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range storeKinds() {
		for _, scheme := range kind.Schemes {
			relative, far := scheme+":a/b?counts=last", scheme+"://host/a"
			g := &global{store: scheme + ":" + here}
			want := relative
			if kind.Local {
				want = scheme + ":" + filepath.Join(here, "a/b") + "?counts=last"
			}
			if got := absolute(relative); isURL(relative) != kind.Local || got != want {
				t.Errorf("%s: a URL %v, absolute %s; want %v, %s", relative, isURL(relative), got, kind.Local, want)
			}
			if got := absolute(far); !isURL(far) || got != far {
				t.Errorf("%s: a URL %v, absolute %s; want it as it is", far, isURL(far), got)
			}
			if got := g.holds(filepath.Join(here, "x", "y")); got != kind.Local {
				t.Errorf("%s holds a file below it: %v, want %v", g.store, got, kind.Local)
			}
		}
	}
}
