//go:build live

package zookeeper_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

func load(t testing.TB, s offsetfile.Store, group string, topics ...string) offsetfile.Holding {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	h, err := s.Load(ctx, group, topics, false)
	if err != nil {
		t.Fatalf("load %s: %v", group, err)
	}
	return h
}

// save saves offsets for the partitions of a topic from 0 on, None to remove one, over what is damaged.
func save(t testing.TB, s offsetfile.Store, group, topic string, next ...int64) []offsets.Change {
	t.Helper()
	var changes []offsets.Change
	for p, n := range next {
		changes = append(changes, offsets.Change{
			Key: offsets.Key{Topic: topic, Partition: int32(p)}, Side: offsets.Stored, Verdict: offsets.Write,
			Old: offsets.NoValue, New: offsets.Value{Offset: n, Epoch: offsets.None},
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w, err := s.Writer(ctx, group, []string{topic})
	must(t, err)
	h, err := s.Load(ctx, group, []string{topic}, true)
	must(t, err)
	changes, _ = w.Save(ctx, h.Store, changes, offsetfile.Facts{Now: time.Now()})
	return changes
}

func results(changes []offsets.Change) string {
	var all []string
	for _, c := range changes {
		all = append(all, string(c.Result))
	}
	return strings.Join(all, " ")
}

// What nodes can be, apart from a number. STO-5: a group can be registered without offsets.
func TestNodes(t *testing.T) {
	z := start(t)
	z.put(t, "/kafka/consumers/billing/offsets/orders/0", "41")
	z.put(t, "/kafka/consumers/billing/offsets/orders/1", "")
	z.put(t, "/kafka/consumers/billing/offsets/orders/2", "4\x001")
	z.put(t, "/kafka/consumers/billing/offsets/orders/3", "7")
	z.put(t, "/kafka/consumers/billing/offsets/orders/3/below", "9")
	z.put(t, "/kafka/consumers/billing/offsets/orders/03", "9")
	z.put(t, "/kafka/consumers/billing/offsets/orders/latest", "9")
	z.put(t, "/kafka/consumers/billing/offsets/empty", "9")
	z.put(t, "/kafka/consumers/billing/offsets/orders/4", "11")
	z.protect(t, "/kafka/consumers/billing/offsets/orders/4", zk.PermAll, "somebody", "else")
	z.put(t, "/kafka/consumers/idle/ids", "")
	z.put(t, "/kafka/consumers/idle/owners", "")
	z.put(t, "/kafka/consumers/bare", "")
	z.put(t, "/kafka/consumers/closed/offsets/orders/0", "5")
	z.protect(t, "/kafka/consumers/closed/offsets", zk.PermAll, "somebody", "else")
	s := open(t, "zookeeper://"+z.Addr+"/kafka", offsetfile.Options{})
	defer s.Close()

	h := load(t, s, "billing")
	for p, want := range []offsets.Presence{offsets.Present, offsets.Empty, offsets.Damaged, offsets.Present, offsets.Denied} {
		e := h.Entries[offsets.Key{Topic: "orders", Partition: int32(p)}]
		if e.Presence != want || e.Problem() != (e.Reason != "") {
			t.Errorf("partition %d: got %v (%s), want %v", p, e.Presence, e.Reason, want)
		}
	}
	if len(h.Entries) != 5 || len(h.Store.Topics) != 1 || h.Store.Saved.IsZero() {
		t.Errorf("got %+v of %+v, want five entries of one topic and when it was saved", h.Entries, h.Store.Topics)
	}
	for _, node := range []string{"03", "latest"} {
		if !slices.Contains(h.Store.Notes, "node /kafka/consumers/billing/offsets/orders/"+node+" is no partition: ignored") {
			t.Errorf("notes: got %q, want one about %s", h.Store.Notes, node)
		}
	}

	// A node with others below it is written, not removed; and so is nothing else of that save.
	if got := results(save(t, s, "billing", "orders", 50, offsets.None, 50, offsets.None)); got != "failed failed failed failed" {
		t.Errorf("got %s, want nothing written", got)
	}
	if got := z.get(t, "/kafka/consumers/billing/offsets/orders/0"); got != "41" {
		t.Errorf("got %q, want it as it was", got)
	}

	if h := load(t, s, "idle"); len(h.Entries) > 0 || len(h.Store.Notes) != 1 || !strings.Contains(h.Store.Notes[0], "registered at /kafka/consumers/idle, without offsets") {
		t.Errorf("a group without offsets: got %+v", h)
	}
	if h := load(t, s, "nobody"); len(h.Entries) > 0 || len(h.Store.Notes) > 0 {
		t.Errorf("no group: got %+v", h)
	}
	if h := load(t, s, "closed"); h.Store.Trouble == nil || !h.Store.Trouble.Denied || !strings.Contains(h.Store.Trouble.Reason, "/kafka/consumers/closed/offsets") {
		t.Errorf("a group that may not be listed: got %+v", h.Store)
	}
	groups, notes, err := s.Groups(t.Context())
	if err != nil || strings.Join(groups, " ") != "billing closed" || strings.Join(notes, "; ") != "2 groups registered without offsets: bare, idle; 1 group may not be read: closed" {
		t.Errorf("groups: got %q, %q, %v", groups, notes, err)
	}
}

// A consumer that is at work is told by its node, which lives as long as it does.
func TestRunningConsumer(t *testing.T) {
	z := start(t)
	z.put(t, "/consumers/billing/offsets/orders/0", "41")
	z.put(t, "/consumers/billing/ids", "")
	_, err := z.conn.Create("/consumers/billing/ids/billing_host-1", []byte(`{"version":1}`), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	must(t, err)
	s := open(t, "zookeeper://"+z.Addr, offsetfile.Options{})
	defer s.Close()
	if h := load(t, s, "billing"); !slices.Equal(h.Store.Users, []string{"billing_host-1"}) || len(h.Store.Notes) != 1 {
		t.Errorf("got %q, %q; want the consumer and a note", h.Store.Users, h.Store.Notes)
	}
	z.conn.Close()
	z.connect(t)
	if h := load(t, s, "billing"); len(h.Store.Users) > 0 || len(h.Store.Notes) > 0 {
		t.Errorf("it has ended: got %q, %q", h.Store.Users, h.Store.Notes)
	}
}

// A new node has the rights of the one above, so that whoever could write there still can, and nobody else.
func TestRights(t *testing.T) {
	z := start(t)
	z.put(t, "/consumers/shared/offsets/orders/0", "1")
	z.put(t, "/consumers/ours/offsets", "")
	z.protect(t, "/consumers/ours/offsets", zk.PermAll, "jobs", "secret")
	z.put(t, "/consumers/lent/offsets", "")
	z.protect(t, "/consumers/lent/offsets", zk.PermRead|zk.PermWrite|zk.PermCreate|zk.PermDelete, "jobs", "secret") // it may not administer
	z.put(t, "/consumers/theirs/offsets", "")
	_, err := z.conn.SetACL("/consumers/theirs/offsets", append(zk.DigestACL(zk.PermAll, "others", "x"), zk.DigestACL(zk.PermCreate|zk.PermRead, "jobs", "secret")...), -1)
	must(t, err)
	z.put(t, "/consumers/fixed/offsets/orders/0", "1")
	_, err = z.conn.SetACL("/consumers/fixed/offsets/orders/0", zk.WorldACL(zk.PermRead), -1)
	must(t, err)

	s := open(t, "zookeeper://jobs:$PW@"+z.Addr, offsetfile.Options{})
	defer s.Close()
	for group, want := range map[string]string{"shared": "written written", "ours": "written written", "lent": "written written", "theirs": "failed failed", "fixed": "failed failed"} {
		changes := save(t, s, group, "orders", 5, 6)
		if got := results(changes); got != want {
			t.Errorf("%s: got %s (%s), want %s", group, got, changes[0].Error, want)
		}
	}
	// Who is not the user cannot read what that user made for itself alone.
	wrong := open(t, "zookeeper://jobs:$OTHER@"+z.Addr, offsetfile.Options{})
	defer wrong.Close()
	for group, want := range map[string]offsets.Presence{"shared": offsets.Present, "ours": offsets.Denied, "lent": offsets.Denied} {
		topic := topicOf(t, wrong, group)
		if topic.Presence != want {
			t.Errorf("%s, by another: got %v (%s), want %v", group, topic.Presence, topic.Reason, want)
		}
		topic = topicOf(t, s, group)
		if topic.Presence != offsets.Present {
			t.Errorf("%s: got %v (%s), want it present", group, topic.Presence, topic.Reason)
		}
	}

	// Who may not list the groups may still have one of them.
	z.protect(t, "/consumers", zk.PermAll, "others", "x")
	if topic := topicOf(t, wrong, "shared"); topic.Presence != offsets.Present {
		t.Errorf("below what may not be listed: got %v (%s), want it present", topic.Presence, topic.Reason)
	}
	var refused *offsetfile.CredentialsError
	if _, _, err := wrong.Groups(t.Context()); !errors.As(err, &refused) || refused.Store == "" || strings.Contains(err.Error(), "other") {
		t.Errorf("got %v, want the credentials refused, without the password", err)
	}
}

func topicOf(t testing.TB, s offsetfile.Store, group string) offsets.StoredTopic {
	t.Helper()
	h := load(t, s, group, "orders")
	topic, _ := h.Store.Topic("orders")
	return topic
}

// STO-3: the chroot is in no way guessed, but what would be right is said.
func TestWrongChroot(t *testing.T) {
	z := start(t)
	z.put(t, "/kafka/consumers/billing/offsets/orders/0", "41")
	for chroot, hint := range map[string]string{"": "zookeeper://" + z.Addr + "/kafka", "/kafka/consumers": "/kafka", "/other": "/kafka"} {
		s := open(t, "zookeeper://"+z.Addr+chroot, offsetfile.Options{})
		defer s.Close()
		var nothing *offsetfile.NothingError
		if _, err := s.Load(t.Context(), "billing", []string{"orders"}, false); !errors.As(err, &nothing) || nothing.Looked != "node "+chroot+"/consumers" || !strings.HasSuffix(nothing.Hint, hint) {
			t.Errorf("chroot %q: got %v, hint %q", chroot, err, nothing.Hint)
		}
		if got := results(save(t, open(t, "zookeeper://"+z.Addr+"/kafka", offsetfile.Options{}), "billing", "orders", 41)); got != "already" {
			t.Errorf("the right one: got %s", got)
		}
	}
	// A save makes all of it, if that is wished.
	s := open(t, "zookeeper://"+z.Addr+"/new/place", offsetfile.Options{Create: true})
	defer s.Close()
	if got := results(save(t, s, "billing", "orders", 41)); got != "written" || z.get(t, "/new/place/consumers/billing/offsets/orders/0") != "41" {
		t.Errorf("made: got %s", got)
	}
}

// A save of more than a request may have is one request for some topics each, and a topic that is too large alone is refused.
func TestLargeSave(t *testing.T) {
	z := start(t)
	z.put(t, "/consumers", "")
	s := open(t, "zookeeper://"+z.Addr, offsetfile.Options{})
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var changes []offsets.Change
	topics := []string{"a", "b", "c"}
	for _, topic := range topics {
		for p := range int32(4000) {
			changes = append(changes, offsets.Change{
				Key: offsets.Key{Topic: topic, Partition: p}, Side: offsets.Stored, Verdict: offsets.Write, New: offsets.Value{Offset: int64(p), Epoch: offsets.None},
			})
		}
	}
	w, err := s.Writer(ctx, "billing", topics)
	must(t, err)
	h, err := s.Load(ctx, "billing", topics, false)
	must(t, err)
	changes, _ = w.Save(ctx, h.Store, changes, offsetfile.Facts{Now: time.Now()})
	for _, c := range changes {
		if c.Result != offsets.Written {
			t.Fatalf("%v: got %s (%s)", c.Key, c.Result, c.Error)
		}
	}
	if h, err = s.Load(ctx, "billing", nil, false); err != nil || len(h.Entries) != len(changes) {
		t.Errorf("got %d entries, %v; want %d", len(h.Entries), err, len(changes))
	}
	next := make([]int64, 6000)
	changes = save(t, s, "shipping", "orders", next...)
	if c := changes[0]; c.Result != offsets.Failed || !strings.Contains(c.Error, "too large for one request to ZooKeeper") {
		t.Errorf("one topic: got %s (%s), want a refusal", c.Result, c.Error)
	}
	if h := load(t, s, "shipping"); len(h.Entries) > 0 {
		t.Errorf("got %d entries, want none", len(h.Entries))
	}
}

// Of several servers one that lives is enough: others may be down, silent, or something else.
func TestServers(t *testing.T) {
	z := start(t)
	z.put(t, "/consumers/billing/offsets/orders/0", "41")
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer silent.Close()
	down, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	down.Close()
	for range 3 { // the order is drawn anew each time
		s := open(t, fmt.Sprintf("zookeeper://%s,%s,%s", silent.Addr(), down.Addr(), z.Addr), offsetfile.Options{})
		if h := load(t, s, "billing"); len(h.Entries) != 1 {
			t.Errorf("got %+v", h.Entries)
		}
		must(t, s.Close())
	}
}
