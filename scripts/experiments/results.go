package main

import (
	"os"
	"time"

	"gtoffset/scripts/pages"
)

// Where the page and what it is made from lie, from the root of the repository.
const (
	dataFile  = "docs/experiments.json"
	pageFile  = "docs/experiments.md"
	chartFile = "docs/experiments.svg"
)

// A section is the results of one experiment.
type section struct {
	At      time.Time  `json:"at"`
	Command string     `json:"command"`
	Kafka   string     `json:"kafka"` // release
	Spark   string     `json:"spark,omitempty"`
	Trials  []row      `json:"trials,omitempty"`
	Ranges  []rangeRow `json:"ranges,omitempty"`
	Saves   []saveRow  `json:"saves,omitempty"`
	Flows   []flowRow  `json:"flows,omitempty"`
}

// results are sections by the number of their experiment.
type results map[string]section

// load reads what has been found so far, nothing if there is no such file.
func load(path string) (results, error) {
	r := results{}
	return r, pages.Load(path, &r)
}

// write writes what has been found, and the page and the chart that are made of it. It runs in the root of the repository, as go run
// ./scripts/experiments does.
func (r results) write() error {
	if err := pages.Save(dataFile, r); err != nil {
		return err
	}
	for path, content := range map[string]string{pageFile: page(r), chartFile: chart(r)} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
