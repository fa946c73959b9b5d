package cmd_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"gtoffset/cmd"
	"gtoffset/kafkaops/history"
)

// outcome is a command line that ends with a code in the world of outcomes: orders 0 is low, 1 in range, 2 high.
type outcome struct {
	code  int
	line  string // words in capitals stand for documents, the store, and places
	world func(w *world)
}

// outcomes has at least one for each row of docs/exit-codes.md.
func outcomes() []outcome {
	interrupt := func(w *world) {
		ctx, cancel := context.WithCancel(w.t.Context())
		cancel()
		w.soft = ctx
	}
	noPlace := func(w *world) { must(w.t, os.WriteFile(filepath.Join(w.state, "gtoffset"), nil, 0o600)) }
	noHome := func(w *world) { delete(w.vars, "XDG_STATE_HOME"); delete(w.vars, "HOME") }
	gone := func(w *world) { w.topic("other", [2]int64{0, 9}).commit("billing", "other", 5).hide("other", 0) }
	denied := func(w *world) { w.b.DenyGroup("other") }
	leaderless := func(w *world) { w.b.NoLeader("orders", 1) }
	active := func(w *world) { _, err := w.b.Join("billing", true, "orders"); must(w.t, err) }
	stored := func(w *world) { w.save("billing", "orders", 600, 700) }
	foreign := func(w *world) { w.saveAs("billing", "orders", "", "of-another-house", 600) }
	unwritable := func(w *world) { w.b.FailCommit("orders", 1, kerr.InvalidCommitOffsetSize) }
	half := func(w *world) { w.b.FailCommit("orders", 0, kerr.InvalidCommitOffsetSize) }
	readable := func(w *world) { w.filled("fresh", 9, 9).save("billing", "fresh", 4) }
	both := func(f, g func(*world)) func(*world) { return func(w *world) { f(w); g(w) } }
	recorded := func(offset int64) func(*world) {
		return func(w *world) { w.b.OffsetsLog(history.Partition("billing", 3)).Batch(w.now, entry(0, offset)) }
	}
	damaged := func(w *world) {
		must(w.t, os.Mkdir(filepath.Join(w.state, "gtoffset"), 0o700))
		must(w.t, os.WriteFile(filepath.Join(w.state, "gtoffset", "x.json"), []byte("{"), 0o600))
	}
	return []outcome{
		{0, "describe -g billing", nil},
		{0, "describe", nil},
		{1, "describe -g nobody", nil},
		{1, "describe -g billing -t nowhere", nil},
		{1, "describe -g billing -s NOWHERE", nil},
		{2, "describe -t orders", nil},
		{2, "describe -g billing -s FILE", nil},
		{3, "describe -g billing", gone},
		{3, "describe -g billing", leaderless},
		{3, "describe -g billing -g nobody", nil},
		{3, "describe -g billing -g other", denied},
		{4, "describe -g billing --expect-cluster another", nil},
		{5, "describe -g billing -b CLOSED", nil},
		{10, "describe -g billing --check", nil},
		{10, "describe -g billing --max-lag 1", nil},
		{3, "describe -g billing --check", gone}, // 3 beats 10
		{130, "describe -g billing", interrupt},

		{0, "clamp -g billing -t orders:0 --execute", nil},
		{0, "clamp -g billing -t orders:0 --dry-run", nil},
		{0, "clamp -g billing -t orders:1 --check", nil},
		{1, "clamp -g billing -t orders:0 --execute", noPlace},
		{1, "clamp -g billing -t nowhere --execute", nil},
		{1, "clamp -g nobody --execute", nil},
		{2, "clamp -g billing", nil},
		{2, "clamp -g billing -s STORE --execute", stored},
		{3, "clamp -g billing --execute --partial", nil},
		{3, "clamp -g billing --dry-run --partial", nil},
		{3, "clamp -g billing --check --partial", nil}, // 3 beats 10
		{4, "clamp -g billing --execute", nil},
		{4, "clamp -g billing --dry-run", nil},
		{4, "clamp -g billing --check", nil}, // 4 beats 10
		{4, "clamp -g billing -t orders:0 --execute", active},
		{5, "clamp -g billing --execute -b CLOSED", nil},
		{10, "clamp -g billing -t orders:0 --check", nil},
		{130, "clamp -g billing --execute", interrupt},

		{0, "reset -g billing -t orders --to-latest --execute", nil},
		{0, "reset -g billing -t orders --to-latest --dry-run", nil},
		{0, "reset -g billing -t orders:1 --to-current --check", nil},
		{1, "reset -g billing -t orders --to-latest --execute", noPlace},
		{1, "reset -g billing -t nowhere --to-latest --execute", nil},
		{1, "reset -g nobody --all-topics --to-latest --execute", nil},
		{1, "reset -g billing -t orders:1 --to-latest --execute", unwritable},
		{2, "reset -g billing -t orders --execute", nil},
		{2, "reset -g billing -t orders --to-latest", nil},
		{2, "reset -g billing -t orders --to-latest --to-earliest --execute", nil},
		{2, "reset -g billing -t orders --to-datetime 1543580000 --execute", nil},
		{2, "reset -g billing -t orders --to-latest -s STORE --execute", stored},
		{3, "reset -g billing -t orders --to-latest --execute", half},
		{3, "reset -g billing -t orders --to-latest --execute --partial", leaderless},
		{4, "reset -g billing -t orders --to-offset 5000 --execute", nil},
		{4, "reset -g billing -t orders --to-offset 5000 --check", nil},
		{4, "reset -g billing -t orders --to-latest --execute", active},
		{4, "reset -g nobody -t orders --to-latest --execute", nil},
		{4, "reset -g billing -t __consumer_offsets --to-latest --execute", nil},
		{4, "reset -g billing -t orders --to-latest --execute --expect-cluster another", nil},
		{5, "reset -g billing -t orders --to-latest --execute -b CLOSED", nil},
		{10, "reset -g billing -t orders --to-latest --check", nil},
		{130, "reset -g billing -t orders --to-latest --execute", interrupt},

		{0, "import BACKUP --execute", nil},
		{0, "import CSV -g billing --execute", nil},
		{0, "import PLAN --execute", nil},
		{0, "import BACKUP --dry-run", nil},
		{1, "import BROKEN --execute", nil},
		{1, "import NOWHERE --execute", nil},
		{1, "import BACKUP -g another --execute", nil},
		{1, "import CSV -g billing --execute", noPlace},
		{1, "import CSV -g billing --execute", unwritable},
		{2, "import BACKUP", nil},
		{2, "import CSV --execute", nil},
		{2, "import DOUBT -g billing --execute", nil},
		{3, "import BOTH --execute --partial", nil},
		{3, "import BOTH --dry-run --partial", nil},
		{4, "import MOVED --execute", nil},
		{4, "import MOVED --dry-run", nil},
		{4, "import CSV -g nobody --execute", nil},
		{4, "import CSV -g billing --execute", leaderless},
		{4, "import PLAN --execute", active},
		{5, "import BACKUP --execute -b CLOSED", nil},
		{10, "import BACKUP --check", nil},
		{10, "import CSV -g billing --check", nil},
		{130, "import BACKUP --execute", interrupt},

		{0, "delete -g billing -t orders --execute", nil},
		{0, "delete -g billing --whole-group --execute", nil},
		{0, "delete -g billing -t orders --dry-run", nil},
		{1, "delete -g nobody --whole-group --execute", nil},
		{1, "delete -g nobody -t orders --execute", nil},
		{1, "delete -g billing -t nowhere --execute", nil},
		{1, "delete -g billing -t orders --execute", noPlace},
		{2, "delete -g billing --execute", nil},
		{2, "delete -g billing -t orders", nil},
		{3, "delete -g billing -g other -t orders --execute --partial", denied},
		{4, "delete -g billing -t orders --execute", active},
		{4, "delete -g billing --whole-group --dry-run", active},
		{4, "delete -g billing -t orders --execute --expect-cluster another", nil},
		{5, "delete -g billing -t orders --execute -b CLOSED", nil},
		{10, "delete -g billing -t orders --check", nil},
		{10, "delete -g billing --whole-group --check", nil},
		{130, "delete -g billing -t orders --execute", interrupt},

		{0, "export -g billing", nil},
		{0, "export -g billing NEW", nil},
		{1, "export -g nobody", nil},
		{1, "export -g billing -t nowhere", nil},
		{1, "export -g billing NOWHERE/x", nil},
		{2, "export", nil},
		{2, "export -g billing -s STORE", stored},
		{2, "export -g billing extra extra", nil},
		{3, "export -g billing", gone},
		{3, "export -g billing -g other", denied},
		{3, "export -g billing -s STORE --stored", foreign},
		{4, "export -g billing FILE", nil},
		{4, "export -g billing --expect-cluster another", nil},
		{5, "export -g billing -b CLOSED", nil},
		{130, "export -g billing", interrupt},

		{0, "replay -g billing -t fresh:0 -s STORE", readable},
		{0, "replay -g billing -t fresh:0 -s STORE --save --execute -- /bin/cat", readable},
		{0, "replay -g billing -t fresh:0 -s STORE --save --dry-run -- /bin/cat", readable},
		{1, "replay -g nobody -s STORE", readable},
		{1, "replay -g billing -t nowhere -s STORE", readable},
		{1, "replay -g billing -t fresh:0 -s STORE --save --execute -- /bin/false", readable},
		{2, "replay -g billing -t fresh:0", readable},
		{2, "replay -g billing -t orders --from 5", nil},
		{3, "replay -g billing -t fresh:1 -s STORE", readable},
		{4, "replay -g billing -t orders:0 --from committed", nil},
		{4, "replay -g billing -t orders:2 --from committed", nil},
		{4, "replay -g billing -t fresh:0 -s STORE --expect-cluster another", readable},
		{5, "replay -g billing -t fresh:0 -s STORE -b CLOSED", readable},
		{10, "replay -g billing -t fresh:0 -s STORE --save --check -- /bin/cat", readable},
		{130, "replay -g billing -t fresh:0 -s STORE", both(readable, interrupt)},

		{0, "history -g billing", recorded(600)},
		{1, "history -g nobody", nil},
		{2, "history", nil},
		{3, "history -g billing", recorded(-1)},
		{4, "history -g billing", func(w *world) { w.b.DenyTopic("__consumer_offsets") }},
		{4, "history -g billing --expect-cluster another", nil},
		{5, "history -g billing -b CLOSED", nil},
		{130, "history -g billing", interrupt},
		{0, "wait -g billing --empty", nil},
		{1, "wait -g nobody --empty", nil},
		{2, "wait -g billing", nil},
		{2, "wait -g billing --stored-caught-up", nil},
		{3, "wait -g billing --lag 0", leaderless},
		{4, "wait -g billing --empty --expect-cluster another", nil},
		{5, "wait -g billing --empty -b CLOSED", nil},
		{10, "wait -g billing --empty --for 1ms", active},
		{10, "wait -g billing --lag 0 --for 1ms", nil},
		{130, "wait -g billing --empty", interrupt},

		{0, "backups", nil},
		{0, "backups --prune 1d", nil},
		{1, "backups", damaged},
		{1, "backups", noPlace},
		{2, "backups", noHome},
		{2, "backups --prune soon", nil},

		{0, "config", nil},
		{0, "config -X client.id=ops", nil},
		{2, "config -X security.protocol=TLS", nil},
		{2, "config --command-config /no/such", nil},

		{0, "version", nil},
		{0, "completion bash", nil},
		{0, "help", nil},
		{0, "help exit-codes", nil},
		{2, "version extra", nil},
		{2, "completion nushell", nil},
		{2, "help nonsense", nil},
	}
}

// args fills in what a line stands for.
func (o outcome) args(w *world) []string {
	documents := map[string]func() string{
		"BACKUP": func() string { return w.backupFile(row(1, "650", "600")) },
		"MOVED":  func() string { return w.backupFile(row(1, "650", "601")) },
		"BOTH":   func() string { return w.backupFile(row(0, "650", "100") + "," + row(1, "650", "601")) },
		"BROKEN": func() string { return w.document("{") },
		"CSV":    func() string { return w.document("orders,1,650\n") },
		"DOUBT":  func() string { return w.document("7 0 700\n") },
		"PLAN": func() string {
			return w.document(w.run("reset", "-g", "billing", "-t", "orders:1", "--to-latest", "--dry-run", "-o", "json").out)
		},
		"CLOSED":    func() string { return nowhere },
		"STORE":     func() string { return w.store },
		"FILE":      func() string { return w.document("x") },
		"NEW":       func() string { return filepath.Join(w.t.TempDir(), "new.json") },
		"NOWHERE":   func() string { return filepath.Join(w.t.TempDir(), "nowhere") },
		"NOWHERE/x": func() string { return filepath.Join(w.t.TempDir(), "nowhere", "x") },
	}
	var args []string
	for word := range strings.FieldsSeq(o.line) {
		if f, ok := documents[word]; ok {
			word = f()
		}
		args = append(args, word)
	}
	return args
}

func outcomeWorld(t *testing.T, o outcome) (*world, []string) {
	t.Helper()
	w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900})
	w.commit("billing", "orders", 100, 600, 1000).commit("other", "orders", 600)
	if before, after, planned := strings.Cut(o.line, "PLAN"); planned { // made before what happens
		o.line = before + (outcome{line: "PLAN"}).args(w)[0] + after
	}
	args := o.args(w)
	if o.world != nil {
		o.world(w)
	}
	return w, args
}

// documented are the codes of each command in docs/exit-codes.md.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../docs/exit-codes.md")
	must(t, err)
	all := map[string][]string{}
	heading, row := regexp.MustCompile(`^## (.+)$`), regexp.MustCompile(`^\| ([0-9]+) \|`)
	var commands []string
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		if m := heading.FindStringSubmatch(line); m != nil {
			commands = strings.Split(m[1], ", ")
		}
		if m := row.FindStringSubmatch(line); m != nil {
			for _, c := range commands {
				all[c] = append(all[c], m[1])
			}
		}
	}
	return all
}

// Every row of docs/exit-codes.md is reached, for each command that it applies to, in each format: stdout holds the document or
// nothing, with -o json the error is one too, and each is as its schema says.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	reached := map[string][]string{}
	for _, o := range outcomes() {
		command, _, _ := strings.Cut(o.line, " ")
		if code := fmt.Sprint(o.code); !slices.Contains(reached[command], code) {
			reached[command] = append(reached[command], code)
		}
	}
	page := documented(t)
	for command, codes := range page {
		for _, code := range codes {
			if !slices.Contains(reached[command], code) {
				t.Errorf("no test reaches code %s of %s", code, command)
			}
		}
	}
	for command, codes := range reached {
		for _, code := range codes {
			if !slices.Contains(page[command], code) {
				t.Errorf("docs/exit-codes.md has no row for code %s of %s", code, command)
			}
		}
	}
	for _, o := range outcomes() {
		command, _, _ := strings.Cut(o.line, " ")
		for _, format := range []string{"", "json", "yaml"} {
			if format != "" && !slices.Contains(cmd.FormatsOf(command), format) {
				continue
			}
			t.Run(fmt.Sprintf("%d %s %s", o.code, o.line, format), func(t *testing.T) {
				t.Parallel()
				w, args := outcomeWorld(t, o)
				if format != "" {
					args = append(args, "-o", format)
				}
				r := w.run(args...).exits(o.code)
				if (o.code == 0) == strings.Contains(r.err, "rror") {
					t.Errorf("an error is told if there is one\n%v", r)
				}
				silent := strings.Contains(o.line, "NEW") || command == "replay" || command == "wait" && format == "" && o.code == 10
				switch {
				case r.out == "" && (o.code == 0 || o.code == 10) && !silent:
					t.Errorf("no answer\n%v", r)
				case r.out == "":
				case format == "json":
					document[map[string]any](r, schemaOf(args))
				case format == "yaml":
					same(t, "schema", r.yaml()["schema"], any(schemaOf(args)))
				}
				if format == "json" && o.code != 0 {
					r.failure()
				}
				if slices.Contains([]int{1, 2, 4, 5, 130}, o.code) && w.committed("billing", "orders") != "0=100 1=600 2=1000" {
					t.Errorf("something was written: %s\n%v", w.committed("billing", "orders"), r)
				}
			})
		}
	}
}

// The same through a process of its own, whose exit status is what scripts see.
func TestExitStatus(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, o := range outcomes() {
		command, _, _ := strings.Cut(o.line, " ")
		key := fmt.Sprint(command, o.code)
		if seen[key] || o.code == 130 { // main.go makes the interrupts
			continue
		}
		seen[key] = true
		t.Run(fmt.Sprintf("%d %s", o.code, o.line), func(t *testing.T) {
			t.Parallel()
			w, args := outcomeWorld(t, o)
			w.process(0, "", args...).exits(o.code)
		})
	}
}

// schemaOf is the document of a command line: the first of its command's, or without a group the last.
func schemaOf(args []string) string {
	names := cmd.SchemasOf(args[0])
	if len(names) == 0 {
		return "a document that schemasOf of consistency_test.go names"
	}
	name := names[0]
	if !slices.Contains(args, "-g") {
		name = names[len(names)-1]
	}
	return "gtoffset." + name + "/1"
}
