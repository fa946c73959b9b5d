package cmd_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

type waitDoc struct {
	Met    bool
	Waited int64 `json:"waited_ms"`
	Open   []string
}

func (r result) wait() waitDoc {
	r.t.Helper()
	return document[waitDoc](r, "gtoffset.wait/1")
}

// Each condition: met at once, met later, and not met, which is 10. The clock of these worlds goes on by a millisecond each time it
// is looked at, so the few that are given are over after a few looks.
func TestWait(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		flags []string
		open  func(w *world) (meet func()) // makes the condition not hold, and later hold
		says  string
	}{
		{name: "--empty, classic", flags: []string{"--empty"}, says: `group "billing" is active: 1 member (kafkatest-member on `, open: func(w *world) func() {
			leave, err := w.b.Join("billing", false, "orders")
			must(w.t, err)
			return leave
		}},
		{name: "--empty, KIP-848", flags: []string{"--empty"}, says: `group "billing" is active: 1 member (kafkatest-member on `, open: func(w *world) func() {
			leave, err := w.b.Join("billing", true, "orders")
			must(w.t, err)
			return leave
		}},
		{name: "--lag 0", flags: []string{"--lag", "0"}, says: "orders 1: lag 1", open: func(w *world) func() {
			w.commit("billing", "orders", none, 899)
			return func() { w.commit("billing", "orders", none, 900) }
		}},
		{name: "--lag 5", flags: []string{"--lag", "5"}, says: "orders 0: lag 6", open: func(w *world) func() {
			w.commit("billing", "orders", 894)
			return func() { w.commit("billing", "orders", 895) }
		}},
		{name: "--stored-caught-up", flags: []string{"-s", "STORE", "--stored-caught-up"}, says: "orders 0: stored 1 behind committed", open: func(w *world) func() {
			w.save("billing", "orders", 899, 900)
			return func() { w.save("billing", "orders", 900, 900) }
		}},
		{name: "an entry is missing", flags: []string{"-s", "STORE", "--stored-caught-up"}, says: "orders 1: no entry in the store", open: func(w *world) func() {
			w.save("billing", "orders", 900)
			return func() { w.save("billing", "orders", 900, 900) }
		}},
		{name: "all of them", flags: []string{"-s", "STORE", "--stored-caught-up", "--lag", "0", "--empty"}, says: "orders 1: lag 50", open: func(w *world) func() {
			w.grow("orders", [2]int64{500, 900}, [2]int64{500, 950})
			return func() { w.commit("billing", "orders", 900, 950).save("billing", "orders", 900, 950) }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 900, 900).save("billing", "orders", 900, 900)
			args := []string{"wait", "-g", "billing"}
			for _, f := range c.flags {
				args = append(args, strings.Replace(f, "STORE", w.store, 1))
			}
			r := w.run(args...).exits(0).prints("met after")
			same(t, "stderr tells of the job that nobody sees", r.err != "", slices.Contains(c.flags, "--empty"))
			meet := c.open(w)
			r = w.run(append(args, "--for", "3ms")...).exits(10).says("not met within", c.says)
			same(t, "stdout", r.out, "")
			r = w.run(append(args, "--for", "3ms", "-o", "json")...).exits(10)
			d := r.wait()
			same(t, "document", words(d.Met, len(d.Open) > 0, d.Waited > 0, strings.Contains(strings.Join(d.Open, "; "), c.says)), "false true true true")
			same(t, "code", r.failure().Code, 10)
			calls := 0
			w.tick = func() {
				if calls++; calls == 4 { // after the first look
					meet()
				}
			}
			d = w.run(append(args, "--for", "1m", "-o", "json")...).exits(0).wait()
			same(t, "document", words(d.Met, len(d.Open)), "true 0")
			same(t, "it looked more than once", calls > 4, true)
			same(t, "yaml", w.run(append(args, "-o", "yaml")...).exits(0).yaml()["met"], any(true))
			same(t, "writes", w.writes(), 0)
		})
	}
	t.Run("what nobody is there to mend", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}, [2]int64{0, 9}).commit("billing", "orders", 9, 9).save("billing", "orders", 9)
		caught := []string{"wait", "-g", "billing", "-s", w.store, "--stored-caught-up", "--for", "0"}
		w.run(caught...).exits(10).says("orders 1: no entry in the store", "hint: waiting longer does not mend that; only the commits have an offset of these").never("waits longer")
		w.commit("fresh", "orders", 9)
		lag := []string{"wait", "-g", "fresh", "--lag", "0", "--for", "0"}
		w.run(lag...).exits(10).says("orders 1: no commit", "hint: waiting longer does not mend that; if there was a commit, gtoffset history -g fresh").never("waits longer")
		// No entry of a store ends a wait for the lag.
		stored := append(lag, "-s", w.store)
		w.run(stored...).exits(10).says("hint: waiting longer does not mend that; if there was a commit, gtoffset history -g fresh", ": gtoffset clamp -g fresh -t orders:1 --committed\n")
		w.save("fresh", "orders", 4, 5)
		w.run(stored...).exits(10).says("only the store has an offset of these; to commit it: gtoffset reset -g fresh -t orders:1 -s " + w.store + " --to-stored\n")
		w.run("reset", "-g", "fresh", "-t", "orders:1", "-s", w.store, "--to-stored", "--execute").exits(0)
		w.run(stored...).exits(10).says("orders 1: lag 4", "--for 30m waits longer")
		w.run("delete", "-g", "fresh", "-t", "orders:1", "--execute").exits(0)
		// Somebody is there who may do it.
		lock := w.lock("billing", "orders")
		w.run(caught...).exits(10).says("--for 30m waits longer")
		must(t, lock.Unlock())
		_, err := w.b.Join("fresh", false, "orders")
		must(t, err)
		w.run(lag...).exits(10).says("--for 30m waits longer")
	})
	t.Run("of a selection only", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}, [2]int64{0, 9}).topic("other", [2]int64{0, 9}).commit("billing", "orders", 9, 1).commit("billing", "other", 1)
		w.run("wait", "-g", "billing", "--lag", "0", "--for", "2ms").exits(10).says("orders 1: lag 8", "other 0: lag 8")
		w.run("wait", "-g", "billing", "-t", "orders:0", "--lag", "0", "--for", "2ms").exits(0)
		w.run("wait", "-g", "billing", "--lag", "8", "--for", "2ms").exits(0)
	})
	t.Run("what waiting does not mend", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}, [2]int64{0, 9}).commit("billing", "orders", 8, 9).save("billing", "orders", 8, 9)
		w.run("wait", "-g", "billing", "--lag", "0", "--for", "2ms").exits(10).says("orders 0: lag 1", "--for 30m waits longer")
		w.commit("billing", "orders", 8, 10)
		for when, of := range map[string]string{"--lag=1": "", "--stored-caught-up": " -s " + w.store} {
			w.run("wait", "-g", "billing", "-s", w.store, when, "--for", "2ms").exits(10).
				says("orders 1: committed high: 1 ahead", "waiting longer does not mend that", ": gtoffset clamp -g billing"+of+" --committed").never("waits longer")
		}
	})
	t.Run("a job that holds the store's lock runs", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 9).save("billing", "orders", 9)
		held := w.lock("billing", "orders")
		empty := []string{"wait", "-g", "billing", "--empty", "--for", "2ms"}
		w.run(append(empty, "-s", w.store)...).exits(10).says(`group "billing": its store is locked by the nightly job`, ": its job runs")
		w.run(empty...).exits(0) // no store is named
		w.run("wait", "-g", "billing", "-s", w.store, "--lag", "0", "--for", "2ms").exits(0)
		w.run("describe", "-g", "billing", "-s", w.store, "--problems").exits(0).prints("1 partition, 1 ok", ", locked by the nightly job")
		must(t, held.Unlock())
		w.run(append(empty, "-s", w.store)...).exits(0)
		w.run("describe", "-g", "billing", "-s", w.store, "--problems").exits(0).prints("1 partition, 1 ok").never("locked")
	})
	t.Run("many groups", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}).commit("a", "orders", 9).commit("b", "orders", 8)
		w.run("wait", "--all-groups", "--lag", "0", "--for", "2ms").exits(10).says(`group "b" orders 0: lag 1`)
		w.run("wait", "--group-regex", "a", "--lag", "0", "--for", "2ms").exits(0)
	})
	t.Run("a partition without commit", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}, [2]int64{0, 9}, [2]int64{4, 4}).commit("billing", "orders", 9)
		w.run("wait", "-g", "billing", "--lag", "0", "--for", "2ms").exits(10).says("orders 1: no commit").never("orders 2") // nothing to commit there
		w.commit("billing", "orders", none, 9)
		w.run("wait", "-g", "billing", "--lag", "0", "--for", "2ms").exits(0)
	})
	t.Run("a group without any", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}, [2]int64{4, 4}).commit("billing", "orders", 9).commit("other", "orders", 9)
		w.run("delete", "-g", "billing", "-t", "orders", "--execute").exits(0)
		for _, c := range []struct{ line, says string }{
			{"--lag 10", `group "billing": no offset is committed, and no partition assigned`},
			{"--stored-caught-up -s STORE", `group "billing": no offset is in the store (looked at`},
			{"--stored-caught-up -s STORE -t orders", `group "billing": nothing is committed that the store could reach, and nothing stored`},
		} {
			w.run(append([]string{"wait", "-g", "billing", "--for", "2ms"}, strings.Fields(strings.Replace(c.line, "STORE", w.store, 1))...)...).exits(10).
				says(c.says, "waiting longer does not mend that")
		}
		w.run("wait", "-g", "billing", "--lag", "10", "--for", "2ms").exits(10).says("gtoffset history -g billing")
		w.run("wait", "-g", "billing", "--empty", "--for", "2ms").exits(0)
		w.run("wait", "-g", "billing", "-g", "other", "--lag", "10", "--for", "2ms").exits(10)
		w.run("wait", "--all-groups", "--lag", "10", "--for", "2ms").exits(0).says(`group "billing": no offset is committed, and no partition assigned: not waited for`)
		w.run("wait", "--group-regex", "bill.*", "--lag", "10", "--for", "2ms").exits(10) // there is no other
		w.save("billing", "orders", 9)
		w.run("wait", "-g", "billing", "-s", w.store, "--stored-caught-up", "--for", "2ms").exits(0)
		w.commit("late", "orders", 9).hide("orders", 0)
		w.run("wait", "-g", "late", "--lag", "10", "--for", "2ms").exits(10).says("none of its partitions exists any more")
	})
	t.Run("looking once", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 8)
		for _, none := range []string{"0", "0s", "0m"} {
			w.b.Reset()
			w.run("wait", "-g", "billing", "--lag", "0", "--for", none).exits(10).says("not met within 0 s: ", "orders 0: lag 1")
			same(t, "looks", w.b.Count(kmsg.OffsetFetch.Int16()), 1)
			w.run("wait", "-g", "billing", "--lag", "1", "--for", none).exits(0).prints("met after 0 s")
		}
	})
	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 9)
		w.run("wait", "-g", "biling", "--empty", "--for", "1m").exits(1).says(`group "biling" is not known`)
		w.run("wait", "-g", "billing", "-t", "nowhere", "--lag", "0", "--for", "1m").exits(1).says(`topic "nowhere" does not exist`)
		w.run("wait", "-g", "billing", "-s", w.store+"/nowhere", "--stored-caught-up").exits(1).says(w.store + "/nowhere")
	})
	t.Run("what cannot be read does not hold", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}, [2]int64{0, 9}).commit("billing", "orders", 9, 9)
		w.b.NoLeader("orders", 1)
		w.run("wait", "-g", "billing", "--lag", "0", "--for", "2ms").exits(3).never("met after")
		w = start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 9)
		w.b.DenyGroup("billing")
		w.run("wait", "-g", "billing", "--empty", "--for", "2ms").exits(3).never("met after")
	})
	t.Run("a trouble that passes does not end it", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 1)
		looks := 0
		w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool {
			switch looks++; looks {
			case 2:
				r.(*kmsg.OffsetFetchResponse).Groups[0].ErrorCode = kerr.GroupAuthorizationFailed.Code
			case 3:
				w.commit("billing", "orders", 9)
			}
			return true
		})
		w.run("wait", "-g", "billing", "--lag", "0", "--for", "1m").exits(0).prints("met after")
		same(t, "looks", looks, 4)
	})
	t.Run("usage", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 9)
		w.b.Reset()
		for _, c := range []struct {
			args []string
			says string
		}{
			{[]string{"wait", "-g", "billing"}, "no condition is named"},
			{[]string{"wait", "--empty"}, "no group is named"},
			{[]string{"wait", "-g", "billing", "--lag", "-1"}, "--lag"},
			{[]string{"wait", "-g", "billing", "--lag", "x"}, "--lag"},
			{[]string{"wait", "-g", "billing", "--stored-caught-up"}, "needs a store"},
			{[]string{"wait", "-g", "billing", "--empty", "--for", "1"}, "--for 1s, or --for 1m"},
			{[]string{"clamp", "-g", "billing", "--wait-empty", "0", "--dry-run"}, `--wait-empty "0" is zero, and a length of time is more`},
			{[]string{"clamp", "-g", "billing", "--idle", "0m", "--dry-run"}, `--idle "0m" is zero`},
			{[]string{"wait", "-g", "billing", "--empty", "--for", "soon"}, "--for"},
			{[]string{"wait", "-g", "billing", "--empty", "-o", "csv"}, "csv"},
			{[]string{"wait", "-g", "billing", "--empty", "extra"}, "extra"},
			{[]string{"wait", "-g", "billing", "--empty", "--execute"}, "--execute"},
		} {
			w.run(c.args...).exits(2).says(c.says)
		}
		same(t, "requests", w.b.Count(), 0)
	})
	t.Run("interrupted", func(t *testing.T) {
		t.Parallel()
		// at ends a run at one of the answers about ends: each look asks for two, and what was on its way comes after the end.
		at := func(answer int32, args ...string) result {
			w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w.soft = ctx
			var answers atomic.Int32
			w.b.Rewrite(kmsg.ListOffsets.Int16(), func(int32, kmsg.Response) bool {
				if answers.Add(1) == answer {
					cancel()
				}
				return true
			})
			return w.run(append([]string{"wait", "-g", "billing", "--lag", "0"}, args...)...).exits(130)
		}
		at(2).says("interrupted")
		for answer, want := range map[int32]string{1: "the first look was not over", 3: `group "billing" orders 0: lag 8`} { // a document says how far it came
			r := at(answer, "-o", "json")
			d := r.wait()
			same(t, "document", words(d.Met, strings.Join(d.Open, "; ")), "false "+want)
			same(t, "error", r.failure().Code, 130)
		}
	})
	t.Run("a line on a terminal, and only there", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}).commit("billing", "orders", 1)
		w.tty = true
		r := w.run("wait", "-g", "billing", "--lag", "0", "--for", "4ms").exits(10).says("\r", "left: ", "lag 8")
		if i := strings.LastIndex(r.err, "left: "); i > strings.LastIndex(r.err, "\r\x1b[K") {
			t.Errorf("the line stands when it is over: %q", r.err)
		}
		w.run("wait", "-g", "billing", "--lag", "0", "--for", "4ms", "-q").exits(10).never("left: ")
		w.tty = false
		w.run("wait", "-g", "billing", "--lag", "0", "--for", "4ms").exits(10).never("left: ", "\r")
	})
}

// Nobody sees the job of a simple group: that it is empty says nothing of it, and that is said.
func TestWaitEmptyOfASimpleGroup(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 900}).commit("billing", "orders", 900)
	wait := []string{"wait", "-g", "billing", "--empty"}
	w.run(wait...).exits(0).prints("met after 0 s").says(`group "billing": a simple group`, "may be running", "--idle 30s")
	r := w.run(append(wait, "-o", "json")...).exits(0)
	same(t, "stderr", r.err, "")
	same(t, "notes", len(document[struct{ Notes []string }](r, "gtoffset.wait/1").Notes), 1)
	w.run("wait", "-g", "billing", "--lag", "0").exits(0).never("simple group")
}
