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
	r := w.run(reset...).exits(4).says("hint: add --clamp; ", "in the place of --clamp: gtoffset reset -g billing -t orders:2 ", "; the rest then with --clamp and only -t orders:0-1\n")
	_, line, _ := strings.Cut(r.err, "in the place of --clamp: gtoffset ")
	line, _, _ = strings.Cut(line, ";")
	w.run(append(typed(line), "--execute")...).exits(0)
	reset[4] = "orders:0-1"
	w.run(append(reset, "--clamp")...).exits(0)
	same(t, "committed", w.committed("billing", "orders"), "0=100 1=600 2=100")
	// Where nothing else needs it, --partial is all.
	w = start(t).topic("orders", [2]int64{100, 1000}, [2]int64{100, 1000}).commit("billing", "orders", 500, 500).save("billing", "orders", 2000, 600)
	w.run("reset", "-g", "billing", "-t", "orders", "-s", w.store, "--to-stored", "--committed", "--execute").exits(4).never("the rest then")
}

// A refusal for want of an offset says where to look for it.
func TestRefusedForWantOfAnOffset(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 10}, [2]int64{0, 10}).topic("pay", [2]int64{0, 10}).commit("billing", "orders", 5, 6).save("billing", "pay", 1)
	at := []string{"reset", "-g", "billing", "-t", "orders", "-s", w.store, "--dry-run"}
	for _, aim := range []string{"--to-safe", "--to-stored"} {
		w.run(append(at, "--committed", aim)...).exits(4).says(": no offset for it", "hint: what the store lacks, and what helps: gtoffset describe -g billing -t orders:0-1 -s "+w.store)
	}
	for _, aim := range [][]string{{"--to-current"}, {"--shift-by", "1"}} {
		w.run(append(append(at, "--stored"), aim...)...).exits(4).says("there is no offset", "hint: what the store lacks, and what helps: gtoffset describe -g billing -t orders:0-1 -s "+w.store)
		w.run(append([]string{"reset", "-g", "billing", "-t", "pay", "--committed", "--dry-run"}, aim...)...).exits(4).
			says("there is no offset", "hint: what became of its commits: gtoffset history -g billing")
	}
	w.run("reset", "-g", "billing", "-t", "pay", "-s", w.store, "--stored", "--to-committed", "--dry-run").exits(4).says("hint: what became of its commits: gtoffset history -g billing")
	w.pending("billing", 1, 0)
	w.run("delete", "-g", "billing", "--whole-group", "--dry-run").exits(4).says("transaction", "hint: a transaction ends within its producer's transaction.timeout.ms; which it is: gtoffset history -g billing\n")
}

// A shift that meets the end of the range says so on both sides, also where the number would be below 0.
func TestShiftIsCapped(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 1000}).commit("billing", "orders", 180)
	for _, by := range []string{"-500", "-9223372036854775808", "900", "9223372036854775807"} {
		w.run("reset", "-g", "billing", "-t", "orders", "--committed", "--shift-by", by, "--dry-run").exits(0).prints(", capped: the range is 0..1000")
	}
	w.run("reset", "-g", "billing", "-t", "orders", "--committed", "--shift-by", "-180", "--dry-run").exits(0).never("capped")
}

// Of many partitions that stay the first are named.
func TestManyThatStay(t *testing.T) {
	t.Parallel()
	ranges, commits := make([][2]int64, 100), make([]int64, 100)
	for i := range ranges {
		ranges[i], commits[i] = [2]int64{0, 9}, int64(i%2*5)
	}
	w := start(t).topic("orders", ranges...).commit("billing", "orders", commits...)
	reset := []string{"reset", "-g", "billing", "-t", "orders", "--committed", "--to-earliest", "--dry-run"}
	w.run(reset...).exits(0).prints("orders 0, 2, 4, 6, ", ", 36, 38 and 30 more stay: earliest: already there").never("40, 42")
	same(t, "partitions of the document", len(w.run(append(reset, "-o", "json")...).exits(0).plan().Groups[0].Changes), 100)
}
