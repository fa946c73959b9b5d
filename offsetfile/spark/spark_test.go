package spark_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
	"gtoffset/offsetfile/spark"
	"gtoffset/offsetfile/storetest"
)

const facts = `{"batchWatermarkMs":0,"batchTimestampMs":1795958046849,"conf":{"spark.sql.shuffle.partitions":"1"}}`

// batch is a file in offsets, as Spark writes it: without an end of its last line.
func batch(sources ...string) string { return "v1\n" + facts + "\n" + strings.Join(sources, "\n") }

const done = "v1\n{\"nextBatchWatermarkMs\":0}"

// open makes a checkpoint of files, and opens it with the parameters.
func open(t *testing.T, files map[string]string, params string) (offsetfile.Store, string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "ck")
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return at(t, "spark:"+root+params), root
}

func at(t testing.TB, url string) offsetfile.Store {
	t.Helper()
	a, err := offsetfile.ParseAddress(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := spark.Open(a, offsetfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func held(h offsetfile.Holding) string {
	var all []string
	for _, k := range slices.SortedFunc(maps.Keys(h.Entries), offsets.Key.Compare) {
		all = append(all, fmt.Sprintf("%s %d %d", k.Topic, k.Partition, h.Entries[k].Offset))
	}
	return strings.Join(all, ", ")
}

func TestContract(t *testing.T) {
	const at0 = "offsets/0"
	s, root := open(t, map[string]string{at0: "", "commits/0": done}, "")
	put := func(t testing.TB, sources ...string) {
		t.Helper()
		facts := fmt.Sprintf(`{"batchTimestampMs":%d}`, time.Now().UnixMilli())
		if err := os.WriteFile(filepath.Join(root, at0), []byte("v1\n"+facts+"\n"+strings.Join(sources, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	storetest.Run(t, storetest.Service{
		Open: func(testing.TB, storetest.Given) offsetfile.Store { return s },
		Fill: func(t testing.TB, _ string, texts map[offsets.Key]string) {
			t.Helper()
			topics := map[string][]string{}
			for k, text := range texts {
				topics[k.Topic] = append(topics[k.Topic], fmt.Sprintf(`"%d":%s`, k.Partition, text))
			}
			var all []string
			for topic, partitions := range topics {
				name, err := json.Marshal(topic)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, fmt.Sprintf("%s:{%s}", name, strings.Join(partitions, ",")))
			}
			put(t, "{"+strings.Join(all, ",")+"}")
		},
		Missing: func(t testing.TB, place string, _ offsetfile.Options) offsetfile.Store {
			t.Helper()
			return at(t, "spark:"+filepath.Join(root, "..", place))
		},
		Unreadable: map[string]func(testing.TB, string, string) func(){
			"a file in the way": storetest.InTheWay(root),
		},
		Broken: map[offsets.Presence]func(testing.TB, string, string){
			offsets.Damaged: func(t testing.TB, _, topic string) { // two sources read it
				t.Helper()
				put(t, fmt.Sprintf(`{%q:{"0":5},"other":{"0":7}}`, topic), fmt.Sprintf(`{%q:{"0":6}}`, topic))
			},
			offsets.Unreadable: func(t testing.TB, _, _ string) {
				t.Helper()
				if err := os.Remove(filepath.Join(root, at0)); err != nil {
					t.Fatal(err)
				}
			},
		},
	})
}

func TestLoad(t *testing.T) {
	two := `{"b":{"0":5},"a":{"0":13,"1":10}}`
	for name, tt := range map[string]struct {
		files   map[string]string
		params  string
		want    string // of the entries
		path    string // within the checkpoint
		notes   []string
		trouble string
		damaged string // topic a is, and says so
	}{
		"newest committed": {
			files: map[string]string{"metadata": "{}", "offsets/0": batch(`{"a":{"0":1}}`), "offsets/1": batch(two), "commits/0": done, "commits/1": done},
			want:  "a 0 13, a 1 10, b 0 5", path: "offsets/1",
		},
		"ten comes after nine": {
			files: map[string]string{"offsets/9": batch(`{"a":{"0":9}}`), "offsets/10": batch(`{"a":{"0":10}}`), "commits/9": done, "commits/10": done},
			want:  "a 0 10", path: "offsets/10",
		},
		"not committed": {
			files: map[string]string{"offsets/0": batch(`{"a":{"0":1}}`), "offsets/1": batch(two), "commits/0": done},
			want:  "a 0 1", path: "offsets/0", notes: []string{"the newest batch is 1, the last committed is 0"},
		},
		"STO-10: a gap": {
			files: map[string]string{"offsets/57": batch(`{"a":{"0":57}}`), "offsets/59": batch(`{"a":{"0":59}}`), "commits/56": done, "commits/57": done},
			want:  "a 0 57", path: "offsets/57", notes: []string{"batch 58 are missing", "the newest batch is 59, the last committed is 57"},
		},
		"its offsets are missing": {
			files:   map[string]string{"offsets/5": batch(`{"a":{"0":5}}`), "commits/5": done, "commits/6": done},
			trouble: "batch 6 is committed, but its offsets are missing; offsets has 5 to 5; ?batch=5 is the newest",
		},
		"a batch by choice": {
			files:  map[string]string{"offsets/5": batch(`{"a":{"0":5}}`), "offsets/6": "", "commits/5": done, "commits/6": done},
			params: "?batch=5", want: "a 0 5", path: "offsets/5",
		},
		"a batch by choice, not committed": {
			files:  map[string]string{"offsets/5": batch(`{"a":{"0":5}}`), "offsets/6": batch(two), "commits/5": done},
			params: "?batch=6", want: "a 0 13, a 1 10, b 0 5", path: "offsets/6", notes: []string{"not committed"},
		},
		"a batch by choice, not there": {
			files:  map[string]string{"offsets/5": batch(`{"a":{"0":5}}`), "commits/5": done},
			params: "?batch=7", trouble: "there are no offsets of batch 7; offsets has 5 to 5",
		},
		"several sources": {
			files: map[string]string{"offsets/0": batch(`{"a":{"0":1}}`, "-", `{"b":{"3":9}}`, `{"logOffset":4}`, "17"), "commits/0": done},
			want:  "a 0 1, b 3 9", path: "offsets/0", notes: []string{"source 1 is not of Kafka, or has nothing yet: nothing yet", `source 3 is not of Kafka, or has nothing yet: {"logOffset":4}`, "source 4 is not of Kafka, or has nothing yet: 17"},
		},
		"STO-11: one topic in several sources": {
			files: map[string]string{"offsets/0": batch(`{"a":{"0":10}}`, `{"a":{"0":10}}`, `{"a":{"0":12},"b":{"0":7}}`), "commits/0": done},
			want:  "b 0 7", path: "offsets/0", damaged: "source 0 has 0:10, source 1 has 0:10, source 2 has 0:12; choose one with ?source=0",
		},
		"one of them": {
			files:  map[string]string{"offsets/0": batch(`{"a":{"0":10}}`, `{"a":{"0":10}}`, `{"a":{"0":12}}`), "commits/0": done},
			params: "?source=2", want: "a 0 12", path: "offsets/0",
		},
		"a source that is not there": {
			files:  map[string]string{"offsets/0": batch(`{"a":{"0":10}}`), "commits/0": done},
			params: "?source=1", trouble: "has no source 1: it has 1 source, counted from 0",
		},
		"STO-13: checksums and temporary files": {
			files: map[string]string{
				"offsets/0": batch(`{"a":{"0":1}}`), "offsets/.0.crc": "stale", "offsets/.1.crc": "crc", "offsets/.1.3f2.tmp": batch(two), "offsets/01": batch(two), "offsets/2.compact": batch(two),
				"commits/0": done, "commits/.0.crc": "crc", "commits/1.tmp": done,
			},
			want: "a 0 1", path: "offsets/0",
		},
		"no batch is committed": {
			files: map[string]string{"offsets/0": batch(two), "sources/0/0": "\x00v1\n" + `{"a":{"0":2,"1":0}}`, "sources/1/0": "\x00v1\n" + `{"c":{"0":7}}`, "sources/1/.0.crc": ""},
			want:  "a 0 2, a 1 0, c 0 7", path: "sources", notes: []string{"the newest batch is 0, the last committed is none", "no batch is committed yet"},
		},
		"64 bits": {
			files: map[string]string{"offsets/0": batch(fmt.Sprintf(`{"a":{"2147483647":%d}}`, int64(math.MaxInt64))), "commits/0": done},
			want:  fmt.Sprintf("a 2147483647 %d", int64(math.MaxInt64)), path: "offsets/0",
		},
		"strange name": {
			files: map[string]string{"offsets/0": batch(`{"größe \"1\"":{"0":1}}`), "commits/0": done},
			want:  `größe "1" 0 1`, path: "offsets/0",
		},
		"with a line end": {
			files: map[string]string{"offsets/0": batch(`{"a":{"0":1}}`) + "\n", "commits/0": done},
			want:  "a 0 1", path: "offsets/0",
		},
		"no batch":     {files: map[string]string{"offsets/.keep": "", "commits/.keep": ""}, trouble: "no batch yet"},
		"empty":        {files: map[string]string{"offsets/0": "", "commits/0": done}, trouble: "the file is empty"},
		"cut off":      {files: map[string]string{"offsets/0": batch(`{"a":{"0":1`), "commits/0": done}, trouble: "line 3: it is cut off"},
		"cut off more": {files: map[string]string{"offsets/0": "v1\n" + facts[:20], "commits/0": done}, trouble: "cut off"},
		"no sources":   {files: map[string]string{"offsets/0": "v1\n" + facts, "commits/0": done}, trouble: "there is no source in it"},
		"version":      {files: map[string]string{"offsets/0": strings.Replace(batch(two), "v1", "v9", 1), "commits/0": done}, trouble: "version 9 of the format is not known"},
		"no version":   {files: map[string]string{"offsets/0": two, "commits/0": done}, trouble: "no version"},
		"negative":     {files: map[string]string{"offsets/0": batch(`{"a":{"0":-1}}`), "commits/0": done}, trouble: `topic "a", partition 0: -1 is negative`},
		"fraction":     {files: map[string]string{"offsets/0": batch(`{"a":{"0":1.5}}`), "commits/0": done}, trouble: `topic "a", partition 0: "1.5" is no number`},
		"twice":        {files: map[string]string{"offsets/0": batch(`{"b":{"0":9}}`, `{"a":{"0":100,"1":7,"0":900}}`), "commits/0": done}, trouble: `line 4: topic "a": partition 0 is in it twice`},
		"twice alike":  {files: map[string]string{"offsets/0": batch(`{"a":{"0":1,"0":1}}`), "commits/0": done}, trouble: `topic "a": partition 0 is in it twice`},
		"twice a name": {files: map[string]string{"offsets/0": batch(`{"a":{"0":1},"\u0061":{"1":2}}`), "commits/0": done}, trouble: `topic "a" is in it twice`},
		"twice at its start": {
			files:   map[string]string{"offsets/0": batch(two), "sources/0/0": "\x00v1\n" + `{"a":{"0":2,"0":0}}`},
			trouble: `topic "a": partition 0 is in it twice`,
		},
		"a topic of nothing": {files: map[string]string{"offsets/0": batch(`{"a":null,"b":{"0":5}}`), "commits/0": done}, want: "b 0 5", path: "offsets/0"},
		"partition":          {files: map[string]string{"offsets/0": batch(`{"a":{"x":1}}`), "commits/0": done}, trouble: `"x" is no partition`},
		"STO-18: serialised": {
			files:   map[string]string{"checkpoint-1795958046000": "\xac\xed", "checkpoint-1795958046000.bk": "\xac\xed", "receivedData/x": ""},
			trouble: "serialised Java objects, which only the program that wrote them can read (checkpoint-1795958046000",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, root := open(t, tt.files, tt.params)
			h, err := s.Load(t.Context(), "g", nil, false)
			if err != nil {
				t.Fatal(err)
			}
			trouble := ""
			if h.Store.Trouble != nil {
				trouble = h.Store.Trouble.Reason
			}
			if (trouble == "") != (tt.trouble == "") || !strings.Contains(trouble, tt.trouble) {
				t.Fatalf("trouble: got %q, want %q", trouble, tt.trouble)
			}
			if got := held(h); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if tt.trouble == "" && h.Store.Path != filepath.Join(root, tt.path) {
				t.Errorf("path: got %s, want %s", h.Store.Path, tt.path)
			}
			if len(h.Store.Notes) < len(tt.notes) || len(tt.notes) == 0 && tt.trouble == "" && len(h.Store.Notes) > 0 {
				t.Errorf("notes: got %q, want %q", h.Store.Notes, tt.notes)
			}
			for i, want := range tt.notes {
				if i < len(h.Store.Notes) && !strings.Contains(h.Store.Notes[i], want) {
					t.Errorf("note %d: got %q, want %q", i, h.Store.Notes[i], want)
				}
			}
			if topic, _ := h.Store.Topic("a"); tt.damaged != "" && (topic.Presence != offsets.Damaged || !strings.Contains(topic.Reason, tt.damaged)) {
				t.Errorf("topic a: got %+v, want it damaged: %s", topic, tt.damaged)
			}
			if strings.HasPrefix(tt.path, "offsets") && !h.Store.Saved.Equal(time.UnixMilli(1795958046849)) {
				t.Errorf("saved: got %v", h.Store.Saved)
			}
		})
	}
}

func TestSelected(t *testing.T) {
	s, _ := open(t, map[string]string{"offsets/0": batch(`{"a":{"0":1},"b":{"0":2}}`), "commits/0": done}, "")
	h, err := s.Load(t.Context(), "g", []string{"b", "c"}, false)
	if err != nil || held(h) != "b 0 2" {
		t.Errorf("got %q, %v", held(h), err)
	}
	if topic, ok := h.Store.Topic("c"); !ok || topic.Presence != offsets.Absent || topic.Path == "" {
		t.Errorf("c: got %+v, want it absent, with the place", topic)
	}
	if _, err := s.Writer(t.Context(), "g", []string{"a"}); !errors.Is(err, offsetfile.ErrReadOnly) {
		t.Errorf("writer: got %v", err)
	}
	if groups, _, err := s.Groups(t.Context()); len(groups) > 0 || err != nil {
		t.Errorf("groups: got %q, %v", groups, err)
	}
}

func TestNothing(t *testing.T) {
	_, root := open(t, map[string]string{"q/offsets/0": batch(`{"a":{"0":1}}`), "file": ""}, "")
	for url, looked := range map[string]string{
		"spark:" + root + "/none":      "folder " + root + "/none",
		"spark:" + root:                "folder " + root + "/offsets", // one level too high
		"spark:" + root + "/q/offsets": "folder " + root + "/q/offsets/offsets",
	} {
		var nothing *offsetfile.NothingError
		if _, err := at(t, url).Load(t.Context(), "g", nil, false); !errors.As(err, &nothing) || nothing.Looked != looked {
			t.Errorf("%s: got %v, want %s", url, err, looked)
		}
		if _, _, err := at(t, url).Groups(t.Context()); !errors.As(err, &nothing) {
			t.Errorf("%s: groups: got %v", url, err)
		}
	}
	for url, part := range map[string]string{
		"spark:": "path", "spark://host/x": "path", "spark:/x?batch=-1": "parameter batch", "spark:/x?source=a": "parameter source", "spark:s3://b/x": "scheme", "spark:webhdfs:///x": "host",
	} {
		a, err := offsetfile.ParseAddress(url, nil)
		if err == nil {
			_, err = spark.Open(a, offsetfile.Options{})
		}
		var e *offsetfile.URLError
		if !errors.As(err, &e) || e.Part != part {
			t.Errorf("%s: got %v, want an error about the %s", url, err, part)
		}
	}
}
