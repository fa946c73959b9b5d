package main

import (
	"bytes"
	"fmt"
	"strings"

	"gtoffset/cmd"
)

// roff is a manual page being written.
type roff struct{ bytes.Buffer }

func newRoff(p cmd.Page) *roff {
	r := &roff{}
	name := strings.ReplaceAll(p.Command, " ", "-")
	fmt.Fprintf(r, ".\\\" made by scripts/gendocs\n.TH %s 1 \"\" \"gtoffset\" \"gtoffset\"\n", strings.ToUpper(literal(name)))
	r.section("NAME")
	fmt.Fprintf(r, "%s \\- %s\n", literal(name), prose(p.Short))
	r.section("SYNOPSIS")
	fmt.Fprintf(r, ".B %s\n", literal(p.Usage))
	return r
}

func (r *roff) section(name string) { fmt.Fprintf(r, ".SH %s\n", name) }

// paragraphs writes text; a paragraph that begins with a heading and a colon becomes a section.
func (r *roff) paragraphs(text []string) {
	r.section("DESCRIPTION")
	for i, t := range text {
		if dangers, ok := strings.CutPrefix(t, "Dangers: "); ok {
			r.section("DANGERS")
			t = strings.ToUpper(dangers[:1]) + dangers[1:]
		} else if i > 0 {
			r.WriteString(".PP\n")
		}
		r.WriteString(prose(t) + "\n")
	}
}

func (r *roff) items(items []cmd.Item) {
	for _, i := range items {
		fmt.Fprintf(r, ".TP\n.B %s\n%s\n", literal(strings.TrimSpace(i.Name)), prose(i.Text))
	}
}

func (r *roff) verbatim(text string) {
	r.WriteString(".PP\n.RS 4\n.nf\n")
	for line := range strings.Lines(text) {
		r.WriteString(guarded(literal(strings.TrimSuffix(line, "\n"))) + "\n")
	}
	r.WriteString(".fi\n.RE\n")
}

// literal keeps what is to be typed as it is.
func literal(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\`", "~", `\(ti`, "^", `\(ha`).Replace(s)
}

// prose is a line of text, in which flags are to be typed.
func prose(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		if strings.HasPrefix(strings.TrimLeft(w, `('"`), "-") {
			words[i] = literal(w)
		} else {
			words[i] = strings.ReplaceAll(w, `\`, `\e`)
		}
	}
	return guarded(strings.Join(words, " "))
}

// guarded keeps a line from being taken for a request.
func guarded(s string) string {
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") || strings.HasPrefix(s, `\(aq`) {
		return `\&` + s
	}
	return s
}

// commandMan is the page of a command.
func commandMan(p cmd.Page) []byte {
	r := newRoff(p)
	r.paragraphs(p.Text)
	if len(p.Flags) > 0 {
		r.section("OPTIONS")
		r.items(p.Flags)
		r.WriteString(".PP\nThose that every command has are in\n.BR gtoffset (1).\n")
	}
	r.section("EXAMPLES")
	r.verbatim(strings.Join(p.Examples, "\n"))
	r.section("EXIT STATUS")
	r.items(p.Status)
	r.WriteString(".PP\nThe others are in\n.BR gtoffset (1).\n")
	r.section("SEE ALSO")
	r.WriteString(".BR gtoffset (1)\n")
	return r.Bytes()
}

// programMan is the page of the program: its commands, the flags of all, and the topics of its help.
func programMan(pages []cmd.Page, topics []cmd.Topic) []byte {
	p := pages[0]
	r := newRoff(p)
	r.paragraphs(p.Text)
	r.section("COMMANDS")
	var also []string
	for _, c := range pages[1:] {
		name := strings.ReplaceAll(c.Command, " ", "-")
		fmt.Fprintf(r, ".TP\n.BR %s (1)\n%s\n", literal(name), prose(c.Short))
		also = append(also, literal(name))
	}
	r.section("OPTIONS")
	r.items(p.Flags)
	for _, t := range topics {
		title, text, _ := strings.Cut(t.Text, "\n\n")
		r.section(strings.ToUpper(title))
		r.verbatim(text)
	}
	r.section("EXAMPLES")
	r.verbatim(strings.Join(p.Examples, "\n"))
	r.section("SEE ALSO")
	for i, name := range also {
		comma := ","
		if i == len(also)-1 {
			comma = ""
		}
		fmt.Fprintf(r, ".BR %s (1)%s\n", name, comma)
	}
	return r.Bytes()
}
