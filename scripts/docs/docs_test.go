// Package docs_test holds the pages that people read against the code that they are about.
package docs_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/cmd"
	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/wire"
	"gtoffset/scripts/needs"
)

const root = "../.."

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// table returns the rows, without the heading, of the first table below a heading of the page, each as its cells.
func table(t *testing.T, page, heading string) [][]string {
	t.Helper()
	_, below, found := strings.Cut("\n"+page, "\n"+heading+"\n")
	if !found {
		t.Fatalf("the page has no heading %q", heading)
	}
	var rows [][]string
	for line := range strings.Lines(below) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if rows != nil {
				break
			}
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	if len(rows) < 3 {
		t.Fatalf("there is no table below %q", heading)
	}
	return rows[2:]
}

// firstCells is the start of each row.
func firstCells(rows [][]string, n int) []string {
	var all []string
	for _, r := range rows {
		all = append(all, strings.Join(r[:n], " | "))
	}
	return all
}

func compare(t *testing.T, what string, got, want []string) {
	t.Helper()
	for _, s := range want {
		if !slices.Contains(got, s) {
			t.Errorf("%s: the page lacks %q", what, s)
		}
	}
	for _, s := range got {
		if !slices.Contains(want, s) {
			t.Errorf("%s: the page has %q, the code does not", what, s)
		}
	}
}

func TestRequestsAndVersions(t *testing.T) {
	var want []string
	for key := range int16(math.MaxInt8) {
		newest := wire.Versions{key: {Min: 0, Max: math.MaxInt16}}.Max(key)
		if newest < 0 {
			continue
		}
		oldest := newest
		for oldest > 0 && (wire.Versions{key: {Min: 0, Max: oldest - 1}}).Has(key) {
			oldest--
		}
		span := strconv.Itoa(int(newest))
		if oldest != newest {
			span = fmt.Sprintf("%d–%d", oldest, newest)
		}
		err := wire.Versions{}.Set(kmsg.RequestForKey(key), -1)
		tooOld, ok := err.(*wire.TooOldError)
		if !ok {
			t.Fatalf("%s on a broker without it: got %v, want a *TooOldError", kmsg.NameForKey(key), err)
		}
		want = append(want, fmt.Sprintf("%s | %d | %s | %s", kmsg.NameForKey(key), key, span, tooOld.Since))
	}
	compare(t, "requests", firstCells(table(t, read(t, "docs/architecture.md"), "## Requests and versions"), 4), want)
}

func TestBudgetOfRequests(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Topics: map[string]int32{"orders": 12}})
	if err := b.Spread("orders"); err != nil {
		t.Fatal(err)
	}
	for p := range int32(12) {
		if err := b.Commit("billing", "orders", p, 0, -1, ""); err != nil {
			t.Fatal(err)
		}
	}
	b.Reset()
	var talk bytes.Buffer
	if code := program(t, io.Discard, &talk, "describe", "-b", b.Addrs()[0], "-g", "billing"); code != 0 {
		t.Fatalf("describe: exit %d\n%s", code, &talk)
	}
	counts := map[int16]int{}
	for _, r := range b.Requests() {
		counts[r.Key]++
	}
	var want []string
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		want = append(want, fmt.Sprintf("%s | %d", kmsg.NameForKey(key), counts[key]))
	}
	want = append(want, fmt.Sprintf("in all, over %d connections | %d", b.Connections(), b.Count()))
	compare(t, "budget", firstCells(table(t, read(t, "docs/architecture.md"), "## Budget of requests"), 2), want)
}

// program runs gtoffset in this process.
func program(t *testing.T, stdout, stderr io.Writer, args ...string) int {
	t.Helper()
	return cmd.Main(t.Context(), cmd.Env{
		Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr,
		Getenv: func(string) string { return "" }, Now: time.Now, Who: func() (string, string) { return "ops", "host" },
	}, args)
}

func TestExitCodes(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "cmd/exit.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	var order, want []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 {
			return true
		}
		name := spec.Names[0].Name
		switch v := spec.Values[0].(type) {
		case *ast.BasicLit:
			if strings.HasPrefix(name, "exit") {
				values[name] = v.Value
				want = append(want, v.Value)
			}
		case *ast.CompositeLit:
			if name == "precedence" {
				for _, e := range v.Elts {
					order = append(order, e.(*ast.Ident).Name)
				}
			}
		}
		return true
	})
	page := read(t, "docs/exit-codes.md")
	compare(t, "exit codes", firstCells(table(t, page, "# Exit codes"), 1), want)
	for i, name := range order {
		order[i] = values[name]
	}
	if say := "the first of " + strings.Join(order, ", ") + "."; len(order) == 0 || !strings.Contains(page, say) {
		t.Errorf("the page does not say %q", say)
	}
}

func TestReadmeListsTheCommands(t *testing.T) {
	var help bytes.Buffer
	if code := program(t, &help, io.Discard, "--quiet", "--help"); code != 0 { // made, not the page that gendocs has written
		t.Fatalf("--help: exit %d", code)
	}
	_, commands, _ := strings.Cut(help.String(), "\nCommands\n")
	commands, _, _ = strings.Cut(commands, "\n\n")
	var want, got []string
	for line := range strings.Lines(commands) {
		want = append(want, strings.Fields(line)[0])
	}
	for _, r := range table(t, read(t, "README.md"), "## Commands") {
		got = append(got, strings.Fields(strings.Trim(r[0], "`"))[0])
	}
	compare(t, "commands", got, want)
}

// TestLinks follows every link of the pages that leads into the repository.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	for _, name := range markdown(t) {
		page := filepath.Join(root, name)
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			}
		}
	}
}

// TestMetrics holds the pages about monitoring to what describe writes.
func TestMetrics(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Brokers: 1, Topics: map[string]int32{"orders": 1}})
	if err := b.Produce("orders", 0, "a", "b"); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit("billing", "orders", 0, 1, -1, ""); err != nil {
		t.Fatal(err)
	}
	store := t.TempDir()
	if err := os.MkdirAll(filepath.Join(store, "billing", "orders"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(store, "billing", "orders", "gtoffset"), []byte("0 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, talk bytes.Buffer
	if code := program(t, &out, &talk, "describe", "-b", b.Addrs()[0], "-g", "billing", "-s", store, "--time", "-o", "prom"); code != 0 {
		t.Fatalf("describe: exit %d\n%s", code, &talk)
	}
	var written []string
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+) gauge$`).FindAllStringSubmatch(out.String(), -1) {
		written = append(written, m[1])
	}
	page := read(t, "docs/monitoring.md")
	var told []string
	for _, cell := range firstCells(table(t, page, "## Metrics"), 1) {
		for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(cell, -1) {
			told = append(told, m[1])
		}
	}
	compare(t, "metrics", told, written)

	rules := read(t, "docs/alerts.yml")
	for _, name := range regexp.MustCompile(`gtoffset_\w+`).FindAllString(rules, -1) {
		if !slices.Contains(written, name) {
			t.Errorf("a rule asks for %s, which is not written", name)
		}
	}
	var alerts []string
	for _, m := range regexp.MustCompile(`(?m)^      - alert: (\w+)$`).FindAllStringSubmatch(rules, -1) {
		alerts = append(alerts, m[1])
	}
	told = nil
	for _, cell := range firstCells(table(t, page, "### Alert rules"), 1) {
		for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(cell, -1) {
			told = append(told, m[1])
		}
	}
	compare(t, "alerts", told, alerts)
}

// TestAlertRules lets Prometheus' own tool look at the rules.
func TestAlertRules(t *testing.T) {
	tool := needs.Program(t, "promtool")
	for _, args := range [][]string{{"check", "rules", filepath.Join(root, "docs", "alerts.yml")}, {"test", "rules", filepath.Join("testdata", "alerts_test.yml")}} {
		if said, err := exec.CommandContext(t.Context(), tool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", args[0], err, said)
		}
	}
}
