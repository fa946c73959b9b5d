package cmd

import (
	"context"
	"maps"
	"slices"

	"gtoffset/kafkaops/offsets"
)

// measureMore adds to a snapshot what only some looks want to know. What cannot be found out is said where it would stand: it does
// not hide the rest.
func (s *session) measureMore(ctx context.Context, shot offsets.Snapshot, o lookOptions) {
	if o.epochs {
		s.measureEpochs(ctx, shot)
	}
	if o.times {
		s.measureTimes(ctx, shot)
	}
}

// measureTimes finds out how old the next records are and how long they will be there, and how long commits are kept.
func (s *session) measureTimes(ctx context.Context, shot offsets.Snapshot) {
	ask := shot.StartTiming()
	next, err := s.cluster.NextRecords(ctx, ask)
	if err != nil {
		next = map[offsets.KeyOffset]offsets.Next{}
		for _, k := range ask {
			next[k] = offsets.Next{Offset: offsets.None, Reason: err.Error()}
		}
	}
	topics := map[string]bool{}
	for _, k := range ask {
		topics[k.Topic] = true
	}
	shot.Timed(next, s.cluster.Retention(ctx, slices.Sorted(maps.Keys(topics))))
	var coordinators []int32
	for _, g := range shot.Groups {
		if g.Expiring() {
			coordinators = append(coordinators, g.Coordinator)
		}
	}
	kept := s.cluster.CommitRetention(ctx, coordinators)
	for i, g := range shot.Groups {
		if g.Expiring() {
			shot.Groups[i].CommitsKept = kept[g.Coordinator]
		}
	}
}

// measureEpochs asks where the leader epochs ended that consumers might stumble over. Most groups have none such.
func (s *session) measureEpochs(ctx context.Context, shot offsets.Snapshot) {
	epochs := shot.Epochs()
	if len(epochs) == 0 {
		return
	}
	ends, err := s.cluster.EpochEnds(ctx, epochs)
	if err != nil {
		ends = map[offsets.KeyEpoch]offsets.EpochEnd{}
		for k, list := range epochs {
			for _, epoch := range list {
				ends[offsets.KeyEpoch{Key: k, Epoch: epoch}] = offsets.EpochEnd{Epoch: offsets.None, End: offsets.None, Reason: err.Error()}
			}
		}
	}
	shot.EpochsEnded(ends)
}
