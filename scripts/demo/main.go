// Demo shows gtoffset at work on a machine that has nothing but Go. It starts a Kafka cluster inside its own process, lets a
// consumer group break in every way that a clamp mends, and runs the real program on it, step by step:
//
//	go run ./scripts/demo
//
// It ends by itself, leaves nothing behind, and fails when a step does not end with the exit code that it should. With
// -transcript it prints the steps that the README shows, with everything replaced that differs from run to run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"gtoffset/output"
)

func main() { os.Exit(run()) }

func run() int {
	transcript := flag.Bool("transcript", false, "print the README's transcript")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "demo: unknown argument %q\n", flag.Arg(0))
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()

	var err error
	if *transcript {
		err = writeTranscript(ctx, os.Stdout)
	} else {
		err = show(ctx, os.Stdout, output.Open(os.Stdout, output.ColorAuto, os.Getenv).Color, steps())
	}
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		fmt.Fprintln(os.Stderr, "demo: interrupted; nothing is left behind")
		return 130
	default:
		fmt.Fprintln(os.Stderr, "demo:", err)
		return 1
	}
}
