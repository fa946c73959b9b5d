package exchange

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"
)

// KafkaCSV is what Kafka's own reset tool reads and prints.
const KafkaCSV Format = "kafka-csv"

func kafkaCSV() format {
	return format{
		name: KafkaCSV, words: "CSV of Kafka's reset tool", holds: holds{groups: true},
		begins: looksKafkaCSV,
		text:   (*reading).readKafkaCSV, write: Document.writeKafkaCSV,
	}
}

// The columns of Kafka's reset tool. It writes no header, and takes none.
var (
	kafkaColumns      = header[1:4]
	kafkaGroupColumns = header[:4]
)

// looksKafkaCSV tells a first line with a group that begins with a bracket from the beginning of JSON. Any other is known by its columns.
func looksKafkaCSV(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	if text[0] != '{' && text[0] != '[' {
		return false
	}
	if end := strings.IndexAny(text, "\r\n"); end >= 0 {
		text = text[:end]
	}
	if strings.Count(text, ",") != len(kafkaGroupColumns)-1 {
		return false
	}
	cells := strings.Split(text, ",")
	_, bad := partitionIn(strings.Trim(cells[2], `" `))
	return bad == "" && isNumber(strings.Trim(cells[3], `" `)) && !strings.ContainsAny(strings.Trim(cells[1], `"`), `{}[]":`)
}

// readKafkaCSV reads three columns for the one group that is given, or four. Which of them is what most lines have.
func (r *reading) readKafkaCSV() error {
	var by [5]int
	for s := newCSVScanner(r.text); ; {
		ok, why := s.scan()
		if !ok {
			break
		}
		if n := len(s.cells); why == "" && n < len(by) {
			by[n]++
		}
	}
	columns := kafkaColumns
	group := ""
	if by[4] > by[3] {
		columns = kafkaGroupColumns
	} else {
		var err error
		if group, err = r.theGroup(); err != nil {
			return err
		}
	}
	first := true
	for s := newCSVScanner(r.text); ; first = false {
		ok, why := s.scan()
		switch {
		case !ok:
			return nil
		case why != "":
			r.bad(s.line, "", "%s", why)
		case first && isHeader(s.cells):
			if found, same := sameHeader(s.cells, columns); !same {
				r.bad(s.line, "", "the header is %s, want %s", clip(found), strings.Join(columns, ","))
			}
		case len(s.cells) != len(columns):
			r.bad(s.line, "", "%d columns, want %d (%s)", len(s.cells), len(columns), strings.Join(columns, ","))
		default:
			cells := s.cells
			if group != "" {
				cells = append([]cell{{group, true}}, cells...)
			}
			r.kafkaRow(s.line, cells)
		}
	}
}

func (r *reading) kafkaRow(line int, cells []cell) {
	if slices.ContainsFunc(cells[3:], cell.none) { // ours has that, Kafka's not
		r.bad(line, "", "offset is missing")
		return
	}
	r.csvRow(line, cells[0], cells[1], cells[2], cells[3], cell{}, cell{})
}

// writeKafkaCSV writes what kafka-consumer-groups --from-file takes.
func (d Document) writeKafkaCSV(w io.Writer, o WriteOptions) error {
	groups := o.GroupColumn || len(d.Groups) != 1
	out := &csvWriter{w: w, format: KafkaCSV}
	for r := range d.held {
		if groups {
			out.kafkaName(r.Group)
		}
		out.kafkaName(r.Topic)
		out.number(int64(r.Partition))
		out.number(r.Offset)
		out.end()
	}
	if len(out.b) == 0 && out.err == nil {
		out.err = &CannotHoldError{KafkaCSV, "nothing: no partition has an offset, and an empty file says nothing"}
	}
	return out.flush()
}

// kafkaName quotes as the tool itself does, so that its own export and ours are the same: more than 24 UTF-16 units, or a
// character below "-". It reads line by line, and so there is no line feed in a name.
func (c *csvWriter) kafkaName(s string) {
	if strings.ContainsAny(s, "\n\r") && c.err == nil {
		c.err = &CannotHoldError{KafkaCSV, fmt.Sprintf("%q: Kafka's tool reads line by line", s)}
	}
	below := strings.IndexFunc(s, func(r rune) bool { return r < '-' }) >= 0
	long := len(s) > 24 && len(utf16.Encode([]rune(s))) > 24
	c.name(s, long || below || needsQuotes(s))
}
