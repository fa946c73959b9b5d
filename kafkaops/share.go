package kafkaops

import (
	"context"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// readShared asks the coordinators of share groups where these start in each partition.
func (r *reading) readShared(ctx context.Context) {
	work := map[int32][]string{}
	for _, id := range slices.Sorted(maps.Keys(r.groups)) {
		if g := r.groups[id]; g.Type == offsets.Share && g.Trouble == nil {
			work[g.Coordinator] = append(work[g.Coordinator], id)
		}
	}
	byNode(work, func(node int32, ids []string) {
		for part := range chunks(ids, maxRequest, func(id string) int { return len(id) + 8 }) {
			r.sharedAt(ctx, node, part)
		}
	})
}

func (r *reading) sharedAt(ctx context.Context, node int32, ids []string) {
	unknown := func(id, reason string) {
		r.groups[id].SharedReason = reason
	}
	has := true
	answers, err := r.c.wire.Do(ctx, node, func(v wire.Versions) ([]kmsg.Request, error) {
		q := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
		for _, id := range ids {
			g := kmsg.NewDescribeShareGroupOffsetsRequestGroup()
			g.GroupID = id // all of its topics
			q.Groups = append(q.Groups, g)
		}
		has = v.Has(wire.ShareGroupOffsets)
		return []kmsg.Request{q}, v.Set(q, -1)
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		reason := troubleOf(err).Reason
		if !has {
			reason = "the broker is too old (Kafka 4.1)"
		}
		for _, id := range ids {
			unknown(id, reason)
		}
		return
	}
	for _, a := range answers[0].(*kmsg.DescribeShareGroupOffsetsResponse).Groups {
		switch {
		case !slices.Contains(ids, a.GroupID):
		case a.ErrorCode != 0:
			unknown(a.GroupID, troubleCode(a.ErrorCode, "DESCRIBE on group "+a.GroupID).Reason)
		default:
			r.groups[a.GroupID].Shared = r.shared(a)
		}
	}
}

// shared reads an answer about one group, as far as its topics are wanted.
func (r *reading) shared(a kmsg.DescribeShareGroupOffsetsResponseGroup) map[offsets.Key]offsets.Shared {
	all := map[offsets.Key]offsets.Shared{}
	for _, t := range a.Topics {
		only, named := r.wanted[t.Topic]
		if r.wanted != nil && !named {
			continue
		}
		for _, p := range t.Partitions {
			if only != nil && !slices.Contains(only, p.Partition) {
				continue
			}
			s := offsets.Shared{Start: max(p.StartOffset, offsets.None), Lag: max(p.Lag, offsets.None)}
			if p.ErrorCode != 0 {
				s = offsets.Shared{Start: offsets.None, Lag: offsets.None, Reason: troubleCode(p.ErrorCode, "DESCRIBE on topic "+t.Topic).Reason}
			}
			all[offsets.Key{Topic: t.Topic, Partition: p.Partition}] = s
		}
	}
	return all
}
