package cmd

import (
	"fmt"
	"slices"
	"strings"

	"gtoffset/kafkaops/wire"
)

// ofBroker is the part of exit.go's map that is about a broker that was not reached, or refused us.
func ofBroker(e *wire.Error) problem {
	p := problem{code: exitUnreachable, causes: []cause{causeOfBroker(e)}, text: e.Error(), hint: connectHint(e)}
	switch why := e.Why(); {
	case why == "":
	case p.hint == "":
		p.hint = why
	default:
		p.text += "; " + why
	}
	return p
}

// causeOfBroker is the cause of a broker that was not reached, or refused us, as a word for programs.
func causeOfBroker(e *wire.Error) cause {
	switch e.Cause {
	case wire.CauseAddress, wire.CauseNotKafka:
		return causeAddress
	case wire.CauseWantsTLS, wire.CauseNoTLS, wire.CauseHandshake, wire.CauseUnknownCA, wire.CauseHostName, wire.CauseExpired:
		return causeTLS
	case wire.CauseWantsCertificate, wire.CauseCertificate, wire.CauseWantsSASL, wire.CauseNoSASL, wire.CauseMechanism, wire.CauseCredentials,
		wire.CauseToken, wire.CauseTicket, wire.CauseService, wire.CauseClock:
		return causeAuthentication
	}
	return causeUnreachable
}

// connectHint is what can be typed next, by the cause of a failure; "" where only the cause can be told.
func connectHint(e *wire.Error) string {
	plain := "PLAINTEXT"
	if e.TLS {
		plain = "SSL"
	}
	switch e.Cause {
	case wire.CauseAddress:
		return "-b HOST:PORT, as kafka1:9092"
	case wire.CauseUnresolved:
		if e.Via != "" {
			return "make the name known here (DNS, /etc/hosts), or let the broker advertise another (advertised.listeners)"
		}
		return "check the name in -b, or in bootstrap.servers"
	case wire.CauseRefused:
		if e.Via != "" {
			return "is the broker up? else its advertised.listeners is wrong for where gtoffset runs"
		}
		return "is the broker up, and this its port?"
	case wire.CauseNotKafka:
		return "-b HOST:PORT of a Kafka listener"
	case wire.CauseWantsTLS:
		return "add -X security.protocol=SSL, or SASL_SSL where users log in; if the system does not know its CA, -X ssl.truststore.location=CA.pem"
	case wire.CauseNoTLS:
		return noTLSHint(e)
	case wire.CauseHandshake:
		return "-X ssl.enabled.protocols=TLSv1.2,TLSv1.3"
	case wire.CauseUnknownCA:
		return "-X ssl.truststore.location=CA.pem, with the CA that signed it (PEM, PKCS12 or JKS)"
	case wire.CauseHostName:
		return "-b with a name of the certificate; if it cannot be mended, -X ssl.endpoint.identification.algorithm= takes any name"
	case wire.CauseExpired:
		return "renew the broker's certificate, or set the clock of this machine"
	case wire.CauseWantsCertificate:
		return "-X ssl.keystore.location=FILE (PEM, PKCS12 or JKS) -X 'ssl.keystore.password=$PASSWORD', or -X ssl.certificate.location=CERT.pem -X ssl.key.location=KEY.pem"
	case wire.CauseCertificate:
		return "gtoffset config shows where the certificate comes from"
	case wire.CauseWantsSASL:
		return fmt.Sprintf("-X security.protocol=SASL_%s -X sasl.mechanism=%s -X sasl.username=USER -X 'sasl.password=$PASSWORD'", plain, mechanism(e.Offered))
	case wire.CauseNoSASL:
		return "-X security.protocol=" + plain + ", or the port of a listener where users log in"
	}
	return loginHint(e)
}

// loginHint is connectHint for credentials.
func loginHint(e *wire.Error) string {
	switch e.Cause {
	case wire.CauseMechanism:
		return "-X sasl.mechanism=" + mechanism(e.Offered)
	case wire.CauseCredentials:
		return "gtoffset config shows who logs in, and where user and password come from"
	case wire.CauseToken, wire.CauseIssuer:
		return "gtoffset config shows where tokens come from"
	case wire.CauseTicket:
		return "kinit"
	case wire.CauseService:
		return "name the broker as Kerberos knows it, by its name and not its address; -X sasl.kerberos.service.name=NAME if it is not kafka"
	case wire.CauseKDC:
		return "check the realm in krb5.conf; export KRB5_CONFIG=FILE names another"
	case wire.CauseClock:
		return "set the clock of this machine: timedatectl set-ntp true"
	}
	return ""
}

func noTLSHint(e *wire.Error) string {
	switch {
	case !e.Sure:
		return "-X security.protocol=PLAINTEXT, or SASL_PLAINTEXT where users log in; or the port of a listener with TLS"
	case len(e.Offered) > 0:
		return fmt.Sprintf("-X security.protocol=SASL_PLAINTEXT (it offers %s), or the port of a listener with TLS", strings.Join(e.Offered, ", "))
	}
	return "-X security.protocol=PLAINTEXT, or the port of a listener with TLS"
}

// mechanism is the best of those that a listener offers and gtoffset has.
func mechanism(offered []string) string {
	for _, m := range []string{"SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN", "OAUTHBEARER", "GSSAPI"} {
		if slices.Contains(offered, m) {
			return m
		}
	}
	return "MECHANISM"
}
