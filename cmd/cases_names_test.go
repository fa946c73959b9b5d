package cmd_test

import (
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/scripts/needs"
)

// hostile are group ids that a broker accepts and that go wrong elsewhere, with the folder of each.
var hostile = map[string]string{
	"team/job:forward":      "team%2Fjob%3Aforward", // NAM-1
	"a b":                   "a%20b",                // NAM-7
	"a+b":                   "a%2Bb",
	"a&b":                   "a%26b",
	"a#b":                   "a%23b",
	`a"b`:                   "a%22b",
	"a'b":                   "a%27b",
	"a,b":                   "a%2Cb",
	"a;b|c>d$(e)`f`*":       "a%3Bb%7Cc%3Ed%24%28e%29%60f%60%2A",
	"a\nb":                  "a%0Ab",
	"a\tb\r":                "a%09b%0D",
	"\x1b[31mred\x1b[0m":    "%1B%5B31mred%1B%5B0m",
	"🚀 grüße":               "%F0%9F%9A%80%20gr%C3%BC%C3%9Fe",
	"a:b":                   "a%3Ab", // NAM-8
	"a@b":                   "a%40b",
	"a%3Ab":                 "a%253Ab",
	"..":                    "%2E%2E",
	".":                     "%2E",
	"-x":                    "-x",
	"%s%d%!":                "%25s%25d%25%21",
	"../../etc":             "..%2F..%2Fetc",
	" # gtoffset 1":         "%20%23%20gtoffset%201",
	`"quoted"`:              "%22quoted%22",
	`back\slash`:            "back%5Cslash",
	"null":                  "null",
	"a.b":                   "a.b", // NAM-4
	"a_b":                   "a_b",
	"DATA":                  "DATA", // NAM-6
	"data":                  "data",
	"ab\u202egnp.exe\u00a0": "ab%E2%80%AEgnp.exe%C2%A0",
	strings.Repeat("長", 90): "",
}

// Every case of NAM: names are data.
func TestNameCases(t *testing.T) {
	t.Parallel()
	t.Run("NAM-1 NAM-7 NAM-8 odd names in every command", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900})
		for group := range hostile {
			w.commit(group, "orders", 100)
		}
		for group, folder := range hostile {
			r := w.run("describe", "-g", group).exits(0).never("\x1b", "\r", "\u202e")
			same(t, group, r.line("orders", 0), "orders 0 500 100 900 400 committed low: 400 expired")
			same(t, "lines of the heading", strings.Count(r.out[:strings.Index(r.out, "TOPIC")], "\n"), 3)
			d := w.run("describe", "-g", group, "-o", "json").exits(0).describe()
			same(t, "json", d.Groups[0].Group, group)
			all, err := csv.NewReader(strings.NewReader(w.run("describe", "-g", group, "-o", "csv").exits(0).out)).ReadAll()
			must(t, err)
			same(t, "csv", all[1][0], group)

			// A first run makes the place in the store; the commits are clamped with it.
			p := w.run("clamp", "-g", group, "-t", "orders", "-s", w.store, "--stored", "--committed", "--missing", "other", "--execute", "-o", "json").exits(0).plan()
			same(t, "plan", words(p.Groups[0].Group == group, p.Counts.Verified), "true 2")
			if folder == "" { // too long: its hash is in the name, and the whole name in the file
				for _, e := range folders(t, w.store) {
					if strings.Contains(e, "%~") {
						folder = e
					}
				}
			}
			same(t, "stored", w.stored(folder, "orders"), "0=500")
			same(t, "committed", w.committed(group, "orders"), "0=500")
			r = w.run("describe", "-g", group, "-s", w.store).exits(0).never("\x1b", "\r", "\u202e")
			same(t, "both", r.line("orders", 0), "orders 0 500 500 500 900 400 400 ok")

			// The backup has a safe name and lies in its folder; the way back works.
			if dir := filepath.Dir(deref(p.Backup)); dir != filepath.Join(w.state, "gtoffset") {
				t.Errorf("backup of %q in %s", group, dir)
			}
			w.run("import", deref(p.Backup), "--execute").exits(0).never("\x1b", "\r", "\u202e")
			same(t, "undone", w.committed(group, "orders"), "0=100")
			same(t, "undone", w.stored(folder, "orders"), "")
			w.commit(group, "orders", 500)
		}
		same(t, "folders", len(folders(t, w.store)), len(hostile))
		var got []string
		for _, g := range w.run("describe", "-o", "json").exits(0).groups().Groups {
			got = append(got, g.Group)
		}
		want := slices.Sorted(maps.Keys(hostile))
		same(t, "list", fmt.Sprintf("%q", got), fmt.Sprintf("%q", want))
		r := w.run("describe").exits(0).never("\x1b", "\r", "\u202e")
		same(t, "one line a group", strings.Count(r.out, "\n"), len(hostile)+5)
		same(t, "with the store", len(w.run("describe", "--all-groups", "-s", w.store, "-o", "json").exits(0).describe().Groups), len(hostile))
	})
	t.Run("exact match", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).topic("orders2", [2]int64{500, 900}).commit("bill", "orders", 100).commit("billing", "orders", 100).commit("billing", "orders2", 100)
		for _, g := range []string{"bil", "Billing", "billing ", "bill*", "b.*"} {
			w.run("describe", "-g", g).exits(1)
		}
		w.run("describe", "-g", "billing", "-t", "order").exits(1)
		w.run("clamp", "-g", "billing", "-t", "orders", "--execute").exits(0)
		same(t, "committed", w.committed("billing", "orders")+" "+w.committed("billing", "orders2")+" "+w.committed("bill", "orders"), "0=500 0=100 0=100")
		w.run("describe", "--group-regex", "bill(ing)?").exits(0).prints("billing")
		w.run("describe", "--group-regex", "(").exits(2)
	})
	t.Run("NAM-3 the group without a name", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900})
		w.commit("", "orders", 100)
		r := w.run("describe", "-g", "").exits(0).prints(`""`)
		same(t, "line", r.line("orders", 0), "orders 0 500 100 900 400 committed low: 400 expired")
		w.run("describe").exits(0).prints(`""`)
		w.run("clamp", "-g", "", "--execute").exits(4).says("empty", "nothing was written")
		same(t, "writes", w.writes(), 0)
		// Where there is none, an unset variable is more likely.
		w.run("delete", "-g", "", "-t", "elsewhere", "--execute").exits(1)
		none := start(t).topic("orders", [2]int64{500, 900})
		for _, command := range []string{"delete", "describe"} {
			none.run(command, "-g", "", "-t", "orders").exits(map[string]int{"delete": 2, "describe": 1}[command])
		}
		none.run("delete", "-g", "", "-t", "orders", "--dry-run").exits(1).says("is a variable not set?", "nothing was written")
		// Group "" has no path.
		w.run("describe", "-g", "", "-s", w.store).exits(2).says("empty")
		w.run("clamp", "-g", "", "-t", "orders", "-s", w.store, "--stored", "--execute").exits(2)
		// No group at all is something else.
		w.run("clamp", "--execute").exits(2).says("no group is named")
		// The list is not broken by it.
		w.commit("billing", "orders", 600)
		w.run("describe", "--all-groups", "-s", w.store).prints("billing").exits(3)
	})
	t.Run("NAM-3 a broker that refuses it", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900})
		w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool {
			r.(*kmsg.OffsetFetchResponse).Groups[0].ErrorCode = 24 // INVALID_GROUP_ID
			return true
		})
		w.run("describe", "-g", "").exits(3).says("INVALID_GROUP_ID")
	})
	t.Run("NAM-4 NAM-6 topics that differ in little", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		for i, topic := range []string{"a.b", "a-b", "DATA", "data"} { // the broker refuses a_b beside a.b
			w.topic(topic, [2]int64{5, 100}).commit("billing", topic, int64(10+i)).save("billing", topic, int64(i))
		}
		d := w.run("describe", "-g", "billing", "-s", w.store, "-o", "json").exits(0).describe()
		got := ""
		for _, r := range d.Groups[0].Partitions {
			got += words(r.Topic, r.Committed.Offset, r.Stored.Offset) + "; "
		}
		same(t, "rows", got, "DATA 12 2; a-b 11 1; a.b 10 0; data 13 3; ")
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "-t", "data", "-t", "a.b", "--execute").exits(0).prints("2 of 2 verified")
		same(t, "stored", w.stored("billing", "data")+" "+w.stored("billing", "DATA")+" "+w.stored("billing", "a.b")+" "+w.stored("billing", "a-b"), "0=5 0=2 0=5 0=1")
	})
	t.Run("two forms of one name", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("a:b", "orders", 100)
		w.save("a:b", "orders", 100)
		w.run("clamp", "-g", "a:b", "-s", w.store, "--stored", "--execute").exits(0) // a folder that another program named plainly
		same(t, "stored", w.stored("a:b", "orders"), "0=500")
		w.save("a%3Ab", "orders", 100)
		w.run("clamp", "-g", "a:b", "-s", w.store, "--stored", "--execute").exits(4).says("a%3Ab", "a:b")
		w.run("describe", "-g", "a:b", "-s", w.store).exits(4)
		same(t, "stored", w.stored("a:b", "orders")+" "+w.stored("a%3Ab", "orders"), "0=500 0=100")
	})
	t.Run("printed lines can be pasted", func(t *testing.T) {
		t.Parallel()
		bash := needs.Program(t, "bash") // it reads a line as a shell does
		for group := range hostile {
			w := start(t).topic("orders", [2]int64{500, 900}).commit(group, "orders", 100)
			dir := filepath.Join(w.t.TempDir(), "back ups 'of' $HOME\n\x1b")
			r := w.run("clamp", "-g", group, "--backup-dir", dir, "--execute").exits(0).never("\x1b")
			var line string
			for l := range strings.Lines(r.out) {
				if after, ok := strings.CutPrefix(l, "undo "); ok {
					line = after
				}
			}
			w.run(shell(t, bash, line)...).exits(0).prints("1 of 1 verified")
			same(t, group, w.committed(group, "orders"), "0=100")
			hint := ""
			for l := range strings.Lines(w.run("describe", "-g", group).exits(0).out) {
				if after, ok := strings.CutPrefix(l, "hint: to bring it back into range: "); ok {
					hint = after
				}
			}
			w.run(append(shell(t, bash, hint), "--execute")...).exits(0).prints("1 of 1 verified")
			same(t, group, w.committed(group, "orders"), "0=500")
		}
	})
	t.Run("what the network says is cleaned", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 900}).commit("billing", "orders", 100)
		must(t, w.b.Commit("billing", "orders", 0, 100, -1, "meta\x1b[2J\ndata"))
		w.run("describe", "-g", "billing", "-o", "wide").exits(0).never("\x1b", "meta\n").prints(`meta\x1b[2J\ndata`)
		same(t, "json", deref(w.run("describe", "-g", "billing", "-o", "json").describe().row(t, "orders", 0).Committed.Metadata), "meta\x1b[2J\ndata")
		w.classic(stable("consumer", "evil\x1b[2J\n"))
		w.run("clamp", "-g", "billing", "-t", "orders", "--execute").never("\x1b", "evil\n")
	})
}

// shell reads a line as bash does, and returns the words behind the program's name.
func shell(t *testing.T, bash, line string) []string {
	t.Helper()
	out, err := exec.Command(bash, "-c", `printf '%s\0' `+line).Output()
	must(t, err)
	all := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if all[0] != "gtoffset" || len(all) < 3 {
		t.Fatalf("line %q is %q", line, all)
	}
	return all[1:]
}

func folders(t *testing.T, dir string) []string {
	t.Helper()
	all, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}
