package cmd_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/cmd"
	"gtoffset/kafkaops/history"
	"gtoffset/kafkaops/kafkatest"
)

// morning is when the logs of these tests begin.
var morning = time.Date(2031, 11, 29, 9, 0, 0, 0, time.UTC)

// after is a time of the log.
func after(seconds float64) time.Time {
	return morning.Add(time.Duration(seconds * float64(time.Second)))
}

// past is a world with a log of group billing, which goes on with what is committed.
func past(t *testing.T) (*world, *kafkatest.OffsetsLog) {
	t.Helper()
	w := start(t)
	log := w.b.OffsetsLog(history.Partition("billing", 3))
	return w, log
}

// entry is a commit of billing for orders.
func entry(partition int32, offset int64) kafkatest.Entry {
	return kafkatest.OffsetCommit("billing", "orders", partition, offset, "")
}

// moved has a member that worked, and a tool that moved two partitions back and one forward when it had left.
func moved(t *testing.T) (*world, *kafkatest.OffsetsLog) {
	t.Helper()
	w, log := past(t)
	w.topic("orders", [2]int64{0, 1000}, [2]int64{0, 1000}, [2]int64{0, 1000})
	log.Batch(after(0), kafkatest.ClassicGroup("billing", 1, "app-7")).
		Batch(after(1), entry(0, 100), entry(1, 100), entry(2, 100)).
		Batch(after(2), entry(0, 500), entry(1, 500), entry(2, 500)).
		Batch(after(3), kafkatest.ClassicGroup("billing", 2)).
		Batch(after(5), entry(0, 0), entry(1, 0), entry(2, 900))
	w.commit("billing", "orders", 0, 0, 900)
	return w, log
}

type historyDoc struct {
	Group, Type   string
	Complete      bool
	CompleteSince *string `json:"complete_since"`
	Since, Until  *string
	Torn          bool
	Events        []struct {
		Time, What      string
		Topic           *string
		Partition       number
		From, To        number
		Change          number
		HeldMs          number `json:"held_ms"`
		By              *string
		Author          string
		Metadata        string
		Commits         int
		Unlike          *string
		MemberCount     int  `json:"member_count"`
		WholeGroup      bool `json:"whole_group"`
		Producer, Epoch number
	}
	Counts struct{ Commits, Shown, Forward, Same, First, Outside int64 }
	Hint   *string
}

func (r result) history() historyDoc {
	r.t.Helper()
	return document[historyDoc](r, "gtoffset.history/1")
}

func TestHistory(t *testing.T) {
	t.Parallel()
	w, _ := moved(t)
	r := w.run("history", "-g", "billing", "-t", "orders").exits(0)
	r.prints("complete: every commit since the first is still recorded", "3 of 9 commits shown; 3 went forward (the largest step 400) and 3 are the first of their partitions; --all lists them")
	r.prints("2031-11-29 09:00:05.000  back     orders  0-1")
	if !strings.Contains(r.out, "not a member: a tool, or a consumer with assigned partitions") {
		t.Errorf("who it was is not said\n%v", r)
	}
	same(t, "stderr", r.err, "")

	doc := w.run("history", "-g", "billing", "-o", "json").exits(0).history()
	same(t, "type", doc.Type, "simple")
	same(t, "complete", doc.Complete, true)
	var got []string
	for _, e := range doc.Events {
		got = append(got, words(e.What, e.Partition, e.From, e.To, e.Change, e.HeldMs, deref(e.By)))
	}
	same(t, "events", strings.Join(got, "; "), "members null null null null null null; back 0 500 0 -500 3000 not a member; back 1 500 0 -500 3000 not a member; forward 2 500 900 400 3000 not a member")
	same(t, "counts", fmt.Sprint(doc.Counts), "{9 3 3 0 3 0}")

	all, err := csv.NewReader(strings.NewReader(w.run("history", "-g", "billing", "-o", "csv").exits(0).out)).ReadAll()
	must(t, err)
	same(t, "rows of CSV", len(all), 1+len(doc.Events))
	same(t, "a row", strings.Join(all[2][1:9], ","), "2031-11-29T09:00:05.000Z,back,orders,0,500,0,-500,3000")
}

// In a group without members a step forward that is not written as the job writes its own has a row of its own.
func TestHistoryUnlikeTheJob(t *testing.T) {
	t.Parallel()
	w, log := past(t)
	w.topic("orders", [2]int64{0, 1000})
	for i := range int64(9) {
		note := fmt.Sprint("batch ", i)
		if i == 5 {
			note = ""
		}
		log.Batch(after(float64(i)), kafkatest.OffsetCommit("billing", "orders", 0, 100*i, note))
	}
	w.commit("billing", "orders", 800)
	var got []string
	for _, e := range w.run("history", "-g", "billing", "-o", "json").exits(0).history().Events[1:] {
		got = append(got, words(e.From, e.To, e.Commits, strings.Contains(e.Author, "; without a note, unlike the commit before")))
	}
	same(t, "events", strings.Join(got, "; "), "0 400 4 false; 400 500 1 true; 500 800 3 false")
	// A job that writes now with a note, now without, does not get a row for each of its commits.
	for i := range int64(100) {
		log.Batch(after(float64(10+i)), kafkatest.OffsetCommit("billing", "orders", 0, 801+i, strings.Repeat("x", int(i%2))))
	}
	w.commit("billing", "orders", 900)
	all := w.run("history", "-g", "billing", "-o", "json").exits(0).history().Events
	last := all[len(all)-1]
	same(t, "events, and the last", words(len(all), last.Commits, deref(last.Unlike), last.Metadata, last.Epoch), "22 83 now in one way, now in the other  null")
	if want := "; written now in one way, now in the other: no longer told apart, --all lists each; 83 commits until"; !strings.Contains(last.Author, want) {
		t.Errorf("got %q, without %q", last.Author, want)
	}
	all = w.run("history", "-g", "billing", "-o", "json", "--all").exits(0).history().Events
	unlike := 0
	for _, e := range all {
		if deref(e.Unlike) != "null" {
			unlike++
		}
	}
	same(t, "with --all", words(len(all), unlike, deref(all[len(all)-1].Unlike)), "109 102 with a note")
}

// A step back says how it was written, too, and so does the row with which the job goes on.
func TestHistoryBackUnlikeTheJob(t *testing.T) {
	t.Parallel()
	w, log := past(t)
	w.topic("orders", [2]int64{0, 1000})
	for i, offset := range []int64{100, 200, 300, 50, 150, 250} {
		note := "job"
		if offset == 50 {
			note = ""
		}
		log.Batch(after(float64(i)), kafkatest.OffsetCommit("billing", "orders", 0, offset, note))
	}
	w.commit("billing", "orders", 250)
	for args, want := range map[string]string{
		"":      "new 1 null; forward 2 null; back 1 without a note; forward 2 with a note",
		"--all": "new 1 null; forward 1 null; forward 1 null; back 1 without a note; forward 1 with a note; forward 1 null",
	} {
		var got []string
		for _, e := range w.run(append([]string{"history", "-g", "billing", "-o", "json"}, strings.Fields(args)...)...).exits(0).history().Events {
			got = append(got, words(e.What, e.Commits, deref(e.Unlike)))
		}
		same(t, "events "+args, strings.Join(got, "; "), want)
	}
}

// A store may be named in the environment, for the commands that read it: this one does not.
func TestHistoryHasNoStore(t *testing.T) {
	t.Parallel()
	w, _ := moved(t)
	for _, named := range []string{w.store, "/no/such/folder", "redis://127.0.0.1:1/0"} {
		w.vars["GTOFFSET_STORE"] = named
		store, there := w.run("history", "-g", "billing", "-o", "json").exits(0).fields()["store"]
		same(t, named, words(store, there), "<nil> true")
	}
}

// What history prints as the way back can be typed, and does what it says.
func TestHistoryHintBringsBack(t *testing.T) {
	t.Parallel()
	w, log := moved(t)
	w.b.Record(log, func() time.Time { return after(60) })
	r := w.run("history", "-g", "billing").exits(0)
	_, line, found := strings.Cut(r.out, "hint: to return to before 2031-11-29 09:00:05.000Z: gtoffset ")
	if !found {
		t.Fatalf("no hint\n%v", r)
	}
	args := strings.Fields(strings.TrimSpace(line))
	same(t, "the line", strings.Join(args, " "), "reset -g billing -t orders --to-commit-at 2031-11-29T09:00:04.999Z")
	r = w.run(append(args, "--execute")...).exits(0).prints("3 of 3 verified", "committed 2031-11-29 09:00:02.000Z, 2 s before; 1 ms after, it became 0")
	same(t, "committed", w.committed("billing", "orders"), "0=500 1=500 2=500")
	w.run(r.undo()...).exits(0)
	same(t, "after undo", w.committed("billing", "orders"), "0=0 1=0 2=900")

	doc := w.run("history", "-g", "billing", "--since", "2031-11-29T09:00:30Z", "-o", "json").exits(0).history()
	same(t, "bounds", deref(doc.Since)+" "+deref(doc.Until), "2031-11-29T09:00:30.000Z null")
	w.run("history", "-g", "billing", "--since", "2031-11-29T09:00:30Z").exits(0).prints("not within --since 2031-11-29 09:00:30.000Z")
	got := ""
	for _, e := range doc.Events {
		got += words(e.What, e.Partition, e.From, e.To) + "; "
	}
	same(t, "and this is history, too", got, "back 2 900 500; forward 0 0 500; forward 1 0 500; back 0 500 0; back 1 500 0; forward 2 500 900; ")
}

func TestResetToCommitAt(t *testing.T) {
	t.Parallel()
	at := func(seconds float64) string { return after(seconds).Format("2006-01-02T15:04:05.000Z07:00") }
	t.Run("each partition by itself", func(t *testing.T) {
		t.Parallel()
		w, _ := moved(t)
		w.run("reset", "-g", "billing", "-t", "orders", "--to-commit-at", at(1.5), "--execute").exits(0).
			prints("3 of 3 verified", "members, or transactions, committed 3 times since then, in 3 partitions: what they processed is read again")
		same(t, "committed", w.committed("billing", "orders"), "0=100 1=100 2=100")
	})
	t.Run("a time without zone, and in another", func(t *testing.T) {
		t.Parallel()
		w, _ := moved(t)
		w.run("reset", "-g", "billing", "-t", "orders", "--to-commit-at", "2031-11-29T10:00:02", "--timezone", "Europe/Berlin", "--execute").exits(0).says("2031-11-29T09:00:02.000Z")
		same(t, "committed", w.committed("billing", "orders"), "0=500 1=500 2=500")
	})
	t.Run("all topics, those that have no commits any more, too", func(t *testing.T) {
		t.Parallel()
		w, log := moved(t)
		w.topic("payments", [2]int64{0, 50})
		log.Batch(after(6), kafkatest.OffsetCommit("billing", "payments", 0, 7, "")).Batch(after(7), kafkatest.OffsetTombstone("billing", "payments", 0))
		w.run("reset", "-g", "billing", "--all-topics", "--to-commit-at", at(6), "--execute").exits(0).prints("1 of 1 verified")
		same(t, "committed", w.committed("billing", "payments"), "0=7")
	})
	t.Run("before the first", func(t *testing.T) {
		t.Parallel()
		w, _ := moved(t)
		w.run("reset", "-g", "billing", "-t", "orders", "--to-commit-at", at(0.5), "--execute").exits(4).
			says("there was no commit then: nothing had ever been committed", "nothing was written")
	})
	t.Run("some of what is refused a flag decides", func(t *testing.T) {
		t.Parallel()
		w, log := past(t)
		w.topic("orders", [2]int64{300, 1000}, [2]int64{0, 1000}, [2]int64{0, 1000}, [2]int64{0, 1000}).commit("billing", "orders", 500, 500, 500, 500)
		log.Batch(after(1), entry(0, 100), entry(1, 100)).Batch(after(3), entry(0, 500), entry(1, 500), entry(2, 500), entry(3, 500))
		line := []string{"reset", "-g", "billing", "-t", "orders", "--to-commit-at", at(2), "--execute"}
		w.run(line...).exits(4).prints("note: committed of orders 2-3: there was no commit then: nothing had ever been committed").
			says("hint: add --clamp: that decides 1 of 3 refusals; --partial leaves out what is refused\n")
		w.run(append(line, "--clamp", "--partial")...).exits(3).prints("2 of 2 verified")
	})
	t.Run("compacted", func(t *testing.T) {
		t.Parallel()
		w, log := moved(t)
		log.Batch(after(8), kafkatest.ClassicGroup("billing", 2)).Compact(log.End())
		w.run("reset", "-g", "billing", "-t", "orders", "--to-commit-at", at(4), "--execute").exits(4).
			says("what was committed then is unknown: the oldest commit that is still recorded is of 2031-11-29 09:00:05.000Z", "nothing was written")
		same(t, "writes", w.writes(), 0)
	})
	t.Run("compacted, one partition known", func(t *testing.T) {
		t.Parallel()
		w, log := moved(t)
		before := log.End()
		log.Batch(after(8), entry(2, 950)).Compact(before)
		w.run("reset", "-g", "billing", "-t", "orders", "--to-commit-at", at(6), "--execute").exits(0)
		same(t, "committed", w.committed("billing", "orders"), "0=0 1=0 2=900")
	})
	t.Run("removed then", func(t *testing.T) {
		t.Parallel()
		w, log := moved(t)
		log.Batch(after(6), kafkatest.OffsetTombstone("billing", "orders", 0)).Batch(after(9), entry(0, 77))
		w.run("reset", "-g", "billing", "-t", "orders:0", "--to-commit-at", at(7), "--execute").exits(4).says("there was no commit then: it was removed 2031-11-29 09:00:06.000Z")
	})
	t.Run("another topic of that name", func(t *testing.T) {
		t.Parallel()
		w, log := moved(t)
		log.Batch(after(6), kafkatest.OffsetCommitOf(4, [16]byte{9}, "billing", "orders", 0, 77, ""))
		w.run("reset", "-g", "billing", "-t", "orders:0", "--to-commit-at", at(7), "--execute").exits(4).says("77 was committed for another topic of this name: its id was CQ")
	})
	t.Run("out of range", func(t *testing.T) {
		t.Parallel()
		w, log := moved(t)
		log.Batch(after(6), entry(0, 5000))
		args := []string{"reset", "-g", "billing", "-t", "orders:0", "--to-commit-at", at(7), "--execute"}
		w.run(args...).exits(4).says("5000 is high", "--clamp")
		w.run(append(args, "--clamp")...).exits(0)
		same(t, "committed", w.committed("billing", "orders"), "0=1000 1=0 2=900")
	})
	t.Run("a transaction is open", func(t *testing.T) {
		t.Parallel()
		w, log := moved(t)
		log.Transaction(after(6), 7, entry(0, 600))
		w.run("reset", "-g", "billing", "-t", "orders:0", "--to-commit-at", at(3), "--execute").exits(0).prints("the transaction of producer 7 is still open")
	})
	t.Run("usage", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		w.b.Reset()
		for _, args := range [][]string{
			{"--to-commit-at", "2033-01-01T00:00:00Z"},
			{"--to-commit-at", "yesterday"},
			{"--to-commit-at", ""},
			{"--to-commit-at", at(1), "--to-earliest"},
			{"--to-commit-at", at(1), "-g", "other"},
		} {
			w.run(append([]string{"reset", "-g", "billing", "-t", "orders", "--execute"}, args...)...).exits(2)
		}
		for _, flag := range []string{"--since", "--until"} {
			w.run("history", "-g", "billing", flag, "2031-11-29T14:00").exits(2).says(flag+" 2031-11-29T14:00:00.000Z (@1953727200000) is ahead, read in UTC; the clock here says 2031-11-29T12:00:", flag+" 2031-11-29T14:00Z if UTC is meant")
		}
		for _, args := range [][]string{
			{},
			{"-g", "billing", "--skip", "-1"},
			{"-g", "billing", "--since", "x"},
			{"-g", "billing", "--since", "1h", "--until", "2h"},
			{"-g", "billing", "--since", "2031-12-01T12:00:01Z"},
			{"-g", "billing", "--until", "2131-11-29"},
			{"-g", "billing", "--since", "2031-11-29T14:00Z"},
			{"-g", "billing", "-o", "yaml"},
			{"-g", "billing", "--until", ""},
			{"billing"},
		} {
			w.run(append([]string{"history"}, args...)...).exits(2)
		}
		same(t, "requests", w.b.Count(), 0)
	})
}

// Where a cluster does not tell, it says why, and nothing else.
func TestHistoryIsNotTold(t *testing.T) {
	t.Parallel()
	quiet := func(t *testing.T, r result) {
		t.Helper()
		same(t, "stdout", r.out, "")
		if n := strings.Count(r.err, "gtoffset: error: "); n != 1 {
			t.Errorf("%d errors, want one\n%v", n, r)
		}
	}
	t.Run("no topic", func(t *testing.T) {
		t.Parallel()
		w := startWith(t, kafkatest.Options{Brokers: 1, NoOffsetsTopic: true})
		w.b.Reset()
		quiet(t, w.run("history", "-g", "billing").exits(4).says("the cluster has no topic __consumer_offsets: it keeps commits elsewhere"))
		quiet(t, w.run("reset", "-g", "billing", "-t", "orders", "--to-commit-at", "2031-11-29T09:00:00Z", "-q", "--execute").exits(4).says("the cluster has no topic __consumer_offsets"))
		same(t, "requests for a coordinator", w.b.Count(kmsg.FindCoordinator.Int16()), 0)
		same(t, "topic", w.b.TopicID("__consumer_offsets"), "")
	})
	t.Run("no right", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		w.b.DenyTopic("__consumer_offsets")
		quiet(t, w.run("history", "-g", "billing").exits(4).says("DESCRIBE on topic __consumer_offsets is missing (READ is needed, and enough)"))
	})
	t.Run("no right to read", func(t *testing.T) {
		t.Parallel()
		w, log := moved(t)
		log.Refuse(kerr.TopicAuthorizationFailed)
		quiet(t, w.run("history", "-g", "billing").exits(4).says("READ on topic __consumer_offsets is missing"))
	})
	t.Run("another hash", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		w.topic("orders", [2]int64{0, 100}).commit("billing", "orders", 10)
		quiet(t, w.run("history", "-g", "billing").exits(4).says("this cluster places groups otherwise"))
	})
	t.Run("no leader", func(t *testing.T) {
		t.Parallel()
		w, _ := moved(t)
		w.b.NoLeader("__consumer_offsets", history.Partition("billing", 3))
		quiet(t, w.run("history", "-g", "billing").exits(5).says("partition ", " of topic __consumer_offsets: no leader"))
	})
	t.Run("an answer without the partition", func(t *testing.T) {
		t.Parallel()
		w, _ := moved(t)
		w.b.Rewrite(kmsg.Metadata.Int16(), func(_ int32, r kmsg.Response) bool {
			for i, t := range r.(*kmsg.MetadataResponse).Topics {
				if t.Topic != nil && *t.Topic == "__consumer_offsets" {
					r.(*kmsg.MetadataResponse).Topics[i].Partitions = nil
				}
			}
			return true
		})
		quiet(t, w.run("history", "-g", "billing").exits(5).says("partition 0 of topic __consumer_offsets: the cluster did not name this partition"))
	})
	t.Run("a damaged batch", func(t *testing.T) {
		t.Parallel()
		w, _ := moved(t)
		w.b.Rewrite(kmsg.Fetch.Int16(), func(_ int32, r kmsg.Response) bool {
			b := r.(*kmsg.FetchResponse).Topics[0].Partitions[0].RecordBatches
			b[len(b)-1] ^= 1
			return true
		})
		r := w.run("history", "-g", "billing").exits(3).says("its checksum (CRC) does not match; nothing of the history is shown", "hint: another replica may have it whole")
		quiet(t, r)
		quiet(t, w.run("reset", "-g", "billing", "-t", "orders", "--to-commit-at", "2031-11-29T09:00:00Z", "-q", "--execute").exits(3).says("its checksum (CRC) does not match"))
		same(t, "writes", w.writes(), 0)
	})
	t.Run("no such group", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		quiet(t, w.run("history", "-g", "billing").exits(1).says(`group "billing" is not known to the cluster`))
	})
	t.Run("no such topic", func(t *testing.T) {
		t.Parallel()
		w, _ := moved(t)
		w.topic("payments", [2]int64{0, 100})
		quiet(t, w.run("history", "-g", "billing", "-t", "orders", "-t", "order").exits(1).says(`topic "order" does not exist, and there is no record of it`, "hint: did you mean -t orders?"))
		quiet(t, w.run("history", "-g", "billing", "-t", "payment:0").exits(1).says("hint: did you mean -t payments?"))
		quiet(t, w.run("history", "-g", "billing", "-t", "orders,payments").exits(1).says("hint: -t is one topic; -t orders -t payments names several"))
		quiet(t, w.run("history", "-g", "billing", "-t", "nix").exits(1).says("describe -g billing shows the group's topics"))
		quiet(t, w.run("history", "-g", "billing", "-t", "orders:2,3,7").exits(1).says(`partition 3 of topic "orders" does not exist; partition 7 of topic "orders" does not exist, and`))
		w.run("history", "-g", "billing", "-t", "payments").exits(0).prints("0 of 0 commits shown")
		w.hide("orders", 0)
		w.run("history", "-g", "billing", "-t", "orders:2").exits(0).prints("  forward  ")
		w.run("history", "-g", "billing", "-t", "order").exits(1).says("hint: did you mean -t orders?") // of which only the log tells
	})
	t.Run("nothing of the group", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		w.topic("orders", [2]int64{0, 100})
		leave, err := w.b.Join("billing", false, "orders")
		must(t, err)
		defer leave()
		r := w.run("history", "-g", "billing").exits(0).prints("No record of the group is left.")
		same(t, "stderr", r.err, "")
		if doc := w.run("history", "-g", "billing", "-o", "json").exits(0).history(); len(doc.Events) != 0 || !doc.Complete {
			t.Errorf("got %+v", doc)
		}
	})
	t.Run("the topic was deleted", func(t *testing.T) {
		t.Parallel()
		w, log := past(t)
		w.topic("orders", [2]int64{0, 100})
		log.Batch(after(0), entry(0, 5), kafkatest.OffsetCommit("billing", "payments", 0, 7, "")).
			Batch(after(1), entry(0, 4), kafkatest.OffsetTombstone("billing", "payments", 0))
		w.run("history", "-g", "billing").exits(0).prints("  deleted  ", "hint: to return to before 2031-11-29 09:00:01.000Z: gtoffset reset -g billing -t orders --to-commit-at")
		w.run("history", "-g", "billing", "-t", "payments").exits(0).prints("  deleted  ").never("hint:")
	})
	t.Run("the group was deleted", func(t *testing.T) {
		t.Parallel()
		w, log := past(t)
		log.Batch(after(0), entry(0, 5)).Batch(after(1), kafkatest.OffsetTombstone("billing", "orders", 0), kafkatest.ClassicTombstone("billing"))
		w.topic("orders", [2]int64{0, 100})
		r := w.run("history", "-g", "billing").exits(0).prints("group gone: ", "--to-commit-at 2031-11-29T09:00:00.999Z --create")
		_, line, _ := strings.Cut(r.out, "gtoffset reset ")
		w.run(append([]string{"reset", "--execute"}, strings.Fields(line)...)...).exits(0)
		same(t, "committed", w.committed("billing", "orders"), "0=5")
	})
}

// The first commit of a group may come between the measuring of the log and the look at the group.
func TestHistoryOfTheFirstCommit(t *testing.T) {
	t.Parallel()
	w, log := past(t)
	w.topic("orders", [2]int64{0, 100}).commit("billing", "orders", 10)
	var once sync.Once
	w.b.Rewrite(kmsg.OffsetFetch.Int16(), func(int32, kmsg.Response) bool {
		once.Do(func() { log.Batch(after(0), entry(0, 10)) })
		return true
	})
	w.run("history", "-g", "billing").exits(0).prints("1 of 1 commit shown")
}

// What others wrote into names and notes does not reach the terminal as it is.
func TestHistoryIsClean(t *testing.T) {
	t.Parallel()
	w, log := past(t)
	bad := "a\x1b[31m\u202e\n"
	log.Batch(after(0), kafkatest.ClassicGroup("billing", 1, bad)).
		Batch(after(1), kafkatest.OffsetCommit("billing", "orders"+bad, 0, 9, bad)).
		Batch(after(2), kafkatest.OffsetCommit("billing", "orders"+bad, 0, 3, bad))
	r := w.run("history", "-g", "billing").exits(0)
	r.never("\x1b", "\u202e")
	same(t, "rows", strings.Count(r.out, "  back  "), 1)
	doc := w.run("history", "-g", "billing", "-o", "json").exits(0).history()
	same(t, "the note in a document", doc.Events[len(doc.Events)-1].Metadata, bad)
}

func TestHistoryTellsOfTornReadings(t *testing.T) {
	t.Parallel()
	w, log := past(t)
	const partitions = 400
	w.topic("orders", [2]int64{0, 100})
	for p := range int32(partitions) {
		log.Batch(after(float64(p)), entry(p, 5))
	}
	log.Batch(after(partitions), entry(partitions-1, 6)).Compact(partitions) // a hole near the end
	log.Portions(1)
	gone := int32(0)
	log.OnFetch(func(_ int, from int64) {
		if from > partitions-100 { // a commit is repeated, and the first one, which was read already, is cleaned away
			log.Batch(after(partitions+1), entry(gone, 5)).Compact(log.End())
			gone++
		}
	})
	w.run("history", "-g", "billing").exits(3).prints("commits shown").says("compaction went on during each of 3 readings", "hint: run it again")
	w.run("reset", "-g", "billing", "-t", "orders", "--to-commit-at", "2031-11-29T09:00:20Z", "--execute").exits(4).says("nothing was written")
}

// How far the offsets of a log reach says nothing of how much is left of it.
func TestHistoryOfAnOldLog(t *testing.T) {
	t.Parallel()
	w, log := past(t)
	w.topic("orders", [2]int64{0, 100})
	log.Jump(6_000_000_000).Batch(after(0), kafkatest.ClassicGroup("billing", 1)).Batch(after(1), entry(0, 10)).Jump(60_000_000).Batch(after(10), entry(0, 7)).Batch(after(11), entry(0, 5))
	w.commit("billing", "orders", 5)
	doc := w.run("history", "-g", "billing", "--since", "2031-11-29T09:00:09Z", "-o", "json").exits(0).history()
	var got []string
	for _, e := range doc.Events {
		got = append(got, words(e.What, e.From, e.To))
	}
	same(t, "events", strings.Join(got, "; "), "back 10 7; back 7 5")
	same(t, "complete", words(doc.Complete, deref(doc.CompleteSince)), "false 2031-11-29T09:00:10.000Z")
	w.run("reset", "-g", "billing", "-t", "orders", "--to-commit-at", "2031-11-29T09:00:05Z", "--execute").exits(0)
	same(t, "committed", w.committed("billing", "orders"), "0=10")
}

// progress is a stderr that tells when something is written to it.
type progress struct {
	once sync.Once
	told chan struct{}
	mu   sync.Mutex
	text strings.Builder
}

func (p *progress) Write(b []byte) (int, error) {
	p.once.Do(func() { close(p.told) })
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func TestHistoryShowsProgress(t *testing.T) {
	t.Parallel()
	w, log := moved(t)
	w.tty = true
	talk := &progress{told: make(chan struct{})}
	log.OnFetch(func(int, int64) { // the broker takes its time
		select {
		case <-talk.told:
		case <-time.After(time.Minute):
		}
	})
	var out strings.Builder
	same(t, "exit code", cmd.Main(t.Context(), w.env(&out, talk), []string{"history", "-g", "billing"}), 0)
	if got := talk.text.String(); !strings.Contains(got, "0 B of __consumer_offsets 1 read (0%)") || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("stderr = %q: want how far it is, and that it is taken away at the end", got)
	}
	if strings.Contains(out.String(), "__consumer_offsets 1 read") {
		t.Errorf("progress on stdout: %s", out.String())
	}
}

// A broker that goes away in the middle is waited for, and the reading goes on where it was.
func TestHistoryOutlivesABroker(t *testing.T) {
	t.Parallel()
	w, log := moved(t)
	log.Portions(1)
	want := w.run("history", "-g", "billing", "-o", "csv").exits(0).out
	var once sync.Once
	log.OnFetch(func(n int, _ int64) {
		once.Do(func() {
			w.b.Kill(0)
			if err := w.b.Revive(0); err != nil {
				t.Error(err)
			}
		})
	})
	same(t, "history", w.run("history", "-g", "billing", "-o", "csv").exits(0).out, want)
}

func TestHistoryIsInterrupted(t *testing.T) {
	t.Parallel()
	w, log := moved(t)
	soft, interrupt := context.WithCancel(t.Context())
	w.soft = soft
	log.OnFetch(func(int, int64) { interrupt() })
	r := w.run("history", "-g", "billing").exits(130).says("interrupted")
	same(t, "stdout", r.out, "")
}

// A schema that nothing conforms to proves nothing.
func TestHistoryDocumentHasEveryField(t *testing.T) {
	t.Parallel()
	w, _ := moved(t)
	var doc map[string]any
	must(t, json.Unmarshal([]byte(w.run("history", "-g", "billing", "--all", "-o", "json").exits(0).out), &doc))
	if n := len(doc["events"].([]any)); n != 9+2 {
		t.Errorf("--all: got %d events, want 9 commits and 2 changes of members", n)
	}
}
