package offsets

import (
	"fmt"
	"time"
)

// Backup is what a backup remembers: for each partition the value before the write, and the one that was written.
type Backup struct {
	Origin Origin
	Side   Side
	Groups []BackupGroup
}

// BackupGroup is one group of a backup.
type BackupGroup struct {
	Group string
	Type  GroupType
	Rows  []BackupRow

	Damaged []Remains // what could not be read whole before the write, and was salvaged
}

// BackupRow is one partition of a backup.
type BackupRow struct {
	Key
	Side    Side
	TopicID string
	Old     Value // NoValue: there was nothing
	Written Value
}

// RestorePolicy is what an operator has decided about a backup beforehand.
type RestorePolicy struct {
	OtherCluster   bool // the backup may be of another cluster
	KeepRecreated  bool // topics may have been recreated since
	OverwriteMoved bool // partitions may have moved since the backup's write
}

// Restore plans to bring back what a backup holds. A partition that has moved since, or whose topic is another one, is refused. A
// value that was out of range goes back out of range: that is what undoing a clamp means.
func Restore(s Snapshot, b Backup, p RestorePolicy) Plan {
	plan := Plan{Command: "import", Origin: s.Origin, Created: s.At}
	foreign := b.Origin.Cluster != "" && s.Origin.Cluster != "" && b.Origin.Cluster != s.Origin.Cluster
	removes := false
	for _, bg := range b.Groups {
		g, _ := s.Group(bg.Group)
		pg := PlanGroup{Group: bg.Group, Type: g.Type, State: g.State, Notes: g.notes(time.Time{})}
		for _, d := range bg.Damaged {
			pg.Notes = append(pg.Notes, fmt.Sprintf("before that write %s was damaged: what could not be read of it does not come back, and will look as if it had never been; the bytes are in the backup, as damaged", d.Path))
		}
		for _, br := range bg.Rows {
			r, _ := g.Row(br.Key)
			c := restoreRow(r, br, s.Origin.Cluster, foreign, p)
			if c.Choice == keepRecreated {
				kept := p
				kept.KeepRecreated = true
				next := restoreRow(r, br, s.Origin.Cluster, foreign, kept)
				c.then(&next)
			}
			if foreign && !p.OtherCluster {
				c = c.refuse(fmt.Sprintf("the backup is of cluster %s, and this is %s", b.Origin.Cluster, s.Origin.Cluster), "--other-cluster")
				c.Aside = atHome
				removes = removes || c.Old.Offset != None && c.New.Offset == None
			}
			pg.Changes = append(pg.Changes, c)
		}
		plan.Groups = append(plan.Groups, pg)
	}
	if removes { // what the other cluster did not have says nothing of what this one has
		for _, c := range plan.Each() {
			c.Choice = ""
		}
	}
	return plan
}

func restoreRow(r Row, br BackupRow, cluster string, foreign bool, p RestorePolicy) Change {
	e := r.Entry(br.Side)
	now := ValueOf(e)
	c := Change{
		Key: br.Key, Side: br.Side, TopicID: r.Range.TopicID, Condition: Judge(e, r.Range, cluster).Condition,
		Old: now, New: br.Old, Target: Restored, Verdict: Keep,
	}
	if foreign {
		c.New.Epoch = None
	}
	recreated := !foreign && br.TopicID != "" && r.Range.TopicID != "" && br.TopicID != r.Range.TopicID
	switch {
	case e.barred() != "":
		return c.bar(e)
	case now == c.New && !e.negative() && (now.Offset == None || !recreated): // nothing to do, whatever became of the topic
		c.Reason = "already as in the backup"
		return c
	case r.Range.Gone() && br.Side == Committed:
		return c.refuse(r.Range.gone(), "")
	case recreated && !p.KeepRecreated:
		return c.moved("the topic was recreated since the backup", keepRecreated)
	case now == c.New:
		c.Reason = "already as in the backup"
		return c
	case now.Offset != br.Written.Offset && !now.sameButEpoch(c.New) && !p.OverwriteMoved:
		return c.moved(fmt.Sprintf("moved since the backup: it was set to %s and is %s", number(br.Written.Offset), number(now.Offset)), "--moved overwrite")
	}
	c.Verdict, c.Reason = Write, "as before"
	c.Rewrite = now.Offset == br.Old.Offset // what is recorded with it differs
	if c.New.Offset == None {
		c.Reason = "there was none before"
		if c.Side == Committed {
			c.Reason += "; " + byPolicy
		}
		return c
	}
	if r.Range.Known() {
		c = c.weigh(r)
		if cond := Judge(At(c.New.Offset), r.Range, "").Condition; cond != OK {
			c.Reason += fmt.Sprintf(", %s: the range is %d..%d", cond, r.Range.Earliest, r.Range.End)
		}
	}
	return c
}

// sameButEpoch reports values that differ by their leader epoch at most.
func (v Value) sameButEpoch(o Value) bool {
	v.Epoch = o.Epoch
	return v == o
}
