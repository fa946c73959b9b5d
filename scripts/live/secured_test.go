//go:build live

package live_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/scripts/live"
)

const kafkaSecurity = "org.apache.kafka.common.security."

// plainLogin is a sasl.jaas.config line of a Java client.
func plainLogin(user, password string) string {
	return fmt.Sprintf(`sasl.jaas.config=%splain.PlainLoginModule required username="%s" password="%s";`, kafkaSecurity, user, password)
}

func scramLogin(user, password string) string {
	return fmt.Sprintf(`sasl.jaas.config=%sscram.ScramLoginModule required \`+"\n"+`  username="%s" \`+"\n"+`  password="%s";`, kafkaSecurity, user, password)
}

func kerberosLogin(options string) string {
	return "sasl.kerberos.service.name=kafka\nsasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required " + options + ";"
}

// client is how a test reaches the secured node: what the file says, and what is in the environment.
type client struct {
	t    *testing.T
	addr string
	file string // its path
	env  []string
}

func clientOf(t *testing.T, addr string, lines ...string) client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "client.properties")
	must(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return client{t: t, addr: addr, file: path}
}

func (c client) run(args ...string) result {
	c.t.Helper()
	more := []string{"-b", c.addr, "--command-config", c.file}
	for i, a := range args {
		if a == "--" {
			return program{Env: c.env}.run(c.t, append(append(args[:i:i], more...), args[i:]...)...)
		}
	}
	return program{Env: c.env}.run(c.t, append(args, more...)...)
}

// secrets are what no output may hold.
var secrets = []string{"alice-secret", "admin-secret", "bob-secret", "carol-secret", "store-secret", "client-secret", "guessed"}

func (r result) keepsSecrets() result {
	r.t.Helper()
	for _, s := range secrets {
		if strings.Contains(r.out, s) || strings.Contains(r.err, s) {
			r.t.Errorf("%q is shown\n%v", s, r)
		}
	}
	return r
}

// Describe, clamp and replay through each way to log in, with right credentials and with wrong ones.
func TestMechanisms(t *testing.T) {
	on, err := secured()
	must(t, err)
	certs, kdc := on.Certs, on.KDC
	localhost := func(listener string) string { return "localhost:" + on.Port(listener) }
	stores := javaStores(t, certs)
	tokens := tokenEndpoint(t)
	cache, stale := filepath.Join(t.TempDir(), "cache"), filepath.Join(t.TempDir(), "stale")
	must(t, kdc.Login(t.Context(), 36000, cache))
	must(t, kdc.Login(t.Context(), 1, stale))
	tokenFile := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(tokenFile, []byte(unsigned("admin", time.Hour)+"\n"), 0o600))
	expiredToken := filepath.Join(t.TempDir(), "expired")
	must(t, os.WriteFile(expiredToken, []byte(unsigned("admin", -time.Hour)), 0o600))

	const saslPlain, saslTLS, ssl = "security.protocol=SASL_PLAINTEXT", "security.protocol=SASL_SSL", "security.protocol=SSL"
	trust := "ssl.truststore.location=" + certs.CA + "\nssl.truststore.type=PEM"
	oauth := func(lines ...string) []string {
		return append([]string{saslPlain, "sasl.mechanism=OAUTHBEARER"}, lines...)
	}
	endpoint := func(secret string) []string {
		return oauth(
			"sasl.oauthbearer.token.endpoint.url="+tokens,
			"sasl.login.callback.handler.class="+kafkaSecurity+"oauthbearer.OAuthBearerLoginCallbackHandler",
			fmt.Sprintf(`sasl.jaas.config=%soauthbearer.OAuthBearerLoginModule required clientId="job" clientSecret="%s" scope="kafka";`, kafkaSecurity, secret),
		)
	}
	krb := []string{saslPlain, "sasl.mechanism=GSSAPI"}
	for _, x := range []struct {
		name, addr   string
		right, wrong []string
		env          []string
		says         string // of the wrong one
		wrongEnv     []string
	}{
		{
			name: "PLAIN", addr: on.Addr(live.SASL), right: []string{saslPlain, "sasl.mechanism=PLAIN", plainLogin("alice", "alice-secret")},
			wrong: []string{saslPlain, "sasl.mechanism=PLAIN", plainLogin("alice", "guessed")}, says: "Invalid username or password",
		},
		{
			name: "PLAIN over TLS", addr: on.Addr(live.SASLTLS), right: []string{saslTLS, trust, "sasl.mechanism=PLAIN", plainLogin("alice", "alice-secret")},
			wrong: []string{saslTLS, trust, "sasl.mechanism=PLAIN", plainLogin("nobody", "guessed")}, says: "Invalid username or password",
		},
		{
			name: "SCRAM-SHA-256", addr: on.Addr(live.SASL), right: []string{saslPlain, "sasl.mechanism=SCRAM-SHA-256", scramLogin("alice", "alice-secret")},
			wrong: []string{saslPlain, "sasl.mechanism=SCRAM-SHA-256", scramLogin("alice", "guessed")}, says: "invalid credentials with SASL mechanism SCRAM-SHA-256",
		},
		{
			name: "SCRAM-SHA-512 over TLS", addr: on.Addr(live.SASLTLS), right: []string{saslTLS, trust, "sasl.mechanism=SCRAM-SHA-512", scramLogin("alice", "alice-secret")},
			wrong: []string{saslTLS, trust, "sasl.mechanism=SCRAM-SHA-512", scramLogin("alice", "guessed")}, says: "invalid credentials with SASL mechanism SCRAM-SHA-512",
		},
		{
			name: "librdkafka", addr: on.Addr(live.SASLTLS),
			right: []string{"security.protocol=sasl_ssl", "ssl.ca.location=" + certs.CA, "sasl.mechanisms=SCRAM-SHA-512", "sasl.username=alice", "sasl.password=alice-secret"},
			wrong: []string{"security.protocol=sasl_ssl", "ssl.ca.location=" + certs.CA, "sasl.mechanisms=SCRAM-SHA-512", "sasl.username=alice", "sasl.password=guessed"}, says: "invalid credentials",
		},
		{name: "OAUTHBEARER by file", addr: on.Addr(live.SASL), right: oauth("sasl.oauthbearer.token.endpoint.url=file://" + tokenFile), wrong: oauth("sasl.oauthbearer.token.endpoint.url=file://" + expiredToken), says: "has expired"},
		{name: "OAUTHBEARER by client credentials", addr: on.Addr(live.SASL), right: endpoint("client-secret"), wrong: endpoint("guessed"), says: "401 invalid_client"},
		{
			name: "OAUTHBEARER unsigned", addr: on.Addr(live.SASL),
			right: oauth("sasl.jaas.config=" + kafkaSecurity + `oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="admin";`), wrong: oauth(), says: "nothing says where it comes from",
		},
		{name: "TLS", addr: on.Addr(live.TLS), right: []string{ssl, trust}, wrong: []string{ssl}, says: "not among the CAs that are trusted"},
		{name: "TLS by JKS", addr: on.Addr(live.TLS), right: []string{ssl, "ssl.truststore.location=" + stores.trustJKS, "ssl.truststore.password=store-secret"}, wrong: []string{ssl, "ssl.truststore.location=" + stores.trustJKS, "ssl.truststore.password=guessed"}, says: "password is wrong"},
		{name: "TLS by JKS without its password", addr: on.Addr(live.TLS), right: []string{ssl, "ssl.truststore.location=" + stores.trustJKS}, wrong: []string{ssl, "ssl.truststore.location=" + stores.keyJKS}, says: "no certificates that are marked as trusted"},
		{name: "TLS by PKCS12", addr: on.Addr(live.TLS), right: []string{ssl, "ssl.truststore.location=" + stores.trustP12, "ssl.truststore.password=store-secret"}, wrong: []string{ssl, "ssl.truststore.location=" + stores.trustP12}, says: "ssl.truststore.password is not set"},
		{
			name: "mutual TLS by PEM", addr: on.Addr(live.Mutual), right: []string{ssl, trust, "ssl.certificate.location=" + certs.ClientCert, "ssl.key.location=" + certs.ClientKey},
			wrong: []string{ssl, trust}, says: "wants a client certificate",
		},
		{
			name: "mutual TLS by PKCS12", addr: on.Addr(live.Mutual), right: []string{ssl, trust, "ssl.keystore.location=" + stores.keyP12, "ssl.keystore.password=store-secret"},
			wrong: []string{ssl, trust, "ssl.keystore.location=" + stores.keyP12, "ssl.keystore.password=guessed"}, says: "password is wrong",
		},
		{
			name: "mutual TLS by JKS", addr: on.Addr(live.Mutual), right: []string{ssl, trust, "ssl.keystore.location=" + stores.keyJKS, "ssl.keystore.password=store-secret", "ssl.key.password=store-secret"},
			wrong: []string{ssl, trust, "ssl.certificate.location=" + certs.StrangerCert, "ssl.key.location=" + certs.StrangerKey}, says: `does not accept the client certificate of "CN=alice"`,
		},
		{
			name: "Kerberos by keytab", addr: localhost(live.GSS), env: []string{"KRB5_CONFIG=" + kdc.Conf},
			right: append(krb, kerberosLogin(`useKeyTab=true storeKey=true keyTab="`+kdc.Keytab("alice")+`" principal="alice@`+live.Realm+`"`)),
			wrong: append(krb, kerberosLogin(`useKeyTab=true storeKey=true keyTab="`+kdc.Keytab("bob")+`" principal="alice@`+live.Realm+`"`)), says: "holds no key of alice@TEST.LOCAL",
		},
		{
			name: "Kerberos by password", addr: localhost(live.GSS), env: []string{"KRB5_CONFIG=" + kdc.Conf},
			right: append(krb, "sasl.kerberos.principal=carol", "sasl.password="+live.CarolsPassword),
			wrong: append(krb, "sasl.kerberos.principal=carol", "sasl.password=guessed"), says: "the KDC refused the password or keytab of carol@TEST.LOCAL",
		},
		{
			name: "Kerberos by cache", addr: localhost(live.GSS), env: []string{"KRB5_CONFIG=" + kdc.Conf, "KRB5CCNAME=FILE:" + cache}, wrongEnv: []string{"KRB5_CONFIG=" + kdc.Conf, "KRB5CCNAME=" + stale},
			right: append(krb, kerberosLogin("useTicketCache=true")), wrong: append(krb, kerberosLogin("useTicketCache=true")), says: "has expired",
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := stage(t, on.Cluster, [2]int64{20, 50}, [2]int64{0, 30})
			s.commit(5, 10)
			c := clientOf(t, x.addr, x.right...)
			c.env = x.env
			c.run("describe", "-g", s.group).exits(0).prints("committed low: 15 expired", "ok").keepsSecrets()
			c.run("clamp", "-g", s.group, "--committed", "--execute").exits(0).prints("1 of 1 verified", "--command-config").keepsSecrets()
			same(t, "committed", s.committed(), "0=20 1=10")
			r := c.run("replay", "-g", s.group, "-t", s.topic, "--from", "committed", "--format", `%p %o\n`).exits(0).keepsSecrets()
			if n := strings.Count(r.out, "\n"); n != 50 {
				t.Errorf("%d records, want 50\n%v", n, r)
			}
			c.run("config").exits(0).keepsSecrets()

			w := clientOf(t, x.addr, x.wrong...)
			w.env = x.env
			if x.wrongEnv != nil {
				w.env = x.wrongEnv
				must(t, live.Eventually(t.Context(), "the ticket has expired", func(context.Context) (bool, error) {
					r := w.run("describe", "-g", s.group)
					return r.code != 0, nil
				}))
			}
			for _, line := range [][]string{{"describe", "-g", s.group}, {"clamp", "-g", s.group, "--committed", "--execute"}} {
				r := w.run(append(line, "--timeout", "5s")...).says(x.says, "gtoffset: hint: ").keepsSecrets()
				if r.code != 5 && r.code != 2 {
					t.Errorf("exit code = %d, want 5, or 2 for what is wrong before any connection\n%v", r.code, r)
				}
			}
			same(t, "committed after wrong credentials", s.committed(), "0=20 1=10")
		})
	}
}

type javaStoreFiles struct{ trustJKS, trustP12, keyJKS, keyP12 string }

// javaStores makes key stores by Java's own keytool, and by openssl.
func javaStores(t *testing.T, certs live.Certs) javaStoreFiles {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	s := javaStoreFiles{at("trust.jks"), at("trust.p12"), at("key.jks"), at("key.p12")}
	const password = "store-secret"
	for _, line := range [][]string{
		{"openssl", "pkcs12", "-export", "-inkey", certs.ClientKey, "-in", certs.ClientCert, "-certfile", certs.CA, "-name", "alice", "-out", s.keyP12, "-passout", "pass:" + password},
		{"keytool", "-importkeystore", "-noprompt", "-srckeystore", s.keyP12, "-srcstoretype", "PKCS12", "-srcstorepass", password, "-destkeystore", s.keyJKS, "-deststoretype", "JKS", "-deststorepass", password},
		{"keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", certs.CA, "-keystore", s.trustJKS, "-storetype", "JKS", "-storepass", password},
		{"keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", certs.CA, "-keystore", s.trustP12, "-storetype", "PKCS12", "-storepass", password},
	} {
		if said, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", line[0], err, said)
		}
	}
	return s
}

// unsigned is a token that Kafka's default validator takes.
func unsigned(user string, left time.Duration) string {
	enc := base64.RawURLEncoding.EncodeToString
	now := time.Now()
	return enc([]byte(`{"alg":"none"}`)) + "." + enc(fmt.Appendf(nil, `{"sub":%q,"iat":%d,"exp":%d}`, user, now.Add(-2*time.Hour).Unix(), now.Add(left).Unix())) + "."
}

// tokenEndpoint gives tokens to the client "job" with its secret.
func tokenEndpoint(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		w.Header().Set("Content-Type", "application/json")
		if id != "job" || secret != "client-secret" || r.PostFormValue("grant_type") != "client_credentials" || r.PostFormValue("scope") != "kafka" {
			w.WriteHeader(http.StatusUnauthorized)
			_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_client", "error_description": "no client " + id})
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": unsigned("admin", time.Hour), "expires_in": 3600})
	}))
	t.Cleanup(s.Close)
	return s.URL + "/token"
}

// What is wrong with a connection is said, with what can be typed next.
func TestDiagnosis(t *testing.T) {
	on, err := secured()
	must(t, err)
	certs := on.Certs
	s := stage(t, on.Cluster, [2]int64{0, 10})
	s.commit(5)
	const saslPlain, ssl = "security.protocol=SASL_PLAINTEXT", "security.protocol=SSL"
	trust := "ssl.truststore.location=" + certs.CA
	login := []string{"sasl.mechanism=PLAIN", plainLogin("alice", "alice-secret")}
	silent := silentPort(t)
	late, err := live.KerberosAt(t.Context(), -time.Hour)
	must(t, err)
	defer late.Stop()
	for _, x := range []struct {
		name, addr string
		lines      []string
		env        []string
		says       []string
	}{
		{name: "plain to a TLS port", addr: on.Addr(live.TLS), says: []string{"expects TLS", "-X security.protocol=SSL"}},
		{name: "TLS to a plain port", addr: on.Bootstrap(), lines: []string{ssl, trust}, says: []string{"answers without TLS", "-X security.protocol=PLAINTEXT"}},
		{name: "TLS to a plain port with a login", addr: on.Addr(live.SASL), lines: []string{ssl, trust}, says: []string{"answers without TLS", "-X security.protocol=SASL_PLAINTEXT", "SCRAM-SHA-512"}},
		{name: "TLS to a silent port", addr: silent, lines: []string{ssl, trust}, says: []string{"did not answer within 2s", "is this a TLS port?"}},
		{name: "silent port", addr: silent, says: []string{"did not answer within 2s", "not a Kafka port"}},
		{name: "no login where one is wanted", addr: on.Addr(live.SASL), says: []string{"wants a login (SASL)", "PLAIN", "-X security.protocol=SASL_PLAINTEXT -X sasl.mechanism=SCRAM-SHA-512"}},
		{name: "no login where one is wanted over TLS", addr: on.Addr(live.SASLTLS), lines: []string{ssl, trust}, says: []string{"wants a login (SASL)", "-X security.protocol=SASL_SSL -X sasl.mechanism=SCRAM-SHA-512"}},
		{name: "login where there is none", addr: on.Bootstrap(), lines: append([]string{saslPlain}, login...), says: []string{"has no login (SASL)", "-X security.protocol=PLAINTEXT"}},
		{name: "mechanism", addr: on.Addr(live.Brief), lines: []string{saslPlain, "sasl.mechanism=SCRAM-SHA-512", scramLogin("alice", "alice-secret")}, says: []string{"SCRAM-SHA-512 is not enabled", "offers PLAIN", "-X sasl.mechanism=PLAIN"}},
		{name: "unknown CA", addr: on.Addr(live.TLS), lines: []string{ssl, "ssl.truststore.location=" + certs.StrangerCert}, says: []string{`signed by "CN=test-ca"`, "-X ssl.truststore.location=CA.pem"}},
		{name: "expired certificate", addr: on.Addr(live.Expired), lines: []string{ssl, trust}, says: []string{`the certificate of "CN=localhost" is valid from`, "the clock here says", "renew"}},
		{name: "wrong host name", addr: passedOn(t, on.Addr(live.TLS)), lines: []string{ssl, trust}, says: []string{"its certificate is for localhost, 127.0.0.1, not for 127.0.0.2", "-X ssl.endpoint.identification.algorithm="}},
		{name: "no certificate", addr: on.Addr(live.Mutual), lines: []string{ssl, trust}, says: []string{"wants a client certificate", "-X ssl.keystore.location"}},
		{name: "advertised name", addr: on.Addr(live.Lost), lines: append([]string{saslPlain}, login...), says: []string{"broker 1 (no.such.host.invalid:", "does not resolve", "broker " + on.Addr(live.Lost) + " answered", "advertised.listeners"}},
		{name: "advertised port", addr: on.Addr(live.Dead), lines: append([]string{saslPlain}, login...), says: []string{"broker 1 (127.0.0.1:", "refused the connection", "broker " + on.Addr(live.Dead) + " answered", "advertised.listeners"}},
		{name: "unknown user of Kerberos", addr: "localhost:" + on.Port(live.GSS), lines: []string{saslPlain, "sasl.kerberos.principal=mallory", "sasl.password=guessed"}, env: []string{"KRB5_CONFIG=" + on.KDC.Conf}, says: []string{"the KDC does not know the user mallory@TEST.LOCAL"}},
		{name: "service of Kerberos", addr: "localhost:" + on.Port(live.GSS), lines: []string{saslPlain, "sasl.kerberos.service.name=broker", "sasl.kerberos.principal=alice", "sasl.kerberos.keytab=" + on.KDC.Keytab("alice")}, env: []string{"KRB5_CONFIG=" + on.KDC.Conf}, says: []string{"does not know the broker as broker/localhost", "-X sasl.kerberos.service.name"}},
		{name: "Kerberos by address", addr: on.Addr(live.GSS), lines: []string{saslPlain, "sasl.kerberos.principal=alice", "sasl.kerberos.keytab=" + on.KDC.Keytab("alice")}, env: []string{"KRB5_CONFIG=" + on.KDC.Conf}, says: []string{"does not know the broker as kafka/127.0.0.1", "by its name"}},
		{name: "clock of the KDC", addr: "localhost:" + on.Port(live.GSS), lines: []string{saslPlain, "sasl.kerberos.principal=alice", "sasl.kerberos.keytab=" + late.Keytab("alice")}, env: []string{"KRB5_CONFIG=" + late.Conf}, says: []string{"the clocks of this machine (", "and of the KDC of TEST.LOCAL", "differ too much", "gtoffset: hint: "}},
		{name: "clock of a KDC that checks at once", addr: "localhost:" + on.Port(live.GSS), lines: []string{saslPlain, "sasl.kerberos.principal=carol", "sasl.password=" + live.CarolsPassword}, env: []string{"KRB5_CONFIG=" + late.Conf}, says: []string{"the clocks of this machine (", "and of the KDC of TEST.LOCAL", "differ too much", "gtoffset: hint: "}},
		{name: "no KDC", addr: "localhost:" + on.Port(live.GSS), lines: []string{saslPlain, "sasl.kerberos.principal=alice", "sasl.password=guessed"}, env: []string{"KRB5_CONFIG=" + deafKDC(t)}, says: []string{"no KDC of TEST.LOCAL answers in time (127.0.0.1:", "check the realm in krb5.conf"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := clientOf(t, x.addr, x.lines...)
			c.env = x.env
			const limit = 5 * time.Second
			r := c.run("describe", "-g", s.group, "--timeout", limit.String()).exits(5).says(x.says...).keepsSecrets()
			if len(r.err) > 3000 || strings.Contains(r.err, "goroutine") {
				t.Errorf("a dump\n%v", r)
			}
			if r.took > limit+10*time.Second { // far beyond what a busy machine takes for its share
				t.Errorf("took %v of %v", r.took, limit)
			}
		})
	}
}

// silentPort accepts connections and never answers.
func silentPort(t *testing.T) string {
	t.Helper()
	s := httptest.NewUnstartedServer(nil) // listens, and nobody accepts
	t.Cleanup(func() { s.Listener.Close() })
	return s.Listener.Addr().String()
}

// passedOn is an address of another host, as far as a certificate is concerned, that leads to target.
func passedOn(t *testing.T, target string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.2:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", target)
			if err != nil {
				from.Close()
				continue
			}
			go func() { defer to.Close(); _, _ = io.Copy(to, from) }()
			go func() { defer from.Close(); _, _ = io.Copy(from, to) }()
		}
	}()
	return l.Addr().String()
}

// deafKDC is a krb5.conf whose KDC never answers.
func deafKDC(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "krb5.conf")
	must(t, os.WriteFile(path, []byte("[libdefaults]\n default_realm = TEST.LOCAL\n dns_lookup_kdc = false\n udp_preference_limit = 1\n[realms]\n TEST.LOCAL = {\n  kdc = "+silentPort(t)+"\n }\n[domain_realm]\n localhost = TEST.LOCAL\n"), 0o600))
	return path
}

// A user who may see some topics and groups gets those; the others are rows with the right that is missing.
func TestRights(t *testing.T) {
	ctx := t.Context()
	on, err := secured()
	must(t, err)
	open := stage(t, on.Cluster, [2]int64{20, 50})
	open.commit(5)
	shut := open
	shut.topic = name(t, "secret")
	must(t, on.CreateTopic(ctx, shut.topic, 1))
	must(t, on.Produce(ctx, shut.topic, 30))
	shut.commit(7) // the same group
	hidden := open
	hidden.group = name(t, "hidden")
	hidden.commit(5)
	bob := clientOf(t, on.Addr(live.SASL), "security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN", plainLogin("bob", "bob-secret"))

	bob.run("describe", "-g", open.group).exits(3).says("DESCRIBE on group " + open.group).keepsSecrets()
	must(t, on.Allow(ctx, kmsg.ACLResourceTypeGroup, open.group, kmsg.ACLOperationDescribe))
	must(t, on.Allow(ctx, kmsg.ACLResourceTypeTopic, open.topic, kmsg.ACLOperationDescribe))
	must(t, live.Eventually(ctx, "bob may see the group", func(context.Context) (bool, error) {
		r := bob.run("describe", "-g", open.group)
		return strings.Contains(r.out, "low: 15 expired"), nil
	}))
	bob.run("describe", "-g", open.group, "-t", open.topic).exits(0).prints("committed low: 15 expired")
	bob.run("describe", "-g", open.group, "-t", open.topic, "-t", shut.topic).exits(3).prints("committed low: 15 expired").
		says(fmt.Sprintf("topic %q could not be read: not allowed: DESCRIBE on topic %s is missing", shut.topic, shut.topic))
	bob.run("describe", "-g", open.group, "-t", open.topic, "-t", shut.topic+":0").exits(3).prints("committed low: 15 expired", "DESCRIBE on topic "+shut.topic+" is missing")
	bob.run("describe", "-g", open.group, "-g", hidden.group, "-t", open.topic).exits(3).prints("committed low: 15 expired").says("DESCRIBE on group " + hidden.group)
	bob.run("describe").exits(0).prints(open.group)

	bob.run("clamp", "-g", open.group, "-t", open.topic, "--committed", "--execute").says("READ on group "+open.group, "hint: kafka-acls.sh --bootstrap-server ", "--allow-principal User:bob --operation Read --group "+open.group)
	same(t, "committed without the right", open.committed(), "0=5")
	must(t, on.Allow(ctx, kmsg.ACLResourceTypeGroup, open.group, kmsg.ACLOperationRead))
	must(t, on.Allow(ctx, kmsg.ACLResourceTypeTopic, open.topic, kmsg.ACLOperationRead))
	must(t, live.Eventually(ctx, "bob may clamp", func(context.Context) (bool, error) {
		return bob.run("clamp", "-g", open.group, "-t", open.topic, "--committed", "--execute").code == 0, nil
	}))
	same(t, "committed", open.committed(), "0=20")
	same(t, "committed of the topic that bob may not see", shut.committed(), "0=7")
	bob.run("replay", "-g", open.group, "-t", open.topic, "--from", "committed", "--format", `%o\n`).exits(0).prints("49\n")
}

// A session lasts three seconds here; reading and writing go on beyond it, on the same connections.
func TestSessionIsRenewed(t *testing.T) {
	ctx := t.Context()
	on, err := secured()
	must(t, err)
	s := stage(t, on.Cluster, [2]int64{0, 1})
	s.commit(1)
	copies := name(t, "copies")
	must(t, on.CreateTopic(ctx, copies, 1))
	c := clientOf(t, on.Addr(live.Brief), "security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN", plainLogin("alice", "alice-secret"))

	const records = 32
	run := program{}.start(t, "replay", "-g", s.group, "-t", s.topic, "--from", "committed", "--follow", "--records", fmt.Sprint(records), "--to-topic", copies,
		"--execute", "--batch-interval", "100ms", "-v", "-b", c.addr, "--command-config", c.file)
	must(t, on.Produce(ctx, s.topic, 1))
	must(t, live.Eventually(ctx, "the first record is copied", func(ctx context.Context) (bool, error) {
		got, err := on.Ranges(ctx, copies)
		return got[0].End == 1, err
	}))
	pace := time.NewTicker(300 * time.Millisecond) // three sessions long
	defer pace.Stop()
	for range records - 1 {
		<-pace.C
		must(t, on.Produce(ctx, s.topic, 1))
	}
	r := run.wait().exits(0).keepsSecrets()
	got, err := on.Ranges(ctx, copies)
	must(t, err)
	same(t, "copies", got[0].End, records)
	// Reading and writing have a connection each, and each of them renews its login at least twice.
	logins, dials := strings.Count(r.err, "api=SASLAuthenticate"), strings.Count(r.err, "api=ApiVersions")
	if logins < dials+4 {
		t.Errorf("%d logins on %d connections: too few renewals\n%s", logins, dials, r.err)
	}
	if strings.Contains(r.err, "partition is away") || dials > 3 {
		t.Errorf("a connection broke\n%s", r.err)
	}
}
