package cmd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"gtoffset/offsetfile/exchange"
)

// documents are the same two offsets of group billing in each format: orders 0 = 700, orders 1 = 600.
var documents = []struct {
	format string
	text   string
	flags  []string // what import has to be told beside
	says   string   // how import names the format
}{
	{"json", `{"schema":"gtoffset.offsets/1","kind":"export","side":"committed","taken":"2026-11-29T12:00:00.123Z","tool":"gtoffset 0.1.0","cluster":{"id":null},"store":null,"groups":[{"group":"billing","type":"consumer","partitions":[{"topic":"orders","topic_id":null,"partition":0,"side":"committed","offset":700,"epoch":null,"metadata":null},{"topic":"orders","topic_id":null,"partition":1,"side":"committed","offset":600,"epoch":null,"metadata":null}]}]}`, nil, "JSON"},
	{"yaml", "schema: gtoffset.offsets/1\nkind: export\nside: committed\ntaken: \"2026-11-29T12:00:00.123Z\"\ntool: gtoffset\ncluster:\n  id: null\nstore: null\ngroups:\n  - group: billing\n    type: consumer\n    partitions:\n      - topic: orders\n        topic_id: null\n        partition: 0\n        side: committed\n        offset: 700\n        epoch: null\n        metadata: null\n      - topic: orders\n        topic_id: null\n        partition: 1\n        side: committed\n        offset: 600\n        epoch: null\n        metadata: null\n", nil, "YAML"},
	{"csv", "group,topic,partition,offset,epoch,metadata\nbilling,orders,0,700,-,\nbilling,orders,1,600,-,-\n", nil, "CSV"},
	{"kafka-csv", "orders,0,700\norders,1,600\n", []string{"-g", "billing"}, "Kafka"},
	{"kafka-csv", "billing,orders,0,700\nbilling,orders,1,600\n", nil, "Kafka"},
	{"kafka-csv", "\"billing\",\"orders\",0,700\n\"billing\",\"orders\",1,600\n", nil, "Kafka"},
	{"kafka-csv", "topic,partition,offset\norders,0,700\norders,1,600\n", []string{"-g", "billing"}, "Kafka"},
	{"spark", `{"orders":{"0":700,"1":600}}`, []string{"-g", "billing"}, "Spark"},
	{"gtoffset", "# gtoffset 1\n# group billing\n# topic orders\n0 700\n1 600\n# entries 2\n", nil, "gtoffset file"},
	{"gtoffset", "0 700\n1 600\n", []string{"-g", "billing", "-t", "orders"}, "gtoffset file"},
	{"rpk", "orders 0 700\norders 1 600\n", []string{"-g", "billing"}, "rpk"},
	{"rpk", "orders\t0\t700\norders\t1\t600\n", []string{"-g", "billing"}, "rpk"},
	{"yelp", `{"groupid":"billing","offsets":{"orders":{"0":700,"1":600}}}`, nil, "Yelp"},
	{"kcl", `[{"topic":"orders","partition":0,"offset":700},{"topic":"orders","partition":1,"offset":600}]`, []string{"-g", "billing"}, "kcl"},
	{"ranges", "orders 0 700 800\norders 1 600 650\n", []string{"-g", "billing", "--take", "from"}, "from"},
	{"ranges", "orders 0 650 700\norders 1 550 600\n", []string{"-g", "billing", "--take", "until"}, "until"},
}

// fresh is a world in which the documents have something to do.
func fresh(t *testing.T) *world {
	t.Helper()
	return start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 555, 555)
}

// Each format is recognised by its content, is named, and does the same.
func TestImportFormats(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, d := range documents {
		known[d.format] = true
	}
	for _, f := range exchange.Formats() {
		if !known[string(f)] {
			t.Errorf("%s is not among documents", f)
		}
	}
	for i, d := range documents {
		t.Run(fmt.Sprint(d.format, " ", i), func(t *testing.T) {
			t.Parallel()
			w := fresh(t)
			file := w.document(d.text)
			args := append([]string{"import", file}, d.flags...)
			r := w.run(append(args, "--dry-run")...).exits(0).says(file+" is ", d.says, "nothing was written")
			same(t, "p0", strings.Join(strings.Fields(r.line("orders", 0))[:5], " "), "orders 0 555 700 +145")
			same(t, "writes", w.writes(), 0)
			r = w.run(append(args, "--execute")...).exits(0).prints("2 of 2 verified")
			same(t, "committed", w.committed("billing", "orders"), "0=700 1=600")
			w.run(append(args, "--execute")...).exits(0).prints("Nothing to do")
			w.run(append(args, "--as", d.format, "--check")...).exits(0).prints("Nothing to do")
			w.run(r.undo()...).exits(0)
			same(t, "undone", w.committed("billing", "orders"), "0=555 1=555")
			// The same into a store.
			w.run(append(args, "-s", w.store, "--stored", "--execute")...).exits(map[bool]int{true: 4, false: 0}[d.format == "json" || d.format == "yaml"])
		})
	}
}

// Every case of FMT: what stands around the values, and what is refused.
func TestFormatCases(t *testing.T) {
	t.Parallel()
	for i, d := range documents {
		lines := !json.Valid([]byte(d.text))
		for _, c := range []struct {
			name string
			f    func(string) string
			off  bool
		}{
			{"FMT-1 byte-order mark", func(s string) string { return "\xef\xbb\xbf" + s }, false},
			{"FMT-3 CRLF", func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }, !lines},
			{"FMT-3 no last line end", func(s string) string { return strings.TrimSuffix(s, "\n") }, !lines || d.format == "gtoffset"},
			{"FMT-3 blank lines at the end", func(s string) string { return s + "\n\n" }, d.format == "gtoffset"},
			{"FMT-4 CR alone", func(s string) string { return strings.ReplaceAll(s, "\n", "\r") }, !lines || d.format == "gtoffset" || d.format == "yaml"},
		} {
			if c.off {
				continue
			}
			t.Run(fmt.Sprint(c.name, " ", d.format, " ", i), func(t *testing.T) {
				t.Parallel()
				w := fresh(t)
				w.run(append([]string{"import", w.document(c.f(d.text)), "--execute"}, d.flags...)...).exits(0).prints("2 of 2 verified")
				same(t, "committed", w.committed("billing", "orders"), "0=700 1=600")
			})
		}
	}
	w := fresh(t)
	w.b.Reset()
	utf16 := func(s string) string { // little-endian
		var b strings.Builder
		b.WriteString("\xff\xfe")
		for _, c := range []byte(s) {
			b.WriteByte(c)
			b.WriteByte(0)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, text string
		flags      []string
		code       int
		says       []string
	}{
		{"FMT-4 UTF-16", utf16("orders\t0\t700\n"), nil, 1, []string{"UTF-16"}},
		{"FMT-4 gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00", nil, 1, []string{"gzip"}},
		{"FMT-4 a spreadsheet", "PK\x03\x04\x14\x00", nil, 1, nil},
		{"FMT-5 a partition twice, csv", "group,topic,partition,offset,epoch,metadata\nbilling,orders,0,700,-,-\nbilling,orders,1,1,-,-\nbilling,orders,0,800,-,-\n", nil, 1, []string{"line 2", "line 4", "700", "800"}},
		{"FMT-5 a partition twice, kafka-csv", "orders,0,100\norders,1,1\norders,0,900\n", []string{"-g", "billing"}, 1, []string{"line 1", "line 3", "100", "900"}},
		{"FMT-5 a partition twice, rpk", "orders 0 100\norders 0 900\n", []string{"-g", "billing"}, 1, []string{"line 1", "line 2"}},
		{"FMT-9 above 64 bits", "orders,0,9223372036854775808\n", []string{"-g", "billing"}, 1, []string{"line 1", "9223372036854775808"}},
		{"FMT-9 a partition of 33 bits", "orders,4294967296,1\n", []string{"-g", "billing"}, 1, []string{"line 1", "4294967296"}},
		{"FMT-12 an engine's marker", "orders,0,-915623761775\n", []string{"-g", "billing"}, 1, []string{"line 1", "-915623761775", "negative"}},
		{"NONE-5 -2 for earliest", "orders,1,5\norders,0,-2\n", []string{"-g", "billing"}, 1, []string{"line 2", "-2", "reset --to-earliest"}},
		{"NONE-5 -1 for latest", "orders 0 -1\n", []string{"-g", "billing"}, 1, []string{"line 1", "-1", "reset --to-latest"}},
		{"NONE-5 Spark's -2", `{"orders":{"0":-2}}`, []string{"-g", "billing"}, 1, []string{"-2", "reset --to-earliest"}},
		{"NONE-5 -1 in a bare file", "0 -1\n", []string{"-g", "billing", "-t", "orders"}, 1, []string{"-1"}},
		{"all malformed lines", "orders,0,700\norders,x,1\norders,1\norders,2,1e3\n,3,4\norders,4,+1\n", []string{"-g", "billing"}, 1, []string{"line 2", "line 3", "line 4", "line 5", "line 6"}},
		{"a fraction", "orders,0,7.5\n", []string{"-g", "billing"}, 1, []string{"7.5"}},
		{"a bare file without its last line end", "0 700\n1 600", []string{"-g", "billing", "-t", "orders"}, 1, nil},
		{"a file that is not whole", "# gtoffset 1\n# group billing\n# topic orders\n0 700\n# entries 2\n", nil, 1, []string{"entries"}},
		{"MIG-6 an internal topic", "__consumer_offsets,0,5\n", []string{"-g", "billing"}, 4, []string{"__consumer_offsets"}},
		{"MIG-6 an internal topic in json", strings.ReplaceAll(documents[0].text, `"orders"`, `"__transaction_state"`), nil, 4, []string{"__transaction_state"}},
		{"in doubt", "7 0 700\n7 1 600\n", []string{"-g", "billing", "-t", "orders"}, 2, []string{"add --as "}},
		{"no group", "orders,0,700\n", nil, 2, []string{"add -g GROUP"}},
		{"no group, two named", "orders,0,700\n", []string{"-g", "a", "-g", "b"}, 2, []string{"-g"}},
		{"no topic", "0 700\n", []string{"-g", "billing"}, 2, []string{"add -t TOPIC"}},
		{"no end", "orders 0 1 2\n", []string{"-g", "billing"}, 2, []string{"add --take from, or --take until"}},
		{"another format than said", documents[0].text, []string{"--as", "spark", "-g", "billing"}, 1, nil},
		{"an unknown format", documents[0].text, []string{"--as", "excel"}, 2, []string{"--as json, yaml, csv"}},
		{"an unknown end", documents[0].text, []string{"--take", "both"}, 2, []string{"--take from, or --take until"}},
		{"another group", documents[0].text, []string{"-g", "shipping"}, 1, []string{`says nothing of group "shipping", which -g names: it is about "billing"`, "reset -g shipping --from-group billing --all-topics"}},
		{"another topic", documents[0].text, []string{"-t", "shipments"}, 1, []string{`says nothing of topic "shipments", which -t names`}},
		{"nothing", "", nil, 1, []string{"empty"}},
		{"blank lines only", "\n\n", nil, 1, nil},
		{"a later version", strings.Replace(documents[0].text, "offsets/1", "offsets/9", 1), nil, 1, []string{"gtoffset.offsets/9"}},
		{"a document of ours that is no write", `{"schema":"gtoffset.describe/1"}`, nil, 1, []string{"gtoffset.describe/1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := w.document(c.text)
			args := append([]string{"import", file}, c.flags...)
			for _, way := range []string{"--execute", "--dry-run"} {
				r := w.run(append(args, way)...).exits(c.code).says(c.says...).says("gtoffset: error: ")
				same(t, "FMT-8 nothing on stdout", r.out, "")
				w.run(append(args, way, "-o", "json")...).exits(c.code).failure()
			}
		})
	}
	same(t, "requests", w.b.Count(), 0)
	// Each hint can be typed, and what it says is enough.
	for _, c := range []struct {
		text  string
		flags []string
		want  string
	}{
		{"7 0 700\n7 1 600\n", []string{"-g", "billing", "--as", "rpk"}, "topic \"7\""},
		{"orders,0,700\n", []string{"-g", "billing"}, ""},
		{"0 700\n", []string{"-g", "billing", "-t", "orders"}, ""},
		{"orders 0 700 800\n", []string{"-g", "billing", "--take", "from"}, ""},
	} {
		r := w.run(append([]string{"import", w.document(c.text), "--dry-run"}, c.flags...)...)
		if c.want == "" {
			r.exits(0)
			same(t, "p0", strings.Fields(r.line("orders", 0))[3], "700")
		} else {
			r.exits(4).says("7 0")
		}
	}
	// Rows that repeat each other are a warning.
	r := w.run("import", w.document("orders,0,700\norders,0,700\n"), "-g", "billing", "--dry-run").exits(0).says("line 2")
	same(t, "p0", strings.Fields(r.line("orders", 0))[3], "700")
	// Large ones are read to the last digit.
	w.run("import", w.document("orders,0,9223372036854775807\n"), "-g", "billing", "--dry-run").exits(4).says("9223372036854775807 is high")
	same(t, "writes", w.writes(), 0)
}

// What import refuses, and what an export's null means.
func TestImportRows(t *testing.T) {
	t.Parallel()
	csv := func(w *world, rows string) string { return w.document(rows) }
	t.Run("MIG-1 out of range", func(t *testing.T) {
		t.Parallel()
		w := fresh(t)
		file := csv(w, "orders,0,901\norders,1,499\n")
		w.run("import", file, "-g", "billing", "--execute").exits(4).says("line 1: 901 is high: the range is 500..900", "line 2: 499 is low", "add --clamp", "nothing was written")
		same(t, "committed", w.committed("billing", "orders"), "0=555 1=555")
		p := w.run("import", file, "-g", "billing", "--clamp", "--execute", "-o", "json").exits(0).plan()
		same(t, "counts", p.Counts, countsDoc{Write: 2, Clamped: 2, Written: 2, Verified: 2})
		same(t, "committed", w.committed("billing", "orders"), "0=900 1=500")
		w = start(t).topic("orders", [2]int64{0, 0}).commit("billing", "orders", 0)
		w.run("import", csv(w, "orders,0,100\n"), "-g", "billing", "--execute").exits(4).says("100 is high: the range is 0..0")
		w.run("import", csv(w, "orders,0,0\n"), "-g", "billing", "--execute").exits(0) // PART-5
	})
	t.Run("PART-4 a gone partition", func(t *testing.T) {
		t.Parallel()
		w := fresh(t)
		file := csv(w, "orders,0,700\norders,7,1\nnowhere,0,1\n")
		w.run("import", file, "-g", "billing", "--execute").exits(4).says("line 2: not in the topic", "orders 7", "line 3", "nowhere 0", "nothing was written")
		same(t, "committed", w.committed("billing", "orders"), "0=555 1=555")
		w.run("import", file, "-g", "billing", "--execute", "--partial").exits(3).prints("1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=700 1=555")
	})
	t.Run("MIG-3 another cluster", func(t *testing.T) {
		t.Parallel()
		w := fresh(t)
		doc := strings.Replace(documents[0].text, `"cluster":{"id":null}`, `"cluster":{"id":"of-another-house"}`, 1)
		doc = strings.ReplaceAll(doc, `"topic_id":null`, `"topic_id":"AAAAAAAAAAAAAAAAAAAAAA"`)
		w.run("import", w.document(doc), "--execute").exits(4).says("of cluster of-another-house, and this is kfake", "offsets are not translated", "add --other-cluster", "nothing was written")
		w.run("import", w.document(doc), "--execute", "--other-cluster").exits(0).prints("2 of 2 verified") // topic ids then prove nothing
		same(t, "committed", w.committed("billing", "orders"), "0=700 1=600")
	})
	t.Run("HIGH-2 another topic id", func(t *testing.T) {
		t.Parallel()
		w := fresh(t)
		doc := strings.ReplaceAll(documents[0].text, `"topic_id":null`, `"topic_id":"AAAAAAAAAAAAAAAAAAAAAA"`)
		w.run("import", w.document(doc), "--execute").exits(4).says("recreated since this offset was recorded", "add --recreated keep")
		w.run("import", w.document(doc), "--execute", "--recreated", "keep").exits(0)
		same(t, "committed", w.committed("billing", "orders"), "0=700 1=600")
	})
	t.Run("MIG-5 epochs and metadata come along", func(t *testing.T) {
		t.Parallel()
		w := fresh(t)
		epoch := w.b.Fake.PartitionInfo("orders", 0).Epoch
		must(t, w.b.Commit("billing", "orders", 0, 700, epoch, "checkpoint 17"))
		must(t, w.b.Commit("billing", "orders", 1, 600, epoch+40, "checkpoint 18"))
		out := w.run("export", "-g", "billing").exits(0).out
		w.forget("billing")
		w.stdin(out).run("import", "-", "--create", "--execute").exits(0).prints(fmt.Sprintf("leader epoch %d left out: the cluster does not confirm it", epoch+40))
		same(t, "commits", w.commits("billing"), fmt.Sprintf(`orders/0 700 %d "checkpoint 17"; orders/1 600 -1 "checkpoint 18"`, epoch))
		w.stdin(out).run("import", "-", "--check").exits(0).prints("Nothing to do")
		// Metadata alone that differs is brought back too.
		must(t, w.b.Commit("billing", "orders", 0, 700, epoch, "somebody else's"))
		w.stdin(out).run("import", "-", "--execute").exits(0).prints("1 of 1 verified")
		same(t, "commits", w.commits("billing"), fmt.Sprintf(`orders/0 700 %d "checkpoint 17"; orders/1 600 -1 "checkpoint 18"`, epoch))
	})
	t.Run("null is skipped, and named", func(t *testing.T) {
		t.Parallel()
		w := fresh(t)
		doc := w.document(strings.Replace(documents[0].text, `"offset":600`, `"offset":null`, 1))
		w.run("import", doc, "--execute").exits(0).prints("1 of 1 verified", "orders 1 stays: the document has no offset for it")
		same(t, "committed", w.committed("billing", "orders"), "0=700 1=555")
	})
	t.Run("a null of a backup removes", func(t *testing.T) {
		t.Parallel()
		w := fresh(t).save("billing", "orders", 555, 556)
		w.run("import", w.backupFile(row(1, "null", "555")), "--execute").exits(0).prints("there was none before; a restart begins by auto.offset.reset")
		same(t, "committed", w.committed("billing", "orders"), "0=555")
		stored := strings.ReplaceAll(backup(row(1, "null", "556")), `"side":"committed"`, `"side":"stored"`)
		w.run("import", w.document(stored), "-s", w.store, "--execute").exits(0).prints("there was none before")
		same(t, "stored", w.stored("billing", "orders"), "0=555")
	})
	t.Run("a group that is not there", func(t *testing.T) {
		t.Parallel()
		w := fresh(t)
		file := csv(w, "orders,0,700\n")
		w.run("import", file, "-g", "nobody", "--execute").exits(4).says(`group "nobody" does not exist`, "--create")
		if w.b.Fake.GroupInfo("nobody") != nil {
			t.Error("a refused run made the group")
		}
		w.run("import", file, "-g", "nobody", "--create", "--execute").exits(0)
		same(t, "committed", w.committed("nobody", "orders"), "0=700")
	})
	t.Run("active", func(t *testing.T) {
		t.Parallel()
		for _, modern := range []bool{false, true} {
			w := fresh(t)
			_, err := w.b.Join("billing", modern, "orders")
			must(t, err)
			w.b.Reset()
			w.run("import", csv(w, "orders,0,700\n"), "-g", "billing", "--execute").exits(4).says(`group "billing" is active: 1 member`, "--wait-empty 60s", "nothing was written")
			same(t, "writes", w.writes(), 0)
		}
	})
	t.Run("what the document does not name stays", func(t *testing.T) {
		t.Parallel()
		w := fresh(t)
		p := w.run("import", csv(w, "orders,1,700\n"), "-g", "billing", "--execute", "-o", "json").exits(0).plan()
		same(t, "counts", p.Counts, countsDoc{Write: 1, Written: 1, Verified: 1})
		same(t, "committed", w.committed("billing", "orders"), "0=555 1=700")
	})
	t.Run("the side that a document is of", func(t *testing.T) {
		t.Parallel()
		w := fresh(t).save("billing", "orders", 601, 602)
		stored := w.run("export", "-g", "billing", "-s", w.store, "--stored").exits(0).out
		committed := w.run("export", "-g", "billing").exits(0).out
		// Copying from one side to the other is what reset --to-stored and --to-committed are for.
		w.stdin(stored).run("import", "-", "--committed", "--execute").exits(4).says("stored", "reset --to-stored", "nothing was written")
		w.stdin(committed).run("import", "-", "-s", w.store, "--stored", "--execute").exits(4).says("committed", "reset --to-committed", "nothing was written")
		// Without a flag it is the side that the document says.
		w.commit("billing", "orders", 700)
		w.stdin(committed).run("import", "-", "-s", w.store, "--execute").exits(0).prints("1 of 1 verified")
		same(t, "both", w.committed("billing", "orders")+" "+w.stored("billing", "orders"), "0=555 1=555 0=601 1=602")
	})
	t.Run("names nothing", func(t *testing.T) {
		t.Parallel()
		w := fresh(t)
		w.run("import", csv(w, "group,topic,partition,offset,epoch,metadata\n"), "--execute").exits(0).says("nothing to do")
		p := w.run("import", csv(w, "group,topic,partition,offset,epoch,metadata\n"), "--execute", "-o", "json").exits(0).plan()
		same(t, "plan", words(p.Applied, len(p.Groups), p.Counts), words(false, 0, countsDoc{}))
	})
	t.Run("asked at a terminal", func(t *testing.T) {
		t.Parallel()
		w := fresh(t)
		file := csv(w, "orders,0,700\n")
		w.person("n\n", nil).run("import", file, "-g", "billing").exits(1).says("[y/N]", "not confirmed")
		w.person("y\n", nil).run("import", file, "-g", "billing").exits(0).prints("1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=700 1=555")
		w.person("orders,0,800\n", nil).run("import", "-", "-g", "billing").exits(2).says("stdin", "--execute")
	})
	t.Run("not there", func(t *testing.T) {
		t.Parallel()
		w := fresh(t)
		w.run("import", "/nowhere/x.csv", "--execute").exits(1).says("/nowhere/x.csv", "nothing was written")
		w.run("import", t.TempDir(), "--execute").exits(1).says("no gtoffset file")
		w.save("billing", "orders", 600).put("billing", "broken", "0 7")
		w.run("import", w.store, "--execute").exits(1).says("broken", "nothing was written")
		must(t, os.RemoveAll(w.store+"/billing/broken"))
		w.saveAs("a", "orders", "", "one", 5).saveAs("b", "orders", "", "two", 5)
		w.run("import", w.store, "--execute").exits(4).says("2 clusters", "-g GROUP")
	})
}
