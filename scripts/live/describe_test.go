//go:build live

package live_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"gtoffset/scripts/live"
)

// A consumer jumps where the row of a stale leader epoch says, and goes on where it should once that is mended.
func TestStaleEpochRow(t *testing.T) {
	ctx := t.Context()
	s := stage(t, cluster, [2]int64{0, 20}, [2]int64{0, 20})
	ranges, err := cluster.Ranges(ctx, s.topic)
	must(t, err)
	old := map[int32]int32{}
	for p, r := range ranges {
		old[p] = r.Epoch
		must(t, cluster.MoveLeader(ctx, s.topic, p, r.Leader%3+1))
	}
	must(t, cluster.Produce(ctx, s.topic, 20))
	for _, protocol := range []string{"classic", "consumer"} {
		t.Run(protocol, func(t *testing.T) {
			one := s
			one.t, one.group, one.folder = t, name(t, "billing"), t.TempDir()
			commit := func() {
				t.Helper()
				must(t, cluster.Commit(ctx, one.group, one.topic, map[int32]live.Commit{0: {Offset: 35, Epoch: old[0], Metadata: "note"}, 1: {Offset: 18, Epoch: old[1]}}))
			}
			commit()
			r := one.run("describe", "-g", one.group, "--check").exits(10).
				prints(fmt.Sprintf("committed stale: a consumer jumps back to 20, where leader epoch %d ended", old[0]), "repeats up to 15")
			d := one.run("describe", "-g", one.group, "-o", "json").exits(0).describe()
			p0, p1 := d.row(t, 0).Committed, d.row(t, 1).Committed
			same(t, "stale, jumps to", fmt.Sprint(p0.Stale, number(p0.JumpsTo), p1.Stale, number(p1.JumpsTo)), "true20false"+"null")

			said, err := javaReads(t, one.topic, one.group, protocol, 42)
			must(t, err)
			same(t, "first offsets read with the stale epoch", firsts(t, said), "[0:20 1:18]")

			if protocol == "consumer" { // a commit from outside is refused while the consumer leaves
				must(t, live.Eventually(ctx, "the group is empty", func(ctx context.Context) (bool, error) {
					groups, err := cluster.Groups(ctx)
					return groups[one.group].State == "Empty", err
				}))
			}
			commit()
			_, hint, _ := strings.Cut(r.out, "leader epochs: ")
			line, _, _ := strings.Cut(hint, "\n")
			one.shell(line + " -b " + cluster.Bootstrap() + " --execute --wait-empty 60s").exits(0).prints("with a clean leader epoch")
			one.run("describe", "-g", one.group, "--check").exits(0)
			said, err = javaReads(t, one.topic, one.group, protocol, 27)
			must(t, err)
			same(t, "first offsets read after the mend", firsts(t, said), "[0:35 1:18]")
		})
	}
}

// What we show of groups of every kind, with their members alive, is what Kafka's own tools and kcat read of the same cluster.
func TestNumbersAgree(t *testing.T) {
	ctx := t.Context()
	for _, kind := range []live.Kind{live.Classic, live.Consumer, "simple"} {
		t.Run(string(kind), func(t *testing.T) {
			s := stage(t, cluster, [2]int64{20, 50}, [2]int64{0, 70}, [2]int64{0, 0})
			if kind == "simple" {
				s.commit(25, 10)
			} else {
				member, err := cluster.Join(ctx, kind, s.group, s.topic, kgo.AutoCommitInterval(100*time.Millisecond), kgo.ClientID("billing-one"))
				must(t, err)
				defer member.Leave()
				must(t, live.Eventually(ctx, "all is committed", func(ctx context.Context) (bool, error) {
					all, err := cluster.Committed(ctx, s.group)
					return all[s.topic][0].Offset == 50 && all[s.topic][1].Offset == 70, err
				}))
			}
			ends := map[int]int64{}
			for p := range 3 {
				said, err := cluster.Kcat(ctx, "-Q", "-t", fmt.Sprintf("%s:%d:-1", s.topic, p))
				must(t, err)
				f := strings.Fields(said) // topic [0] offset 50
				ends[p], err = strconv.ParseInt(f[len(f)-1], 10, 64)
				must(t, err)
			}
			said, err := cluster.Tool(ctx, live.ConsumerGroups, "--bootstrap-server", cluster.Bootstrap(), "--describe", "--group", s.group)
			must(t, err)
			theirs := javaRows(t, said)
			d := s.run("describe", "-g", s.group, "-t", s.topic, "-o", "json").exits(0).describe()
			for _, r := range d.Groups[0].Partitions {
				same(t, fmt.Sprintf("end of %d, as kcat has it", r.Partition), *r.End, ends[int(r.Partition)])
				there, listed := theirs[r.Partition]
				if !listed {
					same(t, fmt.Sprintf("partition %d, which Java does not list: committed", r.Partition), number(r.Committed.Offset), "null")
					continue
				}
				dash := func(n *int64) string { return strings.Replace(number(n), "null", "-", 1) }
				ours := []string{dash(r.Committed.Offset), dash(r.End), dash(r.Committed.Lag)}
				same(t, fmt.Sprintf("partition %d: committed, end, lag", r.Partition), strings.Join(ours, " "), strings.Join(there[:3], " "))
			}
			same(t, "type", d.Groups[0].Type, string(kind))
			if kind == "simple" {
				return
			}
			said, err = cluster.Tool(ctx, live.ConsumerGroups, "--bootstrap-server", cluster.Bootstrap(), "--describe", "--members", "--group", s.group)
			must(t, err)
			m := d.Groups[0].Members[0]
			for _, want := range []string{m.ID, "billing-one", m.Host} {
				if !strings.Contains(said, want) {
					t.Errorf("Java's members lack %q:\n%s", want, said)
				}
			}
			s.run("describe", "-g", s.group, "--members").exits(0).prints("billing-one", strings.TrimPrefix(m.Host, "/"), s.topic+":0-2")
			said, err = cluster.Tool(ctx, live.ConsumerGroups, "--bootstrap-server", cluster.Bootstrap(), "--describe", "--state", "--group", s.group)
			must(t, err)
			state := s.run("describe", "-g", s.group, "--state", "-o", "csv").exits(0)
			f := strings.Split(strings.Split(state.out, "\n")[1], ",") // group,type,state,members,coordinator,address,assignor,…
			for _, want := range []string{f[2], f[5] + " ", "(" + f[4] + ")", f[6]} {
				if !strings.Contains(strings.Join(strings.Fields(said), " ")+" ", want) {
					t.Errorf("Java's state lacks %q:\n%s", want, said)
				}
			}
		})
	}
}

// javaRows is what kafka-consumer-groups shows of each partition: committed, end, lag.
func javaRows(t *testing.T, said string) map[int32][]string {
	t.Helper()
	rows := map[int32][]string{}
	for line := range strings.Lines(said) {
		f := strings.Fields(line)
		if len(f) < 6 || f[0] == "GROUP" {
			continue
		}
		p, err := strconv.ParseInt(f[2], 10, 32)
		if err != nil {
			continue // a warning
		}
		rows[int32(p)] = f[3:]
	}
	if len(rows) == 0 {
		t.Fatalf("no rows in\n%s", said)
	}
	return rows
}

// A record is there at least as long as EXPIRES-IN says: seen gone only after that, for timestamps of the producer and of the broker.
func TestNeverGoneBeforeExpiresIn(t *testing.T) {
	ctx := t.Context()
	for _, stamp := range []string{"CreateTime", "LogAppendTime"} {
		t.Run(stamp, func(t *testing.T) {
			topic, group := name(t, "short"), name(t, "billing")
			must(t, cluster.CreateTopic(ctx, topic, 3, "retention.ms=4000", "message.timestamp.type="+stamp))
			must(t, cluster.Produce(ctx, topic, 20))
			must(t, cluster.Commit(ctx, group, topic, map[int32]live.Commit{0: live.At(0), 1: live.At(5), 2: live.At(19)}))
			d := program{On: cluster}.run(t, "describe", "-g", group, "--time", "-o", "json").exits(0).describe()
			expires := map[int32]time.Time{}
			for _, r := range d.Groups[0].Partitions {
				if r.Timing == nil || r.Timing.ExpiresAt == nil {
					t.Fatalf("partition %d: no time in %+v", r.Partition, r)
				}
				same(t, "timestamp type", r.Timing.TimestampType, map[string]string{"CreateTime": "create", "LogAppendTime": "append"}[stamp])
				expires[r.Partition] = *r.Timing.ExpiresAt
			}
			must(t, live.Eventually(ctx, "all records have gone", func(ctx context.Context) (bool, error) {
				ranges, err := cluster.Ranges(ctx, topic)
				seen := time.Now()
				for _, p := range slices.Collect(maps.Keys(expires)) {
					if at := expires[p]; err == nil && ranges[p].Earliest > 0 {
						if seen.Before(at) {
							t.Errorf("partition %d was gone at %v, which was to be there until %v", p, seen, at)
						}
						delete(expires, p)
					}
				}
				return len(expires) == 0, err
			}))
		})
	}
}

// A share group's start and lag are those that Kafka's tool for share groups shows, with its member alive.
func TestShareNumbersAgree(t *testing.T) {
	ctx := t.Context()
	s := stage(t, cluster, [2]int64{0, 30}, [2]int64{0, 30})
	member, err := cluster.Join(ctx, live.Share, s.group, s.topic)
	must(t, err)
	defer member.Leave()
	must(t, live.Eventually(ctx, "the group has begun, and settled what came after", func(ctx context.Context) (bool, error) {
		if err := cluster.Produce(ctx, s.topic, 10); err != nil { // it begins at the end
			return false, err
		}
		said := s.run("describe", "-g", s.group, "-o", "json")
		if said.code != 0 { // a busy machine may be slow to answer
			return false, fmt.Errorf("%v", said)
		}
		d := said.describe()
		for _, r := range d.Groups[0].Partitions {
			if r.Share == nil || r.Share.Start == nil || *r.Share.Start <= 30 {
				return false, fmt.Errorf("partition %d: %+v", r.Partition, r.Share)
			}
		}
		return len(d.Groups[0].Partitions) == 2, nil
	}))
	must(t, live.Eventually(ctx, "both tools see the same", func(ctx context.Context) (bool, error) {
		said, err := cluster.Tool(ctx, "org.apache.kafka.tools.consumer.group.ShareGroupCommand", "--bootstrap-server", cluster.Bootstrap(), "--describe", "--group", s.group)
		if err != nil {
			return false, err
		}
		seen := s.run("describe", "-g", s.group, "-o", "json")
		if seen.code != 0 {
			return false, fmt.Errorf("%v", seen)
		}
		d := seen.describe()
		theirs := map[int32][]string{} // GROUP TOPIC PARTITION START-OFFSET LAG
		for line := range strings.Lines(said) {
			if f := strings.Fields(line); len(f) == 5 && f[0] == s.group {
				p, err := strconv.ParseInt(f[2], 10, 32)
				must(t, err)
				theirs[int32(p)] = f[3:]
			}
		}
		for _, r := range d.Groups[0].Partitions {
			if ours, there := fmt.Sprint(number(r.Share.Start), " ", number(r.Share.Lag)), strings.Join(theirs[r.Partition], " "); ours != there {
				return false, fmt.Errorf("partition %d: start and lag are %s, and %s in\n%s", r.Partition, ours, there, said)
			}
		}
		return len(theirs) == 2, nil
	}))
	s.run("describe", "-g", s.group).exits(0).prints("share group, Stable, 1 member", "START")
	s.run("describe", "-g", s.group, "--members").exits(0).prints(s.topic + ":0-1")
}
