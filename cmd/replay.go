package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gtoffset/kafkaops/offsets"
	"gtoffset/output"
)

type replayOptions struct {
	scope
	road
	group       string
	from, until string
	follow      bool
	records     int64
	expired     string
	isolation   string
	template    string

	command     []string
	execTimeout span
	retries     int
	toTopic     string
	sameTopic   bool

	save   bool
	saveAs string

	batchRecords  int64
	batchBytes    byteSize
	batchInterval span
	maxRate       int64
	summary       string

	start, end replayBound
	format     output.RecordFormat
}

// The formats of records on stdout.
const (
	jsonl output.Format = "jsonl"
	raw   output.Format = "raw"
)

func newReplay(g *global) *cobra.Command {
	o := &replayOptions{batchBytes: 16 << 20, batchInterval: span(time.Second), execTimeout: span(10 * time.Minute)}
	c := &cobra.Command{
		Use:                   "replay [flags] [-- CMD ARG...]",
		DisableFlagsInUseLine: true,
		Long: `Use it to do again what a job has missed. It reads the records of each partition again, from where the store says that the
job has come to the end as it is at the start, and writes them to stdout, gives them in batches to a command, or copies them
to a topic.

A batch is accepted when the command has read all of it and ended with 0, or when every copy is acknowledged by all replicas
in sync. Only with --save, and only then, the store moves on. The command finds GTOFFSET_GROUP, GTOFFSET_BATCH and
GTOFFSET_RANGES (lines of topic, partition, from, until) in its environment, so that it can know a batch again.

--from and --until take stored (from only), committed, earliest (from only), end (until only), a time, a length of time back
from now such as 2h, or, with one partition, an offset.

Dangers: after a crash at most one batch comes again, and none is lost; a command must bear that. What is copied to a topic,
nothing takes back.`,
		Example: `  gtoffset replay -g billing -t orders -s offsets
  gtoffset replay -t orders:3 --from 12 --format '%o=%s\n'
  gtoffset replay -g billing -t orders --from 2h -o raw
  gtoffset replay -g billing -s offsets --save --execute -- ./load-batch
  gtoffset replay -g billing -t orders --from earliest --to-topic redo --execute`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: filesToo,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.validate(g, c, args); err != nil {
				return err
			}
			return runReplay(c.Context(), g, o)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.group, "group", "g", "", "consumer `GROUP`; not needed where topics and both ends are given without one")
	f.StringArrayVarP(&o.topics, "topic", "t", nil, "`TOPIC`[:0,1,4-7], all of its partitions or those named; repeatable")
	f.StringVar(&o.from, "from", "stored", "`START`: stored, committed, earliest, a time, a length of time back, or an offset")
	f.StringVar(&o.until, "until", "end", "`END`, which is not read itself: end, committed, a time, a length of time back, or an offset")
	f.BoolVar(&o.follow, "follow", false, "go on with what is written later, until interrupted")
	numberVar(f, &o.records, "records", 0, "stop after `N` records in all")
	choose(f, &o.expired, "expired", "", "leave out what has expired of a range, instead of refusing it", "skip")
	choose(f, &o.isolation, "isolation", "read_committed", "`LEVEL`: with read_uncommitted also records of open and aborted transactions", isolations()...)
	f.StringVar(&o.template, "format", "", "`TEMPLATE` of a record as kcat has it: %t topic, %p partition, %o offset, %k key, %s value, %K %S lengths, %R length as four bytes, %T timestamp, %h headers")
	f.Var(&o.execTimeout, "exec-timeout", "the command has `DURATION` for a batch")
	numberVar(f, &o.retries, "retries", 0, "give a batch that was not accepted to the command `N` more times")
	f.StringVar(&o.toTopic, "to-topic", "", "copy the records to `TOPIC`: same partition, key, value, headers, timestamp and codec")
	f.BoolVar(&o.sameTopic, "same-topic", false, "the topic may be the one that is read")
	f.BoolVar(&o.save, "save", false, "save in the store how far the job has come, after each batch that was accepted")
	f.StringVar(&o.saveAs, "save-as", "", "the same under the name of another `GROUP`, for a range that is not the job's; a later run goes on there")
	numberVar(f, &o.batchRecords, "batch-records", 10_000, "a batch has at most `N` records")
	f.Var(&o.batchBytes, "batch-bytes", "and at most `SIZE` bytes, as 16MiB")
	f.Var(&o.batchInterval, "batch-interval", "and is closed after `DURATION`")
	numberVar(f, &o.maxRate, "max-rate", 0, "at most `N` records a second of each partition")
	f.StringVar(&o.summary, "summary", "", "write what came of it to `FILE`, as JSON")
	o.writeFlags(c)
	formats(c, jsonl, raw)
	return c
}

func (o *replayOptions) validate(g *global, c *cobra.Command, args []string) error {
	o.road.command = "replay"
	given := func(flag string) bool { return isGiven(c.Flags(), flag) }
	switch dash := c.ArgsLenAtDash(); {
	case dash > 0, dash < 0 && len(args) > 0:
		return usage(fmt.Sprintf("replay takes no argument, but for a command after --: %q", args[0]), "gtoffset replay ... -- "+quote(args[0]))
	case dash == 0 && len(args) == 0:
		return usage("there is no command after --", "gtoffset replay ... -- ./load-batch")
	}
	o.command = args
	o.groups = []string{o.group}
	for _, check := range []func() error{
		o.scope.validate,
		func() error { return o.validateRange(g, given) },
		func() error { return o.validateSink(g, given) },
		func() error { return o.validateSave(g, given) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	if o.start.Aim != offsets.AimStored && !o.saves() {
		g.withoutStore()
	}
	if o.groupless = !given("group"); o.groupless {
		return o.validateGroupless()
	}
	return nil
}

// validateGroupless checks that nothing is asked of a group where none is named.
func (o *replayOptions) validateGroupless() error {
	why := ""
	switch {
	case o.start.Aim == offsets.AimStored, o.start.Aim == offsets.AimCommitted:
		why = "where it stands is where to start"
	case o.end.Aim == offsets.AimCommitted:
		why = "where it stands is where to end"
	case o.saves():
		why = "its progress is saved"
	case len(o.selections) == 0:
		why = "its topics are read"
	default:
		return nil
	}
	return usage("no group is named, and "+why, "add -g GROUP; without one: -t TOPIC, and --from with earliest, a time or an offset")
}

// validateRange reads both ends, and checks them against each other.
func (o *replayOptions) validateRange(g *global, given func(string) bool) error {
	var err error
	if o.start, err = parseBound("--from", o.from, []offsets.Aim{offsets.AimStored, offsets.AimCommitted, offsets.AimEarliest}, g.env.Now()); err != nil {
		return err
	}
	if o.end, err = parseBound("--until", o.until, []offsets.Aim{offsets.AimLatest, offsets.AimCommitted}, g.env.Now()); err != nil {
		return err
	}
	numbers := o.start.Aim == offsets.AimOffset || o.end.Aim == offsets.AimOffset
	switch {
	case o.start.Aim == offsets.AimStored && g.store == "":
		return needStore("--from stored", ", or --from committed, earliest or a time")
	case o.follow && given("until"):
		return usage("--follow has no end, and --until is one", "leave one of them out")
	case given("records") && o.records <= 0:
		return usage(fmt.Sprintf("--records %d is no number of records", o.records), "--records 10")
	case given("max-rate") && o.maxRate <= 0:
		return usage(fmt.Sprintf("--max-rate %d is no rate", o.maxRate), "--max-rate 1000")
	case given("summary") && o.summary == "":
		return usage("--summary is empty", "is a variable not set?")
	case numbers && (len(o.selections) != 1 || len(o.selections[0].Partitions) > 1):
		return onePartition(o.selections)
	case o.start.Aim == offsets.AimOffset && o.end.Aim == offsets.AimOffset && o.start.N > o.end.N:
		return usage(fmt.Sprintf("--from %d is after --until %d", o.start.N, o.end.N), "swap them")
	case o.start.Aim == offsets.AimTime && o.end.Aim == offsets.AimTime && o.start.instant.After(o.end.instant):
		return usage(fmt.Sprintf("--from %s is after --until %s", o.start.Words, o.end.Words), "swap them")
	}
	return nil
}

// onePartition is the error of an offset for more than one. Its hint names the first.
func onePartition(named []offsets.Selection) error {
	one := "TOPIC:PARTITION"
	if len(named) > 0 {
		first := offsets.Selection{Topic: named[0].Topic, Partitions: []int32{0}}
		if ps := named[0].Partitions; len(ps) > 0 {
			first.Partitions = ps[:1]
		}
		one = quote(first.String())
	}
	return usage("an offset is one of one partition", "-t "+one+" names it; a time is written 2h, 2026-11-29T12:00:00Z or @1795953600000")
}

// validateSink checks where the records go.
func (o *replayOptions) validateSink(g *global, given func(string) bool) error {
	switch {
	case given("format") && given("output"):
		return usage("--format and -o exclude each other", "leave one of them out")
	case len(o.command) > 0 && given("to-topic"):
		return usage("a command and --to-topic exclude each other", "leave one of them out")
	case given("to-topic") && (given("format") || given("output")):
		return usage("a copy has no format: it is the record", "leave out -o and --format")
	case given("to-topic") && o.toTopic == "":
		return usage("--to-topic is empty", "is a variable not set?")
	case offsets.Internal(o.toTopic):
		return usage(fmt.Sprintf("%s is a topic of Kafka's own", o.toTopic), "--to-topic with one of yours")
	case o.sameTopic && o.toTopic == "":
		return usage("--same-topic belongs to --to-topic", "leave it out")
	case o.toTopic != "" && !o.execute && !o.dryRun:
		return usage("--to-topic writes records, which nothing takes back: it is not asked about", "add --execute, or --dry-run to look")
	case o.retries < 0:
		return usage(fmt.Sprintf("--retries %d is negative", o.retries), "--retries 3")
	case o.batchRecords <= 0:
		return usage(fmt.Sprintf("--batch-records %d is no number of records", o.batchRecords), "--batch-records 10000")
	}
	if len(o.command) == 0 {
		for _, flag := range []string{"exec-timeout", "retries"} {
			if given(flag) {
				return usage("--"+flag+" belongs to a command", "add it at the end: -- ./load-batch")
			}
		}
	} else if _, err := exec.LookPath(o.command[0]); err != nil {
		return usage(fmt.Sprintf("the command cannot be run: %v", err), "name a program; a line of shell is sh -c '…'")
	}
	for _, flag := range []string{"batch-records", "batch-bytes", "batch-interval"} {
		if given(flag) && len(o.command) == 0 && o.toTopic == "" {
			return usage("--"+flag+" belongs to a command or --to-topic: stdout has no batches", "leave it out")
		}
	}
	o.format = output.JSONLines()
	if output.Format(g.format) == raw {
		o.format = output.RawValues()
	}
	if given("format") {
		var err error
		if o.format, err = output.ParseRecordFormat(o.template); err != nil {
			return usage(fmt.Sprintf("--format %q: %v", o.template, err), "")
		}
	}
	switch {
	case o.dryRun || o.toTopic != "":
	case len(o.command) == 0:
		return g.nowhere("the records", "send stdout to a file, or to a program")
	case g.shutStdout(): // which is not known to be what it writes to
		g.note("stdout is closed: what %s writes there is nowhere, and counts as accepted", o.command[0])
	}
	return nil
}

// saves reports whether the store moves on.
func (o *replayOptions) saves() bool { return o.save || o.saveAs != "" }

// keeper is the group under which progress is kept.
func (o *replayOptions) keeper() string { return cmp.Or(o.saveAs, o.group) }

// validateSave checks that there is something to save, and a place for it.
func (o *replayOptions) validateSave(g *global, given func(string) bool) error {
	flag := "--save"
	if given("save-as") {
		flag = "--save-as"
	}
	switch {
	case given("save-as") && o.saveAs == "":
		return usage("--save-as is empty", "is a variable not set?")
	case o.save && given("save-as"):
		return usage("--save and --save-as exclude each other", "leave one of them out")
	case !o.saves():
		for _, f := range []string{"check", "idle", "wait-empty", "backup-dir", "no-backup", "why"} {
			if given(f) {
				return usage("--"+f+" belongs to --save: nothing is saved", "add --save, or leave it out")
			}
		}
		if o.execute && o.dryRun {
			return usage("--execute and --dry-run exclude each other", "say --execute to write, --dry-run to look")
		}
		return nil
	case o.toTopic == "" && len(o.command) == 0:
		return usage(flag+" needs a command or --to-topic: what stdout is read by cannot be known", "gtoffset replay ... "+flag+" -- ./load-batch")
	case g.store == "":
		return needStore(flag, "")
	case o.save && o.start.Aim != offsets.AimStored:
		return usage(fmt.Sprintf("--save goes with --from stored only: from %s on it would say what the job has not done", o.from), "--save-as "+quote(o.group+"-replay")+" keeps the progress under another name")
	case o.saveAs == o.group:
		return usage("--save-as names the group itself", "--save saves there; another name keeps it apart")
	}
	return o.road.validate(g)
}

// replayBound is an end of the range as it was given.
type replayBound struct {
	offsets.Bound
	instant time.Time
}

// parseBound reads one end of the range.
func parseBound(flag, s string, named []offsets.Aim, now time.Time) (replayBound, error) {
	word := s
	if word == "end" {
		word = string(offsets.AimLatest)
	}
	if slices.Contains(named, offsets.Aim(word)) && s != string(offsets.AimLatest) {
		return replayBound{Bound: offsets.Bound{Aim: offsets.Aim(word)}}, nil
	}
	var words []string
	for _, a := range named {
		words = append(words, strings.Replace(string(a), string(offsets.AimLatest), "end", 1))
	}
	forms := strings.Join(words, ", ") + ", an offset (one partition), 2h, 2026-11-29T12:00:00Z or @1795953600000"
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		if n < 0 || n == math.MaxInt64 {
			return replayBound{}, usage(fmt.Sprintf("%s %d is no offset", flag, n), forms)
		}
		return replayBound{Bound: offsets.Bound{Aim: offsets.AimOffset, N: n}}, nil
	}
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == "" && !isBack(s) { // one of the words was meant
		return replayBound{}, usage(fmt.Sprintf("%s %q is not known", flag, s), forms)
	}
	at, err := parseInstant(s, time.UTC, now)
	if err != nil {
		return replayBound{}, badSpan(flag, err)
	}
	if err := ahead(flag, s, at, now, time.UTC, false, forms); err != nil {
		return replayBound{}, err
	}
	return replayBound{Bound: offsets.Bound{Aim: offsets.AimTime, Words: sayInstant(at)}, instant: at}, nil
}

// byteSize is a flag of a number of bytes, with or without a unit.
type byteSize int64

func (b *byteSize) Type() string { return "SIZE" }

func (b *byteSize) String() string {
	if n := int64(*b); n > 0 && n%(1<<20) == 0 {
		return fmt.Sprintf("%dMiB", n>>20)
	}
	return strconv.FormatInt(int64(*b), 10)
}

func (b *byteSize) Set(s string) error {
	number := strings.TrimRight(s, "KMGiBkmgb")
	unit, ok := map[string]int64{
		"": 1, "b": 1, "k": 1000, "kb": 1000, "kib": 1 << 10, "m": 1e6, "mb": 1e6, "mib": 1 << 20, "g": 1e9, "gb": 1e9, "gib": 1 << 30,
	}[strings.ToLower(s[len(number):])]
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || !ok || n <= 0 || n > (1<<30)/unit {
		return fmt.Errorf("%q is no size up to 1GiB: 500000, 512KiB, 16MiB", s)
	}
	*b = byteSize(n * unit)
	return nil
}

func runReplay(ctx context.Context, g *global, o *replayOptions) error {
	r := &replay{g: g, o: o, began: g.env.Now()}
	err := r.prepare(ctx)
	switch {
	case err != nil:
	case o.saves():
		err = r.alongTheRoad(ctx)
	case o.dryRun:
		err = r.dryRun()
	default:
		err = errors.Join(r.run(ctx), r.leftOut())
	}
	return r.summarise(err)
}
