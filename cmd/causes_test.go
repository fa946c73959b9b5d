package cmd_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/cmd"
)

// documentedCauses are the causes of docs/exit-codes.md in their order, each with the codes that it comes with.
func documentedCauses(t *testing.T) (names []string, codes map[string]string) {
	t.Helper()
	page, err := os.ReadFile("../docs/exit-codes.md")
	must(t, err)
	codes = map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| ([0-9, ]+) \\|").FindAllStringSubmatch(string(page), -1) {
		names, codes[m[1]] = append(names, m[1]), m[2]
	}
	return names, codes
}

// The causes are one closed list: that of the code, of the page and of the schema, in one order; each is reached, and with no other code
// than the page says.
func TestCauses(t *testing.T) {
	t.Parallel()
	names, codes := documentedCauses(t)
	same(t, "causes of the page", fmt.Sprint(names), fmt.Sprint(cmd.Causes()))
	b, err := os.ReadFile("../docs/schema/error-1.json")
	must(t, err)
	var schema struct {
		Defs struct{ Cause struct{ Enum []string } } `json:"$defs"`
	}
	must(t, json.Unmarshal(b, &schema))
	same(t, "causes of the schema", fmt.Sprint(schema.Defs.Cause.Enum), fmt.Sprint(cmd.Causes()))

	login := " -X security.protocol=SASL_PLAINTEXT -X sasl.mechanism=PLAIN -X sasl.username=alice -X sasl.password=$PW"
	active := func(w *world) { _, err := w.b.Join("billing", true, "orders"); must(w.t, err) }
	cases := []struct {
		cause string
		code  int
		line  string // as in outcomes
		world func(w *world)
	}{
		{"interrupted", 130, "describe -g billing", func(w *world) {
			ctx, cancel := context.WithCancel(w.t.Context())
			cancel()
			w.soft = ctx
		}},
		{"usage", 2, "describe -t orders", nil},
		{"usage", 2, "import DOUBT -g billing --execute", nil},
		{"setting", 2, "describe -g billing -X security.protocol=TLS", nil},
		{"authentication", 5, "describe -g billing" + login, func(w *world) { w.vars["PW"] = "wrong" }},
		{"authentication", 5, "clamp -g billing --execute" + login, func(w *world) { w.vars["PW"] = "wrong" }},
		{"tls", 5, "describe -g billing -X security.protocol=SSL", nil},
		{"tls", 5, "reset -g billing -t orders --to-latest --execute -X security.protocol=SSL", nil},
		{"address", 5, "describe -g billing -b " + answering(t, "HTTP/1.1 400 Bad Request\r\n\r\n"), nil},
		{"unsupported", 4, "history -g billing", func(w *world) { w.hide("__consumer_offsets", 0) }},
		{"authorization", 3, "describe -g billing", func(w *world) { w.b.DenyGroup("billing") }},
		{"authorization", 3, "describe -g billing", func(w *world) { w.b.DenyTopic("orders") }},
		{"authorization", 4, "clamp -g billing --execute", func(w *world) { w.b.DenyGroup("billing") }},
		{"authorization", 4, "history -g billing", func(w *world) { w.b.DenyTopic("__consumer_offsets") }},
		{"authorization", 1, "reset -g billing -t orders:1 --to-latest --execute", func(w *world) { w.b.FailCommit("orders", 1, kerr.TopicAuthorizationFailed) }},
		{"cluster", 4, "describe -g billing --expect-cluster another", nil},
		{"exists", 4, "export -g billing FILE", nil},
		{"refused", 4, "clamp -g billing --execute", nil},
		{"refused", 4, "reset -g billing -t orders --to-offset 5000 --execute", nil},
		{"changed", 4, "import MOVED --execute", nil},
		{"active", 4, "clamp -g billing -t orders:0 --execute", active},
		{"locked", 4, "clamp -g billing -s STORE -t orders:0 --stored --execute", func(w *world) {
			w.save("billing", "orders", 100)
			held := w.lock("billing", "orders")
			w.t.Cleanup(func() { _ = held.Unlock() })
		}},
		{"unreachable", 5, "describe -g billing -b CLOSED", nil},
		{"unreachable", 3, "describe -g billing", func(w *world) {
			w.b.Rewrite(kmsg.ListOffsets.Int16(), func(int32, kmsg.Response) bool { return false })
		}},
		{"damaged", 1, "import BROKEN --execute", nil},
		{"damaged", 3, "describe -g billing -s STORE", func(w *world) { w.put("billing", "orders", "0 5x\n") }},
		{"missing", 1, "describe -g nobody", nil},
		{"missing", 1, "describe -g billing -t nowhere", nil},
		{"missing", 1, "describe -g billing -s NOWHERE", nil},
		{"missing", 1, "import NOWHERE --execute", nil},
		{"missing", 4, "reset -g nobody -t orders --to-latest --execute", nil},
		{"incomplete", 3, "describe -g billing", func(w *world) { w.b.NoLeader("orders", 1) }},
		{"check", 10, "describe -g billing --check", nil},
		{"check", 10, "clamp -g billing -t orders:0 --check", nil},
		{"check", 10, "wait -g billing --lag 0 --for 1ms", nil},
		{"declined", 1, "clamp -g billing -t orders:0", func(w *world) { w.person("n\n", nil) }},
		{"failed", 1, "reset -g billing -t orders:1 --to-latest --execute", func(w *world) { w.b.FailCommit("orders", 1, kerr.InvalidCommitOffsetSize) }},
	}
	var reached []string
	for _, c := range cases {
		reached = append(reached, c.cause)
		if !slices.Contains(strings.Split(codes[c.cause], ", "), fmt.Sprint(c.code)) {
			t.Errorf("docs/exit-codes.md does not say that %s comes with %d", c.cause, c.code)
		}
		t.Run(fmt.Sprintf("%s %d %s", c.cause, c.code, c.line), func(t *testing.T) {
			t.Parallel()
			w, args := outcomeWorld(t, outcome{line: c.line, world: c.world})
			doc := w.run(append(args, "-o", "json")...).exits(c.code).failure()
			if doc.Cause != c.cause {
				t.Errorf("cause = %q, want %q: %s", doc.Cause, c.cause, doc.Error)
			}
		})
	}
	elsewhere := []string{"timeout", "expired"} // TestCauseOfErrors
	for _, name := range cmd.Causes() {
		if !slices.Contains(append(reached, elsewhere...), name) {
			t.Errorf("no test reaches the cause %q", name)
		}
	}
}

// Whatever ends a command, its error names a cause of the list.
func TestEveryErrorHasACause(t *testing.T) {
	t.Parallel()
	for _, o := range outcomes() {
		if command, _, _ := strings.Cut(o.line, " "); o.code == 0 || slices.Contains([]string{"version", "completion", "help", "replay"}, command) {
			continue
		}
		t.Run(fmt.Sprintf("%d %s", o.code, o.line), func(t *testing.T) {
			t.Parallel()
			w, args := outcomeWorld(t, o)
			doc := w.run(append(args, "-o", "json")...).exits(o.code).failure()
			_, codes := documentedCauses(t)
			if !slices.Contains(strings.Split(codes[doc.Cause], ", "), fmt.Sprint(o.code)) {
				t.Errorf("the cause %q comes with %d: docs/exit-codes.md says %s", doc.Cause, o.code, codes[doc.Cause])
			}
		})
	}
}
