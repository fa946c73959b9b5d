//go:build live

package live_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"gtoffset/scripts/live"
	"gtoffset/scripts/pages"
)

// compatibilityPage has the table of what came of the last run, between these marks. GTOFFSET_UPDATE=1 writes it.
var compatible = pages.Marks{
	Begin: "<!-- compatibility: written by GTOFFSET_UPDATE=1 go test -tags live -run TestCompatibility ./scripts/live -->\n",
	End:   "<!-- /compatibility -->\n",
}

const (
	compatibilityPage = "../../docs/compatibility.md"

	yes = "yes"
)

// trial is one broker under test.
type trial struct {
	scene
	at map[int]time.Time // when the records from an offset on were produced
}

// trials are what the program is for, each with what came of it: yes, or the words in which the program says what this broker does not
// allow it to know or do.
var trials = []struct {
	what string
	try  func(x *trial) string
}{
	{"`describe` lists the groups, with their type", func(x *trial) string {
		r := x.run("describe").exits(0).prints(x.group)
		for line := range strings.Lines(r.out) {
			if f := strings.Fields(line); len(f) > 1 && f[0] == x.group {
				return f[1]
			}
		}
		return "not there"
	}},
	{"`describe` shows earliest, stored, committed, end, and what a restart would do", func(x *trial) string {
		x.save(120, 950, 40)
		x.describe().exits(0).prints("stored low: 380 expired", "A restart from the store     loses 380 (expired)", "A restart from the commits   loses ")
		row := x.describe("-o", "json").exits(0).describe().row(x.t, 0)
		same(x.t, "numbers", number(row.Earliest)+" "+number(row.Stored.Offset)+" "+number(row.Committed.Offset)+" "+number(row.End), "500 120 900 1000")
		return yes
	}},
	{"`--time`: how old the next record is, and when it expires", func(x *trial) string {
		x.describe("--time").exits(0).prints("BEHIND", "EXPIRES")
		if row := x.describe("--time", "-o", "json").exits(0).describe().row(x.t, 1); row.Timing == nil || row.Timing.TimestampType == "" {
			return "unknown"
		}
		return yes
	}},
	{"whether a stored offset is of this topic, or of one that was deleted", func(x *trial) string {
		return x.describe("-o", "json").exits(0).describe().row(x.t, 1).Stored.Identity
	}},
	{"the leader epoch of a commit", func(x *trial) string {
		if epoch := x.describe("-o", "json").exits(0).describe().row(x.t, 2).Committed.Epoch; epoch == nil {
			return "unknown"
		}
		return yes
	}},
	{"members; nothing is written while there are any", func(x *trial) string {
		member, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(x.on.Bootstrap(), ",")...), kgo.ConsumerGroup(x.group), kgo.ConsumeTopics(x.topic), kgo.DisableAutoCommit(), kgo.ClientID("worker"))
		must(x.t, err)
		joined := make(chan struct{})
		ctx, cancel := context.WithCancel(x.t.Context())
		go func() {
			defer close(joined)
			for !member.PollFetches(ctx).IsClientClosed() && ctx.Err() == nil {
			}
		}()
		defer func() { cancel(); <-joined; member.Close() }()
		must(x.t, live.Eventually(x.t.Context(), "the member is there", func(context.Context) (bool, error) {
			r := x.run("describe", "-g", x.group, "--members")
			return r.code == 0 && strings.Contains(r.out, "worker") && strings.Contains(r.out, x.topic), nil
		}))
		x.run("reset", "-g", x.group, "-t", x.topic, "--committed", "--to-earliest", "--execute").exits(4).says("is active: 1 member", "worker")
		return yes
	}},
	{"`clamp --committed`, and its undo", func(x *trial) string {
		x.commit(900, 950, 2000)
		r := x.run("clamp", "-g", x.group, "-t", x.topic, "--committed", "--high", "end", "--execute").exits(0).prints("1 of 1 verified")
		same(x.t, "clamped", x.places(), "0=900 1=950 2=1000")
		x.shell(r.undo()).exits(0).prints("1 of 1 verified")
		same(x.t, "undone", x.places(), "0=900 1=950 2=2000")
		return yes
	}},
	{"`clamp --stored`", func(x *trial) string {
		x.save(120, 950, 40)
		x.run(x.clamp("--stored")...).exits(0).prints("1 of 1 verified")
		same(x.t, "stored", x.stored(), "0=500 1=950 2=40")
		return yes
	}},
	{"`reset` to a time", func(x *trial) string {
		x.run("reset", "-g", x.group, "-t", x.topic, "--committed", "--to-datetime", fmt.Sprintf("@%d", x.at[700].UnixMilli()), "--execute").exits(0).prints("3 of 3 verified")
		same(x.t, "committed", x.places(), "0=700 1=700 2=700")
		return yes
	}},
	{"`export` and `import` of commits", func(x *trial) string {
		file := filepath.Join(x.t.TempDir(), "commits.json")
		x.run("export", file, "-g", x.group, "--committed").exits(0)
		x.commit(900, 950, 960)
		x.run("import", file, "--execute").exits(0).prints("3 of 3 verified")
		same(x.t, "committed", x.places(), "0=700 1=700 2=700")
		return yes
	}},
	{"`replay` into a command, `--save`", func(x *trial) string {
		x.save(500, 950, 990)
		x.run("replay", "-g", x.group, "-t", x.topic, "-s", x.folder, "--save", "--execute", "--", "sh", "-c", "cat >/dev/null").exits(0).says("560 records")
		same(x.t, "stored", x.stored(), "0=1000 1=1000 2=1000")
		return yes
	}},
	{"`replay --to-topic`", func(x *trial) string {
		r := x.run("replay", "-g", x.group, "-t", x.topic, "--from", "committed", "--to-topic", x.topic+".copy", "--execute")
		if r.code != 0 {
			return said(r)
		}
		ranges, err := x.on.Ranges(x.t.Context(), x.topic+".copy")
		must(x.t, err)
		same(x.t, "copies", ranges[0].End+ranges[1].End+ranges[2].End, 900)
		return yes
	}},
	{"`wait`", func(x *trial) string {
		x.run("wait", "-g", x.group, "--lag", "1000", "--empty", "--for", "30s").exits(0)
		x.run("wait", "-g", x.group, "--lag", "0", "--for", "1s").exits(10)
		return yes
	}},
	{"`delete -t`: commits of a topic", func(x *trial) string {
		r := x.run("delete", "-g", x.group, "-t", x.topic+":2", "--execute")
		if r.code != 0 {
			same(x.t, "committed", x.places(), "0=700 1=700 2=700")
			return said(r)
		}
		same(x.t, "committed", x.places(), "0=700 1=700")
		return yes
	}},
	{"undo of a commit where there was none", func(x *trial) string {
		x.run("delete", "-g", x.group, "--whole-group", "--execute").exits(0)
		x.commit(5)
		r := x.run("clamp", "-g", x.group, "-t", x.topic, "--committed", "--missing", "earliest", "--execute").exits(0)
		same(x.t, "committed", x.places(), "0=500 1=0 2=0")
		r = x.shell(r.undo())
		if r.code != 0 {
			return said(r)
		}
		same(x.t, "undone", x.places(), "0=5")
		return yes
	}},
	{"`delete --whole-group`", func(x *trial) string {
		x.run("delete", "-g", x.group, "--whole-group", "--execute").exits(0)
		x.run("describe", "-g", x.group).exits(1).says("is not known to the cluster")
		return yes
	}},
}

// said is what the program said on failing, without the names of this run.
func said(r result) string {
	r.t.Helper()
	for line := range strings.Lines(r.err) {
		if text, ok := strings.CutPrefix(line, "gtoffset: error: "); ok {
			_, reason, found := strings.Cut(text, "broker ")
			if !found {
				return fmt.Sprintf("exit %d: %s", r.code, strings.TrimSpace(text))
			}
			reason = regexp.MustCompile(`^\d+ \([^)]*\) `).ReplaceAllString(reason, "")
			return fmt.Sprintf("no: the broker %s (exit %d)", strings.TrimSpace(reason), r.code)
		}
	}
	r.t.Errorf("no error\n%v", r)
	return ""
}

// places is what Kafka holds, as the program exports it: the harness's own client asks old brokers for what they do not have.
func (x *trial) places() string {
	x.t.Helper()
	r := x.run("export", "-g", x.group, "--committed", "-o", "kafka-csv").exits(0)
	var all []string
	for line := range strings.Lines(strings.ReplaceAll(r.out, `"`, "")) {
		if f := strings.Split(strings.TrimSpace(line), ","); len(f) == 3 {
			all = append(all, f[1]+"="+f[2])
		}
	}
	return strings.Join(all, " ")
}

// save writes what a job has saved that knows the topic's id, where the broker has told it.
func (x *trial) save(offsets ...int64) {
	x.t.Helper()
	doc := x.run("describe", "-g", x.group, "-o", "json").exits(0).describe()
	head := "# gtoffset 1\n# group " + x.group + "\n# topic " + x.topic + "\n# cluster " + doc.Cluster.ID + "\n"
	if id := doc.row(x.t, 0).TopicID; id != "" {
		head += "# topic-id " + id + "\n"
	}
	x.write(head + strings.Join(lines(offsets), "") + fmt.Sprintf("# entries %d\n", len(lines(offsets))))
}

// begin makes the trial's scene: three partitions of 1,000 records in three pieces, of one the first half gone, and commits, one of them
// with a leader epoch.
func begin(t *testing.T, on *live.Cluster) *trial {
	t.Helper()
	ctx := t.Context()
	x := &trial{scene{t, on, name(t, "orders"), name(t, "billing"), t.TempDir()}, map[int]time.Time{}}
	must(t, on.CreateTopic(ctx, x.topic, 3))
	must(t, on.CreateTopic(ctx, x.topic+".copy", 3))
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	for _, from := range []int{0, 700} {
		x.at[from] = at
		var records []*kgo.Record
		for range map[int]int{0: 700, 700: 300}[from] {
			for p := range int32(3) {
				records = append(records, &kgo.Record{Topic: x.topic, Partition: p, Value: []byte("v"), Timestamp: at})
			}
		}
		client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(on.Bootstrap(), ",")...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()))
		must(t, err)
		must(t, client.ProduceSync(ctx, records...).FirstErr())
		client.Close()
		at = at.Add(time.Minute)
	}
	must(t, on.DeleteRecords(ctx, x.topic, 0, 500))
	must(t, on.Commit(ctx, x.group, x.topic, map[int32]live.Commit{0: live.At(900), 1: live.At(950), 2: {Offset: 960, Epoch: 0}}))
	return x
}

// The same core on each line of Kafka that is told apart: what works, works everywhere; what a broker cannot give is said in words. The
// table of it is a page, which must be that of this run.
func TestCompatibility(t *testing.T) {
	versions := []string{live.Current, live.Previous, live.Middle, live.Old}
	cells := map[string][]string{}
	for i, version := range versions {
		t.Run(version, func(t *testing.T) {
			on := cluster
			switch version {
			case live.Previous:
				old, err := previous()
				must(t, err)
				on = old
			case live.Middle, live.Old:
				old, err := live.StartWithZooKeeper(t.Context(), version)
				must(t, err)
				defer old.Stop()
				on = old.Cluster
			}
			x := begin(t, on)
			for _, one := range trials {
				got := one.try(x)
				if i == 0 && got != yes && got != "simple" && got != "same" {
					t.Errorf("%s: %s on the release that the program is made for", one.what, got)
				}
				cells[one.what] = append(cells[one.what], got)
			}
		})
	}
	if t.Failed() {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| | %s |\n|---|%s\n", strings.Join(versions, " | "), strings.Repeat("---|", len(versions)))
	for _, one := range trials {
		fmt.Fprintf(&b, "| %s | %s |\n", one.what, strings.Join(cells[one.what], " | "))
	}
	text, err := os.ReadFile(compatibilityPage)
	must(t, err)
	switch fresh := compatible.Put(string(text), b.String()); {
	case fresh == string(text):
	case os.Getenv("GTOFFSET_UPDATE") != "":
		must(t, os.WriteFile(compatibilityPage, []byte(fresh), 0o644))
	default:
		t.Errorf("%s is not what came of this run; GTOFFSET_UPDATE=1 writes it:\n%s", compatibilityPage, b.String())
	}
}
