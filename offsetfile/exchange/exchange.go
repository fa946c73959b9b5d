// Package exchange reads and writes the documents in which offsets travel: our own exports, backups and plans, gtoffset files,
// and the files of other programs. One file a format, reader and writer together; docs/formats.md describes each.
//
// Read recognises a format by its content and names it. It is strict where a guess could move an offset: what is malformed is
// listed place by place, and nothing of such a document is returned.
//
// Every offset here is the next record to read; no format of the list counts otherwise.
package exchange

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
)

// Format is a value of --as, and of -o where it can be written.
type Format string

// format is all that there is to know of one: its file has it.
type format struct {
	name  Format
	words string // what it is, for people
	holds holds

	// How it is known, one of these; but CSV, which is told by its columns.
	begins  func(text string) bool // a text of which the beginning says enough
	shape   func(*tree) bool       // an object or a list
	columns int                    // lines of so many columns, of which the last two are numbers

	// How it is read: as a text, or as what JSON says. What YAML says is read as what JSON says, once it is parsed.
	text func(*reading) error
	tree func(*reading, *tree) error

	// How it is written, if it is: documents that it can hold, and of these what it has a place for. One without a place for
	// none goes through Document.held.
	write func(Document, io.Writer, WriteOptions) error
}

// holds is what a format has a place for, beside topic, partition and offset.
type holds struct {
	all      bool   // both sides in one document, backups and plans
	groups   bool   // more than one group
	none     bool   // a partition without an offset
	instead  string // of what there is no place for: more to say
	metadata bool
	epochs   bool
	origin   bool // cluster, topic ids, time
}

// formats lists them all, in the order in which they are tried. A new one is a file, and a line here.
func formats() []format {
	return []format{
		ourJSON(),
		ourYAML(),
		ourCSV(),
		kafkaCSV(),
		spark(),
		file(),
		rpk(),
		yelp(),
		kcl(),
		ranges(),
	}
}

// as is what there is to know of a format; of one that is not known, its name alone.
func (f Format) as() format {
	for _, is := range formats() {
		if is.name == f {
			return is
		}
	}
	return format{name: f, words: string(f)}
}

// Formats lists all that can be read.
func Formats() []Format { return named(func(format) bool { return true }) }

// Writable lists those that can be written too.
func Writable() []Format { return named(func(f format) bool { return f.write != nil }) }

func named(want func(format) bool) []Format {
	var names []Format
	for _, f := range formats() {
		if want(f) {
			names = append(names, f.name)
		}
	}
	return names
}

// Words says what a format is, for people.
func (f Format) Words() string { return f.as().words }

// Kind says what a document is for.
type Kind string

// The kinds. Only a backup's null removes something when it is imported.
const (
	Export Kind = "export" // every format of others is one too
	Backup Kind = "backup"
	Plan   Kind = "plan"
)

// Take says which end of a range counts.
type Take string

// The ends. From is where the range began, Until one past its last record.
const (
	From  Take = "from"
	Until Take = "until"
)

// Document is what was read, or is to be written.
type Document struct {
	Format Format
	Kind   Kind
	Side   offsets.Side // "" when rows of both sides are in it, or the format does not say
	Taken  time.Time
	Tool   string // "gtoffset 0.1.0"
	Origin offsets.Origin
	Groups []Group // all that the document names, also those without a row; sorted
	Rows   []Row   // sorted by group, topic, partition, side

	// Of a backup: the plan that it was taken for, who ran it, and why (--why).
	ID, Command, Why, User, Host string

	Plan     *offsets.Plan // of Kind Plan: it stands for the rows, of which there are none
	Warnings []string      // what was read over, such as rows that repeat each other
}

// Group is one group that a document names.
type Group struct {
	Name    string
	Type    offsets.GroupType
	Damaged []offsets.Remains // of a backup: what the write put something else in the place of, though it could not be read
}

// Row is one partition of a document. An Offset of offsets.None is a null.
type Row struct {
	offsets.Given
	Side    offsets.Side // "" if the format does not say
	Written int64        // only in a backup: what the write put in its place
}

// Given lists the rows of one side as a merge takes them; rows that say no side belong to both.
func (d Document) Given(side offsets.Side) []offsets.Given {
	var given []offsets.Given
	for _, r := range d.Rows {
		if r.Side == "" || r.Side == side {
			given = append(given, r.Given)
		}
	}
	return given
}

// Backup is the part of the document that a restore is planned from.
func (d Document) Backup() offsets.Backup {
	b := offsets.Backup{Origin: d.Origin, Side: d.Side}
	for g, rows := range d.byGroup {
		bg := offsets.BackupGroup{Group: g.Name, Type: g.Type, Damaged: g.Damaged}
		for _, r := range rows {
			bg.Rows = append(bg.Rows, offsets.BackupRow{
				Key: r.Key, Side: r.Side, TopicID: r.TopicID, Old: r.Value, Written: offsets.Value{Offset: r.Written, Epoch: offsets.None},
			})
		}
		b.Groups = append(b.Groups, bg)
	}
	return b
}

// BackupOf is the backup of a plan: what each partition to be written holds now, and what it is about to hold. Of a run that is over it
// has only what was written, or may have been.
func BackupOf(p offsets.Plan) Document {
	d := Document{Format: JSON, Kind: Backup, Taken: p.Created, Origin: p.Origin, ID: p.ID, Command: p.Command}
	sides := map[offsets.Side]bool{}
	for _, g := range p.Groups {
		rows := len(d.Rows)
		for _, c := range g.Changes {
			sides[c.Side] = true
			if !c.Untouched() {
				d.Rows = append(d.Rows, Row{
					Given: offsets.Given{Group: g.Group, Key: c.Key, Value: c.Old, TopicID: c.TopicID}, Side: c.Side, Written: c.New.Offset,
				})
			}
		}
		if len(d.Rows) > rows {
			d.Groups = append(d.Groups, Group{g.Group, g.Type, g.Damaged})
		}
	}
	if len(sides) == 1 {
		for side := range sides {
			d.Side = side
		}
	}
	return d.Sorted()
}

// Sorted returns the document in the order in which it is read and written.
func (d Document) Sorted() Document {
	d.Groups = slices.Clone(d.Groups)
	sort.Slice(d.Groups, func(i, j int) bool { return d.Groups[i].Name < d.Groups[j].Name })
	inOrder := func(a, b Row) int { return a.compare(&b) }
	if !slices.IsSortedFunc(d.Rows, inOrder) { // a look is: then there need not be two of a million rows
		d.Rows = slices.Clone(d.Rows)
		sort.SliceStable(d.Rows, func(i, j int) bool { return inOrder(d.Rows[i], d.Rows[j]) < 0 })
	}
	return d
}

func (r *Row) compare(o *Row) int {
	return cmp.Or(strings.Compare(r.Group, o.Group), r.Key.Compare(o.Key), cmp.Compare(r.Side, o.Side))
}

// byGroup yields each group with its rows.
func (d Document) byGroup(yield func(Group, []Row) bool) {
	rows := d.Rows
	for _, g := range d.Groups {
		n := 0
		for n < len(rows) && rows[n].Group == g.Name {
			n++
		}
		if !yield(g, rows[:n]) {
			return
		}
		rows = rows[n:]
	}
}

// WriteOptions are for formats that leave a choice.
type WriteOptions struct {
	GroupColumn bool // kafka-csv: four columns even for a single group
}

// Write writes the document, which must be sorted. What the format has no place for is left out, and Losses tells it
// beforehand; where that would leave a document that means something else, the error is a *CannotHoldError.
func (d Document) Write(w io.Writer, f Format, o WriteOptions) error {
	is := f.as()
	switch {
	case d.Kind != Export && !is.holds.all:
		return &CannotHoldError{f, "a " + string(d.Kind)}
	case is.write == nil:
		return &CannotHoldError{f, "anything: it can be read only"}
	case len(d.Groups) > 1 && !is.holds.all && !is.holds.groups:
		return &CannotHoldError{f, fmt.Sprintf("more than one group, and there are %d", len(d.Groups))}
	case d.twoSided() && !is.holds.all:
		return &CannotHoldError{f, "both sides: name --stored or --committed"}
	}
	return is.write(d, w, o)
}

func (d Document) writeTree(w treeWriter) error {
	if d.Kind == Plan {
		return writePlan(w, *d.Plan)
	}
	return d.writeOffsets(w)
}

// PlanOf is the document of a plan.
func PlanOf(p offsets.Plan) Document {
	return Document{Kind: Plan, ID: p.ID, Command: p.Command, Taken: p.Created, Origin: p.Origin, Plan: &p}
}

// Losses says, in words, what of this document a format has no place for.
func (d Document) Losses(f Format) []string {
	holds := f.as().holds
	if holds.all {
		return nil
	}
	var none, epochs, metadata, ids, types, empty int
	for g, rows := range d.byGroup {
		if g.Type != "" && g.Type != offsets.TypeUnknown {
			types++
		}
		if len(rows) == 0 {
			empty++
		}
		for _, r := range rows {
			if r.Offset == offsets.None {
				none++
			}
			if r.Epoch != offsets.None {
				epochs++
			}
			if r.Metadata != "" {
				metadata++
			}
			if r.TopicID != "" || r.Value.TopicID != "" {
				ids++
			}
		}
	}
	var lost []string
	add := func(before string, n int, noun, after string) {
		if n > 0 {
			lost = append(lost, before+offsets.Plural(n, noun)+after)
		}
	}
	if !holds.none {
		add("", none, "partition", " without an offset"+holds.instead)
	}
	if !holds.metadata {
		add("the metadata of ", metadata, "commit", "")
	}
	if !holds.epochs {
		add("the leader epoch of ", epochs, "commit", "")
	}
	if !holds.origin {
		add("the topic id of ", ids, "partition", "")
		if d.Origin.Cluster != "" {
			lost = append(lost, "the cluster id")
		}
		if !d.Taken.IsZero() {
			lost = append(lost, "the time")
		}
	}
	add("the type of ", types, "group", "")
	if !holds.origin {
		add("", empty, "group", " without an offset")
	}
	return lost
}

// HoldsTopicIDs reports whether a document of the format says of which topic id an offset is.
func (f Format) HoldsTopicIDs() bool {
	h := f.as().holds
	return h.all || h.origin
}

// twoSided reports whether rows of both sides are in it.
func (d Document) twoSided() bool {
	for i := range d.Rows {
		if d.Rows[i].Side != d.Rows[0].Side {
			return true
		}
	}
	return false
}

// held yields the rows that have an offset.
func (d Document) held(yield func(*Row) bool) {
	for i := range d.Rows {
		if d.Rows[i].Offset != offsets.None && !yield(&d.Rows[i]) {
			return
		}
	}
}
