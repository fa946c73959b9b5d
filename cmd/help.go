package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
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
		if given != "" {
			if err := among("-o", given, names); err != nil {
				return err
			}
		}
		return inner(c, args)
	}
}

// The bounds of the help's width. Piped, it is as wide as it may be.
const (
	helpLeast = 60
	helpMost  = 80
)

// setHelp writes the help by code: cobra's templates would pull in text/template and double the binary.
func (g *global) setHelp(root *cobra.Command) {
	wide := helpMost
	if columns := g.env.StdoutWidth; columns > 0 {
		wide = min(max(columns, helpLeast), helpMost)
	}
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		if words := c.Flags().Args(); c == root && len(words) > 0 { // cobra takes --help of any word for that of all
			if c, _, _ = c.Find(words); c == root {
				g.unheard = unknownCommand(c, words[0])
				return
			}
			c.InitDefaultHelpFlag()
		}
		h := newHelpText(wide)
		h.text(c.Short + ".")
		if c.Long != "" {
			h.WriteByte('\n')
			h.text(c.Long)
		}
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

// helpText is a help being written.
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
	if status := statusItems(c); status != nil {
		h.lines("", "Exit status")
		for _, i := range status {
			h.item(3, i.Name, i.Text)
		}
		h.item(3, "…", "gtoffset help exit-codes")
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
			names := topicNames()
			last := len(names) - 1
			h.text("gtoffset help COMMAND says more, and so does help with one of the topics " + strings.Join(names[:last], ", ") + " and " + names[last] + ".")
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

// flags writes a list of flags.
func (h *helpText) flags(c *cobra.Command, flags *pflag.FlagSet) {
	items, longest := flagItems(c, flags), 0
	for _, i := range items {
		longest = max(longest, len(i.Name))
	}
	for _, i := range items {
		h.item(longest, i.Name, i.Text)
	}
}

// Item is a name in a list of the help, as "-g, --group GROUP" or an exit code, and what it is.
type Item struct{ Name, Text string }

// flagItems are the flags of a set as the help lists them.
func flagItems(c *cobra.Command, flags *pflag.FlagSet) []Item {
	items := make([]Item, 0, 32)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		if value == "DURATION" { // its unit, in the same words for all
			text = strings.Replace(text, value, value+" ("+spanExamples+")", 1)
		}
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
		items = append(items, Item{name, text})
	})
	return items
}

// statusItems are the exit codes of a command, "" if it has none of its own.
func statusItems(c *cobra.Command) []Item {
	var items []Item
	for each := range strings.SplitSeq(c.Annotations["status"], "; ") {
		if code, text, ok := strings.Cut(each, " "); ok {
			items = append(items, Item{code, text})
		}
	}
	return items
}

// takes checks the number of arguments; hint says what to write instead, with %s for the first that is too many.
func takes(least, most int, hint string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage(c.CommandPath()+" wants an argument: "+strings.TrimPrefix(c.Use, c.Name()+" "), hint)
		case len(args) > most && args[most] == "help":
			return usage(c.CommandPath()+" has no command help", c.CommandPath()+" --help")
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
	if near := cmp.Or(nearest(name, append(commandNames(c), "help")), elsewhere(name)); near != "" {
		hint = "gtoffset " + near
	}
	return usage(fmt.Sprintf("there is no command %q", name), hint)
}

func commandNames(root *cobra.Command) []string {
	var names []string
	for _, sub := range root.Commands() {
		names = append(names, sub.Name())
	}
	return names
}

// elsewhere is the command that does what other tools call so, "" if none is known.
func elsewhere(name string) string {
	switch strings.ToLower(name) {
	case "list", "ls", "groups", "show", "status", "lag", "get":
		return "describe"
	case "undo", "restore", "rollback", "apply":
		return "import"
	case "seek", "set", "move":
		return "reset"
	case "rm", "remove":
		return "delete"
	case "dump", "save", "backup":
		return "export"
	case "consume", "cat":
		return "replay"
	case "log":
		return "history"
	}
	return ""
}

// wrongFlag is what to do about a flag that does not exist, or a value that it does not take.
func wrongFlag(c *cobra.Command, err error) error {
	var known *problem
	if errors.As(err, &known) {
		return known
	}
	text, hint := strings.TrimSpace(err.Error()), c.CommandPath()+" --help lists the flags"
	var unknown *pflag.NotExistError
	var value *pflag.InvalidValueError
	if errors.As(err, &value) && value.GetFlag().Value.Type() == "DURATION" {
		return badSpan("--"+value.GetFlag().Name, value.Unwrap())
	}
	if !errors.As(err, &unknown) {
		return usage(text, hint)
	}
	name := unknown.GetSpecifiedName()
	var names, elsewhere []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	for _, other := range newRoot(&global{}).Commands() { // in the program's own they may have but their names
		if other.Flags().Lookup(name) != nil {
			elsewhere = append(elsewhere, other.Name())
		}
	}
	switch near := nearest(name, names); {
	case name == "version":
		hint = "gtoffset version"
	case len(elsewhere) > 0:
		hint = "gtoffset " + strings.Join(elsewhere, ", ") + " has --" + name + "; " + hint
	case near != "":
		hint = "did you mean --" + near + "? " + hint
	}
	return usage(text, hint)
}

// noDashes adds what is forgotten most where a flag of replay is not known: it may be one of the command that takes the records.
func noDashes(err error) error {
	var p *problem
	if errors.As(err, &p) && strings.HasPrefix(p.text, "unknown ") {
		p.hint += "; a command that takes the records stands, with its own flags, after --"
	}
	return err
}
