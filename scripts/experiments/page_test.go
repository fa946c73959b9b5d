package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

const root = "../.."

func written(t *testing.T) results {
	t.Helper()
	r, err := load(filepath.Join(root, dataFile))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The page and the chart are made of the results of runs, and nobody has touched them since.
func TestPageIsMadeOfResults(t *testing.T) {
	r := written(t)
	for path, want := range map[string]string{pageFile: page(r), chartFile: chart(r)} {
		got, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is not what %s gives: go run ./scripts/experiments -write", path, dataFile)
		}
	}
}

// Every trial of the full experiments is there, with its setting, and kept to its rule.
func TestPageHasEveryTrial(t *testing.T) {
	r := written(t)
	for number, e := range map[string]struct {
		trials []trial
		rule   func(row) error
	}{
		"1":  {autoTrials(false), foretold},
		"2":  {asyncTrials(false), both(foretold, nothingLost)},
		"3":  {fileTrials(false), both(foretold, oneBatch)},
		"3b": {killTrials(false), both(onlyTheFileKnows, oneBatch)},
	} {
		got := r[number].Trials
		if len(got) != len(e.trials) {
			t.Errorf("experiment %s: got %d trials, want %d", number, len(got), len(e.trials))
			continue
		}
		for i, want := range e.trials {
			if got[i].Interval != int(want.interval.Milliseconds()) || got[i].Rate != want.rate || got[i].Stop != want.stop {
				t.Errorf("experiment %s, trial %d: got %+v, want the setting %v, %s", number, i+1, got[i], want.setting, want.stop)
			}
			if want.stop != gracefulLate && got[i].Processed >= got[i].Records {
				t.Errorf("experiment %s, trial %d: all was processed before the stop; was the machine busy?", number, i+1)
			}
			if err := e.rule(got[i]); err != nil {
				t.Errorf("experiment %s, trial %d: %v", number, i+1, err)
			}
		}
	}
	for i, want := range replayTrials(false) {
		if got := r["4"].Trials; len(got) != len(replayTrials(false)) || got[i].Limit != want.limit || got[i].Stop != want.stop {
			t.Errorf("experiment 4: got %d trials, want the %d of the program, among them batches of %d, %s", len(got), len(replayTrials(false)), want.limit, want.stop)
		}
	}
	if len(r["3c"].Ranges) != 2 || len(r["5"].Saves) != 2+len(services()) || len(r["5"].Flows) != 2 {
		t.Errorf("experiments 3c and 5: got %+v and %+v, want a low and a high file, and what saves cost", r["3c"], r["5"])
	}
	for _, e := range experiments() {
		if s := r[e.number]; s.At.IsZero() || !strings.Contains(s.Command, "-only "+e.number) {
			t.Errorf("experiment %s: got %v and %q, want when and how it was done", e.number, s.At, s.Command)
		}
	}
}

// What the page says of the paper's figures, the runs show.
func TestThePapersFigures(t *testing.T) {
	r := written(t)
	for _, row := range r["1"].Trials {
		if holds := losesTheRest(row).holds; holds == (row.Stop == killedEarly) {
			t.Errorf("experiment 1: got %+v, which the page does not say", row)
		}
		if row.Stop != killedEarly && (row.Committed == nil || *row.Committed != row.Records) {
			t.Errorf("experiment 1: got %+v, want commits at the end of the log", row)
		}
	}
	for _, row := range r["2"].Trials {
		n, one := row.Happened.Repeated, row.full()
		if row.Stop == graceful && n != one || row.Stop == killedBefore && n != 0 || row.Stop == gracefulLate && n <= one {
			t.Errorf("experiment 2: got %+v, which the page does not say; was the machine busy?", row)
		}
	}
	for _, row := range r["3"].Trials {
		if !nothing(row).holds {
			t.Errorf("experiment 3: got %+v, want nothing lost and nothing repeated", row)
		}
	}
	for _, row := range r["4"].Trials {
		if !scheme(row).holds {
			t.Errorf("experiment 4: got %+v, the paper: %s", row, scheme(row).text)
		}
	}
	for _, row := range r["3b"].Trials {
		if row.Stop == killedBetween && row.Happened.Repeated != row.full() {
			t.Errorf("experiment 3b: got %+v, want one batch repeated", row)
		}
	}
}

func TestTally(t *testing.T) {
	run := func(numbers ...int) []record {
		var all []record
		for _, n := range numbers {
			all = append(all, at(n))
		}
		return all
	}
	for name, c := range map[string]struct {
		first, second []record
		want          outcome
	}{
		"nothing processed": {nil, nil, outcome{Lost: 6}},
		"all once":          {run(0, 1, 2), run(3, 4, 5), outcome{Read: 3}},
		"lost and repeated": {run(0, 1, 2), run(1, 2, 4), outcome{Lost: 2, Repeated: 2, Read: 3}},
	} {
		got, err := tally(6, c.first, c.second)
		if err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v; want %+v", name, got, err, c.want)
		}
	}
	for name, bad := range map[string][]record{
		"twice in one run":   run(1, 1),
		"of no such topic":   run(6),
		"another's number":   {{partition: 0, offset: 0, number: 1}},
		"a number below all": {{partition: 0, offset: 0, number: -1}},
	} {
		if got, err := tally(6, bad, nil); err == nil {
			t.Errorf("%s: got %+v, want an error", name, got)
		}
	}
}

func TestNext(t *testing.T) {
	got, err := next([]record{at(0), at(1), at(4)})
	if err != nil || got[0] != 2 || got[1] != 1 || got[2] != 0 || len(got) != partitions {
		t.Errorf("got %v, %v; want 2, 1, 0 and 0", got, err)
	}
	if got, err := next([]record{at(0), at(8)}); err == nil {
		t.Errorf("a hole: got %v, want an error", got)
	}
}

func TestJobIsHeard(t *testing.T) {
	j := &job{changed: make(chan struct{})}
	for _, part := range []string{"started\nbat", "ch 1 70 0:0-50 1:0-49\n", "holding\n"} {
		if _, err := j.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	want := []batch{{70 * time.Millisecond, map[int32][2]int64{0: {0, 50}, 1: {0, 49}}}}
	if !reflect.DeepEqual(j.batches, want) || !j.holding {
		t.Errorf("got %v, holding %v; want %v, and then holding", j.batches, j.holding, want)
	}
	ends := map[int32]int64{0: 50, 1: 49}
	if !j.drained(ends) {
		t.Errorf("not drained at %v", ends)
	}
	if ends[1]++; j.drained(ends) {
		t.Errorf("drained at %v", ends)
	}
	if _, err := j.Write([]byte("batch 2 70 nonsense\n")); err == nil {
		t.Error("nonsense was taken for a batch")
	}
}

func TestFull(t *testing.T) {
	r := row{Interval: int((2 * time.Second).Milliseconds()), Rate: 1000}
	if got := r.full(); got != 8000 {
		t.Errorf("got %d, want 4 partitions x 2 s x 1000/s = 8000", got)
	}
}

func TestOnSchedule(t *testing.T) {
	const interval = time.Second
	for name, c := range map[string]struct {
		ended []time.Duration
		want  bool
	}{
		"no batch":          {nil, false},
		"one":               {[]time.Duration{1}, false},
		"late, then two":    {[]time.Duration{3 * interval, interval - 1, 1}, true},
		"the last late":     {[]time.Duration{1, 1, interval}, false},
		"the one before it": {[]time.Duration{1, interval, 1}, false},
	} {
		j := &job{}
		for _, d := range c.ended {
			j.batches = append(j.batches, batch{ended: d})
		}
		if got := j.onSchedule(interval); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
