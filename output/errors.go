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
	Text    string
	Hint    string // a next step that can be typed, "" for none
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
// A text of several lines keeps them, indented; everything in it is cleaned.
func (e Error) Write(s Stream, f Format) error {
	if f == JSON || f == YAML {
		return writeJSON(s.W, e.document())
	}
	p := &printer{w: s.W}
	paint := newPaints(s.Color)
	p.printf("gtoffset: %s %s\n", paint.paint(toneRed, "error:"), lines(e.Text))
	if e.Hint != "" {
		p.printf("gtoffset: hint: %s\n", lines(e.Hint))
	}
	return p.err
}

// lines cleans each line of a text of our own, in which names are quoted, and indents all but the first.
func lines(text string) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range all {
		all[i] = cleanText(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "  "))
	}
	return strings.Join(all, "\n  ")
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
	d := errorDocument{Schema: ErrorSchema, Code: e.Code, Codes: e.Codes, Cause: e.Cause, Causes: e.Causes, Error: e.Text, Hint: textOrNull(e.Hint), Details: []errorDetailDocument{}}
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
