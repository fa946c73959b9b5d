package offsetfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"gtoffset/kafkaops/offsets"
)

// topicWriter replaces the gtoffset files of a group, wherever they are.
type topicWriter interface {
	// prepare reads a topic's file and compares it with what was seen.
	prepare(ctx context.Context, topic string, seen *offsets.Store) (*edit, error)

	// write replaces the file, if anything in it changes. The error may be a *notDurable or an *unanswered.
	write(ctx context.Context, e *edit, facts Facts) error
}

// unanswered is a write of which nobody knows whether it was made.
type unanswered struct{ err error }

func (e *unanswered) Error() string { return e.err.Error() }
func (e *unanswered) Unwrap() error { return e.err }

// saveTopics is [Writer.Save] of a store that keeps one file a topic: all are prepared before the first is written.
func saveTopics(ctx context.Context, w topicWriter, seen offsets.Store, changes []offsets.Change, facts Facts) ([]offsets.Change, offsets.Store) {
	s, now := newTopicSave(seen, changes), renewed(seen)
	edits := s.prepare(ctx, w, &seen, facts)
	for _, topic := range s.topics {
		if s.stopped == "" && ctx.Err() != nil {
			s.stopped = ctx.Err().Error()
		}
		if s.stopped != "" {
			s.set(topic, offsets.NotTried, "an earlier write failed: "+s.stopped)
			continue
		}
		if s.told(topic, w.write(ctx, edits[topic], facts)) {
			now.Put(edits[topic].state())
		}
	}
	for i := range s.changes { // told only now: nothing is "already there" in a run that was refused
		if s.changes[i].Result == pending {
			s.changes[i].Result = offsets.Already
		}
	}
	now.Saved = facts.Now
	return s.changes, now
}

// topicSave is one save of files under way.
type topicSave struct {
	changes []offsets.Change
	topics  []string         // whose files are written, sorted
	write   map[string][]int // by topic: the changes that are written
	keep    map[string][]int // and those that stay, in a file that is made whole again
	stopped string           // why nothing more is written
}

func newTopicSave(seen offsets.Store, changes []offsets.Change) *topicSave {
	s := &topicSave{changes: slices.Clone(changes), write: map[string][]int{}, keep: map[string][]int{}}
	for i, c := range changes {
		if c.Side != offsets.Stored || c.Result != "" {
			continue
		}
		t, _ := seen.Topic(c.Topic)
		switch {
		case c.Verdict == offsets.Write:
			s.write[c.Topic] = append(s.write[c.Topic], i)
		case c.Verdict == offsets.Keep && strings.HasPrefix(t.Token, tokenSalvaged):
			s.keep[c.Topic] = append(s.keep[c.Topic], i)
		}
	}
	s.topics = slices.Collect(maps.Keys(s.write))
	for topic := range s.keep {
		if _, written := s.write[topic]; !written {
			s.topics = append(s.topics, topic)
		}
	}
	slices.Sort(s.topics)
	return s
}

// set gives the changes of a topic a result, where they have none yet. What stays is only told of where its file was not written.
func (s *topicSave) set(topic string, result offsets.Result, reason string) {
	if result != offsets.Written {
		for _, i := range s.keep[topic] {
			s.changes[i].Result, s.changes[i].Error = result, reason
		}
	}
	for _, i := range s.write[topic] {
		if s.changes[i].Result == "" {
			s.changes[i].Result, s.changes[i].Error = result, reason
		}
	}
}

// prepare makes the edits of all topics. After one that is refused nothing is written.
func (s *topicSave) prepare(ctx context.Context, w topicWriter, seen *offsets.Store, facts Facts) map[string]*edit {
	edits := map[string]*edit{}
	for _, topic := range s.topics {
		e, err := w.prepare(ctx, topic, seen)
		if err == nil {
			err = e.apply(s.changes, s.write[topic], facts)
		}
		if err == nil {
			edits[topic] = e
			continue
		}
		s.stopped = err.Error()
		for _, i := range s.write[topic] {
			s.changes[i].Verdict, s.changes[i].Reason = offsets.Refuse, s.stopped
		}
		s.set(topic, offsets.NotTried, s.stopped)
	}
	return edits
}

// told gives the changes of a topic the result of its write, and reports whether its file is in place.
func (s *topicSave) told(topic string, err error) bool {
	var late *notDurable
	var doubt *unanswered
	switch {
	case err == nil:
		s.set(topic, offsets.Written, "")
		return true
	case errors.As(err, &late):
		s.set(topic, offsets.Written, late.Error())
		return true
	case errors.As(err, &doubt):
		s.stopped = err.Error()
		s.set(topic, offsets.Unverified, s.stopped)
		for _, i := range s.write[topic] {
			s.changes[i].Pending = s.changes[i].Result == offsets.Unverified
		}
	default:
		s.stopped = err.Error()
		s.set(topic, offsets.Failed, s.stopped)
		for _, i := range s.write[topic] {
			s.changes[i].Refused, s.changes[i].Denied = errors.Is(err, ErrChanged), errors.Is(err, fs.ErrPermission)
		}
	}
	return false
}

// renewed copies a look that a save brings up to date, so that the caller's stays as it was.
func renewed(seen offsets.Store) offsets.Store {
	seen.Topics = slices.Clone(seen.Topics)
	return seen
}

// pending marks, inside Save only, a change that needs no write.
const pending offsets.Result = "pending"

// edit is one file that is about to be written.
type edit struct {
	group, topic string
	path         string
	doc          *Document
	token        string // of the content that it rests on, and of the new one once it is written
	salvage      bool
	changed      bool
	counts       Counts
}

// state is what a look finds now.
func (e *edit) state() offsets.StoredTopic {
	t := offsets.StoredTopic{Topic: e.topic, Path: e.path, Token: e.token, Highest: offsets.None}
	if e.token != tokenAbsent {
		t.Presence, t.Whole, t.Highest = offsets.Present, e.doc.Headered(), e.doc.Highest()
		t.Bare, t.Entries = !e.doc.Headered(), e.doc.Len()
	}
	return t
}

// expect takes over what was seen of the topic. A place that could not be read is not written.
func (e *edit) expect(seen *offsets.Store) error {
	if seen == nil {
		return nil
	}
	t, ok := seen.Topic(e.topic)
	if !ok { // a look at all that there is does not name what there is not
		t.Token = tokenAbsent
	}
	if t.Presence != offsets.Present && t.Presence != offsets.Absent {
		return fmt.Errorf("save %s: %s", e.path, cmp.Or(t.Reason, "it could not be read"))
	}
	e.token, e.salvage = t.Token, strings.HasPrefix(t.Token, tokenSalvaged)
	return nil
}

// start takes over what is there now, if it is what was expected.
func (e *edit) start(r reading, compare bool) error {
	switch {
	case compare && r.token != e.token:
		return fmt.Errorf("save %s: %w", e.path, ErrChanged)
	case r.presence == offsets.Absent:
		e.doc = e.counts.document(e.group, e.topic)
	case r.presence != offsets.Present:
		return fmt.Errorf("save %s: %s", e.path, r.reason)
	default:
		e.doc = r.doc
	}
	e.token = r.token
	return nil
}

// set changes one entry, and reports by e.changed whether the file has to be written.
func (e *edit) set(partition int32, v offsets.Value) error {
	if v.Offset == offsets.None {
		e.changed = e.doc.Remove(partition) || e.changed
		return nil
	}
	held := e.counts.held(v.Offset)
	if v.Offset >= 0 && v.Offset < e.counts.leastInFile() {
		return fmt.Errorf("set partition %d to %d: there is no record before it, and the file counts the last one that was processed", partition, v.Offset)
	}
	old, found := e.doc.Entry(partition)
	if found && old.Offset == held && old.Epoch == v.Epoch {
		return nil
	}
	e.changed = true
	return e.doc.Set(Entry{Partition: partition, Offset: held, Epoch: v.Epoch, TopicID: old.TopicID, Cluster: old.Cluster})
}

// apply makes the changes with the given indexes, and marks those that change nothing.
func (e *edit) apply(changes []offsets.Change, which []int, facts Facts) error {
	partitions := map[int32]bool{}
	before := map[int32]Entry{}
	restored := map[int32]offsets.Value{} // these carry what was recorded with them
	for _, i := range which {
		c := &changes[i]
		if partitions[c.Partition] {
			return fmt.Errorf("save %s: two changes of partition %d", e.path, c.Partition)
		}
		partitions[c.Partition] = true
		if c.Target == offsets.Restored {
			restored[c.Partition] = c.New
		}
		before[c.Partition] = e.recorded(c.Partition)
		if err := e.set(c.Partition, c.New); err != nil {
			return fmt.Errorf("save %s: %w", e.path, err)
		}
	}
	if err := e.check(); err != nil {
		return err
	}
	e.doc.stamp(facts.TopicIDs[e.topic], facts.Cluster, partitions)
	e.doc.record(func(entry Entry) (string, string) {
		if v, ok := restored[entry.Partition]; ok {
			return v.TopicID, v.Cluster
		}
		return entry.TopicID, entry.Cluster
	})
	for _, i := range which {
		if e.recorded(changes[i].Partition) == before[changes[i].Partition] {
			changes[i].Result = pending
		} else {
			e.changed = true
		}
	}
	return nil
}

// check refuses what would not be whole when read back.
func (e *edit) check() error {
	if !e.doc.Headered() && e.doc.Len() == 0 {
		return fmt.Errorf("save %s: without any entry it would be empty, which means damaged: a file without headers cannot hold nothing", e.path)
	}
	return nil
}

// recorded is an entry with all that the file says of it.
func (e *edit) recorded(partition int32) Entry {
	entry, found := e.doc.Entry(partition)
	if found {
		entry.TopicID, entry.Cluster = cmp.Or(entry.TopicID, e.doc.TopicID()), cmp.Or(entry.Cluster, e.doc.Cluster())
	} else {
		entry.Offset = offsets.None
	}
	return entry
}
