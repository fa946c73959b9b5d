package kafkaops

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// DeleteGroup deletes a group with all that it has. A broker refuses it while members are in the group. The result is Written,
// Failed with why, or Unverified where no answer came. A coordinator on the move is tried again until ctx ends; what was sent and
// not answered is never sent again. Needs Kafka 1.1.
func (c *Cluster) DeleteGroup(ctx context.Context, group string) (offsets.Result, string) {
	w := writing{c: c, group: group}
	last := "the time was up"
	for try := 0; try == 0 || pause(ctx, try); try++ {
		if try > 0 {
			c.wire.NewLook() // a broker that was away may be back
		}
		node, trouble, final := w.coordinator(ctx)
		if trouble != nil {
			last = trouble.Reason
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
			return offsets.Unverified, err.Error()
		case errors.As(err, &e) && ctx.Err() == nil && !refusedForGood(err):
			last = err.Error()
			continue
		case err != nil:
			return offsets.Failed, err.Error()
		}
		for _, g := range answers[0].(*kmsg.DeleteGroupsResponse).Groups {
			switch code := g.ErrorCode; {
			case g.Group != group:
				continue
			case code == 0:
				return offsets.Written, ""
			case coordinatorMoved(code):
				last = wire.CodeText(code)
			case active(code):
				return offsets.Failed, "the group is active (" + wire.CodeName(code) + ")"
			default:
				return offsets.Failed, troubleCode(code, "DELETE on group "+group).Reason
			}
		}
	}
	return offsets.Failed, last
}
