package live

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A Range is what the cluster holds of one partition.
type Range struct {
	Earliest, End int64 // first offset that is still there, next to be written
	Leader, Epoch int32
}

func (c *Cluster) options(more ...kgo.Opt) []kgo.Opt {
	return append([]kgo.Opt{
		kgo.SeedBrokers(strings.Split(c.Bootstrap(), ",")...),
		kgo.ClientID("live"),
		kgo.DialTimeout(2 * time.Second),
		kgo.RequestTimeoutOverhead(5 * time.Second),
		kgo.RetryTimeout(30 * time.Second),
		kgo.MetadataMinAge(50 * time.Millisecond),
	}, more...)
}

// request sends one request to whichever broker it belongs to.
func request[T kmsg.Response](ctx context.Context, c *Cluster, q kmsg.Request) (T, error) {
	var none T
	answer, err := c.client.Request(ctx, q)
	if err != nil {
		return none, err
	}
	return answer.(T), nil
}

// CreateTopic makes a topic with a copy on up to three brokers, and returns when every broker names a leader for every
// partition. Configs are key=value.
func (c *Cluster) CreateTopic(ctx context.Context, topic string, partitions int, configs ...string) error {
	return c.createTopic(ctx, topic, partitions, min(3, len(c.nodes)), configs)
}

// CreateThinTopic is CreateTopic without copies: thousands of partitions are soon there.
func (c *Cluster) CreateThinTopic(ctx context.Context, topic string, partitions int) error {
	return c.createTopic(ctx, topic, partitions, 1, nil)
}

func (c *Cluster) createTopic(ctx context.Context, topic string, partitions, copies int, configs []string) error {
	q := kmsg.NewPtrCreateTopicsRequest()
	q.TimeoutMillis = 30_000
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, int32(partitions), int16(copies)
	for _, line := range configs {
		key, value, _ := strings.Cut(line, "=")
		s := kmsg.NewCreateTopicsRequestTopicConfig()
		s.Name, s.Value = key, &value
		t.Configs = append(t.Configs, s)
	}
	q.Topics = append(q.Topics, t)
	answer, err := request[*kmsg.CreateTopicsResponse](ctx, c, q)
	if err == nil {
		err = kerr.ErrorForCode(answer.Topics[0].ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("create topic %q: %w", topic, err)
	}
	return c.settled(ctx, topic, func(t kmsg.MetadataResponseTopic) bool {
		if t.ErrorCode != 0 || len(t.Partitions) != partitions {
			return false
		}
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 || p.Leader < 0 {
				return false
			}
		}
		return true
	})
}

// AddPartitions raises the number of partitions.
func (c *Cluster) AddPartitions(ctx context.Context, topic string, total int) error {
	q := kmsg.NewPtrCreatePartitionsRequest()
	q.TimeoutMillis = 30_000
	t := kmsg.NewCreatePartitionsRequestTopic()
	t.Topic, t.Count = topic, int32(total)
	q.Topics = append(q.Topics, t)
	answer, err := request[*kmsg.CreatePartitionsResponse](ctx, c, q)
	if err == nil {
		err = kerr.ErrorForCode(answer.Topics[0].ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("add partitions to topic %q: %w", topic, err)
	}
	return c.settled(ctx, topic, func(t kmsg.MetadataResponseTopic) bool {
		led := 0
		for _, p := range t.Partitions {
			if p.Leader >= 0 {
				led++
			}
		}
		return led == total
	})
}

// DeleteTopic returns when no broker knows the topic any more. Kafka deletes its commits, too: at once, or for a group of the
// new protocol within about half a second (Eventually, Committed).
func (c *Cluster) DeleteTopic(ctx context.Context, topic string) error {
	q := kmsg.NewPtrDeleteTopicsRequest()
	q.TimeoutMillis = 30_000
	q.TopicNames = []string{topic}
	t := kmsg.NewDeleteTopicsRequestTopic()
	t.Topic = &topic
	q.Topics = append(q.Topics, t)
	answer, err := request[*kmsg.DeleteTopicsResponse](ctx, c, q)
	if err == nil {
		err = kerr.ErrorForCode(answer.Topics[0].ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("delete topic %q: %w", topic, err)
	}
	return c.settled(ctx, topic, func(t kmsg.MetadataResponseTopic) bool {
		return t.ErrorCode == kerr.UnknownTopicOrPartition.Code
	})
}

// Recreate deletes a topic and makes it anew with as many partitions, all empty: same name, another id, leader epoch 0 again.
func (c *Cluster) Recreate(ctx context.Context, topic string) error {
	t, err := c.describe(ctx, topic)
	if err != nil {
		return err
	}
	if err := c.DeleteTopic(ctx, topic); err != nil {
		return err
	}
	return c.CreateTopic(ctx, topic, len(t.Partitions))
}

// TopicID is the id of a topic's present incarnation.
func (c *Cluster) TopicID(ctx context.Context, topic string) ([16]byte, error) {
	t, err := c.describe(ctx, topic)
	return t.TopicID, err
}

func metadataOf(topic string) *kmsg.MetadataRequest {
	q := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = &topic
	q.Topics = append(q.Topics, t)
	return q
}

func (c *Cluster) describe(ctx context.Context, topic string) (kmsg.MetadataResponseTopic, error) {
	answer, err := request[*kmsg.MetadataResponse](ctx, c, metadataOf(topic))
	if err == nil {
		err = kerr.ErrorForCode(answer.Topics[0].ErrorCode)
	}
	if err != nil {
		return kmsg.MetadataResponseTopic{}, fmt.Errorf("describe topic %q: %w", topic, err)
	}
	return answer.Topics[0], nil
}

// settled returns when every running broker sees the topic as wished.
func (c *Cluster) settled(ctx context.Context, topic string, wished func(kmsg.MetadataResponseTopic) bool) error {
	return c.everywhere(ctx, fmt.Sprintf("topic %q has changed on every broker", topic),
		func() *kmsg.MetadataRequest { return metadataOf(topic) },
		func(m *kmsg.MetadataResponse) bool { return len(m.Topics) == 1 && wished(m.Topics[0]) })
}

// Agree returns when every running broker names the same leader for each partition of a topic. Before that one that was away may
// still answer as the coordinator that it no longer is, with what stood when it went.
func (c *Cluster) Agree(ctx context.Context, topic string) error {
	return Eventually(ctx, fmt.Sprintf("all brokers name the same leaders of %q", topic), func(ctx context.Context) (bool, error) {
		var first map[int32]int32
		for _, n := range c.nodes {
			if !n.running() {
				continue
			}
			answer, err := c.Request(ctx, n.id, metadataOf(topic))
			if err != nil {
				return false, err
			}
			leaders := map[int32]int32{}
			for _, t := range answer.(*kmsg.MetadataResponse).Topics {
				for _, p := range t.Partitions {
					leaders[p.Partition] = p.Leader
				}
			}
			if first == nil {
				first = leaders
			}
			if !maps.Equal(first, leaders) {
				return false, nil
			}
		}
		return true, nil
	})
}

// Produce appends n small records to each of the partitions named, or to all when none is, and returns when they stand.
func (c *Cluster) Produce(ctx context.Context, topic string, n int, partitions ...int32) error {
	if len(partitions) == 0 {
		t, err := c.describe(ctx, topic)
		if err != nil {
			return err
		}
		for _, p := range t.Partitions {
			partitions = append(partitions, p.Partition)
		}
	}
	var records []*kgo.Record
	for i := range n {
		for _, p := range partitions {
			records = append(records, &kgo.Record{Topic: topic, Partition: p, Value: fmt.Appendf(nil, "record %d", i)})
		}
	}
	// A client for each call: a longer-lived one remembers topics that were deleted meanwhile.
	one, err := kgo.NewClient(c.options(
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ProducerLinger(5*time.Millisecond),
		kgo.MaxBufferedRecords(len(records)+1), // few large batches
	)...)
	if err != nil {
		return err
	}
	defer one.Close()
	if err := one.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("produce to topic %q: %w", topic, err)
	}
	return nil
}

// DeleteRecords moves the earliest offset of a partition up, as retention would.
func (c *Cluster) DeleteRecords(ctx context.Context, topic string, partition int32, before int64) error {
	q := kmsg.NewPtrDeleteRecordsRequest()
	q.TimeoutMillis = 30_000
	t := kmsg.NewDeleteRecordsRequestTopic()
	t.Topic = topic
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Partition, p.Offset = partition, before
	t.Partitions = append(t.Partitions, p)
	q.Topics = append(q.Topics, t)
	answer, err := request[*kmsg.DeleteRecordsResponse](ctx, c, q)
	if err == nil {
		err = kerr.ErrorForCode(answer.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("delete records of %s:%d before %d: %w", topic, partition, before, err)
	}
	return nil
}

// Ranges returns what the cluster holds of each partition of a topic.
func (c *Cluster) Ranges(ctx context.Context, topic string) (map[int32]Range, error) {
	described, err := c.describe(ctx, topic)
	if err != nil {
		return nil, err
	}
	ranges := map[int32]Range{}
	for _, p := range described.Partitions {
		ranges[p.Partition] = Range{Leader: p.Leader, Epoch: p.LeaderEpoch}
	}
	for _, at := range []int64{-2, -1} { // earliest, end
		q := kmsg.NewPtrListOffsetsRequest()
		q.ReplicaID = -1
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic = topic
		for i := range ranges {
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.Partition, p.Timestamp = i, at
			t.Partitions = append(t.Partitions, p)
		}
		q.Topics = append(q.Topics, t)
		answer, err := request[*kmsg.ListOffsetsResponse](ctx, c, q)
		if err != nil {
			return nil, fmt.Errorf("list offsets of topic %q: %w", topic, err)
		}
		for _, t := range answer.Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					return nil, fmt.Errorf("list offsets of %s:%d: %w", topic, p.Partition, err)
				}
				r := ranges[p.Partition]
				if at == -2 {
					r.Earliest = p.Offset
				} else {
					r.End = p.Offset
				}
				ranges[p.Partition] = r
			}
		}
	}
	return ranges, nil
}

// MoveLeader makes a broker the leader of a partition, which raises the leader epoch, and returns when every broker knows.
func (c *Cluster) MoveLeader(ctx context.Context, topic string, partition, to int32) error {
	fail := func(err error) error {
		return fmt.Errorf("move the leader of %s:%d to broker %d: %w", topic, partition, to, err)
	}
	described, err := c.describe(ctx, topic)
	if err != nil {
		return fail(err)
	}
	at := slices.IndexFunc(described.Partitions, func(p kmsg.MetadataResponseTopicPartition) bool { return p.Partition == partition })
	if at < 0 {
		return fail(kerr.UnknownTopicOrPartition)
	}
	// The preferred leader is the first copy, so: the same copies in another order, then an election of the preferred one.
	copies := slices.Clone(described.Partitions[at].Replicas)
	first := slices.Index(copies, to)
	if first < 0 {
		return fail(fmt.Errorf("its copies are on %v", copies))
	}
	copies[0], copies[first] = copies[first], copies[0]

	q := kmsg.NewPtrAlterPartitionAssignmentsRequest()
	q.TimeoutMillis = 30_000
	t := kmsg.NewAlterPartitionAssignmentsRequestTopic()
	t.Topic = topic
	p := kmsg.NewAlterPartitionAssignmentsRequestTopicPartition()
	p.Partition, p.Replicas = partition, copies
	t.Partitions = append(t.Partitions, p)
	q.Topics = append(q.Topics, t)
	altered, err := request[*kmsg.AlterPartitionAssignmentsResponse](ctx, c, q)
	if err == nil {
		err = kerr.ErrorForCode(altered.ErrorCode)
	}
	if err == nil {
		err = kerr.ErrorForCode(altered.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		return fail(err)
	}

	elect := kmsg.NewPtrElectLeadersRequest()
	elect.TimeoutMillis = 30_000
	e := kmsg.NewElectLeadersRequestTopic()
	e.Topic, e.Partitions = topic, []int32{partition}
	elect.Topics = append(elect.Topics, e)
	err = Eventually(ctx, "the preferred leader is elected", func(ctx context.Context) (bool, error) {
		elected, err := request[*kmsg.ElectLeadersResponse](ctx, c, elect)
		if err == nil {
			err = kerr.ErrorForCode(elected.ErrorCode)
		}
		if err != nil {
			return false, err
		}
		for _, t := range elected.Topics {
			for _, p := range t.Partitions {
				if p.ErrorCode != 0 && p.ErrorCode != kerr.ElectionNotNeeded.Code {
					return false, kerr.ErrorForCode(p.ErrorCode)
				}
			}
		}
		return true, nil
	})
	if err != nil {
		return fail(err)
	}
	return c.settled(ctx, topic, func(t kmsg.MetadataResponseTopic) bool {
		for _, p := range t.Partitions {
			if p.Partition == partition {
				return p.Leader == to
			}
		}
		return false
	})
}

// Configure sets configuration entries, key=value, of a broker's, topic's or group's kind of resource.
func (c *Cluster) Configure(ctx context.Context, kind kmsg.ConfigResourceType, name string, configs ...string) error {
	q := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kind, name
	for _, line := range configs {
		key, value, _ := strings.Cut(line, "=")
		s := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		s.Name, s.Value = key, &value
		r.Configs = append(r.Configs, s)
	}
	q.Resources = append(q.Resources, r)
	answer, err := request[*kmsg.IncrementalAlterConfigsResponse](ctx, c, q)
	if err == nil {
		err = kerr.ErrorForCode(answer.Resources[0].ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("configure %s %q: %w", kind, name, err)
	}
	return nil
}
