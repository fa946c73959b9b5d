package gssapi

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/types"
)

// aKeytab is a file with the key of alice@R.
func aKeytab(t testing.TB) []byte {
	t.Helper()
	keys := keytab.New()
	addKey(t, keys, "alice", "R", 1, etypeID.AES256_CTS_HMAC_SHA1_96)
	b, err := keys.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What is said of a keytab that is cut holds nothing of the keys in it, and no file is read that is larger than any.
func TestDamagedFilesAreNotQuoted(t *testing.T) {
	good := write(t, "krb5.conf", conf)
	whole := aKeytab(t)
	for n := range len(whole) {
		_, err := New(Config{Conf: good, User: "alice", Keytab: write(t, "k", string(whole[:n]))})
		if err == nil || !strings.HasSuffix(err.Error(), ": is damaged") && !strings.HasSuffix(err.Error(), ": holds no key of alice@R") {
			t.Errorf("cut after %d bytes: %v", n, err)
		}
	}
	large := write(t, "large", "")
	if err := os.Truncate(large, 1<<40); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Config{{Conf: large}, {Conf: good, User: "alice", Keytab: large}, {Conf: good, Cache: large}} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), "is too large") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// FuzzFiles reads a krb5.conf or a keytab of any bytes. Nothing is said of keys that lie in it.
func FuzzFiles(f *testing.F) {
	f.Add(false, []byte(conf))
	f.Add(false, []byte("[realms]\n R = {\n v4_name_convert = {\n"))
	f.Add(false, []byte("[libdefaults]\n ticket_lifetime = 1d\n renew_lifetime = 99999999999\n[domain_realm]\n .x = R\n"))
	f.Add(true, aKeytab(f))
	f.Add(true, []byte("\x05\x02\x7f\xff\xff\xff"))
	f.Add(true, []byte("\x05\x02\x80\x00\x00\x00"))
	folder := f.TempDir()
	good, file := filepath.Join(folder, "krb5.conf"), filepath.Join(folder, "file")
	if err := os.WriteFile(good, []byte(conf), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, keys bool, content []byte) {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		c := Config{Conf: file, User: "alice@R", Password: "hush"}
		if keys {
			c = Config{Conf: good, User: "alice@R", Keytab: file}
		}
		m, err := New(c)
		var bad *FileError
		switch {
		case err == nil && m.User() != "alice@R":
			t.Fatalf("%q logs in", m.User())
		case err == nil:
		case !errors.As(err, &bad) || bad.Err.Error() == "":
			t.Fatalf("%v does not say which file", err)
		case keys && bad.Err != errDamaged && bad.Err.Error() != "holds no key of alice@R":
			t.Fatalf("of a keytab it is said: %v", err)
		}
	})
}

// FuzzOffer reads what a broker says to a ticket: only who has the key in it is believed.
func FuzzOffer(f *testing.F) {
	key := types.EncryptionKey{KeyType: etypeID.AES256_CTS_HMAC_SHA1_96, KeyValue: []byte(strings.Repeat("k", 32))}
	offer := gssapi.WrapToken{Flags: 1, EC: 12, Payload: []byte{1, 0, 0, 0}}
	if err := offer.SetCheckSum(key, keyusage.GSSAPI_ACCEPTOR_SEAL); err != nil {
		f.Fatal(err)
	}
	whole, err := offer.Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:16])
	f.Add([]byte("\x05\x04\x01\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, challenge []byte) {
		s := &state{key: key}
		done, answer, err := s.Next(t.Context(), challenge)
		if done || (err == nil) != (len(answer) > 0) {
			t.Fatalf("done %v, answer %x, %v", done, answer, err)
		}
		if err == nil && string(challenge[16:20]) != "\x01\x00\x00\x00" {
			t.Fatalf("%x was believed", challenge)
		}
	})
}
