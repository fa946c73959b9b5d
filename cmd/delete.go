package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"gtoffset/kafkaops/offsets"
)

type deleteOptions struct {
	scope
	road
}

func newDelete(g *global) *cobra.Command {
	o := &deleteOptions{}
	c := &cobra.Command{
		Use: "delete",
		Long: `Use it to remove the commits of the topics or partitions that you name, or with --whole-group a group that nobody needs. A
store keeps what it has. A live group may lose the commits of topics that it no longer reads; of those that it reads, the
broker refuses.

Dangers: without a commit the job's auto.offset.reset decides where it starts. The backup brings the commits back; the group's
type, and the clock by which commits expire, it cannot.`,
		Example: `  gtoffset delete -g billing -t old-orders --dry-run
  gtoffset delete -g billing -t orders:3 --execute
  gtoffset delete -g billing-test --whole-group --execute`,
		Args: takes(0, 0, "did you mean -g %s?"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(g); err != nil {
				return err
			}
			return runDelete(c.Context(), g, o)
		},
	}
	o.scope.flags(c)
	c.Flags().BoolVar(&o.whole, "whole-group", false, "the group with all of its commits")
	o.road.flags(c)
	return c
}

func (o *deleteOptions) validate(g *global) error {
	o.command = "delete"
	if err := o.scope.validate(); err != nil {
		return err
	}
	if err := o.needGroup(); err != nil {
		return err
	}
	switch {
	case len(o.topics) == 0 && !o.whole:
		return usage("nothing to delete is named", "add -t TOPIC for its commits, or --whole-group")
	case len(o.topics) > 0 && o.whole:
		return usage("--topic and --whole-group exclude each other", "leave out one")
	}
	if !o.watches() {
		g.withoutStore()
	}
	return o.road.validate(g)
}

func runDelete(ctx context.Context, g *global, o *deleteOptions) error {
	return g.apply(ctx, &o.scope, o.road, func(_ context.Context, shot offsets.Snapshot) (offsets.Plan, error) {
		plan := offsets.Delete(shot, o.whole)
		if user := g.session.user; o.whole && user != "" {
			for i := range plan.Groups {
				plan.Groups[i].Notes = append(plan.Groups[i].Notes, "commits of topics that "+user+" may not describe, if there are any, go too: Kafka does not show them, so no backup has them")
			}
		}
		return plan, nil
	})
}
