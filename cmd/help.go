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
		var b strings.Builder
		writeText(&b, cmp.Or(c.Long, c.Short), wide)
		b.WriteByte('\n')
		writeUsage(&b, c, wide)
		io.WriteString(c.OutOrStdout(), b.String())
	})
	root.SetUsageFunc(func(c *cobra.Command) error {
		var b strings.Builder
		writeUsage(&b, c, wide)
		_, err := io.WriteString(c.OutOrStdout(), b.String())
		return err
	})
}

// writeText breaks paragraphs anew. Lines that begin with a blank keep their place.
func writeText(b *strings.Builder, text string, wide int) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		if strings.HasPrefix(paragraph, " ") || strings.HasPrefix(paragraph, "\t") || strings.Contains(paragraph, "\n ") {
			fmt.Fprintln(b, paragraph)
			continue
		}
		for _, line := range wrap(paragraph, wide) {
			fmt.Fprintln(b, line)
		}
	}
}

func writeUsage(b *strings.Builder, c *cobra.Command, wide int) {
	fmt.Fprintf(b, "Usage\n  %s\n", c.UseLine())
	if c.HasExample() {
		fmt.Fprintf(b, "\nExamples\n")
		for line := range strings.SplitSeq(c.Example, "\n") {
			comment, ok := strings.CutPrefix(strings.TrimSpace(line), "# ")
			if !ok {
				fmt.Fprintln(b, line) // a command is there to be copied
				continue
			}
			for _, part := range wrap(comment, wide-4) {
				fmt.Fprintln(b, "  # "+part)
			}
		}
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\nCommands\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				writeItem(b, 12, wide, sub.Name(), sub.Short)
			}
		}
		if !c.HasParent() {
			b.WriteByte('\n')
			writeText(b, "gtoffset help COMMAND says more, and help exit-codes, environment, formats or stores.", wide)
		}
	}
	if f := c.LocalNonPersistentFlags(); f.HasAvailableFlags() {
		b.WriteString("\nFlags\n")
		writeFlags(b, c, f, wide)
	}
	global := c.InheritedFlags()
	if !c.HasParent() {
		global = c.PersistentFlags()
	}
	if global.HasAvailableFlags() {
		b.WriteString("\nFlags of every command\n")
		writeFlags(b, c, global, wide)
	}
}

// writeItem writes a name and what it is, beside it, or below it where the names would leave too little room.
func writeItem(b *strings.Builder, names, wide int, name, text string) {
	const least = 40
	if room := wide - names - 4; room >= least {
		for i, line := range wrap(text, room) {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(b, "  %-*s  %s\n", names, name, line)
		}
		return
	}
	fmt.Fprintf(b, "  %s\n", name)
	for _, line := range wrap(text, wide-10) {
		fmt.Fprintf(b, "          %s\n", line)
	}
}

func writeFlags(b *strings.Builder, c *cobra.Command, flags *pflag.FlagSet, wide int) {
	var names, texts []string
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
		if value != "" {
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
		names, texts = append(names, name), append(texts, text)
		longest = max(longest, len(name))
	})
	for i, n := range names {
		writeItem(b, longest, wide, n, texts[i])
	}
}

// wrap breaks a text into lines of at most n characters.
func wrap(text string, n int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > n {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
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
