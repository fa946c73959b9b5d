package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The listeners of Secured, beside the plain one, where everybody may do everything.
const (
	SASL    = "SASL"    // PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER (unsigned tokens), without TLS
	TLS     = "TLS"     // no login
	Mutual  = "MUTUAL"  // client certificates
	SASLTLS = "SASLTLS" // PLAIN and SCRAM over TLS
	GSS     = "GSS"     // Kerberos, advertised as localhost
	Brief   = "BRIEF"   // PLAIN, logged in for three seconds
	Expired = "EXPIRED" // TLS with a certificate that is over
	Lost    = "LOST"    // advertises a name that does not resolve
	Dead    = "DEAD"    // advertises a port where nothing listens
)

// Secured is one broker with a listener for each way to log in, its certificates and its KDC. Users log in with NAME and NAME-secret:
// admin, alice and bob. Admin, alice and whoever does not log in may do everything, bob what Allow lets him.
type Secured struct {
	*Cluster
	Certs Certs
	KDC   *KDC
	dir   string
}

// Secure starts it. It ends with Stop.
func Secure(ctx context.Context) (_ *Secured, err error) {
	s := &Secured{}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	if s.dir, err = os.MkdirTemp("", "gtoffset-certs-"); err != nil {
		return nil, err
	}
	if s.Certs, err = NewCerts(s.dir); err != nil {
		return nil, err
	}
	store, err := s.keystore("server", s.Certs.ServerKey, s.Certs.ServerCert)
	if err != nil {
		return nil, err
	}
	over, err := s.keystore("expired", s.Certs.ExpiredKey, s.Certs.ExpiredCert)
	if err != nil {
		return nil, err
	}
	if s.KDC, err = Kerberos(ctx); err != nil {
		return nil, err
	}
	closed, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	s.Cluster, err = Kafka(
		ctx, Current, 1,
		Listeners(s.listeners(over, closed[0])...),
		Properties(
			"ssl.keystore.type=PEM", "ssl.keystore.location="+store,
			"ssl.truststore.type=PEM", "ssl.truststore.location="+s.Certs.CA,
			"authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
			"super.users=User:ANONYMOUS;User:admin;User:alice;User:CN=alice;User:carol",
		),
		brokerFlags("-Djava.security.krb5.conf="+s.KDC.Conf),
		formatted("--add-scram", "SCRAM-SHA-256=[name=alice,password=alice-secret]", "--add-scram", "SCRAM-SHA-512=[name=alice,password=alice-secret]"),
	)
	return s, err
}

func (s *Secured) listeners(expired string, closed int) []Listener {
	const security = "org.apache.kafka.common.security."
	plain := "plain.sasl.jaas.config=" + security + `plain.PlainLoginModule required user_admin="admin-secret" user_alice="alice-secret" user_bob="bob-secret";`
	scram := func(size string) string {
		return "scram-sha-" + size + ".sasl.jaas.config=" + security + "scram.ScramLoginModule required;"
	}
	oauth := "oauthbearer.sasl.jaas.config=" + security + `oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="admin";`
	kerberos := `gssapi.sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true keyTab="` +
		s.KDC.Keytab("kafka") + `" principal="kafka/localhost@` + Realm + `";`
	return []Listener{
		{Name: SASL, Protocol: "SASL_PLAINTEXT", Properties: []string{"sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER", plain, scram("256"), scram("512"), oauth}},
		{Name: TLS, Protocol: "SSL"},
		{Name: Mutual, Protocol: "SSL", Properties: []string{"ssl.client.auth=required"}},
		{Name: SASLTLS, Protocol: "SASL_SSL", Properties: []string{"sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512", plain, scram("256"), scram("512")}},
		{Name: GSS, Protocol: "SASL_PLAINTEXT", Host: "localhost", Properties: []string{"sasl.enabled.mechanisms=GSSAPI", "sasl.kerberos.service.name=kafka", kerberos}},
		{Name: Brief, Protocol: "SASL_PLAINTEXT", Properties: []string{"sasl.enabled.mechanisms=PLAIN", plain, "plain.connections.max.reauth.ms=3000"}},
		{Name: Expired, Protocol: "SSL", Properties: []string{"ssl.keystore.type=PEM", "ssl.keystore.location=" + expired}},
		{Name: Lost, Protocol: "SASL_PLAINTEXT", Host: "no.such.host.invalid", Properties: []string{"sasl.enabled.mechanisms=PLAIN", plain}},
		{Name: Dead, Protocol: "SASL_PLAINTEXT", Port: closed, Properties: []string{"sasl.enabled.mechanisms=PLAIN", plain}},
	}
}

// keystore writes key and chain into one file, as Kafka reads PEM.
func (s *Secured) keystore(name string, files ...string) (string, error) {
	var all []byte
	for _, path := range append(files, s.Certs.CA) {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		all = append(all, text...)
	}
	path := filepath.Join(s.dir, name+".all.pem")
	return path, os.WriteFile(path, all, 0o600)
}

// Port is the port of a listener.
func (s *Secured) Port(listener string) string {
	addr := s.Addr(listener)
	return addr[strings.LastIndexByte(addr, ':')+1:]
}

// Allow lets bob do something: READ, DESCRIBE, … with one topic or group.
func (s *Secured) Allow(ctx context.Context, what kmsg.ACLResourceType, name string, operation kmsg.ACLOperation) error {
	q := kmsg.NewPtrCreateACLsRequest()
	c := kmsg.NewCreateACLsRequestCreation()
	c.ResourceType, c.ResourceName, c.ResourcePatternType = what, name, kmsg.ACLResourcePatternTypeLiteral
	c.Principal, c.Host, c.Operation, c.PermissionType = "User:bob", "*", operation, kmsg.ACLPermissionTypeAllow
	q.Creations = append(q.Creations, c)
	answer, err := request[*kmsg.CreateACLsResponse](ctx, s.Cluster, q)
	if err != nil {
		return fmt.Errorf("allow %v on %v %s: %w", operation, what, name, err)
	}
	return kerr.ErrorForCode(answer.Results[0].ErrorCode)
}

// Stop ends broker and KDC, and removes all of it.
func (s *Secured) Stop() {
	if s.Cluster != nil {
		s.Cluster.Stop()
	}
	if s.KDC != nil {
		s.KDC.Stop()
	}
	os.RemoveAll(s.dir)
}
