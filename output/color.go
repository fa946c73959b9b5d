package output

import (
	"strings"
	"sync"

	"github.com/fatih/color"
)

// tone is what a cell's colour says. Words say the same; colour only helps to find them.
type tone uint8

const (
	toneNone tone = iota
	toneRed
	toneYellow
	toneDim
	toneBold
)

// paints holds what to write before and after a coloured cell, for each tone.
type paints [toneBold + 1]struct{ on, off string }

// newPaints is what a stream with or without colour takes.
func newPaints(on bool) *paints {
	if !on {
		return &paints{}
	}
	return colored()
}

// colored asks the library once. Its globals, which look at stdout alone, have no say.
var colored = sync.OnceValue(func() *paints {
	var p paints
	for t, c := range map[tone]*color.Color{
		toneRed:    color.New(color.FgRed),
		toneYellow: color.New(color.FgYellow),
		toneDim:    color.New(color.Faint),
		toneBold:   color.New(color.Bold),
	} {
		c.EnableColor()
		p[t].on, p[t].off, _ = strings.Cut(c.Sprint("|"), "|")
	}
	return &p
})

// append is paint at the end of b.
func (p *paints) append(b []byte, t tone, s string) []byte {
	if s == "" {
		return b
	}
	return append(append(append(b, p[t].on...), s...), p[t].off...)
}

func (p *paints) paint(t tone, s string) string {
	if s == "" {
		return s
	}
	return p[t].on + s + p[t].off
}
