package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"gtoffset/scripts/live"
)

// A trial is a job that is stopped once, and started again until it has read everything.
type trial struct {
	mode mode
	setting
	stop    string // how, as the table has it
	moment  moment // when
	hold    string // where the job stands still, as a plan has it
	options []string
	onTime  bool // it must keep its schedule from the moment on, and not reach the end of the topic; else it is no trial
}

// A moment waits for the time to stop a job.
type moment func(context.Context, *lab, place, *job) error

// after is a time after the first batch.
func after(d time.Duration) moment {
	return func(ctx context.Context, _ *lab, _ place, j *job) error {
		if err := j.has(ctx, 1); err != nil {
			return err
		}
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// batches is when so many are finished.
func batches(n int) moment {
	return func(ctx context.Context, _ *lab, _ place, j *job) error { return j.has(ctx, n) }
}

// errBehind says that a trial was none: the machine was too busy for it.
var errBehind = errors.New("the job was behind its schedule, or at the end of the topic: the machine is too busy for this experiment")

// onTime is when the job keeps its schedule, after so many batches at least.
func onTime(n int, interval time.Duration) moment {
	return func(ctx context.Context, l *lab, p place, j *job) error {
		ends, err := l.ends(ctx, p.topic)
		if err != nil {
			return err
		}
		late := false
		err = j.until(ctx, "keeps its schedule", func() bool {
			late = j.drained(ends)
			return late || len(j.batches) >= n && j.onSchedule(interval)
		})
		if err == nil && late {
			return errBehind
		}
		return err
	}
}

// holding is when the job stands still between output and offsets.
func holding(ctx context.Context, _ *lab, _ place, j *job) error {
	return j.until(ctx, "holds", func() bool { return j.holding })
}

// committed is when, after another moment, the group has a commit of every partition: with atEnd one at its end, since the first
// automatic commit may come before the driver has looked how far there is to read.
func committed(after moment, atEnd bool) moment {
	return func(ctx context.Context, l *lab, p place, j *job) error {
		if err := after(ctx, l, p, j); err != nil {
			return err
		}
		ends, err := l.ends(ctx, p.topic)
		if err != nil {
			return err
		}
		return live.Eventually(ctx, fmt.Sprintf("group %q has committed", p.group), func(ctx context.Context) (bool, error) {
			all, err := l.kafka.Committed(ctx, p.group)
			if err != nil || len(all[p.topic]) < partitions {
				return false, err
			}
			for partition, commit := range all[p.topic] {
				if atEnd && commit.Offset < ends[partition] {
					return false, nil
				}
			}
			return true, nil
		})
	}
}

// row is what came of a trial.
type row struct {
	Interval  int     `json:"interval_ms,omitempty"`
	Rate      int     `json:"rate,omitempty"`
	Limit     int     `json:"batch_records,omitempty"` // of a replay, instead of interval and rate
	Stop      string  `json:"stop"`
	Records   int     `json:"records"`   // in the topic
	Processed int     `json:"processed"` // before the stop
	Committed *int    `json:"committed"` // at the restart, the sum of the partitions; nil if there was no commit
	Forecast  outcome `json:"forecast"`  // by gtoffset describe, before the restart
	Happened  outcome `json:"happened"`
}

// full is the most that a batch has: the limit of a replay, else what the paper gives, partitions x interval x rate.
func (r row) full() int {
	if r.Limit > 0 {
		return r.Limit
	}
	return partitions * r.Interval * r.Rate / 1000
}

// try does a trial over a topic of n records.
func (l *lab) try(ctx context.Context, t trial, topic string, n int) (row, error) {
	l.runs++
	p := place{fmt.Sprintf("%s-%d", t.mode, l.runs), topic}
	r := row{Interval: int(t.interval.Milliseconds()), Rate: t.rate, Stop: t.stop, Records: n}
	l.say("%s, %v, %d/s, %s", t.mode, t.interval, t.rate, t.stop)

	first, err := l.stopped(ctx, t, p)
	if err != nil {
		return r, err
	}
	r.Processed = len(first)
	from := "store"
	if t.mode != file {
		from = "commits"
		if err := l.keep(p, first); err != nil {
			return r, err
		}
	}
	if r.Forecast, r.Committed, err = l.foretell(ctx, p, from); err != nil {
		return r, err
	}
	second, err := l.drained(ctx, t.mode, p)
	if err != nil {
		return r, err
	}
	r.Happened, err = tally(n, first, second)
	l.say("  processed %d, forecast %+v, happened %+v", r.Processed, r.Forecast, r.Happened)
	return r, err
}

// stopped runs the job until the trial's moment, stops it, and returns what it processed.
func (l *lab) stopped(ctx context.Context, t trial, p place) ([]record, error) {
	j, err := l.start(ctx, plan{t.mode, p, t.interval, t.rate, t.hold, t.options})
	if err != nil {
		return nil, err
	}
	defer j.Stop()
	if err := t.moment(ctx, l, p, j); err != nil {
		return nil, err
	}
	if t.stop == graceful || t.stop == gracefulLate {
		if err := j.finish(ctx); err != nil {
			return nil, err
		}
	} else {
		j.Stop() // kill -9
	}
	if err := l.left(ctx, p.group); err != nil {
		return nil, err
	}
	if t.onTime {
		if err := l.kept(ctx, t, p, j); err != nil {
			return nil, err
		}
	}
	return j.processed()
}

// kept holds a job that has ended to its schedule. What one repeats that is behind it is another matter.
func (l *lab) kept(ctx context.Context, t trial, p place, j *job) error {
	ends, err := l.ends(ctx, p.topic)
	if err != nil {
		return err
	}
	if j.drained(ends) || !j.onSchedule(t.interval) {
		return errBehind
	}
	return nil
}

// drained runs the job again, without a limit to its rate, until it has read everything, and returns what it processed.
func (l *lab) drained(ctx context.Context, m mode, p place) ([]record, error) {
	ends, err := l.ends(ctx, p.topic)
	if err != nil {
		return nil, err
	}
	j, err := l.start(ctx, plan{mode: m, place: p, interval: 500 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	defer j.Stop()
	if err := j.drains(ctx, ends); err != nil {
		return nil, err
	}
	if err := j.finish(ctx); err != nil {
		return nil, err
	}
	return j.processed()
}

// trials is an experiment that consists of trials over one topic of n records, which must all keep to the rule.
func trials(topic string, n int, list func(short bool) []trial, rule func(row) error) func(context.Context, *lab, bool) (section, error) {
	return func(ctx context.Context, l *lab, short bool) (section, error) {
		s := section{Spark: live.Spark}
		if err := l.fill(ctx, topic, n); err != nil {
			return s, err
		}
		for _, t := range list(short) {
			r, err := l.try(ctx, t, topic, n)
			for again := 0; again < 5 && errors.Is(err, errBehind); again++ {
				l.say("  %v; once more", err)
				r, err = l.try(ctx, t, topic, n)
			}
			if err == nil {
				err = rule(r)
			}
			if err != nil {
				return s, fmt.Errorf("%s, %v, %d records/s, %s: %w", t.mode, t.interval, t.rate, t.stop, err)
			}
			s.Trials = append(s.Trials, r)
		}
		return s, nil
	}
}

// autoTrials are those of experiment 1.
func autoTrials(short bool) []trial {
	settings, stop, consumer := []setting{{2 * time.Second, 50}, {time.Second, 500}, {500 * time.Millisecond, 50}}, after(10*time.Second), []string(nil)
	if short {
		settings, stop, consumer = settings[2:], batches(2), []string{"consumer.auto.commit.interval.ms=500"} // instead of 5 s
	}
	var trials []trial
	for _, s := range settings {
		trials = append(trials, trial{mode: auto, setting: s, stop: graceful, moment: stop, options: consumer})
	}
	for _, s := range settings {
		trials = append(trials, trial{mode: auto, setting: s, stop: killed, moment: committed(stop, true), options: consumer})
	}
	return append(trials, trial{
		mode: auto, setting: setting{time.Second, 100}, stop: killedEarly, moment: batches(2),
		options: []string{"consumer.auto.commit.interval.ms=600000"}, // however slow the machine is, there is none before the kill
	})
}

// asyncTrials are those of experiment 2. In short the machine may be too busy for the job's schedule, and only the forecast counts.
func asyncTrials(short bool) []trial {
	if short {
		return []trial{{mode: async, setting: five(short)[0], stop: graceful, moment: batches(2)}}
	}
	var trials []trial
	for _, s := range five(short) {
		trials = append(trials, trial{mode: async, setting: s, stop: graceful, moment: onTime(2, s.interval), onTime: true})
	}
	for _, s := range five(short) {
		trials = append(trials, trial{mode: async, setting: s, stop: killed, moment: onTime(2, s.interval), onTime: true})
	}
	return append(trials,
		trial{mode: async, setting: five(short)[0], stop: killedBefore, moment: committed(holding, false), hold: "before:2"},
		trial{mode: async, setting: setting{500 * time.Millisecond, 1000}, stop: gracefulLate, moment: batches(4), options: []string{"slow=1000"}},
	)
}

// fileTrials are those of experiment 3.
func fileTrials(short bool) []trial {
	if short {
		return []trial{{mode: file, setting: five(short)[0], stop: graceful, moment: batches(2)}}
	}
	var trials []trial
	for _, s := range five(short) {
		trials = append(trials, trial{mode: file, setting: s, stop: graceful, moment: onTime(2, s.interval), onTime: true})
	}
	return trials
}

// killTrials are those of experiment 3b.
func killTrials(short bool) []trial {
	random := 10
	if short {
		random = 1
	}
	var trials []trial
	for _, s := range five(short) {
		trials = append(trials, trial{mode: file, setting: s, stop: killedBetween, moment: holding, hold: "after:2"})
	}
	for i := range random {
		s := five(short)[i%len(five(short))]
		trials = append(trials, trial{mode: file, setting: s, stop: killedAnywhere, moment: after(rand.N(2 * s.interval))})
	}
	return trials
}

// How a job is stopped.
const (
	graceful       = "graceful"
	gracefulLate   = "graceful, behind schedule"
	killed         = "kill -9"
	killedEarly    = "kill -9 before the first commit"
	killedBefore   = "kill -9 before a batch's output"
	killedBetween  = "kill -9 between output and save"
	killedAnywhere = "kill -9 at random"
)

// A setting is what the paper varies.
type setting struct {
	interval time.Duration // of a batch
	rate     int           // records a second and partition at most
}

// five are the settings of experiments 2 and 3; in short it is one.
func five(short bool) []setting {
	if short { // a hundred batches: however slow the machine, the stop comes before the end
		return []setting{{500 * time.Millisecond, 500}}
	}
	return []setting{{time.Second, 1000}, {2 * time.Second, 500}, {2 * time.Second, 1000}, {2 * time.Second, 2000}, {4 * time.Second, 500}}
}

// foretold demands that describe named what the restart then did.
func foretold(r row) error {
	if r.Forecast != r.Happened {
		return fmt.Errorf("describe foretold %+v, what happened is %+v", r.Forecast, r.Happened)
	}
	return nil
}

// nothingLost demands just that.
func nothingLost(r row) error {
	if r.Happened.Lost > 0 {
		return fmt.Errorf("got %+v, want nothing lost", r.Happened)
	}
	return nil
}

// oneBatch demands that the stop lost nothing and repeated no more than one batch.
func oneBatch(r row) error {
	if r.Happened.Lost > 0 || r.Happened.Repeated > r.full() {
		return fmt.Errorf("got %+v, want nothing lost and no more repeated than a batch of %d", r.Happened, r.full())
	}
	return nil
}

// onlyTheFileKnows demands what describe can foretell from a file alone: what will be read, but not that the batch after it was
// put out already.
func onlyTheFileKnows(r row) error {
	r.Forecast.Repeated = r.Happened.Repeated
	return foretold(r)
}

// both demands two things.
func both(a, b func(row) error) func(row) error {
	return func(r row) error { return errors.Join(a(r), b(r)) }
}
