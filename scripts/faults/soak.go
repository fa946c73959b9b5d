package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/scripts/live"
)

// soak runs a command again and again, so many at a time, each under a fault at random that takes the proxy alone, until so many were hit.
func (l *lab) soak(ctx context.Context, command string, hits, atOnce int) (soak, error) {
	s := soak{Command: command, On: l.on, Codes: map[int]int{}, Stands: map[string]int{}}
	for s.Hit < hits {
		all := make([]attempt, hits-s.Hit)
		for i := range all {
			all[i] = attempt{atRandom(), command}
		}
		if err := l.tryEach(ctx, all, atOnce, s.count); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *soak) count(c cell) error {
	s.Runs++
	s.Codes[c.Code]++
	s.Stands[c.Stands]++
	if c.Met {
		s.Hit++
	}
	if c.Wrong != "" {
		s.Wrong++
	}
	return nil
}

// An attempt is a command to be tried under a fault.
type attempt struct {
	fault   fault
	command string
}

// tryEach makes so many attempts at a time, and tells of each when it is over, of one after the other. What hinders one, or the telling,
// ends all.
func (l *lab) tryEach(ctx context.Context, all []attempt, atOnce int, tell func(cell) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var telling sync.Mutex
	var next atomic.Int64
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(all)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				a := all[i]
				c, err := l.try(ctx, a.fault, a.command)
				if err != nil {
					err = fmt.Errorf("%s, %s: %w", a.fault.name, a.command, err)
				} else {
					telling.Lock()
					err = tell(c)
					telling.Unlock()
				}
				if err != nil {
					stop(err)
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// atRandom hits one or two requests, of any broker, of a kind and in a way at random. What is silent costs a run seconds, so it is
// rarer than what breaks.
func atRandom() fault {
	apis := []kmsg.Key{live.Any, kmsg.Metadata, kmsg.FindCoordinator, kmsg.OffsetFetch, kmsg.ListOffsets, kmsg.OffsetCommit, kmsg.OffsetCommit}
	harms := []live.Harm{live.Refuse, live.Unheard, live.Cut, live.HalfClose, live.Shorten, live.Huge, live.Negative, live.Miscount}
	if rand.N(5) == 0 {
		harms = []live.Harm{live.Swallow, live.Silence, live.Stall}
	}
	return answer("at random", nil, live.Fault{
		Broker: rand.N(int32(brokers + 1)),
		API:    apis[rand.N(len(apis))],
		Skip:   rand.N(4),
		Times:  1 + rand.N(2),
		Harm:   harms[rand.N(len(harms))],
	})
}
