package wire

import (
	"strings"
	"testing"
)

// A name becomes those that its addresses have; what does not resolve, or is no address, stays to fail under its own name.
func TestCanonical(t *testing.T) {
	got := canonical(t.Context(), []string{"localhost:9092", "127.0.0.1:9092", "no.such.host.invalid:9093", "nothing"})
	if len(got) < 3 {
		t.Fatalf("got %q", got)
	}
	seen := map[string]bool{}
	for _, a := range got {
		if seen[a] {
			t.Errorf("%s twice in %q", a, got)
		}
		seen[a] = true
		if !strings.HasSuffix(a, ":9092") && a != "no.such.host.invalid:9093" && a != "nothing" {
			t.Errorf("%q is none of what was given", a)
		}
	}
	if !seen["no.such.host.invalid:9093"] || !seen["nothing"] {
		t.Errorf("got %q", got)
	}
}

// A delegation token says that it is one.
func TestScramWithAToken(t *testing.T) {
	for _, token := range []bool{false, true} {
		_, first, err := Scram{Username: "id", Password: "secret", Token: token}.Start(t.Context())
		if err != nil || strings.HasSuffix(string(first), ",tokenauth=true") != token {
			t.Errorf("token %v: first message %q, %v", token, first, err)
		}
	}
}
