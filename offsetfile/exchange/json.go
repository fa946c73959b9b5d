package exchange

import (
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gtoffset/kafkaops/offsets"
)

// JSON is a document of this program: gtoffset.offsets/1 or gtoffset.plan/1.
const JSON Format = "json"

func ourJSON() format {
	return format{
		name: JSON, words: "a document of gtoffset in JSON", holds: holds{all: true},
		shape: func(t *tree) bool { return t.hasText("schema") },
		tree:  (*reading).readOurs,
		write: func(d Document, w io.Writer, _ WriteOptions) error { return d.writeTree(&jsonWriter{w: w}) },
	}
}

// The schemas that can be read.
const (
	OffsetsSchema = "gtoffset.offsets/1"
	PlanSchema    = "gtoffset.plan/1"
)

// readOurs reads a document of this program. Fields that it does not know are passed over, as later versions may add some.
func (r *reading) readOurs(t *tree) error {
	var at [9]int
	if !r.fields(t, 0, nowhere, false, at[:], "schema", "kind", "side", "taken", "tool", "cluster", "store", "groups", "id") {
		return nil
	}
	if at[0] < 0 {
		r.bad(0, "", "no schema: not a document of gtoffset (want %q)", OffsetsSchema)
		return nil
	}
	switch schema := r.textIn(t, at[0], nowhere, "schema"); schema {
	case OffsetsSchema:
	case PlanSchema:
		r.readPlan(t)
		return nil
	case "gtoffset.describe/1", "gtoffset.groups/1", "gtoffset.wait/1", "gtoffset.error/1":
		return &UnknownError{fmt.Sprintf("%s shows, but does not hold offsets to be written; gtoffset export makes such a document", schema)}
	default:
		if len(r.problems) == 0 {
			r.bad(r.pos(t, at[0]), "", "schema is %s, want %q or %q", clip(schema), OffsetsSchema, PlanSchema)
		}
		return nil
	}
	d := &r.doc
	d.Tool, d.ID = r.textIn(t, at[4], nowhere, "tool"), r.textIn(t, at[8], nowhere, "id")
	var more [4]int
	r.fields(t, 0, nowhere, false, more[:], "command", "why", "user", "host")
	d.Command, d.Why = r.textIn(t, more[0], nowhere, "command"), r.textIn(t, more[1], nowhere, "why")
	d.User, d.Host = r.textIn(t, more[2], nowhere, "user"), r.textIn(t, more[3], nowhere, "host")
	d.Origin = r.origin(t, at[5], at[6])
	d.Taken = r.timeIn(t, at[3], "taken")
	switch d.Kind = Kind(r.textIn(t, at[1], nowhere, "kind")); d.Kind {
	case Export:
	case Backup:
		if r.format == YAML && !strings.HasSuffix(r.text, "\n") { // its rows end with a number
			r.bad(len(r.text), "", "the last line has no end: the document may be cut off")
		}
	default:
		r.bad(r.pos(t, max(at[1], 0)), "", "kind is %s, want %q or %q", clip(string(d.Kind)), Export, Backup)
	}
	switch side := r.textIn(t, at[2], nowhere, "side"); side {
	case "both":
	case string(offsets.Stored), string(offsets.Committed):
		d.Side = offsets.Side(side)
	default:
		r.bad(r.pos(t, max(at[2], 0)), "", "side is %s, want stored, committed or both", clip(side))
	}
	if r.list(t, at[7], nowhere, "groups") {
		i := 0
		for v := range t.items(at[7]) {
			r.offsetsGroup(t, v, i)
			i++
		}
	}
	return nil
}

// list reports whether a field is a list, as it must be.
func (r *reading) list(t *tree, i int, where func() string, name string) bool {
	switch {
	case i < 0:
		r.bad(0, where(), "%s are missing", name)
	case t.nodes[i].kind != kindArray:
		r.bad(r.pos(t, i), where(), "%s is %s, not a list", name, t.nodes[i].kind)
	default:
		return true
	}
	return false
}

// origin reads the cluster and the store.
func (r *reading) origin(t *tree, cluster, store int) offsets.Origin {
	var o offsets.Origin
	var at [3]int
	if cluster >= 0 && t.nodes[cluster].kind != kindNull && r.fields(t, cluster, nowhere, false, at[:], "id", "bootstrap", "source") {
		o.Cluster, o.Bootstrap = r.textIn(t, at[0], nowhere, "cluster id"), r.textIn(t, at[1], nowhere, "bootstrap")
		o.Source = r.textIn(t, at[2], nowhere, "source")
	}
	if store >= 0 && t.nodes[store].kind != kindNull && r.fields(t, store, nowhere, false, at[:1], "url") {
		o.Store = r.textIn(t, at[0], nowhere, "url")
	}
	return o
}

func (r *reading) timeIn(t *tree, i int, name string) time.Time {
	s := r.textIn(t, i, nowhere, name)
	if s == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		r.bad(r.pos(t, i), "", "%s is %s, not a time in RFC 3339", name, clip(s))
	}
	return at.UTC()
}

// exactly reads a text, and its exact bytes where they stand beside it.
func (r *reading) exactly(t *tree, i, exact int, where func() string, name string) string {
	s := r.textIn(t, i, where, name)
	if exact < 0 {
		return s
	}
	b, err := base64.StdEncoding.DecodeString(r.textIn(t, exact, where, name+"_base64"))
	if err != nil {
		r.bad(r.pos(t, exact), where(), "%s_base64: %v", name, err)
	}
	return r.name(string(b))
}

// groupName reads the name of a group, which may be "" but not missing, and sees that it is the only one of that name.
func (r *reading) groupName(t *tree, group, exact, kind, self int, where func() string) (string, bool) {
	if group < 0 || t.nodes[group].kind == kindNull {
		r.bad(r.pos(t, self), where(), "group is missing")
		return "", false
	}
	name := r.exactly(t, group, exact, where, "group")
	if _, again := r.groups[name]; again {
		r.bad(r.pos(t, group), where(), "group %s is named twice", clip(name))
		return name, false
	}
	r.groups[name] = offsets.GroupType(r.textIn(t, kind, where, "type"))
	if r.groups[name] == "" {
		r.groups[name] = offsets.TypeUnknown
	}
	return name, true
}

func (r *reading) offsetsGroup(t *tree, v, i int) {
	where := func() string { return fmt.Sprintf("groups[%d]", i) }
	var at [5]int
	if !r.fields(t, v, where, false, at[:], "group", "group_base64", "type", "partitions", "damaged") {
		return
	}
	name, ok := r.groupName(t, at[0], at[1], at[2], v, where)
	if !ok || !r.list(t, at[3], where, "partitions") {
		return
	}
	if at[4] >= 0 && r.list(t, at[4], where, "damaged") {
		for remains := range t.items(at[4]) {
			r.damagedPlace(t, remains, name, where)
		}
	}
	j := 0
	for row := range t.items(at[3]) {
		r.offsetsRow(t, row, name, i, j)
		j++
	}
}

func (r *reading) offsetsRow(t *tree, v int, group string, i, j int) {
	var at [12]int
	row := Row{Given: offsets.Given{Group: group, Value: offsets.NoValue}, Written: offsets.None}
	where := func() string {
		s := fmt.Sprintf("groups[%d].partitions[%d]", i, j)
		if row.Topic != "" {
			s += fmt.Sprintf(" (group %q, topic %q", group, row.Topic)
			if at[3] >= 0 {
				s += ", partition " + t.string(at[3])
			}
			s += ")"
		}
		return s
	}
	if !r.fields(t, v, where, false, at[:], "topic", "topic_base64", "topic_id", "partition", "side", "offset", "epoch", "metadata", "metadata_base64", "written",
		"recorded_topic_id", "recorded_cluster") {
		return
	}
	row.Topic = r.exactly(t, at[0], at[1], where, "topic")
	row.TopicID = r.textIn(t, at[2], where, "topic_id")
	wrong := func(i int, name, why string) {
		if i < 0 {
			i = v
		}
		r.bad(r.pos(t, i), where(), "%s %s", name, why)
	}
	var why string
	switch {
	case at[3] < 0:
		wrong(v, "partition", "is missing")
	default:
		if row.Partition, why = t.partitionAt(at[3]); why != "" {
			wrong(at[3], "partition", why)
		}
	}
	row.Side = r.doc.Side
	if at[4] >= 0 {
		row.Side = offsets.Side(r.textIn(t, at[4], where, "side"))
	}
	switch {
	case row.Side != offsets.Stored && row.Side != offsets.Committed:
		wrong(at[4], "side", fmt.Sprintf("is %s, want stored or committed", clip(string(row.Side))))
	case r.doc.Side != "" && row.Side != r.doc.Side:
		wrong(at[4], "side", fmt.Sprintf("is %s in a document of the %s side", row.Side, r.doc.Side))
	}
	if r.format == YAML && (at[6] < 0 || at[7] < 0) { // JSON that is cut off has no closing bracket; YAML has none to miss
		wrong(v, "epoch or metadata", "is missing: the document may be cut off")
	}
	row.Offset = r.nullable(t, at[5], "offset", wrong)
	if row.Offset != offsets.None {
		if at[6] >= 0 && t.nodes[at[6]].kind != kindNull {
			n, why := t.numberIn(at[6])
			switch {
			case why != "":
				wrong(at[6], "epoch", why)
			case n < 0 || n > 1<<31-1:
				wrong(at[6], "epoch", fmt.Sprintf("%d is no epoch; one that is not there is null", n))
			default:
				row.Epoch = int32(n)
			}
		}
		row.Metadata = r.exactly(t, at[7], at[8], where, "metadata")
		row.Value.TopicID, row.Cluster = r.textIn(t, at[10], where, "recorded_topic_id"), r.textIn(t, at[11], where, "recorded_cluster")
	}
	if r.doc.Kind == Backup {
		row.Written = r.nullable(t, at[9], "written", wrong)
	}
	r.add(r.pos(t, v), where, row)
}

// nullable reads an offset or null, which must be there.
func (r *reading) nullable(t *tree, i int, name string, wrong func(int, string, string)) int64 {
	if i < 0 {
		wrong(i, name, "is missing (null means that there is none)")
		return offsets.None
	}
	if t.nodes[i].kind == kindNull {
		return offsets.None
	}
	n, why := t.offsetAt(i)
	if why != "" {
		wrong(i, name, why)
		return offsets.None
	}
	return n
}

func (t *tree) partitionAt(i int) (int32, string) {
	if _, why := t.numberIn(i); why != "" {
		return 0, why
	}
	return partitionIn(t.raw(i))
}

// treeWriter takes a document piece by piece.
type treeWriter interface {
	open(name string, list bool) // name "" in a list
	close()
	null(name string)
	flag(name string, v bool)
	number(name string, n int64)
	text(name, s string)
	end() error
}

// writeOffsets writes gtoffset.offsets/1.
func (d Document) writeOffsets(w treeWriter) error {
	side := string(d.Side)
	if side == "" {
		side = "both"
		for _, r := range d.Rows {
			if r.Side == "" {
				return &CannotHoldError{JSON, "offsets of which the side is not known"}
			}
		}
	}
	w.open("", false)
	w.text("schema", OffsetsSchema)
	w.text("kind", string(d.Kind))
	w.text("side", side)
	timeOrNull(w, "taken", d.Taken)
	w.text("tool", d.Tool)
	writeOrigin(w, d.Origin)
	for _, f := range [...]struct{ name, s string }{{"id", d.ID}, {"command", d.Command}, {"why", d.Why}, {"user", d.User}, {"host", d.Host}} {
		if f.s != "" {
			w.text(f.name, f.s)
		}
	}
	w.open("groups", true)
	for g, rows := range d.byGroup {
		w.open("", false)
		exactText(w, "group", g.Name)
		kind := g.Type
		if kind == "" {
			kind = offsets.TypeUnknown
		}
		w.text("type", string(kind))
		w.open("partitions", true)
		for i := range rows {
			d.writeRow(w, &rows[i])
		}
		w.close()
		if len(g.Damaged) > 0 {
			writeDamaged(w, g.Damaged)
		}
		w.close()
	}
	w.close()
	w.close()
	return w.end()
}

// damagedPlace reads what lay in a damaged place before a write.
func (r *reading) damagedPlace(t *tree, v int, group string, where func() string) {
	var at [4]int
	if r.fields(t, v, where, false, at[:], "path", "path_base64", "content", "content_base64") {
		r.damaged[group] = append(r.damaged[group], offsets.Remains{
			Path: r.exactly(t, at[0], at[1], where, "path"), Content: []byte(r.exactly(t, at[2], at[3], where, "content")),
		})
	}
}

// writeDamaged keeps what nothing here can read: for a person, who may.
func writeDamaged(w treeWriter, all []offsets.Remains) {
	w.open("damaged", true)
	for _, r := range all {
		w.open("", false)
		exactText(w, "path", r.Path)
		exactText(w, "content", string(r.Content))
		w.close()
	}
	w.close()
}

func writeOrigin(w treeWriter, o offsets.Origin) {
	w.open("cluster", false)
	textOrNull(w, "id", o.Cluster)
	textOrNull(w, "bootstrap", o.Bootstrap)
	textOrNull(w, "source", o.Source)
	w.close()
	if o.Store == "" {
		w.null("store")
		return
	}
	w.open("store", false)
	w.text("url", o.Store)
	w.close()
}

func textOrNull(w treeWriter, name, s string) {
	if s == "" {
		w.null(name)
	} else {
		w.text(name, s)
	}
}

func timeOrNull(w treeWriter, name string, t time.Time) {
	if t.IsZero() {
		w.null(name)
	} else {
		w.text(name, t.UTC().Format(offsets.TimeLayout))
	}
}

func (d Document) writeRow(w treeWriter, r *Row) {
	side := r.Side
	if side == "" {
		side = d.Side
	}
	w.open("", false)
	exactText(w, "topic", r.Topic)
	textOrNull(w, "topic_id", r.TopicID)
	w.number("partition", int64(r.Partition))
	w.text("side", string(side))
	orNull(w, "offset", r.Offset)
	epoch := int64(r.Epoch)
	if r.Offset == offsets.None {
		epoch = offsets.None
	}
	orNull(w, "epoch", epoch)
	writeRest(w, r.Value, side)
	if d.Kind == Backup {
		orNull(w, "written", r.Written)
	}
	w.close()
}

func orNull(w treeWriter, name string, n int64) {
	if n == offsets.None {
		w.null(name)
	} else {
		w.number(name, n)
	}
}

// exactText writes a text; one that is not UTF-8 has U+FFFD for its bad bytes and is followed by its exact bytes.
func exactText(w treeWriter, name, s string) {
	w.text(name, s)
	if !utf8.ValidString(s) {
		w.text(name+"_base64", base64.StdEncoding.EncodeToString([]byte(s)))
	}
}

// jsonWriter writes JSON on one line.
type jsonWriter struct {
	w     io.Writer
	b     []byte
	stack []byte // the brackets to close
	err   error
}

func (j *jsonWriter) name(name string) {
	if n := len(j.b); n > 0 && j.b[n-1] != '{' && j.b[n-1] != '[' {
		j.b = append(j.b, ',')
	}
	if name != "" {
		j.b = append(j.b, '"')
		j.b = append(j.b, name...)
		j.b = append(j.b, '"', ':')
	}
}

func (j *jsonWriter) open(name string, list bool) {
	j.name(name)
	if list {
		j.b, j.stack = append(j.b, '['), append(j.stack, ']')
	} else {
		j.b, j.stack = append(j.b, '{'), append(j.stack, '}')
	}
}

func (j *jsonWriter) close() {
	last := len(j.stack) - 1
	j.b = append(j.b, j.stack[last])
	j.stack = j.stack[:last]
	if n := len(j.b); n >= 64<<10 { // all but the last byte, at which name looks
		if j.err == nil {
			_, j.err = j.w.Write(j.b[:n-1])
		}
		j.b = append(j.b[:0], j.b[n-1])
	}
}

func (j *jsonWriter) null(name string) {
	j.name(name)
	j.b = append(j.b, "null"...)
}

func (j *jsonWriter) flag(name string, v bool) {
	j.name(name)
	j.b = strconv.AppendBool(j.b, v)
}

func (j *jsonWriter) number(name string, n int64) {
	j.name(name)
	j.b = strconv.AppendInt(j.b, n, 10)
}

func (j *jsonWriter) text(name, s string) {
	j.name(name)
	j.b = quoted(j.b, s, false)
}

func (j *jsonWriter) end() error {
	j.b = append(j.b, '\n')
	if j.err == nil {
		_, j.err = j.w.Write(j.b)
	}
	return j.err
}

// quoted appends a text in double quotes. What a terminal would not show is escaped: in YAML above U+FFFF as \U, which JSON lacks.
func quoted(b []byte, s string, yaml bool) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		c, n := utf8.DecodeRuneInString(s[i:])
		if c >= 0x80 && (c != utf8.RuneError || n > 1) && (shown(c) || c == 0x200d || c == 0xfe0f) {
			i += n
			continue
		}
		b = append(b, s[from:i]...)
		switch short := strings.IndexRune("\"\\\b\f\n\r\t", c); {
		case short >= 0:
			b = append(b, '\\', `"\bfnrt`[short])
		case c >= 0x10000 && yaml:
			b = fmt.Appendf(b, `\U%08x`, c)
		case c >= 0x10000:
			b = fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+(c-0x10000)>>10, 0xdc00+(c-0x10000)&0x3ff)
		default:
			b = fmt.Appendf(b, `\u%04x`, c)
		}
		i += n
		from = i
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}

// shown tells whether a character leaves a mark of its own. Blanks other than the ASCII one do not: they look like it.
func shown(r rune) bool {
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0: // empty letters and marks
		return false
	}
	return unicode.IsPrint(r) && !unicode.Is(unicode.Variation_Selector, r)
}
