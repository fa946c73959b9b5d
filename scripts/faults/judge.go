package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// codesFile names the exit codes of each command.
const codesFile = "docs/exit-codes.md"

// A wrongError is what a run did that it must not.
type wrongError string

func (e wrongError) Error() string { return string(e) }

func firstWrong(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// judgeResults holds what a write said of each partition against what stands, and says in a word which it is. Without a code of 3
// the code alone speaks for all partitions.
func judgeResults(code int, old, want int64, got map[int32]int64, said map[int32]string) (stands string, err error) {
	news := 0
	for p := range int32(brokers) {
		at, there := got[p]
		if !there || at != old && at != want {
			return "", wrongError(fmt.Sprintf("partition %d stands at %d, which is neither %d nor %d", p, at, old, want))
		}
		if at == want {
			news++
		}
		claim := ""
		switch {
		case code == 0:
			claim = "new"
		case code != 3:
			claim = "old"
		case said[p] == "written" || said[p] == "already":
			claim = "new"
		case said[p] == "failed" || said[p] == "not-tried":
			claim = "old"
		case said[p] != "unknown":
			return "", wrongError(fmt.Sprintf("partition %d: ended with 3, and the plan says %q of it", p, said[p]))
		}
		if claim == "new" && at != want || claim == "old" && at != old {
			return "", wrongError(fmt.Sprintf("partition %d stands at %d, and the run, which ended with %d and %q, says it is %s", p, at, code, said[p], claim))
		}
	}
	switch news {
	case 0:
		return "old", nil
	case brokers:
		return "new", nil
	}
	return "some", nil
}

// A number is one that a run showed of a partition, nil for unknown, and what it is.
type number struct {
	what      string
	partition int32
	got       *int64
	want      int64
}

// judgeNumbers checks that nothing shown is wrong, and that nothing is missing from what claims to be all.
func judgeNumbers(code int, shown []number, all int) error {
	known := 0
	for _, n := range shown {
		switch {
		case n.got == nil:
		case *n.got != n.want:
			return wrongError(fmt.Sprintf("partition %d: %s is shown as %d and is %d", n.partition, n.what, *n.got, n.want))
		default:
			known++
		}
	}
	if code == 0 && known != all {
		return wrongError(fmt.Sprintf("it ended with 0 and shows %d of %d numbers", known, all))
	}
	return nil
}

// judgeReplayed holds what a replay has given away and saved, and what a second then gave, against the records that there are.
func judgeReplayed(code int, saved map[int32]int64, first, both map[int32][]int64, last map[int32]int64) (stands string, err error) {
	repeated, done := 0, 0
	for p := range int32(brokers) {
		times := map[int64]int{}
		for _, o := range first[p] {
			times[o]++
		}
		for o := int64(earliest); o < saved[p]; o++ {
			if times[o] == 0 {
				return "", wrongError(fmt.Sprintf("partition %d is saved as processed to %d, and record %d was not", p, saved[p], o))
			}
		}
		if saved[p] == end {
			done++
		}
		clear(times)
		for _, o := range both[p] {
			times[o]++
		}
		for o := int64(earliest); o < end; o++ {
			if times[o] == 0 {
				return "", wrongError(fmt.Sprintf("partition %d: record %d is lost", p, o))
			}
		}
		repeated += len(both[p]) - (end - earliest)
		if last[p] != end {
			return "", wrongError(fmt.Sprintf("partition %d is saved as processed to %d in the end, not %d", p, last[p], end))
		}
	}
	switch {
	case repeated > batchRecords:
		return "", wrongError(fmt.Sprintf("%d records repeated, which is more than a batch", repeated))
	case code == 0 && done != brokers:
		return "", wrongError("it ended with 0 and has not saved all")
	case done == brokers:
		return "all", nil
	case len(first) == 0:
		return "none", nil
	}
	return "some", nil
}

// form checks how a run ended: with a code that is documented for the command, a reason if it is not 0, no dump, and in time.
func (l *lab) form(s *scene, r ended) string {
	sub, _, _ := strings.Cut(s.command.name, " ")
	switch {
	case !l.codes[sub][r.code]:
		return fmt.Sprintf("%s names no exit code %d for %s", codesFile, r.code, sub)
	case r.code != 0 && r.code != 10 && l.said(r.err) == "":
		return "no reason is given"
	case strings.Contains(r.err, "goroutine ") || strings.Contains(r.err, "panic"):
		return "it dumps"
	case r.took > s.command.bound:
		return fmt.Sprintf("it took %.1f times what it may", r.took.Seconds()/s.command.bound.Seconds())
	}
	return ""
}

// said is the reason that a run gave on stderr, with broker ids in the place of addresses and the names of a run's own left out.
func (l *lab) said(stderr string) string {
	reason := ""
	for line := range strings.Lines(stderr) {
		if _, after, ok := strings.Cut(line, "gtoffset: error: "); ok {
			reason = strings.TrimSpace(after)
		}
		var doc struct{ Schema, Error string }
		if json.Unmarshal([]byte(line), &doc) == nil && doc.Schema == "gtoffset.error/1" {
			reason = doc.Error
		}
	}
	if l.kafka != nil {
		for i, addr := range strings.Split(l.kafka.RemoteBootstrap(), ",") {
			reason = strings.ReplaceAll(reason, addr, fmt.Sprintf("kafka%d:9092", i+1))
		}
	}
	reason = regexp.MustCompile(`billing-\d+`).ReplaceAllString(reason, "billing")
	return strings.NewReplacer(l.dir, "", "\n", "; ").Replace(reason)
}

// documented reads which exit codes the tables of a page name for each command; 0 and what is above its tables count for all.
func documented(path string) (map[string]map[int]bool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	codes := map[string]map[int]bool{}
	var under []string
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			under = strings.Split(heading, ", ")
			for _, c := range under {
				codes[c] = map[int]bool{}
			}
		}
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			if code, err := strconv.Atoi(strings.TrimSpace(cells[1])); err == nil {
				for _, c := range under {
					codes[c][code] = true
				}
			}
		}
	}
	for _, c := range commands() {
		sub, _, _ := strings.Cut(c.name, " ")
		if len(codes[sub]) < 2 {
			return nil, fmt.Errorf("%s names no exit codes of %s, only of %v", path, sub, slices.Sorted(maps.Keys(codes)))
		}
	}
	return codes, nil
}
