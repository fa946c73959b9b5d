package output

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gtoffset/kafkaops/offsets"
)

// OffsetsSchema is the schema of exports and backups.
const OffsetsSchema = "gtoffset.offsets/1"

// Kind says what a document of offsets is for.
type Kind string

// The kinds. Only a backup's null removes something when it is imported.
const (
	Export Kind = "export"
	Backup Kind = "backup"
)

// Offsets is the document gtoffset.offsets/1. Old of a row is the offset that the document holds (NoValue: null); Written,
// only in a backup, is what the write put in its place.
type Offsets struct {
	Kind   Kind
	Side   offsets.Side // "" when rows of both sides are in it
	Taken  time.Time
	Tool   string // "gtoffset 0.1.0"
	Origin offsets.Origin
	Groups []offsets.BackupGroup

	// Of a backup: the plan that it was taken for, who ran it, and why (--why).
	ID, Command, Why, User, Host string
}

// BackupOf is the backup of a plan: what each partition to be written holds now, and what it is about to hold.
func BackupOf(p offsets.Plan) Offsets {
	doc := Offsets{Kind: Backup, Taken: p.Created, Origin: p.Origin, ID: p.ID, Command: p.Command}
	if s := sides(p); len(s) == 1 {
		doc.Side = s[0]
	}
	for _, g := range p.Groups {
		bg := offsets.BackupGroup{Group: g.Group, Type: g.Type}
		for _, c := range g.Changes {
			if c.Verdict == offsets.Write && c.Result != offsets.Already {
				bg.Rows = append(bg.Rows, offsets.BackupRow{Key: c.Key, Side: c.Side, TopicID: c.TopicID, Old: c.Old, Written: c.New})
			}
		}
		if len(bg.Rows) > 0 {
			doc.Groups = append(doc.Groups, bg)
		}
	}
	return doc
}

// Backup is the part of the document that a restore is planned from.
func (o Offsets) Backup() offsets.Backup {
	return offsets.Backup{Origin: o.Origin, Side: o.Side, Groups: o.Groups}
}

// Write writes the document as json, yaml or csv (group, topic, partition, offset, epoch, metadata; - for what is not there).
func (o Offsets) Write(s Stream, f Format) error {
	switch f {
	case JSON, "":
		return writeJSON(s.W, o.document())
	case YAML:
		var b bytes.Buffer
		if err := writeJSON(&b, o.document()); err != nil {
			return err
		}
		return writeYAML(s.W, b.Bytes())
	case CSV:
		return o.csv(s.W)
	}
	return FormatError{f, []Format{JSON, YAML, CSV}}
}

func (o Offsets) csv(w io.Writer) error {
	return writeCSV(w, []string{"group", "topic", "partition", "offset", "epoch", "metadata"}, func(write func([]string)) {
		for _, g := range o.Groups {
			for _, r := range g.Rows {
				epoch := "-"
				if r.Old.Epoch != offsets.None {
					epoch = strconv.Itoa(int(r.Old.Epoch))
				}
				metadata := "-"
				if d := valueDocumentOf(r.Old, r.Side); d.Metadata != nil {
					metadata = *d.Metadata
				}
				write([]string{g.Group, r.Topic, strconv.Itoa(int(r.Partition)), offset(r.Old), epoch, metadata})
			}
		}
	})
}

type offsetsDocument struct {
	Schema  string                 `json:"schema"`
	Kind    string                 `json:"kind"`
	Side    string                 `json:"side"`
	Taken   *string                `json:"taken"`
	Tool    string                 `json:"tool"`
	Cluster clusterDocument        `json:"cluster"`
	Store   *storeDocument         `json:"store"`
	ID      string                 `json:"id,omitempty"`
	Command string                 `json:"command,omitempty"`
	Why     string                 `json:"why,omitempty"`
	User    string                 `json:"user,omitempty"`
	Host    string                 `json:"host,omitempty"`
	Groups  []offsetsGroupDocument `json:"groups"`
}

type offsetsGroupDocument struct {
	Group      *string              `json:"group"`
	GroupExact string               `json:"group_base64,omitempty"`
	Type       string               `json:"type"`
	Partitions []offsetsRowDocument `json:"partitions"`
}

type offsetsRowDocument struct {
	Topic      string  `json:"topic"`
	TopicExact string  `json:"topic_base64,omitempty"`
	TopicID    *string `json:"topic_id"`
	Partition  *int32  `json:"partition"`
	Side       string  `json:"side"`
	rowValue
	Written nullable `json:"written,omitzero"` // the number alone: all that a restore compares
}

// rowValue is like valueDocument, but tells null from a field that is not there: null removes.
type rowValue struct {
	Offset        nullable `json:"offset"`
	Epoch         *int32   `json:"epoch"`
	Metadata      *string  `json:"metadata"`
	MetadataExact string   `json:"metadata_base64,omitempty"`

	// What a store had recorded with the offset: an undo must not make an old topic's number look like one of the topic of today.
	RecordedTopicID string `json:"recorded_topic_id,omitempty"`
	RecordedCluster string `json:"recorded_cluster,omitempty"`
}

// nullable is a number or null, that must be there. Why it is neither is kept for a message that names the place.
type nullable struct {
	value *int64
	there bool
	err   error
}

// MarshalJSON writes the number or null.
func (n nullable) MarshalJSON() ([]byte, error) {
	if n.value == nil {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, *n.value, 10), nil
}

// UnmarshalJSON reads the number or null, and notes that it was there.
func (n *nullable) UnmarshalJSON(b []byte) error {
	*n = nullable{there: true}
	if string(b) == "null" {
		return nil
	}
	v, err := strconv.ParseInt(string(b), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		n.err = fmt.Errorf("%s does not fit into 64 bits", b)
	case err != nil:
		n.err = fmt.Errorf("%s is not a whole number", cleanText(string(b)))
	case v < 0:
		n.err = fmt.Errorf("%d is negative; an offset that is not there is null", v)
	}
	n.value = &v
	return nil
}

func nullableOf(o int64) nullable { return nullable{value: numberOrNull(o), there: true} }

func (n nullable) offset() int64 {
	if n.value == nil {
		return offsets.None
	}
	return *n.value
}

func (o Offsets) document() offsetsDocument {
	doc := offsetsDocument{
		Schema: OffsetsSchema, Kind: string(o.Kind), Side: orElse(string(o.Side), "both"), Taken: timeOrNull(o.Taken), Tool: o.Tool,
		ID: o.ID, Command: o.Command, Why: o.Why, User: o.User, Host: o.Host, Groups: make([]offsetsGroupDocument, len(o.Groups)),
	}
	doc.Cluster, doc.Store = originDocuments(o.Origin)
	for i, g := range o.Groups {
		gd := offsetsGroupDocument{Group: &g.Group, GroupExact: exact(g.Group), Type: orElse(string(g.Type), string(offsets.TypeUnknown)), Partitions: make([]offsetsRowDocument, len(g.Rows))}
		for j, r := range g.Rows {
			v := valueDocumentOf(r.Old, r.Side)
			gd.Partitions[j] = offsetsRowDocument{
				Topic: r.Topic, TopicExact: exact(r.Topic), TopicID: textOrNull(r.TopicID), Partition: &r.Partition, Side: string(r.Side),
				rowValue: rowValue{Offset: nullableOf(r.Old.Offset), Epoch: v.Epoch, Metadata: v.Metadata, MetadataExact: v.MetadataExact,
					RecordedTopicID: r.Old.TopicID, RecordedCluster: r.Old.Cluster},
			}
			if o.Kind == Backup {
				gd.Partitions[j].Written = nullableOf(r.Written.Offset)
			}
		}
		doc.Groups[i] = gd
	}
	return doc
}

// DocumentError is what is wrong with a document, and where.
type DocumentError struct {
	Where string // "line 3, column 17" or "group \"a\", orders 2"; "" for the document as a whole
	What  string
}

// Error names the place first.
func (e DocumentError) Error() string {
	if e.Where == "" {
		return e.What
	}
	return e.Where + ": " + e.What
}

// maxDocument is more than a million partitions take; larger input is refused before it fills the memory.
const maxDocument = 512 << 20

// ReadOffsets reads a document gtoffset.offsets/1 in JSON. It is strict where a guess could move an offset: another schema, a
// field that is missing or there twice, a number that is negative or no whole 64-bit number, a partition named twice and
// anything behind the document are errors of type DocumentError. Fields that it does not know are passed over, as later
// versions may add some.
func ReadOffsets(r io.Reader) (Offsets, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		return Offsets{}, fmt.Errorf("read document: %w", err)
	}
	switch {
	case len(data) > maxDocument:
		return Offsets{}, DocumentError{"", fmt.Sprintf("larger than %d MiB", maxDocument>>20)}
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return Offsets{}, DocumentError{"", "the text is UTF-16; save it as UTF-8"}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		return Offsets{}, DocumentError{"", "the text is not UTF-8"}
	}
	if err := repeated(data); err != nil {
		return Offsets{}, err
	}
	var head struct {
		Schema *string `json:"schema"`
	}
	if err := unmarshal(data, &head); err != nil {
		return Offsets{}, err
	}
	switch {
	case head.Schema == nil:
		return Offsets{}, DocumentError{"", fmt.Sprintf("no schema: not a document of gtoffset (want %q)", OffsetsSchema)}
	case *head.Schema != OffsetsSchema:
		return Offsets{}, DocumentError{"", fmt.Sprintf("schema is %q, want %q", *head.Schema, OffsetsSchema)}
	}
	var doc offsetsDocument
	if err := unmarshal(data, &doc); err != nil {
		return Offsets{}, err
	}
	return doc.value()
}

func unmarshal(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case len(bytes.TrimSpace(data)) == 0:
		return DocumentError{"", "it is empty"}
	case errors.As(err, &syntax):
		return DocumentError{position(data, syntax.Offset), syntax.Error()}
	case errors.As(err, &kind):
		return DocumentError{position(data, kind.Offset), fmt.Sprintf("%s is a %s, want %s", orElse(kind.Field, "the document"), kind.Value, kind.Type)}
	}
	return DocumentError{"", err.Error()}
}

// repeated refuses an object with a name in it twice: encoding/json would take the last without a word. It takes upper and
// lower case for the same, so they are the same here too.
func repeated(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	type level struct {
		names map[string]bool // nil in a list
		name  bool            // a name comes next
	}
	var levels []level
	for {
		token, err := dec.Token()
		if err != nil {
			return nil // the end, or a fault that unmarshal words better
		}
		var top *level
		if len(levels) > 0 {
			top = &levels[len(levels)-1]
		}
		name, isName := token.(string)
		switch delim, _ := token.(json.Delim); {
		case delim == '}' || delim == ']':
			levels = levels[:len(levels)-1]
			continue
		case top != nil && top.name && isName:
			name = strings.ToLower(name)
			if top.names[name] {
				return DocumentError{position(data, dec.InputOffset()), fmt.Sprintf("%q stands there twice", name)}
			}
			top.names[name], top.name = true, false
			continue
		case top != nil && top.names != nil:
			top.name = true // behind this value
		}
		switch token {
		case json.Delim('{'):
			levels = append(levels, level{map[string]bool{}, true})
		case json.Delim('['):
			levels = append(levels, level{})
		}
	}
}

// position turns an offset behind a byte into its line and column.
func position(data []byte, offset int64) string {
	before := data[:min(max(offset-1, 0), int64(len(data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}

func (d offsetsDocument) value() (Offsets, error) {
	o := Offsets{Kind: Kind(d.Kind), Tool: d.Tool, ID: d.ID, Command: d.Command, Why: d.Why, User: d.User, Host: d.Host}
	o.Origin.Cluster, o.Origin.Bootstrap, o.Origin.Source = deref(d.Cluster.ID), deref(d.Cluster.Bootstrap), deref(d.Cluster.Source)
	if d.Store != nil {
		o.Origin.Store = d.Store.URL
	}
	switch o.Kind {
	case Export, Backup:
	default:
		return Offsets{}, DocumentError{"", fmt.Sprintf("kind is %q, want %q or %q", d.Kind, Export, Backup)}
	}
	switch d.Side {
	case "both":
	case string(offsets.Stored), string(offsets.Committed):
		o.Side = offsets.Side(d.Side)
	default:
		return Offsets{}, DocumentError{"", fmt.Sprintf("side is %q, want stored, committed or both", d.Side)}
	}
	if d.Taken != nil {
		taken, err := time.Parse(time.RFC3339Nano, *d.Taken)
		if err != nil {
			return Offsets{}, DocumentError{"taken", fmt.Sprintf("%q is not a time in RFC 3339", *d.Taken)}
		}
		o.Taken = taken.UTC()
	}
	if d.Groups == nil {
		return Offsets{}, DocumentError{"", "groups are missing"}
	}
	seen := map[string]bool{}
	for i, g := range d.Groups {
		at := fmt.Sprintf("groups[%d]", i)
		if g.Group == nil {
			return Offsets{}, DocumentError{at, "group is missing"}
		}
		name, err := original(*g.Group, g.GroupExact)
		if err != nil {
			return Offsets{}, DocumentError{at, "group_base64: " + err.Error()}
		}
		if seen[name] {
			return Offsets{}, DocumentError{at, fmt.Sprintf("group %q is named twice", name)}
		}
		seen[name] = true
		bg := offsets.BackupGroup{Group: name, Type: offsets.GroupType(orElse(g.Type, string(offsets.TypeUnknown)))}
		for j, r := range g.Partitions {
			row, err := r.value(o)
			if err != nil {
				at := fmt.Sprintf("groups[%d].partitions[%d] (group %q", i, j, name)
				if r.Topic != "" {
					at += fmt.Sprintf(", topic %q", r.Topic)
				}
				if r.Partition != nil {
					at += fmt.Sprintf(", partition %d", *r.Partition)
				}
				return Offsets{}, DocumentError{at + ")", err.Error()}
			}
			bg.Rows = append(bg.Rows, row)
		}
		slices.SortStableFunc(bg.Rows, compareRows)
		for j := 1; j < len(bg.Rows); j++ {
			if r := bg.Rows[j]; compareRows(bg.Rows[j-1], r) == 0 {
				return Offsets{}, DocumentError{fmt.Sprintf("group %q", name), fmt.Sprintf("topic %q, partition %d is named twice (%s and %s)", r.Topic, r.Partition, offset(bg.Rows[j-1].Old), offset(r.Old))}
			}
		}
		o.Groups = append(o.Groups, bg)
	}
	slices.SortFunc(o.Groups, func(a, b offsets.BackupGroup) int { return strings.Compare(a.Group, b.Group) })
	return o, nil
}

func compareRows(a, b offsets.BackupRow) int {
	return cmp.Or(a.Key.Compare(b.Key), cmp.Compare(a.Side, b.Side))
}

func (r offsetsRowDocument) value(o Offsets) (offsets.BackupRow, error) {
	topic, err := original(r.Topic, r.TopicExact)
	if err != nil {
		return offsets.BackupRow{}, fmt.Errorf("topic_base64: %w", err)
	}
	row := offsets.BackupRow{Side: offsets.Side(r.Side), TopicID: deref(r.TopicID), Old: offsets.NoValue, Written: offsets.NoValue}
	if r.Side == "" {
		row.Side = o.Side
	}
	switch {
	case topic == "":
		return row, errors.New("topic is missing")
	case r.Partition == nil:
		return row, errors.New("partition is missing")
	case *r.Partition < 0:
		return row, errors.New("partition is negative")
	case row.Side != offsets.Stored && row.Side != offsets.Committed:
		return row, fmt.Errorf("side is %q, want stored or committed", r.Side)
	case o.Side != "" && row.Side != o.Side:
		return row, fmt.Errorf("side is %s in a document of the %s side", row.Side, o.Side)
	case !r.Offset.there:
		return row, errors.New("offset is missing (null means that there is none)")
	case r.Offset.err != nil:
		return row, fmt.Errorf("offset %w", r.Offset.err)
	case r.Written.err != nil:
		return row, fmt.Errorf("written %w", r.Written.err)
	case o.Kind == Backup && !r.Written.there:
		return row, errors.New("written is missing: it is part of every row of a backup")
	case r.Epoch != nil && *r.Epoch < 0:
		return row, errors.New("epoch is negative; an epoch that is not there is null")
	}
	row.Key = offsets.Key{Topic: topic, Partition: *r.Partition}
	if row.Old.Offset = r.Offset.offset(); row.Old.Offset != offsets.None {
		if r.Epoch != nil {
			row.Old.Epoch = *r.Epoch
		}
		row.Old.TopicID, row.Old.Cluster = r.RecordedTopicID, r.RecordedCluster
		row.Old.Metadata, err = original(deref(r.Metadata), r.MetadataExact)
		if err != nil {
			return row, fmt.Errorf("metadata_base64: %w", err)
		}
	}
	if o.Kind == Backup {
		row.Written.Offset = r.Written.offset()
	}
	return row, nil
}

// original takes the exact bytes where a document has them.
func original(text, exact string) (string, error) {
	if exact == "" {
		return text, nil
	}
	b, err := base64.StdEncoding.DecodeString(exact)
	return string(b), err
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
