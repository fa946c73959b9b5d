package kafkaops_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops"
	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// liar is a broker inside of one connection: it answers every request at once, all but one as it should, and that one with any bytes.
type liar struct {
	net.Conn
	key  int16 // of the request that it lies about
	body []byte

	mu  sync.Mutex
	in  []byte
	out []byte
}

func (l *liar) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.in = append(l.in, p...)
	for len(l.in) >= 4 {
		size := int(binary.BigEndian.Uint32(l.in))
		if len(l.in) < 4+size {
			break
		}
		l.answer(l.in[4 : 4+size])
		l.in = l.in[4+size:]
	}
	return len(p), nil
}

func (l *liar) answer(request []byte) {
	key, version, id := int16(binary.BigEndian.Uint16(request)), int16(binary.BigEndian.Uint16(request[2:])), request[4:8]
	q := kmsg.RequestForKey(key)
	q.SetVersion(version)
	a := q.ResponseKind()
	body := l.body
	if key != l.key {
		body = honest(a)
	}
	frame := append([]byte(nil), id...)
	if a.IsFlexible() && key != wire.ApiVersions {
		frame = append(frame, 0)
	}
	frame = append(frame, body...)
	l.out = binary.BigEndian.AppendUint32(l.out, uint32(len(frame)))
	l.out = append(l.out, frame...)
}

func (l *liar) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.out) == 0 {
		return 0, io.EOF
	}
	n := copy(p, l.out)
	l.out = l.out[n:]
	return n, nil
}

func (*liar) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
func (*liar) Close() error                     { return nil }
func (*liar) SetDeadline(time.Time) error      { return nil }
func (*liar) SetReadDeadline(time.Time) error  { return nil }
func (*liar) SetWriteDeadline(time.Time) error { return nil }

// honest is what a broker answers that has one topic of two partitions, and one group.
func honest(a kmsg.Response) []byte {
	orders, billing, offsetsTopic := "orders", "billing", wire.OffsetsTopic
	switch a := a.(type) {
	case *kmsg.ApiVersionsResponse:
		for key := range int16(100) {
			if r := kmsg.RequestForKey(key); r != nil {
				k := kmsg.NewApiVersionsResponseApiKey()
				k.ApiKey, k.MaxVersion = key, r.MaxVersion()
				a.ApiKeys = append(a.ApiKeys, k)
			}
		}
	case *kmsg.MetadataResponse:
		b := kmsg.NewMetadataResponseBroker()
		b.NodeID, b.Host, b.Port = 1, "k", 1
		a.Brokers, a.ControllerID = append(a.Brokers, b), 1
		for _, name := range []*string{&orders, &offsetsTopic} {
			t := kmsg.NewMetadataResponseTopic()
			t.Topic, t.TopicID = name, [16]byte{1}
			for i := range int32(2) {
				p := kmsg.NewMetadataResponseTopicPartition()
				p.Partition, p.Leader, p.LeaderEpoch = i, 1, 3
				t.Partitions = append(t.Partitions, p)
			}
			a.Topics = append(a.Topics, t)
		}
	case *kmsg.FindCoordinatorResponse:
		c := kmsg.NewFindCoordinatorResponseCoordinator()
		c.Key, c.NodeID, c.Host, c.Port = billing, 1, "k", 1
		a.Coordinators = append(a.Coordinators, c)
		a.NodeID, a.Host, a.Port = 1, "k", 1
	case *kmsg.OffsetFetchResponse:
		g := kmsg.NewOffsetFetchResponseGroup()
		g.Group = billing
		t := kmsg.NewOffsetFetchResponseGroupTopic()
		t.Topic = orders
		p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
		p.Offset = 5
		t.Partitions = append(t.Partitions, p)
		g.Topics = append(g.Topics, t)
		a.Groups = append(a.Groups, g)
	case *kmsg.ListOffsetsResponse:
		t := kmsg.NewListOffsetsResponseTopic()
		t.Topic = orders
		for i := range int32(2) {
			p := kmsg.NewListOffsetsResponseTopicPartition()
			p.Partition, p.Offset = i, 9
			t.Partitions = append(t.Partitions, p)
		}
		a.Topics = append(a.Topics, t)
	case *kmsg.DescribeGroupsResponse:
		g := kmsg.NewDescribeGroupsResponseGroup()
		g.Group, g.State = billing, "Empty"
		a.Groups = append(a.Groups, g)
	case *kmsg.ListGroupsResponse:
		g := kmsg.NewListGroupsResponseGroup()
		g.Group, g.GroupState, g.GroupType = billing, "Empty", "classic"
		a.Groups = append(a.Groups, g)
	}
	return a.AppendTo(nil)
}

// lies are the requests that a look and a write rest on.
var lies = []int16{wire.ApiVersions, wire.Metadata, wire.FindCoordinator, wire.OffsetFetch, wire.ListOffsets, wire.DescribeGroups, wire.ConsumerGroupDescribe, wire.ListGroups, wire.OffsetCommit}

// FuzzBroker looks at a broker that answers one kind of request with any bytes, and writes to it. No offset comes of it that is none, and
// nothing is taken for written that was not acknowledged.
func FuzzBroker(f *testing.F) {
	for i, key := range lies {
		q := kmsg.RequestForKey(key)
		q.SetVersion(map[int16]int16{wire.Metadata: 12, wire.OffsetFetch: 8, wire.ListOffsets: 7, wire.FindCoordinator: 4, wire.DescribeGroups: 6, wire.ListGroups: 5, wire.OffsetCommit: 10, wire.ConsumerGroupDescribe: 1}[key])
		f.Add(uint8(i), honest(q.ResponseKind()))
		f.Add(uint8(i), []byte{0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0})
		f.Add(uint8(i), []byte{})
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond) // what asks for patience gets little
		defer cancel()
		key := lies[int(which)%len(lies)]
		c := kafkaops.New(kafkaops.Config{Bootstrap: []string{"k:1"}, Wire: wire.Config{Dial: func(context.Context, string, string) (net.Conn, error) {
			return &liar{key: key, body: body}, nil
		}}})
		defer c.Close()
		groups, _, err := c.Groups(ctx, []string{"billing"}, nil)
		if err != nil {
			var lost *wire.BootstrapError
			if errors.As(err, &lost) && err.Error() == "" {
				t.Fatal("an error without a word")
			}
			return
		}
		for _, g := range groups {
			for k, e := range g.Commits {
				if e.Presence == offsets.Present && e.Offset < 0 {
					t.Fatalf("%v: %+v", k, e)
				}
			}
		}
		ranges, err := c.Ranges(ctx, []string{"orders"}, true)
		for name, topic := range ranges.Topics {
			for p, r := range topic.Ranges {
				if r.Known() && (r.Earliest < 0 || r.End < r.Earliest || r.Stable != offsets.None && r.Stable < 0) {
					t.Fatalf("%s:%d: %+v, %v", name, p, r, err)
				}
			}
		}
		if key != wire.OffsetCommit {
			return
		}
		for _, change := range c.WriteCommits(ctx, "billing", []offsets.Change{{
			Key: offsets.Key{Topic: "orders"}, Side: offsets.Committed, Verdict: offsets.Write, Old: offsets.Value{Offset: offsets.None}, New: offsets.Value{Offset: 7, Epoch: offsets.None}, TopicID: ranges.Topics["orders"].ID,
		}}, false) {
			if change.Result == "" {
				t.Fatalf("nothing is said of %+v", change)
			}
		}
	})
}
