package live

import (
	"context"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// A Process is a child that cannot outlive us: it leads its own process group, and where the kernel can do it (Linux) it is
// killed when we die, however we die.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // of Wait, once done is closed
}

// Start runs the command until it ends or is stopped.
func Start(cmd *exec.Cmd) (*Process, error) {
	cmd.SysProcAttr = attributes()
	cmd.WaitDelay = 2 * time.Second // a grandchild that holds the pipes does not hold us
	p := &Process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The death signal is sent when the *thread* that forked ends, so that thread waits for the child and is used for
		// nothing else. It ends with this goroutine, since it is never unlocked.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// run starts the command and waits for its end. When ctx ends first, the command and its children are killed.
func run(ctx context.Context, cmd *exec.Cmd) error {
	p, err := Start(cmd)
	if err != nil {
		return err
	}
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		p.Stop()
		return ctx.Err()
	}
}

// PID is the number of the process, also after its end.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is how the process ended: nil for exit code 0. It may be asked once Done is closed.
func (p *Process) Err() error { return p.err }

// Stop kills the process and its group, and waits until it is gone. A frozen one dies, too.
func (p *Process) Stop() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

func (p *Process) signal(s syscall.Signal) {
	select {
	case <-p.done: // its number may belong to somebody else by now
	default:
		_ = syscall.Kill(-p.PID(), s) // it may just have ended
	}
}
