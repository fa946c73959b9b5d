package cmd

import (
	"context"
	"io"
	"os"
	"os/user"
	"strings"
	"time"

	"golang.org/x/term"
)

// Env is all that the program takes from the machine it runs on, so that a test can run it as a function.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	StdinTerminal  bool        // a person may be asked
	StdoutClosed   func() bool // it leads nowhere: it was closed when the program began; nil: it was not
	StdoutWidth    int         // columns of the terminal, 0 if stdout is none
	StderrWidth    int
	Size           func() (columns, lines int) // of the terminal on stdout as it is now; nil: it does not change
	Getenv         func(string) string
	Environ        func() []string // all variables, as NAME=VALUE; nil: they are not to be listed
	Now            func() time.Time
	Who            func() (user, host string)
	Step           func(string) error // called before each step of a store's write; nil outside tests of being killed there

	// Interrupts makes the contexts of a command: soft ends with the first interrupt, hard, on which a write under way runs, only
	// with the second. Nil stands for no interrupts.
	Interrupts func(context.Context) (soft, hard context.Context)
}

// System is the environment of a real process. interrupts makes the contexts that interrupts end.
func System(interrupts func(context.Context) (soft, hard context.Context)) Env {
	return Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		StdinTerminal: term.IsTerminal(int(os.Stdin.Fd())), StdoutClosed: func() bool { return closed(os.Stdout) },
		StdoutWidth: width(os.Stdout), StderrWidth: width(os.Stderr), Size: size,
		Getenv: os.Getenv, Environ: os.Environ, Now: time.Now, Interrupts: interrupts, Who: who,
	}
}

func who() (name, host string) {
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, _ = os.Hostname()
	return name, host
}

// width returns the columns of a terminal, 0 for anything else.
func width(f *os.File) int {
	if !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil || w <= 0 {
		return 80
	}
	return w
}

// size is how large the terminal on stdout is now.
func size() (columns, lines int) {
	columns, lines, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil || columns <= 0 || lines <= 0 {
		return width(os.Stdout), 24
	}
	return columns, lines
}

// mayAsk reports whether there is a person to ask: stdin and stderr are terminals, and CI is unset or switched off.
func (e Env) mayAsk() bool {
	ci := strings.ToLower(e.Getenv("CI"))
	return e.StdinTerminal && e.StderrWidth > 0 && (ci == "" || ci == "0" || ci == "false")
}

// stateDir is where backups go by default.
func (e Env) stateDir() string {
	if d := e.Getenv("XDG_STATE_HOME"); d != "" {
		return d + "/gtoffset"
	}
	if h := e.Getenv("HOME"); h != "" {
		return h + "/.local/state/gtoffset"
	}
	return ""
}
