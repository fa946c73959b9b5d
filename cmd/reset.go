package cmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile/exchange"
)

type resetOptions struct {
	scope
	road
	sideFlags
	allTopics bool
	clamp     bool
	timezone  string
	zoned     bool // --timezone is given

	n                                                       int64 // of the one target that is given, if it takes a number
	toDatetime, byDuration, toCommitAt, fromGroup, fromFile string

	aim     offsets.Aim
	back    bool // by a duration
	instant time.Time
	past    past // of the group, for --to-commit-at
}

// target is a place that offsets can be moved to.
type target struct {
	flag  string
	aim   offsets.Aim
	text  string // of the help; a value has its name in backquotes
	value any    // *int64 or *string; nil for a flag that takes none
}

// targets lists all that there are. A new one is a line here, and a case in resetRow of offsets; two with a number share n.
func (o *resetOptions) targets() []target {
	return []target{
		{"to-earliest", offsets.AimEarliest, "the first offset that can still be read", nil},
		{"to-latest", offsets.AimLatest, "the end, as it is when the plan is made", nil},
		{"to-offset", offsets.AimOffset, "the offset `N`", &o.n},
		{"to-datetime", offsets.AimTime, "the first record at or after the `TIME`: 2026-11-29T12:00:00.000Z, @ and epoch milliseconds, or 2h for two hours ago", &o.toDatetime},
		{"by-duration", offsets.AimTime, "the first record at or after now less the `DURATION`, or PT12H, P7D as Kafka's tool has it", &o.byDuration},
		{"shift-by", offsets.AimShift, "forward by `N`, or back by -N, within the range", &o.n},
		{"to-current", offsets.AimCurrent, "the same number, within the range, with a clean leader epoch", nil},
		{"to-stored", offsets.AimStored, "the commits to what is stored", nil},
		{"to-committed", offsets.AimCommitted, "the store to what is committed", nil},
		{"to-safe", offsets.AimSafe, "the smaller of stored and committed, within the range", nil},
		{"to-commit-at", offsets.AimCommitAt, "what the group had committed at the `TIME`, or 2h for two hours ago, as far as Kafka still tells: see gtoffset history", &o.toCommitAt},
		{"from-group", offsets.AimGroup, "what the other `GROUP` has committed", &o.fromGroup},
		{"from-file", offsets.AimFile, "what a `FILE` says, as gtoffset import reads it: Kafka's reset CSV and others; its topics, unless -t names some", &o.fromFile},
	}
}

func (o *resetOptions) targetFlags(f *pflag.FlagSet) {
	for _, t := range o.targets() {
		switch value := t.value.(type) {
		case *int64:
			numberVar(f, value, t.flag, 0, t.text)
		case *string:
			f.StringVar(value, t.flag, "", t.text)
		default:
			f.Bool(t.flag, false, t.text)
		}
	}
}

// takeAim finds the one target that is given.
func (o *resetOptions) takeAim(f *pflag.FlagSet) error {
	var given, all []string
	for _, t := range o.targets() {
		value, _ := pflag.UnquoteUsage(f.Lookup(t.flag))
		all = append(all, strings.TrimSpace("--"+t.flag+" "+value))
		if isGiven(f, t.flag) {
			given, o.aim = append(given, "--"+t.flag), t.aim
		}
	}
	slices.Sort(given)
	switch len(given) {
	case 0:
		return usage("no target is named", "add one of "+strings.Join(all, ", "))
	case 1:
		o.back = f.Changed("by-duration")
		return nil
	}
	return usage(strings.Join(given, " and ")+" exclude each other", "name one target")
}

func newReset(g *global) *cobra.Command {
	o := &resetOptions{sideFlags: sideFlags{both: ", or both"}}
	c := &cobra.Command{
		Use: "reset",
		Long: `Use it to move the partitions that you name to exactly one target: in the commits, in the store, or in both.

--to-safe goes to the smaller of stored and committed, within the range: it loses nothing that is still there. --to-current
keeps the number, within the range, and drops a leader epoch that may send consumers back. --to-commit-at goes back to what
was committed at a time.

Dangers: a target ahead of the job makes it lose records, one behind it makes it read them again. The plan counts both. A job that is running
would overwrite it: a group with members is refused.`,
		Example: `  gtoffset reset -g billing -t orders --to-earliest --dry-run
  gtoffset reset -g billing -t orders:4 --shift-by 1 --execute
  gtoffset reset -g billing -t orders --to-datetime 2026-11-29T12:00Z --execute
  gtoffset reset -g billing --all-topics -s offsets --to-safe --stored --execute
  gtoffset reset -g billing-2 -t orders --from-group billing --create --execute`,
		Args: takes(0, 0, "did you mean -g %s?"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(g, c); err != nil {
				return err
			}
			return runReset(c.Context(), g, o)
		},
	}
	o.scope.flags(c)
	f := c.Flags()
	f.BoolVar(&o.allTopics, "all-topics", false, "every topic of the group that has commits, entries or an assignment")
	o.sideFlags.flags(c)
	o.targetFlags(f)
	f.StringVar(&o.timezone, "timezone", "UTC", "`ZONE` of a time without one, as Europe/Berlin")
	f.BoolVar(&o.clamp, "clamp", false, "bring a target that is out of range into it, instead of refusing it")
	o.road.flags(c)
	o.createFlag(c)
	return c
}

func (o *resetOptions) validate(g *global, c *cobra.Command) error {
	o.command, o.sparing = "reset", true // what is not in the store is there no number to start from
	if err := o.scope.validate(); err != nil {
		return err
	}
	if err := o.needGroup(); err != nil {
		return err
	}
	o.zoned = c.Flags().Changed("timezone")
	if o.zoned && !c.Flags().Changed("to-datetime") && !c.Flags().Changed("to-commit-at") {
		return usage("--timezone belongs to --to-datetime and --to-commit-at", "leave it out")
	}
	if err := o.takeAim(c.Flags()); err != nil {
		return err
	}
	switch {
	case len(o.topics) == 0 && !o.allTopics && o.aim != offsets.AimFile:
		return usage("no topic is named", "add -t TOPIC, or --all-topics")
	case len(o.topics) > 0 && o.allTopics:
		return usage("--topic and --all-topics exclude each other", "name the topics in one way")
	}
	if err := o.validateAim(g); err != nil {
		return err
	}
	if err := o.sideFlags.validate(g); err != nil {
		return err
	}
	if o.committed && !o.stored && !o.aim.Reads(offsets.Stored, offsets.Committed) && !o.watches() {
		g.withoutStore()
	}
	return o.road.validate(g)
}

// validateAim checks the argument of the target, and that the target and the side go together.
func (o *resetOptions) validateAim(g *global) error {
	switch o.aim {
	case offsets.AimOffset:
		if o.n < 0 {
			return usage(fmt.Sprintf("--to-offset %d is negative", o.n), "for the first and the last record there are --to-earliest and --to-latest")
		}
	case offsets.AimTime:
		return o.resolve(g)
	case offsets.AimCommitAt:
		if len(o.scope.groups) != 1 {
			return usage("--to-commit-at is about one group", "name it with -g")
		}
		return o.resolve(g)
	case offsets.AimStored, offsets.AimCommitted, offsets.AimSafe:
		if g.store == "" {
			return needStore("--to-"+string(o.aim), "")
		}
		if o.aim == offsets.AimStored && o.stored || o.aim == offsets.AimCommitted && o.committed {
			return usage("--to-"+string(o.aim)+" would copy a side onto itself", "leave out --"+string(o.aim))
		}
		if o.aim != offsets.AimSafe && switchedOff(o.set, string(offsets.Side(o.aim).Other())) {
			return usage("--to-"+string(o.aim)+" writes the other side, which is switched off", "leave out =false")
		}
		o.committed = o.committed || o.aim == offsets.AimStored
		o.stored = o.stored || o.aim == offsets.AimCommitted
	}
	return nil
}

// resolve turns the time or the duration into an instant.
func (o *resetOptions) resolve(g *global) (err error) {
	now := g.env.Now()
	if o.back {
		if o.instant, err = ago(o.byDuration, now); err != nil {
			return badSpan("--by-duration", err)
		}
		return nil
	}
	zone, err := time.LoadLocation(o.timezone)
	if err != nil || o.timezone == "" || o.timezone == "Local" { // which is whatever TZ says
		return usage(fmt.Sprintf("--timezone %q is not known", o.timezone), "--timezone Europe/Berlin, or a zone within the time")
	}
	if o.aim == offsets.AimCommitAt {
		return o.resolveCommitAt(zone, now)
	}
	if o.instant, err = parseInstant(o.toDatetime, zone, now); err != nil {
		return badSpan("--to-datetime", err)
	}
	return ahead("--to-datetime", o.toDatetime, o.instant, now, zone, o.zoned, "--to-latest goes to the end")
}

// resolveCommitAt reads the time of a past commit, which cannot lie ahead.
func (o *resetOptions) resolveCommitAt(zone *time.Location, now time.Time) (err error) {
	if o.instant, err = parseInstant(o.toCommitAt, zone, now); err != nil {
		return badSpan("--to-commit-at", err)
	}
	if o.instant.After(now) {
		return usage(fmt.Sprintf("--to-commit-at %s is ahead", sayInstant(o.instant)), "gtoffset history shows what was committed when")
	}
	return nil
}

func runReset(ctx context.Context, g *global, o *resetOptions) error {
	g.unwritten = true
	if o.aim == offsets.AimFile {
		return o.followFile(ctx, g)
	}
	if o.aim == offsets.AimGroup {
		if err := o.followGroup(ctx, g); err != nil {
			return err
		}
	}
	if o.aim == offsets.AimCommitAt {
		if err := o.followPast(ctx, g); err != nil {
			return err
		}
	}
	if o.aim == offsets.AimTime {
		g.note("to the first record at or after %s; older records may follow it", sayInstant(o.instant))
	}
	return g.apply(ctx, &o.scope, o.road, func(ctx context.Context, shot offsets.Snapshot) (offsets.Plan, error) {
		sides, err := o.choose(shot)
		if err != nil {
			return offsets.Plan{}, err
		}
		policy := offsets.ResetPolicy{Sides: sides, Aim: o.aim, N: o.n, Clamp: o.clamp, Named: o.named}
		policy.Past = offsets.Past{At: o.instant, Was: o.past.Was, Complete: o.past.Complete}
		switch o.aim {
		case offsets.AimTime:
			policy.From = sayInstant(o.instant)
			if policy.Times, err = g.session.cluster.Times(ctx, shot.Keys(), o.instant); err != nil {
				return offsets.Plan{}, err
			}
		case offsets.AimGroup:
			policy.From = o.fromGroup
			if err = g.lookFrom(ctx, o.fromGroup, &shot); err != nil {
				return offsets.Plan{}, err
			}
		}
		return offsets.Reset(shot, policy), nil
	})
}

// followFile writes what a file says of the groups and topics that are meant: an import that is held to them.
func (o *resetOptions) followFile(ctx context.Context, g *global) error {
	from := importOptions{road: o.road, sideFlags: o.sideFlags, source: o.fromFile, selections: o.selections, clamp: o.clamp}
	from.document = true
	from.file = o.fromFile
	from.home = func(string) string { return namesHome }
	if len(o.scope.groups) == 1 {
		from.groups = o.scope.groups
	}
	doc, err := from.read(ctx, g)
	if err != nil {
		return err
	}
	if doc.Kind != exchange.Export {
		return usage(fmt.Sprintf("%s is a %s, not a list of offsets", o.fromFile, doc.Kind), "gtoffset import reads it")
	}
	doc = g.partOf(doc, o.fromFile, o.takes, o.selections)
	for _, name := range o.scope.groups {
		if !slices.ContainsFunc(doc.Rows, func(r exchange.Row) bool { return r.Group == name }) {
			return &problem{code: exitFailed, causes: []cause{causeMissing}, text: fmt.Sprintf("%s says nothing of group %q there; nothing was written", o.fromFile, name)}
		}
	}
	for _, w := range doc.Warnings {
		g.note("%s: %s", o.fromFile, w)
	}
	g.note("%s is %s", o.fromFile, doc.Format.Words())
	if err := from.sidesOf(g, doc); err != nil {
		return err
	}
	sc := &scope{}
	build := from.fromRows(g, sc, doc)
	sc.settle()
	return g.apply(ctx, sc, from.road, build)
}

// followGroup makes sure that the other group is there; --all-topics are then its topics.
func (o *resetOptions) followGroup(ctx context.Context, g *global) error {
	shot, err := g.look(ctx, &scope{groups: []string{o.fromGroup}}, lookOptions{})
	if err != nil {
		return err
	}
	if err := g.unknownGroups(shot); err != nil {
		return err
	}
	for _, k := range shot.Keys() {
		if r, _ := shot.Groups[0].Row(k); o.allTopics && r.Committed.Presence == offsets.Present {
			o.include(k)
		}
	}
	o.settle()
	return nil
}

// lookFrom reads what another group, from which a plan is made, has committed for the partitions of the snapshot.
func (g *global) lookFrom(ctx context.Context, group string, shot *offsets.Snapshot) error {
	commits, trouble := g.session.cluster.Commits(ctx, group, shot.Keys(), true)
	if trouble != nil {
		p := groupTrouble(group, trouble)
		p.code, p.text = exitRefused, p.text+"; nothing was written"
		if trouble.Unreachable {
			p.code = exitUnreachable
		}
		return p
	}
	shot.From = commits
	return nil
}

// followPast reads what the group had committed then; --all-topics are also the topics of that time.
func (o *resetOptions) followPast(ctx context.Context, g *global) (err error) {
	g.note("to what was committed at %s", sayInstant(o.instant))
	takes := func(k offsets.Key) bool { return offsets.Holds(o.selections, k) }
	if o.past, err = g.past(ctx, o.scope.groups[0], offsets.HistoryPolicy{Skip: offsets.None, Takes: takes, At: o.instant, Since: o.instant}); err != nil {
		return err
	}
	if o.past.read.Torn {
		return &problem{
			code: exitRefused, text: fmt.Sprintf("compaction went on during each of %d readings of the commits: what was committed then is not certain; nothing was written", o.past.read.Tries),
			hint: "run it again",
		}
	}
	if !o.allTopics {
		return nil
	}
	now, err := g.session.cluster.Ranges(ctx, slices.Sorted(maps.Keys(o.past.Topics)), false)
	if err != nil {
		return err
	}
	var gone []string
	for _, k := range offsets.SortKeys(slices.Collect(maps.Keys(o.past.Was))) {
		switch {
		case o.past.Was[k].State != offsets.WasCommitted:
		case now.Range(k).Gone():
			gone = append(gone, k.String())
		default:
			o.include(k)
		}
	}
	if len(gone) > 0 {
		g.note("left out, as it does not exist any more: %s", list(gone, 3))
	}
	shot, err := g.look(ctx, &scope{groups: o.scope.groups}, lookOptions{})
	if err != nil {
		return err
	}
	for _, k := range shot.Keys() {
		o.include(k)
	}
	o.settle()
	return nil
}
