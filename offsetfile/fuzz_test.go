package offsetfile

import (
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"gtoffset/kafkaops/offsets"
)

// FuzzReading reads a file as a store of files does, counted in either way, with and without salvage. What is taken of it has offsets
// only, and once changed is whole.
func FuzzReading(f *testing.F) {
	for _, seed := range []string{
		good, "0 5\n1 6\n", "0 5\r\n\r\n1 6\r\n", "# gtoffset 2\n", "# gtoffset 1\n# group g\n# topic t\n0 1\n# entries 1\n", "\x00\x00", "0 15", "", "\n\n",
		"0 9223372036854775807\n", "# gtoffset 1\n# group other\n# entries 0\n", "\xff\xfe0\x00", "0 5 epoch=-1 epoch=2\n1 -1\n",
	} {
		for _, mode := range []uint8{0, 1, 2, 3} {
			f.Add([]byte(seed), mode, int32(1), int64(7))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, mode uint8, partition int32, offset int64) {
		counts, salvage := Counts(mode&1), mode&2 != 0
		r := reading{presence: offsets.Present}
		r.take(b, "g", "t", "/s/g/t/gtoffset", counts, salvage)
		if (r.doc == nil) != (r.presence != offsets.Present) || r.doc == nil && r.reason == "" {
			t.Fatalf("presence %v, reason %q, document %v", r.presence, r.reason, r.doc)
		}
		h := Holding{Entries: map[offsets.Key]offsets.Entry{}}
		h.add("t", "/s/g/t/gtoffset", r, counts)
		for k, e := range h.Entries {
			if k.Partition < 0 || e.Offset < 0 || e.Epoch < offsets.None {
				t.Fatalf("%v: %+v", k, e)
			}
		}
		if r.doc == nil {
			return
		}
		e := edit{group: "g", topic: "t", path: "/s/g/t/gtoffset", counts: counts}
		if err := e.start(r, false); err != nil {
			t.Fatal(err)
		}
		partition, offset = max(partition, 0), max(offset, offsets.None)
		if e.set(partition, offsets.Value{Offset: offset, Epoch: offsets.None}) != nil || e.check() != nil {
			return
		}
		again := reading{presence: offsets.Present}
		again.take(e.doc.Bytes(), "g", "t", "/s/g/t/gtoffset", counts, false)
		if again.doc == nil {
			t.Fatalf("%q was changed to %q, which is not whole: %s", b, e.doc.Bytes(), again.reason)
		}
		held, found := again.doc.Entry(partition)
		if found != (offset != offsets.None) || found && counts.next(held.Offset) != offset {
			t.Fatalf("partition %d was set to %d, and is %+v, %v", partition, offset, held, found)
		}
	})
}

// FuzzHeaderValue writes a header's value and reads it back.
func FuzzHeaderValue(f *testing.F) {
	for _, s := range []string{"billing", " a", `"a`, "a\nb", "\u202e", "", "a\x00", "grüße"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if got, ok := headerValue(value); ok && utf8.ValidString(value) {
			_ = headerText(headerTopic, got)
		}
		if !utf8.ValidString(value) {
			return
		}
		text := headerText(headerTopic, value)
		if strings.ContainsAny(text, "\r\n\x00\x1b") {
			t.Fatalf("%q", text)
		}
		if got, ok := headerValue(strings.TrimPrefix(text, "# "+headerTopic+" ")); !ok || got != value {
			t.Fatalf("%q is %q, and %q again", value, text, got)
		}
	})
}

// FuzzAddress takes a store's URL apart. What it shows has no secret in it, and is the same address.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{
		"redis://user:$PW@h1:1,h2/0?key=a{topic}b{group}", "mysql://u:${PW}@h/db?password=$PW", "spark:/a/b?batch=1", "spark:webhdfs://h/p", "file:/a%20b", "zookeeper://a,b:1,[::1],[::2]:3/chroot",
		"redis://h/?counts=last", "x:", ":", "redis://@", "redis://a:b@c:d@e", "a://h?b=%zz", "a://h#x", "redis://u:$PW@h?sentinel-password=$PW&delegation=$T",
	} {
		f.Add(s)
	}
	const secret = "Secr3tPassw0rd"
	getenv := func(string) string { return secret }
	f.Fuzz(func(t *testing.T, text string) {
		if _, query, _ := strings.Cut(text, "?"); strings.Contains(text, secret) {
			return
		} else if params, err := url.ParseQuery(query); err != nil || params.Has("password-file") { // reads files
			return
		}
		a, err := ParseAddress(text, getenv)
		if err != nil {
			if strings.Contains(err.Error(), secret) {
				t.Fatal(err)
			}
			return
		}
		hosts, hostErr := a.HostPorts("1", 0)
		_, countErr := a.Counts()
		for _, err := range []error{hostErr, countErr, a.Unused()} {
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Fatal(err)
			}
		}
		again, err := ParseAddress(a.String(), getenv)
		if err != nil {
			t.Fatalf("%q shows as %q: %v", text, a, err)
		}
		same, _ := again.HostPorts("1", 0)
		if again.Scheme != a.Scheme || again.Path != a.Path || again.User != a.User || again.Password != a.Password || !slices.Equal(hosts, same) {
			t.Fatalf("%q shows as %q, which is %+v", text, a, again)
		}
	})
}

// FuzzCounts reads a value of a store, and writes it again.
func FuzzCounts(f *testing.F) {
	for _, s := range []string{"0", "41", "007", "-1", "9223372036854775807", "9223372036854775808", "", "+1", " 1", "1e3", "١"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range []Counts{CountsNext, CountsLast} {
			next, err := c.Read(text)
			if err != nil {
				if len(err.Error()) > 300 {
					t.Fatalf("an error of %d bytes", len(err.Error()))
				}
				continue
			}
			if again, err := c.Read(c.Text(next)); err != nil || again != next || next < 0 {
				t.Fatalf("%q is %d, which is written %q", text, next, c.Text(next))
			}
		}
		if p, ok := ParsePartition(text); ok && (p < 0 || int64(p) > math.MaxInt32) {
			t.Fatalf("%q is partition %d", text, p)
		}
	})
}
