package gssapi

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		"a device":       {Config{Conf: os.DevNull, User: "alice", Password: "p"}, "krb5.conf " + os.DevNull + ": is no regular file"},
		"a folder":       {Config{Conf: good, Cache: t.TempDir()}, ": is no regular file"},
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
