// Package storetest is the contract of [offsetfile.Store]: what every kind of store has to do, tried on the real service. A store's
// live test starts its service, says in a [Service] how it is reached, and calls [Run]: offsetfile/redis/contract_live_test.go is one.
//
// What a store says that it can do ([offsetfile.Abilities]) is tried, and so is that it does not pretend to what it does not claim. Of a
// store that is only read, what can be read is tried: Fill puts something there, Missing has nothing, Broken or Unbroken is set as of any
// other, and the rest stays empty.
//
// A store on this machine has no Addr, and no service that keeps its writers apart and leaves alone what is not its own. One that is written
// to has to be tried with what others keep in its files, too (Others), with a file that cannot be read but could be replaced (Replaceable), and
// with another process. That is the test's own binary, which runs the test again up to [Run]: what is before it makes the store in the folder
// of [Folder] unless it is there.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
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

	// Addr is where the service listens; "" of a store on this machine, as for files.
	Addr string

	// Folder is where a store on this machine is, for another process to find it: what [Folder] returned.
	Folder string

	// NoProxy says why the way to the service is not tried, which is done through a proxy.
	NoProxy string

	// Peek returns a value as it is held, past the store, and Poke puts one, whatever it says, as another program would; "" cannot be
	// told from nothing. Poke makes what the value is kept in.
	Peek func(t testing.TB, group, topic string, partition int32) string
	Poke func(t testing.TB, group, topic string, partition int32, text string)

	// Fill lets a store that is only read hold just these texts of a group, past the store, as the program does that writes them. One that
	// names no groups holds them of all. nil if Can().Write is set.
	Fill func(t testing.TB, group string, texts map[offsets.Key]string)

	// Missing opens a store whose root is not there, in a service that is. place is a word of letters and digits, another for each root:
	// the same word opens the same one again.
	Missing func(t testing.TB, place string, o offsetfile.Options) offsetfile.Store

	// NotMade says that what Missing opens is not made by a save, although the store claims Creates.
	NotMade bool

	// Broken makes the place of a topic such that it reads as the presence says: Denied, WrongType, Unreadable. Only what the service
	// can have. Of a store that is only read, its Trouble may say so instead.
	Broken map[offsets.Presence]func(t testing.TB, group, topic string)

	// Unbroken says why the place of a topic cannot be such, where Broken is empty.
	Unbroken string

	// Unreadable are ways in which the place of a topic cannot be read, nor written, until back is called, by what they are. Usually nothing of
	// the store can: a file stands where a folder was, see [InTheWay]. A store on this machine needs [Replaceable] among them; what a service
	// does is tried on its connections.
	Unreadable map[string]func(t testing.TB, group, topic string) (back func())

	// Others puts something into the place of a topic that is not the store's, as another program would: what stands is to be the same
	// after each save. Of a file that is lines of others, the last one without its end, its mode, and that the path is a link to it.
	Others func(t testing.TB, group, topic string) (stands func() string)

	// Alone says why nothing else can be there. A store on this machine needs it, or Others.
	Alone string

	// Full lets the place be read, and take nothing more, until back is called; nil: not tried.
	Full func(t testing.TB) (back func())

	// Spoil makes a value damaged in a way that Poke cannot, such as a second row of a table without a key. By what it is.
	Spoil map[string]func(t testing.TB, group, topic string, partition int32)

	// TextOnly says that values cannot be bytes that are no UTF-8.
	TextOnly bool

	// OneBadAll says that a bad value spoils its topic as a whole, as a line does a file, but no other topic.
	OneBadAll bool

	// Kill ends the service as kill -9 does, and Start starts it again with what it had on disk, at the same address, ready for requests.
	// Both nil: not tried.
	Kill, Start func(t testing.TB)

	// Turns is how many round trips one save of 1,000 partitions of a topic may take, connecting left out; 0: not counted.
	Turns int
}

// Replaceable is the way to be Unreadable in which each store on this machine is tried that is written to: what cannot be read is there
// still, and a save could put its own in the place of it. [TooLarge] is one.
const Replaceable = "it could be replaced"

// TooLarge is an Unreadable, for root, too: the file at a path is larger than a store reads.
func TooLarge(path func(group, topic string) string) func(testing.TB, string, string) (back func()) {
	const size = 1 << 30 // which takes no room
	return func(t testing.TB, group, topic string) func() {
		t.Helper()
		file := path(group, topic)
		before, err := os.Stat(file)
		if err == nil {
			err = os.Truncate(file, size)
		}
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			after, err := os.Stat(file)
			if err != nil || !os.SameFile(before, after) || after.Size() != size {
				t.Fatalf("%s, which could not be read, was replaced: %v", file, err)
			}
			if err := os.Truncate(file, before.Size()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// InTheWay is an Unreadable: a file stands where a folder was.
func InTheWay(folder string) func(testing.TB, string, string) (back func()) {
	return func(t testing.TB, _, _ string) func() {
		t.Helper()
		if err := errors.Join(os.Rename(folder, folder+".away"), os.WriteFile(folder, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := errors.Join(os.Remove(folder), os.Rename(folder+".away", folder)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Run tries the whole contract.
func Run(t *testing.T, s Service) {
	c := &contract{Service: s, run: strconv.FormatUint(rand.Uint64(), 36)}
	type part struct {
		name string
		test func(*testing.T)
	}
	parts := []part{
		{"nothing is stored", c.nothing},
		{"save and load", c.saveAndLoad},
		{"save again on what was saved", c.renewed},
		{"the same again", c.again},
		{"another writer in between", c.another},
		{"two at once", c.race},
		{"many at once, each its own", c.apart},
		{"again and again at once", c.againAtOnce},
		{"another process at once", c.process},
		{"locks", c.locks},
		{"what is kept beside", c.beside},
		{"what others keep there", c.others},
		{"limits of numbers", c.limits},
		{"names", c.names},
		{"bad values", c.bad},
		{"bad values of another group", c.badNeighbour},
		{"what cannot be read", c.broken},
		{"nothing can be read", c.unreadable},
		{"nothing can be written", c.full},
		{"missing root", c.missing},
		{"making the root", c.makeRoot},
		{"counts", c.counts},
		{"refused as a whole", c.whole},
		{"failing at each step", c.steps},
		{"cancelled", c.cancelled},
		{"a thousand partitions", c.thousand},
		{"away and back", c.away},
		{"slow", c.slow},
		{"cut off", c.cut},
		{"killed", c.killed},
	}
	if !c.open(t, Given{}).Can().Write {
		parts = []part{
			{"only read", c.onlyRead},
			{"values", c.read},
			{"names", c.readNames},
			{"groups", c.readGroups},
			{"bad values", c.readBad},
			{"what cannot be read", c.readBroken},
			{"nothing can be read", c.unreadable},
			{"missing root", c.missing},
		}
	}
	for _, p := range parts {
		t.Run(p.name, p.test)
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

func load(t testing.TB, s offsetfile.Store, group string, topics ...string) offsetfile.Holding {
	t.Helper()
	h, err := s.Load(Within(t, patience), group, topics, false)
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
	ctx := Within(t, patience)
	w := writer(t, s, group, topicsOf(puts)...)
	h := load(t, s, group, topicsOf(puts)...)
	return w.Save(ctx, h.Store, changesOf(puts), offsetfile.Facts{Now: now})
}

func writer(t testing.TB, s offsetfile.Store, group string, topics ...string) offsetfile.Writer {
	t.Helper()
	w, err := s.Writer(Within(t, patience), group, topics)
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

// refused wants every change refused, with a reason.
func refused(t testing.TB, changes ...offsets.Change) {
	t.Helper()
	for _, c := range changes {
		if r := c.Result; r != offsets.Failed && r != offsets.NotTried {
			t.Errorf("%s %d: got %s, want a refusal", c.Topic, c.Partition, r)
		}
		if !c.Refused && c.Verdict != offsets.Refuse || c.Error == "" {
			t.Errorf("%s %d: it is not said that it was refused, and why: %+v", c.Topic, c.Partition, c)
		}
	}
}

// held is what a holding says: "topic partition offset" of what is present, else its presence; and topics that could not be read.
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
	for _, topic := range h.Store.Topics {
		if topic.Presence != offsets.Present && topic.Presence != offsets.Absent {
			all = append(all, fmt.Sprintf("%s %v", topic.Topic, topic.Presence))
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
