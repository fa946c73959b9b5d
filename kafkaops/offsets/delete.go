package offsets

// Delete plans to remove the commits of every partition of the snapshot, or with whole the groups themselves. Only the commits in
// Kafka are concerned; a store keeps what it has.
func Delete(s Snapshot, whole bool) Plan {
	plan := Plan{Command: "delete", Origin: s.Origin, Created: s.At}
	for _, g := range s.Groups {
		pg := PlanGroup{Group: g.ID, Type: g.Type, State: g.State, Whole: whole}
		if whole {
			pg.Notes = append(pg.Notes, "the whole group goes; an undo brings back its commits, but not its type, nor the clock by which they expire")
		}
		for _, r := range g.Rows {
			c := begin(r, Committed, s.Origin.Cluster)
			switch e := r.Committed; {
			case e.Problem():
				c = c.refuse(e.Presence.String()+": "+orElse(e.Reason, "no reason given"), "")
			case e.Presence == Absent:
				c.Reason = "no commit"
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
