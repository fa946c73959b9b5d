package gssapi

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
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

// maxIterations bounds what a KDC may ask for to make a key of a password; they ask for 4,096 or 32,768. A million take about a second.
const maxIterations = 1 << 20

// hint is how a key is made of a password, as the KDC says (5.2.7.4, 5.2.7.5).
type hint struct {
	encType int32
	salt    string
	params  []byte
}

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
	case part.AuthTime.Sub(time.Now()).Abs() > c.conf.LibDefaults.Clockskew:
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

// hintsOf are the keys that a KDC would take, its favourite first: ETYPE-INFO2, of older ones ETYPE-INFO.
func hintsOf(data types.PADataSequence) []hint {
	var hints, old []hint
	for _, d := range data {
		switch d.PADataType {
		case patype.PA_ETYPE_INFO2:
			info, _ := d.GetETypeInfo2()
			for _, e := range info {
				hints = append(hints, hint{e.EType, e.Salt, e.S2KParams})
			}
		case patype.PA_ETYPE_INFO:
			info, _ := d.GetETypeInfo()
			for _, e := range info {
				old = append(old, hint{encType: e.EType, salt: string(e.Salt)})
			}
		}
	}
	if len(hints) > 0 {
		return hints
	}
	return old
}

// hintFor is the first one for an encryption type. Without any, a key is made in the usual way.
func hintFor(encType int32, hints []hint) hint {
	for _, h := range hints {
		if h.encType == encType {
			return h
		}
	}
	return hint{encType: encType}
}

// key is the user's key: out of the keytab, or made of the password (RFC 3961 3: string-to-key).
func (c *client) key(h hint) (types.EncryptionKey, error) {
	if c.keys != nil {
		if k := c.newestKey(h.encType); k != nil {
			return *k, nil
		}
		return types.EncryptionKey{}, fmt.Errorf("the KDC asks for %s, of which the keytab holds no key of %s", encTypeName(h.encType), c.user)
	}
	kind, err := crypto.GetEtype(h.encType)
	if err != nil {
		return types.EncryptionKey{}, err
	}
	params := kind.GetDefaultStringToKeyParams()
	if len(h.params) == 4 { // RFC 3962 4: the number of iterations
		if n := binary.BigEndian.Uint32(h.params); n == 0 || n > maxIterations {
			return types.EncryptionKey{}, fmt.Errorf("the KDC asks for a key of %d iterations", n)
		}
		params = hex.EncodeToString(h.params)
	}
	salt := h.salt
	if salt == "" {
		salt = c.user.name.GetSalt(c.user.realm)
	}
	b, err := kind.StringToKey(c.password, salt, params)
	return types.EncryptionKey{KeyType: h.encType, KeyValue: b}, err
}

// newestKey is the user's last key of an encryption type in the keytab; nil if there is none.
func (c *client) newestKey(encType int32) *types.EncryptionKey {
	best := -1
	for i, e := range c.keys.Entries {
		if e.Key.KeyType != encType || e.Principal.Realm != c.user.realm || !slices.Equal(e.Principal.Components, c.user.name.NameString) {
			continue
		}
		if best < 0 || e.Timestamp.After(c.keys.Entries[best].Timestamp) || e.Timestamp.Equal(c.keys.Entries[best].Timestamp) && e.KVNO > c.keys.Entries[best].KVNO {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return &c.keys.Entries[best].Key
}

// usualEncTypes are asked for where krb5.conf names none, as MIT has them; those of RFC 8009 are not among config's.
var usualEncTypes = []int32{
	etypeID.AES256_CTS_HMAC_SHA1_96, etypeID.AES128_CTS_HMAC_SHA1_96, etypeID.AES256_CTS_HMAC_SHA384_192, etypeID.AES128_CTS_HMAC_SHA256_128,
	etypeID.DES3_CBC_SHA1_KD, etypeID.RC4_HMAC,
}

// encTypes are the encryption types to ask for, best first: those that krb5.conf names, as far as permitted_enctypes has them if it is
// there. Those come first of which the keytab has a key.
func (c *client) encTypes(names []string, named []int32) []int32 {
	lib := c.conf.LibDefaults
	permits, asks := !slices.Equal(lib.PermittedEnctypes, c.usual.PermittedEnctypes), !slices.Equal(names, c.usual.DefaultTktEnctypes)
	var chosen []int32
	switch {
	case permits && asks:
		for _, id := range named {
			if slices.Contains(lib.PermittedEnctypeIDs, id) {
				chosen = append(chosen, id)
			}
		}
	case permits:
		chosen = slices.Clone(lib.PermittedEnctypeIDs)
	case asks:
		chosen = slices.Clone(named)
	default:
		chosen = slices.Clone(usualEncTypes)
	}
	if c.keys != nil {
		held := func(id int32) int {
			if c.newestKey(id) != nil {
				return 0
			}
			return 1
		}
		slices.SortStableFunc(chosen, func(a, b int32) int { return held(a) - held(b) })
	}
	return chosen
}

// encTypeName is the longest of an encryption type's names, as klist shows it.
func encTypeName(id int32) string {
	best := ""
	for name, known := range etypeID.ETypesByName {
		if known == id && (len(name) > len(best) || len(name) == len(best) && name < best) {
			best = name
		}
	}
	if best == "" {
		return fmt.Sprintf("encryption type %d", id)
	}
	return best
}

// grantingName is the name of the ticket-granting server of a realm (7.3).
func grantingName(realm string) types.PrincipalName {
	return types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: []string{"krbtgt", realm}}
}

// grants is the realm whose KDC takes a ticket as a ticket-granting one; "" if none does.
func (t *ticket) grants() string {
	if n := t.server.name.NameString; len(n) == 2 && strings.EqualFold(n[0], "krbtgt") {
		return n[1]
	}
	return ""
}
