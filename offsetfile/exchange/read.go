package exchange

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// Options is what a document may leave open.
type Options struct {
	As    Format // "" recognises the format by its content
	Take  Take   // for Ranges
	Group string // for formats that name no group
	Topic string // for a gtoffset file that names no topic
}

// ReadFrom reads a document, which is all of r. The error is ErrEmpty, ErrTooLarge (more than MaxSize), an *EncodingError, an
// *UnknownError, an *AmbiguousError or a *MissingError (both are decided by Options), a *MalformedError with everything that is wrong, an
// *InternalError, or what r said. With an error nothing is returned.
func ReadFrom(r io.Reader, o Options) (Document, error) {
	text, err := readAll(r)
	switch {
	case errors.Is(err, ErrTooLarge):
		return Document{}, err
	case err != nil:
		return Document{}, fmt.Errorf("read document: %w", err)
	}
	return read(text, o)
}

func read(text string, o Options) (Document, error) {
	text, err := decode(text)
	if err != nil {
		return Document{}, err
	}
	r := &reading{Options: o, text: text, format: o.As, names: map[string]string{}, groups: map[string]offsets.GroupType{}, damaged: map[string][]offsets.Remains{}}
	r.doc.Kind = Export
	as, take := o.As.as(), r.readText
	if o.As == "" && begun(text) == "" && looksTree(text) || as.tree != nil && as.text == nil {
		take = r.readTree
	}
	if err := take(); err != nil {
		return Document{}, err
	}
	return r.finish()
}

// looksTree reports whether a text begins as JSON does.
func looksTree(text string) bool {
	first := strings.TrimLeft(text, " \t\r\n")
	return first[0] == '{' || first[0] == '['
}

// decode returns the text without a byte-order mark, or says why it is none.
func decode(text string) (string, error) {
	has := func(s string) bool { return strings.HasPrefix(text, s) }
	nul := func(pattern string) bool { // where there are NUL bytes, of the first ones
		if len(text) < len(pattern) {
			return false
		}
		for i := range len(pattern) {
			if (text[i] == 0) != (pattern[i] == '0') {
				return false
			}
		}
		return true
	}
	switch {
	case has("\xff\xfe\x00\x00"), nul("x000"):
		return "", &EncodingError{"UTF-32 (little-endian)"}
	case has("\x00\x00\xfe\xff"), nul("000x"):
		return "", &EncodingError{"UTF-32 (big-endian)"}
	case has("\xff\xfe"), nul("x0x0"):
		return "", &EncodingError{"UTF-16 (little-endian)"}
	case has("\xfe\xff"), nul("0x0x"):
		return "", &EncodingError{"UTF-16 (big-endian)"}
	case has("\x00"):
		return "", &UnknownError{"NUL bytes: the file is damaged, probably by a crash before sync"}
	case has("\x1f\x8b"):
		return "", &EncodingError{"compressed by gzip"}
	case has("PK\x03\x04"):
		return "", &EncodingError{"a zip archive, as spreadsheets and office programs save"}
	}
	text = strings.TrimPrefix(text, "\ufeff")
	switch {
	case strings.TrimSpace(text) == "":
		return "", ErrEmpty
	case !utf8.ValidString(text):
		return "", &EncodingError{}
	}
	return text, nil
}

// reading is one Read under way.
type reading struct {
	Options
	format  Format
	text    string
	doc     Document
	rows    []found
	groups  map[string]offsets.GroupType
	damaged map[string][]offsets.Remains
	names   map[string]string // each name once, as it stands in many rows

	tree     bool // positions are offsets in the text; else they are line numbers
	problems []Problem
	more     int
	internal []Problem
	inMore   int
	cause    error

	counted, counting int // a line number, and the offset where it begins
	oneLine           bool
}

// found is a row and where it stands.
type found struct {
	Row
	pos int
}

// place makes a problem of a position.
func (r *reading) place(pos int, where, what string) Problem {
	p := Problem{Line: max(pos, 0), Where: where, What: what}
	if r.tree && pos >= 0 {
		before := r.text[:min(pos, len(r.text))]
		p.Line = strings.Count(before, "\n") + 1
		p.Column = utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	}
	return p
}

// line is the number of the line of a position in a tree; positions must not go back. It is 0 in a document of one line.
func (r *reading) line(pos int) int {
	if !r.tree {
		return pos
	}
	if r.counted == 0 {
		r.counted = 1
		r.oneLine = !strings.Contains(strings.TrimSpace(r.text), "\n")
	}
	if r.oneLine {
		return 0
	}
	if pos > r.counting {
		r.counted += strings.Count(r.text[r.counting:pos], "\n")
		r.counting = pos
	}
	return r.counted
}

func (r *reading) bad(pos int, where, format string, args ...any) {
	if len(r.problems) == kept {
		r.more++
		return
	}
	r.problems = append(r.problems, r.place(pos, where, fmt.Sprintf(format, args...)))
}

func (r *reading) warn(format string, args ...any) {
	switch n := len(r.doc.Warnings); {
	case n < kept:
		r.doc.Warnings = append(r.doc.Warnings, fmt.Sprintf(format, args...))
	case n == kept:
		r.doc.Warnings = append(r.doc.Warnings, "and more of the kind")
	}
}

// untold counts a warning, or a problem, of which there are so many that it need not be worded: that takes a look at the whole text.
func (r *reading) untold(warning bool) bool {
	switch {
	case warning && len(r.doc.Warnings) >= kept:
		r.warn("")
	case !warning && len(r.problems) == kept:
		r.more++
	default:
		return false
	}
	return true
}

// name returns the one copy of a name.
func (r *reading) name(s string) string {
	if known, ok := r.names[s]; ok {
		return known
	}
	s = strings.Clone(s)
	r.names[s] = s
	return s
}

// add takes a row that is well-formed in itself.
func (r *reading) add(pos int, where func() string, row Row) {
	if offsets.Internal(row.Topic) {
		if len(r.internal) == kept {
			r.inMore++
			return
		}
		r.internal = append(r.internal, r.place(pos, where(), fmt.Sprintf("topic %q is internal to Kafka", row.Topic)))
		return
	}
	if row.Topic == "" {
		r.bad(pos, where(), "topic is missing")
		return
	}
	if n := max(len(row.Group), len(row.Topic)); n > offsets.LongestName {
		r.bad(pos, where(), "a name has %d bytes; none in Kafka has more than %d", n, offsets.LongestName)
		return
	}
	if _, known := r.groups[row.Group]; !known {
		r.groups[row.Group] = offsets.TypeUnknown
	}
	row.Line = r.line(pos)
	if r.rows == nil {
		r.rows = make([]found, 0, len(r.text)/r.perRow()+1)
	}
	r.rows = append(r.rows, found{row, pos})
}

// perRow is about how many bytes a row takes.
func (r *reading) perRow() int {
	if r.tree && (r.format == JSON || r.format == YAML) {
		return 130
	}
	return 30
}

func nowhere() string { return "" }

// theGroup is the group of a format that names none.
func (r *reading) theGroup() (string, error) {
	if r.Group == "" {
		return "", &MissingError{r.format, MissingGroup}
	}
	r.groups[r.Group] = offsets.TypeUnknown
	return r.Group, nil
}

// finish sorts, finds what repeats itself, and says all that is wrong.
func (r *reading) finish() (Document, error) {
	if !r.sorted() {
		sort.SliceStable(r.rows, func(i, j int) bool { return r.rows[i].compare(&r.rows[j].Row) < 0 })
	}
	rows := r.rows[:0]
	for i := range r.rows {
		f := &r.rows[i]
		if n := len(rows); n > 0 && rows[n-1].compare(&f.Row) == 0 {
			r.again(rows[n-1], *f)
			continue
		}
		rows = append(rows, *f)
	}
	switch {
	case len(r.problems) > 0:
		sort.SliceStable(r.problems, func(i, j int) bool {
			a, b := &r.problems[i], &r.problems[j]
			return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
		})
		return Document{}, &MalformedError{r.format, r.problems, r.more, r.cause}
	case len(r.internal) > 0:
		return Document{}, &InternalError{r.internal, r.inMore}
	}
	d := r.doc
	d.Format = r.format
	if d.Kind == Plan {
		return d, nil
	}
	d.Rows = make([]Row, len(rows))
	for i := range rows {
		d.Rows[i] = rows[i].Row
	}
	for name, kind := range r.groups {
		d.Groups = append(d.Groups, Group{name, kind, r.damaged[name]})
	}
	sort.Slice(d.Groups, func(i, j int) bool { return d.Groups[i].Name < d.Groups[j].Name })
	return d, nil
}

// sorted reports whether the rows are in order already, as our own documents are.
func (r *reading) sorted() bool {
	for i := 1; i < len(r.rows); i++ {
		if r.rows[i-1].compare(&r.rows[i].Row) > 0 {
			return false
		}
	}
	return true
}

// again is a second row of a partition: a warning if it says the same, else a contradiction.
func (r *reading) again(first, second found) {
	a, b := first.Row, second.Row
	a.Line, b.Line = 0, 0
	if r.untold(a == b) {
		return
	}
	at := r.place(first.pos, "", "")
	spot := fmt.Sprintf("line %d", at.Line)
	if at.Column > 0 {
		spot += fmt.Sprintf(", column %d", at.Column)
	}
	what := fmt.Sprintf("topic %q, partition %d", second.Topic, second.Partition)
	if second.Group != "" {
		what = fmt.Sprintf("group %q, %s", second.Group, what)
	}
	if a == b {
		r.warn("%s", r.place(second.pos, "", what+" twice, the same as in "+spot))
		return
	}
	if a.Offset == b.Offset {
		r.bad(second.pos, "", "%s twice, and more than the offset differs; first in %s", what, spot)
		return
	}
	r.bad(second.pos, "", "%s twice: %s in %s, and %s here", what, orNone(a.Offset), spot, orNone(b.Offset))
}

func orNone(o int64) string {
	if o == offsets.None {
		return "none"
	}
	return strconv.FormatInt(o, 10)
}

// whole reads a plain whole number; why says what is wrong with it.
func whole(s string) (n int64, why string) {
	if s == "" {
		return 0, "is missing"
	}
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && (i > 0 || s[i] != '-' || len(s) == 1) {
			return 0, fmt.Sprintf("%s is not a whole number", clip(s))
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Sprintf("%s does not fit into 64 bits", clip(s))
	}
	return n, ""
}

// offsetIn reads an offset.
func offsetIn(s string) (n int64, why string) {
	if n, why = whole(s); why == "" && n < 0 {
		why = negative(n)
	}
	return n, why
}

// partitionIn reads the number of a partition.
func partitionIn(s string) (p int32, why string) {
	n, why := whole(s)
	switch {
	case why != "":
		return 0, why
	case n < 0:
		return 0, fmt.Sprintf("%d is negative", n)
	case n > 1<<31-1:
		return 0, fmt.Sprintf("%d does not fit into 32 bits", n)
	}
	return int32(n), ""
}

// negative says what to use instead of a marker.
func negative(n int64) string {
	s := fmt.Sprintf("%d is negative", n)
	if meaning := offsetfile.Meaning(n); meaning != "" {
		s += " (" + meaning + ")"
	}
	switch n {
	case -1, -915623761774:
		s += "; for the end use reset --to-latest"
	case -2, -915623761775:
		s += "; for the beginning use reset --to-earliest"
	case -915623761773, -915623761776:
		s += "; leave the partition out to keep what is there"
	}
	return s
}

// clip quotes what was found instead, shortened.
func clip(s string) string { return strconv.Quote(offsets.Clip(s, 60)) }
