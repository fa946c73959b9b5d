package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	redigo "github.com/gomodule/redigo/redis"

	"gtoffset/offsetfile"
)

const (
	slotCount = 1 << 14         // parts that a cluster's keys are in
	mostMoves = 5               // how often a command goes to where its key was moved
	mostAsk   = 3 * time.Second // how long one of several may take to say where the keys are
)

// client knows which server has a key.
type client struct {
	options
	dialer dialer

	mu      sync.Mutex
	servers map[string]*server // by address
	guides  []string           // who is asked where the keys are: the sentinels, or the servers of a cluster. One after the other.
	next    int                // which guide begins
	master  string             // as the sentinels named it; "": they are to be asked
	slots   []string           // the server of each slot; nil: to be asked for
}

// do sends each command to where its key is. The error is that of all commands: nothing is known of any.
func (c *client) do(ctx context.Context, again bool, commands []command) ([]reply, error) {
	if c.kind == cluster {
		return c.doCluster(ctx, again, commands)
	}
	masters, err := c.masters(ctx)
	if err != nil {
		return nil, err
	}
	return c.at(ctx, masters[0], again, commands)
}

// masters are the servers that have all keys between them.
func (c *client) masters(ctx context.Context) ([]string, error) {
	switch c.kind {
	case sentinel:
		master, err := c.findMaster(ctx)
		return []string{master}, err
	case cluster:
		return c.findAll(ctx)
	}
	return c.addrs, nil
}

// at sends commands to one server. When that is lost, or is no master any more, the next call asks anew where the keys are.
func (c *client) at(ctx context.Context, addr string, again bool, commands []command) ([]reply, error) {
	replies, err := c.server(addr).do(ctx, again, commands)
	if err != nil || slices.ContainsFunc(replies, func(r reply) bool { return isReadOnly(r.err) }) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.master, c.slots = "", nil
	}
	return replies, err
}

func (c *client) server(addr string) *server {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.servers[addr]
	if s == nil {
		s = &server{addr: addr, hello: c.hello(addr), dialer: &c.dialer, turn: make(chan struct{}, 1)}
		if c.servers == nil {
			c.servers = map[string]*server{}
		}
		c.servers[addr] = s
	}
	return s
}

func (c *client) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.servers {
		s.close()
	}
}

// ask asks one guide, or the next one if that is away. Each call begins with another: what one says may be out of date.
func (c *client) ask(ctx context.Context, what command) (from string, value any, err error) {
	c.mu.Lock()
	guides := slices.Concat(c.guides[c.next:], c.guides[:c.next])
	c.next = (c.next + 1) % len(c.guides)
	c.mu.Unlock()
	for _, from = range guides {
		value, err = c.askOne(ctx, from, what)
		if err == nil || isAnswer(err) && !isNotReady(err) {
			break
		}
	}
	return from, value, err
}

func (c *client) askOne(ctx context.Context, addr string, what command) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, mostAsk)
	defer cancel()
	replies, err := c.server(addr).do(ctx, true, []command{what})
	if err != nil {
		return nil, err
	}
	return replies[0].value, replies[0].err
}

// findMaster asks the sentinels, and whether the server that they name is a master already.
func (c *client) findMaster(ctx context.Context) (string, error) {
	c.mu.Lock()
	master := c.master
	c.mu.Unlock()
	if master != "" {
		return master, nil
	}
	from, value, err := c.ask(ctx, command{name: "SENTINEL", args: []any{"get-master-addr-by-name", c.masterName}})
	if err != nil {
		return "", err
	}
	if value == nil {
		return "", &offsetfile.NothingError{Looked: fmt.Sprintf("master %q, which the sentinels do not know", c.masterName)}
	}
	parts, err := redigo.Strings(value, nil)
	if err != nil || len(parts) != 2 {
		return "", fmt.Errorf("the sentinel %s names no address: %v", from, value)
	}
	master = net.JoinHostPort(parts[0], parts[1])
	replies, err := c.at(ctx, master, true, []command{{name: "ROLE"}})
	if err != nil {
		return "", err
	}
	if role, err := redigo.Values(replies[0].value, replies[0].err); err == nil && len(role) > 0 { // a user may lack the right to ask
		if name, _ := redigo.String(role[0], nil); name != "master" {
			return "", &offsetfile.AwayError{Err: fmt.Errorf("%s, the master for the sentinel %s, is a %s", master, from, name)}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.master = master
	return master, nil
}

// findAll asks a cluster for its servers: a SCAN must not miss one that came to it since.
func (c *client) findAll(ctx context.Context) ([]string, error) {
	slots, err := c.findSlots(ctx)
	if err != nil {
		return nil, err
	}
	var all []string
	for slot, addr := range slots {
		if addr == "" {
			return nil, noServer(slot)
		}
		if !slices.Contains(all, addr) {
			all = append(all, addr)
		}
	}
	return all, nil
}

func noServer(slot int) error {
	return &offsetfile.AwayError{Err: fmt.Errorf("slot %d of the cluster has no server", slot)}
}

// findSlots asks a cluster which server has which slot.
func (c *client) findSlots(ctx context.Context) ([]string, error) {
	from, value, err := c.ask(ctx, command{name: "CLUSTER", args: []any{"SLOTS"}})
	if err != nil {
		return nil, err
	}
	slots, err := parseSlots(value, from)
	if err != nil {
		return nil, fmt.Errorf("CLUSTER SLOTS of %s: %w", from, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slots = slots
	for _, addr := range slices.Compact(slices.Clone(slots)) {
		if addr != "" && !slices.Contains(c.guides, addr) {
			c.guides = append(c.guides, addr)
		}
	}
	return slices.Clone(slots), nil
}

// parseSlots reads an answer of CLUSTER SLOTS: ranges of first slot, last slot, and servers of which the first is the master.
func parseSlots(value any, from string) ([]string, error) {
	ranges, err := redigo.Values(value, nil)
	if err != nil {
		return nil, err
	}
	if len(ranges) > slotCount {
		return nil, fmt.Errorf("%d ranges of %d slots", len(ranges), slotCount)
	}
	slots := make([]string, slotCount)
	for _, one := range ranges {
		parts, err := redigo.Values(one, nil)
		if err != nil || len(parts) < 3 {
			return nil, errors.New("a range without a server")
		}
		first, err1 := redigo.Int(parts[0], nil)
		last, err2 := redigo.Int(parts[1], nil)
		master, err3 := redigo.Values(parts[2], nil)
		if err1 != nil || err2 != nil || err3 != nil || len(master) < 2 || first < 0 || last >= slotCount {
			return nil, errors.New("a range that is none")
		}
		host, _ := redigo.String(master[0], nil)
		port, err := redigo.Int(master[1], nil)
		if err != nil {
			return nil, err
		}
		addr := address(host, strconv.Itoa(port), from)
		for slot := first; slot <= last; slot++ {
			slots[slot] = addr
		}
	}
	return slots, nil
}

// address is one that a server named; without a host, which it does not always know, the host is its own.
func address(host, port, from string) string {
	if host == "" || host == "?" {
		host, _, _ = net.SplitHostPort(from)
	}
	return net.JoinHostPort(host, port)
}

func (c *client) doCluster(ctx context.Context, again bool, commands []command) ([]reply, error) {
	commands = slices.Clone(commands)
	replies := make([]reply, len(commands))
	left := make([]int, len(commands))
	for i := range left {
		left[i] = i
	}
	for moves := 0; len(left) > 0 && moves <= mostMoves; moves++ {
		servers, err := c.byServer(ctx, commands, left)
		if err != nil {
			return nil, err
		}
		var wg sync.WaitGroup
		for addr, of := range servers {
			wg.Go(func() { c.doSome(ctx, addr, again, commands, of, replies) })
		}
		wg.Wait()
		left = c.follow(servers, commands, replies)
	}
	return replies, nil
}

// byServer tells for each server which of the commands, by their numbers, go there.
func (c *client) byServer(ctx context.Context, commands []command, of []int) (map[string][]int, error) {
	c.mu.Lock()
	slots := slices.Clone(c.slots)
	c.mu.Unlock()
	if slots == nil {
		var err error
		if slots, err = c.findSlots(ctx); err != nil {
			return nil, err
		}
	}
	servers := map[string][]int{}
	for _, i := range of {
		addr := commands[i].to
		if addr == "" {
			slot := slotOf(commands[i].key)
			if addr = slots[slot]; addr == "" {
				return nil, noServer(slot)
			}
		}
		servers[addr] = append(servers[addr], i)
	}
	return servers, nil
}

func (c *client) doSome(ctx context.Context, addr string, again bool, commands []command, of []int, replies []reply) {
	some := make([]command, len(of))
	for i, j := range of {
		some[i] = commands[j]
	}
	answers, err := c.at(ctx, addr, again, some)
	for i, j := range of {
		if replies[j] = (reply{err: err}); err == nil {
			replies[j] = answers[i]
		}
	}
}

// follow returns the numbers of the commands that have to go elsewhere, and notes where.
func (c *client) follow(servers map[string][]int, commands []command, replies []reply) (left []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for from, of := range servers {
		for _, i := range of {
			how, to := redirection(replies[i].err, from)
			if how == "" {
				continue
			}
			left = append(left, i)
			commands[i].to = ""
			if how == "ASK" { // this time only
				commands[i].to = to
			} else if c.slots != nil {
				c.slots[slotOf(commands[i].key)] = to
			}
		}
	}
	return left
}

// redirection reads an error MOVED or ASK: "MOVED 3999 10.0.0.1:6379". how is "" if it is neither.
func redirection(err error, from string) (how, to string) {
	if err == nil || !isAnswer(err) {
		return "", ""
	}
	words := strings.Fields(err.Error())
	if len(words) != 3 || words[0] != "MOVED" && words[0] != "ASK" {
		return "", ""
	}
	colon := strings.LastIndexByte(words[2], ':') // a host of IPv6 has no brackets
	if colon < 0 {
		return "", ""
	}
	return words[0], address(words[2][:colon], words[2][colon+1:], from)
}

// slotOf is the slot of a key: CRC-16 (XMODEM) of the key, or of what stands in its first braces, so that keys can be kept together.
func slotOf(key string) int {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(rest, "}"); ok && tag != "" {
			key = tag
		}
	}
	crc := uint16(0)
	for _, b := range []byte(key) {
		crc ^= uint16(b) << 8
		for range 8 {
			carry := crc >> 15
			crc = crc<<1 ^ carry*0x1021
		}
	}
	return int(crc % slotCount)
}
