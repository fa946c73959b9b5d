package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// fill lets a store that is only read hold just this of a group.
func (c *contract) fill(t testing.TB, group string, puts ...put) {
	t.Helper()
	texts := map[offsets.Key]string{}
	for _, p := range puts {
		texts[offsets.Key{Topic: p.topic, Partition: p.partition}] = strconv.FormatInt(p.offset, 10)
	}
	c.Fill(t, group, texts)
}

// onlyRead wants every write refused, and nothing claimed that only a write could keep, or that what was read does not show.
func (c *contract) onlyRead(t *testing.T) {
	s, group := c.open(t, Given{}), c.group()
	c.fill(t, group, put{"t", 0, 5})
	if _, err := s.Writer(Within(t, patience), group, []string{"t"}); !errors.Is(err, offsetfile.ErrReadOnly) {
		t.Errorf("writer: got %v, want it refused", err)
	}
	can := s.Can()
	if can.CompareAndSet || can.Locks || can.Creates || can.Atomic != offsetfile.OnePartition || can.Least != 0 {
		t.Errorf("got %+v, want nothing claimed that is of a write", can)
	}
	h := load(t, s, group)
	e := h.Entries[offsets.Key{Topic: "t"}]
	if e.Presence != offsets.Present {
		t.Fatalf("got %+v, want what was filled in", e)
	}
	if keeps := e.Epoch != offsets.None; keeps != can.Epochs {
		t.Errorf("epochs: it has one is %v, claimed is %v", keeps, can.Epochs)
	}
	if keeps := e.TopicID != "" || e.Cluster != ""; keeps != can.Identity {
		t.Errorf("identity: it has one is %v, claimed is %v", keeps, can.Identity)
	}
	if keeps := !h.Store.Saved.IsZero(); keeps != can.Times || keeps && time.Since(h.Store.Saved).Abs() > time.Hour {
		t.Errorf("times: got %v, claimed is %v", h.Store.Saved, can.Times)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Load(ctx, group, nil, false); !errors.Is(err, context.Canceled) {
		t.Errorf("load, cancelled: got %v", err)
	}
	if _, _, err := s.Groups(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("groups, cancelled: got %v", err)
	}
}

// read wants each number as it is there, up to the limits, of the topics that are asked for.
func (c *contract) read(t *testing.T) {
	s, group := c.open(t, Given{}), c.group()
	puts := []put{
		{"t", 0, 0},
		{"t", 1, 1},
		{"t", 2, math.MaxInt64},
		{"t", 3, 1 << 53},
		{"t", 4, 1<<53 + 1},
		{"t", 5, math.MaxInt32 + 1},
		{"t", 10, 9},
		{"t", math.MaxInt32, math.MaxInt64 - 1},
		{"u", 11, 7},
	}
	c.fill(t, group, puts...)
	var want []string
	for _, p := range puts {
		want = append(want, fmt.Sprintf("%s %d %d", p.topic, p.partition, p.offset))
	}
	last := len(puts) - 1
	holds(t, s, group, strings.Join(want, ", "))
	holds(t, c.open(t, Given{}), group, strings.Join(want[:last], ", "), "t")
	h := load(t, s, group, "u", "none")
	if got := held(h); got != want[last] {
		t.Errorf("one topic: got %q, want %q", got, want[last])
	}
	if topic, ok := h.Store.Topic("none"); !ok || topic.Presence != offsets.Absent || topic.Path == "" || h.Store.Path == "" {
		t.Errorf("got %+v at %q, want an absent topic with the places looked at", topic, h.Store.Path)
	}
	if topic, _ := h.Store.Topic("u"); topic.Presence != offsets.Present || topic.Highest != 11 {
		t.Errorf("topic u: got %v, highest %d; want present, 11", topic.Presence, topic.Highest)
	}
	h, err := s.Load(Within(t, patience), group, nil, true)
	if got := held(h); err != nil || got != strings.Join(want, ", ") || len(h.Store.Damaged) > 0 {
		t.Errorf("with salvage, of what is whole: got %q, %v, damaged %v", got, err, h.Store.Damaged)
	}
	c.fill(t, group, put{"u", 11, 8}) // a look is of now
	holds(t, s, group, "u 11 8")
}

// readNames reads strange names of topics beside each other, and each alone.
func (c *contract) readNames(t *testing.T) {
	s, group := c.open(t, Given{}), c.group()
	var puts []put
	for i, name := range Names() {
		puts = append(puts, put{name, 0, int64(i)})
	}
	c.fill(t, group, puts...)
	h := load(t, s, group)
	for _, p := range puts {
		if e := h.Entries[offsets.Key{Topic: p.topic}]; e.Presence != offsets.Present || e.Offset != p.offset {
			t.Errorf("topic %q: got %+v, want %d", p.topic, e, p.offset)
		}
		holds(t, s, group, fmt.Sprintf("%s 0 %d", p.topic, p.offset), p.topic)
	}
	if len(h.Entries) != len(puts) {
		t.Errorf("got %d entries, want %d", len(h.Entries), len(puts))
	}
}

// readGroups wants each group to have its own, and what it has listed; a store that names none has the same for each, and lists none.
func (c *contract) readGroups(t *testing.T) {
	s := c.open(t, Given{})
	groups := []string{c.group()}
	groups = append(groups, groups[0]+"0", "a"+groups[0]) // names that begin, and end, as another does
	for i, group := range groups {
		c.fill(t, group, put{"t", 0, int64(i)})
	}
	none := c.group()
	listed, _, err := s.Groups(Within(t, patience))
	if err != nil || !slices.IsSorted(listed) {
		t.Fatalf("groups: got %q, %v", listed, err)
	}
	if s.Can().Nameless {
		if len(listed) > 0 {
			t.Errorf("groups: got %q of a store that says it names none", listed)
		}
		for _, group := range append(groups, none) {
			holds(t, s, group, fmt.Sprintf("t 0 %d", len(groups)-1)) // what was there last
		}
		return
	}
	for i, group := range groups {
		holds(t, s, group, fmt.Sprintf("t 0 %d", i))
		if !slices.Contains(listed, group) {
			t.Errorf("groups: got %q, want %q among them", listed, group)
		}
	}
	holds(t, s, none, "")
	if slices.Contains(listed, none) {
		t.Errorf("groups: got %q; %q has nothing", listed, none)
	}
}

// tells wants it said, with the reason, that partition 1 of topic t cannot be read: by itself, of its topic, or of the store. What is said
// to be readable then is right, and nothing counts as none because something else is bad.
func tells(t *testing.T, h offsetfile.Holding, presences ...offsets.Presence) {
	t.Helper()
	topic, _ := h.Store.Topic("t")
	e := h.Entries[offsets.Key{Topic: "t", Partition: 1}]
	whole := h.Store.Trouble != nil
	topicBad := slices.Contains(presences, topic.Presence)
	switch {
	case whole && h.Store.Trouble.Reason == "", topicBad && topic.Reason == "":
		t.Error("it is not said why it cannot be read")
	case !whole && !topicBad && (!slices.Contains(presences, e.Presence) || e.Reason == ""):
		t.Errorf("partition 1: got %+v of a topic that is %v, want it to be told", e, topic.Presence)
	}
	if e.Presence == offsets.Present {
		t.Errorf("partition 1: got %d of what cannot be read", e.Offset)
	}
	for k, offset := range map[offsets.Key]int64{{Topic: "t"}: 5, {Topic: "t", Partition: 2}: 6, {Topic: "other"}: 7} {
		hidden := whole || topicBad && k.Topic == "t"
		if e, ok := h.Entries[k]; ok && e.Presence == offsets.Present && e.Offset != offset || !hidden && e.Presence != offsets.Present {
			t.Errorf("%s: got %+v, want %d", k, e, offset)
		}
	}
}

// among are the values that one is bad among.
func among() map[offsets.Key]string {
	return map[offsets.Key]string{{Topic: "t"}: "5", {Topic: "t", Partition: 2}: "6", {Topic: "other"}: "7"}
}

// readBad reads each text that is no number.
func (c *contract) readBad(t *testing.T) {
	s := c.open(t, Given{})
	for name, text := range c.badTexts() {
		t.Run(name, func(t *testing.T) {
			group, texts := c.group(), among()
			texts[offsets.Key{Topic: "t", Partition: 1}] = text
			c.Fill(t, group, texts)
			tells(t, load(t, s, group), offsets.Damaged, offsets.Empty)
		})
	}
}

// readBroken reads a topic whose place cannot be read.
func (c *contract) readBroken(t *testing.T) {
	s := c.open(t, Given{})
	for presence, breaks := range c.breaks(t) {
		t.Run(presence.String(), func(t *testing.T) {
			group, texts := c.group(), among()
			c.Fill(t, group, texts)
			breaks(t, group, "t")
			tells(t, load(t, s, group), presence)
			tells(t, load(t, s, group, "other", "t"), presence)
		})
	}
}
