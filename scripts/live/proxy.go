package live

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

// delayed listens on 127.0.0.1, passes each connection on to the target and delivers every byte the given time after it came,
// each way: a long wire, of any bandwidth. A connection's first bytes wait one way and back longer if they came with the
// connection, as they would for the handshake, which the kernel answers here at once. It ends with ctx.
func delayed(ctx context.Context, target string, each *atomic.Int64) (addr string, err error) {
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
				back := make(chan struct{})
				go func() { defer close(back); carry(client, server, time.Time{}, delay) }()
				carry(server, client, opened, delay)
				<-back
			}()
		}
	}()
	return l.Addr().String(), nil
}

// carry copies from one connection to the other until the first ends, then closes the second's writing side.
func carry(to, from net.Conn, opened time.Time, delay time.Duration) {
	type chunk struct {
		due  time.Time
		data []byte
	}
	wire := make(chan chunk, 1024)
	go func() {
		defer close(wire)
		for {
			b := make([]byte, 64<<10)
			n, err := from.Read(b)
			if n > 0 {
				due := time.Now()
				if due.Before(opened) {
					due = opened
				}
				wire <- chunk{due.Add(delay), b[:n]}
			}
			if err != nil {
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
	_ = to.(*net.TCPConn).CloseWrite() // gone already: all the same
}
