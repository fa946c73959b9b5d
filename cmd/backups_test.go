package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type backupsDoc struct {
	Dir     string
	Removed number
	Backups []struct {
		ID, Path, Command, Side string
		Taken, Why, User        *string
		Groups                  []string
		Offsets                 int
	}
}

func (r result) backupList() backupsDoc {
	r.t.Helper()
	return document[backupsDoc](r, "gtoffset.backups/1")
}

func TestBackupsList(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 600, 600).commit("shipping", "orders", 600).save("billing", "orders", 700)
	dir := filepath.Join(w.state, "gtoffset")
	w.b.Reset()
	w.run("backups").exits(0).prints("no backups in " + dir)
	d := w.run("backups", "-o", "json").exits(0).backupList()
	same(t, "none", words(d.Dir, len(d.Backups), d.Removed), words(dir, 0, "null"))
	if _, err := os.Stat(dir); err == nil {
		t.Error("the list made the folder")
	}
	same(t, "requests", w.b.Count(), 0)

	w.run("reset", "-g", "billing", "-t", "orders", "--to-latest", "--why", "ticket 42", "--execute").exits(0)
	w.now = w.now.Add(time.Hour)
	w.run("reset", "-g", "billing", "-g", "shipping", "-t", "orders:0", "--to-earliest", "--execute").exits(0)
	w.now = w.now.Add(time.Hour)
	w.run("reset", "-g", "billing", "-t", "orders:0", "-s", w.store, "--stored", "--committed", "--to-offset", "800", "--execute").exits(0)
	w.now = w.now.Add(time.Hour)
	w.run("clamp", "-g", "billing", "-t", "orders:1", "-s", w.store, "--stored", "--missing", "earliest", "--no-backup", "--execute").exits(0) // its plan is no backup
	must(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "a-folder.json"), 0o700))

	d = w.run("backups", "-o", "json").exits(0).backupList()
	same(t, "number", len(d.Backups), 3)
	newest, middle, oldest := d.Backups[0], d.Backups[1], d.Backups[2]
	same(t, "newest", words(newest.ID, newest.Command, newest.Side, newest.Groups, newest.Offsets, deref(newest.Why), deref(newest.User)), "20311129T140000Z-reset-billing reset both [billing] 2 null ops")
	same(t, "middle", words(middle.ID, middle.Command, middle.Side, middle.Groups, middle.Offsets), "20311129T130000Z-reset-2-groups reset committed [billing shipping] 2")
	same(t, "oldest", words(oldest.ID, oldest.Path, deref(oldest.Why), deref(oldest.Taken)[:16]), words("20311129T120000Z-reset-billing", filepath.Join(dir, "20311129T120000Z-reset-billing.json"), "ticket 42", "2031-11-29T12:00"))
	r := w.run("backups").exits(0).prints("TAKEN", "COMMAND", "OFFSETS", "2031-11-29 12:00:0", oldest.Path)
	if i, j := strings.Index(r.out, newest.ID), strings.Index(r.out, oldest.ID); i < 0 || j < i {
		t.Errorf("newest first\n%v", r)
	}
	r.prints("WHY", "billing   "+oldest.Path+"   ticket 42\n") // who asks for a reason finds it again
	w.width = 80
	narrow := w.run("backups").exits(0).prints("OFFSETS  GROUP\n", "2  billing\n    "+oldest.Path+"\n    why: ticket 42\n")
	for line := range strings.Lines(narrow.out) {
		if len(line) > 81 && !strings.Contains(line, "/") { // a path is not cut
			t.Errorf("wider than the terminal: %q", line)
		}
	}
	w.width = 0
	same(t, "yaml", w.run("backups", "-o", "yaml").exits(0).yaml()["schema"], any("gtoffset.backups/1"))
	// What the list names is what import takes.
	w.run("import", middle.Path, "--dry-run").exits(4).says("moved since the backup")
	w.run("import", newest.Path, "--execute").exits(0)
	w.run("import", middle.Path, "--execute").exits(0)
	w.run("import", oldest.Path, "--execute").exits(0)
	same(t, "as before", w.committed("billing", "orders")+" "+w.committed("shipping", "orders")+" "+strings.Fields(w.stored("billing", "orders"))[0], "0=600 1=600 0=600 0=700")

	other := t.TempDir()
	w.run("backups", "--backup-dir", other).exits(0).prints("no backups in " + other)
	w.run("reset", "-g", "shipping", "-t", "orders:0", "--to-latest", "--backup-dir", other, "--execute").exits(0)
	same(t, "in another folder", len(w.run("backups", "--backup-dir", other, "-o", "json").exits(0).backupList().Backups), 1)
}

func TestBackupsPrune(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
	dir := filepath.Join(w.state, "gtoffset")
	for _, to := range []string{"700", "701", "702"} { // 48 h, 24 h and 0 h old in the end
		w.run("reset", "-g", "billing", "-t", "orders", "--to-offset", to, "--execute").exits(0)
		if to != "702" {
			w.now = w.now.Add(24 * time.Hour)
		}
	}
	keep := filepath.Join(dir, "notes.txt")
	must(t, os.WriteFile(keep, []byte("mine"), 0o600))
	must(t, os.Chtimes(keep, time.Unix(0, 0), time.Unix(0, 0)))
	left := func() int { return len(w.run("backups", "-o", "json").backupList().Backups) }
	w.run("backups", "--prune", "3d").exits(0).prints("0 files removed from " + dir)
	same(t, "left", left(), 3)
	w.run("backups", "--prune", "P1DT12H").exits(0).prints("2 files removed from " + dir) // the backup and its plan
	same(t, "left", left(), 2)
	d := w.run("backups", "--prune", "12h", "-o", "json").exits(0).backupList()
	same(t, "removed", words(d.Removed, len(d.Backups)), "2 0")
	same(t, "left", left(), 1)
	w.run("backups", "--prune", "12h").exits(0).prints("0 files removed")
	if _, err := os.Stat(keep); err != nil {
		t.Error("what is no backup was removed")
	}
	w.run("backups", "--prune", "90").exits(2).says("--prune 90d")
	for _, bad := range []string{"-1d", "soon", "0d"} {
		w.run("backups", "--prune", bad).exits(2).says("--prune", "P7D")
	}
	same(t, "left", left(), 1)
	w.run("backups", "extra").exits(2)
	w.run("backups", "-o", "csv").exits(2)
}

// A file that cannot be read is named, does not hide the others, and is never removed.
func TestBackupsDamaged(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
	dir := filepath.Join(w.state, "gtoffset")
	w.run("reset", "-g", "billing", "-t", "orders", "--to-latest", "--execute").exits(0)
	bad := filepath.Join(dir, "20200101T000000Z-cut.json")
	must(t, os.WriteFile(bad, []byte(`{"schema":"gtoffset.offsets/1","kind"`), 0o600))
	r := w.run("backups", "-o", "json").exits(1).says(bad)
	same(t, "the others", len(r.backupList().Backups), 1)
	same(t, "code", r.failure().Code, 1)
	w.now = w.now.Add(365 * 24 * time.Hour)
	w.run("backups", "--prune", "1d").exits(1).says(bad).prints("2 files removed")
	if _, err := os.Stat(bad); err != nil {
		t.Error("the damaged one was removed")
	}
	w.run("backups", "--backup-dir", bad).exits(1).says(bad+": it is not a folder", "without --backup-dir it is "+dir)
	w.run("backups", "--backup-dir", bad+".none").exits(1).says(bad+".none: there is no such folder", "without --backup-dir it is "+dir)
	w.run("backups", "--backup-dir", bad+".none", "--prune", "1d").exits(1).says("there is no such folder")
	move := "mv " + bad + " " + bad + ".aside"
	w.run("backups").exits(1).says("hint: " + move)
	must(t, exec.Command("sh", "-c", move).Run())
	same(t, "stderr", w.run("backups").exits(0).err, "")
	delete(w.vars, "XDG_STATE_HOME")
	delete(w.vars, "HOME")
	w.run("backups").exits(2).says("--backup-dir")
}

// A folder may hold exports beside backups: they are somebody's own, and neither listed nor removed.
func TestBackupsLeaveExports(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
	dir := t.TempDir()
	kept := filepath.Join(dir, "mine.json")
	w.run("export", "-g", "billing", kept).exits(0)
	w.run("backups", "--backup-dir", dir).exits(0).prints("no backups in")
	later := w.now
	w.now = later.Add(1000 * time.Hour)
	w.run("backups", "--backup-dir", dir, "--prune", "1d").exits(0).prints("0 files")
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}

// A plan that was kept under a name of its owner's is theirs, as is one that was renamed; what --prune removes it names by kind.
func TestBackupsPruneLeavesPlans(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
	dir := t.TempDir()
	plan := w.run("reset", "-g", "billing", "-t", "orders", "--to-latest", "--dry-run", "-o", "json").exits(0).out
	mine := []string{"20200101T000000Z-mine.plan.json", "before.json", "my.plan.json", "myplan.json"}
	for _, name := range mine {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(plan), 0o600))
	}
	saved := w.run("reset", "-g", "billing", "-t", "orders", "--to-latest", "--execute", "--backup-dir", dir, "-o", "json").exits(0).plan().ID + ".plan.json"
	must(t, os.Rename(filepath.Join(dir, saved), filepath.Join(dir, "before.json")))
	w.run("reset", "-g", "billing", "-t", "orders", "--to-earliest", "--execute", "--backup-dir", dir).exits(0)
	w.now = w.now.Add(48 * time.Hour)
	w.run("backups", "--backup-dir", dir, "--prune", "1d").exits(0).prints("3 files removed from " + dir + ": 2 backups, 1 plan\n")
	left, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	same(t, "left", words(names), words(mine))
}

// Several backups of one second, and one whose name sorts before an older one, are listed by when they were taken.
func TestBackupsOfOneSecond(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
	for range 11 {
		w.run("reset", "-g", "billing", "-t", "orders", "--shift-by", "1", "--execute").exits(0)
	}
	w.run("delete", "-g", "billing", "-t", "orders", "--execute").exits(0)
	var ids []string
	for _, b := range w.run("backups", "-o", "json").exits(0).backupList().Backups {
		ids = append(ids, b.ID)
	}
	want := []string{"20311129T120000Z-delete-billing"}
	for n := 11; n > 1; n-- {
		want = append(want, fmt.Sprint("20311129T120000Z-reset-billing-", n))
	}
	same(t, "newest first", words(ids), words(append(want, "20311129T120000Z-reset-billing")))
}

// What an undo brings back may be below earliest or above the end: what it skips is counted within what can be read, and its own plan
// and backup can be read again.
func TestUndoOfADeleteOutOfRange(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{0, 1070}).commit("billing", "orders", 0, 1200)
	undo := w.run("delete", "-g", "billing", "-t", "orders", "--execute").exits(0).undo()
	p := w.run(append(undo, "-o", "json")...).exits(0).plan()
	same(t, "skips", words(p.change(t, "orders", 0, "committed").Skips, p.change(t, "orders", 1, "committed").Skips), "0 1070")
	same(t, "as before", w.committed("billing", "orders"), "0=0 1=1200")
	same(t, "listed", len(w.run("backups", "-o", "json").exits(0).backupList().Backups), 2)
	w.run("import", filepath.Join(w.state, "gtoffset", p.ID+".plan.json"), "--execute").exits(0).prints("at its new value already")
	w.now = w.now.Add(24 * time.Hour)
	w.run("backups", "--prune", "1h").exits(0).prints("4 files removed")
}

// An undo that removes an entry has an undo, too, which makes again what its store may have lost with the last one. A folder never goes.
func TestUndoOfAFirstEntry(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900})
	for _, store := range []string{w.store, "file:" + w.store} {
		r := w.run("clamp", "-g", "billing", "-t", "orders", "-s", store, "--stored", "--execute").exits(0)
		r = w.run(r.undo()...).exits(0).prints("undo").never("--create-table")
		same(t, "removed", w.stored("billing", "orders"), "")
		w.run(r.undo()...).exits(0)
		same(t, "undone", w.stored("billing", "orders"), "0=500")
		must(t, os.RemoveAll(filepath.Join(w.store, "billing")))
	}
}

// However long the person thought, a backup's name and its time are those of when it was taken.
func TestBackupIsNamedByWhenItWasTaken(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
	w.person("y", func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.now = w.now.Add(9 * time.Minute)
	}).run("reset", "-g", "billing", "-t", "orders", "--to-latest").exits(0)
	b := w.run("backups", "-o", "json").exits(0).backupList().Backups[0]
	same(t, "name and time", words(b.ID, deref(b.Taken)[:19]), "20311129T120900Z-reset-billing 2031-11-29T12:09:00")
}

// An empty file is what a kill leaves, if its name is one of ours: it goes with its time. Another's stays.
func TestBackupsEmpty(t *testing.T) {
	t.Parallel()
	w := start(t)
	dir := t.TempDir()
	ours, others := filepath.Join(dir, "20311101T000000Z-clamp-billing.json"), filepath.Join(dir, "foo.json")
	for _, path := range []string{ours, others} {
		must(t, os.WriteFile(path, nil, 0o600))
	}
	backups := []string{"backups", "--backup-dir", dir}
	w.run(backups...).exits(0).says(ours+" is empty: a write was killed before it began", others+" is empty: it is no backup")
	w.run(append(backups, "--prune", "90d")...).exits(0).prints("0 files removed")
	w.run(append(backups, "--prune", "7d")...).exits(0).prints("1 file removed").says(others)
	w.run(append(backups, "--prune", "7d")...).exits(0).prints("0 files removed").never("killed")
}

func TestBackupsNotOurs(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
	dir := filepath.Join(t.TempDir(), "kept")
	w.now = time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)
	w.run("reset", "-g", "billing", "-t", "orders", "--to-latest", "--backup-dir", dir, "--execute").exits(0)
	w.now = w.now.Add(48 * time.Hour)
	prune := []string{"backups", "--prune", "1d", "--backup-dir", dir}
	run := w.unprivileged(filepath.Dir(dir))
	mode := func(folder, file os.FileMode) {
		must(t, os.Chmod(dir, folder))
		paths, err := filepath.Glob(filepath.Join(dir, "*"))
		must(t, err)
		for _, path := range paths {
			must(t, os.Chmod(path, file))
		}
	}
	mode(0o555, 0o444)
	run(prune...).exits(1).prints("0 files removed").says("permission denied", "hint: run it as the user whose backups they are").never("the others")
	mode(0o700, 0o000)
	must(t, os.Chmod(dir, 0o555))
	run("backups", "--backup-dir", dir).exits(1).says("permission denied", "hint: run it as the user whose backups they are").never("mv ")
	mode(0o700, 0o600)
}
