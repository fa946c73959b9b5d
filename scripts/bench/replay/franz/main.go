// Command franz is a small consumer on franz-go, to be measured against: it prints the values of a topic, a line each, and ends after
// as many records as it is told.
//
//	franz BOOTSTRAP TOPIC RECORDS
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "franz:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: franz BOOTSTRAP TOPIC RECORDS")
	}
	left, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	c, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(args[0], ",")...), kgo.ConsumeTopics(args[1]), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableClientMetrics())
	if err != nil {
		return err
	}
	defer c.Close()
	out := bufio.NewWriterSize(os.Stdout, 256<<10)
	for left > 0 {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			_, _ = out.Write(r.Value) // Flush returns the error
			_ = out.WriteByte('\n')
			left--
		})
	}
	return out.Flush()
}
