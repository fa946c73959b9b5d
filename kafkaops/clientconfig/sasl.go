package clientconfig

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/segmentio/kafka-go/sasl/plain"

	"gtoffset/kafkaops/wire"
)

// The mechanisms, as Kafka names them.
const (
	plainMechanism = "PLAIN"
	scram256       = "SCRAM-SHA-256"
	scram512       = "SCRAM-SHA-512"
	oauthBearer    = "OAUTHBEARER"
	kerberos       = "GSSAPI"
)

// mskMechanism is Amazon's own.
const mskMechanism = "AWS_MSK_IAM"

// sasl makes the mechanism and its credentials.
func (b *builder) sasl() error {
	if b.c.Protocol != SASLPlaintext && b.c.Protocol != SASLSSL {
		return nil
	}
	if b.get(keyMechanism) == mskMechanism {
		return b.bad(keyMechanism, mskHint, "AWS_MSK_IAM is not supported")
	}
	mechanism, err := b.oneOf(keyMechanism, kerberos, plainMechanism, scram256, scram512, oauthBearer, kerberos)
	if err != nil {
		return err
	}
	b.c.Mechanism = mechanism
	l, err := b.login()
	if err != nil {
		return err
	}
	switch mechanism {
	case oauthBearer:
		return b.oauth(l)
	case kerberos:
		return b.kerberos(l)
	}
	return b.password(l)
}

// modules are the login modules that go with a mechanism. Those of user and password serve for each other, in Java, too.
func modules(mechanism string) []string {
	switch mechanism {
	case oauthBearer:
		return []string{"OAuthBearerLoginModule"}
	case kerberos:
		return []string{"Krb5LoginModule"}
	case plainMechanism:
		return []string{"PlainLoginModule", "ScramLoginModule"}
	}
	return []string{"ScramLoginModule", "PlainLoginModule"}
}

// login reads sasl.jaas.config. Where sasl.username and the like come from a layer before it, they count instead; without either the
// login has no options.
func (b *builder) login() (login, error) {
	if b.get(keyJAAS) == "" {
		return login{}, nil
	}
	l, err := parseJAAS(b.get(keyJAAS))
	if err != nil {
		return login{}, b.bad(keyJAAS, "", "%v", err)
	}
	if strings.HasSuffix(l.module, ".IAMLoginModule") {
		return login{}, b.bad(keyJAAS, mskHint, "AWS_MSK_IAM is not supported")
	}
	want := modules(b.c.Mechanism)
	if !slices.Contains(want, l.kind()) {
		return login{}, b.bad(keyJAAS, "", "its login module is %s, but %s takes %s (%s)", l.kind(), b.c.Mechanism, want[0], cmp.Or(b.used[keyMechanism].Source, "the default of "+keyMechanism))
	}
	return l, nil
}

// option is a setting that a login module can give, too. The one of the layer that comes first counts, and in one layer the module's.
func (b *builder) option(l login, key string, names ...string) string {
	value, there := "", false
	for _, n := range names {
		if v, ok := l.options[n]; ok {
			value, there = v, true
			break
		}
	}
	s, set := b.used[key]
	switch {
	case !there:
		return s.Value
	case set && s.rank < b.used[keyJAAS].rank:
		return s.Value
	case set:
		b.idle(key)
	}
	return value
}

// password is PLAIN, or SCRAM.
func (b *builder) password(l login) error {
	user, password := b.option(l, keyUser, "username"), b.option(l, keyPassword, "password")
	if user == "" || password == "" {
		what, option := "user", "username"
		if user != "" {
			what, option = "password", "password"
		}
		return b.missing(l, what, option)
	}
	b.c.User = user
	if b.c.Mechanism == plainMechanism {
		b.c.Wire.SASL = plain.Mechanism{Username: user, Password: password}
		if b.c.Protocol == SASLPlaintext {
			b.remark("the password goes over the network as it is: " + SASLPlaintext + " with " + plainMechanism)
		}
		return nil
	}
	b.c.Wire.SASL = wire.Scram{Username: user, Password: password, SHA512: b.c.Mechanism == scram512, Token: strings.EqualFold(l.options["tokenauth"], "true")}
	return nil
}

// missing says which credential is not there, and where it could have been.
func (b *builder) missing(l login, what, option string) error {
	hint := fmt.Sprintf("-X sasl.username=USER -X 'sasl.password=$VARIABLE'; what Java takes from java.security.auth.login.config belongs into %s", keyJAAS)
	if l.module == "" {
		return &Error{Source: cmp.Or(b.used[keyMechanism].Source, b.used[keyProtocol].Source), Key: keyMechanism, Reason: b.c.Mechanism + " needs a user and a password; no " + what + " is given", Hint: hint}
	}
	for name := range l.options {
		if name != option && strings.EqualFold(name, option) {
			return b.bad(keyJAAS, "", "%s is written %s", name, option)
		}
	}
	return b.bad(keyJAAS, "", "%s has no option %s", l.kind(), option)
}
