//go:build live

package live_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/scripts/live"
)

// refusal checks that nothing can be written to the scene's group, whose commits are low, and that the reason is given.
func (s scene) refusal(reasons ...string) {
	s.t.Helper()
	before, groups := s.committed(), s.members()
	s.save(1, 1)
	file := s.file()
	for _, side := range [][]string{{"--committed"}, {"--stored"}, {"--stored", "--committed"}} {
		s.run(s.clamp(append(side, "-t", s.topic, "--create", "--missing", "earliest")...)...).exits(4).says(append(reasons, "nothing was written")...)
		s.run(append([]string{"clamp", "-g", s.group, "-s", s.folder, "-t", s.topic, "--dry-run"}, side...)...).exits(4)
	}
	same(s.t, "committed after the refusals", s.committed(), before)
	same(s.t, "file after the refusals", s.file(), file)
	same(s.t, "the group after the refusals", s.members(), groups)
	if saved := s.backups(); len(saved) > 0 {
		s.t.Errorf("a refused run left %q", saved)
	}
}

// members is the group with its members as Kafka's other clients see it.
func (s scene) members() string {
	s.t.Helper()
	groups, err := s.on.Groups(s.t.Context())
	must(s.t, err)
	return fmt.Sprintf("%+v", groups[s.group])
}

// A live group: everything about it is shown, and nothing is written to it.
func TestActive(t *testing.T) {
	for _, kind := range []live.Kind{live.Classic, live.Consumer} {
		t.Run(string(kind), func(t *testing.T) {
			ctx := t.Context()
			s := stage(t, cluster, [2]int64{20, 50}, [2]int64{20, 50})
			s.commit(5, 5)
			if kind == live.Consumer { // only a new group becomes one of this kind
				must(t, cluster.DeleteGroup(ctx, s.group))
			}
			first, err := cluster.Join(ctx, kind, s.group, s.topic, kgo.DisableAutoCommit(), kgo.ClientID("billing-one"))
			must(t, err)
			defer first.Leave()
			second, err := cluster.Join(ctx, kind, s.group, s.topic, kgo.DisableAutoCommit(), kgo.ClientID("billing-two"))
			must(t, err)
			defer second.Leave()

			var doc described
			must(t, live.Eventually(ctx, "each member has one partition", func(context.Context) (bool, error) {
				doc = s.run("describe", "-g", s.group, "-o", "json").exits(0).describe()
				g := doc.Groups[0]
				return len(g.Members) == 2 && len(g.Members[0].Assigned) == 1 && len(g.Members[1].Assigned) == 1, nil
			}))
			g := doc.Groups[0]
			same(t, "type and state", g.Type+" "+*g.State, string(kind)+" Stable")
			var clients []string
			var assigned []int32
			for _, m := range g.Members {
				clients = append(clients, m.ClientID)
				assigned = append(assigned, m.Assigned[0].Partition)
				same(t, "assigned topic", m.Assigned[0].Topic, s.topic)
				same(t, "epoch is known", m.Epoch != nil, kind == live.Consumer)
				if !strings.Contains(m.Host, "127.0.0.1") || m.ID == "" {
					t.Errorf("member: got %+v", m)
				}
			}
			slices.Sort(clients)
			slices.Sort(assigned)
			same(t, "client ids", strings.Join(clients, " "), "billing-one billing-two")
			same(t, "assigned partitions", fmt.Sprint(assigned), "[0 1]")
			s.run("describe", "-g", s.group).exits(0).prints(string(kind)+" group, Stable", "2 members")
			s.run("describe").exits(0).prints(s.group)

			s.refusal("is active: 2 members", "billing-one on ", "billing-two on ", "--wait-empty")
			first.Leave()
			second.Leave()
			s.run(s.clamp("--committed", "-t", s.topic, "--missing", "earliest", "--wait-empty", "60s")...).exits(0)
			same(t, "committed when they had left", s.committed(), "0=20 1=20")
		})
	}
}

// An empty KIP-848 group is "Dead" to an old request, and must be taken for neither dead nor absent.
func TestEmptyConsumerGroup(t *testing.T) {
	s := stage(t, cluster, [2]int64{20, 50}, [2]int64{20, 50})
	member, err := cluster.Join(t.Context(), live.Consumer, s.group, s.topic, kgo.DisableAutoCommit())
	must(t, err)
	member.Leave()
	var g live.Group
	must(t, live.Eventually(t.Context(), "the group is empty", func(ctx context.Context) (bool, error) {
		groups, err := cluster.Groups(ctx)
		g = groups[s.group]
		return g.State == "Empty", err
	}))
	s.commit(5, 30)
	d := s.run("describe", "-g", s.group, "-o", "json").exits(0).describe().Groups[0]
	same(t, "group", fmt.Sprint(d.Type, *d.State, *d.Exists, len(d.Members)), fmt.Sprint("consumer", "Empty", true, 0))
	r := s.run("clamp", "-g", s.group, "--execute").exits(0)
	same(t, "committed", s.committed(), "0=20 1=30")
	s.shell(r.undo()).exits(0)
	same(t, "committed after undo", s.committed(), "0=5 1=30")
	same(t, "the group", s.members(), fmt.Sprintf("%+v", g))
}

func TestOtherGroups(t *testing.T) {
	t.Run("simple", func(t *testing.T) {
		onEach(t, func(t *testing.T, on *live.Cluster) {
			s := stage(t, on, [2]int64{20, 50})
			s.commit(5)
			d := s.run("describe", "-g", s.group, "-o", "json").exits(0).describe().Groups[0]
			same(t, "type and state", d.Type+" "+*d.State, "simple Empty")
			s.run("clamp", "-g", s.group, "--execute").exits(0)
			same(t, "committed", s.committed(), "0=20")
		})
	})
	t.Run("share", func(t *testing.T) {
		s := stage(t, cluster, [2]int64{20, 50}, [2]int64{0, 0})
		member, err := cluster.Join(t.Context(), live.Share, s.group, s.topic)
		must(t, err)
		defer member.Leave()
		d := s.run("describe", "-g", s.group, "-o", "json").exits(0).describe().Groups[0]
		same(t, "type and state", d.Type+" "+*d.State, "share Stable")
		same(t, "members", len(d.Members), 1)
		s.refusal("is a share group")
		member.Leave()
		s.refusal("is a share group")
	})
	t.Run("streams", func(t *testing.T) {
		s := stage(t, cluster, [2]int64{20, 50}, [2]int64{0, 0})
		leave := s.joinStreams()
		d := s.run("describe", "-g", s.group, "-o", "json").exits(0).describe().Groups[0]
		same(t, "type and members", fmt.Sprint(d.Type, len(d.Members)), "streams1")
		s.refusal("is active")
		leave()
		s.commit(5)
		d = s.run("describe", "-g", s.group, "-o", "json").exits(0).describe().Groups[0]
		same(t, "type and state", d.Type+" "+*d.State, "streams Empty")
		s.run("clamp", "-g", s.group, "--execute").exits(0)
		same(t, "committed", s.committed(), "0=20")
	})
	t.Run("connect", func(t *testing.T) { // workers' group: it has members, assignments that are no partitions, and no offsets
		s := stage(t, cluster, [2]int64{20, 50}, [2]int64{0, 0})
		leave := s.joinConnect()
		d := s.run("describe", "-g", s.group, "-o", "json").exits(0).describe().Groups[0]
		same(t, "type, state and members", fmt.Sprint(d.Type, *d.State, len(d.Members), d.Members[0].ClientID), "classicStable1live")
		s.refusal("coordinates Connect workers")
		leave()
	})
	t.Run("none", func(t *testing.T) {
		onEach(t, func(t *testing.T, on *live.Cluster) {
			s := stage(t, on, [2]int64{20, 50})
			s.run("describe", "-g", s.group).exits(1).says("is not known to the cluster")
			s.run("clamp", "-g", s.group, "--committed", "--execute").exits(1)
			s.run("clamp", "-g", s.group, "-t", s.topic, "--committed", "--dry-run").exits(4).says("--create")
			same(t, "the group", s.members(), fmt.Sprintf("%+v", live.Group{}))
			other := s
			other.group = s.group + ".other"
			other.commit(30)
			s.run("describe", "-g", s.group, "-g", other.group).exits(3).says("is not known to the cluster").prints(other.group)
		})
	})
}

// joinStreams makes a streams group of one member, by the heartbeat alone: it lasts until leave, or its session of 45 s.
func (s scene) joinStreams() (leave func()) {
	s.t.Helper()
	q := kmsg.NewPtrStreamsGroupHeartbeatRequest()
	q.Group, q.MemberID, q.RebalanceTimeoutMillis = s.group, "AAAAAAAAAAAAAAAAAAAAAQ", 60_000
	process := "1"
	q.ProcessID = &process
	q.ActiveTasks, q.StandbyTasks, q.WarmupTasks = []kmsg.TaskIDs{}, []kmsg.TaskIDs{}, []kmsg.TaskIDs{}
	sub := kmsg.NewStreamsGroupHeartbeatRequestTopologySubtopology()
	sub.SubtopologyID, sub.SourceTopics = "0", []string{s.topic}
	topology := kmsg.NewStreamsGroupHeartbeatRequestTopology()
	topology.Subtopologies = append(topology.Subtopologies, sub)
	q.Topology = &topology
	broker, err := s.on.Coordinator(s.t.Context(), s.group)
	must(s.t, err)
	beat := func(ctx context.Context) (bool, error) {
		answer, err := s.on.Request(ctx, broker, q)
		if err != nil {
			return false, err
		}
		return true, kerr.ErrorForCode(answer.(*kmsg.StreamsGroupHeartbeatResponse).ErrorCode)
	}
	must(s.t, live.Eventually(s.t.Context(), "the streams group has its member", beat))
	return func() {
		s.t.Helper()
		member := q.MemberID
		q = kmsg.NewPtrStreamsGroupHeartbeatRequest()
		q.Group, q.MemberID, q.MemberEpoch = s.group, member, -1
		must(s.t, live.Eventually(s.t.Context(), "the streams group has no member", beat))
	}
}

// joinConnect makes a group as Connect's workers do: a classic one with a protocol of its own.
func (s scene) joinConnect() (leave func()) {
	s.t.Helper()
	ctx := s.t.Context()
	broker, err := s.on.Coordinator(ctx, s.group)
	must(s.t, err)
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.ProtocolType = s.group, "connect"
	join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = 300_000, 300_000
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name, p.Metadata = "sessioned", []byte{0, 2, 0, 0}
	join.Protocols = append(join.Protocols, p)
	var joined *kmsg.JoinGroupResponse
	for range 2 { // the first answer gives the member its name
		answer, err := s.on.Request(ctx, broker, join)
		must(s.t, err)
		joined = answer.(*kmsg.JoinGroupResponse)
		join.MemberID = joined.MemberID
	}
	must(s.t, kerr.ErrorForCode(joined.ErrorCode))
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.Generation, sync.MemberID = s.group, joined.Generation, joined.MemberID
	sync.ProtocolType, sync.Protocol = &join.ProtocolType, &p.Name
	a := kmsg.NewSyncGroupRequestGroupAssignment()
	a.MemberID, a.MemberAssignment = joined.MemberID, []byte{0, 2, 0, 0, 255, 255}
	sync.GroupAssignment = append(sync.GroupAssignment, a)
	answer, err := s.on.Request(ctx, broker, sync)
	must(s.t, err)
	must(s.t, kerr.ErrorForCode(answer.(*kmsg.SyncGroupResponse).ErrorCode))
	return func() {
		s.t.Helper()
		q := kmsg.NewPtrLeaveGroupRequest()
		q.Group = s.group
		m := kmsg.NewLeaveGroupRequestMember()
		m.MemberID = joined.MemberID
		q.Members = append(q.Members, m)
		_, err := s.on.Request(ctx, broker, q)
		must(s.t, err)
	}
}
