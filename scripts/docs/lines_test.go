package docs_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gtoffset/scripts/pages"
	"gtoffset/scripts/scenes"
)

// TestMain lets the test binary be the program, which scenes run.
func TestMain(m *testing.M) {
	scenes.Program()
	os.Exit(m.Run())
}

// A line is a command line that a page or a help shows.
type line struct {
	where string // the page or help, and the number of its line
	text  string
}

// before lists what has to be done before lines that name something: files that other lines have made.
var before = []struct{ part, command string }{
	{"plan.json", "gtoffset reset -g billing -t orders:0 --committed --to-offset 90 --dry-run -o json >plan.json"},
	{"stored.json", "gtoffset export -g billing --stored -s " + scenes.Store + " >stored.json"},
	{"20261129T120000Z-clamp-billing.json", "gtoffset reset -g billing -t orders:0 --stored -s " + scenes.Store + " --to-offset 90 --execute && " +
		"mv ~/.local/state/gtoffset/*-reset-billing.json ~/.local/state/gtoffset/20261129T120000Z-clamp-billing.json"},
	{"gtoffset export", "rm -f offsets.csv"}, // there for an import, and nothing is ever exported over
}

// endless lists what ends only with an interrupt.
var endless = []string{"--watch"}

// away lists the stores that no test of this package starts. Lines with one run up to the first connection, which leads to a closed
// port: what is wrong with the line itself would be told before that.
var away = []struct{ scheme, why string }{
	{"redis", "a Redis; scripts/live has one"},
	{"rediss", "a Redis with TLS"},
	{"zookeeper", "a ZooKeeper; scripts/live has one"},
	{"mysql", "a MariaDB; scripts/live has one"},
	{"hbase", "an HBase; scripts/live has one"},
	{"webhdfs", "an HDFS; scripts/live has one"},
	{"swebhdfs", "an HDFS with TLS"},
}

// placeholders are the words that stand in a page for something of the reader's own.
var placeholders = strings.NewReplacer(
	" GROUP", " billing", " TOPIC", " orders", " STORE", " "+scenes.Store, " PLAN", " plan.json", " TIME", " 2026-11-29T11:00:00Z",
	" N ", " 100 ", "--limit N", "--limit 10", " COMMAND", " ./load-batch", " CMD", " ./load-batch", " FILE", " out.json", " SHELL", " bash",
)

// TestCommandLines runs every command line of the pages and of the help, as it stands there.
func TestCommandLines(t *testing.T) {
	lines := append(pageLines(t), helpLines(t)...)
	if len(lines) < 80 {
		t.Fatalf("only %d command lines were found", len(lines))
	}
	for _, scheme := range schemes(t) {
		if !slices.ContainsFunc(away, func(s struct{ scheme, why string }) bool { return s.scheme == scheme }) {
			t.Errorf("gtoffset help stores has %s://: name it in away of lines_test.go", scheme)
		}
	}
	led := map[string]int{}
	for _, l := range lines {
		for _, s := range away {
			if leadsTo(l.text, s.scheme) {
				led[s.scheme]++
			}
		}
		t.Run(l.where, func(t *testing.T) {
			t.Parallel()
			if wrong := try(t.Context(), l.text); wrong != "" {
				t.Errorf("%s\n%s", l.text, wrong)
			}
		})
	}
	for _, s := range away {
		t.Logf("%d of %d lines run up to the first connection only: they want %s", led[s.scheme], len(lines), s.why)
		if led[s.scheme] == 0 {
			t.Errorf("no line leads to %s", s.scheme)
		}
	}
}

// schemes are those of the stores that are written with // in gtoffset help stores, each without what + adds to it, but for the one that
// stands behind another.
func schemes(t *testing.T) []string {
	t.Helper()
	var help bytes.Buffer
	if code := program(t, &help, io.Discard, "help", "stores"); code != 0 {
		t.Fatalf("help stores: exit %d", code)
	}
	var all []string
	for _, m := range regexp.MustCompile(`(?:-s|,) ([a-z]+)(?:\+[a-z]+)?://`).FindAllStringSubmatch(help.String(), -1) {
		all = append(all, m[1])
	}
	if len(all) < 6 {
		t.Errorf("gtoffset help stores seems to have only %v", all)
	}
	return all
}

// TestTryFails makes sure that a line that does not run is found out.
func TestTryFails(t *testing.T) {
	for text, want := range map[string]string{
		"gtoffset describe -g billing --no-such-flag":                            "exit 2, want 0",
		"gtoffset describe -g no-such-group":                                     "exit 1, want 0",
		"gtoffset clamp -g billing -s 'redis://cache:6379/0?no=such' --stored":   "exit 2, want 5",
		"gtoffset wait -g billing -s zookeeper://zk1/kafka --stored-caught-down": "exit 2, want 5",
		"gtoffset describe -g billing | gtoffset inport -":                       "exit 2, want 0",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if wrong := try(t.Context(), text); !strings.HasPrefix(wrong, want) {
				t.Errorf("got %q, want %q", wrong, want)
			}
		})
	}
}

func leadsTo(text, scheme string) bool {
	return regexp.MustCompile(`[ ':]` + scheme + `://`).MatchString(text)
}

// try runs a line in a library of its own, and says what is wrong with how it ended.
func try(ctx context.Context, text string) (wrong string) {
	s, err := scenes.Open("library", scenes.Person())
	if err != nil {
		return err.Error()
	}
	defer func() {
		if err := s.Close(); err != nil {
			wrong += err.Error()
		}
	}()
	text = strings.TrimSpace(placeholders.Replace(text + " "))
	commands, codes := []string{text}, []int{0}
	for _, a := range away {
		if leadsTo(text, a.scheme) {
			commands, codes = upToConnection(text)
			break
		}
	}
	for i, command := range commands {
		for _, b := range before {
			if strings.Contains(command, b.part) {
				var said bytes.Buffer
				if code, err := s.Run(ctx, b.command, &said); err != nil || code != 0 {
					return fmt.Sprintf("before it: %s: exit %d\n%s%v", b.command, code, said.String(), err)
				}
			}
		}
		var said bytes.Buffer
		code, err := run(ctx, s, command, &said)
		if err != nil || code != codes[i] {
			return fmt.Sprintf("exit %d, want %d\n%.2000s%v", code, codes[i], s.Shown(said.String()), err)
		}
	}
	return ""
}

// upToConnection takes apart a line with a store that is away: the store's address leads to a closed port, and a command behind a pipe
// gets what would have come through it.
func upToConnection(text string) (commands []string, codes []int) {
	for i, command := range strings.Split(closed.ReplaceAllString(text, "${1}://${2}127.0.0.1:1"), " | ") {
		command = strings.Replace(command, "gtoffset ", "gtoffset --timeout 2s ", 1)
		if i > 0 {
			command = "cat stored.json | " + command
		}
		code := 5
		if !strings.Contains(command, "127.0.0.1:1") {
			code = 0
		}
		commands, codes = append(commands, command), append(codes, code)
	}
	return commands, codes
}

// closed is the address of a store that is away, with the user that logs in.
var closed = regexp.MustCompile(`\b(rediss?|zookeeper|mysql|hbase|s?webhdfs)://([^/@' ]*@)?[^/' ]+`)

// run runs a line; one that does not end by itself is interrupted when it has said something.
func run(ctx context.Context, s *scenes.Stage, text string, said *bytes.Buffer) (int, error) {
	if !slices.ContainsFunc(endless, func(flag string) bool { return strings.Contains(text, flag) }) {
		return s.Run(ctx, "(set -o pipefail) 2>/dev/null && set -o pipefail; "+text, said)
	}
	return s.Run(ctx, text+" >out & job=$!; until grep -q . out; do kill -0 $job || break; done; kill -INT $job; wait $job", said)
}

// command finds where a command of ours begins in a line.
var command = regexp.MustCompile(`(?:^|[\s(;])((?:[A-Z_]+=\S+ )?(?:/usr/local/bin/)?gtoffset (?:describe|clamp|reset|export|import|delete|replay|history|wait|backups|config|completion|version|help)\b.*)$`)

// pageLines finds the command lines of the pages: in code blocks, and in the text between backquotes. What is typed in the console of a
// page with a scene is played there.
func pageLines(t *testing.T) []line {
	t.Helper()
	var all []line
	for _, path := range markdown(t) {
		text := read(t, path)
		language, fenced, file := "", false, false
		for i, l := range strings.Split(text, "\n") {
			where := fmt.Sprintf("%s:%d", path, i+1)
			if rest, fence := strings.CutPrefix(strings.TrimSpace(l), "```"); fence {
				if fenced = !fenced; fenced {
					language = rest
				} else {
					file = false
				}
				continue
			}
			switch {
			case strings.HasPrefix(l, "<!-- file: "): // and it is run in the page's scene
				file = true
			case fenced && file:
			case fenced && language == "console":
				if pages.Scene(text) == "" {
					t.Fatalf("%s is in a console, and the page has no scene", where)
				}
			case fenced || strings.HasPrefix(l, "    ") || strings.HasPrefix(l, "ExecStart="):
				all = appendLine(all, where, l)
			default:
				for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(l, -1) {
					if len(strings.Fields(m[1])) > 2 { // not only the name of a command
						all = appendLine(all, where, m[1])
					}
				}
			}
		}
	}
	return all
}

func appendLine(all []line, where, text string) []line {
	m := command.FindStringSubmatch(strings.TrimPrefix(strings.TrimSpace(text), "ExecStart="))
	if m == nil {
		return all
	}
	text = strings.ReplaceAll(upToEnd(m[1]), "/usr/local/bin/", "")
	if strings.HasPrefix(text, "gtoffset completion") {
		text, _, _ = strings.Cut(text, " >") // to where a shell of the reader's looks for it
	}
	if strings.Contains(text, "…") || strings.Contains(text, "[") {
		return all // a part of one, or how one is made up
	}
	return append(all, line{where, text})
}

// upToEnd cuts off what follows a command in a shell script: but for a pipe, all that is not quoted.
func upToEnd(text string) string {
	quote := rune(0)
	for i, r := range text {
		rest := text[i:]
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == ';', r == ')', strings.HasPrefix(rest, " || "), strings.HasPrefix(rest, " && "), strings.HasPrefix(rest, "  #"), strings.HasPrefix(rest, " # "):
			return strings.TrimSpace(text[:i])
		}
	}
	return strings.TrimSpace(text)
}

// markdown lists the pages that people write. The reference is generated from the help.
func markdown(t *testing.T) []string {
	t.Helper()
	all := []string{"README.md", "CHANGELOG.md", "SECURITY.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		switch {
		case name == filepath.Join("docs", "reference"):
			return fs.SkipDir
		case strings.HasSuffix(name, ".md"):
			all = append(all, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// helpLines finds the command lines of the help: of the program, of each command, of each topic.
func helpLines(t *testing.T) []line {
	t.Helper()
	asked := []string{"--help"}
	for _, r := range table(t, read(t, "README.md"), "## Commands") {
		asked = append(asked, strings.Fields(strings.Trim(r[0], "`"))[0]+" --help")
	}
	for _, topic := range []string{"connection", "environment", "exit-codes", "formats", "stores"} {
		asked = append(asked, "help "+topic)
	}
	var all []line
	for _, a := range asked {
		var help bytes.Buffer
		if code := program(t, &help, io.Discard, strings.Fields(a)...); code != 0 {
			t.Fatalf("gtoffset %s: exit %d", a, code)
		}
		for i, l := range strings.Split(help.String(), "\n") {
			if strings.HasPrefix(l, "  ") && !strings.HasPrefix(l, "      ") {
				all = appendLine(all, fmt.Sprintf("gtoffset %s, line %d", a, i+1), l)
			}
		}
	}
	return all
}
