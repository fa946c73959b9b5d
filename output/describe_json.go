package output

import (
	"cmp"
	"io"
	"time"

	"gtoffset/kafkaops/offsets"
)

// DescribeSchema is the schema of describe's document.
const DescribeSchema = "gtoffset.describe/1"

// json writes the document gtoffset.describe/1, partition by partition, without ever holding it whole.
func (d *Describe) json(w io.Writer) error {
	e := &encoder{w: w, b: make([]byte, 0, 80<<10)}
	e.open('{')
	e.string("schema", DescribeSchema)
	e.time("at", d.Snapshot.At)
	e.string("isolation", isolation(d.Snapshot))
	e.origin(d.Snapshot.Origin)
	e.list("groups")
	for _, g := range d.Snapshot.Groups {
		d.jsonGroup(e, g)
	}
	e.close(']')
	e.list("checks")
	for _, c := range d.Checks {
		jsonCheck(e, c)
	}
	e.close(']')
	e.close('}')
	return e.end()
}

// isolation says which end lag is counted to.
func isolation(s offsets.Snapshot) string {
	for _, g := range s.Groups {
		if stable(g) {
			return "read_committed"
		}
	}
	return "read_uncommitted"
}

func (d *Describe) jsonGroup(e *encoder, g offsets.Group) {
	cluster := d.Snapshot.Origin.Cluster
	e.open('{')
	e.string("group", g.ID)
	e.string("type", cmp.Or(string(g.Type), string(offsets.TypeUnknown)))
	e.text("state", g.State)
	switch g.Existence {
	case offsets.ExistenceUnknown:
		e.null("exists")
	default:
		e.bool("exists", g.Existence == offsets.Exists)
	}
	e.text("protocol", g.Protocol)
	e.text("assignor", g.Assignor)
	e.number("epoch", int64(g.Epoch))
	e.number("coordinator", int64(g.Coordinator))
	jsonMembers(e, g)
	if st := g.Store; st != nil {
		e.time("saved", st.Saved)
		e.text("store_path", st.Path)
		e.text("store_locked_by", st.Holder)
		if st.Nothing() {
			e.strings("store_notes", []string{d.nothingThere()})
		} else {
			e.strings("store_notes", st.Notes)
		}
		e.text("store_error", reason(st.Trouble))
	} else {
		e.null("saved")
	}
	if g.Unstored != "" {
		e.text("store_path", g.Unstored)
		e.strings("store_notes", []string{judgedWithout(&g)})
	}
	if g.CommitsKept > 0 {
		e.int("commits_kept_ms", g.CommitsKept.Milliseconds())
	}
	e.strings("notes", g.Notes)
	e.list("partitions")
	rows := d.rows(g)
	for i := range rows {
		jsonRow(e, &rows[i], cluster, g.Store != nil, d.Now)
		e.flush()
	}
	e.close(']')
	jsonTotals(e, g, cluster)
	e.list("restart")
	if len(g.Rows) > 0 {
		for _, o := range offsets.Forecast(g, cluster) {
			jsonOutcome(e, o)
		}
	}
	e.close(']')
	e.text("error", reason(g.Trouble))
	e.close('}')
}

func jsonMembers(e *encoder, g offsets.Group) {
	e.list("members")
	for _, m := range g.Members {
		e.open('{')
		e.string("id", m.ID)
		e.text("instance_id", m.InstanceID)
		e.text("client_id", m.ClientID)
		e.text("host", m.Host)
		e.number("epoch", int64(m.Epoch))
		e.list("assigned")
		for _, k := range m.Assigned {
			e.open('{')
			e.string("topic", k.Topic)
			e.int("partition", int64(k.Partition))
			e.close('}')
		}
		e.close(']')
		e.close('}')
	}
	e.close(']')
}

func reason(t *offsets.Trouble) string {
	if t == nil {
		return ""
	}
	return cmp.Or(t.Reason, "could not be read")
}

// jsonRow leaves out owner, and of an entry topic_id, other_cluster, problem and reason, where there is nothing to say; all other
// fields are always there. With jsonEntry it is where the time goes, so keys are appended with their commas.
func jsonRow(e *encoder, r *offsets.Row, cluster string, store bool, now time.Time) {
	j := offsets.JudgeRow(r, cluster, store)
	var room [9]offsets.Outcome
	e.open('{')
	e.string("topic", r.Topic)
	e.text("topic_id", r.Range.TopicID)
	e.number("partition", int64(r.Partition))
	if r.Range.Known() {
		e.pair(`,"leader":`, int64(r.Range.Leader))
		e.pair(`,"leader_epoch":`, int64(r.Range.Epoch))
		e.pair(`,"earliest":`, r.Range.Earliest)
		e.pair(`,"end":`, r.Range.End)
		e.pair(`,"stable":`, r.Range.Stable)
	} else {
		e.raw(`,"leader":null,"leader_epoch":null,"earliest":null,"end":null,"stable":null`)
	}
	if store {
		e.raw(`,"stored":`)
		jsonEntry(e, &r.Stored, &j.Stored, offsets.Stored)
	} else {
		e.raw(`,"stored":null`)
	}
	e.raw(`,"committed":`)
	if r.Shared == nil {
		jsonEntry(e, &r.Committed, &j.Committed, offsets.Committed)
	} else {
		none := offsets.Judge(offsets.Entry{}, r.Range, cluster)
		jsonEntry(e, &offsets.Entry{}, &none, offsets.Committed)
		e.object("share")
		e.number("start", r.Shared.Start)
		e.number("lag", j.Committed.Lag)
		e.text("error", r.Shared.Reason)
		e.close('}')
	}
	if n, ok := j.Unprocessed(); ok && store {
		e.pair(`,"unprocessed":`, max(n, 0))
		e.pair(`,"behind":`, max(-n, 0))
	} else {
		e.raw(`,"unprocessed":null,"behind":null`)
	}
	jsonRestart(e, j.Forecast(room[:0]))
	if r.Owner != "" {
		e.string("owner", r.Owner)
	}
	if r.Timing != nil {
		jsonTiming(e, r.Timing, now)
	}
	e.bool("ok", j.Healthy())
	e.string("state", j.Words())
	e.text("error", rowError(r))
	e.close('}')
}

// jsonRestart is what a restart does to one partition, from each place; nothing where nothing is left or known. The counts of
// partitions that the group's outcomes have would be of one.
func jsonRestart(e *encoder, outcomes []offsets.Outcome) {
	e.raw(`,"restart":[`)
	first := true
	for i := range outcomes {
		o := &outcomes[i]
		if o.Uncounted > 0 {
			continue
		}
		if !first {
			e.raw(`,`)
		}
		first = false
		sure := !o.Unwitnessed && o.Unsure == 0
		e.raw(`{"from":"`)
		e.raw(string(o.From))
		if o.Policy == offsets.PolicyApart {
			e.raw(`","policy":null`)
		} else {
			e.raw(`","policy":"`)
			e.raw(string(o.Policy))
			e.raw(`"`)
		}
		e.pair(`,"loses_expired":`, o.Expired)
		e.pair(`,"loses_unprocessed":`, told(o.Unprocessed, sure))
		e.pair(`,"loses_readable":`, o.Readable)
		e.pair(`,"repeats":`, told(o.Repeats, sure || o.Repeats > 0))
		e.pair(`,"reads":`, o.Reads)
		switch {
		case o.Stops:
			e.raw(`,"stops":true}`)
		case o.Waits > 0:
			e.raw(`,"waits":true}`)
		default:
			e.raw(`}`)
		}
	}
	e.raw(`]`)
}

// told is a number, None where nothing tells it. What is read again is at least bounded where a policy or a stale epoch decides.
func told(n int64, known bool) int64 {
	if !known {
		return offsets.None
	}
	return n
}

func jsonEntry(e *encoder, entry *offsets.Entry, s *offsets.State, side offsets.Side) {
	present := entry.Presence == offsets.Present
	if present {
		e.pair(`{"offset":`, entry.Offset)
	} else {
		e.raw(`{"offset":null`)
	}
	e.raw(`,"condition":"`)
	e.raw(string(s.Condition))
	e.raw(`","identity":"`)
	e.raw(string(s.Identity))
	e.pair(`","lag":`, s.Lag)
	e.pair(`,"expired":`, s.Expired)
	e.pair(`,"ahead":`, s.Ahead)
	switch {
	case present:
		e.pair(`,"epoch":`, int64(entry.Epoch))
		if side == offsets.Committed || entry.Metadata != "" {
			e.string("metadata", entry.Metadata)
		}
		if entry.TopicID != "" {
			e.string("topic_id", entry.TopicID)
		}
	case side == offsets.Committed:
		e.raw(`,"epoch":null,"metadata":null`)
	default:
		e.raw(`,"epoch":null`)
	}
	if s.Foreign {
		e.string("other_cluster", entry.Cluster)
	}
	if entry.Pending {
		e.raw(`,"pending":true`)
	}
	if s.Stale { // null: the consumer waits for ever
		e.raw(`,"stale":true`)
		e.pair(`,"jumps_to":`, s.JumpsTo)
	}
	if s.Unchecked {
		e.text("epoch_unchecked", entry.EpochEnd.Reason)
	}
	if entry.Problem() {
		e.string("problem", entry.Presence.String())
		e.text("reason", entry.Reason)
	}
	e.close('}')
}

// jsonTotals has no sums of a group that could not be read, and none of what not one partition tells: they are not known, which is not 0.
func jsonTotals(e *encoder, g offsets.Group, cluster string) {
	if g.Trouble != nil && len(g.Rows) == 0 {
		e.null("totals")
		return
	}
	t := g.Total(cluster)
	e.object("totals")
	e.int("partitions", int64(t.Partitions))
	e.int("ok", int64(t.Healthy))
	e.number("lag", told(t.Lag, t.LagUncounted < t.Partitions))
	e.int("lag_uncounted", int64(t.LagUncounted))
	if g.Store != nil {
		e.number("stored_lag", told(t.StoredLag, t.StoredLagUncounted < t.Partitions))
		e.int("stored_lag_uncounted", int64(t.StoredLagUncounted))
		e.number("unprocessed", told(t.Unprocessed, t.UnprocessedUncounted < t.Partitions))
		e.int("unprocessed_uncounted", int64(t.UnprocessedUncounted))
	} else {
		e.null("stored_lag")
		e.null("stored_lag_uncounted")
		e.null("unprocessed")
		e.null("unprocessed_uncounted")
	}
	e.int("low", int64(t.Low))
	e.int("high", int64(t.High))
	e.int("gone", int64(t.Gone))
	e.int("unreadable", int64(t.Unreadable))
	e.int("recreated", int64(t.Recreated))
	e.int("stale", int64(t.Stale))
	e.close('}')
}

func jsonOutcome(e *encoder, o offsets.Outcome) {
	e.open('{')
	e.string("from", string(o.From))
	e.text("policy", string(o.Policy)) // null: what no policy decides
	e.int("loses_expired", o.Expired)
	e.number("loses_unprocessed", told(o.Unprocessed, !o.Unwitnessed))
	e.int("loses_readable", o.Readable)
	e.number("repeats", told(o.Repeats, !o.Unwitnessed || o.Repeats > 0))
	e.int("reads", o.Reads)
	e.int("out_of_range", int64(o.OutOfRange))
	e.int("without_offset", int64(o.WithoutOffset))
	e.int("jumps", int64(o.Jumps))
	e.int("waits", int64(o.Waits))
	e.int("uncounted", int64(o.Uncounted))
	e.number("unsure", told(int64(o.Unsure), !o.Unwitnessed))
	e.bool("stops", o.Stops)
	e.close('}')
}

func jsonCheck(e *encoder, c offsets.Check) {
	e.open('{')
	e.string("check", c.Name)
	e.string("unit", string(c.Unit))
	e.number("limit", c.Limit)
	e.bool("failed", c.Failed)
	e.int("count", int64(c.Count))
	e.int("unmeasured", int64(c.Unmeasured))
	if c.Worst == nil {
		e.null("worst")
	} else {
		e.object("worst")
		e.string("group", c.Worst.Group)
		e.text("topic", c.Worst.Topic)
		e.number("partition", int64(c.Worst.Partition))
		if c.Worst.Lost {
			e.null("value")
		} else {
			e.int("value", c.Worst.Value)
		}
		e.close('}')
	}
	e.close('}')
}
