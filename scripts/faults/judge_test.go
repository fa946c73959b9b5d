package main

import (
	"strings"
	"testing"
)

func three(a, b, c int64) map[int32]int64 { return map[int32]int64{0: a, 1: b, 2: c} }

// What a write says must be what stands.
func TestJudgeResults(t *testing.T) {
	said := func(a, b, c string) map[int32]string { return map[int32]string{0: a, 1: b, 2: c} }
	for name, c := range map[string]struct {
		code   int
		got    map[int32]int64
		said   map[int32]string
		stands string
		wrong  string
	}{
		"done":                         {0, three(20, 20, 20), nil, "new", ""},
		"done, it says":                {0, three(20, 5, 20), nil, "", "partition 1 stands at 5"},
		"not reached":                  {5, three(5, 5, 5), nil, "old", ""},
		"not reached, it says":         {5, three(5, 5, 20), nil, "", "partition 2 stands at 20"},
		"killed, and written":          {-1, three(20, 20, 20), nil, "", "says it is old"},
		"partly":                       {3, three(20, 5, 5), said("written", "failed", "not-tried"), "some", ""},
		"partly, but that was written": {3, three(20, 20, 5), said("written", "failed", "not-tried"), "", "partition 1"},
		"partly, but that was not":     {3, three(5, 5, 5), said("already", "failed", "not-tried"), "", "partition 0"},
		"not known":                    {3, three(20, 5, 5), said("unknown", "unknown", "unknown"), "some", ""},
		"nothing said":                 {3, three(5, 5, 5), nil, "", `the plan says ""`},
		"neither":                      {0, three(20, 6, 20), nil, "", "neither 5 nor 20"},
		"lost":                         {0, map[int32]int64{0: 20, 1: 20}, nil, "", "partition 2"},
	} {
		stands, err := judgeResults(c.code, 5, 20, c.got, c.said)
		check(t, name, stands, err, c.stands, c.wrong)
	}
}

func TestJudgeNumbers(t *testing.T) {
	five := int64(5)
	for name, c := range map[string]struct {
		code  int
		shown []number
		wrong string
	}{
		"all":               {0, []number{{"end", 0, &five, 5}}, ""},
		"wrong":             {3, []number{{"end", 0, &five, 6}}, "end is shown as 5 and is 6"},
		"unknown":           {3, []number{{"end", 0, nil, 6}}, ""},
		"unknown, and done": {0, []number{{"end", 0, nil, 6}}, "0 of 1"},
		"nothing, and done": {0, nil, "0 of 1"},
		"nothing":           {5, nil, ""},
	} {
		check(t, name, "", judgeNumbers(c.code, c.shown, 1), "", c.wrong)
	}
}

func TestJudgeReplayed(t *testing.T) {
	upTo := func(n int64) map[int32][]int64 {
		got := map[int32][]int64{}
		for p := range int32(brokers) {
			for o := int64(earliest); o < n; o++ {
				got[p] = append(got[p], o)
			}
		}
		return got
	}
	ends := three(end, end, end)
	again := upTo(end)
	again[1] = append(again[1], again[1][:batchRecords]...)
	tooMuch := upTo(end)
	tooMuch[1] = append(tooMuch[1], tooMuch[1][:batchRecords+1]...)
	for name, c := range map[string]struct {
		code        int
		saved       map[int32]int64
		first, both map[int32][]int64
		last        map[int32]int64
		stands      string
		wrong       string
	}{
		"all":               {0, ends, upTo(end), upTo(end), ends, "all", ""},
		"nothing":           {5, three(20, 20, 20), nil, upTo(end), ends, "none", ""},
		"a batch twice":     {3, three(30, 20, 20), upTo(30), again, ends, "some", ""},
		"more than a batch": {3, three(30, 20, 20), upTo(30), tooMuch, ends, "", "101 records repeated"},
		"saved too far":     {3, three(31, 20, 20), upTo(30), upTo(end), ends, "", "record 30 was not"},
		"lost":              {3, three(30, 20, 20), upTo(30), upTo(519), ends, "", "record 519 is lost"},
		"done, it says":     {0, three(30, 20, 20), upTo(30), upTo(end), ends, "", "has not saved all"},
		"not all at last":   {0, ends, upTo(end), upTo(end), three(end, end, 519), "", "519 in the end"},
	} {
		stands, err := judgeReplayed(c.code, c.saved, c.first, c.both, c.last)
		check(t, name, stands, err, c.stands, c.wrong)
	}
}

func check(t *testing.T, name, stands string, err error, want, wrong string) {
	t.Helper()
	if (err == nil) != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) || stands != want {
		t.Errorf("%s: got %q, %v; want %q, %q", name, stands, err, want, wrong)
	}
}

func TestPartitionFor(t *testing.T) {
	if got := partitionFor("ab", 1000); got != 105 { // 31*97+98 = 3105
		t.Errorf("got %d, want 105", got)
	}
}

func TestKind(t *testing.T) {
	for _, c := range [][2]string{
		{"orders 0: unknown: broker 1 (kafka1:9092) did not answer; orders 1: away; nothing was written", "orders N: unknown: broker N did not answer; … nothing was written"},
		{`partition 2 of topic "orders": no answer from broker 2, for 1m`, `partition N of topic "orders": no answer from broker N, for 1m`},
		{"broker kafka3:9092: TLS", "broker N: TLS"},
		{`1 of 3 partitions could not be read, such as group "billing" orders 1: unknown`, "1 of 3 partitions could not be read"},
	} {
		if got := kind(c[0]); got != c[1] {
			t.Errorf("got %q, want %q", got, c[1])
		}
	}
}

func TestSaid(t *testing.T) {
	l := &lab{dir: "/nowhere"}
	for _, c := range [][2]string{
		{"gtoffset: note: x\ngtoffset: error: group billing-12: away\ngtoffset: hint: y\n", "group billing: away"},
		{`{"schema":"gtoffset.error/1","code":5,"error":"away"}` + "\n", "away"},
		{"something else\n", ""},
	} {
		if got := l.said(c[0]); got != c[1] {
			t.Errorf("got %q, want %q", got, c[1])
		}
	}
}
