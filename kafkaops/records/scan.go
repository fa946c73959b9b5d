package records

import (
	"errors"
	"sort"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// scanned is what the heads of batches say.
type scanned struct {
	whole  int   // batches
	base   int64 // first offset of the first batch, or of the damaged one
	next   int64 // behind the last whole one
	epoch  int32 // leader epoch of the last whole one, None if it has none
	cut    int32 // bytes of the first batch, if not even that is whole
	damage error
}

// scan reads the heads of the batches in b, which were fetched from an offset.
func scan(b []byte, from int64) scanned {
	s := scanned{next: from, epoch: None}
	for len(b) > 0 {
		n, why := batchLen(b)
		if why != "" {
			s.base, s.damage = int64(be.Uint64(b)), errors.New(why)
			return s
		}
		if n == 0 {
			if s.whole == 0 && len(b) >= atEpoch {
				s.base = int64(be.Uint64(b))
				s.cut = int32(min(int64(be.Uint32(b[atLength:]))+12, 1<<31-1))
			}
			return s
		}
		if s.whole == 0 {
			s.base = int64(be.Uint64(b))
			if b[atMagic] < 2 {
				s.base = min(s.base, from) // a wrapper has the offset of its last message
			}
		}
		s.whole++
		s.next = max(s.next, lastOffset(b)+1)
		if b[atMagic] == 2 {
			s.epoch = int32(be.Uint32(b[atEpoch:]))
		}
		b = b[n:]
	}
	return s
}

// aborted lists the aborted transactions of an answer by their first offset.
func aborted(all []kmsg.FetchResponseTopicPartitionAbortedTransaction) []Aborted {
	if len(all) == 0 {
		return nil
	}
	list := make([]Aborted, len(all))
	for i, a := range all {
		list[i] = Aborted{ProducerID: a.ProducerID, First: a.FirstOffset}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].First < list[j].First })
	return list
}
