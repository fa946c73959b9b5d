package output

import (
	"errors"
	"io"
	"time"
)

// VersionSchema is the schema of what the program is.
const VersionSchema = "gtoffset.version/1"

// Version is what `version` shows: what the program was built from.
type Version struct {
	Version   string
	Commit    string    // "" if it was built outside of a repository
	Committed time.Time // zero if not known
	Changed   bool      // not as in the commit
	Go        string    // as "go1.26.0"
	Platform  string    // as "linux/amd64"
	Libraries [][2]string
}

// Write writes the view as table (lines), json or yaml.
func (v Version) Write(s Stream, f Format) error { return inThree(s, f, v.text, v.json) }

func (v Version) text(s Stream) error {
	p := &printer{w: s.W}
	p.printf("gtoffset %s\n", v.Version)
	if v.Commit != "" {
		p.printf("commit   %s", v.Commit)
		if v.Changed {
			p.printf(", changed")
		}
		p.printf("\n")
	}
	if !v.Committed.IsZero() {
		p.printf("date     %s\n", v.Committed.UTC().Format(time.RFC3339))
	}
	p.printf("built by %s for %s\n", v.Go, v.Platform)
	if len(v.Libraries) == 0 {
		return p.err
	}
	p.printf("\n")
	g := Grid{Columns: []Column{{Name: "LIBRARY"}, {Name: "VERSION"}}}
	for _, l := range v.Libraries {
		g.Rows = append(g.Rows, l[:])
	}
	return errors.Join(p.err, g.Write(s))
}

func (v Version) json(w io.Writer) error {
	type library struct {
		Module  string `json:"module"`
		Version string `json:"version"`
	}
	doc := struct {
		Schema    string    `json:"schema"`
		Version   string    `json:"version"`
		Commit    *string   `json:"commit"`
		Date      *string   `json:"date"`
		Changed   bool      `json:"changed"`
		Go        string    `json:"go"`
		Platform  string    `json:"platform"`
		Libraries []library `json:"libraries"`
	}{VersionSchema, v.Version, textOrNull(v.Commit), nil, v.Changed, v.Go, v.Platform, []library{}}
	if !v.Committed.IsZero() {
		doc.Date = textOrNull(v.Committed.UTC().Format(time.RFC3339))
	}
	for _, l := range v.Libraries {
		doc.Libraries = append(doc.Libraries, library{l[0], l[1]})
	}
	return writeJSON(w, doc)
}
