package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"gtoffset/scripts/live"
)

// patience bounds every wait for a job: Spark starts in three seconds on an idle machine, and beside other work much slower.
const patience = 3 * time.Minute

// A mode is how the job keeps its place.
type mode string

const (
	auto  mode = "auto"  // enable.auto.commit
	async mode = "async" // commitAsync after each batch
	file  mode = "file"  // a gtoffset file, saved after each batch
)

// A plan is how one run of the job is started.
type plan struct {
	mode     mode
	place    place
	interval time.Duration
	rate     int      // records a second and partition at most; 0: no limit
	hold     string   // where it stands still: before:N or after:N, the output of batch N; "": nowhere
	options  []string // more of the job's own, name=value
}

// A batch is what the job said of one.
type batch struct {
	ended  time.Duration      // after its time had come
	ranges map[int32][2]int64 // by partition, the first offset and one past the last
}

// A job is a running Spark Streaming job.
type job struct {
	*live.Process
	input  io.Closer
	output string // path
	errs   bytes.Buffer

	mu      sync.Mutex
	part    []byte // of a line
	said    int    // whole lines
	batches []batch
	holding bool
	changed chan struct{} // closed with each line
}

// start starts a job as the scheme wants it: the clamp before a job that keeps a file.
func (l *lab) start(ctx context.Context, p plan) (*job, error) {
	if p.mode == file {
		if _, err := l.clamp(ctx, p.place); err != nil {
			return nil, err
		}
	}
	return l.startAsItIs(p)
}

// startAsItIs starts a job. One that keeps a file runs under flock(1), since Java cannot take such a lock.
func (l *lab) startAsItIs(p plan) (*job, error) {
	scratch, err := l.scratch()
	if err != nil {
		return nil, err
	}
	output := filepath.Join(scratch, "output")
	cmd := live.SparkJava(l.spark, l.classes, "DirectStreamJob", append([]string{
		"mode=" + string(p.mode),
		"bootstrap=" + l.kafka.Bootstrap(), "group=" + p.place.group, "topic=" + p.place.topic,
		fmt.Sprintf("interval=%d", p.interval.Milliseconds()), fmt.Sprintf("rate=%d", p.rate),
		"folder=" + l.folder(p.place), "output=" + output, "scratch=" + scratch, "hold=" + p.hold,
		// A killed member stays in its group for so long. It is the least that a broker allows.
		"consumer.session.timeout.ms=6000", "consumer.heartbeat.interval.ms=1000",
	}, p.options...)...)
	if p.mode == file {
		cmd = l.locked(cmd, p.place)
	}
	j, err := launch(cmd)
	if err == nil {
		j.output = output
	}
	return j, err
}

// scratch makes a folder for one run of a job.
func (l *lab) scratch() (string, error) {
	l.runs++
	dir := filepath.Join(l.dir, fmt.Sprintf("run%d", l.runs))
	return dir, os.Mkdir(dir, 0o755)
}

// locked lets a command hold the lock of a gtoffset file as long as it lives: it becomes what flock is told to run.
func (l *lab) locked(cmd *exec.Cmd, p place) *exec.Cmd {
	return exec.Command("flock", append([]string{"--nonblock", "--no-fork", filepath.Join(l.folder(p), "gtoffset.lock")}, cmd.Args...)...)
}

// launch starts the command of a job.
func launch(cmd *exec.Cmd) (*job, error) {
	j := &job{changed: make(chan struct{})}
	cmd.Env = append(os.Environ(), "SPARK_LOCAL_IP=127.0.0.1")
	cmd.Stdout, cmd.Stderr = j, &j.errs
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	j.input = input
	if j.Process, err = live.Start(cmd); err != nil {
		return nil, fmt.Errorf("start the job: %w", err)
	}
	return j, nil
}

// Write takes what the job says on standard output.
func (j *job) Write(said []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.part = append(j.part, said...)
	for {
		line, rest, whole := bytes.Cut(j.part, []byte("\n"))
		if !whole {
			return len(said), nil
		}
		j.part = rest
		if err := j.hear(string(line)); err != nil {
			return 0, err
		}
		close(j.changed)
		j.changed = make(chan struct{})
	}
}

func (j *job) hear(line string) error {
	j.said++
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "holding":
		j.holding = true
	case "batch":
		b, err := readBatch(rest)
		if err != nil {
			return fmt.Errorf("the job said %q: %w", line, err)
		}
		j.batches = append(j.batches, b)
	}
	return nil
}

// readBatch reads "N MS partition:from-until ...".
func readBatch(text string) (batch, error) {
	var n, ms int
	if _, err := fmt.Sscan(text, &n, &ms); err != nil {
		return batch{}, err
	}
	b := batch{time.Duration(ms) * time.Millisecond, map[int32][2]int64{}}
	for _, field := range strings.Fields(text)[2:] {
		var partition int32
		var r [2]int64
		if _, err := fmt.Sscanf(field, "%d:%d-%d", &partition, &r[0], &r[1]); err != nil {
			return b, err
		}
		b.ranges[partition] = r
	}
	return b, nil
}

// until waits for something that the job says.
func (j *job) until(ctx context.Context, what string, wished func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		j.mu.Lock()
		ok, changed := wished(), j.changed
		j.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-j.Done():
			return fmt.Errorf("wait until the job %s: it ended (%v)\n%s", what, j.Err(), j.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("wait until the job %s: %w", what, ctx.Err())
		}
	}
}

// has waits until the job has finished n batches.
func (j *job) has(ctx context.Context, n int) error {
	return j.until(ctx, fmt.Sprintf("has finished %d batches", n), func() bool { return len(j.batches) >= n })
}

// drains waits until the job has read up to the ends.
func (j *job) drains(ctx context.Context, ends map[int32]int64) error {
	return j.until(ctx, "has read everything", func() bool { return j.drained(ends) })
}

// drained says whether the last batch went up to the ends. The lock is held.
func (j *job) drained(ends map[int32]int64) bool {
	if len(j.batches) == 0 {
		return false
	}
	last := j.batches[len(j.batches)-1]
	for partition, end := range ends {
		if r, ok := last.ranges[partition]; !ok || r[1] < end {
			return false
		}
	}
	return true
}

// onSchedule says whether the last two batches ended before the next one's time had come. The lock is held.
func (j *job) onSchedule(interval time.Duration) bool {
	n := len(j.batches)
	return n >= 2 && j.batches[n-2].ended < interval && j.batches[n-1].ended < interval
}

// finish ends the job gracefully: it finishes the batch that it is at, and those that wait already.
func (j *job) finish(ctx context.Context) error {
	if err := j.input.Close(); err != nil {
		return err
	}
	if err := j.gone(ctx); err != nil {
		return err
	}
	if j.Err() != nil {
		return fmt.Errorf("stop the job gracefully: %w\n%s", j.Err(), j.lastWords())
	}
	return nil
}

// gone waits until the job has ended, however.
func (j *job) gone(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-j.Done():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait until the job ends: %w", ctx.Err())
	}
}

// lastWords is the end of what a job that has ended said on standard error.
func (j *job) lastWords() string {
	lines := strings.Split(strings.TrimSpace(j.errs.String()), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}

// processed reads what the job has written down, one line a record: partition, offset, value. A last line without its end was cut off by
// a kill, and is not there.
func (j *job) processed() ([]record, error) {
	text, err := os.ReadFile(j.output)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // it was ended before it opened the file
	}
	if err != nil {
		return nil, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	var all []record
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var r record
		if _, err := fmt.Sscan(lines.Text(), &r.partition, &r.offset, &r.number); err != nil {
			return nil, fmt.Errorf("%s: line %q: %w", j.output, lines.Text(), err)
		}
		all = append(all, r)
	}
	return all, nil
}
