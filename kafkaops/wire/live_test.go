//go:build live

package wire_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/sasl/plain"

	"gtoffset/kafkaops/wire"
)

// GTOFFSET_TEST_SECURE is the plain port of a broker with the listeners of scripts' secure cluster: +2 SASL, +3 TLS, +4 mutual
// TLS, +5 SASL over TLS. GTOFFSET_TEST_CERTS is the folder of its certificates.
func TestLiveSecurity(t *testing.T) {
	host, portText, err := net.SplitHostPort(os.Getenv("GTOFFSET_TEST_SECURE"))
	if err != nil {
		t.Skip("GTOFFSET_TEST_SECURE is not set")
	}
	port, _ := strconv.Atoi(portText)
	at := func(plus int) string { return net.JoinHostPort(host, fmt.Sprint(port+plus)) }
	certs := os.Getenv("GTOFFSET_TEST_CERTS")
	pem, err := os.ReadFile(filepath.Join(certs, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	trust := &tls.Config{RootCAs: roots}
	pair, err := tls.LoadX509KeyPair(filepath.Join(certs, "client.pem"), filepath.Join(certs, "client.key"))
	if err != nil {
		t.Fatal(err)
	}
	mutual := &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}
	enc := base64.RawURLEncoding.EncodeToString
	token := func(left time.Duration) wire.OAuthBearer {
		return wire.OAuthBearer{Token: func(context.Context) (string, error) {
			now := time.Now()
			return enc([]byte(`{"alg":"none"}`)) + "." + enc([]byte(fmt.Sprintf(`{"sub":"admin","iat":%d,"exp":%d}`, now.Unix()-60, now.Add(left).Unix()))) + ".", nil
		}}
	}
	admin := plain.Mechanism{Username: "admin", Password: "admin-secret"}
	for _, x := range []struct {
		name string
		addr string
		cfg  wire.Config
		err  string // part of the error; "" for none
		hint string
	}{
		{"plain", at(0), wire.Config{}, "", ""},
		{"PLAIN", at(2), wire.Config{SASL: admin}, "", ""},
		{"PLAIN, TLS", at(5), wire.Config{SASL: admin, TLS: trust}, "", ""},
		{"SCRAM-256", at(2), wire.Config{SASL: wire.Scram{Username: "alice", Password: "alice-secret"}}, "", ""},
		{"SCRAM-512, TLS", at(5), wire.Config{SASL: wire.Scram{Username: "alice", Password: "alice-secret", SHA512: true}, TLS: trust}, "", ""},
		{"OAUTHBEARER", at(2), wire.Config{SASL: token(time.Hour)}, "", ""},
		{"TLS", at(3), wire.Config{TLS: trust}, "", ""},
		{"mutual TLS", at(4), wire.Config{TLS: mutual}, "", ""},
		{"wrong password", at(2), wire.Config{SASL: plain.Mechanism{Username: "admin", Password: "x"}}, "authenticate", "refused the user or the password"},
		{"wrong SCRAM password", at(2), wire.Config{SASL: wire.Scram{Username: "alice", Password: "x"}}, "authenticate", "refused the user or the password"},
		{"expired token", at(2), wire.Config{SASL: token(-time.Hour)}, "authenticate", "refused the user or the password (or token)"},
		{"mechanism not enabled", at(5), wire.Config{SASL: token(time.Hour), TLS: trust}, "not enabled", "choose one of"},
		{"SASL where there is none", at(0), wire.Config{SASL: admin}, "authenticate", "does not authenticate"},
		{"no SASL", at(2), wire.Config{}, "hung up", "SASL"},
		{"TLS to a plain port", at(0), wire.Config{TLS: trust}, "hung up (TLS handshake)", "does not speak TLS"},
		{"plain to a TLS port", at(3), wire.Config{}, "answer of", "expects TLS"},
		{"unknown CA", at(3), wire.Config{TLS: &tls.Config{RootCAs: x509.NewCertPool()}}, "TLS handshake", "give its CA"},
		{"wrong name", at(3), wire.Config{TLS: &tls.Config{RootCAs: roots, ServerName: "other"}}, "TLS handshake", "localhost, 127.0.0.1"},
		{"no certificate", at(4), wire.Config{TLS: trust}, "certificate", "wants a client certificate"},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := client(t, x.cfg, x.addr)
			_, err := c.Connect(within(t))
			if err == nil {
				_, err = c.Do(within(t), 1, groups)
			}
			if x.err == "" {
				if err != nil {
					t.Errorf("%v (%s)", err, wire.Explain(err))
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), x.err) || !strings.Contains(wire.Explain(err), x.hint) {
				t.Errorf("%v (%s)", err, wire.Explain(err))
			}
		})
	}
}
