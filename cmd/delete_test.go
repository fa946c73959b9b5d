package cmd_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestDelete(t *testing.T) {
	t.Parallel()
	t.Run("the commits of a topic, and back", func(t *testing.T) {
		t.Parallel()
		w := rich(t).save("billing", "orders", 600)
		before := w.commits("billing")
		del := []string{"delete", "-g", "billing", "-t", "orders"}
		w.run(append(del, "--dry-run")...).exits(0).prints("removed; a restart begins by auto.offset.reset").says("nothing was written", "remove 2 offsets of group billing")
		w.run(append(del, "--check")...).exits(10)
		same(t, "after dry runs", w.commits("billing"), before)
		r := w.run(append(del, "--execute")...).exits(0).prints("2 of 2 verified", "orders 2 stays: no commit", "undo ")
		same(t, "committed", w.committed("billing", "orders")+" "+w.committed("billing", "a-topic-with-a-very-long-name"), " 0=3")
		same(t, "the store keeps what it has", w.stored("billing", "orders"), "0=600")
		w.run(append(del, "--execute")...).exits(0).prints("Nothing to do")
		w.run(append(del, "--check")...).exits(0)
		w.run(r.undo()...).exits(0).prints("2 of 2 verified")
		same(t, "undone, with metadata and epoch", w.commits("billing"), before)
	})
	t.Run("some partitions", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}, [2]int64{0, 9}, [2]int64{0, 9}).commit("billing", "orders", 1, 2, 3).commit("other", "orders", 1, 2, 3)
		p := w.run("delete", "-g", "billing", "-t", "orders:0,2", "--execute", "-o", "json").exits(0).plan()
		same(t, "counts", p.Counts, countsDoc{Write: 2, Written: 2, Verified: 2})
		c := p.change(t, "orders", 2, "committed")
		same(t, "change", words(c.Old.Offset, c.New.Offset, deref(c.Result)), "3 null written")
		same(t, "committed", w.committed("billing", "orders")+", "+w.committed("other", "orders"), "1=2, 0=1 1=2 2=3")
	})
	t.Run("the last commit: the undo makes the group anew", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 5)
		r := w.run("delete", "-g", "billing", "-t", "orders", "--execute").exits(0)
		w.forget("billing") // as Kafka does some minutes later
		same(t, "gone", w.b.Fake.GroupInfo("billing") == nil, true)
		w.run(r.undo()...).exits(0).prints("1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=5")
	})
	t.Run("a whole group, and back", func(t *testing.T) {
		t.Parallel()
		w := rich(t)
		before := w.commits("billing")
		w.run("delete", "-g", "billing", "--whole-group", "--dry-run").exits(0).prints("not its type", "the clock by which they expire", "removed with the group").says("delete group billing with all commits")
		same(t, "after the dry run", w.commits("billing"), before)
		w.person("n\n", nil).run("delete", "-g", "billing", "--whole-group").exits(1).says("Delete group billing with all commits", "[y/N]", "not confirmed")
		r := w.person("y\n", nil).run("delete", "-g", "billing", "--whole-group").exits(0).prints("3 of 3 verified")
		same(t, "gone", w.b.Fake.GroupInfo("billing") == nil, true)
		w.run("describe", "-g", "billing").exits(1)
		w.run("delete", "-g", "billing", "--whole-group", "--execute").exits(1).says(`group "billing" is not known`)
		w.run(r.undo()...).exits(0).prints("3 of 3 verified")
		same(t, "undone", w.commits("billing"), before)
		w.run(r.undo()...).exits(0).prints("Nothing to do")
	})
	t.Run("a group without commits", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9})
		w.memberless("billing", "orders")
		w.run("describe", "-g", "billing").exits(0)
		w.run("delete", "-g", "billing", "--whole-group", "--check").exits(10)
		w.run("delete", "-g", "billing", "--whole-group", "--execute").exits(0)
		w.run("describe", "-g", "billing").exits(1)
	})
	for _, reaches := range []bool{true, false} {
		t.Run(fmt.Sprintf("a group without commits, whose deletion is not answered, and arrives: %v", reaches), func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{0, 9})
			w.memberless("billing", "orders")
			w.b.Fake.ControlKey(kmsg.DeleteGroups.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
				w.b.Fake.KeepControl()
				return nil, errors.New("hung up"), !reaches
			})
			w.b.Rewrite(kmsg.DeleteGroups.Int16(), func(int32, kmsg.Response) bool { return false })
			r := w.run("delete", "-g", "billing", "--whole-group", "--execute")
			if reaches {
				r.exits(0)
				w.run("describe", "-g", "billing").exits(1)
			} else {
				r.exits(3).says(`group "billing": `, "may still go").never("nothing was written")
			}
		})
	}
	t.Run("a group without commits, whose deletion is done, and answered by an error", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9})
		w.memberless("billing", "orders")
		w.b.Rewrite(kmsg.DeleteGroups.Int16(), func(_ int32, r kmsg.Response) bool {
			r.(*kmsg.DeleteGroupsResponse).Groups[0].ErrorCode = kerr.UnknownServerError.Code
			return true
		})
		w.run("delete", "-g", "billing", "--whole-group", "--execute").exits(3).prints("group billing unknown: ").says("and yet the group is gone").never("nothing was written")
	})
	t.Run("many groups", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}).topic("other", [2]int64{0, 9})
		for _, g := range []string{"test-1", "test-2", "job"} {
			w.commit(g, "orders", 5).commit(g, "other", 5)
		}
		w.run("delete", "--group-regex", "test-.*", "--whole-group", "--execute").exits(0).prints("4 of 4 verified")
		w.run("describe").exits(0).never("test-")
		r := w.run("delete", "--all-groups", "-t", "other", "--execute").exits(0).prints("1 of 1 verified")
		same(t, "job", w.committed("job", "orders")+w.committed("job", "other"), "0=5")
		w.run(r.undo()...).exits(0)
		same(t, "job", w.committed("job", "orders")+" "+w.committed("job", "other"), "0=5 0=5")
	})
	for _, modern := range []bool{false, true} {
		t.Run(map[bool]string{false: "a live classic group", true: "a live KIP-848 group"}[modern], func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{0, 9}).topic("old", [2]int64{0, 9}).commit("billing", "orders", 5).commit("billing", "old", 6)
			leave, err := w.b.Join("billing", modern, "orders")
			must(t, err)
			w.b.Reset()
			for _, way := range []string{"--execute", "--dry-run"} {
				w.run("delete", "-g", "billing", "-t", "orders", way).exits(4).says("orders 0", "the group is active and reads this topic: 1 member", "nothing was written", "--wait-empty 60s")
				w.run("delete", "-g", "billing", "--whole-group", way).exits(4).says(`group "billing" is active: 1 member`, "nothing was written")
				w.run("delete", "-g", "billing", "-t", "orders", "-t", "old", way).exits(4).says("orders 0").never("old 0: ")
			}
			same(t, "writes", w.writes()+w.b.Count(kmsg.DeleteGroups.Int16()), 0)
			if modern { // the in-process broker removes nothing of such a group, Apache Kafka does: see the live tests
				return
			}
			// A topic that it no longer reads may go.
			r := w.run("delete", "-g", "billing", "-t", "old", "--execute").exits(0).prints("1 of 1 verified")
			same(t, "committed", w.committed("billing", "orders")+w.committed("billing", "old"), "0=5")
			// The undo is a commit, and has to wait for the members.
			w.run(r.undo()...).exits(4).says("is active")
			leave()
			w.run(append(r.undo(), "--wait-empty", "1s")...).exits(0)
			same(t, "committed", w.committed("billing", "old"), "0=6")
		})
	}
	t.Run("the broker says that it is read after all", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 5)
		w.b.Fake.ControlKey(kmsg.OffsetDelete.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
			w.b.Fake.KeepControl()
			r := q.ResponseKind().(*kmsg.OffsetDeleteResponse)
			topic := kmsg.NewOffsetDeleteResponseTopic()
			topic.Topic = "orders"
			part := kmsg.NewOffsetDeleteResponseTopicPartition()
			part.ErrorCode = kerr.GroupSubscribedToTopic.Code
			topic.Partitions = append(topic.Partitions, part)
			r.Topics = append(r.Topics, topic)
			return r, nil, true
		})
		w.run("delete", "-g", "billing", "-t", "orders", "--execute").exits(4).says("orders 0", "GROUP_SUBSCRIBED_TO_TOPIC", "nothing was written", "hint: add --wait-empty 60s")
		same(t, "committed", w.committed("billing", "orders"), "0=5")
	})
	t.Run("what is not there", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 5)
		w.run("delete", "-g", "biling", "-t", "orders", "--execute").exits(1).says(`group "biling" is not known`)
		w.run("delete", "-g", "billing", "-t", "nowhere", "--execute").exits(1).says(`topic "nowhere" does not exist`)
		w.run("delete", "-g", "billing", "-t", "orders:7", "--execute").exits(1).says("partition 7")
		w.run("delete", "-g", "billing", "-t", "__consumer_offsets", "--execute").exits(4).says("__consumer_offsets")
	})
	t.Run("usage", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 5)
		w.b.Reset()
		for _, args := range [][]string{
			{"delete", "-t", "orders", "--execute"},
			{"delete", "-g", "billing", "--execute"},
			{"delete", "-g", "billing", "-t", "orders", "--whole-group", "--execute"},
			{"delete", "-g", "billing", "-t", "orders"},
			{"delete", "-g", "billing", "-t", "orders", "--stored", "--execute"},
			{"delete", "-g", "billing", "-t", "orders", "extra", "--execute"},
		} {
			w.run(args...).exits(2)
		}
		same(t, "requests", w.b.Count(), 0)
	})
	t.Run("what moved since the plan", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 5)
		w.person("y\n", func() { w.commit("billing", "orders", 6) })
		w.run("delete", "-g", "billing", "-t", "orders").exits(4).says("moved since the plan: was 5, is 6", "nothing was written")
		w.person("y\n", func() { w.commit("billing", "orders", 7) })
		w.run("delete", "-g", "billing", "--whole-group").exits(4).says("was 6, is 7", "nothing was written")
		same(t, "committed", w.committed("billing", "orders"), "0=7")
		w.person("y\n", func() { _, err := w.b.Join("billing", false, "orders"); must(t, err) })
		w.run("delete", "-g", "billing", "--whole-group").exits(4).says("is active")
		same(t, "committed", w.committed("billing", "orders"), "0=7")
	})
	t.Run("a right is missing", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 5)
		w.b.Fake.ControlKey(kmsg.DeleteGroups.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
			r := q.ResponseKind().(*kmsg.DeleteGroupsResponse)
			g := kmsg.NewDeleteGroupsResponseGroup()
			g.Group, g.ErrorCode = "billing", kerr.GroupAuthorizationFailed.Code
			r.Groups = append(r.Groups, g)
			return r, nil, true
		})
		w.run("delete", "-g", "billing", "--whole-group", "--execute").exits(1).says("DELETE on group billing is missing", "nothing was written")
		same(t, "committed", w.committed("billing", "orders"), "0=5")
	})
}

// A share group has nothing that could be deleted, and that is no "nothing to do".
func TestDeleteOfAShareGroup(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"-t orders", "--whole-group"} {
		for _, how := range []string{"--execute", "--dry-run"} {
			w := start(t).topic("orders", [2]int64{10, 20})
			w.share()
			r := w.run(strings.Fields("delete -g billing "+what+" "+how)...).exits(4).says(`"billing" is a share group`, "nothing was written")
			if text := r.out + r.err; strings.Contains(text, "Nothing to do") || strings.Contains(text, "nothing to write") || strings.Contains(text, "the whole group goes") {
				t.Errorf("delete %s %s says\n%s", what, how, text)
			}
		}
	}
}

// What was left out is told as it was seen, though it was not looked at again.
func TestDeletePartlyOfAnActiveGroup(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{10, 20}).commit("billing", "orders", 15).commit("live", "orders", 15)
	_, err := w.b.Join("live", false, "orders")
	must(t, err)
	w.run("delete", "-g", "billing", "-g", "live", "--whole-group", "--execute", "--partial").exits(3).says(`left out: group "live" is active: 1 member`).never("is unknown")
}

// What goes with a group is in the plan and in the backup, or the group stays.
func TestDeleteOfAGroupThatGetsCommits(t *testing.T) {
	t.Parallel()
	ready := func(t *testing.T) *world {
		w := start(t).topic("orders", [2]int64{0, 90}, [2]int64{0, 90}).topic("other", [2]int64{0, 90})
		w.commit("billing", "orders", 5)
		return w
	}
	for _, partial := range []string{"", "--partial"} {
		t.Run("of another topic "+partial, func(t *testing.T) {
			t.Parallel()
			w := ready(t)
			w.person("y\n", func() { w.commit("billing", "other", 33) })
			w.run(strings.Fields("delete -g billing --whole-group "+partial)...).exits(4).
				says("whole or not at all", "other 0: committed 33: moved since the plan: was none, is 33", "nothing was written").never("--partial writes")
			same(t, "committed", w.committed("billing", "orders")+", "+w.committed("billing", "other"), "0=5, 0=33")
		})
		t.Run("of another partition "+partial, func(t *testing.T) {
			t.Parallel()
			w := ready(t)
			w.person("y\n", func() { w.commit("billing", "orders", 5, 33) })
			w.run(strings.Fields("delete -g billing --whole-group "+partial)...).exits(4).says("orders 1: committed 33: moved since the plan: was none, is 33", "nothing was written")
			same(t, "committed", w.committed("billing", "orders"), "0=5 1=33")
		})
	}
	t.Run("the first one", func(t *testing.T) {
		t.Parallel()
		w := ready(t)
		w.memberless("test", "orders")
		w.person("y\n", func() { w.commit("test", "other", 33) })
		w.run("delete", "-g", "test", "--whole-group").exits(4).says("was none, is 33", "nothing was written")
		same(t, "committed", w.committed("test", "other"), "0=33")
	})
	t.Run("one of two groups", func(t *testing.T) {
		t.Parallel()
		w := ready(t).commit("test", "orders", 5, 6)
		w.person("y\n", func() { w.commit("test", "orders", 5, 33) })
		w.run("delete", "-g", "billing", "-g", "test", "--whole-group", "--partial").exits(3).prints("1 of 1 verified").says(`left out: group "test" is deleted whole or not at all`, "was 6, is 33")
		same(t, "committed", w.committed("billing", "orders")+", "+w.committed("test", "orders"), ", 0=5 1=33")
	})
	t.Run("a plan of before", func(t *testing.T) {
		t.Parallel()
		w := ready(t)
		plan := w.document(w.run("delete", "-g", "billing", "--whole-group", "--dry-run", "-o", "json").exits(0).out)
		w.commit("billing", "other", 33)
		for _, how := range []string{"--dry-run", "--execute"} {
			w.run("import", plan, how).exits(4).says("other 0: committed 33: moved since the plan: was none, is 33", "nothing was written")
		}
		same(t, "committed", w.committed("billing", "orders")+", "+w.committed("billing", "other"), "0=5, 0=33")
	})
	t.Run("loses one", func(t *testing.T) {
		t.Parallel()
		w := ready(t).commit("billing", "other", 33)
		w.person("y\n", func() { w.run("delete", "-g", "billing", "-t", "other", "--execute").exits(0) })
		w.run("delete", "-g", "billing", "--whole-group").exits(0)
		same(t, "gone", w.b.Fake.GroupInfo("billing") == nil, true)
	})
	t.Run("is gone", func(t *testing.T) {
		t.Parallel()
		w := ready(t)
		w.person("y\n", func() { w.run("delete", "-g", "billing", "--whole-group", "--execute").exits(0) })
		w.run("delete", "-g", "billing", "--whole-group").exits(0)
	})
}
