package offsetfile

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gtoffset/kafkaops/offsets"
)

const good = `# gtoffset 1
# group billing
# topic orders
# topic-id 5Qx0
# cluster MkU3
# saved 2026-11-29T12:00:00.123Z
# owner team a, since 2019
0 1500 epoch=4 note=x
1 1498
# entries 2
`

func mustParse(t testing.TB, text string) *Document {
	t.Helper()
	d, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	return d
}

func TestParseHeadered(t *testing.T) {
	d := mustParse(t, good)
	if !d.Headered() || d.Group() != "billing" || d.Topic() != "orders" || d.TopicID() != "5Qx0" || d.Cluster() != "MkU3" {
		t.Errorf("headers: %q %q %q %q", d.Group(), d.Topic(), d.TopicID(), d.Cluster())
	}
	if want := time.Date(2026, 11, 29, 12, 0, 0, 123e6, time.UTC); !d.Saved().Equal(want) {
		t.Errorf("saved: got %v, want %v", d.Saved(), want)
	}
	want := []Entry{{Partition: 0, Offset: 1500, Epoch: 4}, {Partition: 1, Offset: 1498, Epoch: offsets.None}}
	if got := slices.Collect(d.Entries()); !slices.Equal(got, want) {
		t.Errorf("entries: got %v, want %v", got, want)
	}
	if got := string(d.Bytes()); got != good {
		t.Errorf("written: got %q", got)
	}
}

func TestParseAccepts(t *testing.T) {
	for name, tt := range map[string]struct {
		text    string
		entries int
	}{
		"bare":                    {"0 5\n1 6\n", 2},
		"bare, tab and blanks":    {"\t0\t5 \n 1   6\n", 2},
		"bare, CRLF":              {"0 5\r\n1 6\r\n", 2},
		"bare, mixed line ends":   {"0 5\r\n1 6\n", 2},
		"bare, blank lines":       {"\n0 5\n\n \n1 6\n\n", 2},
		"bare, offset 0":          {"0 0\n", 1},
		"bare, largest":           {"2147483647 9223372036854775807\n", 1},
		"headered, no entries":    {"# gtoffset 1\n# entries 0\n", 0},
		"headered, CRLF":          {"# gtoffset 1\r\n0 5\r\n# entries 1\r\n", 1},
		"headered, blank at end":  {"# gtoffset 1\n0 5\n# entries 1\n\n", 1},
		"headered, odd saved":     {"# gtoffset 1\n# saved yesterday\n# entries 0\n", 0},
		"headered, comment":       {"# gtoffset 1\n#\n#no blank\n# entries 0\n", 0},
		"epoch -1 is no epoch":    {"0 5 epoch=-1\n", 1},
		"entry with its own id":   {"# gtoffset 1\n0 5 topic-id=new cluster=a%20b\n# entries 1\n", 1},
		"unsorted":                {"1 6\n0 5\n", 2},
		"unknown key, odd values": {"0 5 x== y=é\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := mustParse(t, tt.text)
			if d.Len() != tt.entries {
				t.Errorf("entries: got %d, want %d", d.Len(), tt.entries)
			}
			if got := string(d.Bytes()); got != tt.text {
				t.Errorf("written: got %q, want %q", got, tt.text)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	nul := strings.Repeat("\x00", 116)
	for name, tt := range map[string]struct {
		text  string
		want  []string // line and a part of the reason, for each problem
		saves string   // partitions that survive, with their offsets
	}{
		"only NUL bytes":               {nul, []string{"1 crash before sync"}, ""},
		"good bytes, then NUL":         {"0 1500\n1 14" + nul, []string{"2 crash before sync"}, "0=1500"},
		"NUL inside":                   {"0 1\n1 \x00\n2 3\n", []string{"2 NUL"}, "0=1 2=3"},
		"cut number":                   {"0 1500\n1 14", []string{"2 cut off"}, "0=1500"},
		"cut at a partition":           {"0 1500\n1", []string{"2 cut off"}, "0=1500"},
		"no final newline":             {"0 1500", []string{"1 cut off"}, ""},
		"headered, cut at a line end":  {"# gtoffset 1\n0 1500\n", []string{`0 # entries 1`}, "0=1500"},
		"headered, cut in the count":   {"# gtoffset 1\n0 1\n# entries 1", []string{"3 cut off", "0 missing"}, "0=1"},
		"headered, only the beginning": {"# gtoffs", []string{"1 cut off"}, ""},
		"wrong count":                  {"# gtoffset 1\n0 1500\n# entries 2\n", []string{"3 is 2, but there are 1"}, "0=1500"},
		"count is no number":           {"# gtoffset 1\n0 1\n# entries x\n", []string{"3 is not a number", "0 missing"}, "0=1"},
		"after the count":              {"# gtoffset 1\n0 1\n# entries 1\n1 498\n# entries 2\n", []string{"4 after the count", "5 after the count"}, "0=1"},
		"negative":                     {"0 -5\n1 6\n", []string{"1 negative"}, "1=6"},
		"latest marker":                {"0 -1\n", []string{"1 latest"}, ""},
		"earliest marker":              {"0 -2\n", []string{"1 earliest"}, ""},
		"Flink's earliest":             {"0 -915623761775\n", []string{"1 Flink's marker for earliest"}, ""},
		"far too negative":             {"0 -99999999999999999999\n", []string{"1 negative"}, ""},
		"above int64":                  {"0 9223372036854775808\n1 6\n", []string{"1 too large"}, "1=6"},
		"far above int64":              {"0 99999999999999999999999\n", []string{"1 too large"}, ""},
		"partition above int32":        {"2147483648 5\n", []string{"1 too large"}, ""},
		"negative partition":           {"-1 5\n", []string{"1 negative"}, ""},
		"no offset":                    {"0 5\n1\n", []string{"2 no offset"}, "0=5"},
		"plus sign":                    {"0 +5\n", []string{"1 not a number"}, ""},
		"decimal point":                {"0 5.0\n", []string{"1 not a number"}, ""},
		"words":                        {"0 1500\nhello world\n", []string{"2 not a number"}, "0=1500"},
		"third number":                 {"0 5 6\n", []string{"1 not key=value"}, ""},
		"epoch is no number":           {"0 5 epoch=x\n", []string{"1 epoch"}, ""},
		"two epochs":                   {"0 5 epoch=1 epoch=1\n", []string{"1 second epoch"}, ""},
		"repeated, the same":           {"0 5\n1 6\n0 5\n", []string{"3 first in line 1"}, "0=5 1=6"},
		"repeated, another value":      {"0 5\n1 6\n0 7\n", []string{"3 first in line 1"}, "1=6"},
		"all bad lines":                {"x\n0 5\ny\n1 -7\nz\n", []string{"1 not a number", "3 not a number", "4 negative", "5 not a number"}, "0=5"},
		"header in a bare file":        {"0 5\n# entries 1\n", []string{"2 first line"}, "0=5"},
		"bad JSON string":              {"# gtoffset 1\n# group \"a\n# entries 0\n", []string{"2 JSON"}, ""},
		"two groups":                   {"# gtoffset 1\n# group a\n# group b\n# entries 0\n", []string{"3 second group"}, ""},
		"two files in one":             {"# gtoffset 1\n0 1\n# gtoffset 1\n# entries 1\n", []string{"3 second beginning"}, "0=1"},
		"only blank lines":             {"\n\n", []string{"0 blank"}, ""},
		"byte-order mark":              {"\ufeff0 5\n", []string{"1 byte-order"}, "0=5"},
		"UTF-16":                       {"\xff\xfe0\x00 \x005\x00\n\x00", []string{"1 UTF-16"}, ""},
		"old Mac line ends":            {"0 5\r1 6\r", []string{"1 cut off"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(tt.text))
			var damage *DamageError
			if !errors.As(err, &damage) {
				t.Fatalf("got %v, want a DamageError", err)
			}
			if len(damage.Problems) != len(tt.want) {
				t.Fatalf("problems: got %v, want %q", damage, tt.want)
			}
			for i, p := range damage.Problems {
				line, part, _ := strings.Cut(tt.want[i], " ")
				if fmt.Sprint(p.Line) != line || !strings.Contains(p.Reason, part) {
					t.Errorf("problem %d: got line %d %q, want %q", i, p.Line, p.Reason, tt.want[i])
				}
			}
			d, _, err := Salvage([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			var saved []string
			for e := range d.Entries() {
				saved = append(saved, fmt.Sprintf("%d=%d", e.Partition, e.Offset))
			}
			if got := strings.Join(saved, " "); got != tt.saves {
				t.Errorf("salvaged: got %q, want %q", got, tt.saves)
			}
			if d.Headered() || d.Len() > 0 {
				mustParse(t, string(d.Bytes()))
			}
		})
	}
}

func TestParseRefusesWhole(t *testing.T) {
	if _, err := Parse(nil); !errors.Is(err, ErrEmpty) {
		t.Errorf("no bytes: got %v, want ErrEmpty", err)
	}
	if _, err := Parse(make([]byte, MaxSize+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: got %v, want ErrTooLarge", err)
	}
	for _, text := range []string{"# gtoffset 2\n0 5\n# entries 1\n", "# gtoffset\n# entries 0\n", "# gtoffset 1.1\n# entries 0\n"} {
		var version *VersionError
		if _, err := Parse([]byte(text)); !errors.As(err, &version) {
			t.Errorf("parse %q: got %v, want a VersionError", text, err)
		}
		if _, _, err := Salvage([]byte(text)); !errors.As(err, &version) {
			t.Errorf("salvage %q: got %v, want a VersionError", text, err)
		}
	}
}

func TestDamageNamesEveryLine(t *testing.T) {
	_, err := Parse([]byte(strings.Repeat("x\n", 60) + "0 1\n" + "x\n"))
	for _, want := range []string{"line 1: ", "line 50: ", "more in lines 51-60, 62"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to contain %q", err, want)
		}
	}
}

func TestHeaderValues(t *testing.T) {
	for value, want := range map[string]string{
		"billing":     "# group billing",
		"a b":         "# group a b",
		`a"b`:         `# group a"b`,
		`"a`:          `# group "\"a"`,
		" a":          `# group " a"`,
		"a ":          `# group "a "`,
		"a\nb":        `# group "a\nb"`,
		"a\r":         `# group "a\r"`,
		"a&<b>":       "# group a&<b>",
		"é😀":          "# group é😀",
		"a\u00a0":     "# group \"a\u00a0\"",
		"\u202ex":     "# group \"\u202ex\"",
		"\x00":        `# group "\u0000"`,
		"# entries 1": "# group # entries 1",
	} {
		d := New(value, "t")
		if got := strings.Split(string(d.Bytes()), "\n")[1]; got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
		if got := mustParse(t, string(d.Bytes())).Group(); got != value {
			t.Errorf("%q: read back %q", value, got)
		}
	}
}

func TestChangesOnlyWhatChanges(t *testing.T) {
	for name, tt := range map[string]struct {
		text   string
		change func(d *Document) error
		want   string
	}{
		"bare, one of CRLF and blanks": {"0\t5\r\n\r\n1   6 \r\n2 7\n", func(d *Document) error {
			return d.Set(Entry{Partition: 1, Offset: 1000, Epoch: 3})
		}, "0\t5\r\n\r\n1   1000 \r\n2 7\n"},
		"bare, added in the middle": {"0 5\r\n\r\n7 6\r\n", func(d *Document) error {
			return d.Set(Entry{Partition: 3, Offset: 1, Epoch: 3})
		}, "0 5\r\n3 1\r\n\r\n7 6\r\n"},
		"bare, added before": {"\n1 5\n", func(d *Document) error { return d.Set(Entry{Partition: 0, Offset: 1, Epoch: -1}) }, "\n0 1\n1 5\n"},
		"bare, no ids":       {"0 5\n", func(d *Document) error { return d.Set(Entry{Partition: 0, Offset: 1, Epoch: -1, TopicID: "x"}) }, "0 1\n"},
		"bare, had an epoch": {"0 5 epoch=1\n", func(d *Document) error { return d.Set(Entry{Partition: 0, Offset: 1, Epoch: 2}) }, "0 1 epoch=2\n"},
		"bare, removed":      {"0 5\n\n1 6\n", func(d *Document) error { d.Remove(0); return nil }, "\n1 6\n"},
		"headered": {good, func(d *Document) error {
			return d.Set(Entry{Partition: 0, Offset: 9, Epoch: offsets.None})
		}, strings.Replace(good, "0 1500 epoch=4 note=x", "0 9 note=x", 1)},
		"headered, epoch added": {good, func(d *Document) error {
			return d.Set(Entry{Partition: 1, Offset: 1498, Epoch: 7})
		}, strings.Replace(good, "1 1498", "1 1498 epoch=7", 1)},
		"headered, removed": {
			good, func(d *Document) error { d.Remove(1); d.Remove(1); return nil },
			strings.Replace(good, "1 1498\n# entries 2", "# entries 1", 1),
		},
		"headered, added": {
			good, func(d *Document) error { return d.Set(Entry{Partition: 9, Offset: 0, Epoch: 0}) },
			strings.Replace(good, "# entries 2", "9 0 epoch=0\n# entries 3", 1),
		},
		"id removed": {good, func(d *Document) error { d.SetTopicID(""); return nil }, strings.Replace(good, "# topic-id 5Qx0\n", "", 1)},
		"id added": {
			"# gtoffset 1\n0 5\n# entries 1\n", func(d *Document) error { d.SetTopicID("x"); return nil },
			"# gtoffset 1\n# topic-id x\n0 5\n# entries 1\n",
		},
		"upgraded": {
			"1 6\r\n\r\n0 5\r\n", func(d *Document) error { d.Upgrade("g", "t"); return nil },
			"# gtoffset 1\n# group g\n# topic t\n1 6\n0 5\n# entries 2\n",
		},
		"upgraded twice": {
			"1 6\n", func(d *Document) error { d.Upgrade("g", "t"); d.Upgrade("h", "u"); return nil },
			"# gtoffset 1\n# group g\n# topic t\n1 6\n# entries 1\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := mustParse(t, tt.text)
			if err := tt.change(d); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			sameDocument(t, mustParse(t, string(d.Bytes())), d)
		})
	}
}

func TestSetRefusesNegative(t *testing.T) {
	for _, e := range []Entry{{Partition: -1}, {Offset: -1}, {Offset: math.MinInt64}, {Epoch: -2}} {
		if err := New("g", "t").Set(e); err == nil {
			t.Errorf("set %v: got no error", e)
		}
	}
}

// A partial write must not vouch for the entries that it did not touch.
func TestStamp(t *testing.T) {
	const two = "# gtoffset 1\n# topic-id old\n0 5\n1 6\n# entries 2\n"
	for name, tt := range map[string]struct {
		text    string
		changed map[int32]bool
		want    string
	}{
		"all":              {two, map[int32]bool{0: true, 1: true}, "# gtoffset 1\n# topic-id new\n0 5\n1 6\n# entries 2\n"},
		"one of two":       {two, map[int32]bool{0: true}, "# gtoffset 1\n# topic-id old\n0 5 topic-id=new\n1 6\n# entries 2\n"},
		"the rest":         {"# gtoffset 1\n# topic-id old\n0 5 topic-id=new\n1 6\n# entries 2\n", map[int32]bool{1: true}, "# gtoffset 1\n# topic-id new\n0 5\n1 6\n# entries 2\n"},
		"no id yet, one":   {"# gtoffset 1\n0 5\n1 6\n# entries 2\n", map[int32]bool{1: true}, "# gtoffset 1\n0 5\n1 6 topic-id=new\n# entries 2\n"},
		"no id yet, all":   {"# gtoffset 1\n0 5\n# entries 1\n", map[int32]bool{0: true}, "# gtoffset 1\n# topic-id new\n0 5\n# entries 1\n"},
		"same id":          {"# gtoffset 1\n# topic-id new\n0 5 topic-id=old\n1 6\n# entries 2\n", map[int32]bool{0: true}, "# gtoffset 1\n# topic-id new\n0 5\n1 6\n# entries 2\n"},
		"bare stays bare":  {"0 5\n", map[int32]bool{0: true}, "0 5\n"},
		"nothing is there": {"# gtoffset 1\n# entries 0\n", nil, "# gtoffset 1\n# topic-id new\n# entries 0\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d := mustParse(t, tt.text)
			d.stamp("new", "", tt.changed)
			if got := string(d.Bytes()); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			d.stamp("", "", tt.changed)
			if got := string(d.Bytes()); got != tt.want {
				t.Errorf("after a stamp that knows nothing: got %q, want %q", got, tt.want)
			}
		})
	}
}

func sameDocument(t interface{ Errorf(string, ...any) }, got, want *Document) {
	if !reflect.DeepEqual(got, want) {
		t.Errorf("documents differ:\ngot  %+v\nwant %+v", got, want)
	}
}

// anyDocument draws a document, headered or bare, by changes to one that was read.
func anyDocument(t *rapid.T) *Document {
	d := New(rapid.StringN(1, 20, -1).Draw(t, "group"), rapid.StringN(1, 20, -1).Draw(t, "topic"))
	if rapid.Bool().Draw(t, "bare") {
		var err error
		if d, err = Parse([]byte(rapid.SampledFrom([]string{"3 1\n", "3 1\r\n", "\n3\t1 \n\n", "3 1\r\n\r\n1 2\n"}).Draw(t, "start"))); err != nil {
			t.Fatal(err)
		}
	}
	for range rapid.IntRange(0, 12).Draw(t, "changes") {
		switch rapid.IntRange(0, 6).Draw(t, "change") {
		case 0:
			d.SetTopicID(rapid.String().Draw(t, "topic id"))
		case 1:
			d.SetCluster(rapid.String().Draw(t, "cluster"))
		case 2:
			d.SetSaved(time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "saved")))
		case 3:
			if d.Len() > 1 {
				d.Remove(rapid.Int32Range(0, 9).Draw(t, "removed"))
			}
		default:
			e := Entry{
				Partition: rapid.Int32Range(0, 9).Draw(t, "partition"),
				Offset:    rapid.Int64Range(0, math.MaxInt64).Draw(t, "offset"),
				Epoch:     rapid.Int32Range(-1, math.MaxInt32).Draw(t, "epoch"),
				TopicID:   rapid.String().Draw(t, "own topic id"),
				Cluster:   rapid.String().Draw(t, "own cluster"),
			}
			if err := d.Set(e); err != nil {
				t.Fatal(err)
			}
			if got, _ := d.Entry(e.Partition); got.Offset != e.Offset || d.Headered() && got != e {
				t.Fatalf("set %v, got %v", e, got)
			}
		}
	}
	return d
}

func TestParseOfBytesIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyDocument(t)
		got, err := Parse(d.Bytes())
		if err != nil {
			t.Fatalf("parse %q: %v", d.Bytes(), err)
		}
		sameDocument(t, got, d)
	})
}

// However a file is cut, no number is taken that was not there, and a headered file is always found out.
func TestCutFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyDocument(t)
		b := d.Bytes()
		cut := b[:rapid.IntRange(1, len(b)-1).Draw(t, "cut")]
		if _, err := Parse(cut); err == nil && d.Headered() {
			t.Fatalf("%q was taken for whole", cut)
		}
		s, _, err := Salvage(cut)
		if err != nil {
			var version *VersionError
			if errors.As(err, &version) {
				return
			}
			t.Fatal(err)
		}
		for e := range s.Entries() {
			if whole, ok := d.Entry(e.Partition); !ok || whole != e {
				t.Fatalf("salvaged %v from %q, was %v", e, cut, whole)
			}
		}
	})
}

// FuzzParse reads a gtoffset file, salvages and changes it, and writes it back byte by byte.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		good, "0 5\n1 6\n", "0 5\r\n\r\n1 6\r\n", "# gtoffset 2\n", "# gtoffset 1\n# entries 0\n", "\x00\x00", "0 15",
		"# gtoffset 1\n# group \"a\\nb\"\n0 5 topic-id=x cluster=a%20b\n# entries 1\n", "\ufeff0 5\n", "0 5\n0 6\n", "0 -915623761775\n",
		"# gtoffset 1\n0 1\n# entries 1\n1 498\n# entries 2\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Parse(b)
		if err == nil && !bytes.Equal(d.Bytes(), b) {
			t.Errorf("%q was written back as %q", b, d.Bytes())
		}
		s, problems, err2 := Salvage(b)
		if err2 != nil {
			return
		}
		if (err == nil) != (len(problems) == 0) {
			t.Errorf("parse says %v, salvage says %v", err, problems)
		}
		if err := s.Set(Entry{Partition: 1, Offset: 7, Epoch: 2}); err != nil {
			t.Fatal(err)
		}
		again, err := Parse(s.Bytes())
		if err != nil {
			t.Fatalf("salvaged and changed, %q does not parse: %v", s.Bytes(), err)
		}
		sameDocument(t, again, s)
	})
}

func BenchmarkParse100k(b *testing.B) {
	var text bytes.Buffer
	fmt.Fprintln(&text, "# gtoffset 1\n# group g\n# topic t")
	for i := range 100_000 {
		fmt.Fprintln(&text, i, 1_000_000_000+i, "epoch=7")
	}
	fmt.Fprintln(&text, "# entries 100000")
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSet100k(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		d := New("g", "t")
		for i := range int32(100_000) {
			if err := d.Set(Entry{Partition: i, Offset: 5, Epoch: offsets.None}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
