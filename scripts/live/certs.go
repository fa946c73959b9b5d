package live

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Certs are files of certificates and keys, in PEM form, in one folder.
type Certs struct {
	CA                    string
	ServerCert, ServerKey string // for localhost and 127.0.0.1
	ClientCert, ClientKey string // for CN=alice

	ExpiredCert, ExpiredKey   string // for localhost and 127.0.0.1, until an hour ago
	StrangerCert, StrangerKey string // for CN=alice, but of nobody's authority
}

// NewCerts makes an authority, and what it vouches for, in a folder.
func NewCerts(dir string) (Certs, error) {
	at := func(name string) string { return filepath.Join(dir, name) }
	c := Certs{
		at("ca.pem"), at("server.pem"), at("server.key"), at("client.pem"), at("client.key"),
		at("expired.pem"), at("expired.key"), at("stranger.pem"), at("stranger.key"),
	}
	now := time.Now()
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test-ca"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	rootKey, err := issue(root, root, nil, c.CA, at("ca.key"))
	if err != nil {
		return c, err
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"}, NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if _, err := issue(server, root, rootKey, c.ServerCert, c.ServerKey); err != nil {
		return c, err
	}
	client := &x509.Certificate{
		SerialNumber: big.NewInt(3), Subject: pkix.Name{CommonName: "alice"}, NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if _, err := issue(client, root, rootKey, c.ClientCert, c.ClientKey); err != nil {
		return c, err
	}
	if _, err := issue(client, client, nil, c.StrangerCert, c.StrangerKey); err != nil {
		return c, err
	}
	expired := *server
	expired.NotBefore, expired.NotAfter = now.Add(-2*time.Hour), now.Add(-time.Hour)
	_, err = issue(&expired, root, rootKey, c.ExpiredCert, c.ExpiredKey)
	return c, err
}

// issue makes a key and its certificate, signed by the parent's key, or by itself without one.
func issue(cert, parent *x509.Certificate, by *ecdsa.PrivateKey, certFile, keyFile string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if by == nil {
		by = key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, &key.PublicKey, by)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644); err != nil {
		return nil, err
	}
	return key, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600)
}
