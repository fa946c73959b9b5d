package kafkaops

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// The keys of a topic's configuration that say how long its records stay.
const (
	cleanupPolicy  = "cleanup.policy"
	retentionMs    = "retention.ms"
	retentionBytes = "retention.bytes"
	remoteStorage  = "remote.storage.enable"
	localRetention = "local.retention.ms"
)

// Retention reads how long the given topics keep their records. The map has every topic; one that could not be read says why.
func (c *Cluster) Retention(ctx context.Context, topics []string) map[string]offsets.Retention {
	all := make(map[string]offsets.Retention, len(topics))
	for part := range chunks(topics, maxRequest, func(name string) int { return len(name) + 100 }) {
		q := kmsg.NewPtrDescribeConfigsRequest()
		for _, name := range part {
			q.Resources = append(q.Resources, resource(kmsg.ConfigResourceTypeTopic, name, cleanupPolicy, retentionMs, retentionBytes, remoteStorage, localRetention))
		}
		told, err := c.configs(ctx, wire.Any, q)
		for _, name := range part {
			got, named := told[name]
			switch {
			case err != nil:
				all[name] = offsets.Retention{Reason: troubleOf(err).Reason}
			case !named:
				all[name] = offsets.Retention{Reason: "the broker's answer does not name the topic's configuration"}
			case got.code != 0:
				all[name] = offsets.Retention{Reason: troubleCode(got.code, "DESCRIBE_CONFIGS on topic "+name).Reason}
			default:
				all[name] = retention(got.values)
			}
		}
	}
	return all
}

// retention reads a topic's configuration. A bound that is not there, or is no number, must not read as one that is far away.
func retention(values map[string]string) offsets.Retention {
	r := offsets.Retention{Policy: values[cleanupPolicy], Tiered: values[remoteStorage] == "true", LocalMillis: offsets.Unbounded}
	var err error
	if r.Millis, err = number(values, retentionMs); err != nil {
		return offsets.Retention{Reason: err.Error()}
	}
	if r.Bytes, err = number(values, retentionBytes); err != nil {
		return offsets.Retention{Reason: err.Error()}
	}
	if local, err := number(values, localRetention); err == nil {
		if r.LocalMillis = local; local == -2 { // as retention.ms
			r.LocalMillis = r.Millis
		}
	}
	if r.Policy == "" {
		return offsets.Retention{Reason: "the broker does not tell " + cleanupPolicy}
	}
	return r
}

func number(values map[string]string, name string) (int64, error) {
	text, ok := values[name]
	if !ok {
		return 0, fmt.Errorf("the broker does not tell %s", name)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is %q, which is no number", name, text)
	}
	return n, nil
}

// CommitRetention is how long the given brokers keep the commits of groups without members (offsets.retention.minutes), as each
// of them is configured; 0 where that could not be read. The map has every broker.
func (c *Cluster) CommitRetention(ctx context.Context, brokers []int32) map[int32]time.Duration {
	const minutes = "offsets.retention.minutes"
	all := map[int32]time.Duration{}
	work := map[int32]struct{}{}
	for _, id := range brokers {
		work[id], all[id] = struct{}{}, 0
	}
	var mu sync.Mutex
	byNode(work, func(node int32, _ struct{}) {
		q := kmsg.NewPtrDescribeConfigsRequest()
		name := strconv.Itoa(int(node))
		q.Resources = append(q.Resources, resource(kmsg.ConfigResourceTypeBroker, name, minutes))
		told, err := c.configs(ctx, node, q)
		if err != nil {
			return
		}
		n, err := number(told[name].values, minutes)
		if err != nil || n <= 0 {
			return
		}
		mu.Lock()
		all[node] = offsets.Millis(min(n, math.MaxInt32) * 60_000)
		mu.Unlock()
	})
	return all
}

func resource(kind kmsg.ConfigResourceType, name string, keys ...string) kmsg.DescribeConfigsRequestResource {
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName, r.ConfigNames = kind, name, slices.Clone(keys)
	return r
}

// configured is what a broker tells of one resource: an error code, or values by key.
type configured struct {
	code   int16
	values map[string]string
}

// configs asks one broker, and sorts its answer by the resources' names.
func (c *Cluster) configs(ctx context.Context, node int32, q *kmsg.DescribeConfigsRequest) (map[string]configured, error) {
	answers, err := c.wire.Do(ctx, node, func(v wire.Versions) ([]kmsg.Request, error) { return []kmsg.Request{q}, v.Set(q, -1) })
	if err != nil {
		return nil, err
	}
	told := map[string]configured{}
	for _, r := range answers[0].(*kmsg.DescribeConfigsResponse).Resources {
		got := configured{code: r.ErrorCode, values: map[string]string{}}
		for _, k := range r.Configs {
			if k.Value != nil {
				got.values[k.Name] = *k.Value
			}
		}
		told[r.ResourceName] = got
	}
	return told, nil
}
