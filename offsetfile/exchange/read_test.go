package exchange_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile/exchange"
)

// rows writes rows for a table of tests: GROUP TOPIC PARTITION OFFSET, then what else there is, and the line.
func rows(d exchange.Document) string {
	var b strings.Builder
	for _, r := range d.Rows {
		fmt.Fprintf(&b, "%s %s %d %d", r.Group, r.Topic, r.Partition, r.Offset)
		if r.Epoch != offsets.None {
			fmt.Fprintf(&b, " epoch=%d", r.Epoch)
		}
		if r.Metadata != "" {
			fmt.Fprintf(&b, " metadata=%q", r.Metadata)
		}
		if r.TopicID != "" {
			fmt.Fprintf(&b, " id=%s", r.TopicID)
		}
		fmt.Fprintf(&b, " @%d\n", r.Line)
	}
	return b.String()
}

func parse(text string, o exchange.Options) (exchange.Document, error) {
	return exchange.ReadFrom(strings.NewReader(text), o)
}

// given is the options of all tests in tables: what formats without a group and ranges need is there.
var given = exchange.Options{Group: "g", Topic: "t", Take: exchange.From}

type goodCase struct {
	name, text string
	want       string // rows
	warnings   int
}

func good(t *testing.T, f exchange.Format, cases []goodCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, o := range []exchange.Options{given, {As: f, Group: given.Group, Topic: given.Topic, Take: given.Take}} {
				d, err := parse(c.text, o)
				if err != nil {
					t.Fatalf("as %q: %v", o.As, err)
				}
				if d.Format != f {
					t.Errorf("format %s, want %s", d.Format, f)
				}
				if diff := cmp.Diff(c.want, rows(d)); diff != "" {
					t.Errorf("as %q (-want +got):\n%s", o.As, diff)
				}
				if len(d.Warnings) != c.warnings {
					t.Errorf("warnings: %q, want %d", d.Warnings, c.warnings)
				}
			}
		})
	}
}

type badCase struct {
	name, text string
	want       []string // each a problem, without the others
}

// bad wants exactly these problems, all at once.
func bad(t *testing.T, f exchange.Format, cases []badCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := given
			o.As = f
			d, err := parse(c.text, o)
			var m *exchange.MalformedError
			if !errors.As(err, &m) {
				t.Fatalf("got %v, want a *MalformedError", err)
			}
			if diff := cmp.Diff(exchange.Document{}, d); diff != "" {
				t.Errorf("something was returned: %s", diff)
			}
			got := make([]string, len(m.Problems))
			for i, p := range m.Problems {
				got[i] = p.String()
				if !strings.Contains(err.Error(), got[i]) {
					t.Errorf("the message lacks %q: %v", got[i], err)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestCSV(t *testing.T) {
	const head = "group,topic,partition,offset,epoch,metadata\n"
	good(t, exchange.CSV, []goodCase{
		{"whole", head + "g,orders,0,900,4,m\ng,orders,1,901,,\n", "g orders 0 900 epoch=4 metadata=\"m\" @2\ng orders 1 901 @3\n", 0},
		{"none", head + "g,orders,0,-,-,-\ng,orders,1,,,\n", "g orders 0 -1 @2\ng orders 1 -1 @3\n", 0},
		{"a dash in quotes is metadata", head + "g,orders,0,1,-,\"-\"\n", "g orders 0 1 metadata=\"-\" @2\n", 0},
		{"empty set", head, "", 0},
		{"FMT-1 byte-order mark", "\ufeff" + head + "g,orders,0,1,,\n", "g orders 0 1 @2\n", 0},
		{"FMT-3 CRLF, blank lines, no final newline", strings.ReplaceAll(head+"\n  \ng,orders,0,1,,\ng,orders,1,2,,", "\n", "\r\n") + "\r\n\r\n", "g orders 0 1 @4\ng orders 1 2 @5\n", 0},
		{"FMT-4 carriage returns only", strings.ReplaceAll(head+"g,orders,0,1,,\ng,orders,1,2,,\n", "\n", "\r"), "g orders 0 1 @2\ng orders 1 2 @3\n", 0},
		{"FMT-9 64 bits", head + "g,orders,2147483647,9223372036854775807,2147483647,\n", "g orders 2147483647 9223372036854775807 epoch=2147483647 @2\n", 0},
		{"NAM-7 names in quotes", head + "\"a,\"\"b\"\"\r\nc\",orders,0,1,,\n\"=1+1\",orders,0,2,,\n", "=1+1 orders 0 2 @4\na,\"b\"\r\nc orders 0 1 @2\n", 0},
		{"FMT-5 the same twice", head + "g,orders,0,1,,\ng,orders,0,1,,\n", "g orders 0 1 @2\n", 1},
		{"NAM-3 the group \"\"", head + ",orders,0,1,,\n", " orders 0 1 @2\n", 0},
		{"header in capitals", "Group, Topic,PARTITION,offset,epoch,metadata\ng,orders, 0, 1 ,,\n", "g orders 0 1 @2\n", 0},
	})
	bad(t, exchange.CSV, []badCase{
		{"all at once", head + "g,orders,0,x,,\ng,,1,5,,\ng,orders,2147483648,5,,\ng,orders,-1,5,,\ng,orders,0,5\n", []string{
			`line 2: offset "x" is not a whole number`, "line 3: topic is missing", "line 4: partition 2147483648 does not fit into 32 bits",
			"line 5: partition -1 is negative", "line 6: 4 columns, want 6",
		}},
		{"FMT-5 twice", head + "g,orders,0,100,,\ng,orders,1,1,,\ng,orders,0,900,,\n", []string{`line 4: group "g", topic "orders", partition 0 twice: 100 in line 2, and 900 here`}},
		{"twice with other metadata", head + "g,orders,0,1,,a\ng,orders,0,1,,b\n", []string{`line 3: group "g", topic "orders", partition 0 twice, and more than the offset differs; first in line 2`}},
		{"FMT-9 65 bits", head + "g,orders,0,9223372036854775808,,\n", []string{`line 2: offset "9223372036854775808" does not fit into 64 bits`}},
		{"spreadsheet numbers", head + "g,orders,0,9E+12,,\ng,orders,1,1.0,,\ng,orders,2,\"1,500\",,\ng,orders,3,+5,,\n", []string{
			`line 2: offset "9E+12" is not a whole number`, `line 3: offset "1.0" is not a whole number`, `line 4: offset "1,500" is not a whole number`, `line 5: offset "+5" is not a whole number`,
		}},
		{"blanks around a name", head + " g,orders,0,1,,\n", []string{`line 2: group " g" has blanks around it; take them off, or put it in quotes if they belong to it`}},
		{"quotes", head + "g,or\"ders,0,1,,\n\"g\"x,orders,0,1,,\ng,orders,1,2,,\n\"g,orders\n", []string{
			"line 2: a quote inside of a field that does not begin with one", "line 3: something follows a closing quote", "line 5: a quote is opened and never closed",
		}},
		{"another order", "topic,group,partition,offset,epoch,metadata\n", []string{`line 1: the header is "topic,group,partition,offset,epoch,metadata", want group,topic,partition,offset,epoch,metadata`}},
		{"log lines in front", "INFO starting\n" + head + "g,orders,0,1,,\n", []string{`line 1: the header is "info starting", want group,topic,partition,offset,epoch,metadata`}},
	})
}

func TestKafkaCSV(t *testing.T) {
	good(t, exchange.KafkaCSV, []goodCase{
		{"three columns", "orders,0,900\norders,1,901\n", "g orders 0 900 @1\ng orders 1 901 @2\n", 0},
		{"four columns", "a,orders,0,900\nb,orders,0,901\n", "a orders 0 900 @1\nb orders 0 901 @2\n", 0},
		{"quoted, as long names are", "\"my-very-long-topic-name-1\",0,42\norders,0,1\n", "g my-very-long-topic-name-1 0 42 @1\ng orders 0 1 @2\n", 0},
		{"all quoted", "\"orders\",\"0\",\"42\"\n", "g orders 0 42 @1\n", 0},
		{"FMT-1 a header", "\ufefftopic,partition,offset\norders,0,1\n", "g orders 0 1 @2\n", 0},
		{"a header of four", "group,topic,partition,offset\na,orders,0,1\n", "a orders 0 1 @2\n", 0},
		{"only a header", "group,topic,partition,offset\n", "", 0},
		{"FMT-3 the blank line that Kafka prints", "orders,0,1\r\n\r\n", "g orders 0 1 @1\n", 0},
		{"FMT-9 above 32 bits", "orders,0,5000000001\n", "g orders 0 5000000001 @1\n", 0},
		{"NAM-4 dots and underscores, NAM-6 case", "a.b,0,10\na_b,0,99\nDATA,0,1\ndata,0,2\n", "g DATA 0 1 @3\ng a.b 0 10 @1\ng a_b 0 99 @2\ng data 0 2 @4\n", 0},
		{"NAM-1 NAM-7 NAM-8 slashes, blanks and escapes in names", "team/job:forward,t,0,1\n\"a+b\",t,0,2\na%3Ab,t,0,3\n[x,t,0,4\n{y,t,0,5\n", "[x t 0 4 @4\na%3Ab t 0 3 @3\na+b t 0 2 @2\nteam/job:forward t 0 1 @1\n{y t 0 5 @5\n", 0},
		{"a bracket first", "[x,t,0,4\n", "[x t 0 4 @1\n", 0},
		{"same twice", "orders,0,1\norders,0,1\norders,0,1\n", "g orders 0 1 @1\n", 2},
		{"topics of digits", "0,1,2\n", "g 0 1 2 @1\n", 0},
	})
	bad(t, exchange.KafkaCSV, []badCase{
		{"NONE-5 -2 for earliest", "orders,0,-2\norders,1,-1\n", []string{
			"line 1: offset -2 is negative (Kafka's marker for earliest); for the beginning use reset --to-earliest",
			"line 2: offset -1 is negative (Kafka's marker for latest, or for no offset); for the end use reset --to-latest",
		}},
		{"FMT-12 an engine's marker", "orders,0,-915623761775\n", []string{"line 1: offset -915623761775 is negative (Flink's marker for earliest); for the beginning use reset --to-earliest"}},
		{"a dash", "orders,0,-\norders,1,\n", []string{"line 1: offset is missing", "line 2: offset is missing"}},
		{"columns of both kinds", "orders,0,1\norders,1,2\ng,orders,2,3\n", []string{"line 3: 4 columns, want 3 (topic,partition,offset)"}},
		{"FMT-8 log lines in front", "WARN something\nINFO a,b\norders,0,1\norders,1,2\n", []string{
			"line 1: 1 columns, want 3 (topic,partition,offset)", "line 2: 2 columns, want 3 (topic,partition,offset)",
		}},
		{"a header in another order", "topic,offset,partition\norders,0,1\n", []string{`line 1: the header is "topic,offset,partition", want topic,partition,offset`}},
		{"a header in the middle", "orders,0,1\ntopic,partition,offset\n", []string{`line 2: partition "partition" is not a whole number`, `line 2: offset "offset" is not a whole number`}},
		{"a carriage return inside", "orders,0,1\r5\norders,1,1\norders,2,1\n", []string{"line 1: a carriage return inside of the line"}},
	})
}

func TestRPK(t *testing.T) {
	good(t, exchange.RPK, []goodCase{
		{"whole", "orders 0 900\norders\t1\t901\n\n", "g orders 0 900 @1\ng orders 1 901 @2\n", 0},
		{"CRLF", "orders 0 900\r\norders 1 901\r\n", "g orders 0 900 @1\ng orders 1 901 @2\n", 0},
		{"CR only", "orders 0 900\rorders 1 901", "g orders 0 900 @1\ng orders 1 901 @2\n", 0},
		{"some topics of digits", "7 0 1\norders 0 2\n", "g 7 0 1 @1\ng orders 0 2 @2\n", 0},
	})
	bad(t, exchange.RPK, []badCase{
		{"all at once", "orders 0 900\norders 1\norders x y\norders 2 -1\n", []string{
			"line 2: 2 columns, want 3 (topic, partition and offset)",
			`line 3: partition "x" is not a whole number`, `line 3: offset "y" is not a whole number`,
			"line 4: offset -1 is negative (Kafka's marker for latest, or for no offset); for the end use reset --to-latest",
		}},
		{"twice", "orders 0 1\norders 0 2\n", []string{`line 2: group "g", topic "orders", partition 0 twice: 1 in line 1, and 2 here`}},
	})
}

func TestRanges(t *testing.T) {
	good(t, exchange.Ranges, []goodCase{
		{"whole", "orders 0 100 200\norders 1 5 5\n", "g orders 0 100 @1\ng orders 1 5 @2\n", 0},
	})
	bad(t, exchange.Ranges, []badCase{
		{"all at once", "orders 0 200 100\norders 1 -2 x\n", []string{
			"line 1: from 200 is behind until 100",
			"line 2: from -2 is negative (Kafka's marker for earliest); for the beginning use reset --to-earliest", `line 2: until "x" is not a whole number`,
		}},
		{"two batches", "orders 0 1 2\norders 0 2 3\n", []string{`line 2: group "g", topic "orders", partition 0 twice: 1 in line 1, and 2 here`}},
	})
	const text = "orders 0 100 200\n"
	d, err := parse(text, exchange.Options{Group: "g", Take: exchange.Until})
	if got := rows(d); err != nil || got != "g orders 0 200 @1\n" {
		t.Errorf("until: got %q, %v", got, err)
	}
	_, err = parse(text, exchange.Options{Group: "g"})
	var m *exchange.MissingError
	if !errors.As(err, &m) || m.What != exchange.MissingTake {
		t.Errorf("without an end: got %v", err)
	}
}

func TestFile(t *testing.T) {
	const whole = "# gtoffset 1\n# group billing\n# topic orders\n# topic-id 5Qx0\n# cluster MkU3\n# saved 2026-11-29T12:00:00.123Z\n0 1500 epoch=4\n1 1498\n# entries 2\n"
	good(t, exchange.File, []goodCase{
		{"headered", whole, "billing orders 0 1500 epoch=4 id=5Qx0 @7\nbilling orders 1 1498 id=5Qx0 @8\n", 0},
		{"bare", "0 1500\n1 1498\n", "g t 0 1500 @1\ng t 1 1498 @2\n", 0},
		{"bare with keys", "0 1500 epoch=4\n", "g t 0 1500 epoch=4 @1\n", 0},
		{"blank lines", "\n  \n\t0 1500\n\n1 2\n", "g t 0 1500 @3\ng t 1 2 @5\n", 0},
		{"empty set", "# gtoffset 1\n# group billing\n# topic orders\n# entries 0\n", "", 0},
		{"FMT-1 byte-order mark", "\ufeff" + whole, "billing orders 0 1500 epoch=4 id=5Qx0 @7\nbilling orders 1 1498 id=5Qx0 @8\n", 0},
		{"FMT-3 CRLF", strings.ReplaceAll(whole, "\n", "\r\n"), "billing orders 0 1500 epoch=4 id=5Qx0 @7\nbilling orders 1 1498 id=5Qx0 @8\n", 0},
	})
	bad(t, exchange.File, []badCase{
		{"FMT-12 an engine's marker", "0 -915623761775\n", []string{"line 1: offset \"-915623761775\" of partition 0 is negative: Flink's marker for earliest, not a position; for the beginning use reset --to-earliest"}},
		{"no final newline", "0 1500\n1 14", []string{`line 2: no line end: the file was cut off in "1 14"`}},
		{"another version", "# gtoffset 2\n", []string{`line 1: version "2" of the gtoffset format is not known here, only 1 is; a newer gtoffset may know it`}},
		{"of two clusters", strings.Replace(whole, "1 1498", "1 1498 cluster=other", 1), []string{`line 8: partition 1 was recorded for cluster "other", the rest for "MkU3"`}},
	})
	d, err := parse(whole, exchange.Options{})
	if err != nil || d.Origin.Cluster != "MkU3" || !d.Taken.Equal(noon) {
		t.Errorf("got %+v, %v", d, err)
	}
}

func TestYelp(t *testing.T) {
	good(t, exchange.Yelp, []goodCase{
		{"whole", `{"groupid":"a","offsets":{"orders":{"0":425447,"10":1}}}`, "a orders 0 425447 @0\na orders 10 1 @0\n", 0},
		{"lines", "{\"groupid\":\"a\",\n\"offsets\":{\"orders\":{\n\"0\":1,\n\"1\":2}}}\n", "a orders 0 1 @3\na orders 1 2 @4\n", 0},
		{"empty set", `{"groupid":"a","offsets":{}}`, "", 0},
		{"same key twice", `{"groupid":"a","offsets":{"orders":{"0":1,"0":1}}}`, "a orders 0 1 @0\n", 1},
		{"escapes", `{"groupid":"a\u0022\ud83d\ude00\n","offsets":{"orders":{"0":1}}}`, "a\"😀\n orders 0 1 @0\n", 0},
	})
	bad(t, exchange.Yelp, []badCase{
		{"all at once", `{"groupid":"a","offsets":{"o":{"0":-2,"x":5,"1":1.5,"2":"7","3":null}}}`, []string{
			`line 1, column 36: topic "o", partition "0": offset -2 is negative (Kafka's marker for earliest); for the beginning use reset --to-earliest`,
			`line 1, column 39: topic "o", partition "x": partition "x" is not a whole number`,
			`line 1, column 49: topic "o", partition "1": offset 1.5 is not a whole number`,
			`line 1, column 57: topic "o", partition "2": offset "7" is not a whole number (take the quotes off)`,
			`line 1, column 65: topic "o", partition "3": offset is null, not a whole number`,
		}},
		{"a text", `{"groupid":"a","offsets":{"o":{"0":"1:30"}}}`, []string{`line 1, column 36: topic "o", partition "0": offset "1:30" is not a whole number`}},
		{"FMT-5 a key twice", "{\"groupid\":\"a\",\"offsets\":{\"o\":{\"0\":1,\n\"0\":2}}}", []string{`line 2, column 1: topic "o": key "0" twice, and not the same; first in line 1, column 32`}},
		{"one partition, two spellings", `{"groupid":"a","offsets":{"o":{"0":1,"00":2}}}`, []string{`line 1, column 38: group "a", topic "o", partition 0 twice: 1 in line 1, column 32, and 2 here`}},
		{"a topic twice", `{"groupid":"a","offsets":{"o":{"0":1},"o":{"1":1}}}`, []string{`line 1, column 39: key "o" twice, and not the same; first in line 1, column 27`}},
		{"no topic", `{"groupid":"a","offsets":{"":{"0":1}}}`, []string{`line 1, column 31: topic "", partition "0": topic is missing`}},
		{"no group", `{"offsets":{}}`, []string{"line 1, column 1: groupid is missing"}},
		{"no offsets", `{"groupid":"a"}`, []string{"line 1, column 1: offsets are missing"}},
		{"other keys", `{"groupid":"a","offsets":{},"x":1}`, []string{`line 1, column 29: key "x" is not known here`}},
	})
}

func TestKCL(t *testing.T) {
	good(t, exchange.KCL, []goodCase{
		{"whole", `[{"topic":"t","partition":1,"offset":5},{"topic":"t","partition":0,"offset":9223372036854775807}]`, "g t 0 9223372036854775807 @0\ng t 1 5 @0\n", 0},
		{"empty set", `[]`, "", 0},
	})
	bad(t, exchange.KCL, []badCase{
		{"all at once", "[{\"topic\":\"t\",\"partition\":0,\"offset\":-1},\n{\"partition\":1,\"offset\":1},\n{\"topic\":\"t\",\"offset\":1},\n{\"topic\":\"t\",\"partition\":3000000000},\n{\"topic\":\"t\",\"partition\":1,\"offset\":1,\"at\":2},\n5]", []string{
			"line 1, column 38: [0]: offset -1 is negative (Kafka's marker for latest, or for no offset); for the end use reset --to-latest",
			"line 2, column 1: [1]: topic is missing", "line 3, column 1: [2]: partition is missing",
			"line 4, column 1: [3]: offset is missing", "line 4, column 26: [3]: partition 3000000000 does not fit into 32 bits",
			`line 5, column 39: [4]: key "at" is not known here`, "line 6, column 1: [5]: this is a number, not an object",
		}},
		{"twice", `[{"topic":"t","partition":0,"offset":1},{"topic":"t","partition":0,"offset":2}]`, []string{`line 1, column 41: group "g", topic "t", partition 0 twice: 1 in line 1, column 2, and 2 here`}},
	})
}

func TestSpark(t *testing.T) {
	good(t, exchange.Spark, []goodCase{
		{"whole", `{"orders":{"0":120,"1":5000000001},"pay":{"0":0}}`, "g orders 0 120 @0\ng orders 1 5000000001 @0\ng pay 0 0 @0\n", 0},
		{"a topic without a partition", `{"orders":{}}`, "", 0},
		{"topics that look like another format", `{"schema":{"0":1},"groupid":{"0":2},"offsets":{"0":3}}`, "g groupid 0 2 @0\ng offsets 0 3 @0\ng schema 0 1 @0\n", 0},
	})
	bad(t, exchange.Spark, []badCase{
		{"latest and earliest", `{"o":{"0":-1,"1":-2}}`, []string{
			`line 1, column 11: topic "o", partition "0": offset -1 is Spark's marker for latest, no offset; use reset --to-latest`,
			`line 1, column 18: topic "o", partition "1": offset -2 is Spark's marker for earliest, no offset; use reset --to-earliest`,
		}},
		{"nothing in it", " {}\n", []string{"line 1, column 2: an object with nothing in it: it names no topic"}},
		{"syntax", "{\"o\":{\"0\":1,}}", []string{"line 1, column 13: a comma in front of the end"}},
		{"cut short", `{"o":{"0":1`, []string{"line 1, column 12: the document ends here, too early"}},
		{"something behind", "{}\n{}", []string{"line 2, column 1: something follows the end of the document"}},
		{"half a pair", `{"\ud800":{"0":1}}`, []string{"line 1, column 3: half of a surrogate pair: it stands for no character"}},
		{"too deep", strings.Repeat(`{"a":`, 100), []string{"line 1, column 321: too deep"}},
	})
}

func TestRecognise(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string
	}{
		{"columns of numbers", "0 1500 4\n1 1498 4\n", "the format is in doubt: each line has three columns, of which the first is a number too; it could be rpk (rpk's lines of topic, partition and offset) or gtoffset (a gtoffset file)"},
		{"different numbers of columns", "0 1500\norders 1 2\n", "the format is in doubt: its lines have different numbers of columns; it could be gtoffset (a gtoffset file) or rpk (rpk's lines of topic, partition and offset)"},
		{"prose", "hello\nworld\n", "the format was not recognised: neither JSON"},
		{"semicolons", "orders;0;1\norders;1;2\n", "the columns are separated by semicolons"},
		{"semicolons under a header", "group;topic;partition;offset\n", "the columns are separated by semicolons"},
		{"a script", "#!/bin/sh\nfor p in 0 1 2; do kcat -Q; done; exit\nwhile true; do sleep 1; break; done\n", "the format was not recognised: neither JSON"},
		{"five columns", "a,b,c,d,e\n", "CSV, but of 5 columns"},
		{"seven columns", "a,b,c,d,e,f,g\n", "CSV, but of 7 columns"},
		{"a quote that stays open", "\"orders,0,1\n", "CSV, but no line of it can be read; line 1: a quote is opened and never closed"},
		{"a crash before sync", strings.Repeat("\x00", 116), "NUL bytes: the file is damaged"},
		{"six columns without header", "g,orders,0,1,,\n", "CSV of six columns, but the first line is not group,topic,partition,offset,epoch,metadata"},
		{"a describe document", `{"schema":"gtoffset.describe/1"}`, "gtoffset.describe/1 shows, but does not hold offsets to be written"},
		{"another schema", `{"schema":"gtoffset.offsets/2"}`, `schema is "gtoffset.offsets/2", want "gtoffset.offsets/1" or "gtoffset.plan/1"`},
		{"partitions without topic", `{"0":123}`, "JSON with partitions but no topic"},
		{"an object with nothing in it", ` { } `, "the format was not recognised: an object with nothing in it: it names no topic"},
		{"some JSON", `{"a":"b"}`, `JSON without "schema" or "groupid"`},
		{"a list of numbers", `[1,2]`, "a list in JSON, but not of objects"},
		{"STO-10 STO-11 a Spark checkpoint's file", "v1\n{\"batchWatermarkMs\":0}\n{\"t\":{\"0\":10}}\n{\"t\":{\"0\":10}}\n{\"t\":{\"0\":12}}", "an offsets file of a Spark checkpoint (3 source lines)"},
		{"empty", "", "it is empty"},
		{"blank", "\ufeff \r\n\n", "it is empty"},
		{"FMT-4 UTF-16", "\xff\xfet\x00o\x00", "this is UTF-16 (little-endian); save it as text in UTF-8"},
		{"UTF-16 the other way", "\xfe\xff\x00t\x00o", "UTF-16 (big-endian)"},
		{"UTF-16 without mark", "t\x00,\x000\x00", "UTF-16 (little-endian)"},
		{"UTF-16 without mark, the other way", "\x00t\x00,\x000", "UTF-16 (big-endian)"},
		{"UTF-32", "\xff\xfe\x00\x00t\x00\x00\x00", "UTF-32 (little-endian)"},
		{"UTF-32 the other way", "\x00\x00\xfe\xff\x00\x00\x00t", "UTF-32 (big-endian)"},
		{"UTF-32 without mark", "t\x00\x00\x00", "UTF-32 (little-endian)"},
		{"Latin-1", "gr\xf6\xdfe,0,1\n", "the text is not UTF-8"},
		{"gzip", "\x1f\x8b\x08", "compressed by gzip"},
		{"a spreadsheet", "PK\x03\x04", "a zip archive"},
		{"MIG-6 an internal topic", "__consumer_offsets,0,1\norders,0,1\n__transaction_state,1,1\n", "offsets of Kafka's internal topics are not written:\nline 1: topic \"__consumer_offsets\" is internal to Kafka\nline 3: topic \"__transaction_state\" is internal to Kafka"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := parse(c.text, given)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if diff := cmp.Diff(exchange.Document{}, d); diff != "" {
				t.Error(diff)
			}
		})
	}
	var doubt *exchange.AmbiguousError
	if _, err := parse("0 1500 4\n", given); !errors.As(err, &doubt) || !cmp.Equal(doubt.Formats, []exchange.Format{exchange.RPK, exchange.File}) {
		t.Errorf("got %v", err)
	}
	if d, err := parse("0 1500 4\n", exchange.Options{As: exchange.RPK, Group: "g"}); err != nil || rows(d) != "g 0 1500 4 @1\n" {
		t.Errorf("got %v, %v", rows(d), err)
	}
	for _, text := range []string{"orders,0,1\n", "orders 0 1\n", "[]", `{"orders":{}}`, "0 1\n"} {
		var missing *exchange.MissingError
		if _, err := parse(text, exchange.Options{}); !errors.As(err, &missing) || missing.What != exchange.MissingGroup {
			t.Errorf("%q without a group: got %v", text, err)
		}
	}
	var unknown *exchange.UnknownError
	if _, err := parse("a b\n", exchange.Options{As: "xml"}); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
}

func TestProblemsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("orders,0,1\n")
	for i := range 100_000 {
		fmt.Fprintf(&b, "orders,%d,x\n", i)
	}
	_, err := parse(b.String(), given)
	var m *exchange.MalformedError
	if !errors.As(err, &m) || len(m.Problems) != 50 || m.More != 99_950 {
		t.Fatalf("got %v", err)
	}
	if text := err.Error(); !strings.Contains(text, "100000 places are wrong") || !strings.HasSuffix(text, "\nand 99950 more") {
		t.Error(text)
	}
	// Ten thousand that repeat themselves are found at once, though each message takes a look at the whole text.
	for _, other := range []string{"1", "2"} {
		var j strings.Builder
		j.WriteString(`{"groupid":"g","offsets":{"t":{`)
		for range 10_000 {
			j.WriteString(`"0":1,"00":1,`)
		}
		fmt.Fprintf(&j, `"0":%s}}}`, other)
		began := time.Now()
		d, err := parse(j.String(), given)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
		if other == "1" && (err != nil || len(d.Warnings) != 51) || other == "2" && !errors.As(err, &m) {
			t.Errorf("got %d warnings, %v", len(d.Warnings), err)
		}
	}
	big := make([]byte, exchange.MaxSize+1)
	if _, err := parse(string(big), given); !errors.Is(err, exchange.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}
