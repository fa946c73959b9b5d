package cmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/records"
)

// topicSink copies each batch to a topic.
type topicSink struct {
	r        *replay
	limits   offsets.BatchLimits
	producer *records.Producer
	bytes    int64 // in the batch that is being gathered
	failed   error
}

func (s *topicSink) take(_ context.Context, l *lane, rec *records.Record, from *records.Batch, b *batch) (bool, error) {
	size := payload(rec)
	if !s.limits.Take(b.records, s.bytes, size) {
		return false, nil
	}
	if err := s.producer.Append(s.r.g.hard, l.Partition, from.Codec, rec); err != nil {
		s.failed = err
		return false, err
	}
	s.bytes += size
	return true, nil
}

func (s *topicSink) accept(_, hard context.Context, _ *batch) error {
	s.bytes = 0
	if s.failed != nil {
		return s.failed
	}
	if s.failed = s.producer.Flush(hard); s.failed != nil && s.producer.Wrote() {
		s.r.mu.Lock()
		s.r.copied = true
		s.r.mu.Unlock()
	}
	return s.failed
}

func (s *topicSink) close() { s.producer.Close() }

// checkTarget refuses a copy that could not stand.
func (r *replay) checkTarget(ctx context.Context) error {
	o := r.o
	if o.toTopic == "" {
		return nil
	}
	topics := map[string]bool{}
	for _, s := range r.stretches {
		if s.Verdict == offsets.Write {
			topics[s.Topic] = true
		}
	}
	switch {
	case len(topics) > 1:
		return usage("--to-topic takes the records of one topic, and these are of "+offsets.Plural(len(topics), "topic"), "name one with -t")
	case topics[o.toTopic] && o.follow:
		return usage("--follow with the topic that is read would never come to its own copies' end", "leave out --follow")
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(r.g.timeout))
	defer cancel()
	target, err := r.target(ctx)
	if err != nil {
		return err
	}
	var texts, choices []string
	for _, d := range offsets.CheckCopy(r.stretches, target) {
		texts = append(texts, d.Reason)
		if d.Choice != "" {
			choices = append(choices, d.Choice)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	p := &problem{code: exitRefused, text: list(texts, 3) + "; nothing was written"}
	if len(choices) > 0 {
		p.hint = "add " + list(choices, 3)
	}
	return p
}

// target looks at the topic that is copied to.
func (r *replay) target(ctx context.Context) (offsets.CopyTarget, error) {
	o, cluster := r.o, r.g.session.cluster
	t := offsets.CopyTarget{Name: o.toTopic, Same: o.sameTopic}
	ranges, err := cluster.Ranges(ctx, []string{o.toTopic}, false)
	if err != nil {
		return t, err
	}
	t.Topic = ranges.Topics[o.toTopic]
	switch {
	case t.Topic.Gone:
		return t, &problem{code: exitFailed, causes: []cause{causeMissing}, text: fmt.Sprintf("there is no topic %q to copy to; nothing was written", o.toTopic), hint: r.createTopic(ctx)}
	case t.Topic.Trouble != nil:
		p := &problem{code: exitUnreachable, text: fmt.Sprintf("topic %q could not be looked at: %s; nothing was written", o.toTopic, t.Topic.Trouble.Reason)}
		if t.Topic.Trouble.Denied {
			p.code, p.lacks = exitRefused, &offsets.Right{Operation: "WRITE", On: "topic", Name: o.toTopic}
		}
		return t, p
	}
	t.Retention = cluster.Retention(ctx, []string{o.toTopic})[o.toTopic]
	if t.Retention.Reason != "" {
		r.g.note("how long %q keeps records could not be read: %s", o.toTopic, t.Retention.Reason)
	}
	var keys []offsets.Key
	for _, s := range r.stretches {
		if s.Verdict == offsets.Write && s.Distance() > 0 {
			keys = append(keys, s.Key)
		}
	}
	if millis, ok := t.Retention.Bound(); ok && len(keys) > 0 {
		if t.Young, err = cluster.Times(ctx, keys, r.g.env.Now().Add(-offsets.Millis(millis))); err != nil {
			return t, err
		}
	}
	if t.Retention.Compacts() {
		t.NoKey, err = r.withoutKey(ctx)
	}
	return t, err
}

// createTopic is the line that makes the topic that is copied to, with as many partitions as the one that is read has.
func (r *replay) createTopic(ctx context.Context) string {
	partitions, source := 1, ""
	for _, s := range r.stretches {
		if s.Verdict == offsets.Write {
			partitions, source = max(partitions, int(s.Partition)+1), s.Topic
		}
	}
	if ranges, err := r.g.session.cluster.Ranges(ctx, []string{source}, false); err == nil {
		partitions = max(partitions, len(ranges.Topics[source].Ranges))
	}
	return r.g.kafkaTool("kafka-topics.sh", "--create", "--topic", r.o.toTopic, "--partitions", strconv.Itoa(partitions))
}

// withoutKey looks at the first chunk of each partition for records without a key.
func (r *replay) withoutKey(ctx context.Context) ([]offsets.Key, error) {
	var ranges []records.Range
	for _, s := range r.stretches {
		if s.Verdict == offsets.Write && s.Distance() > 0 {
			ranges = append(ranges, records.Range{Topic: s.Topic, TopicID: s.TopicID, Partition: s.Partition, From: s.From, Until: s.Until})
		}
	}
	reader := r.g.session.cluster.Read(ctx, ranges, records.Options{Committed: r.o.committed(), Memory: fetchMemory, Log: r.g.log()})
	defer reader.Close()
	var found []offsets.Key
	var w records.Walker
	for seen := map[offsets.Key]bool{}; len(seen) < len(ranges); {
		c, err := reader.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		k := offsets.Key{Topic: c.Topic, Partition: c.Partition}
		for w.Reset(c); w.Next(); {
			seen[k] = true
			if w.Record().Key == nil && !slices.Contains(found, k) {
				found = append(found, k)
			}
		}
		if err = w.Err(); err != nil {
			return nil, err
		}
		if seen[k] { // the next chunk comes when this one is released: let it be the last
			defer c.Release()
			continue
		}
		c.Release()
	}
	return offsets.SortKeys(found), nil
}
