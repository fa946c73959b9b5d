package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// waitEmpty looks again until no group is active and nobody holds the lock of its store, or the time is up; then the road refuses as
// it does without waiting.
func (w *writing) waitEmpty(ctx context.Context, shot offsets.Snapshot, o lookOptions) (offsets.Snapshot, error) {
	until := w.g.env.Now().Add(time.Duration(w.road.waitEmpty))
	for told := false; slices.ContainsFunc(shot.Groups, atWork) && w.g.env.Now().Before(until); told = true {
		if !told {
			what := "the members to leave"
			if !slices.ContainsFunc(shot.Groups, func(g offsets.Group) bool { return g.Active() }) {
				what = "whoever holds the store's lock"
			}
			w.g.note("waiting up to %s for %s", offsets.Span(time.Duration(w.road.waitEmpty)), what)
		}
		if err := wait(ctx, min(time.Second, time.Duration(w.road.waitEmpty))); err != nil {
			return shot, err
		}
		var err error
		if shot, err = w.g.look(ctx, w.scope, o); err != nil {
			return shot, err
		}
	}
	w.inVain = slices.ContainsFunc(shot.Groups, func(g offsets.Group) bool { return g.Active() })
	return shot, nil
}

func atWork(g offsets.Group) bool { return g.Active() || g.Locked() }

// watchIdle compares what stood at each end of the time: a job without members betrays itself by what it saves. It may save anything of
// the group: what is watched is not only what the plan is about.
func (w *writing) watchIdle(ctx context.Context, before offsets.Snapshot, o lookOptions) (offsets.Snapshot, error) {
	w.g.note("watching both sides for %s", offsets.Span(time.Duration(w.road.idle)))
	first, err := w.g.bothSides(ctx, before.Groups)
	if err != nil {
		return before, err
	}
	if err := wait(ctx, time.Duration(w.road.idle)); err != nil {
		return before, err
	}
	last, err := w.g.bothSides(ctx, before.Groups)
	if err != nil {
		return before, err
	}
	after, err := w.g.look(ctx, w.scope, o)
	if err != nil {
		return after, err
	}
	if blind := cmp.Or(offsets.Unread(first), offsets.Unread(last)); blind != "" {
		return after, &problem{code: exitRefused, text: "not watched: " + blind + "; nothing was written", hint: "--idle needs to read both sides; without -s it watches the commits alone"}
	}
	moved := offsets.Moved(first, last)
	for _, m := range offsets.Moved(before, after) {
		if !slices.Contains(moved, m) {
			moved = append(moved, m)
		}
	}
	if len(moved) > 0 {
		return after, &problem{
			code: exitRefused, causes: []cause{causeActive}, text: fmt.Sprintf("not idle: %s within %s; nothing was written", list(moved, 3), offsets.Span(time.Duration(w.road.idle))),
			hint: "stop the job first",
		}
	}
	return after.Troubled(first).Troubled(last), nil
}

// bothSides reads all that the groups have committed and stored, of whichever topics, and none of the topics themselves.
func (g *global) bothSides(ctx context.Context, groups []offsets.Group) (offsets.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(g.timeout))
	defer cancel()
	s, sc := g.session, &scope{}
	for _, grp := range groups {
		sc.groups = append(sc.groups, grp.ID)
	}
	s.cluster.NewLook()
	s.away = nil
	shot := offsets.Snapshot{Origin: s.origin, At: g.env.Now()}
	now, _, err := s.groups(ctx, sc)
	if err != nil {
		return shot, err
	}
	held := make([]offsetfile.Holding, len(now))
	if s.store != nil {
		if err := s.loadStored(ctx, sc, lookOptions{}, now, held); err != nil {
			return shot, err
		}
	}
	for i, grp := range now {
		shot.Groups = append(shot.Groups, offsets.Join(grp.Group, grp.Commits, held[i].Entries, nil, nil))
	}
	return shot, s.awayFrom()
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
