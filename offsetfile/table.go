package offsetfile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"gtoffset/kafkaops/offsets"
)

// Table is a service that keeps one number for each group, topic and partition: a Redis hash, a ZooKeeper node, a row, a cell. It is
// what such a kind of store implements; [Over] makes a [Store] of it. A Table knows how its names are written and how its requests
// are made. It does not know what the numbers mean, and it tries nothing twice: an error for which [IsAway] holds is tried again by
// Over, as is one that it wraps in an *AwayError because the service says itself that it is not ready.
//
// Each call has a deadline, and ends when its context does, whatever the library below does.
//
// # Errors
//
// An error is of the place as a whole. What is wrong with one topic, cell or edit is said there, and hides no other. This is what to
// return when, and what the program makes of it (cmd/exit.go). The field Store stays empty: Over knows the name.
//
//	*NothingError      exit 1, with its Hint. What all entries are in is not there, or is something else: a table, a chroot, a column.
//	                   Looked names it. Never of a group or a topic without entries.
//	of the network     exit 5, when tries until --timeout were in vain. The connection broke, or no answer came; see IsAway.
//	*AwayError         exit 5, likewise. The service says itself that it is not ready. With Final, exit 5 at once: no other try is of
//	                   use, as when something else answers there.
//	*CredentialsError  exit 5, at once, with how a password is given. It refuses who we are, or all that we may ask.
//	*NameError         exit 2. A group or a topic has no place there.
//	*URLError          exit 2, with its Hint. The address is wrong: [Address.Errorf], by Open and before any connection.
//	ErrChanged         exit 4. Wrapped, in an Edit's Err: what was to be written over is no longer as it was seen.
//	any other          exit 1; 3 where other edits were made. Its text is all that is told: what, where and why.
//
// Without an error: a topic or a value that may not be read is offsets.Denied, with a Reason (exit 3). A store whose Can().Write is not
// set has no Write to call; its Can().Instead is the hint (exit 2).
type Table interface {
	// Can says what the service can do.
	Can() Abilities

	// Groups lists the groups that have a value, in any order, and notes what was ignored.
	Groups(ctx context.Context) (groups, notes []string, err error)

	// Read reads the values of a group: of the given topics, or of all that are there (nil). One that cannot be read says so and
	// hides no other. A root that is not there is a *NothingError, or, with Options.Create, a group without entries: reading makes
	// nothing.
	Read(ctx context.Context, group string, topics []string) (Found, error)

	// Write makes the edits of one group, in as few round trips as the service allows, and together as far as Can().Atomic says.
	// Where it can compare, an edit whose Old no longer stands is not made, and its Err wraps ErrChanged. It sets the Err of each
	// edit that was not made, and the Version of its New where that is known and is not the text. The error is one that holds for
	// all edits; after one for which IsAway holds, Over looks up what was made. A root that is not there is made if Options.Create is
	// set, and else a *NothingError.
	Write(ctx context.Context, group string, edits []Edit) error

	// Close gives the connection back.
	Close() error
}

// Found is what a Table has of a group.
type Found struct {
	Path    string // the place looked at, for people: "key offset:*:billing"
	Topics  []FoundTopic
	Notes   []string         // what was ignored on the way
	Users   []string         // who works with the group's values just now, where the service itself knows
	Trouble *offsets.Trouble // the group's topics cannot be listed, as a right is missing; nil if they were
}

// FoundTopic is what a Table has of one topic. Each topic that was asked for has one, if only to say where it was looked for.
type FoundTopic struct {
	Topic    string
	Path     string           // the place, for people: "key offset:orders:billing"
	Presence offsets.Presence // of the place: Absent, Present with cells, or why it could not be read
	Reason   string           // why, when neither Present nor Absent
	Cells    map[int32]Cell   // by partition
}

// Cell is one value. Over finds out whether its text is a number. What a Table itself has to say against it, because a partition has two
// rows or a value may not be read, is its Presence and Reason; Text and Version stand for what is there all the same, so that
// --salvage can write over what is Damaged or Empty, if it still is as it was seen.
type Cell struct {
	Text     string           // the number as it is held, in decimal; of what is none, its bytes
	Version  string           // what a compare-and-set compares, beside the text; "" if that is all
	Saved    time.Time        // zero if not known
	Presence offsets.Presence // zero for a value that was read, whatever it says; else what speaks against it
	Reason   string           // why, when Presence is set
}

// Edit is one value to be written.
type Edit struct {
	Topic     string
	Partition int32
	Old       *Cell // as it was seen: Text and Version are set; nil: there was none
	New       *Cell // Text is set; nil: the value is removed
	Err       error // set by Write: why it was not made
}

// Over makes a Store of a Table. a is its address, of which the parameter counts is taken.
func Over(a *Address, t Table, o Options) (Store, error) {
	counts, err := a.Counts()
	if err != nil {
		return nil, err
	}
	o.Counts = counts
	return &tableStore{name: a.String(), table: t, o: o}, nil
}

type tableStore struct {
	name  string
	table Table
	o     Options
}

func (s *tableStore) Name() string   { return s.name }
func (s *tableStore) Can() Abilities { return s.table.Can() }
func (s *tableStore) Close() error   { return s.table.Close() }

func (s *tableStore) Groups(ctx context.Context) (groups, notes []string, err error) {
	err = Retry(ctx, s.name, s.o, "list groups", func(ctx context.Context) error {
		groups, notes, err = s.table.Groups(ctx)
		return err
	})
	slices.Sort(groups)
	return slices.Compact(groups), notes, err
}

func (s *tableStore) read(ctx context.Context, group string, topics []string) (found Found, err error) {
	err = Retry(ctx, s.name, s.o, "read", func(ctx context.Context) error {
		found, err = s.table.Read(ctx, group, topics)
		return err
	})
	return found, err
}

func (s *tableStore) Load(ctx context.Context, group string, topics []string, salvage bool) (Holding, error) {
	h := Holding{Entries: map[offsets.Key]offsets.Entry{}}
	if topics != nil {
		topics = slices.Compact(slices.Sorted(slices.Values(topics)))
	}
	found, err := s.read(ctx, group, topics)
	if err != nil {
		return h, err
	}
	h.Store.Path, h.Store.Notes, h.Store.Users, h.Store.Trouble = found.Path, found.Notes, found.Users, found.Trouble
	for _, name := range topics {
		if !slices.ContainsFunc(found.Topics, func(t FoundTopic) bool { return t.Topic == name }) {
			found.Topics = append(found.Topics, FoundTopic{Topic: name, Path: found.Path})
		}
	}
	sort.Slice(found.Topics, func(i, j int) bool { return found.Topics[i].Topic < found.Topics[j].Topic })
	for _, t := range found.Topics {
		s.loadTopic(&h, t, salvage)
	}
	return h, nil
}

// loadTopic makes entries of cells. A cell that cannot be read is an entry that says so. With salvage, one that is damaged is none, and
// may be written over.
func (s *tableStore) loadTopic(h *Holding, t FoundTopic, salvage bool) {
	topic := offsets.StoredTopic{Topic: t.Topic, Path: t.Path, Presence: t.Presence, Reason: t.Reason, Highest: offsets.None}
	seen := make(map[int32]Cell, len(t.Cells))
	for _, p := range slices.Sorted(maps.Keys(t.Cells)) {
		c := t.Cells[p]
		topic.Highest = p
		if c.Saved.After(h.Store.Saved) {
			h.Store.Saved = c.Saved
		}
		e := s.entry(t, p, c)
		c.Reason = ""
		if e.Problem() {
			c.Reason = or(e.Reason, e.Presence.String())
		}
		if salvage && (e.Presence == offsets.Damaged || e.Presence == offsets.Empty) {
			h.Store.Notes = append(h.Store.Notes, "lost, and counted as no entry: "+c.Reason)
			c.Reason = ""
		} else {
			h.Entries[offsets.Key{Topic: t.Topic, Partition: p}] = e
		}
		seen[p] = c
	}
	topic.Token = token(seen)
	h.Store.Topics = append(h.Store.Topics, topic)
}

func (s *tableStore) entry(t FoundTopic, partition int32, c Cell) offsets.Entry {
	e := offsets.Entry{Presence: c.Presence, Reason: c.Reason, Offset: offsets.None, Epoch: offsets.None, Saved: c.Saved}
	if e.Presence != offsets.Absent {
		return e
	}
	next, err := s.o.Counts.Read(c.Text)
	switch {
	case errors.Is(err, ErrEmptyValue):
		e.Presence = offsets.Empty
	case err != nil:
		e.Presence = offsets.Damaged
	default:
		e.Presence, e.Offset = offsets.Present, next
		return e
	}
	e.Reason = fmt.Sprintf("%s, partition %d: %v", t.Path, partition, err)
	return e
}

// seenCell is a cell in a token. It has bytes, as what is damaged may be no UTF-8, which JSON would change.
type seenCell struct {
	Text    []byte `json:"text,omitempty"`
	Version []byte `json:"version,omitempty"`
	Against string `json:"against,omitempty"` // why it is not to be written over
}

// token holds all that a compare-and-set needs of a topic: by partition, text and version.
func token(cells map[int32]Cell) string {
	seen := make(map[int32]seenCell, len(cells))
	for p, c := range cells {
		seen[p] = seenCell{[]byte(c.Text), []byte(c.Version), c.Reason}
	}
	b, err := json.Marshal(seen)
	if err != nil {
		panic(err) // a map of strings and bytes is always JSON
	}
	return string(b)
}

// cellsOf is the inverse of token.
func cellsOf(t string) (map[int32]Cell, error) {
	if t == "" {
		return map[int32]Cell{}, nil
	}
	var seen map[int32]seenCell
	if err := json.Unmarshal([]byte(t), &seen); err != nil {
		return nil, fmt.Errorf("the look is of another kind of store: %w", err)
	}
	cells := make(map[int32]Cell, len(seen))
	for p, c := range seen {
		cells[p] = Cell{Text: string(c.Text), Version: string(c.Version), Reason: c.Against}
	}
	return cells, nil
}

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
}

func (w *tableWriter) Save(ctx context.Context, seen offsets.Store, changes []offsets.Change, facts Facts) ([]offsets.Change, offsets.Store) {
	s := &tableSave{changes: slices.Clone(changes), cells: map[string]map[int32]Cell{}}
	now := renewed(seen)
	if !w.plan(s, seen) {
		for i := range s.changes {
			if c := &s.changes[i]; isToWrite(*c) || c.Result == pending {
				c.Result, c.Error = offsets.NotTried, "not tried: another change of this save was refused"
			}
		}
		return s.changes, now.Store
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
		t.Topic, t.Path, t.Token, t.Highest = topic, or(t.Path, seen.Path), token(cells), offsets.None
		t.Presence = offsets.Absent
		for p := range cells {
			t.Presence, t.Highest = offsets.Present, max(t.Highest, p)
		}
		now.put(t)
	}
	now.Saved = facts.Now
	return s.changes, now.Store
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
		return errors.New(or(t.Reason, "it could not be read"))
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

// write makes the edits, again and again while the store is away, and looks up what was made when an answer did not come.
func (w *tableWriter) write(ctx context.Context, s *tableSave) {
	store := w.store
	left := make([]int, len(s.edits)) // edits that are neither made nor given up
	for i := range left {
		left[i] = i
	}
	doubt := false // an earlier try may have been made
	err := store.o.step(StepWrite)
	if err == nil {
		err = Retry(ctx, store.name, store.o, "write", func(ctx context.Context) error {
			if doubt {
				if err := w.settle(ctx, s, &left); err != nil || len(left) == 0 {
					return err
				}
			}
			some := make([]Edit, len(left))
			for i, j := range left {
				some[i] = s.edits[j]
			}
			err := store.table.Write(ctx, w.group, some)
			if unanswered := IsAway(err) || errors.Is(err, context.Canceled); unanswered {
				doubt = doubt || !neverSent(err)
				return err
			}
			before := left
			left = nil
			var again error
			for i, j := range before {
				failed := named(store.name, cmp.Or(some[i].Err, err))
				switch {
				case IsAway(failed), errors.Is(failed, context.Canceled): // this edit alone, where each is a request
					doubt, again = true, failed
					left = append(left, j)
				case doubt && errors.Is(failed, ErrChanged): // by us, perhaps: it is looked up
					again = &AwayError{Err: failed}
					left = append(left, j)
				case failed != nil:
					s.fail(j, failed)
				default:
					s.made(j)
				}
			}
			return again
		})
	}
	for _, j := range left { // given up
		c := &s.changes[s.of[j]]
		c.Result, c.Error = offsets.Failed, fmt.Sprintf("save %s: %v", c.Topic, err)
		if doubt {
			c.Result, c.Pending = offsets.Unverified, true
		}
	}
	_ = store.o.step(StepDone) // nothing is left that could fail
}

// settle looks up which of the edits were made. What is as it was stays left; what is neither was changed by another.
func (w *tableWriter) settle(ctx context.Context, s *tableSave, left *[]int) error {
	topics := map[string]bool{}
	for _, j := range *left {
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
	before := *left
	*left = nil
	for _, j := range before {
		e := &s.edits[j]
		now, there := cells[e.Topic][e.Partition]
		switch {
		case there == (e.New != nil) && (!there || now.Text == e.New.Text):
			if there {
				e.New = &now
			}
			s.made(j)
		case there == (e.Old != nil) && (!there || now.Text == e.Old.Text && now.Version == e.Old.Version):
			*left = append(*left, j)
		default:
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
}
