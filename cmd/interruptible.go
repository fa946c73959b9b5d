package cmd

import "context"

// interruptible does what may wait for somebody else, as a pipe's reader does, and returns at an interrupt all the same. What it leaves
// behind ends with the program. Without a context, as in a completion, there are no interrupts.
func interruptible[T any](ctx context.Context, do func() (T, error)) (T, error) {
	if ctx == nil {
		return do()
	}
	v, none := new(T), *new(T)
	if done, err := endOf(ctx, func() (err error) { *v, err = do(); return err }); done {
		return *v, err
	}
	return none, ctx.Err()
}

// endOf waits for the end of something, and reports whether it came before an interrupt.
func endOf(ctx context.Context, do func() error) (bool, error) {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return true, err
	case <-ctx.Done():
		return false, nil
	}
}
