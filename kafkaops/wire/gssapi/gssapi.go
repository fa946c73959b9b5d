// Package gssapi is the SASL mechanism GSSAPI (Kerberos 5, RFC 4752) for the connections of kafkaops/wire: with a keytab, a password, or
// the tickets of a credential cache.
package gssapi

import (
	"context"
	"encoding/asn1"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/chksumtype"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
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

// Mechanism is GSSAPI for one user. It may be used by several goroutines.
type Mechanism struct {
	service string
	user    string
	cache   string
	expires time.Time // of the cache's ticket; zero: ours are renewed
	conf    *config.Config
	client  *client.Client
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
func New(c Config) (_ *Mechanism, err error) {
	reading := FileError{What: "krb5.conf", Path: c.Conf}
	defer func() {
		if r := recover(); r != nil { // gokrb5 reads damaged files beyond their end
			err = errors.New("is damaged")
		}
		if err != nil {
			reading.Err = err
			err = &reading
		}
	}()
	text, err := os.ReadFile(c.Conf)
	if err != nil {
		return nil, err
	}
	conf, err := config.NewFromString(string(text))
	if unsupported := (config.UnsupportedDirective{}); err != nil && !errors.As(err, &unsupported) {
		return nil, err
	}
	m := &Mechanism{service: c.Service, conf: conf}
	name, realm, _ := strings.Cut(c.User, "@")
	if realm == "" {
		realm = conf.LibDefaults.DefaultRealm
	}
	fast := client.DisablePAFXFAST(true) // Active Directory answers FAST requests with an error
	switch {
	case c.Keytab != "":
		reading.What, reading.Path = "keytab", c.Keytab
		keys, err := keytab.Load(c.Keytab)
		if err != nil {
			return nil, err
		}
		if !holds(keys, name, realm) {
			return nil, fmt.Errorf("holds no key of %s@%s", name, realm)
		}
		m.client = client.NewWithKeytab(name, realm, keys, conf, fast)
	case c.Password != "":
		m.client = client.NewWithPassword(name, realm, c.Password, conf, fast)
	default:
		reading.What, reading.Path = "credential cache", c.Cache
		if err := m.fromCache(c, name, realm, fast); err != nil {
			return nil, err
		}
		return m, nil
	}
	m.user = name + "@" + realm
	return m, nil
}

func holds(keys *keytab.Keytab, name, realm string) bool {
	for _, e := range keys.Entries {
		if e.Principal.Realm == realm && strings.Join(e.Principal.Components, "/") == name {
			return true
		}
	}
	return false
}

func (m *Mechanism) fromCache(c Config, name, realm string, setting func(*client.Settings)) error {
	cache, err := credentials.LoadCCache(c.Cache)
	if err != nil {
		return err
	}
	m.cache = c.Cache
	m.user = cache.GetClientPrincipalName().PrincipalNameString() + "@" + cache.GetClientRealm()
	if c.User != "" && m.user != name+"@"+realm {
		return fmt.Errorf("holds tickets of %s, not of %s@%s", m.user, name, realm)
	}
	tgt, ok := cache.GetEntry(types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: []string{"krbtgt", cache.GetClientRealm()}})
	if !ok {
		return errors.New("holds no ticket-granting ticket")
	}
	m.expires = tgt.EndTime
	m.client, err = client.NewFromCCache(cache, m.conf, setting)
	return err
}

// User is who logs in, NAME@REALM.
func (m *Mechanism) User() string { return m.user }

// Name is the mechanism's name in Kafka.
func (*Mechanism) Name() string { return "GSSAPI" }

// Start gets a ticket for the broker's host and wraps it up. gokrb5 knows no context, so the wait is cut from outside; its own waits
// end after some seconds. The error is a *wire.CredentialsError, or the context's.
func (m *Mechanism) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	broker := sasl.MetadataFromContext(ctx)
	if broker == nil {
		return nil, nil, errors.New("no host name for the broker's principal")
	}
	if now := time.Now(); !m.expires.IsZero() && now.After(m.expires) {
		return nil, nil, m.refused(wire.CauseTicket, fmt.Sprintf("the ticket of %s in %s has expired at %s; the clock here says %s", m.user, m.cache,
			m.expires.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339)))
	}
	type result struct {
		s     *state
		token []byte
		err   error
	}
	service := m.service + "/" + broker.Host
	done := make(chan result, 1)
	go func() {
		s, token, err := m.start(service)
		done <- result{s, token, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, nil, m.explain(r.err, service)
		}
		return r.s, r.token, nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, nil, ctx.Err()
		}
		return nil, nil, m.refused(wire.CauseKDC, fmt.Sprintf("no KDC of %s answers in time (%s)", m.realm(), strings.Join(m.kdcs(), ", ")))
	}
}

func (m *Mechanism) realm() string {
	_, realm, _ := strings.Cut(m.user, "@")
	return realm
}

func (m *Mechanism) refused(cause wire.Cause, reason string) error {
	return &wire.CredentialsError{Cause: cause, Reason: reason, Passing: cause == wire.CauseKDC}
}

// explain tells what a chain of gokrb5's errors is about. It keeps text alone of what the KDC answered, with the names of RFC 4120's codes.
func (m *Mechanism) explain(err error, service string) error {
	text := err.Error()
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(text, p) {
				return true
			}
		}
		return false
	}
	realm := m.realm()
	switch {
	case has("KRB_AP_ERR_SKEW", "clock skew"):
		return m.refused(wire.CauseClock, fmt.Sprintf("the clocks of this machine (%s) and of the KDC of %s differ too much", time.Now().UTC().Format(time.RFC3339), realm))
	case has("KDC_ERR_C_PRINCIPAL_UNKNOWN"):
		return m.refused(wire.CauseCredentials, fmt.Sprintf("the KDC does not know the user %s", m.user))
	case has("KDC_ERR_S_PRINCIPAL_UNKNOWN"):
		return m.refused(wire.CauseService, fmt.Sprintf("the KDC of %s does not know the broker as %s", realm, service))
	case has("KDC_ERR_PREAUTH_FAILED", "client password/keytab incorrect", "KRB_AP_ERR_BAD_INTEGRITY"):
		return m.refused(wire.CauseCredentials, fmt.Sprintf("the KDC refused the password or keytab of %s", m.user))
	case has("KDC_ERR_KEY_EXPIRED"):
		return m.refused(wire.CauseCredentials, fmt.Sprintf("the password of %s has expired", m.user))
	case has("KDC_ERR_CLIENT_REVOKED"):
		return m.refused(wire.CauseCredentials, fmt.Sprintf("the account of %s is locked or revoked", m.user))
	case has("KRB_AP_ERR_TKT_EXPIRED", "TGT has expired"):
		return m.refused(wire.CauseTicket, fmt.Sprintf("the ticket of %s has expired", m.user))
	case has("no KDC SRV records", "no KDCs defined", "No KDCs", "Cannot find KDC"):
		return m.refused(wire.CauseKDC, fmt.Sprintf("krb5.conf names no KDC of the realm %s", realm))
	case has("communicat", "error sending to a KDC", "Networking_Error"):
		return m.refused(wire.CauseKDC, fmt.Sprintf("no KDC of %s was reached (%s)", realm, strings.Join(m.kdcs(), ", ")))
	}
	if len(text) > 400 {
		text = text[:400] + "…"
	}
	return m.refused(wire.CauseCredentials, text)
}

func (m *Mechanism) kdcs() []string {
	for _, r := range m.conf.Realms {
		if r.Realm == m.realm() {
			return r.KDC
		}
	}
	return []string{"by DNS"}
}

func (m *Mechanism) start(service string) (*state, []byte, error) {
	ticket, key, err := m.client.GetServiceTicket(service)
	if err != nil {
		return nil, nil, err
	}
	who := m.client.Credentials
	auth, err := types.NewAuthenticator(who.Domain(), who.CName())
	if err != nil {
		return nil, nil, err
	}
	sum := make([]byte, 24) // RFC 4121 4.1.1: length of the (absent) channel binding, binding, flags
	binary.LittleEndian.PutUint32(sum, 16)
	binary.LittleEndian.PutUint32(sum[20:], gssapi.ContextFlagInteg)
	auth.Cksum = types.Checksum{CksumType: chksumtype.GSSAPI, Checksum: sum}
	q, err := messages.NewAPReq(ticket, key, auth)
	if err != nil {
		return nil, nil, err
	}
	b, err := q.Marshal()
	if err != nil {
		return nil, nil, err
	}
	token, err := asn1.Marshal(asn1.RawValue{Class: asn1.ClassApplication, Tag: 0, IsCompound: true, Bytes: append([]byte(apReq), b...)})
	return &state{key: key}, token, err
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
