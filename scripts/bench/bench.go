// Package bench times whole processes against each other. They take turns, so that whatever else the machine does meets them all
// alike, and the figures that are compared are low quantiles, which a busy neighbour disturbs least.
package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// Main runs a benchmark to its end, or until it is interrupted, and ends the process with 1 if it fails.
func Main(run func(context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A Command is one contestant.
type Command struct {
	Name   string
	Args   []string // the program first
	Out    string   // file for its output; "": it is thrown away
	Before func()   // called before each run, outside of its time; may be nil
}

// Times are the wall times of one command's runs, sorted.
type Times []time.Duration

// Min is the shortest time.
func (t Times) Min() time.Duration { return t.at(0) }

// Lower is the lower quartile.
func (t Times) Lower() time.Duration { return t.at(len(t) / 4) }

// Median is the middle time, the upper of two.
func (t Times) Median() time.Duration { return t.at(len(t) / 2) }

func (t Times) at(i int) time.Duration {
	if len(t) == 0 {
		return 0
	}
	return t[i]
}

// Interleave runs every command once a round, each round in another order, and returns the times by name. One round ahead of them
// warms the caches and is not counted. A command that fails ends the whole.
func Interleave(ctx context.Context, rounds int, commands ...Command) (map[string]Times, error) {
	times := map[string]Times{}
	for round := range rounds + 1 {
		for i := range commands {
			c := commands[(i+round)%len(commands)]
			took, err := c.time(ctx)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				times[c.Name] = append(times[c.Name], took)
			}
		}
	}
	for _, t := range times {
		slices.Sort(t)
	}
	return times, nil
}

func (c Command) time(ctx context.Context) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	errs := &bytes.Buffer{}
	file, err := os.CreateTemp("", "bench-") // not a pipe: nobody has to copy while the clock runs
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	cmd.Stderr = file
	if c.Out != "" {
		out, err := os.Create(c.Out)
		if err != nil {
			return 0, err
		}
		defer out.Close()
		cmd.Stdout = out
	}
	if c.Before != nil {
		c.Before()
	}
	began := time.Now()
	err = cmd.Run()
	took := time.Since(began)
	if err != nil {
		if _, e := file.Seek(0, 0); e == nil {
			_, _ = errs.ReadFrom(file) // the error is enough
		}
		return 0, fmt.Errorf("%s: %w\n%s", c.Name, err, errs)
	}
	return took, nil
}

// Output runs the command once and returns what it prints, for those who want to see that it does its work.
func (c Command) Output(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...).Output()
	if err != nil {
		if exit, ok := err.(*exec.ExitError); ok {
			return "", fmt.Errorf("%s: %w\n%s", c.Name, err, exit.Stderr)
		}
		return "", fmt.Errorf("%s: %w", c.Name, err)
	}
	return string(out), nil
}

// Build builds main packages of this module as they are shipped, stripped, and returns their paths in the order given.
func Build(ctx context.Context, dir string, packages ...string) ([]string, error) {
	var paths []string
	for _, p := range packages {
		path := filepath.Join(dir, filepath.Base(p))
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w -funcalign=8", "-o", path, p)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if said, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build %s: %w\n%s", p, err, said)
		}
		if err := install(path); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// install writes a program anew, as installing it does. What the linker has written itself lies in the page cache in single pages,
// more or less of them by chance, and its start takes up to a fifth longer.
func install(path string) error {
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.WriteFile(path, program, 0o755)
}

// Ratio is a/b, and 0 when b is not positive: then nothing was measured.
func Ratio(a, b time.Duration) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Milliseconds writes a time for a table.
func Milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond))
}

// A Claim is a ratio that must keep a bound.
type Claim struct {
	What    string
	Got     float64
	Bound   float64
	AtLeast bool // else at most
}

// Held says whether it does. A ratio of 0 holds nothing.
func (c Claim) Held() bool {
	if c.AtLeast {
		return c.Got >= c.Bound
	}
	return c.Got > 0 && c.Got <= c.Bound
}

// Report prints the times and the claims as Markdown, and returns whether all claims hold.
func Report(title string, order []Command, times map[string]Times, claims ...Claim) bool {
	fmt.Printf("## %s\n\n| process | runs | minimum ms | lower quartile ms | median ms |\n|---|---:|---:|---:|---:|\n", title)
	for _, c := range order {
		t := times[c.Name]
		fmt.Printf("| %s | %d | %s | %s | %s |\n", c.Name, len(t), Milliseconds(t.Min()), Milliseconds(t.Lower()), Milliseconds(t.Median()))
	}
	held := true
	fmt.Print("\n| ratio | is | must be | |\n|---|---:|---:|---|\n")
	for _, c := range claims {
		bound, verdict := "at most", "holds"
		if c.AtLeast {
			bound = "at least"
		}
		if !c.Held() {
			verdict, held = "**missed**", false
		}
		fmt.Printf("| %s | %.2f | %s %.2f | %s |\n", c.What, c.Got, bound, c.Bound, verdict)
	}
	fmt.Println()
	return held
}
