package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile/exchange"
)

type importOptions struct {
	road
	source       string
	recreated    string
	moved        string
	otherCluster bool
}

func newImport(g *global) *cobra.Command {
	o := &importOptions{}
	c := &cobra.Command{
		Use:   "import BACKUP",
		Short: "Bring back what a backup holds",
		Long: `Reads a backup that a write of this program has saved, and writes the offsets of then where they were: the side, the store, and
"no offset" too, which removes the commit or the entry. A partition that has moved since the backed-up write is refused, so that
nobody's later work is undone with it.

Exit status: 0 done, or nothing to do; 4 refused, nothing written; 3 partly; 1 the backup cannot be read.`,
		Example: `  gtoffset import ~/.local/state/gtoffset/20261129T120000Z-clamp-billing.json --dry-run
  gtoffset import ~/.local/state/gtoffset/20261129T120000Z-clamp-billing.json -b kafka1:9092 --execute`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.source = args[0]
			if err := o.validate(g); err != nil {
				return err
			}
			return runImport(c.Context(), g, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.moved, "moved", "", "a partition that has moved since the backed-up write: `overwrite` it")
	f.StringVar(&o.recreated, "recreated", "", "a topic that was recreated since: `keep` the number")
	f.BoolVar(&o.otherCluster, "other-cluster", false, "the backup may be of another cluster; its topic ids then prove nothing")
	o.road.flags(c)
	return c
}

func (o *importOptions) validate(g *global) error {
	o.command = "import"
	switch {
	case o.moved != "" && o.moved != "overwrite":
		return usage(fmt.Sprintf("--moved %q is not known", o.moved), "--moved overwrite")
	case o.recreated != "" && o.recreated != "keep":
		return usage(fmt.Sprintf("--recreated %q is not known", o.recreated), "--recreated keep")
	case o.source == "-" && !o.execute && !o.dryRun && !o.check:
		return usage("the document comes from stdin, so nobody can be asked", "add --execute, or --dry-run")
	}
	return o.road.validate(g)
}

func runImport(ctx context.Context, g *global, o *importOptions) error {
	doc, err := readDocument(g, o.source)
	if err != nil {
		return err
	}
	backup := doc.Backup()
	if g.store == "" {
		g.store = backup.Origin.Store
	}
	sc := &scope{}
	for _, bg := range backup.Groups {
		sc.groups = append(sc.groups, bg.Group)
		for _, r := range bg.Rows {
			sc.selections = append(sc.selections, offsets.Selection{Topic: r.Topic, Partitions: []int32{r.Partition}})
		}
	}
	slices.Sort(sc.groups)
	return g.apply(ctx, sc, o.road, func(_ context.Context, shot offsets.Snapshot) (offsets.Plan, error) {
		return offsets.Restore(shot, backup, offsets.RestorePolicy{
			OtherCluster: o.otherCluster, KeepRecreated: o.recreated == "keep", OverwriteMoved: o.moved == "overwrite",
		}), nil
	})
}

// readDocument reads a backup from a file, or from stdin.
func readDocument(g *global, source string) (exchange.Document, error) {
	in := g.env.Stdin
	if source != "-" {
		f, err := os.Open(source)
		if err != nil {
			return exchange.Document{}, &problem{code: exitFailed, text: fmt.Sprintf("read %s: %v", source, errors.Unwrap(err)), hint: "name the file that was printed as backup"}
		}
		defer f.Close()
		in = f
	}
	doc, err := exchange.ReadFrom(in, exchange.Options{})
	switch {
	case err != nil:
		return doc, &problem{code: exitFailed, text: fmt.Sprintf("read %s: %v; nothing was written", source, err)}
	case doc.Kind != exchange.Backup:
		return doc, &problem{code: exitFailed, text: fmt.Sprintf("read %s: this is an %s, not a backup; nothing was written", source, doc.Kind)}
	}
	return doc, nil
}
