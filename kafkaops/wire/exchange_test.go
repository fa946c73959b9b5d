package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// frame is an answer on the wire.
func frame(id int32, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(4+len(body)))
	return append(binary.BigEndian.AppendUint32(b, uint32(id)), body...)
}

func metadata12() *kmsg.MetadataRequest {
	q := kmsg.NewPtrMetadataRequest()
	q.Version = 12
	return q
}

func TestReadAnswer(t *testing.T) {
	nothing := func() {}
	q := metadata12()
	whole := frame(7, append([]byte{0}, q.ResponseKind().AppendTo(nil)...))
	if _, _, err := readAnswer(bytes.NewReader(whole), q, 7, nil, 0, nothing); err != nil {
		t.Errorf("whole answer: %v", err)
	}
	tagged := frame(7, append([]byte{2, 9, 3, 'a', 'b', 'c', 5, 0}, q.ResponseKind().AppendTo(nil)...))
	if _, _, err := readAnswer(bytes.NewReader(tagged), q, 7, nil, 0, nothing); err != nil {
		t.Errorf("with tags in the header: %v", err)
	}
	if _, _, err := readAnswer(bytes.NewReader(whole), q, 8, nil, 0, nothing); err == nil {
		t.Error("the answer to another request was taken")
	}
	for n := range len(whole) {
		_, _, err := readAnswer(bytes.NewReader(whole[:n]), q, 7, nil, 0, nothing)
		if err == nil || n > 0 && errors.Is(err, io.EOF) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	for name, x := range map[string]struct {
		first string
		tls   bool
		http  bool
	}{"TLS alert": {"\x15\x03\x03\x00\x02\x02", true, false}, "HTTP": {"HTTP/1.1", false, true}, "nonsense": {"\xff\xff\xff\xff", false, false}, "too short": {"\x00\x00\x00\x03", false, false}} {
		_, _, err := readAnswer(bytes.NewReader([]byte(x.first)), q, 7, nil, 0, nothing)
		var f FrameError
		if !errors.As(err, &f) || f.TLS() != x.tls || f.HTTP() != x.http {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A length of 200 MB behind which nothing comes must not cost 200 MB.
func TestLyingLengthTakesNoMemory(t *testing.T) {
	head := binary.BigEndian.AppendUint32(nil, 200<<20)
	lie := append(head, 0, 0, 0, 7, 1, 2, 3)
	n := testing.AllocsPerRun(1, func() {
		if _, _, err := readAnswer(bytes.NewReader(lie), metadata12(), 7, nil, 0, func() {}); err == nil {
			t.Error("taken for whole")
		}
	})
	body, err := readBody(bytes.NewReader(lie[8:]), 200<<20, nil, 0, func() {})
	if err == nil || cap(body) > 2<<20 || n > 50 {
		t.Errorf("%v, capacity %d, %v allocations", err, cap(body), n)
	}
}

func TestSkipTags(t *testing.T) {
	for _, x := range []struct {
		in   []byte
		rest string
		ok   bool
	}{
		{[]byte{0, 'x'}, "x", true},
		{[]byte{1, 0, 2, 'a', 'b', 'x'}, "x", true},
		{[]byte{2, 0, 0, 1, 1, 'a', 'x'}, "x", true},
		{[]byte{1, 0, 9, 'a'}, "", false},
		{[]byte{1, 0}, "", false},
		{[]byte{1}, "", false},
		{nil, "", false},
		{[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, "", false},
		{[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, "", false},
	} {
		rest, err := skipTags(x.in)
		if (err == nil) != x.ok || x.ok && string(rest) != x.rest {
			t.Errorf("%v: %q %v", x.in, rest, err)
		}
	}
}

// FuzzReadAnswer decodes one answer to any of our requests, in any version.
func FuzzReadAnswer(f *testing.F) {
	q := metadata12()
	f.Add(frame(7, append([]byte{0}, q.ResponseKind().AppendTo(nil)...)), int16(3), int16(12))
	o := kmsg.NewPtrListOffsetsRequest()
	f.Add(frame(7, o.ResponseKind().AppendTo(nil)), int16(2), int16(1))
	f.Add([]byte("HTTP/1.1 400 Bad Request"), int16(18), int16(0))
	f.Add([]byte{0x15, 3, 3, 0, 2, 2, 70}, int16(18), int16(0))
	f.Add([]byte{0, 0, 0, 12, 0, 0, 0, 7, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0}, int16(16), int16(0))
	f.Fuzz(func(t *testing.T, b []byte, key, version int16) {
		r, _, known := ours(key)
		if !known {
			return
		}
		q := kmsg.RequestForKey(key)
		q.SetVersion(min(max(version, r.Min), r.Max))
		a, _, err := readAnswer(bytes.NewReader(b), q, 7, nil, 0, func() {})
		if (a == nil) == (err == nil) {
			t.Errorf("%v and %v", a, err)
		}
	})
}

func TestVersions(t *testing.T) {
	v := Versions{Metadata: {0, 9}, ListOffsets: {8, 20}, OffsetFetch: {0, 1}}
	q := kmsg.NewPtrMetadataRequest()
	if err := v.Set(q, -1); err != nil || q.Version != 9 {
		t.Errorf("version %d, %v", q.Version, err)
	}
	if err := v.Set(q, 4); err != nil || q.Version != 4 {
		t.Errorf("version %d, %v", q.Version, err)
	}
	for _, x := range []struct {
		q    kmsg.Request
		want string
	}{
		{kmsg.NewPtrOffsetFetchRequest(), "broker 3 (k:1) offers OffsetFetch in versions 0 to 1; version 2 is needed, which came with Kafka 0.10.2"},
		{kmsg.NewPtrListOffsetsRequest(), "broker 3 (k:1) offers ListOffsets only in versions 8 to 20; gtoffset knows 1 to 7 and is too old for it"},
		{kmsg.NewPtrOffsetDeleteRequest(), "broker 3 (k:1) does not know OffsetDelete; it needs Kafka 2.4 or newer"},
	} {
		if err := named(v.Set(x.q, -1), 3, "k:1"); err == nil || err.Error() != x.want {
			t.Errorf("got  %v\nwant %v", err, x.want)
		}
	}
}
