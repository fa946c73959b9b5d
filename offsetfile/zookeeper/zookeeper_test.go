package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"gtoffset/offsetfile"
	"gtoffset/offsetfile/storetest"
)

func open(t *testing.T, url string) (offsetfile.Store, error) {
	t.Helper()
	return storetest.Open(t, Open, url, offsetfile.Options{})
}

func TestAddresses(t *testing.T) {
	for url, wrong := range map[string]string{
		"zookeeper://h1,h2:2182/kafka":     "",
		"zookeeper://h1/kafka/":            "",
		"zookeeper://h1/a%2Fb?counts=last": "",
		"zookeeper://jobs:$PW@h1":          "",
		"zookeeper:///kafka":               "host",
		"zookeeper://h1,,h2":               "host",
		"zookeeper://h1/kafka//eu":         "chroot",
		"zookeeper://h1/..":                "chroot",
		"zookeeper://h1/a%01b":             "chroot",
		"zookeeper://h1/kafka?cas=no":      "parameter cas",
		"zookeeper://a%3Ab:$PW@h1":         "user",
	} {
		_, err := open(t, url)
		var of *offsetfile.URLError
		if wrong == "" && err != nil || wrong != "" && (!errors.As(err, &of) || of.Part != wrong) {
			t.Errorf("%s: got %v, want an error about %q", url, err, wrong)
		}
	}
}

func TestTree(t *testing.T) {
	tree := tree{"/eu/kafka"}
	if got := tree.partition("billing", "orders", 7); got != "/eu/kafka/consumers/billing/offsets/orders/7" {
		t.Errorf("partition: got %s", got)
	}
	want := "/ /eu /eu/kafka /eu/kafka/consumers /eu/kafka/consumers/billing /eu/kafka/consumers/billing/offsets /eu/kafka/consumers/billing/offsets/orders"
	if got := strings.Join(tree.above("billing", "orders"), " "); got != want {
		t.Errorf("above: got  %s\nwant %s", got, want)
	}
}

// A new node's rights are those above; a password that is not shown is only filled in if it is ours.
func TestInherited(t *testing.T) {
	ours := &table{user: "jobs", password: "secret"}
	hidden := zk.ACL{Perms: zk.PermRead, Scheme: "digest", ID: "jobs:x"}
	got, err := ours.inherited("/n", []zk.ACL{zk.WorldACL(zk.PermRead)[0], hidden}, false)
	if err != nil || got[0] != zk.WorldACL(zk.PermRead)[0] || got[1] != zk.DigestACL(zk.PermRead, "jobs", "secret")[0] {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := (&table{user: "others", password: "secret"}).inherited("/n", []zk.ACL{hidden}, false); err == nil {
		t.Error("a password that is not shown: got no error")
	}
	if _, err := ours.inherited("/n", nil, true); err == nil {
		t.Error("rights that may not be read: got no error")
	}
}

// Missing nodes are made once, from the top, before what stands below them.
func TestPlan(t *testing.T) {
	open := zk.WorldACL(zk.PermAll)
	above := rights{}
	for _, path := range []string{"/", "/consumers", "/consumers/billing"} {
		f := above[path]
		f.acl = open
		above[path] = f
	}
	for _, path := range []string{"/consumers/billing/offsets", "/consumers/billing/offsets/a", "/consumers/billing/offsets/b"} {
		f := above[path]
		f.missing = true
		above[path] = f
	}
	one := func(topic string, partition int32) offsetfile.Edit {
		return offsetfile.Edit{Topic: topic, Partition: partition, New: &offsetfile.Cell{Text: "5"}}
	}
	changed := one("a", 2)
	changed.Old = &offsetfile.Cell{Text: "4", Version: "7"}
	requests, err := (&table{}).plan("billing", []offsetfile.Edit{one("a", 0), one("b", 0), one("a", 1), changed}, above)
	if err != nil || len(requests) != 1 {
		t.Fatalf("got %d requests, %v; want one", len(requests), err)
	}
	var got []string
	for _, o := range requests[0] {
		switch r := o.request.(type) {
		case *zk.CreateRequest:
			got = append(got, "create "+r.Path)
		case *zk.SetDataRequest:
			got = append(got, fmt.Sprintf("set %s at %d", r.Path, r.Version))
		}
	}
	want := []string{
		"create /consumers/billing/offsets", "create /consumers/billing/offsets/a", "create /consumers/billing/offsets/a/0",
		"create /consumers/billing/offsets/a/1", "set /consumers/billing/offsets/a/2 at 7",
		"create /consumers/billing/offsets/b", "create /consumers/billing/offsets/b/0",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// server accepts connections and does with each what it is told.
func server(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return l.Addr().String()
}

func loadError(t *testing.T, addr string, limit time.Duration) error {
	t.Helper()
	s, err := open(t, "zookeeper://"+addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	_, err = s.Load(ctx, "billing", nil, false)
	return err
}

// What answers but is no ZooKeeper is known by its first bytes, and not tried again; nor is room made for as many bytes as it says.
func TestNoZooKeeper(t *testing.T) {
	addr := server(t, func(c net.Conn) {
		defer c.Close()
		_, _ = io.ReadFull(c, make([]byte, 8))
		_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
	})
	var away *offsetfile.AwayError
	if err := loadError(t, addr, time.Minute); !errors.As(err, &away) || away.Tries != 1 || !strings.Contains(err.Error(), "is no ZooKeeper") || !strings.Contains(err.Error(), addr) {
		t.Errorf("got %v, want it told after one try", err)
	}
}

// A server that accepts and stays silent, or hangs up, ends with the context and not later.
func TestSilentServer(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"silent":   func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
		"hangs up": func(c net.Conn) { c.Close() },
		"stops in the middle": func(c net.Conn) {
			_, _ = c.Write([]byte{0, 0, 0})
			_, _ = io.Copy(io.Discard, c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var away *offsetfile.AwayError
			if err := loadError(t, server(t, serve), 300*time.Millisecond); !errors.As(err, &away) {
				t.Errorf("got %v, want it away", err)
			}
		})
	}
}
