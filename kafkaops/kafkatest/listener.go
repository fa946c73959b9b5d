package kafkatest

import (
	"encoding/binary"
	"net"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Request is one request as it came over the wire.
type Request struct {
	Broker     int32
	Connection int // counted over all brokers, from 1
	Key        int16
	Version    int16
}

// listener is one broker's door. It counts requests, freezes, refuses, and rewrites answers.
type listener struct {
	b          *Broker
	node       int32
	addr       string
	mu         sync.Mutex
	wake       *sync.Cond // state below has changed
	inner      net.Listener
	advertised net.Addr // nil: where it listens
	conns      map[*watched]bool
	frozen     bool
	killed     bool
	closed     bool
}

func listen(b *Broker, node int32, network, addr string) (*listener, error) {
	inner, err := net.Listen(network, addr)
	if err != nil {
		return nil, err
	}
	l := &listener{b: b, node: node, addr: inner.Addr().String(), inner: inner, conns: map[*watched]bool{}}
	l.wake = sync.NewCond(&l.mu)
	return l, nil
}

// Accept waits for a connection. While the broker is killed nothing listens, and it waits for the revival.
func (l *listener) Accept() (net.Conn, error) {
	for {
		l.mu.Lock()
		for l.killed && !l.closed {
			l.wake.Wait()
		}
		inner, closed := l.inner, l.closed
		l.mu.Unlock()
		if closed {
			return nil, net.ErrClosed
		}
		c, err := inner.Accept()
		l.mu.Lock()
		if err != nil {
			again := l.killed || l.inner != inner
			l.mu.Unlock()
			if again {
				continue
			}
			return nil, err
		}
		w := &watched{Conn: c, l: l, number: l.b.connected()}
		l.conns[w] = true
		l.mu.Unlock()
		return w, nil
	}
}

// Addr is what the broker advertises.
func (l *listener) Addr() net.Addr {
	if l.advertised != nil {
		return l.advertised
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inner.Addr()
}

func (l *listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.wake.Broadcast()
	return l.inner.Close()
}

func (l *listener) setFrozen(on bool) {
	l.mu.Lock()
	l.frozen = on
	l.wake.Broadcast()
	l.mu.Unlock()
}

func (l *listener) kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.killed = true
	l.inner.Close()
	for c := range l.conns {
		c.Conn.Close()
	}
	l.wake.Broadcast()
}

func (l *listener) revive() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	inner, err := net.Listen("tcp", l.addr)
	if err != nil {
		return err
	}
	l.inner, l.killed = inner, false
	l.wake.Broadcast()
	return nil
}

// watched is a connection whose frames are looked at.
type watched struct {
	net.Conn
	l      *listener
	number int
	over   bool // guarded by l.mu

	in      []byte // of the frame that is being read
	out     []byte // of the frame that is being written
	mu      sync.Mutex
	pending []asked // requests that wait for their answer
}

type asked struct {
	key, version int16
	id           int32
}

func (w *watched) Close() error {
	w.l.mu.Lock()
	w.over = true
	delete(w.l.conns, w)
	w.l.wake.Broadcast()
	w.l.mu.Unlock()
	return w.Conn.Close()
}

// thaw waits while the broker is frozen.
func (w *watched) thaw() error {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	for w.l.frozen && !w.over && !w.l.closed && !w.l.killed {
		w.l.wake.Wait()
	}
	if w.over || w.l.closed || w.l.killed {
		return net.ErrClosed
	}
	return nil
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if e := w.thaw(); e != nil {
		return 0, e
	}
	if w.l.b.tls {
		return n, err
	}
	w.in = append(w.in, p[:n]...)
	for len(w.in) >= 12 {
		size := 4 + int(binary.BigEndian.Uint32(w.in))
		if len(w.in) < size {
			break
		}
		w.request(w.in[4:size])
		w.in = w.in[size:]
	}
	return n, err
}

func (w *watched) request(b []byte) {
	a := asked{int16(binary.BigEndian.Uint16(b)), int16(binary.BigEndian.Uint16(b[2:])), int32(binary.BigEndian.Uint32(b[4:]))}
	w.mu.Lock()
	w.pending = append(w.pending, a)
	w.mu.Unlock()
	w.l.b.note(Request{Broker: w.l.node, Connection: w.number, Key: a.key, Version: a.version}, b)
}

func (w *watched) Write(p []byte) (int, error) {
	if err := w.thaw(); err != nil {
		return 0, err
	}
	if w.l.b.tls {
		return w.Conn.Write(p)
	}
	w.out = append(w.out, p...)
	for len(w.out) >= 8 {
		size := 4 + int(binary.BigEndian.Uint32(w.out))
		if len(w.out) < size {
			break
		}
		frame := w.rewrite(w.out[:size])
		w.out = w.out[size:]
		if frame == nil {
			w.Close()
			return 0, net.ErrClosed
		}
		if _, err := w.Conn.Write(frame); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// rewrite hands an answer to those who want to change it.
func (w *watched) rewrite(frame []byte) []byte {
	id := int32(binary.BigEndian.Uint32(frame[4:]))
	w.mu.Lock()
	var a asked
	for i, p := range w.pending {
		if p.id == id {
			a = p
			w.pending = append(w.pending[:i:i], w.pending[i+1:]...)
			break
		}
	}
	w.mu.Unlock()
	hooks := w.l.b.hooksFor(a.key)
	if len(hooks) == 0 {
		return frame
	}
	r := kmsg.ResponseForKey(a.key)
	r.SetVersion(a.version)
	body := frame[8:]
	tagged := r.IsFlexible() && a.key != 18
	if tagged {
		body = body[1:] // kfake sends no tags
	}
	if err := r.ReadFrom(body); err != nil {
		return frame
	}
	for _, h := range hooks {
		if !h(w.l.node, r) {
			return nil
		}
	}
	out := binary.BigEndian.AppendUint32(make([]byte, 4), uint32(id))
	if tagged {
		out = append(out, 0)
	}
	out = r.AppendTo(out)
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return out
}
