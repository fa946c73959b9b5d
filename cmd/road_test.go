package cmd_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/offsetfile"
)

// low is a world with a group that is low on both sides in partition 0.
func low(t *testing.T) *world {
	t.Helper()
	return start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 100, 600).save("billing", "orders", 200, 700)
}

// untouched checks that nothing of a low world has changed, and no backup was made.
func (w *world) untouched() {
	w.t.Helper()
	same(w.t, "committed", w.committed("billing", "orders"), "0=100 1=600")
	same(w.t, "stored", w.stored("billing", "orders"), "0=200 1=700")
	same(w.t, "writes", w.writes(), 0)
	same(w.t, "backups", len(w.backups()), 0)
}

func TestUsageErrorsComeBeforeAnyConnection(t *testing.T) {
	t.Parallel()
	w := low(t)
	w.b.Reset()
	backup := w.backupFile(`{"topic":"orders","partition":0,"side":"committed","offset":1,"epoch":null,"metadata":null,"written":100}`)
	for _, args := range [][]string{
		{"nonsense"},
		{"describe", "extra"},
		{"describe", "--nonsense"},
		{"describe", "-g"},
		{"describe", "-g", "billing", "-o", "nonsense"},
		{"describe", "-g", "billing", "-o", "prom2"},
		{"describe", "-g", "billing", "--color", "pink"},
		{"describe", "-g", "billing", "--timeout", "0"},
		{"describe", "-g", "billing", "--timeout", "999"},
		{"describe", "-g", "billing", "--timeout", "soon"},
		{"describe", "-g", "billing", "--timeout", "-5s"},
		{"describe", "-g", "billing", "-t", ""},
		{"describe", "-g", "billing", "-t", ":1"},
		{"describe", "-g", "billing", "-t", "orders:"},
		{"describe", "-g", "billing", "-t", "orders:x"},
		{"describe", "-g", "billing", "-t", "orders:3-1"},
		{"describe", "-g", "billing", "-t", "orders:-1"},
		{"describe", "-g", "billing", "-t", "orders:0-2147483647"},
		{"describe", "-g", "billing", "--all-groups"},
		{"describe", "-g", "billing", "--group-regex", "b.*"},
		{"describe", "--all-groups", "--group-regex", "b.*"},
		{"describe", "--group-regex", "("},
		{"describe", "-g", "billing", "-g", strings.Repeat("g", 40_000)},
		{"describe", "-g", "billing", "-t", strings.Repeat("t", 40_000) + ":1"},
		{"history", "-g", strings.Repeat("g", 40_000)},
		{"describe", "-t", "orders"},
		{"describe", "--check"},
		{"describe", "--problems"},
		{"describe", "--max-lag", "5"},
		{"describe", "-g", "billing", "--max-lag", "-1"},
		{"describe", "-g", "billing", "--max-lag", "x"},
		{"describe", "-g", "billing", "--max-unprocessed", "5"},
		{"describe", "-g", "billing", "--isolation", "read_everything"},
		{"describe", "-g", "billing", "-s", "ftp://host/x"},
		{"clamp", "--execute"},
		{"clamp", "-t", "orders", "--execute"},
		{"clamp", "-g", "billing", "extra", "--execute"},
		{"clamp", "-g", "billing"},
		{"clamp", "-g", "billing", "--execute", "--dry-run"},
		{"clamp", "-g", "billing", "--execute", "--check"},
		{"clamp", "-g", "billing", "--stored", "--execute"},
		{"clamp", "-g", "billing", "--high", "low", "--execute"},
		{"clamp", "-g", "billing", "--high", "keep", "--execute"},
		{"clamp", "-g", "billing", "--recreated", "low", "--execute"},
		{"clamp", "-g", "billing", "--missing", "end", "--execute"},
		{"clamp", "-g", "billing", "--isolation", "read_committed", "--execute"},
		{"clamp", "-g", "billing", "--wait-empty", "soon", "--execute"},
		{"clamp", "-g", "billing", "--idle", "-3s", "--execute"},
		{"clamp", "-g", "billing", "-o", "csv", "--execute"},
		{"import"},
		{"import", backup, backup, "--execute"},
		{"import", backup},
		{"import", backup, "--execute", "--dry-run"},
		{"import", backup, "--moved", "keep", "--execute"},
		{"import", backup, "--recreated", "end", "--execute"},
		{"import", "-"},
	} {
		r := w.run(args...).exits(2).says("gtoffset: error: ").never("Usage", "panic")
		same(t, "stdout", r.out, "")
		if !slices.Contains(args, "-o") {
			w.run(append(args, "-o", "json")...).exits(2).failure()
		}
	}
	w.run("describe", "-g", strings.Repeat("g", 40_000)).exits(2).says("--group \"gggggggggggggggggggg\"… is longer than the 32,767 bytes that a name in Kafka can have")
	// Without a cluster, and with a store that is no folder.
	file := w.path("billing", "orders")
	w.run("describe", "-g", "billing", "-s", file).exits(2).says(file, "not a folder")
	delete(w.vars, "GTOFFSET_BOOTSTRAP_SERVER")
	w.run("describe", "-g", "billing").exits(2).says("no cluster is named", "-b HOST:PORT")
	w.run("clamp", "-g", "billing", "--execute").exits(2)
	same(t, "requests", w.b.Count(), 0)
	w.vars["KAFKA_BOOTSTRAP_SERVERS"] = w.b.Bootstrap()
	w.run("describe", "-g", "billing").exits(0).prints("(KAFKA_BOOTSTRAP_SERVERS)")
	w.run("describe", "-g", "billing", "-b", w.b.Bootstrap()).exits(0).prints("(--bootstrap-server)")
	same(t, "many partitions of a short name", w.run("describe", "-g", "billing", "-t", "orders:"+strings.Repeat("0,", 20_000)+"0").code, 0)
	w.untouched()
}

func TestSideRules(t *testing.T) {
	t.Parallel()
	w := low(t)
	clamp := func(args ...string) result {
		return w.run(append([]string{"clamp", "-g", "billing", "--dry-run"}, args...)...)
	}
	clamp("-s", w.store).exits(2).says("both the store and the commits", "--stored or --committed")
	clamp().exits(0).prints("clamp the commits of billing")
	clamp("-s", w.store, "--stored").exits(0).prints("clamp the store of billing")
	clamp("-s", w.store, "--committed").exits(0).prints("clamp the commits of billing")
	clamp("-s", w.store, "--committed", "--stored").exits(0).prints("clamp the store and the commits of billing")
	clamp("--stored").exits(2).says("--stored needs a store")
	w.vars["GTOFFSET_STORE"] = w.store
	clamp().exits(2).says("both")
	clamp("--stored").exits(0)
	delete(w.vars, "GTOFFSET_STORE")

	// Only one side has offsets.
	clamp("-s", t.TempDir()).exits(0).prints("clamp the commits of billing")
	w.save("stored-only", "orders", 1, 2)
	w.run("clamp", "-g", "stored-only", "-s", w.store, "--dry-run").exits(0).prints("clamp the store of stored-only")
	w.run("clamp", "-g", "neither", "-t", "orders", "-s", w.store, "--dry-run").exits(2).says("neither the store nor the commits", "--stored or --committed")
	// A damaged file is something.
	w.put("damaged", "orders", "")
	w.commit("damaged", "orders", 600)
	w.run("clamp", "-g", "damaged", "-s", w.store, "--dry-run").exits(2).says("both")
	// With -o json the error is a document, also here.
	w.run("clamp", "-g", "billing", "-s", w.store, "--dry-run", "-o", "json").exits(2).failure()
	w.untouched()
}

func TestConsent(t *testing.T) {
	t.Parallel()
	clamp := func(w *world) []string {
		return []string{"clamp", "-g", "billing", "-s", w.store, "--stored", "--committed"}
	}
	for _, yes := range []string{"y\n", "yes\n", "Y\n", " YES \n", "y"} {
		w := low(t).person(yes, nil)
		r := w.run(clamp(w)...).exits(0).prints("low: 400 expired", "2 of 2 verified").says("[y/N]", "group billing")
		same(t, "the plan comes on stdout, the question on stderr", strings.Contains(r.out, "[y/N]"), false)
		same(t, "both", w.committed("billing", "orders")+" "+w.stored("billing", "orders"), "0=500 1=600 0=500 1=700")
	}
	for _, no := range []string{"n\n", "\n", "", "no\n", "yes please\n", "yn\n", "ja\n", "1\n"} {
		w := low(t).person(no, nil)
		r := w.run(clamp(w)...).exits(1).prints("low: 400 expired").says("[y/N]", "not confirmed; nothing was written")
		if !strings.HasSuffix(no, "\n") { // Ctrl-D: the terminal does not begin a new line
			r.says("[y/N] \ngtoffset: error: not confirmed")
		}
		w.untouched()
	}
	t.Run("with -o json the plan goes to stderr", func(t *testing.T) {
		w := low(t).person("y\n", nil)
		r := w.run(append(clamp(w), "-o", "json")...).exits(0).says("low: 400 expired", "[y/N]", "2 of 2 verified")
		same(t, "applied", r.plan().Applied, true)
		w = low(t).person("n\n", nil)
		r = w.run(append(clamp(w), "-o", "json")...).exits(1)
		same(t, "applied", r.plan().Applied, false)
		r.failure()
	})
	t.Run("nobody can be asked", func(t *testing.T) {
		w := low(t).person("y\n", func() { t.Error("stdin was read") })
		w.b.Reset()
		for _, ci := range []string{"true", "1", "yes"} {
			w.vars["CI"] = ci
			w.run(clamp(w)...).exits(2).says("--execute", "--dry-run", "nothing was written")
		}
		delete(w.vars, "CI")
		w.tty = false
		w.run(clamp(w)...).exits(2)
		same(t, "requests", w.b.Count(), 0)
		w.untouched()
		w.vars["CI"] = "true"
		w.run(append(clamp(w), "--execute")...).exits(0)
	})
	t.Run("CI is switched off", func(t *testing.T) {
		for _, ci := range []string{"", "0", "false", "False"} {
			w := low(t).person("n\n", nil)
			w.vars["CI"] = ci
			w.run(clamp(w)...).exits(1).says("[y/N]", "not confirmed")
		}
	})
	t.Run("nothing to do is not asked", func(t *testing.T) {
		w := low(t).person("n\n", func() { t.Error("asked") })
		w.run("clamp", "-g", "billing", "-t", "orders:1").exits(0).prints("Nothing to do")
	})
	t.Run("interrupted at the prompt", func(t *testing.T) {
		w := low(t)
		ctx, cancel := context.WithCancel(t.Context())
		w.soft = ctx
		w.tty, w.in = true, never{t, cancel}
		w.run(clamp(w)...).exits(130).says("interrupted")
		w.untouched()
	})
}

// never is a person who presses the interrupt key when asked, and nothing else.
type never struct {
	t      *testing.T
	cancel func()
}

func (n never) Read([]byte) (int, error) {
	n.cancel()
	<-n.t.Context().Done()
	return 0, context.Canceled
}

func TestInterrupts(t *testing.T) {
	t.Parallel()
	t.Run("during a look", func(t *testing.T) {
		t.Parallel()
		for _, args := range [][]string{{"describe", "-g", "billing"}, {"describe"}, {"describe", "--all-groups"}, {"clamp", "-g", "billing", "--execute"}} {
			for _, at := range []kmsg.Key{kmsg.Metadata, kmsg.ListGroups, kmsg.OffsetFetch, kmsg.ListOffsets} {
				w := low(t)
				ctx, cancel := context.WithCancel(t.Context())
				w.soft = ctx
				met := false
				w.b.Fake.ControlKey(int16(at), func(kmsg.Request) (kmsg.Response, error, bool) {
					met = true
					cancel()
					return nil, context.Canceled, true // no answer
				})
				r := w.run(args...)
				if met {
					r.exits(130).says("interrupted")
					w.untouched()
				}
			}
		}
	})
	t.Run("a write under way is finished", func(t *testing.T) {
		t.Parallel()
		w := low(t)
		ctx, cancel := context.WithCancel(t.Context())
		w.soft = ctx
		w.b.Rewrite(kmsg.OffsetCommit.Int16(), func(int32, kmsg.Response) bool { cancel(); return true })
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute").prints("2 of 2 verified", "undo")
		same(t, "both", w.committed("billing", "orders")+" "+w.stored("billing", "orders"), "0=500 1=600 0=500 1=700")
	})
	t.Run("twice: what was written until then is read back", func(t *testing.T) {
		t.Parallel()
		clamp := func(w *world) result { return w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute") }
		twice := func(t *testing.T) (*world, func()) {
			w := low(t)
			hard, cancel := context.WithCancel(t.Context())
			w.hard = hard
			return w, cancel
		}
		w, cancel := twice(t)
		w.step = func(step string) error {
			if step == offsetfile.StepRename {
				cancel()
			}
			return nil
		}
		clamp(w).exits(0).prints("1 of 1 verified")
		same(t, "stored", w.stored("billing", "orders"), "0=500 1=700")

		w, cancel = twice(t)
		w.b.Rewrite(kmsg.OffsetCommit.Int16(), func(int32, kmsg.Response) bool { cancel(); return true })
		w.run("clamp", "-g", "billing", "--committed", "--execute").exits(0).prints("1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=500 1=600")

		w, cancel = twice(t)
		w.b.Fake.ControlKey(kmsg.OffsetCommit.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
			cancel()
			return nil, errors.New("not answered any more"), true
		})
		w.run("clamp", "-g", "billing", "--committed", "--execute").exits(3).prints("1 unknown").never("nothing was written")

		w, cancel = twice(t)
		w.step = func(step string) error {
			if step == offsetfile.StepDone {
				cancel()
				return os.Rename(w.path("billing", "orders"), w.path("billing", "orders")+".aside")
			}
			return nil
		}
		clamp(w).exits(3).says("1 of 1 offset not written as planned: orders 0: read back none")
	})
	t.Run("before the write", func(t *testing.T) {
		t.Parallel()
		w := low(t)
		ctx, cancel := context.WithCancel(t.Context())
		w.soft = ctx
		looks := 0
		w.tick = func() {
			if looks++; len(w.backups()) > 0 || looks > 3 {
				cancel()
			}
		}
		w.run("clamp", "-g", "billing", "--execute").exits(130)
		same(t, "committed", w.committed("billing", "orders"), "0=100 1=600")
		same(t, "a backup of a write that never was", len(w.backups()), 0)
	})
}

func TestBackups(t *testing.T) {
	t.Parallel()
	clamp := []string{"clamp", "-g", "billing", "--execute"}
	t.Run("written before the write, for nobody else", func(t *testing.T) {
		t.Parallel()
		w := low(t)
		before := false
		w.b.Fake.ControlKey(kmsg.OffsetCommit.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
			before = len(w.backups()) == 2
			return nil, nil, false
		})
		r := w.run(append(clamp, "--why", "ticket 42")...).exits(0)
		same(t, "before the write", before, true)
		dir := filepath.Join(w.state, "gtoffset")
		backup := filepath.Join(dir, "20311129T120000Z-clamp-billing.json")
		r.prints("backup  "+backup+"\n", "undo    gtoffset import "+backup+" -b "+w.b.Bootstrap()+" --execute\n")
		for path, mode := range map[string]os.FileMode{dir: 0o700, backup: 0o600, strings.TrimSuffix(backup, ".json") + ".plan.json": 0o600} {
			fi, err := os.Stat(path)
			must(t, err)
			same(t, path, fi.Mode().Perm(), mode)
		}
		b, err := os.ReadFile(backup)
		must(t, err)
		var doc struct {
			Schema, Kind, Side, Why, User, Host, Command, Tool string
			Groups                                             []struct {
				Group      string
				Partitions []struct {
					Topic           string
					Partition       int32
					Offset, Written number
				}
			}
		}
		must(t, json.Unmarshal(b, &doc))
		same(t, "backup", words(doc.Schema, doc.Kind, doc.Side, doc.Why, doc.User, doc.Host, doc.Command), "gtoffset.offsets/1 backup committed ticket 42 ops kafka-tools clamp")
		same(t, "rows", words(doc.Groups), words([]any{"{billing [{orders 0 100 500}]}"}))
		var plan planDoc
		b, err = os.ReadFile(strings.TrimSuffix(backup, ".json") + ".plan.json")
		must(t, err)
		must(t, json.Unmarshal(b, &plan))
		same(t, "plan", words(plan.Applied, plan.ID, plan.change(t, "orders", 0, "committed").New.Offset), "false 20311129T120000Z-clamp-billing 500")
	})
	t.Run("behind the write it has what was written, and nothing else", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 100, 200)
		fails := w.b.FailCommit("orders", 1, kerr.OffsetMetadataTooLarge)
		r := w.run(clamp...).exits(3).prints("1 of 2 verified")
		fails()
		w.commit("billing", "orders", none, 500) // its job has come that far
		w.run(r.undo()...).exits(0)
		same(t, "undone", w.committed("billing", "orders"), "0=100 1=500")

		// The store's file moves while the commits are written.
		w = start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 100).save("billing", "orders", 200)
		var once sync.Once
		w.b.Fake.ControlKey(kmsg.OffsetCommit.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
			once.Do(func() { w.save("billing", "orders", 250) })
			return nil, nil, false
		})
		r = w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute").exits(3).prints("1 of 1 verified · 1 refused")
		w.save("billing", "orders", 500)
		w.run(r.undo()...).exits(0)
		same(t, "undone", w.committed("billing", "orders")+" "+w.stored("billing", "orders"), "0=100 0=500")
	})
	t.Run("none of a run that wrote nothing", func(t *testing.T) {
		t.Parallel()
		w := low(t)
		fails := w.b.FailCommit("orders", 0, kerr.OffsetMetadataTooLarge)
		w.run(clamp...).exits(1).says("nothing was written").never("backup", "undo", "plan    ")
		w.run(append(clamp, "--no-backup")...).exits(1).says("nothing was written").never("plan    ")
		fails()
		w.b.FailCommit("orders", 0, kerr.UnknownMemberID) // a member has joined
		w.run(clamp...).exits(4).says("the group is active", "nothing was written").never("backup")
		same(t, "files", len(w.backups()), 0)
	})
	t.Run("two runs in one second", func(t *testing.T) {
		t.Parallel()
		w := low(t)
		w.run(clamp...).exits(0)
		w.commit("billing", "orders", 100)
		w.run(clamp...).exits(0).prints("20311129T120000Z-clamp-billing-2.json")
		same(t, "files", len(w.backups()), 4)
	})
	t.Run("no place for it", func(t *testing.T) {
		t.Parallel()
		w := low(t)
		blocked := filepath.Join(t.TempDir(), "file")
		must(t, os.WriteFile(blocked, nil, 0o600))
		for _, dir := range []string{blocked, blocked + "/below"} {
			w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute", "--backup-dir", dir).exits(1).says("backup", "nothing was written", "--backup-dir")
			w.untouched()
		}
		delete(w.vars, "XDG_STATE_HOME")
		delete(w.vars, "HOME")
		w.b.Reset()
		w.run(clamp...).exits(2).says("there is no place for backups", "--backup-dir")
		same(t, "requests", w.b.Count(), 0)
		w.untouched()
		w.run("backups", "--backup-dir", blocked+".none").exits(1).says("no such folder", "hint: give --backup-dir the folder that the writes were given\n").never("it is \n")
		w.run(append(clamp[:len(clamp)-1:len(clamp)-1], "--dry-run")...).exits(0)
		w.vars["HOME"] = w.state
		w.run(clamp...).exits(0).prints(w.state + "/.local/state/gtoffset/")
	})
	t.Run("only root's business", func(t *testing.T) {
		t.Parallel()
		if os.Getuid() != 0 {
			t.Skip("needs root to become another user")
		}
		w := low(t)
		open(t, w.state)
		w.process(65534, "", clamp...).exits(1).says("permission denied", "nothing was written")
		w.untouched()
	})
	t.Run("no room for the plan", func(t *testing.T) {
		t.Parallel()
		w := low(t)
		const longest = 4095 // of a path: the backup's is as long, and the plan's longer
		dir := t.TempDir()
		for room := longest - len("/20311129T120000Z-clamp-billing.json"); len(dir) < room; {
			dir += "/" + strings.Repeat("x", max(min(200, room-len(dir)-1), 1))
		}
		w.run("clamp", "-g", "billing", "--execute", "--backup-dir", dir).exits(1).says("save the backup: ", "nothing was written").never("No such file", "no such file")
		left, err := os.ReadDir(dir)
		must(t, err)
		same(t, "files", len(left), 0)
		same(t, "committed", w.committed("billing", "orders"), "0=100 1=600")
	})
	t.Run("--no-backup keeps the plan", func(t *testing.T) {
		t.Parallel()
		w := low(t)
		r := w.run(append(clamp, "--no-backup", "-o", "json")...).exits(0).never("undo    ")
		same(t, "plan", words(r.plan().Backup == nil, r.plan().Undo == nil), "true true")
		plan := filepath.Join(w.state, "gtoffset", "20311129T120000Z-clamp-billing.plan.json")
		same(t, "files", words(w.backups()), "["+plan+"]")
		r.says("no backup was saved, and so there is no undo (--no-backup); what was there before stands in the plan", "\nplan    "+plan+"\n")
	})
	t.Run("--backup-dir", func(t *testing.T) {
		t.Parallel()
		w := low(t)
		dir := filepath.Join(t.TempDir(), "a", "b")
		w.run(append(clamp, "--backup-dir", dir)...).exits(0).prints(dir)
		same(t, "default place", len(w.backups()), 0)
		fi, err := os.Stat(dir)
		must(t, err)
		same(t, "mode", fi.Mode().Perm(), 0o700)
	})
}

func TestFreshLook(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		moves func(w *world)
		code  int // of the whole run; --partial gives 3 for 4 where something is left
		says  string
		alone bool // nothing is left for --partial
		flags []string
	}{
		{name: "a commit moved", moves: func(w *world) { w.commit("billing", "orders", 300) }, code: 4, says: "moved since the plan: was 100, is 300"},
		{name: "an entry moved", moves: func(w *world) { w.save("billing", "orders", 300, 700, 200) }, code: 4, says: "moved since the plan: was 200, is 300"},
		{name: "an entry vanished", moves: func(w *world) { w.save("billing", "orders", none, 700, 200) }, code: 4, says: "moved since the plan: was 200, is none"},
		{name: "the file was damaged", moves: func(w *world) { w.put("billing", "orders", "") }, code: 4, says: "empty"},
		{name: "a partition that stays moved", moves: func(w *world) { w.commit("billing", "orders", none, 650) }, code: 0},
		{name: "somebody did the same", moves: func(w *world) { w.commit("billing", "orders", 500) }, code: 0},
		{name: "earliest moved on", moves: func(w *world) { w.grow("orders", [2]int64{600, 900}) }, code: 0},
		{name: "the end moved on", moves: func(w *world) { w.grow("orders", [2]int64{500, 950}) }, code: 0},
		{name: "the group became active", moves: func(w *world) { _, err := w.b.Join("billing", true, "orders"); must(w.t, err) }, code: 4, says: "is active", alone: true},
		{name: "the topic went away", moves: func(w *world) { w.hide("orders", 0) }, code: 4, says: "gone since the plan", alone: true},
		{name: "a target out of range", moves: func(w *world) { w.grow("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{600, 2000}) }, code: 4, says: "orders 2", flags: []string{"--high", "end"}},
	} {
		for _, partial := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s partial %v", c.name, partial), func(t *testing.T) {
				t.Parallel()
				// Partition 2 is another change, which --partial may go on with.
				w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900})
				w.commit("billing", "orders", 100, 600, 200).save("billing", "orders", 200, 700, 200)
				if c.flags != nil {
					w.commit("billing", "orders", none, none, 1000).save("billing", "orders", 200, 700, 1000)
				}
				w.person("y\n", func() { c.moves(w) })
				args := append([]string{"clamp", "-g", "billing", "-s", w.store, "--stored", "--committed"}, c.flags...)
				code := c.code
				if partial {
					args = append(args, "--partial")
					if code == 4 && !c.alone {
						code = 3
					}
				}
				r := w.run(args...).exits(code)
				if c.says != "" {
					r.says(c.says)
				}
				if code == 4 {
					r.says("nothing was written")
					same(t, "writes", w.writes(), 0)
					same(t, "backups", len(w.backups()), 0)
				}
				if code == 3 {
					r.says("left out").never("nothing was written")
				}
				switch c.name {
				case "earliest moved on":
					r.prints("4 of 4 verified")
					same(t, "committed", w.committed("billing", "orders"), "0=600 1=600 2=500")
				case "somebody did the same":
					r.prints("1 was there already")
				case "a partition that stays moved":
					same(t, "committed", w.committed("billing", "orders"), "0=500 1=650 2=500")
				}
			})
		}
	}
	// What moves while it is asked, and no longer shows in the second look of the partitions themselves.
	t.Run("what decided moved", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct {
			args  string
			moves func(w *world)
			says  string
		}{
			"the smaller of two":     {"reset -t orders --to-safe --committed", func(w *world) { w.save("billing", "orders", 550, 700) }, "the stored offset that decided has moved since the plan: was 600, is 550"},
			"the store":              {"reset -t orders --to-stored", func(w *world) { w.save("billing", "orders", 550, 700) }, "the stored offset that decided has moved since the plan: was 600, is 550"},
			"the commits":            {"reset -t orders --to-committed", func(w *world) { w.commit("billing", "orders", 860, 800) }, "the committed offset that decided has moved since the plan: was 800, is 860"},
			"there was nothing":      {"clamp -t other --stored", func(w *world) { w.commit("billing", "other", 5) }, "the committed offset that decided has moved since the plan: was none, is 5"},
			"what does not decide":   {"reset -t orders --to-earliest --committed", func(w *world) { w.save("billing", "orders", 550, 700) }, ""},
			"another group":          {"reset -t orders --from-group other", func(w *world) { w.commit("other", "orders", 560, 700) }, `the offset of group "other" that decided has moved since the plan: was 600, is 560`},
			"no part of what stands": {"reset -t orders:1 --to-stored", func(w *world) { w.save("billing", "orders", 550, 700) }, ""},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).topic("other", [2]int64{0, 10})
				w.commit("billing", "orders", 800, 800).save("billing", "orders", 600, 700).commit("other", "orders", 600, 700)
				args := append(strings.Fields(c.args), "-g", "billing", "-s", w.store)
				if c.args == "reset -t orders --from-group other" {
					args = append(args, "--committed")
				}
				plan := w.document(w.run(append(args, "--dry-run", "-o", "json")...).exits(0).out)
				w.person("y\n", func() { c.moves(w) })
				r := w.run(args...)
				if c.says == "" {
					r.exits(0)
					return
				}
				r.exits(4).says(c.says, "nothing was written")
				w.run("import", plan, "--execute").exits(4).says(c.says, "nothing was written") // of the same plan, kept
				same(t, "files", len(w.backups()), 0)
			})
		}
	})
	t.Run("what is written otherwise than asked is told", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 100, 100)
		w.person("y\n", func() {
			w.grow("orders", [2]int64{600, 900}, [2]int64{500, 900})
			must(t, w.b.AddPartitions("orders", 3))
		})
		w.run("reset", "-g", "billing", "-t", "orders", "--to-earliest").exits(0).prints("2 of 2 verified").
			says("earliest has moved on since the plan, and is written as it is now: orders:0 (orders 0: 600, not 500)", "new since the plan, and not in it: orders:2; run the same command again to plan from there")
	})
	t.Run("the cluster is another", func(t *testing.T) {
		t.Parallel()
		w := low(t)
		var elsewhere atomic.Bool
		w.b.Rewrite(kmsg.Metadata.Int16(), func(_ int32, r kmsg.Response) bool {
			if elsewhere.Load() {
				r.(*kmsg.MetadataResponse).ClusterID = kmsg.StringPtr("other")
			}
			return true
		})
		w.person("y\n", func() { elsewhere.Store(true) })
		w.run("clamp", "-g", "billing").exits(4).says("the cluster was kfake and is other now", "nothing was written")
		same(t, "writes", w.writes(), 0)
	})
	// The last look at the commits comes when all else is done.
	t.Run("a commit while the ends are measured", func(t *testing.T) {
		t.Parallel()
		meanwhile := func(w *world, commit func()) {
			var asked, once atomic.Bool
			w.b.Rewrite(kmsg.ListOffsets.Int16(), func(int32, kmsg.Response) bool {
				if asked.Load() && once.CompareAndSwap(false, true) {
					commit()
				}
				return true
			})
			w.person("y\n", func() { asked.Store(true) })
		}
		for name, args := range map[string]string{"clamp": "clamp -g billing", "delete": "delete -g billing --whole-group", "delete more": "delete -g billing --whole-group"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := low(t).topic("other", [2]int64{0, 10})
				meanwhile(w, func() {
					if name == "delete more" {
						w.commit("billing", "other", 7)
					} else {
						w.commit("billing", "orders", 300)
					}
				})
				w.run(strings.Fields(args)...).exits(4).says("moved since the plan", "nothing was written")
				same(t, "files", len(w.backups()), 0)
			})
		}
		t.Run("what decided", func(t *testing.T) {
			t.Parallel()
			for _, side := range []string{"committed", "stored"} {
				w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 800).save("billing", "orders", 600)
				moves, other := func() { w.commit("billing", "orders", 860) }, "--stored"
				if side == "stored" {
					moves, other = func() { w.save("billing", "orders", 550) }, "--committed"
				}
				meanwhile(w, moves)
				w.run("reset", "-g", "billing", "-t", "orders", "--to-"+side, other, "-s", w.store).exits(4).says("the "+side+" offset that decided has moved since the plan", "nothing was written")
				same(t, "files", len(w.backups()), 0)
			}
			for _, side := range []string{"--committed", "--stored"} {
				w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 800).save("billing", "orders", 600).commit("other", "orders", 700)
				meanwhile(w, func() { w.commit("other", "orders", 560) })
				w.run("reset", "-g", "billing", "-t", "orders", "--from-group", "other", side, "-s", w.store).exits(4).
					says(`the offset of group "other" that decided has moved since the plan: was 700, is 560`, "nothing was written", "hint: gtoffset describe -g billing -g other ")
				same(t, "files", len(w.backups()), 0)
			}
		})
		t.Run("nothing decided, as there is no store", func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{500, 900})
			w.run("clamp", "-g", "new", "-t", "orders", "--create", "--execute").exits(0)
			plan := w.run("clamp", "-g", "newer", "-t", "orders", "--create", "--dry-run", "-o", "json").exits(0).never(`"beside"`).out
			w.vars["GTOFFSET_STORE"] = w.store
			w.save("newer", "orders", 600)
			w.run("import", w.document(strings.Replace(plan, `"target":`, `"beside":null,"target":`, 1)), "--create", "--execute").exits(4).says("was none, is 600")
			w.run("import", w.document(plan), "--create", "--execute").exits(0)
			delete(w.vars, "GTOFFSET_STORE")
			w.forget("newer")
			w.run("import", w.document(strings.Replace(plan, `"target":`, `"beside":null,"target":`, 1)), "--create", "--execute").exits(0)
		})
		t.Run("--partial", func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 100, 200)
			meanwhile(w, func() { w.commit("billing", "orders", none, 300) })
			r := w.run("clamp", "-g", "billing", "--partial").exits(3).prints("1 of 1 verified").says("left out: orders 1")
			same(t, "committed", w.committed("billing", "orders"), "0=500 1=300")
			w.run(r.undo()...).exits(0)
			same(t, "undone", w.committed("billing", "orders"), "0=100 1=300")
		})
	})
	t.Run("an open transaction is going to commit", func(t *testing.T) {
		t.Parallel()
		for name, from := range map[string]int32{"before the plan": 1, "after the plan": 2, "behind the backup": 3, "before it is sent": 4} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := low(t)
				looks := w.pending("billing", from, 0)
				r := w.run("clamp", "-g", "billing", "--execute").exits(4).says("orders 0: ", "an open transaction is going to commit it", "nothing was written")
				same(t, "writes", w.writes(), 0)
				if looks() != from {
					t.Errorf("%d looks, and not %d\n%v", looks(), from, r)
				}
			})
		}
		t.Run("is told", func(t *testing.T) {
			t.Parallel()
			w := low(t)
			w.pending("billing", 1, 0)
			w.run("describe", "-g", "billing").exits(0).prints("committed pending: an open transaction is going to commit it; committed low: 400 expired",
				"A restart from the commits   loses 0, reads 300", "1 partition could not be counted", "hint: a transaction ends within its producer's transaction.timeout.ms; which it is: gtoffset history -g billing")
			w.run("wait", "-g", "billing", "--lag", "1000", "--for", "0").exits(10).says("orders 0: an open transaction is going to commit it", "hint: --for 30m waits longer")
			w.run("describe", "-g", "billing", "-o", "json").exits(0).prints(`"offset":100,"condition":"low"`, `"pending":true`)
			w.run("clamp", "-g", "billing", "--dry-run").exits(4)
			w.run("delete", "-g", "billing", "--whole-group", "--dry-run").exits(4).says("transaction")
			w.run("reset", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--to-earliest", "--dry-run").exits(0)
		})
	})
	t.Run("a right was taken away", func(t *testing.T) {
		t.Parallel()
		w := low(t)
		looks := 0
		w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool {
			if looks++; looks > 1 {
				ps := r.(*kmsg.OffsetFetchResponse).Groups[0].Topics[0].Partitions
				for i := range ps {
					ps[i].ErrorCode, ps[i].Offset = kerr.TopicAuthorizationFailed.Code, -1
				}
			}
			return true
		})
		w.run("clamp", "-g", "billing", "--execute").exits(4).says("nothing was written", "hint: kafka-acls.sh --bootstrap-server ", "--operation Describe --topic orders")
	})
	t.Run("what was to be left in the file went", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 9}).put("billing", "orders", "0 5\n7 5\n")
		w.person("y\n", func() { w.put("billing", "orders", "7 5\n") })
		w.run("clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--gone", "remove").exits(4).says("orders 7", "nothing was written")
		same(t, "file", w.file("billing", "orders"), "7 5\n")
		same(t, "backups", len(w.backups()), 0)
	})
	t.Run("a commit before it is sent", func(t *testing.T) {
		t.Parallel()
		for _, args := range []string{"clamp -g billing", "delete -g billing -t orders", "delete -g billing --whole-group"} {
			t.Run(args, func(t *testing.T) {
				t.Parallel()
				w := low(t)
				w.behind(kmsg.OffsetFetch, 3, "billing", 300, "")
				w.run(append(strings.Fields(args), "--execute")...).exits(4).says("moved since the plan: was 100, is 300", "nothing was written", "run the same command again")
				same(t, "files", len(w.backups()), 0)
				same(t, "committed", w.committed("billing", "orders"), "0=300 1=600")
			})
		}
		t.Run("the same with other metadata, which the backup has not", func(t *testing.T) {
			t.Parallel()
			for look := range int32(2) { // behind the fresh look, and behind the last read
				w := low(t)
				w.behind(kmsg.OffsetFetch, 2+look, "billing", 100, "theirs")
				w.run("clamp", "-g", "billing", "--execute").exits(4).says("orders 0: its metadata has changed since the plan", "nothing was written")
				same(t, "files", len(w.backups()), 0)
				w.run("export", "-g", "billing", "--committed", "-o", "json").exits(0).prints("theirs")
			}
		})
		t.Run("of the second group", func(t *testing.T) {
			t.Parallel()
			for _, args := range []string{"clamp -g billing -g other", "delete -g billing -g other --whole-group"} {
				w := low(t).commit("other", "orders", 50, 60)
				w.behind(kmsg.OffsetFetch, 4, "other", 300, "") // the first group is about to be written
				r := w.run(append(strings.Fields(args), "--execute")...).exits(3).says("moved since the plan: was 50, is 300")
				bare := low(t).commit("other", "orders", 50, 60)
				bare.behind(kmsg.OffsetFetch, 4, "other", 300, "")
				bare.run(append(strings.Fields(args), "--execute", "--no-backup")...).exits(3).prints("there is no undo").never("\nundo")
				same(t, "committed", w.committed("other", "orders"), "0=300 1=60")
				w.commit("other", "orders", 500, 500) // where it would have been put: by its job
				w.run(r.undo()...).exits(0)
				same(t, "undone", w.committed("billing", "orders")+" | "+w.committed("other", "orders"), "0=100 1=600 | 0=500 1=500")
			}
		})
		t.Run("while the coordinator moves", func(t *testing.T) {
			t.Parallel()
			w := low(t)
			w.b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.NotCoordinator, Count: 1})
			w.behind(kmsg.OffsetCommit, 1, "billing", 300, "")
			// The broker may have done it, and then somebody else: the backup has what stood before, and no undo takes theirs back.
			w.run("clamp", "-g", "billing", "--execute").exits(3).prints("orders 0 unknown: moved since the plan: was 100, is 300; read back 300: something else").never("nothing was written", "\nundo")
			same(t, "committed", w.committed("billing", "orders"), "0=300 1=600")
			same(t, "files", len(w.backups()), 2)
		})
	})
	t.Run("what is only pending", func(t *testing.T) {
		t.Parallel()
		w := low(t).topic("other", [2]int64{0, 10})
		var looks atomic.Int32
		w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool { // as Kafka: told of partitions that are named
			if looks.Add(1) <= 3 {
				return true // it begins behind the last look
			}
			for _, topic := range r.(*kmsg.OffsetFetchResponse).Groups[0].Topics {
				for i := range topic.Partitions {
					if p := &topic.Partitions[i]; p.Offset == -1 {
						p.ErrorCode = kerr.UnstableOffsetCommit.Code
					}
				}
			}
			return true
		})
		w.run("delete", "-g", "billing", "--whole-group", "--execute").exits(4).says("orders 0: the group is not deleted: other 0: an open transaction is going to commit it", "nothing was written", "which it is: gtoffset history -g billing")
		w.memberless("bare", "orders")
		looks.Store(0)
		w.run("delete", "-g", "bare", "--whole-group", "--execute").exits(4).says(`group "bare": orders 0: an open transaction is going to commit it`, "nothing was written", "which it is: gtoffset history -g bare")
		w.run("reset", "-g", "billing", "-t", "other", "--to-earliest", "--execute").exits(4).says("other 0", "an open transaction is going to commit it", "nothing was written")
		same(t, "writes", w.writes(), 0)
	})
	t.Run("under --execute", func(t *testing.T) {
		t.Parallel()
		w := low(t)
		fetches := 0
		w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool {
			if fetches++; fetches == 1 {
				go w.b.Commit("billing", "orders", 0, 300, -1, "") // answered before the next look is over, or refused by it
				_, _ = w.b.Fake.WaitGroupInfo(t.Context(), "billing", func(g *kfake.GroupInfo) bool { return g.Commits["orders"][0].Offset == 300 })
			}
			return true
		})
		p := w.run("clamp", "-g", "billing", "--execute", "-o", "json").exits(4).says("moved since the plan: was 100, is 300").plan()
		same(t, "plan", words(p.Applied, p.Counts.Refuse), "false 1")
		same(t, "committed", w.committed("billing", "orders"), "0=300 1=600")
	})
}

// behind lets another commit for partition 0 of a group before the nth of such requests is answered.
func (w *world) behind(kind kmsg.Key, n int32, group string, offset int64, metadata string) {
	w.behindOf(kind, n, group, 0, offset, metadata)
}

// behindOf does so for any partition.
func (w *world) behindOf(kind kmsg.Key, n int32, group string, partition int32, offset int64, metadata string) {
	var asked atomic.Int32
	w.b.Rewrite(kind.Int16(), func(_ int32, r kmsg.Response) bool {
		if asked.Add(1) == n {
			go w.b.Commit(group, "orders", partition, offset, -1, metadata)
			_, _ = w.b.Fake.WaitGroupInfo(w.t.Context(), group, func(g *kfake.GroupInfo) bool {
				c := g.Commits["orders"][partition]
				return c.Offset == offset && c.Metadata == metadata
			})
		}
		return true
	})
}

// pending has an open transaction that is going to commit for a partition of a group, from that look on; it returns how many there were. As in
// Kafka a first commit is told of only where its partition is named.
func (w *world) pending(group string, from, partition int32) (looks func() int32) {
	var n atomic.Int32
	var stable atomic.Bool
	w.b.Fake.ControlKey(kmsg.OffsetFetch.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
		w.b.Fake.KeepControl()
		r := q.(*kmsg.OffsetFetchRequest)
		stable.Store(r.RequireStable && slices.ContainsFunc(r.Groups, func(g kmsg.OffsetFetchRequestGroup) bool { return g.Group == group }))
		if stable.Load() {
			n.Add(1)
		}
		return nil, nil, false
	})
	w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool {
		for _, g := range r.(*kmsg.OffsetFetchResponse).Groups {
			for _, topic := range g.Topics {
				for i := range topic.Partitions { // in any order
					if p := &topic.Partitions[i]; stable.Load() && n.Load() >= from && g.Group == group && p.Partition == partition {
						p.ErrorCode, p.Offset = kerr.UnstableOffsetCommit.Code, -1
					}
				}
			}
		}
		return true
	})
	return n.Load
}

// A save that was our own says nothing of the job; one after it does.
func TestOwnSaveIsNotTheJobs(t *testing.T) {
	t.Parallel()
	const note = "the job may be running; --idle 30s on the write watches it"
	w := start(t).topic("orders", [2]int64{500, 900})
	saved := func(at time.Time, offset int) {
		w.put("billing", "orders", fmt.Sprintf("# gtoffset 1\n# saved %s\n0 %d\n# entries 1\n", at.Format("2006-01-02T15:04:05.000Z"), offset))
	}
	saved(w.now.Add(-30*time.Second), 100)
	for _, more := range [][]string{nil, {"--no-backup"}} {
		reset := []string{"reset", "-g", "billing", "-t", "orders", "-s", w.store, "--stored"}
		w.run(append(reset, "--to-latest", "--dry-run")...).exits(0).prints(note)
		w.run(append(append(reset, "--to-earliest", "--execute"), more...)...).exits(0).prints(note, "1 of 1 verified")
		w.run(append(reset, "--to-latest", "--dry-run")...).exits(0).never(note)
		w.now = w.now.Add(time.Minute)
		w.run(append(reset, "--to-latest", "--dry-run")...).exits(0).never(note)
		w.run(append(reset, "--to-latest", "--dry-run", "--backup-dir", t.TempDir())...).exits(0).prints(note) // who knows whose it was
		saved(w.now.Add(-10*time.Second), 600)
		w.run(append(reset, "--to-latest", "--dry-run")...).exits(0).prints(note)
	}
}

// A run that is refused, whenever that is, leaves no folder and no lock in a store that had nothing of the group.
func TestRefusedLeavesNoPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		code  int
		moves func(w *world)
	}{
		{"planned so", 4, nil},
		{"the group became active", 4, func(w *world) { _, err := w.b.Join("billing", true, "orders"); must(w.t, err) }},
		{"the topic went away", 4, func(w *world) { w.hide("orders", 0) }},
		{"the target is out of range", 4, func(w *world) { w.grow("orders", [2]int64{700, 900}) }},
		{"declined", 1, func(*world) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
			args := []string{"clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--committed", "--missing", "other"}
			answer := "y\n"
			switch {
			case c.moves == nil:
				args = args[:len(args)-2]
			case c.code == 1:
				answer = "n\n"
			}
			w.person(answer, func() { c.moves(w) })
			w.run(args...).exits(c.code).says("nothing was written")
			left, err := filepath.Glob(filepath.Join(w.store, "*"))
			must(t, err)
			same(t, "left in the store", strings.Join(left, " "), "")
		})
	}
}

// The line that undoes a write brings back the state of before.
func TestUndo(t *testing.T) {
	t.Parallel()
	t.Run("commits with and without metadata, and none", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900})
		w.commit("billing", "orders", 100, 600, none, 2000)
		must(t, w.b.Commit("billing", "orders", 1, 90, -1, "checkpoint=17 \"x\"\n"))
		r := w.run("clamp", "-g", "billing", "-t", "orders", "--high", "end", "--execute").exits(0).prints("4 of 4 verified")
		same(t, "clamped", w.committed("billing", "orders"), "0=500 1=500 2=500 3=900")
		undo := w.run(r.undo()...).exits(0).prints("4 of 4 verified", "there was none before", "removed")
		same(t, "undone", w.committed("billing", "orders"), "0=100 1=90 3=2000")
		for p, want := range map[int32]string{0: "", 1: "checkpoint=17 \"x\"\n", 3: ""} {
			c, _ := w.b.Committed("billing", "orders", p)
			same(t, "metadata", c.Metadata, want)
		}
		// Twice is once.
		w.run(r.undo()...).exits(0).prints("Nothing to do")
		// And it can be undone itself.
		w.run(undo.undo()...).exits(0).prints("4 of 4 verified")
		same(t, "redone", w.committed("billing", "orders"), "0=500 1=500 2=500 3=900")
	})
	t.Run("both sides, the store by its name", func(t *testing.T) {
		t.Parallel()
		w := low(t).topic("other", [2]int64{7, 9})
		r := w.run("clamp", "-g", "billing", "-s", w.store, "-t", "orders", "-t", "other", "--stored", "--committed", "--execute").exits(0).prints("4 of 4 verified")
		same(t, "both", w.committed("billing", "orders")+" "+w.stored("billing", "orders")+" "+w.committed("billing", "other")+" "+w.stored("billing", "other"), "0=500 1=600 0=500 1=700 0=7 0=7")
		delete(w.vars, "GTOFFSET_BOOTSTRAP_SERVER")
		w.run(r.undo()...).exits(0).prints("4 of 4 verified")
		same(t, "both", w.committed("billing", "orders")+" "+w.stored("billing", "orders")+" "+w.committed("billing", "other")+" "+w.stored("billing", "other"), "0=100 1=600 0=200 1=700  ")
		same(t, "bare file", w.file("billing", "orders"), "0 200\n1 700\n")
	})
	t.Run("another cluster's entries are still another cluster's", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900})
		w.saveAs("billing", "orders", "", "of-another-house", 100)
		r := w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--other-cluster", "--execute").exits(0)
		w.run(r.undo()...).exits(0)
		same(t, "stored", w.stored("billing", "orders"), "0=100")
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(4).says("of-another-house")
	})
	for _, choice := range []string{"earliest", "end", "keep"} {
		t.Run("a recreated topic is still a recreated topic, "+choice, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{0, 500})
			w.saveAs("billing", "orders", w.b.TopicID("orders"), "", 100)
			must(t, w.b.Recreate("orders"))
			w.grow("orders", [2]int64{0, 500})
			clamp := []string{"clamp", "-g", "billing", "-s", w.store, "--stored", "--execute"}
			r := w.run(append(clamp, "--recreated", choice)...).exits(0).prints("1 of 1 verified")
			w.run(clamp...).exits(0)
			w.run(r.undo()...).exits(0).prints("1 of 1 verified")
			same(t, "stored", w.stored("billing", "orders"), "0=100")
			w.run(clamp...).exits(4).says("recreated")
			w.run(r.undo()...).exits(0).prints("Nothing to do")
		})
	}
}

func TestPartialWithBrokersMissingFromTheList(t *testing.T) {
	t.Parallel()
	w := startWith(t, kafkatest.Options{}).topic("orders", [2]int64{500, 900})
	reachable := 0
	for i := range 30 {
		g := fmt.Sprint("g", i)
		w.commit(g, "orders", 100)
		if w.b.Fake.CoordinatorFor(g) != 2 {
			reachable++
		}
	}
	w.b.Kill(2)
	w.run("clamp", "--all-groups", "--execute").exits(5).says("broker 2", "nothing was written")
	w.run("clamp", "--all-groups", "--dry-run").exits(5)
	p := w.run("clamp", "--all-groups", "--partial", "--execute", "-o", "json").exits(3).says("broker 2").plan()
	same(t, "verified", p.Counts.Verified, reachable)
	w.run("describe").exits(3).says("broker 2")
	w.run("describe", "--all-groups").exits(3).says("broker 2")
}

// A job that assigns by hand never shows as a member: each plan that writes commits of such a group says so, unless it is watched.
func TestPlanOfASimpleGroup(t *testing.T) {
	t.Parallel()
	const note = "a simple group: its job assigns partitions by hand"
	for name, args := range map[string][]string{
		"clamp":  {"clamp", "-g", "billing"},
		"reset":  {"reset", "-g", "billing", "-t", "orders", "--to-earliest"},
		"import": {"import", "-", "-g", "billing"},
		"delete": {"delete", "-g", "billing", "-t", "orders"},
		"whole":  {"delete", "-g", "billing", "--whole-group"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 100)
			run := func(more ...string) result {
				return w.stdin("orders,0,700\n").run(append(append(args[:len(args):len(args)], "--dry-run"), more...)...).exits(0)
			}
			run().prints("note: "+note, "--idle 30s")
			notes := run("-o", "json", "-q").plan().Groups[0].Notes
			same(t, "notes", strings.Count(strings.Join(notes, "\n"), note), 1)
			run("--idle", "2ms").never(note)
			w.classic(func(g *kmsg.DescribeGroupsResponseGroup) { g.ProtocolType = "consumer" })
			run().never(note)
		})
	}
	t.Run("a plan says it once", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 100).save("billing", "orders", 100)
		plan := w.document(w.run("clamp", "-g", "billing", "--committed", "--dry-run", "-o", "json").exits(0).out)
		r := w.run("import", plan, "--dry-run").exits(0).prints(note)
		same(t, "times", strings.Count(r.out, note), 1)
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--dry-run").exits(0).never(note)
	})
}

// What is uncertain of several partitions for one reason is said once.
func TestDoubtIsSaidOnce(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 100, 600, 200)
	w.b.Rewrite(kmsg.OffsetCommit.Int16(), func(int32, kmsg.Response) bool { return false })
	r := w.run("clamp", "-g", "billing", "--execute").exits(0).prints("2 of 2 verified").says("gtoffset: orders 0,2: ")
	same(t, "notes", strings.Count(r.err, "gtoffset: "), 1)
}
