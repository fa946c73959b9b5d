package cmd_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// offered is what a shell is offered for the last word of a line, each with its words behind a tab; then is what the shell is told to do.
func (w *world) offered(words ...string) (all []string, then string) {
	w.t.Helper()
	r := w.run(append([]string{"__complete"}, words...)...).exits(0)
	same(w.t, "stderr", r.err, "")
	lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

// What a shell does beside offering words.
const (
	openPaths = ":0"
	noPaths   = ":4"
	noBlank   = ":6"
	asTheyAre = ":38" // no blank, no paths, and in this order
)

func TestCompletions(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{0, 900}, [2]int64{0, 900}).topic("payments", [2]int64{0, 9})
	w.commit("billing", "orders", 100, 700).commit("shipping", "payments", 3).save("only", "orders", 600)
	must(t, w.b.Commit("a b", "orders", 0, 600, -1, "")) // no word of a shell
	must(t, w.b.Commit("$(reboot)", "orders", 0, 600, -1, ""))
	for _, c := range []struct {
		line string // the last word is not finished
		want string
		then string
	}{
		{"describe -g ", "billing\tsimple group, Empty|shipping\tsimple group, Empty", noPaths},
		{"describe -g b", "billing\tsimple group, Empty", noPaths},
		{"describe -s STORE -g o", "only\tonly in the store", noPaths},
		{"describe --group=b", "billing\tsimple group, Empty", noPaths},
		{"reset --from-group sh", "shipping\tsimple group, Empty", noPaths},
		{"history -g b", "billing\tsimple group, Empty", noPaths},
		{"describe -g billing -t ", "orders\t3 partitions, 1 not ok", noBlank},
		{"describe -g billing -t p", "payments\t1 partition", noBlank}, // not of the group
		{"describe -t ", "orders\t3 partitions|payments\t1 partition", noBlank},
		{"replay -g billing -t ", "orders\t3 partitions, 1 not ok", noBlank},
		{"describe -g billing -t orders:", "orders:0\tcommitted low: 400 expired|orders:1\tok|orders:2\tno commit", asTheyAre},
		{"describe -t orders:", "orders:0|orders:1|orders:2", asTheyAre},
		{"describe -t orders:0,", "orders:0,1|orders:0,2", asTheyAre},
		{"describe -t nowhere:", "", asTheyAre},
		{"replay --to-topic o", "orders\t3 partitions", noPaths},
		{"replay --from ", "stored|committed|earliest", noPaths},
		{"replay --until ", "end|committed", noPaths},
		{"history --until ", "", noPaths},
		{"clamp --high ", "end|earliest", noPaths},
		{"clamp --recreated k", "keep", noPaths},
		{"import --recreated ", "keep", noPaths},
		{"describe --sort ", "topic|lag|state", noPaths},
		{"describe --isolation read_c", "read_committed", noPaths},
		{"describe --type s", "share|streams|simple", noBlank},
		{"describe --type share,s", "share,streams|share,simple", noBlank},
		{"describe --color a", "auto|always", noPaths},
		{"describe -o j", "json\tone document with a schema name; fields are added, never renamed", noPaths},
		{"export -o ka", "kafka-csv\tCSV of Kafka's reset tool", noPaths},
		{"replay -o ", "jsonl\tone JSON object a record|raw\tthe value of each record, and nothing else", noPaths},
		{"config -X security.protocol=S", "security.protocol=SSL|security.protocol=SASL_PLAINTEXT|security.protocol=SASL_SSL", noBlank},
		{"config -X sasl.mechanism=SCRAM", "sasl.mechanism=SCRAM-SHA-256|sasl.mechanism=SCRAM-SHA-512", noBlank},
		{"config -X sasl.kerberos.k", "sasl.kerberos.keytab=\tfile with the user's keys", noBlank},
		{"describe -s /var/l", "", openPaths},
		{"describe --max-lag ", "", noPaths},
		{"describe --command-config ", "", openPaths},
		{"import ", "", ":32"},
		{"replay -g billing -- ./", "", openPaths},
		{"describe ", "", noPaths},
		{"completion ", "bash|zsh|fish|powershell", noPaths},
		{"help ex", "export\tWrite the commits, or the stored offsets, as a document|exit-codes", noPaths},
		{"cla", "clamp\tBring offsets back into what the cluster still has", noPaths},
		{"nonsense ", "", noPaths},
		{"describe -g billing -g shipping --expect-cluster ", w.cluster(), noPaths},
	} {
		words := strings.Split(strings.ReplaceAll(c.line, "STORE", w.store), " ")
		all, then := w.offered(words...)
		if got := strings.Join(all, "|"); got != c.want || then != c.then {
			t.Errorf("gtoffset %s<TAB> offers %q, %s; want %q, %s", c.line, got, then, c.want, c.then)
		}
	}
	all, then := w.offered("describe", "-s", "r")
	if !slices.ContainsFunc(all, func(s string) bool { return strings.HasPrefix(s, "redis://\t") }) || then != noBlank {
		t.Errorf("stores: %q, %s", all, then)
	}
	all, _ = w.offered("describe", "--max-l")
	same(t, "a flag", strings.Join(all, "|"), "--max-lag\texit 10 when the lag of a partition is above N")
}

// A shell has no place for errors: whatever is wrong with the way to the cluster leaves nothing to choose from, soon, and nothing is said.
func TestCompletionIsSilent(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 3)
	nothing := func(what string, words ...string) {
		t.Helper()
		if all, _ := w.offered(words...); len(all) > 0 {
			t.Errorf("%s: %q", what, all)
		}
	}
	for _, flag := range []string{"-g", "-t", "--to-topic"} {
		command := map[string]string{"--to-topic": "replay"}[flag]
		if command == "" {
			command = "describe"
		}
		nothing("refused "+flag, command, "-b", "127.0.0.1:1", flag, "")
		nothing("no such file", command, "--command-config", "/no/such", flag, "")
		nothing("a wrong setting", command, "-X", "security.protocol=TLS", flag, "")
		nothing("a wrong flag", command, "--nonsense", flag, "")
	}
	w.b.Freeze(0)
	nothing("silence", "describe", "-g", "")
	nothing("silence", "describe", "-g", "billing", "-t", "orders:")
	w.b.Thaw(0)
	delete(w.vars, "GTOFFSET_BOOTSTRAP_SERVER")
	nothing("no cluster", "describe", "-g", "")
}

// A name that does not exist is held against those that do; on the good path nothing is asked for that.
func TestNearMisses(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 3).save("archive", "orders", 3)
	for _, c := range []struct {
		code int
		line string
		hint string
	}{
		{1, "describe -g billng", "hint: did you mean -g billing?"},
		{1, "describe -g billing-of-another-house", "lists the groups"},
		{1, "describe -s STORE -g archiv", "hint: did you mean -g archive?"},
		{1, "describe -g billing -t order", "hint: did you mean -t orders?"},
		{1, "describe -g billing -t nothing-like-it", "shows its topics"},
		{1, "clamp -g bliling --execute", "hint: did you mean -g billing?"},
		{4, "reset -g billin -t orders --to-latest --execute", "hint: did you mean -g billing? else add --create"},
		{1, "delete -g billin -t orders --execute", "hint: did you mean -g billing?"},
		{1, "wait -g billin --empty", "hint: did you mean -g billing?"},
		{1, "export -g Billing", "hint: did you mean -g billing?"},
		{2, "desrcibe -g billing", "hint: gtoffset describe"},
		{2, "hlep", "hint: gtoffset help"},
		{2, "nonsense", "gtoffset --help lists the commands"},
		{2, "describe --grup billing", "hint: did you mean --group? gtoffset describe --help lists the flags"},
		{2, "describe -g billing --execute", "hint: gtoffset clamp, delete, import, replay, reset has --execute"},
		{2, "describe --version", "hint: gtoffset version"},
		{2, "describe -g billing --wholly-else", "hint: gtoffset describe --help lists the flags"},
		{2, "describe -g billing -o jsno", "hint: did you mean -o json?"},
		{2, "describe -g billing -o pdf", "hint: -o table, wide, json, yaml, csv, prom"},
		{2, "clamp -g billing --high erliest", "hint: did you mean --high earliest?"},
		{2, "clamp -g billing --high up", "hint: --high end, or --high earliest"},
		{2, "describe -g billing --color blue", "hint: --color auto, or --color always, or --color never"},
		{2, "describe --type shared", "hint: did you mean --type share?"},
		{2, "completion bsh", "hint: did you mean gtoffset completion bash?"},
		{2, "import x --as jsn", "hint: did you mean --as json?"},
	} {
		r := w.run(strings.Fields(strings.ReplaceAll(c.line, "STORE", w.store))...)
		r.exits(c.code).says(c.hint)
	}
	w.b.Reset()
	w.run("describe", "-g", "billing").exits(0)
	good := w.b.Count()
	w.b.Reset()
	w.run("describe", "-g", "billing", "-o", "json").exits(0)
	same(t, "requests without a mistake", fmt.Sprint(w.b.Count()), fmt.Sprint(good))
}

// Import is offered the backups, newest first, and no plan; what begins otherwise is a file.
func TestCompletionOfBackups(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
	var newest []string
	for range 3 {
		w.run("reset", "-g", "billing", "-t", "orders", "--shift-by", "1", "--execute").exits(0)
		newest = append([]string{w.state + "/gtoffset/" + w.now.Format("20060102T150405Z") + "-reset-billing.json"}, newest...)
		w.now = w.now.Add(time.Hour)
	}
	all, then := w.offered("import", "")
	same(t, "offered", strings.Join(all, " "), strings.Join(newest, " "))
	same(t, "then", then, ":32") // files, and in this order
	all, _ = w.offered("import", "./")
	same(t, "a file here", len(all), 0)
	all, _ = w.offered("import", newest[0], "")
	same(t, "a second", len(all), 0)
}

// A store that is no store silences only itself.
func TestCompletionsWithoutTheStore(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900}).commit("billing", "orders", 700)
	file := w.document("no folder")
	for _, store := range []string{"/nosuch", file, "nonsense://x"} {
		w.vars["GTOFFSET_STORE"] = store
		for line, want := range map[string]string{
			"history -g b":                   "billing\tsimple group, Empty",
			"describe -g b":                  "billing\tsimple group, Empty",
			"describe -g billing -t o":       "orders\t1 partition",
			"describe -g billing -t orders:": "orders:0\tok",
			"replay -t o":                    "orders\t1 partition",
		} {
			all, _ := w.offered(strings.Split(line, " ")...)
			same(t, store+": "+line, strings.Join(all, "|"), want)
		}
	}
}
