package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Cause is what a failure most likely comes from, for those who tell what to do about it.
type Cause string

// The causes.
const (
	CauseUnknown          Cause = ""
	CauseSilent           Cause = "nothing answers"
	CauseAddress          Cause = "the address is not HOST:PORT"
	CauseUnresolved       Cause = "the host name does not resolve"
	CauseRefused          Cause = "nothing listens"
	CauseNotKafka         Cause = "not a Kafka port"
	CauseWantsTLS         Cause = "the port expects TLS"
	CauseNoTLS            Cause = "the port does not speak TLS"
	CauseHandshake        Cause = "no common version or cipher of TLS"
	CauseUnknownCA        Cause = "no trusted CA has signed the broker's certificate"
	CauseHostName         Cause = "the broker's certificate is for another host"
	CauseExpired          Cause = "the broker's certificate is not valid at this time"
	CauseWantsCertificate Cause = "a client certificate is wanted"
	CauseCertificate      Cause = "the client's certificate is not accepted"
	CauseWantsSASL        Cause = "a login is wanted"
	CauseNoSASL           Cause = "the listener has no login"
	CauseMechanism        Cause = "the mechanism is not enabled"
	CauseCredentials      Cause = "user or password are refused"
	CauseToken            Cause = "there is no valid token"
	CauseIssuer           Cause = "whoever gives tokens is not reached"
	CauseTicket           Cause = "the Kerberos ticket has expired"
	CauseService          Cause = "the KDC does not know the broker"
	CauseKDC              Cause = "no KDC is reached"
	CauseClock            Cause = "the clocks differ"
)

// CredentialsError says that credentials could not even be shown to the broker: there is no token, no ticket, or whoever gives them
// refused. Reason never holds a secret.
type CredentialsError struct {
	Cause   Cause
	Reason  string
	Passing bool // another try may go better
}

func (e *CredentialsError) Error() string { return e.Reason }

// IsRefused reports whether credentials were refused for good: another try counts towards a lock-out, and is of no use.
func IsRefused(err error) bool {
	var broker *AuthError
	var before *CredentialsError
	return errors.As(err, &broker) || errors.As(err, &before) && !before.Passing
}

// causeOf judges a failure by where it happened and what came back.
func causeOf(e *Error, cfg Config) Cause {
	var credentials *CredentialsError
	switch {
	case errors.Is(e.Err, context.Canceled):
		return CauseUnknown
	case errors.As(e.Err, &credentials):
		return credentials.Cause
	case e.Timeout():
		return CauseSilent
	}
	switch e.Stage {
	case StageDial:
		return causeOfDial(e.Err)
	case StageTLS:
		return causeOfTLS(e.Err, cfg)
	case StageSASL:
		return causeOfSASL(e.Err)
	}
	return causeOfAnswer(e, cfg)
}

func causeOfDial(err error) Cause {
	var dns *net.DNSError
	var addr *net.AddrError
	switch {
	case errors.As(err, &dns):
		return CauseUnresolved
	case errors.As(err, &addr):
		return CauseAddress
	case errors.Is(err, syscall.ECONNREFUSED):
		return CauseRefused
	}
	return CauseUnknown
}

func causeOfTLS(err error, cfg Config) Cause {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &unknown):
		return CauseUnknownCA
	case errors.As(err, &host):
		return CauseHostName
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return CauseExpired
	case errors.As(err, &record), isHangup(err): // that a hang-up means this is a guess, which a probe can make sure of
		return CauseNoTLS
	case isAlert(err) && strings.Contains(err.Error(), "certificate"):
		return causeOfAlert(cfg)
	case isAlert(err), strings.Contains(err.Error(), "unsupported versions"):
		return CauseHandshake
	}
	return CauseUnknown
}

func causeOfAlert(cfg Config) Cause {
	if cfg.TLS == nil || !hasCertificate(cfg.TLS) {
		return CauseWantsCertificate
	}
	return CauseCertificate
}

func causeOfSASL(err error) Cause {
	var auth *AuthError
	if !errors.As(err, &auth) {
		if isHangup(err) { // some brokers hang up on a wrong password
			return CauseCredentials
		}
		return CauseUnknown
	}
	switch auth.Code {
	case CodeUnsupportedSASLMechanism:
		return CauseMechanism
	case CodeIllegalSASLState:
		return CauseNoSASL
	case CodeSASLFailed:
		return CauseCredentials
	}
	return CauseUnknown
}

func causeOfAnswer(e *Error, cfg Config) Cause {
	var frame FrameError
	switch {
	case errors.As(e.Err, &frame) && frame.TLS():
		return CauseWantsTLS
	case errors.As(e.Err, &frame):
		return CauseNotKafka
	case isAlert(e.Err): // TLS 1.3 tells of the client's certificate only after the handshake
		return causeOfAlert(cfg)
	case isHangup(e.Err) && e.Stage == StageExchange && cfg.SASL == nil:
		return CauseWantsSASL
	}
	return CauseUnknown
}

// Why says in one line what stands behind a failure, beyond what its Error says; "" where there is nothing to add.
func (e *Error) Why() string {
	switch e.Cause {
	case CauseSilent:
		return e.whySilent()
	case CauseUnresolved, CauseRefused:
		if e.Via != "" {
			return fmt.Sprintf("broker %s answered, and names this address for broker %d (advertised.listeners)", e.Via, e.Broker)
		}
	case CauseNoTLS:
		if !e.Sure {
			return "most likely the port does not speak TLS"
		}
	case CauseWantsSASL:
		if !e.Sure {
			return "most likely the listener wants a user and password (SASL)"
		}
	case CauseCredentials:
		if isHangup(e.Err) {
			return "most likely the user or the password is wrong"
		}
	case CauseHandshake:
		return "there is no version or cipher of TLS that both have"
	case CauseCertificate:
		return "is it valid, and signed by a CA that the broker trusts?"
	}
	if e.Cause == CauseUnknown && e.Stage == StageHello && isHangup(e.Err) {
		return "is this a Kafka port, and may this host use it?"
	}
	return ""
}

func (e *Error) whySilent() string {
	switch {
	case e.Via != "" && e.Stage == StageDial:
		return fmt.Sprintf("broker %s answered, and names this address for broker %d (advertised.listeners): a firewall, or the wrong address", e.Via, e.Broker)
	case e.Stage == StageDial:
		return "no answer from this address; a firewall, or the wrong host"
	case e.Stage == StageTLS:
		return "connected, but the TLS handshake gets no answer; is this a TLS port?"
	}
	return "connected, but the broker does not answer; it is overloaded or stopped, or this is not a Kafka port"
}

// sentence is how a failure with a known cause is told; "" for those that are told by what came back.
func (e *Error) sentence() string {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var auth *AuthError
	switch e.Cause {
	case CauseWantsTLS:
		return " expects TLS"
	case CauseNoTLS:
		if e.Sure {
			return " answers without TLS, and does not speak it"
		}
	case CauseNotKafka:
		if frame := (FrameError{}); errors.As(e.Err, &frame) && frame.HTTP() {
			return " is an HTTP server, not a Kafka broker"
		}
		return " is not a Kafka broker"
	case CauseUnknownCA:
		if errors.As(e.Err, &unknown) && unknown.Cert != nil {
			return fmt.Sprintf(": its certificate is signed by %q, which is not among the CAs that are trusted", unknown.Cert.Issuer)
		}
	case CauseHostName:
		if errors.As(e.Err, &host) && host.Certificate != nil {
			return fmt.Sprintf(": its certificate is for %s, not for %s", names(host.Certificate), host.Host)
		}
	case CauseExpired:
		if errors.As(e.Err, &invalid) && invalid.Cert != nil {
			return fmt.Sprintf(": the certificate of %q is valid from %s to %s; the clock here says %s", invalid.Cert.Subject,
				day(invalid.Cert.NotBefore), day(invalid.Cert.NotAfter), day(time.Now()))
		}
	case CauseWantsCertificate:
		return " wants a client certificate"
	case CauseCertificate:
		return " does not accept the client certificate" + e.validity
	case CauseWantsSASL:
		if e.Sure {
			return " wants a login (SASL): " + strings.Join(e.Offered, ", ")
		}
	case CauseNoSASL:
		return " has no login (SASL) on this listener"
	case CauseMechanism:
		if errors.As(e.Err, &auth) {
			return fmt.Sprintf(": %s is not enabled on this listener, which offers %s", auth.Mechanism, strings.Join(auth.Offered, ", "))
		}
	}
	return ""
}

func day(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// validity tells of a client certificate that is over, or not yet valid: the broker only says that it does not take it.
func validity(cfg *tls.Config) string {
	if cfg == nil || len(cfg.Certificates) == 0 || cfg.Certificates[0].Leaf == nil {
		return ""
	}
	leaf, now := cfg.Certificates[0].Leaf, time.Now()
	text := fmt.Sprintf(" of %q, signed by %q", leaf.Subject, leaf.Issuer)
	if now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		text += fmt.Sprintf(", which is valid from %s to %s; the clock here says %s", day(leaf.NotBefore), day(leaf.NotAfter), day(now))
	}
	return text
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
