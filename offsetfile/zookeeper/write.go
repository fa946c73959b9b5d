package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"gtoffset/offsetfile"
)

// mostRequest is how large a multi request may be. ZooKeeper takes 1 MB (jute.maxbuffer), and writes what it does in nearly as many bytes
// into a log that it later reads within the same limit.
const mostRequest = 512 << 10

// operation is one part of a multi request.
type operation struct {
	request any // of the library
	edit    int // the edit that it makes, or -1: it makes a node above
	size    int // bytes in the request, at most
}

// multi is the operations of one request: what is in it stands or falls together.
type multi []operation

func (m multi) size() int {
	n := 0
	for _, o := range m {
		n += o.size
	}
	return n
}

// Write makes all edits in one request, if their nodes are there or can be made. For edits that make nodes, one flight of requests
// before it looks at what is above them.
func (t *table) Write(ctx context.Context, group string, edits []offsetfile.Edit) error {
	if err := checkName("group", group); err != nil {
		return err
	}
	for _, e := range edits {
		if err := checkName("topic", e.Topic); err != nil {
			return err
		}
	}
	s, err := t.open(ctx)
	if err != nil {
		return err
	}
	above, err := t.lookAbove(ctx, s, group, edits)
	if err != nil {
		return err
	}
	requests, err := t.plan(group, edits, above)
	if err != nil {
		return err
	}
	for i, m := range requests {
		answers, err := do(ctx, s, "multi", group, func(c *zk.Conn) ([]zk.MultiResponse, error) { return c.Multi(m.requests()...) })
		if err != nil {
			return failed(err, answers, requests[i:], edits)
		}
		for j, o := range m {
			if o.edit >= 0 && edits[o.edit].New != nil {
				edits[o.edit].New.Version = version(0) // of a node that was made
				if stat := answers[j].Stat; stat != nil {
					edits[o.edit].New.Version = version(stat.Version)
				}
			}
		}
	}
	return nil
}

func (m multi) requests() []any {
	all := make([]any, len(m))
	for i, o := range m {
		all[i] = o.request
	}
	return all
}

// failed tells each edit of the requests that were not done why: the first of them failed at one operation, and then all stopped. An
// error that came before any answer is returned: what was done is not known then.
func failed(err error, answers []zk.MultiResponse, requests []multi, edits []offsetfile.Edit) error {
	at := slices.IndexFunc(answers, func(r zk.MultiResponse) bool { return r.Error != nil })
	if at < 0 || at >= len(requests[0]) {
		return err
	}
	culprit := requests[0][at]
	cause := explained(err, culprit.request)
	_, creates := culprit.request.(*zk.CreateRequest)
	switch {
	case creates && errors.Is(err, zk.ErrNoNode), culprit.edit < 0 && errors.Is(err, zk.ErrNodeExists): // it is no edit that was overtaken
		return &offsetfile.AwayError{Err: fmt.Errorf("what is above the nodes was changed meanwhile, by another program: %w", err)}
	case culprit.edit < 0:
		return cause
	}
	of := edits[culprit.edit]
	for _, m := range requests {
		for _, o := range m {
			switch {
			case o.edit == culprit.edit:
				edits[o.edit].Err = cause
			case o.edit >= 0:
				edits[o.edit].Err = fmt.Errorf("not written, because of %s %d: %w", of.Topic, of.Partition, cause)
			}
		}
	}
	return nil
}

// explained says what an operation failed with.
func explained(err error, request any) error {
	path := ""
	switch r := request.(type) {
	case *zk.CreateRequest:
		path = r.Path
	case *zk.SetDataRequest:
		path = r.Path
	case *zk.DeleteRequest:
		path = r.Path
	}
	switch {
	case errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNoNode), errors.Is(err, zk.ErrNodeExists):
		return fmt.Errorf("node %s: %w", path, offsetfile.ErrChanged)
	case errors.Is(err, zk.ErrNoAuth):
		return fmt.Errorf("node %s: its rights do not allow it", path)
	case errors.Is(err, zk.ErrNotEmpty):
		return fmt.Errorf("node %s has nodes below it, and is not removed", path)
	}
	return fmt.Errorf("node %s: %w", path, err)
}

// rights is what was found of the nodes above those that are to be made.
type rights map[string]struct {
	missing bool
	acl     []zk.ACL
	denied  bool // it is there, but its rights may not be read
}

// lookAbove looks at the nodes above every edit that makes a node.
func (t *table) lookAbove(ctx context.Context, s *session, group string, edits []offsetfile.Edit) (rights, error) {
	var paths []string
	for _, e := range edits {
		if e.Old == nil && e.New != nil {
			paths = append(paths, t.tree.above(group, e.Topic)...)
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	acls := make([][]zk.ACL, len(paths))
	errs := make([]error, len(paths))
	err := offsetfile.Each(ctx, len(paths), inFlight, func(ctx context.Context, i int) error {
		acls[i], errs[i] = do(ctx, s, "getACL", paths[i], func(c *zk.Conn) ([]zk.ACL, error) {
			acl, _, err := c.GetACL(paths[i])
			return acl, err
		})
		if errors.Is(errs[i], zk.ErrNoNode) || errors.Is(errs[i], zk.ErrNoAuth) {
			return nil
		}
		return errs[i]
	})
	if err != nil {
		return nil, err
	}
	found := rights{}
	for i, path := range paths {
		f := found[path]
		f.missing, f.denied, f.acl = errors.Is(errs[i], zk.ErrNoNode), errors.Is(errs[i], zk.ErrNoAuth), acls[i]
		found[path] = f
	}
	if !t.o.Create && found[t.tree.consumers()].missing {
		return nil, t.nothing(ctx, s)
	}
	return found, nil
}

// plan makes as few requests as it can: one, or one for some topics each. No topic is split.
func (t *table) plan(group string, edits []offsetfile.Edit, above rights) ([]multi, error) {
	var topics []string
	of := map[string]multi{}
	for i, e := range edits {
		if _, ok := of[e.Topic]; !ok {
			topics = append(topics, e.Topic)
		}
		m, err := t.operations(group, i, e, above)
		if err != nil {
			return nil, err
		}
		of[e.Topic] = append(of[e.Topic], m...)
	}
	var all []multi
	for _, topic := range topics {
		m := of[topic]
		if m.size() > mostRequest {
			return nil, fmt.Errorf("the save of topic %s is too large for one request to ZooKeeper (%d partitions, %d bytes of %d): name some partitions at a time, -t %s:0,1,2-999",
				topic, len(m), m.size(), mostRequest, topic)
		}
		if last := len(all) - 1; last >= 0 && all[last].size()+m.size() <= mostRequest {
			all[last] = append(all[last], m...)
			continue
		}
		all = append(all, m)
	}
	return all, nil
}

// operations makes one edit, and first what is missing above it; that is then no longer missing.
func (t *table) operations(group string, i int, e offsetfile.Edit, above rights) (multi, error) {
	path := t.tree.partition(group, e.Topic, e.Partition)
	if e.Old != nil {
		version, err := strconv.ParseInt(e.Old.Version, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("node %s was read from another kind of store", path)
		}
		if e.New == nil {
			return multi{{&zk.DeleteRequest{Path: path, Version: int32(version)}, i, requestSize(path, 0)}}, nil
		}
		return multi{{&zk.SetDataRequest{Path: path, Data: []byte(e.New.Text), Version: int32(version)}, i, requestSize(path, len(e.New.Text))}}, nil
	}
	var m multi
	var acl []zk.ACL
	var err error
	for _, node := range t.tree.above(group, e.Topic) {
		f := above[node]
		if f.missing {
			m = append(m, creation(node, nil, acl, -1))
			f.missing, f.acl = false, acl
			above[node] = f
			continue
		}
		acl, err = t.inherited(node, f.acl, f.denied)
	}
	if err != nil {
		return nil, err
	}
	return append(m, creation(path, []byte(e.New.Text), acl, i)), nil
}

func creation(path string, data []byte, acl []zk.ACL, edit int) operation {
	size := requestSize(path, len(data))
	for _, a := range acl {
		size += 12 + len(a.Scheme) + len(a.ID)
	}
	return operation{&zk.CreateRequest{Path: path, Data: data, Acl: acl}, edit, size}
}

// requestSize is the bytes that one operation takes, with its head, two lengths and two numbers.
func requestSize(path string, data int) int { return 32 + len(path) + data }

// inherited is the rights of a new node below another: the same. To those who may not administer the node above, ZooKeeper shows
// passwords there as x; our own we know.
func (t *table) inherited(node string, acl []zk.ACL, denied bool) ([]zk.ACL, error) {
	if denied {
		return nil, fmt.Errorf("node %s: its rights may not be read, and a new node below it is to have the same", node)
	}
	all := slices.Clone(acl)
	for i, a := range all {
		user, hidden := strings.CutSuffix(a.ID, ":x")
		if a.Scheme != "digest" || !hidden {
			continue
		}
		if user != t.user {
			return nil, fmt.Errorf("node %s: the password of its user %s is not shown to us, and a new node below it is to have the same rights", node, user)
		}
		all[i] = zk.DigestACL(a.Perms, t.user, t.password)[0]
	}
	return all, nil
}
