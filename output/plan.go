package output

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gtoffset/kafkaops/offsets"
)

// PlanView is what a write command shows: before the write what would change and why, afterwards what came of it.
type PlanView struct {
	Plan   offsets.Plan
	Asking bool // a prompt follows, and its yes decides what is asked about; else the flags that would are named
	Dry    bool // nothing is to be written, so that of a group that is refused, too, it is shown what would be

	Partial bool // what is refused does not keep the rest from being written

	Saved string // where the plan was saved, if no backup was
}

// sides lists the sides that the plan is about, store first.
func sides(p offsets.Plan) []offsets.Side {
	var have []offsets.Side
	for _, side := range []offsets.Side{offsets.Stored, offsets.Committed} {
		if p.Has(func(c *offsets.Change) bool { return c.Side == side }) {
			have = append(have, side)
		}
	}
	return have
}

// Write writes the plan for people. Its document is the exchange package's.
func (v PlanView) Write(s Stream) error {
	p := &printer{w: s.W, width: s.Width}
	p.prose("  ", "%s", v.heading())
	clusterLine(p, v.Plan.Origin, len(clusterLabel))
	v.notes(p)
	told := v.reasons(p)
	grid, weighty := v.grid(told)
	if len(grid.Rows) > 0 && p.err == nil {
		p.printf("\n")
		lead := slices.IndexFunc(grid.Columns, func(c Column) bool { return c.Name == "PARTITION" })
		grid.fit(s, lead, false)
		p.err = grid.draw(s)
	} else {
		p.printf("\n")
	}
	for _, g := range v.Plan.Groups {
		switch n := refusedWhole(g); {
		case g.Refusal == "":
		case n == 0: // each partition has a reason of its own beside
			p.prose("  ", "refused: %s", cleanText(g.Refusal)+choose("; unless ", g.Choice))
		default:
			would := ""
			if slices.ContainsFunc(g.Changes, func(c offsets.Change) bool { return v.would(g, c) }) {
				would = "; NEW is what would be written if the group were empty, and nothing is"
				if g.Choice == "--create" {
					would = "; NEW is what would be written then, and nothing is"
				}
			}
			p.prose("  ", "refused: %s; %s%s", cleanText(g.Refusal), stay(n)+choose(" unless ", g.Choice), would)
		}
	}
	v.kept(p, len(grid.Rows) > 0)
	if n := v.counts(); weighty > 1 || v.Asking && n.Write > v.Plan.Count().Write {
		expired := ""
		if n.Expired > 0 {
			expired = fmt.Sprintf(" %s have expired, and are lost either way.", offsets.Thousands(n.Expired))
		}
		p.prose("  ", "In all this skips %s readable and repeats %s.%s", upTo(n.Skips), upTo(n.Repeats), expired)
	}
	return p.err
}

// notes tells what is noted of each group, and what is noted of all of them once.
func (v PlanView) notes(p *printer) {
	of := map[string]int{} // groups
	for _, g := range v.Plan.Groups {
		for i, note := range g.Notes {
			if slices.Index(g.Notes, note) == i {
				of[note]++
			}
		}
	}
	for i, g := range v.Plan.Groups {
		for _, note := range g.Notes {
			switch {
			case of[note] < len(v.Plan.Groups):
				p.prose("  ", "note: %s%s", v.of(g.Group), cleanText(note))
			case i == 0:
				p.prose("  ", "note: %s", cleanText(note))
			}
		}
	}
}

func stay(n int) string {
	return offsets.Plural(n, "partition") + verb(n, " stays as it is", " stay as they are")
}

func choose(before, choice string) string {
	if choice == "" {
		return ""
	}
	return before + cleanText(choice)
}

// of names the group in a line, if there is more than one.
func (v PlanView) of(group string) string {
	if len(v.Plan.Groups) < 2 {
		return ""
	}
	return groupName(group) + ": "
}

// heading says what is done to what, and where.
func (v PlanView) heading() string {
	what := cleanText(v.Plan.Command)
	switch what {
	case "import":
		what = "import into"
	case "replay":
		what = "replay, kept in"
	}
	var places []string
	whole := len(v.Plan.Groups) > 0 && v.Plan.Groups[0].Whole // a plan of one is of no other
	for _, side := range sides(v.Plan) {
		places = append(places, map[offsets.Side]string{offsets.Stored: "the store", offsets.Committed: "the commits"}[side])
	}
	groups := v.groups()
	switch {
	case whole && len(v.Plan.Groups) == 1:
		what, groups = what+" group", groups+" with all commits"
	case whole:
		groups += " with all commits"
	case len(places) > 0:
		what += " " + joinAnd(places) + " of"
	}
	partitions := 0
	for _, g := range v.Plan.Groups {
		var last *offsets.Key
		for i := range g.Changes {
			if last == nil || *last != g.Changes[i].Key {
				partitions++
			}
			last = &g.Changes[i].Key
		}
	}
	return fmt.Sprintf("%s %s · %s", what, groups, offsets.Plural(partitions, "partition"))
}

// groups names the plan's groups, or counts them when they are many.
func (v PlanView) groups() string {
	switch n := len(v.Plan.Groups); n {
	case 0:
		return "no group"
	case 1:
		return groupName(v.Plan.Groups[0].Group)
	default:
		return offsets.Plural(n, "group")
	}
}

// groupName is a group's name, in quotes where one would not see what belongs to it.
func groupName(id string) string {
	if id == "" || strings.TrimSpace(id) != id {
		return `"` + Clean(id) + `"`
	}
	return Clean(id)
}

// listed reports whether a change has a row of its own: it is written, asked about, or refused, but not with its whole group.
func listed(g offsets.PlanGroup, c offsets.Change) bool {
	return c.Verdict != offsets.Keep && (g.Refusal == "" || c.Verdict != offsets.Refuse || c.Reason != g.Refusal)
}

// would reports a change that is shown although its group is refused: where a flag makes it possible.
func (v PlanView) would(g offsets.PlanGroup, c offsets.Change) bool {
	return v.Dry && g.Choice != "" && c.Verdict == offsets.Refuse && c.Reason == g.Refusal && c.Would != ""
}

// said is a reason as a row has it, and what it is about.
type said struct {
	group string
	side  offsets.Side
	why   string
}

// reasons writes out, once, what several rows of a group have as their reason, and returns it. What a change skips or repeats
// belongs to its row.
func (v PlanView) reasons(p *printer) map[said]bool {
	var all places
	for _, g := range v.Plan.Groups {
		for _, c := range g.Changes {
			if !listed(g, c) || c.Verdict != offsets.Refuse && c.Skips+c.Repeats+c.Expired > 0 ||
				offsets.Brief(c.Reason) == c.Reason || width(c.Reason) <= 2*longReason { // a short one may well be about this row alone
				continue
			}
			all.add(said{g.Group, c.Side, v.why(c)}, c.Key)
		}
	}
	of := v.partitions()
	told := map[said]bool{}
	for _, at := range all.order {
		if all.count[at] < 2 {
			continue
		}
		var where []string
		for _, topic := range slices.Sorted(maps.Keys(all.parts[at])) {
			partitions := all.parts[at][topic]
			if len(partitions) < of[sideOf{at.group, at.side, topic}] { // of the others it is not true
				topic += " " + ranges(partitions)
			}
			where = append(where, topic)
		}
		told[at] = true
		p.prose("  ", "note: %s%s of %s: %s", v.of(at.group), at.side, fewNames(where), at.why)
	}
	return told
}

// sideOf is one side of a topic of a group.
type sideOf struct {
	group string
	side  offsets.Side
	topic string
}

// partitions counts how many each has in the plan.
func (v PlanView) partitions() map[sideOf]int {
	of := map[sideOf]int{}
	for group, c := range v.Plan.Each() {
		of[sideOf{group, c.Side, c.Topic}]++
	}
	return of
}

// grid has a row for each change that is written, asked about or refused. weighty counts the rows that skip or repeat records, or that
// have lost some already.
func (v PlanView) grid(told map[said]bool) (grid Grid, weighty int) {
	have := sides(v.Plan)
	if len(v.Plan.Groups) > 1 {
		grid.Columns = append(grid.Columns, Column{Name: "GROUP"})
	}
	grid.Columns = append(grid.Columns, Column{Name: "TOPIC"}, Column{Name: "PARTITION", Right: true})
	old := "OLD"
	if len(have) > 1 {
		grid.Columns = append(grid.Columns, Column{Name: "SIDE"})
	} else if len(have) == 1 {
		old = strings.ToUpper(string(have[0]))
	}
	grid.Columns = append(grid.Columns, Column{Name: old, Right: true}, Column{Name: "NEW", Right: true}, Column{Name: "CHANGE", Right: true}, Column{Name: "WHY"})
	grid.toned = len(grid.Columns) - 1
	for _, g := range v.Plan.Groups {
		for _, c := range g.Changes {
			would := v.would(g, c)
			switch {
			case would:
				c.Verdict, c.Reason = offsets.Write, c.Would
			case !listed(g, c):
				continue
			}
			why := v.why(c)
			if told[said{g.Group, c.Side, why}] {
				why = cleanText(offsets.Brief(c.Reason))
			}
			row := make([]string, 0, len(grid.Columns))
			if len(v.Plan.Groups) > 1 {
				row = append(row, groupName(g.Group))
			}
			row = append(row, Clean(c.Topic), strconv.Itoa(int(c.Partition)))
			if len(have) > 1 {
				row = append(row, string(c.Side))
			}
			row = append(row, offset(c.Old), newOffset(c), delta(c), why)
			grid.Rows = append(grid.Rows, row)
			grid.tones = append(grid.tones, map[offsets.Verdict]tone{offsets.Refuse: toneRed, offsets.Ask: toneYellow}[c.Verdict])
			if c.Verdict != offsets.Refuse && !would && c.Skips+c.Repeats+c.Expired > 0 {
				weighty++
			}
		}
	}
	return grid, weighty
}

// refusedWhole counts the changes that are refused for the reason of the whole group.
func refusedWhole(g offsets.PlanGroup) int {
	n := 0
	for _, c := range g.Changes {
		if g.Refusal != "" && c.Verdict == offsets.Refuse && c.Reason == g.Refusal {
			n++
		}
	}
	return n
}

func offset(v offsets.Value) string {
	if v.Offset == offsets.None {
		return "-"
	}
	return strconv.FormatInt(v.Offset, 10)
}

func newOffset(c offsets.Change) string {
	if c.Verdict == offsets.Refuse {
		return "-"
	}
	return offset(c.New)
}

func delta(c offsets.Change) string {
	switch {
	case c.Verdict == offsets.Refuse:
		return "refused"
	case c.Verdict == offsets.Write && c.New.Offset == offsets.None: // also of a number that counts as none
		return "removed"
	case c.Old.Offset == c.New.Offset:
		return "0"
	case c.Old.Offset == offsets.None:
		return "new"
	case c.New.Offset == offsets.None:
		return "removed"
	}
	return fmt.Sprintf("%+d", c.New.Offset-c.Old.Offset)
}

// why is the reason, with what the change skips or repeats where the reason does not say so itself.
func (v PlanView) why(c offsets.Change) string {
	why := cleanText(c.Reason)
	if c.Verdict != offsets.Refuse {
		if c.Skips > 0 && !strings.Contains(why, "skips ") {
			why += fmt.Sprintf(": skips up to %s readable", offsets.Thousands(c.Skips))
		}
		if c.Repeats > 0 && !strings.Contains(why, "repeats ") {
			colon := ":"
			if c.Skips > 0 {
				colon = ","
			}
			why += fmt.Sprintf("%s repeats up to %s", colon, offsets.Thousands(c.Repeats))
		}
		if c.Expired > 0 && !strings.Contains(why, "expired") {
			why += fmt.Sprintf("; %s have expired", offsets.Thousands(c.Expired))
		}
	}
	switch {
	case c.Verdict == offsets.Ask && v.Asking:
		why += "; asked below"
	case c.Verdict == offsets.Ask:
		why += choose("; needs ", c.Choice)
	case c.Verdict == offsets.Refuse:
		why += choose("; unless ", c.Choice)
	}
	return why
}

// kept tells of what stays: in one number what is in range, by name all else. Where only the numbers in their reasons differ, the
// end of these stands for all.
func (v PlanView) kept(p *printer, table bool) {
	inRange, others := 0, 0
	both := len(sides(v.Plan)) > 1
	reasons := map[said]string{} // by the end of a reason, the reason, or "" where they differ
	end := func(g string, c offsets.Change) said {
		return said{g, c.Side, c.Reason[strings.LastIndex(c.Reason, ": ")+1:]}
	}
	for _, g := range v.Plan.Groups {
		for _, c := range g.Changes {
			switch {
			case c.Verdict != offsets.Keep:
				others++
			case c.InRange():
				inRange++
			default:
				at := end(g.Group, c)
				if known, ok := reasons[at]; ok && known != c.Reason {
					reasons[at] = ""
				} else if !ok {
					reasons[at] = c.Reason
				}
			}
		}
	}
	switch {
	case inRange == 0:
	case table:
		p.printf("%s more %s in range and %s.\n", offsets.Thousands(int64(inRange)), verb(inRange, "is", "are"), verb(inRange, "stays", "stay"))
	default:
		p.printf("%s %s in range and %s.\n", offsets.Thousands(int64(inRange)), verb(inRange, "is", "are"), verb(inRange, "stays", "stay"))
	}
	var all places
	for _, g := range v.Plan.Groups {
		for _, c := range g.Changes {
			if c.Verdict == offsets.Keep && !c.InRange() {
				at := end(g.Group, c)
				at.why = strings.TrimSpace(cmp.Or(reasons[at], at.why))
				all.add(at, c.Key)
			}
		}
	}
	for _, at := range all.order {
		side := ""
		if both {
			side = " (" + string(at.side) + ")"
		}
		p.prose("  ", "%s%s%s %s: %s", v.of(at.group), all.names(at), side, verb(all.count[at], "stays", "stay"), cleanText(at.why))
	}
	refused := slices.ContainsFunc(v.Plan.Groups, func(g offsets.PlanGroup) bool { return g.Refusal != "" })
	if others == 0 && v.Plan.ToDo() == 0 && !refused {
		p.printf("Nothing to do.\n")
	}
}

// places gathers partitions of which the same is said.
type places struct {
	order []said
	count map[said]int
	parts map[said]map[string][]int32
}

func (l *places) add(at said, k offsets.Key) {
	if l.parts == nil {
		l.count, l.parts = map[said]int{}, map[said]map[string][]int32{}
	}
	if l.parts[at] == nil {
		l.order, l.parts[at] = append(l.order, at), map[string][]int32{}
	}
	l.count[at]++
	l.parts[at][k.Topic] = append(l.parts[at][k.Topic], k.Partition)
}

// names lists the partitions of a place: orders 0-5, payments 2.
func (l *places) names(at said) string {
	var all []string
	for _, topic := range slices.Sorted(maps.Keys(l.parts[at])) {
		all = append(all, Clean(topic)+" "+ranges(l.parts[at][topic]))
	}
	return strings.Join(all, ", ")
}

// rangesMost is how many of many ranges are named.
const rangesMost = 20

// ranges writes partition numbers as 0, 2-5; of many the first, as documents have all.
func ranges(numbers []int32) string {
	slices.Sort(numbers)
	var b strings.Builder
	for i, n := 0, 0; i < len(numbers); i, n = i+1, n+1 {
		if n == rangesMost {
			b.WriteString(" and " + offsets.Thousands(int64(len(numbers)-i)) + " more")
			break
		}
		first := numbers[i]
		for i+1 < len(numbers) && numbers[i+1] == numbers[i]+1 {
			i++
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(int(first)))
		if numbers[i] != first {
			b.WriteString("-" + strconv.Itoa(int(numbers[i])))
		}
	}
	return b.String()
}

// counts sums up what is to be written, with what is asked about.
func (v PlanView) counts() offsets.Counts { return v.Plan.Settle(true).Count() }

// task words what a yes would do: "Write 3 offsets of group billing to /var/lib/billing/offsets".
func (v PlanView) task() string {
	write, remove := map[offsets.Side]int{}, map[offsets.Side]int{}
	var groups []string
	var whole []string
	for _, g := range v.Plan.Groups {
		if g.Whole {
			if g.Refusal == "" {
				whole = append(whole, groupName(g.Group))
			}
			continue
		}
		here := false
		for _, c := range g.Changes {
			if c.Verdict != offsets.Write && c.Verdict != offsets.Ask || c.Result == offsets.Already {
				continue
			}
			here = true
			if c.New.Offset == offsets.None {
				remove[c.Side]++
			} else {
				write[c.Side]++
			}
		}
		if here {
			groups = append(groups, groupName(g.Group))
		}
	}
	of := "of group " + strings.Join(groups, "")
	if n := len(groups); n > 1 {
		of = fmt.Sprintf("of %s (%s)", offsets.Plural(n, "group"), fiveNames(groups))
	}
	cluster := "the cluster" // by its id once; the plan's heading says more
	if id := v.Plan.Origin.Cluster; id != "" {
		cluster = "cluster " + cleanText(id)
	}
	at := map[offsets.Side]string{offsets.Stored: cleanText(v.Plan.Origin.Store), offsets.Committed: "the commits of " + cluster}
	var say []string
	add := func(verb string, n int, place string) {
		if n == 0 {
			return
		}
		what := offsets.Plural(n, "offset")
		if len(say) == 0 { // of the others it is clear
			what += " " + of
		}
		say = append(say, verb+" "+what+" "+place)
	}
	for _, side := range []offsets.Side{offsets.Committed, offsets.Stored} { // in the order of the writes
		add("write", write[side], "to "+at[side])
		if write[side] > 0 {
			add("remove", remove[side], "there")
			continue
		}
		add("remove", remove[side], "from "+at[side])
	}
	if n := len(whole); n > 0 {
		say = append(say, fmt.Sprintf("delete %s %s with all commits from %s", verb(n, "group", "groups"), fiveNames(whole), cluster))
	}
	if len(say) == 0 {
		return "write nothing"
	}
	return joinAnd(say)
}

// fiveNames lists up to five names, which are clean already.
func fiveNames(names []string) string {
	if n := len(names); n > 5 {
		return strings.Join(names[:5], ", ") + " and " + offsets.Thousands(int64(n-5)) + " more"
	}
	return strings.Join(names, ", ")
}

// Doubts says before the question what its yes decides beside the rest: where that goes which nothing but a person can judge, what it
// costs, and the other way.
func (v PlanView) Doubts(s Stream) error {
	var all places
	skips, another := map[said]int64{}, map[said]string{}
	for group, c := range v.Plan.Each() {
		if c.Verdict != offsets.Ask {
			continue
		}
		at := said{group, c.Side, string(c.Target)}
		all.add(at, c.Key)
		skips[at] += c.Skips
		flag, values, _ := strings.Cut(c.Choice, " ")
		another[at] = flag + " " + strings.Join(slices.DeleteFunc(strings.Split(values, "|"), func(w string) bool { return w == at.why }), "|")
	}
	p := &printer{w: s.W, width: s.Width}
	for _, at := range all.order {
		side := ""
		if len(sides(v.Plan)) > 1 {
			side = " (" + string(at.side) + ")"
		}
		n := all.count[at]
		p.prose("  ", "%s%s%s %s in doubt: y moves %s to %s and skips up to %s readable; n, and then %s, reads them again.",
			v.of(at.group), all.names(at), side, verb(n, "is", "are"), verb(n, "it", "them"), at.why, offsets.Thousands(skips[at]), cleanText(another[at]))
	}
	return p.err
}

// Prompt is the question before a write, with the count, the group and the place. Its default is no.
func (v PlanView) Prompt(width int) string {
	task := v.task()
	if doubts := v.Plan.Count().Ask; doubts > 0 {
		task += fmt.Sprintf(", %s in doubt", offsets.Thousands(int64(doubts)))
	}
	return fold(strings.ToUpper(task[:1])+task[1:]+"? [y/N]", width, "  ") + " "
}

// DryRun says unmistakably that nothing was written. It belongs on stderr.
func (v PlanView) DryRun(s Stream) error {
	p := &printer{w: s.W, width: s.Width}
	n := v.Plan.Count()
	line := "dry run: nothing was written"
	switch {
	case v.Partial && n.Ask == 0 && n.Refuse > 0 && v.Plan.ToDo() > 0:
		line += fmt.Sprintf("; --execute would %s, and leave out what is refused (%s)", v.task(), offsets.Thousands(int64(n.Refuse)))
	case n.Ask+n.Refuse > 0:
		line += fmt.Sprintf("; --execute would refuse: %s as shown above", joinAnd(nonEmpty(
			few(n.Refuse, "is refused", "are refused"), few(n.Ask, "needs a decision", "need a decision"))))
	case v.Plan.ToDo() > 0:
		line += "; --execute would " + v.task()
	case slices.ContainsFunc(v.Plan.Groups, func(g offsets.PlanGroup) bool { return g.Refusal != "" }): // as of a share group, which has nothing that could be written
		line += "; --execute would refuse, as shown above"
	default:
		line += ", and there is nothing to write"
	}
	p.prose("  ", "%s", line)
	return p.err
}

func few(n int, one, many string) string {
	if n == 0 {
		return ""
	}
	return offsets.Thousands(int64(n)) + " " + verb(n, one, many)
}

func nonEmpty(s ...string) []string {
	return slices.DeleteFunc(s, func(s string) bool { return s == "" })
}

// Results tells what came of a write, partition by partition where it did not come as planned, and how to take it back.
func (v PlanView) Results(s Stream) error {
	p := &printer{w: s.W, width: s.Width}
	paint := newPaints(s.Color)
	refused := 0
	both := len(sides(v.Plan)) > 1
	var all places
	for group, c := range v.Plan.Each() {
		what, why := "", cmp.Or(c.Error, "no reason given")
		switch {
		case c.Verdict == offsets.Refuse || c.Verdict == offsets.Ask:
			refused++
			what, why = "refused", c.Reason
		case c.Verdict != offsets.Write:
			continue
		case c.Result == offsets.Failed:
			what = "failed"
		case c.Result == offsets.NotTried:
			what, why = "not tried", cmp.Or(c.Error, "an earlier write failed")
		case c.Result == offsets.Unverified:
			what, why = "unknown", cmp.Or(c.Error, "the write was not answered")
		case (c.Result == offsets.Written || c.Result == offsets.Already) && !c.Verified:
			what, why = "not verified", cmp.Or(c.Error, "it could not be read back")
		default:
			continue
		}
		if both {
			what = "(" + string(c.Side) + ") " + what
		}
		all.add(said{group, c.Side, what + ": " + cleanText(why)}, c.Key)
	}
	for _, at := range all.order {
		line := fmt.Sprintf("%s%s %s", v.of(at.group), all.names(at), at.why)
		p.printf("%s\n", paint.paint(toneRed, fold(line, s.Width, "  ")))
	}
	var gone []string // without commits, of which a row would tell
	for _, g := range v.Plan.Groups {
		switch what := ""; {
		case !g.Unlisted():
		case g.Result == offsets.Written:
			gone = append(gone, groupName(g.Group))
		default:
			switch g.Result {
			case offsets.Already:
				what = "gone already"
			case offsets.NotTried:
				what = "not tried"
			case offsets.Unverified:
				what = "unknown"
			default:
				what = "failed"
			}
			if g.Error != "" {
				what += ": " + cleanText(g.Error)
			}
			p.printf("%s\n", paint.paint(toneRed, fold("group "+groupName(g.Group)+" "+what, s.Width, "  ")))
		}
	}
	n := v.Plan.Count()
	if n.Write > 0 {
		line := fmt.Sprintf("%s of %s verified", offsets.Thousands(int64(n.Verified)), offsets.Thousands(int64(n.Write)))
		for _, more := range nonEmpty(few(n.Already, "was there already", "were there already"), few(n.Failed, "failed", "failed"),
			few(n.Unknown, "unknown", "unknown"), few(n.NotTried, "not tried", "not tried"), few(refused, "refused", "refused")) {
			line += " · " + more
		}
		p.printf("%s\n", line)
	}
	if n := len(gone); n > 0 {
		p.prose("  ", "%s without commits deleted: %s", offsets.Plural(n, "group"), fiveNames(gone))
	}
	if v.Plan.Backup != "" {
		p.printf("backup  %s\n", cleanText(v.Plan.Backup))
	}
	if v.Plan.Undo != "" {
		p.printf("undo    %s\n", cleanText(v.Plan.Undo))
	}
	if v.Saved != "" {
		p.prose("  ", "no backup was saved, and so there is no undo (--no-backup); what was there before stands in the plan")
		p.printf("plan    %s\n", cleanText(v.Saved))
	}
	return p.err
}
