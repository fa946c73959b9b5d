package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

const megabyte = 1e6

// Resident is the most memory that a run has at one time, in MB. What wait4 tells begins with the memory of whoever started the
// process, so the process itself is looked at while it runs.
func Resident(ctx context.Context, c Command) (float64, error) {
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("%s: %w", c.Name, err)
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	most := 0.0
	for {
		select {
		case err := <-over:
			if err == nil && most == 0 {
				err = errors.New("the system does not tell how much memory a process has")
			}
			return most, err
		case <-time.After(time.Millisecond):
			most = max(most, peak(cmd.Process.Pid))
		}
	}
}

// peak is the most memory that a process has had so far, in MB; 0 if it is not told.
func peak(pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kilobytes float64
		if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kilobytes); err == nil {
			return kilobytes * 1024 / megabyte
		}
	}
	return 0
}
