package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/output"
)

// How often progress is shown: on a terminal, and as lines of a log.
const (
	barsEvery = 200 * time.Millisecond
	lineEvery = 10 * time.Second
)

// progress shows on stderr how far something is, until over is called: a line that changes on a terminal, else one every ten seconds.
// words says it, in a goroutine of its own; "" shows nothing, and neither does -q.
func (g *global) progress(words func() string) (over func()) {
	if g.quiet {
		return func() {}
	}
	talk := g.talk()
	line, every := g.progressLine(), barsEvery
	if talk.Width == 0 || !talk.Gauge {
		line, every = func(s string) { g.note("%s", s) }, lineEvery
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				g.progressLine()("")
				return
			case <-tick.C:
				if s := words(); s != "" {
					line(s)
				}
			}
		}
	}()
	return func() { close(stop); <-ended }
}

// progressLine returns a function that shows one line on a terminal, each time in place of the one before; "" takes it away. A dumb
// terminal knows no way back, and is shown none.
func (g *global) progressLine() func(string) {
	s := g.talk()
	if s.Width == 0 || !s.Gauge || g.quiet {
		return func(string) {}
	}
	return func(line string) { output.Progress(s, line) }
}

// manyPartitions are so many that it may take a while to work on them.
const manyPartitions = 10_000

// busy shows what is done with the partitions of a scope, if they are many, until over is called.
func (g *global) busy(doing string, sc *scope) (over func()) {
	n := 0
	for _, s := range sc.selections {
		n += len(s.Partitions)
	}
	if n < manyPartitions {
		return func() {}
	}
	what := offsets.Plural(n, "partition")
	if topics := len(sc.selections); topics > 1 {
		what += " of " + offsets.Plural(topics, "topic")
	}
	return g.progress(func() string { return doing + " " + what })
}

// muchText is so many bytes that it may take a while to read them.
const muchText = 1 << 20

// counted is a reader that tells how much was read.
type counted struct {
	io.Reader
	n atomic.Int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// Stat is the reader's own, if it is a file: a size need not be read to be known.
func (c *counted) Stat() (fs.FileInfo, error) {
	if f, ok := c.Reader.(interface{ Stat() (fs.FileInfo, error) }); ok {
		return f.Stat()
	}
	return nil, errors.ErrUnsupported
}

// progress says it of a document of that name.
func (c *counted) progress(name string) string {
	n := c.n.Load()
	if n < muchText {
		return ""
	}
	return fmt.Sprintf("reading %s: %s", name, output.Bytes(n))
}

// stopped hands on what is written until there is an interrupt.
type stopped struct {
	ctx context.Context
	w   io.Writer
}

func (s stopped) Write(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.w.Write(b)
}
