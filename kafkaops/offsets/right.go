package offsets

// Right is what Kafka must allow before something can be read or written.
type Right struct {
	Operation string // as Kafka has it: DESCRIBE, READ, WRITE, DELETE
	On        string // "topic", "group" or "cluster"
	Name      string // of the topic or group; "" of the cluster
}

// String is the right in words: DESCRIBE on topic orders.
func (r Right) String() string {
	if r.Name == "" {
		return r.Operation + " on the " + r.On
	}
	return r.Operation + " on " + r.On + " " + r.Name
}

// Lacks is the right to describe something without which it could not be looked at; nil if the trouble is another one. A login that is
// refused is no want of a right.
func (t *Trouble) Lacks(on, name string) *Right {
	if t == nil || !t.Denied || t.Login {
		return nil
	}
	return &Right{Operation: "DESCRIBE", On: on, Name: name}
}

// Lacks is the right without which a side of a row could not be read; nil if it was read, or could not be for another reason.
func (g *Group) Lacks(r Row, side Side) *Right {
	switch {
	case side == Committed && g.Trouble != nil:
		return g.Trouble.Lacks("group", g.ID)
	case r.Range.Denied, side == Committed && r.Committed.Presence == Denied:
		return &Right{"DESCRIBE", "topic", r.Topic}
	}
	return nil
}

// Lacking adds to what a plan refuses the right that is missing, where it could not be looked at for want of one.
func (p Plan) Lacking(s Snapshot) Plan {
	return p.eachOf(func(group string, c Change) Change {
		if c.Verdict != Refuse || c.Lacks != nil {
			return c
		}
		g, _ := s.Group(group)
		r, _ := g.Row(c.Key)
		c.Lacks = g.Lacks(r, c.Side)
		return c
	})
}
