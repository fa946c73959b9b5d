package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"gtoffset/kafkaops/offsets"
	"gtoffset/scripts/pages"
)

// marks are what the table stands between.
var marks = pages.Marks{Begin: "<!-- fuzz: written by go run ./scripts/fuzz -write -->\n", End: "<!-- /fuzz -->\n"}

func total(results []result) (n int64) {
	for _, r := range results {
		n += r.executions
	}
	return n
}

// row is a line of the table: all runs of one target, and what the last one found.
type row struct {
	target, about string
	executions    int64
	mended, open  int
}

func rowOf(r result) row {
	_, about, _ := strings.Cut(strings.TrimSuffix(r.about, "."), " ") // without its name
	found := row{target: r.short() + " " + r.name, about: strings.ReplaceAll(about, "|", "\\|"), executions: r.executions, mended: r.seeds}
	if r.finding != "" {
		found.open = 1
	}
	return found
}

// merge adds the results of a run to what is there of their targets. What is not among the targets that there are is left out.
func merge(there []row, results []result, targets []target) []row {
	var all []row
	for _, t := range targets {
		name := t.short() + " " + t.name
		before := slices.IndexFunc(there, func(r row) bool { return r.target == name })
		if i := slices.IndexFunc(results, func(r result) bool { return r.pkg == t.pkg && r.name == t.name }); i >= 0 {
			now := rowOf(results[i])
			if before >= 0 {
				now.executions += there[before].executions
			}
			all = append(all, now)
		} else if before >= 0 {
			all = append(all, there[before])
		}
	}
	return all
}

// table is the rows in Markdown.
func table(rows []row) string {
	var b strings.Builder
	var sum row
	b.WriteString("| target | what it does | executions | findings mended | open |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		sum.executions, sum.mended, sum.open = sum.executions+r.executions, sum.mended+r.mended, sum.open+r.open
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d |\n", r.target, r.about, offsets.Thousands(r.executions), r.mended, r.open)
	}
	fmt.Fprintf(&b, "| %d targets | | %s | %d | %d |\n", len(rows), offsets.Thousands(sum.executions), sum.mended, sum.open)
	return b.String()
}

// rowsIn reads what table has written.
func rowsIn(text string) []row {
	var all []row
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 5 || !strings.Contains(cells[0], " Fuzz") {
			continue
		}
		n, err1 := strconv.ParseInt(strings.ReplaceAll(cells[2], ",", ""), 10, 64)
		mended, err2 := strconv.Atoi(cells[3])
		open, err3 := strconv.Atoi(strings.TrimSpace(cells[4]))
		if err1 == nil && err2 == nil && err3 == nil {
			all = append(all, row{strings.TrimSpace(cells[0]), cells[1], n, mended, open})
		}
	}
	return all
}

// writeInto adds to the table of a page. A page without one gets it at its end.
func writeInto(page string, results []result, targets []target) error {
	text, err := os.ReadFile(page)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, rest, _ := strings.Cut(string(text), marks.Begin)
	old, _, _ := strings.Cut(rest, marks.End)
	return os.WriteFile(page, []byte(marks.Put(string(text), table(merge(rowsIn(old), results, targets)))), 0o644)
}
