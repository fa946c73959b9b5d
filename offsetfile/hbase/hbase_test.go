package hbase

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/offsetfile/storetest"
)

func open(t *testing.T, url string, o offsetfile.Options) (offsetfile.Store, error) {
	t.Helper()
	return storetest.Open(t, Open, url, o)
}

func TestAddresses(t *testing.T) {
	for url, wrong := range map[string]string{
		"hbase://h/jobs":                        "",
		"hbase://h:8080/eu:jobs":                "",
		"hbase+https://u:$PW@h/gateway/hb/jobs": "",
		"hbase://h/jobs?row={topic}/{group}&family=f&column=p{partition}&values=binary&counts=last": "",
		"hbase://h":                               "path",
		"hbase://h/a:b:c":                         "path",
		"hbase://h/a*":                            "path",
		"hbase://h1,h2/jobs":                      "host",
		"hbase://h/jobs?row={group}":              "parameter row",
		"hbase://h/jobs?row={group}{topic}":       "parameter row",
		"hbase://h/jobs?column=p":                 "parameter column",
		"hbase://h/jobs?family=f:":                "parameter family",
		"hbase://h/jobs?values=hex":               "parameter values",
		"hbase://h/jobs?tls-ca=x":                 "parameter tls-ca",
		"hbase+https://h/jobs?tls-ca=/no/such.pm": "parameter tls-ca",
	} {
		_, err := open(t, url, offsetfile.Options{})
		var of *offsetfile.URLError
		if wrong == "" && err != nil || wrong != "" && (!errors.As(err, &of) || of.Part != wrong) {
			t.Errorf("%s: got %v, want an error about %q", url, err, wrong)
		}
	}
}

func TestRowForms(t *testing.T) {
	for _, tt := range []struct{ form, key, group, topic string }{
		{"{group}:{topic}", "billing:orders", "billing", "orders"},
		{"{group}:{topic}", "eu:billing:orders", "eu:billing", "orders"},
		{"{topic}:{group}", "orders:eu:billing", "eu:billing", "orders"},
		{"offset/{topic}/{group}!", "offset/orders/billing!", "billing", "orders"},
		{"{group}:{topic}", "billing", "", ""},
		{"offset:{group}:{topic}", "billing:orders", "", ""},
	} {
		f, err := parseRowForm(tt.form)
		if err != nil {
			t.Fatal(err)
		}
		group, topic, ok := f.names(tt.key)
		if group != tt.group || topic != tt.topic || ok != (tt.group != "") {
			t.Errorf("%s, %s: got %q, %q, %v", tt.form, tt.key, group, topic, ok)
		}
		if ok && f.key(group, topic) != tt.key {
			t.Errorf("%s: got the key %q, want %q", tt.form, f.key(group, topic), tt.key)
		}
	}
}

// A name has a row of its own, which lies where its group's are looked for, or it is refused.
func TestRowsOfNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"{group}:{topic}", "{topic}:{group}", "x/{group}/{topic}", "{group}_{topic}", "{topic}ü{group}", "~{group}{x}{topic}"}).Draw(t, "form")
		f, err := parseRowForm(text)
		if err != nil {
			t.Fatal(err)
		}
		name := rapid.StringMatching(`[a_:/ü~]{0,6}`)
		group, topic := name.Draw(t, "group"), name.Draw(t, "topic")
		if f.check(group, topic) != nil {
			return
		}
		key := f.key(group, topic)
		if g, n, ok := f.names(key); !ok || g != group || n != topic {
			t.Errorf("%s, %q: got %q, %q, %v; want %q, %q", text, key, g, n, ok, group, topic)
		}
		for _, of := range []string{group, ""} {
			if from, to := f.rows(of); key < from || to != "" && key >= to {
				t.Errorf("%s: %q is not from %q up to %q", text, key, from, to)
			}
		}
	})
}

func TestValues(t *testing.T) {
	for _, binary := range []bool{false, true} {
		l := layout{binary: binary}
		for _, n := range []int64{0, 1, -1, 42, math.MaxInt64, math.MinInt64} {
			text := strconv.FormatInt(n, 10)
			value, err := l.value(text)
			if err != nil || l.text(value) != text {
				t.Errorf("binary %v: got %q, %v; want %s", binary, l.text(value), err, text)
			}
		}
		if l.text(nil) != "" {
			t.Errorf("no bytes: got %q, want none", l.text(nil))
		}
	}
	for _, value := range []string{"42", "1234567", "123456789"} {
		if _, err := offsetfile.CountsNext.Read(layout{binary: true}.text([]byte(value))); err == nil {
			t.Errorf("%q is taken for a number of 8 bytes", value)
		}
	}
}

// gatewayServer answers as it is told.
func gatewayServer(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func load(t *testing.T, url string, limit time.Duration) (offsetfile.Holding, error) {
	t.Helper()
	s, err := open(t, url, offsetfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return s.Load(ctx, "billing", []string{"orders"}, false)
}

const orders = `{"Row":[{"key":"YmlsbGluZzpvcmRlcnM=","Cell":[{"column":"b2Zmc2V0czow","timestamp":1795978064527,"$":"NDI="}]}]}`

func TestUserOverTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "jobs" || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if !strings.HasPrefix(r.URL.Path, "/gateway/hbase/eu:jobs/") {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, orders)
	}))
	defer s.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(s.URL, "https://")
	h, err := load(t, "hbase+https://jobs:$PW@"+host+"/gateway/hbase/eu:jobs?tls-ca="+ca, time.Minute)
	if e := h.Entries[offsets.Key{Topic: "orders"}]; err != nil || e.Offset != 42 || e.Saved.UnixMilli() != 1795978064527 {
		t.Errorf("got %+v, %v; want 42", e, err)
	}
	var refused *offsetfile.CredentialsError
	if _, err := load(t, "hbase+https://"+host+"/jobs?tls-ca="+ca, time.Minute); !errors.As(err, &refused) || !strings.Contains(err.Error(), "no user was named") {
		t.Errorf("without a user: got %v", err)
	}
	var away *offsetfile.AwayError
	if _, err := load(t, "hbase+https://"+host+"/jobs", time.Minute); !errors.As(err, &away) || away.Tries != 1 {
		t.Errorf("a certificate that is not trusted: got %v, want it after one try", err)
	}
}

func TestAnswers(t *testing.T) {
	var away *offsetfile.AwayError
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		final  bool
	}{
		"another kind of server": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>hello</html>") }, true},
		"sent elsewhere":         {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) }, true},
		"not ready":              {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, false},
		"a region is moving": {func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/schema") {
				_, _ = io.WriteString(w, `{"name":"jobs","ColumnSchema":[{"name":"offsets"}]}`)
				return
			}
			w.WriteHeader(http.StatusInternalServerError)
		}, false},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, orders)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, "hbase://"+gatewayServer(t, tt.answer)+"/jobs", 500*time.Millisecond)
			if !errors.As(err, &away) || (away.Tries == 1) != tt.final {
				t.Errorf("got %v, want it away, given up at once %v", err, tt.final)
			}
		})
	}
	// It is tried again, and nothing is taken for nothing.
	var asked atomic.Int32
	h, err := load(t, "hbase://"+gatewayServer(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, orders)
	})+"/jobs", time.Minute)
	if err != nil || h.Entries[offsets.Key{Topic: "orders"}].Offset != 42 || asked.Load() != 3 {
		t.Errorf("got %+v, %v after %d requests", h.Entries, err, asked.Load())
	}
}

// Values of 8 bytes in a table that is said to have digits are damaged, and it is said what they may be.
func TestBinaryReadAsText(t *testing.T) {
	h, err := load(t, "hbase://"+gatewayServer(t, func(w http.ResponseWriter, _ *http.Request) {
		answer := rows{[]row{{Key: []byte("billing:orders"), Cells: []cell{
			{Column: []byte("offsets:0"), Value: []byte{0, 0, 0, 0, 0, 0, 0, 42}},
			{Column: []byte("offsets:updated"), Value: []byte("today")},
		}}}}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	})+"/jobs", time.Minute)
	if e := h.Entries[offsets.Key{Topic: "orders"}]; err != nil || e.Presence != offsets.Damaged {
		t.Errorf("got %+v, %v; want it damaged", e, err)
	}
	if notes := fmt.Sprint(h.Store.Notes); !strings.Contains(notes, "?values=binary") || !strings.Contains(notes, "column offsets:updated is no partition: ignored") {
		t.Errorf("notes: got %s", notes)
	}
}

// A table that is not there is made by a save only if that is wished.
func TestCreate(t *testing.T) {
	var made atomic.Bool
	addr := gatewayServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/jobs/schema" && r.Method == http.MethodPut:
			made.Store(true)
			w.WriteHeader(http.StatusCreated)
		case !made.Load():
			http.NotFound(w, r)
		case r.URL.Path == "/jobs/schema":
			_, _ = io.WriteString(w, `{"name":"jobs","ColumnSchema":[{"name":"offsets"}]}`)
		case r.Method == http.MethodPut:
		default:
			_, _ = io.WriteString(w, `{"Row":[]}`)
		}
	})
	save := func(o offsetfile.Options) (offsets.Change, error) {
		s, err := open(t, "hbase://"+addr+"/jobs", o)
		if err != nil {
			t.Fatal(err)
		}
		h, err := s.Load(t.Context(), "billing", []string{"orders"}, false)
		if err != nil {
			return offsets.Change{}, err
		}
		w, err := s.Writer(t.Context(), "billing", []string{"orders"})
		if err != nil {
			return offsets.Change{}, err
		}
		changes, _ := w.Save(t.Context(), h.Store, []offsets.Change{{
			Key: offsets.Key{Topic: "orders"}, Side: offsets.Stored, Verdict: offsets.Write, New: offsets.Value{Offset: 5, Epoch: offsets.None},
		}}, offsetfile.Facts{Now: time.Now()})
		return changes[0], nil
	}
	var nothing *offsetfile.NothingError
	if _, err := save(offsetfile.Options{}); !errors.As(err, &nothing) || nothing.Looked != "table jobs" || made.Load() {
		t.Errorf("not wished: got %v", err)
	}
	if c, err := save(offsetfile.Options{Create: true}); err != nil || c.Result != offsets.Written || !made.Load() {
		t.Errorf("wished: got %s (%s), %v", c.Result, c.Error, err)
	}
}
