package output

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
)

// sample is one line of a metric: label names and values in turn, and the value.
type sample struct {
	labels []string
	value  float64
}

// family is a metric with its samples. All are gauges: what was seen in one look.
type family struct {
	name, help string
	samples    []sample
}

// writeProm writes families in the text exposition format 0.0.4. A family without samples is left out, a label without a value too:
// an unknown number has no sample, as no number would be true.
func writeProm(w io.Writer, families []family) error {
	help := strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	label := strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
	b := bufio.NewWriterSize(w, 64<<10)
	for _, f := range families {
		if len(f.samples) == 0 {
			continue
		}
		b.WriteString("# HELP " + f.name + " " + help.Replace(f.help) + "\n# TYPE " + f.name + " gauge\n")
		for _, s := range f.samples {
			b.WriteString(f.name)
			sep := "{"
			for i := 0; i+1 < len(s.labels); i += 2 {
				b.WriteString(sep + s.labels[i] + `="` + label.Replace(strings.ToValidUTF8(s.labels[i+1], "\uFFFD")) + `"`)
				sep = ","
			}
			if sep == "," {
				b.WriteByte('}')
			}
			b.WriteByte(' ')
			b.WriteString(strconv.FormatFloat(s.value, 'g', -1, 64))
			b.WriteByte('\n')
		}
	}
	return b.Flush()
}

// metrics gathers samples by metric, in the order of the list.
type metrics struct {
	families []family
	at       map[string]int
}

func newMetrics(list ...[2]string) *metrics {
	m := &metrics{at: map[string]int{}}
	for i, f := range list {
		m.families = append(m.families, family{name: "gtoffset_" + f[0], help: f[1]})
		m.at[f[0]] = i
	}
	return m
}

func (m *metrics) add(name string, value float64, labels ...string) {
	f := &m.families[m.at[name]]
	f.samples = append(f.samples, sample{labels, value})
}

// number adds a sample unless the number is None.
func (m *metrics) number(name string, n int64, labels ...string) {
	if n != offsets.None {
		m.add(name, float64(n), labels...)
	}
}

func (m *metrics) instant(name string, t time.Time, labels ...string) {
	if !t.IsZero() {
		m.add(name, float64(t.UnixMilli())/1000, labels...)
	}
}

func (m *metrics) bool(name string, v bool, labels ...string) {
	n := 0.0
	if v {
		n = 1
	}
	m.add(name, n, labels...)
}

// prom writes the metrics of all partitions and groups. docs/monitoring.md says what each is for.
func (d *Describe) prom(w io.Writer) error {
	m := newMetrics(
		[2]string{"look_timestamp_seconds", "When this was measured."},
		[2]string{"brokers_missing", "Brokers that could not list their groups, so that groups may be missing here."},
		[2]string{"group_info", "Type and state of a group. Always 1."},
		[2]string{"group_readable", "Whether the group is known, and its side in Kafka could be read."},
		[2]string{"group_members", "Members of a group."},
		[2]string{"group_partitions", "Partitions of which a group has an offset or an assignment, and the others of their topics, or 0."},
		[2]string{"group_commits_kept_seconds", "How long commits of this group are kept once it has no members."},
		[2]string{"store_readable", "Whether the store of a group could be read."},
		[2]string{"store_saved_timestamp_seconds", "The newest save in the store of a group."},
		[2]string{"partition_readable", "Whether all that was asked about a partition could be read."},
		[2]string{"partition_ok", "Whether nothing is wrong with a partition, as describe --check sees it."},
		[2]string{"earliest_offset", "First offset that the cluster still has."},
		[2]string{"end_offset", "Next offset to be written."},
		[2]string{"offset", "Next offset to be read, as committed in Kafka or as stored by the job."},
		[2]string{"lag", "Offsets from there, or from the earliest, to the end. A distance, not a count of records."},
		[2]string{"expired", "Offsets between there and the earliest: lost for good."},
		[2]string{"ahead", "Offsets between the end and there: the topic was truncated or made anew."},
		[2]string{"stale_epoch", "Whether a consumer would jump back from there, or wait for ever, by its leader epoch."},
		[2]string{"unprocessed", "Offsets committed beyond what the store says was processed: lost if the job restarts from the commits."},
		[2]string{"behind_seconds", "Age of the next record to be read."},
		[2]string{"expires_timestamp_seconds", "When retention may take the next record to be read, not before."},
	)
	m.instant("look_timestamp_seconds", d.Snapshot.At)
	m.number("brokers_missing", int64(len(d.Snapshot.Troubles)))
	for _, g := range d.Snapshot.Groups {
		d.promGroup(m, g)
	}
	return writeProm(w, m.families)
}

func (d *Describe) promGroup(m *metrics, g offsets.Group) {
	m.add("group_info", 1, "group", g.ID, "type", string(typeOf(g)), "state", g.State)
	readable := g.Trouble == nil && !g.Nowhere()
	m.bool("group_readable", readable, "group", g.ID)
	if readable {
		n := len(g.Rows)
		if !g.Placed() { // topics that were named have partitions all the same
			n = 0
		}
		m.add("group_partitions", float64(n), "group", g.ID)
	}
	if count(g) != "-" {
		m.number("group_members", int64(len(g.Members)), "group", g.ID)
	}
	if g.CommitsKept > 0 {
		m.add("group_commits_kept_seconds", g.CommitsKept.Seconds(), "group", g.ID)
	}
	if g.Store != nil {
		m.bool("store_readable", g.Store.Trouble == nil, "group", g.ID)
		m.instant("store_saved_timestamp_seconds", g.Store.Saved, "group", g.ID)
	}
	rows := d.rows(g)
	for i := range rows {
		j := offsets.JudgeRow(&rows[i], d.Snapshot.Origin.Cluster, g.Store != nil)
		d.promRow(m, g, &j)
	}
}

func (d *Describe) promRow(m *metrics, g offsets.Group, j *offsets.Judged) {
	r := j.Row
	at := []string{"group", g.ID, "topic", r.Topic, "partition", strconv.Itoa(int(r.Partition))}
	m.bool("partition_readable", rowError(r) == "", at...)
	m.bool("partition_ok", j.Healthy(), at...)
	if r.Range.Known() {
		m.number("earliest_offset", r.Range.Earliest, at...)
		m.number("end_offset", r.Range.End, at...)
	}
	for _, side := range []offsets.Side{offsets.Committed, offsets.Stored} {
		state := j.Committed
		if side == offsets.Stored {
			if state = j.Stored; g.Store == nil {
				continue
			}
		}
		of := append(at[:len(at):len(at)], "side", string(side))
		if e := r.Entry(side); e.Presence == offsets.Present {
			m.number("offset", e.Offset, of...)
			m.bool("stale_epoch", state.Stale, of...)
		}
		m.number("lag", state.CountedLag(), of...)
		m.number("expired", state.Expired, of...)
		m.number("ahead", state.Ahead, of...)
	}
	if n, ok := j.Unprocessed(); ok && g.Store != nil {
		m.number("unprocessed", max(n, 0), at...)
	}
	if r.Timing != nil {
		if age, unknown := r.Timing.Behind(d.Now); unknown == "" {
			m.add("behind_seconds", age.Seconds(), at...)
		}
		m.instant("expires_timestamp_seconds", r.Timing.Expires().At, at...)
	}
}
