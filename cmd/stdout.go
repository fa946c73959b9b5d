package cmd

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// stdout is where answers go. It remembers the first failure: an answer that did not arrive is an error of every command, also where
// nobody looks at what a write returns.
type stdout struct {
	w      io.Writer
	used   bool
	failed *stdoutError
}

func (o *stdout) Write(p []byte) (int, error) {
	o.used = true
	n, err := o.w.Write(p)
	if err == nil {
		return n, nil
	}
	if o.failed == nil {
		o.failed = &stdoutError{err}
	}
	return n, o.failed
}

// stdoutError says why stdout took nothing more.
type stdoutError struct{ err error }

func (e *stdoutError) Error() string {
	if p := (*fs.PathError)(nil); errors.As(e.err, &p) {
		return p.Err.Error() // its path says no more than stdout does
	}
	return e.err.Error()
}

func (e *stdoutError) Unwrap() error { return e.err }

// told adds to a command's error that its answer did not arrive, if the error does not say so. Whoever went away, as head does, is not
// told.
func (o *stdout) told(err error) error {
	if told := (*stdoutError)(nil); o.failed == nil || errors.As(err, &told) || errors.Is(o.failed, syscall.EPIPE) {
		return err
	}
	return errors.Join(err, o.failed)
}

// shutStdout reports that what goes to stdout leads nowhere.
func (g *global) shutStdout() bool { return g.env.StdoutClosed != nil && g.env.StdoutClosed() }

// nowhere refuses to write what somebody wants to have to a stdout that is closed.
func (g *global) nowhere(what, hint string) error {
	if !g.shutStdout() {
		return nil
	}
	return &problem{code: exitFailed, text: "stdout is closed: " + what + " would be nowhere", hint: hint}
}

// noteClosed tells that nobody was shown what a command answered.
func (o *stdout) noteClosed(g *global) {
	if o.used && g.shutStdout() {
		g.note("stdout is closed: what was to be shown there is nowhere")
	}
}

// direct is the file behind stdout, for a process that is to have it as its own.
func direct(w io.Writer) io.Writer {
	if o, ok := w.(*stdout); ok {
		if f, ok := o.w.(*os.File); ok {
			return f
		}
	}
	return w
}

// ofStdout is the part of exit.go's map that is about answers which did not arrive; nil for anything else.
func ofStdout(err error) *problem {
	var failed *stdoutError
	if !errors.As(err, &failed) {
		return nil
	}
	p := &problem{code: exitFailed, text: err.Error(), hint: "make room there, or send stdout to another place"}
	if readerGone(failed) {
		p.hint = "let it be read to its end: a plan is shown before it is written"
	}
	if errors.Is(failed, fs.ErrClosed) || errors.Is(failed, syscall.EBADF) {
		p.hint = "send stdout to a file, or to a program"
	}
	if err == error(failed) {
		p.text = "write stdout: " + p.text
	}
	return p
}
