package cmd_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/cmd"
)

// awaited is a stderr on which something is waited for.
type awaited struct {
	want string
	seen chan struct{}

	mu   sync.Mutex
	text strings.Builder
}

func await(want string) *awaited { return &awaited{want: want, seen: make(chan struct{})} }

func (a *awaited) Write(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := strings.Contains(a.text.String(), a.want)
	a.text.Write(b)
	if !before && strings.Contains(a.text.String(), a.want) {
		close(a.seen)
	}
	return len(b), nil
}

// arrives waits until it is there, for a minute at most.
func (a *awaited) arrives() {
	select {
	case <-a.seen:
	case <-time.After(time.Minute):
	}
}

// ten thousand partitions, as kafka-csv.
func tenThousand() string {
	var doc strings.Builder
	for p := range 10_000 {
		fmt.Fprintf(&doc, "orders,%d,0\n", p)
	}
	return doc.String()
}

// An import of many partitions says what it is at; on a terminal nothing of it stays.
func TestImportShowsProgress(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900})
	w.tty = true
	talk := await("looking at 10,000 partitions")
	w.b.Rewrite(kmsg.ListOffsets.Int16(), func(int32, kmsg.Response) bool { talk.arrives(); return true }) // the broker takes its time
	file := w.document(tenThousand())
	same(t, "exit code", cmd.Main(t.Context(), w.env(io.Discard, talk), []string{"import", file, "-g", "billing", "--committed", "--create", "--dry-run"}), 4)
	if said := talk.text.String(); !strings.Contains(said, talk.want) || !strings.Contains(said, "\r\x1b[K") {
		t.Errorf("stderr = %q: want what it is at, and that it is taken away", said)
	}
}

// So does the reading of a long document that comes slowly.
func TestReadingShowsProgress(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900})
	w.tty = true
	talk := await("reading -: 2.")
	slow, document := io.Pipe()
	go func() {
		for range 20 { // each line again is the same line
			io.WriteString(document, tenThousand())
		}
		talk.arrives()
		document.Close()
	}()
	w.in = slow
	cmd.Main(t.Context(), w.env(io.Discard, talk), []string{"import", "-", "-g", "billing", "--committed", "--create", "--dry-run"})
	if said := talk.text.String(); !strings.Contains(said, talk.want) {
		t.Errorf("stderr = %q: want how much was read", said)
	}
}

// interrupting is a stdout on which the first line is an interrupt.
type interrupting struct {
	cancel func()
	once   sync.Once
	after  int
}

func (i *interrupting) Write(b []byte) (int, error) {
	first := false
	i.once.Do(func() { first = true })
	if first {
		i.cancel()
	} else {
		i.after++
	}
	return len(b), nil
}

// A plan that is shown is no reason to go on after an interrupt.
func TestInterruptedPlan(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900})
	soft, cancel := context.WithCancel(t.Context())
	out, talk := &interrupting{cancel: cancel}, &strings.Builder{}
	same(t, "exit code", cmd.Main(soft, w.env(out, talk), []string{"import", w.document(tenThousand()), "-g", "billing", "--committed", "--create", "--execute"}), 130)
	if !strings.HasSuffix(talk.String(), "error: interrupted; nothing was written\n") {
		t.Errorf("stderr = %q", talk.String())
	}
	same(t, "lines after the interrupt", out.after, 0)
	same(t, "writes", w.writes(), 0)
}

// One who interrupts while a document comes is told the same.
func TestInterruptedReading(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900})
	soft, interrupt := context.WithCancel(t.Context())
	document, sender := io.Pipe()
	defer sender.Close()
	w.soft, w.in = soft, document
	go func() {
		io.WriteString(sender, "orders,0,1\n")
		interrupt()
	}()
	w.run("import", "-", "-g", "billing", "--committed", "--create", "--execute").exits(130).says("error: interrupted; nothing was written\n")
}
