package zookeeper

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"gtoffset/offsetfile"
)

// tree is where things stand in ZooKeeper. The zero value has no chroot.
type tree struct{ chroot string } // with its leading /, or ""

func (t tree) consumers() string               { return t.chroot + "/consumers" }
func (t tree) group(group string) string       { return t.consumers() + "/" + group }
func (t tree) ids(group string) string         { return t.group(group) + "/ids" }
func (t tree) offsets(group string) string     { return t.group(group) + "/offsets" }
func (t tree) topic(group, name string) string { return t.offsets(group) + "/" + name }

func (t tree) partition(group, topic string, partition int32) string {
	return fmt.Sprintf("%s/%d", t.topic(group, topic), partition)
}

// above lists the nodes above the partitions of a topic, from the root.
func (t tree) above(group, topic string) []string {
	path := t.topic(group, topic)
	all := []string{"/"}
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			all = append(all, path[:i])
		}
	}
	return append(all, path)
}

// newTree takes the path of an address as the chroot.
func newTree(a *offsetfile.Address) (tree, error) {
	path := strings.TrimSuffix(a.Path, "/")
	if path == "" {
		return tree{}, nil
	}
	for name := range strings.SplitSeq(path[1:], "/") {
		if why := unfit(name); why != "" {
			return tree{}, a.Errorf("chroot", "%q cannot be the name of a node: %s", name, why)
		}
	}
	return tree{path}, nil
}

// checkName refuses the names of groups and topics for which there can be no node.
func checkName(kind, name string) error {
	if why := unfit(name); why != "" {
		return &offsetfile.NameError{Kind: kind, Name: name, Reason: "no node of ZooKeeper can have it: " + why}
	}
	return nil
}

// unfit says why a node cannot have a name, as ZooKeeper checks it; "" if it can.
func unfit(name string) string {
	switch {
	case name == "":
		return "it is empty"
	case name == "." || name == "..":
		return "it stands for another node"
	case strings.Contains(name, "/"):
		return "it has a /, which divides nodes"
	case !utf8.ValidString(name):
		return "it is not UTF-8"
	}
	for _, r := range name {
		switch {
		case r < ' ' || r >= 0x7f && r <= 0x9f:
			return "it has a control character"
		case r >= 0xe000 && r <= 0xf8ff || r >= 0xfff0:
			return fmt.Sprintf("it has the character %U", r)
		}
	}
	return ""
}
