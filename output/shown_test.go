package output

import (
	"bytes"
	"strings"
	"testing"
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
