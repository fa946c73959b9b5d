package kafkaops

import (
	"context"
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
	ranges, err := c.probe(ctx, keys, func(v wire.Versions, keys []offsets.Key) ([]kmsg.Request, error) {
		q := kmsg.NewPtrListOffsetsRequest()
		q.ReplicaID, q.Topics = -1, listOffsets(keys, at.UnixMilli())
		return []kmsg.Request{q}, v.Set(q, -1)
	}, func(_ int, answer kmsg.Response, one func(offsets.Key, int16)) {
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
			all[k] = offsets.Found{Offset: offsets.None, Reason: why(r), Away: r.Away}
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

// probe sends requests to each leader about its partitions, in one exchange. read gets each answer with the number of its request,
// and hands each partition of it to one; it is not called twice at the same time. A partition is known if all that was said of it
// was; in the ranges returned only this, and why not, counts.
func (c *Cluster) probe(ctx context.Context, keys []offsets.Key, build func(wire.Versions, []offsets.Key) ([]kmsg.Request, error),
	read func(i int, answer kmsg.Response, one func(offsets.Key, int16)),
) (map[offsets.Key]offsets.Range, error) {
	var mu sync.Mutex
	m := measuring{c: c}
	m.probe = func(ctx context.Context, node int32, keys []offsets.Key) (again []offsets.Key) {
		answers, err := c.wire.Do(ctx, node, func(v wire.Versions) ([]kmsg.Request, error) { return build(v, keys) })
		mu.Lock()
		defer mu.Unlock()
		asked := make(map[offsets.Key]bool, len(keys))
		const left = "the leader's answer does not name the partition"
		t := &offsets.Trouble{Reason: left}
		if err != nil {
			t = troubleOf(err)
		}
		for _, k := range keys {
			asked[k] = true
			r := &m.ranges[k.Topic][k.Partition]
			r.State, r.Reason, r.Denied, r.Away = offsets.RangeUnknown, t.Reason, t.Denied, t.Unreachable
		}
		if err != nil {
			if t.Unreachable {
				return keys
			}
			return nil
		}
		for i, answer := range answers {
			read(i, answer, func(k offsets.Key, code int16) {
				if !asked[k] {
					return
				}
				r := &m.ranges[k.Topic][k.Partition]
				switch {
				case code == 0 && r.Reason == left:
					r.State, r.Reason = offsets.RangeKnown, ""
				case code != 0 && (r.Known() || r.Reason == left): // one reason is enough, and one retry
					t := troubleCode(code, "DESCRIBE on topic "+k.Topic)
					r.State, r.Reason, r.Denied, r.Away = offsets.RangeUnknown, t.Reason, t.Denied, t.Unreachable
					if leaderMoved(code) {
						again = append(again, k)
					}
				}
			})
		}
		return again
	}
	return m.some(ctx, keys)
}
