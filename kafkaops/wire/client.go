// Package wire carries requests to the brokers of one cluster: one connection a broker (TCP, TLS, SASL), versions, pipelining,
// deadlines, and errors that name the broker. The connection is kafka-go's protocol.Conn and the codec is kmsg; kafka-go's root
// package is not needed. What the answers mean is not its business.
package wire

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// None stands for "no broker id".
const None = -1

// Any asks Do to use whichever broker answers, first the one that answered first.
const Any int32 = -1

// OffsetsTopic is where Kafka keeps the commits.
const OffsetsTopic = "__consumer_offsets"

const (
	defaultTimeout = 2 * time.Second
	stagger        = 250 * time.Millisecond // between two addresses of the bootstrap race
)

// Config says how to reach brokers. It is shared by all connections and never changed.
type Config struct {
	ClientID  string
	TLS       *tls.Config                                                       // nil: plain TCP. An empty ServerName becomes the host of the address.
	SASL      sasl.Mechanism                                                    // nil: no authentication
	Timeout   time.Duration                                                     // bounds opening a connection as a whole, and each silence in an exchange; 0: 2 s
	Canonical bool                                                              // replace each bootstrap address by the names that its IP addresses have
	Log       *slog.Logger                                                      // each request with broker and time; nil: none
	Dial      func(ctx context.Context, network, addr string) (net.Conn, error) // nil: net.Dialer

	logins *atomic.Int32 // how many connections wait for a broker's word on their credentials; nil: nobody asks
}

// Client reaches the brokers of one cluster. It opens nothing before Connect or Do, and may be used by several goroutines: one
// exchange at a time runs on each broker.
type Client struct {
	cfg       Config
	bootstrap []string
	base      context.Context // ends with Close
	cancel    context.CancelFunc
	wg        sync.WaitGroup
	joining   chan struct{} // held while the race runs

	mu      sync.Mutex
	look    int
	joined  *Cluster
	refused error // wrong credentials: never tried again
	assumed Versions
	nodes   map[int32]*node
	winner  *node
}

// Cluster is what the first answer told.
type Cluster struct {
	ID           string
	Controller   int32
	OffsetsTopic bool // the topic of the commits exists, or may exist: without it FindCoordinator would create it
}

// node is one broker.
type node struct {
	id   int32
	sem  chan struct{} // held during an exchange; guards conn and versions
	conn *conn
	// versions of the broker itself; nil as long as they are assumed
	versions Versions

	// the rest is guarded by Client.mu
	addr    string
	via     string   // the address where a broker answered that named addr
	told    Versions // what the broker said last, for links
	opening *opening // a connection on its way
	down    error    // why it is not asked again in this look
	downIn  int
}

// opening is a connection that is being opened in the background.
type opening struct {
	addr  string
	done  chan struct{}
	conn  *conn // valid once done
	hello *kmsg.MetadataResponse
	err   error
	look  int // in which it ended: an old failure says nothing of today
}

// New makes a client. The addresses are "host:port".
func New(bootstrap []string, cfg Config) *Client {
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.ClientID == "" {
		cfg.ClientID = "gtoffset"
	}
	cfg.logins = new(atomic.Int32)
	c := &Client{cfg: cfg, bootstrap: bootstrap, nodes: map[int32]*node{}, joining: make(chan struct{}, 1)}
	c.base, c.cancel = context.WithCancel(context.Background())
	return c
}

// Close cuts all connections and waits for everything that runs in the background.
func (c *Client) Close() {
	c.cancel()
	c.wg.Wait()
	c.mu.Lock()
	nodes := c.all()
	c.mu.Unlock()
	for _, n := range nodes {
		n.sem <- struct{}{}
		n.conn.close()
		n.conn = nil
		<-n.sem
		c.mu.Lock()
		if n.opening != nil { // dialled and never used
			n.opening.conn.close()
		}
		c.mu.Unlock()
	}
}

// all lists the nodes, sorted by id. The caller holds mu.
func (c *Client) all() []*node {
	var nodes []*node
	for _, n := range c.nodes {
		nodes = append(nodes, n)
	}
	if c.winner != nil && c.winner.id == None {
		nodes = append(nodes, c.winner)
	}
	slices.SortFunc(nodes, func(a, b *node) int { return cmp.Compare(a.id, b.id) })
	return nodes
}

// NewLook forgets which brokers did not answer, so that they are asked again.
func (c *Client) NewLook() {
	c.mu.Lock()
	c.look++
	c.mu.Unlock()
}

// Brokers lists the ids of the brokers, in order. It is empty before Connect.
func (c *Client) Brokers() []int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := make([]int32, 0, len(c.nodes))
	for id := range c.nodes {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Do sends the requests that build makes to one broker (or to Any) back to back and returns the answers in order: one round
// trip. build gets the versions that the broker offers and sets each request's (Versions.Set); where these were assumed wrongly
// it is called again. A connection that broke since it last answered is opened again once, unless the requests write. The error
// is an *Error, a *TooOldError, or what build returned.
func (c *Client) Do(ctx context.Context, id int32, build func(Versions) ([]kmsg.Request, error)) ([]kmsg.Response, error) {
	if _, err := c.Connect(ctx); err != nil {
		return nil, err
	}
	if id != Any {
		c.mu.Lock()
		n := c.nodes[id]
		c.mu.Unlock()
		if n == nil {
			return nil, &Error{Broker: id, Stage: StageDial, Err: errUnknownBroker}
		}
		return c.on(ctx, n, build)
	}
	c.mu.Lock()
	tries := []*node{c.winner}
	for _, n := range c.all() {
		if n != c.winner {
			tries = append(tries, n)
		}
	}
	c.mu.Unlock()
	var first error
	for _, n := range tries {
		answers, err := c.on(ctx, n, build)
		if err == nil {
			return answers, nil
		}
		if first == nil {
			first = err
		}
		if e := (*Error)(nil); !errors.As(err, &e) || ctx.Err() != nil || e.Sent && e.Write {
			return nil, err
		}
	}
	return nil, first
}

// on runs one exchange on a node, and remembers the node as down if it did not answer.
func (c *Client) on(ctx context.Context, n *node, build func(Versions) ([]kmsg.Request, error)) ([]kmsg.Response, error) {
	select {
	case n.sem <- struct{}{}:
		defer func() { <-n.sem }()
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		return nil, &Error{Broker: n.id, Addr: n.addr, Stage: StageExchange, Err: ctx.Err()}
	}
	c.mu.Lock()
	down := n.down
	if n.downIn != c.look {
		down = nil
	}
	if c.refused != nil {
		down = c.refused
	}
	if c.base.Err() != nil {
		down = &Error{Broker: n.id, Addr: n.addr, Stage: StageDial, Err: net.ErrClosed}
	}
	c.mu.Unlock()
	if down != nil {
		return nil, notSent(down)
	}
	mine, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.base, cancel)() // Close cuts what is under way
	answers, err := c.try(mine, n, build)
	if e := (*Error)(nil); errors.As(err, &e) && mine.Err() == nil {
		c.mu.Lock()
		n.down, n.downIn = err, c.look
		if IsRefused(err) {
			c.refused = err
		}
		c.mu.Unlock()
	}
	if n.versions != nil {
		c.mu.Lock()
		n.told = n.versions
		c.mu.Unlock()
	}
	for _, r := range answers {
		c.learn(n, r)
	}
	return answers, err
}

func (c *Client) try(ctx context.Context, n *node, build func(Versions) ([]kmsg.Request, error)) ([]kmsg.Response, error) {
	var learned Versions // an assumption that proved wrong is not made again
	for again := true; ; again = false {
		fresh, err := c.open(ctx, n)
		if err != nil {
			return nil, err
		}
		k := n.conn
		if n.versions == nil {
			n.versions = learned
		}
		if !k.renew.IsZero() && time.Now().After(k.renew) { // KIP-368: on the open connection, even if the session is over
			if err := c.renewSession(ctx, n); err != nil {
				if again && !fresh && isHangup(err) {
					continue
				}
				return nil, err
			}
		}
		versions := n.versions
		if versions == nil {
			c.mu.Lock()
			versions = c.assumed
			c.mu.Unlock()
		}
		requests, err := build(versions)
		if err != nil && n.versions == nil {
			requests = nil // only assumed: find out before giving up
		} else if err != nil || len(requests) == 0 {
			return nil, named(err, n.id, k.addr)
		}
		all, write := requests, slices.ContainsFunc(requests, func(q kmsg.Request) bool { return isWrite(q.Key()) })
		if n.versions == nil {
			all = append([]kmsg.Request{kmsg.NewPtrApiVersionsRequest()}, requests...)
			if write {
				all = all[:1] // a write goes out only in a version that the broker is known to have
			}
		}
		worked := k.worked
		answers, failed := k.exchange(ctx, c.cfg.Timeout, all...)
		if n.versions == nil && len(answers) > 0 {
			if failed == nil || len(answers) < len(all) {
				if e := k.learn(answers[0]); e != nil && failed == nil {
					failed = e
				}
				n.versions = k.versions
			}
			answers = answers[1:]
			if failed == nil && len(all) == 1 {
				continue // now build with what the broker has
			}
			if failed != nil && again && isHangup(failed) && !fits(requests, n.versions) {
				learned = n.versions
				n.conn.close()
				n.conn = nil
				continue // the assumption was wrong, and the broker hung up on it
			}
		}
		if failed == nil {
			return answers, nil
		}
		n.conn.close()
		n.conn = nil
		if again && !fresh && isHangup(failed) && !write && ctx.Err() == nil {
			continue // it broke since it was opened, or last used
		}
		stage := StageExchange
		if !worked && !k.worked {
			stage = StageHello
		}
		e := k.fail(ctx, stage, failed)
		if stage == StageExchange && isHangup(failed) {
			e.Cause = CauseUnknown // this cluster answers as we ask it: nothing to guess about
		}
		e.Sent, e.Write = len(all) > 1 || n.versions != nil, write
		if ctx.Err() != nil {
			e.Limit = 0
		}
		return nil, e
	}
}

func (c *Client) renewSession(ctx context.Context, n *node) error {
	lim, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	if err := n.conn.authenticate(lim); err != nil {
		e := n.conn.fail(ctx, StageSASL, err)
		n.conn.close()
		n.conn = nil
		return e
	}
	return nil
}

// fits reports whether the broker has each request in the version that was sent.
func fits(requests []kmsg.Request, v Versions) bool {
	for _, q := range requests {
		if r, ok := v[q.Key()]; !ok || q.GetVersion() < r.Min || q.GetVersion() > r.Max {
			return false
		}
	}
	return true
}

// open makes sure that the node has a connection: the one at hand, the one on its way, or a new one. fresh says that it was opened
// just now. The caller holds the node.
func (c *Client) open(ctx context.Context, n *node) (fresh bool, err error) {
	c.mu.Lock()
	addr, o, look := n.addr, n.opening, c.look
	n.opening = nil
	c.mu.Unlock()
	if o != nil {
		select {
		case <-o.done:
		case <-ctx.Done():
			c.mu.Lock()
			n.opening = o
			c.mu.Unlock()
			return false, &Error{Broker: n.id, Addr: addr, Stage: StageDial, Err: ctx.Err()}
		}
		if n.conn != nil {
			o.conn.close()
			return false, nil
		}
		if o.err == nil {
			n.conn = o.conn
			n.conn.broker = n.id
			n.versions = n.conn.versions
			return false, nil
		}
		if o.look == look && !errors.Is(o.err, context.Canceled) { // its context may have been another's
			if e := (*Error)(nil); errors.As(o.err, &e) {
				e := *e
				e.Broker, e.Addr = n.id, addr
				return false, &e
			}
			return false, o.err
		}
	}
	if n.conn != nil {
		return false, nil
	}
	lim, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	k, err := c.dial(lim, n.id, addr)
	if err != nil {
		if e := (*Error)(nil); ctx.Err() != nil && errors.As(err, &e) {
			e.Limit = 0
		}
		return false, err
	}
	n.conn = k
	n.versions = k.versions // a broker that was restarted may be another version: learn it again
	return true, nil
}

// learn takes addresses over from an answer of a node.
func (c *Client) learn(n *node, r kmsg.Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	via := n.addr
	switch r := r.(type) {
	case *kmsg.MetadataResponse:
		for _, b := range r.Brokers {
			c.know(via, b.NodeID, b.Host, b.Port)
		}
	case *kmsg.FindCoordinatorResponse:
		if len(r.Coordinators) == 0 && r.ErrorCode == 0 {
			c.know(via, r.NodeID, r.Host, r.Port)
		}
		for _, k := range r.Coordinators {
			if k.ErrorCode == 0 {
				c.know(via, k.NodeID, k.Host, k.Port)
			}
		}
	}
}

// know makes or updates a node, whose address the broker at via has named. The caller holds mu.
func (c *Client) know(via string, id int32, host string, port int32) *node {
	if id < 0 || host == "" {
		return nil
	}
	addr := net.JoinHostPort(host, strconv.Itoa(int(port)))
	n := c.nodes[id]
	if n == nil {
		n = &node{id: id, sem: make(chan struct{}, 1)}
		c.nodes[id] = n
	}
	if n.addr != addr {
		n.addr, n.via = addr, via
	}
	return n
}

// dial opens a connection, and tells in an error who has named the address.
func (c *Client) dial(ctx context.Context, id int32, addr string) (*conn, error) {
	k, err := dial(ctx, id, addr, c.cfg)
	if e := (*Error)(nil); errors.As(err, &e) {
		c.mu.Lock()
		if n := c.nodes[id]; n != nil {
			e.Via = n.via
			e.Stray = n.via != "" && !slices.ContainsFunc(c.all(), func(n *node) bool { return n.id != None && n.addr == e.Via })
		}
		c.mu.Unlock()
	}
	return k, err
}

// notSent says of a remembered failure that this time nothing went out.
func notSent(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Sent {
		again := *e
		again.Sent = false
		return &again
	}
	return err
}

// named says which broker is too old.
func named(err error, id int32, addr string) error {
	if e := (*TooOldError)(nil); errors.As(err, &e) {
		e.Broker, e.Addr = id, addr
	}
	return err
}

// Down reports whether a broker failed in this look, so that it is not asked again.
func (c *Client) Down(id int32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[id]
	return n != nil && n.down != nil && n.downIn == c.look
}
