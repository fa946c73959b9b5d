package cmd_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

type configDoc struct {
	User     *string
	Settings []struct {
		Key, Source string
		Value       *string
		Secret      bool
		Over        []string
	}
	Unused []struct{ Key, Source string }
	Notes  []string
}

// Config shows what is in force, from where, and over what; never a secret, and it connects to nothing.
func TestConfig(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.vars["PW"], w.vars["KAFKA_SASL_PASSWORD"] = "hush", "hush too"
	file := w.document("bootstrap.servers=kafka9:9092\nsecurity.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\nsasl.username=alice\nsasl.password=hush three\nacks=all\ndefault.api.timeout.ms=7000\n")
	args := []string{"config", "--command-config", file, "-X", "sasl.password=$PW", "-X", "client.id=ops", "-s", w.store}
	doc := document[configDoc](w.run(append(args, "-o", "json")...).exits(0).never("hush"), "gtoffset.config/1")
	got := map[string]string{}
	for _, s := range doc.Settings {
		got[s.Key] = strings.ReplaceAll(fmt.Sprintf("%s from %s over %v", deref(s.Value), s.Source, s.Over), file, "FILE")
	}
	for key, want := range map[string]string{
		"bootstrap.servers": "kafka9:9092 from FILE:1 over [GTOFFSET_BOOTSTRAP_SERVER]", "security.protocol": "SASL_SSL from FILE:2 over []",
		"sasl.password": "null from -X, $PW over [FILE:5 KAFKA_SASL_PASSWORD]", "client.id": "ops from -X over []",
		"request.timeout.ms": "2000 from default over []", "timeout": "7s from default.api.timeout.ms over []", "store": w.store + " from --store over []",
		"backup-dir": w.state + "/gtoffset from XDG_STATE_HOME over []",
	} {
		same(t, key, got[key], want)
	}
	same(t, "user", deref(doc.User), "alice")
	same(t, "unused", fmt.Sprint(doc.Unused), fmt.Sprintf("[{acks %s:6}]", file))
	w.run(args...).exits(0).prints("SETTING", "(hidden)", "logs in as alice", "not used: acks ("+file+":6)").never("hush")
	w.run(append(args, "--timeout", "3s")...).exits(0).prints("3s", "--timeout")
	w.run("config").exits(0).prints("GTOFFSET_BOOTSTRAP_SERVER", "PLAINTEXT")
	w.run("config", "-X", "security.protocol=TLS").exits(2).says("-X: security.protocol:")
	w.run("config", "--command-config", "/no/such").exits(2).says("/no/such: no such file")
	same(t, "requests", w.b.Count(), 0)
}

// A flag wins over -X, that over the file; unknown keys are told with -v only; the way back names how the cluster was reached.
func TestCommandConfig(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 100)
	here := w.vars["GTOFFSET_BOOTSTRAP_SERVER"]
	file := w.document("bootstrap.servers=127.0.0.1:1\nlinger.ms=5\nrequest.timeout.ms=1000\n")
	w.run("describe", "-g", "billing", "--command-config", file).exits(5).says("127.0.0.1:1 refused")
	r := w.run("describe", "-g", "billing", "--command-config", file, "-X", "bootstrap.servers="+here).exits(0).prints(here + " (-X)").never("linger.ms")
	r = w.run("describe", "-g", "billing", "--command-config", file, "-X", "bootstrap.servers=127.0.0.1:1", "-b", here, "-v").exits(0)
	if n := strings.Count(r.err, "linger.ms ("+file+":2)"); n != 1 {
		t.Errorf("the unknown key is told %d times\n%v", n, r)
	}
	p := w.run("clamp", "-g", "billing", "--command-config", file, "-b", here, "-X", "ssl.key.password=hush", "--execute", "-o", "json").exits(0).says("list of processes").never("hush").plan()
	if undo := deref(p.Undo); !strings.Contains(undo, "-b "+here+" --command-config "+file+" -X 'ssl.key.password=$SSL_KEY_PASSWORD' --execute") {
		t.Errorf("undo = %s", undo)
	}
	w.vars["GTOFFSET_COMMAND_CONFIG"] = file
	w.run("describe", "-g", "billing").exits(5).says("127.0.0.1:1 refused")
	w.run("describe", "-g", "billing", "-X", "nothing").exits(2).says("it takes KEY=VALUE")
	w.run("describe", "-g", "billing", "--command-config", "").exits(2).says("--command-config is empty")

	// What comes by a pipe can be read once only.
	read, write, err := os.Pipe()
	must(t, err)
	defer read.Close()
	fmt.Fprintf(write, "bootstrap.servers=%s\ndefault.api.timeout.ms=9000\n", here)
	must(t, write.Close())
	w.run("describe", "-g", "billing", "--command-config", fmt.Sprintf("/dev/fd/%d", read.Fd())).exits(0).prints("(/dev/fd/")
}

// A store's URL is shown without its secrets, wherever they stand in it.
func TestConfigHidesTheStoresSecrets(t *testing.T) {
	t.Parallel()
	w := start(t)
	for _, url := range []string{"redis://job:hu/sh@r:6379/0", "redis://job@r:6379/0?password=hush", "redis://job:hush@r:6379/0"} {
		w.run("config", "-s", url).exits(0).never("hush", "hu/sh").prints("***")
		w.run("config", "-s", url, "-o", "json").exits(0).never("hush", "hu/sh")
	}
	w.run("config", "-s", "redis://job:$PW@r:6379/0").exits(0).prints("redis://job:$PW@r:6379/0")
}

// A file that is no text of properties is refused by what it is: whoever wrote SASL_SSL into it is not to be connected in plaintext.
func TestCommandConfigOfAnotherKind(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{500, 900}).commit("billing", "orders", 600)
	const text = "security.protocol=SASL_SSL\nsasl.password=hush\n"
	var little, big strings.Builder
	for _, c := range []byte(text) {
		little.WriteString(string([]byte{c, 0}))
		big.WriteString(string([]byte{0, c}))
	}
	for content, want := range map[string]string{
		"\xff\xfe" + little.String():         "is in UTF-16",
		"\xfe\xff" + big.String():            "is in UTF-16",
		little.String():                      "is in UTF-16",
		big.String():                         "is in UTF-16",
		"\x1f\x8b\x08\x00hush":               "is compressed with gzip",
		"\xfe\xed\xfe\xed\x00\x00\x00\x02":   "is a Java key store",
		"PK\x03\x04hush":                     "is a zip archive",
		text + "\x00\x01":                    "is binary",
		text + "\x1b[0m":                     "is binary",
		` {"security.protocol": "hush"}`:     "is JSON",
		"\xef\xbb\xbf{\"sasl.password\": 1}": "is JSON",
		`<?xml version="1.0"?><properties><entry key="sasl.password">hush</entry></properties>`: "is XML",
		"-----BEGIN PRIVATE KEY-----\nhush\n-----END PRIVATE KEY-----\n":                        "is PEM",
		"# the vault said\nhush hush\n":                                                         ":2: neither this line nor any other names a setting",
		"\"security.protocol\": \"x\"\n":                                                        ":1: neither this line nor any other names a setting",
	} {
		file := w.document(content)
		w.run("config", "--command-config", file).exits(2).says(want, file).never("hush")
		w.run("describe", "-g", "billing", "--command-config", file).exits(2).says(want, file).never("hush")
	}
	same(t, "requests", w.b.Count(), 0)

	w.run("config", "--command-config", w.document("")).exits(0)
	file := w.document("\xef\xbb\xbf" + text)
	w.run("config", "--command-config", file, "-X", "sasl.mechanism=PLAIN", "-X", "sasl.username=a").exits(0).
		prints("SASL_SSL", "a byte order mark stands before security.protocol", "Java")
	w.run("config", "--command-config", w.document("\xef\xbb\xbf# the first line\nclient.id=x\n")).exits(0).never("byte order mark")
}
