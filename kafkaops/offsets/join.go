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

// Selections sorts partitions by topic, each once.
func Selections(keys []Key) []Selection {
	byTopic := map[string][]int32{}
	for _, k := range keys {
		byTopic[k.Topic] = append(byTopic[k.Topic], k.Partition)
	}
	var all []Selection
	for _, topic := range slices.Sorted(maps.Keys(byTopic)) {
		slices.Sort(byTopic[topic])
		all = append(all, Selection{Topic: topic, Partitions: slices.Compact(byTopic[topic])})
	}
	return all
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

// byTopic are the selections of each topic, to be looked up where there are many.
func byTopic(selections []Selection) map[string][]Selection {
	of := make(map[string][]Selection, len(selections))
	for _, s := range selections {
		of[s.Topic] = append(of[s.Topic], s)
	}
	return of
}

// Join puts what both sides and the cluster say into the group's rows: every partition of every topic that has a commit, an
// entry or an assignment, or that is selected by name, as far as the selections hold it.
func Join(g Group, commits, entries map[Key]Entry, topics map[string]Topic, selections []Selection) Group {
	beyond := map[string][]int32{} // of each topic that is concerned, the partitions that are named and do not exist, in any order and more than once
	concern := func(topic string) {
		if _, known := beyond[topic]; !known {
			beyond[topic] = nil
		}
	}
	topic, there := "", int32(-1) // the topic that came last, and how many partitions it has
	add := func(k Key) {
		if k.Topic != topic || there < 0 {
			topic, there = k.Topic, int32(len(topics[k.Topic].Ranges))
			concern(topic)
		}
		if k.Partition < 0 || k.Partition >= there {
			beyond[topic] = append(beyond[topic], k.Partition)
		}
	}
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
				concern(t.Topic)
			}
		}
	}
	for _, s := range selections {
		concern(s.Topic)
		for _, p := range s.Partitions {
			add(Key{s.Topic, p})
		}
	}
	total := 0
	for name, more := range beyond {
		total += len(topics[name].Ranges) + len(more)
	}
	g.Rows = make([]Row, 0, total)
	selected := byTopic(selections)
	for _, name := range slices.Sorted(maps.Keys(beyond)) {
		if len(selections) > 0 && len(selected[name]) == 0 {
			continue
		}
		t := topics[name]
		missing := t.Range(None) // of all partitions that are not there: one text for a million of them
		for _, p := range numbers(len(t.Ranges), beyond[name]) {
			k := Key{name, p}
			if !Holds(selected[name], k) {
				continue
			}
			g.Rows = g.Rows[:len(g.Rows)+1]
			r := &g.Rows[len(g.Rows)-1] // rows are large: filled in where they stand
			r.Key, r.Range, r.Committed, r.Stored = k, missing, g.commit(commits, k), g.entry(entries, k)
			if p >= 0 && int(p) < len(t.Ranges) {
				r.Range = t.Ranges[p]
			}
			r.Owner, r.Shared = owner[k], g.shared(k)
			if r.Range.Denied && r.Committed.Presence == Absent { // brokers leave commits out of topics that may not be seen
				r.Committed = Entry{Presence: Denied, Reason: r.Range.Reason, Epoch: None}
			}
		}
	}
	return g
}

// numbers lists those below n, and more, sorted and each once.
func numbers(n int, more []int32) []int32 {
	all := make([]int32, 0, n+len(more))
	for p := range int32(n) {
		all = append(all, p)
	}
	if len(more) == 0 {
		return all
	}
	all = append(all, more...)
	slices.Sort(all)
	return slices.Compact(all)
}

// shared is how far a share group is in a partition; nil for other groups.
func (g *Group) shared(k Key) *Shared {
	if g.Shared == nil && g.SharedReason == "" {
		return nil
	}
	if p, ok := g.Shared[k]; ok {
		return &p
	}
	return &Shared{Start: None, Lag: None, Reason: g.SharedReason}
}

// commit is the group's commit; while the group could not be read, none is known of any partition.
func (g *Group) commit(commits map[Key]Entry, k Key) Entry {
	if e, ok := commits[k]; ok || g.Trouble == nil {
		return e
	}
	return g.Trouble.entry()
}

// entry is what the store says. A place that could not be read says nothing about any of its partitions.
func (g *Group) entry(entries map[Key]Entry, k Key) Entry {
	if e, ok := entries[k]; ok || g.Store == nil {
		return e
	}
	if g.Store.Trouble != nil {
		return g.Store.Trouble.entry()
	}
	t, ok := g.Store.Topic(k.Topic)
	if !ok || t.Presence == Present {
		return Entry{Whole: t.Whole}
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
	names, selected := map[string]bool{}, byTopic(selections)
	last := "" // mostly it is the same again
	add := func(topic string) {
		if topic == last {
			return
		}
		last = topic
		if len(selections) == 0 || len(selected[topic]) > 0 {
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
