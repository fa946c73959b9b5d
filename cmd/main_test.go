package cmd_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"gtoffset/cmd"
)

// TestMain lets this test binary be the program: where a test needs a process of its own, to kill it or to give it to another
// user.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_PROGRAM") == "" {
		os.Exit(m.Run())
	}
	env := cmd.System(nil)
	if die := os.Getenv("TEST_KILL"); die != "" {
		env.Step = func(step string) error {
			if step == die {
				return errors.Join(syscall.Kill(os.Getpid(), syscall.SIGKILL), block())
			}
			return nil
		}
	}
	os.Exit(cmd.Main(context.Background(), env, os.Args[1:]))
}

// block waits for the signal that is on its way.
func block() error { select {} }

// process runs the program as a process of its own. user is whom it belongs to, 0 for us. It returns the exit code, -1 after a
// kill.
func (w *world) process(user uint32, kill string, args ...string) result {
	w.t.Helper()
	bin, err := os.Executable()
	must(w.t, err)
	if user != 0 { // the folder of the test binary may be closed to others
		bin = copyFile(w.t, bin)
	}
	line := append(append(slices.Clone(w.wrap), bin), args...)
	c := exec.Command(line[0], line[1:]...)
	c.Env = []string{"TEST_PROGRAM=1", "TEST_KILL=" + kill}
	for name, value := range w.vars {
		c.Env = append(c.Env, name+"="+value)
	}
	var out, talk bytes.Buffer
	c.Stdout, c.Stderr, c.Dir = &out, &talk, "/"
	if user != 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	}
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	return result{w.t, args, out.String(), talk.String(), c.ProcessState.ExitCode()}
}

func copyFile(t *testing.T, path string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gtoffset-test")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	must(t, os.Chmod(dir, 0o755))
	// By another process: what this one has open for writing is busy, as long as a child that it forks meanwhile has it open, too.
	to := filepath.Join(dir, "gtoffset")
	if out, err := exec.Command("install", "-m", "755", path, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return to
}

// open lets every user enter the folders of a test, which are closed to others.
func open(t *testing.T, dir string) {
	t.Helper()
	for dir != os.TempDir() && dir != "/" {
		must(t, os.Chmod(dir, 0o755))
		dir = filepath.Dir(dir)
	}
}

// unprivileged runs the program as a user whom the modes of files bind: another one, if we are root, who may enter the folders.
func (w *world) unprivileged(folders ...string) func(args ...string) result {
	w.t.Helper()
	if os.Getuid() != 0 {
		return w.run
	}
	for _, folder := range folders {
		open(w.t, folder)
	}
	return func(args ...string) result { return w.process(65534, "", args...) }
}
