package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gtoffset/kafkaops/offsets"
	"gtoffset/output"
)

type describeOptions struct {
	scope
	problems       bool
	check          bool
	maxLag         int64
	maxUnprocessed int64
	isolation      string
}

func newDescribe(g *global) *cobra.Command {
	o := &describeOptions{}
	c := &cobra.Command{
		Use: "describe",
		Long: `Shows, for each partition of a group, what the job stored, what the group committed, and what the cluster still has, and says
in words what is wrong and what a restart would lose or repeat. Reads only. Without a group it lists the groups.

Lag is a distance of offsets, not a count of records: holes that compaction leaves and the markers of transactions are in it, so
that the lag of a job that has read everything may stay at 1.

Exit status: 0; 10 a check is not met; 3 something could not be read, the rest is shown; 5 nothing could be; 1 no such group.`,
		Example: `  gtoffset describe
  gtoffset describe -g billing -s /var/lib/billing/offsets
  gtoffset describe -g billing -t orders:0,4-7 -o wide
  gtoffset describe --all-groups --problems
  gtoffset describe -g billing --check --max-lag 1000 -o json`,
		Args: takes(0, 0, "did you mean -g %s?"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(g, c); err != nil {
				return err
			}
			return runDescribe(c.Context(), g, o)
		},
	}
	o.flags(c)
	f := c.Flags()
	f.BoolVar(&o.problems, "problems", false, "show only partitions that are not ok")
	f.BoolVar(&o.check, "check", false, "exit 10 when anything is out of range, gone, recreated, unreadable, or missing from a named store")
	f.Int64Var(&o.maxLag, "max-lag", offsets.None, "exit 10 when the lag of a partition is above `N`")
	f.Int64Var(&o.maxUnprocessed, "max-unprocessed", offsets.None, "exit 10 when more than `N` records of a partition are committed beyond what is stored")
	f.StringVar(&o.isolation, "isolation", "read_uncommitted", "lag to the end, or with read_committed to the last stable `OFFSET`")
	formats(c, output.Table, output.Wide, output.JSON, output.YAML, output.CSV)
	return c
}

func (o *describeOptions) validate(g *global, c *cobra.Command) error {
	if err := o.scope.validate(); err != nil {
		return err
	}
	for flag, n := range map[string]int64{"max-lag": o.maxLag, "max-unprocessed": o.maxUnprocessed} {
		if c.Flags().Changed(flag) && n < 0 {
			return usage(fmt.Sprintf("--%s %d is negative", flag, n), "give a number of records, 0 or more")
		}
	}
	switch {
	case o.isolation != "read_committed" && o.isolation != "read_uncommitted":
		return usage(fmt.Sprintf("--isolation %q is not known", o.isolation), "--isolation read_committed, or read_uncommitted")
	case o.maxUnprocessed != offsets.None && g.store == "":
		return usage("--max-unprocessed needs a store", "add -s PATH")
	}
	if o.needGroup() == nil {
		return nil
	}
	for flag, set := range map[string]bool{"--topic": len(o.topics) > 0, "--problems": o.problems, "--check": o.check, "--max-lag": o.maxLag != offsets.None, "--max-unprocessed": o.maxUnprocessed != offsets.None} {
		if set {
			return usage(flag+" needs a group", "add -g GROUP, or --all-groups")
		}
	}
	return nil
}

func runDescribe(ctx context.Context, g *global, o *describeOptions) error {
	if o.needGroup() != nil {
		return listGroups(ctx, g)
	}
	shot, err := g.look(ctx, &o.scope, lookOptions{stable: o.isolation == "read_committed", epochs: true})
	if err != nil {
		return err
	}
	limits := offsets.Limits{Healthy: o.check, MaxLag: o.maxLag, MaxUnprocessed: o.maxUnprocessed}
	checks := offsets.RunChecks(shot, limits)
	view := output.Describe{Snapshot: shot, Now: shot.At, Checks: checks, Hint: func(grp offsets.Group) string { return g.hint(shot, grp, &o.scope) }}
	if o.problems {
		view.Show = func(grp offsets.Group, r offsets.Row) bool {
			j := offsets.JudgeRow(&r, shot.Origin.Cluster, grp.Store != nil)
			return !j.Healthy() || limits.Over(&j)
		}
	}
	if err := view.Write(g.out(), output.Format(g.format)); err != nil {
		return err
	}
	return errors.Join(g.troubles(shot, &o.scope), checksError(checks))
}

// listGroups shows the groups that there are.
func listGroups(interrupt context.Context, g *global) error {
	ctx, cancel := context.WithTimeout(interrupt, time.Duration(g.timeout))
	defer cancel()
	s, err := g.connect(ctx)
	if err != nil {
		return err
	}
	groups, missing, err := s.cluster.ListGroups(ctx)
	if err := cmp.Or(interrupt.Err(), err); err != nil {
		return err
	}
	groups, err = s.addStored(ctx, groups, len(missing) == 0)
	if err != nil {
		return err
	}
	view := output.GroupList{Snapshot: offsets.Snapshot{Origin: s.origin, At: g.env.Now(), Groups: groups}, Troubles: missing}
	if err := view.Write(g.out(), output.Format(g.format)); err != nil {
		return err
	}
	return missingBrokers(missing, len(groups) > 0)
}

// troubles says what of a snapshot could not be read, as an error with its exit code; nil if all could.
func (g *global) troubles(shot offsets.Snapshot, sc *scope) error {
	var errs []error
	errs = append(errs, missingBrokers(shot.Troubles, len(shot.Groups) > 0))
	readable := slices.ContainsFunc(shot.Groups, func(grp offsets.Group) bool { return grp.Trouble == nil })
	for _, grp := range shot.Groups {
		if grp.Trouble != nil {
			code := exitPartly
			if !readable && grp.Trouble.Unreachable {
				code = exitUnreachable
			}
			errs = append(errs, &problem{code: code, text: fmt.Sprintf("group %q could not be read: %s", grp.ID, grp.Trouble.Reason)})
		}
		if grp.Store != nil && grp.Store.Trouble != nil {
			code := exitPartly
			if grp.Store.Trouble.Unreachable {
				code = exitUnreachable
			}
			errs = append(errs, &problem{code: code, text: fmt.Sprintf("the store of group %q could not be read: %s", grp.ID, grp.Store.Trouble.Reason)})
		}
	}
	errs = append(errs, g.unknownGroups(shot))
	errs = append(errs, g.unnamedTopics(shot, sc), brokenRows(shot))
	return errors.Join(errs...)
}

// unknownGroups names the groups that neither the cluster nor the store knows.
func (g *global) unknownGroups(shot offsets.Snapshot) error {
	var errs []error
	for _, grp := range shot.Groups {
		nobody := grp.ID == "" && len(grp.Rows) == 0 && grp.Existence != offsets.Exists // an unset variable, most likely
		if grp.Trouble != nil || grp.Existence != offsets.Missing && !nobody || grp.Store != nil && (stored(grp) || grp.Store.Trouble != nil) {
			continue
		}
		p := &problem{code: exitFailed, text: fmt.Sprintf("group %q is not known to the cluster", grp.ID), hint: g.typed("describe") + " lists the groups"}
		if len(shot.Groups) > 1 {
			p.code = exitPartly
		}
		if grp.Store != nil {
			p.text += ", nor is anything of it in the store (looked at " + grp.Store.Path + ")"
		}
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

// stored reports whether the store has a place for the group.
func stored(grp offsets.Group) bool {
	return slices.ContainsFunc(grp.Store.Topics, func(t offsets.StoredTopic) bool { return t.Presence != offsets.Absent })
}

func missingBrokers(missing []offsets.Trouble, some bool) error {
	if len(missing) == 0 {
		return nil
	}
	reasons := make([]string, len(missing))
	for i, t := range missing {
		reasons[i] = t.Reason
	}
	p := &problem{code: exitPartly, text: "groups may be missing from this list: " + list(reasons, 3)}
	if !some {
		p.code = exitUnreachable
	}
	return p
}

// unnamedTopics refuses topics and partitions that were named but that neither the cluster nor either side knows.
func (g *global) unnamedTopics(shot offsets.Snapshot, sc *scope) error {
	var unknown []string
	for _, grp := range shot.Groups {
		for _, r := range grp.Rows {
			if r.Range.Gone() && sc.named(r.Topic) && r.Committed.Presence == offsets.Absent && r.Stored.Presence == offsets.Absent {
				unknown = append(unknown, fmt.Sprintf("partition %d of topic %q does not exist", r.Partition, r.Topic))
			}
		}
	}
	for _, topic := range sc.topicNames() {
		if !slices.ContainsFunc(shot.Groups, func(grp offsets.Group) bool {
			return slices.ContainsFunc(grp.Rows, func(r offsets.Row) bool { return r.Topic == topic })
		}) && len(shot.Groups) > 0 {
			unknown = append(unknown, fmt.Sprintf("topic %q does not exist", topic))
		}
	}
	slices.Sort(unknown)
	unknown = slices.Compact(unknown)
	if len(unknown) == 0 {
		return nil
	}
	return &problem{code: exitFailed, text: list(unknown, 3), hint: g.typed("describe", "-g", shot.Groups[0].ID) + " shows its topics"}
}

// brokenRows counts the partitions of which something could not be read, or that are gone.
func brokenRows(shot offsets.Snapshot) error {
	var unread, gone, all int
	var details []output.ErrorDetail
	for _, grp := range shot.Groups {
		for _, r := range grp.Rows {
			all++
			reason := ""
			switch {
			case r.Range.Gone() && (r.Committed.Presence != offsets.Absent || r.Stored.Presence != offsets.Absent):
				gone++
				reason = "gone"
			case !r.Range.Gone() && (!r.Range.Known() || r.Committed.Problem() && grp.Trouble == nil || r.Stored.Problem() && grp.Store.Trouble == nil),
				r.Committed.Unchecked() != "", r.Stored.Unchecked() != "":
				unread++
				reason = r.Words(shot.Origin.Cluster, grp.Store != nil)
			}
			if reason != "" && len(details) < 100 {
				details = append(details, output.ErrorDetail{Group: grp.ID, Topic: r.Topic, Partition: r.Partition, Reason: reason})
			}
		}
	}
	var say []string
	if unread > 0 {
		say = append(say, fmt.Sprintf("%s of %s could not be read", offsets.Thousands(int64(unread)), offsets.Plural(all, "partition")))
	}
	if gone > 0 {
		say = append(say, fmt.Sprintf("%s of %s no longer exist", offsets.Thousands(int64(gone)), offsets.Plural(all, "partition")))
	}
	if len(say) == 0 {
		return nil
	}
	return &problem{code: exitPartly, text: strings.Join(say, "; "), details: details}
}

// checksError names each check that is not met.
func checksError(checks []offsets.Check) error {
	var errs []error
	for _, c := range checks {
		if !c.Failed {
			continue
		}
		text := fmt.Sprintf("check --%s %d is not met by %s; the worst is group %q %s %d with %d", c.Name, c.Limit, offsets.Plural(c.Count, "partition"), c.Worst.Group, c.Worst.Topic, c.Worst.Partition, c.Worst.Value)
		if c.Name == "ok" {
			text = fmt.Sprintf("check: %s not ok, as group %q %s %d: %s", offsets.Plural(c.Count, "partition"), c.Worst.Group, c.Worst.Topic, c.Worst.Partition, c.Worst.Words)
		}
		errs = append(errs, &problem{code: exitNotMet, text: text})
	}
	return errors.Join(errs...)
}

// hint is the next step for a group, "" for none.
func (g *global) hint(shot offsets.Snapshot, grp offsets.Group, sc *scope) string {
	if hint := g.mending(shot, grp, sc); hint != "" {
		return hint
	}
	ones := 0
	for _, r := range grp.Rows {
		switch offsets.Judge(r.Committed, r.Range, shot.Origin.Cluster).Lag {
		case 1:
			ones++
		case 0, offsets.None:
		default:
			return "" // there are records to be read
		}
	}
	if ones == 0 {
		return ""
	}
	return "a lag that stays at 1 may be the marker of a transaction, which no job reads"
}

// mending is the command that would mend a group, "" if nothing is to be mended now. It is about no more than was asked for.
func (g *global) mending(shot offsets.Snapshot, grp offsets.Group, sc *scope) string {
	if grp.Active() || grp.Trouble != nil {
		return ""
	}
	line := func(command string, selections []offsets.Selection, end ...string) string {
		words := []string{command, "-g", grp.ID}
		for _, sel := range selections {
			words = append(words, "-t", sel.String())
		}
		if g.store != "" {
			words = append(words, "-s", g.store)
		}
		return g.typed(append(words, end...)...)
	}
	mend := grp.Repairs(shot.Origin.Cluster)
	switch {
	case mend.Denied:
		return "the store may not be read: run it as the user of the job"
	case mend.Damaged:
		return "to see what the whole lines of the damaged file would give: " + line("clamp", sc.selections, "--stored", "--salvage", "--dry-run")
	case mend.Foreign:
		return "the store is of another cluster; if that is meant: " + line("clamp", sc.selections, "--stored", "--other-cluster")
	}
	if safe := grp.Safe(shot.Origin.Cluster); len(safe) > 0 {
		return "to lose nothing that is still there: " + line("reset", safe, "--to-safe", "--stored", "--committed")
	}
	flags := func(sides []offsets.Side, end ...string) []string {
		for _, side := range sides {
			end = append(end, "--"+string(side))
		}
		return end
	}
	if stale, sides := grp.Stale(shot.Origin.Cluster); len(stale) > 0 {
		return "to go on where the offsets say, without the stale leader epochs: " + line("reset", stale, flags(sides, "--to-current")...)
	}
	if len(mend.Sides) == 0 {
		return ""
	}
	end := flags(mend.Sides)
	if mend.Recreated {
		return "to read the new topic from its beginning: " + line("clamp", sc.selections, append(end, "--recreated", "earliest")...)
	}
	return "to bring it back into range: " + line("clamp", sc.selections, end...)
}
