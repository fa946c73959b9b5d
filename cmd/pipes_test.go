//go:build unix

package cmd_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gtoffset/cmd"
)

// fileReaders are the commands that read a file which the operator names, each with FILE in its place.
func fileReaders() map[string][]string {
	return map[string][]string{
		"import":          {"import", "FILE", "--dry-run"},
		"reset":           {"reset", "-g", "billing", "--from-file", "FILE", "--dry-run"},
		"command-config":  {"config", "--command-config", "FILE"},
		"-X":              {"config", "-X", "sasl.password=@FILE"},
		"password-file":   {"describe", "-g", "billing", "-s", "redis://localhost/0?password-file=FILE"},
		"tls-ca":          {"describe", "-g", "billing", "-s", "rediss://localhost/0?tls-ca=FILE"},
		"tls-cert":        {"describe", "-g", "billing", "-s", "rediss://localhost/0?tls-cert=FILE&tls-key=FILE"},
		"ssl.ca.location": {"config", "-X", "security.protocol=SSL", "-X", "ssl.ca.location=FILE"},
	}
}

func inPlace(args []string, file string) []string {
	var all []string
	for _, a := range args {
		all = append(all, strings.ReplaceAll(a, "FILE", file))
	}
	return all
}

// Whatever file a command reads, it may be a pipe that nobody writes to: that is said. One that somebody has open is waited for, and an
// interrupt ends it.
func TestPipesDoNotHang(t *testing.T) {
	t.Parallel()
	w := start(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	for name, args := range fileReaders() {
		if code := w.run(inPlace(args, pipe)...).says("nobody writes to the pipe").code; code != 1 && code != 2 {
			t.Errorf("%s: exit code %d", name, code)
		}
	}

	open, err := os.OpenFile(pipe, os.O_RDWR, 0)
	must(t, err)
	defer open.Close()
	for _, args := range fileReaders() {
		soft, interrupt := context.WithCancel(t.Context())
		w.soft = soft
		ended := make(chan result, 1)
		go func() { ended <- w.run(inPlace(args, pipe)...) }()
		interrupt()
		(<-ended).exits(130).says("interrupted")
	}
}

// A document from stdin that does not come is given up at an interrupt.
func TestInterruptedStdin(t *testing.T) {
	t.Parallel()
	w := start(t)
	in, silent := io.Pipe()
	defer silent.Close()
	read := make(chan struct{})
	w.in = io.MultiReader(onRead(func() { close(read) }), in)
	soft, interrupt := context.WithCancel(t.Context())
	var out, talk bytes.Buffer
	ended := make(chan int, 1)
	go func() { ended <- cmd.Main(soft, w.env(&out, &talk), []string{"import", "-", "--dry-run"}) }()
	<-read
	interrupt()
	same(t, "exit code", <-ended, 130)
	same(t, "stderr", talk.String(), "gtoffset: error: interrupted; nothing was written\n")
}

// onRead is an empty file that tells of being read.
type onRead func()

func (c onRead) Read([]byte) (int, error) {
	c()
	return 0, io.EOF
}

// A summary for a pipe that nobody reads is told, and does not keep the replay from ending.
func TestSummaryForNobody(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 3)
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	w.run("replay", "-g", "billing", "-t", "orders", "--from", "earliest", "--summary", pipe).exits(3).says("its summary could not be written")
}
