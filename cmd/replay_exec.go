package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"gtoffset/kafkaops/offsets"
)

// commandSink gives each batch to a command of its own on stdin.
type commandSink struct {
	gathered
	r *replay
}

// accept runs the command until it takes the batch, as often as --retries allows.
func (s *commandSink) accept(soft, hard context.Context, b *batch) error {
	defer s.reset()
	for try := 0; ; try++ {
		err := s.run(hard, b)
		if err == nil || hard.Err() != nil || try == s.r.o.retries {
			return err
		}
		pause := min(time.Second<<min(try, 5), 30*time.Second)
		s.r.g.note("batch %d was not accepted: %v; once more in %s", b.number, err, offsets.Span(pause))
		if wait(soft, pause) != nil {
			return err
		}
	}
}

// grace is how long a command that is ended has to end by itself, and afterwards what it started has to let go of its output.
const grace = 2 * time.Second

// run runs the command once. It is told apart that it took all of its input: we keep the end of the pipe that it reads from, too, and
// look at what is left in it. Holding that end, we are not told when the command closes its own; its exit tells.
func (s *commandSink) run(hard context.Context, b *batch) error {
	name := s.r.o.command[0]
	ctx, cancel := context.WithTimeout(hard, time.Duration(s.r.o.execTimeout))
	defer cancel()
	in, out, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	defer in.Close()
	defer out.Close()

	c := exec.CommandContext(ctx, name, s.r.o.command[1:]...)
	c.Env = append(c.Environ(), "GTOFFSET_GROUP="+s.r.o.group, "GTOFFSET_BATCH="+strconv.FormatInt(b.number, 10), "GTOFFSET_RANGES="+b.ranges())
	c.Stdin, c.Stdout, c.Stderr = in, s.r.passOut(), s.r.passErr()
	c.WaitDelay = grace
	ownGroup(c)
	c.Cancel = func() error { return endGroup(c.Process, false) }
	if err := c.Start(); err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	var sent int
	written := make(chan error, 1)
	go func() {
		var err error
		sent, err = out.Write(s.buf)
		written <- errors.Join(err, out.Close())
	}()
	err = c.Wait()
	if ctx.Err() != nil {
		_ = endGroup(c.Process, true) // what it started, too
	}
	out.SetWriteDeadline(time.Unix(1, 0)) // nobody reads any more
	werr := <-written
	switch {
	case hard.Err() != nil:
		return hard.Err()
	case ctx.Err() != nil:
		return fmt.Errorf("%s did not end within %s (--exec-timeout)", name, offsets.Span(time.Duration(s.r.o.execTimeout)))
	case err != nil:
		return fmt.Errorf("%s ended with %s", name, ending(err))
	}
	if left := s.left(in); werr != nil || left > 0 {
		return fmt.Errorf("%s ended with 0, but left %d of %d bytes of its input unread", name, len(s.buf)-sent+left, len(s.buf))
	}
	return nil
}

// left counts what is in the pipe still. Nobody writes to it any more.
func (s *commandSink) left(in *os.File) int {
	n, _ := io.Copy(io.Discard, in)
	return int(n)
}

// ending words how a command ended.
func ending(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() >= 0 {
		return strconv.Itoa(exit.ExitCode())
	}
	return err.Error() // signal: killed
}
