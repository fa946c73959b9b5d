package scenes

import (
	"time"

	"gtoffset/kafkaops/history"
	"gtoffset/kafkaops/kafkatest"
)

// moved is a group whose offsets somebody has moved back, half an hour before Noon, after its only member had left.
func moved(s *Stage) error {
	if err := s.topic(s.Broker, "orders", span{0, 3000}, span{0, 3000}, span{0, 3000}); err != nil {
		return err
	}
	return s.moves()
}

// moves makes the history of the group billing, which goes on with what is committed on the stage.
func (s *Stage) moves() error {
	const offsetsTopicPartitions = 3 // of the in-process cluster
	l := s.Broker.OffsetsLog(history.Partition(group, offsetsTopicPartitions))
	commits := func(at time.Time, next ...int64) {
		var entries []kafkatest.Entry
		for p, o := range next {
			entries = append(entries, kafkatest.OffsetCommit(group, "orders", int32(p), o, ""))
		}
		l.Batch(at, entries...)
	}
	began := Noon.Add(-3 * time.Hour)
	l.Batch(began, kafkatest.ClassicGroup(group, 1, "app-7"))
	for batch := range int64(20) { // a batch every seven minutes
		commits(began.Add(time.Duration(batch+1)*7*time.Minute), 100*batch, 100*batch+10, 100*batch+20)
	}
	left := Noon.Add(-30*time.Minute - 8*time.Second + 411*time.Millisecond)
	l.Batch(left, kafkatest.ClassicGroup(group, 2))
	commits(left.Add(1820*time.Millisecond), 0, 0, 0)
	if err := s.commit(s.Broker, group, "orders", 0, 0, 0); err != nil {
		return err
	}
	s.Broker.Record(l, s.now)
	return nil
}
