package output

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"gtoffset/kafkaops/offsets"
)

// ReplaySchema is the schema of a replay's summary.
const ReplaySchema = "gtoffset.replay/1"

// Replay is what came of reading records again.
type Replay struct {
	Origin  offsets.Origin
	Group   string // "" if none played a part
	SaveAs  string // group under which the progress is kept, "" if that is Group, or if it is not kept
	Saves   bool   // each batch that was accepted was saved
	Sink    string // "stdout", "command" or "topic"
	Target  string // the command's name, or the topic; "" for stdout
	Started time.Time
	Took    time.Duration
	Batches int64 // accepted
	Saved   int64 // of them
	Rows    []ReplayRow
	Exit    int    // code with which the program ends
	Cause   string // why in one word, as of an Error; "" if there is no error
	Why     string // the error, "" if there is none
	DryRun  bool   // nothing was read: it is what would be
}

// ReplayRow is one partition of a replay.
type ReplayRow struct {
	offsets.Stretch
	To      int64 // the next to be read: what is before it was written, or accepted; None if nothing was to be read
	Saved   int64 // how far was saved; None where nothing was
	Records int64 // that were written, or accepted
	Bytes   int64 // of their keys, values and headers
}

// done reports whether everything was read that was to be read.
func (r ReplayRow) done() bool { return r.Verdict != offsets.Refuse && !r.Left && r.To == r.Until }

// sum adds up what was written or accepted.
func (v Replay) sum() (records, bytes int64) {
	for _, r := range v.Rows {
		records += r.Records
		bytes += r.Bytes
	}
	return records, bytes
}

// allRows is how many partitions are listed one by one; of more, only those of which there is something to say.
const allRows = 50

// Write writes the view as table or json.
func (v Replay) Write(s Stream, f Format) error {
	switch f {
	case Table, "":
		return v.table(s)
	case JSON:
		var b bytes.Buffer
		if err := v.json(&b); err != nil {
			return err
		}
		_, err := s.W.Write(b.Bytes())
		return err
	}
	return FormatError{f, []Format{Table, JSON}}
}

func (v Replay) table(s Stream) error {
	p := &printer{w: s.W, width: s.Width}
	grid := Grid{Columns: []Column{
		{Name: "TOPIC"},
		{Name: "PARTITION", Right: true},
		{Name: "FROM", Right: true},
		{Name: "UNTIL", Right: true},
	}}
	if !v.DryRun { // which comes to nowhere
		grid.Columns = append(grid.Columns, Column{Name: "TO", Right: true}, Column{Name: "RECORDS", Right: true}, Column{Name: "BYTES", Right: true})
	}
	grid.Columns = append(grid.Columns, Column{Name: "STATE"})
	grid.toned = len(grid.Columns) - 1
	hidden := 0
	for _, r := range v.Rows {
		if len(v.Rows) > allRows && r.done() && r.Reason == "" {
			hidden++
			continue
		}
		words, t := r.words()
		if v.Saves && r.Records > 0 && r.Saved != r.To {
			if words, t = words+"; the last batch is not saved", toneRed; r.Saved != offsets.None {
				words += fmt.Sprintf(", only up to %d", r.Saved)
			}
		}
		if v.DryRun && r.Verdict == offsets.Write {
			if words, t = "up to "+offsets.Plural(int(r.Distance()), "record"), toneNone; r.Reason != "" {
				words += "; " + r.Reason
			}
		}
		row := []string{Clean(r.Topic), strconv.Itoa(int(r.Partition)), orDash(r.From), orDash(r.Until)}
		if !v.DryRun {
			row = append(row, orDash(r.To), strconv.FormatInt(r.Records, 10), strconv.FormatInt(r.Bytes, 10))
		}
		grid.Rows = append(grid.Rows, append(row, cleanText(words)))
		grid.tones = append(grid.tones, t)
	}
	if len(grid.Rows) > 0 {
		grid.fit(s, 1, false)
		p.err = grid.draw(s)
	}
	if hidden > 0 {
		p.printf("%s %s read to the end.\n", offsets.Plural(hidden, "more partition"), verb(hidden, "was", "were"))
	}
	if v.DryRun {
		return p.err
	}
	records, size := v.sum()
	line := fmt.Sprintf("%s (%s) in %s", offsets.Plural(int(records), "record"), Bytes(size), offsets.Span(v.Took.Round(time.Millisecond)))
	if v.Sink != "stdout" {
		line += fmt.Sprintf(", %s %s accepted", offsets.Thousands(v.Batches), verb(int(v.Batches), "batch", "batches"))
		switch {
		case v.Saves && v.Saved == v.Batches:
			line += " and saved"
		case v.Saves:
			line += ", " + offsets.Thousands(v.Saved) + " saved"
		}
	}
	p.prose("  ", "%s", line)
	return p.err
}

// words says what there is to say of a partition.
func (r ReplayRow) words() (string, tone) {
	switch {
	case r.Verdict == offsets.Refuse:
		return r.Reason, toneRed
	case r.Left:
		return "left out: " + r.Reason, toneYellow
	case r.done() && r.Reason == "":
		return "done", toneDim
	case r.done():
		return r.Reason, toneDim
	}
	words := fmt.Sprintf("stopped, %s to go", offsets.Thousands(r.Until-r.To))
	if r.Reason != "" {
		words += "; " + r.Reason
	}
	return words, toneYellow
}

func orDash(n int64) string {
	if n == offsets.None {
		return "-"
	}
	return strconv.FormatInt(n, 10)
}

func (v Replay) json(b *bytes.Buffer) error {
	e := &encoder{w: b}
	records, size := v.sum()
	e.open('{')
	e.string("schema", ReplaySchema)
	e.time("started", v.Started)
	e.int("took_ms", v.Took.Milliseconds())
	e.origin(v.Origin)
	if v.Group == "" {
		e.null("group")
	} else {
		e.string("group", v.Group)
	}
	e.text("save_as", v.SaveAs)
	e.bool("saves", v.Saves)
	e.string("sink", v.Sink)
	e.text("target", v.Target)
	e.int("batches", v.Batches)
	e.int("batches_saved", v.Saved)
	e.int("records", records)
	e.int("bytes", size)
	e.int("exit", int64(v.Exit))
	e.text("cause", v.Cause)
	e.text("why", v.Why)
	e.list("partitions")
	for _, r := range v.Rows {
		e.open('{')
		e.string("topic", r.Topic)
		e.text("topic_id", r.TopicID)
		e.int("partition", int64(r.Partition))
		e.number("from", r.From)
		e.number("until", r.Until)
		e.number("to", r.To)
		e.number("saved", r.Saved)
		e.int("records", r.Records)
		e.int("bytes", r.Bytes)
		e.int("expired", r.Expired)
		e.bool("done", r.done())
		e.text("reason", r.Reason)
		e.close('}')
		e.flush()
	}
	e.close(']')
	e.close('}')
	return e.end()
}

// Bytes writes a size for people: 812 B, 1.2 MB.
func Bytes(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " B"
	}
	size, unit := float64(n), ""
	for _, unit = range []string{"kB", "MB", "GB", "TB", "PB"} {
		if size /= 1000; size < 999.5 {
			break
		}
	}
	if size < 9.95 {
		return strconv.FormatFloat(size, 'f', 1, 64) + " " + unit
	}
	return strconv.FormatFloat(size, 'f', 0, 64) + " " + unit
}
