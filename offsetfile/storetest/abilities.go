package storetest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// another writes between the look and the save: it is noticed, and what stands or falls together stays as it was.
func (c *contract) another(t *testing.T) {
	s := c.open(t, Given{})
	for name, tt := range map[string]struct{ before, other, mine put }{
		"changed":  {put{"t", 0, 5}, put{"t", 0, 6}, put{"t", 0, 7}},
		"made":     {put{"t", 1, 1}, put{"t", 0, 6}, put{"t", 0, 7}},
		"removed":  {put{"t", 0, 5}, put{"t", 0, offsets.None}, put{"t", 0, 7}},
		"removing": {put{"t", 0, 5}, put{"t", 0, 6}, put{"t", 0, offsets.None}},
	} {
		t.Run(name, func(t *testing.T) {
			group := c.group()
			save(t, s, group, tt.before, put{"t", 9, 1}, put{"a", 0, 1}, put{"z", 0, 1})
			seen := load(t, s, group, "a", "t", "z").Store
			changes, _ := save(t, c.open(t, Given{}), group, tt.other)
			written(t, changes)
			mine := changesOf([]put{tt.mine, {"t", 9, 2}, {"a", 0, 2}, {"z", 0, 2}})
			changes, _ = writer(t, s, group, "a", "t", "z").Save(within(t, patience), seen, mine, offsetfile.Facts{Now: now})
			refused(t, changes[0])
			if got := offset(t, s, group, "t", 0); got != tt.other.offset {
				t.Errorf("got %d, want the other's %d", got, tt.other.offset)
			}
			for _, ch := range changes[1:] {
				got, together := offset(t, s, group, ch.Topic, ch.Partition), s.Can().Atomic >= offsetfile.OneGroup
				if ch.Topic == "t" {
					together = s.Can().Atomic >= offsetfile.OneTopic
				}
				if together && got != 1 {
					t.Errorf("%s %d, which is saved together with it: got %d, want it untouched", ch.Topic, ch.Partition, got)
				}
			}
		})
	}
}

// race lets many write at once on the same look, each over a connection that stands, and all let go together. One wins.
func (c *contract) race(t *testing.T) {
	s := c.open(t, Given{})
	if !s.Can().CompareAndSet {
		t.Skip("it needs a store that compares")
	}
	writers := make([]offsetfile.Store, 8)
	for i := range writers {
		writers[i] = c.open(t, Given{})
	}
	rounds := 30 // one that reads, compares and then writes comes through a single round more often than not
	if s.Can().Locks {
		rounds = 3 // the locks keep them apart, and let each wait
	}
	for round := 0; round < rounds && !t.Failed(); round++ {
		group := c.group()
		save(t, s, group, put{"t", 0, 0})
		var wg, ready sync.WaitGroup
		wins := make([]bool, len(writers))
		seen := load(t, s, group, "t").Store
		ready.Add(len(writers))
		for i, mine := range writers {
			wg.Go(func() {
				w, err := mine.Writer(within(t, patience), group, []string{"t"})
				ready.Done()
				ready.Wait()
				var locked *offsetfile.LockedError
				if errors.As(err, &locked) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				defer w.Unlock()
				changes, _ := w.Save(within(t, patience), seen, changesOf([]put{{"t", 0, int64(i + 1)}}), offsetfile.Facts{Now: now})
				wins[i] = changes[0].Result == offsets.Written
			})
		}
		wg.Wait()
		got := offset(t, s, group, "t", 0)
		for i, won := range wins {
			if won != (got == int64(i+1)) {
				t.Errorf("writer %d: won is %v, and the store has %d", i+1, won, got)
			}
		}
	}
}

// locks wants another writer kept out as long as the first holds its topic, and only from that one. Without locks it is let in; where
// nothing then keeps the two apart, that is said.
func (c *contract) locks(t *testing.T) {
	const holder = "the first writer"
	s, other, group := c.open(t, Given{Options: offsetfile.Options{Holder: holder}}), c.open(t, Given{}), c.group()
	save(t, s, group, put{"t", 0, 1}, put{"u", 0, 1})
	take := func(s offsetfile.Store, topic string) (offsetfile.Writer, error) {
		return s.Writer(within(t, patience), group, []string{topic})
	}
	first, err := take(s, "t")
	if err != nil {
		t.Fatal(err)
	}
	second, err := take(other, "t")
	if err == nil {
		defer second.Unlock()
	}
	can := s.Can()
	if !can.Locks {
		if err != nil {
			t.Errorf("a second writer, of a store that does not say it has locks: %v", err)
		}
		if !can.CompareAndSet && !strings.Contains(strings.Join(first.Notes(), " "), "nothing else writes") {
			t.Errorf("notes: got %q, want it said that nothing keeps others from writing", first.Notes())
		}
		if err := first.Unlock(); err != nil {
			t.Error(err)
		}
		return
	}
	var locked *offsetfile.LockedError
	if !errors.As(err, &locked) || !strings.Contains(locked.Holder, holder) {
		t.Errorf("a second writer: got %v, want it kept out, and %q named", err, holder)
	}
	if h := load(t, other, group, "t"); !strings.Contains(h.Store.Holder, holder) {
		t.Errorf("a look: got the holder %q, want %q", h.Store.Holder, holder)
	}
	free := func(topic string) {
		t.Helper()
		w, err := take(other, topic)
		if err == nil {
			err = w.Unlock()
		}
		if err != nil {
			t.Errorf("topic %q, which is free: %v", topic, err)
		}
	}
	free("u")
	if err := first.Unlock(); err != nil {
		t.Error(err)
	}
	free("t")
	if h := load(t, other, group, "t"); h.Store.Holder != "" {
		t.Errorf("a look afterwards: got the holder %q", h.Store.Holder)
	}
}

// noted is what a store keeps of an entry beside its offset.
type noted struct {
	epoch            int32
	topicID, cluster string
}

// beside saves what belongs to an offset: what a store claims to keep comes back, and of the rest nothing, rather than something else.
func (c *contract) beside(t *testing.T) {
	s, group := c.open(t, Given{}), c.group()
	can, began := s.Can(), time.Now()
	keeps := func(partition int32, want noted) {
		t.Helper()
		if !can.Epochs {
			want.epoch = offsets.None
		}
		if !can.Identity {
			want.topicID, want.cluster = "", ""
		}
		h := load(t, s, group, "t")
		e := h.Entries[offsets.Key{Topic: "t", Partition: partition}]
		if got := (noted{e.Epoch, e.TopicID, e.Cluster}); got != want {
			t.Errorf("partition %d: got %+v, want %+v", partition, got, want)
		}
		for what, at := range map[string]time.Time{"the entry's time": e.Saved, "the store's time": h.Store.Saved} {
			switch {
			case !can.Times && !at.IsZero():
				t.Errorf("%s: got %v of a store that does not say it knows", what, at)
			case can.Times && (at.Before(began.Add(-time.Hour)) || at.After(time.Now().Add(time.Hour))):
				t.Errorf("%s: got %v, want now", what, at)
			}
		}
	}
	saveAs := func(topicID, cluster string, changes ...offsets.Change) []offsets.Change {
		t.Helper()
		w := writer(t, s, group, "t")
		facts := offsetfile.Facts{Cluster: cluster, TopicIDs: map[string]string{"t": topicID}, Now: time.Now()}
		changes, _ = w.Save(within(t, patience), load(t, s, group, "t").Store, changes, facts)
		written(t, changes)
		return changes
	}
	change := func(partition int32, v offsets.Value) offsets.Change {
		ch := changesOf([]put{{"t", partition, v.Offset}})[0]
		ch.New = v
		return ch
	}
	saveAs("id-1", "cluster-1", change(0, offsets.Value{Offset: 5, Epoch: 7}), change(1, offsets.Value{Offset: 6, Epoch: offsets.None}))
	keeps(0, noted{7, "id-1", "cluster-1"})
	keeps(1, noted{offsets.None, "id-1", "cluster-1"})
	saveAs("id-2", "cluster-2", change(1, offsets.Value{Offset: 6, Epoch: 8})) // the same number, of another topic
	keeps(0, noted{7, "id-1", "cluster-1"})
	keeps(1, noted{8, "id-2", "cluster-2"})
	back := change(0, offsets.Value{Offset: 4, Epoch: 3, TopicID: "id-0", Cluster: "cluster-0"})
	back.Target = offsets.Restored // with all that was recorded with it
	saveAs("id-2", "cluster-2", back)
	keeps(0, noted{3, "id-0", "cluster-0"})
	keeps(1, noted{8, "id-2", "cluster-2"})
	holds(t, s, group, "t 0 4, t 1 6")
}

// onlyRead wants every write refused. A store that names no groups has the same for each, and lists none.
func (c *contract) onlyRead(t *testing.T) {
	s := c.open(t, Given{})
	groups, _, err := s.Groups(within(t, patience))
	if err != nil {
		t.Fatal(err)
	}
	if nameless := s.Can().Nameless; nameless != (len(groups) == 0) {
		t.Errorf("groups: got %q, and nameless is %v", groups, nameless)
	}
	group := "g"
	if len(groups) > 0 {
		group = groups[0]
	}
	h := load(t, s, group)
	if len(h.Entries) == 0 {
		t.Fatal("there is nothing to read: the contract needs a store with something in it")
	}
	if other := load(t, s, c.group()); s.Can().Nameless != maps.Equal(h.Entries, other.Entries) {
		t.Errorf("another group: got %s, and of the first %s", held(other), held(h))
	}
	topics := slices.Collect(maps.Keys(h.Entries))
	if _, err := s.Writer(within(t, patience), group, []string{topics[0].Topic}); !errors.Is(err, offsetfile.ErrReadOnly) {
		t.Errorf("writer: got %v, want it refused", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Load(ctx, group, nil, false); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}
