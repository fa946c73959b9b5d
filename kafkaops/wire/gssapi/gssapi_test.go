package gssapi

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gtoffset/kafkaops/wire"
)

const conf = `[libdefaults]
 default_realm = R
 dns_lookup_kdc = false
[realms]
 R = {
  kdc = 127.0.0.1:1
 }
`

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Whatever lies in the files, they are named, and nothing breaks.
func TestFiles(t *testing.T) {
	good := write(t, "krb5.conf", conf)
	for name, x := range map[string]struct {
		c    Config
		says string
	}{
		"no krb5.conf":   {Config{Conf: "/no/krb5.conf", User: "alice", Password: "p"}, "krb5.conf /no/krb5.conf: no such file"},
		"no keytab":      {Config{Conf: good, User: "alice", Keytab: "/no/keytab"}, "keytab /no/keytab: no such file"},
		"empty keytab":   {Config{Conf: good, User: "alice", Keytab: write(t, "k", "")}, "keytab "},
		"damaged keytab": {Config{Conf: good, User: "alice", Keytab: write(t, "k", "\x05\x02\x00\x00\x00\x10\x00\x01")}, "keytab "},
		"no cache":       {Config{Conf: good, Cache: "/no/cache"}, "credential cache /no/cache: no such file"},
		"empty cache":    {Config{Conf: good, Cache: write(t, "c", "")}, "credential cache "},
		"damaged cache":  {Config{Conf: good, Cache: write(t, "c", "\x05\x04\x00\x0c\x00\x01")}, "credential cache "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(x.c)
			var bad *FileError
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), x.says) {
				t.Errorf("got %v, want %q", err, x.says)
			}
		})
	}
	m, err := New(Config{Conf: good, User: "alice", Password: "p"})
	if err != nil || m.User() != "alice@R" || m.Name() != "GSSAPI" {
		t.Errorf("by password: %v, %v", m, err)
	}
}

// What the KDC refuses is told in plain words; gokrb5 keeps only texts.
func TestExplain(t *testing.T) {
	m, err := New(Config{Conf: write(t, "krb5.conf", conf), User: "alice", Password: "hush"})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]struct {
		cause wire.Cause
		says  string
	}{
		"[Root cause: KDC_Error] KDC_Error: AS Exchange Error: kerberos error response from KDC: KRB Error: (37) KRB_AP_ERR_SKEW Clock skew too great": {wire.CauseClock, "the clocks of this machine"},
		"clock skew with KDC too large. Greater than 300 seconds":                                                                                      {wire.CauseClock, "KDC of R differ too much"},
		"KRB Error: (6) KDC_ERR_C_PRINCIPAL_UNKNOWN Client not found in Kerberos database":                                                             {wire.CauseCredentials, "does not know the user alice@R"},
		"KRB Error: (7) KDC_ERR_S_PRINCIPAL_UNKNOWN Server not found in Kerberos database":                                                             {wire.CauseService, "does not know the broker as kafka/b1"},
		"KRB Error: (24) KDC_ERR_PREAUTH_FAILED Pre-authentication information was invalid":                                                            {wire.CauseCredentials, "refused the password or keytab of alice@R"},
		"AS Exchange Error: AS_REP is not valid or client password/keytab incorrect":                                                                   {wire.CauseCredentials, "refused the password or keytab"},
		"KRB Error: (23) KDC_ERR_KEY_EXPIRED Password has expired; change password to reset":                                                           {wire.CauseCredentials, "has expired"},
		"KRB Error: (18) KDC_ERR_CLIENT_REVOKED Clients credentials have been revoked":                                                                 {wire.CauseCredentials, "locked or revoked"},
		"KRB Error: (32) KRB_AP_ERR_TKT_EXPIRED Ticket expired":                                                                                        {wire.CauseTicket, "has expired"},
		"[Root cause: Networking_Error] communication error with KDC via TCP: error sending to a KDC: dial":                                            {wire.CauseKDC, "no KDC of R was reached (127.0.0.1:1)"},
		"something else": {wire.CauseCredentials, "something else"},
	} {
		err := m.explain(errors.New(text), "kafka/b1")
		var e *wire.CredentialsError
		if !errors.As(err, &e) || e.Cause != want.cause || !strings.Contains(err.Error(), want.says) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: got %v, want %q and %q", text, err, want.cause, want.says)
		}
		if e != nil && e.Passing != (want.cause == wire.CauseKDC) {
			t.Errorf("%s: passing = %v", text, e.Passing)
		}
	}
}
