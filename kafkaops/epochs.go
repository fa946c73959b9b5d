package kafkaops

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// EpochEnds asks each leader where the given epochs of its partitions ended, in one exchange. A consumer that starts from a commit
// with such an epoch jumps back to End if its offset is above it, and waits for ever if the epoch does not exist yet (End None).
// Needs Kafka 2.1; consumers of older brokers do not ask, and those epochs are Unsupported. The map has every epoch. The error
// means that no broker could be asked.
func (c *Cluster) EpochEnds(ctx context.Context, epochs map[offsets.Key][]int32) (map[offsets.KeyEpoch]offsets.EpochEnd, error) {
	all := map[offsets.KeyEpoch]offsets.EpochEnd{}
	var tooOld atomic.Bool
	ranges, err := c.probe(ctx, slices.Collect(maps.Keys(epochs)), func(v wire.Versions, keys []offsets.Key) ([]kmsg.Request, error) {
		if !v.Has(wire.OffsetForLeaderEpoch) {
			tooOld.Store(true)
		}
		return epochRequests(v, keys, epochs)
	}, func(i int, answer kmsg.Response, one func(offsets.Key, int16)) {
		for _, t := range answer.(*kmsg.OffsetForLeaderEpochResponse).Topics {
			for _, p := range t.Partitions {
				k := offsets.Key{Topic: t.Topic, Partition: p.Partition}
				if p.ErrorCode == 0 && i < len(epochs[k]) {
					all[offsets.KeyEpoch{Key: k, Epoch: epochs[k][i]}] = offsets.EpochEnd{Epoch: max(p.LeaderEpoch, offsets.None), End: max(p.EndOffset, offsets.None)}
				}
				one(k, p.ErrorCode)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for k, list := range epochs {
		for _, epoch := range list {
			if r := ranges[k]; !r.Known() {
				all[offsets.KeyEpoch{Key: k, Epoch: epoch}] = offsets.EpochEnd{Epoch: offsets.None, End: offsets.None, Reason: why(r), Unsupported: tooOld.Load()}
			}
		}
	}
	return all, nil
}

// epochRequests asks for the first epoch of each partition, then for the second of those that have one, and so on: a partition
// stands once in a request.
func epochRequests(v wire.Versions, keys []offsets.Key, epochs map[offsets.Key][]int32) ([]kmsg.Request, error) {
	var all []kmsg.Request
	for i, left := 0, true; left; i++ {
		left = false
		q := kmsg.NewPtrOffsetForLeaderEpochRequest()
		q.ReplicaID = -1 // a consumer
		for _, k := range keys {
			if i >= len(epochs[k]) {
				continue
			}
			left = left || i+1 < len(epochs[k])
			if n := len(q.Topics); n == 0 || q.Topics[n-1].Topic != k.Topic {
				t := kmsg.NewOffsetForLeaderEpochRequestTopic()
				t.Topic = k.Topic
				q.Topics = append(q.Topics, t)
			}
			p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
			p.Partition, p.LeaderEpoch, p.CurrentLeaderEpoch = k.Partition, epochs[k][i], -1
			t := &q.Topics[len(q.Topics)-1]
			t.Partitions = append(t.Partitions, p)
		}
		if err := v.Set(q, -1); err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	return all, nil
}
