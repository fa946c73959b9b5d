// Package terminal runs a program on a real terminal, which tmux keeps: what is typed reaches it as from a keyboard, and what stands on
// the screen can be looked at.
package terminal

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Terminal is one terminal with a program on it.
type Terminal struct {
	ctx    context.Context
	socket string
	env    []string
}

// patience is how long something is waited for that should be there soon.
const patience = time.Minute

// Open runs a line of shell on a new terminal. Its socket lies below dir; env is what is set beside our own environment.
func Open(ctx context.Context, dir string, columns, lines int, line string, env ...string) (*Terminal, error) {
	own, err := os.MkdirTemp(dir, "tmux-") // a server that is told to end takes a moment, and its socket cannot be had meanwhile
	if err != nil {
		return nil, err
	}
	t := &Terminal{ctx: ctx, socket: filepath.Join(own, "socket"), env: env}
	_, err = t.tmux("new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(lines), "LC_ALL=C.UTF-8 "+line)
	return t, err
}

func (t *Terminal) tmux(args ...string) (string, error) {
	c := exec.CommandContext(t.ctx, "tmux", append([]string{"-f", "/dev/null", "-S", t.socket}, args...)...)
	c.Env = append(append(os.Environ(), "LC_ALL=C.UTF-8", "TERM=xterm-256color"), t.env...)
	said, err := c.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w\n%s", args[0], err, said)
	}
	return string(said), nil
}

// Close ends the terminal, and with it what runs on it.
func (t *Terminal) Close() {
	t.ctx = context.WithoutCancel(t.ctx) // a test's is over when it cleans up
	_, _ = t.tmux("kill-server")
}

// Type types keys by tmux's names: Enter, Tab, C-c.
func (t *Terminal) Type(keys ...string) error {
	_, err := t.tmux(append([]string{"send-keys"}, keys...)...)
	return err
}

// Write types a text as it is.
func (t *Terminal) Write(text string) error {
	_, err := t.tmux("send-keys", "-l", "--", text)
	return err
}

// Screen is what stands on the screen, with its colours if they are wanted. A line that the terminal broke is one.
func (t *Terminal) Screen(colors bool) (string, error) {
	args := []string{"capture-pane", "-p", "-J"}
	if colors {
		args = append(args, "-e")
	}
	return t.tmux(args...)
}

// Wait waits until the screen is as it should be, and returns it.
func (t *Terminal) Wait(colors bool, ready func(screen string) bool) (string, error) {
	for deadline := time.Now().Add(patience); ; {
		screen, err := t.Screen(colors)
		if err != nil || ready(screen) {
			return screen, err
		}
		if time.Now().After(deadline) {
			return "", fmt.Errorf("within a minute there is only:\n%s", strings.TrimRight(screen, "\n"))
		}
		time.Sleep(20 * time.Millisecond)
	}
}
