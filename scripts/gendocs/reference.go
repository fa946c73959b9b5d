package main

import (
	"bytes"
	"fmt"
	"strings"

	"gtoffset/cmd"
)

const madeBy = "<!-- made by go run ./scripts/gendocs from what the program's --help says -->\n\n"

// inline keeps what Markdown would take for its own.
func inline(s string) string {
	return strings.NewReplacer("<", `\<`, "*", `\*`, "_", `\_`, "[", `\[`, "`", "\\`").Replace(s)
}

// cell is text in a table.
func cell(s string) string { return strings.ReplaceAll(inline(s), "|", `\|`) }

// code is what is typed, in a table.
func code(s string) string { return "`" + strings.ReplaceAll(strings.TrimSpace(s), "|", `\|`) + "`" }

func rows(b *bytes.Buffer, head string, items []cmd.Item) {
	fmt.Fprintf(b, "\n| %s | |\n|---|---|\n", head)
	for _, i := range items {
		fmt.Fprintf(b, "| %s | %s |\n", code(i.Name), cell(i.Text))
	}
}

// reference is the page of a command.
func reference(p cmd.Page) []byte {
	b := &bytes.Buffer{}
	fmt.Fprintf(b, "%s# %s\n\n%s.\n\n    %s\n", madeBy, p.Command, inline(p.Short), p.Usage)
	for _, t := range p.Text {
		if dangers, ok := strings.CutPrefix(t, "Dangers: "); ok {
			fmt.Fprintf(b, "\n**Dangers:** %s\n", inline(dangers))
			continue
		}
		fmt.Fprintf(b, "\n%s\n", inline(t))
	}
	b.WriteString("\n## Examples\n\n")
	for _, e := range p.Examples {
		fmt.Fprintf(b, "    %s\n", e)
	}
	b.WriteString("\n## Exit status\n")
	rows(b, "code", p.Status)
	b.WriteString("\nThe others: [exit-codes](exit-codes.md).\n")
	if len(p.Flags) > 0 {
		b.WriteString("\n## Flags\n")
		rows(b, "flag", p.Flags)
	}
	b.WriteString("\nThose of every command: [gtoffset](README.md#flags-of-every-command).\n")
	return b.Bytes()
}

// index is the page of the program.
func index(pages []cmd.Page, topics []cmd.Topic) []byte {
	b := &bytes.Buffer{}
	p := pages[0]
	fmt.Fprintf(b, "%s# %s\n\n%s.\n\n    %s\n", madeBy, p.Command, inline(p.Short), p.Usage)
	for _, t := range p.Text {
		fmt.Fprintf(b, "\n%s\n", inline(t))
	}
	b.WriteString("\n| command | |\n|---|---|\n")
	for _, c := range pages[1:] {
		name := strings.TrimPrefix(c.Command, "gtoffset ")
		fmt.Fprintf(b, "| [%s](%s.md) | %s |\n", name, name, cell(c.Short))
	}
	b.WriteString("\nTopics:")
	for i, t := range topics {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(b, " [%s](%s.md)", t.Name, t.Name)
	}
	b.WriteString(".\n\n## Flags of every command\n")
	rows(b, "flag", p.Flags)
	return b.Bytes()
}

// topic is a page of its own.
func topic(t cmd.Topic) []byte {
	b := &bytes.Buffer{}
	title, text, _ := strings.Cut(t.Text, "\n\n")
	fmt.Fprintf(b, "%s# %s\n\n", madeBy, title)
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.Bytes()
}
