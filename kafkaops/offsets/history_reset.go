package offsets

import (
	"fmt"
	"time"
)

// Past is what the offsets topic tells of a group at a point in time: what a reset to that time goes by.
type Past struct {
	At       time.Time
	Was      map[Key]Was
	Complete Complete
}

// of says what was in force for a partition.
func (p Past) of(k Key) Was {
	w, ok := p.Was[k]
	if !ok {
		w = Was{NextTo: None, Reached: None, Pending: None}
		if p.Complete.Whole {
			w.State = WasNever
		}
	}
	return w
}

// back plans the return to what was committed at a point in time.
func (c Change) back(s Snapshot, r Row, past Past, clamp bool) Change {
	w := past.of(r.Key)
	if none := c.Old.Offset == None; none && (w.State == WasNever || w.State == WasRemoved || w.State == WasUnknown && w.Time.IsZero()) {
		c.Reason = "no commit of it is recorded then, and there is none now; left as it is"
		return c
	}
	switch w.State {
	case WasUnknown:
		why := "no commit of it is recorded any more"
		if !w.Time.IsZero() {
			why = "the oldest commit that is still recorded is of " + Clock(w.Time)
		}
		return c.refuse("what was committed then is unknown: "+why+"; "+past.Complete.String(), "")
	case WasRemoved:
		return c.refuse("there was no commit then: it was removed "+Clock(w.Time), "")
	case WasNever:
		why := "nothing had ever been committed"
		if !w.Time.IsZero() {
			why += "; the first commit is of " + Clock(w.Time)
		}
		return c.refuse("there was no commit then: "+why, "")
	case WasUnreadable:
		return c.refuse("what was committed then is recorded in a form that gtoffset does not know", "")
	}
	if id := w.Value.TopicID; id != "" && r.Range.TopicID != "" && id != r.Range.TopicID {
		return c.refuse(fmt.Sprintf("%d was committed for another topic of this name: its id was %s and is %s", w.Value.Offset, id, r.Range.TopicID), "")
	}
	v := Value{Offset: w.Value.Offset, Epoch: None}
	if c.Side == Committed {
		v.Metadata = w.Value.Metadata
	}
	return c.aim(s, r, v, w.words(past.At), clamp)
}

// near is how close to the point in time a change must be to be told of.
const near = time.Second

// words says what is gone back to.
func (w Was) words(at time.Time) string {
	text := fmt.Sprintf("committed %s, %s before", Clock(w.Time), Span(max(at.Sub(w.Time), 0).Truncate(time.Millisecond)))
	if !w.Next.IsZero() && w.Next.Sub(at) <= near {
		text += fmt.Sprintf("; %s after, it became %s", Span(w.Next.Sub(at)), number(w.NextTo))
	}
	return text
}

// notes says what an operator should know before going back: what members have committed since, and what may come in between.
func (p Past) notes(g Group) []string {
	var notes []string
	members, partitions, behind, disorder := 0, 0, 0, 0
	var reached *Key
	for _, r := range g.Rows {
		w := p.of(r.Key)
		if w.State != WasCommitted {
			continue
		}
		switch {
		case w.Members > 0 && w.Reached < w.Value.Offset:
			behind++
		case w.Members > 0 && w.Reached > w.Value.Offset:
			members += w.Members
			partitions++
			if reached == nil || w.Reached-w.Value.Offset > p.of(*reached).Reached-p.of(*reached).Value.Offset {
				reached = &r.Key
			}
		}
		if w.Pending != None {
			notes = append(notes, fmt.Sprintf("%s: the transaction of producer %d is still open; ending it does not undo this write, but its job may commit again", r.Key, w.Pending))
		}
		if w.Disorder {
			disorder++
		}
	}
	if members > 0 {
		w := p.of(*reached)
		notes = append(notes, fmt.Sprintf("members, or transactions, committed %s since then, in %s: what they processed is read again, the most in %s, from %d to %d",
			Plural(members, "time"), Plural(partitions, "partition"), *reached, w.Value.Offset, w.Reached))
	}
	if behind > 0 {
		notes = append(notes, fmt.Sprintf("members, or transactions, committed since then in %s without coming as far as then: what lies between is passed over", Plural(behind, "partition")))
	}
	if disorder > 0 {
		notes = append(notes, fmt.Sprintf("in %s times are not in order around then, as another broker's clock came in: the order of the log counts", Plural(disorder, "partition")))
	}
	return notes
}
