package cmd_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// numbered appends records with the values v0, v1, … to a partition, each the value of its offset if the partition was empty.
func (w *world) numbered(topic string, partition int32, from, until int) *world {
	w.t.Helper()
	var values []string
	for i := from; i < until; i++ {
		values = append(values, fmt.Sprintf("v%d", i))
	}
	must(w.t, w.b.Produce(topic, partition, values...))
	return w
}

// filled makes a topic of partitions with so many numbered records each.
func (w *world) filled(topic string, counts ...int) *world {
	w.t.Helper()
	w.topic(topic, make([][2]int64, len(counts))...)
	for p, n := range counts {
		if n > 0 {
			w.numbered(topic, int32(p), 0, n)
		}
	}
	return w
}

// replay is a command line of a replay of the group billing from its store.
func (w *world) replay(more ...string) []string {
	return append([]string{"replay", "-g", "billing", "-s", w.store}, more...)
}

type summaryDoc struct {
	Sink, Target            string
	SaveAs                  *string `json:"save_as"`
	Saves                   bool
	Batches, Records, Bytes int64
	Exit                    int
	Cause, Why              *string
	Partitions              []struct {
		Topic                  string
		Partition              int32
		From, Until, To, Saved number
		Records, Bytes         int64
		Expired                int64
		Done                   bool
		Reason                 *string
	}
}

// summary reads the document of a replay's summary.
func summary(t *testing.T, path string) summaryDoc {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	conforms(t, text)
	var doc summaryDoc
	must(t, json.Unmarshal(text, &doc))
	return doc
}

// offsetsOf lists the offsets of a partition in lines of "topic partition offset …".
func offsetsOf(out, topic string, partition int) string {
	var all []string
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == topic && f[1] == strconv.Itoa(partition) {
			all = append(all, f[2])
		}
	}
	return strings.Join(all, " ")
}

// RPL-1: a range of which only some offsets hold records ends at its end, and says how many it read. LAG-5: the same of a compacted
// topic whose first record lies far behind its start.
func TestReplayOverHoles(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{10, 20}).save("billing", "orders", 10)
	w.b.Rewrite(kmsg.Fetch.Int16(), func(_ int32, r kmsg.Response) bool {
		for _, topic := range r.(*kmsg.FetchResponse).Topics {
			for i := range topic.Partitions {
				if len(topic.Partitions[i].RecordBatches) > 0 {
					topic.Partitions[i].RecordBatches = append(holey(10, 8, 0, 5, 8), marker(19)...)
				}
			}
		}
		return true
	})
	path := filepath.Join(t.TempDir(), "summary.json")
	r := w.run(w.replay("-t", "orders", "--format", `%t %p %o\n`, "--summary", path)...).exits(0).says("3 records")
	same(t, "offsets", offsetsOf(r.out, "orders", 0), "10 15 18")
	s := summary(t, path)
	same(t, "summary", words(s.Records, len(s.Partitions), s.Partitions[0].To, s.Partitions[0].Done), "3 1 20 true")

	w.run(w.replay("-t", "orders", "--save", "--execute", "--", "cat")...).exits(0).says("1 of 1 verified")
	same(t, "stored", w.stored("billing", "orders"), "0=20") // LAG-1: behind the marker, too
}

// holey is a batch with records at some of its offsets only.
func holey(base int64, last int32, deltas ...int32) []byte {
	b := kmsg.RecordBatch{
		FirstOffset: base, Magic: 2, LastOffsetDelta: last, NumRecords: int32(len(deltas)), ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		PartitionLeaderEpoch: -1, FirstTimestamp: 1795958046849, MaxTimestamp: 1795958046849,
	}
	for _, d := range deltas {
		rec := kmsg.Record{OffsetDelta: d, Value: []byte("v")}
		body := rec.AppendTo(nil)[1:] // without its length, which is one byte here
		rec.Length = int32(len(body))
		b.Records = rec.AppendTo(b.Records)
	}
	return sealed(b)
}

// marker is a control batch that commits a transaction.
func marker(offset int64) []byte {
	b := kmsg.RecordBatch{
		FirstOffset: offset, Magic: 2, NumRecords: 1, ProducerID: 7, FirstSequence: -1, PartitionLeaderEpoch: -1, Attributes: 0x30,
		FirstTimestamp: 1795958046849, MaxTimestamp: 1795958046849,
	}
	rec := kmsg.Record{Key: []byte{0, 0, 0, 1}, Value: []byte{0, 0, 0, 0, 0, 0}}
	rec.Length = int32(len(rec.AppendTo(nil)) - 1)
	b.Records = rec.AppendTo(nil)
	return sealed(b)
}

// RPL-3: the range is held against the bounds before anything is read; the message shows both.
func TestReplayRanges(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 10).filled("wide", 3, 3).save("billing", "orders", 4).save("billing", "wide", 1, 2).commit("billing", "orders", 7)
	must(t, w.b.Fake.DeleteRecords("orders", 0, 2))
	for _, c := range []struct {
		name string
		args []string
		code int
		says []string
		want string // offsets
	}{
		{"stored to the end", []string{"-t", "orders"}, 0, nil, "4 5 6 7 8 9"},
		{"stored to committed", []string{"-t", "orders", "--until", "committed"}, 0, nil, "4 5 6"},
		{"committed to the end", []string{"-t", "orders", "--from", "committed"}, 0, nil, "7 8 9"},
		{"earliest", []string{"-t", "orders", "--from", "earliest"}, 0, nil, "2 3 4 5 6 7 8 9"},
		{"numbers", []string{"-t", "orders", "--from", "3", "--until", "5"}, 0, nil, "3 4"},
		{"a number in one of many", []string{"-t", "wide:1", "--from", "1"}, 0, nil, ""},
		{"empty", []string{"-t", "orders", "--from", "5", "--until", "5"}, 0, []string{"0 records"}, ""},
		{"at the end", []string{"-t", "orders", "--from", "10"}, 0, []string{"0 records"}, ""},
		{"some", []string{"-t", "orders", "--records", "2"}, 0, []string{"2 records"}, "4 5"},
		{"beyond the end", []string{"-t", "orders", "--from", "778", "--until", "781"}, 4, []string{"start 778 is high by 768: the range is 2..10", "nothing was read"}, ""},
		{"reaches beyond the end", []string{"-t", "orders", "--from", "8", "--until", "11"}, 4, []string{"8..11 reaches beyond the end: the range is 2..10"}, ""},
		{"low", []string{"-t", "orders", "--from", "0"}, 4, []string{"low: 2 expired (0 to 1): the range is 2..10", "--expired skip"}, ""},
		{"low, skipped", []string{"-t", "orders", "--from", "0", "--until", "4", "--expired", "skip"}, 0, []string{"2 expired (0 to 1)"}, "2 3"},
		{"backwards", []string{"-t", "orders", "--from", "5", "--until", "4"}, 2, []string{"--from 5 is after --until 4"}, ""},
		{"negative", []string{"-t", "orders", "--from=-2"}, 2, []string{"--from -2 is no offset", "earliest"}, ""},
		{"a number for many", []string{"-t", "wide", "--from", "1"}, 2, []string{"an offset is one of one partition", "hint: -t wide:0 names it"}, ""},
		{"a number for some", []string{"-t", "wide:1-2", "--from", "1"}, 2, []string{"an offset is one of one partition", "hint: -t wide:1 names it"}, ""},
		{"a number for two topics", []string{"-t", "orders", "-t", "wide:0", "--from", "1"}, 2, []string{"an offset is one of one partition"}, ""},
		{"no word", []string{"-t", "orders", "--from", "latest"}, 2, []string{`--from "latest" is not known`}, ""},
		{"end is no start", []string{"-t", "orders", "--from", "end"}, 2, []string{`--from "end" is not known`}, ""},
		{"stored is no end", []string{"-t", "orders", "--until", "stored"}, 2, []string{`--until "stored" is not known`}, ""},
		{"unknown topic", []string{"-t", "nowhere"}, 1, []string{"nowhere"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := w.run(w.replay(append(c.args, "--format", `%t %p %o %s\n`)...)...).exits(c.code).says(c.says...)
			if c.name != "a number in one of many" {
				same(t, "offsets", offsetsOf(r.out, "orders", 0), c.want)
				return
			}
			same(t, "offsets", offsetsOf(r.out, "wide", 1), "1 2")
		})
	}
	w.save("billing", "orders", 12)
	w.run(w.replay("-t", "orders")...).exits(4).says("start 12 is high by 2: the range is 2..10", "hint: gtoffset clamp -g billing -t orders:0 -s "+w.store+" --stored\n")
	w.commit("billing", "orders", 13)
	w.run("replay", "-g", "billing", "-t", "orders", "--from", "committed").exits(4).says("start 13 is high by 3", "hint: gtoffset clamp -g billing -t orders:0 --committed\n")
}

// RPL-4: a window that begins after the last record is empty, not the whole topic. TIM-6, TIM-8, TIM-10: the forms of times.
func TestReplayTimes(t *testing.T) {
	t.Parallel()
	w := start(t).topic("orders", [2]int64{0, 0})
	noon := w.now.Truncate(time.Hour)
	var times []time.Time
	for _, minute := range []int{10, 12, 11, 13, 14} {
		times = append(times, noon.Add(time.Duration(minute-60)*time.Minute))
	}
	must(t, w.b.ProduceAt("orders", 0, times...))
	read := func(args ...string) result {
		return w.run(append([]string{"replay", "-g", "billing", "-t", "orders", "--format", `%t %p %o\n`}, args...)...)
	}
	at := func(minute int) string {
		return noon.Add(time.Duration(minute-60) * time.Minute).Format("2006-01-02T15:04:05Z")
	}
	same(t, "TIM-10 times that do not grow", offsetsOf(read("--from", at(12)).exits(0).says("older records may follow").out, "orders", 0), "1 2 3 4")
	same(t, "until", offsetsOf(read("--from", "earliest", "--until", at(13)).exits(0).out, "orders", 0), "0 1 2")
	same(t, "RPL-4 behind the last record", read("--from", at(59)).exits(0).says("no record at or after", "0 records").out, "")
	same(t, "@", offsetsOf(read("--from", fmt.Sprintf("@%d", times[3].UnixMilli())).exits(0).out, "orders", 0), "3 4")
	for _, back := range []string{"7d", "P7D", "PT168H", "168h"} { // TIM-8: a day is 24 hours
		r := read("--from", back).exits(0).says(noon.Add(-7*24*time.Hour).Format("2006-01-02T15:0") + "0:00.0")
		same(t, back, offsetsOf(r.out, "orders", 0), "0 1 2 3 4")
	}
	for bad, says := range map[string]string{
		"-1h": "has a sign", "1.5w": "unknown unit", "10x": "unknown unit", "@1543580000": "is it in seconds?", "2031-13-01T00:00:00Z": "is no time", "": "is empty",
		"2031-12-05T00:00:00Z": "more than a day ahead",
	} {
		read("--from=" + bad).exits(2).says(says)
	}
	read("--from", "1543580000").exits(4).says("start 1543580000 is high", "the range is 0..5") // TIM-6: a bare number is an offset
}

// RPL-5: the end is fixed at the start, and reached on an idle topic; the store holds the final position.
func TestReplayToTheEndOfAnIdleTopic(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 10, 3, 0).save("billing", "orders", 4, 0, 0)
	line := w.saving("cat >/dev/null", "-t", "orders")
	w.run(line...).exits(0).says("2 of 2 verified", "undo", "9 records", "1 batch accepted and saved")
	same(t, "stored", w.stored("billing", "orders"), "0=10 1=3 2=0")
	same(t, "backups", len(w.backups()), 1)
	w.run(line...).exits(0).says("Nothing to do") // twice is once
	same(t, "backups of nothing", len(w.backups()), 1)
}

// A partition that nothing is stored for is named, and is not plain success; one without records is no loss.
func TestReplayNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 3, 3, 0).filled("payments", 3).save("billing", "orders", 1).commit("billing", "payments", 1)
	r := w.run(w.replay("--format", `%t %p %o\n`)...).exits(3).says("left out: orders 1: nothing is stored for it; payments 0: nothing is stored for it\n", "hint: instead, --from earliest -t orders:1 reads that one")
	same(t, "the rest", offsetsOf(r.out, "orders", 0), "1 2")
	summary := filepath.Join(t.TempDir(), "summary.json")
	for _, how := range [][]string{{"--dry-run"}, {"--summary", summary}, {"--save", "--dry-run", "--", "cat"}, {"--save", "--execute", "--batch-interval", "1h", "--", "cat"}} { // only the last one saves
		w.run(w.replay(how...)...).exits(3).says("left out: orders 1: nothing is stored for it; payments 0: nothing is stored for it\n").never("new since the plan")
	}
	text, err := os.ReadFile(summary)
	must(t, err)
	same(t, "summary", strings.Contains(string(text), `"exit":3`), true)
	same(t, "stored", w.stored("billing", "orders"), "0=3")
	w.run(w.replay("--save", "--check", "--", "cat")...).exits(3) // although there is nothing to do
	w.run(w.replay("-t", "payments")...).exits(3).says("payments 0: nothing is stored for it")
	w.run(w.replay("-t", "orders:0,2")...).exits(0)
	w.run(w.replay("--from", "committed", "--save-as", "again", "--dry-run", "--", "cat")...).exits(3).says("left out: orders 0: nothing is committed for it; orders 1: nothing is committed for it")
	w.run("replay", "-g", "nobody", "-s", w.store).exits(1).says(`"nobody"`)
	same(t, "a group that does not matter", offsetsOf(w.run("replay", "-g", "nobody", "-t", "orders:1", "--from", "earliest", "--format", `%t %p %o\n`).exits(0).out, "orders", 1), "0 1 2")
}

// A store that has nothing of the group may be the wrong one: then nothing is read, and that is no success.
func TestReplayFromTheWrongStore(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 3).save("other", "orders", 1)
	w.memberless("billing", "orders")
	right := "hint: is it the right store? gtoffset describe -s " + w.store + " shows which groups it has"
	w.run(w.replay()...).exits(1).says(`group "billing": no offset is in the store (looked at `+filepath.Join(w.store, "billing")+"), and none is committed; nothing was read", right)
	w.run("replay", "-g", "billing", "--from", "committed").exits(1).says("no offset is committed, and no partition assigned; nothing was read", "hint: to see what was committed before: gtoffset history -g billing")
	w.commit("billing", "orders", 1)
	for _, how := range [][]string{{}, {"--dry-run"}, {"--save", "--execute", "--", "cat"}, {"--save", "--check", "--", "cat"}, {"--save-as", "again", "--execute", "--", "cat"}} {
		helps := "instead, --from earliest -t orders:0 reads that one\n"
		if len(how) > 1 {
			helps = "gtoffset describe -g billing -t orders:0 -s " + w.store + " shows what helps\n"
		}
		w.run(w.replay(how...)...).exits(3).says("left out: orders 0: nothing is stored for it", right+". If it is, "+helps)
	}
	same(t, "backups of nothing", len(w.backups()), 0)
}

// What is gone is left out and named, as what nothing is stored for: whoever pipes the records must not take them for all.
func TestReplayWithATopicThatIsGone(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 3).save("billing", "orders", 1).save("billing", "gone", 1).filled("old", 1).commit("billing", "old", 0)
	w.hide("old", 0)
	left := "left out: gone 0: the topic does not exist; old 0: the topic does not exist\n"
	hint := "hint: gtoffset describe -g billing -s " + w.store + " shows what is gone\n"
	r := w.run(w.replay("--format", `%t %p %o\n`)...).exits(3).says(left, hint)
	same(t, "the rest", offsetsOf(r.out, "orders", 0), "1 2")
	w.run(w.replay("--dry-run")...).exits(3).says(left, hint)
	same(t, "cause", w.run(w.replay("-o", "jsonl", "--dry-run", "--save", "--", "cat")...).exits(3).failure().Cause, "missing")
	w.run(w.replay("--save", "--execute", "--", "sh", "-c", "cat >/dev/null")...).exits(3).says("1 batch accepted and saved", left)
	w.run("replay", "-g", "billing", "--from", "committed").exits(3).says("left out: old 0").never("--from earliest")
	w.filled("payments", 1).commit("billing", "payments", 0)
	w.run(w.replay()...).exits(3).says(`payments 0: nothing is stored for it`, "hint: instead, --from earliest -t payments:0 reads that one\n")
	w.run("replay", "-g", "billing", "--from", "earliest", "--until", "committed", "-t", "orders").exits(3).says("hint: instead, --until end -t orders:0 reads that one\n")
	w.run(w.replay("-t", "orders")...).exits(0)
	w.run(w.replay("-t", "gone")...).exits(4)
}

// What is gone does not stand against keeping the progress under another name.
func TestReplaySaveAsWithATopicThatIsGone(t *testing.T) {
	t.Parallel()
	w := start(t).filled("orders", 3).save("billing", "orders", 1).save("billing", "gone", 1).filled("old", 1).commit("billing", "old", 0)
	must(t, w.b.Fake.DeleteTopic("old"))
	w.run(w.replay("--save-as", "again", "--execute", "--", "sh", "-c", "cat >/dev/null")...).exits(3).says("1 batch accepted and saved", "left out: gone 0: the topic does not exist")
	same(t, "stored", w.stored("again", "orders"), "0=3")
}

// sealed gives a batch its length and checksum.
func sealed(b kmsg.RecordBatch) []byte {
	text := b.AppendTo(nil)
	binary.BigEndian.PutUint32(text[8:], uint32(len(text)-12))
	binary.BigEndian.PutUint32(text[17:], crc32.Checksum(text[21:], crc32.MakeTable(crc32.Castagnoli)))
	return text
}
