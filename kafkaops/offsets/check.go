package offsets

// Limits are the conditions of a check. None leaves a condition out.
type Limits struct {
	Healthy        bool // nothing may be out of order
	MaxLag         int64
	MaxUnprocessed int64
}

// Check is one condition held against a snapshot.
type Check struct {
	Name   string // "ok", "max-lag", "max-unprocessed"
	Limit  int64  // None for "ok"
	Failed bool
	Worst  *Measure // where it failed most, or came nearest to it; nil if nothing could be measured
	Count  int      // how many partitions fail
}

// Measure is a number at a partition. Words say what is wrong where it is no number.
type Measure struct {
	Group string
	Key
	Value int64
	Words string
}

// Over reports a row that is beyond one of the limits that are numbers.
func (l Limits) Over(j *Judged) bool {
	n, ok := j.Unprocessed()
	return l.MaxLag != None && j.Committed.Lag > l.MaxLag || l.MaxUnprocessed != None && ok && n > l.MaxUnprocessed
}

// RunChecks holds the limits against every row. What could not be measured fails none of them by itself.
func RunChecks(s Snapshot, l Limits) []Check {
	var checks []Check
	if l.Healthy {
		checks = append(checks, check(s, "ok", None, func(j *Judged) (int64, string, bool) {
			if j.Healthy() {
				return 0, "", true
			}
			return 1, j.Words(), true
		}))
	}
	if l.MaxLag != None {
		checks = append(checks, check(s, "max-lag", l.MaxLag, func(j *Judged) (int64, string, bool) {
			return j.Committed.Lag, "", j.Committed.Lag != None
		}))
	}
	if l.MaxUnprocessed != None {
		checks = append(checks, check(s, "max-unprocessed", l.MaxUnprocessed, func(j *Judged) (int64, string, bool) {
			n, ok := j.Unprocessed()
			return max(n, 0), "", ok
		}))
	}
	return checks
}

func check(s Snapshot, name string, limit int64, measure func(*Judged) (int64, string, bool)) Check {
	c := Check{Name: name, Limit: limit}
	for _, g := range s.Groups {
		for i := range g.Rows {
			j := JudgeRow(&g.Rows[i], s.Origin.Cluster, g.Store != nil)
			n, words, ok := measure(&j)
			if !ok {
				continue
			}
			if n > max(limit, 0) {
				c.Failed = true
				c.Count++
			}
			if c.Worst == nil || n > c.Worst.Value {
				c.Worst = &Measure{Group: g.ID, Key: j.Row.Key, Value: n, Words: words}
			}
		}
	}
	return c
}
