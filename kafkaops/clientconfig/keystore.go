package clientconfig

import (
	"bytes"
	"crypto"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pavlo-v-chernykh/keystore-go/v4"
	"software.sslmate.com/src/go-pkcs12"
)

// errPassword says that a store's or a key's password is wrong, or missing.
var errPassword = errors.New("wrong password")

// errKeyPassword goes with errPassword where it is of a key that has one of its own, in a store that was opened.
var errKeyPassword = errors.New("of the key")

// format is how a key store is written. Its content tells, not its name nor ssl.keystore.type.
type format string

const (
	formatPEM     format = "PEM"
	formatPKCS12  format = "PKCS12"
	formatJKS     format = "JKS"
	formatJCEKS   format = "JCEKS"
	formatUnknown format = ""
)

func formatOf(content []byte) format {
	switch {
	case bytes.HasPrefix(content, []byte("\xfe\xed\xfe\xed")):
		return formatJKS
	case bytes.HasPrefix(content, []byte("\xce\xce\xce\xce")):
		return formatJCEKS
	case bytes.Contains(content, []byte("-----BEGIN ")):
		return formatPEM
	case len(content) > 4 && content[0] == 0x30 && content[1] >= 0x80:
		return formatPKCS12
	}
	return formatUnknown
}

// formatError names a file that is none of what can be read.
type formatError struct{ format format }

func (e *formatError) Error() string {
	if e.format == formatJCEKS {
		return "is a JCEKS store, which only Java reads"
	}
	return "is neither PEM nor PKCS12 nor JKS"
}

func (e *formatError) hint(path string) string {
	if e.format != formatJCEKS {
		return ""
	}
	return "keytool -importkeystore -srckeystore " + path + " -srcstoretype JCEKS -destkeystore " + path + ".p12 -deststoretype PKCS12"
}

// trusted reads the CAs of a trust store.
func trusted(content []byte, password string) ([]*x509.Certificate, error) {
	switch f := formatOf(content); f {
	case formatPEM:
		return pemCertificates(content)
	case formatJKS:
		return jksTrusted(content, password)
	case formatPKCS12:
		if err := checkRounds(mostRounds(content, 0)); err != nil {
			return nil, err
		}
		certs, err := pkcs12.DecodeTrustStore(content, password)
		return certs, pkcs12Error(err)
	default:
		return nil, &formatError{f}
	}
}

// keyPair reads the client's key and certificate chain. If there are several keys, used names the one that was taken.
func keyPair(content []byte, password, keyPassword string) (pair *tls.Certificate, used string, err error) {
	switch f := formatOf(content); f {
	case formatPEM:
		if keyPassword == "" {
			keyPassword = password
		}
		pair, err = pemPair(content, keyPassword)
		return pair, "", err
	case formatJKS:
		if keyPassword == "" {
			keyPassword = password
		}
		return jksPair(content, password, keyPassword)
	case formatPKCS12: // its keys have the store's password
		if err := checkRounds(mostRounds(content, 0)); err != nil {
			return nil, "", err
		}
		key, leaf, chain, err := pkcs12.DecodeChain(content, password)
		if err != nil {
			return nil, "", pkcs12Error(err)
		}
		pair, err := assemble(key, append([]*x509.Certificate{leaf}, chain...))
		return pair, "", err
	default:
		return nil, "", &formatError{f}
	}
}

func pkcs12Error(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pkcs12.ErrIncorrectPassword), errors.Is(err, pkcs12.ErrDecryption):
		return errPassword
	}
	text := strings.TrimPrefix(err.Error(), "pkcs12: ")
	if strings.Contains(text, "not marked as trusted") || strings.Contains(text, "only certificate bags") || strings.Contains(text, "in the authenticated safe") {
		return errors.New("holds no certificates that are marked as trusted; keytool -importcert makes such a store, and a PEM file of the CA will do, too")
	}
	return errors.New(text)
}

// mostRounds is the largest number of rounds of its password's hash that a PKCS12 file asks for, as far as it can be read without the
// password: the INTEGER behind an OCTET STRING, which is the salt.
func mostRounds(der []byte, depth int) int {
	most, salt := 0, false
	for len(der) > 0 && depth < 32 {
		var v asn1.RawValue
		rest, err := asn1.Unmarshal(der, &v)
		if err != nil {
			break // as its reader will say
		}
		octets := v.Class == asn1.ClassUniversal && v.Tag == asn1.TagOctetString
		switch {
		case v.IsCompound, octets && len(v.Bytes) > 0 && v.Bytes[0] == 0x30:
			most = max(most, mostRounds(v.Bytes, depth+1))
		case salt && v.Class == asn1.ClassUniversal && v.Tag == asn1.TagInteger:
			most = max(most, number(v.Bytes))
		}
		der, salt = rest, octets
	}
	return most
}

// number is a positive integer of DER; one that is too large is the largest.
func number(b []byte) int {
	n := 0
	for _, c := range b {
		if n > math.MaxInt>>8 {
			return math.MaxInt
		}
		n = n<<8 | int(c)
	}
	return n
}

// assemble puts the chain in order, the key's own certificate first: PKCS12 and PEM files keep it in any.
func assemble(key any, certs []*x509.Certificate) (*tls.Certificate, error) {
	private, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("holds a key of a kind that TLS does not sign with (%T)", key)
	}
	public, ok := private.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok {
		return nil, fmt.Errorf("holds a key of a kind that TLS does not sign with (%T)", key)
	}
	own := slices.IndexFunc(certs, func(c *x509.Certificate) bool { return public.Equal(c.PublicKey) })
	if own < 0 {
		return nil, errors.New("the key belongs to none of the certificates beside it")
	}
	pair := &tls.Certificate{PrivateKey: private, Leaf: certs[own], Certificate: [][]byte{certs[own].Raw}}
	for i, c := range certs {
		if i != own {
			pair.Certificate = append(pair.Certificate, c.Raw)
		}
	}
	return pair, nil
}

// blocks are the parts of a PEM text, also where its lines were joined by blanks: in a .properties file a line goes on after "\".
func blocks(content []byte) []*pem.Block {
	var all []*pem.Block
	for {
		block, rest := pem.Decode(content)
		if block == nil {
			break
		}
		all, content = append(all, block), rest
	}
	if len(all) > 0 {
		return all
	}
	const begin, end, dashes = "-----BEGIN ", "-----END ", "-----"
	for text := string(content); ; {
		_, after, ok := strings.Cut(text, begin)
		kind, body, named := strings.Cut(after, dashes)
		body, rest, ended := strings.Cut(body, end)
		if !ok || !named || !ended {
			return all
		}
		lines := begin + kind + dashes + "\n" + strings.Join(strings.Fields(body), "\n") + "\n" + end + kind + dashes + "\n"
		if block, _ := pem.Decode([]byte(lines)); block != nil {
			all = append(all, block)
		}
		text = rest
	}
}

func pemCertificates(content []byte) ([]*x509.Certificate, error) {
	var certs []*x509.Certificate
	for _, block := range blocks(content) {
		if block.Type != "CERTIFICATE" && block.Type != "TRUSTED CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d cannot be read: %w", len(certs)+1, err)
		}
		certs = append(certs, c)
	}
	if len(certs) == 0 {
		return nil, errors.New("holds no certificate")
	}
	return certs, nil
}

// pemPair reads a key and its certificates, in any order.
func pemPair(content []byte, password string) (*tls.Certificate, error) {
	var key any
	for _, block := range blocks(content) {
		if !strings.HasSuffix(block.Type, "PRIVATE KEY") {
			continue
		}
		if key != nil {
			return nil, errors.New("holds more than one key")
		}
		var err error
		if key, err = privateKey(block, password); err != nil {
			return nil, err
		}
	}
	if key == nil {
		return nil, errors.New("holds no private key")
	}
	certs, err := pemCertificates(content)
	if err != nil {
		return nil, err
	}
	return assemble(key, certs)
}

func privateKey(block *pem.Block, password string) (key any, err error) {
	switch {
	case block.Type == "ENCRYPTED PRIVATE KEY":
		der, err := decryptPKCS8(block.Bytes, password)
		if err != nil {
			return nil, err
		}
		if key, err = x509.ParsePKCS8PrivateKey(der); err != nil {
			return nil, errPassword // what came out is no key
		}
		return key, nil
	case block.Headers["DEK-Info"] != "":
		return nil, errors.New("the key is encrypted in OpenSSL's old way; openssl pkcs8 -topk8 -in OLD -out NEW writes it as Java wants it, too")
	case block.Type == "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case block.Type == "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, errors.New("the private key cannot be read") // the cause could quote from it
	}
	return key, nil
}

// openJKS reads a store. Without a password it is read, too, as Java does: certificates are not encrypted, and only the sum at the end,
// which is made with the password, cannot be checked.
func openJKS(content []byte, password string) (keystore.KeyStore, error) {
	ks := keystore.New(keystore.WithOrderedAliases())
	if err := checkJKS(content); err != nil {
		return ks, err
	}
	if password == "" {
		body := content[:len(content)-sha1.Size]
		sum := sha1.Sum(append([]byte("Mighty Aphrodite"), body...))
		content = append(slices.Clone(body), sum[:]...)
	}
	if err := ks.Load(bytes.NewReader(content), []byte(password)); err != nil {
		if strings.Contains(err.Error(), "digest") {
			return ks, errPassword
		}
		return ks, fmt.Errorf("the JKS store is damaged: %w", err)
	}
	return ks, nil
}

func jksTrusted(content []byte, password string) ([]*x509.Certificate, error) {
	ks, err := openJKS(content, password)
	if err != nil {
		return nil, err
	}
	var certs []*x509.Certificate
	for _, alias := range ks.Aliases() {
		if !ks.IsTrustedCertificateEntry(alias) {
			continue
		}
		e, err := ks.GetTrustedCertificateEntry(alias)
		if err != nil {
			return nil, err
		}
		c, err := x509.ParseCertificate(e.Certificate.Content)
		if err != nil {
			return nil, fmt.Errorf("certificate %q cannot be read: %w", alias, err)
		}
		certs = append(certs, c)
	}
	if len(certs) == 0 {
		return nil, errors.New("holds no certificates that are marked as trusted")
	}
	return certs, nil
}

func jksPair(content []byte, password, keyPassword string) (pair *tls.Certificate, used string, err error) {
	ks, err := openJKS(content, password)
	if err != nil {
		return nil, "", err
	}
	keys := slices.DeleteFunc(ks.Aliases(), func(a string) bool { return !ks.IsPrivateKeyEntry(a) })
	if len(keys) == 0 {
		return nil, "", errors.New("holds no private key")
	}
	if len(keys) > 1 {
		used = keys[0]
	}
	e, err := ks.GetPrivateKeyEntry(keys[0], []byte(keyPassword))
	if err != nil {
		return nil, "", fmt.Errorf("key %q: %w: %w", keys[0], errKeyPassword, errPassword)
	}
	key, err := x509.ParsePKCS8PrivateKey(e.PrivateKey)
	if err != nil {
		return nil, "", fmt.Errorf("key %q cannot be read", keys[0])
	}
	var certs []*x509.Certificate
	for _, raw := range e.CertificateChain {
		c, err := x509.ParseCertificate(raw.Content)
		if err != nil {
			return nil, "", fmt.Errorf("the certificate of key %q cannot be read: %w", keys[0], err)
		}
		certs = append(certs, c)
	}
	pair, err = assemble(key, certs)
	return pair, used, err
}

// checkJKS makes sure that every length in a store lies within it: the library takes memory for what a length promises.
func checkJKS(content []byte) error {
	r := jksReader{rest: content}
	r.skip(4)
	version := r.number(4)
	for n := r.number(4); n > 0 && !r.short; n-- {
		kind := r.number(4)
		r.skip(r.number(2)) // alias
		r.skip(8)           // date
		certs := 1
		if kind == 1 {
			var key struct {
				Algorithm pkix.AlgorithmIdentifier
				Encrypted []byte
			}
			if _, err := asn1.Unmarshal(r.skip(r.number(4)), &key); err != nil || len(key.Encrypted) < 2*sha1.Size {
				return errors.New("the JKS store is damaged: a key is too short")
			}
			certs = r.number(4)
		}
		for ; certs > 0 && !r.short; certs-- {
			if version == 2 {
				r.skip(r.number(2)) // the kind of certificate
			}
			r.skip(r.number(4))
		}
	}
	if r.short || len(r.rest) < sha1.Size {
		return errors.New("the JKS store is damaged: it ends too early")
	}
	return nil
}

type jksReader struct {
	rest  []byte
	short bool
}

func (r *jksReader) skip(n int) []byte {
	if n > len(r.rest) {
		r.short, r.rest = true, nil
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *jksReader) number(size int) int {
	b := make([]byte, 4)
	copy(b[4-size:], r.skip(size))
	return int(binary.BigEndian.Uint32(b))
}
