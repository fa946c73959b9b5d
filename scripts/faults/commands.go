package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A command is one column of the matrix.
type command struct {
	name     string
	old, new int64         // where each partition is committed and stored before, and where the run is to bring it
	bound    time.Duration // of the whole run: --timeout, half of it, and what the command waits for beyond
	args     func(*scene) []string
	judge    func(*scene, ended) (stands string, err error) // what is true in the end; a wrongError if the run said otherwise
}

func commandOf(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

func commands() []command {
	const look = timeout * 3 / 2
	with := func(sub string, more ...string) func(*scene) []string {
		return func(s *scene) []string {
			args := append([]string{sub, "-g", s.group, "--timeout", timeout.String()}, more...)
			for i, a := range args {
				args[i] = strings.ReplaceAll(a, "DIR", s.dir)
			}
			return args
		}
	}
	write := []string{"-t", topic, "--committed", "--execute", "-o", "json"}
	return []command{
		{"describe", 5, 5, look, with("describe", "-t", topic, "-s", "DIR/store", "-o", "json"), judgeDescribe},
		{"clamp --committed", 5, earliest, look + writing, with("clamp", write...), judgeWrite(committed)},
		{"clamp --stored", 5, earliest, look + writing, with("clamp", "-t", topic, "-s", "DIR/store", "--stored", "--execute", "-o", "json"), judgeWrite(stored)},
		{"reset", 5, end, look + writing, with("reset", append([]string{"--to-latest"}, write...)...), judgeWrite(committed)},
		{"import", 5, 100, look + writing, with("import", "DIR/offsets.csv", "--as", "kafka-csv", "--committed", "--execute", "-o", "json"), judgeWrite(committed)},
		{"export", 5, 5, look, with("export", "-t", topic, "--committed", "-o", "json"), judgeExport},
		{
			"replay", earliest, end, look + writing + awayFor,
			with("replay", "-t", topic, "-s", "DIR/store", "--save", "--execute", "--batch-records", strconv.Itoa(batchRecords), "--", "sh", "-c", `cat >>"$1"`, "sh", "DIR/out"),
			judgeReplay,
		},
		{"wait", end - 5, end - 5, look + waitFor, with("wait", "-t", topic, "--empty", "--lag", "5", "--for", waitFor.String(), "-o", "json"), judgeWait},
	}
}

// save writes the gtoffset file of the scene, as a job would.
func (s *scene) save(at int64) error {
	path := s.path("store/" + s.group + "/" + topic + "/gtoffset")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, fmt.Appendf(nil, "# gtoffset 1\n# group %s\n# topic %s\n0 %d\n1 %d\n2 %d\n# entries 3\n", s.group, topic, at, at, at), 0o600)
}

// stored is what lies in the gtoffset file, read without the program; an error unless it is whole.
func stored(s *scene) (map[int32]int64, error) {
	text, err := os.ReadFile(s.path("store/" + s.group + "/" + topic + "/gtoffset"))
	if err != nil {
		return nil, err
	}
	got, entries := map[int32]int64{}, -1
	for line := range strings.Lines(string(text)) {
		var p int32
		var at int64
		if n, ok := strings.CutPrefix(line, "# entries "); ok {
			entries, err = strconv.Atoi(strings.TrimSpace(n))
		} else if !strings.HasPrefix(line, "#") {
			_, err = fmt.Sscan(line, &p, &at)
			got[p] = at
		}
		if err != nil {
			return nil, wrongError(fmt.Sprintf("the file has a line %q", line))
		}
	}
	if entries != len(got) {
		return nil, wrongError("the file is not whole")
	}
	return got, nil
}

// committed is what another client reads from the group's coordinator.
func committed(s *scene) (map[int32]int64, error) {
	all, err := s.lab.kafka.Committed(s.ctx, s.group)
	got := map[int32]int64{}
	for p, c := range all[topic] {
		got[p] = c.Offset
	}
	return got, err
}

// judgeWrite holds what a write said of each partition against what stands.
func judgeWrite(side func(*scene) (map[int32]int64, error)) func(*scene, ended) (string, error) {
	return func(s *scene, r ended) (string, error) {
		got, err := side(s)
		if err != nil {
			return "", err
		}
		var plan struct {
			Groups []struct {
				Changes []struct {
					Partition int32
					Result    *string
				}
			}
		}
		if err := r.document(&plan); err != nil {
			return "", err
		}
		said := map[int32]string{}
		for _, g := range plan.Groups {
			for _, c := range g.Changes {
				if c.Result != nil {
					said[c.Partition] = *c.Result
				}
			}
		}
		return judgeResults(r.code, s.command.old, s.command.new, got, said)
	}
}

// judgeDescribe holds what describe showed against what is so.
func judgeDescribe(s *scene, r ended) (string, error) {
	var doc struct {
		Groups []struct {
			Partitions []struct {
				Partition     int32
				Earliest, End *int64
				Committed     struct{ Offset *int64 }
				Stored        *struct{ Offset *int64 }
			}
		}
	}
	if err := r.document(&doc); err != nil {
		return "", err
	}
	var shown []number
	for _, g := range doc.Groups {
		for _, p := range g.Partitions {
			shown = append(shown, number{"earliest", p.Partition, p.Earliest, earliest}, number{"end", p.Partition, p.End, end},
				number{"committed", p.Partition, p.Committed.Offset, s.command.old})
			n := number{"stored", p.Partition, nil, s.command.old}
			if p.Stored != nil {
				n.got = p.Stored.Offset
			}
			shown = append(shown, n)
		}
	}
	return s.untouched(judgeNumbers(r.code, shown, 4*brokers))
}

// judgeExport holds what export wrote against what is committed.
func judgeExport(s *scene, r ended) (string, error) {
	var doc struct {
		Groups []struct {
			Partitions []struct {
				Partition int32
				Offset    *int64
			}
		}
	}
	if err := r.document(&doc); err != nil {
		return "", err
	}
	var shown []number
	for _, g := range doc.Groups {
		for _, p := range g.Partitions {
			shown = append(shown, number{"committed", p.Partition, p.Offset, s.command.old})
		}
	}
	return s.untouched(judgeNumbers(r.code, shown, brokers))
}

// judgeWait holds its answer against what is so: the conditions hold all the time.
func judgeWait(s *scene, r ended) (string, error) {
	var doc struct {
		Met  bool
		Open []string
	}
	if r.code == 0 || r.code == 10 {
		if err := json.Unmarshal([]byte(r.out), &doc); err != nil {
			return "", wrongError("stdout is no document: " + err.Error())
		}
	}
	var err error
	switch {
	case doc.Met != (r.code == 0):
		err = wrongError(fmt.Sprintf("it says met %v and ends with %d", doc.Met, r.code))
	case r.code == 10 && len(doc.Open) == 0:
		err = wrongError("it does not say what is open")
	}
	return s.untouched(err)
}

// untouched checks that what only reads has changed nothing.
func (s *scene) untouched(err error) (string, error) {
	for _, side := range []func(*scene) (map[int32]int64, error){committed, stored} {
		got, failed := side(s)
		if failed != nil {
			return "", failed
		}
		if _, failed := judgeResults(1, s.command.old, s.command.old, got, nil); failed != nil {
			return "", failed
		}
	}
	return "", err
}

// judgeReplay runs the replay again without the fault, and counts.
func judgeReplay(s *scene, r ended) (string, error) {
	at, err := stored(s)
	if err != nil {
		return "", err
	}
	first, err := s.processed()
	if err != nil {
		return "", err
	}
	again, err := s.run(s.command.args(s))
	if err != nil {
		return "", err
	}
	if again.code != 0 {
		return "", wrongError(fmt.Sprintf("the run after it ended with %d: %s", again.code, s.lab.said(again.err)))
	}
	both, err := s.processed()
	if err != nil {
		return "", err
	}
	last, err := stored(s)
	if err != nil {
		return "", err
	}
	return judgeReplayed(r.code, at, first, both, last)
}

// processed is the offsets that the command was given, by partition, in their order.
func (s *scene) processed() (map[int32][]int64, error) {
	text, err := os.ReadFile(s.path("out"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	got := map[int32][]int64{}
	for line := range strings.Lines(string(text)) {
		var r struct {
			Partition int32
			Offset    int64
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return nil, wrongError(fmt.Sprintf("a torn record %q", line))
		}
		got[r.Partition] = append(got[r.Partition], r.Offset)
	}
	return got, nil
}
