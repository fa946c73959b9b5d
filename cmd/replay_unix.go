//go:build unix

package cmd

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// ownGroup gives a command a process group of its own, so that an interrupt at the terminal reaches us alone. It has no terminal:
// a question that it asks there fails at once, instead of stopping it.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// endGroup ends a command and what it has started; hard without asking.
func endGroup(p *os.Process, hard bool) error {
	sig := syscall.SIGTERM
	if hard {
		sig = syscall.SIGKILL
	}
	if err := syscall.Kill(-p.Pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// tellOfPipes lets a write to a pipe that nobody reads fail, instead of ending the process. It is not ignored, as that would be
// inherited by commands.
func tellOfPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// readerGone reports an error of a pipe that nobody reads.
func readerGone(err error) bool { return errors.Is(err, syscall.EPIPE) }
