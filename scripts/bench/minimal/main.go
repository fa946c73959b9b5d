// Command minimal is what gtoffset describe is measured against: it sends the same requests for one group over bare TCP and prints
// bare lines. No versions are negotiated, no error is explained, nothing is retried; it is as fast as the wire lets it be.
//
//	minimal ADDRESS GROUP
//
// Six waits follow each other: the dial; ApiVersions and Metadata for the brokers; FindCoordinator, while all other brokers are
// dialled; ApiVersions, OffsetFetch, DescribeGroups and ConsumerGroupDescribe at the coordinator; Metadata for the topics; at each
// leader at once ApiVersions, ListOffsets for the earliest and ListOffsets for the end. Fifteen requests with three brokers.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "minimal:", err)
		os.Exit(1)
	}
}

// A conn is one broker's connection. The first exchange on it says hello.
type conn struct {
	net    net.Conn
	in     *bufio.Reader
	hailed bool
}

func dial(addr string) (*conn, error) {
	n, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &conn{net: n, in: bufio.NewReaderSize(n, 64<<10)}, nil
}

// exchange writes all requests at once and reads the answers in their order.
func (c *conn) exchange(requests ...kmsg.Request) ([]kmsg.Response, error) {
	hello := 0
	if !c.hailed {
		q := kmsg.NewPtrApiVersionsRequest()
		q.Version, q.ClientSoftwareName, q.ClientSoftwareVersion = 3, "minimal", "1"
		requests = append([]kmsg.Request{q}, requests...)
		hello, c.hailed = 1, true
	}
	f := kmsg.NewRequestFormatter(kmsg.FormatterClientID("minimal"))
	var b []byte
	for i, q := range requests {
		b = append(b, f.AppendRequest(nil, q, int32(i))...) // it writes the length at the front of what it is given
	}
	if _, err := c.net.Write(b); err != nil {
		return nil, err
	}
	var answers []kmsg.Response
	for _, q := range requests {
		var head [8]byte // length, correlation id
		if _, err := io.ReadFull(c.in, head[:]); err != nil {
			return nil, err
		}
		body := make([]byte, binary.BigEndian.Uint32(head[:4])-4)
		if _, err := io.ReadFull(c.in, body); err != nil {
			return nil, err
		}
		r := q.ResponseKind()
		if r.IsFlexible() && q.Key() != int16(kmsg.ApiVersions) {
			body = body[1:] // no tags
		}
		if err := r.ReadFrom(body); err != nil {
			return nil, err
		}
		answers = append(answers, r)
	}
	return answers[hello:], nil
}

// A row is one partition's line.
type row struct {
	topic                    string
	partition                int32
	committed, earliest, end int64
}

func run(addr, group string) error {
	first, err := dial(addr)
	if err != nil {
		return err
	}
	answers, err := first.exchange(metadata(nil))
	if err != nil {
		return err
	}

	// All other brokers are dialled while the coordinator is looked for.
	type dialled struct {
		*conn
		error
	}
	brokers := map[int32]chan dialled{}
	for _, b := range answers[0].(*kmsg.MetadataResponse).Brokers {
		c := make(chan dialled, 1)
		brokers[b.NodeID] = c
		if at := net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port))); at == addr {
			c <- dialled{first, nil}
		} else {
			go func() {
				n, err := dial(at)
				c <- dialled{n, err}
			}()
		}
	}
	at := func(id int32) (*conn, error) {
		d := <-brokers[id]
		brokers[id] <- d // for the next who asks
		return d.conn, d.error
	}
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.Version, find.CoordinatorKeys = 4, []string{group}
	if answers, err = first.exchange(find); err != nil {
		return err
	}
	coordinator, err := at(answers[0].(*kmsg.FindCoordinatorResponse).Coordinators[0].NodeID)
	if err != nil {
		return err
	}

	fetch := kmsg.NewPtrOffsetFetchRequest()
	fetch.Version = 8
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	fetch.Groups = append(fetch.Groups, g)
	classic := kmsg.NewPtrDescribeGroupsRequest()
	classic.Version, classic.Groups = 5, []string{group}
	consumer := kmsg.NewPtrConsumerGroupDescribeRequest()
	consumer.Groups = []string{group}
	if answers, err = coordinator.exchange(fetch, classic, consumer); err != nil {
		return err
	}
	state := answers[1].(*kmsg.DescribeGroupsResponse).Groups[0].State

	var rows []row
	var topics []string
	for _, t := range answers[0].(*kmsg.OffsetFetchResponse).Groups[0].Topics {
		topics = append(topics, t.Topic)
		for _, p := range t.Partitions {
			rows = append(rows, row{topic: t.Topic, partition: p.Partition, committed: p.Offset})
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		if a.topic != b.topic {
			return strings.Compare(a.topic, b.topic)
		}
		return int(a.partition - b.partition)
	})
	if answers, err = coordinator.exchange(metadata(topics)); err != nil {
		return err
	}

	// Where each partition's row is, and what each leader is asked.
	type key struct {
		topic     string
		partition int32
	}
	index := make(map[key]*row, len(rows))
	for i := range rows {
		index[key{rows[i].topic, rows[i].partition}] = &rows[i]
	}
	asked := map[int32]map[string][]int32{}
	for _, t := range answers[0].(*kmsg.MetadataResponse).Topics {
		for _, p := range t.Partitions {
			if index[key{*t.Topic, p.Partition}] == nil {
				continue
			}
			if asked[p.Leader] == nil {
				asked[p.Leader] = map[string][]int32{}
			}
			asked[p.Leader][*t.Topic] = append(asked[p.Leader][*t.Topic], p.Partition)
		}
	}
	done := make(chan error)
	for leader, partitions := range asked {
		go func() {
			done <- func() error {
				c, err := at(leader)
				if err != nil {
					return err
				}
				answers, err := c.exchange(list(partitions, -2), list(partitions, -1))
				if err != nil {
					return err
				}
				for i, answer := range answers {
					for _, t := range answer.(*kmsg.ListOffsetsResponse).Topics {
						for _, p := range t.Partitions {
							r := index[key{t.Topic, p.Partition}] // no other leader has it
							if i == 0 {
								r.earliest = p.Offset
							} else {
								r.end = p.Offset
							}
						}
					}
				}
				return nil
			}()
		}()
	}
	for range asked {
		if err := <-done; err != nil {
			return err
		}
	}

	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	fmt.Fprintln(out, group, state)
	for _, r := range rows {
		fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%d\t%d\n", r.topic, r.partition, r.earliest, r.committed, r.end, r.end-r.committed)
	}
	return out.Flush()
}

func metadata(topics []string) kmsg.Request {
	q := kmsg.NewPtrMetadataRequest()
	q.Version = 12
	q.Topics = []kmsg.MetadataRequestTopic{} // none: the brokers alone
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &name
		q.Topics = append(q.Topics, t)
	}
	return q
}

func list(partitions map[string][]int32, at int64) kmsg.Request {
	q := kmsg.NewPtrListOffsetsRequest()
	q.Version, q.ReplicaID = 5, -1
	for topic, ids := range partitions {
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic = topic
		for _, id := range ids {
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.Partition, p.Timestamp = id, at
			t.Partitions = append(t.Partitions, p)
		}
		q.Topics = append(q.Topics, t)
	}
	return q
}
