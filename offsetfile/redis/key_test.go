package redis

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gtoffset/offsetfile"
)

func TestKeyForm(t *testing.T) {
	tests := map[string]struct {
		form  string
		key   string
		names []name
	}{
		"the usual one":             {DefaultKey, "offset:orders:billing", []name{{"orders", "billing"}}},
		"the other one":             {"kafka:topic:{topic}:{group}", "kafka:topic:orders:billing", []name{{"orders", "billing"}}},
		"a group with the divider":  {DefaultKey, "offset:orders:eu:billing", []name{{"orders", "eu:billing"}}},
		"a group of dividers":       {DefaultKey, "offset:orders:::", []name{{"orders", "::"}}},
		"no group":                  {DefaultKey, "offset:orders:", []name{{"orders", ""}}},
		"no topic":                  {DefaultKey, "offset::billing", nil},
		"another prefix":            {DefaultKey, "offsets:orders:billing", nil},
		"the prefix alone":          {DefaultKey, "offset:", nil},
		"a topic that Kafka denies": {DefaultKey, "offset:my orders:billing", []name{{"my orders", "billing"}}},
		"group first":               {"{group}/{topic}!", "eu/billing/orders!", []name{{"orders", "eu/billing"}}},
		"a slot's braces":           {"offset:{{topic}}:{group}", "offset:{orders}:billing", []name{{"orders", "billing"}}},
		"two readings":              {"{topic}_{group}", "orders_eu_billing", []name{{"orders", "eu_billing"}, {"orders_eu", "billing"}}},
		"two readings, group first": {"{group}-{topic}", "a-b-c", []name{{"b-c", "a"}, {"c", "a-b"}}},
		"a long divider":            {"{topic}-:{group}", "a--:b", []name{{"a-", "b"}}},
	}
	for title, tt := range tests {
		t.Run(title, func(t *testing.T) {
			f, err := parseKeyForm(tt.form)
			if err != nil {
				t.Fatal(err)
			}
			if f.String() != tt.form {
				t.Errorf("form: got %q, want %q", f, tt.form)
			}
			got := f.names(tt.key)
			if !reflect.DeepEqual(got, tt.names) {
				t.Errorf("names: got %q, want %q", got, tt.names)
			}
			for _, n := range got {
				if k := f.key(n); k != tt.key {
					t.Errorf("key of %q: got %q, want %q", n, k, tt.key)
				}
			}
		})
	}
}

func TestKeyFormErrors(t *testing.T) {
	for _, text := range []string{"", "offset:orders:billing", "offset:{topic}", "{group}", "{topic}{group}", "{topic}:{topic}:{group}", "{topic}:{group}:{group}"} {
		if f, err := parseKeyForm(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, f)
		}
	}
}

// What Kafka allows as a topic is told from any group, as soon as the divider has a character that no topic has.
func TestKeyFormTellsNamesApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		divider := rapid.StringMatching(`[-_.a:/]*[:/][-_.a:/]*`).Draw(t, "divider")
		text := "x" + offsetfile.TopicPlace + divider + offsetfile.GroupPlace + "y"
		if rapid.Bool().Draw(t, "group first") {
			text = "x" + offsetfile.GroupPlace + divider + offsetfile.TopicPlace + "y"
		}
		f, err := parseKeyForm(text)
		if err != nil {
			t.Fatal(err)
		}
		want := name{rapid.StringMatching(`[-_.a]{1,6}`).Draw(t, "topic"), rapid.StringMatching(`[-_.a:/]{0,9}`).Draw(t, "group")}
		if got := f.names(f.key(want)); !slices.Equal(got, []name{want}) {
			t.Errorf("%q as %s: got %q, want %q", f.key(want), text, got, want)
		}
	})
}

func TestGlob(t *testing.T) {
	f, err := parseKeyForm(`a*{topic}:{group}]`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.glob(`b?[c]\`), `a\**:b\?\[c\]\\\]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := f.globAll(), `a\**:*\]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
