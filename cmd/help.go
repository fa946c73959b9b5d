package cmd

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gtoffset/output"
)

// formats declares which formats a command writes, and checks -o before anything is opened.
func formats(c *cobra.Command, have ...output.Format) {
	names := make([]string, len(have))
	for i, f := range have {
		names[i] = string(f)
	}
	c.Annotations = map[string]string{"formats": strings.Join(names, "|")}
	inner := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		given, _ := c.Flags().GetString("output")
		if given != "" && !slices.Contains(names, given) {
			return usage(fmt.Sprintf("-o %q is not known to %s", given, c.CommandPath()), "-o "+strings.Join(names, ", "))
		}
		return inner(c, args)
	}
}

// The bounds of the help's width. Piped, it is as wide as it may be.
const (
	helpLeast = 60
	helpMost  = 100
)

// setHelp writes the help by code: cobra's templates would pull in text/template and double the binary. columns is the terminal's
// width, 0 for none.
func setHelp(root *cobra.Command, columns int) {
	wide := helpMost
	if columns > 0 {
		wide = min(max(columns, helpLeast), helpMost)
	}
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		h := newHelpText(wide)
		h.text(cmp.Or(c.Long, c.Short))
		h.WriteByte('\n')
		h.usage(c)
		io.WriteString(c.OutOrStdout(), h.String())
	})
	root.SetUsageFunc(func(c *cobra.Command) error {
		h := newHelpText(wide)
		h.usage(c)
		_, err := io.WriteString(c.OutOrStdout(), h.String())
		return err
	})
}

// helpText is a help being written. It is built without fmt and in one piece of memory: --help is asked for by programs, too, and
// each new page of memory costs as much as a line of text.
type helpText struct {
	strings.Builder
	wide int
}

func newHelpText(wide int) *helpText {
	h := &helpText{wide: wide}
	h.Grow(4 << 10)
	return h
}

// lines writes texts as they are, one a line.
func (h *helpText) lines(texts ...string) {
	for _, t := range texts {
		h.WriteString(t)
		h.WriteByte('\n')
	}
}

// blanks writes n of them.
func (h *helpText) blanks(n int) {
	for range n {
		h.WriteByte(' ')
	}
}

// fold breaks a text into lines of at most room characters. In front of each but the first it writes lead.
func (h *helpText) fold(text string, room int, lead func()) {
	used := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case used == 0:
		case used+1+n > room:
			h.WriteByte('\n')
			lead()
			used = 0
		default:
			h.WriteByte(' ')
			used++
		}
		h.WriteString(word)
		used += n
	}
	h.WriteByte('\n')
}

// text breaks paragraphs anew. Lines that begin with a blank keep their place.
func (h *helpText) text(text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			h.WriteByte('\n')
		}
		if strings.HasPrefix(paragraph, " ") || strings.HasPrefix(paragraph, "\t") || strings.Contains(paragraph, "\n ") {
			h.lines(paragraph)
			continue
		}
		h.fold(paragraph, h.wide, func() {})
	}
}

func (h *helpText) usage(c *cobra.Command) {
	h.WriteString("Usage\n  ")
	h.lines(c.UseLine())
	if c.HasExample() {
		h.lines("", "Examples")
		for line := range strings.SplitSeq(c.Example, "\n") {
			comment, ok := strings.CutPrefix(strings.TrimSpace(line), "# ")
			if !ok {
				h.lines(line) // a command is there to be copied
				continue
			}
			lead := func() { h.WriteString("  # ") }
			lead()
			h.fold(comment, h.wide-4, lead)
		}
	}
	if c.HasAvailableSubCommands() {
		h.lines("", "Commands")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				h.item(12, sub.Name(), sub.Short)
			}
		}
		if !c.HasParent() {
			h.WriteByte('\n')
			h.text("gtoffset help COMMAND says more, and help connection, environment, exit-codes, formats or stores.")
		}
	}
	if f := c.LocalNonPersistentFlags(); c.HasParent() && f.HasAvailableFlags() { // the program itself has but -h
		h.lines("", "Flags")
		h.flags(c, f)
	}
	global := c.InheritedFlags()
	if !c.HasParent() {
		global = c.PersistentFlags()
	}
	if global.HasAvailableFlags() {
		h.lines("", "Flags of every command")
		h.flags(c, global)
	}
}

// item writes a name and what it is, beside it, or below it where the names would leave too little room.
func (h *helpText) item(names int, name, text string) {
	const least = 40
	h.WriteString("  ")
	h.WriteString(name)
	indent := 10
	if room := h.wide - names - 4; room >= least {
		indent = names + 4
		h.blanks(indent - 2 - utf8.RuneCountInString(name))
	} else {
		h.WriteByte('\n')
		h.blanks(indent)
	}
	h.fold(text, h.wide-indent, func() { h.blanks(indent) })
}

func (h *helpText) flags(c *cobra.Command, flags *pflag.FlagSet) {
	type item struct{ name, text string }
	items := make([]item, 0, 32)
	longest := 0
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		name := "    --" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", --" + f.Name
		}
		switch {
		case value != "" && f.NoOptDefVal != "":
			name += "[=" + value + "]"
		case value != "":
			name += " " + value
		}
		if f.Name == "output" && c.Annotations["formats"] != "" {
			text = "format of what goes to stdout: " + strings.ReplaceAll(c.Annotations["formats"], "|", ", ")
		}
		switch f.DefValue {
		case "", "false", "[]", "-1", "0", "0s":
		default:
			text += " (default " + f.DefValue + ")"
		}
		items = append(items, item{name, text})
		longest = max(longest, len(name))
	})
	for _, i := range items {
		h.item(longest, i.name, i.text)
	}
}

// takes checks the number of arguments; hint says what to write instead, with %s for the first that is too many.
func takes(least, most int, hint string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage(c.CommandPath()+" wants an argument: "+strings.TrimPrefix(c.Use, c.Name()+" "), hint)
		case len(args) > most:
			if strings.Contains(hint, "%s") {
				hint = fmt.Sprintf(hint, quote(args[most]))
			}
			return usage(c.CommandPath()+" takes "+[]string{"no argument", "one argument"}[most], hint)
		}
		return nil
	}
}

func unknownCommand(c *cobra.Command, name string) error {
	hint := "gtoffset --help lists the commands"
	c.SuggestionsMinimumDistance = 2 // letters apart
	if near := c.SuggestionsFor(name); len(near) > 0 {
		hint = "gtoffset " + near[0]
	}
	return usage(fmt.Sprintf("there is no command %q", name), hint)
}
