package scenes

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"gtoffset/cmd"
)

const (
	program = "gtoffset"
	clock   = "SCENE_CLOCK"  // when the program starts, by its own clock
	person  = "SCENE_PERSON" // set: somebody sits at the terminal, and answers yes
)

// Program is gtoffset itself, if this process was started under that name; otherwise it does nothing. Whoever opens scenes calls it
// before all else: scenes put the running executable into the path under the program's name, so that nothing has to be built.
func Program() {
	if filepath.Base(os.Args[0]) != program || os.Getenv(clock) == "" {
		return
	}
	env := cmd.System(func(ctx context.Context) (soft, hard context.Context) {
		soft, _ = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		return soft, ctx
	})
	start, err := time.Parse(time.RFC3339, os.Getenv(clock))
	if err != nil {
		panic(err) // only scenes start it so
	}
	env.Now = running(start)
	env.Who = func() (string, string) { return "ops", "ops1" }
	if os.Getenv(person) != "" && !slices.Contains(os.Args, "-") {
		env.Stdin, env.StdinTerminal, env.StderrWidth = strings.NewReader("yes\n"), true, 120
	}
	os.Exit(cmd.Main(context.Background(), env, os.Args[1:]))
}

// running is a clock that shows a start, and stands still, so that all runs print the same. What waits for time to pass still comes to an
// end: once in a while it shows how much has passed.
func running(start time.Time) func() time.Time {
	const while = time.Minute
	began := time.Now()
	return func() time.Time { return start.Add(time.Since(began).Truncate(while)) }
}
