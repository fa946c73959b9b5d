package live

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Each harm does to a request and its answer what it says, and to those before it nothing.
func TestHarms(t *testing.T) {
	answer := func(number int32) []byte { return frame(number, bytes.Repeat([]byte{1}, 200)) }
	whole := answer(2)
	half := whole[:4+(len(whole)-4)/2]
	changed := func(at int, to ...byte) []byte {
		b := bytes.Clone(whole)
		copy(b[at:], to)
		return b
	}
	for name, c := range map[string]struct {
		harm    Harm
		got     []byte // of the second answer
		arrives bool   // the second request
		silent  bool   // the connection stays open
	}{
		"pass":       {Pass, whole, true, true},
		"refuse":     {Refuse, nil, false, false},
		"swallow":    {Swallow, nil, false, true},
		"unheard":    {Unheard, nil, true, false},
		"silence":    {Silence, nil, true, true},
		"cut":        {Cut, half, true, false},
		"half close": {HalfClose, half, true, false},
		"stall":      {Stall, half, true, true},
		"shorten":    {Shorten, append(binary.BigEndian.AppendUint32(nil, uint32(len(half)-4)), half[4:]...), true, true},
		"huge":       {Huge, changed(0, 0x7f, 0xff, 0xff, 0xff), true, true},
		"negative":   {Negative, changed(0, 0xff, 0xff, 0xff, 0xfe), true, true},
		"miscount":   {Miscount, changed(13, 0x7f), true, true},
		"corrupt":    {Corrupt, changed(len(whole)-8, 0x11), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := make(chan int32, 2)
			target := broker(t, func(number int32) []byte { seen <- number; return answer(number) })
			faults := &Faults{}
			faults.Set(Everybody, &Fault{API: kmsg.OffsetCommit, Skip: 1, Times: 1, Harm: c.harm})
			p, err := faults.Before(t.Context(), 1, target)
			if err != nil {
				t.Fatal(err)
			}
			client, err := net.Dial("tcp", p.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if got := ask(t, client, 1, len(whole)); !bytes.Equal(got, answer(1)) {
				t.Errorf("first answer: got %x", got)
			}
			<-seen
			if got := ask(t, client, 2, len(c.got)); !bytes.Equal(got, c.got) {
				t.Errorf("second answer: got %x, want %x", got, c.got)
			}
			if c.arrives {
				<-seen
			} else if len(seen) > 0 {
				t.Error("the request got through")
			}
			patient := time.Minute // for an end that must come
			if c.silent {
				patient = 20 * time.Millisecond
			}
			_ = client.SetReadDeadline(time.Now().Add(patient))
			n, err := client.Read(make([]byte, 1))
			var late net.Error
			if silent := errors.As(err, &late) && late.Timeout(); n != 0 || silent != c.silent {
				t.Errorf("after it: got %d bytes, %v; want silence: %v", n, err, c.silent)
			}
			if got, want := faults.Clear(Everybody), 1; got != want {
				t.Errorf("hit: got %d, want %d", got, want)
			}
		})
	}
}

// What befalls one client does not befall another, and is counted by client.
func TestFaultsOfAClient(t *testing.T) {
	request := func(client string) string {
		q := kmsg.NewPtrMetadataRequest()
		q.Version = 12
		return clientOf(kmsg.NewRequestFormatter(kmsg.FormatterClientID(client)).AppendRequest(nil, q, 1))
	}
	faults := &Faults{}
	faults.Set("a", &Fault{API: Any, Harm: Cut})
	faults.Set(Everybody, &Fault{API: kmsg.Fetch, Harm: Huge})
	for _, c := range []struct {
		client string
		api    kmsg.Key
		want   Harm
	}{{"a", kmsg.Metadata, Cut}, {"b", kmsg.Metadata, Pass}, {"b", kmsg.Fetch, Huge}, {Everybody, kmsg.Fetch, Huge}} {
		if got, _ := faults.meet(1, c.api, request(c.client)); got.harm != c.want {
			t.Errorf("%q: got %v, want %v", c.client, got, c.want)
		}
	}
	if a, all := faults.Clear("a"), faults.Clear(Everybody); a != 1 || all != 2 {
		t.Errorf("hit: got %d and %d", a, all)
	}
	if got, _ := faults.meet(1, kmsg.Metadata, "a"); got.harm != Pass {
		t.Errorf("after it: got %v", got)
	}
}

// An answer that is given another code is whole, and of every version.
func TestRecode(t *testing.T) {
	for version := range int16(11) {
		r := kmsg.NewPtrOffsetCommitResponse()
		r.Version = version
		topic := kmsg.NewOffsetCommitResponseTopic()
		topic.Topic = "orders"
		topic.Partitions = []kmsg.OffsetCommitResponseTopicPartition{{Partition: 0}, {Partition: 1}}
		r.Topics = append(r.Topics, topic)
		head := []byte{0, 0, 0, 7}
		if r.IsFlexible() {
			head = append(head, 0)
		}
		body := r.AppendTo(head)
		got := recode(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...), version, 16)
		after := kmsg.NewPtrOffsetCommitResponse()
		after.Version = version
		if n := binary.BigEndian.Uint32(got); int(n) != len(got)-4 || !bytes.Equal(got[4:4+len(head)], head) || after.ReadFrom(got[4+len(head):]) != nil {
			t.Fatalf("version %d: got %x", version, got)
		}
		for _, p := range after.Topics[0].Partitions {
			if p.ErrorCode != 16 {
				t.Errorf("version %d: partition %d has %d", version, p.Partition, p.ErrorCode)
			}
		}
	}
}

// broker is a server that answers each frame by its number.
func broker(t *testing.T, answer func(number int32) []byte) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	context.AfterFunc(t.Context(), func() { l.Close() })
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		for {
			request, err := readFrame(c)
			if err != nil {
				return
			}
			if _, err := c.Write(answer(int32(binary.BigEndian.Uint32(request[8:])))); err != nil {
				return
			}
		}
	}()
	return l.Addr().String()
}

// ask sends an OffsetCommit of no content, and reads n bytes of what comes.
func ask(t *testing.T, c net.Conn, number int32, n int) []byte {
	t.Helper()
	head := binary.BigEndian.AppendUint16(nil, uint16(kmsg.OffsetCommit))
	head = binary.BigEndian.AppendUint16(head, 9)
	request := binary.BigEndian.AppendUint32(nil, 8)
	request = binary.BigEndian.AppendUint32(append(request, head...), uint32(number))
	if _, err := c.Write(request); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, n)
	if _, err := io.ReadFull(c, got); err != nil && n > 0 {
		t.Fatalf("read %d bytes: %v", n, err)
	}
	return got
}

func frame(number int32, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(4+len(body)))
	return append(binary.BigEndian.AppendUint32(b, uint32(number)), body...)
}
