package wire

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Metadata asks whichever broker answers about topics: ids, partitions, leaders. No topic is created by it. The error is that of Do.
func (c *Client) Metadata(ctx context.Context, topics []string) (*kmsg.MetadataResponse, error) {
	answers, err := c.Do(ctx, Any, func(v Versions) ([]kmsg.Request, error) {
		q := kmsg.NewPtrMetadataRequest()
		for _, name := range topics {
			t := kmsg.NewMetadataRequestTopic()
			t.Topic = &name
			q.Topics = append(q.Topics, t)
		}
		return []kmsg.Request{q}, v.Set(q, -1)
	})
	if err != nil {
		return nil, err
	}
	return answers[0].(*kmsg.MetadataResponse), nil
}
