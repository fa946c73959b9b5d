package offsets

import (
	"fmt"
)

// Given is one row of a document to be imported.
type Given struct {
	Group string
	Key
	Value
	TopicID string // "" if the document has none
	Line    int    // where it stands, 0 if the format has no lines
}

// MergePolicy is what an operator has decided about an import beforehand.
type MergePolicy struct {
	Side          Side
	Cluster       string // id of the cluster that the document is from; "" if it does not say
	OtherCluster  bool   // it may be another one; its topic ids then prove nothing
	KeepRecreated bool   // topics may have been recreated since
	Clamp         bool   // a target out of range is brought into it instead of refused
}

// Merge plans to write what a document says. What it does not name stays as it is and is not in the plan.
func Merge(s Snapshot, rows []Given, p MergePolicy) Plan {
	plan := Plan{Command: "import", Origin: s.Origin, Created: s.At}
	foreign := p.Cluster != "" && s.Origin.Cluster != "" && p.Cluster != s.Origin.Cluster
	byGroup := map[string][]*Given{}
	for i := range rows {
		byGroup[rows[i].Group] = append(byGroup[rows[i].Group], &rows[i])
	}
	for _, g := range s.Groups {
		pg := PlanGroup{Group: g.ID, Type: g.Type, State: g.State, Notes: g.notes(s.At), Changes: make([]Change, 0, len(byGroup[g.ID]))}
		for _, given := range byGroup[g.ID] {
			r, _ := g.Row(given.Key)
			c := mergeRow(s, r, *given, p, foreign)
			if c.Choice == keepRecreated {
				kept := p
				kept.KeepRecreated = true
				next := mergeRow(s, r, *given, kept, foreign)
				c.then(&next)
			}
			if given.Line > 0 && c.Verdict == Refuse {
				c.Reason = fmt.Sprintf("line %d: %s", given.Line, c.Reason)
			}
			pg.Changes = append(pg.Changes, c)
		}
		plan.Groups = append(plan.Groups, pg)
	}
	return plan
}

// keepRecreated is the choice where a topic was recreated since.
const keepRecreated = "--recreated keep"

func mergeRow(s Snapshot, r Row, given Given, p MergePolicy, foreign bool) Change {
	c := begin(r, p.Side, s.Origin.Cluster)
	e := r.Entry(p.Side)
	switch {
	case given.Offset == None:
		c.Reason = "the document has no offset for it"
		return c
	case e.barred() != "":
		return c.bar(e)
	case foreign && !p.OtherCluster:
		c.Aside = atHome
		return c.refuse(fmt.Sprintf("the document is of cluster %s, and this is %s; offsets are not translated", p.Cluster, s.Origin.Cluster), "--other-cluster")
	case r.Range.Gone():
		return c.refuse(r.Range.gone(), "")
	case !r.Range.Known():
		return c.unknown("unknown: ", r.Range)
	}
	known := !foreign && given.TopicID != "" && r.Range.TopicID != ""
	if known && given.TopicID != r.Range.TopicID && !p.KeepRecreated {
		return c.moved(fmt.Sprintf("the topic was recreated since this offset was recorded, or it is of another topic: its id was %s and is %s", given.TopicID, r.Range.TopicID), keepRecreated)
	}
	v := Value{Offset: given.Offset, Epoch: None}
	if p.Side == Committed && !(known && given.TopicID != r.Range.TopicID) {
		v.Metadata = given.Metadata
	}
	if known && given.TopicID == r.Range.TopicID {
		v.Epoch = given.Epoch
	}
	c = c.aim(s, r, v, "as in the document", p.Clamp)
	if c.Verdict == Keep && p.Side == Committed && v.Offset == c.Old.Offset && v.Metadata != "" && v.Metadata != c.Old.Metadata {
		c.Verdict, c.Reason, c.New, c.Rewrite = Write, "as in the document; the same number, with its metadata", v, true
	}
	return c
}
