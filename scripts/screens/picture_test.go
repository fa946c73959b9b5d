package main

import (
	"strings"
	"testing"
)

func TestPicture(t *testing.T) {
	got := picture("\x1b[1mab\x1b[0m\x1b[39m  c d\n\n\x1b[31m<def\n\x1b[39mg\n", 8)
	for _, want := range []string{
		`<text x="14" y="28" textLength="16" class="bold">ab</text>`,
		`<text x="46" y="28" textLength="24">c d</text>`,
		`<text x="14" y="64" textLength="32" class="red">&lt;def</text>`,
		`<text x="14" y="82" textLength="8">g</text>`,
		`viewBox="0 0 92 100"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %s in\n%s", want, got)
		}
	}
	long := picture("a\x1b[33mbcdefgh\n", 4)
	for _, want := range []string{
		`<text x="22" y="28" textLength="24" class="yellow">bcd</text>`,
		`<text x="14" y="46" textLength="32" class="yellow">efgh</text>`,
	} {
		if !strings.Contains(long, want) {
			t.Errorf("a line that is too long: want %s in\n%s", want, long)
		}
	}
}
