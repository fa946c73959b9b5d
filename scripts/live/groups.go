package live

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A Commit is one partition's committed place.
type Commit struct {
	Offset   int64
	Epoch    int32 // the leader epoch that goes with it, -1 for none
	Metadata string
}

// At is a commit with neither epoch nor metadata. Epoch 0, Go's zero, would be a claim: a consumer may jump back by it.
func At(offset int64) Commit { return Commit{Offset: offset, Epoch: -1} }

// Commit commits for a group without members, as an administrator does: generation -1. A group that does not exist becomes a
// simple one.
func (c *Cluster) Commit(ctx context.Context, group, topic string, places map[int32]Commit) error {
	q := kmsg.NewPtrOffsetCommitRequest()
	q.Group, q.Generation = group, -1
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = topic
	for _, i := range slices.Sorted(maps.Keys(places)) {
		place := places[i]
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = i, place.Offset, place.Epoch, &place.Metadata
		t.Partitions = append(t.Partitions, p)
	}
	q.Topics = append(q.Topics, t)
	answer, err := request[*kmsg.OffsetCommitResponse](ctx, c, q)
	if err != nil {
		return fmt.Errorf("commit for group %q: %w", group, err)
	}
	for _, t := range answer.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("commit %s:%d for group %q: %w", topic, p.Partition, group, err)
			}
		}
	}
	return nil
}

// Committed returns all commits of a group, by topic and partition; none for a group that does not exist.
func (c *Cluster) Committed(ctx context.Context, group string) (map[string]map[int32]Commit, error) {
	q := kmsg.NewPtrOffsetFetchRequest()
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group, g.Topics = group, nil // nil asks for all
	q.Groups = append(q.Groups, g)
	answer, err := request[*kmsg.OffsetFetchResponse](ctx, c, q)
	if err == nil {
		err = kerr.ErrorForCode(answer.Groups[0].ErrorCode)
	}
	if err != nil {
		return nil, fmt.Errorf("fetch offsets of group %q: %w", group, err)
	}
	all := map[string]map[int32]Commit{}
	for _, t := range answer.Groups[0].Topics {
		all[t.Topic] = map[int32]Commit{}
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("fetch offset of %s:%d of group %q: %w", t.Topic, p.Partition, group, err)
			}
			place := Commit{Offset: p.Offset, Epoch: p.LeaderEpoch}
			if p.Metadata != nil {
				place.Metadata = *p.Metadata
			}
			all[t.Topic][p.Partition] = place
		}
	}
	return all, nil
}

// A Group as ListGroups shows it.
type Group struct{ Name, Type, Protocol, State string }

// Groups lists the groups of all brokers, by name.
func (c *Cluster) Groups(ctx context.Context) (map[string]Group, error) {
	answer, err := request[*kmsg.ListGroupsResponse](ctx, c, kmsg.NewPtrListGroupsRequest())
	if err == nil {
		err = kerr.ErrorForCode(answer.ErrorCode)
	}
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	all := map[string]Group{}
	for _, g := range answer.Groups {
		all[g.Group] = Group{g.Group, strings.ToLower(g.GroupType), g.ProtocolType, g.GroupState}
	}
	return all, nil
}

// Coordinator is the id of the broker that keeps a group.
func (c *Cluster) Coordinator(ctx context.Context, group string) (int32, error) {
	var id int32
	err := Eventually(ctx, fmt.Sprintf("group %q has a coordinator", group), func(ctx context.Context) (bool, error) {
		q := kmsg.NewPtrFindCoordinatorRequest()
		q.CoordinatorKeys = []string{group}
		answer, err := request[*kmsg.FindCoordinatorResponse](ctx, c, q)
		if err != nil {
			return false, err
		}
		id = answer.Coordinators[0].NodeID
		return true, kerr.ErrorForCode(answer.Coordinators[0].ErrorCode)
	})
	return id, err
}

// GroupAt finds a name, prefix and a number, that a broker is the coordinator of.
func (c *Cluster) GroupAt(ctx context.Context, prefix string, broker int32) (string, error) {
	for i := range 1000 {
		name := fmt.Sprintf("%s-%d", prefix, i)
		id, err := c.Coordinator(ctx, name)
		if err != nil {
			return "", err
		}
		if id == broker {
			return name, nil
		}
	}
	return "", fmt.Errorf("broker %d coordinates none of 1000 groups", broker)
}

// DeleteGroup removes a group without members.
func (c *Cluster) DeleteGroup(ctx context.Context, group string) error {
	q := kmsg.NewPtrDeleteGroupsRequest()
	q.Groups = []string{group}
	answer, err := request[*kmsg.DeleteGroupsResponse](ctx, c, q)
	if err == nil {
		err = kerr.ErrorForCode(answer.Groups[0].ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("delete group %q: %w", group, err)
	}
	return nil
}

// Request sends any request to one broker.
func (c *Cluster) Request(ctx context.Context, broker int32, q kmsg.Request) (kmsg.Response, error) {
	return c.client.Broker(int(broker)).Request(ctx, q)
}

// A Kind of group, as ListGroups names it.
type Kind string

// The kinds that a member can be of. Previous has no share groups, and its consumer groups only Java can join.
const (
	Classic  Kind = "classic"
	Consumer Kind = "consumer" // KIP-848
	Share    Kind = "share"
)

// A Member is a live consumer that reads what it is given.
type Member struct {
	client *kgo.Client
	ended  chan struct{}
}

// Join adds a member to a group and returns when the group is stable and of the kind asked for. It commits as it reads, unless
// opts say otherwise (kgo.DisableAutoCommit).
func (c *Cluster) Join(ctx context.Context, kind Kind, group, topic string, opts ...kgo.Opt) (*Member, error) {
	join := map[Kind][]kgo.Opt{
		Classic:  {kgo.ConsumerGroup(group)},
		Consumer: {kgo.ConsumerGroup(group), kgo.ServerSideBalancer(), kgo.Balancers(kgo.RangeBalancer())},
		Share:    {kgo.ShareGroup(group)},
	}[kind]
	join = append(join, kgo.ConsumeTopics(topic))
	if kind != Share {
		join = append(join, kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	}
	client, err := kgo.NewClient(c.options(append(join, opts...)...)...)
	if err != nil {
		return nil, fmt.Errorf("join group %q: %w", group, err)
	}
	m := &Member{client: client, ended: make(chan struct{})}
	go func() {
		defer close(m.ended)
		for !client.PollFetches(context.Background()).IsClientClosed() { // until Leave
		}
	}()
	err = Eventually(ctx, fmt.Sprintf("%s group %q is stable", kind, group), func(ctx context.Context) (bool, error) {
		all, err := c.Groups(ctx)
		if err != nil {
			return false, err
		}
		g := all[group]
		if g.Type != string(kind) || g.State != "Stable" {
			return false, fmt.Errorf("it is %+v", g)
		}
		return true, nil
	})
	if err != nil {
		m.Leave()
		return nil, err
	}
	return m, nil
}

// Leave ends the member: it leaves its group, which is then empty or rebalances.
func (m *Member) Leave() {
	m.client.Close()
	<-m.ended
}
