package cmd

import (
	"context"

	"gtoffset/kafkaops/offsets"
)

// measureMore adds to a snapshot what only some looks want to know. What cannot be found out is said where it would stand: it does
// not hide the rest.
func (s *session) measureMore(ctx context.Context, shot offsets.Snapshot, o lookOptions) {
	if o.epochs {
		s.measureEpochs(ctx, shot)
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
