package cmd_test

import (
	"strings"
	"testing"
)

// Where one partition would lose by --clamp and another needs it, the hint has an order in which nothing that was brought back is passed over.
func TestClampBesideReadingAgain(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{100, 1000}, [2]int64{100, 1000}, [2]int64{100, 1000}).commit("billing", "orders", 500, 500, 500).save("billing", "orders", 50, 600, 2000)
	reset := []string{"reset", "-g", "billing", "-t", "orders", "-s", w.store, "--to-stored", "--committed", "--execute"}
	r := w.run(reset...).exits(4).says("hint: add --clamp; ", "in the place of --clamp: gtoffset reset -g billing -t orders:2 ", "; --clamp then with -t orders:0-1\n")
	_, line, _ := strings.Cut(r.err, "in the place of --clamp: gtoffset ")
	line, _, _ = strings.Cut(line, ";")
	w.run(append(typed(line), "--execute")...).exits(0)
	reset[4] = "orders:0-1"
	w.run(append(reset, "--clamp")...).exits(0)
	same(t, "committed", w.committed("billing", "orders"), "0=100 1=600 2=100")
	// Where nothing else needs it, --partial is all.
	w = start(t).topic("orders", [2]int64{100, 1000}, [2]int64{100, 1000}).commit("billing", "orders", 500, 500).save("billing", "orders", 2000, 600)
	w.run("reset", "-g", "billing", "-t", "orders", "-s", w.store, "--to-stored", "--committed", "--execute").exits(4).never("--clamp then")
}
