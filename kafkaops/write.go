package kafkaops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// maxCommit is how much the broker may have to write for one OffsetCommit: it stores a request as one batch, and refuses a
// batch above its max.message.bytes (1 MB by default) with UNKNOWN_SERVER_ERROR.
const maxCommit = 500_000

// WriteCommits commits the changes of the committed side whose verdict is Write and that have no result yet, and removes the commit where the new
// offset is None. It returns all changes in the order given, each of these with a Result: Written, Failed with Error, Unverified
// where no answer came (it may or may not have been written), or NotTried. Failed is in Doubt where an answer does not rule out that it
// was written. A coordinator on the move, or one that cannot be reached, is tried again until ctx ends; what was sent and not answered is
// never sent again. Directly before each try it is read what stands: what is not Old any more is Refused, unless an earlier try may have
// made it New. Its request is then not sent, or with partial without it.
//
// Commits carry generation -1, so that a broker refuses them while the group has members, and the topic id where both the
// change and the broker (Kafka 4.1) have one, so that it refuses them for a topic that was recreated.
func (c *Cluster) WriteCommits(ctx context.Context, group string, changes []offsets.Change, partial bool) []offsets.Change {
	all := slices.Clone(changes)
	w := writing{c: c, group: group, changes: all, partial: partial}
	var withID, byName, remove []int
	for i := range all {
		ch := &all[i]
		if ch.Side != offsets.Committed || ch.Verdict != offsets.Write || ch.Result != "" {
			continue
		}
		ch.Result, ch.Error = offsets.NotTried, ""
		_, ok := offsets.ParseTopicID(ch.TopicID)
		switch {
		case ch.New.Offset == offsets.None:
			remove = append(remove, i)
		case ch.New.Offset < 0:
			ch.Result, ch.Error = offsets.Failed, fmt.Sprintf("the offset %d is negative", ch.New.Offset) // Kafka would store it
		case ok:
			withID = append(withID, i)
		default:
			byName = append(byName, i)
		}
	}
	size := func(i int) int { return 70 + len(group) + len(all[i].Topic) + len(all[i].New.Metadata) }
	for _, kind := range []struct {
		indexes []int
		limit   int16
		remove  bool
	}{{withID, -1, false}, {byName, 9, false}, {remove, -1, true}} {
		for part := range chunks(kind.indexes, maxCommit, size) {
			if !w.write(ctx, part, kind.limit, kind.remove) {
				w.rest(part)
				return all
			}
		}
	}
	return all
}

// writing is one run of WriteCommits.
type writing struct {
	c       *Cluster
	group   string
	changes []offsets.Change
	partial bool
}

// rest says of everything that was not tried which partition is to blame: one of its own request, the last, or of the one before.
func (w *writing) rest(last []int) {
	var first *offsets.Change
	for _, i := range last {
		ch := &w.changes[i]
		if first == nil && (ch.Result == offsets.Failed || ch.Result == offsets.Unverified) && !(ch.Moved && w.partial) {
			first = ch
		}
	}
	for i := range w.changes {
		ch := &w.changes[i]
		if ch.Side != offsets.Committed || ch.Result != offsets.NotTried || ch.Error != "" || first == nil {
			continue
		}
		of := "an earlier"
		if _, same := slices.BinarySearch(last, i); same {
			of = "the same"
		}
		ch.Error = fmt.Sprintf("%s, of %s request: %s", first.Key, of, first.Error)
	}
}

// write sends one request until it is answered, refused, or the time is up. It reports whether the next one may be sent.
func (w *writing) write(ctx context.Context, indexes []int, limit int16, remove bool) bool {
	end := func(indexes []int, reason string, unanswered bool) {
		for _, i := range indexes {
			ch := &w.changes[i]
			ch.Result, ch.Error, ch.Pending = offsets.Failed, reason, unanswered || ch.Doubt
			if ch.Pending { // a broker may go through with what it has, though nobody waits any more
				ch.Result = offsets.Unverified
			}
		}
	}
	partitions := map[string][]int32{}
	for _, i := range indexes {
		partitions[w.changes[i].Topic] = append(partitions[w.changes[i].Topic], w.changes[i].Partition)
	}
	last := ""
	for try := 0; ; try++ {
		if try > 0 && !pause(ctx, try) || ctx.Err() != nil {
			if last == "" {
				last = "the time was up"
			}
			end(indexes, last, false)
			return false
		}
		if try > 0 {
			w.c.wire.NewLook() // a broker that was away may be back
		}
		node, trouble := w.coordinator(ctx, try)
		var now map[offsets.Key]offsets.Entry
		if trouble == nil {
			now, trouble = w.standing(ctx, node, partitions)
		}
		if trouble != nil {
			last = trouble.Reason
			if trouble.Denied {
				end(indexes, last, false)
				for _, i := range indexes {
					w.changes[i].Lacks = trouble.Lacks("group", w.group)
				}
				return false
			}
			continue
		}
		left := w.overtaken(indexes, now)
		if len(left) < len(indexes) && !w.partial || len(left) == 0 {
			for _, i := range left {
				if w.changes[i].Doubt {
					end([]int{i}, last, false)
				}
			}
			return w.partial
		}
		indexes = left
		answers, err := w.c.wire.Do(ctx, node, func(v wire.Versions) ([]kmsg.Request, error) {
			if remove {
				return w.deletes(v, indexes)
			}
			return w.commits(v, indexes, limit)
		})
		if err != nil {
			var e *wire.Error
			switch {
			case errors.As(err, &e) && e.Sent:
				end(indexes, err.Error(), true)
				return false
			case errors.As(err, &e) && ctx.Err() == nil && !refusedForGood(err):
				last = err.Error()
				continue
			}
			end(indexes, err.Error(), false)
			return false
		}
		again, ok := w.read(answers[0], indexes, &last)
		if len(again) == 0 {
			return ok
		}
		if !ok {
			end(again, last, false)
			return false
		}
		indexes = again
	}
}

func refusedForGood(err error) bool {
	var auth *wire.AuthError
	return errors.As(err, &auth)
}

// coordinator finds the group's coordinator, anew unless it is the first try.
func (w *writing) coordinator(ctx context.Context, try int) (int32, *offsets.Trouble) {
	nodes, troubles := w.c.coordinatorsOf(ctx, []string{w.group}, try > 0)
	if t := troubles[w.group]; t != nil {
		return 0, t
	}
	w.c.mu.Lock()
	w.c.cluster.OffsetsTopic = true // who coordinates was asked for: where there was no such topic, that has made it
	w.c.mu.Unlock()
	return nodes[w.group], nil
}

// standing reads what is about to be written over, from the very coordinator and as late as can be: a write that had to wait for its
// turn, or for a coordinator, is not to hit what was committed meanwhile. topics nil means all, but for what is only pending.
func (w *writing) standing(ctx context.Context, node int32, topics map[string][]int32) (map[offsets.Key]offsets.Entry, *offsets.Trouble) {
	all := map[offsets.Key]offsets.Entry{}
	for part := range chunkTopics(topics) {
		answers, err := w.c.wire.Do(ctx, node, func(v wire.Versions) ([]kmsg.Request, error) {
			return fetchOffsets(v, []string{w.group}, part, true)
		})
		if err != nil {
			return nil, troubleOf(err)
		}
		got := readOffsets([]string{w.group}, answers)[w.group]
		switch {
		case !got.told:
			return nil, &offsets.Trouble{Reason: unnamed}
		case got.code != 0 && got.code != wire.CodeGroupNotFound:
			return nil, troubleCode(got.code, "DESCRIBE on group "+w.group)
		}
		maps.Copy(all, got.entries)
	}
	return all, nil
}

// overtaken refuses what has moved, and returns what has not.
func (w *writing) overtaken(indexes []int, now map[offsets.Key]offsets.Entry) (left []int) {
	for _, i := range indexes {
		ch := &w.changes[i]
		if why := ch.Overtaken(now[ch.Key]); why != "" {
			ch.Result, ch.Error, ch.Refused, ch.Moved = offsets.Failed, why, true, true
		} else {
			left = append(left, i)
		}
	}
	return left
}

// commits builds OffsetCommit. limit is the newest version that may be used, -1 without one.
func (w *writing) commits(v wire.Versions, indexes []int, limit int16) ([]kmsg.Request, error) {
	q := kmsg.NewPtrOffsetCommitRequest()
	q.Group, q.Generation, q.RetentionTimeMillis = w.group, -1, -1
	at := map[string]int{}
	for _, i := range indexes {
		ch := &w.changes[i]
		id, _ := offsets.ParseTopicID(ch.TopicID)
		key := ch.Topic + "\x00" + ch.TopicID
		n, ok := at[key]
		if !ok {
			n = len(q.Topics)
			at[key] = n
			t := kmsg.NewOffsetCommitRequestTopic()
			t.Topic, t.TopicID = ch.Topic, id
			q.Topics = append(q.Topics, t)
		}
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch = ch.Partition, ch.New.Offset, max(ch.New.Epoch, offsets.None)
		p.Metadata = &ch.New.Metadata
		q.Topics[n].Partitions = append(q.Topics[n].Partitions, p)
	}
	return []kmsg.Request{q}, v.Set(q, limit)
}

// deletes builds OffsetDelete.
func (w *writing) deletes(v wire.Versions, indexes []int) ([]kmsg.Request, error) {
	q := kmsg.NewPtrOffsetDeleteRequest()
	q.Group = w.group
	at := map[string]int{}
	for _, i := range indexes {
		ch := &w.changes[i]
		n, ok := at[ch.Topic]
		if !ok {
			n = len(q.Topics)
			at[ch.Topic] = n
			t := kmsg.NewOffsetDeleteRequestTopic()
			t.Topic = ch.Topic
			q.Topics = append(q.Topics, t)
		}
		p := kmsg.NewOffsetDeleteRequestTopicPartition()
		p.Partition = ch.Partition
		q.Topics[n].Partitions = append(q.Topics[n].Partitions, p)
	}
	return []kmsg.Request{q}, v.Set(q, -1)
}

// read takes over the answer to one request. It returns the changes that should be sent again, and whether more may be sent.
func (w *writing) read(answer kmsg.Response, indexes []int, last *string) (again []int, ok bool) {
	type partition struct {
		topic string // name or printed id
		n     int32
	}
	codes := map[partition]int16{}
	var all *int16
	switch r := answer.(type) {
	case *kmsg.OffsetCommitResponse:
		for _, t := range r.Topics {
			name := t.Topic
			if r.Version >= 10 {
				name = offsets.TopicID(t.TopicID)
			}
			for _, p := range t.Partitions {
				codes[partition{name, p.Partition}] = p.ErrorCode
			}
		}
	case *kmsg.OffsetDeleteResponse:
		if r.ErrorCode != 0 {
			all = &r.ErrorCode
		}
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				codes[partition{t.Topic, p.Partition}] = p.ErrorCode
			}
		}
	}
	byID := answer.Key() == wire.OffsetCommit && answer.GetVersion() >= 10
	ok = true
	for _, i := range indexes {
		ch := &w.changes[i]
		name := ch.Topic
		if byID {
			name = ch.TopicID
		}
		code, told := codes[partition{name, ch.Partition}]
		if all != nil {
			code, told = *all, true
		}
		lacks := func(operation, on, name string) {
			ch.Lacks = &offsets.Right{Operation: operation, On: on, Name: name}
			ch.Result, ch.Error = offsets.Failed, troubleCode(code, ch.Lacks.String()).Reason
		}
		switch {
		case !told:
			ch.Result, ch.Error, ch.Pending = offsets.Unverified, "the coordinator's answer does not name the partition", true
		case code == 0:
			ch.Result, ch.Error = offsets.Written, ""
		case coordinatorMoved(code):
			again = append(again, i)
			ch.Doubt = ch.Doubt || code != wire.CodeCoordinatorLoading
			*last = wire.CodeText(code)
		case code == wire.CodeRequestTimedOut: // it may have been stored by too few brokers
			ch.Result, ch.Error, ch.Pending, ok = offsets.Unverified, wire.CodeText(code), true, false
		case active(code):
			ch.Result, ch.Error, ch.Refused, ok = offsets.Failed, "the group is active ("+wire.CodeName(code)+")", true, false
		case code == wire.CodeSubscribedToTopic:
			ch.Result, ch.Error, ch.Refused = offsets.Failed, "the group is active and reads this topic ("+wire.CodeName(code)+")", true
		case code == wire.CodeTopicAuthorization:
			lacks("READ", "topic", ch.Topic)
		case code == wire.CodeGroupAuthorization:
			operation := "READ"
			if answer.Key() == wire.OffsetDelete {
				operation = "DELETE"
			}
			lacks(operation, "group", w.group)
			ok = false
		case code == wire.CodeGroupNotFound && answer.Key() == wire.OffsetCommit:
			ch.Result, ch.Error, ok = offsets.Failed, "a share group takes no commits", false
		case code == wire.CodeUnknownTopic && answer.Key() == wire.OffsetDelete:
			ch.Result, ch.Error = offsets.Failed, "the topic or partition does not exist, so Kafka cannot remove its commit"
		default: // of this partition only, unless the broker failed as a whole
			ch.Result, ch.Error = offsets.Failed, wire.CodeText(code)
			ch.Doubt = ch.Doubt || !refusal(code)
			ok = ok && partitionOnly(code)
		}
	}
	return again, ok
}

// refusal reports the codes with which a broker says, of what is sent to it, that it did none of it.
func refusal(code int16) bool {
	switch code {
	case wire.CodeInvalidGroupID, wire.CodeInvalidCommitSize, wire.CodeUnsupportedVersion, wire.CodeInvalidRequest:
		return true
	}
	return partitionOnly(code)
}

// partitionOnly reports the codes that say nothing about the other partitions.
func partitionOnly(code int16) bool {
	switch code {
	case wire.CodeUnknownTopic, wire.CodeMetadataTooLarge, wire.CodeInvalidTopic, wire.CodeUnknownTopicID,
		wire.CodeUnstableOffsetCommit:
		return true
	}
	return false
}
