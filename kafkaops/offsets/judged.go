package offsets

// Judged is a row of which both sides have been held against the cluster. Who asks more than one thing about a row, or about
// many rows, judges each once and asks here.
type Judged struct {
	Row               *Row
	Stored, Committed State
	store             bool
}

// JudgeRow holds both sides of a row against the cluster with the given id. store tells whether a store is named.
func JudgeRow(r *Row, cluster string, store bool) Judged {
	j := Judged{
		Row:       r,
		Stored:    judge(&r.Stored, &r.Range, cluster),
		Committed: judge(&r.Committed, &r.Range, cluster),
		store:     store,
	}
	if r.Shared != nil {
		j.Committed = r.Shared.judge(&r.Range)
	}
	return j
}

// on is what the given side says, and what that is worth.
func (j *Judged) on(side Side) (*Entry, *State) {
	if side == Stored {
		return &j.Row.Stored, &j.Stored
	}
	return &j.Row.Committed, &j.Committed
}

// Unprocessed is committed − max(stored, earliest): committed beyond what the store says was processed when positive, commits
// that lag behind the store when negative. Both are taken within the range. ok is false where it cannot be told.
func (j *Judged) Unprocessed() (n int64, ok bool) {
	r := j.Row
	if r.Stored.Presence != Present || r.Committed.Presence != Present || r.Range.State != RangeKnown ||
		j.Stored.Identity == Recreated || j.Stored.Foreign || j.Committed.Identity == Recreated {
		return 0, false
	}
	return r.Range.clamp(r.Committed.Offset) - r.Range.clamp(r.Stored.Offset), true
}

// Unprocessed judges the row for this one answer: see Judged.Unprocessed.
func (r Row) Unprocessed(cluster string) (n int64, ok bool) {
	j := JudgeRow(&r, cluster, true)
	return j.Unprocessed()
}

// Healthy reports whether nothing is wrong with the partition. Never committed, and unprocessed records, are no fault by
// themselves; an entry that is missing from a named store is.
func (j *Judged) Healthy() bool {
	if j.Committed.Identity == Recreated || j.Committed.Condition != OK && j.Committed.Condition != NoEntry || !j.Committed.resumes() {
		return false
	}
	if !j.store {
		return j.Row.Range.State == RangeKnown
	}
	return j.Stored.Condition == OK && j.Stored.Identity != Recreated && !j.Stored.Foreign && j.Stored.resumes()
}

// resumes reports that nothing is known to keep a consumer from going on at the offset itself.
func (s *State) resumes() bool { return !s.Stale && !s.Unchecked }

// Healthy judges the row for this one answer: see Judged.Healthy.
func (r Row) Healthy(cluster string, store bool) bool {
	j := JudgeRow(&r, cluster, store)
	return j.Healthy()
}
