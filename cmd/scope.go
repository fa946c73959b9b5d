package cmd

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gtoffset/kafkaops/offsets"
)

// scope says which groups, topics and partitions a command is about.
type scope struct {
	groups []string
	all    bool
	regex  string
	topics []string

	pattern    *regexp.Regexp
	selections []offsets.Selection
	kinds      map[offsets.GroupType]bool // of a list of groups, those that are meant; nil: all
	groupless  bool                       // no group plays a part: nothing is asked about any
}

func (s *scope) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVarP(&s.groups, "group", "g", nil, "consumer `GROUP`; repeatable")
	f.BoolVar(&s.all, "all-groups", false, "every group that the cluster or the store knows")
	f.StringVar(&s.regex, "group-regex", "", "groups whose whole name matches the regular expression `RE`")
	f.StringArrayVarP(&s.topics, "topic", "t", nil, "`TOPIC`[:0,1,4-7], all of its partitions or those named; repeatable")
}

func (s *scope) validate() error {
	if ways := b2i(len(s.groups) > 0) + b2i(s.all) + b2i(s.regex != ""); ways > 1 {
		return usage("--group, --all-groups and --group-regex exclude each other", "name the groups in one way")
	}
	slices.Sort(s.groups)
	s.groups = slices.Compact(s.groups)
	if s.regex != "" {
		_, err := regexp.Compile(s.regex) // by itself, for its message
		if err == nil {
			s.pattern, err = regexp.Compile(`\A(?:` + s.regex + `)\z`)
		}
		if err != nil {
			return usage(fmt.Sprintf("--group-regex %q: %v", s.regex, err), "")
		}
	}
	s.selections = nil
	for _, t := range s.topics {
		sel, err := parseSelection(t)
		if err != nil {
			return err
		}
		s.selections = append(s.selections, sel)
	}
	return nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// needGroup is the check of commands that make no sense without a group.
func (s *scope) needGroup() error {
	if len(s.groups) == 0 && !s.all && s.pattern == nil {
		return usage("no group is named", "add -g GROUP, or --all-groups")
	}
	return nil
}

// listed says that the groups come from a list of the cluster, not from their names.
func (s *scope) listed() bool { return s.all || s.pattern != nil }

// several reports that more than one group may be looked at.
func (s *scope) several() bool { return s.listed() || len(s.groups) > 1 }

// isolations are the levels of Kafka's consumers.
func isolations() []string { return []string{"read_uncommitted", "read_committed"} }

// groupTypes are those that a list can be limited to.
func groupTypes() []string { return []string{"classic", "consumer", "share", "streams", "simple"} }

// setKinds limits a list of groups to some types.
func (s *scope) setKinds(names []string) error {
	if len(names) == 0 {
		return nil
	}
	if len(s.groups) > 0 {
		return usage("--type chooses among groups that are listed, and --group names one", "leave out one of them")
	}
	s.kinds = map[offsets.GroupType]bool{}
	for _, name := range names {
		name = strings.ToLower(name)
		if err := among("--type", name, groupTypes()); err != nil {
			return err
		}
		s.kinds[offsets.GroupType(name)] = true
	}
	return nil
}

// ofKind reports whether a listed group is of a type that is meant. One of unknown type may be.
func (s *scope) ofKind(t offsets.GroupType) bool {
	return s.kinds == nil || s.kinds[t] || t == offsets.TypeUnknown || t == ""
}

func (s *scope) takes(group string) bool {
	return s.all || s.pattern != nil && s.pattern.MatchString(group) || slices.Contains(s.groups, group)
}

// named says that the topic was given with -t.
func (s *scope) named(topic string) bool {
	return slices.ContainsFunc(s.selections, func(sel offsets.Selection) bool { return sel.Topic == topic })
}

// partly reports a topic of which only single partitions are named.
func (s *scope) partly(topic string) bool {
	of := func(whole bool) bool {
		return slices.ContainsFunc(s.selections, func(sel offsets.Selection) bool { return sel.Topic == topic && (len(sel.Partitions) == 0) == whole })
	}
	return of(false) && !of(true)
}

func (s *scope) topicNames() []string {
	var names []string
	for _, sel := range s.selections {
		names = append(names, sel.Topic)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// keys are the partitions that were named, and of a topic that was named whole the first.
func (s *scope) keys() []offsets.Key {
	var keys []offsets.Key
	for _, sel := range s.selections {
		for _, p := range sel.Partitions {
			keys = append(keys, offsets.Key{Topic: sel.Topic, Partition: p})
		}
		if len(sel.Partitions) == 0 {
			keys = append(keys, offsets.Key{Topic: sel.Topic})
		}
	}
	return keys
}

// add takes a partition of a group into a scope that comes from a document. settle ends it.
func (s *scope) add(group string, k offsets.Key) {
	if n := len(s.groups); n == 0 || s.groups[n-1] != group {
		s.groups = append(s.groups, group)
	}
	s.include(k)
}

// include takes a partition into the scope. settle ends it.
func (s *scope) include(k offsets.Key) {
	if n := len(s.selections); n > 0 && s.selections[n-1].Topic == k.Topic {
		s.selections[n-1].Partitions = append(s.selections[n-1].Partitions, k.Partition)
		return
	}
	s.selections = append(s.selections, offsets.Selection{Topic: k.Topic, Partitions: []int32{k.Partition}})
}

// settle puts a scope that was added up in order, each group, topic and partition once.
func (s *scope) settle() {
	slices.Sort(s.groups)
	s.groups = slices.Compact(s.groups)
	sort.SliceStable(s.selections, func(i, j int) bool { return s.selections[i].Topic < s.selections[j].Topic })
	var merged []offsets.Selection
	for _, sel := range s.selections {
		if n := len(merged); n > 0 && merged[n-1].Topic == sel.Topic {
			merged[n-1].Partitions = append(merged[n-1].Partitions, sel.Partitions...)
			continue
		}
		merged = append(merged, sel)
	}
	for i := range merged {
		slices.Sort(merged[i].Partitions)
		merged[i].Partitions = slices.Compact(merged[i].Partitions)
	}
	s.selections = merged
}

// typed are the words that select a scope's partitions.
func (s *scope) typed() []string {
	var words []string
	for _, sel := range s.selections {
		words = append(words, "-t", sel.String())
	}
	return words
}

// maxPartition is beyond what any cluster has: it keeps a range such as 0-2147483647 from eating memory.
const maxPartition = 1_000_000

// inWords lists some selections as -t takes them.
func inWords(selections []offsets.Selection) string {
	var all []string
	for _, s := range selections {
		all = append(all, quote(s.String()))
	}
	return list(all, 3)
}

// parseSelection reads NAME[:0,1,4-7]. A colon cannot be part of a topic's name.
func parseSelection(s string) (offsets.Selection, error) {
	bad := func(why string) (offsets.Selection, error) {
		return offsets.Selection{}, usage(fmt.Sprintf("--topic %q: %s", s, why), "write -t orders, or -t orders:0,1,4-7")
	}
	name, parts, some := strings.Cut(s, ":")
	if name == "" {
		return bad("the topic's name is missing")
	}
	sel := offsets.Selection{Topic: name}
	if !some {
		return sel, nil
	}
	for part := range strings.SplitSeq(parts, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		lo, err := strconv.ParseInt(from, 10, 32)
		hi := lo
		if err == nil && isRange {
			hi, err = strconv.ParseInt(to, 10, 32)
		}
		switch {
		case err != nil || lo < 0:
			return bad(fmt.Sprintf("%q is no partition number, nor a range of them", part))
		case hi < lo:
			return bad(fmt.Sprintf("%q runs backwards", part))
		case hi > maxPartition:
			return bad(fmt.Sprintf("%q is beyond any topic", part))
		case len(sel.Partitions)+int(hi-lo) > maxPartition:
			return bad("it names more partitions than any topic has")
		}
		for p := lo; p <= hi; p++ {
			sel.Partitions = append(sel.Partitions, int32(p))
		}
	}
	slices.Sort(sel.Partitions)
	sel.Partitions = slices.Compact(sel.Partitions)
	return sel, nil
}
