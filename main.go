// Gtoffset inspects and repairs Kafka consumer-group offsets.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"gtoffset/cmd"
)

func main() {
	os.Exit(cmd.Main(context.Background(), cmd.System(interrupts), os.Args[1:]))
}

// interrupts makes the two contexts of a command that does something: the first interrupt ends soft, the second also hard, on
// which a write under way runs. It is called late, since listening for signals costs as much as all of --help.
func interrupts(ctx context.Context) (soft, hard context.Context) {
	debug.SetGCPercent(400)         // a look at a thousand partitions fits in less than one collection's worth
	debug.SetMemoryLimit(128 << 20) // a hundred thousand are collected more often instead
	hard, stop := context.WithCancel(ctx)
	soft, cancel := context.WithCancel(hard)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT) // Go ends the last with 2, which is usage
	hangUps := make(chan os.Signal, 1)                                     // a terminal that goes may send several
	if !signal.Ignored(syscall.SIGHUP) {                                   // as it is by nohup
		signal.Notify(hangUps, syscall.SIGHUP)
	}
	go func() {
		select {
		case <-signals:
		case <-hangUps:
		}
		cancel()
		<-signals
		stop()
	}()
	return soft, hard
}
