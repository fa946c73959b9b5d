package cmd

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"gtoffset/kafkaops/offsets"
)

// consent settles what is to be asked about: by a person's answer, or under --execute by refusing it.
func (w *writing) consent(ctx context.Context, shot offsets.Snapshot) error {
	if w.road.execute {
		w.plan = w.plan.Settle(false)
		if err := w.refused(shot, w.plan); err != nil {
			return err
		}
		return nil
	}
	if err := w.view().Doubts(w.g.talk()); err != nil {
		return err
	}
	fmt.Fprint(w.g.env.Stderr, w.view().Prompt(w.g.env.StderrWidth))
	yes, err := w.g.answer(ctx)
	if err != nil {
		return err
	}
	if !yes {
		return &problem{code: exitFailed, causes: []cause{causeDeclined}, text: "not confirmed; nothing was written"}
	}
	w.plan = w.plan.Settle(true)
	return nil
}

// answer reads a line from the person; anything but yes is no.
func (g *global) answer(ctx context.Context) (bool, error) {
	line, err := interruptible(ctx, func() (string, error) {
		line, err := bufio.NewReader(g.env.Stdin).ReadString('\n') // as far as it came: that is no yes
		if err != nil {
			fmt.Fprintln(g.env.Stderr) // it ended without a line end, which what comes next would stand behind
		}
		return line, nil
	})
	if err != nil {
		fmt.Fprintln(g.env.Stderr)
		return false, &problem{code: exitInterrupted, text: "interrupted; nothing was written", err: err}
	}
	line = strings.ToLower(strings.TrimSpace(line))
	return line == "y" || line == "yes", nil
}
