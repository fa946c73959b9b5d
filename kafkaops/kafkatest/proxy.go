package kafkatest

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy carries TCP connections from its own address to another, and spoils them on demand: it delays each way, cuts after a
// number of bytes, or swallows everything. A client keeps to it only if the broker advertises the proxy's address: start the
// broker so (Options.Proxy here, advertised.listeners on Apache Kafka), or give the client a Dial that leads to it.
type Proxy struct {
	Delay     atomic.Int64 // nanoseconds each way
	CutAfter  atomic.Int64 // bytes of answers over all connections after which all are cut; 0: never
	Once      atomic.Bool  // CutAfter cuts once, and not what is dialled afterwards
	Swallow   atomic.Bool  // accept, and carry nothing
	Connected atomic.Int64 // connections so far

	to     string
	ln     net.Listener
	mu     sync.Mutex
	conns  map[net.Conn]bool
	closed bool
	wg     sync.WaitGroup
	passed atomic.Int64
}

// NewProxy listens on addr ("127.0.0.1:0" for any port) and carries connections to the address to.
func NewProxy(addr, to string) (*Proxy, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	p := &Proxy{to: to, ln: ln, conns: map[net.Conn]bool{}}
	p.wg.Go(p.serve)
	return p, nil
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.ln.Addr().String() }

// Target is where new connections lead.
func (p *Proxy) Target() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.to
}

// SetTarget changes where new connections lead.
func (p *Proxy) SetTarget(to string) {
	p.mu.Lock()
	p.to = to
	p.mu.Unlock()
}

// Reset starts counting the bytes of CutAfter anew.
func (p *Proxy) Reset() { p.passed.Store(0) }

// Cut closes all connections that are open.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

// Close ends the proxy with all its connections.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.ln.Close()
	p.Cut()
	p.wg.Wait()
}

func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
	c.Close()
}

func (p *Proxy) serve() {
	for {
		c, err := p.ln.Accept()
		if err != nil {
			return
		}
		p.Connected.Add(1)
		if !p.keep(c) {
			return
		}
		p.wg.Go(func() {
			defer p.drop(c)
			if p.Swallow.Load() {
				io.Copy(io.Discard, c)
				return
			}
			s, err := net.Dial("tcp", p.Target())
			if err != nil || !p.keep(s) {
				return
			}
			defer p.drop(s)
			p.wg.Go(func() { p.carry(s, c, false); s.Close(); c.Close() })
			p.carry(c, s, true)
		})
	}
}

// carry copies one way. What was read is written Delay later, while reading goes on: the delay costs time, not throughput.
func (p *Proxy) carry(to, from net.Conn, answers bool) {
	type piece struct {
		b  []byte
		at time.Time
	}
	pieces := make(chan piece, 4096)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for x := range pieces {
			time.Sleep(time.Until(x.at))
			if p.Swallow.Load() {
				continue
			}
			if answers {
				limit, n := p.CutAfter.Load(), p.passed.Add(int64(len(x.b)))
				if limit > 0 && n >= limit {
					if p.Once.Load() {
						p.CutAfter.Store(0)
					}
					to.Write(x.b[:max(0, len(x.b)-int(n-limit))])
					p.Cut()
					continue
				}
			}
			if _, err := to.Write(x.b); err != nil {
				from.Close()
			}
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			pieces <- piece{append([]byte(nil), buf[:n]...), time.Now().Add(time.Duration(p.Delay.Load()))}
		}
		if err != nil {
			break
		}
	}
	close(pieces)
	<-done
	if c, ok := to.(*net.TCPConn); ok && answers {
		if err := c.CloseWrite(); err != nil && !errors.Is(err, net.ErrClosed) {
			c.Close()
		}
	}
}
