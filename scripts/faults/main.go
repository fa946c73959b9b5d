// Faults crosses what can go wrong between gtoffset and its brokers with its commands, on a real Kafka of three brokers behind a
// proxy, and holds what each run said against what another client then reads:
//
//	go run ./scripts/faults                  # every fault with every command it can meet
//	go run ./scripts/faults -only commit     # the faults whose name has this regular expression
//	go run ./scripts/faults -short           # the sharpest, as the live test runs them
//	go run ./scripts/faults -rest -write     # what docs/faults.json does not have yet
//	go run ./scripts/faults -soak 1000       # so many clamps of each side under faults at random
//	go run ./scripts/faults -in-process      # any of them on the in-process cluster, in seconds, without Java
//	go run ./scripts/faults -write           # and write docs/faults.json and the tables of docs/reliability.md with them
//
// It fails when something is lost, when a run says what is not so or ends in a way that docs/exit-codes.md does not name, and when
// it takes longer than it may. It needs Java and Maven.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
)

func main() { os.Exit(run()) }

func run() int {
	only := flag.String("only", "", "only the faults whose name has this regular expression")
	short := flag.Bool("short", false, "the sharpest faults, each with one command")
	quick := flag.Bool("in-process", false, "on the in-process cluster, which needs no Java; the page has only soaks of it")
	soak := flag.Int("soak", 0, "in place of the matrix so many clamps of each side under faults at random")
	rest := flag.Bool("rest", false, "only what "+dataFile+" does not have yet")
	write := flag.Bool("write", false, "write what came out; what was not run now stays as it is there")
	flag.Parse()
	chosen, err := regexp.Compile(*only)
	if err == nil && flag.NArg() > 0 {
		err = fmt.Errorf("unknown argument %q", flag.Arg(0))
	}
	if err == nil && *short && *write {
		err = fmt.Errorf("the page has all commands: -write without -short")
	}
	if err == nil && *quick && *write && *soak == 0 {
		err = fmt.Errorf("the page has the matrix of Apache Kafka: -in-process -write only with -soak")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		return 2
	}
	start := open
	if *quick {
		start = openInProcess
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	wrong, err := do(ctx, start, chosen, *short, *rest, *soak, *write)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "faults: interrupted; nothing is left behind")
		return 130
	case err != nil:
		fmt.Fprintln(os.Stderr, "faults:", err)
		return 1
	case wrong > 0:
		fmt.Fprintf(os.Stderr, "faults: %d wrong\n", wrong)
		return 1
	}
	return 0
}

// do runs what was chosen and returns how many cells were wrong.
func do(ctx context.Context, open func(context.Context, io.Writer) (*lab, error), chosen *regexp.Regexp, short, rest bool, soak int, write bool) (wrong int, err error) {
	found, err := load(dataFile)
	if err != nil {
		return 0, err
	}
	l, err := open(ctx, os.Stderr)
	if err != nil {
		return 0, err
	}
	defer l.close()
	keep := func() error {
		if !write {
			return nil
		}
		return found.write()
	}
	if soak > 0 {
		for _, c := range []string{"clamp --stored", "clamp --committed"} {
			s, bad, err := l.soak(ctx, c, soak)
			if err != nil {
				return wrong, err
			}
			fmt.Printf("%s: %d runs, %v, %d wrong\n", c, s.Runs, s.Codes, bad)
			wrong += bad
			found.Soaks = found.Soaks.with(s)
			if err := keep(); err != nil {
				return wrong, err
			}
		}
		return wrong, nil
	}
	rows := faults()
	if short {
		rows = sharpest()
	}
	for _, f := range rows {
		if !chosen.MatchString(f.name) {
			continue
		}
		for _, c := range f.meets {
			if _, ran := found.Cells.at(f.name, c); ran && rest {
				continue
			}
			cell, err := l.try(ctx, f, c)
			if err != nil {
				return wrong, fmt.Errorf("%s, %s: %w", f.name, c, err)
			}
			fmt.Println(cell)
			if cell.Wrong != "" {
				wrong++
			}
			found.Cells = found.Cells.with(cell)
			if err := keep(); err != nil {
				return wrong, err
			}
		}
	}
	return wrong, nil
}
