//go:build live

package live_test

import (
	"testing"

	"gtoffset/scripts/live"
)

func TestHBaseCommands(t *testing.T) {
	h, err := live.StartHBase(t.Context())
	must(t, err)
	defer h.Stop()
	must(t, h.CreateTable(t.Context(), "jobs", "offsets"))
	everyCommand(t, "hbase://"+h.Addr+"/jobs")
}
