package wire

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// probeWithin bounds a probe: a broker that is there answers at once, one that refuses a mechanism after 300 ms.
const probeWithin = time.Second

// probe makes sure of what a failure to connect only lets guess: it asks the same address once more, without TLS, or for what
// it accepts. It never sends credentials, and changes nothing but the error's cause and what is known of it.
func (c *Client) probe(ctx context.Context, err error) error {
	var e *Error
	if !errors.As(err, &e) || ctx.Err() != nil {
		return err
	}
	ctx, cancel := c.within(ctx)
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, probeWithin)
	defer stop()
	switch {
	case e.Stage == StageTLS && (e.Cause == CauseNoTLS || e.Timeout()):
		plain := c.cfg
		plain.TLS = nil
		if offered, answered := listens(ctx, e.Addr, plain); answered {
			e.Cause, e.Sure, e.Offered = CauseNoTLS, true, offered
		}
	case e.Cause == CauseNoSASL || e.Cause == CauseWantsSASL:
		if offered, answered := listens(ctx, e.Addr, c.cfg); answered {
			e.Sure, e.Offered = len(offered) > 0 == (e.Cause == CauseWantsSASL), offered
		}
	}
	return e
}

// listens reports whether Kafka answers at an address, and with which mechanisms; none is a listener that does not authenticate.
func listens(ctx context.Context, addr string, cfg Config) (mechanisms []string, answered bool) {
	cfg.SASL = nil
	k, err := dial(ctx, None, addr, cfg)
	if err != nil {
		return nil, false
	}
	defer k.close()
	if _, err := k.exchange(ctx, 0, kmsg.NewPtrApiVersionsRequest()); err != nil {
		return nil, false
	}
	q := kmsg.NewPtrSASLHandshakeRequest() // of a mechanism without a name: the answer lists those that there are
	q.Version = 1
	answers, err := k.exchange(ctx, 0, q)
	if err != nil {
		return nil, true
	}
	return answers[0].(*kmsg.SASLHandshakeResponse).SupportedMechanisms, true
}
