// Package kafkatest is a Kafka cluster inside the process, for tests, the demo and experiments: kfake behind doors that count
// requests, freeze, refuse, and mend what kfake answers differently from Apache Kafka. What a test must be sure of it still
// has to see on Apache Kafka.
package kafkatest

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"gtoffset/kafkaops/kafkatest/tcpproxy"
)

// Options says what cluster to start. The zero value is three brokers of the newest version.
type Options struct {
	Brokers        int                // 0: three
	Version        *kversion.Versions // newest versions to offer, as kversion.V2_8_0(); nil: all
	Topics         map[string]int32   // name to number of partitions
	NoOffsetsTopic bool               // a fresh cluster: nobody has committed yet
	Plain          bool               // leave kfake's answers as they are
	Proxy          bool               // let each broker advertise a proxy before it
	TLS            *tls.Config
	Extra          []kfake.Opt
}

// Broker is a running cluster.
type Broker struct {
	Fake    *kfake.Cluster    // for everything that has no method here
	Proxies []*tcpproxy.Proxy // by broker id, with Options.Proxy

	tls   bool
	admin *kgo.Client
	doors []*listener

	mu        sync.Mutex
	opened    int
	requests  []Request
	hooks     map[int16][]func(node int32, r kmsg.Response) bool
	modern    map[string]bool // groups of the KIP-848 protocol
	noLeader  map[string]bool
	consumers []*kgo.Client
}

// TB is what Start needs of a test.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Start starts a cluster that ends with the test.
func Start(t TB, o Options) *Broker {
	t.Helper()
	b, err := New(o)
	if err != nil {
		t.Fatalf("start the in-process broker: %v", err)
	}
	t.Cleanup(b.Close)
	return b
}

// New starts a cluster.
func New(o Options) (*Broker, error) {
	if o.Brokers == 0 {
		o.Brokers = 3
	}
	b := &Broker{tls: o.TLS != nil, hooks: map[int16][]func(int32, kmsg.Response) bool{}, modern: map[string]bool{}, noLeader: map[string]bool{}}
	opts := []kfake.Opt{
		kfake.NumBrokers(o.Brokers),
		kfake.ListenFn(func(network, addr string) (net.Listener, error) {
			l, err := listen(b, int32(len(b.doors)), network, addr)
			if err != nil {
				return nil, err
			}
			b.doors = append(b.doors, l)
			if o.Proxy {
				p, err := tcpproxy.New(l.addr, nil)
				if err != nil {
					return nil, err
				}
				b.Proxies = append(b.Proxies, p)
				if l.advertised, err = net.ResolveTCPAddr("tcp", p.Addr()); err != nil {
					return nil, err
				}
			}
			return l, nil
		}),
		kfake.BrokerConfigs(map[string]string{"group.consumer.heartbeat.interval.ms": "100"}),
	}
	if o.TLS != nil {
		opts = append(opts, kfake.TLS(o.TLS))
	}
	if o.Version != nil {
		opts = append(opts, kfake.MaxVersions(o.Version))
	}
	if !o.NoOffsetsTopic {
		opts = append(opts, kfake.SeedTopics(3, "__consumer_offsets"))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Topics)) {
		opts = append(opts, kfake.SeedTopics(o.Topics[name], name))
	}
	c, err := kfake.NewCluster(append(opts, o.Extra...)...)
	if err != nil {
		return nil, err
	}
	b.Fake = c
	if !o.Plain {
		b.likeKafka()
	}
	if o.TLS == nil {
		if b.admin, err = kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ClientID("kafkatest"), kgo.DisableClientMetrics(), kgo.MaxVersions(kversion.V4_0_0())); err != nil {
			c.Close()
			return nil, err
		}
	}
	return b, nil
}

// Close ends the cluster and its live members.
func (b *Broker) Close() {
	for i := range b.doors {
		b.doors[i].setFrozen(false)
	}
	b.mu.Lock()
	consumers := b.consumers
	b.consumers = nil
	b.mu.Unlock()
	for _, c := range consumers {
		c.CloseAllowingRebalance()
	}
	if b.admin != nil {
		b.admin.Close()
	}
	for _, p := range b.Proxies { // before the brokers, which wait for their connections to end
		p.Close()
	}
	b.Fake.Close()
}

// likeKafka mends what kfake answers differently: a group of the KIP-848 protocol is not a classic group, an unknown group has
// no offsets and no error, and a commit to a live KIP-848 group is refused with UNKNOWN_MEMBER_ID.
func (b *Broker) likeKafka() {
	b.Rewrite(kmsg.DescribeGroups.Int16(), func(_ int32, r kmsg.Response) bool {
		d := r.(*kmsg.DescribeGroupsResponse)
		for i, g := range d.Groups {
			b.mu.Lock()
			modern := b.modern[g.Group]
			b.mu.Unlock()
			if modern && g.ErrorCode == 0 {
				d.Groups[i] = kmsg.NewDescribeGroupsResponseGroup()
				d.Groups[i].Group, d.Groups[i].State = g.Group, "Dead"
				if d.Version >= 6 {
					d.Groups[i].ErrorCode = kerr.GroupIDNotFound.Code
					d.Groups[i].ErrorMessage = kmsg.StringPtr("Group " + g.Group + " is not a classic group.")
				}
			}
		}
		return true
	})
	b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool {
		f := r.(*kmsg.OffsetFetchResponse)
		if f.ErrorCode == kerr.GroupIDNotFound.Code {
			f.ErrorCode = 0
		}
		for i, g := range f.Groups {
			if g.ErrorCode == kerr.GroupIDNotFound.Code {
				f.Groups[i].ErrorCode = 0
			}
		}
		return true
	})
	b.Rewrite(kmsg.OffsetCommit.Int16(), func(_ int32, r kmsg.Response) bool {
		for _, t := range r.(*kmsg.OffsetCommitResponse).Topics {
			for i, p := range t.Partitions {
				if p.ErrorCode == kerr.UnsupportedVersion.Code {
					t.Partitions[i].ErrorCode = kerr.UnknownMemberID.Code
				}
			}
		}
		return true
	})
	b.Rewrite(kmsg.Metadata.Int16(), func(_ int32, r kmsg.Response) bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, t := range r.(*kmsg.MetadataResponse).Topics {
			for i, p := range t.Partitions {
				if t.Topic != nil && b.noLeader[fmt.Sprint(*t.Topic, "/", p.Partition)] {
					t.Partitions[i].Leader, t.Partitions[i].ErrorCode = -1, kerr.LeaderNotAvailable.Code
				}
			}
		}
		return true
	})
}

// Rewrite changes every answer to a kind of request before it goes out. f gets the broker and the answer; false hangs up instead
// of answering. It does nothing under TLS.
func (b *Broker) Rewrite(key int16, f func(node int32, r kmsg.Response) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hooks[key] = append(b.hooks[key], f)
}

func (b *Broker) hooksFor(key int16) []func(int32, kmsg.Response) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.hooks[key]
}

func (b *Broker) connected() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened++
	return b.opened
}

// note keeps a request, unless it is our own.
func (b *Broker) note(r Request, frame []byte) {
	client, rest := "", frame[8:]
	if len(rest) >= 2 {
		if n := int(int16(binary.BigEndian.Uint16(rest))); n > 0 && len(rest) >= 2+n {
			client = string(rest[2 : 2+n])
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.Key == kmsg.ConsumerGroupHeartbeat.Int16() {
		q := kmsg.NewPtrConsumerGroupHeartbeatRequest()
		q.Version = r.Version
		if at := 2 + len(client) + 1; len(rest) > at && q.ReadFrom(rest[at:]) == nil {
			b.modern[q.Group] = true
		}
	}
	if !strings.HasPrefix(client, "kafkatest") {
		b.requests = append(b.requests, r)
	}
}

// Requests lists what came in over the wire since the last Reset, in order, without what this package itself sent. It is empty
// under TLS.
func (b *Broker) Requests() []Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.requests)
}

// Count is how many requests came in: of the given kinds, or of all.
func (b *Broker) Count(keys ...int16) int {
	n := 0
	for _, r := range b.Requests() {
		if len(keys) == 0 || slices.Contains(keys, r.Key) {
			n++
		}
	}
	return n
}

// Connections is over how many connections they came.
func (b *Broker) Connections() int {
	seen := map[int]bool{}
	for _, r := range b.Requests() {
		seen[r.Connection] = true
	}
	return len(seen)
}

// Reset starts counting anew.
func (b *Broker) Reset() {
	b.mu.Lock()
	b.requests = nil
	b.mu.Unlock()
}

// Addrs lists the brokers' addresses by id.
func (b *Broker) Addrs() []string {
	var all []string
	for _, d := range b.doors {
		all = append(all, d.Addr().String())
	}
	return all
}

// Bootstrap is the addresses as --bootstrap-server takes them.
func (b *Broker) Bootstrap() string { return strings.Join(b.Addrs(), ",") }

// Freeze makes a broker accept connections and never answer, as SIGSTOP does.
func (b *Broker) Freeze(node int32) { b.doors[node].setFrozen(true) }

// Thaw ends Freeze.
func (b *Broker) Thaw(node int32) { b.doors[node].setFrozen(false) }

// Kill cuts a broker's connections and refuses new ones. Its partitions and groups stay where they are, as they do for some
// seconds after a real death.
func (b *Broker) Kill(node int32) { b.doors[node].kill() }

// Revive ends Kill.
func (b *Broker) Revive(node int32) error { return b.doors[node].revive() }

// within is how long this package waits for the cluster that it runs itself.
const within = 10 * time.Second

func (b *Broker) ask(node int32, q kmsg.Request) (kmsg.Response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if node < 0 {
		return b.admin.Request(ctx, q)
	}
	return b.admin.Broker(int(node)).Request(ctx, q)
}

// CreateTopic creates a topic. Partition p is led by broker p modulo the number of brokers.
func (b *Broker) CreateTopic(topic string, partitions int32) error {
	if err := b.Fake.CreateTopic(topic, partitions, nil); err != nil {
		return err
	}
	return b.Spread(topic)
}

// AddPartitions grows a topic to a number of partitions.
func (b *Broker) AddPartitions(topic string, to int32) error {
	q := kmsg.NewPtrCreatePartitionsRequest()
	t := kmsg.NewCreatePartitionsRequestTopic()
	t.Topic, t.Count = topic, to
	q.Topics = append(q.Topics, t)
	r, err := q.RequestWith(context.Background(), b.admin)
	if err != nil {
		return err
	}
	if err := kerr.ErrorForCode(r.Topics[0].ErrorCode); err != nil {
		return err
	}
	return b.Spread(topic)
}

// Spread lets broker p modulo their number lead partition p: kfake draws leaders at random.
func (b *Broker) Spread(topic string) error {
	for _, p := range b.Fake.PartitionInfos(topic) {
		if to := p.Partition % int32(len(b.doors)); p.Leader != to {
			if err := b.Fake.MoveTopicPartition(topic, p.Partition, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// Recreate deletes a topic and creates it anew, with another topic id. kfake keeps the commits, which Apache Kafka does not.
func (b *Broker) Recreate(topic string) error {
	n := int32(len(b.Fake.PartitionInfos(topic)))
	if err := b.Fake.DeleteTopic(topic); err != nil {
		return err
	}
	return b.CreateTopic(topic, n)
}

// TopicID is a topic's id as Kafka prints it.
func (b *Broker) TopicID(topic string) string {
	i := b.Fake.TopicInfo(topic)
	if i == nil {
		return ""
	}
	return printID(i.TopicID)
}

// NoLeader lets a partition be without a leader in Metadata.
func (b *Broker) NoLeader(topic string, partition int32) {
	b.mu.Lock()
	b.noLeader[fmt.Sprint(topic, "/", partition)] = true
	b.mu.Unlock()
}

// Produce appends one record for each value.
func (b *Broker) Produce(topic string, partition int32, values ...string) error {
	return b.ProduceStamped(topic, partition, time.Time{}, values...)
}

// ProduceStamped is Produce with the same timestamp for all; zero is now.
func (b *Broker) ProduceStamped(topic string, partition int32, at time.Time, values ...string) error {
	var rs []*kgo.Record
	for _, v := range values {
		rs = append(rs, &kgo.Record{Topic: topic, Partition: partition, Value: []byte(v), Timestamp: at})
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return b.admin.ProduceSync(ctx, rs...).FirstErr()
}

// ProduceAt appends one record for each time, with that timestamp and in a batch of its own.
func (b *Broker) ProduceAt(topic string, partition int32, times ...time.Time) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for _, at := range times {
		r := &kgo.Record{Topic: topic, Partition: partition, Value: []byte("x"), Timestamp: at}
		if err := b.admin.ProduceSync(ctx, r).FirstErr(); err != nil {
			return err
		}
	}
	return nil
}

// SetRange makes a partition reach from earliest to end, which may be large numbers: it takes two small requests. The records
// cannot be read. The end can only grow.
func (b *Broker) SetRange(topic string, partition int32, earliest, end int64) error {
	p := b.Fake.PartitionInfo(topic, partition)
	if p == nil {
		return fmt.Errorf("no partition %s/%d", topic, partition)
	}
	if end < p.HighWatermark {
		return fmt.Errorf("%s/%d ends at %d already", topic, partition, p.HighWatermark)
	}
	for left := end - p.HighWatermark; left > 0; {
		n := min(left, 1<<30)
		q := kmsg.NewPtrProduceRequest()
		q.Version, q.Acks, q.TimeoutMillis = 7, -1, 1000
		t := kmsg.NewProduceRequestTopic()
		t.Topic = topic
		rp := kmsg.NewProduceRequestTopicPartition()
		rp.Partition, rp.Records = partition, hollow(int32(n))
		t.Partitions = append(t.Partitions, rp)
		q.Topics = append(q.Topics, t)
		r, err := b.ask(p.Leader, q)
		if err != nil {
			return err
		}
		if err := kerr.ErrorForCode(r.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode); err != nil {
			return err
		}
		left -= n
	}
	if earliest > p.LogStartOffset {
		return b.Fake.DeleteRecords(topic, partition, earliest)
	}
	return nil
}

// hollow is a batch that says it holds n records.
func hollow(n int32) []byte {
	b := kmsg.RecordBatch{
		Magic: 2, LastOffsetDelta: n - 1, NumRecords: n, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		FirstTimestamp: time.Now().UnixMilli(), MaxTimestamp: time.Now().UnixMilli(),
	}
	raw := b.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

// Commit commits an offset for a group without members. epoch -1 is none.
func (b *Broker) Commit(group, topic string, partition int32, offset int64, epoch int32, metadata string) error {
	q := kmsg.NewPtrOffsetCommitRequest()
	q.Group, q.Generation = group, -1
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = topic
	if i := b.Fake.TopicInfo(topic); i != nil {
		t.TopicID = i.TopicID
	}
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = partition, offset, epoch, &metadata
	t.Partitions = append(t.Partitions, p)
	q.Topics = append(q.Topics, t)
	r, err := b.ask(-1, q)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(r.(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode)
}

// Committed is what a group has committed for a partition.
func (b *Broker) Committed(group, topic string, partition int32) (kfake.GroupCommit, bool) {
	g := b.Fake.GroupInfo(group)
	if g == nil {
		return kfake.GroupCommit{}, false
	}
	c, ok := g.Commits[topic][partition]
	return c, ok
}

// Join puts a live member into a group and waits until it has its partitions. modern takes the KIP-848 protocol. The member
// commits nothing, and leaves when the function returned is called, or with the cluster.
func (b *Broker) Join(group string, modern bool, topics ...string) (leave func(), err error) {
	ctx := context.Background()
	opts := []kgo.Opt{
		kgo.SeedBrokers(b.Addrs()...), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topics...), kgo.DisableAutoCommit(),
		kgo.ClientID("kafkatest-member"), kgo.DisableClientMetrics(), kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd()),
	}
	if modern {
		opts = append(opts, kgo.ServerSideBalancer())
		b.mu.Lock()
		b.modern[group] = true
		b.mu.Unlock()
	}
	c, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.consumers = append(b.consumers, c)
	b.mu.Unlock()
	wait, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	go func() {
		for !c.PollFetches(wait).IsClientClosed() && wait.Err() == nil {
		}
	}()
	if _, err := b.Fake.WaitGroupInfo(wait, group, func(g *kfake.GroupInfo) bool {
		n := 0
		if g != nil {
			for _, m := range g.Members {
				n += m.NumAssigned()
			}
		}
		return g != nil && g.State == "Stable" && n > 0
	}); err != nil {
		return nil, fmt.Errorf("join group %q: %w", group, err)
	}
	return c.CloseAllowingRebalance, nil
}

// DenyTopic refuses everything about a topic until the function returned is called.
func (b *Broker) DenyTopic(topic string) (allow func()) {
	return b.Fake.Fault(kfake.Fault{Topic: topic, Err: kerr.TopicAuthorizationFailed, Count: -1}).Remove
}

// DenyGroup refuses everything about a group until the function returned is called.
func (b *Broker) DenyGroup(group string) (allow func()) {
	return b.Fake.Fault(kfake.Fault{Group: group, Err: kerr.GroupAuthorizationFailed, Count: -1}).Remove
}

// FailCommit refuses commits for one partition with an error until the function returned is called.
func (b *Broker) FailCommit(topic string, partition int32, err *kerr.Error) (stop func()) {
	return b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: topic, Partitions: []int32{partition}, Err: err, Count: -1}).Remove
}

func printID(id [16]byte) string { return base64.RawURLEncoding.EncodeToString(id[:]) }
