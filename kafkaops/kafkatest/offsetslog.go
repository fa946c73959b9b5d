package kafkatest

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetsTopic is where Kafka keeps commits, and kfake does not.
const offsetsTopic = "__consumer_offsets"

// OffsetsLog is a partition of __consumer_offsets of a test's own making: commits, members, transactions, compacted at will. The zero
// value is an empty log.
type OffsetsLog struct {
	mu      sync.Mutex
	batches []logged // by offset
	start   int64
	end     int64
	fetched func(n int, from int64) // see OnFetch
	fetches int
	portion int // bytes of an answer; 0: as many as are asked for
	refused *kerr.Error
}

// logged is a batch, with its records.
type logged struct {
	base, last    int64
	at            time.Time
	producer      int64 // -1: none
	transactional bool
	control       bool
	entries       []Entry
	offsets       []int64 // of the entries that are left
}

// Entry is one record of the log. Where its value has a time of its own that is the batch's.
type Entry struct {
	Key   []byte
	Value func(at time.Time) []byte // nil: a tombstone
}

// OffsetCommit is a commit as Kafka 4.4 writes it, without a topic id.
func OffsetCommit(group, topic string, partition int32, offset int64, metadata string) Entry {
	return OffsetCommitOf(4, [16]byte{}, group, topic, partition, offset, metadata)
}

// OffsetCommitOf is a commit in one of the versions of its value, 0 to 4.
func OffsetCommitOf(version int16, topicID [16]byte, group, topic string, partition int32, offset int64, metadata string) Entry {
	return Entry{Key: commitKey(group, topic, partition), Value: func(at time.Time) []byte {
		v := kmsg.NewOffsetCommitValue()
		v.Version, v.Offset, v.LeaderEpoch, v.Metadata, v.CommitTimestamp, v.TopicID = version, offset, -1, metadata, at.UnixMilli(), topicID
		v.ExpireTimestamp = at.Add(time.Hour).UnixMilli()
		return v.AppendTo(nil)
	}}
}

func commitKey(group, topic string, partition int32) []byte {
	k := kmsg.OffsetCommitKey{Version: 1, Group: group, Topic: topic, Partition: partition}
	return k.AppendTo(nil)
}

// OffsetTombstone removes a commit.
func OffsetTombstone(group, topic string, partition int32) Entry {
	return Entry{Key: commitKey(group, topic, partition)}
}

// ClassicGroup is the state of a classic group, whose members have these ids, and client ids that are the same.
func ClassicGroup(group string, generation int32, members ...string) Entry {
	return Entry{Key: classicKey(group), Value: func(at time.Time) []byte {
		v := kmsg.NewGroupMetadataValue()
		v.Version, v.ProtocolType, v.Generation, v.CurrentStateTimestamp = 3, "consumer", generation, at.UnixMilli()
		for _, id := range members {
			m := kmsg.NewGroupMetadataValueMember()
			m.MemberID, m.ClientID, m.ClientHost, m.Subscription, m.Assignment = id, id, "/10.0.0.5", []byte{1, 2}, []byte{3}
			v.Members = append(v.Members, m)
		}
		return v.AppendTo(nil)
	}}
}

func classicKey(group string) []byte {
	k := kmsg.GroupMetadataKey{Version: 2, Group: group}
	return k.AppendTo(nil)
}

// ClassicTombstone removes a classic group, or a simple one.
func ClassicTombstone(group string) Entry { return Entry{Key: classicKey(group)} }

// modernKey is the key of a record of the KIP-848 protocol.
func modernKey(kind uint16, group string, more ...string) []byte {
	b := binary.BigEndian.AppendUint16(nil, kind)
	for _, s := range append([]string{group}, more...) {
		b = binary.BigEndian.AppendUint16(b, uint16(len(s)))
		b = append(b, s...)
	}
	return b
}

// ModernEpoch is the epoch of a group of the KIP-848 protocol.
func ModernEpoch(group string, epoch int32) Entry {
	return Entry{Key: modernKey(3, group), Value: func(time.Time) []byte {
		return append(binary.BigEndian.AppendUint32([]byte{0, 0}, uint32(epoch)), 0)
	}}
}

// ModernMember is a member of such a group, with its client id.
func ModernMember(group, id, client string) Entry {
	return Entry{Key: modernKey(5, group, id), Value: func(time.Time) []byte {
		b := []byte{0, 0, 0, 0} // version, no instance, no rack
		for _, s := range []string{client, "/10.0.0.6"} {
			b = append(binary.AppendUvarint(b, uint64(len(s)+1)), s...)
		}
		return append(b, 1, 0, 0xff, 0xff, 0xff, 0xff, 0, 0) // topics, regex, timeout, assignor, tags: nobody reads on
	}}
}

// ModernTarget is a record of such a group that says nothing about commits or members.
func ModernTarget(group string) Entry {
	return Entry{Key: modernKey(6, group), Value: func(time.Time) []byte { return []byte{0, 0, 0, 0, 0, 1, 0} }}
}

// ModernLeft removes a member, ModernTombstone the group.
func ModernLeft(group, id string) Entry { return Entry{Key: modernKey(5, group, id)} }

// ModernTombstone removes the group.
func ModernTombstone(group string) Entry { return Entry{Key: modernKey(3, group)} }

// Batch appends entries in one batch, as the coordinator does with what a request brings.
func (l *OffsetsLog) Batch(at time.Time, entries ...Entry) *OffsetsLog {
	return l.append(logged{at: at, producer: -1, entries: entries})
}

// Transaction appends commits of a transaction that is still open.
func (l *OffsetsLog) Transaction(at time.Time, producer int64, entries ...Entry) *OffsetsLog {
	return l.append(logged{at: at, producer: producer, transactional: true, entries: entries})
}

// Marker ends a transaction.
func (l *OffsetsLog) Marker(at time.Time, producer int64, commit bool) *OffsetsLog {
	kind := byte(0)
	if commit {
		kind = 1
	}
	return l.append(logged{at: at, producer: producer, transactional: true, control: true, entries: []Entry{{
		Key: []byte{0, 0, 0, kind}, Value: func(time.Time) []byte { return make([]byte, 6) },
	}}})
}

func (l *OffsetsLog) append(b logged) *OffsetsLog {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.base, b.last = l.end, l.end+int64(len(b.entries))-1
	for i := range b.entries {
		b.offsets = append(b.offsets, b.base+int64(i))
	}
	l.batches, l.end = append(l.batches, b), b.last+1
	return l
}

// Jump leaves offsets out, as compaction does with many records.
func (l *OffsetsLog) Jump(n int64) *OffsetsLog {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end += n
	return l
}

// Compact does what the cleaner does with the records below an offset: of each key the last is left, and of aborted transactions
// nothing. Tombstones stay, as they do for a day.
func (l *OffsetsLog) Compact(below int64) *OffsetsLog {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, aborted := map[string]int64{}, l.aborted()
	for i, b := range l.batches {
		for j, e := range b.entries {
			if at := b.offsets[j]; at < below && !b.control && !aborted[i] {
				last[string(e.Key)] = at
			}
		}
	}
	var kept []logged
	for i, b := range l.batches {
		var left logged
		for j, e := range b.entries {
			if at := b.offsets[j]; at >= below || b.control || !aborted[i] && last[string(e.Key)] == at {
				left.entries, left.offsets = append(left.entries, e), append(left.offsets, at)
			}
		}
		if len(left.entries) > 0 {
			b.entries, b.offsets = left.entries, left.offsets
			kept = append(kept, b)
		}
	}
	l.batches = kept
	return l
}

// aborted are the indices of the batches that belong to aborted transactions.
func (l *OffsetsLog) aborted() map[int]bool {
	open, all := map[int64][]int{}, map[int]bool{}
	for i, b := range l.batches {
		switch {
		case b.control && b.entries[0].Key[3] == 0:
			for _, j := range open[b.producer] {
				all[j] = true
			}
			delete(open, b.producer)
		case b.control:
			delete(open, b.producer)
		case b.transactional:
			open[b.producer] = append(open[b.producer], i)
		}
	}
	return all
}

// End is the offset behind the last record.
func (l *OffsetsLog) End() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}

// OnFetch lets f be called before each answer to a fetch, with its number from 1 on and its offset: to compact while somebody reads.
func (l *OffsetsLog) OnFetch(f func(n int, from int64)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fetched = f
}

// Refuse lets fetches be answered with an error.
func (l *OffsetsLog) Refuse(err *kerr.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = err
}

// Portions lets answers to fetches be small.
func (l *OffsetsLog) Portions(bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.portion = bytes
}

// Bytes are the batches from the one on that an offset is in, as a broker sends them: at most so many bytes, but one batch at least.
func (l *OffsetsLog) Bytes(from int64, most int) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, _ := slices.BinarySearchFunc(l.batches, from, func(b logged, from int64) int { return cmp.Compare(b.last, from) })
	var all []byte
	for ; i < len(l.batches); i++ {
		raw := l.batches[i].bytes()
		if len(all) > 0 && len(all)+len(raw) > most {
			break
		}
		all = append(all, raw...)
	}
	return all
}

func (b logged) bytes() []byte {
	var body []byte
	for i, e := range b.entries {
		r := kmsg.Record{OffsetDelta: int32(b.offsets[i] - b.base), Key: e.Key}
		if e.Value != nil {
			r.Value = e.Value(b.at)
		}
		r.Length = int32(len(r.AppendTo(nil)) - 1) // a length of 0 takes a byte
		body = r.AppendTo(body)
	}
	raw := kmsg.RecordBatch{
		FirstOffset: b.base, Magic: 2, LastOffsetDelta: int32(b.last - b.base), FirstTimestamp: b.at.UnixMilli(), MaxTimestamp: b.at.UnixMilli(),
		ProducerID: b.producer, ProducerEpoch: -1, FirstSequence: -1, NumRecords: int32(len(b.entries)), Records: body,
	}
	if b.transactional {
		raw.Attributes, raw.ProducerEpoch = 1<<4, 0
	}
	if b.control {
		raw.Attributes |= 1 << 5
	}
	out := raw.AppendTo(nil)
	binary.BigEndian.PutUint32(out[8:], uint32(len(out)-12))
	binary.BigEndian.PutUint32(out[17:], crc32.Checksum(out[21:], crc32.MakeTable(crc32.Castagnoli)))
	return out
}

// OffsetsLog lets the cluster answer fetches of one partition of __consumer_offsets from a log. Nobody else may fetch from it, or from
// other topics in the same request.
func (b *Broker) OffsetsLog(partition int32) *OffsetsLog {
	l := &OffsetsLog{}
	id := b.Fake.TopicInfo(offsetsTopic).TopicID
	b.Fake.ControlKey(kmsg.Fetch.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
		b.Fake.KeepControl()
		f := q.(*kmsg.FetchRequest)
		for _, t := range f.Topics {
			for _, p := range t.Partitions {
				if (t.Topic == offsetsTopic || t.TopicID == id) && p.Partition == partition {
					return l.fetch(f, t, p), nil, true
				}
			}
		}
		return nil, nil, false
	})
	b.Fake.ControlKey(kmsg.ListOffsets.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
		b.Fake.KeepControl()
		f := q.(*kmsg.ListOffsetsRequest)
		for _, t := range f.Topics {
			for _, p := range t.Partitions {
				if t.Topic == offsetsTopic && p.Partition == partition {
					return l.list(f, p), nil, true
				}
			}
		}
		return nil, nil, false
	})
	return l
}

func (l *OffsetsLog) fetch(q *kmsg.FetchRequest, t kmsg.FetchRequestTopic, p kmsg.FetchRequestTopicPartition) kmsg.Response {
	l.mu.Lock()
	l.fetches++
	f, n, most, refused := l.fetched, l.fetches, int(p.PartitionMaxBytes), l.refused
	if l.portion > 0 {
		most = l.portion
	}
	l.mu.Unlock()
	if f != nil {
		f(n, p.FetchOffset)
	}
	r := q.ResponseKind().(*kmsg.FetchResponse)
	rt := kmsg.NewFetchResponseTopic()
	rt.Topic, rt.TopicID = t.Topic, t.TopicID
	rp := kmsg.NewFetchResponseTopicPartition()
	rp.Partition, rp.HighWatermark, rp.LastStableOffset, rp.LogStartOffset = p.Partition, l.End(), l.End(), l.start
	switch {
	case refused != nil:
		rp.ErrorCode = refused.Code
	case p.FetchOffset < l.start || p.FetchOffset > l.End():
		rp.ErrorCode = kerr.OffsetOutOfRange.Code
	default:
		rp.RecordBatches = l.Bytes(p.FetchOffset, most)
	}
	rt.Partitions = append(rt.Partitions, rp)
	r.Topics = append(r.Topics, rt)
	return r
}

func (l *OffsetsLog) list(q *kmsg.ListOffsetsRequest, p kmsg.ListOffsetsRequestTopicPartition) kmsg.Response {
	r := q.ResponseKind().(*kmsg.ListOffsetsResponse)
	rt := kmsg.NewListOffsetsResponseTopic()
	rt.Topic = offsetsTopic
	rp := kmsg.NewListOffsetsResponseTopicPartition()
	rp.Partition = p.Partition
	switch p.Timestamp {
	case -2:
		rp.Offset = l.start
	case -1:
		rp.Offset = l.End()
	default:
		rp.Offset = l.at(p.Timestamp)
	}
	rt.Partitions = append(rt.Partitions, rp)
	r.Topics = append(r.Topics, rt)
	return r
}

// at is the first offset whose record is not older, -1 if there is none.
func (l *OffsetsLog) at(millis int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.batches {
		if b.at.UnixMilli() >= millis {
			return b.base
		}
	}
	return -1
}

// Record appends what is committed from now on without a membership, as a tool commits, with the times of a clock. Where nothing asked
// for the topics before, their names are not known.
func (b *Broker) Record(l *OffsetsLog, now func() time.Time) {
	var mu sync.Mutex
	names := map[[16]byte]string{}
	b.Rewrite(kmsg.Metadata.Int16(), func(_ int32, r kmsg.Response) bool {
		mu.Lock()
		defer mu.Unlock()
		for _, t := range r.(*kmsg.MetadataResponse).Topics {
			if t.Topic != nil {
				names[t.TopicID] = *t.Topic
			}
		}
		return true
	})
	b.Fake.ControlKey(kmsg.OffsetCommit.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
		b.Fake.KeepControl()
		c := q.(*kmsg.OffsetCommitRequest)
		mu.Lock()
		defer mu.Unlock()
		var entries []Entry
		for _, t := range c.Topics {
			name := t.Topic
			if name == "" {
				name = names[t.TopicID]
			}
			for _, p := range t.Partitions {
				metadata := ""
				if p.Metadata != nil {
					metadata = *p.Metadata
				}
				entries = append(entries, OffsetCommitOf(4, t.TopicID, c.Group, name, p.Partition, p.Offset, metadata))
			}
		}
		l.Batch(now(), entries...)
		return nil, nil, false
	})
}
