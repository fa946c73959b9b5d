package scenes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"gtoffset/kafkaops/kafkatest"
	"gtoffset/kafkaops/offsets"
	"gtoffset/offsetfile"
)

const (
	group = "billing"
	none  = offsets.None
)

// scenes has what each scene starts with. Their times are before Noon.
func scenes() map[string]func(*Stage) error {
	return map[string]func(*Stage) error{
		"night":        night,
		"restart":      restart,
		"expired":      expired,
		"recreated":    recreated,
		"ahead":        ahead,
		"two-clusters": twoClusters,
		"zookeeper":    zooKeeper,
		"poison":       poison,
		"mistake":      mistake,
		"gate":         gate,
		"moved":        moved,
		"library":      library,
	}
}

// ids stand in the pages for the ids of topics, in the order in which the topics are made.
var ids = []string{"5Qx0pnu7R1mL4dyX6hDb3w", "b9TqY2cVTHuR8s0wJkE1Mg", "Wc3nZf8kQ0yXu5vGqLr7Ta", "hD6oRj1eSxqN2mBt9pKyVw"}

// span is the range of a partition: earliest and end.
type span [2]int64

// topic makes a topic with a partition for each range. Its records cannot be read.
func (s *Stage) topic(b *kafkatest.Broker, name string, ranges ...span) error {
	if err := b.CreateTopic(name, int32(len(ranges))); err != nil {
		return err
	}
	s.name(b, name)
	for p, r := range ranges {
		if err := b.SetRange(name, int32(p), r[0], r[1]); err != nil {
			return err
		}
	}
	return nil
}

// name gives a topic's id one that stays the same.
func (s *Stage) name(b *kafkatest.Broker, topic string) {
	n := 0
	for _, known := range s.names {
		for _, id := range ids {
			if known[0] == id {
				n++
			}
		}
	}
	if n < len(ids) {
		s.known(ids[n], b.TopicID(topic))
	}
}

// commit commits offsets for the partitions from 0 on; none leaves one out.
func (s *Stage) commit(b *kafkatest.Broker, group, topic string, next ...int64) error {
	for p, o := range next {
		if o == none {
			continue
		}
		if err := b.Commit(group, topic, int32(p), o, -1, ""); err != nil {
			return err
		}
	}
	return nil
}

// save lets the job save offsets for the partitions from 0 on, so long before Noon; none leaves one out.
func (s *Stage) save(topic string, ago time.Duration, next ...int64) error {
	doc := offsetfile.New(group, topic)
	doc.SetTopicID(s.Broker.TopicID(topic))
	doc.SetCluster(cluster)
	doc.SetSaved(Noon.Add(-ago))
	for p, o := range next {
		if o == none {
			continue
		}
		if err := doc.Set(offsetfile.Entry{Partition: int32(p), Offset: o, Epoch: offsets.None}); err != nil {
			return err
		}
	}
	path := filepath.Join(s.path(Store), group, topic, "gtoffset")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, doc.Bytes(), 0o600)
}

// night is a group after a bad night, with every kind of trouble that a clamp mends.
func night(s *Stage) error {
	const ago = 3*time.Hour + 12*time.Minute
	b := s.Broker
	return errors.Join(
		s.topic(b, "orders",
			span{500, 2000}, // low: the log expired faster than the job read
			span{0, 2000},   // unprocessed: auto-commit ran ahead
			span{0, 1600},   // high: the log lost its tail
			span{0, 1200},   // none: its turn never came
			span{0, 1000}),  // fine
		s.save("orders", ago, 120, 950, 1700, none, 800),
		s.commit(b, group, "orders", 900, 2000, 1600, none, 800),
		b.CreateTopic("payments", 2),
		s.anew("payments", ago, 5200, 450), // high by its number, and fine by its number
		b.SetRange("payments", 0, 0, 300),
		b.SetRange("payments", 1, 0, 900),
	)
}

// anew lets the job save offsets of a topic that then is made anew.
func (s *Stage) anew(topic string, ago time.Duration, next ...int64) error {
	s.name(s.Broker, topic)
	if err := s.save(topic, ago, next...); err != nil {
		return err
	}
	err := s.Broker.Recreate(topic)
	s.name(s.Broker, topic)
	return err
}

// restart is a group whose job is still running, and stops. Of one partition more is committed than processed.
func restart(s *Stage) error {
	b := s.Broker
	if err := errors.Join(
		s.topic(b, "orders", span{0, 2000}, span{0, 2000}, span{0, 1000}),
		s.save("orders", 2*time.Minute, 1500, 1600, 1000),
		s.commit(b, group, "orders", 1500, 2000, 1000),
	); err != nil {
		return err
	}
	leave, err := b.Join(group, false, "orders")
	s.events["the job stops"] = func() error { leave(); return nil }
	return err
}

// expired is a group whose job stood still for longer than the records are kept.
func expired(s *Stage) error {
	b := s.Broker
	return errors.Join(
		s.topic(b, "orders", span{500, 2000}, span{0, 2000}, span{1900, 2600}),
		s.save("orders", 74*time.Hour, 120, 950, 1700),
		s.commit(b, group, "orders", 120, 950, 1700),
	)
}

// recreated is a topic that was deleted and made anew. Its commits went with it.
func recreated(s *Stage) error {
	b := s.Broker
	return errors.Join(
		s.topic(b, "orders", span{0, 1000}),
		s.save("orders", 40*time.Minute, 1000),
		s.commit(b, group, "orders", 1000),
		b.CreateTopic("payments", 2),
		s.anew("payments", 40*time.Minute, 5200, 450),
		b.SetRange("payments", 0, 0, 300),
		b.SetRange("payments", 1, 0, 900),
	)
}

// ahead is a group whose commits ran ahead of what was processed.
func ahead(s *Stage) error {
	b := s.Broker
	if err := b.CreateTopic("orders", 3); err != nil {
		return err
	}
	s.name(b, "orders")
	for p, n := range []int{40, 40, 30} { // a record a minute, the last at Noon
		var times []time.Time
		for i := range n {
			times = append(times, Noon.Add(time.Duration(i+1-n)*time.Minute))
		}
		if err := b.ProduceAt("orders", int32(p), times...); err != nil {
			return err
		}
	}
	return errors.Join(s.save("orders", 15*time.Minute, 25, 24, 30), s.commit(b, group, "orders", 40, 40, 30))
}

// twoClusters is a topic in a cluster, and its mirror in another, where the numbers are others.
func twoClusters(s *Stage) error {
	next, err := s.cluster(NewKafka, newCluster)
	if err != nil {
		return err
	}
	old := s.Broker
	if err := errors.Join(old.CreateTopic("orders", 2), next.CreateTopic("orders", 2)); err != nil {
		return err
	}
	s.name(old, "orders")
	s.name(next, "orders")
	for p := range int32(2) {
		var times []time.Time
		for i := range 30 {
			times = append(times, Noon.Add(time.Duration(i-30)*time.Minute+time.Duration(p)*time.Second))
		}
		if err := errors.Join(old.ProduceAt("orders", p, times...), next.ProduceAt("orders", p, times[10:]...)); err != nil {
			return err
		}
	}
	return s.commit(old, group, "orders", 22, 25)
}

// zooKeeper is a job whose offsets are in a ZooKeeper.
func zooKeeper(s *Stage) error {
	z, err := startZooKeeper(Noon.Add(-20*time.Minute).UnixMilli(), map[string]string{
		"/kafka/consumers/billing/offsets/orders/0": "1500",
		"/kafka/consumers/billing/offsets/orders/1": "1600",
	})
	if err != nil {
		return err
	}
	s.ends = append(s.ends, z.close)
	s.known("zk1:2181", z.ln.Addr().String())
	return s.topic(s.Broker, "orders", span{0, 2000}, span{0, 2000})
}

// poison is a job that cannot get past one record.
func poison(s *Stage) error {
	b := s.Broker
	if err := b.CreateTopic("orders", 2); err != nil {
		return err
	}
	s.name(b, "orders")
	for p := range int32(2) {
		var values []string
		for i := range 60 {
			values = append(values, fmt.Sprintf(`{"order":%d,"amount":%d.00}`, 1000+60*int(p)+i, 5+i))
		}
		if p == 1 {
			values[41] = `{"order":1101,"amount":"n/a"`
		}
		if err := b.ProduceStamped("orders", p, Noon.Add(-10*time.Minute), values...); err != nil {
			return err
		}
	}
	return errors.Join(s.save("orders", 6*time.Minute, 60, 41), s.commit(b, group, "orders", 60, 41))
}

// mistake is a group with which all is well.
func mistake(s *Stage) error {
	b := s.Broker
	if err := errors.Join(
		s.topic(b, "orders", span{0, 2000}, span{0, 2000}),
		s.commit(b, group, "orders", 1500, 1600),
	); err != nil {
		return err
	}
	s.events["the job runs, and commits"] = func() error { return s.commit(b, group, "orders", 2000, 1990) }
	return nil
}

// gate is a group of which one partition is not fit for a start.
func gate(s *Stage) error {
	b := s.Broker
	return errors.Join(
		s.topic(b, "orders", span{500, 2000}, span{0, 2000}),
		s.save("orders", 40*time.Minute, 120, 2000),
		s.commit(b, group, "orders", 500, 2000),
	)
}
