package cmd_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"gtoffset/output"
)

// numbers are the figures of one look, by where they belong and what they are: "billing orders 0 lag".
type numbers map[string]string

// The same cluster is shown with the same figures in every format: what one format has, json has, too, and says the same of it.
func TestFormatsAgree(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 2000}, [2]int64{0, 2000}, [2]int64{0, 1600}, [2]int64{0, 1200}, [2]int64{0, 1000}).topic("payments", [2]int64{5, 1_234_567})
	w.commit("billing", "orders", 900, 1450, 1700, none, 800).commit("billing", "payments", 3).commit("shipping", "payments", 1_000_000)
	w.save("billing", "orders", 120, 950, 1700, none, 800)
	w.b.NoLeader("orders", 4)
	readers := map[string]func(*testing.T, string) numbers{"table": fromTable, "wide": fromTable, "csv": fromCSV, "prom": fromProm}
	for _, f := range (output.Describe{}).Formats() {
		if readers[string(f)] == nil && f != output.JSON && f != output.YAML {
			t.Errorf("the figures of -o %s are read by none of the readers", f)
		}
	}
	for _, args := range [][]string{
		{"describe", "-g", "billing", "-s", w.store},
		{"describe", "--all-groups"},
		{"describe", "-g", "billing", "-s", w.store, "--isolation", "read_committed", "-t", "orders"},
	} {
		told := fromJSON(t, w.run(append(args, "-o", "json")...).exits(3).out)
		if len(told) < 20 {
			t.Fatalf("%v: json has only %d figures: %v", args, len(told), told)
		}
		for format, read := range readers {
			out := w.run(append(args, "-o", format)...).exits(3).out
			found := read(t, out)
			if len(found) < 15 {
				t.Errorf("%v -o %s: only %d figures were found in\n%s", args, format, len(found), out)
			}
			for what, figure := range found {
				if want, ok := told[what]; !ok || figure != want {
					t.Errorf("%v: %s is %s in %s, and %q in json", args, what, figure, format, want)
				}
			}
			if format == "csv" { // it has all that json has of partitions
				for what, figure := range told {
					if _, ok := found[what]; !ok && !strings.Contains(what, " total ") {
						t.Errorf("%v: csv lacks %s, which is %s", args, what, figure)
					}
				}
			}
		}
		var inYAML, inJSON any
		must(t, yaml.Unmarshal([]byte(w.run(append(args, "-o", "yaml")...).exits(3).out), &inYAML))
		must(t, json.Unmarshal([]byte(w.run(append(args, "-o", "json")...).exits(3).out), &inJSON))
		for _, doc := range []any{inYAML, inJSON} {
			delete(doc.(map[string]any), "at")
		}
		if a, b := asTexts(inYAML), asTexts(inJSON); !reflect.DeepEqual(a, b) {
			t.Errorf("%v: yaml says\n%v\nand json\n%v", args, a, b)
		}
	}
}

// asTexts makes all numbers of a document texts.
func asTexts(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, below := range v {
			v[k] = asTexts(below)
		}
		return v
	case []any:
		for i, below := range v {
			v[i] = asTexts(below)
		}
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case int, int64, uint64:
		return fmt.Sprint(v)
	}
	return v
}

func fromJSON(t *testing.T, text string) numbers {
	t.Helper()
	var doc describeDoc
	must(t, json.Unmarshal([]byte(text), &doc))
	all := numbers{}
	put := func(what string, n number) {
		if n.n != nil {
			all[what] = n.String()
		}
	}
	for _, g := range doc.Groups {
		for _, r := range g.Partitions {
			at := fmt.Sprintf("%s %s %d ", g.Group, r.Topic, r.Partition)
			put(at+"earliest", r.Earliest)
			put(at+"end", r.End)
			put(at+"stable", r.Stable)
			put(at+"unprocessed", r.Unprocessed)
			for side, e := range map[string]*entryDoc{"": &r.Committed, "stored_": r.Stored} {
				if e == nil {
					continue
				}
				put(at+strings.TrimSuffix(side+"offset", "_"), e.Offset)
				put(at+side+"lag", e.Lag)
				put(at+side+"expired", e.Expired)
				put(at+side+"ahead", e.Ahead)
			}
		}
		all[g.Group+" total partitions"] = fmt.Sprint(g.Totals.Partitions)
		all[g.Group+" total ok"] = fmt.Sprint(g.Totals.OK)
		all[g.Group+" total lag"] = fmt.Sprint(g.Totals.Lag)
		put(g.Group+" total stored_lag", g.Totals.StoredLag)
	}
	return all
}

// called is how a column, or a metric, is called in the other formats.
func called(name string) string {
	name = strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	switch name {
	case "committed", "start":
		return "offset"
	case "stored":
		return "stored_offset"
	}
	return name
}

// figures are the columns that hold numbers of a partition.
var figures = map[string]bool{
	"earliest": true, "end": true, "stable": true, "offset": true, "stored_offset": true, "lag": true, "stored_lag": true, "expired": true, "ahead": true,
	"stored_expired": true, "stored_ahead": true, "unprocessed": true,
}

func (n numbers) put(group, topic, partition, name, value string) {
	if name = called(name); figures[name] && value != "-" {
		n[group+" "+topic+" "+partition+" "+name] = value
	}
}

func fromCSV(t *testing.T, text string) numbers {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	must(t, err)
	all := numbers{}
	for _, row := range rows[1:] {
		for i, name := range rows[0] {
			all.put(row[0], row[1], row[2], name, row[i])
		}
	}
	return all
}

func fromProm(t *testing.T, text string) numbers {
	t.Helper()
	all := numbers{}
	for _, m := range regexp.MustCompile(`(?m)^gtoffset_(\w+)\{group="(\w+)",topic="(\w+)",partition="(\d+)"(?:,side="(\w+)")?\} (\S+)$`).FindAllStringSubmatch(text, -1) {
		name := strings.TrimSuffix(m[1], "_offset")
		if m[5] == "stored" {
			name = "stored_" + name
		}
		value, err := strconv.ParseFloat(m[6], 64)
		must(t, err)
		all.put(m[2], m[3], m[4], name, strconv.FormatFloat(value, 'f', -1, 64))
	}
	return all
}

// fromTable reads the columns of numbers, which stand to the right, and the line of totals.
func fromTable(t *testing.T, text string) numbers {
	t.Helper()
	all := numbers{}
	group := ""
	var header []string
	totals := regexp.MustCompile(`^([\d,]+) partitions?, ([\d,]+) ok.* · lag ([\d,]+)(?:.* · stored-lag ([\d,]+))?`)
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
			header = nil
		case strings.Contains(line, " group, "):
			group = fields[0]
		case fields[0] == "TOPIC":
			header = fields
		case header != nil:
			for i, name := range header[1:] {
				value := fields[i+1]
				if _, err := strconv.ParseInt(value, 10, 64); err != nil && value != "-" {
					break // words begin
				}
				all.put(group, fields[0], fields[1], name, value)
			}
		}
		if m := totals.FindStringSubmatch(line); m != nil {
			for i, name := range []string{"partitions", "ok", "lag", "stored_lag"} {
				if m[i+1] != "" {
					all[group+" total "+name] = strings.ReplaceAll(m[i+1], ",", "")
				}
			}
		}
	}
	return all
}
