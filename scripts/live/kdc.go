package live

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A KDC is MIT Kerberos for the realm TEST.LOCAL, with the users alice and bob (by keytab), carol (by password, and with
// pre-authentication), and a broker on localhost.
type KDC struct {
	*service
	Conf  string // krb5.conf, for KRB5_CONFIG
	port  int
	wrong time.Duration // how far its clock is ahead
}

// Realm is the realm of the KDC, CarolsPassword her password in it.
const (
	Realm          = "TEST.LOCAL"
	CarolsPassword = "carol-secret"
)

// Kerberos starts a KDC. It ends with Stop.
func Kerberos(ctx context.Context) (*KDC, error) { return KerberosAt(ctx, 0) }

// KerberosAt starts one whose clock is ahead by so much, or behind. That takes faketime.
func KerberosAt(ctx context.Context, wrong time.Duration) (*KDC, error) {
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	s, err := newService("kdc", "starting")
	if err != nil {
		return nil, err
	}
	k := &KDC{service: s, Conf: filepath.Join(s.dir, "krb5.conf"), port: ports[0], wrong: wrong}
	s.command = k.serve
	if err := k.found(ctx); err != nil {
		k.Stop()
		return nil, fmt.Errorf("make a Kerberos realm: %w", err)
	}
	if err := s.Start(ctx); err != nil {
		k.Stop()
		return nil, err
	}
	return k, nil
}

// Keytab is the file with the keys of alice, bob or kafka.
func (k *KDC) Keytab(name string) string { return filepath.Join(k.dir, name+".keytab") }

// Login gets a ticket for alice by kinit, for so many seconds, into a new cache, whose path it returns.
func (k *KDC) Login(ctx context.Context, seconds int, cache string) error {
	_, err := output(ctx, k.tool("kinit", "-c", "FILE:"+cache, "-l", fmt.Sprintf("%ds", seconds), "-kt", k.Keytab("alice"), "alice@"+Realm))
	return err
}

// serve is the command of the KDC itself.
func (k *KDC) serve() *exec.Cmd {
	cmd := k.tool("krb5kdc", "-n", "-r", Realm)
	if k.wrong != 0 {
		cmd = k.tool("faketime", append([]string{"-f", fmt.Sprintf("%+d", int(k.wrong.Seconds())), cmd.Path}, cmd.Args[1:]...)...)
		cmd.Env = append(cmd.Env, "FAKETIME_DONT_FAKE_MONOTONIC=1")
	}
	return cmd
}

func (k *KDC) tool(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	if path, err := exec.LookPath(filepath.Join("/usr/sbin", name)); err == nil { // not on everybody's PATH
		cmd = exec.Command(path, args...)
	}
	cmd.Env = append(os.Environ(), "KRB5_CONFIG="+k.Conf, "KRB5_KDC_PROFILE="+filepath.Join(k.dir, "kdc.conf"))
	return cmd
}

// found writes the configuration and makes the realm.
func (k *KDC) found(ctx context.Context) error {
	files := map[string]string{
		"krb5.conf": `[libdefaults]
 default_realm = REALM
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
[realms]
 REALM = {
  kdc = ADDRESS
 }
[domain_realm]
 localhost = REALM
`,
		"kdc.conf": `[kdcdefaults]
 kdc_listen = ADDRESS
 kdc_tcp_listen = ADDRESS
[realms]
 REALM = {
  database_name = FOLDER/principal
  key_stash_file = FOLDER/stash
  acl_file = FOLDER/acl
  max_life = 10h
 }
[logging]
 kdc = STDERR
 default = STDERR
`,
	}
	fill := strings.NewReplacer("REALM", Realm, "ADDRESS", fmt.Sprintf("127.0.0.1:%d", k.port), "FOLDER", k.dir)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(k.dir, name), []byte(fill.Replace(text)), 0o644); err != nil {
			return err
		}
	}
	if _, err := output(ctx, k.tool("kdb5_util", "create", "-s", "-P", "master", "-r", Realm)); err != nil {
		return err
	}
	queries := []string{"addprinc +requires_preauth -pw " + CarolsPassword + " carol@" + Realm}
	for _, p := range []string{"kafka/localhost", "alice", "bob"} {
		name, _, _ := strings.Cut(p, "/")
		queries = append(queries, "addprinc -randkey "+p+"@"+Realm, "ktadd -k "+k.Keytab(name)+" "+p+"@"+Realm)
	}
	cmd := k.tool("kadmin.local", "-r", Realm)
	cmd.Stdin = strings.NewReader(strings.Join(queries, "\n") + "\nquit\n")
	_, err := output(ctx, cmd)
	return err
}
