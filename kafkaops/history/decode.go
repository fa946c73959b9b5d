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

// Decoder decodes the records of one group. It keeps each topic's name once. One goroutine uses it at a time.
type Decoder struct {
	group  []byte
	names  map[string]string
	passed int64
}

// NewDecoder makes one.
func NewDecoder(group string) *Decoder {
	return &Decoder{group: []byte(group), names: map[string]string{}}
}

// Unreadable is how many records of the group were passed over although they may have said something: their form is not known, and not
// even which partition they are about.
func (d *Decoder) Unreadable() int64 { return d.passed }

// Decode reads a record of the offsets topic; a nil value is a tombstone. It fills in what key and value say (Kind and what depends on
// it) and leaves the rest of r alone. It reports false for records of other groups, and for those that say nothing about commits and
// members: types that are not known among them.
func (d *Decoder) Decode(key, value []byte, r *offsets.LogRecord) bool {
	k, ok := d.ours(key)
	if !ok {
		return false
	}
	switch binary.BigEndian.Uint16(key) {
	case typeOldCommit, typeCommit:
		return d.commit(k, value, r)
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

// Group is the group that a key is about; ok is false if it is none of the offsets topic.
func Group(key []byte) (group string, ok bool) {
	f := fields{b: key}
	f.int16()
	group = f.string()
	return group, !f.bad
}

// unreadable counts a record that cannot be told apart.
func (d *Decoder) unreadable() bool {
	d.passed++
	return false
}

// commit reads an offset commit. A value in a form that is not known still says that something was committed.
func (d *Decoder) commit(k fields, value []byte, r *offsets.LogRecord) bool {
	topic := k.take(int(k.int16()))
	partition := k.int32()
	if k.bad || len(topic) == 0 {
		return d.unreadable()
	}
	r.Key = offsets.Key{Topic: d.name(topic), Partition: partition}
	r.Value, r.Committed = offsets.NoValue, r.Time
	if value == nil {
		r.Kind = offsets.LogRemoved
		return true
	}
	r.Kind = offsets.LogCommit
	v := fields{b: value}
	version := v.int16()
	r.Value.Offset = v.int64()
	if version >= 3 {
		r.Value.Epoch = max(v.int32(), offsets.None)
	}
	if v.flexible = version >= 4; v.flexible {
		r.Value.Metadata = v.string()
	} else {
		r.Value.Metadata = string(v.take(int(v.int16())))
	}
	r.Committed = v.int64()
	if version == 1 {
		v.int64() // when it expires
	}
	if version >= 4 {
		v.tags(func(tag uint64, b []byte) {
			if tag == 0 && len(b) == 16 && !bytes.Equal(b, make([]byte, 16)) {
				r.Value.TopicID = printID(b)
			}
		})
	}
	if v.bad || version < 0 || version > 4 || r.Value.Offset < 0 {
		r.Kind, r.Value, r.Committed = offsets.LogUnreadable, offsets.NoValue, r.Time
	}
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

// name keeps a topic's name once.
func (d *Decoder) name(b []byte) string {
	if s, ok := d.names[string(b)]; ok {
		return s
	}
	s := string(b)
	d.names[s] = s
	return s
}
