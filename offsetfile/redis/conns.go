package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	redigo "github.com/gomodule/redigo/redis"

	"gtoffset/offsetfile"
)

// How long one exchange may take if its context does not end it before, and what comes before the first.
const (
	mostRequest   = time.Minute
	mostDial      = 10 * time.Second
	mostHandshake = 3 * time.Second // a server that does not speak TLS says nothing
)

// command is one command of Redis.
type command struct {
	key  string // for a cluster, whose servers share the keys: where it has to go
	name string
	args []any
	to   string // the server that the key is on its way to, which has to be told that we know (ASKING); "" if there is none
}

// reply is what a server said to a command, or the error that the command got.
type reply struct {
	value any
	err   error
}

// dialer makes connections.
type dialer struct {
	tls   *tls.Config // nil: in the clear
	heard atomic.Bool // a server has answered: it speaks as we do
}

// server is one address. Its connection is made when it is needed, is used by one after the other, and stays.
type server struct {
	addr   string
	hello  []command // the first on each connection: who we are, and the database
	dialer *dialer
	turn   chan struct{} // full while somebody uses the connection
	conn   *conn         // nil: none
}

// conn is a connection of the library, and what is below: the library knows no context, so to end what waits there, that is closed.
type conn struct {
	redigo.Conn
	raw    net.Conn
	bounds *bounds // of what comes
}

// do makes one round trip. The error is one of the connection, or of what was said first on it. A connection that was not used for long
// may have been cut, which only its next use tells: what may be done twice (again) is then done on a new one.
func (s *server) do(ctx context.Context, again bool, commands []command) ([]reply, error) {
	ctx, cancel := context.WithTimeout(ctx, mostRequest)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, s.lost(ctx, ctx.Err())
	}
	defer func() { <-s.turn }()
	idle := s.conn != nil
	replies, err := s.try(ctx, commands)
	if err != nil && idle && again && ctx.Err() == nil {
		replies, err = s.try(ctx, commands)
	}
	return replies, err
}

// close closes the connection, when whoever uses it is done.
func (s *server) close() {
	s.turn <- struct{}{}
	if s.conn != nil {
		_ = s.conn.Close()
		s.conn = nil
	}
	<-s.turn
}

func (s *server) try(ctx context.Context, commands []command) (replies []reply, err error) {
	if s.conn == nil {
		if s.conn, err = s.connect(ctx); err != nil {
			return nil, err
		}
	}
	replies, err = s.exchange(ctx, s.conn, commands)
	if err != nil || ctx.Err() != nil { // it is cut, or may be at any moment
		_ = s.conn.Close()
		s.conn = nil
	}
	return replies, err
}

func (s *server) connect(ctx context.Context) (*conn, error) {
	dialer := net.Dialer{Timeout: mostDial}
	raw, err := dialer.DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return nil, err
	}
	stream := raw
	if s.dialer.tls != nil {
		if stream, err = s.secure(ctx, raw); err != nil {
			_ = raw.Close()
			return nil, err
		}
	}
	c := newConn(stream, raw)
	replies, err := s.exchange(ctx, c, s.hello)
	for _, r := range replies {
		if err == nil {
			err = r.err
		}
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// newConn makes a connection of a stream, and of what is below it.
func newConn(stream, raw net.Conn) *conn {
	b := &bounded{Conn: stream}
	return &conn{redigo.NewConn(b, 0, 0), raw, &b.bounds}
}

func (s *server) secure(ctx context.Context, raw net.Conn) (net.Conn, error) {
	config := s.dialer.tls.Clone()
	if config.ServerName == "" {
		var err error
		if config.ServerName, _, err = net.SplitHostPort(s.addr); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, mostHandshake)
	defer cancel()
	secure := tls.Client(raw, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%s did not answer to TLS: does it speak it (redis:// does without)? %w", s.addr, err)
		}
		return nil, err
	}
	return secure, nil
}

// exchange sends all commands and then takes all replies, unless the context ends before: that cuts the connection.
func (s *server) exchange(ctx context.Context, c *conn, commands []command) ([]reply, error) {
	if len(commands) == 0 {
		return nil, nil
	}
	stop := context.AfterFunc(ctx, func() { _ = c.raw.Close() })
	defer stop()
	replies, err := c.roundTrip(commands)
	if err != nil {
		return nil, s.lost(ctx, err)
	}
	s.dialer.heard.Store(true)
	return replies, nil
}

func (c *conn) roundTrip(commands []command) ([]reply, error) {
	c.bounds.begin()
	for _, one := range commands {
		if one.to != "" {
			if err := c.Send("ASKING"); err != nil {
				return nil, err
			}
		}
		if err := c.Send(one.name, one.args...); err != nil {
			return nil, err
		}
	}
	if err := c.Flush(); err != nil {
		return nil, err
	}
	replies := make([]reply, len(commands))
	for i, one := range commands {
		if one.to != "" {
			if _, err := c.Receive(); err != nil && !isAnswer(err) {
				return nil, err
			}
		}
		value, err := c.Receive()
		if err != nil && !isAnswer(err) {
			return nil, err
		}
		replies[i] = reply{value, err}
	}
	return replies, nil
}

// lost makes an error of a connection say what is known of it. A server that was never heard may have hung up on what it did not understand.
func (s *server) lost(ctx context.Context, err error) error {
	hungUp := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	switch {
	case ctx.Err() != nil: // also when it was cancelled: whether it was done is not known
		return &offsetfile.AwayError{Err: fmt.Errorf("%s did not answer: %w", s.addr, ctx.Err())}
	case errors.Is(err, errBeyond):
		return &offsetfile.AwayError{Err: fmt.Errorf("%s: %w", s.addr, err), Final: true}
	case strings.HasPrefix(err.Error(), "redigo: "): // what breaks the protocol has no type there
		return &offsetfile.AwayError{Err: fmt.Errorf("what answers at %s is no Redis", s.addr), Final: true}
	case hungUp && !s.dialer.heard.Load() && s.dialer.tls == nil:
		return fmt.Errorf("%s hung up: %w: does it speak TLS (rediss://)?", s.addr, err)
	case hungUp && !s.dialer.heard.Load():
		return fmt.Errorf("%s hung up: %w: does it want a certificate of ours (tls-cert, tls-key)?", s.addr, err)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s hung up: %w", s.addr, err)
	}
	return err
}
