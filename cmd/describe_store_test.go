package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where several groups are looked at, a store is that of the groups it has something of; the others are judged by their commits.
func TestDescribeGroupsWithoutStore(t *testing.T) {
	t.Parallel()
	scene := func(t *testing.T) *world {
		w := start(t).topic("orders", [2]int64{500, 900}).topic("other", [2]int64{0, 9})
		return w.commit("billing", "orders", 600).commit("plain", "orders", 700).save("billing", "orders", 600)
	}
	const without = "nothing of this group is there"
	several := map[string][]string{
		"all":                      {"describe", "--all-groups"},
		"regex":                    {"describe", "--group-regex", "billing|plain"},
		"named":                    {"describe", "-g", "billing", "-g", "plain"},
		"one that a pattern finds": {"describe", "--group-regex", "plain"},
		"topics":                   {"describe", "--all-groups", "-t", "orders"},
	}
	for name, args := range several {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := scene(t)
			look := func(more ...string) result {
				return w.run(append(append(args[:len(args):len(args)], "-s", w.store, "--check"), more...)...).exits(0)
			}
			place := filepath.Join(w.store, "plain")
			r := look().prints("store     " + place + ": " + without + "; it is judged by its commits alone").never("no entry in the store")
			same(t, "times", strings.Count(r.out, without), 1)
			r = look("--problems", "-q")
			same(t, "quiet", r.out+r.err, "")
			doc := look("-o", "json").describe()
			plain := doc.Groups[len(doc.Groups)-1]
			row := plain.Partitions[0]
			same(t, "json", words(plain.Group, row.OK, row.State, row.Stored == nil), "plain true ok true")
			at := `{group="plain",topic="orders",partition="0"} 1`
			look("-o", "prom").prints("gtoffset_partition_ok"+at, "gtoffset_partition_readable"+at).never(`store_readable{group="plain"}`, `side="stored",group="plain"`)
			for _, line := range strings.Split(look("-o", "csv").out, "\n") {
				if strings.HasPrefix(line, "plain,") {
					same(t, "state", strings.Contains(line, ",ok"), true)
				}
			}
		})
	}
	t.Run("one that is named alone", func(t *testing.T) {
		t.Parallel()
		w := scene(t)
		alone := []string{"describe", "-g", "plain", "-s", w.store}
		w.run(alone...).exits(0).prints(filepath.Join(w.store, "plain")+": "+without, "no entry in the store").never("last save")
		w.run(append(alone, "--check")...).exits(10)
		w.run(append(alone, "-t", "orders")...).exits(0).prints(": nothing of these topics is there")
		w.run(append(alone, "-o", "json")...).exits(0).prints(`"store_notes":["` + without + `"]`)
	})
	t.Run("a topic that the store lacks", func(t *testing.T) {
		t.Parallel()
		w := scene(t).save("plain", "other", 3)
		w.run("describe", "--all-groups", "-t", "orders", "-s", w.store, "--check").exits(10).prints("no entry in the store").says("plain")
	})
	t.Run("what was there once", func(t *testing.T) { // the job's lock stays when its file is lost
		t.Parallel()
		w := scene(t).save("plain", "orders", 700)
		must(t, w.lock("plain", "orders").Unlock())
		must(t, os.Remove(w.path("plain", "orders")))
		w.run("describe", "--all-groups", "-s", w.store, "--check").exits(10).prints("has a lock, but no file", "no entry in the store").says("plain")
	})
	t.Run("a store of nobody", func(t *testing.T) {
		t.Parallel()
		w := scene(t)
		r := w.run("describe", "--all-groups", "-s", t.TempDir(), "--check").exits(10).prints(without)
		same(t, "groups", strings.Count(r.out, "no entry in the store"), 2)
		w.run("describe", "-g", "plain", "-g", "nobody", "-s", w.store).exits(3).says(`group "nobody" is not known to the cluster, nor is anything of it in the store`)
	})
}

// What is said of some of the partitions is not said of all, and a group without a commit is judged by none.
func TestWordsAreOfWhatTheyName(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900}, [2]int64{0, 900}, [2]int64{0, 900}).commit("billing", "orders", 600, 600, 901).save("billing", "orders", 700, 700, 700)
	w.run("describe", "-g", "billing", "-s", w.store).exits(0).prints("3 partitions, 2 ok, these 2 committed behind stored ·")
	w.run("describe", "-g", "billing", "-t", "orders:0,1", "-s", w.store).exits(0).prints("2 partitions, 2 ok, all of them committed behind stored ·")
	w.run("describe", "-g", "billing", "-g", "nobody", "-s", w.store).exits(3).prints("nobody: nothing of this group is there\n").never("judged by its commits")
}
