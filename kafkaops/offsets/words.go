package offsets

import (
	"fmt"
	"strconv"
	"strings"
)

// Words says everything about a row in words, problems first; "ok" if there is nothing to say. store tells whether a store is
// named, cluster which cluster the ranges are from.
func (r Row) Words(cluster string, store bool) string {
	var say []string
	add := func(format string, args ...any) { say = append(say, fmt.Sprintf(format, args...)) }
	switch {
	case r.Range.Gone():
		add("gone: %s", r.Range.gone())
	case !r.Range.Known():
		add("unknown: %s", orElse(r.Range.Reason, "no reason given"))
	}
	if store {
		r.wordsOf(Stored, cluster, add)
	}
	r.wordsOf(Committed, cluster, add)
	if n, ok := r.Unprocessed(cluster); ok && store {
		switch {
		case n > 0:
			add("%d unprocessed", n)
		case n < 0:
			add("committed %d behind stored", -n)
		}
	}
	if len(say) == 0 {
		return "ok"
	}
	return strings.Join(say, "; ")
}

func (r Row) wordsOf(side Side, cluster string, add func(string, ...any)) {
	e := r.Entry(side)
	s := Judge(e, r.Range, cluster)
	if e.Problem() {
		add("%s unknown: %s", side, orElse(e.Reason, e.Presence.String()))
		return
	}
	if s.Foreign {
		add("%s for another cluster (%s)", side, e.Cluster)
	}
	if s.Identity == Recreated {
		add("%s before the topic was recreated (id was %s)", side, e.TopicID)
	}
	switch {
	case s.Condition == Low:
		add("%s low: %d expired", side, s.Expired)
	case s.Condition == High:
		add("%s high: %d ahead", side, s.Ahead)
	case e.Presence == Present || r.Range.Gone():
	case side == Stored:
		add("no entry in the store")
	case r.Stored.Presence == Present:
		add("no committed offset (expired or never committed)")
	default:
		add("never committed")
	}
}

// gone says what no longer exists.
func (r Range) gone() string {
	if r.State == TopicGone {
		return "the topic does not exist"
	}
	return orElse(r.Reason, "the topic has fewer partitions")
}

// String is the presence in a word or two.
func (p Presence) String() string {
	switch p {
	case Present:
		return "present"
	case Empty:
		return "empty"
	case Damaged:
		return "damaged"
	case WrongType:
		return "not a file"
	case Denied:
		return "not permitted"
	case Unreadable:
		return "unreadable"
	default:
		return "absent"
	}
}

// Thousands writes a count for prose: 1234567 as 1,234,567. Offsets stay plain, as they stand in tables.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i := range len(s) {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
