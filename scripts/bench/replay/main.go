// Command replay measures gtoffset replay on a real three-broker Kafka against kcat as it comes, kcat with its queue and its fetches
// made large, a small consumer on franz-go, and Kafka's own consumers: raw values, JSON Lines, into a file, and through a wire that
// takes 10 ms each way. They take turns. It says where the time goes, prints Markdown and fails when a bound is missed.
//
//	go run ./scripts/bench/replay [-rounds 5] [-java 0] [-codecs none,zstd]
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gtoffset/scripts/bench"
	"gtoffset/scripts/live"
)

const (
	each      = 10 * time.Millisecond // the wire's delay, one way
	maxMemory = 150                   // MB that a replay may have resident
)

func main() {
	rounds := flag.Int("rounds", 5, "how often everything is run")
	javaRounds := flag.Int("java", 3, "how often Kafka's own consumers are run, 0 for not at all")
	codecs := flag.String("codecs", "none,snappy,lz4,zstd,gzip", "codecs of the records")
	flag.Parse()
	bench.Main(func(ctx context.Context) error { return run(ctx, *rounds, *javaRounds, strings.Split(*codecs, ",")) })
}

// A load is a topic of records of one size and codec.
type load struct {
	topic   string
	codec   string
	records int
	size    int // bytes of a value
}

// bounds are the ratios that a load must reach: times of others ÷ ours.
type bounds struct{ stock, tuned, franz float64 }

func (l load) bounds() bounds {
	if l.size > 1000 {
		return bounds{2, 1.4, 1.4}
	}
	return bounds{4, 2.5, 2}
}

// runner is what all measurements share.
type runner struct {
	c              *live.Cluster
	dir            string
	program, franz string
	rounds, java   int
	held           bool
}

func run(ctx context.Context, rounds, java int, codecs []string) error {
	if _, err := exec.LookPath("kcat"); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gtoffset-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	paths, err := bench.Build(ctx, dir, "gtoffset", "gtoffset/scripts/bench/replay/franz")
	if err != nil {
		return err
	}
	c, err := live.Kafka(ctx, live.Current, 3, live.Delayed(each))
	if err != nil {
		return err
	}
	defer c.Stop()
	r := &runner{c: c, dir: dir, program: paths[0], franz: paths[1], rounds: rounds, java: java, held: true}
	var loads []load
	for _, codec := range codecs {
		loads = append(loads, load{"small-" + codec, codec, 2_000_000, 100}, load{"large-" + codec, codec, 200_000, 1024})
	}
	for _, l := range loads {
		if err := fill(ctx, c, l); err != nil {
			return err
		}
	}
	for _, l := range loads {
		if err := r.values(ctx, l); err != nil {
			return err
		}
	}
	for _, l := range loads {
		if l.size < 1000 {
			if err := r.profile(ctx, l); err != nil {
				return err
			}
		}
	}
	if err := r.rest(ctx, loads[0]); err != nil {
		return err
	}
	if !r.held {
		return errors.New("a bound was missed")
	}
	return nil
}

// replay is our contestant.
func (r *runner) replay(l load, args ...string) bench.Command {
	return bench.Command{Name: "gtoffset replay", Args: append([]string{
		r.program, "replay", "-q", "-b", r.c.Bootstrap(), "-g", "bench", "-t", l.topic, "--from", "earliest",
	}, args...)}
}

// kcat is theirs, with the format or -J.
func (r *runner) kcat(l load, name string, args ...string) bench.Command {
	return bench.Command{Name: name, Args: append([]string{"kcat", "-b", r.c.Bootstrap(), "-C", "-e", "-q", "-t", l.topic}, args...)}
}

// tuned is what makes kcat fast: as it comes it waits most of the time.
var tuned = []string{
	"-X", "fetch.message.max.bytes=8388608", "-X", "queued.min.messages=10000000", "-X", "queued.max.messages.kbytes=1048576", "-X", "fetch.wait.max.ms=10",
}

var lines = []string{"-f", `%s\n`}

// values measures raw values to nowhere.
func (r *runner) values(ctx context.Context, l load) error {
	ours := r.replay(l, "-o", "raw")
	stock := r.kcat(l, "kcat", lines...)
	quick := r.kcat(l, "kcat, tuned", slices.Concat(tuned, lines)...)
	franz := bench.Command{Name: "franz-go", Args: []string{r.franz, r.c.Bootstrap(), l.topic, strconv.Itoa(l.records)}}
	order := []bench.Command{ours, stock, quick, franz}
	for _, c := range order {
		if err := complete(ctx, c, l); err != nil {
			return err
		}
	}
	times, err := bench.Interleave(ctx, r.rounds, order...)
	if err != nil {
		return err
	}
	var java []bench.Command
	slow := map[string]bench.Times{}
	if r.java > 0 && l.codec == "none" {
		java = r.javaConsumers(l)
		if slow, err = bench.Interleave(ctx, r.java, append(java, ours)...); err != nil {
			return err
		}
		for _, c := range java {
			times[c.Name] = slow[c.Name]
		}
	}
	lower := func(c bench.Command) time.Duration { return times[c.Name].Lower() }
	ratio := func(what string, c bench.Command, bound float64) bench.Claim {
		return bench.Claim{What: what + " ÷ replay", Got: bench.Ratio(lower(c), lower(ours)), Bound: bound, AtLeast: true}
	}
	b := l.bounds()
	claims := []bench.Claim{ratio("kcat", stock, b.stock), ratio("kcat, tuned,", quick, b.tuned), ratio("franz-go", franz, b.franz)}
	if l.codec == "gzip" { // all of it is inflating
		claims = []bench.Claim{{What: "replay ÷ the faster kcat", Got: bench.Ratio(lower(ours), min(lower(stock), lower(quick))), Bound: 1.1}}
	}
	for _, c := range java {
		claims = append(claims, bench.Claim{What: c.Name + " ÷ replay", Got: bench.Ratio(slow[c.Name].Lower(), slow[ours.Name].Lower()), Bound: 1, AtLeast: true})
	}
	memory, err := bench.Resident(ctx, ours)
	if err != nil {
		return err
	}
	claims = append(claims, bench.Claim{What: "replay's resident MB", Got: memory, Bound: maxMemory})
	title := fmt.Sprintf("values of %d records of %d bytes, %s", l.records, l.size, l.codec)
	r.held = bench.Report(title, append(order, java...), times, claims...) && r.held
	return nil
}

// javaConsumers are Kafka's own, as they are started by its scripts but for the size of the heap.
func (r *runner) javaConsumers(l load) []bench.Command {
	n := strconv.Itoa(l.records)
	var all []bench.Command
	for _, x := range []struct {
		name, class string
		args        []string
	}{
		{"console consumer (Java)", live.ConsoleConsumer, []string{"--from-beginning", "--max-messages", n}},
		{"ConsumerPerformance (Java)", "org.apache.kafka.tools.ConsumerPerformance", []string{"--num-records", n}},
	} {
		tool := r.c.ToolCommand(x.class, append([]string{"--bootstrap-server", r.c.Bootstrap(), "--topic", l.topic}, x.args...)...)
		var args []string
		for _, a := range tool.Args {
			switch {
			case a == "-XX:TieredStopAtLevel=1": // starts sooner, and is slow from then on
			case strings.HasPrefix(a, "-Xmx"):
				args = append(args, "-Xmx512m")
			default:
				args = append(args, a)
			}
		}
		all = append(all, bench.Command{Name: x.name, Args: args})
	}
	return all
}

// rest measures JSON Lines, a file, and a long wire.
func (r *runner) rest(ctx context.Context, l load) error {
	json, theirs := r.replay(l, "-o", "jsonl"), r.kcat(l, "kcat -J", "-J")
	for _, c := range []bench.Command{json, theirs} {
		if err := complete(ctx, c, l); err != nil {
			return err
		}
	}
	if err := r.duel(ctx, "as JSON Lines", l, json, theirs, 3); err != nil {
		return err
	}
	file, quick := r.replay(l, "-o", "raw"), r.kcat(l, "kcat, tuned", slices.Concat(tuned, lines)...)
	file.Out, quick.Out = filepath.Join(r.dir, "ours"), filepath.Join(r.dir, "theirs")
	if err := r.duel(ctx, "into a file", l, file, quick, 2.5); err != nil {
		return err
	}
	return r.far(ctx, l)
}

// duel measures us against one other.
func (r *runner) duel(ctx context.Context, what string, l load, ours, theirs bench.Command, bound float64) error {
	times, err := bench.Interleave(ctx, r.rounds, ours, theirs)
	if err != nil {
		return err
	}
	r.held = bench.Report(fmt.Sprintf("%d records of %d bytes %s", l.records, l.size, what), []bench.Command{ours, theirs}, times, bench.Claim{
		What: theirs.Name + " ÷ replay", Got: bench.Ratio(times[theirs.Name].Lower(), times[ours.Name].Lower()), Bound: bound, AtLeast: true,
	}) && r.held
	return nil
}

// far measures the same program through the same wire, with and without its delay.
func (r *runner) far(ctx context.Context, l load) error {
	through := func(name string, delay time.Duration) bench.Command {
		c := r.replay(l, "-o", "raw")
		c.Name, c.Before = name, func() { r.c.SetDelay(delay) }
		c.Args[slices.Index(c.Args, "-b")+1] = r.c.RemoteBootstrap()
		return c
	}
	near, far := through("replay through a proxy", 0), through(fmt.Sprintf("with %v each way", each), each)
	times, err := bench.Interleave(ctx, r.rounds, near, far)
	if err != nil {
		return err
	}
	r.held = bench.Report(fmt.Sprintf("%d records of %d bytes, far away", l.records, l.size), []bench.Command{near, far}, times, bench.Claim{
		What: "far ÷ near", Got: bench.Ratio(times[far.Name].Lower(), times[near.Name].Lower()), Bound: 1.5,
	}) && r.held
	return nil
}

// complete makes sure that the command prints every record: who prints less is not faster.
func complete(ctx context.Context, c bench.Command, l load) error {
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	n := 0
	buf := make([]byte, 256<<10)
	for {
		k, err := out.Read(buf)
		n += bytes.Count(buf[:k], []byte("\n"))
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w\n%s", c.Name, err, said.String())
	}
	if n != l.records {
		return fmt.Errorf("%s printed %d lines for %d records of %s", c.Name, n, l.records, l.topic)
	}
	return nil
}
