package storetest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"gtoffset/kafkaops/kafkatest/tcpproxy"
	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// three is one offset for three partitions of two topics.
func three(offset int64) []put { return []put{{"t", 0, offset}, {"t", 1, offset}, {"u", 0, offset}} }

// steps lets each step of a save fail in turn: the old or the new stands, as whole as the store says, and the next save works.
func (c *contract) steps(t *testing.T) {
	var names []string
	fail := -1
	s := c.open(t, Given{Options: offsetfile.Options{Hook: func(step string) error {
		names = append(names, step)
		if len(names)-1 == fail {
			return errors.New("the power is off")
		}
		return nil
	}}})
	group := c.group()
	changes, _ := save(t, s, group, three(1)...)
	written(t, changes)
	all := len(names)
	if all == 0 {
		t.Fatal("a save has no steps")
	}
	for i := range all {
		names, fail = nil, -1
		save(t, s, group, three(1)...)
		names, fail = nil, i
		w, err := s.Writer(Within(t, patience), group, []string{"t", "u"})
		if err == nil {
			changes, _ = w.Save(Within(t, patience), load(t, s, group, "t", "u").Store, changesOf(three(2)), offsetfile.Facts{Now: now})
			if err := w.Unlock(); err != nil {
				t.Error(err)
			}
		} else {
			changes = nil
		}
		fail = -1
		c.asTold(t, s, group, changes, 1, 2)
		changes, _ = save(t, s, group, three(3)...)
		written(t, changes)
		holds(t, s, group, "t 0 3, t 1 3, u 0 3")
	}
}

// asTold compares what stands with what the save said of itself. No changes stand for a save that did not begin.
func (c *contract) asTold(t testing.TB, s offsetfile.Store, group string, changes []offsets.Change, old, next int64) {
	t.Helper()
	h := load(t, s, group, "t", "u")
	stands := map[string]map[int64]bool{"t": {}, "u": {}, "": {}} // by topic, and of all
	for k, e := range h.Entries {
		if e.Presence != offsets.Present || e.Offset != old && e.Offset != next {
			t.Errorf("%s: got %+v, want %d or %d", k, e, old, next)
		}
		stands[k.Topic][e.Offset], stands[""][e.Offset] = true, true
	}
	for topic, values := range stands {
		together := offsetfile.OneTopic
		if topic == "" {
			together = offsetfile.OneGroup
		}
		if s.Can().Atomic >= together && len(values) > 1 {
			t.Errorf("it is to stand as a whole: got %s", held(h))
		}
	}
	for _, ch := range changes {
		got := h.Entries[ch.Key].Offset
		switch ch.Result {
		case offsets.Written, offsets.Already:
			if got != next {
				t.Errorf("%s: said to be %s, but has %d", ch.Key, ch.Result, got)
			}
		case offsets.Failed, offsets.NotTried:
			if got != old {
				t.Errorf("%s: said to be %s (%s), but has %d", ch.Key, ch.Result, ch.Error, got)
			}
		case offsets.Unverified:
		default:
			t.Errorf("%s: got the result %q", ch.Key, ch.Result)
		}
	}
	if len(changes) == 0 && stands[""][next] {
		t.Errorf("nothing was begun, but there is %s", held(h))
	}
}

// unreadable takes the place away. A look must not find it empty, as the next save would leave nothing else in it.
func (c *contract) unreadable(t *testing.T) {
	s := c.open(t, Given{})
	switch {
	case c.Addr == "" && (len(c.Unreadable) == 0 || s.Can().Write && c.Unreadable[Replaceable] == nil):
		t.Fatal("Unreadable does not say how the place can be such that nothing of it can be read, though it could be replaced (Replaceable)")
	case len(c.Unreadable) == 0:
		t.Skip("there are connections to try it on")
	}
	for name, way := range c.Unreadable {
		t.Run(name, func(t *testing.T) {
			group := c.group()
			begin := func(t testing.TB) func() { t.Helper(); return way(t, group, "t") }
			blind := func() { t.Helper(); isBlind(t, s, group) }
			if s.Can().Write {
				save(t, s, group, three(1)...)
				c.takesNothing(t, s, group, begin, blind)
				return
			}
			c.fill(t, group, three(1)...)
			defer begin(t)()
			blind()
		})
	}
}

// isBlind wants it told that topic t cannot be read, whatever is asked for, and its group not left out without a word.
func isBlind(t testing.TB, s offsetfile.Store, group string) {
	t.Helper()
	for _, topics := range [][]string{{"t"}, nil} {
		h, err := s.Load(Within(t, time.Second), group, topics, false)
		topic, _ := h.Store.Topic("t")
		if err == nil && h.Store.Trouble == nil && (topic.Presence == offsets.Present || topic.Presence == offsets.Absent || topic.Reason == "") {
			t.Errorf("load of %q: got %q, want it told that it cannot be read", topics, held(h))
		}
	}
	if groups, notes, err := s.Groups(Within(t, time.Second)); err == nil && len(notes) == 0 && !slices.Contains(groups, group) {
		t.Errorf("groups: got %q, want %q among them, an error or a note", groups, group)
	}
}

// full lets the place take nothing more. A save has to say so.
func (c *contract) full(t *testing.T) {
	if c.Full == nil {
		t.Skip("nothing says how the place can be full")
	}
	s, group := c.open(t, Given{}), c.group()
	save(t, s, group, three(1)...)
	c.takesNothing(t, s, group, c.Full, func() {})
}

// takesNothing wants a save refused while something is done to the place, and afterwards what was there before.
func (c *contract) takesNothing(t *testing.T, s offsetfile.Store, group string, begin func(testing.TB) func(), meanwhile func()) {
	t.Helper()
	seen, w := load(t, s, group, "t", "u").Store, writer(t, s, group, "t", "u")
	back := begin(t)
	meanwhile()
	fresh, _ := w.Save(Within(t, time.Second), seen, changesOf([]put{{"t", 7, 2}}), offsetfile.Facts{Now: now}) // of a place that is empty nothing else is expected
	changes, _ := w.Save(Within(t, time.Second), seen, changesOf(three(2)), offsetfile.Facts{Now: now})
	back()
	unmade(t, fresh)
	unmade(t, changes)
	if got := offset(t, s, group, "t", 7); got != offsets.None {
		t.Errorf("partition 7: got %d, want none", got)
	}
	c.asTold(t, s, group, changes, 1, 2)
}

func (c *contract) cancelled(t *testing.T) {
	s, group := c.open(t, Given{}), c.group()
	save(t, s, group, put{"t", 0, 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Load(ctx, group, []string{"t"}, false); !errors.Is(err, context.Canceled) {
		t.Errorf("load: got %v, want cancelled", err)
	}
	if _, _, err := s.Groups(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("groups: got %v, want cancelled", err)
	}
	w := writer(t, s, group, "t")
	changes, _ := w.Save(ctx, load(t, s, group, "t").Store, changesOf([]put{{"t", 0, 2}}), offsetfile.Facts{Now: now})
	if r := changes[0].Result; r != offsets.NotTried && r != offsets.Failed {
		t.Errorf("save: got %s, want nothing written", r)
	}
	holds(t, s, group, "t 0 1")
}

// many is 1,000 partitions of a topic at one offset.
func many(topic string, at int64) []put {
	all := make([]put, 1000)
	for i := range all {
		all[i] = put{topic, int32(i), at}
	}
	return all
}

func (c *contract) thousand(t *testing.T) {
	addr := c.Addr
	var p *tcpproxy.Proxy
	if addr != "" && c.NoProxy == "" {
		p = Proxy(t, addr)
		addr = p.Addr()
	}
	s, group := c.open(t, Given{Addr: addr}), c.group()
	changes, _ := save(t, s, group, many("t", 1)...)
	written(t, changes)
	h := load(t, s, group, "t")
	if len(h.Entries) != 1000 {
		t.Fatalf("got %d entries, want 1000", len(h.Entries))
	}
	if p == nil {
		return
	}
	w := writer(t, s, group, "t")
	p.Count()
	changes, _ = w.Save(Within(t, patience), h.Store, changesOf(many("t", 2)), offsetfile.Facts{Now: now})
	sent, received, turns := p.Counted()
	written(t, changes)
	t.Logf("a save of 1,000 partitions: %d round trips, %d bytes sent, %d received", turns, sent, received)
	if c.Turns > 0 && turns > c.Turns {
		t.Errorf("a save of 1,000 partitions: got %d round trips, want at most %d", turns, c.Turns)
	}
}

// isAway wants the error of a store that did not answer.
func isAway(t testing.TB, what string, err error) {
	t.Helper()
	var away *offsetfile.AwayError
	if !errors.As(err, &away) || away.Store == "" {
		t.Errorf("%s: got %v, want the store to be away", what, err)
	}
}

// unmade wants a save that says it was not made, or that nobody knows.
func unmade(t testing.TB, changes []offsets.Change) {
	t.Helper()
	for _, ch := range changes {
		switch ch.Result {
		case offsets.Failed, offsets.NotTried, offsets.Unverified:
		default:
			t.Errorf("partition %d: got %s, want it not to be made", ch.Partition, ch.Result)
		}
	}
}

// Proxy stands between a store and its service until the test ends.
func Proxy(t testing.TB, target string) *tcpproxy.Proxy {
	t.Helper()
	p, err := tcpproxy.New(target, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// behindProxy opens the store through a proxy, which can do what a network does.
func (c *contract) behindProxy(t *testing.T) (*tcpproxy.Proxy, offsetfile.Store, string) {
	t.Helper()
	if c.Addr == "" || c.NoProxy != "" {
		t.Skip(cmp.Or(c.NoProxy, "there is no service"))
	}
	p := Proxy(t, c.Addr)
	return p, c.open(t, Given{Addr: p.Addr()}), c.group()
}

func (c *contract) away(t *testing.T) {
	p, s, group := c.behindProxy(t)
	save(t, s, group, three(1)...)
	seen := load(t, s, group, "t", "u").Store
	w := writer(t, s, group, "t", "u")
	p.Away()
	_, err := s.Load(Within(t, time.Second), group, []string{"t"}, false)
	isAway(t, "load", err)
	_, _, err = s.Groups(Within(t, time.Second))
	isAway(t, "groups", err)
	changes, _ := w.Save(Within(t, time.Second), seen, changesOf(three(2)), offsetfile.Facts{Now: now})
	unmade(t, changes)
	p.Back()
	c.asTold(t, s, group, changes, 1, 2)
	// It comes back while it is waited for.
	w = writer(t, s, group, "t", "u")
	seen = load(t, s, group, "t", "u").Store
	p.Away()
	back := time.AfterFunc(300*time.Millisecond, p.Back)
	defer back.Stop()
	changes, _ = w.Save(Within(t, patience), seen, changesOf(three(3)), offsetfile.Facts{Now: now})
	written(t, changes)
	holds(t, s, group, "t 0 3, t 1 3, u 0 3")
}

func (c *contract) slow(t *testing.T) {
	p, s, group := c.behindProxy(t)
	save(t, s, group, three(1)...)
	h := load(t, s, group, "t", "u")
	w := writer(t, s, group, "t", "u")
	p.Freeze()
	_, err := s.Load(Within(t, time.Second), group, []string{"t"}, false)
	isAway(t, "load", err)
	changes, _ := w.Save(Within(t, time.Second), h.Store, changesOf(three(2)), offsetfile.Facts{Now: now})
	unmade(t, changes)
	p.Cut() // what was frozen with them never arrives
	p.Thaw()
	c.asTold(t, s, group, changes, 1, 2)
	// Late, but in time.
	p.Freeze()
	thaw := time.AfterFunc(300*time.Millisecond, p.Thaw)
	defer thaw.Stop()
	if _, err := s.Load(Within(t, patience), group, []string{"t"}, false); err != nil {
		t.Errorf("late, but in time: %v", err)
	}
}

// cut hangs up after each of many numbers of bytes of a save and of its answer. The save goes on by itself: it looks up what was made.
func (c *contract) cut(t *testing.T) {
	p, s, group := c.behindProxy(t)
	save(t, s, group, three(0)...)
	w := writer(t, s, group, "t", "u")
	seen := load(t, s, group, "t", "u").Store
	p.Count()
	w.Save(Within(t, patience), seen, changesOf(three(1)), offsetfile.Facts{Now: now})
	sent, received, _ := p.Counted()
	n := int64(1)
	try := func(name string, at int, set func(int)) {
		old := n
		n++
		w := writer(t, s, group, "t", "u")
		seen := load(t, s, group, "t", "u").Store
		set(at)
		changes, _ := w.Save(Within(t, patience), seen, changesOf(three(n)), offsetfile.Facts{Now: now})
		p.Uncut()
		c.asTold(t, s, group, changes, old, n)
		written(t, changes)
		if t.Failed() {
			t.Fatalf("cut after %d bytes %s", at, name)
		}
	}
	for at := 1; at < sent; at += max(1, sent/25) {
		try("sent", at, p.CutUp)
	}
	for at := 1; at < received; at += max(1, received/10) {
		try("received", at, p.CutDown)
	}
}

// killed ends the service while it is written to, again and again.
func (c *contract) killed(t *testing.T) {
	if c.Kill == nil {
		t.Skip("there is no service to kill")
	}
	group := c.group()
	s := c.open(t, Given{})
	save(t, s, group, three(0)...)
	n := int64(0)
	for round := range 3 {
		seen := load(t, s, group, "t", "u").Store
		w, err := s.Writer(Within(t, patience), group, []string{"t", "u"})
		if err != nil {
			t.Fatal(err)
		}
		dead := make(chan struct{})
		wait := time.Duration(round) * 20 * time.Millisecond
		go func() {
			defer close(dead)
			time.Sleep(wait) // into the middle of the saves
			c.Kill(t)
		}()
		var changes []offsets.Change
		for alive := true; alive; {
			n++
			changes, seen = w.Save(Within(t, 2*time.Second), seen, changesOf(three(n)), offsetfile.Facts{Now: now})
			alive = !slices.ContainsFunc(changes, func(ch offsets.Change) bool { return ch.Result != offsets.Written })
			select {
			case <-dead:
				alive = false
			default:
			}
		}
		<-dead
		if err := w.Unlock(); err != nil {
			t.Error(err)
		}
		c.Start(t)
		c.asTold(t, s, group, changes, n-1, n)
		if t.Failed() {
			t.Fatalf("after kill %d", round+1)
		}
		n++
		changes, _ = save(t, s, group, three(n)...)
		written(t, changes)
	}
}
