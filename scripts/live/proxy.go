package live

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// delayed listens on 127.0.0.1, passes each connection on to the target and delivers every byte the given time after it came,
// each way: a long wire, of any bandwidth. A connection's first bytes wait one way and back longer if they came with the
// connection, as they would for the handshake, which the kernel answers here at once. With faults it goes by whole requests and
// answers, and spoils them as they say. It ends with ctx.
func delayed(ctx context.Context, target string, each *atomic.Int64, broker int32, faults *Faults) (addr string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				delay := time.Duration(each.Load())
				opened := time.Now().Add(2 * delay)
				server, err := net.Dial("tcp", target)
				if err != nil {
					client.Close()
					return
				}
				hangUp := func() { client.Close(); server.Close() }
				defer hangUp()
				defer context.AfterFunc(ctx, hangUp)()
				requests, answers := bytesOf(client), bytesOf(server)
				if faults != nil {
					if client, err = faults.greet(broker, client); err != nil {
						return
					}
					l := &link{broker: broker, faults: faults, client: client, server: server, waiting: map[int32]Harm{}}
					requests, answers = l.request, l.answer
				}
				back := make(chan struct{})
				go func() { defer close(back); carry(client, answers, time.Time{}, delay) }()
				carry(server, requests, opened, delay)
				<-back
			}()
		}
	}()
	return l.Addr().String(), nil
}

// bytesOf reads what comes, as it comes.
func bytesOf(from io.Reader) func() ([]byte, error) {
	return func() ([]byte, error) {
		b := make([]byte, 64<<10)
		n, err := from.Read(b)
		return b[:n], err
	}
}

// carry writes to a connection what next gives until it ends, then closes the connection's writing side; after errCut all of it.
func carry(to net.Conn, next func() ([]byte, error), opened time.Time, delay time.Duration) {
	type chunk struct {
		due  time.Time
		data []byte
	}
	wire := make(chan chunk, 1024)
	var last error // once wire is closed
	go func() {
		defer close(wire)
		for {
			b, err := next()
			if len(b) > 0 {
				due := time.Now()
				if due.Before(opened) {
					due = opened
				}
				wire <- chunk{due.Add(delay), b}
			}
			if err != nil {
				last = err
				return
			}
		}
	}()
	var failed error
	for c := range wire {
		if failed == nil {
			time.Sleep(time.Until(c.due))
			_, failed = to.Write(c.data)
		}
	}
	if errors.Is(last, errCut) {
		to.Close()
	} else if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // gone already: all the same
	}
}
