package cmd

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gtoffset/kafkaops/offsets"
	"gtoffset/output"
)

// FuzzInstant reads points in time. One that is taken lies in the years that Kafka can be asked about, and means the same when it is
// written as it is shown.
func FuzzInstant(f *testing.F) {
	for _, s := range []string{
		"2026-11-29T12:00:00.000Z", "2026-11-29T12:00:00+05:30", "2026-11-29 12:00", "2026-11-29", "@1795953600000", "@1", "1795953600000", "2026-03-29T02:30:00",
		"2026-10-25T02:30:00", "1969-12-31T23:59:59Z", "2026-02-30", "2026-11-29T24:00:00", "2026-11-29T12:00:00-18:59", "", "@", "-", "T", "9999-12-31T23:59:59.999999999Z", "2h", "P7D", "0s", "20261129T120000Z", "2026-11-29t12:00z", "99y",
	} {
		f.Add(s)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	now := time.Date(2031, 11, 29, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		for _, in := range []*time.Location{time.UTC, berlin} {
			at, err := parseInstant(s, in, now)
			if err != nil {
				continue
			}
			if at.Location() != time.UTC || at.Year() < 1969 {
				t.Fatalf("%q is %v", s, at)
			}
			shown, _, _ := strings.Cut(sayInstant(at), " ")
			if again, err := parseInstant(shown, time.UTC, now); at.Year() >= 1970 && (err != nil || again.UnixMilli() != at.UnixMilli()) {
				t.Fatalf("%q is %v, shown as %s, which is %v: %v", s, at, shown, again, err)
			}
		}
	})
}

// FuzzDuration reads lengths of time, as each flag takes them.
func FuzzDuration(f *testing.F) {
	for _, s := range []string{"P7D", "PT168H", "P1DT12H", "7d", "90m", "1d12h", "30s", "1500", "1.5h", "P", "PT", "-1s", "P1M", "1h1d", "1e300d", "9999999999999d", "0.0000000001s", "pt1s", "P1DT", "0", "PT0", "1h0", "0.0", "1h0.0000000001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := parseBack(s); err == nil && (d < 0 || d > 100*365*24*time.Hour+time.Second) {
			t.Fatalf("%q back is %v", s, d)
		}
		d, err := parseSpan(s)
		if err == nil && d <= 0 {
			t.Fatalf("%q is %v", s, d)
		}
		if unit := (*unitError)(nil); errors.As(err, &unit) {
			if _, err := parseSpan(unit.ways[0]); err != nil && !strings.Contains(err.Error(), "too long") && !(strings.Contains(err.Error(), isZero) && strings.ContainsAny(s, "123456789")) { // or too little
				t.Fatalf("%q: %q is offered, and %v", s, unit.ways[0], err)
			}
		}
		var limit timeout
		if limit.Set(s) == nil && time.Duration(limit) < time.Second {
			t.Fatalf("%q is a timeout of %v", s, time.Duration(limit))
		}
		var long span
		if long.Set(s) == nil && long < 0 {
			t.Fatalf("%q is a span of %v", s, time.Duration(long))
		}
	})
}

// FuzzSelection reads topics with their partitions. One that is taken reads the same as it is written.
func FuzzSelection(f *testing.F) {
	for _, s := range []string{"orders", "orders:0,1,4-7", "orders:", ":1", "o:7-4", "o:-1", "o:0-1000000,0-1000000", "o: 1 , 2", "a:b:1", "o:1,,2", "o:99999999999", "o:+1", "o:1-", "o:0-2147483647"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		sel, err := parseSelection(s)
		if err != nil {
			return
		}
		if sel.Topic == "" || len(sel.Partitions) > maxPartition+1 || !slices.IsSorted(sel.Partitions) || len(sel.Partitions) > 0 && sel.Partitions[0] < 0 {
			t.Fatalf("%q is %+v", s, sel)
		}
		if again, err := parseSelection(sel.String()); err != nil || again.Topic != sel.Topic || !slices.Equal(again.Partitions, sel.Partitions) {
			t.Fatalf("%q is written %q: %v", s, sel, err)
		}
	})
}

// FuzzBound reads the ends of a replay's range.
func FuzzBound(f *testing.F) {
	for _, s := range []string{"stored", "end", "latest", "earliest", "0", "-1", "9223372036854775807", "2h", "P1D", "2026-11-29T12:00:00Z", "2026-11-29", "@1795953600000", "", "1 h", "committed "} {
		f.Add(s)
	}
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	named := []offsets.Aim{offsets.AimStored, offsets.AimCommitted, offsets.AimEarliest, offsets.AimLatest}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := parseBound("--from", s, named, now)
		if err != nil {
			return
		}
		if b.Aim == offsets.AimOffset && b.N < 0 || b.Aim == offsets.AimTime && b.instant.After(now.Add(24*time.Hour)) || b.Aim == "" {
			t.Fatalf("%q is %+v", s, b)
		}
	})
}

// FuzzSize reads numbers of bytes.
func FuzzSize(f *testing.F) {
	for _, s := range []string{"500000", "512KiB", "16MiB", "1GiB", "2GiB", "0", "-1", "1kk", "k", "", "9223372036854775807GiB", "1b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b, again byteSize
		if b.Set(s) != nil {
			return
		}
		if b <= 0 || b > 1<<30 || again.Set(b.String()) != nil || again != b {
			t.Fatalf("%q is %d, which is written %s and read %d", s, int64(b), b.String(), int64(again))
		}
	})
}

// FuzzQuote writes words for a shell. What a shell reads is the word, and what a terminal shows cannot move its cursor.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"billing", "a b", "it's", "$(id)", "`id`", "a\nb", "\x1b[2J", "\u202e", "", "-x", "~", "#", "!", "\\", "*", "\xff", "a\\'b\x00", "世界", "=cmd", "{a,b}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line := commandLine([]string{"gtoffset", s})
		if output.Clean(strings.ReplaceAll(line, `\`, "/")) != strings.ReplaceAll(line, `\`, "/") {
			t.Fatalf("%q is written %q", s, line)
		}
		words, ok := shellWords(line)
		if !ok || len(words) != 2 || words[1] != s {
			t.Fatalf("%q is written %s, and read %q", s, line, words)
		}
	})
}

// shellWords reads a line as bash does, as far as we write one: plain words, '…' and $'…' with \xHH, \\ and \'.
func shellWords(line string) (words []string, ok bool) {
	for line != "" {
		word, open := "", false
		for line != "" && (open || line[0] != ' ') {
			switch {
			case strings.HasPrefix(line, "$'"):
				line = line[2:]
				for {
					switch {
					case line == "":
						return nil, false
					case line[0] == '\'':
					case strings.HasPrefix(line, `\x`) && len(line) >= 4:
						n, err := strconv.ParseUint(line[2:4], 16, 8)
						if err != nil {
							return nil, false
						}
						word, line = word+string([]byte{byte(n)}), line[4:]
						continue
					case line[0] == '\\' && len(line) > 1 && (line[1] == '\\' || line[1] == '\''):
						word, line = word+line[1:2], line[2:]
						continue
					case line[0] != '\\':
						word, line = word+line[:1], line[1:]
						continue
					default:
						return nil, false
					}
					line = line[1:]
					break
				}
			case line[0] == '\'':
				inner, rest, closed := strings.Cut(line[1:], "'")
				if !closed {
					return nil, false
				}
				word, line = word+inner, rest
			case strings.HasPrefix(line, `\'`):
				word, line = word+"'", line[2:]
			case strings.ContainsRune("$`\"\\;&|<>()*?[]#~!{}\t\n", rune(line[0])), line[0] == '=' && word == "":
				return nil, false // a shell would do something with it
			default:
				_, n := utf8.DecodeRuneInString(line)
				word, line = word+line[:n], line[n:]
			}
		}
		words = append(words, word)
		line = strings.TrimPrefix(line, " ")
	}
	return words, true
}
