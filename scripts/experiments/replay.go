package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"gtoffset/scripts/live"
)

// worker is the command to which replay gives its batches, run by sh -c with arguments: it puts a batch out at the end of the file
// $1, takes $2 seconds more, and at batch $4 sends the signal $3 to the replay. By then the batch is put out, and not yet saved.
const worker = `cat >>"$1" && echo >>"$1.batches" && sleep "$2" || exit 1
if [ "$(wc -l <"$1.batches")" -eq "$4" ]; then kill -s "$3" "$PPID"; fi`

// A replayTrial is a replay that is stopped once, and started again.
type replayTrial struct {
	limit int // records of a batch at most
	stop  string
	pause time.Duration // that the worker takes for a batch
	delay time.Duration // of a kill at random, after the first batch
}

// replayTrials are those of experiment 4: stopped as in 3, and killed as in 3b.
func replayTrials(short bool) []replayTrial {
	limits, random := []int{1000, 2000, 5000, 10_000, 20_000}, 10
	if short {
		limits, random = limits[:1], 2
	}
	var trials []replayTrial
	for _, stop := range []string{graceful, killedBetween} {
		for _, n := range limits {
			trials = append(trials, replayTrial{limit: n, stop: stop})
		}
	}
	for range random {
		const pause = 20 * time.Millisecond
		trials = append(trials, replayTrial{limit: limits[0], stop: killedAnywhere, pause: pause, delay: rand.N(20 * pause)})
	}
	return trials
}

// replayed is experiment 4: the scheme without Spark.
func replayed(ctx context.Context, l *lab, short bool) (section, error) {
	const topic, n = "replay", 100_000
	var s section
	if err := l.fill(ctx, topic, n); err != nil {
		return s, err
	}
	for _, t := range replayTrials(short) {
		r, err := l.tryReplay(ctx, t, topic, n)
		if err == nil && t.stop == graceful {
			err = foretold(r)
		}
		if err == nil {
			err = both(onlyTheFileKnows, oneBatch)(r)
		}
		if err != nil {
			return s, fmt.Errorf("batches of %d, %s: %w", t.limit, t.stop, err)
		}
		s.Trials = append(s.Trials, r)
	}
	return s, nil
}

// tryReplay does a trial over a topic of n records.
func (l *lab) tryReplay(ctx context.Context, t replayTrial, topic string, n int) (row, error) {
	l.runs++
	p := place{fmt.Sprintf("replay-%d", l.runs), topic}
	r := row{Limit: t.limit, Stop: t.stop, Records: n}
	l.say("replay, batches of %d, %s", t.limit, t.stop)
	first, err := l.replay(ctx, p, t)
	if err != nil {
		return r, err
	}
	if r.Forecast, _, err = l.foretell(ctx, p, "store"); err != nil {
		return r, err
	}
	second, err := l.replay(ctx, p, replayTrial{limit: 10_000})
	if err != nil {
		return r, err
	}
	before, err := put(first)
	if err != nil {
		return r, err
	}
	after, err := put(second)
	if err != nil {
		return r, err
	}
	r.Processed = len(before)
	r.Happened, err = tally(n, before, after)
	l.say("  processed %d, forecast %+v, happened %+v", r.Processed, r.Forecast, r.Happened)
	return r, err
}

// replay clamps the store and runs a replay until it is stopped as the trial says, or to its end. It returns the file that its
// worker puts out.
func (l *lab) replay(ctx context.Context, p place, t replayTrial) (output string, err error) {
	if _, err := l.clamp(ctx, p); err != nil {
		return "", err
	}
	l.runs++
	output = filepath.Join(l.dir, fmt.Sprintf("replay%d", l.runs))
	signal, batch, code := "0", "0", 0
	switch t.stop {
	case graceful:
		signal, batch, code = "INT", "3", 130
	case killedBetween:
		signal, batch, code = "KILL", "3", -1
	case killedAnywhere:
		code = -1
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := l.command(ctx, "replay", "-g", p.group, "-t", p.topic, "--save", "--execute", "--batch-records", strconv.Itoa(t.limit),
		"--", "sh", "-c", worker, "worker", output, fmt.Sprint(t.pause.Seconds()), signal, batch)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	process, err := live.Start(cmd)
	if err != nil {
		return "", err
	}
	defer process.Stop()
	if t.stop == killedAnywhere {
		if err := l.killLater(ctx, process, output, t.delay); err != nil {
			return "", fmt.Errorf("%w\n%s", err, &said)
		}
	}
	<-process.Done()
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("wait until the replay ends: %w", err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		return "", fmt.Errorf("gtoffset replay: exit %d, want %d\n%s", got, code, &said)
	}
	return output, nil
}

// killLater kills a replay some time after its first batch was put out.
func (l *lab) killLater(ctx context.Context, process *live.Process, output string, delay time.Duration) error {
	err := live.Eventually(ctx, "the first batch is put out", func(context.Context) (bool, error) {
		_, err := os.Stat(output + ".batches")
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return err
	}
	select {
	case <-time.After(delay):
		process.Stop()
		return nil
	case <-process.Done():
		return errors.New("the replay ended before it was killed")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// put reads what a worker has put out, one object of JSON a record. A last line without its end was cut off by a kill.
func put(output string) ([]record, error) {
	text, err := os.ReadFile(output)
	if err != nil {
		return nil, err
	}
	var all []record
	for d := json.NewDecoder(bytes.NewReader(text[:bytes.LastIndexByte(text, '\n')+1])); d.More(); {
		var line struct {
			Partition int32
			Offset    int64
			Value     string
		}
		if err := d.Decode(&line); err != nil {
			return nil, fmt.Errorf("%s: %w", output, err)
		}
		number, err := strconv.Atoi(line.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: partition %d, offset %d: %w", output, line.Partition, line.Offset, err)
		}
		all = append(all, record{line.Partition, line.Offset, number})
	}
	return all, nil
}
