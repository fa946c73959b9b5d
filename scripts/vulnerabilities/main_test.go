package main

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	found, err := parse(strings.NewReader(`{"config":{"protocol_version":"v1.0.0"}}
{"osv":{"id":"GO-2026-0001","summary":"a panic on crafted frames"}}
{"finding":{"osv":"GO-2026-0001","fixed_version":"v1.20.2","trace":[{"module":"example.com/z","version":"v1.0.0"}]}}
{"finding":{"osv":"GO-2026-0001","fixed_version":"v1.20.2","trace":[{"module":"example.com/z","package":"example.com/z/x","function":"Decode"},{"module":"gtoffset","package":"gtoffset/cmd","function":"Main"}]}}
{"finding":{"osv":"GO-2026-0002","fixed_version":"v1.26.9","trace":[{"module":"stdlib","package":"net/http","function":"Get"}]}}
{"finding":{"osv":"GO-2026-0003","trace":[{"module":"example.com/y","package":"example.com/y"}]}}
`))
	if err != nil || len(found) != 2 {
		t.Fatalf("got %+v, %v", found, err)
	}
	if f := found[0]; f.id != "GO-2026-0001" || f.library() || f.where != "example.com/z/x.Decode" || f.fixed != "v1.20.2" || f.summary != "a panic on crafted frames" {
		t.Errorf("got %+v", f)
	}
	if f := found[1]; f.id != "GO-2026-0002" || !f.library() {
		t.Errorf("got %+v", f)
	}
}
