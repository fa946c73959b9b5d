package kafkatest

import (
	"context"
	"encoding/binary"
	"net"
	"sync"
)

// Counter counts requests and connections on the client's side, so that it works with a real cluster too. Give its Dial to the
// client, without TLS.
type Counter struct {
	mu       sync.Mutex
	requests []Request
	dials    int
}

// Dial connects and counts.
func (c *Counter) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dials++
	return &counted{Conn: nc, c: c, number: c.dials}, nil
}

// Requests lists what was sent so far, in order. Broker is not known and 0.
func (c *Counter) Requests() []Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Request(nil), c.requests...)
}

// Dials is how many connections were opened.
func (c *Counter) Dials() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dials
}

// Reset starts counting anew.
func (c *Counter) Reset() {
	c.mu.Lock()
	c.requests, c.dials = nil, 0
	c.mu.Unlock()
}

type counted struct {
	net.Conn
	c      *Counter
	number int
	head   []byte
	skip   int
}

func (c *counted) Write(p []byte) (int, error) {
	for b := p; len(b) > 0; {
		if c.skip > 0 {
			n := min(c.skip, len(b))
			c.skip -= n
			b = b[n:]
			continue
		}
		n := min(8-len(c.head), len(b))
		c.head = append(c.head, b[:n]...)
		b = b[n:]
		if len(c.head) == 8 {
			c.c.mu.Lock()
			c.c.requests = append(c.c.requests, Request{
				Connection: c.number, Key: int16(binary.BigEndian.Uint16(c.head[4:])),
				Version: int16(binary.BigEndian.Uint16(c.head[6:])),
			})
			c.c.mu.Unlock()
			c.skip = int(binary.BigEndian.Uint32(c.head)) - 4
			c.head = c.head[:0]
		}
	}
	return c.Conn.Write(p)
}
