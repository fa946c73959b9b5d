package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/output"
)

// Rates are taken over some seconds, as members commit every few seconds only; of many partitions over one look, as several would
// take memory.
const (
	watchWindow   = 10 * time.Second
	watchLooks    = 8
	watchManyRows = 20_000
	watchResize   = 200 * time.Millisecond // how soon a terminal of another size is drawn anew
)

// watchEvery takes the length of time that stands behind --watch with a blank: as the flag may do without one, it counts as an
// argument, of which describe has none. It returns what is left of the arguments.
func (o *describeOptions) watchEvery(g *global, args []string) []string {
	if len(args) != 1 {
		return args
	}
	for i, arg := range g.args[:max(len(g.args)-1, 0)] {
		if arg == "--" {
			break
		}
		if arg == "--watch" && g.args[i+1] == args[0] && o.watch.Set(args[0]) == nil {
			return nil
		}
	}
	return args
}

func (o *describeOptions) validateWatch(g *global) error {
	if o.watch == 0 {
		return nil
	}
	f := output.Format(g.format)
	switch {
	case time.Duration(o.watch) < 100*time.Millisecond:
		return usage(fmt.Sprintf("--watch %s asks too often", time.Duration(o.watch)), "--watch=2s")
	case o.limits.set():
		return usage("--watch only shows, and does not check", "leave out --check and the limits, or --watch")
	case !slices.Contains([]output.Format{"", output.Table, output.Wide, output.JSON}, f) && (f != output.Prom || o.file == ""):
		return usage(fmt.Sprintf("--watch has no -o %s", f), "-o json for a document a line, or -o prom with --output-file")
	}
	return nil
}

// watcher shows looks, one after the other.
type watcher struct {
	g      *global
	o      *describeOptions
	past   []offsets.Snapshot // earlier looks, oldest first
	shot   offsets.Snapshot   // the last that worked
	note   string             // why there is no newer one
	screen *screen            // nil: lines, or documents
	shown  bool
}

// watch looks until it is interrupted, which is its end and no failure. A first look that fails ends it; a later one is told of.
func watch(ctx context.Context, g *global, o *describeOptions) error {
	w := &watcher{g: g, o: o}
	if g.env.StdoutWidth > 0 && g.forPeople() && o.file == "" && g.env.Getenv("TERM") != "dumb" {
		w.screen = &screen{w: g.env.Stdout}
		defer w.screen.close()
	}
	for {
		began := time.Now()
		if err := w.look(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			break
		}
		if err := w.show(); err != nil {
			return err
		}
		if !w.pause(ctx, time.Duration(o.watch)-time.Since(began)) {
			break
		}
	}
	if !w.shown {
		return ctx.Err()
	}
	return w.leave()
}

// look takes one look.
func (w *watcher) look(ctx context.Context) error {
	shot, err := w.g.look(ctx, &w.o.scope, w.o.look())
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil && !w.shown:
		return err
	case err != nil:
		w.lose(err.Error())
		return nil
	case w.shown && len(shot.Groups) > 0 && !slices.ContainsFunc(shot.Groups, func(grp offsets.Group) bool { return grp.Trouble == nil }):
		w.lose(shot.Groups[0].Trouble.Reason)
		return nil
	case !w.shown:
		if err := errors.Join(w.g.unknownGroups(shot), w.g.unnamedTopics(shot, &w.o.scope)); err != nil {
			return err
		}
	}
	shot.Pace(w.past...)
	w.remember(shot)
	w.shot, w.note = shot, ""
	return nil
}

// lose leaves the last look standing, and says since when there is no other.
func (w *watcher) lose(reason string) {
	w.note = fmt.Sprintf("no new look since %s: %s", w.shot.At.UTC().Format("15:04:05 UTC"), reason)
}

// remember keeps a look for those to come.
func (w *watcher) remember(shot offsets.Snapshot) {
	keep := watchLooks
	rows := 0
	for _, grp := range shot.Groups {
		rows += len(grp.Rows)
	}
	if rows > watchManyRows {
		keep = 1
	}
	w.past = append(w.past, shot)
	for len(w.past) > keep || len(w.past) > 1 && shot.At.Sub(w.past[0].At) > watchWindow {
		w.past = w.past[1:]
	}
}

// show shows the last look.
func (w *watcher) show() error {
	w.shown = true
	if w.screen != nil {
		return w.draw()
	}
	if w.note != "" {
		w.g.note("%s", w.note)
		return nil
	}
	view := w.view(0)
	if f := output.Format(w.g.format); w.o.file != "" || f == output.JSON {
		return w.g.write(w.o.file, func(s output.Stream) error { return view.Describe.Write(s, f) })
	}
	for _, grp := range view.Snapshot.Groups {
		if _, err := fmt.Fprintln(w.g.env.Stdout, view.Line(grp)); err != nil {
			return err
		}
	}
	for _, text := range w.g.judge(w.g.soft, w.g.troubles(w.shot, &w.o.scope)).texts {
		w.g.note("%s", text)
	}
	return nil
}

func (w *watcher) view(height int) output.Watch {
	view := w.o.view(w.g, w.shot, nil)
	view.Hint = nil
	return output.Watch{Describe: view, Ordered: offsets.Order(w.o.sort) != offsets.ByTopic, Every: time.Duration(w.o.watch), Height: height, Note: w.note}
}

// draw draws the last look on the terminal as large as it is now.
func (w *watcher) draw() error {
	columns, lines := w.g.env.StdoutWidth, 24
	if w.g.env.Size != nil {
		columns, lines = w.g.env.Size()
	}
	w.screen.columns, w.screen.lines = columns, lines
	picture, err := w.picture(columns, lines-1) // the last line is the cursor's
	if err != nil {
		return err
	}
	return w.screen.draw(picture)
}

func (w *watcher) picture(columns, lines int) (string, error) {
	var b bytes.Buffer
	err := w.view(lines).Write(w.g.stream(&b, columns))
	return b.String(), err
}

// pause waits for the next look, and draws anew when the terminal has another size. It returns false when the watching is over.
func (w *watcher) pause(ctx context.Context, d time.Duration) bool {
	next := time.NewTimer(max(d, 0))
	defer next.Stop()
	var resize <-chan time.Time
	if w.screen != nil && w.g.env.Size != nil {
		t := time.NewTicker(watchResize)
		defer t.Stop()
		resize = t.C
	}
	for {
		select {
		case <-ctx.Done():
			return false
		case <-next.C:
			return true
		case <-resize:
			if columns, lines := w.g.env.Size(); (columns != w.screen.columns || lines != w.screen.lines) && w.draw() != nil {
				return false
			}
		}
	}
}

// leave gives the terminal back, with the last picture on it.
func (w *watcher) leave() error {
	if w.screen == nil {
		return nil
	}
	w.screen.close()
	picture, err := w.picture(w.screen.columns, 0)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w.g.env.Stdout, picture)
	return err
}

// screen is a terminal that is drawn on in place: each picture goes over the one before in a single write, without being cleared in
// between, and lines that are too long are cut by the terminal. What stood there before comes back at the end.
type screen struct {
	w              io.Writer
	columns, lines int
	open           bool
}

const (
	screenOpen  = "\x1b[?1049h\x1b[?25l\x1b[?7l" // another screen, no cursor, no line breaks of its own
	screenClose = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	frameBegin  = "\x1b[?2026h\x1b[H\x1b[K" // what follows is shown at once, where the terminal can
	frameEnd    = "\x1b[J\x1b[?2026l"       // nothing below
	lineEnd     = "\r\n\x1b[K"              // each line is cleared before it is written: behind a full one the last column would go
)

func (s *screen) draw(picture string) error {
	frame := frameBegin + strings.ReplaceAll(picture, "\n", lineEnd) + frameEnd
	if !s.open {
		s.open, frame = true, screenOpen+frame
	}
	_, err := io.WriteString(s.w, frame)
	return err
}

func (s *screen) close() {
	if s.open {
		s.open = false
		_, _ = io.WriteString(s.w, screenClose) // the last thing that is said to this terminal
	}
}
