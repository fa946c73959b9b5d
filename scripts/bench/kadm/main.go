// Command kadm is the other thing that gtoffset describe is measured against: what a Go programmer would write first, the lag of some
// groups by franz-go's admin client, in lines.
//
//	kadm ADDRESS GROUP...
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	if err := run(os.Args[1], os.Args[2:]...); err != nil {
		fmt.Fprintln(os.Stderr, "kadm:", err)
		os.Exit(1)
	}
}

func run(addr string, groups ...string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.DisableClientMetrics())
	if err != nil {
		return err
	}
	defer client.Close()
	lags, err := kadm.NewClient(client).Lag(context.Background(), groups...)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	for _, group := range lags.Sorted() {
		if err := group.Error(); err != nil {
			return err
		}
		for _, l := range group.Lag.Sorted() {
			if l.Err != nil {
				return l.Err
			}
			fmt.Fprintln(out, group.Group, l.Topic, l.Partition, l.Start.Offset, l.Commit.At, l.End.Offset, l.Lag)
		}
	}
	return out.Flush()
}
