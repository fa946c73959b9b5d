package offsets

import (
	"cmp"
	"slices"
)

// Deleted is the part of a plan after its group was deleted, or was not, perhaps for want of a right: what is true of the group is true
// of each commit.
func (g PlanGroup) Deleted(result Result, why string, lacks *Right) PlanGroup {
	g.Result, g.Error, g.Lacks = result, why, lacks
	g.Changes = slices.Clone(g.Changes)
	for i, c := range g.Changes {
		if c.Verdict == Write {
			g.Changes[i].Result, g.Changes[i].Error, g.Changes[i].Lacks = result, why, lacks
		}
	}
	return g
}

// Deleting reports whether the group itself was deleted, or may still be as there was no answer.
func (g PlanGroup) Deleting() bool {
	return g.Whole && (g.Result == Written || g.Result == Unverified)
}

// Delete plans to remove the commits of every partition of the snapshot, or with whole the groups themselves. Only the commits in
// Kafka are concerned; a store keeps what it has.
func Delete(s Snapshot, whole bool) Plan {
	plan := Plan{Command: "delete", Origin: s.Origin, Created: s.At}
	for _, g := range s.Groups {
		pg := PlanGroup{Group: g.ID, Type: g.Type, State: g.State, Whole: whole, Live: !whole}
		if whole && g.Type != Share {
			pg.Notes = append(pg.Notes, "the whole group goes; an undo brings back its commits, but not its type, nor the clock by which they expire")
		}
		read := map[string]bool{} // topics that members read
		for _, r := range g.Rows {
			if r.Owner != "" {
				read[r.Topic] = true
			}
		}
		for _, r := range g.Rows {
			c := begin(r, Committed, s.Origin.Cluster)
			switch e := r.Committed; {
			case e.Problem():
				c = c.refuse(e.Presence.String()+": "+cmp.Or(e.Reason, "no reason given"), "")
			case e.Presence == Absent:
				c.Reason = "no commit"
			case !whole && g.Active() && read[r.Topic]:
				c = c.refuse("the group is active and reads this topic: "+g.activity(), "--wait-empty 60s")
			default:
				c.Verdict, c.New, c.Reason = Write, NoValue, "removed"
				if whole {
					c.Reason = "removed with the group"
				}
			}
			pg.Changes = append(pg.Changes, c)
		}
		plan.Groups = append(plan.Groups, pg)
	}
	return plan
}
