// Package output is everything that gtoffset prints: tables for people, documents for programs. A view, such as Describe, PlanView or
// Wait, holds one plain value and writes it in one of the formats; each type with a method Write is one. It asks nobody and decides
// nothing, so the same value gives the same bytes on every machine. What differs between a terminal and a pipe is in Stream, and the
// caller fills it in.
package output

import (
	"fmt"
	"io"
	"strings"
)

// Format is a value of -o that a view can be written in.
type Format string

// The formats. Wide is Table with everything that is known.
const (
	Table Format = "table"
	Wide  Format = "wide"
	JSON  Format = "json"
	YAML  Format = "yaml"
	CSV   Format = "csv"
	Prom  Format = "prom" // Prometheus' text exposition
)

// FormatError is a format that a view does not have.
type FormatError struct {
	Format Format
	Have   []Format
}

// Error names the format and those that there are.
func (e FormatError) Error() string {
	have := make([]string, len(e.Have))
	for i, f := range e.Have {
		have[i] = string(f)
	}
	return fmt.Sprintf("no output format %q here: it is one of %s", e.Format, strings.Join(have, ", "))
}

// Stream is where a view is written to, with what that very stream can show.
type Stream struct {
	W     io.Writer
	Width int  // columns of the terminal; 0: not a terminal, nothing is shortened, and names in CSV and metrics are exact
	Color bool // ANSI colours
	Gauge bool // draw where offsets lie in the log
	ASCII bool // the locale has no UTF-8: the gauge and the mark of a shortened text in ASCII
}

// Plain is a stream without colour, gauge or limit of width, as a pipe or a file is.
func Plain(w io.Writer) Stream { return Stream{W: w} }

// ColorMode is a value of --color.
type ColorMode string

// The colour modes. ColorAuto colours a terminal, unless NO_COLOR is set or TERM is dumb.
const (
	ColorAuto   ColorMode = "auto"
	ColorAlways ColorMode = "always"
	ColorNever  ColorMode = "never"
)

// Open decides what w can show, a terminal of that many columns, or none if they are 0: by --color and the environment. Each stream
// is opened by itself, as stdout and stderr often lead to different places.
func Open(w io.Writer, width int, mode ColorMode, getenv func(string) string) Stream {
	terminal, dumb := width > 0, getenv("TERM") == "dumb"
	s := Stream{W: w, Width: width, Gauge: terminal && !dumb, ASCII: !utf8Locale(getenv)}
	switch mode {
	case ColorAlways:
		s.Color = true
	case ColorNever:
	default:
		s.Color = terminal && !dumb && getenv("NO_COLOR") == ""
	}
	return s
}

// utf8Locale follows the order in which a C library looks. Without any of them (Windows, containers) UTF-8 is assumed.
func utf8Locale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}

// printer writes lines and remembers the first error.
type printer struct {
	w     io.Writer
	width int // of the terminal that prose is folded to; 0: none
	err   error
}

// prose writes a line of text that a terminal would break anywhere, broken between its words. What is to be copied is no prose.
func (p *printer) prose(hang, format string, args ...any) {
	p.printf("%s\n", fold(fmt.Sprintf(format, args...), p.width, hang))
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// inThree writes what has a text for people and a document: as table, json or yaml.
func inThree(s Stream, f Format, text func(Stream) error, document func(io.Writer) error) error {
	switch f {
	case Table, "":
		return text(s)
	case JSON:
		return document(s.W)
	case YAML:
		return asYAML(s.W, document)
	}
	return FormatError{f, []Format{Table, JSON, YAML}}
}
