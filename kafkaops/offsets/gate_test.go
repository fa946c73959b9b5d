package offsets_test

import (
	"strings"
	"testing"

	"gtoffset/kafkaops/offsets"
)

// Consumers that only the store knows keep a group active as members do, on either side.
func TestGateUsersOfTheStore(t *testing.T) {
	for _, side := range []offsets.Side{offsets.Stored, offsets.Committed} {
		s := group(stored(known(100, 200), offsets.At(5)), committed(known(100, 200), offsets.At(5)))
		s.Groups[0].Store.Users = []string{"billing_host1", "billing_host2"}
		plan := offsets.Gate(offsets.Clamp(s, offsets.ClampPolicy{Sides: []offsets.Side{side}}), s, true)
		refused := plan.Has(func(c *offsets.Change) bool {
			return c.Verdict == offsets.Refuse && strings.Contains(c.Reason, "is active: 2 consumers registered in the store (billing_host1, billing_host2)") && c.Choice == "--wait-empty 60s"
		})
		if !refused || plan.ToDo() > 0 {
			t.Errorf("%s: got %+v, want it refused", side, plan.All())
		}
	}
}
