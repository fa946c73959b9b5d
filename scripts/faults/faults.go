package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"gtoffset/scripts/live"
)

// A fault is one row of the matrix.
type fault struct {
	name   string
	meets  []string // the commands that it is crossed with
	secure bool     // the run comes over TLS
	own    bool     // it befalls nobody but the run: others can go on meanwhile
	// rules are what the proxy does while the command runs.
	rules func(s *scene) []*live.Fault
	// before and after are done to the cluster ahead of the run and behind it; either may be nil.
	before, after func(ctx context.Context, s *scene) error
}

// The commands, in the order of the columns.
var (
	all     = []string{"describe", "clamp --committed", "clamp --stored", "reset", "import", "export", "replay", "wait"}
	commits = []string{"clamp --committed", "reset", "import"}
	replays = []string{"replay"}
)

// faults are the rows of the matrix.
func faults() []fault {
	rows := []fault{
		{name: "every byte comes 100 ms late", meets: all, before: late, after: inTime},
		answer("the first answer is cut in half", all, live.Fault{API: live.Any, Times: 1, Harm: live.Cut}),
		answer("the fourth request is cut off", all, live.Fault{API: live.Any, Skip: 3, Times: 1, Harm: live.Refuse}),
		answer("no broker answers at all", all, live.Fault{API: live.Any, Harm: live.Swallow}),
		{name: "the coordinator accepts and is silent", meets: all, own: true, rules: atCoordinator(live.Fault{API: live.Any, Harm: live.Swallow})},
		{name: "a leader accepts and is silent", meets: all, own: true, rules: atLeader(live.Fault{API: live.Any, Harm: live.Swallow})},
		answer("Metadata stops in the middle, once", all, live.Fault{API: kmsg.Metadata, Times: 1, Harm: live.Stall}),
		answer("OffsetFetch is cut in half", all, live.Fault{API: kmsg.OffsetFetch, Harm: live.Cut}),
		answer("OffsetFetch is cut in half, once", all, live.Fault{API: kmsg.OffsetFetch, Times: 1, Harm: live.Cut}),
		answer("OffsetFetch is half closed", all, live.Fault{API: kmsg.OffsetFetch, Harm: live.HalfClose}),
		answer("OffsetFetch has a negative length", all, live.Fault{API: kmsg.OffsetFetch, Harm: live.Negative}),
		answer("OffsetFetch lies about its list", all, live.Fault{API: kmsg.OffsetFetch, Harm: live.Miscount}),
		answer("ListOffsets is truncated", all, live.Fault{API: kmsg.ListOffsets, Harm: live.Shorten}),
		answer("ListOffsets has the largest length", all, live.Fault{API: kmsg.ListOffsets, Harm: live.Huge}),
		answer("ListOffsets lies about its list", all, live.Fault{API: kmsg.ListOffsets, Harm: live.Miscount}),
		garbled("a byte of the TLS handshake is wrong", 300),
		garbled("a byte of the first answers over TLS is wrong", 2000),
		{name: "the coordinator is frozen", meets: all, before: freeze(coordinator), after: thaw(coordinator)},
		{name: "a leader is frozen", meets: all, before: freeze(leader), after: thaw(leader)},
		{name: "a leader moves meanwhile", meets: all, rules: meanwhile(func(ctx context.Context, s *scene) error {
			return s.lab.kafka.MoveLeader(ctx, topic, s.leader-1, s.leader%brokers+1)
		})},
		{name: "the coordinator moves meanwhile", meets: all, rules: meanwhile(func(ctx context.Context, s *scene) error {
			return s.lab.kafka.MoveLeader(ctx, commitsTopic, s.place, s.coordinator%brokers+1)
		})},
	}
	for _, o := range []struct {
		what string
		live.Fault
	}{
		{"is cut off", live.Fault{Times: 1, Harm: live.Refuse}},
		{"is lost, and nothing comes", live.Fault{Times: 1, Harm: live.Swallow}},
		{"arrives, and the connection is cut", live.Fault{Times: 1, Harm: live.Unheard}},
		{"arrives, and the answer is cut in half", live.Fault{Times: 1, Harm: live.Cut}},
		{"arrives, and nothing is answered", live.Fault{Times: 1, Harm: live.Silence}},
		{"arrives, and the answer is truncated", live.Fault{Times: 1, Harm: live.Shorten}},
		{"arrives, and the answer lies about its list", live.Fault{Times: 1, Harm: live.Miscount}},
		{"arrives, and the answer has the largest length", live.Fault{Times: 1, Harm: live.Huge}},
		{"is done and answered NOT_COORDINATOR, once", live.Fault{Times: 1, Harm: live.Answer, Code: kerr.NotCoordinator.Code}},
		{"is done and answered COORDINATOR_NOT_AVAILABLE", live.Fault{Harm: live.Answer, Code: kerr.CoordinatorNotAvailable.Code}},
		{"is done and answered UNKNOWN_SERVER_ERROR", live.Fault{Harm: live.Answer, Code: kerr.UnknownServerError.Code}},
		{"is done and answered REQUEST_TIMED_OUT", live.Fault{Harm: live.Answer, Code: kerr.RequestTimedOut.Code}},
	} {
		o.API = kmsg.OffsetCommit
		rows = append(rows, answer("OffsetCommit "+o.what, commits, o.Fault))
	}
	for _, o := range []struct {
		what string
		live.Fault
	}{
		{"is cut in half, once", live.Fault{Times: 1, Harm: live.Cut}},
		{"stops in the middle, once", live.Fault{Times: 1, Harm: live.Stall}},
		{"is truncated, once", live.Fault{Times: 1, Harm: live.Shorten}},
		{"is truncated", live.Fault{Harm: live.Shorten}},
		{"has the largest length, once", live.Fault{Times: 1, Harm: live.Huge}},
		{"has a wrong bit in a record, once", live.Fault{Times: 1, Harm: live.Corrupt}},
		{"has a wrong bit in a record", live.Fault{Harm: live.Corrupt}},
	} {
		o.API = kmsg.Fetch
		rows = append(rows, answer("Fetch "+o.what, replays, o.Fault))
	}
	return append(
		rows,
		fault{name: "the coordinator is killed meanwhile", meets: all, rules: meanwhile(kill(coordinator)), after: restart(coordinator)},
		fault{name: "the coordinator is killed before", meets: all, before: kill(coordinator), after: restart(coordinator)},
		fault{name: "a leader is killed before", meets: all, before: kill(leader), after: restart(leader)},
		fault{name: "a leader is killed meanwhile", meets: all, rules: meanwhile(kill(leader)), after: restart(leader)},
		fault{name: "the coordinator is restarted meanwhile", meets: all, rules: meanwhile(killAndStart)},
	)
}

// sharpest are the faults of the short form, each with the command that it hurts most.
func sharpest() []fault {
	want := map[string][]string{
		"OffsetCommit arrives, and the answer is cut in half":     {"clamp --committed"},
		"OffsetCommit arrives, and nothing is answered":           {"import"},
		"OffsetCommit is done and answered NOT_COORDINATOR, once": {"reset"},
		"the coordinator accepts and is silent":                   {"describe", "clamp --committed"},
		"a leader is frozen":                                      {"describe", "clamp --stored"},
		"Fetch is truncated, once":                                {"replay"},
		"Fetch has a wrong bit in a record":                       {"replay"},
		"ListOffsets lies about its list":                         {"export", "wait"},
		"a byte of the first answers over TLS is wrong":           {"clamp --committed", "describe"},
		"the coordinator is killed meanwhile":                     {"clamp --committed"},
	}
	var rows []fault
	for _, f := range faults() {
		if commands, ok := want[f.name]; ok {
			f.meets = commands
			rows = append(rows, f)
		}
	}
	return rows
}

// answer is a fault that the proxy alone makes.
func answer(name string, meets []string, one live.Fault) fault {
	return fault{name: name, meets: meets, own: true, rules: func(*scene) []*live.Fault { f := one; return []*live.Fault{&f} }}
}

// garbled is a wrong bit at a place of what the program gets over TLS.
func garbled(name string, at int) fault {
	f := answer(name, all, live.Fault{Garble: at})
	f.secure, f.own = true, false
	return f
}

func atCoordinator(one live.Fault) func(*scene) []*live.Fault {
	return func(s *scene) []*live.Fault { f := one; f.Broker = s.coordinator; return []*live.Fault{&f} }
}

func atLeader(one live.Fault) func(*scene) []*live.Fault {
	return func(s *scene) []*live.Fault { f := one; f.Broker = s.leader; return []*live.Fault{&f} }
}

// meanwhile does something to the cluster when the run has come to the request that counts: the first OffsetCommit of what
// writes commits, the first Fetch of a replay, the first OffsetFetch of all else. The request waits for it.
func meanwhile(do func(ctx context.Context, s *scene) error) func(*scene) []*live.Fault {
	return func(s *scene) []*live.Fault {
		api := kmsg.OffsetFetch
		switch s.command.name {
		case "clamp --committed", "reset", "import":
			api = kmsg.OffsetCommit
		case "replay":
			api = kmsg.Fetch
		}
		return []*live.Fault{{API: api, Times: 1, Do: func() { s.doing.Add(1); defer s.doing.Done(); s.failed = do(s.ctx, s) }}}
	}
}

func late(_ context.Context, s *scene) error { s.lab.kafka.SetDelay(lateness); return nil }

func inTime(_ context.Context, s *scene) error { s.lab.kafka.SetDelay(0); return nil }

// Which broker it is.
func coordinator(s *scene) int32 { return s.coordinator }
func leader(s *scene) int32      { return s.leader }

func kill(which func(*scene) int32) func(context.Context, *scene) error {
	return func(_ context.Context, s *scene) error { return s.lab.kafka.Kill(which(s)) }
}

func restart(which func(*scene) int32) func(context.Context, *scene) error {
	return func(ctx context.Context, s *scene) error { return s.lab.kafka.Restart(ctx, which(s)) }
}

func freeze(which func(*scene) int32) func(context.Context, *scene) error {
	return func(_ context.Context, s *scene) error { return s.lab.kafka.Freeze(which(s)) }
}

func thaw(which func(*scene) int32) func(context.Context, *scene) error {
	return func(ctx context.Context, s *scene) error { return s.lab.kafka.Thaw(ctx, which(s)) }
}

// killAndStart kills the coordinator, and does not wait until it is there again.
func killAndStart(ctx context.Context, s *scene) error {
	err := s.lab.kafka.Kill(s.coordinator)
	if err == nil {
		s.doing.Go(func() { s.restarted = s.lab.kafka.Restart(ctx, s.coordinator) })
	}
	return err
}
