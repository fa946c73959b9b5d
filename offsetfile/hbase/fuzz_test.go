package hbase

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"gtoffset/offsetfile"
	"gtoffset/offsetfile/rest"
)

// FuzzRowForm takes apart what a form has made of names.
func FuzzRowForm(f *testing.F) {
	f.Add("{group}:{topic}", "billing", "orders")
	f.Add("offset/{topic}/{group}!", "a/b", "c")
	f.Add("{group}{topic}", "a", "b")
	f.Fuzz(func(t *testing.T, text, group, topic string) {
		form, err := parseRowForm(text)
		if err != nil || form.check(group, topic) != nil {
			return
		}
		key := form.key(group, topic)
		if g, n, ok := form.names(key); !ok || g != group || n != topic {
			t.Fatalf("%q: %q is %q of %q, %v", text, key, n, g, ok)
		}
		from, to := form.rows(group)
		if key < from || to != "" && key >= to {
			t.Fatalf("%q: %q does not lie in [%q, %q)", text, key, from, to)
		}
	})
}

// FuzzGateway reads what a REST gateway may answer to a look at a group and at its table.
func FuzzGateway(f *testing.F) {
	for _, s := range []string{
		`{"Row":[{"key":"YmlsbGluZzpvcmRlcnM=","Cell":[{"column":"b2Zmc2V0czow","timestamp":1,"$":"NDI="}]}]}`, `{"name":"jobs","ColumnSchema":[{"name":"offsets"}]}`,
		"<html>", "", "null", "[]", `{"Row":null}`, `{"Row":[{"key":"!","Cell":[]}]}`, `{"Row":[{"key":"","Cell":[{"column":"","timestamp":-1,"$":null}]}]}`,
	} {
		f.Add([]byte(s), uint16(200))
		f.Add([]byte(s), uint16(404))
	}
	var body atomic.Pointer[[]byte]
	var status atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(status.Load()))
		_, _ = w.Write(*body.Load()) // a status without a body refuses it
	}))
	f.Cleanup(s.Close)
	a, err := offsetfile.ParseAddress("hbase://"+strings.TrimPrefix(s.URL, "http://")+"/jobs", nil)
	if err != nil {
		f.Fatal(err)
	}
	l, err := newLayout(a)
	if err != nil {
		f.Fatal(err)
	}
	client, err := rest.New(a, false, offsetfile.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(client.Close)
	f.Fuzz(func(t *testing.T, answer []byte, code uint16) {
		body.Store(&answer)
		status.Store(200 + int32(code)%400)
		table := &table{layout: l, gateway: gateway{client: client, base: s.URL + "/jobs"}}
		table.binary = len(answer)%2 == 0
		for _, topics := range [][]string{nil, {"orders", "payments"}} {
			found, err := table.Read(t.Context(), "billing", topics)
			if err == nil && len(found.Topics) < len(topics) {
				t.Fatalf("%d topics of %d", len(found.Topics), len(topics))
			}
			for _, topic := range found.Topics {
				for p := range topic.Cells {
					if p < 0 {
						t.Fatalf("partition %d", p)
					}
				}
			}
		}
		_, _, err := table.Groups(t.Context())
		if err != nil && err.Error() == "" {
			t.Fatal("an error without a word")
		}
	})
}
