package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/scripts/pages"
)

// Where the figures are kept, and the page that has a table of them, from the root of the repository.
const (
	dataFile = "docs/bench.json"
	pageFile = "README.md"
)

func marks() pages.Marks {
	return pages.Marks{Begin: "<!-- go run ./scripts/bench/describe -write -->\n", End: "<!-- /bench -->\n"}
}

// results are the figures of the last run.
type results struct {
	At       time.Time  `json:"at"`
	Kafka    string     `json:"kafka"` // release
	Cores    int        `json:"cores"`
	Rounds   int        `json:"rounds"`
	Tool     int        `json:"tool"` // rounds of Kafka's tool
	Measured []measured `json:"measured"`
}

// measured is what the programs took for the same groups.
type measured struct {
	Groups     int    `json:"groups"`
	Partitions int    `json:"partitions"` // of each group
	Near       beside `json:"near"`       // over loopback
	Far        beside `json:"far"`        // over a line of 10 ms each way; zero: not measured
	Memory     memory `json:"memory"`
}

// beside are medians of time over that of gtoffset.
type beside struct {
	Kadm float64 `json:"kadm"`
	Tool float64 `json:"tool"`
}

// memory is resident, in MB.
type memory struct {
	Describe float64 `json:"describe"`
	Kadm     float64 `json:"kadm"`
	Tool     float64 `json:"tool"`
}

func newResults(kafka string) results {
	return results{At: time.Now().UTC().Truncate(time.Second), Kafka: kafka, Cores: runtime.NumCPU(), Rounds: *rounds, Tool: *javaRounds}
}

// table is what the page shows.
func table(r results) string {
	var b strings.Builder
	fmt.Fprintf(&b, "`describe` on three brokers of Kafka %s and %d cores, %s, medians of %d runs by turns (%d of Kafka's tool), times as multiples of gtoffset's:\n\n",
		r.Kafka, r.Cores, r.At.Format(time.DateOnly), r.Rounds, r.Tool)
	b.WriteString("| | | gtoffset | kafka-consumer-groups | a program on kadm |\n|---|---|---:|---:|---:|\n")
	row := func(of, what string, x beside) {
		fmt.Fprintf(&b, "| %s | %s | 1 | %.0f | %.2f |\n", of, what, x.Tool, x.Kadm)
	}
	for _, m := range r.Measured {
		row(fmt.Sprintf("%s of %s", offsets.Plural(m.Groups, "group"), offsets.Plural(m.Partitions, "partition")), "time", m.Near)
		if m.Far != (beside{}) {
			row("", "time, brokers 10 ms away", m.Far)
		}
		fmt.Fprintf(&b, "| | memory | %.0f MB | %.0f MB | %.0f MB |\n", m.Memory.Describe, m.Memory.Tool, m.Memory.Kadm)
	}
	return b.String()
}

// write keeps the figures, and puts the table of them into the page.
func (r results) write() error {
	page, err := os.ReadFile(pageFile)
	if err != nil {
		return err
	}
	if err := pages.Save(dataFile, r); err != nil {
		return err
	}
	return os.WriteFile(pageFile, []byte(marks().Put(string(page), table(r))), 0o644)
}
