package main

import (
	"fmt"
	"strconv"
	"strings"

	"gtoffset/kafkaops/offsets"
)

// page is docs/experiments.md, made of results and nothing else. An experiment that was not done has no table.
func page(r results) string {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, e := range experiments() {
		fmt.Fprintf(&b, "\n## %s\n", e.text)
		s, done := r[e.number]
		if !done {
			b.WriteString("\nNot done yet.\n")
			continue
		}
		fmt.Fprintf(&b, "\n%s\n%s\n", e.table(s), s.origin())
	}
	b.WriteString(differences)
	b.WriteString(exceptions(r))
	return b.String()
}

// origin says where a table is from.
func (s section) origin() string {
	with := "Kafka " + s.Kafka
	if s.Spark != "" {
		with = "Spark Streaming " + s.Spark + ", " + with
	}
	return fmt.Sprintf("%s, %s: `%s`", s.At.Format("2006-01-02 15:04 MST"), with, s.Command)
}

const pageHead = `# Experiments

The scheme behind [gtoffset files](file-format.md) comes from a paper that let a Spark Streaming job keep its place in Kafka in three
ways, stopped it once, and started it again. Here its experiments are done again, at its size: 4 partitions, 100,006 and 100,000
records, batches of so many seconds, at most so many records a second from each partition. The job is
[ours](../scripts/experiments/job/DirectStreamJob.java), Spark and Kafka are the real ones, and so is the program.

This page is written by ` + "`go run ./scripts/experiments -write`" + `; no figure is from anywhere else than a run.

* **What happened** is counted by the records themselves. Each has a number, and the job writes down the numbers that it has
  processed. *Lost* is what neither run wrote down, *repeated* what both did, *read* what the second run did.
* **What was foretold** is the answer of ` + "`gtoffset describe -g GROUP -t TOPIC -s STORE -o json`" + ` between the two runs, for the place from
  which the job starts. In experiments 1 and 2, where the job keeps no file, the store holds what it has written down as
  processed.
* An experiment in which the two differ ends with an error, and comes on no page. What is repeated after a kill (3b, 4) is the one
  thing that describe cannot know: the file is its only witness, and the output that came after it left no trace there.

![lost and repeated records of each graceful stop](experiments.svg)
`

// The heading and the text above the table of each experiment.
const (
	autoText = `1. The consumer commits by itself

` + "`enable.auto.commit=true`" + `. The paper: the commits reach the end of the log while most of it is unread, and a restart finds nothing
to read. So it is, and for a reason that neither interval nor rate touches: the driver's consumer seeks to the end before each
batch, to learn how far there is to read, and what it commits is its own position. The executors, which read, never commit.`
	asyncText = `2. The job commits after each batch

` + "`commitAsync`" + `. The paper: each stop repeats partitions × interval × rate records, which is one batch. A commit waits until the next
batch is made, so that of the last one is never sent, also when the job stops gracefully.`
	fileText = `3. The job keeps a gtoffset file

Written after each batch by [one small class](examples/spark/GtoffsetFile.java), and brought into range before each start, the
first as well, by ` + "`gtoffset clamp -g GROUP -t TOPIC -s STORE --stored --wait-empty 60s --execute`" + `. The paper: nothing is lost, nothing
repeated.`
	killText = `3b. Killed with the file

The paper's extreme case: a batch was put out, and the file could not be written any more. It is repeated, and that is all. At a
random moment it is repeated only if the kill falls between its output and its save.`
	rangeText = `3c. The file out of range

Partition 0 of 4, with 1,000 records each: once the log has expired beyond what is stored, once the file says more than there is. As the
file is, the job dies; after the clamp it runs to the end.`
	replayText = `4. The same without Spark

` + "`gtoffset replay -g GROUP -t TOPIC -s STORE --save --execute --batch-records N -- COMMAND`" + `, the store clamped before each start. The command puts the
batch out; then it interrupts the replay (graceful), kills it with -9, or a kill comes at random.`
	savingText = `5. What a save costs

The four offsets of a topic saved again and again, each save resting on the one before, the places in turns. Redis syncs each change, ZooKeeper and
MariaDB do so by themselves; Kafka, HDFS and HBase answer as they are set up by default, which is before the disk has it. All run on
this machine, so that there is no network between.`
	flowText = `100,000 records replayed to a command that throws them away, without --save and with it, in turns:
`
	differences = `
## Where this differs from the paper

* **A kill before the first automatic commit loses nothing, and repeats everything.** The consumer commits every 5 s; until then the group
  has no offset, and the restart begins where ` + "`auto.offset.reset`" + ` says. (In the run that shows it the interval is ten minutes,
  so that a slow machine changes nothing.)
* **A graceful stop commits the end, however short the job has run**: closing the consumer commits its position once more. The paper
  has it only of a job that ran for 10 s.
* **A stop after commitAsync repeats one batch only between that batch's output and the next batch's making**, which sends the commit.
  A kill between the making and the output repeats nothing.
* **A job that is behind its schedule repeats more than one batch, even when it stops gracefully.** Batches are made on time and wait;
  a graceful stop makes no more, and finishes those that wait. None of them is ever committed. (The other runs of experiment 2 and 3 were
  stopped while the job kept its schedule, and are done again if it did not.)
* The paper knows neither commits nor topic ids. Where these put a number in doubt, ` + "`gtoffset clamp`" + ` asks, or refuses, before it
  does what the paper does.
`
)

// sparkTable makes a table of trials, with what the paper says of each beside it.
func sparkTable(paper func(row) claim) func(section) string {
	return trialTable(paper, []string{"interval", ">records/s"}, func(r row) []string { return []string{seconds(r.Interval), grouped(r.Rate)} })
}

// replayTable makes the same of replays.
func replayTable(paper func(row) claim) func(section) string {
	return trialTable(paper, []string{">batch of"}, func(r row) []string { return []string{grouped(r.Limit)} })
}

func trialTable(paper func(row) claim, columns []string, setting func(row) []string) func(section) string {
	return func(s section) string {
		t := newTable(append(columns, "stop", ">processed", ">committed",
			">lost: foretold", ">happened", ">repeated: foretold", ">happened", ">read: foretold", ">happened", "the paper")...)
		for _, r := range s.Trials {
			committed := "-"
			if r.Committed != nil {
				committed = grouped(*r.Committed)
			}
			t.add(append(setting(r), r.Stop, grouped(r.Processed), committed,
				grouped(r.Forecast.Lost), grouped(r.Happened.Lost), grouped(r.Forecast.Repeated), grouped(r.Happened.Repeated),
				grouped(r.Forecast.Read), grouped(r.Happened.Read), paper(r).text)...)
		}
		return t.String()
	}
}

// A claim is what the paper says of a trial.
type claim struct {
	text  string
	holds bool
}

func losesTheRest(r row) claim {
	rest := r.Records - r.Processed
	return claim{"loses " + grouped(rest), r.Happened == outcome{Lost: rest}}
}

func repeatsOne(r row) claim {
	return claim{"repeats " + grouped(r.full()), r.Happened.Lost == 0 && r.Happened.Repeated == r.full()}
}

func nothing(r row) claim {
	return claim{"0 and 0", r.Happened.Lost == 0 && r.Happened.Repeated == 0}
}

func atMostOne(r row) claim {
	return claim{"repeats up to " + grouped(r.full()), oneBatch(r) == nil}
}

// scheme is nothing after a graceful stop, and at most one batch after a kill.
func scheme(r row) claim {
	if r.Stop == graceful {
		return nothing(r)
	}
	return atMostOne(r)
}

// rangeTable makes the table of experiment 3c.
func rangeTable(s section) string {
	t := newTable("the file", ">stored", ">earliest", ">end", "foretold", "without the clamp", ">clamped",
		">lost: foretold", ">happened", ">repeated: foretold", ">happened", ">read: foretold", ">happened")
	for _, r := range s.Ranges {
		told := "runs"
		if r.Stops {
			told = "the job stops"
		}
		t.add(r.Case, grouped(int(r.Stored)), grouped(int(r.Earliest)), grouped(int(r.End)), told, "died: "+r.Died, grouped(r.Clamped),
			grouped(r.Forecast.Lost), grouped(r.Happened.Lost), grouped(r.Forecast.Repeated), grouped(r.Happened.Repeated),
			grouped(r.Forecast.Read), grouped(r.Happened.Read))
	}
	return t.String()
}

// savingTable makes the two tables of experiment 5.
func savingTable(s section) string {
	saves := newTable("place", "done when it is", ">saves", ">saves/s", ">against the first")
	for _, r := range s.Saves {
		saves.add(r.Place, r.Done, grouped(r.Saves), rough(r.PerSecond), rough(r.PerSecond/s.Saves[0].PerSecond))
	}
	flows := newTable(">batch of", ">batches", ">records/s without saving", ">with", ">with / without")
	for _, r := range s.Flows {
		flows.add(grouped(r.Limit), grouped(r.Batches), rough(r.Without), rough(r.With), fmt.Sprintf("%.2f", r.With/r.Without))
	}
	return saves.String() + "\n" + flowText + "\n" + flows.String()
}

// exceptions lists the runs in which the paper's rule did not hold.
func exceptions(r results) string {
	t := newTable("experiment", "interval", ">records/s", "stop", "the paper", ">lost", ">repeated")
	n := 0
	for _, e := range experiments() {
		for _, row := range r[e.number].Trials {
			if e.paper == nil || e.paper(row).holds {
				continue
			}
			n++
			t.add(e.number, seconds(row.Interval), grouped(row.Rate), row.Stop, e.paper(row).text, grouped(row.Happened.Lost), grouped(row.Happened.Repeated))
		}
	}
	if n == 0 {
		return "\nIn every run above the paper's rule held.\n"
	}
	return "\nThe runs above in which the paper's rule did not hold:\n\n" + t.String()
}

// A table in Markdown.
type table struct{ b strings.Builder }

// newTable begins a table; the columns whose names begin with > are aligned to the right.
func newTable(columns ...string) *table {
	t := &table{}
	rule := make([]string, len(columns))
	for i, c := range columns {
		rule[i] = "---"
		if name, right := strings.CutPrefix(c, ">"); right {
			rule[i], columns[i] = "---:", name
		}
	}
	t.add(columns...)
	t.b.WriteString("|" + strings.Join(rule, "|") + "|\n")
	return t
}

func (t *table) add(cells ...string) { t.b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }

func (t *table) String() string { return t.b.String() }

// seconds writes milliseconds.
func seconds(ms int) string { return strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64) + " s" }

func grouped(n int) string { return offsets.Thousands(int64(n)) }

// rough writes what was measured: whole from 100 on, else in two digits.
func rough(f float64) string {
	if f >= 100 {
		return grouped(int(f))
	}
	return strconv.FormatFloat(f, 'g', 2, 64)
}
