package cmd

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// spanExamples are what the help says of the unit of a length of time, for each flag that takes one.
const spanExamples = "90s, 5m, 2h, 1d"

// spanForms is what the errors list.
const spanForms = "P7D, PT168H, P1DT12H, 7d, 168h, 90m, 1d12h; a day is 24 hours"

// isZero is said of no time at all, with or without a unit, where a time is needed. Only wait takes it, and looks once.
const isZero = "is zero, and a length of time is more"

// span is a flag that takes a length of time.
type span time.Duration

func (t *span) String() string { return typedSpan(time.Duration(*t)) }
func (t *span) Type() string   { return "DURATION" }
func (t *span) Set(s string) error {
	d, err := parseSpan(s)
	*t = span(d)
	return err
}

// patience is a span that may be zero, with or without a unit.
type patience time.Duration

func (t *patience) String() string { return typedSpan(time.Duration(*t)) }
func (t *patience) Type() string   { return "DURATION" }
func (t *patience) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d != 0 {
		d, err = parseSpan(s)
	}
	*t = patience(d)
	return err
}

// timeout is a span that takes Kafka's bare milliseconds, too.
type timeout time.Duration

func (t *timeout) String() string { return typedSpan(time.Duration(*t)) }
func (t *timeout) Type() string   { return "DURATION" }
func (t *timeout) Set(s string) error {
	d, err := time.ParseDuration(s + "ms")
	if err != nil {
		d, err = parseSpan(s)
	}
	switch {
	case err != nil:
		return err
	case d < time.Second:
		return fmt.Errorf("%q is under a second; a bare number is milliseconds", s)
	}
	*t = timeout(d)
	return nil
}

// typedSpan writes a duration as one would type it: 5m, not 5m0s.
func typedSpan(d time.Duration) string {
	return strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(d.String())
}

// parseSpan reads a length of time as Go writes it, or as parseBack does.
func parseSpan(s string) (time.Duration, error) {
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return d, nil
	}
	return parseBack(s)
}

// unitError says that a length of time lacks its unit.
type unitError struct {
	given string
	ways  []string // with each unit that it can have
}

func (e *unitError) Error() string { return fmt.Sprintf("%q has no unit", e.given) }

// badSpan is the usage error of a flag that takes a length of time.
func badSpan(flag string, err error) error {
	var unit *unitError
	if !errors.As(err, &unit) {
		return usage(flag+" "+err.Error(), "")
	}
	ways := make([]string, len(unit.ways))
	for i, way := range unit.ways {
		ways[i] = flag + " " + way
	}
	return usage(flag+" "+err.Error(), strings.Join(ways, ", or "))
}

// parseBack reads a length of time: ISO 8601 as Kafka's --by-duration takes it, or days, hours, minutes and seconds with their letters.
// It is never negative.
func parseBack(s string) (time.Duration, error) {
	bad := func(why string) (time.Duration, error) {
		return 0, fmt.Errorf("%q %s: %s", s, why, spanForms)
	}
	rest, iso := strings.ToLower(s), false
	if r, ok := strings.CutPrefix(rest, "p"); ok {
		rest, iso = r, true
	}
	var sum time.Duration
	units, clock, any := "dhms", !iso, false
	for rest != "" {
		if r, ok := strings.CutPrefix(rest, "t"); ok && iso && !clock {
			rest, clock = r, true
			if i := strings.IndexByte(units, 'h'); i > 0 {
				units = units[i:]
			}
			if rest == "" {
				return bad("ends with T")
			}
			continue
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		switch {
		case strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "+"):
			return bad("has a sign; a length of time has none")
		case end < 0 && sum == 0 && strings.Trim(rest, "0.") == "":
			return bad(isZero) // with any unit
		case end < 0:
			return 0, lacksUnit(s, units, iso, clock)
		case end == 0:
			return bad("is no duration")
		}
		unit := strings.IndexByte(units, rest[end])
		if unit < 0 || rest[end] != 'd' && !clock {
			return bad("has an unknown unit, or one in the wrong place")
		}
		length := map[byte]time.Duration{'d': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute, 's': time.Second}[rest[end]]
		n, err := strconv.ParseFloat(rest[:end], 64)
		if err != nil || n*float64(length)+float64(sum) > float64(100*365*24*time.Hour) {
			return bad("is too long, or no number")
		}
		sum += time.Duration(n * float64(length))
		units, rest, any = units[unit+1:], rest[end+1:], true
	}
	switch {
	case !any:
		return bad("is no duration")
	case sum == 0:
		return bad(isZero)
	}
	return sum, nil
}

// lacksUnit is the error of a length of time that ends with a number, with the units that make one of it, the shortest first.
func lacksUnit(s, units string, iso, clock bool) error {
	e := &unitError{given: s}
	for i := len(units) - 1; i >= 0; i-- {
		unit := units[i : i+1]
		switch {
		case !clock && unit != "d":
			continue
		case iso:
			unit = strings.ToUpper(unit)
		}
		if _, err := parseBack(s + unit); err == nil {
			e.ways = append(e.ways, s+unit)
		}
	}
	return e
}
