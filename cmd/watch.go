package cmd

import "context"

func (o *describeOptions) validateWatch(g *global) error { return nil }

func watch(ctx context.Context, g *global, o *describeOptions) error { return nil }
