// Command help measures that gtoffset --help opens nothing and computes nothing: against a process that only links the same
// libraries.
//
//	go run ./scripts/bench/help
package main

import (
	"context"
	"fmt"
	"os"

	"gtoffset/scripts/bench"
)

func main() { bench.Main(run) }

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "gtoffset-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	paths, err := bench.Build(ctx, dir, "gtoffset", "gtoffset/scripts/bench/imports", "gtoffset/scripts/bench/empty")
	if err != nil {
		return err
	}
	commands := []bench.Command{
		{Name: "gtoffset --help", Args: []string{paths[0], "--help"}},
		{Name: "imports", Args: []string{paths[1]}},
		{Name: "empty", Args: []string{paths[2]}},
	}
	times, err := bench.Interleave(ctx, 50, commands...)
	if err != nil {
		return err
	}
	if !bench.Report("gtoffset --help", commands, times, bench.Claim{
		What: "minimum of --help ÷ imports", Got: bench.Ratio(times["gtoffset --help"].Min(), times["imports"].Min()), Bound: 1.5,
	}) {
		return fmt.Errorf("a bound was missed")
	}
	return nil
}
