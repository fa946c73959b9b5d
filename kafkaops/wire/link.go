package wire

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Link is a connection of its own to one broker, for work that would keep others waiting: fetching and producing. It is used by
// one goroutine at a time; after an error it is of no more use.
type Link struct {
	client *Client
	node   *node
	conn   *conn
}

// Dial opens a link to a broker that Metadata has named. What the broker has told the client of its versions holds for the link; if
// the link then fails before anything was answered, the next one asks again. The error is an *Error.
func (c *Client) Dial(ctx context.Context, id int32) (*Link, error) {
	c.mu.Lock()
	n := c.nodes[id]
	addr, refused := "", c.refused
	var told Versions
	if n != nil {
		addr, told = n.addr, n.told
	}
	c.mu.Unlock()
	switch {
	case refused != nil:
		return nil, notSent(refused)
	case n == nil:
		return nil, &Error{Broker: id, Stage: StageDial, Err: errUnknownBroker}
	}
	ctx, cancel := c.within(ctx)
	defer cancel()
	limited, stop := context.WithTimeout(ctx, c.cfg.Timeout)
	defer stop()
	k, err := c.dial(limited, id, addr)
	if err != nil {
		return nil, err
	}
	l := &Link{client: c, node: n, conn: k}
	switch {
	case k.versions != nil: // asked for before authenticating
	case told != nil:
		k.versions = told
	default:
		answers, err := k.exchange(limited, 0, kmsg.NewPtrApiVersionsRequest())
		if err == nil {
			err = k.learn(answers[0])
		}
		if err != nil {
			k.close()
			return nil, k.fail(ctx, StageHello, err)
		}
	}
	return l, nil
}

// within makes a context that ends with Close, too.
func (c *Client) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.base, cancel)
	return ctx, func() { stop(); cancel() }
}

// Versions is what the broker offers.
func (l *Link) Versions() Versions { return l.conn.versions }

// Waited is how long it took in the last exchange until the answer began to come.
func (l *Link) Waited() time.Duration { return l.conn.waited }

// Exchange sends one request, whose version is set, and returns the answer. It may refer to the bytes that came over the wire,
// which are returned, too: they lie in memory if they fit. For up to expected bytes memory is taken at once, for more as they come.
// Each silence is bounded by limit. The error is an *Error.
func (l *Link) Exchange(ctx context.Context, limit time.Duration, q kmsg.Request, memory []byte, expected int) (a kmsg.Response, bytes []byte, err error) {
	ctx, cancel := l.client.within(ctx)
	defer cancel()
	k := l.conn
	if !k.renew.IsZero() && time.Now().After(k.renew) {
		if err := l.renew(ctx); err != nil {
			return nil, memory, err
		}
	}
	worked := k.worked
	answers, bytes, failed := k.exchangeInto(ctx, limit, memory, expected, q)
	if failed != nil {
		k.close()
		if !worked && isHangup(failed) {
			l.client.forget(l.node)
		}
		e := k.fail(ctx, StageExchange, failed)
		e.Limit, e.Sent, e.Write = limit, true, isWrite(q.Key())
		if isHangup(failed) {
			e.Cause = CauseUnknown // it has answered before
		}
		return nil, bytes, e
	}
	return answers[0], bytes, nil
}

// forget drops what a broker has told of its versions: it may have been restarted as another.
func (c *Client) forget(n *node) {
	c.mu.Lock()
	n.told = nil
	c.mu.Unlock()
}

func (l *Link) renew(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, l.client.cfg.Timeout)
	defer cancel()
	err := l.conn.authenticate(limited)
	if err != nil {
		l.conn.close()
		return l.conn.fail(ctx, StageSASL, err)
	}
	return nil
}

// Close closes the connection.
func (l *Link) Close() { l.conn.close() }
