package offsetfile_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"gtoffset/offsetfile"
)

// The last try before the time is up may have too little of it to find out anything: what an earlier one found is the reason.
func TestRetryTellsTheReason(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for name, late := range map[string]error{
		"the context's":    context.DeadlineExceeded,
		"the connection's": &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		tries := 0
		err := offsetfile.Retry(ctx, "store", offsetfile.Options{}, "read", func(context.Context) error {
			if tries++; tries == 1 {
				return refused
			}
			return late
		})
		cancel()
		if away := new(offsetfile.AwayError); !errors.As(err, &away) || !strings.Contains(err.Error(), "refused") || tries < 2 {
			t.Errorf("%s: got %v after %d tries", name, err, tries)
		}
	}
}
