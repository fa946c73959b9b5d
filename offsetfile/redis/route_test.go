package redis

import (
	"errors"
	"testing"

	redigo "github.com/gomodule/redigo/redis"
)

// The numbers are those of CLUSTER KEYSLOT.
func TestSlotOf(t *testing.T) {
	for key, want := range map[string]int{
		"":                        0,
		"123456789":               12739,
		"somekey":                 11058,
		"foo{hash_tag}":           2515,
		"{hash_tag}":              2515,
		"a{hash_tag}b{123456789}": 2515,
		"foo{}{hash_tag}":         10378, // empty braces are none
		"offset:orders:billing":   1583,
		"offset:{orders":          2220,
	} {
		if got := slotOf(key); got != want {
			t.Errorf("%q: got %d, want %d", key, got, want)
		}
	}
}

func TestRedirection(t *testing.T) {
	for text, want := range map[string][2]string{
		"MOVED 3999 10.0.0.1:6379":    {"MOVED", "10.0.0.1:6379"},
		"ASK 3999 cache-2:6380":       {"ASK", "cache-2:6380"},
		"MOVED 3999 fe80::1:6379":     {"MOVED", "[fe80::1]:6379"},
		"MOVED 3999 :6381":            {"MOVED", "[::1]:6381"},
		"MOVED 3999 ?:6381":           {"MOVED", "[::1]:6381"},
		"MOVED 3999":                  {},
		"ERR unknown command":         {},
		"WRONGTYPE Operation against": {},
	} {
		how, to := redirection(redigo.Error(text), "[::1]:7000")
		if got := [2]string{how, to}; got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for _, err := range []error{nil, errors.New("MOVED 3999 10.0.0.1:6379")} {
		if how, _ := redirection(err, "a:1"); how != "" {
			t.Errorf("%v: got %q, want nothing", err, how)
		}
	}
}

func TestParseSlots(t *testing.T) {
	server := func(host any, port int64) []any { return []any{host, port, []byte("id")} }
	slots, err := parseSlots([]any{
		[]any{int64(0), int64(99), server([]byte("a"), 1), server([]byte("b"), 2)},
		[]any{int64(100), int64(100), server([]byte(""), 3)},
		[]any{int64(102), int64(slotCount - 1), server(nil, 4)},
	}, "seed:7")
	if err != nil {
		t.Fatal(err)
	}
	for slot, want := range map[int]string{0: "a:1", 99: "a:1", 100: "seed:3", 101: "", 102: "seed:4", slotCount - 1: "seed:4"} {
		if slots[slot] != want {
			t.Errorf("slot %d: got %q, want %q", slot, slots[slot], want)
		}
	}
	for _, bad := range []any{
		[]byte("OK"),
		[]any{[]any{int64(0), int64(1)}},
		[]any{[]any{int64(-1), int64(1), server([]byte("a"), 1)}},
		[]any{[]any{int64(0), int64(slotCount), server([]byte("a"), 1)}},
		[]any{[]any{int64(0), int64(1), []any{[]byte("a")}}},
		[]any{[]any{int64(0), int64(1), []any{[]byte("a"), []byte("x")}}},
	} {
		if _, err := parseSlots(bad, "seed:7"); err == nil {
			t.Errorf("%q: got no error", bad)
		}
	}
}
