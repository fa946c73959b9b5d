package cmd

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"gtoffset/kafkaops/kafkatest"
)

// each calls f for every command that is ours.
func each(c *cobra.Command, f func(*cobra.Command)) {
	for _, sub := range c.Commands() {
		f(sub)
		each(sub, f)
	}
}

// Each command's help is one line, when to use it, what is dangerous about it, up to five examples, and its exit codes, in this order.
func TestEveryCommandExplainsItself(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Brokers: 1})
	each(newRoot(&global{}), func(c *cobra.Command) {
		t.Run(c.CommandPath(), func(t *testing.T) {
			var out, talk bytes.Buffer
			env := Env{
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &talk, Now: time.Now,
				Getenv: func(name string) string {
					return map[string]string{"GTOFFSET_BOOTSTRAP_SERVER": b.Bootstrap(), "GTOFFSET_STORE": "/nowhere"}[name]
				},
			}
			if code := Main(t.Context(), env, []string{c.Name(), "--help"}); code != 0 || talk.String() != "" {
				t.Errorf("exit code = %d, stderr %q", code, talk.String())
			}
			// It takes one line in the list of commands.
			if c.Short == "" || strings.HasSuffix(c.Short, ".") || len(c.Short) > helpMost-16 {
				t.Errorf("Short = %q", c.Short)
			}
			help, parts := out.String(), []string{c.Short + ".\n\nUse it ", "\nDangers: ", "\nUsage\n  gtoffset " + c.Name(), "\nExamples\n  ", "\nExit status\n  0 ", "\nFlags of every command\n", "--bootstrap-server"}
			if c.Name() == "completion" || c.Name() == "version" { // they only print
				parts = slices.Delete(parts, 1, 2)
			}
			at := 0
			for _, part := range parts {
				i := strings.Index(help[at:], part)
				if i < 0 {
					t.Fatalf("%q is not there, or not in its place:\n%s", part, help)
				}
				at += i
			}
			if n := len(strings.Split(c.Example, "\n")); n > 5 {
				t.Errorf("%d examples, want five at most", n)
			}
			last := -1
			for each := range strings.SplitSeq(c.Annotations["status"], "; ") {
				number, words, _ := strings.Cut(each, " ")
				code, err := strconv.Atoi(number)
				if err != nil || words == "" || code <= last || code != exitDone && !slices.Contains(precedence[:], code) {
					t.Errorf("%q is no exit code with words, or not in its place", each)
				}
				last = code
			}
		})
	})
	if n := b.Count(); n != 0 {
		t.Errorf("help sent %d requests", n)
	}
}

// The choices that a refusal names are flags that there are.
func TestSpelledChoices(t *testing.T) {
	for choice, want := range map[string]string{
		"":                              "",
		"--salvage":                     "--salvage",
		"--wait-empty 60s":              "--wait-empty 60s",
		"--high end|earliest":           "--high end, or --high earliest",
		"--recreated end|earliest|keep": "--recreated end, or --recreated earliest, or --recreated keep",
	} {
		if got := spelled(choice); got != want {
			t.Errorf("spelled(%q) = %q, want %q", choice, got, want)
		}
	}
}
