// Command describe measures gtoffset describe on a real three-broker Kafka. One group of 12, 1,000 and 10,000 partitions is held
// against a minimal program that sends the same requests over bare TCP, against a small program on franz-go's kadm, against Kafka's
// own tool, and again through a wire that takes 10 ms each way; 20 and 200 groups of 50 partitions against kadm and Kafka's tool. It
// prints Markdown and fails when a bound is missed. With -write it keeps ratios and memory in docs/bench.json, and in the README.
//
//	go run ./scripts/bench/describe [-rounds 20] [-java 5] [-largest 10000] [-write]
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"gtoffset/scripts/bench"
	"gtoffset/scripts/live"
)

// each is the wire's delay, one way.
const each = 10 * time.Millisecond

var (
	rounds     = flag.Int("rounds", 20, "how often each program runs")
	javaRounds = flag.Int("java", 5, "how often Kafka's own tool runs")
	largest    = flag.Int("largest", 10_000, "leave out groups of more partitions")
	write      = flag.Bool("write", false, "keep the figures in "+dataFile+" and "+pageFile)
)

func main() {
	flag.Parse()
	bench.Main(run)
}

// A subject is one group that is described.
type subject struct {
	group      string
	topics     int
	partitions int // of each topic
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "gtoffset-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	paths, err := bench.Build(ctx, dir, "gtoffset", "gtoffset/scripts/bench/minimal", "gtoffset/scripts/bench/kadm", "gtoffset/scripts/bench/empty")
	if err != nil {
		return err
	}
	c, err := live.Kafka(ctx, live.Current, 3, live.Delayed(each))
	if err != nil {
		return err
	}
	defer c.Stop()
	r := &runner{c, paths[0], paths[1], paths[2], paths[3], newResults(live.Current)}

	held := true
	for _, s := range []subject{{"small", 1, 12}, {"large", 4, 250}, {"huge", 10, 1000}} {
		if s.topics*s.partitions > *largest {
			continue
		}
		ok, err := r.oneGroup(ctx, s)
		if err != nil {
			return err
		}
		held = held && ok
	}
	for _, n := range []int{20, 200} {
		ok, err := r.groups(ctx, n)
		if err != nil {
			return err
		}
		held = held && ok
	}
	if *write {
		if err := r.found.write(); err != nil {
			return err
		}
	}
	if !held {
		return errors.New("a bound was missed")
	}
	return nil
}

// runner has the programs, and the cluster that they are run on.
type runner struct {
	*live.Cluster
	program, minimal, kadm, empty string
	found                         results
}

// measure makes what is kept of a subject, with the memory that each program takes for it.
func measure(ctx context.Context, groups, partitions int, times, slow map[string]bench.Times, describe, kadm, tool bench.Command) (measured, error) {
	m := measured{Groups: groups, Partitions: partitions, Near: compare(times, slow, describe, kadm, tool)}
	for _, of := range []struct {
		command bench.Command
		into    *float64
	}{{describe, &m.Memory.Describe}, {kadm, &m.Memory.Kadm}, {tool, &m.Memory.Tool}} {
		var err error
		if *of.into, err = bench.Resident(ctx, of.command); err != nil {
			return m, err
		}
	}
	return m, nil
}

// compare holds the others' medians against that of describe, each of the turns that they took together.
func compare(times, slow map[string]bench.Times, describe, kadm, tool bench.Command) beside {
	return beside{
		Kadm: bench.Ratio(times[kadm.Name].Median(), times[describe.Name].Median()),
		Tool: bench.Ratio(slow[tool.Name].Median(), slow[describe.Name].Median()),
	}
}

// oneGroup measures one group.
func (r *runner) oneGroup(ctx context.Context, s subject) (held bool, err error) {
	if err := fill(ctx, r.Cluster, s); err != nil {
		return false, err
	}
	total := s.topics * s.partitions
	near, far := first(r.Bootstrap()), first(r.RemoteBootstrap())
	describe := bench.Command{Name: "gtoffset describe", Args: []string{r.program, "describe", "-b", near, "-g", s.group}}
	bare := bench.Command{Name: "minimal", Args: []string{r.minimal, near, s.group}}
	kadm := bench.Command{Name: "kadm", Args: []string{r.kadm, near, s.group}}
	version := bench.Command{Name: "gtoffset version", Args: []string{r.program, "version"}}
	nothing := bench.Command{Name: "empty", Args: []string{r.empty}}
	tool := r.ToolCommand(live.ConsumerGroups, "--bootstrap-server", near, "--describe", "--group", s.group)
	java := bench.Command{Name: "kafka-consumer-groups (Java)", Args: tool.Args}
	for _, command := range []bench.Command{describe, bare, kadm, java} {
		if err := complete(ctx, command, total); err != nil {
			return false, err
		}
	}

	order := []bench.Command{describe, bare, kadm, version, nothing}
	times, slow, err := interleave(ctx, java, order...)
	if err != nil {
		return false, err
	}
	lower := func(of bench.Command) time.Duration { return times[of.Name].Lower() }
	faster := 30.0
	if total > 1000 { // brokers take most of the time, for the minimal program, too
		faster = 15
	}
	claims := []bench.Claim{{
		What: "lower quartile of Java's tool ÷ describe", Bound: faster, AtLeast: true,
		Got: bench.Ratio(lower(java), slow[describe.Name].Lower()),
	}, {
		What: "median of describe ÷ kadm", Bound: 0.8,
		Got: bench.Ratio(times[describe.Name].Median(), times[kadm.Name].Median()),
	}}
	if total >= 1000 {
		claims = append(claims, bench.Claim{
			What: "lower quartile of describe ÷ minimal", Bound: 1.4,
			Got: bench.Ratio(lower(describe), lower(bare)),
		})
	} else {
		claims = append(claims, bench.Claim{
			What: "lower quartile of (describe − version) ÷ (minimal − empty)", Bound: 1.4,
			Got: bench.Ratio(lower(describe)-lower(version), lower(bare)-lower(nothing)),
		})
	}
	held = bench.Report(fmt.Sprintf("one group of %d partitions, loopback", total), append(order, java), times, claims...)
	m, err := measure(ctx, 1, total, times, slow, describe, kadm, java)
	if err != nil {
		return false, err
	}

	describe.Args = []string{r.program, "describe", "-b", far, "-g", s.group}
	bare.Args = []string{r.minimal, far, s.group}
	kadm.Args = []string{r.kadm, far, s.group}
	java.Args = r.ToolCommand(live.ConsumerGroups, "--bootstrap-server", far, "--describe", "--group", s.group).Args
	order = []bench.Command{describe, bare, kadm}
	if times, err = bench.Interleave(ctx, *rounds, order...); err != nil {
		return false, err
	}
	if slow, err = bench.Interleave(ctx, *javaRounds, java, describe); err != nil {
		return false, err
	}
	m.Far = compare(times, slow, describe, kadm, java)
	r.found.Measured = append(r.found.Measured, m)
	return bench.Report(fmt.Sprintf("one group of %d partitions, through %v each way", total, each), order, times, bench.Claim{
		What: "lower quartile of describe ÷ minimal", Bound: 1.25,
		Got: bench.Ratio(lower(describe), lower(bare)),
	}) && held, nil
}

// Many groups read one topic.
const (
	manyPartitions = 50
	mostRequests   = 32
	mostMemory     = 100 << 20
)

// groups measures n groups at once.
func (r *runner) groups(ctx context.Context, n int) (held bool, err error) {
	topic := fmt.Sprintf("many-%d", n)
	if err := r.CreateTopic(ctx, topic, manyPartitions); err != nil {
		return false, err
	}
	if err := r.Produce(ctx, topic, 20); err != nil {
		return false, err
	}
	near := first(r.Bootstrap())
	describe := bench.Command{Name: "gtoffset describe", Args: []string{r.program, "describe", "-b", near}}
	kadm := bench.Command{Name: "kadm", Args: []string{r.kadm, near}}
	args := []string{"--bootstrap-server", near, "--describe"}
	for i := range n {
		group := fmt.Sprintf("%s-%03d", topic, i)
		places := map[int32]live.Commit{}
		for p := range int32(manyPartitions) {
			places[p] = live.At(int64(i) % 21)
		}
		if err := r.Commit(ctx, group, topic, places); err != nil {
			return false, err
		}
		describe.Args, kadm.Args, args = append(describe.Args, "-g", group), append(kadm.Args, group), append(args, "--group", group)
	}
	java := bench.Command{Name: "kafka-consumer-groups (Java)", Args: r.ToolCommand(live.ConsumerGroups, args...).Args}
	for _, command := range []bench.Command{describe, kadm, java} {
		if err := complete(ctx, command, n*manyPartitions); err != nil {
			return false, err
		}
	}
	times, slow, err := interleave(ctx, java, describe, kadm)
	if err != nil {
		return false, err
	}
	requests, memory, err := cost(ctx, describe)
	if err != nil {
		return false, err
	}
	m, err := measure(ctx, n, manyPartitions, times, slow, describe, kadm, java)
	if err != nil {
		return false, err
	}
	r.found.Measured = append(r.found.Measured, m)
	return bench.Report(fmt.Sprintf("%d groups of %d partitions, loopback", n, manyPartitions), []bench.Command{describe, kadm, java}, times, bench.Claim{
		What: "median of describe ÷ kadm", Bound: 0.8,
		Got: bench.Ratio(times[describe.Name].Median(), times[kadm.Name].Median()),
	}, bench.Claim{
		What: "median of Java's tool ÷ describe", Bound: 40, AtLeast: true,
		Got: bench.Ratio(times[java.Name].Median(), slow[describe.Name].Median()),
	}, bench.Claim{What: "requests", Bound: mostRequests, Got: float64(requests)}, bench.Claim{What: "memory, MiB", Bound: mostMemory >> 20, Got: float64(memory) / (1 << 20)}), nil
}

// interleave times the commands by turns, and Kafka's own tool, fewer times, with the first of them alone. times has all of them.
func interleave(ctx context.Context, java bench.Command, all ...bench.Command) (times, slow map[string]bench.Times, err error) {
	if times, err = bench.Interleave(ctx, *rounds, all...); err != nil {
		return nil, nil, err
	}
	if slow, err = bench.Interleave(ctx, *javaRounds, java, all[0]); err != nil {
		return nil, nil, err
	}
	times[java.Name] = slow[java.Name]
	return times, slow, nil
}

// cost counts a run's requests, which -v lists, and measures the memory that it took at most.
func cost(ctx context.Context, command bench.Command) (requests int, memory int64, err error) {
	var talk bytes.Buffer
	cmd := exec.CommandContext(ctx, command.Args[0], append(slices.Clone(command.Args[1:]), "-v")...)
	cmd.Stderr = &talk
	if err := cmd.Run(); err != nil {
		return 0, 0, fmt.Errorf("%s -v: %w", command.Name, err)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, 0, errors.New("this system does not tell how much memory a process took")
	}
	return strings.Count(talk.String(), " msg=request "), usage.Maxrss << 10, nil
}

// fill makes the group's topics, with records and a commit in each partition.
func fill(ctx context.Context, c *live.Cluster, s subject) error {
	for i := range s.topics {
		topic := fmt.Sprintf("%s-%d", s.group, i)
		if err := c.CreateThinTopic(ctx, topic, s.partitions); err != nil {
			return err
		}
		if err := c.Produce(ctx, topic, 20); err != nil {
			return err
		}
		places := map[int32]live.Commit{}
		for p := range s.partitions {
			places[int32(p)] = live.At(int64(p % 21))
		}
		if err := c.Commit(ctx, s.group, topic, places); err != nil {
			return err
		}
	}
	return nil
}

// complete makes sure that the command shows every partition: who shows less is not faster.
func complete(ctx context.Context, command bench.Command, partitions int) error {
	said, err := command.Output(ctx)
	if err != nil {
		return err
	}
	if lines := strings.Count(said, "\n"); lines < partitions {
		return fmt.Errorf("%s printed %d lines for %d partitions:\n%s", command.Name, lines, partitions, said)
	}
	return nil
}

func first(list string) string {
	one, _, _ := strings.Cut(list, ",")
	return one
}
