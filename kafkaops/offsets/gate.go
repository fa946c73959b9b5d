package offsets

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Gate refuses all writes to groups that must not be written now: live ones, those that could not be read, those whose type has
// no offsets of its own, and, unless create is given, commits for a group that does not exist.
func Gate(p Plan, s Snapshot, create bool) Plan {
	closed := map[string]PlanGroup{}
	for i, pg := range p.Groups {
		g, seen := s.Group(pg.Group)
		if !seen && (pg.Refusal != "" || !pg.Whole && !pg.writes(Stored) && !pg.writes(Committed)) {
			continue // it was not looked at again
		}
		unseen := g.unread() != ""                        // what would have to be written is not known: that is not "nothing"
		share := p.Command == "delete" && g.Type == Share // its commits are none to Kafka: that is not "nothing to do" either
		if !unseen && !share && !pg.wishes(Stored) && !pg.wishes(Committed) && (!pg.Whole || pg.Result == Already) {
			continue
		}
		pg.Refusal, pg.Choice = g.closed(pg.Live)
		if pg.Refusal == "" && !pg.wishes(Stored) && !pg.wishes(Committed) {
			pg.Refusal = g.unread()
		}
		if pg.Refusal == "" && g.Existence == Missing && !create && !pg.Whole && pg.wishes(Committed) {
			pg.Refusal, pg.Choice = fmt.Sprintf("group %q does not exist", g.ID), "--create"
		}
		if pg.Refusal != "" {
			p.Groups[i].Refusal, p.Groups[i].Choice = pg.Refusal, pg.Choice
			closed[pg.Group] = pg
		}
	}
	return p.eachOf(func(group string, c Change) Change {
		if pg, ok := closed[group]; ok && c.ToDo() && c.Result != Already {
			c.Would = c.Reason
			if c.Verdict == Ask {
				c.Would += "; needs " + c.Choice
			}
			return c.refuse(pg.Refusal, pg.Choice)
		}
		return c
	})
}

// NotRefused notes, in a plan that does nothing, which groups are active: to write to them would be refused, and so it does not pass
// for a word about their members that nothing is.
func (p Plan) NotRefused(s Snapshot) Plan {
	if p.ToDo() > 0 {
		return p
	}
	p.Groups = slices.Clone(p.Groups)
	for i := range p.Groups {
		pg := &p.Groups[i]
		if g, ok := s.Group(pg.Group); ok && pg.Refusal == "" && g.Active() && !pg.Live {
			pg.Notes = append(slices.Clone(pg.Notes), "the group is still active: "+g.activity())
		}
	}
	return p
}

// Unwatched notes, in a plan that writes commits, which groups have a job that nobody sees unless it is watched.
func (p Plan) Unwatched(s Snapshot) Plan {
	p.Groups = slices.Clone(p.Groups)
	for i := range p.Groups {
		pg := &p.Groups[i]
		g, _ := s.Group(pg.Group)
		if why := g.unseen(); why != "" && pg.writes(Committed) && !slices.Contains(pg.Notes, why) { // an earlier plan may say it
			pg.Notes = append(slices.Clone(pg.Notes), why)
		}
	}
	return p
}

// unseen says why a group without members may still have a job that runs, "" if its members would show.
func (g *Group) unseen() string {
	if g.Type != Simple {
		return ""
	}
	return "a simple group: its job assigns partitions by hand, is never a member, and may be running; " + idleWatches
}

// idleWatches is what tells whether a job runs that is no member.
const idleWatches = "--idle 30s on the write watches it"

// wishes reports whether anything would be written on a side if the operator decided what is left open: who decides that is to know
// at once that the group stands against it, too.
func (pg PlanGroup) wishes(side Side) bool {
	return pg.writes(side) || slices.ContainsFunc(pg.Changes, func(c Change) bool {
		return c.Side == side && c.Verdict == Refuse && c.Choice != ""
	})
}

// WritesCommits reports whether anything of the group is to be written to the cluster.
func (pg PlanGroup) WritesCommits() bool { return pg.Whole && pg.Refusal == "" || pg.writes(Committed) }

// Leans reports whether something that is to be written was decided by what stands on a side, which is the other one.
func (pg PlanGroup) Leans(on Side) bool {
	return slices.ContainsFunc(pg.Changes, func(c Change) bool {
		return c.Side != on && c.Beside != nil && c.ToDo() && c.Result != Already
	})
}

// writes reports whether anything is left to be written on a side.
func (pg PlanGroup) writes(side Side) bool {
	for _, c := range pg.Changes {
		if c.Side == side && c.ToDo() && c.Result != Already {
			return true
		}
	}
	return false
}

// closed says why nothing may be written to the group now, "" if it may, and which flag would help.
func (g *Group) closed(live bool) (why, choice string) {
	switch {
	case g.Trouble != nil:
		return g.unread(), ""
	case g.ID == "":
		return "the group's name is empty: Kafka takes no commits for it any more", ""
	case g.Type == Share:
		return fmt.Sprintf("%q is a share group: the broker keeps its state, and it has no offsets of this kind", g.ID), ""
	case g.Protocol == "connect":
		return fmt.Sprintf("%q coordinates Connect workers and has no offsets: name the sink connector's own group (connect-NAME)", g.ID), ""
	case g.Active() && !live:
		return fmt.Sprintf("group %q is active: %s", g.ID, g.activity()), "--wait-empty 60s"
	case g.Existence == ExistenceUnknown:
		return fmt.Sprintf("whether group %q exists is unknown", g.ID), ""
	}
	return "", ""
}

// unread says which side of the group could not be read as a whole, "" if both could.
func (g *Group) unread() string {
	switch {
	case g.Trouble != nil:
		return fmt.Sprintf("group %q could not be read: %s", g.ID, g.Trouble.Reason)
	case g.Store != nil && g.Store.Trouble != nil:
		return fmt.Sprintf("the store of group %q could not be read: %s", g.ID, g.Store.Trouble.Reason)
	}
	return ""
}

// activity names the members that keep a group active.
func (g *Group) activity() string {
	what := "state " + g.State
	if len(g.Members) > 0 {
		what = Plural(len(g.Members), "member") + " (" + g.MemberNames() + ")"
	} else if users := g.users(); len(users) > 0 {
		what = Plural(len(users), "consumer") + " registered in the store (" + first(users, 5) + ")"
	}
	if strings.HasPrefix(g.ID, "connect-") {
		what += "; a paused connector stays a member: stop it"
	}
	return what
}

// users are the consumers that only the store knows.
func (g *Group) users() []string {
	if g.Store == nil {
		return nil
	}
	return g.Store.Users
}

// Recently is how young a save of the job may be before it speaks against its being stopped.
const Recently = 5 * time.Minute

// notes says what an operator should know of the store before a write: what was ignored or salvaged, and what speaks against
// the job being stopped although no member shows. at is the time of the look; the zero time leaves out how young a save is.
func (g *Group) notes(at time.Time) []string {
	if g.Store == nil {
		return nil
	}
	notes := slices.Clone(g.Store.Notes)
	if g.Locked() {
		notes = append(notes, fmt.Sprintf("the store is locked by %s: the job may be running", g.Store.Holder))
	}
	if age := at.Sub(g.Store.Saved); !at.IsZero() && !g.Store.Saved.IsZero() && age.Abs() < Recently && !g.Store.Ours {
		notes = append(notes, fmt.Sprintf("the store was saved %s ago: the job may be running; %s", Span(max(age, 0).Truncate(time.Second)), idleWatches))
	}
	return notes
}
