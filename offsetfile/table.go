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

// FoundTopic is what a Table has of one topic. One that was asked for and has none is Absent, at the
// place of the group; only a topic with a place of its own needs one to say where it was looked for.
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
	has := make(map[string]bool, len(found.Topics))
	for _, t := range found.Topics {
		has[t.Topic] = true
	}
	for _, name := range topics {
		if !has[name] {
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
	topic := offsets.StoredTopic{Topic: t.Topic, Path: t.Path, Presence: t.Presence, Reason: t.Reason, Highest: offsets.None, Entries: len(t.Cells)}
	seen := make(map[int32]Cell, len(t.Cells))
	odd := false // one time of saving is no time, and was told of
	for _, p := range slices.Sorted(maps.Keys(t.Cells)) {
		c := t.Cells[p]
		topic.Highest = p
		if !offsets.Plain(c.Saved) {
			if !odd {
				h.Store.Notes = append(h.Store.Notes, fmt.Sprintf("%s, partition %d: the time of saving, %d, is none in milliseconds", t.Path, p, c.Saved.UnixMilli()))
			}
			odd, c.Saved = true, time.Time{}
		}
		if c.Saved.After(h.Store.Saved) {
			h.Store.Saved = c.Saved
		}
		e := s.entry(t, p, c)
		c.Reason = ""
		if e.Problem() {
			c.Reason = cmp.Or(e.Reason, e.Presence.String())
		}
		if salvage && (e.Presence == offsets.Damaged || e.Presence == offsets.Empty) {
			h.Store.Notes = append(h.Store.Notes, "lost, and counted as no entry: "+c.Reason)
			h.Store.Damaged = append(h.Store.Damaged, offsets.Remains{Path: fmt.Sprintf("%s, partition %d", t.Path, p), Content: []byte(c.Text)})
			c.Reason = ""
			h.Entries[offsets.Key{Topic: t.Topic, Partition: p}] = offsets.Entry{Offset: offsets.None, Epoch: offsets.None, Lost: true}
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
