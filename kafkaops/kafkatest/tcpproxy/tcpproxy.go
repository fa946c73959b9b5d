// Package tcpproxy is what a network does to connections, on demand, for tests: they are late, silent, hung up, cut within an
// answer, and what passes is counted. A [Wire] goes by more than bytes.
//
// A client keeps to a proxy only if it knows no other way: let the server advertise the proxy's address.
package tcpproxy

import (
	"errors"
	"net"
	"sync"
	"time"
)

// Proxy carries TCP connections from its own address to a target. Its methods may be used by several goroutines.
type Proxy struct {
	l    net.Listener
	wire Wire
	wg   sync.WaitGroup

	mu     sync.Mutex
	awake  *sync.Cond // signals frozen and ended
	target string
	delay  time.Duration
	frozen bool
	away   bool
	ended  bool
	cut    [2]int // bytes that still pass, up and down, before all is hung up once; -1: no limit
	bytes  [2]int
	turns  int  // how often the direction changed from up to down
	up     bool // the last bytes went up
	conns  map[net.Conn]bool
}

// The two directions.
const (
	up   = 0 // to the target
	down = 1
)

// A Wire reads what is to pass a connection, each way, piece by piece: a function returns the next piece, and with the last of them, or
// after it, an error. It may put a connection of its own in the place of the client's. Nothing else reads from the two.
type Wire func(client, server net.Conn) (_ net.Conn, up, down func() ([]byte, error), _ error)

// ErrCut is a Wire's error for a connection that is hung up behind the last piece. After any other, its end is passed on.
var ErrCut = errors.New("cut")

// New listens on a free port of 127.0.0.1. Without a wire, bytes are passed as they come.
func New(target string, wire Wire) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if wire == nil {
		wire = asTheyCome
	}
	p := &Proxy{l: l, wire: wire, target: target, cut: [2]int{-1, -1}, conns: map[net.Conn]bool{}}
	p.awake = sync.NewCond(&p.mu)
	p.wg.Go(p.serve)
	return p, nil
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.l.Addr().String() }

// Target is where new connections lead.
func (p *Proxy) Target() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.target
}

// SetTarget changes where new connections lead.
func (p *Proxy) SetTarget(to string) { p.change(func() { p.target = to }) }

// Delay makes every byte late by as much each way, of connections that are opened from now on: the wire is long, and as broad as
// before. What a client sends first is later by the way there and back of the handshake, which the kernel answers here at once.
func (p *Proxy) Delay(each time.Duration) { p.change(func() { p.delay = each }) }

// Freeze lets nothing pass, in either direction, until Thaw. Connections are still accepted.
func (p *Proxy) Freeze() { p.change(func() { p.frozen = true }) }

// Thaw undoes Freeze.
func (p *Proxy) Thaw() { p.change(func() { p.frozen = false }) }

// Away hangs up, and goes on hanging up on every call, until Back.
func (p *Proxy) Away() { p.change(func() { p.away = true; p.hangUp() }) }

// Back undoes Away.
func (p *Proxy) Back() { p.change(func() { p.away = false }) }

// Cut hangs up on all connections, with what is on its way in them.
func (p *Proxy) Cut() { p.change(p.hangUp) }

// CutUp hangs up on all connections once, after n more bytes went to the target; CutDown, after n came from it.
func (p *Proxy) CutUp(n int)   { p.change(func() { p.cut[up] = n }) }
func (p *Proxy) CutDown(n int) { p.change(func() { p.cut[down] = n }) }

// Uncut takes back what CutUp and CutDown said, and tells whether it had not come to that yet.
func (p *Proxy) Uncut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.cut != [2]int{-1, -1}
	p.cut = [2]int{-1, -1}
	return left
}

// Count starts to count anew, and Counted returns what passed since: bytes to the target, bytes from it, and round trips.
func (p *Proxy) Count() { p.change(func() { p.bytes, p.turns, p.up = [2]int{}, 0, false }) }

// Counted is described at Count.
func (p *Proxy) Counted() (sent, received, turns int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes[up], p.bytes[down], p.turns
}

// Close ends the proxy with all its connections.
func (p *Proxy) Close() {
	p.change(func() { p.ended = true; p.hangUp() })
	p.l.Close()
	p.wg.Wait()
}

func (p *Proxy) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	p.awake.Broadcast()
}

func (p *Proxy) hangUp() {
	for c := range p.conns {
		c.Close()
	}
	clear(p.conns)
}

func (p *Proxy) serve() {
	for {
		client, err := p.l.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.pass(client) })
	}
}

// add keeps a connection for hangUp, unless there are to be none.
func (p *Proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away || p.ended {
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) drop(c net.Conn) {
	p.change(func() { delete(p.conns, c) })
	c.Close()
}

func (p *Proxy) pass(client net.Conn) {
	defer p.drop(client)
	if !p.add(client) {
		return
	}
	target, delay := p.thawed()
	opened := time.Now().Add(2 * delay)
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer p.drop(server)
	if !p.add(server) {
		return
	}
	seen, toServer, toClient, err := p.wire(client, server)
	if err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.carry(server, toServer, up, opened, delay) })
	both.Go(func() { p.carry(seen, toClient, down, time.Time{}, delay) })
	both.Wait()
}

// thawed waits while frozen, and returns what counts for a connection that is opened now.
func (p *Proxy) thawed() (target string, delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.frozen && !p.ended {
		p.awake.Wait()
	}
	return p.target, p.delay
}

// asTheyCome is the wire of bytes.
func asTheyCome(client, server net.Conn) (_ net.Conn, up, down func() ([]byte, error), _ error) {
	bytesOf := func(from net.Conn) func() ([]byte, error) {
		return func() ([]byte, error) {
			b := make([]byte, 64<<10)
			n, err := from.Read(b)
			return b[:n], err
		}
	}
	return client, bytesOf(client), bytesOf(server), nil
}

// carry writes to a connection what next gives until it ends, each piece when it is due, while reading goes on.
func (p *Proxy) carry(to net.Conn, next func() ([]byte, error), way int, opened time.Time, delay time.Duration) {
	type piece struct {
		due  time.Time
		data []byte
	}
	pieces := make(chan piece, 1024)
	var last error // once pieces is closed
	go func() {
		defer close(pieces)
		for {
			b, err := next()
			if len(b) > 0 {
				due := time.Now()
				if due.Before(opened) {
					due = opened
				}
				pieces <- piece{due.Add(delay), b}
			}
			if err != nil {
				last = err
				return
			}
		}
	}()
	var failed error
	for x := range pieces {
		if failed != nil {
			continue // read on: who sends is not to be held up by one who does not listen
		}
		time.Sleep(time.Until(x.due))
		n, hang := p.allow(len(x.data), way)
		if n > 0 {
			_, failed = to.Write(x.data[:n])
		}
		if hang {
			p.Cut()
			failed = ErrCut
		}
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok && !errors.Is(last, ErrCut) {
		_ = half.CloseWrite() // gone already: all the same
		return
	}
	to.Close()
}

// allow waits while frozen, counts, and says how much of n bytes may pass, and whether that is the end.
func (p *Proxy) allow(n, way int) (pass int, hang bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.frozen && !p.ended {
		p.awake.Wait()
	}
	pass = n
	if left := p.cut[way]; left >= 0 {
		pass = min(n, left)
		p.cut[way] -= pass
		if pass < n || p.cut[way] == 0 {
			hang = true
			p.cut[way] = -1
		}
	}
	p.bytes[way] += pass
	if p.up && way == down {
		p.turns++
	}
	p.up = way == up
	return pass, hang
}
