package redis

import (
	"reflect"
	"testing"

	"gtoffset/offsetfile"
	"gtoffset/offsetfile/storetest"
)

// env has $PW only.
func env(name string) string { return map[string]string{"PW": "secret"}[name] }

func TestOpenErrors(t *testing.T) {
	storetest.Refused(t, Open, map[string]string{
		"redis:///0":                               "host: it has none",
		"redis://a,b/0":                            "host: it has 2, and 1 can be used",
		"redis://a/jobs":                           `path: "jobs" is no number`,
		"redis://a/-1":                             `path: "-1" is no number`,
		"redis://a/01":                             `path: "01" is no number`,
		"redis://a/0/1":                            `path: "0/1" is no number`,
		"redis://bob@a":                            "user: it has no password",
		"redis://bob:pw@a":                         "password: it stands in the URL itself",
		"redis://a?key=offset:{topic}":             "parameter key",
		"redis://a?kye=x":                          "parameter kye: it is not known",
		"redis://a?tls-ca=ca.pem":                  "parameter tls-ca: it is not known", // rediss:// it is
		"rediss://a?tls-ca=/nowhere/ca.pem":        "parameter tls-ca",
		"redis+sentinel://a":                       "path: it does not begin with the name",
		"redis+sentinel://a/jobs/x":                `path: "x" is no number`,
		"redis+sentinel://a/j?sentinel-password=x": "parameter sentinel-password: it stands in the URL itself",
		"redis+cluster://a/1":                      "path: a cluster has one database",
	})
}

func TestOptions(t *testing.T) {
	type options struct {
		addrs                  []string
		db                     int
		master                 string
		cluster                bool
		user, password, sentry string
	}
	for url, want := range map[string]options{
		"redis://a":                   {addrs: []string{"a:6379"}},
		"redis://a:7000/":             {addrs: []string{"a:7000"}},
		"rediss://[::1]/12":           {addrs: []string{"[::1]:6379"}, db: 12},
		"redis://bob:$PW@a":           {addrs: []string{"a:6379"}, user: "bob", password: "secret"},
		"redis://:$PW@a":              {addrs: []string{"a:6379"}, password: "secret"},
		"redis+sentinel://a,b:1/jobs": {addrs: []string{"a:26379", "b:1"}, master: "jobs"},
		"rediss+sentinel://a/jobs/3?sentinel-password=$PW": {addrs: []string{"a:26379"}, master: "jobs", db: 3, sentry: "secret"},
		"redis+cluster://a,b":                              {addrs: []string{"a:6379", "b:6379"}, cluster: true},
	} {
		a, err := offsetfile.ParseAddress(url, env)
		if err != nil {
			t.Fatal(err)
		}
		o, err := optionsOf(a)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if got := (options{o.addrs, o.db, o.masterName, o.kind == cluster, o.user, o.password, o.sentinelPassword}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", url, got, want)
		}
	}
}

// Nothing is connected to before the first request, and nothing is left after Close.
func TestCloseWithoutUse(t *testing.T) {
	a, err := offsetfile.ParseAddress("redis+cluster://127.0.0.1:1", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(a, offsetfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestCalls(t *testing.T) {
	cell := func(text string) *offsetfile.Cell { return &offsetfile.Cell{Text: text} }
	edits := []offsetfile.Edit{
		{Topic: "a", Partition: 0, New: cell("1")}, {Topic: "b", Partition: 1, Old: cell("2"), New: cell("3")}, {Topic: "a", Partition: 2, Old: cell("")},
	}
	form, err := parseKeyForm(DefaultKey)
	if err != nil {
		t.Fatal(err)
	}
	one, p := "=", func(n int32) any { return n }
	for name, tt := range map[string]struct {
		kind kind
		want []call
	}{
		"one server": {single, []call{{
			[]string{"offset:a:g", "offset:b:g"},
			[]int{0, 1, 2},
			[]any{1, p(0), "", "=1", 2, p(1), "=2", "=3", 1, p(2), one, ""},
		}}},
		"a cluster": {cluster, []call{
			{[]string{"offset:a:g"}, []int{0, 2}, []any{1, p(0), "", "=1", 1, p(2), one, ""}},
			{[]string{"offset:b:g"}, []int{1}, []any{1, p(1), "=2", "=3"}},
		}},
	} {
		table := &table{form: form}
		table.kind = tt.kind
		if got := table.calls("g", edits); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, tt.want)
		}
	}
}

func TestFacts(t *testing.T) {
	for info, want := range map[string][]string{
		"": {},
		"maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\nrole:master\r\n": {},
		"maxmemory:100\r\nmaxmemory_policy:noeviction\r\n":               {},
		"maxmemory:100\r\nmaxmemory_policy:volatile-lru\r\n":             {},
		"# Memory\r\nmaxmemory:100\r\nmaxmemory_policy:allkeys-lfu\r\n":  {"the server may drop offsets when its memory is full: maxmemory-policy is allkeys-lfu"},
		"role:slave\r\nmaster_host:10.0.0.1\r\nmaster_port:6379\r\n":     {"the server is a replica of 10.0.0.1:6379: what was saved last may not have come to it"},
	} {
		if got := *factsOf(info); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %q, want %q", info, got, want)
		}
	}
}
