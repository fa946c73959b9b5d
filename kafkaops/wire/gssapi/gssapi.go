// Package gssapi is the SASL mechanism GSSAPI (Kerberos 5, RFC 4752) for the connections of kafkaops/wire: with a keytab, a password, or
// the tickets of a credential cache.
package gssapi

import (
	"context"
	"encoding/asn1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/chksumtype"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/types"
	"github.com/segmentio/kafka-go/sasl"

	"gtoffset/kafkaops/wire"
)

// Config names the user and where the credentials are: exactly one of Keytab, Password and Cache.
type Config struct {
	Conf     string // path of krb5.conf
	Service  string // first part of the brokers' principal: "kafka"
	User     string // NAME or NAME@REALM; with Cache "" takes whoever is in it
	Keytab   string // path
	Password string
	Cache    string // path of a credential cache of type FILE
}

// Mechanism is GSSAPI for one user. It may be used by several goroutines, and keeps its tickets: many connections ask the KDC once.
type Mechanism struct {
	service string
	cache   string // path; "": tickets are got by logging in
	client  *client
}

// A FileError is a file that cannot be used. What names it: "krb5.conf", "keytab", "credential cache".
type FileError struct {
	What, Path string
	Err        error
}

func (e *FileError) Error() string {
	reason := e.Err.Error()
	if path := (*os.PathError)(nil); errors.As(e.Err, &path) {
		reason = path.Err.Error()
	}
	return fmt.Sprintf("%s %s: %s", e.What, e.Path, reason)
}

func (e *FileError) Unwrap() error { return e.Err }

// New reads the files. It does not talk to the KDC. The error is a *FileError.
func New(c Config) (*Mechanism, error) {
	conf, err := readConf(c.Conf)
	if err != nil {
		return nil, &FileError{"krb5.conf", c.Conf, err}
	}
	name, realm, _ := strings.Cut(c.User, "@")
	if realm == "" {
		realm = conf.LibDefaults.DefaultRealm
	}
	user := principal{types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, name), realm}
	m := &Mechanism{service: c.Service, client: newClient(conf, user)}
	switch {
	case c.Keytab != "":
		if m.client.keys, err = readKeytab(c.Keytab, user); err != nil {
			return nil, &FileError{"keytab", c.Keytab, err}
		}
	case c.Password != "":
		m.client.password = c.Password
	default:
		m.cache = c.Cache
		if err := m.fromCache(c.User != ""); err != nil {
			return nil, &FileError{"credential cache", c.Cache, err}
		}
	}
	return m, nil
}

// maxFile is far more than any of the files holds.
const maxFile = 16 << 20

func read(path string) ([]byte, error) {
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // a pipe would block
		return nil, errors.New("is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = errors.New("is too large for such a file")
	}
	return b, err
}

var errDamaged = errors.New("is damaged")

// guarded keeps what gokrb5's readers of files do with damaged ones from ending the program: they read beyond what is there.
func guarded(read func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errDamaged
		}
	}()
	return read()
}

func readConf(path string) (conf *config.Config, err error) {
	text, err := read(path)
	if err != nil {
		return nil, err
	}
	err = guarded(func() (err error) {
		conf, err = config.NewFromString(withoutInnerBlocks(string(text)))
		return err
	})
	if unsupported := (config.UnsupportedDirective{}); errors.As(err, &unsupported) {
		err = nil
	}
	return conf, err
}

// withoutInnerBlocks leaves out the blocks within a realm's, which are of no use here, and which gokrb5 stumbles over.
func withoutInnerBlocks(text string) string {
	var kept strings.Builder
	depth := 0
	for line := range strings.Lines(text) {
		said := line
		if i := strings.IndexAny(line, "#;"); i >= 0 {
			said = line[:i]
		}
		if strings.HasPrefix(strings.TrimSpace(said), "[") {
			depth = 0
		}
		if strings.Contains(said, "{") {
			depth++
		}
		if depth < 2 {
			kept.WriteString(line)
		}
		if strings.Contains(said, "}") {
			depth--
		}
	}
	return kept.String()
}

func readKeytab(path string, user principal) (keys *keytab.Keytab, err error) {
	content, err := read(path)
	if err != nil {
		return nil, err
	}
	keys = keytab.New()
	if guarded(func() error { return keys.Unmarshal(content) }) != nil {
		return nil, errDamaged // gokrb5's own words quote the file, keys and all
	}
	for _, e := range keys.Entries {
		if user.is(principal{types.PrincipalName{NameString: e.Principal.Components}, e.Principal.Realm}) {
			return keys, nil
		}
	}
	return nil, fmt.Errorf("holds no key of %s", user)
}

// fromCache takes the user and the tickets out of the cache. With named it must be that of the user who is named.
func (m *Mechanism) fromCache(named bool) error {
	owner, tickets, err := readCache(m.cache)
	if err != nil {
		return err
	}
	if named && owner.String() != m.client.user.String() {
		return fmt.Errorf("holds tickets of %s, not of %s", owner, m.client.user)
	}
	m.client.user = owner
	for _, t := range tickets {
		switch {
		case !t.client.is(owner):
		case t.server.is(principal{grantingName(owner.realm), owner.realm}):
			if m.client.granting == nil || t.ends.After(m.client.granting.ends) {
				m.client.granting = t
			}
		case t.grants() == "":
			m.client.services[t.server.name.PrincipalNameString()] = t
		}
	}
	if m.client.granting == nil {
		return errors.New("holds no ticket-granting ticket")
	}
	return nil
}

// User is who logs in, NAME@REALM.
func (m *Mechanism) User() string { return m.client.user.String() }

// Name is the mechanism's name in Kafka.
func (*Mechanism) Name() string { return "GSSAPI" }

// Start gets a ticket for the broker's host and wraps it up. The error is a *wire.CredentialsError, or the context's if that was canceled.
func (m *Mechanism) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	broker := sasl.MetadataFromContext(ctx)
	if broker == nil {
		return nil, nil, errors.New("no host name for the broker's principal")
	}
	service := types.PrincipalName{NameType: nametype.KRB_NT_SRV_HST, NameString: []string{m.service, broker.Host}}
	t, err := m.client.ticketFor(ctx, service, m.client.conf.ResolveRealm(strings.ToLower(broker.Host)))
	if err != nil {
		return nil, nil, m.explain(err, service.PrincipalNameString())
	}
	token, err := firstToken(t)
	if err != nil {
		return nil, nil, m.explain(err, service.PrincipalNameString())
	}
	return &state{key: t.key}, token, nil
}

// refused is an error of a bounded length: a KDC's names and words are part of some.
func refused(cause wire.Cause, format string, args ...any) error {
	reason := fmt.Sprintf(format, args...)
	if len(reason) > 400 {
		reason = reason[:400] + "…"
	}
	return &wire.CredentialsError{Cause: cause, Reason: reason, Passing: cause == wire.CauseKDC}
}

// explain says in plain words why there is no ticket.
func (m *Mechanism) explain(err error, service string) error {
	var (
		unreached *unreachedError
		skew      *skewError
		refusal   *refusedError
	)
	user := m.client.user
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &unreached):
		return refused(wire.CauseKDC, "%v", unreached)
	case errors.As(err, &skew):
		return refused(wire.CauseClock, "%v", skew)
	case errors.As(err, &refusal):
		return explainRefusal(refusal, user, service)
	case errors.Is(err, errUserKey):
		return refused(wire.CauseCredentials, "the KDC refused the password or keytab of %s", user)
	case errors.Is(err, errExpired):
		return refused(wire.CauseTicket, "the ticket of %s in %s has expired at %s; the clock here says %s", user, m.cache,
			stamp(m.client.granting.ends), stamp(time.Now()))
	}
	return refused(wire.CauseCredentials, "%v", err)
}

// explainRefusal is about a code of RFC 4120 7.5.9.
func explainRefusal(e *refusedError, user principal, service string) error {
	switch e.Code {
	case errorcode.KRB_AP_ERR_SKEW:
		return refused(wire.CauseClock, "%v", &skewError{e.realm, e.Time})
	case errorcode.KDC_ERR_C_PRINCIPAL_UNKNOWN:
		return refused(wire.CauseCredentials, "the KDC does not know the user %s", user)
	case errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN:
		if to := (&ticket{server: principal{name: e.asked}}).grants(); to != "" && to != e.realm {
			return refused(wire.CauseService, "the KDC of %s knows no way to the realm %s, where krb5.conf looks for the broker", e.realm, to)
		}
		return refused(wire.CauseService, "the KDC of %s does not know the broker as %s", e.realm, service)
	case errorcode.KDC_ERR_PREAUTH_FAILED, errorcode.KRB_AP_ERR_BAD_INTEGRITY:
		return refused(wire.CauseCredentials, "the KDC refused the password or keytab of %s", user)
	case errorcode.KDC_ERR_KEY_EXPIRED:
		return refused(wire.CauseCredentials, "the password of %s has expired", user)
	case errorcode.KDC_ERR_CLIENT_REVOKED:
		return refused(wire.CauseCredentials, "the account of %s is locked or revoked", user)
	case errorcode.KRB_AP_ERR_TKT_EXPIRED:
		return refused(wire.CauseTicket, "the ticket of %s has expired", user)
	}
	return refused(wire.CauseCredentials, "%v", e)
}

// firstToken shows a ticket to a broker (RFC 4121 4.1).
func firstToken(t *ticket) ([]byte, error) {
	sum := make([]byte, 24) // 4.1.1: length of the (absent) channel binding, binding, flags
	binary.LittleEndian.PutUint32(sum, 16)
	binary.LittleEndian.PutUint32(sum[20:], gssapi.ContextFlagInteg)
	b, err := encodeAPRequest(t, types.Checksum{CksumType: chksumtype.GSSAPI, Checksum: sum}, keyusage.AP_REQ_AUTHENTICATOR)
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(asn1.RawValue{Class: asn1.ClassApplication, Tag: 0, IsCompound: true, Bytes: append([]byte(apReq), b...)})
}

// apReq is the OID of Kerberos 5 (1.2.840.113554.1.2.2) and the token type KRB_AP_REQ. gokrb5's own OID is of a forked type, which
// encoding/asn1 encodes as a sequence without complaint.
const apReq = "\x06\x09\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x01\x00"

type state struct {
	key      types.EncryptionKey
	answered bool
}

// Next answers the broker's offer of security layers with "none": TLS is there for that. That the offer verifies proves that the
// broker could read the ticket.
func (s *state) Next(_ context.Context, challenge []byte) (bool, []byte, error) {
	if s.answered {
		return true, nil, nil
	}
	var offer gssapi.WrapToken
	if err := offer.Unmarshal(challenge, true); err != nil {
		return false, nil, fmt.Errorf("read the broker's token: %w", err)
	}
	if ok, err := offer.Verify(s.key, keyusage.GSSAPI_ACCEPTOR_SEAL); !ok {
		return false, nil, fmt.Errorf("verify the broker's token: %w", err)
	}
	if len(offer.Payload) != 4 || offer.Payload[0]&1 == 0 {
		return false, nil, fmt.Errorf("the broker insists on a SASL security layer (%x)", offer.Payload)
	}
	answer, err := gssapi.NewInitiatorWrapToken([]byte{1, 0, 0, 0}, s.key)
	if err != nil {
		return false, nil, err
	}
	s.answered = true
	b, err := answer.Marshal()
	return false, b, err
}
