package redis

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
)

// conns makes connections, and knows those that are open.
type conns struct {
	tls *tls.Config // nil: in the clear

	mu   sync.Mutex
	open map[*conn]bool
}

// conn is one of them. It stays a *net.TCPConn below, at which the library looks before it uses an idle one again.
type conn struct {
	*net.TCPConn
	in *conns
}

func (c *conn) Close() error {
	c.in.mu.Lock()
	delete(c.in.open, c)
	c.in.mu.Unlock()
	return c.TCPConn.Close()
}

// dial is the library's way to a server.
func (c *conns) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: mostDial}
	n, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	raw := &conn{n.(*net.TCPConn), c}
	c.mu.Lock()
	c.open[raw] = true
	c.mu.Unlock()
	if c.tls == nil {
		return raw, nil
	}
	config := c.tls.Clone()
	if config.ServerName == "" {
		if config.ServerName, _, err = net.SplitHostPort(addr); err != nil {
			return nil, err
		}
	}
	secure := tls.Client(raw, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, err
	}
	return secure, nil
}

// cut closes all that are open: whoever reads or writes there fails at once.
func (c *conns) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n := range c.open {
		_ = n.TCPConn.Close() // the library closes it as well, and that takes it out
	}
}
