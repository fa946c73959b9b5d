package cmd

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// instantForms is what the errors list. A time without a zone is in the one that %s names.
const instantForms = "2026-11-29T12:00:00.000Z, 2026-11-29T12:00:00+05:30, 20261129T120000Z, 2026-11-29T12:00 (%s), 2026-11-29, @1795953600000 (epoch milliseconds), or 2h, 1d12h, P7D (so long ago)"

// parseInstant reads a point in time, for every flag that takes one: Kafka's form of --to-datetime, shorter ones of it, the one of our
// backups' names, @ and epoch milliseconds, or a length of time back from now. Without a zone in it the time is in the given location; a
// local time that is not exactly one instant is an error.
func parseInstant(s string, in *time.Location, now time.Time) (time.Time, error) {
	if isBack(s) {
		return ago(s, now)
	}
	if ms, ok := strings.CutPrefix(s, "@"); ok {
		n, err := strconv.ParseInt(ms, 10, 64)
		switch {
		case err != nil || n < 100_000_000: // nor one in seconds
			return time.Time{}, fmt.Errorf("%q is no number of epoch milliseconds, of any record", s)
		case n < 100_000_000_000:
			return time.Time{}, fmt.Errorf("%q would be %s: is it in seconds? @%d000 is %s", s, time.UnixMilli(n).UTC().Format(time.RFC3339), n, time.Unix(n, 0).UTC().Format(time.RFC3339))
		case n > 32_503_680_000_000:
			return time.Time{}, fmt.Errorf("%q is after the year 3000: is it in microseconds?", s)
		}
		return time.UnixMilli(n).UTC(), nil
	}
	if _, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.Time{}, fmt.Errorf("%q is a bare number: write @%s for epoch milliseconds", s, s)
	}
	clock, zone, err := cutZone(s)
	if err != nil {
		return time.Time{}, err
	}
	wall, err := parseWall(clock)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no time: "+instantForms, s, in)
	}
	if zone != nil {
		in = zone
	}
	if wall.Year() < 1970 {
		return time.Time{}, fmt.Errorf("%q is before 1970, and so before any record", s)
	}
	if wall.Year() > 3000 {
		return time.Time{}, fmt.Errorf("%q is after the year 3000", s)
	}
	return onlyInstant(wall, in, s)
}

// ago is the point in time that lies a length of time back from now.
func ago(s string, now time.Time) (time.Time, error) {
	back, err := parseBack(s)
	at := now.Add(-back).UTC()
	if err == nil && at.Year() < 1970 {
		return at, fmt.Errorf("%q ago is before 1970, and so before any record", s)
	}
	return at, err
}

// parseWall reads date and time without a zone, as if they were in UTC.
func parseWall(s string) (time.Time, error) {
	if len(s) > 10 && (s[10] == ' ' || s[10] == 't') {
		s = s[:10] + "T" + s[11:]
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02", "20060102T150405"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, strconv.ErrSyntax
}

// cutZone takes Z, ±hh, ±hhmm or ±hh:mm off the end of a time; nil is none.
func cutZone(s string) (string, *time.Location, error) {
	if clock := strings.TrimRight(s, "Zz"); len(clock) == len(s)-1 {
		return clock, time.UTC, nil
	}
	at := strings.LastIndexAny(s, "+-")
	if at <= len("2026-11-29") || !strings.ContainsAny(s[:at], "Tt ") {
		return s, nil, nil // the hyphens of the date
	}
	digits := strings.Replace(s[at+1:], ":", "", 1)
	if len(digits) == 2 {
		digits += "00"
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || len(digits) != 4 || n/100 > 18 || n%100 > 59 {
		return "", nil, fmt.Errorf("%q has no zone that can be read: +05:30, +0530, +05 or Z", s)
	}
	east := int(n/100*3600 + n%100*60)
	if s[at] == '-' {
		east = -east
	}
	return s[:at], time.FixedZone("", east), nil
}

// onlyInstant is the one instant at which clocks in a location show a time.
func onlyInstant(wall time.Time, in *time.Location, s string) (time.Time, error) {
	var found []time.Time
	for _, near := range []time.Duration{-24 * time.Hour, 24 * time.Hour} { // zones change their clocks less often than that
		_, east := wall.Add(near).In(in).Zone()
		t := wall.Add(-time.Duration(east) * time.Second)
		if _, there := t.In(in).Zone(); there == east && (len(found) == 0 || !found[0].Equal(t)) {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 0:
		return time.Time{}, fmt.Errorf("%q does not exist in %s: clocks were put forward; add a zone", s, in)
	case 1:
		return found[0].UTC(), nil
	default:
		return time.Time{}, fmt.Errorf("%q occurs twice in %s: clocks were put back; add a zone", s, in)
	}
}

// clocksApart is how far the clock of whoever wrote a time without its zone may be before ours.
const clocksApart = time.Minute

// ahead refuses a time that lies ahead: by more than a day, or by more than clocks differ, if it was written without a zone and read in
// UTC, which was most likely not meant. zoned tells that whoever wrote it named the zone beside it; instead is what to do without a time.
func ahead(flag, text string, at, now time.Time, in *time.Location, zoned bool, instead string) error {
	elsewhere, _ := parseInstant(text, time.FixedZone("", 3600), now)
	switch d := at.Sub(now); {
	case d > 24*time.Hour:
		return usage(fmt.Sprintf("%s %s is more than a day ahead", flag, sayInstant(at)), instead)
	case d > clocksApart && !zoned && !elsewhere.Equal(at):
		return usage(fmt.Sprintf("%s %s is ahead, read in %s; the clock here says %s", flag, sayInstant(at), in, sayInstant(now)), flag+" "+quote(text+"Z")+" if UTC is meant, else with its zone, as +02:00, at the end; "+instead)
	}
	return nil
}

// isBack tells a length of time from a point in time: it begins with P, or with a number and goes on with units and numbers. A bare number
// lacks its unit, unless it is as long as epoch milliseconds are.
func isBack(s string) bool {
	low := strings.TrimLeft(strings.ToLower(s), "+-")
	clock, after, compact := strings.Cut(low, "t")
	switch {
	case low == "" || strings.Trim(low, "abcdefghijklmnopqrstuvwxyz0123456789.") != "":
		return false
	case low[0] == 'p':
		return strings.Trim(low, "p0123456789.dhmsty") == ""
	case low[0] < '0' || low[0] > '9' || compact && len(clock) == len("20261129") && after != "":
		return false
	}
	bare := strings.Trim(low, "0123456789.") == ""
	return !bare || len(low) < len("20261129")
}

// sayInstant writes a resolved instant so that nobody has to guess.
func sayInstant(t time.Time) string {
	return fmt.Sprintf("%s (@%d)", t.UTC().Format("2006-01-02T15:04:05.000Z"), t.UnixMilli())
}
