// Package live starts real Apache Kafka on this machine, for tests, benchmarks and experiments: the jars come from Maven, the
// brokers are KRaft nodes on loopback, and everything ends, folders included, with the context that started it.
//
// Use it where an in-process broker would prove nothing: leader epochs, group types, topic ids, dead and frozen brokers.
//
//	c, err := live.Kafka(ctx, live.Current, 3)
//	…
//	defer c.Stop()
//	err = c.CreateTopic(ctx, "orders", 12)
//
// The tests in this folder carry the build tag live. They need java and mvn; kcat where they say so.
package live

import (
	"context"
	"fmt"
	"time"
)

// The releases that are tested.
const (
	Current  = "4.4.0" // the one whose answers the program is made for
	Previous = "3.9.2" // the last before 4.0: fewer versions of each request, no share groups
)

// patience bounds every wait for something that Kafka does by itself. A start takes seconds on an idle machine; beside other
// work it has been seen to take twelve.
const patience = 60 * time.Second

// Eventually asks until the answer is yes, and fails after a minute, naming what it waited for and the last error.
func Eventually(ctx context.Context, what string, ask func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var last error
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		ok, err := ask(ctx)
		if err == nil && ok {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			if last != nil {
				return fmt.Errorf("wait until %s: %w; last answer: %w", what, ctx.Err(), last)
			}
			return fmt.Errorf("wait until %s: %w", what, ctx.Err())
		case <-time.After(pause):
		}
	}
}
