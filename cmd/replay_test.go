package cmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/cmd"
)

// shell is a command line of a replay into a shell command.
func (w *world) shell(script string, more ...string) []string {
	return append(w.replay(more...), "--", "sh", "-c", script)
}

// saving runs a shell command for each batch, and saves. A batch is closed by its size, not by how slow the machine is.
func (w *world) saving(script string, more ...string) []string {
	return w.shell(script, append([]string{"--save", "--execute", "--batch-interval", "1h"}, more...)...)
}

func TestReplayFormats(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 0})
	at := time.UnixMilli(1795958046849)
	w.produce(
		&kgo.Record{Topic: "orders", Key: []byte("k"), Value: []byte("v\n"), Timestamp: at, Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("x")}, {Key: "n"}}},
		&kgo.Record{Topic: "orders", Value: []byte{0xff}, Timestamp: at},
	)
	line := []string{"replay", "-g", "billing", "-t", "orders", "--from", "earliest"}
	const want = `{"topic":"orders","partition":0,"offset":0,"timestamp":1795958046849,"timestamp_type":"create","key":"k","value":"v\n","headers":[["h","x"],["n",null]]}
{"topic":"orders","partition":0,"offset":1,"timestamp":1795958046849,"timestamp_type":"create","key":null,"value_base64":"/w==","headers":[]}
`
	same(t, "by default", w.run(line...).exits(0).out, want)
	same(t, "jsonl", w.run(append(line, "-o", "jsonl")...).exits(0).out, want)
	same(t, "raw", w.run(append(line, "-o", "raw")...).exits(0).out, "v\n\n\xff\n")
	same(t, "template", w.run(append(line, "--format", `%o %k %S %R%h|`)...).exits(0).out, "0 k 2 \x00\x00\x00\x02h=x,n=NULL|1  1 \x00\x00\x00\x01|")
	same(t, "quiet", w.run(append(line, "-q")...).exits(0).err, "")
	r := w.run(append(line, "--", "cat")...).exits(0)
	same(t, "to a command", r.out, want)
	same(t, "raw to a command", w.run(append(line, "-o", "raw", "--", "cat")...).exits(0).out, "v\n\n\xff\n")
	e := w.run("replay", "-g", "billing", "-t", "orders", "--from", "9", "-o", "jsonl").exits(4).failure() // a script that asks for JSON gets its errors so
	same(t, "details", words(len(e.Details), deref(e.Details[0].Topic)), "1 orders")
}

// produce appends records as they are.
func (w *world) produce(rs ...*kgo.Record) {
	w.t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(w.b.Addrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.DisableClientMetrics())
	must(w.t, err)
	defer c.Close()
	must(w.t, c.ProduceSync(w.t.Context(), rs...).FirstErr())
}

// Each batch is one contiguous range of each partition, within its bounds, and the command can know it again.
func TestReplayBatches(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 25, 7).save("billing", "orders", 5, 0)
	dir := t.TempDir()
	script := `cat >"` + dir + `/$GTOFFSET_BATCH"; printf '%s\n%s\n' "$GTOFFSET_GROUP" "$GTOFFSET_RANGES" >"` + dir + `/$GTOFFSET_BATCH.env"`
	w.run(w.saving(script, "--batch-records", "10", "--format", `%t %p %o\n`)...).exits(0).says("3 batches accepted and saved", "27 records")
	next := map[string]int64{"orders 0": 5, "orders 1": 0}
	total := 0
	for n := 1; n <= 3; n++ {
		got, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(n)))
		must(t, err)
		env, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(n)+".env"))
		must(t, err)
		lines := strings.Split(strings.TrimSpace(string(env)), "\n")
		same(t, "group", lines[0], "billing")
		var want []string
		for _, line := range lines[1:] {
			f := strings.Fields(line)
			from, until := number64(t, f[2]), number64(t, f[3])
			same(t, "begins where the batch before ended", from, next[f[0]+" "+f[1]])
			next[f[0]+" "+f[1]] = until
			for o := from; o < until; o++ {
				want = append(want, fmt.Sprintf("%s %s %d", f[0], f[1], o))
			}
		}
		records := strings.Split(strings.TrimSpace(string(got)), "\n")
		if total += len(records); len(records) > 10 {
			t.Errorf("batch %d has %d records", n, len(records))
		}
		slices.Sort(want)
		slices.Sort(records)
		same(t, "records of the ranges", strings.Join(records, ";"), strings.Join(want, ";"))
	}
	same(t, "records", total, 27)
	same(t, "stored", w.stored("billing", "orders"), "0=25 1=7")

	w.save("billing", "orders", 0, 0)
	w.run(w.saving("cat >/dev/null", "--batch-bytes", "100", "-o", "raw")...).exits(0).says("2 batches accepted") // 15 x 4 + 10 x 3, and 7 x 3
	w.save("billing", "orders", 0, 7)
	w.run(w.saving("cat >/dev/null", "--batch-bytes", "2", "-o", "raw")...).exits(0).says("25 batches accepted") // each larger than a batch may be
	w.save("billing", "orders", 0, 7)
	w.run(w.saving("cat >/dev/null", "--records", "12", "--batch-records", "5")...).exits(0).says("3 batches accepted", "stopped, 13 to go", "1 of 1 verified")
	same(t, "stored after --records", w.stored("billing", "orders"), "0=12 1=7")
}

func number64(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	must(t, err)
	return n
}

// A batch that does not arrive as a whole is not accepted: the store stays where the batch before left it, and code and message say
// which it is.
func TestReplayNotAccepted(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 300_000) // more than a pipe holds
	for _, c := range []struct {
		name, script string
		more         []string
		says         string
	}{
		{"fails", "cat >/dev/null; exit 7", nil, "sh ended with 7"},
		{"killed", "cat >/dev/null; kill -9 $$", nil, "sh ended with signal: killed"},
		{"hangs", "cat >/dev/null; exec sleep 600", []string{"--exec-timeout", "200ms"}, "sh did not end within 200 ms (--exec-timeout)"},
		{"hangs with a child", "sleep 600 & wait", []string{"--exec-timeout", "200ms"}, "sh did not end within 200 ms"},
		{"hangs and does not read", "exec sleep 600", []string{"--exec-timeout", "200ms"}, "sh did not end within 200 ms"},
		{"does not read", "exit 0", nil, "sh ended with 0, but left"},
		{"closes its input", "head -c 10 >/dev/null", nil, "sh ended with 0, but left 600252 of 600262 bytes of its input unread"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{0, 0}).save("billing", "orders", 0)
			for range 4 {
				must(t, w.b.Produce("orders", 0, large))
			}
			line := func(script string, more ...string) []string {
				return w.saving(script, append([]string{"--batch-records", "2"}, more...)...)
			}
			if c.more == nil {
				second := `if [ "$GTOFFSET_BATCH" = 1 ]; then cat >/dev/null; else ` + c.script + `; fi`
				w.run(line(second)...).exits(3).says("batch 2 was not accepted: "+c.says, "2 records of orders 0 2..4", "the store is where the batch before left it", "1 of 1 verified", "the same command goes on")
			} else { // on a busy machine the first, too, would take too long
				w.run(line("cat >/dev/null", "--records", "2")...).exits(0)
			}
			same(t, "stored after the first", w.stored("billing", "orders"), "0=2")
			r := w.run(line(c.script, c.more...)...).exits(1).says("batch 1 was not accepted: "+c.says, "orders 0 2..4")
			same(t, "stored after none", w.stored("billing", "orders"), "0=2")
			r.never("undo ")
			w.run(line("cat >/dev/null")...).exits(0).says("1 batch accepted")
			same(t, "stored in the end", w.stored("billing", "orders"), "0=4")
		})
	}
}

// The same of a small batch, which fits into the pipe: a command that ends with 0 has to have read it.
func TestReplayUnread(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 3).save("billing", "orders", 0)
	for range 20 { // whichever is faster
		w.run(w.replay("--save", "--execute", "-q", "--", "true")...).exits(1).says("ended with 0, but left")
	}
	same(t, "stored", w.stored("billing", "orders"), "0=0")
}

func TestReplayRetries(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 3).save("billing", "orders", 0)
	mark := filepath.Join(t.TempDir(), "mark")
	script := `cat; [ -e ` + mark + ` ] || { touch ` + mark + `; exit 1; }`
	r := w.run(w.saving(script, "--retries", "1", "-o", "raw")...).exits(0).says("batch 1 was not accepted: sh ended with 1; once more in 1 s", "1 batch accepted")
	same(t, "both times the whole batch", r.out, "v0\nv1\nv2\nv0\nv1\nv2\n")
}

// What an undone replay leaves can be taken back, whether it came to its end or not.
func TestReplayUndo(t *testing.T) {
	t.Parallel()
	for _, records := range []string{"20", "5"} {
		w := start(t).filled("orders", 20).save("billing", "orders", 3)
		r := w.run(w.saving("cat >/dev/null", "--records", records)...).exits(0)
		var undo []string
		for line := range strings.Lines(r.err) {
			if after, ok := strings.CutPrefix(line, "undo "); ok {
				undo = strings.Fields(after)[1:]
			}
		}
		w.run(undo...).exits(0)
		same(t, "stored after "+records, w.stored("billing", "orders"), "0=3")
	}
}

// While one replay of a group saves, another is refused.
func TestReplayTwiceAtOnce(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 3).save("billing", "orders", 0)
	held := w.lock("billing", "orders")
	w.run(w.saving("cat >/dev/null")...).exits(4).says("is locked by", "the nightly job", "nothing was written")
	must(t, held.Unlock())
	w.run(w.saving("cat >/dev/null")...).exits(0)
}

// The one road is taken, once: an active group is refused, a question asked, a plan only shown.
func TestReplayTakesTheRoad(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 5).save("billing", "orders", 2).commit("billing", "orders", 2)
	line := w.replay("--save")
	cat := []string{"--", "cat"}
	w.run(append(line, cat...)...).exits(2).says("nobody can be asked here")
	w.run(append(append(line, "--dry-run"), cat...)...).exits(0).says("dry run: nothing was written").prints("up to 3 records to be read")
	w.run(append(append(line, "--check"), cat...)...).exits(10)
	w.person("n\n", nil).run(append(line, cat...)...).exits(1).says("Write 1 offset of group billing", "not confirmed; nothing was written")
	same(t, "stored", w.stored("billing", "orders"), "0=2")
	w.person("y\n", nil).run(append(append(line, "-o", "raw"), cat...)...).exits(0).says("1 of 1 verified").prints("v2\nv3\nv4\n")
	w.stdin("").save("billing", "orders", 2)
	leave, err := w.b.Join("billing", true, "orders")
	must(t, err)
	w.run(w.saving("cat >/dev/null")...).exits(4).says(`group "billing" is active`, "--wait-empty")
	leave()
	w.run(w.saving("cat >/dev/null", "--wait-empty", "60s")...).exits(0)
	w.put("billing", "orders", "0 1")
	w.run(w.saving("cat >/dev/null")...).exits(4).says("damaged", "nothing was read")
	must(t, os.Remove(w.path("billing", "orders")))
	w.run(w.saving("cat >/dev/null", "-t", "orders")...).exits(3).says("nothing is stored for it", "Nothing to do")
	same(t, "no file was made", w.file("billing", "orders"), "")
}

// Another range keeps its progress under a name of its own, and goes on there.
func TestReplaySaveAs(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 20).save("billing", "orders", 15)
	line := func(more ...string) []string {
		return append(w.replay("-t", "orders", "--from", "5", "--save-as", "again", "--execute", "-o", "raw"), more...)
	}
	r := w.run(line("--records", "4", "--", "cat")...).exits(0).says("kept in the store of again")
	same(t, "first", r.out, "v5\nv6\nv7\nv8\n")
	same(t, "kept apart", w.stored("billing", "orders")+", "+w.stored("again", "orders"), "0=15, 0=9")
	r = w.run(line("--until", "12", "--", "cat")...).exits(0).says(`goes on at 9, where group "again" is`)
	same(t, "then", r.out, "v9\nv10\nv11\n")
	w.run(line("--until", "12", "--", "cat")...).exits(0).says("Nothing to do")
	w.run(line("--until", "10", "--", "cat")...).exits(4).says(`group "again" is at 12, which is not in 5..10: it belongs to another replay`)
	same(t, "in the end", w.stored("billing", "orders")+", "+w.stored("again", "orders"), "0=15, 0=12")
	w.commit("again", "orders", 1)
	w.run(line("--until", "15", "--", "cat")...).exits(4).says("Kafka knows a group of that name", "nothing was read")
	same(t, "a job's own", w.stored("again", "orders"), "0=12")
}

// A replay that was cut short is undone like one that was not, and what it was still to read is in no plan.
func TestReplayUndoneShort(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 20).save("billing", "orders", 5)
	w.run(w.saving("cat >/dev/null; [ $GTOFFSET_BATCH != 3 ]", "--batch-records", "2")...).exits(3).says("batch 3 was not accepted", "2 batches accepted and saved", "the same command goes on")
	same(t, "stored", w.stored("billing", "orders"), "0=9")
	backup := w.backups()
	same(t, "backups, without a plan", len(backup), 1)
	w.run("import", backup[0], "--execute").exits(0).prints("1 of 1 verified")
	same(t, "undone", w.stored("billing", "orders"), "0=5")
}

// A batch that could not be saved is named with all of its range, and counted as what it is.
func TestReplayNotSaved(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 20).save("billing", "orders", 5)
	path := w.path("billing", "orders")
	script := `cat >/dev/null; [ $GTOFFSET_BATCH != 2 ] || printf '0 6\n' > ` + path
	w.run(w.saving(script, "--batch-records", "2")...).exits(3).says("batch 2 was accepted, but could not be saved", "(orders 0 7..9)",
		"2 batches accepted, 1 saved", "the last batch is not saved", "the same command goes on")
	same(t, "stored", w.stored("billing", "orders"), "0=6")
}

// What the store refused changed nothing: result and backup say how far was saved before, and the undo takes that back.
func TestReplayUndoneWhereASaveWasRefused(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 20, 3).save("billing", "orders", 5, 1)
	path, summaryPath := w.path("billing", "orders"), filepath.Join(t.TempDir(), "summary.json")
	changes := func(batch, to string) []string {
		script := "cat >/dev/null; [ $GTOFFSET_BATCH != " + batch + " ] || printf '" + to + "' > " + path
		return w.saving(script, "-t", "orders:0", "--batch-records", "5", "--summary", summaryPath)
	}
	w.run(changes("3", `0 15\n1 2\n`)...).exits(3).says("done; the last batch is not saved, only up to 15", "3 batches accepted, 2 saved", "1 of 1 verified")
	s := summary(t, summaryPath)
	same(t, "summary", words(s.Partitions[0].To, s.Partitions[0].Saved), "20 15")
	backup := w.backups()
	same(t, "backups", len(backup), 1)
	w.run("import", backup[0], "--execute").exits(0).prints("1 of 1 verified")
	same(t, "undone", w.stored("billing", "orders"), "0=5 1=2")

	before := len(w.backups())
	w.run(changes("1", `0 5\n1 3\n`)...).exits(3).says("stopped, 10 to go; the last batch is not saved\n", "1 batch accepted, 0 saved").never("undo ")
	same(t, "backups, as nothing was written", len(w.backups()), before)
}

// What a plan of a replay names was never earned, wherever the plan comes from.
func TestReplayPlanIsNotImported(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 20).save("billing", "orders", 5)
	r := w.run("reset", "-g", "billing", "--stored", "-s", w.store, "-t", "orders", "--to-offset", "20", "--dry-run", "-o", "json").exits(0)
	plan := filepath.Join(t.TempDir(), "plan.json")
	must(t, os.WriteFile(plan, []byte(strings.Replace(r.out, `"command":"reset"`, `"command":"replay"`, 1)), 0o600))
	w.run("import", plan, "--execute").exits(4).says("is the plan of a replay", "nothing was written")
	same(t, "stored", w.stored("billing", "orders"), "0=5")
}

// What has expired is left out only by choice; then the store moves behind it.
func TestReplayExpired(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 10, 10).save("billing", "orders", 1, 2)
	must(t, w.b.Fake.DeleteRecords("orders", 0, 4))
	must(t, w.b.Fake.DeleteRecords("orders", 1, 10))
	w.run(w.saving("cat")...).exits(4).says("orders 0: low: 3 expired (1 to 3)", "orders 1: low: 8 expired (2 to 9)", "--expired skip", "nothing was read")
	path := filepath.Join(t.TempDir(), "summary.json")
	r := w.run(w.saving("cat", "--expired", "skip", "-o", "raw", "--summary", path)...).exits(0).says("3 expired (1 to 3), left out by choice", "2 of 2 verified")
	same(t, "what is left", r.out, "v4\nv5\nv6\nv7\nv8\nv9\n")
	same(t, "stored", w.stored("billing", "orders"), "0=10 1=10")
	s := summary(t, path)
	same(t, "summary", words(s.Partitions[0].Expired, s.Partitions[0].Saved, s.Partitions[1].Expired, s.Partitions[1].Saved), "3 10 8 10")
}

// slow gives a command line that tells of each batch and then waits until it may go on.
func slow(dir string) string {
	return `cat >/dev/null; touch "` + dir + `/$GTOFFSET_BATCH"; while [ ! -e "` + dir + `/go" ]; do sleep 0.01; done`
}

// appears waits for a file.
func appears(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not appear", path)
		}
		<-time.After(time.Millisecond)
	}
}

// The first interrupt lets the batch that is running end, and saves it; the second ends it unsaved.
func TestReplayInterrupted(t *testing.T) {
	t.Parallel()
	for _, twice := range []bool{false, true} {
		w := start(t).filled("orders", 10).save("billing", "orders", 0)
		dir := t.TempDir()
		soft, first := context.WithCancel(t.Context())
		hard, second := context.WithCancel(t.Context())
		w.soft, w.hard = soft, hard
		ended := make(chan result, 1)
		go func() { ended <- w.run(w.saving(slow(dir), "--batch-records", "4")...) }()
		appears(t, filepath.Join(dir, "1"))
		first()
		if twice {
			second()
			(<-ended).exits(130).says("interrupted").never("undo ")
			same(t, "stored after the second", w.stored("billing", "orders"), "0=0")
			same(t, "backups, as nothing was written", len(w.backups()), 0)
		} else {
			must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
			(<-ended).exits(130).says("interrupted", "1 batch accepted and saved", "1 of 1 verified")
			same(t, "stored after the first", w.stored("billing", "orders"), "0=4")
		}
		first()
		second()
		w.soft, w.hard = t.Context(), t.Context()
		must(t, os.RemoveAll(filepath.Join(dir, "go")))
		w.run(w.saving("cat >/dev/null")...).exits(0) // nothing is locked any more
		same(t, "stored in the end", w.stored("billing", "orders"), "0=10")
	}
}

// waiting is a writer that tells when a text has come.
type waiting struct {
	mu   sync.Mutex
	text bytes.Buffer
	want string
	seen chan struct{}
	once sync.Once
}

func (w *waiting) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(b)
	if w.want != "" && strings.Contains(w.text.String(), w.want) {
		w.once.Do(func() { close(w.seen) })
	}
	return len(b), nil
}

func (w *waiting) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// An interrupt between two tries ends it as one.
func TestReplayInterruptedBetweenTries(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 3).save("billing", "orders", 0)
	soft, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	w.soft = soft
	var out bytes.Buffer
	talk := &waiting{want: "once more in", seen: make(chan struct{})}
	ended := make(chan int, 1)
	go func() { ended <- cmd.Main(w.soft, w.env(&out, talk), w.saving("exit 3", "--retries", "100")) }()
	<-talk.seen
	interrupt()
	if code := <-ended; code != 130 || !strings.Contains(talk.String(), "error: interrupted") || !strings.Contains(talk.String(), "batch 1 was not accepted: sh ended with 3 (3 records") {
		t.Errorf("exit code = %d, want 130\n%s", code, talk)
	}
	same(t, "stored", w.stored("billing", "orders"), "0=0")
}

// With --follow there is no end: what is written later comes, too, and is saved; an interrupt ends it.
func TestReplayFollow(t *testing.T) {
	t.Parallel()
	for _, sink := range []string{"stdout", "command"} {
		w := start(t).filled("orders", 2, 1).save("billing", "orders", 1, 1)
		soft, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		w.soft = soft
		line := w.replay("--follow", "-o", "raw")
		if sink == "command" {
			line = append(line, "--save", "--execute", "--batch-interval", "10ms", "--", "cat")
		}
		out := &waiting{want: "late", seen: make(chan struct{})}
		talk := &waiting{}
		ended := make(chan int, 1)
		go func() { ended <- cmd.Main(w.soft, w.env(out, talk), line) }()
		must(t, w.b.Produce("orders", 1, "late"))
		<-out.seen
		interrupt()
		if code := <-ended; code != 130 {
			t.Errorf("%s: exit code = %d, want 130\n%s\n%s", sink, code, out, talk)
		}
		got := strings.Split(strings.TrimSpace(out.String()), "\n")
		slices.Sort(got)
		same(t, sink, strings.Join(got, " "), "late v1")
		if sink == "command" {
			same(t, "stored", w.stored("billing", "orders"), "0=2 1=2")
		}
	}
}

// With --follow and --records it ends with the last of them, and does not wait for one more.
func TestReplayFollowsSoManyRecords(t *testing.T) {
	t.Parallel()
	for _, sink := range []string{"stdout", "command"} {
		w := start(t).filled("orders", 2, 1).save("billing", "orders", 1, 1)
		line := w.replay("--follow", "--records", "1", "-o", "raw")
		if sink == "command" {
			line = append(line, "--execute", "--", "cat")
		}
		same(t, sink, strings.TrimSpace(w.run(line...).exits(0).out), "v1")
	}
}

// broken is a pipe of which the reader has gone after some bytes.
type broken struct{ left int }

func (b *broken) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
	}
	return len(p), nil
}

// A reader that goes away, such as head -5, ends it quietly; any other error does not.
func TestReplayIntoAPipe(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 1000).save("billing", "orders", 0)
	var talk bytes.Buffer
	if code := cmd.Main(t.Context(), w.env(&broken{10}, &talk), w.replay()); code != 0 || talk.Len() > 0 {
		t.Errorf("exit code = %d, want 0\n%s", code, &talk)
	}
	full := writer(func([]byte) (int, error) { return 0, syscall.ENOSPC })
	if code := cmd.Main(t.Context(), w.env(full, &talk), w.replay()); code != 1 || !strings.Contains(talk.String(), "write records to stdout: no space left") {
		t.Errorf("a full disk: exit code = %d, want 1\n%s", code, &talk)
	}
	same(t, "stored", w.stored("billing", "orders"), "0=0")
}

type writer func([]byte) (int, error)

func (f writer) Write(p []byte) (int, error) { return f(p) }

// The same in a process of its own, whose stdout is a pipe that is closed.
func TestReplayIntoHead(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 20000).save("billing", "orders", 0)
	r := w.piped(func(out io.Reader) { _, err := io.ReadFull(out, make([]byte, 100)); must(t, err) }, w.replay()...)
	r.exits(0)
	same(t, "stderr", r.err, "")
}

// Of one partition no more than so many records a second, by the clock of the test: of 30 records at 100 a second, ten may come at once.
func TestReplayMaxRate(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 30, 30).save("billing", "orders", 0, 0)
	for _, line := range [][]string{
		w.replay("--max-rate", "100", "-o", "raw"),
		append(w.replay("--max-rate", "100", "-o", "raw", "--batch-records", "7", "--save", "--execute"), "--", "cat"),
	} {
		begin := w.now
		same(t, "records", strings.Count(w.run(line...).exits(0).out, "\n"), 60)
		if took := w.now.Sub(begin); took < 190*time.Millisecond {
			t.Errorf("it took %s", took)
		}
	}
	same(t, "stored", w.stored("billing", "orders"), "0=30 1=30")
}

func TestReplaySummary(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 10, 10).save("billing", "orders", 2, 10)
	path := filepath.Join(t.TempDir(), "summary.json")
	read := func() summaryDoc { t.Helper(); return summary(t, path) }
	w.run(w.replay("--summary", path)...).exits(0)
	s := read()
	same(t, "stdout", words(s.Sink, s.Saves, s.Records, s.Bytes, s.Exit, deref(s.Why)), "stdout false 8 16 0 null")
	same(t, "partitions", words(s.Partitions[0].From, s.Partitions[0].Until, s.Partitions[0].To, s.Partitions[0].Saved, s.Partitions[1].Records, s.Partitions[1].Done), "2 10 10 null 0 true")
	w.run(w.saving("exit 9", "--summary", path)...).exits(1)
	s = read()
	same(t, "command", words(s.Sink, s.Target, s.Saves, s.Records, s.Batches, s.Exit, deref(s.Cause), s.Partitions[0].To, s.Partitions[0].Done), "command sh true 0 0 1 failed 2 false")
	if !strings.Contains(deref(s.Why), "batch 1 was not accepted") {
		t.Errorf("why = %s", deref(s.Why))
	}
	w.save("billing", "orders", 2, 11)
	w.run(w.replay("--summary", path)...).exits(4)
	s = read()
	same(t, "refused", words(s.Records, s.Exit, s.Partitions[1].Done), "0 4 false")
	w.save("billing", "orders", 2, 10)
	w.run(w.replay("--summary", filepath.Join(t.TempDir(), "no", "summary"))...).exits(1).says("no such file or directory; nothing was read")
}

// A summary for which there is no room leaves what was there.
func TestReplaySummaryOnFullDisk(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 2).save("billing", "orders", 0)
	w.wrap = []string{"sh", "-c", `ulimit -f 0; exec "$0" "$@"`}
	folder := t.TempDir()
	path := filepath.Join(folder, "summary.json")
	w.process(0, "", w.replay("--summary", path)...).exits(3).says("its summary could not be written", "file too large")
	all, err := os.ReadDir(folder)
	must(t, err)
	same(t, "files", len(all), 0)
	must(t, os.WriteFile(path, []byte("{}"), 0o600))
	w.process(0, "", w.replay("--summary", path)...).exits(3)
	text, err := os.ReadFile(path)
	must(t, err)
	same(t, "the old summary", string(text), "{}")
}

// Where no group plays a part none is asked about, nor asked for.
func TestReplayWithoutGroup(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 5)
	w.b.Reset()
	summary := filepath.Join(t.TempDir(), "summary.json")
	r := w.run("replay", "-t", "orders:0", "--from", "1", "--until", "4", "--format", `%o `, "--summary", summary).exits(0)
	same(t, "records", r.out, "1 2 3 ")
	same(t, "requests about groups", w.b.Count(kmsg.OffsetFetch.Int16(), kmsg.FindCoordinator.Int16(), kmsg.DescribeGroups.Int16(), kmsg.ListGroups.Int16()), 0)
	text, err := os.ReadFile(summary)
	must(t, err)
	same(t, "group in the summary", strings.Contains(string(text), `"group":null`) || strings.Contains(string(text), `"group": null`), true)
	w.run("replay", "-t", "orders", "--from", "earliest", "--until", "@1795953600000", "--", "cat").exits(0)
	w.run("replay", "-t", "nosuch", "--from", "earliest").exits(1).says(`topic "nosuch" does not exist`)
}

func TestReplayUsage(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 3).save("billing", "orders", 0)
	w.b.Reset()
	for _, c := range []struct {
		line, says string
	}{
		{"replay -s STORE", "no group is named, and where it stands is where to start"},
		{"replay -t orders --from committed", "no group is named, and where it stands is where to start"},
		{"replay -t orders --from earliest --until committed", "no group is named, and where it stands is where to end"},
		{"replay --from earliest", "no group is named, and its topics are read"},
		{"replay -t orders --from earliest -s STORE --save-as x --execute -- cat", "no group is named, and its progress is saved"},
		{"replay -g billing", "--from stored needs a store"},
		{"replay -g billing -s STORE cat", `replay takes no argument, but for a command after --: "cat"`},
		{"replay -g billing -s STORE x -- cat", `replay takes no argument`},
		{"replay -g billing -s STORE --", "there is no command after --"},
		{"replay -g billing -s STORE -- ./no-such-program", "the command cannot be run"},
		{"replay -g billing -s STORE --follow --until end", "--follow has no end"},
		{"replay -g billing -s STORE --records 0", "--records 0"},
		{"replay -g billing -s STORE --max-rate=-1", "--max-rate -1"},
		{"replay -g billing -s STORE --expired keep", `--expired "keep"`},
		{"replay -g billing -s STORE --isolation none", `--isolation "none"`},
		{"replay -g billing -s STORE --format %q", `"%q" is not known`},
		{"replay -g billing -s STORE --format %s -o raw", "--format and -o exclude each other"},
		{"replay -g billing -s STORE -o csv", `-o "csv"`},
		{"replay -g billing -s STORE --to-topic x -- cat", "a command and --to-topic exclude each other"},
		{"replay -g billing -s STORE --to-topic x", "--to-topic writes records"},
		{"replay -g billing -s STORE --to-topic x --execute -o raw", "a copy has no format"},
		{"replay -g billing -s STORE --to-topic __consumer_offsets --execute", "a topic of Kafka's own"},
		{"replay -g billing -s STORE --same-topic", "--same-topic belongs to --to-topic"},
		{"replay -g billing -s STORE --retries 2", "--retries belongs to a command"},
		{"replay -g billing -s STORE --exec-timeout 2s", "--exec-timeout belongs to a command"},
		{"replay -g billing -s STORE --retries=-2 -- cat", "--retries -2 is negative"},
		{"replay -g billing -s STORE --batch-records 2", "--batch-records belongs to"},
		{"replay -g billing -s STORE --batch-records 0 -- cat", "--batch-records 0"},
		{"replay -g billing -s STORE --batch-bytes 2q -- cat", `"2q" is no size`},
		{"replay -g billing -s STORE --batch-bytes 0 -- cat", `"0" is no size`},
		{"replay -g billing -s STORE --save --execute", "--save needs a command or --to-topic"},
		{"replay -g billing --from earliest --save --execute -- cat", "--save needs a store"},
		{"replay -g billing -s STORE --from earliest --save --execute -- cat", "--save goes with --from stored only"},
		{"replay -g billing -t orders --from 1h --until 2h", "is after --until"},
		{"replay -g billing -g other -t orders --from earliest", `--group is "billing" already, and this command is about one group`},
		{"replay -g billing -s STORE --save --save-as x --execute -- cat", "--save and --save-as exclude each other"},
		{"replay -g billing -s STORE --save-as billing --execute -- cat", "--save-as names the group itself"},
		{"replay -g billing --from earliest --save-as x --execute -- cat", "--save-as needs a store"},
		{"replay -g billing -s STORE --backup-dir /tmp", "--backup-dir belongs to --save"},
		{"replay -g billing -s STORE --check -- cat", "--check belongs to --save"},
		{"replay -g billing -s STORE --all-groups", "unknown flag"},
	} {
		args := strings.Fields(strings.ReplaceAll(c.line, "STORE", w.store))
		w.run(args...).exits(2).says(c.says)
	}
	same(t, "requests", w.b.Count(), 0)
	same(t, "stored", w.stored("billing", "orders"), "0=0")
}

// A dry run says what would be read.
func TestReplayDryRun(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 10).save("billing", "orders", 4)
	for _, line := range [][]string{w.replay("--dry-run"), w.replay("--dry-run", "--", "false")} {
		w.run(line...).exits(0).prints("up to 6 records").says("dry run: nothing was read")
	}
	r := w.run(w.replay("--dry-run", "-o", "jsonl")...).exits(0).says("up to 6 records")
	same(t, "stdout is for records", r.out, "")
	w.save("billing", "orders", 9)
	w.run(w.replay("--dry-run")...).exits(0).prints("up to 1 record\n")
	w.run(w.replay("--until", "yesterday:noon")...).exits(2).says("(UTC)").never("--timezone")
}

// Progress on a terminal is drawn in place, and leaves nothing behind; what a command prints stands between.
func TestReplayProgressOnATerminal(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 10).save("billing", "orders", 0)
	dir := t.TempDir()
	w.tty = true
	talk := &waiting{want: "batch 1 running", seen: make(chan struct{})}
	ended := make(chan int, 1)
	go func() {
		ended <- cmd.Main(w.soft, w.env(io.Discard, talk), w.saving(`echo "of the command" >&2; `+slow(dir), "--batch-records", "4", "--color", "never"))
	}()
	<-talk.seen
	must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	<-ended
	text := talk.String()
	for _, want := range []string{"of the command\n", "orders 0", "0 of 10", "saved 0 batches", "\x1b[J", "1 of 1 verified", "3 batches accepted and saved"} {
		if !strings.Contains(text, want) {
			t.Errorf("stderr lacks %q\n%q", want, text)
		}
	}
}

// Any name of a group works, and reaches the command exactly.
func TestReplayNames(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 3).filled("a.b", 1).filled("DATA", 1).filled("data", 2)
	// NAM-1, NAM-7, NAM-8
	for _, group := range []string{"team/job:forward", "a b", "a+b", "a&b", "a#b", `a"b`, "a,b", "😀", "a\nb", "a:b", "a@b", "a%3Ab", "$(touch x)", "-g"} {
		must(t, w.b.Commit(group, "orders", 0, 1, -1, ""))
		w.run("export", "-g="+group, "-o", "json").exits(0)
		w.run("reset", "-g="+group, "-t", "orders", "-s", w.store, "--stored", "--to-committed", "--execute").exits(0)
		r := w.run("replay", "-g="+group, "-s", w.store, "-o", "raw", "--save", "--execute", "-q", "--", "sh", "-c", `cat >/dev/null; printf %s "$GTOFFSET_GROUP"`).exits(0)
		same(t, "group", r.out, group)
		same(t, "there is nothing left", w.run("replay", "-g="+group, "-s", w.store, "-o", "raw").exits(0).out, "")
	}
	// NAM-4, NAM-6
	for topic, n := range map[string]int{"a.b": 1, "DATA": 1, "data": 2} {
		w.save("billing", topic, 0)
		same(t, topic, strings.Count(w.run(w.replay("-t", topic)...).exits(0).out, `"topic":"`+topic+`"`), n)
	}
	// NAM-3: the empty name is one, but has no place in a store of files
	w.run("replay", "-g", "", "-s", w.store).exits(2).says("has no place in the store")
	same(t, "read without a store", strings.Count(w.run("replay", "-g", "", "-t", "orders", "--from", "earliest").exits(0).out, "\n"), 3)
}

// What the brokers do while it is read.
func TestReplayTroubles(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 10, 10).save("billing", "orders", 2, 2)
	w.b.NoLeader("orders", 1)
	w.run(w.replay()...).exits(5).says("orders 1: unknown: ", "nothing was read")
	same(t, "the rest", strings.Count(w.run(w.replay("--partial", "-o", "raw")...).exits(3).says("left out: orders 1: unknown").out, "\n"), 8)
	w.run(w.replay("-t", "orders:0")...).exits(0)
	w.run(w.replay("-t", "orders:0", "-b", nowhere)...).exits(5) // CON
	w.run(w.replay("-t", "orders:0", "--expect-cluster", "another")...).exits(4)

	// a checksum that does not match stops it, with the offset
	v := start(t).filled("orders", 10).save("billing", "orders", 2)
	v.b.Rewrite(kmsg.Fetch.Int16(), func(_ int32, r kmsg.Response) bool {
		for _, topic := range r.(*kmsg.FetchResponse).Topics {
			for i := range topic.Partitions {
				if b := topic.Partitions[i].RecordBatches; len(b) > 0 {
					b[len(b)-1] ^= 1
				}
			}
		}
		return true
	})
	r := v.run(v.replay()...).exits(1).says("damaged", "checksum")
	same(t, "stdout", r.out, "")
}

// A replay begins where any store says, and moves on what can be written.
func TestReplayStores(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 10, 10).filled("payments", 3).commit("billing", "orders", 1, 1)
	first := func(store string, code int, more ...string) result {
		return w.run(append([]string{"replay", "-g", "billing", "-s", store, "--format", `%t %p %o\n`}, more...)...).exits(code)
	}
	// STO-1: what counts the last record is read from the next one on, and saved so, too
	w.save("billing", "orders", 6, 9)
	last := "file:" + w.store + "?counts=last"
	same(t, "behind the last", offsetsOf(first(last, 0).out, "orders", 0), "7 8 9")
	first(last, 0, "--save", "--execute", "--", "sh", "-c", "cat >/dev/null")
	same(t, "stored", w.stored("billing", "orders"), "0=9 1=9")

	// STO-10: a checkpoint says where, and is never written
	ck := filepath.Join(t.TempDir(), "ck")
	for name, text := range map[string]string{"offsets/57": "v1\n{}\n{\"orders\":{\"0\":6,\"1\":8}}", "offsets/59": "v1\n{}\n{\"orders\":{\"0\":7,\"1\":9}}", "commits/57": "v1\n{}"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(ck, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(ck, name), []byte(text), 0o644))
	}
	r := first("spark:"+ck, 0)
	same(t, "the last batch that was committed", offsetsOf(r.out, "orders", 0)+", "+offsetsOf(r.out, "orders", 1), "6 7 8 9, 8 9")
	first("spark:"+ck, 2, "--save", "--execute", "--", "cat").says("only read; nothing was written")

	first(filepath.Join(t.TempDir(), "nowhere"), 1).says("there is no such folder") // STO-3: a wrong path is no first run
	first("redis://"+nowhere+"/0", 5, "--timeout", "1s").says("did not answer", "nothing was read")

	// STO-16: one bad entry does not hide the others, and is not passed over unasked
	w.save("billing", "orders", 8, 9).put("billing", "payments", "0 1x\n")
	first(w.store, 4).says("payments 0: stored: damaged", "nothing was read")
	same(t, "the rest", offsetsOf(first(w.store, 3, "--partial").says("left out: payments 0: stored: damaged").out, "orders", 0), "8 9")
}

type recordDoc struct {
	Partition int32
	Offset    int64
	Timestamp int64
	Key       *string
	Value     *string
	Headers   [][]*string
}

// A batch of copies that did not arrive as a whole ends with 1 only if not one record of it was written.
func TestReplayToTopicInPart(t *testing.T) {
	t.Parallel()
	const timedOut, outOfOrder, invalid, denied = 7, 45, 87, 29
	for name, tt := range map[string]struct {
		answer func(partition, try int32) int16 // an error code, instead of the broker's own
		code   int
		says   string
	}{
		"no acknowledgement": {func(_, try int32) int16 { return []int16{timedOut, outOfOrder}[min(try, 1)] }, 3, "whether they were written is unknown"},
		"one partition":      {func(partition, _ int32) int16 { return []int16{0, invalid}[partition] }, 3, "was not accepted"},
		"nothing":            {func(_, _ int32) int16 { return denied }, 1, "not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{0, 0}, [2]int64{0, 0}).topic("again", [2]int64{0, 0}, [2]int64{0, 0})
			for p := range int32(2) {
				w.produce(&kgo.Record{Topic: "orders", Partition: p, Value: []byte("v"), Timestamp: w.now})
			}
			tries := map[int32]int32{}
			var mu sync.Mutex
			w.b.Rewrite(kmsg.Produce.Int16(), func(_ int32, r kmsg.Response) bool {
				mu.Lock()
				defer mu.Unlock()
				for i := range r.(*kmsg.ProduceResponse).Topics {
					for j := range r.(*kmsg.ProduceResponse).Topics[i].Partitions {
						p := &r.(*kmsg.ProduceResponse).Topics[i].Partitions[j]
						if code := tt.answer(p.Partition, tries[p.Partition]); code != 0 {
							p.ErrorCode = code
						}
						tries[p.Partition]++
					}
				}
				return true
			})
			w.run(w.replay("-t", "orders", "--from", "earliest", "--to-topic", "again", "--execute")...).exits(tt.code).says(tt.says)
		})
	}
}

// A copy is the record: partition, key, value, headers, timestamp.
func TestReplayToTopic(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 0}, [2]int64{0, 0}).topic("again", [2]int64{0, 0}, [2]int64{0, 0}).topic("narrow", [2]int64{0, 0})
	old := w.now.Add(-48 * time.Hour).Truncate(time.Millisecond)
	for p := range int32(2) {
		for i := range 5 {
			w.produce(&kgo.Record{
				Topic: "orders", Partition: p, Key: []byte(fmt.Sprintf("k%d", i)), Value: []byte(fmt.Sprintf("p%d-%d", p, i)), Timestamp: old.Add(time.Duration(i) * time.Second),
				Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("1")}, {Key: "h"}},
			})
		}
	}
	w.produce(&kgo.Record{Topic: "orders", Partition: 1, Timestamp: old})
	w.save("billing", "orders", 1, 0)
	w.run(w.replay("--to-topic", "again", "--execute", "--save", "--batch-records", "3", "--batch-interval", "1h")...).exits(0).says("10 records", "4 batches accepted and saved", "2 of 2 verified")
	same(t, "stored", w.stored("billing", "orders"), "0=5 1=6")
	read := func(topic, from string) map[string][]recordDoc {
		all := map[string][]recordDoc{}
		for line := range strings.Lines(w.run("replay", "-g", "billing", "-t", topic, "--from", from).exits(0).out) {
			var d recordDoc
			must(t, json.Unmarshal([]byte(line), &d))
			k := fmt.Sprint(d.Partition)
			d.Offset = 0
			all[k] = append(all[k], d)
		}
		return all
	}
	text := func(v any) string { b, err := json.Marshal(v); must(t, err); return string(b) }
	want, got := read("orders", "earliest"), read("again", "earliest")
	want["0"] = want["0"][1:]
	same(t, "the copies", text(got), text(want))

	w.run(w.replay("--from", "earliest", "--to-topic", "again", "--dry-run")...).exits(0).says("nothing was read")
	w.run(w.replay("--from", "earliest", "--to-topic", "narrow", "--execute")...).exits(4).says(`"narrow" has 1 partition, and partition 1 is to be copied`, "nothing was written")
	w.run(w.replay("--from", "earliest", "--to-topic", "orders", "--execute")...).exits(4).says(`"orders" is the topic that is read`, "--same-topic")
	w.run(w.replay("-t", "orders", "--from", "earliest", "--to-topic", "nowhere", "--execute")...).exits(1).says(`there is no topic "nowhere" to copy to`, "hint: kafka-topics.sh --bootstrap-server "+w.b.Bootstrap()+" --create --topic nowhere --partitions 2")
	w.run("replay", "-t", "nowhere", "--from", "earliest").exits(1).says(`topic "nowhere" does not exist`, "hint: kafka-topics.sh --bootstrap-server "+w.b.Bootstrap()+" --list shows them")
	w.run(w.replay("-t", "orders", "--from", "earliest", "--to-topic", "orders", "--same-topic", "--follow", "--execute")...).exits(2).says("--follow")
	w.save("billing", "again", 0, 0)
	w.run(w.replay("-t", "orders", "-t", "again", "--from", "earliest", "--to-topic", "narrow", "--execute")...).exits(2).says("the records of one topic")
	w.run(w.replay("-t", "orders:0", "--from", "3", "--to-topic", "orders", "--same-topic", "--execute", "--batch-interval", "1h")...).exits(0).says("2 records", "1 batch accepted")
	same(t, "the topic itself", len(read("orders", "earliest")["0"]), 7)

	must(t, w.b.Fake.CreateTopic("short", 2, map[string]string{"retention.ms": "3600000"}))
	w.run(w.replay("-t", "orders", "--from", "earliest", "--to-topic", "short", "--execute")...).exits(4).says(`are older than "short" keeps them (retention.ms 3600000)`)
	must(t, w.b.Fake.CreateTopic("compacted", 2, map[string]string{"cleanup.policy": "compact"}))
	w.run(w.replay("-t", "orders", "--from", "earliest", "--to-topic", "compacted", "--execute")...).exits(4).says(`"compacted" is compacted and takes no record without a key, and orders 1 has such`)
	w.run(w.replay("-t", "orders:0", "--from", "earliest", "--to-topic", "compacted", "--execute")...).exits(0).says("7 records")
}

// A copy of which some may be in the topic is no copy of which nothing was written.
func TestReplayToTopicInDoubt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		first int16 // how the first request is answered; it was stored
		code  int
		says  string
	}{
		{"not answered for certain", kerr.NetworkException.Code, 3, "whether they were written is unknown"},
		{"refused", kerr.InvalidTimestamp.Code, 1, "INVALID_TIMESTAMP"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := start(t).topic("orders", [2]int64{0, 0}).topic("again", [2]int64{0, 0})
			w.produce(&kgo.Record{Topic: "orders", Value: []byte("v"), Timestamp: w.now.Add(-time.Hour)})
			answers := 0
			w.b.Rewrite(kmsg.Produce.Int16(), func(_ int32, r kmsg.Response) bool {
				x := &r.(*kmsg.ProduceResponse).Topics[0].Partitions[0]
				if x.ErrorCode = c.first; answers > 0 {
					x.ErrorCode = kerr.OutOfOrderSequenceNumber.Code
				}
				answers++
				return true
			})
			w.run("replay", "-g", "billing", "-t", "orders", "--from", "earliest", "--to-topic", "again", "--execute").exits(c.code).says(c.says)
		})
	}
}

// piped runs the program as a process of its own, into a pipe that is closed when read returns.
func (w *world) piped(read func(io.Reader), args ...string) result {
	w.t.Helper()
	bin, err := os.Executable()
	must(w.t, err)
	c := exec.Command(bin, args...)
	c.Env = []string{"TEST_PROGRAM=1"}
	for name, value := range w.vars {
		c.Env = append(c.Env, name+"="+value)
	}
	in, out, err := os.Pipe()
	must(w.t, err)
	var talk bytes.Buffer
	c.Stdout, c.Stderr = out, &talk
	must(w.t, c.Start())
	must(w.t, out.Close())
	read(in)
	_ = in.Close() // read may have done so
	_ = c.Wait()   // the code tells
	return result{w.t, args, "", talk.String(), c.ProcessState.ExitCode()}
}

// Whoever forgets the -- before the command is told of it.
func TestReplayWithoutDashes(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 3)
	w.run("replay", "-g", "billing", "-t", "orders", "--from", "earliest", "sh", "-c", "cat").exits(2).says("unknown shorthand flag: 'c'", "after --")
	w.run("replay", "-g", "billing", "-t", "orders", "--from", "earliest", "jq", "--sort-keys").exits(2).says("unknown flag: --sort-keys", "after --")
	w.run("replay", "-g", "billing", "--nonsense", "--", "cat").exits(2).never("after --")
	w.run("clamp", "-g", "billing", "--nonsense").exits(2).never("after --")
	same(t, "requests", w.b.Count(), 0)
}
