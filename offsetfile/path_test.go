package offsetfile

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEncode(t *testing.T) {
	for name, want := range map[string]string{
		"billing":                "billing",
		"a.b_c-D9":               "a.b_c-D9",
		"team/job:forward":       "team%2Fjob%3Aforward",
		"a b":                    "a%20b",
		"a:b":                    "a%3Ab",
		"a%3Ab":                  "a%253Ab",
		".":                      "%2E",
		"..":                     "%2E%2E",
		"...":                    "%2E%2E%2E",
		".a":                     ".a",
		"é":                      "%C3%A9",
		"\n":                     "%0A",
		"😀":                      "%F0%9F%98%80",
		"a~":                     "a%7E",
		strings.Repeat("a", 200): strings.Repeat("a", 200),
	} {
		got := encode(name)
		if got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
		if back, ok := decode(got); !ok || back != name {
			t.Errorf("%q: decoded %q, %v", got, back, ok)
		}
	}
}

func TestEncodeLong(t *testing.T) {
	got := encode(strings.Repeat("a", 201))
	want := strings.Repeat("a", 134) + "%~" // and 64 digits: printf a…a | sha256sum
	if !strings.HasPrefix(got, want) || len(got) != 200 || !hashed(got) {
		t.Errorf("got %q", got)
	}
	if got := encode(strings.Repeat("é", 100)); !strings.HasSuffix(got[:strings.Index(got, "%~")], "%A9") && !strings.HasSuffix(got[:strings.Index(got, "%~")], "%C3") {
		t.Errorf("cut through an escape: %q", got)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, folder := range []string{"", ".", "a b", "%", "%2", "%zz", "%41", "a%3ab", "%2E%2Ea", "é", "a%~b", strings.Repeat("a", 201), encode(strings.Repeat("a", 201))} {
		if name, ok := decode(folder); ok {
			t.Errorf("%q: got %q, want none", folder, name)
		}
	}
}

func TestPlain(t *testing.T) {
	for name, want := range map[string]bool{
		"a b": true, "é": true, "a%": true, "a%3ab": true,
		"billing": false, "a/b": false, "..": false, "a%3Ab": false, "a\x00b": false, encode(strings.Repeat("x", 300)): false,
	} {
		if folder, ok := plain(name); ok != want || ok && folder != name {
			t.Errorf("%q: got %q, %v, want %v", name, folder, ok, want)
		}
	}
}

// anyName favours what could make two names one.
var anyName = rapid.OneOf(
	rapid.StringMatching(`[a%~./0-9A-F ]{1,8}`),
	rapid.String().Filter(func(s string) bool { return s != "" }),
	rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat(rapid.SampledFrom([]string{"a", "é", "%", "%~", "."}).Draw(t, "part"), rapid.IntRange(60, 205).Draw(t, "times"))
	}),
	rapid.Custom(func(t *rapid.T) string { return encode(rapid.String().Draw(t, "encoded")) }).Filter(func(s string) bool { return s != "" }),
)

func TestEncodeIsOneToOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyName.Draw(t, "a"), anyName.Draw(t, "b")
		folder := encode(a)
		if len(folder) > longest || strings.Trim(folder, ".") == "" || strings.ContainsFunc(folder, func(r rune) bool {
			return r > 127 || r != '%' && r != '~' && !plainByte(byte(r))
		}) {
			t.Fatalf("%q: bad folder %q", a, folder)
		}
		if a != b && folder == encode(b) {
			t.Fatalf("%q and %q share %q", a, b, folder)
		}
		if a != b {
			if p, ok := plain(b); ok && p == folder {
				t.Fatalf("the plain folder of %q is that of %q", b, a)
			}
		}
		if back, ok := decode(folder); ok && back != a || !ok && !hashed(folder) {
			t.Fatalf("%q: %q decodes to %q, %v", a, folder, back, ok)
		}
	})
}

// FuzzDecode takes the name of a folder for that of a group or topic.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"a%3Ab", "%2E", "a b", "%~", "%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, folder string) {
		if name, ok := decode(folder); ok && encode(name) != folder {
			t.Errorf("%q decodes to %q, which is at %q", folder, name, encode(name))
		}
	})
}
