package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"gtoffset/kafkaops"
	"gtoffset/kafkaops/records"
	"gtoffset/scripts/live"
)

const (
	partitions = 6
	batchBytes = 125_000 // of a batch before it is compressed
)

var codecs = []records.Codec{records.Uncompressed, records.Gzip, records.Snappy, records.LZ4, records.Zstd}

// fill makes a topic of six partitions without copies, and writes its records: words and numbers, which compress about as well as
// what people keep in Kafka. Our own producer is quick; that all is there is seen by the others, too.
func fill(ctx context.Context, c *live.Cluster, l load) error {
	i := slices.IndexFunc(codecs, func(c records.Codec) bool { return c.String() == l.codec })
	if i < 0 {
		return fmt.Errorf("no such codec: %q", l.codec)
	}
	if err := c.CreateThinTopic(ctx, l.topic, partitions); err != nil {
		return err
	}
	k := kafkaops.New(kafkaops.Config{Bootstrap: strings.Split(c.Bootstrap(), ",")})
	defer k.Close()
	p := k.Produce(l.topic, records.ProducerOptions{BatchBytes: batchBytes})
	defer p.Close()
	words := strings.Fields("order paid shipped cancelled pending customer amount currency EUR USD warehouse line item quantity status created updated reference note")
	draw := rand.New(rand.NewPCG(1, 2)) // the same in every run
	began := time.Now().UnixMilli()
	var value []byte
	for n := range l.records {
		value = value[:0]
		for len(value) < l.size {
			if draw.IntN(2) == 0 {
				value = append(value, words[draw.IntN(len(words))]...)
			} else {
				value = strconv.AppendInt(value, int64(draw.IntN(1_000_000)), 10)
			}
			value = append(value, ' ')
		}
		r := records.Record{Offset: int64(n), Timestamp: began + int64(n/1000), Value: value[:l.size]}
		if err := p.Append(ctx, int32(n%partitions), codecs[i], &r); err != nil {
			return err
		}
	}
	return p.Flush(ctx)
}
