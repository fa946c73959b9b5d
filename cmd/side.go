package cmd

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gtoffset/kafkaops/offsets"
)

// sideFlags choose the side that a command writes.
type sideFlags struct {
	stored, committed bool
	both              string // what is said of giving both; "" if that makes no sense
	set               *pflag.FlagSet
}

func (s *sideFlags) flags(c *cobra.Command) {
	s.set = c.Flags()
	c.Flags().BoolVar(&s.stored, "stored", false, "the offsets in the store")
	c.Flags().BoolVar(&s.committed, "committed", false, "the commits in Kafka")
}

// validate checks that there is a store to be written, and that no side is left to be found out that was switched off.
func (s *sideFlags) validate(g *global) error {
	for _, side := range []string{"committed", "stored"} {
		if !s.stored && !s.committed && switchedOff(s.set, side) {
			return usage("--"+side+"=false, and no other side is named", "add --stored or --committed")
		}
	}
	if s.stored && g.store == "" {
		return needStore("--stored", "")
	}
	return nil
}

// choose returns the sides to write. Without a flag it is the one that has offsets; where both or neither have, it must be said.
func (s *sideFlags) choose(shot offsets.Snapshot) ([]offsets.Side, error) {
	switch {
	case s.stored && s.committed:
		return []offsets.Side{offsets.Stored, offsets.Committed}, nil
	case s.stored:
		return []offsets.Side{offsets.Stored}, nil
	case s.committed || shot.Origin.Store == "":
		return []offsets.Side{offsets.Committed}, nil
	}
	stored, committed := shot.Held()
	switch {
	case stored && committed:
		return nil, usage("both the store and the commits have offsets here", "add --stored or --committed"+s.both)
	case stored:
		return []offsets.Side{offsets.Stored}, nil
	case committed:
		return []offsets.Side{offsets.Committed}, nil
	default:
		return nil, usage("neither the store nor the commits have offsets here: a first run names its side", "add --stored or --committed")
	}
}
