package output

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
)

// HistorySchema is the schema of a group's history.
const HistorySchema = "gtoffset.history/1"

// History is what `history` shows: what a group committed before, and who did it.
type History struct {
	Origin     offsets.Origin
	At         time.Time // of the reading
	Group      offsets.Group
	History    offsets.History
	Retention  time.Duration // of commits in a group without members; 0 if not known
	Partition  int32         // of the offsets topic, in which the group is
	Partitions int32         // that this topic has
	Bytes      int64         // that were read
	Torn       bool          // compaction went on in every reading
	Hint       string        // the next step; "" for none

	Since, Until time.Time // the bounds that were asked for; zero: none
}

// Formats are those that Write knows.
func (v History) Formats() []Format { return []Format{Table, JSON, CSV} }

// Write writes the view in one of its formats; "" is a table.
func (v History) Write(s Stream, f Format) error {
	switch f {
	case Table, "":
		return v.text(s)
	case JSON:
		return v.json(s.W)
	case CSV:
		return v.csv(s.Exact())
	}
	return FormatError{f, v.Formats()}
}

func (v History) text(s Stream) error {
	p := &printer{w: s.W, width: s.Width}
	name := groupName(v.Group.ID)
	wide := labelWidth(name)
	labelled(p, wide, name, about(v.Group))
	clusterLine(p, v.Origin, wide)
	labelled(p, wide, "read", fmt.Sprintf("partition %d of %d of __consumer_offsets, %s (%s of the group)", v.Partition, v.Partitions, Bytes(v.Bytes), offsets.Plural(int(v.History.Records), "record")))
	text := v.History.Complete.String()
	if since := v.History.Complete.Since; !v.History.Complete.Whole && !since.IsZero() && v.At.After(since) {
		text = strings.Replace(text, "Z", "Z ("+offsets.Span(v.At.Sub(since).Truncate(time.Second))+" ago)", 1)
	}
	p.prose("  ", "%s", text)
	if grid := v.grid(s.Color); len(grid.Rows) > 0 && p.err == nil {
		p.printf("\n")
		grid.fit(s, 4, false)
		p.err = grid.draw(s)
		p.printf("\n")
	}
	p.prose("  ", "%s", v.tally())
	if back := v.History.ClockBack; back >= clockSlack {
		p.prose("  ", "note: times run backwards by %s at %s: another broker, with another clock, took over; the order of the log counts", offsets.Span(back), offsets.Clock(v.History.ClockAt))
	}
	if v.Hint != "" {
		p.printf("hint: %s\n", cleanText(v.Hint))
	}
	return p.err
}

// clockSlack is how far times run backwards within one coordinator: it takes requests at the same time.
const clockSlack = time.Second

// tally counts what is shown, and what is not.
func (v History) tally() string {
	h := v.History
	if h.Records == 0 {
		return "No record of the group is left."
	}
	text := fmt.Sprintf("%s of %s shown", offsets.Thousands(h.Shown), offsets.Plural(int(h.Commits), "commit"))
	var rest []string
	if h.Forward > 0 {
		rest = append(rest, fmt.Sprintf("%s went forward (the largest step %s)", offsets.Thousands(h.Forward), offsets.Thousands(h.Largest)))
	}
	if h.Same > 0 {
		rest = append(rest, offsets.Thousands(h.Same)+" stayed where "+verb(int(h.Same), "it was", "they were"))
	}
	if h.First > 0 {
		rest = append(rest, fmt.Sprintf("%s %s the first of %s", offsets.Thousands(h.First), verb(int(h.First), "is", "are"), verb(int(h.First), "its partition", "their partitions")))
	}
	if len(rest) > 0 {
		text += "; " + joinAnd(rest) + "; --all lists them"
	}
	var bounds []string
	if !v.Since.IsZero() {
		bounds = append(bounds, "--since "+offsets.Clock(v.Since))
	}
	if !v.Until.IsZero() {
		bounds = append(bounds, "--until "+offsets.Clock(v.Until))
	}
	if len(bounds) > 0 {
		text += fmt.Sprintf("; %s %s not within %s", offsets.Plural(int(h.Outside), "change"), verb(int(h.Outside), "is", "are"), joinAnd(bounds))
	}
	return text
}

// rows are the events, those of one request that say the same of a topic together.
func (v History) rows() [][]offsets.HistoryEvent {
	var rows [][]offsets.HistoryEvent
	events := v.History.Events
	for from := 0; from < len(events); {
		to := from + 1
		for to < len(events) && together(&events[from], &events[to]) {
			to++
		}
		rows = append(rows, events[from:to])
		from = to
	}
	return rows
}

// together reports whether two events differ in their partitions and numbers only.
func together(a, b *offsets.HistoryEvent) bool {
	return !a.OfGroup() && a.What == b.What && a.Key.Topic == b.Key.Topic && a.Request == b.Request && a.Time.Equal(b.Time) && a.By == b.By &&
		a.Count == b.Count && a.Producer == b.Producer && a.Txn == b.Txn && a.Note == b.Note && a.Unlike == b.Unlike && a.Whole == b.Whole && a.Commits == b.Commits && a.Ended.Equal(b.Ended) &&
		a.Largest == b.Largest && a.LargestAt.Equal(b.LargestAt) && a.Idle == b.Idle && (a.From == offsets.None) == (b.From == offsets.None)
}

func (v History) grid(colour bool) Grid {
	g := Grid{Columns: []Column{
		{Name: "TIME (UTC)"},
		{Name: "WHAT"},
		{Name: "TOPIC"},
		{Name: "PARTITIONS"},
		{Name: "FROM", Right: true},
		{Name: "TO", Right: true},
		{Name: "CHANGE", Right: true},
		{Name: "HELD", Right: true},
		{Name: "BY"},
	}}
	g.toned, g.lined = len(g.Columns)-1, true
	for _, row := range v.rows() {
		e := &row[0]
		cells := []string{e.Time.UTC().Format("2006-01-02 15:04:05.000"), e.What.String(), "", "", "", "", "", "", cleanText(e.Author(v.Retention))}
		if !e.OfGroup() {
			cells[2], cells[3] = Clean(e.Key.Topic), partitionsOf(row)
			cells[4] = spanOf(row, func(e *offsets.HistoryEvent) int64 { return e.From })
			cells[5] = spanOf(row, func(e *offsets.HistoryEvent) int64 { return e.To })
			cells[6], cells[7] = changeOf(row), heldOf(row)
		}
		g.Rows = append(g.Rows, cells)
		g.tones = append(g.tones, happeningTone(e))
	}
	if !colour {
		g.tones = nil
	}
	return g
}

// happeningTone repeats in colour what the words say.
func happeningTone(e *offsets.HistoryEvent) tone {
	switch {
	case e.What == offsets.WentBack, e.What == offsets.OtherTopic, e.What == offsets.UnknownForm:
		return toneRed
	case e.By == offsets.NotAMember, e.By == offsets.TheBroker, e.What == offsets.TxnPending, e.What == offsets.TxnAborted, e.What == offsets.TxnOvertaken:
		return toneYellow
	case e.What == offsets.Membership:
		return toneDim
	}
	return toneNone
}

// mostRanges is how many ranges of partitions a row names.
const mostRanges = 8

// partitionsOf lists the partitions of a row, as -t takes them; of many ranges the first ones.
func partitionsOf(row []offsets.HistoryEvent) string {
	s := offsets.Selection{}
	for i := range row {
		s.Partitions = append(s.Partitions, row[i].Key.Partition)
	}
	slices.Sort(s.Partitions)
	s.Partitions = slices.Compact(s.Partitions)
	all := strings.Split(strings.TrimPrefix(s.String(), ":"), ",")
	if len(all) > mostRanges {
		return fmt.Sprintf("%s,… (%s in all)", strings.Join(all[:mostRanges], ","), offsets.Thousands(int64(len(s.Partitions))))
	}
	return strings.Join(all, ",")
}

// spanOf is a number of a row, or the smallest and the largest.
func spanOf(row []offsets.HistoryEvent, of func(*offsets.HistoryEvent) int64) string {
	least, most := of(&row[0]), of(&row[0])
	for i := range row {
		least, most = min(least, of(&row[i])), max(most, of(&row[i]))
	}
	if least == most {
		return orDash(least)
	}
	return orDash(least) + " to " + orDash(most)
}

// changeOf is how far the numbers of a row moved, all together.
func changeOf(row []offsets.HistoryEvent) string {
	switch e := &row[0]; {
	case (e.What == offsets.TxnAborted || e.What == offsets.TxnOvertaken) && e.From != offsets.None:
		return "stays"
	case e.What == offsets.TxnPending:
		return "perhaps"
	}
	sum := new(big.Int) // that of several may be out of 64 bits
	for i := range row {
		n, moved := row[i].Change()
		if !moved {
			return "-"
		}
		sum.Add(sum, big.NewInt(n))
	}
	if sum.Sign() > 0 {
		return "+" + sum.String()
	}
	return sum.String()
}

// heldOf is how long the numbers of a row had stood.
func heldOf(row []offsets.HistoryEvent) string {
	least, most := row[0].Held, row[0].Held
	for i := range row {
		least, most = min(least, row[i].Held), max(most, row[i].Held)
	}
	from, to := held(least), held(most)
	if from == to {
		return from
	}
	return from + " to " + to
}

// held writes a short span exactly: 38 ms, 1.8 s, 2 min 30 s.
func held(d time.Duration) string {
	switch {
	case d < 0:
		return "-"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Truncate(100*time.Millisecond).Seconds())
	}
	return offsets.Span(d.Truncate(time.Second))
}

// historyType is the group's type as documents have it.
func historyType(g offsets.Group) string { return cmp.Or(string(g.Type), string(offsets.TypeUnknown)) }
