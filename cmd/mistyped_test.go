package cmd_test

import (
	"strings"
	"testing"
)

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
	// No check is met or not by what is not there, and none says anything else of it.
	for _, topics := range []string{"-t nix", "-t orders:9", "-t nix -s " + w.store, "-t orders:9 -s " + w.store} {
		args := append([]string{"describe", "-g", "billing", "--check", "--max-lag", "5"}, strings.Fields(topics)...)
		w.run(args...).exits(1).says("does not exist", "check: 1 ", "check --max-lag: 1 ").never("not ok", "is committed")
		w.run(append(args, "-o", "json")...).exits(1).prints(`"failed":false,"count":0,"unmeasured":1`).never("not ok")
	}
	w.run("describe", "-g", "billing", "-t", "nix", "-t", "pay", "--check").exits(1).never("check")
	w.topic("new", [2]int64{0, 10}).run("describe", "-g", "billing", "-t", "nix", "-t", "new", "-t", "orders:9", "--check").exits(10).
		says("check: 1 group not ok", "of what was asked for no offset is committed", "does not exist")
	allow := w.b.DenyTopic("new")
	w.run("describe", "-g", "billing", "-t", "new", "--check").exits(3).says(`topic "new" could not be read`).never("not ok")
	allow()
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
		{"describe"},
		{"wait", "--empty"},
		{"export"},
		{"clamp", "--committed", "--dry-run"},
		{"reset", "-t", "orders", "--to-earliest", "--committed", "--dry-run"},
	} {
		w.run(append(args, "-g", "orders-r")...).says("did you mean -g orders-read?", still)
	}
	w.run("history", "-g", "orders-r").never(still)
}

// A variable that was set for gtoffset, and does nothing, is told of by all that goes to a cluster: once, without its value, and where it is
// known what was meant, with -q, too.
func TestVariablesThatNobodyReads(t *testing.T) {
	t.Parallel()
	const passed = " is set, and gtoffset reads no variable of that name: "
	w := start(t).topic("orders", [2]int64{0, 10}).commit("billing", "orders", 10)
	check := []string{"describe", "-g", "billing", "--check", "-q"}
	same(t, "what is said", w.run(check...).exits(0).err, "")
	for name, meant := range map[string]string{
		"GTOFFSET_STOER": "did you mean GTOFFSET_STORE?", "gtoffset_store": "did you mean GTOFFSET_STORE?", "GTOFSET_STORE": "did you mean GTOFFSET_STORE?",
		"GTOFFSET_SASL_PASWORD": "did you mean GTOFFSET_SASL_PASSWORD?", "GTOFFSET_EXPECT_CLUSTER": "give --expect-cluster", "GTOFFSET_TIMEOUT": "give --timeout",
	} {
		w.vars[name] = "hush"
		same(t, "what is said", w.run(check...).exits(0).err, "gtoffset: "+name+passed+meant+"\n")
		same(t, "how often", strings.Count(w.run("clamp", "-g", "billing", "--committed", "--dry-run").never("hush").err, name), 1)
		w.run("config").exits(0).prints(name + passed + meant).never("hush")
		delete(w.vars, name)
	}
	// What may be there for another reason is a note, and what a setting names is read.
	w.vars["GTOFFSET_PORT"], w.vars["GTOFFSET_VERSION"], w.vars["KAFKA_SASL_USERNAMES"], w.vars["GTOFFSET"] = "1", "2", "3", "4"
	w.vars["GTOFFSET_IDENT"] = "ops"
	same(t, "what is said", w.run(append(check, "-X", "sasl.password=$GTOFFSET_IDENT")...).exits(0).err, "")
	r := w.run("describe", "-g", "billing", "-X", "sasl.password=$GTOFFSET_IDENT").exits(0).
		says("gtoffset: set, and not read by gtoffset: GTOFFSET_PORT; GTOFFSET_VERSION (gtoffset help environment lists what is)")
	r.never("KAFKA_SASL")
}

// Of several groups that are not there each is named, in one line, and the cause is that of all commands.
func TestSeveralUnknownGroups(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 10}).commit("billing", "orders", 3)
	for _, args := range [][]string{{"clamp", "--committed"}, {"reset", "--all-topics", "--to-earliest"}, {"delete", "--whole-group"}} {
		args = append(args, "-g", "nix", "-g", "nought", "--dry-run")
		w.run(args...).exits(1).says(`error: group "nix" is not known to the cluster; group "nought" is not known to the cluster; nothing was written`)
		same(t, "cause", w.run(append(args, "-o", "json")...).exits(1).failure().Cause, "missing")
	}
	// Whoever is shown nothing is told as of one; a part that is missing is another matter.
	for _, line := range []string{"describe", "describe --state", "describe --check -o json", "export --committed", "wait --lag 9"} {
		args := append(strings.Fields(line), "-g", "nix", "-g")
		w.run(append(args, "nought")...).exits(1).says("nix", "nought")
		w.run(append(args, "billing")...).exits(3)
	}
}

// A command that does not exist has no help.
func TestHelpOfNoCommand(t *testing.T) {
	t.Parallel()
	w := start(t)
	for _, help := range []string{"--help", "-h"} {
		same(t, "stdout", w.run("frobnicate", help).exits(2).says(`there is no command "frobnicate"`).out, "")
		same(t, "stdout", w.run("-b", "none:9092", "frobnicate", help).exits(2).says(`there is no command "frobnicate"`).out, "")
		w.run("describ", help).exits(2).says("hint: gtoffset describe")
		w.run("help", help).exits(0)
		text := w.run("describe", help).exits(0).prints("--watch").out
		same(t, "help before the command", w.run(help, "describe").exits(0).out, text)
	}
}

// A topic that was mistyped is as wrong where the groups are listed, although then no group has anything of it.
func TestMistypedTopicOfListedGroups(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 9}).topic("pay", [2]int64{0, 9}).commit("billing", "orders", 5)
	for _, which := range [][]string{{"--all-groups"}, {"--group-regex", "bil.*"}} {
		for _, line := range [][]string{
			{"describe"},
			{"describe", "--check", "-o", "json"},
			{"wait", "--empty", "--for", "0"},
			{"wait", "--lag", "0", "--for", "0"},
			{"clamp", "--dry-run"},
			{"reset", "--to-earliest", "--dry-run"},
			{"delete", "--execute"},
			{"export"},
		} {
			w.run(append(append(line, which...), "-t", "order")...).exits(1).says("topic", "order", "does not exist", "did you mean -t orders?")
			w.run(append(append(line, which...), "-t", "orders:7")...).exits(1).says("partition 7 of topic", "orders", "does not exist", "--describe --topic orders shows its partitions")
		}
		w.run(append([]string{"describe", "-t", "pay"}, which...)...).exits(0)
	}
	same(t, "committed", w.committed("billing", "orders"), "0=5")
	r := w.run("describe", "-g", "billing", "-g", "billin", "--check", "-o", "json").exits(3)
	same(t, "unmeasured", r.fields()["checks"].([]any)[0].(map[string]any)["unmeasured"], any(1.0))
}
