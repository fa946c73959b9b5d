package cmd_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pavlo-v-chernykh/keystore-go/v4"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
	"software.sslmate.com/src/go-pkcs12"

	"gtoffset/kafkaops/kafkatest"
)

// Every case of CON: what is wrong with a connection is said, soon, in few words, with what can be typed next.
func TestConnectionCases(t *testing.T) {
	t.Parallel()
	two := [][2]int64{{500, 900}, {0, 900}}
	brief := func(t *testing.T, r result) {
		t.Helper()
		if len(r.err) > 2000 || strings.Contains(r.err, "goroutine") || strings.Contains(r.err, "Usage") || strings.Count(r.err, "gtoffset: error:") != 1 {
			t.Errorf("a dump, or more than one error\n%v", r)
		}
	}
	t.Run("CON-1 no TLS where it is wanted", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		w.vars["GTOFFSET_BOOTSTRAP_SERVER"] = answering(t, "\x15\x03\x03\x00\x02\x02\x50") // as Kafka's TLS listener does: a fatal alert
		for _, args := range [][]string{{"describe"}, {"describe", "-g", "billing"}, {"clamp", "-g", "billing", "--execute"}, {"export", "-g", "billing"}} {
			brief(t, w.run(args...).exits(5).says("expects TLS", "hint: add -X security.protocol=SSL"))
		}
		w.vars["GTOFFSET_BOOTSTRAP_SERVER"] = answering(t, "HTTP/1.1 400 Bad Request\r\n")
		brief(t, w.run("describe").exits(5).says("is an HTTP server, not a Kafka broker"))
		w.vars["GTOFFSET_BOOTSTRAP_SERVER"] = answering(t, "\x7f\xff\xff\xff nothing of ours")
		brief(t, w.run("describe").exits(5).says("is not a Kafka broker"))
	})
	t.Run("CON-3 TLS where there is none", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		brief(t, w.run("describe", "-X", "security.protocol=SSL", "-X", "request.timeout.ms=2000").exits(5).says("answers without TLS", "hint: -X security.protocol="))
		login := startWith(t, kafkatest.Options{Brokers: 1, Plain: true, Extra: []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("PLAIN", "alice", "hush")}})
		brief(t, login.run("describe", "-X", "security.protocol=SSL", "-X", "request.timeout.ms=2000").exits(5).says("answers without TLS", "hint: -X security.protocol=SASL_PLAINTEXT"))
		w.vars["GTOFFSET_BOOTSTRAP_SERVER"] = answering(t, "HTTP/1.1 400 Bad Request\r\n")
		brief(t, w.run("describe", "-X", "security.protocol=SSL").exits(5).says("does not speak TLS"))
	})
	t.Run("CON-4 Java's key stores", func(t *testing.T) {
		t.Parallel()
		id := newServer(t)
		w := startWith(t, kafkatest.Options{Brokers: 1, TLS: &tls.Config{Certificates: []tls.Certificate{id.pair}}})
		for name, content := range map[string][]byte{"ca.pem": id.pem, "trust.jks": id.jks, "trust.p12": id.p12, "misnamed.jks": id.p12, "misnamed.p12": id.jks} {
			path := filepath.Join(t.TempDir(), name)
			must(t, os.WriteFile(path, content, 0o600))
			w.run("describe", "-X", "security.protocol=SSL", "-X", "ssl.truststore.location="+path, "-X", "ssl.truststore.type=JKS", "-X", "ssl.truststore.password=@"+w.document("store-hush")).exits(0).never("store-hush")
			r := w.run("describe", "-X", "security.protocol=SSL", "-X", "ssl.truststore.location="+path, "-X", "ssl.truststore.password=@"+w.document("other"))
			if !strings.HasSuffix(name, ".pem") {
				brief(t, r.exits(2).says("ssl.truststore.location", "the password is wrong (ssl.truststore.password, -X, "))
			}
		}
		jceks := filepath.Join(t.TempDir(), "trust.jceks")
		must(t, os.WriteFile(jceks, append([]byte("\xce\xce\xce\xce"), id.jks[4:]...), 0o600))
		brief(t, w.run("describe", "-X", "security.protocol=SSL", "-X", "ssl.ca.location="+jceks).exits(2).says("JCEKS", "hint: keytool -importkeystore -srckeystore "+jceks))
		brief(t, w.run("describe", "-X", "security.protocol=SSL").exits(5).says(`signed by "CN=localhost"`, "hint: -X ssl.truststore.location=CA.pem"))
	})
	t.Run("CON-6 a password of all characters", func(t *testing.T) {
		t.Parallel()
		const odd = ` "q",;$+@\hush' `
		w := startWith(t, kafkatest.Options{Brokers: 1, Plain: true, Extra: []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("PLAIN", "alice", odd), kfake.Superuser("SCRAM-SHA-256", "alice", odd)}})
		java := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(odd) // within JAAS quotes
		file := func(lines ...string) string {
			return w.document("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n" + strings.Join(lines, "\n") + "\n")
		}
		properties := strings.NewReplacer(`\`, `\\`).Replace
		w.vars["PW"] = odd
		for name, args := range map[string][]string{
			"JAAS":        {"--command-config", file("sasl.jaas.config=" + properties(`org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="`+java+`";`))},
			"file":        {"--command-config", file("sasl.username=alice", `sasl.password=\`+properties(odd))},
			"$VAR":        {"--command-config", file("sasl.username=alice"), "-X", "sasl.password=$PW"},
			"@file":       {"--command-config", file("sasl.username=alice"), "-X", "sasl.password=@" + w.document(odd+"\n")},
			"PLAIN":       {"--command-config", file("sasl.username=alice"), "-X", "sasl.password=$PW", "-X", "sasl.mechanism=PLAIN"},
			"a literal":   {"--command-config", file("sasl.username=alice"), "-X", "sasl.password=" + odd},
			"environment": {"--command-config", file("sasl.username=alice")},
		} {
			if name == "environment" {
				w.vars["GTOFFSET_SASL_PASSWORD"] = odd
			}
			for _, more := range [][]string{nil, {"-v"}, {"-o", "json"}} {
				r := w.run(append(append([]string{"describe"}, args...), more...)...).exits(0).never("hush")
				if name == "a literal" {
					r.says("list of processes")
				}
			}
			w.run(append([]string{"config"}, args...)...).exits(0).prints("(hidden)", "logs in as alice").never("hush")
		}
		delete(w.vars, "GTOFFSET_SASL_PASSWORD")
		brief(t, w.run("describe", "--command-config", file("sasl.username=alice"), "-X", "sasl.password=@"+w.document("hush")).exits(5).says("hint: gtoffset config").never("hush"))
		broken := file(`sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="hu"hush";`)
		brief(t, w.run("describe", "--command-config", broken).exits(2).says(broken+":3: sasl.jaas.config: what follows option password").never("hush"))
		brief(t, w.run("describe").exits(5).says("wants a login (SASL)", "hint: -X security.protocol=SASL_PLAINTEXT -X sasl.mechanism="))
		brief(t, w.run("describe", "--command-config", file("sasl.username=alice"), "-X", "sasl.password=$PW", "-X", "sasl.mechanism=SCRAM-SHA-512").exits(5).never("hush"))
	})
	t.Run("CON-7 a broker that is too old", func(t *testing.T) {
		t.Parallel()
		old := startWith(t, kafkatest.Options{Brokers: 1, Version: kversion.V0_10_1()})
		for _, args := range [][]string{{"describe", "-g", "billing"}, {"describe"}, {"clamp", "-g", "billing", "--execute"}} {
			old.run(args...).exits(5).says("Metadata", "0.11").never("panic")
		}
		for _, v := range []*kversion.Versions{kversion.V0_11_0(), kversion.V2_1_0(), kversion.V2_8_0(), kversion.V3_9_0()} {
			w := startWith(t, kafkatest.Options{Brokers: 1, Version: v, Topics: map[string]int32{"orders": 2}})
			w.commit("billing", "orders", 0, 3)
			for _, scope := range []string{"orders", "orders:0,1"} {
				r := w.run("describe", "-g", "billing", "-t", scope).exits(0)
				same(t, "p1", r.line("orders", 1), "orders 1 0 3 0 0 committed high: 3 ahead")
			}
			w.run("clamp", "-g", "billing", "--execute").exits(0).prints("1 of 1 verified")
			same(t, "committed", w.committed("billing", "orders"), "0=0 1=0")
		}
	})
	t.Run("CON-11 a coordinator on the move", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", two...).commit("billing", "orders", 100, 10).save("billing", "orders", 100, none)
		var asked atomic.Int32
		w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool {
			g := &r.(*kmsg.OffsetFetchResponse).Groups[0]
			switch asked.Add(1) {
			case 1:
				g.ErrorCode, g.Topics = kerr.NotCoordinator.Code, nil
			case 2:
				g.ErrorCode, g.Topics = kerr.CoordinatorLoadInProgress.Code, nil
			}
			return true
		})
		r := w.run("describe", "-g", "billing").exits(0).never("no commit")
		same(t, "p1", r.line("orders", 1), "orders 1 0 10 900 890 ok")
		asked.Store(0)
		w.run("clamp", "-g", "billing", "--execute").exits(0).prints("1 of 1 verified")
		// For ever: never "no commit", and never a first run.
		w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(_ int32, r kmsg.Response) bool {
			g := &r.(*kmsg.OffsetFetchResponse).Groups[0]
			g.ErrorCode, g.Topics = kerr.CoordinatorLoadInProgress.Code, nil
			return true
		})
		w.run("describe", "-g", "billing", "-t", "orders").exits(5).says(`group "billing" could not be read`, "COORDINATOR_LOAD_IN_PROGRESS").never("no commit")
		w.run("clamp", "-g", "billing", "-t", "orders", "-s", w.store, "--stored", "--execute").exits(5).says("nothing was written")
		same(t, "stored", w.stored("billing", "orders"), "0=100")
	})
	t.Run("CON-11 while committing", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", two...).commit("billing", "orders", 100, 10)
		var asked atomic.Int32
		w.b.Fake.ControlKey(kmsg.OffsetCommit.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
			w.b.Fake.KeepControl()
			if asked.Add(1) > 2 {
				return nil, nil, false
			}
			r := q.ResponseKind().(*kmsg.OffsetCommitResponse)
			for _, topic := range q.(*kmsg.OffsetCommitRequest).Topics {
				a := kmsg.NewOffsetCommitResponseTopic()
				a.Topic, a.TopicID = topic.Topic, topic.TopicID
				for _, p := range topic.Partitions {
					ap := kmsg.NewOffsetCommitResponseTopicPartition()
					ap.Partition, ap.ErrorCode = p.Partition, kerr.NotCoordinator.Code
					a.Partitions = append(a.Partitions, ap)
				}
				r.Topics = append(r.Topics, a)
			}
			return r, nil, true
		})
		w.run("clamp", "-g", "billing", "--execute").exits(0).prints("1 of 1 verified")
		same(t, "committed", w.committed("billing", "orders"), "0=500 1=10")
	})
	for _, how := range []string{"frozen", "dead"} {
		t.Run("CON-13 one broker is "+how, func(t *testing.T) {
			t.Parallel()
			w := startWith(t, kafkatest.Options{}).topic("orders", [2]int64{500, 900}, [2]int64{500, 900}, [2]int64{500, 900})
			// A group is coordinated by any of the brokers: take one whose coordinator stays.
			group, away := "", int32(-1)
			for i := range 50 {
				g := fmt.Sprint("g", i)
				w.commit(g, "orders", 100, 100, 100)
				if node := w.b.Fake.CoordinatorFor(g); node == 0 {
					group, away = g, 2
					break
				}
			}
			if group == "" {
				t.Fatal("no group is coordinated by broker 0")
			}
			if how == "frozen" {
				w.b.Freeze(away)
			} else {
				w.b.Kill(away)
			}
			r := w.run("describe", "-g", group, "-o", "json").exits(3)
			d := r.describe()
			same(t, "p0", words(d.row(t, "orders", 0).End, d.row(t, "orders", 0).Committed.Expired), "900 400")
			same(t, "p1", words(d.row(t, "orders", 1).End, d.row(t, "orders", 1).Committed.Expired), "900 400")
			row := d.row(t, "orders", 2)
			same(t, "p2", words(row.End, row.Committed.Offset, row.Committed.Lag, row.OK), "null 100 null false")
			if !strings.Contains(row.State, "broker 2") {
				t.Errorf("state = %q", row.State)
			}
			w.run("clamp", "-g", group, "--execute").exits(5).says("orders 2", "nothing was written") // nothing else stands against it
			w.run("clamp", "-g", group, "--execute", "--partial").exits(3).says("orders 2").prints("2 of 2 verified")
			same(t, "committed", w.committed(group, "orders"), "0=500 1=500 2=100")
		})
	}
	t.Run("CON-13 no broker", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", two...).commit("billing", "orders", 100, 10).save("billing", "orders", 100, 10)
		w.b.Freeze(0)
		w.run("describe", "-g", "billing", "--timeout", "1s").exits(5).says("did not answer")
		w.run("clamp", "-g", "billing", "-s", w.store, "--stored", "--execute", "--timeout", "1s").exits(5)
		same(t, "stored", w.stored("billing", "orders"), "0=100 1=10")
	})
	t.Run("CON-15 many groups in few requests", func(t *testing.T) {
		t.Parallel()
		w := startWith(t, kafkatest.Options{}).topic("orders", [2]int64{500, 900}, [2]int64{500, 900})
		for i := range 200 {
			w.commit(fmt.Sprintf("g%03d", i), "orders", 100, 600)
		}
		w.b.Reset()
		d := w.run("describe", "--all-groups", "-o", "json").exits(0).describe()
		same(t, "groups", words(len(d.Groups), d.Groups[0].Group, d.Groups[199].Group), "200 g000 g199")
		same(t, "a row", words(d.Groups[100].Partitions[0].Committed.Expired, d.Groups[100].Partitions[1].Committed.Lag), "400 300")
		if n := w.b.Count(); n > 29 {
			t.Errorf("%d requests for 200 groups, want at most 29", n)
		}
		same(t, "list", len(w.run("describe", "-o", "json").exits(0).groups().Groups), 200)
		w.b.Reset()
		p := w.run("clamp", "--all-groups", "--execute", "-o", "json").exits(0).plan()
		same(t, "counts", p.Counts, countsDoc{Write: 200, Keep: 200, Clamped: 200, Written: 200, Verified: 200})
		same(t, "id", p.ID, "20311129T120000Z-clamp-200-groups")
		same(t, "undo", w.run("import", deref(p.Backup), "--execute", "-o", "json").exits(0).plan().Counts, countsDoc{Write: 200, Written: 200, Verified: 200})
		same(t, "committed", w.committed("g123", "orders"), "0=100 1=600")
	})
	t.Run("CON-9 an advertised name that nobody knows", func(t *testing.T) {
		t.Parallel()
		w := startWith(t, kafkatest.Options{}).topic("orders", two...)
		group := ""
		for i := range 50 {
			g := fmt.Sprint("g", i)
			w.commit(g, "orders", 100)
			if w.b.Fake.CoordinatorFor(g) == 2 {
				group = g
				break
			}
		}
		const nowhere = "7f3c9a.invalid"
		w.b.Rewrite(kmsg.Metadata.Int16(), func(_ int32, r kmsg.Response) bool {
			brokers := r.(*kmsg.MetadataResponse).Brokers
			for i := range brokers {
				if brokers[i].NodeID == 2 {
					brokers[i].Host = nowhere
				}
			}
			return true
		})
		w.b.Rewrite(kmsg.FindCoordinator.Int16(), func(_ int32, r kmsg.Response) bool {
			f := r.(*kmsg.FindCoordinatorResponse)
			for i := range f.Coordinators {
				if f.Coordinators[i].NodeID == 2 {
					f.Coordinators[i].Host = nowhere
				}
			}
			return true
		})
		for _, args := range [][]string{{"describe", "-g", group}, {"clamp", "-g", group, "--execute"}} {
			w.run(args...).exits(5).says("broker 2 ("+nowhere, "does not resolve", "answered", "advertised.listeners").never("goroutine")
		}
		same(t, "committed", w.committed(group, "orders"), "0=100")
	})
	t.Run("CON-10 a coordinator that never comes", func(t *testing.T) {
		t.Parallel()
		w := start(t).topic("orders", two...).commit("billing", "orders", 100, 10)
		w.b.Rewrite(kmsg.FindCoordinator.Int16(), func(_ int32, r kmsg.Response) bool {
			f := r.(*kmsg.FindCoordinatorResponse)
			f.ErrorCode = kerr.CoordinatorNotAvailable.Code
			for i := range f.Coordinators {
				f.Coordinators[i].ErrorCode = kerr.CoordinatorNotAvailable.Code
			}
			return true
		})
		w.run("describe", "-g", "billing").exits(5).says("COORDINATOR_NOT_AVAILABLE", "offsets.topic.replication.factor").never("no commit")
		w.run("reset", "-g", "billing", "-t", "orders", "--to-earliest", "--execute").exits(5).says("nothing was written")
	})
}

// answering is a port that answers whatever comes with the same bytes.
func answering(t *testing.T, bytes string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = c.Read(make([]byte, 1024))
				_, _ = c.Write([]byte(bytes))
				_, _ = c.Read(make([]byte, 1024)) // until the client goes
			}()
		}
	}()
	return l.Addr().String()
}

// server is a broker's certificate, signed by itself, and stores with the password "store-hush" that trust it.
type server struct {
	pair          tls.Certificate
	pem, jks, p12 []byte
}

func newServer(t *testing.T) server {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	cert, err := x509.ParseCertificate(der)
	must(t, err)
	s := server{pair: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
	s.p12, err = pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{cert}, "store-hush")
	must(t, err)
	ks := keystore.New()
	must(t, ks.SetTrustedCertificateEntry("ca", keystore.TrustedCertificateEntry{CreationTime: time.Now(), Certificate: keystore.Certificate{Type: "X509", Content: der}}))
	var b bytes.Buffer
	must(t, ks.Store(&b, []byte("store-hush")))
	s.jks = b.Bytes()
	return s
}
