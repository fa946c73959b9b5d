package output

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
)

// Describe is what `describe -g` shows: every partition of every group, totals, and what a restart would do.
type Describe struct {
	Snapshot offsets.Snapshot
	Now      time.Time       // for ages in text; documents have instants
	Checks   []offsets.Check // conditions that --check and --max-… have tested; in documents only

	// Show picks the rows to list, nil lists all (--problems). Totals and forecast are of the whole group in any case: what is
	// not listed is not lost.
	Show func(g offsets.Group, r offsets.Row) bool
	// Hint gives the next step for a group, "" for none. It stands below the group's forecast, in text only.
	Hint func(g offsets.Group) string
}

// Write writes the view as table, wide, json, yaml or csv.
func (d Describe) Write(s Stream, f Format) error {
	switch f {
	case Table, Wide, "":
		return d.text(s, f == Wide)
	case JSON:
		return d.json(s.W)
	case YAML:
		var b bytes.Buffer
		if err := d.json(&b); err != nil {
			return err
		}
		return writeYAML(s.W, b.Bytes())
	case CSV:
		return d.csv(s.W)
	}
	return FormatError{f, []Format{Table, Wide, JSON, YAML, CSV}}
}

func (d Describe) rows(g offsets.Group) []offsets.Row {
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

func (d Describe) text(s Stream, wide bool) error {
	p := &printer{w: s.W, width: s.Width}
	groups := d.Snapshot.Groups
	if len(groups) != 1 {
		clusterLine(p, d.Snapshot.Origin, len(clusterLabel))
	}
	if len(groups) == 0 {
		p.printf("\nno groups\n")
	}
	gap, legend := len(groups) != 1, true
	for i, g := range groups {
		shown := d.rows(g)
		if d.fine(g, shown) {
			if gap {
				p.printf("\n")
			}
			d.line(p, s, g)
			gap = false
			continue
		}
		if gap || i > 0 {
			p.printf("\n")
		}
		gap = true
		d.heading(p, s, g)
		told := d.reasons(p, g, shown)
		if len(shown) > 0 && p.err == nil {
			p.printf("\n")
			grid, gauge := d.grid(g, shown, s, wide, told)
			if p.err = grid.draw(s); gauge && legend {
				p.printf("%s\n", newPaints(s.Color).paint(toneDim, fold(gaugeLegend(g.Store != nil), s.Width, "")))
				legend = false
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
	}
	return p.err
}

// fine reports a group of which a line is enough where only problems are asked for.
func (d Describe) fine(g offsets.Group, shown []offsets.Row) bool {
	return d.Show != nil && len(shown) == 0 && g.Trouble == nil && len(g.Notes) == 0 &&
		(g.Store == nil || g.Store.Trouble == nil && len(g.Store.Notes) == 0)
}

// line is all that is said of a group that is fine.
func (d Describe) line(p *printer, s Stream, g offsets.Group) {
	text := about(g)
	if len(g.Rows) > 0 {
		text += " · " + d.tally(g, g.Total(d.Snapshot.Origin.Cluster))
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
func (d Describe) first(p *printer, s Stream, g offsets.Group, text string) {
	name := groupName(g.ID)
	wide := labelWidth(name)
	line := fold(name+strings.Repeat(" ", max(wide-width(name), 0)+3)+text, s.Width, strings.Repeat(" ", wide+3))
	if rest, ok := strings.CutPrefix(line, name); ok {
		line = newPaints(s.Color).paint(toneBold, name) + rest
	}
	p.printf("%s\n", line)
}

// heading says which group this is, and where its two sides are read from.
func (d Describe) heading(p *printer, s Stream, g offsets.Group) {
	wide := labelWidth(groupName(g.ID))
	d.first(p, s, g, about(g))
	if len(d.Snapshot.Groups) == 1 {
		clusterLine(p, d.Snapshot.Origin, wide)
	}
	if g.Store != nil {
		path := cmp.Or(g.Store.Path, d.Snapshot.Origin.Store)
		labelled(p, wide, "store", cleanText(path)+", "+d.storeState(g.Store))
	}
	if names := g.MemberNames(); names != "" {
		labelled(p, wide, "members", cleanText(names))
	}
	if g.Store != nil {
		for _, note := range g.Store.Notes {
			p.prose("  ", "note: store: %s", cleanText(note))
		}
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
func (d Describe) reasons(p *printer, g offsets.Group, shown []offsets.Row) map[string]bool {
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

func (d Describe) storeState(st *offsets.Store) string {
	if st.Trouble != nil {
		return "unknown: " + cleanText(st.Trouble.Reason)
	}
	saved := "time of the last save unknown"
	if !st.Saved.IsZero() {
		saved = "saved " + age(d.Now.Sub(st.Saved))
	}
	if st.Holder != "" {
		saved += ", locked by " + cleanText(st.Holder)
	}
	return saved
}

// age is how long ago something was.
func age(d time.Duration) string {
	if d <= -time.Second {
		return offsets.Span(-d) + " in the future"
	}
	return offsets.Span(max(d, 0).Truncate(time.Second)) + " ago"
}

// gaugeState is how much of STATE must be left for the gauge to stay.
const gaugeState = 40

// grid lays out the rows of a group for the stream's width: the gauge goes first, then STATE is shortened. told has the reasons
// that are written out above. gauge tells whether one is drawn.
func (d Describe) grid(g offsets.Group, rows []offsets.Row, s Stream, wide bool, told map[string]bool) (grid Grid, gauge bool) {
	store, cluster := g.Store != nil, d.Snapshot.Origin.Cluster
	grid = Grid{Columns: columns(store, wide), Rows: make([][]string, len(rows))}
	state := slices.IndexFunc(grid.Columns, func(c Column) bool { return c.Name == "STATE" })
	grid.toned, grid.tones = state, nil
	if s.Color {
		grid.tones = make([]tone, len(rows))
	}
	n := len(grid.Columns)
	all := make([]string, len(rows)*(n+1)) // room for the gauge
	var text arena
	for i := range rows {
		row := all[i*(n+1) : i*(n+1)+n : (i+1)*(n+1)]
		j := offsets.JudgeRow(&rows[i], cluster, store)
		cells(row, &text, &j, store, wide, told)
		grid.Rows[i] = row
		if s.Color {
			grid.tones[i] = toneOf(&j, store)
		}
	}
	if wide {
		return grid, false
	}
	whole, room := len("STATE"), s.Width
	if s.Gauge && s.Width > 0 {
		for i, w := range grid.widths() {
			if i == state {
				whole = w
				continue
			}
			room -= w + gutter
		}
		room -= gaugeWidth + 1
	}
	if !s.Gauge || s.Width > 0 && room < min(whole, gaugeState) {
		grid.fit(s, 1, true)
		return grid, false
	}
	grid.Columns[state].gap = 1 // the gauge begins with a blank of its own
	grid.Columns = append(grid.Columns, Column{})
	for i, r := range rows {
		gauge = gauge || r.Range.Known()
		stored := r.Stored
		if !store {
			stored = offsets.Entry{}
		}
		if s.Width > 0 {
			grid.Rows[i][state] = cut(grid.Rows[i][state], room, s.ASCII)
		}
		grid.Rows[i] = append(grid.Rows[i], Gauge(r.Range, stored, r.Committed, s.ASCII))
	}
	return grid, gauge
}

func columns(store, wide bool) []Column {
	right := func(names ...string) []Column {
		var all []Column
		for _, n := range names {
			all = append(all, Column{Name: n, Right: true})
		}
		return all
	}
	c := []Column{{Name: "TOPIC"}}
	c = append(c, right("PARTITION", "EARLIEST")...)
	if store {
		c = append(c, right("STORED")...)
	}
	c = append(c, right("COMMITTED", "END", "LAG")...)
	if store {
		c = append(c, right("STORED-LAG")...)
	}
	if !wide {
		return append(c, Column{Name: "STATE"})
	}
	if store {
		c = append(c, right("STORED-EXPIRED", "STORED-AHEAD", "UNPROCESSED")...)
	}
	c = append(c, right("EXPIRED", "AHEAD", "STABLE", "LEADER", "LEADER-EPOCH", "EPOCH")...)
	if store {
		c = append(c, right("STORED-EPOCH")...)
	}
	for _, n := range []string{"TOPIC-ID", "OWNER", "METADATA", "STATE"} {
		c = append(c, Column{Name: n})
	}
	return c
}

// cells fills in a row for columns.
func cells(row []string, text *arena, j *offsets.Judged, store, wide bool, told map[string]bool) {
	r, stored, committed := j.Row, &j.Stored, &j.Committed
	i := 0
	put := func(s string) { row[i] = s; i++ }
	num := func(n int64, known bool) {
		if !known || n == offsets.None {
			put("-")
			return
		}
		put(text.number(n))
	}
	entry := func(e *offsets.Entry) { num(e.Offset, e.Presence == offsets.Present) }
	put(Clean(r.Topic))
	num(int64(r.Partition), true)
	num(r.Range.Earliest, r.Range.Known())
	if store {
		entry(&r.Stored)
	}
	entry(&r.Committed)
	num(r.Range.End, r.Range.Known())
	num(committed.Lag, true)
	if store {
		num(stored.Lag, true)
	}
	if wide {
		if store {
			num(stored.Expired, true)
			num(stored.Ahead, true)
			n, ok := j.Unprocessed()
			num(max(n, 0), ok)
		}
		num(committed.Expired, true)
		num(committed.Ahead, true)
		num(r.Range.Stable, r.Range.Known())
		num(int64(r.Range.Leader), r.Range.Known())
		num(int64(r.Range.Epoch), r.Range.Known())
		num(int64(r.Committed.Epoch), r.Committed.Presence == offsets.Present)
		if store {
			num(int64(r.Stored.Epoch), r.Stored.Presence == offsets.Present)
		}
		put(cmp.Or(cleanText(r.Range.TopicID), "-"))
		put(cmp.Or(Clean(r.Owner), "-"))
		put(cmp.Or(Clean(r.Committed.Metadata), "-"))
	}
	put(cleanText(j.Brief(told)))
}

// toneOf colours STATE: red where something is lost or not known, yellow for low and unprocessed, dim where all is well.
func toneOf(j *offsets.Judged, store bool) tone {
	t := toneNone
	see := func(s *offsets.State) {
		switch {
		case s.Condition == offsets.High, s.Condition == offsets.Gone, s.Condition == offsets.Unknown,
			s.Identity == offsets.Recreated, s.Foreign:
			t = toneRed
		case s.Condition == offsets.Low && t != toneRed:
			t = toneYellow
		}
	}
	see(&j.Committed)
	if store {
		see(&j.Stored)
		n, ok := j.Unprocessed()
		if t == toneNone && (ok && n > 0 || j.Stored.Condition == offsets.NoEntry) {
			t = toneYellow
		}
	}
	switch {
	case t == toneNone && !j.Row.Range.Known():
		return toneRed
	case t == toneNone && j.Committed.Condition == offsets.OK:
		return toneDim
	}
	return t
}

// totals is the line below the table.
func (d Describe) totals(p *printer, g offsets.Group) {
	if len(g.Rows) == 0 {
		switch {
		case g.Trouble != nil, g.Existence == offsets.Missing:
		case g.Type == offsets.Share:
			p.printf("\nA share group has no offsets of this kind: the broker keeps its state.\n")
		default:
			p.printf("\nno partitions: nothing committed, nothing assigned\n")
		}
		return
	}
	t := g.Total(d.Snapshot.Origin.Cluster)
	p.printf("\n")
	p.prose("  ", "%s · %s", d.tally(g, t), d.lags(g, t))
}

// tally counts the partitions and those that are ok, with what the table says of these in other words than ok.
func (d Describe) tally(g offsets.Group, t offsets.Totals) string {
	var unprocessed, never, expired, behind int
	for i := range g.Rows {
		j := offsets.JudgeRow(&g.Rows[i], d.Snapshot.Origin.Cluster, g.Store != nil)
		if !j.Healthy() {
			continue
		}
		n, ok := j.Unprocessed()
		switch {
		case j.Committed.Condition == offsets.NoEntry && g.Store != nil && j.Row.Stored.Presence == offsets.Present:
			expired++
		case j.Committed.Condition == offsets.NoEntry:
			never++
		case g.Store == nil || !ok:
		case n > 0:
			unprocessed++
		case n < 0:
			behind++
		}
	}
	text := offsets.Plural(t.Partitions, "partition") + ", " + offsets.Thousands(int64(t.Healthy)) + " ok"
	var say []string
	for _, k := range []struct {
		n    int
		what string
	}{{unprocessed, "with unprocessed records"}, {never, "never committed"}, {expired, "without a committed offset"}, {behind, "committed behind stored"}} {
		switch {
		case k.n == 0:
		case k.n == 1 && t.Healthy == 1:
			say = append(say, k.what)
		case k.n == t.Healthy:
			say = append(say, "all of them "+k.what)
		case len(say) == 0:
			say = append(say, offsets.Thousands(int64(k.n))+" of them "+k.what)
		default:
			say = append(say, offsets.Thousands(int64(k.n))+" "+k.what)
		}
	}
	if len(say) == 0 {
		return text
	}
	return text + ", " + joinAnd(say)
}

// lags words the sums, with the end that they run to and what they leave out.
func (d Describe) lags(g offsets.Group, t offsets.Totals) string {
	to := ""
	if stable(g) {
		to = " to the last stable offset (read_committed)"
	}
	lag := "lag" + to + " " + offsets.Thousands(t.Lag)
	if t.LagUncounted == t.Partitions {
		lag = "lag unknown"
	}
	committed, stored := "", ""
	if t.LagUncounted > 0 {
		committed = uncounted(g, d.Snapshot.Origin.Cluster, offsets.Committed)
	}
	if g.Store == nil {
		if committed != "" && t.LagUncounted < t.Partitions {
			lag += ", without " + committed
		}
		return lag
	}
	storedLag := "stored-lag " + offsets.Thousands(t.StoredLag)
	if t.StoredLagUncounted == t.Partitions {
		storedLag = "stored-lag unknown"
	}
	if t.StoredLagUncounted > 0 {
		stored = uncounted(g, d.Snapshot.Origin.Cluster, offsets.Stored)
	}
	switch {
	case t.LagUncounted == t.Partitions, t.StoredLagUncounted == t.Partitions:
		if committed != "" && t.LagUncounted < t.Partitions {
			lag += ", without " + committed
		}
		if stored != "" && t.StoredLagUncounted < t.Partitions {
			storedLag += ", without " + stored
		}
		return lag + " · " + storedLag
	case committed == "" && stored == "":
		return lag + " and " + storedLag
	case committed == stored:
		return lag + " and " + storedLag + ", each without " + committed
	}
	if committed != "" {
		lag += ", without " + committed
	}
	if stored != "" {
		storedLag += ", without " + stored
	}
	return lag + " · " + storedLag
}

// stable tells whether the last stable offsets were asked for, and so where lag ends.
func stable(g offsets.Group) bool {
	for i := range g.Rows { // they are large, and all of them are asked when the answer is no
		if r := &g.Rows[i].Range; r.Known() && r.Stable != offsets.None {
			return true
		}
	}
	return false
}

// uncounted words how many partitions a sum leaves out and why, "" if none.
func uncounted(g offsets.Group, cluster string, side offsets.Side) string {
	var none, gone, unknown int
	for _, r := range g.Rows {
		switch offsets.Judge(r.Entry(side), r.Range, cluster).Condition {
		case offsets.NoEntry:
			none++
		case offsets.Gone:
			gone++
		case offsets.Unknown:
			unknown++
		}
	}
	var say []string
	add := func(n int, one, many string) {
		switch {
		case n == 0:
		case len(say) == 0:
			say = append(say, offsets.Plural(n, "partition")+" that "+verb(n, one, many))
		default:
			say = append(say, offsets.Thousands(int64(n))+" that "+verb(n, one, many))
		}
	}
	add(none, "has no offset", "have no offset")
	add(unknown, "could not be read", "could not be read")
	add(gone, "is gone", "are gone")
	return joinAnd(say)
}

func joinAnd(s []string) string {
	if len(s) < 2 {
		return strings.Join(s, "")
	}
	return strings.Join(s[:len(s)-1], ", ") + " and " + s[len(s)-1]
}

// forecast says what a restart would do, from each place. The first place tells the policies line by line, the others in one.
func (d Describe) forecast(p *printer, g offsets.Group) {
	if len(g.Rows) == 0 {
		return
	}
	outcomes := offsets.Forecast(g, d.Snapshot.Origin.Cluster)
	long := true
	for i, o := range outcomes {
		if o.Policy != offsets.PolicyApart {
			continue
		}
		if i == 0 {
			p.printf("\n")
		}
		long = restart(p, o, outcomes, g, long)
	}
}

// restart words one place. It returns whether the policies still wait to be told at length.
func restart(p *printer, base offsets.Outcome, all []offsets.Outcome, g offsets.Group, long bool) bool {
	store := g.Store != nil
	const hang = "    "
	from := "A restart from the store    "
	if base.From == offsets.Committed {
		from = "A restart from the commits  "
	}
	if base.Uncounted == len(g.Rows) {
		p.printf("%s cannot be told: no partition could be counted.\n", from)
		return long
	}
	rest := ""
	if base.Unsure > 0 {
		rest += fmt.Sprintf("; how much of %s was processed the store does not say", offsets.Plural(base.Unsure, "commit"))
	}
	if base.Uncounted > 0 {
		rest += fmt.Sprintf("; %s could not be counted", offsets.Plural(base.Uncounted, "partition"))
	}
	none := base.WithoutOffset > 0 && !slices.ContainsFunc(g.Rows, func(r offsets.Row) bool {
		return r.Entry(base.From).Presence == offsets.Present && !r.Range.Gone()
	})
	switch {
	case none: // what it loses is the policy's to say
	case base.From == offsets.Committed && !store:
		p.prose(hang, "%s loses %s, reads %s; how much was processed cannot be told without a store%s.", from, losses(base), offsets.Thousands(base.Reads), rest)
	default:
		p.prose(hang, "%s loses %s, repeats %s, reads %s%s.", from, losses(base), offsets.Thousands(base.Repeats), offsets.Thousands(base.Reads), rest)
	}
	if base.OutOfRange == 0 && base.WithoutOffset == 0 {
		return long
	}
	var earliest, latest offsets.Outcome
	for _, o := range all {
		switch {
		case o.From != base.From:
		case o.Policy == offsets.PolicyEarliest:
			earliest = o
		case o.Policy == offsets.PolicyLatest:
			latest = o
		}
	}
	more := " more"
	if none {
		more = ""
	}
	repeats := fmt.Sprintf("repeats %s, reads %s%s", upTo(earliest.Repeats-base.Repeats), offsets.Thousands(earliest.Reads-base.Reads), more)
	loses := fmt.Sprintf("loses %s%s", upTo(latest.Readable-base.Readable), more)
	switch {
	case none && long:
		p.prose(hang, "%s has no offset to restart from%s; the job's auto.offset.reset decides alone:", from, rest)
	case none:
		p.prose(hang, "%s has no offset to restart from%s; the policy decides alone: earliest %s · latest %s · none stops", from, rest, repeats, loses)
	case long:
		p.prose("    ", "  %s; there the job's auto.offset.reset decides:", decided(base))
	default:
		p.prose("    ", "  %s: earliest %s · latest %s · none stops", decided(base), repeats, loses)
	}
	if long {
		p.printf("    earliest   %s\n", repeats)
		p.printf("    latest     %s (the default of Java clients)\n", loses)
		p.printf("    none       the job stops\n")
	}
	return false
}

// losses words what is lost, by kind.
func losses(o offsets.Outcome) string {
	type kind struct {
		n    int64
		what string
	}
	var kinds []kind
	for _, k := range []kind{
		{o.Expired, "expired"},
		{o.Unprocessed, "committed, never processed"},
		{o.Readable, "readable, of a log that is another one now"},
	} {
		if k.n > 0 {
			kinds = append(kinds, k)
		}
	}
	switch len(kinds) {
	case 0:
		return "0"
	case 1:
		return fmt.Sprintf("%s (%s)", offsets.Thousands(kinds[0].n), kinds[0].what)
	}
	var sum int64
	var parts []string
	for _, k := range kinds {
		sum += k.n
		parts = append(parts, offsets.Thousands(k.n)+" "+k.what)
	}
	return fmt.Sprintf("%s (%s)", offsets.Thousands(sum), strings.Join(parts, "; "))
}

func upTo(n int64) string {
	if n <= 0 {
		return "0"
	}
	return "up to " + offsets.Thousands(n)
}

// decided words for how many partitions a client's policy decides.
func decided(o offsets.Outcome) string {
	var say []string
	noun := func(n int) string {
		if len(say) > 0 {
			return offsets.Thousands(int64(n))
		}
		return offsets.Plural(n, "partition")
	}
	if o.OutOfRange > 0 {
		say = append(say, noun(o.OutOfRange)+verb(o.OutOfRange, " is", " are")+" out of range")
	}
	if o.WithoutOffset > 0 {
		say = append(say, noun(o.WithoutOffset)+verb(o.WithoutOffset, " has", " have")+" no offset")
	}
	return strings.Join(say, ", ")
}

// csvHeader is the stable header of describe's CSV.
func (d Describe) csv(w io.Writer) error {
	header := []string{
		"group", "topic", "partition", "earliest", "stored", "committed", "end", "lag", "stored_lag", "state", "ok",
		"condition", "expired", "ahead", "stored_condition", "stored_identity", "stored_expired", "stored_ahead", "unprocessed",
		"stable", "leader", "leader_epoch", "epoch", "stored_epoch", "topic_id", "owner", "metadata", "error",
	}
	cluster := d.Snapshot.Origin.Cluster
	return writeCSV(w, header, func(write func([]string)) {
		row := make([]string, 0, len(header))
		num := func(n int64, known bool) {
			if !known || n == offsets.None {
				row = append(row, "-")
				return
			}
			row = append(row, strconv.FormatInt(n, 10))
		}
		for _, g := range d.Snapshot.Groups {
			store := g.Store != nil
			if g.Trouble != nil && len(g.Rows) == 0 {
				row = append(row[:0], g.ID)
				for range len(header) - 2 {
					row = append(row, "-")
				}
				write(append(row, g.Trouble.Reason))
			}
			rows := d.rows(g)
			for i := range rows {
				r := &rows[i]
				j := offsets.JudgeRow(r, cluster, store)
				committed, stored := j.Committed, j.Stored
				if !store {
					stored = offsets.State{Condition: "-", Identity: "-", Lag: offsets.None, Expired: offsets.None, Ahead: offsets.None}
				}
				inStore, inKafka := r.Stored.Presence == offsets.Present, r.Committed.Presence == offsets.Present
				row = append(row[:0], g.ID, r.Topic)
				num(int64(r.Partition), true)
				num(r.Range.Earliest, r.Range.Known())
				num(r.Stored.Offset, inStore)
				num(r.Committed.Offset, inKafka)
				num(r.Range.End, r.Range.Known())
				num(committed.Lag, true)
				num(stored.Lag, true)
				row = append(row, j.Words(), strconv.FormatBool(j.Healthy()), string(committed.Condition))
				num(committed.Expired, true)
				num(committed.Ahead, true)
				row = append(row, string(stored.Condition), string(stored.Identity))
				num(stored.Expired, true)
				num(stored.Ahead, true)
				n, ok := j.Unprocessed()
				num(max(n, 0), ok && store)
				num(r.Range.Stable, r.Range.Known())
				num(int64(r.Range.Leader), r.Range.Known())
				num(int64(r.Range.Epoch), r.Range.Known())
				num(int64(r.Committed.Epoch), inKafka)
				num(int64(r.Stored.Epoch), inStore)
				metadata := "-"
				if inKafka {
					metadata = r.Committed.Metadata
				}
				row = append(row, cmp.Or(r.Range.TopicID, "-"), cmp.Or(r.Owner, "-"), metadata, cmp.Or(rowError(r), "-"))
				write(row)
			}
		}
	})
}

// rowError is why something of a row could not be read, "" if all could.
func rowError(r *offsets.Row) string {
	if r.Range.Known() && !r.Stored.Problem() && !r.Committed.Problem() {
		return ""
	}
	var why []string
	if !r.Range.Known() && !r.Range.Gone() {
		why = append(why, cmp.Or(r.Range.Reason, "the range is not known"))
	}
	for _, side := range []offsets.Side{offsets.Stored, offsets.Committed} {
		if e := r.Entry(side); e.Problem() {
			why = append(why, string(side)+": "+cmp.Or(e.Reason, e.Presence.String()))
		}
	}
	return strings.Join(why, "; ")
}
