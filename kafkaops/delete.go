package kafkaops

import (
	"context"
	"errors"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// DeleteGroup deletes a group with all that it has. A broker refuses it while members are in the group; it is refused here if the group
// has, or an open transaction is going to commit, what is not in changes, which are the commits that it had. What comes back has the
// Result Written, Already if another deleted it just before, Failed with why, and the right that is missing if it is for want of one; or
// Unverified where no answer came. Failed is in Doubt where an answer does not rule out that it was deleted. A coordinator on the move is
// tried again until ctx ends; what was sent and not answered is never sent again. Needs Kafka 1.1.
func (c *Cluster) DeleteGroup(ctx context.Context, group string, had []offsets.Change) offsets.Change {
	w := writing{c: c, group: group, changes: slices.Clone(had)}
	done := offsets.Change{Result: offsets.Failed, Error: "the time was up"}
	sent := false // and answered as by a coordinator that moves, which may have done it all the same
	for try := 0; try == 0 || pause(ctx, try); try++ {
		if try > 0 {
			c.wire.NewLook() // a broker that was away may be back
		}
		node, trouble := w.coordinator(ctx, try)
		if trouble == nil {
			done.Error, trouble = w.more(ctx, node)
		}
		switch {
		case trouble == nil && done.Error != "":
			done.Refused, done.Moved = !sent, !sent
			return done
		case trouble != nil:
			done.Error, done.Lacks = trouble.Reason, trouble.Lacks("group", group)
			if trouble.Denied {
				return done
			}
			continue
		}
		done.Lacks = nil
		answers, err := c.wire.Do(ctx, node, func(v wire.Versions) ([]kmsg.Request, error) {
			q := kmsg.NewPtrDeleteGroupsRequest()
			q.Groups = []string{group}
			return []kmsg.Request{q}, v.Set(q, -1)
		})
		var e *wire.Error
		switch {
		case errors.As(err, &e) && e.Sent:
			done.Result, done.Error, done.Pending = offsets.Unverified, err.Error(), true
			return done
		case errors.As(err, &e) && ctx.Err() == nil && !refusedForGood(err):
			done.Error = err.Error()
			continue
		case err != nil:
			done.Error = err.Error()
			return done
		}
		done.Error = unnamed
		for _, g := range answers[0].(*kmsg.DeleteGroupsResponse).Groups {
			switch code := g.ErrorCode; {
			case g.Group != group:
				continue
			case code == 0, code == wire.CodeGroupNotFound && sent:
				done.Result, done.Error, done.Pending, done.Doubt = offsets.Written, "", false, false
				return done
			case code == wire.CodeGroupNotFound: // another has deleted it since it was read
				done.Result, done.Error = offsets.Already, ""
				return done
			case code == wire.CodeCoordinatorLoading: // and so not reached yet
				done.Error = wire.CodeText(code)
			case coordinatorMoved(code):
				done.Result, done.Error, done.Pending, sent = offsets.Unverified, wire.CodeText(code), true, true
			case code == wire.CodeRequestTimedOut: // it may have been stored by too few brokers
				done.Result, done.Error, done.Pending = offsets.Unverified, wire.CodeText(code), true
				return done
			case active(code): // after a try that may have deleted it, those who have joined may have made it anew
				done.Result, done.Pending, done.Doubt = offsets.Failed, false, sent
				done.Error, done.Refused = "the group is active ("+wire.CodeName(code)+")", true
				return done
			case code == wire.CodeGroupAuthorization:
				done.Lacks = &offsets.Right{Operation: "DELETE", On: "group", Name: group}
				done.Error = troubleCode(code, done.Lacks.String()).Reason
				return done
			default:
				done.Error, done.Doubt = wire.CodeText(code), done.Doubt || !refusal(code)
				return done
			}
		}
		if done.Error == unnamed {
			done.Doubt, sent = true, true
		}
	}
	return done
}

// partitions names all partitions that a job may read.
func (c *Cluster) partitions(ctx context.Context) (map[string][]int32, error) {
	topics, err := c.Topics(ctx)
	if err != nil {
		return nil, err
	}
	named := map[string][]int32{}
	for name, n := range topics {
		for p := range int32(n) {
			if !offsets.Internal(name) {
				named[name] = append(named[name], p)
			}
		}
	}
	return named, nil
}

// more says what a group has, or is going to have, beyond the commits that it had, "" if there is nothing. What is only pending is told
// of partitions that are named: so all that there are have to be.
func (w *writing) more(ctx context.Context, node int32) (string, *offsets.Trouble) {
	named, err := w.c.partitions(ctx)
	if err != nil {
		return "", troubleOf(err)
	}
	had := map[offsets.Key]offsets.Change{}
	for _, c := range w.changes {
		had[c.Key] = c
	}
	for _, of := range []map[string][]int32{nil, named} {
		if of != nil && len(of) == 0 {
			continue // there are none; nil stands for all
		}
		now, trouble := w.standing(ctx, node, of)
		if trouble != nil {
			return "", trouble
		}
		first, said := offsets.Key{}, ""
		for k, e := range now {
			c, known := had[k]
			if !known {
				c.Old.Offset, c.New.Offset = offsets.None, offsets.None
			}
			c.Doubt = true // gone already is as good
			if why := c.Overtaken(e); why != "" && e.Presence != offsets.Denied && (said == "" || k.Compare(first) < 0) {
				first, said = k, k.String()+": "+why
			}
		}
		if said != "" {
			return said, nil
		}
	}
	return "", nil
}
