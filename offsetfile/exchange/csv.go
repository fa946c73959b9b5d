package exchange

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gtoffset/kafkaops/offsets"
)

// CSV is our own, with a header line.
const CSV Format = "csv"

func ourCSV() format {
	return format{
		name: CSV, words: "CSV of gtoffset", holds: holds{groups: true, none: true, metadata: true, epochs: true},
		text: (*reading).readCSV, write: Document.writeCSV,
	}
}

// header is the first line of our own CSV.
var header = []string{"group", "topic", "partition", "offset", "epoch", "metadata"}

// cell is one field of CSV. In quotes, a - is a - and outer blanks count.
type cell struct {
	text   string
	quoted bool
}

// csvScanner takes CSV apart. encoding/csv turns CRLF inside of quotes into LF, and does not tell "-" from -.
type csvScanner struct {
	text  string
	line  int // of the record that was read last
	next  int // line at which the rest begins
	cr    bool
	cells []cell
}

func newCSVScanner(text string) *csvScanner {
	return &csvScanner{text: text, next: 1, cr: !strings.Contains(text, "\n")}
}

// scan reads the next record that is not blank. why says what is wrong with it; then the cells are not to be used.
func (s *csvScanner) scan() (ok bool, why string) {
	for s.text != "" {
		s.line = s.next
		s.cells = s.cells[:0]
		why = s.record()
		if why == "" && len(s.cells) == 1 && !s.cells[0].quoted && strings.TrimSpace(s.cells[0].text) == "" {
			continue
		}
		return true, why
	}
	return false, ""
}

// record reads one record and its line end.
func (s *csvScanner) record() (why string) {
	for {
		var c cell
		if strings.HasPrefix(s.text, `"`) {
			c.quoted = true
			if c.text, why = s.quoted(); why != "" {
				s.skip()
				return why
			}
		} else {
			n := strings.IndexAny(s.text, ",\n\r")
			if n < 0 {
				n = len(s.text)
			}
			c.text, s.text = s.text[:n], s.text[n:]
			if strings.Contains(c.text, `"`) && why == "" {
				why = "a quote inside of a field that does not begin with one"
			}
		}
		s.cells = append(s.cells, c)
		switch {
		case strings.HasPrefix(s.text, ","):
			s.text = s.text[1:]
		case s.lineEnd():
			return why
		default:
			at := s.text
			s.skip()
			if at[0] == '\r' {
				return "a carriage return inside of the line"
			}
			return "something follows a closing quote"
		}
	}
}

// quoted reads a field in quotes.
func (s *csvScanner) quoted() (text, why string) {
	rest := s.text[1:]
	n := 0
	doubled := false
	for {
		i := strings.IndexByte(rest[n:], '"')
		if i < 0 {
			return "", "a quote is opened and never closed"
		}
		n += i
		if !strings.HasPrefix(rest[n+1:], `"`) {
			break
		}
		doubled = true
		n += 2
	}
	text, s.text = rest[:n], rest[n+1:]
	if s.cr {
		s.next += strings.Count(text, "\r")
	} else {
		s.next += strings.Count(text, "\n")
	}
	if doubled {
		text = strings.ReplaceAll(text, `""`, `"`)
	}
	return text, ""
}

// lineEnd takes the end of a line, or of the text.
func (s *csvScanner) lineEnd() bool {
	switch {
	case s.text == "" || s.text == "\r":
		s.text = ""
	case s.text[0] == '\n':
		s.text = s.text[1:]
	case strings.HasPrefix(s.text, "\r\n"):
		s.text = s.text[2:]
	case s.cr && s.text[0] == '\r':
		s.text = s.text[1:]
	default:
		return false
	}
	s.next++
	return true
}

// skip goes to the next line after something that is wrong.
func (s *csvScanner) skip() {
	end := "\n"
	if s.cr {
		end = "\r"
	}
	_, s.text, _ = strings.Cut(s.text, end)
	s.next++
}

// recogniseCSV tells our own CSV from Kafka's: by the header, or by the number of columns that most lines have.
func recogniseCSV(text string) (Format, error) {
	s := newCSVScanner(text)
	var by [7]int
	first, broken := 0, ""
	for {
		ok, why := s.scan()
		if !ok {
			break
		}
		if why != "" {
			broken = cmp.Or(broken, fmt.Sprintf("line %d: %s", s.line, why))
			continue
		}
		n := len(s.cells)
		first = cmp.Or(first, n)
		if n > 6 {
			continue
		}
		if by == [7]int{} && isHeader(s.cells) {
			if n == len(header) {
				return CSV, nil
			}
			return KafkaCSV, nil
		}
		by[n]++
	}
	switch {
	case by[3]+by[4] > 0 && by[3]+by[4] >= by[6]:
		return KafkaCSV, nil
	case by[6] > 0:
		return "", &UnknownError{fmt.Sprintf("CSV of six columns, but the first line is not %s", strings.Join(header, ","))}
	case first == 0:
		return "", &UnknownError{"CSV, but no line of it can be read; " + broken}
	}
	return "", &UnknownError{fmt.Sprintf("CSV, but of %d columns: expected are 3 (topic, partition, offset), 4 (group in front) or the 6 of an export", first)}
}

// isHeader reports whether a record consists of names of columns.
func isHeader(cells []cell) bool {
	return len(cells) >= 3 && !slices.ContainsFunc(cells, func(c cell) bool { return !slices.Contains(header, column(c)) })
}

func column(c cell) string { return strings.ToLower(strings.TrimSpace(c.text)) }

// sameHeader reports whether a header is as wanted, and if not, what it is.
func sameHeader(cells []cell, want []string) (string, bool) {
	found := make([]string, len(cells))
	for i, c := range cells {
		found[i] = column(c)
	}
	return strings.Join(found, ","), slices.Equal(found, want)
}

func (r *reading) readCSV() error {
	s := newCSVScanner(r.text)
	first := true
	for {
		ok, why := s.scan()
		switch {
		case !ok:
			return nil
		case why != "":
			r.bad(s.line, "", "%s", why)
		case first:
			if found, same := sameHeader(s.cells, header); !same {
				r.bad(s.line, "", "the header is %s, want %s", clip(found), strings.Join(header, ","))
				return nil
			}
		case len(s.cells) != len(header):
			r.bad(s.line, "", "%d columns, want %d", len(s.cells), len(header))
		default:
			r.csvRow(s.line, s.cells[0], s.cells[1], s.cells[2], s.cells[3], s.cells[4], s.cells[5])
		}
		first = false
	}
}

// none reports whether a cell of ours says that there is nothing.
func (c cell) none() bool { return !c.quoted && (c.text == "" || c.text == "-") }

func (r *reading) csvRow(line int, group, topic, partition, offset, epoch, metadata cell) {
	row := Row{Given: offsets.Given{Value: offsets.NoValue}, Written: offsets.None}
	good := true
	check := func(name, why string) {
		if why != "" {
			good = false
			r.bad(line, "", "%s %s", name, why)
		}
	}
	row.Group, row.Topic = r.cellName(group, "group", check), r.cellName(topic, "topic", check)
	var why string
	row.Partition, why = partitionIn(strings.TrimSpace(partition.text))
	check("partition", why)
	if !offset.none() {
		row.Offset, why = offsetIn(strings.TrimSpace(offset.text))
		check("offset", why)
	}
	if !epoch.none() {
		row.Epoch, why = partitionIn(strings.TrimSpace(epoch.text))
		check("epoch", why)
	}
	if !metadata.none() {
		row.Metadata = r.name(metadata.text)
	}
	if row.Offset == offsets.None {
		row.Value = offsets.NoValue
	}
	if good {
		r.add(line, nowhere, row)
	}
}

// cellName reads a name; without quotes it has no outer blanks.
func (r *reading) cellName(c cell, what string, check func(name, why string)) string {
	if !c.quoted && strings.TrimSpace(c.text) != c.text {
		check(what, clip(c.text)+" has blanks around it; take them off, or put it in quotes if they belong to it")
	}
	return r.name(c.text)
}

func (d Document) writeCSV(w io.Writer, _ WriteOptions) error {
	out := &csvWriter{w: w, format: CSV}
	for _, name := range header {
		out.name(name, false)
	}
	out.end()
	for i := range d.Rows {
		r := &d.Rows[i]
		out.name(r.Group, needsQuotes(r.Group))
		out.name(r.Topic, needsQuotes(r.Topic))
		out.number(int64(r.Partition))
		if r.Offset == offsets.None {
			out.name("-", false)
			out.name("-", false)
			out.name("-", false)
		} else {
			out.number(r.Offset)
			if r.Epoch == offsets.None {
				out.name("-", false)
			} else {
				out.number(int64(r.Epoch))
			}
			out.name(r.Metadata, r.Metadata == "-" || needsQuotes(r.Metadata))
		}
		out.end()
	}
	return out.flush()
}

// needsQuotes follows RFC 4180, and quotes what a reader might trim.
func needsQuotes(s string) bool {
	return s != "" && (strings.ContainsAny(s, ",\"\r\n") || strings.TrimSpace(s) != s || strings.HasPrefix(s, "\ufeff"))
}

// csvWriter writes records with LF.
type csvWriter struct {
	w      io.Writer
	format Format
	b      []byte
	fresh  bool // a record has begun
	err    error
}

func (c *csvWriter) comma() {
	if c.fresh {
		c.b = append(c.b, ',')
	}
	c.fresh = true
}

func (c *csvWriter) name(s string, quotes bool) {
	if !utf8.ValidString(s) && c.err == nil {
		c.err = &CannotHoldError{c.format, fmt.Sprintf("%q, which is not UTF-8", s)}
	}
	c.comma()
	if !quotes {
		c.b = append(c.b, s...)
		return
	}
	c.b = append(c.b, '"')
	c.b = append(c.b, strings.ReplaceAll(s, `"`, `""`)...)
	c.b = append(c.b, '"')
}

func (c *csvWriter) number(n int64) {
	c.comma()
	c.b = strconv.AppendInt(c.b, n, 10)
}

func (c *csvWriter) end() {
	c.b = append(c.b, '\n')
	c.fresh = false
}

// flush writes everything: a document that cannot be held leaves no half of it.
func (c *csvWriter) flush() error {
	if c.err != nil {
		return c.err
	}
	_, err := c.w.Write(c.b)
	return err
}
