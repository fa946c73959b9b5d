package clientconfig

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
)

// tls makes what a connection over TLS needs, and reads the stores that the settings name.
func (b *builder) tls() error {
	if b.c.Protocol != SSL && b.c.Protocol != SASLSSL {
		return nil
	}
	roots, err := b.roots()
	if err != nil {
		return err
	}
	cfg := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if err := b.tlsVersions(cfg); err != nil {
		return err
	}
	pair, err := b.clientPair()
	if err != nil {
		return err
	}
	if pair != nil {
		// Unasked, Go sends none where no issuer matches what the broker lists, and the broker's word for it would mislead.
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair, nil }
		cfg.Certificates = []tls.Certificate{*pair}
	}
	if err := b.verification(cfg); err != nil {
		return err
	}
	b.c.Wire.TLS = cfg
	return nil
}

// systemsTrust is librdkafka's word for the CAs of the system.
const systemsTrust = "probe"

// roots are the CAs to trust; nil stands for the system's.
func (b *builder) roots() (*x509.CertPool, error) {
	key := keyTrustPEM
	var content []byte
	switch location := b.get(keyTrustFile); {
	case b.get(keyTrustPEM) != "":
		content = []byte(b.get(keyTrustPEM))
	case location == "" || location == systemsTrust:
		return nil, nil
	default:
		key = keyTrustFile
		var err error
		if content, err = readBounded(location); err != nil {
			return nil, b.bad(key, "", "%s", plainReason(err))
		}
	}
	certs, err := trusted(content, b.used[keyTrustPassword].Value)
	if err != nil {
		return nil, b.badStore(key, keyTrustPassword, err)
	}
	pool := x509.NewCertPool()
	for _, c := range certs {
		pool.AddCert(c)
	}
	return pool, nil
}

// clientPair is the client's key and certificate; nil if there is none.
func (b *builder) clientPair() (*tls.Certificate, error) {
	password := b.used[keyStorePassword].Value
	keyPassword := b.used[keyKeyPassword].Value
	switch {
	case b.get(keyStoreKey) != "" || b.get(keyStoreChain) != "":
		if b.get(keyStoreKey) == "" || b.get(keyStoreChain) == "" {
			return nil, b.bad(b.either(keyStoreKey, keyStoreChain), "", "%s and %s go together", keyStoreKey, keyStoreChain)
		}
		return b.fromPEM(keyStoreKey, []byte(b.get(keyStoreKey)), []byte(b.get(keyStoreChain)), keyPassword)
	case b.get(keyCertFile) != "" || b.get(keyKeyFile) != "":
		if b.get(keyCertFile) == "" || b.get(keyKeyFile) == "" {
			return nil, b.bad(b.either(keyCertFile, keyKeyFile), "", "%s and %s go together", keyCertFile, keyKeyFile)
		}
		chain, err := readBounded(b.get(keyCertFile))
		if err != nil {
			return nil, b.bad(keyCertFile, "", "%s", plainReason(err))
		}
		key, err := b.secretFile(keyKeyFile)
		if err != nil {
			return nil, err
		}
		return b.fromPEM(keyKeyFile, key, chain, keyPassword)
	case b.get(keyStoreFile) != "":
		content, err := b.secretFile(keyStoreFile)
		if err != nil {
			return nil, err
		}
		pair, others, err := keyPair(content, password, keyPassword)
		switch {
		case errors.Is(err, errKeyPassword):
			return nil, b.badStore(keyStoreFile, keyKeyPassword, err)
		case err != nil:
			return nil, b.badStore(keyStoreFile, keyStorePassword, err)
		}
		if others != "" {
			b.note(b.get(keyStoreFile) + " holds several keys; used is " + others)
		}
		return pair, nil
	}
	return nil, nil
}

func (b *builder) either(a, c string) string {
	if b.get(a) != "" {
		return a
	}
	return c
}

func (b *builder) fromPEM(key string, private, chain []byte, password string) (*tls.Certificate, error) {
	pair, err := pemPair(append(append(private, '\n'), chain...), password)
	if err != nil {
		return nil, b.badStore(key, keyKeyPassword, err)
	}
	return pair, nil
}

// secretFile reads a file that nobody else should read.
func (b *builder) secretFile(key string) ([]byte, error) {
	name := b.get(key)
	content, err := readBounded(name)
	if err != nil {
		return nil, b.bad(key, "", "%s", plainReason(err))
	}
	if open(name) {
		b.note(name + " holds a secret and can be read by everybody: chmod 600 " + name)
	}
	return content, nil
}

// badStore says what is wrong with a store, and where its password is, or should be.
func (b *builder) badStore(key, password string, err error) error {
	where := ""
	if name := b.get(key); strings.HasSuffix(key, ".location") {
		where = name + ": "
	}
	switch {
	case errors.Is(err, errPassword) && !b.has(password):
		return b.bad(key, "-X '"+password+"=$VARIABLE'", "%sneeds a password, and %s is not set", where, password)
	case errors.Is(err, errPassword):
		return b.bad(key, "", "%sthe password is wrong (%s, %s)", where, password, b.used[password].Source)
	}
	hint := ""
	if kind := (*formatError)(nil); errors.As(err, &kind) {
		hint = kind.hint(b.get(key))
	}
	return b.bad(key, hint, "%s%v", where, err)
}

// verification decides what of the broker's certificate is looked at.
func (b *builder) verification(cfg *tls.Config) error {
	verify, err := b.oneOf(keyVerify, "true", "true", "false")
	if err != nil {
		return err
	}
	names, err := b.oneOf(keyHostCheck, "", "https", "none")
	if err != nil {
		return err
	}
	if verify == "false" {
		cfg.InsecureSkipVerify = true
		b.note(b.used[keyVerify].Source + ": any certificate is taken for the broker's: who stands between can read and change everything")
		return nil
	}
	if names == "none" || names == "" && b.has(keyHostCheck) {
		cfg.InsecureSkipVerify = true // the chain is verified below, as Java does it, without the name
		cfg.VerifyConnection = func(s tls.ConnectionState) error { return verifyChain(s.PeerCertificates, cfg.RootCAs) }
	}
	return nil
}

func verifyChain(chain []*x509.Certificate, roots *x509.CertPool) error {
	if len(chain) == 0 {
		return errors.New("the broker has sent no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	if _, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between}); err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: chain, Err: err}
	}
	return nil
}

// tlsVersions keeps to the versions that are enabled. Others than 1.2 and 1.3 are passed over: no Kafka of today has them.
func (b *builder) tlsVersions(cfg *tls.Config) error {
	text := b.get(keyTLSVersions)
	if text == "" {
		return nil
	}
	var has12, has13 bool
	for v := range strings.SplitSeq(text, ",") {
		switch strings.TrimSpace(v) {
		case "TLSv1.2":
			has12 = true
		case "TLSv1.3":
			has13 = true
		}
	}
	switch {
	case !has12 && !has13:
		return b.bad(keyTLSVersions, "", "%q has neither TLSv1.2 nor TLSv1.3", text)
	case !has12:
		cfg.MinVersion = tls.VersionTLS13
	case !has13:
		cfg.MaxVersion = tls.VersionTLS12
	}
	return nil
}
