//go:build live

package redis_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/offsetfile/storetest"
	"gtoffset/scripts/live"
)

// store is a store with what the tests ask of it.
type store struct{ storetest.Store }

func opened(t *testing.T, url string, args ...any) store {
	t.Helper()
	s := open(t, fmt.Sprintf(url, args...), offsetfile.Options{})
	t.Cleanup(func() { s.Close() })
	return store{storetest.Store{Store: s, T: t}}
}

// save saves one offset for partitions 0 to 2 of each topic, within a time, on what the store has now.
func (s store) save(d time.Duration, group string, offset int64, topics ...string) []offsets.Change {
	s.T.Helper()
	h, err := s.Look(group, topics...)
	must(s.T, err)
	return s.saveOn(d, h, group, offset, topics...)
}

func (s store) saveOn(d time.Duration, h offsetfile.Holding, group string, offset int64, topics ...string) []offsets.Change {
	s.T.Helper()
	return s.SaveOn(d, h, group, topics, offset, offset, offset)
}

func TestLayouts(t *testing.T) {
	r := start(t)
	do(t, r, "HSET", "offset:orders:billing", "0", "5", "1", "6")
	do(t, r, "HSET", "offset:orders:eu:billing", "0", "7")
	do(t, r, "HSET", "offset:orders.eu:billing", "0", "8")
	do(t, r, "HSET", "kafka:topic:orders:billing", "2", "41")
	do(t, r, "HSET", "billing/orders", "0", "9")
	do(t, r, "-n", "3", "HSET", "offset:orders:shipping", "0", "1")

	opened(t, "redis://%s", r.Addr()).Holds("billing", "orders 0 5, orders 1 6, orders.eu 0 8")
	opened(t, "redis://%s", r.Addr()).Holds("eu:billing", "orders 0 7")
	opened(t, "redis://%s/0?key=kafka:topic:{topic}:{group}&counts=last", r.Addr()).Holds("billing", "orders 2 42")
	opened(t, "redis://%s?key={group}/{topic}", r.Addr()).Holds("billing", "orders 0 9")
	other := opened(t, "redis://%s/3", r.Addr())
	groups, _, err := other.Groups(t.Context())
	must(t, err)
	if !slices.Equal(groups, []string{"shipping"}) {
		t.Errorf("groups of database 3: got %q", groups)
	}
}

// A wrong database or key is never a first run.
func TestNothingThere(t *testing.T) {
	r := start(t)
	do(t, r, "HSET", "offset:orders:billing", "0", "5")
	for url, words := range map[string]string{
		"redis://%s/1":                           "keys offset:*:* in database 1",
		"redis://%s?key=offsets:{topic}:{group}": "keys offsets:*:* in database 0",
		"redis://%s/99":                          "database 99, which the server does not have",
	} {
		s := opened(t, url, r.Addr())
		_, err := s.Look("billing", "orders")
		storetest.Fails[*offsetfile.NothingError](t, err, "nothing at redis://", words)
		_, err = s.Look("billing")
		storetest.Fails[*offsetfile.NothingError](t, err, words)
		_, _, err = s.Groups(t.Context())
		storetest.Fails[*offsetfile.NothingError](t, err, words)
	}
	opened(t, "redis://%s", r.Addr()).Holds("another", "", "orders") // a new group beside others
	begun := store{storetest.Store{Store: open(t, "redis://"+r.Addr()+"/1", offsetfile.Options{Create: true}), T: t}}
	defer begun.Close()
	storetest.Results(t, begun.save(time.Minute, "billing", 4, "orders"), offsets.Written, "")
	opened(t, "redis://%s/1", r.Addr()).Holds("billing", "orders 0 4, orders 1 4, orders 2 4")
}

func TestOneBadKeyHidesNoOther(t *testing.T) {
	r := start(t, user("alice on >secret ~offset:* ~x +@all")...)
	do(t, r, "HSET", "offset:orders:billing", "0", "5", "1", "", "2", "12a", "03", "1", "time", "now", "-1", "4")
	do(t, r, "RPUSH", "offset:list:billing", "1")
	do(t, r, "HSET", "offset:short:billing", "0", "1")
	do(t, r, "EXPIRE", "offset:short:billing", "3600")
	s := opened(t, "redis://alice:$PW@%s", r.Addr())
	h := s.Holds("billing", "orders 0 5, orders 1 empty, orders 2 damaged, short 0 1, list of the wrong kind")
	storetest.Notes(t, h, `the field "time" is no partition`)
	storetest.Notes(t, h, `the field "03" is no partition`)
	storetest.Notes(t, h, "key offset:short:billing expires in 1h0m0s")
	storetest.Results(t, s.save(time.Minute, "billing", 9, "list"), offsets.NotTried, "something else than a hash")

	do(t, r, "ACL", "SETUSER", "alice", "resetkeys", "~offset:orders:*")
	h = s.Holds("billing", "orders 0 5, orders 1 empty, orders 2 damaged, list not permitted, short not permitted")
	if topic, _ := h.Store.Topic("short"); !strings.Contains(topic.Reason, "key offset:short:billing: NOPERM") {
		t.Errorf("reason: got %q", topic.Reason)
	}
}

func TestAmbiguousKeys(t *testing.T) {
	r := start(t)
	do(t, r, "HSET", "orders_eu_billing", "0", "5")
	do(t, r, "HSET", "orders_billing", "0", "6")
	s := opened(t, "redis://%s?key={topic}_{group}", r.Addr())
	groups, ignored, err := s.Groups(t.Context())
	must(t, err)
	if !slices.Equal(groups, []string{"billing"}) || len(ignored) != 1 || !strings.Contains(ignored[0], `"orders_eu_billing" can be read as`) {
		t.Errorf("groups: got %q, %q", groups, ignored)
	}
	storetest.Notes(t, s.Holds("billing", "orders 0 6, orders_eu 0 5"), "does not tell them apart")
	storetest.Notes(t, s.Holds("eu_billing", "orders 0 5", "orders"), "does not tell them apart")
}

func TestWhoMayNot(t *testing.T) {
	r := start(t, append(user("alice on >secret ~offset:* +@read +hset +eval"), user("default on >other ~* +@all")...)...)
	r.Auth = "other"
	do(t, r, "HSET", "offset:orders:billing", "0", "5", "1", "5", "2", "5")
	for url, words := range map[string]string{
		"redis://%s":                 "NOAUTH",
		"redis://alice:$OTHER@%s":    "WRONGPASS",
		"redis://:$PW@%s":            "WRONGPASS",
		"redis://nobody:$PW@%s/0":    "WRONGPASS",
		"redis+cluster://bob:$PW@%s": "WRONGPASS",
	} {
		_, err := opened(t, url, r.Addr()).Look("billing", "orders")
		storetest.Fails[*offsetfile.CredentialsError](t, err, words)
		if strings.Contains(fmt.Sprint(err), "secret") || strings.Contains(fmt.Sprint(err), "other") {
			t.Errorf("the password is told: %v", err)
		}
	}
	opened(t, "redis://:$OTHER@%s", r.Addr()).Holds("billing", "orders 0 5, orders 1 5, orders 2 5")

	// What would stay half done is not begun: this user may set fields, and not remove them.
	s := opened(t, "redis://alice:$PW@%s", r.Addr())
	h, err := s.Look("billing", "orders")
	must(t, err)
	w, err := s.Writer(t.Context(), "billing", nil)
	must(t, err)
	var changes []offsets.Change
	for p, offset := range []int64{7, offsets.None, 7} {
		changes = append(changes, offsets.Change{
			Key: offsets.Key{Topic: "orders", Partition: int32(p)}, Side: offsets.Stored, Verdict: offsets.Write, New: offsets.Value{Offset: offset, Epoch: offsets.None},
		})
	}
	changes, _ = w.Save(storetest.Within(t, time.Minute), h.Store, changes, offsetfile.Facts{Now: time.Now()})
	storetest.Results(t, changes, offsets.Failed, "NOPERM HDEL is not allowed")
	s.Holds("billing", "orders 0 5, orders 1 5, orders 2 5")

	// Without SCAN a named topic is read, and whether anything is there at all is not known.
	do(t, r, "ACL", "SETUSER", "alice", "-scan")
	s = opened(t, "redis://alice:$PW@%s", r.Addr())
	s.Holds("billing", "orders 0 5, orders 1 5, orders 2 5", "orders")
	storetest.Notes(t, opened(t, "redis://alice:$PW@%s", r.Addr()).Holds("shipping", "", "orders"), "is not known: the user may not SCAN")
	_, err = s.Look("billing")
	storetest.Fails[*offsetfile.CredentialsError](t, err, "NOPERM", "scan")
}

func TestNotReady(t *testing.T) {
	r := start(t)
	do(t, r, "HSET", "offset:orders:billing", "0", "5", "1", "5", "2", "5")
	s := opened(t, "redis://%s", r.Addr())
	const same = "orders 0 5, orders 1 5, orders 2 5"

	do(t, r, "CONFIG", "SET", "min-replicas-to-write", "1")
	storetest.Results(t, s.save(time.Second, "billing", 6, "orders"), offsets.Unverified, "NOREPLICAS")
	s.Holds("billing", same)
	do(t, r, "CONFIG", "SET", "min-replicas-to-write", "0")

	do(t, r, "CONFIG", "SET", "maxmemory", "1")
	storetest.Results(t, s.save(time.Minute, "billing", 6, "orders"), offsets.Failed, "OOM")
	s.Holds("billing", same)
	do(t, r, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru", "maxmemory", "1gb")
	storetest.Notes(t, opened(t, "redis://%s", r.Addr()).Holds("billing", same), "maxmemory-policy is allkeys-lru")

	do(t, r, "CONFIG", "SET", "busy-reply-threshold", "1")
	busy := make(chan error, 1)
	go func() {
		_, err := r.Do(context.Background(), "EVAL", "while true do end", "0")
		busy <- err
	}()
	must(t, live.Eventually(t.Context(), "the server is busy", func(ctx context.Context) (bool, error) {
		_, err := r.Do(ctx, "GET", "x")
		return err != nil && strings.Contains(err.Error(), "BUSY"), nil
	}))
	_, err := s.Load(storetest.Within(t, time.Second), "billing", []string{"orders"}, false)
	storetest.Fails[*offsetfile.AwayError](t, err, "BUSY")
	do(t, r, "SCRIPT", "KILL")
	<-busy // ended by that, with an error
	s.Holds("billing", same)

	// Something else that answers.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go http.Serve(l, nil)
	_, err = opened(t, "redis://%s", l.Addr()).Look("billing", "orders")
	storetest.Fails[*offsetfile.AwayError](t, err, "is no Redis")
	_, err = opened(t, "redis://%s", "127.0.0.1:1").Load(storetest.Within(t, time.Second), "billing", nil, false)
	storetest.Fails[*offsetfile.AwayError](t, err, "connection refused")
}

func TestReplicaAndFailover(t *testing.T) {
	group, err := live.StartRedisSentinel(context.Background())
	must(t, err)
	t.Cleanup(group.Stop)
	s := opened(t, "redis+sentinel://%s/%s/0?key=offset:{topic}:{group}", group.Sentinel, group.Name)
	do(t, group.Master, "HSET", "offset:begin:begin", "0", "1")
	storetest.Results(t, s.save(time.Minute, "billing", 5, "orders"), offsets.Written, "")
	do(t, group.Master, "WAIT", "1", "0")

	replica := opened(t, "redis://%s", group.Replica.Addr())
	storetest.Notes(t, replica.Holds("billing", "orders 0 5, orders 1 5, orders 2 5"), fmt.Sprintf("replica of 127.0.0.1:%d", group.Master.Port))
	storetest.Results(t, replica.save(time.Minute, "billing", 6, "orders"), offsets.Failed, "name its master")

	_, err = opened(t, "redis+sentinel://%s/nobody", group.Sentinel).Look("billing", "orders")
	storetest.Fails[*offsetfile.NothingError](t, err, `master "nobody", which the sentinels do not know`)
	_, err = opened(t, "redis+sentinel://127.0.0.1:1,127.0.0.1:2/jobs").Load(storetest.Within(t, time.Second), "billing", nil, false)
	storetest.Fails[*offsetfile.AwayError](t, err, "connection refused")

	group.Master.Kill() // while nobody looks: the next save finds the replica made master
	h, err := s.Look("billing", "orders")
	must(t, err)
	storetest.Results(t, s.saveOn(time.Minute, h, "billing", 7, "orders"), offsets.Written, "")
	s.Holds("billing", "orders 0 7, orders 1 7, orders 2 7")
	if got := do(t, group.Replica, "HGET", "offset:orders:billing", "0"); got != "7" {
		t.Errorf("the new master: got %q, want 7", got)
	}
}

func TestCluster(t *testing.T) {
	c, err := live.StartRedisCluster(context.Background())
	must(t, err)
	t.Cleanup(c.Stop)
	topics := []string{"orders", "clicks", "returns", "payments", "stock", "users", "a", "b", "c"} // on all three servers
	s := opened(t, "redis+cluster://%s,127.0.0.1:1", c.Nodes[1].Addr())
	do(t, c.Nodes[0], "-c", "HSET", "offset:begin:begin", "0", "1")
	h, err := s.Look("billing", topics...)
	must(t, err)
	storetest.Results(t, s.saveOn(time.Minute, h, "billing", 5, topics...), offsets.Written, "")
	used := 0
	for _, r := range c.Nodes {
		if do(t, r, "DBSIZE") != "0" {
			used++
		}
	}
	if used != 3 {
		t.Errorf("the keys are on %d servers, want 3", used)
	}
	// Each topic stands or falls alone.
	h, err = s.Look("billing", topics...)
	must(t, err)
	do(t, c.Nodes[0], "-c", "HSET", "offset:clicks:billing", "1", "6")
	for _, change := range s.saveOn(time.Minute, h, "billing", 8, topics...) {
		if want := map[bool]offsets.Result{true: offsets.Failed, false: offsets.Written}[change.Topic == "clicks"]; change.Result != want {
			t.Errorf("%s %d: got %s (%s), want %s", change.Topic, change.Partition, change.Result, change.Error, want)
		}
	}
	s.Holds("billing", "clicks 0 5, clicks 1 6, clicks 2 5", "clicks")
	groups, _, err := s.Groups(t.Context())
	must(t, err)
	if !slices.Equal(groups, []string{"begin", "billing"}) {
		t.Errorf("groups: got %q", groups)
	}
	if h, err := s.Look("billing"); err != nil || len(h.Entries) != 3*len(topics) {
		t.Errorf("all topics: got %d entries, %v; want %d", len(h.Entries), err, 3*len(topics))
	}
	_, err = opened(t, "redis+cluster://%s?key=nothing:{topic}:{group}", c.Nodes[0].Addr()).Look("billing")
	storetest.Fails[*offsetfile.NothingError](t, err, "keys nothing:*:* in the cluster")

	_, err = opened(t, "redis://%s", c.Nodes[0].Addr()).Look("billing", topics...)
	if err == nil || !strings.Contains(err.Error(), "write redis+cluster://") {
		t.Errorf("redis:// to one of a cluster: got %v", err)
	}
}

func TestTransport(t *testing.T) {
	certs, err := live.NewCerts(t.TempDir())
	must(t, err)
	others, err := live.NewCerts(t.TempDir())
	must(t, err)
	plain, secure, mutual := start(t), start(t, live.RedisTLS(certs, false)...), start(t, live.RedisTLS(certs, true)...)
	for _, r := range []*live.Redis{plain, secure, mutual} {
		do(t, r, "HSET", "offset:orders:billing", "0", "5")
	}
	ca := "tls-ca=" + certs.CA
	opened(t, "rediss://%s?%s", secure.Addr(), ca).Holds("billing", "orders 0 5")
	opened(t, "rediss://localhost:%d?%s", secure.Port, ca).Holds("billing", "orders 0 5")
	opened(t, "rediss://%s?%s&tls-cert=%s&tls-key=%s", mutual.Addr(), ca, certs.ClientCert, certs.ClientKey).Holds("billing", "orders 0 5")
	for name, tt := range map[string]struct {
		url, words string
		tried      time.Duration // 0: it is clear at once
	}{
		"no authority":        {"rediss://" + secure.Addr(), "certificate signed by unknown authority", 0},
		"another's authority": {"rediss://" + secure.Addr() + "?tls-ca=" + others.CA, "certificate signed by unknown authority", 0},
		"another's name":      {"rediss://" + secure.Addr() + "?tls-server-name=example.org&" + ca, "not example.org", 0},
		"no certificate":      {"rediss://" + mutual.Addr() + "?" + ca, "certificate", time.Second},
		"TLS to plain":        {"rediss://" + plain.Addr() + "?" + ca, "does it speak it", 5 * time.Second},
		"plain to TLS":        {"redis://" + secure.Addr(), "does it speak TLS", time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := storetest.Within(t, cmp.Or(tt.tried, time.Minute))
			_, err := opened(t, "%s", tt.url).Load(ctx, "billing", []string{"orders"}, false)
			if err == nil || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("got %v, want it to say %q", err, tt.words)
			}
			if tt.tried == 0 && ctx.Err() != nil {
				t.Errorf("it was tried until the time was up: %v", err)
			}
		})
	}
}

// A server that says nothing does not hold up who gives up, and what was sent is not said to have failed.
func TestCancelledMidway(t *testing.T) {
	r := start(t)
	do(t, r, "HSET", "offset:orders:billing", "0", "5", "1", "5", "2", "5")
	p := storetest.Proxy(t, r.Addr())
	s := opened(t, "redis://%s", p.Addr())
	h, err := s.Look("billing", "orders")
	must(t, err)
	w, err := s.Writer(t.Context(), "billing", []string{"orders"})
	must(t, err)
	change := offsets.Change{Key: offsets.Key{Topic: "orders"}, Side: offsets.Stored, Verdict: offsets.Write, New: offsets.Value{Offset: 6, Epoch: offsets.None}}
	p.Freeze()
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(100*time.Millisecond, cancel).Stop()
	changes, _ := w.Save(ctx, h.Store, []offsets.Change{change}, offsetfile.Facts{Now: time.Now()})
	storetest.Results(t, changes, offsets.Unverified, "canceled")
	ctx, cancel = context.WithCancel(t.Context())
	defer time.AfterFunc(100*time.Millisecond, cancel).Stop()
	if _, err := s.Load(ctx, "billing", nil, false); !errors.Is(err, context.Canceled) {
		t.Errorf("load: got %v, want cancelled", err)
	}
	p.Thaw() // what was on its way arrives, or not
	if h, err := s.Look("billing", "orders"); err != nil || len(h.Entries) != 3 {
		t.Errorf("after that: got %v, %v", h.Entries, err)
	}
}
