package zookeeper

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"gtoffset/offsetfile"
)

const (
	sessionTimeout = 10 * time.Second // asked for; the server may give another
	mostHandshake  = 2 * time.Second  // for one server, while there are others to try
	mostAnswer     = 64 << 20         // bytes of one answer: the names of half a million groups
)

// session is one connection to one server. The library below knows no context, goes on for ever behind our back, and holds a request
// back until it is connected again; so here one connection is one session, which is given up as soon as anything about it is in doubt.
type session struct {
	conn *zk.Conn
	line *line
	log  *slog.Logger // nil for none

	up   chan struct{} // closed when the server has taken us in
	over chan struct{} // closed when the connection has ended, or is given up

	upOnce, overOnce sync.Once
}

// connect tries the servers one after the other, in an order of its own, until one takes us in.
func connect(ctx context.Context, servers []string, user, password string, log *slog.Logger) (*session, error) {
	s := &session{log: log, up: make(chan struct{}), over: make(chan struct{})}
	s.line = &line{ctx: ctx, servers: shuffled(servers), spent: make(chan struct{})}
	conn, _, err := zk.Connect(servers, sessionTimeout,
		zk.WithHostProvider(s.line), zk.WithDialer(s.line.dial), zk.WithEventCallback(s.event),
		zk.WithLogger(talk{log}), zk.WithLogInfo(false), zk.WithMaxBufferSize(mostAnswer))
	if err != nil {
		return nil, err
	}
	s.conn = conn
	go func() {
		<-s.over
		s.line.hangUp()
		conn.Close() // ends what still waits in it; by itself the library would connect again
	}()
	select {
	case <-s.up:
	case <-s.line.spent:
		s.end()
		return nil, s.line.failure()
	case <-ctx.Done():
		s.end()
		return nil, s.line.unreached(ctx.Err())
	}
	if user == "" {
		return s, nil
	}
	_, err = do(ctx, s, "auth", user, func(c *zk.Conn) (struct{}, error) {
		return struct{}{}, c.AddAuth("digest", []byte(user+":"+password))
	})
	if err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

func shuffled(servers []string) []string {
	all := append([]string(nil), servers...)
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// event is called by the library when the state of the connection changes.
func (s *session) event(e zk.Event) {
	switch e.State {
	case zk.StateHasSession:
		s.line.settled()
		s.upOnce.Do(func() { close(s.up) })
	case zk.StateDisconnected, zk.StateExpired:
		select {
		case <-s.up:
			s.end()
		default: // the next server may do
		}
	}
}

// end gives the session up, without a word to the server, and so every request that still waits in it.
func (s *session) end() { s.overOnce.Do(func() { close(s.over) }) }

// ended reports whether the session is of no more use.
func (s *session) ended() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// close ends the session properly, so that the server forgets it at once.
func (s *session) close() {
	if !s.ended() {
		s.conn.Close() // waits for a second at most
	}
	s.end()
}

// do makes one request, as the session does, and returns its value, which of an error may be there, too.
func do[T any](ctx context.Context, s *session, what, of string, request func(*zk.Conn) (T, error)) (value T, err error) {
	held := new(T) // a request that was given up may come to it later
	answered, err := s.do(ctx, what, of, func() (err error) { *held, err = request(s.conn); return err })
	if answered {
		value = *held
	}
	return value, err
}

// do makes one request; what and of are for the log. When ctx ends first the session is given up, which ends the request: whether it was
// done is then not known, nor is it if it was not answered for another reason.
func (s *session) do(ctx context.Context, what, of string, request func() error) (answered bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if s.log != nil {
		began := time.Now()
		defer func() {
			s.log.Debug("zookeeper", "request", what, "of", of, "server", s.conn.Server(), "took", time.Since(began), "error", err)
		}()
	}
	answers := make(chan error, 1)
	go func() { answers <- request() }()
	select {
	case err := <-answers:
		if away(err) {
			return false, &offsetfile.AwayError{Err: s.line.named(err)}
		}
		return true, err
	case <-s.over:
		return false, &offsetfile.AwayError{Err: s.line.named(zk.ErrConnectionClosed)}
	case <-ctx.Done():
		s.end()
		return false, ctx.Err()
	}
}

// away reports whether an error of the library says that there was no answer, rather than what the answer was.
func away(err error) bool {
	for _, e := range []error{zk.ErrConnectionClosed, zk.ErrNoServer, zk.ErrClosing, zk.ErrSessionExpired, zk.ErrSessionMoved} {
		if errors.Is(err, e) {
			return true
		}
	}
	var network net.Error
	return errors.As(err, &network)
}

// line is how the library gets at its connection: each server is tried once, within a time of its own. It is the library's
// zk.HostProvider and zk.Dialer, so that no look-up of a name and no silent server can hold us.
type line struct {
	ctx     context.Context // of the connecting; once settled it counts no more
	servers []string
	spent   chan struct{} // closed when all have been tried

	mu   sync.Mutex
	next int
	over bool // no more is dialled
	hung bool // hung up
	addr string
	conn *wire
	err  error // why the last server did not do
}

func (l *line) Init([]string) error { return nil }
func (l *line) Len() int            { return len(l.servers) }
func (l *line) Connected()          {}

// Next returns the next server. After the last one it says that a round is over: the library then waits, and the session is given up.
func (l *line) Next() (server string, roundOver bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == len(l.servers) {
		if !l.over {
			l.over = true
			close(l.spent)
		}
		return l.addr, true
	}
	l.addr = l.servers[l.next]
	l.next++
	return l.addr, false
}

// dial opens the connection to one server. The library's own limit does not count.
func (l *line) dial(network, addr string, _ time.Duration) (net.Conn, error) {
	l.mu.Lock()
	left, over := len(l.servers)-l.next, l.over
	l.mu.Unlock()
	if over {
		return nil, zk.ErrClosing
	}
	deadline, limited := l.ctx.Deadline()
	if left > 0 {
		most := mostHandshake
		if limited {
			most = min(most, time.Until(deadline)/time.Duration(left+1))
		}
		deadline, limited = time.Now().Add(most), true
	}
	dialer := net.Dialer{Deadline: deadline}
	conn, err := dialer.DialContext(l.ctx, network, addr)
	if err != nil {
		l.failed(err)
		return nil, err
	}
	w := &wire{Conn: conn, line: l}
	if limited {
		w.handshake = deadline
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hung {
		conn.Close()
		return nil, zk.ErrClosing
	}
	l.conn = w
	return w, nil
}

// settled says that a server has taken us in: no other is tried any more.
func (l *line) settled() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = len(l.servers)
	l.conn.settle()
}

func (l *line) hangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next, l.hung = len(l.servers), true
	if l.conn != nil {
		l.conn.Close()
	}
}

func (l *line) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

// named says which server an error is about.
func (l *line) named(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Errorf("%s: %w", l.addr, err)
}

// failure is why no server took us in.
func (l *line) failure() error {
	l.mu.Lock()
	err := l.err
	l.mu.Unlock()
	if err == nil {
		err = zk.ErrNoServer
	}
	return &offsetfile.AwayError{Err: l.unreached(err), Final: errors.Is(err, errOther)}
}

// unreached makes an error one of calling, so that it is known that no request was sent.
func (l *line) unreached(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return err
	}
	return &net.OpError{Op: "dial", Net: "tcp", Err: l.named(err)}
}

// errOther says that whoever answers does not speak ZooKeeper's protocol.
var errOther = errors.New("what answers there is no ZooKeeper (the client port is 2181 as a rule)")

// wire is the connection to a server. Until the server has taken us in, its answer is held to the form that it must have, since the
// library makes room for as many bytes as the other end says; and it ends in time.
type wire struct {
	net.Conn
	line *line

	mu        sync.Mutex
	handshake time.Time // when the server must have taken us in; zero: no limit, or it has
	head      []byte    // the first four bytes that came: how long the first answer is
}

const mostFirstAnswer = 1024 // it has 41 bytes

func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if w.strange(b[:n]) {
		n, err = 0, errOther
	}
	if err != nil {
		w.line.failed(err)
	}
	return n, err
}

// strange reports whether the first answer is not as long as ZooKeeper's.
func (w *wire) strange(b []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if missing := 4 - len(w.head); missing > 0 {
		w.head = append(w.head, b[:min(len(b), missing)]...)
	}
	return len(w.head) == 4 && binary.BigEndian.Uint32(w.head) > mostFirstAnswer
}

// SetReadDeadline keeps the limit of the handshake.
func (w *wire) SetReadDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.handshake.IsZero() && (t.IsZero() || t.After(w.handshake)) {
		t = w.handshake
	}
	return w.Conn.SetReadDeadline(t)
}

func (w *wire) settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handshake = time.Time{}
}

// talk passes what the library says on to the log, which is for -v.
type talk struct{ log *slog.Logger }

func (t talk) Printf(format string, args ...any) {
	if t.log != nil {
		t.log.Debug("zookeeper: " + fmt.Sprintf(format, args...))
	}
}
