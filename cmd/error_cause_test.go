package cmd

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gtoffset/kafkaops/records"
	"gtoffset/kafkaops/wire"
	"gtoffset/offsetfile"
)

// Causes is the closed list, for the tests through the front door.
func Causes() []string { return causeWords(causes()) }

// What ends a command by chance of time, or only on a real cluster, has its cause as well.
func TestCauseOfErrors(t *testing.T) {
	t.Parallel()
	broker := func(c wire.Cause) error {
		return &wire.Error{Addr: "kafka1:9092", Stage: wire.StageDial, Cause: c, Err: fmt.Errorf("x")}
	}
	for _, c := range []struct {
		err  error
		code int
		want cause
	}{
		{context.DeadlineExceeded, exitUnreachable, causeTimeout},
		{&records.ExpiredError{Topic: "orders"}, exitPartly, causeExpired},
		{&records.TruncatedError{Topic: "orders"}, exitPartly, causeChanged},
		{&records.GoneError{Topic: "orders"}, exitPartly, causeMissing},
		{&records.DamagedError{Topic: "orders"}, exitPartly, causeDamaged},
		{&records.RefusedError{Topic: "orders", Denied: true}, exitPartly, causeAuthorization},
		{&records.WriteError{Topic: "orders", Denied: true}, exitPartly, causeAuthorization},
		{&records.WriteError{Topic: "orders"}, exitPartly, causeIncomplete},
		{&offsetfile.AwayError{Store: "redis://h/0", Err: context.DeadlineExceeded}, exitUnreachable, causeUnreachable},
		{&offsetfile.CredentialsError{Store: "redis://h/0", Err: fmt.Errorf("x")}, exitUnreachable, causeAuthentication},
		{&wire.TooOldError{API: "Fetch"}, exitUnreachable, causeUnsupported},
		{broker(wire.CauseUnknown), exitUnreachable, causeUnreachable},
		{broker(wire.CauseSilent), exitUnreachable, causeUnreachable},
		{broker(wire.CauseUnresolved), exitUnreachable, causeUnreachable},
		{broker(wire.CauseRefused), exitUnreachable, causeUnreachable},
		{broker(wire.CauseIssuer), exitUnreachable, causeUnreachable},
		{broker(wire.CauseKDC), exitUnreachable, causeUnreachable},
		{broker(wire.CauseAddress), exitUnreachable, causeAddress},
		{broker(wire.CauseNotKafka), exitUnreachable, causeAddress},
		{broker(wire.CauseWantsTLS), exitUnreachable, causeTLS},
		{broker(wire.CauseNoTLS), exitUnreachable, causeTLS},
		{broker(wire.CauseHandshake), exitUnreachable, causeTLS},
		{broker(wire.CauseUnknownCA), exitUnreachable, causeTLS},
		{broker(wire.CauseHostName), exitUnreachable, causeTLS},
		{broker(wire.CauseExpired), exitUnreachable, causeTLS},
		{broker(wire.CauseWantsCertificate), exitUnreachable, causeAuthentication},
		{broker(wire.CauseCertificate), exitUnreachable, causeAuthentication},
		{broker(wire.CauseWantsSASL), exitUnreachable, causeAuthentication},
		{broker(wire.CauseNoSASL), exitUnreachable, causeAuthentication},
		{broker(wire.CauseMechanism), exitUnreachable, causeAuthentication},
		{broker(wire.CauseCredentials), exitUnreachable, causeAuthentication},
		{broker(wire.CauseToken), exitUnreachable, causeAuthentication},
		{broker(wire.CauseTicket), exitUnreachable, causeAuthentication},
		{broker(wire.CauseService), exitUnreachable, causeAuthentication},
		{broker(wire.CauseClock), exitUnreachable, causeAuthentication},
	} {
		v := (&global{}).judge(t.Context(), c.err)
		if v.code() != c.code || len(v.causes) != 1 || v.causes[0] != c.want {
			t.Errorf("%v: code %d, causes %v; want %d, %s", c.err, v.code(), v.causes, c.code, c.want)
		}
		wrapped := (&global{}).judge(t.Context(), &problem{code: exitPartly, text: "x", err: c.err})
		if wrapped.code() != exitPartly || len(wrapped.causes) != 1 || wrapped.causes[0] != c.want {
			t.Errorf("within another error %v has the causes %v, want %s", c.err, wrapped.causes, c.want)
		}
	}
	if v := (&global{}).judge(t.Context(), errors.New("the server accepts no more queries")); v.code() != exitFailed {
		t.Errorf("an error without a type has code %d, whatever its words are; want %d", v.code(), exitFailed)
	}
	if v := (&global{}).judge(t.Context(), &wire.BootstrapError{Tried: []error{broker(wire.CauseSilent), broker(wire.CauseCredentials)}}); fmt.Sprint(v.causes) != "[authentication unreachable]" {
		t.Errorf("of two brokers: %v", v.causes)
	}
}
