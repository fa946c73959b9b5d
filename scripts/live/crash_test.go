//go:build live

package live_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gtoffset/offsetfile"
	"gtoffset/scripts/needs"
)

// ledger is a scene whose store is low in all its partitions, of a topic that it has a full file of.
type ledger struct {
	scene
	old, low, mended string // the file before, and what it holds before and after a clamp
}

func openLedger(t *testing.T) ledger {
	t.Helper()
	const partitions = 8
	var ranges [][2]int64
	var low, mended []string
	for p := range partitions {
		ranges = append(ranges, [2]int64{10, 20})
		low = append(low, fmt.Sprintf("%d=3", p))
		mended = append(mended, fmt.Sprintf("%d=10", p))
	}
	l := ledger{scene: stage(t, cluster, ranges...), low: strings.Join(low, " "), mended: strings.Join(mended, " ")}
	var offsets []int64
	for range partitions {
		offsets = append(offsets, 3)
	}
	l.save(offsets...)
	l.old = l.file()
	return l
}

// reset puts the old file back, as a job does: by a rename.
func (l ledger) reset() {
	l.t.Helper()
	must(l.t, os.WriteFile(l.path()+".new", []byte(l.old), 0o644))
	must(l.t, os.Rename(l.path()+".new", l.path()))
}

// isWhole checks that the file is the old one, to the byte, or the new one, complete, and tells which.
func (l ledger) isWhole(when string) (renamed bool) {
	l.t.Helper()
	if l.file() == l.old {
		return false
	}
	if l.stored() != l.mended {
		l.t.Fatalf("%s: the file is neither the old nor the new one:\n%s", when, l.file())
	}
	return true
}

// temps lists what is beside the file and its lock.
func (l ledger) temps() []string {
	l.t.Helper()
	all, err := os.ReadDir(filepath.Dir(l.path()))
	must(l.t, err)
	var names []string
	for _, e := range all {
		if e.Name() != "gtoffset" && e.Name() != "gtoffset.lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

// finish is the run after the crash: it finds its way, and clears away what was left.
func (l ledger) finish() {
	l.t.Helper()
	l.run(l.clamp("--stored")...).exits(0)
	same(l.t, "stored in the end", l.stored(), l.mended)
	if left := l.temps(); len(left) > 0 {
		l.t.Errorf("left in the end: %q", left)
	}
}

func TestKilledAtEachStep(t *testing.T) {
	const kills = 20
	l := openLedger(t)
	for _, step := range offsetfile.Steps() {
		t.Run(step, func(t *testing.T) {
			l := l
			l.t = t
			l.reset()
			for i := range kills {
				r := program{On: cluster, Kill: step}.run(t, l.clamp("--stored")...).exits(-1)
				want := step == offsetfile.StepSyncFolder || step == offsetfile.StepDone
				if got := l.isWhole(fmt.Sprint(step, ", kill ", i)); got != want {
					t.Fatalf("kill %d: the new file is in place: got %v, want %v\n%v", i, got, want, r)
				}
				if left := l.temps(); len(left) > 1 {
					t.Fatalf("kill %d: left %q, want one at most", i, left)
				}
				if want {
					l.reset()
				}
			}
			l.finish()
		})
	}
}

// Killed from outside, at any moment of a loop of clamps: half of them anywhere, half from the moment on that the lock is taken.
// With GTOFFSET_SOAK set there are 500.
func TestSoakKilled(t *testing.T) {
	kills := 10
	if os.Getenv("GTOFFSET_SOAK") != "" {
		kills = 500
	}
	l := openLedger(t)
	took := l.run(l.clamp("--stored")...).exits(0).took
	runs, killed, renamed, temps := 0, 0, 0, 0
	for ; killed < kills; runs++ {
		if runs == 10*kills {
			t.Fatalf("only %d of %d runs were killed before their end", killed, runs)
		}
		l.reset()
		must(t, os.RemoveAll(l.path()+".lock"))
		r := program{On: cluster}.start(t, l.clamp("--stored")...)
		ended := make(chan result, 1)
		go func() { ended <- r.wait() }()
		wait := rand.N(took)
		if runs%2 == 0 {
			for deadline := time.Now().Add(10 * took); time.Now().Before(deadline); {
				if _, err := os.Stat(l.path() + ".lock"); err == nil {
					break
				}
			}
			wait = rand.N(took / 2)
		}
		<-time.After(wait)
		if err := r.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		end := <-ended
		whole := l.isWhole(fmt.Sprint("run ", runs))
		left := l.temps()
		if len(left) > 1 {
			t.Fatalf("run %d: left %q, want one at most", runs, left)
		}
		temps += len(left)
		if end.code != -1 {
			took = min(took, end.took) // a moment beyond the end is none of a clamp's
			continue
		}
		killed++
		if whole {
			renamed++
		}
	}
	t.Logf("%d kills in %d runs: the new file was in place after %d, a temporary one left by %d", killed, runs, renamed, temps)
	l.finish()
}

// What a power cut may take: the file is on the disk before it gets its name, the name before the run ends; and the way back
// before anything changes.
func TestOrderOnTheDisk(t *testing.T) {
	strace := needs.Program(t, "strace")
	l := openLedger(t)
	trace := filepath.Join(t.TempDir(), "trace")
	program{On: cluster, Wrap: []string{strace, "-f", "-y", "-o", trace, "-e", "trace=fsync,fdatasync,rename,renameat,renameat2"}}.
		run(t, l.clamp("--stored")...).exits(0)
	said, err := os.ReadFile(trace)
	must(t, err)
	var order []string
	for line := range strings.Lines(string(said)) {
		sync, rename := strings.Contains(line, "sync("), strings.Contains(line, "rename")
		switch {
		case strings.Contains(line, "resumed>"):
		case sync && strings.Contains(line, ".plan.json"):
			order = append(order, "sync plan")
		case sync && strings.Contains(line, ".json"):
			order = append(order, "sync backup")
		case sync && strings.Contains(line, ".gtoffset.tmp-"):
			order = append(order, "sync file")
		case rename && strings.Contains(line, ".gtoffset.tmp-") && strings.Contains(line, l.path()+`"`):
			order = append(order, "rename")
		case sync && strings.Contains(line, filepath.Dir(l.path())+">"):
			order = append(order, "sync folder")
		case sync && strings.Contains(line, "/state/gtoffset>"):
			order = append(order, "sync backups")
		}
	}
	same(t, "order", strings.Join(order, ", "), "sync backup, sync backups, sync plan, sync backups, sync file, rename, sync folder")
}

// A full disk, as a limit on the size of files lets it be felt: by the backup, and by the file itself.
func TestFullDisk(t *testing.T) {
	for _, c := range []struct {
		what  string
		limit int
		says  string
	}{
		{"backup", 256, "the backup"},
		{"file", 8192, "gtoffset: file too large"},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := stage(t, cluster, [2]int64{10, 20})
			offsets := make([]int64, 4000) // larger than the limit, while the plan of one partition is not
			s.save(offsets...)
			before := s.file()
			r := program{On: cluster, Wrap: []string{"prlimit", fmt.Sprintf("--fsize=%d", c.limit)}}.run(t, s.clamp("--stored", "-t", s.topic+":0")...)
			r.exits(1).says(c.says, "nothing was written")
			same(t, "file", s.file(), before)
			if left := (ledger{scene: s}).temps(); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			s.run(s.clamp("--stored", "-t", s.topic+":0")...).exits(0)
		})
	}
	t.Run("tmpfs", func(t *testing.T) {
		s := stage(t, cluster, [2]int64{10, 20})
		if err := syscall.Mount("tmpfs", s.folder, "tmpfs", 0, "size=256k"); err != nil {
			t.Skip("an extra where mounting is allowed: ", err)
		}
		defer func() { must(t, syscall.Unmount(s.folder, 0)) }()
		offsets := make([]int64, 4000)
		s.save(offsets...)
		before := s.file()
		full := filepath.Join(s.folder, "full")
		f, err := os.Create(full)
		must(t, err)
		for err == nil {
			_, err = f.Write(make([]byte, 4096))
		}
		must(t, f.Close())
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		s.run(s.clamp("--stored", "-t", s.topic+":0")...).exits(1).says("no space left on device", "nothing was written")
		same(t, "file", s.file(), before)
		if left := (ledger{scene: s}).temps(); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
		must(t, os.Remove(full))
		s.run(s.clamp("--stored", "-t", s.topic+":0")...).exits(0)
	})
}

// Of two clamps at once with different ends in mind one wins. The other is refused, or comes late enough to have nothing to do.
func TestTwoAtOnce(t *testing.T) {
	const rounds, partitions = 10, 8
	var ranges [][2]int64
	var high, at15, at10, at20 []int64
	for range partitions {
		ranges = append(ranges, [2]int64{10, 20})
		high, at10, at15, at20 = append(high, 30), append(at10, 10), append(at15, 15), append(at20, 20)
	}
	s := stage(t, cluster, ranges...)
	s.commit(at15...)
	text := func(offsets []int64) string {
		var all []string
		for _, l := range lines(offsets) {
			all = append(all, strings.ReplaceAll(strings.TrimSpace(l), " ", "="))
		}
		return strings.Join(all, " ")
	}
	for _, c := range []struct {
		what     string
		prepare  func()
		flag     string
		a, b     string // choices
		ofA, ofB string // what they make
	}{
		{"high", func() { s.save(high...) }, "--high", "end", "earliest", text(at20), text(at10)},
		{"missing", func() { must(t, os.RemoveAll(s.path())) }, "--missing", "other", "earliest", text(at15), text(at10)},
	} {
		t.Run(c.what, func(t *testing.T) {
			refused, late := 0, 0
			for i := range rounds {
				c.prepare()
				a := program{On: cluster}.start(t, s.clamp("--stored", c.flag, c.a)...)
				b := program{On: cluster}.start(t, s.clamp("--stored", c.flag, c.b)...)
				ra, rb := a.wait(), b.wait()
				won, lost, want := ra, rb, c.ofA
				if !strings.Contains(ra.out, "verified") {
					won, lost, want = rb, ra, c.ofB
				}
				won.exits(0).prints(fmt.Sprintf("%d of %d verified", partitions, partitions))
				switch {
				case lost.code == 4:
					refused++
					lost.says("nothing was written")
				case lost.code == 0 && !strings.Contains(lost.out, "verified"):
					late++
				default:
					t.Errorf("round %d: the loser\n%v\nbeside\n%v", i, lost, won)
				}
				same(t, fmt.Sprint("stored in round ", i), s.stored(), want)
			}
			t.Logf("%d rounds: %d losers refused, %d had nothing to do", rounds, refused, late)
		})
	}
}
