package cmd_test

import (
	"encoding/csv"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The page of formats names the columns of each CSV that is no export: all of them, and no others.
func TestColumnsOfCSV(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../docs/formats.md")
	must(t, err)
	page := string(b)
	part := func(begin, end string) string {
		t.Helper()
		_, rest, found := strings.Cut(page, begin)
		text, _, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("docs/formats.md has no part between %q and %q", begin, end)
		}
		return text
	}
	w, _ := moved(t)
	for _, c := range []struct {
		args []string
		page string
	}{
		{[]string{"describe", "-g", "billing", "-o", "csv"}, part("#### As CSV\n", "\n### ")},
		{[]string{"history", "-g", "billing", "-o", "csv"}, part("with these columns:\n", ", as below.")},
	} {
		rows, err := csv.NewReader(strings.NewReader(w.run(c.args...).exits(0).out)).ReadAll()
		must(t, err)
		var named []string
		for _, line := range strings.Split(c.page, "\n") {
			if strings.HasPrefix(line, "|") { // of a table, the first column has the names
				line, _, _ = strings.Cut(line[1:], "|")
			} else if strings.Contains(line, "describe -o csv") {
				continue
			}
			for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(line, -1) {
				named = append(named, m[1])
			}
		}
		slices.Sort(named)
		header := slices.Sorted(slices.Values(rows[0]))
		same(t, "columns of "+c.args[0], strings.Join(named, " "), strings.Join(header, " "))
	}
}

// What a gate asks beside --check: a partition that was never committed is ok, and left to the job's policy; clamp --check sees it, and
// clamp makes an end of it.
func TestGateOfNeverCommitted(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900}, [2]int64{0, 600}).commit("billing", "orders", 900, none)
	loses := func() (n any) {
		group := w.run("describe", "-g", "billing", "-t", "orders", "-o", "json").exits(0).fields()["groups"].([]any)[0].(map[string]any)
		for _, o := range group["restart"].([]any) {
			if o := o.(map[string]any); o["from"] == "commits" && o["policy"] == "latest" {
				n = o["loses_readable"]
			}
		}
		return n
	}
	line := []string{"clamp", "-g", "billing", "-t", "orders", "--committed"}
	w.run("describe", "-g", "billing", "-t", "orders", "--check").exits(0)
	same(t, "a restart under latest loses", words(loses()), "600")
	w.run(append(line, "--check", "-q")...).exits(10)
	w.run(append(line, "--execute")...).exits(0)
	w.run(append(line, "--check", "-q")...).exits(0)
	same(t, "a restart under latest loses then", words(loses()), "0")
}
