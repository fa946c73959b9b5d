//go:build unix

package cmd

import (
	"os/signal"
	"syscall"
)

// ignoreFileLimit lets a write beyond a file size limit fail as one on a full disk does, instead of ending the process.
func ignoreFileLimit() { signal.Ignore(syscall.SIGXFSZ) }
