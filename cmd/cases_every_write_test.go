package cmd_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// writing is a command line that moves the commits, or the entries, of group billing in orders 0 to 2.
type writing struct {
	name string
	args func(w *world) []string
}

// everyWrite is one of each command that writes commits.
func everyWrite() []writing {
	rows := "orders,0,700\norders,1,701\norders,2,702\n"
	return []writing{
		{"reset", func(*world) []string { return []string{"reset", "-g", "billing", "-t", "orders", "--to-offset", "700"} }},
		{"import rows", func(w *world) []string { return []string{"import", w.document(rows), "-g", "billing"} }},
		{"import a backup", func(w *world) []string {
			return []string{"import", w.backupFile(row(0, "700", "600") + "," + row(1, "701", "600") + "," + row(2, "702", "600"))}
		}},
		{"import a plan", func(w *world) []string {
			plan := w.run("reset", "-g", "billing", "-t", "orders", "--shift-by", "7", "--dry-run", "-o", "json").out
			return []string{"import", w.document(plan)}
		}},
		{"delete", func(*world) []string { return []string{"delete", "-g", "billing", "-t", "orders"} }},
	}
}

// The boxes of WRT and GRP that every write has to pass, whichever command it is.
func TestEveryWriteCases(t *testing.T) {
	t.Parallel()
	three := func(t *testing.T) *world {
		return start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 600, 600, 600)
	}
	const before = "0=600 1=600 2=600"
	for _, c := range everyWrite() {
		args := func(w *world, more ...string) []string { return append(slices.Clone(c.args(w)), more...) }
		t.Run("WRT-7 a dry run of "+c.name, func(t *testing.T) {
			t.Parallel()
			w := three(t)
			for _, way := range []string{"--dry-run", "--check"} {
				w.run(args(w, way)...).says("nothing was written").never("verified\n", "undo  ")
				p := w.run(args(w, way, "-o", "json")...).plan()
				same(t, "plan", words(p.Applied, p.Backup == nil, p.Undo == nil, p.Counts.Write), "false true true 3")
			}
			w.run(args(w)...).exits(2).says("nothing was written", "--execute")
			w.person("n\n", nil).run(args(w)...).exits(1).says("[y/N]", "nothing was written")
			same(t, "committed", w.committed("billing", "orders"), before)
			same(t, "writes", w.writes(), 0)
			same(t, "backups", len(w.backups()), 0)
		})
		t.Run("WRT-1 one partition refused to "+c.name, func(t *testing.T) {
			t.Parallel()
			w := three(t)
			line := args(w, "--execute", "-o", "json")
			w.refuseOne(1)
			r := w.run(line...).exits(3).says("orders 1", "1 of 3 offsets not written as planned", "2 of 3 verified")
			p := r.plan()
			same(t, "counts", p.Counts, countsDoc{Write: 3, Written: 2, Verified: 2, Failed: 1})
			for part, want := range map[int32]string{0: "written", 1: "failed", 2: "written"} {
				same(t, "result", deref(p.change(t, "orders", part, "committed").Result), want)
			}
			e := r.failure()
			same(t, "details", words(len(e.Details), deref(e.Details[0].Topic), *e.Details[0].Partition), "1 orders 1")
			if got := w.committed("billing", "orders"); !strings.Contains(got, "1=600") || strings.Contains(got, "0=600") {
				t.Errorf("committed = %s", got)
			}
		})
		t.Run("read back "+c.name, func(t *testing.T) {
			t.Parallel()
			w := three(t)
			line := args(w, "--execute")
			wrote := false
			for _, key := range []kmsg.Key{kmsg.OffsetCommit, kmsg.OffsetDelete} {
				w.b.Rewrite(int16(key), func(int32, kmsg.Response) bool { wrote = true; return true })
			}
			w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool {
				for _, topic := range r.(*kmsg.OffsetFetchResponse).Groups[0].Topics {
					for i, p := range topic.Partitions {
						if wrote && p.Partition == 2 {
							topic.Partitions[i].Offset = 777
						}
					}
				}
				return true
			})
			w.run(append(line, "-o", "json")...).exits(3).says("2 of 3 verified", "read back 777", "orders 2", `"cause":"changed"`, "shows what stands now; run the same command again to plan from there")
		})
		t.Run("GRP-12 --wait-empty "+c.name, func(t *testing.T) {
			t.Parallel()
			w := three(t)
			line := args(w, "--execute", "--wait-empty")
			leave, err := w.b.Join("billing", false, "orders")
			must(t, err)
			w.run(append(line, "3ms")...).exits(4).says("1 member", "nothing was written")
			same(t, "committed", w.committed("billing", "orders"), before)
			calls := 0
			w.tick = func() {
				if calls++; calls == 4 {
					leave()
				}
			}
			w.run(append(line, "50ms")...).exits(0).prints("3 of 3 verified")
		})
		t.Run("GRP-8 --idle "+c.name, func(t *testing.T) {
			t.Parallel()
			w := three(t)
			line := args(w, "--execute", "--idle", "1ms")
			fetches := 0
			w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(int32, kmsg.Response) bool {
				if fetches++; fetches == 1 {
					w.commit("billing", "orders", 601) // between the first look and the second
				}
				return true
			})
			w.run(line...).exits(4).says("not idle: orders 0 committed", "from 600 to 601", "nothing was written")
			same(t, "committed", w.committed("billing", "orders"), "0=601 1=600 2=600")
		})
		t.Run("--expect-cluster "+c.name, func(t *testing.T) {
			t.Parallel()
			w := three(t)
			w.run(args(w, "--execute", "--expect-cluster", "another")...).exits(4).says("this is cluster kfake")
			w.run(args(w, "--execute", "--expect-cluster", "kfake")...).exits(0)
		})
		t.Run("no place for a backup "+c.name, func(t *testing.T) {
			t.Parallel()
			w := three(t)
			w.run(args(w, "--execute", "--backup-dir", "/dev/null/x")...).exits(1).says("backup", "nothing was written")
			same(t, "committed", w.committed("billing", "orders"), before)
		})
	}
	t.Run("200 groups", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9})
		for i := range 200 {
			w.commit(fmt.Sprintf("g%03d", i), "orders", 5)
		}
		p := w.run("reset", "--all-groups", "-t", "orders", "--shift-by", "1", "--execute", "-o", "json").exits(0).plan()
		same(t, "counts", p.Counts, countsDoc{Write: 200, Written: 200, Verified: 200})
		w.run("import", deref(p.Backup), "--execute").exits(0).prints("200 of 200 verified")
		same(t, "one of them", w.committed("g117", "orders"), "0=5")
	})
	t.Run("GRP-11 two groups of one topic, side by side", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("cg-control-x", "orders", 600).commit("connect-x", "orders", 700)
		r := w.run("reset", "-g", "connect-x", "-g", "cg-control-x", "-t", "orders", "--to-earliest", "--execute").exits(0).prints("2 of 2 verified", "2 groups")
		for group, from := range map[string]string{"cg-control-x": "600", "connect-x": "700"} {
			if !strings.Contains(strings.Join(strings.Fields(r.out), " "), group+" orders 0 "+from+" 500") {
				t.Errorf("%s is not in the plan\n%v", group, r)
			}
		}
		w.run(r.undo()...).exits(0).prints("2 of 2 verified")
		same(t, "both", w.committed("cg-control-x", "orders")+" "+w.committed("connect-x", "orders"), "0=600 0=700")
	})
	t.Run("GRP-9 an empty streams group is written like any other", func(t *testing.T) {
		t.Parallel()
		w := three(t)
		w.b.Rewrite(kmsg.ListGroups.Int16(), func(_ int32, r kmsg.Response) bool {
			for i := range r.(*kmsg.ListGroupsResponse).Groups {
				r.(*kmsg.ListGroupsResponse).Groups[i].GroupType = "streams"
			}
			return true
		})
		w.run("reset", "--all-groups", "-t", "orders", "--to-latest", "--execute").exits(0).prints("3 of 3 verified")
	})
	t.Run("PART-3 a place of the store that is not to be written keeps what the cluster does not name just now", func(t *testing.T) {
		t.Parallel()
		w := three(t).save("billing", "orders", 600, 601, 602)
		w.hide("orders", 2)
		w.run("reset", "-g", "billing", "-t", "orders:0", "-s", w.store, "--stored", "--to-latest", "--execute").exits(0)
		same(t, "stored", w.stored("billing", "orders"), "0=900 1=601 2=602")
		w.run("import", w.document("orders,1,650\n"), "-g", "billing", "-s", w.store, "--stored", "--execute").exits(0)
		same(t, "stored", w.stored("billing", "orders"), "0=900 1=650 2=602")
		w.run("reset", "-g", "billing", "--all-topics", "-s", w.store, "--stored", "--to-earliest", "--execute").exits(0).prints("orders 2 stays", "left as it is")
		same(t, "stored", w.stored("billing", "orders"), "0=500 1=500 2=602")
	})
}

// Write, undo, export: equal but for the time, for every command and both sides.
func TestUndoExportsEqual(t *testing.T) {
	t.Parallel()
	onStore := []string{"-s", "STORE", "--stored"}
	all := []writing{
		{"clamp", func(*world) []string { return []string{"clamp", "-g", "billing", "-t", "orders", "--high", "end"} }},
		{"reset to current", func(*world) []string { return []string{"reset", "-g", "billing", "-t", "orders:0-2", "--to-current"} }},
		{"delete the group", func(*world) []string { return []string{"delete", "-g", "billing", "--whole-group"} }},
	}
	for _, c := range append(all, everyWrite()[:2]...) {
		for _, side := range []string{"committed", "stored"} {
			if side == "stored" && strings.HasPrefix(c.name, "delete") {
				continue
			}
			t.Run(c.name+" "+side, func(t *testing.T) {
				t.Parallel()
				w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900})
				epoch := w.b.Fake.PartitionInfo("orders", 0).Epoch
				must(t, w.b.Commit("billing", "orders", 0, 600, epoch, "checkpoint 17"))
				must(t, w.b.Commit("billing", "orders", 1, 100, -1, "low"))
				must(t, w.b.Commit("billing", "orders", 2, 2000, -1, ""))
				w.put("billing", "orders", fmt.Sprintf("# gtoffset 1\n# group billing\n# topic orders\n# topic-id %s\n# cluster kfake\n# owner the nightly job\n0 600 epoch=%d note=x\n1 100\n2 2000\n# entries 3\n", w.b.TopicID("orders"), epoch))
				args := append(c.args(w), "--execute")
				export := []string{"export", "-g", "billing"}
				if side == "stored" {
					for _, a := range onStore {
						a = strings.Replace(a, "STORE", w.store, 1)
						args, export = append(args, a), append(export, a)
					}
				}
				timeless := func(r result) string {
					before, after, _ := strings.Cut(r.out, `"taken":"`)
					return before + after[strings.Index(after, `"`):]
				}
				before := timeless(w.run(export...).exits(0))
				r := w.run(args...).exits(0).prints("verified")
				if timeless(w.run(append(export, "-o", "json")...)) == before {
					t.Error("nothing was changed")
				}
				w.run(r.undo()...).exits(0).prints("verified")
				after := timeless(w.run(export...).exits(0))
				if c.name == "delete the group" { // what an undo cannot bring back
					before, after = withoutType(before), withoutType(after)
				}
				same(t, "export after the undo", after, before)
			})
		}
	}
}

func withoutType(export string) string {
	return regexp.MustCompile(`"type":"[a-z]+"`).ReplaceAllString(export, "")
}

// refuseOne lets the broker refuse to write or remove the commit of one partition of orders.
func (w *world) refuseOne(partition int32) {
	w.b.FailCommit("orders", partition, kerr.InvalidCommitOffsetSize)
	w.b.Fake.ControlKey(kmsg.OffsetDelete.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
		w.b.Fake.KeepControl()
		topics := q.(*kmsg.OffsetDeleteRequest).Topics
		for i := range topics { // it is left out of the request, and answered below
			topics[i].Partitions = slices.DeleteFunc(topics[i].Partitions, func(p kmsg.OffsetDeleteRequestTopicPartition) bool { return p.Partition == partition })
		}
		return nil, nil, false
	})
	w.b.Rewrite(kmsg.OffsetDelete.Int16(), func(_ int32, r kmsg.Response) bool {
		p := kmsg.NewOffsetDeleteResponseTopicPartition()
		p.Partition, p.ErrorCode = partition, kerr.GroupSubscribedToTopic.Code
		topics := r.(*kmsg.OffsetDeleteResponse).Topics
		topics[0].Partitions = append(topics[0].Partitions, p)
		return true
	})
}
