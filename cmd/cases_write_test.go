package cmd_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Every case of WRT: plan, apply, verify, exit status.
func TestWriteCases(t *testing.T) {
	t.Parallel()
	three := [][2]int64{{500, 900}, {500, 900}, {500, 900}}
	t.Run("WRT-1 one partition refused among others", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", three...).commit("billing", "orders", 1, 2, 3).save("billing", "orders", 1, 2, 3)
		stop := w.b.FailCommit("orders", 1, kerr.TopicAuthorizationFailed)
		r := w.run("clamp", "-g", "billing", "--execute").exits(3).prints("2 of 3 verified", "1 failed")
		r.prints("orders 1 failed: not allowed: READ on topic orders is missing").says("orders 1", "1 of 3")
		same(t, "committed", w.committed("billing", "orders"), "0=500 1=2 2=500")
		p := w.run("clamp", "-g", "billing", "--execute", "-o", "json").exits(1).plan()
		same(t, "applied", p.Applied, false) // nothing was written
		same(t, "counts", p.Counts, countsDoc{Write: 1, Keep: 2, Failed: 1})
		c := p.change(t, "orders", 1, "committed")
		same(t, "result", words(deref(c.Result), c.Error != nil), "failed true")
		// The store is written only if the commits stood.
		p = w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute", "-o", "json").exits(1).prints(`"expired":0`).plan()
		same(t, "counts", p.Counts, countsDoc{Write: 4, Keep: 2, Failed: 1, NotTried: 3})
		r = w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute").exits(1).says("nothing was written")
		r.prints("orders 0-2 (stored) not tried: an earlier write failed: ", "0 of 4 verified")
		same(t, "stored", w.stored("billing", "orders"), "0=1 1=2 2=3")
		stop()
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute").exits(0).prints("4 of 4 verified")
		same(t, "both", w.committed("billing", "orders")+" "+w.stored("billing", "orders"), "0=500 1=500 2=500 0=500 1=500 2=500")
	})
	t.Run("WRT-1 after a failed group no other starts", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", three[:1]...).topic("other", three[:1]...).commit("a", "orders", 1).commit("b", "other", 2).commit("c", "orders", 3)
		defer w.b.FailCommit("other", 0, kerr.InvalidCommitOffsetSize)()
		r := w.run("clamp", "-g", "a", "-g", "b", "-g", "c", "--execute").exits(3).prints("1 of 3 verified", "1 failed", "1 not tried")
		r.prints("b: other 0 failed", `c: orders 0 not tried: an earlier write of group "b" failed: `)
		same(t, "c", w.committed("c", "orders"), "0=3")
		same(t, "a", w.committed("a", "orders"), "0=500")
	})
	t.Run("WRT-3 only what is out of range moves", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 50}, [2]int64{0, 50}, [2]int64{0, 50}, [2]int64{20, 50})
		for g := range 20 {
			w.commit(fmt.Sprintf("g%d", g), "orders", 5, 0, 50, 30)
		}
		w.commit("g7", "orders", none, none, none, 10)
		w.run("clamp", "--committed", "--execute").exits(2).says("no group is named", "--all-groups")
		p := w.run("clamp", "--all-groups", "--execute", "-o", "json").exits(0).plan()
		same(t, "counts", p.Counts, countsDoc{Write: 1, Keep: 79, Clamped: 1, Written: 1, Verified: 1})
		for g := range 20 {
			want := "0=5 1=0 2=50 3=30"
			if g == 7 {
				want = "0=5 1=0 2=50 3=20"
			}
			same(t, fmt.Sprint("g", g), w.committed(fmt.Sprintf("g%d", g), "orders"), want)
		}
	})
	t.Run("WRT-3 what is skipped is printed", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{10, 50}, [2]int64{0, 2000}).commit("a", "orders", 60, 5000).commit("b", "orders", 60, 3)
		w.run("clamp", "--all-groups", "--high", "end", "--dry-run").exits(0).prints("skips up to 40 readable", "skips up to 2,000 readable", "In all this skips up to 2,080 readable")
	})
	t.Run("WRT-5 a failure is in the exit code", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", three...).commit("billing", "orders", 1, 2, 3)
		file := w.backupFile(`{"topic":"orders","partition":0,"side":"committed","offset":6,"epoch":null,"metadata":null,"written":5}`)
		for _, c := range []struct {
			says string
			code int
			args []string
		}{
			{"refused the connection", 5, []string{"describe", "-g", "billing", "-b", nowhere}},
			{"refused the connection", 5, []string{"describe", "-b", nowhere}},
			{"refused the connection", 5, []string{"clamp", "-g", "billing", "-b", nowhere, "--execute"}},
			{"refused the connection", 5, []string{"clamp", "-g", "billing", "-b", nowhere, "--dry-run"}},
			{"refused the connection", 5, []string{"import", file, "-b", nowhere, "--execute"}},
			{"does not resolve", 5, []string{"describe", "-g", "billing", "-b", "no-such-host.invalid:9092", "--timeout", "5s"}},
			{"nowhere", 1, []string{"describe", "-g", "billing", "-t", "nowhere"}},
			{"nowhere", 1, []string{"clamp", "-g", "billing", "-t", "nowhere", "--execute", "--committed"}},
			{"nobody", 1, []string{"describe", "-g", "nobody"}},
			{"nobody", 1, []string{"clamp", "-g", "nobody", "--execute"}},
			{"nobody", 4, []string{"clamp", "-g", "nobody", "-t", "orders", "--execute"}},
			{"moved since the backup", 4, []string{"import", file, "--execute"}},
			{"another-cluster", 4, []string{"describe", "-g", "billing", "--expect-cluster", "another-cluster"}},
			{"another-cluster", 4, []string{"describe", "--expect-cluster", "another-cluster"}},
			{"another-cluster", 4, []string{"clamp", "-g", "billing", "--expect-cluster", "another-cluster", "--execute"}},
			{"another-cluster", 4, []string{"import", file, "--expect-cluster", "another-cluster", "--execute"}},
		} {
			r := w.run(c.args...).exits(c.code).says("gtoffset: error: ", c.says).never("Usage")
			same(t, "stdout of a failure", strings.Contains(r.out, "verified"), false)
			j := w.run(append(c.args, "-o", "json")...).exits(c.code)
			if e := j.failure(); !strings.Contains(e.Error, c.says) {
				t.Errorf("error = %q, want %q", e.Error, c.says)
			}
		}
		w.run("describe", "-g", "billing", "--expect-cluster", w.cluster()).exits(0)
		same(t, "committed", w.committed("billing", "orders"), "0=1 1=2 2=3")
	})
	t.Run("WRT-7 a dry run says so", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", three...).commit("billing", "orders", 1, 2, 600).save("billing", "orders", 1, 2, 600)
		for _, side := range []string{"--stored", "--committed"} {
			w.run("clamp", "-g", "billing", "-s", w.store, side, "--dry-run").exits(0).says("dry run: nothing was written")
			w.run("clamp", "-g", "billing", "-s", w.store, side, "--check").exits(10).says("nothing was written", "2 of 3")
			r := w.run("clamp", "-g", "billing", "-s", w.store, side, "--dry-run", "-o", "json").exits(0).says("nothing was written")
			p := r.plan()
			same(t, "plan", words(p.Applied, p.Backup == nil, p.Undo == nil, p.Counts), words(false, true, true, countsDoc{Write: 2, Keep: 1, Clamped: 2}))
			same(t, "yaml", w.run("clamp", "-g", "billing", "-s", w.store, side, "--dry-run", "-o", "yaml").exits(0).yaml()["applied"], any(false))
			same(t, "check", w.run("clamp", "-g", "billing", "-s", w.store, side, "--check", "-o", "json").exits(10).plan().Applied, false)
		}
		same(t, "writes", w.writes(), 0)
		same(t, "stored", w.stored("billing", "orders"), "0=1 1=2 2=600")
		same(t, "backups", len(w.backups()), 0)
		file := w.backupFile(`{"topic":"orders","partition":0,"side":"committed","offset":700,"epoch":null,"metadata":null,"written":1}`)
		w.run("import", file, "--dry-run").exits(0).says("dry run: nothing was written")
		same(t, "import", w.run("import", file, "--check", "-o", "json").exits(10).plan().Applied, false)
		same(t, "committed", w.committed("billing", "orders"), "0=1 1=2 2=600")
		if _, err := os.Stat(w.path("billing", "orders") + ".lock"); err == nil {
			t.Error("a dry run left a lock file")
		}
	})
	t.Run("read back", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", three...).commit("billing", "orders", 1, 2, 600)
		var committed atomic.Bool
		w.b.Rewrite(kmsg.OffsetCommit.Int16(), func(int32, kmsg.Response) bool { committed.Store(true); return true })
		w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool {
			for _, topic := range r.(*kmsg.OffsetFetchResponse).Groups[0].Topics {
				for i, p := range topic.Partitions {
					if committed.Load() && p.Partition == 1 {
						topic.Partitions[i].Offset = 777
					}
				}
			}
			return true
		})
		w.run("clamp", "-g", "billing", "-t", "orders:0,1", "--execute").exits(3).prints("1 of 2 verified", "read back 777").says("orders 1", "read back 777")
		committed.Store(false)
		w.commit("billing", "orders", none, 2)
		committed.Store(false)
		r := w.run("clamp", "-g", "billing", "-t", "orders:1", "--execute").exits(3).prints("0 of 1 verified", "backup").says("read back 777", "hint: gtoffset describe -g billing shows what stands now; run the same command again to plan from there")
		r.never("nothing was written", "undo")
	})
	t.Run("the connection breaks during the commit", func(t *testing.T) {
		t.Parallel()
		hungUp := func(w *world, late func()) {
			w.b.Fake.ControlKey(kmsg.OffsetCommit.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
				if late != nil {
					var once sync.Once
					w.b.Fake.ControlKey(kmsg.OffsetFetch.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
						go once.Do(late)
						return nil, nil, false
					})
				}
				return nil, errors.New("the broker dies"), true
			})
		}
		settled := countsDoc{Write: 2, Keep: 1, Clamped: 2, Written: 2, Verified: 2}
		t.Run("and only the answer is lost", func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", three...).commit("billing", "orders", 1, 2, 600)
			w.b.Rewrite(kmsg.OffsetCommit.Int16(), func(int32, kmsg.Response) bool { return false })
			same(t, "settled", w.run("clamp", "-g", "billing", "--execute", "-o", "json").exits(0).plan().Counts, settled)
			same(t, "committed", w.committed("billing", "orders"), "0=500 1=500 2=600")
		})
		t.Run("and it is stored after the first look", func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", three...).commit("billing", "orders", 1, 2, 600)
			stored := make(chan struct{})
			hungUp(w, func() {
				defer close(stored)
				w.commit("billing", "orders", 500, 500, 600)
			})
			same(t, "settled", w.run("clamp", "-g", "billing", "--execute", "-o", "json").exits(0).plan().Counts, settled)
			<-stored
		})
		t.Run("and nobody knows", func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", three...).commit("billing", "orders", 1, 2, 600)
			hungUp(w, nil)
			w.run("clamp", "-g", "billing", "--execute").exits(3).prints("0 of 2 verified", "2 unknown", "may still come").never("nothing was written")
			same(t, "committed", w.committed("billing", "orders"), "0=1 1=2 2=600")
		})
		t.Run("that deletes the group", func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", three...).commit("billing", "orders", 1, 2, 600)
			w.b.Fake.ControlKey(kmsg.DeleteGroups.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
				return nil, errors.New("the broker dies"), true
			})
			w.run("delete", "-g", "billing", "--whole-group", "--execute").exits(3).prints("0 of 3 verified", "3 unknown", "may still come").never("nothing was written")
		})
	})
	t.Run("unknown to the end", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", three...).commit("billing", "orders", 1, 600, 600)
		var sent atomic.Bool
		w.b.Rewrite(kmsg.OffsetCommit.Int16(), func(int32, kmsg.Response) bool { sent.Store(true); return false })
		w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool {
			if sent.Load() {
				r.(*kmsg.OffsetFetchResponse).Groups[0].ErrorCode = kerr.GroupAuthorizationFailed.Code
			}
			return true
		})
		p := w.run("clamp", "-g", "billing", "--execute", "-o", "json").exits(3).plan()
		same(t, "counts", p.Counts, countsDoc{Write: 1, Keep: 2, Clamped: 1, Unknown: 1})
		same(t, "result", deref(p.change(t, "orders", 0, "committed").Result), "unknown")
	})
	t.Run("the store fails after the commits", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", three...).commit("billing", "orders", 1, 600, 600).save("billing", "orders", 2, 600, 600)
		w.step = func(step string) error {
			if step == "write" {
				return syscall.ENOSPC
			}
			return nil
		}
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute").exits(3).prints("1 of 2 verified", "no space left").says("no space left")
		same(t, "both", w.committed("billing", "orders")+" "+w.stored("billing", "orders"), "0=500 1=600 2=600 0=2 1=600 2=600")
		// Nothing applies twice.
		w.step = nil
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute").exits(0).prints("1 of 1 verified")
		same(t, "stored", w.stored("billing", "orders"), "0=500 1=600 2=600")
	})
}
