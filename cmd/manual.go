package cmd

import (
	"strings"

	"github.com/spf13/cobra"
)

// Page is one page of the manual: what the help of a command says, in parts.
type Page struct {
	Command  string // "gtoffset clamp"; "gtoffset" is the program
	Short    string
	Usage    string
	Text     []string // paragraphs
	Examples []string // command lines
	Status   []Item   // exit codes; empty for the program
	Flags    []Item   // the command's own; of the program, those that every command has
}

// Topic is what `gtoffset help NAME` prints, beginning with its title.
type Topic struct{ Name, Text string }

// Manual is the whole help, for what is made of it: the page of the program, those of its commands in the order in which it lists
// them, and the topics.
func Manual() ([]Page, []Topic) {
	root := newRoot(&global{})
	pages := []Page{page(root)}
	pages[0].Flags = flagItems(root, root.PersistentFlags())
	for _, c := range root.Commands() {
		p := page(c)
		p.Flags = flagItems(c, c.LocalNonPersistentFlags())
		pages = append(pages, p)
	}
	var topics []Topic
	for _, t := range helpTopics() {
		topics = append(topics, Topic{t.name, t.text()})
	}
	return pages, topics
}

func page(c *cobra.Command) Page {
	p := Page{Command: c.CommandPath(), Short: c.Short, Usage: c.UseLine(), Status: statusItems(c)}
	for paragraph := range strings.SplitSeq(c.Long, "\n\n") {
		p.Text = append(p.Text, strings.Join(strings.Fields(paragraph), " "))
	}
	for line := range strings.Lines(c.Example) {
		p.Examples = append(p.Examples, strings.TrimSpace(line))
	}
	return p
}
