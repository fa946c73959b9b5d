package main

import (
	"context"
	"math/rand/v2"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/scripts/live"
)

// soak runs a command again and again, each time under a fault at random that takes the proxy alone.
func (l *lab) soak(ctx context.Context, command string, runs int) (s soak, wrong int, err error) {
	s = soak{Command: command, On: l.on, Codes: map[int]int{}, Stands: map[string]int{}}
	for range runs {
		f := atRandom()
		f.name, f.meets = "at random", []string{command}
		c, err := l.try(ctx, f, command)
		if err != nil {
			return s, wrong, err
		}
		s.Runs++
		s.Codes[c.Code]++
		s.Stands[c.Stands]++
		if c.Wrong != "" {
			wrong++
		}
		s.Wrong = wrong
	}
	return s, wrong, nil
}

// atRandom hits one or two requests, of any broker, of a kind and in a way at random. What is silent costs a run seconds, so it is
// rarer than what breaks.
func atRandom() fault {
	apis := []kmsg.Key{live.Any, kmsg.Metadata, kmsg.FindCoordinator, kmsg.OffsetFetch, kmsg.ListOffsets, kmsg.OffsetCommit, kmsg.OffsetCommit}
	harms := []live.Harm{live.Refuse, live.Unheard, live.Cut, live.HalfClose, live.Shorten, live.Huge, live.Negative, live.Miscount}
	if rand.N(5) == 0 {
		harms = []live.Harm{live.Swallow, live.Silence, live.Stall}
	}
	return answer("", nil, live.Fault{
		Broker: rand.N(int32(brokers + 1)),
		API:    apis[rand.N(len(apis))],
		Skip:   rand.N(4),
		Times:  1 + rand.N(2),
		Harm:   harms[rand.N(len(harms))],
	})
}
