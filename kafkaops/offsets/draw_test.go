package offsets_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"gtoffset/kafkaops/offsets"
)

// bothSides are the two sides in the order in which a plan names them.
var bothSides = []offsets.Side{offsets.Stored, offsets.Committed}

// always is a scope that names every topic, never one that names none.
func always(string) bool { return true }
func never(string) bool  { return false }

// drawSnapshot draws groups of several topics as a look finds them: a commit has epoch and metadata, but no ids; an entry of a
// store has ids, and perhaps an epoch.
func drawSnapshot(t *rapid.T) offsets.Snapshot {
	s := offsets.Snapshot{Origin: offsets.Origin{Cluster: "c", Bootstrap: "b:9092", Store: "/s"}}
	for g := range rapid.IntRange(1, 3).Draw(t, "groups") {
		group := offsets.Group{
			ID: fmt.Sprint("g", g), Existence: offsets.Exists, Type: offsets.Consumer, State: "Empty", Store: &offsets.Store{Path: fmt.Sprint("/s/g", g)},
		}
		for _, topic := range []string{"a", "b"} {
			for p := range rapid.Int32Range(0, 3).Draw(t, "partitions") {
				r := offsets.Row{Key: offsets.Key{Topic: topic, Partition: p}, Range: anyRange(t), Stored: anyEntry(t, "stored"), Committed: anyEntry(t, "committed")}
				if r.Stored.Presence == offsets.Present {
					r.Stored.Epoch = rapid.Int32Range(-1, 3).Draw(t, "stored epoch")
				}
				if r.Committed.Presence == offsets.Present {
					r.Committed.TopicID, r.Committed.Cluster = "", ""
					r.Committed.Epoch = rapid.Int32Range(-1, 3).Draw(t, "epoch")
					r.Committed.Metadata = rapid.SampledFrom([]string{"", "m", "n"}).Draw(t, "metadata")
				}
				group.Rows = append(group.Rows, r)
			}
		}
		s.Groups = append(s.Groups, group)
	}
	s.From = map[offsets.Key]offsets.Entry{}
	for _, k := range s.Keys() {
		s.From[k] = anyEntry(t, "theirs")
	}
	return s
}

// place is one offset: what a change can change.
type place struct {
	group string
	offsets.Key
	side offsets.Side
}

// holds lists what every place of a snapshot holds.
func holds(s offsets.Snapshot) map[place]offsets.Entry {
	all := map[place]offsets.Entry{}
	for _, g := range s.Groups {
		for _, r := range g.Rows {
			for _, side := range bothSides {
				all[place{g.ID, r.Key, side}] = r.Entry(side)
			}
		}
	}
	return all
}

// put is the snapshot with one place holding something else.
func put(s offsets.Snapshot, at place, e offsets.Entry) offsets.Snapshot {
	s.Groups = slices.Clone(s.Groups)
	for i := range s.Groups {
		if s.Groups[i].ID != at.group {
			continue
		}
		s.Groups[i].Rows = slices.Clone(s.Groups[i].Rows)
		for j, r := range s.Groups[i].Rows {
			switch {
			case r.Key != at.Key:
			case at.side == offsets.Stored:
				s.Groups[i].Rows[j].Stored = e
			default:
				s.Groups[i].Rows[j].Committed = e
			}
		}
	}
	return s
}

// write does on values what the road does with a plan: each write that is still to be done and that only lets through.
func write(s offsets.Snapshot, p offsets.Plan, only func(offsets.GroupChange) bool) offsets.Snapshot {
	for _, c := range p.All() {
		if c.Verdict != offsets.Write || c.Result == offsets.Already || only != nil && !only(c) {
			continue
		}
		e := offsets.Entry{}
		if c.New.Offset != offsets.None {
			e = offsets.Entry{Presence: offsets.Present, Offset: c.New.Offset, Epoch: c.New.Epoch}
			switch {
			case c.Side == offsets.Committed:
				e.Metadata = c.New.Metadata
			case c.Target == offsets.Restored:
				e.TopicID, e.Cluster = c.New.TopicID, c.New.Cluster
			default: // a store records for which topic and cluster it was
				e.TopicID, e.Cluster = c.TopicID, s.Origin.Cluster
			}
		}
		s = put(s, place{c.Group, c.Key, c.Side}, e)
	}
	return s
}

// sound checks what holds for every plan, however it was made: a reason everywhere, old values as they are, what stays stays, and
// new values in range, unless something is brought back.
func sound(t *rapid.T, s offsets.Snapshot, p offsets.Plan) {
	t.Helper()
	seen := map[place]bool{}
	for _, c := range p.All() {
		at := place{c.Group, c.Key, c.Side}
		if seen[at] {
			t.Fatalf("two changes of %v", at)
		}
		seen[at] = true
		g, _ := s.Group(c.Group)
		row, found := g.Row(c.Key)
		switch {
		case c.Reason == "":
			t.Fatalf("no reason: %+v", c)
		case c.Old != offsets.ValueOf(row.Entry(c.Side)):
			t.Fatalf("old is %+v, the look says %+v", c.Old, row.Entry(c.Side))
		case c.Verdict == offsets.Keep && c.New != c.Old:
			t.Fatalf("stays, but the new value differs: %+v", c)
		case c.Skips < 0 || c.Repeats < 0 || row.Range.Known() && (c.Skips > row.Range.Readable() || c.Repeats > row.Range.Readable()):
			t.Fatalf("skips %d and repeats %d of %d", c.Skips, c.Repeats, row.Range.Readable())
		case c.Verdict != offsets.Write:
		case row.Entry(c.Side).Problem():
			t.Fatalf("writes over what could not be read: %+v", c)
		case c.New.Offset == offsets.None || c.Target == offsets.Restored:
		case !found || !row.Range.Known() || c.New.Offset < row.Range.Earliest || c.New.Offset > row.Range.End:
			t.Fatalf("writes %d into %+v", c.New.Offset, row.Range)
		}
	}
}

// onlyWrites checks that a run changes the places that its plan writes, and no other.
func onlyWrites(t *rapid.T, before, after offsets.Snapshot, p offsets.Plan) {
	t.Helper()
	may := map[place]bool{}
	for _, c := range p.All() {
		may[place{c.Group, c.Key, c.Side}] = c.Verdict == offsets.Write
	}
	now := holds(after)
	for at, e := range holds(before) {
		if !may[at] && now[at] != e {
			t.Fatalf("%v was not to be touched: %+v is %+v", at, e, now[at])
		}
	}
}

// backupOf is the backup of a plan, as it is saved before the write.
func backupOf(p offsets.Plan) offsets.Backup {
	b := offsets.Backup{Origin: p.Origin}
	for _, g := range p.Groups {
		bg := offsets.BackupGroup{Group: g.Group, Type: g.Type}
		for _, c := range g.Changes {
			if c.Verdict == offsets.Write && c.Result != offsets.Already {
				bg.Rows = append(bg.Rows, offsets.BackupRow{
					Key: c.Key, Side: c.Side, TopicID: c.TopicID, Old: c.Old, Written: offsets.Value{Offset: c.New.Offset, Epoch: offsets.None},
				})
			}
		}
		b.Groups = append(b.Groups, bg)
	}
	return b
}

// restores checks that the backup of a plan brings back what was there before its write, and does so once.
func restores(t *rapid.T, before, after offsets.Snapshot, p offsets.Plan) {
	t.Helper()
	undo := offsets.Restore(after, backupOf(p), offsets.RestorePolicy{})
	sound(t, after, undo)
	undo = offsets.Recheck(undo, after)
	for _, c := range undo.All() {
		if c.Verdict == offsets.Refuse {
			t.Fatalf("the undo is refused: %+v", c)
		}
	}
	back := holds(write(after, undo, nil))
	for at, e := range holds(before) {
		if offsets.ValueOf(back[at]) != offsets.ValueOf(e) {
			t.Fatalf("%v was %+v, became %+v, and is %+v again", at, e, holds(after)[at], back[at])
		}
	}
	if again := offsets.Restore(write(after, undo, nil), backupOf(p), offsets.RestorePolicy{}); again.ToDo() != 0 {
		t.Fatalf("undone twice: %+v", again.All())
	}
}
