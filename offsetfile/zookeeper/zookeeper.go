// Package zookeeper keeps offsets where consumers before Kafka 0.9 kept theirs, and many Spark jobs after them: one node for each
// partition, /consumers/GROUP/offsets/TOPIC/PARTITION, which holds the next offset to read in decimal.
//
//	zookeeper://[USER:$PASSWORD@]HOST[:PORT][,HOST[:PORT]…][/CHROOT]
//
// USER and password are ZooKeeper's digest authentication. What is saved for a group stands or falls together, in one multi request
// with the version of each node; a group whose save is larger than a request may be is saved topic by topic. A new node gets the rights
// of the one above it.
package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// Kind is this kind of store.
func Kind() offsetfile.Kind {
	return offsetfile.Kind{
		Schemes: []string{"zookeeper"},
		Form:    "zookeeper://HOST[:PORT],…[/CHROOT]",
		Layout:  "/consumers/GROUP/offsets/TOPIC/PARTITION, as consumers before Kafka 0.9 kept them; user:$PASSWORD@ is its digest",
		Open:    Open,
	}
}

// Open makes the store that an address names. It makes no connection.
func Open(a *offsetfile.Address, o offsetfile.Options) (offsetfile.Store, error) {
	servers, err := a.HostPorts("2181", 0)
	if err != nil {
		return nil, err
	}
	tree, err := newTree(a)
	switch {
	case err != nil:
		return nil, err
	case a.User != "" && a.Password == "":
		return nil, a.Errorf("password", "user %s has none", a.User)
	case strings.Contains(a.User, ":"):
		return nil, a.Errorf("user", "ZooKeeper's users have no colon")
	}
	return offsetfile.Over(a, &table{tree: tree, servers: servers, user: a.User, password: a.Password, o: o, free: make(chan struct{}, 1)}, o)
}

// table is the offsetfile.Table of one ZooKeeper.
type table struct {
	tree           tree
	servers        []string
	user, password string
	o              offsetfile.Options

	free    chan struct{} // holds one token while the session is being looked at
	session *session      // nil before the first call
}

func (t *table) Can() offsetfile.Abilities {
	return offsetfile.Abilities{Write: true, CompareAndSet: true, Atomic: offsetfile.OneGroup, Times: true, Creates: true}
}

// open returns the session, or makes one if there is none, or none that still stands.
func (t *table) open(ctx context.Context) (*session, error) {
	select {
	case t.free <- struct{}{}:
		defer func() { <-t.free }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if t.session != nil && !t.session.ended() {
		return t.session, nil
	}
	s, err := connect(ctx, t.servers, t.user, t.password, t.o.Log)
	if err != nil {
		return nil, err
	}
	t.session = s
	return s, nil
}

func (t *table) Close() error {
	t.free <- struct{}{}
	defer func() { <-t.free }()
	if t.session != nil {
		t.session.close()
	}
	return nil
}

// inFlight is how many requests travel at once. They share a connection, on which answers come in order.
const inFlight = 64

// sync makes the server that we talk to catch up with the others. Without it, what was just written over another connection, by
// others or by ourselves before it broke, could be missing.
func (t *table) sync(ctx context.Context, s *session) error {
	_, err := do(ctx, s, "sync", t.tree.consumers(), func(c *zk.Conn) (string, error) { return c.Sync(t.tree.consumers()) })
	return err
}

// children lists the nodes below one, sorted. presence tells a node that is not there, or not ours to read, from one that is.
func children(ctx context.Context, s *session, path string) (names []string, presence offsets.Presence, err error) {
	names, err = do(ctx, s, "children", path, func(c *zk.Conn) ([]string, error) {
		names, _, err := c.Children(path)
		return names, err
	})
	presence, err = presenceOf(err)
	slices.Sort(names)
	return names, presence, err
}

func presenceOf(err error) (offsets.Presence, error) {
	switch {
	case err == nil:
		return offsets.Present, nil
	case errors.Is(err, zk.ErrNoNode):
		return offsets.Absent, nil
	case errors.Is(err, zk.ErrNoAuth):
		return offsets.Denied, nil
	}
	return offsets.Unreadable, err
}

// notOurs is what is said of a node that may not be read.
func (t *table) notOurs(path string) string {
	if t.user == "" {
		return fmt.Sprintf("node %s may not be read without a user", path)
	}
	return fmt.Sprintf("node %s may not be read by user %s", path, t.user)
}

// there looks whether the node above all groups is there. Without it the error is a *NothingError, unless a save would make it.
func (t *table) there(ctx context.Context, s *session) error {
	path := t.tree.consumers()
	there, err := do(ctx, s, "exists", path, func(c *zk.Conn) (bool, error) {
		there, _, err := c.Exists(path)
		return there, err
	})
	switch {
	case errors.Is(err, zk.ErrNoAuth): // what is below it may be ours all the same
		return nil
	case err == nil && !there && !t.o.Create:
		return t.nothing(ctx, s)
	}
	return err
}

// groups lists the nodes of groups.
func (t *table) groups(ctx context.Context, s *session) ([]string, error) {
	path := t.tree.consumers()
	names, presence, err := children(ctx, s, path)
	switch {
	case err != nil:
		return nil, err
	case presence == offsets.Denied:
		return nil, &offsetfile.CredentialsError{Err: errors.New(t.notOurs(path))}
	case presence == offsets.Absent:
		return nil, t.there(ctx, s)
	}
	return names, nil
}

// nothing says what is there instead of the node that all groups are below: a chroot left out or misspelt, most likely.
func (t *table) nothing(ctx context.Context, s *session) error {
	e := &offsetfile.NothingError{Looked: "node " + t.tree.consumers()}
	top, _, err := children(ctx, s, "/")
	if err != nil {
		return err
	}
	roots := []string{""}
	for _, name := range top {
		roots = append(roots, "/"+name)
	}
	for _, root := range roots[:min(len(roots), 100)] {
		switch _, presence, err := children(ctx, s, root+"/consumers"); {
		case err != nil:
			return err
		case presence == offsets.Present:
			e.Hint = fmt.Sprintf("there is a node %s/consumers: zookeeper://%s%s", root, strings.Join(t.servers, ","), root)
			return e
		}
	}
	e.Hint = "the chroot stands behind the hosts, as in the brokers' zookeeper.connect: zookeeper://host1,host2/kafka"
	return e
}

// Groups lists the groups with a node of any partition.
func (t *table) Groups(ctx context.Context) (groups, notes []string, err error) {
	s, err := t.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := t.sync(ctx, s); err != nil {
		return nil, nil, err
	}
	names, err := t.groups(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	found := make([]offsets.Presence, len(names))
	err = offsetfile.Each(ctx, len(names), inFlight, func(ctx context.Context, i int) (err error) {
		found[i], err = t.hasOffsets(ctx, s, names[i])
		return err
	})
	var without, denied []string
	for i, name := range names {
		switch found[i] {
		case offsets.Present:
			groups = append(groups, name)
		case offsets.Denied:
			denied = append(denied, name)
		default:
			without = append(without, name)
		}
	}
	notes = append(notes, named(without, "registered without offsets")...)
	notes = append(notes, named(denied, "may not be read")...)
	return append(groups, denied...), notes, err
}

// named is a note about some groups.
func named(groups []string, what string) []string {
	const most = 5
	switch n := len(groups); {
	case n == 0:
		return nil
	case n > most:
		return []string{fmt.Sprintf("%s %s: %s and %d more", offsets.Plural(n, "group"), what, strings.Join(groups[:most], ", "), n-most)}
	default:
		return []string{fmt.Sprintf("%s %s: %s", offsets.Plural(n, "group"), what, strings.Join(groups, ", "))}
	}
}

func (t *table) hasOffsets(ctx context.Context, s *session, group string) (offsets.Presence, error) {
	topics, presence, err := children(ctx, s, t.tree.offsets(group))
	if err != nil || presence != offsets.Present {
		return presence, err
	}
	for _, topic := range topics {
		partitions, presence, err := children(ctx, s, t.tree.topic(group, topic))
		if err != nil || presence == offsets.Denied || len(partitions) > 0 {
			return presence, err
		}
	}
	return offsets.Absent, nil
}

// Read reads the nodes of a group: the topics first, then all partitions, each step in one flight.
func (t *table) Read(ctx context.Context, group string, topics []string) (offsetfile.Found, error) {
	found := offsetfile.Found{Path: "node " + t.tree.offsets(group)}
	if err := checkName("group", group); err != nil {
		return found, err
	}
	for _, topic := range topics {
		if err := checkName("topic", topic); err != nil {
			return found, err
		}
	}
	s, err := t.open(ctx)
	if err != nil {
		return found, err
	}
	if err := t.sync(ctx, s); err != nil {
		return found, err
	}
	all := topics == nil
	steps := []func(context.Context) error{
		func(ctx context.Context) error { return t.there(ctx, s) },
		func(ctx context.Context) (err error) {
			found.Users, _, err = children(ctx, s, t.tree.ids(group))
			return err
		},
		func(ctx context.Context) (err error) {
			topics, err = t.topics(ctx, s, group, topics, &found)
			return err
		},
	}
	if err := offsetfile.Each(ctx, len(steps), inFlight, func(ctx context.Context, i int) error { return steps[i](ctx) }); err != nil {
		return found, err
	}
	if n := len(found.Users); n > 0 { // as long as one is at work its node is there; Kafka does not know them
		found.Notes = append(found.Notes, fmt.Sprintf("%s registered at %s: what is saved here meanwhile, they save over", offsets.Plural(n, "running consumer"), t.tree.ids(group)))
	}
	if err := t.readTopics(ctx, s, group, topics, &found); err != nil {
		return found, err
	}
	if all { // what is left of topics whose partitions are gone is not worth a word
		found.Topics = slices.DeleteFunc(found.Topics, func(f offsetfile.FoundTopic) bool { return f.Presence == offsets.Absent })
	}
	return found, nil
}

// topics lists the topics of a group, if none were named, and notes what the group's own nodes say.
func (t *table) topics(ctx context.Context, s *session, group string, named []string, found *offsetfile.Found) ([]string, error) {
	if named != nil {
		return named, nil
	}
	topics, presence, err := children(ctx, s, t.tree.offsets(group))
	switch {
	case err != nil:
		return nil, err
	case presence == offsets.Denied:
		found.Trouble = &offsets.Trouble{Reason: t.notOurs(t.tree.offsets(group)), Denied: true}
	case presence == offsets.Absent:
		_, above, err := children(ctx, s, t.tree.group(group))
		if err != nil {
			return nil, err
		}
		if above == offsets.Present {
			found.Notes = append(found.Notes, fmt.Sprintf("group %s is registered at %s, without offsets", group, t.tree.group(group)))
		}
	}
	return topics, nil
}

func (t *table) readTopics(ctx context.Context, s *session, group string, topics []string, found *offsetfile.Found) error {
	type place struct {
		topic     *offsetfile.FoundTopic
		partition int32
		cell      offsetfile.Cell
		gone      bool
	}
	found.Topics = make([]offsetfile.FoundTopic, len(topics))
	partitions := make([][]string, len(topics))
	err := offsetfile.Each(ctx, len(topics), inFlight, func(ctx context.Context, i int) (err error) {
		path := t.tree.topic(group, topics[i])
		f := offsetfile.FoundTopic{Topic: topics[i], Path: "node " + path, Cells: map[int32]offsetfile.Cell{}}
		partitions[i], f.Presence, err = children(ctx, s, path)
		switch {
		case f.Presence == offsets.Denied:
			f.Reason = t.notOurs(path)
		case len(partitions[i]) == 0 && f.Presence == offsets.Present:
			f.Presence = offsets.Absent
		}
		found.Topics[i] = f
		return err
	})
	if err != nil {
		return err
	}
	var places []place
	for i := range topics {
		for _, name := range partitions[i] {
			partition, ok := offsetfile.ParsePartition(name)
			if !ok {
				found.Notes = append(found.Notes, fmt.Sprintf("node %s/%s is no partition: ignored", t.tree.topic(group, topics[i]), name))
				continue
			}
			places = append(places, place{topic: &found.Topics[i], partition: partition})
		}
	}
	err = offsetfile.Each(ctx, len(places), inFlight, func(ctx context.Context, i int) (err error) {
		p := &places[i]
		p.cell, p.gone, err = t.readNode(ctx, s, t.tree.partition(group, p.topic.Topic, p.partition))
		return err
	})
	for _, p := range places {
		if !p.gone {
			p.topic.Cells[p.partition] = p.cell
		}
	}
	return err
}

// readNode reads one partition's node. It may be gone since it was listed.
func (t *table) readNode(ctx context.Context, s *session, path string) (cell offsetfile.Cell, gone bool, err error) {
	var stat *zk.Stat
	data, err := do(ctx, s, "get", path, func(c *zk.Conn) (data []byte, err error) {
		data, stat, err = c.Get(path)
		return data, err
	})
	presence, err := presenceOf(err)
	switch presence {
	case offsets.Present:
		return offsetfile.Cell{Text: string(data), Version: version(stat.Version), Saved: time.UnixMilli(stat.Mtime)}, false, nil
	case offsets.Denied:
		return offsetfile.Cell{Presence: offsets.Denied, Reason: t.notOurs(path)}, false, nil
	}
	return cell, true, err
}

func version(n int32) string { return strconv.FormatInt(int64(n), 10) }
