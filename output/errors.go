package output

import (
	"strings"
)

// ErrorSchema is the schema of an error on stderr when documents are asked for.
const ErrorSchema = "gtoffset.error/1"

// Error is what stderr says when a command does not end well.
type Error struct {
	Code    int      // exit code
	Codes   []int    // all codes that apply, Code among them
	Cause   string   // why, in one word: one of a closed list
	Causes  []string // all that apply, Cause among them
	Lines   []string // the text; a line end within one of them belongs to a name
	Hint    string   // a next step that can be typed, "" for none
	Details []ErrorDetail
}

// ErrorDetail is one place that the error concerns. Partition is offsets.None when it is about a whole group or topic.
type ErrorDetail struct {
	Group     string
	Topic     string
	Partition int32
	Reason    string
}

// Write writes the error for people, or with JSON and YAML as the document gtoffset.error/1 (one line of JSON in both cases).
// All lines but the first are indented; everything in them is cleaned, and a name cannot look like a line of ours.
func (e Error) Write(s Stream, f Format) error {
	if f == JSON || f == YAML {
		return writeJSON(s.W, e.document())
	}
	p := &printer{w: s.W}
	paint := newPaints(s.Color)
	p.printf("gtoffset: %s %s\n", paint.paint(toneRed, "error:"), indented(e.Lines))
	if e.Hint != "" {
		p.printf("gtoffset: hint: %s\n", indented(strings.Split(e.Hint, "\n"))) // names in it are quoted for a shell
	}
	return p.err
}

// indented cleans lines, and indents all but the first.
func indented(lines []string) string {
	cleaned := make([]string, len(lines))
	for i, line := range lines {
		cleaned[i] = cleanText(line)
	}
	return strings.Join(cleaned, "\n  ")
}

type errorDocument struct {
	Schema  string                `json:"schema"`
	Code    int                   `json:"code"`
	Codes   []int                 `json:"codes"`
	Cause   string                `json:"cause"`
	Causes  []string              `json:"causes"`
	Error   string                `json:"error"`
	Hint    *string               `json:"hint"`
	Details []errorDetailDocument `json:"details"`
}

type errorDetailDocument struct {
	Group      *string `json:"group"`
	GroupExact string  `json:"group_base64,omitempty"`
	Topic      *string `json:"topic"`
	TopicExact string  `json:"topic_base64,omitempty"`
	Partition  *int32  `json:"partition"`
	Reason     string  `json:"reason"`
}

func (e Error) document() errorDocument {
	d := errorDocument{Schema: ErrorSchema, Code: e.Code, Codes: e.Codes, Cause: e.Cause, Causes: e.Causes, Error: strings.Join(e.Lines, "\n"), Hint: textOrNull(e.Hint), Details: []errorDetailDocument{}}
	if len(d.Codes) == 0 {
		d.Codes = []int{e.Code}
	}
	if len(d.Causes) == 0 {
		d.Causes = []string{e.Cause}
	}
	for _, x := range e.Details {
		detail := errorDetailDocument{Group: textOrNull(x.Group), GroupExact: exact(x.Group), Topic: textOrNull(x.Topic), TopicExact: exact(x.Topic), Reason: x.Reason}
		if x.Topic != "" {
			detail.Partition = numberOrNull(x.Partition)
		}
		d.Details = append(d.Details, detail)
	}
	return d
}
