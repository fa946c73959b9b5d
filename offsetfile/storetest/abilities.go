package storetest

import (
	"errors"
	"fmt"
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
			changes, _ = writer(t, s, group, "a", "t", "z").Save(Within(t, patience), seen, mine, offsetfile.Facts{Now: now})
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

// own is what one of many writers saves.
type own struct {
	group string
	put
}

// atOnce lets each of many write its own on its own look, over a connection that stands, and all let go together. It says who has written.
func atOnce(t *testing.T, writers []offsetfile.Store, mine func(i int) own) []bool {
	t.Helper()
	var wg, ready sync.WaitGroup
	wins := make([]bool, len(writers))
	ready.Add(len(writers))
	for i, s := range writers {
		p := mine(i)
		seen := load(t, s, p.group, p.topic).Store
		wg.Go(func() {
			w, err := s.Writer(Within(t, patience), p.group, []string{p.topic})
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
			changes, _ := w.Save(Within(t, patience), seen, changesOf([]put{p.put}), offsetfile.Facts{Now: now})
			wins[i] = changes[0].Result == offsets.Written
		})
	}
	wg.Wait()
	return wins
}

// crowd is writers of one store, and how often they are to meet.
func (c *contract) crowd(t *testing.T) (writers []offsetfile.Store, rounds int) {
	writers = make([]offsetfile.Store, 8)
	for i := range writers {
		writers[i] = c.open(t, Given{})
	}
	if writers[0].Can().Locks {
		return writers, 3 // the locks keep them apart, and let each wait
	}
	return writers, 30 // one that reads, compares and then writes comes through a single round more often than not
}

// race lets many write one value at once. One wins.
func (c *contract) race(t *testing.T) {
	s := c.open(t, Given{})
	if !s.Can().CompareAndSet {
		t.Skip("it needs a store that compares")
	}
	writers, rounds := c.crowd(t)
	for round := 0; round < rounds && !t.Failed(); round++ {
		group := c.group()
		save(t, s, group, put{"t", 0, 0})
		wins := atOnce(t, writers, func(i int) own { return own{group, put{"t", 0, int64(i + 1)}} })
		got := offset(t, s, group, "t", 0)
		for i, won := range wins {
			if won != (got == int64(i+1)) {
				t.Errorf("writer %d: won is %v, and the store has %d", i+1, won, got)
			}
		}
	}
}

// apart lets many write at once, each a value of its own. What one has written no other takes away, wherever the service keeps the two, and
// what nobody writes stays.
func (c *contract) apart(t *testing.T) {
	s := c.open(t, Given{})
	for name, place := range map[string]func(group string, i int) own{
		"partitions": func(group string, i int) own { return own{group, put{"t", int32(i), 0}} },
		"topics":     func(group string, i int) own { return own{group, put{fmt.Sprintf("t%d", i), 0, 0}} },
		"groups":     func(group string, i int) own { return own{fmt.Sprintf("%s-%d", group, i), put{"t", 0, 0}} },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "partitions" && !s.Can().CompareAndSet {
				t.Skip("it needs a store that compares")
			}
			writers, rounds := c.crowd(t)
			began := time.Now()
			for round := 0; round < min(rounds, 10) && !t.Failed(); round++ {
				if round >= 3 && time.Since(began) > 10*time.Second {
					break // of a service that is slow the rounds are so long that they meet
				}
				group := c.group()
				before := map[string][]put{} // by group
				for i := range writers {
					p := place(group, i)
					if i%2 == 0 { // the others are new
						before[p.group] = append(before[p.group], p.put)
					}
					if beside := (put{p.topic, 99, 9}); !slices.Contains(before[p.group], beside) {
						before[p.group] = append(before[p.group], beside)
					}
				}
				for group, puts := range before {
					save(t, s, group, puts...)
				}
				wins := atOnce(t, writers, func(i int) own {
					p := place(group, i)
					p.offset = int64(i + 1)
					return p
				})
				if !slices.Contains(wins, true) {
					t.Error("none of them could write")
				}
				for i, won := range wins {
					p := place(group, i)
					want := int64(offsets.None)
					switch {
					case won:
						want = int64(i + 1)
					case i%2 == 0:
						want = 0
					}
					if got := offset(t, s, p.group, p.topic, p.partition); got != want {
						t.Errorf("writer %d: it has written is %v, and the store has %d, want %d", i+1, won, got, want)
					}
					if got := offset(t, s, p.group, p.topic, 99); got != 9 {
						t.Errorf("beside writer %d: the store has %d, want 9, which nobody changed", i+1, got)
					}
				}
			}
		})
	}
}

// insist looks and saves until no other was in the way. Each look has to satisfy right, which says what is wrong.
func insist(t testing.TB, s offsetfile.Store, group string, right func(offsetfile.Holding) error, puts ...put) error {
	ctx, topics := Within(t, patience), topicsOf(puts)
	try := func() (changes []offsets.Change, err error) {
		w, err := s.Writer(ctx, group, topics)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, w.Unlock()) }()
		h, err := s.Load(ctx, group, topics, false)
		if err == nil {
			err = right(h)
		}
		if err == nil {
			changes, _ = w.Save(ctx, h.Store, changesOf(puts), offsetfile.Facts{Now: now})
		}
		return changes, err
	}
	for {
		changes, err := try()
		var locked *offsetfile.LockedError
		switch {
		case errors.As(err, &locked) && ctx.Err() == nil:
			continue
		case err != nil:
			return err
		}
		i := slices.IndexFunc(changes, func(ch offsets.Change) bool { return ch.Result != offsets.Written && ch.Result != offsets.Already })
		if i < 0 {
			return nil
		}
		if ch := changes[i]; !ch.Refused || ctx.Err() != nil {
			return fmt.Errorf("%s %d: got %s (%s), want it written", ch.Topic, ch.Partition, ch.Result, ch.Error)
		}
	}
}

// stands wants just these values, which nobody else writes.
func stands(puts ...put) func(offsetfile.Holding) error {
	return func(h offsetfile.Holding) error {
		for _, p := range puts {
			if e := h.Entries[offsets.Key{Topic: p.topic, Partition: p.partition}]; e.Presence != offsets.Present || e.Offset != p.offset {
				return fmt.Errorf("%s %d: got %v %d, want %d, which nobody else changed", p.topic, p.partition, e.Presence, e.Offset, p.offset)
			}
		}
		return nil
	}
}

// againAtOnce lets many write one topic for a while, each a value of its own, and tries again what is refused as changed. Each look, while
// others write, has what was written by itself, and what nobody writes.
func (c *contract) againAtOnce(t *testing.T) {
	writers, rounds := c.crowd(t)
	if !writers[0].Can().CompareAndSet {
		t.Skip("it needs a store that compares")
	}
	group, beside := c.group(), put{"t", 99, 9}
	first := []put{beside}
	for i := range writers {
		first = append(first, put{"t", int32(i), 0})
	}
	save(t, writers[0], group, first...)
	var wg sync.WaitGroup
	for i, s := range writers {
		wg.Go(func() {
			mine := put{"t", int32(i), 0}
			for range rounds {
				next := mine
				next.offset++
				err := insist(t, s, group, stands(mine, beside), next)
				if err == nil {
					var h offsetfile.Holding
					if h, err = s.Load(Within(t, patience), group, []string{"t"}, false); err == nil {
						err = stands(next, beside)(h)
					}
				}
				if mine = next; err != nil {
					t.Errorf("writer %d: %v", i, err)
					return
				}
			}
		})
	}
	wg.Wait()
	for i := range first[1:] {
		first[i+1].offset = int64(rounds)
	}
	if err := stands(first...)(load(t, writers[0], group, "t")); err != nil && !t.Failed() {
		t.Error(err)
	}
}

// locks wants another writer kept out as long as the first holds its topic, and only from that one. Without locks it is let in; where
// nothing then keeps the two apart, that is said.
func (c *contract) locks(t *testing.T) {
	const holder = "the first writer"
	s, other, group := c.open(t, Given{Options: offsetfile.Options{Holder: holder}}), c.open(t, Given{}), c.group()
	save(t, s, group, put{"t", 0, 1}, put{"u", 0, 1})
	take := func(s offsetfile.Store, topic string) (offsetfile.Writer, error) {
		return s.Writer(Within(t, patience), group, []string{topic})
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
		changes, _ = w.Save(Within(t, patience), load(t, s, group, "t").Store, changes, facts)
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
