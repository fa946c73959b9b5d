package output

import (
	"cmp"
	"io"
	"strconv"
	"time"

	"gtoffset/kafkaops/offsets"
)

func (v History) json(w io.Writer) error {
	h := &v.History
	e := &encoder{w: w}
	e.open('{')
	e.string("schema", HistorySchema)
	e.time("at", v.At)
	e.origin(v.Origin)
	e.string("group", v.Group.ID)
	e.string("type", historyType(v.Group))
	e.text("state", v.Group.State)
	e.object("log")
	e.int("partition", int64(v.Partition))
	e.int("partitions", int64(v.Partitions))
	e.int("bytes", v.Bytes)
	e.int("records", h.Records)
	e.int("compacted", h.Complete.Gone)
	e.close('}')
	e.bool("complete", h.Complete.Whole)
	e.time("complete_since", h.Complete.Since)
	e.time("since", v.Since)
	e.time("until", v.Until)
	e.bool("torn", v.Torn)
	e.bool("gone", h.Gone)
	e.list("events")
	for i := range h.Events {
		v.event(e, &h.Events[i])
		e.flush()
	}
	e.close(']')
	e.object("counts")
	e.int("commits", h.Commits)
	e.int("shown", h.Shown)
	e.int("forward", h.Forward)
	e.int("largest_step", h.Largest)
	e.int("same", h.Same)
	e.int("first", h.First)
	e.int("outside", h.Outside)
	e.int("unreadable", h.Strange)
	e.close('}')
	e.int("clock_back_ms", h.ClockBack.Milliseconds())
	e.time("clock_back_at", h.ClockAt)
	e.text("hint", v.Hint)
	e.close('}')
	return e.end()
}

// event writes one event: of one partition, or of the group.
func (v History) event(e *encoder, x *offsets.HistoryEvent) {
	e.open('{')
	e.time("time", x.Time)
	e.string("what", x.What.String())
	if x.OfGroup() {
		e.null("topic")
		e.null("partition")
	} else {
		e.string("topic", x.Key.Topic)
		e.int("partition", int64(x.Key.Partition))
	}
	e.number("from", x.From)
	e.number("to", x.To)
	if n, moved := x.Change(); moved {
		e.int("change", n)
	} else {
		e.null("change")
	}
	e.number("held_ms", spanMillis(x.Held))
	e.text("by", x.By.String())
	e.string("author", x.Author(v.Retention))
	e.number("producer", x.Producer)
	e.text("transactional_id", x.Txn)
	e.number("epoch", int64(x.Epoch))
	e.string("metadata", x.Note)
	e.list("members")
	for _, m := range x.Members {
		e.open('{')
		e.string("id", m.ID)
		e.text("instance_id", m.InstanceID)
		e.text("client_id", m.ClientID)
		e.text("host", m.Host)
		e.close('}')
	}
	e.close(']')
	e.int("member_count", int64(x.Count))
	e.bool("whole_group", x.Whole)
	e.number("idle_ms", spanMillis(x.Idle))
	e.int("commits", int64(x.Commits))
	e.time("ended", x.Ended)
	e.text("unlike", x.Unlike)
	e.close('}')
}

// spanMillis is a span in milliseconds, None where it is not known.
func spanMillis(d time.Duration) int64 {
	if d < 0 {
		return offsets.None
	}
	return d.Milliseconds()
}

// csv has a row for each event: of one partition, or of the group.
func (v History) csv(w io.Writer) error {
	header := []string{
		"group", "time", "what", "topic", "partition", "from", "to", "change", "held_ms", "by", "author", "producer", "epoch", "metadata",
		"member_count", "whole_group", "idle_ms", "commits", "ended", "unlike",
	}
	return writeCSV(w, header, func(write func([]string)) {
		for i := range v.History.Events {
			x := &v.History.Events[i]
			topic, partition, change, by, ended, unlike := x.Key.Topic, strconv.Itoa(int(x.Key.Partition)), "-", x.By.String(), "-", cmp.Or(x.Unlike, "-")
			if x.OfGroup() {
				topic, partition = "-", "-"
			}
			if n, moved := x.Change(); moved {
				change = strconv.FormatInt(n, 10)
			}
			if by == "" {
				by = "-"
			}
			if !x.Ended.IsZero() {
				ended = x.Ended.UTC().Format(offsets.TimeLayout)
			}
			write([]string{
				v.Group.ID, x.Time.UTC().Format(offsets.TimeLayout), x.What.String(), topic, partition, orDash(x.From), orDash(x.To), change,
				orDash(spanMillis(x.Held)), by, x.Author(v.Retention), orDash(x.Producer), orDash(int64(x.Epoch)), x.Note,
				strconv.Itoa(x.Count), strconv.FormatBool(x.Whole), orDash(spanMillis(x.Idle)), strconv.Itoa(x.Commits), ended, unlike,
			})
		}
	})
}
