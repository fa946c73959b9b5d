package gssapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/types"
)

// errUserKey says that the key of the user does not open what the KDC has sealed for the user.
var errUserKey = errors.New("the user's key does not open the KDC's answer")

// A skewError says that the KDC's clock is too far from ours.
type skewError struct {
	realm string
	kdc   time.Time
}

func (e *skewError) Error() string {
	return fmt.Sprintf("the clocks of this machine (%s) and of the KDC of %s (%s) differ too much", stamp(time.Now()), e.realm, stamp(e.kdc))
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// login gets a ticket-granting ticket (3.1): at first without, and where the KDC asks for it with a time stamp that the user's key has sealed.
func (c *client) login(ctx context.Context) (*ticket, error) {
	body, err := c.body(c.user.realm, grantingName(c.user.realm), c.encTypes(c.conf.LibDefaults.DefaultTktEnctypes, c.conf.LibDefaults.DefaultTktEnctypeIDs))
	if err != nil {
		return nil, err
	}
	body.Client = c.user.name
	for i, b := range c.conf.LibDefaults.KDCDefaultOptions.Bytes {
		if i < len(body.Options.Bytes) {
			body.Options.Bytes[i] |= b
		}
	}
	r, err := c.exchange(ctx, asnAppTag.ASREQ, body, nil)
	var hints []hint
	if refused := (*refusedError)(nil); errors.As(err, &refused) && refused.Code == errorcode.KDC_ERR_PREAUTH_REQUIRED {
		r, hints, err = c.preauthenticate(ctx, body, refused.Data)
	}
	switch {
	case err != nil:
		return nil, err
	case !slices.Contains(body.EncTypes, r.Sealed.EType):
		return nil, fmt.Errorf("the KDC answers by %s, which krb5.conf does not allow", encTypeName(r.Sealed.EType))
	}
	key, err := c.key(hintFor(r.Sealed.EType, append(hintsOf(r.PAData), hints...)))
	if err != nil {
		return nil, err
	}
	t, part, err := c.accept(r, body, key, keyusage.AS_REP_ENCPART)
	if errors.Is(err, errKey) {
		return nil, errUserKey
	} else if err != nil {
		return nil, err
	}
	// 3.1.5: what was asked for, of whom it was asked for. With canonicalize a KDC may know the user by another name (RFC 6806 6).
	switch {
	case !t.server.is(principal{body.Server, body.Realm}):
		return nil, fmt.Errorf("the KDC gave a ticket for %s instead of %s", t.server, principal{body.Server, body.Realm})
	case !t.client.is(c.user) && !c.conf.LibDefaults.Canonicalize:
		return nil, fmt.Errorf("the KDC gave a ticket of %s instead of %s", t.client, c.user)
	case time.Until(part.AuthTime).Abs() > c.conf.LibDefaults.Clockskew:
		return nil, &skewError{c.user.realm, part.AuthTime}
	}
	return t, nil
}

// preauthenticate asks again, with a time stamp. It returns what the KDC said about keys, too.
func (c *client) preauthenticate(ctx context.Context, body *requestBody, methods []byte) (*reply, []hint, error) {
	var data types.PADataSequence
	if err := data.Unmarshal(methods); err != nil {
		return nil, nil, fmt.Errorf("the KDC of %s gave an answer that cannot be read: %w", body.Realm, err)
	}
	hints := hintsOf(data)
	stamp, err := c.timeStamp(body.EncTypes, hints)
	if err != nil {
		return nil, nil, err
	}
	r, err := c.exchange(ctx, asnAppTag.ASREQ, body, types.PADataSequence{stamp})
	return r, hints, err
}

// timeStamp is PA-ENC-TIMESTAMP (5.2.7.2), with the first of the keys that the KDC names, that we asked for, and that we have.
func (c *client) timeStamp(asked []int32, hints []hint) (types.PAData, error) {
	if len(hints) == 0 {
		hints = []hint{{encType: asked[0]}}
	}
	var key types.EncryptionKey
	err := fmt.Errorf("the KDC asks for %s, which krb5.conf does not allow", encTypeName(hints[0].encType))
	for _, h := range hints {
		if slices.Contains(asked, h.encType) {
			if key, err = c.key(h); err == nil {
				break
			}
		}
	}
	if err != nil {
		return types.PAData{}, err
	}
	b, err := types.GetPAEncTSEncAsnMarshalled()
	if err != nil {
		return types.PAData{}, err
	}
	sealed, err := crypto.GetEncryptedData(b, key, keyusage.AS_REQ_PA_ENC_TIMESTAMP, 0)
	if err != nil {
		return types.PAData{}, err
	}
	b, err = sealed.Marshal()
	return types.PAData{PADataType: patype.PA_ENC_TIMESTAMP, PADataValue: b}, err
}
