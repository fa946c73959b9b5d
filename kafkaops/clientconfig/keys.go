package clientconfig

import (
	"strings"
)

// Key is one thing that can be set.
type Key struct {
	Name   string   // as Java clients have it, or librdkafka where they have none
	Also   []string // what other clients call the same
	Secret bool
	File   bool     // the value is a path
	Text   string   // what it is for, in a few words
	Values []string // all that it can be, where that is a few words
}

// The keys, by name.
const (
	keyBootstrap       = "bootstrap.servers"
	keyClientID        = "client.id"
	keyDNS             = "client.dns.lookup"
	keyRequestTimeout  = "request.timeout.ms"
	keyAPITimeout      = "default.api.timeout.ms"
	keyProtocol        = "security.protocol"
	keyMechanism       = "sasl.mechanism"
	keyJAAS            = "sasl.jaas.config"
	keyUser            = "sasl.username"
	keyPassword        = "sasl.password"
	keyService         = "sasl.kerberos.service.name"
	keyPrincipal       = "sasl.kerberos.principal"
	keyKeytab          = "sasl.kerberos.keytab"
	keyTokenURL        = "sasl.oauthbearer.token.endpoint.url"
	keyTokenClient     = "sasl.oauthbearer.client.credentials.client.id"
	keyTokenSecret     = "sasl.oauthbearer.client.credentials.client.secret"
	keyTokenScope      = "sasl.oauthbearer.scope"
	keyTokenExtensions = "sasl.oauthbearer.extensions"
	keyTokenUnsecured  = "enable.sasl.oauthbearer.unsecure.jwt"
	keyTokenConfig     = "sasl.oauthbearer.config"
	keyTokenCA         = "https.ca.location"
	keyTokenRetriever  = "sasl.oauthbearer.jwt.retriever.class"
	keyLoginCallback   = "sasl.login.callback.handler.class"
	keyClientCallback  = "sasl.client.callback.handler.class"
	keyTrustFile       = "ssl.truststore.location"
	keyTrustPassword   = "ssl.truststore.password"
	keyTrustType       = "ssl.truststore.type"
	keyTrustPEM        = "ssl.truststore.certificates"
	keyStoreFile       = "ssl.keystore.location"
	keyStorePassword   = "ssl.keystore.password"
	keyStoreType       = "ssl.keystore.type"
	keyStoreKey        = "ssl.keystore.key"
	keyStoreChain      = "ssl.keystore.certificate.chain"
	keyKeyPassword     = "ssl.key.password"
	keyCertFile        = "ssl.certificate.location"
	keyKeyFile         = "ssl.key.location"
	keyHostCheck       = "ssl.endpoint.identification.algorithm"
	keyVerify          = "enable.ssl.certificate.verification"
	keyTLSVersions     = "ssl.enabled.protocols"
	keyProviders       = "config.providers"
)

// Keys lists everything that is used, in the order in which it is shown.
func Keys() []Key {
	return []Key{
		{Name: keyBootstrap, Also: []string{"metadata.broker.list"}, Text: "brokers to start from"},
		{Name: keyClientID, Text: "the name that brokers log and count quotas by; gtoffset"},
		{Name: keyDNS, Text: "resolve_canonical_bootstrap_servers_only: connect by the names that the addresses have, as Kerberos may need it; else all addresses of a name are tried"},
		{Name: keyRequestTimeout, Text: "how long one silent broker is waited for, once in a look; 2000"},
		{Name: keyAPITimeout, Text: "the bound of one look, as --timeout"},
		{Name: keyProtocol, Text: "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL; PLAINTEXT", Values: []string{"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"}},
		{Name: keyMechanism, Also: []string{"sasl.mechanisms"}, Text: "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or GSSAPI; GSSAPI", Values: []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI"}},
		{Name: keyJAAS, Secret: true, Text: "who logs in, as Java clients write it: MODULE required NAME=\"VALUE\" …;"},
		{Name: keyUser, Text: "the user of PLAIN and SCRAM, where there is no sasl.jaas.config"},
		{Name: keyPassword, Secret: true, Text: "the password of PLAIN and SCRAM, and of Kerberos without keytab"},
		{Name: keyService, Text: "first part of the brokers' principal in Kerberos; kafka"},
		{Name: keyPrincipal, Text: "the user in Kerberos, NAME or NAME@REALM"},
		{Name: keyKeytab, File: true, Text: "file with the user's keys"},
		{Name: keyTokenURL, Text: "where tokens come from: an https:// address for client credentials, or file:///PATH"},
		{Name: keyTokenClient, Also: []string{"sasl.oauthbearer.client.id"}, Text: "client id at the token endpoint"},
		{Name: keyTokenSecret, Also: []string{"sasl.oauthbearer.client.secret"}, Secret: true, Text: "its secret"},
		{Name: keyTokenScope, Text: "scopes to ask for"},
		{Name: keyTokenExtensions, Text: "SASL extensions for the broker, NAME=VALUE,…"},
		{Name: keyTokenUnsecured, Text: "true: make unsigned tokens, for tests"},
		{Name: keyTokenConfig, Secret: true, Text: "claims of unsigned tokens: principal=NAME scope=…"},
		{Name: keyTokenCA, File: true, Text: "CA of the token endpoint, PEM; else those of the system"},
		{Name: keyTokenRetriever, Text: "Kafka's own classes for client credentials and files; others cannot be run here"},
		{Name: keyLoginCallback, Text: "Kafka's own class for OAUTHBEARER; others cannot be run here"},
		{Name: keyClientCallback, Text: "cannot be run here; AWS_MSK_IAM is not supported"},
		{Name: keyTrustFile, File: true, Also: []string{"ssl.ca.location"}, Text: "file of the CAs to trust: PEM, PKCS12 or JKS, told by its content; else those of the system"},
		{Name: keyTrustPassword, Secret: true, Text: "its password"},
		{Name: keyTrustType, Text: "not needed: the content tells"},
		{Name: keyTrustPEM, Also: []string{"ssl.ca.pem"}, Text: "the CAs themselves, PEM"},
		{Name: keyStoreFile, File: true, Text: "file of the client's key and certificate: PEM, PKCS12 or JKS, told by its content"},
		{Name: keyStorePassword, Secret: true, Text: "its password"},
		{Name: keyStoreType, Text: "not needed: the content tells"},
		{Name: keyStoreKey, Also: []string{"ssl.key.pem"}, Secret: true, Text: "the client's key itself, PEM"},
		{Name: keyStoreChain, Also: []string{"ssl.certificate.pem"}, Text: "the client's certificate and its chain, PEM"},
		{Name: keyKeyPassword, Secret: true, Text: "password of the key: in a JKS, or of an encrypted PEM"},
		{Name: keyCertFile, File: true, Text: "file of the client's certificate, PEM"},
		{Name: keyKeyFile, File: true, Text: "file of its key, PEM"},
		{Name: keyHostCheck, Text: "empty or none: the broker's certificate may be of another host; https"},
		{Name: keyVerify, Text: "false: any certificate of the broker is taken"},
		{Name: keyTLSVersions, Text: "TLSv1.2, TLSv1.3, or both"},
		{Name: keyProviders, Text: "references in values, as ${env:NAME}, are not supported"},
	}
}

// holdsSecret reports whether a value of the key is one to keep: login lines may only name a file.
func (k Key) holdsSecret(value string) bool {
	if k.Name != keyJAAS {
		return k.Secret
	}
	value = strings.ToLower(value)
	return strings.Contains(value, "password") || strings.Contains(value, "secret") || strings.Contains(value, "token")
}

// find is the key with a name, which may be another client's.
func find(name string) (Key, bool) {
	for _, k := range Keys() {
		if k.Name == name {
			return k, true
		}
		for _, also := range k.Also {
			if also == name {
				return k, true
			}
		}
	}
	return Key{}, false
}

// variable is the environment's name of a key.
func variable(prefix, key string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// kafkaVariables are the keys that are taken from KAFKA_…, too. Others are left out: images of brokers set them for the broker.
func kafkaVariables() []string {
	return []string{keyBootstrap, keyProtocol, keyMechanism, keyJAAS, keyUser, keyPassword}
}
