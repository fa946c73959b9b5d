package output

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestShown(t *testing.T) {
	for in, want := range map[string]string{
		"a,b\n1\t2\n":            "a,b\n1\t2\n",
		"\x1b[2Jx\r\n":           `\x1b[2Jx\r` + "\n",
		"\u202egnp.exe\u200b\n":  `\u202egnp.exe\u200b` + "\n",
		"世界 é \\ 👩‍👩‍👧\n":        "世界 é \\ 👩‍👩‍👧\n",
		"\xff\xe4\xb8\n":         `\xff\xe4\xb8` + "\n",
		"\x00\a\b\x7f\u0085end":  `\x00\x07\x08\x7f\u0085end`,
		"\u2028\u2066\U000e0041": `\u2028\u2066\U000e0041`,
	} {
		for piece := 1; piece <= len(in); piece++ {
			var b bytes.Buffer
			w := Shown(&b)
			for rest := []byte(in); len(rest) > 0; {
				n := min(piece, len(rest))
				if wrote, err := w.Write(rest[:n]); err != nil || wrote != n {
					t.Fatal(wrote, err)
				}
				rest = rest[n:]
			}
			if piece < len(in) && strings.Contains(in, "\u200d") {
				continue // what joins pictures is only seen between them
			}
			if b.String() != want {
				t.Errorf("%q in pieces of %d: got %q, want %q", in, piece, b.String(), want)
			}
		}
	}
}

// However narrow a column is: what is left of a text has each number whole or not at all, and shows which it is.
func TestCutLeavesNumbersWhole(t *testing.T) {
	for _, text := range []string{
		"stored low: 1234567 expired; committed high: 99 ahead", "5,000,000 unprocessed; 12.5 s", "low: 100, high 7; and 88", "7 is 7",
		"committed low: 1234", "größer: 1234 é", "1234567890",
	} {
		all := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ';' })
		for _, ascii := range []bool{false, true} {
			for n := 4; n < len(text); n++ {
				got := cut(text, n, ascii)
				if got == text {
					continue
				}
				kept := strings.TrimSuffix(strings.TrimSuffix(got, "…"), "...")
				if width(got) > n || kept == got || strings.HasSuffix(kept, "0") || strings.IndexFunc(kept[max(len(kept)-1, 0):], unicode.IsDigit) >= 0 {
					t.Errorf("cut(%q, %d) = %q", text, n, got)
				}
				for _, word := range strings.Fields(kept) {
					if number := strings.TrimRight(word, ",;"); strings.IndexFunc(number, unicode.IsDigit) >= 0 && !slices.ContainsFunc(all, func(w string) bool { return strings.TrimRight(w, ",") == number }) {
						t.Errorf("cut(%q, %d) = %q: no %s in it", text, n, got, number)
					}
				}
			}
		}
	}
}
