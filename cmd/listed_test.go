package cmd_test

import (
	"fmt"
	"strings"
	"testing"

	"gtoffset/kafkaops/kafkatest"
)

// Among listed groups clamp leaves those alone of which the store has nothing, as describe judges them: their jobs keep their place in
// the commits.
func TestClampOfListedGroupsSparesWhatTheStoreDoesNotHave(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{100, 1000}).commit("job-kafka", "orders", 500).commit("job-store", "orders", 500).save("job-store", "orders", 50)
	w.run("clamp", "--group-regex", "job-.*", "-s", w.store, "--stored", "--execute").exits(0).prints("job-kafka: orders 0 stays: nothing of the group is in the store", "1 of 1 verified")
	same(t, "stored", w.stored("job-store", "orders"), "0=100")
	same(t, "stored", w.file("job-kafka", "orders"), "")
	w.run("wait", "--group-regex", "job-.*", "-s", w.store, "--stored-caught-up", "--for", "1ms").exits(10).says("job-store").never(`"job-kafka" orders`)
	w.run("clamp", "--group-regex", "job-.*", "-s", w.store, "--stored", "--missing", "other", "--execute").exits(0) // who says it has said it of all
	same(t, "stored", w.stored("job-kafka", "orders"), "0=500")
	w.commit("job-late", "orders", 500)
	w.run("clamp", "-g", "job-late", "-s", w.store, "--stored", "--execute").exits(4).says("a lost entry, not a first run")
}

// So does a reset that starts from what the store has. One that puts there what was asked for does not.
func TestResetOfListedGroupsSparesWhatTheStoreDoesNotHave(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line               string
		kafka, store       string // what is stored at the end
		committed, spoiled string // the commits of both
	}{
		{"--to-safe --stored --committed", "", "0=200", "0=500", "0=200"},
		{"--to-stored", "", "0=200", "0=500", "0=200"},
		{"--shift-by 1 --stored", "", "0=201", "0=500", "0=500"},
		{"--to-earliest --stored", "0=100", "0=100", "0=500", "0=500"},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{100, 1000}).commit("job-kafka", "orders", 500).commit("job-store", "orders", 500).save("job-store", "orders", 200)
			w.run(append([]string{"reset", "--group-regex", "job-.*", "-t", "orders", "-s", w.store, "--execute"}, strings.Fields(c.line)...)...).exits(0)
			same(t, "stored", w.stored("job-kafka", "orders")+"/"+w.stored("job-store", "orders"), c.kafka+"/"+c.store)
			same(t, "committed", w.committed("job-kafka", "orders")+"/"+w.committed("job-store", "orders"), c.committed+"/"+c.spoiled)
		})
	}
}

// Nobody is asked whether a name was meant that was not typed.
func TestNoSuggestionForWhatWasNotTyped(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{100, 1000}).commit("billing", "orders", 500).save("biling", "orders", 500).save("billing", "orders", 500)
	w.run("clamp", "--all-groups", "-t", "orders", "-s", w.store, "--committed", "--missing", "other", "--execute").exits(4).says("does not exist", "add --create").never("did you mean")
	w.run("clamp", "-g", "biling", "-t", "orders", "-s", w.store, "--committed", "--missing", "other", "--execute").exits(4).says("did you mean -g billing? else add --create")
}

// Groups that may be missing because a broker does not answer are worth another try: that is 5, whichever command writes.
func TestListedGroupsOfABrokerThatIsAway(t *testing.T) {
	t.Parallel()
	w := startWith(t, kafkatest.Options{Brokers: 3}).topic("orders", [2]int64{100, 1000}).commit("billing", "orders", 50)
	coordinator := w.run("describe", "-g", "billing", "--state", "-o", "json").groups().Groups[0].Coordinator.String()
	away := int32(0)
	for fmt.Sprint(away) == coordinator || away == w.b.Fake.PartitionInfo("orders", 0).Leader {
		away++
	}
	w.b.Kill(away)
	for _, line := range [][]string{{"clamp"}, {"delete", "-t", "orders"}, {"reset", "-t", "orders", "--to-earliest"}} {
		line = append(line, "--group-regex", "bil.*", "--execute")
		w.run(line...).exits(5).says("groups may be missing", "nothing was written", "--partial writes the rest")
	}
	w.run("clamp", "--group-regex", "bil.*", "--execute", "--partial").exits(3)
	same(t, "committed", w.committed("billing", "orders"), "0=100")
}
