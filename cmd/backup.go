package cmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/offsetfile/exchange"
)

// planSuffix ends the name of a plan's file; its backup has the same id.
const planSuffix = ".plan.json"

// save writes backup and plan to the backup folder before anything else is written, and notes the line that undoes it.
func (w *writing) save() error {
	dir, err := backupDir(w.g.env, w.road.backupDir)
	if err != nil {
		return err
	}
	w.taken = w.g.env.Now() // who was asked may have thought for long
	w.plan.ID = planID(w.plan, w.taken)
	doc := w.backup(w.plan)
	what := "backup"
	if w.road.noBackup {
		what = "plan, which --no-backup keeps too"
	}
	kept := func(err error) error {
		return &problem{code: exitFailed, err: err, text: fmt.Sprintf("save the %s: %v; nothing was written", what, err), hint: "--backup-dir FOLDER names another place"}
	}
	w.backed = len(doc.Rows)
	backup := !w.road.noBackup && w.backed > 0 // a group without commits leaves nothing to bring back
	id, path, err := newFile(dir, w.plan.ID, backup, func(id string) func(io.Writer) error {
		doc.ID = id
		return writer(doc)
	})
	if err != nil {
		return kept(err)
	}
	w.plan.ID = id
	if backup {
		w.plan.Backup = path
		undo := append(w.importing(path), "--execute")
		if w.plan.Has(func(c *offsets.Change) bool {
			return c.Side == offsets.Committed && c.Verdict == offsets.Write && c.New.Offset == offsets.None
		}) {
			undo = append(undo, "--create") // the group may be gone then: Kafka forgets one without members and commits
		}
		if store := w.g.session.store; store != nil && store.Can().Creates && w.plan.Empties(w.fresh) {
			undo = append(undo, "--create-table") // with its last entry goes what it is kept in
		}
		w.plan.Undo = commandLine(undo)
	}
	if w.road.long != nil {
		return nil // its plan says how far it wants to come, which is nobody's to write
	}
	plan := filepath.Join(dir, id+planSuffix)
	if err := writeNew(plan, writer(exchange.PlanOf(w.plan))); err != nil {
		return errors.Join(kept(err), w.unsave()) // a backup of a write that never was would be an undo of nothing
	}
	w.saved = plan
	return nil
}

// unsave takes back what was saved for a write that will not be.
func (w *writing) unsave() error {
	err := w.unback()
	if w.saved != "" {
		err = errors.Join(err, os.Remove(w.saved))
	}
	w.saved = ""
	return err
}

// unback takes back the backup: it has nothing that was written.
func (w *writing) unback() (err error) {
	if w.plan.Backup != "" {
		err = os.Remove(w.plan.Backup)
	}
	w.plan.Backup, w.plan.Undo = "", ""
	return err
}

// importing begins the line that imports a document of this run: where it goes, and the store where a secret is sent to it.
func (w *writing) importing(path string) []string {
	line := append([]string{"gtoffset", "import", path}, w.g.reach(w.plan.Origin.Bootstrap)...)
	if store := w.plan.Origin.Store; w.g.lends(store) != "" {
		line = append(line, "-s", store)
	}
	return line
}

// backup is the document that brings back what a plan is about to change.
func (w *writing) backup(p offsets.Plan) exchange.Document {
	doc := exchange.BackupOf(p)
	doc.Taken, doc.Tool, doc.Why = w.taken, "gtoffset "+version, w.road.why
	doc.User, doc.Host = w.g.env.Who()
	return doc
}

// settleBackup leaves in the backup only what was written, or may have been: what the job, or another, puts where nothing was written is
// not ours to take back, also if it comes to the same number. Of a run that wrote nothing it leaves nothing.
func (w *writing) settleBackup() error {
	touched, outrun := 0, 0
	for _, c := range w.plan.Each() {
		if !c.Untouched() {
			touched++
			outrun += b2i(c.Outrun())
		}
	}
	switch {
	case touched == 0 && slices.ContainsFunc(w.plan.Groups, offsets.PlanGroup.Deleting): // of groups without commits
		return w.unback()
	case touched == 0:
		return w.unsave()
	case w.plan.Undo == "":
		return nil
	case touched == outrun:
		w.plan.Undo = "" // another's stands everywhere; the backup has what stood before
		return nil
	}
	partial := outrun > 0
	if touched < w.backed && w.road.long == nil {
		if err := w.backupAgain(w.plan); err != nil {
			w.g.note("the backup has also what was not written: %v", err)
			partial = true
		}
	}
	if partial {
		w.plan.Undo += " --partial" // what another wrote stays
	}
	return nil
}

// backupAgain replaces the backup by that of a plan which came out otherwise than it was meant.
func (w *writing) backupAgain(p offsets.Plan) error {
	next := w.plan.Backup + ".new"
	if err := writeNew(next, writer(w.backup(p))); err != nil {
		return err
	}
	if err := os.Rename(next, w.plan.Backup); err != nil {
		return errors.Join(err, os.Remove(next))
	}
	return synced(w.plan.Backup)
}

// writer writes a document of our own.
func writer(doc exchange.Document) func(io.Writer) error {
	return func(w io.Writer) error { return doc.Write(w, exchange.JSON, exchange.WriteOptions{}) }
}

// newFile finds an id that is not taken yet in the folder, and with backup set writes its file. Two runs in one second differ
// by a number.
func newFile(dir, id string, backup bool, write func(id string) func(io.Writer) error) (string, string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", "", err
	}
	for n := 1; ; n++ {
		try := id
		if n > 1 {
			try = fmt.Sprintf("%s-%d", id, n)
		}
		path := filepath.Join(dir, try+".json")
		_, err := os.Lstat(filepath.Join(dir, try+planSuffix))
		if err == nil {
			continue
		}
		if backup {
			err = writeNew(path, write(try))
		} else {
			err = nil
		}
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return try, path, err
	}
}

// writeNew makes a file that only its owner can read and that is on the disk when it returns; an existing one is left alone.
func writeNew(path string, write func(io.Writer) error) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 64<<10)
	if err = write(b); err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return synced(path)
}

// synced makes the names in a file's folder durable, as far as the file system can.
func synced(path string) error {
	if err := offsetfile.SyncFolder(filepath.Dir(path)); !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// planID names a run: when, which command, which group.
func planID(p offsets.Plan, now time.Time) string {
	what := fmt.Sprintf("%d-groups", len(p.Groups))
	if len(p.Groups) == 1 {
		what = inID(p.Groups[0].Group)
	}
	return fmt.Sprintf("%s-%s-%s", now.UTC().Format(idTime), p.Command, what)
}

// inID is a group's name as it stands in ids.
func inID(group string) string {
	what := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '_'
	}, group)
	return what[:min(len(what), 60)]
}

// soonAfter is how long after its backup a write has saved the store, mostly.
const soonAfter = 4 * time.Second

// ownSaves marks where the last save of a store was a write of ours, which says nothing of the job.
func (w *writing) ownSaves(shot offsets.Snapshot) {
	var files []os.DirEntry
	for _, g := range shot.Groups {
		if g.Store == nil || g.Store.Saved.IsZero() || shot.At.Sub(g.Store.Saved).Abs() > offsets.Recently {
			continue
		}
		if files == nil {
			dir, err := backupDir(w.g.env, w.road.backupDir)
			if err != nil {
				return
			}
			files, _ = os.ReadDir(dir) // without them the save counts as the job's
		}
		for _, f := range files {
			began, what, _ := strings.Cut(f.Name(), "-")
			at, err := time.Parse(idTime, began)
			after := g.Store.Saved.Sub(at)
			ofGroup := strings.Contains(what, "-"+inID(g.ID)+".") || strings.Contains(what, "-"+inID(g.ID)+"-") || strings.Contains(what, "-groups.")
			g.Store.Ours = g.Store.Ours || err == nil && after >= 0 && after < soonAfter && ofGroup
		}
	}
}

// idTime is how a plan's id begins.
const idTime = "20060102T150405Z"
