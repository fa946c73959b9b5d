package history_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/history"
	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/offsets"
)

var at = time.Date(2026, 11, 29, 12, 0, 0, 123e6, time.UTC)

// decode decodes an entry of a log; the record is of a second after.
func decode(t *testing.T, d *history.Decoder, e kafkatest.Entry) (offsets.LogRecord, bool) {
	t.Helper()
	r := offsets.LogRecord{Time: at.UnixMilli() + 1000, Producer: offsets.None}
	var value []byte
	if e.Value != nil {
		value = e.Value(at)
	}
	ok := d.Decode(e.Key, value, &r)
	return r, ok
}

func TestDecodeCommits(t *testing.T) {
	t.Parallel()
	id := [16]byte{1, 2, 3}
	for version := range int16(5) {
		d := history.NewDecoder("billing")
		got, ok := decode(t, d, kafkatest.OffsetCommitOf(version, id, "billing", "orders", 7, 42, "a note"))
		want := offsets.LogRecord{
			Kind: offsets.LogCommit, Time: at.UnixMilli() + 1000, Producer: offsets.None, Key: &offsets.Key{Topic: "orders", Partition: 7},
			Value: offsets.Value{Offset: 42, Epoch: offsets.None, Metadata: "a note"}, Committed: at.UnixMilli(),
		}
		if version == 4 {
			want.Value.TopicID = "AQIDAAAAAAAAAAAAAAAAAA"
		}
		if !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("v%d: got  %+v %v\nwant %+v", version, got, ok, want)
		}
	}
}

// What a decoder keeps of records that came before changes nothing of what it reads, in whichever order they come.
func TestDecodeAgain(t *testing.T) {
	t.Parallel()
	var entries []kafkatest.Entry
	for version := range int16(5) {
		for i, note := range []string{"", "a note", strings.Repeat("long ", 30)} {
			for _, topic := range []string{"orders", "payments"} {
				entries = append(entries, kafkatest.OffsetCommitOf(version, [16]byte{byte(i)}, "billing", topic, int32(version)%2, int64(i), note))
			}
		}
	}
	entries = append(entries, kafkatest.OffsetTombstone("billing", "orders", 0), kafkatest.OffsetCommit("shipping", "orders", 0, 9, ""),
		kafkatest.OffsetCommit("billing", "orders", 1, -5, ""), kafkatest.ClassicGroup("billing", 1, "a"))
	random, d := rand.New(rand.NewPCG(1, 2)), history.NewDecoder("billing")
	for i := range 5000 {
		e := entries[random.IntN(len(entries))]
		if i%7 < 5 { // in order, as requests come
			e = entries[i%len(entries)]
		}
		got, ok := decode(t, d, e)
		want, wanted := decode(t, history.NewDecoder("billing"), e)
		if ok != wanted || !reflect.DeepEqual(got, want) {
			t.Fatalf("record %d: got  %+v %v\nwant %+v %v", i, got, ok, want, wanted)
		}
	}
}

func TestDecodeLeaderEpoch(t *testing.T) {
	t.Parallel()
	e := kafkatest.OffsetCommit("billing", "orders", 7, 42, "")
	for _, version := range []int16{2, 3, 4} {
		v := kmsg.NewOffsetCommitValue()
		v.Version, v.Offset, v.LeaderEpoch = version, 42, 5
		e.Value = func(time.Time) []byte { return v.AppendTo(nil) }
		want := int32(5)
		if version < 3 {
			want = offsets.None // such a value has none, which is not epoch 0
		}
		if got, _ := decode(t, history.NewDecoder("billing"), e); got.Value.Epoch != want {
			t.Errorf("v%d: got epoch %d, want %d", version, got.Value.Epoch, want)
		}
	}
}

func TestDecodeGroups(t *testing.T) {
	t.Parallel()
	member := func(id, client, host string) offsets.Member {
		return offsets.Member{ID: id, ClientID: client, Host: host, Epoch: offsets.None}
	}
	v4 := kmsg.NewGroupMetadataValue()
	v4.Version, v4.Generation = 4, 9
	m := kmsg.NewGroupMetadataValueMember()
	m.MemberID, m.InstanceID, m.ClientID, m.ClientHost, m.Subscription = "m", kmsg.StringPtr("i"), "c", "h", []byte("x")
	v4.Members = append(v4.Members, m)
	flexible := kafkatest.ClassicGroup("billing", 9)
	flexible.Value = func(time.Time) []byte { return v4.AppendTo(nil) }
	tests := []struct {
		name  string
		entry kafkatest.Entry
		want  offsets.LogRecord
	}{
		{"classic", kafkatest.ClassicGroup("billing", 3, "a", "b"), offsets.LogRecord{
			Kind: offsets.LogMembers, Type: offsets.Classic, Generation: 3, Members: []offsets.Member{member("a", "a", "/10.0.0.5"), member("b", "b", "/10.0.0.5")},
		}},
		{"classic, flexible", flexible, offsets.LogRecord{
			Kind: offsets.LogMembers, Type: offsets.Classic, Generation: 9, Members: []offsets.Member{{ID: "m", InstanceID: "i", ClientID: "c", Host: "h", Epoch: offsets.None}},
		}},
		{"nobody", kafkatest.ClassicGroup("billing", 4), offsets.LogRecord{Kind: offsets.LogMembers, Type: offsets.Classic, Generation: 4}},
		{"classic, removed", kafkatest.ClassicTombstone("billing"), offsets.LogRecord{Kind: offsets.LogGone, Type: offsets.Classic, Generation: offsets.None}},
		{"epoch", kafkatest.ModernEpoch("billing", 5), offsets.LogRecord{Kind: offsets.LogEpoch, Type: offsets.Consumer, Generation: 5}},
		{"removed", kafkatest.ModernTombstone("billing"), offsets.LogRecord{Kind: offsets.LogGone, Type: offsets.Consumer, Generation: offsets.None}},
		{"joined", kafkatest.ModernMember("billing", "id-1", "app"), offsets.LogRecord{
			Kind: offsets.LogJoined, Type: offsets.Consumer, Generation: offsets.None, Members: []offsets.Member{member("id-1", "app", "/10.0.0.6")},
		}},
		{"left", kafkatest.ModernLeft("billing", "id-1"), offsets.LogRecord{
			Kind: offsets.LogLeft, Type: offsets.Consumer, Generation: offsets.None, Members: []offsets.Member{member("id-1", "", "")},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.Time, tt.want.Producer = at.UnixMilli()+1000, offsets.None
			if got, ok := decode(t, history.NewDecoder("billing"), tt.entry); !ok || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v %v\nwant %+v", got, ok, tt.want)
			}
		})
	}
}

func TestDecodePassesOver(t *testing.T) {
	t.Parallel()
	d := history.NewDecoder("billing")
	for name, e := range map[string]kafkatest.Entry{
		"another group":                     kafkatest.OffsetCommit("billing2", "orders", 0, 1, ""),
		"a group whose name is the start":   kafkatest.OffsetCommit("billin", "orders", 0, 1, ""),
		"a record about assignments":        kafkatest.ModernTarget("billing"),
		"a type that is not known":          {Key: []byte{0, 99, 0, 7, 'b', 'i', 'l', 'l', 'i', 'n', 'g'}},
		"no key":                            {},
		"a name longer than the key":        {Key: []byte{0, 1, 0, 7, 'b'}},
		"a name of negative length":         {Key: []byte{0, 1, 0xff, 0xff}},
		"another group of the new protocol": kafkatest.ModernMember("shipping", "a", "b"),
	} {
		if r, ok := decode(t, d, e); ok {
			t.Errorf("%s: got %+v", name, r)
		}
	}
	if n := d.Unreadable(); n != 0 {
		t.Errorf("unreadable: got %d, want 0: nothing was lost", n)
	}
}

func TestDecodeUnknownForms(t *testing.T) {
	t.Parallel()
	commit := kafkatest.OffsetCommit("billing", "orders", 7, 42, "")
	whole := commit.Value(at)
	for name, value := range map[string][]byte{
		"a newer version":   append([]byte{0, 5}, whole[2:]...),
		"cut short":         whole[:9],
		"empty":             {},
		"a negative offset": kafkatest.OffsetCommit("billing", "orders", 7, -1, "").Value(at),
		"a negative length": {0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0x80, 0},
	} {
		e := kafkatest.Entry{Key: commit.Key, Value: func(time.Time) []byte { return value }}
		r, ok := decode(t, history.NewDecoder("billing"), e)
		if name == "a negative length" { // reads as null, but then the time is missing
			ok = ok && r.Kind == offsets.LogUnreadable
		}
		if !ok || r.Kind != offsets.LogUnreadable || r.Key.Partition != 7 || r.Value != offsets.NoValue {
			t.Errorf("%s: got %+v %v, want a commit of orders 7 that cannot be read", name, r, ok)
		}
	}
	d := history.NewDecoder("billing")
	group := kafkatest.ClassicGroup("billing", 1, "a")
	cut := group.Value(at)[:20]
	group.Value = func(time.Time) []byte { return cut }
	if _, ok := decode(t, d, group); ok || d.Unreadable() != 1 {
		t.Errorf("members cut short: got %v and %d unreadable, want false and 1", ok, d.Unreadable())
	}
}

// The partitions are those in which Apache Kafka 4.4 keeps groups of these names.
func TestPartition(t *testing.T) {
	t.Parallel()
	for group, want := range map[string]int32{"": 0, "a": 47, "polygenelubricants": 0, "billing": javaHash("billing") % 50} {
		if got := history.Partition(group, 50); got != want {
			t.Errorf("%q: got %d, want %d", group, got, want)
		}
	}
	if got := history.Partition("a", 0); got != 0 {
		t.Errorf("of no partitions: got %d", got)
	}
}

// javaHash is the sum that Java's documentation gives, for names whose hash does not overflow into a negative number's opposite.
func javaHash(s string) int32 {
	h := int32(0)
	for _, c := range s {
		h = h*31 + c
	}
	if h < 0 {
		h = -h
	}
	return h
}

// FuzzDecode reads a record of the commits' topic: what is decoded is of the group that was asked about, and makes sense.
func FuzzDecode(f *testing.F) {
	for _, e := range []kafkatest.Entry{
		kafkatest.OffsetCommit("g", "orders", 7, 42, "note"), kafkatest.OffsetCommitOf(1, [16]byte{}, "g", "orders", 7, 42, ""),
		kafkatest.OffsetCommitOf(4, [16]byte{9}, "g", "o", 0, 1, ""), kafkatest.OffsetTombstone("g", "o", 0),
		kafkatest.ClassicGroup("g", 1, "a", "b"), kafkatest.ModernEpoch("g", 2), kafkatest.ModernMember("g", "a", "b"), kafkatest.ModernLeft("g", "a"),
		kafkatest.ModernTarget("g"), kafkatest.ClassicTombstone("g"),
	} {
		var value []byte
		if e.Value != nil {
			value = e.Value(at)
		}
		f.Add(e.Key, value, value == nil)
	}
	f.Fuzz(func(t *testing.T, key, value []byte, tombstone bool) {
		if tombstone {
			value = nil
		} else if value == nil {
			value = []byte{}
		}
		r := offsets.LogRecord{Producer: offsets.None}
		d := history.NewDecoder("g")
		if !d.Decode(key, value, &r) {
			return
		}
		if !bytes.HasPrefix(key[2:], []byte("\x00\x01g")) { // behind its type
			t.Fatalf("decoded a key of another group: %q", key)
		}
		switch r.Kind {
		case offsets.LogCommit:
			var k kmsg.OffsetCommitKey
			v := kmsg.NewOffsetCommitValue()
			if err := k.ReadFrom(key); err != nil || k.Topic != r.Key.Topic || k.Partition != r.Key.Partition {
				t.Fatalf("key: got %+v, kmsg has %+v (%v)", r.Key, k, err)
			}
			if err := v.ReadFrom(value); err == nil && (v.Offset != r.Value.Offset || v.Metadata != r.Value.Metadata || v.CommitTimestamp != r.Committed) {
				t.Fatalf("value: got %+v, kmsg has %+v", r, v)
			}
			if r.Value.Offset < 0 {
				t.Fatalf("offset %d", r.Value.Offset)
			}
		case offsets.LogMembers:
			v := kmsg.NewGroupMetadataValue()
			if err := v.ReadFrom(value); err == nil && int(binary.BigEndian.Uint16(value)) <= 4 && len(v.Members) != len(r.Members) {
				t.Fatalf("got %d members, kmsg has %d", len(r.Members), len(v.Members))
			}
		}
		h := offsets.NewHistorian(offsets.HistoryPolicy{All: true, Skip: offsets.None, At: at})
		h.Add(&r)
		h.End(offsets.Complete{})
	})
}
