// Package shells_test asks real shells what they complete a command line with. The program is the built one, the cluster is inside this
// process.
package shells_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/scripts/needs"
)

// whole are lines of which one Tab makes another.
var whole = []struct{ typed, want string }{
	{"gtoffset desc", "gtoffset describe"},
	{"gtoffset describe -g bil", "gtoffset describe -g billing"},
	{"gtoffset describe --group=bil", "gtoffset describe --group=billing"},
	{"gtoffset replay -g billing -t pai", "gtoffset replay -g billing -t pairs"},
	{"gtoffset describe -g billing -t pairs:0,", "gtoffset describe -g billing -t pairs:0,1"},
	{"gtoffset replay -g billing -t ord", "gtoffset replay -g billing -t orders"}, // not of the group
	{"gtoffset clamp --high ea", "gtoffset clamp --high earliest"},
	{"gtoffset describe -o wi", "gtoffset describe -o wide"},
	{"gtoffset describe --type str", "gtoffset describe --type streams"},
	{"gtoffset config -X sasl.mechanism=GS", "gtoffset config -X sasl.mechanism=GSSAPI"},
	{"gtoffset describe -s redis+s", "gtoffset describe -s redis+sentinel://"},
	{"gtoffset describe -s offs", "gtoffset describe -s offsets/"},
	{"gtoffset completion fi", "gtoffset completion fish"},
	{"gtoffset help exi", "gtoffset help exit-codes"},
	{"gtoffset import /dev/nul", "gtoffset import /dev/null"},
	{`gtoffset describe -g "bil"'ling' -t pai`, `gtoffset describe -g "bil"'ling' -t pairs`},
	{`gtoffset describe -g bil\ling -t pai`, `gtoffset describe -g bil\ling -t pairs`},
	{"gtoffset describe -b $GTOFFSET_BOOTSTRAP_SERVER -g bil", "gtoffset describe -b $GTOFFSET_BOOTSTRAP_SERVER -g billing"},
}

// evil are words that a shell would run, and that completion may not.
var evil = []string{"$(touch ran)", `"$(touch ran)"`, "`touch ran`", `"x` + "`touch ran`" + `"`, "${none:=$(touch ran)}", "$((a[$(touch ran)]))"}

// listed are lines of which one Tab shows what there is, with words beside it.
var listed = []struct{ typed, word, words string }{
	{"gtoffset describe -g ", "billing", "simple group, Empty"},
	{"gtoffset describe -g billing -t pairs:", "pairs:0", "committed low: 3 expired"},
	{"gtoffset describe -g billing -t ", "pairs", "2 partitions, 1 not ok"},
	{"gtoffset config -X ssl.k", "ssl.key.password=", "password"},
	{"gtoffset describe --max-", "--max-lag", "exit 10 when"},
	{"gtoffset ", "clamp", "Bring offsets back"},
}

// A completer is a shell that completes lines.
type completer interface {
	// becomes wants one Tab to make another line of this one.
	becomes(text, want string)
	// lists wants a word among what could follow, and some words beside it.
	lists(text, word, words string)
	// stays wants a Tab to change nothing, and nothing to be said.
	stays(text string)
}

func TestCompletion(t *testing.T) {
	dir := folder(t)
	program := filepath.Join(dir, "gtoffset")
	if said, err := exec.Command("go", "build", "-o", program, "gtoffset").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, said)
	}
	if err := os.MkdirAll(filepath.Join(dir, "work", "offsets"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, s := range shells {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.installed(t)
			b := cluster(t)
			completes(s.open(t, dir, b.Bootstrap()), b)
			runsNothing(t, dir)
		})
	}
	t.Run("fish", func(t *testing.T) {
		t.Parallel()
		b := cluster(t)
		completes(newFish(t, dir, b.Bootstrap()), b)
		runsNothing(t, dir)
	})
}

func completes(c completer, b *kafkatest.Broker) {
	for _, l := range whole {
		c.becomes(l.typed, l.want)
	}
	for _, word := range evil {
		c.becomes("gtoffset describe -g "+word+" -o wi", "gtoffset describe -g "+word+" -o wide")
	}
	for _, l := range listed {
		c.lists(l.typed, l.word, l.words)
	}
	c.stays("gtoffset describe -g nobody-has-")
	c.stays("gtoffset describe --max-lag ")
	c.stays("gtoffset describe -b 127.0.0.1:1 -g bil")          // refused
	c.stays("gtoffset describe -b nowhere.invalid:9092 -g bil") // no such host
	b.Freeze(0)
	c.stays("gtoffset describe -g bil") // ends although nobody answers
	b.Thaw(0)
	c.becomes("gtoffset describe -g bil", "gtoffset describe -g billing")
}

// runsNothing holds that no word of evil was run.
func runsNothing(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "work", "ran")); !os.IsNotExist(err) {
		t.Errorf("a Tab ran what stood on the line: %v", err)
	}
}

// Words are taken as the shell takes them, but for what it would run.
func TestWords(t *testing.T) {
	dir := folder(t)
	program := filepath.Join(dir, "gtoffset")
	if said, err := exec.Command("go", "build", "-o", program, "gtoffset").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, said)
	}
	for _, shell := range [][]string{{"bash", "--norc", "--noprofile"}, {"zsh", "-f"}} {
		needs.Programs(t, shell[0])
		for line, want := range map[string]string{
			`a  "b c" d\ e 'f  $g' ''`:                                "a|b c|d e|f  $g|",
			`"a\"b" "\$c" "\d" \"`:                                    `a"b|$c|\d|"`,
			`$A x$A. ${A}y "$A" '$A'`:                                 "one two|xone two.|one twoy|one two|$A",
			`$nobody_has "$"{ $ ${A`:                                  "|${|$|${A",
			`~ ~/x a~ "~" ~root`:                                      dir + "|" + dir + "/x|a~|~|~root",
			`$(touch ran) "` + "`x`" + `" ${A:=$(touch ran)} a>ran;b`: "$(touch|ran)|`x`|${A:=$(touch|ran)}|a>ran;b",
			`$'a\'b\nc' "open`:                                        "a'b\nc|open",
			``:                                                        "",
		} {
			c := exec.CommandContext(t.Context(), shell[0], append(shell[1:], "-c", `compdef() { :; }; . <(gtoffset completion "$1"); __gtoffset_words "$2"; IFS="|"; printf "%s" "${typed[*]}"`, shell[0], shell[0], line)...)
			c.Dir, c.Env = dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir, "A=one two", "LC_ALL=C.UTF-8")
			if said, err := c.CombinedOutput(); err != nil || string(said) != want {
				t.Errorf("%s takes %s as %q, want %q: %v", shell[0], line, said, want, err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); !os.IsNotExist(err) {
		t.Errorf("it ran what stood on the line: %v", err)
	}
}

// cluster has two groups, and a topic that is in neither.
func cluster(t *testing.T) *kafkatest.Broker {
	t.Helper()
	b := kafkatest.Start(t, kafkatest.Options{Brokers: 1, Topics: map[string]int32{"orders": 3, "pairs": 2, "boxes": 1}})
	for _, group := range []string{"billing", "shipping"} {
		if err := b.Commit(group, "boxes", 0, 0, -1, ""); err != nil {
			t.Fatal(err)
		}
		for p := range int32(2) {
			if err := b.SetRange("pairs", p, 10, 20); err != nil {
				t.Fatal(err)
			}
			if err := b.Commit(group, "pairs", p, []int64{7, 15}[p], -1, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b
}

// folder is a folder with a short path: a socket's may not be long.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gts-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
