package main

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"gtoffset/scripts/pages"
)

// Where the tables and what they are made from lie, from the root of the repository.
const (
	dataFile = "docs/faults.json"
	pageFile = "docs/reliability.md"
)

// results are all cells and soaks of the last runs.
type results struct {
	Cells cells `json:"cells"`
	Soaks soaks `json:"soaks"`
}

// A cell is what came of one command under one fault.
type cell struct {
	Fault   string  `json:"fault"`
	Command string  `json:"command"`
	Met     bool    `json:"met"` // the fault befell the run
	Code    int     `json:"code"`
	Said    string  `json:"said,omitempty"`   // why, in the program's words
	Stands  string  `json:"stands,omitempty"` // what is true in the end: old, new or some; of a replay none, all or some
	Ratio   float64 `json:"ratio"`            // of the time that it took to what it may take
	Wrong   string  `json:"wrong,omitempty"`
}

func (c cell) String() string {
	verdict := "ok"
	if c.Wrong != "" {
		verdict = "WRONG: " + c.Wrong
	}
	return fmt.Sprintf("%-55s %-18s met %-5v exit %d %-4s %.2f %s  %s", c.Fault, c.Command, c.Met, c.Code, c.Stands, c.Ratio, verdict, c.Said)
}

type cells []cell

// with replaces the cell of the same place, or adds one.
func (all cells) with(c cell) cells {
	if i := slices.IndexFunc(all, func(o cell) bool { return o.Fault == c.Fault && o.Command == c.Command }); i >= 0 {
		all[i] = c
		return all
	}
	return append(all, c)
}

func (all cells) at(fault, command string) (cell, bool) {
	i := slices.IndexFunc(all, func(c cell) bool { return c.Fault == fault && c.Command == command })
	if i < 0 {
		return cell{}, false
	}
	return all[i], true
}

// A soak is how many runs of one command ended how.
type soak struct {
	Command string         `json:"command"`
	On      string         `json:"on"` // which cluster
	Runs    int            `json:"runs"`
	Hit     int            `json:"hit"`    // runs that their fault befell
	Codes   map[int]int    `json:"codes"`  // runs by exit code
	Stands  map[string]int `json:"stands"` // runs by what stood in the end
	Wrong   int            `json:"wrong"`
}

type soaks []soak

func (all soaks) with(s soak) soaks {
	all = slices.DeleteFunc(all, func(o soak) bool { return o.Command == s.Command && o.On == s.On })
	return append(all, s)
}

// load reads what has been found so far, nothing if there is no such file.
func load(path string) (r results, err error) { return r, pages.Load(path, &r) }

// write writes what has been found, and the page's tables. It runs in the root of the repository.
func (r results) write() error {
	if err := pages.Save(dataFile, r); err != nil {
		return err
	}
	text, err := os.ReadFile(pageFile)
	if err != nil {
		return err
	}
	return os.WriteFile(pageFile, []byte(marks.Put(string(text), tables(r))), 0o644)
}

// marks are what the tables stand between.
var marks = pages.Marks{Begin: "<!-- faults: written by go run ./scripts/faults -write -->\n", End: "<!-- /faults -->\n"}

// tables are the matrix, what the program said, and the soaks.
func tables(r results) string {
	var b strings.Builder
	b.WriteString("| fault |")
	for _, c := range commands() {
		fmt.Fprintf(&b, " %s |", c.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(commands())) + "\n")
	wrong, slowest := 0, cell{}
	for _, f := range faults() {
		fmt.Fprintf(&b, "| %s |", f.name)
		for _, c := range commands() {
			one, ran := r.Cells.at(f.name, c.name)
			switch {
			case !slices.Contains(f.meets, c.name):
				b.WriteString(" |")
			case !ran:
				b.WriteString(" not run |")
			default:
				fmt.Fprintf(&b, " %s |", one.short())
				if one.Wrong != "" {
					wrong++
				}
				if one.Ratio > slowest.Ratio {
					slowest = one
				}
			}
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n%d cells, %d wrong. The longest took %.2f of its bound: %s, %s.\n", len(r.Cells), wrong, slowest.Ratio, slowest.Command, slowest.Fault)
	b.WriteString("\nWhat the runs that did not end with 0 gave as their reason, its beginning:\n\n| fault | code | command | the reason |\n|---|---|---|---|\n")
	for _, f := range faults() {
		writeReasons(&b, r, f)
	}
	if len(r.Soaks) > 0 {
		b.WriteString("\nUnder faults at random:\n\n| command | on | runs | hit by a fault | exit codes | stands in the end | wrong |\n|---|---|---|---|---|---|---|\n")
		for _, s := range r.Soaks {
			fmt.Fprintf(&b, "| %s | %s | %d | %d | %s | %s | %d |\n", s.Command, s.On, s.Runs, s.Hit, counts(s.Codes), counts(s.Stands), s.Wrong)
		}
	}
	return b.String()
}

// writeReasons writes one line for each code and reason of a fault.
func writeReasons(b *strings.Builder, r results, f fault) {
	type reason struct {
		code int
		said string
	}
	by := map[reason][]string{}
	var order []reason
	for _, name := range f.meets {
		c, ran := r.Cells.at(f.name, name)
		if !ran || c.Code == 0 {
			continue
		}
		at := reason{c.Code, kind(c.Said)}
		if by[at] == nil {
			order = append(order, at)
		}
		by[at] = append(by[at], name)
	}
	for _, at := range order {
		fmt.Fprintf(b, "| %s | %d | %s | %s |\n", f.name, at.code, strings.Join(by[at], ", "), strings.ReplaceAll(at.said, "|", "\\|"))
	}
}

// kind is a reason's first part, with a letter in the place of the numbers that differ from run to run.
func kind(said string) string {
	first, rest, _ := strings.Cut(said, "; ")
	first, _, _ = strings.Cut(first, ", such as ")
	first = whichBroker.ReplaceAllString(first, "broker N")
	first = whichPlace.ReplaceAllString(first, "$1 N")
	if strings.HasSuffix(rest, "nothing was written") || strings.HasSuffix(rest, "nothing was read") {
		return first + "; … " + rest[strings.LastIndex(rest, "nothing"):]
	}
	return first
}

var (
	whichBroker = regexp.MustCompile(`broker (\d+ \(kafka\d+:9092\)|\d+|kafka\d+:9092)`)
	whichPlace  = regexp.MustCompile(`(orders|partition|line) \d+`)
)

// short is a cell in the matrix: code, and what stands in the end.
func (c cell) short() string {
	text := fmt.Sprint(c.Code)
	if c.Stands != "" {
		text += " " + c.Stands
	}
	if !c.Met {
		text = "(" + text + ")"
	}
	if c.Wrong != "" {
		text += " **" + c.Wrong + "**"
	}
	return text
}

func counts[K int | string](all map[K]int) string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(all)) {
		list = append(list, fmt.Sprintf("%v: %d", k, all[k]))
	}
	return strings.Join(list, ", ")
}
