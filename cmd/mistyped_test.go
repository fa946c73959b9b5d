package cmd_test

import "testing"

// A name that was mistyped in -t is told as such: what a restart would do with topics that do not exist is nobody's question, and neither is
// where their offsets went.
func TestMistypedTopic(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 10}, [2]int64{0, 10}).topic("pay", [2]int64{0, 10}).
		commit("billing", "orders", 3, 4).commit("billing", "pay", 5)
	w.run("describe", "-g", "billing", "-t", "nix").exits(1).
		says(`topic "nix" does not exist`, "shows its topics").never("A restart", "history")
	w.run("describe", "-g", "billing", "-t", "nix", "-s", w.store).exits(1).says(`topic "nix" does not exist`).never("A restart", "right store")
	w.run("describe", "-g", "billing", "-t", "orders:9").exits(1).
		prints("gone: not in the topic, which has 2 partitions").says(`partition 9 of topic "orders" does not exist`).never("A restart")
	// What was committed and is gone is no mistake.
	w.hide("orders", 1)
	w.run("describe", "-g", "billing", "-t", "orders:1").exits(3).prints("A restart from the commits")
}

// Several names in one -t or -g.
func TestNamesWithCommas(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 10}).topic("pay", [2]int64{0, 10}).commit("billing", "orders", 3).commit("shipping", "pay", 5)
	w.run("describe", "-g", "billing", "-t", "orders,pay").exits(1).says("hint: -t is one topic; -t orders -t pay names several")
	w.run("clamp", "-g", "billing", "-t", "orders,pay", "--committed", "--dry-run").exits(1).says("hint: -t is one topic; -t orders -t pay names several")
	w.run("describe", "-g", "billing,shipping").exits(1).says("hint: -g is one group; -g billing -g shipping names several")
}

// A group that Kafka has removed may have a neighbour: the way to what it had committed is named all the same.
func TestNeighbourOfDeletedGroup(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 10}).commit("orders-read", "orders", 3)
	still := "of one that was deleted gtoffset history -g orders-r still tells"
	for _, args := range [][]string{
		{"describe"}, {"wait", "--empty"}, {"export"}, {"clamp", "--committed", "--dry-run"},
		{"reset", "-t", "orders", "--to-earliest", "--committed", "--dry-run"},
	} {
		w.run(append(args, "-g", "orders-r")...).says("did you mean -g orders-read?", still)
	}
	w.run("history", "-g", "orders-r").never(still)
}
