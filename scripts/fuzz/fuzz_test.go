package main

import (
	"strings"
	"testing"
)

// Every fuzz test is found, and what its comment says it does is what the table is made of.
func TestDiscover(t *testing.T) {
	all, err := discover(t.Context(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, one := range all {
		found[one.short()+"."+one.name] = true
		if one.about != "" && !strings.HasPrefix(one.about, one.name+" ") && !strings.HasPrefix(one.about, one.name+":") {
			t.Errorf("%s.%s: the comment is %q", one.short(), one.name, one.about)
		}
	}
	for _, want := range []string{
		"cmd.FuzzInstant", "kafkaops.FuzzDecodeAssignment", "kafkaops/records.FuzzWalker", "kafkaops/wire.FuzzExchange", "offsetfile.FuzzParse",
		"offsetfile/exchange.FuzzRead", "offsetfile/redis.FuzzAnswers", "offsetfile/spark.FuzzBatch", "output.FuzzRecordTemplate",
	} {
		if !found[want] {
			t.Errorf("%s was not found among %d", want, len(all))
		}
	}
}

func TestExecutions(t *testing.T) {
	said := `fuzz: elapsed: 0s, gathering baseline coverage: 0/12 completed
fuzz: elapsed: 0s, gathering baseline coverage: 12/12 completed, now fuzzing with 2 workers
fuzz: elapsed: 3s, execs: 102345 (34114/sec), new interesting: 12 (total: 24)
fuzz: elapsed: 5s, execs: 170001 (33828/sec), new interesting: 13 (total: 25)
PASS
`
	if got := executions(said); got != 170001 {
		t.Errorf("got %d", got)
	}
	if got := executions("PASS\n"); got != 0 {
		t.Errorf("got %d", got)
	}
}

func TestTable(t *testing.T) {
	parse := target{pkg: "gtoffset/offsetfile", name: "FuzzParse", about: "FuzzParse reads a file, or a|b.", seeds: 2}
	read := target{pkg: "gtoffset/offsetfile/exchange", name: "FuzzRead"}
	first := table(merge(nil, []result{{parse, 1234567, ""}, {read, 5, "--- FAIL"}}, []target{parse, read}))
	want := `| target | what it does | executions | findings mended | open |
|---|---|---|---|---|
| offsetfile FuzzParse | reads a file, or a\|b | 1,234,567 | 2 | 0 |
| offsetfile/exchange FuzzRead |  | 5 | 0 | 1 |
| 2 targets | | 1,234,572 | 2 | 1 |
`
	if first != want {
		t.Errorf("got\n%swant\n%s", first, want)
	}
	// Another run of one of them is added, and leaves the other's row.
	again := table(merge(rowsIn(first), []result{{read, 70, ""}}, []target{parse, read}))
	if want = strings.NewReplacer("| 5 | 0 | 1 |", "| 75 | 0 | 0 |", "1,234,572 | 2 | 1", "1,234,642 | 2 | 0").Replace(want); again != want {
		t.Errorf("got\n%swant\n%s", again, want)
	}
	if gone := table(merge(rowsIn(first), nil, []target{parse})); strings.Contains(gone, "FuzzRead") {
		t.Errorf("a test that is gone has a row:\n%s", gone)
	}
}
