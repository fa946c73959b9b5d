//go:build live

package redis_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/offsetfile/storetest"
	"gtoffset/scripts/live"
)

// ownerOf returns the server that has a key, another one, and the key's slot.
func ownerOf(t *testing.T, c *live.RedisCluster, key string) (owner, other *live.Redis, slot string) {
	t.Helper()
	slot = do(t, c.Nodes[0], "CLUSTER", "KEYSLOT", key)
	for _, r := range c.Nodes {
		said := do(t, r, "CLUSTER", "NODES")
		_, mine, _ := strings.Cut(said, "myself,")
		mine, _, _ = strings.Cut(mine, "\n")
		fields := strings.Fields(mine)
		first, last, _ := strings.Cut(fields[len(fields)-1], "-")
		if number(t, first) <= number(t, slot) && number(t, slot) <= number(t, last) {
			owner = r
		} else {
			other = r
		}
	}
	return owner, other, slot
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}

// While a slot goes to another server, and after that, its keys are found and saved, by who has learned before where it was.
func TestClusterSlotMoves(t *testing.T) {
	c, err := live.StartRedisCluster(context.Background())
	must(t, err)
	t.Cleanup(c.Stop)
	const key = "offset:orders:billing"
	from, to, slot := ownerOf(t, c, key)
	s := opened(t, "redis+cluster://%s", from.Addr())
	begun := store{storetest.Store{Store: open(t, "redis+cluster://"+from.Addr(), offsetfile.Options{Create: true}), T: t}}
	defer begun.Close()
	topics := []string{"orders", "clicks", "returns", "stock"}
	storetest.Results(t, begun.save(time.Minute, "billing", 5, topics...), offsets.Written, "")
	const five = "clicks 0 5, clicks 1 5, clicks 2 5, orders 0 5, orders 1 5, orders 2 5, returns 0 5, returns 1 5, returns 2 5, stock 0 5, stock 1 5, stock 2 5"
	s.Holds("billing", five)

	do(t, to, "CLUSTER", "SETSLOT", slot, "IMPORTING", do(t, from, "CLUSTER", "MYID"))
	do(t, from, "CLUSTER", "SETSLOT", slot, "MIGRATING", do(t, to, "CLUSTER", "MYID"))
	do(t, from, "MIGRATE", "127.0.0.1", strconv.Itoa(to.Port), key, "0", "5000") // it answers ASK from now on
	s.Holds("billing", five, topics...)
	storetest.Results(t, s.save(time.Minute, "billing", 6, topics...), offsets.Written, "")
	six := strings.ReplaceAll(five, " 5", " 6")
	s.Holds("billing", six)

	for _, r := range []*live.Redis{to, from} { // and MOVED after this
		do(t, r, "CLUSTER", "SETSLOT", slot, "NODE", do(t, to, "CLUSTER", "MYID"))
	}
	h := s.Holds("billing", six, topics...)
	storetest.Results(t, s.saveOn(time.Minute, h, "billing", 7, topics...), offsets.Written, "")
	s.Holds("billing", strings.ReplaceAll(five, " 5", " 7"))
	if got := do(t, to, "HGET", key, "0"); got != "7" {
		t.Errorf("where the key is now: got %q, want 7", got)
	}
}

// A server that is down takes only its own keys with it, also when it was the only one that the address names.
func TestClusterServerDown(t *testing.T) {
	c, err := live.StartRedisCluster(context.Background(), "--cluster-require-full-coverage", "no")
	must(t, err)
	t.Cleanup(c.Stop)
	gone, _, _ := ownerOf(t, c, "offset:orders:billing")
	rest := ""
	for _, topic := range []string{"a", "b", "c", "d", "e", "orders"} {
		do(t, c.Nodes[0], "-c", "HSET", "offset:"+topic+":billing", "0", "5")
		if owner, _, _ := ownerOf(t, c, "offset:"+topic+":billing"); owner != gone {
			rest = topic
		}
	}
	s := opened(t, "redis+cluster://%s", gone.Addr())
	s.Holds("billing", "a 0 5, b 0 5, c 0 5, d 0 5, e 0 5, orders 0 5")
	gone.Kill()
	_, err = s.Load(storetest.Within(t, time.Second), "billing", []string{"orders"}, false)
	storetest.Fails[*offsetfile.AwayError](t, err, gone.Addr())
	s.Holds("billing", rest+" 0 5", rest)
	_, err = s.Load(storetest.Within(t, time.Second), "billing", nil, false)
	storetest.Fails[*offsetfile.AwayError](t, err, gone.Addr())
	must(t, gone.Start(context.Background()))
	must(t, c.Ready(context.Background()))
	s.Holds("billing", "a 0 5, b 0 5, c 0 5, d 0 5, e 0 5, orders 0 5")
}

// A connection that was cut while nobody looked is made again, and what is read on the new one is not delayed by another try.
func TestIdleConnectionCut(t *testing.T) {
	r := start(t)
	do(t, r, "HSET", "offset:orders:billing", "0", "5", "1", "5", "2", "5")
	s := opened(t, "redis://%s", r.Addr())
	h := s.Holds("billing", "orders 0 5, orders 1 5, orders 2 5")
	do(t, r, "CLIENT", "KILL", "TYPE", "normal")
	s.Holds("billing", "orders 0 5, orders 1 5, orders 2 5")
	do(t, r, "CLIENT", "KILL", "TYPE", "normal")
	storetest.Results(t, s.saveOn(time.Minute, h, "billing", 6, "orders"), offsets.Written, "")
	s.Holds("billing", "orders 0 6, orders 1 6, orders 2 6")
}

func TestNoCluster(t *testing.T) {
	r := start(t)
	if _, err := opened(t, "redis+cluster://%s", r.Addr()).Look("billing"); err == nil || !strings.Contains(err.Error(), "write redis://") {
		t.Errorf("redis+cluster:// to a server that is of none: got %v", err)
	}
}
