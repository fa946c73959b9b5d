package cmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.yaml.in/yaml/v3"

	"gtoffset/cmd"
	"gtoffset/kafkaops/kafkatest"
	"gtoffset/offsetfile"
)

// world is a cluster inside the process, a store, a backup folder, and a machine to run the program on.
type world struct {
	t     *testing.T
	b     *kafkatest.Broker
	store string // folder of gtoffset files
	state string // XDG_STATE_HOME
	vars  map[string]string
	step  func(string) error // before each step of a store's write
	tick  func()             // each time the program looks at the clock
	in    io.Reader          // stdin
	tty   bool               // stdin and stderr are terminals
	width int                // columns of stdout, 0: no terminal
	wrap  []string           // a command that runs a process, as strace does
	soft  context.Context    // ends with the first interrupt
	hard  context.Context    // ends with the second

	mu    sync.Mutex
	now   time.Time
	names map[[16]byte]string // topics by id
}

// nameTopics puts the topics' names into what members are assigned: the in-process broker sends ids only, Kafka sends both.
func (w *world) nameTopics(_ int32, r kmsg.Response) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range r.(*kmsg.ConsumerGroupDescribeResponse).Groups {
		for _, m := range g.Members {
			for i, t := range m.Assignment.TopicPartitions {
				m.Assignment.TopicPartitions[i].Topic = w.names[t.TopicID]
			}
		}
	}
	return true
}

// hide lets Metadata tell of a topic's first partitions only; with none, that there is no such topic. show ends that.
func (w *world) hide(topic string, from int32) (show func()) {
	var shown atomic.Bool
	w.b.Rewrite(kmsg.Metadata.Int16(), func(_ int32, r kmsg.Response) bool {
		m := r.(*kmsg.MetadataResponse)
		for i, t := range m.Topics {
			if t.Topic == nil || *t.Topic != topic || shown.Load() {
				continue
			}
			m.Topics[i].Partitions = slices.DeleteFunc(t.Partitions, func(p kmsg.MetadataResponseTopicPartition) bool { return p.Partition >= from })
			if from == 0 {
				m.Topics[i].ErrorCode, m.Topics[i].TopicID = kerr.UnknownTopicOrPartition.Code, [16]byte{}
			}
		}
		return true
	})
	return func() { shown.Store(true) }
}

// stale lets the first answer about an end be an older one, as of a follower that has just become leader. again does so once more.
func (w *world) stale(end int64) (again func()) {
	var told atomic.Bool
	w.b.Rewrite(kmsg.ListOffsets.Int16(), func(_ int32, r kmsg.Response) bool {
		p := &r.(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]
		if p.Offset > 0 && !told.Swap(true) {
			p.Offset = end
		}
		return true
	})
	return func() { told.Store(false) }
}

// writes is how many times offsets were committed over the wire, or commits removed.
func (w *world) writes() int { return w.b.Count(kmsg.OffsetCommit.Int16(), kmsg.OffsetDelete.Int16()) }

// start makes a world with one broker.
func start(t *testing.T) *world {
	t.Helper()
	return startWith(t, kafkatest.Options{Brokers: 1})
}

func startWith(t *testing.T, o kafkatest.Options) *world {
	t.Helper()
	w := &world{
		t: t, b: kafkatest.Start(t, o), store: t.TempDir(), state: t.TempDir(),
		soft: t.Context(), hard: t.Context(), in: strings.NewReader(""),
		now: time.Date(2031, 11, 29, 12, 0, 0, 0, time.UTC), names: map[[16]byte]string{},
	}
	w.b.Rewrite(kmsg.ConsumerGroupDescribe.Int16(), w.nameTopics)
	w.vars = map[string]string{"GTOFFSET_BOOTSTRAP_SERVER": w.b.Bootstrap(), "XDG_STATE_HOME": w.state, "HOME": w.state, "NO_COLOR": "1"}
	return w
}

// must stops the test where preparing it failed.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// env is the machine as it stands.
func (w *world) env(out, talk io.Writer) cmd.Env {
	e := cmd.Env{
		Stdin: w.in, Stdout: out, Stderr: talk, StdinTerminal: w.tty, StdoutWidth: w.width,
		Getenv: func(name string) string { return w.vars[name] },
		Environ: func() (all []string) {
			for name, value := range w.vars {
				all = append(all, name+"="+value)
			}
			return all
		},
		Now: func() time.Time {
			if w.tick != nil {
				w.tick()
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.now = w.now.Add(time.Millisecond)
			return w.now
		},
		Who:        func() (string, string) { return "ops", "kafka-tools" },
		Step:       w.step,
		Interrupts: func(soft context.Context) (context.Context, context.Context) { return soft, w.hard },
	}
	if w.tty {
		e.StderrWidth = 120
	}
	return e
}

// run runs the program.
func (w *world) run(args ...string) result {
	w.t.Helper()
	var out, talk bytes.Buffer
	code := cmd.Main(w.soft, w.env(&out, &talk), args)
	for _, wrong := range cmd.WrongHints(args, out.String()+talk.String()) { // whatever a test is about, a hint can be typed
		w.t.Errorf("gtoffset %s: %s", strings.Join(args, " "), wrong)
	}
	return result{w.t, args, out.String(), talk.String(), code}
}

// stdin gives the program a text to read.
func (w *world) stdin(text string) *world {
	w.in, w.tty = strings.NewReader(text), false
	return w
}

// person sits a person at the terminal who answers when asked. before is what happens while they think, nil for nothing.
func (w *world) person(answer string, before func()) *world {
	w.tty, w.in = true, &thinking{strings.NewReader(answer), before}
	return w
}

type thinking struct {
	io.Reader
	before func()
}

func (p *thinking) Read(b []byte) (int, error) {
	if p.before != nil {
		p.before()
		p.before = nil
	}
	return p.Reader.Read(b)
}

// topic creates a topic with a partition for each range from earliest to end.
func (w *world) topic(name string, ranges ...[2]int64) *world {
	w.t.Helper()
	must(w.t, w.b.CreateTopic(name, int32(len(ranges))))
	w.mu.Lock()
	w.names[w.b.Fake.TopicInfo(name).TopicID] = name
	w.mu.Unlock()
	w.grow(name, ranges...)
	return w
}

// grow moves the ranges of a topic on.
func (w *world) grow(name string, ranges ...[2]int64) {
	w.t.Helper()
	for p, r := range ranges {
		must(w.t, w.b.SetRange(name, int32(p), r[0], r[1]))
	}
}

// none is a partition without an offset.
const none = -1

// commit commits offsets for the partitions from 0 on; none leaves one out.
func (w *world) commit(group, topic string, offsets ...int64) *world {
	w.t.Helper()
	for p, o := range offsets {
		if o != none {
			must(w.t, w.b.Commit(group, topic, int32(p), o, -1, ""))
		}
	}
	return w
}

// memberless makes a group that reads a topic, of which its only member has left, and that has no commit.
func (w *world) memberless(group, topic string) {
	w.t.Helper()
	leave, err := w.b.Join(group, false, topic)
	must(w.t, err)
	leave()
}

// path is where the file of a group and topic lies, both with plain names.
func (w *world) path(group, topic string) string {
	return filepath.Join(w.store, group, topic, "gtoffset")
}

// put writes a file of the store.
func (w *world) put(group, topic, content string) *world {
	w.t.Helper()
	must(w.t, os.MkdirAll(filepath.Dir(w.path(group, topic)), 0o755))
	must(w.t, os.WriteFile(w.path(group, topic), []byte(content), 0o644))
	return w
}

// save writes a bare file with offsets for the partitions from 0 on; none leaves one out.
func (w *world) save(group, topic string, offsets ...int64) *world {
	w.t.Helper()
	return w.put(group, topic, strings.Join(lines(offsets), ""))
}

// saveAs writes a file with headers: the ids of topic and cluster, "" for none.
func (w *world) saveAs(group, topic, topicID, cluster string, offsets ...int64) *world {
	w.t.Helper()
	head := "# gtoffset 1\n# group " + group + "\n# topic " + topic + "\n"
	if topicID != "" {
		head += "# topic-id " + topicID + "\n"
	}
	if cluster != "" {
		head += "# cluster " + cluster + "\n"
	}
	body := lines(offsets)
	return w.put(group, topic, head+strings.Join(body, "")+fmt.Sprintf("# entries %d\n", len(body)))
}

func lines(offsets []int64) []string {
	var all []string
	for p, o := range offsets {
		if o != none {
			all = append(all, fmt.Sprintf("%d %d\n", p, o))
		}
	}
	return all
}

// file is the content of a file of the store, "" if there is none.
func (w *world) file(group, topic string) string {
	w.t.Helper()
	b, err := os.ReadFile(w.path(group, topic))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(b)
}

// stored lists the entries of a file: "0=500 1=900".
func (w *world) stored(group, topic string) string {
	w.t.Helper()
	var all []string
	for line := range strings.Lines(w.file(group, topic)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] != "#" {
			all = append(all, f[0]+"="+f[1])
		}
	}
	return strings.Join(all, " ")
}

// committed lists the commits of a group for a topic: "0=500 1=900".
func (w *world) committed(group, topic string) string {
	g := w.b.Fake.GroupInfo(group)
	if g == nil {
		return ""
	}
	var all []string
	for _, p := range slices.Sorted(maps.Keys(g.Commits[topic])) {
		all = append(all, fmt.Sprintf("%d=%d", p, g.Commits[topic][p].Offset))
	}
	return strings.Join(all, " ")
}

// same fails the test if two values differ.
func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// cluster is the id of the cluster, as the program prints it.
func (w *world) cluster() string {
	w.t.Helper()
	return w.run("describe", "-o", "json").groups().Cluster.ID
}

// backups lists the files in the backup folder.
func (w *world) backups() []string {
	w.t.Helper()
	all, err := filepath.Glob(filepath.Join(w.state, "gtoffset", "*"))
	must(w.t, err)
	return all
}

// result is what a run left.
type result struct {
	t    *testing.T
	args []string
	out  string
	err  string
	code int
}

func (r result) String() string {
	return fmt.Sprintf("gtoffset %s\n-- exit %d, stdout:\n%s-- stderr:\n%s--", strings.Join(r.args, " "), r.code, r.out, r.err)
}

// exits checks the exit code.
func (r result) exits(code int) result {
	r.t.Helper()
	if r.code != code {
		r.t.Errorf("exit code = %d, want %d\n%v", r.code, code, r)
	}
	return r
}

// prints checks that stdout has each of the texts.
func (r result) prints(texts ...string) result {
	r.t.Helper()
	return r.holds("stdout", r.out, texts)
}

// says checks that stderr has each of the texts.
func (r result) says(texts ...string) result {
	r.t.Helper()
	return r.holds("stderr", r.err, texts)
}

func (r result) holds(stream, all string, texts []string) result {
	r.t.Helper()
	for _, s := range texts {
		if !strings.Contains(all, s) {
			r.t.Errorf("%s lacks %q\n%v", stream, s, r)
		}
	}
	return r
}

// never checks that neither stream has any of the texts.
func (r result) never(texts ...string) result {
	r.t.Helper()
	for _, s := range texts {
		if strings.Contains(r.out, s) || strings.Contains(r.err, s) {
			r.t.Errorf("there should be no %q\n%v", s, r)
		}
	}
	return r
}

// line returns the cells of the table's line for a topic and partition.
func (r result) line(topic string, partition int) string {
	r.t.Helper()
	for line := range strings.Lines(r.out) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == topic && f[1] == strconv.Itoa(partition) {
			return strings.Join(f, " ")
		}
	}
	r.t.Errorf("no line of %s %d\n%v", topic, partition, r)
	return ""
}

// undo is the command that the run printed as the way back, without the name of the program.
func (r result) undo() []string {
	r.t.Helper()
	for line := range strings.Lines(r.out) {
		if after, ok := strings.CutPrefix(line, "undo "); ok {
			f := typed(after)
			if len(f) < 3 || f[0] != "gtoffset" {
				r.t.Fatalf("undo line = %q", line)
			}
			return f[1:]
		}
	}
	r.t.Fatalf("no undo line\n%v", r)
	return nil
}

// typed are the words of a printed line as a shell takes them. None of the tests' words has a blank.
func typed(line string) []string {
	words := strings.Fields(line)
	for i, w := range words {
		words[i] = strings.Trim(w, "'")
	}
	return words
}

// document reads stdout, which must be one document of a schema and nothing else.
func document[T any](r result, schema string) T {
	r.t.Helper()
	var doc T
	var head struct{ Schema string }
	d := json.NewDecoder(strings.NewReader(r.out))
	if err := d.Decode(&doc); err != nil {
		r.t.Fatalf("stdout is no document: %v\n%v", err, r)
	}
	if _, err := d.Token(); err != io.EOF {
		r.t.Errorf("something follows the document\n%v", r)
	}
	if err := json.Unmarshal([]byte(r.out), &head); err != nil || head.Schema != schema {
		r.t.Errorf("schema = %q (%v), want %q", head.Schema, err, schema)
	}
	conforms(r.t, []byte(r.out))
	return doc
}

func (r result) describe() describeDoc {
	r.t.Helper()
	return document[describeDoc](r, "gtoffset.describe/1")
}

func (r result) groups() groupsDoc {
	r.t.Helper()
	return document[groupsDoc](r, "gtoffset.groups/1")
}

func (r result) plan() planDoc {
	r.t.Helper()
	return document[planDoc](r, "gtoffset.plan/1")
}

// failure reads the error document, which is the last line of stderr.
func (r result) failure() errorDoc {
	r.t.Helper()
	talk := r.err
	if i := strings.LastIndex(talk, "? [y/N] "); i >= 0 { // a terminal would show the answer, and its line end
		talk = talk[i+len("? [y/N] "):]
	}
	all := strings.Split(strings.TrimRight(talk, "\n"), "\n")
	var doc errorDoc
	if err := json.Unmarshal([]byte(all[len(all)-1]), &doc); err != nil {
		r.t.Fatalf("the last line of stderr is no document: %v\n%v", err, r)
	}
	same(r.t, "schema of the error", doc.Schema, "gtoffset.error/1")
	same(r.t, "code of the error", doc.Code, r.code)
	if !slices.Contains(doc.Codes, doc.Code) {
		r.t.Errorf("codes = %v lack %d", doc.Codes, doc.Code)
	}
	if !slices.Contains(doc.Causes, doc.Cause) {
		r.t.Errorf("causes = %v lack %q", doc.Causes, doc.Cause)
	}
	conforms(r.t, []byte(all[len(all)-1]))
	return doc
}

// fields is a document of any schema, which it has to conform to.
func (r result) fields() map[string]any {
	r.t.Helper()
	conforms(r.t, []byte(r.out))
	var all map[string]any
	must(r.t, json.Unmarshal([]byte(r.out), &all))
	return all
}

// yaml reads stdout as YAML into the form that JSON has.
func (r result) yaml() map[string]any {
	r.t.Helper()
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(r.out), &doc); err != nil {
		r.t.Fatalf("stdout is no YAML: %v\n%v", err, r)
	}
	return doc
}

// number is a number or null.
type number struct{ n *int64 }

func (n *number) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &n.n) }
func (n number) String() string {
	if n.n == nil {
		return "null"
	}
	return strconv.FormatInt(*n.n, 10)
}

type clusterDoc struct{ ID, Bootstrap, Source string }

type groupsDoc struct {
	Cluster clusterDoc
	Groups  []struct {
		Group, Type string
		State       *string
		Error       *string
		Assignor    string
		Coordinator number
		Epoch       number
		Address     string `json:"coordinator_address"`
		MemberCount number `json:"member_count"`
		Members     []struct {
			ClientID string `json:"client_id"`
			Epoch    number
			Assigned []struct{ Topic string }
		}
	}
}

type describeDoc struct {
	Cluster clusterDoc
	Groups  []groupDoc
	Checks  []struct {
		Check  string
		Failed bool
		Worst  *struct {
			Group, Topic string
			Partition    int32
			Value        int64
		}
	}
}

type groupDoc struct {
	Group, Type string
	State       *string
	Exists      *bool
	Members     []struct {
		ClientID string `json:"client_id"`
	}
	Partitions []rowDoc
	Totals     struct {
		Partitions, OK, Lag int64
		LagUncounted        int64  `json:"lag_uncounted"`
		StoredLag           number `json:"stored_lag"`
		StoredLagUncounted  number `json:"stored_lag_uncounted"`
		Unprocessed         number
	}
	StoreNotes []string `json:"store_notes"`
	Error      *string
}

type rowDoc struct {
	Topic         string
	TopicID       string `json:"topic_id"`
	Partition     int32
	Earliest, End number
	Stable        number
	Stored        *entryDoc
	Committed     entryDoc
	Unprocessed   number
	OK            bool
	State         string
	Error         *string
}

type entryDoc struct {
	Offset, Lag, Expired, Ahead, Epoch number
	Condition, Identity                string
	Metadata                           *string
	Stale                              bool
	JumpsTo                            number  `json:"jumps_to"`
	OtherCluster                       *string `json:"other_cluster"`
	Problem, Reason                    *string
}

// row finds a partition of the only group.
func (d describeDoc) row(t *testing.T, topic string, partition int32) rowDoc {
	t.Helper()
	for _, g := range d.Groups {
		for _, r := range g.Partitions {
			if r.Topic == topic && r.Partition == partition {
				return r
			}
		}
	}
	t.Fatalf("no row of %s %d in %+v", topic, partition, d)
	return rowDoc{}
}

type planDoc struct {
	ID, Command  string
	Applied      bool
	Cluster      clusterDoc
	Backup, Undo *string
	Groups       []struct {
		Group   string
		State   *string
		Notes   []string
		Refusal *string
		Changes []changeDoc
	}
	Counts countsDoc
}

type countsDoc struct {
	Write, Keep, Ask, Refuse, Clamped           int
	Written, Already, Verified, Failed, Unknown int
	NotTried                                    int `json:"not_tried"`
}

type changeDoc struct {
	Topic         string
	Partition     int32
	Side          string
	Condition     string
	Old, New      struct{ Offset, Epoch number }
	Verdict       string
	Reason        string
	Clamped       bool
	Expired       int64
	Skips         int64
	Repeats       int64
	Result, Error *string
}

// change finds a change by topic, partition and side.
func (d planDoc) change(t *testing.T, topic string, partition int32, side string) changeDoc {
	t.Helper()
	for _, g := range d.Groups {
		for _, c := range g.Changes {
			if c.Topic == topic && c.Partition == partition && c.Side == side {
				return c
			}
		}
	}
	t.Fatalf("no change of %s %d %s in %+v", topic, partition, side, d)
	return changeDoc{}
}

type errorDoc struct {
	Schema  string
	Code    int
	Codes   []int
	Cause   string
	Causes  []string
	Error   string
	Hint    *string
	Details []struct {
		Group, Topic *string
		Partition    *int32
		Reason       string
	}
}

func deref(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// words joins values by blanks.
func words(values ...any) string { return strings.TrimSuffix(fmt.Sprintln(values...), "\n") }

// document writes a file for import, and returns its path.
func (w *world) document(text string) string {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "document.json")
	must(w.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// lock takes the lock of a file, as a running job does.
func (w *world) lock(group, topic string) *offsetfile.Locked {
	w.t.Helper()
	files, err := offsetfile.Open(w.store, offsetfile.WithHolder("the nightly job"))
	must(w.t, err)
	held, err := files.Lock(w.t.Context(), group, []string{topic})
	must(w.t, err)
	return held
}
