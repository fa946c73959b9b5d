package records

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/kafkaops/offsets"
	"gtoffset/kafkaops/wire"
)

// trouble is what keeps a part from being fetched.
type trouble struct {
	since time.Time // zero: nothing does
	tries int
	err   error
	due   time.Time // when to try again
	gone  int       // times in a row that Metadata did not know the topic
}

// codeError is a Kafka error code.
type codeError struct{ code int16 }

func (e *codeError) Error() string { return wire.CodeText(e.code) }

var (
	errNotNamed   = errors.New("the leader's answer does not name the partition")
	errNoProgress = errors.New("the leader's answer does not reach the offset that was asked for")
	errNoLeader   = errors.New("no leader")
)

// mayPass reports the errors of a partition that pass by themselves, or with fresh Metadata.
func mayPass(code int16) bool {
	switch code {
	case wire.CodeUnknownServerError, wire.CodeUnknownTopic, wire.CodeLeaderNotAvailable, wire.CodeNotLeader, wire.CodeRequestTimedOut,
		wire.CodeBrokerNotAvailable, wire.CodeReplicaNotAvailable, wire.CodeNetworkException, wire.CodeStorageError, wire.CodeFencedLeaderEpoch,
		wire.CodeUnknownLeaderEpoch, wire.CodeOffsetNotAvailable, wire.CodeThrottlingQuotaExceeded, wire.CodeUnknownTopicID, wire.CodeInconsistentTopicID:
		return true
	}
	return false
}

// final reports the errors that do not pass: refused credentials, a broker that is too old.
func final(err error) bool {
	var old *wire.TooOldError
	return wire.IsRefused(err) || errors.As(err, &old)
}

// pauseFor is how long to wait before the next try: at once at first, then longer, with jitter.
func pauseFor(try int) time.Duration {
	if try <= 1 {
		return 0
	}
	d := min(50*time.Millisecond<<min(try-2, 5), time.Second)
	return d/2 + rand.N(d)
}

// lose takes a part from its lane, to be routed anew after a while. When that went on for too long the reading fails.
func (r *Reader) lose(p *part, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.lane.remove(p)
	now := time.Now()
	t := &p.trouble
	if t.since.IsZero() {
		t.since = now
	}
	t.tries++
	t.err, t.due = err, now.Add(pauseFor(t.tries))
	waited := now.Sub(t.since)
	switch {
	case final(err):
		r.failLocked(err)
		return
	case waited > r.o.Patience:
		r.stopLocked(p, &UnreachableError{Topic: p.Topic, Partition: p.Partition, Broker: p.leader, Waited: offsets.Span(waited), Err: err})
		return
	}
	r.o.Log.Info("partition is away", "topic", p.Topic, "partition", p.Partition, "broker", p.leader, "offset", p.at, "try", t.tries, "error", err)
	r.lost = append(r.lost, p)
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// route finds the leaders of lost parts and gives them to their lanes.
func (r *Reader) route(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-timer.C:
		}
		parts, next := r.due(time.Now())
		if len(parts) > 0 {
			r.locate(ctx, parts)
			_, next = r.due(time.Time{})
		}
		if !next.IsZero() {
			timer.Reset(max(time.Until(next), 0))
		}
	}
}

// due takes the lost parts that are to be tried now, and tells when the next one is; zero if there is none.
func (r *Reader) due(now time.Time) (parts []*part, next time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = slices.DeleteFunc(r.lost, func(p *part) bool {
		if !p.trouble.due.After(now) {
			parts = append(parts, p)
			return true
		}
		if next.IsZero() || p.trouble.due.Before(next) {
			next = p.trouble.due
		}
		return false
	})
	return parts, next
}

// locate asks Metadata for the leaders of parts.
func (r *Reader) locate(ctx context.Context, parts []*part) {
	var topics []string
	for _, p := range parts {
		topics = append(topics, p.Topic)
	}
	slices.Sort(topics)
	topics = slices.Compact(topics)
	r.client.NewLook() // a broker that was away may be back
	answer, err := r.client.Metadata(ctx, topics)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		for _, p := range parts {
			r.lose(p, err)
		}
		return
	}
	told := map[string]*kmsg.MetadataResponseTopic{}
	for i, t := range answer.Topics {
		if t.Topic != nil {
			told[*t.Topic] = &answer.Topics[i]
		}
	}
	for _, p := range parts {
		t := told[p.Topic]
		if t == nil {
			r.lose(p, errNotNamed)
			continue
		}
		if err := r.assign(p, t, answer.Version); err != nil {
			r.lose(p, err)
		}
	}
}

// goneTries is how often Metadata must not know a topic, or a partition, before it is gone: brokers learn of it one by one.
const goneTries = 6

// assign gives a part to the lane of its leader. The error is a reason to try again.
func (r *Reader) assign(p *part, t *kmsg.MetadataResponseTopic, version int16) error {
	if t.ErrorCode != 0 && t.ErrorCode != wire.CodeLeaderNotAvailable {
		return r.noTopic(p, t.ErrorCode)
	}
	if !r.identify(p, t.TopicID) {
		return nil
	}
	i := slices.IndexFunc(t.Partitions, func(x kmsg.MetadataResponseTopicPartition) bool { return x.Partition == p.Partition })
	if i < 0 {
		return r.noTopic(p, wire.CodeUnknownTopic)
	}
	p.trouble.gone = 0
	x := t.Partitions[i]
	if x.Leader < 0 {
		p.leader = None
		return errNoLeader
	}
	epoch := int32(None)
	if version >= 7 {
		epoch = max(x.LeaderEpoch, None)
	}
	r.give(p, x.Leader, epoch)
	return nil
}

// give gives a part to the lane of a leader, which begins where there is none.
func (r *Reader) give(p *part, leader, epoch int32) {
	p.leader, p.epoch = leader, epoch
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lanes[leader]
	if l == nil {
		l = r.newLane(leader)
		r.lanes[leader] = l
		r.wg.Go(func() { l.run(r.ctx) }) // waits for mu
	}
	l.parts = append(l.parts, p)
	p.lane = l
	l.poke()
}

// noTopic decides what to do about a topic or partition that Metadata refuses or does not know.
func (r *Reader) noTopic(p *part, code int16) error {
	p.trouble.gone++
	if code == wire.CodeTopicAuthorization {
		r.stop(p, &RefusedError{p.Topic, p.Partition, None, code, "not allowed: DESCRIBE on topic " + p.Topic + " is missing", true})
		return nil
	}
	if code == wire.CodeUnknownTopic && p.trouble.gone >= goneTries {
		r.stop(p, &GoneError{Topic: p.Topic, Partition: p.Partition, ID: p.TopicID})
		return nil
	}
	return &codeError{code}
}

// identify pins the topic's id, and reports whether it is still the same topic.
func (r *Reader) identify(p *part, id [16]byte) bool {
	if id == [16]byte{} {
		return true // an old broker
	}
	now := offsets.TopicID(id)
	if p.TopicID == "" {
		p.TopicID = now
	}
	if p.TopicID != now {
		r.stop(p, &GoneError{Topic: p.Topic, Partition: p.Partition, ID: p.TopicID, Now: now})
		return false
	}
	if p.id != id {
		p.id = id
		r.mu.Lock()
		r.byName[name{id: id, partition: p.Partition}] = p
		r.mu.Unlock()
	}
	return true
}

// find finds the part that an answer names.
func (r *Reader) find(n name) *part {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byName[n]
}
