package offsetfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
)

// Facts is what a save records beside the offsets.
type Facts struct {
	Cluster  string            // cluster id; "" if not known
	TopicIDs map[string]string // by topic; "" or missing if not known
	Now      time.Time
}

// Save writes the changes to be written (offsets.Write, without a result) of the stored side, and returns all changes with
// Result and Error filled in. A new offset of None removes the entry. seen is the look on which the changes rest: a topic whose
// file has changed since, or was not readable then, is refused, and then nothing at all is written. The files are replaced one
// by one; after one that fails, no other is tried. Written with an Error is a file that is in place, but whose folder could not
// be synced: a power cut may take it back. The look that comes back is seen with the tokens of what the files hold now.
func (l *Locked) Save(ctx context.Context, seen offsets.Store, changes []offsets.Change, facts Facts) ([]offsets.Change, offsets.Store) {
	changes, now := slices.Clone(changes), renewed(seen)
	byTopic := map[string][]int{} // what is to be written
	keeps := map[string][]int{}   // what stays, in files that are made whole again
	for i, c := range changes {
		if c.Side != offsets.Stored || c.Result != "" {
			continue
		}
		t, _ := seen.Topic(c.Topic)
		switch {
		case c.Verdict == offsets.Write:
			byTopic[c.Topic] = append(byTopic[c.Topic], i)
		case c.Verdict == offsets.Keep && strings.HasPrefix(t.Token, tokenSalvaged):
			keeps[c.Topic] = append(keeps[c.Topic], i)
		}
	}
	for topic := range keeps {
		if _, ok := byTopic[topic]; !ok {
			byTopic[topic] = nil
		}
	}
	set := func(topic string, result offsets.Result, reason string) {
		if result != offsets.Written {
			for _, i := range keeps[topic] {
				changes[i].Result, changes[i].Error = result, reason
			}
		}
		for _, i := range byTopic[topic] {
			if changes[i].Result == "" {
				changes[i].Result, changes[i].Error = result, reason
			}
		}
	}
	topics := slices.Sorted(maps.Keys(byTopic))

	stopped := "" // why nothing more is written
	edits := map[string]*edit{}
	for _, topic := range topics {
		e, err := l.prepare(topic, &seen)
		if err == nil {
			err = e.apply(changes, byTopic[topic], facts)
		}
		if err == nil {
			edits[topic] = e
			continue
		}
		stopped = err.Error()
		for _, i := range byTopic[topic] {
			changes[i].Verdict, changes[i].Reason = offsets.Refuse, stopped
		}
		set(topic, offsets.NotTried, stopped)
	}
	for _, topic := range topics {
		if stopped == "" && ctx.Err() != nil {
			stopped = ctx.Err().Error()
		}
		if stopped != "" {
			set(topic, offsets.NotTried, "not tried, after: "+stopped)
			continue
		}
		err := l.write(edits[topic], facts)
		var late *notDurable
		switch {
		case errors.As(err, &late):
			set(topic, offsets.Written, late.Error())
		case err != nil:
			stopped = err.Error()
			set(topic, offsets.Failed, stopped)
			for _, i := range byTopic[topic] {
				changes[i].Refused = errors.Is(err, ErrChanged)
			}
		default:
			set(topic, offsets.Written, "")
		}
		if err == nil || late != nil {
			now.put(edits[topic].state())
		}
	}
	for i := range changes { // told only now: nothing is "already there" in a run that was refused
		if changes[i].Result == pending {
			changes[i].Result = offsets.Already
		}
	}
	now.Saved = facts.Now
	return changes, now.Store
}

// seenStore is a look that a save brings up to date.
type seenStore struct{ offsets.Store }

// renewed copies a look, so that the caller's stays as it was.
func renewed(seen offsets.Store) seenStore {
	seen.Topics = slices.Clone(seen.Topics)
	return seenStore{seen}
}

// put replaces what was seen of one topic.
func (s *seenStore) put(t offsets.StoredTopic) {
	i := slices.IndexFunc(s.Topics, func(o offsets.StoredTopic) bool { return o.Topic == t.Topic })
	if i < 0 {
		s.Topics = append(s.Topics, t)
		return
	}
	s.Topics[i] = t
}

// Put records the next offsets of some partitions after they were processed: the one call of a job that holds the lock. Value
// None removes an entry. Other entries stay. It writes even over what another has written meanwhile, so it is not for repairs.
func (l *Locked) Put(ctx context.Context, topic string, next map[int32]offsets.Value, facts Facts) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e, err := l.prepare(topic, nil)
	if err != nil {
		return err
	}
	changed := make(map[int32]bool, len(next))
	for partition, v := range next {
		if err := e.set(partition, v); err != nil {
			return err
		}
		changed[partition] = true
	}
	if err := e.check(); err != nil {
		return err
	}
	e.doc.stamp(facts.TopicIDs[topic], facts.Cluster, changed)
	return l.write(e, facts)
}

// pending marks, inside Save only, a change that needs no write.
const pending offsets.Result = "pending"

// edit is one file that is about to be written.
type edit struct {
	place   place
	doc     *Document
	token   string // of the content that it rests on, and of the new one once it is written
	salvage bool
	changed bool
	counts  Counts
}

// state is what a look finds now.
func (e *edit) state() offsets.StoredTopic {
	t := offsets.StoredTopic{Topic: e.place.topic, Path: e.place.file(), Token: e.token, Highest: offsets.None}
	if e.token != tokenAbsent {
		t.Presence, t.Whole, t.Highest = offsets.Present, e.doc.Headered(), e.doc.Highest()
	}
	return t
}

// prepare reads a file and compares it with what was seen (nil: anything that is whole).
func (l *Locked) prepare(topic string, seen *offsets.Store) (*edit, error) {
	p, ok := l.places[topic]
	if !ok {
		return nil, fmt.Errorf("save topic %q of group %q: its lock is not held", topic, l.group)
	}
	e := &edit{place: p, counts: l.files.o.Counts}
	if seen != nil {
		t, ok := seen.Topic(topic)
		if !ok { // a look at all that there is does not name what there is not
			t.Token = tokenAbsent
		}
		switch {
		case t.Presence != offsets.Present && t.Presence != offsets.Absent:
			return nil, fmt.Errorf("save %s: %s", p.file(), or(t.Reason, "it could not be read"))
		}
		e.token = t.Token
		e.salvage = strings.HasPrefix(t.Token, tokenSalvaged)
	}
	r := l.files.read(p, e.salvage)
	switch {
	case seen != nil && r.token != e.token:
		return nil, fmt.Errorf("save %s: %w", p.file(), ErrChanged)
	case r.presence == offsets.Absent:
		e.doc = New(p.group, p.topic)
		if e.counts == CountsLast {
			e.doc = newBare() // in a file with headers every offset is the next to read
		}
	case r.presence != offsets.Present:
		return nil, fmt.Errorf("save %s: %s", p.file(), r.reason)
	default:
		e.doc = r.doc
	}
	e.token = r.token
	return e, nil
}

// set changes one entry, and reports by e.changed whether the file has to be written.
func (e *edit) set(partition int32, v offsets.Value) error {
	if v.Offset == offsets.None {
		e.changed = e.doc.Remove(partition) || e.changed
		return nil
	}
	held := e.counts.held(v.Offset)
	if held < 0 && v.Offset >= 0 {
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
			return fmt.Errorf("save %s: two changes of partition %d", e.place.file(), c.Partition)
		}
		partitions[c.Partition] = true
		if c.Target == offsets.Restored {
			restored[c.Partition] = c.New
		}
		before[c.Partition] = e.recorded(c.Partition)
		if err := e.set(c.Partition, c.New); err != nil {
			return fmt.Errorf("save %s: %w", e.place.file(), err)
		}
	}
	if err := e.check(); err != nil {
		return err
	}
	e.doc.stamp(facts.TopicIDs[e.place.topic], facts.Cluster, partitions)
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
		return fmt.Errorf("save %s: without any entry it would be empty, which means damaged: a file without headers cannot hold nothing", e.place.file())
	}
	return nil
}

// recorded is an entry with all that the file says of it.
func (e *edit) recorded(partition int32) Entry {
	entry, found := e.doc.Entry(partition)
	if found {
		entry.TopicID, entry.Cluster = or(entry.TopicID, e.doc.TopicID()), or(entry.Cluster, e.doc.Cluster())
	} else {
		entry.Offset = offsets.None
	}
	return entry
}

// write replaces the file, if anything in it changes.
func (l *Locked) write(e *edit, facts Facts) error {
	if !e.changed && !e.salvage {
		return nil
	}
	e.doc.SetSaved(facts.Now)
	if l.real {
		removeTemps(e.place.topicFolder)
	}
	data := e.doc.Bytes()
	err := l.files.replace(e.place.file(), data, func() error {
		if l.files.read(e.place, e.salvage).token != e.token {
			return fmt.Errorf("save %s: %w", e.place.file(), ErrChanged)
		}
		return nil
	})
	if late := new(notDurable); err == nil || errors.As(err, &late) {
		e.token = tokenOf(data)
	}
	return err
}

// removeTemps takes away what a save left that was killed. Under the lock nobody else has temporary files of ours.
func removeTemps(folder string) {
	all, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range all {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			_ = os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}

// Create makes the file of a topic that has none yet; with no offsets it is a valid file of none. The error wraps fs.ErrExist where
// there is one.
func (l *Locked) Create(ctx context.Context, topic string, next map[int32]offsets.Value, facts Facts) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e, err := l.prepare(topic, nil)
	switch {
	case err != nil:
		return err
	case e.token != tokenAbsent:
		return fmt.Errorf("%s: %w", e.place.file(), fs.ErrExist)
	}
	changed := make(map[int32]bool, len(next))
	for partition, v := range next {
		if err := e.set(partition, v); err != nil {
			return err
		}
		changed[partition] = true
	}
	e.changed = true
	e.doc.stamp(facts.TopicIDs[topic], facts.Cluster, changed)
	return l.write(e, facts)
}
