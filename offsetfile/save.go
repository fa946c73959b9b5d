package offsetfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	return saveTopics(ctx, l, seen, changes, facts)
}

// Put records the next offsets of some partitions after they were processed: the one call of a job that holds the lock. Value
// None removes an entry. Other entries stay. It writes even over what another has written meanwhile, so it is not for repairs.
func (l *Locked) Put(ctx context.Context, topic string, next map[int32]offsets.Value, facts Facts) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e, err := l.prepare(ctx, topic, nil)
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
	return l.write(ctx, e, facts)
}

// prepare reads a file and compares it with what was seen (nil: anything that is whole).
func (l *Locked) prepare(_ context.Context, topic string, seen *offsets.Store) (*edit, error) {
	p, ok := l.places[topic]
	if !ok {
		return nil, fmt.Errorf("save topic %q of group %q: its lock is not held", topic, l.group)
	}
	e := &edit{group: p.group, topic: p.topic, path: p.file(), counts: l.files.o.Counts}
	if err := e.expect(seen); err != nil {
		return nil, err
	}
	return e, e.start(l.files.read(p, e.salvage), seen != nil)
}

// write replaces the file, if anything in it changes.
func (l *Locked) write(_ context.Context, e *edit, facts Facts) error {
	if !e.changed && !e.salvage {
		return nil
	}
	e.doc.SetSaved(facts.Now)
	p := l.places[e.topic]
	if l.real {
		removeTemps(p.topicFolder)
	}
	data := e.doc.Bytes()
	err := l.files.replace(e.path, data, func() error {
		if l.files.read(p, e.salvage).token != e.token {
			return fmt.Errorf("save %s: %w", e.path, ErrChanged)
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

// Create makes the file of a topic that has none yet; with no offsets it is a valid file of none. Each offset is recorded for the topic id
// and the cluster that its Value names, else for those of facts. The error wraps fs.ErrExist where there is one.
func (l *Locked) Create(ctx context.Context, topic string, next map[int32]offsets.Value, facts Facts) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e, err := l.prepare(ctx, topic, nil)
	switch {
	case err != nil:
		return err
	case e.token != tokenAbsent:
		return fmt.Errorf("%s: %w", e.path, fs.ErrExist)
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
	e.doc.record(func(entry Entry) (string, string) {
		v := next[entry.Partition]
		return cmp.Or(v.TopicID, entry.TopicID), cmp.Or(v.Cluster, entry.Cluster)
	})
	return l.write(ctx, e, facts)
}
