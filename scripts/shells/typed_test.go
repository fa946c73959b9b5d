package shells_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gtoffset/scripts/needs"
	"gtoffset/scripts/terminal"
)

// A shell is typed at on a terminal. It has nobody's settings.
type shell struct {
	name, start string
	needs       string // a file, beside the program
	prepare     string // is typed first
}

const bashCompletion = "/usr/share/bash-completion/bash_completion"

var shells = []shell{
	{"bash", "bash --noprofile --norc -i", "", `PS1='> '; bind 'set show-all-if-ambiguous on'; bind 'set completion-query-items 0'; . <(gtoffset completion bash)`},
	{"bash with bash-completion", "bash --noprofile --norc -i", bashCompletion, `PS1='> '; bind 'set show-all-if-ambiguous on'; bind 'set completion-query-items 0'; . ` + bashCompletion + `; . <(gtoffset completion bash)`},
	{"zsh", "zsh -f -i", "", `PS1='> '; LISTMAX=1000; setopt NO_LIST_AMBIGUOUS; autoload -Uz compinit; compinit -u -D; . <(gtoffset completion zsh)`},
}

func (s shell) installed(t *testing.T) {
	t.Helper()
	program, _, _ := strings.Cut(s.start, " ")
	needs.Programs(t, "tmux", program)
	if s.needs != "" {
		needs.File(t, s.needs)
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
		"PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir, "GTOFFSET_BOOTSTRAP_SERVER="+bootstrap, "INPUTRC=/dev/null", "HISTFILE=/dev/null", "TERM=xterm-256color")
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
