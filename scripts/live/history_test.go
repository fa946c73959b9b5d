//go:build live

package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"gtoffset/kafkaops"
	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/records"
	"gtoffset/kafkaops/wire"
	"gtoffset/scripts/live"
)

// past is a group's history as a document.
type past struct {
	Type     string
	Complete bool
	Events   []struct {
		What, Author    string
		Time            time.Time
		Topic, By       *string
		Partition       *int32
		From, To        *int64
		WholeGroup      bool `json:"whole_group"`
		MemberCount     int  `json:"member_count"`
		Producer, Epoch *int64
	}
	Counts struct{ Commits, Shown, Forward int64 }
}

// history reads the scene's group's history.
func (s scene) history(more ...string) past {
	s.t.Helper()
	r := s.run(append([]string{"history", "-g", s.group, "-o", "json"}, more...)...).exits(0)
	var p past
	must(s.t, json.Unmarshal([]byte(r.out), &p))
	return p
}

// brief is the events in a few words each.
func (p past) brief() string {
	number := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	var all []string
	for _, e := range p.Events {
		text := e.What
		switch {
		case e.What == "members":
			text += fmt.Sprint(" ", e.MemberCount)
		case e.Partition != nil:
			text += fmt.Sprintf(" %d %s>%s by %s", *e.Partition, number(e.From), number(e.To), *e.By)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// job is a member that reads everything and commits as it goes.
func (s scene) job(total int64, opts ...kgo.Opt) (leave func()) {
	s.t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(strings.Split(s.on.Bootstrap(), ",")...), kgo.ConsumerGroup(s.group), kgo.ConsumeTopics(s.topic), kgo.ClientID("job"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.AutoCommitInterval(100 * time.Millisecond),
	}, opts...)...)
	must(s.t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !c.PollFetches(context.Background()).IsClientClosed() { // until it leaves
		}
	}()
	leave = sync.OnceFunc(func() {
		c.Close()
		<-ended
	})
	s.t.Cleanup(leave)
	must(s.t, live.Eventually(s.t.Context(), "the job has committed everything", func(ctx context.Context) (bool, error) {
		all, err := s.on.Committed(ctx, s.group)
		sum := int64(0)
		for _, c := range all[s.topic] {
			sum += c.Offset
		}
		return sum == total, err
	}))
	return leave
}

// empty waits until nobody is in the group.
func (s scene) empty() {
	s.t.Helper()
	must(s.t, live.Eventually(s.t.Context(), "the group is empty", func(ctx context.Context) (bool, error) {
		groups, err := s.on.Groups(ctx)
		return groups[s.group].State == "Empty", err
	}))
}

// A job works and stops, and Kafka's own tool moves its group: history shows that, and that alone, and the command that it prints brings
// everything back.
func TestHistory(t *testing.T) {
	onEach(t, func(t *testing.T, on *live.Cluster) { movedByATool(t, on, live.ConsumerGroups) })
	t.Run(live.Middle, func(t *testing.T) {
		old, err := live.StartWithZooKeeper(t.Context(), live.Middle)
		must(t, err)
		defer old.Stop()
		movedByATool(t, old.Cluster, live.OldConsumerGroups)
	})
}

func movedByATool(t *testing.T, on *live.Cluster, tool string) {
	s := stage(t, on, [2]int64{0, 1000}, [2]int64{0, 1000}, [2]int64{0, 1000})
	leave := s.job(3000)
	if p := s.history(); p.brief() != "" || p.Counts.Commits < 3 || !p.Complete {
		t.Errorf("of a job alone: got %q of %d commits, want nothing, and the log is whole", p.brief(), p.Counts.Commits)
	}
	leave()
	s.empty()
	_, err := on.Tool(t.Context(), tool, "--bootstrap-server", on.Bootstrap(), "--group", s.group, "--topic", s.topic, "--reset-offsets", "--to-offset", "100", "--execute")
	must(t, err)

	r := s.run("history", "-g", s.group).exits(0)
	row := regexp.MustCompile(`(?m)^\S+ \S+ +back +` + regexp.QuoteMeta(s.topic) + ` +0-2 +1000 +100 +-2700 +\S.* not a member: a tool, or a consumer with assigned partitions$`)
	if n := len(row.FindAllString(r.out, -1)); n != 1 || strings.Count(r.out, s.topic+" ") != 2 { // in the row, and in the hint
		t.Errorf("%d rows of the move, want one and no other\n%v", n, r)
	}
	if got, want := s.history().brief(), "members 0; back 0 1000>100 by not a member; back 1 1000>100 by not a member; back 2 1000>100 by not a member"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	_, line, _ := strings.Cut(r.out, ": gtoffset reset ")
	s.run(append([]string{"reset", "--execute"}, strings.Fields(line)...)...).exits(0).prints("3 of 3 verified")
	all, err := on.Committed(t.Context(), s.group)
	must(t, err)
	for p := range int32(3) {
		if c := all[s.topic][p]; c.Offset != 1000 || c.Epoch != -1 {
			t.Errorf("partition %d: got %+v, want 1000 without a leader epoch", p, c)
		}
	}
}

func TestHistoryOfAConsumerGroup(t *testing.T) {
	s := stage(t, cluster, [2]int64{0, 100})
	leave := s.job(100, kgo.ServerSideBalancer(), kgo.Balancers(kgo.RangeBalancer()))
	if got := s.history(); got.brief() != "" || got.Type != "consumer" {
		t.Errorf("of a job alone: got %q of type %s", got.brief(), got.Type)
	}
	leave()
	s.empty()
	s.commit(40)
	p := s.history()
	if got, want := p.brief(), "members 0; back 0 100>40 by not a member"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(p.Events) > 0 && !strings.Contains(p.Events[0].Author, "before: job on 127.0.0.1") {
		t.Errorf("who was in it: got %q", p.Events[0].Author)
	}
}

// transaction is a transactional producer that commits offsets.
type transaction struct {
	t     *testing.T
	c     *kgo.Client
	name  string
	id    int64
	epoch int16
}

func beginTransaction(t *testing.T, on *live.Cluster) *transaction {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(on.Bootstrap(), ",")...), kgo.MaxVersions(kversion.V3_6_0()))
	must(t, err)
	t.Cleanup(c.Close)
	x := &transaction{t: t, c: c, name: name(t, "txn")}
	q := kmsg.NewPtrInitProducerIDRequest()
	q.TransactionalID, q.TransactionTimeoutMillis, q.ProducerID, q.ProducerEpoch = &x.name, 60_000, -1, -1
	must(t, live.Eventually(t.Context(), "the producer has an id", func(ctx context.Context) (bool, error) {
		a, err := c.Request(ctx, q)
		if err != nil {
			return false, err
		}
		r := a.(*kmsg.InitProducerIDResponse)
		x.id, x.epoch = r.ProducerID, r.ProducerEpoch
		return true, kerr.ErrorForCode(r.ErrorCode)
	}))
	return x
}

// commit commits an offset within the transaction, which begins with it if none is open.
func (x *transaction) commit(group, topic string, offset int64) {
	x.t.Helper()
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = x.name, x.id, x.epoch, group
	must(x.t, live.Eventually(x.t.Context(), "the group is in the transaction", func(ctx context.Context) (bool, error) {
		a, err := x.c.Request(ctx, add)
		if err != nil {
			return false, err
		}
		return true, kerr.ErrorForCode(a.(*kmsg.AddOffsetsToTxnResponse).ErrorCode)
	}))
	q := kmsg.NewPtrTxnOffsetCommitRequest()
	q.TransactionalID, q.Group, q.ProducerID, q.ProducerEpoch, q.Generation = x.name, group, x.id, x.epoch, -1
	topics, p := kmsg.NewTxnOffsetCommitRequestTopic(), kmsg.NewTxnOffsetCommitRequestTopicPartition()
	p.Offset, p.LeaderEpoch = offset, -1
	topics.Topic, topics.Partitions = topic, append(topics.Partitions, p)
	q.Topics = append(q.Topics, topics)
	a, err := x.c.Request(x.t.Context(), q)
	if err == nil {
		err = kerr.ErrorForCode(a.(*kmsg.TxnOffsetCommitResponse).Topics[0].Partitions[0].ErrorCode)
	}
	must(x.t, err)
}

// end ends the transaction, and returns when its group's coordinator knows: then the offset is no longer unstable.
func (x *transaction) end(commit bool, group, topic string) {
	x.t.Helper()
	q := kmsg.NewPtrEndTxnRequest()
	q.TransactionalID, q.ProducerID, q.ProducerEpoch, q.Commit = x.name, x.id, x.epoch, commit
	must(x.t, live.Eventually(x.t.Context(), "the transaction has ended", func(ctx context.Context) (bool, error) {
		a, err := x.c.Request(ctx, q)
		if err != nil {
			return false, err
		}
		return true, kerr.ErrorForCode(a.(*kmsg.EndTxnResponse).ErrorCode)
	}))
	f := kmsg.NewPtrOffsetFetchRequest()
	f.Group, f.RequireStable = group, true
	topics := kmsg.NewOffsetFetchRequestTopic()
	topics.Topic, topics.Partitions = topic, []int32{0}
	f.Topics = append(f.Topics, topics)
	must(x.t, live.Eventually(x.t.Context(), "the marker is written", func(ctx context.Context) (bool, error) {
		a, err := x.c.Request(ctx, f)
		if err != nil {
			return false, err
		}
		return true, kerr.ErrorForCode(a.(*kmsg.OffsetFetchResponse).Topics[0].Partitions[0].ErrorCode)
	}))
}

func TestHistoryOfTransactions(t *testing.T) {
	onEach(t, func(t *testing.T, on *live.Cluster) {
		s := stage(t, on, [2]int64{0, 100})
		x := beginTransaction(t, on)
		s.commit(10)
		x.commit(s.group, s.topic, 20)
		x.end(true, s.group, s.topic)
		x.commit(s.group, s.topic, 30)
		x.end(false, s.group, s.topic)
		x.commit(s.group, s.topic, 40)
		s.commit(12)
		x.end(true, s.group, s.topic)
		if got := s.committed(); got != "0=12" {
			t.Errorf("Kafka itself has %s, want 12: the later commit stands", got)
		}
		x.commit(s.group, s.topic, 50)
		p := s.history("--all")
		want := "new 0 ->10 by not a member; forward 0 10>20 by transaction; aborted 0 20>30 by transaction; back 0 20>12 by not a member; " +
			"overtaken 0 12>40 by transaction; pending 0 12>50 by transaction"
		if got := p.brief(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		for _, e := range p.Events {
			if *e.By == "transaction" && (e.Producer == nil || *e.Producer != x.id) {
				t.Errorf("%s: got producer %v, want %d", e.What, e.Producer, x.id)
			}
			if want := fmt.Sprintf("transaction of producer %d (%q)", x.id, x.name); *e.By == "transaction" && !strings.HasPrefix(e.Author, want) {
				t.Errorf("%s: got %q, want %q", e.What, e.Author, want)
			}
		}
		s.run("reset", "-g", s.group, "-t", s.topic, "--to-commit-at", p.Events[1].Time.Format(time.RFC3339Nano), "--dry-run").exits(4).prints("is still open")
		s.run("describe", "-g", s.group).exits(0).prints("committed pending: an open transaction is going to commit it")
		for _, write := range [][]string{{"reset", "-t", s.topic, "--to-earliest"}, {"delete", "--whole-group"}} {
			s.run(append(write, "-g", s.group, "--execute")...).exits(4).says("an open transaction is going to commit it", "nothing was written")
		}
		first := s.group + "-first" // it has no commit yet
		x.commit(first, s.topic, 60)
		s.run("delete", "-g", first, "--whole-group", "--dry-run").exits(4).says(s.topic+" 0: an open transaction is going to commit it", "nothing was written")
		x.end(false, s.group, s.topic)
		s.run("reset", "-g", s.group, "-t", s.topic, "--to-earliest", "--execute").exits(0)
	})
}

func TestHistoryOfRemovals(t *testing.T) {
	onEach(t, func(t *testing.T, on *live.Cluster) {
		s := stage(t, on, [2]int64{0, 100}, [2]int64{0, 100})
		s.commit(10, 20)
		s.run("delete", "-g", s.group, "-t", s.topic, "--execute").exits(0)
		s.commit(11, 21)
		must(t, on.DeleteGroup(t.Context(), s.group))
		p := s.history()
		want := "new 0 ->10 by not a member; new 1 ->20 by not a member; deleted 0 10>- by broker; deleted 1 20>- by broker; " +
			"new 0 ->11 by not a member; new 1 ->21 by not a member; deleted 0 11>- by broker; deleted 1 21>- by broker"
		if got := p.brief(); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		for i, whole := range map[int]bool{2: false, 3: false, 6: true, 7: true} {
			author := "OffsetDelete, or the topic was deleted"
			if whole {
				author = "group gone: DeleteGroups"
			}
			if e := p.Events[i]; e.WholeGroup != whole || e.Author != author {
				t.Errorf("event %d: got whole %v, %q; want %v, %q", i, e.WholeGroup, e.Author, whole, author)
			}
		}
		_, line, _ := strings.Cut(s.run("history", "-g", s.group).exits(0).out, ": gtoffset reset ")
		s.run(append([]string{"reset", "--execute"}, strings.Fields(line)...)...).exits(0)
		if got := s.committed(); got != "0=11 1=21" {
			t.Errorf("brought back: got %s", got)
		}
	})
}

func TestHistoryOfAShareGroup(t *testing.T) {
	s := stage(t, cluster, [2]int64{0, 10})
	m, err := cluster.Join(t.Context(), live.Share, s.group, s.topic)
	must(t, err)
	defer m.Leave()
	if r := s.run("history", "-g", s.group).exits(4).says("is a share group"); r.out != "" {
		t.Errorf("stdout: %s", r.out)
	}
}

// One broker whose log of commits is cleaned each second, and whose commits expire after a minute.
func TestHistoryIsCompacted(t *testing.T) {
	ctx := t.Context()
	own, err := live.Kafka(ctx, live.Current, 1, live.Properties("offsets.topic.num.partitions=1", "offsets.topic.segment.bytes=1048576",
		"log.cleaner.backoff.ms=1000", "offsets.retention.minutes=1", "offsets.retention.check.interval.ms=5000"))
	must(t, err)
	defer own.Stop()

	// Nobody has committed yet: there is no topic, and there is none afterwards.
	fresh := scene{t: t, on: own, group: "nobody"}
	fresh.run("history", "-g", "nobody").exits(4).says("the cluster has no topic __consumer_offsets")
	fresh.run("reset", "-g", "nobody", "-t", "orders", "--to-commit-at", "2020-01-01T00:00:00Z", "--execute").exits(4)
	if _, err := own.TopicID(ctx, wire.OffsetsTopic); err == nil {
		t.Error("the topic was created")
	}

	idle := stage(t, own, [2]int64{0, 100})
	idle.group = "idle"
	_, err = own.Coordinator(ctx, idle.group) // makes the topic
	must(t, err)
	idle.commit(7)
	s := scene{t, own, idle.topic, "billing", t.TempDir()}
	s.commit(50)
	s.commit(60)
	s.commit(10)
	p := s.history()
	if got, want := p.brief(), "new 0 ->50 by not a member; forward 0 50>60 by not a member; back 0 60>10 by not a member"; got != want || !p.Complete {
		t.Fatalf("got  %s, complete %v\nwant %s", got, p.Complete, want)
	}
	back := []string{"reset", "-g", s.group, "-t", s.topic, "--to-commit-at", p.Events[1].Time.Format(time.RFC3339Nano)}
	s.run(append(back, "--dry-run")...).exits(0).prints("60")

	must(t, own.Configure(ctx, kmsg.ConfigResourceTypeTopic, wire.OffsetsTopic, "segment.ms=1000"))
	must(t, live.Eventually(ctx, "the log is compacted", func(context.Context) (bool, error) {
		s.commit(10) // an append rolls
		return !s.history().Complete, nil
	}))
	must(t, own.Configure(ctx, kmsg.ConfigResourceTypeTopic, wire.OffsetsTopic, "segment.ms=604800000"))
	r := s.run(append(back, "--execute")...).exits(4).says("what was committed then is unknown: the oldest commit that is still recorded is of", "complete since", "nothing was written")
	if got := s.committed(); got != "0=10" {
		t.Errorf("a refused reset has written: %s\n%v", got, r)
	}

	must(t, live.Eventually(ctx, "the idle group has been left alone for a while", func(ctx context.Context) (bool, error) {
		return time.Since(p.Events[0].Time) > 30*time.Second, nil
	}))
	must(t, live.Eventually(ctx, "the idle group has expired", func(ctx context.Context) (bool, error) {
		all, err := own.Committed(ctx, idle.group)
		return len(all) == 0, err
	}))
	p = idle.history()
	last := p.Events[len(p.Events)-1]
	if last.What != "deleted" || last.From == nil || *last.From != 7 || !last.WholeGroup || !strings.Contains(last.Author, "group gone: expiry likely") {
		t.Errorf("expired: got %+v", last)
	}
}

// While the cleaner runs all the time, no reading leaves out a commit without telling. With GTOFFSET_SOAK set 10 million records are read.
func TestSoakHistoryWhileCleaned(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	want := int64(300_000)
	if os.Getenv("GTOFFSET_SOAK") != "" {
		want = 10_000_000
	}
	own, err := live.Kafka(ctx, live.Current, 1, live.Properties("offsets.topic.num.partitions=1", "offsets.topic.segment.bytes=4194304", "log.cleaner.backoff.ms=100"))
	must(t, err)
	defer own.Stop()
	const partitions = 100
	s := stage(t, own, make([][2]int64, partitions)...)
	s.group = "billing"
	_, err = own.Coordinator(ctx, s.group) // makes the topic
	must(t, err)
	s.commit(0)

	var mu sync.Mutex
	var times []time.Time // of each round, before it: in round i every partition goes to i
	writer := make(chan error, 1)
	go func() {
		for i := int64(1); ; i++ {
			places := map[int32]live.Commit{}
			for p := range int32(partitions) {
				places[p] = live.At(i)
			}
			mu.Lock()
			times = append(times, time.Now())
			mu.Unlock()
			if err := own.Commit(ctx, s.group, s.topic, places); err != nil {
				writer <- err
				return
			}
		}
	}()
	c := kafkaops.New(kafkaops.Config{Bootstrap: []string{own.Bootstrap()}, Wire: wire.Config{}})
	defer c.Close()
	read, readings, again, torn := int64(0), 0, 0, 0
	for read < want {
		select {
		case err := <-writer:
			t.Fatal(err)
		default:
		}
		log, err := c.Past(ctx, s.group)
		must(t, err)
		var h *offsets.Historian
		got, err := c.ReadPast(ctx, log, kafkaops.PastReading{
			Options: records.Options{Memory: 128 << 10}, // many small fetches: the cleaner has time in between
			Begin: func() func(*offsets.LogRecord) {
				h = offsets.NewHistorian(offsets.HistoryPolicy{All: true, Skip: offsets.None})
				return h.Add
			},
		})
		must(t, err)
		past := h.End(got.Complete)
		read += past.Records
		readings++
		again += got.Tries - 1
		if got.Torn {
			torn++
			continue
		}
		mu.Lock()
		began := times
		mu.Unlock()
		nothingIsMissing(t, past, began)
	}
	t.Logf("%d records in %d readings; %d began again, %d were torn", read, readings, again, torn)
	if torn == readings {
		t.Error("every reading was torn")
	}
	cancel()
	<-writer
}

// nothingIsMissing checks that each partition goes from one number to the next, and that it begins no later than is said.
func nothingIsMissing(t *testing.T, past offsets.History, began []time.Time) {
	t.Helper()
	last := map[offsets.Key]int64{}
	for _, e := range past.Events {
		before, known := last[e.Key]
		if known && e.To != before+1 {
			t.Fatalf("%s: %d comes after %d, and complete is %+v", e.Key, e.To, before, past.Complete)
		}
		if since := past.Complete.Since; !known && e.To > 1 && (past.Complete.Whole || !since.IsZero() && began[e.To-2].After(since.Add(time.Millisecond))) {
			t.Fatalf("%s: the first is %d, %d was committed after %v, and complete is %+v", e.Key, e.To, e.To-1, began[e.To-2], past.Complete)
		}
		last[e.Key] = e.To
	}
}
