//go:build live

package live_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"gtoffset/scripts/live"
)

// A commit that clamp has placed on a partition whose leader has changed is where consumers go on. One with the leader epoch of
// before the change would send them back to where it happened, which the last case shows to be seen here.
func TestNoRewind(t *testing.T) {
	ctx := t.Context()
	s := stage(t, cluster, [2]int64{0, 20}, [2]int64{0, 20}, [2]int64{0, 20})
	ranges, err := cluster.Ranges(ctx, s.topic)
	must(t, err)
	for p, r := range ranges {
		must(t, cluster.MoveLeader(ctx, s.topic, p, r.Leader%3+1))
	}
	must(t, cluster.Produce(ctx, s.topic, 20))
	must(t, cluster.DeleteRecords(ctx, s.topic, 0, 25))
	ranges, err = cluster.Ranges(ctx, s.topic)
	must(t, err)
	for p, r := range ranges {
		if r.Epoch < 1 || r.End != 40 {
			t.Fatalf("partition %d: want a leader epoch above 0 and 40 records, got %+v", p, r)
		}
	}

	consumers := []struct {
		name string
		// read returns the lines "partition offset" of the first n records that the group is given.
		read func(group string, n int) (string, error)
	}{
		{"java, classic", func(group string, n int) (string, error) { return javaReads(t, s.topic, group, "classic", n) }},
		{"java, KIP-848", func(group string, n int) (string, error) { return javaReads(t, s.topic, group, "consumer", n) }},
		{"kcat", func(group string, n int) (string, error) {
			return cluster.Kcat(ctx, "-q", "-G", group, "-c", fmt.Sprint(n), "-f", `%p %o\n`, s.topic)
		}},
	}
	clamp := []string{"clamp", "-s", s.folder, "-t", s.topic, "--committed", "--missing", "other", "--high", "end", "--execute"}
	var scenes []scene
	for i := range consumers {
		one := s
		one.group = name(t, fmt.Sprint("billing", i))
		one.commit(10, none, 60) // low, lost, high
		one.save(none, 35)       // the store still has the lost one
		clamp = append(clamp, "-g", one.group)
		scenes = append(scenes, one)
	}
	s.run(clamp...).exits(0).prints("9 of 9 verified")
	must(t, cluster.Produce(ctx, s.topic, 5, 2)) // else nothing is read at the end
	for i, c := range consumers {
		one := scenes[i]
		t.Run(c.name, func(t *testing.T) {
			same(t, "committed", one.committed(), "0=25 1=35 2=40")
			said, err := c.read(one.group, 25) // 15 and 5 and 5
			must(t, err)
			same(t, "first offsets read", firsts(t, said), "[0:25 1:35 2:40]")
		})
	}
	t.Run("a stale epoch is seen", func(t *testing.T) {
		group := name(t, "billing")
		must(t, cluster.Commit(ctx, group, s.topic, map[int32]live.Commit{0: live.At(40), 1: {Offset: 35, Epoch: 0}, 2: live.At(45)}))
		said, err := javaReads(t, s.topic, group, "classic", 20)
		must(t, err)
		same(t, "first offsets read", firsts(t, said), "[1:20]")
	})
}

// javaReads is what Kafka's own consumer of a group reads first, as lines "partition offset".
func javaReads(t *testing.T, topic, group, protocol string, n int) (string, error) {
	t.Helper()
	said, err := cluster.Tool(t.Context(), live.ConsoleConsumer, "--bootstrap-server", cluster.Bootstrap(), "--topic", topic, "--group", group,
		"--max-messages", fmt.Sprint(n), "--timeout-ms", "60000", "--command-property", "group.protocol="+protocol,
		"--formatter-property", "print.partition=true", "--formatter-property", "print.offset=true", "--formatter-property", "print.value=false")
	said = strings.NewReplacer("Partition:", "", "Offset:", "", "\t", " ").Replace(said)
	return said, err
}

// firsts is the first offset of each partition in lines "partition offset".
func firsts(t *testing.T, said string) string {
	t.Helper()
	first := map[int]int{}
	for line := range strings.Lines(said) {
		f := strings.Fields(line)
		if len(f) != 2 {
			t.Fatalf("got %q in\n%s", line, said)
		}
		partition, err := strconv.Atoi(f[0])
		must(t, err)
		offset, err := strconv.Atoi(f[1])
		must(t, err)
		if _, again := first[partition]; !again {
			first[partition] = offset
		}
	}
	return strings.TrimPrefix(fmt.Sprint(first), "map")
}
