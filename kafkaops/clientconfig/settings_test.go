package clientconfig

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/sasl/plain"

	"gtoffset/kafkaops/wire"
)

// write makes a file, and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// given connects with the lines of a file and an environment.
func given(t *testing.T, vars map[string]string, lines ...string) (Connection, *Settings, error) {
	t.Helper()
	file, err := ReadFile(write(t, "client.properties", strings.Join(lines, "\n")))
	must(t, err)
	getenv := func(name string) string { return vars[name] }
	ours, kafkas := Environment(getenv)
	s, err := Merge(file, ours, kafkas)
	if err != nil {
		return Connection{}, nil, err
	}
	c, err := s.Connect(getenv)
	return c, s, err
}

const (
	plainModule = "org.apache.kafka.common.security.plain.PlainLoginModule required "
	scramModule = "org.apache.kafka.common.security.scram.ScramLoginModule required "
	oauthModule = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
	krb5Module  = "com.sun.security.auth.module.Krb5LoginModule required "
)

func TestPasswords(t *testing.T) {
	const odd = ` "q",;$+@\' `
	for name, x := range map[string]struct {
		lines          []string
		user, password string
	}{
		"JAAS":                     {[]string{"sasl.mechanism=PLAIN", "sasl.jaas.config=" + plainModule + `username="alice" password="hush";`}, "alice", "hush"},
		"JAAS over lines":          {[]string{"sasl.mechanism=PLAIN", "sasl.jaas.config=" + plainModule + `\`, `   username="alice" \`, `   password="hush";`}, "alice", "hush"},
		"JAAS with odd characters": {[]string{"sasl.mechanism=PLAIN", "sasl.jaas.config=" + plainModule + `username="alice" password=" \\"q\\",;$+@\\\\' ";`}, "alice", odd},
		"librdkafka":               {[]string{"sasl.mechanisms=PLAIN", "sasl.username=alice", `sasl.password=\ "q",;$+@\\' `}, "alice", odd},
		"both in one file":         {[]string{"sasl.mechanism=PLAIN", "sasl.username=bob", "sasl.password=other", "sasl.jaas.config=" + plainModule + `username="alice" password="hush";`}, "alice", "hush"},
		"SCRAM's module":           {[]string{"sasl.mechanism=plain", "sasl.jaas.config=" + scramModule + `username="alice" password="hush";`}, "alice", "hush"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _, err := given(t, nil, append(x.lines, "security.protocol=SASL_SSL")...)
			if m, ok := c.Wire.SASL.(plain.Mechanism); err != nil || !ok || m.Username != x.user || m.Password != x.password || c.User != x.user {
				t.Errorf("got %v, %v", c.Wire.SASL, err)
			}
		})
	}
	c, s, err := given(t, map[string]string{"GTOFFSET_SASL_PASSWORD": odd, "KAFKA_SASL_PASSWORD": "other"}, "security.protocol=SASL_PLAINTEXT", "sasl.mechanism=SCRAM-SHA-512", "sasl.username=alice")
	if m := c.Wire.SASL; err != nil || m != (wire.Scram{Username: "alice", Password: odd, SHA512: true}) {
		t.Errorf("from the environment: %v, %v", m, err)
	}
	if over := s.used[keyPassword].Over; !slices.Equal(over, []string{"KAFKA_SASL_PASSWORD"}) {
		t.Errorf("over %q", over)
	}
}

// A flag comes before -X, that before the file, that before GTOFFSET_…, and that before KAFKA_….
func TestPrecedence(t *testing.T) {
	layer := func(source, key, value string) []Setting { return []Setting{{Key: key, Value: value, Source: source}} }
	layers := [][]Setting{
		layer("--bootstrap-server", keyBootstrap, "flag:1"), layer("-X", "metadata.broker.list", "x:2"), layer("f:3", keyBootstrap, "file:3"),
		layer("GTOFFSET_BOOTSTRAP_SERVER", keyBootstrap, "ours:4"), layer("KAFKA_BOOTSTRAP_SERVERS", keyBootstrap, "kafkas:5"),
	}
	for i, want := range []string{"flag:1", "x:2", "file:3", "ours:4", "kafkas:5"} {
		s, err := Merge(layers[i:]...)
		must(t, err)
		c, err := s.Connect(func(string) string { return "" })
		if err != nil || !slices.Equal(c.Bootstrap, []string{want}) || c.Source != layers[i][0].Source || len(s.InForce()[0].Over) != len(layers)-1-i {
			t.Errorf("got %q from %s over %q, %v", c.Bootstrap, c.Source, s.InForce()[0].Over, err)
		}
	}
	// A password of -X goes with the user of the file, whichever form the file has.
	file := []Setting{
		{Key: keyProtocol, Value: "SASL_SSL"}, {Key: keyMechanism, Value: "PLAIN"}, {Key: keyJAAS, Value: plainModule + `username="alice" password="old";`},
	}
	s, err := Merge(layer("-X", keyPassword, "new"), file)
	must(t, err)
	c, err := s.Connect(func(string) string { return "" })
	if m, _ := c.Wire.SASL.(plain.Mechanism); err != nil || m.Username != "alice" || m.Password != "new" {
		t.Errorf("got %v, %v", m, err)
	}
	if s, err = Merge(layer("-X", "ssl.ca.pem", "PEM"), layer("f:1", keyTrustFile, "/ca.jks")); err != nil || s.has(keyTrustFile) || len(s.Unused()) != 1 {
		t.Errorf("one form of trust before another: %v, %v", s, err)
	}
}

func TestOverride(t *testing.T) {
	file := write(t, "secret", " p@ss\n")
	getenv := func(name string) string { return map[string]string{"PW": "hush"}[name] }
	for text, want := range map[string]string{
		"sasl.password=$PW":         "hush|-X, $PW|",
		"sasl.password=@" + file:    " p@ss|-X, " + file + "|",
		"sasl.password=hu=sh":       "hu=sh|-X|literal",
		"sasl.password=$1":          "$1|-X|literal",
		"sasl.username=$PW":         "$PW|-X|",
		"client.id=@x":              "@x|-X|",
		" security.protocol = ssl ": " ssl |-X|",
	} {
		s, err := Override(text, getenv)
		note := ""
		if strings.Contains(s.Note, "list of processes") {
			note = "literal"
		}
		if got := s.Value + "|" + s.Source + "|" + note; err != nil || got != want || strings.Contains(s.Note, "hu=sh") {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{"sasl.password": "it takes KEY=VALUE", "=x": "it takes KEY=VALUE", "sasl.password=$NONE": "NONE is empty or not set", "sasl.password=@/no/such": "no such file", "sasl.pasword=hush": "sasl.pasword: is no setting"} {
		if _, err := Override(text, getenv); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"sasl.password=hush": "sasl.password=$SASL_PASSWORD", "sasl.password=$PW": "sasl.password=$PW", "sasl.password=@f": "sasl.password=@/abs/f", "client.id=x": "client.id=x",
		"ssl.ca.location=ca.pem": "ssl.ca.location=/abs/ca.pem", "ssl.ca.location=probe": "ssl.ca.location=probe",
	} {
		if got := Shown(text, func(p string) string { return "/abs/" + p }); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// Lines that name no setting are counted and not shown: they may be a key, or a password. A file of nothing else is refused.
func TestLinesThatNameNoSetting(t *testing.T) {
	for text, want := range map[string]string{
		"hunter2\n": ":1: neither this line nor any other names a setting",
		"-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n7AilKLos+x/a==\n": "is PEM, a key or a certificate",
		"eyJhbGciOi.eyJzdWIiOi.c2ln\n":                                        ":1: neither this line nor any other names a setting",
		"acks=all\nhunter2\n":                                                 "acks a line that names no setting",
		"acks=all\nhunter2\nMIGHAgEAMBMG\n":                                   "acks 2 lines that name no setting",
		"schema.registry.url=x\nacks=all\n":                                   "schema.registry.url acks",
	} {
		file, err := ReadFile(write(t, "client.properties", text))
		if err != nil {
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%q: got %v, want %q", text, err, want)
			}
			continue
		}
		s, err := Merge(file)
		must(t, err)
		var keys []string
		for _, u := range s.Unused() {
			keys = append(keys, u.Key)
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// Pipes are read, as of a command that asks a vault; one that nobody writes to is no reason to hang.
func TestPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	if _, err := ReadFile(pipe); err == nil || !strings.Contains(err.Error(), "nobody writes to the pipe") {
		t.Errorf("got %v", err)
	}
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	_, err = w.WriteString("client.id=x\n")
	must(t, err)
	must(t, w.Close())
	file, err := ReadFile(fmt.Sprintf("/dev/fd/%d", r.Fd()))
	if err != nil || len(file) != 1 || file[0].Value != "x" {
		t.Errorf("got %v, %v", file, err)
	}
}

// Login lines that only name a file are no secret.
func TestSecretLoginLines(t *testing.T) {
	key, _ := find(keyJAAS)
	for line, want := range map[string]bool{
		krb5Module + `useKeyTab=true keyTab="/k" principal="a@R";`: false,
		"X required username=a password=b;":                        true,
		"X required clientId=a clientSecret=b;":                    true,
	} {
		if key.holdsSecret(line) != want {
			t.Errorf("%s: %v", line, !want)
		}
	}
}

// What is wrong is named with file, line and key, and never with a secret.
func TestWrongSettings(t *testing.T) {
	pem := write(t, "ca.pem", "nothing")
	for name, x := range map[string]struct {
		lines []string
		says  string
		hint  string
	}{
		"protocol":            {[]string{"", "security.protocol=TLS"}, `client.properties:2: security.protocol: "TLS" is none of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL`, ""},
		"mechanism":           {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=DIGEST-MD5"}, `:2: sasl.mechanism: "DIGEST-MD5" is none of`, ""},
		"MSK's mechanism":     {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=AWS_MSK_IAM"}, ":2: sasl.mechanism: AWS_MSK_IAM is not supported", "9096"},
		"MSK's login":         {[]string{"security.protocol=SASL_SSL", "sasl.jaas.config=software.amazon.msk.auth.iam.IAMLoginModule required;"}, "AWS_MSK_IAM is not supported", "9096"},
		"MSK's callback":      {[]string{"sasl.client.callback.handler.class=software.amazon.msk.auth.iam.IAMClientCallbackHandler"}, "AWS_MSK_IAM is not supported", "9096"},
		"somebody's code":     {[]string{"sasl.login.callback.handler.class=com.acme.Login"}, "com.acme.Login is Java code", ""},
		"references":          {[]string{"config.providers=env", "sasl.password=${env:PW}"}, ":2: sasl.password: references in values", "-X 'sasl.password=$VARIABLE'"},
		"no user":             {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=PLAIN"}, ":2: sasl.mechanism: PLAIN needs a user and a password; no user is given", "-X sasl.username="},
		"no password":         {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "sasl.username=alice"}, "no password is given", "-X sasl.username="},
		"no option":           {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "sasl.jaas.config=" + plainModule + `username="alice";`}, ":3: sasl.jaas.config: PlainLoginModule has no option password", ""},
		"option in capitals":  {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "sasl.jaas.config=" + plainModule + `Username="alice" password="hush";`}, "Username is written username", ""},
		"quoting":             {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "sasl.jaas.config=" + plainModule + `username="alice" password="hu"sh";`}, ":3: sasl.jaas.config: what follows option password", ""},
		"module":              {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=SCRAM-SHA-256", "sasl.jaas.config=" + krb5Module + "useKeyTab=true;"}, "its login module is Krb5LoginModule, but SCRAM-SHA-256 takes ScramLoginModule", ""},
		"two names":           {[]string{"sasl.mechanism=PLAIN", "sasl.mechanisms=GSSAPI"}, ":2: sasl.mechanisms: is the same as sasl.mechanism", ""},
		"two forms":           {[]string{"ssl.ca.pem=x", "ssl.truststore.location=y"}, "says again what ssl.ca.pem", ""},
		"number":              {[]string{"request.timeout.ms=2s"}, `:1: request.timeout.ms: "2s" is no number of milliseconds`, ""},
		"lookup":              {[]string{"client.dns.lookup=some"}, "client.dns.lookup", ""},
		"no such trust store": {[]string{"security.protocol=SSL", "ssl.truststore.location=/no/such.jks"}, ":2: ssl.truststore.location: /no/such.jks: no such file", ""},
		"no trust store":      {[]string{"security.protocol=SSL", "ssl.ca.location=" + pem}, "neither PEM nor PKCS12 nor JKS", ""},
		"JCEKS":               {[]string{"security.protocol=SSL", "ssl.truststore.location=" + write(t, "t.jceks", "\xce\xce\xce\xce")}, "JCEKS store, which only Java reads", "keytool -importkeystore"},
		"half a pair":         {[]string{"security.protocol=SSL", "ssl.key.location=" + pem}, "ssl.certificate.location and ssl.key.location go together", ""},
		"old TLS":             {[]string{"security.protocol=SSL", "ssl.enabled.protocols=TLSv1,TLSv1.1"}, "neither TLSv1.2 nor TLSv1.3", ""},
		"address":             {[]string{"bootstrap.servers=kafka1:http"}, `client.properties:1: "kafka1:http" is no address of a broker`, "-b HOST:PORT"},
		"no token":            {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER"}, "nothing says where it comes from", "file:///PATH"},
		"no client":           {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url=https://idp/token"}, "it takes client credentials", ""},
		"no address":          {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url=ftp://idp"}, "it is no https:// address", ""},
		"no token file":       {[]string{"security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url=file:///no/such"}, "/no/such: no such file", ""},
		"no krb5.conf":        {[]string{"security.protocol=SASL_SSL", "sasl.jaas.config=" + krb5Module + `useKeyTab=true keyTab="/no/such" principal="alice@R";`}, "krb5.conf /no/krb5.conf: no such file", "KRB5_CONFIG"},
		"no keytab":           {[]string{"security.protocol=SASL_SSL", "sasl.jaas.config=" + krb5Module + `useKeyTab=true principal="alice@R";`}, "useKeyTab is true, but there is no keyTab", ""},
		"two services":        {[]string{"security.protocol=SASL_SSL", "sasl.kerberos.service.name=a", "sasl.jaas.config=" + krb5Module + `serviceName="b";`}, `is "a", but serviceName`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := given(t, map[string]string{"KRB5_CONFIG": "/no/krb5.conf"}, x.lines...)
			var bad *Error
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), x.says) || !strings.Contains(bad.Hint, x.hint) {
				t.Fatalf("got %v (%+v), want %q and %q", err, bad, x.says, x.hint)
			}
			said := strings.ReplaceAll(err.Error()+bad.Hint, os.TempDir(), "") // whose name may be anything
			if strings.Contains(said, "hu") && name != "lookup" {
				t.Errorf("a secret is shown: %v", err)
			}
		})
	}
	if _, err := ReadFile("/no/such.properties"); err == nil || !strings.Contains(err.Error(), "/no/such.properties: no such file") {
		t.Errorf("no file: %v", err)
	}
	if _, err := ReadFile(write(t, "client.properties", "a=1\nb=\\u12")); err == nil || !strings.Contains(err.Error(), "client.properties:2: ") {
		t.Errorf("an escape: %v", err)
	}
	if _, err := ReadFile("/dev/zero"); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a file without end: %v", err)
	}
}

func TestNotes(t *testing.T) {
	open := write(t, "client.properties", "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=alice\nsasl.password=hush\nacks=all\n")
	must(t, os.Chmod(open, 0o644))
	file, err := ReadFile(open)
	must(t, err)
	s, err := Merge(file)
	must(t, err)
	c, err := s.Connect(func(string) string { return "" })
	if err != nil || len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "chmod 600 "+open) || strings.Contains(fmt.Sprint(c.Notes), "hush") {
		t.Errorf("notes %q, %v", c.Notes, err)
	}
	if u := s.Unused(); len(u) != 1 || u[0].Key != "acks" {
		t.Errorf("unused %v", u)
	}
	for line, want := range map[string]string{
		"sasl.username=alice\nsasl.password=x":                                                     "is of no use: security.protocol is PLAINTEXT",
		"security.protocol=SSL\nenable.ssl.certificate.verification=false":                         "any certificate is taken",
		"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.username=a\nsasl.password=b": "goes over the network as it is",
	} {
		c, _, err := given(t, nil, line)
		if all := append(c.Notes, c.Remarks...); err != nil || len(all) != 1 || !strings.Contains(all[0], want) {
			t.Errorf("%q: notes %q, %v", line, all, err)
		}
	}
}

func TestTokens(t *testing.T) {
	enc := base64.RawURLEncoding.EncodeToString
	jwt := func(left time.Duration) string {
		return enc([]byte(`{"alg":"none"}`)) + "." + enc(fmt.Appendf(nil, `{"sub":"job","exp":%d}`, time.Now().Add(left).Unix())) + "."
	}
	asked, status := 0, http.StatusOK
	idp := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		id, secret, _ := r.BasicAuth()
		w.WriteHeader(status)
		if status != http.StatusOK {
			fmt.Fprintf(w, `{"error":"invalid_client","error_description":"%s is wrong"}`, secret)
			return
		}
		fmt.Fprintf(w, `{"access_token":%q,"expires_in":3600,"who":%q}`, jwt(time.Hour), id+r.PostFormValue("scope"))
	}))
	defer idp.Close()
	lines := []string{
		"security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url=" + idp.URL,
		"sasl.jaas.config=" + oauthModule + `clientId="job" clientSecret="hush" scope="kafka" extension_logicalCluster="lkc-1";`,
	}
	c, _, err := given(t, nil, lines...)
	must(t, err)
	m := c.Wire.SASL.(wire.OAuthBearer)
	for range 3 {
		if token, err := m.Token(t.Context()); err != nil || token == "" || asked != 1 {
			t.Errorf("token %q, %v, asked %d times", token, err, asked)
		}
	}
	if _, first, err := m.Start(t.Context()); err != nil || !strings.HasSuffix(string(first), "\x01logicalCluster=lkc-1\x01\x01") {
		t.Errorf("first message %q, %v", first, err)
	}
	status = http.StatusUnauthorized
	c, _, err = given(t, nil, lines...)
	must(t, err)
	if _, err := c.Wire.SASL.(wire.OAuthBearer).Token(t.Context()); err == nil || !strings.Contains(err.Error(), "401 invalid_client: (hidden) is wrong") || !wire.IsRefused(err) {
		t.Errorf("refused: %v", err)
	}
	idp.Close()
	if _, err := c.Wire.SASL.(wire.OAuthBearer).Token(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be asked") || wire.IsRefused(err) {
		t.Errorf("away: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Wire.SASL.(wire.OAuthBearer).Token(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	for token, want := range map[string]string{jwt(time.Hour): "", "opaque": "", jwt(-time.Hour): "has expired at", "": "empty token"} {
		path := write(t, "token", token+"\n")
		c, _, err := given(t, nil, "security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url=file://"+path)
		must(t, err)
		got, err := c.Wire.SASL.(wire.OAuthBearer).Token(t.Context())
		if want == "" && (err != nil || got != token) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %q, %v, want %q", token, got, err, want)
		}
	}
}
