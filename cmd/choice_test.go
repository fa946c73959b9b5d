package cmd

import "testing"

func TestNearest(t *testing.T) {
	groups := []string{"billing", "billing-test", "audit", "shipping", "a", "orders-eu-1"}
	for _, c := range []struct{ typed, want string }{
		{"billng", "billing"},
		{"biling", "billing"},
		{"bililng", "billing"},
		{"BILLING", "billing"},
		{"billing-tset", "billing-test"},
		{"bill", "billing"},
		{"au", "audit"},
		{"b", ""},
		{"x", ""},
		{"audti", "audit"},
		{"sipping-", "shipping"},
		{"wholly-other", ""},
		{"", ""},
		{"A", "a"},
		{"billing-prod", ""},
		{"billing-rest", "billing-test"},
		{"orders-eu-2", ""},
		{"orders-us-1", ""},
		{"odrers-eu-1", "orders-eu-1"},
	} {
		if got := nearest(c.typed, groups); got != c.want {
			t.Errorf("nearest(%q) = %q, want %q", c.typed, got, c.want)
		}
	}
}

func TestApart(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"ab", "ba", 1}, {"abc", "acb", 1}, {"orders", "odrers", 1}, {"orders", "order", 1}, {"orders", "0rder5", 2}, {"abcdef", "uvwxyz", 4}, {"a", "abcdefgh", 4}} {
		if got := apart(c.a, c.b, 4); got != c.want {
			t.Errorf("apart(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := apart(c.b, c.a, 4); got != c.want {
			t.Errorf("apart(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
