package kafkaops_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/offsets"
)

// share lets the broker have a share group of every name, which starts at 7 in partition 0, nowhere yet in 1, and fails in 2.
func share(b *kafkatest.Broker) {
	b.Rewrite(kmsg.ShareGroupDescribe.Int16(), func(_ int32, r kmsg.Response) bool {
		for i := range r.(*kmsg.ShareGroupDescribeResponse).Groups {
			g := &r.(*kmsg.ShareGroupDescribeResponse).Groups[i]
			g.ErrorCode, g.GroupState = 0, "Empty"
		}
		return true
	})
	b.Rewrite(kmsg.DescribeShareGroupOffsets.Int16(), func(_ int32, r kmsg.Response) bool {
		for i := range r.(*kmsg.DescribeShareGroupOffsetsResponse).Groups {
			g := &r.(*kmsg.DescribeShareGroupOffsetsResponse).Groups[i]
			if g.GroupID == "secret" {
				g.ErrorCode = kerr.GroupAuthorizationFailed.Code
				continue
			}
			g.ErrorCode = 0
			topic := kmsg.NewDescribeShareGroupOffsetsResponseGroupTopic()
			topic.Topic = "orders"
			for p, start := range []int64{7, -1, 0} {
				part := kmsg.NewDescribeShareGroupOffsetsResponseGroupTopicPartition()
				part.Partition, part.StartOffset, part.Lag = int32(p), start, start-4
				if p == 2 {
					part.ErrorCode = kerr.TopicAuthorizationFailed.Code
				}
				topic.Partitions = append(topic.Partitions, part)
			}
			g.Topics = []kmsg.DescribeShareGroupOffsetsResponseGroupTopic{topic}
		}
		return true
	})
}

func TestShareGroups(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{})
	must(t, b.CreateTopic("orders", 3))
	share(b)
	c := connect(t, b, 0)
	groups, _, err := c.Groups(within(t), []string{"sharing", "secret"}, nil)
	must(t, err)
	want := map[offsets.Key]offsets.Shared{
		key("orders", 0): {Start: 7, Lag: 3},
		key("orders", 1): {Start: offsets.None, Lag: offsets.None},
		key("orders", 2): {Start: offsets.None, Lag: offsets.None, Reason: "not allowed: DESCRIBE on topic orders is missing"},
	}
	if diff := cmp.Diff(want, groups[1].Shared); diff != "" {
		t.Errorf("starts (-want +got):\n%s", diff)
	}
	if g := groups[0]; g.Shared != nil || g.SharedReason != "not allowed: DESCRIBE on group secret is missing" {
		t.Errorf("without the right: %+v", g)
	}
	groups, _, err = c.Groups(within(t), []string{"sharing"}, map[string][]int32{"orders": {0}, "others": nil})
	must(t, err)
	if got := groups[0].Shared; len(got) != 1 || got[key("orders", 0)].Start != 7 {
		t.Errorf("of one partition: %+v", got)
	}
}
