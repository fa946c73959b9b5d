package storetest

import (
	"net"
	"sync"
	"testing"
)

// Proxy stands between a store and its service: it counts, freezes, hangs up and refuses.
type Proxy struct {
	target string
	l      net.Listener

	mu     sync.Mutex
	awake  *sync.Cond
	frozen bool
	away   bool
	ended  bool
	cut    [2]int // bytes that still pass, up and down, before all is hung up once; -1: no limit
	bytes  [2]int
	turns  int  // how often the direction changed from up to down: round trips
	up     bool // the last bytes went up
	conns  map[net.Conn]bool
}

// The two directions.
const (
	up   = 0 // to the service
	down = 1
)

// NewProxy listens on a free port of 127.0.0.1 until the test ends.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{target: target, l: l, cut: [2]int{-1, -1}, conns: map[net.Conn]bool{}}
	p.awake = sync.NewCond(&p.mu)
	go p.serve()
	t.Cleanup(p.close)
	return p
}

// Addr is where the store finds the proxy.
func (p *Proxy) Addr() string { return p.l.Addr().String() }

// Freeze lets nothing pass, in either direction, until Thaw. Connections are still accepted.
func (p *Proxy) Freeze() { p.change(func() { p.frozen = true }) }

// Thaw undoes Freeze.
func (p *Proxy) Thaw() { p.change(func() { p.frozen = false }) }

// Away hangs up, and goes on hanging up on every call, until Back.
func (p *Proxy) Away() { p.change(func() { p.away = true; p.hangUp() }) }

// Back undoes Away.
func (p *Proxy) Back() { p.change(func() { p.away = false }) }

// CutUp hangs up on all connections once, after n more bytes went to the service; CutDown, after n came from it.
func (p *Proxy) CutUp(n int)   { p.change(func() { p.cut[up] = n }) }
func (p *Proxy) CutDown(n int) { p.change(func() { p.cut[down] = n }) }

// Count starts to count anew, and Counted returns what passed since: bytes to the service, bytes from it, and round trips.
func (p *Proxy) Count() { p.change(func() { p.bytes, p.turns, p.up = [2]int{}, 0, false }) }

// Counted is described at Count.
func (p *Proxy) Counted() (sent, received, turns int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes[up], p.bytes[down], p.turns
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

func (p *Proxy) close() {
	p.change(func() { p.ended, p.frozen = true, false; p.hangUp() })
	p.l.Close()
}

func (p *Proxy) serve() {
	for {
		client, err := p.l.Accept()
		if err != nil {
			return
		}
		go p.pass(client)
	}
}

func (p *Proxy) pass(client net.Conn) {
	defer client.Close()
	if !p.add(client) {
		return
	}
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.add(server) {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.copy(client, server, down)
		client.Close()
	}()
	p.copy(server, client, up)
	server.Close()
	<-done
}

func (p *Proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away || p.ended {
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) copy(to, from net.Conn, way int) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			pass, hang := p.allow(n, way)
			if _, werr := to.Write(b[:pass]); werr != nil || hang {
				if hang {
					p.change(p.hangUp)
				}
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// allow waits while frozen, counts, and says how much of n bytes may pass, and whether that is the end.
func (p *Proxy) allow(n, way int) (pass int, hang bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.frozen {
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
