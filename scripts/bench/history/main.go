// Command history measures gtoffset history on 100 MB of commits against gtoffset replay on the same bytes, and how much memory it takes
// for them beside a quarter of them. They take turns. It prints Markdown and fails when a bound is missed.
//
//	go run ./scripts/bench/history [-rounds 5]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"gtoffset/kafkaops"
	"gtoffset/kafkaops/wire"
	"gtoffset/scripts/bench"
	"gtoffset/scripts/live"
)

const (
	group      = "billing"
	topic      = "orders"
	partitions = 500
	record     = 81 // bytes of a commit with names of such a length
	quarter    = 25_000_000
)

func main() {
	rounds := flag.Int("rounds", 5, "how often everything is run")
	flag.Parse()
	bench.Main(func(ctx context.Context) error { return run(ctx, *rounds) })
}

func run(ctx context.Context, rounds int) error {
	dir, err := os.MkdirTemp("", "gtoffset-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	paths, err := bench.Build(ctx, dir, "gtoffset")
	if err != nil {
		return err
	}
	c, err := live.Kafka(ctx, live.Current, 1, live.Properties("offsets.topic.num.partitions=1", "offsets.topic.segment.bytes=1073741824"))
	if err != nil {
		return err
	}
	defer c.Stop()
	if err := c.CreateTopic(ctx, topic, partitions); err != nil {
		return err
	}
	if _, err := c.Coordinator(ctx, group); err != nil { // makes the topic of the commits
		return err
	}
	history := bench.Command{Name: "gtoffset history", Args: []string{paths[0], "history", "-q", "-b", c.Bootstrap(), "-g", group}}
	replay := bench.Command{Name: "gtoffset replay", Args: []string{
		paths[0], "replay", "-q", "-b", c.Bootstrap(), "-g", group, "-t", wire.OffsetsTopic, "--from", "earliest", "--isolation", "read_uncommitted", "-o", "raw",
	}}
	var memory [2]float64
	for i, size := range []int{quarter, 4 * quarter} {
		if err := fill(ctx, c, size); err != nil {
			return err
		}
		if memory[i], err = bench.Resident(ctx, history); err != nil {
			return err
		}
	}
	times, err := bench.Interleave(ctx, rounds, history, replay)
	if err != nil {
		return err
	}
	if !bench.Report(fmt.Sprintf("%d MB of commits", 4*quarter/1_000_000), []bench.Command{history, replay}, times,
		bench.Claim{What: "history ÷ replay", Got: bench.Ratio(times[history.Name].Lower(), times[replay.Name].Lower()), Bound: 1.5},
		bench.Claim{What: "resident memory of all ÷ of a quarter", Got: memory[1] / memory[0], Bound: 1.25},
		bench.Claim{What: "resident MB of all", Got: memory[1], Bound: 150},
	) {
		return errors.New("a bound was missed")
	}
	return nil
}

// fill commits until the log of commits has a size.
func fill(ctx context.Context, c *live.Cluster, size int) error {
	k := kafkaops.New(kafkaops.Config{Bootstrap: []string{c.Bootstrap()}})
	defer k.Close()
	log, err := k.Past(ctx, group)
	if err != nil {
		return err
	}
	for at := log.End; at < int64(size/record); at += partitions {
		if err := commit(ctx, c, at); err != nil {
			return err
		}
	}
	return nil
}

// commit commits an offset for all partitions in one request.
func commit(ctx context.Context, c *live.Cluster, offset int64) error {
	places := make(map[int32]live.Commit, partitions)
	for p := range int32(partitions) {
		places[p] = live.At(offset)
	}
	return c.Commit(ctx, group, topic, places)
}
