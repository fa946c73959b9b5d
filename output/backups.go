package output

import (
	"cmp"
	"io"
	"strconv"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
)

// BackupsSchema is the schema of the list of backups.
const BackupsSchema = "gtoffset.backups/1"

// Backups is what `backups` shows: the backups of a folder, or how many files were removed from it.
type Backups struct {
	Dir     string
	Items   []BackupItem
	Pruned  bool
	Removed RemovedFiles
}

// RemovedFiles counts the files that were removed, by what was in them.
type RemovedFiles struct{ Backups, Plans, Empty int }

func (r RemovedFiles) all() int { return r.Backups + r.Plans + r.Empty }

// kinds says how many there were of what, behind a colon: ": 2 backups, 2 plans"; "" of none.
func (r RemovedFiles) kinds() string {
	var kinds []string
	for _, k := range []struct {
		n    int
		name string
	}{{r.Backups, "backup"}, {r.Plans, "plan"}, {r.Empty, "empty file"}} {
		if k.n > 0 {
			kinds = append(kinds, offsets.Plural(k.n, k.name))
		}
	}
	if len(kinds) == 0 {
		return ""
	}
	return ": " + strings.Join(kinds, ", ")
}

// BackupItem is one backup.
type BackupItem struct {
	Path, ID, Command, Why, User string
	Taken                        time.Time
	Side                         offsets.Side // "" for both
	Groups                       []string
	Offsets                      int // how many it would bring back
}

// Write writes the view as table, json or yaml.
func (v Backups) Write(s Stream, f Format) error { return inThree(s, f, v.text, v.json) }

func (v Backups) json(w io.Writer) error { return writeJSON(w, v.document()) }

func (v Backups) text(s Stream) error {
	p := &printer{w: s.W}
	switch {
	case v.Pruned:
		p.printf("%s removed from %s%s\n", offsets.Plural(v.Removed.all(), "file"), cleanText(v.Dir), v.Removed.kinds())
		return p.err
	case len(v.Items) == 0:
		p.printf("no backups in %s\n", cleanText(v.Dir))
		return p.err
	}
	return v.grid(s).Write(s)
}

// grid lays the list out. What is not cut, a path, a reason and the name of a group, stands in lines of its own below each row where the
// terminal has no room for it in the row.
func (v Backups) grid(s Stream) Grid {
	g := Grid{Columns: []Column{{Name: "TAKEN"}, {Name: "COMMAND"}, {Name: "SIDE"}, {Name: "OFFSETS", Right: true}, {Name: "GROUP"}, {Name: "BACKUP"}, {Name: "WHY"}}}
	why := false
	for _, i := range v.Items {
		group := offsets.Plural(len(i.Groups), "group")
		if len(i.Groups) == 1 {
			group = i.Groups[0]
		}
		why = why || i.Why != ""
		g.Rows = append(g.Rows, []string{
			i.Taken.UTC().Format("2006-01-02 15:04:05Z"), cleanText(i.Command), cmp.Or(string(i.Side), "both"), strconv.Itoa(i.Offsets), cleanText(group), cleanText(i.Path), cleanText(i.Why),
		})
	}
	if !why {
		g.dropLast()
	}
	g.lower(s, "BACKUP")
	g.lower(s, "GROUP")
	return g
}

func (g *Grid) dropLast() {
	g.Columns = g.Columns[:len(g.Columns)-1]
	for i, row := range g.Rows {
		g.Rows[i] = row[:len(row)-1]
	}
}

// lower puts the column of that name, and all that follow, below the rows, if these are wider than the terminal.
func (g *Grid) lower(s Stream, name string) {
	all := 0
	for i, w := range g.widths() {
		all += w
		if i < len(g.Columns)-1 {
			all += g.Columns[i].after()
		}
	}
	if s.Width <= 0 || all <= s.Width {
		return
	}
	if g.below == nil {
		g.below = make([]string, len(g.Rows))
	}
	const indent = "    "
	for again := true; again; {
		last := len(g.Columns) - 1
		for i, row := range g.Rows {
			line := indent + row[last] // to be copied: it is not broken
			if g.Columns[last].Name == "WHY" {
				line = fold(indent+"why: "+row[last], s.Width, indent)
			}
			if row[last] != "" {
				g.below[i] = line + "\n" + g.below[i]
			}
		}
		again = g.Columns[last].Name != name
		g.dropLast()
	}
}

type backupsDocument struct {
	Schema  string               `json:"schema"`
	Dir     string               `json:"dir"`
	Removed *int                 `json:"removed"`
	Backups []backupItemDocument `json:"backups"`
}

type backupItemDocument struct {
	ID      string   `json:"id"`
	Path    string   `json:"path"`
	Taken   *string  `json:"taken"`
	Command string   `json:"command"`
	Side    string   `json:"side"`
	Groups  []string `json:"groups"`
	Offsets int      `json:"offsets"`
	Why     *string  `json:"why"`
	User    *string  `json:"user"`
}

func (v Backups) document() backupsDocument {
	doc := backupsDocument{Schema: BackupsSchema, Dir: v.Dir, Backups: []backupItemDocument{}}
	if v.Pruned {
		removed := v.Removed.all()
		doc.Removed = &removed
	}
	for _, i := range v.Items {
		doc.Backups = append(doc.Backups, backupItemDocument{
			i.ID, i.Path, timeOrNull(i.Taken), i.Command, strings.TrimSpace(cmp.Or(string(i.Side), "both")), append([]string{}, i.Groups...), i.Offsets, textOrNull(i.Why), textOrNull(i.User),
		})
	}
	return doc
}
