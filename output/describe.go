package output

import (
	"bytes"
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
	p := &printer{w: s.W}
	for i, g := range d.Snapshot.Groups {
		if i > 0 {
			p.printf("\n")
		}
		d.heading(p, s, g)
		shown := d.rows(g)
		if len(shown) > 0 && p.err == nil {
			p.printf("\n")
			p.err = d.grid(g, shown, s, wide).draw(s)
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

// heading says which group this is, and where its two sides are read from.
func (d Describe) heading(p *printer, s Stream, g offsets.Group) {
	name := Clean(g.ID)
	if g.ID == "" {
		name = `""`
	}
	label := func(text string) string { // aligned with the group's name, unless that is a long one
		if w := width(name); w > 30 {
			return text + "   "
		} else {
			return text + strings.Repeat(" ", max(w, len("store"))-width(text)+3)
		}
	}
	paint := newPaints(s.Color)
	bold := strings.Replace(label(name), name, paint.paint(toneBold, name), 1)
	p.printf("%s%s · %s\n", bold, about(g), where(d.Snapshot.Origin))
	if g.Store != nil {
		path := orElse(g.Store.Path, d.Snapshot.Origin.Store)
		p.printf("%s%s, %s\n", label("store"), cleanText(path), d.storeState(g.Store))
		for _, note := range g.Store.Notes {
			p.printf("note: store: %s\n", cleanText(note))
		}
	}
	if g.Trouble != nil {
		p.printf("%s\n", paint.paint(toneRed, "unknown: the group could not be read: "+cleanText(g.Trouble.Reason)))
	}
	for _, note := range g.Notes {
		p.printf("note: %s\n", cleanText(note))
	}
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
		members = plural(n, "member")
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

// where names the cluster, its address, and where that came from.
func where(o offsets.Origin) string {
	s := "cluster " + cleanText(orElse(o.Cluster, "of unknown id"))
	if o.Bootstrap != "" {
		s += " at " + cleanText(o.Bootstrap)
	}
	if o.Source != "" {
		s += " (" + cleanText(o.Source) + ")"
	}
	return s
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

// age is a duration for people, two units at most.
func age(d time.Duration) string {
	switch {
	case d < -time.Second:
		return strings.TrimSuffix(age(-d), " ago") + " in the future"
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(max(d, 0)/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d/time.Minute))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %d min ago", int(d/time.Hour), int(d%time.Hour/time.Minute))
	}
	return fmt.Sprintf("%d d %d h ago", int(d/(24*time.Hour)), int(d%(24*time.Hour)/time.Hour))
}

// leastState is how much of STATE is left at least when a terminal is narrow.
const leastState = 8

// gaugeState is how much of STATE must be left for the gauge to stay.
const gaugeState = 40

// grid lays out the rows of a group for the stream's width: the gauge goes first, then STATE is shortened.
func (d Describe) grid(g offsets.Group, rows []offsets.Row, s Stream, wide bool) Grid {
	store, cluster := g.Store != nil, d.Snapshot.Origin.Cluster
	grid := Grid{Columns: columns(store, wide), Rows: make([][]string, len(rows))}
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
		cells(row, &text, &j, store, wide)
		grid.Rows[i] = row
		if s.Color {
			grid.tones[i] = toneOf(&j, store)
		}
	}
	if wide {
		return grid
	}
	whole, fixed := len("STATE"), 0
	if s.Gauge || s.Width > 0 {
		for i, w := range grid.widths() {
			if i == state {
				whole = w
				continue
			}
			fixed += w + gutter
		}
	}
	room := whole
	switch {
	case s.Gauge && (s.Width == 0 || s.Width-fixed-gaugeWidth-1 >= min(whole, gaugeState)):
		if s.Width > 0 {
			room = min(whole, s.Width-fixed-gaugeWidth-1)
		}
		grid.Columns[state].gap = 1 // the gauge begins with a blank of its own
		grid.Columns = append(grid.Columns, Column{})
		for i, r := range rows {
			stored := r.Stored
			if !store {
				stored = offsets.Entry{}
			}
			grid.Rows[i] = append(grid.Rows[i], Gauge(r.Range, stored, r.Committed, s.ASCII))
		}
	case s.Width > 0:
		room = min(whole, max(s.Width-fixed, leastState))
	}
	if room < whole {
		for _, row := range grid.Rows {
			row[state] = shorten(row[state], room, s.ASCII)
		}
	}
	return grid
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
func cells(row []string, text *arena, j *offsets.Judged, store, wide bool) {
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
		put(orElse(cleanText(r.Range.TopicID), "-"))
		put(orElse(Clean(r.Owner), "-"))
		put(orElse(Clean(r.Committed.Metadata), "-"))
	}
	put(cleanText(j.Words()))
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
	p.printf("\n%s, %s ok · %s\n", plural(t.Partitions, "partition"), offsets.Thousands(int64(t.Healthy)), d.lags(g, t))
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
			say = append(say, plural(n, "partition")+" that "+verb(n, one, many))
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

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
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
		long = restart(p, o, outcomes, len(g.Rows), g.Store != nil, long)
	}
}

// restart words one place. It returns whether the policies still wait to be told at length.
func restart(p *printer, base offsets.Outcome, all []offsets.Outcome, rows int, store, long bool) bool {
	from := "A restart from the store    "
	if base.From == offsets.Committed {
		from = "A restart from the commits  "
	}
	if base.Uncounted == rows {
		p.printf("%s cannot be told: no partition could be counted.\n", from)
		return long
	}
	rest := ""
	if base.Unsure > 0 {
		rest += fmt.Sprintf("; how much of %s was processed the store does not say", plural(base.Unsure, "commit"))
	}
	if base.Uncounted > 0 {
		rest += fmt.Sprintf("; %s could not be counted", plural(base.Uncounted, "partition"))
	}
	if base.From == offsets.Committed && !store {
		p.printf("%s loses %s, reads %s; how much was processed cannot be told without a store%s.\n", from, losses(base), offsets.Thousands(base.Reads), rest)
	} else {
		p.printf("%s loses %s, repeats %s, reads %s%s.\n", from, losses(base), offsets.Thousands(base.Repeats), offsets.Thousands(base.Reads), rest)
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
	repeats := fmt.Sprintf("repeats %s, reads %s more", upTo(earliest.Repeats-base.Repeats), offsets.Thousands(earliest.Reads-base.Reads))
	loses := fmt.Sprintf("loses %s more", upTo(latest.Readable-base.Readable))
	if !long {
		p.printf("  %s: earliest %s · latest %s · none stops\n", decided(base), repeats, loses)
		return false
	}
	p.printf("  %s; there the job's auto.offset.reset decides:\n", decided(base))
	p.printf("    earliest   %s\n", repeats)
	p.printf("    latest     %s (the default of Java clients)\n", loses)
	p.printf("    none       the job stops\n")
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
		return plural(n, "partition")
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
				row = append(row, orElse(r.Range.TopicID, "-"), orElse(r.Owner, "-"), metadata, orElse(rowError(r), "-"))
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
		why = append(why, orElse(r.Range.Reason, "the range is not known"))
	}
	for _, side := range []offsets.Side{offsets.Stored, offsets.Committed} {
		if e := r.Entry(side); e.Problem() {
			why = append(why, string(side)+": "+orElse(e.Reason, e.Presence.String()))
		}
	}
	return strings.Join(why, "; ")
}
