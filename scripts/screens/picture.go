package main

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The size of a character, in the units of a picture.
const (
	charWidth  = 8
	charHeight = 18
	margin     = 14
)

// picture draws what stands on a terminal of so many columns as an SVG. What is longer than a line goes on in the next, as there.
func picture(screen string, columns int) string {
	var body strings.Builder
	style := look{}
	row := 0
	for line := range strings.Lines(strings.TrimSuffix(screen, "\n")) {
		spans := style.spans(strings.TrimSuffix(line, "\n"))
		for first := true; first || len(spans) > 0; first = false {
			var part []span
			part, spans = cut(spans, columns)
			row++
			draw(&body, part, row)
		}
	}
	width, height := columns*charWidth+2*margin, row*charHeight+2*margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13">
<style>text{fill:#d8d8d8}.bold{font-weight:bold}.dim{fill:#8a8f98}.red{fill:#ff7b72}.yellow{fill:#e3b341}</style>
<rect width="%d" height="%d" rx="8" fill="#16181d"/>
%s</svg>
`, width, height, width, height, body.String())
}

// look is how characters look, as the escapes so far say.
type look struct{ bold, dim, red, yellow bool }

// span is a text of one look.
type span struct {
	look
	text string
}

var escape = regexp.MustCompile(`\x1b\[(\d+)m`)

// spans takes a line apart at its escapes, and leaves the look with which the next one begins.
func (l *look) spans(line string) []span {
	var all []span
	add := func(text string) {
		if text != "" {
			all = append(all, span{*l, text})
		}
	}
	at := 0
	for _, m := range escape.FindAllStringSubmatchIndex(line, -1) {
		add(line[at:m[0]])
		at = m[1]
		switch line[m[2]:m[3]] {
		case "0":
			*l = look{}
		case "1":
			l.bold = true
		case "2":
			l.dim = true
		case "31":
			l.red, l.yellow = true, false
		case "33":
			l.red, l.yellow = false, true
		case "39":
			l.red, l.yellow = false, false
		}
	}
	add(line[at:])
	return all
}

// cut splits a line behind so many characters.
func cut(spans []span, columns int) (line, rest []span) {
	for i, s := range spans {
		n := utf8.RuneCountInString(s.text)
		if n <= columns {
			columns -= n
			continue
		}
		runes := []rune(s.text)
		line = append(spans[:i:i], span{s.look, string(runes[:columns])})
		return line, append([]span{{s.look, string(runes[columns:])}}, spans[i+1:]...)
	}
	return spans, nil
}

// apart finds what stands between the gaps of a line.
var apart = regexp.MustCompile(`\S+(?: \S+)*`)

// draw writes one line. What stands apart has its own place and length, so that columns stand below each other in every font.
func draw(b *strings.Builder, spans []span, row int) {
	column := 0
	for _, s := range spans {
		for _, m := range apart.FindAllStringIndex(s.text, -1) {
			before, text := utf8.RuneCountInString(s.text[:m[0]]), s.text[m[0]:m[1]]
			fmt.Fprintf(b, `<text x="%d" y="%d" textLength="%d"%s>%s</text>`+"\n",
				margin+(column+before)*charWidth, margin+row*charHeight-4, utf8.RuneCountInString(text)*charWidth, s.class(), html.EscapeString(text))
		}
		column += utf8.RuneCountInString(s.text)
	}
}

func (l look) class() string {
	var names []string
	for _, c := range []struct {
		is   bool
		name string
	}{{l.bold, "bold"}, {l.dim, "dim"}, {l.red, "red"}, {l.yellow, "yellow"}} {
		if c.is {
			names = append(names, c.name)
		}
	}
	if names == nil {
		return ""
	}
	return ` class="` + strings.Join(names, " ") + `"`
}
