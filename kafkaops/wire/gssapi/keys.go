package gssapi

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"sort"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/types"
)

// maxIterations bounds what a KDC may ask for to make a key of a password; they ask for 4,096 or 32,768. A million take about a second.
const maxIterations = 1 << 20

// hint is how a key is made of a password, as the KDC says (5.2.7.4, 5.2.7.5).
type hint struct {
	encType int32
	salt    string
	params  []byte
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
		sort.SliceStable(chosen, func(i, j int) bool { return held(chosen[i]) < held(chosen[j]) })
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
