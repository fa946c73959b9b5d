package output

import (
	"slices"
	"strings"

	"gtoffset/kafkaops/offsets"
)

// totals is the line below the table.
func (d *Describe) totals(p *printer, g offsets.Group) {
	if len(g.Rows) == 0 {
		if none := d.noPartitions(g); none != "" {
			p.printf("\n%s\n", none)
		}
		return
	}
	t := g.Total(d.Snapshot.Origin.Cluster)
	p.printf("\n")
	p.prose("  ", "%s · %s", tally(g, t), d.lags(g, t))
	if settledAhead(g) {
		p.prose("  ", "LAG counts the records that are not settled; between START and END are others: settled out of their order, or markers of transactions.")
	}
}

// noPartitions says that a group has none to be shown, and why; "" where that is not known.
func (d *Describe) noPartitions(g offsets.Group) string {
	switch {
	case g.Trouble != nil, g.Existence == offsets.Missing:
		return ""
	case g.Type == offsets.Share:
		return "no partitions: the brokers keep no state of this share group" + d.ofTopics()
	}
	return "no partitions: nothing committed" + d.ofTopics() + ", nothing assigned"
}

// ofTopics names the topics that were asked for.
func (d *Describe) ofTopics() string {
	if len(d.Topics) == 0 {
		return ""
	}
	return " of " + fewNames(d.Topics)
}

// settledAhead tells that the lag of a share group is less than the way from where it starts to the end: a record behind the start is settled
// already, or none at all but a marker.
func settledAhead(g offsets.Group) bool {
	return slices.ContainsFunc(g.Rows, func(r offsets.Row) bool {
		s := r.Shared
		return s != nil && s.Start != offsets.None && s.Lag != offsets.None && r.Range.Known() && s.Lag < r.Range.End-max(s.Start, r.Range.Earliest)
	})
}

// tally counts the partitions and those that are ok, with what the table says of these in other words than ok.
func tally(g offsets.Group, t offsets.Totals) string {
	text := offsets.Plural(t.Partitions, "partition") + ", " + offsets.Thousands(int64(t.Healthy)) + " ok"
	of, all := "of them", "all of them"
	if t.Healthy < t.Partitions { // only those that are ok are meant
		all = "these " + offsets.Thousands(int64(t.Healthy))
		of = "of " + all
	}
	var say []string
	for _, k := range []struct {
		n    int
		what string
	}{
		{t.WithUnprocessed, "with unprocessed records"},
		{t.WithoutCommit, withoutCommit(g)},
		{t.CommitBehind, "committed behind stored"},
	} {
		switch {
		case k.n == 0:
		case k.n == 1 && t.Healthy == 1:
			say = append(say, "that one "+k.what)
		case k.n == t.Healthy:
			say = append(say, all+" "+k.what)
		case len(say) == 0:
			say = append(say, offsets.Thousands(int64(k.n))+" "+of+" "+k.what)
		default:
			say = append(say, offsets.Thousands(int64(k.n))+" "+k.what)
		}
	}
	if len(say) == 0 {
		return text
	}
	return text + ", " + joinAnd(say)
}

// withoutCommit is what of a partition is said for which the group has none: whether it ever had one nobody knows.
func withoutCommit(g offsets.Group) string {
	if g.Type == offsets.Share {
		return "with nothing read yet"
	}
	return "without a commit"
}

// lags words the sums, with the end that they run to and what they leave out.
func (d *Describe) lags(g offsets.Group, t offsets.Totals) string {
	to := ""
	if stable(g) {
		to = " to the last stable offset (read_committed)"
	}
	lag := "lag" + to + " " + offsets.Thousands(t.Lag)
	if t.LagUncounted == t.Partitions {
		lag = "lag unknown"
	}
	committed, stored := "", ""
	if t.LagUncounted > 0 {
		committed = uncounted(g, d.Snapshot.Origin.Cluster, offsets.Committed)
	}
	if g.Store == nil {
		if committed != "" && t.LagUncounted < t.Partitions {
			lag += ", without " + committed
		}
		return lag
	}
	storedLag := "stored-lag " + offsets.Thousands(t.StoredLag)
	if t.StoredLagUncounted == t.Partitions {
		storedLag = "stored-lag unknown"
	}
	if t.StoredLagUncounted > 0 {
		stored = uncounted(g, d.Snapshot.Origin.Cluster, offsets.Stored)
	}
	switch {
	case t.LagUncounted == t.Partitions, t.StoredLagUncounted == t.Partitions:
		if committed != "" && t.LagUncounted < t.Partitions {
			lag += ", without " + committed
		}
		if stored != "" && t.StoredLagUncounted < t.Partitions {
			storedLag += ", without " + stored
		}
		return lag + " · " + storedLag
	case committed == "" && stored == "":
		return lag + " and " + storedLag
	case committed == stored:
		return lag + " and " + storedLag + ", each without " + committed
	}
	if committed != "" {
		lag += ", without " + committed
	}
	if stored != "" {
		storedLag += ", without " + stored
	}
	return lag + " · " + storedLag
}

// stable tells whether the last stable offsets were asked for, and so where lag ends.
func stable(g offsets.Group) bool {
	for i := range g.Rows { // they are large, and all of them are asked when the answer is no
		if r := &g.Rows[i].Range; r.Known() && r.Stable != offsets.None {
			return true
		}
	}
	return false
}

// uncounted words how many partitions a sum leaves out and why, "" if none.
func uncounted(g offsets.Group, cluster string, side offsets.Side) string {
	var none, gone, unknown int
	for i := range g.Rows {
		j := offsets.JudgeRow(&g.Rows[i], cluster, g.Store != nil)
		state := j.Committed
		if side == offsets.Stored {
			state = j.Stored
		}
		switch state.Condition {
		case offsets.NoEntry:
			none++
		case offsets.Gone:
			gone++
		case offsets.Unknown:
			unknown++
		}
	}
	var say []string
	add := func(n int, one, many string) {
		switch {
		case n == 0:
		case len(say) == 0:
			say = append(say, offsets.Plural(n, "partition")+" that "+verb(n, one, many))
		default:
			say = append(say, offsets.Thousands(int64(n))+" that "+verb(n, one, many))
		}
	}
	if g.Type == offsets.Share && side == offsets.Committed {
		add(none, "has not been read yet", "have not been read yet")
	} else {
		add(none, "has no offset", "have no offset")
	}
	add(unknown, "could not be read", "could not be read")
	add(gone, "is gone", "are gone")
	return joinAnd(say)
}

func joinAnd(s []string) string {
	if len(s) < 2 {
		return strings.Join(s, "")
	}
	return strings.Join(s[:len(s)-1], ", ") + " and " + s[len(s)-1]
}
