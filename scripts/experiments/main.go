// Experiments does the experiments that the scheme behind gtoffset files comes from, as they were: a real Spark Streaming job
// reads a real Kafka, keeps its place in one of three ways, is stopped once, and started again. What it processed is counted by
// the records that it wrote down, what gtoffset describe foretold before the restart stands beside what then happened, and
// docs/experiments.md is made of it:
//
//	go run ./scripts/experiments            # all of them, 20 minutes
//	go run ./scripts/experiments -only 2,3  # some
//	go run ./scripts/experiments -short     # few settings and small topics, two minutes
//	go run ./scripts/experiments -write     # and write docs/experiments.md with them
//
// It fetches Kafka, Spark and the rest with Maven, compiles the job, starts everything on free ports of 127.0.0.1 and stops it again. It
// needs Java 17 with its compiler, Maven, and flock(1); experiment 5, unless it is short, also redis-server and mariadb-server. When a
// forecast does not come true, or records are lost that must not be, it fails.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"gtoffset/scripts/live"
)

func main() { os.Exit(run()) }

func run() int {
	only := flag.String("only", "", "experiments to do, comma-separated: "+strings.Join(numbers(), ","))
	short := flag.Bool("short", false, "few settings, small topics")
	write := flag.Bool("write", false, "write docs/experiments.md; what was not done now stays as it is there")
	flag.Parse()
	chosen, err := choose(*only)
	if err == nil && flag.NArg() > 0 {
		err = fmt.Errorf("unknown argument %q", flag.Arg(0))
	}
	if err == nil && *short && *write {
		err = fmt.Errorf("the page has the full experiments: -write without -short")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "experiments:", err)
		return 2
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := do(ctx, chosen, *short, *write); {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "experiments: interrupted; nothing is left behind")
		return 130
	case err != nil:
		fmt.Fprintln(os.Stderr, "experiments:", err)
		return 1
	}
	return 0
}

// do does the experiments and shows, or writes, what came out.
func do(ctx context.Context, chosen []experiment, short, write bool) error {
	results := results{}
	if write {
		var err error
		if results, err = load(dataFile); err != nil {
			return err
		}
	}
	l, err := open(ctx, os.Stderr)
	if err != nil {
		return err
	}
	defer l.close()
	for _, e := range chosen {
		section, err := e.do(ctx, l, short)
		if err != nil {
			return fmt.Errorf("experiment %s: %w", e.number, err)
		}
		section.At = time.Now().UTC().Truncate(time.Second)
		section.Command = "go run ./scripts/experiments -write -only " + e.number
		section.Kafka = live.Current
		fmt.Printf("\n%s\n", e.table(section))
		results[e.number] = section
		if write {
			if err := results.write(); err != nil {
				return err
			}
		}
	}
	return nil
}

// An experiment has a number, which is also the key of its results.
type experiment struct {
	number string
	text   string // the heading and what the page says above the table
	do     func(ctx context.Context, l *lab, short bool) (section, error)
	table  func(section) string
	paper  func(row) claim // what the paper says of a trial; nil where the experiment has none
}

func experiments() []experiment {
	return []experiment{
		{"1", autoText, trials("auto", 100_006, autoTrials, foretold), sparkTable(losesTheRest), losesTheRest},
		{"2", asyncText, trials("async", 100_000, asyncTrials, both(foretold, nothingLost)), sparkTable(repeatsOne), repeatsOne},
		{"3", fileText, trials("file", 100_000, fileTrials, foretold), sparkTable(nothing), nothing},
		{"3b", killText, trials("killed", 100_000, killTrials, both(onlyTheFileKnows, oneBatch)), sparkTable(atMostOne), atMostOne},
		{"3c", rangeText, outOfRange, rangeTable, nil},
		{"4", replayText, replayed, replayTable(scheme), scheme},
		{"5", savingText, saving, savingTable, nil},
	}
}

func numbers() []string {
	var all []string
	for _, e := range experiments() {
		all = append(all, e.number)
	}
	return all
}

// choose finds the experiments of a list of numbers, all for none.
func choose(list string) ([]experiment, error) {
	if list == "" {
		return experiments(), nil
	}
	var chosen []experiment
	for number := range strings.SplitSeq(list, ",") {
		i := slices.Index(numbers(), number)
		if i < 0 {
			return nil, fmt.Errorf("no experiment %q; there are %s", number, strings.Join(numbers(), ", "))
		}
		chosen = append(chosen, experiments()[i])
	}
	return chosen, nil
}
