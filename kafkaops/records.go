package kafkaops

import (
	"context"

	"gtoffset/kafkaops/records"
)

// Read reads the records of ranges again. It opens connections of its own, one to each leader.
func (c *Cluster) Read(ctx context.Context, ranges []records.Range, o records.Options) *records.Reader {
	return records.Read(ctx, c.wire, ranges, o)
}

// Produce writes records to a topic, over connections of its own.
func (c *Cluster) Produce(topic string, o records.ProducerOptions) *records.Producer {
	return records.Produce(c.wire, topic, o)
}
