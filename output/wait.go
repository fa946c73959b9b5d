package output

import (
	"io"
	"time"

	"gtoffset/kafkaops/offsets"
)

// WaitSchema is the schema of what a wait ends with.
const WaitSchema = "gtoffset.wait/1"

// Wait is how a wait ended: at once, later, or not within its time.
type Wait struct {
	Origin offsets.Origin
	Waited time.Duration
	Open   []string // what does not hold yet, in words; empty when the wait is over
	Notes  []string // what was waited for does not tell
}

// Write writes the view as table (a line), json or yaml.
func (v Wait) Write(s Stream, f Format) error { return inThree(s, f, v.text, v.json) }

func (v Wait) text(s Stream) error {
	if len(v.Open) > 0 {
		return nil // the error says it
	}
	p := &printer{w: s.W}
	p.printf("met after %s\n", offsets.Span(v.Waited.Round(time.Second)))
	return p.err
}

func (v Wait) json(w io.Writer) error { return writeJSON(w, v.document()) }

type waitDocument struct {
	Schema string   `json:"schema"`
	Met    bool     `json:"met"`
	Waited int64    `json:"waited_ms"`
	Open   []string `json:"open"`
	Notes  []string `json:"notes"`
}

func (v Wait) document() waitDocument {
	return waitDocument{WaitSchema, len(v.Open) == 0, v.Waited.Milliseconds(), append([]string{}, v.Open...), append([]string{}, v.Notes...)}
}
