package clientconfig

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pavlo-v-chernykh/keystore-go/v4"
	"software.sslmate.com/src/go-pkcs12"

	"gtoffset/scripts/needs"
)

// identity is a key and its certificate, signed by itself.
type identity struct {
	key     *ecdsa.PrivateKey
	cert    *x509.Certificate
	pkcs8   []byte
	certPEM []byte
	keyPEM  []byte
}

func newIdentity(t testing.TB) identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "alice"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	cert, err := x509.ParseCertificate(der)
	must(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	return identity{
		key: key, cert: cert, pkcs8: pkcs8, certPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		keyPEM: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}),
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (id identity) jks(t testing.TB, password, keyPassword string, trust bool) []byte {
	t.Helper()
	ks := keystore.New()
	c := keystore.Certificate{Type: "X509", Content: id.cert.Raw}
	if trust {
		must(t, ks.SetTrustedCertificateEntry("ca", keystore.TrustedCertificateEntry{CreationTime: time.Now(), Certificate: c}))
	} else {
		must(t, ks.SetPrivateKeyEntry("alice", keystore.PrivateKeyEntry{CreationTime: time.Now(), PrivateKey: id.pkcs8, CertificateChain: []keystore.Certificate{c}}, []byte(keyPassword)))
	}
	var b bytes.Buffer
	must(t, ks.Store(&b, []byte(password)))
	return b.Bytes()
}

func TestTrustStores(t *testing.T) {
	id := newIdentity(t)
	p12, err := pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{id.cert}, "store")
	must(t, err)
	keyP12, err := pkcs12.Modern.Encode(id.key, id.cert, nil, "store")
	must(t, err)
	jks := id.jks(t, "store", "", true)
	for _, x := range []struct {
		name, password string
		content        []byte
		err            string // "" for none
	}{
		{"PEM", "", id.certPEM, ""},
		{"PEM on one line", "", []byte(strings.ReplaceAll(string(id.certPEM), "\n", " ")), ""},
		{"PEM after text", "", append([]byte("subject=CN = alice\n\n"), id.certPEM...), ""},
		{"PEM without a certificate", "", id.keyPEM, "holds no certificate"},
		{"PEM, damaged", "", []byte("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"), "certificate 1 cannot be read"},
		{"JKS", "store", jks, ""},
		{"JKS without password", "", jks, ""},
		{"JKS, wrong password", "other", jks, "wrong password"},
		{"JKS of keys", "store", id.jks(t, "store", "key", false), "no certificates that are marked as trusted"},
		{"JKS, cut", "store", jks[:len(jks)-30], "ends too early"},
		{"JKS, a length beyond its end", "store", append(append([]byte("\xfe\xed\xfe\xed\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x02\x00\x01a12345678\x00\x05X.509"), 0xff, 0xff, 0xff, 0xff), bytes.Repeat([]byte{0}, 40)...), "ends too early"},
		{"JCEKS", "store", append([]byte("\xce\xce\xce\xce"), jks[4:]...), "JCEKS"},
		{"PKCS12", "store", p12, ""},
		{"PKCS12 without password", "", p12, "wrong password"},
		{"PKCS12, wrong password", "other", p12, "wrong password"},
		{"PKCS12 of keys", "store", keyP12, "marked as trusted"},
		{"something else", "", []byte("hello"), "neither PEM nor PKCS12 nor JKS"},
		{"nothing", "", nil, "neither PEM nor PKCS12 nor JKS"},
	} {
		t.Run(x.name, func(t *testing.T) {
			got, err := trusted(x.content, x.password)
			if x.err == "" && (err != nil || len(got) != 1 || !got[0].Equal(id.cert)) || x.err != "" && (err == nil || !strings.Contains(err.Error(), x.err)) {
				t.Errorf("got %d certificates, %v, want %q", len(got), err, x.err)
			}
		})
	}
}

func TestKeyStores(t *testing.T) {
	id, other := newIdentity(t), newIdentity(t)
	p12, err := pkcs12.Modern.Encode(id.key, id.cert, []*x509.Certificate{other.cert}, "store")
	must(t, err)
	legacy, err := pkcs12.LegacyDES.Encode(id.key, id.cert, nil, "store")
	must(t, err)
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	ec, err := x509.MarshalECPrivateKey(id.key)
	must(t, err)
	for _, x := range []struct {
		name, password, keyPassword string
		content                     []byte
		err                         string
	}{
		{"PEM", "", "", join(id.keyPEM, id.certPEM), ""},
		{"PEM, certificates first and others'", "", "", join(other.certPEM, id.certPEM, id.keyPEM), ""},
		{"PEM on one line", "", "", []byte(strings.ReplaceAll(string(join(id.keyPEM, id.certPEM)), "\n", " ")), ""},
		{"PEM, EC PRIVATE KEY", "", "", join(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: ec}), id.certPEM), ""},
		{"PEM, another's certificate", "", "", join(id.keyPEM, other.certPEM), "belongs to none of the certificates"},
		{"PEM without key", "", "", id.certPEM, "holds no private key"},
		{"PEM without certificate", "", "", id.keyPEM, "holds no certificate"},
		{"PEM, two keys", "", "", join(id.keyPEM, other.keyPEM, id.certPEM), "more than one key"},
		{"PEM, OpenSSL's old encryption", "", "", join([]byte("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n"), id.certPEM), "openssl pkcs8 -topk8"},
		{"JKS", "store", "key", id.jks(t, "store", "key", false), ""},
		{"JKS, one password", "store", "", id.jks(t, "store", "store", false), ""},
		{"JKS, the key's password is wrong", "store", "other", id.jks(t, "store", "key", false), "of the key: wrong password"},
		{"JKS of certificates", "store", "", id.jks(t, "store", "", true), "holds no private key"},
		{"PKCS12", "store", "", p12, ""},
		{"PKCS12 as old programs write it", "store", "ignored", legacy, ""},
		{"PKCS12, wrong password", "other", "", p12, "wrong password"},
		{"something else", "", "", []byte("hello"), "neither PEM nor PKCS12 nor JKS"},
	} {
		t.Run(x.name, func(t *testing.T) {
			got, _, err := keyPair(x.content, x.password, x.keyPassword)
			if x.err != "" {
				if err == nil || !strings.Contains(err.Error(), x.err) {
					t.Errorf("got %v, want %q", err, x.err)
				}
				return
			}
			if err != nil || !id.key.Equal(got.PrivateKey) || !bytes.Equal(got.Certificate[0], id.cert.Raw) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// What openssl encrypts, in the ways that it has.
func TestEncryptedKeys(t *testing.T) {
	openssl := needs.Program(t, "openssl")
	id := newIdentity(t)
	for _, how := range [][]string{
		{"-v2", "aes-256-cbc"},
		{"-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA1"},
		{"-v2", "aes-192-cbc", "-v2prf", "hmacWithSHA512"},
		{"-v2", "des3"},
		{"-v1", "PBE-SHA1-3DES"},
	} {
		t.Run(strings.Join(how, " "), func(t *testing.T) {
			cmd := exec.Command(openssl, append([]string{"pkcs8", "-topk8", "-passout", "pass:store"}, how...)...)
			cmd.Stdin = bytes.NewReader(id.keyPEM)
			out, err := cmd.Output()
			must(t, err)
			_, err = pemPair(append(out, id.certPEM...), "store")
			if how[0] == "-v1" {
				if err == nil || !strings.Contains(err.Error(), "not supported") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Error(err)
			}
			for _, password := range []string{"", "other"} {
				if _, err := pemPair(append(out, id.certPEM...), password); !errors.Is(err, errPassword) {
					t.Errorf("with the password %q: %v", password, err)
				}
			}
		})
	}
}
