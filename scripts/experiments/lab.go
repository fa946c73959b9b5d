package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"gtoffset/docs/examples"
	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/scripts/bench"
	"gtoffset/scripts/live"
)

//go:embed job
var sources embed.FS

const partitions = 4 // as in the paper

// A lab is what the experiments are done with: a Kafka of one broker, the compiled job, and the real program. All files lie in dir.
type lab struct {
	kafka   *live.Cluster
	spark   string // folder of Spark's jars
	classes string // folder of the job's
	program string
	dir     string
	talk    io.Writer
	runs    int // jobs started
}

// open fetches, compiles and starts what is needed.
func open(ctx context.Context, talk io.Writer) (_ *lab, err error) {
	l := &lab{talk: talk}
	if l.dir, err = os.MkdirTemp("", "gtoffset-experiments-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	l.say("fetching Spark %s and Kafka %s, if they are not there yet", live.Spark, live.Current)
	if l.spark, err = live.SparkJars(ctx); err != nil {
		return nil, err
	}
	if err := l.compile(ctx); err != nil {
		return nil, err
	}
	built, err := bench.Build(ctx, l.dir, "gtoffset")
	if err != nil {
		return nil, err
	}
	l.program = built[0]
	if err := os.Mkdir(l.store(), 0o755); err != nil {
		return nil, err
	}
	l.kafka, err = live.Kafka(ctx, live.Current, 1)
	return l, err
}

func (l *lab) close() {
	if l.kafka != nil {
		l.kafka.Stop()
	}
	os.RemoveAll(l.dir)
}

func (l *lab) say(format string, args ...any) { fmt.Fprintf(l.talk, format+"\n", args...) }

// compile makes the job's classes, and puts its logging beside them.
func (l *lab) compile(ctx context.Context) error {
	from := filepath.Join(l.dir, "sources")
	if err := errors.Join(os.CopyFS(from, sources), os.CopyFS(from, examples.Spark)); err != nil {
		return err
	}
	l.classes = filepath.Join(from, "job")
	java, err := filepath.Glob(filepath.Join(from, "*", "*.java"))
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "javac", append([]string{
		"-proc:none", "--release", "11", "-cp", filepath.Join(l.spark, "*"), "-d", l.classes,
	}, java...)...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile the job: %w\n%s", err, said)
	}
	return nil
}

// A place is what a job keeps its offsets of.
type place struct{ group, topic string }

func (l *lab) store() string { return filepath.Join(l.dir, "offsets") }

// folder is where the gtoffset file of a place lies.
func (l *lab) folder(p place) string { return filepath.Join(l.store(), p.group, p.topic) }

// A record is one record of a topic. Its value is a number that no other record of the topic has.
type record struct {
	partition int32
	offset    int64
	number    int
}

// at is the record of a number: they go round the partitions.
func at(number int) record {
	return record{int32(number % partitions), int64(number / partitions), number}
}

// fill makes a topic with n records, numbered from 0.
func (l *lab) fill(ctx context.Context, topic string, n int) error {
	if err := l.kafka.CreateTopic(ctx, topic, partitions); err != nil {
		return err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(l.kafka.Bootstrap()), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.MaxBufferedRecords(n+1))
	if err != nil {
		return err
	}
	defer client.Close()
	var records []*kgo.Record
	for number := range n {
		records = append(records, &kgo.Record{Topic: topic, Partition: at(number).partition, Value: fmt.Append(nil, number)})
	}
	if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("fill topic %q: %w", topic, err)
	}
	return nil
}

// ends returns the end of each partition.
func (l *lab) ends(ctx context.Context, topic string) (map[int32]int64, error) {
	ranges, err := l.kafka.Ranges(ctx, topic)
	if err != nil {
		return nil, err
	}
	ends := map[int32]int64{}
	for partition, r := range ranges {
		ends[partition] = r.End
	}
	return ends, nil
}

// gtoffset runs the real program to its end, and returns what it printed.
func (l *lab) gtoffset(ctx context.Context, args ...string) (string, error) {
	cmd := l.command(ctx, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("gtoffset %s: %w\n%s%s", strings.Join(args, " "), err, &out, &errs)
	}
	return out.String(), nil
}

// command is a run of the real program that has not started.
func (l *lab) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, l.program, args...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + l.dir, "TEST_RUN_ID=" + os.Getenv("TEST_RUN_ID"),
		"GTOFFSET_BOOTSTRAP_SERVER=" + l.kafka.Bootstrap(), "GTOFFSET_STORE=" + l.store(),
	}
	return cmd
}

// clamp is the scheme's correction of the file before each start. Of a place that has none yet it makes one.
func (l *lab) clamp(ctx context.Context, p place) (clamped int, err error) {
	said, err := l.gtoffset(ctx, "clamp", "-g", p.group, "-t", p.topic, "--stored", "--wait-empty", "60s", "--execute", "-o", "json")
	if err != nil {
		return 0, err
	}
	var done struct{ Counts struct{ Clamped int } }
	if err := json.Unmarshal([]byte(said), &done); err != nil {
		return 0, fmt.Errorf("read clamp's answer: %w\n%s", err, said)
	}
	return done.Counts.Clamped, nil
}

// left waits until nobody is in the group: a killed member stays until its session is over.
func (l *lab) left(ctx context.Context, group string) error {
	return live.Eventually(ctx, fmt.Sprintf("group %q is empty", group), func(ctx context.Context) (bool, error) {
		groups, err := l.kafka.Groups(ctx)
		g, exists := groups[group]
		return !exists || g.State == "Empty" || g.State == "Dead", err
	})
}

// keep writes down what a job has processed, as a gtoffset file. Without it nobody knows what of the commits was processed.
func (l *lab) keep(p place, processed []record) error {
	ends, err := next(processed)
	if err != nil {
		return err
	}
	return l.write(p, ends)
}

// write writes the gtoffset file of a place.
func (l *lab) write(p place, next map[int32]int64) error {
	doc := offsetfile.New(p.group, p.topic)
	for partition, offset := range next {
		if err := doc.Set(offsetfile.Entry{Partition: partition, Offset: offset, Epoch: offsets.None}); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(l.folder(p), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.folder(p), "gtoffset"), doc.Bytes(), 0o644)
}

// foretell asks the program what a restart from the store or from the commits would do, and for the sum of the commits, which is
// nil without any.
func (l *lab) foretell(ctx context.Context, p place, from string) (outcome, *int, error) {
	d, err := l.describe(ctx, p)
	if err != nil {
		return outcome{}, nil, err
	}
	f, err := d.forecast(from, "earliest")
	return f.outcome(), d.committed(), err
}

// described is what the experiments read of describe's document.
type described struct {
	Groups []struct {
		Partitions []struct{ Stored, Committed struct{ Offset *int } }
		Restart    []restart
	}
}

// restart is what a restart from one place under one policy would do.
type restart struct {
	From             string
	Policy           *string
	LosesExpired     int `json:"loses_expired"`
	LosesUnprocessed int `json:"loses_unprocessed"`
	LosesReadable    int `json:"loses_readable"`
	Repeats, Reads   int
	Stops            bool
	Uncounted        int
	Unsure           int
}

func (r restart) outcome() outcome {
	return outcome{r.LosesExpired + r.LosesUnprocessed + r.LosesReadable, r.Repeats, r.Reads}
}

func (l *lab) describe(ctx context.Context, p place) (described, error) {
	said, err := l.gtoffset(ctx, "describe", "-g", p.group, "-t", p.topic, "-o", "json")
	if err != nil {
		return described{}, err
	}
	var d described
	if err := json.Unmarshal([]byte(said), &d); err != nil {
		return d, fmt.Errorf("read describe's answer: %w\n%s", err, said)
	}
	if len(d.Groups) != 1 || len(d.Groups[0].Partitions) != partitions {
		return d, fmt.Errorf("describe: want %d partitions of one group\n%s", partitions, said)
	}
	return d, nil
}

// forecast finds what a restart from a place would do: "commits" or "store".
func (d described) forecast(from, policy string) (restart, error) {
	for _, f := range d.Groups[0].Restart {
		if f.From == from && f.Policy != nil && *f.Policy == policy {
			if f.Uncounted > 0 || f.Unsure > 0 {
				return f, fmt.Errorf("describe cannot foretell a restart from the %s: %+v", from, f)
			}
			return f, nil
		}
	}
	return restart{}, errors.New("describe foretells no restart from the " + from)
}

// committed is the sum of the commits, nil without any.
func (d described) committed() *int {
	var sum *int
	for _, p := range d.Groups[0].Partitions {
		if p.Committed.Offset != nil {
			if sum == nil {
				sum = new(int)
			}
			*sum += *p.Committed.Offset
		}
	}
	return sum
}
