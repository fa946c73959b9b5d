//go:build live

package live_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"gtoffset/kafkaops"
	"gtoffset/kafkaops/offsets"
	"gtoffset/scripts/live"
)

// Between the last look and the write is a moment in which anything may happen. What Kafka itself then refuses is told as such.
func TestWhatKafkaRefuses(t *testing.T) {
	write := func(s scene, changes ...offsets.Change) []offsets.Change {
		s.t.Helper()
		w := kafkaops.New(kafkaops.Config{Bootstrap: strings.Split(s.on.Bootstrap(), ",")})
		defer w.Close()
		return w.WriteCommits(s.t.Context(), s.group, changes, false)
	}
	change := func(s scene, partition int32, from, to int64, topicID string) offsets.Change {
		return offsets.Change{
			Key: offsets.Key{Topic: s.topic, Partition: partition}, Side: offsets.Committed, Verdict: offsets.Write,
			Old: offsets.Value{Offset: from, Epoch: offsets.None}, New: offsets.Value{Offset: to, Epoch: offsets.None}, TopicID: topicID,
		}
	}
	refused := func(s scene, c offsets.Change, why string) {
		s.t.Helper()
		if c.Result != offsets.Failed || !strings.Contains(c.Error, why) {
			s.t.Errorf("partition %d: got %s: %s, want failed: %s", c.Partition, c.Result, c.Error, why)
		}
	}
	for _, kind := range []live.Kind{live.Classic, live.Consumer} {
		t.Run("a live "+string(kind)+" group", func(t *testing.T) {
			s := stage(t, cluster, [2]int64{0, 50})
			member, err := cluster.Join(t.Context(), kind, s.group, s.topic, kgo.DisableAutoCommit())
			must(t, err)
			defer member.Leave()
			got := write(s, change(s, 0, offsets.None, 5, s.topicID()), change(s, 0, 5, offsets.None, s.topicID()))
			refused(s, got[0], "the group is active")
			same(t, "the removal after it", got[1].Result, offsets.NotTried)
			same(t, "committed", s.committed(), "")
		})
	}
	t.Run("a topic made anew", func(t *testing.T) {
		s := stage(t, cluster, [2]int64{0, 50})
		s.commit(5)
		id := s.topicID()
		must(t, cluster.Recreate(t.Context(), s.topic))
		s.forgets()
		refused(s, write(s, change(s, 0, offsets.None, 20, id))[0], "recreated")
		same(t, "committed", s.committed(), "")
	})
	t.Run("one of three partitions", func(t *testing.T) {
		onEach(t, func(t *testing.T, on *live.Cluster) {
			s := stage(t, on, [2]int64{0, 50}, [2]int64{0, 50})
			s.commit(5, 5)
			id := s.topicID()
			got := write(s, change(s, 0, 5, offsets.None, id), change(s, 1, 5, 44, id), change(s, 99, offsets.None, 1, id))
			same(t, "removed", got[0].Result, offsets.Written)
			same(t, "written", got[1].Result, offsets.Written)
			same(t, "of a partition that there is not", got[2].Result, offsets.Failed)
			same(t, "committed", s.committed(), "1=44")
			got = write(s, change(s, 0, offsets.None, 7, id), change(s, 1, 5, 45, id))
			same(t, "the removal after it", got[0].Result, offsets.NotTried)
			refused(s, got[1], "moved since the plan: was 5, is 44")
			same(t, "committed", s.committed(), "1=44")
		})
	})
}
