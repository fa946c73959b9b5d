package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gtoffset/offsetfile/exchange"
	"gtoffset/output"
)

type backupsOptions struct {
	dir     string
	prune   string
	pruning bool
}

func newBackups(g *global) *cobra.Command {
	o := &backupsOptions{}
	c := &cobra.Command{
		Use: "backups",
		Long: `Use it to find the backup of a write, and what it would bring back: gtoffset import BACKUP. The newest stands first. With
--prune, those that are older, and the plans that were saved beside them, are removed instead; documents of your own stay.

Dangers: --prune does not ask, and takes the way back along.`,
		Example: `  gtoffset backups
  gtoffset backups -o json
  gtoffset backups --prune 90d`,
		Args: takes(0, 0, "gtoffset backups --help"),
		RunE: func(c *cobra.Command, _ []string) error {
			o.pruning = c.Flags().Changed("prune")
			return runBackups(g, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.dir, "backup-dir", "", "the `FOLDER` (default $XDG_STATE_HOME/gtoffset)")
	f.StringVar(&o.prune, "prune", "", "remove what is older than `DURATION`")
	formats(c, output.Table, output.JSON, output.YAML)
	return c
}

func runBackups(g *global, o *backupsOptions) error {
	dir, err := backupDir(g.env, o.dir)
	if err != nil {
		return err
	}
	before := time.Time{}
	if o.pruning {
		age, err := parseBack(o.prune)
		if err != nil {
			return badSpan("--prune", err)
		}
		before = g.env.Now().Add(-age)
	}
	names, err := savedIn(dir)
	if err != nil && (o.dir != "" || !errors.Is(err, fs.ErrNotExist)) { // nobody has made the default one yet: it has none
		return g.notListed(dir, err)
	}
	view := output.Backups{Dir: dir}
	var errs []error
	for _, name := range names {
		if !o.pruning && strings.HasSuffix(name, planSuffix) { // listed by its backup, if it has one
			continue
		}
		path := filepath.Join(dir, name)
		doc, err := readSaved(path)
		empty := errors.Is(err, exchange.ErrEmpty)
		begun, ours := begunAt(name)
		switch {
		case empty && !ours:
			g.note("%s is empty: it is no backup of gtoffset's", path)
			continue
		case empty && !(o.pruning && begun.Before(before)):
			g.note("%s is empty: a write was killed before it began", path)
			continue
		case err != nil && !empty:
			hint := outOfTheWay(path)
			if errors.Is(err, fs.ErrPermission) {
				hint = asBackupsUser
			}
			errs = append(errs, &problem{code: exitFailed, err: err, text: fmt.Sprintf("read %s: %v", path, err), hint: hint})
			continue
		}
		switch {
		case doc.Kind == exchange.Export: // somebody's own document: neither listed nor removed
			continue
		case o.pruning && (!ownName(name, doc) || !doc.Taken.Before(before)):
			continue
		case o.pruning:
			errs = append(errs, removeSaved(path, doc, empty, &view))
			continue
		case doc.Kind == exchange.Plan: // under a name of somebody's own
			continue
		}
		item := output.BackupItem{Path: path, ID: doc.ID, Taken: doc.Taken, Command: doc.Command, Side: doc.Side, Why: doc.Why, User: doc.User, Offsets: len(doc.Rows)}
		for _, grp := range doc.Groups {
			item.Groups = append(item.Groups, grp.Name)
		}
		view.Items = append(view.Items, item)
	}
	view.Pruned = o.pruning
	sort.SliceStable(view.Items, func(i, j int) bool { // newest first; the names of one second end with a number
		a, b := &view.Items[i], &view.Items[j]
		return cmp.Or(b.Taken.Compare(a.Taken), cmp.Compare(len(b.Path), len(a.Path)), strings.Compare(b.Path, a.Path)) < 0
	})
	return errors.Join(append(errs, view.Write(g.out(), output.Format(g.format)))...)
}

// ownName reports whether a file has the name that was given to it when it was saved: under another it is somebody's own.
func ownName(name string, doc exchange.Document) bool {
	switch doc.Kind {
	case exchange.Plan:
		return name == doc.ID+planSuffix
	case exchange.Backup:
		return name == doc.ID+".json"
	}
	return true
}

// removeSaved removes a file, and counts it.
func removeSaved(path string, doc exchange.Document, empty bool, view *output.Backups) error {
	if err := os.Remove(path); err != nil {
		p := &problem{code: exitFailed, text: err.Error(), err: err}
		if errors.Is(err, fs.ErrPermission) {
			p.hint = asBackupsUser
		}
		return p
	}
	switch {
	case empty:
		view.Removed.Empty++
	case doc.Kind == exchange.Plan:
		view.Removed.Plans++
	default:
		view.Removed.Backups++
	}
	return nil
}

const asBackupsUser = "run it as the user whose backups they are"

// notListed is the problem of a folder that cannot be listed.
func (g *global) notListed(dir string, err error) error {
	p := &problem{code: exitFailed, err: err, hint: "give --backup-dir the folder that the writes were given"}
	if own := g.env.stateDir(); own != "" {
		p.hint = "without --backup-dir it is " + own
	}
	switch fi, serr := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		p.text = fmt.Sprintf("list %s: there is no such folder", dir)
	case serr == nil && !fi.IsDir():
		p.text = fmt.Sprintf("list %s: it is not a folder", dir)
	default:
		p.text, p.hint = err.Error(), asBackupsUser
	}
	return p
}

// begunAt tells by the name of a file when the write began that made it, and whether it is such a name.
func begunAt(name string) (time.Time, bool) {
	stamp, _, _ := strings.Cut(name, "-")
	at, err := time.Parse(idTime, stamp)
	return at, err == nil
}

// savedIn lists the backups and plans of a folder, oldest first.
func savedIn(dir string) ([]string, error) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range all {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".json") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func readSaved(path string) (exchange.Document, error) {
	f, err := os.Open(path)
	if err != nil {
		return exchange.Document{}, err
	}
	defer f.Close()
	return exchange.ReadFrom(f, exchange.Options{As: exchange.JSON})
}

// backupDir is the folder of backups: as given, or the user's own.
func backupDir(env Env, given string) (string, error) {
	if given == "" {
		given = env.stateDir()
	}
	if given == "" {
		return "", usage("there is no place for backups: HOME and XDG_STATE_HOME are empty", "add --backup-dir FOLDER")
	}
	return filepath.Abs(given)
}
