package kafkaops

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/records"
	"gtoffset/kafkaops/wire"
)

// How much of each partition is fetched to look at one record: a batch as producers make it by default, and more where a batch was
// larger. A broker sends the first partition of a request its first batch in any case. fetchAnswer is for a whole answer.
const (
	fetchFirst   = 20 << 10
	fetchMost    = 16 << 20
	fetchAnswer  = 8 << 20
	fetchRounds  = 12 // in a row that find nothing
	newestFormat = 12 // above, Fetch knows topics by id only
)

// NextRecords looks, for each of the given offsets, at the first record at or after it: a few kilobytes of each partition, one
// exchange with each leader in most cases. Markers of transactions are no records. The map has every offset; the error means that
// no broker could be asked.
func (c *Cluster) NextRecords(ctx context.Context, asked []offsets.KeyOffset) (map[offsets.KeyOffset]offsets.Next, error) {
	l := looking{found: make(map[offsets.KeyOffset]offsets.Next, len(asked)), left: map[offsets.Key][]*lookup{}}
	for _, k := range asked {
		l.left[k.Key] = append(l.left[k.Key], &lookup{KeyOffset: k, at: k.Offset, bytes: fetchFirst})
	}
	for idle := 0; len(l.left) > 0; idle++ {
		if idle == fetchRounds {
			l.giveUp("no record was found within a few fetches")
			break
		}
		before := len(l.found)
		ranges, err := c.probe(ctx, slices.Collect(maps.Keys(l.left)), l.requests, l.read)
		if err != nil {
			return nil, err
		}
		for k, r := range ranges {
			if !r.Known() {
				l.fail(k, why(r))
			}
		}
		maps.DeleteFunc(l.left, func(k offsets.Key, list []*lookup) bool {
			list = slices.DeleteFunc(list, func(u *lookup) bool { _, done := l.found[u.KeyOffset]; return done })
			l.left[k] = list
			return len(list) == 0
		})
		if len(l.found) > before {
			idle = 0
		}
	}
	return l.found, nil
}

// lookup is one record that is looked for.
type lookup struct {
	offsets.KeyOffset
	at    int64 // from where on it has not been looked for
	bytes int32 // how much to fetch
}

// looking is one run of NextRecords.
type looking struct {
	found map[offsets.KeyOffset]offsets.Next
	left  map[offsets.Key][]*lookup
}

func (l *looking) fail(k offsets.Key, reason string) {
	for _, u := range l.left[k] {
		if _, done := l.found[u.KeyOffset]; !done {
			l.found[u.KeyOffset] = offsets.Next{Offset: offsets.None, Reason: reason}
		}
	}
}

func (l *looking) giveUp(reason string) {
	for k := range l.left {
		l.fail(k, reason)
	}
}

// requests asks for the first offset of each partition, then for the second of those that have one, and so on: a partition stands
// once in a request.
func (l *looking) requests(v wire.Versions, keys []offsets.Key) ([]kmsg.Request, error) {
	var all []kmsg.Request
	for i, more := 0, true; more; i++ {
		more = false
		q := kmsg.NewPtrFetchRequest()
		q.ReplicaID, q.MaxWaitMillis, q.MinBytes, q.MaxBytes, q.SessionEpoch = -1, 0, 0, fetchAnswer, -1
		for _, k := range keys {
			list := l.left[k]
			if i >= len(list) {
				continue
			}
			more = more || i+1 < len(list)
			if n := len(q.Topics); n == 0 || q.Topics[n-1].Topic != k.Topic {
				t := kmsg.NewFetchRequestTopic()
				t.Topic = k.Topic
				q.Topics = append(q.Topics, t)
			}
			p := kmsg.NewFetchRequestTopicPartition()
			p.Partition, p.FetchOffset, p.PartitionMaxBytes = k.Partition, list[i].at, list[i].bytes
			p.CurrentLeaderEpoch, p.LastFetchedEpoch, p.LogStartOffset = -1, -1, -1
			t := &q.Topics[len(q.Topics)-1]
			t.Partitions = append(t.Partitions, p)
		}
		if err := v.Set(q, newestFormat); err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	return all, nil
}

// read takes what one request brought.
func (l *looking) read(i int, answer kmsg.Response, one func(offsets.Key, int16)) {
	var w records.Walker
	sum := 0
	named := map[offsets.Key]bool{}
	r := answer.(*kmsg.FetchResponse)
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			k := offsets.Key{Topic: t.Topic, Partition: p.Partition}
			one(k, p.ErrorCode)
			named[k] = true
			if list := l.left[k]; p.ErrorCode == 0 && i < len(list) {
				sum += len(p.RecordBatches)
				l.take(&w, list[i], &p, sum+int(list[i].bytes) > fetchAnswer)
			}
		}
	}
	for k, list := range l.left {
		if !named[k] && i < len(list) && sum > 0 {
			one(k, 0) // left out for lack of room, which Kafka itself does not do: its turn comes
		}
	}
}

// take looks for the record in what was fetched of its partition, and says how to go on if it is not there. full says that the answer
// had no room for more.
func (l *looking) take(w *records.Walker, u *lookup, p *kmsg.FetchResponseTopicPartition, full bool) {
	chunk := records.Chunk{Topic: u.Topic, Partition: u.Partition, From: u.at, Until: records.Forever, Batches: p.RecordBatches}
	w.Reset(&chunk)
	passed := u.at
	for w.NextBatch() {
		if w.NextRecord() {
			l.found[u.KeyOffset] = nextOf(w.Record(), w.Batch())
			return
		}
		passed = w.Batch().Last + 1 // nothing in it but a marker, or what compaction has left of it
	}
	switch {
	case w.Err() != nil:
		l.found[u.KeyOffset] = offsets.Next{Offset: offsets.None, Reason: w.Err().Error()}
	case passed >= p.HighWatermark:
		l.found[u.KeyOffset] = offsets.Next{Offset: offsets.None}
	case passed > u.at:
		u.at = passed
	case full:
	default: // the batch is larger than what was asked for
		u.bytes = min(u.bytes*8, fetchMost)
	}
}

func nextOf(r *records.Record, b *records.Batch) offsets.Next {
	n := offsets.Next{Offset: r.Offset, LogAppend: b.LogAppend}
	if r.Timestamp != records.None {
		n.Time = time.UnixMilli(r.Timestamp)
	}
	if b.MaxTimestamp != records.None {
		n.Newest = time.UnixMilli(b.MaxTimestamp)
	}
	return n
}
