package kafkaops

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// Commits reads what a group has committed for the given partitions: one OffsetFetch to its coordinator. A partition that is
// not in the map has no commit. With a Trouble the map is nil and nothing is known. With stable a commit that an open transaction is going to
// replace is Unreadable and Pending.
func (c *Cluster) Commits(ctx context.Context, group string, keys []offsets.Key, stable bool) (map[offsets.Key]offsets.Entry, *offsets.Trouble) {
	if err := c.Connect(ctx); err != nil {
		return nil, troubleOf(err)
	}
	if len(keys) == 0 { // an empty selection would ask for all
		return map[offsets.Key]offsets.Entry{}, nil
	}
	if known, err := c.mayHaveCommits(ctx, group); err != nil || !known {
		return map[offsets.Key]offsets.Entry{}, err
	}
	topics := map[string][]int32{}
	for _, k := range keys {
		topics[k.Topic] = append(topics[k.Topic], k.Partition)
	}
	fresh, settled := false, false
	var commits map[offsets.Key]offsets.Entry
	var last *offsets.Trouble
	for try := range readTries + 1 { // the last to settle what was read
		if try > 0 && !pause(ctx, try) {
			break
		}
		nodes, troubles := c.coordinatorsOf(ctx, []string{group}, fresh)
		if t := troubles[group]; t != nil {
			return nil, t
		}
		commits = map[offsets.Key]offsets.Entry{}
		again := false
		for part := range chunkTopics(topics) {
			answers, err := c.wire.Do(ctx, nodes[group], func(v wire.Versions) ([]kmsg.Request, error) {
				return fetchOffsets(v, []string{group}, part, stable)
			})
			if err != nil {
				last = troubleOf(err)
				again = last.Unreachable
				break
			}
			got := readOffsets([]string{group}, answers)[group]
			code := got.code
			if !got.told {
				return nil, &offsets.Trouble{Reason: unnamed}
			}
			if coordinatorMoved(code) {
				last, again = troubleCode(code, ""), true
				break
			}
			if code != 0 && code != wire.CodeGroupNotFound {
				return nil, troubleCode(code, "DESCRIBE on group "+group)
			}
			last = nil
			maps.Copy(commits, got.entries)
		}
		if last == nil && (settled || !fresh || !sleep(ctx, takeover)) {
			return commits, nil
		}
		settled = last == nil // what a coordinator says that has just taken over is read again
		if !settled && !again {
			break
		}
		fresh = true
	}
	if last != nil {
		return nil, last
	}
	return commits, nil
}

// mayHaveCommits keeps a read from creating the topic of the commits: where it does not exist, FindCoordinator would, so the
// groups are listed instead.
func (c *Cluster) mayHaveCommits(ctx context.Context, group string) (bool, *offsets.Trouble) {
	c.mu.Lock()
	_, found := c.coordinators[group]
	exists := c.cluster.OffsetsTopic
	c.mu.Unlock()
	if exists || found {
		return true, nil
	}
	l, err := c.list(ctx)
	if err != nil {
		return false, troubleOf(err)
	}
	_, found = l.groups[group]
	if !found && len(l.troubles) > 0 {
		return false, &l.troubles[0]
	}
	return found, nil
}

// unnamed is why nothing is known of a group that a broker passes over. It is not "no commits".
const unnamed = "the coordinator's answer does not name the group"

// fetched is what OffsetFetch says of one group.
type fetched struct {
	told    bool // the answer names the group
	entries map[offsets.Key]offsets.Entry
	code    int16
}

// fetchOffsets asks for the commits of groups: in one request from v8 on, else in one request each. topics nil means all. With stable
// (v7) a commit that an open transaction is going to replace is answered with UNSTABLE_OFFSET_COMMIT.
func fetchOffsets(v wire.Versions, groups []string, topics map[string][]int32, stable bool) ([]kmsg.Request, error) {
	names := slices.Sorted(maps.Keys(topics))
	if v.Max(wire.OffsetFetch) >= 8 {
		q := kmsg.NewPtrOffsetFetchRequest()
		q.RequireStable = stable
		for _, g := range groups {
			r := kmsg.NewOffsetFetchRequestGroup()
			r.Group = g
			for _, name := range names {
				t := kmsg.NewOffsetFetchRequestGroupTopic()
				t.Topic, t.Partitions = name, topics[name]
				r.Topics = append(r.Topics, t)
			}
			q.Groups = append(q.Groups, r)
		}
		return []kmsg.Request{q}, v.Set(q, -1)
	}
	var all []kmsg.Request
	for _, g := range groups {
		q := kmsg.NewPtrOffsetFetchRequest()
		q.Group, q.RequireStable = g, stable
		for _, name := range names {
			t := kmsg.NewOffsetFetchRequestTopic()
			t.Topic, t.Partitions = name, topics[name]
			q.Topics = append(q.Topics, t)
		}
		if err := v.Set(q, -1); err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	return all, nil
}

// readOffsets sorts answers to OffsetFetch by group. Versions below 8 do not repeat the group: theirs are in the order of asking.
func readOffsets(groups []string, answers []kmsg.Response) map[string]fetched {
	all := make(map[string]fetched, len(groups))
	for i, a := range answers {
		r := a.(*kmsg.OffsetFetchResponse)
		if r.Version < 8 {
			f := fetched{told: true, code: r.ErrorCode, entries: map[offsets.Key]offsets.Entry{}}
			for _, t := range r.Topics {
				for _, p := range t.Partitions {
					epoch := int32(offsets.None)
					if r.Version >= 5 {
						epoch = p.LeaderEpoch
					}
					f.add(offsets.Key{Topic: t.Topic, Partition: p.Partition}, p.Offset, epoch, p.Metadata, p.ErrorCode)
				}
			}
			all[groups[i]] = f
		}
		for _, g := range r.Groups {
			n := 0
			for _, t := range g.Topics {
				n += len(t.Partitions)
			}
			f := fetched{told: true, code: g.ErrorCode, entries: make(map[offsets.Key]offsets.Entry, n)}
			for _, t := range g.Topics {
				for _, p := range t.Partitions {
					f.add(offsets.Key{Topic: t.Topic, Partition: p.Partition}, p.Offset, p.LeaderEpoch, p.Metadata, p.ErrorCode)
				}
			}
			all[g.Group] = f
		}
	}
	return all
}

// add keeps one partition's commit. Offset -1 without an error is no commit. Kafka stores what it is given, also -2.
func (f *fetched) add(k offsets.Key, offset int64, epoch int32, metadata *string, code int16) {
	e := offsets.Entry{Epoch: offsets.None}
	switch {
	case coordinatorMoved(code):
		f.code = code
		return
	case code == wire.CodeTopicAuthorization || code == wire.CodeGroupAuthorization:
		e.Presence, e.Reason = offsets.Denied, troubleCode(code, "DESCRIBE on topic "+k.Topic).Reason
	case code == wire.CodeUnknownTopic:
		return // a topic that does not exist has no commits
	case code == wire.CodeUnstableOffsetCommit:
		e.Presence, e.Reason, e.Pending = offsets.Unreadable, wire.CodeText(code), true
	case code != 0:
		e.Presence, e.Reason = offsets.Unreadable, wire.CodeText(code)
	case offset == offsets.None:
		return
	case offset < 0:
		e.Presence, e.Offset, e.Reason = offsets.Damaged, offset, fmt.Sprintf("the commit is the negative number %d", offset)
	default:
		e = offsets.Entry{Presence: offsets.Present, Offset: offset, Epoch: max(epoch, offsets.None), Metadata: deref(metadata)}
	}
	f.entries[k] = e
}

// chunkTopics cuts a selection so that a request for a part of it stays within maxRequest. Without a selection there is one
// part, nil.
func chunkTopics(topics map[string][]int32) func(func(map[string][]int32) bool) {
	return func(yield func(map[string][]int32) bool) {
		if len(topics) == 0 {
			yield(nil)
			return
		}
		part, size := map[string][]int32{}, 0
		for _, name := range slices.Sorted(maps.Keys(topics)) {
			for ps := range slices.Chunk(topics[name], maxRequest/8) {
				n := len(name) + 16 + 4*len(ps)
				if size > 0 && (size+n > maxRequest || part[name] != nil) {
					if !yield(part) {
						return
					}
					part, size = map[string][]int32{}, 0
				}
				part[name] = ps
				size += n
			}
		}
		yield(part)
	}
}
