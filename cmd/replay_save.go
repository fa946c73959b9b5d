package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// alongTheRoad takes the one road, once, for all that will be saved: its plan ends where the replay is to end.
func (r *replay) alongTheRoad(ctx context.Context) error {
	o := r.o
	sc := &o.scope
	if o.saveAs != "" {
		sc = &scope{}
		for _, s := range r.stretches {
			if s.Verdict != offsets.Keep || s.From != offsets.None { // of what has no start there is nothing to keep
				sc.add(o.saveAs, s.Key)
			}
		}
		sc.settle()
		if len(sc.groups) == 0 {
			return r.leftOut()
		}
	}
	o.road.stable = o.committed()
	o.road.long = r.saving
	err := r.g.apply(ctx, sc, o.road, func(ctx context.Context, shot offsets.Snapshot) (offsets.Plan, error) {
		group, _ := shot.Group(o.keeper())
		from, resume := shot, map[offsets.Key]offsets.Entry(nil)
		if o.saveAs != "" {
			if group.Existence == offsets.Exists {
				return offsets.Plan{}, &problem{
					code: exitRefused, text: fmt.Sprintf("--save-as %s: Kafka knows a group of that name, whose job may go on from there; nothing was read", o.saveAs),
					hint: "--save-as " + quote(o.group+"-replay") + ", a name that no job has",
				}
			}
			from, resume = r.shot, map[offsets.Key]offsets.Entry{}
			for _, row := range group.Rows {
				resume[row.Key] = row.Stored
			}
		}
		var err error
		if r.stretches, err = r.decide(ctx, from, resume); err != nil {
			return offsets.Plan{}, err
		}
		r.shot.Origin = shot.Origin
		return offsets.ReplayPlan(shot, group, r.stretches), nil
	})
	return errors.Join(err, r.missing())
}

// saving reads and saves, batch by batch, and leaves in the plan how far it came.
func (r *replay) saving(ctx context.Context, w *writing) error {
	planned := w.plan
	r.follow(planned)
	group, _ := w.fresh.Group(r.o.keeper())
	k := &keeping{r: r, w: w, seen: *group.Store, writer: w.locks[group.ID], reached: map[offsets.Key]int64{}, last: map[offsets.Key]offsets.Change{}}
	for _, c := range planned.Each() {
		k.reached[c.Key] = c.Old.Offset
	}
	err := r.read(ctx, k.save)
	w.plan = offsets.Reached(planned, k.last)
	another := w.plan.Count().Unknown > 0 // without an answer the save before may be what stands
	switch {
	case len(k.last) == 0: // also after a second interrupt, behind which nobody settles the backup
		err = errors.Join(err, w.unsave())
	case w.plan.Undo != "" && offsets.Short(planned, w.plan):
		if berr := w.backupAgain(w.plan); berr != nil {
			w.g.note("the backup says still how far the replay was to come: %v", berr)
			another = true
		}
	}
	if w.plan.Undo != "" && another {
		w.plan.Undo += " --moved overwrite"
	}
	return err
}

// follow takes over what the road has decided meanwhile about single partitions.
func (r *replay) follow(p offsets.Plan) {
	verdicts := map[offsets.Key]*offsets.Change{}
	for _, c := range p.Each() {
		verdicts[c.Key] = c
	}
	for i, s := range r.stretches {
		c := verdicts[s.Key]
		switch {
		case s.Verdict != offsets.Write || c == nil:
		case c.Verdict == offsets.Refuse:
			r.stretches[i].Verdict, r.stretches[i].Reason = offsets.Refuse, c.Reason
		case c.Result == offsets.Already:
			r.stretches[i].Verdict, r.stretches[i].Reason = offsets.Keep, "it is there already"
		}
	}
}

// keeping saves through the store what was accepted. Each save rests on the one before: what another writes in between is noticed.
type keeping struct {
	r       *replay
	w       *writing
	writer  offsetfile.Writer
	seen    offsets.Store
	reached map[offsets.Key]int64          // what the store says
	last    map[offsets.Key]offsets.Change // the last save that stands, or of which no answer came: what was refused changed nothing
}

func (k *keeping) save(ctx context.Context, reached []offsets.Slice) error {
	changes := make([]offsets.Change, len(reached))
	pg := k.w.plan.Groups[0]
	facts := k.w.facts(pg)
	for i, s := range reached {
		changes[i] = offsets.Change{
			Key: s.Key, Side: offsets.Stored, TopicID: facts.TopicIDs[s.Topic], Verdict: offsets.Write, Target: offsets.Fixed,
			Old: offsets.Value{Offset: k.reached[s.Key], Epoch: offsets.None}, New: offsets.Value{Offset: s.Until, Epoch: offsets.None},
		}
	}
	ctx, cancel := context.WithTimeout(ctx, max(time.Duration(k.w.g.timeout), writeWait))
	defer cancel()
	changes, k.seen = k.writer.Save(ctx, k.seen, changes, facts)
	var failed error
	for _, c := range changes {
		if c.Result != offsets.Written && c.Result != offsets.Already {
			failed = cmp.Or(failed, errors.New(c.Key.String()+": "+cmp.Or(c.Error, string(c.Result))))
			if c.Result == offsets.Unverified {
				c.Pending = true // it never counts as untouched: the save before may stand
				k.last[c.Key] = c
			}
			continue
		}
		if c.Error != "" {
			k.w.g.note("%s: %s", c.Key, c.Error)
		}
		c.Result, c.Error = offsets.Written, ""
		k.last[c.Key], k.reached[c.Key] = c, c.New.Offset
		k.r.mu.Lock()
		k.r.lanes[c.Key].saved = c.New.Offset
		k.r.mu.Unlock()
	}
	return failed
}
