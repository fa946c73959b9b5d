// Package kafkaops is what gtoffset asks a Kafka cluster and what it writes to it: groups, commits, ranges. It takes and returns
// the plain values of kafkaops/offsets. Every broker's and every partition's error survives into the value that it concerns; an
// error is returned only where nothing at all could be said.
package kafkaops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// Config says which cluster, and how to reach it.
type Config struct {
	Bootstrap []string // "host:port"
	Wire      wire.Config
}

// Cluster is one Kafka cluster. It opens nothing before it is asked something; its methods may run at the same time.
type Cluster struct {
	wire *wire.Client

	mu           sync.Mutex
	cluster      wire.Cluster
	coordinators map[string]int32
	leaders      map[string][]leader // by topic and partition
}

// leader is what the last Metadata said of a partition.
type leader struct {
	id      int32
	epoch   int32
	topicID string
}

// New makes a cluster. It opens no connection.
func New(cfg Config) *Cluster {
	return &Cluster{wire: wire.New(cfg.Bootstrap, cfg.Wire), coordinators: map[string]int32{}, leaders: map[string][]leader{}}
}

// Connect finds the cluster over its bootstrap addresses. It does nothing when that was done before. The error is a *wire.Error
// or a *wire.BootstrapError.
func (c *Cluster) Connect(ctx context.Context) error {
	joined, err := c.wire.Connect(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.cluster = joined
	c.mu.Unlock()
	return nil
}

// ID is the cluster's id; "" before Connect, or if the brokers do not tell it.
func (c *Cluster) ID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cluster.ID
}

// OtherClusterError says that the addresses lead to another cluster than before.
type OtherClusterError struct{ Was, Is string }

func (e *OtherClusterError) Error() string {
	return fmt.Sprintf("the cluster was %s and is %s now: its addresses lead elsewhere", e.Was, e.Is)
}

// Close cuts all connections.
func (c *Cluster) Close() { c.wire.Close() }

// NewLook asks again the brokers that did not answer before. Within one look a silent broker is waited for only once.
func (c *Cluster) NewLook() { c.wire.NewLook() }

// maxRequest is how large an encoded request may become before it is split.
const maxRequest = 1_000_000

// readTries is how often a read that met a coordinator or leader on the move is tried in all.
const readTries = 6

// pause waits a little longer with each try, with jitter, and reports whether there is time left.
func pause(ctx context.Context, try int) bool {
	d := min(50*time.Millisecond<<min(try, 5), 400*time.Millisecond) // a coordinator that comes back must not be missed for long
	return sleep(ctx, d/2+rand.N(d))
}

// takeover is how long a broker that has just become the coordinator may show less than its predecessor has acknowledged: until its
// followers have fetched, it does not know how far the log of the commits is safe.
const takeover = time.Second

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// coordinatorMoved reports the codes that a fresh FindCoordinator may cure.
func coordinatorMoved(code int16) bool {
	switch code {
	case wire.CodeCoordinatorLoading, wire.CodeCoordinatorNotAvailable, wire.CodeNotCoordinator:
		return true
	}
	return false
}

// leaderMoved reports the codes that fresh Metadata may cure.
func leaderMoved(code int16) bool {
	switch code {
	case wire.CodeUnknownTopic, wire.CodeLeaderNotAvailable, wire.CodeNotLeader, wire.CodeReplicaNotAvailable, wire.CodeStorageError,
		wire.CodeFencedLeaderEpoch, wire.CodeUnknownLeaderEpoch, wire.CodeOffsetNotAvailable:
		return true
	}
	return false
}

// active reports the codes that a broker answers a commit with while members are in the group.
func active(code int16) bool {
	switch code {
	case wire.CodeIllegalGeneration, wire.CodeUnknownMember, wire.CodeRebalanceInProgress, wire.CodeNonEmptyGroup,
		wire.CodeMemberIDRequired, wire.CodeFencedInstanceID, wire.CodeFencedMemberEpoch, wire.CodeUnreleasedInstanceID, wire.CodeStaleMemberEpoch:
		return true
	}
	return false
}

// troubleOf turns an error of the wire into a value.
func troubleOf(err error) *offsets.Trouble {
	t := &offsets.Trouble{Reason: err.Error()}
	var e *wire.Error
	switch {
	case wire.IsRefused(err):
		t.Denied, t.Login = true, true
	case errors.As(err, &e):
		t.Unreachable = true
		if e.Cause == wire.CauseUnresolved || e.Stray && e.Why() != "" { // of an address that only the cluster knows
			t.Reason += "; " + e.Why()
		}
	}
	return t
}

// troubleCode turns an error code into a value. what is the right that it takes, as in "DESCRIBE on group x".
func troubleCode(code int16, right string) *offsets.Trouble {
	switch code {
	case wire.CodeTopicAuthorization, wire.CodeGroupAuthorization, wire.CodeClusterAuthorization:
		return &offsets.Trouble{Reason: "not allowed: " + right + " is missing", Denied: true}
	}
	return &offsets.Trouble{Reason: wire.CodeText(code), Unreachable: coordinatorMoved(code)}
}

// coordinatorsOf finds the coordinator of each group, with one batched request where the broker can. A group is in exactly one
// of the two maps. With fresh set nothing that is known is used.
func (c *Cluster) coordinatorsOf(ctx context.Context, groups []string, fresh bool) (map[string]int32, map[string]*offsets.Trouble) {
	found, troubles := map[string]int32{}, map[string]*offsets.Trouble{}
	todo := groups
	if !fresh {
		todo = nil
		c.mu.Lock()
		for _, g := range groups {
			if id, ok := c.coordinators[g]; ok {
				found[g] = id
			} else {
				todo = append(todo, g)
			}
		}
		c.mu.Unlock()
	}
	for try := 0; len(todo) > 0; try++ {
		if try > 0 && (try >= readTries || !pause(ctx, try)) {
			break
		}
		var again []string
		for part := range chunks(todo, maxRequest, func(g string) int { return len(g) + 16 }) {
			answers, err := c.wire.Do(ctx, wire.Any, func(v wire.Versions) ([]kmsg.Request, error) { return findCoordinator(v, part) })
			if err != nil {
				for _, g := range part {
					troubles[g] = troubleOf(err)
				}
				continue
			}
			one := func(g string, node int32, code int16) {
				switch {
				case code == 0:
					found[g] = node
					delete(troubles, g)
				case coordinatorMoved(code):
					again = append(again, g)
					troubles[g] = troubleCode(code, "")
				default:
					troubles[g] = troubleCode(code, "DESCRIBE on group "+g)
				}
			}
			for i, a := range answers {
				r := a.(*kmsg.FindCoordinatorResponse)
				if r.Version < 4 {
					one(part[i], r.NodeID, r.ErrorCode)
				}
				for _, k := range r.Coordinators {
					one(k.Key, k.NodeID, k.ErrorCode)
				}
			}
		}
		todo = again
	}
	c.mu.Lock()
	maps.Copy(c.coordinators, found)
	c.mu.Unlock()
	for _, g := range groups {
		if _, ok := found[g]; !ok && troubles[g] == nil {
			troubles[g] = &offsets.Trouble{Reason: unnamed}
		}
	}
	return found, troubles
}

func findCoordinator(v wire.Versions, groups []string) ([]kmsg.Request, error) {
	if v.Max(wire.FindCoordinator) >= 4 {
		q := kmsg.NewPtrFindCoordinatorRequest()
		q.CoordinatorKeys = groups
		return []kmsg.Request{q}, v.Set(q, -1)
	}
	var all []kmsg.Request
	for _, g := range groups {
		q := kmsg.NewPtrFindCoordinatorRequest()
		q.CoordinatorKey = g
		if err := v.Set(q, -1); err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	return all, nil
}

// chunks cuts a list so that the sizes in a part add up to at most limit; a part has at least one element.
func chunks[T any](all []T, limit int, size func(T) int) func(func([]T) bool) {
	return func(yield func([]T) bool) {
		start, sum := 0, 0
		for i, x := range all {
			n := size(x)
			if i > start && sum+n > limit {
				if !yield(all[start:i:i]) {
					return
				}
				start, sum = i, 0
			}
			sum += n
		}
		if start < len(all) {
			yield(all[start:])
		}
	}
}

// byNode runs f once for each node at the same time.
func byNode[T any](work map[int32]T, f func(node int32, work T)) {
	nodes := slices.Sorted(maps.Keys(work))
	if len(nodes) == 0 {
		return
	}
	var wg sync.WaitGroup
	for _, node := range nodes[1:] {
		wg.Go(func() { f(node, work[node]) })
	}
	f(nodes[0], work[nodes[0]]) // of one, as often, there is nobody to wait for
	wg.Wait()
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
