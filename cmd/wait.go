package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"gtoffset/kafkaops/offsets"
	"gtoffset/output"
)

type waitOptions struct {
	scope
	empty    bool
	lag      int64
	caughtUp bool
	at       patience
}

func newWait(g *global) *cobra.Command {
	o := &waitOptions{at: patience(5 * time.Minute)}
	c := &cobra.Command{
		Use: "wait",
		Long: `Use it in scripts, before a write or after a restart. It looks again and again, politely, until every condition given holds
for every partition and group named. It reads only.

Dangers: a job that assigns partitions by hand is never a member: --empty does not see it, --idle of a write does. A lag that stays at 1 may be a transaction's marker, which no consumer reads: allow for it with --lag 1.`,
		Example: `  gtoffset wait -g billing --empty --for 60s
  gtoffset wait -g billing --lag 5000 --for 10m
  gtoffset wait -g billing -s offsets --stored-caught-up`,
		Args: takes(0, 0, "did you mean -g %s?"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(g, c); err != nil {
				return err
			}
			return runWait(c.Context(), g, o)
		},
	}
	o.flags(c)
	f := c.Flags()
	f.BoolVar(&o.empty, "empty", false, "no member is in the group, and nobody holds the lock of its store, if one is named")
	numberVar(f, &o.lag, "lag", offsets.None, "no partition's lag is above `N`")
	f.BoolVar(&o.caughtUp, "stored-caught-up", false, "the store has reached what is committed")
	f.Var(&o.at, "for", "wait at most `DURATION`, or look once with 0")
	formats(c, output.Table, output.JSON, output.YAML)
	return c
}

func (o *waitOptions) validate(g *global, c *cobra.Command) error {
	if err := o.scope.validate(); err != nil {
		return err
	}
	if err := o.needGroup(); err != nil {
		return err
	}
	switch {
	case c.Flags().Changed("lag") && o.lag < 0:
		return usage(fmt.Sprintf("--lag %d is negative", o.lag), "--lag 0 waits for the end")
	case !o.empty && !o.caughtUp && o.lag == offsets.None:
		return usage("no condition is named", "add --empty, --lag N or --stored-caught-up")
	case o.caughtUp && g.store == "":
		return needStore("--stored-caught-up", "")
	}
	if !o.empty && !o.caughtUp {
		g.withoutStore()
	}
	return nil
}

// poll is how often a wait looks: soon at first, then less and less often.
const (
	pollFirst = 500 * time.Millisecond
	pollLast  = 5 * time.Second
)

func runWait(ctx context.Context, g *global, o *waitOptions) error {
	start := g.env.Now()
	conditions := offsets.Conditions{Empty: o.empty, MaxLag: o.lag, CaughtUp: o.caughtUp, Named: !o.listed()}
	progress := g.progressLine()
	defer progress("")
	open := []string{"the first look was not over"}
	ended := func(shot offsets.Snapshot, why error) error { // a document says how far it came, also where it was stopped
		view := output.Wait{Origin: shot.Origin, Waited: g.env.Now().Sub(start), Open: open}
		return errors.Join(view.Write(g.out(), output.Format(g.format)), why)
	}
	for looks, pause := 1, pollFirst; ; looks, pause = looks+1, min(pause*3/2, pollLast) {
		shot, err := g.look(ctx, &o.scope, lookOptions{epochs: true, sparing: o.caughtUp, firsts: true})
		if err == nil {
			err = errors.Join(g.lookTroubles(shot, &o.scope), brokenRows(shot, conditions.Asks))
		}
		waited := g.env.Now().Sub(start)
		left := time.Duration(o.at) - waited
		switch {
		case ctx.Err() != nil:
			return ended(shot, cmp.Or(err, ctx.Err()))
		case err == nil:
			open = offsets.Open(shot, conditions)
		case looks == 1: // what cannot be read from the start is a mistake; later it may pass
			return err
		case left <= 0:
			open = []string{err.Error()}
			return ended(shot, err)
		default:
			open = []string{err.Error()}
		}
		if len(open) == 0 || left <= 0 {
			progress("")
			view := output.Wait{Origin: shot.Origin, Waited: waited, Open: open}
			if len(open) == 0 {
				view.Notes = conditions.Unseen(shot)
			}
			if f := output.Format(g.format); f == "" || f == output.Table { // a document has them
				for _, n := range view.Notes {
					g.note("%s", n)
				}
			}
			if err := view.Write(g.out(), output.Format(g.format)); err != nil {
				return err
			}
			if len(open) > 0 {
				return g.notMet(shot, o, conditions, open)
			}
			return nil
		}
		progress(fmt.Sprintf("%s left: %s", offsets.Span(left.Round(time.Second)), open[0]))
		if err := wait(ctx, min(pause, left)); err != nil {
			return ended(shot, err)
		}
	}
}

// notMet is the end of a wait whose time is up.
func (g *global) notMet(shot offsets.Snapshot, o *waitOptions, c offsets.Conditions, open []string) error {
	p := &problem{code: exitNotMet, text: fmt.Sprintf("not met within %s: %s", offsets.Span(time.Duration(o.at)), list(open, 3)), hint: "--for 30m waits longer"}
	if grp, stuck := offsets.Stuck(shot, c); stuck {
		what := g.stuckHint(shot, grp, o)
		switch {
		case grp.Type == offsets.Share && c.CaughtUp:
			what = "--lag 0 without --stored-caught-up waits for its end"
		case what == "":
			what = "what is wrong with it: " + g.lineOf(grp, "describe", nil, "--problems")
		}
		if p.hint = "waiting longer does not mend that; " + what; what == g.transaction(grp.ID) {
			p.hint = what // the transaction ends: waiting does help
		}
	}
	return p
}

// stuckHint is the next step where waiting does not help: for a wait for the lag alone one of the commits, as no entry of a store ends it.
func (g *global) stuckHint(shot offsets.Snapshot, grp offsets.Group, o *waitOptions) string {
	if !o.caughtUp && grp.Store != nil {
		stored := grp.Select(o.selections, func(r *offsets.Row) bool {
			j := offsets.JudgeRow(r, shot.Origin.Cluster, true)
			return r.Range.Known() && r.Stored.Presence == offsets.Present && r.Committed.Presence == offsets.Absent && !r.Committed.Pending && j.Stored.CountedLag() != offsets.None
		})
		if len(stored) > 0 {
			return "only the store has an offset of these; to commit it: " + g.lineOf(grp, "reset", stored, "--to-stored")
		}
		g.store, grp.Store, grp.Rows = "", nil, slices.Clone(grp.Rows)
		grp.Read(offsets.Stored, nil)
	}
	return g.hint(shot, grp, &o.scope)
}
