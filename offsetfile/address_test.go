package offsetfile

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		if i := slices.Index(pairs, name); i >= 0 && i%2 == 0 {
			return pairs[i+1]
		}
		return ""
	}
}

func TestParseAddress(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte("from file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]Address{
		"redis://h/0":                               {Scheme: "redis", Hosts: []string{"h"}, Path: "/0"},
		"redis://bob:$PW@h:7/0?key=a:{topic}":       {Scheme: "redis", Hosts: []string{"h:7"}, Path: "/0", User: "bob", Password: "p@/ss"},
		"redis://:${PW}@h":                          {Scheme: "redis", Hosts: []string{"h"}, Password: "p@/ss"},
		"redis://b%40b@h?password=$PW":              {Scheme: "redis", Hosts: []string{"h"}, User: "b@b", Password: "p@/ss"},
		"mysql://u@h/db?password-file=" + secret:    {Scheme: "mysql", Hosts: []string{"h"}, Path: "/db", User: "u", Password: "from file"},
		"zookeeper://h1,h2:2182,[::1]:3/ch%20/root": {Scheme: "zookeeper", Hosts: []string{"h1", "h2:2182", "[::1]:3"}, Path: "/ch /root"},
		"file:/a%20b?counts=last":                   {Scheme: "file", Path: "/a b"},
		"file:///a":                                 {Scheme: "file", Hosts: []string{""}, Path: "/a"},
		"spark:/ck?source=1":                        {Scheme: "spark", Path: "/ck"},
		"spark:webhdfs://nn:9870/ck":                {Scheme: "spark", Via: "webhdfs", Hosts: []string{"nn:9870"}, Path: "/ck"},
		"redis+sentinel://h1,h2/m/0":                {Scheme: "redis+sentinel", Hosts: []string{"h1", "h2"}, Path: "/m/0"},
	} {
		got, err := ParseAddress(text, env("PW", "p@/ss"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got.Scheme != want.Scheme || got.Via != want.Via || !slices.Equal(got.Hosts, want.Hosts) || got.Path != want.Path || got.User != want.User || got.Password != want.Password {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
		if got.String() != text {
			t.Errorf("%s is named %s", text, got)
		}
	}
	if a, err := ParseAddress("redis://h", env(PasswordVariable, "x")); err != nil || a.Password != "x" {
		t.Errorf("the environment's password: got %+v, %v", a, err)
	}
}

func TestAddressErrors(t *testing.T) {
	for text, want := range map[string]string{
		"redis":                                      "scheme",
		"://h":                                       "scheme",
		"redis://h:0":                                "port",
		"redis://h:99999":                            "port",
		"redis://h:x":                                "port",
		"zookeeper://h1,h 2/":                        "host",
		"redis://h/%zz":                              "path",
		"redis://h/a%00b":                            "path",
		"redis://h/#f":                               "fragment",
		"redis://h/?a=1&a=2":                         "parameter a",
		"redis://h/?a;b":                             "parameters",
		"redis://u%z@h":                              "user",
		"redis://u:$UNSET@h":                         "password",
		"redis://u:hunter2@h":                        "password",
		"redis://u:$PW-hunter2@h":                    "password",
		"redis://u:hun/ter2@h/0":                     "port",
		"redis://u:hun?ter2@h/0":                     "port",
		"redis://u:hunter2%@h/0":                     "password",
		"redis://u:hu@nter2@h/0":                     "password",
		"webhdfs://h/?delegation=ha":                 "parameter delegation",
		"redis://h?password=hunter2":                 "parameter password",
		"redis://u:$PW@h?password=$PW":               "password",
		"redis://h?password-file=/no/such/file":      "parameter password-file",
		"redis://h?tls-key-password=hunter2&a=$PW&b": "parameter tls-key-password",
		"etcd://h?access-token=hunter2":              "parameter access-token",
		"etcd://h?client-secret=hunter2":             "parameter client-secret",
	} {
		_, err := ParseAddress(text, env("PW", "p"))
		var e *URLError
		if !errors.As(err, &e) || e.Part != want {
			t.Errorf("%s: got %v, want an error about the %s", text, err, want)
			continue
		}
		for _, secret := range []string{"hunter2", "hun", "ter2", "=ha"} {
			if text := err.Error(); strings.Contains(strings.ReplaceAll(text, "others", ""), secret) && !strings.Contains(text, "unter2@") || strings.Contains(e.Hint, secret) {
				t.Errorf("%q tells the secret: %s", text, err)
			}
		}
	}
}

func TestAddressParameters(t *testing.T) {
	a, err := ParseAddress("redis://h/0?key=k&kye=x&counts=last", nil)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := a.Counts(); err != nil || c != CountsLast {
		t.Errorf("counts: got %v, %v", c, err)
	}
	if got := a.Param("key") + a.Param("db"); got != "k" {
		t.Errorf("key: got %q", got)
	}
	var e *URLError
	if err := a.Unused(); !errors.As(err, &e) || e.Part != "parameter kye" || !strings.Contains(err.Error(), "counts, db, key") {
		t.Errorf("got %v, want an error about kye, with the ones that there are", err)
	}
	for _, text := range []string{"redis://h?counts", "redis://h?counts=lst"} {
		if a, err = ParseAddress(text, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Counts(); !errors.As(err, &e) || e.Part != "parameter counts" {
			t.Errorf("%s: got %v", text, err)
		}
	}
	for text, want := range map[string]string{"redis://": "it has none", "redis:///0": "it has none", "redis://a,b": "it has 2", "redis://:7": "empty"} {
		if a, err = ParseAddress(text, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := a.HostPorts("6379", 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	if a, err = ParseAddress("zookeeper://a,b:1,[::1],[::2]:3", nil); err != nil {
		t.Fatal(err)
	}
	if got, err := a.HostPorts("2181", 0); err != nil || !slices.Equal(got, []string{"a:2181", "b:1", "[::1]:2181", "[::2]:3"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

// A parameter that is a secret is hidden by its name alone: a store cannot read one that would be shown.
func TestASecretIsNamedSo(t *testing.T) {
	a, err := ParseAddress("etcd://h?access-token=$TOKEN&salt=$TOKEN", env("TOKEN", "t"))
	if err != nil || a.Secret("access-token") != "t" {
		t.Fatalf("got %+v, %v", a, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a secret was read by a name that does not say so")
		}
	}()
	a.Secret("salt")
}

// FuzzHidePassword hides what may be a password in any text.
func FuzzHidePassword(f *testing.F) {
	for _, s := range []string{"h/0", "h:7/0?key=x", "@h", "h,i/p?a=b", "h/a@b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, rest string) {
		if strings.ContainsAny(rest, "@") {
			return
		}
		text := "redis://user:Secr3tPassw0rd@" + rest
		if got := HidePassword(text); strings.Contains(got, "Secr3t") {
			t.Errorf("%q shows as %q", text, got)
		}
		if _, err := ParseAddress(text, nil); err == nil || strings.Contains(err.Error(), "Secr3t") {
			t.Errorf("%q: %v", text, err)
		}
	})
}

func TestCounts(t *testing.T) {
	for _, tt := range []struct {
		text       string
		next, last int64 // offsets.None: refused
	}{
		{"0", 0, 1},
		{"41", 41, 42},
		{"007", 7, 8},
		{"9223372036854775806", math.MaxInt64 - 1, math.MaxInt64},
		{"9223372036854775807", math.MaxInt64, -1},
		{"9223372036854775808", -1, -1},
		{"-1", -1, 0},
		{"-2", -1, -1},
		{"-9223372036854775808", -1, -1},
		{"", -1, -1},
		{"-", -1, -1},
		{"+1", -1, -1},
		{" 1", -1, -1},
		{"1\n", -1, -1},
		{"1_000", -1, -1},
		{"١", -1, -1},
	} {
		for c, want := range map[Counts]int64{CountsNext: tt.next, CountsLast: tt.last} {
			got, err := c.Read(tt.text)
			if got != want || (err == nil) != (want >= 0) {
				t.Errorf("%q counts %v: got %d, %v; want %d", tt.text, c, got, err, want)
			}
			if err == nil && c.Text(got) != strings.TrimLeft(tt.text, "0") && tt.text != "0" {
				t.Errorf("%q counts %v: written as %q", tt.text, c, c.Text(got))
			}
		}
	}
}

func TestParsePartition(t *testing.T) {
	for text, want := range map[string]int32{"0": 0, "12": 12, "2147483647": math.MaxInt32} {
		if got, ok := ParsePartition(text); !ok || got != want {
			t.Errorf("%q: got %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "-1", "+1", "01", "2147483648", "a", " 1", "1 "} {
		if got, ok := ParsePartition(text); ok {
			t.Errorf("%q: got %d, want none", text, got)
		}
	}
}
