package offsets

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Topic is what the cluster has of one topic.
type Topic struct {
	ID         string
	Partitions int             // how many the topic has; 0 if not known
	Gone       bool            // there is no such topic
	Trouble    *Trouble        // it could not be read as a whole
	Ranges     map[int32]Range // one for each partition
}

// Range is what the cluster has of one partition of the topic.
func (t Topic) Range(partition int32) Range {
	none := Range{Stable: None, Leader: None, Epoch: None, TopicID: t.ID}
	switch r, ok := t.Ranges[partition]; {
	case ok:
		return r
	case t.Gone:
		none.State = TopicGone
	case t.Trouble != nil:
		none.Reason, none.Denied = t.Trouble.Reason, t.Trouble.Denied
	case t.Partitions > 0 && int(partition) >= t.Partitions:
		none.State, none.Reason = PartitionGone, fmt.Sprintf("not in the topic, which has %d partitions", t.Partitions)
	default:
		none.Reason = "the cluster did not name this partition"
	}
	return none
}

// Selection says which partitions of a topic are meant. No partitions means all.
type Selection struct {
	Topic      string
	Partitions []int32
}

// String is the selection as -t takes it: orders, or orders:0,1,4-7.
func (s Selection) String() string {
	var b strings.Builder
	b.WriteString(s.Topic)
	for i := 0; i < len(s.Partitions); i++ {
		first := s.Partitions[i]
		for i+1 < len(s.Partitions) && s.Partitions[i+1] == s.Partitions[i]+1 {
			i++
		}
		sep := ","
		if b.Len() == len(s.Topic) {
			sep = ":"
		}
		switch last := s.Partitions[i]; {
		case last == first:
			fmt.Fprintf(&b, "%s%d", sep, first)
		default:
			fmt.Fprintf(&b, "%s%d-%d", sep, first, last)
		}
	}
	return b.String()
}

// Holds reports whether the selections include the partition; no selection includes everything.
func Holds(selections []Selection, k Key) bool {
	if len(selections) == 0 {
		return true
	}
	return slices.ContainsFunc(selections, func(s Selection) bool {
		return s.Topic == k.Topic && (len(s.Partitions) == 0 || slices.Contains(s.Partitions, k.Partition))
	})
}

// Join puts what both sides and the cluster say into the group's rows: every partition of every topic that has a commit, an
// entry or an assignment, or that is selected by name, as far as the selections hold it.
func Join(g Group, commits, entries map[Key]Entry, topics map[string]Topic, selections []Selection) Group {
	keys := map[Key]bool{}
	add := func(k Key) {
		if Holds(selections, k) {
			keys[k] = true
		}
	}
	touched := map[string]bool{}
	for _, m := range []map[Key]Entry{commits, entries} {
		for k := range m {
			add(k)
			touched[k.Topic] = true
		}
	}
	owner := map[Key]string{}
	for _, m := range g.Members {
		for _, k := range m.Assigned {
			owner[k] = m.ID
			add(k)
			touched[k.Topic] = true
		}
	}
	if g.Store != nil {
		for _, t := range g.Store.Topics {
			if t.Presence != Absent {
				touched[t.Topic] = true
			}
		}
	}
	for _, s := range selections {
		touched[s.Topic] = true
		for _, p := range s.Partitions {
			add(Key{s.Topic, p})
		}
	}
	for name := range touched {
		t := topics[name]
		for p := range t.Partitions {
			add(Key{name, int32(p)})
		}
	}
	g.Rows = make([]Row, 0, len(keys))
	for k := range keys {
		g.Rows = append(g.Rows, Row{
			Key: k, Range: topics[k.Topic].Range(k.Partition),
			Committed: g.commit(commits, k), Stored: g.entry(entries, k), Owner: owner[k],
		})
	}
	slices.SortFunc(g.Rows, func(a, b Row) int { return a.Key.Compare(b.Key) })
	return g
}

// commit is the group's commit; while the group could not be read, none is known of any partition.
func (g Group) commit(commits map[Key]Entry, k Key) Entry {
	if e, ok := commits[k]; ok || g.Trouble == nil {
		return e
	}
	return g.Trouble.entry()
}

// entry is what the store says. A place that could not be read says nothing about any of its partitions.
func (g Group) entry(entries map[Key]Entry, k Key) Entry {
	if e, ok := entries[k]; ok || g.Store == nil {
		return e
	}
	if g.Store.Trouble != nil {
		return g.Store.Trouble.entry()
	}
	t, ok := g.Store.Topic(k.Topic)
	if !ok || t.Presence == Present {
		return Entry{}
	}
	return Entry{Presence: t.Presence, Reason: t.Reason}
}

func (t Trouble) entry() Entry {
	if t.Denied {
		return Entry{Presence: Denied, Reason: t.Reason}
	}
	return Entry{Presence: Unreadable, Reason: t.Reason}
}

// Topics lists, sorted, the topics of which a look at these groups needs the ranges.
func Topics(commits, entries map[Key]Entry, g Group, selections []Selection) []string {
	names := map[string]bool{}
	add := func(topic string) {
		if len(selections) == 0 || slices.ContainsFunc(selections, func(s Selection) bool { return s.Topic == topic }) {
			names[topic] = true
		}
	}
	for _, m := range []map[Key]Entry{commits, entries} {
		for k := range m {
			add(k.Topic)
		}
	}
	for _, m := range g.Members {
		for _, k := range m.Assigned {
			add(k.Topic)
		}
	}
	if g.Store != nil {
		for _, t := range g.Store.Topics {
			add(t.Topic)
		}
	}
	for _, s := range selections {
		add(s.Topic)
	}
	return slices.Sorted(maps.Keys(names))
}
