package live

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/kafkatest/tcpproxy"
)

// Faults are what befalls the requests and answers that pass through the second listener of every broker: of one client, by its
// client.id, so that several can be tried at a time, or of all. Set replaces them while connections are open.
type Faults struct {
	TLS *tls.Config // with it, clients may come over TLS, too

	mu  sync.Mutex
	all map[string]*faultsOf
}

// faultsOf are those of one client.
type faultsOf struct {
	all []*Fault
	hit int
}

// Proxied gives every broker a second listener, as Delayed does, behind a proxy that spoils what the faults say.
func Proxied(f *Faults) Option { return func(o *options) { o.faults = f } }

// A Fault befalls requests of one kind, or their answers.
type Fault struct {
	Broker int32    // whose; 0 is every broker's
	API    kmsg.Key // which requests; Any is all
	Skip   int      // how many go well before
	Times  int      // how many are hit; 0 is all
	Harm   Harm
	Code   int16  // of Answer
	Garble int    // instead of Harm: a bit of this byte of what each client gets over TLS is wrong
	Do     func() // is called for each that is hit, before it is passed on; may be nil

	met int
}

// Any is every kind of request.
const Any kmsg.Key = -1

// A Harm is what a fault does.
type Harm int

// The harms. What is silent keeps its connection open; what is cut loses it both ways.
const (
	Pass      Harm = iota // nothing: only Do is called
	Refuse                // the request does not get through, and the connection is cut
	Swallow               // the request does not get through, and nothing is answered from then on
	Unheard               // the broker gets the request, and the connection is cut in place of the answer
	Silence               // the broker gets the request, and nothing is answered from then on
	Cut                   // half of the answer comes, then the connection is cut
	HalfClose             // half of the answer comes, then its end; the way to the broker stays open
	Stall                 // half of the answer comes, then nothing
	Shorten               // half of the answer comes as if it were whole: its length is that of the half
	Huge                  // the answer's length is said to be the largest there is
	Negative              // the answer's length is said to be negative
	Miscount              // the answer's first list is said to be longer than it is
	Corrupt               // a bit of the last fetched record is wrong
	Answer                // the broker does what an OffsetCommit asks for, and the answer has Code for each partition
)

// Before puts a proxy before a broker, which ends with ctx. It goes by whole requests and answers, and spoils them as the faults
// say; without faults it passes all.
func (f *Faults) Before(ctx context.Context, broker int32, target string) (*tcpproxy.Proxy, error) {
	var wire tcpproxy.Wire
	if f != nil {
		wire = func(client, server net.Conn) (_ net.Conn, up, down func() ([]byte, error), err error) {
			if client, err = f.greet(broker, client); err != nil {
				return nil, nil, nil, err
			}
			l := &link{broker: broker, faults: f, client: client, server: server, waiting: map[int32]hit{}}
			return client, l.request, l.answer, nil
		}
	}
	p, err := tcpproxy.New(target, wire)
	if err == nil {
		context.AfterFunc(ctx, p.Close)
	}
	return p, err
}

// Everybody is the client whose faults are those of all clients.
const Everybody = ""

// Set replaces all faults of a client, and counts anew how many of its requests were hit. Garble is everybody's: over TLS nobody is
// known.
func (f *Faults) Set(client string, all ...*Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[string]*faultsOf{}
	}
	f.all[client] = &faultsOf{all: all}
}

// Clear takes a client's faults away, and returns how many of its requests were hit.
func (f *Faults) Clear(client string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	hit := 0
	if of := f.all[client]; of != nil {
		hit = of.hit
	}
	delete(f.all, client)
	return hit
}

// meet finds what befalls a request: the first fault that it falls to.
func (f *Faults) meet(broker int32, api kmsg.Key, client string) (h hit, do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range slices.Compact([]string{client, Everybody}) {
		of := f.all[name]
		if of == nil {
			continue
		}
		for _, one := range of.all {
			if one.Garble > 0 || one.Broker != 0 && one.Broker != broker || one.API != Any && one.API != api {
				continue
			}
			one.met++
			if one.met > one.Skip && (one.Times == 0 || one.met <= one.Skip+one.Times) {
				of.hit++
				return hit{harm: one.Harm, code: one.Code}, one.Do
			}
		}
	}
	return hit{}, nil
}

// greet takes a client's connection, and ends its TLS if it comes over that.
func (f *Faults) greet(broker int32, client net.Conn) (net.Conn, error) {
	const handshake = 0x16
	r := bufio.NewReader(client)
	first, err := r.Peek(1)
	if err != nil {
		return client, err
	}
	read := &readFirst{client.(*net.TCPConn), r}
	if f.TLS == nil || first[0] != handshake {
		return read, nil
	}
	return tls.Server(&garbled{readFirst: read, faults: f, broker: broker}, f.TLS), nil
}

// readFirst is a connection of which something was read ahead.
type readFirst struct {
	*net.TCPConn
	r io.Reader
}

func (c *readFirst) Read(b []byte) (int, error) { return c.r.Read(b) }

// garbled is what lies below TLS: what it writes can be spoilt.
type garbled struct {
	*readFirst
	faults  *Faults
	broker  int32
	written int
}

func (c *garbled) Write(b []byte) (int, error) {
	at := c.faults.garble(c.broker, c.written, len(b))
	c.written += len(b)
	if at >= 0 {
		b = bytes.Clone(b)
		b[at] ^= 0x10
	}
	return c.readFirst.Write(b)
}

// garble says which of the next n bytes is to be spoilt, -1 for none.
func (f *Faults) garble(broker int32, written, n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := f.all[Everybody]
	if of == nil {
		return -1
	}
	for _, one := range of.all {
		if at := one.Garble - written; one.Garble > 0 && (one.Broker == 0 || one.Broker == broker) && at >= 0 && at < n {
			of.hit++
			return at
		}
	}
	return -1
}

// A link is one connection that faults can befall.
type link struct {
	broker         int32
	faults         *Faults
	client, server net.Conn
	stalled        bool // no more is to come from the broker

	mu      sync.Mutex
	waiting map[int32]hit // for the answer, by the number of the request
}

// A hit is what befalls one request.
type hit struct {
	harm          Harm
	code, version int16
}

// request is the next request as the broker shall get it.
func (l *link) request() ([]byte, error) {
	frame, err := readFrame(l.client)
	if err != nil {
		return nil, err
	}
	if len(frame) < 12 {
		return frame, nil
	}
	h, do := l.faults.meet(l.broker, kmsg.Key(binary.BigEndian.Uint16(frame[4:])), clientOf(frame))
	if do != nil {
		do()
	}
	switch h.harm {
	case Refuse:
		l.client.Close()
		l.server.Close()
		return nil, io.EOF
	case Swallow:
		_, _ = io.Copy(io.Discard, l.client) // until it is given up
		return nil, io.EOF
	}
	h.version = int16(binary.BigEndian.Uint16(frame[6:]))
	l.mu.Lock()
	l.waiting[int32(binary.BigEndian.Uint32(frame[8:]))] = h
	l.mu.Unlock()
	return frame, nil
}

// clientOf is the client.id of a request, which stands behind its length, kind, version and number.
func clientOf(frame []byte) string {
	const at = 4 + 2 + 2 + 4
	if len(frame) < at+2 {
		return Everybody
	}
	n := int(int16(binary.BigEndian.Uint16(frame[at:])))
	if n < 0 || at+2+n > len(frame) {
		return Everybody
	}
	return string(frame[at+2 : at+2+n])
}

// answer is the next answer as the client shall get it.
func (l *link) answer() ([]byte, error) {
	if l.stalled {
		return nil, l.stay()
	}
	frame, err := readFrame(l.server)
	if err != nil {
		return nil, err
	}
	if len(frame) < 8 {
		return frame, nil
	}
	number := int32(binary.BigEndian.Uint32(frame[4:]))
	l.mu.Lock()
	h := l.waiting[number]
	delete(l.waiting, number)
	l.mu.Unlock()
	half := 4 + (len(frame)-4)/2
	switch h.harm {
	case Unheard:
		return nil, tcpproxy.ErrCut
	case Silence:
		return nil, l.stay()
	case Cut:
		return frame[:half], tcpproxy.ErrCut
	case HalfClose:
		return frame[:half], io.EOF
	case Stall:
		l.stalled = true
		return frame[:half], nil
	case Answer:
		return recode(frame, h.version, h.code), nil
	}
	return spoil(frame, h.harm), nil
}

// stay takes the broker's answers and keeps them, until it closes the connection.
func (l *link) stay() error {
	_, _ = io.Copy(io.Discard, l.server)
	return io.EOF
}

// spoil changes the bytes of an answer, whose first four are its length.
func spoil(frame []byte, harm Harm) []byte {
	switch harm {
	case Shorten:
		frame = frame[:4+(len(frame)-4)/2]
		binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	case Huge:
		binary.BigEndian.PutUint32(frame, 1<<31-1)
	case Negative:
		binary.BigEndian.PutUint32(frame, 1<<32-2)
	case Miscount:
		// Behind the length, the request's number, the header's tags and the throttle time.
		if at := 4 + 4 + 1 + 4; len(frame) > at {
			frame[at] = 0x7f
		}
	case Corrupt:
		// The last bytes are tags of the answer, the partition and the topic; before them is the last record.
		if back := len(frame) - 8; back > 100 {
			frame[back] ^= 0x10
		}
	}
	return frame
}

// recode gives each partition in the answer to an OffsetCommit another code.
func recode(frame []byte, version, code int16) []byte {
	r := kmsg.NewPtrOffsetCommitResponse()
	r.Version = version
	head := 4 + 4 // its length and the request's number
	if r.IsFlexible() {
		head++ // no tags
	}
	if len(frame) < head || r.ReadFrom(frame[head:]) != nil {
		return frame
	}
	for _, t := range r.Topics {
		for i := range t.Partitions {
			t.Partitions[i].ErrorCode = code
		}
	}
	frame = r.AppendTo(frame[:head:head])
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	return frame
}

// readFrame reads one request or answer with its length.
func readFrame(from io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > 1<<30 {
		return nil, io.ErrUnexpectedEOF
	}
	frame := make([]byte, 4+n)
	copy(frame, head[:])
	_, err := io.ReadFull(from, frame[4:])
	return frame, err
}
