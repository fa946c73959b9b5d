package main

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/kafkatest"
)

// TestMain lets this test binary be the program.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_PROGRAM") != "" {
		main()
	}
	os.Exit(m.Run())
}

// An interrupt while a broker lets us wait, also by a terminal that goes, ends each command with 130, and nothing is written.
func TestInterrupt(t *testing.T) {
	document := filepath.Join(t.TempDir(), "offsets.csv")
	if err := os.WriteFile(document, []byte("orders,0,3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup, where it stays ignored
		signals = append(signals, syscall.SIGHUP)
	}
	for i, line := range []string{
		"describe -g billing", "clamp -g billing --execute", "reset -g billing -t orders --to-latest --execute", "delete -g billing -t orders --execute",
		"import " + document + " -g billing --execute", "export -g billing", "replay -g billing -t orders --from committed", "wait -g billing --lag 0",
	} {
		t.Run(line, func(t *testing.T) {
			b := kafkatest.Start(t, kafkatest.Options{Brokers: 1, Topics: map[string]int32{"orders": 1}})
			if err := b.Commit("billing", "orders", 0, 7, -1, ""); err != nil {
				t.Fatal(err)
			}
			asked, over := make(chan struct{}), make(chan struct{})
			defer close(over)
			var once sync.Once
			b.Rewrite(kmsg.OffsetFetch.Int16(), func(int32, kmsg.Response) bool {
				once.Do(func() { close(asked) })
				<-over // no answer
				return false
			})
			bin, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			c := exec.CommandContext(t.Context(), bin, strings.Fields(line)...)
			c.Env = []string{"TEST_PROGRAM=1", "GTOFFSET_BOOTSTRAP_SERVER=" + b.Bootstrap(), "HOME=" + t.TempDir()}
			var out, talk bytes.Buffer
			c.Stdout, c.Stderr = &out, &talk
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- c.Wait() }()
			select {
			case <-asked:
				if err := c.Process.Signal(signals[i%len(signals)]); err != nil {
					t.Error(err)
				}
				<-ended
			case err := <-ended:
				t.Errorf("it did not ask: %v", err)
			}
			if got := c.ProcessState.ExitCode(); got != 130 || !strings.Contains(talk.String(), "interrupted") {
				t.Errorf("exit code = %d, want 130\n%s%s", got, &out, &talk)
			}
			if o, _ := b.Committed("billing", "orders", 0); o.Offset != 7 || b.Count(kmsg.OffsetCommit.Int16(), kmsg.OffsetDelete.Int16()) != 0 {
				t.Errorf("something was written: %+v", o)
			}
		})
	}
}
