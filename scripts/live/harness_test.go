//go:build live

package live_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/scripts/live"
)

// These tests hold the harness to what it says, so that the others can lean on it.

func TestRecords(t *testing.T) {
	ctx, topic := t.Context(), name(t, "orders")
	must(t, cluster.CreateTopic(ctx, topic, 3))
	must(t, cluster.Produce(ctx, topic, 1000))
	must(t, cluster.Produce(ctx, topic, 24, 2))
	must(t, cluster.DeleteRecords(ctx, topic, 1, 400))
	got, err := cluster.Ranges(ctx, topic)
	must(t, err)
	for i, want := range map[int32]live.Range{0: {Earliest: 0, End: 1000}, 1: {Earliest: 400, End: 1000}, 2: {Earliest: 0, End: 1024}} {
		if got[i].Earliest != want.Earliest || got[i].End != want.End {
			t.Errorf("partition %d: got %d..%d, want %d..%d", i, got[i].Earliest, got[i].End, want.Earliest, want.End)
		}
	}
	must(t, cluster.AddPartitions(ctx, topic, 5))
	got, err = cluster.Ranges(ctx, topic)
	must(t, err)
	if len(got) != 5 || got[4].End != 0 {
		t.Errorf("after partitions were added: got %+v, want 5, the last empty", got)
	}
}

func TestRetention(t *testing.T) {
	ctx, topic := t.Context(), name(t, "orders")
	must(t, cluster.CreateTopic(ctx, topic, 1, "segment.bytes=1048576"))
	must(t, cluster.Produce(ctx, topic, 10))
	must(t, cluster.Configure(ctx, kmsg.ConfigResourceTypeTopic, topic, "retention.ms=100"))
	must(t, live.Eventually(ctx, "the records have expired", func(ctx context.Context) (bool, error) {
		got, err := cluster.Ranges(ctx, topic)
		return got[0] == live.Range{Earliest: 10, End: 10, Leader: got[0].Leader, Epoch: got[0].Epoch}, err
	}))
}

func TestCommits(t *testing.T) {
	ctx, topic, group := t.Context(), name(t, "orders"), name(t, "billing")
	must(t, cluster.CreateTopic(ctx, topic, 2))
	must(t, cluster.Produce(ctx, topic, 10))
	must(t, cluster.Commit(ctx, group, topic, map[int32]live.Commit{0: live.At(7), 1: {Offset: 99, Epoch: 5, Metadata: "by hand"}}))
	got, err := cluster.Committed(ctx, group)
	must(t, err)
	if len(got[topic]) != 2 || got[topic][0] != live.At(7) || got[topic][1] != (live.Commit{Offset: 99, Epoch: 5, Metadata: "by hand"}) {
		t.Errorf("committed: got %+v", got)
	}
	groups, err := cluster.Groups(ctx)
	must(t, err)
	if want := (live.Group{Name: group, Type: "classic", State: "Empty"}); groups[group] != want {
		t.Errorf("group: got %+v, want %+v", groups[group], want)
	}
	must(t, cluster.DeleteGroup(ctx, group))
	got, err = cluster.Committed(ctx, group)
	must(t, err)
	if len(got) != 0 {
		t.Errorf("committed by a deleted group: got %+v, want none", got)
	}
}

func TestRecreate(t *testing.T) {
	ctx, topic, group := t.Context(), name(t, "orders"), name(t, "billing")
	must(t, cluster.CreateTopic(ctx, topic, 2))
	must(t, cluster.Produce(ctx, topic, 10))
	must(t, cluster.Commit(ctx, group, topic, map[int32]live.Commit{0: live.At(7)}))
	before, err := cluster.TopicID(ctx, topic)
	must(t, err)
	must(t, cluster.Recreate(ctx, topic))
	after, err := cluster.TopicID(ctx, topic)
	must(t, err)
	if before == after {
		t.Errorf("topic id: got %x twice, want another", after)
	}
	must(t, live.Eventually(ctx, "the commit of the deleted topic is gone", func(ctx context.Context) (bool, error) {
		got, err := cluster.Committed(ctx, group)
		return len(got[topic]) == 0, err
	}))
	must(t, cluster.Produce(ctx, topic, 3))
	ranges, err := cluster.Ranges(ctx, topic)
	must(t, err)
	if ranges[0].End != 3 {
		t.Errorf("end: got %d, want 3", ranges[0].End)
	}
	must(t, cluster.DeleteTopic(ctx, topic))
	if _, err := cluster.TopicID(ctx, topic); err == nil {
		t.Error("a deleted topic still has an id")
	}
}

func TestMoveLeader(t *testing.T) {
	ctx, topic := t.Context(), name(t, "orders")
	must(t, cluster.CreateTopic(ctx, topic, 1))
	must(t, cluster.Produce(ctx, topic, 5))
	before, err := cluster.Ranges(ctx, topic)
	must(t, err)
	to := before[0].Leader%3 + 1
	must(t, cluster.MoveLeader(ctx, topic, 0, to))
	must(t, cluster.Produce(ctx, topic, 5))
	after, err := cluster.Ranges(ctx, topic)
	must(t, err)
	if got := after[0]; got.Leader != to || got.Epoch <= before[0].Epoch || got.End != 10 {
		t.Errorf("got %+v, want leader %d, an epoch above %d and end 10", got, to, before[0].Epoch)
	}
}

func TestMembers(t *testing.T) {
	for _, kind := range []live.Kind{live.Classic, live.Consumer, live.Share} {
		t.Run(string(kind), func(t *testing.T) {
			ctx, topic, group := t.Context(), name(t, "orders"), name(t, "billing")
			must(t, cluster.CreateTopic(ctx, topic, 2))
			if kind == live.Share {
				must(t, cluster.Configure(ctx, kmsg.ConfigResourceTypeGroupConfig, group, "share.auto.offset.reset=earliest"))
			}
			member, err := cluster.Join(ctx, kind, group, topic)
			must(t, err)
			if kind != live.Share { // Kafka's tool for consumer groups does not show them
				said, err := cluster.Tool(ctx, live.ConsumerGroups, "--bootstrap-server", cluster.Bootstrap(), "--describe", "--state", "--group", group)
				must(t, err)
				if !strings.Contains(said, "Stable") {
					t.Errorf("kafka-consumer-groups: got\n%s\nwant a group that is Stable", said)
				}
			}
			member.Leave()
			must(t, live.Eventually(ctx, "the group is empty", func(ctx context.Context) (bool, error) {
				groups, err := cluster.Groups(ctx)
				return groups[group].State == "Empty" && groups[group].Type == string(kind), err
			}))
		})
	}
}

func TestBrokersComeAndGo(t *testing.T) {
	ctx := t.Context()
	own, err := live.Kafka(ctx, live.Current, 3, live.Properties("broker.session.timeout.ms=3000"), live.ClusterID("MkU3OEVBNTcwNTJENDM2Qk"))
	must(t, err)
	defer own.Stop()
	must(t, own.CreateTopic(ctx, "orders", 3))

	group, err := own.GroupAt(ctx, "billing", 2)
	must(t, err)
	must(t, own.Kill(2))
	if b := own.Brokers()[1]; b.PID != 0 {
		t.Errorf("killed: got pid %d, want none", b.PID)
	}
	leads := func(id int32) bool {
		ranges, err := own.Ranges(ctx, "orders")
		if err != nil {
			return false
		}
		for _, r := range ranges {
			if r.Leader == id {
				return true
			}
		}
		return false
	}
	must(t, live.Eventually(ctx, "broker 2 leads nothing", func(context.Context) (bool, error) { return !leads(2), nil }))
	must(t, live.Eventually(ctx, "another broker coordinates the group", func(ctx context.Context) (bool, error) {
		id, err := own.Coordinator(ctx, group)
		return id != 2, err
	}))
	must(t, own.Restart(ctx, 2))
	if _, err := own.Log(2); err != nil {
		t.Errorf("log of broker 2: %v", err)
	}

	must(t, own.Freeze(1))
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	one, err := kgo.NewClient(kgo.SeedBrokers(own.Brokers()[0].Addr))
	must(t, err)
	defer one.Close()
	if _, err := one.SeedBrokers()[0].Request(short, kmsg.NewPtrMetadataRequest()); err == nil {
		t.Error("a frozen broker answered")
	}
	must(t, own.Thaw(ctx, 1))
	dir := own.Brokers()
	own.Stop()
	for _, b := range dir {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", b.PID)); err == nil {
			t.Errorf("broker %d is still there after Stop", b.ID)
		}
	}
}

func TestDelayed(t *testing.T) {
	ctx := t.Context()
	const each = 10 * time.Millisecond
	own, err := live.Kafka(ctx, live.Current, 1, live.Delayed(each))
	must(t, err)
	defer own.Stop()
	one, err := kgo.NewClient(kgo.SeedBrokers(own.RemoteBootstrap()))
	must(t, err)
	defer one.Close()
	answer, err := one.SeedBrokers()[0].Request(ctx, kmsg.NewPtrMetadataRequest())
	must(t, err)
	b := answer.(*kmsg.MetadataResponse).Brokers[0]
	if got := fmt.Sprintf("%s:%d", b.Host, b.Port); got != own.RemoteBootstrap() {
		t.Errorf("advertised: got %s, want the far end %s", got, own.RemoteBootstrap())
	}
	began := time.Now()
	_, err = one.SeedBrokers()[0].Request(ctx, kmsg.NewPtrMetadataRequest())
	must(t, err)
	if took := time.Since(began); took < 2*each {
		t.Errorf("one round trip took %v, want at least %v", took, 2*each)
	}
}

func TestPrevious(t *testing.T) {
	ctx := t.Context()
	own, err := previous()
	must(t, err)
	must(t, own.CreateTopic(ctx, "orders", 2))
	must(t, own.Produce(ctx, "orders", 10))
	must(t, own.DeleteRecords(ctx, "orders", 0, 4))
	must(t, own.Commit(ctx, "billing", "orders", map[int32]live.Commit{0: live.At(2), 1: live.At(8)}))
	member, err := own.Join(ctx, live.Classic, "shipping", "orders")
	must(t, err)
	defer member.Leave()

	// Its brokers know only the first version of the new protocol, and only Java speaks that.
	consumer, err := own.StartTool(live.ConsoleConsumer, "--bootstrap-server", own.Bootstrap(), "--topic", "orders", "--group", "stock",
		"--consumer-property", "group.protocol=consumer")
	must(t, err)
	defer consumer.Stop()
	err = live.Eventually(ctx, "the consumer group is stable", func(ctx context.Context) (bool, error) {
		groups, err := own.Groups(ctx)
		return groups["stock"].Type == "consumer" && groups["stock"].State == "Stable", err
	})
	if err != nil {
		t.Errorf("%v\n%s", err, consumer.Output())
	}
	said, err := own.Tool(ctx, live.ConsumerGroups, "--bootstrap-server", own.Bootstrap(), "--describe", "--group", "billing")
	must(t, err)
	if !strings.Contains(said, "orders") {
		t.Errorf("kafka-consumer-groups: got\n%s", said)
	}
}

func TestProgram(t *testing.T) {
	if r := gtoffset(t, "version").exits(0).prints("gtoffset"); r.err != "" {
		t.Errorf("something on stderr\n%v", r)
	}
}

func TestKcat(t *testing.T) {
	said, err := cluster.Kcat(t.Context(), "-L")
	must(t, err)
	if !strings.Contains(said, " 3 brokers") {
		t.Errorf("got\n%s\nwant 3 brokers", said)
	}
}
