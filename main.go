// Gtoffset inspects and repairs Kafka consumer-group offsets.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"gtoffset/cmd"
)

func main() { os.Exit(run()) }

// run makes the two contexts: the first interrupt ends the work that may stop at once, the second also a write under way.
func run() int {
	hard, stop := context.WithCancel(context.Background())
	defer stop()
	soft, cancel := context.WithCancel(hard)
	defer cancel()
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupts
		cancel()
		<-interrupts
		stop()
	}()
	return cmd.Main(soft, cmd.System(hard), os.Args[1:])
}
