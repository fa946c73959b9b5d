//go:build live

package main

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"
)

// TestShort does every experiment in its short form. Each holds what describe foretold against what happened.
func TestShort(t *testing.T) {
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := open(ctx, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	for _, e := range experiments() {
		t.Run(e.number, func(t *testing.T) {
			s, err := e.do(ctx, l, true)
			if err != nil {
				t.Fatal(err)
			}
			t.Log("\n" + e.table(s))
			for _, r := range s.Trials {
				checkShort(t, e, r)
			}
		})
	}
}

// checkShort holds a trial to what the paper says. How much commitAsync repeats depends on how busy the machine is.
func checkShort(t *testing.T, e experiment, r row) {
	t.Helper()
	sure := []string{graceful, killed, killedBetween}
	if e.number != "2" && slices.Contains(sure, r.Stop) && !e.paper(r).holds {
		t.Errorf("got %+v, the paper: %s", r, e.paper(r).text)
	}
	if e.number == "2" && r.Happened.Repeated == 0 {
		t.Errorf("got %+v, want the last batch repeated", r)
	}
}
