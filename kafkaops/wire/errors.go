package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// Stage is the step at which a connection failed.
type Stage string

// The stages, in order.
const (
	StageDial     Stage = "connect"
	StageTLS      Stage = "TLS handshake"
	StageHello    Stage = "ApiVersions"
	StageSASL     Stage = "authenticate"
	StageExchange Stage = "exchange"
)

// Error is a failure on the way to one broker.
type Error struct {
	Broker  int32 // None for a bootstrap address
	Addr    string
	Via     string // where a broker answered that named this one's address; "" for a bootstrap address
	Stage   Stage
	Limit   time.Duration // how long was waited, where nothing came; 0 if the whole time was up
	Sent    bool          // the requests went out, or may have: what came of a write is unknown
	Write   bool          // among them was one that writes
	Cause   Cause         // the likely one
	Stray   bool          // no broker advertises the address at Via: it may be another listener's, or a proxy's
	Sure    bool          // a look without credentials has confirmed it
	TLS     bool          // the connection is over TLS
	Offered []string      // the mechanisms of the listener, as far as such a look has shown them
	Err     error

	validity string // of the client's certificate, in words
}

func (e *Error) Error() string {
	who := broker(e.Broker, e.Addr)
	var op *net.OpError
	var sys *os.SyscallError
	var dns *net.DNSError
	switch {
	case errors.Is(e.Err, context.Canceled):
		return who + ": interrupted"
	case e.sentence() != "":
		return who + e.sentence()
	case e.Timeout() && e.Limit == 0:
		return who + " did not answer in the time that was left"
	case e.Timeout():
		return fmt.Sprintf("%s did not answer within %v", who, e.Limit)
	case errors.Is(e.Err, syscall.ECONNREFUSED):
		return who + " refused the connection"
	case errors.As(e.Err, &dns) && e.Stage == StageDial:
		return fmt.Sprintf("%s: the host name %q does not resolve", who, dns.Name)
	case isHangup(e.Err): // whether it closed the connection or reset it depends on what was under way
		return fmt.Sprintf("%s hung up (%s)", who, e.Stage)
	case errors.As(e.Err, &sys) && e.Stage != StageTLS:
		return fmt.Sprintf("%s: %s: %v", who, e.Stage, sys.Err)
	case errors.As(e.Err, &op) && op.Op != "remote error" && op.Err != nil:
		return fmt.Sprintf("%s: %s: %v", who, e.Stage, op.Err)
	}
	return fmt.Sprintf("%s: %s: %v", who, e.Stage, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether nothing came in time. Two timers run for the same instant, the context's and the socket's: either may
// win.
func (e *Error) Timeout() bool { return isTimeout(e.Err) }

// broker names a broker for people.
func broker(id int32, addr string) string {
	switch {
	case id == None && addr == "":
		return "the cluster"
	case id == None:
		return "broker " + addr
	case addr == "":
		return fmt.Sprintf("broker %d", id)
	}
	return fmt.Sprintf("broker %d (%s)", id, addr)
}

var errUnknownBroker = errors.New("the cluster does not list such a broker")

// BootstrapError says that none of the bootstrap addresses answered.
type BootstrapError struct{ Tried []error }

func (e *BootstrapError) Error() string {
	var all []string
	for _, err := range e.Tried {
		all = append(all, err.Error())
	}
	return strings.Join(all, "; ")
}

func (e *BootstrapError) Unwrap() []error { return e.Tried }

// FrameError holds the first bytes of an answer whose length cannot be true.
type FrameError [8]byte

func (e FrameError) Error() string {
	return fmt.Sprintf("answer of %d bytes (starts %q)", binary.BigEndian.Uint32(e[:4]), e[:4])
}

// TLS says that the answer was a TLS record: the peer expects TLS.
func (e FrameError) TLS() bool { return e[0] >= 20 && e[0] <= 23 && e[1] == 3 }

// HTTP says that the answer was HTTP.
func (e FrameError) HTTP() bool { return string(e[:4]) == "HTTP" }

// isAlert says that err is a TLS alert of the peer. crypto/tls has no exported type for which one.
func isAlert(err error) bool {
	var e *net.OpError
	return errors.As(err, &e) && e.Op == "remote error"
}

// isTimeout says that time was up. Two timers run for the same instant, the context's and the socket's: either may win.
func isTimeout(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
}

// isHangup says that the peer closed or reset the connection.
func isHangup(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE)
}
