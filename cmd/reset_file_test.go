package cmd_test

import (
	"os"
	"path/filepath"
	"testing"
)

// --from-file is an import that is held to the groups and topics that were named.
func TestResetFromFile(t *testing.T) {
	w := start(t).topic("orders", [2]int64{0, 900}, [2]int64{0, 900}).topic("other", [2]int64{0, 50}).
		commit("billing", "orders", 100, 200).commit("billing", "other", 7).commit("second", "orders", 300)
	file := filepath.Join(t.TempDir(), "offsets.csv")
	must(t, os.WriteFile(file, []byte("orders,0,700\norders,1,950\nother,0,9\n"), 0o600))
	reset := []string{"reset", "-g", "billing", "--from-file", file}
	w.run(append(reset, "--execute")...).exits(4).says("orders 1", "line 2", "950 is high", "--clamp")
	w.run(append(reset, "-t", "orders", "--clamp", "--execute")...).exits(0).prints("2 of 2 verified")
	same(t, "orders", w.committed("billing", "orders"), "0=700 1=900")
	same(t, "other", w.committed("billing", "other"), "0=7")
	four := filepath.Join(t.TempDir(), "four.csv")
	must(t, os.WriteFile(four, []byte("billing,orders,0,1\nsecond,orders,0,2\n"), 0o600))
	w.run("reset", "-g", "second", "-g", "billing", "--from-file", four, "--execute").exits(0).prints("2 of 2 verified")
	same(t, "both groups", w.committed("billing", "orders")+" "+w.committed("second", "orders"), "0=1 1=900 0=2")
	w.run("reset", "-g", "nobody", "-g", "billing", "--from-file", four, "--execute").exits(1).says(`nothing of group "nobody"`)
	w.run("reset", "-g", "billing", "--from-file", filepath.Join(t.TempDir(), "none"), "--execute").exits(1)
}
