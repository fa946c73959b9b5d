package wire_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/twmb/franz-go/pkg/kfake"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/wire"
)

// selfSigned is a certificate for 127.0.0.1 that is valid for so long from an hour ago on.
func selfSigned(t *testing.T, name string, valid time.Duration) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	from := time.Now().Add(-time.Hour)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: from.Add(valid), DNSNames: []string{name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func trusting(certs ...tls.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, c := range certs {
		pool.AddCert(c.Leaf)
	}
	return pool
}

// Each failure over TLS has its cause, and says in words what a person needs to find it.
func TestCausesOverTLS(t *testing.T) {
	good, expired, stranger := selfSigned(t, "kafka1", 2*time.Hour), selfSigned(t, "kafka1", time.Minute), selfSigned(t, "alice", 2*time.Hour)
	over := selfSigned(t, "alice", time.Minute)
	open := &tls.Config{Certificates: []tls.Certificate{good}}
	mutual := &tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: trusting(good)}
	mutual12 := mutual.Clone()
	mutual12.MaxVersion = tls.VersionTLS12
	sent := func(c tls.Certificate) *tls.Config {
		return &tls.Config{RootCAs: trusting(good), Certificates: []tls.Certificate{c}, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &c, nil }}
	}
	for _, x := range []struct {
		name   string
		broker *tls.Config
		client *tls.Config
		cause  wire.Cause
		says   string
	}{
		{"right", open, &tls.Config{RootCAs: trusting(good)}, "", ""},
		{"unknown CA", open, &tls.Config{RootCAs: trusting(stranger)}, wire.CauseUnknownCA, `its certificate is signed by "CN=kafka1"`},
		{"another host", open, &tls.Config{RootCAs: trusting(good), ServerName: "kafka2"}, wire.CauseHostName, "its certificate is for kafka1, 127.0.0.1, not for kafka2"},
		{"expired", &tls.Config{Certificates: []tls.Certificate{expired}}, &tls.Config{RootCAs: trusting(expired)}, wire.CauseExpired, "the clock here says"},
		{"no client certificate", mutual, &tls.Config{RootCAs: trusting(good)}, wire.CauseWantsCertificate, "wants a client certificate"},
		{"no client certificate, TLS 1.2", mutual12, &tls.Config{RootCAs: trusting(good)}, wire.CauseWantsCertificate, "wants a client certificate"},
		{"a stranger's certificate", mutual, sent(stranger), wire.CauseCertificate, `does not accept the client certificate of "CN=alice", signed by "CN=alice"`},
		{"a client certificate that is over", mutual, sent(over), wire.CauseCertificate, "the clock here says"},
		{"no version in common", &tls.Config{Certificates: []tls.Certificate{good}, MaxVersion: tls.VersionTLS12}, &tls.Config{RootCAs: trusting(good), MinVersion: tls.VersionTLS13}, wire.CauseHandshake, "version"},
	} {
		t.Run(x.name, func(t *testing.T) {
			b := kafkatest.Start(t, kafkatest.Options{Brokers: 1, Plain: true, TLS: x.broker})
			_, err := client(t, wire.Config{TLS: x.client, Timeout: 20 * time.Second}, b.Addrs()[0]).Connect(within(t))
			var e *wire.Error
			if x.cause == "" && err != nil || x.cause != "" && (!errors.As(err, &e) || e.Cause != x.cause || !strings.Contains(err.Error()+e.Why(), x.says)) {
				t.Errorf("got %v, want %q and %q", err, x.cause, x.says)
			}
		})
	}
}

// What could only be guessed is made sure of by a second look, which never shows credentials.
func TestProbe(t *testing.T) {
	open := kafkatest.Start(t, kafkatest.Options{Brokers: 1, Plain: true})
	login := kafkatest.Start(t, kafkatest.Options{Brokers: 1, Plain: true, Extra: []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", "p")}})
	quick := 300 * time.Millisecond
	for _, x := range []struct {
		name   string
		addr   string
		cfg    wire.Config
		cause  wire.Cause
		sure   bool
		offers bool
	}{
		{"TLS to a plain port", open.Addrs()[0], wire.Config{TLS: &tls.Config{}, Timeout: quick}, wire.CauseNoTLS, true, false},
		{"TLS and a login to a plain port with one", login.Addrs()[0], wire.Config{TLS: &tls.Config{}, SASL: plain.Mechanism{Username: "u", Password: "p"}, Timeout: quick}, wire.CauseNoTLS, true, true},
		{"no login where one is wanted", login.Addrs()[0], wire.Config{}, wire.CauseWantsSASL, true, true},
		{"TLS to a silent port", silent(t), wire.Config{TLS: &tls.Config{}, Timeout: quick}, wire.CauseSilent, false, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			login.Reset()
			_, err := client(t, x.cfg, x.addr).Connect(within(t))
			var e *wire.Error
			if !errors.As(err, &e) || e.Cause != x.cause || e.Sure != x.sure || x.offers && len(e.Offered) == 0 {
				t.Errorf("got %v (%+v), want %q", err, e, x.cause)
			}
			if n := login.Count(wire.SaslAuthenticate); n != 0 {
				t.Errorf("credentials were shown %d times", n)
			}
		})
	}
}
