package cmd

import (
	"cmp"
	"slices"
	"strings"

	"gtoffset/kafkaops/offsets"
)

// hint is the next step for a group, "" for none.
func (g *global) hint(shot offsets.Snapshot, grp offsets.Group, sc *scope) string {
	switch {
	case !grp.Nothing():
	case len(sc.selections) > 0: // the topics that were named do not exist, or could not be read, which is told
		return ""
	case grp.Store != nil:
		return g.rightStore()
	case grp.Type == offsets.Share || grp.Protocol == "connect": // of these no commits are kept
		return ""
	case sc.listed(): // of these a first commit that is pending is not asked for
		return "to see what was committed before, or in a transaction that is open: " + g.typed("history", "-g", grp.ID)
	default:
		return "to see what was committed before: " + g.typed("history", "-g", grp.ID)
	}
	ones, read, fine := 0, true, true
	for i := range grp.Rows {
		if grp.Rows[i].Committed.Pending && !grp.Active() { // nothing of it is written meanwhile
			return g.transaction(grp.ID)
		}
		j := offsets.JudgeRow(&grp.Rows[i], shot.Origin.Cluster, grp.Store != nil)
		n, _ := j.Unprocessed()
		fine = fine && j.Healthy() && n <= 0
		switch j.Committed.Lag {
		case 1:
			ones++
		case 0, offsets.None:
		default:
			read = false // there are records to be read
		}
	}
	hint := ""
	if !fine {
		hint = g.mending(shot, grp, sc)
	}
	if hint = cmp.Or(hint, g.starting(grp, sc)); hint != "" {
		return hint
	}
	if ones == 0 || !read {
		return ""
	}
	return "a lag that stays at 1 may be the marker of a transaction, which no job reads"
}

// transaction is the hint where an open one is going to commit.
func (g *global) transaction(group string) string {
	return "a transaction ends within its producer's transaction.timeout.ms; which it is: " + g.typed("history", "-g", group)
}

// rightStore is the hint where a store has nothing of a group.
func (g *global) rightStore() string {
	ask := "is it the right store?"
	if !g.session.store.Can().Nameless {
		ask += " " + g.typed("describe", "-s", g.store) + " shows which groups it has"
	}
	return ask
}

// mending is the command that would mend a group, "" if nothing is to be mended now. It is about no more than was asked for.
func (g *global) mending(shot offsets.Snapshot, grp offsets.Group, sc *scope) string {
	if grp.Active() || grp.Trouble != nil || grp.Store != nil && grp.Store.Trouble != nil { // what was processed is not known just then
		return ""
	}
	line := func(command string, selections []offsets.Selection, end ...string) string {
		return g.lineOf(grp, command, selections, end...)
	}
	mend := grp.Repairs(shot.Origin.Cluster)
	writable := g.session.store == nil || g.session.store.Can().Write // what is only read is mended by its job
	switch {
	case mend.Denied:
		return "the store may not be read: " + asJobsUser
	case mend.Damaged && writable:
		return "to see what would be left without what is damaged: " + line("clamp", sc.selections, "--stored", "--salvage", "--dry-run")
	case mend.Foreign && writable:
		c := clamping(shot, grp, sc, offsets.ClampPolicy{Sides: []offsets.Side{offsets.Stored}, OtherCluster: true}, nil)
		return "the store is of another cluster; if that is meant: " + line("clamp", c.selections, append([]string{"--stored", "--other-cluster"}, c.flags...)...)
	}
	if grp.Store != nil {
		for _, t := range grp.Store.Topics {
			if out := wayOut(shot, t); out != "" && writable {
				return out
			}
		}
	}
	flags := func(sides []offsets.Side, end ...string) []string {
		for _, side := range sides {
			if side == offsets.Committed || writable {
				end = append(end, "--"+string(side))
			}
		}
		return end
	}
	say := func(c clampLine, sides []offsets.Side) string {
		if !c.writes {
			return ""
		}
		if c.begins {
			c.why = g.lost(grp) + c.why
		}
		return c.why + ": " + line("clamp", c.selections, append(flags(sides), c.flags...)...)
	}
	clamp := func(sides []offsets.Side) string {
		return say(clamping(shot, grp, sc, offsets.ClampPolicy{Sides: sides}, nil), sides)
	}
	mendable := slices.DeleteFunc(slices.Clone(mend.Sides), func(side offsets.Side) bool { return side == offsets.Stored && !writable })
	safe := grp.Safe(shot.Origin.Cluster, sc.selections)
	if mend.Recreated && writable { // what is unprocessed of it is known when its numbers are its own
		var only func(*offsets.Row) bool
		if len(safe) > 0 {
			only = recreated(shot)
		}
		sides := mendable
		c := clamping(shot, grp, sc, offsets.ClampPolicy{Sides: sides}, only)
		if c.leavesRecreated { // for want of a commit: it went with the old topic
			sides = []offsets.Side{offsets.Stored}
			c = clamping(shot, grp, sc, offsets.ClampPolicy{Sides: sides}, recreated(shot))
		}
		if hint := say(c, sides); hint != "" {
			return hint
		}
	}
	if len(safe) > 0 {
		what := "to lose nothing that is still there"
		if alsoIll(shot, grp, safe) {
			what += " in these partitions, before what else is wrong"
		}
		return what + ": " + line("reset", safe, flags([]offsets.Side{offsets.Stored, offsets.Committed}, "--to-safe")...)
	}
	if stale, sides := grp.Stale(shot.Origin.Cluster, sc.selections); len(flags(sides)) > 0 {
		return "to go on where the offsets say, without the stale leader epochs: " + line("reset", stale, flags(sides, "--to-current")...)
	}
	if hint := clamp(mendable); hint != "" {
		return hint
	}
	if len(mendable) > 1 { // what one side lacks stands against both
		if hint := cmp.Or(clamp(mendable[:1]), clamp(mendable[1:])); hint != "" {
			return hint
		}
	}
	if grp.Store == nil || !writable {
		return ""
	}
	return g.tidying(shot, grp, sc)
}

// tidying is the command that removes from the store what there is nothing of in the cluster any more, or else puts into it what only
// the commits have; "" if the store has neither too much nor too little.
func (g *global) tidying(shot offsets.Snapshot, grp offsets.Group, sc *scope) string {
	gone := grp.Select(sc.selections, func(r *offsets.Row) bool {
		return r.Range.Gone() && r.Stored.Presence == offsets.Present && !offsets.Judge(r.Stored, r.Range, shot.Origin.Cluster).Foreign
	})
	for _, sel := range gone {
		if file := emptied(grp, sc, sel); file != "" {
			return "nothing in " + file + " exists any more: " + away(shot, file)
		}
	}
	if len(gone) > 0 {
		return "to remove what the store has of partitions that do not exist any more: " + g.lineOf(grp, "clamp", gone, "--stored", "--gone", "remove")
	}
	lacking := func(r *offsets.Row) bool {
		return r.Range.Known() && r.Stored.Presence == offsets.Absent && r.Committed.Presence == offsets.Present
	}
	if !slices.ContainsFunc(grp.Rows, func(r offsets.Row) bool { return lacking(&r) }) {
		return ""
	}
	c := clamping(shot, grp, sc, offsets.ClampPolicy{Sides: []offsets.Side{offsets.Stored}, MissingFirst: true}, lacking)
	why := "only the commits have an offset of these;"
	if grp.Store.Nothing() {
		why = g.rightStore() + ". If it is,"
	}
	return why + " to begin them at earliest (other in its place begins at the commit, and skips what was not processed): " +
		g.lineOf(grp, "clamp", c.selections, "--stored", "--missing", "earliest")
}

// emptied is the file of a topic of which nothing would be left without the selected partitions, if it is a bare one, which cannot be empty;
// else "".
func emptied(grp offsets.Group, sc *scope, gone offsets.Selection) string {
	place, there := grp.Store.Topic(gone.Topic)
	some := slices.ContainsFunc(sc.selections, func(s offsets.Selection) bool { return len(s.Partitions) > 0 }) // there may be others
	if !there || !place.Bare || some || slices.ContainsFunc(grp.Rows, func(r offsets.Row) bool {
		return r.Topic == gone.Topic && !r.Range.Gone() && r.Stored.Presence != offsets.Absent
	}) {
		return ""
	}
	return place.Path
}

// starting is the command that gives partitions without an offset anywhere one: in the store, or without one a commit, where there is
// something to be read. "" if there are none.
func (g *global) starting(grp offsets.Group, sc *scope) string {
	store, side := grp.Store != nil, offsets.Committed
	if store {
		side = offsets.Stored
	}
	if grp.Active() || grp.Trouble != nil || grp.Type == offsets.Share || store && (grp.Store.Trouble != nil || !g.session.store.Can().Write) {
		return ""
	}
	none := grp.Select(sc.selections, func(r *offsets.Row) bool {
		return r.Range.Known() && r.Stored.Presence == offsets.Absent && r.Committed.Presence == offsets.Absent && (store || r.Range.Readable() > 0)
	})
	if len(none) == 0 {
		return ""
	}
	return g.lost(grp) + "to start at earliest where there is no offset yet: " + g.lineOf(grp, "clamp", none, "--"+string(side))
}

// lost leads to history, before whatever begins a partition of which there is no offset anywhere.
func (g *global) lost(grp offsets.Group) string {
	return "if there was a commit, " + g.typed("history", "-g", grp.ID) + " tells how it comes back; "
}

// lineOf is a command about a group, as it can be typed.
func (g *global) lineOf(grp offsets.Group, command string, selections []offsets.Selection, end ...string) string {
	words := []string{command, "-g", grp.ID}
	for _, sel := range selections {
		words = append(words, "-t", sel.String())
	}
	return g.typed(append(g.withStore(words), end...)...)
}

// withStore adds the store that was given to the words of a command.
func (g *global) withStore(words []string) []string {
	if g.store == "" {
		return words
	}
	return append(words, "-s", g.store)
}

// recreated selects what was recorded for a topic that was recreated since.
func recreated(shot offsets.Snapshot) func(*offsets.Row) bool {
	return func(r *offsets.Row) bool {
		return offsets.Judge(r.Stored, r.Range, shot.Origin.Cluster).Identity == offsets.Recreated
	}
}

// alsoIll reports whether anything is wrong beside what is selected.
func alsoIll(shot offsets.Snapshot, grp offsets.Group, selected []offsets.Selection) bool {
	return slices.ContainsFunc(grp.Rows, func(r offsets.Row) bool {
		return !offsets.Holds(selected, r.Key) && !r.Range.Gone() && !r.Healthy(shot.Origin.Cluster, true)
	})
}

// clampLine is a clamp that runs through as it is typed.
type clampLine struct {
	why        string
	selections []offsets.Selection
	flags      []string
	writes     bool // it would do something
	begins     bool // also partitions of which there is no offset anywhere

	leavesRecreated bool // something else has to be decided of partitions that were recorded for an older topic
}

// clamping makes the plan that clamp would, to name what it asks for: what can be decided by reading again is decided so, and partitions
// of which something else would have to be decided are left out. only limits it to some rows; nil are all.
func clamping(shot offsets.Snapshot, grp offsets.Group, sc *scope, p offsets.ClampPolicy, only func(*offsets.Row) bool) clampLine {
	c := clampLine{why: "to bring it back into range", selections: sc.selections}
	one := grp
	if only != nil {
		one.Rows = nil
		for i := range grp.Rows {
			if only(&grp.Rows[i]) {
				one.Rows = append(one.Rows, grp.Rows[i])
			}
		}
	}
	p.Named = sc.named
	decided, plan, left := deciding(shot, one, p)
	if len(left) > 0 { // once more without them: they have asked for what the rest may do without
		old := recreated(shot)
		one.Rows = slices.DeleteFunc(slices.Clone(one.Rows), func(r offsets.Row) bool {
			c.leavesRecreated = c.leavesRecreated || left[r.Key] && old(&r)
			return left[r.Key]
		})
		decided, plan, _ = deciding(shot, one, p)
	}
	p = decided
	anew := false
	write := map[offsets.Key]bool{}
	for _, ch := range plan.Each() {
		if ch.Verdict == offsets.Write {
			write[ch.Key] = true
			c.begins = c.begins || ch.Condition == offsets.NoEntry
			anew = anew || ch.Condition == offsets.High && (ch.Old.TopicID == "" || ch.TopicID == "")
		}
	}
	c.writes = len(write) > 0
	if only != nil || len(left) > 0 {
		c.selections = grp.Select(sc.selections, func(r *offsets.Row) bool { return write[r.Key] })
	}
	if p.High != "" {
		c.why, c.flags = c.why+", and read again what may have been skipped", append(c.flags, "--high", "earliest")
		if anew {
			c.why = "the log was cut back, or the topic was made anew (then its other numbers are wrong, too); " + c.why
		}
	}
	if p.Recreated != "" {
		c.why, c.flags = "to read the new topic from its beginning", append(c.flags, "--recreated", "earliest")
	}
	return c
}

// deciding is the plan that clamp makes when what can be decided by reading again is decided so, and the policy that has decided it. left
// are the partitions of which something else would have to be decided.
func deciding(shot offsets.Snapshot, one offsets.Group, p offsets.ClampPolicy) (decided offsets.ClampPolicy, plan offsets.Plan, left map[offsets.Key]bool) {
	left = map[offsets.Key]bool{}
	for open := true; open; {
		open = false
		plan = offsets.Clamp(offsets.Snapshot{Origin: shot.Origin, At: shot.At, Groups: []offsets.Group{one}}, p)
		for _, ch := range plan.Each() {
			flag, _, _ := strings.Cut(ch.Choice, " ")
			switch {
			case ch.Verdict == offsets.Write && ch.Condition == offsets.High && ch.Skips > 0 && p.High == "": // also where that asks nobody
				p.High, open = offsets.ToEarliest, true
			case ch.Verdict != offsets.Ask && ch.Verdict != offsets.Refuse:
			case flag == "--high" && p.High == "":
				p.High, open = offsets.ToEarliest, true
			case flag == "--recreated" && p.Recreated == "":
				p.Recreated, open = offsets.ToEarliest, true
			case flag == "--high", flag == "--recreated": // decided by now
			default:
				left[ch.Key] = true
			}
		}
	}
	return p, plan, left
}
