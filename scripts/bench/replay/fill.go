package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/scripts/live"
)

const partitions = 6

// fill makes a topic of six partitions without copies, and writes its records: words and numbers, which compress about as well as
// what people keep in Kafka.
func fill(ctx context.Context, c *live.Cluster, l load) error {
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	codec, ok := codecs[l.codec]
	if !ok {
		return fmt.Errorf("no such codec: %q", l.codec)
	}
	p, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(c.Bootstrap(), ",")...), kgo.ProducerBatchCompression(codec),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchMaxBytes(125_000), kgo.MaxBufferedRecords(200_000))
	if err != nil {
		return err
	}
	defer p.Close()
	if err := create(ctx, p, l.topic); err != nil {
		return err
	}
	var mu sync.Mutex
	var failed error
	words := strings.Fields("order paid shipped cancelled pending customer amount currency EUR USD warehouse line item quantity status created updated reference note")
	draw := rand.New(rand.NewPCG(1, 2)) // the same in every run
	for i := range l.records {
		value := make([]byte, 0, l.size+16)
		for len(value) < l.size {
			if draw.IntN(2) == 0 {
				value = append(value, words[draw.IntN(len(words))]...)
			} else {
				value = fmt.Append(value, draw.IntN(1_000_000))
			}
			value = append(value, ' ')
		}
		p.Produce(ctx, &kgo.Record{Topic: l.topic, Partition: int32(i % partitions), Value: value[:l.size]}, func(_ *kgo.Record, err error) {
			if err != nil {
				mu.Lock()
				failed = err
				mu.Unlock()
			}
		})
	}
	if err := p.Flush(ctx); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	return failed
}

func create(ctx context.Context, p *kgo.Client, topic string) error {
	q := kmsg.NewPtrCreateTopicsRequest()
	q.TimeoutMillis = 30_000
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, partitions, 1
	q.Topics = append(q.Topics, t)
	answer, err := p.Request(ctx, q)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(answer.(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode)
}
