package offsets_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"gtoffset/kafkaops/offsets"
)

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 250 * time.Millisecond: "250 ms", 12 * time.Second: "12 s", 90 * time.Second: "1 min 30 s", time.Minute: "1 min",
		time.Hour + 59*time.Second: "1 h", 3*time.Hour + 12*time.Minute + 5*time.Second: "3 h 12 min", 50 * time.Hour: "2 d 2 h", -time.Minute: "-1 min",
		math.MaxInt64: "more than 292 years", math.MinInt64: "-more than 292 years", time.Duration(math.MaxInt64).Truncate(time.Second): "more than 292 years",
		100 * 365 * 24 * time.Hour: "36500 d",
	} {
		if got := offsets.Span(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

// FuzzSpan writes lengths of time: of any there is, few words, and its opposite likewise.
func FuzzSpan(f *testing.F) {
	for _, d := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64, int64(time.Hour), -int64(time.Second)} {
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, n int64) {
		d := time.Duration(n)
		got, opposite := offsets.Span(d), offsets.Span(-d)
		if d < 0 != strings.HasPrefix(got, "-") || n != math.MinInt64 && strings.TrimPrefix(got, "-") != strings.TrimPrefix(opposite, "-") || len(got) > len("-more than 292 years") {
			t.Errorf("%d: %q, its opposite %q", n, got, opposite)
		}
		if m := offsets.Millis(n); (m < 0) != (n < 0) || m.Milliseconds() != n && m.Abs() < 292*365*24*time.Hour {
			t.Errorf("%d ms are %v", n, m)
		}
	})
}

func TestPlural(t *testing.T) {
	for want, got := range map[string]string{
		"1 partition": offsets.Plural(1, "partition"), "0 entries": offsets.Plural(0, "entry"), "1 entry": offsets.Plural(1, "entry"),
		"5,000 groups": offsets.Plural(5000, "group"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"größe", 3, "gr…"}, {"größe", 4, "grö…"}, {"🦉🦉", 7, "🦉…"}, {"🦉", 3, "…"}, {"a\xff\xfeb", 2, "a\xff…"},
	} {
		if got := offsets.Clip(c.text, c.most); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

func TestBrief(t *testing.T) {
	for reason, want := range map[string]string{
		"broker 2 (kafka2:9092) did not answer within 2s":                 "broker 2 did not answer",
		"broker 2 (kafka2:9092) did not answer in the time that was left": "broker 2 did not answer",
		"unknown: broker 2 (kafka2:9092): connect: no route to host":      "unknown: broker 2",
		"damaged: /s/g/t/gtoffset: line 3: \"12x\" is no offset":          "damaged",
		"stored: damaged: /s/g/t/gtoffset: the file is empty":             "stored: damaged",
		"no leader": "no leader",
		"f(x":       "f(x",
		"":          "",
	} {
		if got := offsets.Brief(reason); got != want {
			t.Errorf("%q: got %q, want %q", reason, got, want)
		}
	}
}
