package offsets

import (
	"strconv"
	"strings"
)

// Words says everything about a row in words, problems first; "ok" if there is nothing to say.
func (j *Judged) Words() string {
	var s sentence
	switch rng := &j.Row.Range; {
	case rng.Gone():
		s.say("gone: ", rng.gone())
	case !rng.Known():
		s.say("unknown: ", orElse(rng.Reason, "no reason given"))
	}
	if j.store {
		j.wordsOn(Stored, &s)
	}
	j.wordsOn(Committed, &s)
	if n, ok := j.Unprocessed(); ok && j.store {
		switch {
		case n > 0:
			s.say(number(n), " unprocessed")
		case n < 0:
			s.say("committed ", number(-n), " behind stored")
		}
	}
	if len(s) == 0 {
		return "ok"
	}
	return string(s)
}

// Words judges the row for this one answer: see Judged.Words. store tells whether a store is named, cluster which cluster the
// ranges are from.
func (r Row) Words(cluster string, store bool) string {
	j := JudgeRow(&r, cluster, store)
	return j.Words()
}

func (j *Judged) wordsOn(side Side, s *sentence) {
	e, st := j.on(side)
	if e.Problem() {
		s.say(string(side), " unknown: ", orElse(e.Reason, e.Presence.String()))
		return
	}
	if st.Foreign {
		s.say(string(side), " for another cluster (", e.Cluster, ")")
	}
	if st.Identity == Recreated {
		s.say(string(side), " before the topic was recreated (id was ", e.TopicID, ")")
	}
	switch {
	case st.Condition == Low:
		s.say(string(side), " low: ", number(st.Expired), " expired")
	case st.Condition == High:
		s.say(string(side), " high: ", number(st.Ahead), " ahead")
	case e.Presence == Present || j.Row.Range.Gone():
	case side == Stored:
		s.say("no entry in the store")
	case j.Row.Stored.Presence == Present:
		s.say("no committed offset (expired or never committed)")
	default:
		s.say("never committed")
	}
}

// sentence is what there is to say of a row, point by point.
type sentence []byte

func (s *sentence) say(parts ...string) {
	if len(*s) > 0 {
		*s = append(*s, "; "...)
	}
	for _, part := range parts {
		*s = append(*s, part...)
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
