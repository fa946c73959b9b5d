package output

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"gtoffset/kafkaops/offsets"
)

// GroupStates is what describe --state shows: what each group is, who coordinates it, and how many members it has.
type GroupStates struct {
	Snapshot offsets.Snapshot
}

// Write writes the view as table, json, yaml or csv. Wide is the same as table.
func (v GroupStates) Write(s Stream, f Format) error {
	header := []string{"group", "type", "state", "members", "coordinator", "address", "assignor", "epoch"}
	return groupTable{snapshot: v.Snapshot, header: header, right: []string{"members", "coordinator", "epoch"}, rows: func(g offsets.Group) [][]string {
		return [][]string{{g.ID, string(typeOf(g)), cmp.Or(g.State, "-"), count(g), numberOrDash(g.Coordinator), cmp.Or(g.CoordinatorAddr, "-"), cmp.Or(g.Assignor, "-"), numberOrDash(g.Epoch)}}
	}}.write(s, f)
}

// GroupMembers is what describe --members shows: who is in each group, and which partitions each member has.
type GroupMembers struct {
	Snapshot offsets.Snapshot
}

// Write writes the view as table, wide (with member ids), json, yaml or csv.
func (v GroupMembers) Write(s Stream, f Format) error {
	header := []string{"group", "client-id", "host", "instance-id", "epoch", "partitions", "assignment"}
	ids := f == Wide || f == CSV
	if ids {
		header = slices.Insert(header, 1, "member")
	}
	return groupTable{snapshot: v.Snapshot, header: header, right: []string{"epoch", "partitions"}, members: true, rows: func(g offsets.Group) [][]string {
		var rows [][]string
		row := func(id string, cells ...string) {
			if ids {
				cells = append([]string{id}, cells...)
			}
			rows = append(rows, append([]string{g.ID}, cells...))
		}
		for _, m := range g.Members {
			row(m.ID, cmp.Or(m.ClientID, "-"), cmp.Or(strings.TrimPrefix(m.Host, "/"), "-"), cmp.Or(m.InstanceID, "-"), numberOrDash(m.Epoch), assigned(g, m), cmp.Or(assignment(m), "-"))
		}
		if len(rows) == 0 {
			row("-", "-", "-", "-", "-", "-", without(g))
		}
		return rows
	}}.write(s, f)
}

// assigned counts a member's partitions. A group whose protocol is not that of consumers assigns something else.
func assigned(g offsets.Group, m offsets.Member) string {
	if len(m.Assigned) == 0 && g.Type == offsets.Classic && g.Protocol != "consumer" {
		return "-"
	}
	return strconv.Itoa(len(m.Assigned))
}

// assignment lists a member's partitions as -t takes them.
func assignment(m offsets.Member) string {
	var all []string
	for i := 0; i < len(m.Assigned); {
		sel := offsets.Selection{Topic: m.Assigned[i].Topic}
		for ; i < len(m.Assigned) && m.Assigned[i].Topic == sel.Topic; i++ {
			sel.Partitions = append(sel.Partitions, m.Assigned[i].Partition)
		}
		slices.Sort(sel.Partitions)
		all = append(all, sel.String())
	}
	return strings.Join(all, " ")
}

// without says why there are no members to list.
func without(g offsets.Group) string {
	switch {
	case g.Trouble != nil:
		return "unknown: " + g.Trouble.Reason
	case g.Existence == offsets.Missing:
		return "no such group"
	case g.State == "Empty" || g.State == "Dead":
		return "no members"
	}
	return "members unknown"
}

func typeOf(g offsets.Group) offsets.GroupType { return cmp.Or(g.Type, offsets.TypeUnknown) }

func count(g offsets.Group) string {
	if len(g.Members) == 0 && (g.Trouble != nil || g.State != "Empty" && g.State != "Dead") {
		return "-"
	}
	return strconv.Itoa(len(g.Members))
}

func numberOrDash(n int32) string {
	if n == offsets.None {
		return "-"
	}
	return strconv.Itoa(int(n))
}

// groupTable is a table about groups, with the documents that belong to it.
type groupTable struct {
	snapshot offsets.Snapshot
	header   []string
	right    []string // columns of numbers
	members  bool     // documents list the members
	rows     func(offsets.Group) [][]string
}

func (t groupTable) write(s Stream, f Format) error {
	list := GroupList{Snapshot: t.snapshot, Troubles: t.snapshot.Troubles, described: true, members: t.members}
	switch f {
	case JSON, YAML:
		return list.Write(s, f)
	case CSV:
		return t.csv(s.Exact())
	case Table, Wide, "":
		return t.text(s, list)
	}
	return FormatError{f, list.Formats()}
}

func (t groupTable) csv(w io.Writer) error {
	names := make([]string, len(t.header))
	for i, n := range t.header {
		names[i] = strings.ReplaceAll(n, "-", "_")
	}
	return writeCSV(w, append(names, "error"), func(write func([]string)) {
		for _, g := range t.snapshot.Groups {
			for _, row := range t.rows(g) {
				write(append(row, cmp.Or(reason(g.Trouble), "-")))
			}
		}
	})
}

func (t groupTable) text(s Stream, list GroupList) error {
	p := &printer{w: s.W, width: s.Width}
	clusterLine(p, t.snapshot.Origin, len(clusterLabel))
	grid := Grid{toned: len(t.header) - 1}
	for _, name := range t.header {
		grid.Columns = append(grid.Columns, Column{Name: strings.ToUpper(name), Right: slices.Contains(t.right, name)})
	}
	troubled := slices.ContainsFunc(t.snapshot.Groups, func(g offsets.Group) bool { return g.Trouble != nil })
	if troubled && !t.members {
		grid.Columns, grid.toned = append(grid.Columns, Column{Name: "PROBLEM"}), len(t.header)
	}
	members := 0
	for _, g := range t.snapshot.Groups {
		members += len(g.Members)
		for _, row := range t.rows(g) {
			if troubled && !t.members {
				row = append(row, cmp.Or(reason(g.Trouble), "-"))
			}
			for i, cell := range row {
				row[i] = cleanText(cell)
			}
			row[0] = groupName(g.ID)
			grid.Rows = append(grid.Rows, row)
			grid.tones = append(grid.tones, map[bool]tone{true: toneRed}[g.Trouble != nil])
		}
	}
	if len(grid.Rows) > 0 && p.err == nil {
		p.printf("\n")
		grid.fit(s, 1, t.members)
		p.err = grid.draw(s)
	}
	p.printf("\n%s, %s\n", offsets.Plural(len(t.snapshot.Groups), "group"), offsets.Plural(members, "member"))
	for _, g := range t.snapshot.Groups {
		for _, note := range g.Notes {
			p.prose("  ", "note: %s: %s", groupName(g.ID), cleanText(note))
		}
	}
	list.notWhole(p)
	return p.err
}
