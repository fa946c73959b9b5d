package cmd_test

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.yaml.in/yaml/v3"

	"gtoffset/cmd"
	"gtoffset/kafkaops/history"
	"gtoffset/kafkaops/kafkatest"
	"gtoffset/offsetfile"
	"gtoffset/output"
)

// mark follows each thing that must not reach a terminal, so that it is found wherever it comes from.
const mark = "EVIL"

// dangerous is what moves a cursor, hides, reorders, ends a line, or is no text at all.
var dangerous = []string{
	"\x1b[31m", "\x1b]0;", "\u009b2J", "\n", "\r", "\t", "\b", "\a", "\x00", "\x7f", "\u0085", "\u2028", "\u2029", "\u202e", "\u2066", "\u200b", "\u200f", "\ufeff", "\U000e0041", "\xff", "\xc0\xaf",
}

// evil is a name with all of it, and with what a spreadsheet, a shell, a path or a format takes for something else.
func evil(first string) string {
	return first + strings.Join(dangerous, mark) + mark + "=1+1,\"';$(id)`id`|&<>../../%s%n\\x"
}

// view is one thing that the program shows, with the formats that it has for it.
type view struct {
	name    string
	formats []string
	args    []string
	in      string // stdin
}

// exact are the formats that hold names as they are, for programs.
var exact = []string{"csv", "kafka-csv", "gtoffset", "spark", "prom", "raw", "jsonl", "template"}

// cleaned are the other formats: what would move a cursor is shown as an escape.
var cleaned = []string{"", "table", "wide", "json", "yaml"}

// names are formats as they are typed.
func names(formats []output.Format) []string {
	all := make([]string, len(formats))
	for i, f := range formats {
		all[i] = string(f)
	}
	return all
}

// harmless checks one stream.
func harmless(t *testing.T, what, text, format string, terminal bool) {
	t.Helper()
	var through []string
	first := len(text)
	for _, d := range dangerous {
		if slices.Contains(exact, format) && (!terminal || d == "\n" || d == "\t") {
			continue
		}
		if at := strings.Index(text, d+mark); at >= 0 {
			through, first = append(through, strconv.Quote(d)), min(first, at)
		}
	}
	if len(through) > 0 {
		t.Errorf("%s: %s come through, first in %q; if -o %s is for programs and holds names as they are, exact of hostile_test.go has it",
			what, strings.Join(through, " "), text[max(0, first-60):min(len(text), first+60)], format)
	}
	if !slices.Contains(exact, format) && !utf8.ValidString(text) {
		t.Errorf("%s: no UTF-8: %q", what, text)
	}
}

// readable checks that a document reads as one, and that a group in it is one of those that there are, to the byte.
func readable(t *testing.T, what, text, format string, groups []string) {
	t.Helper()
	if text == "" {
		return
	}
	known := func(name string) {
		t.Helper()
		if strings.Contains(name, mark) && !slices.Contains(groups, name) {
			t.Errorf("%s: there is no group %q", what, name)
		}
	}
	switch format {
	case "", "table", "wide", "raw", "template": // for people, or with bounds that only the reader knows
	case "spark":
		if !json.Valid([]byte(text)) {
			t.Errorf("%s: no JSON: %q", what, text)
		}
	case "jsonl":
		for line := range strings.Lines(text) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: no JSON: %q", what, line)
			}
		}
	case "kafka-csv":
		if _, err := csv.NewReader(strings.NewReader(text)).ReadAll(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	case "gtoffset":
		doc, err := offsetfile.Parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		known(doc.Group())
	case "json", "yaml":
		var doc struct {
			Groups []struct {
				Group string
				Exact string `json:"group_base64" yaml:"group_base64"`
			}
		}
		var err error
		if format == "json" {
			err = json.Unmarshal([]byte(text), &doc)
		} else {
			err = yaml.Unmarshal([]byte(text), &doc)
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		for _, g := range doc.Groups {
			name := g.Group
			if g.Exact != "" {
				b, err := base64.StdEncoding.DecodeString(g.Exact)
				must(t, err)
				name = string(b)
			}
			known(name)
		}
	case "csv":
		all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		for _, row := range all[1:] {
			known(row[0])
		}
	case "prom":
		p := expfmt.NewTextParser(model.UTF8Validation)
		families, err := p.TextToMetricFamilies(strings.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		for i, g := range groups {
			groups[i] = strings.ToValidUTF8(g, "\ufffd") // a label can hold nothing else
		}
		for _, m := range families["gtoffset_group_info"].GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "group" {
					known(l.GetValue())
				}
			}
		}
	default:
		t.Errorf("readable of hostile_test.go has no reader for -o %s: a name that is changed on the way would pass", format)
	}
}

// Every view in every format, for a pipe and for a terminal: names and texts of others are data, whatever is in them.
func TestHostileText(t *testing.T) {
	t.Parallel()
	group, topic := strings.ToValidUTF8(evil("g"), ""), evil("t") // what is no UTF-8 is no name that could be typed
	w := start(t).topic("orders", [2]int64{500, 900}).topic("records", [2]int64{0, 0})
	must(t, w.b.Commit(group, "orders", 0, 100, -1, evil("m")))
	w.produce(&kgo.Record{Topic: "records", Key: []byte(evil("k")), Value: []byte(evil("v")), Headers: []kgo.RecordHeader{{Key: evil("h"), Value: []byte(evil("x"))}}})
	w.commit("live", "orders", 600)
	w.b.Rewrite(kmsg.DescribeGroups.Int16(), func(_ int32, r kmsg.Response) bool { // of one group the members are as hostile as can be
		for i, g := range r.(*kmsg.DescribeGroupsResponse).Groups {
			if g.Group == "live" {
				m := kmsg.NewDescribeGroupsResponseGroupMember()
				m.MemberID, m.ClientID, m.ClientHost, m.InstanceID = evil("id"), evil("client"), evil("/host"), kmsg.StringPtr(evil("instance"))
				r.(*kmsg.DescribeGroupsResponse).Groups[i].State, r.(*kmsg.DescribeGroupsResponse).Groups[i].Protocol = "Stable", evil("range")
				r.(*kmsg.DescribeGroupsResponse).Groups[i].Members = append(g.Members, m)
			}
		}
		return true
	})
	w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool { // and one topic that only it tells of
		for i, g := range r.(*kmsg.OffsetFetchResponse).Groups {
			if g.Group == group {
				n := kmsg.NewOffsetFetchResponseGroupTopic()
				n.Topic = topic
				p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
				p.Offset, p.Metadata = 5, kmsg.StringPtr(evil("m"))
				n.Partitions = append(n.Partitions, p)
				r.(*kmsg.OffsetFetchResponse).Groups[i].Topics = append(g.Topics, n)
			}
		}
		return true
	})

	// A store in which other programs have left what they like.
	onDisk := strings.NewReplacer("/", "_", "\x00", "").Replace(evil("d"))
	w.put(onDisk, "orders", "0 5\n")
	w.put("billing", onDisk, "0 5\n")
	w.put("billing", "orders", evil("0 5 ")+"\n"+evil("")+"\n")
	w.put("shop", "orders", "# gtoffset 1\n# group "+strings.ReplaceAll(evil("g"), "\n", "")+"\n# topic orders\n0 5\n# entries 1\n")
	must(t, os.WriteFile(filepath.Join(w.store, "billing", "orders", "gtoffset.lock"), []byte(evil("nightly ")), 0o600))
	must(t, os.WriteFile(filepath.Join(w.store, "billing", "orders", ".gtoffset."+onDisk+".tmp"), nil, 0o600))

	// A backup to be listed.
	w.run("clamp", "-g", group, "-t", "orders", "--committed", "--execute", "--why", evil("why"), "-q").exits(0)
	must(t, w.b.Commit(group, "orders", 0, 100, -1, evil("m")))
	here := strings.ReplaceAll(w.t.TempDir(), "\x00", "")
	bad := filepath.Join(here, onDisk)
	must(t, os.WriteFile(bad, []byte(evil("{")), 0o600))

	w.b.OffsetsLog(history.Partition(group, 3)).Batch(w.now, kafkatest.ClassicGroup(group, 1, evil("app")), kafkatest.OffsetCommit(group, "orders", 0, 100, evil("m")))

	all, rows, plan := names(output.Describe{}.Formats()), names(output.GroupList{}.Formats()), cmd.FormatsOf("clamp")
	views := []view{
		{"a group", all, []string{"describe", "-g", group}, ""},
		{"with a store", all, []string{"describe", "-g", group, "-g", "billing", "-g", "shop", "-s", w.store}, ""},
		{"all groups", all, []string{"describe", "--all-groups", "-s", w.store}, ""},
		{"only problems", all, []string{"describe", "-g", group, "--problems"}, ""},
		{"times", all, []string{"describe", "-g", group, "--time"}, ""},
		{"checks", all, []string{"describe", "--all-groups", "--check", "--max-lag", "1"}, ""},
		{"the list", rows, []string{"describe"}, ""},
		{"members", rows, []string{"describe", "-g", "live", "-g", group, "--members"}, ""},
		{"state", rows, []string{"describe", "-g", "live", "-g", group, "--state"}, ""},
		{"a live group", all, []string{"describe", "-g", "live"}, ""},
		{"clamp", plan, []string{"clamp", "-g", group, "--dry-run"}, ""},
		{"clamp of a live group", plan, []string{"clamp", "-g", "live", "--execute"}, ""},
		{"clamp of a damaged store", plan, []string{"clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--salvage", "--dry-run"}, ""},
		{"clamp of a topic that is gone", plan, []string{"clamp", "-g", group, "-t", topic, "--dry-run"}, ""},
		{"reset", plan, []string{"reset", "-g", group, "--all-topics", "--to-earliest", "--dry-run"}, ""},
		{"reset to a group", plan, []string{"reset", "-g", "live", "-t", "orders", "--from-group", group, "--dry-run"}, ""},
		{"reset to a file", plan, []string{"reset", "-g", group, "--from-file", bad, "--dry-run"}, ""},
		{"delete", plan, []string{"delete", "-g", group, "-t", "orders", "--dry-run"}, ""},
		{"delete all", plan, []string{"delete", "-g", group, "--whole-group", "--dry-run"}, ""},
		{"export", cmd.FormatsOf("export"), []string{"export", "-g", group, "--committed"}, ""},
		{"export of a store", cmd.FormatsOf("export"), []string{"export", "-g", "shop", "-s", w.store, "--stored"}, ""},
		{"export over a file", []string{"json"}, []string{"export", bad, "-g", group, "--committed"}, ""},
		{"import", plan, []string{"import", bad, "--committed", "--dry-run"}, ""},
		{"import of text", plan, []string{"import", "-", "-g", group, "--committed", "--dry-run"}, evil("orders,0,1\norders,") + "\n"},
		{"import of YAML", plan, []string{"import", "-", "-g", group, "--committed", "--dry-run"}, "schema: gtoffset.offsets/1\n" + strings.ReplaceAll(evil("a"), "\n", "") + ": 1\n"},
		{"import of JSON", plan, []string{"import", "-", "--committed", "--dry-run"}, `{"schema":"gtoffset.offsets/1","kind":` + quoteJSON(evil("k")) + `,"side":` + quoteJSON(evil("s")) + `,"groups":[{"group":` + quoteJSON(group) +
			`,"partitions":[{"topic":` + quoteJSON(evil("t")) + `,"partition":` + quoteJSON(evil("p")) + `,"offset":-1}]}]}`},
		{"import of rows", plan, []string{"import", "-", "--committed", "--dry-run"}, `{"schema":"gtoffset.offsets/1","kind":"export","side":"committed","cluster":{"id":` + quoteJSON(evil("c")) + `},"groups":[{"group":` + quoteJSON(group) +
			`,"partitions":[{"topic":` + quoteJSON(evil("t")) + `,"partition":0,"offset":1,"metadata":` + quoteJSON(evil("m")) + `}]}]}`},
		{"import of a file", plan, []string{"import", "-", "-g", group, "-t", "orders", "--committed", "--dry-run"}, evil("0 1\n1 ") + "\n"},
		{"import of nothing", plan, []string{"import", evil("/no/such/"), "--committed", "--dry-run"}, ""},
		{"wait", cmd.FormatsOf("wait"), []string{"wait", "-g", group, "--lag", "1", "--for", "1ms"}, ""},
		{"wait for nobody", cmd.FormatsOf("wait"), []string{"wait", "-g", "live", "--empty", "--for", "1ms"}, ""},
		{"backups", cmd.FormatsOf("backups"), []string{"backups"}, ""},
		{"records", append(cmd.FormatsOf("replay"), "template"), []string{"replay", "-g", group, "-t", "records", "--from", "earliest"}, ""},
		{"records for a command", []string{"jsonl"}, []string{"replay", "-g", group, "-t", "records", "--from", "earliest", "--batch-records", "1", "--", "sh", "-c", "cat >/dev/null; exit 3", evil("arg")[:1]}, ""},
		{"history", cmd.FormatsOf("history"), []string{"history", "-g", group, "--all"}, ""},
		{"config", cmd.FormatsOf("config"), []string{"config", "-X", "client.id=" + evil("c")}, ""},
		{"version", cmd.FormatsOf("version"), []string{"version"}, ""},
		{"completion", []string{""}, []string{"completion", "bash"}, ""},
		{"help", []string{""}, []string{"help", evil("topic")}, ""},
	}
	for _, v := range views {
		for _, f := range v.formats {
			if !slices.Contains(exact, f) && !slices.Contains(cleaned, f) {
				t.Fatalf("is -o %s for programs, and holds names as they are? name it in exact of hostile_test.go, else in cleaned, and give readable a reader of it", f)
			}
		}
	}
	for _, command := range cmd.Commands() {
		if !slices.ContainsFunc(views, func(v view) bool { return v.args[0] == command }) {
			t.Errorf("views of TestHostileText has none of gtoffset %s: what comes from others is to be seen in it, in each of its formats", command)
		}
	}
	for _, wrong := range [][]string{
		{"describe", "-g", evil("nobody")},
		{"describe", "-g", group, "-t", topic + ":1"},
		{"describe", "-g", group, "-t", evil("orders:")},
		{"describe", "--group-regex", evil("(")},
		{"describe", "-g", group, "-b", evil("host:")},
		{"describe", "-g", group, "-b", "127.0.0.1:1"},
		{"describe", "-g", group, "-s", evil("redis://h")},
		{"describe", "-g", group, "-s", evil("zz://h")},
		{"describe", "-g", group, "-s", "/no/" + strings.ReplaceAll(evil(""), "\x00", "")},
		{"describe", "-g", group, "--expect-cluster", evil("id")},
		{"describe", "-g", group, "--color", evil("c")},
		{"describe", evil("--flag")},
		{"describe", "-g", group, "--timeout", evil("1")},
		{"describe", "-g", group, "--sort", evil("s")},
		{evil("command")},
		{"reset", "-g", group, "-t", "orders", "--to-datetime", evil("2026"), "--dry-run"},
		{"reset", "-g", group, "-t", "orders", "--to-datetime", "2026-11-29T12:00:00", "--timezone", evil("Europe/"), "--dry-run"},
		{"reset", "-g", group, "-t", "orders", "--by-duration", evil("P"), "--dry-run"},
		{"import", "-", "--as", evil("json"), "--dry-run"},
		{"replay", "-g", group, "-t", "records", "--from", evil("f")},
		{"replay", "-g", group, "-t", "records", "--from", "earliest", "--format", evil("%")},
		{"replay", "-g", group, "-t", "records", "--from", "earliest", "--", strings.ReplaceAll(evil("no-such-"), "\x00", "")},
		{"replay", "-g", group, "-t", "records", "--from", "earliest", "--to-topic", evil("t"), "--execute"},
		{"backups", "--prune", evil("9")},
		{"backups", "--backup-dir", strings.ReplaceAll(bad, "\x00", "")},
		{"completion", evil("bash")},
		{"describe", "-g", group, "-o", evil("json")},
	} {
		views = append(views, view{"an error of " + wrong[0][:min(8, len(wrong[0]))], []string{"", "json"}, wrong, ""})
	}
	for _, v := range views {
		for _, format := range v.formats {
			for _, terminal := range []bool{false, true} {
				args := slices.Clone(v.args)
				switch end := slices.Index(args, "--"); {
				case format == "template":
					args = append(args, "--format", `%t %k %s %h\n`)
				case format == "" || slices.Contains(args, "-o"):
				case end >= 0:
					args = slices.Insert(args, end, "-o", format)
				default:
					args = append(args, "-o", format)
				}
				if args[0] == "describe" && len(args)%2 == 0 {
					args = slices.Insert(args, 1, "-v")
				}
				w.stdin(v.in)
				w.width = 0
				if terminal {
					w.width = 120
				}
				r := w.run(args...)
				what := fmt.Sprintf("%s, -o %s, terminal %v, exit %d", v.name, format, terminal, r.code)
				harmless(t, what+", stdout", r.out, format, terminal)
				harmless(t, what+", stderr", r.err, "", terminal)
				if !terminal && r.code != 2 {
					readable(t, what, r.out, format, []string{group, onDisk, evil("nobody"), strings.ToValidUTF8(group, "?")})
				}
			}
		}
	}
	for _, path := range w.backups() {
		if strings.Contains(path, mark+"=") || strings.Contains(filepath.Base(path), "..") || !regexp.MustCompile(`^[A-Za-z0-9._-]+$`).MatchString(filepath.Base(path)) {
			t.Errorf("a backup is named %q", path)
		}
	}
}

// quoteJSON writes a text as a JSON string, which can hold UTF-8 only.
func quoteJSON(s string) string {
	b, err := json.Marshal(strings.ToValidUTF8(s, "?"))
	if err != nil {
		panic(err) // a text is always JSON
	}
	return string(b)
}

// A picture that is drawn again and again has our own sequences for the terminal, and nobody else's.
func TestHostileWatch(t *testing.T) {
	t.Parallel()
	group := strings.ToValidUTF8(evil("g"), "")
	for _, width := range []int{0, 120} {
		w := start(t).topic("orders", [2]int64{500, 900})
		must(t, w.b.Commit(group, "orders", 0, 100, -1, evil("m")))
		w.width = width
		for _, format := range []string{"table", "wide"} {
			all, talk, _ := w.watch(nil, func(n int, _ string, end func()) {
				if n == 2 {
					end()
				}
			}, "describe", "-g", group, "--watch=100ms", "-o", format)
			harmless(t, fmt.Sprintf("width %d, -o %s", width, format), strings.Join(all, ""), format, true)
			harmless(t, "stderr", talk, "", true)
		}
	}
}

// A command gets its arguments as they are given, and through no shell: nor does what it is told of group and ranges.
func TestReplayThroughNoShell(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 0})
	w.produce(&kgo.Record{Topic: "orders", Value: []byte("v")})
	here := t.TempDir()
	group := "g; touch " + here + "/a $(touch " + here + "/b) `touch " + here + "/c` | touch " + here + "/d"
	r := w.run("replay", "-g", group, "-t", "orders", "--from", "earliest", "--", "sh", "-c", `cat >/dev/null; printf '%s\n' "$@" "$GTOFFSET_GROUP"`, "sh", group, "$HOME", "*").exits(0)
	same(t, "what the command prints", r.out, group+"\n$HOME\n*\n"+group+"\n")
	left, err := os.ReadDir(here)
	must(t, err)
	same(t, "files made", len(left), 0)
}

// What is written is for its owner only, whatever the umask and the names are.
func TestModes(t *testing.T) {
	t.Parallel()
	group := strings.ToValidUTF8(evil("g"), "")
	w := start(t).topic("orders", [2]int64{500, 900}).commit(group, "orders", 100).commit("billing", "orders", 100).save("billing", "orders", 100)
	w.run("clamp", "-g", group, "--committed", "--execute").exits(0)
	w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute", "-o", "json").exits(0)
	file := filepath.Join(t.TempDir(), "offsets.json")
	w.run("export", file, "-g", "billing", "--committed").exits(0)
	check := func(path string, want os.FileMode) {
		t.Helper()
		fi, err := os.Stat(path)
		must(t, err)
		same(t, "mode of "+filepath.Base(path), fi.Mode().Perm(), want)
	}
	check(file, 0o600)
	check(filepath.Join(w.state, "gtoffset"), 0o700)
	same(t, "backups and plans", len(w.backups()), 4)
	for _, path := range w.backups() {
		check(path, 0o600)
	}
}
