package main

import (
	"context"
	"io"
	"time"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/scripts/live"
)

// A fake is the in-process cluster as a lab wants it: its brokers are numbered from 1.
type fake struct{ *kafkatest.Broker }

// openInProcess is a lab on the in-process cluster.
func openInProcess(ctx context.Context, talk io.Writer) (*lab, error) {
	return openOn(ctx, talk, "the in-process cluster", func(f *live.Faults) (cluster, error) { return newFake(ctx, f) })
}

func newFake(ctx context.Context, f *live.Faults) (_ cluster, err error) {
	b, err := kafkatest.New(kafkatest.Options{Brokers: brokers, Proxy: true, Topics: map[string]int32{topic: brokers}})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.Close()
		}
	}()
	for i, p := range b.Proxies {
		spoilt, err := f.Before(ctx, int32(i)+1, p.Target())
		if err != nil {
			return nil, err
		}
		p.SetTarget(spoilt.Addr())
	}
	err = b.Spread(topic)
	for p := range int32(brokers) {
		if err == nil {
			err = b.Produce(topic, p, make([]string, end)...)
		}
		if err == nil {
			err = b.Fake.DeleteRecords(topic, p, earliest)
		}
	}
	return fake{b}, err
}

func (c fake) RemoteBootstrap() string { return c.Bootstrap() }

func (c fake) Coordinator(_ context.Context, group string) (int32, error) {
	return c.Fake.CoordinatorFor(group) + 1, nil
}

func (c fake) Commit(_ context.Context, group, topic string, places map[int32]live.Commit) error {
	for p, at := range places {
		if err := c.Broker.Commit(group, topic, p, at.Offset, at.Epoch, at.Metadata); err != nil {
			return err
		}
	}
	return nil
}

func (c fake) Committed(_ context.Context, group string) (map[string]map[int32]live.Commit, error) {
	got := map[int32]live.Commit{}
	for p := range int32(brokers) {
		if at, ok := c.Broker.Committed(group, topic, p); ok {
			got[p] = live.At(at.Offset)
		}
	}
	return map[string]map[int32]live.Commit{topic: got}, nil
}

func (c fake) Ranges(context.Context, string) (map[int32]live.Range, error) {
	got := map[int32]live.Range{}
	for p := range int32(brokers) {
		got[p] = live.Range{Earliest: earliest, End: end, Leader: c.Fake.LeaderFor(topic, p) + 1}
	}
	return got, nil
}

func (c fake) MoveLeader(_ context.Context, topic string, partition, to int32) error {
	return c.Fake.MoveTopicPartition(topic, partition, to-1)
}

func (c fake) Agree(context.Context, string) error { return nil }

func (c fake) SetDelay(time.Duration) {}

func (c fake) Kill(broker int32) error {
	c.Broker.Kill(broker - 1)
	return nil
}

func (c fake) Restart(_ context.Context, broker int32) error { return c.Revive(broker - 1) }

func (c fake) Freeze(broker int32) error {
	c.Broker.Freeze(broker - 1)
	return nil
}

func (c fake) Thaw(_ context.Context, broker int32) error {
	c.Broker.Thaw(broker - 1)
	return nil
}

func (c fake) Stop() { c.Close() }
