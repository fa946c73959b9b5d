package gssapi

import (
	"errors"
	"fmt"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/msgtype"
	"github.com/jcmturner/gokrb5/v8/types"
)

// The messages of RFC 4120 that a client sends and gets. Names and realms are GeneralString, which encoding/asn1 cannot write and its fork
// can. A RawValue's own tag is neither read nor written by what is in its field's tag: see wrapped and unwrapped.

// request is KDC-REQ (5.4.1). Body is kept as bytes, since the checksum of a TGS-REQ is of them.
type request struct {
	Version int                  `asn1:"explicit,tag:1"`
	Type    int                  `asn1:"explicit,tag:2"`
	PAData  types.PADataSequence `asn1:"explicit,optional,tag:3"`
	Body    asn1.RawValue        `asn1:"explicit,tag:4"`
}

// requestBody is KDC-REQ-BODY (5.4.1).
type requestBody struct {
	Options   asn1.BitString      `asn1:"explicit,tag:0"`
	Client    types.PrincipalName `asn1:"explicit,optional,tag:1"` // of an AS-REQ
	Realm     string              `asn1:"generalstring,explicit,tag:2"`
	Server    types.PrincipalName `asn1:"explicit,optional,tag:3"`
	Till      time.Time           `asn1:"generalized,explicit,tag:5"`
	RenewTill time.Time           `asn1:"generalized,explicit,optional,tag:6"`
	Nonce     int64               `asn1:"explicit,tag:7"`
	EncTypes  []int32             `asn1:"explicit,tag:8"`
	Addresses []types.HostAddress `asn1:"explicit,optional,tag:9"`
}

// reply is KDC-REP (5.4.2).
type reply struct {
	Version     int                  `asn1:"explicit,tag:0"`
	Type        int                  `asn1:"explicit,tag:1"`
	PAData      types.PADataSequence `asn1:"explicit,optional,tag:2"`
	ClientRealm string               `asn1:"generalstring,explicit,tag:3"`
	Client      types.PrincipalName  `asn1:"explicit,tag:4"`
	Ticket      asn1.RawValue        `asn1:"explicit,tag:5"`
	Sealed      types.EncryptedData  `asn1:"explicit,tag:6"`
}

// replyPart is EncKDCRepPart (5.4.2), what is sealed in a reply, up to the last field that matters here.
type replyPart struct {
	Key        types.EncryptionKey `asn1:"explicit,tag:0"`
	LastReq    asn1.RawValue       `asn1:"explicit,tag:1"`
	Nonce      int64               `asn1:"explicit,tag:2"`
	KeyExpires time.Time           `asn1:"generalized,explicit,optional,tag:3"`
	Flags      asn1.BitString      `asn1:"explicit,tag:4"`
	AuthTime   time.Time           `asn1:"generalized,explicit,tag:5"`
	Starts     time.Time           `asn1:"generalized,explicit,optional,tag:6"`
	Ends       time.Time           `asn1:"generalized,explicit,tag:7"`
	RenewTill  time.Time           `asn1:"generalized,explicit,optional,tag:8"`
	Realm      string              `asn1:"generalstring,explicit,tag:9"`
	Server     types.PrincipalName `asn1:"explicit,tag:10"`
}

// ticketForm is Ticket (5.3): it is for others to read, and travels as the bytes that it came in.
type ticketForm struct {
	Version int                 `asn1:"explicit,tag:0"`
	Realm   string              `asn1:"generalstring,explicit,tag:1"`
	Server  types.PrincipalName `asn1:"explicit,tag:2"`
	Sealed  types.EncryptedData `asn1:"explicit,tag:3"`
}

// apRequest is AP-REQ (5.5.1).
type apRequest struct {
	Version       int                 `asn1:"explicit,tag:0"`
	Type          int                 `asn1:"explicit,tag:1"`
	Options       asn1.BitString      `asn1:"explicit,tag:2"`
	Ticket        asn1.RawValue       `asn1:"explicit,tag:3"`
	Authenticator types.EncryptedData `asn1:"explicit,tag:4"`
}

// kdcError is KRB-ERROR (5.9.1).
type kdcError struct {
	Version     int                 `asn1:"explicit,tag:0"`
	Type        int                 `asn1:"explicit,tag:1"`
	ClientTime  time.Time           `asn1:"generalized,explicit,optional,tag:2"`
	ClientMicro int                 `asn1:"explicit,optional,tag:3"`
	Time        time.Time           `asn1:"generalized,explicit,tag:4"` // of the KDC
	Micro       int                 `asn1:"explicit,tag:5"`
	Code        int32               `asn1:"explicit,tag:6"`
	ClientRealm string              `asn1:"generalstring,explicit,optional,tag:7"`
	Client      types.PrincipalName `asn1:"explicit,optional,tag:8"`
	Realm       string              `asn1:"generalstring,explicit,tag:9"`
	Server      types.PrincipalName `asn1:"explicit,tag:10"`
	Text        string              `asn1:"generalstring,explicit,optional,tag:11"`
	Data        []byte              `asn1:"explicit,optional,tag:12"`
}

func (e *kdcError) Error() string {
	if e.Text == "" {
		return errorcode.Lookup(e.Code)
	}
	return fmt.Sprintf("%s (%q)", errorcode.Lookup(e.Code), e.Text)
}

// A refusedError is a KDC's refusal.
type refusedError struct {
	*kdcError
	realm string              // whose KDC it was
	asked types.PrincipalName // for whose ticket it was asked
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("the KDC of %s refuses a ticket for %s: %v", e.realm, e.asked.PrincipalNameString(), e.kdcError)
}

// errKey says that a key does not open what is sealed.
var errKey = errors.New("the key does not open it")

// encode is a message with its application tag.
func encode(tag int, message any) ([]byte, error) {
	b, err := asn1.Marshal(message)
	if err != nil {
		return nil, err
	}
	return asn1tools.AddASNAppTag(b, tag), nil
}

// decode reads a message with an application tag.
func decode(b []byte, tag int, message any) error {
	_, err := asn1.UnmarshalWithParams(b, message, fmt.Sprintf("application,explicit,tag:%d", tag))
	return err
}

// wrapped is an element within an explicit tag.
func wrapped(tag int, element []byte) asn1.RawValue {
	return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tag, IsCompound: true, Bytes: element}
}

// unwrapped is the element within an explicit tag.
func unwrapped(tag int, v asn1.RawValue) ([]byte, error) {
	if v.Class != asn1.ClassContextSpecific || v.Tag != tag || !v.IsCompound {
		return nil, fmt.Errorf("field %d is missing", tag)
	}
	return v.Bytes, nil
}

// isTicket tells whether the bytes are one ticket, and nothing else.
func isTicket(b []byte) error {
	if err := decode(b, asnAppTag.Ticket, &ticketForm{}); err != nil {
		return err
	}
	if rest, err := asn1.Unmarshal(b, &asn1.RawValue{}); err != nil || len(rest) != 0 {
		return errors.New("something follows the ticket")
	}
	return nil
}

// decodeReply reads what a KDC answers to a request. A refusal is a *kdcError.
func decodeReply(b []byte, tag int) (*reply, error) {
	refusal := &kdcError{}
	if err := decode(b, asnAppTag.KRBError, refusal); err == nil {
		return nil, refusal
	}
	r := &reply{}
	if err := decode(b, tag, r); err != nil {
		return nil, err
	}
	if r.Version != iana.PVNO || r.Type != tag { // a message's type is the number of its tag
		return nil, fmt.Errorf("it is of type %d and version %d", r.Type, r.Version)
	}
	ticket, err := unwrapped(5, r.Ticket)
	if err != nil {
		return nil, err
	}
	r.Ticket.Bytes = ticket
	return r, isTicket(ticket)
}

// open reads what is sealed in a reply. Some KDCs give the part of an AS-REP the tag of a TGS-REP's (5.4.2).
func (r *reply) open(key types.EncryptionKey, usage uint32) (*replyPart, error) {
	b, err := decrypt(r.Sealed, key, usage)
	if err != nil {
		return nil, err
	}
	part := &replyPart{}
	if decode(b, asnAppTag.EncASRepPart, part) == nil {
		return part, nil
	}
	return part, decode(b, asnAppTag.EncTGSRepPart, part)
}

// decrypt opens what is sealed with the key. The length is looked at first, because the library takes it for granted.
func decrypt(sealed types.EncryptedData, key types.EncryptionKey, usage uint32) ([]byte, error) {
	if sealed.EType != key.KeyType {
		return nil, fmt.Errorf("it is encrypted by %s, the key is for %s", encTypeName(sealed.EType), encTypeName(key.KeyType))
	}
	kind, err := crypto.GetEtype(key.KeyType)
	if err != nil {
		return nil, err
	}
	if least := kind.GetConfounderByteSize() + kind.GetHMACBitLength()/8; len(sealed.Cipher) < least {
		return nil, fmt.Errorf("%d bytes are too few for %s", len(sealed.Cipher), encTypeName(key.KeyType))
	}
	b, err := crypto.DecryptEncPart(sealed, key, usage)
	if err != nil {
		return nil, errKey
	}
	return b, nil
}

// encodeAPRequest shows a ticket to its server (5.5.1): with an authenticator, sealed by the ticket's key for the usage.
func encodeAPRequest(t *ticket, checksum types.Checksum, usage uint32) ([]byte, error) {
	a, err := types.NewAuthenticator(t.client.realm, t.client.name)
	if err != nil {
		return nil, err
	}
	a.Cksum = checksum
	b, err := a.Marshal()
	if err != nil {
		return nil, err
	}
	sealed, err := crypto.GetEncryptedData(b, t.key, usage, 0)
	if err != nil {
		return nil, err
	}
	return encode(asnAppTag.APREQ, apRequest{
		Version: iana.PVNO, Type: msgtype.KRB_AP_REQ, Options: types.NewKrbFlags(), Ticket: wrapped(3, t.bytes), Authenticator: sealed,
	})
}
