package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"gtoffset/kafkaops"
	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/records"
	"gtoffset/kafkaops/wire"
	"gtoffset/output"
)

type historyOptions struct {
	scope
	group        string
	all          bool
	since, until string
	skip         int64

	policy offsets.HistoryPolicy
}

func newHistory(g *global) *cobra.Command {
	o := &historyOptions{}
	c := &cobra.Command{
		Use: "history",
		Long: `Use it when offsets are not where they were. It shows what a group committed before, as far as Kafka's own topic of commits
still tells: moves back, changes by anybody who was not a member of the group, deletions, and commits of transactions that
never took effect. What members commit as they go forward is counted, and listed with --all. The last line is the command that
brings back what stood before the last such move that was not put right since. It reads only, and needs READ on the topic __consumer_offsets.

Dangers: it is no proof. Compaction takes what is older than some hours or days; from when on nothing is missing is said.
Kafka records no names: whoever commits while nobody is in the group is "not a member", a tool or a consumer that assigns its
partitions by hand.`,
		Example: `  gtoffset history -g billing
  gtoffset history -g billing -t orders --since 2h
  gtoffset history -g billing --all --since 2026-11-29 --until 2026-11-30
  gtoffset history -g billing --skip 100000 -o json`,
		Args: takes(0, 0, "did you mean -g %s?"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(g, c); err != nil {
				return err
			}
			return runHistory(c.Context(), g, o)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.group, "group", "g", "", "consumer `GROUP`")
	f.StringArrayVarP(&o.topics, "topic", "t", nil, "`TOPIC`[:0,1,4-7], all of its partitions or those named; repeatable")
	f.BoolVar(&o.all, "all", false, "every commit, and every change of who is in the group")
	numberVar(f, &o.skip, "skip", offsets.None, "also steps forward of members that are larger than `N`")
	f.StringVar(&o.since, "since", "", "only what happened at or after the `TIME`: 2026-11-29T12:00:00.000Z, or 2h for two hours ago")
	f.StringVar(&o.until, "until", "", "only what happened at or before the `TIME`")
	formats(c, output.History{}.Formats()...)
	return c
}

func (o *historyOptions) validate(g *global, c *cobra.Command) error {
	if !c.Flags().Changed("group") {
		return usage("no group is named", "add -g GROUP")
	}
	if err := o.scope.validate(); err != nil {
		return err
	}
	if o.all && c.Flags().Changed("skip") {
		return usage("--all shows every step, and --skip some of them", "leave one of them out")
	}
	if c.Flags().Changed("skip") && o.skip < 0 {
		return usage(fmt.Sprintf("--skip %d is negative", o.skip), "--skip 100000 shows the steps that are larger")
	}
	p := offsets.HistoryPolicy{All: o.all, Skip: o.skip, Takes: func(k offsets.Key) bool { return offsets.Holds(o.selections, k) }}
	for _, bound := range []struct {
		flag, text string
		at         *time.Time
	}{{"--since", o.since, &p.Since}, {"--until", o.until, &p.Until}} {
		if !c.Flags().Changed(strings.TrimPrefix(bound.flag, "--")) {
			continue
		}
		now := g.env.Now()
		at, err := parseInstant(bound.text, time.UTC, now)
		if err != nil {
			return badSpan(bound.flag, err)
		}
		wholeDay := bound.flag == "--until" && len(bound.text) == len(time.DateOnly) // today is until tomorrow
		if err := ahead(bound.flag, bound.text, at, now, time.UTC, wholeDay, "or leave it out"); err != nil {
			return err
		}
		if bound.flag == "--since" && at.Sub(now) > clocksApart {
			return usage(fmt.Sprintf("--since %s is ahead; the clock here says %s", sayInstant(at), sayInstant(now)), "--since 2h is two hours ago")
		}
		*bound.at = at
	}
	if !p.Since.IsZero() && !p.Until.IsZero() && p.Until.Before(p.Since) {
		return usage(fmt.Sprintf("--until %s is before --since %s", sayInstant(p.Until), sayInstant(p.Since)), "swap them")
	}
	o.policy = p
	return nil
}

func runHistory(ctx context.Context, g *global, o *historyOptions) error {
	g.store = "" // one may be named in the environment, for other commands: it has no history
	p, err := g.past(ctx, o.group, o.policy)
	if err != nil {
		return err
	}
	if err := g.unrecorded(ctx, &o.scope, p); err != nil {
		return err
	}
	view := output.History{
		Origin: g.session.origin, At: g.env.Now(), Group: p.group, History: p.History, Retention: p.retention,
		Partition: p.log.Partition, Partitions: p.log.Partitions, Bytes: p.read.Bytes, Torn: p.read.Torn, Hint: p.undo(ctx, g),
		Since: o.policy.Since, Until: o.policy.Until,
	}
	if err := view.Write(g.out(), output.Format(g.format)); err != nil {
		return err
	}
	return p.doubts()
}

// past is what was read of a group's history.
type past struct {
	offsets.History
	group     offsets.Group
	log       kafkaops.PastLog
	read      kafkaops.PastRead
	retention time.Duration // of commits, 0 if not known
}

// pastMemory is how much is held of what was fetched: one piece is read while the next ones come.
const pastMemory = 12 << 20

// muchRead is more than a log that is compacted can have: a segment and little else.
const muchRead = 1_000_000_000

// past reads what the cluster still has of a group's past. Only the look before the reading is bounded by --timeout.
func (g *global) past(interrupt context.Context, group string, policy offsets.HistoryPolicy) (past, error) {
	p := past{}
	commits, err := g.beforePast(interrupt, group, &p)
	if err := cmp.Or(interrupt.Err(), err); err != nil {
		return p, err
	}
	for again := false; ; again = true {
		if err := g.readPast(interrupt, policy, &p); err != nil {
			return p, err
		}
		if p.Records > 0 || commits == 0 || again {
			break
		}
		if p.log, err = g.session.cluster.Past(interrupt, group); err != nil { // were they made after the log was measured?
			return p, noPast(err)
		}
	}
	if p.Records == 0 {
		if err := p.nothing(g, commits); err != nil {
			return p, err
		}
	}
	p.lookUp(interrupt, g)
	return p, nil
}

// readPast reads the log, and makes a history of it.
func (g *global) readPast(interrupt context.Context, policy offsets.HistoryPolicy, p *past) (err error) {
	var h *offsets.Historian
	shown, stop := g.pastProgress(p.log)
	p.read, err = g.session.cluster.ReadPast(interrupt, p.log, kafkaops.PastReading{
		Progress: shown, Options: records.Options{Memory: pastMemory, Log: g.log()},
		Begin: func() func(*offsets.LogRecord) {
			h = offsets.NewHistorian(policy)
			return h.Add
		},
	})
	stop()
	if err != nil {
		return noPast(err)
	}
	p.History = h.End(p.read.Complete)
	p.Strange += p.read.Strange
	return nil
}

// beforePast finds the log and the group, and says what cannot be told. It returns how many commits the group has now.
func (g *global) beforePast(interrupt context.Context, group string, p *past) (commits int, err error) {
	ctx, cancel := context.WithTimeout(interrupt, time.Duration(g.timeout))
	defer cancel()
	s, err := g.connect(ctx)
	if err != nil {
		return 0, err
	}
	if p.log, err = s.cluster.Past(ctx, group); err != nil {
		return 0, noPast(err)
	}
	found, _, err := s.cluster.Groups(ctx, []string{group}, nil)
	if err != nil {
		return 0, err
	}
	p.group = found[0].Group
	if p.group.Type == offsets.Share {
		return 0, &problem{code: exitRefused, causes: []cause{causeUnsupported}, text: fmt.Sprintf("%q is a share group: it has no commits, and what the broker keeps of it has no history", group), hint: g.typed("describe", "-g", group) + " shows where it starts"}
	}
	return len(found[0].Commits), nil
}

// noPast is the error of a cluster that does not tell of the past.
func noPast(err error) error {
	var no *kafkaops.NoPastError
	var damaged *records.DamagedError
	switch {
	case errors.As(err, &no) && no.Away:
		return &problem{code: exitUnreachable, text: no.Error(), hint: "run it again when the broker is back"}
	case errors.As(err, &no) && no.Denied:
		return &problem{code: exitRefused, lacks: &offsets.Right{Operation: "READ", On: "topic", Name: wire.OffsetsTopic}, text: no.Error()}
	case errors.As(err, &no):
		return &problem{code: exitRefused, causes: []cause{causeUnsupported}, text: no.Error()}
	case errors.As(err, &damaged):
		return &problem{code: exitPartly, causes: []cause{causeDamaged}, text: err.Error() + "; nothing of the history is shown", hint: "another replica may have it whole: let that lead the partition"}
	}
	return err
}

// nothing is the error of a log without a record of the group; nil if that is an answer.
func (p *past) nothing(g *global, commits int) error {
	at := fmt.Sprintf("partition %d of %s", p.log.Partition, wire.OffsetsTopic)
	switch {
	case commits > 0:
		return &problem{code: exitRefused, causes: []cause{causeUnsupported}, text: fmt.Sprintf("group %q has commits, but %s, where Apache Kafka would keep them, has none of it: this cluster places groups otherwise (Redpanda does), and where is not known", p.group.ID, at)}
	case p.group.Existence == offsets.Missing, p.group.ID == "" && p.group.Existence != offsets.Exists:
		none := g.noGroup(p.group.ID)
		none.text += fmt.Sprintf(", and %s has no record of it (%s)", at, p.Complete)
		return none
	}
	return nil
}

// lookUp asks the cluster for what the log does not say of its events: how long commits are kept, where some were deleted, and what
// transactions are called. What it does not tell is shown as not known.
func (p *past) lookUp(interrupt context.Context, g *global) {
	ctx, cancel := context.WithTimeout(interrupt, time.Duration(g.timeout))
	defer cancel()
	removed := slices.ContainsFunc(p.Events, func(e offsets.HistoryEvent) bool { return e.By == offsets.TheBroker })
	if at := p.group.Coordinator; removed && at >= 0 {
		p.retention = g.session.cluster.CommitRetention(ctx, []int32{at})[at]
	}
	if producers := p.Producers(); len(producers) > 0 {
		p.Name(g.session.cluster.Transactions(ctx, producers))
	}
}

// doubts is the error of a history in which something may be missing that nothing else tells of.
func (p *past) doubts() error {
	var errs []error
	if p.read.Torn {
		errs = append(errs, &problem{code: exitPartly, text: fmt.Sprintf("compaction went on during each of %d readings: older commits may be missing here that are still recorded", p.read.Tries), hint: "run it again"})
	}
	if p.Strange > 0 {
		errs = append(errs, &problem{code: exitPartly, causes: []cause{causeDamaged}, text: offsets.Plural(int(p.Strange), "record") + " of the group could not be read: a negative offset, or a form that gtoffset does not know"})
	}
	return errors.Join(errs...)
}

// undo is the command that brings back what stood before the last move that somebody may regret, or why that is not possible and what is;
// "" if there was none, or if the topics are gone.
func (p *past) undo(interrupt context.Context, g *global) string {
	unknown := func(offsets.Key) offsets.Range { return offsets.Range{} } // nothing speaks against it
	if len(p.Undo(unknown)) == 0 {
		return ""
	}
	ctx, cancel := context.WithTimeout(interrupt, time.Duration(g.timeout))
	defer cancel()
	now := unknown
	if known, err := g.session.cluster.Ranges(ctx, slices.Sorted(maps.Keys(p.Topics)), false); err == nil {
		now = known.Range
	}
	way := p.Return(now)
	line := func(selections []offsets.Selection, target ...string) string {
		words := []string{"reset", "-g", p.group.ID}
		for _, s := range selections {
			words = append(words, "-t", s.String())
		}
		words = append(words, target...)
		if p.Gone && p.group.Existence == offsets.Missing {
			words = append(words, "--create")
		}
		return g.typed(words...)
	}
	before := offsets.Clock(way.Before)
	at := []string{"--to-commit-at", way.Before.Add(-time.Millisecond).UTC().Format("2006-01-02T15:04:05.000Z")}
	stay, fresh := inWords(way.Other), inWords(way.Fresh)
	switch {
	case len(way.Back) == 0 && stay == "":
		return ""
	case len(way.Back) == 0:
		return stay + " cannot return to before " + before + ": the topic was recreated or cut back since, and what was committed then means nothing in it; to read it from its beginning: " + line(way.Other, "--to-earliest")
	case way.Expired:
		before, at = before+", as far as it has not expired since", append(at, "--clamp")
	}
	if stay != "" {
		stay += " cannot: the topic was recreated, or ends below what stood then; "
	}
	if fresh != "" {
		stay += fresh + " had no commit before, and will keep the new one; "
	}
	return stay + "to return to before " + before + ": " + line(way.Back, at...)
}

// unrecorded refuses topics and partitions that were named, but that neither the log nor the cluster knows.
func (g *global) unrecorded(interrupt context.Context, sc *scope, p past) error {
	var missing []offsets.Key
	for _, s := range sc.selections {
		for _, n := range s.Partitions {
			if _, recorded := slices.BinarySearch(p.Topics[s.Topic], n); !recorded {
				missing = append(missing, offsets.Key{Topic: s.Topic, Partition: n})
			}
		}
		if len(s.Partitions)+len(p.Topics[s.Topic]) == 0 {
			missing = append(missing, offsets.Key{Topic: s.Topic})
		}
	}
	if len(missing) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(interrupt, time.Duration(g.timeout))
	defer cancel()
	known, err := g.session.cluster.Ranges(ctx, sc.topicNames(), false)
	if err != nil {
		return cmp.Or(interrupt.Err(), err)
	}
	unheard := g.notThere(known, missing, slices.Sorted(maps.Keys(p.Topics)))
	if unheard == nil {
		return nil
	}
	unheard.text += ", and there is no record of it"
	unheard.hint = cmp.Or(unheard.hint, g.typed("describe", "-g", p.group.ID)+" shows the group's topics")
	return unheard
}

// pastProgress shows on stderr how far a long reading is.
func (g *global) pastProgress(log kafkaops.PastLog) (shown func(at, bytes int64), over func()) {
	var place, size atomic.Int64
	place.Store(log.Earliest)
	much := false
	over = g.progress(func() string {
		if !much && size.Load() > muchRead {
			much = true
			g.progressLine()("")
			g.note("%s of partition %d of %s read so far: compaction seems to stand still there (an open transaction, or the broker's cleaner has died)", output.Bytes(size.Load()), log.Partition, wire.OffsetsTopic)
		}
		return fmt.Sprintf("%s of %s %d read (%d%%)", output.Bytes(size.Load()), wire.OffsetsTopic, log.Partition, 100*(place.Load()-log.Earliest)/max(log.End-log.Earliest, 1))
	})
	return func(at, bytes int64) { place.Store(at); size.Store(bytes) }, over
}
