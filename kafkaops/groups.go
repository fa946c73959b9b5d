package kafkaops

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// unknownState is Kafka's own word for a state that could not be found out. It is not "": that would pass for idle.
const unknownState = "Unknown"

// GroupCommits is a group with what it has committed.
type GroupCommits struct {
	offsets.Group                               // without Rows and Store
	Commits       map[offsets.Key]offsets.Entry // a partition that is not in it has no commit, unless Trouble is set
}

// Entry is what the group has committed for a partition: Absent only where the cluster said so.
func (g GroupCommits) Entry(k offsets.Key) offsets.Entry {
	if e, ok := g.Commits[k]; ok || g.Trouble == nil {
		return e
	}
	e := offsets.Entry{Presence: offsets.Unreadable, Reason: g.Trouble.Reason, Epoch: offsets.None}
	if g.Trouble.Denied {
		e.Presence = offsets.Denied
	}
	return e
}

// ListGroups lists the groups that the brokers coordinate, sorted by id, without members and rows. A broker that could not be
// asked is a Trouble: its groups are missing from the list. The error means that no broker answered. State comes from Kafka 2.6
// on, Type from 3.8 on.
func (c *Cluster) ListGroups(ctx context.Context) ([]offsets.Group, []offsets.Trouble, error) {
	if err := c.Connect(ctx); err != nil {
		return nil, nil, err
	}
	l, err := c.list(ctx)
	if err != nil {
		return nil, nil, err
	}
	return l.sorted(), l.troubles, nil
}

// listing is ListGroups of all brokers.
type listing struct {
	groups   map[string]offsets.Group
	troubles []offsets.Trouble
}

func (l listing) sorted() []offsets.Group {
	all := slices.Collect(maps.Values(l.groups))
	sort.Slice(all, func(i, j int) bool { return all[i].ID < all[j].ID })
	return all
}

func (c *Cluster) list(ctx context.Context) (listing, error) {
	l := listing{groups: map[string]offsets.Group{}}
	var mu sync.Mutex
	var failed error
	brokers := c.wire.Brokers()
	work := map[int32]struct{}{}
	for _, id := range brokers {
		work[id] = struct{}{}
	}
	troubles := map[int32]*offsets.Trouble{}
	byNode(work, func(node int32, _ struct{}) {
		groups, trouble, err := c.listAt(ctx, node)
		mu.Lock()
		defer mu.Unlock()
		for _, g := range groups {
			if was, twice := l.groups[g.ID]; !twice || was.State == "Dead" {
				l.groups[g.ID] = g
				c.mu.Lock()
				c.coordinators[g.ID] = node
				c.mu.Unlock()
			}
		}
		if err != nil && failed == nil {
			failed = err
		}
		if trouble != nil {
			troubles[node] = trouble
		}
	})
	for _, id := range brokers {
		if t := troubles[id]; t != nil {
			t.Reason = "list groups: " + t.Reason
			l.troubles = append(l.troubles, *t)
		}
	}
	if failed != nil && len(l.troubles) == len(brokers) {
		return l, failed
	}
	return l, nil
}

// listAt lists the groups that one broker coordinates. The error is the one behind the trouble, if it came from the wire.
func (c *Cluster) listAt(ctx context.Context, node int32) ([]offsets.Group, *offsets.Trouble, error) {
	onlyClassic := false
	for try := 0; ; try++ {
		answers, err := c.wire.Do(ctx, node, func(v wire.Versions) ([]kmsg.Request, error) {
			q := kmsg.NewPtrListGroupsRequest()
			onlyClassic = !v.Has(wire.ConsumerGroupDescribe) && !v.Has(wire.ShareGroupDescribe)
			return []kmsg.Request{q}, v.Set(q, -1)
		})
		if err != nil {
			return nil, troubleOf(err), err
		}
		r := answers[0].(*kmsg.ListGroupsResponse)
		switch {
		case coordinatorMoved(r.ErrorCode) && try+1 < readTries && pause(ctx, try+1):
			continue
		case r.ErrorCode != 0:
			return nil, troubleCode(r.ErrorCode, "DESCRIBE on the cluster"), nil
		}
		groups := make([]offsets.Group, 0, len(r.Groups))
		for _, k := range r.Groups {
			g := offsets.Group{
				ID: k.Group, Existence: offsets.Exists, State: k.GroupState, Protocol: k.ProtocolType, Epoch: offsets.None,
				Coordinator: node, Type: groupType(k.GroupType),
			}
			if r.Version < 4 {
				g.State = unknownState
			}
			if r.Version < 5 && onlyClassic {
				g.Type = offsets.Classic
			}
			if g.Type == offsets.TypeUnknown {
				g.Notes = append(g.Notes, noTypes)
			}
			if g.Type == offsets.Classic && g.Protocol == "" && (g.State == "Empty" || g.State == unknownState) {
				g.Type = offsets.Simple
			}
			groups = append(groups, g)
		}
		return groups, nil, nil
	}
}

const noTypes = "the broker is too old to tell this group's type (ListGroups v5, Kafka 3.8)"

func groupType(s string) offsets.GroupType {
	switch t := offsets.GroupType(strings.ToLower(s)); t {
	case offsets.Classic, offsets.Consumer, offsets.Share, offsets.Streams:
		return t
	}
	return offsets.TypeUnknown
}

// Groups reads facts, members and commits of the named groups, or of all groups when names is nil, sorted by id. topics limits
// the commits: nil means all topics of each group, a topic with nil all its partitions. A group that could not be read carries a
// Trouble; one that does not exist is Missing. The troubles are brokers whose groups could not be listed. The error means that
// the cluster was not reached.
func (c *Cluster) Groups(ctx context.Context, names []string, topics map[string][]int32) ([]GroupCommits, []offsets.Trouble, error) {
	if err := c.Connect(ctx); err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	exists := c.cluster.OffsetsTopic
	c.mu.Unlock()
	r := reading{c: c, topics: topics, wanted: topics, hints: map[string]offsets.Group{}, groups: map[string]*GroupCommits{}, moved: map[string]int32{}}
	size, whole := 0, false
	for name, ps := range topics {
		size += len(name) + 16 + 4*len(ps)
		whole = whole || ps == nil
	}
	if whole || size > maxRequest {
		r.topics = nil // all partitions of a topic cannot be asked for by name: ask for all and sift
	}
	var troubles []offsets.Trouble
	var ask []string
	if names == nil || !exists {
		l, err := c.list(ctx)
		if err != nil {
			return nil, nil, err
		}
		troubles = l.troubles
		r.hints = l.groups
		if names == nil {
			names = slices.Sorted(maps.Keys(l.groups))
		}
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	for _, id := range names {
		g := &GroupCommits{Group: offsets.Group{ID: id, Type: offsets.TypeUnknown, State: unknownState, Epoch: offsets.None, Coordinator: wire.None}}
		r.groups[id] = g
		_, listed := r.hints[id]
		switch {
		case exists || listed:
			ask = append(ask, id)
		case len(troubles) == 0: // FindCoordinator would create the topic of the commits; without it there are none
			g.Existence, g.State = offsets.Missing, "Dead"
		default:
			t := troubles[0]
			g.Trouble = &t
		}
	}
	r.read(ctx, ask)
	r.settleMoved(ctx)
	r.settleDead(ctx)
	r.readPending(ctx)
	r.readShared(ctx)
	all := make([]GroupCommits, 0, len(names))
	for _, id := range names {
		g := r.groups[id]
		if topics != nil && r.topics == nil {
			maps.DeleteFunc(g.Commits, func(k offsets.Key, _ offsets.Entry) bool {
				ps, named := topics[k.Topic]
				return !named || ps != nil && !slices.Contains(ps, k.Partition)
			})
		}
		sort.Slice(g.Members, func(i, j int) bool { return g.Members[i].ID < g.Members[j].ID })
		g.CoordinatorAddr = c.wire.Addr(g.Coordinator)
		all = append(all, *g)
	}
	return all, troubles, nil
}

// reading is one run of Groups.
type reading struct {
	c      *Cluster
	topics map[string][]int32       // to ask for by name; nil: all
	wanted map[string][]int32       // nil: all
	hints  map[string]offsets.Group // from ListGroups: type and coordinator

	mu     sync.Mutex
	groups map[string]*GroupCommits
	dead   []string         // the broker says Dead, which proves nothing below DescribeGroups v6
	moved  map[string]int32 // groups whose coordinator was on the move, or did not answer: which that was, in the latter case
}

// read asks the coordinators until each group is answered or given up.
func (r *reading) read(ctx context.Context, ask []string) {
	fresh := false
	for try := 0; len(ask) > 0; try++ {
		nodes, troubles := r.c.coordinatorsOf(ctx, ask, fresh)
		work := map[int32][]string{}
		for _, id := range ask {
			if t := troubles[id]; t != nil {
				r.groups[id].Trouble = t
				continue
			}
			if was := r.groups[id]; was.Trouble != nil && was.Trouble.Unreachable && was.Coordinator == nodes[id] && r.c.wire.Down(nodes[id]) {
				continue // still the broker that does not answer
			}
			r.groups[id].Coordinator = nodes[id]
			work[nodes[id]] = append(work[nodes[id]], id)
		}
		var mu sync.Mutex
		var again []string
		byNode(work, func(node int32, ids []string) {
			moved := r.at(ctx, node, ids)
			mu.Lock()
			again = append(again, moved...)
			mu.Unlock()
		})
		slices.Sort(again)
		ask, fresh = again, true
		if try+1 >= readTries || len(ask) > 0 && !pause(ctx, try+1) {
			break
		}
	}
}

// settleMoved reads again what a coordinator has told that has just taken over.
func (r *reading) settleMoved(ctx context.Context) {
	work := map[int32][]string{}
	for id, lost := range r.moved {
		if g := r.groups[id]; g.Trouble == nil && g.Coordinator != lost {
			work[g.Coordinator] = append(work[g.Coordinator], id)
		}
	}
	if len(work) == 0 || !sleep(ctx, takeover) {
		return
	}
	r.dead = slices.DeleteFunc(r.dead, func(id string) bool { _, again := r.moved[id]; return again })
	byNode(work, func(node int32, ids []string) {
		slices.Sort(ids)
		r.at(ctx, node, ids)
	})
}

// answers is what one coordinator says of one group.
type answers struct {
	fetched  fetched
	classic  *kmsg.DescribeGroupsResponseGroup
	version  int16 // of classic
	consumer *kmsg.ConsumerGroupDescribeResponseGroup
	share    *kmsg.ShareGroupDescribeResponseGroup
	streams  *kmsg.StreamsGroupDescribeResponseGroup
	others   []offsets.GroupType // the newer kinds that the broker knows, of which it has not been asked yet
}

// named says that a description fits the group.
func (a *answers) named() bool {
	return a.consumer != nil && a.consumer.ErrorCode == 0 || a.share != nil && a.share.ErrorCode == 0 || a.streams != nil && a.streams.ErrorCode == 0 ||
		a.classic != nil && a.classic.ErrorCode != wire.CodeGroupNotFound && a.classic.State != "Dead"
}

// at reads groups at their coordinator: commits and descriptions in one exchange, and one more for each newer kind while none
// fits. It returns those that should be asked again after a fresh look for their coordinator.
func (r *reading) at(ctx context.Context, node int32, ids []string) (again []string) {
	perGroup := 64
	for name, ps := range r.topics {
		perGroup += len(name) + 16 + 4*len(ps)
	}
	for part := range chunks(ids, maxRequest, func(id string) int { return len(id) + perGroup }) {
		got := map[string]*answers{}
		for _, id := range part {
			got[id] = new(answers)
		}
		err := r.ask(ctx, node, part, got, "")
		for _, kind := range []offsets.GroupType{offsets.Consumer, offsets.Share, offsets.Streams} {
			left := slices.DeleteFunc(slices.Clone(part), func(id string) bool {
				a := got[id]
				return a.classic == nil || a.named() || !slices.Contains(a.others, kind)
			})
			if err == nil && len(left) > 0 {
				err = r.ask(ctx, node, left, got, kind)
			}
		}
		r.mu.Lock()
		for _, id := range part {
			g := r.groups[id]
			if err != nil {
				g.Trouble = troubleOf(err)
				if g.Trouble.Unreachable {
					again = append(again, id)
					r.moved[id] = node
				}
				continue
			}
			g.Trouble = nil
			switch interpret(g, got[id], r.hints[id]) {
			case askAgain:
				again = append(again, id)
				r.moved[id] = wire.None
			case provesNothing:
				r.dead = append(r.dead, id)
			}
		}
		r.mu.Unlock()
	}
	return again
}

// fewGroups is up to how many groups of unknown type are asked for as classic and as consumer groups at once, which saves a round
// trip; of more, most are of one type, and what the brokers do for the other costs more.
const fewGroups = 8

// ask runs one exchange with a coordinator and sorts the answers by group: commits and what is likely to fit, or one newer kind only.
func (r *reading) ask(ctx context.Context, node int32, ids []string, got map[string]*answers, only offsets.GroupType) error {
	fetches := 0
	var others []offsets.GroupType
	list, err := r.c.wire.Do(ctx, node, func(v wire.Versions) (all []kmsg.Request, err error) {
		if only == "" {
			others = leftForLater(v, len(ids))
			if all, err = fetchOffsets(v, ids, r.topics, true); err != nil {
				return nil, err
			}
			fetches = len(all)
		}
		descriptions, err := describe(v, r.byType(ids, only), len(ids))
		return append(all, descriptions...), err
	})
	if err != nil {
		return err
	}
	if only == "" {
		for id, f := range readOffsets(ids, list[:fetches]) {
			if a := got[id]; a != nil {
				a.fetched = f
			}
		}
		for _, id := range ids {
			got[id].others = others
		}
	}
	sortDescriptions(list[fetches:], got)
	return nil
}

// leftForLater are the newer kinds that a broker knows, of which it is not asked with the commits of as many groups.
func leftForLater(v wire.Versions, groups int) (others []offsets.GroupType) {
	if groups > fewGroups && v.Has(wire.ConsumerGroupDescribe) {
		others = append(others, offsets.Consumer)
	}
	if v.Has(wire.ShareGroupDescribe) {
		others = append(others, offsets.Share)
	}
	if v.Has(wire.StreamsGroupDescribe) {
		others = append(others, offsets.Streams)
	}
	return others
}

// byType sorts groups by what they are asked for as: one kind only, or what is known of each, which may be nothing.
func (r *reading) byType(ids []string, only offsets.GroupType) map[offsets.GroupType][]string {
	of := map[offsets.GroupType][]string{}
	for _, id := range ids {
		t := cmp.Or(only, r.hints[id].Type, offsets.TypeUnknown)
		if t == offsets.Simple {
			t = offsets.Classic
		}
		of[t] = append(of[t], id)
	}
	return of
}

// describe makes the requests for descriptions of groups, each for one kind, of what the broker knows.
func describe(v wire.Versions, of map[offsets.GroupType][]string, groups int) (all []kmsg.Request, err error) {
	unknown := of[offsets.TypeUnknown]
	either := unknown
	if groups > fewGroups {
		either = nil
	}
	add := func(q kmsg.Request, to *[]string, ids ...string) {
		if len(ids) > 0 && v.Has(q.Key()) {
			*to = ids
			all = append(all, q)
			err = errors.Join(err, v.Set(q, -1))
		}
	}
	dg, cg := kmsg.NewPtrDescribeGroupsRequest(), kmsg.NewPtrConsumerGroupDescribeRequest()
	sg, st := kmsg.NewPtrShareGroupDescribeRequest(), kmsg.NewPtrStreamsGroupDescribeRequest()
	add(dg, &dg.Groups, slices.Concat(of[offsets.Classic], unknown)...)
	add(cg, &cg.Groups, slices.Concat(of[offsets.Consumer], either)...)
	add(sg, &sg.GroupIDs, of[offsets.Share]...)
	add(st, &st.Groups, of[offsets.Streams]...)
	return all, err
}

// sortDescriptions gives each group what is said of it.
func sortDescriptions(list []kmsg.Response, got map[string]*answers) {
	for _, a := range list {
		switch r := a.(type) {
		case *kmsg.DescribeGroupsResponse:
			for i, g := range r.Groups {
				if a := got[g.Group]; a != nil {
					a.classic, a.version = &r.Groups[i], r.Version
				}
			}
		case *kmsg.ConsumerGroupDescribeResponse:
			for i, g := range r.Groups {
				if a := got[g.Group]; a != nil {
					a.consumer = &r.Groups[i]
				}
			}
		case *kmsg.ShareGroupDescribeResponse:
			for i, g := range r.Groups {
				if a := got[g.GroupID]; a != nil {
					a.share = &r.Groups[i]
				}
			}
		case *kmsg.StreamsGroupDescribeResponse:
			for i, g := range r.Groups {
				if a := got[g.Group]; a != nil {
					a.streams = &r.Groups[i]
				}
			}
		}
	}
}

// readPending reads what is committed where an open transaction is going to commit something else, which the first answer hides.
func (r *reading) readPending(ctx context.Context) {
	work := map[int32][]string{}
	for id, g := range r.groups {
		for _, e := range g.Commits {
			if e.Pending {
				work[g.Coordinator] = append(work[g.Coordinator], id)
				break
			}
		}
	}
	byNode(work, func(node int32, ids []string) {
		topics := map[string][]int32{}
		for _, id := range ids {
			for k, e := range r.groups[id].Commits {
				if e.Pending {
					topics[k.Topic] = append(topics[k.Topic], k.Partition)
				}
			}
		}
		for topic, partitions := range topics { // several groups may have the same
			slices.Sort(partitions)
			topics[topic] = slices.Compact(partitions)
		}
		for part := range chunkTopics(topics) {
			answers, err := r.c.wire.Do(ctx, node, func(v wire.Versions) ([]kmsg.Request, error) {
				return fetchOffsets(v, ids, part, false)
			})
			if err != nil {
				continue // that it is pending is known, and that it could not be read
			}
			for id, f := range readOffsets(ids, answers) {
				if g := r.groups[id]; g != nil && f.told && f.code == 0 {
					g.beside(part, f.entries)
				}
			}
		}
	})
}

// FirstPending marks, in topics of each group, the partitions of which an open transaction is going to make its first commit: OffsetFetch
// tells of them only if they are named. Where each partition has a commit, nothing is asked.
func (c *Cluster) FirstPending(ctx context.Context, groups []GroupCommits, topics [][]string, known Ranges) {
	for i, g := range groups {
		named := map[string][]int32{}
		for _, topic := range topics[i] {
			for p := range known.Topics[topic].Ranges {
				named[topic] = append(named[topic], int32(p))
			}
		}
		c.firstPending(ctx, g, named)
	}
}

// PendingAnywhere is FirstPending in all topics that a job may read.
func (c *Cluster) PendingAnywhere(ctx context.Context, groups []GroupCommits) {
	named, _ := c.partitions(ctx) // a write asks again
	for _, g := range groups {
		c.firstPending(ctx, g, named)
	}
}

func (c *Cluster) firstPending(ctx context.Context, g GroupCommits, named map[string][]int32) {
	if g.Trouble != nil || g.Coordinator == wire.None || g.Type == offsets.Share {
		return
	}
	var lacking []offsets.Key
	for topic, partitions := range named {
		for _, p := range partitions {
			k := offsets.Key{Topic: topic, Partition: p}
			if _, has := g.Commits[k]; !has {
				lacking = append(lacking, k)
			}
		}
	}
	commits, _ := c.Commits(ctx, g.ID, lacking, true) // a write asks once more before it is sent
	for k, e := range commits {
		if e.Pending {
			g.Commits[k] = offsets.Entry{Pending: true, Epoch: offsets.None}
		}
	}
}

// beside puts what was committed beside what is pending.
func (g *GroupCommits) beside(asked map[string][]int32, committed map[offsets.Key]offsets.Entry) {
	for topic, partitions := range asked {
		for _, p := range partitions {
			k := offsets.Key{Topic: topic, Partition: p}
			if !g.Commits[k].Pending {
				continue
			}
			e, found := committed[k]
			if !found {
				e = offsets.Entry{Epoch: offsets.None}
			}
			e.Pending = true
			g.Commits[k] = e
		}
	}
}

// settleDead tells with ListGroups whether groups exist that an older broker calls Dead.
func (r *reading) settleDead(ctx context.Context) {
	if len(r.dead) == 0 {
		return
	}
	l, err := r.c.list(ctx)
	for _, id := range r.dead {
		g := r.groups[id]
		listed, ok := l.groups[id]
		switch {
		case ok:
			g.Existence, g.Type, g.State, g.Protocol = offsets.Exists, listed.Type, listed.State, listed.Protocol
			g.Notes = append(g.Notes, listed.Notes...)
			if g.State == "" || g.State == "Dead" {
				g.State = unknownState
			}
			g.Notes = append(g.Notes, "the broker is too old to tell this group's members (DescribeGroups v6, Kafka 4.0)")
		case err == nil && len(l.troubles) == 0:
			g.Existence, g.State = offsets.Missing, "Dead"
			if len(g.Commits) > 0 {
				g.Existence, g.State = offsets.Exists, unknownState
			}
		default:
			g.Notes = append(g.Notes, "whether the group exists is not known: not all brokers could list their groups")
		}
	}
}
