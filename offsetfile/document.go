package offsetfile

import (
	"cmp"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
)

// The headers that have a meaning. All others are kept as they are.
const (
	headerMagic   = "gtoffset"
	headerGroup   = "group"
	headerTopic   = "topic"
	headerTopicID = "topic-id"
	headerCluster = "cluster"
	headerSaved   = "saved"
	headerEntries = "entries"
)

// The keys of an entry that have a meaning. All others are kept as they are.
const (
	keyEpoch   = "epoch"
	keyTopicID = "topic-id"
	keyCluster = "cluster"
)

const magic = "# " + headerMagic + " 1"

// Entry is one partition's line.
type Entry struct {
	Partition int32
	Offset    int64  // next record to read, never negative
	Epoch     int32  // leader epoch, offsets.None if there is none
	TopicID   string // where it differs from the file's header; "" if the header holds
	Cluster   string // where it differs from the file's header; "" if the header holds
}

// kind tells lines apart.
type kind uint8

const (
	blank kind = iota
	header
	entry
)

// line is one line as it was found. A line that is not changed is written back byte by byte.
type line struct {
	text  string // without its line end
	crlf  bool
	kind  kind
	name  string // of a header; "" for a comment
	value string // of a header that has a meaning, decoded
	entry Entry
}

// Document is the content of one gtoffset file: the offsets of one group in one topic. It remembers the form in which it was
// found, headered or bare, and its lines. The zero value is not usable; see [New], [Parse] and [Salvage].
type Document struct {
	headered bool
	lines    []line
	index    map[int32]int  // partition → line
	heads    map[string]int // header → line
	highest  int32          // largest partition, offsets.None if there is none
}

// New returns an empty document in the headered form.
func New(group, topic string) *Document {
	d := newBare()
	d.headered = true
	d.insert(0, line{text: magic, kind: header, name: headerMagic, value: "1"})
	d.setHeader(headerGroup, group)
	d.setHeader(headerTopic, topic)
	d.seal()
	return d
}

// newBare returns an empty document in the bare form. It is no valid file before it has an entry.
func newBare() *Document {
	return &Document{index: map[int32]int{}, heads: map[string]int{}, highest: offsets.None}
}

// Headered reports whether the file has headers and a count of its entries, and so can prove that it is whole. A bare one has
// lines of partition and offset only.
func (d *Document) Headered() bool { return d.headered }

// Group returns the group that the file says it belongs to, "" if it does not say.
func (d *Document) Group() string { return d.header(headerGroup) }

// Topic returns the topic that the file says it belongs to, "" if it does not say.
func (d *Document) Topic() string { return d.header(headerTopic) }

// TopicID returns the topic id as Kafka prints it, "" if the file does not say.
func (d *Document) TopicID() string { return d.header(headerTopicID) }

// Cluster returns the cluster id, "" if the file does not say.
func (d *Document) Cluster() string { return d.header(headerCluster) }

// Saved returns the time in the saved header; zero if there is none that can be read.
func (d *Document) Saved() time.Time {
	t, err := time.Parse(time.RFC3339Nano, d.header(headerSaved))
	if err != nil {
		return time.Time{}
	}
	return t
}

// SetTopicID sets the topic id of all entries that have none of their own; "" removes it. A bare document has no headers and
// stays as it is; so with SetCluster and SetSaved.
func (d *Document) SetTopicID(id string) { d.setHeader(headerTopicID, id) }

// SetCluster sets the cluster id of all entries that have none of their own; "" removes it.
func (d *Document) SetCluster(id string) { d.setHeader(headerCluster, id) }

// SetSaved sets the time of the save; the zero time removes it.
func (d *Document) SetSaved(t time.Time) {
	text := ""
	if !t.IsZero() {
		text = t.UTC().Format(offsets.TimeLayout)
	}
	d.setHeader(headerSaved, text)
}

// Highest returns the largest partition with an entry, offsets.None if there is none.
func (d *Document) Highest() int32 { return d.highest }

// Len returns the number of entries.
func (d *Document) Len() int { return len(d.index) }

// Entries yields all entries in the order of the file.
func (d *Document) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for i := range d.lines {
			if d.lines[i].kind == entry && !yield(d.lines[i].entry) {
				return
			}
		}
	}
}

// Entry returns the entry of a partition.
func (d *Document) Entry(partition int32) (Entry, bool) {
	i, ok := d.index[partition]
	if !ok {
		return Entry{Partition: partition, Epoch: offsets.None}, false
	}
	return d.lines[i].entry, true
}

// Set puts an entry in the place of the partition's line, or adds a line before the next higher partition. Of a line that is
// there, other keys and blanks stay. A bare document records no epoch and no ids, unless its line had them.
func (d *Document) Set(e Entry) error {
	if e.Partition < 0 || e.Offset < 0 || e.Epoch < offsets.None {
		return fmt.Errorf("set partition %d to offset %d, epoch %d: negative", e.Partition, e.Offset, e.Epoch)
	}
	i, found := d.index[e.Partition]
	if !found {
		i = d.insertionPoint(e.Partition)
		d.insert(i, line{
			text: fmt.Sprintf("%d %d", e.Partition, e.Offset), crlf: d.crlf(), kind: entry,
			entry: Entry{Partition: e.Partition, Offset: e.Offset, Epoch: offsets.None},
		})
	}
	l := &d.lines[i]
	l.text = setOffset(l.text, e.Offset)
	l.entry.Offset = e.Offset
	if d.headered || l.entry.Epoch != offsets.None {
		epoch := ""
		if e.Epoch != offsets.None {
			epoch = strconv.Itoa(int(e.Epoch))
		}
		l.text = setKey(l.text, keyEpoch, epoch)
		l.entry.Epoch = e.Epoch
	}
	d.setIDs(l, e.TopicID, e.Cluster)
	d.seal()
	return nil
}

// setIDs sets what a line says of itself against the headers.
func (d *Document) setIDs(l *line, topicID, cluster string) {
	if !d.headered {
		return
	}
	if l.entry.TopicID != topicID {
		l.text, l.entry.TopicID = setKey(l.text, keyTopicID, escape(topicID)), topicID
	}
	if l.entry.Cluster != cluster {
		l.text, l.entry.Cluster = setKey(l.text, keyCluster, escape(cluster)), cluster
	}
}

// Remove takes a partition's entry away and reports whether there was one.
func (d *Document) Remove(partition int32) bool {
	i, ok := d.index[partition]
	if ok {
		d.remove(i)
		d.seal()
	}
	return ok
}

// Upgrade converts a bare document to the headered form, with the same entries. A headered one is not changed.
func (d *Document) Upgrade(group, topic string) {
	if d.headered {
		return
	}
	up := New(group, topic)
	up.remove(len(up.lines) - 1) // the count
	for _, l := range d.lines {
		if l.kind == entry {
			l.crlf = false
			up.lines = append(up.lines, l)
		}
	}
	up.reindex(0)
	up.seal()
	*d = *up
}

// Bytes returns the file in the form in which it was found. Lines that were not changed are byte by byte the same.
func (d *Document) Bytes() []byte {
	size := 0
	for i := range d.lines {
		size += len(d.lines[i].text) + 2
	}
	b := make([]byte, 0, size)
	for i := range d.lines {
		b = append(b, d.lines[i].text...)
		if d.lines[i].crlf {
			b = append(b, '\r')
		}
		b = append(b, '\n')
	}
	return b
}

// header returns the value of a header that has a meaning.
func (d *Document) header(name string) string {
	if i := d.headerLine(name); i >= 0 {
		return d.lines[i].value
	}
	return ""
}

// headerLine finds a header that has a meaning, -1 if there is none.
func (d *Document) headerLine(name string) int {
	if i, ok := d.heads[name]; ok {
		return i
	}
	return -1
}

// setHeader changes a header's line, adds it after the headers at the top, or removes it for "".
func (d *Document) setHeader(name, value string) {
	i := d.headerLine(name)
	switch {
	case !d.headered || i >= 0 && d.lines[i].value == value:
	case value == "" && i >= 0:
		d.remove(i)
	case value == "":
	case i >= 0:
		d.lines[i].text, d.lines[i].value = headerText(name, value), value
	default:
		at := 0
		for at < len(d.lines) && d.lines[at].kind == header && d.lines[at].name != headerEntries {
			at++
		}
		d.insert(at, line{text: headerText(name, value), crlf: d.crlf(), kind: header, name: name, value: value})
	}
}

// seal makes the count of a headered document right.
func (d *Document) seal() {
	if !d.headered {
		return
	}
	n := strconv.Itoa(len(d.index))
	if i := d.headerLine(headerEntries); i >= 0 {
		if d.lines[i].value != n {
			d.lines[i].text, d.lines[i].value = headerText(headerEntries, n), n
		}
		return
	}
	d.insert(len(d.lines), line{text: headerText(headerEntries, n), crlf: d.crlf(), kind: header, name: headerEntries, value: n})
}

// insertionPoint is the line before which a new partition goes: after the line of the nearest lower partition, or before the
// first entry, or, without entries, before the count or at the end.
func (d *Document) insertionPoint(partition int32) int {
	if len(d.index) > 0 && partition > d.highest {
		return d.index[d.highest] + 1
	}
	below, first := -1, -1
	for i := range d.lines {
		if d.lines[i].kind != entry {
			continue
		}
		if first < 0 {
			first = i
		}
		if p := d.lines[i].entry.Partition; p < partition && (below < 0 || p > d.lines[below].entry.Partition) {
			below = i
		}
	}
	switch {
	case below >= 0:
		return below + 1
	case first >= 0:
		return first
	}
	if i := d.headerLine(headerEntries); i >= 0 {
		return i
	}
	return len(d.lines)
}

// crlf is the line end of lines to be added: that of the first line.
func (d *Document) crlf() bool { return len(d.lines) > 0 && d.lines[0].crlf }

func (d *Document) insert(at int, l line) {
	d.lines = append(d.lines, line{})
	copy(d.lines[at+1:], d.lines[at:])
	d.lines[at] = l
	d.reindex(at)
}

func (d *Document) remove(at int) {
	switch l := d.lines[at]; l.kind {
	case entry:
		delete(d.index, l.entry.Partition)
		if l.entry.Partition == d.highest {
			d.highest = offsets.None
			for p := range d.index {
				d.highest = max(d.highest, p)
			}
		}
	case header:
		delete(d.heads, l.name)
	}
	d.lines = append(d.lines[:at], d.lines[at+1:]...)
	d.reindex(at)
}

// reindex notes where the lines are, from one on.
func (d *Document) reindex(from int) {
	for i := from; i < len(d.lines); i++ {
		switch l := &d.lines[i]; l.kind {
		case entry:
			d.index[l.entry.Partition] = i
			d.highest = max(d.highest, l.entry.Partition)
		case header:
			d.heads[l.name] = i
		}
	}
}

// stamp says of the changed partitions that they were recorded for the given topic id and cluster, and of the others nothing
// new. "" is not known, and changes nothing.
func (d *Document) stamp(topicID, cluster string, changed map[int32]bool) {
	d.record(func(e Entry) (string, string) {
		if changed[e.Partition] {
			return cmp.Or(topicID, e.TopicID), cmp.Or(cluster, e.Cluster)
		}
		return e.TopicID, e.Cluster
	})
	if d.headered && d.Len() == 0 {
		d.SetTopicID(cmp.Or(topicID, d.TopicID()))
		d.SetCluster(cmp.Or(cluster, d.Cluster()))
	}
}

// record writes for what topic id and cluster each entry was recorded, "" if that is not known; ids gets the entries with what
// the file says of them now. What holds for all entries goes into the header, else into the lines.
func (d *Document) record(ids func(Entry) (topicID, cluster string)) {
	if !d.headered || d.Len() == 0 {
		return
	}
	type pair struct{ topicID, cluster string }
	want := make(map[int32]pair, d.Len())
	var topics, clusters []string
	for e := range d.Entries() {
		e.TopicID, e.Cluster = cmp.Or(e.TopicID, d.TopicID()), cmp.Or(e.Cluster, d.Cluster())
		var p pair
		p.topicID, p.cluster = ids(e)
		want[e.Partition] = p
		topics, clusters = append(topics, p.topicID), append(clusters, p.cluster)
	}
	head := pair{common(topics, d.TopicID()), common(clusters, d.Cluster())}
	d.SetTopicID(head.topicID)
	d.SetCluster(head.cluster)
	for i := range d.lines {
		l := &d.lines[i]
		if l.kind != entry {
			continue
		}
		p := want[l.entry.Partition]
		if p.topicID == head.topicID {
			p.topicID = ""
		}
		if p.cluster == head.cluster {
			p.cluster = ""
		}
		d.setIDs(l, p.topicID, p.cluster)
	}
}

// common is what a header may say of values: the one that all have, nothing if one is not known, else what it said before.
func common(values []string, before string) string {
	same := true
	for _, v := range values {
		if v == "" {
			return ""
		}
		same = same && v == values[0]
	}
	if same {
		return values[0]
	}
	return before
}

// setOffset replaces the second field of an entry's line.
func setOffset(text string, offset int64) string {
	_, end := field(text, 0)
	from, to := field(text, end)
	return text[:from] + strconv.FormatInt(offset, 10) + text[to:]
}

// setKey replaces, adds or (for "") removes a key of an entry's line.
func setKey(text, key, value string) string {
	for end := 0; ; {
		from, to := field(text, end)
		if from == to {
			break
		}
		if strings.HasPrefix(text[from:to], key+"=") {
			if value == "" {
				return text[:end] + text[to:]
			}
			return text[:from] + key + "=" + value + text[to:]
		}
		end = to
	}
	if value == "" {
		return text
	}
	return strings.TrimRight(text, " \t") + " " + key + "=" + value
}

// field finds the next run of bytes that are not blanks. from == to when there is none.
func field(text string, at int) (from, to int) {
	for at < len(text) && isBlank(text[at]) {
		at++
	}
	from = at
	for at < len(text) && !isBlank(text[at]) {
		at++
	}
	return from, at
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }
