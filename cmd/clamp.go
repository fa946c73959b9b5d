package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"gtoffset/kafkaops/offsets"
)

type clampOptions struct {
	scope
	road
	sideFlags
	high         string
	recreated    string
	missing      string
	otherCluster bool
	gone         string
}

func newClamp(g *global) *cobra.Command {
	o := &clampOptions{sideFlags: sideFlags{both: ", or both: each is then corrected by its own value"}}
	c := &cobra.Command{
		Use: "clamp",
		Long: `Use it when describe says low, high, recreated, gone or no entry, before the job starts again. An offset below earliest goes to earliest, one
above the end to the end, a first run starts at earliest. One in range is never changed, however far behind. Where the number
alone cannot tell (a recreated topic, a lost entry, another cluster) it asks, or refuses and names the flag that decides. With
--all-groups or --group-regex the store is left alone for groups of which it has nothing, unless --missing is given.

Dangers: what has expired stays lost, and --high end skips what can still be read. A job that is running
would overwrite it: a group with members is refused.`,
		Example: `  gtoffset clamp -g billing -t orders -s offsets --stored --dry-run
  gtoffset clamp -g billing --committed --execute
  gtoffset clamp -g billing -s offsets --stored --high earliest --execute
  gtoffset clamp -g billing -s offsets --stored --committed --wait-empty 60s
  gtoffset clamp --all-groups --committed --check`,
		Args: takes(0, 0, "did you mean -g %s?"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(g); err != nil {
				return err
			}
			return runClamp(c.Context(), g, o)
		},
	}
	o.scope.flags(c)
	o.sideFlags.flags(c)
	f := c.Flags()
	choose(f, &o.high, "high", "", "where an offset above the end goes, whatever the topic's identity", "end", "earliest")
	choose(f, &o.recreated, "recreated", "", "where an offset of a topic that was recreated goes; keep: left at the same number", "end", "earliest", "keep")
	choose(f, &o.missing, "missing", "", "what an entry that only the other side has becomes", "other", "earliest")
	f.BoolVar(&o.otherCluster, "other-cluster", false, "correct entries that were recorded for another cluster")
	choose(f, &o.gone, "gone", "", "remove the store's entries of partitions that do not exist any more, which are left otherwise", "remove")
	f.BoolVar(&o.salvage, "salvage", false, "read the whole lines of a damaged entry; what is lost counts as no entry, and --missing decides")
	o.road.flags(c)
	o.createFlag(c)
	return c
}

func (o *clampOptions) validate(g *global) error {
	o.command, o.epochs = "clamp", true
	if err := o.scope.validate(); err != nil {
		return err
	}
	if err := o.needGroup(); err != nil {
		return err
	}
	if err := o.sideFlags.validate(g); err != nil {
		return err
	}
	switch {
	case g.store == "" && o.missing == "other":
		return needStore("--missing other", "")
	case g.store == "" && o.salvage:
		return needStore("--salvage", "")
	case g.store == "" && o.gone != "":
		return needStore("--gone remove", "")
	}
	o.sparing = o.missing == "" // who says what a missing entry becomes has said it of all
	return o.road.validate(g)
}

func runClamp(ctx context.Context, g *global, o *clampOptions) error {
	return g.apply(ctx, &o.scope, o.road, func(_ context.Context, shot offsets.Snapshot) (offsets.Plan, error) {
		sides, err := o.choose(shot)
		if err != nil {
			return offsets.Plan{}, err
		}
		return offsets.Clamp(shot, offsets.ClampPolicy{
			Sides: sides,
			High:  map[string]offsets.Target{"end": offsets.ToEnd, "earliest": offsets.ToEarliest}[o.high],
			Recreated: map[string]offsets.Target{
				"end": offsets.ToEnd, "earliest": offsets.ToEarliest, "keep": offsets.Fixed,
			}[o.recreated],
			MissingOther: o.missing == "other",
			MissingFirst: o.missing == "earliest",
			OtherCluster: o.otherCluster,
			RemoveGone:   o.gone == "remove",
			Named:        o.named,
		}), nil
	})
}
