package offsetfile

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"syscall"
	"time"
)

// How long a store that is away is waited for between two tries, and how long one try may take at least.
const (
	firstPause = 50 * time.Millisecond
	mostPause  = time.Second
	leastTry   = 5 * time.Second
)

// Retry calls try until it ends with anything but a store that is away, with growing pauses, and with a deadline of its own for each
// call, so that one silence does not take all the time. When the context's deadline comes first, the error is an *AwayError with the
// last cause that says more than that time ran out. It is what [Over] does with a [Table]; a store that implements Store itself calls it
// around each request that may be repeated.
func Retry(ctx context.Context, store string, o Options, what string, try func(context.Context) error) error {
	pause := firstPause
	var why error
	for tries := 1; ; tries++ {
		err := once(ctx, try)
		if why == nil || !timedOut(err) {
			why = err
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(ctx.Err(), context.Canceled):
			return ctx.Err()
		case hopeless(err):
			return &AwayError{Store: store, Tries: tries, Err: cause(err)}
		case !IsAway(err):
			return named(store, err)
		}
		if o.Log != nil {
			o.Log.Debug("store is away", "store", store, "request", what, "try", tries, "error", err)
		}
		wait := pause/2 + rand.N(pause/2)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
			return &AwayError{Store: store, Tries: tries, Err: cause(why)}
		}
		select {
		case <-ctx.Done():
			return &AwayError{Store: store, Tries: tries, Err: cause(why)}
		case <-time.After(wait):
		}
		pause = min(2*pause, mostPause)
	}
}

// once makes one try, with a third of the time that is left, or leastTry if that is more.
func once(ctx context.Context, try func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(leastTry, time.Until(deadline)/3))
		defer cancel()
	}
	return try(ctx)
}

// IsAway reports whether an error means that the service could not be reached, hung up, or did not answer in time.
func IsAway(err error) bool {
	var away *AwayError
	var op *net.OpError
	var name *net.DNSError
	return errors.As(err, &away) || errors.As(err, &op) || errors.As(err, &name) || timedOut(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNREFUSED)
}

// timedOut reports whether an error is about time alone. Many an error of the system is a net.Error, too: only what took too long counts.
func timedOut(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// hopeless reports whether there is no use in another try: a name that nobody has, a certificate that is not trusted, a port that
// speaks another protocol, a server that wants no part of our TLS.
func hopeless(err error) bool {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	var away *AwayError
	return errors.As(err, &away) && away.Final || errors.As(err, &name) && name.IsNotFound || errors.As(err, &certificate) || errors.As(err, &record) ||
		errors.As(err, &op) && op.Op == "remote error" // an alert of TLS
}

// neverSent reports whether the request cannot have been carried out: nobody answered the call, or it was not gone through with.
func neverSent(err error) bool {
	var op *net.OpError
	var away *AwayError
	return errors.As(err, &away) && away.Undone || errors.As(err, &op) && op.Op == "dial" || errors.Is(err, syscall.ECONNREFUSED)
}

// cause takes the marker off.
func cause(err error) error {
	var away *AwayError
	if errors.As(err, &away) {
		return away.Err
	}
	return err
}

// named puts the store's name into the errors that want it.
func named(store string, err error) error {
	var credentials *CredentialsError
	var nothing *NothingError
	switch {
	case errors.As(err, &credentials) && credentials.Store == "":
		return &CredentialsError{Store: store, Err: credentials.Err}
	case errors.As(err, &nothing) && nothing.Store == "":
		return &NothingError{Store: store, Looked: nothing.Looked, Hint: nothing.Hint}
	}
	return err
}
