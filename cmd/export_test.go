package cmd_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

type exportDoc struct {
	Schema, Kind, Side, Taken, Tool string
	Cluster                         clusterDoc
	Store                           *struct{ URL string }
	Groups                          []struct {
		Group, Type string
		Partitions  []struct {
			Topic         string
			TopicID       *string `json:"topic_id"`
			Partition     int32
			Side          string
			Offset, Epoch number
			Metadata      *string
		}
	}
}

func (r result) export() exportDoc {
	r.t.Helper()
	return document[exportDoc](r, "gtoffset.offsets/1")
}

// rich is a world whose group has commits with and without epoch and metadata, and a partition without one.
func rich(t *testing.T) *world {
	t.Helper()
	w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{0, 6_000_000_000}, [2]int64{0, 5}).topic("a-topic-with-a-very-long-name", [2]int64{0, 9})
	must(t, w.b.Commit("billing", "orders", 0, 700, w.b.Fake.PartitionInfo("orders", 0).Epoch, "checkpoint=17 \"x\", y\nz"))
	must(t, w.b.Commit("billing", "orders", 1, 5_000_000_001, -1, "grün"))
	return w.commit("billing", "a-topic-with-a-very-long-name", 3)
}

// state is the commits of a group with all that is kept of them.
func (w *world) commits(group string) string {
	g := w.b.Fake.GroupInfo(group)
	if g == nil {
		return ""
	}
	var all []string
	for topic, parts := range g.Commits {
		for p, c := range parts {
			all = append(all, fmt.Sprintf("%s/%d %d %d %q", topic, p, c.Offset, c.LeaderEpoch, c.Metadata))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// forget deletes a group with all that it has.
func (w *world) forget(group string) {
	w.t.Helper()
	w.run("delete", "-g", group, "--whole-group", "--execute", "--no-backup").exits(0)
}

// Every format goes out and comes in again: equal where it loses nothing, and what it loses is said.
func TestExportImport(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format, named string
		flags         []string // of import
		loses         []string
		after         func(state string) string
	}{
		{format: "json", named: "JSON"},
		{format: "yaml", named: "YAML"},
		{format: "csv", named: "CSV", loses: []string{"the topic id", "the cluster id", "the time", "the type"}, after: noEpoch},
		{format: "kafka-csv", named: "Kafka", flags: []string{"-g", "billing"}, loses: []string{"1 partition without an offset", "the metadata of 2 commits", "the leader epoch of 1 commit"}, after: plain},
		{format: "spark", named: "Spark", flags: []string{"-g", "billing"}, loses: []string{"1 partition without an offset", "the metadata of 2 commits"}, after: plain},
	} {
		t.Run(c.format, func(t *testing.T) {
			t.Parallel()
			w := rich(t)
			before := w.commits("billing")
			out := w.run("export", "-g", "billing", "-o", c.format).exits(0)
			if len(c.loses) > 0 {
				out.says(append(c.loses, "left out, as the format "+c.format+" has no place for it")...)
			} else {
				same(t, "stderr", out.err, "")
			}
			same(t, "export only reads", w.writes(), 0)
			w.forget("billing")
			same(t, "forgotten", w.commits("billing"), "")
			args := append([]string{"import", "-", "--create", "--execute"}, c.flags...)
			in := w.stdin(out.out).run(args...).exits(0).says("- is ", c.named).prints("3 of 3 verified")
			if c.after == nil {
				c.after = func(s string) string { return s }
			}
			same(t, "offsets", w.commits("billing"), c.after(before))
			// Importing the same again changes nothing.
			w.stdin(out.out).run(args...).exits(0).prints("Nothing to do")
			w.run(in.undo()...).exits(0)
			same(t, "undone", w.commits("billing"), "")
		})
	}
	t.Run("gtoffset", func(t *testing.T) {
		t.Parallel()
		w := rich(t)
		out := w.run("export", "-g", "billing", "-t", "orders", "-o", "gtoffset").exits(0).says("the format gtoffset has no place for it", "the metadata of 2 commits")
		want := "# gtoffset 1\n# group billing\n# topic orders\n# topic-id " + w.b.TopicID("orders") + "\n# cluster kfake\n"
		if !strings.HasPrefix(out.out, want) || !strings.HasSuffix(out.out, "# entries 2\n") {
			t.Errorf("%v", out)
		}
		before := w.committed("billing", "orders")
		w.commit("billing", "orders", 600, 1)
		w.stdin(out.out).run("import", "-", "--execute").exits(0).says("gtoffset file").prints("2 of 2 verified")
		same(t, "committed", w.committed("billing", "orders"), before)
		w.run("export", "-g", "billing", "-o", "gtoffset").exits(2).says("-o json holds everything")
	})
	t.Run("a FOLDER of gtoffset files", func(t *testing.T) {
		t.Parallel()
		w := rich(t).commit("shipping", "orders", 800)
		folder := filepath.Join(t.TempDir(), "new")
		w.run("export", "--all-groups", "-o", "gtoffset", folder).exits(0).says("3 gtoffset files in " + folder)
		before := w.committed("billing", "orders") + " " + w.committed("shipping", "orders") + " " + w.committed("billing", "a-topic-with-a-very-long-name")
		same(t, "before", before, "0=700 1=5000000001 0=800 0=3")
		w.commit("billing", "orders", 600, 1).commit("shipping", "orders", 600).commit("billing", "a-topic-with-a-very-long-name", 9)
		w.run("import", folder, "--execute").exits(0).says("gtoffset file").prints("4 of 4 verified")
		same(t, "after", w.committed("billing", "orders")+" "+w.committed("shipping", "orders")+" "+w.committed("billing", "a-topic-with-a-very-long-name"), before)
		w.run("import", folder, "--execute").exits(0).prints("Nothing to do")
		w.commit("billing", "orders", 600).commit("shipping", "orders", 600)
		w.run("import", folder, "-g", "shipping", "--execute").exits(0).prints("1 of 1 verified")
		same(t, "only the group that was named", w.committed("billing", "orders")+" "+w.committed("shipping", "orders"), "0=600 1=5000000001 0=800")
		// It is a store of its own, which is used as one.
		w.run("describe", "-g", "billing", "-s", folder).exits(0).prints("5000000001")
		// Nothing is ever replaced.
		inside, err := os.ReadFile(filepath.Join(folder, "shipping", "orders", "gtoffset"))
		must(t, err)
		w.run("export", "-g", "shipping", "-o", "gtoffset", folder).exits(4).says(filepath.Join(folder, "shipping", "orders", "gtoffset"), "exists", "nothing was written")
		again, err := os.ReadFile(filepath.Join(folder, "shipping", "orders", "gtoffset"))
		must(t, err)
		same(t, "file", string(again), string(inside))
		w.run("export", "-g", "billing", "-o", "gtoffset", filepath.Join(folder, "no", "such", "parent")).exits(1).says("nothing was written")
		file := w.document("")
		w.run("export", "-g", "billing", "-o", "gtoffset", file).exits(2).says(file)
	})
	t.Run("FRD-6 an empty set is a whole empty file", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 5)
		must(t, w.b.CreateTopic("empty", 1))
		folder := filepath.Join(t.TempDir(), "new")
		w.run("export", "-g", "billing", "-t", "empty", "-o", "gtoffset", folder).exits(0)
		b, err := os.ReadFile(filepath.Join(folder, "billing", "empty", "gtoffset"))
		must(t, err)
		if !strings.HasSuffix(string(b), "# entries 0\n") {
			t.Errorf("file = %q", b)
		}
		w.stdin(string(b)).run("import", "-", "--execute").exits(0).says("nothing to do")
		w.run("import", folder, "--execute").exits(0).says("nothing to do")
	})
	t.Run("a topic that was recreated for one group only", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9})
		w.saveAs("old", "orders", "AAAAAAAAAAAAAAAAAAAAAA", "", 5).saveAs("young", "orders", w.b.TopicID("orders"), "", 6)
		folder := filepath.Join(t.TempDir(), "new")
		w.run("export", "--all-groups", "-s", w.store, "--stored", "-o", "gtoffset", folder).exits(0)
		for group, id := range map[string]string{"old": "AAAAAAAAAAAAAAAAAAAAAA", "young": w.b.TopicID("orders")} {
			b, err := os.ReadFile(filepath.Join(folder, group, "orders", "gtoffset"))
			must(t, err)
			if !strings.Contains(string(b), "# topic-id "+id+"\n") {
				t.Errorf("%s: %q", group, b)
			}
		}
	})
}

// plain is a state as it is without epochs and metadata; noEpoch without epochs that no topic id vouches for.
func plain(state string) string {
	var all []string
	for row := range strings.SplitSeq(state, "; ") {
		f := strings.SplitN(row, " ", 4)
		all = append(all, f[0]+" "+f[1]+` -1 ""`)
	}
	return strings.Join(all, "; ")
}

func noEpoch(state string) string {
	var all []string
	for row := range strings.SplitSeq(state, "; ") {
		f := strings.SplitN(row, " ", 4)
		all = append(all, f[0]+" "+f[1]+" -1 "+f[3])
	}
	return strings.Join(all, "; ")
}

// The document says all that is known, and null where nothing is.
func TestExportDocument(t *testing.T) {
	t.Parallel()
	w := rich(t).saveAs("billing", "orders", "AAAAAAAAAAAAAAAAAAAAAA", "", 650, none, 4)
	d := w.run("export", "-g", "billing", "-o", "json").exits(0).export()
	same(t, "head", words(d.Kind, d.Side, d.Tool != "", d.Cluster.ID, d.Store == nil, d.Taken[:10]), "export committed true kfake true 2031-11-29")
	rows := d.Groups[0].Partitions
	same(t, "rows", words(len(d.Groups), d.Groups[0].Group, d.Groups[0].Type, len(rows)), words(1, "billing", d.Groups[0].Type, 4))
	same(t, "row 1", words(rows[1].Topic, deref(rows[1].TopicID), rows[1].Partition, rows[1].Offset, rows[1].Epoch, deref(rows[1].Metadata)),
		words("orders", w.b.TopicID("orders"), 0, 700, w.b.Fake.PartitionInfo("orders", 0).Epoch, "checkpoint=17 \"x\", y\nz"))
	same(t, "FMT-11 NONE-1 no commit", words(rows[3].Partition, rows[3].Offset, rows[3].Epoch, deref(rows[3].Metadata)), "2 null null null")
	w.run("export", "-g", "billing").exits(0).export() // json is the default
	w.stdin("").run("export", "-g", "billing", "-").exits(0).export()

	d = w.run("export", "-g", "billing", "-s", w.store, "--stored").exits(0).export()
	rows = d.Groups[0].Partitions
	same(t, "stored", words(d.Side, d.Store.URL, len(rows), rows[1].Offset, deref(rows[1].TopicID), rows[2].Offset, rows[3].Offset), words("stored", w.store, 4, 650, "AAAAAAAAAAAAAAAAAAAAAA", "null", 4))

	all, err := csv.NewReader(strings.NewReader(w.run("export", "-g", "billing", "-o", "csv").exits(0).out)).ReadAll()
	must(t, err)
	same(t, "csv", words(all[0], all[2], all[4]), words([]string{"group", "topic", "partition", "offset", "epoch", "metadata"},
		[]string{"billing", "orders", "0", "700", fmt.Sprint(w.b.Fake.PartitionInfo("orders", 0).Epoch), "checkpoint=17 \"x\", y\nz"}, []string{"billing", "orders", "2", "-", "-", "-"}))

	// Kafka's columns: three for exactly one group, else four; names of more than 24 characters in quotes.
	same(t, "kafka-csv", w.run("export", "-g", "billing", "-o", "kafka-csv").exits(0).out, "\"a-topic-with-a-very-long-name\",0,3\norders,0,700\norders,1,5000000001\n")
	w.commit("shipping", "orders", 600)
	w.run("export", "-g", "billing", "-g", "shipping", "-o", "kafka-csv").exits(0).prints("billing,orders,0,700\n", "shipping,orders,0,600\n")
	w.run("export", "--group-regex", "ship.*", "-o", "kafka-csv").exits(0).prints("shipping,orders,0,600\n")
	same(t, "spark", w.run("export", "-g", "billing", "-t", "orders", "-o", "spark").exits(0).out, "{\"orders\":{\"0\":700,\"1\":5000000001}}\n")
}

func TestExportExits(t *testing.T) {
	t.Parallel()
	t.Run("usage", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		w.b.Reset()
		for _, args := range [][]string{
			{"export"},
			{"export", "-g", "billing", "a", "b"},
			{"export", "-g", "billing", "-o", "table"},
			{"export", "-g", "billing", "-o", "rpk"},
			{"export", "-g", "billing", "--stored"},
			{"export", "-g", "billing", "-s", w.store, "--stored", "--committed"},
			{"export", "-g", "billing", "--execute"},
		} {
			r := w.run(args...).exits(2)
			same(t, "stdout", r.out, "")
		}
		same(t, "requests", w.b.Count(), 0)
		w.run("export", "-g", "billing", "-s", w.store).exits(2).says("both the store and the commits", "--stored or --committed").never("or both")
		w.run("export", "-g", "billing", "-g", "other", "-o", "spark").exits(2).says("more than one group", "-o json")
	})
	t.Run("a FILE that exists", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		file := filepath.Join(t.TempDir(), "billing.json")
		w.run("export", "-g", "billing", file).exits(0)
		fi, err := os.Stat(file)
		must(t, err)
		same(t, "mode", fi.Mode().Perm(), fs.FileMode(0o600))
		before, err := os.ReadFile(file)
		must(t, err)
		w.b.Reset()
		w.run("export", "-g", "billing", file).exits(4).says(file+" exists", "nothing was written")
		same(t, "requests", w.b.Count(), 0)
		must(t, os.Symlink(filepath.Join(t.TempDir(), "nowhere"), file+".link"))
		w.run("export", "-g", "billing", file+".link").exits(4)
		after, err := os.ReadFile(file)
		must(t, err)
		same(t, "file", string(after), string(before))
		w.run("import", file, "--execute").exits(0).prints("Nothing to do")
		w.run("export", "-g", "billing", "/nowhere/at/all.json").exits(1).says("nothing was written")
		// A file that appears meanwhile is not replaced either.
		late := filepath.Join(t.TempDir(), "late.json")
		w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(int32, kmsg.Response) bool {
			must(t, os.WriteFile(late, []byte("mine"), 0o600))
			return true
		})
		w.run("export", "-g", "billing", late).exits(4).says("exists")
		after, err = os.ReadFile(late)
		must(t, err)
		same(t, "file", string(after), "mine")
	})
	t.Run("nothing is left of a document that cannot be written", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		file := filepath.Join(t.TempDir(), "x")
		w.run("export", "-g", "billing", "-g", "other", "-o", "spark", file).exits(2)
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("stat: %v", err)
		}
	})
	t.Run("VIS-4 what cannot be read is left out, and said", func(t *testing.T) {
		t.Parallel()
		w := two(t).topic("secret", [2]int64{0, 9}).commit("billing", "secret", 5)
		allow := w.b.DenyTopic("secret")
		r := w.run("export", "-g", "billing").exits(3)
		same(t, "rows", len(r.export().Groups[0].Partitions) >= 2, true)
		w.run("export", "-g", "billing", "-t", "orders").exits(0)
		allow()
		w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool {
			for i := range r.(*kmsg.OffsetFetchResponse).Groups {
				if r.(*kmsg.OffsetFetchResponse).Groups[i].Group == "other" {
					r.(*kmsg.OffsetFetchResponse).Groups[i].ErrorCode = kerr.GroupAuthorizationFailed.Code
				}
			}
			return true
		})
		d := w.run("export", "-g", "billing", "-g", "other").exits(3).says(`group "other" could not be read`).export()
		same(t, "groups", words(len(d.Groups[0].Partitions), d.Groups[0].Group), "3 billing")
	})
	t.Run("VIS-1 PART-3 what is gone is exported all the same", func(t *testing.T) {
		t.Parallel()
		w := two(t).topic("gone", [2]int64{0, 9}, [2]int64{0, 9}).commit("billing", "gone", 5, 6)
		w.hide("gone", 1)
		d := w.run("export", "-g", "billing").exits(3).says("no longer").export()
		same(t, "rows", words(len(d.Groups[0].Partitions), d.Groups[0].Partitions[1].Offset), "4 6")
	})
	t.Run("MIG-3 HIGH-2 entries of another cluster are left out", func(t *testing.T) {
		t.Parallel()
		w := two(t).saveAs("billing", "orders", "", "of-another-house", 600, 800)
		r := w.run("export", "-g", "billing", "-s", w.store, "--stored").exits(3).says("stored for cluster of-another-house")
		same(t, "rows", len(r.export().Groups[0].Partitions), 0)
	})
	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		w := two(t)
		w.run("export", "-g", "nobody").exits(1).says(`group "nobody" is not known`)
		w.run("export", "-g", "billing", "-t", "nowhere").exits(1).says(`topic "nowhere" does not exist`)
		w.run("export", "-g", "billing", "-s", w.store+"/nowhere", "--stored").exits(1).says(w.store + "/nowhere")
	})
	t.Run("GRP-9 a share group", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9})
		w.share()
		same(t, "type", w.run("export", "-g", "s1").exits(0).export().Groups[0].Type, "share")
	})
}

// Stores are copied by pipe.
func TestCopyBetweenStores(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900}, [2]int64{0, 900}).topic("other", [2]int64{0, 9}).commit("billing", "orders", 1, 2)
	w.saveAs("billing", "orders", w.b.TopicID("orders"), "kfake", 600, 700).save("billing", "other", 5).save("shipping", "orders", none, 8)
	to := t.TempDir()
	out := w.run("export", "--stored", "-s", w.store, "--all-groups").exits(0)
	w.stdin(out.out).run("import", "-", "--stored", "-s", to, "--execute").exits(0).prints("4 of 4 verified")
	for _, at := range [][2]string{{"billing", "orders"}, {"billing", "other"}, {"shipping", "orders"}} {
		want := w.stored(at[0], at[1])
		from := w.store
		w.store = to
		same(t, words(at), w.stored(at[0], at[1]), want)
		w.store = from
	}
	w.stdin(out.out).run("import", "-", "--stored", "-s", to, "--execute").exits(0).prints("Nothing to do")
	same(t, "the commits are not touched", w.committed("billing", "orders"), "0=1 1=2")
	// The place has to be there.
	w.stdin(out.out).run("import", "-", "--stored", "-s", to+"/nowhere", "--execute").exits(1).says("mkdir")
}

// A store that is made from the commits claims no identity that they never had: what is asked about there is asked about here.
func TestExportedStoreClaimsNothing(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{100, 1000}, [2]int64{100, 1000}, [2]int64{100, 1000}).commit("billing", "orders", 500, 99000, 50)
	w.run("clamp", "-g", "billing", "--committed", "--execute").exits(4).says("identity unknown", "--high end")
	folder := filepath.Join(t.TempDir(), "new")
	w.run("export", "-g", "billing", "-o", "gtoffset", folder).exits(0)
	stdout := w.run("export", "-g", "billing", "-o", "gtoffset").exits(0).out
	w.store = folder
	for what, text := range map[string]string{"folder": w.file("billing", "orders"), "stdout": stdout} {
		if id := w.b.TopicID("orders"); strings.Contains(text, "# topic-id") || !strings.Contains(text, "\n0 500 topic-id="+id+"\n1 99000\n2 50\n") {
			t.Errorf("%s: %s", what, text)
		}
	}
	w.run("clamp", "-g", "billing", "-s", folder, "--stored", "--execute").exits(4).says("orders 1: stored 99000: high by 98,000, identity unknown", "--high end")
	w.run("describe", "-g", "billing", "-s", folder).exits(0).prints("stored high: 98000 ahead")

	// What a store had recorded of each of its entries goes with it.
	from := t.TempDir()
	w.store = from
	w.put("billing", "orders", "# gtoffset 1\n# topic-id AAAAAAAAAAAAAAAAAAAAAA\n0 500\n1 600 topic-id="+w.b.TopicID("orders")+"\n2 99000\n# entries 3\n")
	again := filepath.Join(t.TempDir(), "again")
	w.run("export", "-g", "billing", "-s", from, "--stored", "-o", "gtoffset", again).exits(0)
	d := w.run("describe", "-g", "billing", "-s", again, "-o", "json").exits(0).describe()
	for p, want := range []string{"recreated", "same", "recreated"} {
		same(t, fmt.Sprint("identity of ", p), d.row(t, "orders", int32(p)).Stored.Identity, want)
	}
}

// What a store has of an earlier topic of the name is exported as such, or not at all: nowhere does it become a number of the topic of now.
func TestExportOfAnEarlierTopic(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900}, [2]int64{0, 900})
	w.put("billing", "orders", "# gtoffset 1\n# cluster kfake\n0 500 topic-id=AAAAAAAAAAAAAAAAAAAAAA\n1 600 topic-id="+w.b.TopicID("orders")+"\n# entries 2\n")
	for _, format := range []string{"json", "yaml", "gtoffset"} {
		out := w.run("export", "-g", "billing", "-s", w.store, "--stored", "-o", format).exits(0)
		out.says(`stored before the topic was recreated`, `group "billing" orders 0`).never("orders 1")
		to := t.TempDir()
		w.stdin(out.out).run("import", "-", "-s", to, "--stored", "--execute").exits(4).never("since the document was made").
			says("orders 0: ", "the topic was recreated since this offset was recorded", "--recreated keep")
	}
	for _, format := range []string{"csv", "kafka-csv", "spark"} {
		out := w.run("export", "-g", "billing", "-s", w.store, "--stored", "-o", format).exits(3)
		out.says(`group "billing" orders 0 was stored before the topic was recreated, which ` + format + " cannot say").prints("600").never("500")
	}
}

// A group of which the store has nothing gets no place in a copy of it: an empty one would be what it is judged by.
func TestExportFolderMakesNoPlace(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900}).topic("audit", [2]int64{0, 9})
	w.commit("shipping", "orders", 800).commit("a-tool", "audit", 9).commit("billing", "orders", 700).save("billing", "orders", 700).commit("billing", "audit", 9)
	w.put("emptied", "orders", "# gtoffset 1\n# entries 0\n")
	exported := func(scope ...string) (result, string) {
		folder := filepath.Join(t.TempDir(), "new")
		return w.run(append([]string{"export", "-s", w.store, "--stored", "-o", "gtoffset", folder}, scope...)...).exits(0), folder
	}
	_, folder := exported("--all-groups", "-t", "orders")
	same(t, "of a topic", strings.Join(filesBelow(t, folder), " "), "billing/orders/gtoffset")
	r, folder := exported("--all-groups")
	r.says("2 gtoffset files in "+folder, "no file is written for topics without any offset, of 3 groups: a-tool; billing; shipping")
	same(t, "of all", strings.Join(filesBelow(t, folder), " "), "billing/orders/gtoffset emptied/orders/gtoffset")
	w.run("describe", "--all-groups", "-s", folder, "--check").exits(10).says("check: 2 partitions not ok, such as group \"billing\" audit 0: no entry in the store") // and none of a-tool and shipping
	r, _ = exported("-g", "shipping")
	r.says("0 gtoffset files")
}

// filesBelow lists the gtoffset files below a folder.
func filesBelow(t *testing.T, folder string) (all []string) {
	t.Helper()
	must(t, fs.WalkDir(os.DirFS(folder), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "gtoffset" {
			all = append(all, path)
		}
		return err
	}))
	return all
}

// A folder that could not be finished is told of as such.
func TestExportFolderIncomplete(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900}).commit("a", "orders", 1).commit("b", "orders", 2)
	folder := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(folder, "b", "orders", "gtoffset.lock"), 0o755)) // the second cannot be locked
	w.run("export", "--all-groups", "-o", "gtoffset", folder).exits(1).never("nothing was written").
		says("; "+folder+" is incomplete: 1 of 2 gtoffset files written", "hint: name a new folder\n")
}

// What could not be read is why there is nothing to be written, and not the format.
func TestExportOfNothing(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900}).commit("billing", "orders", 600)
	for _, format := range []string{"spark", "kafka-csv", "gtoffset"} {
		export := []string{"export", "-g", "billing", "-t", "orders", "--committed", "-o", format}
		allow := w.b.DenyGroup("billing")
		w.run(export...).exits(3).says(`group "billing" could not be read`).never("cannot hold")
		allow()
	}
	w.run("delete", "-g", "billing", "-t", "orders", "--execute").exits(0)
	for _, format := range []string{"spark", "kafka-csv", "gtoffset"} {
		w.run("export", "-g", "billing", "--committed", "-o", format).exits(2).says("cannot hold nothing")
	}
}
