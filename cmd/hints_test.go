package cmd

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var (
	hintLine  = regexp.MustCompile(`(?m)^(?:gtoffset: )?hint: (.*)$|^undo    (.*)$|"hint":"((?:[^"\\]|\\.)*)"`)
	flagToken = regexp.MustCompile(`^(--?[a-zA-Z][-a-zA-Z]*)(?:[=|].*)?$`)
)

// WrongHints lists the flags that a run's hints name although the command has none such: that of the hint, or else the one that ran.
func WrongHints(args []string, text string) []string {
	root := newRoot(&global{})
	ran, _, err := root.Find(args)
	if err != nil {
		return nil
	}
	var wrong []string
	for _, found := range hintLine.FindAllStringSubmatch(text, -1) {
		for _, flag := range wrongFlags(root, ran, strings.Join(found[1:], "")) {
			wrong = append(wrong, fmt.Sprintf("%s: %s has no %s", found[0], ran.CommandPath(), flag))
		}
	}
	return wrong
}

// wrongFlags walks over the words of a hint. A word gtoffset and a command's name change whose flags are meant, and so does the name of
// another program; a point or a semicolon ends that.
func wrongFlags(root, ran *cobra.Command, hint string) []string {
	var wrong []string
	of, foreign := ran, false
	words := strings.Fields(hint)
	for i, word := range words {
		bare := strings.Trim(word, ".,;:()'\"")
		switch {
		case i > 0 && slices.Contains([]string{"-g", "-t", "-s", "-b", "-X"}, words[i-1]): // a name, whatever it looks like
			bare = ""
		case bare == "gtoffset" && i+1 < len(words):
			if c, _, err := root.Find([]string{strings.Trim(words[i+1], ".,;:()'\"")}); err == nil && c != root {
				of, foreign = c, false
			}
		case strings.HasSuffix(bare, ".sh"), strings.HasPrefix(bare, "kafka-"), bare == "kinit", bare == "openssl", bare == "keytool", bare == "mkdir", bare == "-c":
			foreign = true
		case bare == "write" && i > 0 && words[i-1] == "a": // a write with --flag
			of, _, _ = root.Find([]string{"import"})
		case bare == "--":
			return wrong
		}
		if m := flagToken.FindStringSubmatch(bare); m != nil && !foreign && !has(of, m[1]) {
			wrong = append(wrong, m[1])
		}
		if strings.HasSuffix(word, ";") || bare != "" && strings.HasSuffix(word, ".") {
			of, foreign = ran, false
		}
	}
	return slices.Compact(wrong)
}

func has(c *cobra.Command, flag string) bool {
	name := strings.TrimLeft(flag, "-")
	if name == "help" || name == "h" {
		return true
	}
	if !strings.HasPrefix(flag, "--") {
		return len(name) != 1 || c.Flags().ShorthandLookup(name) != nil || c.InheritedFlags().ShorthandLookup(name) != nil
	}
	return c.Flags().Lookup(name) != nil || c.InheritedFlags().Lookup(name) != nil
}

func TestWrongHints(t *testing.T) {
	for _, c := range []struct {
		ran, text string
		wrong     int
	}{
		{"describe", "gtoffset: hint: --timeout 60s waits longer\n", 0},
		{"describe", "gtoffset: hint: --create-table makes it\n", 1},
		{"describe", "gtoffset: hint: a write with --create-table makes it\n", 0},
		{"describe", "gtoffset: hint: gtoffset clamp -g a --stored --salvage --dry-run\n", 0},
		{"describe", "gtoffset: hint: gtoffset clamp -g a --time\n", 1},
		{"clamp", "undo    gtoffset import b.json --execute --moved overwrite\n", 0},
		{"clamp", "undo    gtoffset import b.json --whole-group\n", 1},
		{"replay", `{"hint":"kafka-topics.sh --create --partitions 3"}`, 0},
		{"replay", "gtoffset: hint: gtoffset reset -g a --high end; --expired skip leaves it out\n", 1},
	} {
		if got := WrongHints([]string{c.ran}, c.text); len(got) != c.wrong {
			t.Errorf("%q after %s: %q", c.text, c.ran, got)
		}
	}
}
