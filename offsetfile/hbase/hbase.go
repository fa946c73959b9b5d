// Package hbase keeps offsets in HBase, through its REST gateway: a row for each topic of a group, in which each partition is a column.
//
//	hbase://[USER:$PASSWORD@]HOST[:PORT][/PREFIX]/TABLE            over TLS: hbase+https://
//
// Parameters say how the table is used: ?row={group}:{topic}, ?family=offsets, ?column={partition}, and ?values=text for decimal digits
// or binary for 8 bytes, big-endian, as HBase's own Bytes.toBytes(long) makes them.
//
// The gateway compares and sets one column at a time. So a save is one request for each partition, each of which is done or not; the row
// as a whole is not atomic.
package hbase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/offsetfile/rest"
)

// Kind is this kind of store.
func Kind() offsetfile.Kind {
	return offsetfile.Kind{
		Schemes: []string{"hbase", "hbase+https"},
		Form:    "hbase://HOST[:PORT]/TABLE, hbase+https://…",
		Layout:  "HBase's REST gateway: row GROUP:TOPIC, column offsets:PARTITION; ?row= ?family= ?column= ?values=binary say otherwise",
		Open:    Open,
	}
}

// Open makes the store that an address names. It makes no connection.
func Open(a *offsetfile.Address, o offsetfile.Options) (offsetfile.Store, error) {
	hosts, err := a.HostPorts("8080", 1)
	if err != nil {
		return nil, err
	}
	l, err := newLayout(a)
	if err != nil {
		return nil, err
	}
	client, err := rest.New(a, l.scheme == "https", o)
	if err != nil {
		return nil, err
	}
	if a.User != "" {
		if a.Password == "" {
			return nil, a.Errorf("password", "user %s has none", a.User)
		}
		client.Login(a.User, a.Password)
	}
	t := &table{layout: l, o: o, gateway: gateway{client: client, base: l.scheme + "://" + hosts[0] + l.prefix + "/" + l.table, user: a.User}}
	return offsetfile.Over(a, t, o)
}

// table is the offsetfile.Table of one table of HBase.
type table struct {
	layout
	gateway gateway
	o       offsetfile.Options
}

func (t *table) Can() offsetfile.Abilities {
	return offsetfile.Abilities{Write: true, CompareAndSet: true, Atomic: offsetfile.OnePartition, Times: true, Creates: true}
}

func (t *table) Close() error {
	t.gateway.client.Close()
	return nil
}

// scan reads rows. An error of the gateway does not say what is missing; then the table's schema tells.
func (t *table) scan(ctx context.Context, from, to string) ([]row, error) {
	found, err := t.gateway.scan(ctx, t.family, from, to)
	if answer := (*answerError)(nil); !errors.As(err, &answer) {
		return found, err
	}
	missing, schemaErr := t.missing(ctx)
	switch {
	case schemaErr != nil:
		return nil, schemaErr
	case missing == nil && isStatus(err, http.StatusInternalServerError): // a region that is moving, most likely
		return nil, &offsetfile.AwayError{Err: err}
	case missing == nil:
		return nil, err
	case t.o.Create && missing.Hint == "":
		return nil, nil
	}
	return nil, missing
}

// missing says what is not there, the table or the family; nil if both are. Without a hint it is the table.
func (t *table) missing(ctx context.Context) (*offsetfile.NothingError, error) {
	s, err := t.gateway.schema(ctx)
	if isStatus(err, http.StatusNotFound) {
		return &offsetfile.NothingError{Looked: "table " + t.layout.table}, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range s.Families {
		if f.Name == t.family {
			return nil, nil
		}
		names = append(names, f.Name)
	}
	return &offsetfile.NothingError{
		Looked: fmt.Sprintf("column family %s of table %s", t.family, t.layout.table),
		Hint:   fmt.Sprintf("the table has the families %q: ?family=NAME", names),
	}, nil
}

// Groups lists the groups that have a row with a column.
func (t *table) Groups(ctx context.Context) (groups, notes []string, err error) {
	from, to := t.row.rows("")
	found, err := t.scan(ctx, from, to)
	if err != nil {
		return nil, nil, err
	}
	strange := 0
	for _, r := range found {
		group, _, ok := t.row.names(string(r.Key))
		switch {
		case !ok:
			strange++
		case slices.ContainsFunc(r.Cells, func(c cell) bool { _, is := t.partition(string(c.Column)); return is }):
			groups = append(groups, group)
		}
	}
	if strange > 0 {
		notes = append(notes, fmt.Sprintf("%s of other forms in table %s: ignored", offsets.Plural(strange, "row"), t.layout.table))
	}
	return groups, notes, nil
}

// Read reads a row for each topic, or all rows of the group in one scan.
func (t *table) Read(ctx context.Context, group string, topics []string) (offsetfile.Found, error) {
	found := offsetfile.Found{Path: fmt.Sprintf("table %s, rows %s", t.layout.table, t.row.key(group, "*"))}
	if topics == nil {
		from, to := t.row.rows(group)
		all, err := t.scan(ctx, from, to)
		for _, r := range all {
			if g, topic, ok := t.row.names(string(r.Key)); ok && g == group {
				found.Topics = append(found.Topics, t.topic(topic, []row{r}, &found))
			}
		}
		return found, err
	}
	for _, topic := range topics {
		if err := t.row.check(group, topic); err != nil {
			return found, err
		}
	}
	read := make([][]row, len(topics))
	errs := make([]error, len(topics))
	err := offsetfile.Each(ctx, len(topics), rest.MostConnections, func(ctx context.Context, i int) error {
		key := t.row.key(group, topics[i])
		read[i], errs[i] = t.scan(ctx, key, key+"\x00")
		return nil
	})
	if err := cmp.Or(append(errs, err)...); err != nil {
		return found, err
	}
	for i, topic := range topics {
		f := t.topic(topic, read[i], &found)
		f.Path = fmt.Sprintf("table %s, row %s", t.layout.table, t.row.key(group, topic))
		found.Topics = append(found.Topics, f)
	}
	return found, nil
}

// topic makes a topic of its row, if there is one.
func (t *table) topic(name string, read []row, found *offsetfile.Found) offsetfile.FoundTopic {
	f := offsetfile.FoundTopic{Topic: name, Cells: map[int32]offsetfile.Cell{}}
	eight := false
	for _, r := range read {
		f.Path = fmt.Sprintf("table %s, row %s", t.layout.table, r.Key)
		for _, c := range r.Cells {
			partition, ok := t.partition(string(c.Column))
			if !ok {
				found.Notes = append(found.Notes, fmt.Sprintf("%s, column %s is no partition: ignored", f.Path, c.Column))
				continue
			}
			f.Presence = offsets.Present
			f.Cells[partition] = offsetfile.Cell{Text: t.text(c.Value), Version: version(c.Value), Saved: time.UnixMilli(c.Timestamp)}
			eight = eight || !t.binary && len(c.Value) == 8 && c.Value[0] < '0'
		}
	}
	if eight {
		found.Notes = append(found.Notes, fmt.Sprintf("%s has values of 8 bytes that are no digits: perhaps they are ?values=binary", f.Path))
	}
	return f
}
