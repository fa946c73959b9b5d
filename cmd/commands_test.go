package cmd

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"gtoffset/kafkaops/kafkatest"
)

// each calls f for every command that is ours.
func each(c *cobra.Command, f func(*cobra.Command)) {
	for _, sub := range c.Commands() {
		if name := sub.Name(); name != "completion" && name != "no-help" {
			f(sub)
			each(sub, f)
		}
	}
}

func TestEveryCommandExplainsItself(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Brokers: 1})
	root := newRoot(&global{})
	each(root, func(c *cobra.Command) {
		t.Run(c.CommandPath(), func(t *testing.T) {
			if c.Short == "" || strings.HasSuffix(c.Short, ".") {
				t.Errorf("Short = %q", c.Short)
			}
			if !strings.Contains(c.Long, "Exit status:") && !strings.Contains(c.Long, "exit status") {
				t.Errorf("Long says nothing of exit status: %q", c.Long)
			}
			for line := range strings.Lines(c.Long) {
				if len([]rune(strings.TrimSuffix(line, "\n"))) > 132 {
					t.Errorf("a line of Long is too wide: %q", line)
				}
			}
			if c.Example == "" {
				t.Error("no example")
			}
			var out, talk bytes.Buffer
			env := Env{
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &talk, Now: time.Now,
				Getenv: func(name string) string {
					return map[string]string{"GTOFFSET_BOOTSTRAP_SERVER": b.Bootstrap(), "GTOFFSET_STORE": "/nowhere"}[name]
				},
			}
			args := append(strings.Fields(c.CommandPath())[1:], "--help")
			if code := Main(t.Context(), env, args); code != 0 || talk.String() != "" {
				t.Errorf("exit code = %d, stderr %q", code, talk.String())
			}
			for _, want := range []string{"Usage\n  gtoffset " + strings.Fields(c.CommandPath())[1], "Examples\n", "--bootstrap-server"} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("help lacks %q:\n%s", want, out.String())
				}
			}
		})
	})
	if n := b.Count(); n != 0 {
		t.Errorf("help sent %d requests", n)
	}
}

func TestEveryExampleParses(t *testing.T) {
	examples := newRoot(&global{}).Example + "\n"
	each(newRoot(&global{}), func(c *cobra.Command) { examples += c.Example + "\n" })
	for line := range strings.Lines(examples) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		t.Run(strings.TrimSpace(line), func(t *testing.T) {
			ours := 0
			for _, part := range strings.Split(line, " | ") {
				part, _, _ = strings.Cut(part, " > ")
				part, _, _ = strings.Cut(part, " # ")
				args := strings.Fields(strings.NewReplacer("'", "", `"`, "").Replace(part))
				if args[0] != "gtoffset" {
					continue
				}
				ours++
				c, rest, err := newRoot(&global{}).Find(args[1:])
				if err != nil || c.Name() == "gtoffset" {
					t.Fatalf("%q names no command: %v", part, err)
				}
				if err := c.ParseFlags(rest); err != nil {
					t.Errorf("%q: %v", part, err)
				}
				if err := c.ValidateArgs(c.Flags().Args()); err != nil {
					t.Errorf("%q: %v", part, err)
				}
			}
			if ours == 0 {
				t.Error("gtoffset is not in it")
			}
		})
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
