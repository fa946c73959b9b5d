package kafkaops

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// Ranges is what the cluster has of some topics.
type Ranges struct {
	Topics map[string]offsets.Topic // every topic that was asked for
}

// Range is what is known of one partition.
func (r Ranges) Range(k offsets.Key) offsets.Range { return r.Topics[k.Topic].Range(k.Partition) }

// noRange is a partition of which nothing is known.
var noRange = offsets.Range{Stable: offsets.None, Leader: offsets.None, Epoch: offsets.None}

// Ranges measures every partition of the given topics: Metadata, then to each leader one exchange for earliest and end, and with
// stable also for the last stable offset. A topic or a partition that could not be measured says why. The error means that no
// broker could be asked.
func (c *Cluster) Ranges(ctx context.Context, topics []string, stable bool) (Ranges, error) {
	if err := c.Connect(ctx); err != nil {
		return Ranges{}, err
	}
	topics = slices.Compact(slices.Sorted(slices.Values(topics)))
	m := measuring{c: c, stable: stable, topics: map[string]offsets.Topic{}, ranges: map[string][]offsets.Range{}}
	if err := m.locate(ctx, topics); err != nil {
		return Ranges{}, err
	}
	var keys []offsets.Key
	for _, name := range topics {
		for p := range m.ranges[name] {
			keys = append(keys, offsets.Key{Topic: name, Partition: int32(p)})
		}
	}
	m.measure(ctx, keys)
	for name, t := range m.topics {
		t.Ranges = m.ranges[name]
		m.topics[name] = t
	}
	return Ranges{Topics: m.topics}, nil
}

// Remeasure measures the given partitions once more, at the leaders that are known from Ranges; where these have moved, or are
// not known, after fresh Metadata. The map has every key. The error means that no broker could be asked.
func (c *Cluster) Remeasure(ctx context.Context, keys []offsets.Key, stable bool) (map[offsets.Key]offsets.Range, error) {
	m := measuring{c: c, stable: stable}
	return m.some(ctx, keys)
}

// some measures single partitions, at the leaders that are known already if all are.
func (m *measuring) some(ctx context.Context, keys []offsets.Key) (map[offsets.Key]offsets.Range, error) {
	c := m.c
	if err := c.Connect(ctx); err != nil {
		return nil, err
	}
	keys = slices.CompactFunc(offsets.SortKeys(slices.Clone(keys)), func(a, b offsets.Key) bool { return a == b })
	m.topics, m.ranges = map[string]offsets.Topic{}, map[string][]offsets.Range{}
	highest := map[string]int32{}
	known := true
	c.mu.Lock()
	for _, k := range keys {
		highest[k.Topic] = max(highest[k.Topic], k.Partition)
		ls := c.leaders[k.Topic]
		known = known && int(k.Partition) < len(ls) && ls[k.Partition].id != offsets.None
	}
	for name, p := range highest {
		m.ranges[name] = make([]offsets.Range, p+1)
		for i := range m.ranges[name] {
			r := noRange
			if ls := c.leaders[name]; i < len(ls) {
				l := ls[i]
				r.Leader, r.Epoch, r.TopicID = l.id, l.epoch, l.topicID
			}
			m.ranges[name][i] = r
		}
	}
	c.mu.Unlock()
	if !known {
		if err := m.locate(ctx, slices.Sorted(maps.Keys(highest))); err != nil {
			return nil, err
		}
	}
	m.measure(ctx, keys)
	all := make(map[offsets.Key]offsets.Range, len(keys))
	for _, k := range keys {
		all[k] = m.of(k)
	}
	return all, nil
}

// of is what was measured of a partition.
func (m *measuring) of(k offsets.Key) offsets.Range {
	if rs := m.ranges[k.Topic]; int(k.Partition) < len(rs) {
		return rs[k.Partition]
	}
	return m.topics[k.Topic].Range(k.Partition)
}

// measuring is one run of Ranges or Remeasure.
type measuring struct {
	c      *Cluster
	stable bool
	topics map[string]offsets.Topic   // facts, without Ranges
	ranges map[string][]offsets.Range // by partition number

	// probe asks a leader about partitions and returns those that have another leader now; nil: for earliest and end. It sets
	// the State of each range, and Reason where it is not RangeKnown.
	probe func(ctx context.Context, node int32, keys []offsets.Key) (again []offsets.Key)
}

// locate asks Metadata for topics: ids, partitions, leaders. Ranges that were known start anew. A topic that is not known is
// asked for once more, since it may just have been created.
func (m *measuring) locate(ctx context.Context, topics []string) error {
	todo := topics
	for try := 0; len(todo) > 0; try++ {
		var again []string
		for part := range chunks(todo, maxRequest, func(name string) int { return len(name) + 24 }) {
			r, err := m.c.wire.Metadata(ctx, part)
			if err != nil {
				return err
			}
			if is := deref(r.ClusterID); is != "" && is != m.c.ID() && m.c.ID() != "" {
				return &OtherClusterError{Was: m.c.ID(), Is: is}
			}
			told := make(map[string]bool, len(part))
			for _, t := range r.Topics {
				if t.Topic == nil {
					continue
				}
				told[*t.Topic] = true
				if code := t.ErrorCode; code == wire.CodeUnknownTopic || code == wire.CodeLeaderNotAvailable {
					again = append(again, *t.Topic)
				}
				m.take(r.Version, t)
			}
			for _, name := range part {
				if !told[name] {
					m.topics[name] = offsets.Topic{Trouble: &offsets.Trouble{Reason: "the broker's answer does not name the topic"}}
				}
			}
		}
		todo = again
		if try >= 1 || len(again) > 0 && !pause(ctx, try+1) {
			break
		}
	}
	return nil
}

// maxPartitions bounds what an answer can make us allocate: no cluster has as many partitions in all.
const maxPartitions = 1 << 20

// take keeps what Metadata says of a topic.
func (m *measuring) take(version int16, t kmsg.MetadataResponseTopic) {
	name := *t.Topic
	topic := offsets.Topic{}
	if t.TopicID != [16]byte{} {
		topic.ID = offsets.TopicID(t.TopicID)
	}
	switch code := t.ErrorCode; code {
	case 0:
	case wire.CodeUnknownTopic, wire.CodeInvalidTopic:
		topic.Gone = true
	default:
		topic.Trouble = troubleCode(code, "DESCRIBE on topic "+name)
	}
	count := int32(0)
	for _, p := range t.Partitions {
		count = max(count, min(p.Partition, maxPartitions-1)+1)
	}
	ranges := make([]offsets.Range, count)
	leaders := make([]leader, count)
	for i := range ranges {
		ranges[i] = noRange
		ranges[i].TopicID = topic.ID
		ranges[i].Reason = "the broker's answer does not name the partition"
		leaders[i].id = offsets.None
	}
	m.c.mu.Lock()
	defer m.c.mu.Unlock()
	for _, p := range t.Partitions {
		if p.Partition < 0 || p.Partition >= count {
			continue
		}
		r := &ranges[p.Partition]
		r.Leader, r.Reason = max(p.Leader, offsets.None), ""
		if version >= 7 {
			r.Epoch = max(p.LeaderEpoch, offsets.None)
		}
		if r.Leader == offsets.None {
			r.Reason = "no leader"
		}
		leaders[p.Partition] = leader{r.Leader, r.Epoch, r.TopicID}
	}
	topic.Ranges = ranges
	m.topics[name], m.ranges[name], m.c.leaders[name] = topic, ranges, leaders
}

// measure fills in earliest and end of the given partitions, each at its leader. Those whose leader has moved, or does not
// answer, are tried again after fresh Metadata, a few times.
func (m *measuring) measure(ctx context.Context, keys []offsets.Key) {
	probe := m.probe
	if probe == nil {
		probe = m.at
	}
	for try := 0; ; try++ {
		work := map[int32][]offsets.Key{}
		for _, k := range keys {
			if rs := m.ranges[k.Topic]; int(k.Partition) < len(rs) && rs[k.Partition].Leader != offsets.None {
				work[rs[k.Partition].Leader] = append(work[rs[k.Partition].Leader], k)
			}
		}
		var mu sync.Mutex
		var moved []offsets.Key
		byNode(work, func(node int32, keys []offsets.Key) {
			topic := ""
			size := func(k offsets.Key) int { // a topic's name is sent once
				if k.Topic == topic {
					return 18
				}
				topic = k.Topic
				return 18 + 12 + len(topic)
			}
			for part := range chunks(keys, maxRequest, size) {
				again := probe(ctx, node, part)
				mu.Lock()
				moved = append(moved, again...)
				mu.Unlock()
			}
		})
		if len(moved) == 0 || try+1 >= readTries || !pause(ctx, try+1) {
			return
		}
		offsets.SortKeys(moved)
		// Only what is measured again starts anew: the other ranges of these topics stand.
		was := map[offsets.Key]offsets.Range{}
		var topics []string
		for _, k := range moved {
			was[k] = m.ranges[k.Topic][k.Partition]
			if len(topics) == 0 || topics[len(topics)-1] != k.Topic {
				topics = append(topics, k.Topic)
			}
		}
		kept := map[string][]offsets.Range{}
		for _, name := range topics {
			kept[name] = m.ranges[name]
		}
		if err := m.locate(ctx, topics); err != nil {
			return
		}
		keys = nil
		for _, name := range topics {
			now := m.ranges[name]
			if m.topics[name].Trouble != nil && len(now) == 0 {
				m.ranges[name] = kept[name]
				continue
			}
			for p, r := range kept[name] {
				k := offsets.Key{Topic: name, Partition: int32(p)}
				old, again := was[k]
				switch {
				case p >= len(now): // gone meanwhile
				case !again && r.TopicID == now[p].TopicID:
					now[p] = r
				case again && !r.Known() && now[p].Leader == old.Leader && m.c.wire.Down(old.Leader):
					now[p] = old // still the broker that does not answer
				case now[p].Leader != offsets.None:
					now[p].Reason, now[p].Away = old.Reason, old.Away // stands if there is no answer
					keys = append(keys, k)
				}
			}
		}
	}
}

// at measures partitions at their leader in one exchange and returns those that have another leader now.
func (m *measuring) at(ctx context.Context, node int32, keys []offsets.Key) (again []offsets.Key) {
	answers, err := m.c.wire.Do(ctx, node, func(v wire.Versions) ([]kmsg.Request, error) { return m.bounds(v, keys) })
	if err != nil {
		t := troubleOf(err)
		for _, k := range keys {
			r := &m.ranges[k.Topic][k.Partition]
			r.State, r.Reason, r.Denied, r.Away = offsets.RangeUnknown, t.Reason, t.Denied, t.Unreachable
		}
		if t.Unreachable {
			return keys
		}
		return nil
	}
	for _, k := range keys {
		r := &m.ranges[k.Topic][k.Partition]
		r.State, r.Reason, r.Denied, r.Away = offsets.RangeUnknown, "", false, false
		r.Earliest, r.End, r.Stable = offsets.None, offsets.None, offsets.None
	}
	for i, a := range answers {
		again = append(again, m.bound(node, i, a.(*kmsg.ListOffsetsResponse))...)
	}
	for _, k := range keys {
		r := &m.ranges[k.Topic][k.Partition]
		complete := r.Earliest >= 0 && r.End >= 0 && (len(answers) <= atStable || r.Stable >= 0)
		switch {
		case r.Reason == "" && complete:
			r.State = offsets.RangeKnown
			r.End = max(r.End, r.Earliest) // records were deleted between the two requests
			continue
		case r.Reason == "":
			r.Reason = "the leader's answer does not name the partition"
		}
		r.Earliest, r.End, r.Stable = 0, 0, offsets.None
	}
	return again
}

// What is asked of a leader, in this order.
const (
	atEarliest = iota
	atEnd
	atStable // only on demand
)

// bounds are the requests for what is asked, one for each: a broker refuses a partition that is named twice.
func (m *measuring) bounds(v wire.Versions, keys []offsets.Key) (all []kmsg.Request, err error) {
	last := atEnd
	if m.stable && v.Max(wire.ListOffsets) >= 2 {
		last = atStable
	}
	for what := atEarliest; what <= last; what++ {
		q := kmsg.NewPtrListOffsetsRequest()
		q.ReplicaID = -1
		timestamp := int64(-1)
		switch what {
		case atEarliest:
			timestamp = -2
		case atStable:
			q.IsolationLevel = 1
		}
		q.Topics = listOffsets(keys, timestamp)
		if err := v.Set(q, -1); err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	return all, nil
}

// bound takes one answer over, and returns the partitions that have another leader now.
func (m *measuring) bound(node int32, what int, answer *kmsg.ListOffsetsResponse) (again []offsets.Key) {
	for _, t := range answer.Topics {
		for _, p := range t.Partitions {
			rs := m.ranges[t.Topic]
			if int(p.Partition) >= len(rs) || p.Partition < 0 {
				continue
			}
			r := &rs[p.Partition]
			switch {
			case r.Leader != node: // not asked for, and another goroutine's
			case p.ErrorCode != 0:
				if r.Reason != "" {
					continue // one reason is enough, and one retry
				}
				trouble := troubleCode(p.ErrorCode, "DESCRIBE on topic "+t.Topic)
				r.Reason, r.Denied = trouble.Reason, trouble.Denied
				if leaderMoved(p.ErrorCode) {
					again = append(again, offsets.Key{Topic: t.Topic, Partition: p.Partition})
				}
			case what == atEarliest:
				r.Earliest = p.Offset
			case what == atEnd:
				r.End = p.Offset
				if answer.Version >= 4 {
					r.Epoch = max(p.LeaderEpoch, r.Epoch)
				}
			default:
				r.Stable = p.Offset
			}
		}
	}
	return again
}

// listOffsets builds the part of a ListOffsets request that names the partitions. The keys are sorted.
func listOffsets(keys []offsets.Key, timestamp int64) []kmsg.ListOffsetsRequestTopic {
	var topics []kmsg.ListOffsetsRequestTopic
	for start := 0; start < len(keys); {
		end := start + 1
		for end < len(keys) && keys[end].Topic == keys[start].Topic {
			end++
		}
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic = keys[start].Topic
		t.Partitions = make([]kmsg.ListOffsetsRequestTopicPartition, 0, end-start)
		for _, k := range keys[start:end] {
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.Partition, p.Timestamp, p.CurrentLeaderEpoch = k.Partition, timestamp, -1
			t.Partitions = append(t.Partitions, p)
		}
		topics = append(topics, t)
		start = end
	}
	return topics
}
