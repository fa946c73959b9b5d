package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/kafkatest/tcpproxy"
)

// hint is the command that the last line of stderr says to type, without the name of the program.
func (r result) hint() []string {
	r.t.Helper()
	all := strings.Split(strings.TrimRight(r.err, "\n"), "\n")
	last := strings.TrimPrefix(strings.TrimPrefix(all[len(all)-1], "gtoffset: hint: "), "  ")
	line, found := strings.CutPrefix(last, "gtoffset ")
	if !found {
		r.t.Fatalf("the last line is no command to type\n%v", r)
	}
	return typed(line)
}

// offsets is all that the worlds of this file hold for group billing.
func (w *world) offsets() string {
	return w.committed("billing", "orders") + " | " + w.stored("billing", "orders")
}

// A plan that was only made is applied later by import, and does what the command would have done.
func TestPlanIsAppliedLater(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"clamp", []string{"clamp", "-s", "STORE", "--stored", "--committed"}, "0=500 1=700 2=500 | 0=500 1=800 2=600"},
		{"clamp, asked and decided", []string{"clamp", "-s", "STORE", "--stored", "--high", "end"}, "0=100 1=700 2=200 | 0=500 1=800 2=600"},
		{"reset", []string{"reset", "-t", "orders:1,2", "--to-latest", "-s", "STORE", "--stored", "--committed"}, "0=100 1=900 2=900 | 0=300 1=900 2=900"},
		{"reset by a shift", []string{"reset", "-t", "orders:1", "--shift-by", "7", "-s", "STORE", "--stored", "--committed"}, "0=100 1=707 2=200 | 0=300 1=807 2=600"},
		{"import", []string{"import", "DOC", "-s", "STORE", "--stored", "--committed"}, "0=650 1=700 2=651 | 0=650 1=800 2=651"},
		{"delete", []string{"delete", "-t", "orders:0,2"}, "1=700 | 0=300 1=800 2=600"},
		{"delete the group", []string{"delete", "--whole-group"}, " | 0=300 1=800 2=600"},
	} {
		for _, format := range []string{"json", "yaml"} {
			t.Run(c.name+" "+format, func(t *testing.T) {
				t.Parallel()
				w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900})
				w.commit("billing", "orders", 100, 700, 200).save("billing", "orders", 300, 800, 600)
				before := w.offsets()
				var args []string
				for i, a := range c.args {
					switch a {
					case "STORE":
						a = w.store
					case "DOC":
						a = w.document("orders,0,650\norders,2,651\n")
					}
					if args = append(args, a); i == 0 && c.name != "import" || i == 1 && c.name == "import" {
						args = append(args, "-g", "billing")
					}
				}
				dry := w.run(append(args, "--dry-run", "-o", format)...).exits(0)
				same(t, "the dry run", w.offsets(), before)
				plan := w.document(dry.out)
				w.run("import", plan, "--dry-run").exits(0).says("nothing was written")
				w.run("import", plan, "--check").exits(10)
				same(t, "the dry run of the import", w.offsets(), before)
				r := w.run("import", plan, "--execute", "-o", "json").exits(0)
				same(t, "offsets", w.offsets(), c.want)
				p := r.plan()
				same(t, "plan", words(p.Applied, p.Counts.Verified == p.Counts.Write, p.Counts.Write > 0, p.Backup != nil), "true true true true")
				// Twice is once.
				w.run("import", plan, "--execute").exits(0).never("[y/N]", "\nundo")
				w.run("import", plan, "--check").exits(0)
				for _, g := range w.run("import", plan, "--execute", "-o", "json", "-q").exits(0).plan().Groups {
					for _, c := range g.Changes {
						want := "ok"
						if c.Old.Offset.n == nil {
							want = "none"
						}
						if deref(c.Result) == "already" && words(c.Condition, c.Skips, c.Repeats, c.Expired) != want+" 0 0 0" {
							t.Errorf("what stands is not what the condition is about: %+v", c)
						}
					}
				}
				same(t, "offsets of the second run", w.offsets(), c.want)
				// The undo goes back over both.
				w.run(strings.Fields(deref(p.Undo))[1:]...).exits(0)
				same(t, "undone", w.offsets(), before)
			})
		}
	}
}

// Who edits a plan is shown what it does now.
func TestPlanThatWasEdited(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900}, [2]int64{0, 900}).commit("billing", "orders", 50, 50)
	plan := w.run("reset", "-g", "billing", "-t", "orders", "--to-offset", "20", "--dry-run", "-o", "json").exits(0).out
	plan = strings.Replace(plan, `"new":{"offset":20`, `"new":{"offset":77`, 1)
	plan = strings.Replace(plan, `"new":{"offset":20,"epoch":null,"metadata":""`, `"new":{"offset":null,"epoch":null,"metadata":null`, 1)
	plan = strings.Replace(plan, `"cluster":{"id":"kfake"`, `"cluster":{"id":null`, 1)
	r := w.run("import", w.document(plan), "--execute").exits(0).says("does not name its cluster").prints("as asked (changed since it was planned): skips up to 27 readable").never("repeats up to 30", "repeats up to 60")
	same(t, "committed", w.committed("billing", "orders"), "0=77")
	w.run(r.undo()...).exits(0)
	same(t, "undone", w.committed("billing", "orders"), "0=50 1=50")
	backup := w.document(strings.Replace(backup(row(0, "20", "50")), `{"id":null}`, `{"id":""}`, 1))
	w.run("import", backup, "--execute").exits(0).says("does not name its cluster")
}

// What moved since the plan is refused, partition by partition; the rest is as it was.
func TestPlanIsHeldAgainstWhatMoved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		moves func(w *world)
		doc   func(string) string
		says  []string
		rest  bool // --partial has something left
	}{
		{name: "a commit", moves: func(w *world) { w.commit("billing", "orders", 601) }, says: []string{"orders 0", "moved since the plan: was 600, is 601"}, rest: true},
		{name: "an entry", moves: func(w *world) { w.save("billing", "orders", 600, 701) }, says: []string{"orders 1", "moved since the plan: was 700, is 701"}, rest: true},
		{name: "an entry that is gone", moves: func(w *world) { w.save("billing", "orders", 600) }, says: []string{"orders 1", "was 700, is none"}, rest: true},
		{name: "the file is damaged", moves: func(w *world) { w.put("billing", "orders", "") }, says: []string{"empty"}, rest: true},
		{name: "the condition", moves: func(w *world) { w.grow("orders", [2]int64{610, 900}) }, says: []string{"orders 0", "it was ok when planned and is low now"}, rest: true},
		{name: "the target is out of range", moves: func(w *world) { w.grow("orders", [2]int64{700, 900}) }, says: []string{"orders 0", "the target 650 is now low: the range is 700..900"}, rest: true},
		{name: "the topic id", moves: func(w *world) {
			must(w.t, w.b.Recreate("orders"))
			w.grow("orders", [2]int64{500, 900}, [2]int64{500, 900})
		}, says: []string{"orders 0", "the topic was recreated since the plan"}},
		{name: "the cluster id", doc: func(s string) string { return strings.Replace(s, `"id":"kfake"`, `"id":"of-another-house"`, 1) }, says: []string{"orders 0", "the plan is for cluster of-another-house, and this is kfake"}},
		{name: "the group's state", moves: func(w *world) { _, err := w.b.Join("billing", true, "orders"); must(w.t, err) }, says: []string{`group "billing" is active: 1 member`}},
		{name: "a group that is gone", moves: func(w *world) { w.forget("billing") }, says: []string{"orders 0", "was 600, is none"}, rest: true},
		{name: "the topic is gone", moves: func(w *world) { w.hide("orders", 0) }, says: []string{"orders 0", "gone since the plan"}},
		{name: "a partition is gone", moves: func(w *world) { w.hide("orders", 1) }, says: []string{"orders 1", "gone since the plan"}, rest: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 600, 700).save("billing", "orders", 600, 700)
			text := w.run("reset", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--committed", "--to-offset", "650", "--dry-run", "-o", "json").exits(0).out
			if c.doc != nil {
				text = c.doc(text)
			}
			if c.moves != nil {
				c.moves(w)
			}
			plan := w.document(text)
			before := w.offsets()
			w.b.Reset()
			for _, way := range []string{"--execute", "--dry-run"} {
				w.run("import", plan, way).exits(4).says(append(c.says, "nothing was written")...)
			}
			e := w.run("import", plan, "--execute", "-o", "json").exits(4).failure()
			same(t, "details", len(e.Details) > 0, true)
			same(t, "offsets", w.offsets(), before)
			same(t, "writes", w.writes(), 0)
			code := 4
			if c.rest {
				code = 3
			}
			r := w.run("import", plan, "--execute", "--partial").exits(code)
			same(t, "something was written", strings.Contains(r.out, "verified"), c.rest)
		})
	}
	t.Run("between the plan and the write of the import", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
		plan := w.document(w.run("reset", "-g", "billing", "-t", "orders", "--shift-by", "5", "--dry-run", "-o", "json").exits(0).out)
		w.person("y\n", func() { w.commit("billing", "orders", 601) })
		w.run("import", plan).exits(4).says("was 600, is 601", "nothing was written")
	})
}

// A plan grows old; what it refused or asked about, it still does.
func TestPlanConditions(t *testing.T) {
	t.Parallel()
	t.Run("--stale", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
		plan := w.document(w.run("reset", "-g", "billing", "-t", "orders", "--to-latest", "--dry-run", "-o", "json").exits(0).out)
		w.now = w.now.Add(59 * time.Minute)
		w.run("import", plan, "--dry-run").exits(0)
		w.now = w.now.Add(2 * time.Minute)
		w.b.Reset()
		w.run("import", plan, "--execute").exits(4).says("was made 1 h 1 min ago", "nothing was written", "--stale")
		same(t, "requests", w.b.Count(), 0)
		w.run("import", plan, "--execute", "--stale").exits(0)
		same(t, "committed", w.committed("billing", "orders"), "0=900")
	})
	t.Run("asked about", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 1000, 100)
		plan := w.document(w.run("clamp", "-g", "billing", "--dry-run", "-o", "json").exits(4).out)
		w.run("import", plan, "--execute").exits(4).says("orders 0", "--high end", "nothing was written")
		same(t, "committed", w.committed("billing", "orders"), "0=1000 1=100")
		w.person("y\n", nil).run("import", plan).exits(0).prints("2 of 2 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=900 1=500")
	})
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{0, 900}).commit("billing", "orders", 600, 600)
		plan := w.document(w.run("reset", "-g", "billing", "-t", "orders", "--to-offset", "100", "--dry-run", "-o", "json").exits(4).out)
		w.run("import", plan, "--execute").exits(4).says("orders 0", "nothing was written")
		w.run("import", plan, "--execute", "--partial").exits(3).prints("1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=600 1=100")
	})
	t.Run("of a group that is named otherwise", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
		plan := w.document(w.run("reset", "-g", "billing", "-t", "orders", "--to-latest", "--dry-run", "-o", "json").exits(0).out)
		w.run("import", plan, "-g", "shipping", "--execute").exits(1).says(`it is about "billing"`)
		w.run("import", plan, "-g", "billing", "--dry-run").exits(0)
	})
	t.Run("the store is the plan's, or that of -s, not the environment's", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).save("billing", "orders", 600)
		plan := w.document(w.run("reset", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--to-latest", "--dry-run", "-o", "json").exits(0).out)
		w.vars["GTOFFSET_STORE"] = t.TempDir()
		r := w.run("import", plan, "--execute").exits(0)
		same(t, "stored", w.stored("billing", "orders"), "0=900")
		w.run(r.undo()...).exits(0)
		same(t, "undone", w.stored("billing", "orders"), "0=600")
		w.run("import", plan, "-s", t.TempDir(), "--execute").exits(4).says("was 600, is none")
	})
	t.Run("malformed", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
		text := w.run("reset", "-g", "billing", "-t", "orders", "--to-latest", "--dry-run", "-o", "json").exits(0).out
		w.b.Reset()
		for old, changed := range map[string]string{
			`"verdict":"write"`: `"verdict":"perhaps"`, `"offset":900`: `"offset":-1`, `"partition":0`: `"partition":-1`, `"created":`: `"made":`,
			`"side":"committed"`: `"side":"both"`, `plan/1`: `plan/7`, `"target":"end"`: `"target":"backup"`, `"changes":`: `"whole":true,"changes":`,
			`"notes":`: `"live":true,"notes":`,
		} {
			w.run("import", w.document(strings.Replace(text, old, changed, 1)), "--execute").exits(1).says("nothing was written")
		}
		same(t, "requests", w.b.Count(), 0)
	})
}

// A document that was edited to go to a store, and names none.
func TestStoredWithoutAStore(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900}).commit("billing", "orders", 50)
	plan := w.run("reset", "-g", "new", "-t", "orders", "--to-offset", "20", "--create", "--dry-run", "-o", "json").exits(0).out
	for _, text := range []string{plan, backup(row(0, "20", "50"))} {
		doc := w.document(strings.Replace(text, `"side":"committed"`, `"side":"stored"`, 1))
		w.run("import", doc, "--execute").exits(2).says("holds stored offsets, and no store is named", "add -s PATH")
	}
}

// A plan that went by the other side, of which the commits were written and the store was not, is finished: what it has moved itself
// does not stand against it.
func TestPlanMovedWhatDecidedItself(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 800).save("billing", "orders", 300)
	w.step = func(step string) error {
		if step == "write" {
			return os.ErrClosed
		}
		return nil
	}
	r := w.run("reset", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--committed", "--to-safe", "--execute").exits(3)
	same(t, "offsets", w.offsets(), "0=500 | 0=300")
	w.step = nil
	hint := r.hint()
	w.person("y\n", func() { w.commit("billing", "orders", 600) })
	w.run(hint[:len(hint)-1]...).exits(4).says("the committed offset that decided has moved since the plan: was 500, is 600", "nothing was written")
	w.commit("billing", "orders", 500)
	w.run(hint...).exits(0)
	same(t, "offsets", w.offsets(), "0=500 | 0=500")
}

// What stands beside a number is read at the fresh look: the backup brings back what was there directly before the write.
func TestBackupHasTheMetadataOfTheFreshLook(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900})
	must(t, w.b.Commit("billing", "orders", 0, 100, -1, "old"))
	plan := w.document(w.run("clamp", "-g", "billing", "--dry-run", "-o", "json").exits(0).out)
	for metadata, args := range map[string][]string{"new": {"clamp", "-g", "billing"}, "newer": {"import", plan}} {
		w.person("y\n", func() { must(t, w.b.Commit("billing", "orders", 0, 100, -1, metadata)) })
		r := w.run(args...).exits(0)
		w.run(r.undo()...).exits(0)
		c, _ := w.b.Committed("billing", "orders", 0)
		same(t, "undone", words(c.Offset, c.Metadata), words(100, metadata))
	}
}

// After a write of which a part failed, the hint finishes the rest, and nothing is done twice: a shift neither.
func TestHintFinishesTheRest(t *testing.T) {
	t.Parallel()
	shift := []string{"reset", "-g", "billing", "-t", "orders", "--shift-by", "7", "--execute"}
	three := func(t *testing.T) *world {
		return start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 600, 600, 600).save("billing", "orders", 700, 700, 700)
	}
	t.Run("one partition is refused by the broker", func(t *testing.T) {
		t.Parallel()
		w := three(t)
		stop := w.b.FailCommit("orders", 1, kerr.TopicAuthorizationFailed)
		r := w.run(shift...).exits(3).prints("2 of 3 verified", "orders 1 failed: not allowed: READ on topic orders is missing")
		same(t, "committed", w.committed("billing", "orders"), "0=607 1=600 2=607")
		w.run(r.hint()...) // it still fails, and does no harm
		same(t, "committed", w.committed("billing", "orders"), "0=607 1=600 2=607")
		stop()
		w.run(r.hint()...).exits(0).prints("1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=607 1=607 2=607")
		w.run(r.hint()...).exits(0)
		same(t, "committed", w.committed("billing", "orders"), "0=607 1=607 2=607")
		same(t, "stored", w.stored("billing", "orders"), "0=700 1=700 2=700")
	})
	t.Run("the store follows when the commits stand", func(t *testing.T) {
		t.Parallel()
		w := three(t)
		stop := w.b.FailCommit("orders", 1, kerr.InvalidCommitOffsetSize)
		r := w.run(append(shift, "-s", w.store, "--stored", "--committed")...).exits(3).prints("(stored) not tried")
		same(t, "offsets", w.offsets(), "0=607 1=600 2=607 | 0=700 1=700 2=700")
		stop()
		w.run(r.hint()...).exits(0).prints("4 of 4 verified")
		same(t, "offsets", w.offsets(), "0=607 1=607 2=607 | 0=707 1=707 2=707")
	})
	t.Run("the disk is full", func(t *testing.T) {
		t.Parallel()
		w := three(t)
		w.step = func(step string) error {
			if step == "write" {
				return os.ErrClosed
			}
			return nil
		}
		r := w.run(append(shift, "-s", w.store, "--stored", "--committed")...).exits(3)
		same(t, "offsets", w.offsets(), "0=607 1=607 2=607 | 0=700 1=700 2=700")
		w.step = nil
		w.run(r.hint()...).exits(0).prints("3 of 3 verified")
		same(t, "offsets", w.offsets(), "0=607 1=607 2=607 | 0=707 1=707 2=707")
	})
	t.Run("--partial left something out too", func(t *testing.T) {
		t.Parallel()
		w := three(t)
		w.b.NoLeader("orders", 2)
		stop := w.b.FailCommit("orders", 1, kerr.TopicAuthorizationFailed)
		r := w.run(append(shift, "--partial")...).exits(3)
		same(t, "committed", w.committed("billing", "orders"), "0=607 1=600 2=600")
		stop()
		w.run(r.hint()...).exits(3).says("left out").prints("1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=607 1=607 2=600")
	})
	t.Run("several groups", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 900}).topic("other", [2]int64{0, 900}).commit("a", "orders", 1).commit("b", "other", 2).commit("c", "orders", 3)
		stop := w.b.FailCommit("other", 0, kerr.InvalidCommitOffsetSize)
		r := w.run("reset", "--all-groups", "--all-topics", "--shift-by", "7", "--execute").exits(3).prints("b: other 0 failed", "c: orders 0 not tried")
		stop()
		w.run(r.hint()...).exits(0).prints("2 of 2 verified")
		same(t, "all", w.committed("a", "orders")+" "+w.committed("b", "other")+" "+w.committed("c", "orders"), "0=8 0=9 0=10")
	})
	t.Run("a group that is made", func(t *testing.T) {
		t.Parallel()
		w := three(t)
		stop := w.b.FailCommit("orders", 1, kerr.TopicAuthorizationFailed)
		r := w.run("reset", "-g", "new", "-t", "orders", "--to-earliest", "--create", "--execute").exits(3)
		stop()
		w.run(r.hint()...).exits(0)
		same(t, "committed", w.committed("new", "orders"), "0=500 1=500 2=500")
	})
	t.Run("a removal", func(t *testing.T) {
		t.Parallel()
		w := three(t)
		var broken atomic.Bool
		broken.Store(true)
		w.b.Rewrite(kmsg.OffsetDelete.Int16(), func(_ int32, r kmsg.Response) bool {
			if broken.Load() { // the broker says that it is still subscribed
				for i, topic := range r.(*kmsg.OffsetDeleteResponse).Topics {
					for j := range topic.Partitions {
						r.(*kmsg.OffsetDeleteResponse).Topics[i].Partitions[j].ErrorCode = kerr.GroupSubscribedToTopic.Code
					}
				}
			}
			return true
		})
		w.run("delete", "-g", "billing", "-t", "orders:0", "--execute").says("orders 0")
	})
}

// cutting is a world behind a proxy, with three commits and three entries to be shifted.
func cutting(t *testing.T) (*world, *tcpproxy.Proxy) {
	t.Helper()
	w := startWith(t, kafkatest.Options{Brokers: 1, Proxy: true}).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900})
	return w.commit("billing", "orders", 600, 600, 600).save("billing", "orders", 700, 700, 700), w.b.Proxies[0]
}

// settled checks what a shift of both sides by 7 left, whatever happened to its connection: never a silent half. The hint ends it.
func (w *world) settled(r result) {
	w.t.Helper()
	const before, after = "0=600 1=600 2=600 | 0=700 1=700 2=700", "0=607 1=607 2=607 | 0=707 1=707 2=707"
	switch now := w.offsets(); r.code {
	case 0:
		same(w.t, "offsets after exit 0", now, after)
	case 1, 4, 5:
		same(w.t, fmt.Sprintf("offsets after exit %d", r.code), now, before)
		r.says("gtoffset: error: ")
	case 3:
		r.prints("verified")
		w.run(r.hint()...).exits(0)
		same(w.t, "offsets after the hint", w.offsets(), after)
	default:
		w.t.Errorf("exit %d\n%v", r.code, r)
	}
	if w.t.Failed() {
		w.t.Logf("%v", r)
	}
}

func TestConnectionCut(t *testing.T) {
	t.Parallel()
	shift := func(w *world) []string {
		return []string{"reset", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--committed", "--shift-by", "7", "--execute", "--timeout", "5s"}
	}
	// How many bytes of answers a whole run takes is found by cutting later and later, until nothing was cut any more.
	t.Run("after N bytes", func(t *testing.T) {
		t.Parallel()
		codes := map[int]int{}
		for n := 40; n < 100_000; n += 17 {
			w, p := cutting(t)
			p.CutDown(n)
			r := w.run(shift(w)...)
			whole := p.Uncut()
			w.settled(r)
			codes[r.code]++
			if whole {
				r.exits(0)
				break
			}
		}
		t.Logf("runs by exit code: %v", codes)
	})
	for _, done := range []bool{true, false} {
		t.Run(map[bool]string{true: "the answer to the commit is lost", false: "the commit is lost"}[done], func(t *testing.T) {
			t.Parallel()
			w, _ := cutting(t)
			var cut atomic.Bool
			if done {
				w.b.Rewrite(kmsg.OffsetCommit.Int16(), func(int32, kmsg.Response) bool { return !cut.CompareAndSwap(false, true) })
			} else {
				w.b.Fake.ControlKey(kmsg.OffsetCommit.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
					w.b.Fake.KeepControl()
					if cut.CompareAndSwap(false, true) {
						return nil, os.ErrClosed, true
					}
					return nil, nil, false
				})
			}
			r := w.run(shift(w)...)
			same(t, "cut", cut.Load(), true)
			w.settled(r)
		})
	}
	t.Run("the broker dies between plan and write", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
		w.person("y\n", func() { w.b.Kill(0) })
		w.run("reset", "-g", "billing", "-t", "orders", "--shift-by", "7", "--timeout", "1s").exits(5).never("verified")
		must(t, w.b.Revive(0))
		same(t, "committed", w.committed("billing", "orders"), "0=600")
		same(t, "backups", len(w.backups()), 0)
	})
}

// --no-backup keeps the plan, so that a part that failed can still be finished.
func TestNoBackup(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 600, 600)
	stop := w.b.FailCommit("orders", 1, kerr.TopicAuthorizationFailed)
	r := w.run("reset", "-g", "billing", "-t", "orders", "--shift-by", "7", "--no-backup", "--execute").exits(3).never("\nundo", "\nbackup")
	stop()
	w.run(r.hint()...).exits(0)
	same(t, "committed", w.committed("billing", "orders"), "0=607 1=607")
	files, err := filepath.Glob(filepath.Join(w.state, "gtoffset", "*reset-billing*"))
	must(t, err)
	same(t, "files", words(len(files), strings.HasSuffix(files[0], ".plan.json")), "1 true")
}

// Of several groups an error says which it is about, and so does what is left of another's failure.
func TestFailureNamesItsGroup(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("a", "orders", 600).commit("b", "orders", 600)
	w.b.FailCommit("orders", 0, kerr.InvalidCommitOffsetSize)
	args := []string{"reset", "-g", "a", "-t", "orders", "--to-latest", "--execute"}
	w.run(append(args, "-g", "b")...).exits(1).says(`error: group "a" orders 0: `)
	w.run(args...).exits(1).says("error: orders 0: ")
}

// applied says that something was written, not that it was tried.
func TestAppliedIsWhatWasWritten(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 600, 600)
	args := []string{"reset", "-g", "billing", "-t", "orders", "--to-latest", "--execute", "-o", "json"}
	w.b.FailCommit("orders", 0, kerr.InvalidCommitOffsetSize)
	some := w.run(args...).exits(3).plan()
	same(t, "one of two", words(some.Applied, some.Counts.Written, some.Counts.Failed), "true 1 1")
	w.b.FailCommit("orders", 1, kerr.InvalidCommitOffsetSize)
	none := w.run("reset", "-g", "billing", "-t", "orders", "--to-offset", "700", "--execute", "-o", "json").exits(1).plan()
	same(t, "none", words(none.Applied, none.Counts.Written, none.Counts.Failed, none.Undo == nil), "false 0 2 true")
}

// A plan of a time to come was made on a machine whose clock, or ours, is wrong: how old it is cannot be told.
func TestPlanOfATimeToCome(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
	plan := w.document(w.run("reset", "-g", "billing", "-t", "orders", "--to-latest", "--dry-run", "-o", "json").exits(0).out)
	w.now = w.now.Add(-4 * time.Minute)
	w.run("import", plan, "--dry-run").exits(0)
	w.now = w.now.Add(-2 * time.Hour)
	w.run("import", plan, "--execute").exits(4).says("2 h 3 min ahead of this machine's clock", "nothing was written", "--stale")
	w.run("import", plan, "--dry-run", "--stale").exits(0)
	w.now = time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC) // further away than a duration can be
	w.run("import", plan, "--execute").exits(4).says("more than 292 years ahead of this machine's clock", "nothing was written")
	w.run("import", plan, "--execute", "--stale").exits(0)
}

// What the store says of its last save may be any time.
func TestSavedInFarFuture(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
	w.put("billing", "orders", "# gtoffset 1\n# group billing\n# topic orders\n# saved 2999-01-01T00:00:00.000Z\n0 600\n# entries 1\n")
	w.run("describe", "-g", "billing", "-s", w.store).exits(0).prints("saved more than 292 years in the future")
	w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(0)
}
