package records

import (
	"context"
	"log/slog"
	"time"

	"gtoffset/kafkaops/wire"
)

// ProducerOptions says how to write. The zero value is ready.
type ProducerOptions struct {
	BatchBytes int           // of a batch before it is compressed; 0: 512 KiB. A record that is larger gets a batch of its own
	Memory     int           // bytes of batches that wait for their acknowledgement; 0: 32 MiB
	Patience   time.Duration // how long a batch without an answer is tried for; 0: one minute
	Log        *slog.Logger
}

// Producer writes records to one topic: acks=all, idempotent, one request in flight for each partition. It is used by one
// goroutine.
type Producer struct{}

// Produce makes a producer for a topic. It sends nothing before Append.
func Produce(client *wire.Client, topic string, o ProducerOptions) *Producer { return &Producer{} }

// Append copies a record into the current batch of a partition, with key, value, headers and timestamp as they are (a timestamp
// becomes a CreateTime), compressed by codec. It waits while too many bytes are unacknowledged. The error may concern any record
// appended before; nothing may be appended after it.
func (p *Producer) Append(ctx context.Context, partition int32, codec Codec, r *Record) error {
	return nil
}

// Flush sends what is left and waits until every record appended so far is acknowledged by all replicas in sync. The error is a
// *WriteError that names the record, a *GoneError, or the context's.
func (p *Producer) Flush(ctx context.Context) error { return nil }

// Acknowledged counts what the brokers have acknowledged: records, and bytes of their batches.
func (p *Producer) Acknowledged() (records, bytes int64) { return 0, 0 }

// Close drops what was not sent and closes the connections.
func (p *Producer) Close() {}
