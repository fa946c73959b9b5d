package cmd_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gtoffset/offsetfile"
	"gtoffset/scripts/needs"
)

// Every case of FRD: what a file can be other than whole.
func TestFileReadCases(t *testing.T) {
	t.Parallel()
	good := "# gtoffset 1\n# group billing\n# topic orders\n0 100\n1 600\n# entries 2\n"
	damaged := []struct {
		name, content string
		says          []string
		salvage       string // what is left, "" for nothing
		lost          bool   // that nothing at all can be salvaged
	}{
		{name: "FRD-1 no bytes", content: "", says: []string{"empty", "0 bytes"}, salvage: ""},
		{name: "FRD-2 NUL bytes only", content: strings.Repeat("\x00", 116), says: []string{"NUL bytes", "crash before sync"}, salvage: ""},
		{name: "FRD-2 NUL bytes at the end", content: "0 600\n1 700\n2 80" + strings.Repeat("\x00", 60), says: []string{"NUL bytes"}, salvage: "0=600 1=700"},
		{name: "FRD-7 one bad line", content: twenty("7 banana"), says: []string{"line 8", "partition 7", "banana"}, salvage: "all but 7"},
		{name: "FRD-7 a partition again", content: "0 600\n1 700\n0 650\n", says: []string{"line 3", "partition 0 again, first in line 1"}, salvage: "1=700"},
		{name: "cut number", content: "0 600\n1 7", says: []string{"line 2", "cut off"}, salvage: "0=600"},
		{name: "cut entries", content: "# gtoffset 1\n0 600\n1 700\n", says: []string{"entries", "cut off"}, salvage: "0=600 1=700"},
		{name: "wrong count", content: "# gtoffset 1\n0 600\n# entries 2\n", says: []string{"line 3", "2", "1"}, salvage: "0=600"},
		{name: "negative", content: "0 600\n1 -1\n", says: []string{"line 2", "-1"}, salvage: "0=600"},
		{name: "FMT-12 an engine's marker", content: "0 -915623761775\n1 700\n", says: []string{"line 1", "-915623761775", "Flink", "earliest"}, salvage: "1=700"},
		{name: "too large a number", content: "0 9223372036854775808\n1 700\n", says: []string{"line 1", "9223372036854775808"}, salvage: "1=700"},
		{name: "another group's file", content: strings.Replace(good, "billing", "shipping", 1), says: []string{"shipping", "billing"}, lost: true},
		{name: "version 2", content: "# gtoffset 2\n0 600\n# entries 1\n", says: []string{"version", "2"}, lost: true},
	}
	for _, c := range damaged {
		for _, committed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s commit %v", c.name, committed), func(t *testing.T) {
				t.Parallel()
				w := start(t)
				var ranges [][2]int64
				for range 20 {
					ranges = append(ranges, [2]int64{500, 900})
				}
				w.topic("orders", ranges...).put("billing", "orders", c.content).topic("other", [2]int64{0, 9}).commit("billing", "other", 3)
				if committed {
					w.commit("billing", "orders", 500)
				}
				r := w.run("describe", "-g", "billing", "-s", w.store, "-t", "orders").exits(3).prints("note: stored of orders: ").prints(c.says...)
				r.prints(w.path("billing", "orders"))
				line := "orders 0 500 - - 900 - -"
				if committed {
					line = "orders 0 500 - 500 900 400 -"
				}
				if got := r.line("orders", 0); !strings.HasPrefix(got, line+" ") {
					t.Errorf("line = %q, want it to begin with %q", got, line)
				}
				row := w.run("describe", "-g", "billing", "-s", w.store, "-o", "json").exits(3).describe().row(t, "orders", 0)
				same(t, "row", words(row.Stored.Offset, row.Stored.Condition, row.Stored.Lag, row.OK), "null unknown null false")

				clamp := []string{"clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored"}
				for _, more := range [][]string{{"--execute"}, {"--dry-run"}, {"--execute", "--missing", "earliest"}, {"--execute", "--missing", "other", "--high", "end"}} {
					r := w.run(append(clamp, more...)...).exits(4).says("nothing was written").never("first run")
					if !c.lost {
						r.says("--salvage")
					}
				}
				same(t, "file", w.file("billing", "orders"), c.content)
				if c.lost {
					w.run(append(clamp, "--salvage", "--execute", "--missing", "earliest")...).exits(4)
					same(t, "file", w.file("billing", "orders"), c.content)
					return
				}
				r = w.run(append(clamp, "--salvage", "--execute", "--missing", "earliest")...).exits(0).prints("salvaged", "verified")
				undo := slices.DeleteFunc(r.undo(), func(word string) bool { return word == "--execute" })
				w.run(append(undo, "--dry-run")...).exits(0).prints("before that write", "damaged: what could not be read of it does not come back")
				got := w.stored("billing", "orders")
				switch c.salvage {
				case "all but 7":
					for p := range 20 {
						want := fmt.Sprintf("%d=%d", p, 600+p)
						if p == 7 {
							want = "7=500"
						}
						same(t, "entry", strings.Fields(got)[p], want)
					}
				default:
					for _, entry := range strings.Fields(c.salvage) {
						if !strings.Contains(" "+got+" ", " "+entry+" ") {
							t.Errorf("stored = %q lacks %s\n%v", got, entry, r)
						}
					}
				}
				if n := len(strings.Fields(got)); n != 20 {
					t.Errorf("%d entries: %q", n, got)
				}
				w.run("describe", "-g", "billing", "-s", w.store, "-t", "orders").exits(0)
			})
		}
	}
	t.Run("FRD-7 lost entries have to be decided", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900}).put("billing", "orders", "0 600\n1 x\n2 700\n").commit("billing", "orders", 600, 650, 700)
		clamp := []string{"clamp", "-g", "billing", "-s", w.store, "--stored", "--salvage", "--execute"}
		w.run(clamp...).exits(4).says("orders 1: no entry, but committed is 650", "--missing other").prints("salvaged 2 entries", "lost partition 1")
		same(t, "file", w.file("billing", "orders"), "0 600\n1 x\n2 700\n")
		w.run(append(clamp, "--missing", "other")...).exits(0)
		same(t, "stored", w.stored("billing", "orders"), "0=600 1=650 2=700")
	})
	t.Run("FRD-7 without a commit", func(t *testing.T) {
		t.Parallel()
		const content = "0 600\n1 x\xff\n2 700\n"
		w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900}).put("billing", "orders", content)
		clamp := []string{"clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--salvage", "--execute"}
		for _, side := range []string{"--stored", "--committed"} {
			w.run(append(clamp, side)...).exits(4).never(": first run", "mean -g billing").says("orders 1,3: no commit, and no entry in what could be salvaged", "--missing earliest")
		}
		same(t, "file", w.file("billing", "orders"), content)
		r := w.run(append(clamp, "--missing", "earliest", "-o", "json")...).exits(0).never("first run")
		same(t, "stored", w.stored("billing", "orders"), "0=600 1=500 2=700 3=500")
		backup, err := os.ReadFile(*r.plan().Backup)
		if err != nil {
			t.Fatal(err)
		}
		if want := `"damaged":[{"path":"` + w.path("billing", "orders") + `","content":"0 600\n1 x\ufffd\n2 700\n","content_base64":"` + base64.StdEncoding.EncodeToString([]byte(content)) + `"}]`; !strings.Contains(string(backup), want) {
			t.Errorf("the backup lacks %s\n%s", want, backup)
		}
		w.run("import", *r.plan().Backup, "--execute").exits(0)
		same(t, "stored", w.stored("billing", "orders"), "0=600 2=700")
	})
	for name, put := range map[string]func(path string) error{
		"another group's file": func(path string) error {
			return os.WriteFile(path, []byte(strings.Replace(good, "billing", "shipping", 1)), 0o600)
		},
		"another topic's file": func(path string) error {
			return os.WriteFile(path, []byte(strings.Replace(good, "orders", "payments", 1)), 0o600)
		},
		"a pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run("what is no entry is said once, and goes out of the way: "+name, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).commit("billing", "orders", 600, 600).save("billing", "orders", 1, 1)
			path := w.path("billing", "orders")
			must(t, os.Remove(path))
			must(t, put(path))
			move := "mv " + path + " " + path + ".aside"
			w.run("describe", "-g", "billing", "-s", w.store).exits(3).prints("hint: " + move).never("--salvage")
			for _, more := range [][]string{nil, {"--salvage", "--missing", "other"}} {
				r := w.run(append([]string{"clamp", "-g", "billing", "-s", w.store, "--stored", "--execute"}, more...)...).exits(4)
				r.says("orders 0-1: of the wrong kind", "nothing was written", "hint: "+move)
				same(t, "times", strings.Count(r.err, "of the wrong kind"), 1)
			}
			must(t, exec.Command("sh", "-c", move).Run())
			w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute", "--missing", "other").exits(0)
			same(t, "stored", w.stored("billing", "orders"), "0=600 1=600")
		})
	}
	t.Run("FRD-5 temporary files and checksums", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).save("billing", "orders", 100)
		folder := filepath.Dir(w.path("billing", "orders"))
		for _, name := range []string{"orders.tmp", "gtoffset.tmp", ".gtoffset.crc", ".gtoffset.tmp-123"} {
			must(t, os.WriteFile(filepath.Join(folder, name), []byte("0 89"), 0o644))
		}
		for _, args := range [][]string{{"describe", "-g", "billing", "-s", w.store}, {"clamp", "-g", "billing", "-s", w.store, "--stored", "--dry-run"}} {
			r := w.run(args...).exits(0).prints("ignored in "+folder, "orders.tmp", ".gtoffset.crc", "100")
			same(t, "mentioned", strings.Count(r.out, "ignored in"), 1)
		}
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(0)
		same(t, "stored", w.stored("billing", "orders"), "0=500")
	})
	t.Run("FRD-9 a file that is gone", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 900}).commit("billing", "orders", 500)
		r := w.run("describe", "-g", "billing", "-s", w.store).exits(0).prints("no entry in the store")
		same(t, "line", r.line("orders", 0), "orders 0 0 - 500 900 400 - no entry in the store")
		w.run("describe", "-g", "billing", "-s", w.store, "--check").exits(10)
		clamp := []string{"clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored"}
		w.run(append(clamp, "--execute")...).exits(4).says("committed is 500", "not a first run", "--missing other, or --missing earliest")
		same(t, "file", w.file("billing", "orders"), "")
		w.run(append(clamp, "--missing", "other", "--execute")...).exits(0)
		same(t, "stored", w.stored("billing", "orders"), "0=500")
		must(t, os.Remove(w.path("billing", "orders")))
		w.run(append(clamp, "--missing", "earliest", "--execute")...).exits(0).prints("committed is 500")
		same(t, "stored", w.stored("billing", "orders"), "0=0")
	})
	t.Run("FRD-11 a folder", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 900}).commit("billing", "orders", 500)
		must(t, os.MkdirAll(w.path("billing", "orders"), 0o700))
		w.run("describe", "-g", "billing", "-s", w.store).exits(3).prints("a folder, not a file")
		w.run("clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--missing", "earliest", "--salvage", "--execute").exits(4).says("a folder, not a file")
		fi, err := os.Stat(w.path("billing", "orders"))
		must(t, err)
		same(t, "mode", fi.Mode().Perm(), 0o700)
	})
	t.Run("FRD-11 mode 000", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 900}).commit("billing", "orders", 500).save("billing", "orders", 100)
		must(t, os.Chmod(w.path("billing", "orders"), 0))
		run := w.unprivileged(w.store, w.state)
		must(t, os.Chmod(w.state, 0o777))
		run("describe", "-g", "billing", "-s", w.store).exits(3).prints("permission denied", w.path("billing", "orders"))
		run("clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--missing", "earliest", "--salvage", "--execute").exits(4).says("permission denied", "nothing was written", "hint: run it as the user of the job")
		fi, err := os.Stat(w.path("billing", "orders"))
		must(t, err)
		same(t, "mode", fi.Mode().Perm(), 0)
	})
	t.Run("FRD-11 a folder that is only read", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).save("billing", "orders", 100)
		folder := filepath.Dir(w.path("billing", "orders"))
		run := w.unprivileged(w.store, w.state)
		must(t, os.Chmod(w.state, 0o777))
		must(t, os.Chmod(w.path("billing", "orders"), 0o644))
		must(t, os.Chmod(folder, 0o555))
		clamp := func(hindrance string) {
			r := run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(1)
			r.says(hindrance, folder, "permission denied; nothing was written", "hint: run it as the user of the job").never(".tmp-")
			same(t, "stored", w.stored("billing", "orders"), "0=100")
		}
		clamp("make the lock file")
		must(t, os.Chmod(folder, 0o755))
		must(t, w.lock("billing", "orders").Unlock())
		must(t, os.Chmod(filepath.Join(folder, "gtoffset.lock"), 0o666))
		must(t, os.Chmod(folder, 0o555))
		clamp("create a temporary file")
		must(t, os.Chmod(folder, 0o755))
	})
	t.Run("what the store does not let be written leaves the commits as they are", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 100).save("billing", "orders", 100)
		folder := filepath.Dir(w.path("billing", "orders"))
		must(t, w.lock("billing", "orders").Unlock())
		must(t, os.Chmod(filepath.Join(folder, "gtoffset.lock"), 0o666))
		run := w.unprivileged(w.store, w.state)
		must(t, os.Chmod(w.state, 0o777))
		both := func(hindrance string) {
			t.Helper()
			r := run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute").exits(1)
			r.says(hindrance, "nothing was written", "hint: run it as the user of the job").never("gtoffset import")
			same(t, "stored and committed", w.stored("billing", "orders")+" "+w.committed("billing", "orders"), "0=100 0=100")
			same(t, "writes", w.writes(), 0)
			left, err := os.ReadDir(folder)
			must(t, err)
			same(t, "left in the folder", len(left), 2)
		}
		must(t, os.Chmod(folder, 0o555))
		both("create a temporary file in " + folder)
		must(t, os.Chmod(folder, 0o777))
		if os.Getuid() == 0 { // a file of another user's can be replaced by one of our own only
			must(t, os.Chmod(w.path("billing", "orders"), 0o644))
			both("keep the owner of " + w.path("billing", "orders"))
		}
	})
	t.Run("a right that is taken away at the last moment", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 100).save("billing", "orders", 100)
		w.step = func(step string) error {
			if step == offsetfile.StepCreate {
				return fs.ErrPermission
			}
			return nil
		}
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--committed", "--execute").exits(3).
			says("1 of 2 offsets not written as planned", "hint: run it as the user of the job to write what is left: gtoffset import "+w.state)
	})
	t.Run("a link to nowhere", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{0, 900})
		must(t, os.MkdirAll(filepath.Dir(w.path("billing", "orders")), 0o755))
		must(t, os.Symlink("/nowhere/gtoffset", w.path("billing", "orders")))
		w.run("clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--execute").exits(4).says("symbolic link").never("first run")
	})
	t.Run("one damaged topic does not hide the others", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}).topic("other", [2]int64{500, 900}).save("billing", "orders", 100).put("billing", "other", "")
		r := w.run("describe", "-g", "billing", "-s", w.store).exits(3)
		same(t, "orders", r.line("orders", 0), "orders 0 500 100 - 900 - 400 stored low: 400 expired; no committed offset (expired, removed or never committed)")
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute").exits(4)
		same(t, "stored", w.stored("billing", "orders"), "0=100")
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute", "--partial").exits(3)
		same(t, "stored", w.stored("billing", "orders"), "0=500")
		same(t, "other", w.file("billing", "other"), "")
	})
}

// twenty is a bare file of 20 partitions, one line of which is replaced.
func twenty(line string) string {
	var b strings.Builder
	for p := range 20 {
		if strings.HasPrefix(line, fmt.Sprintf("%d ", p)) {
			b.WriteString(line + "\n")
			continue
		}
		fmt.Fprintf(&b, "%d %d\n", p, 600+p)
	}
	return b.String()
}

// Every case of FWR: a file is replaced whole, or not at all.
func TestFileWriteCases(t *testing.T) {
	t.Parallel()
	old := "# gtoffset 1\n# group billing\n# topic orders\n# note kept\n0 100 mine=yes\n1 600\n# entries 2\n"
	prepare := func(t *testing.T) *world {
		return start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).put("billing", "orders", old)
	}
	clamp := func(w *world) []string {
		return []string{"clamp", "-g", "billing", "-s", w.store, "--stored", "--execute"}
	}
	// left lists what is in the folder of the file.
	left := func(t *testing.T, w *world) string {
		t.Helper()
		all, err := os.ReadDir(filepath.Dir(w.path("billing", "orders")))
		must(t, err)
		var names []string
		for _, e := range all {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	for _, step := range offsetfile.Steps() {
		t.Run("FWR-1 killed at "+step, func(t *testing.T) {
			t.Parallel()
			w := prepare(t)
			w.process(0, step, clamp(w)...).exits(-1)
			renamed := step == offsetfile.StepSyncFolder || step == offsetfile.StepDone
			if got := w.file("billing", "orders"); (got == old) == renamed || !strings.HasSuffix(got, "\n# entries 2\n") {
				t.Errorf("killed at %s: %q", step, got)
			}
			w.run(clamp(w)...).exits(0)
			same(t, "stored", w.stored("billing", "orders"), "0=500 1=600")
			same(t, "left", left(t, w), "gtoffset gtoffset.lock")
		})
		t.Run("FWR-2 no rename without a sync, at "+step, func(t *testing.T) {
			t.Parallel()
			if step != offsetfile.StepLock {
				return
			}
			w := prepare(t)
			var steps []string
			w.step = func(s string) error { steps = append(steps, s); return nil }
			w.run(clamp(w)...).exits(0)
			same(t, "steps", words(steps), words(offsetfile.Steps()))
		})
		t.Run("FWR-4 full disk at "+step, func(t *testing.T) {
			t.Parallel()
			w := prepare(t)
			w.step = func(s string) error {
				if s == step {
					return syscall.ENOSPC
				}
				return nil
			}
			r := w.run(clamp(w)...)
			switch step {
			case offsetfile.StepDone:
				r.exits(0)
			case offsetfile.StepSyncFolder:
				r.exits(0).says("in place, durability unknown", "no space left on device")
				same(t, "stored", w.stored("billing", "orders"), "0=500 1=600")
			default:
				r.exits(1).says("no space left on device")
				same(t, "file", w.file("billing", "orders"), old)
				if got := left(t, w); got != "gtoffset gtoffset.lock" && got != "gtoffset" {
					t.Errorf("left: %s", got)
				}
			}
		})
	}
	t.Run("FWR-5 owner and mode stay", func(t *testing.T) {
		t.Parallel()
		w := prepare(t)
		must(t, os.Chmod(w.path("billing", "orders"), 0o640))
		if os.Getuid() == 0 {
			must(t, os.Chown(w.path("billing", "orders"), 1234, 4321))
		}
		w.run(clamp(w)...).exits(0)
		same(t, "file", strings.Contains(w.file("billing", "orders"), "# note kept\n"), true)
		same(t, "what a job added stays", strings.Contains(w.file("billing", "orders"), "mine=yes"), true)
		for _, name := range []string{w.path("billing", "orders"), w.path("billing", "orders") + ".lock"} {
			fi, err := os.Stat(name)
			must(t, err)
			same(t, "mode", fi.Mode().Perm(), 0o640)
			if st := fi.Sys().(*syscall.Stat_t); os.Getuid() == 0 {
				same(t, "owner", words(st.Uid, st.Gid), "1234 4321")
			}
		}
	})
	t.Run("FWR-5 links", func(t *testing.T) {
		t.Parallel()
		w := prepare(t)
		real := filepath.Join(w.t.TempDir(), "real")
		must(t, os.Rename(w.path("billing", "orders"), real))
		must(t, os.Symlink(real, w.path("billing", "orders")))
		w.run(clamp(w)...).exits(0)
		target, err := os.Readlink(w.path("billing", "orders"))
		same(t, "link", words(target, err), words(real, nil))
		same(t, "stored", w.stored("billing", "orders"), "0=500 1=600")
	})
	t.Run("FWR-7 it comes back empty", func(t *testing.T) {
		t.Parallel()
		w := prepare(t)
		w.step = func(step string) error {
			if step == offsetfile.StepDone {
				return os.Truncate(w.path("billing", "orders"), 0)
			}
			return nil
		}
		w.run(clamp(w)...).exits(3).prints("could not be read back: ", "0 bytes").says("1 of 1 offset written, but not verified: orders 0: could not be read back")
	})
	t.Run("FWR-7 no locks there", func(t *testing.T) {
		t.Parallel()
		w := prepare(t)
		w.wrap = []string{"strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=flock", "-e", "inject=flock:error=ENOLCK"}
		needs.Met(t, exec.Command("strace", "-qq", "-o", "/dev/null", "true").Run())
		w.process(0, "", clamp(w)...).exits(0).says("cannot be locked (no locks available): make sure that nothing else writes there").prints("1 of 1 verified")
		same(t, "stored", w.stored("billing", "orders"), "0=500 1=600")
	})
	t.Run("FWR-8 another writes", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			name   string
			at     string // step, or what the clock is read for
			p0, p1 int64
			code   int
			want   string
		}{
			{"another partition, before the last look", offsetfile.StepLock, 100, 700, 0, "0=500 1=700"},
			{"our partition, before the last look", offsetfile.StepLock, 200, 600, 4, "0=200 1=600"},
			{"to where we want it", offsetfile.StepLock, 500, 600, 0, "0=500 1=600"},
			{"after the last look", "backup", 100, 700, 4, "0=100 1=700"},
			{"during the write", offsetfile.StepSync, 100, 700, 4, "0=100 1=700"},
		} {
			w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).save("billing", "orders", 100, 600)
			ran := ""
			write := func(step string) {
				if step == c.at {
					w.save("billing", "orders", c.p0, c.p1)
				}
				ran = step
			}
			w.step = func(step string) error { write(step); return nil }
			looks := 0
			w.tick = func() {
				if ran == offsetfile.StepLock {
					if looks++; looks == 2 { // one for the look, one for the backup
						write("backup")
					}
				}
			}
			r := w.run(clamp(w)...)
			if r.code != c.code || w.stored("billing", "orders") != c.want {
				t.Errorf("%s: stored = %s with exit %d, want %s with %d\n%v", c.name, w.stored("billing", "orders"), r.code, c.want, c.code, r)
			}
			if c.code != 0 {
				r.says("nothing was written")
			}
		}
	})
	t.Run("FWR-8 locked", func(t *testing.T) {
		t.Parallel()
		w := prepare(t)
		held := w.lock("billing", "orders")
		w.run(clamp(w)...).exits(4).says("the nightly job", "nothing was written")
		w.run(append(clamp(w), "-o", "json")...).exits(4).failure()
		same(t, "file", w.file("billing", "orders"), old)
		must(t, held.Unlock())
		w.run(clamp(w)...).exits(0)
	})
	t.Run("something else in the place of the lock file", func(t *testing.T) {
		t.Parallel()
		for what, put := range map[string]func(path string) error{
			"a symbolic link": func(path string) error { return os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), path) },
			"a folder":        func(path string) error { return os.Mkdir(path, 0o700) },
			"a named pipe":    func(path string) error { return syscall.Mkfifo(path, 0o600) },
		} {
			w := prepare(t)
			lock := filepath.Join(filepath.Dir(w.path("billing", "orders")), "gtoffset.lock")
			must(t, put(lock))
			move := "mv " + lock + " " + lock + ".aside"
			w.run(clamp(w)...).exits(1).says(lock+" is "+what, "nothing was written", "hint: "+move)
			same(t, "file", w.file("billing", "orders"), old)
			must(t, exec.Command("sh", "-c", move).Run())
			w.run(clamp(w)...).exits(0)
		}
	})
	t.Run("FWR-10 the folder goes away", func(t *testing.T) {
		t.Parallel()
		for _, step := range []string{offsetfile.StepCreate, offsetfile.StepSync, offsetfile.StepRename} {
			w := prepare(t)
			w.step = func(s string) error {
				if s == step {
					return os.RemoveAll(filepath.Join(w.store, "billing"))
				}
				return nil
			}
			code := map[string]int{offsetfile.StepSync: 4}[step] // gone while the content is compared a last time: changed
			w.run(clamp(w)...).exits(max(code, 1)).says("nothing was written")
			if _, err := os.Stat(filepath.Join(w.store, "billing")); err == nil {
				t.Errorf("removed at %s, and there again", step)
			}
		}
	})
	t.Run("two topics on one path", func(t *testing.T) {
		t.Parallel()
		w := prepare(t).topic("other", [2]int64{500, 900}, [2]int64{500, 900})
		w.save("billing", "orders", 100, 600)
		must(t, os.MkdirAll(filepath.Dir(w.path("billing", "other")), 0o755))
		must(t, os.Symlink(w.path("billing", "orders"), w.path("billing", "other")))
		w.run(clamp(w)...).exits(4).says("share one file")
		same(t, "stored", w.stored("billing", "orders"), "0=100 1=600")
	})
	for name, link := range map[string]func(w *world) error{
		"folder": func(w *world) error { return os.Symlink("billing", filepath.Join(w.store, "shipping")) },
		"topic": func(w *world) error {
			return errors.Join(os.Mkdir(filepath.Join(w.store, "shipping"), 0o755), os.Symlink("../billing/orders", filepath.Join(w.store, "shipping", "orders")))
		},
		"file": func(w *world) error {
			return errors.Join(os.MkdirAll(filepath.Dir(w.path("shipping", "orders")), 0o755), os.Symlink(w.path("billing", "orders"), w.path("shipping", "orders")))
		},
	} {
		t.Run("two groups on one "+name, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{500, 900}).save("billing", "orders", 100)
			must(t, link(w))
			both := w.path("billing", "orders") + " and " + w.path("shipping", "orders") + " share one file"
			w.run("clamp", "-g", "billing", "-g", "shipping", "-s", w.store, "--stored", "--execute").exits(4).
				says(both, "nothing was written", "hint: name one of the two alone").never("locked by")
			same(t, "stored", w.stored("billing", "orders"), "0=100")
			moves := w.path("shipping", "orders") + " is a link to " + w.path("billing", "orders") + ": what is written for one is the other's, too"
			w.run("describe", "-g", "shipping", "-s", w.store).exits(0).prints(moves)
			w.run("describe", "-g", "billing", "-s", w.store).exits(0).never("link")
			w.run("clamp", "-g", "shipping", "-s", w.store, "--stored", "--execute").exits(0).prints(moves)
			same(t, "stored", w.stored("billing", "orders"), "0=500")
		})
	}
	t.Run("FMT-3 line ends of Windows stay", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).put("billing", "orders", "0 100\r\n\r\n1 600\r\n")
		w.run(clamp(w)...).exits(0)
		same(t, "file", w.file("billing", "orders"), "0 500\r\n\r\n1 600\r\n")
	})
	t.Run("a file keeps its form", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}).put("billing", "orders", "1 600\n0 100\n")
		w.run(clamp(w)...).exits(0)
		same(t, "bare", w.file("billing", "orders"), "1 600\n0 500\n")
	})
}
