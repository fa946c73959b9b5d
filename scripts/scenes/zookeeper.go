package scenes

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path"
	"slices"
	"strings"
	"sync"
)

// reader is as much of a ZooKeeper as it takes to read from one: a tree that nobody changes. What the program makes of a real one
// scripts/live shows.
type reader struct {
	ln    net.Listener
	nodes map[string]string // path to data
	mtime int64             // of all nodes, in milliseconds

	mu    sync.Mutex
	conns []net.Conn
	wg    sync.WaitGroup
}

// startZooKeeper serves nodes, and all those above them, on a free port.
func startZooKeeper(mtime int64, nodes map[string]string) (*reader, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	z := &reader{ln: ln, nodes: map[string]string{"/": ""}, mtime: mtime}
	for p, data := range nodes {
		z.nodes[p] = data
		for up := path.Dir(p); up != "/"; up = path.Dir(up) {
			z.nodes[up] = ""
		}
	}
	z.wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			z.mu.Lock()
			z.conns = append(z.conns, c)
			z.mu.Unlock()
			z.wg.Go(func() { _ = z.serve(c); c.Close() })
		}
	})
	return z, nil
}

func (z *reader) close() {
	z.ln.Close()
	z.mu.Lock()
	for _, c := range z.conns {
		c.Close()
	}
	z.mu.Unlock()
	z.wg.Wait()
}

// The requests that are answered, and the error for a node that is not there.
const (
	opExists      = 3
	opGetData     = 4
	opGetACL      = 6
	opSync        = 9
	opPing        = 11
	opGetChildren = 12
	opClose       = -11

	errNoNode        = -101
	errUnimplemented = -6
)

// serve answers the frames of one connection until it ends. The first is about the session, and has no header.
func (z *reader) serve(c net.Conn) error {
	if _, err := frame(c); err != nil {
		return err
	}
	session := binary.BigEndian.AppendUint32(nil, 0)      // protocol
	session = binary.BigEndian.AppendUint32(session, 1e4) // timeout
	session = binary.BigEndian.AppendUint64(session, 1)   // its number
	session = appendText(session, strings.Repeat("\x00", 16))
	if err := send(c, session); err != nil {
		return err
	}
	for {
		q, err := frame(c)
		if err != nil {
			return err
		}
		if len(q) < 8 {
			return io.ErrUnexpectedEOF
		}
		op := int32(binary.BigEndian.Uint32(q[4:]))
		body, code := z.answer(op, q[8:])
		a := append([]byte{}, q[:4]...)
		a = binary.BigEndian.AppendUint64(a, 1)
		a = binary.BigEndian.AppendUint32(a, uint32(code))
		if err := send(c, append(a, body...)); err != nil || op == opClose {
			return err
		}
	}
}

func (z *reader) answer(op int32, q []byte) (body []byte, code int32) {
	switch op {
	case opPing, opClose:
		return nil, 0
	case opExists, opGetData, opGetACL, opGetChildren, opSync:
	default:
		return nil, errUnimplemented
	}
	if len(q) < 4 || len(q) < 4+int(binary.BigEndian.Uint32(q)) {
		return nil, errUnimplemented
	}
	name := string(q[4 : 4+binary.BigEndian.Uint32(q)])
	if op == opSync { // it asks for nothing but an answer
		return appendText(nil, name), 0
	}
	data, ok := z.nodes[name]
	if !ok {
		return nil, errNoNode
	}
	below := z.below(name)
	switch op {
	case opGetData:
		body = appendText(nil, data)
	case opGetACL:
		body = binary.BigEndian.AppendUint32(nil, 1)
		body = binary.BigEndian.AppendUint32(body, 31) // all rights
		body = appendText(appendText(body, "world"), "anyone")
	case opGetChildren:
		body = binary.BigEndian.AppendUint32(nil, uint32(len(below)))
		for _, n := range below {
			body = appendText(body, n)
		}
	}
	return z.appendStat(body, len(data), len(below)), 0
}

// below lists the names of a node's children.
func (z *reader) below(name string) []string {
	var all []string
	for p := range z.nodes {
		if p != "/" && path.Dir(p) == name {
			all = append(all, path.Base(p))
		}
	}
	slices.Sort(all)
	return all
}

func (z *reader) appendStat(b []byte, data, children int) []byte {
	for _, n := range []int64{1, 1, z.mtime, z.mtime} { // made and changed by which transaction, and when
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	b = append(b, make([]byte, 12)...) // versions of data, children, rights
	b = append(b, make([]byte, 8)...)  // the session that it ends with
	b = binary.BigEndian.AppendUint32(b, uint32(data))
	b = binary.BigEndian.AppendUint32(b, uint32(children))
	return binary.BigEndian.AppendUint64(b, 1)
}

func appendText(b []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
}

func frame(c net.Conn) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > 1<<20 {
		return nil, errors.New("a frame of more than a megabyte")
	}
	b := make([]byte, n)
	_, err := io.ReadFull(c, b)
	return b, err
}

func send(c net.Conn, b []byte) error {
	_, err := c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
	return err
}
