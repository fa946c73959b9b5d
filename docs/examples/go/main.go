// Job is a small job that keeps its place in a gtoffset file, by the scheme that docs/file-format.md describes: read the stored
// offsets, correct those that the cluster no longer has, process a batch, and only then save.
//
//	go run ./docs/examples/go -b kafka1:9092 -g billing -t orders -s /var/lib/billing/offsets
//
// Its processing is to print each record; put your own in its place. Killed at any moment it repeats one batch at most, and loses
// none.
package main

import (
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

// most is how many records are in a batch at most, and so how many may come again after a crash.
const most = 500

func main() {
	var j job
	brokers := flag.String("b", "", "brokers, as HOST:PORT,HOST:PORT")
	store := flag.String("s", "", "folder of gtoffset files")
	flag.StringVar(&j.group, "g", "", "whose offsets they are")
	flag.StringVar(&j.topic, "t", "", "topic to read")
	flag.Parse()
	j.brokers, j.store = strings.Split(*brokers, ","), *store
	j.process = func(batch []*kgo.Record) error {
		for _, r := range batch {
			if _, err := fmt.Println(r.Topic, r.Partition, r.Offset, string(r.Value)); err != nil {
				return err
			}
		}
		return nil
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := j.run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "job:", err)
		os.Exit(1)
	}
}

type job struct {
	brokers      []string
	store        string
	group, topic string
	process      func([]*kgo.Record) error // a batch; nil: it is complete, and stays so
}

// run works until the context ends, or something goes wrong.
func (j job) run(ctx context.Context) (err error) {
	files, err := offsetfile.Open(j.store, offsetfile.WithHolder("the job "+j.group))
	if err != nil {
		return err
	}
	// As long as the lock is held nobody else writes: no second job, and no repair.
	held, err := files.Lock(ctx, j.group, []string{j.topic})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Unlock()) }()

	holding, err := files.Load(ctx, j.group, []string{j.topic}, false)
	if err != nil {
		return err
	}
	log, err := j.look(ctx)
	if err != nil {
		return err
	}
	from, err := start(holding, log)
	if err != nil {
		return err
	}
	return j.work(ctx, held, from, offsetfile.Facts{Cluster: log.cluster, TopicIDs: map[string]string{j.topic: log.id}})
}

// topicLog is what the cluster has of a topic.
type topicLog struct {
	topic, id, cluster string
	earliest, end      map[int32]int64
}

func (j job) look(ctx context.Context) (topicLog, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(j.brokers...))
	if err != nil {
		return topicLog{}, err
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	meta, err := admin.Metadata(ctx, j.topic)
	if err != nil {
		return topicLog{}, err
	}
	earliest, err := admin.ListStartOffsets(ctx, j.topic)
	if err = errors.Join(err, earliest.Error()); err != nil {
		return topicLog{}, err
	}
	end, err := admin.ListEndOffsets(ctx, j.topic)
	if err = errors.Join(err, end.Error()); err != nil {
		return topicLog{}, err
	}
	log := topicLog{topic: j.topic, cluster: meta.Cluster, earliest: map[int32]int64{}, end: map[int32]int64{}}
	if id := meta.Topics[j.topic].ID; id != (kadm.TopicID{}) { // Kafka before 2.8 has none
		log.id = base64.RawURLEncoding.EncodeToString(id[:])
	}
	earliest.Each(func(o kadm.ListedOffset) { log.earliest[o.Partition] = o.Offset })
	end.Each(func(o kadm.ListedOffset) { log.end[o.Partition] = o.Offset })
	return log, nil
}

// start says where each partition is read on from: where the file says, within what the cluster has. What needs a decision it leaves to
// a person with gtoffset clamp: a file that is damaged, or of a topic or cluster that is another one now.
func start(stored offsetfile.Holding, log topicLog) (map[int32]int64, error) {
	for _, file := range stored.Store.Topics {
		if file.Presence != offsets.Absent && file.Presence != offsets.Present {
			return nil, fmt.Errorf("the stored offsets of %s cannot be used: %s", file.Topic, file.Reason)
		}
	}
	from := map[int32]int64{}
	for partition, earliest := range log.earliest {
		entry, ok := stored.Entries[offsets.Key{Topic: log.topic, Partition: partition}]
		switch {
		case !ok:
			from[partition] = earliest // it was never read
		case another(entry.TopicID, log.id), another(entry.Cluster, log.cluster):
			return nil, fmt.Errorf("%s %d: the stored offset is of another topic or cluster", log.topic, partition)
		default:
			from[partition] = min(max(entry.Offset, earliest), log.end[partition])
		}
	}
	return from, nil
}

func another(stored, now string) bool { return stored != "" && now != "" && stored != now }

// work reads, processes and saves, batch by batch.
func (j job) work(ctx context.Context, held *offsetfile.Locked, from map[int32]int64, facts offsetfile.Facts) error {
	at := map[int32]kgo.Offset{}
	for partition, offset := range from {
		at[partition] = kgo.NewOffset().At(offset)
	}
	consumer, err := kgo.NewClient(kgo.SeedBrokers(j.brokers...), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{j.topic: at}),
		kgo.ConsumeResetOffset(kgo.NoResetOffset())) // what is out of range now is an error, and not passed over
	if err != nil {
		return err
	}
	defer consumer.Close()
	for {
		fetches := consumer.PollRecords(ctx, most)
		if err := fetches.Err(); err != nil {
			return err
		}
		batch := fetches.Records()
		if err := j.process(batch); err != nil {
			return err
		}
		next := map[int32]offsets.Value{}
		for _, r := range batch {
			next[r.Partition] = offsets.Value{Offset: r.Offset + 1, Epoch: r.LeaderEpoch}
		}
		facts.Now = time.Now()
		// Also when an interrupt has come meanwhile: what is processed is saved.
		if err := held.Put(context.WithoutCancel(ctx), j.topic, next, facts); err != nil {
			return err
		}
	}
}
