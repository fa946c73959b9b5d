package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxFrame is the largest answer that is read. The length comes from the peer: a TLS alert or an HTTP answer, read as a
// length, is far above it.
const maxFrame = 256 << 20

// aside is how many bytes are written before reading begins. More are written while answers are read already: a broker does not
// read on while its answer waits to be taken, so that two that write at each other would stand still.
const aside = 32 << 10

// batch is a protocol.RawExchanger: kafka-go hands it the connection, and kmsg does the coding.
type batch struct {
	clientID string
	firstID  int32
	requests []kmsg.Request
	answers  []kmsg.Response
	memory   []byte             // where the bytes of the first answer go, if they fit
	expected int                // bytes that the first answer may have without surprise
	progress func()             // called as the answer comes in
	answered func(kmsg.Request) // called after each answer
}

func (b *batch) ApiKey() protocol.ApiKey               { return protocol.ApiKey(b.requests[0].Key()) }
func (*batch) Required(map[protocol.ApiKey]int16) bool { return true }
func (b *batch) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	f := kmsg.NewRequestFormatter(kmsg.FormatterClientID(b.clientID))
	var out []byte
	for i, q := range b.requests {
		frame := f.AppendRequest(nil, q, b.firstID+int32(i)) // writes its length at [0:4]: one buffer each
		if out == nil {
			out = frame
			continue
		}
		out = append(out, frame...)
	}
	first := min(len(out), aside)
	_, writeErr := rw.Write(out[:first])
	written := make(chan error, 1)
	if rest := out[first:]; writeErr == nil && len(rest) > 0 {
		go func() {
			_, err := rw.Write(rest)
			written <- err
		}()
		defer func() { // nobody else may write before this is over
			if len(b.answers) < len(b.requests) {
				if c, ok := rw.(io.Closer); ok {
					c.Close()
				}
			}
			<-written
		}()
	}
	for i, q := range b.requests {
		// Read even if the write failed: a peer that refused us (a TLS alert) said why before it hung up.
		var memory []byte
		expected := 0
		if i == 0 {
			memory, expected = b.memory, b.expected
		}
		r, body, err := readAnswer(rw, q, b.firstID+int32(i), memory, expected, b.progress)
		if i == 0 {
			b.memory = body
		}
		if err != nil {
			if writeErr != nil && !isAlert(err) {
				return nil, writeErr
			}
			return nil, err
		}
		b.answers = append(b.answers, r)
		b.answered(q)
	}
	return b, nil
}

// readAnswer reads one answer. Its bytes go into memory, or into more if that is too small, and are returned: the answer may
// refer to them.
func readAnswer(r io.Reader, q kmsg.Request, id int32, memory []byte, expected int, progress func()) (a kmsg.Response, bytes []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:4]); err != nil {
		return nil, memory, err
	}
	size := binary.BigEndian.Uint32(head[:4])
	if size < 4 || size > maxFrame {
		return nil, memory, FrameError(head)
	}
	if _, err := io.ReadFull(r, head[4:]); err != nil {
		return nil, memory, noEOF(err)
	}
	if got := int32(binary.BigEndian.Uint32(head[4:])); got != id {
		return nil, memory, fmt.Errorf("answer %d to request %d", got, id)
	}
	progress()
	bytes, err = readBody(r, int(size-4), memory, expected, progress)
	if err != nil {
		return nil, bytes, err
	}
	a = q.ResponseKind()
	body := bytes
	if a.IsFlexible() && a.Key() != ApiVersions {
		if body, err = skipTags(body); err != nil {
			return nil, bytes, fmt.Errorf("%s v%d: %w", kmsg.NameForKey(a.Key()), a.GetVersion(), err)
		}
	}
	if err := a.ReadFrom(body); err != nil {
		return nil, bytes, fmt.Errorf("%s v%d: %w", kmsg.NameForKey(a.Key()), a.GetVersion(), err)
	}
	return a, bytes, nil
}

// readBody takes memory as bytes come, not as the length promises, unless that many were expected.
func readBody(r io.Reader, size int, memory []byte, expected int, progress func()) ([]byte, error) {
	const step = 1 << 20
	body := memory[:0]
	if size > cap(body) && size <= expected {
		body = make([]byte, 0, min(size+size/8, expected)) // the next one may be a little larger
	}
	for len(body) < size {
		body = slices.Grow(body, min(size-len(body), max(len(body), step)))
		n, err := io.ReadFull(r, body[len(body):min(size, cap(body), len(body)+step)])
		body = body[:len(body)+n]
		if err != nil {
			return nil, noEOF(err)
		}
		progress()
	}
	return body, nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// skipTags drops the tagged fields of a response header.
func skipTags(b []byte) ([]byte, error) {
	next := func() (uint64, error) {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return 0, errors.New("response header is cut short")
		}
		b = b[n:]
		return v, nil
	}
	n, err := next()
	if err != nil {
		return nil, err
	}
	for ; n > 0; n-- {
		if _, err := next(); err != nil { // the tag's number
			return nil, err
		}
		size, err := next()
		if err != nil {
			return nil, err
		}
		if size > uint64(len(b)) {
			return nil, errors.New("response header is cut short")
		}
		b = b[size:]
	}
	return b, nil
}

// exchange sends the requests back to back and reads the answers in order: one round trip. Answers that came before an error
// are returned with it. Without answers for limit the exchange is over; limit 0 keeps to the context's deadline.
func (c *conn) exchange(ctx context.Context, limit time.Duration, requests ...kmsg.Request) ([]kmsg.Response, error) {
	answers, _, err := c.exchangeInto(ctx, limit, nil, 0, requests...)
	return answers, err
}

// exchangeInto is exchange with memory for the first answer, which may refer to it, and with the size that it may have without
// surprise. It returns the answer's bytes, which lie in the memory given if they fit.
func (c *conn) exchangeInto(ctx context.Context, limit time.Duration, memory []byte, expected int, requests ...kmsg.Request) ([]kmsg.Response, []byte, error) {
	end, ok := ctx.Deadline()
	if !ok && limit == 0 {
		panic("wire: exchange without a deadline") // dial and Do set one
	}
	renew := func() {
		at := end
		if limit > 0 {
			if l := time.Now().Add(limit); !ok || l.Before(end) {
				at = l
			}
		}
		c.pc.SetDeadline(at)
		if ctx.Err() != nil {
			c.pc.SetDeadline(time.Unix(1, 0))
		}
	}
	renew()
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { c.pc.SetDeadline(time.Unix(1, 0)); close(cut) })
	defer func() {
		if !stop() {
			<-cut // or it would cut the next exchange
		}
	}()
	start := time.Now()
	b := &batch{clientID: c.cfg.ClientID, firstID: c.lastID + 1, requests: requests, memory: memory, expected: expected}
	c.waited = 0
	b.progress = func() {
		if c.waited == 0 {
			c.waited = time.Since(start)
		}
		renew()
	}
	b.answered = func(q kmsg.Request) {
		c.worked = true
		if c.cfg.Log != nil {
			c.cfg.Log.Info("request", "api", kmsg.NameForKey(q.Key()), "version", q.GetVersion(), "broker", c.broker,
				"address", c.addr, "took", time.Since(start).Round(10*time.Microsecond))
		}
	}
	c.lastID += int32(len(requests))
	if _, err := c.pc.RoundTrip(b); err != nil {
		if ok && !time.Now().Before(end) {
			<-ctx.Done() // its timer may come a moment later than the connection's
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		if c.cfg.Log != nil {
			q := requests[min(len(b.answers), len(requests)-1)]
			c.cfg.Log.LogAttrs(ctx, slog.LevelInfo, "request failed", slog.String("api", kmsg.NameForKey(q.Key())),
				slog.Int("version", int(q.GetVersion())), slog.Int("broker", int(c.broker)), slog.String("address", c.addr),
				slog.Duration("took", time.Since(start).Round(10*time.Microsecond)), slog.String("error", err.Error()))
		}
		return b.answers, b.memory, err
	}
	return b.answers, b.memory, nil
}
