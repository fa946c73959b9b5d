//go:build unix

package offsetfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gtoffset/kafkaops/offsets"
	"gtoffset/scripts/needs"
)

// The test binary is also the process that is killed, limited or not allowed: see the roles.
const (
	envRole = "OFFSETFILE_TEST_ROLE"
	envRoot = "OFFSETFILE_TEST_ROOT"
	envStep = "OFFSETFILE_TEST_STEP"
)

const partitions = 500 // a file of several writes would show where it was cut

// nobody is a user without rights, as which a role runs when the tests run as root.
const nobody = 65534

func TestMain(m *testing.M) {
	roles := map[string]func(root, step string) error{"loop": roleLoop, "limited": roleLimited, "denied": roleDenied, "once": roleOnce}
	if role, ok := roles[os.Getenv(envRole)]; ok {
		if err := role(os.Getenv(envRoot), os.Getenv(envStep)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(t *testing.T, role, root, step string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), envRole+"="+role, envRoot+"="+root, envStep+"="+step)
	cmd.Stderr = os.Stderr
	return cmd
}

// all sets every partition to one offset, so that a mixture is seen.
func all(offset int64) map[int32]offsets.Value {
	m := map[int32]offsets.Value{}
	for p := range int32(partitions) {
		m[p] = offsets.Value{Offset: offset, Epoch: offsets.None}
	}
	return m
}

// roleLoop saves 1, 2, 3…, prints each number after it was saved, and is killed at the given step of the third save.
func roleLoop(root, step string) error {
	saves := 0
	s, err := Open(root, WithHook(func(at string) error {
		if at == StepCreate {
			saves++
		}
		if at == step && (saves == 3 || step == StepLock && saves == 2) {
			return errors.Join(syscall.Kill(os.Getpid(), syscall.SIGKILL), errors.New("still alive"))
		}
		return nil
	}))
	if err != nil {
		return err
	}
	h, err := s.Load(context.Background(), "g", nil, false)
	if err != nil {
		return err
	}
	for n := h.Entries[offsets.Key{Topic: "t"}].Offset + 1; ; n++ {
		l, err := s.Lock(context.Background(), "g", []string{"t"})
		if err != nil {
			return err
		}
		if err := l.Put(context.Background(), "t", all(n), Facts{Now: now}); err != nil {
			return err
		}
		if err := l.Unlock(); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// checkWhole returns the one offset that all partitions have.
func checkWhole(t *testing.T, root string) int64 {
	t.Helper()
	d := mustParse(t, read(t, filepath.Join(root, "g/t/gtoffset")))
	first, _ := d.Entry(0)
	for e := range d.Entries() {
		if e.Offset != first.Offset {
			t.Fatalf("partition %d has %d, partition 0 has %d", e.Partition, e.Offset, first.Offset)
		}
	}
	if d.Len() != partitions {
		t.Fatalf("%d entries, want %d", d.Len(), partitions)
	}
	return first.Offset
}

func TestKilledAtEachStep(t *testing.T) {
	for _, step := range Steps() {
		t.Run(step, func(t *testing.T) {
			root := t.TempDir()
			for range 3 {
				before := int64(0)
				if _, err := os.Stat(filepath.Join(root, "g/t/gtoffset")); err == nil {
					before = checkWhole(t, root)
				}
				err := child(t, "loop", root, step).Run()
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
					t.Fatalf("child: %v", err)
				}
				want := before + 2
				if step == StepSyncFolder || step == StepDone {
					want = before + 3
				}
				if got := checkWhole(t, root); got != want {
					t.Errorf("got %d, want %d", got, want)
				}
			}
			// The next save takes the lock, and clears away what the killed ones left.
			save(t, open(t, root), "g", "t", map[int32]int64{0: 1})
			for _, p := range tree(t, root) {
				if strings.Contains(p, "tmp") {
					t.Errorf("left behind: %s", p)
				}
			}
		})
	}
}

func TestKilledAtAnyMoment(t *testing.T) {
	root := t.TempDir()
	last := int64(0)
	for range 20 {
		cmd := child(t, "loop", root, "")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 1 + rand.IntN(4) {
			if !lines.Scan() {
				break
			}
			if last, err = strconv.ParseInt(lines.Text(), 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		for range rand.IntN(100_000) { // somewhere within the next save
			_ = lines
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			if last, err = strconv.ParseInt(lines.Text(), 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		_ = cmd.Wait() // killed
		if got := checkWhole(t, root); got != last && got != last+1 {
			t.Errorf("got %d, want %d or the next", got, last)
		}
	}
}

// roleLimited saves with a limit on the size of files, as a full disk is felt.
func roleLimited(root, _ string) error {
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1024, Max: 1024}); err != nil {
		return err
	}
	return saveAll(root, syscall.EFBIG.Error())
}

// saveAll expects a save to fail with a reason.
func saveAll(root, reason string) error {
	s, err := Open(root)
	if err != nil {
		return err
	}
	l, err := s.Lock(context.Background(), "g", []string{"t"})
	if err == nil {
		err = errors.Join(l.Put(context.Background(), "t", all(7), Facts{Now: now}), l.Unlock())
	}
	if err == nil || !strings.Contains(err.Error(), reason) {
		return fmt.Errorf("got %v, want %s", err, reason)
	}
	return nil
}

func TestFullDisk(t *testing.T) {
	root := t.TempDir()
	path := put(t, root, "g/t/gtoffset", "0 5\n")
	if err := child(t, "limited", root, "").Run(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "0 5\n" {
		t.Errorf("file: got %q", got)
	}
	if got, want := tree(t, root), []string{"g", "g/t", "g/t/gtoffset", "g/t/gtoffset.lock"}; !slices.Equal(got, want) {
		t.Errorf("files: got %q, want %q", got, want)
	}
}

// roleDenied is a user who may not do what the step names.
func roleDenied(root, what string) error {
	if os.Geteuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			return err
		}
	}
	if what != "read" {
		return saveAll(root, what)
	}
	s, err := Open(root)
	if err != nil {
		return err
	}
	for group, want := range map[string]offsets.Presence{"g": offsets.Denied, "closed": offsets.Denied, "a b": offsets.Absent} {
		h, err := s.Load(context.Background(), group, []string{"t"}, false)
		if err != nil {
			return err
		}
		if t, _ := h.Store.Topic("t"); t.Presence != want || want == offsets.Denied && !strings.Contains(t.Reason, "permission denied") {
			return fmt.Errorf("group %s: got %+v, want %v", group, t, want)
		}
	}
	h, err := s.Load(context.Background(), "closed", nil, false)
	if err != nil || h.Store.Trouble == nil || !h.Store.Trouble.Denied {
		return fmt.Errorf("all topics of a closed folder: got %+v, %w", h.Store.Trouble, err)
	}
	groups, _, err := s.Groups(context.Background())
	if err != nil || !slices.Equal(groups, []string{"closed", "g"}) {
		return fmt.Errorf("groups: got %q, %w", groups, err)
	}
	return nil
}

// openDir is a temporary folder that other users may enter.
func openDir(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{root, filepath.Dir(root)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(path, before.Mode()) })
}

func TestDeniedReading(t *testing.T) {
	root := openDir(t)
	file := put(t, root, "g/t/gtoffset", "0 5\n")
	put(t, root, "closed/t/gtoffset", "0 5\n")
	chmod(t, file, 0)
	chmod(t, filepath.Join(root, "closed"), 0)
	if err := child(t, "denied", root, "read").Run(); err != nil {
		t.Error(err)
	}
	for _, path := range []string{file, filepath.Join(root, "closed")} {
		if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0 {
			t.Errorf("mode of %s: got %v, %v", path, fi.Mode(), err)
		}
	}
}

func TestDeniedWriting(t *testing.T) {
	root := openDir(t)
	path := put(t, root, "g/t/gtoffset", "0 5\n")
	put(t, root, "g/t/gtoffset.lock", "")
	chmod(t, filepath.Join(root, "g/t"), 0o555)
	if err := child(t, "denied", root, "permission denied").Run(); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(root, "g/t/gtoffset.lock")); err != nil && os.Geteuid() == 0 {
		t.Fatal(err)
	}
	if err := child(t, "denied", root, "permission denied").Run(); err != nil {
		t.Error(err)
	}
	if got := read(t, path); got != "0 5\n" {
		t.Errorf("file: got %q", got)
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
}

// A user who may replace the file, but cannot give it its owner back, must not.
func TestOwnerThatCannotBeKept(t *testing.T) {
	needRoot(t)
	root := openDir(t)
	path := put(t, root, "g/t/gtoffset", "0 5\n")
	chmod(t, filepath.Join(root, "g/t"), 0o777)
	if err := child(t, "denied", root, "keep the owner of "+path).Run(); err != nil {
		t.Error(err)
	}
	if got := read(t, path); got != "0 5\n" {
		t.Errorf("file: got %q", got)
	}
}

func owner(t *testing.T, path string) string {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	st := fi.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%d:%d %o", st.Uid, st.Gid, fi.Mode().Perm())
}

func TestOwnerIsKept(t *testing.T) {
	needRoot(t)
	root := t.TempDir()
	for path, mode := range map[string]os.FileMode{root: 0o770, put(t, root, "g/t/gtoffset", "0 5\n"): 0o640} {
		if err := errors.Join(os.Chown(path, 1234, 2345), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, root)
	save(t, s, "g", "t", map[int32]int64{0: 6})
	save(t, s, "new", "t", map[int32]int64{0: 6})
	for path, want := range map[string]string{
		"g/t/gtoffset": "1234:2345 640", "g/t/gtoffset.lock": "1234:2345 640",
		"new": "1234:2345 770", "new/t": "1234:2345 770", "new/t/gtoffset": "1234:2345 640", "new/t/gtoffset.lock": "1234:2345 640",
	} {
		if got := owner(t, filepath.Join(root, path)); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestNotRegular(t *testing.T) {
	root := t.TempDir()
	put(t, root, "g/t/x", "")
	for _, name := range []string{"gtoffset", "gtoffset.lock"} {
		if err := syscall.Mkfifo(filepath.Join(root, "g/t", name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, root)
	h := load(t, s, "g", []string{"t"}, false)
	if topic, _ := h.Store.Topic("t"); topic.Presence != offsets.WrongType || !strings.Contains(topic.Reason, "a named pipe") {
		t.Errorf("got %+v", topic)
	}
	if l, err := s.Lock(t.Context(), "g", []string{"t"}); err == nil {
		if err := l.Put(t.Context(), "t", all(1), Facts{}); err == nil {
			t.Error("put into a named pipe")
		}
		_ = l.Unlock()
	}
}

// roleOnce saves once, for a trace.
func roleOnce(root, _ string) error {
	s, err := Open(root)
	if err != nil {
		return err
	}
	l, err := s.Lock(context.Background(), "g", []string{"t"})
	if err != nil {
		return err
	}
	return errors.Join(l.Put(context.Background(), "t", all(7), Facts{Now: now}), l.Unlock())
}

func TestTrace(t *testing.T) {
	strace := needs.Program(t, "strace") // without it the order is tested by TestStepsInOrder only
	root, trace := t.TempDir(), filepath.Join(t.TempDir(), "trace")
	put(t, root, "g/t/gtoffset", "0 5\n")
	cmd := child(t, "once", root, "")
	cmd.Args = append([]string{strace, "-f", "-y", "-o", trace, "-e", "trace=fsync,fdatasync,rename,renameat,renameat2"}, cmd.Args...)
	cmd.Path = strace
	needs.Met(t, cmd.Run())
	var got []string
	for l := range strings.Lines(read(t, trace)) {
		switch {
		case strings.Contains(l, "fsync(") && strings.Contains(l, tempPrefix):
			got = append(got, "sync file")
		case strings.Contains(l, "rename") && strings.Contains(l, tempPrefix):
			got = append(got, "rename")
		case strings.Contains(l, "fsync(") && strings.Contains(l, "/g/t>"):
			got = append(got, "sync folder")
		}
	}
	if want := []string{"sync file", "rename", "sync folder"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q in\n%s", got, want, read(t, trace))
	}
}
