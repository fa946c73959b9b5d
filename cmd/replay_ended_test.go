package cmd

import (
	"errors"
	"io"
	"testing"

	"gtoffset/kafkaops/records"
	"gtoffset/kafkaops/wire"
)

// A broker that hangs up until it is given up leaves an io.EOF within the error, and that is not the end of the records.
func TestHangUpIsNotTheEnd(t *testing.T) {
	away := &records.UnreachableError{Topic: "orders", Broker: 2, Waited: "1m0s", Err: &wire.Error{Broker: 2, Err: io.EOF}}
	if !errors.Is(away, io.EOF) {
		t.Fatal("the error has no io.EOF within: the test shows nothing")
	}
	for _, c := range []struct {
		err  error
		want bool
	}{{nil, true}, {io.EOF, true}, {errEnough, true}, {away, false}, {io.ErrUnexpectedEOF, false}} {
		if got := finished(c.err); got != c.want {
			t.Errorf("finished(%v): got %v, want %v", c.err, got, c.want)
		}
	}
}
