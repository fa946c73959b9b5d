package offsets

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Words says everything about a row in words, problems first; "ok" if there is nothing to say.
func (j *Judged) Words() string { return j.words(nil) }

// Brief is Words for a table above which the reasons in told are written out: of these only a word or two stands in the row.
func (j *Judged) Brief(told map[string]bool) string { return j.words(told) }

func (j *Judged) words(told map[string]bool) string {
	var s sentence
	switch rng := &j.Row.Range; {
	case rng.Gone():
		s.say("gone: ", rng.gone())
	case !rng.Known() && told[rng.Reason]:
		s.say("unknown: ", Brief(rng.Reason))
	case !rng.Known():
		s.say("unknown: ", cmp.Or(rng.Reason, "no reason given"))
	}
	if j.store {
		j.wordsOn(Stored, &s, told)
	}
	j.wordsOn(Committed, &s, told)
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

// whyNot says why what the given sides have is no number to reckon with.
func (j *Judged) whyNot(sides ...Side) string {
	var s sentence
	switch r := &j.Row.Range; {
	case r.Gone():
		return "gone: " + r.gone()
	case !r.Known():
		return "unknown: " + cmp.Or(r.Reason, "no reason given")
	}
	for _, side := range sides {
		if e, st := j.on(side); e.Presence != Present || st.Identity == Recreated || st.Foreign {
			j.wordsOn(side, &s, nil)
		}
	}
	return cmp.Or(string(s), "it cannot be told")
}

func (j *Judged) wordsOn(side Side, s *sentence, told map[string]bool) {
	if shared := j.Row.Shared; shared != nil && side == Committed {
		if say := shared.words(); say != "" && !j.Row.Range.Gone() {
			s.say(say)
		}
		return
	}
	e, st := j.on(side)
	if e.Problem() {
		if told[e.Reason] {
			s.say(string(side), " ", e.Presence.String())
			return
		}
		s.say(string(side), " unknown: ", cmp.Or(e.Reason, e.Presence.String()))
		return
	}
	if st.Foreign {
		s.say(string(side), " for another cluster (", e.Cluster, ")")
	}
	if st.Identity == Recreated {
		s.say(string(side), " before the topic was recreated (id was ", e.TopicID, ")")
	}
	switch {
	case st.Stale && st.JumpsTo == None:
		s.say(string(side), " stale: a consumer waits for ever, as leader epoch ", number(int64(e.Epoch)), " does not exist")
	case st.Stale:
		s.say(string(side), " stale: a consumer jumps back to ", number(st.JumpsTo), ", where leader epoch ", number(int64(e.Epoch)), " ended")
	case st.Unchecked && told[e.EpochEnd.Reason]:
		s.say(string(side), " epoch unchecked: ", Brief(e.EpochEnd.Reason))
	case st.Unchecked:
		s.say(string(side), " epoch unchecked: ", e.EpochEnd.Reason)
	}
	if e.Pending {
		s.say(string(side), " pending: ", pending)
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
		s.say("no committed offset (expired, removed or never committed)")
	default:
		s.say("no commit")
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

// Brief is the point of a reason, without addresses, times and what follows a colon, for a place where there is no room for all
// of it: "broker 2 did not answer".
func Brief(reason string) string {
	for {
		before, rest, open := strings.Cut(reason, " (")
		_, after, closed := strings.Cut(rest, ")")
		if !open || !closed {
			break
		}
		reason = before + after
	}
	for _, end := range []string{"; ", " within ", " in the time that was left"} {
		reason, _, _ = strings.Cut(reason, end)
	}
	point, rest, cut := strings.Cut(reason, ": ")
	switch point {
	case "unknown", "the store", "the commits", string(Stored), string(Committed): // these say nothing by themselves
		if next, _, _ := strings.Cut(rest, ": "); cut {
			point += ": " + next
		}
	}
	return point
}

// gone says what no longer exists.
func (r Range) gone() string {
	if r.State == TopicGone {
		return "the topic does not exist"
	}
	return cmp.Or(r.Reason, "the topic has fewer partitions")
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
		return "of the wrong kind"
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

// Plural counts a noun: 1 partition, 5,000 partitions, 2 entries.
func Plural(n int, noun string) string {
	if n != 1 {
		if stem, ok := strings.CutSuffix(noun, "y"); ok {
			noun = stem + "ie"
		}
		noun += "s"
	}
	return Thousands(int64(n)) + " " + noun
}

// Clip keeps a text of unknown length short: at most so many bytes, cut between characters, and … behind them.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// longest is where a Duration ends, in whole days: what is subtracted or counted up to there may be any time beyond.
const longest = math.MaxInt64 / (24 * time.Hour) * (24 * time.Hour)

// Span writes a time span for people, in two units at most: 12 s, 3 h 12 min, 2 d.
func Span(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Span(d.Abs()) // the smallest has no opposite
	case d >= longest:
		return "more than 292 years"
	case 0 < d && d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	units := []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}}
	for i, u := range units {
		if d < u.size {
			continue
		}
		s := fmt.Sprintf("%d %s", d/u.size, u.name)
		if i+1 < len(units) {
			if n := d % u.size / units[i+1].size; n > 0 {
				s += fmt.Sprintf(" %d %s", n, units[i+1].name)
			}
		}
		return s
	}
	return "0 s"
}

// String names a member as an operator looks for it: by its client id, or its member id, and its host.
func (m Member) String() string {
	host := strings.TrimPrefix(m.Host, "/") // as Kafka has it
	return cmp.Or(m.ClientID, m.ID) + " on " + cmp.Or(host, "an unknown host")
}

// MemberNames names up to five of the group's members, "" if there are none.
func (g *Group) MemberNames() string {
	var names []string
	for _, m := range g.Members {
		names = append(names, m.String())
	}
	return first(names, 5)
}

// first joins a few of many names.
func first(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + ", and " + Thousands(int64(more)) + " more"
	}
	return strings.Join(names, ", ")
}
