package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/scripts/live"
)

// saveRow is what saving the four offsets of a topic costs in one place.
type saveRow struct {
	Place     string  `json:"place"`
	Done      string  `json:"done"`  // when a save is
	Saves     int     `json:"saves"` // in all rounds
	PerSecond float64 `json:"per_second"`
}

// flowRow is a replay of a whole topic to a command, with and without saving after each batch.
type flowRow struct {
	Limit   int     `json:"batch_records"`
	Batches int     `json:"batches"` // accepted, and with saving each saved
	Without float64 `json:"without"` // records a second
	With    float64 `json:"with"`
}

// A keeper keeps offsets somewhere.
type keeper struct {
	name string
	done string                                      // when a save is
	save func(ctx context.Context, next int64) error // of all partitions; next grows by one with each call
	end  func() error
}

// saving is experiment 5: what a save costs. The places take turns, and the median of the rounds counts.
func saving(ctx context.Context, l *lab, short bool) (s section, err error) {
	rounds, each, limits := 9, time.Second, []int{1000, 10_000}
	if short {
		rounds, each, limits = 1, 100*time.Millisecond, limits[:1]
	}
	const topic = "saving"
	if err := l.fill(ctx, topic, 100_000); err != nil {
		return s, err
	}
	var keepers []keeper
	defer func() {
		for _, k := range keepers {
			err = errors.Join(err, k.end())
		}
	}()
	places := []func(context.Context, *lab, string) (keeper, error){keepInFile, keepInKafka}
	if !short { // Redis, MariaDB, ZooKeeper, HDFS and HBase are big for a test
		for _, s := range services() {
			places = append(places, s.keeper)
		}
	}
	for _, open := range places {
		k, err := open(ctx, l, topic)
		if err != nil {
			return s, err
		}
		keepers = append(keepers, k)
	}
	if s.Saves, err = race(ctx, keepers, rounds, each); err != nil {
		return s, err
	}
	for _, limit := range limits {
		r, err := l.flow(ctx, topic, 100_000, limit, rounds)
		if err != nil {
			return s, err
		}
		s.Flows = append(s.Flows, r)
	}
	return s, nil
}

// race lets the keepers save in turns.
func race(ctx context.Context, keepers []keeper, rounds int, each time.Duration) ([]saveRow, error) {
	rows := make([]saveRow, len(keepers))
	rates := make([][]float64, len(keepers))
	save := func(i int) error {
		rows[i].Saves++
		if err := keepers[i].save(ctx, int64(rows[i].Saves)); err != nil {
			return fmt.Errorf("save in %s: %w", keepers[i].name, err)
		}
		return nil
	}
	for i := range keepers { // the first makes what is missing
		if err := save(i); err != nil {
			return nil, err
		}
	}
	for range rounds {
		for i := range keepers {
			before, began := rows[i].Saves, time.Now()
			for time.Since(began) < each {
				if err := save(i); err != nil {
					return nil, err
				}
			}
			rates[i] = append(rates[i], float64(rows[i].Saves-before)/time.Since(began).Seconds())
		}
	}
	for i, k := range keepers {
		rows[i].Place, rows[i].Done, rows[i].PerSecond = k.name, k.done, median(rates[i])
	}
	return rows, nil
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// keepInFile saves in a gtoffset file, as replay does.
func keepInFile(ctx context.Context, l *lab, topic string) (keeper, error) {
	files, err := offsetfile.Open(l.store())
	if err != nil {
		return keeper{}, err
	}
	return keepIn(ctx, "gtoffset file", synced, files, topic)
}

// keepIn saves in any store, each save resting on the one before.
func keepIn(ctx context.Context, name, done string, store offsetfile.Store, topic string) (keeper, error) {
	const group = "saving"
	held, err := store.Load(ctx, group, []string{topic}, false)
	if err != nil {
		return keeper{}, err
	}
	writer, err := store.Writer(ctx, group, []string{topic})
	if err != nil {
		return keeper{}, err
	}
	seen, last := held.Store, int64(offsets.None)
	save := func(ctx context.Context, next int64) error {
		var changes []offsets.Change
		for p := range int32(partitions) {
			changes = append(changes, offsets.Change{
				Key: offsets.Key{Topic: topic, Partition: p}, Side: offsets.Stored, Verdict: offsets.Write, Target: offsets.Fixed,
				Old: offsets.Value{Offset: last, Epoch: offsets.None}, New: offsets.Value{Offset: next, Epoch: offsets.None},
			})
		}
		changes, seen = writer.Save(ctx, seen, changes, offsetfile.Facts{Now: time.Now()})
		for _, c := range changes {
			if c.Result != offsets.Written || c.Error != "" {
				return fmt.Errorf("%s: %s %s", c.Key, c.Result, c.Error)
			}
		}
		last = next
		return nil
	}
	return keeper{name, done, save, func() error { return errors.Join(writer.Unlock(), store.Close()) }}, nil
}

// keepInKafka commits, and waits for the answer.
func keepInKafka(_ context.Context, l *lab, topic string) (keeper, error) {
	save := func(ctx context.Context, next int64) error {
		places := map[int32]live.Commit{}
		for p := range int32(partitions) {
			places[p] = live.At(next)
		}
		return l.kafka.Commit(ctx, "saving", topic, places)
	}
	return keeper{"commit in Kafka", answered, save, func() error { return nil }}, nil
}

// flow replays a topic of n records to a command that throws them away, with and without saving in turns.
func (l *lab) flow(ctx context.Context, topic string, n, limit, rounds int) (flowRow, error) {
	p := place{fmt.Sprintf("flow-%d", limit), topic}
	if _, err := l.clamp(ctx, p); err != nil {
		return flowRow{}, err
	}
	r := flowRow{Limit: limit}
	var with, without []float64
	for range rounds {
		rate, err := l.drain(ctx, p, n, &r)
		if err != nil {
			return r, err
		}
		without = append(without, rate)
		if rate, err = l.drain(ctx, p, n, &r, "--save", "--execute"); err != nil {
			return r, err
		}
		with = append(with, rate)
		if _, err := l.gtoffset(ctx, "reset", "-g", p.group, "-t", topic, "--stored", "--to-earliest", "--execute"); err != nil {
			return r, err
		}
	}
	r.Without, r.With = median(without), median(with)
	return r, nil
}

// drain replays all n records, and returns how many a second.
func (l *lab) drain(ctx context.Context, p place, n int, r *flowRow, more ...string) (float64, error) {
	summary := filepath.Join(l.dir, "summary.json")
	args := append([]string{"replay", "-g", p.group, "-t", p.topic, "--batch-records", strconv.Itoa(r.Limit), "--summary", summary}, more...)
	began := time.Now()
	_, err := l.gtoffset(ctx, append(args, "--", "sh", "-c", "cat >/dev/null")...)
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	text, err := os.ReadFile(summary)
	if err != nil {
		return 0, err
	}
	var said struct{ Records, Batches int }
	if err := json.Unmarshal(text, &said); err != nil {
		return 0, fmt.Errorf("read the replay's summary: %w\n%s", err, text)
	}
	if said.Records != n {
		return 0, fmt.Errorf("the replay read %d records of %d", said.Records, n)
	}
	r.Batches = said.Batches
	return float64(n) / took.Seconds(), nil
}
