package output

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
)

// Describe is what `describe -g` shows: every partition of every group, totals, and what a restart would do.
type Describe struct {
	Snapshot offsets.Snapshot
	Now      time.Time       // for ages in text; documents have instants
	Checks   []offsets.Check // conditions that --check and --max-… have tested; in documents only
	Times    bool            // with the columns of --time
	Rates    bool            // with how the rows have moved since the last look
	Named    bool            // each group was named: one without partitions is told of at length, however little is asked for
	Topics   []string        // those that were asked for, none for all

	sums bool // the rates of single rows are left out for want of room

	// Show picks the rows to list, nil lists all (--problems). Totals and forecast are of the whole group in any case: what is
	// not listed is not lost.
	Show func(g offsets.Group, r offsets.Row) bool
	// Hint gives the next step for a group, "" for none. It stands below the group's forecast, in text only. Both functions are
	// called by several goroutines.
	Hint func(g offsets.Group) string
}

// Formats are those that Write knows.
func (d Describe) Formats() []Format { return []Format{Table, Wide, JSON, YAML, CSV, Prom} }

// Write writes the view in one of its formats; "" is a table.
func (d Describe) Write(s Stream, f Format) error {
	switch f {
	case Table, Wide, "":
		return d.text(s, f == Wide)
	case JSON:
		return d.json(s.W)
	case YAML:
		return asYAML(s.W, d.json)
	case CSV:
		return d.csv(s.Exact())
	case Prom:
		return d.prom(s.Exact())
	}
	return FormatError{f, d.Formats()}
}

func (d *Describe) rows(g offsets.Group) []offsets.Row {
	if d.Show == nil {
		return g.Rows
	}
	var shown []offsets.Row
	for _, r := range g.Rows {
		if d.Show(g, r) {
			shown = append(shown, r)
		}
	}
	return shown
}

func (d *Describe) text(s Stream, wide bool) error {
	p := &printer{w: s.W, width: s.Width}
	groups := d.Snapshot.Groups
	if len(groups) == 1 {
		d.group(p, s, groups[0], wide, func(legend string) { p.printf("%s", legend) })
		return p.err
	}
	clusterLine(p, d.Snapshot.Origin, len(clusterLabel))
	if len(groups) == 0 {
		p.printf("\nno groups\n")
	}
	gap, legend := true, true
	for part := range slices.Chunk(groups, groupsAtOnce) {
		for _, b := range d.blocks(s, part, wide) {
			if gap || !b.short {
				p.printf("\n")
			}
			gap = !b.short
			p.printf("%s", b.text[:b.legend])
			if b.legend < b.after && legend {
				p.printf("%s", b.text[b.legend:b.after])
				legend = false
			}
			p.printf("%s", b.text[b.after:])
		}
		if p.err != nil {
			break
		}
	}
	return p.err
}

// groupsAtOnce is how many groups are drawn before they are written.
const groupsAtOnce = 64

// lineBytes is what a line of a table takes, mostly.
const lineBytes = 80

// block is the text of one of several groups.
type block struct {
	text          []byte
	short         bool // a line is enough
	legend, after int  // where the gauge's legend begins and ends: it is wanted once
}

// blocks draws groups on all processors: many of them take longer to draw than to be asked for.
func (d *Describe) blocks(s Stream, groups []offsets.Group, wide bool) []block {
	all := make([]block, len(groups))
	offsets.Each(len(groups), func(i int) {
		var text bytes.Buffer
		text.Grow(1<<10 + lineBytes*len(groups[i].Rows))
		s, b := s, &all[i]
		s.W = &text
		p := &printer{w: s.W, width: s.Width}
		b.short = d.group(p, s, groups[i], wide, func(legend string) {
			b.legend = text.Len()
			p.printf("%s", legend)
			b.after = text.Len()
		})
		b.text = text.Bytes()
	})
	return all
}

// group writes one group, a gauge's legend by a function of its own, and tells whether a line was enough.
func (d *Describe) group(p *printer, s Stream, g offsets.Group, wide bool, legend func(string)) (short bool) {
	shown := d.rows(g)
	if d.fine(g, shown) {
		d.line(p, s, g)
		return true
	}
	d.heading(p, s, g)
	told := d.reasons(p, g, shown)
	if len(shown) > 0 && p.err == nil {
		p.printf("\n")
		grid, gauge := d.grid(g, shown, s, wide, told)
		if p.err = grid.draw(s); gauge {
			legend(d.gaugeLegend(s, g))
		}
	}
	if hidden := len(g.Rows) - len(shown); hidden > 0 {
		if len(shown) == 0 {
			p.printf("\n")
		}
		p.printf("%s more %s not shown.\n", offsets.Thousands(int64(hidden)), verb(hidden, "is", "are"))
	}
	d.totals(p, g)
	d.forecast(p, g)
	if d.Hint != nil {
		if hint := d.Hint(g); hint != "" {
			p.printf("hint: %s\n", cleanText(hint))
		}
	}
	return false
}

// fine reports a group of which a line is enough where only problems are asked for.
func (d *Describe) fine(g offsets.Group, shown []offsets.Row) bool {
	return d.Show != nil && len(shown) == 0 && g.Trouble == nil && len(g.Notes) == 0 && !g.Locked() &&
		(len(g.Rows) > 0 || g.Store == nil && !(d.Named && g.Nothing())) && (g.Store == nil || g.Store.Trouble == nil && len(g.Store.Notes) == 0)
}

// line is all that is said of a group that is fine.
func (d *Describe) line(p *printer, s Stream, g offsets.Group) {
	text := about(g)
	if len(g.Rows) > 0 {
		text += " · " + tally(g, g.Total(d.Snapshot.Origin.Cluster))
	} else if none := d.noPartitions(g); none != "" {
		text += " · " + none
	}
	d.first(p, s, g, text)
	if len(d.Snapshot.Groups) == 1 {
		clusterLine(p, d.Snapshot.Origin, labelWidth(groupName(g.ID)))
	}
}

const clusterLabel = "cluster"

// labelWidth is how wide the labels are below a group's name: aligned with it, unless that is a long one.
func labelWidth(name string) int {
	if w := width(name); w <= 30 {
		return max(w, len(clusterLabel))
	}
	return len(clusterLabel)
}

// labelled writes a line of a heading.
func labelled(p *printer, wide int, label, text string) {
	p.prose(strings.Repeat(" ", wide+3), "%s%s   %s", label, strings.Repeat(" ", max(wide-width(label), 0)), text)
}

// clusterLine says which cluster it is, its address, and where that came from.
func clusterLine(p *printer, o offsets.Origin, wide int) {
	text := cleanText(cmp.Or(o.Cluster, "of unknown id"))
	if o.Bootstrap != "" {
		text += " at " + cleanText(o.Bootstrap)
	}
	if o.Source != "" {
		text += " (" + cleanText(o.Source) + ")"
	}
	labelled(p, wide, clusterLabel, text)
}

// first is the line that begins with the group's name.
func (d *Describe) first(p *printer, s Stream, g offsets.Group, text string) {
	name := groupName(g.ID)
	wide := labelWidth(name)
	line := fold(name+strings.Repeat(" ", max(wide-width(name), 0)+3)+text, s.Width, strings.Repeat(" ", wide+3))
	if rest, ok := strings.CutPrefix(line, name); ok {
		line = newPaints(s.Color).paint(toneBold, name) + rest
	}
	p.printf("%s\n", line)
}

// heading says which group this is, and where its two sides are read from.
func (d *Describe) heading(p *printer, s Stream, g offsets.Group) {
	wide := labelWidth(groupName(g.ID))
	d.first(p, s, g, about(g))
	if len(d.Snapshot.Groups) == 1 {
		clusterLine(p, d.Snapshot.Origin, wide)
	}
	if g.Store != nil {
		path := cmp.Or(g.Store.Path, d.Snapshot.Origin.Store)
		labelled(p, wide, "store", cleanText(path)+d.storeState(g.Store))
	}
	if g.Unstored != "" {
		labelled(p, wide, "store", cleanText(g.Unstored)+": "+judgedWithout(&g))
	}
	if names := g.MemberNames(); names != "" {
		labelled(p, wide, "members", cleanText(names))
	}
	if kept := commitsKept(g); kept != "" {
		labelled(p, wide, "commits", kept)
	}
	if g.Store != nil {
		for _, note := range g.Store.Notes {
			p.prose("  ", "note: store: %s", cleanText(note))
		}
	}
	for _, note := range timeNotes(g) {
		p.prose("  ", "note: %s", note)
	}
	if g.Trouble != nil {
		p.printf("%s\n", newPaints(s.Color).paint(toneRed, fold("unknown: the group could not be read: "+cleanText(g.Trouble.Reason), s.Width, "  ")))
	}
	for _, note := range g.Notes {
		p.prose("  ", "note: %s", cleanText(note))
	}
}

// longReason is from how many columns on a reason that several rows have is said once, above them.
const longReason = 24

// reasons writes out, once, what several of the rows have as their reason, and returns it with what the heading has told.
func (d *Describe) reasons(p *printer, g offsets.Group, shown []offsets.Row) map[string]bool {
	told := map[string]bool{}
	if g.Trouble != nil {
		told[g.Trouble.Reason] = true
	}
	if g.Store != nil && g.Store.Trouble != nil {
		told[g.Store.Trouble.Reason] = true
	}
	type place struct {
		side   offsets.Side
		topics []string
	}
	type found struct {
		rows   int
		places []place
	}
	all := map[string]*found{}
	var order []string
	see := func(r *offsets.Row, side offsets.Side, reason string) {
		if told[reason] || width(reason) <= longReason {
			return
		}
		f := all[reason]
		if f == nil {
			f = &found{}
			all[reason], order = f, append(order, reason)
		}
		f.rows++
		i := slices.IndexFunc(f.places, func(p place) bool { return p.side == side })
		if i < 0 {
			i, f.places = len(f.places), append(f.places, place{side: side})
		}
		if t := &f.places[i].topics; len(*t) == 0 || (*t)[len(*t)-1] != r.Topic {
			*t = append(*t, r.Topic)
		}
	}
	for i := range shown {
		r := &shown[i]
		if !r.Range.Known() && !r.Range.Gone() {
			see(r, "", r.Range.Reason)
		}
		if g.Store != nil && r.Stored.Problem() {
			see(r, offsets.Stored, r.Stored.Reason)
		}
		if r.Committed.Problem() {
			see(r, offsets.Committed, r.Committed.Reason)
		}
	}
	for _, reason := range order {
		f := all[reason]
		if f.rows < 2 {
			continue
		}
		told[reason] = true
		var say []string
		for _, at := range f.places {
			of := fewNames(at.topics)
			if at.side != "" {
				of = string(at.side) + " of " + of
			}
			say = append(say, of)
		}
		p.prose("  ", "note: %s: %s", joinAnd(say), cleanText(reason))
	}
	return told
}

// fewNames lists up to three names.
func fewNames(names []string) string {
	clean := make([]string, 0, 4)
	for i, n := range names {
		if i == 3 {
			return strings.Join(clean, ", ") + " and " + offsets.Thousands(int64(len(names)-i)) + " more"
		}
		clean = append(clean, Clean(n))
	}
	return joinAnd(clean)
}

// about is the group's type, state and members.
func about(g offsets.Group) string {
	if g.Existence == offsets.Missing {
		if len(g.Rows) > 0 {
			return "no such group in Kafka, only in the store"
		}
		return "no such group in Kafka"
	}
	kind := "group of unknown type"
	if g.Type != "" && g.Type != offsets.TypeUnknown {
		kind = string(g.Type) + " group"
	}
	members := "no members"
	switch n := len(g.Members); {
	case n > 0:
		members = offsets.Plural(n, "member")
	case g.Trouble != nil:
		members = "members unknown"
	}
	state := "state unknown"
	if g.State != "" {
		state = cleanText(g.State)
	}
	about := kind + ", " + state + ", " + members
	if g.Type == offsets.Simple {
		about += " (commits only: its job assigns partitions by hand)"
	}
	return about
}

// storeState is what follows the place of a store.
func (d *Describe) storeState(st *offsets.Store) string {
	switch {
	case st.Trouble != nil:
		return ", unknown: " + cleanText(st.Trouble.Reason)
	case st.Nothing():
		return ": " + d.nothingThere()
	}
	saved := ", time of the last save unknown"
	if !st.Saved.IsZero() {
		saved = ", saved " + age(d.Now.Sub(st.Saved))
	}
	if st.Holder != "" {
		saved += ", locked by " + cleanText(st.Holder)
	}
	return saved
}

// nothingThere says of a store that it has nothing of a group, or of the topics that were asked for.
func (d *Describe) nothingThere() string {
	if len(d.Topics) > 0 {
		return "nothing of these topics is there"
	}
	return "nothing of this group is there"
}

// judgedWithout is said of a group of which nothing is in a store that has others.
func judgedWithout(g *offsets.Group) string {
	if len(g.Rows) == 0 { // it has none
		return "nothing of this group is there"
	}
	return "nothing of this group is there; it is judged by its commits alone"
}

// age is how long ago something was.
func age(d time.Duration) string {
	if d <= -time.Second {
		return offsets.Span(d.Abs()) + " in the future"
	}
	return offsets.Span(max(d, 0).Truncate(time.Second)) + " ago"
}
