package gssapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
	"github.com/segmentio/kafka-go/sasl"

	"gtoffset/kafkaops/wire"
)

// confFor is a krb5.conf whose default realm is the first KDC's.
func confFor(t testing.TB, lines string, kdcs ...*fakeKDC) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "[libdefaults]\n default_realm = %s\n%s\n[realms]\n", kdcs[0].realm, lines)
	for _, k := range kdcs {
		fmt.Fprintf(&b, " %s = {\n  kdc = %s\n  auth_to_local_names = {\n   a = b\n  }\n }\n", k.realm, k.addr)
	}
	path := filepath.Join(t.TempDir(), "krb5.conf")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mechanism(t testing.TB, c Config) *Mechanism {
	t.Helper()
	c.Service = "kafka"
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// start gets the first token for a broker's host, in a time that no test needs.
func start(t testing.TB, m *Mechanism, host string) (sasl.StateMachine, []byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return m.Start(sasl.WithMetadata(ctx, &sasl.Metadata{Host: host, Port: 9092}))
}

// accepted plays the broker: it opens the token with its key, offers no security layer, and reads the answer.
func accepted(t *testing.T, k *fakeKDC, s sasl.StateMachine, token []byte) string {
	t.Helper()
	at := strings.Index(string(token), apReq)
	if at < 0 {
		t.Fatalf("the token is %x", token)
	}
	var q messages.APReq
	if err := q.Unmarshal(token[at+len(apReq):]); err != nil {
		t.Fatal(err)
	}
	if err := q.Ticket.DecryptEncPart(k.keys, nil); err != nil {
		t.Fatal(err)
	}
	of := q.Ticket.DecryptedEncPart
	if err := q.DecryptAuthenticator(of.Key); err != nil {
		t.Fatal(err)
	}
	if a := q.Authenticator; a.Cksum.CksumType != 0x8003 || len(a.Cksum.Checksum) != 24 || !a.CName.Equal(of.CName) || a.CRealm != of.CRealm {
		t.Errorf("authenticator %+v in a ticket of %v@%s", a, of.CName, of.CRealm)
	}
	kind, err := crypto.GetEtype(of.Key.KeyType)
	if err != nil {
		t.Fatal(err)
	}
	offer := gssapi.WrapToken{Flags: 1, EC: uint16(kind.GetHMACBitLength() / 8), Payload: []byte{1, 0, 0, 0}}
	if err := offer.SetCheckSum(of.Key, keyusage.GSSAPI_ACCEPTOR_SEAL); err != nil {
		t.Fatal(err)
	}
	b, err := offer.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	done, said, err := s.Next(t.Context(), b)
	if err != nil || done {
		t.Fatalf("done %v, %v", done, err)
	}
	var chosen gssapi.WrapToken
	if err := chosen.Unmarshal(said, false); err != nil {
		t.Fatal(err)
	}
	if ok, err := chosen.Verify(of.Key, keyusage.GSSAPI_INITIATOR_SEAL); !ok {
		t.Fatal(err)
	}
	return of.CName.PrincipalNameString() + "@" + of.CRealm + " at " + q.Ticket.SName.PrincipalNameString() + "@" + q.Ticket.Realm
}

// keytabOf is a keytab with the user's key as the KDC has it, behind an older one, mostly of the same second, and one of another type.
func keytabOf(t *testing.T, k *fakeKDC) string {
	t.Helper()
	kt := keytab.New()
	for i, encType := range []int32{k.encType, etypeID.RC4_HMAC, k.encType} {
		addKey(t, kt, "alice", k.realm, byte(i+1), encType)
	}
	kt.Entries[2].Key = k.userKey("alice")
	b, err := kt.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "alice.keytab", string(b))
}

func TestLogin(t *testing.T) {
	for _, encType := range []int32{
		etypeID.AES256_CTS_HMAC_SHA1_96, etypeID.AES128_CTS_HMAC_SHA1_96, etypeID.AES256_CTS_HMAC_SHA384_192, etypeID.AES128_CTS_HMAC_SHA256_128,
	} {
		for _, preauth := range []bool{false, true} {
			for _, by := range []string{"password", "keytab"} {
				t.Run(fmt.Sprintf("%s, pre-authentication %v, %s", encTypeName(encType), preauth, by), func(t *testing.T) {
					k := newKDC(t, "R")
					k.preauth, k.encType = preauth, encType
					k.run()
					c := Config{Conf: confFor(t, "", k), User: "alice"}
					if by == "keytab" {
						c.Keytab = keytabOf(t, k)
					} else {
						c.Password = "alice"
					}
					s, token, err := start(t, mechanism(t, c), "b1")
					if err != nil {
						t.Fatal(err)
					}
					if got := accepted(t, k, s, token); got != "alice@R at kafka/b1@R" {
						t.Errorf("got %s", got)
					}
					want := "AS alice, TGS kafka/b1"
					if preauth {
						want = "AS alice, AS alice, TGS kafka/b1"
					}
					if got := k.requests(); got != want {
						t.Errorf("asked %q, want %q", got, want)
					}
				})
			}
		}
	}
}

// What goes wrong is told in plain words, and told apart.
func TestRefusals(t *testing.T) {
	for name, x := range map[string]struct {
		kdc   func(*fakeKDC)
		user  string
		pass  string
		host  string
		cause wire.Cause
		says  string
	}{
		"wrong password":               {kdc: func(k *fakeKDC) { k.preauth = true }, pass: "guessed", cause: wire.CauseCredentials, says: "refused the password or keytab of alice@R"},
		"wrong password, no preauth":   {pass: "guessed", cause: wire.CauseCredentials, says: "refused the password or keytab of alice@R"},
		"unknown user":                 {user: "mallory", cause: wire.CauseCredentials, says: "does not know the user mallory@R"},
		"unknown service":              {host: "b9", cause: wire.CauseService, says: "the KDC of R does not know the broker as kafka/b9"},
		"our clock is behind":          {kdc: func(k *fakeKDC) { k.preauth, k.clock = true, time.Hour }, cause: wire.CauseClock, says: "the clocks of this machine ("},
		"our clock is ahead":           {kdc: func(k *fakeKDC) { k.preauth, k.clock = true, -time.Hour }, cause: wire.CauseClock, says: "KDC of R ("},
		"clocks differ, no preauth":    {kdc: func(k *fakeKDC) { k.clock = 6 * time.Minute }, cause: wire.CauseClock, says: "differ too much"},
		"locked":                       {kdc: func(k *fakeKDC) { k.refuse = errorcode.KDC_ERR_CLIENT_REVOKED }, cause: wire.CauseCredentials, says: "locked or revoked"},
		"password expired":             {kdc: func(k *fakeKDC) { k.refuse = errorcode.KDC_ERR_KEY_EXPIRED }, cause: wire.CauseCredentials, says: "the password of alice@R has expired"},
		"bad integrity":                {kdc: func(k *fakeKDC) { k.refuse = errorcode.KRB_AP_ERR_BAD_INTEGRITY }, cause: wire.CauseCredentials, says: "refused the password or keytab"},
		"ticket expired":               {kdc: func(k *fakeKDC) { k.refuse = errorcode.KRB_AP_ERR_TKT_EXPIRED }, cause: wire.CauseTicket, says: "has expired"},
		"out of service":               {kdc: func(k *fakeKDC) { k.refuse = errorcode.KDC_ERR_SVC_UNAVAILABLE }, cause: wire.CauseKDC, says: "no KDC of R was reached (127.0.0.1:"},
		"any other code":               {kdc: func(k *fakeKDC) { k.refuse = errorcode.KDC_ERR_POLICY }, cause: wire.CauseCredentials, says: `(12) KDC_ERR_POLICY KDC policy rejects request ("said the KDC")`},
		"a code that is no code":       {kdc: func(k *fakeKDC) { k.refuse = 4711 }, cause: wire.CauseCredentials, says: "Unknown ErrorCode 4711"},
		"preauthentication of nothing": {kdc: func(k *fakeKDC) { k.refuse = errorcode.KDC_ERR_PREAUTH_REQUIRED }, cause: wire.CauseCredentials, says: "cannot be read"},
		"another nonce":                {kdc: func(k *fakeKDC) { k.tamper = func(p *messages.EncKDCRepPart) { p.Nonce++ } }, cause: wire.CauseCredentials, says: "answered another request"},
		"another server": {kdc: func(k *fakeKDC) {
			k.tamper = func(p *messages.EncKDCRepPart) { p.SName.NameString = []string{"kafka", "evil"} }
		}, cause: wire.CauseCredentials, says: "for kafka/evil@R instead of krbtgt/R@R"},
		"another service": {kdc: func(k *fakeKDC) {
			k.tamper = func(p *messages.EncKDCRepPart) {
				if p.SName.NameString[0] == "kafka" {
					p.SName.NameString = []string{"kafka", "evil"}
				}
			}
		}, cause: wire.CauseCredentials, says: "for kafka/evil@R instead of kafka/b1@R"},
		"another realm": {kdc: func(k *fakeKDC) {
			k.tamper = func(p *messages.EncKDCRepPart) { p.SRealm = "EVIL" }
		}, cause: wire.CauseCredentials, says: "for krbtgt/R@EVIL instead of krbtgt/R@R"},
		"another user": {kdc: func(k *fakeKDC) {
			k.rename = func(f *messages.KDCRepFields) { f.CName.NameString = []string{"bob"} }
		}, cause: wire.CauseCredentials, says: "of bob@R instead of alice@R"},
		"another user's realm": {kdc: func(k *fakeKDC) {
			k.rename = func(f *messages.KDCRepFields) { f.CRealm = "EVIL" }
		}, cause: wire.CauseCredentials, says: "of alice@EVIL instead of alice@R"},
		"an encryption type that was not asked for": {kdc: func(k *fakeKDC) {
			k.rename = func(f *messages.KDCRepFields) { f.EncPart.EType = 3 }
		}, cause: wire.CauseCredentials, says: "answers by des-cbc-md5, which krb5.conf does not allow"},
		"too little is sealed": {kdc: func(k *fakeKDC) {
			k.rename = func(f *messages.KDCRepFields) { f.EncPart.Cipher = []byte{1, 2, 3} }
		}, cause: wire.CauseCredentials, says: "3 bytes are too few for aes256-cts-hmac-sha1-96"},
		"cut off":     {kdc: func(k *fakeKDC) { k.mangle = func(b []byte) []byte { return b[:len(b)/2] } }, cause: wire.CauseCredentials, says: "gave an answer that cannot be read"},
		"empty":       {kdc: func(k *fakeKDC) { k.mangle = func([]byte) []byte { return nil } }, cause: wire.CauseCredentials, says: "gave an answer that cannot be read"},
		"another tag": {kdc: func(k *fakeKDC) { k.mangle = func(b []byte) []byte { b[0]++; return b } }, cause: wire.CauseCredentials, says: "gave an answer that cannot be read"},
		"too much":    {kdc: func(k *fakeKDC) { k.mangle = func([]byte) []byte { return make([]byte, maxAnswer+1) } }, cause: wire.CauseKDC, says: "no KDC of R was reached"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKDC(t, "R")
			if x.kdc != nil {
				x.kdc(k)
			}
			k.run()
			c := Config{Conf: confFor(t, "", k), User: "alice", Password: "alice"}
			host := "b1"
			for to, from := range map[*string]string{&c.User: x.user, &c.Password: x.pass, &host: x.host} {
				if from != "" {
					*to = from
				}
			}
			if x.user != "" {
				c.Password = x.user
			}
			_, _, err := start(t, mechanism(t, c), host)
			var e *wire.CredentialsError
			if !errors.As(err, &e) || e.Cause != x.cause || !strings.Contains(err.Error(), x.says) || strings.Contains(err.Error(), "guessed") {
				t.Errorf("got %v, want %q and %q", err, x.cause, x.says)
			}
			if e != nil && e.Passing != (x.cause == wire.CauseKDC) {
				t.Errorf("passing = %v", e.Passing)
			}
		})
	}
}

// A keytab is asked for what it has, and says what it lacks.
func TestKeytabLacksType(t *testing.T) {
	k := newKDC(t, "R")
	k.preauth = true
	k.run()
	kt := keytab.New()
	addKey(t, kt, "alice", "R", 1, etypeID.AES128_CTS_HMAC_SHA1_96)
	b, err := kt.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = start(t, mechanism(t, Config{Conf: confFor(t, "", k), User: "alice", Keytab: write(t, "k", string(b))}), "b1")
	if want := "the KDC asks for aes256-cts-hmac-sha1-96, of which the keytab holds no key of alice@R"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
	if got := k.body().EType; len(got) == 0 || got[0] != etypeID.AES128_CTS_HMAC_SHA1_96 {
		t.Errorf("asked for %v, want the one that it has first", got)
	}
}

// What krb5.conf says about requests is in them.
func TestOptions(t *testing.T) {
	for lines, want := range map[string]struct {
		flags []int
		types string
	}{
		"": {nil, "[18 17 20 19 16 23]"},
		"forwardable = true\nproxiable = true\ncanonicalize = true\nrenew_lifetime = 2d":                                              {[]int{flags.Forwardable, flags.Proxiable, flags.Canonicalize, flags.Renewable}, "[18 17 20 19 16 23]"},
		"default_tkt_enctypes = aes256-cts\ndefault_tgs_enctypes = aes256-cts":                                                        {nil, "[18]"},
		"permitted_enctypes = aes256-sha2 aes256-cts":                                                                                 {nil, "[20 18]"},
		"permitted_enctypes = aes256-cts\ndefault_tkt_enctypes = aes128-cts aes256-cts\ndefault_tgs_enctypes = aes128-cts aes256-cts": {nil, "[18]"},
	} {
		t.Run(lines, func(t *testing.T) {
			k := newKDC(t, "R").run()
			if _, _, err := start(t, mechanism(t, Config{Conf: confFor(t, lines, k), User: "alice", Password: "alice"}), "b1"); err != nil {
				t.Fatal(err)
			}
			body := k.body()
			for _, f := range []int{flags.Forwardable, flags.Proxiable, flags.Canonicalize, flags.Renewable, flags.Forwarded} {
				set := false
				for _, w := range want.flags {
					set = set || w == f
				}
				if types.IsFlagSet(&body.KDCOptions, f) != set {
					t.Errorf("flag %d is %v", f, !set)
				}
			}
			if got := fmt.Sprint(body.EType); got != want.types {
				t.Errorf("asked for %s, want %s", got, want.types)
			}
			if left := time.Until(body.Till); left < 23*time.Hour || left > 25*time.Hour {
				t.Errorf("for %v, want a day", left)
			}
			if body.RTime.IsZero() != (len(want.flags) == 0) {
				t.Errorf("renewable until %v", body.RTime)
			}
		})
	}
	k := newKDC(t, "R").run()
	_, _, err := start(t, mechanism(t, Config{Conf: confFor(t, "permitted_enctypes = des-cbc-crc", k), User: "alice", Password: "alice"}), "b1")
	if err == nil || !strings.Contains(err.Error(), "krb5.conf allows no encryption type") {
		t.Errorf("got %v", err)
	}
}

// Tickets are kept, so many connections ask once, until they are at their end.
func TestTicketsAreKept(t *testing.T) {
	k := newKDC(t, "R").run()
	m := mechanism(t, Config{Conf: confFor(t, "", k), User: "alice", Password: "alice"})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, _, err := start(t, m, fmt.Sprintf("b%d", 1+i%2)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := k.requests(); got != "AS alice, TGS kafka/b1, TGS kafka/b2" && got != "AS alice, TGS kafka/b2, TGS kafka/b1" {
		t.Errorf("asked %q", got)
	}

	brief := newKDC(t, "R")
	brief.life = margin / 2
	brief.run()
	m = mechanism(t, Config{Conf: confFor(t, "", brief), User: "alice", Password: "alice"})
	for range 2 {
		if _, _, err := start(t, m, "b1"); err != nil {
			t.Fatal(err)
		}
	}
	if got := brief.requests(); got != "AS alice, TGS kafka/b1, AS alice, TGS kafka/b1" {
		t.Errorf("asked %q", got)
	}
}

// After a refusal the user logs in anew: the KDC may have other keys now.
func TestLoginAfterRefusal(t *testing.T) {
	k := newKDC(t, "R").run()
	m := mechanism(t, Config{Conf: confFor(t, "", k), User: "alice", Password: "alice"})
	for _, host := range []string{"b9", "b1"} {
		_, _, err := start(t, m, host)
		if (err == nil) != (host == "b1") {
			t.Error(err)
		}
	}
	if got := k.requests(); got != "AS alice, TGS kafka/b9, AS alice, TGS kafka/b1" {
		t.Errorf("asked %q", got)
	}
}

func TestReferrals(t *testing.T) {
	chain := func(t *testing.T, names ...string) []*fakeKDC {
		var kdcs []*fakeKDC
		for i, name := range names {
			k := newKDC(t, name)
			if i+1 < len(names) {
				k.refers["kafka/b1"] = names[i+1]
			}
			if i > 0 {
				k.trusts = []string{names[i-1]}
			}
			kdcs = append(kdcs, k)
		}
		return kdcs
	}
	run := func(kdcs []*fakeKDC) {
		for _, k := range kdcs {
			k.run()
		}
	}
	t.Run("two realms on", func(t *testing.T) {
		kdcs := chain(t, "A", "B", "C")
		run(kdcs)
		s, token, err := start(t, mechanism(t, Config{Conf: confFor(t, "", kdcs...), User: "alice", Password: "alice"}), "b1")
		if err != nil {
			t.Fatal(err)
		}
		if got := accepted(t, kdcs[2], s, token); got != "alice@A at kafka/b1@C" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("by krb5.conf", func(t *testing.T) {
		kdcs := chain(t, "A", "B")
		kdcs[0].refers = map[string]string{"krbtgt/B": "B"}
		run(kdcs)
		_, _, err := start(t, mechanism(t, Config{Conf: confFor(t, "[domain_realm]\n b1 = B", kdcs...), User: "alice", Password: "alice"}), "B1")
		if err == nil || !strings.Contains(err.Error(), "does not know the broker as kafka/B1") {
			t.Errorf("got %v", err) // principals have upper and lower case
		}
		s, token, err := start(t, mechanism(t, Config{Conf: confFor(t, "[domain_realm]\n b1 = B", kdcs...), User: "alice", Password: "alice"}), "b1")
		if err != nil {
			t.Fatal(err)
		}
		if got := accepted(t, kdcs[1], s, token); got != "alice@A at kafka/b1@B" {
			t.Errorf("got %s", got)
		}
		if got, want := kdcs[0].requests(), "AS alice, TGS krbtgt/B, AS alice, TGS krbtgt/B"; got != want {
			t.Errorf("asked %q, want %q", got, want)
		}
	})
	t.Run("no trust", func(t *testing.T) {
		kdcs := chain(t, "A", "B")
		kdcs[0].refers = nil
		run(kdcs)
		_, _, err := start(t, mechanism(t, Config{Conf: confFor(t, "[domain_realm]\n b1 = B", kdcs...), User: "alice", Password: "alice"}), "b1")
		if want := "the KDC of A knows no way to the realm B, where krb5.conf looks for the broker"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	})
	t.Run("a circle", func(t *testing.T) {
		kdcs := chain(t, "A", "B")
		kdcs[1].refers["kafka/b1"] = "A"
		run(kdcs)
		_, _, err := start(t, mechanism(t, Config{Conf: confFor(t, "", kdcs...), User: "alice", Password: "alice"}), "b1")
		if want := "the KDC of B refers to A for kafka/b1, which was asked already"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	})
	t.Run("to itself", func(t *testing.T) {
		kdcs := chain(t, "A")
		kdcs[0].refers["kafka/b1"] = "A"
		run(kdcs)
		_, _, err := start(t, mechanism(t, Config{Conf: confFor(t, "", kdcs...), User: "alice", Password: "alice"}), "b1")
		if want := "the KDC of A refers to A for kafka/b1, which was asked already"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	})
	t.Run("too long a way", func(t *testing.T) {
		names := strings.Split("ABCDEFGHIJKLM", "")
		for n, ok := range map[int]bool{maxReferrals + 1: true, maxReferrals + 2: false} {
			kdcs := chain(t, names[:n]...)
			run(kdcs)
			_, _, err := start(t, mechanism(t, Config{Conf: confFor(t, "", kdcs...), User: "alice", Password: "alice"}), "b1")
			if ok && err != nil || !ok && (err == nil || !strings.Contains(err.Error(), "more than 10 KDCs refer")) {
				t.Errorf("%d realms: %v", n, err)
			}
		}
	})
	t.Run("to nobody", func(t *testing.T) {
		kdcs := chain(t, "A")
		kdcs[0].refers["kafka/b1"] = "NOWHERE"
		run(kdcs)
		_, _, err := start(t, mechanism(t, Config{Conf: confFor(t, "dns_lookup_kdc = false", kdcs...), User: "alice", Password: "alice"}), "b1")
		if want := "krb5.conf names no KDC of the realm NOWHERE"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	})
}

// Each KDC is tried, by TCP and by UDP.
func TestWhichKDC(t *testing.T) {
	away, noTCP, silent, good := newKDC(t, "R"), newKDC(t, "R"), newKDC(t, "R"), newKDC(t, "R").run()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	away.addr = l.Addr().String()
	l.Close()
	noTCP.noTCP = true
	noTCP.run()
	silent.silent = true
	silent.run()
	for name, x := range map[string]struct {
		lines string
		kdcs  []*fakeKDC
		asked *fakeKDC
		says  string
	}{
		"the first":              {"", []*fakeKDC{good, silent}, good, ""},
		"one is away":            {"", []*fakeKDC{away, good}, good, ""},
		"one is silent":          {"", []*fakeKDC{silent, good}, good, ""},
		"UDP":                    {"", []*fakeKDC{noTCP}, noTCP, ""},
		"UDP is not to be used":  {"udp_preference_limit = 1", []*fakeKDC{noTCP}, nil, "no KDC of R was reached (" + noTCP.addr + ")"},
		"all are away":           {"", []*fakeKDC{away}, nil, "no KDC of R was reached (" + away.addr + ")"},
		"all are away or silent": {"", []*fakeKDC{away, silent, silent}, nil, "no KDC of R answers in time (" + away.addr + ", " + silent.addr + ", " + silent.addr + ")"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "[libdefaults]\n default_realm = R\n" + x.lines + "\n[realms]\n R = {\n"
			for _, k := range x.kdcs {
				text += "  kdc = " + k.addr + "\n"
			}
			m := mechanism(t, Config{Conf: write(t, "krb5.conf", text+" }\n"), User: "alice", Password: "alice"})
			limit := time.Minute
			if strings.Contains(x.says, "in time") {
				limit = 200 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			before := 0
			if x.asked != nil {
				before = len(x.asked.requests())
			}
			_, _, err := m.Start(sasl.WithMetadata(ctx, &sasl.Metadata{Host: "b1"}))
			if x.asked == nil {
				if err == nil || err.Error() != x.says {
					t.Errorf("got %v, want %q", err, x.says)
				}
				return
			}
			if err != nil || len(x.asked.requests()) == before {
				t.Errorf("got %v; the KDC was asked %q", err, x.asked.requests())
			}
		})
	}
}

// A KDC that says nothing costs no more than the caller's time, those who wait behind the first one included; and nobody is held up whose
// caller has gone.
func TestSilentKDC(t *testing.T) {
	k := newKDC(t, "R")
	k.silent = true
	k.run()
	m := mechanism(t, Config{Conf: confFor(t, "", k), User: "alice", Password: "alice"})
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			_, _, err := m.Start(sasl.WithMetadata(ctx, &sasl.Metadata{Host: "b1"}))
			var e *wire.CredentialsError
			if !errors.As(err, &e) || e.Cause != wire.CauseKDC || !strings.Contains(err.Error(), "no KDC of R answers in time") {
				t.Errorf("got %v", err)
			}
		})
	}
	all.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	for range 3 {
		all.Go(func() {
			if _, _, err := m.Start(sasl.WithMetadata(ctx, &sasl.Metadata{Host: "b1"})); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
	cancel()
	all.Wait()
}
