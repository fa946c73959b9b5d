package kafkaops

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/wire"
)

// Topics lists the topics that the user may see, each with the number of its partitions.
func (c *Cluster) Topics(ctx context.Context) (map[string]int, error) {
	if err := c.Connect(ctx); err != nil {
		return nil, err
	}
	answers, err := c.wire.Do(ctx, wire.Any, func(v wire.Versions) ([]kmsg.Request, error) {
		q := kmsg.NewPtrMetadataRequest() // without a list: all
		return []kmsg.Request{q}, v.Set(q, -1)
	})
	if err != nil {
		return nil, err
	}
	topics := map[string]int{}
	for _, t := range answers[0].(*kmsg.MetadataResponse).Topics {
		if t.Topic != nil && t.ErrorCode == 0 {
			topics[*t.Topic] = min(len(t.Partitions), maxPartitions)
		}
	}
	return topics, nil
}
