package cmd_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// day is the day of the records of these tests.
var day = time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)

// clock is a time of that day.
func clock(hour, minute int) time.Time {
	return day.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
}

// timed is a topic with records of the given times in each partition, and a group at 0.
func timed(t *testing.T, partitions ...[]time.Time) *world {
	t.Helper()
	w := start(t).topic("orders", make([][2]int64, len(partitions))...)
	for p, times := range partitions {
		must(t, w.b.ProduceAt("orders", int32(p), times...))
	}
	return w.commit("billing", "orders", make([]int64, len(partitions))...)
}

// to resets the group's commits to a time or back by a duration.
func (w *world) to(args ...string) result {
	w.t.Helper()
	return w.run(append([]string{"reset", "-g", "billing", "-t", "orders", "--execute"}, args...)...)
}

// Every case of TIM: times and durations.
func TestTimeCases(t *testing.T) {
	t.Parallel()
	t.Run("TIM-1 a time after a partition's last record", func(t *testing.T) {
		t.Parallel()
		w := timed(t, []time.Time{clock(9, 0), clock(10, 0)}, []time.Time{clock(11, 0), clock(12, 30), clock(12, 40)})
		r := w.to("--to-datetime", "2024-05-01T12:00:00.000").exits(0).prints("2 of 2 verified")
		if line := r.line("orders", 0); !strings.Contains(line, "no record at or after 2024-05-01T12:00:00.000Z (@1714564800000): end") {
			t.Errorf("line = %q", line)
		}
		if line := r.line("orders", 1); !strings.Contains(line, "first record at or after 2024-05-01T12:00:00.000Z (@1714564800000)") {
			t.Errorf("line = %q", line)
		}
		same(t, "committed", w.committed("billing", "orders"), "0=2 1=1")
		// The same on the store.
		w.save("billing", "orders", 0, 0).to("--to-datetime", "2024-05-01T12:00:00.000", "-s", w.store, "--stored").exits(0)
		same(t, "stored", w.stored("billing", "orders"), "0=2 1=1")
		// An empty partition has no record either.
		w = timed(t, nil)
		p := w.to("--to-datetime", "2024-05-01T12:00:00.000", "-o", "json").exits(0).plan()
		same(t, "empty", words(p.Counts.Keep, p.change(t, "orders", 0, "committed").New.Offset), "1 0")
	})
	t.Run("TIM-3 a time that no record has reached", func(t *testing.T) {
		t.Parallel()
		var ten []time.Time
		for i := range 10 {
			ten = append(ten, clock(8, i))
		}
		w := timed(t, ten)
		w.now = clock(12, 0)
		w.to("--to-datetime", "2024-05-02T11:00:00.000Z").exits(0).prints("no record at or after")
		same(t, "committed", w.committed("billing", "orders"), "0=10")
	})
	t.Run("TIM-4 zones with minutes", func(t *testing.T) {
		t.Parallel()
		for in, want := range map[string]string{
			"2024-05-01T10:00:00.000+05:30": "2024-05-01T04:30:00.000Z (@1714537800000)",
			"2024-05-01T10:00:00.000-03:30": "2024-05-01T13:30:00.000Z (@1714570200000)",
			"2024-05-01T10:00:00.000+05:45": "2024-05-01T04:15:00.000Z (@1714536900000)",
			"2024-05-01T10:00:00.000+0530":  "2024-05-01T04:30:00.000Z (@1714537800000)",
			"2024-05-01T10:00:00.000Z":      "2024-05-01T10:00:00.000Z (@1714557600000)",
			"2024-05-01T10:00:00.000":       "2024-05-01T10:00:00.000Z (@1714557600000)",
			"2024-05-01T10:00":              "2024-05-01T10:00:00.000Z (@1714557600000)",
			"2024-05-01":                    "2024-05-01T00:00:00.000Z (@1714521600000)",
			"@1714557600123":                "2024-05-01T10:00:00.123Z (@1714557600123)",
		} {
			records := []time.Time{clock(0, 0), clock(4, 20), clock(4, 40), clock(10, 0), clock(11, 0), clock(14, 0)}
			w := timed(t, records)
			w.commit("billing", "orders", 6).person("n\n", nil)
			r := w.run("reset", "-g", "billing", "-t", "orders", "--to-datetime", in).exits(1)
			seen, _, _ := strings.Cut(r.err, "[y/N]") // what is printed before anything is asked
			if !strings.Contains(seen, want) || !strings.Contains(seen, "older records may follow") {
				t.Errorf("%s: stderr before the question = %q, want %s", in, seen, want)
			}
			same(t, "writes", w.writes(), 0)
			w.to("--to-datetime", in).exits(0).says(want)
			at, err := time.Parse("2006-01-02T15:04:05.000Z", want[:24])
			must(t, err)
			first := slices.IndexFunc(records, func(rec time.Time) bool { return !rec.Before(at) })
			same(t, in, w.committed("billing", "orders"), fmt.Sprint("0=", first))
		}
	})
	t.Run("TIM-5 a time without a zone", func(t *testing.T) {
		t.Parallel()
		records := []time.Time{clock(1, 0), clock(2, 40), clock(11, 40), clock(12, 0)}
		for _, zone := range []string{"UTC", "Asia/Tokyo", "America/St_Johns"} {
			for _, c := range []struct{ flag, value, says, want string }{
				{"--to-datetime", "2024-05-01T11:40:00", "2024-05-01T11:40:00.000Z (@1714563600000)", "0=2"},
				{"--to-datetime", "2024-05-01", "2024-05-01T00:00:00.000Z (@1714521600000)", "0=0"},
			} {
				w := timed(t, records).commit("billing", "orders", 4)
				w.vars["TZ"] = zone
				r := w.process(0, "", "reset", "-g", "billing", "-t", "orders", c.flag, c.value, "--execute").exits(0).says(c.says)
				same(t, zone+" "+c.value, w.committed("billing", "orders"), c.want)
				r.prints(c.says)
			}
		}
		w := timed(t, records)
		w.to("--to-datetime", "2024-05-01T11:40:00", "--timezone", "Asia/Tokyo").exits(0).says("2024-05-01T02:40:00.000Z (@1714531200000)")
		same(t, "--timezone", w.committed("billing", "orders"), "0=1")
		w.to("--to-datetime", "2024-05-01T11:40:00Z", "--timezone", "Asia/Tokyo").exits(0).says("2024-05-01T11:40:00.000Z")
		same(t, "a zone in the time wins", w.committed("billing", "orders"), "0=2")
	})
	t.Run("TIM-6 seconds in the place of milliseconds", func(t *testing.T) {
		t.Parallel()
		w := timed(t, []time.Time{clock(1, 0)})
		w.now = clock(12, 0)
		w.b.Reset()
		for _, c := range []struct {
			args []string
			says string
		}{
			{[]string{"--to-datetime", "1543580000"}, "write @1543580000 for epoch milliseconds"},
			{[]string{"--to-datetime", "1714557600000"}, "write @1714557600000 for epoch milliseconds"},
			{[]string{"--to-datetime", "@1543580000"}, "is it in seconds? @1543580000000 is 2018-11-30T12:13:20Z"},
			{[]string{"--to-datetime", "@1543580000000000"}, "microseconds"},
			{[]string{"--to-datetime", "@-1"}, "no number"},
			{[]string{"--to-datetime", "2024-05-02T12:00:01Z"}, "more than a day ahead"},
			{[]string{"--to-datetime", "2024-05-01T14:00:00"}, "is ahead, read in UTC"},
			{[]string{"--to-datetime", "2030-01-01"}, "--to-latest"},
			{[]string{"--to-datetime", "2024-03-31T02:30:00", "--timezone", "Europe/Berlin"}, "does not exist in Europe/Berlin"},
			{[]string{"--to-datetime", "2023-10-29T02:30:00", "--timezone", "Europe/Berlin"}, "occurs twice in Europe/Berlin"},
			{[]string{"--to-datetime", "2024-05-01", "--timezone", "Nowhere/City"}, "--timezone"},
			{[]string{"--to-datetime", "2024-05-01", "--timezone", ""}, "--timezone"},
			{[]string{"--to-datetime", "2024-05-01", "--timezone", "Local"}, "--timezone"},
			{[]string{"--to-datetime", "2024-13-01"}, "2026-11-29T12:00:00.000Z"},
			{[]string{"--to-datetime", ""}, "is a variable not set?"},
		} {
			w.to(c.args...).exits(2).says(c.says)
		}
		same(t, "requests", w.b.Count(), 0)
		w.to("--to-datetime", "2024-05-02T11:59:59", "--timezone", "UTC").exits(0)
		w.to("--to-datetime", "2024-05-02T11:59:59Z").exits(0)
		same(t, "committed", w.committed("billing", "orders"), "0=1")
	})
	t.Run("TIM-8 days in a duration", func(t *testing.T) {
		t.Parallel()
		weekAgo := clock(12, 0).AddDate(0, 0, -7)
		for _, d := range []string{"7d", "P7D", "PT168H", "168h", "p7d", "10080m"} {
			w := timed(t, []time.Time{weekAgo.Add(-time.Hour), weekAgo.Add(-time.Second), weekAgo.Add(time.Second), weekAgo.Add(time.Hour)})
			w.now = clock(12, 0)
			w.to("--by-duration", d).exits(0).says("2024-04-24T12:00:00.0")
			same(t, d, w.committed("billing", "orders"), "0=2")
		}
		w := timed(t, []time.Time{clock(1, 0)})
		w.b.Reset()
		for _, d := range []string{"-1h", "+1h", "1y", "1w", "P1M", "PT1D", "P", "0s", "7 d", "P-7D"} {
			w.to("--by-duration", d).exits(2).says("--by-duration", "P7D, PT168H, P1DT12H, 7d, 168h", "a day is 24 hours")
		}
		w.to("--by-duration", "10").exits(2).says(`--by-duration "10" has no unit`, "hint: --by-duration 10s, or --by-duration 10m, or --by-duration 10h, or --by-duration 10d\n")
		w.to("--by-duration", "PT10").exits(2).says(`--by-duration "PT10" has no unit`, "hint: --by-duration PT10S, or --by-duration PT10M, or --by-duration PT10H\n")
		w.to("--by-duration", "3000000000").exits(2).says("hint: --by-duration 3000000000s\n")
		w.to("--by-duration", "9223372036854775807").exits(2).says("has no unit").never("9223372036854775807s")
		same(t, "requests", w.b.Count(), 0)
		w.now = clock(12, 0)
		w.to("--by-duration", "1.5d").exits(0).says("2024-04-30T00:00:00.0")
		w.run("reset", "--help").exits(0).prints("--by-duration", "PT12H, P7D")
	})
	t.Run("TIM-10 timestamps that do not grow", func(t *testing.T) {
		t.Parallel()
		w := timed(t, []time.Time{clock(10, 0), clock(12, 0), clock(11, 0), clock(13, 0), clock(14, 0)})
		w.to("--to-datetime", "2024-05-01T12:00:00.000").exits(0).says("older records may follow")
		same(t, "committed", w.committed("billing", "orders"), "0=1")
	})
	t.Run("a leader that does not say", func(t *testing.T) {
		t.Parallel()
		w := timed(t, []time.Time{clock(1, 0)}, []time.Time{clock(1, 0)})
		asked := false
		w.b.Rewrite(kmsg.ListOffsets.Int16(), func(_ int32, r kmsg.Response) bool {
			for i, topic := range r.(*kmsg.ListOffsetsResponse).Topics {
				for j, p := range topic.Partitions {
					if p.Timestamp > 0 && p.Partition == 1 { // the answer to a question about a time
						asked = true
						r.(*kmsg.ListOffsetsResponse).Topics[i].Partitions[j].ErrorCode = 29 // TOPIC_AUTHORIZATION_FAILED
					}
				}
			}
			return true
		})
		w.to("--to-datetime", "2024-05-01T00:00:00.000").exits(4).says("orders 1", "DESCRIBE on topic orders is missing", "nothing was written")
		same(t, "asked", asked, true)
		same(t, "committed", w.committed("billing", "orders"), "0=0 1=0")
	})
}
