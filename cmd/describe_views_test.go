package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/kafkatest"
)

func TestMembersAndState(t *testing.T) {
	w := startWith(t, kafkatest.Options{Brokers: 3}).topic("orders", [2]int64{0, 10}, [2]int64{0, 10}, [2]int64{0, 10})
	for group, modern := range map[string]bool{"classic": false, "modern": true} {
		leave, err := w.b.Join(group, modern, "orders")
		must(t, err)
		defer leave()
	}
	w.commit("idle", "orders", 1)
	w.b.Reset()
	r := w.run("describe", "--all-groups", "--members").exits(0).prints("GROUP", "CLIENT-ID", "ASSIGNMENT", "kafkatest-member", "orders:0-2", "no members", "3 groups, 2 members")
	r.never("EARLIEST")
	same(t, "questions about topics", w.b.Count(kmsg.ListOffsets.Int16()), 0)
	w.run("describe", "-g", "modern", "--members", "-o", "wide").exits(0).prints("MEMBER  ")
	w.run("describe", "-g", "modern", "--members", "-o", "csv").exits(0).prints("group,member,client_id,host,instance_id,epoch,partitions,assignment,error\n")
	doc := document[groupsDoc](w.run("describe", "--all-groups", "--members", "-o", "json").exits(0), "gtoffset.groups/1")
	for i, want := range []string{"classic 1 kafkatest-member 3 null", "idle 0", "modern 1 kafkatest-member 3 1"} {
		g := doc.Groups[i]
		got := fmt.Sprint(g.Group, " ", g.MemberCount)
		for _, m := range g.Members {
			got += fmt.Sprint(" ", m.ClientID, " ", len(m.Assigned), " ", m.Epoch)
		}
		same(t, "members", got, want)
	}

	w.run("describe", "--all-groups", "--state").exits(0).prints("COORDINATOR", "ADDRESS", "ASSIGNOR", "127.0.0.1:", "simple", "consumer", "Stable")
	doc = document[groupsDoc](w.run("describe", "-g", "modern", "--state", "-o", "json").exits(0), "gtoffset.groups/1")
	g := doc.Groups[0]
	same(t, "state", fmt.Sprint(g.Type, " ", *g.State, " ", g.Assignor != "", " ", strings.HasPrefix(g.Address, "127.0.0.1:"), " ", g.Epoch, " ", g.Members == nil), fmt.Sprint("consumer Stable true true ", g.Epoch, " true"))
	w.run("describe", "-g", "nobody", "--state").exits(1)
	w.run("describe", "-g", "modern", "-g", "nobody", "--members").exits(3).prints("no such group")
	w.b.DenyGroup("idle")
	w.run("describe", "-g", "idle", "-g", "modern", "--members").exits(3).prints("unknown: not allowed", "kafkatest-member")
	w.run("describe", "-g", "idle", "-g", "modern", "--state").exits(3).prints("not allowed", "Stable")
}

func TestTypes(t *testing.T) {
	w := start(t).topic("orders", [2]int64{0, 10}).commit("simple", "orders", 1)
	leave, err := w.b.Join("modern", true, "orders")
	must(t, err)
	defer leave()
	names := func(r result) string {
		var all []string
		for _, g := range document[groupsDoc](r.exits(0), "gtoffset.groups/1").Groups {
			all = append(all, g.Group)
		}
		return strings.Join(all, " ")
	}
	same(t, "all", names(w.run("describe", "-o", "json")), "modern simple")
	same(t, "simple", names(w.run("describe", "-o", "json", "--type", "simple")), "simple")
	same(t, "both", names(w.run("describe", "-o", "json", "--type", "simple,Consumer")), "modern simple")
	same(t, "streams", names(w.run("describe", "-o", "json", "--type", "streams")), "")
	same(t, "described", len(w.run("describe", "--all-groups", "--type", "consumer", "-o", "json").exits(0).describe().Groups), 1)
	same(t, "by name", len(w.run("describe", "--group-regex", ".*", "--type", "consumer", "-o", "json").exits(0).describe().Groups), 1)
	w.run("describe", "--type", "odd").exits(2).says("classic, consumer, share, streams, simple")
	w.run("describe", "-g", "modern", "--type", "consumer").exits(2)
}

func TestSort(t *testing.T) {
	w := start(t).topic("orders", [2]int64{0, 100}, [2]int64{50, 100}, [2]int64{0, 100}, [2]int64{0, 100})
	w.commit("billing", "orders", 90, 10, 20, none).commit("other", "orders", 0, 60, 0, 0)
	order := func(by string) string {
		var all []string
		for _, g := range w.run("describe", "--all-groups", "--sort", by, "-o", "json").exits(0).describe().Groups {
			for _, p := range g.Partitions {
				all = append(all, fmt.Sprint(g.Group[:1], p.Partition))
			}
		}
		return strings.Join(all, " ")
	}
	same(t, "by topic", order("topic"), "b0 b1 b2 b3 o0 o1 o2 o3")
	same(t, "by lag", order("lag"), "o0 o2 o3 o1 b2 b1 b0 b3")
	same(t, "by state", order("state"), "b1 b3 b0 b2 o0 o1 o2 o3")
	w.run("describe", "-g", "billing", "--sort", "size").exits(2)
	w.run("describe", "--sort", "lag").exits(2).says("--sort needs a group")
}

// Who asks for the groups of one topic does not pay for the others.
func TestAllGroupsOfATopic(t *testing.T) {
	w := startWith(t, kafkatest.Options{Brokers: 3})
	for _, topic := range []string{"orders", "a", "b", "c", "d"} {
		w.topic(topic, [2]int64{0, 10}, [2]int64{0, 10}, [2]int64{0, 10})
	}
	for i := range 20 {
		group := fmt.Sprintf("g%02d", i)
		w.commit(group, "a", 1, 2, 3).commit(group, "b", 1, 2, 3)
		if i%4 == 0 {
			w.commit(group, "orders", 1, 2, 3)
		}
	}
	var asked []string
	w.b.Rewrite(kmsg.Metadata.Int16(), func(_ int32, r kmsg.Response) bool {
		for _, topic := range r.(*kmsg.MetadataResponse).Topics {
			asked = append(asked, *topic.Topic)
		}
		return true
	})
	w.b.Reset()
	doc := w.run("describe", "--all-groups", "-t", "orders", "-o", "json").exits(0).describe()
	same(t, "groups", len(doc.Groups), 5)
	same(t, "topics asked for", strings.Join(slices.DeleteFunc(asked, func(s string) bool { return s == "__consumer_offsets" }), " "), "orders")
	counts := map[string]int{}
	for _, q := range w.b.Requests() {
		counts[kmsg.NameForKey(q.Key)]++
	}
	same(t, "requests", fmt.Sprint(counts), "map[ApiVersions:3 DescribeGroups:3 ListGroups:3 ListOffsets:6 Metadata:2 OffsetFetch:3]")
}

func TestTime(t *testing.T) {
	w := start(t).topic("orders")
	must(t, w.b.Fake.CreateTopic("short", 3, map[string]string{"retention.ms": "3600000"}))
	must(t, w.b.Fake.CreateTopic("kept", 1, map[string]string{"retention.ms": "-1"}))
	must(t, w.b.Fake.CreateTopic("capped", 1, map[string]string{"retention.bytes": "1000000"}))
	now := time.Date(2031, 11, 29, 12, 0, 0, 0, time.UTC)
	for p := range int32(2) {
		must(t, w.b.ProduceAt("short", p, now.Add(-50*time.Minute), now.Add(-20*time.Minute)))
	}
	must(t, w.b.ProduceAt("kept", 0, now.Add(-48*time.Hour)))
	must(t, w.b.ProduceAt("capped", 0, now.Add(-time.Hour)))
	w.commit("billing", "short", 1, 2, none).commit("billing", "kept", 0).commit("billing", "capped", 0)
	w.b.Reset()
	r := w.run("describe", "-g", "billing", "--time").exits(0).prints("BEHIND", "EXPIRES-IN", "commits", "7 d after it was made", "retention.bytes=1000000")
	same(t, "fetches", w.b.Count(kmsg.Fetch.Int16()), 1)
	same(t, "configurations", w.b.Count(kmsg.DescribeConfigs.Int16()), 2)
	same(t, "a record that is due", r.line("short", 0), "short 0 0 1 2 1 20m 39m59s ok")
	same(t, "nothing left to read", r.line("short", 1), "short 1 0 2 2 0 0s - ok")
	same(t, "never committed", r.line("short", 2), "short 2 0 - 0 - - - no commit")
	same(t, "kept for ever", r.line("kept", 0), "kept 0 0 0 1 1 2d never ok")
	same(t, "bounded in bytes", r.line("capped", 0), "capped 0 0 0 1 1 1h - ok")
	w.run("describe", "-g", "billing", "--time", "-o", "wide").exits(0).prints("NEXT-TIME", "2031-11-29T11:40:00.000Z", "2031-11-29T12:40:00.000Z", "nothing left to read", "there is no offset", "by retention.ms alone in ")
	w.run("describe", "-g", "billing", "--time", "-o", "json").exits(0).describe()
	w.run("describe", "-g", "billing", "--time", "-o", "csv").exits(0).prints(",behind_ms,expires_in_ms,")
	w.b.Reset()
	w.run("describe", "-g", "billing").exits(0).never("BEHIND")
	same(t, "fetches without --time", w.b.Count(kmsg.Fetch.Int16(), kmsg.DescribeConfigs.Int16()), 0)

	w.run("describe", "-g", "billing", "--max-behind", "1d", "--min-expires-in", "30m").exits(10).
		says(`check --max-behind 1 d is not met by 1 partition; the worst is group "billing" kept 0 with 2 d`).never("check --min-expires-in 30")
	w.run("describe", "-g", "billing", "--max-behind", "3d", "--min-expires-in", "12h").exits(10).
		says(`check --min-expires-in 12 h is not met by 1 partition; the worst is group "billing" short 0 with 39 min 59 s`, "check --min-expires-in: 2 partitions could not be measured")
	w.run("describe", "-g", "billing", "--check", "--max-lag", "0", "--max-behind", "1d", "--min-expires-in", "12h").exits(10).
		says("check --max-lag 0 ", "check --max-behind 1 d ", "check --min-expires-in 12 h ")
	w.run("describe", "-g", "billing", "--max-behind", "3d").exits(0)
	w.run("describe", "-g", "billing", "--problems", "--min-expires-in", "12h", "-o", "csv").exits(10).prints(",short,0,").never(",kept,0,")
}

func TestProm(t *testing.T) {
	odd := "od\\d \"group\"\nof 1"
	w := start(t).topic("orders", [2]int64{50, 100}, [2]int64{0, 100}).commit("billing", "orders", 10, 120).commit(odd, "orders", 60)
	w.save("billing", "orders", 60, none)
	path := filepath.Join(t.TempDir(), "gtoffset.prom")
	r := w.run("describe", "--all-groups", "-s", w.store, "-o", "prom").exits(0)
	w.run("describe", "--all-groups", "-s", w.store, "-o", "prom", "--output-file", path).exits(0).never("gtoffset_lag")
	file, err := os.ReadFile(path)
	must(t, err)
	if !strings.Contains(string(file), "gtoffset_lag{") {
		t.Errorf("the file: %s", file)
	}
	for _, text := range []string{r.out, string(file)} {
		parser := expfmt.NewTextParser(model.LegacyValidation)
		families, err := parser.TextToMetricFamilies(strings.NewReader(text))
		must(t, err)
		value := func(name string, labels map[string]string) string {
			var found []string
		samples:
			for _, m := range families["gtoffset_"+name].GetMetric() {
				has := map[string]string{}
				for _, l := range m.GetLabel() {
					has[l.GetName()] = l.GetValue()
				}
				for k, v := range labels {
					if has[k] != v {
						continue samples
					}
				}
				found = append(found, fmt.Sprint(m.GetGauge().GetValue()))
			}
			return strings.Join(found, " ")
		}
		at := func(group, partition, side string) map[string]string {
			l := map[string]string{"group": group, "topic": "orders", "partition": partition}
			if side != "" {
				l["side"] = side
			}
			return l
		}
		for _, c := range []struct {
			name   string
			labels map[string]string
			want   string
		}{
			{"lag", at("billing", "0", "committed"), "50"},
			{"lag", at("billing", "0", "stored"), "40"},
			{"expired", at("billing", "0", "committed"), "40"},
			{"expired", at("billing", "0", "stored"), "0"},
			{"ahead", at("billing", "1", "committed"), "20"},
			{"lag", at("billing", "1", "stored"), ""}, // unknown has no sample
			{"offset", at("billing", "1", "stored"), ""},
			{"partition_ok", at("billing", "0", ""), "0"},
			{"partition_readable", at("billing", "0", ""), "1"},
			{"earliest_offset", at("billing", "0", ""), "50"},
			{"end_offset", at("billing", "0", ""), "100"},
			{"unprocessed", at("billing", "0", ""), "0"},
			{"lag", at(odd, "0", "committed"), "40"},
			{"group_readable", map[string]string{"group": odd}, "1"},
			{"group_members", map[string]string{"group": "billing"}, "0"},
			{"group_info", map[string]string{"group": "billing", "type": "simple", "state": "Empty"}, "1"},
			{"brokers_missing", nil, "0"},
		} {
			same(t, fmt.Sprint(c.name, c.labels), value(c.name, c.labels), c.want)
		}
		if len(families["gtoffset_look_timestamp_seconds"].GetMetric()) != 1 {
			t.Error("no time")
		}
	}
	w.run("describe", "-o", "prom").exits(2).says("-o prom needs a group")
	w.run("describe", "--all-groups", "-o", "prom", "--output-file", filepath.Join(t.TempDir(), "none", "x")).exits(1).says("no such file")
	same(t, "files beside it", len(mustGlob(t, filepath.Dir(path))), 1)
}

func mustGlob(t *testing.T, folder string) []os.DirEntry {
	t.Helper()
	all, err := os.ReadDir(folder)
	must(t, err)
	return all
}

// A run that fails leaves the old file: whoever collects it sees how old it is by its own timestamp.
func TestOutputFileStays(t *testing.T) {
	w := start(t).topic("orders", [2]int64{0, 100}).commit("billing", "orders", 10)
	folder := t.TempDir()
	path, link := filepath.Join(folder, "a.prom"), filepath.Join(folder, "b.prom")
	must(t, os.WriteFile(path, []byte("old\n"), 0o640))
	must(t, os.Symlink("a.prom", link))
	w.run("describe", "-g", "nobody", "-o", "json", "--output-file", filepath.Join(folder, "c.json")).exits(1)
	w.run("describe", "-g", "billing", "-o", "prom", "--output-file", link).exits(0)
	info, err := os.Lstat(link)
	must(t, err)
	same(t, "the link is still one", info.Mode()&os.ModeSymlink != 0, true)
	info, err = os.Stat(path)
	must(t, err)
	same(t, "mode", info.Mode().Perm(), os.FileMode(0o640))
	w.run("describe", "-g", "billing", "-o", "prom", "--output-file", folder).exits(1).says("it is a folder")
	before, err := os.ReadFile(path)
	must(t, err)
	w.b.Kill(0)
	w.run("describe", "-g", "billing", "-o", "prom", "--output-file", link).exits(5)
	after, err := os.ReadFile(path)
	must(t, err)
	same(t, "the file after a failed run", string(after), string(before))
}

// What killed runs have left of the file is removed when it is old, and nothing else.
func TestOutputFileTidies(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 100}).commit("billing", "orders", 10)
	folder := t.TempDir()
	old := time.Now().Add(-2 * time.Hour)
	for name, at := range map[string]time.Time{".a.prom.123.tmp": old, ".a.prom.456.tmp": time.Now(), ".b.prom.123.tmp": old, ".a.prom.x1.tmp": old, ".a.prom..tmp": old, "a.prom.123.tmp": old} {
		must(t, os.WriteFile(filepath.Join(folder, name), nil, 0o600))
		must(t, os.Chtimes(filepath.Join(folder, name), at, at))
	}
	must(t, os.Mkdir(filepath.Join(folder, ".a.prom.9.tmp"), 0o700))
	must(t, os.Chtimes(filepath.Join(folder, ".a.prom.9.tmp"), old, old))
	w.run("describe", "-g", "billing", "-o", "prom", "--output-file", filepath.Join(folder, "a.prom")).exits(0)
	all, err := os.ReadDir(folder)
	must(t, err)
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name()
	}
	same(t, "files", strings.Join(names, " "), ".a.prom..tmp .a.prom.456.tmp .a.prom.9.tmp .a.prom.x1.tmp .b.prom.123.tmp a.prom a.prom.123.tmp")
}

// One deleted topic, one group without a right, one broker that is away: everything else is shown, in each format.
func TestEveryFormatShowsTheRest(t *testing.T) {
	w := startWith(t, kafkatest.Options{Brokers: 3})
	w.topic("orders", [2]int64{0, 10}, [2]int64{0, 10}, [2]int64{0, 10}).topic("gone", [2]int64{0, 10})
	var fine, secret string // coordinated by brokers that stay
	for i := 0; fine == "" || secret == ""; i++ {
		group := fmt.Sprintf("group-%d", i)
		w.commit(group, "orders", 4, 5, 6).commit(group, "gone", 4)
		if c := w.run("describe", "-g", group, "--state", "-o", "json").groups().Groups[0].Coordinator.String(); c == "1" {
			continue
		}
		if fine == "" {
			fine = group
			continue
		}
		secret = group
	}
	w.hide("gone", 0)
	w.b.DenyGroup(secret)
	w.b.Kill(1) // leads orders 1
	for format, want := range map[string][]string{
		"table": {"gone: the topic does not exist", "not allowed", "broker 1 (", fine},
		"wide":  {"gone: the topic does not exist", "not allowed", "broker 1 (", fine},
		"json":  {`"state":"gone: the topic does not exist`, "not allowed", "broker 1 (", `"end":10`},
		"yaml":  {"gone: the topic does not exist", "not allowed", "broker 1 (", "end: 10"},
		"csv":   {"gone: the topic does not exist", "not allowed", "broker 1 (", fine + ",orders,0,0,-,4,10,6,"},
		"prom": {
			`gtoffset_partition_readable{group="` + fine + `",topic="orders",partition="1"} 0`, `gtoffset_group_readable{group="` + secret + `"} 0`,
			`gtoffset_lag{group="` + fine + `",topic="orders",partition="0",side="committed"} 6`,
		},
	} {
		t.Run(format, func(t *testing.T) {
			r := w.run("describe", "-g", fine, "-g", secret, "-o", format).exits(3).prints(want...)
			r.says("could not be read", secret)
		})
	}
}

// A group that only the store knows stands among the others by its name, and pushes none of them out, wherever that is.
func TestAllGroupsWithTheStores(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 100}).commit("billing", "orders", 7).commit("shipping", "orders", 9)
	for _, only := range []string{"archive", "invoices", "zebra"} {
		w.save(only, "orders", 5)
	}
	want := "archive null billing 7 invoices null shipping 9 zebra null"
	for _, which := range [][]string{{"--all-groups"}, {"--group-regex", ".*"}} {
		var got []string
		for _, g := range w.run(append([]string{"describe", "-s", w.store, "-o", "json"}, which...)...).exits(0).describe().Groups {
			got = append(got, g.Group, fmt.Sprint(g.Partitions[0].Committed.Offset))
		}
		same(t, "groups of "+which[0], strings.Join(got, " "), want)
	}
	var listed []string
	for _, g := range w.run("describe", "-s", w.store, "-o", "json").exits(0).groups().Groups {
		listed = append(listed, g.Group)
	}
	same(t, "list", strings.Join(listed, " "), "archive billing invoices shipping zebra")
}

// What only a store could tell is null without one, where the text says that it cannot be told; what a policy or a stale epoch bounds
// is a number all the same. A store that says nothing of a partition leaves the two null there, and counts it as unsure.
func TestRestartWithoutAStore(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900}, [2]int64{0, 600}).commit("billing", "orders", 800, none)
	type outcome struct {
		From, Policy, Unprocessed, Repeats, Unsure string
	}
	restart := func(list any) (all []outcome) {
		for _, o := range list.([]any) {
			f := o.(map[string]any)
			all = append(all, outcome{words(f["from"]), words(f["policy"]), words(f["loses_unprocessed"]), words(f["repeats"]), words(f["unsure"])})
		}
		return all
	}
	look := func(args ...string) (group map[string]any, first []outcome) {
		d := w.run(append([]string{"describe", "-g", "billing", "-o", "json"}, args...)...).exits(0).fields()
		group = d["groups"].([]any)[0].(map[string]any)
		return group, restart(group["partitions"].([]any)[0].(map[string]any)["restart"])
	}
	w.run("describe", "-g", "billing").exits(0).prints("A restart from the commits   loses 0, reads 100; how much was processed cannot be told without a store.")
	group, first := look()
	for n, want := range []outcome{
		{"commits", "<nil>", "<nil>", "<nil>", "<nil>"},
		{"commits", "earliest", "<nil>", "600", "<nil>"}, // where there is no commit: one may have been removed
		{"commits", "latest", "<nil>", "<nil>", "<nil>"},
		{"commits", "none", "<nil>", "<nil>", "<nil>"},
		{"new-group", "<nil>", "0", "0", "0"},
		{"new-group", "earliest", "0", "1400", "0"},
	} {
		same(t, "of the group", restart(group["restart"])[n], want)
	}
	same(t, "of a partition", first[0], outcome{"commits", "<nil>", "<nil>", "<nil>", "<nil>"})

	w.commit("billing", "orders", 800, 700) // high: under earliest all of it is read again
	group, _ = look()
	same(t, "bounded by a policy", restart(group["restart"])[1], outcome{"commits", "earliest", "<nil>", "600", "<nil>"})

	w.save("billing", "orders", none, 600)
	group, first = look("-s", w.store)
	for _, o := range restart(group["restart"]) {
		if o.From == "commits" && o.Policy == "<nil>" {
			same(t, "of the group, with a store", o, outcome{"commits", "<nil>", "0", "0", "1"})
		}
	}
	for _, o := range first {
		if o.From == "commits" {
			same(t, "of a partition without entry", o, outcome{"commits", "<nil>", "<nil>", "<nil>", "<nil>"})
		}
	}
}

// A check that is not met names, in documents, each place where it is not, and what mends the worst.
func TestCheckNamesItsPlaces(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 100, 900, 200)
	r := w.run("describe", "-g", "billing", "--check", "--max-lag", "399", "-o", "json", "-q").exits(10)
	var got []string
	for _, d := range r.failure().Details {
		got = append(got, words(deref(d.Group), deref(d.Topic), *d.Partition, d.Reason))
	}
	same(t, "details", strings.Join(got, "; "), "billing orders 0 committed low: 400 expired; billing orders 2 committed low: 300 expired; "+
		"billing orders 0 --max-lag 399: 400; billing orders 2 --max-lag 399: 400")
	hint := deref(r.failure().Hint)
	same(t, "the hint is the one of the text", strings.Contains(w.run("describe", "-g", "billing").exits(0).out, "hint: "+hint+"\n"), true)
	w.run("describe", "-g", "billing", "--check").exits(10).prints("hint: " + hint).never("gtoffset: hint")
}

// A check with -q is silent as long as all is well, as cron mails whatever is said, and tells all when it is not. What programs read is
// written all the same.
func TestQuietCheck(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
	checks := map[string][]string{
		"problems": {"describe", "--all-groups", "--check", "--problems", "-q"}, "all": {"describe", "-g", "billing", "--check", "-q"},
		"wide": {"describe", "-g", "billing", "--max-lag", "300", "-o", "wide", "-q"}, "clamp": {"clamp", "-g", "billing", "--check", "-q"},
	}
	for name, args := range checks {
		r := w.run(args...).exits(0)
		same(t, name, r.out+r.err, "")
	}
	w.run("describe", "-g", "billing", "--check", "-q", "-o", "json").exits(0).describe()
	file := filepath.Join(t.TempDir(), "metrics")
	w.run("describe", "-g", "billing", "--check", "-q", "-o", "prom", "--output-file", file).exits(0)
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	w.run("describe", "-g", "billing", "--problems", "-q").exits(0).prints("1 partition")
	w.commit("billing", "orders", 400)
	for _, args := range checks {
		w.run(args...).exits(10).prints("orders").says("check")
	}
	w.commit("billing", "orders", 600)
	w.run("describe", "-g", "billing", "--max-lag", "299", "-q").exits(10).prints("orders", "600").says("lag")
}
