package live

import (
	"encoding/binary"
	"io"
	"net"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Faults are what befalls the requests and answers that pass through the second listener of every broker. Set replaces them
// while connections are open.
type Faults struct {
	mu  sync.Mutex
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
)

// Set replaces all faults, and counts anew how many requests were hit.
func (f *Faults) Set(all ...*Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all, f.hit = all, 0
}

// Hit is how many requests were hit since Set.
func (f *Faults) Hit() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hit
}

// meet finds what befalls a request: the first fault that it falls to.
func (f *Faults) meet(broker int32, api kmsg.Key) (Harm, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.all {
		if one.Broker != 0 && one.Broker != broker || one.API != Any && one.API != api {
			continue
		}
		one.met++
		if one.met > one.Skip && (one.Times == 0 || one.met <= one.Skip+one.Times) {
			f.hit++
			return one.Harm, one.Do
		}
	}
	return Pass, nil
}

// A link is one connection that faults can befall.
type link struct {
	broker         int32
	faults         *Faults
	client, server net.Conn

	mu      sync.Mutex
	waiting map[int32]Harm // for the answer, by the number of the request
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
	harm, do := l.faults.meet(l.broker, kmsg.Key(binary.BigEndian.Uint16(frame[4:])))
	if do != nil {
		do()
	}
	switch harm {
	case Refuse:
		l.hangUp()
		return nil, io.EOF
	case Swallow:
		_, _ = io.Copy(io.Discard, l.client) // until it is given up
		return nil, io.EOF
	}
	l.mu.Lock()
	l.waiting[int32(binary.BigEndian.Uint32(frame[8:]))] = harm
	l.mu.Unlock()
	return frame, nil
}

// answer is the next answer as the client shall get it.
func (l *link) answer() ([]byte, error) {
	frame, err := readFrame(l.server)
	if err != nil {
		return nil, err
	}
	if len(frame) < 8 {
		return frame, nil
	}
	number := int32(binary.BigEndian.Uint32(frame[4:]))
	l.mu.Lock()
	harm := l.waiting[number]
	delete(l.waiting, number)
	l.mu.Unlock()
	half := 4 + (len(frame)-4)/2
	switch harm {
	case Unheard:
		l.hangUp()
		return nil, io.EOF
	case Silence:
		return nil, l.stay()
	case Cut:
		_, _ = l.client.Write(frame[:half]) // what is cut anyway
		l.hangUp()
		return nil, io.EOF
	case HalfClose:
		return frame[:half], io.EOF
	case Stall:
		_, _ = l.client.Write(frame[:half])
		return nil, l.stay()
	}
	return spoil(frame, harm), nil
}

// stay takes the broker's answers and keeps them, until it closes the connection.
func (l *link) stay() error {
	_, _ = io.Copy(io.Discard, l.server)
	return io.EOF
}

func (l *link) hangUp() {
	l.client.Close()
	l.server.Close()
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
