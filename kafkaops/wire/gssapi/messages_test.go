package gssapi

import (
	"testing"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// FuzzKDC reads whatever a KDC answers, and whatever it seals for its users: a reply with a ticket, a refusal, or an error; never a panic.
func FuzzKDC(f *testing.F) {
	var answers, parts [][]byte
	k := newKDC(f, "R")
	k.preauth = true
	k.tamper = func(p *messages.EncKDCRepPart) {
		if b, err := p.Marshal(); err == nil {
			parts = append(parts, b)
		}
	}
	k.mangle = func(b []byte) []byte {
		answers = append(answers, b)
		return b
	}
	k.run()
	ticketsOf(f, k)
	for i, a := range answers {
		f.Add(a, parts[i%len(parts)])
	}
	f.Add(answers[0][:9], parts[0][:9])
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n"), []byte{0x79, 0x84, 0xff, 0xff, 0xff, 0xff})
	c := &client{user: name("alice@R"), password: "alice"}
	key := types.EncryptionKey{KeyType: etypeID.AES128_CTS_HMAC_SHA1_96, KeyValue: []byte("0123456789abcdef")}
	f.Fuzz(func(t *testing.T, answer, part []byte) {
		for _, tag := range []int{11, 13} {
			r, err := decodeReply(answer, tag)
			if err == nil && isTicket(r.Ticket.Bytes) != nil {
				t.Fatal("a reply without a ticket")
			}
			if refusal, ok := err.(*kdcError); ok {
				if len(refusal.Error()) == 0 {
					t.Fatal("a refusal without words")
				}
				hints(refusal.Data)
			}
			if r != nil && err == nil {
				for encType := range int32(30) {
					_, _ = decrypt(r.Sealed, types.EncryptionKey{KeyType: encType, KeyValue: key.KeyValue}, keyusage.AS_REP_ENCPART)
				}
			}
		}
		sealed, err := crypto.GetEncryptedData(part, key, keyusage.AS_REP_ENCPART, 0)
		if err != nil {
			t.Fatal(err)
		}
		r := &reply{Sealed: sealed}
		opened, err := r.open(key, keyusage.AS_REP_ENCPART)
		if err != nil {
			return
		}
		got, _, err := c.accept(r, &requestBody{Nonce: opened.Nonce}, key, keyusage.AS_REP_ENCPART)
		if err != nil {
			t.Fatal(err)
		}
		_ = got.grants()
		_, _ = firstToken(got) // by whatever key it says
	})
}

// hints reads what a KDC wants, without making keys of it.
func hints(b []byte) {
	var data types.PADataSequence
	if data.Unmarshal(b) == nil {
		for _, h := range hintsOf(data) {
			_ = encTypeName(h.encType)
		}
	}
}

// How a key is made of a password is bounded; what an older KDC says counts if there is nothing newer.
func TestKeys(t *testing.T) {
	c := &client{user: name("alice@R"), password: "alice"}
	for _, n := range [][]byte{{0, 0, 0, 0}, {0, 0x10, 0, 1}, {0xff, 0xff, 0xff, 0xff}} {
		if _, err := c.key(hint{encType: 18, params: n}); err == nil {
			t.Errorf("%x iterations are made", n)
		}
	}
	if _, err := c.key(hint{encType: 3}); err == nil {
		t.Error("a key of DES")
	}
	old, err := asn1.Marshal(types.ETypeInfo{{EType: 18, Salt: []byte("salt")}})
	if err != nil {
		t.Fatal(err)
	}
	data := types.PADataSequence{{PADataType: 11, PADataValue: old}}
	if got := hintFor(18, hintsOf(data)); got.salt != "salt" {
		t.Errorf("got %+v", got)
	}
	info, err := asn1.Marshal(types.ETypeInfo2{{EType: 18, Salt: "newer"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := hintFor(18, hintsOf(append(data, types.PAData{PADataType: 19, PADataValue: info}))); got.salt != "newer" {
		t.Errorf("got %+v", got)
	}
	ours, err := c.key(hint{encType: 18})
	if err != nil {
		t.Fatal(err)
	}
	theirs, _, err := crypto.GetKeyFromPassword("alice", c.user.name, "R", 18, nil)
	if err != nil || string(ours.KeyValue) != string(theirs.KeyValue) {
		t.Errorf("by the usual salt: %x, want %x (%v)", ours.KeyValue, theirs.KeyValue, err)
	}
}

func TestRefusalIsShort(t *testing.T) {
	long := make([]byte, 5000)
	for i := range long {
		long[i] = 'x'
	}
	err := (&Mechanism{client: &client{}}).explain(&refusedError{kdcError: &kdcError{Code: errorcode.KRB_ERR_GENERIC, Text: string(long)}, realm: "R"}, "kafka/b1")
	if n := len(err.Error()); n > 500 {
		t.Errorf("%d bytes", n)
	}
}
