package wire

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Range is a span of versions of one request.
type Range struct{ Min, Max int16 }

// Versions is what a broker offers, by request key.
type Versions map[int16]Range

// Keys of the requests that gtoffset sends.
const (
	Produce               int16 = 0
	Fetch                 int16 = 1
	ListOffsets           int16 = 2
	Metadata              int16 = 3
	OffsetCommit          int16 = 8
	OffsetFetch           int16 = 9
	FindCoordinator       int16 = 10
	DescribeGroups        int16 = 15
	ListGroups            int16 = 16
	SaslHandshake         int16 = 17
	ApiVersions           int16 = 18
	InitProducerID        int16 = 22
	OffsetForLeaderEpoch  int16 = 23
	DescribeConfigs       int16 = 32
	SaslAuthenticate      int16 = 36
	DeleteGroups          int16 = 42
	OffsetDelete          int16 = 47
	ListTransactions      int16 = 66
	ConsumerGroupDescribe int16 = 69
	ShareGroupDescribe    int16 = 77
	StreamsGroupDescribe  int16 = 89
	ShareGroupOffsets     int16 = 90
)

// ours is every request that we send with the versions that we understand: the oldest that says enough, and the newest that
// says something we use. Since says which Kafka brought the oldest, for an error that an operator can act on.
func ours(key int16) (r Range, since string, ok bool) {
	switch key {
	case Produce: // 3: batches v2, 7: zstd, 8: which record, 13: topic ids
		return Range{3, 13}, "0.11", true
	case Fetch: // 4: transactions, 5: log start, 9: leader epoch, 10: zstd, 12: last epoch, 13: topic ids
		return Range{4, 13}, "0.11", true
	case InitProducerID:
		return Range{0, 4}, "0.11", true
	case ListOffsets: // 4: leader epoch; 1 is the first that gives one offset
		return Range{1, 7}, "0.10.1", true
	case Metadata: // 7: leader epochs, 10: topic ids; 4 is the first that does not create topics
		return Range{4, 12}, "0.11", true
	case OffsetCommit: // 6: leader epoch, 10: topic ids
		return Range{2, 10}, "0.9", true
	case OffsetFetch: // 5: leader epoch, 8: many groups; 2 is the first with "all topics" and a group error
		return Range{2, 8}, "0.10.2", true
	case FindCoordinator: // 4: many groups
		return Range{1, 4}, "0.11", true
	case DescribeGroups: // 6: says when a group is not a classic one
		return Range{0, 6}, "0.9", true
	case ListGroups: // 4: state, 5: type
		return Range{0, 5}, "0.9", true
	case ApiVersions: // 0: the spans are all we want, and every broker answers it
		return Range{0, 0}, "0.10", true
	case SaslHandshake:
		return Range{1, 1}, "1.0", true
	case SaslAuthenticate:
		return Range{0, 2}, "1.0", true
	case OffsetForLeaderEpoch:
		return Range{2, 4}, "2.1", true
	case DescribeConfigs: // 1: sources of values, 4: flexible
		return Range{0, 4}, "0.11", true
	case DeleteGroups:
		return Range{0, 2}, "1.1", true
	case OffsetDelete:
		return Range{0, 0}, "2.4", true
	case ListTransactions: // 0: filter by producer ids
		return Range{0, 1}, "3.0", true
	case ConsumerGroupDescribe:
		return Range{0, 1}, "3.7", true
	case ShareGroupDescribe:
		return Range{0, 1}, "4.0", true
	case ShareGroupOffsets: // 1: lag
		return Range{0, 1}, "4.1", true
	case StreamsGroupDescribe:
		return Range{0, 0}, "4.1", true
	}
	return Range{}, "", false
}

// isWrite says that a request changes the cluster, so that it must not be sent again on a guess.
func isWrite(key int16) bool {
	return key == Produce || key == OffsetCommit || key == OffsetDelete || key == DeleteGroups
}

// Max is the newest version of a request that both sides know, or -1.
func (v Versions) Max(key int16) int16 {
	we, _, known := ours(key)
	they, offered := v[key]
	if n := min(we.Max, they.Max); known && offered && n >= we.Min && n >= they.Min {
		return n
	}
	return -1
}

// Has reports whether both sides know the request.
func (v Versions) Has(key int16) bool { return v.Max(key) >= 0 }

// Set gives each request the newest version that both sides know, and at most limit where limit is not negative. Where there is
// none, the error is a *TooOldError.
func (v Versions) Set(q kmsg.Request, limit int16) error {
	n := v.Max(q.Key())
	if n >= 0 && limit >= 0 && n > limit {
		n = max(limit, v[q.Key()].Min)
		if n > limit {
			n = -1
		}
	}
	if n < 0 {
		we, since, _ := ours(q.Key())
		they, offered := v[q.Key()]
		if limit >= 0 {
			we.Max = min(we.Max, limit)
		}
		return &TooOldError{API: kmsg.NameForKey(q.Key()), Needed: we, Offered: they, Known: offered, Since: since}
	}
	q.SetVersion(n)
	return nil
}

// TooOldError says that a broker and gtoffset have no version of a request in common.
type TooOldError struct {
	Broker  int32
	Addr    string
	API     string
	Needed  Range
	Offered Range
	Known   bool   // the broker knows the request at all
	Since   string // the first Kafka that has the version needed
}

func (e *TooOldError) Error() string {
	who := broker(e.Broker, e.Addr)
	switch {
	case !e.Known:
		return fmt.Sprintf("%s does not know %s; it needs Kafka %s or newer", who, e.API, e.Since)
	case e.Offered.Min > e.Needed.Max:
		return fmt.Sprintf("%s offers %s only in versions %d to %d; gtoffset knows %d to %d and is too old for it", who, e.API, e.Offered.Min, e.Offered.Max,
			e.Needed.Min, e.Needed.Max)
	default:
		return fmt.Sprintf("%s offers %s in versions %d to %d; version %d is needed, which came with Kafka %s", who, e.API, e.Offered.Min, e.Offered.Max,
			e.Needed.Min, e.Since)
	}
}
