package redis

import (
	"strings"

	"gtoffset/offsetfile"
)

// DefaultKey is the key of the hash that holds one topic of a group.
const DefaultKey = "offset:{topic}:{group}"

// keyForm is how the names of a topic and a group make a key.
type keyForm struct{ offsetfile.KeyForm }

// name is what a key is the key of.
type name struct{ topic, group string }

func parseKeyForm(text string) (keyForm, error) {
	f, err := offsetfile.ParseKeyForm(text, DefaultKey)
	return keyForm{f}, err
}

// key is the key of a name.
func (f keyForm) key(n name) string { return f.Key(n.topic, n.group) }

// glob is the pattern, as SCAN takes it, of the keys of a group, whatever the topic.
func (f keyForm) glob(group string) string { return f.pattern().Key("*", escape(group)) }

// globAll is the pattern of all keys of this form.
func (f keyForm) globAll() string { return f.pattern().Key("*", "*") }

func (f keyForm) pattern() offsetfile.KeyForm {
	return offsetfile.KeyForm{Before: escape(f.Before), Between: escape(f.Between), After: escape(f.After), GroupFirst: f.GroupFirst}
}

// names are the names that a key can be read as: one, unless the form has nothing between topic and group that tells them apart. A
// name whose topic Kafka would not allow counts only where there is no other.
func (f keyForm) names(key string) []name {
	middle, ok := f.Names(key)
	if !ok {
		return nil
	}
	var all, legal []name
	for i := 0; i < len(middle); i++ {
		if !strings.HasPrefix(middle[i:], f.Between) {
			continue
		}
		n := name{topic: middle[:i], group: middle[i+len(f.Between):]}
		if f.GroupFirst {
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
