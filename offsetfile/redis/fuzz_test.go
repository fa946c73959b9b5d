package redis

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	redigo "github.com/gomodule/redigo/redis"
)

// saying is a connection on which a server says a text, whatever it is asked, and hangs up.
type saying struct {
	net.Conn
	said *bytes.Reader
}

func (s *saying) Read(p []byte) (int, error)  { return s.said.Read(p) }
func (s *saying) Write(p []byte) (int, error) { return len(p), nil }
func (s *saying) Close() error                { return nil }

func (s *saying) SetReadDeadline(time.Time) error { return nil }

func talk(text []byte) *conn {
	s := &saying{said: bytes.NewReader(text)}
	return newConn(s, s)
}

// What a server only announces costs no memory, and what goes on for ever is not read for ever.
func TestBounds(t *testing.T) {
	for name, text := range map[string]string{
		"a long value":           "$999999999999\r\n",
		"a value of 1 GB":        "$1000000000\r\nx",
		"a long list":            "*2147483647\r\n",
		"lists in lists":         strings.Repeat("*1\r\n", 100_000),
		"many long lists":        strings.Repeat("*8000000\r\n", 100),
		"a line without an end":  "+" + strings.Repeat("x", 200_000),
		"an error without end":   "-" + strings.Repeat("x", 200_000),
		"a number without end":   ":" + strings.Repeat("0", 200_000),
		"a length without end":   "$" + strings.Repeat("0", 200_000),
		"a list behind a value":  "*2\r\n$1\r\n0\r\n*99999999\r\n",
		"a value behind a value": "*2\r\n$1\r\n0\r\n$99999999\r\n",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := talk([]byte(text)).roundTrip([]command{{name: "HGETALL"}})
		runtime.ReadMemStats(&after)
		if err != errBeyond {
			t.Errorf("%s: got %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 140<<20 {
			t.Errorf("%s: took %d MB", name, took>>20)
		}
	}
	for name, text := range map[string]string{
		"all that there is": "*4\r\n$1\r\n0\r\n$2\r\n15\r\n$1\r\n1\r\n$-1\r\n",
		"an empty list":     "*0\r\n",
		"no list":           "*-1\r\n",
		"a nest":            "*2\r\n*2\r\n*1\r\n:1\r\n*0\r\n+OK\r\n",
		"an error":          "-WRONGTYPE no hash\r\n",
		"a large value":     fmt.Sprintf("$%d\r\n%s\r\n", 1<<20, strings.Repeat("*", 1<<20)),
	} {
		c := talk([]byte(text + "+OK\r\n"))
		for range 2 {
			if _, err := c.roundTrip([]command{{name: "HGETALL"}}); err != nil && !isAnswer(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if len(c.bounds.inside) > 0 || c.bounds.value > 0 || c.bounds.line > 0 {
			t.Errorf("%s: left %+v", name, c.bounds)
		}
	}
}

// FuzzAnswers reads what a server may say to a look at a key, to a search and to the question for a cluster's servers.
func FuzzAnswers(f *testing.F) {
	for _, s := range []string{
		"*4\r\n$1\r\n0\r\n$2\r\n15\r\n$1\r\n1\r\n$-1\r\n:-1\r\n$12\r\nrole:master\n\r\n", "-WRONGTYPE Operation against a key\r\n:5000\r\n-NOPERM no\r\n",
		"*2\r\n$1\r\n0\r\n*1\r\n$21\r\noffset:orders:billing\r\n", "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$0\r\n\r\n:7000\r\n",
		"-MOVED 3999 10.0.0.1:6379\r\n-ASK 1 ::1:7\r\n", "$-1\r\n", "*-1\r\n*-1\r\n", "$99999999999\r\n", "*1\r\n*1\r\n*1\r\n", "+OK\r\n+OK\r\n+OK\r\n", ":a\r\n", "$a\r\n", "$1\r\nabc",
	} {
		f.Add([]byte(s))
	}
	form, err := parseKeyForm(DefaultKey)
	if err != nil {
		f.Fatal(err)
	}
	store := &table{form: form}
	f.Fuzz(func(t *testing.T, text []byte) {
		replies, err := talk(text).roundTrip([]command{{name: "HGETALL"}, {name: "PTTL"}, {name: "INFO"}})
		for _, r := range replies {
			fields, err := redigo.StringMap(r.value, r.err)
			topic, _ := store.topicOf(name{"orders", "billing"}, answer{fields: fields, problem: err})
			for p := range topic.Cells {
				if p < 0 {
					t.Fatalf("partition %d", p)
				}
			}
			if slots, err := parseSlots(r.value, "h:1"); err == nil && len(slots) != slotCount {
				t.Fatalf("%d slots", len(slots))
			}
			redirection(r.err, "h:1")
			if info, err := redigo.String(r.value, r.err); err == nil {
				factsOf(info)
			}
			_ = store.explain(r.err)
		}
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF && err != errBeyond && !strings.HasPrefix(err.Error(), "redigo: ") {
			t.Fatalf("%T: %v", err, err)
		}
	})
}

// FuzzKeyForm takes apart what a form has made of names.
func FuzzKeyForm(f *testing.F) {
	f.Add(DefaultKey, "orders", "billing")
	f.Add("kafka:topic:{topic}:{group}", "a:b", "c:d")
	f.Add("{group}/{topic}!", "", "*?[]\\")
	f.Add("{topic}_{group}", "a_b", "c")
	f.Fuzz(func(t *testing.T, text, topic, group string) {
		form, err := parseKeyForm(text)
		if err != nil {
			return
		}
		if again, err := parseKeyForm(form.String()); err == nil && again != form {
			t.Fatalf("%q is %+v, and %+v again", text, form, again)
		}
		n := name{topic, group}
		for _, found := range form.names(form.key(n)) {
			if form.key(found) != form.key(n) {
				t.Fatalf("%q: %q is also %+v", text, form.key(n), found)
			}
		}
		if isTopic(topic) && !slices.Contains(form.names(form.key(n)), n) {
			t.Fatalf("%q: %q is not %+v", text, form.key(n), n)
		}
		if strings.Count(form.glob(group), "*") == 0 {
			t.Fatalf("%q finds no topics", form.glob(group))
		}
	})
}
