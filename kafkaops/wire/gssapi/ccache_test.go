package gssapi

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/types"

	"gtoffset/kafkaops/wire"
)

// cacheWriter writes a credential cache.
type cacheWriter struct {
	version byte
	b       []byte
}

func newCache(version byte, owner principal) *cacheWriter {
	w := &cacheWriter{version: version, b: []byte{5, version}}
	if version == 4 {
		w.b = append(w.b, 0, 12, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	w.principal(owner)
	return w
}

func (w *cacheWriter) uint32(n int) { w.b = binary.BigEndian.AppendUint32(w.b, uint32(n)) }

func (w *cacheWriter) data(b []byte) {
	w.uint32(len(b))
	w.b = append(w.b, b...)
}

func (w *cacheWriter) principal(p principal) {
	w.uint32(int(p.name.NameType))
	w.uint32(len(p.name.NameString))
	w.data([]byte(p.realm))
	for _, n := range p.name.NameString {
		w.data([]byte(n))
	}
}

func (w *cacheWriter) add(t *ticket) *cacheWriter {
	w.principal(t.client)
	w.principal(t.server)
	for range map[byte]int{3: 2, 4: 1}[w.version] {
		w.b = binary.BigEndian.AppendUint16(w.b, uint16(t.key.KeyType))
	}
	w.data(t.key.KeyValue)
	now := int(time.Now().Unix())
	for _, at := range []int{now - 60, now - 60, int(t.ends.Unix()), 0} {
		w.uint32(at)
	}
	w.b = append(w.b, 0, 0x50, 0xe1, 0, 0)
	w.b = append(w.b, 0, 0, 0, 1, 0, 2, 0, 0, 0, 4, 127, 0, 0, 1) // an address
	w.b = append(w.b, 0, 0, 0, 1, 0, 1, 0, 0, 0, 3, 1, 2, 3)      // authorization data
	w.data(t.bytes)
	w.data(nil)
	return w
}

func name(p string) principal {
	n, realm, _ := strings.Cut(p, "@")
	return principal{types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, n), realm}
}

// setting is a configuration entry.
var setting = &ticket{client: name("alice@R"), server: name("krb5_ccache_conf_data/pa_type/krbtgt/R@X-CACHECONF:"), bytes: []byte("2")}

// ticketsOf are alice's tickets, of a KDC's making: the ticket-granting one, and that for kafka/b1.
func ticketsOf(t testing.TB, k *fakeKDC) (*ticket, *ticket) {
	t.Helper()
	c := mechanism(t, Config{Conf: confFor(t, "", k), User: "alice", Password: "alice"})
	if _, _, err := start(t, c, "b1"); err != nil {
		t.Fatal(err)
	}
	return c.client.granting, c.client.services["kafka/b1"]
}

func TestCache(t *testing.T) {
	k := newKDC(t, "R").run()
	granting, service := ticketsOf(t, k)
	expired := *granting
	expired.ends = time.Now().Add(-time.Hour)
	foreign := *granting
	foreign.client = name("bob@R")
	for _, version := range []byte{3, 4} {
		fresh := func() *cacheWriter { return newCache(version, name("alice@R")) }
		whole := fresh().add(setting).add(&expired).add(granting).b
		for what, x := range map[string]struct {
			b    []byte
			user string
			says string // by New
			fail string // by Start
			asks string
		}{
			"whole":                     {b: whole, asks: "TGS kafka/b1"},
			"of the right user":         {b: whole, user: "alice", asks: "TGS kafka/b1"},
			"of another user":           {b: whole, user: "bob", says: "holds tickets of alice@R, not of bob@R"},
			"of another realm":          {b: whole, user: "alice@S", says: "holds tickets of alice@R, not of alice@S"},
			"with the service's ticket": {b: fresh().add(granting).add(service).b},
			"expired":                   {b: fresh().add(&expired).b, fail: "has expired at " + stamp(expired.ends)},
			"of settings":               {b: fresh().add(setting).b, says: "holds no ticket-granting ticket"},
			"empty":                     {b: fresh().b, says: "holds no ticket-granting ticket"},
			"of somebody else's ticket": {b: fresh().add(&foreign).b, says: "holds no ticket-granting ticket"},
			"cut off":                   {b: whole[:len(whole)-1], says: "is damaged"},
			"with a long name":          {b: append([]byte{5, 3, 0, 0, 0, 1}, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 'R'), says: "is damaged"},
			"of version 2":              {b: append([]byte{5, 2}, whole[2:]...), says: "of version 2; 3 and 4 are read"},
			"of something else":         {b: []byte("hello"), says: "is no credential cache"},
		} {
			t.Run(what, func(t *testing.T) {
				before := k.requests()
				m, err := New(Config{Conf: confFor(t, "", k), Service: "kafka", Cache: write(t, "cache", string(x.b)), User: x.user})
				if x.says != "" {
					var bad *FileError
					if !errors.As(err, &bad) || bad.What != "credential cache" || !strings.Contains(err.Error(), x.says) {
						t.Errorf("got %v, want %q", err, x.says)
					}
					return
				}
				if err != nil || m.User() != "alice@R" {
					t.Fatalf("%v, %v", m, err)
				}
				s, token, err := start(t, m, "b1")
				if x.fail != "" {
					var e *wire.CredentialsError
					if !errors.As(err, &e) || e.Cause != wire.CauseTicket || !strings.Contains(err.Error(), x.fail) || !strings.Contains(err.Error(), m.cache) {
						t.Errorf("got %v, want %q", err, x.fail)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := accepted(t, k, s, token); got != "alice@R at kafka/b1@R" {
					t.Errorf("got %s", got)
				}
				if got := strings.TrimPrefix(strings.TrimPrefix(k.requests(), before), ", "); got != x.asks {
					t.Errorf("asked %q, want %q", got, x.asks)
				}
			})
		}
		// gokrb5 reads the same out of it.
		var other credentials.CCache
		if err := other.Unmarshal(whole); err != nil {
			t.Fatal(err)
		}
		owner, tickets, err := parseCache(whole)
		entries := other.GetEntries()
		if err != nil || len(tickets) != len(entries) || owner.String() != other.GetClientPrincipalName().PrincipalNameString()+"@"+other.GetClientRealm() {
			t.Fatalf("%v, %d tickets of %s", err, len(tickets), owner)
		}
		for i, e := range entries {
			if got := tickets[i]; string(got.bytes) != string(e.Ticket) || !got.ends.Equal(e.EndTime) || string(got.key.KeyValue) != string(e.Key.KeyValue) ||
				got.key.KeyType != e.Key.KeyType || got.server.realm != e.Server.Realm || !got.server.name.Equal(e.Server.PrincipalName) {
				t.Errorf("got %+v, want %+v", got, e)
			}
		}
	}
}

// FuzzCache reads credential caches: each is one with its owner, or none with a reason, and whatever key is in it, using it does not break.
func FuzzCache(f *testing.F) {
	granting, service := ticketsOf(f, newKDC(f, "R").run())
	for _, version := range []byte{3, 4} {
		whole := newCache(version, name("alice@R")).add(setting).add(granting).add(service).b
		f.Add(whole)
		f.Add(whole[:len(whole)/2])
	}
	f.Add([]byte{5, 4, 0xff, 0xff})
	f.Add([]byte{5, 3, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 'R'})
	f.Fuzz(func(t *testing.T, b []byte) {
		_, tickets, err := parseCache(b)
		if err != nil && len(tickets) > 0 {
			t.Fatalf("%d tickets, %v", len(tickets), err)
		}
		for _, one := range tickets {
			if err := isTicket(one.bytes); err != nil {
				t.Fatal(err)
			}
			if token, err := firstToken(one); err == nil && len(token) < len(one.bytes) {
				t.Fatalf("a token of %d bytes for a ticket of %d", len(token), len(one.bytes))
			}
		}
	})
}
