package cmd

import (
	"context"
	"fmt"

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
}

func newClamp(g *global) *cobra.Command {
	o := &clampOptions{sideFlags: sideFlags{both: ", or both: each is then corrected by its own value"}}
	c := &cobra.Command{
		Use: "clamp",
		Long: `Corrects the stored offsets, the commits, or both: an offset below earliest goes to earliest, one above the end to the end, a
first run starts at earliest. An offset in range is never changed, however far behind. Where the number alone cannot tell (a
recreated topic, a lost entry, another cluster) it asks, or refuses and names the flag that decides.

Shows the plan first and asks; in a script give --execute or --dry-run. Saves a backup, reads back what it wrote, and prints the
line that undoes it.

Exit status: 0 done, or nothing to do; 4 refused, nothing written; 3 partly; 10 with --check if there is something to do.`,
		Example: `  gtoffset clamp -g billing -t orders -s /var/lib/billing/offsets --stored
  gtoffset clamp -g billing --committed --dry-run
  gtoffset clamp -g billing -s /var/lib/billing/offsets --stored --high earliest --execute
  gtoffset clamp -g billing -s /var/lib/billing/offsets --stored --committed --wait-empty 60s --execute
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
	f.StringVar(&o.high, "high", "", "an offset above the end goes to `end|earliest`, whatever the topic's identity")
	f.StringVar(&o.recreated, "recreated", "", "a topic that was recreated: go to the end or to earliest, or keep the number: `end|earliest|keep`")
	f.StringVar(&o.missing, "missing", "", "an entry that only the other side has: take the `other|earliest`")
	f.BoolVar(&o.otherCluster, "other-cluster", false, "correct entries that were recorded for another cluster")
	f.BoolVar(&o.salvage, "salvage", false, "read the whole lines of a damaged entry; what is lost counts as no entry")
	o.road.flags(c)
	o.createFlag(c)
	return c
}

func (o *clampOptions) validate(g *global) error {
	o.command = "clamp"
	if err := o.scope.validate(); err != nil {
		return err
	}
	if err := o.needGroup(); err != nil {
		return err
	}
	for _, choice := range []struct{ flag, value, second, third string }{
		{"--high", o.high, "earliest", ""}, {"--recreated", o.recreated, "earliest", "keep"},
	} {
		if v := choice.value; v != "" && v != "end" && v != choice.second && (v != choice.third || choice.third == "") {
			return usage(fmt.Sprintf("%s %q is not known", choice.flag, v), "")
		}
	}
	if o.missing != "" && o.missing != "other" && o.missing != "earliest" {
		return usage(fmt.Sprintf("--missing %q is not known", o.missing), "--missing other, or --missing earliest")
	}
	if err := o.sideFlags.validate(g); err != nil {
		return err
	}
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
			Named:        o.named,
		}), nil
	})
}
