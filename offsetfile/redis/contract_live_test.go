//go:build live

package redis_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/offsetfile/redis"
	"gtoffset/offsetfile/storetest"
	"gtoffset/scripts/live"
)

// must ends the test at once: what it wanted to look at could not be set up.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func start(t testing.TB, args ...string) *live.Redis {
	t.Helper()
	r, err := live.StartRedis(context.Background(), args...)
	must(t, err)
	t.Cleanup(r.Stop)
	return r
}

// user are the arguments that give a server a user.
func user(rights string) []string { return append([]string{"--user"}, strings.Fields(rights)...) }

// do runs one command by redis-cli.
func do(t testing.TB, r *live.Redis, args ...string) string {
	t.Helper()
	said, err := r.Do(context.Background(), args...)
	must(t, err)
	return said
}

// open opens a store. The environment has $PW, which is "secret".
func open(t testing.TB, url string, o offsetfile.Options) offsetfile.Store {
	t.Helper()
	return storetest.Opened(t, redis.Open, url, o)
}

// contract is the service of storetest for a server that redis-cli reaches, with the URL of an address.
func contract(r *live.Redis, url func(addr, params string) string) storetest.Service {
	return storetest.Service{
		Addr: r.Addr(),
		Open: func(t testing.TB, g storetest.Given) offsetfile.Store {
			t.Helper()
			return open(t, url(g.Addr, g.Params), g.Options)
		},
		Peek: func(t testing.TB, group, topic string, partition int32) string {
			t.Helper()
			return do(t, r, "-c", "HGET", "offset:"+topic+":"+group, strconv.Itoa(int(partition)))
		},
		Poke: func(t testing.TB, group, topic string, partition int32, text string) {
			t.Helper()
			do(t, r, "-c", "HSET", "offset:"+topic+":"+group, strconv.Itoa(int(partition)), text)
		},
		Missing: func(t testing.TB, place string, o offsetfile.Options) offsetfile.Store {
			t.Helper()
			return open(t, url(r.Addr(), "key=nothing:"+place+":{topic}:{group}"), o)
		},
		Others: func(t testing.TB, group, topic string) func() string {
			t.Helper()
			key := "offset:" + topic + ":" + group
			do(t, r, "-c", "HSET", key, "of another", "5")
			return func() string { t.Helper(); return do(t, r, "-c", "HGET", key, "of another") }
		},
		Broken: map[offsets.Presence]func(testing.TB, string, string){
			offsets.WrongType: func(t testing.TB, group, topic string) {
				t.Helper()
				do(t, r, "-c", "SET", "offset:"+topic+":"+group, "5")
			},
		},
		Kill:  func(testing.TB) { r.Kill() },
		Start: func(t testing.TB) { t.Helper(); must(t, r.Start(context.Background())) },
		Turns: 1,
	}
}

// A store is nothing before the first key of its form is there.
func begin(t testing.TB, s storetest.Service) storetest.Service {
	t.Helper()
	s.Poke(t, "begin", "begin", 0, "0")
	return s
}

func TestContract(t *testing.T) {
	r := start(t)
	storetest.Run(t, begin(t, contract(r, func(addr, params string) string { return fmt.Sprintf("redis://%s/0?%s", addr, params) })))
}

func TestContractTLS(t *testing.T) {
	certs, err := live.NewCerts(t.TempDir())
	must(t, err)
	r := start(t, append(live.RedisTLS(certs, true), user("alice on >secret ~offset:* ~nothing:* +@read +@write +@scripting +info")...)...)
	params := fmt.Sprintf("tls-ca=%s&tls-cert=%s&tls-key=%s", certs.CA, certs.ClientCert, certs.ClientKey)
	s := contract(r, func(addr, more string) string { return fmt.Sprintf("rediss://alice:$PW@%s?%s&%s", addr, params, more) })
	storetest.Run(t, begin(t, s))
}

func TestContractCluster(t *testing.T) {
	c, err := live.StartRedisCluster(context.Background())
	must(t, err)
	t.Cleanup(c.Stop)
	s := contract(c.Nodes[0], func(addr, params string) string { return fmt.Sprintf("redis+cluster://%s?%s", addr, params) })
	s.NoProxy = "past a proxy a cluster's client goes to the nodes themselves: what a wire can do is tried on one server"
	s.Kill = func(testing.TB) {
		for _, r := range c.Nodes {
			r.Kill()
		}
	}
	s.Start = func(t testing.TB) {
		t.Helper()
		for _, r := range c.Nodes {
			must(t, r.Start(context.Background()))
		}
		must(t, c.Ready(context.Background()))
	}
	storetest.Run(t, begin(t, s))
}
