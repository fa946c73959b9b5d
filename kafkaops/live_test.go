//go:build live

package kafkaops_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops"
	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// real is a real cluster: GTOFFSET_TEST_BOOTSTRAP lists its brokers, GTOFFSET_TEST_KAFKA its version. It has three brokers if the
// version is 4.x, and need not be empty.
type real struct {
	admin   *kgo.Client
	addrs   []string
	version string
	suffix  string
}

func live(t *testing.T) *real {
	t.Helper()
	r := &real{
		addrs: strings.Split(os.Getenv("GTOFFSET_TEST_BOOTSTRAP"), ","), version: os.Getenv("GTOFFSET_TEST_KAFKA"),
		suffix: fmt.Sprint(time.Now().UnixNano() % 1e9),
	}
	if r.addrs[0] == "" {
		t.Fatal("set GTOFFSET_TEST_BOOTSTRAP and GTOFFSET_TEST_KAFKA")
	}
	c, err := kgo.NewClient(kgo.SeedBrokers(r.addrs...))
	must(t, err)
	t.Cleanup(c.Close)
	r.admin = c
	return r
}

func (r *real) connect(t *testing.T) (*kafkaops.Cluster, *kafkatest.Counter) {
	n := new(kafkatest.Counter)
	c := kafkaops.New(kafkaops.Config{Bootstrap: r.addrs, Wire: wire.Config{Dial: n.Dial}})
	t.Cleanup(c.Close)
	return c, n
}

func (r *real) create(t *testing.T, topic string, partitions int32) {
	t.Helper()
	q := kmsg.NewPtrCreateTopicsRequest()
	x := kmsg.NewCreateTopicsRequestTopic()
	x.Topic, x.NumPartitions, x.ReplicationFactor = topic, partitions, 1
	q.Topics = append(q.Topics, x)
	q.TimeoutMillis = 20000
	a, err := r.admin.Request(within(t), q)
	must(t, err)
	must(t, kerr.ErrorForCode(a.(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode))
}

func (r *real) join(t *testing.T, group, topic string, opts ...kgo.Opt) (leave func()) {
	t.Helper()
	c, err := kgo.NewClient(append(opts, kgo.SeedBrokers(r.addrs...), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit())...)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for ctx.Err() == nil {
			c.PollFetches(ctx)
		}
	}()
	leave = func() { cancel(); c.CloseAllowingRebalance() }
	t.Cleanup(leave)
	return leave
}

// It is for releases that scripts/live does not start: there the same is tested on the current and the previous one.
func TestLive(t *testing.T) {
	r := live(t)
	newest := strings.HasPrefix(r.version, "4.")
	topic, big := "orders-"+r.suffix, "big-"+r.suffix
	r.create(t, topic, 12)
	many := int32(1000)
	if !newest {
		many = 50 // creating them takes older clusters long
	}
	r.create(t, big, many)
	ctx := within(t)
	w, _ := r.connect(t)
	var ranges kafkaops.Ranges
	poll(t, func() (known bool) { // a topic that was just created is not known everywhere at once
		var err error
		ranges, err = w.Ranges(ctx, []string{topic, big}, true)
		must(t, err)
		return ranges.Range(key(topic, 11)).Known() && ranges.Range(key(big, many-1)).Known()
	})
	id := ranges.Topics[topic].ID
	if old := r.version < "2.8"; (id == "") != old || len(ranges.Topics[big].Ranges) != int(many) {
		t.Fatalf("topic = %q, %d ranges", id, len(ranges.Topics[big].Ranges))
	}
	for p := range int32(12) {
		if x := ranges.Range(key(topic, p)); !x.Known() || x.Earliest != 0 || x.End != 0 || x.Stable != 0 {
			t.Errorf("range %d = %+v", p, x)
		}
	}
	small, large := "small-"+r.suffix, "large-"+r.suffix
	write := func(group, topic string, n int32) {
		var changes []offsets.Change
		for p := range n {
			changes = append(changes, to(topic, p, int64(p), ranges.Topics[topic].ID))
		}
		for _, ch := range w.WriteCommits(ctx, group, changes) {
			if ch.Result != offsets.Written {
				t.Fatalf("%v: %s %s", ch.Key, ch.Result, ch.Error)
			}
		}
	}
	write(small, topic, 12)
	write(large, big, many)
	for i := range 20 {
		write(fmt.Sprint("many-", r.suffix, "-", i), topic, 1)
	}
	look := func(limit int, names ...string) []kafkaops.GroupCommits {
		t.Helper()
		c, n := r.connect(t)
		start := time.Now()
		groups, _ := describe(t, c, names...)
		took := time.Since(start)
		var all []string
		for _, q := range n.Requests() {
			all = append(all, fmt.Sprintf("%s.v%d", kmsg.NameForKey(q.Key), q.Version))
		}
		if len(names) > 3 {
			names = names[:3]
		}
		t.Logf("%v: %d requests over %d connections in %v: %v", names, len(all), n.Dials(), took, all)
		if newest && (len(all) > limit || n.Dials() > 3) {
			t.Errorf("%v: %d requests, at most %d; %d connections", names, len(all), limit, n.Dials())
		}
		return groups
	}
	if g := look(15, small)[0]; g.Type != offsets.Simple || g.State != "Empty" || len(g.Commits) != 12 || g.Trouble != nil || g.Commits[key(topic, 7)].Offset != 7 {
		t.Errorf("small = %+v", g)
	}
	if g := look(15, large)[0]; g.Type != offsets.Simple || len(g.Commits) != int(many) || g.Trouble != nil {
		t.Errorf("large = %+v", g.Group)
	}
	if g := look(17, "never-"+r.suffix)[0]; g.Existence != offsets.Missing || g.Active() || g.Trouble != nil {
		t.Errorf("never = %+v", g)
	}
	classic := "classic-" + r.suffix
	leave := r.join(t, classic, topic)
	poll(t, func() bool {
		g, _, err := w.Groups(ctx, []string{classic}, nil)
		must(t, err)
		return g[0].State == "Stable" && len(g[0].Members) == 1 && len(g[0].Members[0].Assigned) == 12
	})
	if g := look(15, classic)[0]; g.Type != offsets.Classic || g.Protocol != "consumer" || !g.Active() || g.Members[0].Epoch != offsets.None {
		t.Errorf("classic = %+v", g)
	}
	got := w.WriteCommits(ctx, classic, []offsets.Change{to(topic, 0, 5, id), to(topic, 0, offsets.None, "")})
	if got[0].Result != offsets.Failed || !strings.Contains(got[0].Error, "the group is active") || got[1].Result != offsets.NotTried {
		t.Errorf("write to a live classic group: %q", results(got))
	}
	leave()
	poll(t, func() bool {
		g, _, err := w.Groups(ctx, []string{classic}, nil)
		must(t, err)
		return g[0].State == "Empty" || g[0].Existence == offsets.Missing
	})
	if newest {
		modern := "modern-" + r.suffix
		leave := r.join(t, modern, topic, kgo.ServerSideBalancer())
		poll(t, func() bool {
			g, _, err := w.Groups(ctx, []string{modern}, nil)
			must(t, err)
			return g[0].State == "Stable" && len(g[0].Members) == 1 && len(g[0].Members[0].Assigned) == 12
		})
		if g := look(15, modern)[0]; g.Type != offsets.Consumer || !g.Active() || g.Epoch < 1 {
			t.Errorf("modern = %+v", g)
		}
		if got := w.WriteCommits(ctx, modern, []offsets.Change{to(topic, 0, 5, id)}); got[0].Result != offsets.Failed || !strings.Contains(got[0].Error, "the group is active") {
			t.Errorf("write to a live KIP-848 group: %q", results(got))
		}
		leave()
		poll(t, func() bool {
			g, _, err := w.Groups(ctx, []string{modern}, nil)
			must(t, err)
			return g[0].State == "Empty"
		})
		if g := look(15, modern)[0]; g.Type != offsets.Consumer || g.Active() || g.Existence != offsets.Exists {
			t.Errorf("empty modern = %+v", g)
		}
		share := "share-" + r.suffix
		q := kmsg.NewPtrShareGroupHeartbeatRequest()
		q.GroupID, q.MemberID, q.SubscribedTopicNames = share, "AAAAAAAAAAAAAAAAAAAAAQ", []string{topic}
		_, err := r.admin.Request(ctx, q)
		must(t, err)
		poll(t, func() bool {
			g, _, err := w.Groups(ctx, []string{share}, nil)
			must(t, err)
			return g[0].Type == offsets.Share
		})
		if g := look(17, share)[0]; g.Type != offsets.Share || g.Trouble != nil || g.Existence != offsets.Exists {
			t.Errorf("share = %+v", g)
		}
	}
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprint("many-", r.suffix, "-", i))
	}
	look(29, names...)
	for _, g := range look(29) {
		if g.Trouble != nil || g.Existence != offsets.Exists || g.Type == offsets.TypeUnknown && r.version >= "3.8" {
			t.Errorf("all: %+v", g.Group)
		}
	}
	got = w.WriteCommits(ctx, small, []offsets.Change{to(topic, 3, offsets.None, id), to(topic, 99, 1, id), to(topic, 4, 44, id)})
	if r.version >= "2.4" && got[0].Result != offsets.Written || got[1].Result != offsets.Failed || got[2].Result != offsets.Written {
		t.Errorf("got %q", results(got))
	}
	commits, trouble := w.Commits(ctx, small, []offsets.Key{key(topic, 3), key(topic, 4)})
	if _, there := commits[key(topic, 3)]; there && r.version >= "2.4" || commits[key(topic, 4)].Offset != 44 || trouble != nil {
		t.Errorf("read back %+v %+v", commits, trouble)
	}
	if newest { // a recreated topic
		d := kmsg.NewPtrDeleteTopicsRequest()
		x := kmsg.NewDeleteTopicsRequestTopic()
		x.Topic = &topic
		d.Topics, d.TopicNames, d.TimeoutMillis = append(d.Topics, x), []string{topic}, 20000
		_, err := r.admin.Request(ctx, d)
		must(t, err)
		poll(t, func() bool {
			x, err := w.Ranges(ctx, []string{topic}, false)
			must(t, err)
			return x.Topics[topic].Gone
		})
		r.create(t, topic, 12)
		poll(t, func() bool {
			x, err := w.Ranges(ctx, []string{topic}, false)
			must(t, err)
			return x.Range(key(topic, 0)).Known()
		})
		if got := w.WriteCommits(ctx, small, []offsets.Change{to(topic, 4, 1, id)}); got[0].Result != offsets.Failed || !strings.Contains(got[0].Error, "recreated") {
			t.Errorf("commit to a recreated topic: %q", results(got))
		}
	}
}

// poll waits until f holds.
func poll(t *testing.T, f func() bool) {
	t.Helper()
	end := time.Now().Add(20 * time.Second)
	for !f() {
		if time.Now().After(end) {
			t.Fatal("it did not come about")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// A user without any right, on the secure cluster of wire's live test: what is refused is named, with the right that is missing.
func TestLiveDenied(t *testing.T) {
	host, portText, err := net.SplitHostPort(os.Getenv("GTOFFSET_TEST_SECURE"))
	if err != nil {
		t.Skip("GTOFFSET_TEST_SECURE is not set")
	}
	port, _ := strconv.Atoi(portText)
	admin, err := kgo.NewClient(kgo.SeedBrokers(net.JoinHostPort(host, portText)))
	must(t, err)
	defer admin.Close()
	r := &real{admin: admin, suffix: fmt.Sprint(time.Now().UnixNano() % 1e9)}
	topic, group := "t-"+r.suffix, "g-"+r.suffix
	r.create(t, topic, 2)
	ctx := within(t)
	w := kafkaops.New(kafkaops.Config{Bootstrap: []string{net.JoinHostPort(host, portText)}})
	defer w.Close()
	if got := w.WriteCommits(ctx, group, []offsets.Change{to(topic, 0, 5, "")}); got[0].Result != offsets.Written {
		t.Fatalf("got %q", results(got))
	}
	c := kafkaops.New(kafkaops.Config{
		Bootstrap: []string{net.JoinHostPort(host, fmt.Sprint(port+2))},
		Wire:      wire.Config{SASL: plain.Mechanism{Username: "bob", Password: "bob-secret"}},
	})
	defer c.Close()
	groups, _, err := c.Groups(ctx, []string{group}, nil)
	must(t, err)
	if tr := groups[0].Trouble; tr == nil || !tr.Denied || !strings.Contains(tr.Reason, "DESCRIBE on group "+group) {
		t.Errorf("group: %+v", groups[0])
	}
	ranges, err := c.Ranges(ctx, []string{topic}, false)
	must(t, err)
	if x := ranges.Range(key(topic, 0)); !x.Denied || !strings.Contains(x.Reason, "DESCRIBE on topic "+topic) {
		t.Errorf("range: %+v", x)
	}
	if got := c.WriteCommits(ctx, group, []offsets.Change{to(topic, 0, 6, "")}); got[0].Result != offsets.Failed || !strings.Contains(got[0].Error, "on group "+group) {
		t.Errorf("write: %q", results(got))
	}
}
