package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
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
	Broker int32 // None for a bootstrap address
	Addr   string
	Stage  Stage
	Limit  time.Duration // how long was waited, where nothing came; 0 if the whole time was up
	Sent   bool          // the requests went out, or may have: what came of a write is unknown
	Write  bool          // among them was one that writes
	Hint   string        // the likely cause and what to do about it; "" if there is none
	Err    error
}

func (e *Error) Error() string {
	who := broker(e.Broker, e.Addr)
	var op *net.OpError
	var sys *os.SyscallError
	var dns *net.DNSError
	switch {
	case errors.Is(e.Err, context.Canceled):
		return who + ": interrupted"
	case e.Timeout() && e.Limit == 0:
		return who + " did not answer in the time that was left"
	case e.Timeout():
		return fmt.Sprintf("%s did not answer within %v", who, e.Limit)
	case errors.Is(e.Err, syscall.ECONNREFUSED):
		return who + " refused the connection"
	case errors.As(e.Err, &dns) && e.Stage == StageDial:
		return fmt.Sprintf("%s: the host name %q does not resolve", who, dns.Name)
	case errors.Is(e.Err, io.EOF) || errors.Is(e.Err, io.ErrUnexpectedEOF):
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

// Explain names the likely cause of an error of this package, and what to do about it, in one line. It returns "" for what it
// does not know.
func Explain(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Hint
	}
	return ""
}

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

func explain(e *Error, cfg Config) string {
	switch {
	case errors.Is(e.Err, context.Canceled):
		return ""
	case e.Timeout():
		return explainTimeout(e.Stage)
	}
	switch e.Stage {
	case StageDial:
		return explainDial(e)
	case StageTLS:
		return explainTLS(e.Err)
	case StageSASL:
		return explainSASL(e.Err)
	}
	return explainAnswer(e, cfg)
}

func explainTimeout(s Stage) string {
	switch s {
	case StageDial:
		return "no answer from this address; a firewall, or the wrong host"
	case StageTLS:
		return "connected, but the TLS handshake gets no answer; is this a TLS port?"
	default:
		return "connected, but the broker does not answer; it is overloaded or stopped, or this is not a Kafka port"
	}
}

func explainDial(e *Error) string {
	err := e.Err
	var dns *net.DNSError
	var addr *net.AddrError
	switch {
	case errors.As(err, &dns) && e.Broker != None:
		return fmt.Sprintf("the bootstrap address answered, but the broker advertises %s, which does not resolve here; see advertised.listeners", e.Addr)
	case errors.As(err, &dns):
		return fmt.Sprintf("the host name %q does not resolve", dns.Name)
	case errors.As(err, &addr):
		return "give the address as host:port"
	case errors.Is(err, syscall.ECONNREFUSED):
		if e.Broker != None {
			return "nothing listens on the address that the broker advertises; it is down, or advertised.listeners is wrong"
		}
		return "nothing listens on this port"
	}
	return ""
}

func explainTLS(err error) string {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &unknown):
		return fmt.Sprintf("no trusted CA signed the broker's certificate (issuer %q); give its CA", unknown.Cert.Issuer)
	case errors.As(err, &host):
		return fmt.Sprintf("the broker's certificate is for %s, not for %q; use such a name, or set the server name",
			names(host.Certificate), host.Host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the broker's certificate is valid from %s to %s", invalid.Cert.NotBefore.Format(time.DateOnly),
			invalid.Cert.NotAfter.Format(time.DateOnly))
	case errors.As(err, &record):
		return "the port does not speak TLS"
	case isAlert(err):
		return "the broker refused the TLS handshake: no common version or cipher, or it wants a (different) client certificate"
	case isHangup(err):
		return "the broker hung up in the TLS handshake; most likely the port does not speak TLS"
	}
	return ""
}

func names(c *x509.Certificate) string {
	all := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	if len(all) == 0 {
		return fmt.Sprintf("%q without any subject alternative name", c.Subject)
	}
	return strings.Join(all, ", ")
}

func explainSASL(err error) string {
	var auth *AuthError
	switch {
	case errors.As(err, &auth) && auth.Code == CodeUnsupportedSASLMechanism:
		return "choose one of " + strings.Join(auth.Offered, ", ")
	case errors.As(err, &auth) && auth.Code == CodeIllegalSASLState:
		return "this listener does not authenticate; leave out the SASL settings, or use another port"
	case errors.As(err, &auth) && auth.Code == CodeSASLFailed:
		return "the broker refused the user or the password (or token)"
	case isHangup(err):
		return "the broker hung up instead of answering; most likely the user or the password is wrong"
	}
	return ""
}

func explainAnswer(e *Error, cfg Config) string {
	var frame FrameError
	switch {
	case errors.As(e.Err, &frame) && frame.TLS():
		return "the port expects TLS"
	case errors.As(e.Err, &frame) && frame.HTTP():
		return "this is an HTTP server, not a Kafka broker"
	case errors.As(e.Err, &frame):
		return "this is not a Kafka broker"
	case isAlert(e.Err) && (cfg.TLS == nil || len(cfg.TLS.Certificates) == 0 && cfg.TLS.GetClientCertificate == nil):
		return "the broker wants a client certificate"
	case isAlert(e.Err):
		return "the broker did not accept the client certificate; is it valid, and signed by a CA that the broker trusts?"
	case isHangup(e.Err) && e.Stage == StageHello:
		return "connected, but hung up on; is this a Kafka port, and may this host use it?"
	case isHangup(e.Err) && cfg.SASL == nil:
		return "the broker hung up; most likely the listener wants a user and password (SASL)"
	}
	return ""
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
