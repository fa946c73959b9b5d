package exchange

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// File is one gtoffset file.
const File Format = "gtoffset"

func file() format {
	return format{
		name: File, words: "a gtoffset file", holds: holds{epochs: true, origin: true},
		begins: offsetfileBegins, columns: 2,
		text: (*reading).readFile, write: Document.writeFile,
	}
}

// offsetfileBegins reports whether a text has the first line of a gtoffset file, of any version.
func offsetfileBegins(text string) bool {
	first := string(offsetfile.New("g", "t").Bytes())
	first = first[:strings.LastIndexByte(first[:strings.IndexByte(first, '\n')], ' ')+1] // without the version
	return strings.HasPrefix(text, first)
}

// readFile reads one gtoffset file. That it is whole is for offsetfile to say.
func (r *reading) readFile() error {
	doc, err := offsetfile.Parse([]byte(r.text))
	var damage *offsetfile.DamageError
	switch {
	case errors.As(err, &damage):
		r.cause = err
		for _, p := range damage.Problems {
			reason := p.Reason
			if len(r.problems) < kept && strings.Contains(reason, "negative") {
				reason += markerHint(r.text, p.Line)
			}
			r.bad(p.Line, "", "%s", reason)
		}
		return nil
	case err != nil:
		r.cause = err
		r.bad(0, "", "%v", err)
		return nil
	}
	group, topic := doc.Group(), doc.Topic()
	if group == "" {
		if group, err = r.theGroup(); err != nil {
			return err
		}
	}
	if topic == "" {
		topic = r.Topic
	}
	if topic == "" {
		return &MissingError{File, MissingTopic}
	}
	r.groups[group] = offsets.TypeUnknown
	r.doc.Origin.Cluster, r.doc.Taken = doc.Cluster(), doc.Saved()
	at := entryLines(r.text)
	for e := range doc.Entries() {
		line := at[0] // there is one for each entry, in this order
		at = at[1:]
		if e.Cluster != "" && e.Cluster != doc.Cluster() {
			r.bad(line, "", "partition %d was recorded for cluster %q, the rest for %q", e.Partition, e.Cluster, doc.Cluster())
			continue
		}
		row := Row{
			Given: offsets.Given{
				Group: group, Key: offsets.Key{Topic: topic, Partition: e.Partition}, TopicID: doc.TopicID(),
				Value: offsets.Value{Offset: e.Offset, Epoch: e.Epoch},
			},
			Written: offsets.None,
		}
		if e.TopicID != "" {
			row.TopicID = e.TopicID
		}
		r.add(line, nowhere, row)
	}
	return nil
}

// entryLines numbers the lines of a whole file that hold an entry.
func entryLines(text string) []int {
	var at []int
	n := 0
	for line := range lines(text) {
		n++
		if line = strings.TrimLeft(line, " \t"); line != "" && line[0] != '#' {
			at = append(at, n)
		}
	}
	return at
}

// markerHint says what to use instead of the negative number in a line.
func markerHint(text string, number int) string {
	for line := range lines(text) {
		if number--; number > 0 {
			continue
		}
		columns := strings.Fields(line)
		if len(columns) < 2 {
			return ""
		}
		n, why := whole(columns[1])
		if _, hint, found := strings.Cut(negative(n), "; "); found && why == "" && n < 0 {
			return "; " + hint
		}
		return ""
	}
	return ""
}

// writeFile writes the one topic of one group as a gtoffset file. Partitions without an offset have no line.
func (d Document) writeFile(w io.Writer, _ WriteOptions) error {
	if len(d.Rows) == 0 {
		return &CannotHoldError{File, "nothing: without a partition it is not known which topic is meant"}
	}
	group, topic := d.Rows[0].Group, d.Rows[0].Topic
	if last := d.Rows[len(d.Rows)-1].Topic; last != topic {
		return &CannotHoldError{File, fmt.Sprintf("more than one topic (%q and %q); name a folder", topic, last)}
	}
	for _, name := range []string{group, topic} {
		if err := utf8Only(File, name); err != nil {
			return err
		}
	}
	if group == "" {
		return &CannotHoldError{File, `the group ""`}
	}
	doc := offsetfile.New(group, topic)
	id, cluster := d.commonID()
	doc.SetTopicID(id)
	doc.SetCluster(cluster)
	doc.SetSaved(d.Taken)
	for r := range d.held {
		e := offsetfile.Entry{Partition: r.Partition, Offset: r.Offset, Epoch: r.Epoch}
		if e.TopicID, e.Cluster = recorded(*r, d); e.Cluster != cluster {
			return &CannotHoldError{File, fmt.Sprintf("offsets of two clusters (%q and %q)", cluster, e.Cluster)}
		}
		e.Cluster = "" // the header holds
		if e.TopicID == id {
			e.TopicID = ""
		}
		if err := doc.Set(e); err != nil {
			return err
		}
	}
	_, err := w.Write(doc.Bytes())
	return err
}

// commonID is the topic id that all offsets were recorded for, "" if one is not known or there are several, and the first one's cluster.
func (d Document) commonID() (id, cluster string) {
	held := slices.DeleteFunc(slices.Clone(d.Rows), func(r Row) bool { return r.Offset == offsets.None })
	if len(held) == 0 {
		return recorded(d.Rows[0], d)
	}
	id, cluster = recorded(held[0], d)
	for _, r := range held {
		if its, _ := recorded(r, d); its != id {
			return "", cluster
		}
	}
	return id, cluster
}

// recorded is the topic id and the cluster for which an offset was recorded: by a store, or else when the document was made.
func recorded(r Row, d Document) (topicID, cluster string) {
	return cmp.Or(r.Value.TopicID, r.TopicID), cmp.Or(r.Cluster, d.Origin.Cluster)
}
