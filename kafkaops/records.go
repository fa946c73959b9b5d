package kafkaops

import (
	"context"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/records"
)

// Read reads the records of ranges again. It opens connections of its own, one to each leader. Leaders are known where the ranges were
// measured before.
func (c *Cluster) Read(ctx context.Context, ranges []records.Range, o records.Options) *records.Reader {
	if o.Known == nil {
		o.Known = c.leaderOf
	}
	return records.Read(ctx, c.wire, ranges, o)
}

// leaderOf is what the last Metadata said of a partition's leader.
func (c *Cluster) leaderOf(topic string, partition int32) (records.Leader, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.leaders[topic]
	if partition < 0 || int(partition) >= len(all) || all[partition].id == offsets.None {
		return records.Leader{}, false
	}
	l := all[partition]
	id, _ := offsets.ParseTopicID(l.topicID)
	return records.Leader{Broker: l.id, Epoch: l.epoch, TopicID: id}, true
}

// Produce writes records to a topic, over connections of its own.
func (c *Cluster) Produce(topic string, o records.ProducerOptions) *records.Producer {
	return records.Produce(c.wire, topic, o)
}
