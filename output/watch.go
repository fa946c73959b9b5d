package output

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
)

// Watch is one picture of describe --watch: what Describe shows, with how it moves, in no more lines than there are.
type Watch struct {
	Describe
	Every   time.Duration
	Height  int    // lines that there are; 0: no limit
	Note    string // what is wrong with the watching itself, "" if nothing
	Ordered bool   // the order was asked for: what is not ok does not come first where there is no room for all
}

// Write draws the picture: the partitions of one group, or a line for each of several.
func (v Watch) Write(s Stream) error {
	v.Rates = true
	head, err := drawTo(s, v.head)
	if err != nil {
		return err
	}
	foot, err := drawTo(s, v.foot)
	if err != nil {
		return err
	}
	left := 0
	if v.Height > 0 {
		left = max(v.Height-lineCount(head)-lineCount(foot), 0)
	}
	body, err := v.body(s, left)
	if err != nil {
		return err
	}
	picture := append(append(head, body...), foot...)
	if len(v.Snapshot.Groups) == 1 { // what a restart would do, if there is room for all of it
		forecast, err := drawTo(s, func(p *printer, _ Stream) error { v.forecast(p, v.Snapshot.Groups[0]); return p.err })
		if err != nil {
			return err
		}
		if v.Height == 0 || lineCount(picture)+lineCount(forecast) <= v.Height {
			picture = append(picture, forecast...)
		}
	}
	if v.Height > 0 {
		picture = firstLines(picture, v.Height)
	}
	_, err = s.W.Write(picture)
	return err
}

// drawTo is what a part of a view draws.
func drawTo(s Stream, draw func(*printer, Stream) error) ([]byte, error) {
	var b bytes.Buffer
	s.W = &b
	err := draw(&printer{w: &b, width: s.Width}, s)
	return b.Bytes(), err
}

func lineCount(b []byte) int { return bytes.Count(b, []byte{'\n'}) }

func firstLines(b []byte, n int) []byte {
	at := 0
	for range n {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return b
		}
		at += i + 1
	}
	return b[:at]
}

// head says when this was seen, of which cluster, and of the one group what its heading says.
func (v *Watch) head(p *printer, s Stream) error {
	paint := newPaints(s.Color)
	p.printf("%s\n", paint.paint(toneDim, fold(fmt.Sprintf("%s, every %s; lag %s; Ctrl-C ends", v.Now.UTC().Format("15:04:05 UTC"), offsets.Span(v.Every), trendLegend(s.ASCII)), s.Width, "  ")))
	if v.Note != "" {
		p.printf("%s\n", paint.paint(toneRed, fold(cleanText(v.Note), s.Width, "  ")))
	}
	if len(v.Snapshot.Groups) == 1 {
		v.heading(p, s, v.Snapshot.Groups[0])
	} else {
		clusterLine(p, v.Snapshot.Origin, len(clusterLabel))
	}
	for _, t := range v.Snapshot.Troubles {
		p.printf("%s\n", paint.paint(toneRed, fold("groups may be missing: "+cleanText(reason(&t)), s.Width, "  ")))
	}
	p.printf("\n")
	return p.err
}

// foot sums up.
func (v *Watch) foot(p *printer, s Stream) error {
	if len(v.Snapshot.Groups) != 1 {
		var partitions, ok int
		for _, g := range v.Snapshot.Groups {
			t := g.Total(v.Snapshot.Origin.Cluster)
			partitions, ok = partitions+t.Partitions, ok+t.Healthy
		}
		p.printf("\n%s, %s, %s ok\n", offsets.Plural(len(v.Snapshot.Groups), "group"), offsets.Plural(partitions, "partition"), offsets.Thousands(int64(ok)))
		return p.err
	}
	g := v.Snapshot.Groups[0]
	v.totals(p, g)
	if text := paceWords(g.Pace()); text != "" {
		p.prose("  ", "%s", text)
	}
	return p.err
}

// paceWords is how a group moves, in words.
func paceWords(p *offsets.Pace) string {
	if p == nil {
		return ""
	}
	var say []string
	in, out, saved := rates(p)
	if p.Known.In {
		say = append(say, "in "+in+"/s")
	}
	if p.Known.Out {
		say = append(say, "out "+out+"/s")
	}
	if p.Known.Saved {
		say = append(say, "saved "+saved+"/s")
	}
	if p.Known.Lag {
		say = append(say, "lag "+[...]string{"shrinks", "stands", "grows"}[cmp.Compare(p.Grown, 0)+1])
	}
	return strings.Join(say, ", ")
}

// body is the table, in at most the given number of lines; 0 is no limit. What has no room is counted.
func (v *Watch) body(s Stream, room int) ([]byte, error) {
	total, draw, fine := v.list(s)
	for n := total; ; {
		table, err := drawTo(s, func(_ *printer, s Stream) error { return draw(s, n) })
		if err != nil {
			return nil, err
		}
		if n < total {
			more := fmt.Sprintf("and %s more", offsets.Thousands(int64(total-n)))
			if bad := total - n - fine(n); bad > 0 {
				more += fmt.Sprintf(", %s of them not ok", offsets.Thousands(int64(bad)))
			}
			table = append(table, newPaints(s.Color).paint(toneDim, more)+"\n"...)
		}
		over := lineCount(table) - room
		if room == 0 || over <= 0 || n == 0 {
			return table, nil
		}
		if n == total {
			over++ // for the line that counts the others
		}
		// A row takes one line, or several where texts go below it.
		perRow := max((lineCount(table)+n-1)/max(n, 1), 1)
		n = max(n-max(over/perRow, 1), 0)
	}
}

// list is what the table is about: how many lines it could have, how to draw the first n, and how many behind these are fine.
func (v *Watch) list(s Stream) (total int, draw func(Stream, int) error, fine func(int) int) {
	cluster := v.Snapshot.Origin.Cluster
	if len(v.Snapshot.Groups) != 1 {
		groups := v.Snapshot.Groups
		ok := func(g offsets.Group) bool {
			t := g.Total(cluster)
			return g.Trouble == nil && t.Healthy == t.Partitions
		}
		first := worstFirst(groups, ok, v.Ordered)
		return len(groups), func(s Stream, n int) error {
			if n == len(groups) {
				return v.groupGrid(groups, s)
			}
			return v.groupGrid(first[:n], s)
		}, func(n int) int { return countOf(first[n:], ok) }
	}
	g := v.Snapshot.Groups[0]
	rows := v.rows(g)
	ok := func(r offsets.Row) bool { return r.Healthy(cluster, g.Store != nil) }
	first := worstFirst(rows, ok, v.Ordered)
	draw = func(s Stream, n int) error {
		if len(rows) == 0 {
			return nil
		}
		shown := rows
		if n < len(rows) {
			shown = first[:n]
		}
		grid, gauge := v.grid(g, shown, s, false, nil)
		if err := grid.draw(s); err != nil || !gauge {
			return err
		}
		_, err := io.WriteString(s.W, v.gaugeLegend(s, g))
		return err
	}
	return len(rows), draw, func(n int) int { return countOf(first[n:], ok) }
}

// worstFirst is a list with what is not ok at its beginning, each part in its order. ordered leaves the list as it is.
func worstFirst[T any](all []T, ok func(T) bool, ordered bool) []T {
	if ordered {
		return all
	}
	first := make([]T, 0, len(all))
	var fine []T
	for _, one := range all {
		if ok(one) {
			fine = append(fine, one)
		} else {
			first = append(first, one)
		}
	}
	return append(first, fine...)
}

func countOf[T any](all []T, is func(T) bool) int {
	n := 0
	for _, one := range all {
		if is(one) {
			n++
		}
	}
	return n
}

// groupGrid has a line for each group.
func (v *Watch) groupGrid(groups []offsets.Group, s Stream) error {
	store := v.Snapshot.Origin.Store != ""
	right := func(names ...string) []Column {
		var all []Column
		for _, n := range names {
			all = append(all, Column{Name: n, Right: true})
		}
		return all
	}
	grid := Grid{Columns: append([]Column{{Name: "GROUP"}}, right("MEMBERS", "PARTITIONS", "OK", "LAG")...), least: len("committed")}
	grid.Columns = append(grid.Columns, Column{}) // the mark of how LAG moves
	if store {
		grid.Columns = append(grid.Columns, right("STORED-LAG")...)
	}
	grid.Columns = append(grid.Columns, right("IN/S", "OUT/S")...)
	if store {
		grid.Columns = append(grid.Columns, right("SAVED/S")...)
	}
	grid.toned = len(grid.Columns)
	grid.Columns = append(grid.Columns, Column{Name: "STATE"})
	for _, g := range groups {
		t := g.Total(v.Snapshot.Origin.Cluster)
		sum := func(n int64, uncounted int) string {
			if uncounted == t.Partitions {
				return "-"
			}
			return fmt.Sprint(n)
		}
		pace := g.Pace()
		in, out, saved := rates(pace)
		row := []string{groupName(g.ID), count(g), fmt.Sprint(t.Partitions), fmt.Sprint(t.Healthy), sum(t.Lag, t.LagUncounted), trend(pace, s.ASCII)}
		if store {
			row = append(row, sum(t.StoredLag, t.StoredLagUncounted))
		}
		row = append(row, in, out)
		if store {
			row = append(row, saved)
		}
		state, tone := v.groupState(g, t)
		grid.Rows, grid.tones = append(grid.Rows, append(row, cleanText(state))), append(grid.tones, tone)
	}
	if len(grid.Rows) == 0 {
		return nil
	}
	grid.fit(s, 1, true)
	return grid.draw(s)
}

// groupState is a group's state, and what the worst of its partitions says.
func (v *Watch) groupState(g offsets.Group, t offsets.Totals) (string, tone) {
	state := cmp.Or(g.State, "state unknown")
	if g.Trouble != nil {
		return "unknown: " + g.Trouble.Reason, toneRed
	}
	if t.Healthy == t.Partitions {
		return state, toneDim
	}
	for i := range g.Rows {
		j := offsets.JudgeRow(&g.Rows[i], v.Snapshot.Origin.Cluster, g.Store != nil)
		if !j.Healthy() {
			return fmt.Sprintf("%s; %s not ok, such as %s: %s", state, offsets.Thousands(int64(t.Partitions-t.Healthy)), j.Row.Key, j.Words()), toneOf(&j, g.Store != nil)
		}
	}
	return state, toneNone
}

// Line is what a picture says of one group where there is no screen to draw on.
func (v Watch) Line(g offsets.Group) string {
	t := g.Total(v.Snapshot.Origin.Cluster)
	text := fmt.Sprintf("%s  %s  %s, ", v.Now.UTC().Format(time.RFC3339), groupName(g.ID), cleanText(cmp.Or(g.State, "state unknown")))
	if g.Trouble != nil {
		return text + "unknown: " + cleanText(g.Trouble.Reason)
	}
	text += tally(g, t) + ", " + strings.ReplaceAll(v.lags(g, t), " · ", ", ")
	if pace := paceWords(g.Pace()); pace != "" {
		text += "; " + pace
	}
	return text
}
