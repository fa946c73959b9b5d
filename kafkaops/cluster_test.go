package kafkaops_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops"
	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// connect makes a cluster that asks the in-process broker, each time for a minute at most unless a timeout is given.
func connect(t *testing.T, b *kafkatest.Broker, timeout time.Duration) *kafkaops.Cluster {
	t.Helper()
	if timeout == 0 {
		timeout = time.Minute
	}
	c := kafkaops.New(kafkaops.Config{Bootstrap: b.Addrs(), Wire: wire.Config{Timeout: timeout}})
	t.Cleanup(c.Close)
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// within bounds a test's questions. It is far more than they take.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func key(topic string, p int32) offsets.Key { return offsets.Key{Topic: topic, Partition: p} }

// describe does what the describe command does.
func describe(t *testing.T, c *kafkaops.Cluster, names ...string) ([]kafkaops.GroupCommits, kafkaops.Ranges) {
	t.Helper()
	ctx := within(t)
	groups, troubles, err := c.Groups(ctx, names, nil)
	must(t, err)
	for _, tr := range troubles {
		t.Logf("trouble: %+v", tr)
	}
	var topics []string
	for _, g := range groups {
		for k := range g.Commits {
			if !slices.Contains(topics, k.Topic) {
				topics = append(topics, k.Topic)
			}
		}
	}
	ranges, err := c.Ranges(ctx, topics, false)
	must(t, err)
	return groups, ranges
}

func one(t *testing.T, groups []kafkaops.GroupCommits, id string) kafkaops.GroupCommits {
	t.Helper()
	for _, g := range groups {
		if g.ID == id {
			return g
		}
	}
	t.Fatalf("no group %q in %v", id, groups)
	return kafkaops.GroupCommits{}
}

func TestDescribeRequestBudget(t *testing.T) {
	for _, n := range []int32{12, 1000} {
		t.Run(fmt.Sprint(n, " partitions"), func(t *testing.T) {
			b := kafkatest.Start(t, kafkatest.Options{})
			must(t, b.CreateTopic("orders", n))
			for p := range n {
				must(t, b.Commit("billing", "orders", p, int64(p), -1, "m"))
			}
			must(t, b.SetRange("orders", 3, 500, 22_000_000))
			c := connect(t, b, 0)
			groups, ranges := describe(t, c, "billing")
			g := one(t, groups, "billing")
			if g.Type != offsets.Simple || g.Existence != offsets.Exists || g.State != "Empty" || g.Trouble != nil || len(g.Commits) != int(n) {
				t.Errorf("group = %+v with %d commits", g.Group, len(g.Commits))
			}
			r := ranges.Range(key("orders", 3))
			if r.State != offsets.RangeKnown || r.Earliest != 500 || r.End != 22_000_000 || r.TopicID != b.TopicID("orders") || r.Stable != offsets.None {
				t.Errorf("range = %+v", r)
			}
			if len(ranges.Topics["orders"].Ranges) != int(n) {
				t.Errorf("%d ranges", len(ranges.Topics["orders"].Ranges))
			}
			for _, q := range b.Requests() {
				t.Log(q.Broker, q.Connection, kmsg.NameForKey(q.Key), q.Version)
			}
			if b.Count() > 15 || b.Connections() != 3 {
				t.Errorf("%d requests over %d connections", b.Count(), b.Connections())
			}
		})
	}
}
