package offsets

import (
	"fmt"
	"slices"
)

// byPolicy is what the removal of a commit comes to.
const byPolicy = "a restart begins by auto.offset.reset"

// Deleted is the part of a plan after its group was deleted, or was not, perhaps for want of a right: what is true of the group is true
// of each commit.
func (g PlanGroup) Deleted(done Change) PlanGroup {
	g.Result, g.Error, g.Lacks, g.Doubt, g.Refused, g.Moved = done.Result, done.Error, done.Lacks, done.Doubt, done.Refused, done.Moved
	if done.Moved { // what moved may be another partition
		done.Error = "the group is not deleted: " + done.Error
	}
	g.Changes = slices.Clone(g.Changes)
	for i, c := range g.Changes {
		if c.Verdict == Write {
			c.Result, c.Error, c.Lacks, c.Pending, c.Doubt, c.Refused, c.Moved = done.Result, done.Error, done.Lacks, done.Pending, done.Doubt, done.Refused, done.Moved
			g.Changes[i] = c
		}
	}
	return g
}

// Deleting reports whether the group itself was deleted, or may still be as there was no answer.
func (g PlanGroup) Deleting() bool {
	return g.Whole && (g.Result == Written || g.Result == Unverified)
}

// Unsettled reports whether it takes another look to tell what came of deleting the group itself.
func (g PlanGroup) Unsettled() bool { return g.Whole && (g.Result == Unverified || g.Doubt) }

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
			case e.barred() != "":
				c = c.bar(e)
			case e.Presence == Absent && whole: // nothing of it goes
				continue
			case e.Presence == Absent:
				c.Reason = "no commit"
			case !whole && g.Active() && read[r.Topic]:
				c = c.refuse("the group is active and reads this topic: "+g.activity(), "--wait-empty 60s")
			default:
				c.Verdict, c.New, c.Reason = Write, NoValue, "removed; "+byPolicy
				if whole {
					c.Reason = "removed with the group; " + byPolicy
				}
			}
			pg.Changes = append(pg.Changes, c)
		}
		plan.Groups = append(plan.Groups, pg.allOrNothing())
	}
	return plan
}

// deletes reports whether the plan is to delete the group itself.
func (p Plan) deletes(group string) bool {
	return slices.ContainsFunc(p.Groups, func(g PlanGroup) bool { return g.Whole && g.Group == group })
}

// unplanned refuses the commits that a group has now and did not have when it was planned to delete it: no backup has them.
func (g PlanGroup) unplanned(now Group, cluster string) PlanGroup {
	g.Changes = slices.Clone(g.Changes)
	for _, r := range now.Rows {
		if r.Committed.Presence == Absent && !r.Committed.Pending {
			continue
		}
		c := begin(r, Committed, cluster)
		if r.Committed.Pending {
			c = c.refusePending()
		} else {
			c = c.moved("moved since the plan: was none, is "+number(ValueOf(r.Committed).Offset), "")
		}
		i, known := slices.BinarySearchFunc(g.Changes, r.Key, func(c Change, k Key) int { return c.Key.Compare(k) })
		switch {
		case !known:
			g.Changes = append(g.Changes, c)
			copy(g.Changes[i+1:], g.Changes[i:])
			g.Changes[i] = c
		case g.Changes[i].Verdict == Keep:
			g.Changes[i] = c
		}
	}
	return g
}

// allOrNothing refuses the whole of a group that is to be deleted, if anything of it is refused: what is left out would go with it.
func (g PlanGroup) allOrNothing() PlanGroup {
	if !g.Whole || !slices.ContainsFunc(g.Changes, func(c Change) bool { return c.Verdict == Refuse }) {
		return g
	}
	g.Refusal = fmt.Sprintf("group %q is deleted whole or not at all", g.Group)
	g.Changes = slices.Clone(g.Changes)
	for i, c := range g.Changes {
		if c.Verdict == Write {
			g.Changes[i] = c.refuse(g.Refusal, "")
		}
	}
	return g
}
