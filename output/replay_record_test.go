package output

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestJSONLine(t *testing.T) {
	e := JSONLines().For("orders", 3)
	for _, c := range []struct {
		name string
		r    Record
		want string
	}{
		{"text", Record{Offset: 120, Timestamp: 1795958046849, Key: []byte("k"), Value: []byte("v"), Headers: []RecordHeader{{[]byte("h"), []byte("x")}}}, `"offset":120,"timestamp":1795958046849,"timestamp_type":"create","key":"k","value":"v","headers":[["h","x"]]}`},
		{"null and empty", Record{Value: []byte{}}, `"offset":0,"timestamp":0,"timestamp_type":"create","key":null,"value":"","headers":[]}`},
		{"no timestamp", Record{Offset: 1 << 62, Timestamp: -1}, `"offset":4611686018427387904,"timestamp":null,"timestamp_type":null,"key":null,"value":null,"headers":[]}`},
		{"the broker's", Record{Timestamp: 5, LogAppend: true}, `"offset":0,"timestamp":5,"timestamp_type":"logappend","key":null,"value":null,"headers":[]}`},
		{"no text", Record{Key: []byte{0xff}, Value: []byte("a\x80")}, `"offset":0,"timestamp":0,"timestamp_type":"create","key_base64":"/w==","value_base64":"YYA=","headers":[]}`},
		{"escapes", Record{Value: []byte("\"\\\n\r\t\x00\x1b[31m\x7f\u0085é世\u2028")}, `"offset":0,"timestamp":0,"timestamp_type":"create","key":null,"value":"\"\\\n\r\t\u0000\u001b[31m\u007f\u0085é世` + "\u2028" + `","headers":[]}`},
		{"headers", Record{Headers: []RecordHeader{{[]byte("a"), nil}, {[]byte("a"), []byte{}}, {[]byte("b"), []byte{0xfe}}}}, `"offset":0,"timestamp":0,"timestamp_type":"create","key":null,"value":null,"headers":[["a",null],["a",""],["b",{"base64":"/g=="}]]}`},
	} {
		if got, want := string(e.Append(nil, &c.r)), `{"topic":"orders","partition":3,`+c.want+"\n"; got != want {
			t.Errorf("%s:\ngot  %swant %s", c.name, got, want)
		}
	}
}

// A line is one JSON object on one line, and holds the record exactly.
func TestJSONLineReadsBack(t *testing.T) {
	e := JSONLines().For(`t"\`, 0)
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.OneOf(rapid.SliceOf(rapid.Byte()), rapid.Map(rapid.String(), func(s string) []byte { return []byte(s) }), rapid.Just([]byte(nil)))
		r := Record{Offset: rapid.Int64Min(0).Draw(t, "offset"), Key: part.Draw(t, "key"), Value: part.Draw(t, "value")}
		line := e.Append(nil, &r)
		if n := bytes.IndexByte(line, '\n'); n != len(line)-1 || !utf8.Valid(line) || bytes.ContainsAny(line[:n], "\x1b\r\x7f") {
			t.Fatalf("%q", line)
		}
		var got struct {
			Topic       string
			Offset      int64
			Key, Value  *string
			KeyBase64   *string `json:"key_base64"`
			ValueBase64 *string `json:"value_base64"`
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		back := func(text, encoded *string) []byte {
			switch {
			case text != nil:
				return []byte(*text)
			case encoded == nil:
				return nil
			}
			b, err := base64.StdEncoding.DecodeString(*encoded)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		for _, c := range []struct{ got, want []byte }{{back(got.Key, got.KeyBase64), r.Key}, {back(got.Value, got.ValueBase64), r.Value}} {
			if !bytes.Equal(c.got, c.want) || (c.got == nil) != (c.want == nil) {
				t.Fatalf("got %q, want %q", c.got, c.want)
			}
		}
		if got.Topic != `t"\` || got.Offset != r.Offset {
			t.Fatalf("got %+v", got)
		}
	})
}

func TestRecordTemplate(t *testing.T) {
	full := Record{Offset: 7, Timestamp: 1795958046849, Key: []byte("key"), Value: []byte("value"), Headers: []RecordHeader{{[]byte("a"), []byte("1")}, {[]byte("b"), nil}, {[]byte("c"), []byte{}}}}
	for _, c := range []struct{ template, want, null string }{
		{"%t %p %o %k %s", "orders 3 7 key value", "orders 3 0  "},
		{"%K %S %T", "3 5 1795958046849", "-1 -1 -1"},
		{"%R", "\x00\x00\x00\x05", "\xff\xff\xff\xff"},
		{"%h", "a=1,b=NULL,c=", ""},
		{`%%s\n\r\t`, "%s\n\r\t", "%s\n\r\t"},
		// what kcat 1.7.1 makes of them
		{`\x41\x4a-\101\7`, "AJ-e\a", "AJ-e\a"},
		{`\010 \0101 \1234 \300 \x414 \x4 \9 \65b \08`, "\b A \xd2 , \x14 \x04 \t Ab \x008", "\b A \xd2 , \x14 \x04 \t Ab \x008"},
		{`\xg \x`, "g ", "g "},
		{`\q\\`, `q\`, `q\`},
		{"", "", ""},
		{"é%s", "évalue", "é"},
	} {
		f, err := ParseRecordFormat(c.template)
		if err != nil {
			t.Errorf("%q: %v", c.template, err)
			continue
		}
		e := f.For("orders", 3)
		if got := string(e.Append(nil, &full)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.template, got, c.want)
		}
		if got := string(e.Append(nil, &Record{Timestamp: -1})); got != c.null {
			t.Errorf("%q of an empty record: got %q, want %q", c.template, got, c.null)
		}
	}
	for template, want := range map[string]string{"%": "single", "%s %": "single", "%q": `"%q"`, "%é": `"%é"`, "%D": `"%D"`} {
		if _, err := ParseRecordFormat(template); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %s", template, err, want)
		}
	}
}

func TestRawValues(t *testing.T) {
	e := RawValues().For("orders", 0)
	b := e.Append(nil, &Record{Key: []byte("k"), Value: []byte("a\x00b")})
	b = e.Append(b, &Record{})
	if got := string(b); got != "a\x00b\n\n" {
		t.Errorf("got %q", got)
	}
}

// plain stops at every byte that needs an escape, wherever it stands among the eight.
func TestPlain(t *testing.T) {
	for at := range 20 {
		for c := range 256 {
			v := bytes.Repeat([]byte("a"), 20)
			v[at] = byte(c)
			whole := c >= 0x20 && c < 0x7f && c != '"' && c != '\\'
			if n := plain(v); n > at && !whole || n != len(v) && whole {
				t.Fatalf("%#x at %d: got %d", c, at, n)
			}
		}
	}
}

// Writing a record allocates nothing.
func TestRecordsWithoutAllocation(t *testing.T) {
	template, err := ParseRecordFormat(`%t %p %o %k %s %K %S %R %T %h\n`)
	if err != nil {
		t.Fatal(err)
	}
	r := Record{Offset: 1 << 40, Timestamp: 1795958046849, Key: []byte("key\n"), Value: []byte{0xff, 1, 2}, Headers: []RecordHeader{{[]byte("a"), []byte("1")}}}
	for name, f := range map[string]RecordFormat{"json": JSONLines(), "raw": RawValues(), "template": template} {
		e := f.For("orders", 3)
		b := e.Append(nil, &r)
		if n := testing.AllocsPerRun(100, func() { b = e.Append(b[:0], &r) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// FuzzRecordTemplate reads a template of replay --format, and writes a record by it.
func FuzzRecordTemplate(f *testing.F) {
	for _, s := range []string{`%t %p %o\n`, `\x4`, `\xg`, `\`, `%`, `\777`, "%h%R"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if format, err := ParseRecordFormat(s); err == nil {
			format.For("t", 0).Append(nil, &Record{})
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	text := []byte(strings.Repeat("0123456789", 10))
	for _, c := range []struct {
		name string
		f    RecordFormat
	}{{"json", JSONLines()}, {"raw", RawValues()}} {
		b.Run(c.name, func(b *testing.B) {
			e := c.f.For("orders", 3)
			r := Record{Offset: 123456, Timestamp: 1795958046849, Value: text}
			buf := make([]byte, 0, 1<<20)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if len(buf) > 1<<20-1000 {
					buf = buf[:0]
				}
				buf = e.Append(buf, &r)
			}
		})
	}
}
