package output

import (
	"bytes"
	"cmp"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// smallTable is the number of rows up to which tablewriter draws. It takes some 0.05 ms a row, more than a tenth of describe's time
// for twelve of them, and for 100,000 seconds and a gigabyte; the two-pass writer gives the same bytes.
const smallTable = 20

// gutter is what separates two columns.
const gutter = 2

// widest is how wide a cell may be for others to be aligned with it: as the longest name of a topic. A wider one moves its own row only.
const widest = 249

// Column is a heading of a Grid.
type Column struct {
	Name  string
	Right bool // numbers stand to the right
	gap   int  // blanks after it, if not the gutter
}

// Grid is a table of cells, row by row. Every row has a cell for every column.
type Grid struct {
	Columns []Column
	Rows    [][]string
	tones   []tone // of the column toned, one a row; nil: none is coloured
	toned   int
	title   string   // what stands in the lines above the rows, for a line before the headings; "": that is plain
	above   []string // lines before each row, each with its line end; nil: none
	below   []string // and after it
	lined   bool     // names above the rows stand in columns of their own, and the numbers below them are set in
	bare    bool     // drawn without tablewriter however small it is: one of many, or where each millisecond counts
	least   int      // how narrow a shortened last column may be; 0: leastText
}

// arena makes cells that share a few large strings: those of a hundred thousand rows would else be a million small ones.
type arena struct{ b strings.Builder }

func (a *arena) number(n int64) string {
	var room [20]byte
	digits := strconv.AppendInt(room[:0], n, 10)
	if a.b.Cap()-a.b.Len() < len(digits) {
		next := min(max(2*a.b.Cap(), 512), 16<<10)
		a.b.Reset() // the cells so far keep what they stand in
		a.b.Grow(next)
	}
	start := a.b.Len()
	a.b.Write(digits)
	return a.b.String()[start:]
}

// Write draws the grid in aligned columns, without lines around it and without blanks at line ends. Cells are cleaned.
func (g Grid) Write(s Stream) error {
	clean := make([][]string, len(g.Rows))
	for i, row := range g.Rows {
		clean[i] = row
		for j, cell := range row {
			if c := cleanText(cell); c != cell {
				if &clean[i][0] == &row[0] {
					clean[i] = append([]string(nil), row...)
				}
				clean[i][j] = c
			}
		}
	}
	g.Rows = clean
	return g.draw(s)
}

// draw writes cells that are clean already.
func (g Grid) draw(s Stream) error {
	if !s.Color {
		g.tones = nil
	}
	if g.title != "" {
		if _, err := io.WriteString(s.W, g.title+"\n"); err != nil {
			return err
		}
	}
	if len(g.Rows) <= smallTable && !g.bare && g.agreed() {
		return g.byTablewriter(s.W)
	}
	return g.byTwoPasses(s.W)
}

// agreed tells whether tablewriter measures every cell as we do. It adds up runes, and so takes an emoji of several for wider
// than it is, and it aligns all with the widest cell.
func (g Grid) agreed() bool {
	for _, row := range g.Rows {
		for _, cell := range row {
			if len(cell) > widest || !plainASCII(cell) && twwidth.WidthWithOptions(cell, twwidth.Options{}) != width(cell) {
				return false
			}
		}
	}
	return true
}

// byTablewriter steps round what tablewriter does unasked: it reformats headings, wraps cells, cuts blanks, looks at the locale
// for widths, pads the last column, and closes a coloured cell a second time after its padding.
func (g Grid) byTablewriter(w io.Writer) error {
	align := make(tw.Alignment, len(g.Columns))
	padding := make([]tw.Padding, len(g.Columns))
	header := make([]string, len(g.Columns))
	for i, c := range g.Columns {
		align[i], header[i] = tw.AlignLeft, c.Name
		if c.Right {
			align[i] = tw.AlignRight
		}
		padding[i] = tw.Padding{Right: strings.Repeat(" ", c.after()), Overwrite: true}
	}
	cells := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoFormat: tw.Off, AutoWrap: tw.WrapNone},
		Alignment:  tw.CellAlignment{PerColumn: align},
		Padding:    tw.CellPadding{Global: tw.Padding{Right: "  ", Overwrite: true}, PerColumn: padding},
	}
	var drawn bytes.Buffer
	t := tablewriter.NewTable(&drawn, tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Symbols:  tw.NewSymbols(tw.StyleNone),
			Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
		})),
		tablewriter.WithConfig(tablewriter.Config{Header: cells, Row: cells, Behavior: tw.Behavior{TrimSpace: tw.Off}}))
	t.Header(header)
	if err := t.Bulk(g.Rows); err != nil {
		return err
	}
	if err := t.Render(); err != nil {
		return err
	}
	paint, widths := newPaints(g.tones != nil), g.widths()
	var out bytes.Buffer
	for i, line := range bytes.Split(bytes.TrimSuffix(drawn.Bytes(), []byte("\n")), []byte("\n")) {
		text := strings.TrimRight(string(line), " ")
		row := i - 1
		if row >= 0 && g.tones != nil { // colours go in after the drawing, where the cell must be
			text = g.color(text, row, widths, paint)
		}
		if row >= 0 && g.above != nil {
			out.WriteString(g.above[row])
		}
		if text != "" || row < 0 || !g.said(row) {
			out.WriteString(text)
			out.WriteByte('\n')
		}
		if row >= 0 && g.below != nil {
			out.WriteString(g.below[row])
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}

// color wraps the toned cell of a drawn row. It is found from the left by the widths of the columns before it.
func (g Grid) color(line string, row int, widths []int, paint *paints) string {
	cell := strings.TrimRight(g.Rows[row][g.toned], " ")
	if cell == "" || g.tones[row] == toneNone {
		return line
	}
	at := 0
	for i, c := range g.Rows[row][:g.toned] {
		at += len(c) + max(widths[i]-width(c), 0) + g.Columns[i].after()
	}
	if g.Columns[g.toned].Right {
		at += max(widths[g.toned]-width(g.Rows[row][g.toned]), 0)
	}
	return line[:at] + paint.paint(g.tones[row], cell) + line[at+len(cell):]
}

// said reports whether all of a row stands above and below it, so that a blank line would say no more.
func (g Grid) said(row int) bool {
	return g.above != nil && g.below != nil && g.below[row] != ""
}

func (c Column) after() int {
	if c.gap > 0 {
		return c.gap
	}
	return gutter
}

// widths measures the columns; a cell that is too wide to be aligned with counts in none.
func (g Grid) widths() []int {
	w := make([]int, len(g.Columns))
	for i, c := range g.Columns {
		w[i] = width(c.Name)
	}
	for _, row := range g.Rows {
		for i, cell := range row {
			if n := len(cell); n > w[i] { // no rune is wider than its bytes are many
				if n = width(cell); n <= widest {
					w[i] = max(w[i], n)
				}
			}
		}
	}
	return w
}

// byTwoPasses measures first and writes then.
func (g Grid) byTwoPasses(w io.Writer) error {
	widths := g.widths()
	paint := newPaints(g.tones != nil)
	room := 0
	for i, n := range widths {
		room += n + g.Columns[i].after()
	}
	out := make([]byte, 0, min(68<<10, (len(g.Rows)+1)*(room+1)))
	line := func(row []string, t tone) {
		last := len(row) - 1
		for last > 0 && strings.TrimRight(row[last], " ") == "" {
			last--
		}
		for i, cell := range row[:last+1] {
			if i == last && strings.TrimRight(cell, " ") == "" {
				break // a blank row
			}
			free := widths[i] - width(cell)
			if g.Columns[i].Right {
				out = appendBlanks(out, free)
				free = 0
			}
			if i == last {
				cell, free = strings.TrimRight(cell, " "), 0
			}
			if t != toneNone && i == g.toned {
				bare := strings.TrimRight(cell, " ")
				free += len(cell) - len(bare)
				out = paint.append(out, t, bare)
			} else {
				out = append(out, cell...)
			}
			if i < last {
				out = appendBlanks(out, max(free, 0)+g.Columns[i].after())
			}
		}
		out = append(out, '\n')
	}
	header := make([]string, len(g.Columns))
	for i, c := range g.Columns {
		header[i] = c.Name
	}
	line(header, toneNone)
	for i, row := range g.Rows {
		t := toneNone
		if g.tones != nil {
			t = g.tones[i]
		}
		if g.above != nil {
			out = append(out, g.above[i]...)
		}
		if !g.said(i) || strings.TrimRight(strings.Join(row, ""), " ") != "" {
			line(row, t)
		}
		if g.below != nil {
			out = append(out, g.below[i]...)
		}
		if len(out) >= 64<<10 {
			if _, err := w.Write(out); err != nil {
				return err
			}
			out = out[:0]
		}
	}
	_, err := w.Write(out)
	return err
}

// leastText is how much of the last column is left at least when it is shortened; where there is less room, texts go below rows.
const leastText = 20

// fit lays the grid out for a terminal, so that no row wraps. Names, which are the first lead columns, go to a line of their own
// above the rows if the numbers would leave no room for them; those of a lined grid stay in columns there. A text in the last column,
// the toned one, that does not fit is shortened, or goes to a line of its own below the row; may it not be shortened, it always goes
// there. Numbers are never cut.
func (g *Grid) fit(s Stream, lead int, shorten bool) {
	if s.Width <= 0 || len(g.Rows) == 0 {
		return
	}
	w := g.widths()
	room := func() int {
		n := s.Width
		for i, c := range g.Columns {
			if i != g.toned {
				n -= w[i] + c.after()
			}
		}
		return n
	}
	if title := len(g.Columns[g.toned].Name); room() < title {
		narrow := func() {
			if room() < title {
				for i := range g.Columns {
					g.Columns[i].gap = 1
				}
			}
		}
		headings := g.raise(lead, w, s.Width)
		w = g.widths()
		if !g.lined {
			narrow()
		}
		if room() < title || g.lined { // the blank columns below the names too
			if lead > 1 {
				g.title = headings
			}
			if g.lined {
				lead--
				g.Columns[lead] = Column{gap: gutter}
			}
			for i := range g.Rows {
				g.Rows[i] = g.Rows[i][lead:]
			}
			g.Columns, g.toned = g.Columns[lead:], g.toned-lead
			w = g.widths()
			narrow()
		}
		if room() < title {
			g.Columns[g.toned].Name = "" // not even an ok has room
		}
	}
	left, text := room(), w[g.toned]
	for _, row := range g.Rows {
		text = max(text, width(row[g.toned]))
	}
	switch {
	case left >= text:
		return
	case shorten && left >= cmp.Or(g.least, leastText):
		for _, row := range g.Rows {
			row[g.toned] = cut(row[g.toned], left, s.ASCII)
		}
		return
	}
	if g.Columns[g.toned].Name == "" || g.lined && g.above != nil { // there all rows have one shape
		left = 0
	}
	paint := newPaints(s.Color)
	g.below = make([]string, len(g.Rows))
	for i, row := range g.Rows {
		if width(row[g.toned]) <= left {
			continue
		}
		const indent = "    "
		for line := range strings.SplitSeq(fold(indent+row[g.toned], s.Width, indent), "\n") {
			if g.tones != nil {
				line = indent + paint.paint(g.tones[i], strings.TrimPrefix(line, indent))
			}
			g.below[i] += line + "\n"
		}
		row[g.toned] = ""
	}
}

// numbers is how many columns of a terminal all cells of a row take but the toned one.
func (g *Grid) numbers() int {
	n := 0
	for i, w := range g.widths() {
		if i != g.toned {
			n += w + g.Columns[i].after()
		}
	}
	return n
}

// raise puts the names of the rows, their first cells, on lines of their own, once for all rows that have the same, and returns what
// such a line has for headings.
func (g *Grid) raise(lead int, w []int, most int) string {
	headings := make([]string, lead)
	for i, c := range g.Columns[:lead] {
		headings[i] = c.Name
	}
	g.above = make([]string, len(g.Rows))
	last := ""
	for i, row := range g.Rows {
		names := g.names(row[:lead], w, most)
		if i == 0 || names != last || g.lined {
			g.above[i] = names + "\n"
		}
		last = names
		for j := range lead {
			row[j] = ""
		}
	}
	return g.names(headings, w, most)
}

// names are the names of a row in one line, in columns as far as these leave room in most.
func (g *Grid) names(row []string, w []int, most int) string {
	if !g.lined {
		return strings.TrimRight(strings.Join(row, " "), " ")
	}
	var line []byte
	at := 0
	for i, cell := range row {
		line = append(line, cell...)
		if at += w[i] + gutter; at < most {
			line = appendBlanks(line, max(w[i]-width(cell), 0))
		}
		line = appendBlanks(line, gutter)
	}
	return strings.TrimRight(string(line), " ")
}

// fold breaks a clean text at blanks into lines of at most n columns, where its words allow it. All but the first begin with hang.
func fold(text string, n int, hang string) string {
	var out strings.Builder
	for n > 0 && width(text) > n {
		at := -1
		for i := len(text) - len(strings.TrimLeft(text, " ")); i < len(text); i++ {
			if text[i] != ' ' {
				continue
			}
			if at >= 0 && width(text[:i]) > n {
				break
			}
			at = i
		}
		if at < 0 || strings.TrimSpace(text[at:]) == "" {
			break
		}
		out.WriteString(strings.TrimRight(text[:at], " "))
		out.WriteByte('\n')
		text = hang + strings.TrimLeft(text[at:], " ")
	}
	out.WriteString(text)
	return out.String()
}

func appendBlanks(b []byte, n int) []byte {
	const blanks = "                                                                "
	for ; n > len(blanks); n -= len(blanks) {
		b = append(b, blanks...)
	}
	return append(b, blanks[:max(n, 0)]...)
}

// width is how many columns of a terminal a clean text takes.
func width(s string) int {
	if plainASCII(s) {
		return len(s)
	}
	// not the package's default: that one asks the locale whether ambiguous runes are wide
	return (&runewidth.Condition{StrictEmojiNeutral: true}).StringWidth(s)
}

// cut shortens a clean text to at most n columns, with … (or ...) at the end. A number in it is left out rather than cut, and one that
// stands whole at the end has a blank behind it: else nobody could tell.
func cut(s string, n int, ascii bool) string {
	if len(s) <= n || width(s) <= n {
		return s
	}
	tail := "…"
	if ascii {
		tail = "..."
	}
	c := &runewidth.Condition{StrictEmojiNeutral: true}
	kept := c.Truncate(s, n-width(tail), "")
	whole := strings.TrimRight(kept, " ")
	words := strings.TrimRightFunc(whole, inNumber)
	if !strings.ContainsFunc(whole[len(words):], isDigit) {
		return whole + tail
	}
	next, _ := utf8.DecodeRuneInString(s[len(whole):])
	if !inNumber(next) && !unicode.IsLetter(next) && width(whole)+1+width(tail) <= n {
		return whole + " " + tail
	}
	return strings.TrimRight(words, " ") + tail
}

// inNumber reports what may be part of a number, or of a time, with its separators.
func inNumber(r rune) bool { return isDigit(r) || r == ',' || r == '.' || r == ':' }

func isDigit(r rune) bool { return '0' <= r && r <= '9' }
