package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gtoffset/kafkaops"
	"gtoffset/kafkaops/offsets"
	"gtoffset/output"
)

// troubles says what of a snapshot could not be read, as an error with its exit code; nil if all could.
func (g *global) troubles(shot offsets.Snapshot, sc *scope) error {
	return errors.Join(g.lookTroubles(shot, sc), brokenRows(shot, func(*offsets.Row) bool { return true }))
}

// lookTroubles is troubles but for single partitions.
func (g *global) lookTroubles(shot offsets.Snapshot, sc *scope) error {
	var errs []error
	errs = append(errs, missingBrokers(shot.Troubles, len(shot.Groups) > 0))
	readable := slices.ContainsFunc(shot.Groups, func(grp offsets.Group) bool { return grp.Trouble == nil })
	for _, grp := range shot.Groups {
		if grp.Trouble != nil {
			p := groupTrouble(grp.ID, grp.Trouble)
			if !readable && grp.Trouble.Unreachable {
				p.code = exitUnreachable
			}
			errs = append(errs, p)
		}
		if grp.Store != nil && grp.Store.Trouble != nil {
			p := &problem{code: exitPartly, causes: []cause{causeOfTrouble(grp.Store.Trouble)}, text: fmt.Sprintf("the store of group %q could not be read: %s", grp.ID, grp.Store.Trouble.Reason)}
			if grp.Store.Trouble.Unreachable {
				p.code = exitUnreachable
			}
			if grp.Store.Trouble.Login {
				p.hint = storeLogin
			}
			errs = append(errs, p)
		}
	}
	errs = append(errs, g.unknownGroups(shot))
	errs = append(errs, g.unnamedTopics(shot, sc), unseenTopics(shot))
	return errors.Join(errs...)
}

// groupTrouble is the problem of a group of which the cluster's side could not be read.
func groupTrouble(group string, t *offsets.Trouble) *problem {
	return &problem{
		code: exitPartly, causes: []cause{causeOfTrouble(t)}, lacks: t.Lacks("group", group),
		text: fmt.Sprintf("group %q could not be read: %s", group, t.Reason),
	}
}

// causeOfTrouble is why something could not be read.
func causeOfTrouble(t *offsets.Trouble) cause {
	switch {
	case t.Login:
		return causeAuthentication
	case t.Denied:
		return causeAuthorization
	case t.Unreachable:
		return causeUnreachable
	}
	return causeIncomplete
}

// unknownGroups names the groups that neither the cluster nor the store knows.
func (g *global) unknownGroups(shot offsets.Snapshot) error {
	var errs []error
	some := slices.ContainsFunc(shot.Groups, func(grp offsets.Group) bool { return !grp.Nowhere() })
	for _, grp := range shot.Groups {
		if !grp.Nowhere() {
			continue
		}
		p := g.noGroup(grp.ID)
		if some {
			p.code = exitPartly
		}
		if place := storePlace(grp); place != "" {
			p.text += ", nor is anything of it in the store (looked at " + place + ")"
		}
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

// storePlace is where a group is, or would be, in the store; "" without one.
func storePlace(grp offsets.Group) string {
	if grp.Store != nil {
		return grp.Store.Path
	}
	return grp.Unstored
}

// noGroup is the problem of a group that does not exist.
func (g *global) noGroup(id string) *problem {
	p := &problem{code: exitFailed, causes: []cause{causeMissing}, text: fmt.Sprintf("group %q is not known to the cluster", id)}
	switch {
	case id == "":
		p.hint = "is a variable not set? -g '' is the group without a name"
	case strings.Contains(id, ","):
		p.hint = "-g is one group; " + repeated("-g", id) + " names several"
	case strings.ContainsAny(id, "*?["):
		p.hint = "-g is one name; gtoffset describe --group-regex 'billing-.*' shows the groups whose whole names match"
	default:
		p.hint = cmp.Or(g.near("-g", id, g.session.groupNames), g.typed("describe")+" lists the groups")
		if g.command != "gtoffset history" {
			p.hint += "; " + g.ofDeleted(id)
		}
	}
	return p
}

// ofDeleted is what still tells of a group that does not exist any more.
func (g *global) ofDeleted(id string) string {
	return "of one that was deleted " + g.typed("history", "-g", id) + " still tells"
}

// repeated gives a flag each of the names that were given in one, with commas.
func repeated(flag, names string) string {
	var words []string
	for name := range strings.SplitSeq(names, ",") {
		words = append(words, flag, name)
	}
	return commandLine(words)
}

// near is the hint of a name that does not exist: one that is nearly the same, among those that are found at once; "" if there is none.
func (g *global) near(flag, name string, find func(context.Context) []string) string {
	ctx, cancel := context.WithTimeout(g.soft, nearWait)
	defer cancel()
	names := find(ctx)
	for i, s := range names {
		names[i], _, _ = strings.Cut(s, "\t")
	}
	names = slices.DeleteFunc(names, func(s string) bool { return s == name }) // known elsewhere, as a group is that only the store has
	if near := nearest(name, names); near != "" {
		return "did you mean " + flag + " " + quote(near) + "?"
	}
	return ""
}

// nearWait is how long it may take to find a better hint.
const nearWait = 2 * time.Second

func missingBrokers(missing []offsets.Trouble, some bool) error {
	if len(missing) == 0 {
		return nil
	}
	reasons := make([]string, len(missing))
	for i, t := range missing {
		reasons[i] = t.Reason
	}
	p := &problem{code: exitPartly, text: "groups may be missing from this list: " + list(reasons, 3)}
	for _, t := range missing {
		p.causes = append(p.causes, causeOfTrouble(&t))
		p.lacks = cmp.Or(p.lacks, t.Lacks("cluster", ""))
	}
	if !some {
		p.code = exitUnreachable
	}
	return p
}

// unnamedTopics refuses topics and partitions that were named but that neither the cluster nor either side knows.
func (g *global) unnamedTopics(shot offsets.Snapshot, sc *scope) error {
	var unknown []string
	missing, named, seen := "", map[string]bool{}, topicsSeen(shot)
	for _, topic := range sc.topicNames() {
		named[topic] = true
	}
	for _, u := range shot.Unseen {
		seen[u.Topic] = true
	}
	for _, grp := range shot.Groups {
		for i := range grp.Rows {
			r := &grp.Rows[i]
			if named[r.Topic] && r.Unheard() {
				unknown = append(unknown, noPartition(r.Key))
			}
		}
	}
	for _, topic := range sc.topicNames() {
		if !seen[topic] && len(shot.Groups) > 0 {
			unknown, missing = append(unknown, noTopic(topic)), topic
		}
	}
	slices.Sort(unknown)
	unknown = slices.Compact(unknown)
	if len(unknown) == 0 {
		return nil
	}
	hint := g.typed("describe", "-g", shot.Groups[0].ID) + " shows its topics"
	if shot.Groups[0].ID == "" { // a replay for no group
		hint = g.kafkaTool("kafka-topics.sh", "--list") + " shows them"
	}
	if missing != "" {
		hint = cmp.Or(g.likeTopic(missing, nil), hint)
	}
	return &problem{code: exitFailed, causes: []cause{causeMissing}, text: list(unknown, 3), hint: hint}
}

func noTopic(name string) string { return fmt.Sprintf("topic %q does not exist", name) }

func noPartition(k offsets.Key) string {
	return fmt.Sprintf("partition %d of topic %q does not exist", k.Partition, k.Topic)
}

// notThere is the problem of named topics and partitions that the cluster does not have, nil for none. heard are names of topics that are known
// although the cluster may not have them.
func (g *global) notThere(known kafkaops.Ranges, named []offsets.Key, heard []string) *problem {
	p := &problem{code: exitFailed, causes: []cause{causeMissing}}
	var unknown []string
	for _, k := range named {
		switch known.Range(k).State {
		case offsets.TopicGone:
			p.hint = cmp.Or(p.hint, g.likeTopic(k.Topic, heard))
			unknown = append(unknown, noTopic(k.Topic))
		case offsets.PartitionGone:
			p.hint = cmp.Or(p.hint, g.kafkaTool("kafka-topics.sh", "--describe", "--topic", k.Topic)+" shows its partitions")
			unknown = append(unknown, noPartition(k))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	p.text = list(slices.Compact(unknown), 3)
	return p
}

// likeTopic is the hint of a topic that does not exist: one of nearly its name, which the cluster has, or which is among others that are known; ""
// if there is none.
func (g *global) likeTopic(name string, known []string) string {
	if strings.Contains(name, ",") {
		return "-t is one topic; " + repeated("-t", name) + " names several"
	}
	return g.near("-t", name, func(ctx context.Context) []string { return append(known, g.session.topicNames(ctx)...) })
}

// topicsSeen are the topics that have rows.
func topicsSeen(shot offsets.Snapshot) map[string]bool {
	seen := map[string]bool{}
	for _, grp := range shot.Groups {
		last := "" // mostly it is the same again
		for i := range grp.Rows {
			if topic := grp.Rows[i].Topic; topic != last {
				seen[topic], last = true, topic
			}
		}
	}
	return seen
}

// unseen names the topics of which nothing could be read. A partition of them that was named, or has an offset, is a row.
func unseen(shot offsets.Snapshot) []offsets.Unseen {
	seen := topicsSeen(shot)
	return slices.DeleteFunc(slices.Clone(shot.Unseen), func(u offsets.Unseen) bool { return seen[u.Topic] })
}

func notSeen(u offsets.Unseen) string {
	return fmt.Sprintf("topic %q could not be read: %s", u.Topic, u.Trouble.Reason)
}

func unseenTopics(shot offsets.Snapshot) error {
	all := unseen(shot)
	if len(all) == 0 {
		return nil
	}
	texts := make([]string, len(all))
	for i, u := range all {
		texts[i] = notSeen(u)
	}
	p := &problem{code: exitPartly, text: list(texts, 3)}
	for _, u := range all {
		p.causes = append(p.causes, causeOfTrouble(&u.Trouble))
		p.lacks = cmp.Or(p.lacks, u.Trouble.Lacks("topic", u.Topic))
	}
	return p
}

// brokenRows counts, of the partitions that matter, those of which something could not be read, or that are gone.
func brokenRows(shot offsets.Snapshot, matters func(*offsets.Row) bool) error {
	var unread, gone, all int
	first := map[*int]string{} // one of each kind
	p := &problem{code: exitPartly}
	for _, grp := range shot.Groups {
		for i := range grp.Rows {
			r := &grp.Rows[i]
			all++
			reason, kind := "", &unread
			switch {
			case !matters(r):
			case r.Range.Gone() && (r.Committed.Presence != offsets.Absent || r.Stored.Presence != offsets.Absent):
				reason, kind = "gone", &gone
				p.causes = append(p.causes, causeMissing)
			case !r.Range.Gone() && (!r.Range.Known() || r.Committed.Problem() && grp.Trouble == nil || r.Stored.Problem() && grp.Store.Trouble == nil),
				r.Committed.Unchecked() != "", r.Stored.Unchecked() != "", r.Shared != nil && r.Shared.Reason != "" && grp.Trouble == nil:
				reason = r.Words(shot.Origin.Cluster, grp.Store != nil)
				p.causes = append(p.causes, causeOfRow(r))
				if p.lacks == nil {
					p.lacks = grp.Lacks(*r, offsets.Committed)
				}
			}
			if reason == "" {
				continue
			}
			if *kind++; first[kind] == "" {
				first[kind] = fmt.Sprintf(", such as group %q %s: %s", grp.ID, r.Key, reason)
			}
			p.causes = byRank(p.causes)
			if len(p.details) < 100 {
				p.details = append(p.details, output.ErrorDetail{Group: grp.ID, Topic: r.Topic, Partition: r.Partition, Reason: reason})
			}
		}
	}
	var say []string
	if unread > 0 {
		say = append(say, fmt.Sprintf("%s of %s could not be read", offsets.Thousands(int64(unread)), offsets.Plural(all, "partition"))+first[&unread])
	}
	if gone > 0 {
		say = append(say, fmt.Sprintf("%s of %s no longer exist", offsets.Thousands(int64(gone)), offsets.Plural(all, "partition"))+strings.TrimSuffix(first[&gone], ": gone"))
	}
	if len(say) == 0 {
		return nil
	}
	p.text = strings.Join(say, "; ")
	if p.lacks != nil {
		p.text += fmt.Sprintf(" (not allowed: %s is missing)", p.lacks)
	}
	return p
}

// causeOfRow is why something of a row could not be read.
func causeOfRow(r *offsets.Row) cause {
	is := func(p offsets.Presence) bool { return r.Committed.Presence == p || r.Stored.Presence == p }
	switch {
	case r.Range.Denied, is(offsets.Denied):
		return causeAuthorization
	case r.Range.Away:
		return causeUnreachable
	case is(offsets.Damaged), is(offsets.Empty), is(offsets.WrongType):
		return causeDamaged
	}
	return causeIncomplete
}

// checkFlag is what a check is called, by the flag that asks for it.
func checkFlag(c *offsets.Check) string {
	if c.Name == "ok" {
		return "check"
	}
	return "check --" + c.Name
}

// checksError names each check that is not met. hint gives the next step for a group, "" for none.
func checksError(checks []offsets.Check, hint func(group string) string) error {
	var errs []error
	for i := range checks {
		c := &checks[i]
		if !c.Failed {
			continue
		}
		worst := fmt.Sprintf("group %q", c.Worst.Group)
		if !c.Worst.Whole() {
			worst += " " + c.Worst.String()
		}
		text := fmt.Sprintf("%s %s is not met by %s; the worst is %s", checkFlag(c), measure(c.Limit, c.Unit), offsets.Plural(c.Count, "partition"), worst)
		switch {
		case c.Name == "ok":
			text = fmt.Sprintf("%s: %s not ok, such as %s: %s", checkFlag(c), notOK(c.Fails), worst, c.Worst.Words)
		case c.Worst.Lost:
			text += ": " + c.Worst.Words + ", so that no lag counts"
		default:
			text += " with " + measure(c.Worst.Value, c.Unit)
		}
		errs = append(errs, &problem{code: exitNotMet, text: text, hint: hint(c.Worst.Group), details: failing(c)})
	}
	return errors.Join(errs...)
}

// notOK counts partitions, and groups that have none.
func notOK(fails []offsets.Measure) string {
	groups := 0
	for i := range fails {
		if fails[i].Whole() {
			groups++
		}
	}
	return partitionsAnd(len(fails)-groups, groups)
}

func partitionsAnd(partitions, groups int) string {
	var say []string
	if partitions > 0 {
		say = append(say, offsets.Plural(partitions, "partition"))
	}
	if groups > 0 {
		say = append(say, offsets.Plural(groups, "group"))
	}
	return strings.Join(say, " and ")
}

// failing lists the partitions that fail a check, each with what is wrong or its number.
func failing(c *offsets.Check) []output.ErrorDetail {
	details := make([]output.ErrorDetail, 0, len(c.Fails))
	for _, f := range c.Fails {
		reason := cmp.Or(f.Words, measure(f.Value, c.Unit))
		if c.Name != "ok" {
			reason = fmt.Sprintf("--%s %s: %s", c.Name, measure(c.Limit, c.Unit), reason)
		}
		details = append(details, output.ErrorDetail{Group: f.Group, Topic: f.Topic, Partition: f.Partition, Reason: reason})
	}
	return details
}

// measure writes a number of a check.
func measure(n int64, unit offsets.Unit) string {
	if unit == offsets.Milliseconds {
		return offsets.Span(time.Duration(n) * time.Millisecond)
	}
	return fmt.Sprint(n)
}

// noteUnmeasured says what a check could not look at: it must not pass for met.
func (g *global) noteUnmeasured(checks []offsets.Check) {
	for _, c := range checks {
		if c.Unmeasured == 0 {
			continue
		}
		var kinds []string
		for _, r := range c.Reasons {
			kind := r.Why
			if len(c.Reasons) > 1 {
				kind = offsets.Thousands(int64(r.Count)) + ": " + kind
			}
			kinds = append(kinds, kind)
		}
		g.note("%s: %s could not be measured (%s)", checkFlag(&c), partitionsAnd(c.Unmeasured-c.Groups, c.Groups), list(kinds, 3))
	}
}
