package output

import (
	"cmp"
	"io"
	"strconv"

	"gtoffset/kafkaops/offsets"
)

// GroupsSchema is the schema of the list of groups.
const GroupsSchema = "gtoffset.groups/1"

// GroupList is what describe shows without -g: the groups of a cluster.
type GroupList struct {
	Snapshot offsets.Snapshot
	Stored   map[string]bool   // groups that the named store has something of; nil where it has listed none
	Troubles []offsets.Trouble // brokers that did not list their groups: the list is not whole

	described bool // the groups were described: documents have what only that tells
	members   bool // and list the members
}

// Formats are those that Write knows, for every view that is about groups.
func (l GroupList) Formats() []Format { return []Format{Table, Wide, JSON, YAML, CSV} }

// Write writes the view in one of its formats; "" is a table, and wide the same.
func (l GroupList) Write(s Stream, f Format) error {
	switch f {
	case Table, Wide, "":
		return l.text(s)
	case JSON:
		return l.json(s.W)
	case YAML:
		return asYAML(s.W, l.json)
	case CSV:
		return l.csv(s.Exact())
	}
	return FormatError{f, l.Formats()}
}

func (l *GroupList) row(g offsets.Group) []string {
	coordinator := "-"
	if g.Coordinator != offsets.None {
		coordinator = strconv.Itoa(int(g.Coordinator))
	}
	return []string{g.ID, cmp.Or(string(g.Type), string(offsets.TypeUnknown)), cmp.Or(g.State, "-"), cmp.Or(g.Protocol, "-"), coordinator}
}

// inStore says whether the named store has something of a group, yes and no as the format has them.
func (l *GroupList) inStore(g *offsets.Group, yes, no string) string {
	switch {
	case l.Stored == nil:
		return "-"
	case l.Stored[g.ID]:
		return yes
	}
	return no
}

func (l *GroupList) text(s Stream) error {
	p := &printer{w: s.W, width: s.Width}
	clusterLine(p, l.Snapshot.Origin, len(clusterLabel))
	named := l.Snapshot.Origin.Store != ""
	if named {
		labelled(p, len(clusterLabel), "store", cleanText(l.Snapshot.Origin.Store))
	}
	grid := Grid{Columns: []Column{{Name: "GROUP"}, {Name: "TYPE"}, {Name: "STATE"}, {Name: "PROTOCOL"}, {Name: "COORDINATOR", Right: true}}}
	if named {
		grid.Columns = append(grid.Columns, Column{Name: "STORE"})
	}
	troubled, stored := false, int64(0)
	for _, g := range l.Snapshot.Groups {
		troubled = troubled || g.Trouble != nil
	}
	if troubled {
		grid.toned = len(grid.Columns)
		grid.Columns = append(grid.Columns, Column{Name: "PROBLEM"})
	}
	for _, g := range l.Snapshot.Groups {
		row := l.row(g)
		for i, cell := range row {
			row[i] = Clean(cell)
		}
		row[0] = groupName(g.ID)
		if g.Existence == offsets.Missing {
			row[2] = "only in the store"
		}
		if named {
			row = append(row, l.inStore(&g, "yes", "no"))
		}
		if l.Stored[g.ID] {
			stored++
		}
		if troubled {
			row = append(row, cmp.Or(cleanText(reason(g.Trouble)), "-"))
			grid.tones = append(grid.tones, map[bool]tone{true: toneRed}[g.Trouble != nil])
		}
		grid.Rows = append(grid.Rows, row)
	}
	if len(grid.Rows) > 0 && p.err == nil {
		p.printf("\n")
		if troubled {
			grid.fit(s, 1, false)
		}
		p.err = grid.draw(s)
	}
	p.printf("\n%s", offsets.Plural(len(l.Snapshot.Groups), "group"))
	if l.Stored != nil {
		p.printf(", %s of them in the store", offsets.Thousands(stored))
	}
	p.printf("\n")
	l.notWhole(p)
	return p.err
}

// notWhole names the brokers whose groups are missing.
func (l *GroupList) notWhole(p *printer) {
	if len(l.Troubles) == 0 {
		return
	}
	p.printf("\nThe list is not whole:\n")
	for _, t := range l.Troubles {
		p.prose("    ", "  %s", cleanText(reason(&t)))
	}
}

func (l *GroupList) json(w io.Writer) error {
	e := &encoder{w: w}
	e.open('{')
	e.string("schema", GroupsSchema)
	e.time("at", l.Snapshot.At)
	e.origin(l.Snapshot.Origin)
	e.list("groups")
	for _, g := range l.Snapshot.Groups {
		e.open('{')
		e.string("group", g.ID)
		e.string("type", cmp.Or(string(g.Type), string(offsets.TypeUnknown)))
		e.text("state", g.State)
		e.text("protocol", g.Protocol)
		e.number("coordinator", int64(g.Coordinator))
		if g.Existence == offsets.Missing {
			e.bool("exists", false)
		}
		if named := l.Snapshot.Origin.Store != ""; named && !l.described && l.Stored == nil {
			e.null("stored")
		} else if named && !l.described {
			e.bool("stored", l.Stored[g.ID])
		}
		if l.described {
			e.text("coordinator_address", g.CoordinatorAddr)
			e.text("assignor", g.Assignor)
			e.number("epoch", int64(g.Epoch))
			if n := count(g); n == "-" {
				e.null("member_count")
			} else {
				e.int("member_count", int64(len(g.Members)))
			}
			e.strings("notes", g.Notes)
		}
		if l.members {
			jsonMembers(e, g)
		}
		e.text("error", reason(g.Trouble))
		e.close('}')
		e.flush()
	}
	e.close(']')
	e.list("troubles")
	for _, t := range l.Troubles {
		e.open('{')
		e.string("reason", reason(&t))
		e.bool("unreachable", t.Unreachable)
		e.bool("denied", t.Denied)
		e.close('}')
	}
	e.close(']')
	e.close('}')
	return e.end()
}

func (l *GroupList) csv(w io.Writer) error {
	return writeCSV(w, []string{"group", "type", "state", "protocol", "coordinator", "error", "stored"}, func(write func([]string)) {
		for _, g := range l.Snapshot.Groups {
			write(append(l.row(g), cmp.Or(reason(g.Trouble), "-"), l.inStore(&g, "true", "false")))
		}
	})
}
