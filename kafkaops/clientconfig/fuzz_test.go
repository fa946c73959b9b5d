package clientconfig

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"unicode/utf16"

	"software.sslmate.com/src/go-pkcs12"

	"gtoffset/kafkaops/wire"
)

// FuzzProperties reads a .properties file. What was read is read again when it is written with every character escaped, and no error shows
// what stands in the file.
func FuzzProperties(f *testing.F) {
	for _, s := range []string{
		"a=b\n", "security.protocol = SASL_SSL\r\nsasl.password:x\\\r\n   y\r", "! a\n# b\n\\\n c d", "k\\=e\\:y=v\\u00fc\\ud83d\\ude00", "\xef\xbb\xbfa b", "a\\", "a=\\u12", "\\u0020=\\\\", "a\f\t=\t b\\n\\t\\r\\f",
		"ssl.keystore.key=-----BEGIN PRIVATE KEY----- \\\n  MIIB \\\n -----END PRIVATE KEY-----", "", "\\", "\\\n", "=", "\x00=\xff",
	} {
		f.Add([]byte(s))
	}
	escaped := func(s string) string {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune(s)) {
			fmt.Fprintf(&b, `\u%04x`, u)
		}
		return b.String()
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		pairs, err := parseProperties(text)
		if err != nil {
			var bad *malformed
			if !errors.As(err, &bad) || bad.line < 1 || bad.reason != errEscape.Error() {
				t.Fatalf("%v", err)
			}
			return
		}
		var again strings.Builder
		last := 0
		for _, p := range pairs {
			if p.line <= last {
				t.Fatalf("line %d follows line %d", p.line, last)
			}
			last = p.line
			fmt.Fprintf(&again, "%s=%s\n", escaped(p.key), escaped(p.value))
		}
		got, err := parseProperties([]byte(again.String()))
		if err != nil || len(got) != len(pairs) {
			t.Fatalf("%d of %d pairs, %v", len(got), len(pairs), err)
		}
		for i, p := range got {
			if p.key != pairs[i].key || p.value != pairs[i].value {
				t.Fatalf("%q=%q became %q=%q", pairs[i].key, pairs[i].value, p.key, p.value)
			}
		}
	})
}

// FuzzJAAS reads a login line with a password somewhere in it, however it is quoted. What was read is read again when it is quoted as it
// should be, and no error shows the password.
func FuzzJAAS(f *testing.F) {
	const secret, module = "hush-hush", "org.apache.kafka.common.security.plain.PlainLoginModule"
	for _, s := range [][2]string{
		{module + ` required username="alice" password="`, `";`},
		{module + ` required username="alice" password="x"`, `";`},
		{module + ` required username="alice" password="x"`, `=;";`},
		{module + ` required password=`, ` username='a';`},
		{module + ` required password="\"`, `\\\101\t" /* x */;`},
		{module + " required // x\n", `=1;`},
		{"com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true password=", ";"},
		{"", ""},
		{module + ` required `, ` extra;`},
		{module + ` required username="alice" `, ` /* `},
	} {
		f.Add(s[0], s[1])
	}
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`)
	f.Fuzz(func(t *testing.T, before, after string) {
		l, err := parseJAAS(before + secret + after)
		if err != nil {
			if err.Error() == "" || strings.Contains(err.Error(), secret) && !strings.Contains(before+after, secret) {
				t.Fatalf("%v", err)
			}
			return
		}
		var again strings.Builder
		again.WriteString(l.module + " required")
		for name, value := range l.options {
			fmt.Fprintf(&again, ` %s="%s"`, name, quote.Replace(value))
		}
		again.WriteString(";")
		got, err := parseJAAS(again.String())
		if err != nil || got.module != l.module || !maps.Equal(got.options, l.options) {
			t.Fatalf("%q became %q: %v, %v", l.options, again.String(), got, err)
		}
	})
}

// FuzzSettings merges a file of settings and a password of the environment, and makes a connection of them. Each error says where the fault
// lies, and nothing that may be shown holds the password. Keys that name files are left out: what they hold is FuzzStores'.
func FuzzSettings(f *testing.F) {
	const secret = "hush-hush"
	for _, s := range []string{
		"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=alice", "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config=o.ScramLoginModule required username=a password=b;",
		"bootstrap.servers=PLAINTEXT://k1,[::1]:9092,k2:0", "security.protocol=SSL\nssl.enabled.protocols=TLSv1.2\nssl.endpoint.identification.algorithm=\nenable.ssl.certificate.verification=false",
		"sasl.mechanism=OAUTHBEARER\nsecurity.protocol=SASL_SSL\nsasl.oauthbearer.token.endpoint.url=https://h/t\nsasl.oauthbearer.client.id=a\nsasl.oauthbearer.client.secret=b\nsasl.oauthbearer.extensions=a=b,c=d",
		"sasl.mechanism=OAUTHBEARER\nsecurity.protocol=SASL_PLAINTEXT\nenable.sasl.oauthbearer.unsecure.jwt=true\nsasl.oauthbearer.config=principal=a scope=b,c",
		"request.timeout.ms=-1", "default.api.timeout.ms=99999999999999999999", "config.providers=env\nsasl.username=${env:A}", "sasl.client.callback.handler.class=software.amazon.msk.auth.iam.IAMClientCallbackHandler",
		"ssl.keystore.key=x\nssl.keystore.certificate.chain=y\nsecurity.protocol=SSL", "ssl.ca.pem=x\nssl.truststore.certificates=y", "security.protocol=SASL_SSL\nsasl.mechanism=AWS_MSK_IAM",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		pairs, err := parseProperties(text)
		if err != nil || bytes.Contains(text, []byte("hush")) {
			return
		}
		var file []Setting
		for _, p := range pairs {
			if strings.HasSuffix(p.key, ".location") || p.key == keyKeytab || strings.Contains(p.value, "file:") || strings.Contains(p.value, keyTrustFile) || strings.Contains(p.value, "Krb5LoginModule") {
				continue
			}
			file = append(file, Setting{Key: p.key, Value: p.value, Source: fmt.Sprintf("client.properties:%d", p.line)})
		}
		getenv := func(name string) string {
			return map[string]string{"KAFKA_SASL_PASSWORD": secret, "KRB5_CONFIG": "/nowhere", "KRB5CCNAME": "/nowhere"}[name]
		}
		ours, kafkas := Environment(getenv)
		s, err := Merge(nil, file, ours, kafkas)
		if err == nil {
			var c Connection
			if c, err = s.Connect(getenv); err == nil {
				if strings.Contains(fmt.Sprint(c.Notes, c.Remarks, c.User, c.Bootstrap), secret) {
					t.Fatalf("shown: %q %q", c.Notes, c.Remarks)
				}
				return
			}
		}
		var bad *Error
		if !errors.As(err, &bad) || bad.Source == "" || bad.Reason == "" || strings.Contains(err.Error()+bad.Hint, secret) {
			t.Fatalf("%v", err)
		}
	})
}

// FuzzOverride takes a KEY=VALUE of the command line, and shows it as an undo line may.
func FuzzOverride(f *testing.F) {
	for _, s := range [][2]string{{"sasl.password", "x"}, {"sasl.password", "$NAME"}, {"sasl.password", "$1"}, {" sasl.jaas.config ", "a=b"}, {"client.id", "$NAME"}, {"", ""}, {"ssl.key.pem", ""}, {"sasl.oauthbearer.client.secret", "a\nb"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		if strings.HasPrefix(value, "@") || strings.Contains(name, "=") { // files
			return
		}
		s, err := Override(name+"="+value, func(string) string { return "of the environment" })
		key, _ := find(strings.TrimSpace(name))
		if shown := Shown(name+"="+value, func(string) string { return "" }); key.Secret && !strings.HasPrefix(value, "$") && shown != strings.TrimSpace(name)+"=$"+variable("", strings.TrimSpace(name)) {
			t.Fatalf("it is shown as %q", shown)
		}
		var bad *Error
		switch {
		case err != nil && (!errors.As(err, &bad) || bad.Reason == ""):
			t.Fatalf("%v", err)
		case err == nil && (s.Value == "" && value != "" || s.Key == "" || s.Value != value && s.Value != "of the environment"):
			t.Fatalf("%q=%q became %+v", name, value, s)
		}
	})
}

// encryptPKCS8 encrypts as Java and openssl do.
func encryptPKCS8(tb testing.TB, key []byte, password string) []byte {
	tb.Helper()
	var k encryptedKey
	p := &k.Scheme.Params
	k.Scheme.ID = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	p.KDF.ID = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
	p.KDF.Params = kdfParams{Salt: []byte("saltsalt"), Iterations: 2}
	p.KDF.Params.PRF.Algorithm = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 9}
	p.Cipher.ID = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}
	p.Cipher.IV = make([]byte, aes.BlockSize)
	derived, err := pbkdf2.Key(sha256.New, password, p.KDF.Params.Salt, p.KDF.Params.Iterations, 32)
	must(tb, err)
	block, err := aes.NewCipher(derived)
	must(tb, err)
	pad := aes.BlockSize - len(key)%aes.BlockSize
	k.Data = append(bytes.Clone(key), bytes.Repeat([]byte{byte(pad)}, pad)...)
	cipher.NewCBCEncrypter(block, p.Cipher.IV).CryptBlocks(k.Data, k.Data)
	der, err := asn1.Marshal(k)
	must(tb, err)
	return der
}

// FuzzPKCS8 decrypts a key.
func FuzzPKCS8(f *testing.F) {
	whole := encryptPKCS8(f, newIdentity(f).pkcs8, "store")
	f.Add(whole, "store")
	f.Add(whole, "other")
	f.Add(whole, "")
	f.Add(whole[:40], "store")
	f.Add(bytes.Replace(whole, []byte{2, 1, 2}, []byte{2, 1, 0xff}, 1), "store")
	f.Fuzz(func(t *testing.T, der []byte, password string) {
		plain, err := decryptPKCS8(der, password)
		if err == nil && (len(plain) == 0 && len(der) < 16 || len(plain) >= len(der)) || err != nil && err.Error() == "" {
			t.Fatalf("%d bytes of %d, %v", len(plain), len(der), err)
		}
	})
}

// FuzzStores reads a store of any bytes for CAs and for a key: PEM, PKCS12 and JKS, as its content tells. What is taken can be used, and no
// error holds a password.
func FuzzStores(f *testing.F) {
	id := newIdentity(f)
	quick := pkcs12.Modern.WithIterations(1)
	trust, err := quick.EncodeTrustStore([]*x509.Certificate{id.cert}, "store")
	must(f, err)
	key, err := quick.Encode(id.key, id.cert, nil, "store")
	must(f, err)
	old, err := pkcs12.LegacyDES.WithIterations(1).Encode(id.key, id.cert, nil, "store")
	must(f, err)
	encrypted := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: encryptPKCS8(f, id.pkcs8, "store")})
	both := append(bytes.Clone(id.keyPEM), id.certPEM...)
	for _, content := range [][]byte{
		trust, key, old, id.jks(f, "store", "store", true), id.jks(f, "store", "store", false), both, append(encrypted, id.certPEM...), bytes.ReplaceAll(both, []byte("\n"), []byte(" ")),
		[]byte("-----BEGIN PRIVATE KEY-----"), []byte("-----BEGIN -----END "), []byte("\xfe\xed\xfe\xed\x00\x00\x00\x02\x7f\xff\xff\xff"),
		{0x30, 0x84, 0xff, 0xff, 0xff, 0xff},
		{0xce, 0xce, 0xce, 0xce},
		nil,
	} {
		f.Add(content, "store")
		f.Add(content, "")
	}
	f.Fuzz(func(t *testing.T, content []byte, password string) {
		said := func(err error) {
			if err.Error() == "" || len(password) > 12 && strings.Contains(err.Error(), password) {
				t.Fatalf("%v", err)
			}
		}
		certs, err := trusted(content, password)
		if err != nil {
			said(err)
		}
		for _, c := range certs {
			if c == nil || len(c.Raw) == 0 {
				t.Fatal("an empty certificate")
			}
		}
		pair, _, err := keyPair(content, password, "")
		switch {
		case err != nil:
			said(err)
		case pair.PrivateKey == nil || pair.Leaf == nil || len(pair.Certificate) == 0 || !bytes.Equal(pair.Certificate[0], pair.Leaf.Raw):
			t.Fatalf("%+v", pair)
		}
	})
}

// A PKCS12 file that asks for more rounds than a life has is refused at once, wherever it does.
func TestRoundsOfPKCS12(t *testing.T) {
	id := newIdentity(t)
	const many = "\x02\x02\x30\x39" // 12345
	for name, of := range map[string]*pkcs12.Encoder{"modern": pkcs12.Modern, "legacy": pkcs12.LegacyDES} {
		content, err := of.WithIterations(12345).Encode(id.key, id.cert, nil, "store")
		must(t, err)
		if n := bytes.Count(content, []byte(many)); n < 2 || mostRounds(content, 0) != 12345 {
			t.Errorf("%s: got %d rounds, at %d places", name, mostRounds(content, 0), n)
		}
		if _, _, err := keyPair(content, "store", ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		hostile := bytes.Replace(content, []byte(many), []byte("\x02\x02\x7f\xff"), 1)
		if got := mostRounds(hostile, 0); got != 32767 {
			t.Errorf("%s: got %d rounds", name, got)
		}
	}
	der, err := asn1.Marshal(struct {
		Salt   []byte
		Rounds int64
	}{make([]byte, 200), 1 << 60})
	must(t, err)
	for _, err := range []error{second(trusted(der, "store")), third(keyPair(der, "store", ""))} {
		if err == nil || !strings.Contains(err.Error(), "asks for 1152921504606846976 rounds") {
			t.Errorf("got %v", err)
		}
	}
}

func second[A any](_ A, err error) error        { return err }
func third[A, B any](_ A, _ B, err error) error { return err }

// says answers every request with a status and a body.
type says struct {
	status int
	body   []byte
}

func (s says) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: s.status, Body: io.NopCloser(bytes.NewReader(s.body))}, nil
}

// FuzzToken takes what a token endpoint answers. The client's secret is in no error, and a token that is refused once is not kept.
func FuzzToken(f *testing.F) {
	const secret = "hush-hush"
	jwt := "a." + base64.RawURLEncoding.EncodeToString([]byte(`{"exp":1}`)) + ".c"
	for _, s := range []string{
		`{"access_token":"opaque","expires_in":3600}`, `{"access_token":"` + jwt + `","expires_in":1e300}`, `{"access_token":"a.b.c","expires_in":-1}`, `{"error":"invalid_client","error_description":"` + strings.Repeat("ü", 300) + `"}`,
		"<html>", "", "null", `{"access_token":null}`, `{"access_token":"","error":"` + strings.Repeat("a", 443) + secret + `"}`,
	} {
		f.Add(uint16(200), []byte(s))
		f.Add(uint16(503), []byte(s))
	}
	f.Fuzz(func(t *testing.T, status uint16, body []byte) {
		e := &endpoint{url: "https://idp/token", id: "job", secret: secret, client: &http.Client{Transport: says{int(status), body}}}
		for range 2 {
			token, err := e.token(t.Context())
			var refused *wire.CredentialsError
			switch {
			case err == nil && (token == "" || status != 200):
				t.Fatalf("token %q with status %d", token, status)
			case err != nil && (token != "" || !errors.As(err, &refused) || strings.Contains(err.Error(), secret[:5]) && !bytes.Contains(bytes.ReplaceAll(body, []byte(secret), nil), []byte(secret[:5])) || len(err.Error()) > 700):
				t.Fatalf("%q, %v", token, err)
			}
		}
	})
}
