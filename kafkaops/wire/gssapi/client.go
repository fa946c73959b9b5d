package gssapi

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/types"
)

const (
	maxReferrals = 10
	margin       = time.Minute // before its end a ticket is not taken out of memory any more
)

// errExpired says that the ticket-granting ticket of a credential cache is at its end.
var errExpired = errors.New("the ticket has expired")

// client gets tickets for one user, and keeps them until shortly before they end. It may be used by several goroutines.
type client struct {
	conf     *config.Config
	usual    config.LibDefaults // what conf would hold if krb5.conf said nothing
	user     principal
	keys     *keytab.Keytab // one of keys and password; neither: granting is all there is
	password string

	turn     chan struct{} // holds one who may look at what follows
	granting *ticket       // of the user's realm; nil: none yet
	services map[string]*ticket
	kdcs     kdcs
}

func newClient(conf *config.Config, user principal) *client {
	return &client{
		conf: conf, usual: config.New().LibDefaults, user: user,
		turn: make(chan struct{}, 1), services: map[string]*ticket{}, kdcs: kdcs{conf, map[string]road{}},
	}
}

// ticketFor returns a ticket for a service on a host.
func (c *client) ticketFor(ctx context.Context, service types.PrincipalName, realm string) (*ticket, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		return nil, &unreachedError{realm: c.user.realm, late: true} // by whoever asks it now
	}
	name := service.PrincipalNameString()
	if t := c.services[name]; t != nil && time.Until(t.ends) > margin {
		return t, nil
	}
	granting, err := c.grantingTicket(ctx)
	if err != nil {
		return nil, err
	}
	t, err := c.follow(ctx, granting, service, realm)
	if err != nil {
		if refused := (*refusedError)(nil); errors.As(err, &refused) && c.canLogin() {
			c.granting = nil // whatever is wrong with it, the next one is new
		}
		return nil, err
	}
	c.services[name] = t
	return t, nil
}

func (c *client) canLogin() bool { return c.keys != nil || c.password != "" }

func (c *client) grantingTicket(ctx context.Context) (*ticket, error) {
	switch {
	case !c.canLogin() && time.Until(c.granting.ends) <= 0:
		return nil, errExpired
	case !c.canLogin() || c.granting != nil && time.Until(c.granting.ends) > margin:
		return c.granting, nil
	}
	t, err := c.login(ctx)
	if err != nil {
		return nil, err
	}
	c.granting = t
	return t, nil
}

// follow gets a service's ticket from the user's realm, or from the one to which that refers (3.3.1, RFC 6806 8). Where krb5.conf names
// the service's realm, that is asked for first.
func (c *client) follow(ctx context.Context, granting *ticket, service types.PrincipalName, realm string) (*ticket, error) {
	at := c.user.realm
	seen := map[string]bool{at: true}
	for range maxReferrals + 1 {
		want := service
		if realm != "" && !seen[realm] {
			want = grantingName(realm)
		}
		t, err := c.grant(ctx, granting, at, want)
		if err != nil {
			return nil, err
		}
		next := t.grants()
		if next == "" {
			return t, nil
		}
		if seen[next] {
			return nil, fmt.Errorf("the KDC of %s refers to %s for %s, which was asked already", at, next, service.PrincipalNameString())
		}
		granting, at, seen[next] = t, next, true
	}
	return nil, fmt.Errorf("more than %d KDCs refer to one another for %s", maxReferrals, service.PrincipalNameString())
}

// grant asks the KDC of a realm for a ticket (3.3).
func (c *client) grant(ctx context.Context, granting *ticket, realm string, server types.PrincipalName) (*ticket, error) {
	body, err := c.body(realm, server, c.encTypes(c.conf.LibDefaults.DefaultTGSEnctypes, c.conf.LibDefaults.DefaultTGSEnctypeIDs))
	if err != nil {
		return nil, err
	}
	b, err := asn1.Marshal(*body)
	if err != nil {
		return nil, err
	}
	kind, err := crypto.GetEtype(granting.key.KeyType)
	if err != nil {
		return nil, err
	}
	sum, err := kind.GetChecksumHash(granting.key.KeyValue, b, keyusage.TGS_REQ_PA_TGS_REQ_AP_REQ_AUTHENTICATOR_CHKSUM)
	if err != nil {
		return nil, err
	}
	shown, err := encodeAPRequest(granting, types.Checksum{CksumType: kind.GetHashID(), Checksum: sum}, keyusage.TGS_REQ_PA_TGS_REQ_AP_REQ_AUTHENTICATOR)
	if err != nil {
		return nil, err
	}
	r, err := c.exchange(ctx, asnAppTag.TGSREQ, body, types.PADataSequence{{PADataType: patype.PA_TGS_REQ, PADataValue: shown}})
	if err != nil {
		return nil, err
	}
	t, part, err := c.accept(r, body, granting.key, keyusage.TGS_REP_ENCPART_SESSION_KEY)
	if err != nil {
		return nil, err
	}
	// 3.3.4: what was asked for, a referral, or, where canonicalize allows it, another name of the service.
	switch {
	case t.server.realm != realm || !t.server.name.Equal(server) && t.grants() == "" && (!c.conf.LibDefaults.Canonicalize || server.NameString[0] == granting.server.name.NameString[0]):
		return nil, fmt.Errorf("the KDC of %s gave a ticket for %s instead of %s", realm, t.server, principal{server, realm})
	case !t.client.is(granting.client):
		return nil, fmt.Errorf("the KDC of %s gave a ticket of %s instead of %s", realm, t.client, granting.client)
	case time.Until(part.Starts) > c.conf.LibDefaults.Clockskew:
		return nil, &skewError{realm, part.Starts}
	}
	return t, nil
}

// body is what requests have in common (5.4.1).
func (c *client) body(realm string, server types.PrincipalName, encTypes []int32) (*requestBody, error) {
	if len(encTypes) == 0 {
		return nil, errors.New("krb5.conf allows no encryption type that gtoffset has")
	}
	lib, now := c.conf.LibDefaults, time.Now().UTC()
	var nonce [4]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		return nil, err
	}
	body := &requestBody{
		Options: types.NewKrbFlags(), Realm: realm, Server: server, Till: now.Add(lib.TicketLifetime), EncTypes: encTypes,
		Nonce: int64(binary.BigEndian.Uint32(nonce[:]) >> 1), // some KDCs know only signed ones
	}
	for _, o := range []struct {
		flag int
		set  bool
	}{{flags.Forwardable, lib.Forwardable}, {flags.Proxiable, lib.Proxiable}, {flags.Canonicalize, lib.Canonicalize}, {flags.Renewable, lib.RenewLifetime > 0}} {
		if o.set {
			types.SetFlag(&body.Options, o.flag)
		}
	}
	if lib.RenewLifetime > 0 {
		body.RenewTill = now.Add(lib.RenewLifetime)
	}
	if !lib.NoAddresses {
		local, err := types.LocalHostAddresses()
		if err != nil {
			return nil, err
		}
		body.Addresses = append(local, types.HostAddressesFromNetIPs(lib.ExtraAddresses)...)
	}
	return body, nil
}

// exchange sends a request to a KDC of the body's realm. The error is a *refusedError, an *unreachedError, the context's, or
// of an answer that cannot be read.
func (c *client) exchange(ctx context.Context, tag int, body *requestBody, data types.PADataSequence) (*reply, error) {
	b, err := asn1.Marshal(*body)
	if err != nil {
		return nil, err
	}
	message, err := encode(tag, request{Version: iana.PVNO, Type: tag, PAData: data, Body: wrapped(4, b)})
	if err != nil {
		return nil, err
	}
	answer, err := c.kdcs.ask(ctx, body.Realm, message)
	if err != nil {
		return nil, err
	}
	r, err := decodeReply(answer, tag+1) // 10 is answered by 11, 12 by 13
	if refusal := (*kdcError)(nil); errors.As(err, &refusal) {
		return nil, &refusedError{kdcError: refusal, realm: body.Realm, asked: body.Server}
	} else if err != nil {
		return nil, fmt.Errorf("the KDC of %s gave an answer that cannot be read: %w", body.Realm, err)
	}
	return r, nil
}

// accept opens a reply, whose nonce proves that it is to this request.
func (c *client) accept(r *reply, body *requestBody, key types.EncryptionKey, usage uint32) (*ticket, *replyPart, error) {
	part, err := r.open(key, usage)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("the KDC of %s gave an answer that cannot be read: %w", body.Realm, err)
	case part.Nonce != body.Nonce:
		return nil, nil, fmt.Errorf("the KDC of %s answered another request", body.Realm)
	}
	if part.Starts.IsZero() {
		part.Starts = part.AuthTime // 5.4.2
	}
	return &ticket{
		client: principal{r.Client, r.ClientRealm}, server: principal{part.Server, part.Realm}, key: part.Key, ends: part.Ends, bytes: r.Ticket.Bytes,
	}, part, nil
}
