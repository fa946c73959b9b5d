package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

const (
	group = "billing"
	store = "offsets" // the folder of gtoffset files, below the demo's own
)

// partition is one partition of the scene: what the cluster has of it, and what both sides say.
type partition struct {
	topic             string
	earliest, end     int64
	stored, committed int64 // offsets.None: nothing
}

// partitions is the group after a bad night, in the order of their numbers.
func partitions() []partition {
	return []partition{
		{topic: "orders", earliest: 500, end: 2000, stored: 120, committed: 900},                 // low: the log expired faster than the job read
		{topic: "orders", earliest: 0, end: 2000, stored: 950, committed: 2000},                  // unprocessed: auto-commit ran ahead
		{topic: "orders", earliest: 0, end: 1600, stored: 1700, committed: 1600},                 // high: the log lost its tail
		{topic: "orders", earliest: 0, end: 1200, stored: offsets.None, committed: offsets.None}, // none: its turn never came
		{topic: "orders", earliest: 0, end: 1000, stored: 800, committed: 800},                   // fine
		{topic: "payments", earliest: 0, end: 300, stored: 5200, committed: offsets.None},        // recreated, and high by its number
		{topic: "payments", earliest: 0, end: 900, stored: 450, committed: offsets.None},         // recreated, and fine by its number
	}
}

// age is how long ago the job saved its offsets.
const age = 3*time.Hour + 12*time.Minute

// setUp starts the cluster, and makes the store in the folder dir.
func setUp(dir string) (*kafkatest.Broker, error) {
	count := map[string]int32{}
	for _, p := range partitions() {
		count[p.topic]++
	}
	b, err := kafkatest.New(kafkatest.Options{Topics: count, Extra: []kfake.Opt{kfake.ClusterID("demo")}})
	if err != nil {
		return nil, fmt.Errorf("start the in-process cluster: %w", err)
	}
	if err := fill(b, dir); err != nil {
		b.Close()
		return nil, fmt.Errorf("prepare the group: %w", err)
	}
	return b, nil
}

func fill(b *kafkatest.Broker, dir string) error {
	saved := time.Now().Add(-age)
	docs := map[string]*offsetfile.Document{}
	next := map[string]int32{}
	for _, p := range partitions() {
		n := next[p.topic]
		next[p.topic]++
		doc := docs[p.topic]
		if doc == nil {
			doc = offsetfile.New(group, p.topic)
			doc.SetTopicID(b.TopicID(p.topic))
			doc.SetCluster("demo")
			doc.SetSaved(saved)
			docs[p.topic] = doc
			if p.topic == "payments" { // the file keeps the id of the topic that was
				if err := b.Recreate(p.topic); err != nil {
					return err
				}
			}
		}
		err := b.SetRange(p.topic, n, p.earliest, p.end)
		if p.stored != offsets.None {
			err = errors.Join(err, doc.Set(offsetfile.Entry{Partition: n, Offset: p.stored, Epoch: offsets.None}))
		}
		if p.committed != offsets.None {
			err = errors.Join(err, b.Commit(group, p.topic, n, p.committed, offsets.None, ""))
		}
		if err != nil {
			return fmt.Errorf("%s %d: %w", p.topic, n, err)
		}
	}
	for topic, doc := range docs {
		folder := filepath.Join(dir, store, group, topic)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, "gtoffset"), doc.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}
