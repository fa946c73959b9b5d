package kafkaops

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// Times finds in each partition the first record, in the order of offsets, whose timestamp is at or after the given time. The
// offset is None where there is none. The map has every key. The error means that no broker could be asked.
func (c *Cluster) Times(ctx context.Context, keys []offsets.Key, at time.Time) (map[offsets.Key]offsets.Found, error) {
	all := make(map[offsets.Key]offsets.Found, len(keys))
	ranges, err := c.probe(ctx, keys, func(v wire.Versions, keys []offsets.Key) (kmsg.Request, error) {
		q := kmsg.NewPtrListOffsetsRequest()
		q.ReplicaID, q.Topics = -1, listOffsets(keys, at.UnixMilli())
		return q, v.Set(q, -1)
	}, func(answer kmsg.Response, one func(offsets.Key, int16)) {
		for _, t := range answer.(*kmsg.ListOffsetsResponse).Topics {
			for _, p := range t.Partitions {
				k := offsets.Key{Topic: t.Topic, Partition: p.Partition}
				if p.ErrorCode == 0 {
					all[k] = offsets.Found{Offset: max(p.Offset, offsets.None)}
				}
				one(k, p.ErrorCode)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for k, r := range ranges {
		if !r.Known() {
			all[k] = offsets.Found{Offset: offsets.None, Reason: why(r)}
		}
	}
	return all, nil
}

// EpochEnd is where a leader epoch ended.
type EpochEnd struct {
	Epoch  int32  // the largest epoch in the log that is not above the one asked for; None if there is none such
	End    int64  // one past its last record; None if it is not known
	Reason string // why it could not be looked up, "" if it was
}

// EpochEnds asks each leader where the given epoch of a partition ended. A consumer that starts from a commit with that epoch
// jumps back to End if its offset is above it, and waits for ever if the epoch does not exist yet (End None). Needs Kafka 2.1. The
// map has every key. The error means that no broker could be asked.
func (c *Cluster) EpochEnds(ctx context.Context, epochs map[offsets.Key]int32) (map[offsets.Key]EpochEnd, error) {
	all := make(map[offsets.Key]EpochEnd, len(epochs))
	ranges, err := c.probe(ctx, slices.Collect(maps.Keys(epochs)), func(v wire.Versions, keys []offsets.Key) (kmsg.Request, error) {
		q := kmsg.NewPtrOffsetForLeaderEpochRequest()
		q.ReplicaID = -1 // a consumer
		for _, k := range keys {
			if n := len(q.Topics); n == 0 || q.Topics[n-1].Topic != k.Topic {
				t := kmsg.NewOffsetForLeaderEpochRequestTopic()
				t.Topic = k.Topic
				q.Topics = append(q.Topics, t)
			}
			p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
			p.Partition, p.LeaderEpoch, p.CurrentLeaderEpoch = k.Partition, epochs[k], -1
			t := &q.Topics[len(q.Topics)-1]
			t.Partitions = append(t.Partitions, p)
		}
		return q, v.Set(q, -1)
	}, func(answer kmsg.Response, one func(offsets.Key, int16)) {
		for _, t := range answer.(*kmsg.OffsetForLeaderEpochResponse).Topics {
			for _, p := range t.Partitions {
				k := offsets.Key{Topic: t.Topic, Partition: p.Partition}
				if p.ErrorCode == 0 {
					all[k] = EpochEnd{Epoch: max(p.LeaderEpoch, offsets.None), End: max(p.EndOffset, offsets.None)}
				}
				one(k, p.ErrorCode)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for k, r := range ranges {
		if !r.Known() {
			all[k] = EpochEnd{Epoch: offsets.None, End: offsets.None, Reason: why(r)}
		}
	}
	return all, nil
}

// why says why nothing is known of a partition.
func why(r offsets.Range) string {
	switch {
	case r.State == offsets.TopicGone:
		return "the topic no longer exists"
	case r.State == offsets.PartitionGone:
		return "the partition no longer exists"
	}
	return r.Reason
}

// probe sends one request to each leader about its partitions. read hands each partition of the answer to one; it is not called
// twice at the same time. In the ranges returned only what is known, and why not, counts.
func (c *Cluster) probe(ctx context.Context, keys []offsets.Key, build func(wire.Versions, []offsets.Key) (kmsg.Request, error),
	read func(answer kmsg.Response, one func(offsets.Key, int16)),
) (map[offsets.Key]offsets.Range, error) {
	var mu sync.Mutex
	m := measuring{c: c}
	m.probe = func(ctx context.Context, node int32, keys []offsets.Key) (again []offsets.Key) {
		answers, err := c.wire.Do(ctx, node, func(v wire.Versions) ([]kmsg.Request, error) {
			q, err := build(v, keys)
			return []kmsg.Request{q}, err
		})
		mu.Lock()
		defer mu.Unlock()
		asked := make(map[offsets.Key]bool, len(keys))
		t := &offsets.Trouble{Reason: "the leader's answer does not name the partition"}
		if err != nil {
			t = troubleOf(err)
		}
		for _, k := range keys {
			asked[k] = true
			r := &m.ranges[k.Topic][k.Partition]
			r.State, r.Reason, r.Denied = offsets.RangeUnknown, t.Reason, t.Denied
		}
		if err != nil {
			if t.Unreachable {
				return keys
			}
			return nil
		}
		read(answers[0], func(k offsets.Key, code int16) {
			if !asked[k] {
				return
			}
			r := &m.ranges[k.Topic][k.Partition]
			if code == 0 {
				r.State, r.Reason = offsets.RangeKnown, ""
				return
			}
			t := troubleCode(code, "DESCRIBE on topic "+k.Topic)
			r.Reason, r.Denied = t.Reason, t.Denied
			if leaderMoved(code) {
				again = append(again, k)
			}
		})
		return again
	}
	return m.some(ctx, keys)
}
