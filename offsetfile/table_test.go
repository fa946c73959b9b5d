package offsetfile_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
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
	values map[string]string // group, topic and partition as JSON → number
}

type question struct {
	Op     string
	Group  string
	Topics []string
	Edits  []offsetfile.Edit
}

type answer struct {
	Groups  []string
	Topics  []offsetfile.FoundTopic
	Changed []int // edits whose old value no longer stands
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{addr: "127.0.0.1:0", values: map[string]string{}}
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

func name(group, topic string, partition int32) string {
	b, err := json.Marshal([]string{group, topic, strconv.Itoa(int(partition))})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (s *shelf) answer(q question) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	var a answer
	found := map[string]map[int32]offsetfile.Cell{}
	for key, text := range s.values {
		var k []string
		if err := json.Unmarshal([]byte(key), &k); err != nil {
			panic(err)
		}
		a.Groups = append(a.Groups, k[0])
		if k[0] != q.Group || q.Topics != nil && !slices.Contains(q.Topics, k[1]) {
			continue
		}
		if found[k[1]] == nil {
			found[k[1]] = map[int32]offsetfile.Cell{}
		}
		p, _ := offsetfile.ParsePartition(k[2])
		found[k[1]][p] = offsetfile.Cell{Text: text}
	}
	for _, topic := range slices.Sorted(maps.Keys(found)) {
		a.Topics = append(a.Topics, offsetfile.FoundTopic{Topic: topic, Path: "shelf " + topic, Presence: offsets.Present, Cells: found[topic]})
	}
	for i, e := range q.Edits {
		text, there := s.values[name(q.Group, e.Topic, e.Partition)]
		if there != (e.Old != nil) || there && text != e.Old.Text {
			a.Changed = append(a.Changed, i)
		}
	}
	if len(a.Changed) > 0 {
		return a
	}
	for _, e := range q.Edits {
		if e.New == nil {
			delete(s.values, name(q.Group, e.Topic, e.Partition))
		} else {
			s.values[name(q.Group, e.Topic, e.Partition)] = e.New.Text
		}
	}
	return a
}

// client is the Table of a shelf.
type client struct {
	addr string

	mu   sync.Mutex
	conn net.Conn
}

func (c *client) ask(ctx context.Context, q question) (a answer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
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
	return a, err
}

func (c *client) Can() offsetfile.Abilities {
	return offsetfile.Abilities{Write: true, CompareAndSet: true, Atomic: offsetfile.OneGroup}
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

// nowhere is a Table without a root.
type nowhere struct{ client }

func (*nowhere) Groups(context.Context) (groups, notes []string, err error) {
	return nil, nil, &offsetfile.NothingError{Looked: "the shelf"}
}

func (*nowhere) Read(context.Context, string, []string) (offsetfile.Found, error) {
	return offsetfile.Found{}, &offsetfile.NothingError{Looked: "the shelf"}
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

func TestTableContract(t *testing.T) {
	s := newShelf(t)
	storetest.Run(t, storetest.Service{
		Addr: s.addr,
		Open: func(t testing.TB, g storetest.Given) offsetfile.Store {
			t.Helper()
			return over(t, &client{addr: g.Addr}, g.Params, g.Options)
		},
		Peek: func(_ testing.TB, group, topic string, partition int32) string {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.values[name(group, topic, partition)]
		},
		Poke: func(_ testing.TB, group, topic string, partition int32, text string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.values[name(group, topic, partition)] = text
		},
		Missing: func(t testing.TB) offsetfile.Store { t.Helper(); return over(t, &nowhere{}, "", offsetfile.Options{}) },
		Kill:    func(testing.TB) { s.kill() },
		Start:   s.start,
		Turns:   1,
	})
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
			s.values[name("g", "t", 0)] = "7"
			return lost
		}, "failed", "7"},
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
			if got := s.values[`["g","t","0"]`]; got != tt.held {
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
