package cmd

import (
	"strings"
	"testing"
	"time"
)

func TestParseInstant(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		in   string
		zone *time.Location
		want string // RFC 3339 in UTC, or what the error must say
	}{
		{"2024-05-01T10:00:00.000+05:30", time.UTC, "2024-05-01T04:30:00Z"},
		{"2024-05-01T10:00:00.000-03:30", time.UTC, "2024-05-01T13:30:00Z"},
		{"2024-05-01T10:00:00.000+05:45", time.UTC, "2024-05-01T04:15:00Z"},
		{"2024-05-01T10:00:00.000+0530", time.UTC, "2024-05-01T04:30:00Z"},
		{"2024-05-01T10:00:00.000+05", time.UTC, "2024-05-01T05:00:00Z"},
		{"2024-05-01T10:00:00.000Z", berlin, "2024-05-01T10:00:00Z"},
		{"2024-05-01T10:00:00", time.UTC, "2024-05-01T10:00:00Z"},
		{"2024-05-01T10:00", time.UTC, "2024-05-01T10:00:00Z"},
		{"2024-05-01 10:00", berlin, "2024-05-01T08:00:00Z"},
		{"2024-05-01", time.UTC, "2024-05-01T00:00:00Z"},
		{"2024-05-01T10:00:00.6Z", time.UTC, "2024-05-01T10:00:00.6Z"},
		{"@1543580000000", berlin, "2018-11-30T12:13:20Z"},
		{"2024-03-31T02:30:00", berlin, "does not exist"},
		{"2024-10-27T02:30:00", berlin, "occurs twice"},
		{"2024-10-27T02:30:00+02:00", berlin, "2024-10-27T00:30:00Z"},
		{"1543580000", time.UTC, "bare number"},
		{"@1543580000", time.UTC, "in seconds?"},
		{"@1543580000000000", time.UTC, "microseconds"},
		{"@-5", time.UTC, "no number"},
		{"2024-02-30T00:00:00", time.UTC, "is no time"},
		{"2024-05-01T25:00:00", time.UTC, "is no time"},
		{"2024-05-01T10:00:00+99:99", time.UTC, "zone"},
		{"yesterdayish", time.UTC, "is no time"},
		{"", time.UTC, "is no time"},
		{"2024-05-01t10:00:00.6z", berlin, "2024-05-01T10:00:00.6Z"},
		{"20240501T100000Z", berlin, "2024-05-01T10:00:00Z"},
		{"20240501T100000", berlin, "2024-05-01T08:00:00Z"},
		{"20240501T100000.25+0530", berlin, "2024-05-01T04:30:00.25Z"},
		{"2h", berlin, "2024-05-01T08:00:00Z"},
		{"1d12h", time.UTC, "2024-04-29T22:00:00Z"},
		{"P7D", time.UTC, "2024-04-24T10:00:00Z"},
		{"pt0.5s", time.UTC, "2024-05-01T09:59:59.5Z"},
		{"0h", time.UTC, "is zero"},
		{"5", time.UTC, "has no unit"},
		{"1h30", time.UTC, "has no unit"},
		{"@0", time.UTC, "is no number of epoch milliseconds, of any record"},
		{"-2h", time.UTC, "sign"},
		{"2h1d", time.UTC, "wrong place"},
		{"36000d", time.UTC, "before 1970"},
		{"20240501", time.UTC, "bare number"},
		{"2024-W48", time.UTC, "2h, 1d12h, P7D (so long ago)"},
		{"yesterday", time.UTC, "20261129T120000Z"},
		{"2024-05-01T10:00Zz", time.UTC, "is no time"},
	} {
		got, err := parseInstant(tc.in, tc.zone, time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC))
		said := got.Format(time.RFC3339Nano)
		if err != nil {
			said = err.Error()
		}
		if err == nil && said != tc.want || err != nil && !strings.Contains(said, tc.want) {
			t.Errorf("%q: got %q, want %q", tc.in, said, tc.want)
		}
	}
}

func TestParseBack(t *testing.T) {
	for in, want := range map[string]string{
		"7d": "168h0m0s", "P7D": "168h0m0s", "PT168H": "168h0m0s", "168h": "168h0m0s", "p7d": "168h0m0s",
		"1d12h": "36h0m0s", "P1DT12H": "36h0m0s", "1.5d": "36h0m0s", "90m": "1h30m0s", "PT1H30M": "1h30m0s", "PT0.5S": "500ms",
		"-1h": "sign", "+1h": "sign", "10": "no unit", "P10": "no unit", "1y": "unknown unit", "P1M": "unknown unit", "PT1D": "unknown unit",
		"P1DT": "ends with T", "12h1d": "wrong place", "": "no duration", "P": "no duration", "0s": "zero", "999999999d": "too long", "h": "no duration",
	} {
		got, err := parseBack(in)
		said := got.String()
		if err != nil {
			said = err.Error()
		}
		if err == nil && said != want || err != nil && !strings.Contains(said, want) {
			t.Errorf("%q: got %q, want %q", in, said, want)
		}
	}
}
