package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// conn is one open connection. It is used by one goroutine at a time; after any error it is dead.
type conn struct {
	cfg      Config
	broker   int32 // None for a bootstrap address
	addr     string
	pc       *protocol.Conn
	versions Versions // nil until the broker has told
	lastID   int32
	asked    bool          // for a client certificate, which we do not have
	worked   bool          // it has answered before
	waited   time.Duration // in the last exchange, until something came
	renew    time.Time     // authenticate again from here on; zero: never
}

// dial connects to addr ("host:port") and shakes hands as cfg asks: TCP, TLS, and with SASL also ApiVersions and the
// authentication. Without SASL nothing is sent, so that ApiVersions can travel with the first real request. The context has a
// deadline.
func dial(ctx context.Context, broker int32, addr string, cfg Config) (*conn, error) {
	c := &conn{cfg: cfg, broker: broker, addr: addr}
	d := cfg.Dial
	if d == nil {
		d = new(net.Dialer).DialContext
	}
	nc, err := d(ctx, "tcp", addr)
	if err != nil {
		return nil, c.fail(ctx, StageDial, err)
	}
	if cfg.TLS != nil {
		tc := tls.Client(nc, c.tls(cfg.TLS))
		if err := tc.HandshakeContext(ctx); err != nil {
			nc.Close()
			return nil, c.fail(ctx, StageTLS, err)
		}
		nc = tc
	}
	c.pc = protocol.NewConn(nc, cfg.ClientID)
	if cfg.SASL == nil {
		return c, nil
	}
	answers, err := c.exchange(ctx, 0, kmsg.NewPtrApiVersionsRequest())
	if err == nil {
		err = c.learn(answers[0])
	}
	if err != nil {
		c.pc.Close()
		return nil, c.fail(ctx, StageHello, err)
	}
	if err := c.authenticate(ctx); err != nil {
		c.pc.Close()
		return nil, c.fail(ctx, StageSASL, err)
	}
	return c, nil
}

// tls is the configuration for this connection: the host of its address is the name of the server, unless there is one.
func (c *conn) tls(cfg *tls.Config) *tls.Config {
	cfg = cfg.Clone()
	if cfg.ServerName == "" {
		cfg.ServerName = c.addr
		if host, _, err := net.SplitHostPort(c.addr); err == nil {
			cfg.ServerName = host
		}
	}
	if !hasCertificate(cfg) { // none is sent, but that one was asked for explains the broker's alert
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			c.asked = true
			return new(tls.Certificate), nil
		}
	}
	return cfg
}

func hasCertificate(cfg *tls.Config) bool {
	return len(cfg.Certificates) > 0 || cfg.GetClientCertificate != nil
}

// learn takes over what the broker offers.
func (c *conn) learn(r kmsg.Response) error {
	a := r.(*kmsg.ApiVersionsResponse)
	if a.ErrorCode != 0 {
		return fmt.Errorf("ApiVersions: %s", CodeName(a.ErrorCode))
	}
	c.versions = make(Versions, len(a.ApiKeys))
	for _, k := range a.ApiKeys {
		c.versions[k.ApiKey] = Range{k.MinVersion, k.MaxVersion}
	}
	return nil
}

func (c *conn) close() {
	if c != nil && c.pc != nil {
		c.pc.Close()
	}
}

// fail wraps an error with where it happened and what most likely caused it.
func (c *conn) fail(ctx context.Context, stage Stage, err error) *Error {
	if ctx.Err() == context.Canceled {
		err = context.Canceled
	}
	e := &Error{Broker: c.broker, Addr: c.addr, Stage: stage, Limit: c.cfg.Timeout, TLS: c.cfg.TLS != nil, Err: err}
	if auth := (*AuthError)(nil); errors.As(err, &auth) {
		e.Offered = auth.Offered
	}
	switch e.Cause = causeOf(e, c.cfg); {
	case e.Cause == CauseCertificate:
		e.validity = validity(c.cfg.TLS)
	case e.Cause == CauseHandshake && isAlert(err) && c.asked:
		e.Cause = CauseWantsCertificate
	}
	return e
}
