package wire

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Connect finds the cluster: the bootstrap addresses are tried one after the other, the next after 250 ms or as soon as one
// fails, and the first that answers Metadata wins. Wrong credentials end it at once, for good. Then all other brokers are
// dialled in the background. It does nothing once it has succeeded.
func (c *Client) Connect(ctx context.Context) (Cluster, error) {
	select {
	case c.joining <- struct{}{}:
		defer func() { <-c.joining }()
	case <-ctx.Done():
		return Cluster{}, &Error{Broker: None, Stage: StageDial, Err: ctx.Err()}
	}
	c.mu.Lock()
	joined, refused := c.joined, c.refused
	c.mu.Unlock()
	if joined != nil {
		return *joined, nil
	}
	if refused != nil {
		return Cluster{}, refused
	}
	if c.base.Err() != nil {
		return Cluster{}, &Error{Broker: None, Stage: StageDial, Err: net.ErrClosed}
	}
	if len(c.bootstrap) == 0 {
		return Cluster{}, &Error{Broker: None, Stage: StageDial, Err: errors.New("no bootstrap address")}
	}
	won, running, err := c.race(ctx)
	if err != nil {
		return Cluster{}, err
	}
	return c.join(ctx, won, running), nil
}

// race returns the first address that answered, and those that have not answered yet.
func (c *Client) race(ctx context.Context) (won *opening, running []*opening, err error) {
	todo := c.bootstrap
	if c.cfg.Canonical {
		todo = canonical(ctx, todo)
	}
	finished := make(chan *opening, len(todo))
	next := time.NewTimer(0)
	defer next.Stop()
	drop := func() {
		for _, o := range running {
			c.wg.Go(func() { <-o.done; o.conn.close() })
		}
	}
	var failures []error
	for {
		select {
		case <-next.C:
			if c.cfg.logins.Load() > 0 { // wrong credentials must not be tried again elsewhere: users are locked out for less
				next.Reset(stagger)
				continue
			}
			if len(todo) > 0 {
				c.mu.Lock()
				o := c.start(ctx, None, todo[0], true)
				c.mu.Unlock()
				todo, running = todo[1:], append(running, o)
				c.wg.Go(func() { <-o.done; finished <- o })
				next.Reset(stagger)
			}
		case o := <-finished:
			running = without(running, o)
			if o.err == nil {
				return o, running, nil
			}
			failures = append(failures, o.err)
			if IsRefused(o.err) {
				c.mu.Lock()
				c.refused = o.err
				c.mu.Unlock()
				drop()
				return nil, nil, o.err
			}
			switch {
			case len(todo) > 0:
				next.Reset(0)
			case len(running) == 0:
				return nil, nil, &BootstrapError{Tried: failures}
			}
		case <-ctx.Done():
			drop()
			if len(failures) > 0 && !errors.Is(ctx.Err(), context.Canceled) {
				return nil, nil, &BootstrapError{Tried: failures}
			}
			return nil, nil, &Error{Broker: None, Addr: c.bootstrap[0], Stage: StageHello, Err: ctx.Err()}
		}
	}
}

func without(all []*opening, o *opening) []*opening {
	var rest []*opening
	for _, x := range all {
		if x != o {
			rest = append(rest, x)
		}
	}
	return rest
}

// start opens a connection in the background, and with hello also asks for the cluster. The caller holds mu.
func (c *Client) start(ctx context.Context, id int32, addr string, hello bool) *opening {
	o := &opening{addr: addr, done: make(chan struct{})}
	c.wg.Go(func() {
		defer close(o.done)
		defer func() {
			c.mu.Lock()
			o.look = c.look
			c.mu.Unlock()
		}()
		lim, cancel := context.WithTimeout(c.base, c.cfg.Timeout)
		defer cancel()
		stop := context.AfterFunc(ctx, cancel)
		defer stop()
		if o.conn, o.hello, o.err = c.greet(lim, id, addr, hello); o.err != nil && hello {
			o.err = c.probe(ctx, o.err)
		}
	})
	return o
}

// greet opens a connection, and with hello asks for the cluster over it.
func (c *Client) greet(ctx context.Context, id int32, addr string, hello bool) (*conn, *kmsg.MetadataResponse, error) {
	k, err := c.dial(ctx, id, addr)
	if err != nil || !hello {
		return k, nil, err
	}
	m, err := k.hello(ctx)
	if err == nil {
		return k, m, nil
	}
	k.close()
	stage := StageHello
	if k.worked { // ApiVersions is answered before authentication, nothing else is
		stage = StageExchange
	}
	return nil, nil, k.fail(ctx, stage, err)
}

// hello asks for brokers, cluster id and the topic of the commits. Metadata v4 is answered by every broker from 0.11 on, so that
// it can travel together with ApiVersions; with SASL the versions are known already.
func (c *conn) hello(ctx context.Context) (*kmsg.MetadataResponse, error) {
	m := kmsg.NewPtrMetadataRequest()
	m.Version = 4
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = kmsg.StringPtr(OffsetsTopic)
	m.Topics = []kmsg.MetadataRequestTopic{t}
	if c.versions != nil {
		answers, err := c.exchange(ctx, 0, m)
		if err != nil {
			return nil, err
		}
		return answers[0].(*kmsg.MetadataResponse), nil
	}
	answers, err := c.exchange(ctx, 0, kmsg.NewPtrApiVersionsRequest(), m)
	if len(answers) > 0 {
		if e := c.learn(answers[0]); e != nil {
			return nil, e
		}
		if err != nil && isHangup(err) && !fits([]kmsg.Request{m}, c.versions) {
			return nil, c.versions.Set(m, 4)
		}
	}
	if err != nil {
		return nil, err
	}
	return answers[1].(*kmsg.MetadataResponse), nil
}

// join takes over what the winner told: its connection becomes that of its broker, connections of the race that are still on
// their way become those of theirs, and all other brokers are dialled.
func (c *Client) join(ctx context.Context, won *opening, running []*opening) Cluster {
	m := won.hello
	cluster := Cluster{Controller: m.ControllerID, OffsetsTopic: true}
	if m.ClusterID != nil {
		cluster.ID = *m.ClusterID
	}
	for _, t := range m.Topics {
		if t.ErrorCode == CodeUnknownTopic {
			cluster.OffsetsTopic = false
		}
	}
	id := c.whose(ctx, won, m.Brokers)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.assumed = won.conn.versions
	for _, b := range m.Brokers {
		c.know(won.addr, b.NodeID, b.Host, b.Port)
	}
	c.winner = c.nodes[id]
	if c.winner == nil {
		c.winner = &node{id: None, addr: won.addr, sem: make(chan struct{}, 1)}
	}
	won.conn.broker = c.winner.id
	c.winner.conn, c.winner.versions = won.conn, won.conn.versions
	for _, n := range c.nodes {
		if n == c.winner {
			continue
		}
		for _, o := range running {
			if o.addr == n.addr {
				n.opening, running = o, without(running, o)
				break
			}
		}
		if n.opening == nil {
			n.opening = c.start(ctx, n.id, n.addr, false)
		}
	}
	for _, o := range running {
		c.wg.Go(func() { <-o.done; o.conn.close() })
	}
	c.joined = &cluster
	return cluster
}

// whose finds the broker that a connection leads to: by the advertised address, by the address that the connection has, or by
// what the advertised name resolves to.
func (c *Client) whose(ctx context.Context, o *opening, brokers []kmsg.MetadataResponseBroker) int32 {
	remote := ""
	if a := o.conn.pc.RemoteAddr(); a != nil {
		remote = a.String()
	}
	for _, b := range brokers {
		if a := net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port))); a == o.addr || a == remote {
			return b.NodeID
		}
	}
	ip, port, err := net.SplitHostPort(remote)
	if err != nil || c.cfg.Dial != nil {
		return None
	}
	// Names that are in /etc/hosts or a resolver's cache answer at once; nothing else is worth waiting for.
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	found := make([]bool, len(brokers))
	for i, b := range brokers {
		if strconv.Itoa(int(b.Port)) != port || net.ParseIP(b.Host) != nil {
			continue
		}
		wg.Go(func() {
			addrs, _ := net.DefaultResolver.LookupHost(ctx, b.Host)
			for _, a := range addrs {
				found[i] = found[i] || a == ip
			}
		})
	}
	wg.Wait()
	match := int32(None)
	for i, b := range brokers {
		if found[i] && match == None {
			match = b.NodeID
		} else if found[i] {
			return None // two brokers behind one address: cannot tell
		}
	}
	return match
}
