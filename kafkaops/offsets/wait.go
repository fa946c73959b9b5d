package offsets

import "fmt"

// Conditions are what can be waited for. All that are set must hold.
type Conditions struct {
	Empty    bool  // no member in any group
	MaxLag   int64 // None: not asked for
	CaughtUp bool  // the store has reached what is committed
}

// Open says, in words, what does not hold yet. A lag or a store that is not known does not hold.
func Open(s Snapshot, c Conditions) []string {
	var open []string
	add := func(format string, args ...any) { open = append(open, fmt.Sprintf(format, args...)) }
	for _, g := range s.Groups {
		if c.Empty && g.Active() {
			add("group %q is %s", g.ID, g.activity())
		}
		for _, r := range g.Rows {
			lag := Judge(r.Committed, r.Range, s.Origin.Cluster).Lag
			switch {
			case c.MaxLag == None || r.Range.Gone():
			case r.Committed.Presence == Absent && r.Range.Known() && r.Range.Readable() == 0: // nothing to commit yet
			case lag == None:
				add("group %q %s: no offset is committed", g.ID, r.Key)
			case lag > c.MaxLag:
				add("group %q %s: lag %s", g.ID, r.Key, Thousands(lag))
			}
			if c.CaughtUp && r.Committed.Presence == Present {
				behind, ok := r.Unprocessed(s.Origin.Cluster)
				switch {
				case !ok:
					add("group %q %s: what is stored cannot be told", g.ID, r.Key)
				case behind > 0:
					add("group %q %s: stored %s behind committed", g.ID, r.Key, Thousands(behind))
				}
			}
		}
	}
	return open
}
