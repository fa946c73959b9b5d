package kafkaops

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
)

// streamsMember reads a member of a streams group. It has tasks, not partitions: a task reads the partition of its number of each
// source topic of its subtopology.
func streamsMember(m kmsg.StreamsGroupDescribeResponseGroupMember, topology *kmsg.StreamsGroupDescribeResponseGroupTopology) offsets.Member {
	o := offsets.Member{ID: m.MemberID, InstanceID: deref(m.InstanceID), ClientID: m.ClientID, Host: m.ClientHost, Epoch: m.MemberEpoch}
	sources := sourcesOf(topology)
	for _, task := range m.Assignment.ActiveTasks {
		for _, topic := range sources[task.SubtopologyID] {
			for _, p := range task.Partitions {
				o.Assigned = append(o.Assigned, offsets.Key{Topic: topic, Partition: p})
			}
		}
	}
	offsets.SortKeys(o.Assigned)
	return o
}

// sourcesOf lists, by subtopology, the topics that its tasks read.
func sourcesOf(topology *kmsg.StreamsGroupDescribeResponseGroupTopology) map[string][]string {
	sources := map[string][]string{}
	if topology == nil {
		return sources
	}
	for _, sub := range topology.Subtopologies {
		topics := slices.Clone(sub.SourceTopics)
		for _, t := range sub.RepartitionSourceTopics {
			topics = append(topics, t.Topic)
		}
		sources[sub.SubtopologyID] = topics
	}
	return sources
}
