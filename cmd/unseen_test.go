package cmd_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
)

// otherwise are the lines that end with another code than commands like them do, and why.
var otherwise = []struct {
	trouble, line string // a pattern of the whole line
	code          int
	why           string
}{
	{"denied", "describe", 0, "a list has the groups that one may see"},
	{"denied", "history .*", 0, "it reads what the topic tells of the group"},
	{"denied", "replay .* STORE", 0, "it starts from the store"},
	{"leaderless", "describe", 0, "a list shows no numbers"},
	{"leaderless", "history .*", 0, "it reads another topic"},
	{"leaderless", "replay .*", 5, "without its leader there is nothing to read"},
	{"leaderless", "wait .* --empty", 0, "members are no matter of leaders"},
	{"leaderless", "import BACKUP .*", 0, "a backup is written back as it is"},
	{"leaderless", "delete .*", 0, "commits are removed whatever they are worth"},
}

// Whatever asks the cluster says by its code that it got no answer: a number that nobody could read is never told with exit 0. Each
// command comes here by its lines of outcomes that end with 0.
func TestUnseenIsTold(t *testing.T) {
	t.Parallel()
	for _, trouble := range []struct {
		name          string
		looks, writes int // the code of what only looks, and of what would write
		world         func(w *world)
		flags         string
	}{
		{"denied", 3, 4, func(w *world) { w.b.DenyGroup("billing") }, ""},
		{"leaderless", 3, 4, func(w *world) {
			for p := range int32(3) {
				w.b.NoLeader("orders", p)
			}
			w.b.NoLeader("fresh", 0)
		}, ""},
		{"away", 5, 5, func(*world) {}, "-b CLOSED "},
		{"another", 4, 4, func(*world) {}, "--expect-cluster another "},
		{"interrupted", 130, 130, func(w *world) {
			ctx, cancel := context.WithCancel(w.t.Context())
			cancel()
			w.soft = ctx
		}, ""},
	} {
		for _, o := range outcomes() {
			if o.code != 0 {
				continue
			}
			t.Run(trouble.name+": "+o.line, func(t *testing.T) {
				t.Parallel()
				w, args := outcomeWorld(t, o)
				if w.run(args...); w.b.Count() == 0 {
					return // it asks no cluster
				}
				want := trouble.looks
				if strings.Contains(o.line, "--execute") || strings.Contains(o.line, "--dry-run") || strings.Contains(o.line, "--check") {
					want = trouble.writes
				}
				for _, other := range otherwise {
					if other.trouble == trouble.name && regexp.MustCompile("^"+other.line+"$").MatchString(o.line) {
						want = other.code
					}
				}
				command, rest, _ := strings.Cut(o.line, " ")
				o.line = command + " " + trouble.flags + rest
				w, args = outcomeWorld(t, o)
				trouble.world(w)
				w.run(args...).exits(want)
			})
		}
	}
}
