package cmd_test

import (
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/offsetfile"
)

// lower is a world with three partitions that are low, of which others may commit the second.
func lower(t *testing.T, groups ...string) *world {
	t.Helper()
	w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900})
	for _, g := range groups {
		w.commit(g, "orders", 100, 200, 300)
	}
	return w
}

// What moved is named, and it is told of the rest of its request why that was not tried.
func TestOvertakenBehindTheFirst(t *testing.T) {
	t.Parallel()
	t.Run("nothing was written", func(t *testing.T) {
		t.Parallel()
		for _, look := range []string{"", "json"} {
			w := lower(t, "billing")
			w.behindOf(kmsg.OffsetFetch, 3, "billing", 1, 400, "")
			if look == "json" {
				r := w.run("clamp", "-g", "billing", "--execute", "-o", "json").exits(4)
				same(t, "cause", words(r.failure().Cause, len(r.failure().Causes), len(r.failure().Details)), "changed 1 3")
				continue
			}
			w.run("clamp", "-g", "billing", "--execute").exits(4).never("not tried: not tried", "the write before").
				prints("orders 1 failed: moved", "orders 0, 2 not tried: orders 1, of the same request: moved since the plan: was 200, is 400").
				says("error: orders 1: moved since the plan: was 200, is 400; nothing was written", "hint: gtoffset describe -g billing", "run the same command again")
			same(t, "files", len(w.backups()), 0)
		}
	})
	t.Run("of the second group", func(t *testing.T) {
		t.Parallel()
		w := lower(t, "a", "b", "c")
		w.behindOf(kmsg.OffsetFetch, 4, "b", 1, 400, "") // the first group is about to be written
		r := w.run("clamp", "-g", "a", "-g", "b", "-g", "c", "--execute")
		r.exits(3).says(`error: 6 of 9 offsets not written as planned: group "b" orders 1: moved since the plan: was 200, is 400`)
		w.run(r.hint()...).exits(3).says("left out: ")
		same(t, "committed", w.committed("b", "orders")+" | "+w.committed("c", "orders"), "0=500 1=400 2=500 | 0=500 1=500 2=500")
	})
	t.Run("the file of the store", func(t *testing.T) {
		t.Parallel()
		w := lower(t).topic("other", [2]int64{500, 900}).save("billing", "orders", 100).save("billing", "other", 100)
		w.step = func(step string) error {
			if step == offsetfile.StepRename {
				return errors.New("no more room")
			}
			return nil
		}
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(1).prints("orders 0 failed: ", "other 0 not tried: an earlier write failed: ").never("not tried: not tried", "not tried, ")
	})
}

// A deletion that was carried out and answered by an error, behind which another commits: the backup has all that was there.
func TestDeletedAndOvertaken(t *testing.T) {
	t.Parallel()
	w := lower(t, "billing")
	w.b.Rewrite(kmsg.DeleteGroups.Int16(), func(_ int32, r kmsg.Response) bool {
		r.(*kmsg.DeleteGroupsResponse).Groups[0].ErrorCode = kerr.UnknownServerError.Code
		must(t, w.b.Commit("billing", "orders", 1, 555, -1, ""))
		return true
	})
	r := w.run("delete", "-g", "billing", "--whole-group", "--execute").exits(3).prints("and yet the commit is gone", "read back 555: something else wrote at the same time").never("and yet the new offset")
	w.run(r.undo()...).exits(3).says("left out: orders 1")
	same(t, "committed", w.committed("billing", "orders"), "0=100 1=555 2=300")
}

// A write in doubt behind which another does something: what stood before is in the backup, and the undo leaves alone what another wrote.
func TestInDoubtAndOvertaken(t *testing.T) {
	t.Parallel()
	join := func(w *world) {
		_, err := w.b.Join("billing", false, "orders")
		must(w.t, err)
	}
	for _, c := range []struct {
		name   string
		answer *kerr.Error // nil: the deletion is not named in the answer
		then   func(*world)
		code   int
		prints string
	}{
		{"the job joins", kerr.NotCoordinator, join, 3, "orders 0-2 unknown: the group is active (NON_EMPTY_GROUP); and yet the commit is gone"},
		{"the job joins, and the answer names no group", nil, join, 3, "orders 0-2 unknown: the group is active (NON_EMPTY_GROUP); and yet the commit is gone"},
		{"nobody does anything, and the answer names no group", nil, func(*world) {}, 0, "3 of 3 verified"},
		{"nobody does anything", kerr.CoordinatorLoadInProgress, func(*world) {}, 0, "3 of 3 verified"},
	} {
		t.Run("delete, and "+c.name, func(t *testing.T) {
			t.Parallel()
			w := lower(t, "billing")
			var once atomic.Bool
			w.b.Rewrite(kmsg.DeleteGroups.Int16(), func(_ int32, r kmsg.Response) bool {
				if once.CompareAndSwap(false, true) {
					if groups := r.(*kmsg.DeleteGroupsResponse).Groups; c.answer == nil {
						groups[0].Group = "another"
					} else {
						groups[0].ErrorCode = c.answer.Code
					}
					c.then(w)
				}
				return true
			})
			r := w.run("delete", "-g", "billing", "--whole-group", "--execute").exits(c.code).prints(c.prints).never("nothing was written")
			if c.code == 3 {
				same(t, "files", len(w.backups()), 2)
				r.prints("undo ")
			}
		})
	}
	t.Run("a group without commits is deleted, and the job joins", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9})
		w.memberless("billing", "orders")
		var once atomic.Bool
		w.b.Rewrite(kmsg.DeleteGroups.Int16(), func(_ int32, r kmsg.Response) bool {
			if once.CompareAndSwap(false, true) {
				r.(*kmsg.DeleteGroupsResponse).Groups[0].ErrorCode = kerr.NotCoordinator.Code
				join(w)
			}
			return true
		})
		w.run("delete", "-g", "billing", "--whole-group", "--execute").exits(3).says("it may have been deleted, and made anew").never("nothing was written")
	})
	t.Run("the same number with other metadata", func(t *testing.T) {
		t.Parallel()
		w := lower(t, "billing")
		doneAndAnswered(w, kerr.UnknownServerError, func() bool { return true })
		w.behindOf(kmsg.OffsetCommit, 1, "billing", 1, 500, "theirs")
		w.run("clamp", "-g", "billing", "--execute").exits(3).prints("orders 1 unknown: ", "read back 500: something else wrote", "orders 0, 2 unknown: ", "and yet the new offset stands")
	})
	t.Run("the answer does not name the partition", func(t *testing.T) {
		t.Parallel()
		w := lower(t, "billing")
		w.b.Rewrite(kmsg.OffsetCommit.Int16(), func(_ int32, r kmsg.Response) bool {
			if topic := &r.(*kmsg.OffsetCommitResponse).Topics[0]; len(topic.Partitions) > 1 {
				topic.Partitions = topic.Partitions[2:]
			}
			return true
		})
		w.behindOf(kmsg.OffsetCommit, 1, "billing", 1, 555, "")
		r := w.run("clamp", "-g", "billing", "--execute").exits(3).prints("orders 1 unknown: the coordinator's answer does not name the partition; read back 555")
		w.run(r.undo()...).exits(3).says("left out: orders 1")
		same(t, "committed", w.committed("billing", "orders"), "0=100 1=555 2=300")
	})
}

// Where the store was changed by another meanwhile, the hint shows the store.
func TestOvertakenInTheStore(t *testing.T) {
	t.Parallel()
	for _, sides := range [][]string{{"--stored"}, {"--stored", "--committed"}} {
		w := lower(t, "billing").save("billing", "orders", 100, 200, 300)
		var once atomic.Bool
		w.step = func(step string) error {
			if step == offsetfile.StepCreate && once.CompareAndSwap(false, true) {
				w.save("billing", "orders", 600, 700, 800)
			}
			return nil
		}
		r := w.run(append([]string{"clamp", "-g", "billing", "-s", w.store, "--execute"}, sides...)...).
			says("it was changed since it was read", "hint: gtoffset describe -g billing -s "+w.store+" shows what stands now; run the same command again")
		same(t, "exit", r.code, []int{4, 3}[len(sides)-1])
		same(t, "stored", w.stored("billing", "orders"), "0=600 1=700 2=800")
	}
}

// doneAndAnswered answers commits of several partitions by an error when it is asked for, although they were done.
func doneAndAnswered(w *world, err *kerr.Error, now func() bool) {
	w.b.Rewrite(kmsg.OffsetCommit.Int16(), func(_ int32, r kmsg.Response) bool {
		if ps := r.(*kmsg.OffsetCommitResponse).Topics[0].Partitions; len(ps) > 1 && now() {
			for i := range ps {
				ps[i].ErrorCode = err.Code
			}
		}
		return true
	})
}

// movedOnce answers the first commit as by a broker that no longer coordinates.
func movedOnce(w *world) {
	var once atomic.Bool
	doneAndAnswered(w, kerr.NotCoordinator, func() bool { return once.CompareAndSwap(false, true) })
}

// A commit that is refused for sure while the job, just then, commits the same number: what stands is the job's, and no undo takes it back.
func TestRefusedBesideTheSame(t *testing.T) {
	t.Parallel()
	for _, refused := range []*kerr.Error{kerr.UnknownMemberID, kerr.OffsetMetadataTooLarge} {
		w := lower(t, "billing")
		doneAndAnswered(w, refused, func() bool { return true })
		r := w.run("reset", "-g", "billing", "-t", "orders", "--to-latest", "--execute").says("nothing was written").never("and yet", "unknown", "undo ")
		same(t, "exit", r.code == 4, refused == kerr.UnknownMemberID)
		same(t, "files", len(w.backups()), 0)
	}
}

// What another commits before the first try is not ours, also if it is what we are about to write: it is in no backup.
func TestOvertakenByTheSame(t *testing.T) {
	t.Parallel()
	for _, metadata := range []string{"", "theirs"} {
		w := lower(t, "billing")
		w.behind(kmsg.OffsetFetch, 3, "billing", 500, metadata)
		w.run("clamp", "-g", "billing", "--execute").exits(4).says("orders 0: moved since the plan: was 100, is 500", "nothing was written")
		same(t, "files", len(w.backups()), 0)
		same(t, "metadata", w.b.Fake.GroupInfo("billing").Commits["orders"][0].Metadata, metadata)
	}
	t.Run("what an earlier try has made is ours", func(t *testing.T) {
		t.Parallel()
		w := lower(t, "billing")
		movedOnce(w)
		w.run("clamp", "-g", "billing", "--execute").exits(0).prints("3 of 3 verified")
		same(t, "requests", w.writes(), 2)
	})
	t.Run("and stays so when another commits beside it before the next try", func(t *testing.T) {
		t.Parallel()
		w := lower(t, "billing")
		w.behindOf(kmsg.OffsetCommit, 1, "billing", 1, 400, "")
		movedOnce(w)
		r := w.run("clamp", "-g", "billing", "--execute").exits(3).prints("2 of 3 verified", "orders 1 unknown: moved since the plan: was 200, is 400")
		w.run(r.undo()...).exits(3).says("left out: orders 1")
		same(t, "committed", w.committed("billing", "orders"), "0=100 1=400 2=300")
	})
}

// --partial leaves out what moved, and no more: as at the last look.
func TestOvertakenWithPartial(t *testing.T) {
	t.Parallel()
	t.Run("commits", func(t *testing.T) {
		t.Parallel()
		w := lower(t, "a", "b")
		w.behindOf(kmsg.OffsetFetch, 3, "a", 1, 400, "")
		w.run("clamp", "-g", "a", "-g", "b", "--execute", "--partial").exits(3).prints("5 of 6 verified").
			says(`error: left out: group "a" orders 1: moved since the plan: was 200, is 400`, "hint: gtoffset describe -g a").never("not tried")
		same(t, "committed", w.committed("a", "orders")+" | "+w.committed("b", "orders"), "0=500 1=400 2=500 | 0=500 1=500 2=500")
	})
	t.Run("with the store", func(t *testing.T) {
		t.Parallel()
		w := lower(t, "a").save("a", "orders", 100, 200, 300)
		w.behindOf(kmsg.OffsetFetch, 3, "a", 1, 400, "")
		w.run("clamp", "-g", "a", "-s", w.store, "--stored", "--committed", "--execute", "--partial").exits(3).prints("5 of 6 verified").says("left out: orders 1")
		same(t, "offsets", w.committed("a", "orders")+" | "+w.stored("a", "orders"), "0=500 1=400 2=500 | 0=500 1=500 2=500")
	})
	t.Run("nothing is left", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("a", "orders", 100)
		w.behind(kmsg.OffsetFetch, 3, "a", 400, "")
		w.run("clamp", "-g", "a", "--execute", "--partial").exits(4).says("orders 0: moved since the plan", "nothing was written")
		same(t, "files", len(w.backups()), 0)
	})
	t.Run("whole groups", func(t *testing.T) {
		t.Parallel()
		w := lower(t, "a", "b")
		w.behindOf(kmsg.OffsetFetch, 3, "a", 1, 400, "")
		w.run("delete", "-g", "a", "-g", "b", "--whole-group", "--execute", "--partial").exits(3).prints("3 of 6 verified").says(`left out: group "a" orders 0: the group is not deleted: orders 1: moved`)
		same(t, "committed", w.committed("a", "orders")+" | "+w.committed("b", "orders"), "0=100 1=400 2=300 | ")
	})
	t.Run("members", func(t *testing.T) {
		t.Parallel()
		w := lower(t, "a", "b")
		w.answers(kmsg.OffsetCommit, "a", kerr.UnknownMemberID.Code)
		r := w.run("clamp", "-g", "a", "-g", "b", "--execute", "--partial").exits(3).prints("3 of 6 verified").says(`left out: group "a" orders 0: the group is active (UNKNOWN_MEMBER_ID)`)
		w.run(r.hint()...).exits(4)
	})
}

// answers gives requests of a group that code in the place of the broker's own answer.
func (w *world) answers(kind kmsg.Key, group string, code int16) {
	w.b.Fake.ControlKey(kind.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
		w.b.Fake.KeepControl()
		switch q := q.(type) {
		case *kmsg.OffsetCommitRequest:
			r := q.ResponseKind().(*kmsg.OffsetCommitResponse)
			for _, t := range q.Topics {
				topic := kmsg.OffsetCommitResponseTopic{Topic: t.Topic, TopicID: t.TopicID}
				for _, p := range t.Partitions {
					topic.Partitions = append(topic.Partitions, kmsg.OffsetCommitResponseTopicPartition{Partition: p.Partition, ErrorCode: code})
				}
				r.Topics = append(r.Topics, topic)
			}
			return r, nil, q.Group == group
		case *kmsg.DeleteGroupsRequest:
			r := q.ResponseKind().(*kmsg.DeleteGroupsResponse)
			r.Groups = append(r.Groups, kmsg.DeleteGroupsResponseGroup{Group: group, ErrorCode: code})
			return r, nil, q.Groups[0] == group
		}
		return nil, nil, false
	})
}

// Members of which only the broker's answer to the write tells are a refusal as any.
func TestActiveAtTheWrite(t *testing.T) {
	t.Parallel()
	for args, answer := range map[string]struct {
		kind kmsg.Key
		code int16
	}{
		"clamp -g b":                {kmsg.OffsetCommit, kerr.UnknownMemberID.Code},
		"delete -g b --whole-group": {kmsg.DeleteGroups, kerr.NonEmptyGroup.Code},
	} {
		w := lower(t, "a", "b")
		w.answers(answer.kind, "b", answer.code)
		w.run(append(strings.Fields(args), "--execute")...).exits(4).says("the group is active", "nothing was written", "hint: add --wait-empty 60s")
		w.run(append(strings.Fields(args), "--execute", "--wait-empty", "1s")...).exits(4).says("hint: stop the members first")
		r := w.run(append(strings.Fields(args), "-g", "a", "--execute")...).exits(3).says("the group is active", "hint: gtoffset import ", "--execute --wait-empty 60s")
		w.run(r.hint()...).exits(4)
	}
}

// What decided of a group is read again when those before it are written.
func TestOvertakenWhatDecided(t *testing.T) {
	t.Parallel()
	ready := func(t *testing.T) *world {
		w := lower(t, "a", "b").commit("from", "orders", 600, 600, 600).save("a", "orders", 700, 700, 700).save("b", "orders", 700, 700, 700)
		return w
	}
	once := func(w *world, f func()) {
		var done atomic.Bool
		w.b.Rewrite(kmsg.OffsetCommit.Int16(), func(int32, kmsg.Response) bool {
			if done.CompareAndSwap(false, true) {
				f()
			}
			return true
		})
	}
	for name, partial := range map[string]bool{"all": false, "--partial": true} {
		t.Run("the store, "+name, func(t *testing.T) {
			t.Parallel()
			w := ready(t)
			once(w, func() { w.save("b", "orders", 700, 650, 700) })
			args, want := strings.Fields("reset -g a -g b -t orders --to-stored --committed --execute -s "+w.store), "0=100 1=200 2=300"
			if partial {
				args, want = append(args, "--partial"), "0=700 1=200 2=700"
			}
			r := w.run(args...).exits(3).says(`group "b" orders 1: the stored offset that decided has moved since the plan: was 700, is 650`)
			same(t, "committed", w.committed("a", "orders")+" | "+w.committed("b", "orders"), "0=700 1=700 2=700 | "+want)
			if partial {
				r.says("left out: ")
				return
			}
			r.prints(`b: orders 0, 2 not tried: an earlier write failed: orders 1: the stored offset that decided`)
			w.run(append(r.hint(), "-s", w.store)...).exits(3)
			same(t, "after the hint", w.committed("b", "orders"), "0=700 1=200 2=700")
		})
	}
	t.Run("another group", func(t *testing.T) {
		t.Parallel()
		w := ready(t)
		w.behindOf(kmsg.OffsetCommit, 1, "from", 1, 650, "")
		w.run("reset", "-g", "a", "-g", "b", "-t", "orders", "--from-group", "from", "--execute").exits(3).
			says(`group "b" orders 1: the offset of group "from" that decided has moved since the plan: was 600, is 650`)
		same(t, "committed", w.committed("a", "orders")+" | "+w.committed("b", "orders"), "0=600 1=600 2=600 | 0=100 1=200 2=300")
	})
	t.Run("the commits", func(t *testing.T) {
		t.Parallel()
		w := ready(t).commit("a", "orders", 500, 500, 500).commit("b", "orders", 500, 500, 500)
		var done atomic.Bool
		w.step = func(step string) error {
			if step == offsetfile.StepRename && done.CompareAndSwap(false, true) {
				w.commit("b", "orders", none, 550)
			}
			return nil
		}
		w.run("reset", "-g", "a", "-g", "b", "-t", "orders", "--to-committed", "--stored", "--execute", "-s", w.store).exits(3).
			says(`group "b" orders 1: the committed offset that decided has moved since the plan: was 500, is 550`)
		same(t, "stored", w.stored("a", "orders")+" | "+w.stored("b", "orders"), "0=500 1=500 2=500 | 0=700 1=700 2=700")
	})
}

// Groups without commits, of which no partition tells what came of them.
func TestDeleteTellsOfGroupsWithoutCommits(t *testing.T) {
	t.Parallel()
	ready := func(t *testing.T) *world {
		w := start(t).topic("orders", [2]int64{0, 9}).commit("a", "orders", 5)
		for _, g := range []string{"b", "c"} {
			w.memberless(g, "orders")
		}
		return w
	}
	all := []string{"delete", "-g", "a", "-g", "b", "-g", "c", "--whole-group"}
	t.Run("deleted", func(t *testing.T) {
		t.Parallel()
		w := ready(t)
		w.run(append(all, "--check")...).exits(10).prints("delete 3 groups with all commits").says("check: 1 of 1 offset would change, and 2 groups without commits would be deleted")
		w.run(append(all, "--execute")...).exits(0).prints("1 of 1 verified", "2 groups without commits deleted: b, c")
	})
	t.Run("one alone", func(t *testing.T) {
		t.Parallel()
		w := ready(t)
		w.run("delete", "-g", "b", "--whole-group", "--check").exits(10).prints("delete group b with all commits").says("check: 1 group without commits would be deleted")
		w.run("delete", "-g", "b", "--whole-group", "--execute").exits(0).prints("1 group without commits deleted: b")
	})
	for _, cut := range []string{"a", "b"} {
		t.Run("cut off at "+cut, func(t *testing.T) {
			t.Parallel()
			w := ready(t)
			w.b.Fake.ControlKey(kmsg.DeleteGroups.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
				w.b.Fake.KeepControl()
				return nil, errors.Join(os.ErrClosed), q.(*kmsg.DeleteGroupsRequest).Groups[0] == cut
			})
			r := w.run(append(all, "--execute", "-o", "json")...).exits(3)
			results := map[string]any{}
			for _, g := range r.fields()["groups"].([]any) {
				results[g.(map[string]any)["group"].(string)] = g.(map[string]any)["result"]
			}
			want := map[string]string{"a": "map[a:unknown b:not-tried c:not-tried]", "b": "map[a:written b:unknown c:not-tried]"}[cut]
			same(t, "results", words(results), want)
			same(t, "details", len(r.failure().Details), map[string]int{"a": 3, "b": 2}[cut])
			text := map[string]string{"a": `1 of 1 offset and 2 groups without commits not written as planned: group "a" orders 0: `, "b": `2 groups without commits not deleted as planned: group "b": `}[cut]
			r.says("group c not tried: an earlier write of group \"" + cut + "\" failed: ").says(strings.ReplaceAll(text, `"`, `\"`))
		})
	}
	t.Run("those with commits stay", func(t *testing.T) {
		t.Parallel()
		w := ready(t).commit("d", "orders", 5)
		w.answers(kmsg.DeleteGroups, "d", kerr.NonEmptyGroup.Code)
		r := w.run("delete", "-g", "b", "-g", "c", "-g", "d", "--whole-group", "--execute").exits(3).prints("2 groups without commits deleted: b, c").says(`group "d" orders 0: the group is active`).never("undo  ")
		same(t, "files", len(w.backups()), 1)
		w.run(r.hint()...).exits(4).says("the group is active").never("no such file")
	})
	t.Run("while the coordinator moves", func(t *testing.T) {
		t.Parallel()
		w := ready(t)
		var tries atomic.Int32
		w.b.Fake.ControlKey(kmsg.DeleteGroups.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
			w.b.Fake.KeepControl()
			r := q.ResponseKind().(*kmsg.DeleteGroupsResponse)
			r.Groups = []kmsg.DeleteGroupsResponseGroup{{Group: "a", ErrorCode: kerr.UnknownServerError.Code}}
			if tries.Add(1) == 1 {
				r.Groups[0].ErrorCode = kerr.NotCoordinator.Code
			}
			return r, nil, tries.Load() <= 2
		})
		r := w.run("delete", "-g", "a", "--whole-group", "--execute").exits(3).says("orders 0: ", "may still")
		w.forget("a")
		w.run(r.undo()...).exits(0)
		same(t, "undone", w.committed("a", "orders"), "0=5")
	})
	t.Run("another deletes one first", func(t *testing.T) {
		t.Parallel()
		w := ready(t).commit("d", "orders", 6).commit("e", "orders", 7)
		w.b.Rewrite(kmsg.DeleteGroups.Int16(), func(_ int32, r kmsg.Response) bool {
			if g := &r.(*kmsg.DeleteGroupsResponse).Groups[0]; g.Group == "d" {
				g.ErrorCode = kerr.GroupIDNotFound.Code // as if it had been gone when our request came
			}
			return true
		})
		r := w.run("delete", "-g", "a", "-g", "d", "-g", "e", "--whole-group", "--execute").exits(0).prints("3 of 3 verified")
		w.run(r.undo()...).exits(0).prints("2 of 2 verified")
		same(t, "what the other deleted", w.committed("a", "orders")+w.committed("d", "orders")+w.committed("e", "orders"), "0=50=7")
	})
	t.Run("one gets a commit", func(t *testing.T) {
		t.Parallel()
		w := ready(t)
		w.behind(kmsg.OffsetFetch, 4, "b", 7, "")
		w.run("delete", "-g", "b", "--whole-group", "--execute").exits(4).says(`group "b": orders 0: moved since the plan: was none, is 7; nothing was written`, "hint: gtoffset describe -g b")
	})
}
