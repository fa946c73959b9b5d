// Package history reads the records of Kafka's offsets topic: which group a record is about, and what it says of that group's commits
// and members. It is pure over bytes, and knows no network; kafkaops reads the log, kafkaops/offsets makes events of it.
//
//	d := history.NewDecoder("billing")
//	for … {
//		if d.Decode(record.Key, record.Value, &r) {
//			historian.Add(&r)
//		}
//	}
package history

import (
	"bytes"
	"encoding/binary"

	"gtoffset/kafkaops/offsets"
)

// The first field of a key is the type of the record.
const (
	typeOldCommit   = 0 // as typeCommit
	typeCommit      = 1
	typeClassic     = 2 // a classic group, with all its members
	typeEpoch       = 3 // a group of the KIP-848 protocol
	typeMember      = 5 // a member of it
	typeShareEpoch  = 11
	typeStreamEpoch = 17
	typeStreamer    = 19 // a member of a streams group
)

// Decoder decodes the records of one group. What they say over and over, such as a topic's name, it keeps once: a commit takes no memory.
// One goroutine uses it at a time.
type Decoder struct {
	group  []byte
	topics map[string]*topic
	keys   map[string]*commitKey
	last   *commitKey // of the commit before
	note   string     // of the commit before
	passed int64
}

// commitKey is the key of a commit, which comes again with each commit of its partition.
type commitKey struct {
	raw   string
	key   offsets.Key
	topic *topic
	next  *commitKey // that came behind it the last time: requests name partitions in the same order again and again
}

// topic is what commits say of a topic over and over.
type topic struct {
	name string
	id   [idSize]byte // of the commit before
	text string       // the id as Kafka prints it, "" for none
}

const idSize = 16

// NewDecoder makes one.
func NewDecoder(group string) *Decoder {
	return &Decoder{group: []byte(group), topics: map[string]*topic{}, keys: map[string]*commitKey{}, last: &commitKey{}}
}

// Unreadable is how many records of the group were passed over although they may have said something: their form is not known, and not
// even which partition they are about.
func (d *Decoder) Unreadable() int64 { return d.passed }

// Decode reads a record of the offsets topic; a nil value is a tombstone. It fills in what key and value say (Kind and what depends on
// it) and leaves the rest of r alone. It reports false for records of other groups, and for those that say nothing about commits and
// members: types that are not known among them.
func (d *Decoder) Decode(key, value []byte, r *offsets.LogRecord) bool {
	if next := d.last.next; next != nil && string(key) == next.raw {
		d.last = next
		d.commit(next, value, r)
		return true
	}
	k, ok := d.ours(key)
	if !ok {
		return false
	}
	switch binary.BigEndian.Uint16(key) {
	case typeOldCommit, typeCommit:
		c := d.find(key, k)
		if c == nil {
			return d.unreadable()
		}
		d.commit(c, value, r)
		return true
	case typeClassic:
		return d.classic(k, value, r)
	case typeEpoch:
		return d.epoch(k, value, offsets.Consumer, r)
	case typeShareEpoch:
		return d.epoch(k, value, offsets.Share, r)
	case typeStreamEpoch:
		return d.epoch(k, value, offsets.Streams, r)
	case typeMember:
		return d.member(k, value, offsets.Consumer, r)
	case typeStreamer:
		return d.member(k, value, offsets.Streams, r)
	}
	return false
}

// ours reports whether a key is of the group, and returns what follows the group's name. The name comes first in every type of key.
func (d *Decoder) ours(key []byte) (fields, bool) {
	const head = 4 // type, length of the name
	end := head + len(d.group)
	if len(key) < end || int(binary.BigEndian.Uint16(key[2:])) != len(d.group) || !bytes.Equal(key[head:end], d.group) {
		return fields{}, false
	}
	return fields{b: key[end:]}, true
}

// unreadable counts a record that cannot be told apart.
func (d *Decoder) unreadable() bool {
	d.passed++
	return false
}

// commit reads an offset commit.
func (d *Decoder) commit(k *commitKey, value []byte, r *offsets.LogRecord) {
	if !d.usual(k, value, r) {
		d.unusual(k, value, r)
	}
}

// unusual reads a commit's value in any form. One that is not known still says that something was committed.
func (d *Decoder) unusual(k *commitKey, value []byte, r *offsets.LogRecord) {
	r.Key, r.Value, r.Committed = &k.key, offsets.NoValue, r.Time
	if value == nil {
		r.Kind = offsets.LogRemoved
		return
	}
	r.Kind = offsets.LogCommit
	v := fields{b: value}
	version := v.int16()
	v.flexible = version >= 4
	r.Value.Offset = v.int64()
	if version >= 3 {
		r.Value.Epoch = max(v.int32(), offsets.None)
	}
	r.Value.Metadata = d.keep(v.text())
	r.Committed = v.int64()
	if version == 1 {
		v.int64() // when it expires
	}
	if v.flexible {
		v.tags(func(tag uint64, b []byte) {
			if tag == 0 && len(b) == idSize {
				r.Value.TopicID = k.topic.learn(b)
			}
		})
	}
	if v.bad || version < 0 || version > 4 || r.Value.Offset < 0 {
		r.Kind, r.Value, r.Committed = offsets.LogUnreadable, offsets.NoValue, r.Time
	}
}

// usual reads a commit's value in the two forms in which brokers have written nearly all of them since 2.1: v3, and v4 with a short note
// and nothing behind it but the topic's id. It reports false for any other, and for what makes no sense.
func (d *Decoder) usual(k *commitKey, value []byte, r *offsets.LogRecord) bool {
	const head = 2 + 8 + 4 // version, offset, leader epoch
	if len(value) < head+2 || value[0] != 0 {
		return false
	}
	var note, behind int // where they begin
	switch value[1] {
	case 3:
		note = head + 2
		behind = note + int(int16(binary.BigEndian.Uint16(value[head:])))
	case 4:
		note = head + 1
		behind = note + int(int8(value[head])) - 1
	}
	if note == 0 || behind < note || len(value) < behind+8 {
		return false
	}
	var id string
	switch tags := value[behind+8:]; {
	case len(tags) == 0 && value[1] == 3, len(tags) == 1 && tags[0] == 0 && value[1] == 4:
	case len(tags) == 3+idSize && tags[0] == 1 && tags[1] == 0 && tags[2] == idSize && value[1] == 4:
		if id = k.topic.text; [idSize]byte(tags[3:]) != k.topic.id {
			id = k.topic.learn(tags[3:])
		}
	default:
		return false
	}
	offset := int64(binary.BigEndian.Uint64(value[2:]))
	if offset < 0 {
		return false
	}
	r.Kind, r.Key = offsets.LogCommit, &k.key
	r.Value.Offset, r.Value.Epoch = offset, max(int32(binary.BigEndian.Uint32(value[10:])), offsets.None)
	r.Value.Metadata, r.Value.TopicID = d.keep(value[note:behind]), id
	r.Committed = int64(binary.BigEndian.Uint64(value[behind:]))
	return true
}

// classic reads the state of a classic group.
func (d *Decoder) classic(_ fields, value []byte, r *offsets.LogRecord) bool {
	r.Type, r.Members, r.Generation = offsets.Classic, nil, offsets.None
	if value == nil {
		r.Kind = offsets.LogGone
		return true
	}
	r.Kind = offsets.LogMembers
	v := fields{b: value}
	version := v.int16()
	v.flexible = version >= 4
	v.string() // protocol type
	r.Generation = v.int32()
	v.string() // protocol
	v.string() // leader
	if version >= 2 {
		v.int64() // since when it is in its state
	}
	for n := v.count(); n > 0 && !v.bad; n-- {
		m := offsets.Member{ID: v.string(), Epoch: offsets.None}
		if version >= 3 {
			m.InstanceID = v.string()
		}
		m.ClientID, m.Host = v.string(), v.string()
		if version >= 1 {
			v.int32() // rebalance timeout
		}
		v.int32() // session timeout
		v.bytes() // subscription
		v.bytes() // assignment
		if v.flexible {
			v.tags(nil)
		}
		r.Members = append(r.Members, m)
	}
	if v.bad || version < 0 || version > 4 {
		return d.unreadable()
	}
	return true
}

// epoch reads the state of a group of a newer kind.
func (d *Decoder) epoch(_ fields, value []byte, kind offsets.GroupType, r *offsets.LogRecord) bool {
	r.Type, r.Members, r.Generation = kind, nil, offsets.None
	if value == nil {
		r.Kind = offsets.LogGone
		return true
	}
	r.Kind = offsets.LogEpoch
	v := fields{b: value}
	if version := v.int16(); version == 0 {
		r.Generation = v.int32()
	}
	if v.bad {
		return d.unreadable()
	}
	return true
}

// member reads one member of a group of a newer kind. Its names are decoded in the form that is known; that it is there, in any.
func (d *Decoder) member(k fields, value []byte, kind offsets.GroupType, r *offsets.LogRecord) bool {
	m := offsets.Member{ID: k.string(), Epoch: offsets.None}
	if k.bad {
		return d.unreadable()
	}
	r.Type, r.Generation, r.Kind = kind, offsets.None, offsets.LogLeft
	if value != nil {
		r.Kind = offsets.LogJoined
		v := fields{b: value, flexible: true}
		if version := v.int16(); version == 0 {
			instance := v.string()
			v.string() // rack
			client, host := v.string(), v.string()
			if !v.bad {
				m.InstanceID, m.ClientID, m.Host = instance, client, host
			}
		}
	}
	r.Members = []offsets.Member{m}
	return true
}

// find finds what is kept of a commit's key, of which k is what follows the group's name; nil if it names no partition.
func (d *Decoder) find(key []byte, k fields) *commitKey {
	c := d.keys[string(key)]
	if c == nil {
		name := k.take(int(k.int16()))
		partition := k.int32()
		if k.bad || len(name) == 0 {
			return nil
		}
		t := d.topics[string(name)]
		if t == nil {
			t = &topic{name: string(name)}
			d.topics[t.name] = t
		}
		c = &commitKey{raw: string(key), key: offsets.Key{Topic: t.name, Partition: partition}, topic: t}
		d.keys[c.raw] = c
	}
	d.last.next, d.last = c, c
	return c
}

// keep keeps a note as long as it stays the same. Most commits have none.
func (d *Decoder) keep(note []byte) string {
	if len(note) == 0 {
		return ""
	}
	if string(note) != d.note {
		d.note = string(note)
	}
	return d.note
}

// learn takes in the id that a commit has, and prints it: "" if it is zero, as then there is none.
func (t *topic) learn(id []byte) string {
	t.id, t.text = [idSize]byte(id), ""
	if t.id != [idSize]byte{} {
		t.text = offsets.TopicID(t.id)
	}
	return t.text
}
