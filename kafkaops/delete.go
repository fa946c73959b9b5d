package kafkaops

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// DeleteGroup deletes a group with all that it has. A broker refuses it while members are in the group. The result is Written,
// Failed with why, and the right that is missing if it is for want of one; or Unverified where no answer came. A coordinator on the
// move is tried again until ctx ends; what was sent and not answered is never sent again. Needs Kafka 1.1.
func (c *Cluster) DeleteGroup(ctx context.Context, group string) (offsets.Result, string, *offsets.Right) {
	w := writing{c: c, group: group}
	last, lacks := "the time was up", (*offsets.Right)(nil)
	for try := 0; try == 0 || pause(ctx, try); try++ {
		if try > 0 {
			c.wire.NewLook() // a broker that was away may be back
		}
		node, trouble, final := w.coordinator(ctx)
		if trouble != nil {
			last, lacks = trouble.Reason, trouble.Lacks("group", group)
			if final {
				break
			}
			continue
		}
		answers, err := c.wire.Do(ctx, node, func(v wire.Versions) ([]kmsg.Request, error) {
			q := kmsg.NewPtrDeleteGroupsRequest()
			q.Groups = []string{group}
			return []kmsg.Request{q}, v.Set(q, -1)
		})
		var e *wire.Error
		switch {
		case errors.As(err, &e) && e.Sent:
			return offsets.Unverified, err.Error(), nil
		case errors.As(err, &e) && ctx.Err() == nil && !refusedForGood(err):
			last = err.Error()
			continue
		case err != nil:
			return offsets.Failed, err.Error(), nil
		}
		for _, g := range answers[0].(*kmsg.DeleteGroupsResponse).Groups {
			switch code := g.ErrorCode; {
			case g.Group != group:
				continue
			case code == 0:
				return offsets.Written, "", nil
			case coordinatorMoved(code):
				last = wire.CodeText(code)
			case active(code):
				return offsets.Failed, "the group is active (" + wire.CodeName(code) + ")", nil
			case code == wire.CodeGroupAuthorization:
				lacks = &offsets.Right{Operation: "DELETE", On: "group", Name: group}
				return offsets.Failed, troubleCode(code, lacks.String()).Reason, lacks
			default:
				return offsets.Failed, wire.CodeText(code), nil
			}
		}
	}
	return offsets.Failed, last, lacks
}
