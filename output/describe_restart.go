package output

import (
	"fmt"
	"slices"
	"strings"

	"gtoffset/kafkaops/offsets"
)

// forecast says what a restart would do, from each place. The first place tells the policies line by line, the others in one.
func (d *Describe) forecast(p *printer, g offsets.Group) {
	switch {
	case slices.ContainsFunc(g.Rows, func(r offsets.Row) bool { return !r.Unheard() }):
	case len(d.Topics) > 0: // of what does not exist, or could not be read, a restart reads nothing that anybody knows
		return
	case g.Nothing() && g.Type != offsets.Share && g.Protocol != "connect": // of these no commits are kept
		p.printf("\n")
		p.prose("    ", "A restart has no offset to go on from; the job's auto.offset.reset decides alone: earliest reads its topics from their beginning · latest loses all that is in them (the default of Java clients) · none stops")
		return
	default:
		return
	}
	outcomes := offsets.Forecast(g, d.Snapshot.Origin.Cluster)
	long := true
	for i, o := range outcomes {
		if o.Policy != offsets.PolicyApart {
			continue
		}
		if i == 0 {
			p.printf("\n")
		}
		long = restart(p, o, outcomes, g, long)
	}
}

// restart words one place. It returns whether the policies still wait to be told at length.
func restart(p *printer, base offsets.Outcome, all []offsets.Outcome, g offsets.Group, long bool) bool {
	from := restartFrom(base.From)
	if base.Uncounted == len(g.Rows) {
		if base.From != offsets.FromNewGroup {
			p.printf("%s  cannot be told: no partition could be counted.\n", from)
		}
		return long
	}
	if base.From == offsets.FromNewGroup {
		newGroup(p, base, all)
		return long
	}
	const hang = "    "
	rest := doubts(base)
	none := base.WithoutOffset > 0 && !slices.ContainsFunc(g.Rows, func(r offsets.Row) bool {
		return r.Entry(base.From.Side()).Presence == offsets.Present && !r.Range.Gone()
	})
	repeats := offsets.Thousands(base.Repeats)
	switch {
	case none: // what it loses is the policy's to say
	case base.Unwitnessed && base.Repeats == 0:
		p.prose(hang, "%s  loses %s, reads %s; how much was processed cannot be told without a store%s.", from, losses(base), offsets.Thousands(base.Reads), rest)
	case base.Unwitnessed:
		p.prose(hang, "%s  loses %s, repeats up to %s, reads %s; how much was processed cannot be told without a store%s.", from, losses(base), repeats, offsets.Thousands(base.Reads), rest)
	default:
		p.prose(hang, "%s  loses %s, repeats %s, reads %s%s.", from, losses(base), repeats, offsets.Thousands(base.Reads), rest)
	}
	if !base.Decided() {
		return long
	}
	more := " more"
	if none {
		more = ""
	}
	earliest, latest := under(base, all, more)
	switch {
	case none && long:
		p.prose(hang, "%s  has no offset to restart from%s; the job's auto.offset.reset decides alone:", from, also(base)+rest)
	case none:
		p.prose(hang, "%s  has no offset to restart from%s; the policy decides alone: earliest %s · latest %s · none stops", from, also(base)+rest, earliest, latest)
	case long:
		p.prose("    ", "  %s; there the job's auto.offset.reset decides:", decided(base))
	default:
		p.prose("    ", "  %s: earliest %s · latest %s · none stops", decided(base), earliest, latest)
	}
	if long {
		p.printf("    earliest   %s\n", earliest)
		p.prose("               ", "    latest     %s (the default of Java clients)", latest)
		p.printf("    none       the job stops\n")
	}
	return false
}

// restartFrom begins the sentence about a place.
func restartFrom(p offsets.Place) string {
	switch p {
	case offsets.FromStore:
		return "A restart from the store   "
	case offsets.FromCommits:
		return "A restart from the commits "
	}
	return "A restart as a new group   "
}

// newGroup words a restart under another group id.
func newGroup(p *printer, base offsets.Outcome, all []offsets.Outcome) {
	if base.WithoutOffset == 0 {
		return // nothing is left to read
	}
	earliest, latest := under(base, all, "")
	p.prose("    ", "%s  leaves it to auto.offset.reset%s: earliest %s · latest %s · none stops%s", restartFrom(base.From), also(base), earliest, latest, uncountedToo(base))
}

// also is what is lost whatever a policy decides.
func also(base offsets.Outcome) string {
	if base.Expired == 0 {
		return ""
	}
	return ", beside losing " + losses(base)
}

// doubts says what a client does other than to go on, and what of a place could not be counted.
func doubts(base offsets.Outcome) string {
	text := ""
	if base.Jumps > 0 {
		text += fmt.Sprintf("; %s back first, by a stale leader epoch", jumps(base.Jumps))
	}
	if base.Waits > 0 {
		text += fmt.Sprintf("; %s for ever for a leader epoch that does not exist", verb(base.Waits, "1 partition waits", offsets.Plural(base.Waits, "partition")+" wait"))
	}
	if base.Unsure > 0 {
		text += fmt.Sprintf("; how much of %s was processed the store does not say", offsets.Plural(base.Unsure, "commit"))
	}
	return text + uncountedToo(base)
}

func jumps(n int) string {
	return verb(n, "1 partition jumps", offsets.Plural(n, "partition")+" jump")
}

func uncountedToo(base offsets.Outcome) string {
	if base.Uncounted == 0 {
		return ""
	}
	return fmt.Sprintf("; %s could not be counted", offsets.Plural(base.Uncounted, "partition"))
}

// under words what the policies change in what happens in any case. A partition that is low is in the headline as going on at earliest;
// under latest it is not read, and so there is less to read, and less to repeat.
func under(base offsets.Outcome, all []offsets.Outcome, more string) (earliest, latest string) {
	for _, o := range all {
		switch {
		case o.From != base.From:
		case o.Policy == offsets.PolicyEarliest:
			earliest = fmt.Sprintf("repeats %s, reads %s%s", upTo(o.Repeats-base.Repeats), offsets.Thousands(o.Reads-base.Reads), more)
		case o.Policy == offsets.PolicyLatest:
			latest = fmt.Sprintf("loses %s%s", upTo(o.Readable-base.Readable), more)
			if n := base.Repeats - o.Repeats; n > 0 {
				latest += fmt.Sprintf(", repeats %s fewer", offsets.Thousands(n))
			}
			if n := base.Reads - o.Reads; n > 0 {
				latest += fmt.Sprintf(", reads %s fewer", offsets.Thousands(n))
			}
		}
	}
	return earliest, latest
}

// losses words what is lost, by kind.
func losses(o offsets.Outcome) string {
	type kind struct {
		n    int64
		what string
	}
	var kinds []kind
	for _, k := range []kind{
		{o.Expired, "expired"},
		{o.Unprocessed, "committed, never processed"},
		{o.Readable, "readable, of a log that is another one now"},
	} {
		if k.n > 0 {
			kinds = append(kinds, k)
		}
	}
	switch len(kinds) {
	case 0:
		return "0"
	case 1:
		return fmt.Sprintf("%s (%s)", offsets.Thousands(kinds[0].n), kinds[0].what)
	}
	var sum int64
	var parts []string
	for _, k := range kinds {
		sum += k.n
		parts = append(parts, offsets.Thousands(k.n)+" "+k.what)
	}
	return fmt.Sprintf("%s (%s)", offsets.Thousands(sum), strings.Join(parts, "; "))
}

func upTo(n int64) string {
	if n <= 0 {
		return "0"
	}
	return "up to " + offsets.Thousands(n)
}

// decided words for how many partitions a client's policy decides.
func decided(o offsets.Outcome) string {
	var say []string
	noun := func(n int) string {
		if len(say) > 0 {
			return offsets.Thousands(int64(n))
		}
		return offsets.Plural(n, "partition")
	}
	if o.OutOfRange > 0 {
		say = append(say, noun(o.OutOfRange)+verb(o.OutOfRange, " is", " are")+" out of range")
	}
	if o.WithoutOffset > 0 {
		say = append(say, noun(o.WithoutOffset)+verb(o.WithoutOffset, " has", " have")+" no offset")
	}
	return strings.Join(say, ", ")
}
