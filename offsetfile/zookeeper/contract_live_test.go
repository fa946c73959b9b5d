//go:build live

package zookeeper_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/offsetfile/storetest"
	"gtoffset/offsetfile/zookeeper"
	"gtoffset/scripts/live"
)

// must ends the test at once: what it wanted to look at could not be set up.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// server is a real ZooKeeper, and a session in it that is not the store's.
type server struct {
	*live.ZooKeeper
	conn *zk.Conn
}

func start(t testing.TB) *server {
	t.Helper()
	z, err := live.StartZooKeeper(context.Background())
	must(t, err)
	t.Cleanup(z.Stop)
	s := &server{ZooKeeper: z}
	s.connect(t)
	t.Cleanup(func() { s.conn.Close() })
	return s
}

func (s *server) connect(t testing.TB) {
	t.Helper()
	conn, events, err := zk.Connect([]string{s.Addr}, 30*time.Second, zk.WithLogInfo(false), zk.WithLogger(silent{}))
	must(t, err)
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	s.conn = conn
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// put makes a node, with those above it, or sets what it holds.
func (s *server) put(t testing.TB, node, text string) {
	t.Helper()
	_, err := s.conn.Set(node, []byte(text), -1)
	if errors.Is(err, zk.ErrNoNode) {
		if above := path.Dir(node); above != "/" {
			if there, _, err := s.conn.Exists(above); err == nil && !there {
				s.put(t, above, "")
			}
		}
		_, err = s.conn.Create(node, []byte(text), 0, zk.WorldACL(zk.PermAll))
	}
	if err != nil {
		t.Fatalf("put %s: %v", node, err)
	}
}

// get is what a node holds.
func (s *server) get(t testing.TB, node string) string {
	t.Helper()
	data, _, err := s.conn.Get(node)
	if err != nil {
		t.Fatalf("get %s: %v", node, err)
	}
	return string(data)
}

// protect leaves a node to a user alone.
func (s *server) protect(t testing.TB, node string, perms int32, user, password string) {
	t.Helper()
	if _, err := s.conn.SetACL(node, zk.DigestACL(perms, user, password), -1); err != nil {
		t.Fatalf("protect %s: %v", node, err)
	}
}

// open opens a store. The environment has $PW, which is "secret".
func open(t testing.TB, url string, o offsetfile.Options) offsetfile.Store {
	t.Helper()
	return storetest.Opened(t, zookeeper.Open, url, o)
}

func TestContract(t *testing.T) {
	s := start(t)
	s.put(t, "/kafka/consumers", "")
	node := func(group, topic string, partition int32) string {
		return fmt.Sprintf("/kafka/consumers/%s/offsets/%s/%d", group, topic, partition)
	}
	storetest.Run(t, storetest.Service{
		Addr: s.Addr,
		Open: func(t testing.TB, g storetest.Given) offsetfile.Store {
			t.Helper()
			return open(t, fmt.Sprintf("zookeeper://%s/kafka?%s", g.Addr, g.Params), g.Options)
		},
		Peek: func(t testing.TB, group, topic string, partition int32) string {
			t.Helper()
			return s.get(t, node(group, topic, partition))
		},
		Poke: func(t testing.TB, group, topic string, partition int32, text string) {
			t.Helper()
			s.put(t, node(group, topic, partition), text)
		},
		Missing: func(t testing.TB, place string, o offsetfile.Options) offsetfile.Store {
			t.Helper()
			return open(t, fmt.Sprintf("zookeeper://%s/%s", s.Addr, place), o)
		},
		Others: func(t testing.TB, group, topic string) func() string {
			t.Helper()
			beside, above := path.Dir(node(group, topic, 0))+"/of another", fmt.Sprintf("/kafka/consumers/%s/owners/%s/0", group, topic)
			s.put(t, beside, "5")
			s.put(t, above, "a consumer")
			return func() string { t.Helper(); return s.get(t, beside) + s.get(t, above) }
		},
		Broken: map[offsets.Presence]func(testing.TB, string, string){
			offsets.Denied: func(t testing.TB, group, topic string) {
				t.Helper()
				s.put(t, node(group, topic, 0), "5")
				s.protect(t, path.Dir(node(group, topic, 0)), zk.PermAll, "somebody", "else")
			},
		},
		Kill:  func(testing.TB) { s.Kill() },
		Start: func(t testing.TB) { t.Helper(); must(t, s.Start(context.Background())) },
		Turns: 1,
	})
}
