package offsetfile

import (
	"errors"
	"fmt"
	"strings"
)

// What stands in the text of a [KeyForm] for the names.
const (
	TopicPlace = "{topic}"
	GroupPlace = "{group}"
)

// KeyForm is how the keys of a service are made of the names of a topic and a group: Before, one name, Between, the other, After.
type KeyForm struct {
	Before, Between, After string
	GroupFirst             bool
}

// ParseKeyForm reads a form such as offset:{topic}:{group}. usual is the one that an error names for an example.
func ParseKeyForm(text, usual string) (KeyForm, error) {
	if strings.Count(text, TopicPlace) != 1 || strings.Count(text, GroupPlace) != 1 {
		return KeyForm{}, fmt.Errorf("%q does not have %s and %s once each, as %s has", text, TopicPlace, GroupPlace, usual)
	}
	first, second := TopicPlace, GroupPlace
	groupFirst := strings.Index(text, GroupPlace) < strings.Index(text, TopicPlace)
	if groupFirst {
		first, second = second, first
	}
	before, rest, _ := strings.Cut(text, first)
	between, after, _ := strings.Cut(rest, second)
	if between == "" {
		return KeyForm{}, errors.New("nothing stands between topic and group: no key tells where one ends and the other begins")
	}
	return KeyForm{before, between, after, groupFirst}, nil
}

// Key is the key of two names.
func (f KeyForm) Key(topic, group string) string {
	if f.GroupFirst {
		topic, group = group, topic
	}
	return f.Before + topic + f.Between + group + f.After
}

// Names is what stands between Before and After in a key; ok is false for a key that does not begin and end so.
func (f KeyForm) Names(key string) (names string, ok bool) {
	if names, ok = strings.CutPrefix(key, f.Before); ok {
		names, ok = strings.CutSuffix(names, f.After)
	}
	return names, ok
}

// String is the form as it is written.
func (f KeyForm) String() string { return f.Key(TopicPlace, GroupPlace) }
