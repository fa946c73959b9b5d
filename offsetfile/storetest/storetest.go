// Package storetest is the contract of [offsetfile.Store]: what every kind of store has to do, tried on the real service. A store's
// live test starts its service, says in a [Service] how it is reached, and calls [Run].
//
//	func TestContract(t *testing.T) {
//		s := live.Redis(t)
//		storetest.Run(t, storetest.Service{
//			Addr: s.Addr(),
//			Open: func(t testing.TB, g storetest.Given) offsetfile.Store { … redis.Open over g.Addr … },
//			Peek: …, Poke: …, Missing: …, Kill: s.Kill, Start: s.Start,
//		})
//	}
package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// Given is how a test wants its store opened.
type Given struct {
	Addr    string // HOST:PORT to go to: the service's own, or that of a proxy before it
	Params  string // to be added to the URL's parameters: "counts=last"; "" for none
	Options offsetfile.Options
}

// Service is a service with a store's root in it, which may be shared by all tests: each takes groups of its own.
type Service struct {
	// Open opens the store. It is closed by whoever wants it; tests clean up with t.
	Open func(t testing.TB, g Given) offsetfile.Store

	// Addr is where the service listens; "" if there is none, as for files.
	Addr string

	// Peek returns a value as it is held, past the store, and Poke puts one, whatever it says, as another program would; "" cannot be
	// told from nothing. Poke makes what the value is kept in.
	Peek func(t testing.TB, group, topic string, partition int32) string
	Poke func(t testing.TB, group, topic string, partition int32, text string)

	// Missing opens a store whose root is not there, in a service that is.
	Missing func(t testing.TB) offsetfile.Store

	// Broken makes the place of a topic such that it reads as the presence says: Denied, WrongType, Unreadable. Only what the service
	// can have.
	Broken map[offsets.Presence]func(t testing.TB, group, topic string)

	// OneBadAll says that a bad value spoils its topic as a whole, as a line does a file, but no other topic.
	OneBadAll bool

	// Kill ends the service as kill -9 does, and Start starts it again with what it had on disk, at the same address, ready for requests.
	// Both nil: not tried.
	Kill, Start func(t testing.TB)

	// Turns is how many round trips one save of 1,000 partitions of a topic may take, connecting left out; 0: not counted.
	Turns int
}

// Run tries the whole contract.
func Run(t *testing.T, s Service) {
	c := &contract{Service: s, run: strconv.FormatUint(rand.Uint64(), 36)}
	for _, part := range []struct {
		name string
		test func(*testing.T)
	}{
		{"nothing is stored", c.nothing},
		{"save and load", c.saveAndLoad},
		{"save again on what was saved", c.renewed},
		{"the same again", c.again},
		{"another writer in between", c.another},
		{"two at once", c.race},
		{"limits of numbers", c.limits},
		{"names", c.names},
		{"bad values", c.bad},
		{"what cannot be read", c.broken},
		{"missing root", c.missing},
		{"counts", c.counts},
		{"refused as a whole", c.whole},
		{"failing at each step", c.steps},
		{"cancelled", c.cancelled},
		{"a thousand partitions", c.thousand},
		{"away and back", c.away},
		{"slow", c.slow},
		{"cut off", c.cut},
		{"killed", c.killed},
	} {
		t.Run(part.name, part.test)
	}
}

type contract struct {
	Service
	run string

	mu     sync.Mutex
	groups int
}

// group is a group that nobody else has.
func (c *contract) group() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.groups++
	return fmt.Sprintf("g%d-%s", c.groups, c.run)
}

func (c *contract) open(t testing.TB, g Given) offsetfile.Store {
	t.Helper()
	if g.Addr == "" {
		g.Addr = c.Addr
	}
	s := c.Open(t, g)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// now is what the tests say the time of a save is.
var now = time.Date(2026, 11, 30, 1, 2, 3, 4e6, time.UTC)

// patience bounds what is expected to come to an end by itself.
const patience = time.Minute

func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func load(t testing.TB, s offsetfile.Store, group string, topics ...string) offsetfile.Holding {
	t.Helper()
	h, err := s.Load(within(t, patience), group, topics, false)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return h
}

// put is one value to be written.
type put struct {
	topic     string
	partition int32
	offset    int64
}

func changesOf(puts []put) []offsets.Change {
	var all []offsets.Change
	for _, p := range puts {
		all = append(all, offsets.Change{
			Key: offsets.Key{Topic: p.topic, Partition: p.partition}, Side: offsets.Stored, Verdict: offsets.Write,
			Old: offsets.NoValue, New: offsets.Value{Offset: p.offset, Epoch: offsets.None},
		})
	}
	return all
}

func topicsOf(puts []put) []string {
	names := map[string]bool{}
	for _, p := range puts {
		names[p.topic] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// save looks and saves.
func save(t testing.TB, s offsetfile.Store, group string, puts ...put) ([]offsets.Change, offsets.Store) {
	t.Helper()
	ctx := within(t, patience)
	w := writer(t, s, group, topicsOf(puts)...)
	h := load(t, s, group, topicsOf(puts)...)
	return w.Save(ctx, h.Store, changesOf(puts), offsetfile.Facts{Now: now})
}

func writer(t testing.TB, s offsetfile.Store, group string, topics ...string) offsetfile.Writer {
	t.Helper()
	w, err := s.Writer(within(t, patience), group, topics)
	if err != nil {
		t.Fatalf("writer: %v", err)
	}
	unlocked := false
	unlock := func() {
		if !unlocked {
			unlocked = true
			if err := w.Unlock(); err != nil {
				t.Errorf("unlock: %v", err)
			}
		}
	}
	t.Cleanup(unlock)
	return unlocking{w, unlock}
}

// unlocking gives a writer's locks back after its save, so that the next can take them.
type unlocking struct {
	offsetfile.Writer
	unlock func()
}

func (u unlocking) Save(ctx context.Context, seen offsets.Store, changes []offsets.Change, facts offsetfile.Facts) ([]offsets.Change, offsets.Store) {
	defer u.unlock()
	return u.Writer.Save(ctx, seen, changes, facts)
}

func written(t testing.TB, changes []offsets.Change) {
	t.Helper()
	for _, c := range changes {
		if c.Result != offsets.Written && c.Result != offsets.Already || c.Error != "" {
			t.Errorf("%s %d: got %s (%s), want written", c.Topic, c.Partition, c.Result, c.Error)
		}
	}
}

// held is what a holding says: "topic partition offset" of what is present, else its presence.
func held(h offsetfile.Holding) string {
	var all []string
	for _, k := range slices.SortedFunc(maps.Keys(h.Entries), offsets.Key.Compare) {
		e := h.Entries[k]
		if e.Presence == offsets.Present {
			all = append(all, fmt.Sprintf("%s %d %d", k.Topic, k.Partition, e.Offset))
		} else {
			all = append(all, fmt.Sprintf("%s %d %v", k.Topic, k.Partition, e.Presence))
		}
	}
	return strings.Join(all, ", ")
}

func holds(t testing.TB, s offsetfile.Store, group, want string, topics ...string) {
	t.Helper()
	if got := held(load(t, s, group, topics...)); got != want {
		t.Errorf("held: got %q, want %q", got, want)
	}
}

// offset is one value as it stands now; None if there is none.
func offset(t testing.TB, s offsetfile.Store, group, topic string, partition int32) int64 {
	t.Helper()
	e := load(t, s, group, topic).Entries[offsets.Key{Topic: topic, Partition: partition}]
	if e.Problem() {
		t.Fatalf("%s %d: %s", topic, partition, e.Reason)
	}
	return offsets.ValueOf(e).Offset
}

func (c *contract) nothing(t *testing.T) {
	s, group := c.open(t, Given{}), c.group()
	save(t, s, c.group(), put{"t", 0, 1}) // the store itself is not empty
	h := load(t, s, group, "t")
	if len(h.Entries) > 0 {
		t.Errorf("entries: got %v, want none", h.Entries)
	}
	topic, ok := h.Store.Topic("t")
	if !ok || topic.Presence != offsets.Absent || topic.Path == "" || h.Store.Path == "" {
		t.Errorf("got %+v at %q, want an absent topic with the places looked at", topic, h.Store.Path)
	}
	if h := load(t, s, group); len(h.Entries) > 0 || h.Store.Trouble != nil {
		t.Errorf("all topics: got %+v, want nothing", h)
	}
	groups, _, err := s.Groups(within(t, patience))
	if err != nil || slices.Contains(groups, group) {
		t.Errorf("groups: got %q, %v; %q has nothing", groups, err, group)
	}
}

func (c *contract) saveAndLoad(t *testing.T) {
	s, group, neighbour := c.open(t, Given{}), c.group(), c.group()
	changes, _ := save(t, s, neighbour, put{"a", 0, 1})
	written(t, changes)
	changes, _ = save(t, s, group, put{"a", 0, 5}, put{"a", 2, 7}, put{"b", 11, 0})
	written(t, changes)
	holds(t, s, group, "a 0 5, a 2 7, b 11 0")
	holds(t, s, group, "b 11 0", "b", "c")
	holds(t, c.open(t, Given{}), group, "a 0 5, a 2 7", "a")
	h := load(t, s, group)
	for _, topic := range h.Store.Topics {
		if want := map[string]int32{"a": 2, "b": 11}[topic.Topic]; topic.Presence != offsets.Present || topic.Highest != want {
			t.Errorf("topic %q: got %v, highest %d; want present, %d", topic.Topic, topic.Presence, topic.Highest, want)
		}
	}
	if s.Can().Times && h.Store.Saved.IsZero() {
		t.Error("the time of the save is not known")
	}
	groups, _, err := s.Groups(within(t, patience))
	if err != nil || !slices.Contains(groups, group) || !slices.Contains(groups, neighbour) || !slices.IsSorted(groups) {
		t.Errorf("groups: got %q, %v; want %q and %q, sorted", groups, err, group, neighbour)
	}
	// What a save does not name stays; none removes.
	changes, _ = save(t, s, group, put{"a", 0, offsets.None}, put{"a", 1, 9})
	written(t, changes)
	holds(t, s, group, "a 1 9, a 2 7, b 11 0")
	holds(t, s, neighbour, "a 0 1")
	changes, _ = save(t, s, group, put{"b", 11, offsets.None})
	written(t, changes)
	holds(t, s, group, "a 1 9, a 2 7")
}

func (c *contract) renewed(t *testing.T) {
	s, group := c.open(t, Given{}), c.group()
	h := load(t, s, group, "a", "b")
	w, err := s.Writer(within(t, patience), group, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Unlock()
	seen := h.Store
	for n := range int64(5) {
		puts := []put{{"a", 0, 10 * n}, {"a", 1, 10*n + 1}, {"b", int32(n), n}}
		if n == 3 {
			puts = append(puts, put{"b", 0, offsets.None})
		}
		var changes []offsets.Change
		changes, seen = w.Save(within(t, patience), seen, changesOf(puts), offsetfile.Facts{Now: now})
		written(t, changes)
	}
	holds(t, s, group, "a 0 40, a 1 41, b 1 1, b 2 2, b 3 3, b 4 4")
}

func (c *contract) again(t *testing.T) {
	s, group := c.open(t, Given{}), c.group()
	for range 3 {
		changes, _ := save(t, s, group, put{"t", 0, 5}, put{"t", 1, 6})
		written(t, changes)
		holds(t, s, group, "t 0 5, t 1 6")
	}
	changes, _ := save(t, s, group, put{"t", 7, offsets.None})
	if changes[0].Result != offsets.Already {
		t.Errorf("what is not there is removed: got %s, want already", changes[0].Result)
	}
}

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
			save(t, s, group, tt.before, put{"t", 9, 1})
			seen := load(t, s, group, "t").Store
			changes, _ := save(t, c.open(t, Given{}), group, tt.other)
			written(t, changes)
			changes, _ = writer(t, s, group, "t").Save(within(t, patience), seen, changesOf([]put{tt.mine, {"t", 9, 2}}), offsetfile.Facts{Now: now})
			if r := changes[0].Result; r != offsets.Failed && r != offsets.NotTried {
				t.Errorf("got %s, want a refusal", r)
			}
			if !changes[0].Refused && changes[0].Verdict != offsets.Refuse {
				t.Errorf("it is not said that it was refused: %+v", changes[0])
			}
			if got := offset(t, s, group, "t", 0); got != tt.other.offset {
				t.Errorf("got %d, want the other's %d", got, tt.other.offset)
			}
			if got := offset(t, s, group, "t", 9); s.Can().Atomic >= offsetfile.OneTopic && got != 1 {
				t.Errorf("the topic's other partition: got %d, want it untouched", got)
			}
		})
	}
}

func (c *contract) race(t *testing.T) {
	s := c.open(t, Given{})
	if !s.Can().CompareAndSet || s.Can().Locks {
		t.Skip("it needs a store that compares and does not lock")
	}
	group := c.group()
	save(t, s, group, put{"t", 0, 0})
	var wg sync.WaitGroup
	wins := make([]bool, 8)
	seen := load(t, s, group, "t").Store
	for i := range wins {
		mine := c.open(t, Given{})
		wg.Go(func() {
			w, err := mine.Writer(within(t, patience), group, []string{"t"})
			if err != nil {
				t.Error(err)
				return
			}
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

func (c *contract) limits(t *testing.T) {
	s, group := c.open(t, Given{}), c.group()
	puts := []put{{"t", 0, 0}, {"t", 1, 1}, {"t", 2, math.MaxInt64}, {"t", 3, 1 << 53}, {"t", math.MaxInt32, math.MaxInt64 - 1}}
	changes, _ := save(t, s, group, puts...)
	written(t, changes)
	var want []string
	for _, p := range puts {
		want = append(want, fmt.Sprintf("t %d %d", p.partition, p.offset))
	}
	holds(t, s, group, strings.Join(want, ", "))
	changes, _ = save(t, s, group, put{"t", 0, -2})
	if changes[0].Result == offsets.Written || offset(t, s, group, "t", 0) != 0 {
		t.Errorf("a negative offset: got %s, want a refusal", changes[0].Result)
	}
}

// Names are strange names of groups and topics, each another one.
func Names() []string {
	return []string{
		"plain", "Plain", "with space", " outer ", "a:b", "a/b", "/a", "a/", "a//b", "..", ".", "...", "a%3Ab", "a%b", "%", "*", "a*", "?", "[a]", "{a}", "{topic}",
		`quo"te`, "quo'te", `back\slash`, "semi;colon", "a&b=c", "a+b", "#hash", "größe", "日本", "🦉", "e\u0301", "\u00e9", "a\tb", "line\nfeed", "-", "--", "_", "$HOME", "`id`",
		"0", "a,b", "a|b", "<a>", "a@b", "offsets", "null", "%_", strings.Repeat("x", 249), strings.Repeat("é/", 60), strings.Repeat("long", 250),
	}
}

// A strange group is tried with a strange topic, and with a plain one: what a store makes of one name must not hide what it makes of the other.
func (c *contract) names(t *testing.T) {
	s := c.open(t, Given{})
	type place struct{ group, topic string }
	known := map[place]int64{}
	for i, name := range Names() {
		for _, at := range []place{{name + c.run, name}, {name + c.run + "t", "t"}} {
			changes, err := trySave(t, s, at.group, put{at.topic, 0, int64(i)})
			var no *offsetfile.NameError
			if errors.As(err, &no) {
				t.Logf("no place: %v", err)
				continue
			}
			if err != nil {
				t.Errorf("%q: %v", at, err)
				continue
			}
			written(t, changes)
			known[at] = int64(i)
		}
	}
	if len(known) < len(Names()) {
		t.Errorf("only %d of %d names have a place", len(known), 2*len(Names()))
	}
	groups, notes, err := s.Groups(within(t, patience))
	if err != nil {
		t.Fatal(err)
	}
	for at, n := range known {
		want := fmt.Sprintf("%s 0 %d", at.topic, n)
		if got := held(load(t, s, at.group)); got != want {
			t.Errorf("%q, all topics: got %q, want %q", at, got, want)
		}
		holds(t, s, at.group, want, at.topic)
		if !slices.Contains(groups, at.group) {
			t.Errorf("%q is not listed (%q)", at.group, notes)
		}
	}
}

func trySave(t testing.TB, s offsetfile.Store, group string, p put) ([]offsets.Change, error) {
	t.Helper()
	w, err := s.Writer(within(t, patience), group, []string{p.topic})
	if err != nil {
		return nil, err
	}
	defer w.Unlock()
	h, err := s.Load(within(t, patience), group, []string{p.topic}, false)
	if err != nil {
		return nil, err
	}
	changes, _ := w.Save(within(t, patience), h.Store, changesOf([]put{p}), offsetfile.Facts{Now: now})
	return changes, nil
}

func (c *contract) bad(t *testing.T) {
	s := c.open(t, Given{})
	for name, text := range map[string]string{
		"word": "abc", "negative": "-1", "sentinel": "-2", "too large": "9223372036854775808", "fraction": "1.5", "exponent": "1e3", "two": "1 2", "plus": "+1", "hex": "0x10",
	} {
		t.Run(name, func(t *testing.T) {
			group := c.group()
			save(t, s, group, put{"t", 0, 5}, put{"t", 2, 6}, put{"other", 0, 7})
			c.Poke(t, group, "t", 1, text)
			h := load(t, s, group)
			if got := h.Entries[offsets.Key{Topic: "other"}]; got.Presence != offsets.Present {
				t.Errorf("the other topic: got %+v, want it present", got)
			}
			reason := ""
			if c.OneBadAll {
				topic, _ := h.Store.Topic("t")
				reason = topic.Reason
				if topic.Presence != offsets.Damaged {
					t.Errorf("the topic: got %v, want damaged", topic.Presence)
				}
			} else {
				e := h.Entries[offsets.Key{Topic: "t", Partition: 1}]
				reason = e.Reason
				if e.Presence != offsets.Damaged {
					t.Errorf("got %+v, want damaged", e)
				}
				for _, p := range []int32{0, 2} {
					if e := h.Entries[offsets.Key{Topic: "t", Partition: p}]; e.Presence != offsets.Present {
						t.Errorf("partition %d: got %+v, want it present", p, e)
					}
				}
			}
			if reason == "" {
				t.Error("it is not said why")
			}
			// What is damaged is written over only when that was asked for.
			w := writer(t, s, group, "t")
			h, err := s.Load(within(t, patience), group, []string{"t"}, true)
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := h.Entries[offsets.Key{Topic: "t", Partition: 1}]; ok {
				t.Errorf("salvaged: got %+v, want no entry", e)
			}
			if len(h.Store.Notes) == 0 {
				t.Error("what was lost is not noted")
			}
			changes, _ := w.Save(within(t, patience), h.Store, changesOf([]put{{"t", 1, 9}}), offsetfile.Facts{Now: now})
			written(t, changes)
			holds(t, s, group, "t 0 5, t 1 9, t 2 6", "t")
		})
	}
}

func (c *contract) broken(t *testing.T) {
	s := c.open(t, Given{})
	for presence, breaks := range c.Broken {
		t.Run(presence.String(), func(t *testing.T) {
			group := c.group()
			save(t, s, group, put{"other", 0, 7})
			breaks(t, group, "t")
			h := load(t, s, group, "other", "t")
			topic, _ := h.Store.Topic("t")
			if topic.Presence != presence || topic.Reason == "" {
				t.Errorf("got %v (%s), want %v with a reason", topic.Presence, topic.Reason, presence)
			}
			if got := h.Entries[offsets.Key{Topic: "other"}].Offset; got != 7 {
				t.Errorf("the other topic: got %d, want 7", got)
			}
			w, err := s.Writer(within(t, patience), group, []string{"t"})
			if err != nil {
				return // so nothing is written
			}
			defer w.Unlock()
			changes, _ := w.Save(within(t, patience), h.Store, changesOf([]put{{"t", 0, 1}}), offsetfile.Facts{Now: now})
			if changes[0].Result != offsets.NotTried && changes[0].Result != offsets.Failed {
				t.Errorf("a save: got %s, want a refusal", changes[0].Result)
			}
		})
	}
}

func (c *contract) missing(t *testing.T) {
	s := c.Missing(t)
	defer s.Close()
	_, _, err := s.Groups(within(t, patience))
	isNothing(t, err)
	_, err = s.Load(within(t, patience), "g", []string{"t"}, false)
	isNothing(t, err)
}

func isNothing(t testing.TB, err error) {
	t.Helper()
	var nothing *offsetfile.NothingError
	if errors.Is(err, offsetfile.ErrNoRoot) {
		return
	}
	if !errors.As(err, &nothing) || nothing.Store == "" || nothing.Looked == "" {
		t.Errorf("got %v, want nothing there, and what was looked at", err)
	}
}

func (c *contract) counts(t *testing.T) {
	last, next, group := c.open(t, Given{Params: "counts=last"}), c.open(t, Given{}), c.group()
	changes, _ := save(t, last, group, put{"t", 0, 42}, put{"t", 1, math.MaxInt64})
	written(t, changes)
	if got := c.Peek(t, group, "t", 0); got != "41" {
		t.Errorf("the last record is 41, the next 42: the store holds %s", got)
	}
	holds(t, last, group, fmt.Sprintf("t 0 42, t 1 %d", int64(math.MaxInt64)))
	holds(t, next, group, fmt.Sprintf("t 0 41, t 1 %d", int64(math.MaxInt64-1)))
	changes, _ = save(t, last, group, put{"t", 0, 42}, put{"t", 1, math.MaxInt64})
	written(t, changes) // a round trip moves nothing
	if got := c.Peek(t, group, "t", 0); got != "41" {
		t.Errorf("after saving what was loaded: the store holds %s", got)
	}
	// There is no last record before the first. The store holds that, or refuses it; it never holds anything else.
	changes, _ = save(t, last, group, put{"t", 0, 0})
	want := int64(0)
	if changes[0].Result != offsets.Written {
		want = 42
	}
	if got := offset(t, last, group, "t", 0); got != want {
		t.Errorf("0, the result is %s: got %d, want %d", changes[0].Result, got, want)
	}
}

// A save with a change that cannot be is no save.
func (c *contract) whole(t *testing.T) {
	s, group := c.open(t, Given{}), c.group()
	save(t, s, group, put{"t", 0, 5}, put{"t", 1, 6})
	changes, _ := save(t, s, group, put{"t", 0, 7}, put{"t", 0, 8}, put{"t", 1, 9})
	for _, ch := range changes {
		if ch.Result != offsets.NotTried || ch.Error == "" {
			t.Errorf("%d: got %s (%s), want not tried, with a reason", ch.Partition, ch.Result, ch.Error)
		}
	}
	holds(t, s, group, "t 0 5, t 1 6")
	keep := changesOf([]put{{"t", 0, 7}, {"t", 1, 8}, {"t", 2, 9}})
	keep[0].Verdict, keep[1].Side, keep[2].Result = offsets.Keep, offsets.Committed, offsets.Written
	changes, _ = writer(t, s, group, "t").Save(within(t, patience), load(t, s, group, "t").Store, keep, offsetfile.Facts{Now: now})
	for i := range changes {
		if changes[i] != keep[i] {
			t.Errorf("what is not to be written: got %+v, want it as it was", changes[i])
		}
	}
	holds(t, s, group, "t 0 5, t 1 6")
}

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
	old := []put{{"t", 0, 1}, {"t", 1, 1}, {"t", 2, 1}}
	changes, _ := save(t, s, group, old...)
	written(t, changes)
	all := len(names)
	if all == 0 {
		t.Fatal("a save has no steps")
	}
	for i := range all {
		names, fail = nil, -1
		save(t, s, group, old...)
		names, fail = nil, i
		w, err := s.Writer(within(t, patience), group, []string{"t"})
		if err == nil {
			changes, _ = w.Save(within(t, patience), load(t, s, group, "t").Store, changesOf([]put{{"t", 0, 2}, {"t", 1, 2}, {"t", 2, 2}}), offsetfile.Facts{Now: now})
			if err := w.Unlock(); err != nil {
				t.Error(err)
			}
		} else {
			changes = nil
		}
		fail = -1
		c.asTold(t, s, group, changes, 1, 2)
		changes, _ = save(t, s, group, put{"t", 0, 3}, put{"t", 1, 3}, put{"t", 2, 3})
		written(t, changes)
		holds(t, s, group, "t 0 3, t 1 3, t 2 3")
	}
}

// asTold compares what stands with what the save said of itself. No changes stand for a save that did not begin.
func (c *contract) asTold(t testing.TB, s offsetfile.Store, group string, changes []offsets.Change, old, next int64) {
	t.Helper()
	h := load(t, s, group, "t")
	stands := map[int64]int{}
	for k, e := range h.Entries {
		if e.Presence != offsets.Present || e.Offset != old && e.Offset != next {
			t.Errorf("partition %d: got %+v, want %d or %d", k.Partition, e, old, next)
		}
		stands[e.Offset]++
	}
	if s.Can().Atomic >= offsetfile.OneTopic && len(stands) > 1 {
		t.Errorf("a topic is to stand as a whole: got %s", held(h))
	}
	for _, ch := range changes {
		got := h.Entries[ch.Key].Offset
		switch ch.Result {
		case offsets.Written, offsets.Already:
			if got != next {
				t.Errorf("partition %d: said to be %s, but has %d", ch.Partition, ch.Result, got)
			}
		case offsets.Failed, offsets.NotTried:
			if got != old {
				t.Errorf("partition %d: said to be %s (%s), but has %d", ch.Partition, ch.Result, ch.Error, got)
			}
		case offsets.Unverified:
		default:
			t.Errorf("partition %d: got the result %q", ch.Partition, ch.Result)
		}
	}
	if len(changes) == 0 && stands[next] > 0 {
		t.Errorf("nothing was begun, but there is %s", held(h))
	}
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
	var p *Proxy
	if addr != "" {
		p = NewProxy(t, addr)
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
	changes, _ = w.Save(within(t, patience), h.Store, changesOf(many("t", 2)), offsetfile.Facts{Now: now})
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

func (c *contract) away(t *testing.T) {
	if c.Addr == "" {
		t.Skip("there is no service")
	}
	p := NewProxy(t, c.Addr)
	s, group := c.open(t, Given{Addr: p.Addr()}), c.group()
	save(t, s, group, put{"t", 0, 1}, put{"t", 1, 1}, put{"t", 2, 1})
	seen := load(t, s, group, "t").Store
	w := writer(t, s, group, "t")
	p.Away()
	_, err := s.Load(within(t, time.Second), group, []string{"t"}, false)
	isAway(t, "load", err)
	_, _, err = s.Groups(within(t, time.Second))
	isAway(t, "groups", err)
	changes, _ := w.Save(within(t, time.Second), seen, changesOf([]put{{"t", 0, 2}, {"t", 1, 2}, {"t", 2, 2}}), offsetfile.Facts{Now: now})
	unmade(t, changes)
	p.Back()
	c.asTold(t, s, group, changes, 1, 2)
	// It comes back while it is waited for.
	w = writer(t, s, group, "t")
	seen = load(t, s, group, "t").Store
	p.Away()
	back := time.AfterFunc(300*time.Millisecond, p.Back)
	defer back.Stop()
	changes, _ = w.Save(within(t, patience), seen, changesOf([]put{{"t", 0, 3}, {"t", 1, 3}, {"t", 2, 3}}), offsetfile.Facts{Now: now})
	written(t, changes)
	holds(t, s, group, "t 0 3, t 1 3, t 2 3")
}

func (c *contract) slow(t *testing.T) {
	if c.Addr == "" {
		t.Skip("there is no service")
	}
	p := NewProxy(t, c.Addr)
	s, group := c.open(t, Given{Addr: p.Addr()}), c.group()
	save(t, s, group, put{"t", 0, 1}, put{"t", 1, 1}, put{"t", 2, 1})
	h := load(t, s, group, "t")
	w := writer(t, s, group, "t")
	p.Freeze()
	_, err := s.Load(within(t, time.Second), group, []string{"t"}, false)
	isAway(t, "load", err)
	changes, _ := w.Save(within(t, time.Second), h.Store, changesOf([]put{{"t", 0, 2}, {"t", 1, 2}, {"t", 2, 2}}), offsetfile.Facts{Now: now})
	unmade(t, changes)
	p.change(p.hangUp) // what was frozen with them never arrives
	p.Thaw()
	c.asTold(t, s, group, changes, 1, 2)
	// Late, but in time.
	p.Freeze()
	thaw := time.AfterFunc(300*time.Millisecond, p.Thaw)
	defer thaw.Stop()
	if _, err := s.Load(within(t, patience), group, []string{"t"}, false); err != nil {
		t.Errorf("late, but in time: %v", err)
	}
}

// cut hangs up after each of many numbers of bytes of a save and of its answer. The save goes on by itself: it looks up what was made.
func (c *contract) cut(t *testing.T) {
	if c.Addr == "" {
		t.Skip("there is no service")
	}
	p := NewProxy(t, c.Addr)
	s, group := c.open(t, Given{Addr: p.Addr()}), c.group()
	save(t, s, group, put{"t", 0, 0}, put{"t", 1, 0}, put{"t", 2, 0})
	w := writer(t, s, group, "t")
	seen := load(t, s, group, "t").Store
	p.Count()
	w.Save(within(t, patience), seen, changesOf([]put{{"t", 0, 1}, {"t", 1, 1}, {"t", 2, 1}}), offsetfile.Facts{Now: now})
	sent, received, _ := p.Counted()
	n := int64(1)
	try := func(name string, at int, set func(int)) {
		old := n
		n++
		w := writer(t, s, group, "t")
		seen := load(t, s, group, "t").Store
		set(at)
		changes, _ := w.Save(within(t, patience), seen, changesOf([]put{{"t", 0, n}, {"t", 1, n}, {"t", 2, n}}), offsetfile.Facts{Now: now})
		p.change(func() { p.cut = [2]int{-1, -1} })
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
	puts := func(n int64) []put { return []put{{"t", 0, n}, {"t", 1, n}, {"t", 2, n}} }
	save(t, s, group, puts(0)...)
	n := int64(0)
	for round := range 3 {
		seen := load(t, s, group, "t").Store
		w, err := s.Writer(within(t, patience), group, []string{"t"})
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
			changes, seen = w.Save(within(t, 2*time.Second), seen, changesOf(puts(n)), offsetfile.Facts{Now: now})
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
		changes, _ = save(t, s, group, puts(n)...)
		written(t, changes)
	}
}
