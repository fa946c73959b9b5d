package offsetfile

import (
	"context"
	"sync"
)

// Each calls f for 0 to n-1, at most so many at a time, and returns the first error, with which the others are given up; or that of the
// context, if it ends.
func Each(ctx context.Context, n, most int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	room := make(chan struct{}, most)
	for i := range n {
		room <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-room }()
			if err := f(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
