package cmd

import "context"

// interruptible does what may wait for somebody else, as a pipe's reader does, and returns at an interrupt all the same. What it leaves
// behind ends with the program. Without a context, as in a completion, there are no interrupts.
func interruptible[T any](ctx context.Context, do func() (T, error)) (T, error) {
	if ctx == nil {
		return do()
	}
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := do()
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
