package offsetfile_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/offsetfile/storetest"
)

// shelf is a small service of values, as far as the contract of Over needs one: a line of JSON each way, all edits of a request
// together, under compare-and-set.
type shelf struct {
	addr string

	mu     sync.Mutex
	l      net.Listener
	conns  map[net.Conn]bool
	roots  map[string]bool   // what is there to put values in; "" always is
	values map[string]string // root, group, topic and partition as JSON → number
	hidden bool              // it refuses to be read or written
	full   bool              // it refuses to be written
}

// twice stands between two values of one partition, which the shelf itself calls damaged.
const twice = " and "

type question struct {
	Root   string
	Create bool // make it, for a write
	Group  string
	Topics []string
	Edits  []offsetfile.Edit
}

type answer struct {
	NoRoot  bool
	Refused bool
	Groups  []string
	Topics  []offsetfile.FoundTopic
	Changed []int // edits whose old value no longer stands
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{addr: "127.0.0.1:0", roots: map[string]bool{"": true}, values: map[string]string{}}
	s.start(t)
	t.Cleanup(s.kill)
	return s
}

func (s *shelf) start(t testing.TB) {
	t.Helper()
	l, err := net.Listen("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.l, s.addr, s.conns = l, l.Addr().String(), map[net.Conn]bool{}
	s.mu.Unlock()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns[c] = true
			s.mu.Unlock()
			go s.serve(c)
		}
	}()
}

func (s *shelf) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.l.Close()
	for c := range s.conns {
		c.Close()
	}
}

func (s *shelf) serve(c net.Conn) {
	defer c.Close()
	in, out := json.NewDecoder(bufio.NewReader(c)), json.NewEncoder(c)
	for {
		var q question
		if in.Decode(&q) != nil || out.Encode(s.answer(q)) != nil {
			return
		}
	}
}

func place(root, group, topic string, partition int32) string {
	b, err := json.Marshal([]string{root, group, topic, strconv.Itoa(int(partition))})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (s *shelf) answer(q question) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	var a answer
	if s.hidden || s.full && len(q.Edits) > 0 {
		return answer{Refused: true}
	}
	if q.Create && len(q.Edits) > 0 {
		s.roots[q.Root] = true
	}
	if !s.roots[q.Root] {
		return answer{NoRoot: true}
	}
	found := map[string]map[int32]offsetfile.Cell{}
	for key, text := range s.values {
		var k []string
		if err := json.Unmarshal([]byte(key), &k); err != nil {
			panic(err)
		}
		group, topic := k[1], k[2]
		if k[0] != q.Root {
			continue
		}
		a.Groups = append(a.Groups, group)
		if group != q.Group || q.Topics != nil && !slices.Contains(q.Topics, topic) {
			continue
		}
		if found[topic] == nil {
			found[topic] = map[int32]offsetfile.Cell{}
		}
		p, _ := offsetfile.ParsePartition(k[3])
		cell := offsetfile.Cell{Text: text}
		if strings.Contains(text, twice) {
			cell.Presence, cell.Reason = offsets.Damaged, fmt.Sprintf("shelf %s, partition %d: there are two values", topic, p)
		}
		found[topic][p] = cell
	}
	for _, topic := range slices.Sorted(maps.Keys(found)) {
		a.Topics = append(a.Topics, offsetfile.FoundTopic{Topic: topic, Path: "shelf " + topic, Presence: offsets.Present, Cells: found[topic]})
	}
	for i, e := range q.Edits {
		text, there := s.values[place(q.Root, q.Group, e.Topic, e.Partition)]
		if there != (e.Old != nil) || there && text != e.Old.Text {
			a.Changed = append(a.Changed, i)
		}
	}
	if len(a.Changed) > 0 {
		return a
	}
	for _, e := range q.Edits {
		if e.New == nil {
			delete(s.values, place(q.Root, q.Group, e.Topic, e.Partition))
		} else {
			s.values[place(q.Root, q.Group, e.Topic, e.Partition)] = e.New.Text
		}
	}
	return a
}

var errRefused = errors.New("the shelf refuses it")

// set changes what the shelf refuses, until back is called.
func (s *shelf) set(what *bool) func(testing.TB) (back func()) {
	return func(testing.TB) func() {
		to := func(on bool) {
			s.mu.Lock()
			defer s.mu.Unlock()
			*what = on
		}
		to(true)
		return func() { to(false) }
	}
}

// client is the Table of a shelf.
type client struct {
	addr, root string
	create     bool

	mu   sync.Mutex
	conn net.Conn
}

func (c *client) ask(ctx context.Context, q question) (a answer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q.Root, q.Create = c.root, c.create
	if c.conn == nil {
		var d net.Dialer
		if c.conn, err = d.DialContext(ctx, "tcp", c.addr); err != nil {
			return a, err
		}
	}
	conn := c.conn
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	if deadline, ok := ctx.Deadline(); ok {
		err = c.conn.SetDeadline(deadline)
	}
	if err == nil {
		err = json.NewEncoder(c.conn).Encode(q)
	}
	if err == nil {
		err = json.NewDecoder(c.conn).Decode(&a)
	}
	if err != nil {
		c.conn.Close()
		c.conn = nil
	}
	if ctx.Err() != nil && err != nil {
		err = ctx.Err()
	}
	if err == nil && a.Refused {
		err = &offsetfile.CredentialsError{Err: errRefused}
	}
	if err == nil && a.NoRoot && (len(q.Edits) > 0 || !c.create) {
		err = &offsetfile.NothingError{Looked: "the shelf " + c.root}
	}
	return a, err
}

func (c *client) Can() offsetfile.Abilities {
	return offsetfile.Abilities{Write: true, CompareAndSet: true, Atomic: offsetfile.OneGroup, Creates: true}
}

func (c *client) Groups(ctx context.Context) (groups, notes []string, err error) {
	a, err := c.ask(ctx, question{})
	return a.Groups, nil, err
}

func (c *client) Read(ctx context.Context, group string, topics []string) (offsetfile.Found, error) {
	a, err := c.ask(ctx, question{Group: group, Topics: topics})
	return offsetfile.Found{Path: "shelf of " + group, Topics: a.Topics}, err
}

func (c *client) Write(ctx context.Context, group string, edits []offsetfile.Edit) error {
	a, err := c.ask(ctx, question{Group: group, Topics: []string{}, Edits: edits})
	if err == nil && len(a.Changed) > 0 {
		err = fmt.Errorf("partition %d: %w", edits[a.Changed[0]].Partition, offsetfile.ErrChanged)
	}
	return err
}

func (c *client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return nil
	}
	return c.conn.Close()
}

func over(t testing.TB, table offsetfile.Table, params string, o offsetfile.Options) offsetfile.Store {
	t.Helper()
	a, err := offsetfile.ParseAddress("shelf://host/?"+params, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := offsetfile.Over(a, table, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// service is a shelf as the contract takes it, with a table made of each client.
func (s *shelf) service(table func(*client) offsetfile.Table) storetest.Service {
	open := func(t testing.TB, params string, o offsetfile.Options, c *client) offsetfile.Store {
		t.Helper()
		c.create = o.Create
		return over(t, table(c), params, o)
	}
	return storetest.Service{
		Addr: s.addr,
		Open: func(t testing.TB, g storetest.Given) offsetfile.Store {
			t.Helper()
			return open(t, g.Params, g.Options, &client{addr: g.Addr})
		},
		Peek: func(_ testing.TB, group, topic string, partition int32) string {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.values[place("", group, topic, partition)]
		},
		Poke: func(_ testing.TB, group, topic string, partition int32, text string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.values[place("", group, topic, partition)] = text
		},
		Missing: func(t testing.TB, place string, o offsetfile.Options) offsetfile.Store {
			t.Helper()
			return open(t, "", o, &client{addr: s.addr, root: place})
		},
		Spoil: map[string]func(testing.TB, string, string, int32){
			"two values": func(_ testing.TB, group, topic string, partition int32) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.values[place("", group, topic, partition)] = "5" + twice + "9"
			},
		},
		Unreadable: map[string]func(testing.TB, string, string) func(){
			"refused": func(t testing.TB, _, _ string) func() { t.Helper(); return s.set(&s.hidden)(t) },
		},
		Others: func(_ testing.TB, group, topic string) func() string {
			beside := place("of another", group, topic, 0)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.values[beside] = "5"
			return func() string {
				s.mu.Lock()
				defer s.mu.Unlock()
				return s.values[beside]
			}
		},
		Full:     s.set(&s.full),
		Unbroken: "a topic has no place of its own",
		TextOnly: true, // it speaks JSON
		Kill:     func(testing.TB) { s.kill() },
		Start:    s.start,
		Turns:    1,
	}
}

func TestTableContract(t *testing.T) {
	storetest.Run(t, newShelf(t).service(func(c *client) offsetfile.Table { return c }))
}

// claims is a Table that says of itself what is not so.
type claims struct {
	*client
	can offsetfile.Abilities
}

func (c claims) Can() offsetfile.Abilities { return c.can }

// forgetful takes a place that it cannot read for an empty one, and one that it cannot write for written.
type forgetful struct{ *client }

func (c forgetful) Read(ctx context.Context, group string, topics []string) (offsetfile.Found, error) {
	found, err := c.client.Read(ctx, group, topics)
	if errors.Is(err, errRefused) {
		err = nil
	}
	return found, err
}

func (c forgetful) Write(ctx context.Context, group string, edits []offsetfile.Edit) error {
	err := c.client.Write(ctx, group, edits)
	if errors.Is(err, errRefused) {
		err = nil
	}
	return err
}

// careless compares nothing.
type careless struct{ *client }

func (c careless) Write(ctx context.Context, group string, edits []offsetfile.Edit) error {
	for i, e := range edits {
		found, err := c.Read(ctx, group, []string{e.Topic})
		if err != nil {
			return err
		}
		edits[i].Old = nil
		for _, topic := range found.Topics {
			if now, there := topic.Cells[e.Partition]; there {
				edits[i].Old = &now
			}
		}
	}
	return c.client.Write(ctx, group, edits)
}

// slow compares, too, but before it writes.
type slow struct{ careless }

func (s slow) Write(ctx context.Context, group string, edits []offsetfile.Edit) error {
	for _, e := range edits {
		found, err := s.Read(ctx, group, []string{e.Topic})
		if err != nil {
			return err
		}
		for _, topic := range found.Topics {
			if now, there := topic.Cells[e.Partition]; there != (e.Old != nil) || there && now.Text != e.Old.Text {
				return fmt.Errorf("partition %d: %w", e.Partition, offsetfile.ErrChanged)
			}
		}
	}
	return s.careless.Write(ctx, group, edits)
}

// clinging lists every group that was ever written.
type clinging struct {
	*client
	all *sync.Map
}

func (c clinging) Write(ctx context.Context, group string, edits []offsetfile.Edit) error {
	c.all.Store(group, true)
	return c.client.Write(ctx, group, edits)
}

func (c clinging) Groups(ctx context.Context) (groups, notes []string, err error) {
	c.all.Range(func(group, _ any) bool { groups = append(groups, group.(string)); return true })
	return groups, nil, ctx.Err()
}

// piecemeal writes a topic, or a partition, at a time.
type piecemeal struct {
	*client
	whole bool // a topic
}

func (c piecemeal) Write(ctx context.Context, group string, edits []offsetfile.Edit) error {
	for i := 0; i < len(edits); {
		n := 1
		for c.whole && i+n < len(edits) && edits[i+n].Topic == edits[i].Topic {
			n++
		}
		if err := c.client.Write(ctx, group, edits[i:i+n]); err != nil {
			for j := range n {
				edits[i+j].Err = err
			}
		}
		i += n
	}
	return nil
}

// unforgiving writes over nothing that is no number.
type unforgiving struct{ *client }

func (c unforgiving) Write(ctx context.Context, group string, edits []offsetfile.Edit) error {
	for _, e := range edits {
		if e.Old != nil {
			if _, err := offsetfile.CountsNext.Read(e.Old.Text); err != nil {
				return fmt.Errorf("partition %d: %w", e.Partition, offsetfile.ErrChanged)
			}
		}
	}
	return c.client.Write(ctx, group, edits)
}

// tidy removes whatever is no number, wherever it is.
type tidy struct {
	*client
	*shelf
}

func (c tidy) Write(ctx context.Context, group string, edits []offsetfile.Edit) error {
	c.shelf.mu.Lock()
	maps.DeleteFunc(c.values, func(_, text string) bool { _, err := offsetfile.CountsNext.Read(text); return err != nil })
	c.shelf.mu.Unlock()
	return c.client.Write(ctx, group, edits)
}

// onePaper keeps all in one file, which it reads, compares and writes as a whole: under a lock, but of what lock says.
type onePaper struct {
	*client
	*shelf
	locks *sync.Map
	lock  func(group string, e offsetfile.Edit) string
}

func (c onePaper) Write(ctx context.Context, group string, edits []offsetfile.Edit) error {
	for _, e := range edits {
		mu, _ := c.locks.LoadOrStore(c.lock(group, e), &sync.Mutex{})
		mu.(*sync.Mutex).Lock()
		err := c.edit(ctx, group, e)
		mu.(*sync.Mutex).Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

func (c onePaper) edit(ctx context.Context, group string, e offsetfile.Edit) error {
	key := place("", group, e.Topic, e.Partition)
	c.shelf.mu.Lock()
	all := maps.Clone(c.values)
	c.shelf.mu.Unlock()
	if text, there := all[key]; there != (e.Old != nil) || there && text != e.Old.Text {
		return fmt.Errorf("partition %d: %w", e.Partition, offsetfile.ErrChanged)
	}
	if _, _, err := c.Groups(ctx); err != nil { // it takes a while
		return err
	}
	delete(all, key)
	if e.New != nil {
		all[key] = e.New.Text
	}
	c.shelf.mu.Lock()
	defer c.shelf.mu.Unlock()
	c.values = all
	return nil
}

// inPlace has nothing while it writes.
type inPlace struct {
	*client
	*shelf
	lock *sync.Mutex
}

func (c inPlace) Write(ctx context.Context, group string, edits []offsetfile.Edit) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	swap := func(to map[string]string) (from map[string]string) {
		c.shelf.mu.Lock()
		defer c.shelf.mu.Unlock()
		from, c.values = c.values, to
		return from
	}
	all := swap(map[string]string{})
	_, _, err := c.Groups(ctx) // it takes a while
	swap(all)
	if err != nil {
		return err
	}
	return c.client.Write(ctx, group, edits)
}

// sole removes what is not its own.
type sole struct {
	*client
	*shelf
}

func (c sole) Write(ctx context.Context, group string, edits []offsetfile.Edit) error {
	c.shelf.mu.Lock()
	maps.DeleteFunc(c.values, func(key, _ string) bool { return !strings.HasPrefix(key, `["",`) })
	c.shelf.mu.Unlock()
	return c.client.Write(ctx, group, edits)
}

// anew takes a place that it cannot read for an empty one when it writes.
type anew struct {
	*client
	*shelf
}

func (c anew) Write(ctx context.Context, group string, edits []offsetfile.Edit) error {
	err := c.client.Write(ctx, group, edits)
	if !errors.Is(err, errRefused) {
		return err
	}
	for _, e := range edits {
		if e.Old != nil {
			return fmt.Errorf("partition %d: %w", e.Partition, offsetfile.ErrChanged)
		}
	}
	c.shelf.mu.Lock()
	defer c.shelf.mu.Unlock()
	c.values = map[string]string{}
	for _, e := range edits {
		c.values[place("", group, e.Topic, e.Partition)] = e.New.Text
	}
	return nil
}

// reader is a Table that is only read. What it finds goes through change.
type reader struct {
	*client
	can    offsetfile.Abilities
	change func(*offsetfile.Found)
	near   bool // it takes what begins with a group's name for the group's
}

func (c reader) Can() offsetfile.Abilities { return c.can }

func (c reader) Write(context.Context, string, []offsetfile.Edit) error {
	panic("a write of what is only read")
}

func (c reader) Groups(ctx context.Context) (groups, notes []string, err error) {
	if c.can.Nameless {
		return nil, nil, ctx.Err()
	}
	return c.client.Groups(ctx)
}

func (c reader) Read(ctx context.Context, group string, topics []string) (offsetfile.Found, error) {
	if c.near {
		groups, _, err := c.Groups(ctx)
		if err != nil {
			return offsetfile.Found{}, err
		}
		slices.Sort(groups)
		for _, g := range groups {
			if strings.HasPrefix(g, group) {
				group = g
			}
		}
	}
	found, err := c.client.Read(ctx, group, topics)
	if c.change != nil {
		c.change(&found)
	}
	return found, err
}

// eachCell changes, or drops, each value that is found.
func eachCell(change func(p int32, cell *offsetfile.Cell) (keep bool)) func(*offsetfile.Found) {
	return func(found *offsetfile.Found) {
		for _, topic := range found.Topics {
			for p, cell := range topic.Cells {
				if delete(topic.Cells, p); change(p, &cell) {
					topic.Cells[p] = cell
				}
			}
		}
	}
}

// eachNumber changes the numbers alone.
func eachNumber(change func(n int64) int64) func(*offsetfile.Found) {
	return eachCell(func(_ int32, cell *offsetfile.Cell) bool {
		if n, err := offsetfile.CountsNext.Read(cell.Text); err == nil {
			cell.Text = strconv.FormatInt(change(n), 10)
		}
		return true
	})
}

// readService is a shelf of which a store is made that is only read.
func (s *shelf) readService(table func(*client) offsetfile.Table) storetest.Service {
	service := s.service(table)
	service.Fill = func(_ testing.TB, group string, texts map[offsets.Key]string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		maps.DeleteFunc(s.values, func(key, _ string) bool {
			return strings.HasPrefix(key, strings.TrimSuffix(place("", group, "", 0), `"","0"]`))
		})
		for k, text := range texts {
			s.values[place("", group, k.Topic, k.Partition)] = text
		}
	}
	return service
}

func TestTableContractOnlyRead(t *testing.T) {
	storetest.Run(t, newShelf(t).readService(func(c *client) offsetfile.Table { return reader{client: c} }))
}

// A time of saving that is no number of milliseconds is told of once, and is not known.
func TestTimesThatAreNone(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	noon := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for p := range int32(3) {
		s.values[place("", "billing", "orders", p)] = "5"
	}
	store := over(t, reader{client: &client{addr: s.addr}, change: func(found *offsetfile.Found) {
		for p, cell := range found.Topics[0].Cells {
			if cell.Saved = noon; p != 1 {
				cell.Saved = time.UnixMilli(noon.UnixMicro())
			}
			found.Topics[0].Cells[p] = cell
		}
	}}, "", offsetfile.Options{})
	held, err := store.Load(t.Context(), "billing", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"shelf orders, partition 0: the time of saving, 1795953600000000, is none in milliseconds"}
	if !held.Store.Saved.Equal(noon) || !slices.Equal(held.Store.Notes, want) || len(held.Entries) != 3 || !held.Entries[offsets.Key{Topic: "orders"}].Saved.IsZero() {
		t.Errorf("saved %v, notes %q, entries %v", held.Store.Saved, held.Store.Notes, held.Entries)
	}
}

// envBoast names one of the boasts to the process in which the contract is to find it out.
const envBoast = "OFFSETFILE_TEST_BOAST"

// What a store claims and does not keep, and what it does wrong, fails the part of the contract that tries it.
func TestBoasts(t *testing.T) {
	claim := func(change func(*offsetfile.Abilities)) func(*client) offsetfile.Table {
		return func(c *client) offsetfile.Table {
			can := c.Can()
			change(&can)
			return claims{c, can}
		}
	}
	s := newShelf(t)
	var ever, locks sync.Map
	var lock sync.Mutex
	paper := func(lock func(group string, e offsetfile.Edit) string) func(*client) offsetfile.Table {
		return func(c *client) offsetfile.Table { return onePaper{c, s, &locks, lock} }
	}
	found := func(change func(*offsetfile.Found)) func(*client) offsetfile.Table {
		return func(c *client) offsetfile.Table { return reader{client: c, change: change} }
	}
	able := func(can offsetfile.Abilities) func(*client) offsetfile.Table {
		return func(c *client) offsetfile.Table { return reader{client: c, can: can} }
	}
	type boast struct {
		part  string // of the contract
		table func(*client) offsetfile.Table
	}
	written := map[string]boast{
		"epochs":       {"what is kept beside", claim(func(can *offsetfile.Abilities) { can.Epochs = true })},
		"identity":     {"what is kept beside", claim(func(can *offsetfile.Abilities) { can.Identity = true })},
		"times":        {"what is kept beside", claim(func(can *offsetfile.Abilities) { can.Times = true })},
		"locks":        {"locks", claim(func(can *offsetfile.Abilities) { can.Locks = true })},
		"compare":      {"another writer in between", func(c *client) offsetfile.Table { return careless{c} }},
		"at once":      {"two at once", func(c *client) offsetfile.Table { return slow{careless{c}} }},
		"least":        {"limits of numbers", claim(func(can *offsetfile.Abilities) { can.Least = 5 })},
		"nameless":     {"nothing is stored", claim(func(can *offsetfile.Abilities) { can.Nameless = true })},
		"removed":      {"save and load", func(c *client) offsetfile.Table { return clinging{c, &ever} }},
		"creates":      {"making the root", claim(func(can *offsetfile.Abilities) { can.Creates = false })},
		"a topic":      {"another writer in between", func(c *client) offsetfile.Table { return piecemeal{c, false} }},
		"a group":      {"another writer in between", func(c *client) offsetfile.Table { return piecemeal{c, true} }},
		"salvage":      {"bad values", func(c *client) offsetfile.Table { return unforgiving{c} }},
		"tidied":       {"bad values of another group", func(c *client) offsetfile.Table { return tidy{c, s} }},
		"unreadable":   {"nothing can be read", func(c *client) offsetfile.Table { return forgetful{c} }},
		"written":      {"nothing can be read", func(c *client) offsetfile.Table { return anew{c, s} }},
		"in place":     {"again and again at once", func(c *client) offsetfile.Table { return inPlace{c, s, &lock} }},
		"sole":         {"what others keep there", func(c *client) offsetfile.Table { return sole{c, s} }},
		"full":         {"nothing can be written", func(c *client) offsetfile.Table { return forgetful{c} }},
		"a root":       {"making the root", func(c *client) offsetfile.Table { c.create = false; return c }},
		"no root":      {"missing root", func(c *client) offsetfile.Table { c.create = true; return c }},
		"group's lock": {"many at once, each its own/groups", paper(func(group string, _ offsetfile.Edit) string { return group })},
		"topic's lock": {"many at once, each its own/topics", paper(func(group string, e offsetfile.Edit) string { return group + " " + e.Topic })},
		"value's lock": {"many at once, each its own/partitions", paper(func(group string, e offsetfile.Edit) string { return place("", group, e.Topic, e.Partition) })},
	}
	read := map[string]boast{
		"less":         {"values", found(eachNumber(func(n int64) int64 { return max(n-1, 0) }))},
		"32 bits":      {"values", found(eachNumber(func(n int64) int64 { return n & math.MaxInt32 }))},
		"a float":      {"values", found(eachNumber(func(n int64) int64 { return int64(min(float64(n), 1<<62)) }))},
		"no 0":         {"values", found(eachCell(func(p int32, _ *offsetfile.Cell) bool { return p != 0 }))},
		"zero is none": {"values", found(eachCell(func(_ int32, cell *offsetfile.Cell) bool { return cell.Text != "0" }))},
		"bad is none": {"bad values", found(eachCell(func(_ int32, cell *offsetfile.Cell) bool {
			_, err := offsetfile.CountsNext.Read(cell.Text)
			return err == nil
		}))},
		"bad is 0": {"bad values", found(eachCell(func(_ int32, cell *offsetfile.Cell) bool {
			if _, err := offsetfile.CountsNext.Read(cell.Text); err != nil {
				cell.Text = "0"
			}
			return true
		}))},
		"plain names": {"names", found(func(found *offsetfile.Found) {
			for i, topic := range found.Topics {
				found.Topics[i].Topic = strings.TrimSpace(topic.Topic)
			}
		})},
		"prefix":   {"groups", func(c *client) offsetfile.Table { return reader{client: c, near: true} }},
		"nameless": {"groups", able(offsetfile.Abilities{Nameless: true})},
		"times":    {"only read", able(offsetfile.Abilities{Times: true})},
		"epochs":   {"only read", able(offsetfile.Abilities{Epochs: true})},
		"identity": {"only read", able(offsetfile.Abilities{Identity: true})},
		"locks":    {"only read", able(offsetfile.Abilities{Locks: true})},
		"compare":  {"only read", able(offsetfile.Abilities{CompareAndSet: true})},
	}
	kind, name, _ := strings.Cut(os.Getenv(envBoast), "/")
	if b, ok := written[name]; ok && kind == "written" {
		storetest.Run(t, s.service(b.table))
		return
	}
	if b, ok := read[name]; ok && kind == "read" {
		storetest.Run(t, s.readService(b.table))
		return
	}
	for kind, boasts := range map[string]map[string]boast{"written": written, "read": read} {
		for name, b := range boasts {
			t.Run(kind+" "+name, func(t *testing.T) {
				part := strings.ReplaceAll(b.part, " ", "_")
				c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBoasts$/^"+strings.ReplaceAll(part, "/", "$/^")+"$")
				c.Env = append(os.Environ(), envBoast+"="+kind+"/"+name)
				out, err := c.CombinedOutput()
				if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || !strings.Contains(string(out), "--- FAIL: TestBoasts/"+part) {
					t.Errorf("got %v, want the part %q to fail\n%s", err, b.part, out)
				}
			})
		}
	}
}

// flaky is a Table whose writes are made, or not, and then not answered.
type flaky struct {
	client
	fail func(write func() error) error
}

func (f *flaky) Write(ctx context.Context, group string, edits []offsetfile.Edit) error {
	if fail := f.fail; fail != nil {
		f.fail = nil
		return fail(func() error { return f.client.Write(ctx, group, edits) })
	}
	return f.client.Write(ctx, group, edits)
}

// A write whose answer did not come is looked up before it is tried again.
func TestUnansweredWrite(t *testing.T) {
	lost := io.ErrUnexpectedEOF
	for name, tt := range map[string]struct {
		fail func(s *shelf, write func() error) error
		want string
		held string
	}{
		"made":     {func(_ *shelf, write func() error) error { _ = write(); return lost }, "written", "2"},
		"not made": {func(*shelf, func() error) error { return lost }, "written", "2"},
		"by another": {func(s *shelf, _ func() error) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.values[place("", "g", "t", 0)] = "7"
			return lost
		}, string(offsets.Unverified), "7"},
		"made and cut off": {func(_ *shelf, write func() error) error { _ = write(); return context.Canceled }, string(offsets.Unverified), "2"},
		"refused for good": {func(*shelf, func() error) error { return &offsetfile.CredentialsError{Err: fmt.Errorf("no")} }, "failed", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf(t)
			table := &flaky{client: client{addr: s.addr}}
			store := over(t, table, "", offsetfile.Options{})
			defer store.Close()
			w, err := store.Writer(t.Context(), "g", []string{"t"})
			if err != nil {
				t.Fatal(err)
			}
			change := offsets.Change{Key: offsets.Key{Topic: "t"}, Side: offsets.Stored, Verdict: offsets.Write, New: offsets.Value{Offset: 1}}
			changes, seen := w.Save(t.Context(), offsets.Store{}, []offsets.Change{change}, offsetfile.Facts{})
			if changes[0].Result != offsets.Written {
				t.Fatalf("got %+v", changes[0])
			}
			table.fail = func(write func() error) error { return tt.fail(s, write) }
			change.New.Offset = 2
			changes, seen = w.Save(t.Context(), seen, []offsets.Change{change}, offsetfile.Facts{})
			if got := string(changes[0].Result); got != tt.want {
				t.Errorf("got %s (%s), want %s", got, changes[0].Error, tt.want)
			}
			if got := s.values[place("", "g", "t", 0)]; got != tt.held {
				t.Errorf("held: got %s, want %s", got, tt.held)
			}
			if tt.want == "written" { // and the next rests on it
				change.New.Offset = 3
				if changes, _ = w.Save(t.Context(), seen, []offsets.Change{change}, offsetfile.Facts{}); changes[0].Result != offsets.Written {
					t.Errorf("the next: got %+v", changes[0])
				}
			}
		})
	}
}
