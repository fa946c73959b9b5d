package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

// mostHandshake is how long a server may take to answer the first message of TLS. One that does not speak it says nothing.
const mostHandshake = 3 * time.Second

// conns makes connections, and knows those that are open.
type conns struct {
	tls *tls.Config // nil: in the clear

	mu      sync.Mutex
	open    map[*conn]bool
	heard   bool  // a server has answered
	trouble error // why none does, as far as it is known
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
	n, err := c.connect(ctx, network, addr)
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.trouble = err
	}
	return n, err
}

func (c *conns) connect(ctx context.Context, network, addr string) (net.Conn, error) {
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
	secure, err := c.secure(ctx, raw, addr)
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	return secure, nil
}

func (c *conns) secure(ctx context.Context, raw *conn, addr string) (net.Conn, error) {
	config := c.tls.Clone()
	if config.ServerName == "" {
		var err error
		if config.ServerName, _, err = net.SplitHostPort(addr); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, mostHandshake)
	defer cancel()
	secure := tls.Client(raw, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%s did not answer to TLS: does it speak it (redis:// does without)? %w", addr, err)
		}
		return nil, err
	}
	return secure, nil
}

// why makes an error say what is known of it: the library tells who waited for a connection that he waited, and no more; and a server
// that was never heard hangs up on what it does not understand.
func (c *conns) why(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil || isAnswer(err) {
		c.heard, c.trouble = true, nil
	}
	hungUp := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && c.trouble != nil:
		return c.trouble
	case hungUp && !c.heard && c.tls == nil:
		c.trouble = fmt.Errorf("%w: does it speak TLS (rediss://)?", err)
		return c.trouble
	case hungUp && !c.heard:
		c.trouble = fmt.Errorf("%w: does it want a certificate of ours (tls-cert, tls-key)?", err)
		return c.trouble
	}
	return err
}

// cut closes all that are open: whoever reads or writes there fails at once.
func (c *conns) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n := range c.open {
		_ = n.TCPConn.Close() // the library closes it as well, and that takes it out
	}
}
