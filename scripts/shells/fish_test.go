package shells_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gtoffset/scripts/needs"
)

// fish is asked for what it would offer, which takes no terminal. (On one, it outlives its terminal for a while.)
type fish struct {
	t   *testing.T
	dir string
	env []string
}

func newFish(t *testing.T, dir, bootstrap string) fish {
	t.Helper()
	needs.Programs(t, "fish")
	return fish{t, filepath.Join(dir, "work"), append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+t.TempDir(), "GTOFFSET_BOOTSTRAP_SERVER="+bootstrap)}
}

// offered lists what a line could be completed to, and the words beside it.
func (f fish) offered(text string) (lines, words []string) {
	f.t.Helper()
	c := exec.CommandContext(f.t.Context(), "fish", "--no-config", "--private", "-c", "gtoffset completion fish | source; complete -C $argv[1]", text)
	var out, talk bytes.Buffer
	c.Dir, c.Env, c.Stdout, c.Stderr = f.dir, f.env, &out, &talk
	if err := c.Run(); err != nil || talk.Len() > 0 {
		f.t.Errorf("fish, on %q: %v\n%s", text, err, &talk)
	}
	before := text[:strings.LastIndexByte(text, ' ')+1]
	for row := range strings.Lines(out.String()) {
		last, beside, _ := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		lines, words = append(lines, before+last), append(words, beside)
	}
	return lines, words
}

// becomes takes what all that is offered begins with: where no blank is to follow, there is a second one, with a point at its end.
func (f fish) becomes(text, want string) {
	f.t.Helper()
	all, _ := f.offered(text)
	got := text
	if len(all) > 0 {
		got = all[0]
	}
	for _, line := range all {
		for !strings.HasPrefix(line, got) {
			got = got[:len(got)-1]
		}
	}
	if got != want {
		f.t.Errorf("%q becomes %q, want %q; offered are %q", text, got, want, all)
	}
}

func (f fish) lists(text, word, words string) {
	f.t.Helper()
	before := text[:strings.LastIndexByte(text, ' ')+1]
	lines, beside := f.offered(text)
	if i := slices.Index(lines, before+word); i < 0 || !strings.Contains(beside[i], words) {
		f.t.Errorf("behind %q there is no %q with %q, but %q with %q", text, word, words, lines, beside)
	}
}

func (f fish) stays(text string) {
	f.t.Helper()
	if got, _ := f.offered(text); got != nil {
		f.t.Errorf("%q becomes %q, want nothing", text, got)
	}
}
