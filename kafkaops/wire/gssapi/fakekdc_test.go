package gssapi

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// A fakeKDC is the KDC of one realm. It speaks by gokrb5's messages, which the program itself does not use: what they read and write is a
// second opinion on ours. Its users and services have their names as passwords, with another salt than the usual one.
type fakeKDC struct {
	t     testing.TB
	realm string
	addr  string // of TCP and UDP

	preauth  bool
	encType  int32
	knows    map[string]bool   // users and services
	refers   map[string]string // by service: the realm to ask
	trusts   []string          // realms for whose users it has tickets
	life     time.Duration
	clock    time.Duration // ahead of ours
	noTCP    bool
	silent   bool
	refuse   int32                         // answers everything by this code
	tamper   func(*messages.EncKDCRepPart) // before it is sealed
	mangle   func([]byte) []byte           // an answer, before it is sent
	rename   func(*messages.KDCRepFields)
	keys     *keytab.Keytab
	mu       sync.Mutex
	asked    []string // "AS alice", "TGS kafka/b1"
	lastBody messages.KDCReqBody
}

const testSalt = "salted"

// newKDC makes a KDC that is not yet running.
func newKDC(t testing.TB, realm string) *fakeKDC {
	return &fakeKDC{
		t: t, realm: realm, encType: etypeID.AES256_CTS_HMAC_SHA1_96, life: time.Hour, keys: keytab.New(), refers: map[string]string{},
		knows: map[string]bool{"alice": true, "kafka/b1": true, "kafka/b2": true},
	}
}

// run starts the KDC.
func (k *fakeKDC) run() *fakeKDC {
	k.t.Helper()
	for name := range k.knows {
		if strings.Contains(name, "/") {
			k.addKey(name, k.realm)
		}
	}
	k.addKey("krbtgt/"+k.realm, k.realm)
	for _, from := range k.trusts {
		k.addKey("krbtgt/"+k.realm, from)
	}
	for _, to := range k.refers {
		k.addKey("krbtgt/"+to, k.realm)
	}
	l, p := listen(k.t)
	k.addr = l.Addr().String()
	var busy sync.WaitGroup
	k.t.Cleanup(func() { l.Close(); p.Close(); busy.Wait() })
	if k.noTCP {
		l.Close()
	}
	busy.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			busy.Go(func() { k.serve(c) })
		}
	})
	busy.Go(func() {
		b := make([]byte, 1<<16)
		for {
			n, from, err := p.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = p.WriteTo(k.answer(b[:n]), from)
		}
	})
	return k
}

// listen takes a port of which both TCP and UDP are free.
func listen(t testing.TB) (l net.Listener, p net.PacketConn) {
	t.Helper()
	var err error
	for range 100 {
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			break
		}
		if p, err = net.ListenPacket("udp", l.Addr().String()); err == nil {
			return l, p
		}
		l.Close()
	}
	t.Fatal(err)
	return nil, nil
}

func (k *fakeKDC) serve(c net.Conn) {
	defer c.Close()
	var length [4]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		return
	}
	b := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(c, b); err != nil {
		return
	}
	if k.silent {
		_, _ = c.Read(length[:]) // until the other side hangs up
		return
	}
	answer := k.answer(b)
	_, _ = c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(answer))), answer...))
}

// addKey gives the KDC a key of its own for a name.
func (k *fakeKDC) addKey(name, realm string) { addKey(k.t, k.keys, name, realm, 1, k.ticketType()) }

// addKey adds a key to a keytab that no password leads to, which takes long.
func addKey(t testing.TB, keys *keytab.Keytab, name, realm string, version byte, encType int32) {
	t.Helper()
	if err := keys.AddEntry(name, realm, "quick", time.Now(), version, etypeID.RC4_HMAC); err != nil {
		t.Fatal(err)
	}
	kind, err := crypto.GetEtype(encType)
	if err != nil {
		t.Fatal(err)
	}
	any := sha256.Sum256(fmt.Append(nil, name, realm, version))
	keys.Entries[len(keys.Entries)-1].Key = types.EncryptionKey{KeyType: encType, KeyValue: any[:kind.GetKeyByteSize()]}
}

// ticketType is what tickets and sessions are encrypted by. For one type messages makes keys that are too short.
func (k *fakeKDC) ticketType() int32 {
	if k.encType == etypeID.AES256_CTS_HMAC_SHA384_192 {
		return etypeID.AES256_CTS_HMAC_SHA1_96
	}
	return k.encType
}

// userKey is the key that a user has by the password and the KDC's salt.
func (k *fakeKDC) userKey(password string) types.EncryptionKey {
	kind, err := crypto.GetEtype(k.encType)
	if err != nil {
		k.t.Error(err)
	}
	b, err := kind.StringToKey(password, testSalt, "00000010")
	if err != nil {
		k.t.Error(err)
	}
	return types.EncryptionKey{KeyType: k.encType, KeyValue: b}
}

func (k *fakeKDC) now() time.Time { return time.Now().Add(k.clock).UTC().Truncate(time.Second) }

func (k *fakeKDC) note(format string, args ...any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked = append(k.asked, fmt.Sprintf(format, args...))
}

// requests are what was asked so far.
func (k *fakeKDC) requests() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.asked, ", ")
}

// body is that of the last request.
func (k *fakeKDC) body() messages.KDCReqBody {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lastBody
}

func (k *fakeKDC) answer(b []byte) []byte {
	answer, err := k.grant(b)
	if refusal := (messages.KRBError{}); err != nil {
		refusal, _ = err.(messages.KRBError)
		if refusal.ErrorCode == 0 {
			k.t.Errorf("%s: %v", k.realm, err)
		}
		answer, err = refusal.Marshal()
		if err != nil {
			k.t.Error(err)
		}
	}
	if k.mangle != nil {
		answer = k.mangle(answer)
	}
	return answer
}

func (k *fakeKDC) refusal(q messages.KDCReqBody, code int32, data []byte) error {
	e := messages.NewKRBError(q.SName, k.realm, code, "said the KDC")
	e.EData, e.STime = data, k.now()
	return e
}

func (k *fakeKDC) grant(b []byte) ([]byte, error) {
	var as messages.ASReq
	if err := as.Unmarshal(b); err == nil {
		return k.login(as)
	}
	var tgs messages.TGSReq
	if err := tgs.Unmarshal(b); err != nil {
		return nil, err
	}
	return k.ticket(tgs)
}

func (k *fakeKDC) seen(kind, name string, q messages.KDCReqBody) {
	k.note("%s %s", kind, name)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lastBody = q
}

func (k *fakeKDC) login(q messages.ASReq) ([]byte, error) {
	user := q.ReqBody.CName.PrincipalNameString()
	k.seen("AS", user, q.ReqBody)
	info, err := asn1.Marshal(types.ETypeInfo2{{EType: etypeID.DES_CBC_MD5}, {EType: k.encType, Salt: testSalt, S2KParams: []byte{0, 0, 0, 16}}})
	if err != nil {
		return nil, err
	}
	hint := types.PADataSequence{{PADataType: patype.PA_ETYPE_INFO2, PADataValue: info}}
	switch {
	case k.refuse != 0:
		return nil, k.refusal(q.ReqBody, k.refuse, nil)
	case !k.knows[user]:
		return nil, k.refusal(q.ReqBody, errorcode.KDC_ERR_C_PRINCIPAL_UNKNOWN, nil)
	}
	key := k.userKey(user)
	if k.preauth {
		if len(q.PAData) == 0 {
			data, err := asn1.Marshal(hint)
			if err != nil {
				return nil, err
			}
			return nil, k.refusal(q.ReqBody, errorcode.KDC_ERR_PREAUTH_REQUIRED, data)
		}
		var sealed types.EncryptedData
		if err := sealed.Unmarshal(q.PAData[0].PADataValue); err != nil {
			return nil, err
		}
		b, err := crypto.DecryptEncPart(sealed, key, keyusage.AS_REQ_PA_ENC_TIMESTAMP)
		if err != nil {
			return nil, k.refusal(q.ReqBody, errorcode.KDC_ERR_PREAUTH_FAILED, nil)
		}
		var stamp types.PAEncTSEnc
		if err := stamp.Unmarshal(b); err != nil {
			return nil, err
		}
		if stamp.PATimestamp.Sub(k.now()).Abs() > 5*time.Minute {
			return nil, k.refusal(q.ReqBody, errorcode.KRB_AP_ERR_SKEW, nil)
		}
		hint = nil
	}
	f, err := k.fields(q.ReqBody, q.ReqBody.CName, k.realm, q.ReqBody.SName, key, keyusage.AS_REP_ENCPART)
	if err != nil {
		return nil, err
	}
	f.MsgType, f.PAData = 11, hint
	return (&messages.ASRep{KDCRepFields: f}).Marshal()
}

func (k *fakeKDC) ticket(q messages.TGSReq) ([]byte, error) {
	name := q.ReqBody.SName.PrincipalNameString()
	k.seen("TGS", name, q.ReqBody)
	if k.refuse != 0 {
		return nil, k.refusal(q.ReqBody, k.refuse, nil)
	}
	var shown messages.APReq
	if err := shown.Unmarshal(q.PAData[0].PADataValue); err != nil {
		return nil, err
	}
	if err := shown.Ticket.DecryptEncPart(k.keys, nil); err != nil {
		return nil, fmt.Errorf("ticket of %s: %w", shown.Ticket.Realm, err)
	}
	of := shown.Ticket.DecryptedEncPart
	if err := shown.DecryptAuthenticator(of.Key); err != nil {
		return nil, err
	}
	if a := shown.Authenticator; !a.CName.Equal(of.CName) || a.CRealm != of.CRealm {
		return nil, fmt.Errorf("authenticator of %v@%s, ticket of %v@%s", a.CName, a.CRealm, of.CName, of.CRealm)
	}
	body, err := q.ReqBody.Marshal()
	if err != nil {
		return nil, err
	}
	kind, err := crypto.GetEtype(of.Key.KeyType)
	if err != nil {
		return nil, err
	}
	if !kind.VerifyChecksum(of.Key.KeyValue, body, shown.Authenticator.Cksum.Checksum, keyusage.TGS_REQ_PA_TGS_REQ_AP_REQ_AUTHENTICATOR_CHKSUM) {
		return nil, fmt.Errorf("the checksum is wrong")
	}
	server := q.ReqBody.SName
	if to := k.refers[name]; to != "" {
		server = types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: []string{"krbtgt", to}}
	} else if !k.knows[name] {
		return nil, k.refusal(q.ReqBody, errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN, nil)
	}
	f, err := k.fields(q.ReqBody, of.CName, of.CRealm, server, of.Key, keyusage.TGS_REP_ENCPART_SESSION_KEY)
	if err != nil {
		return nil, err
	}
	f.MsgType = 13
	return (&messages.TGSRep{KDCRepFields: f}).Marshal()
}

// fields make a reply with a ticket for the server.
func (k *fakeKDC) fields(q messages.KDCReqBody, user types.PrincipalName, realm string, server types.PrincipalName, key types.EncryptionKey, usage uint32) (messages.KDCRepFields, error) {
	now := k.now()
	ticket, session, err := messages.NewTicket(user, realm, server, k.realm, types.NewKrbFlags(), k.keys, k.ticketType(), 1, now, now, now.Add(k.life), now)
	if err != nil {
		return messages.KDCRepFields{}, err
	}
	part := messages.EncKDCRepPart{
		Key: session, LastReqs: []messages.LastReq{{LRValue: now}}, Nonce: q.Nonce, Flags: types.NewKrbFlags(), AuthTime: now, StartTime: now,
		EndTime: now.Add(k.life), SRealm: k.realm, SName: server,
	}
	if k.tamper != nil {
		k.tamper(&part)
	}
	b, err := part.Marshal()
	if err != nil {
		return messages.KDCRepFields{}, err
	}
	sealed, err := crypto.GetEncryptedData(b, key, usage, 1)
	f := messages.KDCRepFields{PVNO: 5, CRealm: realm, CName: user, Ticket: ticket, EncPart: sealed}
	if k.rename != nil {
		k.rename(&f)
	}
	return f, err
}
