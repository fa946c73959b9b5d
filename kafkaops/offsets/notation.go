package offsets

import (
	"encoding/base64"
	"strings"
	"time"
)

// TimeLayout is how times are written in documents, files and tables, in UTC: RFC 3339 with milliseconds. Any RFC 3339 time is read.
const TimeLayout = "2006-01-02T15:04:05.000Z07:00"

// Plain reports a time that RFC 3339 can write. What comes out as one of a later year was no number of milliseconds: of microseconds,
// today is in the year 58,884.
func Plain(t time.Time) bool { return t.UTC().Year() <= 9999 }

// Millis is a number of milliseconds as a duration: of more than one can hold, the longest.
func Millis(n int64) time.Duration {
	const most = int64(longest / time.Millisecond)
	return time.Duration(max(min(n, most), -most)) * time.Millisecond
}

// TopicID prints a topic's id as Kafka does.
func TopicID(id [16]byte) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// ParseTopicID reads what TopicID prints.
func ParseTopicID(s string) (id [16]byte, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return id, false
	}
	return [16]byte(b), true
}

// PlainYAML tells whether a text means itself without quotes to every reader, YAML 1.1 and 1.2. Rather a quote too many.
func PlainYAML(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-' && c != '.' && c != '/') {
			return false
		}
	}
	switch strings.ToLower(s) {
	case "", "y", "n", "yes", "no", "true", "false", "on", "off", "null", "_":
		return false
	}
	return true
}
