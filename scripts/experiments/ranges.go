package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/scripts/live"
)

// rangeRow is what came of a file that was out of range in partition 0.
type rangeRow struct {
	Case     string  `json:"case"` // low or high
	Stored   int64   `json:"stored"`
	Earliest int64   `json:"earliest"`
	End      int64   `json:"end"`
	Stops    bool    `json:"stops"` // describe foretold that the job stops
	Died     string  `json:"died"`  // of what it died then
	Clamped  int     `json:"clamped"`
	Forecast outcome `json:"forecast"` // after the clamp
	Happened outcome `json:"happened"`
}

// outOfRange is experiment 3c.
func outOfRange(ctx context.Context, l *lab, _ bool) (section, error) {
	const each = 1000 // records of each partition
	s := section{Spark: live.Spark}
	for _, c := range []struct {
		name             string
		earliest, stored int64
		died             string
	}{
		{"low", 300, 100, "OffsetOutOfRangeException"},
		{"high", 0, 5000, "numRecords must not be negative"},
	} {
		p := place{"file-" + c.name, c.name}
		r := rangeRow{Case: c.name, Stored: c.stored, Earliest: c.earliest, End: each}
		l.say("a file that is %s", c.name)
		if err := l.fill(ctx, p.topic, partitions*each); err != nil {
			return s, err
		}
		if _, err := l.clamp(ctx, p); err != nil {
			return s, err
		}
		if c.earliest > 0 {
			if err := l.kafka.DeleteRecords(ctx, p.topic, 0, c.earliest); err != nil {
				return s, err
			}
		}
		if err := l.change(p, 0, c.stored); err != nil {
			return s, err
		}
		if err := l.outOfRange(ctx, p, partitions*each, c.died, &r); err != nil {
			return s, fmt.Errorf("%s: %w", c.name, err)
		}
		s.Ranges = append(s.Ranges, r)
	}
	return s, nil
}

// outOfRange starts the job as the file is, where it must die, and again after the clamp.
func (l *lab) outOfRange(ctx context.Context, p place, n int, died string, r *rangeRow) error {
	d, err := l.describe(ctx, p)
	if err != nil {
		return err
	}
	f, err := d.forecast("store", "none") // Spark's executors have no other policy
	if err != nil {
		return err
	}
	r.Stops, r.Forecast.Lost = f.Stops, f.LosesExpired
	if err := l.dies(ctx, p, died); err != nil {
		return err
	}
	r.Died = died
	if r.Clamped, err = l.clamp(ctx, p); err != nil {
		return err
	}
	if d, err = l.describe(ctx, p); err != nil {
		return err
	}
	if f, err = d.forecast("store", "none"); err != nil {
		return err
	}
	r.Forecast.Repeated, r.Forecast.Read = f.Repeats, f.Reads
	second, err := l.drained(ctx, file, p)
	if err != nil {
		return err
	}
	if r.Happened, err = tally(n, before(r.Stored, n), second); err != nil {
		return err
	}
	l.say("  forecast %+v, happened %+v", r.Forecast, r.Happened)
	if !r.Stops || f.Stops || r.Clamped != 1 || r.Forecast != r.Happened {
		return fmt.Errorf("foretold: stops %v, after the clamp of %d partitions %v and %+v; happened: it died, after the clamp %+v",
			r.Stops, r.Clamped, f.Stops, r.Forecast, r.Happened)
	}
	return nil
}

// before is what the file says was processed of partition 0, as far as it is in a topic of n records.
func before(stored int64, n int) []record {
	var all []record
	for number := range n {
		if r := at(number); r.partition == 0 && r.offset < stored {
			all = append(all, r)
		}
	}
	return all
}

// change puts another offset into the file, as if the job had saved it.
func (l *lab) change(p place, partition int32, offset int64) error {
	path := filepath.Join(l.folder(p), "gtoffset")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	doc, err := offsetfile.Parse(text)
	if err == nil {
		err = doc.Set(offsetfile.Entry{Partition: partition, Offset: offset, Epoch: offsets.None})
	}
	if err != nil {
		return fmt.Errorf("change %s: %w", path, err)
	}
	return os.WriteFile(path, doc.Bytes(), 0o644)
}

// dies runs a job that must end by itself, before it has processed anything, with a certain text on standard error.
func (l *lab) dies(ctx context.Context, p place, of string) error {
	j, err := l.startAsItIs(plan{mode: file, place: p, interval: 500 * time.Millisecond})
	if err != nil {
		return err
	}
	defer j.Stop()
	if err := j.gone(ctx); err != nil {
		return err
	}
	done, err := j.processed()
	switch {
	case err != nil:
		return err
	case j.Err() == nil || len(done) > 0:
		return fmt.Errorf("the job should have died at once; it processed %d records and ended with %v", len(done), j.Err())
	case !strings.Contains(j.errs.String(), of):
		return fmt.Errorf("the job died of something else than %q\n%s", of, j.lastWords())
	}
	return nil
}
