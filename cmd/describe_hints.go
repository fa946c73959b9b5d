package cmd

import (
	"gtoffset/kafkaops/offsets"
)

// hint is the next step for a group, "" for none.
func (g *global) hint(shot offsets.Snapshot, grp offsets.Group, sc *scope) string {
	if grp.Nothing() {
		return "if it is the right store: " + g.typed("describe", "-s", g.store) + " lists the groups, with those that it has"
	}
	ones, read, fine := 0, true, true
	for i := range grp.Rows {
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
	if !fine {
		if hint := g.mending(shot, grp, sc); hint != "" {
			return hint
		}
	}
	if ones == 0 || !read {
		return ""
	}
	return "a lag that stays at 1 may be the marker of a transaction, which no job reads"
}

// mending is the command that would mend a group, "" if nothing is to be mended now. It is about no more than was asked for.
func (g *global) mending(shot offsets.Snapshot, grp offsets.Group, sc *scope) string {
	if grp.Active() || grp.Trouble != nil || grp.Store != nil && grp.Store.Trouble != nil { // what was processed is not known just then
		return ""
	}
	line := func(command string, selections []offsets.Selection, end ...string) string {
		words := []string{command, "-g", grp.ID}
		for _, sel := range selections {
			words = append(words, "-t", sel.String())
		}
		if g.store != "" {
			words = append(words, "-s", g.store)
		}
		return g.typed(append(words, end...)...)
	}
	mend := grp.Repairs(shot.Origin.Cluster)
	writable := g.session.store == nil || g.session.store.Can().Write // what is only read is mended by its job
	switch {
	case mend.Denied:
		return "the store may not be read: " + asJobsUser
	case mend.Damaged && writable:
		return "to see what would be left without what is damaged: " + line("clamp", sc.selections, "--stored", "--salvage", "--dry-run")
	case mend.Foreign && writable:
		return "the store is of another cluster; if that is meant: " + line("clamp", sc.selections, "--stored", "--other-cluster")
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
	if safe := grp.Safe(shot.Origin.Cluster, sc.selections); len(safe) > 0 {
		return "to lose nothing that is still there: " + line("reset", safe, flags([]offsets.Side{offsets.Stored, offsets.Committed}, "--to-safe")...)
	}
	if stale, sides := grp.Stale(shot.Origin.Cluster, sc.selections); len(flags(sides)) > 0 {
		return "to go on where the offsets say, without the stale leader epochs: " + line("reset", stale, flags(sides, "--to-current")...)
	}
	end := flags(mend.Sides)
	if len(end) == 0 {
		return ""
	}
	if mend.Recreated {
		return "to read the new topic from its beginning: " + line("clamp", sc.selections, append(end, "--recreated", "earliest")...)
	}
	if doubtful(shot, grp, mend.Sides) { // clamp would ask, or refuse
		return "to bring it back into range, and read again what may have been skipped: " + line("clamp", sc.selections, append(end, "--high", "earliest")...)
	}
	return "to bring it back into range: " + line("clamp", sc.selections, end...)
}

// doubtful reports whether something is beyond the end of a log that cannot be proven to be the same.
func doubtful(shot offsets.Snapshot, grp offsets.Group, sides []offsets.Side) bool {
	for _, r := range grp.Rows {
		for _, side := range sides {
			st := offsets.Judge(r.Entry(side), r.Range, shot.Origin.Cluster)
			if st.Condition == offsets.High && st.Identity != offsets.Same && r.Range.Readable() > 0 {
				return true
			}
		}
	}
	return false
}
