package cmd_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gtoffset/cmd"
)

// nowhere is an address at which nobody listens. A port that was free a moment ago may be another test's.
const nowhere = "127.0.0.1:1"

func TestStoreAddresses(t *testing.T) {
	t.Parallel()
	w := low(t)
	w.b.Reset()
	w.vars["SECRET"] = "hunter2"
	for url, want := range map[string]string{
		"hdfs://nn:8020/x":                    "webhdfs://NAMENODE:9870",
		"s3://bucket/x":                       "store s3://… is of no known kind",
		"redis://h:x/0":                       "port: it is no number",
		"redis://u:hunter2@h/0":               "password: it stands in the URL itself",
		"redis://h/0?password=hunter2":        "parameter password: it stands in the URL itself",
		"redis://u:$NOT_SET@h/0":              "password: the variable NOT_SET is not set",
		"redis://u:$SECRET@h/0?kye=x":         "parameter kye: it is not known; there are ",
		"redis://h/0?counts=lst":              `parameter counts: "lst" is not known`,
		"redis://h/x":                         "redis://h/x",
		"mysql://h/db":                        "mysql://h/db",
		"webhdfs://h":                         "path: it has none",
		"webhdfs://h/x?delegation=hunter2":    "parameter delegation: it stands in the URL itself",
		"webhdfs://u@h/x?user.name=v":         "user: it is given twice",
		"webhdfs://u@h/x?delegation=$SECRET":  "a token says who we are, and so does the user",
		"spark:/x?batch=last":                 `parameter batch: "last" is no number`,
		"spark:s3://b/x":                      "scheme: a checkpoint is at a path of this machine, or at webhdfs://",
		"spark:redis://h/x":                   "scheme: a checkpoint is at a path of this machine",
		"zookeeper:///x":                      "host: it has none",
		"file:/x?nonsense=1":                  "parameter nonsense: it is not known; there are counts",
		"webhdfs://h/x?tls-ca=/no/such/thing": "parameter tls-ca",
		"swebhdfs://h/x?tls-ca=/no/such/file": "parameter tls-ca: open /no/such/file",
	} {
		r := w.run("describe", "-g", "billing", "-s", url).exits(2).says(want)
		if strings.Contains(r.out+r.err, "hunter2") {
			t.Errorf("%s: the secret is told\n%v", url, r)
		}
	}
	same(t, "requests", w.b.Count(), 0)
}

// Every folder that has a kind of store is in the list of them, and passes the contract.
func TestStoresAreListed(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("stores.go")
	must(t, err)
	files, err := filepath.Glob("../offsetfile/*/*.go")
	must(t, err)
	kinds := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		if !strings.Contains(string(text), "\nfunc Kind() offsetfile.Kind {\n") {
			continue
		}
		kinds++
		if line := filepath.Base(filepath.Dir(file)) + ".Kind(),"; !strings.Contains(string(list), line) {
			t.Errorf("stores.go lacks %s", line)
		}
		if !tried(t, filepath.Dir(file)) {
			t.Errorf("%s has no test that calls storetest.Run", filepath.Dir(file))
		}
	}
	if kinds < 6 {
		t.Errorf("got %d kinds of store, want all", kinds)
	}
}

// tried reports whether a test of a folder runs the contract of stores.
func tried(t *testing.T, folder string) bool {
	t.Helper()
	tests, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	must(t, err)
	return slices.ContainsFunc(tests, func(file string) bool {
		text, err := os.ReadFile(file)
		must(t, err)
		return strings.Contains(string(text), "storetest.Run(")
	})
}

// The help names what there is, and docs/stores.md all of it.
func TestHelpOfStores(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/stores.md")
	must(t, err)
	table, _, _ := strings.Cut(string(page), "\n## ")
	schemes := 0
	lines := bufio.NewScanner(strings.NewReader(low(t).run("help", "stores").exits(0).out))
	for lines.Scan() {
		forms, ok := strings.CutPrefix(lines.Text(), "  -s ")
		if !ok {
			continue
		}
		for _, word := range strings.Fields(forms) {
			scheme, _, ok := strings.Cut(word, ":")
			if !ok {
				continue
			}
			schemes++
			if !strings.Contains(table, "`"+scheme+":") {
				t.Errorf("the table of docs/stores.md lacks %s:", scheme)
			}
		}
	}
	if schemes < 7 {
		t.Errorf("got %d schemes in the help, want all", schemes)
	}
}

// A store that is away hides nothing of the cluster, and no write is made beside it.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	w := low(t)
	urls := []string{
		"redis://" + nowhere + "/0", "zookeeper://" + nowhere, "mysql://u@" + nowhere + "/db", "hbase://" + nowhere + "/t", "webhdfs://" + nowhere + "/x", "spark:webhdfs://" + nowhere + "/x",
	}
	for _, schemes := range cmd.FarSchemes() {
		if !slices.ContainsFunc(urls, func(url string) bool { scheme, _, _ := strings.Cut(url, ":"); return slices.Contains(schemes, scheme) }) {
			t.Errorf("TestStoreAway has no URL of the kind %v", schemes)
		}
	}
	for _, url := range urls {
		t.Run(strings.SplitN(url, "/", 2)[0], func(t *testing.T) {
			r := w.run("describe", "-g", "billing", "-s", url, "--timeout", "2s").exits(5).prints("low").says("store "+url+" did not answer (tried ", "refused")
			if strings.Count(r.err, "did not answer") != 1 {
				t.Errorf("want it said once\n%v", r)
			}
			if strings.HasPrefix(url, "spark") {
				return
			}
			w.run("clamp", "-g", "billing", "-t", "orders", "-s", url, "--stored", "--committed", "--timeout", "1s", "--execute").exits(5).says("did not answer", "nothing was written")
			w.untouched()
		})
	}
	url := "redis://" + nowhere + "/0"
	w.run("describe", "--all-groups", "-s", url, "--timeout", "1s").exits(5).prints("billing", "low")
	w.run("describe", "-s", url, "--timeout", "1s").exits(5).prints("billing").says("did not answer")
}

func TestCheckpoint(t *testing.T) {
	t.Parallel()
	w := low(t).commit("other", "orders", 1)
	ck := filepath.Join(t.TempDir(), "ck")
	for name, text := range map[string]string{
		"offsets/57": "v1\n{}\n{\"orders\":{\"0\":600,\"1\":800}}", "offsets/59": "v1\n{}\n{\"orders\":{\"0\":700,\"1\":900}}", "offsets/.57.crc": "stale",
		"commits/56": "v1\n{}", "commits/57": "v1\n{}",
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(ck, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(ck, name), []byte(text), 0o644))
	}
	url := "spark:" + ck
	// STO-10: what is missing, what counts, and what is written. STO-13: checksums are not looked at.
	w.run("describe", "-g", "billing", "-s", url).exits(0).prints("58 are missing", "the newest batch is 59, the last committed is 57")
	same(t, "startingOffsets", strings.TrimSpace(w.run("export", "-g", "billing", "-s", url, "--stored", "-o", "spark").exits(0).out), `{"orders":{"0":600,"1":800}}`)
	w.run("reset", "-g", "billing", "--all-topics", "-s", url, "--committed", "--to-stored", "--execute").exits(0).prints("2 of 2 verified")
	same(t, "committed", w.committed("billing", "orders"), "0=600 1=800")

	w.run("clamp", "-g", "billing", "-t", "orders", "-s", url, "--stored", "--execute").exits(0) // all is in range: there is nothing to write
	w.run("reset", "-g", "billing", "-t", "orders", "-s", url, "--stored", "--to-earliest", "--execute").exits(2).says("this store is only read; nothing was written", "hint: --committed writes the commits; gtoffset export -o spark prints what a new query can start from")
	w.run("describe", "-g", "billing", "-g", "other", "-s", url).exits(2).says("names no group")
	w.run("describe", "--all-groups", "-s", url).exits(2).says("names no group")
	w.run("describe", "-g", "billing", "-s", url+"/deeper").exits(1).says("nothing at "+url+"/deeper: looked at folder "+ck+"/deeper", "checkpointLocation")

	// STO-18: serialised objects are named, and the cluster's side is shown.
	old := filepath.Join(t.TempDir(), "dstream")
	must(t, os.MkdirAll(old, 0o755))
	must(t, os.WriteFile(filepath.Join(old, "checkpoint-1795958046000"), []byte("\xac\xed\x00\x05"), 0o644))
	r := w.run("describe", "-g", "billing", "-s", "spark:"+old).exits(3).says("serialised Java objects, which only the program that wrote them can read")
	same(t, "line", r.line("orders", 0), "orders 0 500 - 600 900 300 - stored unreadable")
}

// STO-1: what counts the last record and what counts the next end at one place.
func TestCopyCountsOnce(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 100})
	last, next := filepath.Join(w.t.TempDir(), "last"), filepath.Join(w.t.TempDir(), "next")
	for _, dir := range []string{filepath.Join(last, "billing", "orders"), next} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	file := filepath.Join(last, "billing", "orders", "gtoffset")
	must(t, os.WriteFile(file, []byte("0 41\n"), 0o644))
	from := "file:" + last + "?counts=last"

	copied := w.run("export", "-g", "billing", "-s", from, "--stored").exits(0)
	w.stdin(copied.out).run("import", "-", "--stored", "-s", next, "--execute").exits(0).prints("1 of 1 verified")
	data, err := os.ReadFile(filepath.Join(next, "billing", "orders", "gtoffset"))
	must(t, err)
	if !strings.Contains(string(data), "\n0 42\n") {
		t.Errorf("the store of next records: got %q, want 42", data)
	}
	w.run("reset", "-g", "billing", "--all-topics", "-s", from, "--committed", "--to-stored", "--create", "--execute").exits(0)
	same(t, "committed", w.committed("billing", "orders"), "0=42")

	// And back: what is saved is what was found.
	back := w.run("export", "-g", "billing", "-s", next, "--stored").exits(0)
	w.stdin(back.out).run("import", "-", "--stored", "-s", from, "--execute").exits(0)
	data, err = os.ReadFile(file)
	must(t, err)
	same(t, "after the round trip", string(data), "0 41\n")
	w.run("clamp", "-g", "billing", "-s", from, "--stored", "--execute").exits(0)
	data, err = os.ReadFile(file)
	must(t, err)
	same(t, "after a clamp that had nothing to do", string(data), "0 41\n")
}

// A file that counts the last record has no number for "none yet": the plan says so, before anything is written.
func TestLastRecordBeforeTheFirst(t *testing.T) {
	t.Parallel()
	ready := func(t *testing.T) (*world, string) {
		w := start(t).topic("orders", [2]int64{0, 100}, [2]int64{0, 100}).topic("payments", [2]int64{40, 100})
		w.commit("billing", "orders", 20, 20)
		w.put("billing", "orders", "0 19\n1 19\n")
		return w, "file:" + w.store + "?counts=last"
	}
	const why = "0 cannot be stored: the store counts the last record that was processed"
	for _, c := range []struct {
		name, args, hint string
	}{
		{"reset of both", "reset --to-offset 0 --stored --committed -t orders", "--partial writes the rest"},
		{"reset of one side", "reset --to-earliest --stored -t orders", "needs no entry"},
		{"with another topic", "reset --to-earliest --stored -t orders -t payments", "--partial writes the rest"},
	} {
		for _, how := range []string{"--dry-run", "--execute", "--check"} {
			t.Run(c.name+" "+how, func(t *testing.T) {
				t.Parallel()
				w, store := ready(t)
				before := w.offsets()
				w.run(append(strings.Fields(c.args), "-g", "billing", "-s", store, how)...).exits(4).says(why, "nothing was written", c.hint)
				same(t, "offsets", w.offsets(), before)
			})
		}
	}
	t.Run("a first run", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 100})
		for _, how := range []string{"--dry-run", "--execute"} {
			w.run("clamp", "-g", "billing", "-t", "orders", "-s", "file:"+w.store+"?counts=last", "--stored", how).exits(4).says(why, "nothing was written", "needs no entry")
		}
	})
	t.Run("a document and a plan", func(t *testing.T) {
		t.Parallel()
		w, store := ready(t)
		before := w.offsets()
		doc := w.document("orders,0,0\norders,1,7\n")
		w.run("import", doc, "-g", "billing", "-s", store, "--stored", "--execute").exits(4).says(why, "--partial writes the rest")
		plan := w.document(w.run("import", doc, "-g", "billing", "-s", w.store, "--stored", "--dry-run", "-o", "json").exits(0).out)
		w.run("import", plan, "-s", store, "--execute").exits(4).says("nothing was written")
		same(t, "offsets", w.offsets(), before)
	})
	t.Run("the rest of a topic", func(t *testing.T) {
		t.Parallel()
		w, store := ready(t)
		w.run("import", w.document("orders,0,0\norders,1,7\n"), "-g", "billing", "-s", store, "--stored", "--execute", "--partial").exits(3).prints("1 of 1 verified").says("left out: orders 0", why)
		same(t, "stored", w.file("billing", "orders"), "0 19\n1 6\n")
	})
	t.Run("the first one that it has", func(t *testing.T) {
		t.Parallel()
		w, store := ready(t)
		w.run("reset", "-g", "billing", "-t", "orders", "-s", store, "--stored", "--to-offset", "1", "--execute").exits(0).prints("2 of 2 verified")
		same(t, "stored", w.file("billing", "orders"), "0 0\n1 0\n")
	})
}

// A file without headers cannot be empty: that its last entry is to be removed is refused by the plan, before anything is written.
func TestLastEntryOfABareFile(t *testing.T) {
	t.Parallel()
	const why = "has no headers, and with no entry left it would be empty, which means damaged"
	t.Run("the undo of a first run", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{40, 100}, [2]int64{40, 100})
		store := "file:" + w.store + "?counts=last"
		r := w.run("clamp", "-g", "billing", "-t", "orders", "-s", store, "--stored", "--committed", "--create", "--execute").exits(0).prints("4 of 4 verified")
		before := w.offsets()
		for _, how := range []string{"--execute", "--dry-run", "--check"} {
			args := append(slices.DeleteFunc(r.undo(), func(a string) bool { return a == "--execute" }), how)
			w.run(args...).exits(4).says("orders 0: stored 40: it cannot be removed", why, "--partial writes the rest", "nothing was written")
		}
		same(t, "offsets", w.offsets(), before)
		w.run(append(r.undo(), "--partial")...).exits(3).prints("2 of 2 verified").says("left out: ")
		same(t, "only the commits", w.offsets(), " | 0=39 1=39")
		w.run(r.undo()...).exits(4).says(why, "mv "+w.path("billing", "orders")+" ")
	})
	t.Run("one that stays is enough", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{40, 100}, [2]int64{40, 100}).save("billing", "orders", 50)
		file := w.document(strings.ReplaceAll(strings.Replace(backup(row(0, "null", "50")+","+row(1, "60", "null")), `"store":null`, `"store":{"url":"`+w.store+`"}`, 1), `"committed"`, `"stored"`))
		w.run("import", file, "--execute").exits(0).prints("2 of 2 verified")
		same(t, "stored", w.file("billing", "orders"), "1 60\n")
		back := w.document(strings.ReplaceAll(strings.Replace(backup(row(1, "null", "60")), `"store":null`, `"store":{"url":"`+w.store+`"}`, 1), `"committed"`, `"stored"`))
		w.run("import", back, "--execute").exits(4).says("orders 1: stored 60: it cannot be removed", why)
		w.saveAs("billing", "orders", "", "", none, 60)
		w.run("import", back, "--execute").exits(0).prints("1 of 1 verified") // with headers it can
		same(t, "stored", w.stored("billing", "orders"), "")
	})
}

// What a store passes over while its groups are listed is said, once.
func TestStoreTellsWhatItPassesOver(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 20}).commit("billing", "orders", 5)
	nameless := filepath.Join(w.store, "x%~"+strings.Repeat("ab", 32), "orders")
	must(t, os.MkdirAll(nameless, 0o755))
	must(t, os.WriteFile(filepath.Join(nameless, "gtoffset"), []byte("0 5\n"), 0o644))
	for _, command := range [][]string{{"describe"}, {"describe", "--all-groups"}} {
		w.run(append(command, "-s", w.store)...).exits(0).prints("billing").says("no file in it tells the group's whole name")
	}
}

// What the program makes of a store's errors is what the comment of offsetfile.Table tells whoever adds one.
func TestErrorsOfStores(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../offsetfile/table.go")
	must(t, err)
	_, comment, _ := strings.Cut(string(source), "// # Errors\n")
	comment, _, _ = strings.Cut(comment, "\ntype Table interface")
	told := map[string]string{} // by the error: what follows it, up to the next
	name := ""
	for line := range strings.Lines(comment) {
		text, ok := strings.CutPrefix(line, "//\t")
		if !ok {
			continue
		}
		if !strings.HasPrefix(text, " ") {
			name = strings.TrimPrefix(strings.Fields(text)[0], "*")
		}
		told[name] += text
	}
	const orders = `{"Row":[{"key":"YmlsbGluZzpvcmRlcnM=","Cell":[{"column":"b2Zmc2V0czow","$":"MTAw"}]}]}` // 0 at 100, which is low
	for _, tt := range []struct {
		err    string
		status int    // of the answer to a read, 0: orders
		write  int    // of the answer to a write
		code   int    // that the program ends with
		says   string // the hint among it
		params string
	}{
		{err: "NothingError", status: 404, code: 1, says: "table jobs"},
		{err: "AwayError", status: 503, code: 5, says: "--timeout 60s waits longer"},
		{err: "AwayError", status: 302, code: 5, says: "not followed"},
		{err: "CredentialsError", status: 401, code: 5, says: "hint: check user and password"},
		{err: "NameError", code: 2, params: "?row={group}r{topic}", says: "has no place in the store"},
		{err: "ErrChanged", write: 304, code: 4, says: "by another program"},
		{err: "any", status: 400, code: 1, says: "400 Bad Request"},
		{err: "any", write: 400, code: 1, says: "400 Bad Request"},
	} {
		t.Run(fmt.Sprintf("%s %d %d", tt.err, tt.status, tt.write), func(t *testing.T) {
			gateway := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method != http.MethodGet:
					out.WriteHeader(tt.write)
				case tt.status != 0:
					out.WriteHeader(tt.status)
				case strings.HasSuffix(r.URL.Path, "/schema"):
					_, _ = io.WriteString(out, `{"name":"jobs","ColumnSchema":[{"name":"offsets"}]}`)
				default:
					_, _ = io.WriteString(out, orders)
				}
			}))
			defer gateway.Close()
			url := strings.Replace(gateway.URL, "http", "hbase", 1) + "/jobs" + tt.params
			w := start(t).topic("orders", [2]int64{500, 900})
			w.run("clamp", "-g", "billing", "-t", "orders", "-s", url, "--stored", "--execute", "--timeout", "1s").exits(tt.code).says(tt.says)
			if want := fmt.Sprintf("exit %d", tt.code); !strings.Contains(told[tt.err], want) {
				t.Errorf("offsetfile.Table's comment on %s: got %q, want it to say %s", tt.err, told[tt.err], want)
			}
		})
	}
}
