package kafkaops

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// outcome of interpret.
type outcome int

const (
	settled outcome = iota
	askAgain
	provesNothing
)

// A description is what one kind of describe said: code is nil if it was not asked.
type description struct {
	kind offsets.GroupType
	code *int16
}

// interpret tells from the answers what a group is. Each kind of describe fits one kind of group and says GROUP_ID_NOT_FOUND
// to all others, but DescribeGroups below v6 says "Dead" for groups of other kinds as well, live ones too.
func interpret(g *GroupCommits, a *answers, hint offsets.Group) outcome {
	described := []description{
		{offsets.Classic, code(a.classic)}, {offsets.Consumer, code(a.consumer)}, {offsets.Share, code(a.share)}, {offsets.Streams, code(a.streams)},
	}
	if trouble := a.trouble(g.ID, described); trouble != nil {
		if g.Trouble = trouble; trouble.Unreachable {
			return askAgain
		}
		return settled
	}
	g.Commits = a.fetched.entries
	g.Members, g.Notes = nil, nil
	switch {
	case a.consumer != nil && a.consumer.ErrorCode == 0:
		for _, m := range a.consumer.Members {
			g.Members = append(g.Members, consumerMember(m))
		}
		g.known(offsets.Consumer, a.consumer.State, "consumer", a.consumer.AssignorName, a.consumer.Epoch)
	case a.share != nil && a.share.ErrorCode == 0:
		for _, m := range a.share.Members {
			g.Members = append(g.Members, shareMember(m))
		}
		g.known(offsets.Share, a.share.GroupState, "share", a.share.Assignor, a.share.GroupEpoch)
	case a.streams != nil && a.streams.ErrorCode == 0:
		for _, m := range a.streams.Members {
			g.Members = append(g.Members, streamsMember(m, a.streams.Topology))
		}
		g.known(offsets.Streams, a.streams.State, "streams", deref(a.streams.AssignorName), a.streams.Epoch)
	case a.classic != nil && a.classic.ErrorCode == 0 && a.classic.State != "Dead":
		for _, m := range a.classic.Members {
			g.Members = append(g.Members, classicMember(m, a.classic.ProtocolType))
		}
		t := offsets.Classic
		if a.classic.ProtocolType == "" && len(g.Members) == 0 {
			t = offsets.Simple
		}
		g.known(t, a.classic.State, a.classic.ProtocolType, a.classic.Protocol, offsets.None)
	default:
		return undescribed(g, a, described, hint)
	}
	return settled
}

// trouble is why nothing can be said of a group, nil if something can.
func (a *answers) trouble(group string, described []description) *offsets.Trouble {
	codes := []int16{a.fetched.code}
	for _, d := range described {
		if d.code != nil {
			codes = append(codes, *d.code)
		}
	}
	right := "DESCRIBE on group " + group
	if i := slices.IndexFunc(codes, coordinatorMoved); i >= 0 {
		return troubleCode(codes[i], right)
	}
	switch {
	case slices.Contains(codes, wire.CodeGroupAuthorization):
		return troubleCode(wire.CodeGroupAuthorization, right)
	case a.fetched.code != 0 && a.fetched.code != wire.CodeGroupNotFound:
		return troubleCode(a.fetched.code, right)
	case !a.fetched.told:
		return &offsets.Trouble{Reason: unnamed}
	}
	return nil
}

// known settles what a group is.
func (g *GroupCommits) known(t offsets.GroupType, state, protocol, assignor string, epoch int32) {
	g.Existence, g.Type, g.State, g.Protocol, g.Assignor, g.Epoch = offsets.Exists, t, state, protocol, assignor, epoch
}

// undescribed tells what a group is that no describe fits. An error other than "not found" leaves the kind, but not the state.
func undescribed(g *GroupCommits, a *answers, described []description, hint offsets.Group) outcome {
	for _, d := range described {
		if d.code != nil && *d.code != 0 && *d.code != wire.CodeGroupNotFound && *d.code != wire.CodeUnsupportedVersion {
			g.known(offsets.TypeUnknown, unknownState, "", "", offsets.None)
			g.Existence = offsets.ExistenceUnknown
			if *d.code == wire.CodeTopicAuthorization { // only a live group has topics to look at
				g.Existence, g.Type = offsets.Exists, d.kind
			}
			g.Notes = append(g.Notes, "the group's state is not known: "+wire.CodeText(*d.code))
			return settled
		}
	}
	if hint.ID != "" && hint.State != "Dead" { // listed a moment ago
		g.known(hint.Type, hint.State, hint.Protocol, "", offsets.None)
		g.Notes = append(g.Notes, "the coordinator lists the group, but does not describe it")
		if g.State != "Empty" {
			g.State = unknownState
		}
		return settled
	}
	g.Existence, g.Type, g.State = offsets.Missing, offsets.TypeUnknown, "Dead"
	if a.classic == nil || a.version < 6 {
		g.Existence, g.State = offsets.ExistenceUnknown, unknownState
		return provesNothing
	}
	if len(g.Commits) > 0 { // it has come up in between
		g.Existence, g.State = offsets.Exists, unknownState
	}
	return settled
}

// code is the error code of a description, nil without one.
func code[T kmsg.DescribeGroupsResponseGroup | kmsg.ConsumerGroupDescribeResponseGroup | kmsg.ShareGroupDescribeResponseGroup | kmsg.StreamsGroupDescribeResponseGroup](g *T) *int16 {
	if g == nil {
		return nil
	}
	switch g := any(g).(type) {
	case *kmsg.DescribeGroupsResponseGroup:
		return &g.ErrorCode
	case *kmsg.ConsumerGroupDescribeResponseGroup:
		return &g.ErrorCode
	case *kmsg.ShareGroupDescribeResponseGroup:
		return &g.ErrorCode
	case *kmsg.StreamsGroupDescribeResponseGroup:
		return &g.ErrorCode
	}
	return nil
}

func classicMember(m kmsg.DescribeGroupsResponseGroupMember, protocol string) offsets.Member {
	o := offsets.Member{ID: m.MemberID, InstanceID: deref(m.InstanceID), ClientID: m.ClientID, Host: m.ClientHost, Epoch: offsets.None}
	if protocol == "consumer" {
		o.Assigned = decodeAssignment(m.MemberAssignment)
	}
	return o
}

func consumerMember(m kmsg.ConsumerGroupDescribeResponseGroupMember) offsets.Member {
	o := offsets.Member{ID: m.MemberID, InstanceID: deref(m.InstanceID), ClientID: m.ClientID, Host: m.ClientHost, Epoch: m.MemberEpoch}
	for _, t := range m.Assignment.TopicPartitions {
		for _, p := range t.Partitions {
			o.Assigned = append(o.Assigned, offsets.Key{Topic: t.Topic, Partition: p})
		}
	}
	offsets.SortKeys(o.Assigned)
	return o
}

func shareMember(m kmsg.ShareGroupDescribeResponseGroupMember) offsets.Member {
	o := offsets.Member{ID: m.MemberID, ClientID: m.ClientID, Host: m.ClientHost, Epoch: m.MemberEpoch}
	for _, t := range m.Assignment.TopicPartitions {
		for _, p := range t.Partitions {
			o.Assigned = append(o.Assigned, offsets.Key{Topic: t.Topic, Partition: p})
		}
	}
	offsets.SortKeys(o.Assigned)
	return o
}
