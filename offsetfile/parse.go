package offsetfile

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gtoffset/kafkaops/offsets"
)

// ErrEmpty is a file of zero bytes. It is not a missing file.
var ErrEmpty = errors.New("the file is empty (0 bytes), probably after a crash")

// ErrTooLarge is a file over MaxSize. It cannot be salvaged.
var ErrTooLarge = errors.New("the file is larger than 64 MiB")

// mostLines is how many lines a file may have: Kafka has no topic of a million partitions. What is refused beyond it would take
// some hundred bytes of memory for each byte of a file.
const mostLines = 1<<20 + 64

// ErrTooManyLines is a file of more lines than any topic needs. It cannot be salvaged.
var ErrTooManyLines = errors.New("the file has more than 1,048,640 lines")

// VersionError is a file of another version of the format. It cannot be salvaged.
type VersionError struct{ Version string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("line 1: version %q of the gtoffset format is not known here, only 1 is; a newer gtoffset may know it", e.Version)
}

// Problem is one thing that is wrong in a file.
type Problem struct {
	Line      int    // counted from 1; 0 for the file as a whole
	Partition int32  // whose entry is lost by it, offsets.None if that cannot be told
	Reason    string // of the first ones; of the many after them, only that there is something wrong
}

// DamageError is a file that cannot be trusted, with all that is wrong in it, by line.
type DamageError struct{ Problems []Problem }

// shown is how many problems a message spells out; of the rest it names the lines. A few more are worded: what is found when the file
// has been read, and belongs among the first.
const (
	shown   = 50
	spelled = 2 * shown
)

func (e *DamageError) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i == shown {
			b.WriteString("; and more in lines " + lineRanges(e.Problems[i:]))
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		if p.Line > 0 {
			fmt.Fprintf(&b, "line %d: ", p.Line)
		}
		b.WriteString(p.Reason)
	}
	return b.String()
}

// lineRanges writes line numbers as 3, 5-9, 12; of very many, the first ones.
func lineRanges(problems []Problem) string {
	var parts []string
	for i := 0; i < len(problems); {
		if len(parts) == shown {
			return strings.Join(parts, ", ") + " and on"
		}
		from := problems[i].Line
		to := from
		for i++; i < len(problems) && problems[i].Line <= to+1; i++ {
			to = problems[i].Line
		}
		part := strconv.Itoa(from)
		if to > from {
			part += "-" + strconv.Itoa(to)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// Parse reads a file that is whole, as far as its form can prove it. The error is ErrEmpty, ErrTooLarge, ErrTooManyLines, a
// *VersionError or a *DamageError, which lists every bad line.
func Parse(b []byte) (*Document, error) {
	d, problems, err := parse(b)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, &DamageError{problems}
	}
	return d, nil
}

// Salvage reads the whole lines of a damaged file, and tells what is lost. A partition with lines that differ is lost, and so
// is everything after the count of entries: it may be the rest of an older, longer file. The error is ErrEmpty, ErrTooLarge,
// ErrTooManyLines or a *VersionError: then there is nothing to salvage. Bytes of the document are whole again.
func Salvage(b []byte) (*Document, []Problem, error) {
	d, problems, err := parse(b)
	if err != nil {
		return nil, nil, err
	}
	d.seal()
	return d, problems, nil
}

// Meaning tells what a negative number is known to stand for, "" if it is none of the known ones.
func Meaning(negative int64) string {
	switch negative {
	case -1:
		return "Kafka's marker for latest, or for no offset"
	case -2:
		return "Kafka's marker for earliest"
	case -915623761776:
		return "Flink's marker for not set"
	case -915623761775:
		return "Flink's marker for earliest"
	case -915623761774:
		return "Flink's marker for latest"
	case -915623761773:
		return "Flink's marker for the committed offset"
	}
	return ""
}

// parser goes through a file line by line, and keeps what is whole.
type parser struct {
	doc      *Document
	problems []Problem
	nul      bool
	line     int
	sealed   int            // line of the count; 0 before it
	counted  int64          // the count
	entries  int            // whole or not, lines that are no header and not blank
	numbers  []int          // of the lines in doc
	lost     map[int32]bool // partitions with lines that differ
	owned    map[string]string
}

// own is a copy of an id or a name in the file, one for all that are equal: a part of the file's text would keep all of it in memory.
func (p *parser) own(text string) string {
	if text == "" {
		return ""
	}
	own, known := p.owned[text]
	if !known {
		own = strings.Clone(text)
		p.owned[own] = own
	}
	return own
}

func parse(b []byte) (*Document, []Problem, error) {
	if len(b) == 0 {
		return nil, nil, ErrEmpty
	}
	if len(b) > MaxSize {
		return nil, nil, ErrTooLarge
	}
	n := bytes.Count(b, []byte{'\n'})
	if n > mostLines {
		return nil, nil, ErrTooManyLines
	}
	p := parser{
		doc:     &Document{lines: make([]line, 0, n+1), index: make(map[int32]int, n), heads: map[string]int{}, highest: offsets.None},
		nul:     bytes.IndexByte(b, 0) >= 0,
		numbers: make([]int, 0, n+1),
		lost:    map[int32]bool{},
		owned:   map[string]string{},
	}
	if bytes.HasPrefix(b, []byte{0xff, 0xfe}) || bytes.HasPrefix(b, []byte{0xfe, 0xff}) {
		p.line = 1
		p.bad(offsets.None, "UTF-16 text: save the file as UTF-8")
		p.doc.headered = true
		p.doc.insert(0, line{text: magic, kind: header, name: headerMagic, value: "1"})
		return p.doc, p.problems, nil
	}
	text := string(b)
	if after, marked := strings.CutPrefix(text, "\ufeff"); marked {
		p.line = 1
		p.bad(offsets.None, "a byte-order mark: save the file without it")
		p.line, text = 0, after
	}
	for rest := text; rest != ""; {
		p.line++
		text, after, whole := strings.Cut(rest, "\n")
		rest = after
		if err := p.take(text, whole); err != nil {
			return nil, nil, err
		}
	}
	p.finish()
	return p.doc, p.problems, nil
}

func (p *parser) bad(partition int32, format string, args ...any) {
	reason := "it is damaged, too"
	if len(p.problems) < spelled || p.line == 0 || p.line == p.sealed {
		reason = fmt.Sprintf(format, args...)
	}
	p.problems = append(p.problems, Problem{Line: p.line, Partition: partition, Reason: reason})
}

// take reads one line. whole is false for a last line without line end.
func (p *parser) take(text string, whole bool) error {
	d := p.doc
	l := line{text: text}
	if strings.HasSuffix(text, "\r") && whole {
		l.text, l.crlf = text[:len(text)-1], true
	}
	if p.line == 1 {
		d.headered = strings.HasPrefix(text, "# "+headerMagic) && (len(text) == len("# "+headerMagic) || isBlank(text[len("# "+headerMagic)]))
	}
	from, to := field(l.text, 0)
	isHeader := from < to && l.text[from] == '#'
	if p.nul && strings.IndexByte(text, 0) >= 0 {
		p.bad(firstField(text), "NUL bytes: the file is damaged, probably by a crash before sync")
		return nil
	}
	switch {
	case !whole:
		partition := int32(offsets.None)
		if !isHeader {
			p.entries++
			partition = firstField(text)
		}
		p.bad(partition, "no line end: the file was cut off in %q", clip(text))
	case p.sealed > 0 && from < to:
		p.bad(offsets.None, "it comes after the count of entries in line %d", p.sealed)
	case from == to:
		p.keep(l)
	case isHeader:
		return p.takeHeader(l)
	default:
		p.takeEntry(l)
	}
	return nil
}

func (p *parser) takeHeader(l line) error {
	d := p.doc
	l.kind = header
	if !d.headered {
		p.bad(offsets.None, "a header, but the first line is not %q", magic)
		return nil
	}
	if strings.HasPrefix(l.text, "# ") {
		from, to := field(l.text, 1)
		l.name, l.value = l.text[from:to], strings.Trim(l.text[to:], " \t")
	}
	switch l.name {
	case headerMagic:
		if p.line > 1 {
			p.bad(offsets.None, "a second beginning of a file")
			return nil
		}
		if l.value != "1" {
			return &VersionError{l.value}
		}
	case headerGroup, headerTopic, headerTopicID, headerCluster, headerSaved:
		value, ok := headerValue(l.value)
		if !ok {
			p.bad(offsets.None, "the value of %s is not a JSON string: %s", l.name, clip(l.value))
			return nil
		}
		if d.headerLine(l.name) >= 0 {
			p.bad(offsets.None, "a second %s", l.name)
			return nil
		}
		l.value = p.own(value)
	case headerEntries:
		n, reason := number(l.value, math.MaxInt32)
		if reason != "" {
			p.bad(offsets.None, "the count of entries %q %s", clip(l.value), reason)
			return nil
		}
		p.sealed, p.counted = p.line, n
		l.value = strconv.FormatInt(n, 10)
	default:
		l.value = ""
	}
	p.keep(l)
	return nil
}

func (p *parser) keep(l line) {
	if l.kind == header {
		p.doc.heads[l.name] = len(p.doc.lines)
	}
	p.doc.lines = append(p.doc.lines, l)
	p.numbers = append(p.numbers, p.line)
}

func (p *parser) takeEntry(l line) {
	d := p.doc
	p.entries++
	e, reason := parseEntry(l.text)
	if reason != "" {
		p.bad(e.Partition, "%s", reason)
		return
	}
	e.TopicID, e.Cluster = p.own(e.TopicID), p.own(e.Cluster)
	l.kind, l.entry = entry, e
	if first, again := d.index[e.Partition]; again {
		p.bad(e.Partition, "partition %d again, first in line %d", e.Partition, p.numbers[first])
		if d.lines[first].entry != e {
			p.lost[e.Partition] = true
		}
		return
	}
	d.index[e.Partition] = len(d.lines)
	d.highest = max(d.highest, e.Partition)
	p.keep(l)
}

// finish looks at the file as a whole.
func (p *parser) finish() {
	d := p.doc
	if len(p.lost) > 0 {
		d.lines = slices.DeleteFunc(d.lines, func(l line) bool { return l.kind == entry && p.lost[l.entry.Partition] })
		clear(d.index)
		clear(d.heads)
		d.highest = offsets.None
		d.reindex(0)
	}
	p.line = 0
	switch {
	case d.headered && p.sealed == 0:
		p.bad(offsets.None, "the last line, \"# entries %d\" or another count, is missing: the file was cut off", p.entries)
	case d.headered && p.counted != int64(p.entries):
		p.line = p.sealed
		p.bad(offsets.None, "the count of entries is %d, but there are %d", p.counted, p.entries)
	case !d.headered && p.entries == 0:
		if len(p.problems) == 0 {
			p.bad(offsets.None, "there is nothing in it but blank lines")
		}
		d.headered, d.lines = true, nil // nothing is left of a form to keep
		clear(d.heads)
	}
	if d.headered && d.headerLine(headerMagic) < 0 {
		d.insert(0, line{text: magic, crlf: d.crlf(), kind: header, name: headerMagic, value: "1"})
	}
}

// parseEntry reads "partition offset key=value…". On a bad line, Partition is set if it could be read.
func parseEntry(text string) (e Entry, reason string) {
	e = Entry{Partition: offsets.None, Epoch: offsets.None}
	from, to := field(text, 0)
	n, reason := number(text[from:to], math.MaxInt32)
	if reason != "" {
		return e, fmt.Sprintf("partition %q %s", clip(text[from:to]), reason)
	}
	e.Partition = int32(n)
	from, to = field(text, to)
	if from == to {
		return e, fmt.Sprintf("partition %d has no offset", e.Partition)
	}
	if e.Offset, reason = number(text[from:to], math.MaxInt64); reason != "" {
		return e, fmt.Sprintf("offset %q of partition %d %s", clip(text[from:to]), e.Partition, reason)
	}
	var seen [3]bool
	for to < len(text) {
		if from, to = field(text, to); from == to {
			break
		}
		key, value, ok := strings.Cut(text[from:to], "=")
		if !ok || key == "" {
			return e, fmt.Sprintf("%q after the offset of partition %d is not key=value", clip(text[from:to]), e.Partition)
		}
		var known int
		switch key {
		case keyEpoch:
			known = 0
			if value == "-1" { // what clients call no epoch
				break
			}
			if n, reason = number(value, math.MaxInt32); reason != "" {
				return e, fmt.Sprintf("epoch %q of partition %d %s", clip(value), e.Partition, reason)
			}
			e.Epoch = int32(n)
		case keyTopicID, keyCluster:
			id, ok := unescape(value)
			if !ok || id == "" {
				return e, fmt.Sprintf("%s %q of partition %d is not an id", key, clip(value), e.Partition)
			}
			if known = 1; key == keyCluster {
				known = 2
				e.Cluster = id
			} else {
				e.TopicID = id
			}
		default:
			continue
		}
		if seen[known] {
			return e, fmt.Sprintf("a second %s of partition %d", key, e.Partition)
		}
		seen[known] = true
	}
	return e, ""
}

// number reads a plain decimal number from 0 to largest, or tells what is wrong with it.
func number(text string, largest int64) (n int64, reason string) {
	if text == "" {
		return 0, "is not a number"
	}
	for i := 0; i < len(text); i++ {
		c := text[i] - '0'
		if c > 9 {
			return 0, notNumber(text)
		}
		if n > (largest-int64(c))/10 {
			return 0, notNumber(text)
		}
		n = n*10 + int64(c)
	}
	return n, ""
}

// notNumber tells why a text is no number that can stand here.
func notNumber(text string) string {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "is not a number"
	}
	if len(digits) == len(text) {
		return "is too large"
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && Meaning(n) != "" {
		return "is negative: " + Meaning(n) + ", not a position"
	}
	return "is negative"
}

// firstField is the partition that a bad line begins with, None if that cannot be told.
func firstField(text string) int32 {
	from, to := field(text, 0)
	if to == len(text) {
		return offsets.None // may itself be cut
	}
	n, reason := number(text[from:to], math.MaxInt32)
	if reason != "" {
		return offsets.None
	}
	return int32(n)
}

// clip shortens what is quoted in a message.
func clip(text string) string { return offsets.Clip(text, 60) }
