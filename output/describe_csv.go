package output

import (
	"cmp"
	"io"
	"strconv"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
)

// csv writes a row for each partition. Columns are added at the end of the header, and none is renamed.
func (d *Describe) csv(w io.Writer) error {
	header := []string{
		"group", "topic", "partition", "earliest", "stored", "committed", "end", "lag", "stored_lag", "state", "ok",
		"condition", "expired", "ahead", "stored_condition", "stored_identity", "stored_expired", "stored_ahead", "unprocessed",
		"stable", "leader", "leader_epoch", "epoch", "stored_epoch", "topic_id", "owner", "metadata", "error",
		"stale", "jumps_to", "stored_stale", "stored_jumps_to", "next_time", "behind_ms", "expires_in_ms", "expires_never", "time_note",
	}
	cluster := d.Snapshot.Origin.Cluster
	return writeCSV(w, header, func(write func([]string)) {
		row := make([]string, 0, len(header))
		for _, g := range d.Snapshot.Groups {
			store := g.Store != nil
			if g.Trouble != nil && len(g.Rows) == 0 {
				row = append(row[:0], g.ID)
				for _, name := range header[1:] {
					cell := "-"
					if name == "error" {
						cell = g.Trouble.Reason
					}
					row = append(row, cell)
				}
				write(row)
			}
			rows := d.rows(g)
			for i := range rows {
				r := &rows[i]
				j := offsets.JudgeRow(r, cluster, store)
				committed, stored := j.Committed, j.Stored
				if !store {
					stored = offsets.State{Condition: "-", Identity: "-", Lag: offsets.None, Expired: offsets.None, Ahead: offsets.None, JumpsTo: offsets.None}
				}
				inStore, inKafka := r.Stored.Presence == offsets.Present, r.Committed.Presence == offsets.Present
				n, ok := j.Unprocessed()
				metadata := "-"
				if inKafka {
					metadata = r.Committed.Metadata
				}
				row = append(row[:0], g.ID, r.Topic, cell(int64(r.Partition), true), cell(r.Range.Earliest, r.Range.Known()),
					cell(r.Stored.Offset, inStore), cell(r.Committed.Offset, inKafka), cell(r.Range.End, r.Range.Known()),
					cell(committed.Lag, true), cell(stored.Lag, true), j.Words(), strconv.FormatBool(j.Healthy()),
					string(committed.Condition), cell(committed.Expired, true), cell(committed.Ahead, true),
					string(stored.Condition), string(stored.Identity), cell(stored.Expired, true), cell(stored.Ahead, true), cell(max(n, 0), ok && store),
					cell(r.Range.Stable, r.Range.Known()), cell(int64(r.Range.Leader), r.Range.Known()), cell(int64(r.Range.Epoch), r.Range.Known()),
					cell(int64(r.Committed.Epoch), inKafka), cell(int64(r.Stored.Epoch), inStore),
					cmp.Or(r.Range.TopicID, "-"), cmp.Or(r.Owner, "-"), metadata, cmp.Or(rowError(r), "-"),
					strconv.FormatBool(committed.Stale), cell(committed.JumpsTo, true), strconv.FormatBool(stored.Stale), cell(stored.JumpsTo, true))
				row = append(row, timeColumns(r.Timing, d.Now)...)
				write(row)
			}
		}
	})
}

// cell is a number; what is not known is a dash. Inlined, as often as it is called, it would be the largest function of the package.
//
//go:noinline
func cell(n int64, known bool) string {
	if !known || n == offsets.None {
		return "-"
	}
	return strconv.FormatInt(n, 10)
}

// rowError is why something of a row could not be read, "" if all could.
func rowError(r *offsets.Row) string {
	if r.Shared == nil && r.Range.Known() && !r.Stored.Problem() && !r.Committed.Problem() && r.Stored.EpochEnd == nil && r.Committed.EpochEnd == nil {
		return ""
	}
	var why []string
	if !r.Range.Known() && !r.Range.Gone() {
		why = append(why, cmp.Or(r.Range.Reason, "the range is not known"))
	}
	if r.Shared != nil && r.Shared.Reason != "" {
		why = append(why, "start: "+r.Shared.Reason)
	}
	for _, side := range []offsets.Side{offsets.Stored, offsets.Committed} {
		if e := r.Entry(side); e.Problem() {
			why = append(why, string(side)+": "+cmp.Or(e.Reason, e.Presence.String()))
		} else if reason := e.Unchecked(); reason != "" {
			why = append(why, string(side)+" epoch unchecked: "+reason)
		}
	}
	return strings.Join(why, "; ")
}

// timeColumns are the columns of --time.
func timeColumns(t *offsets.Timing, now time.Time) []string {
	c := []string{"-", "-", "-", "-", "-"}
	if t == nil {
		return c
	}
	e := t.Expires()
	if !t.Next.Time.IsZero() {
		c[0] = t.Next.Time.UTC().Format(offsets.TimeLayout)
	}
	if age, unknown := t.Behind(now); unknown == "" {
		c[1] = strconv.FormatInt(age.Milliseconds(), 10)
	}
	if left, ok := e.In(now); ok {
		c[2] = strconv.FormatInt(left.Milliseconds(), 10)
	}
	c[3] = strconv.FormatBool(e.Never)
	c[4] = cmp.Or(timeNote(t, e, now), "-")
	return c
}
