package cmd

import (
	"fmt"
	"io"
	"sync"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/output"
)

// watch shows progress on stderr until the function that it returns is called.
func (r *replay) watch() (stop func()) {
	talk := r.g.talk()
	every := lineEvery
	switch {
	case r.g.quiet, r.toTerminal(): // the records that are shown say themselves how far it is
		return func() {}
	case talk.Width > 0 && talk.Gauge: // not a dumb one, which knows no way back
		every = barsEvery
		r.bars = &bars{painter: output.NewPainter(talk)}
	}
	over := make(chan struct{})
	var wg sync.WaitGroup
	m := r.meters()
	m.progress(r) // the start, from which the first rate is taken
	wg.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
			}
			p := m.progress(r)
			if r.bars == nil {
				r.g.note("%s", p.Line())
				continue
			}
			r.bars.paint(p.Bars(talk))
		}
	})
	return func() {
		close(over)
		wg.Wait()
		if r.bars != nil {
			r.bars.clear()
		}
	}
}

// toTerminal reports whether records go to stdout, and that is a terminal.
func (r *replay) toTerminal() bool {
	return r.g.env.StdoutWidth > 0 && len(r.o.command) == 0 && r.o.toTopic == ""
}

// meters measure how fast it goes.
type meters struct {
	lanes          []output.Meter
	records, bytes output.Meter
}

func (r *replay) meters() *meters { return &meters{lanes: make([]output.Meter, len(r.order))} }

// progress takes a sample.
func (m *meters) progress(r *replay) output.ReplayProgress {
	now := r.g.env.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	var p output.ReplayProgress
	for i, l := range r.order {
		m.lanes[i].Add(now, l.at)
		row := output.ProgressRow{Key: l.Key, From: l.From, Until: l.Until, At: l.at, Rate: m.lanes[i].Rate()}
		if l.Follow {
			row.Until = offsets.None
		}
		p.Rows = append(p.Rows, row)
		p.Records += l.records
		p.Bytes += l.bytes
	}
	m.records.Add(now, p.Records)
	m.bytes.Add(now, p.Bytes)
	p.Rate, p.Flow = m.records.Rate(), m.bytes.Rate()
	if len(r.o.command) > 0 || r.o.toTopic != "" {
		p.Status = fmt.Sprintf("%s accepted", batches(r.batches))
		if r.o.saves() {
			p.Status = "saved " + batches(r.saved)
		}
		if r.running > 0 {
			p.Status += fmt.Sprintf(" · batch %d running", r.running)
		}
	}
	return p
}

func batches(n int64) string {
	if n == 1 {
		return "1 batch"
	}
	return offsets.Thousands(n) + " batches"
}

// bars are the lines of progress at the bottom of a terminal.
type bars struct {
	mu      sync.Mutex
	painter *output.Painter
}

func (b *bars) paint(lines []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.painter.Paint(lines) // progress that cannot be shown is no reason to stop
}

func (b *bars) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.painter.Clear()
}

// over writes to the terminal as if there were no bars: they are taken away before, and drawn again with the next tick.
func (b *bars) over(w io.Writer) io.Writer { return &overBars{b, w} }

type overBars struct {
	b *bars
	w io.Writer
}

func (o *overBars) Write(text []byte) (int, error) {
	o.b.mu.Lock()
	defer o.b.mu.Unlock()
	_ = o.b.painter.Clear()
	return o.w.Write(text)
}

// passOut and passErr are where what a command prints goes: to our own streams, and round the bars where these are on the terminal.
func (r *replay) passOut() io.Writer {
	if r.bars != nil && r.g.env.StdoutWidth > 0 {
		return r.bars.over(r.g.env.Stdout)
	}
	return direct(r.g.env.Stdout)
}

func (r *replay) passErr() io.Writer {
	if r.bars != nil {
		return r.bars.over(r.g.env.Stderr)
	}
	return r.g.env.Stderr
}
