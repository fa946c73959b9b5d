package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A number that only seems to say so meets no limit, and is no sample: wait, check and metric are of one mind.
func TestLagThatDoesNotCount(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 1000}, [2]int64{0, 1000}, [2]int64{0, 1000}).commit("billing", "orders", 990, 1001, 1000)
	high := w.run("describe", "-g", "billing", "-t", "orders:1", "--max-lag", "0").exits(10).
		says(`check --max-lag 0 is not met by 1 partition; the worst is group "billing" orders 1: committed high: 1 ahead, so that no lag counts`)
	same(t, "line", high.line("orders", 1), "orders 1 0 1001 1000 0 committed high: 1 ahead")
	w.run("wait", "-g", "billing", "-t", "orders:1", "--lag", "0", "--for", "1ms").exits(10).says("committed high: 1 ahead")
	r := w.run("describe", "-g", "billing", "--max-lag", "5", "-o", "json").exits(10)
	r.says(`"reason":"--max-lag 5: 10"`, `"reason":"--max-lag 5: committed high: 1 ahead"`).prints(`"count":2`, `"worst":{"group":"billing","topic":"orders","partition":1,"value":null}`)
	w.run("describe", "-g", "billing", "-t", "orders:0,2", "--max-lag", "10").exits(0)
	w.run("describe", "-g", "billing", "-t", "orders:1", "--max-lag", "10", "--problems").exits(10).prints("1001")
	prom := w.run("describe", "-g", "billing", "-o", "prom").exits(0)
	prom.prints(`gtoffset_lag{group="billing",topic="orders",partition="0",side="committed"} 10`, `gtoffset_lag{group="billing",topic="orders",partition="2",side="committed"} 0`,
		`gtoffset_ahead{group="billing",topic="orders",partition="1",side="committed"} 1`)
	prom.never(`gtoffset_lag{group="billing",topic="orders",partition="1"`)
}

// The stored side likewise: a place in a topic that was made anew has no lag, also where its number fits.
func TestStoredLagThatDoesNotCount(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 1000}).commit("billing", "orders", 900).saveAs("billing", "orders", "AAAAAAAAAAAAAAAAAAAAAQ", "", 900)
	w.run("describe", "-g", "billing", "-s", w.store, "-o", "prom").exits(0).
		prints(`gtoffset_lag{group="billing",topic="orders",partition="0",side="committed"} 100`, `gtoffset_partition_ok{group="billing",topic="orders",partition="0"} 0`).
		never(`side="stored"} 100`)
}

// Where there is no offset anywhere a check of a named group is not met, although not one partition is out of order. Of a list such a
// group is passed over: some never commit.
func TestCheckOfNothing(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 1000}).commit("billing", "orders", 900)
	w.run("delete", "-g", "billing", "-t", "orders", "--execute").exits(0)
	for _, args := range [][]string{{}, {"--problems"}} {
		w.run(append([]string{"describe", "-g", "billing", "--check", "--max-lag", "5"}, args...)...).exits(10).
			prints("no partitions: nothing committed, nothing assigned", "A restart has no offset to go on from", "hint: to see what was committed before: gtoffset history -g billing").
			says(`check: 1 group not ok, such as group "billing": no offset is committed, and no partition assigned`,
				`check --max-lag: 1 group could not be measured (group "billing": no offset is committed`)
		w.run(append([]string{"describe", "-g", "billing", "-s", w.store, "--check"}, args...)...).exits(10).
			prints("no partitions: nothing committed, nothing assigned", "nothing of this group is there", "hint: is it the right store? gtoffset describe -s "+w.store).
			says(`check: 1 group not ok, such as group "billing": no offset is in the store (looked at ` + filepath.Join(w.store, "billing") + ")")
	}
	w.run("describe", "-g", "billing", "-s", w.store, "--check", "-o", "json").exits(10).
		says(`{"group":"billing","topic":null,"partition":null,"reason":"no offset is in the store`).
		prints(`"failed":true,"count":1,"unmeasured":0,"worst":{"group":"billing","topic":null,"partition":null,"value":1}`)
	r := w.run("describe", "-g", "billing", "-o", "json").exits(0).prints(`"lag":null`, `"restart":[]`)
	same(t, "partitions", r.describe().Groups[0].Totals.Partitions, 0)
	w.run("describe", "-g", "billing", "-o", "prom").exits(0).prints(`gtoffset_group_partitions{group="billing"} 0`)
	w.run("describe", "-g", "billing", "-t", "orders", "--check").exits(10).
		says(`check: 1 group not ok, such as group "billing": of what was asked for no offset is committed, and nothing is assigned`)
	w.run("describe", "--all-groups", "-t", "orders", "--check").exits(0)
	w.run("describe", "--all-groups", "--check", "--max-lag", "5").exits(0).never("could not be measured")
	w.run("describe", "--all-groups", "--problems").exits(0).never("A restart")
	w.run("describe", "-g", "nobody", "-s", w.store, "--check").exits(1).says("is not known to the cluster")
	w.commit("shipping", "orders", 1001)
	w.run("describe", "--all-groups", "-s", w.store, "--check").exits(10).says("check: 1 partition and 1 group not ok")
	w.save("shipping", "orders", 900)
	w.run("describe", "--all-groups", "-s", w.store, "--check").exits(10).says("check: 1 partition not ok").never("1 group not ok")
}

// What is committed ahead of the store is a problem to be shown, though no fault by itself.
func TestProblemsShowUnprocessed(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 1000}, [2]int64{0, 1000}, [2]int64{0, 1000}).commit("billing", "orders", 900, 800, 700).save("billing", "orders", 100, 800, 701)
	r := w.run("describe", "-g", "billing", "-s", w.store, "--problems", "--check").exits(0).prints("800 unprocessed", "2 more are not shown", "hint: to lose nothing that is still there: gtoffset reset")
	same(t, "line", r.line("orders", 0), "orders 0 0 100 900 1000 100 900 800 unprocessed")
	w.run("describe", "-g", "billing", "-s", w.store, "-t", "orders:1,2", "--problems").exits(0).prints("2 partitions, 2 ok").never("EARLIEST")
}

// A run that fails leaves the file; of several groups the one that is not there is 0, and the others are measured.
func TestOutputFileOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 1000}).commit("billing", "orders", 900)
	path := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(path, []byte("old\n"), 0o644))
	content := func() string {
		b, err := os.ReadFile(path)
		must(t, err)
		return string(b)
	}
	const noGroup, noTopic = "is not known to the cluster", `topic "order" does not exist`
	for line, says := range map[string]string{
		"-g nobody -o prom": noGroup, "-g nobody -o json": noGroup, "-g billing -t order -o prom": noTopic, "-g nobody --members": noGroup, "-g nobody --state -o json": noGroup,
	} {
		w.run(append([]string{"describe", "--output-file", path}, strings.Fields(line)...)...).exits(1).says(says)
		same(t, line, content(), "old\n")
	}
	w.run("describe", "-g", "nobody", "-o", "prom").exits(1).prints(`gtoffset_group_readable{group="nobody"} 0`)
	w.run("describe", "-g", "billing", "-g", "nobody", "-o", "prom", "--output-file", path).exits(3)
	for _, line := range []string{`gtoffset_group_readable{group="billing"} 1`, `gtoffset_group_readable{group="nobody"} 0`} {
		if !strings.Contains(content(), line) {
			t.Errorf("the file lacks %s:\n%s", line, content())
		}
	}
}

// The gate of the runbook reads from a plan what it would skip, and imports the plan that it has looked at, also where there is nothing to do.
func TestGateReadsItsPlan(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 1000})
	w.saveAs("billing", "orders", w.b.TopicID("orders"), "", 1500).commit("billing", "orders", 1000)
	clamp := []string{"clamp", "-g", "billing", "-s", w.store, "--stored", "--dry-run", "-o", "json"}
	same(t, "skips of a log that was cut", gateSkips(t, w.run(clamp...).exits(0).out), "1000")
	w.saveAs("billing", "orders", w.b.TopicID("orders"), "", 900)
	plan := w.run(clamp...).exits(0)
	same(t, "skips of nothing to do", gateSkips(t, plan.out), "0")
	w.stdin(plan.out).run("import", "-", "--execute").exits(0)
}

// gateSkips runs the line of the CI gate's runbook that reads a plan.
func gateSkips(t *testing.T, plan string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "runbooks", "ci-gate.md"))
	must(t, err)
	line := regexp.MustCompile(`(?m)^skips=\$\(printf %s "\$plan" \| (sed .*)\)$`).FindSubmatch(page)
	if line == nil {
		t.Fatal("the gate reads no plan")
	}
	sh := exec.CommandContext(t.Context(), "sh", "-c", string(line[1]))
	sh.Stdin = strings.NewReader(strings.TrimSuffix(plan, "\n"))
	out, err := sh.Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}

// The hint skips nothing that can be read, also where the log is proven to be the same; typed as it stands it runs through.
func TestHintOfProvenHigh(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 1000})
	w.saveAs("billing", "orders", w.b.TopicID("orders"), "", 1500).commit("billing", "orders", 1000)
	hint := "to bring it back into range, and read again what may have been skipped: gtoffset clamp -g billing -s " + w.store + " --stored --high earliest"
	w.run("describe", "-g", "billing", "-s", w.store).exits(0).prints("hint: " + hint)
	w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--high", "earliest", "--execute").exits(0)
	same(t, "stored", w.stored("billing", "orders"), "0=0")
}

// A partition of which there is no offset anywhere is not ok with a store: what gives it one is the hint, and mends it.
func TestHintOfNoOffsetAnywhere(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 1000}, [2]int64{300, 1000}, [2]int64{0, 1000}).commit("billing", "orders", 900, none, 900).save("billing", "orders", 900, none, 900)
	line := "gtoffset clamp -g billing -t orders:1 -s " + w.store + " --stored"
	w.run("describe", "-g", "billing", "-s", w.store, "--check", "-o", "json").exits(10).says(`"hint":"if there was a commit, gtoffset history -g billing tells how it comes back; to start at earliest where there is no offset yet: ` + line)
	w.run("clamp", "-g", "billing", "-t", "orders:1", "-s", w.store, "--stored", "--execute").exits(0)
	same(t, "stored", w.stored("billing", "orders"), "0=900 1=300 2=900")
	w.run("describe", "-g", "billing", "-s", w.store, "--check").exits(0).never("hint")

	// Where the topic is named, what brings others back into range begins it, too.
	w = start(t).topic("orders", [2]int64{500, 1000}, [2]int64{300, 1000}).commit("billing", "orders", 400, none).save("billing", "orders", 400, none)
	for _, named := range []struct{ line, before string }{{"", "hint: "}, {" -t orders", "hint: if there was a commit, gtoffset history -g billing tells how it comes back; "}} {
		describe := append([]string{"describe", "-g", "billing"}, strings.Fields(named.line)...)
		w.run(describe...).exits(0).prints(named.before + "to bring it back into range: gtoffset clamp -g billing" + named.line + " --committed\n")
		w.run(append(describe, "-s", w.store)...).exits(0).prints(named.before + "to bring it back into range: gtoffset clamp -g billing" + named.line + " -s " + w.store + " --stored --committed\n")
	}
}

// The list of groups tells of each whether the named store has it, as the question for the right store needs. Where the store is away, or
// names no groups, nobody knows.
func TestListTellsWhatTheStoreHas(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 1000}, [2]int64{0, 1000}).commit("billing", "orders", 900, 900).commit("other", "orders", 900).save("billing", "orders", 900).save("archive", "orders", 5)
	list := []string{"describe", "-s", w.store}
	r := w.run(list...).exits(0).prints("STORE", "3 groups, 2 of them in the store")
	table := strings.Join(strings.Fields(r.out), " ")
	same(t, "rows", strings.Contains(table, " billing simple Empty - 0 yes other simple Empty - 0 no"), true)
	w.run(append(list, "-o", "csv")...).exits(0).prints("error,stored\n", "billing,simple,Empty,-,0,-,true\n", "other,simple,Empty,-,0,-,false\n")
	r = w.run(append(list, "-o", "json")...).exits(0).prints(`"stored":true,"error":null}`, `"stored":false,"error":null}`)
	document[any](r, "gtoffset.groups/1")
	w.run("describe").exits(0).never("STORE", "in the store")
	w.run("describe", "-o", "json").exits(0).never(`"stored"`)
	w.run("describe", "-o", "csv").exits(0).prints("billing,simple,Empty,-,0,-,-\n")

	// The store is the right one, and has nothing of the group: what puts it there is named, too.
	hint := w.run("describe", "-g", "other", "-s", w.store, "--check").exits(10).prints("is it the right store? gtoffset describe -s " + w.store + " shows which groups it has. If it is").hinted()
	same(t, "hint", hint, "clamp -g other -t orders:0 -s "+w.store+" --stored --missing earliest")
	w.run(append(typed(hint), "--execute")...).exits(0)
	same(t, "stored", w.stored("other", "orders"), "0=0")
}

// Without a store a partition without a commit is ok, and yet leaves a restart to the policy: what makes an end of that is the hint.
func TestHintOfNoCommit(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 1000}, [2]int64{300, 1000}, [2]int64{7, 7}).commit("billing", "orders", 900)
	hint := w.run("describe", "-g", "billing", "--check").exits(0).
		prints("hint: if there was a commit, gtoffset history -g billing tells how it comes back; to start at earliest where there is no offset yet: ").hinted()
	same(t, "hint", hint, "clamp -g billing -t orders:1 --committed")
	w.run(append(typed(hint), "--execute")...).exits(0)
	w.run("describe", "-g", "billing", "--check").exits(0).never("hint") // in the last one is nothing to be read
}

// A metric of partitions is 0 where a group has no place in a topic that was named.
func TestPartitionsOfAGroupWithoutOffsets(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 9}, [2]int64{0, 9}).topic("other", [2]int64{0, 9}).commit("billing", "other", 5)
	partitions := func(n string, args ...string) {
		t.Helper()
		w.run(append([]string{"describe", "-g", "billing", "-o", "prom"}, args...)...).exits(0).prints(`gtoffset_group_partitions{group="billing"} ` + n + "\n")
	}
	partitions("0", "-t", "orders")
	partitions("0", "-t", "orders", "-s", w.store)
	partitions("1", "-t", "other")
	partitions("3", "-t", "orders", "-t", "other")
	w.save("billing", "orders", none, 5)
	partitions("2", "-t", "orders", "-s", w.store)
}
