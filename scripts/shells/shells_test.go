// Package shells_test types at real shells, and looks at what completion makes of it. The program is the built one, the cluster is inside
// this process.
package shells_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/scripts/terminal"
)

// shell is a shell without anybody's settings, and what is typed first.
type shell struct {
	name, start string
	needs       string // a file, beside the program
	prepare     string
}

const bashCompletion = "/usr/share/bash-completion/bash_completion"

var shells = []shell{
	{"bash", "bash --noprofile --norc -i", "", `PS1='> '; bind 'set show-all-if-ambiguous on'; bind 'set completion-query-items 0'; . <(gtoffset completion bash)`},
	{"bash with bash-completion", "bash --noprofile --norc -i", bashCompletion, `PS1='> '; bind 'set show-all-if-ambiguous on'; bind 'set completion-query-items 0'; . ` + bashCompletion + `; . <(gtoffset completion bash)`},
	{"zsh", "zsh -f -i", "", `PS1='> '; LISTMAX=1000; setopt NO_LIST_AMBIGUOUS; autoload -Uz compinit; compinit -u -D; . <(gtoffset completion zsh)`},
}

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
}

// listed are lines of which one Tab shows what there is, with words beside it.
var listed = []struct{ typed, word, words string }{
	{"gtoffset describe -g ", "billing", "simple group, Empty"},
	{"gtoffset describe -g billing -t pairs:", "pairs:0", "committed low: 3 expired"},
	{"gtoffset describe -g billing -t ", "pairs", "2 partitions, 1 not ok"},
	{"gtoffset config -X ssl.k", "ssl.key.password=", "password"},
	{"gtoffset describe --max-", "--max-lag", "exit 10 when"},
	{"gtoffset ", "clamp", "Bring offsets back"},
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
	for _, s := range shells {
		t.Run(s.name, func(t *testing.T) {
			s.installed(t)
			line := s.open(t, dir, b.Bootstrap())
			for _, c := range whole {
				line.becomes(c.typed, c.want)
			}
			for _, c := range listed {
				line.lists(c.typed, c.word, c.words)
			}
			line.stays("gtoffset describe -g nobody-has-")
			line.stays("gtoffset describe --max-lag ")
			for name, address := range map[string]string{"refused": "127.0.0.1:1", "no such host": "nowhere.invalid:9092"} {
				t.Run(name, func(t *testing.T) {
					away := line
					away.t = t
					away.stays("gtoffset describe -b " + address + " -g bil")
				})
			}
			b.Freeze(0)
			line.stays("gtoffset describe -g bil") // ends although nobody answers
			b.Thaw(0)
			line.becomes("gtoffset describe -g bil", "gtoffset describe -g billing")
		})
	}
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

// installed skips what cannot run here; in CI that is a failure.
func (s shell) installed(t *testing.T) {
	t.Helper()
	program, _, _ := strings.Cut(s.start, " ")
	_, noTmux := exec.LookPath("tmux")
	_, noShell := exec.LookPath(program)
	_, noFile := os.Stat(s.needs)
	for name, err := range map[string]error{"tmux": noTmux, program: noShell, s.needs: noFile} {
		switch {
		case err == nil || name == "":
		case os.Getenv("CI") != "":
			t.Fatalf("%s is not installed", name)
		default:
			t.Skipf("%s is not installed", name)
		}
	}
}

// line is the line of a shell that waits for what is typed.
type line struct {
	t *testing.T
	*terminal.Terminal
}

func (s shell) open(t *testing.T, dir, bootstrap string) line {
	t.Helper()
	term, err := terminal.Open(t.Context(), dir, 160, 70, "cd "+filepath.Join(dir, "work")+" && exec "+s.start,
		"PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir, "GTOFFSET_BOOTSTRAP_SERVER="+bootstrap, "INPUTRC=/dev/null", "TERM=xterm-256color")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	l := line{t, term}
	l.do(l.Write(s.prepare + "; echo rea''dy"))
	l.do(l.Type("Enter"))
	l.until("it is ready", func(screen string) bool { return strings.Contains(screen, "\nready") })
	return l
}

func (l line) do(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l line) until(what string, ready func(string) bool) string {
	l.t.Helper()
	screen, err := l.Wait(false, ready)
	if err != nil {
		l.t.Fatalf("waited until %s: %v", what, err)
	}
	return screen
}

// fresh leaves the line that stood there, and an empty screen with a prompt.
func (l line) fresh() {
	l.t.Helper()
	l.do(l.Type("C-u", "C-l"))
	l.until("the screen is empty", func(screen string) bool { return strings.TrimSpace(screen) == ">" })
}

// tab types a text on a fresh line, and asks what could follow.
func (l line) tab(text string) {
	l.t.Helper()
	l.fresh()
	l.do(l.Write(text))
	l.until(text+" stands there", func(screen string) bool { return strings.Contains(screen, strings.TrimSpace("> "+text)) })
	l.do(l.Type("Tab"))
}

// becomes holds the line against what one Tab should make of it.
func (l line) becomes(text, want string) {
	l.t.Helper()
	l.tab(text)
	l.until(text+" becomes "+want, func(screen string) bool {
		first, _, _ := strings.Cut(screen, "\n")
		return strings.TrimSpace(first) == "> "+want
	})
}

// lists waits for a word with some words beside it, below the line. bash shows what comes behind a colon alone.
func (l line) lists(text, word, words string) {
	l.t.Helper()
	l.tab(text)
	word = word[strings.LastIndexByte(word, ':')+1:]
	l.until("below "+text+" there is "+word+" with "+words, func(screen string) bool {
		_, below, _ := strings.Cut(screen, "\n")
		for row := range strings.Lines(below) {
			if _, after, ok := strings.Cut(row, word); ok && strings.Contains(after, words) {
				return true
			}
		}
		return false
	})
}

// stays holds that a Tab changes nothing, and that nothing is said: what is typed behind it comes right there.
func (l line) stays(text string) {
	l.t.Helper()
	l.tab(text)
	l.do(l.Write("#end"))
	screen := l.until("#end is there", func(screen string) bool { return strings.Contains(screen, "#end") })
	if got, want := strings.TrimSpace(screen), "> "+text+"#end"; got != want {
		l.t.Errorf("after a Tab behind %q the screen shows\n%s\nwant\n%s", text, got, want)
	}
}
