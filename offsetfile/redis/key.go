package redis

import (
	"errors"
	"fmt"
	"strings"
)

// DefaultKey is the key of the hash that holds one topic of a group.
const DefaultKey = "offset:{topic}:{group}"

const (
	topicPlace = "{topic}"
	groupPlace = "{group}"
)

// keyForm is how the names of a topic and a group make a key: before FIRST between SECOND after.
type keyForm struct {
	before, between, after string
	groupFirst             bool
}

// name is what a key is the key of.
type name struct{ topic, group string }

func parseKeyForm(text string) (keyForm, error) {
	if strings.Count(text, topicPlace) != 1 || strings.Count(text, groupPlace) != 1 {
		return keyForm{}, fmt.Errorf("%q does not have %s and %s once each, as %s has", text, topicPlace, groupPlace, DefaultKey)
	}
	first, second := topicPlace, groupPlace
	groupFirst := strings.Index(text, groupPlace) < strings.Index(text, topicPlace)
	if groupFirst {
		first, second = second, first
	}
	before, rest, _ := strings.Cut(text, first)
	between, after, _ := strings.Cut(rest, second)
	if between == "" {
		return keyForm{}, errors.New("nothing stands between topic and group: no key tells where one ends and the other begins")
	}
	return keyForm{before, between, after, groupFirst}, nil
}

// key is the key of a name.
func (f keyForm) key(n name) string { return f.build(n.topic, n.group) }

// glob is the pattern, as SCAN takes it, of the keys of a group, whatever the topic.
func (f keyForm) glob(group string) string {
	return keyForm{escape(f.before), escape(f.between), escape(f.after), f.groupFirst}.build("*", escape(group))
}

// globAll is the pattern of all keys of this form.
func (f keyForm) globAll() string {
	return keyForm{escape(f.before), escape(f.between), escape(f.after), f.groupFirst}.build("*", "*")
}

// String is the form for people.
func (f keyForm) String() string { return f.build(topicPlace, groupPlace) }

func (f keyForm) build(topic, group string) string {
	if f.groupFirst {
		topic, group = group, topic
	}
	return f.before + topic + f.between + group + f.after
}

// names are the names that a key can be read as: one, unless the form has nothing between topic and group that tells them apart. A
// name whose topic Kafka would not allow counts only where there is no other.
func (f keyForm) names(key string) []name {
	middle, ok := strings.CutPrefix(key, f.before)
	if ok {
		middle, ok = strings.CutSuffix(middle, f.after)
	}
	if !ok {
		return nil
	}
	var all, legal []name
	for i := 0; i < len(middle); i++ {
		if !strings.HasPrefix(middle[i:], f.between) {
			continue
		}
		n := name{topic: middle[:i], group: middle[i+len(f.between):]}
		if f.groupFirst {
			n.topic, n.group = n.group, n.topic
		}
		switch {
		case n.topic == "":
		case isTopic(n.topic):
			legal = append(legal, n)
		default:
			all = append(all, n)
		}
	}
	if len(legal) > 0 {
		return legal
	}
	return all
}

// isTopic reports whether Kafka allows the characters of a topic's name.
func isTopic(text string) bool {
	for i := range len(text) {
		c := text[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return text != ""
}

var globEscapes = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `\`, `\\`)

// escape makes a text stand for itself in a pattern.
func escape(text string) string { return globEscapes.Replace(text) }
