package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"gtoffset/kafkaops/offsets"
	"gtoffset/output"
)

type describeOptions struct {
	scope
	kinds    []string
	members  bool
	state    bool
	times    bool
	problems bool
	sort     string
	watch    span
	file     string
	limits   limitFlags

	isolation string
}

// limitFlags are the conditions of a check.
type limitFlags struct {
	check          bool
	maxLag         int64
	maxUnprocessed int64
	maxBehind      span
	minExpires     span
}

func newDescribe(g *global) *cobra.Command {
	o := &describeOptions{}
	c := &cobra.Command{
		Use: "describe",
		Long: `Use it first, whatever else is to be done. For each partition of a group it shows what the job stored, what the group
committed, and what the cluster still has, and says in words what is wrong and what a restart would lose or repeat. Without
a group it lists the groups. It reads only.

With --time, BEHIND is the age of the next record, and EXPIRES-IN how long retention leaves it at least, both of the smaller
of stored and committed. What cannot be told is -, and -o wide says why. --watch looks again and again; Ctrl-C ends it. Its
rates are averages of the last 10 seconds or less, as jobs commit every few seconds only, or from one look to the next.

Dangers: lag is a distance of offsets, not a count of records. Holes that compaction leaves and markers of transactions are
in it, so that the lag of a job that has read everything may stay at 1.`,
		Example: `  gtoffset describe
  gtoffset describe -g billing -s offsets
  gtoffset describe -g billing -t orders:0,2-4 -o wide --time
  gtoffset describe --all-groups --problems --sort lag
  gtoffset describe -g billing --check --max-lag 5000 -o json`,
		Args: func(c *cobra.Command, args []string) error {
			return takes(0, 0, "did you mean -g %s?")(c, o.watchEvery(g, args))
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(g, c); err != nil {
				return err
			}
			return runDescribe(c.Context(), g, o)
		},
	}
	o.flags(c)
	f := c.Flags()
	f.StringSliceVar(&o.kinds, "type", nil, "of a list of groups, only those of the `TYPE`s classic, consumer, share, streams, simple")
	f.BoolVar(&o.members, "members", false, "show who is in the groups, and what they are assigned")
	f.BoolVar(&o.state, "state", false, "show what the groups are, and who coordinates them")
	f.BoolVar(&o.times, "time", false, "show how old the next record is, and how long it will be there")
	f.BoolVar(&o.problems, "problems", false, "show only partitions that are not ok, or have unprocessed records")
	choose(f, &o.sort, "sort", string(offsets.ByTopic), "order of partitions and groups: lag has the largest first, state the worst", string(offsets.ByTopic), string(offsets.ByLag), string(offsets.ByState))
	f.Var(&o.watch, "watch", "look again and again, each `DURATION` (2s if none is given), and show what moves")
	f.Lookup("watch").NoOptDefVal = "2s"
	f.StringVar(&o.file, "output-file", "", "write to the file `PATH` instead of stdout; it is replaced as a whole")
	f.BoolVar(&o.limits.check, "check", false, "exit 10 when anything is out of range, gone, recreated, unreadable, or missing from a named store, or a named group has no offset at all")
	numberVar(f, &o.limits.maxLag, "max-lag", offsets.None, "exit 10 when the lag of a partition is above `N`")
	numberVar(f, &o.limits.maxUnprocessed, "max-unprocessed", offsets.None, "exit 10 when more than `N` records of a partition are committed beyond what is stored")
	f.Var(&o.limits.maxBehind, "max-behind", "exit 10 when the next record of a partition is older than `DURATION`")
	f.Var(&o.limits.minExpires, "min-expires-in", "exit 10 when the next record of a partition may be gone within `DURATION`")
	choose(f, &o.isolation, "isolation", "read_uncommitted", "`LEVEL`: with read_committed lag is to the last stable offset, else to the end", isolations()...)
	formats(c, output.Describe{}.Formats()...)
	return c
}

// set reports whether any condition was given.
func (l *limitFlags) set() bool {
	return *l != limitFlags{maxLag: offsets.None, maxUnprocessed: offsets.None}
}

// limits are the conditions as values.
func (l *limitFlags) limits() offsets.Limits {
	return offsets.Limits{
		Healthy: l.check, MaxLag: l.maxLag, MaxUnprocessed: l.maxUnprocessed,
		MaxBehind: time.Duration(l.maxBehind), MinExpires: time.Duration(l.minExpires),
	}
}

func (o *describeOptions) validate(g *global, c *cobra.Command) error {
	if err := o.scope.validate(); err != nil {
		return err
	}
	for flag, n := range map[string]int64{"max-lag": o.limits.maxLag, "max-unprocessed": o.limits.maxUnprocessed} {
		if c.Flags().Changed(flag) && n < 0 {
			return usage(fmt.Sprintf("--%s %d is negative", flag, n), "give a number of records, 0 or more")
		}
	}
	if o.limits.maxUnprocessed != offsets.None && g.store == "" {
		return needStore("--max-unprocessed", "")
	}
	if err := o.scope.setKinds(o.kinds); err != nil {
		return err
	}
	if err := o.validateWatch(g); err != nil {
		return err
	}
	return o.validateView(g, c)
}

// validateView holds the flags against what is to be shown: partitions, facts about groups, or a list of groups.
func (o *describeOptions) validateView(g *global, c *cobra.Command) error {
	ofPartitions := map[string]bool{
		"--topic": len(o.topics) > 0, "--problems": o.problems, "--check": o.limits.check, "--max-lag": o.limits.maxLag != offsets.None,
		"--max-unprocessed": o.limits.maxUnprocessed != offsets.None, "--max-behind": o.limits.maxBehind > 0, "--min-expires-in": o.limits.minExpires > 0,
		"--time": o.times, "--sort": c.Flags().Changed("sort"), "--watch": o.watch > 0,
		"-o " + g.format: g.format != "" && !slices.Contains(output.GroupList{}.Formats(), output.Format(g.format)),
	}
	ofGroups := map[string]bool{"--members": o.members, "--state": o.state}
	first := func(flags map[string]bool) string {
		var set []string
		for flag, given := range flags {
			if given {
				set = append(set, flag)
			}
		}
		slices.Sort(set)
		return strings.Join(set[:min(len(set), 1)], "")
	}
	listed, described := first(ofPartitions), first(ofGroups)
	switch {
	case o.needGroup() != nil && cmp.Or(listed, described) != "":
		return usage(cmp.Or(listed, described)+" needs a group", "add -g GROUP, or --all-groups")
	case o.members && o.state:
		return usage("--members and --state exclude each other", "give one of them")
	case described != "" && listed != "":
		return usage(fmt.Sprintf("%s is about partitions, and %s about groups", listed, described), "give one of them")
	}
	return nil
}

func runDescribe(ctx context.Context, g *global, o *describeOptions) error {
	switch {
	case o.needGroup() != nil:
		return listGroups(ctx, g, o)
	case o.members || o.state:
		return describeGroups(ctx, g, o)
	case o.watch > 0:
		return watch(ctx, g, o)
	}
	shot, err := g.look(ctx, &o.scope, o.look())
	if err != nil {
		return err
	}
	limits := o.limits.limits()
	limits.Named, limits.Topics = !o.listed(), len(o.selections) > 0
	checks := offsets.RunChecks(shot, limits)
	wrong := sync.OnceValue(func() error { // looks for names that were meant: what is there is shown first
		return errors.Join(g.troubles(shot, &o.scope), checksError(checks, func(group string) string {
			if g.forPeople() {
				return "" // it stands below the group
			}
			grp, _ := shot.Group(group)
			return g.hint(shot, grp, &o.scope)
		}))
	})
	if o.onlyChecks(g) && wrong() == nil {
		return nil
	}
	if o.leavesFile(g, wrong) {
		return wrong()
	}
	err = g.write(o.file, func(s output.Stream) error { return o.view(g, shot, checks).Write(s, output.Format(g.format)) })
	g.noteUnmeasured(checks)
	return errors.Join(err, wrong())
}

// leavesFile reports a run that fails, as by a group that is not there: what it would write is no answer, and the file that there is stays.
func (o *describeOptions) leavesFile(g *global, wrong func() error) bool {
	return o.file != "" && g.judge(g.soft, wrong()).code() == exitFailed
}

// onlyChecks reports that nobody wants to read what holds: a check with -q speaks when it fails, as cron mails whatever is said. What
// programs read, a document or a file, is always written.
func (o *describeOptions) onlyChecks(g *global) bool {
	return g.quiet && o.limits.set() && o.file == "" && g.forPeople()
}

// forPeople reports that stdout gets a table, and no document.
func (g *global) forPeople() bool {
	f := output.Format(g.format)
	return f == "" || f == output.Table || f == output.Wide
}

// look is what is to be measured.
func (o *describeOptions) look() lookOptions {
	return lookOptions{stable: o.isolation == "read_committed", epochs: true, times: o.timed(), sparing: true, firsts: true}
}

func (o *describeOptions) timed() bool { return o.times || o.limits.limits().Timed() }

// view is what a look shows.
func (o *describeOptions) view(g *global, shot offsets.Snapshot, checks []offsets.Check) output.Describe {
	view := output.Describe{
		Snapshot: shot.Sorted(offsets.Order(o.sort)), Now: shot.At, Checks: checks, Times: o.timed(), Topics: o.topicNames(), Named: !o.listed(),
		Hint: func(grp offsets.Group) string { return g.hint(shot, grp, &o.scope) },
	}
	if o.problems {
		limits := o.limits.limits()
		view.Show = func(grp offsets.Group, r offsets.Row) bool {
			j := offsets.JudgeRow(&r, shot.Origin.Cluster, grp.Store != nil)
			n, _ := j.Unprocessed()
			return !j.Healthy() || n > 0 || limits.Over(&j, shot.At)
		}
	}
	return view
}

// listGroups shows the groups that there are.
func listGroups(interrupt context.Context, g *global, o *describeOptions) error {
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
	groups, err = withStored(ctx, s, groups, len(missing) == 0, itself)
	away := storeAway(err)
	if err != nil && away == nil {
		return err
	}
	groups = slices.DeleteFunc(groups, func(grp offsets.Group) bool { return !o.ofKind(grp.Type) })
	view := output.GroupList{Snapshot: offsets.Snapshot{Origin: s.origin, At: g.env.Now(), Groups: groups}, Stored: s.stored, Troubles: missing}
	if away != nil {
		view.Troubles = append(slices.Clip(missing), *away)
	}
	if err := g.write(o.file, func(s output.Stream) error { return view.Write(s, output.Format(g.format)) }); err != nil {
		return err
	}
	return errors.Join(missingBrokers(missing, len(groups) > 0), err)
}

// describeGroups shows facts about groups. Nothing is asked about topics.
func describeGroups(interrupt context.Context, g *global, o *describeOptions) error {
	ctx, cancel := context.WithTimeout(interrupt, time.Duration(g.timeout))
	defer cancel()
	s, err := g.connect(ctx)
	if err != nil {
		return err
	}
	found, troubles, err := s.groups(ctx, &o.scope)
	if err := cmp.Or(interrupt.Err(), err); err != nil {
		return err
	}
	shot := offsets.Snapshot{Origin: s.origin, At: g.env.Now(), Troubles: troubles}
	for _, f := range found {
		shot.Groups = append(shot.Groups, f.Group)
	}
	wrong := sync.OnceValue(func() error { return g.troubles(shot, &o.scope) })
	if o.leavesFile(g, wrong) {
		return wrong()
	}
	if err := g.write(o.file, func(s output.Stream) error {
		if o.members {
			return output.GroupMembers{Snapshot: shot}.Write(s, output.Format(g.format))
		}
		return output.GroupStates{Snapshot: shot}.Write(s, output.Format(g.format))
	}); err != nil {
		return err
	}
	return wrong()
}
