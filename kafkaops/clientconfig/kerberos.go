package clientconfig

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"gtoffset/kafkaops/wire/gssapi"
)

// kerberos makes GSSAPI: from a keytab, a password, or the credential cache of kinit.
func (b *builder) kerberos(l login) error {
	service := l.options["serviceName"]
	switch given := b.get(keyService); {
	case service != "" && given != "" && service != given:
		return b.bad(keyService, "", "is %q, but serviceName of %s is %q", given, keyJAAS, service)
	case service == "":
		service = cmp.Or(given, "kafka")
	}
	c := gssapi.Config{Conf: b.krb5conf(), Service: service, User: b.option(l, keyPrincipal, "principal")}
	if c.User == "" && l.module == "" {
		c.User = b.get(keyUser)
	}
	useKeytab := strings.EqualFold(l.options["useKeyTab"], "true")
	useCache := strings.EqualFold(l.options["useTicketCache"], "true")
	keytab := strings.TrimPrefix(strings.TrimPrefix(b.option(l, keyKeytab, "keyTab"), "FILE:"), "file:")
	password := b.used[keyPassword].Value
	where := keyJAAS // the key to name where it goes wrong
	switch {
	case password != "" && b.before(keyPassword, keyJAAS) && (!b.has(keyKeytab) || b.before(keyPassword, keyKeytab)): // it overrules the login line
		c.Password, where = password, keyPassword
	case useKeytab && keytab == "":
		return b.bad(keyJAAS, "", "useKeyTab is true, but there is no keyTab")
	case keytab != "" && (l.module == "" || useKeytab || b.has(keyKeytab)):
		c.Keytab = keytab
		if b.has(keyKeytab) {
			where = keyKeytab
		}
		if open(keytab) {
			b.note(keytab + " holds a secret and can be read by everybody: chmod 600 " + keytab)
		}
	case password != "" && !useCache:
		c.Password, where = password, keyPassword
	default:
		var err error
		if c.Cache, err = b.cache(l); err != nil {
			return err
		}
	}
	if !b.has(where) {
		where = keyMechanism
	}
	if c.User == "" && c.Cache == "" {
		return b.bad(where, "-X "+keyPrincipal+"=NAME@REALM", "nothing says who logs in: principal of %s, or %s", keyJAAS, keyPrincipal)
	}
	m, err := gssapi.New(c)
	if err != nil {
		hint := ""
		if file := (*gssapi.FileError)(nil); errors.As(err, &file) {
			switch file.What {
			case "krb5.conf":
				hint = "export KRB5_CONFIG=/path/krb5.conf"
			case "credential cache":
				hint = "kinit " + cmp.Or(c.User, "NAME@REALM")
			}
		}
		return b.bad(where, hint, "%v", err)
	}
	b.c.User, b.c.Wire.SASL = m.User(), m
	return nil
}

// before reports whether key was set in an earlier layer than other, which was set, too.
func (b *builder) before(key, other string) bool {
	return b.has(key) && b.has(other) && b.used[key].rank < b.used[other].rank
}

// krb5conf is where Kerberos' own configuration lies.
func (b *builder) krb5conf() string {
	first, _, _ := strings.Cut(b.getenv("KRB5_CONFIG"), ":")
	return cmp.Or(first, "/etc/krb5.conf")
}

// cache is the credential cache: named, or where kinit puts it.
func (b *builder) cache(l login) (string, error) {
	name, from := l.options["ticketCache"], keyJAAS
	if name == "" {
		name, from = b.getenv("KRB5CCNAME"), "KRB5CCNAME"
	}
	kind, path, typed := strings.Cut(name, ":")
	switch {
	case name == "":
		return fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid()), nil
	case typed && kind == "FILE":
		return path, nil
	case typed && !strings.Contains(kind, "/"):
		return "", &Error{Source: cmp.Or(b.used[from].Source, from), Key: "credential cache", Reason: fmt.Sprintf("type %s is not supported, only FILE", kind), Hint: "KRB5CCNAME=FILE:/tmp/krb5cc kinit NAME@REALM"}
	}
	return name, nil
}
