package offsetfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"gtoffset/kafkaops/offsets"
)

// Writer makes no connection: a table has no locks.
func (s *tableStore) Writer(_ context.Context, group string, _ []string) (Writer, error) {
	if !s.Can().Write {
		return nil, fmt.Errorf("%s: %w", s.name, ErrReadOnly)
	}
	return &tableWriter{store: s, group: group}, nil
}

type tableWriter struct {
	store *tableStore
	group string
}

func (w *tableWriter) Notes() []string {
	if w.store.Can().CompareAndSet {
		return nil
	}
	return []string{w.store.name + " cannot compare and set: make sure that nothing else writes there"}
}

func (w *tableWriter) Unlock() error { return nil }

// tableSave is one save under way.
type tableSave struct {
	changes []offsets.Change
	edits   []Edit
	of      []int // the change that an edit is for
	cells   map[string]map[int32]Cell
	left    []int // edits that are neither made nor given up
	doubt   bool  // an earlier try may have been made
}

func (w *tableWriter) Save(ctx context.Context, seen offsets.Store, changes []offsets.Change, facts Facts) ([]offsets.Change, offsets.Store) {
	s := &tableSave{changes: slices.Clone(changes), cells: map[string]map[int32]Cell{}}
	now := renewed(seen)
	if !w.plan(s, seen) {
		for i := range s.changes {
			if c := &s.changes[i]; isToWrite(*c) || c.Result == pending {
				c.Result, c.Error = offsets.NotTried, "another change of this save was refused"
			}
		}
		return s.changes, now
	}
	if len(s.edits) > 0 {
		w.write(ctx, s)
	}
	for i := range s.changes {
		if s.changes[i].Result == pending {
			s.changes[i].Result = offsets.Already
		}
	}
	for topic, cells := range s.cells {
		t, _ := seen.Topic(topic)
		t.Topic, t.Path, t.Token, t.Highest = topic, cmp.Or(t.Path, seen.Path), token(cells), offsets.None
		t.Presence, t.Entries = offsets.Absent, len(cells)
		for p := range cells {
			t.Presence, t.Highest = offsets.Present, max(t.Highest, p)
		}
		now.Put(t)
	}
	now.Saved = facts.Now
	return s.changes, now
}

// isToWrite reports whether a change is the store's to write.
func isToWrite(c offsets.Change) bool {
	return c.Side == offsets.Stored && c.Verdict == offsets.Write && c.Result == ""
}

// plan makes edits of the changes. It reports false if one is refused: then nothing is written.
func (w *tableWriter) plan(s *tableSave, seen offsets.Store) bool {
	ok := true
	twice := map[offsets.Key]bool{}
	for i := range s.changes {
		c := &s.changes[i]
		if !isToWrite(*c) {
			continue
		}
		err := w.planOne(s, i, seen)
		if err == nil && twice[c.Key] {
			err = fmt.Errorf("two changes of partition %d", c.Partition)
		}
		twice[c.Key] = true
		if err != nil {
			c.Verdict, c.Reason = offsets.Refuse, fmt.Sprintf("save %s: %v", c.Topic, err)
			c.Result, c.Error = offsets.NotTried, c.Reason
			ok = false
		}
	}
	return ok
}

func (w *tableWriter) planOne(s *tableSave, i int, seen offsets.Store) error {
	c := &s.changes[i]
	t, _ := seen.Topic(c.Topic)
	if t.Presence != offsets.Present && t.Presence != offsets.Absent {
		return errors.New(cmp.Or(t.Reason, "it could not be read"))
	}
	cells := s.cells[c.Topic]
	if cells == nil {
		var err error
		if cells, err = cellsOf(t.Token); err != nil {
			return err
		}
		s.cells[c.Topic] = cells
	}
	e := Edit{Topic: c.Topic, Partition: c.Partition}
	if old, found := cells[c.Partition]; found {
		if old.Reason != "" {
			return errors.New(old.Reason)
		}
		e.Old = &old
	}
	switch {
	case c.New.Offset < offsets.None:
		return fmt.Errorf("set partition %d to offset %d: negative", c.Partition, c.New.Offset)
	case c.New.Offset != offsets.None:
		e.New = &Cell{Text: w.store.o.Counts.Text(c.New.Offset)}
	}
	if e.Old == nil && e.New == nil || e.Old != nil && e.New != nil && e.Old.Text == e.New.Text {
		c.Result = pending
		return nil
	}
	s.edits, s.of = append(s.edits, e), append(s.of, i)
	return nil
}

// write makes the edits, again and again while the store is away.
func (w *tableWriter) write(ctx context.Context, s *tableSave) {
	store := w.store
	for j := range s.edits {
		s.left = append(s.left, j)
	}
	err := store.o.step(StepWrite)
	if err == nil {
		err = Retry(ctx, store.name, store.o, "write", func(ctx context.Context) error { return w.try(ctx, s) })
	}
	for _, j := range s.left { // given up
		s.fail(j, err)
	}
	_ = store.o.step(StepDone) // nothing is left that could fail
}

// try makes the edits that are left, after it has looked up what was made where an answer did not come. An error is one to try again
// after; what failed for good is told, and not left.
func (w *tableWriter) try(ctx context.Context, s *tableSave) error {
	if s.doubt {
		if err := w.settle(ctx, s); err != nil || len(s.left) == 0 {
			return err
		}
	}
	some := make([]Edit, len(s.left))
	for i, j := range s.left {
		some[i] = s.edits[j]
	}
	err := w.store.table.Write(ctx, w.group, some)
	if inDoubt(err) {
		s.doubt = s.doubt || !neverSent(err)
		return err
	}
	tried := s.left
	s.left = nil
	var again error
	for i, j := range tried {
		switch failed := named(w.store.name, cmp.Or(some[i].Err, err)); {
		case failed == nil:
			s.made(j)
		case inDoubt(failed): // this edit alone, where each is a request
			s.doubt, again = true, failed
			s.left = append(s.left, j)
		case s.doubt && errors.Is(failed, ErrChanged): // by us, perhaps: it is looked up
			again = &AwayError{Err: failed}
			s.left = append(s.left, j)
		default:
			s.fail(j, failed)
		}
	}
	return again
}

// inDoubt reports whether an error leaves open what was made.
func inDoubt(err error) bool { return IsAway(err) || errors.Is(err, context.Canceled) }

// settle looks up which of the edits were made. What is as it was stays left; what is neither was changed by another.
func (w *tableWriter) settle(ctx context.Context, s *tableSave) error {
	topics := map[string]bool{}
	for _, j := range s.left {
		topics[s.edits[j].Topic] = true
	}
	found, err := w.store.table.Read(ctx, w.group, slices.Sorted(maps.Keys(topics)))
	if err != nil {
		return err
	}
	cells := map[string]map[int32]Cell{}
	for _, t := range found.Topics {
		cells[t.Topic] = t.Cells
	}
	tried := s.left
	s.left = nil
	for _, j := range tried {
		e := &s.edits[j]
		now, there := cells[e.Topic][e.Partition]
		switch {
		case there == (e.New != nil) && (!there || now.Text == e.New.Text):
			if there {
				e.New = &now
			}
			s.made(j)
		case there == (e.Old != nil) && (!there || now.Text == e.Old.Text && now.Version == e.Old.Version):
			s.left = append(s.left, j)
		default: // in our place, or before us: nobody can tell
			s.fail(j, ErrChanged)
		}
	}
	return nil
}

func (s *tableSave) made(j int) {
	e := s.edits[j]
	s.changes[s.of[j]].Result = offsets.Written
	if e.New == nil {
		delete(s.cells[e.Topic], e.Partition)
	} else {
		s.cells[e.Topic][e.Partition] = Cell{Text: e.New.Text, Version: e.New.Version}
	}
}

func (s *tableSave) fail(j int, err error) {
	c := &s.changes[s.of[j]]
	c.Result, c.Error, c.Refused = offsets.Failed, fmt.Sprintf("save %s: %v", c.Topic, err), errors.Is(err, ErrChanged)
	if s.doubt { // an earlier try may have been made, whatever this one came to
		c.Result, c.Pending, c.Refused = offsets.Unverified, true, false
	}
}
