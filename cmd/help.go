package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

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

// setHelp writes the help by code: cobra's templates would pull in text/template and double the binary.
func setHelp(root *cobra.Command) {
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		var b strings.Builder
		fmt.Fprintf(&b, "%s\n\n", orElse(c.Long, c.Short))
		writeUsage(&b, c)
		io.WriteString(c.OutOrStdout(), b.String())
	})
	root.SetUsageFunc(func(c *cobra.Command) error {
		var b strings.Builder
		writeUsage(&b, c)
		_, err := io.WriteString(c.OutOrStdout(), b.String())
		return err
	})
}

func writeUsage(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, "Usage\n  %s\n", c.UseLine())
	if c.HasExample() {
		fmt.Fprintf(b, "\nExamples\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\nCommands\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(b, "  %-12s %s\n", sub.Name(), sub.Short)
			}
		}
		if !c.HasParent() {
			b.WriteString("\ngtoffset help COMMAND says more, and help exit-codes, environment, formats or stores.\n")
		}
	}
	if f := c.LocalNonPersistentFlags(); f.HasAvailableFlags() {
		b.WriteString("\nFlags\n")
		writeFlags(b, c, f)
	}
	global := c.InheritedFlags()
	if !c.HasParent() {
		global = c.PersistentFlags()
	}
	if global.HasAvailableFlags() {
		b.WriteString("\nFlags of every command\n")
		writeFlags(b, c, global)
	}
}

func writeFlags(b *strings.Builder, c *cobra.Command, flags *pflag.FlagSet) {
	var names, texts []string
	wide := 0
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
		wide = max(wide, len(name))
	})
	for i, n := range names {
		for j, line := range wrap(texts[i], max(100-wide, 40)) {
			if j > 0 {
				n = ""
			}
			fmt.Fprintf(b, "  %-*s  %s\n", wide, n, line)
		}
	}
}

// wrap breaks a text into lines of at most n bytes.
func wrap(text string, n int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > n {
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
