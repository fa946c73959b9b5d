package offsets

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Topic is what the cluster has of one topic.
type Topic struct {
	ID      string   // as Kafka prints it; "" on brokers that have none
	Gone    bool     // there is no such topic
	Trouble *Trouble // it could not be read as a whole
	Ranges  []Range  // by partition number
}

// Range is what the cluster has of one partition of the topic: it says why where nothing is, also for partitions that do not exist.
func (t Topic) Range(partition int32) Range {
	if partition >= 0 && int(partition) < len(t.Ranges) {
		return t.Ranges[partition]
	}
	none := Range{Stable: None, Leader: None, Epoch: None, TopicID: t.ID}
	switch {
	case t.Gone:
		none.State = TopicGone
	case t.Trouble != nil:
		none.Reason, none.Denied = t.Trouble.Reason, t.Trouble.Denied
	case len(t.Ranges) > 0:
		none.State, none.Reason = PartitionGone, "not in the topic, which has "+Plural(len(t.Ranges), "partition")
	default:
		none.Reason = "the cluster did not name this partition"
	}
	return none
}

// Selection says which partitions of a topic are meant. No partitions means all.
type Selection struct {
	Topic      string
	Partitions []int32 // sorted
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
		if s.Topic != k.Topic {
			return false
		}
		_, named := slices.BinarySearch(s.Partitions, k.Partition)
		return named || len(s.Partitions) == 0
	})
}

// Join puts what both sides and the cluster say into the group's rows: every partition of every topic that has a commit, an
// entry or an assignment, or that is selected by name, as far as the selections hold it.
func Join(g Group, commits, entries map[Key]Entry, topics map[string]Topic, selections []Selection) Group {
	parts := map[string][]int32{} // of each topic that is concerned, those that are named, in any order and more than once
	add := func(k Key) { parts[k.Topic] = append(parts[k.Topic], k.Partition) }
	for _, m := range []map[Key]Entry{commits, entries} {
		for k := range m {
			add(k)
		}
	}
	for k := range g.Shared {
		add(k)
	}
	owner := map[Key]string{}
	for _, m := range g.Members {
		for _, k := range m.Assigned {
			owner[k] = m.ID
			add(k)
		}
	}
	if g.Store != nil {
		for _, t := range g.Store.Topics {
			if t.Presence != Absent {
				parts[t.Topic] = slices.Grow(parts[t.Topic], 1)
			}
		}
	}
	for _, s := range selections {
		parts[s.Topic] = append(parts[s.Topic], s.Partitions...)
	}
	total := 0
	for name, named := range parts {
		n := int32(len(topics[name].Ranges))
		all := make([]int32, 0, n)
		for p := range n {
			all = append(all, p)
		}
		for _, p := range named {
			if p < 0 || p >= n { // not among all that there are
				all = append(all, p)
			}
		}
		slices.Sort(all)
		parts[name] = slices.Compact(all)
		total += len(parts[name])
	}
	g.Rows = make([]Row, 0, total)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		for _, p := range parts[name] {
			if k := (Key{name, p}); Holds(selections, k) {
				g.Rows = append(g.Rows, Row{
					Key: k, Range: topics[name].Range(p), Committed: g.commit(commits, k), Stored: g.entry(entries, k), Owner: owner[k], Shared: g.shared(k),
				})
			}
		}
	}
	return g
}

// shared is how far a share group is in a partition; nil for other groups.
func (g Group) shared(k Key) *Shared {
	if g.Shared == nil && g.SharedReason == "" {
		return nil
	}
	if p, ok := g.Shared[k]; ok {
		return &p
	}
	return &Shared{Start: None, Lag: None, Reason: g.SharedReason}
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
	for k := range g.Shared {
		add(k.Topic)
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
