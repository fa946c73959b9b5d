package live

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// A service is one process with a folder of its own, which can be killed and started again on what it left there.
type service struct {
	dir     string
	command func() *exec.Cmd
	ready   string // what it writes to its log when it serves
	proc    *Process
}

// newService makes the folder; the command is set by whoever knows it.
func newService(what, ready string) (*service, error) {
	dir, err := os.MkdirTemp("", "gtoffset-"+what+"-")
	if err != nil {
		return nil, err
	}
	return &service{dir: dir, ready: ready}, nil
}

// Start starts it, again if it was killed, and returns when it serves.
func (s *service) Start(ctx context.Context) error {
	path := filepath.Join(s.dir, "log")
	log, err := os.Create(path) // anew each time: an old "ready" does not count
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := s.command()
	cmd.Dir = s.dir
	cmd.Stdout, cmd.Stderr = log, log
	if s.proc, err = Start(cmd); err != nil {
		return fmt.Errorf("start %s: %w", cmd.Args[0], err)
	}
	err = Eventually(ctx, cmd.Args[0]+" serves", func(context.Context) (bool, error) {
		select {
		case <-s.proc.done:
			return true, nil
		default:
		}
		said, err := os.ReadFile(path)
		return bytes.Contains(said, []byte(s.ready)), err
	})
	select {
	case <-s.proc.done:
		err = errEnded
	default:
	}
	if err != nil {
		said, _ := os.ReadFile(path) // as far as it can be had
		s.proc.Stop()
		return fmt.Errorf("start %s: %w\n%s", cmd.Args[0], err, tail(string(said), 20))
	}
	return nil
}

// Kill ends it as kill -9 does, and waits until it is gone.
func (s *service) Kill() {
	if s.proc != nil {
		s.proc.Stop()
	}
}

// Stop ends it for good, and removes its folder.
func (s *service) Stop() {
	s.Kill()
	for range 50 { // a child of its own may still write
		if os.RemoveAll(s.dir) == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
