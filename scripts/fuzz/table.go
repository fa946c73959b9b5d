package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
)

// The marks between which the table stands.
const (
	begin = "<!-- fuzz: written by go run ./scripts/fuzz -write -->\n"
	end   = "<!-- /fuzz -->\n"
)

func total(results []result) (n int64) {
	for _, r := range results {
		n += r.executions
	}
	return n
}

// table is the counts in Markdown.
func table(results []result, each time.Duration) string {
	var b strings.Builder
	seeds, open := 0, 0
	b.WriteString("| target | what it does | executions | findings mended | open |\n|---|---|---|---|---|\n")
	for _, r := range results {
		found := 0
		if r.finding != "" {
			found = 1
		}
		seeds, open = seeds+r.seeds, open+found
		fmt.Fprintf(&b, "| %s %s | %s | %s | %d | %d |\n", r.short(), r.name, strings.ReplaceAll(about(r), "|", "\\|"), offsets.Thousands(r.executions), r.seeds, found)
	}
	fmt.Fprintf(&b, "| %d targets | %v each | %s | %d | %d |\n", len(results), each, offsets.Thousands(total(results)), seeds, open)
	return b.String()
}

// about is the first sentence of a target's comment without its name.
func about(r result) string {
	_, text, _ := strings.Cut(strings.TrimSuffix(r.about, "."), " ")
	return text
}

// writeInto puts a table into a page, in the place of the last one, or at its end.
func writeInto(page, table string) error {
	text, err := os.ReadFile(page)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(page, []byte(between(string(text), table)), 0o644)
}

// between replaces what stands between the marks.
func between(text, table string) string {
	before, rest, found := strings.Cut(text, begin)
	if !found {
		return strings.Join(slices.DeleteFunc([]string{text, "\n" + begin, table, end}, func(s string) bool { return s == "" }), "")
	}
	_, after, _ := strings.Cut(rest, end)
	return before + begin + table + end + after
}
