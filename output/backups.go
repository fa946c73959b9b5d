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
	Removed int // files
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
		p.printf("%s removed from %s\n", offsets.Plural(v.Removed, "file"), cleanText(v.Dir))
		return p.err
	case len(v.Items) == 0:
		p.printf("no backups in %s\n", cleanText(v.Dir))
		return p.err
	}
	g := Grid{Columns: []Column{{Name: "TAKEN"}, {Name: "COMMAND"}, {Name: "GROUP"}, {Name: "SIDE"}, {Name: "OFFSETS", Right: true}, {Name: "BACKUP"}}}
	for _, i := range v.Items {
		group := offsets.Plural(len(i.Groups), "group")
		if len(i.Groups) == 1 {
			group = i.Groups[0]
		}
		g.Rows = append(g.Rows, []string{
			i.Taken.UTC().Format("2006-01-02 15:04:05Z"), i.Command, group, cmp.Or(string(i.Side), "both"), strconv.Itoa(i.Offsets), i.Path,
		})
	}
	return g.Write(s)
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
		doc.Removed = &v.Removed
	}
	for _, i := range v.Items {
		doc.Backups = append(doc.Backups, backupItemDocument{
			i.ID, i.Path, timeOrNull(i.Taken), i.Command, strings.TrimSpace(cmp.Or(string(i.Side), "both")), append([]string{}, i.Groups...), i.Offsets, textOrNull(i.Why), textOrNull(i.User),
		})
	}
	return doc
}
