package cmd

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// The help is as wide as the terminal, within bounds, and command lines in it stay whole, to be copied: none is longer than the most.
func TestHelpFitsTheTerminal(t *testing.T) {
	for _, c := range []struct{ columns, most int }{{0, 80}, {40, 60}, {72, 72}, {80, 80}, {200, 80}} {
		paths := []string{""}
		each(newRoot(&global{}), func(c *cobra.Command) { paths = append(paths, c.CommandPath()) })
		for _, topic := range helpTopics() {
			if c.columns == 0 || c.columns >= helpMost { // they are written, not folded
				paths = append(paths, "gtoffset help "+topic.name)
			}
		}
		for _, path := range paths {
			var out bytes.Buffer
			env := Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard, StdoutWidth: c.columns, Getenv: func(string) string { return "" }}
			args := strings.Fields(strings.TrimPrefix(path, "gtoffset"))
			if len(args) != 2 { // gtoffset help TOPIC
				args = append(args, "--help")
			}
			if code := Main(t.Context(), env, args); code != 0 || out.Len() == 0 {
				t.Fatalf("%v: exit code %d", args, code)
			}
			for line := range strings.Lines(out.String()) {
				line = strings.TrimSuffix(line, "\n")
				if n := utf8.RuneCountInString(line); n > helpMost || n > c.most && !strings.Contains(line, "gtoffset ") {
					t.Errorf("%d columns, %v: %d wide: %s", c.columns, args, n, line)
				}
			}
		}
	}
}

// The program's own help goes a shorter way, and says the same.
func TestHelpIsOne(t *testing.T) {
	help := func(args ...string) string {
		var out bytes.Buffer
		env := Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard, Getenv: func(string) string { return "" }}
		if code := Main(t.Context(), env, args); code != 0 {
			t.Errorf("%v: exit code %d", args, code)
		}
		return out.String()
	}
	want := help("--quiet", "--help")
	for _, args := range [][]string{{}, {"--help"}, {"-h"}, {"help"}} {
		if got := help(args...); got != want {
			said, made := firstDifference(got, want)
			t.Errorf("%v says %q where --quiet --help has %q: go run ./scripts/gendocs writes cmd/help.txt anew", args, said, made)
		}
	}
}

// firstDifference is the first line in which two texts differ, as each has it.
func firstDifference(a, b string) (inA, inB string) {
	for a != b {
		inA, a, _ = strings.Cut(a, "\n")
		inB, b, _ = strings.Cut(b, "\n")
		if inA != inB {
			break
		}
	}
	return inA, inB
}
