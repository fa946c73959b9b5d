package output

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gtoffset/kafkaops/offsets"
)

// PlanView is what a write command shows: before the write what would change and why, afterwards what came of it.
type PlanView struct {
	Plan   offsets.Plan
	Asking bool // a prompt follows, and its yes decides what is asked about; else the flags that would are named
}

// sides lists the sides that the plan is about, store first.
func sides(p offsets.Plan) []offsets.Side {
	var have []offsets.Side
	for _, side := range []offsets.Side{offsets.Stored, offsets.Committed} {
		if slices.ContainsFunc(p.All(), func(c offsets.GroupChange) bool { return c.Side == side }) {
			have = append(have, side)
		}
	}
	return have
}

// Write writes the plan for people. Its document is the exchange package's.
func (v PlanView) Write(s Stream) error {
	p := &printer{w: s.W}
	p.printf("%s\n", v.heading())
	for _, g := range v.Plan.Groups {
		for _, note := range g.Notes {
			p.printf("note: %s%s\n", v.of(g.Group), cleanText(note))
		}
	}
	grid, weighty := v.grid(s)
	if len(grid.Rows) > 0 && p.err == nil {
		p.printf("\n")
		p.err = grid.draw(s)
	} else {
		p.printf("\n")
	}
	for _, g := range v.Plan.Groups {
		if n := refusedWhole(g); n > 0 {
			p.printf("refused: %s; %s\n", cleanText(g.Refusal), stay(n)+choose(" unless ", g.Choice))
		}
	}
	v.kept(p, len(grid.Rows) > 0)
	if weighty > 1 {
		n := v.counts()
		p.printf("In all this skips %s readable and repeats %s.\n", upTo(n.Skips), upTo(n.Repeats))
	}
	return p.err
}

func stay(n int) string {
	return plural(n, "partition") + verb(n, " stays as it is", " stay as they are")
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
	if what == "import" {
		what = "import into"
	}
	var places []string
	for _, side := range sides(v.Plan) {
		places = append(places, map[offsets.Side]string{offsets.Stored: "the store", offsets.Committed: "the commits"}[side])
	}
	if len(places) > 0 {
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
	return fmt.Sprintf("%s %s · %s · %s", what, v.groups(), plural(partitions, "partition"), where(v.Plan.Origin))
}

// groups names the plan's groups, or counts them when they are many.
func (v PlanView) groups() string {
	switch n := len(v.Plan.Groups); n {
	case 0:
		return "no group"
	case 1:
		return groupName(v.Plan.Groups[0].Group)
	default:
		return fmt.Sprintf("%d groups", n)
	}
}

func groupName(id string) string {
	if id == "" {
		return `""`
	}
	return Clean(id)
}

// grid has a row for each change that is written, asked about or refused. weighty counts the rows that skip or repeat records.
func (v PlanView) grid(s Stream) (grid Grid, weighty int) {
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
		whole := refusedWhole(g) > 0
		for _, c := range g.Changes {
			if c.Verdict == offsets.Keep || whole && c.Verdict == offsets.Refuse && c.Reason == g.Refusal {
				continue
			}
			row := make([]string, 0, len(grid.Columns))
			if len(v.Plan.Groups) > 1 {
				row = append(row, groupName(g.Group))
			}
			row = append(row, Clean(c.Topic), strconv.Itoa(int(c.Partition)))
			if len(have) > 1 {
				row = append(row, string(c.Side))
			}
			row = append(row, offset(c.Old), newOffset(c), delta(c), v.why(c))
			grid.Rows = append(grid.Rows, row)
			grid.tones = append(grid.tones, map[offsets.Verdict]tone{offsets.Refuse: toneRed, offsets.Ask: toneYellow}[c.Verdict])
			if c.Verdict != offsets.Refuse && c.Skips+c.Repeats > 0 {
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
	case c.Old.Offset == offsets.None && c.New.Offset == offsets.None, c.Old.Offset == c.New.Offset:
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
			why += fmt.Sprintf(": repeats up to %s", offsets.Thousands(c.Repeats))
		}
	}
	switch {
	case c.Verdict == offsets.Ask && !v.Asking:
		why += choose("; needs ", c.Choice)
	case c.Verdict == offsets.Refuse:
		why += choose("; unless ", c.Choice)
	}
	return why
}

// kept tells of what stays: in one number what is in range, by name all else.
func (v PlanView) kept(p *printer, table bool) {
	type place struct{ group, topic, side, reason string }
	parts := map[place][]int32{}
	var places []place
	inRange, others := 0, 0
	both := len(sides(v.Plan)) > 1
	for _, g := range v.Plan.Groups {
		for _, c := range g.Changes {
			switch {
			case c.Verdict != offsets.Keep:
				others++
			case c.InRange():
				inRange++
			default:
				at := place{group: g.Group, topic: c.Topic, reason: c.Reason}
				if both {
					at.side = " (" + string(c.Side) + ")"
				}
				if parts[at] == nil {
					places = append(places, at)
				}
				parts[at] = append(parts[at], c.Partition)
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
	for _, at := range places {
		n := len(parts[at])
		p.printf("%s%s %s%s %s: %s\n", v.of(at.group), Clean(at.topic), ranges(parts[at]), at.side, verb(n, "stays", "stay"), cleanText(at.reason))
	}
	if others == 0 {
		p.printf("Nothing to do.\n")
	}
}

// ranges writes partition numbers as 0, 2-5.
func ranges(numbers []int32) string {
	slices.SortFunc(numbers, cmp.Compare[int32])
	var b strings.Builder
	for i := 0; i < len(numbers); i++ {
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
		of = fmt.Sprintf("of %d groups (%s)", n, strings.Join(groups[:min(n, 5)], ", "))
		if n > 5 {
			of = fmt.Sprintf("of %d groups (%s and %d more)", n, strings.Join(groups[:5], ", "), n-5)
		}
	}
	at := map[offsets.Side]string{offsets.Stored: cleanText(v.Plan.Origin.Store), offsets.Committed: where(v.Plan.Origin)}
	var say []string
	for _, side := range []offsets.Side{offsets.Committed, offsets.Stored} { // in the order of the writes
		if n := write[side]; n > 0 {
			say = append(say, fmt.Sprintf("write %s %s to %s", plural(n, "offset"), of, at[side]))
		}
		if n := remove[side]; n > 0 {
			say = append(say, fmt.Sprintf("remove %s %s from %s", plural(n, "offset"), of, at[side]))
		}
	}
	if n := len(whole); n > 0 {
		names := strings.Join(whole[:min(n, 5)], ", ")
		if n > 5 {
			names += fmt.Sprintf(" and %d more", n-5)
		}
		say = append(say, fmt.Sprintf("delete %s %s with all commits from %s", verb(n, "group", "groups"), names, where(v.Plan.Origin)))
	}
	if len(say) == 0 {
		return "write nothing"
	}
	return joinAnd(say)
}

// Prompt is the question before a write, with the count, the group and the place. Its default is no.
func (v PlanView) Prompt() string {
	task := v.task()
	return strings.ToUpper(task[:1]) + task[1:] + "? [y/N] "
}

// DryRun says unmistakably that nothing was written. It belongs on stderr.
func (v PlanView) DryRun(s Stream) error {
	p := &printer{w: s.W}
	n := v.Plan.Count()
	line := "dry run: nothing was written"
	switch {
	case n.Ask+n.Refuse > 0:
		line += fmt.Sprintf("; --execute would refuse: %s as shown above", joinAnd(nonEmpty(
			few(n.Refuse, "is refused", "are refused"), few(n.Ask, "needs a decision", "need a decision"))))
	case n.Write > 0:
		line += "; --execute would " + v.task()
	default:
		line += ", and there is nothing to write"
	}
	p.printf("%s\n", line)
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
	p := &printer{w: s.W}
	paint := newPaints(s.Color)
	notTried, refused := 0, 0
	both := len(sides(v.Plan)) > 1
	for _, c := range v.Plan.All() {
		line, why := "", orElse(c.Error, "no reason given")
		switch {
		case c.Verdict == offsets.Refuse || c.Verdict == offsets.Ask:
			refused++
			line, why = "refused", c.Reason
		case c.Verdict != offsets.Write:
			continue
		case c.Result == offsets.Failed:
			line = "failed"
		case c.Result == offsets.NotTried:
			notTried++
			line, why = "not tried", orElse(c.Error, "an earlier write failed")
		case c.Result == offsets.Unverified:
			line, why = "unknown", orElse(c.Error, "the write was not answered")
		case (c.Result == offsets.Written || c.Result == offsets.Already) && !c.Verified:
			line, why = "not verified", orElse(c.Error, "it could not be read back")
		default:
			continue
		}
		side := ""
		if both {
			side = " (" + string(c.Side) + ")"
		}
		p.printf("%s\n", paint.paint(toneRed, fmt.Sprintf("%s%s %d%s %s: %s", v.of(c.Group), Clean(c.Topic), c.Partition, side, line, cleanText(why))))
	}
	n := v.Plan.Count()
	if n.Write > 0 {
		line := fmt.Sprintf("%s of %s verified", offsets.Thousands(int64(n.Verified)), offsets.Thousands(int64(n.Write)))
		for _, more := range nonEmpty(few(n.Already, "was there already", "were there already"), few(n.Failed, "failed", "failed"),
			few(n.Unknown, "unknown", "unknown"), few(notTried, "not tried", "not tried"), few(refused, "refused", "refused")) {
			line += " · " + more
		}
		p.printf("%s\n", line)
	}
	if v.Plan.Backup != "" {
		p.printf("backup  %s\n", cleanText(v.Plan.Backup))
	}
	if v.Plan.Undo != "" {
		p.printf("undo    %s\n", cleanText(v.Plan.Undo))
	}
	return p.err
}
