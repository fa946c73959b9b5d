package offsets

// Shared is how far a share group is in a partition. It commits no offset: the brokers keep for each record whether it was
// acknowledged, from the start on.
type Shared struct {
	Start  int64 // first offset that is not settled; None before the first record was handed out
	Lag    int64 // records that are not settled, as the broker counts them; None if it does not tell
	Reason string
}

// judge is what a share group's place is worth, as if it were a commit.
func (p *Shared) judge(r *Range) State {
	s := State{Condition: Unknown, Identity: IdentityUnknown, Lag: None, Expired: None, Ahead: None, JumpsTo: None}
	switch {
	case r.Gone():
		s.Condition = Gone
	case p.Reason != "" || !r.Known():
	case p.Start == None:
		s.Condition = NoEntry
	default:
		s.Condition, s.Expired, s.Ahead = OK, 0, 0
		if s.Lag = p.Lag; s.Lag == None {
			s.Lag = max(r.End-max(p.Start, r.Earliest), 0)
		}
	}
	return s
}

// words says what there is to say of a share group's place, "" if nothing.
func (p *Shared) words() string {
	switch {
	case p.Reason != "":
		return "start unknown: " + p.Reason
	case p.Start == None:
		return "nothing read yet"
	}
	return ""
}
