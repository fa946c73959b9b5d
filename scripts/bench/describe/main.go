// Command describe measures gtoffset describe on a real three-broker Kafka: one group of 12 partitions and one of 1,000, against a
// minimal program that sends the same requests over bare TCP, against Kafka's own tool, and again through a wire that takes 10 ms
// each way. It prints Markdown and fails when a bound is missed.
//
//	go run ./scripts/bench/describe
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"gtoffset/scripts/bench"
	"gtoffset/scripts/live"
)

const (
	rounds     = 20
	javaRounds = 5
	each       = 10 * time.Millisecond // the wire's delay, one way
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
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
	paths, err := bench.Build(ctx, dir, "gtoffset", "gtoffset/scripts/bench/minimal", "gtoffset/scripts/bench/empty")
	if err != nil {
		return err
	}
	program, minimal, empty := paths[0], paths[1], paths[2]

	c, err := live.Kafka(ctx, live.Current, 3, live.Delayed(each))
	if err != nil {
		return err
	}
	defer c.Stop()
	subjects := []subject{{"small", 1, 12}, {"large", 4, 250}}
	for _, s := range subjects {
		if err := fill(ctx, c, s); err != nil {
			return err
		}
	}

	held := true
	for _, s := range subjects {
		total := s.topics * s.partitions
		near, far := first(c.Bootstrap()), first(c.RemoteBootstrap())
		describe := bench.Command{Name: "gtoffset describe", Args: []string{program, "describe", "-b", near, "-g", s.group}}
		bare := bench.Command{Name: "minimal", Args: []string{minimal, near, s.group}}
		version := bench.Command{Name: "gtoffset version", Args: []string{program, "version"}}
		nothing := bench.Command{Name: "empty", Args: []string{empty}}
		tool := c.ToolCommand(live.ConsumerGroups, "--bootstrap-server", near, "--describe", "--group", s.group)
		java := bench.Command{Name: "kafka-consumer-groups (Java)", Args: tool.Args}
		for _, command := range []bench.Command{describe, bare, java} {
			if err := complete(ctx, command, total); err != nil {
				return err
			}
		}

		order := []bench.Command{describe, bare, version, nothing}
		times, err := bench.Interleave(ctx, rounds, order...)
		if err != nil {
			return err
		}
		slow, err := bench.Interleave(ctx, javaRounds, java, describe)
		if err != nil {
			return err
		}
		times[java.Name] = slow[java.Name]
		lower := func(of bench.Command) time.Duration { return times[of.Name].Lower() }
		claims := []bench.Claim{{
			What: "lower quartile of Java's tool ÷ describe", Bound: 30, AtLeast: true,
			Got: bench.Ratio(lower(java), slow[describe.Name].Lower()),
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
		held = bench.Report(fmt.Sprintf("one group of %d partitions, loopback", total), append(order, java), times, claims...) && held

		describe.Args = []string{program, "describe", "-b", far, "-g", s.group}
		bare.Args = []string{minimal, far, s.group}
		order = []bench.Command{describe, bare}
		if times, err = bench.Interleave(ctx, rounds, order...); err != nil {
			return err
		}
		held = bench.Report(fmt.Sprintf("one group of %d partitions, through %v each way", total, each), order, times, bench.Claim{
			What: "lower quartile of describe ÷ minimal", Bound: 1.25,
			Got: bench.Ratio(lower(describe), lower(bare)),
		}) && held
	}
	if !held {
		return errors.New("a bound was missed")
	}
	return nil
}

// fill makes the group's topics, with records and a commit in each partition.
func fill(ctx context.Context, c *live.Cluster, s subject) error {
	for i := range s.topics {
		topic := fmt.Sprintf("%s-%d", s.group, i)
		if err := c.CreateTopic(ctx, topic, s.partitions); err != nil {
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
