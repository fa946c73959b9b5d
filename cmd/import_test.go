package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// row is one row of a backup of the commits.
func row(partition int, offset, written string) string {
	return fmt.Sprintf(`{"topic":"orders","partition":%d,"side":"committed","offset":%s,"epoch":null,"metadata":null,"written":%s}`, partition, offset, written)
}

func TestImportBackup(t *testing.T) {
	t.Parallel()
	two := func(t *testing.T) *world {
		return start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 600, 700)
	}
	t.Run("moved since", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		file := w.backupFile(row(0, "100", "500") + "," + row(1, "650", "700"))
		w.run("import", file, "--execute").exits(4).says("orders 0", "moved since the backup: it was set to 500 and is 600", "--moved overwrite", "nothing was written")
		same(t, "writes", w.writes(), 0)
		w.run("import", file, "--execute", "--partial").exits(3).says("left out").prints("1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=600 1=650")
		w.run("import", file, "--execute", "--moved", "overwrite").exits(0)
		same(t, "committed", w.committed("billing", "orders"), "0=100 1=650")
		w.run("import", file, "--execute").exits(0).prints("Nothing to do")
	})
	t.Run("from stdin", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		file := w.backupFile(row(0, "650", "600"))
		b, err := os.ReadFile(file)
		must(t, err)
		w.stdin(string(b)).run("import", "-", "--execute").exits(0).prints("1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=650 1=700")
		w.person(string(b), nil).run("import", "-").exits(2)
	})
	t.Run("asked at a terminal", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		file := w.backupFile(row(0, "null", "600"))
		w.person("n\n", nil).run("import", file).exits(1).says("Remove 1 offset of group billing", "[y/N]")
		same(t, "committed", w.committed("billing", "orders"), "0=600 1=700")
		w.person("y\n", nil).run("import", file).exits(0).prints("removed", "1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "1=700")
	})
	t.Run("another cluster", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		file := w.document(strings.Replace(backup(row(0, "650", "600")), `"id":null`, `"id":"of-another-house"`, 1))
		w.run("import", file, "--execute").exits(4).says("of-another-house", w.cluster(), "hint: -b names the cluster that it is of; if it is meant for this cluster: add --other-cluster\n")
		w.run("import", file, "--execute", "--other-cluster").exits(0)
		same(t, "committed", w.committed("billing", "orders"), "0=650 1=700")
	})
	t.Run("another cluster first: its own", func(t *testing.T) {
		t.Parallel()
		w, there := two(t), two(t)
		there.b.Rewrite(kmsg.Metadata.Int16(), func(_ int32, r kmsg.Response) bool {
			r.(*kmsg.MetadataResponse).ClusterID = kmsg.StringPtr("of-another-house")
			return true
		})
		document := there.document("orders,0,650\norders,1,750\n")
		made := there.run("import", document, "-g", "billing", "--committed", "--execute", "-o", "json").exits(0).plan()
		home := "hint: to the cluster that it is of: gtoffset import " + deref(made.Backup) + " -t orders:0 -b " + there.b.Bootstrap()
		w.run("import", deref(made.Backup), "-t", "orders:0", "--execute").exits(4).says(home + "; if it is meant for this cluster: add --other-cluster\n")
		plan := strings.Replace(deref(made.Backup), ".json", ".plan.json", 1)
		w.run("import", plan, "--stale", "--execute").exits(4).says("the plan is for cluster of-another-house", "hint: to the cluster that it is of: gtoffset import "+plan+" -b "+there.b.Bootstrap()+"\n")
		// What its cluster did not have would be removed here: then there is no other way.
		there.commit("billing", "orders", 0)
		none := there.run("import", document, "-g", "new", "--create", "--committed", "--execute", "-o", "json").exits(0).plan()
		w.commit("new", "orders", 1)
		w.run("import", deref(none.Backup), "--execute", "--create").exits(4).never("--other-cluster").
			says("hint: to the cluster that it is of: gtoffset import " + deref(none.Backup) + " --create -b " + there.b.Bootstrap() + "\n")
	})
	t.Run("another store", func(t *testing.T) {
		t.Parallel()
		w := two(t).save("billing", "orders", 100, 700).save("shipping", "orders", 100, 700)
		backup := w.run("clamp", "-g", "billing", "-g", "shipping", "-s", w.store, "--stored", "--execute", "-o", "json").exits(0).plan()
		note := func(store string) string {
			return "note: the backup is of the store " + w.store + "; the store that is written is " + store + "\n"
		}
		other := t.TempDir()
		for _, group := range []string{"billing", "shipping"} {
			must(t, os.MkdirAll(filepath.Join(other, group, "orders"), 0o755))
			must(t, os.WriteFile(filepath.Join(other, group, "orders", "gtoffset"), []byte("0 500\n1 700\n"), 0o644))
		}
		r := w.run("import", deref(backup.Backup), "-s", other, "--execute").exits(0).prints(note(other), "2 of 2 verified")
		same(t, "notes", strings.Count(r.out, "note: the backup"), 1)
		same(t, "the backup's own", w.stored("billing", "orders"), "0=500 1=700")
		// The same by another name, or the one that the backup names, is no other.
		linked := filepath.Join(t.TempDir(), "linked")
		must(t, os.Symlink(w.store, linked))
		for _, flags := range [][]string{{"-s", w.store}, {"-s", "file:" + linked + "/"}, nil} {
			w.run(append([]string{"import", deref(backup.Backup), "--dry-run"}, flags...)...).exits(0).never("the backup is of the store")
		}
		export := w.run("export", "-g", "billing", "-s", w.store, "--stored").exits(0).out
		w.stdin(export).run("import", "-", "-s", other, "--stored", "--execute").exits(0).prints("note: the document is of the store "+w.store, other, "verified")
	})
	t.Run("recreated since", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		w.commit("billing", "orders", 100)
		r := w.run("clamp", "-g", "billing", "--execute").exits(0)
		must(t, w.b.Recreate("orders"))
		w.grow("orders", [2]int64{0, 900}, [2]int64{0, 900})
		w.commit("billing", "orders", 500, 700)
		w.run(r.undo()...).exits(4).says("the topic was recreated since the backup", "--recreated keep")
		w.run(append(r.undo(), "--recreated", "keep")...).exits(0)
		same(t, "committed", w.committed("billing", "orders"), "0=100 1=700")
		w.commit("billing", "orders", 600) // moved, too: both are asked for at once
		w.run(r.undo()...).exits(4).says("the topic was recreated since the backup; moved since the backup: it was set to 500 and is 600", "hint: add --recreated keep; --moved overwrite\n")
	})
	t.Run("a live group", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		_, err := w.b.Join("billing", true, "orders")
		must(t, err)
		w.run("import", w.backupFile(row(0, "650", "600")), "--execute").exits(4).says("is active")
		same(t, "committed", w.committed("billing", "orders"), "0=600 1=700")
	})
	t.Run("a group that is gone", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900})
		file := w.backupFile(row(0, "650", "null"))
		w.run("import", file, "--execute").exits(4).says(`group "billing" does not exist`, "--create")
		w.run("import", file, "--execute", "--create").exits(0)
		same(t, "committed", w.committed("billing", "orders"), "0=650")
	})
	t.Run("MIG-1 out of range is told", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 0}).commit("billing", "orders", 0)
		w.run("import", w.backupFile(row(0, "100", "0")), "--dry-run").exits(0).prints("high: the range is 0..0")
	})
	t.Run("the store of the backup is gone", func(t *testing.T) {
		t.Parallel()
		w := low(t)
		r := w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(0)
		must(t, os.RemoveAll(w.store))
		w.run(r.undo()...).exits(1).says(w.store)
	})
}

// Of a backup or a list less than all can be taken, and what is left out is said; a plan is applied whole.
func TestImportPart(t *testing.T) {
	t.Parallel()
	three := func(t *testing.T) *world {
		w := start(t).topic("orders", [2]int64{0, 900}, [2]int64{0, 900}).topic("other", [2]int64{0, 50})
		return w.commit("billing", "orders", 600, 700).commit("billing", "other", 7).commit("shipping", "orders", 500, 400).commit("third", "other", 9)
	}
	all := func(w *world) string {
		return strings.Join([]string{w.committed("billing", "orders"), w.committed("billing", "other"), w.committed("shipping", "orders"), w.committed("third", "other")}, " | ")
	}
	const before, reset = "0=600 1=700 | 0=7 | 0=500 1=400 | 0=9", "0=0 1=0 | 0=0 | 0=0 1=0 | 0=0"
	for _, c := range []struct {
		name string
		args []string
		says []string
		want string
	}{
		{"all", nil, nil, before},
		{"a group", []string{"-g", "billing"}, []string{`left out, as it is not what was asked for: group "shipping"; group "third"`}, "0=600 1=700 | 0=7 | 0=0 1=0 | 0=0"},
		{"two groups", []string{"-g", "third", "-g", "shipping"}, []string{`group "billing"`}, "0=0 1=0 | 0=0 | 0=500 1=400 | 0=9"},
		{"a topic", []string{"-t", "other"}, []string{"4 partitions of orders"}, "0=0 1=0 | 0=7 | 0=0 1=0 | 0=9"},
		{"a partition", []string{"-t", "orders:1"}, []string{"2 partitions of orders; 2 partitions of other"}, "0=0 1=700 | 0=0 | 0=0 1=400 | 0=0"},
		{"both", []string{"-g", "billing", "-t", "orders:0", "-t", "other"}, []string{`group "shipping"; group "third"; 1 partition of orders`}, "0=600 1=0 | 0=7 | 0=0 1=0 | 0=0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := three(t)
			list := w.document(w.run("export", "--all-groups", "-o", "json").exits(0).out)
			r := w.run("reset", "--all-groups", "--all-topics", "--to-earliest", "--execute").exits(0)
			same(t, "reset", all(w), reset)
			undo := w.run(append(r.undo(), c.args...)...).exits(0).says(c.says...)
			same(t, "undone", all(w), c.want)
			w.run(undo.undo()...).exits(0)
			same(t, "the undo undone", all(w), reset)
			w.run(append([]string{"import", list, "--execute"}, c.args...)...).exits(0).says(c.says...)
			same(t, "of the list", all(w), c.want)
		})
	}
	t.Run("what it says nothing of", func(t *testing.T) {
		t.Parallel()
		w := three(t)
		r := w.run("reset", "-g", "billing", "-g", "shipping", "--all-topics", "--to-earliest", "--execute").exits(0)
		w.run(append(r.undo(), "-g", "billing", "-g", "nobody")...).exits(1).says(`says nothing of group "nobody", which -g names: it is about "billing"; "shipping"; nothing was written`)
		w.run(append(r.undo(), "-t", "orders", "-t", "none")...).exits(1).says(`says nothing of topic "none", which -t names`)
		w.run(append(r.undo(), "-g", "shipping", "-t", "other")...).exits(1).says(`says nothing of topic "other"`)
		w.run(append(r.undo(), "-t", "orders:x")...).exits(2)
		same(t, "writes", all(w), "0=0 1=0 | 0=0 | 0=0 1=0 | 0=9")
	})
	t.Run("a plan is whole", func(t *testing.T) {
		t.Parallel()
		w := three(t)
		plan := w.document(w.run("reset", "--all-groups", "--all-topics", "--to-earliest", "--dry-run", "-o", "json").exits(0).out)
		for _, part := range [][]string{{"-g", "billing"}, {"-t", "orders"}, {"-g", "billing", "-t", "orders:0"}} {
			w.run(append([]string{"import", plan, "--execute"}, part...)...).exits(4).says("is a plan, which is applied whole", "leave out -g and -t")
		}
		same(t, "writes", all(w), before)
		w.run("import", plan, "--execute", "-g", "billing", "-g", "shipping", "-g", "third").exits(0)
		same(t, "all of it", all(w), reset)
	})
}

// An undo has nothing to do for what had no commit and has none, whatever became of its topic.
func TestImportBackupOfWhatIsGone(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900}).topic("other", [2]int64{0, 50}).commit("billing", "orders", 600)
	r := w.run("reset", "-g", "billing", "-t", "orders", "-t", "other", "--to-latest", "--execute").exits(0)
	w.run("delete", "-g", "billing", "-t", "other", "--execute").exits(0)
	must(t, w.b.Fake.DeleteTopic("other"))
	w.run(r.undo()...).exits(0).prints("1 of 1 verified")
	same(t, "committed", w.committed("billing", "orders")+w.committed("billing", "other"), "0=600")
	w.topic("other", [2]int64{0, 9}) // another topic of the name
	w.run(r.undo()...).exits(0).prints("Nothing to do")
}

// backup is a backup of group billing with the given rows.
func backup(rows string) string {
	return fmt.Sprintf(`{"schema":"gtoffset.offsets/1","kind":"backup","side":"both","taken":"2026-11-29T11:00:00Z","tool":"gtoffset 0.1.0",
 "cluster":{"id":null},"store":null,"groups":[{"group":"billing","type":"simple","partitions":[
%s
 ]}]}`, rows)
}

// What comes as a document is read, or refused with the place.
func TestImportReads(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900}, [2]int64{0, 900})
	good := backup(row(0, "650", "600"))
	w.commit("billing", "orders", 600, 600)
	for _, c := range []struct {
		name, doc string
		code      int
		says      []string
	}{
		{"good", good, 0, nil},
		{"FMT-1 byte-order mark", "\xef\xbb\xbf" + good, 0, nil},
		{"FMT-3 CRLF, no end, blank lines", strings.ReplaceAll(good, "\n", "\r\n") + "\r\n\r\n", 0, nil},
		{"a name that no request has room for", strings.Repeat("g", 40000) + ",orders,0,3\n", 1, []string{"line 1: a name has 40000 bytes; none in Kafka has more than 32767", "nothing was written"}},
		{"FMT-4 UTF-16", "\xff\xfe{\x00", 1, []string{"UTF-16"}},
		{"FMT-4 UTF-16 big-endian", "\xfe\xff\x00{", 1, []string{"UTF-16"}},
		{"FMT-5 a partition twice", backup(row(0, "650", "600") + ",\n" + row(0, "651", "600")), 1, []string{"orders", "twice", "650", "651"}},
		{"FMT-9 above 64 bits", backup(row(0, "9223372036854775808", "600")), 1, []string{"9223372036854775808", "64 bits"}},
		{"FMT-9 above 32 bits", backup(row(0, "5000000001", "600")), 0, nil},
		{"FMT-9 the largest of 64 bits", backup(row(0, "9223372036854775807", "600")), 0, nil},
		{"FMT-12 an engine's marker", backup(row(0, "-915623761775", "600")), 1, []string{"-915623761775", "negative"}},
		{"a fraction", backup(row(0, "650.5", "600")), 1, []string{"650.5"}},
		{"a text", backup(row(0, `"650"`, "600")), 1, nil},
		{"no offset", strings.Replace(good, `"offset":650,`, "", 1), 1, []string{"offset is missing"}},
		{"no written", strings.Replace(good, `,"written":600`, "", 1), 1, []string{"written is missing"}},
		{"no partition", strings.Replace(good, `"partition":0,`, "", 1), 1, []string{"partition is missing"}},
		{"negative partition", strings.Replace(good, `"partition":0`, `"partition":-1`, 1), 1, []string{"partition"}},
		{"another schema", strings.Replace(good, "offsets/1", "offsets/2", 1), 1, []string{"gtoffset.offsets/2"}},
		{"an export", strings.Replace(good, `"backup"`, `"export"`, 1), -1, nil},
		{"cut off", good[:len(good)-20], 1, nil},
		{"two documents", good + good, 1, nil},
		{"nothing", "", 1, nil},
		{"no JSON", "orders,0,100\n", -1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := w.run("import", w.document(c.doc), "--dry-run")
			if c.code < 0 { // another command's formats: not yet, or refused for another reason
				if r.code == 0 && !strings.Contains(r.err, "nothing was written") {
					t.Errorf("%v", r)
				}
				return
			}
			r.exits(c.code).says(c.says...)
			if c.code == 0 {
				same(t, "writes", w.run("import", w.document(c.doc), "--dry-run", "-o", "json").plan().Counts.Write, 1)
				return
			}
			r.says("nothing was written")
			same(t, "stdout", r.out, "")
			w.run("import", w.document(c.doc), "--execute", "-o", "json").exits(c.code).failure()
		})
	}
	w.run("import", w.store+"/nowhere.json", "--execute").exits(1).says("nowhere.json")
	w.run("import", w.store, "--execute").says("gtoffset: error: ")
	same(t, "committed", w.committed("billing", "orders"), "0=600 1=600")
	same(t, "writes", w.writes(), 0)
}

// An empty object is what is left where a program found nothing: it is nobody's offsets, and no success.
func TestImportOfAnEmptyObject(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 10}).commit("billing", "orders", 5)
	for _, as := range [][]string{nil, {"--as", "spark"}} {
		w.stdin("{}\n").run(append([]string{"import", "-", "-g", "billing", "--committed", "--execute"}, as...)...).exits(1).says("an object with nothing in it: it names no topic; nothing was written")
	}
}
