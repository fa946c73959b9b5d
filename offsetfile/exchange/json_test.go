package exchange_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile/exchange"
)

func TestOurs(t *testing.T) {
	json, yaml := write(t, backup(), exchange.JSON), write(t, backup(), exchange.YAML)
	later := strings.Replace(json, `"kind"`, `"later":[{"a":[{}],"a":{}}],"kind"`, 1)
	for _, c := range []struct{ name, text string }{
		{"json", json},
		{"yaml", yaml},
		{"FMT-1 byte-order mark", "\ufeff" + json},
		{"FMT-3 CRLF and no final newline", strings.TrimSuffix(strings.ReplaceAll(json, ",", ",\r\n"), "\n")},
		{"yaml in CRLF", strings.ReplaceAll(yaml, "\n", "\r\n")},
		{"yaml with a mark, comments and a beginning", "\ufeff# saved\n---\n" + yaml},
		{"yaml in single quotes", strings.ReplaceAll(yaml, `"`, `'`)},
		{"yaml without quotes", strings.ReplaceAll(yaml, `"`, ``)},
		{"a field of a later version", later},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parse(c.text, exchange.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := backup()
			if strings.Contains(c.name, "yaml") {
				want.Format = exchange.YAML
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(offsets.Given{}, "Line")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(want.Backup(), got.Backup()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOursRefuses(t *testing.T) {
	whole := write(t, backup(), exchange.JSON)
	swap := func(old, new string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("%q is not in %s", old, whole)
		}
		return strings.Replace(whole, old, new, 1)
	}
	for _, c := range []struct{ name, text, want string }{
		{"cut short", whole[:len(whole)/2], "line 1, column"},
		{"something behind", whole + "{}", "line 2, column 1: something follows the end"},
		{"no schema", `{"groups":[]}`, "no schema: not a document of gtoffset"},
		{"another schema", swap("gtoffset.offsets/1", "gtoffset.offsets/2"), `schema is "gtoffset.offsets/2", want "gtoffset.offsets/1"`},
		{"another kind", swap(`"kind":"backup"`, `"kind":"x"`), `kind is "x"`},
		{"another side", swap(`"side":"stored"`, `"side":"x"`), `side is "x"`},
		{"negative", swap(`"offset":120`, `"offset":-1`), `groups[0].partitions[0] (group "billing", topic "orders", partition 0): offset -1 is negative`},
		{"a fraction", swap(`"offset":120`, `"offset":120.5`), "offset 120.5 is not a whole number"},
		{"an exponent", swap(`"offset":120`, `"offset":1e3`), "offset 1e3 is not a whole number"},
		{"a string", swap(`"offset":120`, `"offset":"120"`), `offset "120" is not a whole number (take the quotes off)`},
		{"FMT-9 too large", swap(`"offset":120`, `"offset":9223372036854775808`), "offset 9223372036854775808 does not fit into 64 bits"},
		{"a field twice", swap(`"offset":120`, `"offset":120,"offset":5`), `key "offset" twice, and not the same; first in line 1, column`},
		{"a field twice, late", swap(`"written":0`, `"written":0,"later":[[{"a":[{}],"b":{}}]],"written":5`), `key "written" twice`},
		{"an escaped field twice", swap(`"offset":120`, `"offset":120,"\u006fffset":5`), `key "offset" twice`},
		{"no offset", swap(`"offset":120,`, ``), "offset is missing"},
		{"no written", swap(`,"written":500`, ``), "written is missing"},
		{"no partition", swap(`"partition":0,`, ``), "partition is missing"},
		{"a negative partition", swap(`"partition":0,`, `"partition":-1,`), "partition -1 is negative"},
		{"a partition of 33 bits", swap(`"partition":0,`, `"partition":4294967296,`), "partition 4294967296 does not fit into 32 bits"},
		{"no topic", swap(`"topic":"orders",`, ``), "topic is missing"},
		{"no group", swap(`"group":"billing",`, ``), "groups[0]: group is missing"},
		{"no groups", swap(`"groups":`, `"grupps":`), "groups are missing"},
		{"groups that are none", `{"schema":"gtoffset.offsets/1","kind":"export","side":"both","groups":{}}`, "groups is an object, not a list"},
		{"twice", swap(`"partition":3`, `"partition":0`), `group "billing", topic "orders", partition 0 twice: 120 in line 1, column`},
		{"two sides", swap(`"partition":0,"side":"stored"`, `"partition":0,"side":"committed"`), "side is committed in a document of the stored side"},
		{"an epoch", swap(`"epoch":null`, `"epoch":-1`), "epoch -1 is no epoch"},
		{"type of partition", swap(`"partition":0`, `"partition":"0"`), `partition "0" is not a whole number`},
		{"a group that is a number", swap(`"group":"billing"`, `"group":5`), "group is a number, not a text"},
		{"bad base64", swap(`"group":"billing"`, `"group":"b","group_base64":"%"`), "group_base64"},
		{"bad time", swap(`2026-11-29T12:00:00.123Z`, `yesterday`), "not a time in RFC 3339"},
		{"a group twice", strings.Replace(whole, `"groups":[`, `"groups":[{"group":"billing","partitions":[]},`, 1), `group "billing" is named twice`},
		{"yaml: a key twice", strings.Replace(write(t, backup(), exchange.YAML), "offset: 120", "offset: 120\n        offset: 121", 1), `line 26, column 9: groups[0].partitions[0]: key "offset" twice, and not the same; first in line 25, column 9`},
		{"yaml: minutes", strings.Replace(write(t, backup(), exchange.YAML), "offset: 120", "offset: 1:30", 1), `offset "1:30" is not a whole number`},
		{"yaml: sixteen digits", strings.Replace(write(t, backup(), exchange.YAML), "offset: 120", "offset: 0x10", 1), "offset 0x10 is not a whole number"},
		{"yaml: a number in another notation", strings.Replace(write(t, backup(), exchange.YAML), "offset: 120", "offset: 0120", 1), "has a leading zero"},
		{"yaml: an alias", strings.Replace(write(t, backup(), exchange.YAML), "offset: 120", "offset: &a 120", 1), "anchors and aliases are not taken"},
		{"yaml: syntax", "schema: gtoffset.offsets/1\nkind: [\n", "line"},
		{"yaml: two documents", write(t, backup(), exchange.YAML) + "---\na: 1\n", "a second document"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := exchange.Options{}
			if c.name == "no schema" {
				o.As = exchange.JSON
			}
			_, err := parse(c.text, o)
			var m *exchange.MalformedError
			if !errors.As(err, &m) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	again := swap(`"offset":120`, `"offset":120,"offset":120`)
	if d, err := parse(again, exchange.Options{}); err != nil || len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], `key "offset" twice, the same as in line 1`) {
		t.Errorf("the same key twice: %q, %v", d.Warnings, err)
	}
}
