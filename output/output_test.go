package output

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"gtoffset/kafkaops/offsets"
)

func TestGroupList(t *testing.T) {
	l := GroupList{Snapshot: snapshotOf(
		offsets.Group{ID: "", Type: offsets.Simple, Coordinator: offsets.None},
		offsets.Group{ID: "a b 😀", Type: offsets.Classic, State: "Stable", Protocol: "connect", Coordinator: 3},
		offsets.Group{ID: "billing", Type: offsets.Consumer, State: "Empty", Protocol: "consumer", Coordinator: 12},
	)}
	golden(t, "groups.txt", drawn(t, l, Stream{Width: 80, Gauge: true}, Table))
	golden(t, "groups.json", drawn(t, l, Stream{}, JSON))
	golden(t, "groups.csv", drawn(t, l, Stream{}, CSV))
	l.Snapshot.Groups[1].Trouble = &offsets.Trouble{Reason: "not permitted: DESCRIBE on group\x1b[2J", Denied: true}
	l.Troubles = []offsets.Trouble{{Reason: "broker 2 (kafka2:9092) did not answer within 2s", Unreachable: true}}
	golden(t, "groups-troubled.txt", drawn(t, l, Stream{}, Table))
	golden(t, "groups-troubled.yaml", drawn(t, l, Stream{}, YAML))
}

func TestErrors(t *testing.T) {
	e := Error{
		Code: 4, Codes: []int{4, 3}, Cause: "active", Causes: []string{"active", "damaged"}, Lines: []string{"2 lines are malformed:", "line 3: \"\x1b[31mx\"", "line 9: y\nz"}, Hint: "see gtoffset help formats",
		Details: []ErrorDetail{{"billing", "orders", 2, "high"}, {"billing", "", offsets.None, "active"}},
	}
	golden(t, "error.txt", drawn(t, e, Stream{}, Table))
	golden(t, "error-color.txt", drawn(t, e, Stream{Color: true}, CSV))
	golden(t, "error.json", drawn(t, e, Stream{}, JSON))
	if got := drawn(t, Error{Code: 1, Cause: "failed", Lines: []string{"x"}}, Stream{}, JSON); got != `{"schema":"gtoffset.error/1","code":1,"codes":[1],"cause":"failed","causes":["failed"],"error":"x","hint":null,"details":[]}`+"\n" {
		t.Error(got)
	}
}

func TestClean(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"billing", "billing"},
		{"a b", "a b"},
		{"team/job:forward", "team/job:forward"},
		{"日本語 é 😀", "日本語 é 😀"},
		{"👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
		{"❤\ufe0f", "❤\ufe0f"},
		{"👍🏽", "👍🏽"},
		{"a\nb", `a\nb`},
		{`a\nb`, `a\\nb`},
		{"a\tb\r", `a\tb\r`},
		{"\x1b[2J", `\x1b[2J`},
		{"\x00\x7f", `\x00\x7f`},
		{"\u0085\u009b", `\u0085\u009b`},
		{"\x9b\xff", `\x9b\xff`},
		{"a\u202eb", `a\u202eb`},
		{"a\u200db", `a\u200db`},
		{"a\u200bb", `a\u200bb`},
		{"a\u00a0b", `a\u00a0b`},
		{"\ufeffa", `\ufeffa`},
		{"\u2028", `\u2028`},
		{"\U000e0041", `\U000e0041`},
		{"\u3164", `\u3164`},
		{"a\ufe0f", `a\ufe0f`},
		{"\u00ad", `\u00ad`},
		{"\ufffd", "\ufffd"},
		{"", ""},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "in")
		got := Clean(in)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not UTF-8", got)
		}
		for _, r := range got {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
				t.Fatalf("%q holds %U", got, r)
			}
		}
		if back := uncleaned(got); back != in {
			t.Fatalf("%q reads back as %q", got, back)
		}
	})
}

// uncleaned reads escapes: that it can be written shows that two names never look the same.
func uncleaned(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		hex := func(n int) uint64 {
			v, _ := strconv.ParseUint(s[i+1:i+1+n], 16, 32)
			i += n
			return v
		}
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'x':
			b.WriteByte(byte(hex(2)))
		case 'u':
			b.WriteRune(rune(hex(4)))
		case 'U':
			b.WriteRune(rune(hex(8)))
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func randomGrid(r *rand.Rand, n int) Grid {
	alphabet := []string{"a", "b-", "日本", ".", "_", " ", "é", "e\u0301", "9", "orders", "|", "…", "─", "█", "😀", "👨\u200d👩\u200d👧", "🇩🇪", "❤\ufe0f", "👍🏽", "한글", "\x1b[31m", "\n", "\u202e", "ก็", "ﷺ"}
	if n%2 == 0 { // most of these tablewriter measures right
		alphabet = append(alphabet[:14], `\n`, "ñ", "Ω")
	}
	cell := func() string {
		s := ""
		for range r.IntN(6) {
			s += alphabet[r.IntN(len(alphabet))]
		}
		return s
	}
	g := Grid{toned: r.IntN(5)}
	for i := range 5 {
		g.Columns = append(g.Columns, Column{Name: []string{"GROUP", "log_end.offset", "", "CURRENT-OFFSET", "é"}[i], Right: r.IntN(2) == 0, gap: r.IntN(3)})
	}
	for range n {
		row := make([]string, 5)
		for j := range row {
			row[j] = cleanText(cell())
		}
		g.Rows = append(g.Rows, row)
		g.tones = append(g.tones, tone(r.IntN(int(toneBold)+1)))
	}
	return g
}

// Small tables by tablewriter and large ones by two passes are the same bytes.
func TestTableEngines(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	compared := 0
	for i := range 600 {
		g := randomGrid(r, i%12)
		if i%4 < 2 {
			g.tones = nil
		}
		if !g.agreed() {
			continue
		}
		compared++
		var small, large bytes.Buffer
		if err := g.byTablewriter(&small); err != nil {
			t.Fatal(err)
		}
		if err := g.byTwoPasses(&large); err != nil {
			t.Fatal(err)
		}
		if small.String() != large.String() {
			t.Fatalf("rows %q\ntablewriter:\n%q\ntwo passes:\n%q", g.Rows, small.String(), large.String())
		}
	}
	if compared < 100 {
		t.Errorf("only %d tables compared", compared)
	}
}

// Columns line up, whatever the cells hold and whichever engine draws.
func TestTableAligned(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		g := randomGrid(r, 1+i%150)
		g.tones = nil
		var b bytes.Buffer
		if err := g.draw(Plain(&b)); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != len(g.Rows)+1 {
			t.Fatalf("%d lines for %d rows", len(lines), len(g.Rows))
		}
		widths := g.widths()
		for j, row := range g.Rows {
			want := ""
			for k, cell := range row {
				pad := strings.Repeat(" ", widths[k]-width(cell))
				if g.Columns[k].Right {
					want += pad + cell
				} else {
					want += cell + pad
				}
				want += strings.Repeat(" ", g.Columns[k].after())
			}
			if got := lines[j+1]; got != strings.TrimRight(want, " ") {
				t.Fatalf("got  %q\nwant %q", got, want)
			}
		}
	}
}

// A name without measure moves its own row, and no other.
func TestGridHugeCell(t *testing.T) {
	huge := strings.Repeat("n", 30_000)
	for _, rows := range []int{2, 100} {
		g := Grid{Columns: []Column{{Name: "GROUP"}, {Name: "N", Right: true}, {Name: "STATE"}}, toned: 2}
		for i := range rows {
			g.Rows = append(g.Rows, []string{[]string{huge, "billing"}[min(i, 1)], strconv.Itoa(i), "ok"})
			g.tones = append(g.tones, toneRed)
		}
		var b bytes.Buffer
		if err := g.draw(Stream{W: &b, Color: true}); err != nil {
			t.Fatal(err)
		}
		first, rest, _ := strings.Cut(b.String(), huge)
		wide := len(strconv.Itoa(rows - 1))
		pad := strings.Repeat(" ", wide-1)
		if !strings.HasPrefix(rest, "  "+pad+"0  \x1b") || !strings.HasPrefix(first, "GROUP    "+pad+"N  STATE\n") {
			t.Errorf("%q, then %.40q", first, rest)
		}
		if line := "\nbilling  " + pad + "1  \x1b"; !strings.Contains(rest, line) {
			t.Errorf("%.80q lacks %q", rest, line)
		}
	}
}

func TestGridCleansWithoutTouching(t *testing.T) {
	rows := [][]string{{"a\x1b[2J", "x"}, {"b", "y"}}
	var b bytes.Buffer
	if err := (Grid{Columns: []Column{{Name: "A"}, {Name: "B"}}, Rows: rows}).Write(Plain(&b)); err != nil {
		t.Fatal(err)
	}
	if want := "A         B\na\\x1b[2J  x\nb         y\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
	if rows[0][0] != "a\x1b[2J" {
		t.Error("the caller's rows were changed")
	}
}

func TestGauge(t *testing.T) {
	at := func(o int64) offsets.Entry { return offsets.At(o) }
	for _, c := range []struct {
		r    offsets.Range
		s, c offsets.Entry
		want string
	}{
		{known(0, 1400), at(0), at(1400), " ├S────────────C┤ "},
		{known(0, 1400), at(-5), at(1401), "S├──────────────┤C"},
		{known(0, 1400), at(1399), at(1399), " ├────────────B─┤ "},
		{known(5, 5), at(5), offsets.Entry{}, " ├─────────────S┤ "},
		{offsets.Range{}, at(5), at(5), "                  "},
		{known(0, math.MaxInt64), at(math.MaxInt64), at(math.MaxInt64 / 2), " ├──────C──────S┤ "},
	} {
		if got := Gauge(c.r, c.s, c.c, false); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Int64Min(0).Draw(t, "earliest")
		r := known(lo, rapid.Int64Min(lo).Draw(t, "end"))
		s, c := at(rapid.Int64Min(0).Draw(t, "stored")), at(rapid.Int64Min(0).Draw(t, "committed"))
		for _, ascii := range []bool{false, true} {
			g := Gauge(r, s, c, ascii)
			if width(g) != gaugeWidth || utf8.RuneCountInString(g) != gaugeWidth {
				t.Fatalf("%q is %d wide", g, width(g))
			}
			if n := strings.Count(g, "S") + strings.Count(g, "C") + 2*strings.Count(g, "B"); n != 2 {
				t.Fatalf("%d marks in %q", n, g)
			}
			low := offsets.Judge(s, r, "").Condition == offsets.Low
			if first := g[0] == 'S' || g[0] == 'B'; first != low {
				t.Fatalf("%q, low %v", g, low)
			}
		}
	})
}

// Every string comes out as encoding/json reads it, and where a terminal can show it also as encoding/json writes it.
func TestStringsOfJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "s")
		got := appendString(nil, s)
		var back string
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if want := strings.ToValidUTF8(s, "\x00"); strings.ReplaceAll(back, "\ufffd", "\x00") != strings.ReplaceAll(replaceEach(want, s), "\ufffd", "\x00") {
			t.Fatalf("%q reads back as %q", s, back)
		}
		var std bytes.Buffer
		if err := writeJSON(&std, s); err != nil {
			t.Fatal(err)
		}
		if want := strings.TrimSuffix(std.String(), "\n"); string(got) != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

// replaceEach is s with U+FFFD for each bad byte, as JSON has it.
func replaceEach(_, s string) string { return string([]rune(s)) }

func TestYAMLMeansTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"yes", "no", "on", "y", "null", "~", "true", "12", "1e3", "0x1f", "0o7", "1_000", "1:30", "2026-11-29", ".inf", "-", "a: b", "#x", "", " a", "a ", "a\nb", "=", "<<", "!x", "&a", "*a", "%", "@", "`", "'", "\"", "\\", "[", "{", "é", "\u202e", "\u0085", "orders", "gtoffset.describe/1"})
		text := rapid.OneOf(word, rapid.String())
		want := map[string]any{}
		for _, k := range rapid.SliceOfDistinct(text, func(s string) string { return s }).Draw(t, "keys") {
			want[k] = []any{text.Draw(t, "v"), int(rapid.Int64().Draw(t, "n")), nil, true, map[string]any{}, []any{}}
		}
		doc, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := writeYAML(&b, doc); err != nil {
			t.Fatal(err)
		}
		got := map[string]any{}
		if err := yaml.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		again, _ := json.Marshal(got)
		if !bytes.Equal(doc, again) {
			t.Fatalf("%s\nis\n%s\nas\n%s", doc, again, b.String())
		}
	})
}

func TestOpen(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for _, c := range []struct {
		name  string
		width int
		mode  ColorMode
		env   func(string) string
		want  Stream
	}{
		{"pipe", 0, ColorAuto, env(), Stream{}},
		{"terminal", 120, ColorAuto, env("LANG", "de_DE.UTF-8"), Stream{Width: 120, Color: true, Gauge: true}},
		{"NO_COLOR", 120, ColorAuto, env("NO_COLOR", "1"), Stream{Width: 120, Gauge: true}},
		{"always beats NO_COLOR", 0, ColorAlways, env("NO_COLOR", "1"), Stream{Color: true}},
		{"never", 120, ColorNever, env(), Stream{Width: 120, Gauge: true}},
		{"dumb", 120, ColorAuto, env("TERM", "dumb"), Stream{Width: 120}},
		{"C locale", 120, ColorAuto, env("LC_ALL", "C", "LANG", "en_US.UTF-8"), Stream{Width: 120, Color: true, Gauge: true, ASCII: true}},
	} {
		if got := Open(nil, c.width, c.mode, c.env); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s ago", 59 * time.Second: "59 s ago", time.Hour - 1: "59 min 59 s ago", 3*time.Hour + 12*time.Minute: "3 h 12 min ago",
		50 * time.Hour: "2 d 2 h ago", -90 * time.Second: "1 min 30 s in the future",
	} {
		if got := age(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	if got := ranges([]int32{7, 0, 3, 2, 5}); got != "0, 2-3, 5, 7" {
		t.Error(got)
	}
}

// output knows the vocabulary and nothing else of the program, and keeps the linker's removal of unused methods working.
func TestImports(t *testing.T) {
	list, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(list)) {
		switch {
		case dep == "gtoffset/output", dep == "gtoffset/kafkaops/offsets":
		case strings.HasPrefix(dep, "gtoffset/"), dep == "text/template", dep == "net/http", strings.HasPrefix(dep, "github.com/spf13/"):
			t.Errorf("imports %s", dep)
		}
	}
}
