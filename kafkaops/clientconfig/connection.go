package clientconfig

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"gtoffset/kafkaops/wire"
)

// Connection is how to reach a cluster.
type Connection struct {
	Bootstrap []string // "host:port"; empty if none is named
	Source    string   // where they were named
	Wire      wire.Config
	Timeout   time.Duration // of one look; 0 if nothing is said

	Protocol  string   // PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL
	Mechanism string   // "" without SASL
	User      string   // who logs in, as far as the settings tell
	Notes     []string // what must be said: a secret lies open, a setting is of no use
	Remarks   []string // what is good to know for who looks at the settings
}

// The values of security.protocol.
const (
	Plaintext     = "PLAINTEXT"
	SSL           = "SSL"
	SASLPlaintext = "SASL_PLAINTEXT"
	SASLSSL       = "SASL_SSL"
)

// Connect makes the configuration of the connections: it reads the key stores and credentials that the settings name. The error is an
// *Error. It may be called once.
func (m *Settings) Connect(getenv func(string) string) (Connection, error) {
	b := &builder{Settings: m, getenv: getenv}
	for _, step := range []func() error{b.refuseForeignCode, b.bootstrap, b.times, b.protocol, b.tls, b.sasl} {
		if err := step(); err != nil {
			return Connection{}, err
		}
	}
	for _, s := range m.InForce() {
		if s.Note != "" {
			b.note(s.Note)
		}
	}
	return b.c, nil
}

// builder makes a Connection step by step.
type builder struct {
	*Settings
	getenv func(string) string
	c      Connection
}

func (b *builder) note(text string) {
	if !slices.Contains(b.c.Notes, text) {
		b.c.Notes = append(b.c.Notes, text)
	}
}

func (b *builder) remark(text string) { b.c.Remarks = append(b.c.Remarks, text) }

// refuseForeignCode names what only a Java program could do.
func (b *builder) refuseForeignCode() error {
	if b.get(keyProviders) != "" {
		for _, s := range b.InForce() {
			if strings.Contains(s.Value, "${") && s.Key != keyProviders {
				return b.bad(s.Key, "-X '"+s.Key+"=$VARIABLE' in its place", "references in values (config.providers) are not supported")
			}
		}
	}
	for _, key := range []string{keyClientCallback, keyLoginCallback, keyTokenRetriever} {
		class := b.get(key)
		switch {
		case class == "", isKafkas(class), class == strimziLogin:
		case strings.Contains(class, ".msk."):
			return b.bad(key, mskHint, "AWS_MSK_IAM is not supported")
		default:
			return b.bad(key, "leave it out, if the cluster takes a plain user and password or token", "%s is Java code, which gtoffset cannot run", class)
		}
	}
	return nil
}

const (
	mskHint      = "an MSK cluster takes SCRAM-SHA-512 on port 9096, or a client certificate on 9094, where these are enabled"
	strimziLogin = "io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler"
)

// isKafkas knows the classes of Kafka that do what gtoffset does itself.
func isKafkas(class string) bool {
	rest, kafkas := strings.CutPrefix(class, "org.apache.kafka.common.security.oauthbearer.")
	rest = strings.TrimPrefix(rest, "secured.")
	switch rest {
	case "OAuthBearerLoginCallbackHandler", "OAuthBearerSaslClientCallbackHandler", "DefaultJwtRetriever", "ClientCredentialsJwtRetriever", "FileJwtRetriever":
		return kafkas
	}
	return false
}

func (b *builder) bootstrap() error {
	b.c.Source = b.used[keyBootstrap].Source
	for a := range strings.SplitSeq(b.get(keyBootstrap), ",") {
		if a = strings.TrimSpace(a); a == "" {
			continue
		}
		if i := strings.Index(a, "://"); i >= 0 { // librdkafka takes PLAINTEXT://host:port
			a = a[i+3:]
		}
		a = withPort(a)
		host, port, err := net.SplitHostPort(a)
		if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n == 0 || host == "" {
			return &Error{Source: b.c.Source, Reason: strconv.Quote(a) + " is no address of a broker", Hint: "-b HOST:PORT, as kafka1:9092"}
		}
		b.c.Bootstrap = append(b.c.Bootstrap, a)
	}
	return nil
}

// withPort adds Kafka's usual port to a bare host.
func withPort(a string) string {
	if i := strings.LastIndexByte(a, ':'); i < 0 || strings.HasSuffix(a, "]") {
		return a + ":9092"
	}
	return a
}

func (b *builder) times() (err error) {
	b.c.Wire.ClientID = b.get(keyClientID)
	if b.c.Wire.Timeout, err = b.millis(keyRequestTimeout, 1); err != nil {
		return err
	}
	if b.c.Timeout, err = b.millis(keyAPITimeout, 1000); err != nil {
		return err
	}
	lookup, err := b.oneOf(keyDNS, "", "use_all_dns_ips", "resolve_canonical_bootstrap_servers_only", "default")
	b.c.Wire.Canonical = lookup == "resolve_canonical_bootstrap_servers_only"
	return err
}

// millis is a time in milliseconds, 0 if it is not set.
func (b *Settings) millis(key string, least int64) (time.Duration, error) {
	text := b.get(key)
	if text == "" {
		return 0, nil
	}
	const most = 24 * 60 * 60 * 1000
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, b.bad(key, "", "%q is no number of milliseconds from %d to %d", text, least, most)
	}
	return time.Duration(n) * time.Millisecond, nil
}

func (b *builder) protocol() error {
	p, err := b.oneOf(keyProtocol, Plaintext, Plaintext, SSL, SASLPlaintext, SASLSSL)
	if err != nil {
		return err
	}
	b.c.Protocol = p
	if p == Plaintext || p == SSL {
		for _, key := range []string{keyJAAS, keyUser, keyPassword, keyKeytab} {
			if b.has(key) {
				b.note(b.used[key].Source + ": " + key + " is of no use: security.protocol is " + p + ", which does not log in; SASL_" + p + " does")
				break
			}
		}
	}
	return nil
}
