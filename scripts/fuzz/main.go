// Command fuzz runs every fuzz test of the module for a while, one after the other, and counts:
//
//	go run ./scripts/fuzz [-time 1m] [-run REGEXP] [-parallel N] [-write]
//
// It finds the tests by itself. Each runs half of its time guided by coverage, and half without, which is many times as fast. A finding
// ends its test and is told; Go leaves the input under testdata/fuzz, where it stays as a seed once it is mended. With -write the counts of
// the tests that ran are added to docs/reliability.md. The exit code is 1 if there was a finding.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"
	"time"
)

// page is where the counts are written to, between the marks.
const page = "docs/reliability.md"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		code = 1
	}
	os.Exit(code)
}

func run(ctx context.Context) (code int, err error) {
	each := flag.Duration("time", time.Minute, "how long each test runs")
	only := flag.String("run", "", "only the tests whose PACKAGE.NAME has this regular expression")
	parallel := flag.Int("parallel", min(2, runtime.NumCPU()), "how many processes fuzz at a time")
	write := flag.Bool("write", false, "add the counts to "+page)
	flag.Parse()
	if flag.NArg() > 0 {
		return 0, fmt.Errorf("unknown argument %q", flag.Arg(0))
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return 0, err
	}
	targets, err := discover(ctx, ".")
	if err != nil {
		return 0, err
	}
	work, err := os.MkdirTemp("", "gtoffset-fuzz-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(work)
	r := runner{work: work, each: *each, parallel: *parallel}
	var results []result
	for _, t := range targets {
		if !chosen.MatchString(t.short() + "." + t.name) {
			continue
		}
		done, err := r.run(ctx, t)
		if err != nil {
			return 0, err
		}
		fmt.Printf("%12d executions  %s.%s\n", done.executions, t.short(), t.name)
		if done.finding != "" {
			code = 1
			fmt.Printf("FINDING\n%s\n", done.finding)
		}
		results = append(results, done)
		if *write { // also of a run that is ended early
			if err := writeInto(page, results[len(results)-1:], targets); err != nil {
				return 0, err
			}
		}
	}
	fmt.Printf("%12d executions of %d tests\n", total(results), len(results))
	return code, nil
}
