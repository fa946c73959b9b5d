//go:build live

package live_test

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"gtoffset/kafkaops/kafkatest/tcpproxy"
	"gtoffset/scripts/live"
)

// startRedis starts a server with a user job, whose password is what secret returns the path of.
func startRedis(t *testing.T, args ...string) *live.Redis {
	t.Helper()
	r, err := live.StartRedis(t.Context(), append([]string{"--user", "job", "on", ">open-sesame", "~*", "+@all"}, args...)...)
	must(t, err)
	t.Cleanup(r.Stop)
	return r
}

// secret is a file with the password open-sesame.
func secret(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "password")
	must(t, os.WriteFile(path, []byte("open-sesame\n"), 0o600))
	return path
}

// redisDo runs one command of Redis.
func redisDo(t *testing.T, r *live.Redis, args ...string) string {
	t.Helper()
	said, err := r.Do(t.Context(), args...)
	must(t, err)
	return said
}

func TestRedisCommands(t *testing.T) {
	certs, err := live.NewCerts(t.TempDir())
	must(t, err)
	r := startRedis(t, live.RedisTLS(certs, false)...)
	redisDo(t, r, "HSET", "kafka:topic:others:others", "0", "1") // the store is not new
	everyCommand(t, "rediss://job@"+r.Addr()+"?key=kafka:topic:{topic}:{group}&tls-ca="+certs.CA+"&password-file="+secret(t))
}

func TestRedisClusterCommands(t *testing.T) {
	c, err := live.StartRedisCluster(t.Context())
	must(t, err)
	t.Cleanup(c.Stop)
	redisDo(t, c.Nodes[0], "-c", "HSET", "offset:others:others", "0", "1")
	everyCommand(t, "redis+cluster://"+c.Nodes[0].Addr()+","+c.Nodes[1].Addr())
}

// STO-1: a store of the last processed record and one of the next to read end in the same commit.
func TestRedisCounts(t *testing.T) {
	r := startRedis(t)
	s := stage(t, cluster, [2]int64{0, 100})
	redisDo(t, r, "HSET", "offset:"+s.topic+":"+s.group, "0", "41")
	redisDo(t, r, "HSET", "next:"+s.topic+":"+s.group, "0", "42")
	for _, params := range []string{"counts=last", "key=next:{topic}:{group}"} {
		url := "redis://" + r.Addr() + "/0?" + params
		s.run("reset", "-g", s.group, "-t", s.topic, "-s", url, "--committed", "--to-stored", "--create", "--execute").exits(0).prints("1 of 1 verified")
		same(t, "committed from "+params, s.committed(), "0=42")
		s.run("describe", "-g", s.group, "-s", url, "--check").exits(0)
		must(t, cluster.DeleteGroup(t.Context(), s.group))
	}
}

// STO-3: a wrong database or key is told with what was looked at, and is never a first run.
func TestRedisNothingThere(t *testing.T) {
	r := startRedis(t)
	s := stage(t, cluster, [2]int64{0, 100})
	redisDo(t, r, "HSET", "offset:"+s.topic+":"+s.group, "0", "41")
	for url, looked := range map[string]string{
		"redis://" + r.Addr() + "/5":                             "keys offset:*:* in database 5",
		"redis://" + r.Addr() + "/0?key=offsets:{group}:{topic}": "keys offsets:*:* in database 0",
	} {
		s.run("describe", "-g", s.group, "-s", url).exits(1).says("nothing at "+url, looked)
		s.run("clamp", "-g", s.group, "-t", s.topic, "-s", url, "--stored", "--execute").exits(1).says("nothing at "+url, looked)
		s.run("reset", "-g", s.group, "-t", s.topic, "-s", url, "--stored", "--to-earliest", "--execute").exits(1).says("nothing at " + url)
	}
	url := "redis://" + r.Addr() + "/5"
	s.run("reset", "-g", s.group, "-t", s.topic, "-s", url, "--stored", "--to-latest", "--create-table", "--execute").exits(0).prints("1 of 1 verified")
	same(t, "begun", redisDo(t, r, "-n", "5", "HGET", "offset:"+s.topic+":"+s.group, "0"), "100")
}

// STO-6 and STO-7: what Redis has and what is committed stand side by side with what the cluster has, and nobody chooses for the operator.
func TestRedisAndCommitsDisagree(t *testing.T) {
	r := startRedis(t)
	url := "redis://" + r.Addr()
	s := stage(t, cluster, [2]int64{200, 300}, [2]int64{0, 1500})
	key := "offset:" + s.topic + ":" + s.group
	redisDo(t, r, "HSET", key, "0", "50", "1", "1000")
	s.commit(260, 400)
	doc := s.run("describe", "-g", s.group, "-s", url, "-o", "json").exits(0).describe()
	for p, want := range []string{"200 50 260 300", "0 1000 400 1500"} {
		row := doc.row(t, int32(p))
		same(t, "side by side", strings.Join([]string{number(row.Earliest), number(row.Stored.Offset), number(row.Committed.Offset), number(row.End)}, " "), want)
	}
	s.run("clamp", "-g", s.group, "-s", url, "--execute").exits(2).says("both the store and the commits")
	s.run("clamp", "-g", s.group, "-s", url, "--stored", "--execute").exits(0).prints("1 of 1 verified")
	same(t, "clamped", redisDo(t, r, "HMGET", key, "0", "1"), "200\n1000")
	same(t, "untouched", s.committed(), "0=260 1=400")
}

// A value may be bytes that are no text: it is told, and written over where that is asked for.
func TestRedisBadValues(t *testing.T) {
	r := startRedis(t)
	url := "redis://" + r.Addr()
	s := stage(t, cluster, [2]int64{200, 300}, [2]int64{0, 1500})
	key := "offset:" + s.topic + ":" + s.group
	redisDo(t, r, "HSET", key, "0", "\xff\xfe250", "1", "1000")
	clamp := []string{"clamp", "-g", s.group, "-t", s.topic, "-s", url, "--stored", "--execute"}
	s.run("describe", "-g", s.group, "-s", url).exits(3).prints("is no number")
	s.run(clamp...).exits(4).says("is no number", "--salvage")
	s.run(append(clamp, "--salvage")...).exits(4).prints("is no number").says("--missing earliest")
	s.run(append(clamp, "--salvage", "--missing", "earliest")...).exits(0).prints("is no number", "1 of 1 verified")
	same(t, "salvaged", redisDo(t, r, "HMGET", key, "0", "1"), "200\n1000")
}

// A save of which the answer was lost may have been made: that is unknown (3), and not "nothing was written" (5).
func TestRedisAnswerIsLost(t *testing.T) {
	r := startRedis(t)
	s := stage(t, cluster, [2]int64{200, 300})
	key := "offset:" + s.topic + ":" + s.group
	redisDo(t, r, "HSET", key, "0", "50")
	url := "redis://" + untilSeen(t, r.Addr(), "EVAL")
	run := s.run("clamp", "-g", s.group, "-t", s.topic, "-s", url, "--stored", "--execute", "--timeout", "2s").exits(3).prints("0 unknown", "1 unknown")
	if strings.Contains(run.err, "nothing was written") {
		t.Errorf("it says that nothing was written\n%v", run)
	}
	same(t, "stored all the same", redisDo(t, r, "HGET", key, "0"), "200")
}

// A replay whose store stays away ends, and names the batch that comes again. Whether it is saved is unknown: the undo serves both.
func TestRedisStaysAway(t *testing.T) {
	r := startRedis(t)
	s := stage(t, cluster, [2]int64{0, 30})
	key := "offset:" + s.topic + ":" + s.group
	redisDo(t, r, "HSET", key, "0", "0")
	url := "redis://" + untilSeen(t, r.Addr(), "EVAL")
	s.run("replay", "-g", s.group, "-t", s.topic, "-s", url, "--save", "--execute", "--timeout", "2s", "--batch-records", "10", "--", "cat").
		exits(3).says("batch 1 was accepted, but could not be saved", "did not answer", s.topic+" 0 0..10", "0 saved", "1 unknown", "--execute --moved overwrite")
	same(t, "stored all the same", redisDo(t, r, "HGET", key, "0"), "10")
}

// untilSeen is a way to a server that passes a word on, and then is gone for good.
func untilSeen(t *testing.T, server, word string) string {
	t.Helper()
	var seen atomic.Bool
	read := func(from net.Conn) ([]byte, error) {
		b := make([]byte, 64<<10)
		n, err := from.Read(b)
		return b[:n], err
	}
	p, err := tcpproxy.New(server, func(client, server net.Conn) (_ net.Conn, up, down func() ([]byte, error), _ error) {
		if seen.Load() {
			return nil, nil, nil, tcpproxy.ErrCut
		}
		up = func() ([]byte, error) {
			b, err := read(client)
			if bytes.Contains(b, []byte(word)) {
				seen.Store(true)
			}
			return b, err
		}
		down = func() ([]byte, error) {
			b, err := read(server)
			if seen.Load() {
				return nil, tcpproxy.ErrCut
			}
			return b, err
		}
		return client, up, down, nil
	})
	must(t, err)
	t.Cleanup(p.Close)
	return p.Addr()
}

// The password is nowhere, also where everything is told.
func TestRedisPasswordIsNotTold(t *testing.T) {
	r := startRedis(t, "--requirepass", "open-sesame")
	r.Auth = "open-sesame"
	s := stage(t, cluster, [2]int64{50, 100})
	redisDo(t, r, "HSET", "offset:"+s.topic+":"+s.group, "0", "5")
	for name, url := range map[string]string{
		"variable": "redis://job:$SESAME@" + r.Addr() + "/0", "environment": "redis://" + r.Addr(), "wrong": "redis://job:$WRONG@" + r.Addr(),
		"literal": "redis://job:open-sesame@" + r.Addr(),
	} {
		code := map[string]int{"wrong": 5, "literal": 2}[name]
		for _, args := range [][]string{
			{"describe", "-o", "json", "-v"}, {"clamp", "--stored", "--dry-run", "-v"}, {"clamp", "--stored", "--execute", "-v", "--why", "test"}, {"export", "--stored"},
		} {
			run := program{On: cluster, Env: []string{"SESAME=open-sesame", "GTOFFSET_STORE_PASSWORD=open-sesame", "WRONG=close-sesame"}}.
				run(t, append(args, "-g", s.group, "-t", s.topic, "-s", url)...)
			if run.exits(code); strings.Contains(run.out+run.err, "-sesame") {
				t.Errorf("%s: the password is told\n%v", name, run)
			}
		}
	}
	for _, backup := range s.backups() {
		content, err := os.ReadFile(backup)
		must(t, err)
		if strings.Contains(string(content), "-sesame") {
			t.Errorf("%s has the password", backup)
		}
	}
	if len(s.backups()) == 0 {
		t.Error("no backup was kept")
	}
}
