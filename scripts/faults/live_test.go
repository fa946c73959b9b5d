//go:build live

package main

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// TestShort tries the sharpest faults; with GTOFFSET_SOAK set a soak of clamps follows.
func TestShort(t *testing.T) {
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	t.Chdir(root)
	l, err := open(ctx, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	for _, f := range sharpest() {
		tryAll(t, l, f)
	}
	if os.Getenv("GTOFFSET_SOAK") != "" {
		soakAll(t, l)
	}
}
