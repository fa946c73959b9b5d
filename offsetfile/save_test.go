package offsetfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gtoffset/kafkaops/offsets"
)

var now = time.Date(2026, 11, 30, 1, 2, 3, 4e6, time.UTC)

// save puts offsets as a job does.
func save(t testing.TB, s *Files, group, topic string, next map[int32]int64) {
	t.Helper()
	l, err := s.Lock(t.Context(), group, []string{topic})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	values := map[int32]offsets.Value{}
	for p, o := range next {
		values[p] = offsets.Value{Offset: o, Epoch: offsets.None}
	}
	if err := l.Put(t.Context(), topic, values, Facts{Now: now}); err != nil {
		t.Fatal(err)
	}
}

func change(topic string, partition int32, old, next int64) offsets.Change {
	return offsets.Change{
		Key: offsets.Key{Topic: topic, Partition: partition}, Side: offsets.Stored, Verdict: offsets.Write,
		Old: offsets.Value{Offset: old, Epoch: offsets.None}, New: offsets.Value{Offset: next, Epoch: offsets.None},
	}
}

// apply locks, looks, and saves.
func apply(t testing.TB, s *Files, facts Facts, changes ...offsets.Change) []offsets.Change {
	t.Helper()
	l, h := lock(t, s, changes, false)
	defer l.Unlock()
	saved, _ := l.Save(t.Context(), h.Store, changes, facts)
	return saved
}

func lock(t testing.TB, s *Files, changes []offsets.Change, salvage bool) (*Locked, Holding) {
	t.Helper()
	var topics []string
	for _, c := range changes {
		topics = append(topics, c.Topic)
	}
	l, err := s.Lock(t.Context(), "g", topics)
	if err != nil {
		t.Fatal(err)
	}
	return l, load(t, s, "g", topics, salvage)
}

func results(changes []offsets.Change) string {
	var all []string
	for _, c := range changes {
		all = append(all, fmt.Sprintf("%s %d %s", c.Topic, c.Partition, c.Result))
	}
	return strings.Join(all, ", ")
}

func TestSaveFirstRun(t *testing.T) {
	root := t.TempDir()
	if err := os.Chmod(root, 0o750); err != nil {
		t.Fatal(err)
	}
	s := open(t, root)
	got := apply(t, s, Facts{Cluster: "c", TopicIDs: map[string]string{"t": "id"}, Now: now}, change("t", 1, -1, 7), change("t", 0, -1, 0))
	if want := "t 1 written, t 0 written"; results(got) != want {
		t.Errorf("got %s, want %s", results(got), want)
	}
	want := "# gtoffset 1\n# group g\n# topic t\n# topic-id id\n# cluster c\n# saved 2026-11-30T01:02:03.004Z\n0 0\n1 7\n# entries 2\n"
	if got := read(t, filepath.Join(root, "g/t/gtoffset")); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := tree(t, root), []string{"g", "g/t", "g/t/gtoffset", "g/t/gtoffset.lock"}; !slices.Equal(got, want) {
		t.Errorf("files: got %q, want %q", got, want)
	}
	for path, want := range map[string]os.FileMode{"g": 0o750, "g/t": 0o750, "g/t/gtoffset": 0o640, "g/t/gtoffset.lock": 0o640} {
		if fi, err := os.Stat(filepath.Join(root, path)); err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s: got mode %v, want %v (%v)", path, fi.Mode(), want, err)
		}
	}
}

func TestSave(t *testing.T) {
	facts := Facts{Cluster: "c", TopicIDs: map[string]string{"t": "id"}, Now: now}
	saved := "# saved 2026-11-30T01:02:03.004Z\n"
	keep := change("t", 1, 6, 9)
	keep.Verdict = offsets.Keep
	committed := change("t", 1, 6, 9)
	committed.Side = offsets.Committed
	done := change("t", 1, 6, 9)
	done.Result = offsets.Already
	for name, tt := range map[string]struct {
		file    string
		changes []offsets.Change
		want    string
		results string
	}{
		"bare": {"0 5\r\n\r\n1 6\r\n", []offsets.Change{change("t", 0, 5, 8)}, "0 8\r\n\r\n1 6\r\n", "t 0 written"},
		"only what is to be written": {
			"0 5\n1 6\n",
			[]offsets.Change{change("t", 0, 5, 8), keep, committed, done},
			"0 8\n1 6\n",
			"t 0 written, t 1 , t 1 , t 1 already",
		},
		"removed":         {"0 5\n1 6\n", []offsets.Change{change("t", 0, 5, offsets.None)}, "1 6\n", "t 0 written"},
		"nothing to do":   {"0 5\n1 6\n", []offsets.Change{change("t", 0, 5, 5), change("t", 7, -1, -1)}, "0 5\n1 6\n", "t 0 already, t 7 already"},
		"last one, bare":  {"0 5\n", []offsets.Change{change("t", 0, 5, offsets.None)}, "0 5\n", "t 0 not-tried"},
		"twice":           {"0 5\n", []offsets.Change{change("t", 0, 5, 6), change("t", 0, 5, 7)}, "0 5\n", "t 0 not-tried, t 0 not-tried"},
		"negative":        {"0 5\n", []offsets.Change{change("t", 0, 5, -2)}, "0 5\n", "t 0 not-tried"},
		"last one":        {"# gtoffset 1\n0 5\n# entries 1\n", []offsets.Change{change("t", 0, 5, offsets.None)}, "# gtoffset 1\n# topic-id id\n# cluster c\n" + saved + "# entries 0\n", "t 0 written"},
		"recreated, kept": {"# gtoffset 1\n# topic-id old\n# cluster c\n0 5\n# entries 1\n", []offsets.Change{change("t", 0, 5, 5)}, "# gtoffset 1\n# topic-id id\n# cluster c\n" + saved + "0 5\n# entries 1\n", "t 0 written"},
		"recreated, one of two": {
			"# gtoffset 1\n# topic-id old\n# cluster c\n0 5\n1 6\n# entries 2\n",
			[]offsets.Change{change("t", 0, 5, 1)},
			"# gtoffset 1\n# topic-id old\n# cluster c\n" + saved + "0 1 topic-id=id\n1 6\n# entries 2\n", "t 0 written",
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			path := put(t, root, "g/t/gtoffset", tt.file)
			got := apply(t, open(t, root), facts, tt.changes...)
			if results(got) != tt.results {
				t.Errorf("results: got %s, want %s", results(got), tt.results)
			}
			if got := read(t, path); got != tt.want {
				t.Errorf("file: got %q, want %q", got, tt.want)
			}
			if slices.ContainsFunc(tt.changes, func(c offsets.Change) bool { return c.Verdict == offsets.Refuse || c.Error != "" }) {
				t.Error("the caller's changes were changed")
			}
		})
	}
}

// A look at all topics of a group does not name one that the store has nothing of.
func TestSaveOfWhatALookAtAllDidNotFind(t *testing.T) {
	for name, between := range map[string]func(t *testing.T, root string){
		"still absent":   func(*testing.T, string) {},
		"made meanwhile": func(t *testing.T, root string) { put(t, root, "g/t/gtoffset", "0 600\n") },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			s := open(t, root)
			l, err := s.Lock(t.Context(), "g", []string{"t"})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Unlock()
			seen := load(t, s, "g", nil, false)
			between(t, root)
			got, _ := l.Save(t.Context(), seen.Store, []offsets.Change{change("t", 0, -1, 3)}, Facts{Now: now})
			want, file := "t 0 written", "# gtoffset 1\n# group g\n# topic t\n# saved 2026-11-30T01:02:03.004Z\n0 3\n# entries 1\n"
			if name == "made meanwhile" {
				want, file = "t 0 not-tried", "0 600\n"
			}
			if results(got) != want {
				t.Errorf("results: got %s (%s), want %s", results(got), got[0].Error, want)
			}
			if got := read(t, filepath.Join(root, "g/t/gtoffset")); got != file {
				t.Errorf("file: got %q, want %q", got, file)
			}
		})
	}
}

func TestSaveAfterSalvage(t *testing.T) {
	root := t.TempDir()
	cut := put(t, root, "g/cut/gtoffset", "# gtoffset 1\n# group g\n# topic cut\n0 5\n1 6\n2 1")
	kept := put(t, root, "g/kept/gtoffset", "# gtoffset 1\n# group g\n# topic kept\n0 5\n")
	empty := put(t, root, "g/empty/gtoffset", "")
	s := open(t, root)
	keep := change("kept", 0, 5, 5)
	keep.Verdict = offsets.Keep
	changes := []offsets.Change{change("cut", 2, -1, 3), change("empty", 0, -1, 4), keep}
	l, h := lock(t, s, changes, true)
	got, _ := l.Save(t.Context(), h.Store, changes, Facts{})
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	if want := "cut 2 written, empty 0 written, kept 0 "; results(got) != want {
		t.Errorf("got %s, want %s", results(got), want)
	}
	for path, want := range map[string]string{
		cut:   "# gtoffset 1\n# group g\n# topic cut\n0 5\n1 6\n2 3\n# entries 3\n",
		kept:  "# gtoffset 1\n# group g\n# topic kept\n0 5\n# entries 1\n",
		empty: "# gtoffset 1\n# group g\n# topic empty\n0 4\n# entries 1\n",
	} {
		if got := read(t, path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

func TestSaveRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		file   string
		before func(t *testing.T, path string) // between look and save
		reason string
	}{
		"changed":         {"0 5\n", func(t *testing.T, path string) { put(t, "", path, "0 600\n") }, "changed since it was read"},
		"made":            {"", func(t *testing.T, path string) { put(t, "", path, "0 600\n") }, "changed since it was read"},
		"removed":         {"0 5\n", func(t *testing.T, path string) { os.Remove(path) }, "changed since it was read"},
		"damaged since":   {"0 5\n", func(t *testing.T, path string) { put(t, "", path, "0 6") }, "changed since it was read"},
		"damaged already": {"0 5", func(t *testing.T, path string) {}, "cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			path := filepath.Join(root, "g/t/gtoffset")
			other := put(t, root, "g/a/gtoffset", "0 1\n")
			if tt.file != "" {
				put(t, "", path, tt.file)
			}
			changes := []offsets.Change{change("a", 0, 1, 2), change("t", 0, 5, 9)}
			l, h := lock(t, open(t, root), changes, false)
			defer l.Unlock()
			tt.before(t, path)
			want, _ := os.ReadFile(path)
			got, _ := l.Save(t.Context(), h.Store, changes, Facts{})
			if results(got) != "a 0 not-tried, t 0 not-tried" || got[1].Verdict != offsets.Refuse || !strings.Contains(got[1].Error, tt.reason) {
				t.Errorf("got %+v, want reason %q", got, tt.reason)
			}
			if got, _ := os.ReadFile(path); string(got) != string(want) {
				t.Errorf("file: got %q, want %q", got, want)
			}
			if got := read(t, other); got != "0 1\n" {
				t.Errorf("the other file was written: %q", got)
			}
		})
	}
}

// The last moment at which another program's write can be seen is directly before the rename.
func TestSaveSeesLateChange(t *testing.T) {
	root := t.TempDir()
	path := put(t, root, "g/t/gtoffset", "0 5\n")
	s := open(t, root, WithHook(func(step string) error {
		if step == StepSync {
			put(t, "", path, "0 600\n")
		}
		return nil
	}))
	got := apply(t, s, Facts{}, change("t", 0, 5, 9))
	if got[0].Result != offsets.Failed || !strings.Contains(got[0].Error, "changed since it was read") {
		t.Errorf("got %+v", got)
	}
	if got := read(t, path); got != "0 600\n" {
		t.Errorf("file: got %q", got)
	}
	if got := tree(t, root); len(got) != 4 {
		t.Errorf("left behind: %q", got)
	}
}

func TestSaveUnlocked(t *testing.T) {
	root := t.TempDir()
	put(t, root, "g/t/gtoffset", "0 5\n")
	s := open(t, root)
	l, h := lock(t, s, []offsets.Change{change("t", 0, 5, 6)}, false)
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	if got, _ := l.Save(t.Context(), h.Store, []offsets.Change{change("t", 0, 5, 6)}, Facts{}); got[0].Result != offsets.NotTried {
		t.Errorf("got %+v", got)
	}
	if err := l.Unlock(); err != nil {
		t.Errorf("a second unlock: %v", err)
	}
}

func TestSaveCancelled(t *testing.T) {
	root := t.TempDir()
	path := put(t, root, "g/t/gtoffset", "0 5\n")
	changes := []offsets.Change{change("t", 0, 5, 6)}
	l, h := lock(t, open(t, root), changes, false)
	defer l.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, _ := l.Save(ctx, h.Store, changes, Facts{}); got[0].Result != offsets.NotTried || read(t, path) != "0 5\n" {
		t.Errorf("got %+v", got)
	}
}

func TestFailedSteps(t *testing.T) {
	want := errors.New("no space left on device")
	for _, step := range []string{StepCreate, StepWrite, StepSync, StepRename, StepSyncFolder} {
		t.Run(step, func(t *testing.T) {
			root := t.TempDir()
			path := put(t, root, "g/b/gtoffset", "0 5\n")
			put(t, root, "g/a/gtoffset", "0 5\n")
			put(t, root, "g/c/gtoffset", "0 5\n")
			failures := 0
			s := open(t, root, WithHook(func(s string) error {
				if s == step {
					if failures++; failures == 2 { // a is written, b fails, c is not tried
						return want
					}
				}
				return nil
			}))
			got := apply(t, s, Facts{}, change("a", 0, 5, 6), change("b", 0, 5, 6), change("c", 0, 5, 6))
			if !strings.Contains(got[1].Error, want.Error()) {
				t.Errorf("got %q, want it to say %v", got[1].Error, want)
			}
			if step == StepSyncFolder {
				if got[1].Result != offsets.Written || !strings.Contains(got[1].Error, "in place, durability unknown") || read(t, path) != "0 6\n" || got[2].Result != offsets.Written {
					t.Errorf("got %+v", got)
				}
			} else if results(got) != "a 0 written, b 0 failed, c 0 not-tried" || read(t, path) != "0 5\n" {
				t.Errorf("got %s, file %q", results(got), read(t, path))
			}
			for _, p := range tree(t, root) {
				if strings.Contains(p, "tmp") {
					t.Errorf("left behind: %s", p)
				}
			}
		})
	}
}

func TestStepsInOrder(t *testing.T) {
	var got []string
	s := open(t, t.TempDir(), WithHook(func(step string) error { got = append(got, step); return nil }))
	save(t, s, "g", "t", map[int32]int64{0: 1})
	if !slices.Equal(got, Steps()) {
		t.Errorf("got %q, want %q", got, Steps())
	}
}

func TestLinksStay(t *testing.T) {
	root := t.TempDir()
	target := put(t, root, "elsewhere/offsets.txt", "0 5\n")
	if err := os.Chmod(target, 0o604); err != nil {
		t.Fatal(err)
	}
	put(t, root, "real/t/x", "")
	symlink(t, "real", filepath.Join(root, "g"))
	symlink(t, "../../elsewhere/offsets.txt", filepath.Join(root, "real/t/gtoffset"))
	got := apply(t, open(t, root), Facts{}, change("t", 0, 5, 6))
	if results(got) != "t 0 written" {
		t.Fatalf("got %+v", got)
	}
	if got := read(t, target); got != "0 6\n" {
		t.Errorf("target: got %q", got)
	}
	for _, link := range []string{"g", "real/t/gtoffset"} {
		if fi, err := os.Lstat(filepath.Join(root, link)); err != nil || fi.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", link, err)
		}
	}
	if fi, err := os.Stat(target); err != nil || fi.Mode().Perm() != 0o604 {
		t.Errorf("mode: got %v, %v", fi.Mode(), err)
	}
	if fi, err := os.Stat(filepath.Join(root, "real/t/gtoffset.lock")); err != nil || fi.Mode().Perm() != 0o604 {
		t.Errorf("mode of the lock: got %v, %v", fi.Mode(), err)
	}
}

func TestTwoTopicsOneFile(t *testing.T) {
	root := t.TempDir()
	put(t, root, "g/t/gtoffset", "0 5\n")
	symlink(t, "t", filepath.Join(root, "g/u"))
	var clash *SharedFileError
	if _, err := open(t, root).Lock(t.Context(), "g", []string{"t", "u"}); !errors.As(err, &clash) {
		t.Errorf("got %v, want a SharedFileError", err)
	}
	save(t, open(t, root), "g", "t", map[int32]int64{0: 6}) // the lock of the first was given back
}

func TestLock(t *testing.T) {
	root := t.TempDir()
	put(t, root, "g/t/gtoffset", "0 5\n")
	job := open(t, root, WithHolder("the job\x1b[31m"))
	held, err := job.Lock(t.Context(), "g", []string{"t"})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("(process %d on ", os.Getpid())
	if got := load(t, open(t, root), "g", nil, false).Store.Holder; !strings.HasPrefix(got, "the job [31m "+want) {
		t.Errorf("holder: got %q", got)
	}
	if got := load(t, job, "g", nil, false).Store.Holder; got != "" {
		t.Errorf("our own lock is told as another's: %q", got)
	}
	var locked *LockedError
	_, err = open(t, root).Lock(t.Context(), "g", []string{"a", "t"})
	if !errors.As(err, &locked) || !strings.Contains(locked.Holder, want) {
		t.Errorf("second lock: got %v", err)
	}
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
	if got := load(t, open(t, root), "g", nil, false).Store.Holder; got != "" {
		t.Errorf("after unlock: got holder %q", got)
	}
	second, err := open(t, root).Lock(t.Context(), "g", []string{"a", "t"}) // also the lock of a was given back
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Unlock(); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(filepath.Join(root, "g/t/gtoffset.lock")); err != nil || fi.Size() != 0 {
		t.Errorf("lock file: %v, %v", fi, err)
	}
}

// A lock file can be no way to make root write elsewhere.
func TestLockFileIsLink(t *testing.T) {
	root := t.TempDir()
	put(t, root, "g/t/gtoffset", "0 5\n")
	victim := put(t, root, "victim", "precious")
	symlink(t, victim, filepath.Join(root, "g/t/gtoffset.lock"))
	if _, err := open(t, root).Lock(t.Context(), "g", []string{"t"}); err == nil {
		t.Error("got no error")
	}
	if got := read(t, victim); got != "precious" {
		t.Errorf("overwritten: %q", got)
	}
}

// FWR-7: a file system without locks, as some of NFS are, is told from a lock that is taken; a save goes on and says so.
func TestUnsupportedLock(t *testing.T) {
	for _, err := range []error{syscall.ENOTSUP, syscall.ENOLCK, syscall.ENOSYS} {
		if !unsupportedLock(fmt.Errorf("flock: %w", err)) {
			t.Errorf("%v: got false", err)
		}
	}
	if unsupportedLock(nil) || unsupportedLock(syscall.EIO) {
		t.Error("got true")
	}
}

func TestConcurrentSavers(t *testing.T) {
	root := t.TempDir()
	const savers, rounds = 4, 25
	var wg sync.WaitGroup
	for i := range int32(savers) {
		wg.Go(func() {
			s, err := Open(root) // its own, as another process has
			if err != nil {
				t.Error(err)
				return
			}
			s.wait = time.Minute
			for range rounds {
				l, err := s.Lock(t.Context(), "g", []string{"t"})
				if err != nil {
					t.Error(err)
					return
				}
				key := offsets.Key{Topic: "t", Partition: i}
				h, err := s.Load(t.Context(), "g", []string{"t"}, false)
				if err != nil {
					t.Error(err)
				}
				c := change("t", i, 0, h.Entries[key].Offset+1)
				got, _ := l.Save(t.Context(), h.Store, []offsets.Change{c}, Facts{Now: now})
				if got[0].Result != offsets.Written {
					t.Errorf("got %+v", got[0])
				}
				if err := l.Unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	h := load(t, open(t, root), "g", nil, false)
	for i := range int32(savers) {
		if got := h.Entries[offsets.Key{Topic: "t", Partition: i}].Offset; got != rounds {
			t.Errorf("partition %d: got %d, want %d: saves were lost", i, got, rounds)
		}
	}
}

func TestPut(t *testing.T) {
	root := t.TempDir()
	s := open(t, root)
	l, err := s.Lock(t.Context(), "g", []string{"t"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	facts := Facts{Cluster: "c", TopicIDs: map[string]string{"t": "id"}, Now: now}
	for i := range int64(3) {
		if err := l.Put(t.Context(), "t", map[int32]offsets.Value{0: {Offset: i, Epoch: 2}, 1: {Offset: 2 * i, Epoch: -1}}, facts); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Put(t.Context(), "t", map[int32]offsets.Value{0: offsets.NoValue}, facts); err != nil {
		t.Fatal(err)
	}
	want := "# gtoffset 1\n# group g\n# topic t\n# topic-id id\n# cluster c\n# saved 2026-11-30T01:02:03.004Z\n1 4\n# entries 1\n"
	if got := read(t, filepath.Join(root, "g/t/gtoffset")); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := l.Put(t.Context(), "t", map[int32]offsets.Value{0: {Offset: -5}}, facts); err == nil {
		t.Error("negative: got no error")
	}
	bare := put(t, root, "g/t/gtoffset", "0 1\n")
	if err := l.Put(t.Context(), "t", map[int32]offsets.Value{0: offsets.NoValue}, facts); err == nil || read(t, bare) != "0 1\n" {
		t.Errorf("last entry of a bare file: got %v, file %q", err, read(t, bare))
	}
	put(t, root, "g/t/gtoffset", "0 1")
	if err := l.Put(t.Context(), "t", map[int32]offsets.Value{0: {Offset: 5, Epoch: -1}}, facts); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("damaged: got %v", err)
	}
}
