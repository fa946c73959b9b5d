// Faults crosses what can go wrong between gtoffset and its brokers with its commands, on a real Kafka of three brokers behind a
// proxy, and holds what each run said against what another client then reads:
//
//	go run ./scripts/faults                  # every fault with every command it can meet
//	go run ./scripts/faults -only commit     # the faults whose name has this regular expression
//	go run ./scripts/faults -short           # the sharpest, as the live test runs them
//	go run ./scripts/faults -rest -write     # what docs/faults.json does not have yet
//	go run ./scripts/faults -soak 1000       # so many clamps of each side that a fault at random befalls
//	go run ./scripts/faults -parallel 1      # one run at a time; else those go on together whose fault befalls nobody else
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
	soak := flag.Int("soak", 0, "in place of the matrix so many clamps of each side that a fault at random befalls")
	parallel := flag.Int("parallel", 8, "how many runs go on at a time")
	rest := flag.Bool("rest", false, "only what "+dataFile+" does not have yet")
	write := flag.Bool("write", false, "write what came out; what was not run now stays as it is there")
	flag.Parse()
	chosen, err := regexp.Compile(*only)
	if err == nil && flag.NArg() > 0 {
		err = fmt.Errorf("unknown argument %q", flag.Arg(0))
	}
	if err == nil && *parallel < 1 {
		err = fmt.Errorf("-parallel is at least 1")
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
	wrong, err := do(ctx, start, task{chosen: chosen, short: *short, rest: *rest, write: *write, soak: *soak, atOnce: *parallel})
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

// A task is what the command line asks for.
type task struct {
	chosen             *regexp.Regexp
	short, rest, write bool
	soak, atOnce       int
}

// do runs what was chosen and returns how many runs were wrong.
func do(ctx context.Context, open func(context.Context, io.Writer) (*lab, error), t task) (wrong int, err error) {
	found, err := load(dataFile)
	if err != nil {
		return 0, err
	}
	together, alone := t.attempts(found.Cells)
	if t.soak == 0 && len(together)+len(alone) == 0 { // nothing is left to be run: the page alone is made
		if t.write {
			err = found.write()
		}
		return 0, err
	}
	l, err := open(ctx, os.Stderr)
	if err != nil {
		return 0, err
	}
	defer l.close()
	if t.soak > 0 {
		return doSoak(ctx, l, t, found)
	}
	tell := func(c cell) error {
		fmt.Println(c)
		if c.Wrong != "" {
			wrong++
		}
		found.Cells = found.Cells.with(c)
		if !t.write {
			return nil
		}
		return found.write()
	}
	if err := l.tryEach(ctx, together, t.atOnce, tell); err != nil {
		return wrong, err
	}
	return wrong, l.tryEach(ctx, alone, 1, tell)
}

// attempts are the cells of the matrix that are to be run: those whose fault is the run's own, and those that nothing else may go on
// beside.
func (t task) attempts(have cells) (together, alone []attempt) {
	rows := faults()
	if t.short {
		rows = sharpest()
	}
	for _, f := range rows {
		if !t.chosen.MatchString(f.name) {
			continue
		}
		for _, c := range f.meets {
			if _, ran := have.at(f.name, c); ran && t.rest {
				continue
			}
			if f.own {
				together = append(together, attempt{f, c})
			} else {
				alone = append(alone, attempt{f, c})
			}
		}
	}
	return together, alone
}

func doSoak(ctx context.Context, l *lab, t task, found results) (wrong int, err error) {
	for _, c := range soaked() {
		s, err := l.soak(ctx, c, t.soak, t.atOnce)
		fmt.Printf("%s: %d runs, %d hit, %s; %s; %d wrong\n", c, s.Runs, s.Hit, counts(s.Codes), counts(s.Stands), s.Wrong)
		wrong += s.Wrong
		if err != nil {
			return wrong, err
		}
		found.Soaks = found.Soaks.with(s)
		if t.write {
			if err := found.write(); err != nil {
				return wrong, err
			}
		}
	}
	return wrong, nil
}

// soaked are the commands that run under faults at random.
func soaked() []string { return []string{"clamp --stored", "clamp --committed"} }
