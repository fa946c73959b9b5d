package wire

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// AuthError is a broker's refusal to authenticate.
type AuthError struct {
	Mechanism string
	Code      int16    // Kafka error code: 33 mechanism not enabled, 34 wrong state, 58 refused
	Message   string   // the broker's words; may be empty
	Offered   []string // with code 33: what the listener accepts
}

func (e *AuthError) Error() string {
	switch {
	case e.Code == CodeUnsupportedSASLMechanism:
		return fmt.Sprintf("%s is not enabled; the listener offers %q", e.Mechanism, e.Offered)
	case e.Message != "":
		return fmt.Sprintf("%s: %s", e.Mechanism, e.Message)
	default:
		return fmt.Sprintf("%s: error code %d", e.Mechanism, e.Code)
	}
}

// authenticate runs the mechanism: at first, and again before the session ends. One request at a time: over TLS a broker
// leaves a second one lying for 300 ms until its session is authenticated.
func (c *conn) authenticate(ctx context.Context) error {
	name := c.cfg.SASL.Name()
	q := kmsg.NewPtrSASLHandshakeRequest()
	q.Version, q.Mechanism = 1, name // v1: tokens travel in SaslAuthenticate (Kafka 1.0)
	answers, err := c.exchange(ctx, 0, q)
	if err != nil {
		return err
	}
	if h := answers[0].(*kmsg.SASLHandshakeResponse); h.ErrorCode != 0 {
		return &AuthError{Mechanism: name, Code: h.ErrorCode, Offered: h.SupportedMechanisms}
	}
	if n := c.cfg.logins; n != nil {
		n.Add(1)
		defer n.Add(-1)
	}
	start := time.Now()
	state, token, err := c.cfg.SASL.Start(sasl.WithMetadata(ctx, metadata(c.addr)))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for {
		q := kmsg.NewPtrSASLAuthenticateRequest()
		q.Version, q.SASLAuthBytes = min(2, max(c.versions[q.Key()].Max, 0)), token
		answers, err := c.exchange(ctx, 0, q)
		if err != nil {
			return err
		}
		r := answers[0].(*kmsg.SASLAuthenticateResponse)
		if r.ErrorCode != 0 {
			e := &AuthError{Mechanism: name, Code: r.ErrorCode}
			if r.ErrorMessage != nil {
				e.Message = *r.ErrorMessage
			}
			return e
		}
		done, next, err := state.Next(ctx, r.SASLAuthBytes)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if done {
			c.renew = time.Time{}
			if ms := r.SessionLifetimeMillis; ms > 0 { // KIP-368; 85 % leaves the exchange time to finish
				c.renew = start.Add(time.Duration(min(ms, 1<<32)) * time.Millisecond * 85 / 100)
			}
			return nil
		}
		token = next
	}
}

func metadata(addr string) *sasl.Metadata {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return &sasl.Metadata{Host: addr}
	}
	n, _ := strconv.Atoi(port)
	return &sasl.Metadata{Host: host, Port: n}
}
